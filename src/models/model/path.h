/* model/path.h: the instructions that a warp ran, in their order.
 *
 * A path is a list of (run, count): a run is a stretch of one function's instructions, executed one after the
 * other, together with the memory accesses that they made; count says how often it follows itself. Warps that
 * go the same way share one path, so that the cost of a path on some GPU is computed once for all of them.
 * Nothing here depends on a GPU. */
#ifndef HEDDLE_MODEL_PATH_H
#define HEDDLE_MODEL_PATH_H

#include "heddle/emu.h"
#include "model/index.h"

/* Instead of a statement: a barrier of the CTA. */
#define PATH_BARRIER UINT32_MAX

/* The memory accesses of one instruction of a run. */
typedef struct model_path_access {
  uint32_t stmt;       /* hd_access.inst, or PATH_BARRIER */
  uint16_t events;     /* accesses of global memory: events of the warp's stream */
  uint16_t wavefronts; /* of shared memory: passes over its banks; of constants: words; of atomics in global
                          memory: repeats */
} model_path_access;

typedef struct model_path_run {
  uint32_t func, first, last; /* instructions first..last of funcs[func] */
  uint32_t access, n_access;  /* into model_paths.accesses */
} model_path_run;

typedef struct model_path_step {
  uint32_t run, count;
} model_path_step;

typedef struct model_path {
  uint32_t step, n_steps; /* into model_paths.steps */
} model_path;

/* All distinct runs and paths that one host thread has recorded. */
typedef struct model_paths {
  HD_VEC(model_path_run) runs;
  HD_VEC(model_path_access) accesses;
  HD_VEC(model_path_step) steps;
  HD_VEC(model_path) paths;
  model_index by_run, by_path;
} model_paths;

/* The path of a warp that has not ended. */
typedef struct model_path_writer {
  HD_VEC(model_path_step) steps;
  model_path_run open; /* the run that may still grow */
  bool is_open;
  HD_VEC(model_path_access)
  accesses; /* the first open.n_access of them are the open run's, the others belong to
               instructions that were not reported yet */
} model_path_writer;

void model_paths_free(model_paths *p);
uint64_t model_paths_bytes(const model_paths *p);

/* All of these are false when memory ran out. */
void model_path_begin(model_path_writer *w); /* keeps its memory */
/* `repeats`: of an atomic, lanes that name a word that another one names. */
bool model_path_access_global(model_path_writer *w, uint32_t stmt, uint32_t repeats);
bool model_path_access_shared(model_path_writer *w, uint32_t stmt, uint32_t wavefronts);
bool model_path_barrier(model_path_writer *w);
bool model_path_ran(model_paths *p, model_path_writer *w, uint32_t func, uint32_t first, uint32_t last);
/* The warp has ended: the number of its path. */
bool model_path_end(model_paths *p, model_path_writer *w, uint32_t *path);
void model_path_free(model_path_writer *w);

/* Words of 4 bytes at which lanes' accesses begin. */
uint32_t model_distinct_words(const uint64_t *addr, uint32_t mask);
uint32_t model_repeated_lanes(const uint64_t *addr, uint32_t mask);
/* Passes over 32 banks of 4 bytes that lanes need for their `bytes` each (CUDA C programming guide, shared
 * memory: lanes that name the same word do not conflict; wider accesses go in as many groups as they have
 * words). */
uint32_t model_shared_wavefronts(const uint64_t *addr, uint32_t mask, unsigned bytes);

#endif
