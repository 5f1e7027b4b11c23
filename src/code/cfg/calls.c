/* Which functions a function can reach, and which of them may call themselves. */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

uint32_t hd_callee(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  for (uint32_t i = 0; i < call->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[call->first_opnd + i];
    if (o->kind == HD_O_LIST) continue;
    if (o->kind == HD_O_SYM && m->syms[o->sym].kind == HD_SYM_FUNC) return m->syms[o->sym].decl;
    return HD_NONE;
  }
  return HD_NONE;
}

hd_system hd_system_called(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  static const struct {
    const char *name;
    hd_system does;
  } table[] = {{"vprintf", HD_SYSTEM_REPORTS},  {"__assertfail", HD_SYSTEM_REPORTS},
               {"malloc", HD_SYSTEM_ALLOCATES}, {"free", HD_SYSTEM_FREES},
               {"memcpy", HD_SYSTEM_COPIES},    {"memset", HD_SYSTEM_FILLS}};
  const uint32_t callee = hd_callee(m, call);
  if (callee == HD_NONE || m->funcs[callee].has_body) return HD_SYSTEM_UNKNOWN;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(m->syms[m->funcs[callee].sym].name, table[i].name) == 0) return table[i].does;
  return HD_SYSTEM_UNKNOWN;
}

bool hd_call_writes_nothing(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  const hd_system does = hd_system_called(m, call);
  return does == HD_SYSTEM_REPORTS || does == HD_SYSTEM_ALLOCATES || does == HD_SYSTEM_FREES;
}

typedef struct search {
  const hd_ptx_module *m;
  hd_arena *arena;
  uint32_t *number; /* per function: index into funcs + 1; 0: not reached */
  hd_reach *out;
  CFG_LIST(uint32_t) funcs, edges;
  CFG_LIST(uint32_t) first; /* into edges, per reached function, of which a body was read */
} search;

static void add(search *s, uint32_t func) {
  if (!s->m->funcs[func].has_body || s->number[func]) return;
  CFG_PUSH(s->arena, &s->funcs, func);
  s->number[func] = s->funcs.n;
}

static void note_symbol(search *s, hd_sym sym) {
  const hd_ptx_sym *y = &s->m->syms[sym];
  if (y->kind != HD_SYM_FUNC || s->m->funcs[y->decl].entry) return;
  add(s, y->decl);
  if (s->number[y->decl]) CFG_PUSH(s->arena, &s->edges, s->number[y->decl] - 1);
}

static void note_operands(search *s, uint32_t first, uint32_t n) {
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &s->m->opnds[i];
    switch ((hd_ptx_opnd_kind)o->kind) {
    case HD_O_SYM:
    case HD_O_ADDR:
    case HD_O_GENERIC:
      if (o->sym) note_symbol(s, o->sym);
      break;
    case HD_O_MASKED: note_operands(s, o->sym, 1); break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_INDEX: note_operands(s, o->sym, o->n_kids); break;
    case HD_O_NONE:
    case HD_O_REG:
    case HD_O_SREG:
    case HD_O_INT:
    case HD_O_F32:
    case HD_O_F64:
    case HD_O_SINK:
    case HD_O_STRING:
    case HD_O_RAW: break; /* names no function */
    }
  }
}

/* Functions whose addresses variables hold: tables of them, as C++ makes for virtual functions. */
static void note_initialisers(search *s) {
  for (uint32_t v = 0; v < s->m->n_vars; v++)
    if (s->m->vars[v].init) note_operands(s, s->m->vars[v].init - 1, 1);
}

static bool has_targets(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  for (uint32_t i = 0; i < call->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[call->first_opnd + i];
    if (o->kind == HD_O_SYM && m->syms[o->sym].kind == HD_SYM_TARGETS) return true;
  }
  return false;
}

static void read_call(search *s, const hd_ptx_stmt *st) {
  uint32_t callee = hd_callee(s->m, st);
  if (callee != HD_NONE) {
    s->out->unknown |= !s->m->funcs[callee].has_body;
  } else if (!has_targets(s->m, st)) {
    if (!s->out->unknown) note_initialisers(s);
    s->out->unknown = true;
  }
}

static void read_body(search *s, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind == HD_S_TARGETS) note_operands(s, st->first_opnd, st->n_opnds);
    if (st->kind != HD_S_INST) continue;
    note_operands(s, st->first_opnd, st->n_opnds);
    if (s->m->forms[st->form].flags & HD_OPF_CALLS) read_call(s, st);
  }
}

/* A function is recursive when it can be reached from itself. Of a call through a register, every function
 * may be the callee. */
static void find_recursion(search *s) {
  uint32_t n = s->funcs.n, *stack = HD_NEW_N(s->arena, n + 1, uint32_t);
  uint8_t *seen = HD_NEW_N(s->arena, n + 1, uint8_t);
  for (uint32_t f = 0; f < n; f++) {
    uint32_t top = 0;
    memset(seen, 0, n);
    stack[top++] = f;
    while (top && !s->out->recursive[f]) {
      uint32_t at = stack[--top];
      for (uint32_t e = s->first.data[at]; e < s->first.data[at + 1]; e++) {
        uint32_t to = s->edges.data[e];
        if (to == f) s->out->recursive[f] = true;
        if (seen[to]) continue;
        seen[to] = 1;
        stack[top++] = to;
      }
    }
  }
}

static bool has_calls(const hd_ptx_module *m) {
  for (uint32_t i = 0; i < m->n_forms; i++)
    if (m->forms[i].flags & HD_OPF_CALLS) return true;
  return false;
}

void hd_reach_find(const hd_ptx_module *m, uint32_t func, hd_arena *arena, hd_reach *out) {
  *out = (hd_reach){0};
  search s = {.m = m, .arena = arena, .out = out, .number = HD_NEW_N(arena, m->n_funcs + 1u, uint32_t)};
  bool calls = has_calls(m);
  add(&s, func);
  for (uint32_t i = 0; i < s.funcs.n; i++) {
    CFG_PUSH(arena, &s.first, s.edges.n);
    if (calls) read_body(&s, &m->funcs[s.funcs.data[i]]);
  }
  CFG_PUSH(arena, &s.first, s.edges.n);
  out->funcs = s.funcs.data;
  out->n = s.funcs.n;
  out->recursive = HD_NEW_N(arena, s.funcs.n + 1u, bool);
  if (calls) find_recursion(&s);
  if (out->unknown)
    for (uint32_t i = 1; i < out->n; i++) out->recursive[i] = true;
}
