/* reuse/distance.h: LRU stack distances (Olken): how many distinct lines lie between two requests of one.
 *
 * A Fenwick tree over time holds a one where a line was requested last; the ones after a line's last request
 * are the distinct lines in between. When time has run as far as the tree reaches, the requests in it are
 * renumbered. */
#ifndef HEDDLE_REUSE_DISTANCE_H
#define HEDDLE_REUSE_DISTANCE_H

#include "heddle/base.h"

enum { REUSE_NEVER = 0 };

typedef struct reuse_distance {
  uint32_t *tree;  /* [cap + 1], Fenwick, from 1 */
  uint32_t *owner; /* [cap + 1]: the line requested at that time */
  uint32_t cap, now, live;
  HD_VEC(uint32_t) last; /* per line: time of its last request, REUSE_NEVER */
} reuse_distance;

/* The distance of a request of `line` (dense numbers) since its last one, -1 for the first, -2 out of memory.
 */
int64_t reuse_distance_next(reuse_distance *r, uint32_t line);
void reuse_distance_free(reuse_distance *r);

#endif
