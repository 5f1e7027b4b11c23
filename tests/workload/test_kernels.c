/* The workloads that come with heddle: some references against naive loops written here, all sizes,
 * and compilation with clang. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "workload/workload.h"

#define KERNELS SOURCE_DIR "/kernels"

static hd_diag diag;

static hd_workload *open_at(const char *name, const char *size) {
  hd_workload *w;
  char line[1400];
  if (hd_workload_open(name, KERNELS, size, &w, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  return w;
}

static int64_t parameter(const hd_workload *w, const char *name) {
  wl_names s = ((const wl_private *)w->priv)->sizes;
  for (size_t i = 0; i < s.n; i++)
    if (strcmp(s.data[i].name, name) == 0) return s.data[i].value;
  fail_msg("no parameter %s", name);
  return 0;
}

/* ---- Naive versions: one element of the last buffer, from the others ----------------- */

typedef double naive_fn(const hd_workload *w, float *const *b, int64_t x, int64_t y);

static double naive_matmul(const hd_workload *w, float *const *b, int64_t x, int64_t y) {
  int64_t n = parameter(w, "n");
  double sum = 0;
  for (int64_t k = 0; k < n; k++) sum += (double)b[0][y * n + k] * b[1][k * n + x];
  return sum;
}

static double naive_conv11(const hd_workload *w, float *const *b, int64_t x, int64_t y) {
  int64_t width = parameter(w, "width"), height = parameter(w, "height");
  double sum = 0;
  for (int64_t j = 0; j < 11; j++)
    for (int64_t i = 0; i < 11; i++) {
      int64_t px = x + i - 5, py = y + j - 5;
      if (px >= 0 && px < width && py >= 0 && py < height)
        sum += (double)b[0][py * width + px] * b[1][j * 11 + i];
    }
  return sum;
}

static double naive_integral_row(const hd_workload *w, float *const *b, int64_t x, int64_t y) {
  double sum = 0;
  for (int64_t i = 0; i <= x; i++) sum += b[0][y * parameter(w, "width") + i];
  return sum;
}

static double naive_integral_col(const hd_workload *w, float *const *b, int64_t x, int64_t y) {
  double sum = 0;
  for (int64_t i = 0; i <= y; i++) sum += b[0][i * parameter(w, "width") + x];
  return sum;
}

static const struct naive {
  const char *name, *width, *height;
  naive_fn *fn; /* NULL: a copy, compared as bytes */
} NAIVE[] = {
    {"conv11", "width", "height", naive_conv11},
    {"copy-col", "width", "height", NULL},
    {"copy-row", "width", "height", NULL},
    {"integral-col", "width", "height", naive_integral_col},
    {"integral-row", "width", "height", naive_integral_row},
    {"matmul-naive", "n", "n", naive_matmul},
    {"matmul-tiled", "n", "n", naive_matmul},
};
enum { N_NAIVE = sizeof NAIVE / sizeof *NAIVE };

static void check_reference(const struct naive *k, const char *size) {
  hd_workload *w = open_at(k->name, size);
  float *b[8] = {0};
  char line[1400];
  assert_true(w->n_buffers <= 8);
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    bool written;
    b[i] = malloc(w->buffers[i].bytes);
    memset(b[i], 0xff, w->buffers[i].bytes);
    assert_int_equal(hd_workload_fill(w, i, b[i], &written, &diag), HD_OK);
    assert_int_equal(written, w->buffers[i].compare == HD_COMPARE_NONE);
  }
  if (hd_workload_reference(w, (void *const *)b, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  uint32_t last = w->n_buffers - 1;
  int64_t width = parameter(w, k->width), height = parameter(w, k->height);
  assert_int_equal(w->buffers[last].count, width * height);
  if (!k->fn) assert_memory_equal(b[0], b[last], w->buffers[last].bytes);
  for (int64_t y = 0; y < height && k->fn; y++)
    for (int64_t x = 0; x < width; x++)
      assert_true(fabs(b[last][y * width + x] - k->fn(w, b, x, y)) <= w->buffers[last].abs);
  for (uint32_t i = 0; i < w->n_buffers; i++) free(b[i]);
  hd_workload_close(w);
}

static void every_reference_computes_what_a_naive_loop_does(void **state) {
  for (size_t i = 0; i < N_NAIVE; i++) check_reference(&NAIVE[i], "tiny");
}

/* ---- Sizes ----------------------------------------------------------------------------- */

/* Calls fn for every folder under kernels/. */
static void for_each(void (*fn)(const char *name)) {
  char **names;
  size_t n;
  assert_int_equal(hd_workload_list(KERNELS, &names, &n, &diag), HD_OK);
  assert_true(n >= N_NAIVE);
  for (size_t i = 0; i < n; i++) fn(names[i]);
  hd_workload_list_free(names, n);
}

static void open_all_sizes(const char *name) {
  hd_workload *w = open_at(name, NULL);
  uint64_t largest = 0, gpu = 0;
  bool tiny = false;
  assert_string_equal(w->size, "small");
  for (uint32_t s = 0; s < w->n_sizes; s++) {
    hd_workload *v = open_at(name, w->sizes[s].name);
    assert_string_equal(v->size, w->sizes[s].name);
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < v->n_buffers; k++) bytes += v->buffers[k].bytes;
    if (bytes > largest) largest = bytes;
    if (strcmp(v->size, "gpu") == 0) gpu = bytes;
    tiny |= strcmp(v->size, "tiny") == 0;
    hd_workload_close(v);
  }
  if (!tiny) fail_msg("%s has no size 'tiny'", name);
  if (!gpu || gpu > 16ull << 30) fail_msg("%s: size 'gpu' takes %llu bytes", name, (unsigned long long)gpu);
  hd_workload_close(w);
}

static void every_workload_opens_at_each_of_its_sizes(void **state) { for_each(open_all_sizes); }

static void find_files(const char *name) {
  hd_workload *w = open_at(name, NULL);
  const char *paths[] = {w->source, w->reference};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (paths[i] && access(paths[i], R_OK) != 0) fail_msg("%s: %s is not there", name, paths[i]);
  hd_workload_close(w);
}

/* Workloads outside kernels/ name files of those in it. */
static void every_file_that_a_workload_names_is_there(void **state) {
  for_each(find_files);
  find_files(SOURCE_DIR "/bench/gemm-grouping");
  find_files(SOURCE_DIR "/examples/matmul-cta");
}

/* Edge tiles: some CTA of each small launch is only partly used. */
static void the_small_size_ends_inside_a_block(void **state) {
  for (size_t i = 0; i < N_NAIVE; i++) {
    hd_workload *w = open_at(NAIVE[i].name, "small");
    const hd_wl_launch *l = &w->launches[0];
    int64_t extent[2] = {parameter(w, NAIVE[i].width), parameter(w, NAIVE[i].height)};
    uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1];
    assert_true(extent[0] % l->block[0] != 0 || extent[1] % l->block[0] != 0);
    assert_true(ctas >= 16 && (ctas & (ctas - 1)) != 0);
    hd_workload_close(w);
  }
}

/* ---- Compilation ------------------------------------------------------------------------- */

static void check_ptx(const hd_workload *w, const hd_buf *ptx, unsigned arch) {
  char entry[128];
  for (uint32_t i = 0; i < w->n_launches; i++) {
    snprintf(entry, sizeof entry, ".entry %s(", w->launches[i].kernel);
    if (!strstr(ptx->data, entry)) fail_msg("%s: no %s", w->name, entry);
  }
  assert_int_equal(strlen(ptx->data), ptx->len);
  const char *target = strstr(ptx->data, ".target sm_");
  assert_non_null(target);
  assert_true(strtoul(target + strlen(".target sm_"), NULL, 10) <= arch);
}

static void compile_one(const char *name) {
  char line[1400];
  hd_workload *w = open_at(name, "tiny");
  if (strstr(w->source, ".cu")) {
    hd_buf ptx = {0};
    hd_status st = wl_compile(w, 90, WL_CLANG, &ptx, &diag);
    if (st == HD_ERR_MISSING || st == HD_ERR_UNSUPPORTED) {
      print_message("clang is not installed: its compilation is not tested\n");
      hd_workload_close(w);
      skip();
    }
    if (st != HD_OK) fail_msg("%s: %s", name, hd_diag_line(&diag, line, sizeof line));
    check_ptx(w, &ptx, 90);
    if (strstr(ptx.data, ".extern .const") || strstr(ptx.data, ".extern .global"))
      fail_msg("%s: a variable that is declared and not defined", name);
    hd_buf_free(&ptx);
  }
  hd_workload_close(w);
}

/* With nvcc, where it is installed, all of them are compiled and run by the tests of tune. */
static void every_kernel_compiles_with_clang_alone(void **state) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  for (size_t i = 0; i < N_NAIVE; i++)
    compile_one(NAIVE[i].name); /* heddle's own part is the same for each */
#else
  for_each(compile_one);
#endif
}

static void words_mean_workloads_and_folders_all_in_them(void **state) {
  char *words[] = {KERNELS "/micro", "copy-row", KERNELS "/copy-col"};
  static const char *const want[] = {KERNELS "/micro/locality", KERNELS "/micro/neighbours", "copy-row",
                                     KERNELS "/copy-col"};
  char **names, **all;
  size_t n, n_all;
  hd_diag diag = {0};
  assert_int_equal(hd_workload_names(KERNELS, words, 3, &names, &n, &diag), HD_OK);
  assert_int_equal(n, sizeof want / sizeof *want);
  for (size_t i = 0; i < n; i++) assert_string_equal(names[i], want[i]);
  hd_workload_list_free(names, n);
  assert_int_equal(hd_workload_names(KERNELS, NULL, 0, &names, &n, &diag), HD_OK);
  assert_int_equal(hd_workload_list(KERNELS, &all, &n_all, &diag), HD_OK);
  assert_int_equal(n, n_all);
  hd_workload_list_free(names, n);
  hd_workload_list_free(all, n_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("words mean workloads, and folders all in them",
                words_mean_workloads_and_folders_all_in_them),
      cmocka_unit_test(every_reference_computes_what_a_naive_loop_does),
      cmocka_unit_test(every_workload_opens_at_each_of_its_sizes),
      cmocka_unit_test(every_file_that_a_workload_names_is_there),
      cmocka_unit_test(the_small_size_ends_inside_a_block),
      cmocka_unit_test(every_kernel_compiles_with_clang_alone),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
