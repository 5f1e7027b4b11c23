/* Samples are checked against themselves: one whose places differ grows, or says how unsure it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"
#include "session.h"

/* A thread of the first `even` CTAs reads words beside its neighbours', of the others a sector of its own. */
static const char kernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry walk(.param .u64 in, .param .u64 out, .param .u32 even, .param .u32 turns) {\n"
    " .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<3>;\n"
    " ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1;\n"
    " ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;\n"
    " ld.param.u32 %r7, [even]; ld.param.u32 %r1, [turns];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r2, 128, %r3;\n"
    " mul.wide.u32 %rd3, %r4, 4; add.u64 %rd2, %rd2, %rd3; mov.f32 %f1, 0f00000000;\n"
    " setp.lt.u32 %p2, %r2, %r7; selp.u32 %r8, 0, 5, %p2; shl.b32 %r4, %r4, %r8;\n"
    "turn:\n and.b32 %r5, %r4, 4194303; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.u32 %r4, %r4, 8192;\n"
    " sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra turn;\n st.global.f32 [%rd2], %f1;\n ret;\n}\n";

static const char workload[] =
    "title = \"t\"\nsource = \"kernel.ptx\"\n"
    "[[buffer]]\nname = \"in\"\ntype = \"f32\"\ncount = \"4194304\"\nfill = \"zero\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = \"128 * n\"\n"
    "[[launch]]\nkernel = \"walk\"\ngrid = [\"n\"]\nblock = [128]\nshared = 40000\n"
    "args = [\"in\", \"out\", { type = \"s32\", value = \"%u\" }, { type = \"s32\", value = \"%u\" }]\n"
    "[sizes.tiny]\nn = %u\n[sizes.small]\nn = 1\n";

enum { SMS = 4 };

typedef struct launch {
  unsigned tasks, even, turns;
  uint64_t units;
} launch;

typedef struct result {
  hd_counters counters;
  double part; /* before it grows */
} result;

static void write_file(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static result replay(const launch *l, uint64_t units) {
  char folder[] = "/tmp/heddle-places-XXXXXX", text[1024];
  hd_gpu g = load_gpu("gtx570");
  const hd_plan none = {0};
  hd_study *s;
  hd_diag d = {0};
  result out;
  g.n_sms = SMS;
  assert_non_null(mkdtemp(folder));
  snprintf(text, sizeof text, workload, l->even, l->turns, l->tasks);
  write_file(folder, "workload.toml", text);
  write_file(folder, "kernel.ptx", kernel);
  hd_workload *w = open_workload(folder, "tiny");
  const hd_run_options run = {.machine.threads = 1, .machine.n_sms = SMS};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = units};
  if (hd_study_open(w, &run, &how, &s, &d) != HD_OK) fail_msg("%s", d.message);
  out.part = hd_study_part(s);
  if (hd_study_replay(s, &g, &none, g.dispatch, 0, &out.counters, &d) != HD_OK) fail_msg("%s", d.message);
  hd_study_close(s);
  hd_workload_close(w);
  snprintf(text, sizeof text, "rm -r %s", folder);
  assert_int_equal(system(text), 0);
  return out;
}

static double stated(const result *r) { return r->counters.time_error_us / r->counters.time_us; }

static void show(const char *what, const result *some, const result *whole) {
  print_message("%s: %.3f of it, %.1f us, stated %.3f, off by %+.3f\n", what, some->part,
                some->counters.time_us, stated(some), some->counters.time_us / whole->counters.time_us - 1);
  assert_true(some->part < 1 && whole->part == 1);
}

/* Short tasks, many waves: runs from places that are alike, and from two kinds of places. Two runs, of which
 * the one takes k times as long as the other, are unsure by (k - 1) / (k + 1), eight by a good third of that.
 */
static void runs_that_differ_are_replayed_at_more_places(void **state) {
  const launch alike = {400, 400, 60, 50000}, apart = {400, 200, 60, 50000};
  const result even = replay(&alike, alike.units), even_whole = replay(&alike, 0),
               mixed = replay(&apart, apart.units), mixed_whole = replay(&apart, 0);
  show("alike", &even, &even_whole);
  show("apart", &mixed, &mixed_whole);
  const double k = 2 * mixed_whole.counters.time_us / even_whole.counters.time_us - 1,
               two = (k - 1) / (k + 1);
  assert_true(stated(&even) < HD_SAMPLE_ERROR);
  assert_true(stated(&mixed) > HD_SAMPLE_ERROR && stated(&mixed) < two / 2);
  assert_true(fabs(mixed.counters.time_us / mixed_whole.counters.time_us - 1) < 2 * stated(&mixed));
}

/* Long tasks, whose warps are cut: the first wave is unlike those from the middle on. */
static void a_first_wave_that_is_unlike_those_behind_it_is_unsure(void **state) {
  const launch alike = {64, 64, 600, 20000}, apart = {64, 4, 600, 20000};
  const result even = replay(&alike, alike.units), even_whole = replay(&alike, 0),
               mixed = replay(&apart, apart.units), mixed_whole = replay(&apart, 0);
  show("alike", &even, &even_whole);
  show("apart", &mixed, &mixed_whole);
  assert_true(stated(&even) < HD_SAMPLE_ERROR);
  assert_true(fabs(even.counters.time_us / even_whole.counters.time_us - 1) < 0.15);
  assert_true(stated(&mixed) > 2 * HD_SAMPLE_ERROR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_that_differ_are_replayed_at_more_places),
      cmocka_unit_test(a_first_wave_that_is_unlike_those_behind_it_is_unsure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
