/* Streams, events and host functions: ordered operations stay ordered, in whatever order the others run. */
#include "cu.h"

static const char *const append =
    PTX_HEAD ".visible .entry append(.param .u64 p, .param .u32 v) { .reg .b64 %rd<2>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; ld.global.u32 %r2, [%rd1];\n"
             "mul.lo.u32 %r3, %r2, 10; add.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3; ret; }\n";
static cu_function function;

static void digit(cu_address p, unsigned v, cu_stream stream) {
  void *params[] = {&p, &v};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static unsigned value(cu_address p) {
  unsigned v;
  OK(cuMemcpyDtoH_v2(&v, p, 4));
  return v;
}

static void count(void *data) { ++*(int *)data; }

int main(void) {
  cu_context context = begin();
  cu_module module;
  cu_stream a, b, free_one;
  cu_event done, start;
  cu_address p, q;
  int calls = 0, r;
  float ms;
  function = kernel_of(append, "append", &module);
  OK(cuMemAlloc_v2(&p, 4));
  OK(cuMemAlloc_v2(&q, 4));
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuMemsetD32_v2(q, 0, 1));
  OK(cuStreamCreate(&a, 0));
  OK(cuStreamCreate(&b, 0));
  OK(cuStreamCreate(&free_one, 1));
  OK(cuEventCreate(&start, 0));
  OK(cuEventCreate(&done, 0));
  OK(cuEventQuery(done));
  OK(cuEventRecord(start, a));
  for (unsigned k = 1; k <= 4; k++) digit(p, k, a); /* in the order of the stream */
  OK(cuEventRecord(done, a));
  OK(cuStreamWaitEvent(b, done, 0));
  digit(p, 5, b);    /* behind the event */
  digit(p, 6, NULL); /* behind both */
  digit(p, 7, a);    /* behind the default stream */
  OK(cuEventRecord(done, a));
  OK(cuStreamWaitEvent(free_one, done, 0));
  digit(p, 8, free_one);
  OK(cuLaunchHostFunc(free_one, count, &calls));
  OK(cuStreamSynchronize(free_one));
  CHECK(calls == 1);
  CHECK(value(p) == 12345678);
  OK(cuEventSynchronize(done));
  OK(cuEventElapsedTime(&ms, start, done));
  CHECK(ms >= 0);
  for (int k = 0; k < 3; k++) digit(q, 1, free_one);
  while ((r = cuStreamQuery(free_one)) == 600) continue;
  OK(r);
  CHECK(value(q) == 111);
  OK(cuStreamDestroy_v2(a)); /* a driver may crash over a handle that is gone: stale.c */
  OK(cuStreamDestroy_v2(b));
  OK(cuEventDestroy_v2(done));
  OK(cuCtxDestroy_v2(context));
  puts("streams: in order");
  return 0;
}
