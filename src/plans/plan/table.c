/* Explicit orders: reading, writing, checking and inverting tables. */
#include "heddle/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void hd_table_free(hd_table *t) {
  free(t->task);
  *t = (hd_table){0};
}

static const char MAGIC[8] = "HDTABLE1";
enum { BINARY_HEADER = 16, SHOWN = 40 };

typedef struct source {
  const char *bytes;
  size_t len;
  const char *name;
  uint64_t V;
  bool binary;
  hd_diag *d;
} source;

/* ---- Text --------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next line that is not empty: *s is the start of its text, *n the text's length, *at the position behind
 * the line. False at the end. */
static bool next_entry(const char *bytes, size_t len, size_t *at, size_t *s, size_t *n) {
  while (*at < len) {
    size_t begin = *at;
    const char *newline = memchr(bytes + begin, '\n', len - begin);
    size_t end = newline ? (size_t)(newline - bytes) : len;
    *at = newline ? end + 1 : len;
    const char *comment = memchr(bytes + begin, '#', end - begin);
    if (comment) end = (size_t)(comment - bytes);
    while (begin < end && is_blank(bytes[begin])) begin++;
    while (end > begin && is_blank(bytes[end - 1])) end--;
    if (begin < end) {
      *s = begin;
      *n = end - begin;
      return true;
    }
  }
  return false;
}

/* Byte offset and line of entry `index`. */
static size_t entry_offset(const source *f, uint64_t index, uint64_t *line) {
  size_t at = 0, s = 0, n;
  for (uint64_t i = 0; i <= index && next_entry(f->bytes, f->len, &at, &s, &n); i++) {
  }
  *line = 1;
  for (size_t i = 0; i < s; i++) *line += f->bytes[i] == '\n';
  return s;
}

static bool all_digits(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (s[i] < '0' || s[i] > '9') return false;
  return n > 0;
}

static hd_status read_text(const source *f, hd_table *out) {
  HD_VEC(uint32_t) task = {0};
  size_t at = 0, s, n;
  hd_status st = HD_OK;
  while (st == HD_OK && next_entry(f->bytes, f->len, &at, &s, &n)) {
    uint64_t v;
    int shown = (int)(n < SHOWN ? n : SHOWN);
    if (!all_digits(f->bytes + s, n))
      st = hd_fail_at(f->d, HD_ERR_INPUT, f->name, f->bytes, f->len, s,
                      "'%.*s' is no task number; a line holds one decimal number", shown, f->bytes + s);
    else if (task.n == f->V)
      st = hd_fail_at(f->d, HD_ERR_REFUSED, f->name, f->bytes, f->len, s,
                      "more entries than the %" PRIu64 " tasks", f->V);
    else if (!hd_parse_u64(f->bytes + s, n, f->V - 1, &v))
      st = hd_fail_at(f->d, HD_ERR_REFUSED, f->name, f->bytes, f->len, s,
                      "task %.*s is out of range: tasks are 0 to %" PRIu64, shown, f->bytes + s, f->V - 1);
    else if (!hd_vec_push(&task, (uint32_t)v))
      st = hd_fail(f->d, HD_ERR_NOMEM, "%s: out of memory", f->name);
  }
  if (st != HD_OK) hd_vec_free(&task);
  *out = (hd_table){task.data, task.n};
  return st;
}

/* ---- Binary ------------------------------------------------------------------- */

static uint64_t little_endian(const char *bytes, unsigned n) {
  uint64_t v = 0;
  for (unsigned i = 0; i < n; i++) v |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
  return v;
}

/* A failure of the file as a whole, or of a binary entry that the message names. */
#define FAIL_FILE(f, st, ...) hd_fail_at((f)->d, st, (f)->name, NULL, 0, 0, __VA_ARGS__)

static hd_status read_binary(const source *f, hd_table *out) {
  if (f->len < BINARY_HEADER)
    return FAIL_FILE(f, HD_ERR_INPUT, "the table ends within its header of %d bytes", BINARY_HEADER);
  uint64_t count = little_endian(f->bytes + sizeof MAGIC, 8), body = f->len - BINARY_HEADER;
  if (count > body / 4 || body != count * 4)
    return FAIL_FILE(f, HD_ERR_INPUT,
                     "the header says %" PRIu64 " entries, but %" PRIu64 " bytes of entries follow", count,
                     body);
  if (count > f->V)
    return FAIL_FILE(f, HD_ERR_REFUSED, "entry %" PRIu64 ": more entries than the %" PRIu64 " tasks", f->V,
                     f->V);
  out->n = count;
  if (count == 0) return HD_OK;
  out->task = calloc((size_t)count, sizeof *out->task);
  if (!out->task) return hd_fail(f->d, HD_ERR_NOMEM, "%s: out of memory", f->name);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t v = little_endian(f->bytes + BINARY_HEADER + 4 * i, 4);
    if (v >= f->V)
      return FAIL_FILE(f, HD_ERR_REFUSED,
                       "entry %" PRIu64 ": task %" PRIu64 " is out of range: tasks are 0 to %" PRIu64, i, v,
                       f->V - 1);
    out->task[i] = (uint32_t)v;
  }
  return HD_OK;
}

/* ---- Checks ------------------------------------------------------------------- */

static bool test_and_set(uint64_t *bits, uint64_t i) {
  uint64_t bit = (uint64_t)1 << (i % 64);
  bool was = bits[i / 64] & bit;
  bits[i / 64] |= bit;
  return was;
}

static hd_status fail_repeated(const source *f, const hd_table *t, uint64_t second) {
  uint64_t first = 0;
  while (t->task[first] != t->task[second]) first++;
  uint32_t task = t->task[second];
  if (f->binary)
    return FAIL_FILE(f, HD_ERR_REFUSED,
                     "entry %" PRIu64 ": task %u is repeated, it is at entry %" PRIu64 " already", second,
                     task, first);
  uint64_t first_line, line;
  entry_offset(f, first, &first_line);
  size_t offset = entry_offset(f, second, &line);
  return hd_fail_at(f->d, HD_ERR_REFUSED, f->name, f->bytes, f->len, offset,
                    "task %u is repeated, it is on line %" PRIu64 " already", task, first_line);
}

/* Entries are in range and no more than V: if all differ and there are V of them,
 * none is missing. If there are only n, one of 0..n is missing; bits for those do,
 * so memory is in proportion to the file even when V is not. */
static hd_status check_bijection(const source *f, const hd_table *t) {
  uint64_t *seen = calloc((size_t)(t->n / 64 + 1), sizeof *seen);
  if (!seen) return hd_fail(f->d, HD_ERR_NOMEM, "%s: out of memory", f->name);
  hd_status st = HD_OK;
  for (uint64_t p = 0; p < t->n && st == HD_OK; p++)
    if (t->task[p] <= t->n && test_and_set(seen, t->task[p])) st = fail_repeated(f, t, p);
  if (st == HD_OK && t->n < f->V) {
    uint64_t missing = 0;
    while (test_and_set(seen, missing)) missing++;
    st = FAIL_FILE(f, HD_ERR_REFUSED,
                   "%" PRIu64 " entries for %" PRIu64 " tasks; task %" PRIu64 " is the first missing", t->n,
                   f->V, missing);
  }
  free(seen);
  return st;
}

hd_status hd_table_parse(const char *bytes, size_t len, const char *name, uint64_t V, hd_table *out,
                         hd_diag *d) {
  *out = (hd_table){0};
  if (V == 0 || V > UINT32_MAX)
    return hd_fail(d, HD_ERR_USAGE, "a table is for 1 to 2^32 - 1 tasks, not %" PRIu64, V);
  source f = {.bytes = bytes, .len = len, .name = name, .V = V, .d = d};
  f.binary = len >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
  hd_status st = f.binary ? read_binary(&f, out) : read_text(&f, out);
  if (st == HD_OK) st = check_bijection(&f, out);
  if (st != HD_OK) hd_table_free(out);
  return st;
}

hd_status hd_table_read(const char *path, uint64_t V, hd_table *out, hd_diag *d) {
  hd_file f;
  *out = (hd_table){0};
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  st = hd_table_parse(f.data, f.len, path, V, out, d);
  hd_file_close(&f);
  return st;
}

static void put_little_endian(hd_buf *b, uint64_t v, unsigned n) {
  for (unsigned i = 0; i < n; i++) hd_buf_putc(b, (char)(v >> (8 * i) & 0xff));
}

hd_status hd_table_write(const char *path, const hd_table *t, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_reserve(&b, BINARY_HEADER + 4 * t->n);
  hd_buf_put(&b, MAGIC, sizeof MAGIC);
  put_little_endian(&b, t->n, 8);
  for (uint64_t i = 0; i < t->n; i++) put_little_endian(&b, t->task[i], 4);
  hd_status st = b.failed ? hd_nomem(d) : hd_file_write(path, b.data, b.len, d);
  hd_buf_free(&b);
  return st;
}

hd_status hd_table_invert(const hd_table *t, hd_table *out, hd_diag *d) {
  size_t bytes;
  *out = (hd_table){0};
  if (t->n > UINT32_MAX) return hd_fail(d, HD_ERR_USAGE, "a table has fewer than 2^32 entries");
  if (!hd_mul_size((size_t)t->n, sizeof *out->task, &bytes) || !(out->task = malloc(bytes ? bytes : 1)))
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a table of %" PRIu64 " entries", t->n);
  out->n = t->n;
  memset(out->task, 0xff, bytes); /* 2^32 - 1 is no position */
  for (uint64_t p = 0; p < t->n; p++) {
    uint32_t task = t->task[p];
    if (task >= t->n || out->task[task] != UINT32_MAX) {
      hd_status st = hd_fail(d, HD_ERR_REFUSED, "entry %" PRIu64 ": task %u is %s", p, task,
                             task >= t->n ? "out of range" : "repeated");
      hd_table_free(out);
      return st;
    }
    out->task[task] = (uint32_t)p;
  }
  return HD_OK;
}
