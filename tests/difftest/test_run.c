/* Programs on both sides: agreement, and that differences are found, reduced and replayed. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "difftest/run.h"

static void ok(hd_status st, const hd_diag *d) {
  if (st != HD_OK) fail_msg("%s", d->message);
}

static bool whole;

/* ---- Agreement ------------------------------------------------------------------------- */

static hd_difftest_options options_for(const char *device, uint64_t programs) {
  return (hd_difftest_options){.device = device,
                               .devices.emu.checks = HD_CHECK_BOUNDS | HD_CHECK_INIT,
                               .seed = 2,
                               .programs = programs,
                               .threads = 2,
                               .max_reports = 3};
}

static bool has_isa(hd_emu_isa isa) {
  hd_emu *e = NULL;
  const hd_emu_options o = {.isa = isa};
  const bool yes = hd_emu_create(&o, &e, NULL) == HD_OK;
  hd_emu_destroy(e);
  return yes;
}

static void instruction_sets_agree(void **state) {
  static const struct {
    const char *device;
    hd_emu_isa isa;
  } sides[] = {{"emu:portable", HD_ISA_PORTABLE}, {"emu:avx2", HD_ISA_AVX2}, {"emu:avx512", HD_ISA_AVX512}};
  for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++) {
    if (!has_isa(sides[k].isa)) continue;
    const hd_difftest_options o = options_for(sides[k].device, 700);
    hd_difftest_result r;
    hd_diag d = {0};
    ok(hd_difftest_run(&o, NULL, &whole, &r, &d), &d);
    assert_int_equal(r.programs, 700);
    assert_true(r.instructions > 700);
    if (r.tally.different) fail_msg("%s: %s\n%s", sides[k].device, r.reports[0].culprit, r.reports[0].text);
    hd_difftest_result_free(&r);
  }
}

/* ---- A device with a mistake ---------------------------------------------------------------- */

/* One instruction is another one there. */
static hd_status respell(const hd_buf *ptx, hd_buf *out, const char *from, const char *to) {
  const char *at = ptx->data;
  for (const char *next; (next = strstr(at, from)); at = next + strlen(from)) {
    hd_buf_put(out, at, (size_t)(next - at));
    hd_buf_puts(out, to);
  }
  hd_buf_puts(out, at);
  return out->failed ? HD_ERR_NOMEM : HD_OK;
}
static hd_status sad_subtracts(const hd_buf *ptx, bool unoptimized, hd_buf *out) {
  return respell(ptx, out, "sad.s32", "mad.lo.s32");
}
static hd_status tanh_is_sine(const hd_buf *ptx, bool unoptimized, hd_buf *out) {
  return respell(ptx, out, "tanh.approx.f32", "sin.approx.f32");
}

static uint32_t lines_with(const char *text, const char *word) {
  uint32_t n = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
  return n;
}

static void a_mistake_is_found_and_reduced_to_its_instruction(void **state) {
  hd_difftest_options o = options_for("emu", 1000);
  o.max_reports = 2;
  hd_difftest_result r;
  hd_diag d = {0};
  ok(dt_run_changed(&o, sad_subtracts, NULL, &whole, &r, &d), &d);
  assert_true(r.tally.different > 0 && r.n_reports > 0);
  for (size_t k = 0; k < r.n_reports; k++) {
    const char *text = r.reports[k].text;
    assert_string_equal(r.reports[k].culprit, "sad.s32");
    assert_int_equal(lines_with(text, "sad.s32"), 1);
    /* Its three sources and its destination are all that is loaded, and that is stored. */
    const char *body = strstr(text, ".visible");
    assert_true(lines_with(body, "ld.global.b32") <= 5 && lines_with(body, "st.global") == 1);
    assert_non_null(strstr(text, "// emulator:"));
    assert_non_null(strstr(text, "// device:"));
  }
  /* By its number alone the program differs again, with the same words. */
  o.first = r.reports[0].program;
  o.programs = 1;
  hd_difftest_result again;
  ok(dt_run_changed(&o, sad_subtracts, NULL, &whole, &again, &d), &d);
  assert_int_equal(again.tally.different, 1);
  assert_string_equal(again.reports[0].text, r.reports[0].text);
  hd_difftest_result_free(&r);
  hd_difftest_result_free(&again);
}

static void approximations_are_bounded(void **state) {
  hd_difftest_options o = options_for("emu", 60);
  o.select.pattern = "tanh.approx.f32";
  hd_difftest_result r;
  hd_diag d = {0};
  ok(dt_run_changed(&o, tanh_is_sine, NULL, &whole, &r, &d), &d);
  assert_true(r.tally.different > 30);
  hd_difftest_result_free(&r);

  const uint64_t one[2] = {0x3f800000, 0};
  const unsigned rcp = (unsigned)dt_rule_find("rcp", 3), exact = (unsigned)dt_rule_find("exact", 5),
                 half = (unsigned)dt_rule_find("tanh_f16x2", 10);
  assert_true(dt_agree(rcp, 0x40490fdb, 0x40490fdc, one) && !dt_agree(rcp, 0x40490fdb, 0x40490fdd, one));
  assert_false(dt_agree(exact, 0x40490fdb, 0x40490fdc, one));
  assert_true(dt_agree(rcp, 0x7fffffff, 0xffc00000, one) && !dt_agree(rcp, 0x7fffffff, 0x7f800000, one));
  assert_false(dt_agree(rcp, 0, 0x80000000, one));
  assert_true(dt_agree(half, 0x3bff3800, 0x3bff3801, one) && !dt_agree(half, 0x3bff3800, 0x3bff3810, one));
  assert_false(dt_agree(half, 0x3bff3800, 0x30ff3800, one));
}

static void sums_are_bounded_by_their_terms(void **state) {
  const unsigned mma = (unsigned)dt_rule_find("mma16", 5);
  const uint64_t four[2] = {0x40800000, 0}, infinite[2] = {0x7f800000, 0};
  /* 16 * 2^-21 of 4 is 2^-15: from 0x1p-10 to 0x1.08p-10, and to 0x1.1p-10. */
  assert_true(dt_agree(mma, 0x3a800000, 0x3a840000, four));
  assert_false(dt_agree(mma, 0x3a800000, 0x3a880000, four));
  /* The sign of zero is open; NaN is not, and infinity beside finite terms is not. */
  assert_true(dt_agree(mma, 0x80000000, 0x00000000, four));
  assert_false(dt_agree(mma, 0x7fffffff, 0x3f800000, infinite));
  assert_false(dt_agree(mma, 0x7f800000, 0x3f800000, four));
  assert_true(dt_agree(mma, 0x7f800000, 0x7f7fffff, infinite));
}

/* Within the bound. */
static hd_status rcp_rounds_up(const hd_buf *ptx, bool unoptimized, hd_buf *out) {
  return respell(ptx, out, "rcp.approx", "rcp.rp");
}
/* The device's compiler makes the mistake, if it is let. */
static hd_status sad_is_optimized(const hd_buf *ptx, bool unoptimized, hd_buf *out) {
  return unoptimized ? HD_OK : sad_subtracts(ptx, unoptimized, out);
}

static const hd_difftest_tally *tally_of(const hd_difftest_result *r, const char *instruction) {
  for (size_t k = 0; k < r->n_counts; k++)
    if (strcmp(r->counts[k].instruction, instruction) == 0) return &r->counts[k].tally;
  fail_msg("%s is not counted", instruction);
  return NULL;
}

static void differences_are_counted_by_what_explains_them(void **state) {
  hd_difftest_options o = options_for("emu", 200);
  hd_difftest_result r;
  hd_diag d = {0};
  o.select.pattern = "rcp.approx*.f32";
  ok(dt_run_changed(&o, rcp_rounds_up, NULL, &whole, &r, &d), &d);
  assert_true(r.tally.bounded > 100 && r.tally.compiler == 0 && r.tally.different == 0);
  assert_int_equal(tally_of(&r, "rcp.approx.f32")->bounded, r.tally.bounded);
  assert_true(r.n_counts == 1 && r.n_reports == 0);
  hd_difftest_result_free(&r);

  o.select.pattern = "sad.*";
  ok(dt_run_changed(&o, sad_is_optimized, NULL, &whole, &r, &d), &d);
  assert_true(r.tally.compiler > 50 && r.tally.bounded == 0 && r.tally.different == 0);
  assert_true(r.n_reports == 3 && r.reports[0].compiler);
  assert_non_null(strstr(r.reports[0].text, "does not optimize"));
  assert_int_equal(tally_of(&r, "sad.s32")->compiler, 3);
  assert_int_equal(tally_of(&r, "not reduced")->compiler, r.tally.compiler - 3);
  hd_difftest_result_free(&r);

  ok(dt_run_changed(&o, sad_subtracts, NULL, &whole, &r, &d), &d);
  assert_true(r.tally.different > 50 && r.tally.bounded == 0 && r.tally.compiler == 0);
  hd_difftest_result_free(&r);
}

static hd_status does_not_parse(const hd_buf *ptx, bool unoptimized, hd_buf *out) {
  return respell(ptx, out, "p3(", "p3((");
}

static void a_program_that_does_not_run_is_named(void **state) {
  const hd_difftest_options o = options_for("emu", 8);
  hd_difftest_result r;
  hd_diag d = {0};
  ok(dt_run_changed(&o, does_not_parse, NULL, &whole, &r, &d), &d);
  assert_int_equal(r.tally.different, 0); /* alone, no program is called p3 */
  hd_difftest_result_free(&r);
  hd_difftest_options none = options_for("emu", 8);
  none.select.pattern = "nosuch.*";
  assert_int_equal(hd_difftest_run(&none, NULL, &whole, &r, &d), HD_ERR_USAGE);
}

/* ---- Parts ------------------------------------------------------------------------------------------- */

static void same_result(const hd_difftest_result *a, const hd_difftest_result *b) {
  assert_int_equal(a->programs, b->programs);
  assert_int_equal(a->instructions, b->instructions);
  assert_memory_equal(&a->tally, &b->tally, sizeof a->tally);
  assert_int_equal(a->n_counts, b->n_counts);
  assert_memory_equal(a->counts, b->counts, a->n_counts * sizeof *a->counts);
  assert_int_equal(a->n_reports, b->n_reports);
  for (size_t k = 0; k < a->n_reports; k++) {
    assert_int_equal(a->reports[k].program, b->reports[k].program);
    assert_string_equal(a->reports[k].culprit, b->reports[k].culprit);
    assert_string_equal(a->reports[k].text, b->reports[k].text);
  }
}

/* Differences in all parts, more than are reported. */
static void parts_make_the_result_of_one_run(void **state) {
  static const char *const words[] = {"difftest"};
  hd_difftest_options o = options_for("emu", 100);
  o.select.pattern = "sad.*";
  o.per_module = 8;
  o.threads = 1;
  hd_difftest_result one, again, part;
  hd_diag d = {0};
  ok(dt_run_changed(&o, sad_subtracts, NULL, &whole, &one, &d), &d);
  assert_true(whole && one.n_reports == o.max_reports && one.tally.different > o.max_reports);
  o.threads = 4;
  ok(dt_run_changed(&o, sad_subtracts, NULL, &whole, &again, &d), &d);
  same_result(&one, &again);
  hd_difftest_result_free(&again);

  char folder[] = "/tmp/heddle-difftest-XXXXXX", paths[3][64];
  const char *parts[3];
  assert_non_null(mkdtemp(folder));
  for (uint32_t k = 3; k-- > 0;) {
    snprintf(paths[k], sizeof paths[k], "%s/%u", folder, k);
    parts[k] = paths[k];
    const hd_work_how how = {
        .journal = paths[k], .shard = k + 1, .shards = 3, .command = words, .n_words = 1};
    ok(dt_run_changed(&o, sad_subtracts, &how, &whole, &part, &d), &d);
    assert_true(!whole && part.n_reports == 0);
    hd_difftest_result_free(&part);
  }
  const hd_work_how merge = {.parts = parts, .n_parts = 3};
  ok(dt_run_changed(&o, NULL, &merge, &whole, &again, &d), &d);
  assert_true(whole);
  same_result(&one, &again);
  hd_difftest_result_free(&one);
  hd_difftest_result_free(&again);
  for (size_t k = 0; k < 3; k++) assert_int_equal(remove(paths[k]), 0);
  assert_int_equal(rmdir(folder), 0);
}

/* ---- Determinism -------------------------------------------------------------------------------- */

static void programs_do_not_depend_on_what_is_beside_them(void **state) {
  const hd_difftest_select s = {.sm = 90};
  hd_buf all = {0}, one = {0};
  hd_diag d = {0};
  ok(hd_difftest_module(&s, 5, 40, 20, &all, &d), &d);
  for (uint64_t k = 40; k < 60; k++) {
    hd_buf_clear(&one);
    ok(hd_difftest_module(&s, 5, k, 1, &one, &d), &d);
    assert_non_null(strstr(all.data, strstr(one.data, ".visible")));
  }
  hd_buf_clear(&one);
  ok(hd_difftest_module(&s, 6, 40, 20, &one, &d), &d);
  assert_string_not_equal(all.data, one.data);
  hd_buf_free(&all);
  hd_buf_free(&one);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the emulator's instruction sets agree on random programs", instruction_sets_agree),
      BEHAVIOUR("a mistake is found and reduced to its instruction",
                a_mistake_is_found_and_reduced_to_its_instruction),
      BEHAVIOUR("approximations are compared within their bound", approximations_are_bounded),
      BEHAVIOUR("sums are bounded by their terms", sums_are_bounded_by_their_terms),
      BEHAVIOUR("differences are counted by what explains them",
                differences_are_counted_by_what_explains_them),
      BEHAVIOUR("a program that does not run is named", a_program_that_does_not_run_is_named),
      BEHAVIOUR("parts make the result of one run", parts_make_the_result_of_one_run),
      BEHAVIOUR("programs do not depend on what is beside them",
                programs_do_not_depend_on_what_is_beside_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
