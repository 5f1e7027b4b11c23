#include "report/seconds.h"

#define STAGE(name)                                                                                          \
  { #name, MEMBER(hd_tune_seconds, name) }
const field report_seconds_fields[] = {
    STAGE(compile), STAGE(advice), STAGE(buffers), STAGE(tables), STAGE(load), STAGE(check),
    STAGE(time),    STAGE(move),   STAGE(proof),   STAGE(count),  {0}};

void report_put_seconds(const hd_tuning *t, hd_buf *out) {
  const char *before = " (";
  hd_buf_printf(out, ": tuned in %.1f s", t->seconds);
  for (const field *f = report_seconds_fields; f->key; f++) {
    const double seconds = *(const double *)(const void *)((const char *)&t->spent + f->place.at);
    if (seconds < 0.05) continue;
    hd_buf_printf(out, "%s%s %.1f", before, f->key, seconds);
    before = ", ";
  }
  hd_buf_puts(out, before[0] == ',' ? ")\n" : "\n");
}
