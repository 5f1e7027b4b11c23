/* Claims: a worker's identity, its own queue, and its exit. */
#include <inttypes.h>
#include <stdio.h>

#include "rewrite/levers/claim.h"

/* ---- The state ----------------------------------------------------------------------------- */

/* The state's address is read from its parameter each time, because a parameter costs no register. */
void claim_put_address(const rewrite_job *j, hd_buf *t, const char *offset) {
  rewrite_put_state(j, t, "queue");
  if (offset) rewrite_put(j, t, "\tmad.wide.u32 %%~queue, %s, 1, %%~queue;\n", offset);
}

void claim_put_column(const rewrite_job *j, hd_buf *t) {
  bool columns = j->claim->unit == CLAIM_BY_WARP;
  if (columns) rewrite_put(j, t, "\tand.b32 %%~k, %%~at, %u;\n", CLAIM_LINE - 1);
  claim_put_address(j, t, columns ? "%~k" : NULL);
}

/* In CTAs with agents that claim as one, bit 2 of %~at says which ticket comes next and is no part of the
 * address. */
void claim_put_queue(const rewrite_job *j, hd_buf *t, const char *at) {
  bool ticket = j->claim->unit == CLAIM_BY_CTA && j->claim->agents && j->claim->take != CLAIM_STRIDE;
  if (ticket) rewrite_put(j, t, "\tand.b32 %%~k, %s, -8;\n", at);
  claim_put_address(j, t, ticket ? "%~k" : at);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

void claim_put_lanes(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "\tmov.u32 %%~lane, %%laneid;\n");
  if (j->claim->lanes) return;
  rewrite_put(j, t,
              "\tsetp.lt.u32 %%~ok, %%~lane, 32;\n\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n"
              "\tpopc.b32 %%~step, %%~mask;\n");
}

void claim_put_step(const rewrite_job *j, hd_buf *t, const char *queue) {
  const claim_scheme *s = j->claim;
  if (s->lanes)
    rewrite_put(j, t, "\tadd.u32 %s, %s, %u;\n", queue, queue, s->lanes * s->stride);
  else
    rewrite_put(j, t, "\tmad.lo.u32 %s, %%~step, %u, %s;\n", queue, s->stride, queue);
}

void claim_put_loop(const rewrite_job *j, hd_buf *t, const char *label) {
  rewrite_put(j, t, "$~%s:\n\t.pragma \"nounroll\";\n", label);
}

/* ---- The worker's identity ----------------------------------------------------------------------- */

void claim_put_who(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t.reg .b64 %%~queue;\n\t.reg .b32 %%~lane, %%~at;\n\t.reg .pred %%~lead, %%~first;\n"
              "\tmov.u32 %%~lane, %%laneid;\n\tsetp.eq.u32 %%~lead, %%~lane, 0;\n\tmov.u32 %%~at, 0;\n");
  switch (j->claim->unit) {
  case CLAIM_ONE_WARP: break;
  case CLAIM_BY_WARP:
    rewrite_put_linear_thread(j, t);
    rewrite_put(j, t, "\tshr.u32 %%~at, %%~linear, 5;\n\tshl.b32 %%~at, %%~at, 2;\n");
    break;
  case CLAIM_BY_CTA:
    rewrite_put_linear_thread(j, t);
    rewrite_put(j, t, "\tsetp.lt.u32 %%~first, %%~linear, 32;\n");
    break;
  }
}

/* ---- The worker's queue -------------------------------------------------------------------------- */

/* ptxas makes seventeen instructions of a division by a constant. */
void claim_put_quotient(const rewrite_job *j, hd_buf *t, const char *result, const char *value) {
  uint32_t M = j->claim->clusters;
  hd_magic magic;
  if ((M & (M - 1)) == 0)
    rewrite_put(j, t, "\tshr.u32 %s, %s, %d;\n", result, value, __builtin_ctz(M));
  else if (hd_find_magic(M, INT32_MAX, 32, &magic))
    rewrite_put(j, t, "\tmul.hi.u32 %s, %s, %" PRIu64 ";\n\tshr.u32 %s, %s, %u;\n", result, value,
                magic.multiplier, result, result, magic.shift - 32);
  else
    rewrite_put(j, t, "\tdiv.u32 %s, %s, %u;\n", result, value, M);
}

/* %~i: %~c mod M. */
static void put_remainder(const rewrite_job *j, hd_buf *t) {
  uint32_t M = j->claim->clusters;
  if ((M & (M - 1)) == 0) {
    rewrite_put(j, t, "\tand.b32 %%~i, %%~c, %u;\n", M - 1);
    return;
  }
  rewrite_put(j, t, "\tand.b32 %%~c, %%~c, %d;\n", INT32_MAX);
  claim_put_quotient(j, t, "%~k", "%~c");
  rewrite_put(j, t, "\tmul.lo.u32 %%~k, %%~k, %u;\n\tsub.u32 %%~i, %%~c, %%~k;\n", M);
}

/* %~i: the rank of SM %~c among those of a set. SMs that are not in the set leave %~i as it was. */
static void put_rank(const rewrite_job *j, hd_buf *t, const hd_numbers *sms) {
  hd_range r;
  for (uint32_t at = 0, before = 0; hd_numbers_run(sms, at, &r); at = r.last + 1) {
    rewrite_put(
        j, t, "\tsub.u32 %%~k, %%~c, %u;\n\tsetp.le.u32 %%~ok, %%~k, %u;\n\t@%%~ok add.u32 %%~i, %%~k, %u;\n",
        r.first, r.last - r.first, before);
    before += r.last - r.first + 1;
  }
}

/* -1: the plan names other SMs. An SM with a number that was not foreseen takes some cluster: any is right.
 */
void claim_put_cluster(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  rewrite_put(j, t, "\tmov.u32 %%~c, %%smid;\n");
  if (s->named) {
    rewrite_put(j, t, "\tmov.u32 %%~i, -1;\n");
    put_rank(j, t, s->named);
    return;
  }
  if (s->present) {
    rewrite_put(j, t, "\tmov.u32 %%~i, %%~c;\n");
    put_rank(j, t, s->present);
    rewrite_put(j, t, "\tmov.u32 %%~c, %%~i;\n");
  }
  put_remainder(j, t);
}

/* %~old: how many warps of this column had left; %~bound: workers - 1. The last one sets the count to 0. */
static void put_count_out(const rewrite_job *j, hd_buf *t) {
  claim_put_column(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~bound, %%nctaid.x;\n\tsub.u32 %%~bound, %%~bound, 1;\n"
              "\t@%%~lead atom.global.inc.u32 %%~old, [%%~queue], %%~bound;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n\tsetp.eq.u32 %%~ok, %%~old, %%~bound;\n");
}

/* Workers on SMs that the plan does not name leave. Should all workers be such, the last of them does the
 * work: it takes back that it left. */
static void put_foreign(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t, "\tsetp.ne.u32 %%~ok, %%~i, -1;\n\t@%%~ok bra $~native;\n");
  put_count_out(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~u, %d;\n\t@!%%~ok bra $~%s;\n\t@%%~lead st.global.u32 [%%~queue], %%~bound;\n"
              "\tmov.u32 %%~i, 0;\n$~native:\n",
              CLAIM_LEFT_ALREADY, claims_by_warp(j->claim) ? "cleared" : "have");
}

/* %~k: how many workers are active on the SM of cluster %~i (hd_agents_voted). The grid says how many there
 * are for each SM. */
static void put_number(const rewrite_job *j, hd_buf *t) {
  const uint32_t M = j->claim->clusters;
  rewrite_put(j, t,
              "\tmov.u32 %%~k, %%nctaid.x;\n\tadd.u32 %%~k, %%~k, %u;\n\tdiv.u32 %%~k, %%~k, %u;\n"
              "\trem.u32 %%~k, %%~i, %%~k;\n\tadd.u32 %%~k, %%~k, 1;\n",
              M - 1, M);
}

/* Workers beyond the N-th on an SM leave; the first never does. A warp that claims for itself leaves at once;
 * one that claims for its CTA informs the others. */
static void put_throttle(const rewrite_job *j, hd_buf *t) {
  char active[16] = "%~k";
  if (j->claim->voted)
    put_number(j, t);
  else
    snprintf(active, sizeof active, "%u", j->claim->throttle);
  claim_put_address(j, t, "%~at");
  rewrite_put(j, t,
              "\t@%%~lead atom.global.add.u32 %%~old, [%%~queue+%d], 1;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n\tmov.u32 %%~u, %d;\n"
              "\tsetp.ge.u32 %%~ok, %%~old, %s;\n\t@%%~ok bra $~%s;\n",
              CLAIM_RANKS, CLAIM_NO_TASK, active, claims_by_warp(j->claim) ? "leave" : "have");
}

void claim_put_where(const rewrite_job *j, hd_buf *t) {
  claim_put_cluster(j, t);
  if (j->claim->named) put_foreign(j, t);
  rewrite_put(j, t, "\tmad.lo.u32 %%~at, %%~i, %u, %%~at;\n", j->claim->stride);
  if (j->claim->ranked) put_throttle(j, t);
}

void claim_put_vote(const rewrite_job *j, hd_buf *t) {
  if (!j->claim->voted) return;
  claim_put_cluster(j, t);
  rewrite_put(j, t, "\tshl.b32 %%~i, %%~i, 2;\n");
  claim_put_address(j, t, "%~i");
  rewrite_put(j, t, "\t@%%~lead red.global.add.u32 [%%~queue+%" PRIu64 "], 1;\n", j->recipe->ballot_offset);
}

/* ---- The second entry ---------------------------------------------------------------------------- */

/* From a loop with one entry ptxas hoists parameters, addresses and values computed from thread ids, into
 * registers that are then taken all the time. It does not treat a loop with two entries as a loop. So the
 * loop over tasks (in CTAs that claim as one: of the warps that wait) is given another, from before it to
 * $~inside, which is never taken, because the state's address is never 0. The registers that this way would
 * leave undefined are set first; else ptxas takes their zeros for dead.
 *
 * The price is convergence. Where ptxas sees no loop it puts a YIELD in front of the atomic of the one lane
 * that claims ahead, and after that the warp's lanes may do the task apart, one and thirty-one: seen on an
 * H100, where tasks then took twice as long. A vote brings them together. */
void claim_put_second_entry(const rewrite_job *j, hd_buf *t) {
  if (!j->claim->second_entry) return;
  claim_put_address(j, t, NULL);
  rewrite_put(j, t, "\tsetp.eq.u64 %%~ok, %%~queue, 0;\n\t@%%~ok bra $~inside;\n");
}

/* ---- The way out ------------------------------------------------------------------------------------ */

void claim_put_clear(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  claim_put_lanes(j, t);
  if (s->unit == CLAIM_BY_WARP)
    rewrite_put(j, t, "\tand.b32 %%~k, %%~at, %u;\n\tmad.lo.u32 %%~c, %%~lane, %u, %%~k;\n", CLAIM_LINE - 1,
                s->stride);
  else
    rewrite_put(j, t, "\tshl.b32 %%~c, %%~lane, %u;\n", s->stride_bits);
  if (s->many_queues) claim_put_loop(j, t, "clear");
  rewrite_put(j, t, "\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok bra $~cleared;\n", s->clusters * s->stride);
  claim_put_address(j, t, "%~c");
  rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", CLAIM_TAKEN);
  if (s->ranked) rewrite_put(j, t, "\tst.global.u32 [%%~queue+%d], 0;\n", CLAIM_RANKS);
  if (s->many_queues) {
    claim_put_step(j, t, "%~c");
    rewrite_put(j, t, "\tbra $~clear;\n");
  }
  rewrite_put(j, t, "$~cleared:\n");
}

void claim_put_leave(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  rewrite_put(j, t, "$~leave:\n");
  if (!claims_by_warp(s)) rewrite_put(j, t, "\t@!%%~first bra $~cleared;\n");
  if (!claims_by_warp(s) && s->named)
    rewrite_put(j, t, "\tsetp.eq.s32 %%~ok, %%~u, %d;\n\t@%%~ok bra $~cleared;\n", CLAIM_LEFT_ALREADY);
  put_count_out(j, t);
  rewrite_put(j, t, "\t@!%%~ok bra $~cleared;\n");
  claim_put_clear(j, t);
  rewrite_put(j, t, "\tret;\n");
}
