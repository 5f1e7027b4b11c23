/* emu/machine/cluster.h: CTAs that run together (cluster.c): their shared memory, their barrier.
 *
 * The CTAs of a cluster start together and are stepped by one host thread in turn, so that none needs a lock
 * to reach another's shared memory. An address of shared::cluster is the rank plus 1 in bits EMU_RANK_SHIFT
 * and up, and the offset below; an offset alone is the CTA's own. On the host the shared memories lie at
 * these distances in one window, so that one sum finds the bytes behind any rank's address. */
#ifndef HEDDLE_EMU_CLUSTER_H
#define HEDDLE_EMU_CLUSTER_H

#include "emu/machine/grid.h"

enum { EMU_RANK_SHIFT = 24 };
_Static_assert(EMU_SHARED_LIMIT < 1 << EMU_RANK_SHIFT, "an offset must stay below the rank");

struct emu_cluster {
  emu_cluster *next; /* in the grid's list of idle ones */
  char *window;      /* host: address a of shared::cluster lies at window + a */
  uint32_t n;
  hd_emu_cta *ctas[HD_MAX_CLUSTER]; /* by rank */
};

/* All CTAs of a new or idle cluster, none of them started; NULL: out of memory. The caller holds no lock. */
emu_cluster *emu_cluster_take(hd_emu_grid *g);
void emu_clusters_free(emu_cluster *first);
/* The number of the CTA of this rank. */
uint64_t emu_cluster_task(const hd_emu_grid *g, uint64_t cluster, uint32_t rank);

/* CTAs that start, run and end together: those of a cluster, else the CTA alone. */
static inline uint32_t emu_unit_size(const hd_emu_cta *c) { return c->cluster ? c->cluster->n : 1; }
static inline hd_emu_cta *emu_unit_cta(hd_emu_cta *c, uint32_t k) {
  return c->cluster ? c->cluster->ctas[k] : c;
}
bool emu_unit_lives(hd_emu_cta *c);
uint64_t emu_unit_clock(hd_emu_cta *c);

/* ---- Distributed shared memory ------------------------------------------------------------------- */

static inline bool emu_has_rank(uint64_t offset) { return offset >> EMU_RANK_SHIFT; }
/* The CTA whose shared memory the address lies in; *offset becomes that in it. NULL after a fault. */
hd_emu_cta *emu_owner_of(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t *offset);
/* The address in shared::cluster of an offset (or address, whose rank is replaced). */
static inline uint64_t emu_ranked(uint64_t offset, uint32_t rank) {
  return (uint64_t)(rank + 1) << EMU_RANK_SHIFT | (offset & ((UINT64_C(1) << EMU_RANK_SHIFT) - 1));
}

/* ---- barrier.cluster ---------------------------------------------------------------------------------- */

/* f, all its lanes active, arrives or waits there. True: it goes on. */
bool emu_cluster_barrier(emu_mwarp *m, emu_fiber *f, const emu_inst *i);
/* Threads of the CTA have exited: they are not waited for. */
void emu_cluster_exited(hd_emu_cta *c);
/* No fiber of the warp can run: true when one waits for the cluster, and the warp with it. */
bool emu_cluster_blocks(emu_mwarp *m);

#endif
