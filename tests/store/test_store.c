/* The store of verdicts: kept verdicts come back, whatever other processes write at the same time. */
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

static int teardown(void **state) { return remove_files(), rmdir(folder); }

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
  strcpy(v.assume, i % 3 ? "" : "no-waits");
  hd_verdict_basis(i % 2 ? HD_BASIS_PLACES : HD_BASIS_UNKNOWN, 8, v.basis);
  strcpy(v.key.size, i % 2 ? "gpu" : "paper");
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
  char *const parts[] = {v.key.kernel, v.key.launch, v.key.gpu, v.key.driver, v.key.size};
  for (size_t i = 0; i < 5; i++) {
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

/* Launch paths see a launch, not the name of its size. */
static void sizes_are_told_apart_by_who_knows_them(void **state) {
  static const struct {
    const char *size;
    int64_t when;
  } kept[] = {{"gpu", 10}, {"gpu_512", 30}, {"", 20}};
  static const struct {
    const char *asked;
    int64_t want;
  } cases[] = {{"gpu", 10}, {"gpu_512", 30}, {"paper", 20}, {"", 30}};
  hd_store *s = open_store();
  hd_verdict v = verdict(1), got;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    strcpy(v.key.size, kept[i].size);
    v.when = kept[i].when;
    assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool found;
    strcpy(v.key.size, cases[i].asked);
    assert_int_equal(hd_store_get(s, &v.key, &got, &found, &d), HD_OK);
    assert_true(found);
    assert_int_equal(got.when, cases[i].want);
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
  } changes[] = {{"heddle_verdicts\": 4", "heddle_verdicts\": 5"},
                 {"\"size\": \"paper", "\"sice\": \"paper"},
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
    if (i == 2)
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

/* ---- Tables ---------------------------------------------------------------------------- */

/* Of kind 0 an order that walks, of kind 1 a scattered one, else scattered blocks. */
static uint32_t *make_table(uint64_t n, unsigned kind, uint64_t seed) {
  uint32_t *task = malloc(n * sizeof *task);
  assert_non_null(task);
  for (uint64_t i = 0; i < n; i++) task[i] = (uint32_t)(kind == 0 ? n - 1 - i : i);
  uint64_t block = kind == 1 ? 1 : 16;
  for (uint64_t i = n / block; kind && i > 1; i--) {
    uint64_t k = hd_random_at(seed, i) % i;
    for (uint64_t j = 0; j < block; j++) {
      uint32_t t = task[(i - 1) * block + j];
      task[(i - 1) * block + j] = task[k * block + j];
      task[k * block + j] = t;
    }
  }
  return task;
}

static hd_verdict table_verdict(const uint32_t *task, uint64_t n) {
  hd_verdict v = verdict((unsigned)n);
  char name[HD_DIGEST_HEX];
  uint32_t grid[3] = {(uint32_t)n, 1, 1}, block[3] = {32, 1, 1};
  memset(v.key.launch, 0, sizeof v.key.launch);
  memset(v.plan, 0, sizeof v.plan);
  hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
  hd_verdict_table(task, n, name);
  snprintf(v.plan, sizeof v.plan, "order=table:#%s,bind=agents", name);
  return v;
}

static void tables_go_where_their_verdicts_go(void **state) {
  static const uint64_t sizes[] = {1, 2, 3, 255, 256, 257, 4095, 70000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (unsigned kind = 0; kind < 3; kind++) {
      uint64_t n = sizes[i], m, imported;
      uint32_t *task = make_table(n, kind, 7 * i), *got;
      hd_verdict v = table_verdict(task, n), back;
      hd_buf text = {0}, again = {0};
      char name[HD_DIGEST_HEX];
      bool found;
      hd_store *s = open_store();
      assert_int_equal(hd_store_put_table(s, &v, task, n, &d), HD_OK);
      assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_OK);
      /* Two bytes and a third for a scattered task, in base 64; next to none for a walk. */
      assert_true(text.len < 1500 + (kind ? 4 * n : 40 + n / 100));
      hd_store_close(s);
      remove_files();
      s = open_store();
      if (hd_store_import(s, text.data, text.len, "f", &imported, &d) != HD_OK) fail_msg("%s", d.message);
      assert_int_equal(imported, 1);
      assert_int_equal(hd_store_get(s, &v.key, &back, &found, &d), HD_OK);
      assert_true(found && hd_verdict_table_of(back.plan, name));
      assert_memory_equal(&back, &v, sizeof v);
      assert_int_equal(hd_store_get_table(s, name, &got, &m, &found, &d), HD_OK);
      assert_true(found && m == n);
      assert_memory_equal(got, task, n * sizeof *task);
      free(got);
      assert_int_equal(hd_store_export(s, NULL, &again, &d), HD_OK);
      assert_string_equal(again.data, text.data);
      assert_int_equal(hd_store_prune(s, NULL, &m, &d), HD_OK);
      assert_int_equal(hd_store_get_table(s, name, &got, &m, &found, &d), HD_OK);
      assert_false(found); /* no verdict names it any more */
      hd_buf_free(&text);
      hd_buf_free(&again);
      free(task);
      hd_store_close(s);
      remove_files();
    }
}

static void a_table_that_is_none_is_not_kept(void **state) {
  uint32_t task[] = {2, 0, 1, 3};
  hd_store *s = open_store();
  hd_verdict v = table_verdict(task, 4);
  assert_int_equal(hd_store_put_table(s, &v, task, 3, &d), HD_ERR_USAGE); /* another name */
  uint32_t twice[] = {2, 0, 0, 3}, beyond[] = {4, 0, 1, 3};
  v = table_verdict(twice, 4);
  assert_int_equal(hd_store_put_table(s, &v, twice, 4, &d), HD_ERR_REFUSED);
  v = table_verdict(beyond, 4);
  assert_int_equal(hd_store_put_table(s, &v, beyond, 4, &d), HD_ERR_REFUSED);
  v = table_verdict(task, 4);
  strcpy(v.plan, "order=col");
  assert_int_equal(hd_store_put_table(s, &v, task, 4, &d), HD_ERR_USAGE);
  uint64_t n;
  assert_int_equal(hd_store_prune(s, NULL, &n, &d), HD_OK);
  assert_int_equal(n, 0);
  hd_store_close(s);
  remove_files();
}

static void plans_name_tables_by_their_digits(void **state) {
  static const char digits[] = "00112233445566778899aabbccddeeff";
  static const struct {
    const char *before, *after;
    bool named;
  } cases[] = {{"order=table:#", "", true},
               {"order=table:#", ",bind=agents", true},
               {"bind=agents,order=table:#", "", true},
               {"order=table:", "", false},
               {"order=table:#", "0", false},
               {"order=table:#", ".table", false},
               {"border=table:#", "", false},
               {"order=table:#G", "", false},
               {"threads=table:#", "", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char plan[128], got[HD_DIGEST_HEX] = "";
    snprintf(plan, sizeof plan, "%s%s%s", cases[i].before, digits, cases[i].after);
    assert_int_equal(hd_verdict_table_of(plan, got), cases[i].named);
    assert_string_equal(got, cases[i].named ? digits : "");
  }
  char got[HD_DIGEST_HEX];
  assert_false(hd_verdict_table_of("order=table:#0011", got));
}

/* text with the first `from` replaced. */
static hd_buf changed(const hd_buf *text, const char *from, const char *to) {
  hd_buf b = {0};
  char *at = strstr(text->data, from);
  if (!at) fail_msg("no '%s' in the export", from);
  hd_buf_put(&b, text->data, (size_t)(at - text->data));
  hd_buf_puts(&b, to);
  hd_buf_puts(&b, at + strlen(from));
  return b;
}

static void hostile_tables_are_refused(void **state) {
  uint32_t *task = make_table(999, 1, 3);
  hd_verdict v = table_verdict(task, 999);
  char name[HD_DIGEST_HEX], twice[1024];
  hd_buf text = {0};
  uint64_t n;
  hd_store *s = open_store();
  assert_int_equal(hd_store_put_table(s, &v, task, 999, &d), HD_OK);
  assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_OK);
  assert_int_equal(hd_store_prune(s, NULL, &n, &d), HD_OK);
  hd_verdict_table_of(v.plan, name);
  snprintf(twice, sizeof twice, "\"tables\": [{\"name\": \"%s\", \"tasks\": 1, \"packed\": \"\"},", name);
  const struct {
    const char *from, *to, *why;
  } cases[] = {
      {"\"tasks\": 999", "\"tasks\": 998", "does not hold its 998 tasks"},
      {"\"tasks\": 999", "\"tasks\": 4611686018427387904", "is not kept"},
      {"\"tasks\": 999", "\"tasks\": 0", "needs a name"},
      {"\"tasks\": 999", "\"tasks\": \"999\"", "needs a name"},
      {"grid=999x1x1", "grid=998x1x1", "which is not what is launched"},
      {"grid=999x1x1", "grid=4294967295x4294967295x4294967295", "which is not what is launched"},
      {"grid=999x1x1", "grit=999x1x1", "which is not what is launched"},
      {"\"packed\": \"", "\"packed\": \"!", "not base 64"},
      {"\"packed\": \"", "\"packed\": \"AAAA", "does not hold"},
      {"\"packed\": \"", "\"packing\": \"", "needs a name"},
      {name, "00112233445566778899aabbccddeeff", "is missing"},
      {"order=table:#", "order=table:", "names a file"},
      {"order=table:#", "threads=table:#", "names a file"},
      {"\"tables\": [", twice, "table 1"},
      {"\"tables\": [", "\"tables\": 7, \"x\": [", "not an export"},
      {"order=table:#", "order=zigzag:2x2,sms=0-1,form=replicate#", "no verdict names it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf bad = changed(&text, cases[i].from, cases[i].to);
    assert_int_equal(hd_store_import(s, bad.data, bad.len, "f", &n, &d), HD_ERR_INPUT);
    if (!strstr(d.message, cases[i].why)) fail_msg("%s: %s", cases[i].why, d.message);
    hd_buf_free(&bad);
  }
  assert_int_equal(hd_store_prune(s, NULL, &n, &d), HD_OK);
  assert_int_equal(n, 0); /* nothing came in */
  /* Bits of the packed table turned: its text is no table or another one, unless zstd does not need them. */
  char *packed = strstr(text.data, "\"packed\": \"") + 11;
  unsigned refused = 0, turned = 0;
  uint32_t *got;
  bool found;
  size_t len = strcspn(packed, "\"");
  for (size_t i = 0; i < len; i += 7, turned++) {
    char was = packed[i];
    packed[i] = was == 'A' ? 'B' : 'A';
    hd_status st = hd_store_import(s, text.data, text.len, "f", &n, &d);
    refused += st == HD_ERR_INPUT;
    if (st == HD_OK) {
      assert_int_equal(hd_store_get_table(s, name, &got, &n, &found, &d), HD_OK);
      assert_true(found && n == 999);
      assert_memory_equal(got, task, n * sizeof *task);
      free(got);
    }
    packed[i] = was;
  }
  assert_in_range(refused, turned * 9 / 10, turned);
  assert_int_equal(hd_store_import(s, text.data, text.len, "f", &n, &d), HD_OK);
  hd_store_close(s);
  hd_buf_free(&text);
  free(task);

  /* Rows changed by another program. */
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "UPDATE tables SET tasks = 7", NULL, NULL, NULL), SQLITE_OK);
  s = open_store();
  assert_int_equal(hd_store_get_table(s, name, &got, &n, &found, &d), HD_ERR_INPUT);
  assert_int_equal(sqlite3_exec(db, "DELETE FROM tables", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(hd_store_get_table(s, name, &got, &n, &found, &d), HD_OK);
  assert_false(found);
  assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_ERR_INPUT);
  sqlite3_close(db);
  hd_store_close(s);
  remove_files();
}

/* Version 1 had neither sizes nor tables, version 2 nothing assumed, version 3 no basis. */
static void stores_of_older_versions_are_taken_over(void **state) {
  hd_verdict_key key = {.kernel = "k", .launch = "l", .gpu = "g", .driver = "d", .size = "gpu"};
  for (int version = 1; version <= 3; version++) {
    char made[1024];
    bool sized = version > 1, assumes = version > 2;
    sqlite3 *db;
    snprintf(
        made, sizeof made,
        "PRAGMA application_id = 1751475300; PRAGMA user_version = %d; CREATE TABLE verdicts (kernel TEXT, "
        "launch TEXT, gpu TEXT, driver TEXT, %sname TEXT, plan TEXT, speedup REAL, low REAL, high REAL, "
        "confidence REAL, before_us REAL, after_us REAL, tried INTEGER, made INTEGER, counters TEXT%s, "
        "PRIMARY KEY (kernel, launch, gpu, driver%s)) WITHOUT ROWID; INSERT INTO verdicts VALUES ('k', 'l', "
        "'g', 'd', %s'n', 'order=col', 1.5, 1.4, 1.6, 0.99, 30, 20, 7, 1234, 'c'%s)%s",
        version, sized ? "size TEXT, " : "", assumes ? ", assume TEXT" : "", sized ? ", size" : "",
        sized ? "'gpu', " : "", assumes ? ", 'no-waits'" : "",
        sized ? "; CREATE TABLE tables (name TEXT PRIMARY KEY NOT NULL, tasks INTEGER NOT NULL, packed BLOB "
                "NOT NULL); INSERT INTO tables VALUES ('t', 1, x'00')"
              : "");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, made, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int i = 0; i < 2; i++) { /* upgraded once, and then of this version */
      hd_store *s = open_store();
      hd_verdict got;
      bool found;
      assert_int_equal(hd_store_get(s, &key, &got, &found, &d), HD_OK);
      assert_true(found && got.tried == 7);
      assert_string_equal(got.plan, "order=col");
      assert_string_equal(got.key.size, sized ? "gpu" : "");
      assert_string_equal(got.counters, "c");
      assert_string_equal(got.assume, assumes ? "no-waits" : "");
      assert_string_equal(got.basis, "");
      hd_store_close(s);
    }
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE tables SET tasks = 2", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), sized); /* old rows stay */
    sqlite3_close(db);
    remove_files();
  }
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

static void a_locked_store_is_waited_for_as_long_as_the_caller_says(void **state) {
  static const char lock[] = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE";
  sqlite3 *other;
  hd_store *s;
  hd_store_close(open_store());
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, lock, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(hd_store_open_within(path, 1, &s, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "locked"));
  sqlite3_close(other);
  remove_files();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_comes_back),
      cmocka_unit_test(every_part_of_the_key_counts),
      BEHAVIOUR("a launch's verdicts are told apart by the size, where it is known",
                sizes_are_told_apart_by_who_knows_them),
      BEHAVIOUR("tables are exported, imported and dropped with their verdicts",
                tables_go_where_their_verdicts_go),
      BEHAVIOUR("a table that is no bijection is refused", a_table_that_is_none_is_not_kept),
      BEHAVIOUR("a plan names a table by its digits", plans_name_tables_by_their_digits),
      BEHAVIOUR("hostile tables are refused", hostile_tables_are_refused),
      BEHAVIOUR("stores of older versions are taken over", stores_of_older_versions_are_taken_over),
      cmocka_unit_test(keys_tell_kernels_and_launches_apart),
      cmocka_unit_test(filters_choose_by_pattern_and_age),
      cmocka_unit_test(an_export_imports_elsewhere_and_newer_verdicts_stay),
      cmocka_unit_test(a_bad_import_changes_nothing),
      cmocka_unit_test(what_is_no_store_is_left_alone),
      cmocka_unit_test(many_processes_write_at_once),
      cmocka_unit_test(a_verdict_without_sense_is_not_kept),
      cmocka_unit_test(a_locked_store_is_waited_for_as_long_as_the_caller_says),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
