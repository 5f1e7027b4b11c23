/* Numbers out of NumPy's arrays and text: what was written is read, and everything else is refused. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/fill.h"

static const char *const npy_names[] = {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4",
                                        "<u8", "<i8", "<f2", "|V2", "<f4", "<f8"};
enum { N_TYPES = HD_ELEM_F64 + 1, COUNT = 24, ROOM = COUNT * 8 };

static uint64_t draw(uint64_t *state, uint64_t n) { return hd_random_at(7, (*state)++) % n; }

static void random_elements(hd_elem type, uint64_t *state, char out[ROOM]) {
  for (unsigned i = 0; i < COUNT; i++) {
    const int64_t v = (int64_t)draw(state, 100);
    wl_elem_put_ints(type, &v, 1, out + i * hd_elem_bytes(type));
  }
}

/* ---- NumPy ---------------------------------------------------------------------------- */

static void put_npy(unsigned version, const char *dictionary, const void *data, size_t bytes, hd_buf *out) {
  size_t n = strlen(dictionary);
  hd_buf_put(out, "\x93NUMPY", 6);
  hd_buf_putc(out, (char)version);
  hd_buf_putc(out, 0);
  for (unsigned k = 0; k < (version == 1 ? 2u : 4u); k++) hd_buf_putc(out, (char)(n >> (8 * k)));
  hd_buf_puts(out, dictionary);
  hd_buf_put(out, data, bytes);
}

static void arrays_of_every_type_version_and_shape_are_read(void **state) {
  static const char *const shapes[] = {"(24,)", "(4, 6)", "(2,3,4)", "(1, 24, 1)"};
  uint64_t random = 0;
  for (unsigned type = 0; type < N_TYPES; type++)
    for (unsigned version = 1; version <= 3; version++)
      for (size_t s = 0; s < 4; s++) {
        char want[ROOM], got[ROOM], dictionary[128];
        hd_buf file = {0};
        random_elements((hd_elem)type, &random, want);
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n",
                 npy_names[type], shapes[s]);
        put_npy(version, dictionary, want, COUNT * hd_elem_bytes((hd_elem)type), &file);
        const wl_numbers to = {"f", "a", (hd_elem)type, COUNT, got};
        assert_int_equal(wl_read_npy(file.data, file.len, &to, NULL), HD_OK);
        assert_memory_equal(got, want, COUNT * hd_elem_bytes((hd_elem)type));
        /* Cut anywhere, it is refused. */
        for (size_t n = 0; n < file.len; n++)
          assert_int_equal(wl_read_npy(file.data, n, &to, NULL), HD_ERR_INPUT);
        hd_buf_free(&file);
      }
}

static void arrays_that_do_not_fit_are_refused_by_name(void **state) {
  static const struct {
    const char *dictionary, *message;
  } cases[] = {
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", "NumPy's type '<i4'; buffer 'a' is f32"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "NumPy's type '>f4'"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", "Fortran's order"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "holds 3 elements; buffer 'a' needs 2"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "no NumPy array"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "no NumPy array"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", "no NumPy array"},
      {"{'descr': '<f4', 'shape': (2,)}", "no NumPy array"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "no NumPy array"},
  };
  const float data[2] = {1, 2};
  float got[2];
  const wl_numbers to = {"f", "a", HD_ELEM_F32, 2, got};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf file = {0};
    hd_diag d = {0};
    put_npy(1, cases[i].dictionary, data, sizeof data, &file);
    assert_int_equal(wl_read_npy(file.data, file.len, &to, &d), HD_ERR_INPUT);
    if (!strstr(d.message, cases[i].message)) fail_msg("'%s', not '%s'", d.message, cases[i].message);
    hd_buf_free(&file);
  }
}

/* ---- Text ----------------------------------------------------------------------------- */

static void numbers_are_read_however_they_are_kept_apart(void **state) {
  static const char *const between[] = {",", " ", ";", "\t", " , ", "\n", "\r\n", "\n\n", "\n# 7, 7\n"};
  uint64_t random = 0;
  for (unsigned round = 0; round < 200; round++) {
    const hd_elem type = (hd_elem)draw(&random, N_TYPES);
    char want[ROOM], got[ROOM];
    hd_buf file = {0};
    random_elements(type, &random, want);
    if (draw(&random, 2)) hd_buf_puts(&file, draw(&random, 2) ? "x,y 2\n" : "# 1 2 3\n");
    for (unsigned i = 0; i < COUNT; i++)
      hd_buf_printf(&file, "%s%.0f", i ? between[draw(&random, sizeof between / sizeof *between)] : "",
                    wl_elem_get(type, want, i));
    const wl_numbers to = {"f", "a", type, COUNT, got};
    hd_diag d = {0};
    if (wl_read_csv(file.data, file.len, UINT64_MAX, &to, &d) != HD_OK)
      fail_msg("%s in\n%s", d.message, file.data);
    assert_memory_equal(got, want, COUNT * hd_elem_bytes(type));
    hd_buf_free(&file);
  }
}

static void a_column_is_one_number_of_each_line(void **state) {
  static const char text[] = "from,to,weight\n1,2,0.5\n3, 4, -1e2\n5,6,inf\n";
  float got[3];
  const wl_numbers to = {"f", "a", HD_ELEM_F32, 3, got};
  assert_int_equal(wl_read_csv(text, sizeof text - 1, 2, &to, NULL), HD_OK);
  assert_true(got[0] == 0.5f && got[1] == -100.0f && got[2] > 1e38f);
  hd_diag d = {0};
  assert_int_equal(wl_read_csv(text, sizeof text - 1, 3, &to, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 2);
}

static void what_is_no_number_is_refused_with_its_place(void **state) {
  static const struct {
    const char *text;
    hd_elem type;
    unsigned line, column;
    const char *message;
  } cases[] = {
      {"1\nx", HD_ELEM_F32, 2, 1, "'x' is no number of type f32"},
      {"1,,2", HD_ELEM_F32, 1, 3, "missing before this comma"},
      {",1", HD_ELEM_F32, 1, 1, "missing before this comma"},
      {"1 1.5", HD_ELEM_S32, 1, 3, "'1.5' is no number of type s32"},
      {"1 300", HD_ELEM_U8, 1, 3, "'300' is no number of type u8"},
      {"1 -1", HD_ELEM_U64, 1, 3, "'-1' is no number of type u64"},
      {"1 0x10", HD_ELEM_F64, 1, 3, "'0x10' is no number of type f64"},
      {"1 9223372036854775808", HD_ELEM_S64, 1, 3, "no number of type s64"},
      {"1 2 3", HD_ELEM_F32, 1, 5, "one number more than the 2"},
      {"1", HD_ELEM_F32, 0, 0, "holds 1 numbers; buffer 'a' needs 2"},
      {"", HD_ELEM_F32, 0, 0, "holds 0 numbers"},
  };
  uint64_t got[2];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const wl_numbers to = {"f", "a", cases[i].type, 2, got};
    hd_diag d = {0};
    assert_int_equal(wl_read_csv(cases[i].text, strlen(cases[i].text), UINT64_MAX, &to, &d), HD_ERR_INPUT);
    if (!strstr(d.message, cases[i].message)) fail_msg("'%s', not '%s'", d.message, cases[i].message);
    assert_int_equal(d.line, cases[i].line);
    assert_int_equal(d.column, cases[i].column);
  }
}

static void damaged_files_are_answered(void **state) {
  uint64_t random = 0, got[16];
  for (unsigned round = 0; round < 20000; round++) {
    static const char alphabet[] = "0123456789.,; \t\n-+eE#xinfa()'{}:<>|V";
    char text[64];
    size_t n = draw(&random, sizeof text);
    for (size_t i = 0; i < n; i++) text[i] = alphabet[draw(&random, sizeof alphabet - 1)];
    const wl_numbers to = {"f", "a", (hd_elem)draw(&random, N_TYPES), draw(&random, 16), got};
    const hd_status st = wl_read_csv(text, n, draw(&random, 3) ? UINT64_MAX : draw(&random, 3), &to, NULL);
    assert_true(st == HD_OK || st == HD_ERR_INPUT);
    char array[80] = "\x93NUMPY\x01";
    memcpy(array + 10, text, n);
    array[8] = (char)draw(&random, n + 1);
    assert_int_equal(wl_read_npy(array, 10 + n, &to, NULL), HD_ERR_INPUT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("arrays of every type, version and shape are read",
                arrays_of_every_type_version_and_shape_are_read),
      BEHAVIOUR("arrays that do not fit are refused by name", arrays_that_do_not_fit_are_refused_by_name),
      BEHAVIOUR("numbers are read however they are kept apart", numbers_are_read_however_they_are_kept_apart),
      BEHAVIOUR("a column is one number of each line", a_column_is_one_number_of_each_line),
      BEHAVIOUR("what is no number is refused with its place", what_is_no_number_is_refused_with_its_place),
      BEHAVIOUR("damaged files are answered", damaged_files_are_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
