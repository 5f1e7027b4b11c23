/* bind=claim and bind=agents: how a worker gets its tasks.
 *
 * There is a queue of tasks for each SM: its cluster. A worker on SM s takes from the queue of cluster
 * s mod M (a plan that names its SMs: of the SM's place among them), by one atomic, and from the next queue
 * that has any once that is empty. So every task is taken exactly once wherever the workers are; where the
 * hardware spreads them evenly, nobody ever looks at another queue.
 *
 * Who claims. Where the threads of a CTA have nothing in common (no barrier, no shared memory), each warp
 * claims for itself: warp k of any worker does the work of warp k of the task that it takes from the k-th
 * column of queues, and no warp waits for another. Else warp 0 claims for its CTA and hands the task
 * over in shared memory.
 *
 * State, one column a warp; queues are a line apart, so that they lie in different slices of L2:
 *
 *   0                   done[32]        claim: queues of the column that are empty; agents: workers that left
 *   128 + c*stride      taken[32]       tasks taken from queue c, and tries to take from it when it was empty
 *   256 + c*stride      ranks[32]       agents:N: workers that arrived on the SM of cluster c
 *
 * %~at is c*stride + 4*column of the worker's present queue. While an agent works, this and the number that
 * it claimed ahead are all that it keeps in registers; in CTAs that claim as one, where the column is 0, bit
 * 2 says which slot for tasks comes next.
 *
 * Who clears it. Claim: V workers take V tasks, and a worker does not look at a queue after it took its
 * task; so the worker that takes the last task of the last queue is the last to touch any of them.
 * Agents: a worker leaves when it has seen that all queues are empty, and the last one to leave clears. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

enum {
  LINE = 128,
  TAKEN = LINE,
  RANKS = 2 * LINE,
  NO_TASK = -1,      /* %~u: all queues are empty, or this worker is one too many on its SM */
  LEFT_ALREADY = -2, /* %~u: as well, and this worker has counted itself as one that left */
};

static bool throttled(const rewrite_job *j) { return j->plan->bind == HD_BIND_AGENTS && j->plan->agents; }
static bool is_agents(const rewrite_job *j) { return j->plan->bind == HD_BIND_AGENTS; }
static unsigned stride_bits(const rewrite_job *j) { return throttled(j) ? 8 : 7; }
static unsigned stride(const rewrite_job *j) { return 1u << stride_bits(j); }
static uint32_t clusters(const rewrite_job *j) { return hd_plan_clusters(j->plan, &j->opt->grid); }

uint64_t rewrite_state_bytes(const rewrite_job *j, uint64_t n_clusters) {
  return LINE + n_clusters * stride(j);
}

static bool one_warp(const rewrite_job *j) {
  uint32_t threads = rewrite_threads(j);
  return threads > 0 && threads <= 32;
}

bool rewrite_claims_by_warp(const rewrite_job *j) {
  const rewrite_traits *t = &j->traits;
  return one_warp(j) || !(t->shared || t->barrier || t->cta_scope);
}

/* Static shared memory that any GPU offers, and ptxas allows. */
enum { MOST_SHARED = 48 * 1024 };

uint32_t rewrite_ticket_bytes(const rewrite_job *j) {
  uint32_t bytes = is_agents(j) ? 8 : 4;
  if (rewrite_claims_by_warp(j)) return 0;
  return j->traits.shared_bytes + 2 * bytes <= MOST_SHARED ? bytes : 0;
}

/* While a worker does one task its next one is claimed, so that the atomic's way to L2 and back costs
 * nothing. Not where tasks come longest first: one behind a long one would wait while others are idle. */
static bool claims_ahead(const rewrite_job *j) { return j->plan->order.kind != HD_ORDER_HEAVY_FIRST; }

/* ---- Who and where ----------------------------------------------------------------- */

/* %~linear: the thread's number in its CTA. */
void rewrite_put_linear_thread(const rewrite_job *j, hd_buf *t) {
  const uint32_t *b = j->block;
  rewrite_put(j, t, "\t.reg .b32 %%~linear, %%~part;\n\tmov.u32 %%~linear, %%tid.x;\n");
  if (b[0] && b[1] * b[2] == 1) return;
  rewrite_put(j, t, "\t.reg .b32 %%~line;\n\tmov.u32 %%~line, %%tid.y;\n\tmov.u32 %%~part, %%tid.z;\n");
  if (b[0]) {
    if (b[2] > 1) rewrite_put(j, t, "\tmad.lo.u32 %%~line, %%~part, %u, %%~line;\n", b[1]);
    rewrite_put(j, t, "\tmad.lo.u32 %%~linear, %%~line, %u, %%~linear;\n", b[0]);
  } else {
    rewrite_put(j, t,
                "\t.reg .b32 %%~extent;\n\tmov.u32 %%~extent, %%ntid.y;\n"
                "\tmad.lo.u32 %%~line, %%~part, %%~extent, %%~line;\n\tmov.u32 %%~extent, %%ntid.x;\n"
                "\tmad.lo.u32 %%~linear, %%~line, %%~extent, %%~linear;\n");
  }
}

/* %~queue: where `offset` bytes behind the state's beginning are. The state's address is read anew each time:
 * a parameter costs no register. */
static void put_address(const rewrite_job *j, hd_buf *t, const char *offset) {
  rewrite_put(j, t,
              "\tld.param.u64 %%~queue, [~state];\n\tcvta.to.global.u64 %%~queue, %%~queue;\n"
              "\tmad.wide.u32 %%~queue, %s, 1, %%~queue;\n",
              offset);
}

/* %~column: of this warp, in bytes. */
static void put_column(const rewrite_job *j, hd_buf *t) {
  if (rewrite_claims_by_warp(j) && !one_warp(j))
    rewrite_put(j, t, "\tand.b32 %%~column, %%~at, %u;\n", LINE - 1);
  else
    rewrite_put(j, t, "\tmov.u32 %%~column, 0;\n");
}

/* %~at: this warp's column. %~lead: the warp's first thread. In CTAs that claim as one, %~first: the thread
 * is in warp 0. */
static void put_place(const rewrite_job *j, hd_buf *t) {
  rewrite_put(
      j, t,
      "\t.reg .b64 %%~queue;\n\t.reg .b32 %%~lane, %%~at, %%~column;\n\t.reg .pred %%~lead, %%~first;\n"
      "\tmov.u32 %%~lane, %%laneid;\n\tsetp.eq.u32 %%~lead, %%~lane, 0;\n\tmov.u32 %%~at, 0;\n");
  if (one_warp(j)) return;
  rewrite_put_linear_thread(j, t);
  if (rewrite_claims_by_warp(j))
    rewrite_put(j, t, "\tshr.u32 %%~at, %%~linear, 5;\n\tshl.b32 %%~at, %%~at, 2;\n");
  else
    rewrite_put(j, t, "\tsetp.lt.u32 %%~first, %%~linear, 32;\n");
}

/* %~i: the cluster of this SM. */
static void put_cluster(const rewrite_job *j, hd_buf *t) {
  const hd_sm_set *sms = &j->plan->sms;
  rewrite_put(j, t, "\tmov.u32 %%~c, %%smid;\n");
  if (!sms->n) {
    rewrite_put(j, t, "\trem.u32 %%~i, %%~c, %u;\n", clusters(j));
    return;
  }
  rewrite_put(j, t, "\tmov.u32 %%~i, -1;\n");
  for (uint32_t k = 0, before = 0; k < sms->n; k++) {
    const hd_sm_range *r = &sms->ranges[k];
    rewrite_put(
        j, t, "\tsub.u32 %%~k, %%~c, %u;\n\tsetp.le.u32 %%~ok, %%~k, %u;\n\t@%%~ok add.u32 %%~i, %%~k, %u;\n",
        r->first, r->last - r->first, before);
    before += r->last - r->first + 1;
  }
}

/* ---- The way out --------------------------------------------------------------------- */

/* %~old: how many warps of this column had left; %~bound: workers - 1. The last one starts the count anew. */
static void put_count_out(const rewrite_job *j, hd_buf *t) {
  put_column(j, t);
  put_address(j, t, "%~column");
  rewrite_put(j, t,
              "\tmov.u32 %%~bound, %%nctaid.x;\n\tsub.u32 %%~bound, %%~bound, 1;\n"
              "\t@%%~lead atom.global.inc.u32 %%~old, [%%~queue], %%~bound;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n\tsetp.eq.u32 %%~ok, %%~old, %%~bound;\n");
}

/* All lanes of the warp zero its column. Falls through. */
static void put_clear(const rewrite_job *j, hd_buf *t) {
  put_column(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~lane, %%laneid;\n\tsetp.lt.u32 %%~ok, %%~lane, 32;\n"
              "\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n\tpopc.b32 %%~step, %%~mask;\n"
              "\tmov.u32 %%~c, %%~lane;\n$~clear:\n\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok bra $~cleared;\n"
              "\tmad.lo.u32 %%~k, %%~c, %u, %%~column;\n",
              clusters(j), stride(j));
  put_address(j, t, "%~k");
  rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", TAKEN);
  if (throttled(j)) rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", RANKS);
  rewrite_put(j, t, "\tadd.u32 %%~c, %%~c, %%~step;\n\tbra $~clear;\n$~cleared:\n");
}

/* No tasks are left for this warp, or for its CTA. */
static void put_leave(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "$~leave:\n");
  if (!rewrite_claims_by_warp(j)) {
    rewrite_put(j, t, "\t@!%%~first bra $~cleared;\n");
    if (j->plan->sms.n)
      rewrite_put(j, t, "\tsetp.eq.s32 %%~ok, %%~u, %d;\n\t@%%~ok bra $~cleared;\n", LEFT_ALREADY);
  }
  put_count_out(j, t);
  rewrite_put(j, t, "\t@!%%~ok bra $~cleared;\n");
  put_clear(j, t);
  rewrite_put(j, t, "\tret;\n");
}

/* Where workers go that get no task at all. A warp that claims for itself leaves; one that claims for its CTA
 * tells the others. */
static const char *way_out(const rewrite_job *j) { return rewrite_claims_by_warp(j) ? "leave" : "have"; }

/* Workers on SMs that the plan does not name leave. Should all workers be such, the last of them does the
 * work: it takes back that it left. */
static void put_foreign(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "\tsetp.ne.u32 %%~ok, %%~i, -1;\n\t@%%~ok bra $~native;\n");
  put_count_out(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~u, %d;\n\t@!%%~ok bra $~%s;\n\t@%%~lead st.global.u32 [%%~queue], %%~bound;\n"
              "\tmov.u32 %%~i, 0;\n$~native:\n",
              LEFT_ALREADY, rewrite_claims_by_warp(j) ? "cleared" : "have");
}

/* Workers beyond the N-th on an SM leave; the first never does. */
static void put_throttle(const rewrite_job *j, hd_buf *t) {
  put_address(j, t, "%~at");
  rewrite_put(j, t,
              "\t@%%~lead atom.global.add.u32 %%~old, [%%~queue+%d], 1;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n\tmov.u32 %%~u, %d;\n"
              "\tsetp.ge.u32 %%~ok, %%~old, %u;\n\t@%%~ok bra $~%s;\n",
              RANKS, NO_TASK, j->plan->agents, way_out(j));
}

/* ---- Taking a task --------------------------------------------------------------------- */

/* Lower a program of clusters; the name of its result. */
static hd_status put_program(const rewrite_job *j, hd_buf *t, const char *suffix, const char *cluster,
                             hd_status (*make)(const hd_plan *, const hd_grid *, hd_prog *, hd_diag *),
                             char result[64], hd_diag *d) {
  char prefix[80], w[80], i[80], dims[4][80], names[3][64];
  hd_prog prog;
  hd_status st = make(j->plan, &j->opt->grid, &prog, d);
  if (st != HD_OK) return st;
  snprintf(prefix, sizeof prefix, "%s_%s", j->prefix, suffix);
  snprintf(w, sizeof w, "%%%s_w", j->prefix);
  snprintf(i, sizeof i, "%%%s_%s", j->prefix, cluster);
  rewrite_lowering l = {.prefix = prefix, .in = w, .cluster = i, .want = {true}};
  for (unsigned k = 0; k < 4; k++) {
    snprintf(dims[k], sizeof dims[k], "%%%s_%s", j->prefix, (const char *const[]){"nx", "ny", "nz", "v"}[k]);
    l.dims[k] = j->opt->grid.known ? NULL : dims[k];
  }
  st = rewrite_lower(&prog, &l, names, t, d);
  memcpy(result, names[0], 64);
  return st;
}

static void put_take(const rewrite_job *j, hd_buf *t) {
  /* Bit 2 of a column that is 0 is none of its address. */
  bool plain = rewrite_claims_by_warp(j) || !is_agents(j);
  if (!plain) rewrite_put(j, t, "\tand.b32 %%~k, %%~at, -8;\n");
  put_address(j, t, plain ? "%~at" : "%~k");
  rewrite_put(j, t, "\t@%%~lead atom.global.add.u32 %%~got, [%%~queue+%d], 1;\n", TAKEN);
}

/* Cluster %~i is empty: the warp's lanes look at the next ones, as many at once as there are lanes. The
 * nearest that has tasks is tried; when all are empty, there are none. */
static hd_status put_search(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char quota[64];
  uint32_t M = clusters(j);
  put_column(j, t);
  rewrite_put(
      j, t,
      "\tmov.u32 %%~lane, %%laneid;\n\tsetp.lt.u32 %%~ok, %%~lane, 32;\n"
      "\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n\tpopc.b32 %%~step, %%~mask;\n"
      "\tmov.u32 %%~far, 1;\n$~search:\n\tadd.u32 %%~k, %%~far, %%~lane;\n"
      "\tadd.u32 %%~c, %%~i, %%~k;\n\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok sub.u32 %%~c, %%~c, %u;\n"
      "\tsetp.lt.u32 %%~ok, %%~k, %u;\n\tmad.lo.u32 %%~k, %%~c, %u, %%~column;\n",
      M, M, M, stride(j));
  put_address(j, t, "%~k");
  rewrite_put(j, t, "\tmov.u32 %%~seen, -1;\n\t@%%~ok ld.%s.global.u32 %%~seen, [%%~queue+%d];\n",
              j->m->sm >= 70 ? "relaxed.gpu" : "volatile", TAKEN);
  hd_status st = put_program(j, t, "a", "c", hd_plan_quota, quota, d);
  rewrite_put(
      j, t,
      "\tsetp.lt.u32 %%~ok, %%~seen, %s;\n\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n"
      "\tsetp.ne.u32 %%~ok, %%~mask, 0;\n\t@%%~ok bra $~found;\n"
      "\tadd.u32 %%~far, %%~far, %%~step;\n\tsetp.lt.u32 %%~ok, %%~far, %u;\n\t@%%~ok bra $~search;\n",
      quota, M);
  if (!is_agents(j)) /* as many workers as tasks: only a launch with another grid comes here */
    rewrite_put(j, t, "\ttrap;\n");
  else if (rewrite_claims_by_warp(j))
    put_leave(j, t);
  else
    rewrite_put(j, t, "\tmov.u32 %%~u, %d;\n\tbra $~have;\n", NO_TASK);
  /* Whatever stands below the cluster's number in %~at stays. */
  rewrite_put(j, t,
              "$~found:\n\tbrev.b32 %%~mask, %%~mask;\n\tclz.b32 %%~mask, %%~mask;\n"
              "\tshfl.sync.idx.b32 %%~i, %%~c, %%~mask, 31, -1;\n\tand.b32 %%~at, %%~at, %u;\n"
              "\tmad.lo.u32 %%~at, %%~i, %u, %%~at;\n\tbra $~claim;\n",
              stride(j) - 1, stride(j));
  return st;
}

/* The worker that takes a queue's last task counts that queue; the last of them clears. */
static void put_finish(const rewrite_job *j, const char *quota, hd_buf *t) {
  char full[64];
  uint32_t M = clusters(j);
  if (j->opt->grid.known) {
    snprintf(full, sizeof full, "%" PRIu64, (j->V < M ? j->V : M) - 1);
  } else {
    snprintf(full, sizeof full, "%%%s_bound", j->prefix);
  }
  rewrite_put(j, t, "\tadd.u32 %%~k, %%~w, 1;\n\tsetp.ne.u32 %%~ok, %%~k, %s;\n\t@%%~ok bra $~cleared;\n",
              quota);
  if (!j->opt->grid.known)
    rewrite_put(j, t, "\tmin.u32 %%~bound, %%~v, %u;\n\tsub.u32 %%~bound, %%~bound, 1;\n", M);
  put_column(j, t);
  put_address(j, t, "%~column");
  rewrite_put(j, t,
              "\t@%%~lead atom.global.inc.u32 %%~old, [%%~queue], %s;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n"
              "\tsetp.ne.u32 %%~ok, %%~old, %s;\n\t@%%~ok bra $~cleared;\n",
              full, full);
  put_clear(j, t);
}

/* So many first places are a task in every cluster, and not the last one, for which claim has more to do. */
static uint64_t sure_places(const rewrite_job *j) {
  uint64_t least = j->opt->grid.known ? j->V / clusters(j) : 0;
  return least && !is_agents(j) ? least - 1 : least;
}

/* From what the leader got to a position, by way of other queues. */
static hd_status put_claim(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char quota[64], position[64];
  rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~w, %%~got, 0, 31, -1;\n\tshr.u32 %%~i, %%~at, %u;\n",
              stride_bits(j));
  uint64_t sure = sure_places(j);
  if (sure) rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %%~w, %" PRIu64 ";\n\t@%%~ok bra $~sure;\n", sure);
  hd_status st = put_program(j, t, "q", "i", hd_plan_quota, quota, d);
  rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %%~w, %s;\n\t@%%~ok bra $~taken;\n", quota);
  if (st == HD_OK) st = put_search(j, t, d);
  rewrite_put(j, t, "$~taken:\n");
  if (!is_agents(j)) put_finish(j, quota, t);
  if (sure) rewrite_put(j, t, "$~sure:\n");
  if (st == HD_OK) st = put_program(j, t, "p", "i", hd_plan_place, position, d);
  rewrite_put(j, t, "\tmov.u32 %%~u, %s;\n", position);
  return st;
}

static void put_slot(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\tmov.u32 %%~slot, ~ticket;\n\tand.b32 %%~k, %%~at, 4;\n\tadd.u32 %%~slot, %%~slot, %%~k;\n");
}

/* Warp 0 tells the CTA. Agents use two slots in turn: a warp that is late may still read the one while the
 * next task is written to the other, and the barrier that shows the new one also ends the old task. Memory
 * that the kernel lends is its own again when all threads have read it. */
static void put_broadcast(const rewrite_job *j, hd_buf *t) {
  bool lent = !rewrite_ticket_bytes(j), in_turn = is_agents(j) && !lent;
  const char *lender = lent ? j->m->syms[j->traits.shared_var].name : "";
  if (in_turn) put_slot(j, t);
  rewrite_put(j, t, "\t@%%~lead st.shared.u32 [%s], %%~u;\n$~wait:\n\tbar.sync 0;\n",
              in_turn ? "%~slot"
              : lent  ? lender
                      : "~ticket");
  if (in_turn) put_slot(j, t);
  rewrite_put(j, t, "\tld.shared.u32 %%~u, [%s];\n", in_turn ? "%~slot" : lent ? lender : "~ticket");
  if (lent) rewrite_put(j, t, "\tbar.sync 0;\n");
  if (in_turn) rewrite_put(j, t, "\txor.b32 %%~at, %%~at, 4;\n");
}

/* ---- All of it ------------------------------------------------------------------------- */

static void put_declarations(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t.reg .b32 %%~u, %%~i, %%~got, %%~w, %%~c, %%~k, %%~far, %%~step, %%~seen, %%~mask, %%~old, "
              "%%~bound;\n\t.reg .pred %%~ok;\n");
  if (rewrite_claims_by_warp(j) || !rewrite_ticket_bytes(j)) return;
  if (is_agents(j))
    rewrite_put(j, t, "\t.shared .align 8 .b32 ~ticket[2];\n\t.reg .b32 %%~slot;\n");
  else
    rewrite_put(j, t, "\t.shared .align 4 .b32 ~ticket[1];\n");
}

/* The end of a task: all threads of the warp are waited for, and whatever copies are under way. */
static void put_task_end(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "$~end:\n");
  if (!j->opt->grid.known) rewrite_put(j, t, "\t@%%~large ret;\n");
  if (j->traits.copies) rewrite_put(j, t, "\tcp.async.wait_all;\n");
  if (j->traits.bulk_copies) rewrite_put(j, t, "\tcp.async.bulk.wait_group 0;\n");
  rewrite_put(j, t, "\tbar.warp.sync -1;\n");
  if (!rewrite_claims_by_warp(j)) {
    if (!rewrite_ticket_bytes(j)) rewrite_put(j, t, "\tbar.sync 0;\n");
    rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  }
  if (!claims_ahead(j)) rewrite_put(j, t, "\tbra $~claim;\n");
}

hd_status rewrite_put_binding(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  bool by_warp = rewrite_claims_by_warp(j);
  put_declarations(j, t);
  put_place(j, t);
  if (!by_warp) rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  put_cluster(j, t);
  if (j->plan->sms.n) put_foreign(j, t);
  rewrite_put(j, t, "\tmad.lo.u32 %%~at, %%~i, %u, %%~at;\n", stride(j));
  if (throttled(j)) put_throttle(j, t);
  rewrite_put(j, t, "$~claim:\n");
  put_take(j, t);
  if (is_agents(j)) {
    rewrite_put(j, t, "\tbra $~next;\n");
    put_task_end(j, t);
    rewrite_put(j, t, "$~next:\n");
  }
  hd_status st = put_claim(j, t, d);
  if (by_warp) return st;
  rewrite_put(j, t, "$~have:\n");
  put_broadcast(j, t);
  if (is_agents(j)) {
    rewrite_put(j, t, "\tsetp.ge.s32 %%~ok, %%~u, 0;\n\t@%%~ok bra $~work;\n");
    put_leave(j, t);
    rewrite_put(j, t, "$~work:\n");
  }
  return st;
}

hd_status rewrite_put_binding_tail(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  if (!is_agents(j)) return HD_OK;
  if (claims_ahead(j)) {
    if (!rewrite_claims_by_warp(j)) rewrite_put(j, t, "\t@!%%~first bra $~begin;\n");
    put_take(j, t);
    if (!rewrite_claims_by_warp(j)) rewrite_put(j, t, "$~begin:\n");
  }
  return HD_OK;
}
