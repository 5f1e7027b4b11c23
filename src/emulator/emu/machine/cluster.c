/* emu/machine/cluster.c: clusters of CTAs: who is in one, addresses in each other's shared memory, their
 * barrier.
 *
 * The barrier (PTX ISA, barrier.cluster) counts threads: it is complete when all threads of the cluster that
 * have not exited have arrived. A thread arrives and later waits, in turns. Every warp keeps two masks: the
 * lanes that have arrived in the present phase, and those that have arrived and not waited yet. */
#include "emu/machine/cluster.h"
#include "emu/machine/async.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- CTAs of a cluster ------------------------------------------------------------------------ */

static uint64_t window_bytes(uint32_t n) { return ((uint64_t)n + 1) << EMU_RANK_SHIFT; }

static void free_cluster(emu_cluster *k) {
  for (uint32_t r = 0; r < k->n; r++)
    if (k->ctas[r]) emu_cta_free(k->ctas[r]);
  if (k->window) munmap(k->window, window_bytes(k->n));
  free(k);
}

void emu_clusters_free(emu_cluster *first) {
  for (emu_cluster *next; first; first = next) {
    next = first->next;
    free_cluster(first);
  }
}

emu_cluster *emu_cluster_take(hd_emu_grid *g) {
  pthread_mutex_lock(&g->lock);
  emu_cluster *k = g->idle_clusters;
  if (k) g->idle_clusters = k->next;
  pthread_mutex_unlock(&g->lock);
  if (k) k->next = NULL; /* it may be freed alone */
  if (k || !(k = calloc(1, sizeof *k))) return k;
  k->n = g->cluster_size;
  k->window = emu_reserve(window_bytes(k->n));
  bool ok = k->window != NULL;
  for (uint32_t r = 0; ok && r < k->n; r++) {
    hd_emu_cta *c = k->ctas[r] = emu_cta_make(g, k->window + emu_ranked(0, r));
    if ((ok = c != NULL)) {
      c->cluster = k;
      c->rank = r;
    }
  }
  if (ok) return k;
  free_cluster(k);
  return NULL;
}

uint64_t emu_cluster_task(const hd_emu_grid *g, uint64_t cluster, uint32_t rank) {
  const uint32_t *dims = g->cluster, *grid = g->view.grid;
  const uint64_t nx = grid[0] / dims[0], ny = grid[1] / dims[1];
  const uint64_t x = cluster % nx * dims[0] + rank % dims[0];
  const uint64_t y = cluster / nx % ny * dims[1] + rank / dims[0] % dims[1];
  const uint64_t z = cluster / nx / ny * dims[2] + rank / dims[0] / dims[1];
  return x + grid[0] * (y + grid[1] * z);
}

bool emu_unit_lives(hd_emu_cta *c) {
  for (uint32_t k = 0; k < emu_unit_size(c); k++)
    if (emu_unit_cta(c, k)->live_warps) return true;
  return false;
}

uint64_t emu_unit_clock(hd_emu_cta *c) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < emu_unit_size(c); k++) sum += emu_unit_cta(c, k)->clock;
  return sum;
}

/* ---- Addresses ------------------------------------------------------------------------------------ */

hd_emu_cta *emu_owner_of(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t *offset) {
  hd_emu_cta *c = w->cta;
  if (!emu_has_rank(*offset)) return c;
  const uint64_t rank = (*offset >> EMU_RANK_SHIFT) - 1;
  if (rank >= emu_unit_size(c)) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "0x%" PRIx64 " is no shared address of a cluster of %u",
              *offset, emu_unit_size(c));
    return NULL;
  }
  hd_emu_cta *owner = emu_unit_cta(c, (uint32_t)rank);
  if (!owner->live_warps) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the CTA of rank %" PRIu64 ", whose shared memory this is, has exited", rank);
    return NULL;
  }
  *offset &= (UINT64_C(1) << EMU_RANK_SHIFT) - 1;
  return owner;
}

void emu_run_mapa(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const hd_emu_cta *c = w->cta;
  const size_t bytes = i->mem.bytes;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    const uint32_t rank = emu_lane_u32(r, i->src[1], l), n = emu_unit_size(c);
    uint64_t at = bytes == 8 ? emu_lane_u64(r, i->src[0], l) : emu_lane_u32(r, i->src[0], l);
    if (rank >= n) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "CTA %u of a cluster of %u", rank, n);
      return;
    }
    const uint64_t base = at >= EMU_SHARED_BASE ? EMU_SHARED_BASE : 0;
    if (n > 1) at = base + emu_ranked(at - base, rank);
    memcpy(r + (size_t)i->dst * EMU_SLOT_BYTES + l * bytes, &at, bytes);
  }
}

void emu_run_getctarank(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const size_t bytes = i->mem.bytes;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint64_t at = bytes == 8 ? emu_lane_u64(r, i->src[0], l) : emu_lane_u32(r, i->src[0], l);
    if (at >= EMU_SHARED_BASE) at -= EMU_SHARED_BASE;
    const uint32_t rank = emu_has_rank(at) ? (uint32_t)(at >> EMU_RANK_SHIFT) - 1 : w->cta->rank;
    memcpy(r + (size_t)i->dst * EMU_SLOT_BYTES + (size_t)l * 4, &rank, sizeof rank);
  }
}

/* Where the warps of a CTA alone learn of each other at this barrier: no offset of an mbarrier. All threads
 * of a warp meet there. */
#define ALL UINT64_MAX
#define ALL_LANES UINT32_MAX

/* ---- The barrier ----------------------------------------------------------------------------------- */

/* The warp's fibers that wait for the cluster go on. */
static void release(emu_mwarp *m) {
  m->cluster_arrived = 0;
  for (uint32_t k = 0; k < m->w.n_fibers; k++) {
    emu_fiber *f = &m->w.fibers[k];
    if (f->waiting != EMU_AT_CLUSTER) continue;
    f->waiting = EMU_READY;
    f->pc++;
    m->cluster_pending &= ~f->mask;
    emu_order_wait(&m->w, ALL_LANES, ALL, false);
    emu_order_meet(&m->w, ALL_LANES, true);
  }
  if (m->barrier == EMU_CLUSTER_BARRIER) m->barrier = -1;
}

static void complete_if_all(hd_emu_cta *c) {
  bool any = false;
  for (uint32_t k = 0; k < emu_unit_size(c); k++) {
    const hd_emu_cta *x = emu_unit_cta(c, k);
    for (uint32_t v = 0; v < x->n_warps; v++) {
      const emu_mwarp *m = &x->warps[v];
      if (m->w.live & ~m->cluster_arrived) return;
      any |= m->cluster_arrived != 0;
    }
  }
  for (uint32_t k = 0; any && k < emu_unit_size(c); k++) {
    hd_emu_cta *x = emu_unit_cta(c, k);
    emu_order_phase(x, ALL);
    for (uint32_t v = 0; v < x->n_warps; v++) release(&x->warps[v]);
    emu_quiet_changed(x);
  }
}

bool emu_cluster_barrier(emu_mwarp *m, emu_fiber *f, const emu_inst *i) {
  const bool arrives = i->imm != EMU_CLUSTER_WAIT;
  if (arrives) {
    if (m->cluster_pending & f->mask) {
      emu_fault(&m->w, i, m->cluster_pending & f->mask, HD_FAULT_OTHER,
                "the thread arrives at the cluster's barrier again and has not waited since");
      return false;
    }
    m->cluster_pending |= f->mask;
    m->cluster_arrived |= f->mask;
    f->pc++;
    emu_quiet_changed(m->w.cta);
    emu_order_signal(&m->w, ALL_LANES, ALL, i->imm == EMU_CLUSTER_RELAXED);
    emu_order_step(&m->w);
    complete_if_all(m->w.cta);
    return true;
  }
  if (f->mask & ~m->cluster_pending) {
    emu_fault(&m->w, i, f->mask & ~m->cluster_pending, HD_FAULT_OTHER,
              "the thread waits at the cluster's barrier, where it has not arrived");
    return false;
  }
  const uint32_t early = f->mask & m->cluster_arrived;
  if (early && early != f->mask) emu_split_fiber(&m->w, f, early, f->pc);
  if (early && early == f->mask) {
    f->waiting = EMU_AT_CLUSTER;
    return false;
  }
  m->cluster_pending &= ~f->mask;
  f->pc++;
  emu_order_wait(&m->w, ALL_LANES, ALL, false);
  emu_order_meet(&m->w, ALL_LANES, true);
  return true;
}

void emu_cluster_exited(hd_emu_cta *c) { complete_if_all(c); }

bool emu_cluster_blocks(emu_mwarp *m) {
  for (uint32_t k = 0; k < m->w.n_fibers; k++)
    if (m->w.fibers[k].waiting == EMU_AT_CLUSTER) {
      m->barrier = EMU_CLUSTER_BARRIER;
      return true;
    }
  return false;
}
