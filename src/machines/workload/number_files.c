/* Numbers out of files that other programs write: NumPy's arrays, and text. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/fill.h"

static hd_status bad(const wl_numbers *to, const char *data, size_t len, size_t at, hd_diag *d,
                     const char *what) {
  return hd_fail_at(d, HD_ERR_INPUT, to->path, data, len, at, "%s", what);
}

/* ---- NPY ---------------------------------------------------------------------------------- */

/* "\x93NUMPY", two bytes of version, the header's length in 2 bytes (version 1) or 4, a dictionary of Python
 * such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, and the elements. */
#define NPY_MAGIC "\x93NUMPY"
enum { NPY_MAGIC_BYTES = 6, NPY_MOST_HEADER = 1 << 16 };

static const char *const npy_types[] = {
    [HD_ELEM_U8] = "u1",  [HD_ELEM_S8] = "i1",   [HD_ELEM_U16] = "u2", [HD_ELEM_S16] = "i2",
    [HD_ELEM_U32] = "u4", [HD_ELEM_S32] = "i4",  [HD_ELEM_U64] = "u8", [HD_ELEM_S64] = "i8",
    [HD_ELEM_F16] = "f2", [HD_ELEM_BF16] = "V2", [HD_ELEM_F32] = "f4", [HD_ELEM_F64] = "f8"};

typedef struct npy_header {
  const char *at, *end; /* what is left of the dictionary */
  char type[8];
  bool fortran, has_type, has_shape, has_order;
  uint64_t dimensions, count;
} npy_header;

static void skip_blanks(npy_header *h) {
  while (h->at < h->end && strchr(" \t\r\n", *h->at) && *h->at) h->at++;
}

static bool take(npy_header *h, const char *word) {
  size_t n = strlen(word);
  skip_blanks(h);
  if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0) return false;
  h->at += n;
  return true;
}

/* 'text' or "text" */
static bool take_string(npy_header *h, char *out, size_t cap) {
  skip_blanks(h);
  if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
  const char quote = *h->at++, *close = memchr(h->at, quote, (size_t)(h->end - h->at));
  size_t n = close ? (size_t)(close - h->at) : cap;
  if (n >= cap) return false;
  memcpy(out, h->at, n);
  out[n] = 0;
  h->at = close + 1;
  return true;
}

/* (3, 4), (3,) or () */
static bool take_shape(npy_header *h) {
  h->count = 1;
  if (!take(h, "(")) return false;
  while (!take(h, ")")) {
    size_t n = 0;
    uint64_t v;
    skip_blanks(h);
    while (h->at + n < h->end && h->at[n] >= '0' && h->at[n] <= '9') n++;
    if (!hd_parse_u64(h->at, n, UINT64_MAX, &v) || __builtin_mul_overflow(h->count, v, &h->count))
      return false;
    h->at += n;
    h->dimensions++;
    if (!take(h, ",") && (h->at == h->end || *h->at != ')')) return false;
  }
  return true;
}

static bool take_entry(npy_header *h) {
  char key[16];
  if (!take_string(h, key, sizeof key) || !take(h, ":")) return false;
  if (strcmp(key, "descr") == 0) return h->has_type = take_string(h, h->type, sizeof h->type);
  if (strcmp(key, "shape") == 0) return h->has_shape = take_shape(h);
  if (strcmp(key, "fortran_order") != 0) return false;
  h->fortran = take(h, "True");
  return h->has_order = h->fortran || take(h, "False");
}

static bool take_dictionary(npy_header *h) {
  if (!take(h, "{")) return false;
  while (!take(h, "}")) {
    if (!take_entry(h)) return false;
    if (!take(h, ",") && (h->at == h->end || *h->at != '}')) return false;
  }
  return h->has_type && h->has_shape && h->has_order;
}

/* The elements begin at *start. */
static bool read_header(const char *data, size_t len, npy_header *h, size_t *start) {
  if (len < NPY_MAGIC_BYTES + 4 || memcmp(data, NPY_MAGIC, NPY_MAGIC_BYTES) != 0) return false;
  const unsigned char *p = (const unsigned char *)data + NPY_MAGIC_BYTES;
  const unsigned version = p[0], wide = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || len < NPY_MAGIC_BYTES + 2 + wide) return false;
  size_t n = 0;
  for (unsigned k = 0; k < wide; k++) n |= (size_t)p[2 + k] << (8 * k);
  *start = NPY_MAGIC_BYTES + 2 + wide;
  if (n > NPY_MOST_HEADER || n > len - *start) return false;
  *h = (npy_header){.at = data + *start, .end = data + *start + n};
  *start += n;
  return take_dictionary(h);
}

hd_status wl_read_npy(const char *data, size_t len, const wl_numbers *to, hd_diag *d) {
  npy_header h;
  size_t start, bytes = hd_elem_bytes(to->type);
  if (!read_header(data, len, &h, &start))
    return bad(to, NULL, 0, 0, d, "is no NumPy array of version 1 to 3");
  const bool swapped = h.type[0] == '>', known = h.type[0] == '<' || h.type[0] == '|';
  if (swapped || !known || strcmp(h.type + 1, npy_types[to->type]) != 0)
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0,
                      "holds elements of NumPy's type '%s'; buffer '%s' is %s, which is '<%s'", h.type,
                      to->buffer, hd_elem_name(to->type), npy_types[to->type]);
  if (h.fortran && h.dimensions > 1)
    return bad(to, NULL, 0, 0, d, "holds an array in Fortran's order; numpy.ascontiguousarray makes it C's");
  if (h.count != to->count)
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0, "holds %llu elements; buffer '%s' needs %llu",
                      (unsigned long long)h.count, to->buffer, (unsigned long long)to->count);
  if ((len - start) / bytes != to->count || (len - start) % bytes)
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0,
                      "is cut short or too long: %zu bytes of elements are there, %llu are announced",
                      len - start, (unsigned long long)(to->count * bytes));
  memcpy(to->out, data + start, len - start);
  return HD_OK;
}

/* ---- Text --------------------------------------------------------------------------------------- */

typedef struct csv {
  const char *data;
  size_t len, at;
  locale_t c; /* whose decimal point is one */
  const wl_numbers *to;
  uint64_t n; /* numbers so far */
} csv;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_comma(char c) { return c == ',' || c == ';'; }

/* The word at s->at, to where it ends. */
static size_t word(const csv *s, char out[64]) {
  size_t n = 0;
  const char *p = s->data + s->at;
  while (s->at + n < s->len && !is_blank(p[n]) && !is_comma(p[n]) && p[n] != '\n') n++;
  size_t kept = n < 63 ? n : 63;
  memcpy(out, p, kept);
  out[kept] = 0;
  return n;
}

static bool is_integer(const char *s) {
  s += *s == '-' || *s == '+';
  return *s && s[strspn(s, "0123456789")] == 0;
}

/* An integer of an integer type, or a decimal number, inf or nan of a float's. */
static bool number(const csv *s, const char *text, size_t n, uint64_t *bits) {
  const hd_elem type = s->to->type;
  if (n >= 64) return false;
  if (!wl_elem(type)->is_float) {
    uint64_t v;
    const bool minus = *text == '-';
    if (!is_integer(text) ||
        !hd_parse_u64(text + (minus || *text == '+'), n - (minus || *text == '+'), UINT64_MAX, &v))
      return false;
    if (!minus && v > INT64_MAX) {
      *bits = v;
      return type == HD_ELEM_U64;
    }
    if (minus && v > (uint64_t)INT64_MAX + 1) return false;
    const int64_t value = (int64_t)(minus ? 0 - v : v);
    *bits = wl_elem_from_int(type, value);
    return wl_elem_holds(type, value);
  }
  char *end;
  const char *digits = text + (*text == '-' || *text == '+');
  if (*digits != '.' && (*digits < '0' || *digits > '9') && strcasecmp(digits, "inf") != 0 &&
      strcasecmp(digits, "nan") != 0)
    return false;
  const double v = strtod_l(text, &end, s->c);
  *bits = wl_elem_from_double(type, v);
  return end > text && !*end && !strpbrk(text, "xXpP");
}

static hd_status put(csv *s, const char *text, size_t n, hd_diag *d) {
  uint64_t bits;
  if (!number(s, text, n, &bits))
    return hd_fail_at(d, HD_ERR_INPUT, s->to->path, s->data, s->len, s->at, "'%.40s' is no number of type %s",
                      text, hd_elem_name(s->to->type));
  if (s->n == s->to->count)
    return hd_fail_at(d, HD_ERR_INPUT, s->to->path, s->data, s->len, s->at,
                      "here is one number more than the %llu of buffer '%s'",
                      (unsigned long long)s->to->count, s->to->buffer);
  const unsigned bytes = hd_elem_bytes(s->to->type);
  memcpy((char *)s->to->out + s->n++ * bytes, &bits,
         bytes); /* little-endian: the low bytes are the element */
  return HD_OK;
}

/* One line: its numbers, or that of the column, from s->at to behind its end. */
static hd_status line(csv *s, uint64_t column, hd_diag *d) {
  const size_t begin = s->at;
  uint64_t found = 0;
  bool after_comma = false, any = false;
  hd_status st = HD_OK;
  for (; st == HD_OK && s->at < s->len && s->data[s->at] != '\n';) {
    char text[64];
    if (is_blank(s->data[s->at])) {
      s->at++;
    } else if (is_comma(s->data[s->at])) {
      if (after_comma || !found)
        return bad(s->to, s->data, s->len, s->at, d, "a number is missing before this comma");
      after_comma = true;
      s->at++;
    } else {
      size_t n = word(s, text);
      if (column == UINT64_MAX || column == found) st = put(s, text, n, d);
      any |= column == found;
      found++;
      after_comma = false;
      if (st == HD_OK) s->at += n;
    }
  }
  if (st == HD_OK && found && column != UINT64_MAX && !any)
    return hd_fail_at(d, HD_ERR_INPUT, s->to->path, s->data, s->len, begin,
                      "this line has no column %llu, counted from 0", (unsigned long long)column);
  s->at += st == HD_OK && s->at < s->len;
  return st;
}

static void skip_line(csv *s) {
  const char *end = memchr(s->data + s->at, '\n', s->len - s->at);
  s->at = end ? (size_t)(end + 1 - s->data) : s->len;
}

static bool begins_with_number(const csv *s) {
  char text[64];
  uint64_t bits;
  csv first = *s;
  while (first.at < first.len && is_blank(first.data[first.at])) first.at++;
  size_t n = word(&first, text);
  return n == 0 || number(&first, text, n, &bits) || strchr("+-.0123456789", text[0]);
}

hd_status wl_read_csv(const char *data, size_t len, uint64_t column, const wl_numbers *to, hd_diag *d) {
  csv s = {.data = data, .len = len, .to = to, .c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
  hd_status st = s.c ? HD_OK : hd_nomem(d);
  if (st == HD_OK && len && data[0] != '#' && !begins_with_number(&s)) skip_line(&s);
  while (st == HD_OK && s.at < len) {
    if (data[s.at] == '#')
      skip_line(&s);
    else
      st = line(&s, column, d);
  }
  if (st == HD_OK && s.n != to->count)
    st = hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0, "holds %llu numbers; buffer '%s' needs %llu",
                    (unsigned long long)s.n, to->buffer, (unsigned long long)to->count);
  if (s.c) freelocale(s.c);
  return st;
}
