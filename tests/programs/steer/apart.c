/* Launches of a kernel that reads what one parameter leads to and writes what another does, of memory of
 * several kinds. A plan that presumes that nothing writes what is read holds for those alone in which the two
 * are known to be different allocations: the first two. */
#include "../driver/cu.h"

enum { N = 256, BYTES = N * sizeof(float) };

static cu_function saxpy;

static void launch(cu_address x, cu_address y) {
  unsigned n = N;
  float a = 2;
  void *params[] = {&n, &a, &x, &y};
  OK(cuLaunchKernel(saxpy, N / 64, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
}

static void launch_block(cu_address x, cu_address y) {
  struct {
    unsigned n;
    float a;
    cu_address x, y;
  } block = {N, 2, x, y};
  size_t bytes = sizeof block;
  void *extra[] = {(void *)1, &block, (void *)2, &bytes, (void *)0};
  OK(cuLaunchKernel(saxpy, N / 64, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
}

int main(void) {
  cu_module module;
  cu_address x, y, both, managed;
  void *host;
  float out[N];
  begin();
  saxpy = kernel_of(PTX_HEAD PTX_SAXPY, "saxpy", &module);
  OK(cuMemAlloc_v2(&x, BYTES));
  OK(cuMemAlloc_v2(&y, BYTES));
  OK(cuMemAlloc_v2(&both, 2 * BYTES));
  OK(cuMemAllocManaged(&managed, BYTES, 1));
  OK(cuMemHostAlloc(&host, BYTES, 0));
  OK(cuMemsetD32_v2(x, 0x3f800000, N)); /* 1 */
  OK(cuMemsetD32_v2(y, 0, N));
  OK(cuMemsetD32_v2(both, 0x3f800000, 2 * N));
  OK(cuMemsetD32_v2(managed, 0x3f800000, N));
  memset(host, 0, BYTES);
  launch(x, y);
  launch_block(x, y);
  launch(y, y);
  launch(both, both + BYTES);
  launch_block(both, both + BYTES);
  launch(managed, y);
  launch((cu_address)(uintptr_t)host, y);
  OK(cuMemcpyDtoH_v2(out, y, BYTES));
  for (int i = 0; i < N; i++) CHECK(out[i] == 14);
  OK(cuMemFree_v2(x));
  OK(cuMemAlloc_v2(&x, 4 * BYTES)); /* perhaps where both was */
  OK(cuMemFree_v2(y));
  launch(x, x + BYTES);
  OK(cuCtxSynchronize());
  puts("apart: equal");
  return 0;
}
