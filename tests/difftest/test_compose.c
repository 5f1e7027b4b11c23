/* Random sizes and compositions are sound and repeatable, and leave nothing out. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/compose.h"
#include "heddle/predict.h"

static const char *const levers[] = {
    "order=col",      "order=band:",      "order=tile:",     "order=zigzag:",   "order=stride:",
    "order=hilbert",  "order=reverse",    "order=heavy",     "order=affinity",  "order=table:f",
    "bind=redirect",  "bind=claim",       "bind=agents,",    "bind=agents:",    "split=wave:",
    "split=rows",     "split=cols",       "threads=col",     "threads=band",    "threads=tile",
    "threads=zigzag", "threads=stride",   "threads=hilbert", "threads=reverse", "threads=cta:",
    "bypass=l1:",     "bypass=ro:",       "bypass=l2:",      "form=replicate",  "stream=l1",
    "stream=auto",    "bypass=auto",      "form=predicate",  "take=segments,",  "take=segments:",
    "take=strides",   "stream=1",         "prefetch=l1:",    "prefetch=l2:",    "sms=",
    "4294967295",     "shape=",           ":band:",          "shape=auto",      "shape=loop:4x3:band:2",
    "bind=cancel",    "bind=agents:auto",
};
enum { N_LEVERS = sizeof levers / sizeof *levers, DRAWN = 20000 };

static void every_lever_is_drawn(void **state) {
  unsigned seen[N_LEVERS] = {0}, dispatchers[HD_DISPATCH_COUNT] = {0}, any = 0, rows = 0;
  const hd_shape tiles = {
      .kind = HD_SHAPE_GIVEN, .n = {4, 3}, .own = {.kind = HD_ORDER_BAND, .a = 2}, .loop = true};
  for (uint64_t i = 0; i < DRAWN; i++) {
    uint32_t grid[3] = {1 + (uint32_t)(i % 7), 1 + (uint32_t)(i / 7 % 5), 1 + (uint32_t)(i % 3)};
    hd_composition c;
    hd_diag d = {0};
    hd_buf text = {0};
    if (hd_compose(grid, "f", i % 4 ? NULL : &tiles, i % 2, i, &c, &d) != HD_OK)
      fail_msg("%lu: %s", (unsigned long)i, d.message);
    assert_int_equal(hd_plan_check(&c.plan, &d), HD_OK);
    assert_true(c.n_sms >= 1 && c.dispatch.resident >= 1);
    hd_plan_print(&c.plan, &text);
    for (unsigned k = 0; k < N_LEVERS; k++) seen[k] += strstr(text.data, levers[k]) != NULL;
    dispatchers[c.dispatch.kind]++;
    any += c.any_grid;
    rows += c.plan.order.c && c.plan.threads.c;
    hd_buf_free(&text);
  }
  for (unsigned k = 0; k < N_LEVERS; k++)
    if (seen[k] < DRAWN / 1000) fail_msg("%s was drawn %u times", levers[k], seen[k]);
  for (unsigned k = 0; k < HD_DISPATCH_COUNT; k++) assert_true(dispatchers[k] > DRAWN / 20);
  assert_true(any > DRAWN / 10 && any < DRAWN / 2);
  assert_true(rows > 0); /* tile:WxHxL */
}

static void a_seed_draws_the_same_again(void **state) {
  const uint32_t grid[3] = {5, 4, 3};
  for (uint64_t i = 0; i < 300; i++) {
    hd_composition a, b;
    hd_diag d;
    assert_int_equal(hd_compose(grid, NULL, NULL, false, i, &a, &d), HD_OK);
    assert_int_equal(hd_compose(grid, NULL, NULL, false, i, &b, &d), HD_OK);
    assert_true(hd_plan_equal(&a.plan, &b.plan));
    assert_int_equal(a.n_sms, b.n_sms);
    assert_int_equal(a.any_grid, b.any_grid);
    assert_memory_equal(&a.dispatch, &b.dispatch, sizeof a.dispatch);
    assert_int_not_equal(a.plan.order.kind, HD_ORDER_TABLE); /* there is no file */
    assert_int_not_equal(a.plan.bind, HD_BIND_CANCEL);       /* nor an architecture that has it */
  }
}

static void sizes_stay_within_their_ranges(void **state) {
  hd_wl_param params[] = {{"free", 7, 0, 0, 0},   {"low", 5, 1, INT64_MAX, 1},
                          {"narrow", 3, 3, 3, 1}, {"stepped", 64, 16, 128, 16},
                          {"upside", 4, 9, 2, 1}, {"wide", -3, INT64_MIN, INT64_MAX, 1}};
  enum { N = sizeof params / sizeof *params };
  hd_workload w = {.params = params, .n_params = N};
  int64_t v[N];
  unsigned least = 0, above = 0;
  for (uint64_t i = 0; i < 5000; i++) {
    hd_compose_size(&w, i, v);
    assert_int_equal(v[0], 7);
    assert_true(v[1] >= 1 && v[1] <= 20);
    assert_int_equal(v[2], 3);
    assert_true(v[3] >= 16 && v[3] <= 128 && v[3] % 16 == 0);
    assert_int_equal(v[4], 4);
    least += v[1] == 1;
    above += v[1] > 5;
  }
  assert_true(least > 500 && above > 500);
}

/* out[i] = number of the task; a second kernel reads memory that no task wrote. */
static const char workload[] =
    "title = \"t\"\nsource = \"k.ptx\"\n[sizes.small]\nn = 12\n"
    "[ranges]\nn = { least = 3, most = 60, step = 3 }\n"
    "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = \"n * 32\"\ncompare = \"exact\"\n"
    "[[launch]]\nkernel = \"k\"\ngrid = [\"n / 3\", 3]\nblock = [32]\nargs = [\"out\"]\n";
static const char kernel[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n  .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [out];\n  cvta.to.global.u64 %d1, %d1;\n  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ctaid.y;\n  mov.u32 %r3, %nctaid.x;\n  mad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "  mov.u32 %r5, %tid.x;\n  mad.lo.u32 %r6, %r4, 32, %r5;\n"
    "  mad.wide.u32 %d2, %r6, 4, %d1;\n  st.global.u32 [%d2], %r4;\n  ret;\n}\n";

static hd_status put(const char *folder, const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return hd_file_write(path, text, strlen(text), NULL);
}

static void one_original_holds_many_plans(void **state) {
  char folder[] = "/tmp/heddle-compose-XXXXXX", path[128];
  hd_diag d = {0};
  assert_non_null(mkdtemp(folder));
  assert_int_equal(put(folder, "workload.toml", workload), HD_OK);
  assert_int_equal(put(folder, "k.ptx", kernel), HD_OK);
  static const char *const set[] = {"n=51"};
  hd_workload *w;
  hd_checker *c;
  hd_check_result r;
  if (hd_workload_open_with(folder, NULL, "small", set, 1, &w, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(w->launches[0].grid[0], 17);
  if (hd_checker_open(w, NULL, &c, &r, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(r.equal && r.race_free);
  for (uint64_t i = 0; i < 100; i++) {
    hd_composition k;
    assert_int_equal(hd_compose(w->launches[0].grid, NULL, NULL, false, i, &k, &d), HD_OK);
    hd_run_options run = {.machine.threads = 1, .machine.n_sms = k.n_sms, .compile.any_grid = k.any_grid};
    hd_dispatch how[] = {
        {HD_DISPATCH_SERIAL, i, k.dispatch.resident}, {HD_DISPATCH_ROUND_ROBIN, i, 64}, k.dispatch};
    hd_plan_set set = {.all = k.plan};
    hd_resolved plans;
    hd_status st = hd_resolve(w, &set, &run, NULL, &plans, &d);
    if (st == HD_OK) st = hd_checker_run(c, &plans, &run, how, 3, &r, &d);
    hd_resolved_free(&plans);
    if (st != HD_OK && st != HD_ERR_REFUSED && st != HD_ERR_UNSUPPORTED && st != HD_ERR_USAGE)
      fail_msg("%s", d.message);
    if (st == HD_OK && !r.equal) fail_msg("%s", r.what);
    if (st == HD_OK) assert_int_equal(r.runs, 3);
  }
  hd_checker_close(c);
  hd_workload_close(w);
  static const char *const bad[][2] = {{"n=50", "n is 50, allowed are 3 to 60 in steps of 3"},
                                       {"n=63", "n is 63, allowed are"},
                                       {"m=3", "there is no parameter 'm', known are: n"},
                                       {"n", "'n' should be n=NUMBER"},
                                       {"n=x", "'n=x' should be n=NUMBER"},
                                       {"=3", "there is no parameter ''"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(hd_workload_open_with(folder, NULL, "small", bad[i], 1, &w, &d), HD_ERR_USAGE);
    if (!strstr(d.message, bad[i][1])) fail_msg("%s: %s", bad[i][0], d.message);
  }
  snprintf(path, sizeof path, "%s/k.ptx", folder);
  remove(path);
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  remove(path);
  remove(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every lever and every dispatcher is drawn", every_lever_is_drawn),
      BEHAVIOUR("a seed draws the same again", a_seed_draws_the_same_again),
      BEHAVIOUR("sizes stay within their ranges", sizes_stay_within_their_ranges),
      BEHAVIOUR("one original holds many plans, at a size of its ranges only", one_original_holds_many_plans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
