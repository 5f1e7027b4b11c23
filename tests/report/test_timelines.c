/* Timelines of a launch under two plans: as a file of trace events, and as JSON for the page. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heddle/timelines.h"
#include "report/code.h"
#include "report/timelines.h"

typedef struct session {
  hd_workload *w;
  hd_study *s;
  hd_timelines t;
} session;
static hd_gpu gpu; /* which timelines point to */

static void must(hd_status st, const hd_diag *d) {
  char line[1400];
  if (st != HD_OK) fail_msg("%s", hd_diag_line(d, line, sizeof line));
}

/* A product of 4 x 4 CTAs, in rows and in columns, on two SMs. */
static session show(uint64_t most) {
  session z = {0};
  hd_diag d = {0};
  hd_plan plans[HD_TIMELINES] = {0};
  must(hd_gpu_load("h100", SOURCE_DIR "/gpus", &gpu, &d), &d);
  gpu.n_sms = 2;
  must(hd_workload_open(SOURCE_DIR "/corpus/triton/matmul-sm80", NULL, "small", &z.w, &d), &d);
  const hd_run_options run = {.machine = {.threads = 1, .n_sms = gpu.n_sms}};
  const hd_study_options how = {.timed = true};
  must(hd_study_open(z.w, &run, &how, &z.s, &d), &d);
  must(hd_plan_parse("order=col", &plans[1], &d), &d);
  must(hd_timelines_make(z.s, z.w, &gpu, HD_DISPATCH_DEMAND, 1, plans, HD_TIMELINES, most, &z.t, &d), &d);
  return z;
}

static void put_away(session *z) {
  hd_timelines_free(&z->t);
  hd_study_close(z->s);
  hd_workload_close(z->w);
}

static json_t *read_trace(const session *z) {
  hd_buf b = {0};
  json_error_t e;
  hd_timelines_trace(&z->t, &b);
  assert_false(b.failed);
  json_t *j = json_loads(b.data, JSON_REJECT_DUPLICATES, &e);
  if (!j) fail_msg("line %d: %s", e.line, e.text);
  hd_buf_free(&b);
  return j;
}

static const char *word(const json_t *event, const char *key) {
  const char *w = json_string_value(json_object_get(event, key));
  return w ? w : "";
}
static int64_t count(const json_t *event, const char *key) {
  const json_t *v = json_object_get(event, key);
  if (!json_is_integer(v)) fail_msg("'%s' is no integer", key);
  return json_integer_value(v);
}
static double real(const json_t *event, const char *key) {
  const json_t *v = json_object_get(event, key);
  if (!json_is_number(v)) fail_msg("'%s' is no number", key);
  return json_number_value(v);
}

/* What the format asks of each kind of event that is there: a process and, but for counters, a thread; a time
 * in microseconds, but for names; a length of complete events; values of counters that are numbers. */
static void every_event_has_what_its_kind_needs(void **state) {
  session z = show(0);
  json_t *j = read_trace(&z), *events = json_object_get(j, "traceEvents"), *e;
  size_t i, kinds[128] = {0};
  assert_true(json_is_array(events));
  assert_true(!strcmp(word(j, "displayTimeUnit"), "ns") || !strcmp(word(j, "displayTimeUnit"), "ms"));
  json_array_foreach(events, i, e) {
    const char *ph = word(e, "ph");
    assert_int_equal(strlen(ph), 1);
    assert_true(strchr("MXC", *ph) && strlen(word(e, "name")));
    kinds[(unsigned char)*ph]++;
    assert_true(count(e, "pid") >= 1 && count(e, "pid") <= HD_TIMELINES);
    assert_true(json_is_object(json_object_get(e, "args")));
    if (*ph != 'C') assert_true(count(e, "tid") >= 0);
    assert_true(real(e, "ts") >= 0); /* speedscope wants one of each event */
    if (*ph == 'X') assert_true(real(e, "dur") >= 0);
    if (*ph == 'C') assert_true(real(json_object_get(e, "args"), "value") >= 0);
  }
  assert_int_equal(kinds['X'], z.t.at[0].n + z.t.at[1].n);
  assert_true(kinds['C'] > 4 && kinds['M'] > 4);
  json_decref(j);
  put_away(&z);
}

/* The last bin ends with the replay, and its rate is over that time. */
static void the_last_rate_is_over_the_time_that_was_left(void **state) {
  session z = show(0);
  hd_timeline *t = &z.t.at[0];
  const uint64_t left = HD_TIMELINE_EPOCH + 100;
  t->bin_cycles = 4 * HD_TIMELINE_EPOCH;
  t->cycles = (t->n_bins - 1) * t->bin_cycles + left;
  t->bins[t->n_bins - 1].dram_bytes = 1 << 16;
  json_t *j = read_trace(&z), *e;
  double last = -1;
  size_t i;
  json_array_foreach(json_object_get(j, "traceEvents"), i,
                     e) if (!strcmp(word(e, "name"), "DRAM, GB/s") && count(e, "pid") == 1) last =
      real(json_object_get(e, "args"), "value");
  const double want = (1 << 16) * t->clock_mhz / 1e3 / (double)left;
  assert_true(last > want * 0.999 && last < want * 1.001);
  json_decref(j);
  put_away(&z);
}

/* Threads have numbers of their own in each process: Perfetto's belong to one. */
enum { PLACES = 256 };
static uint32_t place_of(const json_t *event) {
  const int64_t pid = count(event, "pid"), tid = count(event, "tid");
  assert_true(tid >= pid * 1000000 && tid < pid * 1000000 + PLACES / 4);
  return (uint32_t)(pid * PLACES / 4 + tid % 1000000);
}

/* Complete events of a thread must lie apart, or viewers nest them: speedscope also those that touch. */
static void events_of_a_thread_do_not_overlap(void **state) {
  session z = show(0);
  json_t *j = read_trace(&z), *e;
  double free_at[PLACES] = {0};
  size_t i;
  json_array_foreach(json_object_get(j, "traceEvents"), i, e) {
    if (strcmp(word(e, "ph"), "X") != 0) continue;
    double *at = &free_at[place_of(e)];
    assert_true(*at == 0 || real(e, "ts") > *at + 5e-5);
    *at = real(e, "ts") + real(e, "dur");
  }
  json_decref(j);
  put_away(&z);
}

static void every_thread_and_process_has_a_name(void **state) {
  session z = show(0);
  json_t *j = read_trace(&z), *e;
  bool named[PLACES] = {0};
  const char *plans[HD_TIMELINES + 1] = {0};
  size_t i;
  json_array_foreach(json_object_get(j, "traceEvents"), i, e) {
    const char *name = word(json_object_get(e, "args"), "name");
    if (!strcmp(word(e, "name"), "thread_name")) named[place_of(e)] = name[0];
    if (!strcmp(word(e, "name"), "process_name")) plans[count(e, "pid")] = name;
  }
  json_array_foreach(json_object_get(j, "traceEvents"), i, e) if (!strcmp(word(e, "ph"), "X"))
      assert_true(named[place_of(e)]);
  assert_string_equal(plans[1], "baseline");
  assert_string_equal(plans[2], "order=col");
  json_decref(j);
  put_away(&z);
}

static void what_is_left_out_is_said(void **state) {
  session z = show(4);
  json_t *j = read_trace(&z);
  assert_true(z.t.at[0].sm_step > 1 || z.t.at[0].kept_until);
  assert_non_null(strstr(word(json_object_get(j, "otherData"), "plan 1"), "one SM in 2 is shown: "));
  json_decref(j);
  put_away(&z);
  z = show(0);
  j = read_trace(&z);
  assert_null(strstr(word(json_object_get(j, "otherData"), "plan 1"), "shown"));
  json_decref(j);
  put_away(&z);
}

/* CTAs of a row of the grid share A, those of a column B. */
static void ctas_have_the_colour_of_what_they_share(void **state) {
  session z = show(0);
  const uint32_t *g = z.w->launches[z.t.launch].grid;
  json_t *j = report_timelines_json(&z.t), *plan, *ctas;
  assert_string_equal(word(j, "kernel"), z.w->launches[z.t.launch].kernel);
  assert_int_equal(json_array_size(json_object_get(j, "plans")), 2);
  const size_t n = json_array_size(json_object_get(j, "colours"));
  assert_true(n >= 1);
  size_t p, i;
  char of[256] = {0};
  json_array_foreach(json_object_get(j, "plans"), p, plan) {
    ctas = json_object_get(plan, "ctas");
    const char *groups = json_string_value(json_array_get(json_object_get(plan, "groups"), 0));
    assert_int_equal(json_array_size(ctas), (size_t)g[0] * g[1] * g[2]);
    assert_int_equal(strlen(groups), json_array_size(ctas));
    assert_int_equal(count(plan, "tasks"), (size_t)g[0] * g[1] * g[2]);
    assert_true(json_array_size(json_object_get(plan, "bins")) > 1);
    json_t *c;
    json_array_foreach(ctas, i, c) {
      char *seen = &of[count(c, "task")];
      if (!p) *seen = groups[i];
      assert_int_equal(*seen, groups[i]); /* the same under both plans */
      assert_true(groups[i] != '.');
    }
  }
  assert_true(real(json_array_get(json_object_get(j, "colours"), 0), "within") > 0.99);
  json_decref(j);
  put_away(&z);
}

/* ---- The kernel's text --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *j, const char *key) { return word(json_object_get(j, key), "text"); }

/* Where line number n of a part begins. */
static const char *line_at(const json_t *part, int64_t n) {
  const char *p = word(part, "text");
  for (int64_t at = count(part, "first"); at < n; at++) p = strchr(p, '\n') + 1;
  return p;
}

static void accesses_stand_at_their_lines(void **state) {
  session z = show(0);
  json_t *j = report_code_json(&z.t, NULL), *plans = json_object_get(j, "plans"), *lines, *one;
  size_t p, i;
  uint64_t sectors = 0;
  assert_null(json_object_get(j, "after"));
  assert_int_equal(json_array_size(plans), 2);
  json_array_foreach(plans, p, lines) {
    assert_true(json_array_size(lines) > 2);
    json_array_foreach(lines, i, one) {
      char text[200];
      snprintf(text, sizeof text, "%.199s", line_at(json_object_get(j, "before"), count(one, "line")));
      *strchr(text, '\n') = 0;
      if (!strstr(text, ".global")) fail_msg("line %d: %s", (int)count(one, "line"), text);
      if (!p) sectors += (uint64_t)count(one, "l2_sectors");
    }
  }
  uint64_t in_bins = 0;
  for (uint32_t k = 0; k < z.t.at[0].n_bins; k++) in_bins += z.t.at[0].bins[k].l2_sectors;
  assert_int_equal(sectors, in_bins);
  json_decref(j);
  put_away(&z);
}

static void of_a_module_the_kernels_text_alone_is_shown(void **state) {
  session z = show(0);
  hd_buf other = {0};
  hd_buf_puts(&other,
              ".version 8.0\n// .entry matmul in a comment {\n.entry matmul2() { ret; }\n"
              ".visible .entry\n  matmul(.param .u64 a) // }\n{ /* } */\n{ mov.u32 %r1, 1; }\nret;\n}\n"
              ".entry last() { ret; }\n");
  json_t *j = report_code_json(&z.t, &other);
  assert_string_equal(text_of(j, "after"),
                      "  matmul(.param .u64 a) // }\n{ /* } */\n{ mov.u32 %r1, 1; }\nret;\n}");
  assert_int_equal(count(json_object_get(j, "after"), "first"), 5);
  assert_non_null(strstr(text_of(j, "before"), ".entry matmul("));
  assert_int_equal(text_of(j, "before")[strlen(text_of(j, "before")) - 1], '}');
  json_decref(j);
  hd_buf_free(&other);
  put_away(&z);
}

/* Links count by where they lead. */
static void no_source_is_read_from_outside_the_workloads_folder(void **state) {
  static const char *const inside[] = {"k.cu", "a/k.cu", "./a//..c", "a/../k.cu", "linked.cu", "up/k.cu"};
  static const char *const outside[] = {"",           "/etc/passwd",    "..",     "../x",  "a/../../x",
                                        "a//../../x", "../within/../x", "secret", "out/x", "missing",
                                        "loop",       "../within2/k.cu"};
  char folder[] = "/tmp/heddle-beside-XXXXXX", within[64], path[PATH_MAX], command[600];
  assert_non_null(mkdtemp(folder));
  snprintf(within, sizeof within, "%s/within", folder);
  snprintf(
      command, sizeof command,
      "cd %s && mkdir -p within/a within2 && cd within && touch ../x k.cu a/k.cu a/..c ../within2/k.cu && "
      "ln -s k.cu linked.cu && ln -s a/.. up && ln -s ../x secret && ln -s .. out && ln -s loop loop",
      folder);
  assert_int_equal(system(command), 0);
  for (size_t k = 0; k < sizeof inside / sizeof *inside; k++)
    if (!report_find_beside(within, inside[k], path)) fail_msg("%s is refused", inside[k]);
  for (size_t k = 0; k < sizeof outside / sizeof *outside; k++)
    if (report_find_beside(within, outside[k], path)) fail_msg("%s would be read", outside[k]);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every event has what its kind needs", every_event_has_what_its_kind_needs),
      BEHAVIOUR("the last rate is over the time that was left", the_last_rate_is_over_the_time_that_was_left),
      BEHAVIOUR("events of a thread do not overlap", events_of_a_thread_do_not_overlap),
      BEHAVIOUR("every thread and process has a name", every_thread_and_process_has_a_name),
      BEHAVIOUR("what is left out is said", what_is_left_out_is_said),
      BEHAVIOUR("CTAs have the colour of what they share", ctas_have_the_colour_of_what_they_share),
      BEHAVIOUR("accesses stand at their lines", accesses_stand_at_their_lines),
      BEHAVIOUR("no source is read from outside the workload's folder",
                no_source_is_read_from_outside_the_workloads_folder),
      BEHAVIOUR("of a module the kernel's text alone is shown", of_a_module_the_kernels_text_alone_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
