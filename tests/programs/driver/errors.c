/* The results of refused calls, and the state of a context after a fault. */
// check: none
#include "cu.h"

static const char *const stray =
    PTX_HEAD ".visible .entry stray(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
             "ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

static void texts(void) {
  static const struct {
    int result;
    const char *name, *text;
  } known[] = {{0, "CUDA_SUCCESS", "no error"},
               {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
               {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
               {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
               {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}};
  const char *text;
  for (unsigned k = 0; k < sizeof known / sizeof *known; k++) {
    OK(cuGetErrorName(known[k].result, &text));
    CHECK(strcmp(text, known[k].name) == 0);
    OK(cuGetErrorString(known[k].result, &text));
    CHECK(strcmp(text, known[k].text) == 0);
  }
  EXPECT(cuGetErrorName(12345, &text), 1);
  CHECK(!text);
}

int main(void) {
  int n;
  cu_address p, q;
  size_t left, total;
  texts();
  EXPECT(cuDeviceGetCount(&n), 3); /* not initialised */
  EXPECT(cuInit(1), 1);
  OK(cuInit(0));
  EXPECT(cuMemAlloc_v2(&p, 100), 201); /* no context */
  EXPECT(cuDeviceGet(&n, 99), 101);
  cu_context context = begin();
  cu_module module;
  cu_function function;
  cu_ipc shared;
  EXPECT(cuMemAlloc_v2(&p, 0), 1);
  EXPECT(cuMemAlloc_v2(&p, (size_t)1 << 50), 2);
  OK(cuMemGetInfo_v2(&left, &total));
  EXPECT(cuMemAlloc_v2(&p, total + 1), 2);
  OK(cuMemAlloc_v2(&p, 100));
  EXPECT(cuMemFree_v2(p + 4), 1);
  EXPECT(cuMemsetD8_v2(p, 0, 101), 1);
  EXPECT(cuMemcpyDtoH_v2(&n, p + 97, 4), 1);
  EXPECT(cuMemcpyHtoD_v2((cu_address)(uintptr_t)&n, &n, 4), 1); /* wrong direction */
  EXPECT(cuModuleLoadData(&module, "no PTX"), 200);
  EXPECT(cuModuleLoadData(&module, "\177ELF"), 209);
  EXPECT(cuIpcGetMemHandle(&shared, p), 801);
  function = kernel_of(stray, "stray", &module);
  void *params[] = {&q};
  EXPECT(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), 1);
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL), 1);
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49153, NULL, params, NULL), 1);
  q = p;
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  OK(cuCtxSynchronize()); /* bad arguments leave no trace */
  OK(cuMemFree_v2(p));
  EXPECT(cuMemFree_v2(p), 1);
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  EXPECT(cuCtxSynchronize(), 700); /* a fault does */
  EXPECT(cuMemAlloc_v2(&p, 100), 700);
  OK(cuCtxDestroy_v2(context));
  context = begin();
  OK(cuMemAlloc_v2(&p, 100));
  puts("errors: as a driver's");
  return 0;
}
