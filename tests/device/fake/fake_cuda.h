/* The fake driver's state, which tests set and read beside the driver's own interface. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

typedef struct fake_cuda {
  unsigned fail_at;    /* the number of the call that fails, counted from 1; 0: none */
  int fail_with;       /* its result */
  const char *fail_in; /* if not NULL: only calls of this name count for fail_at */
  unsigned calls;      /* so far */
  char last[64];       /* the call that failed */
  /* Objects that are alive now. */
  int contexts, pushes, streams, greens, events, modules, allocations, profilers, arrays, objects;
  /* Requests so far. */
  unsigned launches, flushes, hosts; /* hosts: CUPTI's objects that hold metrics */
  unsigned compiled, assembled;      /* modules made of text; of the assembler's output */
  int carveout;                      /* of the last launch; -1: none */
  unsigned passes;                   /* CUPTI: runs of a range it takes */
  int mig; /* a part of a GPU: the two UUIDs differ, and the SMs' numbers have holes */
} fake_cuda;

#endif
