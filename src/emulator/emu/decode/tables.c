/* emu/decode/tables.c: the builds of the handlers, one per instruction set. */
#include "emu/ops/ops.h"

extern const emu_op *const emu_op_tables_portable[];
#ifdef EMU_X86_ISAS
extern const emu_op *const emu_op_tables_avx2[];
extern const emu_op *const emu_op_tables_avx512[];
#endif

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
