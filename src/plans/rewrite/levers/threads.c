/* threads=ORDER: thread ids renumbered across CTA borders (SCH 5.1); threads=cta:ORDER: inside each CTA.
 *
 * The threads of a launch form a grid of (gx*bx, gy*by, gz*bz). Thread number p as the hardware runs them,
 * CTA by CTA and inside a CTA by linear id, takes the place of the p-th thread of the order: its coordinates
 * X, Y, Z give the %ctaid (X / bx, ...) and the %tid (X mod bx, ...) that it reads from then on. %ntid and
 * %nctaid stay. Where `order` or `bind` change which task a CTA does, p counts from that task.
 *
 * That is the same program where no thread works with another one of its CTA or warp: no barriers, no shared
 * memory, no warp-wide operations, no look at its lane.
 *
 * Inside a CTA, thread number p takes the place of the p-th thread of an order of the block. Each CTA keeps
 * its threads, so that its barriers and its shared memory work as before; only operations of whole warps
 * change. A warp's threads may then part where only whole warps did: the barriers of a kernel of which not
 * all threads run all barriers alike lose their .aligned. Refused are those in loops that the threads leave
 * one by one, and reductions beside other barriers: docs/decisions/agents-need-uniform-code.md says why. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/levers/threads.h"

/* ---- Refusals -------------------------------------------------------------------------- */

typedef struct scan {
  rewrite_scan look;
  bool in_cta;
  bool writes;       /* global memory, somewhere */
  uint32_t block[3]; /* known or {0} */
} scan;

#define TOGETHER "the threads of a CTA meet here, and threads= would put others together"
#define WARP_WIDE "the threads of a warp work together here, and threads= would put others together"
#define SHARED "shared memory belongs to a CTA, and threads= would put other threads into it"
#define WHOLE_LINE                                                                                           \
  "one thread gives up a line that its neighbours have used, and threads= would give it other neighbours"
#define LANE "it gives the thread's place in its warp, which threads= changes"

/* Code for one warp without barriers stores, and loads what another lane stored before: by volatile, or by
 * relaxed accesses, or with .cv. A load that no store of the kernel can reach tells it nothing of its warp.
 */
static bool relies_on_warp(const scan *s, const hd_ptx_access *a) {
  if (!rewrite_is_strong(a) || !(a->kinds & HD_ACC_READ) || a->kinds & HD_ACC_ATOMIC) return false;
  return s->writes && hd_ptx_access_in(a, HD_IN_ANY_GLOBAL);
}

/* A generic address from one that is a number. */
static bool makes_shared(const hd_ptx_form *f) {
  bool shared = false;
  for (unsigned k = 0; k < f->n_mods; k++)
    shared |= hd_ptx_mod_kind(f->mods[k]) == HD_MK_SPACE && hd_ptx_mod_value(f->mods[k]) & HD_IN_ANY_SHARED;
  return f->op == HD_OP_CVTA && shared;
}

/* The text promises that the lanes of a warp go one way, call one function, or load from one address, for the
 * warps as they are. */
static bool promises_warps(const scan *s, const hd_ptx_form *f, const hd_ptx_stmt *st) {
  if (f->op == HD_OP_LDU) return true;
  const bool calls_any = f->flags & HD_OPF_CALLS && hd_callee(s->look.m, st) == HD_NONE;
  return hd_ptx_form_has(f, HD_M_UNI) && (st->guard || f->op == HD_OP_BRX || calls_any);
}

static const char *why_in_grid(const scan *s, const hd_ptx_form *f, const hd_ptx_stmt *st) {
  hd_ptx_access a = hd_ptx_access_of(f);
  if (promises_warps(s, f, st)) return WARP_WIDE;
  if (relies_on_warp(s, &a)) return REWRITE_PARTS_A_WARP;
  if (a.kinds & HD_ACC_DISCARD) return WHOLE_LINE;
  if (f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE) || rewrite_has_narrow_scope(f)) return TOGETHER;
  for (unsigned i = 0; i < a.n; i++)
    if (a.touches[i].space & (HD_IN_ANY_SHARED | HD_IN_TMEM)) return SHARED;
  if (f->op == HD_OP_CP || makes_shared(f)) return SHARED; /* also waits for copies into it */
  return f->flags & (HD_OPF_WARP_WIDE | HD_OPF_SEES_LANES) ? WARP_WIDE : NULL;
}

#define PART "a barrier of some warps counts them, and threads=cta: would put their threads into others"

/* A barrier that counts all threads of the CTA, and reduces over them. Where it says how many, they must be
 * whole warps: threads that come to it apart are counted one by one. */
static bool counts_all(const scan *s, const hd_ptx_form *f, const hd_ptx_stmt *st) {
  if (!hd_ptx_form_has(f, HD_M_RED) && !hd_ptx_form_has(f, HD_M_SYNC)) return false;
  const uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
  return !hd_ptx_barrier_count(s->look.m, st) ||
         (threads && threads % 32 == 0 && hd_ptx_barrier_threads(s->look.m, st, s->block) == threads);
}

/* The same in shared memory, where code for one warp is written with volatile on either side. */
static bool talks_in_shared(const hd_ptx_form *f, const hd_ptx_access *a) {
  if (!hd_ptx_access_in(a, HD_IN_ANY_SHARED | HD_IN_GENERIC)) return false;
  return a->order == HD_ORDERED_VOLATILE || (rewrite_is_strong(a) && f->op == HD_OP_LD);
}

static const char *why_in_cta(const scan *s, const hd_ptx_form *f, const hd_ptx_stmt *st) {
  if (promises_warps(s, f, st)) return WARP_WIDE;
  if (f->flags & (HD_OPF_WARP_WIDE | HD_OPF_SEES_LANES)) return WARP_WIDE;
  if (f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE))
    return f->flags & HD_OPF_CTA_WIDE && counts_all(s, f, st) ? NULL : PART;
  hd_ptx_access a = hd_ptx_access_of(f);
  if (a.kinds & HD_ACC_DISCARD) return WHOLE_LINE;
  return talks_in_shared(f, &a) || relies_on_warp(s, &a) ? REWRITE_PARTS_A_WARP : NULL;
}

typedef struct reader {
  scan *s;
  const hd_ptx_func *f;
  const hd_ptx_stmt *st;
} reader;

static bool refuse(const reader *r, hd_refusal_kind kind, const char *why) {
  rewrite_scan_refuse(&r->s->look, kind, r->st, why);
  return false;
}

/* False: refused. One refusal an instruction is enough. */
static bool scan_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  const reader *r = ctx;
  const hd_ptx_module *m = r->s->look.m;
  const hd_ptx_sym *y = &m->syms[leaf->sym];
  if (y->kind == HD_SYM_SREG) {
    if (hd_ptx_sreg_kind(y->index) == HD_SRK_LANE) return refuse(r, HD_REFUSE_WORKS_TOGETHER, LANE);
    if (y->index == HD_SR_TID && !r->f->entry)
      return refuse(r, HD_REFUSE_TID_IN_FUNC, "%tid is read in a function that is not inlined");
  }
  if (y->kind == HD_SYM_VAR && !r->s->in_cta && hd_ptx_mod_value(m->vars[y->decl].space) & HD_IN_ANY_SHARED)
    return refuse(r, HD_REFUSE_WORKS_TOGETHER, SHARED);
  return true;
}

static void scan_inst(scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st) {
  const hd_ptx_form *form = &s->look.m->forms[st->form];
  const char *why = s->in_cta ? why_in_cta(s, form, st) : why_in_grid(s, form, st);
  if (why)
    rewrite_scan_refuse(&s->look, HD_REFUSE_WORKS_TOGETHER, st, why);
  else
    hd_ptx_visit(s->look.m, st, scan_leaf, &(reader){s, f, st});
}

/* A function whose body is not here, or not known, may write; a quiet one of the system's does not. */
static bool leaves_module(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  const uint32_t callee = hd_callee(m, s);
  return !hd_call_writes_nothing(m, s) && (callee == HD_NONE || !m->funcs[callee].has_body);
}

static bool writes_global(rewrite_scan *s) {
  bool writes = false;
  for (const hd_ptx_func *f; (f = rewrite_scan_next(s));)
    for (uint32_t i = 0; i < f->n_stmts && !writes; i++) {
      if (f->stmts[i].kind != HD_S_INST) continue;
      const hd_ptx_form *form = &s->m->forms[f->stmts[i].form];
      const hd_ptx_access a = hd_ptx_access_of(form);
      writes = a.unknown || hd_ptx_access_in(&a, HD_IN_ANY_GLOBAL) & HD_ACC_WRITE ||
               (form->flags & HD_OPF_CALLS && leaves_module(s->m, &f->stmts[i]));
    }
  s->next = 0;
  return writes;
}

/* ---- Barriers at which the threads of a warp part ----------------------------------------- */

static bool is_aligned_barrier(const hd_ptx_form *f) {
  return f->flags & HD_OPF_CTA_WIDE && (f->op == HD_OP_BAR || hd_ptx_form_has(f, HD_M_ALIGNED));
}

typedef struct parting {
  hd_ptx_stmt *st;
  bool in_function; /* which may be called from several places */
  bool in_cycle;    /* which the threads of a CTA leave one after the other */
} parting;
typedef HD_VEC(parting) partings;

/* A statement of the kernel in a cycle that not all threads of a CTA leave together. */
static bool left_apart(const hd_cfg *g, const hd_uniformity *same, uint32_t stmt) {
  const uint32_t inst = g->calls[0].position[stmt];
  const bool in_cycle = g->irreducible || g->blocks[g->insts[inst].block].loop != HD_NONE;
  return in_cycle && hd_inst_same(same, inst) != HD_SAME_IN_CTA;
}

static bool any_call_apart(const hd_cfg *g, const hd_uniformity *same) {
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (hd_inst_form(g, i)->flags & HD_OPF_CALLS && left_apart(g, same, g->insts[i].stmt)) return true;
  return false;
}

/* Lists the barriers of all functions that are reached. *parts: not all threads of a CTA run all of them
 * alike. */
static hd_status list_partings(const hd_cfg *g, const hd_uniformity *same, const hd_reach *reach,
                               partings *out, bool *parts, hd_diag *d) {
  const hd_ptx_module *m = g->module;
  const uint32_t func = g->calls[0].func;
  const bool calls_apart = any_call_apart(g, same);
  for (uint32_t k = 0; k < reach->n; k++) {
    const hd_ptx_func *f = &m->funcs[reach->funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++) {
      if (f->stmts[i].kind != HD_S_INST || !(m->forms[f->stmts[i].form].flags & HD_OPF_CTA_WIDE)) continue;
      const bool own = reach->funcs[k] == func;
      const parting p = {&f->stmts[i], !own, own ? left_apart(g, same, i) : calls_apart};
      *parts |= !own || hd_inst_same(same, g->calls[0].position[i]) != HD_SAME_IN_CTA;
      if (!hd_vec_push(out, p)) return hd_nomem(d);
    }
  }
  return HD_OK;
}

/* The barriers of the kernel and of its functions, where not all threads of a CTA run all of them alike; else
 * none. One that all run alike is among them: with other threads in each warp, some of a warp may be there
 * while others still are at one before it. */
static hd_status find_parting(const hd_ptx_module *m, uint32_t func, const uint32_t given[3], partings *out,
                              hd_diag *d) {
  hd_cfg g;
  hd_arena arena;
  uint32_t block[3];
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  rewrite_find_block(m, func, given, block);
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : hd_cfg_build(m, func, 0, &arena, &g, d);
  if (st == HD_OK) {
    hd_uniformity same;
    hd_reach reach;
    bool parts = false;
    hd_uniformity_find(&g, block, &arena, &same);
    hd_reach_find(m, func, &arena, &reach);
    st = list_partings(&g, &same, &reach, out, &parts, d);
    if (st == HD_OK && !parts) out->n = 0;
  }
  hd_arena_free(&arena);
  return st;
}

bool rewrite_lanes_can_part(const hd_ptx_module *m) { return m->sm >= 70 && m->version_major >= 6; }

#define OLD_GPU "threads=cta: would part threads of a warp here, which needs sm_70"
#define ONE_BY_ONE                                                                                           \
  "lanes of a warp would leave a loop with a barrier one by one, which an H100 does not follow"
#define SEVERAL "lanes of a warp would meet here from another barrier, and this one has an answer"

static const char *why_not_apart(const hd_ptx_module *m, const partings *all, const parting *p) {
  if (!rewrite_lanes_can_part(m)) return OLD_GPU;
  if (p->in_cycle) return ONE_BY_ONE;
  return (all->n > 1 || p->in_function) && hd_ptx_form_has(&m->forms[p->st->form], HD_M_RED) ? SEVERAL : NULL;
}

/* The paths through functions are not examined, and threads that end in one attend no barrier any more. */
static void scan_exits(scan *s, uint32_t func) {
  const hd_ptx_module *m = s->look.m;
  hd_arena arena;
  hd_reach reach;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  if (setjmp(out_of_memory)) {
    rewrite_scan_refuse(&s->look, HD_REFUSE_NO_MEMORY, NULL, "no memory");
  } else {
    hd_reach_find(m, func, &arena, &reach);
    for (uint32_t k = 1; k < reach.n; k++)
      for (uint32_t i = 0; i < m->funcs[reach.funcs[k]].n_stmts; i++) {
        const hd_ptx_stmt *st = &m->funcs[reach.funcs[k]].stmts[i];
        if (st->kind == HD_S_INST && m->forms[st->form].op == HD_OP_EXIT)
          rewrite_scan_refuse(&s->look, HD_REFUSE_WORKS_TOGETHER, st,
                              "ends the thread from within a function");
      }
  }
  hd_arena_free(&arena);
}

static void scan_parting(scan *s, uint32_t func) {
  hd_diag d;
  partings all = {0};
  scan_exits(s, func);
  if (find_parting(s->look.m, func, s->block, &all, &d) != HD_OK)
    rewrite_scan_refuse(&s->look, d.status == HD_ERR_NOMEM ? HD_REFUSE_NO_MEMORY : HD_REFUSE_NO_BODY, NULL,
                        d.message);
  for (size_t i = 0; i < all.n; i++) {
    const char *why = why_not_apart(s->look.m, &all, &all.data[i]);
    if (why) rewrite_scan_refuse(&s->look, HD_REFUSE_WORKS_TOGETHER, all.data[i].st, why);
  }
  hd_vec_free(&all);
}

/* bar is barrier.aligned. */
static hd_status unalign(hd_ptx_module *m, hd_ptx_stmt *s, hd_diag *d) {
  const hd_ptx_form *f = &m->forms[s->form];
  hd_buf text = {0};
  hd_buf_puts(&text, "barrier");
  for (unsigned k = 0; k < f->n_mods; k++)
    if (f->mods[k] != HD_M_ALIGNED) hd_buf_printf(&text, ".%s", hd_ptx_mod_text(m, f->mods[k]));
  hd_status st = text.failed ? hd_nomem(d) : hd_ptx_add_form(m, text.data, &s->form, d);
  hd_buf_free(&text);
  return st;
}

static hd_status part_barriers(const rewrite_job *j, hd_diag *d) {
  partings all = {0};
  hd_status st = find_parting(j->m, j->func, j->block, &all, d);
  for (size_t i = 0; st == HD_OK && i < all.n; i++)
    if (is_aligned_barrier(&j->m->forms[all.data[i].st->form])) st = unalign(j->m, all.data[i].st, d);
  hd_vec_free(&all);
  return st;
}

size_t hd_rewrite_thread_refusals(const hd_ptx_module *m, uint32_t func, bool in_cta, const uint32_t block[3],
                                  hd_refusal *out, size_t cap) {
  if (!m->funcs[func].has_body) return 0; /* hd_rewrite_refusals says so */
  scan s = {.in_cta = in_cta};
  rewrite_find_block(m, func, block, s.block);
  if (rewrite_scan_begin(&s.look, m, func, out, cap)) {
    s.writes = writes_global(&s.look);
    for (const hd_ptx_func *f; (f = rewrite_scan_next(&s.look));)
      for (uint32_t i = 0; i < f->n_stmts; i++)
        if (f->stmts[i].kind == HD_S_INST) scan_inst(&s, f, &f->stmts[i]);
    s.look.next = 0;
    if (!s.look.n) rewrite_scan_warp_talk(&s.look, func, s.block);
    if (in_cta && !s.look.n) scan_parting(&s, func);
  }
  rewrite_scan_end(&s.look);
  return s.look.n;
}

/* ---- The arithmetic ------------------------------------------------------------------------ */

typedef struct remap {
  rewrite_job own;    /* with a prefix of its own */
  bool known;         /* grid and block; in_cta: the block */
  uint32_t extent[3]; /* known: of the grid of threads; in_cta: of the block */
  rewrite_reads ctaid, tid;
} remap;

static bool wants(const remap *r, unsigned k) { return r->ctaid.want[k] || r->tid.want[k]; }

/* Known launches: 2^32 threads or more are refused, so that nothing takes 64 bits. */
static hd_status find_extent(remap *r, hd_diag *d) {
  const hd_grid *g = &r->own.opt->grid;
  const uint32_t *b = r->own.block;
  uint64_t V, total;
  r->known = g->known && b[0] && b[1] && b[2];
  if (!r->known) return HD_OK;
  if (!hd_grid_tasks(g->g, &V) || __builtin_mul_overflow(V, rewrite_threads(&r->own), &total) ||
      total > UINT32_MAX)
    return hd_fail(d, HD_ERR_REFUSED, "threads: a launch of 2^32 threads or more keeps its own order");
  for (unsigned k = 0; k < 3; k++) r->extent[k] = g->g[k] * b[k];
  return HD_OK;
}

/* %~p of a known launch; dimensions of 1 are left out. */
static void put_known_position(const remap *r, hd_buf *t) {
  const rewrite_job *j = &r->own;
  const uint32_t *g = j->opt->grid.g;
  rewrite_put(j, t, "\t.reg .b32 %%~p, %%~q;\n\tmov.u32 %%~p, %%ctaid.x;\n");
  if (g[1] > 1 || g[2] > 1) {
    rewrite_put(j, t, "\tmov.u32 %%~q, %%ctaid.y;\n");
    if (g[2] > 1)
      rewrite_put(j, t,
                  "\t.reg .b32 %%~cz;\n\tmov.u32 %%~cz, %%ctaid.z;\n\tmad.lo.u32 %%~q, %%~cz, %u, %%~q;\n",
                  g[1]);
    rewrite_put(j, t, "\tmad.lo.u32 %%~p, %%~q, %u, %%~p;\n", g[0]);
  }
  rewrite_put_linear_thread(j, t);
  rewrite_put(j, t, "\tmad.lo.u32 %%~p, %%~p, %u, %%~linear;\n", rewrite_threads(j));
}

/* The same for any launch, with its dimensions in %~ex %~ey %~ez %~v, and %~bx ... of the block. Launches of
 * 2^32 threads or more keep their order. */
static void put_any_position(const remap *r, hd_buf *t) {
  const rewrite_job *j = &r->own;
  rewrite_put(j, t,
              "\t.reg .b32 %%~p, %%~q, %%~t, %%~v;\n\t.reg .b64 %%~ctas, %%~wide;\n\t.reg .pred %%~large;\n");
  for (unsigned k = 0; k < 3; k++) {
    char c = "xyz"[k];
    rewrite_put(j, t,
                "\t.reg .b32 %%~n%c, %%~b%c, %%~e%c, %%~c%c, %%~t%c;\n\tmov.u32 %%~n%c, %%nctaid.%c;\n"
                "\tmov.u32 %%~b%c, %%ntid.%c;\n\tmov.u32 %%~c%c, %%ctaid.%c;\n\tmov.u32 %%~t%c, %%tid.%c;\n",
                c, c, c, c, c, c, c, c, c, c, c, c, c);
  }
  rewrite_put(j, t,
              "\tmul.wide.u32 %%~ctas, %%~ny, %%~nz;\n\tcvt.u64.u32 %%~wide, %%~nx;\n"
              "\tmul.lo.u64 %%~ctas, %%~ctas, %%~wide;\n\tsetp.gt.u64 %%~large, %%~ctas, 4294967295;\n"
              "\t@%%~large bra $~kept;\n\tcvt.u32.u64 %%~v, %%~ctas;\n\tmul.lo.u32 %%~t, %%~bx, %%~by;\n"
              "\tmul.lo.u32 %%~t, %%~t, %%~bz;\n\tmul.wide.u32 %%~wide, %%~v, %%~t;\n"
              "\tsetp.gt.u64 %%~large, %%~wide, 4294967295;\n\t@%%~large bra $~kept;\n"
              "\tcvt.u32.u64 %%~v, %%~wide;\n"
              "\tmad.lo.u32 %%~p, %%~cz, %%~ny, %%~cy;\n\tmad.lo.u32 %%~p, %%~p, %%~nx, %%~cx;\n"
              "\tmad.lo.u32 %%~q, %%~tz, %%~by, %%~ty;\n\tmad.lo.u32 %%~q, %%~q, %%~bx, %%~tx;\n"
              "\tmad.lo.u32 %%~p, %%~p, %%~t, %%~q;\n");
  for (unsigned k = 0; k < 3; k++)
    rewrite_put(j, t, "\tmul.lo.u32 %%~e%c, %%~n%c, %%~b%c;\n", "xyz"[k], "xyz"[k], "xyz"[k]);
}

static void name_of(const remap *r, const char *what, char out[96]) {
  snprintf(out, 96, "%%%s_%s", r->own.prefix, what);
}

/* From the position %~NAME to the registers of X, Y, Z. */
static hd_status put_order(const remap *r, const char *position, char names[3][64], hd_buf *t, hd_diag *d) {
  hd_plan p = {.order = r->own.plan->threads};
  hd_grid g = {.known = r->known, .g = {r->extent[0], r->extent[1], r->extent[2]}, .n_sms = 1};
  hd_prog prog;
  hd_status st = hd_plan_forward(&p, &g, &prog, d);
  if (st != HD_OK) return st;
  char in[96], prefix[96], dims[4][96];
  name_of(r, position, in);
  snprintf(prefix, sizeof prefix, "%s_o", r->own.prefix);
  rewrite_lowering l = {.prefix = prefix, .in = in, .want = {wants(r, 0), wants(r, 1), wants(r, 2)}};
  for (unsigned k = 0; k < 4; k++) {
    name_of(r, (const char *const[]){"ex", "ey", "ez", "v"}[k], dims[k]);
    l.dims[k] = r->known ? NULL : dims[k];
  }
  return rewrite_lower(&prog, &l, names, t, d);
}

/* X to X / bx and X mod bx. Programs need no builder to be so short. */
static hd_status put_split(const remap *r, unsigned k, const char *X, char names[3][64], hd_buf *t,
                           hd_diag *d) {
  uint32_t b = r->own.block[k];
  hd_prog prog = {.n = 5};
  uint64_t most = r->known ? r->extent[k] - 1 : UINT32_MAX, most_cta = r->known ? most / b : most;
  prog.vals[0] = (hd_pval){.op = HD_P_POS, .max = most};
  prog.vals[1] =
      r->known ? (hd_pval){.op = HD_P_CONST, .imm = b, .max = b} : (hd_pval){.op = HD_P_NX, .max = 1024};
  prog.vals[2] = (hd_pval){.op = HD_P_DIV, .a = 0, .b = 1, .max = most_cta};
  prog.vals[3] = (hd_pval){.op = HD_P_MUL, .a = 2, .b = 1, .max = most};
  prog.vals[4] = (hd_pval){.op = HD_P_SUB, .a = 0, .b = 3, .max = r->known ? b - 1 : 1023};
  if (r->known && (b & (b - 1)) == 0) /* one instruction, and independent of the quotient */
    prog.vals[4] = (hd_pval){.op = HD_P_REM, .a = 0, .b = 1, .max = b - 1};
  prog.out[0] = 2;
  prog.out[1] = prog.out[2] = 4;
  char prefix[96], dim[96];
  snprintf(prefix, sizeof prefix, "%s_%c", r->own.prefix, "xyz"[k]);
  name_of(r, (const char *const[]){"bx", "by", "bz"}[k], dim);
  rewrite_lowering l = {.prefix = prefix, .in = X, .want = {r->ctaid.want[k], r->tid.want[k]}};
  l.dims[0] = r->known ? NULL : dim;
  return rewrite_lower(&prog, &l, names, t, d);
}

/* The registers that replace coordinate k. */
static hd_status put_coordinate(remap *r, unsigned k, const char *X, hd_buf *t, hd_diag *d) {
  char names[3][64];
  if (r->known && r->own.block[k] == 1) {
    snprintf(r->ctaid.names[k], sizeof r->ctaid.names[k], "%s", X);
    snprintf(r->tid.names[k], sizeof r->tid.names[k], "0");
    return HD_OK;
  }
  hd_status st = put_split(r, k, X, names, t, d);
  if (st != HD_OK) return st;
  memcpy(r->ctaid.names[k], names[0], 64);
  memcpy(r->tid.names[k], names[1], 64);
  if (r->known) return HD_OK;
  /* Launches that keep their order skip this: one register either way. */
  char c = "xyz"[k];
  if (r->ctaid.want[k]) rewrite_put(&r->own, t, "\tmov.u32 %%~c%c, %s;\n", c, names[0]);
  if (r->tid.want[k]) rewrite_put(&r->own, t, "\tmov.u32 %%~t%c, %s;\n", c, names[1]);
  snprintf(r->ctaid.names[k], 64, "%%%s_c%c", r->own.prefix, c);
  snprintf(r->tid.names[k], 64, "%%%s_t%c", r->own.prefix, c);
  return HD_OK;
}

static hd_status put_remap(remap *r, hd_buf *t, hd_diag *d) {
  char X[3][64];
  if (r->known)
    put_known_position(r, t);
  else
    put_any_position(r, t);
  hd_status st = put_order(r, "p", X, t, d);
  for (unsigned k = 0; st == HD_OK && k < 3; k++)
    if (wants(r, k)) st = put_coordinate(r, k, X[k], t, d);
  if (!r->known) rewrite_put(&r->own, t, "$~kept:\n");
  rewrite_put_halves(&r->own, &r->ctaid, 'h', t);
  rewrite_put_halves(&r->own, &r->tid, 'm', t);
  return st == HD_OK && t->failed ? hd_nomem(d) : st;
}

/* The same inside a CTA: the place of the thread whose position in the block's order is this one's number. */
static hd_status put_in_cta(remap *r, hd_buf *t, hd_diag *d) {
  const rewrite_job *j = &r->own;
  char X[3][64];
  rewrite_put_linear_thread(j, t);
  if (!r->known)
    rewrite_put(
        j, t,
        "\t.reg .b32 %%~ex, %%~ey, %%~ez, %%~v;\n\tmov.u32 %%~ex, %%ntid.x;\n\tmov.u32 %%~ey, %%ntid.y;\n"
        "\tmov.u32 %%~ez, %%ntid.z;\n\tmul.lo.u32 %%~v, %%~ex, %%~ey;\n"
        "\tmul.lo.u32 %%~v, %%~v, %%~ez;\n");
  hd_status st = put_order(r, "linear", X, t, d);
  if (st != HD_OK) return st;
  for (unsigned k = 0; k < 3; k++)
    if (r->tid.want[k]) memcpy(r->tid.names[k], X[k], sizeof r->tid.names[k]);
  rewrite_put_halves(j, &r->tid, 'm', t);
  return t->failed ? hd_nomem(d) : HD_OK;
}

hd_status rewrite_threads_order(const rewrite_job *j, hd_diag *d) {
  remap r = {.own = *j};
  hd_refusal why;
  bool in_cta = j->plan->threads_in_cta;
  hd_status st =
      rewrite_first_refusal(&why, hd_rewrite_thread_refusals(j->m, j->func, in_cta, j->block, &why, 1), d);
  if (st == HD_OK && !in_cta) st = rewrite_find_reads(j->m, &j->m->funcs[j->func], HD_SR_CTAID, &r.ctaid, d);
  if (st == HD_OK) st = rewrite_find_reads(j->m, &j->m->funcs[j->func], HD_SR_TID, &r.tid, d);
  if (st == HD_OK && !in_cta) st = find_extent(&r, d);
  if (in_cta) {
    r.known = j->block[0] && j->block[1] && j->block[2];
    memcpy(r.extent, j->block, sizeof r.extent);
  }
  if (st != HD_OK || !(wants(&r, 0) || wants(&r, 1) || wants(&r, 2))) return st;
  if (in_cta) st = part_barriers(j, d);
  if (st != HD_OK) return st;
  r.own.prefix = hd_ptx_fresh_prefix(j->m);
  if (!r.own.prefix) return hd_nomem(d);
  hd_buf text = {0};
  st = in_cta ? put_in_cta(&r, &text, d) : put_remap(&r, &text, d);
  uint32_t before = j->m->funcs[j->func].n_stmts;
  if (st == HD_OK) st = hd_ptx_insert(j->m, j->func, 0, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  uint32_t begin = j->m->funcs[j->func].n_stmts - before;
  if (!in_cta) rewrite_replace_reads(&r.own, HD_SR_CTAID, &r.ctaid, 'h', begin);
  rewrite_replace_reads(&r.own, HD_SR_TID, &r.tid, 'm', begin);
  return HD_OK;
}
