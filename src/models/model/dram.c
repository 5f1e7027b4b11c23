#include "model/dram.h"

#include <stdlib.h>
#include <string.h>

bool model_dram_init(model_dram *d, const hd_gpu *g) {
  const uint32_t n = g->dram_channels ? g->dram_channels : 1;
  *d = (model_dram){.all_channels = n,
                    .all_banks = g->dram_banks,
                    .block_lines = n > 1 ? g->dram_interleave / MODEL_LINE : 1,
                    .row_lines = g->dram_banks ? g->dram_row_bytes / MODEL_LINE : 1,
                    .row_cycles = g->dram_row_cycles,
                    .activate_cycles = g->dram_activate_cycles,
                    .row_latency = (int32_t)g->dram_row_latency,
                    .bytes_per_cycle = g->dram_bytes_per_cycle,
                    .channels = calloc(n, sizeof *d->channels)};
  if (!d->channels) return false;
  for (uint32_t i = 0; i < n; i++) d->channels[i].queue.service = g->dram_queue_cycles;
  model_dram_reset(d, true);
  return true;
}

void model_dram_free(model_dram *d) { free(d->channels); }

void model_dram_reset(model_dram *d, bool timed) {
  d->n_channels = timed ? d->all_channels : 1;
  d->n_banks = timed ? d->all_banks : 0;
  for (uint32_t i = 0; i < d->n_channels; i++) {
    d->channels[i].queue.bytes_per_cycle = d->bytes_per_cycle / d->n_channels;
    model_queue_reset(&d->channels[i].queue);
    memset(d->channels[i].banks, 0, sizeof d->channels[i].banks);
  }
  d->bytes = d->busy = d->useful = 0;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Cycles for which opening the rows that were asked for keeps a channel busy. */
static double open_rows(const model_dram *d, dram_channel *c) {
  uint32_t most = 0, all = 0;
  for (uint32_t i = 0; i < d->n_banks; i++) {
    dram_bank *b = &c->banks[i];
    const uint32_t opened = (uint32_t)__builtin_popcountll(b->rows & ~b->open);
    all += opened;
    if (opened > most) most = opened;
    /* Of several rows any may be the last. */
    if (b->rows) b->open = b->rows & (b->rows - 1) ? 0 : b->rows;
    b->rows = 0;
  }
  return larger(most * d->row_cycles, all * d->activate_cycles);
}

void model_dram_end_epoch(model_dram *d, uint64_t cycles) {
  double busy = 0;
  for (uint32_t i = 0; i < d->n_channels; i++) {
    dram_channel *c = &d->channels[i];
    if (d->n_banks && c->queue.asked > 0)
      c->queue.asked = larger(c->queue.asked, open_rows(d, c) * c->queue.bytes_per_cycle);
    busy = larger(busy, model_queue_end_epoch(&c->queue, cycles));
  }
  d->busy += busy;
  d->useful += d->bytes / d->bytes_per_cycle;
  d->bytes = 0;
}

uint32_t model_dram_left(const model_dram *d) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < d->n_channels; i++)
    if (d->channels[i].queue.wait > left) left = d->channels[i].queue.wait;
  return left;
}
