/* bind=claim and bind=agents: the text around a task.
 *
 * There is a queue of tasks for each SM: its cluster. A worker on SM s takes from the queue of cluster s mod
 * M (where the plan names its SMs, or their numbers have holes: of the SM's rank among them), by one atomic,
 * and from the next queue that has any once that is empty. So every task is taken exactly once wherever the
 * workers are; where the hardware spreads them evenly, no worker looks at another queue.
 *
 * A worker of bind=agents whose CTA claims as one (its warps share something), in the order of its text:
 *
 *             %~lead = lane 0;  %~first = in warp 0
 *             @!%~first bra $~wait                       the other warps wait for their task
 *             %~i = the cluster of %smid                 sms=: on other SMs, %~u = -2, bra $~have
 *             %~at = the queue of %~i                    agents:N: beyond the N-th, %~u = -1, bra $~have
 *   $~claim:  @%~lead atom.add %~got, [queue]
 *             bra $~next
 *   $~end:                                               all ends of the kernel's body come here
 *             (attend.c)                                 where others may go on without this thread
 *             bar.warp.sync
 *             @!%~first bra $~wait
 *             segments: the next place, if there is one: bra $~place
 *             claimed ahead: go on; else: bra $~claim
 *   $~next:   %~w = %~got of lane 0
 *             %~w below the queue's quota: bra $~taken
 *             lanes look at the other queues; $~found: %~at = the nearest with tasks, bra $~claim
 *             none: %~u = -1, bra $~have
 *   $~taken:  segments: %~w = the first place, %~stop = behind the last;  $~place:
 *             %~u = the position of place %~w in cluster %~i
 *   $~have:   @%~lead st.shared [ticket], %~u
 *   $~wait:   bar.sync 0
 *             ld.shared %~u, [ticket]
 *             %~u >= 0: bra $~work
 *   $~leave:  the last worker to leave zeroes the queues;  $~cleared: ret
 *   $~work:   (order.c) from %~u to the registers that replace %ctaid
 *             @!%~first bra $~begin
 *             @%~lead atom.add %~at, [queue]             the claim ahead; or the segment is put away
 *   $~begin:  the kernel's body, with bra $~end for ret
 *
 * Where each warp claims for itself there is no %~first, nothing from $~have to $~work, and $~leave stands
 * where no queue has tasks. A worker of bind=claim does one task: there is no $~end and no way out; behind
 * $~taken, the one that takes a queue's last task counts the queue, and the last of those zeroes them all.
 *
 * State, one column a warp; queues are a line apart, so that they lie in different slices of L2:
 *
 *   0                   done[32]        claim: queues of the column that are empty; agents: workers that left
 *   128 + c*stride      taken[32]       tasks taken from queue c, and tries to take from it when it was empty
 *   256 + c*stride      ranks[32]       agents:N: workers that arrived on the SM of cluster c
 *
 * %~at is c*stride + 4*column of the worker's present queue. While an agent works, this and the number that
 * it claimed ahead are all that it keeps, in one register where warps have two lanes or more; in CTAs that
 * claim as one, where the column is 0, bit 2 says which ticket comes next.
 *
 * The state is cleared by the last worker. Claim: V workers take V tasks, and a worker does not look at a
 * queue after it took its task; so the worker that takes the last task of the last queue is the last to touch
 * any of them. Agents: a worker leaves when it has seen that all queues are empty, and the last one to leave
 * clears. */
#include <stdlib.h>
#include <string.h>

#include "rewrite/levers/claim.h"

/* ---- Handing over --------------------------------------------------------------------------- */

static void put_slot(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\tmov.u32 %%~slot, ~ticket;\n\tand.b32 %%~k, %%~at, 4;\n\tadd.u32 %%~slot, %%~slot, %%~k;\n");
}

/* Warp 0 informs the CTA. Agents use two slots in turn: a warp that is late may still read the one while the
 * next task is written to the other, and the barrier that shows the new one also ends the old task. Memory
 * that the kernel lends is its own again when all threads have read it. */
static void put_broadcast(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  bool lent = !s->ticket_bytes, in_turn = s->agents && !lent;
  const char *slot = in_turn ? "%~slot" : s->ticket;
  rewrite_put(j, t, "$~have:\n");
  if (in_turn) put_slot(j, t);
  rewrite_put(j, t, "\t@%%~lead st.shared.u32 [%s], %%~u;\n$~wait:\n\tbar.sync 0;\n", slot);
  if (in_turn) put_slot(j, t);
  rewrite_put(j, t, "\tld.shared.u32 %%~u, [%s];\n", slot);
  if (lent) rewrite_put(j, t, "\tbar.sync 0;\n");
  if (in_turn) rewrite_put(j, t, "\txor.b32 %%~at, %%~at, 4;\n");
}

static bool declares_shared(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  return s->kind == HD_S_VAR && hd_ptx_mod_value(m->vars[s->index].space) & HD_IN_ANY_SHARED;
}

hd_status rewrite_declare_lender(const rewrite_job *j, uint32_t *n, hd_diag *d) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  *n = 0;
  if (!j->claim || claims_by_warp(j->claim) || j->claim->ticket_bytes) return HD_OK;
  uint32_t var = j->m->syms[j->traits.shared_var].decl, i = 0;
  while (i < f->n_stmts && !(f->stmts[i].kind == HD_S_VAR && f->stmts[i].index == var)) i++;
  if (i == f->n_stmts) return HD_OK; /* the module's */
  hd_ptx_stmt *stmts = malloc(f->n_stmts * sizeof *stmts);
  if (!stmts) return hd_nomem(d);
  /* With those before it, in their order: ptxas lays them out as they are declared. */
  uint32_t k = 0;
  for (unsigned declares = 2; declares-- > 0;)
    for (uint32_t at = 0; at < f->n_stmts; at++)
      if ((at <= i && declares_shared(j->m, &f->stmts[at])) == (declares == 1)) {
        stmts[k++] = f->stmts[at];
        *n += declares;
      }
  hd_status st = hd_ptx_set_body(j->m, j->func, stmts, f->n_stmts, d);
  free(stmts);
  return st;
}

/* ---- The loop over tasks ------------------------------------------------------------------------ */

/* The registers that the second entry would leave undefined are set before it. */
static void put_second_entry(const rewrite_job *j, hd_buf *t) {
  if (!j->claim->second_entry) return;
  rewrite_put(j, t, "\tmov.u32 %%~u, 0;\n\tmov.u32 %%~w, 0;\n");
  if (j->claim->take == CLAIM_SEGMENT) rewrite_put(j, t, "\tmov.u32 %%~stop, 0;\n");
  claim_put_second_entry(j, t);
}

/* No position is negative. */
static void put_convergence(const rewrite_job *j, hd_buf *t) {
  if (j->claim->votes)
    rewrite_put(j, t,
                "\tsetp.lt.s32 %%~ok, %%~u, 0;\n\tvote.sync.any.pred %%~ok, %%~ok, -1;\n\t@%%~ok trap;\n");
}

/* Warps that wait have no segment. Clear these registers; otherwise ptxas keeps their old values live across
 * the task. */
static void put_no_segment(const rewrite_job *j, hd_buf *t) {
  if (j->claim->take != CLAIM_SEGMENT || !j->claim->packs) return;
  rewrite_put(j, t, "\tmov.u32 %%~w, 0;\n\tmov.u32 %%~stop, 0;\n");
}

static void put_task_end(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  rewrite_put(j, t, "$~end:\n");
  if (s->any_grid) rewrite_put(j, t, "\t@%%~large ret;\n");
  rewrite_put_task_end(j, t);
  if (!claims_by_warp(s)) {
    if (!s->ticket_bytes) rewrite_put(j, t, "\tbar.sync 0;\n");
    put_no_segment(j, t);
    rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  }
  if (s->take == CLAIM_SEGMENT) claim_put_next_place(j, t);
  if (s->take != CLAIM_ONE_AHEAD) rewrite_put(j, t, "\tbra $~claim;\n");
}

/* From the first claim to a position; agents come by $~end to the next one. */
static hd_status put_claim(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  rewrite_put(j, t, "$~claim:\n");
  claim_put_take(j, t);
  if (j->claim->agents) {
    rewrite_put(j, t, "\tbra $~next;\n");
    put_task_end(j, t);
    rewrite_put(j, t, "$~next:\n");
  }
  return claim_put_position(j, t, d);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static void put_declarations(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  rewrite_put(j, t,
              "\t.reg .b32 %%~u, %%~i, %%~got, %%~w, %%~c, %%~k, %%~far, %%~step, %%~seen, %%~mask, %%~old, "
              "%%~bound;\n\t.reg .pred %%~ok;\n");
  if (s->take == CLAIM_SEGMENT) rewrite_put(j, t, "\t.reg .b32 %%~stop, %%~size;\n");
  if (s->ticket_bytes && s->agents) rewrite_put(j, t, "\t.reg .b32 %%~slot;\n");
}

/* A worker whose warps claim for themselves. */
static hd_status put_warp(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  put_declarations(j, t);
  claim_put_who(j, t);
  claim_put_where(j, t);
  put_second_entry(j, t);
  return put_claim(j, t, d);
}

/* A worker whose warp 0 claims for its CTA. */
static hd_status put_cta(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  hd_status st =
      j->claim->ticket_bytes ? rewrite_add_shared(j, "ticket", j->claim->ticket_bytes, 4, t, d) : HD_OK;
  put_declarations(j, t);
  claim_put_who(j, t);
  put_no_segment(j, t);
  rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  claim_put_where(j, t);
  put_second_entry(j, t);
  if (st == HD_OK) st = put_claim(j, t, d);
  put_broadcast(j, t);
  if (!j->claim->agents) return st;
  rewrite_put(j, t, "\tsetp.ge.s32 %%~ok, %%~u, 0;\n\t@%%~ok bra $~work;\n");
  claim_put_leave(j, t);
  rewrite_put(j, t, "$~work:\n");
  claim_put_inside(j, t);
  return st;
}

hd_status rewrite_put_binding(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  if (j->claim->take == CLAIM_STRIDE) return claim_put_strides(j, t, d);
  return claims_by_warp(j->claim) ? put_warp(j, t, d) : put_cta(j, t, d);
}

void rewrite_put_binding_tail(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  if (!s->agents || s->take == CLAIM_STRIDE) return;
  bool ahead = s->take == CLAIM_ONE_AHEAD, by_cta = !claims_by_warp(s);
  if (!ahead && !s->packs) { /* nothing is kept while a task is done */
    if (!by_cta) put_convergence(j, t);
    return;
  }
  if (by_cta) rewrite_put(j, t, "\t@!%%~first bra $~begin;\n");
  if (ahead)
    claim_put_take(j, t);
  else
    claim_put_pack_segment(j, t);
  put_convergence(j, t);
  if (by_cta) rewrite_put(j, t, "$~begin:\n");
}
