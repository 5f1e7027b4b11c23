/* Samples of launches whose workers claim tasks from queues, against whole replays: one CTA an SM, few tasks
 * for each, waves that are short of some. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"
#include "session.h"

/* Each thread reads `turns` columns of a matrix, as its CTA's number says. */
static const char kernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry walk(.param .u64 in, .param .u64 out, .param .u32 turns) {\n"
    " .reg .b32 %r<6>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1;\n"
    " ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;\n ld.param.u32 %r1, [turns];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r2, 128, %r3;\n"
    " mul.wide.u32 %rd3, %r4, 4; add.u64 %rd2, %rd2, %rd3; mov.f32 %f1, 0f00000000;\n"
    "turn:\n and.b32 %r5, %r4, 4194303; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.u32 %r4, %r4, 8192;\n"
    " sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra turn;\n st.global.f32 [%rd2], %f1;\n ret;\n}\n";

/* With its shared memory one of its CTAs fits on an SM, or two do. */
static const char workload[] =
    "title = \"t\"\nsource = \"kernel.ptx\"\n"
    "[[buffer]]\nname = \"in\"\ntype = \"f32\"\ncount = \"4194304\"\nfill = \"zero\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = \"128 * n\"\n"
    "[[launch]]\nkernel = \"walk\"\ngrid = [\"n\"]\nblock = [128]\nshared = %u\n"
    "args = [\"in\", \"out\", { type = \"s32\", value = \"300\" }]\n"
    "[sizes.tiny]\nn = %u\n[sizes.small]\nn = 1\n";

enum { SMS = 5, ONE = 40000, TWO = 20000, UNITS = 20000 };

static void write_files(const char *folder, unsigned tasks, unsigned shared) {
  char path[512];
  snprintf(path, sizeof path, "%s/kernel.ptx", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(kernel, f);
  fclose(f);
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, workload, shared, tasks);
  fclose(f);
}

static hd_counters replay(hd_study *s, const hd_gpu *g, const char *text) {
  const hd_plan p = parse_plan(text);
  hd_diag d = {0};
  hd_counters c;
  if (hd_study_replay(s, g, &p, g->dispatch, 0, &c, &d) != HD_OK) fail_msg("%s: %s", text, d.message);
  return c;
}

static void compare(const char *folder, unsigned tasks, unsigned shared) {
  static const char *const plans[] = {"baseline",      "order=reverse", "bind=agents",
                                      "bind=agents:1", "bind=claim",    "order=reverse,bind=agents"};
  hd_gpu g = load_gpu("gtx570");
  hd_study *s[2];
  hd_diag d = {0};
  g.n_sms = SMS;
  write_files(folder, tasks, shared);
  hd_workload *w = open_workload(folder, "tiny");
  for (unsigned k = 0; k < 2; k++) {
    const hd_run_options run = {.machine.threads = 2, .machine.n_sms = SMS};
    const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = k ? UNITS : 0};
    if (hd_study_open(w, &run, &how, &s[k], &d) != HD_OK) fail_msg("%s", d.message);
  }
  assert_true(hd_study_part(s[1]) < 1);
  double base[2] = {0};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    const hd_counters whole = replay(s[0], &g, plans[i]), some = replay(s[1], &g, plans[i]);
    if (!i) base[0] = whole.time_us, base[1] = some.time_us;
    const double time = some.time_us / whole.time_us,
                 gain = base[1] / some.time_us / (base[0] / whole.time_us);
    print_message("%u tasks, %u bytes, %s: %.1f us, of a sample %.1f (%.3f), stated %.3f, gain %.3f\n", tasks,
                  shared, plans[i], whole.time_us, some.time_us, time, some.time_error_us / some.time_us,
                  gain);
    assert_true(time > 0.75 && time < 1.35);
    assert_true(gain > 0.75 && gain < 1.25);
    assert_true(fabs(time - 1) < 0.2 || some.time_error_us > HD_SAMPLE_ERROR * some.time_us);
  }
  for (unsigned k = 0; k < 2; k++) hd_study_close(s[k]);
  hd_workload_close(w);
}

static void plans_with_queues_take_as_long_in_a_sample_as_in_the_whole(void **state) {
  static const unsigned tasks[] = {17, 21, 34, 78};
  char folder[] = "/tmp/heddle-queues-XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
    compare(folder, tasks[i], ONE);
    compare(folder, tasks[i], TWO);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* The tasks of the parts of a launch, one after the other, from n queues: each task once, and of each part as
 * many as it has places, but for what queues of two sizes round. */
static void parts_have_as_many_tasks_in_queues_as_in_a_row(void **state) {
  static const uint64_t all[] = {7, 256, 1000, 4096};
  static const uint32_t queues[] = {1, 4, 15, 132};
  for (unsigned a = 0; a < 4; a++)
    for (unsigned q = 0; q < 4; q++) {
      const uint64_t n = all[a], step = n < queues[q] ? 1 : queues[q];
      bool seen[4096] = {0};
      uint64_t sum = 0;
      uint32_t of[1] = {0};
      for (uint64_t first = 0; first < n; first += step) {
        const hd_replay_options o = {.claims = {.n_queues = queues[q], .queue_of = of},
                                     .part = {first, n - first < step ? n - first : step}};
        uint64_t *tasks, some;
        assert_int_equal(hd_replay_tasks(&o, n, &tasks, &some, NULL), HD_OK);
        if (n >= queues[q] && (some > o.part.n + 1 || some + 1 < o.part.n))
          fail_msg("%u queues of %u: %u of a part of %u", queues[q], (unsigned)n, (unsigned)some,
                   (unsigned)o.part.n);
        for (uint64_t i = 0; i < some; i++) {
          assert_false(seen[tasks[i]]);
          seen[tasks[i]] = true;
        }
        sum += some;
        free(tasks);
      }
      assert_int_equal(sum, n);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_as_many_tasks_in_queues_as_in_a_row),
      cmocka_unit_test(plans_with_queues_take_as_long_in_a_sample_as_in_the_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
