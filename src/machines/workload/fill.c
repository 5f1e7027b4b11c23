/* The contents of a buffer before the first launch.
 *
 * Most kinds compute element i from the seed and i alone, in integers and in IEEE operations
 * that round the same everywhere: no libm. So bytes depend neither on the machine nor on how
 * the work is cut. A kind whose elements hang together makes the whole buffer at once. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/fill.h"

typedef enum param_kind {
  PARAM_END = 0,
  PARAM_NUMBER,  /* decimal number, or an integer expression */
  PARAM_INTEGER, /* integer expression that the element type holds */
  PARAM_VALUE,   /* NUMBER for float types, INTEGER for the others */
  PARAM_COUNT,   /* integer expression, 0 or more */
  PARAM_FILE,    /* "name" */
  PARAM_EACH,    /* integer expression of the element's number i */
  PARAM_BUFFER,  /* another buffer's name */
} param_kind;

/* Elements first .. first+n-1 as numbers, n at most BLOCK; the element type rounds or cuts them. */
typedef void numbers_fn(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, double *v);
typedef void integers_fn(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, int64_t *v);
/* The same elements as bytes. */
typedef void bytes_fn(const wl_fill *f, uint64_t seed, uint64_t first, uint64_t n, unsigned size, void *out);

enum { BLOCK = 256 };

struct wl_fill_kind {
  const char *name, *form; /* form: as a user writes it */
  param_kind params[WL_FILL_PARAMS + 1];
  bool floats_only;
  const char *(*check)(const wl_fill *f, hd_elem type); /* the mistake in the parameters, or NULL */
  /* One of these makes the elements; of numbers and integers, the one of the element's kind
   * where there are both. None: the buffer is left alone. */
  numbers_fn *numbers;
  integers_fn *integers;
  bytes_fn *bytes;
  wl_whole_fn *whole;
  bool copies;    /* what another buffer holds */
  bool points;    /* to another buffer's elements */
  bool generated; /* by heddle_generate of the workload's reference.c, after everything else */
};

/* ---- Generators ------------------------------------------------------------------- */

static void zero(const wl_fill *f, uint64_t seed, uint64_t first, uint64_t n, unsigned size, void *out) {
  memset(out, 0, n * size);
}

static void value_number(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, double *v) {
  for (unsigned i = 0; i < n; i++) v[i] = f->number[0];
}

static void value_integer(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, int64_t *v) {
  for (unsigned i = 0; i < n; i++) v[i] = f->integer[0];
}

static void iota(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, int64_t *v) {
  for (unsigned i = 0; i < n; i++) v[i] = (int64_t)(first + i);
}

/* ln x for normal x > 0, to 1e-15: x = m 2^e with m in [0.7, 1.42), ln m = 2 atanh(s),
 * s = (m - 1) / (m + 1). The C library's differs from machine to machine in its last bit. */
static double natural_log(double x) {
  static const double series[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                  1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3}; /* s^25/25 < 1e-20 */
  int e;
  double m = frexp(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) { /* sqrt(1/2) */
    m *= 2;
    e--;
  }
  double s = (m - 1) / (m + 1), q = s * s, sum = 0;
  for (size_t k = 0; k < sizeof series / sizeof *series; k++) sum = (sum + series[k]) * q;
  return 2 * s * (1 + sum) + e * 0x1.62e42fefa39efp-1;
}

/* Marsaglia's polar method; each element draws from a stream of its own until a point falls
 * into the unit circle. */
static void normal(const wl_fill *f, uint64_t seed, uint64_t first, unsigned n, double *v) {
  for (unsigned i = 0; i < n; i++) {
    uint64_t stream = hd_random_at(seed, first + i), draw = 0;
    double x, y, r;
    do {
      x = 2 * wl_unit(hd_random_at(stream, draw++)) - 1;
      y = 2 * wl_unit(hd_random_at(stream, draw++)) - 1;
      r = x * x + y * y;
    } while (r >= 1 || r < 0x1p-200);
    v[i] = f->number[0] + f->number[1] * (x * sqrt(-2 * natural_log(r) / r));
  }
}

/* Byte k of the buffer is byte k % 8 of random number k / 8: the same for every type. */
static void bytes(const wl_fill *f, uint64_t seed, uint64_t first, uint64_t n, unsigned size, void *out) {
  uint64_t at = first * size;
  for (uint64_t end = at + n * size; at < end;) {
    uint64_t r = hd_random_at(seed, at / 8), skip = at % 8, take = 8 - skip;
    if (take > end - at) take = end - at;
    memcpy(out, (const char *)&r + skip, take);
    out = (char *)out + take;
    at += take;
  }
}

/* ---- The table --------------------------------------------------------------------- */

static bool finite_in(hd_elem type, double v) {
  uint64_t bits = wl_elem_from_double(type, v);
  return isfinite(wl_elem_get(type, &bits, 0)); /* little-endian: the low bytes are the element */
}

static const char *check_value(const wl_fill *f, hd_elem type) {
  return wl_elem(type)->is_float && !finite_in(type, f->number[0]) ? "the value is too large for the type"
                                                                   : NULL;
}

static const char *check_uniform(const wl_fill *f, hd_elem type) {
  if (f->number[0] > f->number[1]) return "the lower bound is above the upper one";
  return finite_in(type, f->number[0]) && finite_in(type, f->number[1]) ? NULL
                                                                        : "a bound is too large for the type";
}

static const char *check_uniform_int(const wl_fill *f, hd_elem type) {
  return f->integer[0] > f->integer[1] ? "the lower bound is above the upper one" : NULL;
}

static const char *check_sorted(const wl_fill *f, hd_elem type) {
  return wl_elem(type)->is_float ? check_uniform(f, type) : check_uniform_int(f, type);
}

static const char *check_integers(const wl_fill *f, hd_elem type) {
  return wl_elem(type)->is_float ? "the buffer should be of integers" : NULL;
}

static const char *check_addresses(const wl_fill *f, hd_elem type) {
  return type == HD_ELEM_U64 ? NULL : "addresses are u64";
}

static const char *check_normal(const wl_fill *f, hd_elem type) {
  return f->number[1] < 0 ? "the standard deviation is negative" : NULL;
}

static const wl_fill_kind KINDS[] = {
    {"none", "none", .numbers = NULL},
    {"zero", "zero", .bytes = zero},
    {"value",
     "value(v)",
     {PARAM_VALUE},
     .check = check_value,
     .numbers = value_number,
     .integers = value_integer},
    {"iota", "iota", .integers = iota},
    {"uniform",
     "uniform(low, high)",
     {PARAM_NUMBER, PARAM_NUMBER},
     true,
     check_uniform,
     .numbers = wl_uniform},
    {"uniform_int",
     "uniform_int(low, high)",
     {PARAM_INTEGER, PARAM_INTEGER},
     false,
     check_uniform_int,
     .integers = wl_uniform_int},
    {"normal", "normal(mean, sd)", {PARAM_NUMBER, PARAM_NUMBER}, true, check_normal, .numbers = normal},
    {"bytes", "bytes", .bytes = bytes},
    {"sorted", "sorted(low, high)", {PARAM_VALUE, PARAM_VALUE}, false, check_sorted, .whole = wl_fill_sorted},
    {"permutation", "permutation", .check = check_integers, .whole = wl_fill_permutation},
    {"each", "each(EXPRESSION of i)", {PARAM_EACH}, .whole = wl_fill_each},
    {"copy", "copy(BUFFER)", {PARAM_BUFFER}, .copies = true},
    {"address",
     "address(BUFFER, EXPRESSION of i)",
     {PARAM_BUFFER, PARAM_EACH},
     .check = check_addresses,
     .bytes = zero,
     .points = true},
    {"file", "file(\"NAME\")", {PARAM_FILE}, .whole = wl_fill_file},
    {"recorded",
     "recorded(\"NAME\")",
     {PARAM_FILE},
     .check = check_addresses,
     .whole = wl_fill_file,
     .points = true},
    {"column", "column(\"NAME\", k)", {PARAM_FILE, PARAM_COUNT}, .whole = wl_fill_column},
    {"generate", "generate", .bytes = zero, .generated = true},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* ---- Parsing ------------------------------------------------------------------------- */

/* [+-] digits [. digits] [e [+-] digits] with a digit somewhere before the exponent. */
static bool is_decimal(const char *s, size_t n) {
  size_t i = 0, digits = 0;
  if (i < n && (s[i] == '+' || s[i] == '-')) i++;
  for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) digits++;
  if (i < n && s[i] == '.')
    for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++) digits++;
  if (!digits) return false;
  if (i == n) return true;
  if (s[i] != 'e' && s[i] != 'E') return false;
  i++;
  if (i < n && (s[i] == '+' || s[i] == '-')) i++;
  size_t exponent = i;
  while (i < n && s[i] >= '0' && s[i] <= '9') i++;
  return i == n && i > exponent;
}

/* strtod whose decimal point does not follow the program's locale. */
bool wl_decimal(const char *s, size_t n, double *v) {
  char text[128];
  if (n >= sizeof text || !is_decimal(s, n)) return false;
  memcpy(text, s, n);
  text[n] = 0;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return false;
  *v = strtod_l(text, NULL, c);
  freelocale(c);
  return isfinite(*v);
}

/* The expression's text, and the names it may use: i, and the size's. It must have a value for 0. */
static bool each(const char *s, size_t n, wl_names names, hd_arena *arena, wl_fill *f, wl_error *e) {
  wl_name *all = HD_NEW_N(arena, names.n + 1, wl_name);
  f->text = hd_arena_strndup(arena, s, n);
  if (!all || !f->text) return wl_error_set(e, 0, "out of memory");
  all[0] = (wl_name){"i", 0};
  if (names.n) memcpy(all + 1, names.data, names.n * sizeof *all);
  f->names = (wl_names){all, names.n + 1};
  int64_t first;
  return wl_eval(s, n, f->names, &first, e);
}

/* One argument text[at..at+n), blanks around it removed. */
static bool argument(const char *text, size_t at, size_t n, param_kind kind, hd_elem type, wl_names names,
                     hd_arena *arena, wl_fill *f, unsigned i, wl_error *e) {
  const char *s = text + at;
  if (kind == PARAM_FILE) {
    if (n < 3 || s[0] != '"' || s[n - 1] != '"' || memchr(s + 1, '"', n - 2))
      return wl_error_set(e, at, "expected a file name in double quotes");
    f->file = hd_arena_strndup(arena, s + 1, n - 2);
    return f->file ? true : wl_error_set(e, at, "out of memory");
  }
  if (kind == PARAM_EACH) {
    if (each(s, n, names, arena, f, e)) return true;
    e->offset += at;
    return false;
  }
  if (kind == PARAM_BUFFER) {
    f->buffer = hd_arena_strndup(arena, s, n);
    if (!f->buffer) return wl_error_set(e, at, "out of memory");
    return wl_is_identifier(s, n) || wl_error_set(e, at, "expected the name of a buffer");
  }
  if (kind == PARAM_VALUE) kind = wl_elem(type)->is_float ? PARAM_NUMBER : PARAM_INTEGER;
  if (kind == PARAM_NUMBER && is_decimal(s, n)) {
    if (!wl_decimal(s, n, &f->number[i])) return wl_error_set(e, at, "the number is out of range");
    return true;
  }
  if (!wl_eval(s, n, names, &f->integer[i], e)) {
    e->offset += at;
    return false;
  }
  f->number[i] = (double)f->integer[i];
  if (kind == PARAM_COUNT && f->integer[i] < 0) return wl_error_set(e, at, "expected a number from 0 on");
  if (kind == PARAM_INTEGER && !wl_elem_holds(type, f->integer[i]))
    return wl_error_set(e, at, "%lld does not fit in %s", (long long)f->integer[i], hd_elem_name(type));
  return true;
}

static bool unknown_kind(const char *text, size_t at, size_t n, wl_error *e) {
  char known[400] = "";
  for (size_t i = 0, used = 0; i < N_KINDS && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", KINDS[i].form);
  return wl_error_set(e, at, "unknown fill '%.*s' (known: %s)", (int)(n > 40 ? 40 : n), text + at, known);
}

static size_t skip_blanks(const char *s, size_t at, size_t end) {
  while (at < end && (s[at] == ' ' || s[at] == '\t')) at++;
  return at;
}

/* End of the argument that starts at `at`: a ',' or the last ')' at nesting 0 and outside quotes. */
static size_t argument_end(const char *s, size_t at, size_t end) {
  int depth = 0;
  bool quoted = false;
  for (; at < end; at++) {
    if (s[at] == '"') quoted = !quoted;
    if (quoted) continue;
    if (s[at] == '(') depth++;
    if (s[at] == ')' && depth-- == 0) break;
    if (s[at] == ',' && depth == 0) break;
  }
  return at;
}

bool wl_fill_parse(const char *text, hd_elem type, wl_names names, hd_arena *arena, wl_fill *out,
                   wl_error *e) {
  memset(out, 0, sizeof *out);
  size_t end = strlen(text), at = skip_blanks(text, 0, end), start = at;
  while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\t')) end--;
  while (at < end && text[at] != '(' && text[at] != ' ' && text[at] != '\t') at++;
  size_t n = at - start;
  const wl_fill_kind *kind = NULL;
  for (size_t i = 0; i < N_KINDS; i++)
    if (strlen(KINDS[i].name) == n && memcmp(KINDS[i].name, text + start, n) == 0) kind = &KINDS[i];
  if (!kind) return unknown_kind(text, start, n, e);
  if (kind->floats_only && !wl_elem(type)->is_float)
    return wl_error_set(e, start,
                        "'%s' makes floating-point numbers, the buffer is %s; uniform_int makes integers",
                        kind->name, hd_elem_name(type));
  out->kind = kind;
  at = skip_blanks(text, at, end);
  unsigned want = 0, given = 0;
  while (kind->params[want] != PARAM_END) want++;
  if (at < end && text[at] == '(') {
    if (text[end - 1] != ')') return wl_error_set(e, end, "expected ')'");
    do {
      size_t from = skip_blanks(text, at + 1, end), to = argument_end(text, from, end);
      at = to;
      while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t')) to--;
      if (given < want &&
          !argument(text, from, to - from, kind->params[given], type, names, arena, out, given, e))
        return false;
      given++;
    } while (at < end && text[at] == ',');
    if (at + 1 != end) return wl_error_set(e, at < end ? at : end, "expected ')' and nothing after it");
  } else if (at < end) {
    return wl_error_set(e, at, "expected '(' or the end");
  }
  if (given != want) return wl_error_set(e, start, "'%s' is written %s", kind->name, kind->form);
  const char *wrong = kind->check ? kind->check(out, type) : NULL;
  return wrong ? wl_error_set(e, start, "%s: %s", kind->form, wrong) : true;
}

/* ---- Filling --------------------------------------------------------------------------- */

static bool is_elementwise(const wl_fill_kind *k) { return k->numbers || k->integers || k->bytes; }

bool wl_fill_range(const hd_workload *w, uint32_t buffer, uint64_t first, uint64_t n, void *dst) {
  const hd_wl_buffer *b = &w->buffers[buffer];
  const wl_fill *f = &((const wl_private *)w->priv)->fills[buffer];
  const wl_fill_kind *k = f->kind;
  unsigned size = hd_elem_bytes(b->type);
  if (!is_elementwise(k)) return false;
  if (k->bytes) {
    k->bytes(f, b->seed, first, n, size, dst);
    return true;
  }
  bool as_numbers = k->numbers && (wl_elem(b->type)->is_float || !k->integers);
  for (uint64_t at = 0; at < n; at += BLOCK) {
    double numbers[BLOCK];
    int64_t integers[BLOCK];
    unsigned m = n - at < BLOCK ? (unsigned)(n - at) : BLOCK;
    void *out = (char *)dst + at * size;
    if (as_numbers) {
      k->numbers(f, b->seed, first + at, m, numbers);
      wl_elem_put_doubles(b->type, numbers, m, out);
    } else {
      k->integers(f, b->seed, first + at, m, integers);
      wl_elem_put_ints(b->type, integers, m, out);
    }
  }
  return true;
}

typedef struct fill_job {
  const hd_workload *w;
  uint32_t buffer;
  unsigned workers;
  char *dst;
} fill_job;

/* Worker i of k fills the elements from count i/k up to count (i+1)/k. */
static void fill_part(void *ctx, unsigned worker) {
  const fill_job *j = ctx;
  const hd_wl_buffer *b = &j->w->buffers[j->buffer];
  uint64_t each = b->count / j->workers, first = each * worker;
  uint64_t n = worker + 1 == j->workers ? b->count - first : each;
  wl_fill_range(j->w, j->buffer, first, n, j->dst + first * hd_elem_bytes(b->type));
}

const char *wl_fill_copies(const wl_fill *f) { return f->kind->copies ? f->buffer : NULL; }

const char *wl_fill_points_to(const wl_fill *f) { return f->kind->points ? f->buffer : NULL; }

bool wl_fill_is_recorded(const wl_fill *f) { return f->kind->points && f->kind->whole; }

bool wl_fill_is_generated(const wl_fill *f) { return f->kind->generated; }

static hd_status fill_one(const hd_workload *w, uint32_t buffer, void *dst, bool *written, hd_diag *d) {
  enum { WORTH_A_THREAD = 1 << 20 }; /* elements */
  const hd_wl_buffer *b = &w->buffers[buffer];
  const wl_fill *f = &((const wl_private *)w->priv)->fills[buffer];
  *written = f->kind->whole || is_elementwise(f->kind);
  if (f->kind->whole) return f->kind->whole(w, f, b, dst, d);
  if (!*written) return HD_OK;
  uint64_t workers = b->count / WORTH_A_THREAD, cpus = hd_cpu_count();
  if (workers > cpus) workers = cpus;
  fill_job job = {w, buffer, workers > 1 ? (unsigned)workers : 1, dst};
  if (!hd_parallel(job.workers, fill_part, &job)) { /* threads could not be had: alone, then */
    job.workers = 1;
    fill_part(&job, 0);
  }
  return HD_OK;
}

hd_status hd_workload_fill(const hd_workload *w, uint32_t buffer, void *dst, bool *written, hd_diag *d) {
  if (buffer >= w->n_buffers) return hd_fail(d, HD_ERR_USAGE, "%s has no buffer number %u", w->name, buffer);
  if (wl_fill_is_generated(&((const wl_private *)w->priv)->fills[buffer]))
    return hd_fail(d, HD_ERR_USAGE, "%s: buffer '%s' is generated together with the others", w->name,
                   w->buffers[buffer].name);
  return fill_one(w, buffer, dst, written, d);
}

hd_status hd_workload_fill_all(const hd_workload *w, void *const *buffers, bool *written, hd_diag *d) {
  const wl_fill *fills = ((const wl_private *)w->priv)->fills;
  bool generated = false;
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    hd_status st = fill_one(w, i, buffers[i], &written[i], d);
    if (st != HD_OK) return st;
    generated |= wl_fill_is_generated(&fills[i]);
  }
  return generated ? wl_generate(w, buffers, written, d) : HD_OK;
}
