/* Places of a workload file, and the values of its keys. */
#include <stdio.h>
#include <string.h>

#include "workload/reader.h"

/* ---- Places ------------------------------------------------------------------------- */

static size_t line_start(const wl_reader *r, uint32_t line) {
  size_t at = 0;
  for (uint32_t i = 1; i < line; i++) {
    const char *nl = memchr(r->text + at, '\n', r->len - at);
    if (!nl) break;
    at = (size_t)(nl + 1 - r->text);
  }
  return at;
}

/* Offset of `key` where it is given a value on the line that starts at `start`. Tables may
 * share a line: a key written twice there is ambiguous, and the line's first word stands for it. */
static size_t key_offset(const wl_reader *r, size_t start, const char *key) {
  const char *nl = memchr(r->text + start, '\n', r->len - start);
  size_t end = nl ? (size_t)(nl - r->text) : r->len, n = strlen(key), found = 0, at = 0, first = start;
  while (first < end && (r->text[first] == ' ' || r->text[first] == '\t')) first++;
  for (size_t i = start; n && i + n <= end; i++) {
    if (memcmp(r->text + i, key, n) != 0 || (i > start && wl_is_identifier(r->text + i - 1, 1))) continue;
    size_t after = i + n;
    if (after < end && r->text[after] == '"') after++;
    while (after < end && (r->text[after] == ' ' || r->text[after] == '\t')) after++;
    if (after >= end || r->text[after] != '=') continue;
    at = i;
    found++;
  }
  return found == 1 ? at : first;
}

static uint32_t line_of(const json_t *table, const char *key) {
  uint32_t line = toml_line(table, key);
  return line ? line : toml_line(table, NULL);
}

hd_status wl_bad(wl_reader *r, const json_t *table, const char *key, const char *fmt, ...) {
  char message[sizeof r->d->message];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  size_t at = key_offset(r, line_start(r, line_of(table, key)), key ? key : "");
  return hd_fail_at(r->d, HD_ERR_INPUT, r->path, r->text, r->len, at, "%s", message);
}

hd_status wl_bad_text(wl_reader *r, const json_t *table, const char *key, const char *value,
                      const wl_error *e) {
  size_t at = key_offset(r, line_start(r, line_of(table, key)), key), n = strlen(value);
  for (size_t i = at; n && n + 2 <= r->len && i <= r->len - n - 2; i++) {
    char quote = r->text[i];
    if ((quote == '"' || quote == '\'') && r->text[i + n + 1] == quote &&
        memcmp(r->text + i + 1, value, n) == 0) {
      at = i + 1 + e->offset;
      break;
    }
  }
  return hd_fail_at(r->d, HD_ERR_INPUT, r->path, r->text, r->len, at, "%s: %s", key, e->message);
}

hd_status wl_only(wl_reader *r, const json_t *table, const char *const *known) {
  hd_status st = toml_only(r->path, table, known, r->d);
  if (st == HD_OK || !r->d) return st;
  char message[sizeof r->d->message];
  snprintf(message, sizeof message, "%s", r->d->message);
  size_t start = line_start(r, r->d->line);
  return hd_fail_at(r->d, st, r->path, r->text, r->len, key_offset(r, start, ""), "%s", message);
}

/* ---- Values ------------------------------------------------------------------------- */

hd_status wl_get_string(wl_reader *r, const json_t *table, const char *key, const char *fallback,
                        const char **out) {
  const json_t *v = json_object_get(table, key);
  if (!v && fallback) {
    *out = fallback;
    return HD_OK;
  }
  if (!v) return wl_bad(r, table, NULL, "'%s' is missing", key);
  if (!json_is_string(v)) return wl_bad(r, table, key, "'%s' should be a string", key);
  const char *s = json_string_value(v);
  size_t n = json_string_length(v);
  if (n == 0) return wl_bad(r, table, key, "'%s' is empty", key);
  if (strlen(s) != n) return wl_bad(r, table, key, "'%s' holds a NUL byte", key);
  *out = hd_arena_strndup(r->arena, s, n);
  return HD_OK;
}

hd_status wl_get_integer(wl_reader *r, const json_t *table, const char *key, const json_t *v,
                         const char *what, int64_t low, int64_t high, int64_t *out) {
  wl_error e = {0};
  const char *text = json_is_string(v) ? json_string_value(v) : NULL;
  if (text) {
    if (!wl_eval(text, json_string_length(v), r->names, out, &e)) return wl_bad_text(r, table, key, text, &e);
  } else if (json_is_integer(v)) {
    *out = json_integer_value(v);
  } else {
    return wl_bad(r, table, key, "%s should be an integer or an expression in quotes", what);
  }
  if (*out >= low && *out <= high) return HD_OK;
  if (!text)
    return wl_bad(r, table, key, "%s is %lld, allowed are %lld to %lld", what, (long long)*out,
                  (long long)low, (long long)high);
  wl_error_set(&e, 0, "%s is %lld, allowed are %lld to %lld", what, (long long)*out, (long long)low,
               (long long)high);
  return wl_bad_text(r, table, key, text, &e);
}

hd_status wl_get_number(wl_reader *r, const json_t *table, const char *key, double *out) {
  const json_t *v = json_object_get(table, key);
  *out = 0;
  if (!v) return HD_OK;
  if (!json_is_number(v) || json_number_value(v) < 0)
    return wl_bad(r, table, key, "'%s' should be a number >= 0", key);
  *out = json_number_value(v);
  return HD_OK;
}

hd_status wl_get_flag(wl_reader *r, const json_t *table, const char *key, bool *out) {
  const json_t *v = json_object_get(table, key);
  if (v && !json_is_boolean(v)) return wl_bad(r, table, key, "'%s' should be true or false", key);
  *out = json_is_true(v);
  return HD_OK;
}

/* Of the words, which end with NULL, the one that `text` is; their number when it is none. */
static unsigned word_of(const char *const *words, const char *text) {
  unsigned k = 0;
  while (words[k] && strcmp(words[k], text) != 0) k++;
  return k;
}

hd_status wl_get_word(wl_reader *r, const json_t *table, const char *key, const json_t *v,
                      const char *const *words, unsigned *out) {
  *out = 0;
  if (!v) return HD_OK;
  if (!json_is_string(v)) return wl_bad(r, table, key, "'%s' should be a string", key);
  const char *text = json_string_value(v);
  *out = word_of(words, text);
  if (words[*out]) return HD_OK;
  hd_buf all = {0};
  for (unsigned i = 0; words[i]; i++) hd_buf_printf(&all, "%s\"%s\"", i ? ", " : "", words[i]);
  hd_status st =
      wl_bad(r, table, key, "'%s' is \"%.40s\", allowed are %s", key, text, all.data ? all.data : "");
  hd_buf_free(&all);
  return st;
}

hd_status wl_get_tables(wl_reader *r, const json_t *table, const char *key, size_t max, const json_t **out,
                        size_t *n) {
  *out = json_object_get(table, key);
  *n = *out ? json_array_size(*out) : 0;
  if (*out && !json_is_array(*out))
    return wl_bad(r, table, key, "'%s' should be tables, each under a line [[%s]]", key, key);
  for (size_t i = 0; i < *n; i++)
    if (!json_is_object(json_array_get(*out, i)))
      return wl_bad(r, table, key, "'%s' should be tables, each under a line [[%s]]", key, key);
  if (*n == 0) return wl_bad(r, table, NULL, "no [[%s]] is given", key);
  if (*n > max) return wl_bad(r, table, key, "%zu [[%s]] are given, at most %zu are allowed", *n, key, max);
  return HD_OK;
}

hd_status wl_get_elem(wl_reader *r, const json_t *table, const char *key, hd_elem *out) {
  const char *name = NULL;
  hd_status st = wl_get_string(r, table, key, NULL, &name);
  if (st == HD_OK && !wl_elem_parse(name, out))
    st = wl_bad(r, table, key, "unknown type '%.40s' (known: %s)", name, wl_elem_list());
  return st;
}
