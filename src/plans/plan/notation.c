/* The notation of plans: parsing, canonical printing, equality. */
#include "plan/notation.h"

#include <inttypes.h>
#include <string.h>

/* ---- Names and forms ------------------------------------------------------------- */

/* An order's name is followed by a file, or by `least` to `most` numbers: :A, :AxB, :AxBxC. The last one of
 * most > least numbers is `absent` where it is left out. */
typedef struct order_name {
  const char *name, *usage;
  unsigned least, most;
  uint32_t absent;
  bool file;
} order_name;

static const order_name ORDERS[HD_ORDER_COUNT] = {
    [HD_ORDER_ROW] = {"row", "row"},
    [HD_ORDER_COL] = {"col", "col"},
    [HD_ORDER_BAND] = {"band", "band:H", 1, 1},
    [HD_ORDER_TILE] = {"tile", "tile:WxH or tile:WxHxL", 2, 3, 0},
    [HD_ORDER_ZIGZAG] = {"zigzag", "zigzag:A or zigzag:AxB", 1, 2, 1},
    [HD_ORDER_STRIDE] = {"stride", "stride:AxB", 2, 2},
    [HD_ORDER_HILBERT] = {"hilbert", "hilbert"},
    [HD_ORDER_REVERSE] = {"reverse", "reverse"},
    [HD_ORDER_HEAVY_FIRST] = {"heavy-first", "heavy-first"},
    [HD_ORDER_AFFINITY] = {"affinity", "affinity"},
    [HD_ORDER_TABLE] = {"table", "table:FILE", .file = true},
};

enum { MOST_NUMBERS = 3 };

static unsigned most_numbers(const order_name *o) { return o->most < MOST_NUMBERS ? o->most : MOST_NUMBERS; }

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Parsing ----------------------------------------------------------------------- */

typedef struct parser {
  const char *text;
  size_t len;
  hd_plan *plan;
  hd_diag *d;
} parser;

/* A piece of the text. */
typedef struct word {
  const char *s;
  size_t n;
} word;

/* The syntax of a lever. */
typedef struct lever_syntax lever_syntax;
struct lever_syntax {
  const char *name;
  hd_status (*parse)(const parser *, const lever_syntax *, word value);
  bool (*given)(const lever_syntax *, const hd_plan *); /* not at its default */
  bool (*equal)(const lever_syntax *, const hd_plan *, const hd_plan *);
  void (*print)(const lever_syntax *, const hd_plan *, hd_buf *); /* the value */
  size_t kind, number; /* of those by name: where in hd_plan; number 0: no value has one */
  const char *values;
  uint32_t least;
};

/* As much of a word as a one-line message has room for. */
#define SHOW(w) (int)((w).n < 64 ? (w).n : 64), (w).s
#define NEAR(words, w) hd_near(words, (w).s, (w).n, (char[HD_NEAR]){""})
#define FAIL(p, at, st, fmt, ...)                                                                            \
  hd_fail_at((p)->d, st, "", (p)->text, (p)->len, (size_t)((at) - (p)->text), "plan, column %zu: " fmt,      \
             (size_t)((at) - (p)->text) + 1, __VA_ARGS__)

static bool is(word w, const char *name) { return w.n == strlen(name) && memcmp(w.s, name, w.n) == 0; }

/* The part before the first `sep`, which *rest then follows; *rest.s is NULL when
 * there is no `sep`. */
static word split(word w, char sep, word *rest) {
  const char *at = w.n ? memchr(w.s, sep, w.n) : NULL;
  *rest = (word){NULL, 0};
  if (!at) return w;
  *rest = (word){at + 1, (size_t)(w.s + w.n - (at + 1))};
  return (word){w.s, (size_t)(at - w.s)};
}

/* `number`, a part of lever=value, from `least` up. */
static hd_status parse_number(const parser *p, const char *lever, word value, word number, uint32_t least,
                              uint32_t *out) {
  uint64_t v;
  if (!hd_parse_u64(number.s, number.n, UINT32_MAX, &v) || v < least)
    return FAIL(p, number.s, HD_ERR_INPUT, "%s=%.*s: '%.*s' is not a whole number from %u to 4294967295",
                lever, SHOW(value), SHOW(number), least);
  *out = (uint32_t)v;
  return HD_OK;
}

static hd_status write_so(const parser *p, const char *lever, word value, const char *usage) {
  return FAIL(p, value.s, HD_ERR_INPUT, "%s=%.*s: write %s", lever, SHOW(value), usage);
}

/* ---- Orders, of tasks and of threads */

static hd_status parse_order_numbers(const parser *p, const char *lever, const order_name *o, word value,
                                     word parameter, hd_order *order) {
  uint32_t *const numbers[MOST_NUMBERS] = {&order->a, &order->b, &order->c};
  const unsigned most = most_numbers(o);
  word rest = parameter;
  unsigned k = 0;
  for (; k < most && rest.s; k++) {
    word number = rest, last = {NULL, 0};
    if (k + 1 < most) number = split(rest, 'x', &last);
    if (k + 1 < o->least && !last.s)
      return FAIL(p, parameter.s, HD_ERR_INPUT, "%s=%.*s: write %s", lever, SHOW(value), o->usage);
    hd_status st = parse_number(p, lever, value, number, 1, numbers[k]);
    if (st != HD_OK) return st;
    rest = last;
  }
  if (k < most) *numbers[k] = o->absent;
  return HD_OK;
}

/* The path ends a plan's text, or before a comma. */
static hd_status parse_table(const parser *p, const char *lever, word value, word path) {
  hd_plan *plan = p->plan;
  if (path.n >= sizeof plan->table)
    return FAIL(p, path.s, HD_ERR_INPUT, "%s=%.*s: a file's name has at most %zu bytes, not %zu", lever,
                SHOW(value), sizeof plan->table - 1, path.n);
  memcpy(plan->table, path.s, path.n);
  return HD_OK;
}

#define ORDER_NAMES "row, col, band, tile, zigzag, stride, hilbert, reverse, heavy-first, affinity, table"
/* `other` says whose order it is, if it is not that of the plan's tasks, which alone can be a table. */
static hd_status parse_order(const parser *p, const char *lever, const char *other, word value,
                             hd_order *order) {
  word parameter, name = split(value, ':', &parameter);
  unsigned kind = 0;
  while (kind < HD_ORDER_COUNT && !is(name, ORDERS[kind].name)) kind++;
  if (kind == HD_ORDER_COUNT)
    return FAIL(p, value.s, HD_ERR_INPUT, "%s=%.*s: no such order; there are %s%s", lever, SHOW(value),
                ORDER_NAMES, NEAR(ORDER_NAMES, value));
  const order_name *o = &ORDERS[kind];
  if ((o->most || o->file) != (parameter.s != NULL) || (o->file && parameter.n == 0))
    return write_so(p, lever, value, o->usage);
  if (o->file && other)
    return FAIL(p, value.s, HD_ERR_INPUT, "%s=%.*s: %s cannot be a table", lever, SHOW(value), other);
  order->kind = (hd_order_kind)kind;
  return o->file ? parse_table(p, lever, value, parameter)
                 : parse_order_numbers(p, lever, o, value, parameter, order);
}

static hd_status parse_task_order(const parser *p, const lever_syntax *l, word value) {
  return parse_order(p, "order", NULL, value, &p->plan->order);
}
static hd_status parse_thread_order(const parser *p, const lever_syntax *l, word value) {
  static const char inside[] = "cta:";
  const size_t n = sizeof inside - 1;
  bool in_cta = value.n > n && memcmp(value.s, inside, n) == 0;
  hd_status st = parse_order(p, "threads", "an order of threads",
                             in_cta ? (word){value.s + n, value.n - n} : value, &p->plan->threads);
  p->plan->threads_in_cta = in_cta && p->plan->threads.kind != HD_ORDER_ROW;
  return st;
}

/* ---- Shapes */

static hd_status parse_shape(const parser *p, const lever_syntax *l, word value) {
  hd_shape *s = &p->plan->shape;
  word own, rest = split(value, ':', &own);
  unsigned n = 0;
  s->loop = is(rest, "loop") && own.s;
  if (s->loop) rest = split(own, ':', &own);
  hd_status st = HD_OK;
  s->kind = is(value, "auto") ? HD_SHAPE_AUTO : HD_SHAPE_GIVEN;
  if (s->kind == HD_SHAPE_AUTO) return HD_OK;
  for (word part; st == HD_OK && rest.s && n < COUNT(s->n); n++) {
    part = split(rest, 'x', &rest);
    st = parse_number(p, "shape", value, part, 1, &s->n[n]);
  }
  if (st == HD_OK && (n < 2 || rest.s))
    return write_so(p, "shape", value, "auto, WxH, WxHxD, WxH:ORDER, or loop:WxH");
  if (st == HD_OK && own.s) st = parse_order(p, "shape", "the kernel's own order", own, &s->own);
  return st;
}

/* ---- Names with numbers */

/* One value of a list such as "chunk|wave:N|segments[:K]". */
typedef struct value_name {
  word name; /* empty: not written */
  word usage;
  bool numbered, optional; /* a number behind a colon; it may be left out */
} value_name;

/* Value number k; false: there are fewer. */
static bool find_value(const char *values, unsigned k, value_name *out) {
  word rest = {values, strlen(values)}, one = {0};
  for (unsigned i = 0; i <= k; i++) {
    if (!rest.s) return false;
    one = split(rest, '|', &rest);
  }
  size_t plain = 0;
  while (plain < one.n && one.s[plain] != ':' && one.s[plain] != '[') plain++;
  *out = (value_name){.name = {one.s, plain},
                      .usage = one,
                      .numbered = plain < one.n,
                      .optional = plain < one.n && one.s[plain] == '['};
  return true;
}

/* "segments[:K]" is said as "segments or segments:K". */
static void put_usage(const value_name *v, hd_buf *out) {
  if (v->optional)
    hd_buf_printf(out, "%.*s or %.*s%.*s", SHOW(v->name), SHOW(v->name), (int)(v->usage.n - v->name.n - 2),
                  v->usage.s + v->name.n + 1);
  else
    hd_buf_printf(out, "%.*s", SHOW(v->usage));
}

static hd_status no_such_value(const parser *p, const lever_syntax *l, word value) {
  hd_buf list = {0};
  value_name v;
  for (unsigned k = 0; find_value(l->values, k, &v); k++) {
    if (!v.name.n) continue;
    hd_buf_puts(&list, list.len ? ", " : "");
    put_usage(&v, &list);
  }
  hd_status st = FAIL(p, value.s, HD_ERR_INPUT, "%s=%.*s: no such value; there are %s%s", l->name,
                      SHOW(value), list.data ? list.data : "others", NEAR(l->values, value));
  hd_buf_free(&list);
  return st;
}

static unsigned *kind_of(const lever_syntax *l, const hd_plan *p) {
  return (unsigned *)((char *)(uintptr_t)p + l->kind);
}
/* NULL: the lever has no values with numbers. */
static uint32_t *number_of(const lever_syntax *l, const hd_plan *p) {
  return l->number ? (uint32_t *)((char *)(uintptr_t)p + l->number) : NULL;
}

static hd_status parse_named(const parser *p, const lever_syntax *l, word value) {
  word parameter, name = split(value, ':', &parameter);
  value_name v;
  unsigned k = 0;
  while (find_value(l->values, k, &v) &&
         !(v.name.n && v.name.n == name.n && memcmp(v.name.s, name.s, name.n) == 0))
    k++;
  if (!find_value(l->values, k, &v)) return no_such_value(p, l, value);
  *kind_of(l, p->plan) = k;
  if (v.numbered ? !parameter.s && !v.optional : parameter.s != NULL) {
    hd_buf usage = {0};
    put_usage(&v, &usage);
    hd_status st = write_so(p, l->name, value, usage.data ? usage.data : "");
    hd_buf_free(&usage);
    return st;
  }
  return parameter.s ? parse_number(p, l->name, value, parameter, l->least, number_of(l, p->plan)) : HD_OK;
}

static bool named_given(const lever_syntax *l, const hd_plan *p) { return *kind_of(l, p) != 0; }

static bool named_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return *kind_of(l, a) == *kind_of(l, b) && (!l->number || *number_of(l, a) == *number_of(l, b));
}

static void print_named(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  value_name v;
  if (!find_value(l->values, *kind_of(l, p), &v)) return;
  hd_buf_put(out, v.name.s, v.name.n);
  if (v.numbered && (!v.optional || *number_of(l, p))) hd_buf_printf(out, ":%" PRIu32, *number_of(l, p));
}

/* ---- Sets of numbers: parts joined by + */

/* `number`, a part of lever=value, that a set has room for. */
static hd_status parse_member(const parser *p, const char *lever, word value, word number, uint32_t *out) {
  hd_status st = parse_number(p, lever, value, number, 0, out);
  if (st != HD_OK || *out < HD_NUMBERS) return st;
  return FAIL(p, number.s, HD_ERR_INPUT, "%s=%.*s: numbers end at %d", lever, SHOW(value), HD_NUMBERS - 1);
}

static hd_status parse_stream(const parser *p, const lever_syntax *l, word value) {
  hd_stream *s = &p->plan->stream;
  s->kind = is(value, "l1") ? HD_STREAM_L1 : is(value, "auto") ? HD_STREAM_AUTO : HD_STREAM_LOADS;
  if (s->kind != HD_STREAM_LOADS) return HD_OK;
  hd_status st = HD_OK;
  uint32_t load = 0, least = 0;
  for (word rest = value, part; st == HD_OK && rest.s;) {
    part = split(rest, '+', &rest);
    if (!part.n || *part.s < '0' || *part.s > '9')
      return write_so(p, "stream", value, "l1, auto, or load numbers: 3+7");
    st = parse_member(p, "stream", value, part, &load);
    if (st == HD_OK && load < least)
      return FAIL(p, part.s, HD_ERR_INPUT, "stream=%.*s: load numbers must increase", SHOW(value));
    if (st == HD_OK) hd_numbers_add(&s->loads, load, load);
    least = load + 1;
  }
  return st;
}

static hd_status parse_sms(const parser *p, const lever_syntax *l, word value) {
  uint32_t least = 0;
  for (word rest = value, part, last; rest.s;) {
    part = split(rest, '+', &rest);
    word first = split(part, '-', &last);
    hd_range r = {0};
    hd_status st = parse_member(p, "sms", value, first, &r.first);
    if (st == HD_OK) st = parse_member(p, "sms", value, last.s ? last : first, &r.last);
    if (st != HD_OK) return st;
    if (r.first < least || !hd_numbers_add(&p->plan->sms, r.first, r.last))
      return FAIL(p, part.s, HD_ERR_INPUT, "sms=%.*s: ranges must increase and not overlap", SHOW(value));
    least = r.last + 1;
  }
  return HD_OK;
}

/* ---- Printing and comparing levers with a syntax of their own */

static void print_order(const char *where, const hd_order *o, hd_buf *out) {
  const order_name *n = &ORDERS[o->kind];
  const uint32_t numbers[MOST_NUMBERS] = {o->a, o->b, o->c};
  hd_buf_printf(out, "%s%s", where, n->name);
  for (unsigned k = 0; k < most_numbers(n) && (k < n->least || numbers[k] != n->absent); k++)
    hd_buf_printf(out, "%c%" PRIu32, k ? 'x' : ':', numbers[k]);
}

static bool order_equal(const hd_order *x, const hd_order *y) {
  if (x->kind != y->kind) return false;
  const order_name *n = &ORDERS[x->kind];
  return (n->most < 1 || x->a == y->a) && (n->most < 2 || x->b == y->b) && (n->most < 3 || x->c == y->c);
}

static bool same_numbers(const hd_numbers *a, const hd_numbers *b) {
  return memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

static bool order_given(const lever_syntax *l, const hd_plan *p) { return p->order.kind != HD_ORDER_ROW; }
static bool tasks_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return order_equal(&a->order, &b->order) &&
         (a->order.kind != HD_ORDER_TABLE || strcmp(a->table, b->table) == 0);
}
static void print_tasks(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  print_order("", &p->order, out);
  if (p->order.kind == HD_ORDER_TABLE) hd_buf_printf(out, ":%s", p->table);
}

static bool shape_given(const lever_syntax *l, const hd_plan *p) { return p->shape.kind != HD_SHAPE_LAUNCH; }
static bool shape_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return a->shape.kind == b->shape.kind && a->shape.loop == b->shape.loop &&
         memcmp(a->shape.n, b->shape.n, sizeof a->shape.n) == 0 && order_equal(&a->shape.own, &b->shape.own);
}
void hd_shape_print(const hd_shape *s, hd_buf *out) {
  if (s->kind == HD_SHAPE_AUTO) hd_buf_puts(out, "auto");
  if (s->kind != HD_SHAPE_GIVEN) return;
  hd_buf_printf(out, "%s%" PRIu32 "x%" PRIu32, s->loop ? "loop:" : "", s->n[0], s->n[1]);
  if (s->n[2]) hd_buf_printf(out, "x%" PRIu32, s->n[2]);
  if (s->own.kind != HD_ORDER_ROW) print_order(":", &s->own, out);
}

static void print_shape(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  hd_shape_print(&p->shape, out);
}

static bool threads_given(const lever_syntax *l, const hd_plan *p) { return p->threads.kind != HD_ORDER_ROW; }
static bool threads_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return order_equal(&a->threads, &b->threads) && a->threads_in_cta == b->threads_in_cta;
}
static void print_threads(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  print_order(p->threads_in_cta ? "cta:" : "", &p->threads, out);
}

static bool stream_given(const lever_syntax *l, const hd_plan *p) { return p->stream.kind != HD_STREAM_NONE; }
static bool stream_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return a->stream.kind == b->stream.kind && same_numbers(&a->stream.loads, &b->stream.loads);
}
static void print_stream(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  const hd_stream *s = &p->stream;
  if (s->kind == HD_STREAM_L1) hd_buf_puts(out, "l1");
  if (s->kind == HD_STREAM_AUTO) hd_buf_puts(out, "auto");
  hd_range r;
  const char *before = "";
  for (uint32_t at = 0; hd_numbers_run(&s->loads, at, &r); at = r.last + 1)
    for (uint32_t load = r.first; load <= r.last; load++, before = "+")
      hd_buf_printf(out, "%s%" PRIu32, before, load);
}

static bool sms_given(const lever_syntax *l, const hd_plan *p) { return hd_numbers_count(&p->sms) != 0; }
static bool sms_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return same_numbers(&a->sms, &b->sms);
}
static void print_sms(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  hd_range r;
  const char *before = "";
  for (uint32_t at = 0; hd_numbers_run(&p->sms, at, &r); at = r.last + 1, before = "+") {
    hd_buf_printf(out, "%s%" PRIu32, before, r.first);
    if (r.last != r.first) hd_buf_printf(out, "-%" PRIu32, r.last);
  }
}

/* A name with a number, or l1:K+l2:K, whose second number is the plan's own. */
static hd_status parse_bypass(const parser *p, const lever_syntax *l, word value) {
  word second, first = split(value, '+', &second);
  hd_bypass *b = &p->plan->bypass;
  hd_status st = parse_named(p, l, first);
  if (st != HD_OK || !second.s) return st;
  hd_bypass one = *b;
  st = parse_named(p, l, second);
  if (st != HD_OK) return st;
  if (one.kind != HD_BYPASS_L1 || b->kind != HD_BYPASS_L2) return write_so(p, l->name, value, "l1:K+l2:K");
  *b = (hd_bypass){HD_BYPASS_L1_L2, one.warps, b->warps};
  return HD_OK;
}

static bool bypass_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return named_equal(l, a, b) && a->bypass.l2_warps == b->bypass.l2_warps;
}

static void print_bypass(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  print_named(l, p, out);
  if (p->bypass.kind == HD_BYPASS_L1_L2) hd_buf_printf(out, "+l2:%" PRIu32, p->bypass.l2_warps);
}

/* A name with a number, or agents:auto. */
static hd_status parse_bind(const parser *p, const lever_syntax *l, word value) {
  p->plan->agents_voted = is(value, "agents:auto");
  return parse_named(p, l, p->plan->agents_voted ? (word){value.s, strlen("agents")} : value);
}

static bool bind_equal(const lever_syntax *l, const hd_plan *a, const hd_plan *b) {
  return named_equal(l, a, b) && a->agents_voted == b->agents_voted;
}

static void print_bind(const lever_syntax *l, const hd_plan *p, hd_buf *out) {
  print_named(l, p, out);
  if (p->agents_voted) hd_buf_puts(out, ":auto");
}

/* ---- All of them */

#define NAMED .parse = parse_named, .given = named_given, .equal = named_equal, .print = print_named
#define MORE(x) .name = #x, .parse = parse_##x, .given = named_given, .equal = x##_equal, .print = print_##x

static const lever_syntax OWN_order = {"order", parse_task_order, order_given, tasks_equal, print_tasks};
static const lever_syntax OWN_shape = {"shape", parse_shape, shape_given, shape_equal, print_shape};
static const lever_syntax OWN_threads = {"threads", parse_thread_order, threads_given, threads_equal,
                                         print_threads};
static const lever_syntax OWN_stream = {"stream", parse_stream, stream_given, stream_equal, print_stream};
static const lever_syntax OWN_sms = {"sms", parse_sms, sms_given, sms_equal, print_sms};
/* By name as well, but their fields are not a setting's two words. */
static const lever_syntax OWN_bind = {MORE(bind), .kind = offsetof(hd_plan, bind),
                                      .number = offsetof(hd_plan, agents),
                                      .values = "none|redirect|agents[:N]|claim|cancel", .least = 1};
static const lever_syntax OWN_form = {
    .name = "form", NAMED, .kind = offsetof(hd_plan, form), .values = "auto|predicate|replicate"};
static const lever_syntax OWN_bypass = {MORE(bypass), .kind = offsetof(hd_plan, bypass.kind),
                                        .number = offsetof(hd_plan, bypass.warps),
                                        .values = "|l1:K|ro:K|l2:K|auto|l1:K+l2:K"};

/* A setting's words are where the type has them. */
#define HD_LEVER(field, type, list, from)                                                                    \
  _Static_assert(sizeof(type) == sizeof(hd_setting), "two words");                                           \
  static const lever_syntax OWN_##field = {.name = #field,                                                   \
                                           NAMED,                                                            \
                                           .kind = offsetof(hd_plan, field),                                 \
                                           .number =                                                         \
                                               offsetof(hd_plan, field) + offsetof(hd_setting, number),      \
                                           .values = list,                                                   \
                                           .least = from};
#include "heddle/levers.def"

static const lever_syntax *const LEVERS[] = {
#define HD_LEVER_OWN(field) &OWN_##field,
#define HD_LEVER(field, type, values, least) &OWN_##field,
#include "heddle/levers.def"
};

static const lever_syntax *find_lever(word name) {
  for (size_t i = 0; i < COUNT(LEVERS); i++)
    if (is(name, LEVERS[i]->name)) return LEVERS[i];
  return NULL;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether `at` begins "lever=". Reads no further than the longest name. */
static bool begins_pair(const char *at, const char *end) {
  for (size_t i = 0; i < COUNT(LEVERS); i++) {
    size_t n = strlen(LEVERS[i]->name);
    if ((size_t)(end - at) > n && memcmp(at, LEVERS[i]->name, n) == 0 && at[n] == '=') return true;
  }
  return false;
}

/* Where the pair that begins at `pair` ends: before a comma or at the text's end. */
static const char *pair_end(const char *pair, const char *end) {
  static const char table[] = "order=table:";
  const size_t n = sizeof table - 1;
  const bool file = (size_t)(end - pair) >= n && memcmp(pair, table, n) == 0;
  for (const char *at = pair; at < end; at++)
    if (*at == ',' && (!file || begins_pair(at + 1, end))) return at;
  return end;
}

static hd_status no_such_lever(const parser *p, const char *pair, word all, word name) {
  hd_buf list = {0};
  for (size_t i = 0; i < COUNT(LEVERS); i++) hd_buf_printf(&list, "%s%s", i ? ", " : "", LEVERS[i]->name);
  hd_status st = FAIL(p, pair, HD_ERR_INPUT, "%.*s: no lever of this name; there are %s%s", SHOW(all),
                      list.data ? list.data : "others", NEAR(list.data ? list.data : "", name));
  hd_buf_free(&list);
  return st;
}

static hd_status parse_pairs(const parser *p) {
  const lever_syntax *given[COUNT(LEVERS)];
  size_t n_given = 0;
  const char *end = p->text + p->len;
  for (const char *pair = p->text;; pair++) {
    const char *stop = pair_end(pair, end);
    word all = {pair, (size_t)(stop - pair)}, value, name = split(all, '=', &value);
    const lever_syntax *l = find_lever(name);
    if (is(all, "baseline"))
      return FAIL(p, pair, HD_ERR_INPUT, "%s stands alone, without levers", "baseline");
    if (!value.s)
      return FAIL(p, pair, HD_ERR_INPUT, "'%.*s' is no lever=value pair, such as order=col", SHOW(all));
    if (!l) return no_such_lever(p, pair, all, name);
    for (size_t i = 0; i < n_given; i++)
      if (given[i] == l)
        return FAIL(p, pair, HD_ERR_INPUT, "%.*s: the lever %s is given twice", SHOW(all), l->name);
    given[n_given++] = l;
    hd_status st = l->parse(p, l, value);
    if (st != HD_OK) return st;
    if (stop == end) return HD_OK;
    pair = stop; /* the comma */
  }
}

/* A lever whose values are listed has one of its list, and a number that is not below its least. */
static hd_status check_values(const hd_plan *p, hd_diag *d) {
  for (size_t i = 0; i < COUNT(LEVERS); i++) {
    const lever_syntax *l = LEVERS[i];
    value_name v;
    if (!l->values) continue;
    if (!find_value(l->values, *kind_of(l, p), &v))
      return hd_fail(d, HD_ERR_USAGE, "%s: there is no value %u", l->name, *kind_of(l, p));
    if (v.numbered && !v.optional && *number_of(l, p) < l->least)
      return hd_fail(d, HD_ERR_USAGE, "%s=%.*s: the number is %u, but must be at least %u", l->name,
                     SHOW(v.usage), *number_of(l, p), l->least);
  }
  return HD_OK;
}

hd_status hd_plan_check(const hd_plan *p, hd_diag *d) {
  hd_status st = plan_check_shapes(p, d);
  if (st == HD_OK) st = check_values(p, d);
  return st == HD_OK ? plan_check_rules(p, d) : st;
}

hd_status hd_plan_parse(const char *text, hd_plan *out, hd_diag *d) {
  *out = hd_plan_original;
  parser p = {.text = text, .len = strlen(text), .plan = out, .d = d};
  if (strcmp(text, "baseline") == 0) return HD_OK;
  if (p.len == 0)
    return FAIL(&p, text, HD_ERR_INPUT, "the plan is empty; the empty plan is written %s", "baseline");
  hd_status st = parse_pairs(&p);
  if (st == HD_OK) {
    hd_diag why = {0};
    st = hd_plan_check(out, &why);
    if (st != HD_OK) st = FAIL(&p, text, HD_ERR_INPUT, "%.400s", why.message);
  }
  if (st != HD_OK) *out = hd_plan_original;
  return st;
}

/* ---- Values -------------------------------------------------------------------------- */

bool hd_plan_is_baseline(const hd_plan *p) {
  for (size_t i = 0; i < COUNT(LEVERS); i++)
    if (LEVERS[i]->given(LEVERS[i], p)) return false;
  return true;
}

bool hd_plan_equal(const hd_plan *a, const hd_plan *b) {
  for (size_t i = 0; i < COUNT(LEVERS); i++)
    if (!LEVERS[i]->equal(LEVERS[i], a, b)) return false;
  return true;
}

void hd_plan_print(const hd_plan *p, hd_buf *out) {
  size_t start = out->len;
  for (size_t i = 0; i < COUNT(LEVERS); i++) {
    if (!LEVERS[i]->given(LEVERS[i], p)) continue;
    hd_buf_printf(out, "%s%s=", out->len > start ? "," : "", LEVERS[i]->name);
    LEVERS[i]->print(LEVERS[i], p, out);
  }
  if (out->len == start) hd_buf_puts(out, "baseline");
}
