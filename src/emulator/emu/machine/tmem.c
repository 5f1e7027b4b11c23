/* emu/machine/tmem.c: tensor memory: its columns, and the operations in flight. */
#include "emu/machine/tmem.h"
#include "emu/machine/cluster.h"
#include "emu/machine/know.h"

#include <stdlib.h>

enum {
  UNIT = 32, /* columns */
  UNITS = NUM_TC_COLUMNS / UNIT,
  MOST_OPS = 4096, /* in flight; beyond, they are carried out early */
  MOST_DONE = 256, /* under a check of races; beyond, the oldest are forgotten */
  MOST_COMMITS = 4,
};

/* A load or a store that its warp has not waited for. */
typedef struct moving {
  emu_tmem_span span;
  uint32_t warp, line;
  bool stores;
} moving;

/* Columns that an operation has written, and the commits behind it, as know.c numbers them. */
typedef struct written {
  emu_tmem_span span;
  const emu_warp *w;
  unsigned lane; /* its thread */
  uint32_t line, n;
  uint32_t writer[MOST_COMMITS], number[MOST_COMMITS];
} written;

struct emu_tmem {
  uint32_t cells[NUM_TC_LANES][NUM_TC_COLUMNS];
  uint8_t sizes[UNITS]; /* at the first unit of an allocation: its units */
  uint32_t taken;       /* a bit a unit */
  bool relinquished;
  uint8_t group; /* of all its instructions; 0: none yet */
  HD_VEC(moving) moving;
  HD_VEC(written) written;
  HD_VEC(emu_tmem_op) ops; /* of the CTA of rank 0 only */
  void *room;
  size_t room_bytes;
};

/* ---- Setting up ----------------------------------------------------------------------------- */

static emu_tmem *tmem_of(hd_emu_cta *c) {
  if (!c->tmem && (c->tmem = calloc(1, sizeof *c->tmem)))
    memset(c->tmem->cells, EMU_TMEM_POISON, sizeof c->tmem->cells);
  return c->tmem;
}

void emu_tmem_forget(emu_tmem_op *op) {
  free(op->chunk);
  free(op->used);
  free(op->what);
  op->chunk = NULL;
  op->used = NULL;
  op->what = NULL;
}

void emu_tmem_reset(hd_emu_cta *c) {
  emu_tmem *t = c->tmem;
  if (!t) return;
  for (size_t k = 0; k < t->ops.n; k++) emu_tmem_forget(&t->ops.data[k]);
  t->moving.n = t->written.n = t->ops.n = 0;
  t->taken = 0;
  t->group = 0;
  t->relinquished = false;
}

void emu_tmem_free(hd_emu_cta *c) {
  if (!c->tmem) return;
  emu_tmem_reset(c);
  hd_vec_free(&c->tmem->moving);
  hd_vec_free(&c->tmem->written);
  hd_vec_free(&c->tmem->ops);
  free(c->tmem->room);
  free(c->tmem);
  c->tmem = NULL;
}

void *emu_tmem_room(hd_emu_cta *c, size_t bytes) {
  emu_tmem *t = tmem_of(c);
  if (!t) return NULL;
  if (t->room_bytes < bytes) {
    free(t->room);
    t->room = aligned_alloc(64, (bytes + 63) / 64 * 64);
    t->room_bytes = t->room ? bytes : 0;
  }
  return t->room;
}

uint32_t *emu_tmem_row(hd_emu_cta *c, unsigned lane) { return c->tmem->cells[lane]; }

/* ---- The two CTAs of a group ---------------------------------------------------------------- */

static bool same_group(emu_warp *w, const emu_inst *i, unsigned lane, hd_emu_cta *c, unsigned group) {
  emu_tmem *t = tmem_of(c);
  if (!t) {
    emu_nomem(w, i, 1u << lane, "tensor memory");
    return false;
  }
  if (t->group && t->group != group) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the CTA's earlier tcgen05 instructions are of .cta_group::%u", t->group);
    return false;
  }
  t->group = (uint8_t)group;
  return true;
}

unsigned emu_tmem_ctas(emu_warp *w, const emu_inst *i, unsigned lane, unsigned group, hd_emu_cta *ctas[2]) {
  hd_emu_cta *c = w->cta;
  ctas[0] = ctas[1] = c;
  if (group == 2) {
    if (!c->cluster || (c->rank | 1) >= c->cluster->n) {
      emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the CTA has no other to form a pair with in its cluster");
      return 0;
    }
    ctas[0] = c->cluster->ctas[c->rank & ~1u];
    ctas[1] = c->cluster->ctas[c->rank | 1];
  }
  for (unsigned k = 0; k < group; k++)
    if (!same_group(w, i, lane, ctas[k], group)) return 0;
  return group;
}

/* ---- Allocation ----------------------------------------------------------------------------- */

static bool columns_fit(emu_warp *w, const emu_inst *i, uint32_t columns) {
  if (columns >= UNIT && columns <= NUM_TC_COLUMNS && !(columns & (columns - 1))) return true;
  emu_fault(w, i, 1, HD_FAULT_OTHER, "%u columns: a power of two from 32 to 512 is possible", columns);
  return false;
}

static uint32_t bits_of(unsigned first, unsigned units) { return ((1u << units) - 1) << first; }

bool emu_tmem_alloc(emu_warp *w, const emu_inst *i, uint32_t columns, uint32_t *address) {
  emu_tmem *t = w->cta->tmem;
  const unsigned units = columns / UNIT;
  if (!columns_fit(w, i, columns)) return false;
  if (t->relinquished) {
    emu_fault(w, i, 1, HD_FAULT_OTHER, "the CTA has relinquished its permit to allocate");
    return false;
  }
  for (unsigned first = 0; first + units <= UNITS; first += units) {
    if (t->taken & bits_of(first, units)) continue;
    t->taken |= bits_of(first, units);
    t->sizes[first] = (uint8_t)units;
    for (unsigned lane = 0; lane < NUM_TC_LANES; lane++)
      memset(&t->cells[lane][first * UNIT], EMU_TMEM_POISON, columns * sizeof t->cells[0][0]);
    *address = first * UNIT;
    return true;
  }
  emu_fault(
      w, i, 1, HD_FAULT_NOT_EMULATED,
      "the CTA holds too many of the 512 columns of tensor memory to get %u more, and a wait for its own "
      "deallocation is not emulated",
      columns);
  return false;
}

static const emu_tmem_op *in_flight(const emu_tmem_span *s, bool writes);
static const moving *being_moved(const emu_tmem_span *s, bool all);
static void forget_written(emu_tmem *t, const emu_tmem_span *s);

bool emu_tmem_dealloc(emu_warp *w, const emu_inst *i, uint32_t address, uint32_t columns) {
  emu_tmem *t = w->cta->tmem;
  const unsigned first = address / UNIT, units = columns / UNIT;
  if (!columns_fit(w, i, columns)) return false;
  if (address % UNIT || first >= UNITS || !(t->taken >> first & 1) || t->sizes[first] != units) {
    emu_fault(w, i, 1, HD_FAULT_OTHER, "no %u columns are allocated at 0x%x of tensor memory", columns,
              address);
    return false;
  }
  const emu_tmem_span s = {w->cta, 0xff, (uint16_t)address, (uint16_t)(address + columns)};
  const emu_tmem_op *op = in_flight(&s, true);
  const moving *mv = being_moved(&s, true);
  if (op || mv) {
    emu_fault(w, i, 1, HD_FAULT_OTHER, "the operation of line %u on these columns has not been waited for",
              op ? op->i->line : mv->line);
    return false;
  }
  t->taken &= ~bits_of(first, units);
  t->sizes[first] = 0;
  forget_written(t, &s);
  return true;
}

bool emu_tmem_allocated(emu_warp *w, const emu_inst *i, uint32_t mask, const emu_tmem_span *s) {
  const emu_tmem *t = s->cta->tmem;
  uint32_t units = 0;
  for (unsigned k = s->lo / UNIT; k * UNIT < s->hi && k < UNITS; k++) units |= 1u << k;
  if (s->hi <= NUM_TC_COLUMNS && t && (t->taken & units) == units) return true;
  emu_fault(w, i, mask, HD_FAULT_BOUNDS,
            "columns %u to %u of tensor memory are not all allocated in CTA (%u,%u,%u)", s->lo, s->hi - 1u,
            s->cta->id[0], s->cta->id[1], s->cta->id[2]);
  return false;
}

/* ---- Conflicts ------------------------------------------------------------------------------ */

static bool meet(const emu_tmem_span *a, const emu_tmem_span *b) {
  return a->cta == b->cta && a->groups & b->groups && a->lo < b->hi && b->lo < a->hi;
}

/* Of operations on these columns that are in flight, one that writes them, or that reads them, too. */
static const emu_tmem_op *in_flight(const emu_tmem_span *s, bool writes) {
  const emu_tmem *t = emu_unit_cta(s->cta, 0)->tmem;
  for (size_t k = 0; t && k < t->ops.n; k++) {
    const emu_tmem_op *op = &t->ops.data[k];
    for (uint32_t j = 0; j < op->n_writes; j++)
      if (meet(&op->writes[j], s)) return op;
    for (uint32_t j = 0; writes && j < op->n_reads; j++)
      if (meet(&op->reads[j], s)) return op;
  }
  return NULL;
}

/* A store to these columns that its warp has not waited for; or a load, too. */
static const moving *being_moved(const emu_tmem_span *s, bool all) {
  const emu_tmem *t = s->cta->tmem;
  for (size_t k = 0; t && k < t->moving.n; k++)
    if ((all || t->moving.data[k].stores) && meet(&t->moving.data[k].span, s)) return &t->moving.data[k];
  return NULL;
}

/* ---- Knowledge of what was written ---------------------------------------------------------- */

/* Clusters are left out, as order.c does. */
static bool keeps_order(const hd_emu_cta *c) { return c->order && !c->cluster; }

static void forget_written(emu_tmem *t, const emu_tmem_span *s) {
  size_t kept = 0;
  for (size_t k = 0; k < t->written.n; k++)
    if (!meet(&t->written.data[k].span, s)) t->written.data[kept++] = t->written.data[k];
  t->written.n = kept;
}

static void note_written(const emu_tmem_op *op) {
  for (uint32_t k = 0; k < op->n_writes; k++) {
    const emu_tmem_span *s = &op->writes[k];
    emu_tmem *t = s->cta->tmem;
    if (!keeps_order(s->cta)) continue;
    forget_written(t, s);
    if (t->written.n == MOST_DONE)
      memmove(t->written.data, t->written.data + 1, --t->written.n * sizeof t->written.data[0]);
    const written fresh = {.span = *s, .w = op->w, .lane = op->lane, .line = op->i->line};
    if (!hd_vec_push(&t->written, fresh)) return; /* no memory: nothing is found */
  }
}

void emu_tmem_commits(const emu_tmem_op *op, uint64_t offset) {
  hd_emu_cta *c = op->w->cta;
  uint32_t writer, number;
  size_t kept = 0;
  if (!keeps_order(c) || !c->tmem->written.n || !emu_know_copy(c->order, offset, &writer, &number)) return;
  for (size_t k = 0; k < c->tmem->written.n; k++) {
    written x = c->tmem->written.data[k];
    bool has = x.w != op->w || x.lane != op->lane;
    for (uint32_t j = 0; j < x.n; j++) has |= x.writer[j] == writer;
    if (!has && x.n == MOST_COMMITS) continue;
    if (!has) {
      x.writer[x.n] = writer;
      x.number[x.n++] = number;
    }
    c->tmem->written.data[kept++] = x;
  }
  c->tmem->written.n = kept;
}

/* Whether a lane of the warp has learned of one of the commits. */
static bool knows_of(const emu_warp *w, const written *x) {
  const emu_order *o = w->cta->order;
  const emu_knower *k = &o->warps[w->index];
  for (uint32_t j = 0; j < x->n; j++)
    if (emu_knows(o, &k->knows, x->writer[j], EMU_SEVERAL_LANES, x->number[j])) return true;
  return false;
}

static bool check_known(emu_warp *w, const emu_inst *i, const emu_tmem_span *s) {
  const emu_tmem *t = w->cta->tmem;
  for (size_t k = 0; keeps_order(w->cta) && k < t->written.n; k++) {
    const written *x = &t->written.data[k];
    if (!meet(&x->span, s) || knows_of(w, x)) continue;
    emu_fault(
        w, i, w->live, HD_FAULT_RACE,
        "race inside a CTA: the operation of line %u wrote these columns of tensor memory, and the warp "
        "has not learned of an mbarrier of its commit",
        x->line);
    return false;
  }
  return true;
}

/* ---- Loads and stores of warps -------------------------------------------------------------- */

/* The warp loads from the columns, or stores to them, until it waits. */
bool emu_tmem_move_begin(emu_warp *w, const emu_inst *i, const emu_tmem_span *s, bool stores) {
  if (!emu_tmem_allocated(w, i, w->live, s)) return false;
  const emu_tmem_op *op = in_flight(s, stores);
  if (op) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER,
              "the operation of line %u on these columns of tensor memory is in flight: no mbarrier of its "
              "commit has been waited for",
              op->i->line);
    return false;
  }
  const moving *mv = being_moved(s, stores);
  if (mv && (mv->warp != w->index || mv->stores != stores)) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER,
              "the %s of line %u on these columns of tensor memory has not been waited for",
              mv->stores ? "store" : "load", mv->line);
    return false;
  }
  if (!check_known(w, i, s)) return false;
  if (!stores && !(w->cta->watch & EMU_WATCH_INIT)) return true;
  if (stores) forget_written(s->cta->tmem, s);
  for (size_t k = 0; k < s->cta->tmem->moving.n; k++) {
    const moving *old = &s->cta->tmem->moving.data[k];
    if (old->warp == w->index && old->stores == stores && old->span.groups == s->groups &&
        old->span.lo == s->lo && old->span.hi == s->hi)
      return true;
  }
  const moving fresh = {*s, w->index, i->line, stores};
  if (hd_vec_push(&s->cta->tmem->moving, fresh)) return true;
  emu_nomem(w, i, w->live, "a load in flight");
  return false;
}

void emu_tmem_wait(emu_warp *w, bool stores) {
  emu_tmem *t = w->cta->tmem;
  size_t kept = 0;
  for (size_t k = 0; t && k < t->moving.n; k++) {
    const moving *mv = &t->moving.data[k];
    if (mv->warp != w->index || mv->stores != stores) t->moving.data[kept++] = *mv;
  }
  if (t) t->moving.n = kept;
}

void emu_tmem_relinquish(hd_emu_cta *c) { c->tmem->relinquished = true; }

/* ---- Issue ---------------------------------------------------------------------------------- */

static bool add_span(emu_tmem_op *op, bool writes, const emu_tmem_span *s) {
  if (!emu_tmem_allocated(op->w, op->i, 1u << op->lane, s)) return false;
  const moving *mv = being_moved(s, writes);
  if (mv) {
    emu_fault(op->w, op->i, 1u << op->lane, HD_FAULT_OTHER,
              "the %s of line %u on these columns of tensor memory has not been waited for",
              mv->stores ? "store" : "load", mv->line);
    return false;
  }
  if (writes)
    op->writes[op->n_writes++] = *s;
  else
    op->reads[op->n_reads++] = *s;
  return true;
}

static emu_tmem_span span_of(hd_emu_cta *c, unsigned groups, unsigned lo, unsigned n) {
  return (emu_tmem_span){c, (uint8_t)groups, (uint16_t)lo, (uint16_t)(lo + n)};
}
bool emu_tmem_reads(emu_tmem_op *op, hd_emu_cta *c, unsigned groups, unsigned lo, unsigned n) {
  const emu_tmem_span s = span_of(c, groups, lo, n);
  return add_span(op, false, &s);
}
bool emu_tmem_writes(emu_tmem_op *op, hd_emu_cta *c, unsigned groups, unsigned lo, unsigned n) {
  const emu_tmem_span s = span_of(c, groups, lo, n);
  return add_span(op, true, &s);
}

/* Any change of one word of it changes the sum. */
static uint64_t hash_of(const emu_tmem_op *op) {
  uint64_t h = 0;
  for (uint32_t k = 0; k < op->n_chunks; k++) {
    uint64_t v[2] = {0, 0};
    memcpy(v, op->chunk[k], op->used[k]);
    h = (h ^ v[0]) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ v[1] ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  }
  return h;
}

/* 32 chunks are one access. */
static bool access_chunks(emu_tmem_op *op, const uint32_t *at, uint32_t n, unsigned used) {
  emu_warp *w = op->w;
  for (uint32_t first = 0; first < n; first += HD_WARP) {
    uint64_t addr[HD_WARP];
    const uint32_t some = n - first < HD_WARP ? n - first : HD_WARP;
    for (uint32_t k = 0; k < HD_WARP; k++) addr[k] = at[first + (k < some ? k : 0)];
    for (uint32_t left = UINT32_MAX >> (HD_WARP - some), part; left; left &= ~part) {
      emu_view v;
      part = emu_split_cluster(addr, left);
      if (!emu_access(w, op->i, part, addr, used, 16, HD_ACCESS_LOAD, HD_CACHE_L1, HD_SPACE_SHARED, &v))
        return false;
      for (uint32_t lanes = part; lanes; lanes &= lanes - 1) {
        const unsigned l = (unsigned)__builtin_ctz(lanes);
        op->chunk[op->n_chunks + first + l] =
            (const char *)(uintptr_t)(addr[l] + v.delta + (uint64_t)((int64_t)l * v.lane_stride));
      }
    }
  }
  return true;
}

bool emu_tmem_shared(emu_tmem_op *op, const uint32_t *at, uint32_t n, unsigned used) {
  emu_mwarp *m = (emu_mwarp *)op->w;
  const char **more = realloc(op->chunk, (op->n_chunks + n) * sizeof *more);
  if (more) op->chunk = more;
  uint8_t *more_used = more ? realloc(op->used, op->n_chunks + n) : NULL;
  if (!more_used) {
    emu_nomem(op->w, op->i, 1u << op->lane, "an operation in flight");
    return false;
  }
  op->used = more_used;
  memset(more_used + op->n_chunks, (int)used, n);
  m->issuer = 1 + op->lane;
  m->copied = 0;
  m->copies_async = true;
  const bool ok = access_chunks(op, at, n, used);
  m->copies_async = false;
  m->issuer = 0;
  if (ok) op->n_chunks += n;
  return ok;
}

bool emu_tmem_issue(emu_tmem_op *op) {
  hd_emu_cta *first = emu_unit_cta(op->w->cta, 0);
  emu_tmem *t = tmem_of(first);
  op->code = op->w->current->frame->code;
  if (op->n_chunks) op->hash = hash_of(op);
  if (t && t->ops.n >= MOST_OPS && !emu_tmem_drain((emu_mwarp *)op->w)) {
    emu_tmem_forget(op);
    return false;
  }
  if (t && hd_vec_push(&t->ops, *op)) {
    *op = (emu_tmem_op){0};
    return true;
  }
  emu_nomem(op->w, op->i, 1u << op->lane, "an operation in flight");
  emu_tmem_forget(op);
  return false;
}

/* ---- Completion ----------------------------------------------------------------------------- */

static bool carry_out(emu_tmem_op *op) {
  if (op->n_chunks && hash_of(op) != op->hash) {
    emu_fault_at((emu_mwarp *)op->w, op->code, op->i, 1u << op->lane, HD_FAULT_OTHER,
                 "shared memory that it reads changed while it was in flight");
    return false;
  }
  note_written(op);
  return op->run(op);
}

bool emu_tmem_drain(emu_mwarp *m) {
  emu_tmem *t = emu_unit_cta(m->w.cta, 0)->tmem;
  if (!t || !t->ops.n) return true;
  bool ok = true;
  for (size_t k = 0; ok && k < t->ops.n; k++) {
    ok = carry_out(&t->ops.data[k]);
    m->w.cta->async.changes++;
    emu_quiet_changed(m->w.cta);
  }
  for (size_t k = 0; k < t->ops.n; k++) emu_tmem_forget(&t->ops.data[k]);
  t->ops.n = 0;
  if (!ok) m->stop = NULL;
  return ok;
}

void emu_tmem_cta_over(emu_mwarp *m) {
  const emu_tmem *t = m->w.cta->tmem;
  if (!emu_tmem_drain(m) || !t || !t->taken) return;
  emu_fault_at(m, m->w.cta->grid->code, NULL, 1, HD_FAULT_OTHER,
               "the CTA ends and has not deallocated its tensor memory");
}
