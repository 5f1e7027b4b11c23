/* reuse/lines.h: a map from line numbers to dense numbers 0, 1, 2, ... in first-touch order. */
#ifndef HEDDLE_REUSE_LINES_H
#define HEDDLE_REUSE_LINES_H

#include <stdlib.h>

#include "heddle/base.h"

typedef struct reuse_lines {
  uint64_t *key; /* line + 1; 0: free. Open addressing, a power of two */
  uint32_t *number;
  size_t cap, n;
} reuse_lines;

static inline size_t reuse_lines_place(const reuse_lines *m, uint64_t key) {
  size_t at = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & (m->cap - 1);
  while (m->key[at] && m->key[at] != key) at = (at + 1) & (m->cap - 1);
  return at;
}

/* The line's number, a new one when it was never asked for; UINT32_MAX when memory or numbers run out. */
uint32_t reuse_lines_number(reuse_lines *m, uint64_t line);
void reuse_lines_free(reuse_lines *m);

#endif
