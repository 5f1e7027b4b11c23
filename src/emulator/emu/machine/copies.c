/* emu/machine/copies.c: cp.async, copies of single threads in flight.
 *
 * A copy reads its source when it is issued, but its bytes come to shared memory only when their
 * thread waits for them. Until then the destination holds a poison, NaN in every format, and counts as
 * never written, so that code which reads it too early gets nothing of use, and a fault under CHECK_INIT. */
#include "emu/machine/grid.h"
#include "emu/machine/know.h"
#include "emu/machine/order.h"

#include <stdlib.h>

enum {
  MAX_BYTES = 16,    /* of a thread's copy */
  MAX_COPIES = 1024, /* in flight, of a warp; beyond, the oldest one lands early */
  POISON = 0xff,
};

/* One cp.async of the lanes in the mask, all of which had committed equally many groups. */
typedef struct copy {
  const emu_inst *inst;
  uint32_t mask, group, bytes;
  uint32_t at[HD_WARP]; /* shared offsets */
  uint32_t low, high;   /* all of them lie from low on, and end at high or before */
  char data[HD_WARP][MAX_BYTES];
} copy;

struct emu_copies {
  uint32_t commits[HD_WARP]; /* groups that each lane committed */
  /* The last copies that mbarriers track, by the mbarriers' numbers as writers; 0: none. */
  uint32_t handed[EMU_COPIERS];
  HD_VEC(copy) copies; /* in the order of issue */
};

void emu_copies_reset(emu_mwarp *m) {
  if (!m->copies) return;
  memset(m->copies->commits, 0, sizeof m->copies->commits);
  memset(m->copies->handed, 0, sizeof m->copies->handed);
  m->copies->copies.n = 0;
}

void emu_copies_free(emu_mwarp *m) {
  if (!m->copies) return;
  hd_vec_free(&m->copies->copies);
  free(m->copies);
  m->copies = NULL;
}

/* ---- Issue --------------------------------------------------------------------------------- */

static void land(emu_cta *c, copy *p, uint32_t lanes) {
  uint64_t fresh = 0;
  emu_quiet_changed(c);
  for (uint32_t left = p->mask & lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    memcpy(c->shared + p->at[l], p->data[l], p->bytes);
    if (c->watch & EMU_WATCH_INIT) fresh += emu_init_set(c->shared_init + p->at[l], p->bytes);
  }
  c->shared_unwritten -= fresh;
  p->mask &= ~lanes;
  c->async.copies -= !p->mask;
}

static void poison(emu_cta *c, const copy *p) {
  emu_quiet_changed(c);
  for (uint32_t left = p->mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    memset(c->shared + p->at[l], POISON, p->bytes);
    if (!(c->watch & EMU_WATCH_INIT)) continue;
    uint8_t *written = c->shared_init + p->at[l];
    for (uint32_t k = 0; k < p->bytes; k++) c->shared_unwritten += written[k];
    memset(written, 0, p->bytes);
  }
}

static emu_copies *copies_of(emu_warp *w) {
  emu_mwarp *m = (emu_mwarp *)w;
  if (!m->copies) m->copies = calloc(1, sizeof *m->copies);
  return m->copies;
}

bool emu_copy_begin(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t at[HD_WARP], unsigned bytes,
                    const char *rows) {
  emu_cta *c = w->cta;
  emu_copies *f = copies_of(w);
  while (f && mask) {
    copy p = {.inst = i, .group = f->commits[__builtin_ctz(mask)], .bytes = bytes, .low = UINT32_MAX};
    for (uint32_t left = mask; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      if (f->commits[l] != p.group) continue;
      p.mask |= 1u << l;
      p.at[l] = (uint32_t)(at[l] - (uint64_t)(uintptr_t)c->shared);
      if (p.at[l] < p.low) p.low = p.at[l];
      if (p.at[l] + bytes > p.high) p.high = p.at[l] + bytes;
      memcpy(p.data[l], rows + (size_t)l * bytes, bytes);
    }
    mask &= ~p.mask;
    if (f->copies.n == MAX_COPIES) {
      land(c, &f->copies.data[0], UINT32_MAX);
      memmove(f->copies.data, f->copies.data + 1, --f->copies.n * sizeof f->copies.data[0]);
    }
    poison(c, &p);
    c->async.copies++;
    if (!hd_vec_push(&f->copies, p)) f = NULL;
  }
  if (!f) emu_nomem(w, i, w->live, "a copy in flight");
  return f != NULL;
}

/* ---- Completion ------------------------------------------------------------------------------ */

bool emu_copy_commit(emu_warp *w, const emu_inst *i, uint32_t mask) {
  emu_copies *f = copies_of(w);
  if (!f) {
    emu_nomem(w, i, mask, "copies in flight");
    return false;
  }
  for (uint32_t left = mask; left; left &= left - 1) f->commits[__builtin_ctz(left)]++;
  return true;
}

/* Land the copies of these lanes whose groups come before the lane's end. */
static void land_before(emu_warp *w, uint32_t mask, const uint64_t end[HD_WARP]) {
  emu_copies *f = ((emu_mwarp *)w)->copies;
  size_t kept = 0;
  for (size_t k = 0; k < f->copies.n; k++) {
    copy *p = &f->copies.data[k];
    uint32_t lanes = 0;
    for (uint32_t left = p->mask & mask; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      lanes |= (uint32_t)(p->group < end[l]) << l;
    }
    land(w->cta, p, lanes);
    if (!p->mask) continue;
    if (kept != k) f->copies.data[kept] = *p;
    kept++;
  }
  f->copies.n = kept;
}

/* What mbarriers track is complete, too. Which lane had handed it over is not kept. */
static void take_back(emu_warp *w, uint32_t mask) {
  emu_copies *f = ((emu_mwarp *)w)->copies;
  if (!f || !w->cta->order) return;
  emu_know_copied(w, mask, f->handed);
}

void emu_copy_wait(emu_warp *w, uint32_t mask, uint32_t n) {
  const emu_copies *f = ((emu_mwarp *)w)->copies;
  uint64_t end[HD_WARP];
  take_back(w, mask);
  if (!f || !f->copies.n) return;
  for (unsigned l = 0; l < HD_WARP; l++) end[l] = f->commits[l] > n ? f->commits[l] - n : 0;
  land_before(w, mask, end);
}

static void land_all(emu_warp *w, uint32_t mask) {
  const emu_copies *f = ((emu_mwarp *)w)->copies;
  uint64_t end[HD_WARP];
  if (!f || !f->copies.n) return;
  for (unsigned l = 0; l < HD_WARP; l++) end[l] = UINT64_MAX;
  land_before(w, mask, end);
}

void emu_copy_wait_all(emu_warp *w, uint32_t mask) {
  take_back(w, mask);
  land_all(w, mask);
}

/* The lanes' copies are known from now on to those who wait for the mbarrier at `bar`. */
static bool hand(emu_mwarp *m, uint32_t lanes, uint64_t bar) {
  emu_copies *f = m->copies;
  bool ok = true;
  m->landing = bar + 1;
  m->copied = 0;
  for (size_t k = 0; ok && k < f->copies.n; k++) {
    const copy *p = &f->copies.data[k];
    uint64_t offset[HD_WARP];
    if (!(p->mask & lanes)) continue;
    for (unsigned l = 0; l < HD_WARP; l++) offset[l] = p->at[l];
    ok = emu_order_access(&m->w, p->inst, p->mask & lanes, offset, p->bytes, HD_ACCESS_STORE);
  }
  m->landing = 0;
  if (m->copied) f->handed[m->copier - EMU_MAX_WARPS] = m->copied;
  return ok;
}

bool emu_copy_hand_over(emu_warp *w, uint32_t mask, const uint64_t bar[HD_WARP]) {
  emu_mwarp *m = (emu_mwarp *)w;
  bool ok = true;
  if (!m->copies || !m->copies->copies.n) return true;
  for (uint32_t left = w->cta->order ? mask : 0, same; ok && left; left &= ~same) {
    same = emu_lanes_as_first(left, bar);
    ok = hand(m, same, bar[__builtin_ctz(left)]);
  }
  land_all(w, mask);
  return ok;
}

/* ---- Diagnostics ------------------------------------------------------------------------------- */

uint32_t emu_copy_writer(const emu_cta *c, uint64_t offset, unsigned bytes) {
  for (uint32_t k = 0; k < c->n_warps; k++) {
    const emu_copies *f = c->warps[k].copies;
    for (size_t j = 0; f && j < f->copies.n; j++) {
      const copy *p = &f->copies.data[j];
      if (offset >= p->high || offset + bytes <= p->low) continue;
      for (uint32_t left = p->mask; left; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        if (p->at[l] < offset + bytes && offset < p->at[l] + p->bytes) return p->inst->line;
      }
    }
  }
  return 0;
}
