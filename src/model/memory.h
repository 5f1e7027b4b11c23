/* model/memory.h: the memory that all SMs share: L2 and DRAM.
 *
 * L2 is write-back. A store allocates without fetching: sectors that it writes whole become
 * valid, sectors that it writes in part become dirty only, and are fetched (a miss) if
 * someone reads them later. Atomics are done in L2 on fetched sectors.
 *
 * L2 and atomics are queues (queue.h), DRAM is one for each channel (dram.h). */
#ifndef HEDDLE_MODEL_MEMORY_H
#define HEDDLE_MODEL_MEMORY_H

#include "model/cache.h"
#include "model/dram.h"

typedef struct model_memory {
  model_cache l2;
  uint32_t l2_latency, dram_latency;
  double dram_least, dram_tenth,
      dram_most; /* latency of the quickest, of 9 in 10, of the slowest; 0: alike */
  model_queue l2_queue;
  model_dram dram;
  model_queue atomics; /* in sectors; 0 a cycle: no limit */
  /* Bytes of l2_queue that a load and a store of so many sectors of a line take. */
  double load_asks[5], store_asks[5];
  double repeat_cost; /* of another lane's addition to the same word, in sectors of `atomics` */
  uint32_t atomic_latency;
  double write_cost; /* of a byte written to DRAM, in bytes read */
  double dirt;       /* of others' data in a line: part that is dirty */
  double dirty_part; /* the value of `dirt` when the data of others counts */
  /* In 32-byte sectors. */
  uint64_t sectors, hits, reads, writes, dram_reads, dram_writes;
} model_memory;

bool model_memory_init(model_memory *m, const hd_gpu *g);
void model_memory_free(model_memory *m);
/* Counters to zero, nothing queued or in flight; the contents stay if `keep`; `timed`: a clock follows. */
void model_memory_reset(model_memory *m, bool keep, bool timed);
/* L2 holds data of others, of which the GPU's part is dirty: lines that take their places have them written
 * back. */
void model_memory_foul(model_memory *m);
void model_memory_begin_epoch(model_memory *m, uint64_t now, uint64_t limit);
void model_memory_end_epoch(model_memory *m, uint64_t cycles);

/* Sectors of a line, asked for at a cycle. */
typedef struct model_request {
  model_set *set; /* the line's */
  uint64_t cycle;
  uint32_t line;
  uint32_t wait; /* answer: cycles until it is served */
  uint8_t mask;
  uint8_t full; /* writes: sectors written whole */
  /* The asker's: where the data goes. */
  uint8_t way;
  uint16_t mshr;
  model_set *own;
} model_request;

/* Where a line goes; it is on its way into the host's cache. */
static inline model_set *model_memory_set(const model_memory *m, uint32_t line) {
  model_set *set = model_cache_set(&m->l2, line);
  model_set_prefetch(&m->l2, set);
  return set;
}

/* n requests in turn. Served is a read and an atomic when all sectors have come, a write when the
 * queues have taken it: a store waits for no more. `priority`: CACHE_NORMAL and its kin. */
void model_memory_read(model_memory *m, model_request *r, uint32_t n, unsigned priority);
void model_memory_write(model_memory *m, model_request *r, uint32_t n, unsigned priority);
void model_memory_atomic(model_memory *m, model_request *r, uint32_t n, unsigned priority);

#endif
