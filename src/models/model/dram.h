/* model/dram.h: DRAM: its channels, their banks, and the rows that these hold open.
 *
 * Blocks of the GPU file's `interleave` bytes go round the channels. A channel is a queue of its own, so that
 * requests that meet in few channels take longer than the bytes say (SCH 6.2). Within a channel, rows go
 * round the banks. A bank serves the row that it holds open; another row keeps it busy for `row_cycles`, and
 * a channel opens one row every `activate_cycles`. The controller serves requests for an open row first, so
 * that a row is opened once an epoch, whatever came between: a channel is busy for the longest of what its
 * bytes take, the rows of its busiest bank, and all of its rows. The file's latency is that of a bank which
 * holds no row open; a request finds its own open, or another one, by `row_latency` sooner or later. GPUs
 * whose files name no channels have one, without banks. */
#ifndef HEDDLE_MODEL_DRAM_H
#define HEDDLE_MODEL_DRAM_H

#include "heddle/model.h"
#include "model/coalesce.h"
#include "model/queue.h"

typedef struct dram_bank {
  uint64_t rows; /* asked for in this epoch, one bit for each 64th */
  uint64_t open; /* the bit of the one that it holds open; 0: not known */
} dram_bank;

typedef struct dram_channel {
  model_queue queue;
  dram_bank banks[HD_DRAM_MOST_BANKS];
} dram_channel;

typedef struct model_dram {
  uint32_t n_channels, n_banks; /* that take part; n_banks 0: rows are free */
  uint32_t all_channels, all_banks;
  uint32_t block_lines; /* lines of a channel before the next one's */
  uint32_t row_lines;   /* of a row */
  double row_cycles, activate_cycles;
  int32_t row_latency;
  double bytes_per_cycle; /* of all channels */
  double bytes;           /* asked for in this epoch */
  double busy, useful;    /* hd_counters.dram_busy, dram_useful */
  dram_channel *channels;
} model_dram;

/* False: out of memory. */
bool model_dram_init(model_dram *d, const hd_gpu *g);
void model_dram_free(model_dram *d);
/* Counters to zero, nothing queued, no row open. Without a clock DRAM is one channel.
 */
void model_dram_reset(model_dram *d, bool timed);
void model_dram_end_epoch(model_dram *d, uint64_t cycles);
/* Cycles until all that is queued is served. */
uint32_t model_dram_left(const model_dram *d);

/* The channel of a line, and its line number within it. */
static inline dram_channel *model_dram_channel(const model_dram *d, uint32_t line, uint32_t *own) {
  const uint32_t block = line / d->block_lines;
  *own = block / d->n_channels * d->block_lines + line % d->block_lines;
  return &d->channels[block % d->n_channels];
}

/* `bytes` of a line are read or written; the cycles that they wait before they are served, beyond DRAM's
 * latency. */
static inline int32_t model_dram_ask(model_dram *d, uint32_t line, double bytes) {
  dram_channel *c = d->channels;
  int32_t row_wait = 0;
  d->bytes += bytes;
  if (d->n_channels > 1) {
    uint32_t own;
    c = model_dram_channel(d, line, &own);
    if (d->n_banks) {
      const uint32_t row = own / d->row_lines;
      dram_bank *b = &c->banks[row % d->n_banks];
      const uint64_t bit = UINT64_C(1) << row / d->n_banks % 64, open = b->rows | b->open;
      row_wait = open & bit ? -d->row_latency : open ? d->row_latency : 0;
      b->rows |= bit;
    }
  }
  c->queue.asked += bytes;
  return (int32_t)c->queue.wait + row_wait;
}

/* The cycles before what is queued for a line's channel is served. */
static inline uint32_t model_dram_wait(const model_dram *d, uint32_t line) {
  uint32_t own;
  return d->n_channels > 1 ? model_dram_channel(d, line, &own)->queue.wait : d->channels->queue.wait;
}

#endif
