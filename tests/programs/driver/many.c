/* More streams than anybody has room for, streams and contexts that go while their work is under way, and
 * kernels that are used again after their context was reset. */
// check: init,race,streams
#include "cu.h"

enum { CTAS = 40, STREAMS = 36, ROUNDS = 2 };

/* p[ctaid] += v */
static const char *const text =
    PTX_HEAD ".visible .entry add(.param .u64 p, .param .u32 v) { .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %ctaid.x;\n"
             "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];\n"
             "add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret; }\n";

static void add(cu_function function, cu_address p, unsigned v, cu_stream stream) {
  void *params[] = {&p, &v};
  OK(cuLaunchKernel(function, CTAS, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void check(cu_address p, unsigned v) {
  unsigned got[CTAS];
  OK(cuMemcpyDtoH_v2(got, p, sizeof got));
  for (int k = 0; k < CTAS; k++) CHECK(got[k] == v);
}

static cu_address zeros(void) {
  cu_address p;
  OK(cuMemAlloc_v2(&p, CTAS * sizeof(unsigned)));
  OK(cuMemsetD32_v2(p, 0, CTAS));
  OK(cuStreamSynchronize(NULL)); /* the streams below do not wait for this one */
  return p;
}

static void use_many_streams(cu_function function) {
  cu_stream streams[STREAMS];
  cu_address p[STREAMS];
  for (int k = 0; k < STREAMS; k++) {
    OK(cuStreamCreate(&streams[k], 1));
    p[k] = zeros();
  }
  for (unsigned round = 1; round <= ROUNDS; round++)
    for (int k = 0; k < STREAMS; k++) add(function, p[k], round, streams[k]);
  /* Those that come next may have the handles of those that go. */
  for (int k = 0; k < STREAMS; k += 2) {
    OK(cuStreamDestroy_v2(streams[k]));
    OK(cuStreamCreate(&streams[k], 1));
  }
  cu_address q[STREAMS];
  for (int k = 0; k < STREAMS; k++) q[k] = zeros();
  for (int k = 0; k < STREAMS; k++) add(function, q[k], 100, streams[k]);
  OK(cuCtxSynchronize());
  for (int k = 0; k < STREAMS; k++) {
    check(p[k], ROUNDS * (ROUNDS + 1) / 2);
    check(q[k], 100);
    add(function, q[k], 7, streams[k]);
    OK(cuStreamSynchronize(streams[k]));
    check(q[k], 107);
    OK(cuStreamDestroy_v2(streams[k]));
    OK(cuMemFree_v2(p[k]));
    OK(cuMemFree_v2(q[k]));
  }
}

/* A library's kernel in whatever context is current. */
static void use_kernel(cu_function kernel) {
  const cu_address p = zeros();
  for (unsigned round = 1; round <= 3; round++) {
    add(kernel, p, round, NULL);
    OK(cuCtxSynchronize());
  }
  check(p, 6);
}

int main(void) {
  cu_context context = begin(), other;
  cu_module module;
  cu_library library;
  cu_function kernel;
  use_many_streams(kernel_of(text, "add", &module));
  OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&kernel, library, "add"));
  use_kernel(kernel);
  OK(cuCtxCreate_v2(&other, 0, 0));
  use_kernel(kernel);
  OK(cuCtxDestroy_v2(other));
  OK(cuCtxSetCurrent(context));
  use_kernel(kernel);
  for (int turn = 0; turn < 3; turn++) {
    OK(cuDevicePrimaryCtxRetain(&other, 0));
    OK(cuCtxSetCurrent(other));
    use_kernel(kernel);
    if (turn == 1) OK(cuDevicePrimaryCtxReset_v2(0));
    if (turn != 1) OK(cuDevicePrimaryCtxRelease_v2(0));
  }
  OK(cuCtxSetCurrent(context));
  use_kernel(kernel);
  OK(cuLibraryUnload(library));
  OK(cuModuleUnload(module));
  OK(cuCtxDestroy_v2(context));
  puts("many: each its own");
  return 0;
}
