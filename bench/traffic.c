/* How fast accesses are traced, and how fast a trace is replayed through the H100 model: thread-level
 * accesses per second on one core, medians of several runs. The traces are synthetic, as the emulator's hooks
 * would report kernels with these access patterns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle/model.h"

enum { RUNS = 5 };

typedef struct pattern {
  const char *name;
  uint32_t grid[3], block[3];
  void (*warp)(const struct pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp);
} pattern;

static void put(const hd_emu_hooks *h, uint64_t task, uint32_t warp, uint32_t inst, uint8_t kind,
                uint8_t bytes, const uint64_t addr[32]) {
  hd_access a = {.task = task,
                 .warp = warp,
                 .inst = inst,
                 .kind = kind,
                 .cache = HD_CACHE_L1,
                 .space = HD_SPACE_GLOBAL,
                 .bytes = bytes,
                 .mask = UINT32_MAX,
                 .addr = addr};
  h->access(h->ctx, 0, &a);
}

static void lanes(uint64_t out[32], uint64_t base, uint64_t step) {
  for (unsigned i = 0; i < 32; i++) out[i] = base + i * step;
}

static uint64_t global_warp(const pattern *p, uint64_t task, uint32_t warp) {
  return task * (p->block[0] * p->block[1] / 32) + warp;
}

/* c[i] = a[i] + b[i], sixteen times over the grid. */
static void streaming(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  uint64_t addr[32], pitch = (uint64_t)p->grid[0] * p->block[0] * 4;
  for (uint64_t k = 0; k < 16; k++)
    for (uint32_t array = 0; array < 3; array++) {
      lanes(addr, array * (256ull << 20) + k * pitch + global_warp(p, task, warp) * 128, 4);
      put(h, task, warp, array, array == 2 ? HD_ACCESS_STORE : HD_ACCESS_LOAD, 4, addr);
    }
}

static void broadcast(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  uint64_t addr[32];
  for (uint64_t k = 0; k < 1024; k++) {
    lanes(addr, k * 4, 0);
    put(h, task, warp, 0, HD_ACCESS_LOAD, 4, addr);
  }
}

/* C = A * B, 512 x 512 floats, one thread an element, CTAs of 32 x 8. */
static void matmul(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  uint64_t addr[32], n = 512;
  uint64_t x = task % p->grid[0] * 32, y = task / p->grid[0] * 8 + warp;
  for (uint64_t k = 0; k < n; k++) {
    lanes(addr, (y * n + k) * 4, 0);
    put(h, task, warp, 0, HD_ACCESS_LOAD, 4, addr);
    lanes(addr, (n * n + k * n + x) * 4, 4);
    put(h, task, warp, 1, HD_ACCESS_LOAD, 4, addr);
  }
  lanes(addr, (2 * n * n + y * n + x) * 4, 4);
  put(h, task, warp, 2, HD_ACCESS_STORE, 4, addr);
}

/* Each thread reads its own row of a matrix: 32 sectors a warp access, and as many lines. */
static void column(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  uint64_t addr[32];
  for (uint64_t k = 0; k < 128; k++) {
    lanes(addr, global_warp(p, task, warp) * 32 * 4096 + k * 4, 4096);
    put(h, task, warp, 0, HD_ACCESS_LOAD, 4, addr);
  }
}

/* Each lane anywhere in `bytes`. */
static void gather_in(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp, uint64_t bytes) {
  uint64_t addr[32], at = global_warp(p, task, warp) * 64 * 32;
  for (uint64_t k = 0; k < 64; k++) {
    for (unsigned i = 0; i < 32; i++) addr[i] = hd_random_at(1, at++) % (bytes / 4) * 4;
    put(h, task, warp, 0, HD_ACCESS_LOAD, 4, addr);
  }
}
static void gather_l2(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  gather_in(p, h, task, warp, 32ull << 20);
}
static void gather_dram(const pattern *p, const hd_emu_hooks *h, uint64_t task, uint32_t warp) {
  gather_in(p, h, task, warp, 4096ull << 20);
}

static const pattern patterns[] = {
    {"streaming", {4096, 1, 1}, {256, 1, 1}, streaming},
    {"broadcast", {1024, 1, 1}, {256, 1, 1}, broadcast},
    {"matmul 512^3", {16, 64, 1}, {32, 8, 1}, matmul},
    {"column, 32 lines", {264, 1, 1}, {256, 1, 1}, column},
    {"gather in 32 MB", {1024, 1, 1}, {256, 1, 1}, gather_l2},
    {"gather in 4 GB", {1024, 1, 1}, {256, 1, 1}, gather_dram},
};

/* This process's time on a processor: other programs on the machine do not count. */
static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stop(const hd_diag *d) {
  char line[1400];
  fprintf(stderr, "%s\n", hd_diag_line(d, line, sizeof line));
  exit(1);
}

static hd_trace *record(const pattern *p) {
  hd_diag d;
  hd_trace *t;
  if (hd_trace_create(p->grid, p->block, 1, 0, &t, &d) != HD_OK) stop(&d);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  uint64_t tasks = (uint64_t)p->grid[0] * p->grid[1];
  uint32_t warps = p->block[0] * p->block[1] / 32;
  for (uint64_t task = 0; task < tasks; task++) {
    h->cta_start(h->ctx, 0, task, 0);
    for (uint32_t w = 0; w < warps; w++) p->warp(p, h, task, w);
    h->cta_end(h->ctx, 0, task, warps * 4096, warps * 4096 * 32);
  }
  if (hd_trace_finish(t, &d) != HD_OK) stop(&d);
  return t;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *v) {
  qsort(v, RUNS, sizeof *v, by_value);
  return v[RUNS / 2];
}

int main(int argc, char **argv) {
  hd_diag d;
  hd_gpu gpu;
  hd_model *model;
  if (hd_gpu_load(argc > 1 ? argv[1] : "h100", SOURCE_DIR "/gpus", &gpu, &d) != HD_OK ||
      hd_model_create(&gpu, &model, &d) != HD_OK)
    stop(&d);
  printf("%s; M thread accesses per second on one core, medians of %d\n", gpu.title, RUNS);
  printf("%-18s %9s %9s %9s %7s %7s %7s\n", "pattern", "trace", "replay", "M sectors", "L1 hit", "L2 hit",
         "B/acc.");
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    double traced[RUNS], replayed[RUNS];
    hd_trace *t = NULL;
    for (int r = 0; r < RUNS; r++) {
      hd_trace_destroy(t);
      double begin = cpu_seconds();
      t = record(&patterns[i]);
      traced[r] = cpu_seconds() - begin;
    }
    hd_trace_info info = hd_trace_get_info(t);
    hd_counters c;
    hd_replay_options o = {.dispatch = {.kind = HD_DISPATCH_DEMAND}};
    for (int r = 0; r < RUNS; r++) {
      double begin = cpu_seconds();
      if (hd_model_replay(model, t, &o, &c, &d) != HD_OK) stop(&d);
      replayed[r] = cpu_seconds() - begin;
    }
    double accesses = (double)info.thread_accesses / 1e6;
    printf("%-18s %9.1f %9.1f %9.2f %6.1f%% %6.1f%% %7.2f\n", patterns[i].name, accesses / median(traced),
           accesses / median(replayed), (double)info.sectors / 1e6,
           c.l1_sectors ? 100.0 * (double)c.l1_hits / (double)c.l1_sectors : 0,
           c.l2_sectors ? 100.0 * (double)c.l2_hits / (double)c.l2_sectors : 0,
           (double)info.memory / (double)info.warp_accesses);
    hd_trace_destroy(t);
  }
  hd_model_destroy(model);
  return 0;
}
