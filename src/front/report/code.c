/* A kernel's text with what each of its lines asked of memory, the source lines that it says it is from, and
 * its text under a plan. */
#include "report/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/fields.h"
#include "report/json.h"

enum { MOST_TEXT = 256 << 10, MOST_SOURCES = 8, NAME = 256 }; /* bytes of a text; files */

/* ---- Texts ---------------------------------------------------------------------------------------- */

typedef struct part {
  const char *text;
  size_t len;
  uint32_t first; /* line of the whole text */
} part;

/* The end of the line or of the comment that begins at p; p itself: none does. */
static const char *skip_comment(const char *p, const char *end) {
  if (end - p < 2 || p[0] != '/') return p;
  if (p[1] == '/') {
    const char *line = memchr(p, '\n', (size_t)(end - p));
    return line ? line : end;
  }
  if (p[1] != '*') return p;
  for (p += 2; end - p >= 2 && (p[0] != '*' || p[1] != '/'); p++) continue;
  return end - p >= 2 ? p + 2 : end;
}

static bool ends_word(char c) {
  return !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%", c);
}

/* Behind `.entry NAME`; NULL: it is not there. */
static const char *find_entry(const char *text, size_t len, const char *name) {
  static const char word[] = ".entry";
  const size_t n = strlen(name);
  for (const char *p = text, *end = text + len; p < end; p++) {
    const char *behind = skip_comment(p, end);
    if (behind != p) {
      p = behind - 1;
      continue;
    }
    if ((size_t)(end - p) < sizeof word + n || memcmp(p, word, sizeof word - 1) != 0) continue;
    for (p += sizeof word - 1; p < end && strchr(" \t\r\n", *p);) p++;
    if ((size_t)(end - p) > n && memcmp(p, name, n) == 0 && ends_word(p[n])) return p + n;
  }
  return NULL;
}

/* From the line of the kernel's name to that of its last brace. */
static part find_kernel(const char *text, size_t len, const char *name) {
  const char *p = find_entry(text, len, name), *end = text + len, *start = p;
  int depth = 0;
  if (!p) return (part){0};
  while (start > text && start[-1] != '\n') start--;
  for (bool opened = false; p < end && (!opened || depth); p++) {
    const char *behind = skip_comment(p, end);
    if (behind != p) {
      p = behind - 1;
      continue;
    }
    depth += (*p == '{') - (*p == '}');
    opened |= depth > 0;
  }
  uint32_t first = 1;
  for (const char *q = text; q < start; q++) first += *q == '\n';
  return (part){start, (size_t)(p - start), first};
}

static json_t *part_json(const part *p) {
  return json_pack("{s:I, s:o}", "first", (json_int_t)p->first, "text", report_bytes_json(p->text, p->len));
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

typedef struct line {
  const hd_compiled *code;
  uint32_t func;
  const hd_timeline_access *a;
} line;

static bool is_called(const void *row) { return ((const line *)row)->a->inst & HD_TRACE_CALLED; }
static bool is_own(const void *row) { return !is_called(row); }
static int64_t line_of(const void *row) {
  const line *l = row;
  const hd_ptx_func *f = &l->code->module->funcs[l->func];
  return l->a->inst < f->n_stmts ? f->stmts[l->a->inst].line : 0;
}
static hd_ptx_source source_of(const line *l) {
  return is_called(l) ? (hd_ptx_source){0} : hd_ptx_source_of(l->code->module, l->func, l->a->inst);
}
static bool has_source(const void *row) { return source_of(row).line; }
static void put_file(const void *row, hd_buf *out) {
  const hd_ptx_source s = source_of(row);
  hd_buf_put(out, s.file, s.file_len);
}
static int64_t source_line(const void *row) { return source_of(row).line; }
static bool was_called(const void *row) { return is_called(row); }

#define COUNT(member) THROUGH(line, a, hd_timeline_access, member)
static const field line_fields[] = {{"line", .when = is_own, .count = line_of},
                                    {"called", .when = is_called, .flag = was_called},
                                    {"file", .when = has_source, .put = put_file},
                                    {"source", .when = has_source, .count = source_line},
                                    {"accesses", COUNT(accesses)},
                                    {"l1_sectors", COUNT(l1_sectors)},
                                    {"l1_hits", COUNT(l1_hits)},
                                    {"l2_sectors", COUNT(l2_sectors)},
                                    {"l2_hits", COUNT(l2_hits)},
                                    {"waited", COUNT(waited)},
                                    {"throttled", COUNT(throttled)},
                                    {0}};

static json_t *lines_json(const hd_timeline *t, const hd_compiled *code, uint32_t func) {
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < t->n_accesses; i++)
    list = report_append(list, report_fields_json(line_fields, &(line){code, func, &t->accesses[i]}));
  return list;
}

/* ---- Sources -------------------------------------------------------------------------------------- */

/* PTX comes from others, and pages go to others: no name, and no link, leads out of the workload's folder. */
bool report_find_beside(const char *folder, const char *name, char path[PATH_MAX]) {
  char inside[PATH_MAX], whole[2 * PATH_MAX];
  const int n = snprintf(whole, sizeof whole, "%s/%s", folder, name);
  if (!*name || *name == '/' || n < 0 || n >= (int)sizeof whole) return false;
  if (!realpath(folder, inside) || !realpath(whole, path)) return false;
  const size_t len = strcmp(inside, "/") == 0 ? 0 : strlen(inside);
  return strncmp(path, inside, len) == 0 && path[len] == '/';
}

/* The text of a file that the kernel's lines name, if it lies beside the workload. NULL: it does not, or is
 * no text. */
static json_t *read_source(const hd_workload *w, const char *name) {
  char folder[PATH_MAX], path[PATH_MAX];
  hd_file f;
  const char *slash = strrchr(w->source, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - w->source) : 1, slash ? w->source : ".");
  const bool found = report_find_beside(w->folder, name, path) || report_find_beside(folder, name, path);
  if (!found || hd_file_open(path, &f, NULL) != HD_OK) return NULL;
  json_t *text = f.len <= MOST_TEXT ? json_stringn(f.data, f.len) : NULL;
  hd_file_close(&f);
  return text;
}

/* {file: text} of the files that the lines name. */
static json_t *sources_json(const hd_workload *w, const json_t *lines) {
  json_t *all = json_object(), *one;
  size_t i;
  json_array_foreach(lines, i, one) {
    const char *name = json_string_value(json_object_get(one, "file"));
    if (!name || strlen(name) >= NAME || json_object_get(all, name) || json_object_size(all) == MOST_SOURCES)
      continue;
    json_t *text = read_source(w, name);
    if (text) all = report_set(all, name, text);
  }
  return all;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

json_t *report_code_json(const hd_timelines *t, const hd_buf *rewritten) {
  const hd_compiled *code;
  json_t *j = json_object();
  if (hd_workload_compiled(t->workload, hd_launch_arch(NULL, 0), &code, NULL) != HD_OK) return j;
  const hd_wl_kernel *kernel = &code->kernels[code->kernel_of[t->launch]];
  const part before = find_kernel(code->text, code->len, kernel->name);
  const part after =
      rewritten && rewritten->data ? find_kernel(rewritten->data, rewritten->len, kernel->name) : (part){0};
  if (!before.text || before.len > MOST_TEXT || after.len > MOST_TEXT) return j;
  j = report_set(j, "before", part_json(&before));
  if (after.text) j = report_set(j, "after", part_json(&after));
  json_t *plans = json_array();
  for (uint32_t i = 0; plans && i < t->n; i++)
    if (!t->at[i].other_text) plans = report_append(plans, lines_json(&t->at[i], code, kernel->func));
  json_t *sources = sources_json(t->workload, json_array_get(plans, 0));
  return report_set(report_set(j, "plans", plans), "sources", sources);
}
