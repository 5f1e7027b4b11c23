/* model/footprint.h: the sectors that a launch reads and writes, its compulsory traffic.
 *
 * One bit per 32-byte sector, in leaves of 256 KB that are made when first touched: a launch of a long row
 * may touch little of much memory, and has a footprint of its own. Each recording thread has its own, too;
 * the union does not depend on which thread recorded an access. */
#ifndef HEDDLE_MODEL_FOOTPRINT_H
#define HEDDLE_MODEL_FOOTPRINT_H

#include "model/coalesce.h"
#include "model/index.h"

enum {
  PAGE_LINES = 32, /* 4 KB */
  LEAF_PAGES = 64, /* 256 KB */
};

typedef struct model_footprint_page {
  uint64_t read[2], written[2]; /* bit 4 * (line % 32) + sector */
} model_footprint_page;

typedef struct model_footprint_leaf {
  uint32_t number;            /* of 256 KB */
  model_footprint_page *page; /* LEAF_PAGES */
} model_footprint_leaf;

/* All zeros: nothing is touched. */
typedef struct model_footprint {
  HD_VEC(model_footprint_leaf) leaves;
  model_index by_number;  /* places in the list */
  size_t last;            /* the leaf that was asked for last */
  uint64_t read, written; /* sectors */
  uint64_t memory;        /* bytes */
  bool failed;
} model_footprint;

/* The sectors one task has written so far: its reads of them are not compulsory. */
typedef struct model_task_writes {
  uint64_t *page; /* open addressing, page number + 1; 0: free */
  uint64_t (*bits)[2];
  size_t cap, n;
} model_task_writes;

void model_footprint_free(model_footprint *f);
/* One access. `kind` is an hd_access_kind; prefetches leave no trace. */
void model_footprint_add(model_footprint *f, model_task_writes *own, unsigned kind, const model_lines *lines);
void model_footprint_merge(model_footprint *into, const model_footprint *from);

void model_task_writes_clear(model_task_writes *t);
void model_task_writes_free(model_task_writes *t);

#endif
