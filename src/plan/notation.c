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
  form form;
  const char *usage;
} order_name;

static const order_name ORDERS[HD_ORDER_COUNT] = {
    [HD_ORDER_ROW] = {"row", FORM_NONE, "row"},
    [HD_ORDER_COL] = {"col", FORM_NONE, "col"},
    [HD_ORDER_BAND] = {"band", FORM_A, "band:H"},
    [HD_ORDER_TILE] = {"tile", FORM_AXB, "tile:WxH"},
    [HD_ORDER_ZIGZAG] = {"zigzag", FORM_A_OR_B, "zigzag:A or zigzag:AxB"},
    [HD_ORDER_STRIDE] = {"stride", FORM_AXB, "stride:AxB"},
    [HD_ORDER_HILBERT] = {"hilbert", FORM_NONE, "hilbert"},
    [HD_ORDER_REVERSE] = {"reverse", FORM_NONE, "reverse"},
    [HD_ORDER_HEAVY_FIRST] = {"heavy-first", FORM_NONE, "heavy-first"},
    [HD_ORDER_AFFINITY] = {"affinity", FORM_NONE, "affinity"},
    [HD_ORDER_TABLE] = {"table", FORM_FILE, "table:FILE"},
};

/* A value of another lever: a name, and a number behind a colon where it takes one. */
typedef enum number_rule { NUMBER_NONE, NUMBER_OPTIONAL, NUMBER_NEEDED } number_rule;

typedef struct value_name {
  const char *name; /* NULL: not written by name */
  number_rule number;
  uint32_t least; /* of the number */
  const char *usage;
} value_name;

static const value_name BINDS[HD_BIND_COUNT] = {
    [HD_BIND_NONE] = {"none", NUMBER_NONE, 0, "none"},
    [HD_BIND_REDIRECT] = {"redirect", NUMBER_NONE, 0, "redirect"},
    [HD_BIND_AGENTS] = {"agents", NUMBER_OPTIONAL, 1, "agents or agents:N"},
    [HD_BIND_CLAIM] = {"claim", NUMBER_NONE, 0, "claim"},
};
static const value_name SPLITS[HD_SPLIT_COUNT] = {
    [HD_SPLIT_CHUNK] = {"chunk", NUMBER_NONE, 0, "chunk"},
    [HD_SPLIT_WAVE] = {"wave", NUMBER_NEEDED, 1, "wave:N"},
    [HD_SPLIT_ROWS] = {"rows", NUMBER_NONE, 0, "rows"},
    [HD_SPLIT_COLS] = {"cols", NUMBER_NONE, 0, "cols"},
};
static const value_name TAKES[HD_TAKE_COUNT] = {
    [HD_TAKE_TASKS] = {"tasks", NUMBER_NONE, 0, "tasks"},
    [HD_TAKE_SEGMENTS] = {"segments", NUMBER_OPTIONAL, 1, "segments or segments:K"},
};
static const value_name BYPASSES[HD_BYPASS_COUNT] = {
    [HD_BYPASS_L1] = {"l1", NUMBER_NEEDED, 0, "l1:K"},
    [HD_BYPASS_READONLY] = {"ro", NUMBER_NEEDED, 0, "ro:K"},
    [HD_BYPASS_L2] = {"l2", NUMBER_NEEDED, 0, "l2:K"},
    [HD_BYPASS_AUTO] = {"auto", NUMBER_NONE, 0, "auto"},
};
static const value_name FORMS[HD_FORM_COUNT] = {
    [HD_FORM_AUTO] = {"auto", NUMBER_NONE, 0, "auto"},
    [HD_FORM_PREDICATE] = {"predicate", NUMBER_NONE, 0, "predicate"},
    [HD_FORM_REPLICATE] = {"replicate", NUMBER_NONE, 0, "replicate"},
};
static const value_name PREFETCHES[HD_PREFETCH_COUNT] = {
    [HD_PREFETCH_L1] = {"l1", NUMBER_NEEDED, 1, "l1:D"},
    [HD_PREFETCH_L2] = {"l2", NUMBER_NEEDED, 1, "l2:D"},
};

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
  word second, first = o->form == FORM_A ? parameter : split(parameter, 'x', &second);
  if (o->form == FORM_A) second.s = NULL;
  if (o->form == FORM_AXB && !second.s)
    return FAIL(p, parameter.s, HD_ERR_INPUT, "%s=%.*s: write %s", lever, SHOW(value), o->usage);
  hd_status st = parse_number(p, lever, value, first, 1, &order->a);
  if (st != HD_OK) return st;
  if (second.s) return parse_number(p, lever, value, second, 1, &order->b);
  if (o->form == FORM_A_OR_B) order->b = 1;
  return HD_OK;
}

static hd_status parse_order(const parser *p, const char *lever, word value, hd_order *order) {
  word parameter, name = split(value, ':', &parameter);
  unsigned kind = 0;
  while (kind < HD_ORDER_COUNT && !is(name, ORDERS[kind].name)) kind++;
  if (kind == HD_ORDER_COUNT)
    return FAIL(p, value.s, HD_ERR_INPUT,
                "%s=%.*s: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, "
                "heavy-first, affinity, table",
                lever, SHOW(value));
  const order_name *o = &ORDERS[kind];
  if ((o->form == FORM_NONE) != !parameter.s || (o->form == FORM_FILE && parameter.n == 0))
    return write_so(p, lever, value, o->usage);
  order->kind = (hd_order_kind)kind;
  if (o->form == FORM_NONE) return HD_OK;
  if (o->form != FORM_FILE) return parse_order_numbers(p, lever, o, value, parameter, order);
  order->file = malloc(parameter.n + 1);
  if (!order->file) return hd_nomem(p->d);
  memcpy(order->file, parameter.s, parameter.n);
  order->file[parameter.n] = 0;
  return HD_OK;
}

static hd_status parse_task_order(const parser *p, word value) {
  return parse_order(p, "order", value, &p->plan->order);
}
static hd_status parse_thread_order(const parser *p, word value) {
  static const char inside[] = "cta:";
  const size_t n = sizeof inside - 1;
  bool in_cta = value.n > n && memcmp(value.s, inside, n) == 0;
  hd_status st =
      parse_order(p, "threads", in_cta ? (word){value.s + n, value.n - n} : value, &p->plan->threads);
  p->plan->threads_in_cta = in_cta && p->plan->threads.kind != HD_ORDER_ROW;
  return st;
}

/* ---- Names with numbers */

/* Which of the n values this is; its number goes to *out, which is left alone when there is none. */
static hd_status parse_named(const parser *p, const char *lever, word value, const value_name *names,
                             unsigned n, unsigned *kind, uint32_t *out) {
  word parameter, name = split(value, ':', &parameter);
  hd_buf list = {0};
  for (unsigned k = 0; k < n; k++) {
    if (!names[k].name) continue;
    if (is(name, names[k].name)) {
      hd_buf_free(&list);
      *kind = k;
      if (names[k].number == NUMBER_NONE ? parameter.s != NULL
                                         : names[k].number == NUMBER_NEEDED && !parameter.s)
        return write_so(p, lever, value, names[k].usage);
      return parameter.s ? parse_number(p, lever, value, parameter, names[k].least, out) : HD_OK;
    }
    hd_buf_printf(&list, "%s%s", list.len ? ", " : "", names[k].usage);
  }
  hd_status st = FAIL(p, value.s, HD_ERR_INPUT, "%s=%.*s: no such value; there are %s", lever, SHOW(value),
                      list.data ? list.data : "others");
  hd_buf_free(&list);
  return st;
}

static hd_status parse_bind(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st = parse_named(p, "bind", value, BINDS, COUNT(BINDS), &kind, &p->plan->agents);
  p->plan->bind = (hd_bind_kind)kind;
  return st;
}

static hd_status parse_split(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st = parse_named(p, "split", value, SPLITS, COUNT(SPLITS), &kind, &p->plan->split.wave);
  p->plan->split.kind = (hd_split_kind)kind;
  return st;
}

static hd_status parse_take(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st = parse_named(p, "take", value, TAKES, COUNT(TAKES), &kind, &p->plan->take.tasks);
  p->plan->take.kind = (hd_take_kind)kind;
  return st;
}

static hd_status parse_bypass(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st = parse_named(p, "bypass", value, BYPASSES, COUNT(BYPASSES), &kind, &p->plan->bypass.warps);
  p->plan->bypass.kind = (hd_bypass_kind)kind;
  return st;
}

static hd_status parse_form(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st = parse_named(p, "form", value, FORMS, COUNT(FORMS), &kind, &(uint32_t){0});
  p->plan->form = (hd_form)kind;
  return st;
}

static hd_status parse_prefetch(const parser *p, word value) {
  unsigned kind = 0;
  hd_status st =
      parse_named(p, "prefetch", value, PREFETCHES, COUNT(PREFETCHES), &kind, &p->plan->prefetch.distance);
  p->plan->prefetch.kind = (hd_prefetch_kind)kind;
  return st;
}

/* ---- Lists: parts joined by + */

static size_t count_parts(word value) {
  size_t n = 1;
  for (size_t i = 0; i < value.n; i++) n += value.s[i] == '+';
  return n;
}

/* Room for as many entries as the value has parts. */
static hd_status make_list(const parser *p, word value, size_t size, void *list) {
  size_t n = count_parts(value);
  void *memory = n < UINT32_MAX ? calloc(n, size) : NULL;
  if (!memory) return hd_nomem(p->d);
  memcpy(list, &memory, sizeof memory);
  return HD_OK;
}

static hd_status parse_stream(const parser *p, word value) {
  hd_stream *s = &p->plan->stream;
  if (is(value, "l1")) {
    s->kind = HD_STREAM_L1;
    return HD_OK;
  }
  if (is(value, "auto")) {
    s->kind = HD_STREAM_AUTO;
    return HD_OK;
  }
  s->kind = HD_STREAM_LOADS;
  hd_status st = make_list(p, value, sizeof *s->loads, &s->loads);
  for (word rest = value, part; st == HD_OK && rest.s; s->n++) {
    part = split(rest, '+', &rest);
    uint32_t *load = &s->loads[s->n];
    if (!part.n || *part.s < '0' || *part.s > '9')
      return write_so(p, "stream", value, "l1, auto, or load numbers: 3+7");
    st = parse_number(p, "stream", value, part, 0, load);
    if (st == HD_OK && s->n && *load <= load[-1])
      return FAIL(p, part.s, HD_ERR_INPUT, "stream=%.*s: load numbers must increase", SHOW(value));
  }
  return st;
}

static hd_status parse_sms(const parser *p, word value) {
  hd_sm_set *s = &p->plan->sms;
  hd_status st = make_list(p, value, sizeof *s->ranges, &s->ranges);
  for (word rest = value, part, last; st == HD_OK && rest.s;) {
    part = split(rest, '+', &rest);
    word first = split(part, '-', &last);
    hd_sm_range r;
    st = parse_number(p, "sms", value, first, 0, &r.first);
    r.last = r.first;
    if (st == HD_OK && last.s) st = parse_number(p, "sms", value, last, 0, &r.last);
    if (st != HD_OK) return st;
    if (r.last < r.first || r.last == UINT32_MAX || (s->n && r.first <= s->ranges[s->n - 1].last))
      return FAIL(p, part.s, HD_ERR_INPUT, "sms=%.*s: ranges must increase and not overlap", SHOW(value));
    if (s->n && r.first == s->ranges[s->n - 1].last + 1)
      s->ranges[s->n - 1].last = r.last; /* 0-3+4-7 is 0-7 */
    else
      s->ranges[s->n++] = r;
  }
  return st;
}

/* ---- Pairs */

typedef struct lever_syntax {
  const char *name;
  hd_status (*parse)(const parser *, word value);
} lever_syntax;

static const lever_syntax LEVERS[] = {
    {"order", parse_task_order},     {"bind", parse_bind},     {"split", parse_split},   {"take", parse_take},
    {"threads", parse_thread_order}, {"bypass", parse_bypass}, {"stream", parse_stream}, {"form", parse_form},
    {"prefetch", parse_prefetch},    {"sms", parse_sms},
};

static const lever_syntax *find_lever(word name) {
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
  static const char *const tables[] = {"order=table:", "threads=table:", "threads=cta:table:"};
  bool file = false;
  for (size_t i = 0; i < COUNT(tables); i++) {
    size_t n = strlen(tables[i]);
    file |= (size_t)(end - pair) >= n && memcmp(pair, tables[i], n) == 0;
  }
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
    const lever_syntax *l = find_lever(name);
    if (is(all, "baseline"))
      return FAIL(p, pair, HD_ERR_INPUT, "%s stands alone, without levers", "baseline");
    if (!value.s)
      return FAIL(p, pair, HD_ERR_INPUT, "'%.*s' is no lever=value pair, such as order=col", SHOW(all));
    if (!l)
      return FAIL(p, pair, HD_ERR_INPUT,
                  "%.*s: no lever of this name; there are order, bind, split, take, threads, bypass, stream, "
                  "form, prefetch, sms",
                  SHOW(all));
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
  if (st == HD_OK) {
    hd_diag why = {0};
    st = hd_plan_check(out, &why);
    if (st != HD_OK) st = FAIL(&p, text, HD_ERR_INPUT, "%.400s", why.message);
  }
  if (st != HD_OK) hd_plan_free(out);
  return st;
}

/* ---- Values -------------------------------------------------------------------------- */

bool hd_plan_is_baseline(const hd_plan *p) {
  return p->order.kind == HD_ORDER_ROW && p->bind == HD_BIND_NONE && p->split.kind == HD_SPLIT_CHUNK &&
         p->take.kind == HD_TAKE_TASKS && p->threads.kind == HD_ORDER_ROW &&
         p->bypass.kind == HD_BYPASS_NONE && p->stream.kind == HD_STREAM_NONE && p->form == HD_FORM_AUTO &&
         p->prefetch.kind == HD_PREFETCH_NONE && p->sms.n == 0;
}

static bool order_equal(const hd_order *x, const hd_order *y) {
  if (x->kind != y->kind) return false;
  switch (ORDERS[x->kind].form) {
  case FORM_NONE: return true;
  case FORM_A: return x->a == y->a;
  case FORM_AXB:
  case FORM_A_OR_B: return x->a == y->a && x->b == y->b;
  case FORM_FILE: break;
  }
  return x->file && y->file ? strcmp(x->file, y->file) == 0 : x->file == y->file;
}

static bool list_equal(const void *a, uint32_t na, const void *b, uint32_t nb, size_t size) {
  return na == nb && (na == 0 || memcmp(a, b, na * size) == 0);
}

bool hd_plan_equal(const hd_plan *a, const hd_plan *b) {
  return order_equal(&a->order, &b->order) && a->bind == b->bind && a->agents == b->agents &&
         a->split.kind == b->split.kind && a->split.wave == b->split.wave && a->take.kind == b->take.kind &&
         a->take.tasks == b->take.tasks && order_equal(&a->threads, &b->threads) &&
         a->threads_in_cta == b->threads_in_cta && a->bypass.kind == b->bypass.kind &&
         a->bypass.warps == b->bypass.warps && a->stream.kind == b->stream.kind &&
         list_equal(a->stream.loads, a->stream.n, b->stream.loads, b->stream.n, sizeof *a->stream.loads) &&
         a->form == b->form && a->prefetch.kind == b->prefetch.kind &&
         a->prefetch.distance == b->prefetch.distance &&
         list_equal(a->sms.ranges, a->sms.n, b->sms.ranges, b->sms.n, sizeof *a->sms.ranges);
}

/* ---- Printing -------------------------------------------------------------------------- */

static void begin_pair(hd_buf *out, size_t start, const char *lever) {
  hd_buf_printf(out, "%s%s=", out->len > start ? "," : "", lever);
}

static void print_order(const char *lever, const char *where, const hd_order *o, size_t start, hd_buf *out) {
  if (o->kind == HD_ORDER_ROW) return;
  begin_pair(out, start, lever);
  hd_buf_printf(out, "%s%s", where, ORDERS[o->kind].name);
  switch (ORDERS[o->kind].form) {
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

/* kind 0 is the default of every lever. */
static void print_named(const char *lever, const value_name *names, unsigned kind, uint32_t number,
                        size_t start, hd_buf *out) {
  if (!kind) return;
  begin_pair(out, start, lever);
  hd_buf_puts(out, names[kind].name);
  if (names[kind].number == NUMBER_NEEDED || (names[kind].number == NUMBER_OPTIONAL && number))
    hd_buf_printf(out, ":%" PRIu32, number);
}

static void print_stream(const hd_stream *s, size_t start, hd_buf *out) {
  if (s->kind == HD_STREAM_NONE) return;
  begin_pair(out, start, "stream");
  if (s->kind == HD_STREAM_L1) hd_buf_puts(out, "l1");
  if (s->kind == HD_STREAM_AUTO) hd_buf_puts(out, "auto");
  for (uint32_t i = 0; i < s->n; i++) hd_buf_printf(out, "%s%" PRIu32, i ? "+" : "", s->loads[i]);
}

static void print_sms(const hd_sm_set *s, size_t start, hd_buf *out) {
  if (!s->n) return;
  begin_pair(out, start, "sms");
  for (uint32_t i = 0; i < s->n; i++) {
    const hd_sm_range *r = &s->ranges[i];
    hd_buf_printf(out, "%s%" PRIu32, i ? "+" : "", r->first);
    if (r->last != r->first) hd_buf_printf(out, "-%" PRIu32, r->last);
  }
}

void hd_plan_print(const hd_plan *p, hd_buf *out) {
  size_t start = out->len;
  print_order("order", "", &p->order, start, out);
  print_named("bind", BINDS, p->bind, p->agents, start, out);
  print_named("split", SPLITS, p->split.kind, p->split.wave, start, out);
  print_named("take", TAKES, p->take.kind, p->take.tasks, start, out);
  print_order("threads", p->threads_in_cta ? "cta:" : "", &p->threads, start, out);
  print_named("bypass", BYPASSES, p->bypass.kind, p->bypass.warps, start, out);
  print_stream(&p->stream, start, out);
  print_named("form", FORMS, p->form, 0, start, out);
  print_named("prefetch", PREFETCHES, p->prefetch.kind, p->prefetch.distance, start, out);
  print_sms(&p->sms, start, out);
  if (out->len == start) hd_buf_puts(out, "baseline");
}
