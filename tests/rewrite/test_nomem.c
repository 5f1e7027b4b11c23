/* Memory that runs out in rewrite/. */
#include "nomem.h"

#include "heddle/rewrite.h"

static const char *const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n"
    ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .f32 "
    "%f<9>;\n"
    ".reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmad.lo.u32 %r4, %r2, 32, %r1;\nmul.wide.u32 %rd3, %r4, "
    "4;\n"
    "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nmov.u32 %r5, 0;\nL:\nld.global.f32 %f1, [%rd4];\n"
    "ld.global.f32 %f2, [%rd4+128];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\nadd.u32 %r5, %r5, "
    "1;\n"
    "setp.lt.u32 %p1, %r5, 4;\n@%p1 bra L;\nret;\n}\n";

/* The same for an architecture whose CTAs can take others over. */
static hd_buf newer_text(void) {
  hd_buf b = {0};
  hd_buf_printf(&b, ".version 8.6\n.target sm_100\n%s", strstr(text, ".address_size"));
  assert_false(b.failed);
  return b;
}

/* Warps that end attend the barriers of the others. */
static const char *const parting =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n"
    ".reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.b32 %r3, -1;\n"
    "setp.ge.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 0;\nbar.warp.sync %r3;\nret;\n}\n";

typedef struct subject {
  const char *text;
  hd_plan plan;
} subject;

static hd_status rewrite(void *ctx, hd_diag *d) {
  const subject *s = ctx;
  const hd_apply_kernel k = {
      .name = "k",
      .plan = &s->plan,
      .options = {.grid = {.known = true, .g = {12, 10, 1}, .n_sms = 4}, .block = {64, 1, 1}}};
  hd_rewritten own;
  hd_status st = hd_apply_text(s->text, strlen(s->text), "test", &k, 1, HD_TEXT_CANONICAL, &own, d);
  if (st == HD_OK) hd_rewritten_free(&own);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const char *const plans[] = {"order=band:3",
                                      "order=hilbert",
                                      "bind=redirect",
                                      "bind=claim,split=wave:4",
                                      "order=col,bind=agents",
                                      "bind=agents:2,take=segments",
                                      "order=col,bind=agents,split=cols,take=strides",
                                      "order=col,bind=agents:auto",
                                      "threads=col",
                                      "bypass=l1:1",
                                      "bypass=l1:0,form=replicate",
                                      "bypass=auto",
                                      "stream=l1",
                                      "prefetch=l2:1",
                                      "order=tile:3x2,bind=agents,prefetch=l1:1"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    subject s = {.text = text};
    hd_diag d = {0};
    if (hd_plan_parse(plans[i], &s.plan, &d) != HD_OK) fail_msg("%s", d.message);
    nomem_expect(&(nomem_entry){plans[i], rewrite, &s, false});
    if (s.plan.bind == HD_BIND_AGENTS && !s.plan.prefetch.kind) {
      s.text = parting;
      nomem_expect(&(nomem_entry){plans[i], rewrite, &s, false});
    }
  }
}

static void that_of_plans_for_newer_architectures_too(void **state) {
  static const char *const plans[] = {"bind=cancel", "order=tile:3x2,bind=cancel"};
  hd_buf newer = newer_text();
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    subject s = {.text = newer.data};
    hd_diag d = {0};
    if (hd_plan_parse(plans[i], &s.plan, &d) != HD_OK) fail_msg("%s", d.message);
    nomem_expect(&(nomem_entry){plans[i], rewrite, &s, false});
  }
  hd_buf_free(&newer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said),
      BEHAVIOUR("that of plans for newer architectures, too", that_of_plans_for_newer_architectures_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
