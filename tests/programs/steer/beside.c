/* Threads beside the one whose launches are tuned. They copy to other parts of the memory that its kernel
 * writes, launch the kernel upon a part of their own, allocate and free, wait for the GPU, and call the
 * driver with a lock held that the launching thread takes and holds, too. What each part of the memory holds
 * is checked all along. With `held` as argument a function on the host, in a stream, waits for the lock while
 * it is held across a launch, and a thread waits in the driver for that function. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "../driver/cu.h"

/* Adds 1 to each word; twice as many threads as words, the second half does nothing. */
#define PTX_ADD                                                                                              \
  ".version 7.8\n.target sm_70\n.address_size 64\n"                                                          \
  ".visible .entry add(.param .u64 at, .param .u32 n) {\n"                                                   \
  ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"                                                    \
  "ld.param.u64 %d1, [at]; ld.param.u32 %r1, [n];\n"                                                         \
  "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"       \
  "setp.ge.u32 %p1, %r5, %r1; @%p1 bra done; mul.wide.u32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;\n"             \
  "ld.global.u32 %r6, [%d3]; add.u32 %r6, %r6, 1; st.global.u32 [%d3], %r6; done: ret; }\n"

enum { N = 512, BYTES = N * sizeof(uint32_t), ROUNDS = 24 };

static cu_context context;
static cu_function add;
static cu_address memory;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;

static void launch(cu_stream stream, cu_address at) {
  unsigned n = N;
  void *params[] = {&at, &n};
  OK(cuLaunchKernel(add, N / 64, 1, 1, 64, 1, 1, 0, stream, params, NULL));
}

static void check(cu_address at, uint32_t want, cu_stream stream) {
  uint32_t words[N];
  OK(cuMemcpyDtoHAsync_v2(words, at, BYTES, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < N; i++)
    if (words[i] != want) {
      printf("a word is %u, not %u\n", words[i], want);
      exit(1);
    }
}

static void *copies(void *unused) {
  cu_stream stream;
  uint32_t words[N];
  OK(cuCtxSetCurrent(context));
  OK(cuStreamCreate(&stream, 1));
  for (uint32_t k = 0; !over; k++) {
    for (int i = 0; i < N; i++) words[i] = k;
    OK(cuMemcpyHtoDAsync_v2(memory + BYTES, words, BYTES, stream));
    check(memory + BYTES, k, stream);
  }
  return unused;
}

static void *launches(void *unused) {
  cu_stream stream;
  OK(cuCtxSetCurrent(context));
  OK(cuStreamCreate(&stream, 1));
  for (uint32_t k = 1; !over; k++) {
    launch(stream, memory + 2 * BYTES);
    check(memory + 2 * BYTES, k, stream);
  }
  return unused;
}

static void *allocates(void *unused) {
  OK(cuCtxSetCurrent(context));
  while (!over) {
    cu_address at;
    pthread_mutex_lock(&lock);
    OK(cuMemAlloc_v2(&at, BYTES));
    OK(cuMemsetD32_v2(at, 1, N));
    OK(cuMemFree_v2(at));
    pthread_mutex_unlock(&lock);
    usleep(100);
  }
  return unused;
}

static void *waits(void *unused) {
  OK(cuCtxSetCurrent(context));
  while (!over) OK(cuCtxSynchronize());
  return unused;
}

int main(void) {
  static void *(*const threads[])(void *) = {copies, launches, allocates, waits};
  enum { THREADS = sizeof threads / sizeof *threads };
  pthread_t thread[THREADS];
  cu_stream stream;
  cu_module module;
  context = begin();
  add = kernel_of(PTX_ADD, "add", &module);
  OK(cuMemAlloc_v2(&memory, 3 * BYTES));
  OK(cuMemsetD32_v2(memory, 0, 3 * N));
  OK(cuCtxSynchronize());
  OK(cuStreamCreate(&stream, 1));
  for (int k = 0; k < THREADS; k++) CHECK(pthread_create(&thread[k], NULL, threads[k], NULL) == 0);
  for (uint32_t k = 1; k <= ROUNDS; k++) {
    pthread_mutex_lock(&lock);
    launch(stream, memory);
    pthread_mutex_unlock(&lock);
    check(memory, k, stream);
    usleep(500);
  }
  over = true;
  for (int k = 0; k < THREADS; k++) CHECK(pthread_join(thread[k], NULL) == 0);
  puts("beside: as it should be");
  return 0;
}
