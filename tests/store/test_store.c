/* The store of verdicts: what is kept comes back, whoever else writes at the same time. */
#include "check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/store.h"

static char folder[] = "/tmp/heddle-store-XXXXXX", path[64];
static hd_diag d;

static int setup(void **state) {
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/v.db", folder);
  return 0;
}

static void remove_files(void) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  char file[80];
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    remove(file);
  }
}

static int teardown(void **state) {
  remove_files();
  return rmdir(folder);
}

static hd_store *open_store(void) {
  hd_store *s;
  char line[1400];
  if (hd_store_open(path, &s, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return s;
}

static hd_verdict verdict(unsigned i) {
  hd_verdict v = {.speedup = 1 + i / 8.0,
                  .low = 1 + i / 16.0,
                  .high = 2 + i,
                  .confidence = 0.99,
                  .before_us = 10,
                  .after_us = 10 / (1 + i / 8.0),
                  .tried = i,
                  .when = 1000 + i};
  uint32_t grid[3] = {i + 1, 2, 3}, block[3] = {32, 8, 1};
  hd_verdict_kernel("text", 4, "kernel", v.key.kernel);
  hd_verdict_launch(grid, block, 7, "args", 4, v.key.launch);
  snprintf(v.key.gpu, sizeof v.key.gpu, "GPU %u", i % 3);
  strcpy(v.key.driver, "580.1");
  snprintf(v.name, sizeof v.name, "matmul '%u'", i);
  strcpy(v.plan, "order=tile:8x4,bind=agents:6");
  strcpy(v.counters, "{\"before\": {\"time_us\": 10}}");
  return v;
}

static void what_is_put_comes_back(void **state) {
  hd_store *s = open_store();
  hd_verdict v = verdict(3), got;
  bool found;
  assert_int_equal(hd_store_get(s, &v.key, &got, &found, &d), HD_OK);
  assert_false(found);
  assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  hd_store_close(s);
  s = open_store(); /* and outlives the program */
  assert_int_equal(hd_store_get(s, &v.key, &got, &found, &d), HD_OK);
  assert_true(found);
  assert_memory_equal(&got, &v, sizeof v);
  v.speedup = 9;
  assert_int_equal(hd_store_put(s, &v, &d), HD_OK); /* one verdict a key */
  assert_int_equal(hd_store_get(s, &v.key, &got, &found, &d), HD_OK);
  assert_memory_equal(&got, &v, sizeof v);
  hd_store_close(s);
  remove_files();
}

static void every_part_of_the_key_counts(void **state) {
  hd_store *s = open_store();
  hd_verdict v = verdict(1), got;
  assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  char *const parts[] = {v.key.kernel, v.key.launch, v.key.gpu, v.key.driver};
  for (size_t i = 0; i < 4; i++) {
    bool found;
    char first = parts[i][0];
    parts[i][0] = '#';
    assert_int_equal(hd_store_get(s, &v.key, &got, &found, &d), HD_OK);
    assert_false(found);
    parts[i][0] = first;
  }
  hd_store_close(s);
  remove_files();
}

static void keys_tell_kernels_and_launches_apart(void **state) {
  char a[HD_DIGEST_HEX], b[HD_DIGEST_HEX], l[192], m[192];
  hd_verdict_kernel("ab", 2, "c", a);
  hd_verdict_kernel("a", 1, "bc", b);
  assert_string_not_equal(a, b);
  uint32_t grid[3] = {2147483647, 65535, 65535}, block[3] = {1024, 1024, 64};
  hd_verdict_launch(grid, block, UINT32_MAX, NULL, 0, l);
  assert_string_equal(l, "grid=2147483647x65535x65535 block=1024x1024x64 shared=4294967295 args=any");
  hd_verdict_launch(grid, block, UINT32_MAX, "", 0, m);
  assert_string_not_equal(l, m);
}

typedef struct names {
  char text[1024];
} names;

static bool add_name(void *ctx, const hd_verdict *v) {
  names *n = ctx;
  size_t used = strlen(n->text);
  snprintf(n->text + used, sizeof n->text - used, "%s;", v->name);
  return true;
}

static void filters_choose_by_pattern_and_age(void **state) {
  hd_store *s = open_store();
  for (unsigned i = 0; i < 6; i++) {
    hd_verdict v = verdict(i);
    snprintf(v.name, sizeof v.name, "%s-%u", i % 2 ? "odd" : "even", i);
    assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  }
  static const struct {
    hd_store_filter f;
    const char *want;
  } cases[] = {
      {{0}, "even-0;even-2;even-4;odd-1;odd-3;odd-5;"},
      {{.name = "odd*"}, "odd-1;odd-3;odd-5;"},
      {{.gpu = "GPU 1"}, "even-4;odd-1;"},
      {{.before = 1003}, "even-0;even-2;odd-1;"},
      {{.name = "*-[45]", .gpu = "GPU *", .driver = "580*"}, "even-4;odd-5;"},
      {{.driver = "x' OR 1"}, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    names n = {0};
    assert_int_equal(hd_store_each(s, &cases[i].f, add_name, &n, &d), HD_OK);
    assert_string_equal(n.text, cases[i].want);
  }
  uint64_t dropped;
  assert_int_equal(hd_store_prune(s, &cases[1].f, &dropped, &d), HD_OK);
  assert_int_equal(dropped, 3);
  names n = {0};
  assert_int_equal(hd_store_each(s, NULL, add_name, &n, &d), HD_OK);
  assert_string_equal(n.text, "even-0;even-2;even-4;");
  hd_store_close(s);
  remove_files();
}

static void an_export_imports_elsewhere_and_newer_verdicts_stay(void **state) {
  hd_store *s = open_store();
  for (unsigned i = 0; i < 20; i++) {
    hd_verdict v = verdict(i);
    assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  }
  hd_buf text = {0}, again = {0};
  assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_OK);
  hd_store_close(s);
  remove_files();
  s = open_store();
  hd_verdict newer = verdict(4), older = verdict(5), got;
  newer.when += 1000;
  older.when -= 1000;
  assert_int_equal(hd_store_put(s, &newer, &d), HD_OK);
  assert_int_equal(hd_store_put(s, &older, &d), HD_OK);
  uint64_t n;
  assert_int_equal(hd_store_import(s, text.data, text.len, "f.json", &n, &d), HD_OK);
  assert_int_equal(n, 19);
  bool found;
  assert_int_equal(hd_store_get(s, &newer.key, &got, &found, &d), HD_OK);
  assert_int_equal(got.when, newer.when);
  newer.when -= 1000;
  assert_int_equal(hd_store_put(s, &newer, &d), HD_OK);
  assert_int_equal(hd_store_export(s, NULL, &again, &d), HD_OK);
  assert_string_equal(again.data, text.data);
  hd_buf_free(&text);
  hd_buf_free(&again);
  hd_store_close(s);
  remove_files();
}

static void a_bad_import_changes_nothing(void **state) {
  hd_store *s = open_store();
  hd_verdict v = verdict(2);
  assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  hd_buf text = {0};
  assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_OK);
  uint64_t n;
  for (size_t cut = 0; cut + 3 < text.len; cut++) /* the last brace and newline are needed */
    assert_int_equal(hd_store_import(s, text.data, cut, "f", &n, &d), HD_ERR_INPUT);
  static const struct {
    const char *from, *to;
  } changes[] = {{"heddle_verdicts\": 1", "heddle_verdicts\": 2"},
                 {"\"plan\": \"order", "\"plan\": \""},
                 {"\"tried\": 2", "\"tried\": -2"},
                 {"\"plan\"", "\"plam\""},
                 {"\"low\": ", "\"low\": \"x\", \"x\": "}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    char *at = strstr(text.data, changes[i].from);
    assert_non_null(at);
    hd_buf bad = {0};
    hd_buf_put(&bad, text.data, (size_t)(at - text.data));
    hd_buf_puts(&bad, changes[i].to);
    if (i == 1)
      for (int k = 0; k < 600; k++) hd_buf_putc(&bad, 'o');
    hd_buf_puts(&bad, at + strlen(changes[i].from));
    assert_int_equal(hd_store_import(s, bad.data, bad.len, "f", &n, &d), HD_ERR_INPUT);
    assert_int_equal(n, 0);
    hd_buf_free(&bad);
  }
  hd_buf_free(&text);
  hd_store_close(s);
  remove_files();
}

static void what_is_no_store_is_left_alone(void **state) {
  hd_store *s;
  char line[1400];
  assert_int_equal(
      hd_file_write(path, "this is a text, not a database, and long enough for a header", 60, &d), HD_OK);
  assert_int_equal(hd_store_open(path, &s, &d), HD_ERR_INPUT);
  assert_non_null(strstr(hd_diag_line(&d, line, sizeof line), path));
  remove_files();
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(hd_store_open(path, &s, &d), HD_ERR_INPUT);
  remove_files();
  hd_store_close(open_store());
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(hd_store_open(path, &s, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "version 99"));
  remove_files();
  assert_int_equal(hd_store_open("/no/such/folder/v.db", &s, &d), HD_ERR_IO);
}

static void many_processes_write_at_once(void **state) {
  enum { PROCESSES = 6, EACH = 25 };
  pid_t child[PROCESSES];
  for (unsigned p = 0; p < PROCESSES; p++) {
    child[p] = fork();
    if (child[p] == 0) { /* opening races too */
      hd_store *s;
      if (hd_store_open(path, &s, NULL) != HD_OK) _exit(1);
      for (unsigned i = 0; i < EACH; i++) {
        hd_verdict v = verdict(p * EACH + i);
        if (hd_store_put(s, &v, NULL) != HD_OK) _exit(2);
      }
      hd_store_close(s);
      _exit(0);
    }
  }
  for (unsigned p = 0; p < PROCESSES; p++) {
    int status;
    waitpid(child[p], &status, 0);
    assert_int_equal(status, 0);
  }
  hd_store *s = open_store();
  uint64_t n;
  assert_int_equal(hd_store_prune(s, NULL, &n, &d), HD_OK);
  assert_int_equal(n, PROCESSES * EACH);
  hd_store_close(s);
  remove_files();
}

static void a_verdict_without_sense_is_not_kept(void **state) {
  hd_store *s = open_store();
  hd_verdict v = verdict(0);
  v.low = 0.0 / 0.0;
  assert_int_equal(hd_store_put(s, &v, &d), HD_ERR_USAGE);
  v = verdict(0);
  v.plan[0] = 0;
  assert_int_equal(hd_store_put(s, &v, &d), HD_ERR_USAGE);
  hd_store_close(s);
  remove_files();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_comes_back),
      cmocka_unit_test(every_part_of_the_key_counts),
      cmocka_unit_test(keys_tell_kernels_and_launches_apart),
      cmocka_unit_test(filters_choose_by_pattern_and_age),
      cmocka_unit_test(an_export_imports_elsewhere_and_newer_verdicts_stay),
      cmocka_unit_test(a_bad_import_changes_nothing),
      cmocka_unit_test(what_is_no_store_is_left_alone),
      cmocka_unit_test(many_processes_write_at_once),
      cmocka_unit_test(a_verdict_without_sense_is_not_kept),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
