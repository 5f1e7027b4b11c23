/* cuda/core/calling.h: which call of the program's a thread is in. */
#ifndef HEDDLE_CUDA_CORE_CALLING_H
#define HEDDLE_CUDA_CORE_CALLING_H

/* The entry point that the program has called in this thread, and where that returns to; zeros if the program
 * is in none. Entry points call others, which change nothing. */
typedef struct core_call {
  const char *name;
  const void *from;
} core_call;
extern _Thread_local core_call core_calling;
static inline core_call core_call_begin(const char *name, const void *from) {
  const core_call outer = core_calling;
  if (!outer.name) core_calling = (core_call){name, from};
  return outer;
}

#endif
