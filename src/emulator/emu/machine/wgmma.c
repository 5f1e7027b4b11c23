/* emu/machine/wgmma.c: warpgroup products in flight.
 *
 * A product is computed when it is issued, from what its operands hold at that moment, but kept beside
 * the registers until a wait_group covers it. Meanwhile D's registers hold a poison, NaN in every
 * format, so that code which reads them too early cannot come by the result; and when the wait comes,
 * registers of D that lost their poison, registers of A and bytes of shared memory that changed since
 * the product was issued are faults: on a GPU the product might have seen either value.
 *
 * Each warp of the warpgroup makes its own 16 rows, and nothing here makes one warp wait for another,
 * as nothing does on a GPU. */
#include "emu/machine/grid.h"
#include "emu/num/num.h"

#include <stdlib.h>

enum {
  ROWS = 16,
  MAX_READS = 1024,       /* products in flight whose operands a warp remembers */
  MAX_ACCUMULATORS = 256, /* in flight: a thread has no registers for more */
};
#define POISON UINT32_MAX

/* D of one product or several, one after the other. */
typedef struct accumulator {
  const emu_inst *inst; /* the last one that adds to it */
  const emu_wgmma_regs *d;
  emu_frame *frame; /* holds a reference */
  uint32_t group;
  uint32_t *value; /* [ROWS][d->n] */
} accumulator;

/* The operands of one product, while it reads them. */
typedef struct reading {
  const emu_inst *inst;
  emu_frame *frame; /* holds a reference */
  uint32_t group;
  uint32_t n_chunks; /* of 16 bytes, in shared memory */
  uint32_t *chunk;
  uint64_t hash; /* of their bytes */
  bool has_a;    /* A is in registers: their slots and contents */
  uint32_t a_slot[4], a[4][HD_WARP];
} reading;

struct emu_flight {
  bool fenced;          /* wgmma.fence was executed */
  uint64_t history;     /* hash of all products issued */
  const emu_inst *last; /* the latest one, and where it stands */
  const emu_code *code;
  uint32_t group; /* number of the group being filled: commits so far */
  HD_VEC(accumulator) accumulators;
  HD_VEC(reading) readings;
};

/* ---- Setting up ------------------------------------------------------------------------- */

static emu_flight *flight_of(emu_warp *w) {
  emu_mwarp *m = (emu_mwarp *)w;
  if (!m->flight) m->flight = calloc(1, sizeof *m->flight);
  return m->flight;
}

static void forget_accumulator(emu_mwarp *m, accumulator *a) {
  emu_frame_drop(m, a->frame);
  free(a->value);
}
static void forget_reading(emu_mwarp *m, reading *r) {
  emu_frame_drop(m, r->frame);
  free(r->chunk);
}

void emu_wgmma_reset(emu_mwarp *m) {
  emu_flight *f = m->flight;
  if (!f) return;
  for (size_t k = 0; k < f->accumulators.n; k++) forget_accumulator(m, &f->accumulators.data[k]);
  for (size_t k = 0; k < f->readings.n; k++) forget_reading(m, &f->readings.data[k]);
  f->accumulators.n = f->readings.n = 0;
  f->group = 0;
  f->fenced = false;
  f->history = 0;
  f->last = NULL;
}

void emu_wgmma_free(emu_mwarp *m) {
  if (!m->flight) return;
  emu_wgmma_reset(m);
  hd_vec_free(&m->flight->accumulators);
  hd_vec_free(&m->flight->readings);
  free(m->flight);
  m->flight = NULL;
}

/* ---- Fragments --------------------------------------------------------------------------- */

static uint32_t *slot_of(const emu_frame *f, uint32_t slot) {
  return (uint32_t *)(uintptr_t)(f->regs + (size_t)slot * EMU_SLOT_BYTES);
}

/* Element e of lane l of D: the registers run along two columns of a row, then to the row eight
 * further down, then eight columns to the right. */
static unsigned row_of(unsigned lane, unsigned e) { return lane / 4 + 8 * (e / 2 % 2); }
static unsigned column_of(unsigned lane, unsigned e) { return 8 * (e / 4) + 2 * (lane % 4) + e % 2; }

static void take_registers(accumulator *a) {
  const emu_wgmma_regs *d = a->d;
  for (unsigned k = 0; k < d->n_regs; k++) {
    uint32_t *reg = slot_of(a->frame, d->slot[k]);
    for (unsigned l = 0; l < HD_WARP; l++) {
      if (d->halves) {
        for (unsigned h = 0; h < 2; h++)
          a->value[row_of(l, 2 * k + h) * d->n + column_of(l, 2 * k + h)] =
              num_b32(num_f16_to_f32((uint16_t)(reg[l] >> 16 * h)));
      } else {
        a->value[row_of(l, k) * d->n + column_of(l, k)] = reg[l];
      }
      reg[l] = POISON;
    }
  }
}

static void give_registers(const accumulator *a) {
  const emu_wgmma_regs *d = a->d;
  for (unsigned k = 0; k < d->n_regs; k++) {
    uint32_t *reg = slot_of(a->frame, d->slot[k]);
    for (unsigned l = 0; l < HD_WARP; l++) {
      if (!d->halves) {
        reg[l] = a->value[row_of(l, k) * d->n + column_of(l, k)];
        continue;
      }
      reg[l] = 0;
      for (unsigned h = 0; h < 2; h++) {
        const uint32_t v = a->value[row_of(l, 2 * k + h) * d->n + column_of(l, 2 * k + h)];
        reg[l] |= (uint32_t)num_f32_to_f16(num_f32(v)) << 16 * h;
      }
    }
  }
}

/* ---- Issue -------------------------------------------------------------------------------- */

/* Do two sets of registers share one? */
static bool overlap(const emu_wgmma_regs *a, const emu_wgmma_regs *b) {
  if (a->least > b->greatest || b->least > a->greatest) return false;
  for (unsigned k = 0; k < a->n_regs; k++)
    for (unsigned j = 0; j < b->n_regs; j++)
      if (a->slot[k] == b->slot[j]) return true;
  return false;
}
static bool same(const emu_wgmma_regs *a, const emu_wgmma_regs *b) {
  return a == b || (a->n == b->n && a->halves == b->halves &&
                    memcmp(a->slot, b->slot, a->n_regs * sizeof a->slot[0]) == 0);
}

/* Warps of a warpgroup must issue the same products: those that they issued are compared when the CTA is
 * over. */
static void count_product(emu_flight *f, const emu_code *code, const emu_inst *i,
                          const uint64_t descriptor[2]) {
  const uint64_t words[3] = {i->stmt, descriptor[0], descriptor[1]};
  for (unsigned k = 0; k < 3; k++) f->history = (f->history ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  f->last = i;
  f->code = code;
}

/* A digest of the products that a warp issued; 0: none. */
static uint64_t issued(const emu_flight *f) { return f && f->last ? f->history : 0; }

void emu_wgmma_cta_over(emu_mwarp *m) {
  emu_cta *c = m->w.cta;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    const emu_flight *f = c->warps[k].flight, *first = c->warps[k / 4 * 4].flight;
    if (issued(f) == issued(first)) continue;
    const emu_flight *one = issued(f) ? f : first;
    emu_fault_at(m, one->code, one->last, 1, HD_FAULT_OTHER,
                 "warps %u and %u, of one warpgroup, did not issue the same products", k / 4 * 4, k);
    return;
  }
}

uint32_t *emu_wgmma_begin(emu_warp *w, const emu_inst *i, const emu_wgmma_regs *d,
                          const uint64_t descriptor[2]) {
  emu_flight *f = flight_of(w);
  emu_frame *frame = w->current->frame;
  if (f && !f->fenced) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER, "no wgmma.fence orders the registers before the first product");
    return NULL;
  }
  if (f) count_product(f, frame->code, i, descriptor);
  for (size_t k = 0; f && k < f->accumulators.n; k++) {
    accumulator *a = &f->accumulators.data[k];
    if (a->frame != frame) continue;
    if (same(a->d, d)) {
      a->inst = i;
      a->group = f->group;
      return a->value;
    }
    if (overlap(a->d, d)) {
      emu_fault(w, i, w->live, HD_FAULT_OTHER,
                "some of its registers belong to another product, of line %u, that is in flight",
                a->inst->line);
      return NULL;
    }
  }
  if (f && f->accumulators.n == MAX_ACCUMULATORS) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER, "more than %d accumulators are in flight", MAX_ACCUMULATORS);
    return NULL;
  }
  accumulator fresh = {.inst = i, .d = d, .frame = frame};
  if (f) fresh.group = f->group;
  fresh.value = malloc((size_t)ROWS * d->n * sizeof *fresh.value);
  if (!f || !fresh.value || !hd_vec_push(&f->accumulators, fresh)) {
    free(fresh.value);
    emu_nomem(w, i, w->live, "a product in flight");
    return NULL;
  }
  frame->refs++;
  take_registers(&fresh);
  return fresh.value;
}

/* Any change of one word of it changes the sum. */
static uint64_t hash_of(const emu_cta *c, const uint32_t *chunk, uint32_t n) {
  uint64_t h = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint64_t v[2];
    memcpy(v, c->shared + chunk[k], sizeof v);
    h = (h ^ v[0]) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ v[1] ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  }
  return h;
}

/* Whether the product's operands are unchanged. */
static bool check_reading(emu_mwarp *m, const emu_inst *i, const reading *r) {
  emu_warp *w = &m->w;
  if (hash_of(w->cta, r->chunk, r->n_chunks) != r->hash) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER,
              "shared memory that the product of line %u reads changed before this wait for it",
              r->inst->line);
    return false;
  }
  for (unsigned k = 0; r->has_a && k < 4; k++)
    if (memcmp(slot_of(r->frame, r->a_slot[k]), r->a[k], sizeof r->a[k]) != 0) {
      emu_fault(w, i, w->live, HD_FAULT_OTHER,
                "registers of A of the product of line %u changed before this wait for it", r->inst->line);
      return false;
    }
  return true;
}

bool emu_wgmma_reads(emu_warp *w, const emu_inst *i, const uint32_t *chunk, uint32_t n,
                     const uint32_t *a_slot) {
  emu_mwarp *m = (emu_mwarp *)w;
  emu_flight *f = m->flight;
  if (f->readings.n == MAX_READS) { /* as if its wait were here */
    if (!check_reading(m, i, &f->readings.data[0])) return false;
    forget_reading(m, &f->readings.data[0]);
    memmove(f->readings.data, f->readings.data + 1, --f->readings.n * sizeof f->readings.data[0]);
  }
  reading r = {.inst = i, .frame = w->current->frame, .group = f->group, .n_chunks = n};
  r.chunk = malloc(n * sizeof *r.chunk);
  if (r.chunk) {
    memcpy(r.chunk, chunk, n * sizeof *r.chunk);
    r.hash = hash_of(w->cta, chunk, n);
    r.has_a = a_slot != NULL;
    for (unsigned k = 0; a_slot && k < 4; k++) {
      r.a_slot[k] = a_slot[k];
      memcpy(r.a[k], slot_of(r.frame, a_slot[k]), sizeof r.a[k]);
    }
  }
  if (!r.chunk || !hd_vec_push(&f->readings, r)) {
    free(r.chunk);
    emu_nomem(w, i, w->live, "a product in flight");
    return false;
  }
  r.frame->refs++;
  return true;
}

/* ---- Order and completion -------------------------------------------------------------------- */

void emu_wgmma_fence(emu_warp *w, const emu_inst *i) {
  emu_flight *f = flight_of(w);
  if (f)
    f->fenced = true;
  else
    emu_nomem(w, i, w->live, "products in flight");
}

void emu_wgmma_commit(emu_warp *w) {
  emu_mwarp *m = (emu_mwarp *)w;
  if (m->flight) m->flight->group++;
}

/* Do D's registers still hold the poison? */
static bool check_accumulator(emu_mwarp *m, const emu_inst *i, const accumulator *a) {
  uint32_t lost = 0;
  for (unsigned k = 0; k < a->d->n_regs; k++) {
    const uint32_t *reg = slot_of(a->frame, a->d->slot[k]);
    for (unsigned l = 0; l < HD_WARP; l++) lost |= reg[l] ^ POISON;
  }
  if (lost)
    emu_fault(&m->w, i, m->w.live, HD_FAULT_OTHER,
              "registers of the product of line %u were written before this wait for it", a->inst->line);
  return !lost;
}

void emu_wgmma_wait(emu_warp *w, const emu_inst *i, uint32_t n) {
  emu_mwarp *m = (emu_mwarp *)w;
  emu_flight *f = m->flight;
  if (!f || n >= f->group) return;
  const uint32_t end = f->group - n; /* groups before this one are complete */
  for (size_t k = 0; k < f->readings.n; k++)
    if (f->readings.data[k].group < end && !check_reading(m, i, &f->readings.data[k])) return;
  for (size_t k = 0; k < f->accumulators.n; k++)
    if (f->accumulators.data[k].group < end && !check_accumulator(m, i, &f->accumulators.data[k])) return;

  size_t kept = 0;
  for (size_t k = 0; k < f->readings.n; k++) {
    if (f->readings.data[k].group < end)
      forget_reading(m, &f->readings.data[k]);
    else
      f->readings.data[kept++] = f->readings.data[k];
  }
  f->readings.n = kept;
  kept = 0;
  for (size_t k = 0; k < f->accumulators.n; k++) {
    accumulator *a = &f->accumulators.data[k];
    if (a->group < end) {
      give_registers(a);
      forget_accumulator(m, a);
    } else {
      f->accumulators.data[kept++] = *a;
    }
  }
  f->accumulators.n = kept;
}
