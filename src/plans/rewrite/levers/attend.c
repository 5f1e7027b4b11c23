/* bind=agents: warps that have ended their task attend the barriers of the others.
 *
 * A barrier waits for all threads but those that have exited. A thread of an agent does not exit; where its
 * warp may end while others still meet, it answers each barrier instead, and contributes nothing. Each
 * barrier of the whole CTA becomes barrier.red.or of "here". A thread that has ended goes around
 * barrier.red.or of "not here" until the answer is no: then all have ended. So every thread waits for just
 * those that it would have waited for in the original, whatever the schedule, and nothing needs to be known
 * of who ends when.
 *
 * Warps meet from different instructions, as they may in the original, too: PTX asks only the threads of one
 * warp to run the same barrier. That is why all barriers are changed if any is, and not those alone that some
 * warps skip. The lanes of one warp end together, as far as barriers go: from sm_70 on PTX lets them meet
 * from different instructions as well, but on an H100 kernels whose lanes leave a loop one by one then gave
 * other results (agents.c refuses them).
 *
 * Where lanes are apart all the same, ptxas lets one instruction run for all of them, which answers in its
 * own register. One whose answer nobody reads has no such register, and lanes that come from another would
 * wait for ever (seen with ptxas 13.0 on an H100). So every answer is read: by a trap for what cannot be. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "rewrite/levers/claim.h"

/* ---- Warps that have ended ----------------------------------------------------------------- */

void rewrite_put_attendance(const rewrite_job *j, hd_buf *t) {
  if (j->attend) rewrite_put(j, t, "\t.reg .pred %%~here, %%~met;\n\tmov.pred %%~here, -1;\n");
}

void claim_put_attendance(const rewrite_job *j, hd_buf *t) {
  if (!j->attend) return;
  claim_put_loop(j, t, "over");
  rewrite_put(j, t, "\tbarrier.red.or.pred %%~met, 0, !%%~here;\n\t@%%~met bra $~over;\n");
}

/* ---- The others ------------------------------------------------------------------------------- */

typedef struct edit {
  const rewrite_job *j;
  hd_cfg graph;
  HD_VEC(hd_ptx_stmt) out;
  hd_ptx_stmt meet; /* under no guard */
  hd_ptx_stmt met;  /* the answer of a barrier that its guard skips */
  hd_ptx_stmt trap;
} edit;

static hd_ptx_opnd inserted_register(const rewrite_job *j, const char *name) {
  char full[96];
  snprintf(full, sizeof full, "%%%s_%s", j->prefix, name);
  return (hd_ptx_opnd){.kind = HD_O_REG, .sym = rewrite_find_register(j->m, full)};
}

static hd_status make(hd_ptx_module *m, const char *form, const hd_ptx_opnd *o, uint16_t n, hd_ptx_stmt *out,
                      hd_diag *d) {
  *out = (hd_ptx_stmt){.kind = HD_S_INST, .n_opnds = n};
  hd_status st = hd_ptx_add_form(m, form, &out->form, d);
  return st == HD_OK && n ? hd_ptx_add_operands(m, o, n, &out->first_opnd, d) : st;
}

static hd_status make_statements(edit *e, hd_diag *d) {
  const rewrite_job *j = e->j;
  const hd_ptx_opnd yes = {.kind = HD_O_INT, .imm = -1}, zero = {.kind = HD_O_INT};
  const hd_ptx_opnd here = inserted_register(j, "here"), met = inserted_register(j, "met");
  hd_status st = make(j->m, "barrier.red.or.pred", (hd_ptx_opnd[3]){met, zero, here}, 3, &e->meet, d);
  if (st == HD_OK) st = make(j->m, "mov.pred", (hd_ptx_opnd[2]){met, yes}, 2, &e->met, d);
  if (st == HD_OK) st = make(j->m, "trap", NULL, 0, &e->trap, d);
  e->trap.guard = met.sym;
  e->trap.guard_neg = true;
  return st;
}

static hd_status push(edit *e, hd_ptx_stmt s, hd_diag *d) {
  return hd_vec_push(&e->out, s) ? HD_OK : hd_nomem(d);
}

static hd_status put_barrier(edit *e, const hd_ptx_stmt *s, hd_diag *d) {
  hd_ptx_stmt meet = e->meet;
  meet.guard = s->guard;
  meet.guard_neg = s->guard_neg;
  hd_status st = s->guard ? push(e, e->met, d) : HD_OK;
  if (st == HD_OK) st = push(e, meet, d);
  return st == HD_OK ? push(e, e->trap, d) : st;
}

static hd_status change_body(edit *e, uint32_t begin, hd_diag *d) {
  const hd_ptx_func *f = &e->j->m->funcs[e->j->func];
  hd_status st = make_statements(e, d);
  for (uint32_t i = 0; st == HD_OK && i < f->n_stmts; i++) {
    const hd_ptx_stmt s = f->stmts[i];
    const bool barrier = i >= begin && s.kind == HD_S_INST &&
                         hd_inst_is_full_barrier(&e->graph, e->graph.calls[0].position[i], e->j->block);
    st = barrier ? put_barrier(e, &s, d) : push(e, s, d);
  }
  return st == HD_OK ? hd_ptx_set_body(e->j->m, e->j->func, e->out.data, (uint32_t)e->out.n, d) : st;
}

hd_status rewrite_attend(const rewrite_job *j, uint32_t begin, hd_diag *d) {
  if (!j->attend) return HD_OK;
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

void rewrite_put_task_end(const rewrite_job *j, hd_buf *t) {
  claim_put_attendance(j, t);
  if (j->traits.copies) rewrite_put(j, t, "\tcp.async.wait_all;\n");
  if (j->traits.bulk_copies) /* waits for groups that are committed, and for no other copy */
    rewrite_put(j, t, "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n");
  rewrite_put(j, t, "\tbar.warp.sync -1;\n");
}
