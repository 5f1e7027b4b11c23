/* emu/machine/order.c: races between the threads of a CTA on its shared memory.
 *
 * A granule of memory remembers its last writer and the warps that have read it since, with a lane and their
 * lines. Two accesses of different threads race when one is a write, not both are strong, and the later
 * thread does not know of the earlier access (know.c). Of several readers the least time is kept: no race is
 * invented, a few are missed. A store of the bytes that are there does not race with the store that left them
 * (flags that several threads set).
 *
 * The lanes of one instruction are not compared with each other, nor is a lane with several that wrote a
 * granule together.
 *
 * A copy into shared memory is written by its mbarrier, so that only who has waited for the phase knows of
 * it. One out of it reads through another proxy: what threads wrote must have a fence.proxy.async behind it,
 * by the writer or on the way from there to the copy. So must what a warpgroup's product reads.
 *
 * A warpgroup's product must find its operands written, but its reads are not noted: four warps read, and one
 * of them speaks for all when it has waited. wgmma.c finds writes that come too early. */
#include "emu/machine/order.h"

#include "emu/machine/flags.h"
#include "emu/machine/know.h"

#include <inttypes.h>
#include <stdlib.h>

struct emu_cell {
  uint32_t write_time, write_line;
  uint32_t read_time, read_line; /* the least of the readers' times; the last one's line */
  uint32_t readers;              /* one bit a warp */
  uint8_t writer;                /* 1 + its number; 0: none */
  uint8_t write_lane, read_lane; /* of the last access; EMU_SEVERAL_LANES */
  bool strong_write : 1, strong_reads : 1;
};

/* ---- A CTA's life ---------------------------------------------------------------------------- */

bool emu_order_create(hd_emu_cta *c) {
  if (!(c->emu->opt.checks & HD_CHECK_RACE) ||
      (!c->shared_bytes && !c->grid->traits.depends && !emu_flags_used(c->grid)))
    return true;
  emu_order *o = c->order = emu_know_new(c->n_warps);
  if (!o || !c->shared_bytes) return o != NULL;
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
  emu_know_reset(o);
  if (o->cells) memset(o->cells, 0, o->n_cells * sizeof *o->cells);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

typedef enum how { BY_WRITE, BY_READ, BY_COPY, NO_FENCE } how;
typedef struct conflict {
  uint32_t warp, lane, line;
  how how;
} conflict;

typedef struct visit {
  const emu_order *o;
  const emu_knower *me;
  uint32_t warp, line;
  unsigned lane; /* that acts */
  bool write, strong;
  bool async;       /* through the proxy of asynchronous copies */
  uint32_t as, now; /* the writer's number and time: the warp's, or the mbarrier's */
} visit;

static bool knows_write(const visit *v, const emu_times *knows, const emu_cell *x) {
  const uint32_t by = x->writer - 1u;
  if (by == v->warp) return emu_lane_knows(v->me, v->lane, x->write_lane, x->write_time);
  return emu_knows(v->o, knows, by, x->write_lane, x->write_time);
}

/* Of a read by the acting lane's own warp alone. Which lanes read together is not kept: any that it has met
 * since may have been those. */
static bool knows_read(const visit *v, const emu_cell *x) {
  const emu_knower *me = v->me;
  if (x->read_lane != EMU_SEVERAL_LANES) return emu_lane_knows(me, v->lane, x->read_lane, x->read_time);
  return x->read_time <= me->synced || (me->apart && me->met[v->lane] && x->read_time <= me->met_at[v->lane]);
}

static bool find_conflict(const visit *v, const emu_cell *x, bool same, conflict *why) {
  const emu_times *knows = emu_known_to(v->me, v->lane);
  const uint32_t by = x->writer - 1u;
  const bool tolerated = (v->strong && x->strong_write) || (v->write && same);
  *why = (conflict){by, x->write_lane, x->write_line, BY_WRITE};
  if (x->writer && !tolerated && !knows_write(v, knows, x)) {
    why->how = by < EMU_MAX_WARPS ? BY_WRITE : BY_COPY;
    return true;
  }
  if (v->async && !v->write && x->writer && by < EMU_MAX_WARPS && x->write_time > knows->async[by]) {
    why->how = NO_FENCE;
    return true;
  }
  if (!v->write || (v->strong && x->strong_reads)) return false;
  *why = (conflict){v->warp, x->read_lane, x->read_line, BY_READ};
  if (x->readers == 1u << v->warp) return !knows_read(v, x);
  for (uint32_t left = x->readers & ~(1u << v->warp); left; left &= left - 1) {
    why->warp = (uint32_t)__builtin_ctz(left);
    if (!emu_knows(v->o, knows, why->warp, EMU_SEVERAL_LANES, x->read_time)) return true;
  }
  return false;
}

static void note(const visit *v, emu_cell *x) {
  const emu_times *knows = &v->me->knows;
  if (v->write) {
    const bool weak_before = x->writer == v->as + 1 && x->write_time == v->now && !x->strong_write;
    x->writer = (uint8_t)(v->as + 1);
    x->write_time = v->now;
    x->write_line = v->line;
    x->write_lane = (uint8_t)v->lane;
    x->strong_write = v->strong && !weak_before;
    x->readers = 0;
    return;
  }
  const bool others = x->readers == 1u << v->warp && x->read_lane != v->lane && !knows_read(v, x);
  bool news = false; /* of a reader that this one does not know */
  for (uint32_t left = x->readers & ~(1u << v->warp); left && !news; left &= left - 1)
    news = knows->of[__builtin_ctz(left)] < x->read_time;
  x->strong_reads = v->strong && (x->strong_reads || !x->readers || !news);
  x->read_time = news && x->read_time < v->now ? x->read_time : v->now;
  x->readers = (news ? x->readers : 0) | 1u << v->warp;
  x->read_line = v->line;
  x->read_lane = (uint8_t)(others ? EMU_SEVERAL_LANES : v->lane);
}

/* Smaller cells, each with its old one's history. */
static bool refine(emu_order *o, unsigned grain) {
  const unsigned parts = o->grain / grain;
  emu_cell *cells = malloc(o->n_cells * parts * sizeof *cells);
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
  char what[128];
  if (why->how == BY_COPY)
    snprintf(what, sizeof what, "meets what the copy at line %u writes, and its mbarrier was not waited for",
             why->line);
  else if (why->how == NO_FENCE)
    snprintf(what, sizeof what,
             "of a copy meets what warp %u wrote at line %u, with no fence.proxy.async between them",
             why->warp, why->line);
  else if (why->warp == w->index && why->lane == EMU_SEVERAL_LANES)
    snprintf(what, sizeof what,
             "meets what several lanes of the same warp read at line %u, with no barrier between them",
             why->line);
  else if (why->warp == w->index)
    snprintf(what, sizeof what,
             "meets what lane %u of the same warp %s at line %u, with no barrier between them", why->lane,
             why->how == BY_WRITE ? "wrote" : "read", why->line);
  else
    snprintf(what, sizeof what, "meets what warp %u %s at line %u, with no barrier between them", why->warp,
             why->how == BY_WRITE ? "wrote" : "read", why->line);
  emu_fault(w, i, 1u << lane % HD_WARP, HD_FAULT_RACE,
            "race inside a CTA: %s of %u bytes at shared offset 0x%" PRIx64 " %s", words[kind], bytes, offset,
            what);
  return false;
}

static inline bool is_by(const visit *v, const emu_cell *x) {
  return x->writer == v->as + 1 && x->write_time == v->now;
}

/* Most accesses of a loop are like the one before, or are ordered by the warp's barrier. */
static inline bool again(const visit *v, emu_cell *x) {
  if (v->write) return is_by(v, x) && !x->readers && x->strong_write == v->strong && x->write_lane == v->lane;
  /* It knew of the write when it read before. */
  if (x->readers != 1u << v->warp || x->read_time != v->now || x->strong_reads != v->strong || v->async ||
      v->me->informed != UINT32_MAX ||
      (x->writer == v->warp + 1 && x->write_lane != v->lane && x->write_time > v->me->synced))
    return false;
  if (x->read_lane != v->lane) x->read_lane = EMU_SEVERAL_LANES;
  return true;
}

/* How warp w's accesses by instruction i look. False: out of memory. */
static bool visit_of(emu_warp *w, const emu_inst *i, hd_access_kind kind, visit *v) {
  emu_mwarp *m = (emu_mwarp *)w;
  emu_order *o = w->cta->order;
  const emu_knower *me = &o->warps[w->index];
  const bool write = kind != HD_ACCESS_LOAD;
  const bool lands = write && m->landing;
  if (lands && !m->copied && !emu_know_copy(o, m->landing - 1, &m->copier, &m->copied)) return false;
  const uint32_t as = lands ? m->copier : w->index, now = lands ? m->copied : me->knows.of[as];
  *v = (visit){.o = o,
               .me = me,
               .warp = w->index,
               .line = i->line,
               .write = write,
               .strong = kind == HD_ACCESS_ATOMIC || i->mem.strong != EMU_WEAK,
               .async = m->copies_async || i->mem.sync & EMU_COLLECTIVE,
               .as = as,
               .now = now};
  return true;
}

/* Whether a lane of the mask in front of `lane` accesses a byte of the cell at `at`. */
static bool wrote(uint32_t mask, unsigned lane, const uint64_t offset[HD_WARP], unsigned bytes, uint64_t at,
                  unsigned grain) {
  bool any = false;
  for (uint32_t left = mask & ((1u << lane) - 1); left && !any; left &= left - 1) {
    const uint64_t lo = offset[__builtin_ctz(left)];
    any = lo < at + grain && at < lo + bytes;
  }
  return any;
}

/* The lane whose register holds these bytes of the row that lane l gives (ldmatrix, stmatrix of 16 bits); of
 * two elements in a transposed row's word, part 0 or 1. Other shapes spread rows in like ways. */
static unsigned holder(const emu_inst *i, unsigned l, uint64_t byte, unsigned part) {
  const unsigned row = l % 8, word = (unsigned)byte / 4;
  return i->mem.transposed ? 4 * (2 * word + part) + row / 2 : 4 * row + word;
}

bool emu_order_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t offset[HD_WARP],
                      unsigned bytes, hd_access_kind kind) {
  emu_order *o = w->cta->order;
  const unsigned issuer = ((const emu_mwarp *)w)->issuer;
  visit v;
  if (!o->cells) return true;
  uint64_t bits = bytes, last = UINT64_MAX;
  if (mask == UINT32_MAX)
    for (int l = 0; l < HD_WARP; l++) bits |= offset[l];
  else
    for (uint32_t left = mask; left; left &= left - 1) bits |= offset[__builtin_ctz(left)];
  if (!visit_of(w, i, kind, &v) || (bits & (o->grain - 1) && !refine(o, bits & 1 ? 1 : 2))) {
    emu_nomem(w, i, mask, "the record of races");
    return false;
  }
  const bool spread = i->mem.sync & EMU_SPREAD;
  const unsigned grain = o->grain, shift = (unsigned)__builtin_ctz(grain);
  uint64_t top = 0; /* behind all bytes that the lanes before write */
  emu_cell *const cells = o->cells;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (offset[l] == last) continue; /* as the lane before */
    last = offset[l];
    const uint32_t rest = left & (left - 1);
    const bool alone = issuer || !rest || offset[__builtin_ctz(rest)] != last;
    unsigned lane = issuer ? issuer - 1 : l, next = alone ? lane : (unsigned)__builtin_ctz(rest);
    for (uint64_t at = last; at < last + bytes; at += grain) {
      emu_cell *x = &cells[at >> shift];
      if (spread) lane = holder(i, l, at - last, 0), next = holder(i, l, at - last, 1);
      if (at < top && is_by(&v, x) && wrote(mask, l, offset, bytes, at, grain)) {
        x->write_lane = EMU_SEVERAL_LANES; /* as a lane before */
        continue;
      }
      /* one that did not write it itself, or read it */
      const bool read = v.write && x->readers && x->read_lane == lane && x->write_lane != next;
      v.lane = x->write_lane == lane || read ? next : lane;
      if (again(&v, x)) {
        *(v.write ? &x->write_line : &x->read_line) = v.line;
        if (!alone) *(v.write ? &x->write_lane : &x->read_lane) = EMU_SEVERAL_LANES;
        continue;
      }
      conflict why;
      const char *row = kind == HD_ACCESS_STORE ? w->storing : NULL;
      const bool same = row && memcmp(row + (size_t)l * bytes + (at - last), w->cta->shared + at, grain) == 0;
      if (find_conflict(&v, x, same, &why)) return fault(w, i, l, at, bytes, kind, &why);
      if (!(i->mem.sync & EMU_COLLECTIVE)) note(&v, x);
      if (!alone) *(v.write ? &x->write_lane : &x->read_lane) = EMU_SEVERAL_LANES;
    }
    if (v.write && last + bytes > top) top = last + bytes;
  }
  if (v.strong) emu_order_flag(w, i, kind, emu_acting(w, mask));
  return true;
}
