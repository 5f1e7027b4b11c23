/* Thresholds of bypassing and numbers of agents found at run time, on a modelled GPU. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"
#include "predict/session.h"
#include "workload/scratch.h"

enum { CTAS = 480, WARPS = 8 };

static const hd_plan threshold = {.bypass = {.kind = HD_BYPASS_AUTO}};

/* Each thread reads 32 words, `step` bytes apart, from its line of `lines` on, which other threads share. */
#define WORKLOAD                                                                                             \
  "title = \"lines\"\nsource = \"kernel.ptx\"\n[sizes.small]\nctas = 480\n"                                  \
  "[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = \"34 * 65536\"\nfill = \"iota\"\n"                      \
  "[[buffer]]\nname = \"y\"\ntype = \"u32\"\ncount = \"ctas * 256\"\ncompare = \"exact\"\n"                  \
  "[[launch]]\nkernel = \"lines\"\ngrid = [\"ctas\"]\nblock = [256]\nargs = [\"x\", \"y\"]\n"
#define KERNEL(places, apart, step, shared)                                                                  \
  ".version 7.0\n.target sm_80\n.address_size 64\n"                                                          \
  ".visible .entry lines(.param .u64 x, .param .u64 y)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"             \
  ".shared .align 4 .b8 taken[" shared "];\n.reg .pred %p<2>;\nld.param.u64 %d1, [x];\n"                     \
  "ld.param.u64 %d2, [y];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"                                   \
  "mad.lo.u32 %r3, %r1, 256, %r2;\nmul.wide.u32 %d4, %r3, 4;\nadd.s64 %d4, %d2, %d4;\n"                      \
  "and.b32 %r3, %r3, " places " - 1;\nmul.wide.u32 %d3, %r3, " apart                                         \
  ";\nadd.s64 %d3, %d1, %d3;\nmov.u32 %r4, 0;\n"                                                             \
  "mov.u32 %r5, 0;\nagain:\nld.global.u32 %r6, [%d3];\nadd.u32 %r4, %r4, %r6;\nadd.s64 %d3, %d3, " step      \
  ";\n"                                                                                                      \
  "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 32;\n@%p1 bra again;\nst.global.u32 [%d4], %r4;\nret;\n}\n"

static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch_write("fits/workload.toml", WORKLOAD);
  scratch_write("fits/kernel.ptx", KERNEL("1024", "4", "0", "4"));
  scratch_write("streams/workload.toml", WORKLOAD);
  scratch_write("crowds/workload.toml", WORKLOAD);
  /* Each CTA reads 8 KB of its own again and again: two fit in L1. */
  scratch_write("crowds/kernel.ptx", KERNEL("65536", "32", "0", "4"));
  scratch_write("streams/kernel.ptx", KERNEL("2048", "128", "262144", "4"));
  /* Each SM has room for eight CTAs of two warps, which are too few to hide a load's latency. */
  char small[sizeof WORKLOAD];
  memcpy(small, WORKLOAD, sizeof small);
  memcpy(strstr(small, "block = [256]"), "block = [ 64]", 13);
  scratch_write("waits/workload.toml", small);
  scratch_write("waits/kernel.ptx", KERNEL("1024", "4", "0", "4"));
  return 0;
}

static session open_lines(const char *name) {
  session z = {.w = open_workload(scratch_path(name), "small"), .g = load_gpu("gtx570")};
  hd_diag d = {0};
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = z.g.n_sms};
  const hd_study_options how = {.timed = true};
  z.g.l2.bytes_per_cycle /= 10;                          /* what bypasses L1 waits for L2 */
  if (strcmp(name, "streams") == 0) z.g.l1_mshrs = 1024; /* and not for MSHRs, which all loads take alike */
  if (hd_study_open(z.w, &run, &how, &z.s, &d) != HD_OK) fail_msg("%s", d.message);
  return z;
}

static double us_under(const session *z, const char *plan) {
  hd_plan p = parse_plan(plan);
  hd_counters c;
  hd_diag d = {0};
  if (hd_study_replay(z->s, &z->g, &p, z->g.dispatch, 0, &c, &d) != HD_OK)
    fail_msg("%s: %s", plan, d.message);
  return c.time_us;
}

/* The fastest threshold of whole launches, of some. */
static uint32_t best_of_launches(const session *z) {
  uint32_t best = WARPS;
  double least = us_under(z, "baseline");
  for (uint32_t k = 0; k < WARPS; k += 3) {
    char plan[64];
    snprintf(plan, sizeof plan, "bypass=l1:%u", k);
    const double us = us_under(z, plan);
    if (us < least) least = us, best = k;
  }
  return best;
}

static void expect_vote(const char *name, uint32_t best) {
  session z = open_lines(name);
  uint32_t ctas[32] = {0}, of[WARPS + 1] = {0}, sum = 0, most;
  hd_diag d = {0};
  if (hd_study_vote(z.s, &z.g, &threshold, 0, ctas, &most, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(most, WARPS);
  for (uint32_t i = 0; i < z.g.n_sms; i++) {
    const uint32_t k = hd_bypass_voted(WARPS, i);
    sum += ctas[i];
    if (ctas[i] > of[k]) of[k] = ctas[i];
  }
  assert_int_equal(sum, CTAS);
  for (uint32_t k = 0; k <= WARPS; k++)
    if (k != best && of[k] >= of[best])
      fail_msg("%s: threshold %u: %u CTAs; %u: %u", name, k, of[k], best, of[best]);
  assert_int_equal(best_of_launches(&z), best);
  close_session(&z);
}

static void the_vote_finds_the_threshold_of_whole_launches(void **state) {
  expect_vote("fits", WARPS);
  expect_vote("streams", 0);
}

/* Tasks per SM by the number of agents, and the times of whole launches: both rise or fall from one to all.
 */
static void expect_agents(const char *name, const char *company, uint32_t all, uint32_t best) {
  enum { MOST = 8 };
  session z = open_lines(name);
  uint32_t ctas[32] = {0}, of[MOST + 1] = {0}, sum = 0, most;
  double us[MOST + 1];
  hd_diag d = {0};
  char plan[96];
  snprintf(plan, sizeof plan, "%sbind=agents:auto", company);
  hd_plan p = parse_plan(plan);
  if (hd_study_vote(z.s, &z.g, &p, 0, ctas, &most, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(most, all);
  for (uint32_t i = 0; i < z.g.n_sms; i++) {
    const uint32_t k = hd_agents_voted(all, i);
    sum += ctas[i];
    if (ctas[i] > of[k]) of[k] = ctas[i];
  }
  assert_int_equal(sum, CTAS);
  for (uint32_t k = 1; k <= all; k++) {
    snprintf(plan, sizeof plan, "%sbind=agents:%u", company, k);
    us[k] = us_under(&z, plan);
  }
  for (uint32_t k = 1; k <= all; k++) {
    if (k != best && of[k] >= of[best])
      fail_msg("%s: %u agents: %u tasks; %u: %u", name, k, of[k], best, of[best]);
    if (k != best && us[k] <= us[best])
      fail_msg("%s: %u agents: %g us; %u: %g", name, k, us[k], best, us[best]);
  }
  close_session(&z);
}

static void fewer_agents_win_where_they_fit_in_l1(void **state) {
  expect_agents("crowds", "", 6, 2);
  expect_agents("crowds", "order=reverse,", 6, 2);
}

static void all_agents_win_where_they_hide_latency(void **state) { expect_agents("waits", "", 8, 8); }

static void expect_sample(const char *name, uint32_t best) {
  session z = open_lines(name);
  double cycles[WARPS + 1];
  hd_diag d = {0};
  if (hd_study_sample_thresholds(z.s, &z.g, 0, cycles, &d) != HD_OK) fail_msg("%s", d.message);
  for (uint32_t k = 0; k <= WARPS; k++)
    if (k != best && cycles[k] <= cycles[best])
      fail_msg("%s: %g cycles of a CTA with %u warps, %g with %u", name, cycles[k], k, cycles[best], best);
  assert_true(cycles[WARPS - best] > 1.1 * cycles[best]);
  assert_int_equal(best_of_launches(&z), best);
  close_session(&z);
}

static void the_fastest_sample_has_the_threshold_of_whole_launches(void **state) {
  expect_sample("fits", WARPS);
  expect_sample("streams", 0);
}

/* CTA k has threshold k: there must be such CTAs. */
static void a_few_ctas_are_no_sample(void **state) {
  static const char *const ctas[] = {"8", "9"};
  for (size_t i = 0; i < 2; i++) {
    char text[sizeof WORKLOAD], *at;
    double cycles[WARPS + 1];
    hd_diag d = {0};
    memcpy(text, WORKLOAD, sizeof text);
    at = strstr(text, "480");
    memcpy(at, "  ", 2);
    at[2] = ctas[i][0];
    scratch_write("few/workload.toml", text);
    scratch_write("few/kernel.ptx", KERNEL("1024", "4", "0", "4"));
    session z = open_lines("few");
    assert_int_equal(hd_study_sample_thresholds(z.s, &z.g, 0, cycles, &d), i ? HD_OK : HD_ERR_UNSUPPORTED);
    if (!i) assert_string_equal(d.message, "9 thresholds, and 8 CTAs to try them");
    close_session(&z);
  }
}

static void a_sampled_study_has_neither(void **state) {
  hd_workload *w = open_workload(scratch_path("streams"), "small");
  const hd_gpu g = load_gpu("gtx570");
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 1000};
  hd_study *s;
  uint32_t ctas[32], most;
  hd_diag d = {0};
  if (hd_study_open(w, &run, &how, &s, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(hd_study_part(s) < 1);
  const hd_plan agents = {.bind = HD_BIND_AGENTS, .agents_voted = true}, neither = {.bind = HD_BIND_AGENTS};
  assert_int_equal(hd_study_vote(s, &g, &threshold, 0, ctas, &most, &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "sampled"));
  assert_int_equal(hd_study_vote(s, &g, &agents, 0, ctas, &most, &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "sampled"));
  assert_int_equal(hd_study_vote(s, &g, &neither, 0, ctas, &most, &d), HD_ERR_USAGE);
  assert_int_equal(hd_study_sample_thresholds(s, &g, 0, (double[WARPS + 1]){0}, &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "sampled"));
  hd_study_close(s);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the vote finds the threshold of whole launches",
                the_vote_finds_the_threshold_of_whole_launches),
      BEHAVIOUR("fewer agents win where they fit in L1", fewer_agents_win_where_they_fit_in_l1),
      BEHAVIOUR("all agents win where they hide latency", all_agents_win_where_they_hide_latency),
      BEHAVIOUR("the fastest sample has the threshold of whole launches",
                the_fastest_sample_has_the_threshold_of_whole_launches),
      BEHAVIOUR("a few CTAs are no sample", a_few_ctas_are_no_sample),
      BEHAVIOUR("a sampled study has neither vote nor sample", a_sampled_study_has_neither),
  };
  return cmocka_run_group_tests_name("predict.votes", tests, setup, scratch_teardown);
}
