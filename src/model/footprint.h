/* model/footprint.h: the sectors that a launch reads and writes, its compulsory traffic.
 *
 * One bit per 32-byte sector, in tables of 4 KB pages that are made when first touched. Each recording thread
 * has its own; the union does not depend on which thread recorded an access. */
#ifndef HEDDLE_MODEL_FOOTPRINT_H
#define HEDDLE_MODEL_FOOTPRINT_H

#include "model/coalesce.h"

enum {
  PAGE_LINES = 32,       /* 4 KB */
  CHUNK_PAGES = 1 << 13, /* 32 MB of addresses */
  FOOTPRINT_CHUNKS = 1 << (MODEL_ADDRESS_BITS - 12 - 13),
};

typedef struct model_footprint_page {
  uint64_t read[2], written[2]; /* bit 4 * (line % 32) + sector */
} model_footprint_page;

typedef struct model_footprint {
  model_footprint_page **chunks; /* FOOTPRINT_CHUNKS; NULL until used */
  uint64_t memory;               /* bytes */
  bool failed;
} model_footprint;

/* The sectors one task has written so far: its reads of them are not compulsory. */
typedef struct model_task_writes {
  uint64_t *page; /* open addressing, page number + 1; 0: free */
  uint64_t (*bits)[2];
  size_t cap, n;
} model_task_writes;

bool model_footprint_init(model_footprint *f);
void model_footprint_free(model_footprint *f);
/* One access. `kind` is an hd_access_kind; prefetches leave no trace. */
void model_footprint_add(model_footprint *f, model_task_writes *own, unsigned kind, const model_lines *lines);
void model_footprint_merge(model_footprint *into, const model_footprint *from);
void model_footprint_count(const model_footprint *f, uint64_t *read_sectors, uint64_t *written_sectors);

void model_task_writes_clear(model_task_writes *t);
void model_task_writes_free(model_task_writes *t);

#endif
