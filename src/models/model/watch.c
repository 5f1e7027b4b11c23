#include "model/watch.h"

#include <stdlib.h>
#include <string.h>

void hd_timeline_free(hd_timeline *t) {
  free(t->ctas);
  free(t->accesses);
  *t = (hd_timeline){.most = t->most};
}

bool model_watch_begin(model_watch *w, hd_timeline *out, uint32_t n_sms, uint32_t slots) {
  *w = (model_watch){.out = out, .n_sms = n_sms, .slots = slots};
  hd_timeline_free(out);
  *out = (hd_timeline){.most = out->most ? out->most : HD_TIMELINE_CTAS,
                       .n_sms = n_sms,
                       .sm_step = 1,
                       .slots = slots,
                       .bin_cycles = HD_TIMELINE_EPOCH};
  const size_t places = (size_t)n_sms * slots;
  w->open = malloc(places * sizeof *w->open);
  w->loads = calloc((size_t)n_sms * SM_MAX_WARPS * PACE_LOADS, sizeof *w->loads);
  w->totals = calloc(n_sms, sizeof *w->totals);
  if (!w->open || !w->loads || !w->totals) {
    model_watch_end(w, false);
    return false;
  }
  for (size_t i = 0; i < places; i++) w->open[i] = UINT32_MAX;
  return true;
}

/* ---- CTAs ----------------------------------------------------------------------------------- */

static uint32_t *place_of(const model_watch *w, uint32_t sm, uint32_t slot) {
  return &w->open[(size_t)sm * w->slots + slot];
}

/* Every other SM goes. */
static void leave_out(model_watch *w) {
  size_t left = 0;
  w->out->sm_step *= 2;
  for (size_t i = 0; i < w->ctas.n; i++) {
    const hd_timeline_cta c = w->ctas.data[i];
    uint32_t *open = place_of(w, c.sm, c.slot);
    const bool stays = c.sm % w->out->sm_step == 0;
    if (*open == i) *open = stays ? (uint32_t)left : UINT32_MAX;
    if (stays) w->ctas.data[left++] = c;
  }
  w->ctas.n = left;
}

void model_watch_start(model_watch *w, uint32_t sm, uint32_t slot, uint64_t task, uint64_t cycle) {
  hd_timeline *out = w->out;
  out->ran++;
  while (w->ctas.n >= out->most && out->sm_step < out->n_sms) leave_out(w);
  if (sm % out->sm_step != 0 || out->kept_until) return;
  if (w->ctas.n >= out->most) {
    out->kept_until = cycle;
    return;
  }
  const hd_timeline_cta fresh = {.task = task, .start = cycle, .end = cycle, .sm = sm, .slot = slot};
  if (!hd_vec_push(&w->ctas, fresh)) {
    w->failed = true;
    return;
  }
  *place_of(w, sm, slot) = (uint32_t)(w->ctas.n - 1);
}

void model_watch_stop(model_watch *w, uint32_t sm, uint32_t slot, uint64_t cycle) {
  uint32_t *open = place_of(w, sm, slot);
  if (cycle > w->out->cycles) w->out->cycles = cycle;
  if (*open != UINT32_MAX) w->ctas.data[*open].end = cycle;
  *open = UINT32_MAX;
}

/* ---- Bins ----------------------------------------------------------------------------------- */

static void add_bin(hd_timeline_bin *sum, const hd_timeline_bin *more) {
  sum->l1_sectors += more->l1_sectors;
  sum->l1_hits += more->l1_hits;
  sum->l2_sectors += more->l2_sectors;
  sum->l2_hits += more->l2_hits;
  sum->dram_bytes += more->dram_bytes;
}

static void double_bins(hd_timeline *t) {
  for (uint32_t i = 0; i < HD_TIMELINE_BINS / 2; i++) {
    t->bins[i] = t->bins[2 * i];
    add_bin(&t->bins[i], &t->bins[2 * i + 1]);
  }
  memset(t->bins + HD_TIMELINE_BINS / 2, 0, sizeof t->bins / 2);
  t->bin_cycles *= 2;
}

static hd_timeline_bin sums_of(const model_sm *sms, uint32_t n, const model_memory *mem) {
  hd_timeline_bin sum = {.l2_sectors = mem->sectors,
                         .l2_hits = mem->hits,
                         .dram_bytes = (mem->dram_reads + mem->dram_writes) * MODEL_SECTOR};
  for (uint32_t i = 0; i < n; i++) {
    sum.l1_sectors += sms[i].l1_sectors / sms[i].l1_unit;
    sum.l1_hits += sms[i].l1_hits / sms[i].l1_unit;
  }
  return sum;
}

void model_watch_epoch(model_watch *w, const model_sm *sms, const model_memory *mem, uint64_t now) {
  hd_timeline *t = w->out;
  const hd_timeline_bin sums = sums_of(sms, w->n_sms, mem);
  const hd_timeline_bin more = {.l1_sectors = sums.l1_sectors - w->sums.l1_sectors,
                                .l1_hits = sums.l1_hits - w->sums.l1_hits,
                                .l2_sectors = sums.l2_sectors - w->sums.l2_sectors,
                                .l2_hits = sums.l2_hits - w->sums.l2_hits,
                                .dram_bytes = sums.dram_bytes - w->sums.dram_bytes};
  w->sums = sums;
  while ((now - 1) / t->bin_cycles >= HD_TIMELINE_BINS) double_bins(t);
  const uint32_t bin = (uint32_t)((now - 1) / t->bin_cycles);
  add_bin(&t->bins[bin], &more);
  t->n_bins = bin + 1;
}

/* ---- Instructions ------------------------------------------------------------------------------ */

uint32_t model_watch_next(const model_sm *s, uint32_t warp) {
  const model_sm_warp *w = &s->warps[warp];
  return w->reader.slots[w->next.slot].inst;
}

static hd_timeline_access *access_of(model_watch *w, uint32_t inst) {
  if (inst & HD_TRACE_CALLED) return &w->called;
  while (w->accesses.n <= inst) {
    const hd_timeline_access fresh = {.inst = (uint32_t)w->accesses.n};
    if (!hd_vec_push(&w->accesses, fresh)) {
      w->failed = true;
      return &w->called;
    }
  }
  return &w->accesses.data[inst];
}

static uint32_t *load_of(const model_watch *w, const model_sm *s, uint32_t warp, uint32_t load) {
  return &w->loads[((size_t)s->number * SM_MAX_WARPS + warp) * PACE_LOADS + load % PACE_LOADS];
}

void model_watch_load(model_watch *w, const model_sm *s, uint32_t warp, uint32_t load, uint32_t inst) {
  *load_of(w, s, warp, load) = inst;
}

void model_watch_wait(model_watch *w, const model_sm *s, uint32_t warp, uint32_t load, uint64_t cycles) {
  access_of(w, *load_of(w, s, warp, load))->waited += cycles;
}

/* What the SM's L1 and L2 have counted since the access before. */
void model_watch_access(model_watch *w, const model_sm *s, uint32_t inst, uint64_t throttled, bool again) {
  hd_timeline_access *a = access_of(w, inst), *l1 = &w->totals[s->number], *l2 = &w->l2;
  a->accesses += !again;
  a->throttled += throttled;
  a->l1_sectors += (s->l1_sectors - l1->l1_sectors) / s->l1_unit;
  a->l1_hits += (s->l1_hits - l1->l1_hits) / s->l1_unit;
  a->l2_sectors += s->mem->sectors - l2->l2_sectors;
  a->l2_hits += s->mem->hits - l2->l2_hits;
  l1->l1_sectors = s->l1_sectors;
  l1->l1_hits = s->l1_hits;
  l2->l2_sectors = s->mem->sectors;
  l2->l2_hits = s->mem->hits;
}

/* ---- The end --------------------------------------------------------------------------------- */

static bool keep_accesses(model_watch *w) {
  hd_timeline *out = w->out;
  size_t n = 0;
  w->called.inst = HD_TRACE_CALLED;
  for (size_t i = 0; i < w->accesses.n; i++)
    if (w->accesses.data[i].accesses) w->accesses.data[n++] = w->accesses.data[i];
  w->accesses.n = n;
  if (w->called.accesses && !hd_vec_push(&w->accesses, w->called)) return false;
  out->accesses = w->accesses.data;
  out->n_accesses = (uint32_t)w->accesses.n;
  w->accesses.data = NULL;
  return true;
}

bool model_watch_end(model_watch *w, bool keep) {
  const bool kept = keep && !w->failed && keep_accesses(w);
  if (kept) {
    w->out->ctas = w->ctas.data;
    w->out->n = w->ctas.n;
    w->ctas.data = NULL;
  } else {
    hd_timeline_free(w->out);
  }
  free(w->open);
  free(w->loads);
  free(w->totals);
  hd_vec_free(&w->ctas);
  hd_vec_free(&w->accesses);
  return kept;
}
