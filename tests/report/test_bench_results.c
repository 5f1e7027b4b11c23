/* Results on disk. */
#include "golden.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "heddle/bench.h"

#define THE_GPU                                                                                              \
  { .title = "A GPU", .uuid = "GPU-1", .driver = "12.4", .clock_mhz = 1980, .memory_clock_mhz = 2619 }
static const hd_bench_place place = {.device = "cuda:0", .gpu = THE_GPU, .version = "9.9.9", .n_sms = 132};

/* A folder of its own; removed with its files. */
static void make_folder(char path[64]) {
  strcpy(path, "/tmp/heddle-results-XXXXXX");
  assert_non_null(mkdtemp(path));
}

static void remove_folder(const char *path) {
  static const char *const names[] = {"results.jsonl", "verify.jsonl", "table.txt",
                                      "report.html",   "verify.txt",   "commands.txt"};
  char file[128];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(file, sizeof file, "%s/%s", path, names[i]);
    unlink(file);
  }
  assert_int_equal(rmdir(path), 0);
}

static void add_text(const char *folder, const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "a");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static hd_bench_row full_row(const char *workload) {
  hd_bench_row r = {.gpu = THE_GPU,
                    .second = {.uuid = "GPU-2", .speedup = 1.125, .low = 1, .high = 1.25},
                    .size = "gpu",
                    .category = "algorithm",
                    .paper = "CLU table 2",
                    .plan = "a: order=col; b: bind=agents",
                    .why = "a \"reason\"",
                    .default_us = 100,
                    .best_us = 80,
                    .speedup = 1.25,
                    .low = 0.5,
                    .high = INFINITY,
                    .compulsory_bytes = 4800,
                    .roofline_us = 12.5,
                    .tried = 17,
                    .seconds = 9.75,
                    .spent = {.load = 1.5, .proof = 0.25},
                    .has_counters = true,
                    .before = {.l1_sectors = 1, .l2_hits = 2, .dram_write_bytes = UINT32_MAX * 16ull},
                    .after = {.warp_instructions = 3, .dram_read_bytes = 4}};
  snprintf(r.workload, sizeof r.workload, "%s", workload);
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k += 2) {
    snprintf(r.levers[k].plan, sizeof r.levers[k].plan, "plan %u", k);
    r.levers[k].speedup = 1 + k / 8.0;
    r.levers[k].low = 0.5;
    r.levers[k].high = 2;
  }
  return r;
}

static void a_row_written_is_read_back(void **state) {
  char folder[64];
  make_folder(folder);
  hd_bench_results w = {.folder = folder, .place = place}, r = w;
  hd_bench_row row = full_row("one"), failed = {.workload = "two", .size = "gpu", .failed = "no kernel"};
  assert_int_equal(hd_bench_add(&w, &row, NULL), HD_OK);
  assert_int_equal(hd_bench_add(&w, &failed, NULL), HD_OK);
  assert_int_equal(hd_bench_read(&r, HD_BENCH_RESULTS, NULL), HD_OK);
  assert_int_equal(r.rows.n, 2);
  row.high = 0; /* JSON has no infinity */
  assert_memory_equal(hd_bench_find(&r, "one", "gpu"), &row, sizeof row);
  assert_string_equal(hd_bench_find(&r, "two", "gpu")->failed, "no kernel");
  assert_null(hd_bench_find(&r, "one", "small"));
  hd_buf out = {0};
  hd_bench_json(&r, &out);
  assert_golden("bench.json", &out);
  hd_bench_results_free(&w);
  hd_bench_results_free(&r);
  remove_folder(folder);
}

static void a_verified_row_is_read_back_and_counted(void **state) {
  char folder[64];
  make_folder(folder);
  hd_bench_results w = {.folder = folder, .place = place}, r = w;
  hd_verify_row row = {.gpu = THE_GPU,
                       .workload = "one",
                       .size = "gpu",
                       .plan = "order=col",
                       .kept = 1.25,
                       .speedup = 0.5,
                       .low = 0.25,
                       .high = 0.75,
                       .before_us = 10,
                       .after_us = 20,
                       .seconds = 1.5},
                kept = {.gpu = THE_GPU,
                        .workload = "one",
                        .size = "small",
                        .plan = "baseline",
                        .original = true,
                        .kept = 1,
                        .speedup = 1,
                        .low = 1,
                        .high = 1};
  assert_int_equal(hd_verify_add(&w, &row, NULL), HD_OK);
  assert_int_equal(hd_verify_add(&w, &kept, NULL), HD_OK);
  assert_int_equal(hd_bench_read(&r, HD_BENCH_VERIFIED, NULL), HD_OK);
  assert_int_equal(r.verified.n, 2);
  assert_memory_equal(hd_verify_find(&r, "one", "gpu"), &row, sizeof row);
  assert_memory_equal(hd_verify_find(&r, "one", "small"), &kept, sizeof kept);
  r.verdicts = 5;
  r.unknown = 2;
  r.gone = 1;
  assert_int_equal(hd_verify_draw(&r, 0.99, NULL), HD_OK);
  hd_buf out = {0};
  hd_verify_results_text(&r, 0.99, &out);
  assert_golden("verified.txt", &out);
  hd_verify_json(&r, 0.99, &out);
  assert_golden("verified.json", &out);
  hd_bench_results_free(&w);
  hd_bench_results_free(&r);
  remove_folder(folder);
}

static void a_later_line_takes_an_earlier_ones_place(void **state) {
  char folder[64];
  make_folder(folder);
  hd_bench_results w = {.folder = folder, .place = place}, r = w;
  hd_bench_row row = full_row("one");
  for (int i = 0; i < 3; i++) {
    row.tried = (uint32_t)i;
    assert_int_equal(hd_bench_add(&w, &row, NULL), HD_OK);
  }
  assert_int_equal(w.rows.n, 1);
  assert_int_equal(hd_bench_read(&r, HD_BENCH_RESULTS, NULL), HD_OK);
  assert_int_equal(r.rows.n, 1);
  assert_int_equal(r.rows.data[0].tried, 2);
  hd_bench_results_free(&w);
  hd_bench_results_free(&r);
  remove_folder(folder);
}

static void lines_of_other_places_are_not_taken_and_a_cut_one_is_mended(void **state) {
  char folder[64];
  make_folder(folder);
  hd_bench_results w = {.folder = folder, .place = place}, r;
  hd_bench_row row = full_row("one");
  assert_int_equal(hd_bench_add(&w, &row, NULL), HD_OK);
  add_text(folder, "results.jsonl", "\n17\nnot JSON\n{\"heddle\": \"9.9.9\", \"device\": \"A G");
  for (int field = 0; field < 4; field++) {
    r = (hd_bench_results){.folder = folder, .place = place};
    char *of[] = {r.place.version, r.place.gpu.title, r.place.gpu.driver};
    if (field < 3) strcpy(of[field], "other");
    assert_int_equal(hd_bench_read(&r, HD_BENCH_RESULTS, NULL), HD_OK);
    assert_int_equal(r.rows.n, field == 3);
    hd_bench_results_free(&r);
  }
  snprintf(row.workload, sizeof row.workload, "two");
  assert_int_equal(hd_bench_add(&w, &row, NULL), HD_OK); /* on a line of its own */
  r = (hd_bench_results){.folder = folder, .place = place};
  assert_int_equal(hd_bench_read(&r, HD_BENCH_RESULTS, NULL), HD_OK);
  assert_int_equal(r.rows.n, 2);
  hd_bench_results_free(&r);
  hd_bench_results_free(&w);
  remove_folder(folder);
}

static void a_folder_with_results_is_only_resumed(void **state) {
  char folder[64];
  hd_diag d = {0};
  make_folder(folder);
  assert_int_equal(hd_bench_prepare(folder, HD_BENCH_RESULTS, false, NULL), HD_OK);
  add_text(folder, "results.jsonl", "{}\n");
  assert_int_equal(hd_bench_prepare(folder, HD_BENCH_RESULTS, false, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "--resume"));
  assert_int_equal(hd_bench_prepare(folder, HD_BENCH_RESULTS, true, NULL), HD_OK);
  assert_int_equal(hd_bench_prepare(folder, HD_BENCH_VERIFIED, false, NULL), HD_OK);
  assert_int_equal(hd_bench_prepare("/dev/null", HD_BENCH_RESULTS, true, NULL), HD_ERR_IO);
  remove_folder(folder);
}

static void commands_are_quoted_for_a_shell(void **state) {
  char folder[64], path[128];
  char *const first[] = {"bench", "--plan", "order=tile:8x4,bind=agents", "-o", "x y"}, *const second[] = {
                                                                                            "bench", "",
                                                                                            "it's", "$HOME"};
  make_folder(folder);
  assert_int_equal(hd_bench_record_command(folder, 5, first, NULL), HD_OK);
  assert_int_equal(hd_bench_record_command(folder, 4, second, NULL), HD_OK);
  snprintf(path, sizeof path, "%s/commands.txt", folder);
  hd_file f;
  assert_int_equal(hd_file_open(path, &f, NULL), HD_OK);
  static const char expected[] = "heddle bench --plan order=tile:8x4,bind=agents -o 'x y'\n"
                                 "heddle bench '' 'it'\\''s' '$HOME'\n";
  assert_int_equal(f.len, sizeof expected - 1);
  assert_memory_equal(f.data, expected, f.len);
  hd_file_close(&f);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a row written is read back", a_row_written_is_read_back),
      BEHAVIOUR("a verified row is read back, and counted", a_verified_row_is_read_back_and_counted),
      BEHAVIOUR("a later line takes an earlier one's place", a_later_line_takes_an_earlier_ones_place),
      BEHAVIOUR("lines of other places are not taken, and a cut one is mended",
                lines_of_other_places_are_not_taken_and_a_cut_one_is_mended),
      BEHAVIOUR("a folder with results is only resumed", a_folder_with_results_is_only_resumed),
      BEHAVIOUR("commands are quoted for a shell", commands_are_quoted_for_a_shell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
