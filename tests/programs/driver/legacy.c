/* Calls that newer ones have taken the place of: launches whose parameters are set one by one, names without
 * a version, contexts that are attached. */
#include "cu.h"

/* out[thread of the grid] = n + x */
static const char *const kernel = PTX_HEAD
    ".visible .entry fill(.param .u64 out, .param .u32 n, .param .f32 x) {\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [x];\n"
    "mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r2, %r3, %r4;\n"
    "mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r6, %r4, %r5, %r6;\n"
    "cvt.rn.f32.u32 %f2, %r1; add.f32 %f2, %f2, %f1;\n"
    "mul.wide.u32 %rd2, %r6, 4; add.u64 %rd1, %rd1, %rd2; st.global.f32 [%rd1], %f2; ret; }\n";

int main(void) {
  cu_function function;
  cu_module module;
  cu_context context, same;
  cu_address out;
  float host[12];
  cu_device_properties properties;
  OK(cuInit(0));
  OK(cuDeviceGetProperties(&properties, 0));
  CHECK(properties.threads_per_block == 1024 && properties.warp == 32);
  OK(cuProfilerInitialize("", "", 0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuCtxAttach(&same, 0));
  CHECK(same == context);
  OK(cuCtxDetach(same));
  OK(cuModuleLoadData(&module, kernel));
  OK(cuModuleGetFunction(&function, module, "fill"));
  OK(cuMemAlloc_v2(&out, sizeof host));

  OK(cuFuncSetBlockShape(function, 2, 1, 1));
  OK(cuFuncSetSharedSize(function, 16));
  OK(cuParamSetv(function, 0, &out, sizeof out));
  OK(cuParamSeti(function, 8, 3));
  OK(cuParamSetf(function, 12, 0.5F));
  OK(cuParamSetSize(function, 16));
  OK(cuLaunchGrid(function, 3, 2));
  OK(cuMemcpyDtoH_v2(host, out, sizeof host));
  for (int k = 0; k < 12; k++) CHECK(host[k] == 3.5F);
  OK(cuParamSeti(function, 8, 7));
  OK(cuLaunch(function));
  OK(cuMemcpyDtoH_v2(host, out, sizeof host));
  for (int k = 0; k < 12; k++) CHECK(host[k] == (k < 2 ? 7.5F : 3.5F));
  EXPECT(cuFuncSetBlockShape(function, 0, 1, 1), 1);
  EXPECT(cuParamSetSize(NULL, 4), 400);

  OK(cuMemFree_v2(out));
  OK(cuModuleUnload(module));
  OK(cuCtxPopCurrent(&same));
  OK(cuCtxPushCurrent(same));
  OK(cuCtxDestroy(context));
  puts("legacy: ok");
  return 0;
}
