/* Tables: both forms, and every way in which one can be wrong. */
#include "plan/generate.h"
#include "plan/inverse.h"

#include <unistd.h>

static hd_status parse(const char *text, uint64_t V, hd_table *t, hd_diag *d) {
  return hd_table_parse(text, strlen(text), "orders.txt", V, t, d);
}

static void put_le(hd_buf *b, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) hd_buf_putc(b, (char)(v >> (8 * i) & 0xff));
}

static void put_binary(hd_buf *b, uint64_t count, const uint32_t *task, size_t n) {
  hd_buf_put(b, "HDTABLE1", 8);
  put_le(b, count, 8);
  for (size_t i = 0; i < n; i++) put_le(b, task[i], 4);
}

static uint32_t *draw_permutation(random_stream *r, uint32_t n) {
  uint32_t *task = calloc(n, sizeof *task);
  assert_non_null(task);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = (uint32_t)draw(r, 0, i);
    task[i] = task[j];
    task[j] = i;
  }
  return task;
}

static void both_forms_give_the_entries_written(void **state) {
  static const char *const ends[] = {"\n", "\r\n", "  \n", " # note\n", "\n\n", "\n# 12\n", "\t\n"};
  random_stream r = {.seed = 0x7ab};
  for (int c = 0; c < 300; c++) {
    uint32_t V = (uint32_t)draw(&r, 1, 300), *task = draw_permutation(&r, V);
    hd_buf text = {0}, binary = {0};
    if (c % 2) hd_buf_puts(&text, "# an order\n\n");
    for (uint32_t i = 0; i < V; i++) {
      hd_buf_printf(&text, "%s%u", draw(&r, 0, 3) ? "" : " 00", task[i]);
      if (i + 1 < V || c % 3) hd_buf_puts(&text, ends[draw(&r, 0, 6)]); /* the last end is optional */
    }
    put_binary(&binary, V, task, V);
    const hd_buf *forms[] = {&text, &binary};
    for (int k = 0; k < 2; k++) {
      hd_table t;
      hd_diag d = {0};
      if (hd_table_parse(forms[k]->data, forms[k]->len, "t", V, &t, &d) != HD_OK) fail_msg("%s", d.message);
      assert_int_equal(t.n, V);
      assert_memory_equal(t.task, task, V * sizeof *task);
      hd_table_free(&t);
    }
    hd_buf_free(&text);
    hd_buf_free(&binary);
    free(task);
  }
}

static void a_text_that_is_no_bijection_is_refused_with_its_line(void **state) {
  static const struct {
    const char *text;
    uint64_t V;
    hd_status status;
    uint32_t line;
    const char *says;
  } cases[] = {
      {"", 3, HD_ERR_REFUSED, 0, "0 entries for 3 tasks; task 0 is the first missing"},
      {"# nothing\n\n", 3, HD_ERR_REFUSED, 0, "0 entries"},
      {"0\n2\n", 3, HD_ERR_REFUSED, 0, "2 entries for 3 tasks; task 1 is the first missing"},
      {"1\n0\n", 3, HD_ERR_REFUSED, 0, "task 2 is the first missing"},
      {"4294967294\n", UINT32_MAX, HD_ERR_REFUSED, 0, "1 entries for 4294967295 tasks; task 0"},
      {"0\n\n1 # one\n1\n", 3, HD_ERR_REFUSED, 4, "task 1 is repeated, it is on line 3 already"},
      {"0\n0\n", 3, HD_ERR_REFUSED, 2, "task 0 is repeated, it is on line 1 already"},
      {"0\n1\n3\n", 3, HD_ERR_REFUSED, 3, "task 3 is out of range: tasks are 0 to 2"},
      {"99999999999999999999999\n", 3, HD_ERR_REFUSED, 1, "task 99999999999999999999999 is out of range"},
      {"0\n1\n2\n1\n", 3, HD_ERR_REFUSED, 4, "more entries than the 3 tasks"},
      {"0\n-1\n", 3, HD_ERR_INPUT, 2, "'-1' is no task number"},
      {"0\n+1\n", 3, HD_ERR_INPUT, 2, "'+1'"},
      {"0 1 2\n", 3, HD_ERR_INPUT, 1, "'0 1 2'"},
      {"0\n1\n0x2\n", 3, HD_ERR_INPUT, 3, "'0x2'"},
      {"0\n1.0\n", 3, HD_ERR_INPUT, 2, "'1.0'"},
      {"0,1,2\n", 3, HD_ERR_INPUT, 1, "'0,1,2'"},
      {"HDTABLE\n", 3, HD_ERR_INPUT, 1, "'HDTABLE'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_table t;
    hd_diag d = {0};
    if (parse(cases[i].text, cases[i].V, &t, &d) != cases[i].status || d.line != cases[i].line ||
        !strstr(d.message, cases[i].says))
      fail_msg("case %zu: status %d, line %u: %s", i, d.status, d.line, d.message);
    assert_string_equal(d.file, "orders.txt");
    assert_null(t.task);
  }
}

static void a_binary_that_is_no_bijection_is_refused_with_its_entry(void **state) {
  static const struct {
    uint64_t count;
    uint32_t task[4];
    size_t n;
    hd_status status;
    const char *says;
  } cases[] = {
      {3, {0, 2, 2}, 3, HD_ERR_REFUSED, "entry 2: task 2 is repeated, it is at entry 1 already"},
      {3, {0, 3, 1}, 3, HD_ERR_REFUSED, "entry 1: task 3 is out of range: tasks are 0 to 2"},
      {3, {0, 1, UINT32_MAX}, 3, HD_ERR_REFUSED, "entry 2: task 4294967295 is out of range"},
      {2, {1, 0}, 2, HD_ERR_REFUSED, "2 entries for 3 tasks; task 2 is the first missing"},
      {0, {0}, 0, HD_ERR_REFUSED, "0 entries for 3 tasks"},
      {4, {0, 1, 2, 3}, 4, HD_ERR_REFUSED, "entry 3: more entries than the 3 tasks"},
      {3, {0, 1}, 2, HD_ERR_INPUT, "says 3 entries, but 8 bytes"},
      {2, {0, 1, 2}, 3, HD_ERR_INPUT, "says 2 entries, but 12 bytes"},
      {UINT64_MAX, {0}, 1, HD_ERR_INPUT, "says 18446744073709551615 entries"},
      {(uint64_t)1 << 62, {0}, 0, HD_ERR_INPUT, "but 0 bytes"}, /* times 4 is 0 in 64 bits */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf b = {0};
    put_binary(&b, cases[i].count, cases[i].task, cases[i].n);
    hd_table t;
    hd_diag d = {0};
    if (hd_table_parse(b.data, b.len, "orders.bin", 3, &t, &d) != cases[i].status ||
        !strstr(d.message, cases[i].says))
      fail_msg("case %zu: status %d: %s", i, d.status, d.message);
    assert_string_equal(d.file, "orders.bin");
    assert_null(t.task);
    hd_buf_free(&b);
  }
}

static void a_binary_cut_anywhere_is_malformed(void **state) {
  static const uint32_t task[3] = {2, 0, 1};
  hd_buf b = {0};
  put_binary(&b, 3, task, 3);
  for (size_t len = 8; len < b.len; len++) {
    hd_table t;
    assert_int_equal(hd_table_parse(b.data, len, "t", 3, &t, NULL), HD_ERR_INPUT);
  }
  hd_buf_free(&b);
}

static void changing_one_entry_of_a_bijection_is_always_noticed(void **state) {
  random_stream r = {.seed = 0xe1};
  for (int c = 0; c < 300; c++) {
    uint32_t V = (uint32_t)draw(&r, 2, 200), *task = draw_permutation(&r, V);
    uint32_t at = (uint32_t)draw(&r, 0, V - 1), other = (uint32_t)draw(&r, 0, 2 * V);
    if (other == task[at]) other = V;
    task[at] = other;
    hd_buf text = {0};
    for (uint32_t i = 0; i < V; i++) hd_buf_printf(&text, "%u\n", task[i]);
    hd_table t;
    hd_diag d = {0};
    assert_int_equal(parse(text.data, V, &t, &d), HD_ERR_REFUSED);
    char number[16];
    snprintf(number, sizeof number, "task %u ", other);
    assert_non_null(strstr(d.message, number));
    if (other >= V) assert_int_equal(d.line, at + 1);
    hd_buf_free(&text);
    free(task);
  }
}

static void tables_are_for_1_to_2_32_minus_1_tasks(void **state) {
  hd_table t;
  assert_int_equal(parse("0\n", 0, &t, NULL), HD_ERR_USAGE);
  assert_int_equal(parse("0\n", (uint64_t)1 << 32, &t, NULL), HD_ERR_USAGE);
  assert_int_equal(parse("0\n", 1, &t, NULL), HD_OK);
  hd_table_free(&t);
}

static void a_file_is_read_and_a_missing_one_is_an_io_error(void **state) {
  char path[] = "/tmp/heddle-table-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "1\n0\n", 4), 4);
  close(fd);
  hd_table t;
  hd_diag d = {0};
  assert_int_equal(hd_table_read(path, 2, &t, &d), HD_OK);
  assert_int_equal(t.task[0], 1);
  hd_table_free(&t);
  assert_int_equal(hd_table_read(path, 1, &t, &d), HD_ERR_REFUSED);
  assert_string_equal(d.file, path);
  unlink(path);
  assert_int_equal(hd_table_read(path, 2, &t, &d), HD_ERR_IO);
  assert_int_equal(hd_table_read("/", 2, &t, &d), HD_ERR_IO);
  assert_null(t.task);
}

static void what_is_written_is_read_back_and_is_the_binary_form(void **state) {
  random_stream r = {.seed = 0x3d};
  for (int c = 0; c < 50; c++) {
    char path[] = "/tmp/heddle-table-XXXXXX";
    uint32_t V = (uint32_t)draw(&r, 1, 2000);
    hd_table t = {draw_permutation(&r, V), V}, got;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(hd_table_write(path, &t, NULL), HD_OK);
    assert_int_equal(hd_table_read(path, V, &got, NULL), HD_OK);
    assert_memory_equal(got.task, t.task, V * sizeof *t.task);
    hd_buf binary = {0};
    hd_file f;
    put_binary(&binary, V, t.task, V);
    assert_int_equal(hd_file_open(path, &f, NULL), HD_OK);
    assert_int_equal(f.len, binary.len);
    assert_memory_equal(f.data, binary.data, binary.len);
    hd_file_close(&f);
    hd_buf_free(&binary);
    hd_table_free(&got);
    free(t.task);
    unlink(path);
  }
  const uint32_t task = 0;
  assert_int_equal(hd_table_write("/no-such-folder/t", &(hd_table){(uint32_t *)&task, 1}, NULL), HD_ERR_IO);
}

static void inverting_twice_gives_the_table_back(void **state) {
  random_stream r = {.seed = 0x1f};
  for (int c = 0; c < 200; c++) {
    uint32_t V = (uint32_t)draw(&r, 1, 500);
    hd_table t = {draw_permutation(&r, V), V}, inverse, again;
    assert_int_equal(hd_table_invert(&t, &inverse, NULL), HD_OK);
    for (uint32_t p = 0; p < V; p++) assert_int_equal(inverse.task[t.task[p]], p);
    assert_int_equal(hd_table_invert(&inverse, &again, NULL), HD_OK);
    assert_memory_equal(again.task, t.task, V * sizeof *t.task);
    hd_table_free(&t);
    hd_table_free(&inverse);
    hd_table_free(&again);
  }
}

static void what_is_no_bijection_does_not_invert(void **state) {
  uint32_t repeated[] = {0, 1, 1}, outside[] = {0, 1, 3};
  hd_table out;
  hd_diag d = {0};
  assert_int_equal(hd_table_invert(&(hd_table){repeated, 3}, &out, &d), HD_ERR_REFUSED);
  assert_non_null(strstr(d.message, "entry 2: task 1 is repeated"));
  assert_int_equal(hd_table_invert(&(hd_table){outside, 3}, &out, &d), HD_ERR_REFUSED);
  assert_non_null(strstr(d.message, "entry 2: task 3 is out of range"));
  assert_null(out.task);
}

static void the_inverse_of_a_tabulated_plan_is_its_inverse_program(void **state) {
  random_stream r = {.seed = 0x2f};
  for (int c = 0; c < 200; c++) {
    hd_grid grid = {.known = true};
    draw_grid(&r, grid.g);
    grid.n_sms = (uint32_t)draw(&r, 1, 20);
    hd_plan p = draw_plan(&r, grid.g);
    hd_table t, inverse;
    hd_prog prog;
    assert_int_equal(hd_plan_tabulate(&p, &grid, NULL, &t, NULL), HD_OK);
    assert_int_equal(hd_table_invert(&t, &inverse, NULL), HD_OK);
    assert_int_equal(inverse_program(&p, &grid, &prog, NULL), HD_OK);
    for (uint64_t task = 0; task < t.n; task++) {
      uint64_t worker[3];
      hd_prog_eval(&prog, grid.g, task, NULL, worker);
      assert_int_equal(worker[0], inverse.task[task]);
    }
    hd_table_free(&t);
    hd_table_free(&inverse);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_forms_give_the_entries_written),
      cmocka_unit_test(a_text_that_is_no_bijection_is_refused_with_its_line),
      cmocka_unit_test(a_binary_that_is_no_bijection_is_refused_with_its_entry),
      cmocka_unit_test(a_binary_cut_anywhere_is_malformed),
      cmocka_unit_test(changing_one_entry_of_a_bijection_is_always_noticed),
      cmocka_unit_test(tables_are_for_1_to_2_32_minus_1_tasks),
      cmocka_unit_test(what_is_written_is_read_back_and_is_the_binary_form),
      cmocka_unit_test(a_file_is_read_and_a_missing_one_is_an_io_error),
      cmocka_unit_test(inverting_twice_gives_the_table_back),
      cmocka_unit_test(what_is_no_bijection_does_not_invert),
      cmocka_unit_test(the_inverse_of_a_tabulated_plan_is_its_inverse_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
