/* store/columns.h: a verdict's fields by name, for the database and for JSON. */
#ifndef HEDDLE_STORE_COLUMNS_H
#define HEDDLE_STORE_COLUMNS_H

#include "heddle/store.h"

typedef enum store_type { STORE_TEXT, STORE_REAL, STORE_U32, STORE_S64 } store_type;

typedef struct store_column {
  const char *name;
  store_type type;
  size_t offset; /* in hd_verdict */
  size_t size;   /* of texts, the end included */
} store_column;

enum { STORE_COLUMNS = 15 };
extern const store_column store_columns[];

/* The verdicts of an export, allocated; every field must be there and fit. */
hd_status store_parse(const char *text, size_t len, const char *name, hd_verdict **out, size_t *n,
                      hd_diag *d);

#endif
