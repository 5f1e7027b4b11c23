/* A filter with its taps in constant memory, whose threads have rows and columns mixed up: neighbours in a
 * warp are a row apart. It is launched three times; a small kernel with another name is launched, too. */
#include "../driver/cu.h"

#define SYMBOL "_Z6filterIfLi2EEvPKT_PS0_i" /* filter<float, 2> */

static const char text[] = PTX_HEAD
    ".visible .const .align 4 .f32 taps[3];\n"
    ".visible .entry " SYMBOL "(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
    ".reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .pred %p<3>;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ntid.y; mov.u32 %r6, %tid.y; mad.lo.u32 %r4, %r4, %r5, %r6;\n"
    "ld.param.u32 %r7, [n]; setp.ge.u32 %p1, %r1, %r7; @%p1 ret; setp.ge.u32 %p2, %r4, %r7; @%p2 ret;\n"
    "mad.lo.u32 %r8, %r1, %r7, %r4; xor.b32 %r9, %r8, 1; xor.b32 %r10, %r8, 2;\n"
    "ld.param.u64 %d1, [in]; cvta.to.global.u64 %d1, %d1; ld.param.u64 %d2, [out];\n"
    "cvta.to.global.u64 %d2, %d2; mul.wide.u32 %d3, %r8, 4; mul.wide.u32 %d4, %r9, 4; mul.wide.u32 %d5, "
    "%r10, 4;\n"
    "add.s64 %d4, %d1, %d4; add.s64 %d5, %d1, %d5; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;\n"
    "ld.global.nc.f32 %f1, [%d1]; ld.global.nc.f32 %f2, [%d4]; ld.global.nc.f32 %f3, [%d5];\n"
    "ld.const.f32 %f4, [taps]; ld.const.f32 %f5, [taps+4]; ld.const.f32 %f6, [taps+8];\n"
    "mul.f32 %f1, %f1, %f4; fma.rn.f32 %f1, %f2, %f5, %f1; fma.rn.f32 %f1, %f3, %f6, %f1;\n"
    "st.global.f32 [%d2], %f1; ret; }\n"
    ".visible .entry clear(.param .u64 out) {\n.reg .b32 %r<2>; .reg .b64 %d<4>;\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; cvta.to.global.u64 %d2, %d2;\n"
    "add.s64 %d2, %d2, %d1; st.global.u32 [%d2], 0; ret; }\n";

enum { N = 256, BLOCK = 16, ROUNDS = 3 };

int main(void) {
  static float in[N * N], out[N * N];
  const float taps[3] = {0.5f, 0.25f, 0.125f};
  cu_context context;
  cu_module module;
  cu_function filter, clear;
  cu_address from, to, constant;
  size_t bytes;
  int device, n = N;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, text));
  OK(cuModuleGetFunction(&filter, module, SYMBOL));
  OK(cuModuleGetFunction(&clear, module, "clear"));
  OK(cuModuleGetGlobal_v2(&constant, &bytes, module, "taps"));
  OK(cuMemcpyHtoD_v2(constant, taps, sizeof taps));
  OK(cuMemAlloc_v2(&from, sizeof in));
  OK(cuMemAlloc_v2(&to, sizeof out));
  for (int k = 0; k < N * N; k++) in[k] = (float)(k % 64);
  OK(cuMemcpyHtoD_v2(from, in, sizeof in));
  void *own[] = {&from, &to, &n}, *other[] = {&to};
  OK(cuLaunchKernel(clear, 1, 1, 1, 32, 1, 1, 0, NULL, other, NULL));
  for (int k = 0; k < ROUNDS; k++)
    OK(cuLaunchKernel(filter, N / BLOCK, N / BLOCK, 1, BLOCK, BLOCK, 1, 0, NULL, own, NULL));
  OK(cuMemcpyDtoH_v2(out, to, sizeof out));
  for (int k = 0; k < N * N; k++)
    CHECK(out[k] == in[k ^ 2] * taps[2] + (in[k ^ 1] * taps[1] + in[k] * taps[0]));
  puts("filter: right");
  return 0;
}
