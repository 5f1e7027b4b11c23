#include "heddle/model.h"

enum {
  EVENT = HD_COUNTER_IS_EVENT,
  SWEEP = HD_COUNTER_IN_SWEEPS,
  VERDICT = HD_COUNTER_IN_VERDICTS,
  TIMED = HD_COUNTER_IS_TIMED
};

const hd_counter hd_counter_table[HD_COUNTER_FIELDS] = {
#define HD_COUNTER(kind, field, unit, decimals, uses, description)                                           \
  {#field, unit, description, HD_COUNTER_##kind, offsetof(hd_counters, field), decimals, uses},
#include "heddle/counters.def"
#undef HD_COUNTER
};

static const void *at(const hd_counter *f, const hd_counters *c) { return (const char *)c + f->offset; }

double hd_counter_real(const hd_counter *f, const hd_counters *c) {
  return f->type == HD_COUNTER_REAL ? *(const double *)at(f, c) : (double)hd_counter_count(f, c);
}

uint64_t hd_counter_count(const hd_counter *f, const hd_counters *c) {
  switch (f->type) {
  case HD_COUNTER_COUNT: return *(const uint64_t *)at(f, c);
  case HD_COUNTER_LAST: return *(const uint32_t *)at(f, c);
  case HD_COUNTER_REAL: break;
  }
  return 0;
}

void hd_counter_set_count(const hd_counter *f, hd_counters *c, uint64_t value) {
  if (f->type == HD_COUNTER_COUNT) *(uint64_t *)((char *)c + f->offset) = value;
  if (f->type == HD_COUNTER_LAST) *(uint32_t *)((char *)c + f->offset) = (uint32_t)value;
}

void hd_counters_add(hd_counters *sum, const hd_counters *c) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (f->type == HD_COUNTER_REAL)
      *(double *)((char *)sum + f->offset) += hd_counter_real(f, c);
    else
      hd_counter_set_count(
          f, sum, hd_counter_count(f, c) + (f->type == HD_COUNTER_COUNT ? hd_counter_count(f, sum) : 0));
  }
}

void hd_counters_add_launch(hd_counters *row, const hd_counters *c, const hd_gpu *g, uint32_t number,
                            double head_start_us) {
  const hd_launch_cost *l = &g->launch;
  const double launched = number * l->host_us - head_start_us;
  if (row->time_us < launched) row->time_us = launched;
  hd_counters_add(row, c);
  if (number == 1 && l->second_us > l->next_us) row->time_us += l->second_us - l->next_us;
}

uint64_t hd_counters_traffic(const hd_counters *c) {
  enum { SECTOR = 32 };
  return SECTOR * c->l2_sectors + hd_counters_dram(c);
}

bool hd_counters_timed(const hd_counters *c) { return c->time_us > 0 || c->cycles > 0; }

double hd_counters_cost(const hd_counters *c) {
  return c->time_us > 0 ? c->time_us : (double)hd_counters_traffic(c);
}

void hd_counters_scale(hd_counters *c, double factor) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (f->type == HD_COUNTER_REAL)
      *(double *)((char *)c + f->offset) *= factor;
    else if (f->type == HD_COUNTER_COUNT)
      hd_counter_set_count(f, c, (uint64_t)((double)hd_counter_count(f, c) * factor + 0.5));
  }
}
