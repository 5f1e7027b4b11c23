/* A module from PTX text, memory, copies, one launch with pointers to parameters and one with a packed block.
 */
#include "cu.h"

enum { N = 1000 };

int main(void) {
  cu_context context = begin();
  cu_module module;
  cu_function saxpy = kernel_of(PTX_HEAD PTX_SAXPY, "saxpy", &module), none;
  EXPECT(cuModuleGetFunction(&none, module, "nothing"), 500);
  float x[N], y[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }
  cu_address dx, dy;
  OK(cuMemAlloc_v2(&dx, sizeof x));
  OK(cuMemAlloc_v2(&dy, sizeof y));
  OK(cuMemcpyHtoD_v2(dx, x, sizeof x));
  OK(cuMemcpyHtoD_v2(dy, y, sizeof y));
  unsigned n = N;
  float a = 2;
  void *params[] = {&n, &a, &dx, &dy};
  OK(cuLaunchKernel(saxpy, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  struct {
    unsigned n;
    float a;
    cu_address x, y;
  } block = {N, 3, dx, dy};
  size_t bytes = sizeof block;
  void *extra[] = {(void *)1, &block, (void *)2, &bytes, (void *)0};
  OK(cuLaunchKernel(saxpy, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
  OK(cuMemcpyDtoH_v2(y, dy, sizeof y));
  for (int i = 0; i < N; i++) CHECK(y[i] == 5.0f * (float)i + 1);
  OK(cuMemFree_v2(dx));
  OK(cuMemFree_v2(dy));
  OK(cuModuleUnload(module));
  OK(cuCtxDestroy_v2(context));
  puts("saxpy: equal");
  return 0;
}
