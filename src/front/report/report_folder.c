/* A page of all that lies in a folder. The files travel in it as JSON, and its script draws them when they
 * are looked at: a page of many workloads is small and is there at once. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/report.h"
#include "report/folder.h"
#include "report/html.h"
#include "report/page_assets.h"

/* Of a file: larger ones are named only. Of a list of objects: so many travel as columns. */
enum { MOST_BYTES = 4 << 20, LIKE_ROWS = 4 };

/* ---- JSON, made small ------------------------------------------------------------------------- */

/* Objects of a list, as one object of columns: {"$rows": n, "$columns": {key: [...]}}. NULL: out of memory.
 */
static json_t *columns_of(const json_t *list) {
  json_t *columns = json_object(), *row, *value;
  const char *key;
  size_t i, n = json_array_size(list);
  json_array_foreach(list, i, row) json_object_foreach(row, key, value) {
    json_t *column = json_object_get(columns, key);
    if (!column && json_object_set_new(columns, key, column = json_array()) != 0) column = NULL;
    while (column && json_array_size(column) < i) json_array_append_new(column, json_null());
    if (!column || json_array_append(column, value) != 0) {
      json_decref(columns);
      return NULL;
    }
  }
  json_object_foreach(columns, key, value) while (json_array_size(value) < n)
      json_array_append_new(value, json_null());
  return json_pack("{s:I, s:o}", "$rows", (json_int_t)n, "$columns", columns);
}

static bool are_objects(const json_t *list) {
  size_t i;
  json_t *row;
  json_array_foreach(list, i, row) if (!json_is_object(row)) return false;
  return json_array_size(list) >= LIKE_ROWS;
}

/* The same with its lists of objects as columns, at any depth. Takes the reference; NULL: out of memory. */
static json_t *shrink(json_t *j) {
  size_t i;
  const char *key;
  void *next;
  json_t *child;
  json_array_foreach(j, i, child) if (json_array_set_new(j, i, shrink(json_incref(child))) != 0) goto failed;
  json_object_foreach_safe(j, next, key, child) if (json_object_set_new(j, key, shrink(json_incref(child))) !=
                                                    0) goto failed;
  if (!json_is_array(j) || !are_objects(j)) return j;
  json_t *columns = columns_of(j);
  json_decref(j);
  return columns;
failed:
  json_decref(j);
  return NULL;
}

/* Within a <script>: no "<" stands in it. */
static void put_json(json_t *j, hd_buf *out) {
  char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
  if (!text) out->failed = true;
  for (const char *p = text; p && *p; p++)
    if (*p == '<')
      hd_buf_puts(out, "\\u003c");
    else
      hd_buf_putc(out, *p);
  free(text);
  json_decref(j);
}

/* ---- Files ---------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *end) {
  const size_t n = strlen(name), m = strlen(end);
  return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_shown(const char *name) {
  static const char *const ends[] = {".json", ".jsonl", ".csv", ".txt", ".md", ".ptx"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (ends_in(name, ends[i])) return true;
  return false;
}

static bool add_line(void *ctx, const json_t *line) { return json_array_append(ctx, (json_t *)line) == 0; }

/* Lines that are cut off, as by a run that was, are left out. */
static json_t *read_lines(const hd_file *f) {
  json_t *list = json_array();
  if (!list || folder_each_json(f, add_line, list)) return list;
  json_decref(list);
  return NULL;
}

/* {"name": ..., and one of "json", "text", "skipped"} */
static json_t *read_file(const char *path, const char *name, hd_status *st, hd_diag *d) {
  json_t *j = json_pack("{s:s}", "name", name), *parsed = NULL;
  hd_file f;
  if ((*st = hd_file_open(path, &f, d)) != HD_OK) return j;
  const bool small = f.len <= MOST_BYTES;
  if (small && ends_in(name, ".jsonl")) parsed = read_lines(&f);
  if (small && ends_in(name, ".json")) parsed = json_loadb(f.data, f.len, JSON_DECODE_ANY, NULL);
  json_t *text = small && !parsed ? json_stringn(f.data, f.len) : NULL;
  int bad;
  if (parsed)
    bad = json_object_set_new(j, "json", shrink(parsed));
  else if (text)
    bad = json_object_set_new(j, "text", text);
  else
    bad = json_object_set_new(j, "skipped", json_string(small ? "it is no text" : "it has more than 4 MB"));
  hd_file_close(&f);
  if (bad) *st = hd_nomem(d);
  return j;
}

static int not_hidden(const struct dirent *e) { return e->d_name[0] != '.'; }

/* `under`: the folder's name as the page says it, with a slash; "" of the first one. */
static hd_status read_folder(const char *path, const char *under, json_t *files, hd_diag *d) {
  struct dirent **entries;
  const int n = scandir(path, &entries, not_hidden, alphasort);
  if (n < 0) return hd_fail(d, HD_ERR_IO, "%s: %s", path, strerror(errno));
  hd_status st = HD_OK;
  for (int i = 0; i < n; i++) {
    char file[REPORT_PATH], name[REPORT_PATH];
    struct stat at;
    snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
    const bool is_folder = stat(file, &at) == 0 && S_ISDIR(at.st_mode);
    snprintf(name, sizeof name, "%s%s%s", under, entries[i]->d_name, is_folder ? "/" : "");
    if (st == HD_OK && is_folder && !under[0]) {
      st = read_folder(file, name, files, d);
    } else if (st == HD_OK && is_shown(name)) {
      json_t *one = read_file(file, name, &st, d);
      if (json_array_append_new(files, one) != 0 && st == HD_OK) st = hd_nomem(d);
    }
    free(entries[i]);
  }
  free(entries);
  return st;
}

hd_status hd_report_folder(const char *folder, hd_buf *out, hd_diag *d) {
  json_t *files = json_array();
  hd_status st = files ? read_folder(folder, "", files, d) : hd_nomem(d);
  if (st == HD_OK && !json_array_size(files))
    st = hd_fail(d, HD_ERR_USAGE, "%s: nothing lies there that a page could show", folder);
  if (st != HD_OK) {
    json_decref(files);
    return st;
  }
  char *whole = realpath(folder, NULL); /* "." has a name, too */
  const char *slash = whole ? strrchr(whole, '/') : NULL, *name = slash && slash[1] ? slash + 1 : folder;
  html_begin_with(out, name, page_css);
  hd_buf_puts(out, "<header><h1>");
  hd_buf_html(out, name);
  free(whole);
  hd_buf_printf(out,
                "</h1><span class=\"sub\">heddle report, %zu files</span></header><nav></nav><main></main>",
                json_array_size(files));
  hd_buf_puts(out, "<noscript>This page is drawn by its script.</noscript><script id=\"files\" "
                   "type=\"application/json\">");
  put_json(files, out);
  hd_buf_puts(out, "</script><script>");
  hd_buf_puts(out, page_js);
  hd_buf_puts(out, "</script>");
  html_end(out);
  return out->failed ? hd_nomem(d) : HD_OK;
}
