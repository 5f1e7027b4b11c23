/* mbarriers: their phases against a model of the PTX ISA's text, threads that wait, and faults. */
#include "emu/async_run.h"

/* ---- Phases ------------------------------------------------------------------------------ */

enum { P_INIT, P_ARRIVE, P_DROP, P_NO_COMPLETE, P_EXPECT, P_COMPLETE, P_ARRIVE_EXPECT, P_ARRIVE_ONE, P_OPS };
typedef struct step {
  uint32_t op, count;
} step;
/* The state that a step shows: the phase, found by waits for both parities, and for an arrival the count
 * before it. */
typedef struct shown {
  uint32_t done[2], before, waited;
} shown;

/* The ISA's words, in counts. */
typedef struct model {
  uint32_t expected, pending, phase;
  int64_t tx;
} model;
static void settle(model *m) {
  if (m->pending || m->tx) return;
  m->phase++;
  m->pending = m->expected;
}
static shown model_step(model *m, step s) {
  shown out = {.before = s.op >= P_ARRIVE && s.op <= P_NO_COMPLETE ? m->pending : 0};
  if (s.op >= P_ARRIVE_EXPECT) out.before = m->pending;
  const uint32_t phase = m->phase;
  switch (s.op) {
  case P_INIT: *m = (model){.expected = s.count, .pending = s.count}; break;
  case P_DROP: m->expected -= s.count; /* fall through */
  case P_ARRIVE:
  case P_NO_COMPLETE: m->pending -= s.count; break;
  case P_EXPECT: m->tx += s.count; break;
  case P_COMPLETE: m->tx -= s.count; break;
  case P_ARRIVE_EXPECT: m->tx += s.count; /* fall through */
  default: m->pending--;
  }
  if (s.op != P_INIT) settle(m);
  out.waited = out.before ? m->phase != phase : 0;
  for (uint32_t p = 0; p < 2; p++) out.done[p] = (m->phase & 1) != p;
  return out;
}
/* Is the step allowed now? */
static bool fits(const model *m, step s) {
  switch (s.op) {
  case P_ARRIVE:
  case P_ARRIVE_ONE:
  case P_ARRIVE_EXPECT: return m->pending >= (s.op == P_ARRIVE ? s.count : 1) && m->pending;
  case P_DROP: return m->pending >= s.count && m->expected > s.count;
  case P_NO_COMPLETE: return m->pending > s.count;
  default: return true;
  }
}

static const char interpreter[] =
    "mov.u32 %r0, smem;\nmov.u32 %r1, 0;\nmov.u64 %d1, %in;\nmov.u64 %d2, %out;\n"
    "next:\nld.global.v2.u32 {%r2, %r3}, [%d1];\nmov.u64 %state, 0;\nmov.u32 %r7, 0;\n"
    "ops: .branchtargets o0, o1, o2, o3, o4, o5, o6, o7, stop;\nbrx.idx %r2, ops;\n"
    "o0: mbarrier.init.shared::cta.b64 [%r0+8], %r3; bra shown;\n"
    "o1: mbarrier.arrive.release.cta.shared::cta.b64 %state, [%r0+8], %r3; bra counted;\n"
    "o2: mbarrier.arrive_drop.shared.b64 %state, [%r0+8], %r3; bra counted;\n"
    "o3: mbarrier.arrive.noComplete.shared.b64 %state, [%r0+8], %r3; bra counted;\n"
    "o4: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0+8], %r3; bra shown;\n"
    "o5: mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r0+8], %r3; bra shown;\n"
    "o6: mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%r0+8], %r3; bra counted;\n"
    "o7: mbarrier.arrive.shared.b64 %state, [smem+8];\n"
    "counted:\nmbarrier.test_wait.shared.b64 %p1, [%r0+8], %state;\nselp.u32 %r7, 1, 0, %p1;\n"
    "mbarrier.pending_count.b64 %r6, %state;\nbra show;\n"
    "shown:\nmov.u32 %r6, 0;\n"
    "show:\nmov.u32 %r8, 1;\n"
    "mbarrier.test_wait.parity.shared.b64 %p2, [%r0+8], 0;\nselp.u32 %r4, 1, 0, %p2;\n"
    "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r0+8], %r8, 1000;\nselp.u32 %r5, 1, 0, "
    "%p3;\n"
    "st.global.v4.u32 [%d2], {%r4, %r5, %r6, %r7};\n"
    "add.u64 %d1, %d1, 8;\nadd.u64 %d2, %d2, 16;\nbra next;\nstop:";

static void phases_follow_the_model(void **state) {
  enum { STEPS = 600 };
  async_machine x;
  async_open(&x, interpreter, HD_CHECK_ALL);
  for (uint64_t seed = 1; seed <= 8; seed++) {
    step steps[STEPS + 1];
    shown want[STEPS];
    model m = {0};
    uint64_t n = 0;
    for (uint32_t k = 0; k < STEPS;) {
      const uint64_t r = hd_random_at(seed, n++);
      /* Bytes are completed about as often as they are expected, and in round numbers, so that phases end. */
      step s = {(uint32_t)(r % P_OPS), 1 + (uint32_t)(r >> 8) % 3};
      if (s.op == P_EXPECT || s.op == P_COMPLETE || s.op == P_ARRIVE_EXPECT)
        s.count = 16 * (1 + (r >> 20) % 2);
      if (s.op == P_COMPLETE && m.tx > 0 && r >> 40 & 1) s.count = (uint32_t)m.tx;
      if (s.op == P_INIT && (k && r >> 50 & 15)) continue;
      if (s.op == P_INIT) s.count = 1 + (uint32_t)(r >> 8) % 6;
      if (k == 0) s = (step){P_INIT, 4};
      if (!fits(&m, s)) continue;
      steps[k] = s;
      want[k++] = model_step(&m, s);
    }
    steps[STEPS] = (step){P_OPS, 0};
    async_buffer(&x, &x.args.in, steps, sizeof steps);
    const shown *got = async_buffer(&x, &x.args.out, NULL, sizeof want);
    async_ok(&x, async_launch(&x, 1, NULL));
    uint32_t phases = 0;
    for (uint32_t k = 0; k < STEPS; k++) {
      phases += k && want[k].done[0] != want[k - 1].done[0];
      if (memcmp(&got[k], &want[k], sizeof got[k]))
        fail_msg("seed %llu, step %u (operation %u of %u): %u %u %u %u, not %u %u %u %u",
                 (unsigned long long)seed, k, steps[k].op, steps[k].count, got[k].done[0], got[k].done[1],
                 got[k].before, got[k].waited, want[k].done[0], want[k].done[1], want[k].before,
                 want[k].waited);
    }
    assert_true(phases > 10);
  }
  async_close(&x);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

#define WAIT(label, at, parity)                                                                              \
  label ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [" at "], " parity ";\n@!%p1 bra " label ";\n"

/* Warp 0 fills a slot, the others read it, in rounds: a ring of one with two barriers. */
static void producers_and_consumers_take_turns(void **state) {
  static const char body[] =
      "mov.u32 %r0, smem;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra ready;\n"
      "mbarrier.init.shared.b64 [%r0], 32;\nmbarrier.init.shared.b64 [%r0+8], 96;\n"
      "ready:\nbar.sync 0;\nmov.u32 %r1, 0;\nmov.u32 %r9, 0;\nand.b32 %r3, %t, 31;\nshl.b32 %r4, %r3, 2;\n"
      "add.u32 %r4, %r4, %r0;\nsetp.lt.u32 %p3, %t, 32;\n@!%p3 bra consume;\n"
      "produce:\nand.b32 %r2, %r1, 1;\nxor.b32 %r2, %r2, 1;\n" WAIT(
          "empty", "%r0+8",
          "%r2") "mad.lo.u32 %r5, %r1, 1000, %t;\nst.shared.u32 [%r4+64], %r5;\n"
                 "mbarrier.arrive.shared.b64 _, [%r0];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, "
                 "50;\n@%p4 bra produce;\nret;\n"
                 "consume:\nand.b32 %r2, %r1, 1;\n" WAIT(
                     "full", "%r0",
                     "%r2") "ld.shared.u32 %r5, [%r4+64];\nadd.u32 %r9, %r9, "
                            "%r5;\nmbarrier.arrive.shared.b64 %state, [%r0+8];\n"
                            "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, 50;\n@%p4 bra consume;\n"
                            "mad.wide.u32 %d1, %t, 4, %out;\nst.global.u32 [%d1], %r9;";
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 512);
  async_ok(&x, async_launch(&x, 128, NULL));
  for (uint32_t t = 32; t < 128; t++) assert_int_equal(out[t], 1000 * (49 * 50 / 2) + 50 * (t % 32));
  async_close(&x);
}

#define LANES_WAIT(instruction)                                                                              \
  "mov.u32 %r0, smem;\nsetp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [%r0], 1;\n"                   \
  "bar.warp.sync -1;\nsetp.eq.u32 %p2, %t, 31;\n@%p2 bra last;\n"                                            \
  "wait: mbarrier." instruction ".parity.shared.b64 %p1, [%r0], 0;\n@!%p1 bra wait;\nbra done;\n"            \
  "last:\nst.shared.u32 [%r0+8], 77;\nmbarrier.arrive.shared.b64 _, [%r0];\n"                                \
  "done:\nld.shared.u32 %r1, [%r0+8];\nmad.wide.u32 %d1, %t, 4, %out;\nst.global.u32 [%d1], %r1;"

/* 31 lanes of a warp wait for the last one, which the lowest-pc rule would never let run. */
static void lanes_wait_for_each_other(void **state) {
  static const char *const bodies[] = {LANES_WAIT("try_wait"), LANES_WAIT("test_wait")};
  for (unsigned k = 0; k < 2; k++) {
    async_machine x;
    async_open(&x, bodies[k], HD_CHECK_ALL);
    const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 128);
    async_ok(&x, async_launch(&x, 32, NULL));
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], 77);
    async_close(&x);
  }
}

/* Three warps wait while the fourth works for a million instructions, meets nobody, and arrives. */
static void a_long_wait_is_no_deadlock(void **state) {
  static const char body[] =
      "mov.u32 %r0, smem;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra ready;\nmbarrier.init.shared.b64 [%r0], 1;\n"
      "ready:\nbar.sync 0;\nsetp.eq.u32 %p3, %t, 96;\n@%p3 bra work;\nsetp.gt.u32 %p3, %t, 96;\n@%p3 bra "
      "leave;\n" WAIT("wait", "%r0",
                      "0") "bra leave;\n"
                           "work:\nmov.u32 %r1, 0;\nloop:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 "
                           "%p4, %r1, 300000;\n@%p4 bra loop;\n"
                           "mbarrier.arrive.shared.b64 _, [%r0];\nleave:\nmad.wide.u32 %d1, %t, "
                           "4, %out;\nst.global.u32 [%d1], 5;";
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 512);
  async_ok(&x, async_launch(&x, 128, NULL));
  for (uint32_t t = 0; t < 128; t++) assert_int_equal(out[t], 5);
  async_close(&x);
}

#define COPIES_ARRIVE(noinc, own)                                                                            \
  "mov.u32 %r0, smem;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra ready;\nmbarrier.init.shared.b64 [%r0], 64;\n"      \
  "ready:\nbar.sync 0;\nmad.wide.u32 %d1, %t, 16, %in;\nmad.lo.u32 %r1, %t, 16, %r0;\n"                      \
  "cp.async.cg.shared.global [%r1+128], [%d1], 16;\ncp.async.mbarrier.arrive" noinc                          \
  ".shared.b64 [%r0];\n" own                                                                                 \
  "\n" WAIT("wait", "%r0",                                                                                   \
            "0") "xor.b32 %r2, %t, 63;\nmad.lo.u32 %r1, %r2, 16, %r0;\n"                                     \
                 "ld.shared.u32 %r3, [%r1+128];\nmad.wide.u32 %d1, %t, 4, %out;\nst.global.u32 [%d1], %r3;"

static void copies_of_a_thread_arrive(void **state) {
  static const char *const bodies[] = {COPIES_ARRIVE("", "mbarrier.arrive.shared.b64 _, [%r0];"),
                                       COPIES_ARRIVE(".noinc", "")};
  for (unsigned k = 0; k < 2; k++) {
    async_machine x;
    uint32_t in[256];
    for (uint32_t t = 0; t < 256; t++) in[t] = 3 * t;
    async_open(&x, bodies[k], HD_CHECK_ALL);
    async_buffer(&x, &x.args.in, in, sizeof in);
    const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 256);
    async_ok(&x, async_launch(&x, 64, NULL));
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 12 * (63 - t));
    async_close(&x);
  }
}

static void a_cluster_of_one_cta_is_the_cta(void **state) {
  static const char body[] =
      "mov.u32 %r0, smem;\nmbarrier.init.shared::cta.b64 [%r0], 3;\nmov.u32 %r1, %cluster_ctarank;\n"
      "mapa.shared::cluster.u32 %r2, %r0, %r1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, "
      "[%r2];\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2], 1;\ncvta.shared.u64 %d1, %d9;\n"
      "cvt.u64.u32 %d1, %r0;\ncvta.shared.u64 %d1, %d1;\nmapa.u64 %d2, %d1, 0;\n"
      "mbarrier.arrive.b64 %state, [%d2];\nmbarrier.try_wait.b64 %p1, [%d1], %state;\nselp.u32 %r3, 1, 0, "
      "%p1;\n"
      "getctarank.u64 %r4, %d2;\nst.shared::cluster.u32 [%r2+8], 41;\nld.shared::cta.u32 %r5, [%r0+8];\n"
      "st.global.v4.u32 [%out], {%r3, %r4, %r5, %r1};";
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 16);
  async_ok(&x, async_launch(&x, 1, NULL));
  const uint32_t want[4] = {1, 0, 41, 0};
  assert_memory_equal(out, want, sizeof want);
  async_close(&x);
  async_must_fault("mapa.u64 %d2, %in, 1;", 1, 0, "CTA 1 of a cluster of 1");
}

/* ---- Deadlocks ---------------------------------------------------------------------------------- */

#define ONE_INIT(count)                                                                                      \
  "mov.u32 %r0, smem;\nsetp.ne.u32 %p2, %t, 0;\n@!%p2 mbarrier.init.shared.b64 [%r0+16], " count             \
  ";\nbar.sync 0;\n"

#define NEVER(instruction)                                                                                   \
  ONE_INIT("2")                                                                                              \
  "mbarrier.expect_tx.shared.b64 [%r0+16], 8;\nwait: mbarrier." instruction                                  \
  ".parity.shared.b64 %p1, [%r0+16], 0;\n@!%p1 bra wait;"

static void what_never_completes_is_named(void **state) {
  static const char *const bodies[] = {NEVER("try_wait"), NEVER("test_wait")};
  for (unsigned k = 0; k < 2; k++)
    async_must_fault(bodies[k], 64, 5,
                     "the mbarrier at shared offset 0x10 never completes its phase of parity 0: it waits for "
                     "2 of 2 arrivals and 512 bytes of transactions, and no warp of the CTA can go on");
  /* Two warps wait at a barrier for the third. */
  async_must_fault(ONE_INIT("1") "setp.lt.u32 %p3, %t, 64;\n@%p3 bra meet;\n" WAIT("wait", "%r0+16",
                                                                                   "0") "meet:\nbar.sync 0;",
                   96, 6, "it waits for 1 of 1 arrivals and 0 bytes");
  /* The thread that would arrive has exited. */
  async_must_fault(ONE_INIT("64") "setp.lt.u32 %p3, %t, 32;\n@%p3 exit;\n"
                                  "mbarrier.arrive.shared.b64 %state, [%r0+16];\nwait: "
                                  "mbarrier.test_wait.shared.b64 %p1, [%r0+16], %state;\n"
                                  "@!%p1 bra wait;",
                   64, 7, "it waits for 32 of 64 arrivals");
  /* Lanes of one warp wait for each other. */
  async_must_fault(
      ONE_INIT("1") "setp.eq.u32 %p3, %t, 5;\n@%p3 bra other;\n" WAIT(
          "wait", "%r0+16",
          "0") "bra done;\nother:\nbar.warp.sync -1;\nmbarrier.arrive.shared.b64 _, [%r0+16];\ndone:",
      32, 6, "never completes its phase");
}

static void stepping_shows_stuck_ctas(void **state) {
  async_machine x;
  async_open(&x, ONE_INIT("1") WAIT("wait", "%r0+16", "0"), HD_CHECK_BOUNDS);
  const hd_emu_launch_params l = async_params(&x, 64);
  hd_emu_grid *g;
  hd_emu_cta *c;
  async_ok(&x, hd_emu_grid_begin(x.p, &l, NULL, &g, &x.d));
  async_ok(&x, hd_emu_cta_start(g, 0, 0, 0, &c, &x.d));
  hd_step last = HD_STEP_RUNNING;
  uint32_t steps = 0;
  for (; last != HD_STEP_FAULT && steps < 100000; steps++) {
    assert_false(hd_emu_cta_stuck(c));
    last = hd_emu_warp_step(c, steps % 2, 1000);
    assert_true(last == HD_STEP_RUNNING || last == HD_STEP_BARRIER || last == HD_STEP_FAULT);
  }
  assert_int_equal(last, HD_STEP_FAULT);
  assert_true(hd_emu_cta_stuck(c));
  hd_emu_cta_end(c);
  assert_int_equal(hd_emu_grid_end(g, &x.d), HD_ERR_FAULT);
  async_close(&x);
}

/* ---- Mistakes ---------------------------------------------------------------------------------- */

static void mistakes_are_faults(void **state) {
  static const struct {
    const char *body, *words;
    uint32_t line;
  } cases[] = {
      {"mbarrier.init.shared.b64 [smem], 0;", "a count of 0 arrivals", 0},
      {"mbarrier.init.shared.b64 [smem], 0x100000;", "a count of 1048576 arrivals", 0},
      {"mbarrier.init.shared.b64 [smem+4], 1;", "misaligned", 0},
      {"mov.u32 %r0, 0xfffff8;\nmbarrier.init.shared.b64 [%r0], 1;", "out of bounds", 1},
      {"mbarrier.arrive.shared.b64 _, [smem];", "never written", 0},
      {"st.shared.u64 [smem], 12345;\nmbarrier.arrive.shared.b64 _, [smem];",
       "there is no mbarrier at shared offset 0x0", 1},
      {"mbarrier.init.shared.b64 [smem], 1;\nmbarrier.inval.shared.b64 [smem];\nmbarrier.arrive.shared.b64 "
       "_, [smem];",
       "there is no mbarrier", 2},
      {"mbarrier.init.shared.b64 [smem], 1;\nmbarrier.arrive.shared::cta.b64 _, [smem], 2;",
       "2 arrivals at the mbarrier at shared offset 0x0, where 1 of 1 are pending", 1},
      {"mbarrier.init.shared.b64 [smem], 5;\nmbarrier.arrive.shared::cta.b64 _, [smem], 0;",
       "a count of 0 arrivals", 1},
      {"mbarrier.init.shared.b64 [smem], 1;\nmbarrier.arrive.noComplete.shared.b64 %state, [smem], 1;",
       "an arrival with .noComplete completes the phase", 1},
      {"mbarrier.init.shared.b64 [smem], 1;\nmbarrier.expect_tx.shared.b64 [smem], 0x100000;",
       "would count 1048576 bytes of transactions", 1},
      {"mbarrier.init.shared.b64 [smem], 1;\nmbarrier.complete_tx.shared.b64 [smem], 0xffffffff;",
       "would count -4294967295 bytes", 1},
      {"mbarrier.init.shared.b64 [smem], 1;\nmov.u64 %d1, 7;\nmbarrier.test_wait.shared.b64 %p1, [smem], "
       "%d1;",
       "0x7 is no state of an mbarrier", 2},
      {"mov.u64 %d1, 7;\nmbarrier.pending_count.b64 %r1, %d1;", "0x7 is no state of an mbarrier", 1},
      {"mbarrier.init.b64 [%in], 1;", "is no address in shared memory", 0},
      {"mov.u64 %d1, 64;\nmbarrier.init.b64 [%d1], 1;", "0x40 is no address in shared memory", 1},
      {"mbarrier.init.shared.b64 [smem], 0xfffff;\ncp.async.mbarrier.arrive.shared.b64 [smem];",
       "more than 2^20 - 1 arrivals", 1},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++)
    async_must_fault(cases[k].body, 1, cases[k].line, cases[k].words);
}

static void unknown_forms_are_refused(void **state) {
  static const char *const forms[][2] = {
      {"mbarrier.init.global.b64 [%d1], 1", ".global is not emulated"},
      {"mbarrier.init.shared.b32 [%d1], 1", ".b32 is not emulated"},
      {"mbarrier.init.shared [%d1], 1", "no such form"},
      {"mbarrier.shared.b64 [%d1], 1", "no such form"},
      {"mbarrier.arrive.parity.shared.b64 _, [%d1], 1", "no such form"},
      {"mbarrier.arrive.expect_tx.noComplete.shared.b64 _, [%d1], 1", "no such form"},
      {"mbarrier.init.noComplete.shared.b64 [%d1], 1", "no such form"},
      {"mbarrier.init.shared.b64 [%d1]", "operands"},
      {"mbarrier.inval.shared.b64 [%d1], 1", "operands"},
      {"mbarrier.arrive.expect_tx.shared.b64 _, [%d1]", "operands"},
      {"mbarrier.arrive.noComplete.shared.b64 %d2, [%d1]", "operands"},
      {"mbarrier.arrive.shared.b64 %r1, [%d1]", "has 32 bits"},
      {"mbarrier.test_wait.shared.b64 %p1, [%d1], %d2, 5", "operands"},
      {"mbarrier.try_wait.parity.shared.b64 %p1, [%d1], %d2", "has 64 bits"},
      {"mbarrier.try_wait.parity.shared.b64 %r1, [%d1], 0", "has 32 bits"},
      {"mbarrier.init.shared.b64 [map], 1", "not in the state space"},
      {"mbarrier.init.b64 [map], 1", "not in shared memory"},
      {"mbarrier.init.b64 [%r1], 1", "holds no address"},
      {"mbarrier.init.shared.b64 %d1, %d1", "has 64 bits"},
      {"mbarrier.init.layout::v1.shared.b64 [%d1], 1", ".layout::v1 is not emulated"},
      {"cp.async.mbarrier.shared.b64 [%d1]", "no such form"},
      {"cp.async.mbarrier.arrive.global.b64 [%d1]", ".global is not emulated"},
      {"mapa.shared::cluster %r1, %r2, 0", "no such form"},
      {"mapa.shared::cta.u32 %r1, %r2, 0", ".shared::cta is not emulated"},
      {"mapa.u64 %r1, %d1, 0", "has 32 bits"},
      {"barrier.cluster.arrive.acquire", "no such form"},
      {"barrier.cluster.arrive.wait", "no such form"},
      {"barrier.cluster.wait.release", "no such form"},
  };
  for (unsigned k = 0; k < sizeof forms / sizeof forms[0]; k++) async_must_refuse(forms[k][0], forms[k][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("phases, counts and transactions follow the model", phases_follow_the_model),
      BEHAVIOUR("producers and consumers take turns", producers_and_consumers_take_turns),
      BEHAVIOUR("lanes of one warp wait for each other", lanes_wait_for_each_other),
      BEHAVIOUR("a long wait is no deadlock", a_long_wait_is_no_deadlock),
      BEHAVIOUR("copies of a thread arrive", copies_of_a_thread_arrive),
      BEHAVIOUR("a cluster of one CTA is the CTA", a_cluster_of_one_cta_is_the_cta),
      BEHAVIOUR("an mbarrier that never completes is named with what it waits for",
                what_never_completes_is_named),
      BEHAVIOUR("stepping from outside shows stuck CTAs", stepping_shows_stuck_ctas),
      BEHAVIOUR("mistakes are faults", mistakes_are_faults),
      BEHAVIOUR("unknown forms are refused by name", unknown_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
