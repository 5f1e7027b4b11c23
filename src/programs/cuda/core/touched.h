/* cuda/core/touched.h: the memory that one operation of a stream read, wrote and changed by atomics. */
#ifndef HEDDLE_CUDA_CORE_TOUCHED_H
#define HEDDLE_CUDA_CORE_TOUCHED_H

#include "heddle/emu.h"

/* Accesses that are strong in the sense of PTX's memory consistency model (atomics, .volatile, .relaxed and
 * stronger) do not race with each other; those of the system's scope do not race with the host's, either. */
typedef enum touched_kind {
  TOUCHED_READ,
  TOUCHED_WRITTEN,
  TOUCHED_STRONG_READ,
  TOUCHED_STRONG_WRITTEN,
  TOUCHED_SYSTEM_WRITTEN,
  TOUCHED_KINDS
} touched_kind;

/* Bytes [lo, hi); line: of the PTX, where the first of them was accessed; 0: by a copy. */
typedef struct touched_run {
  uint64_t lo, hi;
  uint32_t line;
} touched_run;
typedef HD_VEC(touched_run) touched_runs;

/* Sorted, without overlap. */
typedef struct touched {
  touched_runs runs[TOUCHED_KINDS];
} touched;

/* The accesses of an operation that runs. Memory that runs out loses accesses, so that findings are missed.
 */
typedef struct touching touching;
touching *touching_begin(void);
void touching_range(touching *t, uint64_t address, uint64_t bytes, touched_kind kind);
void touching_access(touching *t, const hd_access *a);
/* Its accesses to memory that `wanted` names; frees t. */
touched touching_end(touching *t, bool (*wanted)(uint64_t address));

void touched_free(touched *t);
/* Forget the accesses to [lo, hi). */
void touched_forget(touched *t, uint64_t lo, uint64_t hi);
bool touched_nothing(const touched *t);
/* Whether two unordered operations conflict: at `address`, which a touches at lines[0], b at lines[1];
 * `writes`: with what a writes. */
bool touched_meets(const touched *a, const touched *b, bool writes, uint64_t *address, uint32_t lines[2]);
/* Whether one of the operations may have told the other one by a flag: strong accesses meet, one of them a
 * write. */
bool touched_signals(const touched *a, const touched *b);
/* Whether the operation may have told the host, or been told, by a flag in memory that `shared` names. */
bool touched_signals_host(const touched *t, bool (*shared)(uint64_t address));
/* The run that the host must not read, or not write, before it has waited, and that holds an address; NULL:
 * none. */
const touched_run *touched_at(const touched *t, bool host_writes, uint64_t address);
/* Whether the host must not read, or must not write, what an operation touched in this way. */
bool touched_hides(touched_kind kind, bool host_writes);

#endif
