/* program/fields.h: settings of a program as text for its environment, and back, by a table of their fields.
 */
#ifndef HEDDLE_PROGRAM_FIELDS_H
#define HEDDLE_PROGRAM_FIELDS_H

#include "heddle/base.h"

typedef enum program_field_kind {
  PROGRAM_TEXT,   /* char[bytes], without line breaks */
  PROGRAM_NUMBER, /* uint64_t */
  PROGRAM_REAL,   /* double, not negative */
  PROGRAM_FLAG,   /* bool */
} program_field_kind;

typedef struct program_field {
  const char *name;
  program_field_kind kind;
  size_t offset, bytes;
} program_field;

#define PROGRAM_FIELD(type, kind, name)                                                                      \
  { #name, kind, offsetof(type, name), sizeof((type *)0)->name }

/* NAME=VALUE, one a line. HD_ERR_USAGE for a text with a line break. */
hd_status program_fields_print(const program_field *fields, size_t n, const void *settings, hd_buf *out,
                               hd_diag *d);
/* The same fields in the same order, and no others: HD_ERR_INPUT, in words about `whose` settings. */
hd_status program_fields_parse(const program_field *fields, size_t n, const char *whose, const char *text,
                               void *settings, hd_diag *d);

#endif
