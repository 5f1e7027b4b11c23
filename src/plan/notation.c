/* The notation of plans: parsing, canonical printing, equality. */
#include "heddle/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- What can be written --------------------------------------------------------- */

/* What follows an order's name. */
typedef enum form {
  FORM_NONE,
  FORM_A,      /* :A */
  FORM_AXB,    /* :AxB */
  FORM_A_OR_B, /* :A or :AxB; B is 1 when left out */
  FORM_FILE,   /* :FILE */
} form;

typedef struct order_name {
  const char *name;
  hd_order_kind kind;
  form form;
  const char *usage;
} order_name;

static const order_name ORDERS[] = {
    {"row", HD_ORDER_ROW, FORM_NONE, "row"},
    {"col", HD_ORDER_COL, FORM_NONE, "col"},
    {"band", HD_ORDER_BAND, FORM_A, "band:H"},
    {"tile", HD_ORDER_TILE, FORM_AXB, "tile:WxH"},
    {"zigzag", HD_ORDER_ZIGZAG, FORM_A_OR_B, "zigzag:A or zigzag:AxB"},
    {"stride", HD_ORDER_STRIDE, FORM_AXB, "stride:AxB"},
    {"hilbert", HD_ORDER_HILBERT, FORM_NONE, "hilbert"},
    {"reverse", HD_ORDER_REVERSE, FORM_NONE, "reverse"},
    {"table", HD_ORDER_TABLE, FORM_FILE, "table:FILE"},
};

static const char *const BINDS[] = {[HD_BIND_NONE] = "none", [HD_BIND_REDIRECT] = "redirect"};

/* Values that the design has and this version has not. */
static const char *const LATER_ORDERS[] = {"heavy-first", "affinity"};
static const char *const LATER_BINDS[] = {"agents", "claim"};

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

/* As much of a word as a one-line message has room for. */
#define SHOW(w) (int)((w).n < 64 ? (w).n : 64), (w).s
#define FAIL(p, at, st, fmt, ...)                                                                            \
  hd_fail_at((p)->d, st, "", (p)->text, (p)->len, (size_t)((at) - (p)->text), "plan, column %zu: " fmt,      \
             (size_t)((at) - (p)->text) + 1, __VA_ARGS__)

static bool is(word w, const char *name) { return w.n == strlen(name) && memcmp(w.s, name, w.n) == 0; }

static bool is_any(word w, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (is(w, names[i])) return true;
  return false;
}

/* The part before the first `sep`, which *rest then follows; *rest.s is NULL when
 * there is no `sep`. */
static word split(word w, char sep, word *rest) {
  const char *at = w.n ? memchr(w.s, sep, w.n) : NULL;
  *rest = (word){NULL, 0};
  if (!at) return w;
  *rest = (word){at + 1, (size_t)(w.s + w.n - (at + 1))};
  return (word){w.s, (size_t)(at - w.s)};
}

static hd_status parse_number(const parser *p, word value, word number, uint32_t *out) {
  uint64_t v;
  if (!hd_parse_u64(number.s, number.n, UINT32_MAX, &v) || v == 0)
    return FAIL(p, number.s, HD_ERR_INPUT, "order=%.*s: '%.*s' is not a whole number from 1 to 4294967295",
                SHOW(value), SHOW(number));
  *out = (uint32_t)v;
  return HD_OK;
}

static hd_status parse_numbers(const parser *p, const order_name *o, word value, word parameter) {
  hd_order *order = &p->plan->order;
  word second, first = o->form == FORM_A ? parameter : split(parameter, 'x', &second);
  if (o->form == FORM_A) second.s = NULL;
  if (o->form == FORM_AXB && !second.s)
    return FAIL(p, parameter.s, HD_ERR_INPUT, "order=%.*s: write %s", SHOW(value), o->usage);
  hd_status st = parse_number(p, value, first, &order->a);
  if (st != HD_OK) return st;
  if (second.s) return parse_number(p, value, second, &order->b);
  if (o->form == FORM_A_OR_B) order->b = 1;
  return HD_OK;
}

static hd_status parse_order(const parser *p, word value) {
  word parameter, name = split(value, ':', &parameter);
  const order_name *o = NULL;
  for (size_t i = 0; i < COUNT(ORDERS) && !o; i++)
    if (is(name, ORDERS[i].name)) o = &ORDERS[i];
  if (!o && is_any(name, LATER_ORDERS, COUNT(LATER_ORDERS)))
    return FAIL(p, value.s, HD_ERR_UNSUPPORTED, "order=%.*s: this version does not do that order",
                SHOW(value));
  if (!o)
    return FAIL(
        p, value.s, HD_ERR_INPUT,
        "order=%.*s: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, table",
        SHOW(value));
  if ((o->form == FORM_NONE) != !parameter.s || (o->form == FORM_FILE && parameter.n == 0))
    return FAIL(p, value.s, HD_ERR_INPUT, "order=%.*s: write %s", SHOW(value), o->usage);
  p->plan->order.kind = o->kind;
  if (o->form == FORM_NONE) return HD_OK;
  if (o->form != FORM_FILE) return parse_numbers(p, o, value, parameter);
  char *file = malloc(parameter.n + 1);
  if (!file) return hd_fail(p->d, HD_ERR_NOMEM, "out of memory");
  memcpy(file, parameter.s, parameter.n);
  file[parameter.n] = 0;
  p->plan->order.file = file;
  return HD_OK;
}

static hd_status parse_bind(const parser *p, word value) {
  word parameter, name = split(value, ':', &parameter);
  for (size_t i = 0; i < COUNT(BINDS); i++)
    if (is(value, BINDS[i])) {
      p->plan->bind = (hd_bind_kind)i;
      return HD_OK;
    }
  if (is_any(name, LATER_BINDS, COUNT(LATER_BINDS)))
    return FAIL(p, value.s, HD_ERR_UNSUPPORTED, "bind=%.*s: this version does not do that binding",
                SHOW(value));
  return FAIL(p, value.s, HD_ERR_INPUT, "bind=%.*s: no such binding; there are none and redirect",
              SHOW(value));
}

typedef struct lever {
  const char *name;
  hd_status (*parse)(const parser *, word value); /* NULL: in the design, not in this version */
} lever;

static const lever LEVERS[] = {
    {"order", parse_order}, {"bind", parse_bind}, {"split", NULL},    {"threads", NULL}, {"bypass", NULL},
    {"stream", NULL},       {"form", NULL},       {"prefetch", NULL}, {"sms", NULL},
};

static const lever *find_lever(word name) {
  for (size_t i = 0; i < COUNT(LEVERS); i++)
    if (is(name, LEVERS[i].name)) return &LEVERS[i];
  return NULL;
}

/* Does `at` begin "lever="? Looks no further than the longest name. */
static bool begins_pair(const char *at, const char *end) {
  for (size_t i = 0; i < COUNT(LEVERS); i++) {
    size_t n = strlen(LEVERS[i].name);
    if ((size_t)(end - at) > n && memcmp(at, LEVERS[i].name, n) == 0 && at[n] == '=') return true;
  }
  return false;
}

/* Where the pair that begins at `pair` ends: before a comma or at the text's end. */
static const char *pair_end(const char *pair, const char *end) {
  static const char table[] = "order=table:";
  bool file = (size_t)(end - pair) >= sizeof table - 1 && memcmp(pair, table, sizeof table - 1) == 0;
  for (const char *at = pair; at < end; at++)
    if (*at == ',' && (!file || begins_pair(at + 1, end))) return at;
  return end;
}

static hd_status parse_pairs(const parser *p) {
  bool given[COUNT(LEVERS)] = {false};
  const char *end = p->text + p->len;
  for (const char *pair = p->text;; pair++) {
    const char *stop = pair_end(pair, end);
    word all = {pair, (size_t)(stop - pair)}, value, name = split(all, '=', &value);
    const lever *l = find_lever(name);
    if (is(all, "baseline"))
      return FAIL(p, pair, HD_ERR_INPUT, "%s stands alone, without levers", "baseline");
    if (!value.s)
      return FAIL(p, pair, HD_ERR_INPUT, "'%.*s' is no lever=value pair, such as order=col", SHOW(all));
    if (!l)
      return FAIL(p, pair, HD_ERR_INPUT, "%.*s: no lever of this name; there are order and bind", SHOW(all));
    if (!l->parse)
      return FAIL(p, pair, HD_ERR_UNSUPPORTED, "%.*s: this version does not do the lever %s", SHOW(all),
                  l->name);
    if (given[l - LEVERS])
      return FAIL(p, pair, HD_ERR_INPUT, "%.*s: the lever %s is given twice", SHOW(all), l->name);
    given[l - LEVERS] = true;
    hd_status st = l->parse(p, value);
    if (st != HD_OK) return st;
    if (stop == end) return HD_OK;
    pair = stop; /* the comma */
  }
}

hd_status hd_plan_parse(const char *text, hd_plan *out, hd_diag *d) {
  *out = (hd_plan){0};
  parser p = {.text = text, .len = strlen(text), .plan = out, .d = d};
  if (strcmp(text, "baseline") == 0) return HD_OK;
  if (p.len == 0)
    return FAIL(&p, text, HD_ERR_INPUT, "the plan is empty; the empty plan is written %s", "baseline");
  hd_status st = parse_pairs(&p);
  if (st != HD_OK) hd_plan_free(out);
  return st;
}

/* ---- Values -------------------------------------------------------------------------- */

void hd_plan_free(hd_plan *p) {
  free(p->order.file);
  *p = (hd_plan){0};
}

static form order_form(hd_order_kind kind) {
  for (size_t i = 0; i < COUNT(ORDERS); i++)
    if (ORDERS[i].kind == kind) return ORDERS[i].form;
  return FORM_NONE;
}

static void print_order(const hd_order *o, hd_buf *out) {
  const char *name = "";
  for (size_t i = 0; i < COUNT(ORDERS); i++)
    if (ORDERS[i].kind == o->kind) name = ORDERS[i].name;
  hd_buf_printf(out, "order=%s", name);
  switch (order_form(o->kind)) {
  case FORM_NONE: break;
  case FORM_A: hd_buf_printf(out, ":%" PRIu32, o->a); break;
  case FORM_AXB: hd_buf_printf(out, ":%" PRIu32 "x%" PRIu32, o->a, o->b); break;
  case FORM_A_OR_B:
    hd_buf_printf(out, ":%" PRIu32, o->a);
    if (o->b != 1) hd_buf_printf(out, "x%" PRIu32, o->b);
    break;
  case FORM_FILE: hd_buf_printf(out, ":%s", o->file ? o->file : ""); break;
  }
}

bool hd_plan_is_baseline(const hd_plan *p) {
  return p->order.kind == HD_ORDER_ROW && p->bind == HD_BIND_NONE;
}

void hd_plan_print(const hd_plan *p, hd_buf *out) {
  if (hd_plan_is_baseline(p)) {
    hd_buf_puts(out, "baseline");
    return;
  }
  const char *comma = "";
  if (p->order.kind != HD_ORDER_ROW) {
    print_order(&p->order, out);
    comma = ",";
  }
  if (p->bind != HD_BIND_NONE) hd_buf_printf(out, "%sbind=%s", comma, BINDS[p->bind]);
}

bool hd_plan_equal(const hd_plan *a, const hd_plan *b) {
  const hd_order *x = &a->order, *y = &b->order;
  if (a->bind != b->bind || x->kind != y->kind) return false;
  switch (order_form(x->kind)) {
  case FORM_NONE: return true;
  case FORM_A: return x->a == y->a;
  case FORM_AXB:
  case FORM_A_OR_B: return x->a == y->a && x->b == y->b;
  case FORM_FILE: break;
  }
  return x->file && y->file ? strcmp(x->file, y->file) == 0 : x->file == y->file;
}
