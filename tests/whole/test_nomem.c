/* Memory that runs out in whole/: a program's report becomes a list of its kernels, and a page. */
#include "nomem.h"

#include <stdio.h>

#include "whole/whole.h"

typedef struct bed {
  char folder[64], report[80], emulated[80];
  hd_gpu gpu;
} bed;

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

/* Kernels whose launches were not recorded: what is optimized fails in the tests of tune/. */
static hd_status list(void *ctx, hd_diag *d) {
  static char *argv[] = {(char *)(uintptr_t) "app", NULL};
  const bed *b = ctx;
  const hd_whole_options o = {.argv = argv, .gpu = &b->gpu, .folder = b->folder};
  hd_hot hot = {.program = strdup("app")};
  if (!hot.program) return hd_nomem(d);
  const hd_status st = whole_optimize(&o, b->report, b->emulated, &hot, d);
  if (st == HD_OK) {
    assert_int_equal(hot.n, 2);
    assert_string_equal(hot.kernels[0].symbol, "hot"); /* the one with most instructions is first */
    assert_string_equal(hot.kernels[0].why, "it reads textures");
    assert_string_equal(hot.kernels[1].why, "its launches were not recorded");
  }
  hd_hot_free(&hot);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  bed b = {.folder = "/tmp/heddle-nomem-XXXXXX"};
  char command[80];
  hd_diag d = {0};
  assert_non_null(mkdtemp(b.folder));
  snprintf(b.report, sizeof b.report, "%s/report.json", b.folder);
  snprintf(b.emulated, sizeof b.emulated, "%s/emulated.json", b.folder);
  write_file(b.report, "{\"kernels\": [{\"kernel\": \"cold\", \"title\": \"cold()\", \"launches\": 2},\n"
                       " {\"kernel\": \"hot\", \"launches\": 1, \"why\": \"it reads textures\"}]}\n");
  write_file(b.emulated, "{\"kernels\": [{\"kernel\": \"hot\", \"thread_instructions\": 1000},\n"
                         " {\"kernel\": \"cold\", \"thread_instructions\": 10}]}\n");
  if (hd_gpu_load("gtx580", SOURCE_DIR "/gpus", &b.gpu, &d) != HD_OK) fail_msg("%s", d.message);
  nomem_expect(&(nomem_entry){"list", list, &b, true});
  snprintf(command, sizeof command, "rm -r %s", b.folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
