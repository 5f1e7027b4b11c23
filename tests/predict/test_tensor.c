/* A workload whose kernel is given tensor maps: checked against its reference and under plans. */
#include "check.h"

#include "heddle/predict.h"
#include "workload/scratch.h"

/* Boxes of 16 x 32 from a part of x to all of y, whose edges they do not meet. */
static const char workload[] =
    "title = \"Boxes\"\nsource = \"kernel.ptx\"\nreference = \"reference.c\"\n"
    "[sizes.small]\nm = 70\nn = 100\n"
    "[[buffer]]\nname = \"x\"\ntype = \"f32\"\ncount = \"2 * m * n + 8\"\nfill = \"uniform(-1, 1)\"\n"
    "[[buffer]]\nname = \"y\"\ntype = \"f32\"\ncount = \"m * n\"\ncompare = \"exact\"\n"
    "[[launch]]\nkernel = \"boxes\"\ngrid = [\"ceil_div(n, 32)\", \"ceil_div(m, 16)\"]\nblock = [32]\n"
    "args = [{ tensormap = \"x\", shape = [\"m\", \"n\"], strides = [\"2 * n\"], offset = 8, box = [16, 32], "
    "swizzle = \"128B\" }, { tensormap = \"y\", shape = [\"m\", \"n\"], box = [16, 32], swizzle = \"128B\" "
    "}]\n";

static const char kernel[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry boxes(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128])\n{\n"
    ".shared .align 1024 .b8 box[2048];\n.shared .align 8 .b64 bar;\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
    "mov.b64 %d1, x;\nmov.b64 %d2, y;\ncvta.param.u64 %d1, %d1;\ncvta.param.u64 %d2, %d2;\n"
    "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra end;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nshl.b32 %r2, %r2, 5;\nshl.b32 %r3, %r3, 4;\n"
    "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [box], [%d1, {%r2, %r3}], "
    "[bar];\n"
    "wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {%r2, %r3}], [box];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend: ret;\n}\n";

static const char reference[] =
    "#include \"heddle_reference.h\"\n"
    "void heddle_reference(const heddle_args *args) {\n"
    "  const float *x = heddle_f32(args, \"x\");\n  float *y = heddle_f32(args, \"y\");\n"
    "  int64_t m = heddle_size_of(args, \"m\"), n = heddle_size_of(args, \"n\");\n"
    "  for (int64_t i = 0; i < m; i++)\n"
    "    for (int64_t j = 0; j < n; j++) y[i * n + j] = x[8 + i * 2 * n + j];\n}\n";

static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch_write("boxes/workload.toml", workload);
  scratch_write("boxes/kernel.ptx", kernel);
  scratch_write("boxes/reference.c", reference);
  return 0;
}

static void maps_hold_what_the_file_says(void **state) {
  static const char *const plans[] = {"baseline", "order=col", "order=hilbert", "order=reverse"};
  hd_workload *w;
  hd_diag d = {0};
  if (hd_workload_open(scratch_path("boxes"), NULL, NULL, &w, &d) != HD_OK) fail_msg("%s", d.message);
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    hd_plan p;
    hd_check_result r;
    assert_int_equal(hd_plan_parse(plans[k], &p, &d), HD_OK);
    if (hd_check(w, &p, NULL, &r, &d) != HD_OK) fail_msg("%s: %s", plans[k], d.message);
    if (!r.equal) fail_msg("%s: %s", plans[k], r.what);
    assert_true(r.against_reference);
    assert_true(r.race_free);
  }
  hd_workload_close(w);
}

/* A kernel that takes an address where the workload gives a map. */
static void a_map_must_fit_the_parameter(void **state) {
  char text[sizeof kernel];
  hd_workload *w;
  hd_diag d = {0};
  hd_check_result r;
  hd_plan p;
  memcpy(text, kernel, sizeof text);
  memcpy(strstr(text, "y[128]"), "y[8]  ", 6);
  scratch_write("narrow/workload.toml", workload);
  scratch_write("narrow/kernel.ptx", text);
  scratch_write("narrow/reference.c", reference);
  assert_int_equal(hd_workload_open(scratch_path("narrow"), NULL, NULL, &w, &d), HD_OK);
  assert_int_equal(hd_plan_parse("baseline", &p, &d), HD_OK);
  assert_int_equal(hd_check(w, &p, NULL, &r, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "argument 2 of kernel 'boxes' is 8 bytes wide, the workload gives 128"));
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("tensor maps hold what the file says, under plans too", maps_hold_what_the_file_says),
      BEHAVIOUR("a tensor map must fit its parameter", a_map_must_fit_the_parameter),
  };
  return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
