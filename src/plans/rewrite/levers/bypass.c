/* bypass= and stream=: loads that bypass a cache, in some warps or in all.
 *
 * A warp's index in its CTA is its threads' linear id over 32; %warpid is a slot of the SM (BYP 4.2). Values
 * that depend on it are computed once, at entry, from %tid as the hardware gives it: `threads` moves threads
 * to other work, not to other warps.
 *
 * form=predicate: each load stands there twice, under opposite predicates (BYP listing 1); where there are
 * policies, once, with the warp's own.
 *
 * form=replicate: the body stands there twice, with one branch per warp at entry (BYP 6.1). Barriers are by
 * number, not by place: warps in either copy meet there. The original's labels stay with the first copy.
 *
 * form=auto: of many loads ptxas keeps both destinations alive when they stand there twice: 88 registers more
 * in a stencil of 98 loads, where two bodies take none. So predicates are for few loads, for policies, which
 * need no second load, and for bodies that are too long to be kept twice.
 *
 * Where the block is known and all or none of its warps bypass, no warp decides anything at run time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

/* form=auto. FEW: ptxas for sm_90 on the suite takes at most 4 registers more below it, up to 16 from it on.
 * LONG: statements, an instruction of 16 bytes for most; two bodies are to fit half of an SM's instruction
 * cache of 128 KB. */
enum { FEW_LOADS = 8, LONG_BODY = 2048 };

/* The changes to one load. */
typedef struct load {
  uint32_t stmt;
  bool streams;  /* in every warp */
  bool bypasses; /* in some */
  uint32_t form; /* then */
  uint32_t near; /* and else: its own, or that of a load that is not coherent */
  bool policy;   /* with an operand more */
} load;

typedef struct edit {
  rewrite_job own; /* with a prefix of its own */
  hd_bypass_kind around;
  hd_ptx_module *m;
  hd_ptx_func *f; /* as it was */
  hd_arena arena; /* of loads, and of a step's data */
  load *loads;
  size_t n;
  bool votes;   /* SMs differ in how many */
  bool decides; /* warps differ */
  hd_form form; /* not AUTO, then */
  hd_sym near, far, policy, guards[2];
  HD_VEC(hd_ptx_stmt) out;
} edit;

static hd_status no_memory(hd_diag *d) { return hd_nomem(d); }

/* ---- Choice of loads ----------------------------------------------------------------------- */

static bool is_streamed(const hd_stream *s, uint32_t number) {
  return s->kind == HD_STREAM_L1 || hd_numbers_has(&s->loads, number);
}

static bool is_unwritten(const hd_rewrite_options *o, uint32_t number) {
  for (uint32_t i = 0; i < o->n_unwritten; i++)
    if (o->unwritten[i] == number) return true;
  return false;
}

/* Refuse a kernel in which no load can be changed, naming its first one. */
static hd_status refuse_all(const edit *e, const hd_global_load *sites, const char *why, hd_diag *d) {
  if (!e->n) return hd_fail(d, HD_ERR_REFUSED, "no ld of the kernel reads global memory");
  return rewrite_refuse(e->m, &e->f->stmts[sites[0].stmt], why, d);
}

/* All warps of the CTAs, where their number is known. */
static bool all_warps(const rewrite_job *j, uint32_t warps) {
  uint32_t threads = rewrite_threads(j);
  return warps > UINT32_MAX / 32 || (threads && 32 * warps >= threads);
}

/* Memory declared in an inner scope would be there twice in a body that is: its first declaration, or NULL.
 */
static const hd_ptx_stmt *inner_memory(const hd_ptx_module *m, const hd_ptx_func *f) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *s = &f->stmts[i];
    depth += s->kind == HD_S_OPEN;
    depth -= s->kind == HD_S_CLOSE;
    if (s->kind != HD_S_VAR || !depth) continue;
    hd_mod space = m->vars[s->index].space;
    if (space != HD_M_REG && space != HD_M_PARAM) return s;
  }
  return NULL;
}

/* The four warps of a warpgroup execute one instruction together, and two copies would part them: the first
 * such instruction of the kernel or of a function that it reaches, or NULL. */
static hd_status find_of_warpgroup(const edit *e, const hd_ptx_stmt **out, hd_diag *d) {
  rewrite_scan look;
  const bool begun = rewrite_scan_begin(&look, e->m, e->own.func, NULL, 0);
  *out = NULL;
  for (const hd_ptx_func *f; begun && (f = rewrite_scan_next(&look));)
    for (uint32_t i = 0; i < f->n_stmts && !*out; i++) {
      const hd_ptx_stmt *s = &f->stmts[i];
      const hd_ptx_op op = s->kind == HD_S_INST ? e->m->forms[s->form].op : HD_OP_UNKNOWN;
      if (op == HD_OP_WGMMA || op == HD_OP_SETMAXNREG) *out = s;
    }
  rewrite_scan_end(&look);
  return begun ? HD_OK : no_memory(d);
}

static hd_form choose_form(const edit *e, size_t n_bypassed, bool of_warpgroup) {
  if (e->own.plan->form != HD_FORM_AUTO) return e->own.plan->form;
  bool policies = e->around == HD_BYPASS_L2 && rewrite_has_policies(e->m);
  bool twice = !policies && n_bypassed >= FEW_LOADS && e->f->n_stmts <= LONG_BODY &&
               !inner_memory(e->m, e->f) && !of_warpgroup;
  return twice ? HD_FORM_REPLICATE : HD_FORM_PREDICATE;
}

static hd_status choose(edit *e, const hd_global_load *sites, hd_diag *d) {
  const hd_plan *p = e->own.plan;
  const hd_stream *stream = &p->stream;
  hd_range beyond;
  if (hd_numbers_run(&stream->loads, e->n < HD_NUMBERS ? (uint32_t)e->n : HD_NUMBERS, &beyond))
    return hd_fail(d, HD_ERR_USAGE,
                   "stream: the kernel has %zu loads of global memory, numbered from 0; there is no %u", e->n,
                   beyond.first);
  bool streams = stream->kind != HD_STREAM_NONE, bypass = p->bypass.kind != HD_BYPASS_NONE;
  bool some = bypass && (e->votes || !all_warps(&e->own, p->bypass.warps));
  size_t n_streamed = 0, n_bypassed = 0;
  const char *first_kept = NULL;
  for (size_t i = 0; i < e->n; i++) {
    load *l = &e->loads[i];
    const hd_ptx_stmt *s = &e->f->stmts[sites[i].stmt];
    const char *kept = NULL;
    hd_status st = HD_OK;
    l->stmt = sites[i].stmt;
    l->near = s->form;
    if (streams && is_streamed(stream, (uint32_t)i)) {
      st = rewrite_respell(e->m, s, HD_BYPASS_L1, &l->form, &kept, d);
      l->streams = st == HD_OK && !kept;
      if (kept && stream->kind == HD_STREAM_LOADS) return rewrite_refuse(e->m, s, kept, d);
    } else if (bypass) {
      hd_ptx_stmt near = *s;
      if (e->around == HD_BYPASS_READONLY && is_unwritten(e->own.opt, (uint32_t)i))
        st = rewrite_make_readonly(e->m, s, &near.form, &kept, d);
      l->near = near.form;
      if (st == HD_OK) st = rewrite_respell(e->m, &near, e->around, &l->form, &kept, d);
      l->bypasses = st == HD_OK && !kept;
      l->policy = l->bypasses && e->around == HD_BYPASS_L2 && rewrite_has_policies(e->m);
    }
    if (st != HD_OK) return st;
    n_streamed += l->streams;
    n_bypassed += l->bypasses;
    if (!first_kept) first_kept = kept;
    if (l->bypasses && !some) l->bypasses = l->policy = false; /* cached in every warp: stays as it is */
  }
  if ((streams && !n_streamed) || (bypass && !n_bypassed && !n_streamed))
    return refuse_all(e, sites, first_kept ? first_kept : "no load of this kernel can be changed", d);
  e->decides = some && n_bypassed && (e->votes || p->bypass.warps);
  const hd_ptx_stmt *group;
  hd_status st = find_of_warpgroup(e, &group, d);
  e->form = choose_form(e, n_bypassed, st == HD_OK && group);
  return st;
}

/* ---- At entry -------------------------------------------------------------------------------- */

static hd_sym find_predicate(const hd_ptx_module *m, const rewrite_job *j, const char *name) {
  char full[96];
  snprintf(full, sizeof full, "%%%s_%s", j->prefix, name);
  return rewrite_find_register(m, full);
}

static hd_status put_header(edit *e, uint32_t *n_stmts, hd_diag *d) {
  const rewrite_job *j = &e->own;
  bool policy = false;
  for (size_t i = 0; i < e->n; i++) policy |= e->loads[i].policy;
  *n_stmts = 0;
  if (!e->decides && !policy) return HD_OK;
  hd_buf text = {0};
  if (e->decides) {
    char limit[32] = "%~limit";
    rewrite_put_linear_thread(j, &text);
    hd_status voting = e->votes ? rewrite_put_ballot(&e->own, &text, d) : HD_OK;
    if (voting != HD_OK) {
      hd_buf_free(&text);
      return voting;
    }
    if (!e->votes) snprintf(limit, sizeof limit, "%" PRIu64, (uint64_t)j->plan->bypass.warps * 32);
    rewrite_put(j, &text,
                "\t.reg .pred %%~near, %%~far, %%~a, %%~b;\n"
                "\tsetp.lt.u32 %%~near|%%~far, %%~linear, %s;\n",
                limit);
  }
  if (policy && e->decides && e->form == HD_FORM_PREDICATE)
    rewrite_put(j, &text,
                "\t.reg .b64 %%~policy;\n\tcreatepolicy.fractional.L2::evict_normal.b64 %%~policy, 1.0;\n"
                "\t@%%~far createpolicy.fractional.L2::evict_first.b64 %%~policy, 1.0;\n");
  else if (policy)
    rewrite_put(j, &text,
                "\t.reg .b64 %%~policy;\n\tcreatepolicy.fractional.L2::evict_first.b64 %%~policy, 1.0;\n");
  uint32_t before = e->f->n_stmts;
  hd_status st = text.failed ? no_memory(d) : hd_ptx_insert(e->m, j->func, 0, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  *n_stmts = e->f->n_stmts - before;
  e->near = find_predicate(e->m, j, "near");
  e->far = find_predicate(e->m, j, "far");
  e->guards[0] = find_predicate(e->m, j, "a");
  e->guards[1] = find_predicate(e->m, j, "b");
  e->policy = find_predicate(e->m, j, "policy");
  for (size_t i = 0; i < e->n; i++) e->loads[i].stmt += *n_stmts;
  return HD_OK;
}

/* ---- New statements ----------------------------------------------------------------------------- */

static hd_status push(edit *e, hd_ptx_stmt s, hd_diag *d) {
  return hd_vec_push(&e->out, s) ? HD_OK : no_memory(d);
}

/* The load as it goes around the cache. */
static hd_status far_load(edit *e, const load *l, hd_ptx_stmt *s, hd_diag *d) {
  s->form = l->form;
  if (!l->policy) return HD_OK;
  hd_ptx_opnd o[3] = {
      e->m->opnds[s->first_opnd], e->m->opnds[s->first_opnd + 1], {.kind = HD_O_REG, .sym = e->policy}};
  s->n_opnds = 3;
  return hd_ptx_add_operands(e->m, o, 3, &s->first_opnd, d);
}

/* A guard that holds where both the load's own and `with` do. Predicates are only negated by the guard, so
 * that @!p and q becomes @!(p or not q). */
static hd_status combine(edit *e, const hd_ptx_stmt *s, hd_sym with, hd_sym without, hd_sym into,
                         hd_diag *d) {
  hd_ptx_stmt op = {.kind = HD_S_INST, .n_opnds = 3};
  hd_ptx_opnd o[3] = {{.kind = HD_O_REG, .sym = into},
                      {.kind = HD_O_REG, .sym = s->guard},
                      {.kind = HD_O_REG, .sym = s->guard_neg ? without : with}};
  hd_status st = hd_ptx_add_form(e->m, s->guard_neg ? "or.pred" : "and.pred", &op.form, d);
  if (st == HD_OK) st = hd_ptx_add_operands(e->m, o, 3, &op.first_opnd, d);
  return st == HD_OK ? push(e, op, d) : st;
}

/* One load under opposite predicates. */
static hd_status put_pair(edit *e, const load *l, hd_diag *d) {
  hd_ptx_stmt near = e->f->stmts[l->stmt], far = near;
  near.form = l->near;
  hd_status st = far_load(e, l, &far, d);
  if (near.guard) {
    if (st == HD_OK) st = combine(e, &near, e->near, e->far, e->guards[0], d);
    if (st == HD_OK) st = combine(e, &near, e->far, e->near, e->guards[1], d);
    near.guard = e->guards[0];
    far.guard = e->guards[1];
  } else {
    near.guard = far.guard = e->near;
    far.guard_neg = 1;
  }
  if (st == HD_OK) st = push(e, near, d);
  return st == HD_OK ? push(e, far, d) : st;
}

static hd_status predicate(edit *e, uint32_t begin, hd_diag *d) {
  hd_status st = HD_OK;
  size_t next = 0;
  for (uint32_t i = 0; st == HD_OK && i < e->f->n_stmts; i++) {
    hd_ptx_stmt s = e->f->stmts[i];
    const load *l = next < e->n && e->loads[next].stmt == i ? &e->loads[next++] : NULL;
    if (i < begin || !l || !(l->streams || l->bypasses)) {
      if (l) s.form = l->near;
      st = push(e, s, d);
    } else if (l->bypasses && e->decides && !l->policy) {
      st = put_pair(e, l, d);
    } else {
      st = far_load(e, l, &s, d);
      if (st == HD_OK) st = push(e, s, d);
    }
  }
  return st;
}

/* ---- Two copies -------------------------------------------------------------------------------------- */

static bool is_name(uint8_t kind) { return kind == HD_S_LABEL || kind == HD_S_TARGETS || kind == HD_S_PROTO; }

/* The second copy's labels: `twin` by symbol. */
static hd_status twin_labels(edit *e, uint32_t begin, hd_sym *twin, hd_diag *d) {
  hd_status st = HD_OK;
  uint32_t n = 0;
  for (uint32_t i = begin; st == HD_OK && i < e->f->n_stmts; i++) {
    const hd_ptx_stmt *s = &e->f->stmts[i];
    char name[96];
    if (!is_name(s->kind)) continue;
    snprintf(name, sizeof name, "$%s_twin%u", e->own.prefix, n++);
    st = hd_ptx_add_label(e->m, name, s->sym, &twin[s->sym], d);
  }
  return st;
}

/* Operands with the second copy's labels in place of the first's. Labels stand alone, or in a list's kids. */
static hd_status twin_operands(edit *e, hd_ptx_stmt *s, const hd_sym *twin, hd_diag *d) {
  bool any = false;
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &e->m->opnds[s->first_opnd + k];
    any |= o->kind == HD_O_SYM && twin[o->sym];
  }
  if (!any) return HD_OK;
  hd_ptx_opnd *o = HD_NEW_N(&e->arena, s->n_opnds, hd_ptx_opnd);
  if (!o) return no_memory(d);
  memcpy(o, &e->m->opnds[s->first_opnd], s->n_opnds * sizeof *o);
  for (uint32_t k = 0; k < s->n_opnds; k++)
    if (o[k].kind == HD_O_SYM && twin[o[k].sym]) o[k].sym = twin[o[k].sym];
  return hd_ptx_add_operands(e->m, o, s->n_opnds, &s->first_opnd, d);
}

static hd_status push_text(edit *e, uint32_t from, uint32_t to, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = from; st == HD_OK && i < to; i++) st = push(e, e->f->stmts[i], d);
  return st;
}

static hd_status second_copy(edit *e, uint32_t begin, uint32_t end, const hd_sym *twin, hd_diag *d) {
  hd_status st = HD_OK;
  size_t next = 0;
  uint32_t depth = 0;
  for (uint32_t i = begin; st == HD_OK && i < end; i++) {
    hd_ptx_stmt s = e->f->stmts[i];
    const load *l = next < e->n && e->loads[next].stmt == i ? &e->loads[next++] : NULL;
    depth += s.kind == HD_S_OPEN;
    depth -= s.kind == HD_S_CLOSE;
    if (s.kind == HD_S_VAR && !depth) continue;
    s.line = 0;
    if (is_name(s.kind)) s.sym = twin[s.sym];
    st = twin_operands(e, &s, twin, d);
    if (st == HD_OK && l && l->bypasses) st = far_load(e, l, &s, d);
    if (st == HD_OK) st = push(e, s, d);
  }
  return st;
}

/* header; @!near bra far; body; ret; far: body. `begin` statements are the header. Variables of the outermost
 * scope are declared once; inner scopes come again with their registers. */
static hd_status replicate(edit *e, uint32_t begin, hd_diag *d) {
  const hd_ptx_stmt *inner = inner_memory(e->m, e->f), *group;
  hd_status st = find_of_warpgroup(e, &group, d);
  if (st == HD_OK && inner)
    st = rewrite_refuse(e->m, inner, "form=replicate would declare it twice; form=predicate does not", d);
  if (st == HD_OK && group)
    st = rewrite_refuse(e->m, group,
                        "form=replicate would part the warps of a warpgroup; form=predicate does not", d);
  hd_buf text = {0};
  rewrite_put(&e->own, &text, "\tret;\n$~far:\n\t@!%%~near bra $~far;\n");
  uint32_t end = e->f->n_stmts;
  if (st == HD_OK) st = text.failed ? no_memory(d) : hd_ptx_insert(e->m, e->own.func, end, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  hd_sym *twin = HD_NEW_N(&e->arena, (size_t)e->m->n_syms + 1, hd_sym);
  if (!twin) return no_memory(d);
  uint32_t ret = end, label = end + 1, branch = end + 2;
  /* Loads that stream do so in both copies. */
  for (size_t i = 0; st == HD_OK && i < e->n; i++)
    e->f->stmts[e->loads[i].stmt].form = e->loads[i].streams ? e->loads[i].form : e->loads[i].near;
  e->f->n_stmts = end;
  if (st == HD_OK) st = twin_labels(e, begin, twin, d);
  e->f->n_stmts = end + 3;
  if (st == HD_OK) st = push_text(e, 0, begin, d);
  if (st == HD_OK) st = push_text(e, branch, branch + 1, d);
  if (st == HD_OK) st = push_text(e, begin, end, d);
  if (st == HD_OK) st = push_text(e, ret, label + 1, d);
  if (st == HD_OK) st = second_copy(e, begin, end, twin, d);
  return st;
}

/* ---- All of it ------------------------------------------------------------------------------------- */

static hd_status edit_loads(edit *e, uint32_t *header, hd_diag *d) {
  hd_global_load *sites = HD_NEW_N(&e->arena, e->n + 1, hd_global_load);
  e->loads = HD_NEW_N(&e->arena, e->n + 1, load);
  if (!sites || !e->loads) return no_memory(d);
  hd_rewrite_loads(e->m, e->own.func, sites, e->n);
  hd_status st = choose(e, sites, d);
  if (st == HD_OK) st = put_header(e, header, d);
  if (st != HD_OK) return st;
  st = e->decides && e->form == HD_FORM_REPLICATE ? replicate(e, *header, d) : predicate(e, *header, d);
  return st == HD_OK ? hd_ptx_set_body(e->m, e->own.func, e->out.data, (uint32_t)e->out.n, d) : st;
}

static hd_status change_loads(const rewrite_job *j, uint32_t *header, hd_diag *d) {
  edit e = {.own = *j, .around = j->plan->bypass.kind, .m = j->m, .f = &j->m->funcs[j->func]};
  *header = 0;
  if (j->plan->stream.kind == HD_STREAM_AUTO)
    return hd_fail(d, HD_ERR_USAGE, "stream=auto is found in a workload's trace; name loads");
  if (e.around == HD_BYPASS_AUTO) {
    hd_status voting = rewrite_check_ballot(j, d);
    if (voting != HD_OK) return voting;
    e.votes = true;
    e.around = HD_BYPASS_L1;
  }
  /* The order's prefix may be chosen and not be used yet: one letter more makes this another. */
  e.own.prefix = hd_ptx_fresh_prefix(j->m);
  if (e.own.prefix) e.own.prefix = hd_arena_printf(j->m->arena, "%sb", e.own.prefix);
  if (!e.own.prefix) return no_memory(d);
  hd_arena_init(&e.arena);
  e.n = hd_rewrite_loads(j->m, j->func, NULL, 0);
  hd_status st = edit_loads(&e, header, d);
  hd_arena_free(&e.arena);
  hd_vec_free(&e.out);
  return st;
}

/* Around L1 and L2, each from a warp of its own: one after the other. Loads around L2 come first. Where they
 * take a policy they can go around L1 as well; where they are .cs they stream through it, and the others are
 * changed. */
static hd_status change_twice(const rewrite_job *j, uint32_t *header, hd_diag *d) {
  hd_plan far = *j->plan, near = *j->plan;
  rewrite_job first = *j, second = *j;
  uint32_t more = 0;
  far.bypass = (hd_bypass){.kind = HD_BYPASS_L2, .warps = j->plan->bypass.l2_warps};
  near.bypass = (hd_bypass){.kind = HD_BYPASS_L1, .warps = j->plan->bypass.warps};
  near.stream = (hd_stream){0};
  first.plan = &far;
  second.plan = &near;
  hd_status st = change_loads(&first, header, d);
  bool left = rewrite_has_policies(j->m) || far.bypass.warps;
  if (st == HD_OK && left) st = change_loads(&second, &more, d);
  *header += more;
  return st;
}

hd_status rewrite_loads(const rewrite_job *j, uint32_t *header, hd_diag *d) {
  return j->plan->bypass.kind == HD_BYPASS_L1_L2 ? change_twice(j, header, d) : change_loads(j, header, d);
}
