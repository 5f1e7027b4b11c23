#include "heddle/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hd_vec_grow_(void **data, size_t *cap, size_t need, size_t elem) {
  size_t want = *cap ? *cap * 2 : 16;
  if (want < need) want = need;
  size_t bytes;
  if (!hd_mul_size(want, elem, &bytes)) return false;
  void *p = realloc(*data, bytes);
  if (!p) return false;
  *data = p;
  *cap = want;
  return true;
}

void hd_buf_free(hd_buf *b) {
  free(b->data);
  memset(b, 0, sizeof *b);
}

void hd_buf_clear(hd_buf *b) {
  b->len = 0;
  b->failed = false;
  if (b->data) b->data[0] = 0;
}

bool hd_buf_reserve(hd_buf *b, size_t extra) {
  size_t need;
  if (b->failed || !hd_add_size(b->len, extra, &need) || !hd_add_size(need, 1, &need)) {
    b->failed = true;
    return false;
  }
  if (need <= b->cap && b->data) return true;
  if (!hd_vec_grow_((void **)&b->data, &b->cap, need, 1)) {
    b->failed = true;
    return false;
  }
  return true;
}

void hd_buf_put(hd_buf *b, const char *s, size_t n) {
  if (!hd_buf_reserve(b, n)) return;
  memcpy(b->data + b->len, s, n);
  b->len += n;
  b->data[b->len] = 0;
}

void hd_buf_puts(hd_buf *b, const char *s) { hd_buf_put(b, s, strlen(s)); }

void hd_buf_html(hd_buf *b, const char *s) {
  for (; *s; s++) switch (*s) {
    case '<': hd_buf_puts(b, "&lt;"); break;
    case '>': hd_buf_puts(b, "&gt;"); break;
    case '&': hd_buf_puts(b, "&amp;"); break;
    case '"': hd_buf_puts(b, "&quot;"); break;
    default: hd_buf_putc(b, *s);
    }
}

/* TOML wants 0x7f escaped, JSON allows it. */
void hd_buf_quote(hd_buf *b, const char *s, size_t n) {
  hd_buf_putc(b, '"');
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\')
      hd_buf_printf(b, "\\%c", c);
    else if (c == '\n')
      hd_buf_puts(b, "\\n");
    else if (c < ' ' || c == 0x7f)
      hd_buf_printf(b, "\\u%04x", c);
    else
      hd_buf_putc(b, (char)c);
  }
  hd_buf_putc(b, '"');
}

void hd_buf_printf(hd_buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0 || !hd_buf_reserve(b, (size_t)n)) {
    b->failed = true;
    return;
  }
  va_start(ap, fmt);
  vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
  va_end(ap);
  b->len += (size_t)n;
}

bool hd_parse_u64(const char *s, size_t n, uint64_t max, uint64_t *out) {
  if (n == 0) return false;
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] < '0' || s[i] > '9') return false;
    if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
      return false;
  }
  if (v > max) return false;
  *out = v;
  return true;
}

unsigned hd_edit_distance(const char *a, const char *b) {
  enum { MAX_NAME = 64 }; /* letters of each that are compared */
  unsigned row[MAX_NAME + 1], n = (unsigned)strnlen(b, MAX_NAME);
  for (unsigned k = 0; k <= n; k++) row[k] = k;
  for (unsigned i = 1; a[i - 1] && i <= MAX_NAME; i++) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (unsigned k = 1; k <= n; k++) {
      unsigned above = row[k], best = diagonal + (a[i - 1] != b[k - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
      row[k] = best;
      diagonal = above;
    }
  }
  return row[n];
}

uint64_t hd_hash(const void *p, size_t n) {
  const unsigned char *s = p;
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * 0x100000001b3ull;
  return h ^ (h >> 29);
}

void hd_suggest(const char *const *names, size_t n, size_t few, const char *wanted, hd_buf *out) {
  const unsigned far = (unsigned)(strlen(wanted) + 1) / 2;
  unsigned nearest = far;
  for (size_t i = 0; i < n; i++)
    if (hd_edit_distance(names[i], wanted) < nearest) nearest = hd_edit_distance(names[i], wanted);
  const size_t before = out->len;
  for (size_t i = 0; i < n; i++)
    if (n <= few || strstr(names[i], wanted) ||
        (nearest < far && hd_edit_distance(names[i], wanted) == nearest))
      hd_buf_printf(out, "%s%s", out->len > before ? ", " : "", names[i]);
}

/* The next word of a list, without a number behind a colon; false: there is none. */
static bool next_word(const char **at, char out[HD_NEAR / 2]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  for (const char *p = *at; *p; *at = p) {
    p += strcspn(p, letters);
    const size_t n = strspn(p, letters), used = n < HD_NEAR / 2 ? n : HD_NEAR / 2 - 1;
    memcpy(out, p, used);
    out[used] = 0;
    for (p += n; *p && !strchr(",| ", *p);) p++;
    if (n && strcmp(out, "or") != 0) {
      *at = p;
      return true;
    }
  }
  return false;
}

/* Is the word among those behind "did you mean"? */
static bool is_said(const char *said, const char *word) {
  const size_t n = strlen(word);
  for (const char *p = said; (p = strstr(p, word)); p++)
    if (p[-1] == ' ' && (!p[n] || p[n] == ' ')) return true;
  return false;
}

const char *hd_near(const char *words, const char *wanted, size_t n, char out[HD_NEAR]) {
  char name[HD_NEAR / 2], word[HD_NEAR / 2];
  const char *colon = memchr(wanted, ':', n), *at = words;
  if (colon) n = (size_t)(colon - wanted);
  snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), wanted);
  const unsigned far = strlen(name) == 2 ? 2 : (unsigned)(strlen(name) + 1) / 2;
  unsigned least = far;
  while (next_word(&at, word))
    if (hd_edit_distance(word, name) < least) least = hd_edit_distance(word, name);
  size_t len = 0;
  out[0] = 0;
  for (at = words; least < far && next_word(&at, word);) {
    if (hd_edit_distance(word, name) != least || len + strlen(word) + 18 > HD_NEAR) continue;
    if (len && is_said(out, word)) continue;
    len += (size_t)snprintf(out + len, HD_NEAR - len, "%s%s", len ? " or " : "; did you mean ", word);
  }
  if (len) snprintf(out + len, HD_NEAR - len, "?");
  return out;
}

unsigned hd_choose(const char *words, const char *text) {
  const size_t len = strlen(text);
  unsigned k = 1;
  for (const char *p = words;; p++, k++) {
    const size_t n = strcspn(p, "|");
    if (n == len && memcmp(p, text, n) == 0) return k;
    if (!p[n]) return 0;
    p += n;
  }
}

const char *hd_alternatives(const char *words, hd_arena *a) {
  hd_buf out = {0};
  for (const char *p = words; *p; p++)
    hd_buf_puts(&out, *p != '|' ? (char[]){*p, 0} : strchr(p + 1, '|') ? ", " : " or ");
  const char *text = out.failed ? NULL : hd_arena_strndup(a, out.data ? out.data : "", out.len);
  hd_buf_free(&out);
  return text ? text : words;
}
