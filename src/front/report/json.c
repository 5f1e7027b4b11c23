#include "report/json.h"

#include <math.h>
#include <stdlib.h>

void report_put_json(json_t *j, hd_buf *out) {
  char *text = j ? json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;
  json_decref(j);
  if (text) {
    hd_buf_puts(out, text);
    hd_buf_putc(out, '\n');
  } else {
    out->failed = true;
  }
  free(text);
}

json_t *report_text_json(hd_buf *text) {
  json_t *j = text->failed ? NULL : json_string(text->data ? text->data : "");
  hd_buf_free(text);
  return j;
}

json_t *report_plan_json(const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  return report_text_json(&text);
}

json_t *report_number_json(double v) { return isfinite(v) ? json_real(v) : json_null(); }

json_t *report_speedup_json(const hd_speedup *s) {
  return json_pack("{s:o, s:o, s:o, s:f, s:I}", "median", report_number_json(s->median), "low",
                   report_number_json(s->low), "high", report_number_json(s->high), "confidence",
                   s->confidence, "pairs", (json_int_t)s->pairs);
}

json_t *report_counters_json(const hd_counters *c) {
  json_t *j = json_object();
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    json_object_set_new(j, f->name,
                        f->type == HD_COUNTER_REAL ? report_number_json(hd_counter_real(f, c))
                                                   : json_integer((json_int_t)hd_counter_count(f, c)));
  }
  return j;
}
