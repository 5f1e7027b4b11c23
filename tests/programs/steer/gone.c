/* Contexts go with their streams, whose handles nobody may use then, and a kernel is launched in another one.
 */
#include "../driver/cu.h"

int main(void) {
  cu_function function;
  cu_stream stream;
  cu_context context;
  cu_module module;
  cu_address p;
  unsigned n = 0;
  float a = 1;
  void *params[] = {&n, &a, &p, &p};
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuStreamCreate(&stream, 0));
  OK(cuCtxDestroy_v2(context));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  OK(cuStreamCreate(&stream, 1));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuMemAlloc_v2(&p, 4));
  function = kernel_of(PTX_HEAD PTX_SAXPY, "saxpy", &module);
  OK(cuLaunchKernel(function, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
  OK(cuCtxSynchronize());
  return 0;
}
