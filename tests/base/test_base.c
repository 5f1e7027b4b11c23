#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/base.h"

static void arena_hands_out_aligned_disjoint_memory(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  char *last = NULL, *last_end = NULL;
  for (unsigned i = 0; i < 20000; i++) {
    size_t align = (size_t)1 << (hd_random_at(1, i) % 7), size = hd_random_at(2, i) % 300;
    char *p = hd_arena_alloc(&a, size, align);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % align, 0);
    memset(p, (int)i, size);
    assert_true(p >= last_end || p + size <= last);
    last = p;
    last_end = p + size;
  }
  hd_arena_free(&a);
}

static void arena_budget_is_kept_and_escapes(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  a.limit = 1000;
  assert_non_null(hd_arena_alloc(&a, 900, 1));
  assert_null(hd_arena_alloc(&a, 200, 1));
  jmp_buf escape;
  volatile bool escaped = false;
  if (setjmp(escape) == 0) {
    a.escape = &escape;
    hd_arena_alloc(&a, 200, 1);
  } else {
    escaped = true;
  }
  assert_true(escaped);
  a.escape = NULL;
  assert_null(hd_arena_zalloc(&a, SIZE_MAX / 2, 3));
  hd_arena_reset(&a);
  assert_non_null(hd_arena_alloc(&a, 900, 1));
  hd_arena_free(&a);
}

static void diagnostics_name_line_column_and_source(void **state) {
  const char *text = "one\ntwo three\nfour";
  hd_diag d;
  char line[256];
  assert_int_equal(hd_fail_at(&d, HD_ERR_INPUT, "f.ptx", text, strlen(text), 8, "no %s", "three"),
                   HD_ERR_INPUT);
  assert_int_equal(d.line, 2);
  assert_int_equal(d.column, 5);
  assert_string_equal(d.source, "two three");
  assert_string_equal(hd_diag_line(&d, line, sizeof line), "f.ptx:2:5: no three");
  hd_fail(&d, HD_ERR_IO, "control \x01 bytes\nbecome question marks");
  assert_string_equal(hd_diag_line(&d, line, sizeof line), "control ? bytes?become question marks");
  assert_int_equal(hd_fail(NULL, HD_ERR_NOMEM, "no diagnostic wanted"), HD_ERR_NOMEM);
  assert_int_equal(hd_fail_unknown(&d, "no %s", "such"), HD_ERR_USAGE);
  assert_true(d.unknown);
  hd_fail(&d, HD_ERR_USAGE, "it is known");
  assert_false(d.unknown);
}

static void a_reason_is_found_behind_whatever_it_is_about(void **state) {
  char line[256], name[900];
  hd_diag d;
  assert_int_equal(hd_fail_because(&d, HD_ERR_REFUSED, "it reads; so: no", "line %u: %s", 7, "mov x, y;: z;"),
                   HD_ERR_REFUSED);
  assert_string_equal(hd_diag_line(&d, line, sizeof line), "line 7: mov x, y;: z;: it reads; so: no");
  assert_string_equal(hd_diag_reason(&d), "it reads; so: no");
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = 0;
  hd_fail_because(&d, HD_ERR_REFUSED, "it is long", "%s", name);
  assert_string_equal(hd_diag_reason(&d), "it is long");
  hd_fail_because(&d, HD_ERR_REFUSED, name, "%s", name);
  assert_int_equal(strspn(hd_diag_reason(&d), "n"), strlen(hd_diag_reason(&d)));
  hd_fail(&d, HD_ERR_REFUSED, "line 7: it reads");
  assert_string_equal(hd_diag_reason(&d), "line 7: it reads");
  assert_int_equal(hd_fail_because(NULL, HD_ERR_IO, "why", "what"), HD_ERR_IO);
}

static void every_status_says_whether_a_plan_is_to_blame(void **state) {
  static const bool plan[] = {
      [HD_OK] = false,         [HD_ERR_INPUT] = false,  [HD_ERR_IO] = false,         [HD_ERR_NOMEM] = false,
      [HD_ERR_BUDGET] = false, [HD_ERR_REFUSED] = true, [HD_ERR_UNSUPPORTED] = true, [HD_ERR_FAULT] = false,
      [HD_ERR_USAGE] = true,   [HD_ERR_MISSING] = false};
  for (size_t k = 0; k < sizeof plan / sizeof *plan; k++)
    assert_int_equal(hd_blames_plan((hd_status)k), plan[k]);
}

static void work_is_over_at_a_second_or_when_it_is_stopped(void **state) {
  bool stop = false;
  assert_false(hd_is_over(0, NULL));
  assert_false(hd_is_over(hd_seconds() + 1000, &stop));
  assert_true(hd_is_over(hd_seconds(), &stop));
  stop = true;
  assert_true(hd_is_over(0, &stop));
}

static void numbers_parse_whole_or_not_at_all(void **state) {
  uint64_t v;
  assert_true(hd_parse_u64("18446744073709551615", 20, UINT64_MAX, &v));
  assert_true(v == UINT64_MAX);
  assert_false(hd_parse_u64("18446744073709551616", 20, UINT64_MAX, &v));
  assert_false(hd_parse_u64("", 0, UINT64_MAX, &v));
  assert_false(hd_parse_u64("12x", 3, UINT64_MAX, &v));
  assert_false(hd_parse_u64("-1", 2, UINT64_MAX, &v));
  assert_false(hd_parse_u64("256", 3, 255, &v));
}

static void bits_are_counted_in_empty_full_and_all_other_masks(void **state) {
  for (uint64_t i = 0; i < 2000; i++) {
    uint64_t x =
        i < 66 ? (i < 64 ? 1ull << i : i - 65) : hd_random_at(7, i) | (i % 3 ? 0 : hd_random_at(8, i));
    for (int inverted = 0; inverted < 2; inverted++, x = ~x) {
      unsigned low = 0, all = 0;
      for (int b = 0; b < 64; b++) all += x >> b & 1, low += b < 32 && x >> b & 1;
      assert_int_equal(hd_bits64(x), all);
      assert_int_equal(hd_bits32((uint32_t)x), low);
    }
  }
}

static void buffers_keep_all_that_was_put(void **state) {
  hd_buf b = {0};
  for (int i = 0; i < 1000; i++) hd_buf_printf(&b, "%d,", i);
  assert_int_equal(strlen(b.data), b.len);
  char *p = b.data;
  for (int i = 0; i < 1000; i++) assert_int_equal(strtol(p, &p, 10), i), p++;
  hd_buf_clear(&b);
  assert_int_equal(b.len, 0);
  hd_buf_free(&b);
}

/* Both languages escape alike what must be escaped; TOML also asks for it in 0x7f. */
static void quoted_text_is_a_string_of_json_and_of_toml(void **state) {
  static const char text[] = "a \"b\" \\ c/d\n\te\r\0f\x1f\x7f \xc2\xb5s";
  hd_buf b = {0};
  hd_buf_quote(&b, text, sizeof text - 1);
  assert_string_equal(b.data, "\"a \\\"b\\\" \\\\ c/d\\n\\u0009e\\u000d\\u0000f\\u001f\\u007f \xc2\xb5s\"");
  hd_buf_clear(&b);
  hd_buf_quote(&b, text, 0);
  assert_string_equal(b.data, "\"\"");
  hd_buf_free(&b);
}

static int entries_in(const char *dir) {
  char command[300];
  snprintf(command, sizeof command, "ls -A %s | wc -l", dir);
  FILE *f = popen(command, "r");
  int n = -1;
  if (fscanf(f, "%d", &n) != 1) n = -1;
  pclose(f);
  return n;
}

static void a_file_is_written_whole_or_not_at_all(void **state) {
  char dir[] = "/tmp/heddle-test-XXXXXX", path[128];
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/out", dir);
  hd_diag d;
  hd_file f;
  assert_int_equal(hd_file_write(path, "hello", 5, &d), HD_OK);
  assert_int_equal(hd_file_write(path, "other", 5, &d), HD_OK);
  assert_int_equal(hd_file_open(path, &f, &d), HD_OK);
  assert_int_equal(f.len, 5);
  assert_memory_equal(f.data, "other", 5);
  hd_file_close(&f);
  assert_int_equal(entries_in(dir), 1);
  unlink(path);
  /* /dev/full answers like a full disk. */
  assert_int_equal(hd_file_write("/dev/full", "hello", 5, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "No space left"));
  snprintf(path, sizeof path, "%s/no/such/folder", dir);
  assert_int_equal(hd_file_write(path, "hello", 5, &d), HD_ERR_IO);
  assert_int_equal(hd_file_write(dir, "hello", 5, &d), HD_ERR_IO);
  assert_int_equal(entries_in(dir), 0);
  rmdir(dir);
}

static void unreadable_paths_are_errors(void **state) {
  hd_diag d;
  hd_file f;
  assert_int_equal(hd_file_open("/no/such/file", &f, &d), HD_ERR_IO);
  assert_int_equal(hd_file_open("/tmp", &f, &d), HD_ERR_IO);
  assert_int_equal(hd_file_open("/dev/null", &f, &d), HD_OK);
  assert_int_equal(f.len, 0);
  assert_non_null(f.data);
  hd_file_close(&f);
}

static void count_worker(void *ctx, unsigned worker) { ((unsigned *)ctx)[worker]++; }

static void every_worker_runs_once(void **state) {
  unsigned ran[9] = {0};
  assert_true(hd_parallel(8, count_worker, ran));
  for (unsigned i = 0; i < 8; i++) assert_int_equal(ran[i], 1);
  assert_int_equal(ran[8], 0);
}

static void names_that_are_spelt_nearly_so_are_found_in_lists(void **state) {
  static const char orders[] = "row, col, band, tile, zigzag, hilbert, heavy-first";
  static const struct {
    const char *words, *wanted, *near;
  } rows[] = {
      {orders, "hilbrt", "; did you mean hilbert?"},
      {orders, "heavy_first", "; did you mean heavy-first?"},
      {orders, "bandd:4", "; did you mean band?"},
      {orders, "cow", "; did you mean row or col?"},
      {orders, "spiral", ""},
      {orders, "", ""},
      {"none, agents or agents:N, claim", "agnts:3", "; did you mean agents?"},
      {"l1:K|l2:K|auto|l1:K+l2:K", "l3:4", "; did you mean l1 or l2?"},
      {"lrr, two-level[:N], ccws", "twolevel", "; did you mean two-level?"},
      {"timing|traffic", "trafic", "; did you mean traffic?"},
      {"", "x", ""},
  };
  char near[HD_NEAR];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(hd_near(rows[i].words, rows[i].wanted, strlen(rows[i].wanted), near), rows[i].near);
  assert_string_equal(hd_near(orders, "zigzog,bind=agents", 6, near), "; did you mean zigzag?");
  char many[400] = "";
  for (int i = 0; i < 40; i++) strcat(many, "abcde, ");
  assert_true(strlen(hd_near(many, "abcdf", 5, near)) < HD_NEAR);
}

/* ---- Meters ----------------------------------------------------------------------------------------- */

typedef struct told {
  hd_meter *meter;
  size_t done, calls;
  bool falls;
} told;

static void tell(void *ctx, const char *stage, size_t done, size_t n) {
  told *t = ctx;
  assert_string_equal(stage, "counting");
  assert_int_equal(n, 8 * 5000);
  t->falls |= t->calls && done <= t->done;
  t->done = done;
  t->calls++;
}

static void add_parts(void *ctx, unsigned worker) {
  const told *t = ctx;
  for (unsigned i = 0; i < 5000; i++) hd_meter_add(t->meter, 1);
}

static void a_meter_tells_a_hundred_times_from_all_threads(void **state) {
  told t = {0};
  const hd_watch watch = {tell, &t};
  hd_meter m = hd_meter_begin(&watch, "counting", 8 * 5000);
  t.meter = &m;
  assert_true(hd_parallel(8, add_parts, &t));
  assert_int_equal(t.done, 8 * 5000);
  assert_true(!t.falls && t.calls > 2 && t.calls <= 102);
  hd_meter_end(&m);
  assert_true(t.calls <= 102);

  t = (told){0}; /* work that was cut off, and work that nobody watches */
  m = hd_meter_begin(&watch, "counting", 8 * 5000);
  hd_meter_add(&m, 3000);
  hd_meter_end(&m);
  assert_true(t.done == 8 * 5000 && t.calls == 3);
  m = hd_meter_begin(NULL, "counting", 3);
  hd_meter_add(&m, 1);
  hd_meter_add(NULL, 1);
  hd_meter_end(&m);
  assert_int_equal(t.calls, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an arena hands out aligned, disjoint memory", arena_hands_out_aligned_disjoint_memory),
      BEHAVIOUR("an arena keeps its budget and escapes when told to", arena_budget_is_kept_and_escapes),
      BEHAVIOUR("a diagnostic names line, column and source", diagnostics_name_line_column_and_source),
      BEHAVIOUR("a reason is found behind whatever it is about",
                a_reason_is_found_behind_whatever_it_is_about),
      BEHAVIOUR("every status says whether a plan is to blame", every_status_says_whether_a_plan_is_to_blame),
      BEHAVIOUR("names that are spelt nearly so are found in lists",
                names_that_are_spelt_nearly_so_are_found_in_lists),
      BEHAVIOUR("a meter tells some hundred times, from all threads, and its end",
                a_meter_tells_a_hundred_times_from_all_threads),
      BEHAVIOUR("work is over at a second, or when it is stopped",
                work_is_over_at_a_second_or_when_it_is_stopped),
      BEHAVIOUR("a number parses whole or not at all", numbers_parse_whole_or_not_at_all),
      BEHAVIOUR("bits are counted in empty, full and all other masks",
                bits_are_counted_in_empty_full_and_all_other_masks),
      BEHAVIOUR("a buffer keeps all that was put", buffers_keep_all_that_was_put),
      BEHAVIOUR("quoted text is a string of JSON and of TOML", quoted_text_is_a_string_of_json_and_of_toml),
      BEHAVIOUR("a file is written whole or not at all", a_file_is_written_whole_or_not_at_all),
      BEHAVIOUR("unreadable paths are errors, devices are not", unreadable_paths_are_errors),
      BEHAVIOUR("every worker runs once", every_worker_runs_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
