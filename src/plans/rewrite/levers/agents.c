/* bind=agents and bind=cancel: a kernel's body becomes the body of a loop over tasks.
 *
 * A thread that would have ended waits for its warp's (or CTA's) next task instead. That is sound under two
 * conditions:
 *   - No barrier, and no operation that a warp does together, waits for threads that wait for the next task,
 *     as it does not wait for threads that have ended. Where some warps may skip a barrier, those that have
 *     ended attend it (attend.c). Where some lanes of a warp may skip either, the kernel is refused.
 *   - No task may see state that the task before it left in registers, shared memory or the SM. Shared
 *     memory starts undefined, and the loop's own barrier keeps tasks apart; registers that a body might
 *     read before it writes them are zeroed; products of a warpgroup (wgmma) must have been waited for on
 *     every way to the task's end; any other lasting state is refused. */
#include <stdlib.h>
#include <string.h>

#include "heddle/cfg.h"
#include "rewrite/rewrite_internal.h"

/* Above this size liveness is not worth its memory. */
enum { MOST_LIVE_BYTES = 1 << 26 };

typedef struct scan {
  rewrite_scan look;
  hd_cfg graph; /* of the kernel's own body */
  hd_uniformity same;
  hd_writers writers; /* found when a mask is asked for first */
  hd_arena *arena;
  uint32_t block[3]; /* known or {0} */
  /* The first instruction of each kind; NULL: there is none. */
  const hd_ptx_stmt *skipped;   /* a barrier that some warps may skip, and attend when they have ended */
  const hd_ptx_stmt *reduction; /* at a barrier */
  bool products_end;            /* no wgmma of the kernel's own body is in flight where a thread ends */
} scan;

static void refuse(scan *s, hd_refusal_kind kind, const hd_ptx_stmt *st, const char *why) {
  rewrite_scan_refuse(&s->look, kind, st, why);
}

/* ---- Barriers and refusals ----------------------------------------------------------------- */

static bool is_cta_barrier(const hd_ptx_form *f) {
  return f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE);
}

static void note(const hd_ptx_stmt **first, const hd_ptx_stmt *st) {
  if (!*first) *first = st;
}

static void scan_barrier(scan *s, uint32_t inst, const hd_ptx_stmt *st, const hd_ptx_form *f) {
  const hd_same same = hd_inst_same(&s->same, inst);
  /* One that counts threads does not count those that have ended. */
  if (!hd_inst_is_full_barrier(&s->graph, inst, s->block) ||
      (same > HD_SAME_IN_CTA && hd_inst_counts_threads(&s->graph, inst))) {
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, st,
           "a barrier for a part of the CTA, which a task may leave half full");
    return;
  }
  if (hd_ptx_form_has(f, HD_M_RED)) note(&s->reduction, st);
  if (same == HD_SAME_IN_CTA) return;
  if (same > HD_SAME_IN_WARP)
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, st, "some lanes of a warp may end before others meet here");
  note(&s->skipped, st);
}

/* PTX leaves .aligned operations undefined where a thread of the warp does not run them, or has exited. */
static void scan_warp_wide(scan *s, uint32_t inst, const hd_ptx_stmt *st, const hd_ptx_form *f) {
  if (hd_ptx_form_has(f, HD_M_ALIGNED) || hd_inst_same(&s->same, inst) <= HD_SAME_IN_WARP) return;
  if (!s->writers.first) hd_writers_find(&s->graph, s->arena, &s->writers);
  if (!hd_members_run(&s->graph, &s->writers, s->block, inst, s->arena))
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, st,
           "threads that skip this would wait for the next task, their warp for them");
}

static void scan_kernel_inst(scan *s, uint32_t i, const hd_ptx_stmt *st, const hd_ptx_form *f) {
  uint32_t inst = s->graph.calls[0].position[i];
  if (is_cta_barrier(f))
    scan_barrier(s, inst, st, f);
  else if (f->flags & HD_OPF_WARP_WIDE)
    scan_warp_wide(s, inst, st, f);
}

/* ---- Products in flight -------------------------------------------------------------------- */

/* What a thread's warpgroup has begun: products that no group holds yet, and groups that may go on. */
enum { PRODUCTS_LOOSE = 1, PRODUCTS_GROUPED = 2 };

/* Behind an instruction, where `flying` may be in flight before it. A guarded one may not run. */
static uint8_t fly_on(const hd_cfg *g, uint32_t inst, uint8_t flying) {
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  const hd_ptx_form *f = hd_inst_form(g, inst);
  if (f->op != HD_OP_WGMMA || hd_ptx_form_has(f, HD_M_FENCE)) return flying;
  if (hd_ptx_form_has(f, HD_M_COMMIT_GROUP))
    return (uint8_t)(PRODUCTS_GROUPED | (st->guard ? flying : flying & ~PRODUCTS_LOOSE));
  if (hd_ptx_form_has(f, HD_M_WAIT_GROUP)) {
    const hd_ptx_opnd *o = st->n_opnds ? &g->module->opnds[st->first_opnd] : NULL;
    const bool all = !st->guard && o && o->kind == HD_O_INT && o->imm == 0;
    return (uint8_t)(all ? flying & ~PRODUCTS_GROUPED : flying);
  }
  return flying | PRODUCTS_LOOSE;
}

static bool ends_thread(const hd_ptx_form *f) { return f->op == HD_OP_RET || f->op == HD_OP_EXIT; }

/* Through a block. False: the thread may end in it while something is in flight. */
static bool fly_through(const hd_cfg *g, const hd_block *b, uint8_t *flying) {
  for (uint32_t i = b->first; i < b->first + b->n_insts; i++) {
    if (*flying && ends_thread(hd_inst_form(g, i))) return false;
    *flying = fly_on(g, i, *flying);
  }
  return b->n_succ || !*flying;
}

/* On no way through the body does a thread end while a product is in flight. */
static bool all_products_end(const hd_cfg *g, hd_arena *arena) {
  uint8_t *flying = HD_NEW_N(arena, g->n_blocks + 1u, uint8_t);
  bool again = true, end = true;
  while (again && end) {
    again = false;
    for (uint32_t k = 0; k < g->n_blocks && end; k++) {
      const hd_block *b = &g->blocks[k];
      uint8_t out = flying[k];
      end = fly_through(g, b, &out);
      for (uint32_t e = 0; e < b->n_succ; e++) {
        uint8_t *into = &flying[g->edges[b->first_succ + e]];
        again |= (*into | out) != *into;
        *into |= out;
      }
    }
  }
  return end;
}

/* ---- Scanning ------------------------------------------------------------------------------ */

/* Warps may attend what others run at other instructions. All barriers become reductions, and cannot be mixed
 * with those that the kernel has. */
static void check_attendance(scan *s) {
  if (!s->skipped) return;
  if (s->look.m->sm < 70)
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, s->skipped,
           "warps that skip this would have to attend it from elsewhere, which needs sm_70");
  if (s->reduction)
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, s->reduction,
           "a reduction, and warps that skip a barrier would have to attend it");
}

static bool is_not_grid(void *ctx, const hd_ptx_leaf *leaf) {
  const rewrite_scan *look = ctx;
  const hd_ptx_sym *y = &look->m->syms[leaf->sym];
  return y->kind != HD_SYM_SREG || y->index != HD_SR_NCTAID;
}

/* An instruction of a function that is not inlined; the paths to it are not examined. */
static void scan_function_inst(scan *s, const hd_ptx_stmt *st, const hd_ptx_form *f) {
  if (is_cta_barrier(f) || f->flags & HD_OPF_WARP_WIDE)
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, st, "a barrier in a function that is not inlined");
  else if (f->op == HD_OP_EXIT)
    refuse(s, HD_REFUSE_SKIPPED_BARRIER, st, "ends the thread from within a function");
  if (!hd_ptx_visit(s->look.m, st, is_not_grid, &s->look))
    refuse(s, HD_REFUSE_GRID_IN_FUNC, st, "%nctaid is read in a function that is not inlined");
}

static void scan_function(scan *s, const hd_ptx_func *f, bool kernel) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind != HD_S_INST) continue;
    const hd_ptx_form *form = &s->look.m->forms[st->form];
    if (kernel && form->op == HD_OP_WGMMA && s->products_end)
      scan_kernel_inst(s, i, st, form);
    else if (form->flags & HD_OPF_LASTING)
      refuse(s, HD_REFUSE_LASTING_STATE, st,
             "leaves behind what the next task of the same worker would meet");
    else if (rewrite_async_of(form) == REWRITE_ASYNC_OTHER)
      refuse(s, HD_REFUSE_LASTING_STATE, st, "goes on when its task has ended, and nothing waits for it");
    else if (kernel)
      scan_kernel_inst(s, i, st, form);
    else
      scan_function_inst(s, st, form);
  }
}

size_t rewrite_scan_agents(const hd_ptx_module *m, uint32_t func, const uint32_t block[3], bool *attend,
                           hd_refusal *out, size_t cap) {
  *attend = false;
  if (!m->funcs[func].has_body) return 0; /* hd_rewrite_refusals says so */
  scan s = {0};
  rewrite_find_block(m, func, block, s.block);
  hd_arena arena;
  hd_diag d;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  s.arena = &arena;
  if (rewrite_scan_begin(&s.look, m, func, out, cap)) {
    if (setjmp(out_of_memory)) {
      refuse(&s, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
    } else if (hd_cfg_build(m, func, 0, &arena, &s.graph, &d) != HD_OK) {
      refuse(&s, d.status == HD_ERR_NOMEM ? HD_REFUSE_NO_MEMORY : HD_REFUSE_NO_BODY, NULL, d.message);
    } else {
      hd_uniformity_find(&s.graph, s.block, &arena, &s.same);
      s.products_end = all_products_end(&s.graph, &arena);
      for (const hd_ptx_func *f; (f = rewrite_scan_next(&s.look));)
        scan_function(&s, f, f == &m->funcs[func]);
      check_attendance(&s);
    }
  }
  hd_arena_free(&arena);
  rewrite_scan_end(&s.look);
  *attend = s.skipped;
  return s.look.n;
}

size_t hd_rewrite_agent_refusals(const hd_ptx_module *m, uint32_t func, const uint32_t block[3],
                                 hd_refusal *out, size_t cap) {
  bool attend;
  return rewrite_scan_agents(m, func, block, &attend, out, cap);
}

/* ---- Closing the loop ------------------------------------------------------------------------ */

typedef struct zero {
  hd_mod type;
  const char *text, *value; /* of mov */
} zero;

static const zero ZEROS[] = {
    {HD_M_PRED, "pred", "0"}, {HD_M_B16, "b16", "0"},          {HD_M_U16, "u16", "0"},
    {HD_M_S16, "s16", "0"},   {HD_M_B32, "b32", "0"},          {HD_M_U32, "u32", "0"},
    {HD_M_S32, "s32", "0"},   {HD_M_B64, "b64", "0"},          {HD_M_U64, "u64", "0"},
    {HD_M_S64, "s64", "0"},   {HD_M_F32, "f32", "0f00000000"}, {HD_M_F64, "f64", "0d0000000000000000"},
};

/* Where the declarations at a body's beginning end. */
static uint32_t skip_declarations(const hd_ptx_func *f, uint32_t from) {
  uint32_t i = from;
  while (i < f->n_stmts && f->stmts[i].kind != HD_S_INST && f->stmts[i].kind != HD_S_LABEL &&
         f->stmts[i].kind != HD_S_OPEN)
    i++;
  return i;
}

enum { DECLARED = 1, ZEROED = 2 };

/* DECLARED for the variables that the body's outermost scope declares. */
static void find_declared(const hd_ptx_func *f, uint8_t *declared) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    depth += f->stmts[i].kind == HD_S_OPEN;
    depth -= f->stmts[i].kind == HD_S_CLOSE;
    if (f->stmts[i].kind == HD_S_VAR && !depth) declared[f->stmts[i].index] = DECLARED;
  }
}

/* Declarations of zeroed registers that stand behind *at move in front of it: other levers put statements
 * before the kernel's own declarations. */
static hd_status move_declarations(const rewrite_job *j, const uint8_t *declared, hd_arena *arena,
                                   uint32_t *at, hd_diag *d) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  hd_ptx_stmt *stmts = HD_NEW_N(arena, f->n_stmts + 1u, hd_ptx_stmt);
  uint32_t n = *at, begin = *at;
  memcpy(stmts, f->stmts, begin * sizeof *stmts);
  for (unsigned moved = 2; moved-- > 0;)
    for (uint32_t i = begin; i < f->n_stmts; i++)
      if ((f->stmts[i].kind == HD_S_VAR && declared[f->stmts[i].index] == ZEROED) == (moved == 1)) {
        stmts[n++] = f->stmts[i];
        *at += moved;
      }
  return *at > begin ? hd_ptx_set_body(j->m, j->func, stmts, n, d) : HD_OK;
}

typedef struct live_names {
  const hd_liveness *live;
  const rewrite_job *j;
  uint8_t *declared; /* per variable: DECLARED, ZEROED */
  uint8_t *done;     /* per register */
  hd_buf *text;
} live_names;

/* Zero register `reg` if it is live where the body begins and can be. */
static void put_zero(live_names *n, hd_sym reg) {
  const hd_ptx_sym *y = &n->j->m->syms[reg];
  if (y->kind != HD_SYM_REG || n->done[y->index] || !hd_live_in(n->live, 0, y->index)) return;
  n->done[y->index] = 1;
  if (y->vec > 1 || !n->declared[y->decl]) return;
  for (size_t k = 0; k < sizeof ZEROS / sizeof *ZEROS; k++)
    if (ZEROS[k].type == y->type) {
      n->declared[y->decl] = ZEROED;
      hd_buf_printf(n->text, "\tmov.%s %s, %s;\n", ZEROS[k].text, y->name, ZEROS[k].value);
    }
}

static bool put_zero_of(void *ctx, const hd_ptx_leaf *leaf) {
  if (leaf->sym) put_zero(ctx, leaf->sym);
  return true;
}

/* Other types than those above, and registers of inner scopes, start undefined in each task, as in each CTA.
 */
hd_status rewrite_start_fresh(const rewrite_job *j, uint32_t header, hd_diag *d) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  hd_arena arena;
  hd_cfg g;
  hd_liveness live;
  hd_buf text = {0};
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : hd_cfg_build(j->m, j->func, 0, &arena, &g, d);
  if (st == HD_OK && f->n_regs && hd_liveness_find(&g, MOST_LIVE_BYTES, &arena, &live)) {
    uint8_t *declared = HD_NEW_N(&arena, j->m->n_vars + 1u, uint8_t);
    live_names n = {&live, j, declared, HD_NEW_N(&arena, f->n_regs, uint8_t), &text};
    find_declared(f, declared);
    for (uint32_t i = 0; i < f->n_stmts; i++) hd_ptx_visit(j->m, &f->stmts[i], put_zero_of, &n);
    uint32_t at = skip_declarations(f, header);
    if (text.len) st = move_declarations(j, declared, &arena, &at, d);
    if (text.failed)
      st = hd_nomem(d);
    else if (st == HD_OK && text.len)
      st = hd_ptx_insert(j->m, j->func, at, text.data, d);
  }
  hd_buf_free(&text);
  hd_arena_free(&arena);
  return st;
}

/* The kernel's ends become branches to the end of the task. */
hd_status rewrite_close_loop(const rewrite_job *j, uint32_t begin, hd_diag *d) {
  hd_buf text = {0};
  rewrite_put(j, &text, "\tbra $~end;\n");
  hd_status st =
      text.failed ? hd_nomem(d) : hd_ptx_insert(j->m, j->func, j->m->funcs[j->func].n_stmts, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  hd_ptx_func *f = &j->m->funcs[j->func];
  const hd_ptx_stmt *back = &f->stmts[f->n_stmts - 1];
  for (uint32_t i = begin; i < f->n_stmts; i++) {
    hd_ptx_stmt *s = &f->stmts[i];
    if (s->kind != HD_S_INST) continue;
    hd_ptx_op op = j->m->forms[s->form].op;
    if (op != HD_OP_RET && op != HD_OP_EXIT) continue;
    s->form = back->form;
    s->first_opnd = back->first_opnd;
    s->n_opnds = back->n_opnds;
  }
  return HD_OK;
}
