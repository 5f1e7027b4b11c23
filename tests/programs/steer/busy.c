/* A program over the driver that does nothing, with work in a stream that does not end before the program
 * goes on: heddle makes no call that may wait for it. Prints "busy: ok" when that is so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "order.h"

enum { LEGACY = 1, OWN = 2 };
static cu_graph graph = (cu_graph)256;
static cu_stream free_one, blocking, other;
static uint64_t out;
static bool steers;

static void fail(const char *what, long n) {
  printf("%s: %ld\n", what, n);
  exit(1);
}

static void ok(int r) {
  if (r) fail("a call gives", r);
}

static void expect(unsigned long waits, const char *what) {
  if (fake_waits() != waits) fail(what, (long)(fake_waits() - waits));
}

static void launch_in(cu_function f, cu_stream stream) {
  uint64_t count = 512;
  void *params[] = {&out, &count};
  ok(cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static cu_function function_of(cu_module module) {
  cu_function f;
  ok(cuModuleGetFunction(&f, module, "order"));
  return f;
}

/* While there is work a kernel is asked for and launched, others are waited for, a graph is made, and the
 * module goes. Only the first launch of a function that nobody has loaded may wait: it does so without
 * heddle. */
static void work_in(cu_stream stream, const char *text) {
  static cu_node node;
  cu_graph_exec exec;
  cu_module module;
  uint64_t count = 512;
  void *params[] = {&out, &count};
  const long held = fake_held();
  ok(cuModuleLoadData(&module, text));
  const unsigned long before = fake_waits();
  fake_begin(stream);
  cu_function f = function_of(module);
  launch_in(f, other);
  expect(before + 1, "a kernel is asked for and launched");
  ok(cuStreamSynchronize(other));
  ok(cuEventSynchronize(NULL));
  launch_in(f, other);
  expect(before + 1, "another stream is waited for");
  fake_end();
  ok(cuCtxSynchronize_v2(NULL)); /* as CUDA 13 waits */
  fake_begin(stream);
  if (steers && fake_held() == held) fail("things that a rewritten kernel needs", 0);
  launch_in(f, other);
  expect(before + 1, "a rewritten kernel's first launch");
  const cu_kernel_node p = {.function = f, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
  ok(node ? cuGraphKernelNodeSetParams_v2(node, &p) : cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
  for (int k = 0; k < 40; k++) { /* more nodes than there are states at first */
    ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
    ok(cuGraphLaunch(exec, other));
    ok(cuGraphExecDestroy(exec));
  }
  expect(before + 1, "a graph is made executable");
  ok(cuModuleUnload(module));
  expect(before + 1, "the module is unloaded");
  fake_end();
  ok(cuCtxSynchronize());
  if (fake_held() != held) fail("things that the driver still holds", fake_held() - held);
}

/* The original is launched for the first time while there is work, in a way in which no other takes its
 * place. */
static void original_comes_late(void) {
  cu_module module;
  uint64_t count = 512;
  void *params[] = {&out, &count};
  ok(cuModuleLoadData(&module, PTX_ORDER));
  cu_function f = function_of(module);
  launch_in(f, other);
  const unsigned long before = fake_waits();
  fake_begin(free_one);
  ok(cuLaunchCooperativeKernel(f, 8, 1, 1, 1, 1, 1, 0, other, params));
  expect(before, "the original's first launch");
  fake_end();
  ok(cuModuleUnload(module));
}

/* A thread has work in its own default stream, which nobody else can ask for. */
static pthread_barrier_t both;
static cu_function shared;

static void *work_in_own_stream(void *arg) {
  launch_in(shared, (cu_stream)OWN);
  fake_begin((cu_stream)OWN);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  fake_end();
  pthread_barrier_wait(&both);
  return arg;
}

static void threads_own_streams(void) {
  pthread_t thread;
  cu_module module;
  ok(cuModuleLoadData(&module, PTX_ORDER));
  shared = function_of(module);
  ok(cuModuleLoadData(&module, PTX_COUNTING));
  pthread_create(&thread, NULL, work_in_own_stream, NULL);
  pthread_barrier_wait(&both);
  const unsigned long before = fake_waits();
  cu_function f = function_of(module);
  ok(cuStreamSynchronize(other));
  expect(before, "a thread's own stream");
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  ok(cuCtxSynchronize());
  launch_in(f, other);
  pthread_join(thread, NULL);
  ok(cuModuleUnload(module));
}

/* A thread launches whenever it can, while this one has kernels loaded. */
static atomic_bool stop;

static void *launch_always(void *f) {
  while (!stop) launch_in(f, other);
  return NULL;
}

static void launches_wait_for_loads(void) {
  pthread_t thread;
  cu_module mine, module;
  ok(cuModuleLoadData(&mine, PTX_ORDER));
  cu_function f = function_of(mine);
  launch_in(f, other);
  pthread_create(&thread, NULL, launch_always, f);
  unsigned long own = 0, most = 0;
  for (int k = 0; k < 200; k++) {
    unsigned long from = fake_waits();
    ok(cuModuleLoadData(&module, k % 2 ? PTX_ORDER : PTX_COUNTING)); /* others may launch meanwhile */
    own += fake_waits() - from;
    from = fake_waits();
    (void)function_of(module);
    ok(cuCtxSynchronize());
    most += fake_waits() - from;
    ok(cuModuleUnload(module));
  }
  stop = true;
  pthread_join(thread, NULL);
  if (most) fail("launches while a kernel was loaded", (long)most);
  if (!own) fail("launches while the program loads", 0);
}

/* `busy steered`: kernels are rewritten. */
int main(int argc, char **argv) {
  steers = argc > 1 && argv[1][0] == 's';
  pthread_barrier_init(&both, NULL, 2);
  ok(cuInit(0));
  ok(cuStreamCreate(&free_one, CU_STREAM_NON_BLOCKING));
  ok(cuStreamCreate(&blocking, 0));
  ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ok(cuMemAlloc_v2(&out, 64));
  work_in(free_one, PTX_ORDER);
  work_in(blocking, PTX_COUNTING);
  work_in((cu_stream)OWN, PTX_ORDER);
  original_comes_late();
  launches_wait_for_loads();
  threads_own_streams();
  puts("busy: ok");
  return 0;
}
