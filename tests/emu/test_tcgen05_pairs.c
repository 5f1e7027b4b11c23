/* Copies of boxes whose mbarrier is that of a pair of CTAs (.cta_group::2). */
#include "emu/async_run.h"

enum { BOX = 64, BYTES = 4 * BOX };

/* Both CTAs copy a box (or the even one both boxes, twice over), the even CTA waits for all, and each CTA
 * shows what it has. */
#define PAIR(copies, bytes)                                                                                  \
  ".reg .b16 %h1; mov.u32 %r1, smem; mov.u32 %r2, %cluster_ctarank; mov.u32 %r9, %ctaid.x;\n"                \
  "and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %r3, 0; and.pred %p3, %p1, %p2;\n"          \
  "shl.b32 %r4, %r9, 6; @%p3 mbarrier.init.shared.b64 [%r1], 1; fence.mbarrier_init.release.cluster;\n"      \
  "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], " #bytes ";\n"                                        \
  "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" copies                                   \
  "@!%p2 bra DONE;\nWAIT: mbarrier.try_wait.parity.shared.b64 %p4, [%r1], 0; @!%p4 bra WAIT;\nDONE:\n"       \
  "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"                                          \
  "shl.b32 %r5, %t, 2; add.u32 %r6, %r1, %r5; ld.shared.u32 %r7, [%r6+1024];\n"                              \
  "mad.lo.u32 %r8, %r9, 64, %t; mad.wide.u32 %d1, %r8, 4, %out; st.global.u32 [%d1], %r7;\n"
#define COPY "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"

static hd_status run(const char *body, uint32_t ctas, uint32_t cluster, uint32_t out[4 * BOX], hd_diag *d) {
  async_machine x;
  uint32_t data[4 * BOX];
  for (unsigned k = 0; k < 4 * BOX; k++) data[k] = 1000 + k;
  async_open(&x, body, HD_CHECK_ALL);
  async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
  async_buffer(&x, &x.args.in, data, sizeof data);
  const uint32_t *shown = async_buffer(&x, &x.args.out, data, sizeof data);
  const hd_tensor t = {.address = x.args.in,
                       .type = HD_TENSOR_U32,
                       .rank = 1,
                       .dim = {4 * BOX},
                       .box = {BOX},
                       .element_stride = {1}};
  async_ok(&x, hd_emu_tensor_map(&t, x.args.map, &x.d));
  hd_emu_launch_params l = async_params(&x, BOX);
  l.grid[0] = ctas;
  l.cluster[0] = cluster;
  const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d);
  if (st == HD_OK) memcpy(out, shown, sizeof data);
  *d = x.d;
  async_close(&x);
  return st;
}

static void boxes_of_both_ctas_arrive_at_the_even_ones_mbarrier(void **state) {
  uint32_t out[4 * BOX];
  hd_diag d = {0};
  const char *body = PAIR("@%p1 " COPY ".cta_group::2 [%r1+1024], [%map, {%r4}], [%r1];\n", 512);
  if (run(body, 4, 4, out, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned k = 0; k < 4 * BOX; k++) assert_int_equal(out[k], 1000 + k);
}

static void a_box_for_both_ctas_arrives_there_as_well(void **state) {
  uint32_t out[4 * BOX];
  hd_diag d = {0};
  const char *body = PAIR("mov.b16 %h1, 3;\n@%p3 " COPY
                          ".multicast::cluster.cta_group::2 [%r1+1024], [%map, {%r4}], [%r1], %h1;\n",
                          512);
  if (run(body, 4, 2, out, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned k = 0; k < 4 * BOX; k++) assert_int_equal(out[k], 1000 + k / (2 * BOX) * (2 * BOX) + k % BOX);
}

static void what_no_mbarrier_has_counted_is_not_read(void **state) {
  uint32_t out[4 * BOX];
  hd_diag d = {0};
  /* Each CTA reads its box, and no CTA has waited. */
  const char *early = PAIR("@%p1 " COPY ".cta_group::2 [%r1+1024], [%map, {%r4}], [%r1];\n"
                           "shl.b32 %r10, %t, 2; add.u32 %r10, %r10, %r1; ld.shared.u32 %r11, [%r10+1024];\n",
                           516);
  assert_int_equal(run(early, 2, 2, out, &d), HD_ERR_FAULT);
  const char *alone = PAIR("@%p1 " COPY ".cta_group::2 [%r1+1024], [%map, {%r4}], [%r1];\n", 256);
  assert_int_equal(run(alone, 1, 1, out, &d), HD_ERR_FAULT);
  if (!strstr(d.message, "no other to form a pair")) fail_msg("%s", d.message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("boxes of both CTAs arrive at the even one's mbarrier",
                boxes_of_both_ctas_arrive_at_the_even_ones_mbarrier),
      BEHAVIOUR("a box for both CTAs arrives there as well", a_box_for_both_ctas_arrives_there_as_well),
      BEHAVIOUR("what no mbarrier has counted is not read", what_no_mbarrier_has_counted_is_not_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
