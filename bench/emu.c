/* bench_emu: how fast the emulator runs a kernel.
 *
 *   bench_emu                                   a naive matrix product, 256 cubed
 *   bench_emu FILE KERNEL GX,GY,GZ BX,BY,BZ ARG...   ARG: buf:BYTES i32:N i64:N f32:X
 *
 * Prints, for every instruction set, with and without checks, on one host thread and on all: the median,
 * least and greatest rate of thread instructions (executed, guards applied) over several launches. */
#include "heddle/emu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* nvcc's code of
 *   int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
 *   if (row >= n || col >= n) return;
 *   float sum = 0;
 *   for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
 *   c[row * n + col] = sum; */
static const char matmul[] = ".version 9.0\n"
                             ".target sm_80\n"
                             ".address_size 64\n"
                             ".visible .entry matmul(\n"
                             ".param .u64 matmul_param_0,\n"
                             ".param .u64 matmul_param_1,\n"
                             ".param .u64 matmul_param_2,\n"
                             ".param .u32 matmul_param_3\n"
                             ")\n"
                             "{\n"
                             ".reg .pred %p<9>;\n"
                             ".reg .f32 %f<30>;\n"
                             ".reg .b32 %r<30>;\n"
                             ".reg .b64 %rd<34>;\n"
                             "ld.param.u64 %rd18, [matmul_param_0];\n"
                             "ld.param.u64 %rd19, [matmul_param_1];\n"
                             "ld.param.u64 %rd17, [matmul_param_2];\n"
                             "ld.param.u32 %r13, [matmul_param_3];\n"
                             "cvta.to.global.u64 %rd1, %rd19;\n"
                             "cvta.to.global.u64 %rd2, %rd18;\n"
                             "mov.u32 %r14, %ntid.x;\n"
                             "mov.u32 %r15, %ctaid.x;\n"
                             "mov.u32 %r16, %tid.x;\n"
                             "mad.lo.s32 %r1, %r15, %r14, %r16;\n"
                             "mov.u32 %r17, %ntid.y;\n"
                             "mov.u32 %r18, %ctaid.y;\n"
                             "mov.u32 %r19, %tid.y;\n"
                             "mad.lo.s32 %r2, %r18, %r17, %r19;\n"
                             "setp.ge.s32 %p1, %r2, %r13;\n"
                             "setp.ge.s32 %p2, %r1, %r13;\n"
                             "or.pred %p3, %p2, %p1;\n"
                             "@%p3 bra $L__BB0_9;\n"
                             "setp.lt.s32 %p4, %r13, 1;\n"
                             "mul.lo.s32 %r3, %r2, %r13;\n"
                             "mov.f32 %f29, 0f00000000;\n"
                             "@%p4 bra $L__BB0_8;\n"
                             "add.s32 %r21, %r13, -1;\n"
                             "and.b32 %r29, %r13, 3;\n"
                             "setp.lt.u32 %p5, %r21, 3;\n"
                             "mov.f32 %f29, 0f00000000;\n"
                             "mov.u32 %r28, 0;\n"
                             "@%p5 bra $L__BB0_5;\n"
                             "sub.s32 %r27, %r13, %r29;\n"
                             "mul.wide.s32 %rd3, %r3, 4;\n"
                             "mul.wide.s32 %rd20, %r1, 4;\n"
                             "add.s64 %rd30, %rd1, %rd20;\n"
                             "mul.wide.s32 %rd5, %r13, 4;\n"
                             "mov.f32 %f29, 0f00000000;\n"
                             "mov.u32 %r28, 0;\n"
                             "mov.u64 %rd31, %rd2;\n"
                             "$L__BB0_4:\n"
                             "add.s64 %rd21, %rd31, %rd3;\n"
                             "ld.global.f32 %f12, [%rd30];\n"
                             "ld.global.f32 %f13, [%rd21];\n"
                             "fma.rn.f32 %f14, %f13, %f12, %f29;\n"
                             "add.s64 %rd22, %rd30, %rd5;\n"
                             "ld.global.f32 %f15, [%rd22];\n"
                             "ld.global.f32 %f16, [%rd21+4];\n"
                             "fma.rn.f32 %f17, %f16, %f15, %f14;\n"
                             "add.s64 %rd23, %rd22, %rd5;\n"
                             "ld.global.f32 %f18, [%rd23];\n"
                             "ld.global.f32 %f19, [%rd21+8];\n"
                             "fma.rn.f32 %f20, %f19, %f18, %f17;\n"
                             "add.s64 %rd24, %rd23, %rd5;\n"
                             "add.s64 %rd30, %rd24, %rd5;\n"
                             "ld.global.f32 %f21, [%rd24];\n"
                             "ld.global.f32 %f22, [%rd21+12];\n"
                             "fma.rn.f32 %f29, %f22, %f21, %f20;\n"
                             "add.s32 %r28, %r28, 4;\n"
                             "add.s64 %rd31, %rd31, 16;\n"
                             "add.s32 %r27, %r27, -4;\n"
                             "setp.ne.s32 %p6, %r27, 0;\n"
                             "@%p6 bra $L__BB0_4;\n"
                             "$L__BB0_5:\n"
                             "setp.eq.s32 %p7, %r29, 0;\n"
                             "@%p7 bra $L__BB0_8;\n"
                             "mad.lo.s32 %r23, %r28, %r13, %r1;\n"
                             "mul.wide.s32 %rd25, %r23, 4;\n"
                             "add.s64 %rd33, %rd1, %rd25;\n"
                             "mul.wide.s32 %rd11, %r13, 4;\n"
                             "add.s32 %r24, %r28, %r3;\n"
                             "mul.wide.s32 %rd26, %r24, 4;\n"
                             "add.s64 %rd32, %rd2, %rd26;\n"
                             "$L__BB0_7:\n"
                             ".pragma \"nounroll\";\n"
                             "ld.global.f32 %f23, [%rd33];\n"
                             "ld.global.f32 %f24, [%rd32];\n"
                             "fma.rn.f32 %f29, %f24, %f23, %f29;\n"
                             "add.s64 %rd33, %rd33, %rd11;\n"
                             "add.s64 %rd32, %rd32, 4;\n"
                             "add.s32 %r29, %r29, -1;\n"
                             "setp.ne.s32 %p8, %r29, 0;\n"
                             "@%p8 bra $L__BB0_7;\n"
                             "$L__BB0_8:\n"
                             "add.s32 %r25, %r3, %r1;\n"
                             "cvta.to.global.u64 %rd27, %rd17;\n"
                             "mul.wide.s32 %rd28, %r25, 4;\n"
                             "add.s64 %rd29, %rd27, %rd28;\n"
                             "st.global.f32 [%rd29], %f29;\n"
                             "$L__BB0_9:\n"
                             "ret;\n"
                             "}\n";

enum { MAX_RUNS = 31, MAX_ARGS = 16 };
static const double SECONDS = 1.0; /* of launches for one figure */

typedef struct job {
  const char *text, *name, *kernel;
  size_t len;
  uint32_t grid[3], block[3];
  const char *args[MAX_ARGS];
  unsigned n_args;
} job;

static void die(const hd_diag *d) {
  char line[1600];
  fprintf(stderr, "bench_emu: %s\n", hd_diag_line(d, line, sizeof line));
  exit(2);
}

static void die_usage(const char *what) {
  hd_diag d = {0};
  hd_fail(&d, HD_ERR_USAGE, "%s", what);
  die(&d);
}

/* The parameter block: buffers hold small numbers that are floats and integers alike harmless. */
static void make_params(hd_emu *e, const hd_ptx_module *m, const job *j, char *params, uint64_t cap,
                        uint64_t *bytes) {
  hd_diag d;
  int64_t f = hd_ptx_find_kernel(m, j->kernel);
  if (f < 0) die_usage("no such kernel");
  uint64_t offsets[MAX_ARGS + 1];
  if (m->funcs[f].n_params != j->n_args) die_usage("the kernel has another number of parameters");
  *bytes = hd_ptx_param_layout(m, &m->funcs[f], offsets);
  if (*bytes > cap) die_usage("the kernel's parameters are too large");
  for (unsigned k = 0; k < j->n_args; k++) {
    const char *a = j->args[k], *value = strchr(a, ':');
    if (!value) die_usage("an argument is buf:BYTES, i32:N, i64:N or f32:X");
    uint64_t bits = strtoull(value + 1, NULL, 0);
    size_t n = 8;
    if (!strncmp(a, "buf:", 4)) {
      uint64_t size = bits;
      if (hd_emu_alloc(e, size, &bits, &d) != HD_OK) die(&d);
      float *host = hd_emu_ptr(e, bits, size);
      for (uint64_t x = 0; x < size / 4; x++) host[x] = (float)(hd_random_at(k, x) >> 40) / 16777216.0f;
      hd_emu_mark_written(e, bits, size);
    } else if (!strncmp(a, "i32:", 4)) {
      n = 4;
    } else if (!strncmp(a, "f32:", 4)) {
      float x = strtof(value + 1, NULL);
      memcpy(&bits, &x, 4);
      n = 4;
    } else if (strncmp(a, "i64:", 4) != 0) {
      die_usage("an argument is buf:BYTES, i32:N, i64:N or f32:X");
    }
    memcpy(params + offsets[k], &bits, n);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const job *j, hd_emu_isa isa, unsigned checks, unsigned threads) {
  static const char *const isas[] = {"", "portable", "avx2", "avx512"};
  hd_diag d;
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  if (hd_ptx_parse(j->text, j->len, j->name, &arena, &m, &d) != HD_OK) die(&d);
  hd_emu *e;
  hd_emu_options o = {.checks = checks, .threads = threads, .isa = isa};
  if (hd_emu_create(&o, &e, &d) != HD_OK) die(&d);
  hd_emu_program *p;
  if (hd_emu_load(e, m, &p, &d) != HD_OK) die(&d);
  char params[4096] = {0};
  hd_emu_launch_params l = {.kernel = j->kernel, .args = params};
  make_params(e, m, j, params, sizeof params, &l.args_bytes);
  memcpy(l.grid, j->grid, sizeof l.grid);
  memcpy(l.block, j->block, sizeof l.block);

  double rate[MAX_RUNS], spent = 0;
  unsigned n = 0;
  hd_emu_stats s;
  if (hd_emu_launch(p, &l, NULL, NULL, &s, &d) != HD_OK) die(&d); /* pages are touched */
  for (; n < MAX_RUNS && (n < 3 || spent < SECONDS); n++) {
    if (hd_emu_launch(p, &l, NULL, NULL, &s, &d) != HD_OK) die(&d);
    rate[n] = (double)s.thread_instructions / s.seconds * 1e-6;
    spent += s.seconds;
  }
  qsort(rate, n, sizeof *rate, compare);
  printf("%-9s %-10s %7u %10.0f %10.0f %10.0f %6u %14" PRIu64 "\n", isas[isa],
         checks == HD_CHECK_ALL   ? "all"
         : checks & HD_CHECK_INIT ? "init"
                                  : "bounds",
         threads, rate[n / 2], rate[0], rate[n - 1], n, s.thread_instructions);
  fflush(stdout);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static void parse3(const char *text, uint32_t v[3]) {
  unsigned x = 1, y = 1, z = 1;
  if (sscanf(text, "%u,%u,%u", &x, &y, &z) < 1) die_usage("a shape is X, X,Y or X,Y,Z");
  v[0] = x, v[1] = y, v[2] = z;
}

int main(int argc, char **argv) {
  job j = {matmul,
           "matmul.ptx",
           "matmul",
           sizeof matmul - 1,
           {8, 32, 1},
           {32, 8, 1},
           {"buf:262144", "buf:262144", "buf:262144", "i32:256"},
           4};
  hd_file f = {0};
  hd_diag d;
  if (argc > 1) {
    if (argc < 5 || argc - 5 > MAX_ARGS) die_usage("usage: bench_emu [FILE KERNEL GX,GY,GZ BX,BY,BZ ARG...]");
    if (hd_file_open(argv[1], &f, &d) != HD_OK) die(&d);
    j = (job){.text = f.data, .len = f.len, .name = argv[1], .kernel = argv[2], .n_args = (unsigned)argc - 5};
    parse3(argv[3], j.grid);
    parse3(argv[4], j.block);
    for (unsigned k = 0; k < j.n_args; k++) j.args[k] = argv[5 + k];
  }
  hd_emu *probe;
  if (hd_emu_create(NULL, &probe, &d) != HD_OK) die(&d);
  const hd_emu_isa best = hd_emu_isa_used(probe);
  hd_emu_destroy(probe);
  const unsigned cpus = hd_cpu_count();
  printf("%s, millions of thread instructions per second\n", j.kernel);
  printf("%-9s %-10s %7s %10s %10s %10s %6s %14s\n", "isa", "checks", "threads", "median", "least",
         "greatest", "runs", "instructions");
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= best; isa++) {
    measure(&j, isa, 0, 1);
    if (cpus > 1) measure(&j, isa, 0, cpus);
    measure(&j, isa, HD_CHECK_INIT, 1);
    measure(&j, isa, HD_CHECK_ALL, 1);
  }
  hd_file_close(&f);
  return 0;
}
