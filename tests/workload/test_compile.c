/* Compilers and the cache. Compilers that only copy, and note that they ran, stand in for real
 * ones where the question is when they run; test_kernels.c has the real ones. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/process.h"
#include "scratch.h"
#include "workload/workload.h"

static char real_path[8192];
static hd_diag diag;

static const char FILE_TEXT[] =
    "source = \"kernel.cu\"\nreference = \"reference.c\"\n[sizes.small]\nn = 3\n"
    "[[buffer]]\nname = \"a\"\ntype = \"f32\"\ncount = \"n\"\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"b\"\ntype = \"s32\"\ncount = \"2 * n\"\ncompare = \"exact\"\n"
    "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"a\", \"b\"]\n";

static const char GOOD_REFERENCE[] =
    "#include <heddle_reference.h>\n"
    "#include \"factor.h\"\n"
    "void heddle_reference(const heddle_args *args) {\n"
    "  const float *a = heddle_f32(args, \"a\");\n"
    "  int32_t *b = heddle_s32(args, \"b\");\n"
    "  int64_t n = heddle_size_of(args, \"n\");\n"
    "  for (int64_t i = 0; i < 2 * n; i++) b[i] = FACTOR * (int32_t)a[i % n];\n"
    "}\n";

/* A program that notes each run in scratch/runs. */
static void program(const char *name, const char *body) {
  char text[4 * WL_PATH + 256], path[64];
  snprintf(path, sizeof path, "bin/%s", name);
  snprintf(text, sizeof text, "#!/bin/sh\nPATH=/usr/bin:/bin\necho \"%s $*\" >>%s\n%s\n", name,
           scratch_path("runs"), body);
  scratch_write(path, text);
  chmod(scratch_path(path), 0700);
}

/* As nvcc and clang are called: a list of architectures, or -o OUTPUT ... SOURCE. */
static const char COPIER[] = "case \"$*\" in *list-gpu-arch*|*print-supported*) echo ' %s'; exit;; esac\n"
                             "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
                             "cat \"$1\" >\"$out\"";

static void copier(const char *name, const char *archs) {
  char body[1024];
  snprintf(body, sizeof body, COPIER, archs);
  program(name, body);
}

static unsigned runs(void) {
  hd_file f;
  unsigned n = 0;
  if (hd_file_open(scratch_path("runs"), &f, NULL) != HD_OK) return 0;
  for (size_t i = 0; i < f.len; i++) n += f.data[i] == '\n';
  hd_file_close(&f);
  return n;
}

static const char *folder; /* of the workload */

/* Every test starts with an empty cache, one workload and only its own programs on the PATH. */
static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  folder = "w";
  scratch_write("w/workload.toml", FILE_TEXT);
  scratch_write("w/kernel.cu", "first\n");
  scratch_write("w/reference.c", GOOD_REFERENCE);
  scratch_write("w/factor.h", "#define FACTOR 2\n");
  scratch_write("tmp/keep", "");
  unlink(scratch_path("tmp/keep"));
  mkdir(scratch_path("bin"), 0700);
  setenv("PATH", scratch_path("bin"), 1);
  setenv("TMPDIR", scratch_path("tmp"), 1);
  return 0;
}

static int teardown(void **state) {
  setenv("PATH", real_path, 1);
  unsetenv("TMPDIR");
  return scratch_teardown(state);
}

static hd_workload *open_it(void) {
  hd_workload *w;
  char line[1400];
  if (hd_workload_open(scratch_path(folder), NULL, NULL, &w, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  return w;
}

static void expect_ptx(unsigned arch, const char *text, const char *by) {
  hd_workload *w = open_it();
  hd_buf ptx = {0};
  const char *compiler;
  char line[1400];
  if (hd_workload_ptx(w, arch, &ptx, &compiler, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  assert_string_equal(ptx.data, text);
  assert_string_equal(compiler, by);
  hd_buf_free(&ptx);
  hd_workload_close(w);
}

static hd_status failing_ptx(unsigned arch) {
  hd_workload *w = open_it();
  hd_buf ptx = {0};
  hd_status st = hd_workload_ptx(w, arch, &ptx, NULL, &diag);
  hd_buf_free(&ptx);
  hd_workload_close(w);
  return st;
}

static unsigned entries_in(const char *folder) {
  DIR *d = opendir(folder);
  unsigned n = 0;
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

/* ---- The cache ----------------------------------------------------------------------- */

static void the_second_call_runs_no_compiler(void **state) {
  copier("nvcc", "compute_75 compute_90");
  expect_ptx(90, "first\n", "nvcc");
  unsigned before = runs();
  assert_int_equal(before, 2); /* its architectures, and the kernel */
  expect_ptx(90, "first\n", "nvcc");
  assert_int_equal(runs(), before);
  assert_int_equal(entries_in(scratch_path("tmp")), 0); /* nothing is left behind */
}

/* They may name folders, whose headers no key tells of. */
static void with_flags_in_the_environment_the_compiler_runs_each_time(void **state) {
  static const char *const variables[] = {"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CPATH",
                                          "CPLUS_INCLUDE_PATH"};
  copier("nvcc", "compute_75 compute_90");
  expect_ptx(90, "first\n", "nvcc");
  unsigned n = runs();
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    setenv(variables[i], "-DN=2", 1);
    expect_ptx(90, "first\n", "nvcc");
    assert_int_equal(runs(), n += 2);
    unsetenv(variables[i]);
    expect_ptx(90, "first\n", "nvcc");
    assert_int_equal(runs(), n);
  }
}

static void whatever_the_ptx_depends_on_changes_the_key(void **state) {
  copier("nvcc", "compute_75 compute_90");
  scratch_write("w/kernel.cu", "#include \"one.h\"\n");
  scratch_write("w/one.h", "  # include \"sub/two.h\" // deeper\n");
  expect_ptx(90, "#include \"one.h\"\n", "nvcc");
  unsigned n = runs();
  const struct {
    const char *file, *text;
  } changes[] = {{"w/kernel.cu", "#include \"one.h\"\n\n"},
                 {"w/one.h", "#include \"sub/two.h\"\n"},
                 {"w/sub/two.h", "int x;\n"},
                 {"w/sub/two.h", "#include \"../one.h\"\nint y;\n"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    scratch_write(changes[i].file, changes[i].text);
    expect_ptx(90, "#include \"one.h\"\n\n", "nvcc");
    assert_int_equal(runs(), n += 2);
    expect_ptx(90, "#include \"one.h\"\n\n", "nvcc");
    assert_int_equal(runs(), n);
  }
  expect_ptx(80, "#include \"one.h\"\n\n", "nvcc");
  assert_int_equal(runs(), n += 2);
  copier("nvcc", "compute_75 compute_90 compute_100"); /* another version of the compiler */
  expect_ptx(80, "#include \"one.h\"\n\n", "nvcc");
  assert_int_equal(runs(), n + 2);
}

/* The only entry of the cache. */
static const char *only_entry(void) {
  const char *folder = scratch_path("heddle");
  DIR *d = opendir(folder);
  const char *found = NULL;
  char name[512];
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));)
    if (e->d_name[0] != '.') {
      assert_null(found);
      snprintf(name, sizeof name, "heddle/%.255s", e->d_name);
      found = scratch_path(name);
    }
  closedir(d);
  assert_non_null(found);
  return found;
}

static void a_damaged_entry_is_noticed_and_built_again(void **state) {
  copier("nvcc", "compute_90");
  expect_ptx(90, "first\n", "nvcc");
  char path[2 * WL_PATH];
  snprintf(path, sizeof path, "%s", only_entry());
  hd_file f;
  assert_int_equal(hd_file_open(path, &f, NULL), HD_OK);
  size_t len = f.len;
  char *good = malloc(len), *bad = malloc(len + 1);
  memcpy(good, f.data, len);
  hd_file_close(&f);
  unsigned n = runs();
  for (size_t i = 0; i <= 2 * len; i++) { /* every byte flipped, every length, one byte more */
    size_t size = i < len ? len : i == 2 * len ? len + 1 : i - len;
    memcpy(bad, good, len);
    bad[len] = 0;
    if (i < len) bad[i] ^= 1;
    assert_int_equal(hd_file_write(path, bad, size, NULL), HD_OK);
    size_t kept;
    if (i % 16 == 0) {
      expect_ptx(90, "first\n", "nvcc");
      assert_int_equal(runs(), n += 2);
    } else {
      assert_false(wl_cache_open(path, &f, &kept));
      assert_int_not_equal(access(path, F_OK), 0);
    }
  }
  free(good);
  free(bad);
}

static void without_a_writable_cache_the_compiler_runs_each_time(void **state) {
  char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  copier("nvcc", "compute_90");
  expect_ptx(90, "first\n", "nvcc");
  expect_ptx(90, "first\n", "nvcc");
  assert_int_equal(runs(), 4);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", scratch, 1);
  expect_ptx(90, "first\n", "nvcc");
  expect_ptx(90, "first\n", "nvcc");
  assert_int_equal(runs(), 6);
  assert_int_equal(entries_in(scratch_path(".cache/heddle")), 1);
  unsetenv("HOME");
  expect_ptx(90, "first\n", "nvcc");
  assert_int_equal(runs(), 8);
  if (home) setenv("HOME", home, 1);
  free(home);
}

static void compile_in_thread(void *ctx, unsigned worker) {
  hd_workload *w = ((hd_workload **)ctx)[worker];
  hd_buf ptx = {0};
  if (hd_workload_ptx(w, 90, &ptx, NULL, NULL) != HD_OK || strcmp(ptx.data, "first\n") != 0) w->module = 1;
  hd_buf_free(&ptx);
}

static void callers_at_the_same_time_all_get_the_text(void **state) {
  copier("nvcc", "compute_90");
  hd_workload *w[6];
  for (unsigned i = 0; i < 6; i++) w[i] = open_it();
  assert_true(hd_parallel(6, compile_in_thread, w));
  for (unsigned i = 0; i < 6; i++) {
    assert_int_equal(w[i]->module, UINT64_MAX);
    hd_workload_close(w[i]);
  }
  only_entry();
}

/* ---- Choice of the compiler ------------------------------------------------------------- */

static void clang_is_taken_where_nvcc_is_missing_or_too_new(void **state) {
  copier("clang-14", "sm_70 sm_80 sm_86 sm_90a");
  expect_ptx(90, "first\n", "clang");
  copier("nvcc", "compute_100");
  expect_ptx(90, "first\n", "clang");
  expect_ptx(100, "first\n", "nvcc");
}

static void the_highest_architecture_not_above_the_wanted_one_is_taken(void **state) {
  copier("clang", "sm_70 sm_80 sm_86 sm_90a");
  expect_ptx(90, "first\n", "clang");
  hd_file f;
  assert_int_equal(hd_file_open(scratch_path("runs"), &f, NULL), HD_OK);
  assert_non_null(memmem(f.data, f.len, "--cuda-gpu-arch=sm_86 ", 22));
  hd_file_close(&f);
}

static void a_clang_without_gpu_targets_is_passed_over(void **state) {
  copier("clang", "generic");
  copier("clang-16", "sm_70");
  expect_ptx(75, "first\n", "clang");
  assert_int_equal(failing_ptx(60), HD_ERR_MISSING);
}

static void without_any_compiler_the_answer_says_what_is_needed(void **state) {
  char want[2 * WL_PATH];
  assert_int_equal(failing_ptx(90), HD_ERR_MISSING);
  snprintf(want, sizeof want, "%s: compiling for sm_90 needs nvcc, or clang 14 or newer, on the PATH",
           scratch_path("w/kernel.cu"));
  assert_string_equal(diag.message, want);
}

static hd_status keep(unsigned arch) {
  hd_workload *w = open_it();
  hd_status st = hd_workload_keep_ptx(w, arch, &diag);
  hd_workload_close(w);
  return st;
}

static void drop_compilers(void) {
  unlink(scratch_path("bin/nvcc"));
  setenv("XDG_CACHE_HOME", scratch_path("other-cache"), 1);
}

static void kept_text_serves_where_no_compiler_is(void **state) {
  copier("nvcc", "compute_90");
  assert_int_equal(keep(90), HD_OK);
  drop_compilers();
  expect_ptx(90, "first\n", "ptx");
  assert_int_equal(failing_ptx(80), HD_ERR_MISSING); /* another architecture */
  assert_int_equal(keep(90), HD_OK);                 /* nothing to do, and nothing is lost */
  expect_ptx(90, "first\n", "ptx");
}

static void kept_text_moves_with_its_folder(void **state) {
  char from[WL_PATH];
  copier("nvcc", "compute_90");
  scratch_write("w/kernel.cu", "#include \"factor.h\"\n");
  assert_int_equal(keep(90), HD_OK);
  drop_compilers();
  snprintf(from, sizeof from, "%s", scratch_path("w"));
  assert_int_equal(rename(from, scratch_path("moved")), 0);
  folder = "moved";
  expect_ptx(90, "#include \"factor.h\"\n", "ptx");
  scratch_write("moved/factor.h", "#define FACTOR 3\n");
  assert_int_equal(failing_ptx(90), HD_ERR_MISSING);
}

static void kept_text_of_another_source_does_not_serve(void **state) {
  static const char *const texts[] = {"", "first\n", "// heddle: compiled from source 0\nfirst\n"};
  copier("nvcc", "compute_90");
  assert_int_equal(keep(90), HD_OK);
  drop_compilers();
  scratch_write("w/kernel.cu", "second\n");
  assert_int_equal(failing_ptx(90), HD_ERR_MISSING);
  scratch_write("w/kernel.cu", "first\n");
  expect_ptx(90, "first\n", "ptx");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    scratch_write("w/kernel.cu.sm_90.ptx", texts[i]);
    assert_int_equal(failing_ptx(90), HD_ERR_MISSING);
  }
}

static void a_compiler_goes_before_kept_text(void **state) {
  copier("nvcc", "compute_90");
  assert_int_equal(keep(90), HD_OK);
  scratch_write("w/kernel.cu", "second\n");
  expect_ptx(90, "second\n", "nvcc");
}

static void a_ptx_source_is_read_as_it_is(void **state) {
  char text[1024];
  snprintf(text, sizeof text, "source = \"kernel.ptx\"\n%s", strstr(FILE_TEXT, "reference"));
  scratch_write("w/workload.toml", text);
  scratch_write("w/kernel.ptx", ".version 7.0\n");
  expect_ptx(90, ".version 7.0\n", "ptx");
  assert_int_equal(runs(), 0);
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void a_compilers_first_error_travels_with_its_place(void **state) {
  static const struct {
    const char *output, *line;
  } cases[] = {
      {"dir/k.cu(12): warning #177-D: unused\n\ndir/k.cu(14): error: identifier \"x\" is undefined\n"
       "dir/k.cu(15): error: more\n",
       "dir/k.cu:14:1: identifier \"x\" is undefined (cc)"},
      {"In file included from a.cu:1:\nk.h:3:7: error: unknown type name 'foo'\n",
       "k.h:3:7: unknown type name 'foo' (cc)"},
      {"r.c:9:10: fatal error: nope.h: No such file or directory\n",
       "r.c:9:10: nope.h: No such file or directory (cc)"},
      {"clang: error: unsupported CUDA gpu architecture: sm_90\n",
       "unsupported CUDA gpu architecture: sm_90 (cc)"},
      {"nvcc fatal   : Unknown option '-x'\n", "Unknown option '-x' (cc)"},
      {"", "cc failed with status 3 and no error message"},
      {NULL, "cc failed with status 3 and no error message"},
      {"error", "error (cc)"},
  };
  char line[1400];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(wl_compiler_error("/usr/bin/cc", cases[i].output, 3, &diag), HD_ERR_INPUT);
    assert_string_equal(hd_diag_line(&diag, line, sizeof line), cases[i].line);
  }
}

static void a_failed_compilation_is_no_entry(void **state) {
  program("nvcc", "case $1 in --list*) echo compute_90; exit;; esac\necho 'k.cu(2): error: no' >&2; exit 1");
  assert_int_equal(failing_ptx(90), HD_ERR_INPUT);
  assert_int_equal(diag.line, 2);
  assert_int_equal(entries_in(scratch_path("heddle")), 0);
  assert_int_equal(entries_in(scratch_path("tmp")), 0);
}

/* The pipe ends when no process holds it: the program's own child is gone too. */
static void a_program_that_hangs_is_killed_with_its_children(void **state) {
  int ends[2], code;
  char byte;
  assert_int_equal(pipe(ends), 0);
  const char *argv[] = {"/bin/sh", "-c", "/bin/sleep 1000 & wait", NULL};
  hd_buf output = {0};
  assert_int_equal(hd_program_run(argv, scratch_path("tmp"), 1, &output, &code, &diag), HD_ERR_IO);
  assert_string_equal(diag.message, "/bin/sh was stopped after 1 seconds");
  close(ends[1]);
  assert_int_equal(read(ends[0], &byte, 1), 0);
  close(ends[0]);
  hd_buf_free(&output);
}

static void a_program_has_no_input_and_its_output_is_kept(void **state) {
  const char *argv[] = {"/bin/sh", "-c", "read x && exit 1; echo out; echo err >&2; kill -9 $$", NULL};
  hd_buf output = {0};
  int code;
  assert_int_equal(hd_program_run(argv, scratch_path("tmp"), 20, &output, &code, &diag), HD_OK);
  assert_string_equal(output.data, "out\nerr\n");
  assert_int_equal(code, 128 + 9);
  argv[0] = "/no/such/program";
  assert_int_equal(hd_program_run(argv, scratch_path("tmp"), 20, &output, &code, &diag), HD_ERR_IO);
  hd_buf_free(&output);
}

/* ---- References --------------------------------------------------------------------------------- */

/* A cc that notes its run and is the real one. */
static void real_cc(void) {
  char cc[WL_PATH], body[4 * WL_PATH];
  static const char *const names[] = {"cc", "gcc", "clang", NULL};
  setenv("PATH", real_path, 1);
  bool found = hd_program_find(names, cc, sizeof cc);
  setenv("PATH", scratch_path("bin"), 1);
  if (!found) {
    print_message("no C compiler is installed: references are not tested\n");
    skip();
  }
  snprintf(body, sizeof body, "PATH='%s' exec %s \"$@\"", real_path, cc);
  program("cc", body);
}

static hd_status run_reference(int32_t b[6]) {
  hd_workload *w = open_it();
  float a[3] = {0, 1, 2};
  void *const buffers[] = {a, b};
  hd_status st = hd_workload_reference(w, buffers, &diag);
  hd_workload_close(w);
  return st;
}

static void expect_reference(int32_t factor) {
  int32_t b[6], want[6] = {0, factor, 2 * factor, 0, factor, 2 * factor};
  char line[1400];
  if (run_reference(b) != HD_OK) fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  assert_memory_equal(b, want, sizeof b);
}

static void a_reference_is_built_once_and_again_when_it_changes(void **state) {
  real_cc();
  expect_reference(2);
  expect_reference(2);
  assert_int_equal(runs(), 1);
  scratch_write("w/factor.h", "#define FACTOR 3\n");
  expect_reference(3);
  assert_int_equal(runs(), 2);
  assert_int_equal(entries_in(scratch_path("tmp")), 0);
}

static void a_damaged_reference_is_built_again(void **state) {
  real_cc();
  expect_reference(2);
  const char *path = only_entry();
  assert_int_equal(truncate(path, 5000), 0);
  expect_reference(2);
  assert_int_equal(runs(), 2);
  expect_reference(2);
  assert_int_equal(runs(), 2);
}

static void a_reference_without_a_cache_works(void **state) {
  real_cc();
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  expect_reference(2);
  assert_int_equal(entries_in(scratch_path("tmp")), 0);
}

static void a_references_mistakes_are_answered(void **state) {
  static const struct {
    const char *body, *message;
    uint32_t line;
  } cases[] = {
      {"void heddle_reference(const heddle_args *args) { heddle_f32(args, \"x\"); }",
       "asks for buffer 'x', which workload.toml does not have", 0},
      {"void heddle_reference(const heddle_args *args) { heddle_f64(args, \"a\"); }",
       "asks for a f64 buffer 'a', which workload.toml does not have", 0},
      {"void heddle_reference(const heddle_args *args) { heddle_size_of(args, \"m\"); }",
       "asks for size 'm', which workload.toml does not have", 0},
      {"void heddle_reference(const heddle_args *args) { args->fail(args, \"cannot\"); }", "cannot", 0},
      {"void reference(const heddle_args *args) {}",
       "does not define void heddle_reference(const heddle_args *)", 0},
      {"\nvoid heddle_reference(const heddle_args *args) { return 1 }", NULL, 3},
      {"#include \"nowhere.h\"", NULL, 2},
  };
  real_cc();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    int32_t b[6];
    snprintf(text, sizeof text, "#include <heddle_reference.h>\n%s\n", cases[i].body);
    scratch_write("w/reference.c", text);
    assert_int_equal(run_reference(b), HD_ERR_INPUT);
    assert_string_equal(diag.file, scratch_path("w/reference.c"));
    if (cases[i].message) assert_string_equal(diag.message, cases[i].message);
    assert_int_equal(diag.line, cases[i].line);
  }
}

static void a_workload_without_a_reference_says_so(void **state) {
  char text[1024];
  snprintf(text, sizeof text, "source = \"kernel.cu\"\n%s", strstr(FILE_TEXT, "[sizes"));
  scratch_write("w/workload.toml", text);
  int32_t b[6];
  assert_int_equal(run_reference(b), HD_ERR_UNSUPPORTED);
  assert_string_equal(diag.message, "workload 'w' has no reference");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const char *path = getenv("PATH");
  snprintf(real_path, sizeof real_path, "%s", path ? path : "/usr/bin:/bin");
  const struct CMUnitTest tests[] = {
      TEST(the_second_call_runs_no_compiler),
      TEST(whatever_the_ptx_depends_on_changes_the_key),
      TEST(a_damaged_entry_is_noticed_and_built_again),
      TEST(without_a_writable_cache_the_compiler_runs_each_time),
      TEST(with_flags_in_the_environment_the_compiler_runs_each_time),
      TEST(callers_at_the_same_time_all_get_the_text),
      TEST(clang_is_taken_where_nvcc_is_missing_or_too_new),
      TEST(the_highest_architecture_not_above_the_wanted_one_is_taken),
      TEST(a_clang_without_gpu_targets_is_passed_over),
      TEST(without_any_compiler_the_answer_says_what_is_needed),
      TEST(kept_text_serves_where_no_compiler_is),
      TEST(kept_text_moves_with_its_folder),
      TEST(kept_text_of_another_source_does_not_serve),
      TEST(a_compiler_goes_before_kept_text),
      TEST(a_ptx_source_is_read_as_it_is),
      TEST(a_compilers_first_error_travels_with_its_place),
      TEST(a_failed_compilation_is_no_entry),
      TEST(a_program_that_hangs_is_killed_with_its_children),
      TEST(a_program_has_no_input_and_its_output_is_kept),
      TEST(a_reference_is_built_once_and_again_when_it_changes),
      TEST(a_damaged_reference_is_built_again),
      TEST(a_reference_without_a_cache_works),
      TEST(a_references_mistakes_are_answered),
      TEST(a_workload_without_a_reference_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
