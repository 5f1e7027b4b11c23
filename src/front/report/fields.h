/* report/fields.h: a result is a table of fields, and its text, JSON and CSV walk that table.
 *
 * A field names a value (key, heading), says what it means (kind, decimals) and where it lies in the result
 * (a member, or a function of the result). Tables end with {0}. Memory is looked after in the walkers alone:
 * a tree that could not be made is NULL, which report_put_json turns into a buffer that failed.
 */
#ifndef HEDDLE_REPORT_FIELDS_H
#define HEDDLE_REPORT_FIELDS_H

#include <jansson.h>

#include "heddle/model.h"
#include "heddle/report.h"
#include "heddle/stats.h"

/* How a member is stored. */
typedef enum field_type {
  FIELD_NONE = 0, /* a function has the value */
  FIELD_CHARS,    /* char[] */
  FIELD_TEXT,     /* const char *; NULL: absent */
  FIELD_U32,
  FIELD_U64,
  FIELD_INT,
  FIELD_REAL, /* double; infinite and NaN: absent */
  FIELD_SINGLE,
  FIELD_FLAG,
  FIELD_PLAN,     /* hd_plan, by its notation */
  FIELD_SPEEDUP,  /* hd_speedup, with its interval */
  FIELD_COUNTERS, /* hd_counters, by hd_counter_table */
  FIELD_STRUCT    /* by a table of its own */
} field_type;

/* What a number means, and so how text writes it. */
typedef enum field_kind {
  FIELD_PLAIN = 0,
  FIELD_RATIO,     /* 1.25x */
  FIELD_PERCENT,   /* a part of 1: 12.5% */
  FIELD_MEGABYTES, /* bytes, in millions */
  FIELD_SECONDS    /* 1.5 s */
} field_kind;

typedef struct field_place {
  field_type type;
  size_t through;                     /* 1 + the offset of a pointer to follow first; 0: none */
  size_t at;                          /* offset */
  size_t size;                        /* of a struct or of an element */
  bool list, behind;                  /* a list, in place or behind a pointer */
  size_t fixed, count_at, count_size; /* how many elements: so many, or where a count of that size lies */
} field_place;

typedef struct field field;
struct field {
  const char *key;     /* in JSON and CSV; NULL: not there */
  const char *heading; /* of its column or line in text; NULL: not there */
  field_kind kind;
  int decimals;
  char align;                     /* 'l' or 'r'; 0: numbers to the right, words to the left */
  const char *absent;             /* its cell where it is absent; NULL: "-" */
  bool null;                      /* absent, within its section: JSON has null, rather than no key */
  unsigned only;                  /* a column only where the sheet asks for one of these; 0: always */
  bool spread;                    /* JSON and CSV: the fields of the struct are the row's own */
  bool (*when)(const void *row);  /* else it is absent */
  bool (*has)(const void *value); /* the same of the member, such as report_is_said */
  /* A field that has nothing but this stands for `when` of all behind it, up to the next one. */
  bool (*section)(const void *row);
  field_place place; /* MEMBER, THROUGH, LIST, ... */
  const field *of;   /* the table of a struct, or of a list's structs */
  /* Or one of these: a number (NaN: absent), a count, a flag, words (NULL: absent), words to be put together,
   * a tree. */
  double (*real)(const void *row);
  int64_t (*count)(const void *row);
  bool (*flag)(const void *row);
  const char *(*text)(const void *row);
  void (*put)(const void *row, hd_buf *out);
  json_t *(*tree)(const void *row);
};

#define FIELD_TYPE_OF(pointer)                                                                               \
  _Generic((pointer), const char **                                                                          \
           : FIELD_TEXT, char **                                                                             \
           : FIELD_TEXT, uint32_t *                                                                          \
           : FIELD_U32, uint64_t *                                                                           \
           : FIELD_U64, int *                                                                                \
           : FIELD_INT, double *                                                                             \
           : FIELD_REAL, float *                                                                             \
           : FIELD_SINGLE, bool *                                                                            \
           : FIELD_FLAG, hd_plan *                                                                           \
           : FIELD_PLAN, const hd_plan *                                                                     \
           : FIELD_PLAN, hd_speedup *                                                                        \
           : FIELD_SPEEDUP, hd_counters *                                                                    \
           : FIELD_COUNTERS, const hd_counters *                                                             \
           : FIELD_COUNTERS, default                                                                         \
           : FIELD_CHARS)
#define FIELD_MEMBER_OF(row, member) ((row *)0)->member

/* A member of the row; a member of what a pointer in the row leads to; all that it leads to. */
#define MEMBER(row, member)                                                                                  \
  .place = {.type = FIELD_TYPE_OF(&FIELD_MEMBER_OF(row, member)),                                            \
            .at = offsetof(row, member),                                                                     \
            .size = sizeof FIELD_MEMBER_OF(row, member)}
#define THROUGH(row, pointer, target, member)                                                                \
  .place = {.type = FIELD_TYPE_OF(&FIELD_MEMBER_OF(target, member)),                                         \
            .through = offsetof(row, pointer) + 1,                                                           \
            .at = offsetof(target, member)}
#define POINTED(row, pointer)                                                                                \
  .place = {.type = FIELD_TYPE_OF(FIELD_MEMBER_OF(row, pointer)), .through = offsetof(row, pointer) + 1}
#define STRUCT(row, member, fields)                                                                          \
  .place = {.type = FIELD_STRUCT, .at = offsetof(row, member)}, .of = (fields)
#define STRUCT_AT(row, pointer, fields)                                                                      \
  .place = {.type = FIELD_STRUCT, .through = offsetof(row, pointer) + 1}, .of = (fields)
#define STRUCT_THROUGH(row, pointer, target, member, fields)                                                 \
  .place = {.type = FIELD_STRUCT, .through = offsetof(row, pointer) + 1, .at = offsetof(target, member)},    \
  .of = (fields)
/* A struct in the row, or behind a pointer in it, with a table of its own; the row itself, by another table.
 */
#define SELF(fields) .place = {.type = FIELD_STRUCT}, .of = (fields)
/* An array in the row, of numbers; the first so many of it. */
#define ARRAY(row, member)                                                                                   \
  .place = {.type = FIELD_TYPE_OF(&FIELD_MEMBER_OF(row, member)[0]),                                         \
            .at = offsetof(row, member),                                                                     \
            .size = sizeof FIELD_MEMBER_OF(row, member)[0],                                                  \
            .list = true,                                                                                    \
            .fixed = sizeof FIELD_MEMBER_OF(row, member) / sizeof FIELD_MEMBER_OF(row, member)[0]}
#define FIRST(row, member, count)                                                                            \
  .place = {.type = FIELD_TYPE_OF(&FIELD_MEMBER_OF(row, member)[0]),                                         \
            .at = offsetof(row, member),                                                                     \
            .size = sizeof FIELD_MEMBER_OF(row, member)[0],                                                  \
            .list = true,                                                                                    \
            .count_at = offsetof(row, count),                                                                \
            .count_size = sizeof FIELD_MEMBER_OF(row, count)}
/* A pointer to structs in the row, and how many there are. */
#define LIST(row, member, count, fields)                                                                     \
  .place = {.type = FIELD_STRUCT,                                                                            \
            .at = offsetof(row, member),                                                                     \
            .size = sizeof *FIELD_MEMBER_OF(row, member),                                                    \
            .list = true,                                                                                    \
            .behind = true,                                                                                  \
            .count_at = offsetof(row, count),                                                                \
            .count_size = sizeof FIELD_MEMBER_OF(row, count)},                                               \
  .of = (fields)

/* ---- JSON ----------------------------------------------------------------------------------------- */

/* An object of the fields that have keys and are not absent, in the table's order. NULL: out of memory. */
json_t *report_fields_json(const field *fields, const void *row);
/* A list of such objects. */
json_t *report_rows_json(const field *fields, const void *rows, size_t n, size_t size);
/* Counters, all or those with one of these uses (HD_COUNTER_IS_EVENT). */
json_t *report_counters_json(const hd_counters *c, unsigned uses);
void report_put_fields_json(const field *fields, const void *row, hd_buf *out);
bool field_always(const void *row); /* for `section`: ends the one before */
/* For `has`: words that are not ""; a number above 0. */
bool report_is_said(const void *words);
bool report_is_positive(const void *number);
/* A list that is made element by element; takes both references, of which NULL is out of memory. */
json_t *report_append(json_t *list, json_t *element);
/* The same of an object. */
json_t *report_set(json_t *object, const char *key, json_t *one);
/* A list of two strings. */
json_t *report_pair_json(const char *a, const char *b);

/* The members of the row from an object: words, numbers, flags and structs of these. Zero where they are
 * absent; words are cut where they are too long. */
void report_read_fields(const field *fields, const json_t *j, void *row);

/* ---- Text ----------------------------------------------------------------------------------------- */

/* A table under way: a column for each field with a heading. */
typedef struct field_sheet {
  const field *fields;
  unsigned only;
  hd_text_table *table;
  size_t rows;
} field_sheet;
/* With its head, and a rule below it. `only`: the optional columns that are wanted. */
field_sheet report_sheet(const field *fields, unsigned only);
field_sheet report_list(const field *fields); /* its head has no rule */
void report_sheet_row(field_sheet *s, const void *row);
/* Append it and free it. */
void report_put_sheet(field_sheet *s, hd_buf *out);
/* All of it at once. */
void report_put_rows(const field *fields, const void *rows, size_t n, size_t size, hd_buf *out);
void report_put_bare_rows(const field *fields, const void *rows, size_t n, size_t size,
                          hd_buf *out); /* no head */
/* A line for each field that is not absent: its heading, indented by two, and its value. */
void report_put_lines(const field *fields, const void *row, hd_buf *out);
/* The same in Markdown: the head with its rule, and a row. */
void report_put_markdown_head(const field *fields, hd_buf *out);
void report_put_markdown_row(const field *fields, const void *row, hd_buf *out);

/* ---- CSV ------------------------------------------------------------------------------------------ */

/* The keys, and a row of values. Plans are quoted. */
void report_put_csv_head(const field *fields, hd_buf *out);
void report_put_csv_row(const field *fields, const void *row, hd_buf *out);

#endif
