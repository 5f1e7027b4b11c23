/* A page of all that lies in a folder. The files travel in it as JSON, and its script draws them when they
 * are looked at: a page of many workloads is small and is there at once. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/report.h"
#include "page/page.h"
#include "report/folder.h"
#include "report/json.h"
#include "report/pages.h"

enum { MOST_BYTES = 4 << 20 }; /* of a file: larger ones are named only */

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

/* JSON that cannot be read is text. */
static hd_status add_file(const char *path, const char *name, hd_buf *files, hd_diag *d) {
  hd_file f;
  json_t *parsed = NULL;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  const bool small = f.len <= MOST_BYTES;
  if (small && ends_in(name, ".jsonl")) parsed = read_lines(&f);
  if (small && ends_in(name, ".json")) parsed = json_loadb(f.data, f.len, JSON_DECODE_ANY, NULL);
  json_t *text = small && !parsed ? json_stringn(f.data, f.len) : NULL;
  if (parsed)
    report_add_page_json(files, name, parsed);
  else if (text)
    page_add_text(files, name, f.data, f.len);
  else
    page_add_skipped(files, name, small ? "it is no text" : "it has more than 4 MB");
  json_decref(text);
  hd_file_close(&f);
  return files->failed ? hd_nomem(d) : HD_OK;
}

static int not_hidden(const struct dirent *e) { return e->d_name[0] != '.'; }

/* `under`: the folder's name as the page says it, with a slash; "" of the first one. */
static hd_status read_folder(const char *path, const char *under, size_t *n_files, hd_buf *files,
                             hd_diag *d) {
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
      st = read_folder(file, name, n_files, files, d);
    } else if (st == HD_OK && is_shown(name)) {
      st = add_file(file, name, files, d);
      ++*n_files;
    }
    free(entries[i]);
  }
  free(entries);
  return st;
}

hd_status hd_report_folder(const char *folder, hd_buf *out, hd_diag *d) {
  hd_buf files = {0};
  size_t n = 0;
  char line[64];
  hd_status st = read_folder(folder, "", &n, &files, d);
  if (st == HD_OK && !n)
    st = hd_fail(d, HD_ERR_USAGE, "%s: nothing lies there that a page could show", folder);
  if (st == HD_OK) {
    char *whole = realpath(folder, NULL); /* "." has a name, too */
    const char *slash = whole ? strrchr(whole, '/') : NULL, *name = slash && slash[1] ? slash + 1 : folder;
    snprintf(line, sizeof line, "heddle report, %zu file%s", n, n == 1 ? "" : "s");
    page_put(out, name, line, &files);
    free(whole);
    if (out->failed) st = hd_nomem(d);
  }
  hd_buf_free(&files);
  return st;
}
