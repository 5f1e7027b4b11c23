/* The counters' names, once: text, JSON, CSV and stores all take them from this table. */
#include "heddle/model.h"

#define REAL(name, unit, decimals, uses, what)                                                               \
  { #name, unit, what, HD_COUNTER_REAL, offsetof(hd_counters, name), decimals, uses }
#define COUNT(name, unit, uses, what)                                                                        \
  { #name, unit, what, HD_COUNTER_COUNT, offsetof(hd_counters, name), 0, uses }

enum { EVENT = HD_COUNTER_IS_EVENT, SWEEP = HD_COUNTER_IN_SWEEPS, VERDICT = HD_COUNTER_IN_VERDICTS };

const hd_counter hd_counter_table[HD_COUNTER_FIELDS] = {
    REAL(time_us, "us", 3, SWEEP, "time: predicted, or measured"),
    COUNT(warp_instructions, "instructions", EVENT, "instructions that warps ran"),
    COUNT(thread_instructions, "instructions", EVENT | SWEEP, "instructions that threads ran"),
    COUNT(l1_sectors, "sectors", EVENT | SWEEP | VERDICT, "sectors that loads asked L1 for"),
    COUNT(l1_hits, "sectors", EVENT | SWEEP | VERDICT, "of these, sectors that L1 had"),
    COUNT(l2_sectors, "sectors", EVENT | SWEEP | VERDICT, "sectors that L2 was asked for"),
    COUNT(l2_hits, "sectors", EVENT | SWEEP | VERDICT, "of these, sectors that L2 had"),
    COUNT(l2_read_sectors, "sectors", EVENT, "sectors of loads at L2"),
    COUNT(l2_write_sectors, "sectors", EVENT, "sectors of stores and atomics at L2"),
    COUNT(dram_read_bytes, "bytes", EVENT | SWEEP | VERDICT, "bytes that DRAM sent to L2"),
    COUNT(dram_write_bytes, "bytes", EVENT | SWEEP | VERDICT, "bytes that L2 sent to DRAM"),
    COUNT(compulsory_bytes, "bytes", SWEEP, "bytes read and written, each once"),
    REAL(cycles, "cycles", 0, 0, "the largest of the bounds below"),
    REAL(cycles_issue, "cycles", 0, SWEEP, "bound by issuing instructions"),
    REAL(cycles_l1, "cycles", 0, SWEEP, "bound by L1"),
    REAL(cycles_l2, "cycles", 0, SWEEP, "bound by L2"),
    REAL(cycles_dram, "cycles", 0, SWEEP, "bound by DRAM"),
    REAL(warp_cycles, "cycles", 0, SWEEP, "of all warps, from start to end; 0 without a clock"),
    REAL(stall_memory, "cycles", 0, SWEEP, "of these, waiting for loads"),
    REAL(stall_dependency, "cycles", 0, SWEEP, "waiting for results of other instructions"),
    REAL(stall_barrier, "cycles", 0, SWEEP, "waiting at barriers"),
    REAL(stall_throttle, "cycles", 0, SWEEP, "waiting for a pipeline, for L1, for stores to be taken"),
    REAL(stall_issue, "cycles", 0, SWEEP, "ready, while others issued"),
    REAL(dram_busy, "cycles", 0, SWEEP, "with requests in a channel of DRAM; 0 without a clock"),
    REAL(dram_useful, "cycles", 0, SWEEP, "of these, what the bytes take at DRAM's whole rate"),
    REAL(time_error_us, "us", 3, 0, "standard error of the time, from what was left out"),
    {"resident", "CTAs", "CTAs that an SM ran at once", HD_COUNTER_LAST, offsetof(hd_counters, resident), 0,
     SWEEP},
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

void hd_counters_scale(hd_counters *c, double factor) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (f->type == HD_COUNTER_REAL)
      *(double *)((char *)c + f->offset) *= factor;
    else if (f->type == HD_COUNTER_COUNT)
      hd_counter_set_count(f, c, (uint64_t)((double)hd_counter_count(f, c) * factor + 0.5));
  }
}
