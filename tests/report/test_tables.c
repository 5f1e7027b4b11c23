/* Tables over many workloads, kernels and compositions. */
#include "golden.h"

#include <stdlib.h>

#include "heddle/results.h"

static void each_reason_of_refusals_has_one_letter(void **state) {
  enum { PLANS = 30 };
  static const char *const workloads[] = {"one", "two"};
  const char *plans[PLANS];
  char names[PLANS][16], reasons[PLANS][16];
  hd_lever_cell cells[2 * PLANS];
  for (int i = 0; i < PLANS; i++) {
    snprintf(names[i], sizeof names[i], "plan %d", i);
    snprintf(reasons[i], sizeof reasons[i], "reason %d", i);
    plans[i] = names[i];
    cells[i] = (hd_lever_cell){HD_LEVER_REFUSED, reasons[i]};
    cells[PLANS + i] = (hd_lever_cell){HD_LEVER_REFUSED, reasons[PLANS - 1 - i]};
  }
  cells[0] = (hd_lever_cell){HD_LEVER_EQUAL, ""};
  cells[1] = (hd_lever_cell){HD_LEVER_DIFFERENT, "out[0] is 1"};
  const hd_levers_table t = {"tiny", plans, PLANS, workloads, 2, cells};
  hd_buf out = {0};
  assert_int_equal(hd_levers_text(&t, &out, NULL), HD_OK);
  assert_golden("levers.txt", &out);
  assert_int_equal(hd_levers_json(&(hd_levers_table){"tiny", plans, 3, workloads, 1, cells}, &out, NULL),
                   HD_OK);
  assert_golden("levers.json", &out);
}

static void every_default_plan_of_a_table_can_be_read(void **state) {
  size_t n[2];
  const char *const *lists[] = {hd_levers_plans(&n[0]), hd_overhead_plans(&n[1])};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < n[k]; i++) {
      hd_plan p;
      hd_diag d = {0};
      if (hd_plan_parse(lists[k][i], &p, &d) != HD_OK) fail_msg("%s: %s", lists[k][i], d.message);
    }
}

/* An application counts once however many inputs it has, and only if all of them agree. */
static void categories_count_applications(void **state) {
  static const struct {
    const char *clu;
    bool agrees;
  } rows[] = {{"KMN", true}, {"MUM", true}, {"MUM", false}, {"NN", false}, {"NN", true}, {"SYK", true}};
  hd_workload w = {.size = "paper", .category = "algorithm"};
  hd_categories sum = {0};
  hd_buf out = {0};
  hd_categories_head(&out);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hd_advice a = {.evidence = "made up", .partition = "X-P"};
    a.category = hd_category_parse(rows[i].agrees ? "algorithm" : "streaming");
    a.sum.reuse.all.lines = (hd_reuse_shares){.requests = 10, .cold = 0, .inter_cta = i};
    hd_categories_row(&sum, rows[i].clu, "workload", &w, &a, &out);
  }
  assert_int_equal(sum.rows, 6);
  assert_int_equal(sum.applications, 4);
  assert_int_equal(sum.equal, 2);
  hd_categories_total(&sum, &out);
  assert_golden("categories.txt", &out);
  hd_categories_total(&(hd_categories){0}, &out);
  assert_int_equal(out.len, 0);
}

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry free(.param .u64 out, .param .u32 n) .maxntid 256, 1, 1\n{\n"
                           "  .shared .align 4 .b8 tile[64];\n  ret;\n}\n"
                           ".visible .entry fixed(.param .u64 out)\n{\n  .reg .b32 %r<2>;\n"
                           "  mov.u32 %r1, %smid;\n  ret;\n}\n.func helper()\n{\n  ret;\n}\n";

static void a_listing_has_what_a_launch_must_know_of_each_kernel(void **state) {
  for (int detailed = 0; detailed < 2; detailed++) {
    hd_listing l;
    hd_arena arena;
    hd_ptx_module *m;
    hd_buf out = {0};
    hd_arena_init(&arena);
    hd_listing_begin(&l, detailed);
    l.file = "t.ptx";
    l.modules = 1;
    l.bytes = 1500000;
    l.failures = 2;
    assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "t.ptx", &arena, &m, NULL), HD_OK);
    assert_int_equal(hd_listing_add(&l, &(hd_ptx_text){.index = 3}, m, NULL), HD_OK);
    hd_arena_free(&arena); /* the listing keeps nothing of it */
    assert_int_equal(l.kernels, 2);
    assert_int_equal(l.rows.n, detailed ? 2 : 0);
    hd_listing_text(&l, &out);
    assert_golden(detailed ? "listing.txt" : "listing-short.txt", &out);
    hd_listing_json(&l, &out);
    assert_golden(detailed ? "listing.json" : "listing-short.json", &out);
    hd_listing_free(&l);
  }
}

static void compositions_count_by_lever_grid_and_reason(void **state) {
  hd_composed_group groups[2] = {
      {.name = "one", .grid = {7, 1, 1}, .n_sms = 16, .n = 2},
      {.name = "two", .grid = {4, 3, 2}, .n_sms = 2, .n = 1, .broken = "heddle check two"}};
  groups[0].trials[0] = (hd_composed){.plan = "order=tile:3x2,bind=agents:2", .any_grid = true};
  groups[0].trials[1] = (hd_composed){.outcome = HD_COMPOSED_REFUSED,
                                      .plan = "order=table:/tmp/t/0,sms=0-3+7",
                                      .what = "one: line 55: it reads /tmp/t/0",
                                      .why = "it reads 3 of f32",
                                      .no_hoisting = true};
  groups[1].trials[0] = (hd_composed){
      .outcome = HD_COMPOSED_DIFFERENT, .plan = "baseline", .what = "heddle check two --plan baseline"};
  const hd_compositions all = {.groups = groups, .n_groups = 2, .folder = "/tmp/t"};
  const hd_compositions_report r = {&all, 2, 7};
  hd_buf out = {0};
  hd_compositions_text(&r, &out);
  assert_golden("compositions.txt", &out);
  hd_compositions_json(&r, &out);
  assert_golden("compositions.json", &out);
}

static void a_rewritten_file_names_the_reasons_of_the_rest(void **state) {
  hd_rewrite_reason reasons[] = {{"barrier", 3}, {"reads %smid", 1}};
  hd_rewritten_module files[] = {{"out/00001.ptx", "sm_80", 1, 5}};
  hd_rewritten_file r = {.modules = 2, .unread = 1, .kernels = 9, .rewritten = 5};
  hd_buf out = {0};
  hd_rewritten_file_text(&r, &out);
  r.reasons.data = reasons;
  r.reasons.n = 2;
  r.files.data = files;
  r.files.n = 1;
  hd_rewritten_file_text(&r, &out);
  assert_golden("rewritten.txt", &out);
  hd_rewritten_file_json(&r, &out);
  assert_golden("rewritten.json", &out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("each reason of refusals has one letter", each_reason_of_refusals_has_one_letter),
      BEHAVIOUR("every default plan of a table can be read", every_default_plan_of_a_table_can_be_read),
      BEHAVIOUR("categories count applications", categories_count_applications),
      BEHAVIOUR("a listing has what a launch must know of each kernel",
                a_listing_has_what_a_launch_must_know_of_each_kernel),
      BEHAVIOUR("compositions count by lever, grid and reason", compositions_count_by_lever_grid_and_reason),
      BEHAVIOUR("a rewritten file names the reasons of the rest",
                a_rewritten_file_names_the_reasons_of_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
