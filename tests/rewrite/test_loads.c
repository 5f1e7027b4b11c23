/* bypass= and stream=: the spelling of loads for each target, the loads that are kept, and refusals. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/rewrite.h"

#define REGISTERS                                                                                            \
  ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"            \
  "ld.param.u64 %rd1, [p];\n"

typedef struct result {
  hd_status status;
  char text[8192], why[768];
} result;

static const char *functions = ""; /* that stand in front of it */

/* Rewrite a kernel with this body, for CTAs of `threads` (0: any), of whose loads the first `n_unwritten`
 * read memory that no thread writes. */
static result rewrite_promised(const char *version, const char *target, const char *body, const char *plan,
                               uint32_t threads, uint32_t n_unwritten) {
  static char text[4096];
  result r = {0};
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_diag d = {0};
  hd_buf out = {0};
  snprintf(
      text, sizeof text,
      ".version %s\n.target %s\n.address_size 64\n%s.visible .entry k(.param .u64 p)\n{\n%s%s\nret;\n}\n",
      version, target, functions, REGISTERS, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  if (hd_plan_parse(plan, &p, &d) != HD_OK) fail_msg("%s", d.message);
  hd_rewrite_options o = {.grid = {.n_sms = 4},
                          .block = {threads, threads > 0, threads > 0},
                          .unwritten = (const uint32_t[]){0},
                          .n_unwritten = n_unwritten};
  r.status = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
  if (r.status != HD_OK)
    snprintf(r.why, sizeof r.why, "%s", d.message);
  else if (hd_ptx_print(m, &out) == HD_OK)
    snprintf(r.text, sizeof r.text, "%s", out.data);
  hd_buf_free(&out);
  hd_arena_free(&arena);
  return r;
}

static result rewrite(const char *version, const char *target, const char *body, const char *plan,
                      uint32_t threads) {
  return rewrite_promised(version, target, body, plan, threads, 0);
}

typedef struct spelling {
  const char *version, *target, *plan, *load, *becomes;
} spelling;

static void a_load_is_spelt_as_its_target_honours(void **state) {
  static const spelling cases[] = {
      {"2.0", "sm_20", "bypass=l1:0", "ld.global.u32 %r1, [%rd1];", "ld.global.cg.u32 %r1, [%rd1];"},
      {"2.0", "sm_20", "bypass=l1:0", "ld.global.ca.u32 %r1, [%rd1];", "ld.global.cg.u32 %r1, [%rd1];"},
      {"2.0", "sm_20", "bypass=l1:0+l2:2", "ld.global.u32 %r1, [%rd1];", "ld.global.cg.u32 %r1, [%rd1];"},
      {"2.0", "sm_20", "bypass=l1:1+l2:0", "ld.global.u32 %r1, [%rd1];", "ld.global.cs.u32 %r1, [%rd1];"},
      {"8.0", "sm_80", "bypass=l1:0+l2:2", "ld.global.u32 %r1, [%rd1];",
       "ld.global.L1::no_allocate.u32 %r1, [%rd1];"},
      {"2.0", "sm_20", "bypass=l2:0", "ld.global.v2.u32 {%r1, %r2}, [%rd1+8];",
       "ld.global.cs.v2.u32 {%r1, %r2}, [%rd1+8];"},
      {"4.1", "sm_52", "bypass=l1:0", "ld.global.nc.f32 %f1, [%rd1];", "ld.global.cg.f32 %f1, [%rd1];"},
      {"4.1", "sm_35", "bypass=ro:0", "ld.global.nc.f32 %f1, [%rd1];", "ld.global.cg.f32 %f1, [%rd1];"},
      {"6.3", "sm_75", "stream=l1", "ld.global.u32 %r1, [%rd1];", "ld.global.cg.u32 %r1, [%rd1];"},
      {"7.4", "sm_75", "stream=l1", "ld.global.u32 %r1, [%rd1];",
       "ld.global.L1::no_allocate.u32 %r1, [%rd1];"},
      {"7.4", "sm_75", "bypass=l2:0", "ld.global.u32 %r1, [%rd1];", "ld.global.cs.u32 %r1, [%rd1];"},
      {"8.0", "sm_90", "bypass=ro:0", "ld.global.nc.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
       "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"},
      {"8.0", "sm_90a", "bypass=l1:0", "ld.weak.global.L1::evict_normal.L2::64B.u8 %rs1, [%rd1];",
       "ld.weak.global.L1::no_allocate.L2::64B.u8 %rs1, [%rd1];"},
      {"8.0", "sm_80", "bypass=l2:0", "ld.global.nc.L2::128B.u32 %r1, [%rd1];",
       "ld.global.nc.L2::cache_hint.L2::128B.u32 %r1, [%rd1], %heddleb_policy;"},
      {"8.0", "sm_80", "bypass=l1:0", "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;",
       "ld.global.L1::no_allocate.L2::cache_hint.u32 %r1, [%rd1], %rd2;"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const spelling *c = &cases[i];
    result r = rewrite(c->version, c->target, c->load, c->plan, 64);
    if (r.status != HD_OK) fail_msg("%s, %s: %s", c->plan, c->load, r.why);
    if (!strstr(r.text, c->becomes)) fail_msg("%s of %s is not in\n%s", c->becomes, c->load, r.text);
    if (strstr(r.text, "%heddleb_near"))
      fail_msg("%s: nothing to decide, yet decided in\n%s", c->plan, r.text);
  }
}

/* Loads that stay; with another one beside them the kernel is not refused. */
static void a_load_that_cannot_be_changed_stays_and_alone_is_refused(void **state) {
  static const struct {
    const char *plan, *load;
  } cases[] = {
      {"bypass=l1:1", "ld.volatile.global.u32 %r1, [%rd1];"},
      {"bypass=l1:1", "ld.relaxed.gpu.global.u32 %r1, [%rd1];"},
      {"bypass=l2:1", "ld.acquire.sys.global.u32 %r1, [%rd1];"},
      {"bypass=l1:1", "ld.u32 %r1, [%rd1];"},
      {"bypass=l1:1", "ld.global.cg.u32 %r1, [%rd1];"},
      {"bypass=l2:1", "ld.global.L1::evict_last.u32 %r1, [%rd1];"},
      {"bypass=l2:1", "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;"},
      {"bypass=ro:1", "ld.global.u32 %r1, [%rd1];"},
      {"bypass=l1:1", "ldu.global.u32 %r1, [%rd1];"},
      {"stream=0", "ld.volatile.global.u32 %r1, [%rd1];"},
      {"stream=l1", "ld.global.cv.u32 %r1, [%rd1];"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    result r = rewrite("8.0", "sm_80", cases[i].load, cases[i].plan, 64);
    if (r.status != HD_ERR_REFUSED) fail_msg("%s, %s: %d", cases[i].plan, cases[i].load, r.status);
    if (!strstr(r.why, cases[i].load) || !strstr(r.why, "line "))
      fail_msg("does not name the load: %s", r.why);
    if (strcmp(cases[i].plan, "stream=0") == 0) continue;
    char body[256];
    snprintf(body, sizeof body, "%s\nld.global.nc.u32 %%r3, [%%rd1];", cases[i].load);
    r = rewrite("8.0", "sm_80", body, cases[i].plan, 64);
    if (r.status != HD_OK) fail_msg("%s, %s: %s", cases[i].plan, body, r.why);
    if (!strstr(r.text, cases[i].load))
      fail_msg("%s: %s is gone from\n%s", cases[i].plan, cases[i].load, r.text);
  }
}

static void warps_may_go_around_l1_and_l2_from_different_thresholds(void **state) {
  result r = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "bypass=l1:1+l2:2,form=predicate", 128);
  assert_int_equal(r.status, HD_OK);
  /* A load with the warp's policy, once near and once around L1. */
  assert_non_null(strstr(r.text, " ld.global.L2::cache_hint.u32 %r1, [%rd1], %"));
  assert_non_null(strstr(r.text, " ld.global.L1::no_allocate.L2::cache_hint.u32 %r1, [%rd1], %"));
  r = rewrite("2.0", "sm_20", "ld.global.u32 %r1, [%rd1];", "bypass=l1:1+l2:2,form=predicate", 128);
  assert_int_equal(r.status, HD_OK);
  assert_non_null(strstr(r.text, " ld.global.u32 %r1, [%rd1];"));
  assert_non_null(strstr(r.text, " ld.global.cg.u32 %r1, [%rd1];"));
  assert_non_null(strstr(r.text, " ld.global.cs.u32 %r1, [%rd1];"));
}

/* Without the caller's word no load becomes non-coherent. */
static void loads_of_unwritten_memory_use_the_read_only_cache(void **state) {
  static const struct {
    const char *version, *target, *plan, *load, *near, *far; /* far NULL: none */
  } cases[] = {
      {"8.0", "sm_80", "bypass=ro:1", "ld.global.u32 %r1, [%rd1];",
       "@%heddleb_near ld.global.nc.u32 %r1, [%rd1];",
       "@!%heddleb_near ld.global.nc.L1::no_allocate.u32 %r1, [%rd1];"},
      {"8.0", "sm_80", "bypass=ro:1,form=replicate", "ld.weak.global.ca.L2::64B.u32 %r1, [%rd1];",
       "\tld.global.nc.L2::64B.u32 %r1, [%rd1];", "\tld.global.nc.L1::no_allocate.L2::64B.u32 %r1, [%rd1];"},
      {"4.1", "sm_35", "bypass=ro:1", "ld.global.v2.f32 {%f1, %f2}, [%rd1];",
       "@%heddleb_near ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];",
       "@!%heddleb_near ld.global.cg.v2.f32 {%f1, %f2}, [%rd1];"},
      {"8.0", "sm_52", "bypass=ro:32", "ld.global.u32 %r1, [%rd1];", "\tld.global.nc.u32 %r1, [%rd1];", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    result r = rewrite_promised(cases[i].version, cases[i].target, cases[i].load, cases[i].plan, 64, 1);
    if (r.status != HD_OK) fail_msg("%s, %s: %s", cases[i].plan, cases[i].load, r.why);
    if (!strstr(r.text, cases[i].near)) fail_msg("%s is not in\n%s", cases[i].near, r.text);
    if (cases[i].far && !strstr(r.text, cases[i].far)) fail_msg("%s is not in\n%s", cases[i].far, r.text);
    r = rewrite(cases[i].version, cases[i].target, cases[i].load, cases[i].plan, 64);
    assert_int_equal(r.status, HD_ERR_REFUSED);
    assert_non_null(strstr(r.why, "read-only cache"));
  }
  result r = rewrite_promised("4.1", "sm_30", "ld.global.u32 %r1, [%rd1];", "bypass=ro:1", 64, 1);
  assert_int_equal(r.status, HD_ERR_REFUSED);
  r = rewrite_promised("8.0", "sm_80", "ld.volatile.global.u32 %r1, [%rd1];", "bypass=ro:1", 64, 1);
  assert_int_equal(r.status, HD_ERR_REFUSED);
}

static void loads_of_other_spaces_are_not_counted(void **state) {
  result r = rewrite("8.0", "sm_80",
                     "ld.local.u32 %r1, [%rd1];\nld.const.u32 %r2, [%rd1];\nld.shared.u32 %r3, [%rd1];",
                     "bypass=l1:1", 64);
  assert_int_equal(r.status, HD_ERR_REFUSED);
  assert_non_null(strstr(r.why, "no ld of the kernel reads global memory"));
  r = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "stream=1", 64);
  assert_int_equal(r.status, HD_ERR_USAGE);
  assert_non_null(strstr(r.why, "there is no 1"));
}

static void streams_are_found_by_who_has_a_trace(void **state) {
  result r = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "stream=auto", 64);
  assert_int_equal(r.status, HD_ERR_USAGE);
  assert_non_null(strstr(r.why, "stream=auto"));
}

static void thresholds_at_the_ends_cost_nothing(void **state) {
  result none = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "bypass=l1:2", 64);
  assert_int_equal(none.status, HD_OK);
  assert_null(strstr(none.text, "heddle"));
  result big = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "bypass=l1:4000000000", 0);
  assert_int_equal(big.status, HD_OK);
  assert_null(strstr(big.text, "heddle"));
  /* A last warp that is not full counts. */
  result part = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "bypass=l1:2", 65);
  assert_non_null(strstr(part.text, "heddle"));
}

/* One load and no second one beside it: which policy a warp has is decided once. */
static void a_policy_takes_no_second_load(void **state) {
  result r = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];\n@%p1 ld.global.u32 %r1, [%rd1];",
                     "bypass=l2:1", 64);
  assert_int_equal(r.status, HD_OK);
  assert_non_null(strstr(r.text, "\tld.global.L2::cache_hint.u32 %r1, [%rd1], %heddleb_policy;\n"
                                 "\t@%p1 ld.global.L2::cache_hint.u32 %r1, [%rd1], %heddleb_policy;\n"));
  assert_null(strstr(r.text, "ld.global.u32"));
  assert_non_null(strstr(r.text, "@%heddleb_far createpolicy.fractional.L2::evict_first.b64"));
}

static void voting_is_left_to_who_can_measure(void **state) {
  result r = rewrite("8.0", "sm_80", "ld.global.u32 %r1, [%rd1];", "bypass=auto", 64);
  assert_int_equal(r.status, HD_ERR_USAGE);
  assert_non_null(strstr(r.why, "bypass=auto"));
}

/* `n` loads, then `more`. */
static result bypass_many(unsigned n, const char *more, const char *plan) {
  char body[2048];
  size_t at = 0;
  for (unsigned i = 0; i < n; i++)
    at += (size_t)snprintf(body + at, sizeof body - at, "ld.global.u32 %%r%u, [%%rd1+%u];\n", i % 8, 128 * i);
  snprintf(body + at, sizeof body - at, "%s", more);
  result r = rewrite("8.0", "sm_80", body, plan, 64);
  if (r.status != HD_OK) fail_msg("%s: %s", plan, r.why);
  return r;
}

static bool is_twice(const result *r) { return strstr(r->text, "$heddleb_far:") != NULL; }

static void many_loads_are_bypassed_in_a_body_of_their_own(void **state) {
  static const char inner[] = "{\n.local .b32 spill[4];\nst.local.u32 [spill], %r1;\n}";
  for (unsigned n = 1; n < 20; n++) {
    result r = bypass_many(n, "", "bypass=l1:1");
    assert_int_equal(is_twice(&r), n >= 8);
    assert_int_equal(strstr(r.text, "@!%heddleb_near ld.") != NULL, n < 8);
    r = bypass_many(n, "", "bypass=l1:1,form=predicate");
    assert_false(is_twice(&r));
    r = bypass_many(n, "", "bypass=l1:1,form=replicate");
    assert_true(is_twice(&r));
    r = bypass_many(n, "", "bypass=l2:1"); /* a policy */
    assert_false(is_twice(&r));
    r = bypass_many(n, inner, "bypass=l1:1");
    assert_false(is_twice(&r));
    r = bypass_many(n, "", "bypass=l1:1,stream=0"); /* one load less that has two ways */
    assert_int_equal(is_twice(&r), n >= 9);
  }
}

static void memory_declared_in_an_inner_scope_is_not_doubled(void **state) {
  const char *body = "ld.global.u32 %r1, [%rd1];\n{\n.local .b32 spill[4];\nst.local.u32 [spill], %r1;\n}";
  result r = rewrite("8.0", "sm_80", body, "bypass=l1:1,form=replicate", 64);
  assert_int_equal(r.status, HD_ERR_REFUSED);
  assert_non_null(strstr(r.why, "form=predicate"));
  assert_int_equal(rewrite("8.0", "sm_80", body, "bypass=l1:1", 64).status, HD_OK);
}

/* Launches that may overlap: state would be of both, and L1 would keep lines from before the wait. */
static void dependent_launches_share_no_state(void **state) {
  static const struct {
    const char *plan, *why;
  } cases[] = {
      {"bind=claim", "both would use this plan's state"},
      {"bind=agents:2", "both would use this plan's state"},
      {"bind=agents:auto", "both would use this plan's state"},
      {"bypass=auto", "both would use this plan's state"},
      {"prefetch=l1:1", "would fetch before that one's writes"},
      {"order=reverse", NULL},
      {"bind=redirect", NULL},
      {"bypass=l1:1", NULL},
  };
  static const char *const waits[] = {"griddepcontrol.wait;\n", "griddepcontrol.launch_dependents;\n"};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char body[256];
      snprintf(body, sizeof body,
               "%smov.u32 %%r1, %%ctaid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\nadd.s64 %%rd1, %%rd1, %%rd2;\n"
               "ld.global.u32 %%r1, [%%rd1];",
               waits[k]);
      result r = rewrite("8.0", "sm_90", body, cases[i].plan, 64);
      if (cases[i].why ? r.status != HD_ERR_REFUSED || !strstr(r.why, cases[i].why) : r.status != HD_OK)
        fail_msg("%s: status %d: %s", cases[i].plan, r.status, r.why);
    }
}

static void warps_of_a_warpgroup_stay_together(void **state) {
  static const char *const bodies[] = {
      "ld.global.u32 %r1, [%rd1];\nwgmma.fence.sync.aligned;",
      "ld.global.u32 %r1, [%rd1];\nsetmaxnreg.dec.sync.aligned.u32 40;",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    result r = rewrite("8.0", "sm_90a", bodies[i], "bypass=l1:1,form=replicate", 128);
    assert_int_equal(r.status, HD_ERR_REFUSED);
    assert_non_null(strstr(r.why, "would part the warps of a warpgroup"));
    assert_int_equal(rewrite("8.0", "sm_90a", bodies[i], "bypass=l1:1", 128).status, HD_OK);
  }
  result r = bypass_many(20, "wgmma.fence.sync.aligned;", "bypass=l1:1");
  assert_false(is_twice(&r));
  /* Or in a function that the kernel reaches. */
  static const char *const calls[] = {"call.uni gives;", "call.uni by;", "@%p1 call.uni by;"};
  functions =
      ".func gives() { setmaxnreg.dec.sync.aligned.u32 40; ret; }\n.func by() { call.uni gives; ret; }\n"
      ".func waits() { wgmma.wait_group.sync.aligned 0; ret; }\n.func plain() { ret; }\n";
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    char body[128];
    snprintf(body, sizeof body, "ld.global.u32 %%r1, [%%rd1];\n%s", calls[i]);
    r = rewrite("8.0", "sm_90a", body, "bypass=l1:1,form=replicate", 128);
    if (r.status != HD_ERR_REFUSED || !strstr(r.why, "would part the warps of a warpgroup"))
      fail_msg("%s: %s", calls[i], r.why);
    assert_int_equal(rewrite("8.0", "sm_90a", body, "bypass=l1:1", 128).status, HD_OK);
  }
  r = bypass_many(20, "call.uni waits;", "bypass=l1:1");
  assert_false(is_twice(&r));
  r = bypass_many(20, "call.uni plain;", "bypass=l1:1");
  assert_true(is_twice(&r));
  functions = "";
}

static void threads_that_work_together_are_not_renumbered(void **state) {
  static const char *const bodies[] = {
      "bar.sync 0;",
      "barrier.sync 1, 64;",
      "bar.warp.sync -1;",
      "ld.shared.u32 %r1, [%rd1];",
      "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
      "vote.sync.all.pred %p1, %p2, -1;",
      "match.any.sync.b32 %r1, %r2, -1;",
      "activemask.b32 %r1;",
      "redux.sync.add.s32 %r1, %r2, -1;",
      "mov.u32 %r1, %laneid;",
      "mov.u32 %r1, %lanemask_lt;",
      "membar.cta;",
      "fence.acq_rel.cta;",
      "cp.async.commit_group;",
      "mbarrier.inval.shared.b64 [%rd1];",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char body[256];
    snprintf(body, sizeof body, "mov.u32 %%r5, %%tid.x;\n%s", bodies[i]);
    result r = rewrite("8.0", "sm_80", body, "threads=col", 64);
    if (r.status != HD_ERR_REFUSED) fail_msg("%s: %d %s", bodies[i], r.status, r.why);
    if (!strstr(r.why, bodies[i]) || !strstr(r.why, "line 1"))
      fail_msg("does not name the instruction: %s", r.why);
  }
  assert_int_equal(rewrite("8.0", "sm_80", "mov.u32 %r5, %tid.x;\nmembar.gl;", "threads=col", 64).status,
                   HD_OK);
}

static void a_prefetch_without_an_address_is_refused(void **state) {
  result r =
      rewrite("8.0", "sm_80", "ld.global.u64 %rd2, [%rd1];\nld.global.u32 %r1, [%rd2];", "prefetch=l2:1", 64);
  assert_int_equal(r.status, HD_ERR_REFUSED);
  assert_non_null(strstr(r.why, "no load's address depends on the task"));
  r = rewrite("8.0", "sm_80", "st.global.u32 [%rd1], %r1;", "prefetch=l2:1", 64);
  assert_int_equal(r.status, HD_ERR_REFUSED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("warps may go around L1 and L2 from different thresholds",
                warps_may_go_around_l1_and_l2_from_different_thresholds),
      BEHAVIOUR("a load is spelt as its target honours", a_load_is_spelt_as_its_target_honours),
      BEHAVIOUR("a load that cannot be changed stays, and alone is refused",
                a_load_that_cannot_be_changed_stays_and_alone_is_refused),
      BEHAVIOUR("loads of other spaces are not counted", loads_of_other_spaces_are_not_counted),
      BEHAVIOUR("thresholds at the ends cost nothing", thresholds_at_the_ends_cost_nothing),
      BEHAVIOUR("a policy takes no second load", a_policy_takes_no_second_load),
      BEHAVIOUR("voting is left to who can measure", voting_is_left_to_who_can_measure),
      BEHAVIOUR("loads of memory that nobody writes use the read-only cache, others never do",
                loads_of_unwritten_memory_use_the_read_only_cache),
      BEHAVIOUR("stream=auto is left to who has a trace", streams_are_found_by_who_has_a_trace),
      BEHAVIOUR("many loads are bypassed in a body of their own, few under predicates",
                many_loads_are_bypassed_in_a_body_of_their_own),
      BEHAVIOUR("memory declared in an inner scope is not doubled",
                memory_declared_in_an_inner_scope_is_not_doubled),
      BEHAVIOUR("dependent launches share no state", dependent_launches_share_no_state),
      BEHAVIOUR("warps of a warpgroup stay together", warps_of_a_warpgroup_stay_together),
      BEHAVIOUR("threads that work together are not renumbered",
                threads_that_work_together_are_not_renumbered),
      BEHAVIOUR("a prefetch without an address is refused", a_prefetch_without_an_address_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
