/* Files of a results folder: some grow by lines, the others are drawn from them. */
#include "report/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/json.h"

const char *folder_path(const char *folder, const char *name, char out[REPORT_PATH]) {
  snprintf(out, REPORT_PATH, "%s/%s", folder, name);
  return out;
}

hd_status folder_append(const char *folder, const char *name, const char *text, hd_diag *d) {
  char path[REPORT_PATH];
  return hd_file_append(folder_path(folder, name, path), text, strlen(text), d);
}

hd_status folder_append_json(const char *folder, const char *name, json_t *line, hd_diag *d) {
  hd_buf b = {0};
  report_dump_json(line, JSON_COMPACT | JSON_REAL_PRECISION(10), &b);
  hd_buf_putc(&b, '\n');
  hd_status st = b.failed ? hd_nomem(d) : folder_append(folder, name, b.data, d);
  hd_buf_free(&b);
  return st;
}

bool folder_each_json(const hd_file *f, bool (*fn)(void *ctx, const json_t *line), void *ctx) {
  bool going = true;
  for (size_t at = 0; going && at < f->len;) {
    const char *end = memchr(f->data + at, '\n', f->len - at);
    size_t len = end ? (size_t)(end - f->data) - at : f->len - at;
    json_t *j = json_loadb(f->data + at, len, 0, NULL);
    if (j) going = fn(ctx, j);
    json_decref(j);
    at += len + 1;
  }
  return going;
}

hd_status folder_each_line(const char *folder, const char *name, bool (*fn)(void *ctx, const json_t *line),
                           void *ctx, hd_diag *d) {
  char path[REPORT_PATH];
  hd_file f;
  if (access(folder_path(folder, name, path), F_OK) != 0) return HD_OK;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  bool cut = f.len && f.data[f.len - 1] != '\n';
  const bool going = folder_each_json(&f, fn, ctx);
  hd_file_close(&f);
  if (!going) return hd_nomem(d);
  return cut ? folder_append(folder, name, "\n", d) : HD_OK;
}

hd_status folder_write(const char *folder, const char *name, hd_buf *text, hd_diag *d) {
  char path[REPORT_PATH];
  hd_status st =
      text->failed ? hd_nomem(d) : hd_file_write(folder_path(folder, name, path), text->data, text->len, d);
  hd_buf_free(text);
  return st;
}
