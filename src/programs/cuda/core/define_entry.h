/* cuda/core/define_entry.h: exported symbols from a table of entry points.
 *
 * Included once by a file that has defined enter(needs, captures, per_thread), leave(result) and
 * HANDLER(symbol), the name of a symbol's handler. A variant with a suffix takes the calling thread's own
 * stream for stream 0.
 */
#ifndef HEDDLE_CUDA_CORE_DEFINE_ENTRY_H
#define HEDDLE_CUDA_CORE_DEFINE_ENTRY_H

#define EXPORT __attribute__((visibility("default")))

#define DEFINE(exported, symbol, needs, captures, per_thread, parameters, arguments)                         \
  EXPORT cu_result exported parameters;                                                                      \
  EXPORT cu_result exported parameters {                                                                     \
    const core_call core_outer = core_call_begin(#symbol, __builtin_return_address(0));                      \
    const cu_result entered = enter(needs, captures, per_thread);                                            \
    const cu_result core_left = leave(entered == CU_SUCCESS ? HANDLER(symbol) arguments : entered);          \
    core_calling = core_outer;                                                                               \
    return core_left;                                                                                        \
  }
#define VARIANT_NONE(symbol, needs, captures, parameters, arguments)
#define VARIANT_ptsz(symbol, needs, captures, parameters, arguments)                                         \
  DEFINE(symbol##_ptsz, symbol, needs, captures, true, parameters, arguments)
#define VARIANT_ptds(symbol, needs, captures, parameters, arguments)                                         \
  DEFINE(symbol##_ptds, symbol, needs, captures, true, parameters, arguments)
#define DEFINE_ENTRY(symbol, needs, captures, variant, parameters, arguments)                                \
  DEFINE(symbol, symbol, needs, captures, false, parameters, arguments)                                      \
  VARIANT_##variant(symbol, needs, captures, parameters, arguments)

#endif
