#include "page/page.h"

#include <string.h>

#include "page/assets.h"

static void begin_file(hd_buf *files, const char *name) {
  hd_buf_puts(files, files->len ? ",{\"name\":" : "{\"name\":");
  hd_buf_quote(files, name, strlen(name));
}

void page_add_json(hd_buf *files, const char *name, const char *json, size_t len) {
  begin_file(files, name);
  hd_buf_puts(files, ",\"json\":");
  hd_buf_put(files, json, len);
  hd_buf_putc(files, '}');
}

static void add_words(hd_buf *files, const char *name, const char *key, const char *words, size_t len) {
  begin_file(files, name);
  hd_buf_printf(files, ",\"%s\":", key);
  hd_buf_quote(files, words, len);
  hd_buf_putc(files, '}');
}

void page_add_text(hd_buf *files, const char *name, const char *text, size_t len) {
  add_words(files, name, "text", text, len);
}

void page_add_skipped(hd_buf *files, const char *name, const char *why) {
  add_words(files, name, "skipped", why, strlen(why));
}

/* Within a <script>: no "<" stands in it. Outside of JSON's strings there is none. */
static void put_files(hd_buf *out, const hd_buf *files) {
  for (size_t i = 0; i < files->len; i++)
    if (files->data[i] == '<')
      hd_buf_puts(out, "\\u003c");
    else
      hd_buf_putc(out, files->data[i]);
  out->failed |= files->failed;
}

void page_put(hd_buf *out, const char *title, const char *line, const hd_buf *files) {
  hd_buf_puts(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  hd_buf_html(out, title);
  hd_buf_puts(out, "</title><meta name=\"viewport\" content=\"width=device-width\">"
                   "<link rel=\"icon\" href=\"data:,\"><style>");
  hd_buf_puts(out, page_css);
  hd_buf_puts(out, "</style></head><body><header><h1>");
  hd_buf_html(out, title);
  hd_buf_puts(out, "</h1><span class=\"sub\">");
  hd_buf_html(out, line);
  hd_buf_puts(out, "</span></header><nav></nav><main></main>"
                   "<noscript>This page is drawn by its script.</noscript>"
                   "<script id=\"files\" type=\"application/json\">[");
  put_files(out, files);
  hd_buf_puts(out, "]</script><script>");
  hd_buf_puts(out, page_js);
  hd_buf_puts(out, "</script></body></html>\n");
}
