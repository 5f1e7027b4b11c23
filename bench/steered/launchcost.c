/* launchcost one PTX KERNEL BATCHES | all PTX BATCHES | gpu: what the calls of cuLaunchKernel take, in ns:
 * 200 launches of 8 CTAs of 32 threads in a row, then a wait that is not timed; the mean of the 200 is one
 * number. `all`: by the driver's own address, and as a program calls it, of four kernels, batch by batch in
 * turns, whoever is first changing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

enum { LAUNCHES = 200, WAYS = 5, MOST = 4000 };
typedef CUresult launch_function(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, CUstream, void **, void **);

static void ok(CUresult r, const char *what) {
  if (r) {
    printf("%s gives %d\n", what, (int)r);
    exit(1);
  }
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static int up(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static CUdeviceptr out;

static double batch(launch_function *launch, CUfunction f) {
  unsigned long long count = 8;
  void *params[] = {&out, &count};
  CUresult r = 0;
  const double from = now();
  for (int k = 0; k < LAUNCHES; k++) r |= launch(f, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
  const double each = (now() - from) / LAUNCHES;
  ok(r, "a launch");
  ok(cuCtxSynchronize(), "the wait");
  return each;
}

/* The driver's own, past whatever stands before it. */
static launch_function *real_launch(void) {
  void *(*sym)(void *, const char *) = NULL;
  void *address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"),
       *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  launch_function *f = NULL;
  if (!address) address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  memcpy(&sym, &address, sizeof sym);
  if (sym && driver) address = sym(driver, "cuLaunchKernel");
  memcpy(&f, &address, sizeof f);
  return sym && driver ? f : NULL;
}

static void show(const char *name, double *t, int n) {
  qsort(t, (size_t)n, sizeof *t, up);
  printf("%-8s least %8.1f quartile %8.1f median %8.1f quartile %8.1f of %d\n", name, t[0], t[n / 4],
         t[n / 2], t[3 * n / 4], n);
}

int main(int argc, char **argv) {
  static double t[WAYS][MOST], more[MOST];
  static const char *const names[WAYS] = {"driver", "none", "order", "agents", "table"};
  CUcontext context;
  CUmodule module;
  CUfunction f[4];
  ok(cuInit(0), "cuInit");
  if (argc > 1 && strcmp(argv[1], "gpu") == 0) {
    char name[96];
    int version;
    ok(cuDeviceGetName(name, sizeof name, 0), "cuDeviceGetName");
    ok(cuDriverGetVersion(&version), "cuDriverGetVersion");
    printf("%s\n%d.%d\n", name, version / 1000, version % 1000 / 10);
    return 0;
  }
  if (argc < 4) return 2;
  const int all = strcmp(argv[1], "all") == 0, n = atoi(argv[all ? 3 : 4]);
  if (n < 1 || n > MOST) return 2;
  FILE *in = fopen(argv[2], "r");
  static char text[1 << 20];
  if (!in) return 2;
  text[fread(text, 1, sizeof text - 1, in)] = 0;
  ok(cuDevicePrimaryCtxRetain(&context, 0), "the context");
  ok(cuCtxSetCurrent(context), "the context");
  ok(cuMemAlloc(&out, 4096), "cuMemAlloc");
  ok(cuModuleLoadData(&module, text), "cuModuleLoadData");
  for (int k = 0; k < 4; k++) {
    char name[8];
    snprintf(name, sizeof name, "k%d", k);
    ok(cuModuleGetFunction(&f[k], module, name), "cuModuleGetFunction");
  }
  for (int k = 0; k < 12; k++) batch(cuLaunchKernel, f[k % 4]);
  if (!all) {
    const int k = argv[3][1] - '0';
    for (int i = 0; i < n; i++) t[0][i] = batch(cuLaunchKernel, f[k]);
    show("one", t[0], n);
    return 0;
  }
  launch_function *real = real_launch();
  if (!real) return 3;
  for (int i = 0; i < n; i++)
    for (int w = 0; w < WAYS; w++) {
      const int way = (w + i) % WAYS;
      t[way][i] = batch(way ? cuLaunchKernel : real, f[way ? way - 1 : 0]);
    }
  for (int way = 1; way < WAYS; way++) {
    char name[32];
    snprintf(name, sizeof name, "+%s", names[way]);
    for (int i = 0; i < n; i++) more[i] = t[way][i] - t[0][i];
    show(name, more, n);
  }
  for (int way = 0; way < WAYS; way++) show(names[way], t[way], n);
  return 0;
}
