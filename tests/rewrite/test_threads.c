/* Which kernels let their threads be renumbered inside their CTAs. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/rewrite.h"

static hd_refusal first;
static const char *target = "sm_80";
static const uint32_t any_block[3];

/* How many refusals a kernel with this body gets. */
static size_t refusals_of(const char *body, bool in_cta, const uint32_t block[3]) {
  char text[2048];
  hd_arena arena;
  hd_ptx_module *m;
  hd_diag d;
  snprintf(
      text, sizeof text,
      ".version 8.0\n.target %s\n.address_size 64\n"
      ".func stores() { .reg .b64 %%d; st.global.u32 [%%d], 1; ret; } "
      ".extern .func memset(.reg .b64 %%p); .extern .func __assertfail(.reg .b64 %%p); "
      ".func looks() { .reg .b64 %%d; .reg .b32 %%r; ld.volatile.global.u32 %%r, [%%d]; ret; } .func "
      "meets() { bar.sync 0; ret; } .func quiet() { ret; } .func ends() { exit; } .func after() { call.uni "
      "ends; ret; } "
      ".visible .entry k(.param .u64 p, .param .u64 q)\n{ .local .b32 own;\n"
      ".reg .b32 %%r<9>;\n.reg .b64 %%rd<9>, %%of<2>;\n.reg .pred %%p<9>;\n.shared .b32 s[64], "
      "t[64];\n.shared .b64 m;\n"
      "mov.u32 %%r1, %%tid.x; ld.param.u64 %%of0, [p]; ld.param.u64 %%of1, [q];\n%s\nret;\n}\n",
      target, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "k", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  size_t n = hd_rewrite_thread_refusals(m, (uint32_t)hd_ptx_find_kernel(m, "k"), in_cta, block, &first, 1);
  hd_arena_free(&arena);
  return n;
}

static size_t refusals(const char *body, bool in_cta) { return refusals_of(body, in_cta, any_block); }

static void what_belongs_to_a_cta_may_be_renumbered_inside_it(void **state) {
  static const char *const bodies[] = {
      "bar.sync 0;",
      "barrier.sync 0;",
      "barrier.cta.sync.aligned %r1;",
      "bar.red.popc.u32 %r2, 0, %p1;",
      "barrier.cta.red.or.pred %p2, 3, %p1;",
      "mov.u32 %r2, s;",
      "cvta.shared.u64 %rd1, %rd2;",
      "st.shared.u32 [s], %r1;",
      "ld.shared.u32 %r2, [s];",
      "fence.acq_rel.cta;",
      "atom.shared.add.u32 %r2, [s], 1;",
      "cp.async.ca.shared.global [s], [%rd1], 4;",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    if (refusals(bodies[i], true)) fail_msg("%s: %s", bodies[i], first.what);
    assert_true(refusals(bodies[i], false) > 0);
  }
  /* A barrier that counts a row of threads, which may be all of them. */
  static const char row[] = "mov.u32 %r2, %ntid.x; bar.sync 3, %r2;";
  assert_int_equal(refusals_of(row, true, (const uint32_t[3]){64, 1, 1}), 0);
  assert_int_equal(refusals_of(row, true, (const uint32_t[3]){64, 2, 1}), 1);
  assert_int_equal(refusals_of(row, true, (const uint32_t[3]){48, 1, 1}), 1);
  assert_int_equal(refusals_of(row, true, any_block), 1);
}

static void what_warps_do_as_warps_bars_it(void **state) {
  static const char *const bodies[] = {
      "bar.warp.sync -1;",
      "bar.sync 1, 64;",
      "bar.arrive 1, 64;",
      "bar.red.popc.u32 %r2, 0, 32, %p1;",
      "bar.red.popc.u32 %r2, %r1, %r3, %p1;",
      "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;",
      "vote.sync.ballot.b32 %r2, %p1, -1;",
      "activemask.b32 %r2;",
      "mov.u32 %r2, %laneid;",
      "mov.u32 %r2, %lanemask_lt;",
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [s];",
      "redux.sync.add.s32 %r2, %r1, -1;",
      "ld.volatile.shared.u32 %r2, [s];",
      "st.volatile.u32 [%rd1], %r1;",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    if (refusals(bodies[i], true) != 1) fail_msg("%s is not refused", bodies[i]);
    assert_int_equal(first.kind, HD_REFUSE_WORKS_TOGETHER);
    assert_int_equal(first.line, 12);
    assert_memory_equal(first.what, bodies[i], strcspn(bodies[i], " "));
  }
  assert_int_equal(refusals("ld.volatile.global.u32 %r2, [%rd1];", true), 0);
}

/* Threads that end in a function are seen by no path of the kernel's, and barriers wait for the others. */
static void threads_that_end_in_a_function_bar_it(void **state) {
  assert_int_equal(refusals("@%p1 call.uni ends; bar.sync 0;", true), 1);
  assert_int_equal(refusals("L: bar.sync 0; @%p1 call ends; bra L;", true), 1);
  assert_int_equal(refusals("@%p1 call after; bar.red.popc.u32 %r2, 0, %p2;", true), 1);
  assert_int_equal(refusals("@%p1 exit; st.global.u32 [%of0], 1;", true), 0);
}

/* That the lanes of a warp go one way, or load from one address, is so for the warps as they are. */
static void what_the_text_promises_of_warps_bars_it(void **state) {
  static const char *const bodies[] = {
      "@%p1 bra.uni L; L:",
      "@%p1 ret.uni;",
      "T: .branchtargets L; brx.idx.uni %r1, T; L:",
      "ldu.global.u32 %r2, [%of0];",
      "F: .calltargets looks, meets; mov.u64 %rd1, meets; call.uni %rd1, F;",
      "F: .calltargets quiet; mov.u64 %rd1, quiet; call.uni %rd1, F;",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    for (unsigned in_cta = 0; in_cta < 2; in_cta++)
      if (!refusals(bodies[i], in_cta)) fail_msg("%s is not refused", bodies[i]);
  assert_int_equal(refusals("bra.uni L; L:", true), 0);
  assert_int_equal(refusals("call.uni quiet;", true), 0);
  assert_int_equal(refusals("F: .calltargets quiet; mov.u64 %rd1, quiet; call %rd1, F;", true), 0);
  assert_int_equal(refusals("@%p1 bra L; L:", true), 0);
}

static void what_a_cluster_or_a_cta_sees_alone_stays_in_it(void **state) {
  static const char *const bodies[] = {
      "fence.acq_rel.cta;",
      "fence.sc.cluster;",
      "membar.cta;",
      "red.relaxed.cta.global.add.u32 [%rd1], 1;",
      "red.relaxed.cluster.global.add.u32 [%rd1], 1;",
      "atom.relaxed.cluster.global.add.u32 %r2, [%rd1], 1;",
      "st.release.cluster.global.u32 [%rd1], 1;",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    if (refusals(bodies[i], true)) fail_msg("%s: %s", bodies[i], first.what);
    if (!refusals(bodies[i], false)) fail_msg("%s is not refused", bodies[i]);
  }
  assert_int_equal(refusals("red.relaxed.gpu.global.add.u32 [%rd1], 1;", false), 0);
  assert_int_equal(refusals("fence.acq_rel.sys;", false), 0);
}

/* Before sm_70 a lane that waits keeps its warp from doing what it waits for. */
static void loops_that_wait_bar_it_before_sm_70(void **state) {
  static const struct {
    const char *body;
    bool waits;
  } cases[] = {
      {"L:\natom.global.cas.b32 %r2, [%of0], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;", true},
      {"L:\natom.global.exch.b32 %r2, [%of0], 1;\nand.b32 %r3, %r2, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra "
       "L;",
       true},
      {"L:\natom.global.or.b32 %r2, [%of0], 0;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
       "red.global.max.u32 [%of1], %r1;",
       true},
      {"L:\natom.global.add.u32 %r2, [%of1], 0;\nsetp.eq.u32 %p1, %r2, 0;\n"
       "@!%p1 bra D;\nadd.u32 %r3, %r3, 1;\nbra L;\nD:",
       true},
      /* Some swap is done in each round. */
      {"L:\nmax.u32 %r4, %r3, %r1;\natom.global.cas.b32 %r2, [%of0], %r3, %r4;\nsetp.ne.u32 %p1, %r2, %r3;\n"
       "mov.b32 %r3, %r2;\n@%p1 bra L;",
       false},
      {"L:\natom.global.add.u32 %r2, [%of0], 1;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 4;\n@%p1 bra L;",
       false},
      {"L:\nld.global.u32 %r2, [%of0];\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra L;", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (unsigned in_cta = 0; in_cta < 2; in_cta++) {
      target = "sm_60";
      if ((refusals(cases[i].body, in_cta) > 0) != cases[i].waits)
        fail_msg("%s: %s", cases[i].body, first.what);
      target = "sm_70";
      if (refusals(cases[i].body, in_cta)) fail_msg("%s: %s", cases[i].body, first.what);
    }
  target = "sm_80";
}

/* Lanes of one warp talk through global memory as they do through shared memory. */
static void warps_that_talk_through_global_memory_keep_their_threads(void **state) {
  static const struct {
    const char *body;
    bool talks;
  } cases[] = {
      {"st.volatile.global.u32 [%rd1], %r1;\nld.volatile.global.u32 %r2, [%rd1+4];", true},
      {"st.global.u32 [%rd1], %r1;\nld.volatile.global.u32 %r2, [%rd1+4];", true},
      {"st.relaxed.gpu.global.u32 [%rd1], %r1;\nld.relaxed.gpu.global.u32 %r2, [%rd1+4];", true},
      {"st.release.cta.global.u32 [%rd1], %r1;\nld.acquire.cta.global.u32 %r2, [%rd1+4];", true},
      {"st.mmio.relaxed.sys.global.u32 [%rd1], %r1;\nld.mmio.relaxed.sys.global.u32 %r2, [%rd1+4];", true},
      {"red.global.add.u32 [%rd1], %r1;\nld.relaxed.gpu.global.u32 %r2, [%rd1+4];", true},
      {"st.u32 [%rd1], %r1;\nld.relaxed.gpu.u32 %r2, [%rd1+4];", true},
      {"ld.volatile.global.v2.u32 {%r2, %r3}, [%rd1];\nst.global.u32 [%rd2], %r2;", true},
      {"ld.relaxed.gpu.global.u32 %r2, [%rd1];\ncall.uni stores;", true},
      {"call.uni looks;\nst.global.u32 [%rd1], %r1;", true},
      {"call.uni memset, (%rd1);\nld.volatile.global.u32 %r2, [%rd1+4];", true},
      {"ld.relaxed.gpu.global.u32 %r2, [%rd1+4];\ncall.uni memset, (%rd1);", true},
      {"call %rd2, (%rd1);\nld.acquire.gpu.global.u32 %r2, [%rd1+4];", true},
      {"call.uni __assertfail, (%rd1);\nld.volatile.global.u32 %r2, [%rd1+4];", false},
      {"ld.relaxed.gpu.global.u32 %r2, [%rd1];\nst.local.u32 [own], %r1;", false},
      {"ld.global.u32 %r2, [%rd1+4];\nst.volatile.global.u32 [%rd1], %r1;", true},
      {"ld.global.u32 %r2, [%of1+4];\nst.volatile.global.u32 [%of0], %r1;", false},
      {"ld.weak.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1], %r1;", false},
      {"atom.relaxed.gpu.global.add.u32 %r2, [%rd1], 1;\nst.global.u32 [%rd2], %r2;", true},
      {"atom.relaxed.gpu.global.add.u32 %r2, [%of0], 1;\nst.global.u32 [%of1], %r2;", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (unsigned in_cta = 0; in_cta < 2; in_cta++)
      if ((refusals(cases[i].body, in_cta) > 0) != cases[i].talks)
        fail_msg("%s, %s: %s", cases[i].body, in_cta ? "cta" : "grid", first.what);
}

enum { CTA = 1, GRID = 2, BOTH = 3 };

/* They need no volatile for that: fences, ordered stores and atomics show what they left. */
static const struct {
  const char *body;
  unsigned talks; /* refused inside CTAs, across them */
} talks[] = {
    {"st.global.u32 [%rd1], %r1;\nmembar.gl;\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"st.global.u32 [%rd1], %r1;\nfence.acq_rel.cta;\nld.global.cg.u32 %r2, [%rd1+4];", BOTH},
    {"red.global.add.u32 [%rd1], %r1;\nfence.sc.gpu;\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"st.volatile.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"st.relaxed.cta.u32 [%rd1], %r1;\nld.u32 %r2, [%rd1+4];", BOTH},
    {"st.global.u32 [%rd1], %r1;\nst.release.gpu.global.u32 [%rd2], 1;\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"st.global.u32 [%rd1], %r1;\nred.release.gpu.global.add.u32 [%rd2], 1;\nld.global.u32 %r2, [%rd1+4];",
     BOTH},
    {"atom.global.exch.b32 %r2, [%rd1], %r1;\natom.global.or.b32 %r3, [%rd1+4], 0;\nmov.b32 %r4, %r3;", BOTH},
    {"st.relaxed.gpu.global.u32 [%rd1], %r1;\natom.global.add.u32 %r3, [%rd1+4], 0;\nmov.b32 %r4, %r3;",
     BOTH},
    {"L:\nld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1], %r2;\nmembar.cta;\n@%p1 bra L;", BOTH},
    {"@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nmembar.cta;\nL:\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"call.uni stores;\nmembar.gl;\nld.global.u32 %r2, [%rd1];", BOTH},
    /* Fetched again each time, as volatile was compiled. */
    {"st.global.u32 [%rd1], %r1;\nld.global.cv.u32 %r2, [%rd1+4];", BOTH},
    {"st.global.wt.u32 [%rd1], %r1;\nld.u32.cv %r2, [%rd1+4];", BOTH},
    {"st.global.wt.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+4];", BOTH},
    {"st.shared.wt.u32 [s], %r1;\nld.shared.cv.u32 %r2, [s+4];", BOTH},
    {"st.local.u32 [own], %r1;\nld.global.cv.u32 %r2, [%rd1];", 0},
    /* An atomic changes an array, and a plain load reads it. */
    {"red.global.add.u32 [%of0], %r1;\nld.global.u32 %r2, [%of0+4];", BOTH},
    {"atom.global.exch.b32 %r2, [%of0], %r1;\nadd.u64 %rd1, %of0, 4;\nld.global.ca.u32 %r3, [%rd1];", BOTH},
    {"red.global.add.u32 [%of0], %r1;\nld.global.u64 %rd1, [%of1];\nld.global.u32 %r2, [%rd1];", BOTH},
    {"red.shared.add.u32 [s], 1;\nld.shared.u32 %r2, [s+4];", BOTH},
    {"red.shared.add.u32 [s], 1;\nmov.u64 %rd1, s;\ncvta.shared.u64 %rd1, %rd1;\nld.u32 %r2, [%rd1];", BOTH},
    {"L:\nld.global.u32 %r2, [%of0];\nred.global.max.u32 [%of0], %r2;\n@%p1 bra L;", BOTH},
    {"red.shared.add.u32 [s], 1;\nbar.sync 0;\nld.shared.u32 %r2, [s+4];", GRID},
    {"red.shared.add.u32 [s], 1;\nld.shared.u32 %r2, [t];", GRID},
    {"red.global.add.u32 [%of0], %r1;\nld.global.u32 %r2, [%of1+4];", 0},
    {"L:\nld.global.u32 %r2, [%of1];\nadd.u64 %of1, %of1, 4;\nred.global.add.u32 [%of0], %r2;\n@%p1 bra L;",
     0},
    {"L:\nld.global.u32 %r2, [%of1];\nadd.u64 %of1, %of0, 4;\nred.global.add.u32 [%of0], %r2;\n@%p1 bra L;",
     BOTH},
    {"add.u64 %rd1, %of0, 4;\nselp.b64 %rd1, %of0, %rd1, %p1;\nred.global.add.u32 [%rd1], 1;\n"
     "ld.global.u32 %r2, [%of1];",
     0},
    {"selp.b64 %rd1, %of0, %of1, %p1;\nred.global.add.u32 [%rd1], 1;\nld.global.u32 %r2, [%of1];", BOTH},
    {"call.uni (%rd1), gives;\nred.global.add.u32 [%rd1], 1;\nld.global.u32 %r2, [%of1];", BOTH},
    {"M:\nld.global.u32 %r2, [%of0];\nL:\nadd.u32 %r3, %r2, %r1;\natom.global.cas.b32 %r4, [%of0], %r2, "
     "%r3;\n"
     "setp.ne.u32 %p1, %r4, %r2;\nmov.b32 %r2, %r4;\n@%p1 bra L;\n@%p2 bra M;",
     0},
    {"M:\nld.global.u32 %r2, [%of0];\nL:\nadd.u32 %r3, %r2, %r1;\natom.global.cas.b32 %r4, [%of0], %r1, "
     "%r3;\n"
     "setp.ne.u32 %p1, %r4, %r1;\nmov.b32 %r1, %r4;\n@%p1 bra L;\n@%p2 bra M;",
     BOTH},
    /* What a load guesses for a compare-and-swap shows in nothing else. */
    {"red.global.or.b32 [%of0], %r1;\nld.global.u32 %r2, [%of0];\natom.global.cas.b32 %r3, [%of1], %r2, "
     "%r2;\n"
     "mov.b32 %r4, %r2;",
     BOTH},
    {"red.global.or.b32 [%of0], %r1;\nld.global.u32 %r2, [%of0];\nmov.b32 %r5, %r2;\n"
     "atom.global.cas.b32 %r3, [%of0], %r5, 0;\nst.global.u32 [%of1], %r2;",
     BOTH},
    {"M:\nld.global.u32 %r2, [%of0];\nL:\nadd.u32 %r3, %r2, %r1;\natom.global.cas.b32 %r4, [%of0], %r2, "
     "%r3;\n"
     "setp.ne.u32 %p1, %r4, %r2;\nmov.b32 %r2, %r4;\n@%p1 bra L;\nst.global.u32 [%of1], %r2;\n@%p2 bra M;",
     BOTH},
    {"M:\nld.global.u32 %r5, [%of0];\nmov.b32 %r2, %r5;\nL:\nadd.u32 %r3, %r5, 1;\n"
     "atom.global.cas.b32 %r4, [%of0], %r2, %r3;\n"
     "setp.ne.u32 %p1, %r4, %r2;\nmov.b32 %r2, %r4;\n@%p1 bra L;\n@%p2 bra M;",
     BOTH},
    {"M:\nld.global.u32 %r2, [%of0];\nL:\nadd.u32 %r6, %r6, 1;\natom.global.cas.b32 %r4, [%of0], %r2, %r6;\n"
     "setp.ne.u32 %p1, %r4, %r2;\nmov.b32 %r2, %r4;\n@%p1 bra L;\n@%p2 bra M;",
     BOTH},
    {"M:\nld.global.u32 %r2, [%of0];\nL:\nadd.u32 %r3, %r2, %r1;\natom.global.cas.b32 %r4, [%of0], %r2, "
     "%r3;\n"
     "setp.gt.u32 %p1, %r4, 7;\nmov.b32 %r2, %r4;\n@%p1 bra L;\n@%p2 bra M;",
     BOTH},
    {"M:\nld.global.u32 %r5, [%of0];\nmov.b32 %r2, %r5;\nL:\nmax.u32 %r3, %r2, %r1;\n"
     "atom.global.cas.b32 %r4, [%of0], %r2, %r3;\n"
     "setp.eq.u32 %p1, %r2, %r4;\nmov.b32 %r2, %r4;\n@!%p1 bra L;\nmov.b32 %r2, 0;\n@%p2 bra M;",
     0},
    {"red.global.add.u32 [%rd1], %r1;\nld.local.u32 %r2, [own];", 0},
    /* All lanes look before any of them writes. */
    {"ld.global.u32 %r2, [%of0];\nred.global.max.u32 [%of0], %r2;", BOTH},
    {"ld.global.u32 %r2, [%of0+4];\nmembar.gl;\nst.release.gpu.global.u32 [%of0], %r1;", BOTH},
    {"ld.shared.u32 %r2, [s+4];\nred.shared.add.u32 [s], 1;", BOTH},
    {"ld.shared.u32 %r2, [s+4];\nbar.sync 0;\nred.shared.add.u32 [s], 1;", GRID},
    {"ld.global.u32 %r2, [%of1];\nred.global.max.u32 [%of0], %r2;", 0},
    {"ld.global.nc.u32 %r2, [%of0];\nred.global.max.u32 [%of0], %r2;", 0},
    {"ld.global.u32 %r2, [%of0];\nst.global.u32 [%of0], %r2;\nred.global.add.u32 [%of1], 1;", 0},
    {"atom.global.or.b32 %r2, [%of0], 0;\nred.global.or.b32 [%of0], %r1;\nmov.b32 %r3, %r2;", BOTH},
    {"atom.global.add.u32 %r2, [%of0], 0;\natom.global.add.u32 %r3, [%of0], 1;\nmov.b32 %r4, %r2;", BOTH},
    {"atom.global.or.b32 %r2, [%of0+4], 0;\nst.relaxed.gpu.global.u32 [%of0], %r1;\nmov.b32 %r3, %r2;", BOTH},
    {"atom.global.or.b32 %r2, [%of0+4], 0;\nst.global.u32 [%of0], %r1;\nmov.b32 %r3, %r2;", BOTH},
    {"atom.global.cas.b32 %r2, [%of0], 0, 0;\nred.global.add.u32 [%of0], 5;\nmov.b32 %r3, %r2;", BOTH},
    {"atom.shared.or.b32 %r2, [s+4], 0;\natom.shared.exch.b32 %r3, [s], 7;\nmov.b32 %r4, %r2;", BOTH},
    {"atom.global.or.b32 %r2, [%of0], 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra E;\n"
     "red.global.or.b32 [%of0], %r1;\nE:",
     BOTH},
    {"atom.global.or.b32 %r2, [%of0], 0;\ncall.uni stores;\nmov.b32 %r3, %r2;", BOTH},
    {"L:\nred.global.or.b32 [%of0], %r1;\nbar.sync 0;\natom.global.or.b32 %r2, [%of0], 0;\nmov.b32 %r3, "
     "%r2;\n@%p1 bra L;",
     BOTH},
    {"L:\natom.global.inc.u32 %r2, [%of0], 99;\nmov.b32 %r3, %r2;\ncp.async.bulk.global.shared::cta."
     "bulk_group [%of0], [s], 16;",
     BOTH},
    {"atom.shared.or.b32 %r2, [s], 0;\nbar.sync 0;\nred.shared.or.b32 [s], %r1;\nmov.b32 %r3, %r2;", GRID},
    {"atom.global.or.b32 %r2, [%of0], 0;\nred.global.or.b32 [%of1], %r1;\nmov.b32 %r3, %r2;", 0},
    {"atom.global.add.u32 %r2, [%of0], 1;\nred.global.add.u32 [%of0], 1;", 0},
    {"discard.global.L2 [%of0], 128;", BOTH},
    /* A lock is given back. */
    {"L:\natom.global.cas.b32 %r2, [%of0], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
     "st.global.u32 [%of1], %r1;\nmembar.gl;\natom.global.exch.b32 %r3, [%of0], 0;",
     0},
    {"L:\natom.global.cas.b32 %r2, [%of0], 0, 1;\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra "
     "L;\natom.global.exch.b32 %r3, [%of0], 0;\nmov.b32 %r5, %r4;",
     BOTH},
    {"L:\natom.global.or.b32 %r2, [%of0], %r1;\nsetp.ne.u32 %p1, %r2, -1;\n@%p1 bra L;\n"
     "atom.global.exch.b32 %r3, [%of0], 0;",
     BOTH},
    /* An atomic reads an array that was stored into. */
    {"st.global.u32 [%of0], %r1;\natom.global.add.u32 %r2, [%of0+4], 0;\nmov.b32 %r3, %r2;", BOTH},
    {"st.global.u32 [%of0], %r1;\nmembar.gl;\natom.global.cas.b32 %r2, [%of0+4], 0, 0;\nmov.b32 %r3, %r2;",
     BOTH},
    {"st.global.u32 [%of0], %r1;\natom.acquire.gpu.global.or.b32 %r2, [%rd1], 0;\nmov.b32 %r3, %r2;", BOTH},
    {"st.shared.u32 [s], %r1;\nfence.acq_rel.cta;\natom.shared.max.u32 %r2, [s+4], 0;\nmov.b32 %r3, %r2;",
     BOTH},
    {"st.global.u32 [%of0], %r1;\natom.global.add.u32 %r2, [%of0+4], 0;", 0},
    {"st.global.u32 [%of0], %r1;\nmembar.gl;\natom.global.inc.u32 %r2, [%of1], 7;\nmov.b32 %r3, %r2;", 0},
    {"st.shared.u32 [s], %r1;\nbar.sync 0;\natom.shared.max.u32 %r2, [s+4], 0;\nmov.b32 %r3, %r2;", GRID},
    /* An atomic reads in one round what others changed in the round before. */
    {"mov.b32 %r4, %r1;\nL:\natom.global.or.b32 %r2, [%of0], %r4;\nmov.b32 %r4, 0;\nmov.b32 %r3, %r2;\n"
     "@%p1 bra L;",
     BOTH},
    {"L:\natom.global.max.u32 %r2, [%of0], %r1;\nmov.b32 %r3, %r2;\n@%p1 bra L;", BOTH},
    {"L:\natom.global.exch.b32 %r2, [%rd1], %r1;\nadd.u64 %rd1, %rd1, 4;\nadd.u32 %r3, %r3, %r2;\n@%p1 bra "
     "L;",
     BOTH},
    {"L:\natom.global.add.u32 %r2, [%of0], %r4;\nmov.b32 %r4, 0;\nmov.b32 %r3, %r2;\n@%p1 bra L;", BOTH},
    {"L:\natom.global.add.u32 %r2, [%of0], 0;\nmov.b32 %r3, %r2;\n@%p1 bra L;", BOTH},
    {"@%p2 bra M;\nL:\nadd.u32 %r4, %r4, 1;\nM:\natom.global.xor.b32 %r2, [%of0], %r4;\nmov.b32 %r3, %r2;\n"
     "@%p1 bra L;",
     BOTH},
    /* Its value decides whether the loop goes on, and something else does, too, or it is used behind it. */
    {"mov.b32 %r4, %r1;\nL:\natom.global.or.b32 %r2, [%of0], %r4;\nmov.u32 %r4, 0;\nadd.u32 %r5, %r5, 1;\n"
     "setp.lt.u32 %p1, %r5, 2;\nsetp.ne.and.u32 %p1, %r2, 99, %p1;\n@%p1 bra L;\nmov.b32 %r3, %r2;",
     BOTH},
    {"mov.b32 %r4, %r1;\nL:\natom.shared.or.b32 %r2, [s], %r4;\nsetp.eq.u32 %p2, %r2, 99;\n@%p2 bra O;\n"
     "mov.u32 %r4, 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 2;\n@%p1 bra L;\nO:\nmov.b32 %r3, %r2;",
     BOTH},
    {"L:\natom.global.max.u32 %r2, [%of0], %r1;\nst.global.u32 [%of1], %r2;\nsetp.ne.u32 %p1, %r2, 0;\n"
     "@%p1 bra L;",
     BOTH},
    {"L:\natom.global.exch.b32 %r2, [%of0], 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\nmov.b32 %r3, %r2;",
     BOTH},
    {"L:\natom.global.exch.b32 %r2, [%of0], 1;\nred.global.add.u32 [%of1], 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
     "@%p1 bra L;",
     BOTH},
    {"L:\natom.global.xor.b32 %r2, [%of0], %r1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;", BOTH},
    {"L:\natom.global.exch.b32 %r2, [%of0], 1;\nnanosleep.u32 %r5;\nadd.u32 %r5, %r5, %r5;\nand.b32 %r3, "
     "%r2, "
     "1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;",
     0},
    /* A number that is not the same in all threads: a zero tells who has added. */
    {"setp.eq.u32 %p2, %r1, 0;\nselp.u32 %r4, 9, 0, %p2;\nL:\natom.global.add.u32 %r2, [%of0], %r4;\n"
     "mov.b32 %r3, %r2;\n@%p1 bra L;",
     BOTH},
    {"L:\natom.global.add.u32 %r2, [%of0], %r1;\nmov.b32 %r3, %r2;\n@%p1 bra L;", BOTH},
    {"ld.global.u32 %r4, [%of1];\nL:\natom.global.add.u32 %r2, [%of0], %r4;\nmov.b32 %r3, %r2;\n@%p1 bra L;",
     BOTH},
    {"mov.u32 %r4, %nctaid.x;\nshl.b32 %r5, %r4, 1;\nL:\natom.global.add.u32 %r2, [%of0], %r5;\n"
     "mov.b32 %r3, %r2;\n@%p1 bra L;",
     0},
    {"cvt.u32.u64 %r4, %of1;\nL:\natom.global.add.u32 %r2, [%of0], %r4;\nmov.b32 %r3, %r2;\n@%p1 bra L;", 0},
    {"mov.u32 %r4, 3;\nL:\natom.global.add.u32 %r2, [%of0], %r4;\nmov.b32 %r3, %r2;\n@%p1 bra L;", 0},
    {"L:\natom.global.max.u32 %r2, [%of0], %r1;\n@%p1 bra L;", 0},
    {"L:\natom.global.exch.b32 %r2, [%of0], 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;", 0},
    {"L:\natom.global.cas.b32 %r2, [%of0], %r3, %r1;\nsetp.ne.u32 %p1, %r2, %r3;\nmov.b32 %r3, %r2;\n"
     "@%p1 bra L;",
     0},
    {"M:\nadd.u32 %r1, %r1, 1;\nL:\natom.global.exch.b32 %r2, [%of0], 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 "
     "bra L;\n"
     "st.global.u32 [%of1], %r1;\n@%p2 bra M;",
     0},
    {"L:\natom.global.cas.b32 %r2, [%of0], 0, %r1;\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 st.global.u32 [%of1], "
     "1;\n"
     "@%p1 bra L;",
     0},
    /* Nothing was stored, or nothing reads it. */
    {"membar.gl;\nld.global.u32 %r2, [%rd1+4];", 0},
    {"ld.global.u32 %r2, [%rd1+4];\nst.global.u32 [%rd1], %r2;\nmembar.gl;", 0},
    {"st.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd2];", 0},
    {"st.global.u32 [%rd1], %r1;\nmembar.gl;\nld.global.nc.u32 %r2, [%rd2];", 0},
    {"st.global.u32 [%rd1], %r1;\nmembar.gl;\nst.local.u32 [own], %r1;\nld.local.u32 %r2, [own];", 0},
    {"st.local.u32 [own], %r1;\nfence.acq_rel.gpu;\nld.global.u32 %r2, [%rd1];", 0},
    {"st.global.u32 [%rd1], %r1;\nfence.proxy.async;\nld.global.u32 %r2, [%rd2];", 0},
    /* Counters, and numbers that are drawn. */
    {"red.global.add.u32 [%rd1], 1;\nred.global.max.u32 [%rd2], %r1;", 0},
    {"atom.global.add.u32 %r2, [%rd1], 1;\natom.global.add.u32 %r3, [%rd2], 1;", 0},
    {"L:\natom.global.add.u32 %r2, [%of0], 1;\nst.global.u32 [%of1], %r2;\n@%p1 bra L;", 0},
    {"atom.global.add.u32 %r2, [%of0], 1;\nld.global.u32 %r3, [%of1];\nst.global.u32 [%of1], %r2;", 0},
    /* In shared memory, which threads= takes in CTAs alone. */
    {"st.shared.u32 [s], %r1;\nmembar.cta;\nld.shared.u32 %r2, [s+4];", BOTH},
    {"st.relaxed.cta.shared.u32 [s], %r1;\nld.relaxed.cta.shared.u32 %r2, [s+4];", BOTH},
    {"st.shared.u32 [s], %r1;\nld.acquire.cta.shared::cta.u32 %r2, [s+4];", BOTH},
    {"atom.shared.exch.b32 %r2, [s], %r1;\natom.shared.or.b32 %r3, [s+4], 0;\nmov.b32 %r4, %r3;", BOTH},
    {"st.shared.u32 [s], %r1;\nmembar.cta;\n@%p1 bar.sync 0;\nld.shared.u32 %r2, [s+4];", BOTH},
    {"st.shared.u32 [s], %r1;\nmembar.cta;\nbar.sync 0;\nld.shared.u32 %r2, [s+4];", GRID},
    {"st.global.u32 [%rd1], %r1;\nmembar.gl;\nbarrier.sync 1;\nld.global.u32 %r2, [%rd1+4];", GRID},
    {"st.global.u32 [%rd1], %r1;\nmembar.gl;\nld.shared.u32 %r2, [s+4];", GRID},
    {"ld.volatile.local.u32 %r2, [own];\nst.volatile.local.u32 [own], %r1;", 0},
};

static void warps_that_talk_without_a_barrier_keep_their_threads(void **state) {
  for (size_t i = 0; i < sizeof talks / sizeof *talks; i++)
    for (unsigned form = CTA; form <= GRID; form++)
      if ((refusals(talks[i].body, form == CTA) > 0) != ((talks[i].talks & form) != 0))
        fail_msg("%s, %s: %s", talks[i].body, form == CTA ? "cta" : "grid", first.what);
}

#define INIT "@%p1 mbarrier.init.shared.b64 [m], 64;\nbar.sync 0;\n"
#define SHOW "st.shared.u32 [s], %r1;\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %rd1, [m];\n"
#define WAIT "L:\nmbarrier.test_wait.shared.b64 %p2, [m], %rd1;\n@!%p2 bra L;\n"
#define LOOK "ld.shared.u32 %r2, [s+4];"

/* Where all threads of the CTA arrive, and each waits for what it has begun. */
static void waits_at_mbarriers_come_between_where_all_threads_arrive(void **state) {
  static const struct {
    const char *body;
    bool talks;
  } cases[] = {
      {INIT SHOW ARRIVE WAIT LOOK, false},
      {INIT SHOW ARRIVE "L:\nmbarrier.try_wait.shared.b64 %p2, [m], %rd1;\n@%p2 bra D;\nbra L;\nD:\n" LOOK,
       false},
      {INIT "red.shared.or.b32 [s], %r1;\n" ARRIVE WAIT "atom.shared.or.b32 %r2, [s], 0;\nmov.b32 %r3, %r2;",
       false},
      {INIT "M:\n" SHOW ARRIVE WAIT LOOK "\nbar.sync 0;\n@%p3 bra M;", false},
      /* Fewer do, or some twice. */
      {"@%p1 mbarrier.init.shared.b64 [m], 1;\nbar.sync 0;\n" SHOW ARRIVE WAIT LOOK, true},
      {"@%p1 mbarrier.init.shared.b64 [m], 1;\n" INIT SHOW ARRIVE WAIT LOOK, true},
      {"@%p1 mbarrier.init.shared.b64 [m], %r4;\nbar.sync 0;\n" SHOW ARRIVE WAIT LOOK, true},
      {INIT SHOW ARRIVE "mbarrier.arrive.shared.b64 %rd1, [m];\n" WAIT LOOK, true},
      {INIT SHOW "mbarrier.arrive.shared.b64 %rd1, [m], 2;\n" WAIT LOOK, true},
      {INIT SHOW "mbarrier.arrive.noComplete.shared.b64 %rd1, [m], 1;\n" WAIT LOOK, true},
      {INIT SHOW "@%p3 " ARRIVE WAIT LOOK, true},
      {INIT "cp.async.mbarrier.arrive.shared.b64 [m];\n" SHOW ARRIVE WAIT LOOK, true},
      {INIT "mov.u32 %r5, m;\nmbarrier.arrive.shared.b64 _, [%r5];\n" SHOW ARRIVE WAIT LOOK, true},
      /* A phase that has ended, or may not have. */
      {INIT SHOW "L:\nmbarrier.test_wait.parity.shared.b64 %p2, [m], 1;\n@!%p2 bra L;\nmembar.cta;\n" LOOK,
       true},
      {INIT SHOW ARRIVE "L:\nmbarrier.test_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra L;\n" LOOK, true},
      {INIT SHOW ARRIVE "mbarrier.test_wait.shared.b64 %p2, [m], %rd1;\n" LOOK, true},
      {INIT SHOW ARRIVE "L:\nmbarrier.test_wait.shared.b64 %p2, [m], %rd1;\n@%p2 bra L;\n" LOOK, true},
      {INIT SHOW ARRIVE "L:\nmbarrier.test_wait.shared.b64 %p2, [m], %rd1;\nadd.u32 %r3, %r3, 1;\n"
                        "setp.gt.or.u32 %p3, %r3, 9, %p2;\n@!%p3 bra L;\n" LOOK,
       true},
      {INIT ARRIVE SHOW "membar.cta;\n" WAIT LOOK, true},
      {INIT SHOW ARRIVE "@%p4 bra D;\n" WAIT "D:\n" LOOK, true},
      /* What the wait says, and what the state does. */
      {INIT ARRIVE "mbarrier.test_wait.shared.b64 %p2, [m], %rd1;\nselp.u32 %r2, 1, 0, %p2;", true},
      {INIT ARRIVE "mbarrier.pending_count.b64 %r2, %rd1;\nmov.u32 %r3, %r2;", false},
      {INIT "mbarrier.arrive.shared.b64 _, [m];\n" ARRIVE "mbarrier.pending_count.b64 %r2, %rd1;", true},
      {INIT ARRIVE "mov.b64 %rd2, %rd1;\nmbarrier.arrive.shared.b64 _, [m];\nst.global.u64 [%of0], %rd2;",
       true},
  };
  static const uint32_t block[3] = {8, 8, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if ((refusals_of(cases[i].body, true, block) > 0) != cases[i].talks)
      fail_msg("%s: %s", cases[i].body, first.what);
  if (!refusals(cases[0].body, true)) fail_msg("of any block: %s", cases[0].body);
}

static void a_barrier_may_say_how_many_threads_the_whole_cta_has(void **state) {
  static const struct {
    const char *body;
    uint32_t block[3];
    bool whole;
  } cases[] = {
      {"bar.sync 3, 64;", {64, 1, 1}, true},        {"bar.sync 3, 64;", {8, 4, 2}, true},
      {"barrier.cta.sync 3, 64;", {8, 8, 1}, true}, {"bar.red.popc.u32 %r2, 0, 64, %p1;", {64, 1, 1}, true},
      {"bar.sync 3, 64;", {128, 1, 1}, false},      {"bar.sync 3, 64;", {0, 0, 0}, false},
      {"bar.sync 3, 64;", {40, 1, 1}, false}, /* the last warp is not full */
      {"bar.sync 3, %r1;", {64, 1, 1}, false},      {"bar.arrive 3, 64;", {64, 1, 1}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if ((refusals_of(cases[i].body, true, cases[i].block) == 0) != cases[i].whole)
      fail_msg("%s, %u threads: %s", cases[i].body, cases[i].block[0], first.what);
}

/* Whole warps may run an aligned barrier or not; with other threads in each warp, some of them do. */
/* An H100 does not follow lanes that come to barriers so: docs/decisions/agents-need-uniform-code.md. */
static void lanes_that_cannot_part_at_a_barrier_keep_their_warps(void **state) {
  static const struct {
    const char *body;
    bool refused;
  } cases[] = {
      {"shr.u32 %r2, %r1, 5;\nL:\nbarrier.sync 0;\nsub.s32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r2, 0;\n@%p1 bra "
       "L;",
       true},
      {"L:\nbar.sync 0;\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%of1], %r1;\nsetp.ne.u32 %p1, %r2, 0;\n"
       "@%p1 ret;\nbra L;",
       true},
      {"shr.u32 %r2, %r1, 5;\nL:\ncall.uni meets;\nsub.s32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r2, 0;\n@%p1 bra "
       "L;",
       true},
      {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra B;\nbar.red.or.pred %p2, 0, %p3;\nbra D;\nB:\n"
       "bar.red.or.pred %p4, 0, %p3;\nD:",
       true},
      {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbar.red.or.pred %p2, 0, %p3;\nbar.sync 0;\nD:", true},
      {"mov.u32 %r2, %ctaid.x;\nL:\nbarrier.sync 0;\nsub.s32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r2, 0;\n@%p1 "
       "bra L;",
       false},
      {"call.uni meets;", false},
      {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbar.sync 0;\nbar.sync 0;\nD:", false},
      {"bar.red.or.pred %p2, 0, %p1;\nbar.red.and.pred %p3, 0, %p2;\nbar.sync 0;", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if ((refusals(cases[i].body, true) > 0) != cases[i].refused)
      fail_msg("%s: %s", cases[i].body, first.what);
}

static void barriers_at_which_warps_part_lose_their_alignment(void **state) {
  static const struct {
    const char *body;
    bool parts;
  } cases[] = {{"bar.sync 0;", false},
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbar.sync 0;\nD:", true},
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\nbarrier.sync.aligned 3;", true},
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bar.sync 0;", true},
               {"bar.sync 0;\nbar.sync 1;\nbarrier.cta.sync.aligned 0;", false},
               /* While some of a warp are in the branch, others are at the barrier behind it. */
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbarrier.sync 0;\nD:\nbar.sync 0;", true},
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbarrier.sync 0;\nD:", true},
               {"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nbar.red.popc.u32 %r2, 0, %p1;\nD:", true},
               {"bar.red.popc.u32 %r2, 0, %p1;", false},
               {"call.uni helper;", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (unsigned old = 0; old < 2; old++) {
      char text[2048];
      hd_arena arena;
      hd_ptx_module *m;
      hd_diag d;
      hd_plan p;
      hd_buf out = {0};
      const hd_rewrite_options o = {.block = {64, 1, 1}};
      snprintf(text, sizeof text,
               ".version 8.0\n.target sm_%u\n.address_size 64\n.func helper()\n{\nbar.sync 0;\nret;\n}\n"
               ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n.reg .pred %%p<9>;\nmov.u32 %%r1, "
               "%%tid.x;\n%s\nret;\n}\n",
               old ? 60 : 80, cases[i].body);
      hd_arena_init(&arena);
      if (hd_ptx_parse(text, strlen(text), "k", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
      assert_int_equal(hd_plan_parse("threads=cta:reverse", &p, &d), HD_OK);
      hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
      if (st != (old && cases[i].parts ? HD_ERR_REFUSED : HD_OK)) fail_msg("%s: %d", cases[i].body, st);
      if (st == HD_OK) {
        assert_int_equal(hd_ptx_print(m, &out), HD_OK);
        const char *body = strstr(out.data, ".entry");
        if ((strstr(body, "barrier.") != NULL && !strstr(body, ".aligned")) != cases[i].parts &&
            !strstr(body, "call"))
          fail_msg("%s", out.data);
        if (cases[i].parts &&
            (strstr(body, "bar.sync") || strstr(body, "bar.red") || strstr(body, ".aligned")))
          fail_msg("%s", out.data);
      }
      hd_buf_free(&out);
      hd_arena_free(&arena);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_belongs_to_a_cta_may_be_renumbered_inside_it),
      cmocka_unit_test(what_warps_do_as_warps_bars_it),
      cmocka_unit_test(threads_that_end_in_a_function_bar_it),
      cmocka_unit_test(what_the_text_promises_of_warps_bars_it),
      cmocka_unit_test(warps_that_talk_through_global_memory_keep_their_threads),
      cmocka_unit_test(warps_that_talk_without_a_barrier_keep_their_threads),
      cmocka_unit_test(waits_at_mbarriers_come_between_where_all_threads_arrive),
      cmocka_unit_test(a_barrier_may_say_how_many_threads_the_whole_cta_has),
      cmocka_unit_test(what_a_cluster_or_a_cta_sees_alone_stays_in_it),
      cmocka_unit_test(loops_that_wait_bar_it_before_sm_70),
      cmocka_unit_test(lanes_that_cannot_part_at_a_barrier_keep_their_warps),
      cmocka_unit_test(barriers_at_which_warps_part_lose_their_alignment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
