/* SMs that have thresholds of bypassing of their own, and how many CTAs each ran. */
#include "check.h"
#include "heddle/model.h"
#include "model/subject.h"

enum { SMS = 9, CTAS = 512, WARPS = 8 };

/* Each warp of a CTA reads 32 lines of its own four times, the same lines in every CTA. */
static const char own_lines[] =
    "shr.u32 %r5, %r1, 5;\nand.b32 %r6, %r1, 31;\nshl.b32 %r5, %r5, 12;\nshl.b32 %r6, %r6, 2;\n"
    "add.u32 %r5, %r5, %r6;\nmov.u32 %r10, 0;\nL:\nand.b32 %r7, %r10, 31;\nshl.b32 %r7, %r7, 7;\n"
    "add.u32 %r7, %r7, %r5;\ncvt.u64.u32 %rd4, %r7;\nadd.u64 %rd4, %rd1, %rd4;\n"
    "ld.global.u32 %r11, [%rd4];\nadd.u32 %r12, %r12, %r11;\nadd.u32 %r10, %r10, 1;\n"
    "setp.lt.u32 %p1, %r10, 128;\n@%p1 bra L;\nst.global.u32 [%rd1], %r12;\n";

/* L1 holds all of them; loads around it wait for L2. */
static hd_gpu slow_gpu(void) {
  hd_gpu g = round_gpu();
  g.n_sms = SMS;
  g.l1_global = true;
  g.l2.bytes_per_cycle = 32;
  return g;
}

static uint32_t counted(const hd_gpu *g, const hd_trace *t, hd_replay_options o, uint32_t *ctas) {
  hd_model *m;
  hd_counters c;
  hd_diag d = {0};
  uint32_t sum = 0;
  o.timed = true;
  o.ctas = ctas;
  must(hd_model_create(g, &m, &d), &d);
  for (int i = 0; i < 2; i++) must(hd_model_replay(m, t, &o, &c, &d), &d); /* counted afresh each time */
  hd_model_destroy(m);
  for (uint32_t i = 0; i < g->n_sms; i++) sum += ctas[i];
  return sum;
}

static void every_cta_is_counted_where_it_ran(void **state) {
  subject k = trace_kernel(own_lines, CTAS, 32 * WARPS);
  const hd_gpu g = slow_gpu();
  uint32_t ctas[SMS];
  assert_int_equal(counted(&g, k.trace, (hd_replay_options){0}, ctas), CTAS);
  for (uint32_t i = 0; i < SMS; i++) assert_int_equal(ctas[i], CTAS / SMS + (i < CTAS % SMS));
  assert_int_equal(counted(&g, k.trace, (hd_replay_options){.dispatch = {.kind = HD_DISPATCH_DEMAND}}, ctas),
                   CTAS);
  assert_int_equal(counted(&g, k.trace, (hd_replay_options){.part = {100, 60}}, ctas), 60);
  assert_int_equal(counted(&g, k.trace, (hd_replay_options){.part = {3, 1}}, ctas), 1);
  assert_int_equal(ctas[0], 1);
  drop(&k);
}

static void sms_whose_threshold_is_better_run_more_ctas(void **state) {
  subject k = trace_kernel(own_lines, CTAS, 32 * WARPS);
  const hd_gpu g = slow_gpu();
  uint32_t ctas[SMS], of[WARPS + 1];
  const hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND, .resident = 1},
                               .threshold = {HD_BYPASS_L1, WARPS},
                               .vote = true};
  assert_int_equal(counted(&g, k.trace, o, ctas), CTAS);
  for (uint32_t i = 0; i < SMS; i++) of[hd_bypass_voted(WARPS, i)] = ctas[i];
  for (uint32_t i = 0; i < WARPS; i++)
    if (2 * of[i] > of[WARPS]) fail_msg("threshold %u: %u CTAs; %u: %u", i, of[i], WARPS, of[WARPS]);
  drop(&k);
}

static void without_a_vote_all_sms_have_one_threshold(void **state) {
  subject k = trace_kernel(own_lines, CTAS, 32 * WARPS);
  const hd_gpu g = slow_gpu();
  uint32_t ctas[SMS];
  const hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND}, .threshold = {HD_BYPASS_L1, 4}};
  counted(&g, k.trace, o, ctas);
  for (uint32_t i = 0; i < SMS; i++) assert_in_range(ctas[i], CTAS / SMS - 8, CTAS / SMS + 8);
  drop(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every CTA is counted where it ran", every_cta_is_counted_where_it_ran),
      BEHAVIOUR("SMs whose threshold is better run more CTAs", sms_whose_threshold_is_better_run_more_ctas),
      BEHAVIOUR("without a vote all SMs have one threshold", without_a_vote_all_sms_have_one_threshold),
  };
  return cmocka_run_group_tests_name("model.thresholds", tests, NULL, NULL);
}
