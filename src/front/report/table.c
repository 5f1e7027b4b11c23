#include "heddle/container.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

struct hd_text_table {
  char *aligns;
  size_t columns;
  HD_VEC(char *) cells; /* NULL: a rule instead of a row's first cell */
  bool failed;
};

hd_text_table *hd_text_table_new(const char *aligns) {
  hd_text_table *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->aligns = strdup(aligns);
  t->columns = strlen(aligns);
  t->failed = !t->aligns;
  return t;
}

void hd_text_table_free(hd_text_table *t) {
  if (!t) return;
  for (size_t i = 0; i < t->cells.n; i++) free(t->cells.data[i]);
  hd_vec_free(&t->cells);
  free(t->aligns);
  free(t);
}

void hd_text_table_cell(hd_text_table *t, const char *fmt, ...) {
  char *text = NULL;
  va_list ap;
  va_start(ap, fmt);
  if (vasprintf(&text, fmt, ap) < 0) text = NULL;
  va_end(ap);
  if (!text || !hd_vec_push(&t->cells, text)) {
    free(text);
    t->failed = true;
  }
}

void hd_text_table_rule(hd_text_table *t) {
  for (size_t i = 0; i < t->columns; i++)
    if (!hd_vec_push(&t->cells, NULL)) t->failed = true;
}

/* Columns a text takes on a terminal: colour sequences and UTF-8 continuation bytes take none. */
static size_t display_width(const char *s) {
  size_t n = 0;
  while (*s) {
    if (*s == '\033') {
      while (*s && *s != 'm') s++;
      if (*s) s++;
      continue;
    }
    if (((unsigned char)*s & 0xC0) != 0x80) n++;
    s++;
  }
  return n;
}

static void put_n(hd_buf *out, char c, size_t n) {
  while (n--) hd_buf_putc(out, c);
}

void hd_text_table_print(const hd_text_table *t, hd_buf *out) {
  if (t->failed || !t->columns) {
    out->failed |= t->failed;
    return;
  }
  size_t *width = calloc(t->columns, sizeof *width);
  if (!width) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < t->cells.n; i++) {
    size_t w = t->cells.data[i] ? display_width(t->cells.data[i]) : 0;
    if (w > width[i % t->columns]) width[i % t->columns] = w;
  }
  for (size_t i = 0; i < t->cells.n; i++) {
    size_t column = i % t->columns;
    const char *cell = t->cells.data[i];
    bool last = column + 1 == t->columns;
    if (!cell) {
      put_n(out, '-', width[column]);
    } else {
      size_t pad = width[column] - display_width(cell);
      if (t->aligns[column] == 'r') put_n(out, ' ', pad);
      hd_buf_puts(out, cell);
      if (t->aligns[column] != 'r' && !last) put_n(out, ' ', pad);
    }
    if (last)
      hd_buf_putc(out, '\n');
    else
      hd_buf_puts(out, "  ");
  }
  free(width);
}

/* ---- Helpers ----------------------------------------------------------------------------- */

void report_put_head(hd_text_table *t, const char *const *names, size_t n) {
  for (size_t i = 0; t && i < n; i++) hd_text_table_cell(t, "%s", names[i]);
}

void report_put_table(hd_text_table *t, hd_buf *out) {
  if (t)
    hd_text_table_print(t, out);
  else
    out->failed = true;
  hd_text_table_free(t);
}

void report_take_cell(hd_text_table *t, hd_buf *text) {
  hd_text_table_cell(t, "%s", text->data ? text->data : "");
  t->failed |= text->failed;
  hd_buf_free(text);
}

void report_kernel_cell(hd_text_table *t, const char *symbol) {
  hd_buf text = {0};
  hd_kernel_title(symbol, false, &text);
  report_take_cell(t, &text);
}
