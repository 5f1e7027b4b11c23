/* Plans resolved: the parts that they leave open, and the text that they are resolved for. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"
#include "session.h"

static hd_diag d;

static hd_resolved resolve(const hd_workload *w, const hd_plan_set *set, const hd_run_options *o,
                           const hd_study *s) {
  hd_resolved r;
  if (hd_resolve(w, set, o, s, &r, &d) != HD_OK) fail_msg("%s", d.message);
  return r;
}

/* Every order, list and text of a resolved plan is there: nothing is left to be found out. */
static void nothing_is_left_open(void **state) {
  skip_without_compiler();
  static const char *const plans[] = {
      "baseline",       "order=tile:2x2",
      "order=affinity", "order=heavy-first",
      "bypass=ro:1",    "stream=auto",
      "stream=0",       "order=affinity,bind=agents,bypass=ro:1,prefetch=l1:1"};
  hd_workload *w = open_workload("black-scholes", "tiny");
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    hd_plan_set set = {.all = parse_plan(plans[i])};
    hd_resolved r = resolve(w, &set, NULL, NULL);
    for (uint32_t k = 0; k < r.code->n_kernels; k++) {
      const hd_resolved_kernel *one = &r.kernels[k];
      uint64_t tasks;
      assert_true(hd_grid_tasks(w->launches[r.code->kernels[k].first].grid, &tasks));
      assert_int_equal(one->plan.order.kind, set.all.order.kind);
      assert_int_equal(one->table.n, hd_order_needs_table(set.all.order.kind) ? tasks : 0);
      assert_int_not_equal(one->plan.stream.kind, HD_STREAM_AUTO);
      if (set.all.stream.kind == HD_STREAM_AUTO)
        assert_true(one->plan.stream.kind == HD_STREAM_LOADS || one->idle);
      if (set.all.bypass.kind == HD_BYPASS_NONE) assert_int_equal(one->n_unwritten, 0);
      if (set.all.bypass.kind == HD_BYPASS_READONLY) assert_true(one->n_unwritten > 0);
    }
    hd_resolved_free(&r);
  }
  hd_workload_close(w);
}

static char *apply(const hd_resolved *r) {
  hd_rewritten own;
  if (hd_apply_resolved(r, &(hd_compile_options){0}, 4, HD_TEXT_CANONICAL, &own, &d) != HD_OK)
    fail_msg("%s", d.message);
  char *text = strdup(own.text.data);
  hd_rewritten_free(&own);
  return text;
}

/* Applied twice, a resolved plan gives the same text; and the module that all share is not touched by it. */
static void applying_is_pure(void **state) {
  skip_without_compiler();
  static const char *const plans[] = {"order=affinity", "stream=auto,bypass=l1:1",
                                      "order=heavy-first,bind=agents:2"};
  hd_workload *w = open_workload("black-scholes", "tiny");
  const hd_compiled *code;
  hd_buf before = {0}, after = {0};
  assert_int_equal(hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, &d), HD_OK);
  assert_int_equal(hd_ptx_print(code->module, &before), HD_OK);
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    hd_plan_set set = {.all = parse_plan(plans[i])};
    hd_resolved r = resolve(w, &set, NULL, NULL);
    char *first = apply(&r), *second = apply(&r);
    assert_string_equal(first, second);
    free(first);
    free(second);
    hd_resolved_free(&r);
  }
  assert_int_equal(hd_ptx_print(code->module, &after), HD_OK);
  assert_string_equal(before.data, after.data);
  hd_buf_free(&before);
  hd_buf_free(&after);
  hd_workload_close(w);
}

/* One text is traced, proved and written out, and it is the text in which loads are numbered. */
static void traces_load_numbers_and_proofs_are_of_one_text(void **state) {
  skip_without_compiler();
  static const unsigned archs[] = {0, 80, 86, 90};
  hd_workload *w = open_workload("black-scholes", "tiny");
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
    hd_run_options run = {.compile.arch = archs[i], .machine.threads = 2};
    hd_plan_set set = {.all = parse_plan("stream=auto")};
    hd_study *s;
    hd_checker *c;
    hd_check_result result;
    assert_int_equal(hd_study_open(w, &run, NULL, &s, &d), HD_OK);
    hd_resolved r = resolve(w, &set, &run, s);
    assert_ptr_equal(s->code, r.code);
    size_t loads = hd_rewrite_loads(r.code->module, r.code->kernels[0].func, NULL, 0);
    hd_range beyond;
    assert_true(hd_numbers_count(&r.kernels[0].plan.stream.loads) > 0);
    assert_false(hd_numbers_run(&r.kernels[0].plan.stream.loads, (uint32_t)loads, &beyond));
    /* A check against another text than the one resolved for says so. */
    hd_check_options o = {.run = run, .no_reference = true};
    const hd_dispatch how = {.kind = HD_DISPATCH_SERIAL, .resident = 2};
    assert_int_equal(hd_checker_open(w, &o, &c, &result, &d), HD_OK);
    assert_int_equal(hd_checker_run(c, &r, &run, &how, 1, &result, &d), HD_OK);
    assert_true(result.equal);
    hd_checker_close(c);
    o.run.compile.arch = archs[i] == 90 ? 80 : 90;
    assert_int_equal(hd_checker_open(w, &o, &c, &result, &d), HD_OK);
    assert_int_equal(hd_checker_run(c, &r, &run, &how, 1, &result, &d), HD_ERR_USAGE);
    assert_non_null(strstr(d.message, "another architecture"));
    hd_checker_close(c);
    hd_resolved_free(&r);
    hd_study_close(s);
  }
  hd_workload_close(w);
}

/* Kernels have their own plans; tables are those of their own grids. */
static void each_kernel_of_a_set_has_its_own_plan(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("backprop", "tiny");
  const hd_compiled *code;
  assert_int_equal(hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, &d), HD_OK);
  assert_true(code->n_kernels > 1);
  hd_kernel_plan own = {code->kernels[1].name, {.order = {.kind = HD_ORDER_HEAVY_FIRST}}};
  hd_plan_set set = {.all = {.order = {.kind = HD_ORDER_REVERSE}}, .kernels = &own, .n = 1};
  hd_resolved r = resolve(w, &set, NULL, NULL);
  uint64_t tasks;
  assert_true(hd_grid_tasks(w->launches[code->kernels[1].first].grid, &tasks));
  assert_int_equal(r.kernels[0].plan.order.kind, HD_ORDER_REVERSE);
  assert_int_equal(r.kernels[0].table.n, 0);
  assert_int_equal(r.kernels[1].plan.order.kind, HD_ORDER_HEAVY_FIRST);
  assert_int_equal(r.kernels[1].table.n, tasks);
  for (uint32_t i = 0; i < w->n_launches; i++)
    assert_ptr_equal(hd_resolved_plan(&r, i), &r.kernels[code->kernel_of[i]].plan);
  assert_false(hd_resolved_is_baseline(&r));
  hd_resolved_free(&r);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a resolved plan leaves nothing open", nothing_is_left_open),
      BEHAVIOUR("applying a resolved plan is pure", applying_is_pure),
      BEHAVIOUR("traces, load numbers and proofs are of one text",
                traces_load_numbers_and_proofs_are_of_one_text),
      BEHAVIOUR("each kernel of a set has its own plan", each_kernel_of_a_set_has_its_own_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
