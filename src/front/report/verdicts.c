/* Verdicts as a table. */
#include <time.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/table.h"

typedef struct verdict_rows {
  hd_text_table *table;
  size_t n;
} verdict_rows;

static bool put_row(void *ctx, const hd_verdict *v) {
  verdict_rows *rows = ctx;
  hd_text_table *t = rows->table;
  rows->n++;
  char date[32] = "";
  struct tm tm;
  time_t when = (time_t)v->when;
  if (gmtime_r(&when, &tm)) strftime(date, sizeof date, "%Y-%m-%d", &tm);
  hd_text_table_cell(t, "%s", v->name);
  hd_text_table_cell(t, v->assume[0] ? "%s (%s)" : "%s", v->plan, v->assume);
  hd_text_table_cell(t, "%.3fx", v->speedup);
  hd_text_table_cell(t, "%.3f-%.3f", v->low, v->high);
  hd_text_table_cell(t, "%s", v->basis);
  hd_text_table_cell(t, "%.1f", v->before_us);
  hd_text_table_cell(t, "%.1f", v->after_us);
  hd_text_table_cell(t, "%s", v->key.gpu);
  hd_text_table_cell(t, "%s", v->key.driver);
  hd_text_table_cell(t, "%s", date);
  return true;
}

hd_status hd_verdicts_text(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d) {
  static const char *const head[] = {"name",       "plan",    "speedup", "99%",    "of",
                                     "default us", "plan us", "GPU",     "driver", "made"};
  hd_text_table *t = hd_text_table_new("llrrlrrlll");
  verdict_rows rows = {t, 0};
  if (!t) return hd_nomem(d);
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  hd_status st = hd_store_each(s, f, put_row, &rows, d);
  if (st == HD_OK && rows.n) hd_text_table_print(t, out);
  if (st == HD_OK && !rows.n) hd_buf_puts(out, "No verdicts: heddle tune and heddle bench find them.\n");
  hd_text_table_free(t);
  return st;
}
