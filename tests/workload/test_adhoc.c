/* A launch in words. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/workload.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry scale(.param .u64 data, .param .f32 by)\n{\n  ret;\n}\n"
                           ".visible .entry other()\n{\n  ret;\n}\n";

static void write_kernels(char path[64]) {
  strcpy(path, "/tmp/heddle-adhoc-XXXXXX.ptx");
  int fd = mkstemps(path, 4);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
}

static hd_adhoc_options launch(const char *const *args, size_t n) {
  return (hd_adhoc_options){.module = UINT64_MAX,
                            .kernel = "scale",
                            .grid = {4, 2, 1},
                            .block = {64, 1, 1},
                            .shared = 128,
                            .args = args,
                            .n_args = n};
}

static void words_become_a_workload_that_is_gone_afterwards(void **state) {
  static const char *const args[] = {"f32[1024]=uniform(-1, 1)", "f32:0.5"};
  char path[64];
  hd_adhoc a = {0};
  hd_workload *w;
  struct stat s;
  write_kernels(path);
  hd_adhoc_options o = launch(args, 2);
  assert_int_equal(hd_adhoc_create(path, &o, &a, NULL), HD_OK);
  assert_int_equal(hd_workload_open(a.folder, NULL, NULL, &w, NULL), HD_OK);
  assert_int_equal(w->n_launches, 1);
  assert_string_equal(w->launches[0].kernel, "scale");
  assert_int_equal(w->launches[0].grid[0], 4);
  assert_int_equal(w->launches[0].grid[1], 2);
  assert_int_equal(w->launches[0].block[0], 64);
  assert_int_equal(w->launches[0].dynamic_shared, 128);
  assert_int_equal(w->launches[0].n_args, 2);
  assert_int_equal(w->n_buffers, 1);
  assert_int_equal(w->buffers[0].count, 1024);
  assert_non_null(strstr(w->name, "-reordered"));
  hd_workload_close(w);
  hd_adhoc_remove(&a);
  assert_int_equal(stat(a.temporary, &s), -1);
  unlink(path);
}

static void what_is_missing_or_malformed_is_named(void **state) {
  static const struct {
    const char *arg, *kernel, *message;
    bool no_grid;
  } cases[] = {{"f32", "scale", "--arg 1: 'f32' is neither TYPE:VALUE nor TYPE[COUNT]=FILL", false},
               {"f32[x]=zero", "scale", "is not TYPE[COUNT]=FILL", false},
               {"f32[8]=\"zero\"", "scale", "quotes do not belong here", false},
               {"f32:1", "none", "no kernel 'none'", false},
               {"f32:1", NULL, "choose a kernel with -k", false},
               {"f32:1", "scale", "needs --grid, --block", true}};
  char path[64];
  write_kernels(path);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_adhoc a = {0};
    hd_diag d = {0};
    struct stat s;
    hd_adhoc_options o = launch(&cases[i].arg, 1);
    o.kernel = cases[i].kernel;
    if (cases[i].no_grid) o.grid[0] = 0;
    assert_int_not_equal(hd_adhoc_create(path, &o, &a, &d), HD_OK);
    if (!strstr(d.message, cases[i].message)) fail_msg("'%s', not '%s'", d.message, cases[i].message);
    hd_adhoc_remove(&a);
    if (a.temporary[0]) assert_int_equal(stat(a.temporary, &s), -1);
  }
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("words become a workload that is gone afterwards",
                words_become_a_workload_that_is_gone_afterwards),
      BEHAVIOUR("what is missing or malformed is named", what_is_missing_or_malformed_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
