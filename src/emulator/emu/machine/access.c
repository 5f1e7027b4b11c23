/* emu/machine/access.c: the check that every access to memory passes.
 *
 * The common case must cost little: all lanes inside the allocation that this instruction accessed
 * last. Bounds and alignment of all lanes are then two vector sums, and nothing is looked up. */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"
#include "emu/machine/flags.h"
#include "emu/machine/know.h"
#include "emu/machine/order.h"
#include "emu/machine/ready.h"

#include <inttypes.h>

/* ---- Faults of an access ------------------------------------------------------------------ */

/* How `address` lies to the allocations: the one it is in or near, or was in. The caller holds the lock. */
static void describe(const hd_emu *e, uint64_t address, char *out, size_t cap) {
  size_t k = emu_upper_bound(e, address);
  const emu_alloc *before = k ? &e->allocs[k - 1] : NULL, *next = k < e->n_allocs ? &e->allocs[k] : NULL;
  if (before && address < before->hi) {
    snprintf(out, cap, "%" PRIu64 " bytes before the end of the %" PRIu64 "-byte allocation at 0x%" PRIx64,
             before->hi - address, before->hi - before->lo, before->lo);
    return;
  }
  for (uint64_t n = e->n_freed; n-- > 0 && e->n_freed - n <= EMU_FREED;) {
    uint64_t lo = e->freed[n % EMU_FREED].lo, hi = e->freed[n % EMU_FREED].hi;
    if (address >= lo && address < hi) {
      snprintf(out, cap, "in freed memory: a %" PRIu64 "-byte allocation was at 0x%" PRIx64, hi - lo, lo);
      return;
    }
  }
  uint64_t past = before ? address - before->hi : UINT64_MAX, ahead = next ? next->lo - address : UINT64_MAX;
  if (before && past <= ahead)
    snprintf(out, cap, "%" PRIu64 " bytes past the end of the %" PRIu64 "-byte allocation at 0x%" PRIx64,
             past, before->hi - before->lo, before->lo);
  else if (next)
    snprintf(out, cap, "%" PRIu64 " bytes before the %" PRIu64 "-byte allocation at 0x%" PRIx64, ahead,
             next->hi - next->lo, next->lo);
  else
    snprintf(out, cap, "and nothing is allocated");
}

static bool misaligned(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, unsigned bytes,
                       unsigned align, hd_access_kind kind) {
  if (!(address & (align - 1))) return false;
  emu_fault(w, i, 1u << lane, HD_FAULT_MISALIGNED,
            "misaligned %s of %u bytes at 0x%" PRIx64 ", which is no multiple of %u", emu_access_word(kind),
            bytes, address, align);
  return true;
}

/* ---- Windows other than global memory -------------------------------------------------------- */

typedef struct window {
  uint64_t base;  /* added to an offset to make addr[] */
  uint64_t bytes; /* accessible */
  const char *name;
  char *host;
  uint64_t stride; /* between lanes */
} window;

static window window_of(emu_mwarp *m, hd_space space, bool generic) {
  emu_cta *c = m->w.cta;
  const hd_emu_grid *g = c->grid;
  if (space == HD_SPACE_SHARED)
    return (window){generic ? EMU_SHARED_BASE : 0, c->shared_bytes, "shared", c->shared, 0};
  if (space == HD_SPACE_LOCAL) {
    const emu_frame *f = m->w.current->frame;
    return (window){generic ? EMU_LOCAL_BASE : 0, (uint64_t)f->local_base + f->code->local_bytes, "local",
                    m->local, g->stack_bytes};
  }
  return (window){generic ? EMU_PARAM_BASE : 0, g->view.params_bytes, "parameter",
                  (char *)(uintptr_t)g->view.params, 0};
}

static void window_fault(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                         unsigned bytes, unsigned align, hd_access_kind kind, const window *v) {
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned l = (unsigned)__builtin_ctz(left);
    if (misaligned(w, i, l, addr[l], bytes, align, kind)) return;
    if (addr[l] < v->base || bytes > v->bytes || addr[l] - v->base > v->bytes - bytes) {
      emu_fault(w, i, 1u << l, HD_FAULT_BOUNDS,
                "out of bounds: %s of %u bytes at %s offset %" PRId64 ", where there are %" PRIu64 " bytes",
                emu_access_word(kind), bytes, v->name, (int64_t)(addr[l] - v->base), v->bytes);
      return;
    }
  }
}

/* ---- Checks and traces that options ask for ------------------------------------------------------ */

static void task_name(hd_emu_grid *g, uint32_t ticket, char *out, size_t cap) {
  const uint32_t *n = g->view.grid;
  const emu_race_task *t = emu_race_find(&g->race, ticket);
  if (!t)
    snprintf(out, cap, "a CTA of another launch");
  else if (t->task == UINT64_MAX)
    snprintf(out, cap, "several CTAs");
  else
    snprintf(out, cap, "CTA (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", t->task % n[0], t->task / n[0] % n[1],
             t->task / n[0] / n[1]);
}

/* Every grid.sync() that has completed orders what came before it. */
static bool pass_grid_barriers(hd_emu_grid *g, hd_emu_cta *c) {
  if (g->barrier && (*g->barrier ^ g->passed) >> 31) {
    g->passed = *g->barrier;
    emu_race_pass(g->emu, &g->race);
  }
  if (c->ticket < g->race.first) c->ticket = emu_race_ticket(g->emu, &g->race, c->task);
  return c->ticket != 0;
}

/* Towards threads of other CTAs. Reductions of bulk copies are strong, too. */
static bool is_strong(const emu_inst *i, hd_access_kind kind) {
  return i->mem.strong >= EMU_STRONG || (kind == HD_ACCESS_ATOMIC && i->mem.strong == EMU_WEAK);
}

/* What other CTAs have told these lanes. */
static uint64_t told(const emu_warp *w, uint32_t mask) {
  if (!w->cta->order) return 0;
  const emu_knower *k = &w->cta->order->warps[w->index];
  return mask & ~k->informed ? k->base.told : k->knows.told;
}

static bool check_race(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                       hd_access_kind kind) {
  hd_emu_grid *g = w->cta->grid;
  emu_conflict why;
  char name[96] = "";
  /* The driver runs these launches on one host thread. */
  const bool lock = !g->ordered;
  if (lock) pthread_mutex_lock(&g->lock);
  bool ok = pass_grid_barriers(g, w->cta);
  const bool async = ((emu_mwarp *)w)->copies_async;
  const uint32_t writes = !ok                      ? 0
                          : kind == HD_ACCESS_LOAD ? ((emu_mwarp *)w)->ticket
                          : async                  ? emu_flags_copy_ticket(w)
                                                   : emu_flags_ticket(w);
  ok = ok && (writes || kind == HD_ACCESS_LOAD);
  const emu_race_by by = {.reads = w->cta->ticket,
                          .writes = writes ? writes : w->cta->ticket,
                          .task = w->cta->task,
                          .knows = told(w, mask),
                          .kind = kind,
                          .strong = is_strong(i, kind),
                          .async = async};
  why = (emu_conflict){.lane = (unsigned)__builtin_ctz(mask)};
  ok = ok && emu_race_access(g->emu, &g->race, &by, mask, addr, bytes, w->storing, &why);
  w->cta->touched = true;
  if (ok && by.strong) ok = emu_flags_access(w, i, kind, mask, addr);
  if (!ok && why.other) task_name(g, why.other, name, sizeof name);
  if (lock) pthread_mutex_unlock(&g->lock);
  if (ok) return true;
  if (!why.other)
    emu_nomem(w, i, 1u << why.lane, "the record of races");
  else if (why.no_fence)
    emu_fault(w, i, 1u << why.lane, HD_FAULT_RACE,
              "race with a copy: it reads %u bytes at 0x%" PRIx64
              " that threads of %s wrote, with no fence.proxy.async between them",
              bytes, why.address, name);
  else
    emu_fault(w, i, 1u << why.lane, HD_FAULT_RACE,
              "race between CTAs: %s of %u bytes at 0x%" PRIx64 " meets what %s %s", emu_access_word(kind),
              bytes, why.address, name, why.wrote ? "wrote" : "read");
  return false;
}

/* PTX: what ld.global.nc reads is read-only for the whole launch. What is written after the load does it no
 * harm here; by another CTA it is a race. */
static bool check_nc(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                     hd_access_kind kind, unsigned cache) {
  hd_emu_grid *g = w->cta->grid;
  const bool reads = kind == HD_ACCESS_LOAD;
  if (reads && !(cache & HD_CACHE_READONLY)) return true;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!reads) {
      emu_nc_mark(g->emu, addr[l], bytes, g->nc_tag);
    } else if (emu_nc_wrote(g->emu, addr[l], bytes, g->nc_tag)) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER,
                "a non-coherent load of %u bytes at 0x%" PRIx64 " reads what the launch has written", bytes,
                addr[l]);
      return false;
    }
  }
  return true;
}

static bool check_order(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                        unsigned bytes, hd_access_kind kind, hd_space space, uint64_t base) {
  if (space == HD_SPACE_GLOBAL && (kind == HD_ACCESS_ATOMIC || i->mem.strong))
    emu_order_flag(w, i, kind, emu_acting(w, mask));
  if (space != HD_SPACE_SHARED) return true;
  uint64_t offset[HD_WARP];
  for (int l = 0; l < HD_WARP; l++) offset[l] = addr[l] - base;
  return emu_order_access(w, i, mask, offset, bytes, kind);
}

static void trace(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                  hd_access_kind kind, unsigned cache, hd_space space, uint64_t base) {
  emu_cta *c = w->cta;
  uint64_t offsets[HD_WARP];
  if (base && space != HD_SPACE_GLOBAL && space != HD_SPACE_CONST) {
    for (int l = 0; l < HD_WARP; l++) offsets[l] = addr[l] - base;
    addr = offsets;
  }
  hd_access a = {.task = c->task,
                 .warp = w->index,
                 .line = i->line,
                 .inst = i->stmt,
                 .called = w->current->frame->depth > 0,
                 .strong = is_strong(i, kind),
                 .system = i->mem.strong == EMU_STRONG_SYS,
                 .launched = c->launched,
                 .kind = (uint8_t)kind,
                 .cache = (uint8_t)cache,
                 .space = (uint8_t)space,
                 .bytes = (uint8_t)bytes,
                 .mask = mask,
                 .addr = addr};
  const uint32_t acting = emu_acting(w, mask);
  a.waited = emu_waited(w, acting);
  if (acting != mask && a.waited) a.waited = mask; /* pieces of a copy */
  emu_report_access(w, i, &a);
}

static __attribute__((noinline)) bool watched(emu_warp *w, const emu_inst *i, uint32_t mask,
                                              const uint64_t addr[32], unsigned bytes, hd_access_kind kind,
                                              unsigned cache, hd_space space, uint64_t base, bool written) {
  emu_cta *c = w->cta;
  const bool global = space == HD_SPACE_GLOBAL || space == HD_SPACE_CONST;
  if (c->watch & EMU_WATCH_INIT && !written && (global || space == HD_SPACE_SHARED)) {
    uint8_t *shadow = global ? c->grid->emu->init : c->shared_init;
    if (!emu_check_init(w, c, i, mask, addr, bytes, kind, space, shadow, global ? EMU_GLOBAL_BASE : base))
      return false;
  }
  if (global && c->async.writings.n && !emu_check_written_out(w, c, i, mask, addr, bytes, kind)) return false;
  if (c->local_init && space == HD_SPACE_LOCAL) emu_check_local(w, i, mask, addr, bytes, kind, base);
  if (c->watch & EMU_WATCH_RACE && global && !check_race(w, i, mask, addr, bytes, kind)) return false;
  if (c->watch & EMU_WATCH_NC && space == HD_SPACE_GLOBAL && !check_nc(w, i, mask, addr, bytes, kind, cache))
    return false;
  if (c->order && !check_order(w, i, mask, addr, bytes, kind, space, base)) return false;
  if (c->watch & 1u << space) trace(w, i, mask, addr, bytes, kind, cache, space, base);
  if (c->watch & EMU_WATCH_QUIET && (global || space == HD_SPACE_SHARED))
    emu_quiet_access(w, i, mask, addr, bytes, kind, space,
                     global ? c->emu->delta : (uint64_t)(uintptr_t)c->shared - base);
  return true;
}

/* ---- Other CTAs' shared memory ---------------------------------------------------------------------- */

/* One lane's bytes, at an address of shared::cluster. */
static bool reach(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, unsigned bytes,
                  unsigned align, hd_access_kind kind) {
  uint64_t at[HD_WARP], offset = address;
  emu_cta *c = emu_owner_of(w, i, lane, &offset);
  if (!c || misaligned(w, i, lane, offset, bytes, align, kind)) return false;
  if (bytes > c->shared_bytes || offset > c->shared_bytes - bytes) {
    emu_fault(w, i, 1u << lane, HD_FAULT_BOUNDS,
              "out of bounds: %s of %u bytes at shared offset %" PRIu64
              " of the CTA of rank %u, where there are "
              "%" PRIu64 " bytes",
              emu_access_word(kind), bytes, offset, c->rank, c->shared_bytes);
    return false;
  }
  at[lane] = offset;
  return !(c->watch & EMU_WATCH_INIT) ||
         emu_check_init(w, c, i, 1u << lane, at, bytes, kind, HD_SPACE_SHARED, c->shared_init, 0);
}

/* Some address of the mask's is not in the CTA's own shared memory, which begins at `base`. */
static __attribute__((noinline)) bool access_cluster(emu_warp *w, const emu_inst *i, uint32_t mask,
                                                     const uint64_t addr[32], unsigned bytes, unsigned align,
                                                     hd_access_kind kind, unsigned cache, uint64_t base,
                                                     emu_view *out) {
  emu_cta *c = w->cta;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!reach(w, i, l, addr[l] - base, bytes, align, kind)) return false;
  }
  *out = (emu_view){(uint64_t)(uintptr_t)c->cluster->window - base, 0};
  c->stores += kind == HD_ACCESS_STORE;
  if (c->watch & 1u << HD_SPACE_SHARED) trace(w, i, mask, addr, bytes, kind, cache, HD_SPACE_SHARED, base);
  if (c->watch & EMU_WATCH_QUIET)
    emu_quiet_access(w, i, mask, addr, bytes, kind, HD_SPACE_SHARED, out->delta);
  return true;
}

/* ---- Accesses ---------------------------------------------------------------------------------------- */

static hd_space space_of(uint64_t address) {
  if (address >= EMU_GLOBAL_BASE) return HD_SPACE_GLOBAL;
  switch (address & ~(EMU_WINDOW_BYTES - 1)) {
  case EMU_SHARED_BASE: return HD_SPACE_SHARED;
  case EMU_LOCAL_BASE: return HD_SPACE_LOCAL;
  case EMU_PARAM_BASE: return HD_SPACE_PARAM;
  default: return HD_SPACE_GLOBAL;
  }
}

uint32_t emu_split_generic(const uint64_t addr[32], uint32_t mask, unsigned *space) {
  const uint64_t first = addr[__builtin_ctz(mask)];
  const hd_space s = space_of(first);
  *space = s;
  uint64_t differ = 0;
  for (int l = 0; l < HD_WARP; l++) differ |= (addr[l] ^ first) & -(uint64_t)(mask >> l & 1);
  if (differ < (s == HD_SPACE_SHARED ? UINT64_C(1) << EMU_RANK_SHIFT : EMU_WINDOW_BYTES)) return mask;
  uint32_t same = 0;
  for (int l = 0; l < HD_WARP; l++) same |= (uint32_t)(space_of(addr[l]) == s) << l;
  return s == HD_SPACE_SHARED ? emu_split_cluster(addr, same & mask) : same & mask;
}

uint32_t emu_split_cluster(const uint64_t addr[32], uint32_t mask) {
  const uint64_t in_window = EMU_WINDOW_BYTES - 1;
  const bool ranked = emu_has_rank(addr[__builtin_ctz(mask)] & in_window);
  uint32_t same = 0;
  for (int l = 0; l < HD_WARP; l++) same |= (uint32_t)(emu_has_rank(addr[l] & in_window) == ranked) << l;
  return same & mask;
}

/* Shared memory is given out in units: an access in what is left of the last one happens, too. */
static __attribute__((noinline)) bool strays_shared(emu_warp *w, const emu_inst *i, uint32_t mask,
                                                    const uint64_t addr[32], unsigned bytes, unsigned align,
                                                    hd_access_kind kind, const window *v) {
  const uint64_t given = emu_shared_taken(v->bytes);
  uint32_t beyond = 0;
  if (w->cta->cluster || bytes > given) return false;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    const uint64_t at = addr[l] - v->base;
    if (addr[l] & (align - 1) || addr[l] < v->base || at > given - bytes) return false;
    if (bytes > v->bytes || at > v->bytes - bytes) beyond |= 1u << l;
  }
  emu_stray_note(w, i, beyond & -beyond, HD_FAULT_BOUNDS,
                 "out of bounds: %s of %u bytes at shared offset %" PRIu64 ", where there are %" PRIu64
                 " bytes",
                 emu_access_word(kind), bytes, addr[__builtin_ctz(beyond)] - v->base, v->bytes);
  return true;
}

#define STRAY "out of bounds: %s of %u bytes at 0x%" PRIx64 ", %s"

/* Whether the launch is a user of the allocation. */
static bool may_use(const hd_emu_grid *g, const emu_alloc *a) { return !g->user || a->users & g->user; }

/* Whether an access outside of all allocations happens all the same. */
static bool strays(const emu_warp *w, uint64_t address, unsigned bytes) {
  const hd_emu_grid *g = w->cta->grid;
  return g->told && emu_page_in_use(g->emu, address, bytes);
}

/* The cached bounds do not hold: look every lane up. Leaves the bounds of the last lane's allocation. */
static __attribute__((noinline)) bool look_up(emu_warp *w, const emu_inst *i, uint32_t mask,
                                              const uint64_t addr[32], unsigned bytes, unsigned align,
                                              hd_access_kind kind, emu_bounds *b, bool *written) {
  hd_emu *e = w->cta->grid->emu;
  *written = true;
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned l = (unsigned)__builtin_ctz(left);
    if (misaligned(w, i, l, addr[l], bytes, align, kind)) return false;
    /* The lanes' addresses mostly lie in one allocation, whose bounds hold while the generation does. */
    if (left != mask && addr[l] >= b->lo && addr[l] < b->hi && bytes <= b->hi - addr[l]) continue;
    char where[192] = "";
    pthread_rwlock_rdlock(&e->lock);
    const emu_alloc *a = emu_find_alloc(e, addr[l]);
    const bool foreign = a && !may_use(w->cta->grid, a);
    bool inside = a && !foreign && bytes <= a->hi - addr[l];
    if (inside)
      *b = (emu_bounds){a->lo, a->hi, atomic_load_explicit(&e->generation, memory_order_relaxed), a->readonly,
                        a->written == a->hi - a->lo};
    else if (foreign)
      snprintf(where, sizeof where,
               "in the %" PRIu64 "-byte allocation at 0x%" PRIx64 ", which the launch's device cannot access",
               a->hi - a->lo, a->lo);
    else
      describe(e, addr[l], where, sizeof where);
    pthread_rwlock_unlock(&e->lock);
    if (!inside && !foreign && strays(w, addr[l], bytes)) {
      emu_stray_note(w, i, 1u << l, HD_FAULT_BOUNDS, STRAY, emu_access_word(kind), bytes, addr[l], where);
      continue;
    }
    if (!inside) {
      emu_fault(w, i, 1u << l, HD_FAULT_BOUNDS, STRAY, emu_access_word(kind), bytes, addr[l], where);
      return false;
    }
    if (b->readonly && kind != HD_ACCESS_LOAD) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "%s at 0x%" PRIx64 ", in a .const variable",
                emu_access_word(kind), addr[l]);
      return false;
    }
    *written &= b->written;
  }
  return true;
}

/* Do the active lanes' accesses all begin in [lo, last] at multiples of align_mask + 1? */
static inline __attribute__((always_inline)) bool span(const uint64_t addr[32], uint32_t mask, uint64_t lo,
                                                       uint64_t last, uint64_t align_mask) {
  /* With lo <= last < 2^63, both differences have their top bit clear only when lo <= addr <= last. */
  const uint64_t top = UINT64_C(1) << 63;
  uint64_t bad = 0;
  if (mask == UINT32_MAX)
    for (int l = 0; l < HD_WARP; l++)
      bad |= (((addr[l] - lo) | (last - addr[l])) & top) | (addr[l] & align_mask);
  else
    for (int l = 0; l < HD_WARP; l++)
      bad |=
          ((((addr[l] - lo) | (last - addr[l])) & top) | (addr[l] & align_mask)) & -(uint64_t)(mask >> l & 1);
  return !bad;
}

/* The lanes whose addresses are allocated. */
static uint32_t allocated(hd_emu *e, uint32_t mask, const uint64_t addr[32]) {
  uint32_t found = 0;
  uint64_t lo = 0, hi = 0;
  pthread_rwlock_rdlock(&e->lock);
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned l = (unsigned)__builtin_ctz(left);
    if (addr[l] < lo || addr[l] >= hi) {
      const emu_alloc *a = emu_find_alloc(e, addr[l]);
      if (!a) continue;
      lo = a->lo;
      hi = a->hi;
    }
    found |= 1u << l;
  }
  pthread_rwlock_unlock(&e->lock);
  return found;
}

/* A prefetch faults on nothing: where nothing is mapped, it is lost. */
static __attribute__((noinline)) bool prefetch(emu_warp *w, const emu_inst *i, uint32_t mask,
                                               const uint64_t addr[32], unsigned bytes, unsigned cache,
                                               hd_space space) {
  if (!(w->cta->watch & 1u << space)) return true;
  if (space == HD_SPACE_GLOBAL) mask = allocated(w->cta->grid->emu, mask, addr);
  if (mask) trace(w, i, mask, addr, bytes, HD_ACCESS_PREFETCH, cache, space, 0);
  return true;
}

#define ACCESS_PARAMS                                                                                        \
  emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes, unsigned align,    \
      hd_access_kind kind, unsigned cache, unsigned space, emu_view *out
#define ACCESS_ARGS w, i, mask, addr, bytes, align, kind, cache, space, out

static inline __attribute__((always_inline)) bool access_body(ACCESS_PARAMS) {
  emu_mwarp *m = (emu_mwarp *)w;
  emu_cta *c = w->cta;
  const bool generic = space == EMU_GENERIC;
  if (generic) space = space_of(addr[__builtin_ctz(mask)]);
  if (kind == HD_ACCESS_PREFETCH) return prefetch(w, i, mask, addr, bytes, cache, (hd_space)space);

  if (space == HD_SPACE_GLOBAL || space == HD_SPACE_CONST) {
    /* A thread that spins reads its flag past the caches, or by an atomic. */
    m->synced |= kind == HD_ACCESS_ATOMIC ||
                 (kind == HD_ACCESS_LOAD && !(cache & HD_CACHE_WAYS) && space == HD_SPACE_GLOBAL);
    c->stores += kind == HD_ACCESS_STORE;
    emu_bounds *b = emu_bounds_of(c, i);
    bool written = b->written;
    if (b->hi - b->lo < bytes ||
        b->generation != atomic_load_explicit(&c->emu->generation, memory_order_relaxed) ||
        (b->readonly && kind != HD_ACCESS_LOAD) || !span(addr, mask, b->lo, b->hi - bytes, align - 1)) {
      if (!look_up(w, i, mask, addr, bytes, align, kind, b, &written)) return false;
    }
    *out = (emu_view){c->emu->delta, 0};
    return !c->watch || watched(w, i, mask, addr, bytes, kind, cache, (hd_space)space, 0, written);
  }

  const window v = window_of(m, (hd_space)space, generic);
  m->synced |= kind == HD_ACCESS_ATOMIC || (generic && kind == HD_ACCESS_LOAD && !(cache & HD_CACHE_WAYS));
  if (bytes > v.bytes || !span(addr, mask, v.base, v.base + v.bytes - bytes, align - 1)) {
    if (c->cluster && space == HD_SPACE_SHARED && emu_has_rank(addr[__builtin_ctz(mask)] - v.base))
      return access_cluster(w, i, mask, addr, bytes, align, kind, cache, v.base, out);
    if (!(c->grid->told && space == HD_SPACE_SHARED &&
          strays_shared(w, i, mask, addr, bytes, align, kind, &v))) {
      window_fault(w, i, mask, addr, bytes, align, kind, &v);
      return false;
    }
  }
  if (space == HD_SPACE_PARAM && kind != HD_ACCESS_LOAD) {
    emu_fault(w, i, mask, HD_FAULT_OTHER, "%s to the kernel's parameters", emu_access_word(kind));
    return false;
  }
  *out = (emu_view){(uint64_t)(uintptr_t)v.host - v.base, (int64_t)v.stride};
  c->stores += kind == HD_ACCESS_STORE && space == HD_SPACE_SHARED;
  const bool written = space == HD_SPACE_SHARED && !c->shared_unwritten;
  return !c->watch || watched(w, i, mask, addr, bytes, kind, cache, (hd_space)space, v.base, written);
}

/* Vectors differ threefold in width, and a check stands before every load: one body, compiled for each. */
static bool access_portable(ACCESS_PARAMS) { return access_body(ACCESS_ARGS); }
#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool access_avx2(ACCESS_PARAMS) { return access_body(ACCESS_ARGS); }
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static bool access_avx512(ACCESS_PARAMS) {
  return access_body(ACCESS_ARGS);
}
#endif

emu_access_fn *emu_access_for(hd_emu_isa isa) {
#if defined(__x86_64__)
  if (isa == HD_ISA_AVX512) return access_avx512;
  if (isa == HD_ISA_AVX2) return access_avx2;
#endif
  return access_portable;
}

bool emu_access(ACCESS_PARAMS) { return w->cta->access(ACCESS_ARGS); }

char *emu_local_ptr(emu_warp *w, unsigned lane, uint32_t offset) {
  emu_mwarp *m = (emu_mwarp *)w;
  return m->local + lane * w->cta->grid->stack_bytes + w->current->frame->local_base + offset;
}

bool emu_read_generic(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t addr, void *dst, size_t n) {
  uint64_t at[HD_WARP] = {0};
  for (size_t done = 0; done < n;) {
    unsigned step = n - done < 16 ? (unsigned)(n - done) : 16;
    emu_view v;
    at[lane] = addr + done;
    if (!emu_access(w, i, 1u << lane, at, step, 1, HD_ACCESS_LOAD, HD_CACHE_L1, EMU_GENERIC, &v))
      return false;
    memcpy((char *)dst + done, (const char *)(uintptr_t)(at[lane] + v.delta) + (int64_t)lane * v.lane_stride,
           step);
    done += step;
  }
  return true;
}
