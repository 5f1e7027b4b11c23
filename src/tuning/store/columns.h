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
  int since;     /* the version of databases and exports that has it first; before that, it is "" */
} store_column;

enum { STORE_COLUMNS = 18, STORE_KEY_COLUMNS = 5, STORE_SIZE = 4 };
extern const store_column store_columns[];

typedef struct store_table {
  char name[HD_DIGEST_HEX];
  uint64_t n;
  hd_buf packed; /* as the database has it; checked */
  size_t number; /* place in the file, from 1 */
  bool used;     /* by a verdict of the file */
} store_table;

typedef struct store_import {
  hd_verdict *verdicts;
  size_t n;
  store_table
      *tables; /* by their names; each is named by a verdict, whose grid it fits, and no other is named */
  size_t n_tables;
} store_import;

/* An export's first key, and its versions. */
#define STORE_MARK "heddle_verdicts"
enum { STORE_FORMAT = 4, STORE_FIRST_FORMAT = 1 };

/* Parse an export; every field must be there and fit. *out is freed by store_import_free, on failure too. */
hd_status store_parse(const char *text, size_t len, const char *name, store_import *out, hd_diag *d);
void store_import_free(store_import *i);
/* A table's packed bytes, appended, and its tasks; *found false: the store has none of that name. */
hd_status store_packed_table(hd_store *s, const char *name, hd_buf *packed, uint64_t *n, bool *found,
                             hd_diag *d);

#endif
