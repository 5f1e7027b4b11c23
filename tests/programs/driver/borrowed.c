/* Calls that name a stream or an event, by a thread without a context: they have that of the stream. What
 * names neither has none. */
#include "cu.h"

#include <pthread.h>

static cu_event event;
static cu_stream stream;
static cu_function function;
static cu_context context;

static void has_none(void) {
  cu_context now = (cu_context)(void *)&now;
  OK(cuCtxGetCurrent(&now));
  CHECK(now == NULL);
}

static void *without(void *nothing) {
  float a = 2, x[64], y[64];
  unsigned n = 64;
  cu_address dx, dy, p;
  cu_graph_exec exec;
  cu_graph graph;
  cu_context of;
  void *params[] = {&n, &a, &dx, &dy};
  for (int k = 0; k < 64; k++) x[k] = (float)k, y[k] = 1;
  has_none();
  EXPECT(cuMemAlloc_v2(&p, 64), 201);
  EXPECT(cuMemAllocAsync(&p, 64, NULL), 201); /* a default stream is the current context's */
  OK(cuMemAllocAsync(&dx, sizeof x, stream));
  OK(cuMemAllocAsync(&dy, sizeof y, stream));
  OK(cuMemcpyHtoDAsync_v2(dx, x, sizeof x, stream));
  OK(cuMemcpyHtoDAsync_v2(dy, y, sizeof y, stream));
  OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
  OK(cuEventRecord(event, stream));
  OK(cuStreamWaitEvent(stream, event, 0));
  OK(cuEventSynchronize(event));
  OK(cuEventQuery(event));
  OK(cuMemcpyDtoHAsync_v2(y, dy, sizeof y, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuStreamQuery(stream));
  for (int k = 0; k < 64; k++) CHECK(y[k] == 2 * k + 1);
  OK(cuMemsetD8Async(dy, 0, sizeof y, stream));
  OK(cuMemcpyDtoDAsync_v2(dx, dy, sizeof y, stream));
  OK(cuStreamGetCtx(stream, &of));
  CHECK(of == context);
  OK(cuStreamBeginCapture_v2(stream, 2));
  OK(cuMemsetD8Async(dy, 1, sizeof y, stream));
  OK(cuStreamEndCapture(stream, &graph));
  has_none();
  OK(cuCtxPushCurrent_v2(context));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuCtxPopCurrent_v2(&of));
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemFreeAsync(dx, stream));
  OK(cuMemFreeAsync(dy, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT(cuMemsetD8_v2(dx, 0, 1), 201);
  has_none();
  return nothing;
}

int main(void) {
  cu_context popped;
  cu_module module;
  pthread_t thread;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxPushCurrent_v2(context));
  OK(cuModuleLoadData(&module, PTX_HEAD PTX_SAXPY));
  OK(cuModuleGetFunction(&function, module, "saxpy"));
  OK(cuStreamCreate(&stream, 1));
  OK(cuEventCreate(&event, 0));
  OK(cuCtxPopCurrent_v2(&popped));
  without(NULL);
  CHECK(pthread_create(&thread, NULL, without, NULL) == 0);
  pthread_join(thread, NULL);
  puts("borrowed: equal");
  return 0;
}
