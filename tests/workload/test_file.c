/* workload.toml: its reading, and its lookup by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "good.h"
#include "scratch.h"

/* ---- The workload of a file --------------------------------------------------------- */

static void a_file_becomes_a_workload_with_everything_evaluated(void **state) {
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(GOOD, NULL, &w, &d), HD_OK);
  assert_string_equal(w->name, "dir");
  assert_string_equal(w->title, "Good");
  assert_string_equal(w->paper, "SCH 4.2");
  assert_string_equal(w->category, "data+write");
  assert_string_equal(w->folder, "dir");
  assert_string_equal(w->source, "dir/kernel.cu");
  assert_string_equal(w->reference, "dir/reference.c");
  assert_string_equal(w->size, "small");
  assert_int_equal(hd_workload_registers(w, 90), 32);
  assert_int_equal(w->n_sizes, 2); /* in the file's order */
  assert_string_equal(w->sizes[0].name, "small");
  assert_string_equal(w->sizes[1].name, "large");
  assert_int_equal(w->n_buffers, 2);
  const hd_wl_buffer *a = &w->buffers[0], *c = &w->buffers[1];
  assert_string_equal(a->name, "a");
  assert_int_equal(a->type, HD_ELEM_F32);
  assert_int_equal(a->count, 10000);
  assert_int_equal(a->bytes, 40000);
  assert_string_equal(a->fill, "uniform(-1, 1)");
  assert_int_equal(a->compare, HD_COMPARE_NONE);
  assert_int_equal(c->bytes, 202);
  assert_int_equal(c->seed, 99);
  assert_string_equal(c->fill, "none");
  assert_int_equal(c->compare, HD_COMPARE_EXACT);
  assert_int_equal(w->n_launches, 1);
  const hd_wl_launch *l = &w->launches[0];
  const uint32_t grid[3] = {4, 2, 1}, block[3] = {32, 8, 1};
  assert_memory_equal(l->grid, grid, sizeof grid);
  assert_memory_equal(l->block, block, sizeof block);
  assert_int_equal(l->dynamic_shared, 400);
  assert_int_equal(l->n_args, 4);
  assert_true(l->args[0].is_buffer && l->args[0].buffer == 1);
  assert_true(l->args[1].is_buffer && l->args[1].buffer == 0);
  assert_false(l->args[2].is_buffer);
  assert_int_equal(l->args[2].bits, (uint32_t)-100);
  assert_int_equal(l->args[3].bits, 0x3f000000);
  hd_workload_close(w);
}

/* Of the table's entries the one whose architecture is nearest; of two the newer one. */
static void registers_are_those_of_the_nearest_architecture(void **state) {
  static const struct {
    const char *text;
    struct {
      unsigned arch;
      uint32_t count;
    } wanted[6];
  } cases[] = {
      {"registers = 32", {{20, 32}, {90, 32}, {0, 32}, {999, 32}}},
      {"", {{20, 0}, {90, 0}, {0, 0}}},
      {"registers = { sm_90 = 24 }", {{20, 24}, {90, 24}, {120, 24}, {0, 24}}},
      {"registers = { sm_20 = 14, sm_35 = 17, sm_90 = 32 }",
       {{20, 14}, {27, 14}, {28, 17}, {62, 17}, {63, 32}, {0, 32}}},
      {"registers = { sm_90 = 32, sm_35 = 17, sm_20 = 14 }", /* in any order */
       {{10, 14}, {21, 14}, {30, 17}, {61, 17}, {100, 32}, {0, 32}}},
      {"registers = { sm_30 = 20, sm_50 = 30 }", {{40, 30}, {39, 20}, {41, 30}, {30, 20}, {0, 30}}},
      {"[registers]\nsm_20 = 14\nsm_35 = 17", {{20, 14}, {35, 17}, {0, 17}}}, /* a table of its own */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_workload *w;
    hd_diag d = {0};
    char *text = changed("registers = 32", cases[i].text), line[1400];
    if (read_text(text, NULL, &w, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
    for (size_t k = 0; k < sizeof cases[i].wanted / sizeof *cases[i].wanted; k++) {
      const uint32_t got = hd_workload_registers(w, cases[i].wanted[k].arch);
      if ((cases[i].wanted[k].arch || cases[i].wanted[k].count) && got != cases[i].wanted[k].count)
        fail_msg("%s: sm_%u takes %u", cases[i].text, cases[i].wanted[k].arch, got);
    }
    hd_workload_close(w);
    free(text);
  }
}

static void another_size_gives_other_numbers(void **state) {
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(GOOD, "large", &w, &d), HD_OK);
  assert_int_equal(w->buffers[0].count, 1000000);
  assert_int_equal(w->launches[0].grid[0], 32);
  assert_int_equal(w->launches[0].args[2].bits, 800);
  hd_workload_close(w);
}

static hd_status read_set(const char *text, const char *const *set, hd_workload **w, hd_diag *d) {
  const wl_input in = {
      .text = text, .len = strlen(text), .path = "f", .folder = "dir", .set = set, .n_set = 1};
  return wl_read(&in, w, d);
}

static void a_range_bounds_what_a_parameter_may_be(void **state) {
  static const char *const set[] = {"n=33"}, *const low[] = {"n=30"};
  char *text = changed("[[buffer]]\n", "[ranges]\nn = { least = \"n / n + 31\", step = 1 }\n[[buffer]]\n");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_OK);
  assert_int_equal(w->n_params, 1);
  assert_string_equal(w->params[0].name, "n");
  assert_int_equal(w->params[0].value, 100);
  assert_int_equal(w->params[0].least, 32);
  assert_int_equal(w->params[0].most, INT64_MAX);
  hd_workload_close(w);
  assert_int_equal(read_set(text, set, &w, &d), HD_OK);
  assert_int_equal(w->params[0].value, 33);
  assert_int_equal(w->launches[0].grid[0], 2);
  assert_int_equal(w->buffers[1].count, 34);
  hd_workload_close(w);
  assert_int_equal(read_set(text, low, &w, &d), HD_ERR_USAGE);
  assert_string_equal(d.message, "dir: n is 30, allowed are 32 to 9223372036854775807 in steps of 1");
  free(text);
}

static void launches_keep_their_order_and_repeat(void **state) {
  char *text =
      changed("shared = \"4*n\"\n",
              "args = [{ type = \"u8\", value = 7 }]\n[[launch]]\nkernel = \"again\"\nrepeat = \"n / 33\"\n"
              "grid = [\"iteration + 1\"]\nblock = [\"2 * n\"]\n");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_OK);
  assert_int_equal(w->n_launches, 4);
  assert_string_equal(w->launches[0].kernel, "k");
  for (uint32_t i = 1; i < 4; i++) {
    assert_string_equal(w->launches[i].kernel, "again");
    assert_int_equal(w->launches[i].grid[0], i);
    assert_int_equal(w->launches[i].block[0], 200);
    assert_int_equal(w->launches[i].n_args, 4);
  }
  hd_workload_close(w);
  free(text);
}

static void a_loop_runs_its_bodies_in_turn(void **state) {
  char *text =
      changed("[[launch]]\n", "[[launch]]\nrepeat = \"n / 50\"\n[[launch.body]]\nkernel = \"odd\"\n"
                              "grid = [\"iteration + 1\"]\nblock = [1]\nargs = [\"a\"]\n[[launch.body]]\n");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_OK);
  assert_int_equal(w->n_launches, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_string_equal(w->launches[i].kernel, i % 2 ? "k" : "odd");
    assert_int_equal(w->launches[i].n_args, i % 2 ? 4 : 1);
    if (i % 2 == 0) assert_int_equal(w->launches[i].grid[0], i / 2 + 1);
  }
  hd_workload_close(w);
  free(text);
}

static void a_tensor_map_becomes_what_the_driver_takes(void **state) {
  hd_workload *w;
  hd_diag d;
  assert_int_equal(
      read_with("{ tensormap = \"a\", shape = [\"n / 4\", 10, \"2 * n - 160\"], box = [1, 2, 32], "
                "strides = [\"4 * n - 8\", 40], element-strides = [1, 2, 1], offset = 8, "
                "swizzle = \"128B-atom-64B\", promotion = \"256B\", fill = \"nan\" }",
                &w, &d),
      HD_OK);
  const hd_wl_arg *a = &w->launches[0].args[3];
  assert_false(a->is_buffer);
  assert_string_equal(w->buffers[a->buffer].name, "a");
  const hd_tensor *t = a->tensor;
  assert_non_null(t);
  assert_int_equal(t->address, 32);
  assert_int_equal(t->type, HD_TENSOR_F32);
  assert_int_equal(t->rank, 3);
  const uint64_t dim[] = {40, 10, 25}, stride[] = {160, 1568};
  const uint32_t box[] = {32, 2, 1}, step[] = {1, 2, 1};
  assert_memory_equal(t->dim, dim, sizeof dim);
  assert_memory_equal(t->stride, stride, sizeof stride);
  assert_memory_equal(t->box, box, sizeof box);
  assert_memory_equal(t->element_stride, step, sizeof step);
  assert_int_equal(t->swizzle, HD_TENSOR_SWIZZLE_128B_ATOM_64B);
  assert_int_equal(t->promotion, HD_TENSOR_PROMOTION_256B);
  assert_int_equal(t->fill, HD_TENSOR_FILL_NAN);
  assert_int_equal(t->interleave, HD_TENSOR_INTERLEAVE_NONE);
  assert_null(w->launches[0].args[0].tensor);
  hd_workload_close(w);
  /* Rows follow each other without gaps unless strides are given. */
  assert_int_equal(read_with("{ tensormap = \"a\", shape = [\"n\", 5, 20], box = [1, 1, 4] }", &w, &d),
                   HD_OK);
  const uint64_t dense[] = {80, 400};
  assert_memory_equal(w->launches[0].args[3].tensor->stride, dense, sizeof dense);
  hd_workload_close(w);
}

static void buffers_without_a_seed_hold_different_numbers(void **state) {
  char *text = changed("seed = 99\n", "");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(read_text(text, NULL, &w, &d), HD_OK);
  assert_int_not_equal(w->buffers[0].seed, w->buffers[1].seed);
  hd_workload_close(w);
  free(text);
}

/* ---- Folders and names ----------------------------------------------------------------------- */

static void a_workload_is_found_by_file_folder_and_name(void **state) {
  scratch_write("kernels/good/workload.toml", GOOD);
  scratch_write("kernels/good/kernel.cu", "");
  scratch_write("kernels/good/reference.c", "");
  scratch_write("kernels/deep/er/inside/workload.toml", GOOD);
  scratch_write("kernels/deep/er/inside/kernel.cu", "");
  scratch_write("kernels/deep/er/inside/reference.c", "");
  scratch_write("kernels/.hidden/workload.toml", GOOD);
  scratch_write("kernels/empty/notes", "");
  const char *kernels = scratch_path("kernels"), *names[] = {"good", "inside", "deep/er/inside"};
  hd_workload *w;
  hd_diag d;
  char **list;
  size_t n;
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(hd_workload_open(names[i], kernels, NULL, &w, &d), HD_OK);
    assert_string_equal(w->name, i ? "inside" : "good");
    hd_workload_close(w);
  }
  assert_int_equal(hd_workload_open(scratch_path("kernels/good"), NULL, NULL, &w, &d), HD_OK);
  hd_workload_close(w);
  assert_int_equal(hd_workload_open(scratch_path("kernels/good/workload.toml"), NULL, NULL, &w, &d), HD_OK);
  assert_string_equal(w->name, "good");
  hd_workload_close(w);
  char here[WL_PATH];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(scratch_path("kernels/good")), 0);
  assert_int_equal(hd_workload_open("workload.toml", NULL, NULL, &w, &d), HD_OK);
  assert_string_equal(w->name, "good");
  assert_string_equal(w->source, "kernel.cu");
  hd_workload_close(w);
  assert_int_equal(chdir(here), 0);
  assert_int_equal(hd_workload_list(kernels, &list, &n, &d), HD_OK);
  assert_int_equal(n, 2);
  assert_string_equal(list[0], "deep/er/inside");
  assert_string_equal(list[1], "good");
  hd_workload_list_free(list, n);
}

static void a_name_that_is_none_is_answered_with_those_that_are(void **state) {
  const char *kernels = scratch_path("kernels");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(hd_workload_open("goood", kernels, NULL, &w, &d), HD_ERR_USAGE);
  assert_string_equal(d.message, "there is no workload 'goood'; there is deep/er/inside, good");
  assert_int_equal(hd_workload_open("goood", NULL, NULL, &w, &d), HD_ERR_USAGE);
  assert_int_equal(hd_workload_open("", kernels, NULL, &w, &d), HD_ERR_USAGE);
  assert_int_equal(hd_workload_open("goood", scratch_path("nowhere"), NULL, &w, &d), HD_ERR_IO);
  scratch_write("kernels/twice/good/workload.toml", GOOD);
  scratch_write("kernels/third/good/workload.toml", GOOD);
  assert_int_equal(hd_workload_open("kernels/good", scratch, NULL, &w, &d),
                   HD_OK); /* a path is no question */
  hd_workload_close(w);
  assert_int_equal(hd_workload_open("good", scratch, NULL, &w, &d), HD_ERR_USAGE);
  assert_string_equal(
      d.message, "several workloads are named 'good': kernels/good, kernels/third/good, kernels/twice/good");
}

static void a_missing_source_is_answered_at_its_line(void **state) {
  scratch_write("sourceless/workload.toml", GOOD);
  hd_workload *w;
  hd_diag d;
  assert_int_equal(hd_workload_open(scratch_path("sourceless"), NULL, NULL, &w, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 4);
}

/* A reference that never ends would be read for ever. */
static void a_source_or_reference_that_is_no_file_is_refused(void **state) {
  scratch_write("endless/kernel.cu", "");
  static const char *const paths[] = {"/dev/zero", "/dev/null", "../endless", "/", "../pipe"};
  assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    char to[64], what[96];
    snprintf(to, sizeof to, "\"%s\"", paths[i]);
    char *text = changed("\"reference.c\"", to);
    scratch_write("endless/workload.toml", text);
    free(text);
    hd_workload *w;
    hd_diag d;
    assert_int_equal(hd_workload_open(scratch_path("endless"), NULL, NULL, &w, &d), HD_ERR_INPUT);
    assert_int_equal(d.line, 5);
    snprintf(what, sizeof what, "%s' is no file", paths[i]);
    assert_non_null(strstr(d.message, what));
  }
}

/* Workloads that compute the same share a reference. */
static void a_reference_may_be_another_workloads(void **state) {
  char *text = changed("\"reference.c\"", "\"../shared/reference.c\"");
  scratch_write("shares/workload.toml", text);
  free(text);
  scratch_write("shares/kernel.cu", "");
  scratch_write("shared/reference.c", "");
  hd_workload *w;
  hd_diag d;
  assert_int_equal(hd_workload_open(scratch_path("shares"), NULL, NULL, &w, &d), HD_OK);
  assert_string_equal(w->reference, scratch_path("shares/../shared/reference.c"));
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_becomes_a_workload_with_everything_evaluated),
      cmocka_unit_test(registers_are_those_of_the_nearest_architecture),
      cmocka_unit_test(another_size_gives_other_numbers),
      cmocka_unit_test(a_range_bounds_what_a_parameter_may_be),
      cmocka_unit_test(launches_keep_their_order_and_repeat),
      cmocka_unit_test(a_loop_runs_its_bodies_in_turn),
      cmocka_unit_test(a_tensor_map_becomes_what_the_driver_takes),
      cmocka_unit_test(buffers_without_a_seed_hold_different_numbers),
      cmocka_unit_test(a_workload_is_found_by_file_folder_and_name),
      cmocka_unit_test(a_name_that_is_none_is_answered_with_those_that_are),
      cmocka_unit_test(a_missing_source_is_answered_at_its_line),
      cmocka_unit_test(a_source_or_reference_that_is_no_file_is_refused),
      cmocka_unit_test(a_reference_may_be_another_workloads),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
