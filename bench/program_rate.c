/* bench_program_rate: how fast a CUDA program's kernel runs under `heddle emu`, and how long the program
 * takes to start.
 *
 *   bench_program_rate HEDDLE [N [ROUNDS]]   the workload matmul-naive, N cubed (default: 1024), ROUNDS times
 * (5)
 *
 * The kernel runs in turn on the emulator as `heddle check` runs it, and in a program that calls the driver,
 * started by HEDDLE: in thread instructions a second, the median of the rounds. The program is this one
 * again: it knows the driver's functions by name alone. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/stats.h"
#include "heddle/workload.h"

enum { SIDE = 16, MAX_ROUNDS = 101, STARTS = 31 };

static void die(const char *what) {
  fprintf(stderr, "bench_program_rate: %s\n", what);
  exit(2);
}

static void check(hd_status st, const hd_diag *d) {
  if (st != HD_OK) die(d->message);
}

static char *read_text(const char *path) {
  hd_file f;
  hd_diag d;
  check(hd_file_open(path, &f, &d), &d);
  char *text = strndup((const char *)f.data, f.len);
  hd_file_close(&f);
  if (!text) die("out of memory");
  return text;
}

/* ---- The program ----------------------------------------------------------------------------- */

typedef int call();

static call *driver(const char *name) {
  static void *library;
  if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
  call *f = NULL;
  void *at = library ? dlsym(library, name) : NULL;
  if (!at) die("there is no driver");
  memcpy(&f, &at, sizeof f);
  return f;
}

static void ok(int result) {
  if (result) die("a call of the driver fails");
}

/* Starts, and multiplies where there is a text. */
static int be_program(const char *path, unsigned n) {
  void *context, *module, *function;
  uint64_t m[3];
  ok(driver("cuInit")(0));
  ok(driver("cuCtxCreate_v2")(&context, 0, 0));
  if (!n) return 0;
  char *text = read_text(path);
  ok(driver("cuModuleLoadData")(&module, text));
  free(text);
  ok(driver("cuModuleGetFunction")(&function, module, "matmul_naive"));
  for (int k = 0; k < 3; k++) {
    ok(driver("cuMemAlloc_v2")(&m[k], (size_t)n * n * 4));
    ok(driver("cuMemsetD32_v2")(m[k], 0x3F800000, (size_t)n * n));
  }
  void *params[] = {&m[0], &m[1], &m[2], &n};
  const unsigned side = (n + SIDE - 1) / SIDE;
  ok(driver("cuLaunchKernel")(function, side, side, 1, SIDE, SIDE, 1, 0, (void *)0, params, (void *)0));
  ok(driver("cuCtxSynchronize")());
  return 0;
}

/* ---- The measurements ------------------------------------------------------------------------ */

static const hd_compiled *compile(void) {
  hd_workload *w;
  hd_diag d;
  const hd_compiled *code;
  check(hd_workload_open("matmul-naive", SOURCE_DIR "/kernels", "tiny", &w, &d), &d);
  check(hd_workload_compiled(w, 80, &code, &d), &d);
  return code;
}

static double rate_alone(const hd_ptx_module *module, unsigned n) {
  const hd_emu_options o = {.checks = HD_CHECK_BOUNDS};
  struct {
    uint64_t m[3];
    unsigned n;
  } args = {.n = n};
  const unsigned side = (n + SIDE - 1) / SIDE;
  hd_emu *e;
  hd_emu_program *p;
  hd_emu_stats stats;
  hd_diag d;
  check(hd_emu_create(&o, &e, &d), &d);
  check(hd_emu_load(e, module, &p, &d), &d);
  for (int k = 0; k < 3; k++) {
    const uint64_t bytes = (uint64_t)n * n * 4;
    check(hd_emu_alloc(e, bytes, &args.m[k], &d), &d);
    float *at = hd_emu_ptr(e, args.m[k], bytes);
    for (uint64_t i = 0; i < (uint64_t)n * n; i++) at[i] = 1;
  }
  const hd_emu_launch_params l = {.kernel = "matmul_naive",
                                  .grid = {side, side, 1},
                                  .block = {SIDE, SIDE, 1},
                                  .args = &args,
                                  .args_bytes = 28};
  check(hd_emu_launch(p, &l, NULL, NULL, &stats, &d), &d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  return (double)stats.thread_instructions / stats.seconds;
}

/* The number behind this key of the report. */
static double number(const char *json, const char *key) {
  const char *at = strstr(json, key);
  if (!at) die("the report lacks a number");
  return strtod(at + strlen(key) + 2, NULL);
}

static double rate_in_program(const char *heddle, const char *self, const char *ptx, unsigned n) {
  char command[4096];
  snprintf(command, sizeof command, "'%s' emu --json '%s.json' -- '%s' --program '%s' %u", heddle, ptx, self,
           ptx, n);
  if (system(command) != 0) die("the program fails");
  snprintf(command, sizeof command, "%s.json", ptx);
  char *json = read_text(command);
  const double rate = number(json, "\"thread_instructions\"") / number(json, "\"seconds\"");
  free(json);
  remove(command);
  return rate;
}

static double start(const char *heddle, const char *self) {
  char command[4096];
  double seconds[STARTS];
  snprintf(command, sizeof command, "'%s' emu --quiet -- '%s' --program - 0", heddle, self);
  for (int k = 0; k < STARTS; k++) {
    const double from = hd_seconds();
    if (system(command) != 0) die("the program fails");
    seconds[k] = hd_seconds() - from;
  }
  return hd_median(seconds, STARTS);
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--program") == 0) return be_program(argv[2], (unsigned)atoi(argv[3]));
  const unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 1024;
  const int rounds = argc > 3 ? atoi(argv[3]) : 5;
  if (argc < 2 || !n || rounds < 1 || rounds > MAX_ROUNDS)
    die("usage: bench_program_rate HEDDLE [N [ROUNDS]]");
  const hd_compiled *code = compile();
  char path[] = "/tmp/bench_program_rate.XXXXXX";
  double alone[MAX_ROUNDS], inside[MAX_ROUNDS];
  hd_diag d;
  const int file = mkstemp(path);
  if (file < 0) die("no temporary file");
  check(hd_file_write(path, code->text, code->len, &d), &d);
  for (int k = 0; k < rounds; k++) {
    alone[k] = rate_alone(code->module, n);
    inside[k] = rate_in_program(argv[1], argv[0], path, n);
  }
  remove(path);
  const double a = hd_median(alone, (size_t)rounds), b = hd_median(inside, (size_t)rounds);
  printf("matmul-naive, %u cubed: %.2f G thread instructions a second alone, %.2f in a program (%.1f%%)\n", n,
         a / 1e9, b / 1e9, 100 * b / a);
  printf("an empty program starts and ends in %.1f ms\n", 1000 * start(argv[1], argv[0]));
  return 0;
}
