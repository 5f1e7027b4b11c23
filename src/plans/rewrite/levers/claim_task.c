/* Claims: how a worker takes its next task, from its own queue or from another one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/levers/claim.h"

/* ---- Arithmetic of the clusters ---------------------------------------------------------------- */

hd_status claim_put_program(const rewrite_job *j, hd_buf *t, const char *suffix, claim_program *make,
                            char result[64], hd_diag *d) {
  static const char *const NAMES[] = {"nx", "ny", "nz", "v"};
  char prefix[80], w[80], i[80], dims[4][80], names[3][64];
  hd_prog prog;
  hd_status st = make(j->plan, &j->opt->grid, &prog, d);
  if (st != HD_OK) return st;
  snprintf(prefix, sizeof prefix, "%s_%s", j->prefix, suffix);
  snprintf(w, sizeof w, "%%%s_w", j->prefix);
  snprintf(i, sizeof i, "%%%s_i", j->prefix);
  rewrite_lowering l = {.prefix = prefix, .in = w, .cluster = i, .want = {true}};
  for (unsigned k = 0; k < 4; k++) {
    snprintf(dims[k], sizeof dims[k], "%%%s_%s", j->prefix, NAMES[k]);
    l.dims[k] = j->claim->any_grid ? dims[k] : NULL;
  }
  st = rewrite_lower(&prog, &l, names, t, d);
  memcpy(result, names[0], 64);
  return st;
}

/* ---- Segments ------------------------------------------------------------------------------------ */

/* The text for %~size: a number where it is known. */
static void name_size(const claim_scheme *s, char size[64]) {
  if (s->segment)
    snprintf(size, 64, "%" PRIu32, s->segment);
  else
    snprintf(size, 64, "%%~size");
}

/* %~size, where it is not a number: as many tasks as there are for each worker. Where there are more workers
 * than that, late ones take the remaining tasks. */
static void put_size(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  char tasks[64];
  if (s->take != CLAIM_SEGMENT || s->segment) return;
  if (s->any_grid)
    snprintf(tasks, sizeof tasks, "%%%s_v", j->prefix);
  else
    snprintf(tasks, sizeof tasks, "%" PRIu64, s->V);
  if (s->throttle)
    rewrite_put(j, t, "\tmov.u32 %%~k, %" PRIu64 ";\n", s->active);
  else
    rewrite_put(j, t, "\tmov.u32 %%~k, %%nctaid.x;\n");
  rewrite_put(
      j, t,
      "\tadd.u32 %%~size, %%~k, %s;\n\tsub.u32 %%~size, %%~size, 1;\n\tdiv.u32 %%~size, %%~size, %%~k;\n",
      tasks);
}

/* %~w, a segment's number, becomes its first place; %~stop: the place behind its last one. */
static void put_segment(const rewrite_job *j, const char *quota, hd_buf *t) {
  char size[64];
  name_size(j->claim, size);
  rewrite_put(j, t,
              "\tmul.lo.u32 %%~w, %%~w, %s;\n\tadd.u32 %%~stop, %%~w, %s;\n\tmin.u32 %%~stop, %%~stop, %s;\n"
              "$~place:\n\tshr.u32 %%~i, %%~at, %u;\n",
              size, size, quota, j->claim->stride_bits);
}

void claim_put_next_place(const rewrite_job *j, hd_buf *t) {
  if (j->claim->packs)
    rewrite_put(
        j, t,
        "\tshfl.sync.idx.b32 %%~w, %%~at, 0, 31, -1;\n\tshfl.sync.idx.b32 %%~stop, %%~at, 2, 31, -1;\n"
        "\tshfl.sync.idx.b32 %%~at, %%~at, 1, 31, -1;\n");
  rewrite_put(j, t, "\tadd.u32 %%~w, %%~w, 1;\n\tsetp.lt.u32 %%~ok, %%~w, %%~stop;\n\t@%%~ok bra $~place;\n");
}

void claim_put_pack_segment(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\tmov.u32 %%~lane, %%laneid;\n\tsetp.eq.u32 %%~ok, %%~lane, 2;\n"
              "\t@%%~lead mov.u32 %%~at, %%~w;\n\t@%%~ok mov.u32 %%~at, %%~stop;\n");
}

/* ---- Taking a task ---------------------------------------------------------------------------------- */

void claim_put_take(const rewrite_job *j, hd_buf *t) {
  const claim_scheme *s = j->claim;
  claim_put_queue(j, t, "%~at");
  if (s->clears_got) rewrite_put(j, t, "\tmov.u32 %s, 0;\n", s->got);
  rewrite_put(j, t, "\t@%%~lead atom.global.add.u32 %s, [%%~queue+%d], 1;\n", s->got, CLAIM_TAKEN);
}

/* %~ok: task (or segment) number `taken` is one of a queue's. Tries are counted as well, so that a segment's
 * number times its size may be beyond 32 bits. */
static void put_compare(const rewrite_job *j, hd_buf *t, const char *taken, const char *quota) {
  char size[64];
  if (j->claim->take != CLAIM_SEGMENT) {
    rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %s, %s;\n", taken, quota);
    return;
  }
  name_size(j->claim, size);
  rewrite_put(j, t,
              "\tmul.hi.u32 %%~k, %s, %s;\n\tsetp.eq.u32 %%~ok, %%~k, 0;\n\tmul.lo.u32 %%~k, %s, %s;\n"
              "\tsetp.lt.and.u32 %%~ok, %%~k, %s, %%~ok;\n",
              taken, size, taken, size, quota);
}

/* ---- Other queues ------------------------------------------------------------------------------------ */

/* The tasks of queue %~i, or its strides, which are as many in each. */
static hd_status put_quota(const rewrite_job *j, hd_buf *t, const char *suffix, char quota[64], hd_diag *d) {
  if (j->claim->take != CLAIM_STRIDE) return claim_put_program(j, t, suffix, hd_plan_quota, quota, d);
  snprintf(quota, 64, "%%%s_apart", j->prefix);
  return HD_OK;
}

/* All queues are empty. */
static void put_none(const rewrite_job *j, hd_buf *t) {
  if (!j->claim->agents) /* as many workers as tasks: only a launch with another grid comes here */
    rewrite_put(j, t, "\ttrap;\n");
  else if (j->claim->take == CLAIM_STRIDE) /* as many workers as strides */
    rewrite_put(j, t, "\ttrap;\n");
  else if (claims_by_warp(j->claim))
    claim_put_leave(j, t);
  else
    rewrite_put(j, t, "\tmov.u32 %%~u, %d;\n\tbra $~have;\n", CLAIM_NO_TASK);
}

/* The present queue is empty: the warp's lanes look at the next ones, as many at once as there are lanes. The
 * nearest that has tasks is tried; when all are empty, there are none.
 *
 * %~c is the value of %~at for that queue, %~far how many queues further on it lies. In a kernel of few
 * registers, this part needs the most. */
static hd_status put_search(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  const claim_scheme *s = j->claim;
  char quota[64];
  uint32_t M = s->clusters;
  claim_put_lanes(j, t);
  rewrite_put(j, t, "\tadd.u32 %%~far, %%~lane, 1;\n\tmad.lo.u32 %%~c, %%~far, %u, %%~at;\n", s->stride);
  if (s->many_queues) claim_put_loop(j, t, "search");
  rewrite_put(j, t,
              "\tsetp.ge.u32 %%~ok, %%~c, %u;\n\t@%%~ok sub.u32 %%~c, %%~c, %u;\n"
              "\tsetp.lt.u32 %%~ok, %%~far, %u;\n",
              M * s->stride, M * s->stride, M);
  claim_put_queue(j, t, "%~c");
  rewrite_put(j, t,
              "\tmov.u32 %%~seen, -1;\n\t@%%~ok ld.%s.global.u32 %%~seen, [%%~queue+%d];\n"
              "\tshr.u32 %%~i, %%~c, %u;\n",
              j->m->sm >= 70 ? "relaxed.gpu" : "volatile", CLAIM_TAKEN, s->stride_bits);
  hd_status st = put_quota(j, t, "a", quota, d);
  put_compare(j, t, "%~seen", quota);
  rewrite_put(j, t,
              "\tvote.sync.ballot.b32 %%~mask, %%~ok, -1;\n"
              "\tsetp.ne.u32 %%~ok, %%~mask, 0;\n\t@%%~ok bra $~found;\n");
  if (s->many_queues) {
    claim_put_step(j, t, "%~c");
    if (s->lanes)
      rewrite_put(j, t, "\tadd.u32 %%~far, %%~far, %u;\n", s->lanes);
    else
      rewrite_put(j, t, "\tadd.u32 %%~far, %%~far, %%~step;\n");
    rewrite_put(j, t,
                "\tsetp.lt.u32 %%~ok, %%~far, %u;\n\tvote.sync.any.pred %%~ok, %%~ok, -1;\n"
                "\t@%%~ok bra $~search;\n",
                M);
  }
  put_none(j, t);
  rewrite_put(j, t,
              "$~found:\n\tbrev.b32 %%~mask, %%~mask;\n\tclz.b32 %%~mask, %%~mask;\n"
              "\tshfl.sync.idx.b32 %%~at, %%~c, %%~mask, 31, -1;\n\tbra $~claim;\n");
  return st;
}

/* Where each worker claims once. The one that takes a queue's last task (or stride) counts that queue; the
 * last of them clears. */
static void put_finish(const rewrite_job *j, const char *quota, hd_buf *t) {
  const claim_scheme *s = j->claim;
  char full[64];
  uint32_t M = s->clusters;
  bool strides = s->take == CLAIM_STRIDE; /* no queue is without one */
  if (s->any_grid && !strides)
    snprintf(full, sizeof full, "%%%s_bound", j->prefix);
  else
    snprintf(full, sizeof full, "%" PRIu64, (!strides && s->V < M ? s->V : M) - 1);
  rewrite_put(j, t, "\tadd.u32 %%~k, %%~w, 1;\n\tsetp.ne.u32 %%~ok, %%~k, %s;\n\t@%%~ok bra $~cleared;\n",
              quota);
  if (s->any_grid && !strides)
    rewrite_put(j, t, "\tmin.u32 %%~bound, %%~v, %u;\n\tsub.u32 %%~bound, %%~bound, 1;\n", M);
  claim_put_column(j, t);
  rewrite_put(j, t,
              "\t@%%~lead atom.global.inc.u32 %%~old, [%%~queue], %s;\n"
              "\tshfl.sync.idx.b32 %%~old, %%~old, 0, 31, -1;\n"
              "\tsetp.ne.u32 %%~ok, %%~old, %s;\n\t@%%~ok bra $~cleared;\n",
              full, full);
  claim_put_clear(j, t);
}

/* ---- From what the leader got to a position --------------------------------------------------------- */

void claim_put_inside(const rewrite_job *j, hd_buf *t) {
  if (j->claim->second_entry) rewrite_put(j, t, "$~inside:\n");
}

hd_status claim_put_position(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  const claim_scheme *s = j->claim;
  bool segments = s->take == CLAIM_SEGMENT;
  char quota[64], position[64];
  rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~w, %s, 0, 31, -1;\n", s->got);
  if (s->take == CLAIM_ONE_AHEAD && s->packs)
    rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~at, %%~at, 1, 31, -1;\n");
  if (claims_by_warp(s) && !segments) claim_put_inside(j, t);
  rewrite_put(j, t, "\tshr.u32 %%~i, %%~at, %u;\n", s->stride_bits);
  if (s->sure) rewrite_put(j, t, "\tsetp.lt.u32 %%~ok, %%~w, %" PRIu64 ";\n\t@%%~ok bra $~sure;\n", s->sure);
  hd_status st = claim_put_program(j, t, "q", hd_plan_quota, quota, d);
  put_size(j, t);
  put_compare(j, t, "%~w", quota);
  rewrite_put(j, t, "\t@%%~ok bra $~taken;\n");
  if (st == HD_OK) st = put_search(j, t, d);
  rewrite_put(j, t, "$~taken:\n");
  if (segments) put_segment(j, quota, t);
  if (claims_by_warp(s) && segments) claim_put_inside(j, t);
  if (!s->agents) put_finish(j, quota, t);
  if (s->sure) rewrite_put(j, t, "$~sure:\n");
  if (st == HD_OK) st = claim_put_program(j, t, "p", hd_plan_place, position, d);
  rewrite_put(j, t, "\tmov.u32 %%~u, %s;\n", position);
  claim_put_vote(j, t);
  return st;
}

hd_status claim_put_stride(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  char strides[64];
  hd_status st = put_quota(j, t, "q", strides, d);
  rewrite_put(j, t, "$~claim:\n");
  claim_put_take(j, t);
  rewrite_put(j, t, "\tshfl.sync.idx.b32 %%~w, %s, 0, 31, -1;\n\tshr.u32 %%~i, %%~at, %u;\n", j->claim->got,
              j->claim->stride_bits);
  put_compare(j, t, "%~w", strides);
  rewrite_put(j, t, "\t@%%~ok bra $~taken;\n");
  if (st == HD_OK) st = put_search(j, t, d);
  rewrite_put(j, t, "$~taken:\n");
  put_finish(j, strides, t);
  return st;
}
