/* program.c: builds a program by filling in templates one after the other. */
#include "difftest/program.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const dt_class_info dt_classes[DT_CLASSES] = {
    [DT_H] = {'h', 0, 10, 16, ".b16"},
    [DT_W] = {'w', 10, 20, 32, ".b32"},
    [DT_D] = {'d', 30, 12, 64, ".b64"},
    [DT_P] = {'p', 42, 6, 1, ".pred"},
};

dt_class dt_class_of(unsigned reg) {
  dt_class c = DT_H;
  while (reg >= dt_classes[c].first + dt_classes[c].n) c++;
  return c;
}

/* ---- Types of holes ------------------------------------------------------------------------ */

typedef struct hole_type {
  char name[8];
  uint8_t class, flavour;
} hole_type;
static const hole_type hole_types[] = {
    {"u8", DT_H, DT_INT},      {"s8", DT_H, DT_INT},        {"b8", DT_H, DT_ANY},    {"u16", DT_H, DT_INT},
    {"s16", DT_H, DT_INT},     {"b16", DT_H, DT_ANY},       {"f16", DT_H, DT_F16},   {"bf16", DT_H, DT_BF16},
    {"u32", DT_W, DT_INT},     {"s32", DT_W, DT_INT},       {"b32", DT_W, DT_ANY},   {"f32", DT_W, DT_F32},
    {"f16x2", DT_W, DT_F16X2}, {"bf16x2", DT_W, DT_BF16X2}, {"u16x2", DT_W, DT_INT}, {"s16x2", DT_W, DT_INT},
    {"u64", DT_D, DT_INT},     {"s64", DT_D, DT_INT},       {"b64", DT_D, DT_ANY},   {"f64", DT_D, DT_F64},
    {"f32x2", DT_D, DT_F32X2}, {"pred", DT_P, DT_ANY},
};

static const hole_type *find_type(const char *name, size_t len) {
  for (size_t k = 0; k < sizeof hole_types / sizeof hole_types[0]; k++)
    if (strlen(hole_types[k].name) == len && memcmp(hole_types[k].name, name, len) == 0)
      return &hole_types[k];
  return NULL;
}

/* ---- One instance ---------------------------------------------------------------------------- */

enum { MAX_NAMES = 8 };
typedef struct instance {
  dt_program *p;
  dt_random *random;
  uint8_t *flavours; /* now */
  uint64_t mentions, writes, sources;
  bool distinct;
  struct {
    const char *name;
    size_t len;
    unsigned reg;
  } names[MAX_NAMES];
  unsigned n_names;
} instance;

static void put_register(hd_buf *out, unsigned reg) {
  const dt_class_info *c = &dt_classes[dt_class_of(reg)];
  hd_buf_printf(out, "%%%c%u", c->letter, reg - c->first);
}

static unsigned pick_source(instance *x, const hole_type *t) {
  const dt_class_info *c = &dt_classes[t->class];
  unsigned fits[DT_REGS], n = 0;
  for (unsigned k = 0; k < c->n; k++)
    if (x->flavours[c->first + k] == t->flavour) fits[n++] = c->first + k;
  if (n && t->flavour != DT_ANY && dt_chance(x->random, 85)) return fits[dt_below(x->random, n)];
  return c->first + dt_below(x->random, c->n);
}

static unsigned pick_destination(instance *x, const hole_type *t) {
  const dt_class_info *c = &dt_classes[t->class];
  unsigned reg = c->first + dt_below(x->random, c->n);
  while (x->writes >> reg & 1) reg = reg + 1 < c->first + c->n ? reg + 1u : c->first;
  return reg;
}

/* A constant of that type; false: there are none. */
static bool put_constant(instance *x, const hole_type *t, const char *type, hd_buf *out) {
  const unsigned bits = type[1] == '8' ? 8 : dt_classes[t->class].bits;
  switch (t->flavour) {
  case DT_F32: hd_buf_printf(out, "0f%08X", (unsigned)dt_value(x->random, DT_F32, 32)); return true;
  case DT_F64:
    hd_buf_printf(out, "0d%016llX", (unsigned long long)dt_value(x->random, DT_F64, 64));
    return true;
  case DT_INT:
  case DT_ANY: break;
  default: return false;
  }
  if (t->class == DT_P) return false;
  const uint64_t v = dt_value(x->random, DT_INT, bits);
  if (type[0] == 's') {
    const int64_t s = (int64_t)(v << (64 - bits)) >> (64 - bits);
    if (s == INT64_MIN) return false; /* no literal spells it */
    hd_buf_printf(out, "%lld", (long long)s);
  } else {
    hd_buf_printf(out, "0x%llx", (unsigned long long)v);
  }
  return true;
}

/* ${T name}, ${=T}, ${T?}, ${pred!}, ${name} */
static void put_operand(instance *x, const char *hole, size_t len, hd_buf *out) {
  const bool write = hole[0] == '=';
  const char *type = hole + write;
  const size_t n_type = strcspn(type, " ?!}");
  for (unsigned k = 0; k < x->n_names; k++)
    if (x->names[k].len == len && memcmp(x->names[k].name, hole, len) == 0) {
      put_register(out, x->names[k].reg);
      return;
    }
  const hole_type *t = find_type(type, n_type);
  if (!t) {
    x->p->failed = true;
    return;
  }
  const char mark = type[n_type];
  if (mark == '?' && dt_chance(x->random, 25) && put_constant(x, t, type, out)) return;
  unsigned reg = write ? pick_destination(x, t) : pick_source(x, t);
  while (!write && x->distinct && x->sources >> reg & 1) reg = pick_source(x, t);
  if (!write) x->sources |= 1ull << reg;
  if (mark == '!' && dt_chance(x->random, 30)) hd_buf_putc(out, '!');
  put_register(out, reg);
  x->mentions |= 1ull << reg;
  if (write) {
    x->writes |= 1ull << reg;
    x->flavours[reg] = t->flavour == DT_ANY ? DT_INT : t->flavour;
  }
  if (mark == ' ' && x->n_names < MAX_NAMES) {
    x->names[x->n_names].name = type + n_type + 1;
    x->names[x->n_names].len = len - (size_t)(type + n_type + 1 - hole);
    x->names[x->n_names++].reg = reg;
  }
}

static void put_offset(instance *x, const char *hole, hd_buf *out) {
  const uint32_t step = (uint32_t)strtoul(hole + 1, NULL, 10);
  hd_buf_printf(out, "%u", step * dt_below(x->random, DT_SHARED_BYTES / step));
}

static void put_number(instance *x, const char *hole, hd_buf *out) {
  char *end;
  const long low = strtol(hole + 1, &end, 10), high = strtol(end + 1, NULL, 10);
  hd_buf_printf(out, "%ld", low + (long)dt_below(x->random, (uint32_t)(high - low + 1)));
}

static void store_slot(const dt_program *p, uint64_t slot, unsigned bits, hd_buf *out) {
  hd_buf_printf(out, "st.global.b%u [%%io+%" PRIu64 "], ", bits, 8 * slot * p->threads);
}

/* ${!rule d, a, b}: d by the rule, a and b exactly. */
static void put_result(instance *x, const char *hole, size_t len, hd_buf *out) {
  const char *end = hole + len, *at = hole + 1;
  const size_t n_rule = strcspn(at, " ");
  const int rule = dt_rule_find(at, n_rule);
  const size_t first = x->p->results.n;
  at += n_rule;
  if (rule < 0) x->p->failed = true;
  while (at < end && !x->p->failed) {
    at += strspn(at, " ,");
    const size_t n = strcspn(at, ",}");
    const bool literal = memchr(at, ':', n) != NULL;
    unsigned bits = (unsigned)strtoul(at + 1, NULL, 10), reg = 0;
    for (unsigned k = 0; k < x->n_names && !literal; k++)
      if (x->names[k].len == n && memcmp(x->names[k].name, at, n) == 0) {
        reg = x->names[k].reg;
        bits = dt_classes[dt_class_of(reg)].bits;
      }
    store_slot(x->p, x->p->results.n, bits, out);
    if (literal) {
      const size_t skip = strcspn(at, ":") + 1;
      hd_buf_put(out, at + skip, n - skip);
    } else {
      put_register(out, reg);
    }
    hd_buf_puts(out, "; ");
    const bool by_rule = x->p->results.n == first || dt_rule_is_scaled((unsigned)rule);
    const dt_slot s = {.rule = by_rule ? (uint8_t)rule : 0, .reg = UINT8_MAX};
    if (!hd_vec_push(&x->p->results, s)) x->p->failed = true;
    at += n;
  }
  if (!x->p->failed) x->p->results.data[first].n_inputs = (uint8_t)(x->p->results.n - first - 1);
}

static void fill_template(instance *x, const char *text, hd_buf *out) {
  for (const char *at = text; *at; at++) {
    if (at[0] != '$' || at[1] != '{') {
      hd_buf_putc(out, *at);
      continue;
    }
    const char *hole = at + 2;
    const size_t len = strcspn(hole, "}");
    switch (*hole) {
    case '@': put_offset(x, hole, out); break;
    case '#': put_number(x, hole, out); break;
    case '!': put_result(x, hole, len, out); break;
    default: put_operand(x, hole, len, out);
    }
    at = hole + len;
  }
}

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct maker {
  dt_program *p;
  dt_random random;
  uint8_t flavours[DT_REGS];
  uint32_t open[2]; /* branches: their numbers */
  bool has_else[2];
  uint32_t depth, branches;
} maker;

static dt_op *add_op(maker *m, dt_op_kind kind) {
  dt_op *op = &m->p->ops[m->p->n_ops++];
  *op = (dt_op){.kind = kind, .text = (uint32_t)m->p->text.len};
  return op;
}
static void end_op(maker *m, dt_op *op) { op->len = (uint32_t)m->p->text.len - op->text; }

static bool is_one_instruction(const char *text) {
  const char *end = strchr(text, ';');
  return text[0] != '{' && end && !end[1];
}

static void add_form(maker *m, const dt_pattern *pattern, uint64_t form) {
  hd_buf text = {0};
  instance x = {.p = m->p,
                .random = &m->random,
                .flavours = m->flavours,
                .distinct = pattern->row->flags & DT_DISTINCT};
  dt_pattern_expand(pattern, form, &text);
  dt_op *op = add_op(m, DT_OP_INST);
  op->row = pattern->row;
  const bool together = pattern->row->flags & (DT_CONVERGED | DT_WARPGROUP | DT_UNGUARDED);
  if (text.failed) {
    m->p->failed = true;
  } else {
    if (!together && is_one_instruction(text.data) && dt_chance(&m->random, 20)) {
      const unsigned guard = dt_classes[DT_P].first + dt_below(&m->random, dt_classes[DT_P].n);
      hd_buf_puts(&m->p->text, dt_chance(&m->random, 50) ? "@" : "@!");
      put_register(&m->p->text, guard);
      hd_buf_putc(&m->p->text, ' ');
      x.mentions |= 1ull << guard;
    }
    fill_template(&x, text.data, &m->p->text);
  }
  hd_buf_free(&text);
  op->mentions = x.mentions;
  op->writes = x.writes;
  m->p->instructions++;
  end_op(m, op);
}

static void open_branch(maker *m) {
  const unsigned reg = dt_classes[DT_P].first + dt_below(&m->random, dt_classes[DT_P].n);
  dt_op *op = add_op(m, DT_OP_IF);
  op->pair = m->open[m->depth] = ++m->branches;
  op->mentions = 1ull << reg;
  m->has_else[m->depth++] = false;
  hd_buf_puts(&m->p->text, dt_chance(&m->random, 50) ? "@" : "@!");
  put_register(&m->p->text, reg);
  end_op(m, op);
}
static void turn_branch(maker *m) {
  add_op(m, DT_OP_ELSE)->pair = m->open[m->depth - 1];
  m->has_else[m->depth - 1] = true;
}
static void close_branch(maker *m) { add_op(m, DT_OP_END)->pair = m->open[--m->depth]; }

static uint32_t some_threads(dt_random *r) {
  const uint32_t roll = dt_below(r, 100);
  return roll < 40 ? 32 : roll < 70 ? 64 : roll < 80 ? 96 : roll < 95 ? 128 : 256;
}

static void begin(maker *m, uint64_t seed, uint64_t number, dt_program *p) {
  static const uint8_t usual[DT_CLASSES][6] = {[DT_H] = {DT_F16, DT_BF16, DT_INT, DT_F16, DT_INT, DT_BF16},
                                               [DT_W] = {DT_F32, DT_INT, DT_F16X2, DT_F32, DT_INT, DT_BF16X2},
                                               [DT_D] = {DT_F64, DT_INT, DT_F32X2, DT_F64, DT_INT, DT_F64}};
  *p = (dt_program){.seed = seed, .number = number};
  *m = (maker){.p = p, .random = {.seed = hd_random_at(seed, number)}};
  for (unsigned reg = 0; reg < DT_REGS; reg++) {
    const dt_class c = dt_class_of(reg);
    m->flavours[reg] = p->flavours[reg] = c == DT_P ? DT_ANY : usual[c][(reg - dt_classes[c].first) % 6];
  }
  p->threads = some_threads(&m->random);
}

/* Slots of registers: places of results' own have theirs already. */
static void finish(maker *m) {
  dt_program *p = m->p;
  uint64_t mentions = 0, writes = 0;
  while (m->depth) close_branch(m);
  for (uint32_t k = 0; k < p->n_ops; k++) {
    mentions |= p->ops[k].mentions;
    writes |= p->ops[k].writes;
  }
  for (unsigned reg = 0; reg < DT_REGS; reg++)
    if (mentions >> reg & 1) p->inputs[p->n_inputs++] = (uint8_t)reg;
  for (unsigned reg = 0; reg < DT_REGS; reg++) {
    const dt_slot s = {.reg = (uint8_t)reg};
    if (writes >> reg & 1 && !hd_vec_push(&p->results, s)) p->failed = true;
  }
  p->failed |= p->text.failed;
}

static const dt_choice *pick_row(const dt_menu *menu, dt_random *r) {
  uint64_t at = dt_next(r) % menu->weight;
  const dt_choice *c = menu->rows;
  for (;; c++) {
    const uint64_t weight = 1 + (uint64_t)(63 - __builtin_clzll(c->n_forms));
    if (at < weight) return c;
    at -= weight;
  }
}

static bool fits_here(const maker *m, const dt_row *row) {
  if (row->flags & DT_WARPGROUP) return m->depth == 0 && m->p->threads % 128 == 0;
  return !(row->flags & (DT_CONVERGED | DT_UNGUARDED)) || m->depth == 0;
}

void dt_program_make(const dt_menu *menu, uint64_t seed, uint64_t number, dt_program *p) {
  maker m;
  begin(&m, seed, number, p);
  /* Mostly short programs: later instructions hide a mistake. */
  const uint32_t limit = dt_chance(&m.random, 50) ? 8 : 40;
  const uint32_t want = 1 + dt_below(&m.random, limit);
  for (uint32_t k = 0, tries = 0; k < want && tries < 4 * limit && !p->failed; tries++) {
    const uint32_t roll = dt_below(&m.random, 100);
    if (m.depth && roll < 20)
      close_branch(&m);
    else if (m.depth && roll < 32 && !m.has_else[m.depth - 1])
      turn_branch(&m);
    else if (m.depth < 2 && roll >= 92 && want > 2 && m.branches < 8)
      open_branch(&m);
    const dt_choice *c = pick_row(menu, &m.random);
    if (!fits_here(&m, c->pattern.row)) continue;
    const uint64_t n = dt_next(&m.random) % c->n_forms;
    add_form(&m, &c->pattern, c->forms ? c->forms[n] : n);
    k++;
  }
  finish(&m);
}

void dt_program_of_form(uint64_t form, dt_program *p) {
  maker m;
  uint64_t choice;
  dt_pattern pattern;
  const dt_row *row = dt_form_row(form, &choice);
  begin(&m, 0, form, p);
  p->threads = 128;
  dt_pattern_read(row, &pattern);
  add_form(&m, &pattern, choice);
  finish(&m);
}

void dt_program_free(dt_program *p) {
  hd_buf_free(&p->text);
  hd_vec_free(&p->results);
}

/* ---- Memory ------------------------------------------------------------------------------------ */

uint64_t dt_program_slots(const dt_program *p) { return p->results.n + 1 + p->n_inputs; }
uint64_t dt_program_scratch(const dt_program *p) {
  return (8 * dt_program_slots(p) * p->threads + 255) / 256 * 256;
}
uint64_t dt_program_bytes(const dt_program *p) {
  return dt_program_scratch(p) + (uint64_t)DT_SHARED_BYTES * p->threads;
}

void dt_program_fill(const dt_program *p, void *data) {
  const uint64_t bytes = dt_program_bytes(p), scratch = dt_program_scratch(p);
  memset(data, 0, bytes);
  dt_random r = {.seed = hd_random_at(hd_random_at(p->seed, p->number), 1ull << 60)};
  uint64_t *to = (uint64_t *)data + p->results.n * p->threads;
  for (uint32_t t = 0; t < p->threads; t++) to[t] = dt_value(&r, DT_INT, 64);
  for (uint32_t k = 0; k < p->n_inputs; k++) {
    const unsigned reg = p->inputs[k];
    to += p->threads;
    const uint32_t distinct = dt_chance(&r, 85) ? p->threads : 1 + dt_below(&r, 4);
    const unsigned bits = dt_classes[dt_class_of(reg)].bits;
    for (uint32_t t = 0; t < p->threads; t++)
      to[t] = t < distinct ? (bits == 1 ? dt_next(&r) & 1 : dt_value(&r, p->flavours[reg], bits))
                           : to[dt_below(&r, distinct)];
  }
  uint32_t *words = (uint32_t *)((char *)data + scratch);
  for (uint64_t k = 0; k < (bytes - scratch) / 4; k++)
    words[k] = (uint32_t)dt_value(&r, dt_chance(&r, 50) ? DT_F32 : dt_chance(&r, 50) ? DT_F16X2 : DT_INT, 32);
}

/* ---- Menus ---------------------------------------------------------------------------------------- */

/* Whether a dotted word of the text matches. */
static bool word_matches(const char *text, const char *pattern) {
  char word[128];
  for (const char *at = text; *at;) {
    const size_t n = strcspn(at, " ;,{}[]|");
    if (n && n < sizeof word) {
      memcpy(word, at, n);
      word[n] = 0;
      if (fnmatch(pattern, word, 0) == 0) return true;
    }
    at += n + (at[n] != 0);
  }
  return false;
}

static bool select_forms(dt_choice *c, const char *pattern) {
  c->n_forms = c->pattern.n_forms;
  if (!pattern) return true;
  c->forms = malloc(c->pattern.n_forms * sizeof *c->forms);
  hd_buf text = {0};
  c->n_forms = 0;
  for (uint64_t k = 0; c->forms && k < c->pattern.n_forms; k++) {
    hd_buf_clear(&text);
    dt_pattern_expand(&c->pattern, k, &text);
    if (!text.failed && word_matches(text.data, pattern)) c->forms[c->n_forms++] = k;
  }
  const bool ok = c->forms && !text.failed;
  hd_buf_free(&text);
  return ok;
}

static bool row_fits(const dt_row *row, const hd_difftest_select *s, unsigned sm) {
  if (row->flags & DT_EMULATED && !s->emulated) return false;
  if (s->emulated) return true;
  return row->flags & DT_SPECIFIC ? row->sm == sm : row->sm <= sm;
}

hd_status dt_menu_make(const hd_difftest_select *s, dt_menu *m, hd_diag *d) {
  *m = (dt_menu){.sm = s->sm ? s->sm : 90};
  m->rows = calloc(dt_row_count(), sizeof *m->rows);
  if (!m->rows) return hd_nomem(d);
  for (uint32_t k = 0; k < dt_row_count(); k++) {
    const dt_row *row = dt_row_at(k);
    if (!row_fits(row, s, m->sm)) continue;
    dt_choice *c = &m->rows[m->n];
    dt_pattern_read(row, &c->pattern);
    const bool ok = select_forms(c, s->pattern);
    if (ok && c->n_forms) {
      m->weight += 1 + (uint64_t)(63 - __builtin_clzll(c->n_forms));
      m->n++;
    } else {
      free(c->forms);
      *c = (dt_choice){0};
    }
    if (!ok) {
      dt_menu_free(m);
      return hd_nomem(d);
    }
  }
  if (m->n) return HD_OK;
  dt_menu_free(m);
  return hd_fail(d, HD_ERR_USAGE, "no instruction of sm_%u matches '%s'", s->sm ? s->sm : 90,
                 s->pattern ? s->pattern : "");
}

void dt_menu_free(dt_menu *m) {
  for (size_t k = 0; k < m->n; k++) free(m->rows[k].forms);
  free(m->rows);
  *m = (dt_menu){0};
}
