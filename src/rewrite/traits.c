/* The features that a kernel and the functions it can reach use. */
#include <setjmp.h>

#include "rewrite/rewrite_internal.h"

typedef struct search {
  const hd_ptx_module *m;
  rewrite_traits *out;
  uint8_t *seen_var;
  uint8_t *visible; /* per variable: inserted statements of the kernel see it */
} search;

/* Variables of the module, and of the kernel's outermost scope. */
static void find_visible(search *s, const hd_ptx_func *kernel) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < s->m->n_items; i++)
    if (s->m->items[i].kind == HD_I_VAR) s->visible[s->m->items[i].index] = 1;
  for (uint32_t i = 0; i < kernel->n_stmts; i++) {
    const hd_ptx_stmt *st = &kernel->stmts[i];
    depth += st->kind == HD_S_OPEN;
    depth -= st->kind == HD_S_CLOSE;
    if (st->kind == HD_S_VAR && !depth) s->visible[st->index] = 1;
  }
}

static bool is_shared(hd_mod space) {
  return space == HD_M_SHARED || space == HD_M_SHARED_CTA || space == HD_M_SHARED_CLUSTER;
}

static void see_variable(search *s, uint32_t var) {
  const hd_ptx_var *v = &s->m->vars[var];
  if (!is_shared(v->space)) return;
  s->out->shared = true;
  if (s->seen_var[var]) return;
  s->seen_var[var] = 1;
  uint64_t bytes = hd_ptx_var_size(s->m, v), align = hd_ptx_var_align(v);
  if (v->linkage & HD_LINK_EXTERN && (v->unsized || !bytes)) s->out->dynamic_shared = true;
  if (__builtin_add_overflow(s->out->shared_bytes, bytes + align, &s->out->shared_bytes))
    s->out->shared_bytes = UINT64_MAX / 2;
  if (s->visible[var] && bytes >= 8 && bytes != UINT64_MAX && align >= 4) s->out->shared_var = v->sym;
}

static bool see_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  search *s = ctx;
  const hd_ptx_sym *y = &s->m->syms[leaf->sym];
  if (!leaf->sym) return true;
  if (y->kind == HD_SYM_VAR) see_variable(s, y->decl);
  if (y->kind == HD_SYM_SREG) s->out->sees_shared_size |= hd_ptx_sreg_kind(y->index) == HD_SRK_SHARED_SIZE;
  return true;
}

static void see_form(rewrite_traits *t, const hd_ptx_form *f) {
  switch (f->op) {
  case HD_OP_BAR:
  case HD_OP_BARRIER: t->barrier |= !hd_ptx_form_has(f, HD_M_WARP); break;
  case HD_OP_MEMBAR:
  case HD_OP_FENCE: t->cta_scope |= hd_ptx_form_has(f, HD_M_CTA); break;
  case HD_OP_CP:
    t->shared = true;
    if (hd_ptx_form_has(f, HD_M_BULK))
      t->bulk_copies = true;
    else
      t->copies = true;
    break;
  case HD_OP_MBARRIER:
  case HD_OP_LDMATRIX:
  case HD_OP_STMATRIX:
  case HD_OP_WGMMA:
  case HD_OP_TCGEN05:
  case HD_OP_SETMAXNREG: t->shared = true; break;
  default: break;
  }
  for (unsigned k = 0; k < f->n_mods; k++) {
    t->shared |= is_shared(f->mods[k]);
    t->cta_scope |= f->mods[k] == HD_M_CTA;
  }
}

static void see_function(search *s, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind == HD_S_VAR) see_variable(s, st->index);
    if (st->kind != HD_S_INST) continue;
    see_form(s->out, &s->m->forms[st->form]);
    hd_ptx_visit(s->m, st, see_leaf, s);
  }
}

bool rewrite_find_traits(const hd_ptx_module *m, uint32_t func, rewrite_traits *out) {
  hd_arena arena;
  jmp_buf out_of_memory;
  *out = (rewrite_traits){0};
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  bool ok = !setjmp(out_of_memory);
  if (ok) {
    hd_reach reach;
    search s = {.m = m,
                .out = out,
                .seen_var = HD_NEW_N(&arena, m->n_vars + 1u, uint8_t),
                .visible = HD_NEW_N(&arena, m->n_vars + 1u, uint8_t)};
    find_visible(&s, &m->funcs[func]);
    hd_reach_find(m, func, &arena, &reach);
    for (uint32_t i = 0; i < reach.n; i++) see_function(&s, &m->funcs[reach.funcs[i]]);
  }
  hd_arena_free(&arena);
  return ok;
}
