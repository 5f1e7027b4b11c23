/* cuda/core/define_entry.h: exported symbols from a table of entry points.
 *
 * Included once by a file that has defined enter(needs, rule, per_thread), leave(result), HANDLER(symbol),
 * the name of a symbol's handler, and CAPTURES_symbol, what it does about captures. A variant with a suffix
 * takes the calling thread's own stream for stream 0.
 */
#ifndef HEDDLE_CUDA_CORE_DEFINE_ENTRY_H
#define HEDDLE_CUDA_CORE_DEFINE_ENTRY_H

#define EXPORT __attribute__((visibility("default")))

#define DEFINE(exported, symbol, needs, per_thread, parameters, arguments)                                   \
  EXPORT cu_result exported parameters;                                                                      \
  EXPORT cu_result exported parameters {                                                                     \
    const cu_result entered = enter(needs, (core_capture_rule)CAPTURES_##symbol, per_thread);                \
    return leave(entered == CU_SUCCESS ? HANDLER(symbol) arguments : entered);                               \
  }
#define VARIANT_NONE(symbol, needs, parameters, arguments)
#define VARIANT_ptsz(symbol, needs, parameters, arguments)                                                   \
  DEFINE(symbol##_ptsz, symbol, needs, true, parameters, arguments)
#define VARIANT_ptds(symbol, needs, parameters, arguments)                                                   \
  DEFINE(symbol##_ptds, symbol, needs, true, parameters, arguments)
#define DEFINE_ENTRY(symbol, needs, variant, parameters, arguments)                                          \
  DEFINE(symbol, symbol, needs, false, parameters, arguments)                                                \
  VARIANT_##variant(symbol, needs, parameters, arguments)

#endif
