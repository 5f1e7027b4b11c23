/* Replays with a clock: asynchronous copies and the barriers that they complete at. */
#include "check.h"

#include <stdlib.h>

#include "heddle/model.h"
#include "model/subject.h"

enum { GROUPS = 16, GROUP = 2048 };

static const char module_head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 data) {\n.reg .u64 %rd<4>;\n.reg .u32 %r<8>;\n.reg .pred %p<4>;\n"
    ".shared .align 128 .b8 stages[32768];\n.shared .align 8 .b64 full[16];\n.shared .align 8 .b64 "
    "empty[16];\n"
    "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n";

static void await(hd_buf *b, const char *barrier, unsigned at, unsigned parity) {
  static unsigned n;
  hd_buf_printf(b,
                "wait%u: mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%s+%u], %u;\n@!%%p2 bra wait%u;\n",
                n, barrier, 8 * at, parity, n);
  n++;
}

static void copy(hd_buf *b, unsigned group, unsigned stage) {
  hd_buf_printf(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+%u], %u;\nadd.u64 %%rd2, %%rd1, %u;\n",
                8 * stage, GROUP, group * GROUP);
  for (unsigned part = 0; part < 2; part++)
    hd_buf_printf(
        b,
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [stages+%u], [%%rd2], %u, "
        "[full+%u];\nadd.u64 %%rd2, %%rd2, %u;\n",
        stage * GROUP + part * GROUP / 2, GROUP / 2, 8 * stage, GROUP / 2);
}

static void make_barriers(hd_buf *b, unsigned stages, bool both) {
  hd_buf_puts(b, module_head);
  hd_buf_puts(b, "@%p1 bra made;\n");
  for (unsigned s = 0; s < stages; s++) {
    hd_buf_printf(b, "mbarrier.init.shared::cta.b64 [full+%u], 1;\n", 8 * s);
    if (both) hd_buf_printf(b, "mbarrier.init.shared::cta.b64 [empty+%u], 1;\n", 8 * s);
  }
  hd_buf_puts(b, "made: bar.sync 0;\n");
}

/* One warp copies, another one works with what has come and says when its place is free. */
static char *two_kinds_of_warps(unsigned stages) {
  hd_buf b = {0};
  make_barriers(&b, stages, true);
  hd_buf_puts(&b, "setp.eq.u32 %p3, %r1, 32;\n@%p3 bra works;\n@%p1 bra end;\n");
  for (unsigned g = 0; g < GROUPS; g++) {
    if (g >= stages) await(&b, "empty", g % stages, g / stages % 2 ^ 1);
    copy(&b, g, g % stages);
  }
  hd_buf_puts(&b, "bra end;\nworks:\n");
  for (unsigned g = 0; g < GROUPS; g++) {
    await(&b, "full", g % stages, g / stages % 2);
    hd_buf_printf(&b, "ld.shared.u32 %%r2, [stages+%u];\n", g % stages * GROUP);
    hd_buf_printf(&b, "mbarrier.arrive.shared::cta.b64 _, [empty+%u];\n", 8 * (g % stages));
  }
  hd_buf_puts(&b, "end: ret;\n}\n");
  return b.data;
}

/* A warp works with what it has copied, while the next `stages` - 1 groups come. */
static char *one_kind_of_warps(unsigned stages) {
  hd_buf b = {0};
  make_barriers(&b, stages, false);
  hd_buf_puts(&b, "@%p1 bra end;\n");
  for (unsigned g = 0; g + 1 < stages; g++) copy(&b, g, g);
  for (unsigned g = 0; g < GROUPS; g++) {
    const unsigned next = g + stages - 1;
    if (next < GROUPS) copy(&b, next, next % stages);
    await(&b, "full", g % stages, g / stages % 2);
    hd_buf_printf(&b, "ld.shared.u32 %%r2, [stages+%u];\n", g % stages * GROUP);
  }
  hd_buf_puts(&b, "end: ret;\n}\n");
  return b.data;
}

static double cycles_of(char *text) {
  hd_gpu g = round_gpu();
  g.max_threads = 2048;
  subject s = trace_module(text, 1, 64);
  hd_diag d = {0};
  hd_model *m;
  hd_counters c;
  must(hd_model_create(&g, &m, &d), &d);
  must(hd_model_replay(m, s.trace, &(hd_replay_options){.timed = true}, &c, &d), &d);
  assert_int_equal(c.dram_read_bytes, GROUPS * GROUP);
  hd_model_destroy(m);
  drop(&s);
  free(text);
  return c.cycles;
}

/* Groups take turns of DRAM's latency, as many at once as there are stages. */
static void as_many_groups_are_under_way_as_there_are_stages(void **state) {
  const hd_gpu g = round_gpu();
  for (unsigned stages = 2; stages <= 8; stages *= 2) {
    const double turns = (double)GROUPS / stages * g.dram_latency;
    const double two = cycles_of(two_kinds_of_warps(stages)), one = cycles_of(one_kind_of_warps(stages));
    if (two < turns || two > 1.5 * turns) fail_msg("%u stages, two kinds of warps: %g cycles", stages, two);
    if (one < turns || one > 1.5 * turns) fail_msg("%u stages, one kind: %g cycles", stages, one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_groups_are_under_way_as_there_are_stages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
