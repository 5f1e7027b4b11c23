/* The features that a kernel and the functions it can reach use. */
#include <setjmp.h>

#include "rewrite/rewrite_internal.h"

typedef struct search {
  const hd_ptx_module *m;
  rewrite_traits *out;
  uint8_t *seen_var;
  uint8_t *visible; /* per variable: inserted statements of the kernel see it */
  uint8_t *late;    /* per variable: the module declares it behind the kernel */
  bool in_callee;   /* the function that is looked at is not the kernel */
} search;

static bool is_shared(hd_mod space) {
  return space == HD_M_SHARED || space == HD_M_SHARED_CTA || space == HD_M_SHARED_CLUSTER;
}

static void find_items(search *s, uint32_t kernel) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->m->n_items; i++)
    if (s->m->items[i].kind == HD_I_FUNC && s->m->items[i].index == kernel) at = i;
  for (uint32_t i = 0; i < s->m->n_items; i++) {
    if (s->m->items[i].kind != HD_I_VAR) continue;
    s->visible[s->m->items[i].index] = 1;
    s->late[s->m->items[i].index] = i > at;
  }
}

/* Of the kernel's outermost scope; not behind shared memory of an inner one, which would move if the
 * declaration did. */
static void find_visible(search *s, const hd_ptx_func *kernel) {
  uint32_t depth = 0;
  bool inner = false;
  for (uint32_t i = 0; i < kernel->n_stmts; i++) {
    const hd_ptx_stmt *st = &kernel->stmts[i];
    depth += st->kind == HD_S_OPEN;
    depth -= st->kind == HD_S_CLOSE;
    if (st->kind != HD_S_VAR) continue;
    inner |= depth && is_shared(s->m->vars[st->index].space);
    s->visible[st->index] = !depth && !inner;
  }
}

static void see_variable(search *s, uint32_t var) {
  const hd_ptx_var *v = &s->m->vars[var];
  if (!is_shared(v->space)) return;
  s->out->shared = true;
  s->out->shared_behind |= s->late[var];
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

/* Instructions that only make sense with shared memory, and name none. */
static bool implies_shared(const hd_ptx_form *f) {
  return f->op == HD_OP_CP || f->op == HD_OP_WGMMA || f->op == HD_OP_TCGEN05 || f->op == HD_OP_SETMAXNREG ||
         f->op == HD_OP_CLUSTERLAUNCHCONTROL || f->flags & HD_OPF_UNKNOWN;
}

bool rewrite_has_narrow_scope(const hd_ptx_form *f) {
  for (unsigned k = 0; k < f->n_mods; k++) {
    const unsigned scope = hd_ptx_mod_kind(f->mods[k]) == HD_MK_SCOPE ? hd_ptx_mod_value(f->mods[k]) : 0;
    if (scope == HD_SCOPE_CTA || scope == HD_SCOPE_CLUSTER) return true;
  }
  return false;
}

static void see_form(rewrite_traits *t, const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  t->barrier |= f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE);
  t->shared |= implies_shared(f) || a.unknown || hd_ptx_access_in(&a, HD_IN_ANY_SHARED | HD_IN_TMEM);
  t->copies |= rewrite_async_of(f) == REWRITE_ASYNC_COPY;
  t->bulk_copies |= rewrite_async_of(f) == REWRITE_ASYNC_BULK;
  t->cta_scope |= rewrite_has_narrow_scope(f);
  t->async_shared |= (a.bulk && a.async) || f->flags & HD_OPF_UNKNOWN;
  for (unsigned k = 0; k < f->n_mods; k++) t->shared |= is_shared(f->mods[k]);
}

rewrite_async rewrite_async_of(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (!a.async || a.kinds == HD_ACC_PREFETCH) return REWRITE_ASYNC_NONE;
  if (f->flags & (HD_OPF_LASTING | HD_OPF_UNKNOWN) || a.unknown) return REWRITE_ASYNC_OTHER;
  if (a.bulk && hd_ptx_form_has(f, HD_M_BULK_GROUP)) return REWRITE_ASYNC_BULK;
  return f->op == HD_OP_CP && !a.bulk && a.kinds & HD_ACC_WRITE ? REWRITE_ASYNC_COPY : REWRITE_ASYNC_OTHER;
}

static void see_function(search *s, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind == HD_S_VAR) {
      see_variable(s, st->index);
      s->out->shared_behind |= s->in_callee && is_shared(s->m->vars[st->index].space);
    }
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
                .visible = HD_NEW_N(&arena, m->n_vars + 1u, uint8_t),
                .late = HD_NEW_N(&arena, m->n_vars + 1u, uint8_t)};
    find_items(&s, func);
    find_visible(&s, &m->funcs[func]);
    hd_reach_find(m, func, &arena, &reach);
    for (uint32_t i = 0; i < reach.n; i++) {
      s.in_callee = reach.funcs[i] != func;
      see_function(&s, &m->funcs[reach.funcs[i]]);
    }
    out->shared_by_number = rewrite_shared_by_number(m, &reach, rewrite_shared_boundary(m), &arena);
  }
  hd_arena_free(&arena);
  return ok;
}
