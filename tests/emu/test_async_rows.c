/* Copies of sm_100: single rows of a tensor, masked bytes, zeros; stores and reductions without an mbarrier.
 */
#include "emu/async_run.h"

enum { WIDTH = 32, HEIGHT = 20, ROWS = 4 };

static void describe(async_machine *x, uint32_t rows, hd_tensor_swizzle swizzle) {
  const hd_tensor t = {.address = x->args.in,
                       .type = HD_TENSOR_U32,
                       .rank = 2,
                       .dim = {WIDTH, HEIGHT},
                       .stride = {WIDTH * 4},
                       .box = {8, rows},
                       .element_stride = {1, 1},
                       .swizzle = swizzle};
  async_ok(x, hd_emu_tensor_map(&t, x->args.map, &x->d));
}

#define BEGIN                                                                                                \
  "mov.u32 %r0, smem;\nmbarrier.init.shared.b64 [%r0], 1;\nfence.proxy.async;\n"                             \
  "mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 128;\n"
#define WAIT "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 0;\n@!%p1 bra wait;\n"
#define SHOW                                                                                                 \
  "mov.u32 %r1, 0;\nshow: add.u32 %r2, %r0, %r1; ld.shared.u32 %r3, [%r2+1024]; cvt.u64.u32 %d1, %r1; "      \
  "add.u64 %d1, "                                                                                            \
  "%d1, %out; st.global.u32 [%d1], %r3; add.u32 %r1, %r1, 4; setp.lt.u32 %p2, %r1, 128; @%p2 bra show;\n"

static void check_gather(const char *words, int column, const int rows[ROWS]) {
  async_machine x;
  char body[2048];
  uint32_t in[HEIGHT][WIDTH];
  for (unsigned k = 0; k < HEIGHT * WIDTH; k++) in[k / WIDTH][k % WIDTH] = 1000 + k;
  snprintf(body, sizeof body,
           "%sadd.u32 %%r5, %%r0, "
           "1024;\ncp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx"
           "::bytes%s [%%r5], [%%map, {%d, %d, %d, %d, %d}], [%%r0];\n%s",
           BEGIN, words, column, rows[0], rows[1], rows[2], rows[3], WAIT SHOW);
  async_open(&x, body, HD_CHECK_ALL);
  async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
  async_buffer(&x, &x.args.in, in, sizeof in);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 128);
  describe(&x, 1, HD_TENSOR_SWIZZLE_NONE);
  async_ok(&x, async_launch(&x, 1, NULL));
  for (int k = 0; k < ROWS; k++)
    for (int e = 0; e < 8; e++) {
      const bool inside = rows[k] >= 0 && rows[k] < HEIGHT && column + e >= 0 && column + e < WIDTH;
      assert_int_equal(out[8 * k + e], inside ? in[rows[k]][column + e] : 0);
    }
  async_close(&x);
}

static void rows_are_gathered(void **state) {
  check_gather("", 4, (const int[]){7, 0, 19, 7});
  check_gather("", 28, (const int[]){-1, 3, 20, 2});
  check_gather(".cta_group::1", 8, (const int[]){1, 5, 2, 4});
}

static void rows_are_scattered(void **state) {
  async_machine x;
  const char *body = "mov.u32 %r0, smem;\nmov.u32 %r1, 0;\nfill: add.u32 %r2, %r0, %r1; st.shared.u32 [%r2], "
                     "%r1; add.u32 %r1, %r1, 4; "
                     "setp.lt.u32 %p2, %r1, 128; @%p2 bra fill;\nfence.proxy.async;\n"
                     "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {8, 3, 11, "
                     "40, 0}], [%r0];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
  uint32_t in[HEIGHT][WIDTH];
  memset(in, 0xab, sizeof in);
  async_open(&x, body, HD_CHECK_ALL);
  const uint32_t(*out)[WIDTH] = async_buffer(&x, &x.args.in, in, sizeof in);
  async_buffer(&x, &x.args.out, NULL, 128);
  describe(&x, 1, HD_TENSOR_SWIZZLE_NONE);
  async_ok(&x, async_launch(&x, 1, NULL));
  for (unsigned row = 0; row < HEIGHT; row++)
    for (unsigned e = 0; e < WIDTH; e++) {
      const unsigned k = row == 3 ? 0 : row == 11 ? 1 : row == 0 ? 3 : 9;
      assert_int_equal(out[row][e], k < 9 && e >= 8 && e < 16 ? 32 * k + 4 * (e - 8) : 0xabababab);
    }
  async_close(&x);
}

static void a_box_of_several_rows_is_no_row(void **state) {
  async_machine x;
  async_open(
      &x,
      BEGIN
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r0+1024], "
      "[%map, {0, 0, 1, 2, 3}], [%r0];",
      HD_CHECK_ALL);
  static const uint32_t in[HEIGHT][WIDTH];
  async_buffer(&x, &x.args.in, in, sizeof in);
  async_buffer(&x, &x.args.out, NULL, 128);
  describe(&x, 2, HD_TENSOR_SWIZZLE_NONE);
  assert_int_equal(async_launch(&x, 1, NULL), HD_ERR_FAULT);
  assert_non_null(strstr(x.d.message, "has 2 rows, not 1"));
  async_close(&x);
}

static void a_mask_chooses_bytes(void **state) {
  static const uint16_t masks[] = {0xffff, 0, 1, 0x8000, 0x0ff0, 0x5a3c};
  for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++) {
    async_machine x;
    char body[1024];
    unsigned char old[64];
    snprintf(
        body, sizeof body,
        ".reg .b16 %%h1;\nmov.u32 %%r0, smem;\nmov.u32 %%r1, 0;\nfill: add.u32 %%r2, %%r0, %%r1; add.u32 "
        "%%r3, %%r1, 1;"
        " st.shared.u8 [%%r2], %%r3; add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p2, %%r1, 64; @%%p2 bra fill;\n"
        "fence.proxy.async;\nmov.b16 %%h1, %u;\n"
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%%out], [%%r0], 64, %%h1;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
        masks[m]);
    memset(old, 0xee, sizeof old);
    async_open(&x, body, HD_CHECK_ALL);
    async_buffer(&x, &x.args.in, old, sizeof old);
    const unsigned char *out = async_buffer(&x, &x.args.out, old, sizeof old);
    async_ok(&x, async_launch(&x, 1, NULL));
    for (unsigned k = 0; k < 64; k++) assert_int_equal(out[k], masks[m] >> k % 16 & 1 ? k + 1 : 0xee);
    async_close(&x);
  }
}

static void zeros_fill_shared_memory(void **state) {
  async_machine x;
  uint32_t in[64];
  memset(in, 0x11, sizeof in);
  async_open(&x,
             "mov.u32 %r0, smem;\nmov.u32 %r1, 0;\nfill: add.u32 %r2, %r0, %r1; st.shared.u32 [%r2+1024], 7; "
             "add.u32 %r1, "
             "%r1, 4; setp.lt.u32 %p2, %r1, 128; @%p2 bra fill;\nmov.u64 %d1, 80;\nst.bulk.weak.shared::cta "
             "[%r0+1032], "
             "%d1, 0;\ncvt.u64.u32 %d2, %r0;\ncvta.shared.u64 %d2, %d2;\nst.bulk [%d2+1144], 8, 0;\n" SHOW,
             HD_CHECK_ALL);
  async_buffer(&x, &x.args.in, in, sizeof in);
  const uint32_t *out = async_buffer(&x, &x.args.out, in, 128);
  async_ok(&x, async_launch(&x, 1, NULL));
  for (unsigned k = 0; k < 32; k++) assert_int_equal(out[k], (k >= 2 && k < 22) || k >= 30 ? 0 : 7);
  async_close(&x);
  async_must_fault("mov.u32 %r0, smem;\nmov.u64 %d1, 12;\nst.bulk.weak.shared::cta [%r0], %d1, 0;", 1, 2,
                   "multiples of 8");
  async_must_fault("mov.u32 %r0, smem;\nmov.u64 %d1, 0x100000000;\nst.bulk.weak.shared::cta [%r0], %d1, 0;",
                   1, 2, "");
  async_must_refuse("st.bulk.weak.shared::cta [%r0], %d1, 1", "not with 0");
}

static void stores_need_no_mbarrier(void **state) {
  async_machine x;
  uint32_t old[8] = {5, 6, 7, 8, 9, 10, 11, 12};
  async_open(&x,
             "mov.u64 %d1, 77;\nst.async.mmio.release.sys.global.u32 [%out], "
             "41;\nst.async.mmio.release.gpu.u64 [%out+8], "
             "%d1;\nred.async.mmio.release.sys.global.add.u32 [%out+16], "
             "3;\nred.async.mmio.release.gpu.global.and.b32 "
             "[%out+20], 2;\nred.async.mmio.release.gpu.global.inc.u32 [%out+24], 100;",
             HD_CHECK_ALL);
  async_buffer(&x, &x.args.in, old, sizeof old);
  const uint32_t *out = async_buffer(&x, &x.args.out, old, sizeof old);
  async_ok(&x, async_launch(&x, 1, NULL));
  static const uint32_t want[8] = {41, 6, 77, 0, 12, 2, 12, 12};
  assert_memory_equal(out, want, sizeof want);
  async_close(&x);
  async_must_refuse("st.async.mmio.release.gpu.global.v2.f32 [%d1], {%f1, %f2}", "no such form");
  async_must_refuse("red.async.mmio.release.gpu.global.add.f32 [%d1], %f1", "no such form");
  async_must_refuse("red.async.mmio.release.gpu.global.min.s64 [%d1], %d2", "no such form");
}

static void words_that_do_not_belong_are_refused(void **state) {
  async_must_refuse("cp.async.bulk.global.shared::cta.bulk_group.cta_group::1 [%d1], [%r1], 16",
                    "no such form");
  async_must_refuse(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%d1, "
      "{%r2, %r3, %r4, %r5, %r6}], [%r7]",
      "no such form");
  async_must_refuse(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::scatter4.mbarrier::complete_tx::bytes [%r1], [%d1, "
      "{%r2, %r3, %r4, %r5, %r6}], [%r7]",
      "no such form");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("rows are gathered", rows_are_gathered),
      BEHAVIOUR("rows are scattered", rows_are_scattered),
      BEHAVIOUR("a box of several rows is no row", a_box_of_several_rows_is_no_row),
      BEHAVIOUR("a mask chooses bytes", a_mask_chooses_bytes),
      BEHAVIOUR("zeros fill shared memory", zeros_fill_shared_memory),
      BEHAVIOUR("stores and reductions need no mbarrier", stores_need_no_mbarrier),
      BEHAVIOUR("words that do not belong are refused", words_that_do_not_belong_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
