/* isa.c: which builds of the handlers there are, and which of them this processor runs. */
#include "emu/ops/ops.h"

extern const emu_op *const emu_op_tables_portable[];
#ifdef EMU_X86_ISAS
extern const emu_op *const emu_op_tables_avx2[];
extern const emu_op *const emu_op_tables_avx512[];
#endif

hd_emu_isa emu_best_isa(void) {
#ifdef EMU_X86_ISAS
  /* The names are those of the compilers' -march levels in floor.cmake. */
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return HD_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return HD_ISA_AVX2;
#endif
  return HD_ISA_PORTABLE;
}

const emu_op *const *emu_op_tables(hd_emu_isa isa) {
  switch (isa) {
  case HD_ISA_AUTO: return emu_op_tables(emu_best_isa());
  case HD_ISA_PORTABLE: return emu_op_tables_portable;
#ifdef EMU_X86_ISAS
  case HD_ISA_AVX2: return emu_op_tables_avx2;
  case HD_ISA_AVX512: return emu_op_tables_avx512;
#else
  default: break;
#endif
  }
  return NULL;
}
