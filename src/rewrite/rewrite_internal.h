/* rewrite/rewrite_internal.h: shared between the files of this floor. */
#ifndef HEDDLE_REWRITE_INTERNAL_H
#define HEDDLE_REWRITE_INTERNAL_H

#include "heddle/rewrite.h"

/* Lower a program to PTX statements. Registers are named %<prefix>_...; the text declares
 * them. `in` is the name of the u32 register that holds the position (u64 when wide);
 * `out` says which of x, y, z are wanted: their values end in u32 registers whose names are
 * written to names[k] (at most 64 bytes each). `table` is the symbol of the order's table,
 * `table_bytes` the size of one entry (2 or 4). Division by a constant becomes a multiplication
 * that is exact for every value the operand can take. */
typedef struct rewrite_lowering {
  const char *prefix;
  bool wide_in; /* `in` is a u64 register */
  const char *in;
  const char *dims[4]; /* names of u32 registers with NX, NY, NZ, V; NULL when constants */
  bool want[3];
  const char *table;
  unsigned table_bytes;
} rewrite_lowering;
hd_status rewrite_lower(const hd_prog *p, const rewrite_lowering *l, char names[3][64], hd_buf *text,
                        hd_diag *d);

#endif
