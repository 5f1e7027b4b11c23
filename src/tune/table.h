/* tune/table.h: the tables of a study's orders, each worked out once. */
#ifndef HEDDLE_TUNE_TABLE_H
#define HEDDLE_TUNE_TABLE_H

#include "heddle/tune.h"

enum { TABLE_PATH = 4096 + HD_DIGEST_HEX + 16 };
/* Where what `method` works out of a launch's trace is kept, with everything that it follows from in its
 * name;
 * "" when there is no cache folder. */
hd_status table_path(const hd_workload *w, uint32_t launch, const hd_run_options *o, const char *method,
                     const char *suffix, char out[TABLE_PATH], hd_diag *d);
/* study.c: the architecture that its traces' PTX was made for. */
unsigned study_arch(const hd_study *s);

static inline bool table_is_worked_out(hd_order_kind k) {
  return k == HD_ORDER_AFFINITY || k == HD_ORDER_HEAVY_FIRST;
}

typedef struct table_store table_store;
table_store *table_store_open(const hd_workload *w, const hd_run_options *o); /* NULL: out of memory */
void table_store_close(table_store *s);
/* Valid as long as the store; several threads may ask. */
hd_status table_store_get(table_store *t, const hd_study *study, uint32_t launch, hd_order_kind kind,
                          const hd_table **out, hd_diag *d);

#endif
