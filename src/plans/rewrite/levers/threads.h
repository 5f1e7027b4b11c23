/* rewrite/levers/threads.h: what bars threads= and threads=cta:.
 *
 *   threads.c    what threads of a CTA or of a warp do together, and the renumbering itself
 *   warp_talk.c  what lanes of a warp leave to each other in memory, or wait for there
 */
#ifndef HEDDLE_REWRITE_THREADS_H
#define HEDDLE_REWRITE_THREADS_H

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

#define REWRITE_PARTS_A_WARP                                                                                 \
  "threads of a warp may rely here on running together, and threads= would part them"

/* Other threads see it, or it sees theirs, with no fence: an ordered access, or one whose cache operator goes
 * to memory each time, as volatile ones were compiled before PTX had orders. */
static inline bool rewrite_is_strong(const hd_ptx_access *a) {
  return a->order >= HD_ORDERED_RELAXED || a->cache == HD_M_CV || a->cache == HD_M_WT;
}

/* Lanes of a warp go on one without the other, and meet at barriers one by one. */
bool rewrite_lanes_can_part(const hd_ptx_module *m);

/* Refuses what may read what another lane of the warp wrote with no barrier between. block: known or {0}. */
void rewrite_scan_warp_talk(rewrite_scan *scan, uint32_t func, const uint32_t block[3]);

#endif
