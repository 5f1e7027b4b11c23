/* stream=auto: the loads that it stands for, and the plans that it resolves to. */
#include "check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

/* The list of a workload's first kernel as a plan. */
static void print_list(const hd_workload *w, const hd_study *s, double most, char *out, size_t cap) {
  hd_load_facts *loads;
  uint32_t n;
  hd_plan p = {0};
  hd_diag d = {0};
  hd_buf text = {0};
  if (hd_study_loads(w, 0, NULL, s, &loads, &n, &d) != HD_OK) fail_msg("%s", d.message);
  for (uint32_t i = 0; i < n; i++) assert_true(loads[i].reused <= loads[i].requests);
  p.stream = hd_streaming_loads(loads, n, most);
  hd_plan_print(&p, &text);
  snprintf(out, cap, "%s", text.data);
  hd_buf_free(&text);
  free(loads);
}

static void a_kernel_of_streams_has_all_its_loads_listed(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("black-scholes", "tiny");
  char list[256], again[256];
  print_list(w, NULL, HD_STREAM_REUSED, list, sizeof list);
  assert_string_equal(list, "stream=0+1+2");                  /* price, strike, years */
  print_list(w, NULL, HD_STREAM_REUSED, again, sizeof again); /* from the cache, if there is one */
  assert_string_equal(list, again);
  hd_workload_close(w);
}

static hd_counters replay(const hd_study *s, const char *gpu, const char *text) {
  hd_plan p = parse_plan(text);
  const hd_gpu g = load_gpu(gpu);
  hd_counters c;
  hd_diag d = {0};
  if (hd_study_replay(s, &g, &p, HD_DISPATCH_ROUND_ROBIN, 1, &c, &d) != HD_OK)
    fail_msg("%s: %s", text, d.message);
  return c;
}

/* In bfs' first kernel some loads stream; the second one's change nothing here. */
static void loads_that_stream_lose_nothing_by_it(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("bfs", "tiny");
  hd_study *s;
  hd_diag d = {0};
  if (hd_study_open(w, NULL, NULL, &s, &d) != HD_OK) fail_msg("%s", d.message);
  hd_counters before = replay(s, "h100", "baseline"), after = replay(s, "h100", "stream=auto");
  assert_true(after.l1_sectors < before.l1_sectors);
  uint64_t misses = before.l1_sectors - before.l1_hits, misses_after = after.l1_sectors - after.l1_hits;
  uint64_t gone = before.l1_sectors - after.l1_sectors;
  assert_true(misses_after <= misses);
  assert_true((double)(before.l1_hits - after.l1_hits) <= 0.1 * (double)gone);
  assert_true((double)after.l2_read_sectors <= 1.02 * (double)before.l2_read_sectors);
  hd_study_close(s);
  hd_workload_close(w);
}

static void a_plan_that_streams_what_it_finds_computes_the_same(void **state) {
  skip_without_compiler();
  static const char *const plans[] = {"stream=auto", "bypass=l1:1,stream=auto", "bypass=l2:1,stream=auto"};
  hd_workload *w = open_workload("black-scholes", "tiny");
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    hd_plan p = parse_plan(plans[i]);
    hd_check_options o = {.no_reference = true};
    hd_check_result r;
    hd_diag d = {0};
    if (hd_check(w, &p, &o, &r, &d) != HD_OK) fail_msg("%s: %s", plans[i], d.message);
    assert_true(r.equal);
  }
  hd_workload_close(w);
}

static void a_kernel_without_streams_is_refused(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("spmv-csr", "tiny");
  hd_plan p = parse_plan("stream=auto");
  hd_check_options o = {.no_reference = true};
  hd_check_result r;
  hd_diag d = {0};
  assert_int_equal(hd_check(w, &p, &o, &r, &d), HD_ERR_REFUSED);
  assert_non_null(strstr(d.message, "spmv_csr"));
  hd_workload_close(w);
}

/* The cache's entry of the only loads that were listed with this cache. */
static void only_entry(const char *cache, char *out, size_t cap) {
  char pattern[256];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/heddle/*.loads", cache);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  snprintf(out, cap, "%s", found.gl_pathv[0]);
  globfree(&found);
}

/* A cache folder of the test's own; returns what end_cache puts back. */
static char *begin_cache(char *folder) {
  const char *before = getenv("XDG_CACHE_HOME");
  char *kept = before ? strdup(before) : NULL;
  assert_non_null(mkdtemp(folder));
  setenv("XDG_CACHE_HOME", folder, 1);
  return kept;
}

static void end_cache(char *kept) {
  if (kept)
    setenv("XDG_CACHE_HOME", kept, 1);
  else
    unsetenv("XDG_CACHE_HOME");
  free(kept);
}

static void a_damaged_entry_of_the_cache_is_worked_out_again(void **state) {
  skip_without_compiler();
  static const struct {
    const char *bytes;
    size_t n;
  } damaged[] = {{"", 0},
                 {"0 1", 3},
                 {"3\n0 1 0\n1 1 0\n", 14},
                 {"1\n0 1 0\n1 1 0\n", 14},
                 {"4000000000\n", 11},
                 {"0 1\0 2\n\n\n", 9},
                 {"\n", 1},
                 {"2\n7 1 1\n3 1 1\n", 14},
                 {"x\n", 2}};
  char cache[] = "/tmp/heddle-loads-XXXXXX", path[512], want[1024], got[1024], command[64];
  char *kept = begin_cache(cache);
  hd_workload *w = open_workload("black-scholes", "tiny");
  print_list(w, NULL, 1, want, sizeof want);
  assert_true(want[0]);
  only_entry(cache, path, sizeof path);
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    assert_int_equal(hd_file_write(path, damaged[i].bytes, damaged[i].n, NULL), HD_OK);
    print_list(w, NULL, 1, got, sizeof got);
    if (strcmp(got, want) != 0) fail_msg("entry %zu: %s, not %s", i, got, want);
  }
  hd_workload_close(w);
  snprintf(command, sizeof command, "rm -r %s", cache);
  assert_int_equal(system(command), 0);
  end_cache(kept);
}

/* What a sampled study says of loads and orders is not kept: others would take it for the whole's. */
static void facts_of_samples_are_not_kept(void **state) {
  char cache[] = "/tmp/heddle-loads-XXXXXX", path[64];
  glob_t found;
  skip_without_compiler();
  hd_workload *w = open_workload("transpose", "paper");
  const hd_gpu g = load_gpu("h100");
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 1000000};
  hd_study *s;
  hd_load_facts *loads;
  hd_table table;
  uint32_t n;
  hd_diag d = {0};
  if (hd_study_open(w, &run, &how, &s, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(hd_study_part(s) < 1);
  char *kept = begin_cache(cache);
  assert_int_equal(hd_study_loads(w, 0, &run, s, &loads, &n, &d), HD_OK);
  assert_int_equal(hd_order_table(w, 0, &run, HD_ORDER_HEAVY_FIRST, s, &table, &d), HD_OK);
  snprintf(path, sizeof path, "%s/*/*.[tl]*", cache); /* tables and loads */
  assert_int_equal(glob(path, 0, NULL, &found), GLOB_NOMATCH);
  snprintf(path, sizeof path, "rm -r %s", cache);
  assert_int_equal(system(path), 0);
  end_cache(kept);
  free(loads);
  hd_table_free(&table);
  hd_study_close(s);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("in a kernel that streams, all loads are listed",
                a_kernel_of_streams_has_all_its_loads_listed),
      BEHAVIOUR("loads that stream lose no hits and cost L2 nothing", loads_that_stream_lose_nothing_by_it),
      BEHAVIOUR("a plan that streams what it finds computes the same, bypassing beside it",
                a_plan_that_streams_what_it_finds_computes_the_same),
      BEHAVIOUR("a kernel without streams is refused by its name", a_kernel_without_streams_is_refused),
      BEHAVIOUR("a damaged entry of the cache is worked out again",
                a_damaged_entry_of_the_cache_is_worked_out_again),
      BEHAVIOUR("what a sampled study says is not kept", facts_of_samples_are_not_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
