/* The cost of launches and of loading over the driver that does nothing: nanoseconds for each launch, and the
 * start.
 *
 * launches N K: a module of K kernels is loaded, all of them are asked for, and the first is launched N
 * times, eight times over; the least time is printed. Without a plan, under one, or behind a tool of another
 * kind, as it is started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../tests/programs/steer/fake.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Kernels of some length, all alike. */
static char *text_of(int kernels) {
  static const char head[] = ".version 7.8\n.target sm_70\n.address_size 64\n";
  const size_t each = 8192;
  char *text = malloc(sizeof head + (size_t)kernels * each), *at = text;
  if (!text) exit(2);
  at += sprintf(at, "%s", head);
  for (int k = 0; k < kernels; k++) {
    at += sprintf(at,
                  ".visible .entry kernel%d(.param .u64 out, .param .u64 in) {\n"
                  ".reg .b32 %%r<70>; .reg .b64 %%rd<6>;\n"
                  "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%ctaid.x; mul.wide.u32 %%rd3, %%r1, 4;\n"
                  "add.s64 %%rd4, %%rd1, %%rd3; mov.u32 %%r2, %d;\n",
                  k, k);
    for (int i = 3; i < 64; i++)
      at += sprintf(at, "mad.lo.s32 %%r%d, %%r%d, %%r%d, %d;\n", i, i - 1, i - 2, i);
    at += sprintf(at, "st.global.u32 [%%rd4], %%r63;\nret;\n}\n");
  }
  return text;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "text") == 0) {
    fputs(text_of(atoi(argv[2])), stdout);
    return 0;
  }
  const long n = argc > 1 ? atol(argv[1]) : 1000000;
  const int kernels = argc > 2 ? atoi(argv[2]) : 1;
  char *text = text_of(kernels), name[32];
  run_handle first = NULL;
  cu_function function;
  cu_module module;
  double least = 1e30;
  const double begin = now();
  cuInit(0);
  if (cuModuleLoadData(&module, text) != 0) return 1;
  for (int k = 0; k < kernels; k++) {
    snprintf(name, sizeof name, "kernel%d", k);
    if (cuModuleGetFunction(&function, module, name) != 0) return 1;
    if (!k) first = function;
  }
  const double loaded = now();
  uint64_t out = 256, in = 512;
  void *params[] = {&out, &in};
  for (int turn = 0; turn < 8; turn++) {
    const double from = now();
    for (long k = 0; k < n; k++) cuLaunchKernel(first, 64, 64, 1, 256, 1, 1, 0, NULL, params, NULL);
    const double each = (now() - from) / (double)(n ? n : 1);
    if (each < least) least = each;
  }
  printf("load %.3f ms, launch %.1f ns\n", (loaded - begin) / 1e6, least);
  free(text);
  return 0;
}
