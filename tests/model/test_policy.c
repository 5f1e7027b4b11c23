/* The effect of a warp scheduler's policy on loads. */
#include "check.h"
#include "heddle/model.h"
#include "model/subject.h"

/* Each lane reads a line of its own word by word, so that a warp needs 32 lines for 32 turns. */
static const char private_lines[] =
    "mul.wide.u32 %rd4, %r4, 128;\nadd.u64 %rd2, %rd1, %rd4;\nmov.u32 %r10, 0;\nL:\n"
    "ld.global.u32 %r11, [%rd2];\nadd.u32 %r12, %r12, %r11;\nadd.u64 %rd2, %rd2, 4;\nadd.u32 %r10, %r10, 1;\n"
    "setp.lt.u32 %p1, %r10, 32;\n@%p1 bra L;\nst.global.u32 [%rd1], %r12;\n";

static hd_counters under(hd_warp_scheduler s, uint32_t ctas, uint32_t threads) {
  hd_gpu g = round_gpu();
  subject k = trace_kernel(private_lines, ctas, threads);
  hd_model *m;
  hd_counters c;
  hd_diag d = {0};
  hd_replay_options o = {.timed = true};
  g.l1.bytes = 16384;
  g.l1.sector = 128;
  g.l1_global = true;
  must(hd_gpu_set_scheduler(&g, s, 0, &d), &d);
  must(hd_model_create(&g, &m, &d), &d);
  must(hd_model_replay(m, k.trace, &o, &c, &d), &d);
  hd_model_destroy(m);
  drop(&k);
  return c;
}

/* 16 warps need four times L1. In turns each finds its lines gone; the oldest, where they go first, do not.
 */
static void loads_of_the_oldest_go_first_under_gto(void **state) {
  hd_counters lrr = under(HD_SCHED_LRR, 8, 256), gto = under(HD_SCHED_GTO, 8, 256);
  assert_int_equal(lrr.l1_sectors, gto.l1_sectors);
  if (gto.l1_hits < 2 * lrr.l1_hits || gto.time_us > lrr.time_us)
    fail_msg("L1 hits %lu under lrr, %lu under gto, of %lu; %.2f and %.2f us", (unsigned long)lrr.l1_hits,
             (unsigned long)gto.l1_hits, (unsigned long)gto.l1_sectors, lrr.time_us, gto.time_us);
}

static void where_all_lines_fit_the_policy_does_not_matter_to_l1(void **state) {
  hd_counters lrr = under(HD_SCHED_LRR, 1, 96), gto = under(HD_SCHED_GTO, 1, 96);
  assert_int_equal(lrr.l1_hits, gto.l1_hits);
  assert_int_equal(lrr.l1_sectors - lrr.l1_hits, 96);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loads of the oldest go first under GTO", loads_of_the_oldest_go_first_under_gto),
      BEHAVIOUR("where all lines fit the policy does not matter to L1",
                where_all_lines_fit_the_policy_does_not_matter_to_l1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
