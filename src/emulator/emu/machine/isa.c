/* emu/machine/isa.c: the best instruction set that this processor runs, among those that handlers are built
 * for.
 */
#include "emu/machine/machine.h"

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
