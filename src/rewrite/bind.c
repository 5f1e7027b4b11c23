/* bind=claim and bind=agents: how a worker gets its tasks.
 *
 * There is a queue of tasks for each SM: its cluster. A worker on SM s takes from the queue of cluster
 * s mod M (where the plan names its SMs, or their numbers have holes: of the SM's place among them), by one
 * atomic, and from the next queue that has any once that is empty. So every task is taken exactly once
 * wherever the workers are; where the hardware spreads them evenly, nobody ever looks at another queue.
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
 * it claimed ahead are all that it keeps, in one register where warps have two lanes or more; in CTAs that
 * claim as one, where the column is 0, bit 2 says which slot for tasks comes next.
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
static bool takes_segments(const rewrite_job *j) { return j->plan->take.kind == HD_TAKE_SEGMENTS; }
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

/* The ticket is static, and dynamic shared memory lies behind all that is static: it must not move off a
 * boundary that the kernel relies on, whatever its declaration says. Swizzles of wgmma and of tensor copies
 * repeat every 1024 bytes of the address itself; before sm_90 nothing looks at more than the 128 bytes of the
 * banks. */
uint32_t rewrite_ticket_bytes(const rewrite_job *j) {
  uint32_t bytes = is_agents(j) ? 8 : 4;
  if (j->traits.dynamic_shared) bytes = j->m->sm >= 90 ? 1024 : 128;
  if (rewrite_claims_by_warp(j)) return 0;
  return j->traits.shared_bytes + 2 * bytes <= MOST_SHARED ? bytes : 0;
}

/* CTAs that an SM takes at once at most, by its threads. */
static uint32_t places(const rewrite_job *j) {
  enum { SM_THREADS = 2048, SM_CTAS = 32 };
  uint32_t threads = rewrite_threads(j), fit = threads ? SM_THREADS / threads : SM_CTAS;
  return fit < SM_CTAS ? fit : SM_CTAS;
}

/* While a worker does one task its next one is claimed, so that the atomic's way to L2 and back costs
 * nothing. Not where one that was claimed would wait while others are idle: behind a long one, where tasks
 * come longest first; and where there are not two for each worker. */
static bool claims_ahead(const rewrite_job *j) {
  if (is_agents(j) && j->opt->grid.known && j->V < UINT64_C(2) * clusters(j) * places(j)) return false;
  return j->plan->order.kind != HD_ORDER_HEAVY_FIRST && !takes_segments(j);
}

static uint64_t fewer(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* bind=agents:N: workers that are active at once. */
static uint64_t active(const rewrite_job *j) {
  return fewer((uint64_t)j->plan->agents * clusters(j), HD_MOST_CLAIMED);
}

/* Tasks of a segment, where this is known now; else 0. */
static uint32_t segment(const rewrite_job *j) {
  uint64_t n = j->plan->take.tasks;
  if (!n && j->plan->agents && j->opt->grid.known) n = (j->V + active(j) - 1) / active(j);
  return (uint32_t)fewer(n, HD_MOST_CLAIMED);
}

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
  rewrite_put(j, t, "\tld.param.u64 %%~queue, [~state];\n\tcvta.to.global.u64 %%~queue, %%~queue;\n");
  if (offset) rewrite_put(j, t, "\tmad.wide.u32 %%~queue, %s, 1, %%~queue;\n", offset);
}

/* Warps have columns of their own. */
static bool has_columns(const rewrite_job *j) { return rewrite_claims_by_warp(j) && !one_warp(j); }

/* %~queue: where the warp's column begins. */
static void put_column(const rewrite_job *j, hd_buf *t) {
  if (has_columns(j)) rewrite_put(j, t, "\tand.b32 %%~k, %%~at, %u;\n", LINE - 1);
  put_address(j, t, has_columns(j) ? "%~k" : NULL);
}

/* Lanes of each warp that claims; 0: not known, and then put_lanes counts them into %~step. */
static uint32_t lanes(const rewrite_job *j) {
  uint32_t threads = rewrite_threads(j);
  if (!threads || (has_columns(j) && threads % 32)) return 0;
  return threads < 32 ? threads : 32;
}

/* %~lane, and how many there are. */
static void put_lanes(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "\tmov.u32 %%~lane, %%laneid;\n");
  if (lanes(j)) return;
  rewrite_put(j, t,
              "\tsetp.lt.u32 %%~ok, %%~lane, 32;\n\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n"
              "\tpopc.b32 %%~step, %%~mask;\n");
}

/* As many queues on as there are lanes. */
static void put_step(const rewrite_job *j, hd_buf *t, const char *queue) {
  if (lanes(j))
    rewrite_put(j, t, "\tadd.u32 %s, %s, %u;\n", queue, queue, lanes(j) * stride(j));
  else
    rewrite_put(j, t, "\tmad.lo.u32 %s, %%~step, %u, %s;\n", queue, stride(j), queue);
}

/* %~at: this warp's column. %~lead: the warp's first thread. In CTAs that claim as one, %~first: the thread
 * is in warp 0. */
static void put_place(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t.reg .b64 %%~queue;\n\t.reg .b32 %%~lane, %%~at;\n\t.reg .pred %%~lead, %%~first;\n"
              "\tmov.u32 %%~lane, %%laneid;\n\tsetp.eq.u32 %%~lead, %%~lane, 0;\n\tmov.u32 %%~at, 0;\n");
  if (one_warp(j)) return;
  rewrite_put_linear_thread(j, t);
  if (rewrite_claims_by_warp(j))
    rewrite_put(j, t, "\tshr.u32 %%~at, %%~linear, 5;\n\tshl.b32 %%~at, %%~at, 2;\n");
  else
    rewrite_put(j, t, "\tsetp.lt.u32 %%~first, %%~linear, 32;\n");
}

/* %~i: %~c mod M. ptxas makes seventeen instructions of a remainder by a constant. */
static void put_remainder(const rewrite_job *j, hd_buf *t) {
  uint32_t M = clusters(j);
  hd_magic magic;
  if ((M & (M - 1)) == 0) {
    rewrite_put(j, t, "\tand.b32 %%~i, %%~c, %u;\n", M - 1);
  } else if (hd_find_magic(M, INT32_MAX, 32, &magic)) {
    rewrite_put(j, t,
                "\tand.b32 %%~c, %%~c, %d;\n\tmul.hi.u32 %%~k, %%~c, %" PRIu64
                ";\n\tshr.u32 %%~k, %%~k, %u;\n"
                "\tmul.lo.u32 %%~k, %%~k, %u;\n\tsub.u32 %%~i, %%~c, %%~k;\n",
                INT32_MAX, magic.multiplier, magic.shift - 32, M);
  } else {
    rewrite_put(j, t, "\trem.u32 %%~i, %%~c, %u;\n", M);
  }
}

/* %~i: the place of SM %~c among those of a set; of others, what it was. */
static void put_rank(const rewrite_job *j, hd_buf *t, const hd_sm_set *sms) {
  for (uint32_t k = 0, before = 0; k < sms->n; k++) {
    const hd_sm_range *r = &sms->ranges[k];
    rewrite_put(
        j, t, "\tsub.u32 %%~k, %%~c, %u;\n\tsetp.le.u32 %%~ok, %%~k, %u;\n\t@%%~ok add.u32 %%~i, %%~k, %u;\n",
        r->first, r->last - r->first, before);
    before += r->last - r->first + 1;
  }
}

/* %~i: the cluster of this SM; -1: the plan names others. Should an SM have a number that nobody foresaw,
 * some cluster is as right as another. */
static void put_cluster(const rewrite_job *j, hd_buf *t) {
  const hd_sm_set *named = &j->plan->sms, *present = j->opt->sms;
  rewrite_put(j, t, "\tmov.u32 %%~c, %%smid;\n");
  if (named->n) {
    rewrite_put(j, t, "\tmov.u32 %%~i, -1;\n");
    put_rank(j, t, named);
    return;
  }
  if (present && present->n) {
    rewrite_put(j, t, "\tmov.u32 %%~i, %%~c;\n");
    put_rank(j, t, present);
    rewrite_put(j, t, "\tmov.u32 %%~c, %%~i;\n");
  }
  put_remainder(j, t);
}

/* ---- The way out --------------------------------------------------------------------- */

/* %~old: how many warps of this column had left; %~bound: workers - 1. The last one starts the count anew. */
static void put_count_out(const rewrite_job *j, hd_buf *t) {
  put_column(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~bound, %%nctaid.x;\n\tsub.u32 %%~bound, %%~bound, 1;\n"
              "\t@%%~lead atom.global.inc.u32 %%~old, [%%~queue], %%~bound;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n\tsetp.eq.u32 %%~ok, %%~old, %%~bound;\n");
}

/* More queues than the warp has lanes. */
static bool goes_around(const rewrite_job *j) { return !lanes(j) || clusters(j) > lanes(j); }

/* The head of a loop that ptxas must not unroll: many iterations at once take many registers. */
static void put_loop(const rewrite_job *j, hd_buf *t, const char *label) {
  rewrite_put(j, t, "$~%s:\n\t.pragma \"nounroll\";\n", label);
}

/* All lanes of the warp zero its column, a queue each. Falls through. */
static void put_clear(const rewrite_job *j, hd_buf *t) {
  put_lanes(j, t);
  if (has_columns(j))
    rewrite_put(j, t, "\tand.b32 %%~k, %%~at, %u;\n\tmad.lo.u32 %%~c, %%~lane, %u, %%~k;\n", LINE - 1,
                stride(j));
  else
    rewrite_put(j, t, "\tshl.b32 %%~c, %%~lane, %u;\n", stride_bits(j));
  if (goes_around(j)) put_loop(j, t, "clear");
  rewrite_put(j, t, "\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok bra $~cleared;\n", clusters(j) * stride(j));
  put_address(j, t, "%~c");
  rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", TAKEN);
  if (throttled(j)) rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", RANKS);
  if (goes_around(j)) {
    put_step(j, t, "%~c");
    rewrite_put(j, t, "\tbra $~clear;\n");
  }
  rewrite_put(j, t, "$~cleared:\n");
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

/* What some threads are given below is kept by none from above: ptxas sees who is in which lane or warp no
 * better than anybody, and would find room for it while a task is done. */
static void put_nothing(const rewrite_job *j, hd_buf *t, const char *reg) {
  rewrite_put(j, t, "\tmov.u32 %s, 0;\n", reg);
}

/* ---- A loop that ptxas does not see ---------------------------------------------------- */

/* From a loop with one entry ptxas hoists parameters, addresses and what it computes from thread ids, into
 * registers that are then taken all the time. A loop with two entries is none to it. So the loop over tasks
 * (in CTAs that claim as one: of the warps that wait) is given another, from before it to $~inside, which is
 * never taken: the state is somewhere. What that way would leave undefined it sets, lest the zeros be thought
 * dead.
 *
 * The price is convergence. Where ptxas sees no loop it puts a YIELD in front of the atomic of the one lane
 * that claims ahead, and after that the warp's lanes may do the task apart, one and thirty-one: seen on an
 * H100, where tasks then took twice as long. A vote brings them together. */
static bool hides_loop(const rewrite_job *j) { return is_agents(j) && j->opt->no_hoisting; }

/* The way around the loop, for grids with too many tasks, is a second entry too. */
static bool has_two_entries(const rewrite_job *j) {
  return hides_loop(j) || (is_agents(j) && !j->opt->grid.known);
}

static void put_second_entry(const rewrite_job *j, hd_buf *t) {
  if (!hides_loop(j)) return;
  put_address(j, t, NULL);
  rewrite_put(j, t, "\tmov.u32 %%~u, 0;\n\tmov.u32 %%~w, 0;\n\tsetp.eq.u64 %%~ok, %%~queue, 0;\n");
  if (takes_segments(j)) put_nothing(j, t, "%~stop");
  rewrite_put(j, t, "\t@%%~ok bra $~inside;\n");
}

static void put_inside(const rewrite_job *j, hd_buf *t, bool here) {
  if (hides_loop(j) && here) rewrite_put(j, t, "$~inside:\n");
}

/* No position is negative. */
static void put_convergence(const rewrite_job *j, hd_buf *t) {
  if (has_two_entries(j))
    rewrite_put(j, t,
                "\tsetp.lt.s32 %%~ok, %%~u, 0;\n\tvote.sync.any.pred %%~ok, %%~ok, -1;\n\t@%%~ok trap;\n");
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

/* %~queue: of the queue at `at`. Bit 2 of a column that is 0 is none of its address. */
static void put_queue(const rewrite_job *j, hd_buf *t, const char *at) {
  bool plain = rewrite_claims_by_warp(j) || !is_agents(j);
  if (!plain) rewrite_put(j, t, "\tand.b32 %%~k, %s, -8;\n", at);
  put_address(j, t, plain ? at : "%~k");
}

/* Lanes of the smallest warp that claims; 1 when this is not known. */
static uint32_t fewest_lanes(const rewrite_job *j) {
  uint32_t threads = rewrite_threads(j);
  if (!threads) return 1;
  return has_columns(j) && threads % 32 ? threads % 32 : lanes(j);
}

/* While a task is done one register holds, in one lane each, all that the warp keeps: what was claimed ahead
 * in the first, where the atomic writes; else the present place in the first and where its segment stops in
 * the third; the queue in the others. */
static bool shares_register(const rewrite_job *j) {
  return (claims_ahead(j) && fewest_lanes(j) >= 2) || (takes_segments(j) && fewest_lanes(j) >= 3);
}
static const char *got(const rewrite_job *j) {
  return claims_ahead(j) && is_agents(j) && shares_register(j) ? "%~at" : "%~got";
}

static void put_take(const rewrite_job *j, hd_buf *t) {
  put_queue(j, t, "%~at");
  if (!claims_ahead(j)) put_nothing(j, t, got(j));
  rewrite_put(j, t, "\t@%%~lead atom.global.add.u32 %s, [%%~queue+%d], 1;\n", got(j), TAKEN);
}

/* %~size: tasks of a segment, where this is not a number. As many as there are for each worker; of more
 * workers than that, all find something as long as others are late. */
static void put_size(const rewrite_job *j, hd_buf *t) {
  char tasks[64];
  if (!takes_segments(j) || segment(j)) return;
  if (j->opt->grid.known)
    snprintf(tasks, sizeof tasks, "%" PRIu64, j->V);
  else
    snprintf(tasks, sizeof tasks, "%%%s_v", j->prefix);
  if (j->plan->agents)
    rewrite_put(j, t, "\tmov.u32 %%~k, %" PRIu64 ";\n", active(j));
  else
    rewrite_put(j, t, "\tmov.u32 %%~k, %%nctaid.x;\n");
  rewrite_put(
      j, t,
      "\tadd.u32 %%~size, %%~k, %s;\n\tsub.u32 %%~size, %%~size, 1;\n\tdiv.u32 %%~size, %%~size, %%~k;\n",
      tasks);
}

/* %~ok: task (or segment) number `taken` is one of a queue's. Tries are counted as well, so that in tasks the
 * number may be beyond 32 bits. */
static void put_compare(const rewrite_job *j, hd_buf *t, const char *taken, const char *quota) {
  char size[64] = "%~size";
  if (!takes_segments(j)) {
    rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %s, %s;\n", taken, quota);
    return;
  }
  if (segment(j)) snprintf(size, sizeof size, "%u", segment(j));
  rewrite_put(j, t,
              "\tmul.hi.u32 %%~k, %s, %s;\n\tsetp.eq.u32 %%~ok, %%~k, 0;\n\tmul.lo.u32 %%~k, %s, %s;\n"
              "\tsetp.lt.and.u32 %%~ok, %%~k, %s, %%~ok;\n",
              taken, size, taken, size, quota);
}

/* The present queue is empty: the warp's lanes look at the next ones, as many at once as there are lanes. The
 * nearest that has tasks is tried; when all are empty, there are none.
 *
 * %~c is what %~at would be there, %~far how many queues on that is. In a kernel of few registers nothing
 * needs more of them than this. */
static hd_status put_search(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char quota[64];
  uint32_t M = clusters(j);
  bool again = goes_around(j);
  put_lanes(j, t);
  rewrite_put(j, t, "\tadd.u32 %%~far, %%~lane, 1;\n\tmad.lo.u32 %%~c, %%~far, %u, %%~at;\n", stride(j));
  if (again) put_loop(j, t, "search");
  rewrite_put(j, t,
              "\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok sub.u32 %%~c, %%~c, %u;\n"
              "\tsetp.lt.u32 %%~ok, %%~far, %u;\n",
              M * stride(j), M * stride(j), M);
  put_queue(j, t, "%~c");
  rewrite_put(j, t,
              "\tmov.u32 %%~seen, -1;\n\t@%%~ok ld.%s.global.u32 %%~seen, [%%~queue+%d];\n"
              "\tshr.u32 %%~i, %%~c, %u;\n",
              j->m->sm >= 70 ? "relaxed.gpu" : "volatile", TAKEN, stride_bits(j));
  hd_status st = put_program(j, t, "a", "i", hd_plan_quota, quota, d);
  put_compare(j, t, "%~seen", quota);
  rewrite_put(j, t,
              "\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n"
              "\tsetp.ne.u32 %%~ok, %%~mask, 0;\n\t@%%~ok bra $~found;\n");
  if (again) {
    put_step(j, t, "%~c");
    if (lanes(j))
      rewrite_put(j, t, "\tadd.u32 %%~far, %%~far, %u;\n", lanes(j));
    else
      rewrite_put(j, t, "\tadd.u32 %%~far, %%~far, %%~step;\n");
    rewrite_put(j, t,
                "\tsetp.lt.u32 %%~ok, %%~far, %u;\n\tvote.sync.any.pred %%~ok, %%~ok, -1;\n"
                "\t@%%~ok bra $~search;\n",
                M);
  }
  if (!is_agents(j)) /* as many workers as tasks: only a launch with another grid comes here */
    rewrite_put(j, t, "\ttrap;\n");
  else if (rewrite_claims_by_warp(j))
    put_leave(j, t);
  else
    rewrite_put(j, t, "\tmov.u32 %%~u, %d;\n\tbra $~have;\n", NO_TASK);
  rewrite_put(j, t,
              "$~found:\n\tbrev.b32 %%~mask, %%~mask;\n\tclz.b32 %%~mask, %%~mask;\n"
              "\tshfl.sync.idx.b32 %%~at, %%~c, %%~mask, 31, -1;\n\tbra $~claim;\n");
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
  if (takes_segments(j)) return 0;
  return least && !is_agents(j) ? least - 1 : least;
}

/* %~w, a segment's number, becomes its first place; %~stop: the place behind its last one. */
static void put_segment(const rewrite_job *j, const char *quota, hd_buf *t) {
  char size[64] = "%~size";
  if (segment(j)) snprintf(size, sizeof size, "%u", segment(j));
  rewrite_put(j, t,
              "\tmul.lo.u32 %%~w, %%~w, %s;\n\tadd.u32 %%~stop, %%~w, %s;\n\tmin.u32 %%~stop, %%~stop, %s;\n"
              "$~place:\n\tshr.u32 %%~i, %%~at, %u;\n",
              size, size, quota, stride_bits(j));
  put_inside(j, t, rewrite_claims_by_warp(j));
}

/* From what the leader got to a position, by way of other queues. */
static hd_status put_claim(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char quota[64], position[64];
  rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~w, %s, 0, 31, -1;\n", got(j));
  if (is_agents(j) && claims_ahead(j) && shares_register(j))
    rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~at, %%~at, 1, 31, -1;\n");
  put_inside(j, t, rewrite_claims_by_warp(j) && !takes_segments(j));
  rewrite_put(j, t, "\tshr.u32 %%~i, %%~at, %u;\n", stride_bits(j));
  uint64_t sure = sure_places(j);
  if (sure) rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %%~w, %" PRIu64 ";\n\t@%%~ok bra $~sure;\n", sure);
  hd_status st = put_program(j, t, "q", "i", hd_plan_quota, quota, d);
  put_size(j, t);
  put_compare(j, t, "%~w", quota);
  rewrite_put(j, t, "\t@%%~ok bra $~taken;\n");
  if (st == HD_OK) st = put_search(j, t, d);
  rewrite_put(j, t, "$~taken:\n");
  if (takes_segments(j)) put_segment(j, quota, t);
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
  if (takes_segments(j)) rewrite_put(j, t, "\t.reg .b32 %%~stop, %%~size;\n");
  if (rewrite_claims_by_warp(j) || !rewrite_ticket_bytes(j)) return;
  uint32_t bytes = rewrite_ticket_bytes(j);
  rewrite_put(j, t, "\t.shared .align %u .b32 ~ticket[%u];\n", bytes, bytes / 4);
  if (is_agents(j)) rewrite_put(j, t, "\t.reg .b32 %%~slot;\n");
}

static void put_no_segment(const rewrite_job *j, hd_buf *t) {
  if (!takes_segments(j) || !shares_register(j)) return;
  put_nothing(j, t, "%~w");
  put_nothing(j, t, "%~stop");
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
    put_no_segment(j, t);
    rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  }
  if (takes_segments(j) && shares_register(j))
    rewrite_put(
        j, t,
        "\tshfl.sync.idx.b32 %%~w, %%~at, 0, 31, -1;\n\tshfl.sync.idx.b32 %%~stop, %%~at, 2, 31, -1;\n"
        "\tshfl.sync.idx.b32 %%~at, %%~at, 1, 31, -1;\n");
  if (takes_segments(j))
    rewrite_put(j, t,
                "\tadd.u32 %%~w, %%~w, 1;\n\tsetp.lt.u32 %%~ok, %%~w, %%~stop;\n\t@%%~ok bra $~place;\n");
  if (!claims_ahead(j)) rewrite_put(j, t, "\tbra $~claim;\n");
}

hd_status rewrite_put_binding(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  bool by_warp = rewrite_claims_by_warp(j);
  put_declarations(j, t);
  put_place(j, t);
  if (!by_warp) put_no_segment(j, t);
  if (!by_warp) rewrite_put(j, t, "\t@!%%~first bra $~wait;\n");
  put_cluster(j, t);
  if (j->plan->sms.n) put_foreign(j, t);
  rewrite_put(j, t, "\tmad.lo.u32 %%~at, %%~i, %u, %%~at;\n", stride(j));
  if (throttled(j)) put_throttle(j, t);
  put_second_entry(j, t);
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
    put_inside(j, t, true);
  }
  return st;
}

hd_status rewrite_put_binding_tail(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  bool by_warp = rewrite_claims_by_warp(j);
  if (!is_agents(j)) return HD_OK;
  if (!claims_ahead(j) && !shares_register(j)) {
    if (by_warp) put_convergence(j, t);
    return HD_OK;
  }
  if (!by_warp) rewrite_put(j, t, "\t@!%%~first bra $~begin;\n");
  if (claims_ahead(j))
    put_take(j, t);
  else
    rewrite_put(j, t,
                "\tmov.u32 %%~lane, %%laneid;\n\tsetp.eq.u32 %%~ok, %%~lane, 2;\n"
                "\t@%%~lead mov.u32 %%~at, %%~w;\n\t@%%~ok mov.u32 %%~at, %%~stop;\n");
  put_convergence(j, t);
  if (!by_warp) rewrite_put(j, t, "$~begin:\n");
  return HD_OK;
}
