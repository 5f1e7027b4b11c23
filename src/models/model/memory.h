/* model/memory.h: the memory that all SMs share: L2 and DRAM.
 *
 * L2 may have two parts. An SM's requests go to the part that is near to it. Of the lines that belong to the
 * other one, behind which their DRAM is, the near part keeps copies: a request that it cannot serve goes on
 * to the other part, and both have the line then. So what all SMs read fits once into each part, and what
 * only one SM reads takes half as much again as it has bytes. Dirty data and atomics are at the part that a
 * line belongs to; a store there ends the other part's copy.
 *
 * SMs of a group that ask for a line at about the same time send one request. Where all GPCs ask for more
 * than L2 can serve, each gets the same, so that SMs of larger GPCs get less.
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

enum { MEMORY_PENDING_BITS = 10 };

/* A line that an SM of a group has asked for: whoever asks next before it is there shares the request. */
typedef struct memory_pending {
  uint64_t from, until; /* cycles */
  uint32_t line;
  uint16_t sm;
  uint8_t mask;
} memory_pending;

typedef struct memory_place {
  uint8_t gpc;
  uint8_t near; /* part of L2 */
} memory_place;

typedef struct model_memory {
  model_cache l2[HD_L2_MOST_PARTS];
  uint32_t n_parts, n_sms, n_gpcs;
  memory_place *places;    /* of SMs */
  uint32_t n_together;     /* SMs of a group; 1: each sends its own requests */
  memory_pending *pending; /* [groups][2^MEMORY_PENDING_BITS] */
  uint32_t l2_latency, dram_latency;
  uint32_t far_latency; /* of the part that is not near, beyond l2_latency */
  double dram_least, dram_tenth,
      dram_most; /* latency of the quickest, of 9 in 10, of the slowest; 0: alike */
  model_queue l2_queue;
  model_shares l2_shares;          /* of GPCs */
  model_queue ports[HD_MOST_GPCS]; /* of GPCs; 0 bytes a cycle: no limit */
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
  uint64_t sectors, hits, dram_reads, dram_writes;
  hd_counters counted; /* what else it counts; collected as it is */
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
  model_set *set; /* the line's, in the near part */
  uint64_t cycle;
  uint32_t line;
  uint32_t wait; /* answer: cycles until it is served */
  uint8_t mask;
  uint8_t full; /* writes: sectors written whole */
  /* The asker's: where the data goes. */
  uint8_t way;
  model_set *own;
} model_request;

/* The part that a line belongs to. Which ones these are is not published. */
static inline uint32_t model_memory_home(const model_memory *m, uint32_t line) {
  return m->n_parts == 1 ? 0 : (line * 0x9E3779B1u) >> 31;
}

/* The part that is near to an SM. */
static inline uint32_t model_memory_near(const model_memory *m, uint32_t sm) { return m->places[sm].near; }

/* Where a line goes; it is on its way into the host's cache. */
static inline model_set *model_memory_set(const model_memory *m, uint32_t sm, uint32_t line) {
  const uint32_t near = model_memory_near(m, sm), home = model_memory_home(m, line);
  model_set *set = model_cache_set(&m->l2[near], line);
  model_set_prefetch(&m->l2[near], set);
  if (home != near) model_set_prefetch(&m->l2[home], model_cache_set(&m->l2[home], line));
  return set;
}

/* Accesses with priorities follow. */
void model_memory_rank(model_memory *m);
/* All that is dirty is written back; how many 32-byte sectors that is. */
uint64_t model_memory_clean(model_memory *m);

/* n requests of an SM in turn. Served is a read and an atomic when all sectors have come, a write when the
 * queues have taken it: a store waits for no more. `priority`: CACHE_NORMAL and its kin. */
void model_memory_read(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority);
void model_memory_write(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority);
void model_memory_atomic(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority);

#endif
