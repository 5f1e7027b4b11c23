/* Plans and the targets of kernels: what a plan's kernel is written with is there on the GPU, or the plan is
 * not for it. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/ptx_valid.h"
#include "heddle/rewrite.h"

static const char body[] =
    ".address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 turns) {\n"
    " .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1;\n"
    " ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2; ld.param.u32 %r1, [turns];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %nctaid.x;\n"
    " mad.lo.u32 %r2, %r6, %r7, %r2; mad.lo.u32 %r4, %r2, 128, %r3;\n"
    " mul.wide.u32 %rd3, %r4, 4; add.u64 %rd2, %rd2, %rd3; mov.f32 %f1, 0f00000000;\n"
    "turn:\n and.b32 %r5, %r4, 65535; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.u32 %r4, %r4, 128;\n"
    " sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra turn;\n st.global.f32 [%rd2], %f1;\n ret;\n}\n";

static const struct target {
  unsigned arch;
  const char *head;
} targets[] = {
    {20, ".version 6.0\n.target sm_20\n"}, {30, ".version 6.0\n.target sm_30\n"},
    {32, ".version 6.0\n.target sm_32\n"}, {35, ".version 6.0\n.target sm_35\n"},
    {50, ".version 7.0\n.target sm_50\n"}, {60, ".version 7.0\n.target sm_60\n"},
    {75, ".version 7.4\n.target sm_75\n"}, {80, ".version 7.4\n.target sm_80\n"},
    {90, ".version 8.0\n.target sm_90\n"}, {100, ".version 8.6\n.target sm_100\n"},
};

/* At least one of each lever that a kernel's text shows. A plan that claims tasks is for Fermi's models, too,
 * as the papers had it there; its kernels are not written for Fermi. */
static const char *const plans[] = {
    "order=col",
    "order=tile:4x4",
    "order=hilbert",
    "bind=redirect",
    "bind=claim",
    "bind=claim,split=wave:2",
    "bind=agents",
    "bind=agents:2,split=rows",
    "bind=agents,take=segments:4",
    "bind=agents,take=strides",
    "bind=cancel",
    "threads=cta:col",
    "bypass=l1:0",
    "bypass=l1:2",
    "bypass=l2:0",
    "prefetch=l1:2",
    "prefetch=l2:2",
};

static hd_status rewrite(const struct target *t, const hd_plan *p, hd_buf *out, hd_diag *d) {
  char text[sizeof body + 64];
  hd_arena arena;
  hd_ptx_module *m;
  hd_recipe recipe = {0};
  const hd_rewrite_options o = {.grid = {.known = true, .g = {16, 16, 1}, .n_sms = 8}, .block = {128, 1, 1}};
  snprintf(text, sizeof text, "%s%s", t->head, body);
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse_valid(text, strlen(text), "kernel", &arena, &m, d);
  if (st != HD_OK) fail_msg("%s: %s", t->head, d->message);
  st = hd_rewrite(m, 0, p, &o, &recipe, d);
  if (st == HD_OK) st = hd_ptx_print(m, out);
  hd_arena_free(&arena);
  return st;
}

static void plans_are_for_the_gpus_whose_instructions_they_are_written_with(void **state) {
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    unsigned taken = 0;
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
      const struct target *t = &targets[k];
      hd_plan p;
      hd_diag d = {0}, e = {0};
      hd_buf text = {0};
      hd_arena arena;
      hd_ptx_module *m;
      assert_int_equal(hd_plan_parse(plans[i], &p, &d), HD_OK);
      const bool offered = hd_plan_check_arch(&p, "gpu", t->arch, &e) == HD_OK;
      const hd_status st = rewrite(t, &p, &text, &d);
      hd_arena_init(&arena);
      const bool as_papers = hd_bind_claims(p.bind) && t->arch < 30 && st == HD_ERR_UNSUPPORTED;
      if (as_papers) assert_non_null(strstr(d.message, "needs sm_30"));
      if (offered && st != HD_OK && !as_papers) fail_msg("%s for sm_%u: %s", plans[i], t->arch, d.message);
      if (st == HD_OK && !offered) {
        if (hd_ptx_parse_valid(text.data, text.len, "rewritten", &arena, &m, &d) == HD_OK)
          fail_msg("%s is not offered for sm_%u, which has it", plans[i], t->arch);
      } else if (st == HD_OK) {
        if (hd_ptx_parse_valid(text.data, text.len, "rewritten", &arena, &m, &d) != HD_OK)
          fail_msg("%s for sm_%u: %s\n%s", plans[i], t->arch, d.message, text.data);
        taken++;
      }
      hd_arena_free(&arena);
      hd_buf_free(&text);
    }
    assert_true(taken > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("plans are for the GPUs whose instructions they are written with",
                plans_are_for_the_gpus_whose_instructions_they_are_written_with),
  };
  return cmocka_run_group_tests_name("rewrite.targets", tests, NULL, NULL);
}
