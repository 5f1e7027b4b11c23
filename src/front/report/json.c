#include "report/json.h"

#include <string.h>

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

/* The bytes of the letter that the text begins with; 0: they are none. */
static size_t letter_of(const char *text, size_t len) {
  for (size_t n = 1; n <= 4 && n <= len; n++) {
    json_t *letter = json_stringn(text, n);
    json_decref(letter);
    if (letter) return n;
  }
  return 0;
}

json_t *report_bytes_json(const char *text, size_t len) {
  json_t *j = json_stringn(text, len);
  hd_buf b = {0};
  if (j) return j;
  for (size_t i = 0, n; i < len; i += n ? n : 1) {
    n = letter_of(text + i, len - i);
    n ? hd_buf_put(&b, text + i, n) : hd_buf_puts(&b, "\xef\xbf\xbd");
  }
  j = b.failed || !b.data ? NULL : json_stringn(b.data, b.len);
  hd_buf_free(&b);
  return j;
}

json_t *report_words_json(const char *words) { return report_bytes_json(words, strlen(words)); }

json_t *report_text_json(hd_buf *text) {
  json_t *j = text->failed ? NULL : report_words_json(text->data ? text->data : "");
  hd_buf_free(text);
  return j;
}

json_t *report_plan_json(const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  return report_text_json(&text);
}
