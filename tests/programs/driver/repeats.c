/* A kernel is launched again and again with the same parameters, as programs do to time it; between launches,
 * all that can change its result changes, one thing after the other. */
#include "cu.h"

enum { N = 256, TIMES = 50 };

/* y[i] = x[i] + add; y[i] += x[i]; a text. */
static const char *const text = PTX_HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 args);\n"
    ".global .u32 add; .global .align 1 .b8 hello[7] = {104, 101, 108, 108, 111, 10, 0};\n"
    ".visible .entry sum(.param .u64 x, .param .u64 y) { .reg .b64 %rd<5>; .reg .b32 %r<5>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, "
    "[add];\n"
    "add.u32 %r2, %r2, %r3; st.global.u32 [%rd2], %r2; ret; }\n"
    ".visible .entry more(.param .u64 x, .param .u64 y) { .reg .b64 %rd<5>; .reg .b32 %r<5>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, "
    "[%rd2];\n"
    "add.u32 %r2, %r2, %r3; st.global.u32 [%rd2], %r2; ret; }\n"
    ".visible .entry say() { .reg .b64 %rd<3>; .reg .b32 %r<2>; .param .b64 p0; .param .b64 p1; .param .b32 "
    "r0;\n"
    "mov.u64 %rd1, hello; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0; st.param.b64 [p0], %rd1;\n"
    "st.param.b64 [p1], %rd2; call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r1, [r0]; ret; }\n";

static cu_function sum;
static cu_function more, say;
static unsigned host[N];

static void launch(cu_function function, cu_address x, cu_address y) {
  void *params[] = {&x, &y};
  OK(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
}

static void repeat(cu_function function, cu_address x, cu_address y) {
  for (int k = 0; k < TIMES; k++) launch(function, x, y);
}

static void expect(cu_address y, unsigned first, unsigned step) {
  OK(cuMemcpyDtoH_v2(host, y, sizeof host));
  for (unsigned k = 0; k < N; k++) CHECK(host[k] == first + step * k);
}

static void fill(cu_address x, unsigned first) {
  for (unsigned k = 0; k < N; k++) host[k] = first + k;
  OK(cuMemcpyHtoD_v2(x, host, sizeof host));
}

/* Copies, fills, variables, other kernels, other allocations. */
static void changes(cu_address x, cu_address y, cu_address add) {
  for (unsigned k = 0; k < 5; k++) {
    fill(x, 10 * k);
    repeat(sum, x, y);
    expect(y, 10 * k, 1);
    OK(cuMemsetD32_v2(y, 1, N));
    launch(sum, x, y);
    expect(y, 10 * k, 1);
    OK(cuMemsetD32_v2(add, k, 1));
    launch(sum, x, y);
    expect(y, 11 * k, 1);
    OK(cuMemsetD32_v2(add, 0, 1));
    repeat(sum, x, y);
    launch(more, x, y);
    expect(y, 20 * k, 2);
    repeat(sum, x, y);
    repeat(more, x, y);
    expect(y, (TIMES + 1) * 10 * k, TIMES + 1);
  }
}

/* The host stores to memory that it shares with the device, and makes no call that copies. */
static void shared(cu_address x, unsigned *from, unsigned *to) {
  for (unsigned round = 0; round < 4; round++) {
    for (unsigned k = 0; k < N; k++) from[k] = round + 3 * k;
    repeat(sum, x, (cu_address)(uintptr_t)to);
    OK(cuCtxSynchronize());
    for (unsigned k = 0; k < N; k++) CHECK(to[k] == round + 3 * k);
    memset(to, 0, sizeof host);
    launch(sum, x, (cu_address)(uintptr_t)to);
    OK(cuCtxSynchronize());
    for (unsigned k = 0; k < N; k++) CHECK(to[k] == round + 3 * k);
  }
}

int main(void) {
  cu_module module;
  cu_address x, y, add, managed, registered;
  size_t bytes;
  void *pinned, *to;
  begin();
  sum = kernel_of(text, "sum", &module);
  OK(cuModuleGetFunction(&more, module, "more"));
  OK(cuModuleGetFunction(&say, module, "say"));
  OK(cuModuleGetGlobal_v2(&add, &bytes, module, "add"));
  OK(cuMemAlloc_v2(&x, sizeof host));
  OK(cuMemAlloc_v2(&y, sizeof host));
  changes(x, y, add);
  OK(cuMemHostAlloc(&to, sizeof host, 0));
  OK(cuMemHostAlloc(&pinned, sizeof host, 0));
  shared((cu_address)(uintptr_t)pinned, pinned, to);
  OK(cuMemAllocManaged(&managed, sizeof host, 1));
  shared(managed, (unsigned *)(uintptr_t)managed, to);
  unsigned *own = aligned_alloc(4096, 4096);
  OK(cuMemHostRegister_v2(own, 4096, 0));
  OK(cuMemHostGetDevicePointer_v2(&registered, own, 0));
  shared(registered, own, to);
  changes(x, y, add);
  for (int k = 0; k < 3; k++) OK(cuLaunchKernel(say, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuCtxSynchronize());
  OK(cuMemHostUnregister(own));
  OK(cuMemFreeHost(pinned));
  OK(cuMemFreeHost(to));
  OK(cuMemFree_v2(managed));
  OK(cuMemFree_v2(x));
  OK(cuMemFree_v2(y));
  puts("repeats: equal");
  return 0;
}
