/* workload/describe.h: launches described in words, on their way to the text of a workload.toml. */
#ifndef HEDDLE_WORKLOAD_DESCRIBE_H
#define HEDDLE_WORKLOAD_DESCRIBE_H

#include "workload/workload.h"

/* Kernels are compiled for it where only their names, or a text to keep, are wanted. */
enum { DESCRIBE_ARCH = 80 };

/* Lines of TOML, and of each the number of the word that it comes from; SIZE_MAX: of none. */
typedef struct describe_piece {
  hd_buf text;
  HD_VEC(size_t) words;
  size_t read; /* bytes of the text whose lines are known */
} describe_piece;

typedef struct describing {
  const hd_workload_request *q;
  hd_arena *arena;
  size_t at;                  /* the word at hand */
  hd_ptx_module *module;      /* of the first kernel; NULL: not found yet */
  uint64_t index;             /* its number in the file; UINT64_MAX: not known, or CUDA C */
  hd_buf title;               /* of the kernels */
  HD_VEC(const char *) names; /* of buffers */
  describe_piece buffers, launches;
  /* The launch at hand. */
  bool has_kernel;
  const char *kernel; /* NULL: the only one */
  describe_piece grid, block, shared, args;
  size_t n_args; /* of all launches so far */
  /* Of all buffers of floats. */
  double near; /* 0: not given */
  bool atomics;
} describing;

/* A string of TOML. */
void describe_quote(hd_buf *out, const char *text, size_t n);

#endif
