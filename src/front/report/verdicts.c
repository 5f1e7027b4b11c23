/* Verdicts as a table. */
#include <time.h>

#include "heddle/results.h"
#include "report/fields.h"

static void put_plan(const void *row, hd_buf *out) {
  const hd_verdict *v = row;
  hd_buf_puts(out, v->plan);
  if (v->assume[0]) hd_buf_printf(out, " (%s)", v->assume);
}
static void put_interval(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%.3f-%.3f", ((const hd_verdict *)row)->low, ((const hd_verdict *)row)->high);
}
static void put_date(const void *row, hd_buf *out) {
  char date[32];
  struct tm tm;
  const time_t when = (time_t)((const hd_verdict *)row)->when;
  if (gmtime_r(&when, &tm) && strftime(date, sizeof date, "%Y-%m-%d", &tm)) hd_buf_puts(out, date);
}

static const field verdict_fields[] = {
    {.heading = "name", MEMBER(hd_verdict, name)},
    {.heading = "plan", .put = put_plan},
    {.heading = "speedup", .kind = FIELD_RATIO, .decimals = 3, MEMBER(hd_verdict, speedup)},
    {.heading = "99%", .align = 'r', .put = put_interval},
    {.heading = "of", MEMBER(hd_verdict, basis)},
    {.heading = "default us", .decimals = 1, MEMBER(hd_verdict, before_us)},
    {.heading = "plan us", .decimals = 1, MEMBER(hd_verdict, after_us)},
    {.heading = "GPU", MEMBER(hd_verdict, key.gpu)},
    {.heading = "driver", MEMBER(hd_verdict, key.driver)},
    {.heading = "made", .put = put_date},
    {0},
};

static bool put_row(void *sheet, const hd_verdict *v) {
  report_sheet_row(sheet, v);
  return true;
}

hd_status hd_verdicts_text(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d) {
  field_sheet sheet = report_sheet(verdict_fields, 0);
  hd_buf table = {0};
  hd_status st = hd_store_each(s, f, put_row, &sheet, d);
  report_put_sheet(&sheet, &table);
  if (st == HD_OK && table.failed) st = hd_nomem(d);
  if (st == HD_OK && sheet.rows) hd_buf_put(out, table.data, table.len);
  if (st == HD_OK && !sheet.rows) hd_buf_puts(out, "No verdicts: heddle tune and heddle bench find them.\n");
  hd_buf_free(&table);
  return st;
}
