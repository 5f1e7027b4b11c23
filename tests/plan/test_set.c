/* Plans that are copied, and sets of them. */
#include "plan/generate.h"

static hd_plan draw_any_plan(random_stream *r) {
  uint32_t g[3];
  draw_grid(r, g);
  hd_plan p = draw_full_plan(r, g);
  if (draw(r, 0, 3) == 0) assert_int_equal(hd_plan_order_by(&p, "a,b", NULL), HD_OK);
  return p;
}

static char *print(const hd_plan *p) {
  hd_buf b = {0};
  hd_plan_print(p, &b);
  return b.data;
}

static void an_assigned_plan_is_a_plan_of_its_own(void **state) {
  random_stream r = {.seed = 0xc09};
  for (int c = 0; c < 5000; c++) {
    hd_plan p = draw_any_plan(&r), copy = p;
    char *before = print(&p);
    assert_true(hd_plan_equal(&p, &copy));
    memset(&p, 0xff, sizeof p);
    char *after = print(&copy);
    assert_string_equal(before, after);
    free(before);
    free(after);
  }
}

/* Levers that one of two plans leaves alone are the other's; of those that both have, the first one's stay.
 */
static void joined_plans_have_the_levers_of_both(void **state) {
  static const struct {
    const char *first, *second, *joined; /* NULL: the second adds nothing */
  } cases[] = {
      {"order=col", "bypass=ro:8", "order=col,bypass=ro:8"},
      {"order=col,bind=agents", "order=reverse,prefetch=l2:2", "order=col,bind=agents,prefetch=l2:2"},
      {"bind=agents:2", "order=tile:4x4,bind=claim,split=wave:2", "order=tile:4x4,bind=agents:2"},
      {"stream=l1", "bypass=l1:4,threads=col", "threads=col,stream=l1"},
      {"baseline", "order=col,shape=8x8,bind=redirect", "order=col,shape=8x8,bind=redirect"},
      {"order=col", "bind=agents:auto", "order=col,bind=agents:auto"},
      {"order=col", "order=reverse", NULL},
      {"order=col", "baseline", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_plan p, q, joined;
    assert_int_equal(hd_plan_parse(cases[i].first, &p, NULL), HD_OK);
    assert_int_equal(hd_plan_parse(cases[i].second, &q, NULL), HD_OK);
    assert_int_equal(hd_plan_join(&p, &q, &joined), cases[i].joined != NULL);
    char *text = print(&joined);
    assert_string_equal(text, cases[i].joined ? cases[i].joined : cases[i].first);
    free(text);
  }
}

static const char *const names[] = {"k0", "k1", "k2", "k3"};
enum { NAMES = sizeof names / sizeof *names };

static void a_set_holds_for_each_kernel_what_was_put_last(void **state) {
  random_stream r = {.seed = 0x5e7};
  for (int c = 0; c < 500; c++) {
    hd_kernel_plan room[NAMES];
    hd_plan_set s = {.kernels = room};
    hd_plan last[NAMES + 1] = {0}; /* the last is the one for all */
    bool own[NAMES] = {false};
    for (uint64_t n = draw(&r, 0, 8); n; n--) {
      uint64_t at = draw(&r, 0, NAMES);
      last[at] = draw_any_plan(&r);
      hd_plan_set_put(&s, at < NAMES ? names[at] : NULL, &last[at]);
      if (at < NAMES) own[at] = true;
    }
    for (int i = 0; i < NAMES; i++)
      assert_true(hd_plan_equal(hd_plan_set_of(&s, names[i]), &last[own[i] ? i : NAMES]));
    assert_true(hd_plan_equal(hd_plan_set_of(&s, "another"), &last[NAMES]));
  }
}

static void sets_are_equal_when_every_kernel_has_the_same_plan(void **state) {
  hd_plan col = {.order = {.kind = HD_ORDER_COL}}, baseline = {0};
  hd_kernel_plan one[] = {{"k", col}, {"l", baseline}}, other[] = {{"l", baseline}, {"k", col}};
  hd_plan_set a = {.kernels = one, .n = 2}, b = {.kernels = other, .n = 2}, c = {.kernels = one, .n = 1};
  hd_plan_set all = {.all = col};
  assert_true(hd_plan_set_equal(&a, &b));
  assert_true(hd_plan_set_equal(&a, &c)); /* l has the baseline either way */
  assert_false(hd_plan_set_equal(&a, &all));
  assert_false(hd_plan_set_is_baseline(&c));
  c.kernels = &one[1];
  assert_true(hd_plan_set_is_baseline(&c));
}

static void a_set_prints_its_default_first(void **state) {
  hd_plan col = {.order = {.kind = HD_ORDER_COL}};
  hd_kernel_plan kernels[] = {{"fwd", col}, {"bwd", {.bind = HD_BIND_CLAIM}}};
  const struct {
    hd_plan_set set;
    const char *want;
  } cases[] = {
      {.want = "baseline"},
      {{.all = col}, "order=col"},
      {{.kernels = kernels, .n = 1}, "baseline; fwd: order=col"},
      {{.all = col, .kernels = kernels, .n = 2}, "order=col; fwd: order=col; bwd: bind=claim"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf b = {0};
    hd_plan_set_print(&cases[i].set, &b);
    assert_string_equal(b.data, cases[i].want);
    hd_buf_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_assigned_plan_is_a_plan_of_its_own),
      cmocka_unit_test(joined_plans_have_the_levers_of_both),
      cmocka_unit_test(a_set_holds_for_each_kernel_what_was_put_last),
      cmocka_unit_test(sets_are_equal_when_every_kernel_has_the_same_plan),
      cmocka_unit_test(a_set_prints_its_default_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
