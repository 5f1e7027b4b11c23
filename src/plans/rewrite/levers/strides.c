/* take=strides: the text around a task of a worker that claims once (CLU listing 5).
 *
 * Of W workers and M clusters, W / M = S or more, each cluster is cut into S strides: stride w is its places
 * w, w + S, w + 2S, ... A worker takes one stride, by one atomic on its SM's queue, or on the nearest one
 * that has strides left; the W - M*S workers with the highest numbers are not needed and leave. So there are
 * as many workers as strides, none needs a second one, and every task runs once whichever workers run
 * together, where and when they do: a worker that has found no stride is one of at most as many as there are
 * strides left. With agents:N the first min(N, S) strides hold all tasks, and the others none. Fewer workers
 * than clusters have no SM: worker u does positions u, u + W, ...
 *
 * A worker, in the order of its text:
 *
 *             %~apart = S, %~few = S is 0                 few: %~u = %ctaid.x, bra $~few
 *             beyond the strides: ret
 *             @!%~first bra $~wait                       claims by CTA
 *   $~claim:  @%~lead atom.add %~got, [queue];  %~w = %~got of lane 0     (claim_task.c)
 *             the last stride of the last queue: zero the queues;  $~cleared:
 *             @%~lead st.shared [ticket], {%~w, %~i}
 *   $~wait:   bar.sync 0;  ld.shared {%~w, %~i}, [ticket]
 *             no task: ret
 *             %~u = the first position, %~stop = behind the last; bra $~place
 *   $~few:    ...; bra $~place
 *   $~end:                                               all ends of the kernel's body come here
 *             bar.warp.sync;  bar.sync 0                 the latter if the CTA's warps share something
 *             %~u += %~apart;  %~u at %~stop or beyond: ret
 *   $~place:  (order.c) from %~u to the registers that replace %ctaid
 *             the kernel's body, with bra $~end for ret
 *
 * Places of a cluster are positions one behind the other where it is a chunk. Where it is not, the loop
 * counts places in %~w, and %~u is worked out of each. */
#include <inttypes.h>
#include <stdio.h>

#include "rewrite/levers/claim.h"

/* A worker counts positions and not places. */
static bool counts_positions(const rewrite_job *j) { return j->plan->split.kind == HD_SPLIT_CHUNK; }
static const char *counter(const rewrite_job *j) { return counts_positions(j) ? "%~u" : "%~w"; }

static void put_declarations(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t.reg .b32 %%~u, %%~i, %%~got, %%~w, %%~c, %%~k, %%~far, %%~step, %%~seen, %%~mask, %%~old, "
              "%%~apart, %%~stop;\n\t.reg .pred %%~ok, %%~few;\n");
}

/* %~apart and %~few. Workers that are one too many leave. */
static void put_strides(const rewrite_job *j, hd_buf *t) {
  const uint32_t M = j->claim->clusters;
  rewrite_put(j, t, "\tmov.u32 %%~k, %%nctaid.x;\n\tmov.u32 %%~u, %%ctaid.x;\n");
  claim_put_quotient(j, t, "%~apart", "%~k");
  rewrite_put(j, t,
              "\tsetp.eq.u32 %%~few, %%~apart, 0;\n\t@%%~few bra $~few;\n"
              "\tmul.lo.u32 %%~k, %%~apart, %u;\n\tsetp.ge.u32 %%~ok, %%~u, %%~k;\n\t@%%~ok ret;\n",
              M);
}

/* Warp 0 informs the CTA. Memory that the kernel lends is its own again when all threads have read it. */
static void put_broadcast(const rewrite_job *j, hd_buf *t) {
  const char *ticket = j->claim->ticket;
  rewrite_put(j, t,
              "\t@%%~lead st.shared.u32 [%s], %%~w;\n\t@%%~lead st.shared.u32 [%s+4], %%~i;\n$~wait:\n"
              "\tbar.sync 0;\n\tld.shared.u32 %%~w, [%s];\n\tld.shared.u32 %%~i, [%s+4];\n",
              ticket, ticket, ticket, ticket);
  if (!j->claim->ticket_bytes) rewrite_put(j, t, "\tbar.sync 0;\n");
}

/* From stride %~w of cluster %~i to the first place and %~stop. */
static hd_status put_first(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char quota[64], position[64];
  if (j->claim->throttle)
    rewrite_put(j, t,
                "\tmin.u32 %%~apart, %%~apart, %u;\n\tsetp.ge.u32 %%~ok, %%~w, %%~apart;\n\t@%%~ok ret;\n",
                j->claim->throttle);
  hd_status st = claim_put_program(j, t, "q", hd_plan_quota, quota, d);
  if (st != HD_OK) return st;
  rewrite_put(j, t, "\tmov.u32 %%~stop, %s;\n\tsetp.ge.u32 %%~ok, %%~w, %%~stop;\n\t@%%~ok ret;\n", quota);
  if (!counts_positions(j)) return HD_OK;
  st = claim_put_program(j, t, "f", hd_plan_place, position, d);
  rewrite_put(j, t,
              "\tmov.u32 %%~u, %s;\n\tsub.u32 %%~stop, %%~stop, %%~w;\n\tadd.u32 %%~stop, %%~stop, %%~u;\n",
              position);
  return st;
}

static void put_few(const rewrite_job *j, hd_buf *t) {
  char tasks[64];
  if (j->claim->any_grid)
    snprintf(tasks, sizeof tasks, "%%%s_v", j->prefix);
  else
    snprintf(tasks, sizeof tasks, "%" PRIu64, j->claim->V);
  rewrite_put(j, t, "$~few:\n");
  if (!counts_positions(j)) rewrite_put(j, t, "\tmov.u32 %%~w, %%~u;\n\tmov.u32 %%~i, 0;\n");
  rewrite_put(j, t,
              "\tmov.u32 %%~apart, %%~k;\n\tmov.u32 %%~stop, %s;\n"
              "\tsetp.ge.u32 %%~ok, %%~u, %%~stop;\n\t@%%~ok ret;\n\tbra $~place;\n",
              tasks);
}

/* To the next task. Threads that share memory, or meet, must all have ended the last one. */
static void put_next(const rewrite_job *j, hd_buf *t) {
  const rewrite_traits *traits = &j->traits;
  rewrite_put(j, t, "$~end:\n");
  if (j->claim->any_grid) rewrite_put(j, t, "\t@%%~large ret;\n");
  rewrite_put_task_end(j, t);
  if (!claims_by_warp(j->claim) && (traits->shared || traits->barrier || traits->cta_scope))
    rewrite_put(j, t, "\tbar.sync 0;\n");
  if (j->claim->second_entry) rewrite_put(j, t, "$~inside:\n");
  rewrite_put(j, t, "\tadd.u32 %s, %s, %%~apart;\n\tsetp.ge.u32 %%~ok, %s, %%~stop;\n\t@%%~ok ret;\n",
              counter(j), counter(j), counter(j));
}

/* The position of place %~w. */
static hd_status put_position(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char position[64];
  rewrite_put(j, t, "$~place:\n");
  if (counts_positions(j)) return HD_OK;
  hd_status st = claim_put_program(j, t, "p", hd_plan_place, position, d);
  rewrite_put(j, t, "\tselp.b32 %%~u, %%~w, %s, %%~few;\n", position);
  return st;
}

hd_status claim_put_strides(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  const bool by_cta = !claims_by_warp(j->claim);
  hd_status st =
      j->claim->ticket_bytes ? rewrite_add_shared(j, "ticket", j->claim->ticket_bytes, 4, t, d) : HD_OK;
  put_declarations(j, t);
  put_strides(j, t);
  claim_put_who(j, t);
  if (by_cta) rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  claim_put_where(j, t);
  if (st == HD_OK) st = claim_put_stride(j, t, d);
  if (by_cta) put_broadcast(j, t);
  if (st == HD_OK) st = put_first(j, t, d);
  claim_put_second_entry(j, t);
  rewrite_put(j, t, "\tbra $~place;\n");
  put_few(j, t);
  put_next(j, t);
  return st == HD_OK ? put_position(j, t, d) : st;
}
