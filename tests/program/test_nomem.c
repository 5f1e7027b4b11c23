/* Memory that runs out in program/: settings as text and back, and the environment of a program. */
#include "nomem.h"

#include <stdio.h>
#include <unistd.h>

#include "heddle/program.h"

static hd_status settings(void *ctx, hd_diag *d) {
  const hd_program_settings s = {.gpu = "H100", .n_sms = 132, .quiet = true, .log = "/a.log"};
  hd_program_settings back;
  hd_buf text = {0};
  hd_status st = hd_program_settings_print(&s, &text, d);
  if (st == HD_OK) st = hd_program_settings_parse(text.data, &back, d);
  if (st == HD_OK) assert_memory_equal(&back, &s, sizeof s);
  hd_buf_free(&text);
  return st;
}

/* A folder that holds the library's file is all that it takes. */
static hd_status prepare(void *ctx, hd_diag *d) {
  const hd_program_options o = {
      .gpu_dir = SOURCE_DIR "/gpus", .folder = ctx, .checks = "all", .devices = 1, .quiet = true};
  const hd_status st = hd_program_prepare(&o, d);
  unsetenv("LD_PRELOAD");
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  char folder[] = "/tmp/heddle-nomem-XXXXXX", path[80];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/libheddle-cuda.so", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fclose(f);
  nomem_expect(&(nomem_entry){"settings", settings, NULL, false});
  nomem_expect(&(nomem_entry){"prepare", prepare, folder, true});
  remove(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
