#include <stdio.h>
#include <string.h>

#include "workload/workload.h"

enum { MAX_DEPTH = 64, MAX_ARITY = 2 };

bool wl_error_set(wl_error *e, size_t offset, const char *fmt, ...) {
  e->offset = offset;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(e->message, sizeof e->message, fmt, ap);
  va_end(ap);
  return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool wl_is_identifier(const char *s, size_t n) {
  if (n == 0 || !is_letter(s[0])) return false;
  for (size_t i = 1; i < n; i++)
    if (!is_letter(s[i]) && !is_digit(s[i])) return false;
  return true;
}

/* ---- Functions ----------------------------------------------------------- */

/* Each returns NULL and sets *r, or returns the mistake. */
static const char *ceil_div(const int64_t *a, int64_t *r) {
  if (a[0] < 0 || a[1] <= 0) return "needs a >= 0 and b > 0";
  *r = a[0] / a[1] + (a[0] % a[1] != 0);
  return NULL;
}

static const char *round_up(const int64_t *a, int64_t *r) {
  int64_t n;
  const char *wrong = ceil_div(a, &n);
  if (wrong) return wrong;
  return __builtin_mul_overflow(n, a[1], r) ? "overflows 64 bits" : NULL;
}

static const char *minimum(const int64_t *a, int64_t *r) {
  *r = a[0] < a[1] ? a[0] : a[1];
  return NULL;
}

static const char *maximum(const int64_t *a, int64_t *r) {
  *r = a[0] > a[1] ? a[0] : a[1];
  return NULL;
}

static const char *pow2(const int64_t *a, int64_t *r) {
  if (a[0] < 0 || a[0] > 62) return "needs 0 <= k <= 62";
  *r = (int64_t)1 << a[0];
  return NULL;
}

static const char *log2_floor(const int64_t *a, int64_t *r) {
  if (a[0] <= 0) return "needs a > 0";
  *r = 63 - __builtin_clzll((unsigned long long)a[0]);
  return NULL;
}

typedef struct function {
  const char *name;
  unsigned arity;
  const char *(*call)(const int64_t *args, int64_t *result);
} function;

static const function FUNCTIONS[] = {
    {"ceil_div", 2, ceil_div}, {"round_up", 2, round_up}, {"min", 2, minimum},
    {"max", 2, maximum},       {"pow2", 1, pow2},         {"log2", 1, log2_floor},
};

const char *wl_functions(void) {
  return "ceil_div(a, b), round_up(a, b), min(a, b), max(a, b), pow2(k), log2(a)";
}

/* ---- Recursive descent ----------------------------------------------------- */

typedef struct parser {
  const char *text;
  size_t len, at;
  unsigned depth;
  wl_names names;
  wl_error *error;
} parser;

static char peek(parser *p) {
  while (p->at < p->len && (p->text[p->at] == ' ' || p->text[p->at] == '\t')) p->at++;
  return p->at < p->len ? p->text[p->at] : 0;
}

static bool sum(parser *p, int64_t *v);

static bool integer(parser *p, int64_t *v) {
  size_t start = p->at;
  uint64_t u;
  while (p->at < p->len && (is_letter(p->text[p->at]) || is_digit(p->text[p->at]) || p->text[p->at] == '.'))
    p->at++;
  size_t n = p->at - start;
  for (size_t i = start; i < p->at; i++)
    if (!is_digit(p->text[i]))
      return wl_error_set(p->error, start, "'%.*s' is no decimal integer", (int)(n > 40 ? 40 : n),
                          p->text + start);
  if (!hd_parse_u64(p->text + start, n, INT64_MAX, &u))
    return wl_error_set(p->error, start, "the number does not fit in 64 bits");
  *v = (int64_t)u;
  return true;
}

static bool call(parser *p, size_t start, size_t n, int64_t *v) {
  const function *f = NULL;
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
    if (strlen(FUNCTIONS[i].name) == n && memcmp(FUNCTIONS[i].name, p->text + start, n) == 0)
      f = &FUNCTIONS[i];
  if (!f)
    return wl_error_set(p->error, start, "unknown function '%.*s' (known: %s)", (int)(n > 40 ? 40 : n),
                        p->text + start, wl_functions());
  int64_t args[MAX_ARITY] = {0};
  unsigned given = 0;
  do {
    p->at++; /* ( or , */
    int64_t a = 0;
    if (!sum(p, &a)) return false;
    if (given < MAX_ARITY) args[given] = a;
    given++;
  } while (peek(p) == ',');
  if (peek(p) != ')') return wl_error_set(p->error, p->at, "expected ',' or ')'");
  p->at++;
  if (given != f->arity)
    return wl_error_set(p->error, start, "%s takes %u argument%s, not %u", f->name, f->arity,
                        f->arity == 1 ? "" : "s", given);
  const char *wrong = f->call(args, v);
  return wrong ? wl_error_set(p->error, start, "%s %s", f->name, wrong) : true;
}

static bool name(parser *p, int64_t *v) {
  size_t start = p->at;
  while (p->at < p->len && (is_letter(p->text[p->at]) || is_digit(p->text[p->at]))) p->at++;
  size_t n = p->at - start;
  if (peek(p) == '(') return call(p, start, n, v);
  for (size_t i = 0; i < p->names.n; i++)
    if (strlen(p->names.data[i].name) == n && memcmp(p->names.data[i].name, p->text + start, n) == 0) {
      *v = p->names.data[i].value;
      return true;
    }
  char known[256] = "";
  for (size_t i = 0, used = 0; i < p->names.n && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", p->names.data[i].name);
  return wl_error_set(p->error, start, "unknown name '%.*s' (%s%s)", (int)(n > 40 ? 40 : n), p->text + start,
                      p->names.n ? "this size has: " : "this size has no parameters", known);
}

static bool primary(parser *p, int64_t *v) {
  char c = peek(p);
  if (is_digit(c)) return integer(p, v);
  if (is_letter(c)) return name(p, v);
  size_t open = p->at;
  if (c != '(') {
    if (!c)
      return wl_error_set(p->error, p->at, "the expression ends where a number, a name or '(' should follow");
    return wl_error_set(p->error, p->at, "expected a number, a name or '('");
  }
  p->at++;
  if (!sum(p, v)) return false;
  if (peek(p) != ')') return wl_error_set(p->error, open, "this '(' is not closed");
  p->at++;
  return true;
}

static bool unary(parser *p, int64_t *v) {
  if (++p->depth > MAX_DEPTH) return wl_error_set(p->error, p->at, "nested deeper than %d", MAX_DEPTH);
  bool ok;
  char c = peek(p);
  size_t at = p->at;
  if (c == '-' || c == '+') {
    p->at++;
    ok = unary(p, v);
    if (ok && c == '-' && __builtin_sub_overflow((int64_t)0, *v, v))
      ok = wl_error_set(p->error, at, "'-' overflows 64 bits");
  } else {
    ok = primary(p, v);
  }
  p->depth--;
  return ok;
}

static bool product(parser *p, int64_t *v) {
  if (!unary(p, v)) return false;
  for (;;) {
    char op = peek(p);
    if (op != '*' && op != '/' && op != '%') return true;
    size_t at = p->at++;
    int64_t right = 0;
    if (!unary(p, &right)) return false;
    if (op == '*') {
      if (__builtin_mul_overflow(*v, right, v)) return wl_error_set(p->error, at, "'*' overflows 64 bits");
      continue;
    }
    if (right == 0) return wl_error_set(p->error, at, "'%c' divides by zero", op);
    if (right == -1) { /* the one division that can overflow */
      if (op == '%') {
        *v = 0;
      } else if (__builtin_sub_overflow((int64_t)0, *v, v)) {
        return wl_error_set(p->error, at, "'/' overflows 64 bits");
      }
      continue;
    }
    *v = op == '/' ? *v / right : *v % right;
  }
}

static bool sum(parser *p, int64_t *v) {
  if (!product(p, v)) return false;
  for (;;) {
    char op = peek(p);
    if (op != '+' && op != '-') return true;
    size_t at = p->at++;
    int64_t right = 0;
    if (!product(p, &right)) return false;
    if (op == '+' ? __builtin_add_overflow(*v, right, v) : __builtin_sub_overflow(*v, right, v))
      return wl_error_set(p->error, at, "'%c' overflows 64 bits", op);
  }
}

bool wl_eval(const char *text, size_t len, wl_names names, int64_t *value, wl_error *e) {
  parser p = {.text = text, .len = len, .names = names, .error = e};
  int64_t v = 0;
  if (!sum(&p, &v)) return false;
  if (peek(&p) || p.at < p.len)
    return wl_error_set(e, p.at, "expected an operator or the end of the expression");
  *value = v;
  return true;
}
