/* bind=agents: threads that have ended their task attend what the others of it still do together.
 *
 * Barriers, and operations of a warp, wait for all threads but those that have exited. A thread of an agent
 * does not exit; where it may end while others still meet, it answers each meeting instead, and contributes
 * nothing. Then every thread waits for just those that it would have waited for in the original, whatever
 * the schedule, and nothing needs to be known of who ends when.
 *
 *   barriers   Each barrier of the whole CTA becomes barrier.red.or of "here". A thread that has ended goes
 *              around barrier.red.or of "not here" until the answer is no: then all have ended.
 *   votes      In front of an operation of the whole warp, its lanes vote that they are here. A lane that
 *              has ended goes around a vote that it is not, until nobody is. The operation itself names, in
 *              place of the whole warp, the lanes that were here: the others do not wait in it.
 *   both       A lane in front of a barrier votes that it is not here, as it does no operation of the warp.
 *              So lanes that have ended learn that the others go to the barrier, and go there, too.
 *
 * Each operation has a vote of its own. Lanes may meet from different blocks (PTX pairs them by mask), so one
 * vote for all operations of a block would leave the lanes with different numbers of votes.
 *
 * Threads vote and meet from different instructions, and PTX lets them from sm_70 on: they pair by qualifiers
 * and masks. In the original, too, two threads may so meet at different instructions. That is why all
 * barriers, or all operations of whole warps, are changed if any is, and not those alone that some threads
 * skip.
 *
 * Where ptxas finds lanes apart, one of the two instructions runs for both, and answers in its own register.
 * An instruction whose answer nobody reads has no such register: then the lanes at the other one get none,
 * and wait for ever (seen with ptxas 13.0 on an H100). So every answer is read: by a trap for what cannot
 * be. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/levers/claim.h"

/* ---- Masks -------------------------------------------------------------------------------- */

static bool names_all_lanes(const hd_ptx_opnd *o) {
  return o->kind == HD_O_INT && (uint32_t)o->imm == UINT32_MAX;
}

/* The last operand of an operation of a warp names its lanes; NULL: it is no such operation. */
static hd_ptx_opnd *mask_of(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = &m->forms[s->form];
  bool names =
      f->flags & HD_OPF_WARP_WIDE && hd_ptx_form_has(f, HD_M_SYNC) && !hd_ptx_form_has(f, HD_M_ALIGNED);
  return names && s->n_opnds ? &m->opnds[s->first_opnd + s->n_opnds - 1u] : NULL;
}

bool rewrite_names_whole_warp(const hd_cfg *g, const hd_writers *writers, uint32_t inst) {
  const hd_ptx_module *m = g->module;
  const hd_ptx_opnd *mask = mask_of(m, hd_inst_stmt(g, inst));
  if (!mask || mask->kind != HD_O_REG || mask->part) return mask && names_all_lanes(mask);
  uint32_t reg = hd_cfg_reg(g, g->insts[inst].call, mask->sym);
  for (uint32_t k = writers->first[reg]; k < writers->first[reg + 1]; k++) {
    const hd_ptx_stmt *def = hd_inst_stmt(g, writers->insts[k]);
    if (def->guard || m->forms[def->form].op != HD_OP_MOV || def->n_opnds != 2 ||
        !names_all_lanes(&m->opnds[def->first_opnd + 1]))
      return false;
  }
  return writers->first[reg] < writers->first[reg + 1];
}

hd_status rewrite_spell_masks(const rewrite_job *j, hd_diag *d) {
  if (!j->attend.votes) return HD_OK;
  hd_cfg g;
  hd_writers writers;
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : hd_cfg_build(j->m, j->func, 0, &arena, &g, d);
  if (st == HD_OK) {
    hd_writers_find(&g, &arena, &writers);
    for (uint32_t i = 0; i < g.n_insts; i++)
      if (rewrite_names_whole_warp(&g, &writers, i))
        *mask_of(j->m, hd_inst_stmt(&g, i)) = (hd_ptx_opnd){.kind = HD_O_INT, .imm = -1};
  }
  hd_arena_free(&arena);
  return st;
}

/* ---- Threads that have ended ------------------------------------------------------------- */

void rewrite_put_attendance(const rewrite_job *j, hd_buf *t) {
  if (!j->attend.votes && !j->attend.barriers) return;
  rewrite_put(j, t,
              "\t.reg .b32 %%~live, %%~none;\n\t.reg .pred %%~here, %%~met;\n\tmov.pred %%~here, -1;\n");
}

void claim_put_attendance(const rewrite_job *j, hd_buf *t) {
  if (!j->attend.votes && !j->attend.barriers) return;
  claim_put_loop(j, t, "over");
  if (j->attend.votes)
    rewrite_put(j, t,
                "\tvote.sync.ballot.b32 %%~live, !%%~here, -1;\n\tsetp.ne.u32 %%~met, %%~live, 0;\n"
                "\t@%%~met bra $~over;\n");
  if (j->attend.barriers)
    rewrite_put(j, t, "\tbarrier.red.or.pred %%~met, 0, !%%~here;\n\t@%%~met bra $~over;\n");
}

/* ---- The others ------------------------------------------------------------------------------- */

typedef struct edit {
  const rewrite_job *j;
  hd_cfg graph;
  HD_VEC(hd_ptx_stmt) out;
  hd_ptx_opnd here, not_here, live;
  /* Under no guard. */
  hd_ptx_stmt vote, vote_none, meet;
  hd_ptx_stmt nobody, met_already; /* the answers of a barrier that its guard skips */
  hd_ptx_stmt both, trap;
} edit;

static hd_ptx_opnd inserted_register(const rewrite_job *j, const char *name) {
  char full[96];
  snprintf(full, sizeof full, "%%%s_%s", j->prefix, name);
  return (hd_ptx_opnd){.kind = HD_O_REG, .sym = rewrite_find_register(j->m, full)};
}

static hd_status make(hd_ptx_module *m, const char *form, const hd_ptx_opnd *o, unsigned n, hd_ptx_stmt *out,
                      hd_diag *d) {
  *out = (hd_ptx_stmt){.kind = HD_S_INST, .n_opnds = (uint8_t)n};
  hd_status st = hd_ptx_add_form(m, form, &out->form, d);
  return st == HD_OK && n ? hd_ptx_add_operands(m, o, n, &out->first_opnd, d) : st;
}

static hd_status make_statements(edit *e, hd_diag *d) {
  const rewrite_job *j = e->j;
  const hd_ptx_opnd whole = {.kind = HD_O_INT, .imm = -1}, zero = {.kind = HD_O_INT};
  const hd_ptx_opnd none = inserted_register(j, "none"), met = inserted_register(j, "met");
  e->here = e->not_here = inserted_register(j, "here");
  e->not_here.flags |= HD_OF_NEG;
  e->live = inserted_register(j, "live");
  const struct {
    const char *form;
    hd_ptx_opnd o[4];
    unsigned n;
    hd_ptx_stmt *out;
  } all[] = {
      {"vote.sync.ballot.b32", {e->live, e->here, whole}, 3, &e->vote},
      {"vote.sync.ballot.b32", {none, e->not_here, whole}, 3, &e->vote_none},
      {"barrier.red.or.pred", {met, zero, e->here}, 3, &e->meet},
      {"mov.u32", {none, zero}, 2, &e->nobody},
      {"mov.pred", {met, whole}, 2, &e->met_already},
      {"setp.eq.and.u32", {met, none, zero, met}, 4, &e->both},
      {"trap", {met}, 0, &e->trap},
  };
  hd_status st = HD_OK;
  for (size_t k = 0; st == HD_OK && k < sizeof all / sizeof *all; k++)
    st = make(j->m, all[k].form, all[k].o, all[k].n, all[k].out, d);
  e->trap.guard = met.sym;
  e->trap.guard_neg = true;
  return st;
}

static hd_status push(edit *e, hd_ptx_stmt s, hd_diag *d) {
  return hd_vec_push(&e->out, s) ? HD_OK : hd_nomem(d);
}

/* An inserted statement under the guard of `like`. */
static hd_status push_like(edit *e, hd_ptx_stmt s, const hd_ptx_stmt *like, hd_diag *d) {
  s.guard = like->guard;
  s.guard_neg = like->guard_neg;
  return push(e, s, d);
}

static hd_status put_barrier(edit *e, const hd_ptx_stmt *s, hd_diag *d) {
  const bool votes = e->j->attend.votes;
  hd_status st = HD_OK;
  if (s->guard && votes) st = push(e, e->nobody, d);
  if (s->guard && st == HD_OK) st = push(e, e->met_already, d);
  if (votes && st == HD_OK) st = push_like(e, e->vote_none, s, d);
  if (st == HD_OK) st = push_like(e, e->meet, s, d);
  if (votes && st == HD_OK) st = push(e, e->both, d);
  return st == HD_OK ? push(e, e->trap, d) : st;
}

static hd_status put_operation(edit *e, hd_ptx_stmt s, hd_diag *d) {
  hd_ptx_opnd o[8];
  if (s.n_opnds > sizeof o / sizeof *o)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "an operation of too many operands");
  hd_status st = push_like(e, e->vote, &s, d);
  memcpy(o, &e->j->m->opnds[s.first_opnd], s.n_opnds * sizeof *o);
  o[s.n_opnds - 1] = e->live;
  if (st == HD_OK) st = hd_ptx_add_operands(e->j->m, o, s.n_opnds, &s.first_opnd, d);
  return st == HD_OK ? push(e, s, d) : st;
}

static hd_status put_statement(edit *e, uint32_t i, hd_diag *d) {
  const hd_ptx_stmt s = e->j->m->funcs[e->j->func].stmts[i];
  uint32_t inst = e->graph.calls[0].position[i];
  if (s.kind != HD_S_INST) return push(e, s, d);
  if (e->j->attend.barriers && hd_inst_is_full_barrier(&e->graph, inst)) return put_barrier(e, &s, d);
  const hd_ptx_opnd *mask = e->j->attend.votes ? mask_of(e->j->m, &s) : NULL;
  return mask && names_all_lanes(mask) ? put_operation(e, s, d) : push(e, s, d);
}

static hd_status change_body(edit *e, uint32_t begin, hd_diag *d) {
  const hd_ptx_func *f = &e->j->m->funcs[e->j->func];
  hd_status st = make_statements(e, d);
  for (uint32_t i = 0; st == HD_OK && i < f->n_stmts; i++)
    st = i < begin ? push(e, f->stmts[i], d) : put_statement(e, i, d);
  return st == HD_OK ? hd_ptx_set_body(e->j->m, e->j->func, e->out.data, (uint32_t)e->out.n, d) : st;
}

hd_status rewrite_attend(const rewrite_job *j, uint32_t begin, hd_diag *d) {
  if (!j->attend.votes && !j->attend.barriers) return HD_OK;
  edit e = {.j = j};
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : hd_cfg_build(j->m, j->func, 0, &arena, &e.graph, d);
  if (st == HD_OK) st = change_body(&e, begin, d);
  hd_vec_free(&e.out);
  hd_arena_free(&arena);
  return st;
}
