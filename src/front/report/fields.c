/* Walks tables of fields: the one place where a value becomes text, JSON or CSV. */
#include "report/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/table.h"

/* ---- Values --------------------------------------------------------------------------------------- */

/* What a field has for a row. `words` are the field's, or owned. */
typedef struct value {
  enum { ABSENT, WORDS, COUNT, NUMBER, FLAG, TREE } is;
  const char *words;
  char *owned;
  bool quoted; /* in CSV */
  int64_t count;
  double number;
  bool flag;
  bool failed;    /* out of memory */
  const void *at; /* of a TREE: what is nested there */
} value;

static value words_of(const char *words) { return (value){.is = words ? WORDS : ABSENT, .words = words}; }
static value count_of(int64_t n) { return (value){.is = COUNT, .count = n}; }
static value number_of(double x) { return (value){.is = isfinite(x) ? NUMBER : ABSENT, .number = x}; }

static value take(hd_buf *text) {
  if (text->failed) {
    hd_buf_free(text);
    return (value){.is = WORDS, .failed = true};
  }
  value v = words_of(text->data ? text->data : "");
  v.owned = text->data;
  return v;
}

static value plan_of(const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  value v = take(&text);
  v.quoted = true;
  return v;
}

/* A value that is stored: of a field, or of an element of its list. */
static value stored(field_type type, const void *at) {
  switch (type) {
  case FIELD_CHARS: return words_of(at);
  case FIELD_TEXT: return words_of(*(const char *const *)at);
  case FIELD_U32: return count_of(*(const uint32_t *)at);
  case FIELD_U64: return count_of((int64_t) * (const uint64_t *)at);
  case FIELD_INT: return count_of(*(const int *)at);
  case FIELD_REAL: return number_of(*(const double *)at);
  case FIELD_SINGLE: return number_of((double)*(const float *)at);
  case FIELD_FLAG: return (value){.is = FLAG, .flag = *(const bool *)at};
  case FIELD_PLAN: return plan_of(at);
  case FIELD_SPEEDUP: {
    value v = number_of(((const hd_speedup *)at)->median);
    return (value){.is = TREE, .number = v.number, .at = at};
  }
  case FIELD_NONE:
  case FIELD_COUNTERS:
  case FIELD_STRUCT: break;
  }
  return (value){.is = TREE, .at = at};
}

static const char *address(const field_place *p, const void *row) {
  const char *at = row;
  if (p->through) at = *(const char *const *)(const void *)(at + p->through - 1);
  return at + p->at;
}

/* What the field has for the row, `open` being what the section says that it stands in. */
static value evaluate(const field *f, const void *row, bool open) {
  if (!open || (f->when && !f->when(row))) return (value){.is = ABSENT};
  if (f->real) return number_of(f->real(row));
  if (f->count) return count_of(f->count(row));
  if (f->flag) return (value){.is = FLAG, .flag = f->flag(row)};
  if (f->text) return words_of(f->text(row));
  if (f->put) {
    hd_buf text = {0};
    f->put(row, &text);
    return take(&text);
  }
  if (f->tree || f->place.list) return (value){.is = TREE, .at = row};
  const char *at = address(&f->place, row);
  return f->has && !f->has(at) ? (value){.is = ABSENT} : stored(f->place.type, at);
}

static bool is_end(const field *f) { return !f->key && !f->heading && !f->section; }

/* A walk over a table: the fields of a form, with what each has for the row. */
typedef struct walk {
  const field *next;
  const void *row;
  bool open;
} walk;

static walk begin(const field *fields, const void *row) { return (walk){fields, row, true}; }

/* The next field that is no section; NULL: there is none. */
static const field *step(walk *w) {
  for (; !is_end(w->next); w->next++) {
    if (w->next->key || w->next->heading) return w->next++;
    w->open = !w->row || w->next->section(w->row);
  }
  return NULL;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

bool report_is_positive(const void *number) { return *(const double *)number > 0; }

bool field_always(const void *row) { return true; }

bool report_is_said(const void *words) { return *(const char *)words != 0; }

json_t *report_append(json_t *list, json_t *element) {
  if (list && json_array_append_new(list, element) == 0) return list;
  if (!list) json_decref(element);
  json_decref(list);
  return NULL;
}

json_t *report_set(json_t *object, const char *key, json_t *one) {
  if (object && json_object_set_new(object, key, one) == 0) return object;
  if (!object) json_decref(one);
  json_decref(object);
  return NULL;
}

json_t *report_pair_json(const char *a, const char *b) {
  return report_append(report_append(json_array(), report_words_json(a)), report_words_json(b));
}

json_t *report_rows_json(const field *fields, const void *rows, size_t n, size_t size) {
  json_t *list = json_array();
  for (size_t i = 0; list && i < n; i++)
    list = report_append(list, report_fields_json(fields, (const char *)rows + i * size));
  return list;
}

static json_t *value_json(const value *v) {
  switch (v->is) {
  case WORDS: return v->failed ? NULL : report_words_json(v->words);
  case COUNT: return json_integer((json_int_t)v->count);
  case NUMBER: return json_real(v->number);
  case FLAG: return json_boolean(v->flag);
  case ABSENT:
  case TREE: break;
  }
  return json_null();
}

static size_t length_of(const field_place *p, const void *row) {
  const void *at = (const char *)row + p->count_at;
  if (!p->count_size) return p->fixed;
  return p->count_size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const size_t *)at;
}

static json_t *list_json(const field *f, const void *row) {
  const field_place *p = &f->place;
  const char *at = address(p, row);
  const size_t n = length_of(p, row);
  if (p->behind) at = *(const char *const *)(const void *)at;
  if (f->of) return report_rows_json(f->of, at, n, p->size);
  json_t *list = json_array();
  for (size_t i = 0; list && i < n; i++) {
    const value v = stored(p->type, at + i * p->size);
    list = report_append(list, value_json(&v));
  }
  return list;
}

json_t *report_counters_json(const hd_counters *c, unsigned uses) {
  json_t *j = json_object();
  const bool timed = hd_counters_timed(c);
  for (size_t i = 0; j && i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (uses && !(f->uses & uses)) continue;
    if (!timed && (f->uses & HD_COUNTER_IS_TIMED)) continue;
    const value v = f->type == HD_COUNTER_REAL ? number_of(hd_counter_real(f, c))
                                               : count_of((int64_t)hd_counter_count(f, c));
    if (json_object_set_new(j, f->name, value_json(&v)) == 0) continue;
    json_decref(j);
    j = NULL;
  }
  return j;
}

static const field speedup_fields[] = {{"median", .null = true, MEMBER(hd_speedup, median)},
                                       {"low", .null = true, MEMBER(hd_speedup, low)},
                                       {"high", .null = true, MEMBER(hd_speedup, high)},
                                       {"confidence", MEMBER(hd_speedup, confidence)},
                                       {"pairs", MEMBER(hd_speedup, pairs)},
                                       {0}};

static json_t *tree_json(const field *f, const void *row, const void *at) {
  if (f->tree) return f->tree(row);
  if (f->place.list) return list_json(f, row);
  if (f->place.type == FIELD_SPEEDUP) return report_fields_json(speedup_fields, at);
  if (f->place.type == FIELD_COUNTERS) return report_counters_json(at, 0);
  return report_fields_json(f->of, at);
}

static bool set(json_t *j, const field *f, const void *row, const value *v) {
  json_t *one = v->is == TREE ? tree_json(f, row, v->at) : value_json(v);
  if (f->spread) return json_object_update_new(j, one) == 0;
  return json_object_set_new(j, f->key, one) == 0;
}

json_t *report_fields_json(const field *fields, const void *row) {
  json_t *j = json_object();
  walk w = begin(fields, row);
  for (const field *f; j && (f = step(&w));) {
    if (!f->key) continue;
    value v = evaluate(f, row, w.open);
    const bool good = (v.is == ABSENT && !(f->null && w.open)) || set(j, f, row, &v);
    free(v.owned);
    if (good) continue;
    json_decref(j);
    j = NULL;
  }
  return j;
}

void report_put_fields_json(const field *fields, const void *row, hd_buf *out) {
  report_put_json(report_fields_json(fields, row), out);
}

static void read_member(const field *f, const json_t *j, char *at) {
  const char *words = json_string_value(j);
  const double number = json_number_value(j);
  switch (f->place.type) {
  case FIELD_CHARS: snprintf(at, f->place.size, "%s", words ? words : ""); break;
  case FIELD_U32: *(uint32_t *)(void *)at = (uint32_t)number; break;
  case FIELD_U64: *(uint64_t *)(void *)at = (uint64_t)number; break;
  case FIELD_REAL: *(double *)(void *)at = number; break;
  case FIELD_FLAG: *(bool *)(void *)at = json_is_true(j); break;
  case FIELD_STRUCT: report_read_fields(f->of, j, at); break;
  default: break;
  }
}

void report_read_fields(const field *fields, const json_t *j, void *row) {
  for (const field *f = fields; !is_end(f); f++)
    if (f->key && !f->place.list && !f->place.through)
      read_member(f, json_object_get(j, f->key), (char *)row + f->place.at);
}

/* ---- Text ----------------------------------------------------------------------------------------- */

static const struct {
  double scale;
  const char *unit;
} kinds[] = {[FIELD_PLAIN] = {1, ""},
             [FIELD_RATIO] = {1, "x"},
             [FIELD_PERCENT] = {100, "%"},
             [FIELD_MEGABYTES] = {1e-6, ""},
             [FIELD_SECONDS] = {1, " s"}};

static void put_number(const field *f, double x, hd_buf *out) {
  hd_buf_printf(out, "%.*f%s", f->decimals, x * kinds[f->kind].scale, kinds[f->kind].unit);
}

static void put_value(const field *f, const void *row, bool open, hd_buf *out) {
  value v = evaluate(f, row, open);
  if (v.is == ABSENT)
    hd_buf_puts(out, f->absent ? f->absent : "-");
  else if (v.is == WORDS)
    hd_buf_puts(out, v.words ? v.words : "");
  else if (v.is == COUNT && f->kind == FIELD_PLAIN)
    hd_buf_printf(out, "%" PRId64, v.count);
  else if (v.is == FLAG)
    hd_buf_puts(out, v.flag ? "yes" : "no");
  else
    put_number(f, v.is == COUNT ? (double)v.count : v.number, out);
  out->failed |= v.failed;
  free(v.owned);
}

static bool is_column(const field *f, unsigned only) { return f->heading && (!f->only || f->only & only); }

static char align_of(const field *f) {
  if (f->align) return f->align;
  const bool words = f->text || f->put || f->place.type == FIELD_CHARS || f->place.type == FIELD_TEXT ||
                     f->place.type == FIELD_PLAN || f->place.type == FIELD_FLAG;
  return words ? 'l' : 'r';
}

static field_sheet bare_sheet(const field *fields, unsigned only) {
  field_sheet s = {.fields = fields, .only = only};
  hd_buf aligns = {0};
  walk w = begin(fields, NULL);
  for (const field *f; (f = step(&w));)
    if (is_column(f, only)) hd_buf_putc(&aligns, align_of(f));
  s.table = aligns.failed ? NULL : hd_text_table_new(aligns.data);
  hd_buf_free(&aligns);
  return s;
}

static field_sheet headed_sheet(const field *fields, unsigned only) {
  field_sheet s = bare_sheet(fields, only);
  walk w = begin(fields, NULL);
  for (const field *f; s.table && (f = step(&w));)
    if (is_column(f, only)) hd_text_table_cell(s.table, "%s", f->heading);
  return s;
}

field_sheet report_sheet(const field *fields, unsigned only) {
  field_sheet s = headed_sheet(fields, only);
  if (s.table) hd_text_table_rule(s.table);
  return s;
}

field_sheet report_list(const field *fields) { return headed_sheet(fields, 0); }

void report_sheet_row(field_sheet *s, const void *row) {
  walk w = begin(s->fields, row);
  s->rows++;
  for (const field *f; s->table && (f = step(&w));) {
    hd_buf text = {0};
    if (!is_column(f, s->only)) continue;
    put_value(f, row, w.open, &text);
    report_take_cell(s->table, &text);
  }
}

void report_put_sheet(field_sheet *s, hd_buf *out) {
  report_put_table(s->table, out);
  s->table = NULL;
}

static void fill_sheet(field_sheet *s, const void *rows, size_t n, size_t size, hd_buf *out) {
  for (size_t i = 0; i < n; i++) report_sheet_row(s, (const char *)rows + i * size);
  report_put_sheet(s, out);
}

void report_put_rows(const field *fields, const void *rows, size_t n, size_t size, hd_buf *out) {
  field_sheet s = report_sheet(fields, 0);
  fill_sheet(&s, rows, n, size, out);
}

void report_put_bare_rows(const field *fields, const void *rows, size_t n, size_t size, hd_buf *out) {
  field_sheet s = bare_sheet(fields, 0);
  fill_sheet(&s, rows, n, size, out);
}

void report_put_lines(const field *fields, const void *row, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("ll");
  walk w = begin(fields, row);
  for (const field *f; t && (f = step(&w));) {
    hd_buf text = {0};
    if (!f->heading || !w.open || (f->when && !f->when(row))) continue;
    hd_text_table_cell(t, "  %s", f->heading);
    put_value(f, row, true, &text);
    report_take_cell(t, &text);
  }
  report_put_table(t, out);
}

void report_put_markdown_head(const field *fields, hd_buf *out) {
  for (int line = 0; line < 2; line++) {
    walk w = begin(fields, NULL);
    hd_buf_putc(out, '|');
    for (const field *f; (f = step(&w));)
      if (f->heading)
        hd_buf_printf(out, " %s |", line == 0 ? f->heading : align_of(f) == 'r' ? "---:" : "---");
    hd_buf_putc(out, '\n');
  }
}

void report_put_markdown_row(const field *fields, const void *row, hd_buf *out) {
  walk w = begin(fields, row);
  hd_buf_putc(out, '|');
  for (const field *f; (f = step(&w));) {
    if (!f->heading) continue;
    hd_buf_putc(out, ' ');
    put_value(f, row, w.open, out);
    hd_buf_puts(out, " |");
  }
  hd_buf_putc(out, '\n');
}

/* ---- CSV ------------------------------------------------------------------------------------------ */

static bool is_swept(const hd_counter *c) { return c->uses & HD_COUNTER_IN_SWEEPS; }

/* Counters are as many columns. */
static void put_counters_head(hd_buf *out) {
  for (size_t k = 0; k < HD_COUNTER_FIELDS; k++)
    if (is_swept(&hd_counter_table[k])) hd_buf_printf(out, ",%s", hd_counter_table[k].name);
}

/* NULL: their cells are empty. */
static void put_counters(const hd_counters *c, hd_buf *out) {
  const bool timed = c && hd_counters_timed(c);
  for (size_t k = 0; k < HD_COUNTER_FIELDS; k++) {
    const hd_counter *f = &hd_counter_table[k];
    if (is_swept(f) && (!c || (!timed && (f->uses & HD_COUNTER_IS_TIMED))))
      hd_buf_putc(out, ',');
    else if (is_swept(f) && f->type == HD_COUNTER_REAL)
      hd_buf_printf(out, ",%.*f", f->decimals, hd_counter_real(f, c));
    else if (is_swept(f))
      hd_buf_printf(out, ",%" PRIu64, hd_counter_count(f, c));
  }
}

void report_put_csv_head(const field *fields, hd_buf *out) {
  walk w = begin(fields, NULL);
  const char *comma = "";
  for (const field *f; (f = step(&w)); comma = ",") {
    if (f->spread)
      put_counters_head(out);
    else
      hd_buf_printf(out, "%s%s", comma, f->key);
  }
  hd_buf_putc(out, '\n');
}

static void put_quoted(const char *text, hd_buf *out) {
  hd_buf_putc(out, '"');
  for (; *text; text++) hd_buf_printf(out, *text == '"' ? "\"%c" : "%c", *text);
  hd_buf_putc(out, '"');
}

/* Numbers are as they are, whatever their kind. */
static void put_plain(const field *f, const value *v, hd_buf *out) {
  if (v->is == NUMBER)
    hd_buf_printf(out, "%.*f", f->decimals, v->number);
  else if (v->is == COUNT || v->is == FLAG)
    hd_buf_printf(out, "%" PRId64, v->is == FLAG ? v->flag : v->count);
  else if (v->is == WORDS && v->words && (v->quoted || strpbrk(v->words, ",\"\n")))
    put_quoted(v->words, out);
  else if (v->is == WORDS && v->words)
    hd_buf_puts(out, v->words);
}

void report_put_csv_row(const field *fields, const void *row, hd_buf *out) {
  walk w = begin(fields, row);
  const char *comma = "";
  for (const field *f; (f = step(&w)); comma = ",") {
    value v = evaluate(f, row, w.open);
    if (f->spread) {
      put_counters(v.at, out);
    } else {
      hd_buf_puts(out, comma);
      put_plain(f, &v, out);
      out->failed |= v.failed;
    }
    free(v.owned);
  }
  hd_buf_putc(out, '\n');
}
