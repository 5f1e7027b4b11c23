/* A kernel whose CTAs of one column read the same row, for a report on its locality. */
#include "cu.h"

static const char *const rows = PTX_HEAD
    ".visible .entry rows(.param .u64 in, .param .u64 out) { .reg .b64 %rd<8>; .reg .b32 %r<8>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x; mad.lo.u32 %r5, %r2, 64, %r1;\n"
    "mad.lo.u32 %r6, %r3, %r4, 0; mad.lo.u32 %r6, %r6, 64, %r5; mul.wide.u32 %rd3, %r5, 4;\n"
    "mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd2, %rd4;\n"
    "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd6], %r7; ret; }\n";

int main(void) {
  enum { X = 16, Y = 4, N = X * 64 };
  static unsigned in[N], out[Y * N];
  cu_function function;
  cu_module module;
  cu_address a, b;
  begin();
  function = kernel_of(rows, "rows", &module);
  OK(cuMemAlloc_v2(&a, sizeof in));
  OK(cuMemAlloc_v2(&b, sizeof out));
  for (unsigned k = 0; k < N; k++) in[k] = 3 * k;
  OK(cuMemcpyHtoD_v2(a, in, sizeof in));
  void *params[] = {&a, &b};
  OK(cuLaunchKernel(function, X, Y, 1, 64, 1, 1, 0, NULL, params, NULL));
  OK(cuMemcpyDtoH_v2(out, b, sizeof out));
  for (unsigned k = 0; k < Y * N; k++) CHECK(out[k] == 3 * (k % N));
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
  puts("sharing: equal");
  return 0;
}
