/* One list of instructions: the function's body with the module's functions in place of their calls.
 *
 * A call is inlined when its function is known, has a body, and does not call itself on the way; the
 * budget of instructions stops the rest. A call that is not inlined stays a call with unknown results.
 */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MAX_CALL_DEPTH = 64 };

typedef struct list {
  cfg *c;
  uint32_t max_insts;
  CFG_LIST(hd_inst) insts;
  CFG_LIST(hd_inlined) calls;
} list;

static bool may_inline(const list *l, uint32_t call, uint32_t callee, unsigned depth) {
  const hd_ptx_module *m = l->c->g.module;
  if (callee == HD_NONE || depth >= MAX_CALL_DEPTH) return false;
  if (m->funcs[callee].entry || !m->funcs[callee].has_body) return false;
  for (uint32_t c = call;; c = l->calls.data[c].parent) {
    if (l->calls.data[c].func == callee) return false;
    if (c == 0) break;
  }
  return (uint64_t)l->insts.n + m->funcs[callee].n_stmts <= l->max_insts;
}

static void add_body(list *l, uint32_t func, uint32_t site, uint32_t parent, unsigned depth) {
  const hd_ptx_module *m = l->c->g.module;
  const hd_ptx_func *f = &m->funcs[func];
  uint32_t call = l->calls.n;
  uint32_t *position = hd_arena_alloc(l->c->arena, ((size_t)f->n_stmts + 1) * sizeof *position, 4);
  CFG_PUSH(l->c->arena, &l->calls, ((hd_inlined){func, site, parent, HD_NONE, l->c->g.n_regs, position}));
  l->c->g.n_regs += f->n_regs;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    position[i] = l->insts.n;
    if (st->kind != HD_S_INST) continue;
    uint32_t inst = l->insts.n;
    CFG_PUSH(l->c->arena, &l->insts, ((hd_inst){func, i, 0, call, 0}));
    if (!l->max_insts || !(m->forms[st->form].flags & HD_OPF_CALLS)) continue;
    uint32_t callee = hd_callee(m, st);
    if (!may_inline(l, call, callee, depth)) continue;
    uint32_t body = l->calls.n;
    l->insts.data[inst].body = body;
    add_body(l, callee, inst, call, depth + 1);
    l->calls.data[body].after = l->insts.n;
  }
  position[f->n_stmts] = l->insts.n;
}

void cfg_inline(cfg *c, uint32_t func, uint32_t max_insts) {
  list l = {.c = c, .max_insts = max_insts};
  l.insts.cap = c->g.module->funcs[func].n_stmts + 1;
  l.insts.data = hd_arena_alloc(c->arena, l.insts.cap * sizeof *l.insts.data, 4);
  add_body(&l, func, HD_NONE, 0, 0);
  c->g.insts = l.insts.data;
  c->g.n_insts = l.insts.n;
  c->g.calls = l.calls.data;
  c->g.n_calls = l.calls.n;
}
