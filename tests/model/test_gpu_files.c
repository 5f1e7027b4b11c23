/* GPUs by the names that people give them, and what the files of today's GPUs have in common. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "heddle/model.h"

static const char gpu_dir[] = SOURCE_DIR "/gpus";

static void is_file(const char *name, const char *file) {
  hd_gpu g;
  hd_diag d = {0};
  if (hd_gpu_load(name, gpu_dir, &g, &d) != HD_OK) fail_msg("%s: %s", name, d.message);
  if (strcmp(g.name, file) != 0) fail_msg("%s is %s, not %s", name, g.name, file);
}

static void common_names_in_any_spelling_are_the_file_of_that_gpu(void **state) {
  static const struct {
    const char *name, *file;
  } cases[] = {
      {"h100", "h100"},
      {"H100", "h100"},
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"h200", "h200"},
      {"GH200", "gh200"},
      {"NVIDIA GH200 480GB", "gh200"},
      {"a100", "a100-40gb"},
      {"A100-40GB", "a100-40gb"},
      {"a100_80gb", "a100-80gb"},
      {"NVIDIA A100-SXM4-80GB", "a100-80gb"},
      {"l4", "l4"},
      {"NVIDIA L40S", "l40s"},
      {"3090", "rtx3090"},
      {"4090", "rtx4090"},
      {"RTX4090", "rtx4090"},
      {"rtx-4090", "rtx4090"},
      {"NVIDIA GeForce RTX 4090", "rtx4090"},
      {"5090", "rtx5090"},
      {"B200", "b200"},
      {"1080", "gtx1080"},
      {"GTX 580", "gtx580"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_file(cases[i].name, cases[i].file);
}

static void says(const char *name, const char *dir, const char *what) {
  hd_gpu g;
  hd_diag d = {0};
  assert_int_not_equal(hd_gpu_load(name, dir, &g, &d), HD_OK);
  if (!strstr(d.message, what)) fail_msg("%s: '%s' lacks '%s'", name, d.message, what);
}

static void a_gpu_without_a_file_is_refused_with_the_nearest_one_and_both_sizes(void **state) {
  says("rtx4080", gpu_dir, "there is no file of GeForce RTX 4080 (sm_89, 76 SMs, L2 of 64 MB");
  says("rtx4080", gpu_dir, "the nearest is --gpu rtx4090 (sm_89, 128 SMs, L2 of 72 MB");
  says("A10", gpu_dir, "the nearest is --gpu rtx3090");
  says("t4", gpu_dir, "the nearest is --gpu gtx1080");
  says("B300", gpu_dir, "the nearest is --gpu b200");
  says("a100-pcie", gpu_dir, "the nearest is --gpu a100-40gb");
}

static void of_an_architecture_alone_the_nearest_is_the_newest_that_is_no_newer(void **state) {
  says("sm_103", gpu_dir, "there is no GPU 'sm_103'; the nearest by architecture is --gpu b200");
  says("sm_121a", gpu_dir, "the nearest by architecture is --gpu rtx5090");
  says("sm_87", gpu_dir, "the nearest by architecture is --gpu rtx3090");
}

static void a_name_that_no_gpu_has_is_refused_with_names_like_it(void **state) {
  says("h10", gpu_dir, "there is no GPU 'h10'; there is h100");
  says("nothing", gpu_dir, "--gpu list names them");
}

/* A folder of one file of the user's own has no table of names. */
static void a_folder_without_names_has_those_of_its_files(void **state) {
  char dir[] = "/tmp/heddle-names-XXXXXX", path[64];
  hd_gpu g;
  hd_buf text = {0};
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/My-GPU.toml", dir);
  assert_int_equal(hd_gpu_load("h100", gpu_dir, &g, NULL), HD_OK);
  hd_gpu_toml(&g, &text);
  assert_int_equal(hd_file_write(path, text.data, text.len, NULL), HD_OK);
  assert_int_equal(hd_gpu_load("mygpu", dir, &g, NULL), HD_OK);
  assert_string_equal(g.name, "My-GPU");
  says("4090", dir, "there is My-GPU");
  hd_buf_free(&text);
  unlink(path);
  rmdir(dir);
}

static void mistakes_in_the_table_of_names_are_errors_with_their_line(void **state) {
  char dir[] = "/tmp/heddle-names-XXXXXX", folder[64], path[96];
  static const char text[] = "[other]\ntitle = \"Other\"\nsm = 4\n";
  hd_gpu g;
  hd_diag d = {0};
  assert_non_null(mkdtemp(dir));
  snprintf(folder, sizeof folder, "%s/published", dir);
  snprintf(path, sizeof path, "%s/known.toml", folder);
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(hd_file_write(path, text, sizeof text - 1, NULL), HD_OK);
  assert_int_equal(hd_gpu_load("4090", dir, &g, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 3);
  unlink(path);
  rmdir(folder);
  rmdir(dir);
}

/* CUDA C programming guide, technical specifications per compute capability. */
static void files_of_one_compute_capability_have_its_limits(void **state) {
  static const struct {
    unsigned arch;
    uint32_t ctas, warps, threads, shared_kb, l1_kb;
  } limits[] = {{80, 32, 64, 2048, 164, 192}, {86, 16, 48, 1536, 100, 128},  {89, 24, 48, 1536, 100, 128},
                {90, 32, 64, 2048, 228, 256}, {100, 32, 64, 2048, 228, 256}, {120, 24, 48, 1536, 100, 128}};
  char **names;
  size_t n, seen = 0;
  assert_int_equal(hd_gpu_list(gpu_dir, &names, &n, NULL), HD_OK);
  for (size_t i = 0; i < n; i++) {
    hd_gpu g;
    assert_int_equal(hd_gpu_load(names[i], gpu_dir, &g, NULL), HD_OK);
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
      if (limits[k].arch != g.arch) continue;
      seen++;
      if (g.max_ctas != limits[k].ctas || g.max_warps != limits[k].warps ||
          g.max_threads != limits[k].threads || g.shared_bytes != limits[k].shared_kb << 10 ||
          g.l1.bytes != (uint64_t)limits[k].l1_kb << 10 || g.registers != 65536 || g.schedulers != 4 ||
          g.shared_reserved != 1024 || !g.l1_unified)
        fail_msg("%s has other limits than sm_%u", names[i], g.arch);
    }
  }
  assert_int_equal(seen, 11);
  hd_gpu_list_free(names, n);
}

/* The rate of memory is one that was reached: below the peak, and above three quarters of it. */
static void sizes_by_name_are_those_of_the_files(void **state) {
  hd_file f;
  char name[32] = "", line[256];
  double sms = 0, l2 = 0, rate = 0;
  size_t checked = 0;
  assert_int_equal(hd_file_open(SOURCE_DIR "/gpus/published/known.toml", &f, NULL), HD_OK);
  for (const char *p = f.data, *end = f.data + f.len; p < end;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    snprintf(line, sizeof line, "%.*s", (int)(stop - p), p);
    p = stop + 1;
    sscanf(line, "[%31[^]]", name);
    sscanf(line, "sms = %lf", &sms);
    sscanf(line, "l2_mb = %lf", &l2);
    hd_gpu g;
    if (sscanf(line, "gb_per_s = %lf", &rate) != 1) continue;
    char path[128];
    snprintf(path, sizeof path, "%s/%s.toml", gpu_dir, name);
    if (access(path, F_OK) != 0) continue;
    assert_int_equal(hd_gpu_load(name, gpu_dir, &g, NULL), HD_OK);
    const double own = g.dram_bytes_per_cycle * g.clock_mhz / 1000;
    if (g.n_sms != sms || (double)g.l2.bytes != l2 * (1 << 20) || own > rate * 1.001 || own < rate * 0.75)
      fail_msg("%s: other sizes than its file", name);
    checked++;
  }
  assert_int_equal(checked, 13);
  hd_file_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("common names in any spelling are the file of that GPU",
                common_names_in_any_spelling_are_the_file_of_that_gpu),
      BEHAVIOUR("a GPU without a file is refused with the nearest one and both sizes",
                a_gpu_without_a_file_is_refused_with_the_nearest_one_and_both_sizes),
      BEHAVIOUR("of an architecture alone the nearest is the newest that is no newer",
                of_an_architecture_alone_the_nearest_is_the_newest_that_is_no_newer),
      BEHAVIOUR("a name that no GPU has is refused with names like it",
                a_name_that_no_gpu_has_is_refused_with_names_like_it),
      BEHAVIOUR("a folder without names has those of its files",
                a_folder_without_names_has_those_of_its_files),
      BEHAVIOUR("mistakes in the table of names are errors with their line",
                mistakes_in_the_table_of_names_are_errors_with_their_line),
      BEHAVIOUR("files of one compute capability have its limits",
                files_of_one_compute_capability_have_its_limits),
      BEHAVIOUR("sizes by name are those of the files", sizes_by_name_are_those_of_the_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
