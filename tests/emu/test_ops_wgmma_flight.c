/* Warpgroup products in flight: registers and memory that a wait protects, mistakes, and forms that do not
 * exist. */
#include "emu/wgmma_run.h"

/* ---- In flight ------------------------------------------------------------------------------------ */

#define MMA(d, a) "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" d "}, " a ", %x3, 1, 1, 1"
#define D0 "%d0,%d1,%d2,%d3"
#define D4 "%d4,%d5,%d6,%d7"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " n ";\n"

/* m64n8k16 with everything 1: sums go up by 16. out: D of the first thread, four or eight registers. */
static hd_status run_body(const char *body, unsigned threads, uint32_t *result, hd_diag *d) {
  static inputs in;
  static uint32_t out[2 * THREADS][128];
  const layout l = tight(false, 128, 64, 0);
  hd_buf text = {0};
  memset(&in, 0, sizeof in);
  for (unsigned k = 0; k < SHARED / 2; k++) ((uint16_t *)in.image)[k] = 0x3c00;
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned k = 0; k < 4; k++) in.a[t][k] = 0x3c003c00;
  kernel_begin(&text, 8);
  hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx;\n%s", (unsigned long long)descriptor(&l),
                (unsigned long long)descriptor(&l), body);
  kernel_end(&text, 8);
  const hd_status st = run_text(&text, threads, &in, out, HD_ISA_AUTO, d);
  memcpy(result, out[0], 8 * sizeof *result);
  hd_buf_free(&text);
  return st;
}

static void results_cannot_be_had_before_the_wait(void **state) {
  static const struct {
    const char *body;
    uint32_t first, second; /* registers 0 and 4 */
  } cases[] = {
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0"), 0x41800000, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT, UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" WAIT("0"), UINT32_MAX, 0}, /* not committed */
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D4, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), 0x41800000,
       UINT32_MAX},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0"), 0x42000000, 0},
      {FENCE MMA(D0, "{%a0,%a1,%a2,%a3}") ", 0;\n" COMMIT WAIT("0") "mov.b32 %a1, 5;\n", 0x41800000, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0") "bar.sync 0; st.shared.b32 [%t1], 5;\n", 0x41800000,
       0},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    hd_diag d = {0};
    uint32_t out[8];
    op_ok(run_body(cases[c].body, THREADS, out, &d), &d);
    assert_int_equal(out[0], cases[c].first);
    assert_int_equal(out[4], cases[c].second);
  }
}

static void many_products_in_flight(void **state) {
  hd_diag d = {0};
  uint32_t out[8];
  op_ok(run_body(
            FENCE "mov.u32 %t2, 0;\nmore:\n" MMA(
                D0, "%x2") ", 0, 0;\n"
                           "add.u32 %t2, %t2, 1; setp.lt.u32 %p, %t2, 1500; @%p bra more;\n" COMMIT WAIT("0"),
            THREADS, out, &d),
        &d);
  assert_int_equal(out[0], encode_float(16 * 1500, 8, 23));
}

static void mistakes_are_faults(void **state) {
  static const struct {
    const char *body, *message;
    unsigned threads;
  } cases[] = {
      {MMA(D0, "%x2") ", 0, 0;\n", "no wgmma.fence", THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT "mov.b32 %d1, 0;\n" WAIT("0"), "were written before this wait",
       THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT "bar.sync 0; st.shared.b32 [%t1], %t0;\n" WAIT("0"),
       "shared memory that the product of line", THREADS},
      {FENCE MMA(D0, "{%a0,%a1,%a2,%a3}") ", 0;\n" COMMIT "mov.b32 %a1, %t0;\n" WAIT("0"), "registers of A",
       THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" MMA("%d2,%d3,%d4,%d5", "%x2") ", 0, 0;\n",
       "belong to another product", THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n", "in no whole warpgroup", 96},
      {"setp.gt.u32 %p, %t0, 40; @%p bra skip;\n" FENCE "skip:\n", "not all threads of the warp", THREADS},
      {"cvt.u64.u32 %x3, %t0;\n" FENCE MMA(D0, "%x2") ", 0, 0;\n", "matrix descriptors differ", THREADS},
      {"mov.b64 %x3, 0x4000004000003fff;\n" FENCE MMA(D0, "%x2") ", 0, 0;\n", "out of bounds", THREADS},
      {"setp.gt.u32 %p, %t0, 4;\n" FENCE "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0
       "}, %x2, %x3, %p, 1, 1, 0, 0;\n",
       "predicates differ", THREADS},
      {"setp.gt.u32 %p, %t0, 95; @%p bra skip;\n" FENCE MMA(D0, "%x2") ", 0, 0;\nskip:\n",
       "did not issue the same products", THREADS},
      {"setp.gt.u32 %p, %t0, 63; @!%p bra skip;\nadd.u64 %x3, %x3, 2;\nskip:\n" FENCE MMA(D0,
                                                                                          "%x2") ", 0, 0;\n",
       "did not issue the same products", THREADS},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    hd_diag d = {0};
    uint32_t out[8];
    if (run_body(cases[c].body, cases[c].threads, out, &d) != HD_ERR_FAULT) fail_msg("case %u: no fault", c);
    if (!strstr(d.message, cases[c].message)) fail_msg("case %u: %s", c, d.message);
  }
}

/* The registers are gone with the function; the wait still checks the product's operands. */
static void a_function_may_return_with_products_in_flight(void **state) {
  for (unsigned wait = 0; wait < 3; wait++) {
    static const char *const ends[] = {"", "wgmma.wait_group.sync.aligned 0;",
                                       "st.shared.b32 [%w1], %w0; wgmma.wait_group.sync.aligned 0;"};
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    hd_buf_printf(
        &text,
        ".version 8.8\n.target sm_90a\n.address_size 64\n"
        ".extern .shared .align 1024 .b8 tile[];\n"
        ".func product()\n{\n.reg .b32 %%d<4>; .reg .b64 %%x<2>; mov.b64 %%x0, 0x4000004000010000;\n"
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
        "{%%d0,%%d1,%%d2,%%d3}, %%x0, %%x0, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; ret;\n}\n"
        ".visible .entry k()\n{\n.reg .b32 %%w<2>; mov.u32 %%w0, %%tid.x; mov.u32 %%w1, tile;\n"
        "call product; call product; bar.sync 0;\n%s\nret;\n}\n",
        ends[wait]);
    op_load(&x, &text, HD_ISA_AUTO);
    const hd_emu_launch_params l = {
        .kernel = "k", .grid = {3, 1, 1}, .block = {THREADS, 1, 1}, .dynamic_shared = SHARED};
    const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &d);
    assert_int_equal(st, wait == 2 ? HD_ERR_FAULT : HD_OK);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void forms_that_do_not_exist_are_refused(void **state) {
  static const char *const statements[] = {
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%d0,%d1}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d2}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,7}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 2, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 0, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 2, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, -1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, %a0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, {%a0,%a1,%a2}, %x3, 1, 1, 1, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, {%a0,%a1,%a2,%a3}, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %a0, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, {%a0,%a1,%a2,%a3}, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {" D0 "}, %x2, %x3, 1, 1, 1",
      "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {" D0 "," D4 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.e4m3 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {" D0 "}, %x2, %x3, %a0, 0, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
      "wgmma.wait_group.sync.aligned 8",
      "wgmma.wait_group.sync.aligned -1",
      "wgmma.wait_group.sync.aligned %a0",
      "wgmma.wait_group.sync.aligned",
      "wgmma.commit_group.sync.aligned 0",
      "wgmma.fence.aligned",
      "wgmma.sync.aligned",
  };
  for (unsigned k = 0; k < sizeof statements / sizeof statements[0]; k++) {
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    kernel_begin(&text, 8);
    hd_buf_printf(&text, "%s;\n", statements[k]);
    kernel_end(&text, 8);
    op_load(&x, &text, HD_ISA_AUTO);
    if (hd_emu_supported(x.p, "k", &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", statements[k]);
    if (!strstr(d.message, "wgmma"))
      fail_msg("%s: the refusal does not name it: %s", statements[k], d.message);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("results cannot be had before the wait", results_cannot_be_had_before_the_wait),
      BEHAVIOUR("many products in flight", many_products_in_flight),
      BEHAVIOUR("mistakes are faults", mistakes_are_faults),
      BEHAVIOUR("a function may return with products in flight",
                a_function_may_return_with_products_in_flight),
      BEHAVIOUR("forms that do not exist are refused", forms_that_do_not_exist_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
