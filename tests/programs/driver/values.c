/* Streams that write values to memory and wait for them: between streams, and between a stream and the host.
 */
#include <pthread.h>
#include <sched.h>

#include "cu.h"

enum { AT_LEAST, EQUAL, AND, NOR, N = 256 };
enum { WAIT_32 = 1, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER };

static cu_function function;
static cu_stream a, b;

static void saxpy(cu_address x, cu_address y, cu_stream stream) {
  unsigned n = N;
  float one = 1;
  void *params[] = {&n, &one, &x, &y};
  OK(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
}

static float first(cu_address p) {
  float v;
  OK(cuMemcpyDtoH_v2(&v, p, 4));
  return v;
}

/* The second stream's kernel comes behind the first one's, whichever the seed would rather run. */
static void between_streams(cu_address x, cu_address y, cu_address flags) {
  OK(cuStreamWaitValue32_v2(b, flags, 3, AT_LEAST));
  saxpy(x, y, b);
  saxpy(y, x, a);
  OK(cuStreamWriteValue32_v2(a, flags, 3, 0));
  OK(cuStreamSynchronize(b));
  CHECK(first(x) == 3 && first(y) == 5);
}

static void tests(cu_address flags) {
  static const struct {
    unsigned how;
    uint64_t have, want;
  } cases[] = {{AT_LEAST, 7, 7}, {AT_LEAST, 2, 0xFFFFFFFF}, {EQUAL, 9, 9}, {AND, 6, 4}, {NOR, 5, 2}};
  uint64_t have;
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    OK(cuStreamWriteValue32_v2(a, flags + 8, (uint32_t)cases[k].have, 1));
    OK(cuStreamWaitValue32_v2(a, flags + 8, (uint32_t)cases[k].want, cases[k].how));
  }
  OK(cuStreamWriteValue64_v2(a, flags + 16, UINT64_C(1) << 40 | 1, 0));
  OK(cuStreamWaitValue64_v2(a, flags + 16, UINT64_C(1) << 40, AT_LEAST));
  OK(cuStreamSynchronize(a));
  OK(cuMemcpyDtoH_v2(&have, flags + 16, 8));
  CHECK(have == (UINT64_C(1) << 40 | 1));
  EXPECT(cuStreamWriteValue32_v2(a, flags + 2, 1, 0), 1);
  EXPECT(cuStreamWriteValue64_v2(a, flags + 4, 1, 0), 1);
  EXPECT(cuStreamWaitValue32_v2(a, flags, 1, 1 << 10), 1);
}

static void *let_go(void *flag) {
  __atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* The stream waits for the host; then the host for the stream, and reads what it copied before. */
static void with_the_host(cu_address x) {
  volatile uint32_t *flag;
  float *seen;
  pthread_t thread;
  OK(cuMemHostAlloc((void **)&flag, 64, 0));
  OK(cuMemHostAlloc((void **)&seen, 4, 0));
  flag[0] = flag[1] = 0;
  const cu_address at = (uintptr_t)flag;
  cu_memory_op ops[] = {{WAIT_32, at, 1, EQUAL, 0, 0}, {BARRIER, 0, 0, 0, 0, 0}};
  OK(cuStreamBatchMemOp_v2(a, 2, ops, 0));
  OK(cuMemcpyDtoHAsync_v2(seen, x, 4, a));
  cu_memory_op last = {WRITE_32, at + 4, 1, 0, 0, 0};
  OK(cuStreamBatchMemOp_v2(a, 1, &last, 0));
  CHECK(pthread_create(&thread, NULL, let_go, (void *)(uintptr_t)flag) == 0);
  while (!__atomic_load_n(&flag[1], __ATOMIC_ACQUIRE)) sched_yield();
  CHECK(*seen == 3);
  CHECK(pthread_join(thread, NULL) == 0);
  OK(cuStreamSynchronize(a));
  OK(cuMemFreeHost((void *)(uintptr_t)flag));
  OK(cuMemFreeHost(seen));
}

int main(void) {
  cu_module module;
  cu_address x, y, flags;
  float ones[N], twos[N];
  begin();
  function = kernel_of(PTX_HEAD PTX_SAXPY, "saxpy", &module);
  for (int k = 0; k < N; k++) ones[k] = 1, twos[k] = 2;
  OK(cuMemAlloc_v2(&x, sizeof ones));
  OK(cuMemAlloc_v2(&y, sizeof ones));
  OK(cuMemAlloc_v2(&flags, 64));
  OK(cuMemcpyHtoD_v2(x, ones, sizeof ones));
  OK(cuMemcpyHtoD_v2(y, twos, sizeof twos));
  OK(cuMemsetD8_v2(flags, 0, 64));
  OK(cuStreamCreate(&a, 1));
  OK(cuStreamCreate(&b, 1));
  OK(cuStreamSynchronize(NULL));
  between_streams(x, y, flags);
  tests(flags);
  with_the_host(x);
  OK(cuMemFree_v2(x));
  OK(cuMemFree_v2(y));
  OK(cuMemFree_v2(flags));
  puts("values: written and waited for");
  return 0;
}
