/* One launch, and then nothing but the host's own work, which never ends. */
#include "../driver/cu.h"

enum { N = 4096 };

int main(void) {
  begin();
  cu_module module;
  cu_function saxpy = kernel_of(PTX_HEAD PTX_SAXPY, "saxpy", &module);
  cu_address x, y;
  OK(cuMemAlloc_v2(&x, N * sizeof(float)));
  OK(cuMemAlloc_v2(&y, N * sizeof(float)));
  OK(cuMemsetD32_v2(x, 0, N));
  OK(cuMemsetD32_v2(y, 0, N));
  unsigned n = N;
  float a = 2;
  void *params[] = {&n, &a, &x, &y};
  OK(cuLaunchKernel(saxpy, N / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  OK(cuCtxSynchronize());
  for (volatile unsigned k = 0;; k++) continue;
}
