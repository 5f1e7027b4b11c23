#include "report/json.h"

static int put(const char *text, size_t n, void *out) {
  hd_buf_put(out, text, n);
  return 0;
}

/* json_dumps leaves pieces out where memory runs out between them; a buffer says that it failed. */
void report_dump_json(json_t *j, size_t flags, hd_buf *out) {
  out->failed |= !j || json_dump_callback(j, put, out, flags) != 0;
  json_decref(j);
}

void report_put_json(json_t *j, hd_buf *out) {
  report_dump_json(j, JSON_INDENT(2) | JSON_REAL_PRECISION(10), out);
  hd_buf_putc(out, '\n');
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
