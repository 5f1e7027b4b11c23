/* Launches of several streams on one modelled GPU. */
#include <math.h>

#include "check.h"
#include "heddle/model.h"
#include "model/subject.h"

/* Loads that miss every cache, a line a warp, one after the other. */
static const char walk[] = "mov.u32 %r10, 0;\nL:\nld.global.u32 %r11, [%rd2];\nadd.u32 %r12, %r12, %r11;\n"
                           "add.u64 %rd2, %rd2, 8192;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 16;\n"
                           "@%p1 bra L;\nst.global.u32 [%rd1], %r12;\n";
static const char compute[] =
    "mov.u32 %r10, 0;\nL:\nmad.lo.u32 %r11, %r10, %r10, %r11;\nadd.u32 %r10, %r10, 1;\n"
    "setp.lt.u32 %p1, %r10, 400;\n@%p1 bra L;\nst.global.u32 [%rd1], %r11;\n";

static hd_gpu small_gpu(uint32_t n_sms) {
  hd_gpu g = round_gpu();
  g.n_sms = n_sms;
  return g;
}

/* n streams of one launch each, until each has ended so many turns. */
static void together(const hd_gpu *g, const subject *const *s, const hd_replay_options *const *o, uint32_t n,
                     uint32_t turns, hd_replay_stream *out) {
  hd_replay_launch launches[HD_REPLAY_STREAMS];
  hd_model *m;
  hd_diag d = {0};
  for (uint32_t i = 0; i < n; i++) {
    launches[i] = (hd_replay_launch){s[i]->trace, o[i]};
    out[i] = (hd_replay_stream){.launches = &launches[i], .n = 1};
  }
  must(hd_model_create(g, &m, &d), &d);
  must(hd_model_replay_streams(m, out, n, turns, &d), &d);
  hd_model_destroy(m);
}

static const hd_replay_options plain = {.timed = true, .dispatch = {.kind = HD_DISPATCH_DEMAND}};

static double alone(const hd_gpu *g, const subject *s, const hd_replay_options *o) {
  hd_replay_stream out;
  together(g, &s, &o, 1, 1, &out);
  return out.us;
}

static void a_stream_alone_takes_the_time_of_its_launch(void **state) {
  static const char *const bodies[] = {walk, compute};
  const hd_gpu g = small_gpu(4);
  for (size_t i = 0; i < 2; i++) {
    subject s = trace_kernel(bodies[i], 200, 64);
    hd_model *m;
    hd_counters c;
    hd_diag d = {0};
    must(hd_model_create(&g, &m, &d), &d);
    must(hd_model_replay(m, s.trace, &plain, &c, &d), &d);
    hd_model_destroy(m);
    const double us = alone(&g, &s, &plain);
    /* A stream's turn ends with an epoch, and finds in L2 what the one before left. */
    if (us > 1.1 * c.time_us || us < 0.5 * c.time_us)
      fail_msg("%.3f us as a stream, %.3f as a launch", us, c.time_us);
    drop(&s);
  }
}

/* Hardware's order: the launch that came first has all SMs until all of its CTAs have started. */
static void streams_that_fill_the_gpu_take_turns(void **state) {
  const hd_gpu g = small_gpu(4);
  subject a = trace_kernel(compute, 400, 64), b = trace_kernel(compute, 800, 64);
  const subject *const s[] = {&a, &b};
  const hd_replay_options *const o[] = {&plain, &plain};
  hd_replay_stream out[2];
  together(&g, s, o, 2, 3, out);
  const double both = alone(&g, &a, &plain) + alone(&g, &b, &plain);
  for (int i = 0; i < 2; i++) {
    assert_true(out[i].turns >= 3);
    if (fabs(out[i].us / both - 1) > 0.15) fail_msg("%c: %.3f us, both alone %.3f", 'A' + i, out[i].us, both);
  }
  drop(&a);
  drop(&b);
}

/* The tasks of a launch, claimed on SMs from..to only. */
typedef struct confined {
  hd_table order;
  uint32_t queue_of[8];
  hd_replay_options o;
} confined;

static void confine(confined *c, uint32_t n_sms, uint32_t from, uint32_t to, uint32_t tasks) {
  *c = (confined){.order = {calloc(tasks, sizeof(uint32_t)), tasks}};
  for (uint32_t i = 0; i < tasks; i++) c->order.task[i] = i;
  for (uint32_t i = 0; i < n_sms; i++) c->queue_of[i] = i < from || i > to ? UINT32_MAX : i - from;
  c->o = plain;
  c->o.order = &c->order;
  c->o.claims = (hd_replay_claims){.n_queues = to - from + 1, .queue_of = c->queue_of, .agents = true};
}

static void partitions_keep_computing_kernels_apart(void **state) {
  enum { TASKS = 240 };
  const hd_gpu g = small_gpu(8);
  subject a = trace_kernel(compute, TASKS, 64), b = trace_kernel(compute, TASKS, 64);
  const subject *const s[] = {&a, &b};
  hd_replay_stream out[2];
  for (uint32_t sms = 1; sms < 8; sms += 3) {
    confined of[2];
    confine(&of[0], 8, 0, sms - 1, TASKS);
    confine(&of[1], 8, sms, 7, TASKS);
    const hd_replay_options *const o[] = {&of[0].o, &of[1].o};
    together(&g, s, o, 2, 2, out);
    for (int i = 0; i < 2; i++) {
      const double us = alone(&g, s[i], o[i]);
      if (fabs(out[i].us / us - 1) > 0.05)
        fail_msg("%u SMs for A: %c takes %.3f us beside the other, %.3f alone", sms, 'A' + i, out[i].us, us);
      free(of[i].order.task);
    }
  }
  drop(&a);
  drop(&b);
}

/* Turns of a loop that differ from task to task. */
static const char uneven[] =
    "mul.lo.u32 %r12, %r2, 0x9E3779B1;\nshr.u32 %r12, %r12, 22;\nmov.u32 %r10, 0;\nL:\n"
    "mad.lo.u32 %r11, %r10, %r10, %r11;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r12;\n"
    "@%p1 bra L;\nst.global.u32 [%rd1], %r11;\n";

/* Some of an SM's agents are done while others have tasks that they claimed; the other stream comes and goes.
 */
static void agents_keep_the_tasks_that_they_claimed(void **state) {
  enum { TASKS = 150 };
  static const struct {
    uint64_t segment;
    bool ahead, strides;
  } claims[] = {{0, false, false}, {0, true, false}, {2, false, false},         {7, false, false},
                {7, true, false},  {0, true, true},  {UINT64_MAX, false, false}};
  const hd_gpu g = small_gpu(8);
  subject a = trace_kernel(uneven, TASKS, 64), b = trace_kernel(compute, 16, 64);
  const subject *const s[] = {&a, &b};
  hd_replay_stream out[2];
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
    for (uint32_t agents = 2; agents <= 4; agents++) {
      confined of[2];
      confine(&of[0], 8, 0, 3, TASKS);
      confine(&of[1], 8, 4, 7, 16);
      of[0].o.claims.segment = claims[i].segment;
      of[0].o.claims.ahead = claims[i].ahead;
      of[0].o.claims.strides = claims[i].strides;
      of[0].o.claims.active = agents;
      const hd_replay_options *const o[] = {&of[0].o, &of[1].o};
      together(&g, s, o, 2, 2, out);
      const double us = alone(&g, s[0], o[0]);
      if (fabs(out[0].us / us - 1) > 0.05)
        fail_msg("%u agents, segment %llu%s: %.3f us beside the other, %.3f alone", agents,
                 (unsigned long long)claims[i].segment, claims[i].ahead ? ", ahead" : "", out[0].us, us);
      for (int k = 0; k < 2; k++) free(of[k].order.task);
    }
  drop(&a);
  drop(&b);
}

/* Each other's data is no use: two streams of one trace have twice the data. */
static void streams_share_caches_and_no_data(void **state) {
  hd_gpu g = small_gpu(8);
  g.dram_bytes_per_cycle = 4;
  g.l2.bytes = 1 << 16;
  subject a = trace_kernel(walk, 64, 64);
  const subject *const s[] = {&a, &a};
  confined of[2];
  hd_replay_stream out[2];
  confine(&of[0], 8, 0, 3, 64);
  confine(&of[1], 8, 4, 7, 64);
  const hd_replay_options *const o[] = {&of[0].o, &of[1].o};
  together(&g, s, o, 2, 1, out);
  /* Limited by DRAM, each gets half of it. */
  const double us = alone(&g, &a, o[0]);
  if (out[0].us < 1.5 * us) fail_msg("%.3f us beside the other, %.3f alone", out[0].us, us);
  for (int i = 0; i < 2; i++) free(of[i].order.task);
  drop(&a);
}

static void streams_that_no_sm_can_serve_are_refused(void **state) {
  const hd_gpu g = small_gpu(4);
  subject a = trace_kernel(compute, 8, 64);
  hd_replay_options untimed = plain;
  confined nowhere;
  hd_model *m;
  hd_diag d = {0};
  untimed.timed = false;
  confine(&nowhere, 4, 0, 1, 8);
  for (int i = 0; i < 4; i++) nowhere.queue_of[i] = UINT32_MAX;
  const hd_replay_options *const all[] = {&untimed, &nowhere.o};
  must(hd_model_create(&g, &m, &d), &d);
  for (size_t i = 0; i < 2; i++) {
    hd_replay_launch l = {a.trace, all[i]};
    hd_replay_stream s = {.launches = &l, .n = 1};
    assert_int_not_equal(hd_model_replay_streams(m, &s, 1, 1, &d), HD_OK);
  }
  hd_replay_stream none = {0};
  assert_int_equal(hd_model_replay_streams(m, &none, 1, 1, &d), HD_ERR_USAGE);
  assert_int_equal(hd_model_replay_streams(m, &none, 0, 1, &d), HD_ERR_USAGE);
  assert_int_equal(hd_model_replay_streams(m, &none, 1, 0, &d), HD_ERR_USAGE);
  hd_model_destroy(m);
  free(nowhere.order.task);
  drop(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a stream alone takes the time of its launch", a_stream_alone_takes_the_time_of_its_launch),
      BEHAVIOUR("streams that fill the GPU take turns", streams_that_fill_the_gpu_take_turns),
      BEHAVIOUR("partitions keep computing kernels apart", partitions_keep_computing_kernels_apart),
      BEHAVIOUR("agents keep the tasks that they claimed", agents_keep_the_tasks_that_they_claimed),
      BEHAVIOUR("streams share caches and no data", streams_share_caches_and_no_data),
      BEHAVIOUR("streams that no SM can serve are refused", streams_that_no_sm_can_serve_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
