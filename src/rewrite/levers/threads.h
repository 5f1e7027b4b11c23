/* rewrite/levers/threads.h: what bars threads= and threads=cta:.
 *
 *   threads.c    what threads of a CTA or of a warp do together, and the renumbering itself
 *   warp_talk.c  what lanes of a warp leave to each other in memory
 */
#ifndef HEDDLE_REWRITE_THREADS_H
#define HEDDLE_REWRITE_THREADS_H

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

#define REWRITE_PARTS_A_WARP                                                                                 \
  "threads of a warp may rely here on running together, and threads= would part them"

/* Refuses what may read what another lane of the warp wrote with no barrier between. block: known or {0}. */
void rewrite_scan_warp_talk(rewrite_scan *scan, uint32_t func, const uint32_t block[3]);

#endif
