/* emu/machine/order.c: races between the warps of a CTA on its shared memory.
 *
 * Each warp has a clock, which advances each time it lets others know something, and knows a time of every
 * other warp: the accesses that the other warp made before that time happened before its own next ones. Warps
 * learn of each other
 *   - at barriers: a warp that leaves knows what all those that arrived knew;
 *   - by mbarriers: a warp that has waited for a phase knows what those that arrived knew, and what bulk
 *     copies wrote, which count as writes of the warp that issued them;
 *   - by flags: a strong write lets others know what the warp knew at its last fence (or now, if it
 *     releases); a warp that reads strongly and then fences (or acquires) knows it. All flags of a CTA count
 *     as one, so races may hide behind them.
 *
 * A granule of memory remembers its last writer and the warps that have read it since, with their lines. Two
 * accesses of different warps race when one is a write, not both are strong, and the later warp does not know
 * of the earlier one's time. Of several readers the least time is kept: no race is invented, a few are
 * missed. A store of the bytes that are there does not race with the store that left them (flags that several
 * warps set).
 *
 * A warpgroup's product must find its operands written, but its reads are not noted: four warps read, and one
 * of them speaks for all when it has waited. wgmma.c finds writes that come too early.
 *
 * The lanes of a warp are not compared with each other. Without a warp's barrier between them their accesses
 * race by the letter, but no lever changes how a warp runs, and the emulator runs all orders of warps alike.
 */
#include "emu/machine/order.h"

#include "emu/machine/flags.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct times {
  uint32_t of[EMU_MAX_WARPS];
} times;

typedef struct cell {
  uint32_t write_time, write_line;
  uint32_t read_time, read_line; /* the least of the readers' times; the last one's line */
  uint32_t readers;              /* one bit a warp */
  uint8_t writer;                /* 1 + warp; 0: none */
  bool strong_write, strong_reads;
} cell;

typedef struct signal {
  uint64_t offset; /* of the mbarrier */
  times by;
} signal;

struct emu_order {
  uint32_t n_warps;
  times knows[EMU_MAX_WARPS];   /* of itself: its time */
  times fenced[EMU_MAX_WARPS];  /* its knowledge at its last fence */
  times heard[EMU_MAX_WARPS];   /* its knowledge after its next one */
  times flags;                  /* the knowledge that strong writes pass on */
  times barriers[EMU_BARRIERS]; /* the knowledge of the warps that arrived */
  times exited; /* the knowledge of warps that have exited: a barrier of all warps does not wait for them */
  HD_VEC(signal) signals;
  unsigned grain; /* bytes of a cell: 4, or 2 or 1 when an access was so small */
  size_t n_cells;
  cell *cells;
};

/* ---- Times ---------------------------------------------------------------------------------------- */

static void learn(const emu_order *o, times *a, const times *b) {
  for (uint32_t k = 0; k < o->n_warps; k++)
    if (b->of[k] > a->of[k]) a->of[k] = b->of[k];
}

/* Advance the warp's clock: warps that know its time so far do not know of its next accesses. The new time is
 * greater than all that the warp knows, so that times of different warps can be compared and the least of
 * several readers' kept. */
static void tick(emu_order *o, uint32_t w) {
  uint32_t most = 0;
  for (uint32_t k = 0; k < o->n_warps; k++)
    if (o->knows[w].of[k] > most) most = o->knows[w].of[k];
  o->knows[w].of[w] = most + 1;
}

/* ---- A CTA's life ---------------------------------------------------------------------------- */

bool emu_order_create(hd_emu_cta *c) {
  if (!(c->emu->opt.checks & HD_CHECK_RACE) || c->n_warps < 2 || !c->shared_bytes) return true;
  emu_order *o = calloc(1, sizeof *o);
  if (!o) return false;
  c->order = o;
  o->n_warps = c->n_warps;
  o->grain = 4;
  o->n_cells = c->shared_bytes / o->grain + 1;
  o->cells = calloc(o->n_cells, sizeof *o->cells);
  return o->cells != NULL;
}

void emu_order_free(hd_emu_cta *c) {
  if (!c->order) return;
  hd_vec_free(&c->order->signals);
  free(c->order->cells);
  free(c->order);
  c->order = NULL;
}

void emu_order_reset(hd_emu_cta *c) {
  emu_order *o = c->order;
  if (!o) return;
  memset(o->knows, 0, sizeof o->knows);
  memset(o->fenced, 0, sizeof o->fenced);
  memset(o->heard, 0, sizeof o->heard);
  memset(&o->flags, 0, sizeof o->flags);
  memset(o->barriers, 0, sizeof o->barriers);
  memset(&o->exited, 0, sizeof o->exited);
  memset(o->cells, 0, o->n_cells * sizeof *o->cells);
  o->signals.n = 0;
  for (uint32_t w = 0; w < o->n_warps; w++) o->knows[w].of[w] = 1;
}

/* ---- Knowledge passed between warps ------------------------------------------------------------- */

void emu_order_arrive(hd_emu_cta *c, uint32_t warp, uint32_t id) {
  emu_order *o = c->order;
  if (!o) return;
  learn(o, &o->barriers[id], &o->knows[warp]);
  tick(o, warp);
}

void emu_order_complete(hd_emu_cta *c, uint32_t leaving, uint32_t id, bool whole) {
  emu_order *o = c->order;
  if (!o) return;
  if (whole) learn(o, &o->barriers[id], &o->exited);
  for (uint32_t left = leaving; left; left &= left - 1) {
    const uint32_t warp = (uint32_t)__builtin_ctz(left);
    learn(o, &o->knows[warp], &o->barriers[id]);
    tick(o, warp);
  }
  o->barriers[id] = (times){0};
}

void emu_order_exit(hd_emu_cta *c, uint32_t warp) {
  emu_order *o = c->order;
  if (o) learn(o, &o->exited, &o->knows[warp]);
}

static times *signal_at(emu_order *o, uint64_t offset) {
  for (size_t k = 0; k < o->signals.n; k++)
    if (o->signals.data[k].offset == offset) return &o->signals.data[k].by;
  if (!hd_vec_push(&o->signals, ((signal){.offset = offset}))) return NULL;
  return &o->signals.data[o->signals.n - 1].by;
}

void emu_order_signal(hd_emu_cta *c, uint32_t warp, uint64_t offset) {
  emu_order *o = c->order;
  if (!o) return;
  times *by = signal_at(o, offset);
  if (!by) return;
  learn(o, by, &o->knows[warp]);
  tick(o, warp);
}

void emu_order_wait(hd_emu_cta *c, uint32_t warp, uint64_t offset) {
  emu_order *o = c->order;
  times *by = o ? signal_at(o, offset) : NULL;
  if (!by) return;
  learn(o, &o->knows[warp], by);
  tick(o, warp);
}

void emu_run_fence(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  emu_order *o = w->cta->order;
  (void)i, (void)r, (void)mask;
  emu_flags_publish(w->cta);
  if (!o) return;
  learn(o, &o->knows[w->index], &o->heard[w->index]);
  o->fenced[w->index] = o->knows[w->index];
  tick(o, w->index);
}

void emu_order_flag(emu_warp *w, const emu_inst *i, hd_access_kind kind) {
  emu_order *o = w->cta->order;
  if (kind != HD_ACCESS_STORE) {
    times *to = i->mem.sync & EMU_ACQUIRES ? &o->knows[w->index] : &o->heard[w->index];
    learn(o, to, &o->flags);
  }
  if (kind == HD_ACCESS_LOAD) return;
  const bool releases = i->mem.sync & EMU_RELEASES;
  learn(o, &o->flags, releases ? &o->knows[w->index] : &o->fenced[w->index]);
  if (releases) tick(o, w->index);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

typedef struct conflict {
  uint32_t warp, line;
  bool wrote;
} conflict;

typedef struct visit {
  const emu_order *o;
  uint32_t warp, line;
  bool write, strong;
} visit;

static bool find_conflict(const visit *v, const cell *x, bool same, conflict *why) {
  const times *knows = &v->o->knows[v->warp];
  const bool tolerated = (v->strong && x->strong_write) || (v->write && same);
  if (x->writer && x->writer != v->warp + 1 && !tolerated && knows->of[x->writer - 1] < x->write_time) {
    *why = (conflict){x->writer - 1u, x->write_line, true};
    return true;
  }
  if (!v->write || (v->strong && x->strong_reads)) return false;
  for (uint32_t left = x->readers & ~(1u << v->warp); left; left &= left - 1) {
    const uint32_t u = (uint32_t)__builtin_ctz(left);
    if (knows->of[u] >= x->read_time) continue;
    *why = (conflict){u, x->read_line, false};
    return true;
  }
  return false;
}

static void note(const visit *v, cell *x) {
  const times *knows = &v->o->knows[v->warp];
  const uint32_t now = knows->of[v->warp];
  if (v->write) {
    const bool weak_before = x->writer == v->warp + 1 && x->write_time == now && !x->strong_write;
    x->writer = (uint8_t)(v->warp + 1);
    x->write_time = now;
    x->write_line = v->line;
    x->strong_write = v->strong && !weak_before;
    x->readers = 0;
    return;
  }
  bool news = false; /* of a reader that this one does not know */
  for (uint32_t left = x->readers & ~(1u << v->warp); left && !news; left &= left - 1)
    news = knows->of[__builtin_ctz(left)] < x->read_time;
  x->strong_reads = v->strong && (x->strong_reads || !x->readers || !news);
  x->read_time = news && x->read_time < now ? x->read_time : now;
  x->readers = (news ? x->readers : 0) | 1u << v->warp;
  x->read_line = v->line;
}

/* Smaller cells, each with its old one's history. */
static bool refine(emu_order *o, unsigned grain) {
  const unsigned parts = o->grain / grain;
  cell *cells = malloc(o->n_cells * parts * sizeof *cells);
  if (!cells) return false;
  for (size_t k = 0; k < o->n_cells * parts; k++) cells[k] = o->cells[k / parts];
  free(o->cells);
  o->cells = cells;
  o->n_cells *= parts;
  o->grain = grain;
  return true;
}

static bool fault(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset, unsigned bytes,
                  hd_access_kind kind, const conflict *why) {
  static const char *const words[] = {"load", "store", "atomic", "prefetch"};
  emu_fault(w, i, 1u << lane,
            EMU_RACE " inside a CTA: %s of %u bytes at shared offset 0x%" PRIx64
                     " meets what warp %u %s at line %u, with no barrier between them",
            words[kind], bytes, offset, why->warp, why->wrote ? "wrote" : "read", why->line);
  return false;
}

bool emu_order_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t offset[HD_WARP],
                      unsigned bytes, hd_access_kind kind) {
  emu_order *o = w->cta->order;
  const uint32_t now = o->knows[w->index].of[w->index];
  const visit v = {.o = o,
                   .warp = w->index,
                   .line = i->line,
                   .write = kind != HD_ACCESS_LOAD,
                   .strong = kind == HD_ACCESS_ATOMIC || i->mem.strong != EMU_WEAK};
  uint64_t bits = bytes, last = UINT64_MAX;
  for (uint32_t left = mask; left; left &= left - 1) bits |= offset[__builtin_ctz(left)];
  if (bits & (o->grain - 1) && !refine(o, bits & 1 ? 1 : 2)) {
    emu_fault(w, i, mask, "out of memory for the record of races");
    return false;
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (offset[l] == last) continue; /* as the lane before */
    last = offset[l];
    for (uint64_t at = last; at < last + bytes; at += o->grain) {
      cell *x = &o->cells[at / o->grain];
      /* Most accesses of a loop are like the one before. */
      const bool again = v.write
                             ? x->writer == w->index + 1 && x->write_time == now && !x->readers &&
                                   x->strong_write == v.strong
                             : x->readers == 1u << w->index && x->read_time == now &&
                                   x->strong_reads == v.strong && (!x->writer || x->writer == w->index + 1);
      if (again) {
        *(v.write ? &x->write_line : &x->read_line) = v.line;
        continue;
      }
      conflict why;
      const char *row = kind == HD_ACCESS_STORE ? w->storing : NULL;
      const bool same =
          row && memcmp(row + (size_t)l * bytes + (at - last), w->cta->shared + at, o->grain) == 0;
      if (find_conflict(&v, x, same, &why)) return fault(w, i, l, at, bytes, kind, &why);
      if (!(i->mem.sync & EMU_COLLECTIVE)) note(&v, x);
    }
  }
  if (v.strong) emu_order_flag(w, i, kind);
  return true;
}
