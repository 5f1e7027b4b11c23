/* A program over the driver that does nothing, with streams under capture, of every kind and in every mode:
 * heddle makes no call that the driver answers with an error on account of a capture, or that ends one, and
 * loads rewritten kernels under a capture where that is known to wait for nothing. Prints "captured: ok" when
 * that is so.
 *
 * captured [steered]: kernels are rewritten. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "order.h"

enum { LEGACY = 1, OWN = 2, INVALIDATED = 901, UNMATCHED = 903, IMPLICIT = 906, BLOCKING = 0 };
static cu_stream elsewhere, free_elsewhere, blocking, free_one, other, waiting, drawn, free_drawn;
static cu_graph graph = (cu_graph)256;
static uint64_t out;
static bool steers;
static unsigned long own; /* errors that the program's own calls gave */
static const char *now;   /* what is tried */

static void fail(const char *what, long n) {
  printf("%s: %s: %ld\n", now, what, n);
  exit(1);
}

static void ok(int r) {
  if (r) fail("a call gives", r);
}

static void refused(int r, int expected) {
  if (r != expected) fail("a call that is refused gives", r);
  own++;
}

/* Nothing but the program's own errors so far. */
static bool failed;
static void expect_own(const char *what) {
  const unsigned long all = fake_refused();
  if (all == own) return;
  printf("%s: %s: %lu errors that the program did not cause\n", now, what, all - own);
  own = all;
  failed = true;
}

/* ---- Ways to capture --------------------------------------------------------------------------- */

typedef int begin_function(cu_stream stream, int mode);
static int first(cu_stream s, int mode) { return cuStreamBeginCapture(s); }
static int first_ptsz(cu_stream s, int mode) { return cuStreamBeginCapture_ptsz(s); }
static int to_graph(cu_stream s, int mode) {
  return cuStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, mode);
}
static int to_graph_ptsz(cu_stream s, int mode) {
  return cuStreamBeginCaptureToGraph_ptsz(s, graph, NULL, NULL, 0, mode);
}
static int again(cu_stream s, int mode) { return cuStreamBeginRecaptureToGraph(s, mode, graph, NULL, NULL); }
static int again_ptsz(cu_stream s, int mode) {
  return cuStreamBeginRecaptureToGraph_ptsz(s, mode, graph, NULL, NULL);
}

static const struct row {
  const char *name;
  const cu_stream *stream; /* NULL: the thread's own */
  begin_function *begin;
  bool per_thread; /* that is stream 0 */
  bool freezes;    /* the legacy stream of the current context */
} rows[] = {
    {"blocking", &blocking, cuStreamBeginCapture_v2, false, true},
    {"blocking, _ptsz", &blocking, cuStreamBeginCapture_v2_ptsz, true, true},
    {"blocking, the first version", &blocking, first, false, true},
    {"blocking, the first version, _ptsz", &blocking, first_ptsz, true, true},
    {"blocking, to a graph", &blocking, to_graph, false, true},
    {"blocking, to a graph, _ptsz", &blocking, to_graph_ptsz, true, true},
    {"blocking, again", &blocking, again, false, true},
    {"blocking, again, _ptsz", &blocking, again_ptsz, true, true},
    {"non-blocking", &free_one, cuStreamBeginCapture_v2, false, false},
    {"non-blocking, _ptsz", &free_one, cuStreamBeginCapture_v2_ptsz, true, false},
    {"own", NULL, cuStreamBeginCapture_v2, false, true},
    {"own, _ptsz", NULL, cuStreamBeginCapture_v2_ptsz, true, true},
    {"own, to a graph, _ptsz", NULL, to_graph_ptsz, true, true},
    {"another context's", &elsewhere, cuStreamBeginCapture_v2, false, false},
    {"another context's, non-blocking", &free_elsewhere, cuStreamBeginCapture_v2, false, false},
};

static cu_stream handle_of(const struct row *r) {
  return r->stream ? *r->stream : r->per_thread ? NULL : (cu_stream)OWN;
}

static int end(cu_stream stream, bool per_thread) {
  cu_graph captured;
  return per_thread ? cuStreamEndCapture_ptsz(stream, &captured) : cuStreamEndCapture(stream, &captured);
}

/* ---- What is done under a capture -------------------------------------------------------------- */

static int launch(cu_function f, cu_stream stream, bool per_thread) {
  uint64_t count = 512;
  void *params[] = {&out, &count};
  return (per_thread ? cuLaunchKernel_ptsz : cuLaunchKernel)(f, 8, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static cu_function function_of(cu_module module) {
  cu_function f;
  ok(cuModuleGetFunction(&f, module, "order"));
  return f;
}

enum { MODULES = 4 };

/* Launches in all streams that take some, and their waits. `f`: a kernel that is known. */
static void use_others(cu_function f, const struct row *r) {
  ok(launch(f, other, false));
  ok(launch(f, waiting, true));
  if (r->stream) ok(launch(f, NULL, true));
  expect_own("launches in other streams");
  ok(cuStreamSynchronize(other));
  ok(cuEventSynchronize(NULL));
  expect_own("waits");
  if (r->freezes) return;
  ok(launch(f, NULL, false));
  ok(launch(f, (cu_stream)LEGACY, false));
  ok(launch(f, (cu_stream)LEGACY, true));
  ok(cuStreamWaitEvent(NULL, NULL, 0));
  expect_own("launches in the legacy stream");
}

/* Streams come in behind an event, one of which freezes the legacy stream. */
static void draw(cu_module *modules, cu_event event, const struct row *r) {
  const cu_stream stream = handle_of(r);
  ok((r->per_thread ? cuEventRecord_ptsz : cuEventRecord)(event, stream));
  ok(cuStreamWaitEvent(free_drawn, event, 0));
  ok(launch(function_of(modules[1]), free_drawn, false));
  expect_own("a non-blocking stream is drawn in");
  ok(cuStreamWaitEvent_ptsz(drawn, event, 0));
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  const long held = fake_held();
  ok(launch(function_of(modules[2]), drawn, true));
  if (steers && fake_held() == held)
    fail("things that a rewritten kernel needs, in a stream that is drawn in", 0);
  ok(launch(function_of(modules[2]), waiting, true));
  ok(cuStreamSynchronize(other));
  expect_own("a blocking stream is drawn in");
}

static void make_executable(cu_function f) {
  static cu_node node;
  cu_graph_exec exec;
  uint64_t count = 512;
  void *params[] = {&out, &count};
  const cu_kernel_node p = {.function = f, .grid = {8, 1, 1}, .block = {1, 1, 1}, .params = params};
  ok(node ? cuGraphKernelNodeSetParams_v2(node, &p) : cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
  for (int k = 0; k < 40; k++) { /* more nodes than there are states at first */
    ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
    ok(cuGraphExecDestroy(exec));
  }
  expect_own("a graph is made executable");
}

static void try_row(const struct row *r, int mode) {
  char name[128];
  cu_event event;
  cu_module modules[MODULES];
  snprintf(name, sizeof name, "%s, mode %d", r->name, mode);
  now = name;
  for (int k = 0; k < MODULES; k++) ok(cuModuleLoadData(&modules[k], k % 2 ? PTX_COUNTING : PTX_ORDER));
  cu_function known = function_of(modules[0]);
  ok(cuEventCreate(&event, 0));
  ok(r->begin(handle_of(r), mode));
  expect_own("it begins");
  ok(launch(known, handle_of(r), r->per_thread));
  expect_own("a launch in it");
  use_others(known, r);
  const long held = fake_held();
  ok(launch(function_of(modules[3]), handle_of(r), r->per_thread));
  expect_own("a kernel that is asked for");
  if (steers && fake_held() == held) fail("things that a rewritten kernel needs", 0);
  draw(modules, event, r);
  make_executable(known);
  ok(cuStreamBeginCapture_v2(other, mode)); /* beside it */
  ok(launch(known, other, false));
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  ok(end(other, false));
  expect_own("another capture");
  ok(end(handle_of(r), r->per_thread));
  expect_own("it ends");
  ok(launch(known, NULL, false));
  ok(cuCtxSynchronize());
  for (int k = 0; k < MODULES; k++) ok(cuModuleUnload(modules[k]));
  expect_own("afterwards");
}

/* The program ends its capture itself, by a launch in the legacy stream. */
static void invalidated(cu_stream legacy, bool per_thread) {
  cu_function known;
  cu_module module, late;
  now = "invalidated";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  ok(cuModuleLoadData(&late, PTX_ORDER));
  known = function_of(module);
  ok(cuStreamBeginCapture_v2(blocking, 2));
  refused(launch(known, legacy, per_thread), IMPLICIT);
  expect_own("a launch in the frozen legacy stream");
  refused(launch(known, blocking, false), INVALIDATED);
  expect_own("a launch under the capture");
  ok(launch(function_of(late), other, false));
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  ok(launch(known, waiting, false));
  make_executable(known);
  expect_own("others");
  refused(end(blocking, false), INVALIDATED);
  ok(launch(known, NULL, false));
  ok(cuModuleUnload(module));
  ok(cuModuleUnload(late));
  expect_own("afterwards");
}

/* A kernel of machine code alone, for which attributes of its launches are tried: their times are asked for
 * under captures that calls might disturb, and a launch with one is refused once. */
static void machine_code(void) {
  static const unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2};
  cu_module module;
  now = "machine code";
  ok(cuModuleLoadData(&module, cubin));
  cu_function f;
  ok(cuModuleGetFunction(&f, module, "shipped"));
  for (int mode = 0; mode < 3; mode++) {
    ok(cuStreamBeginCapture_v2(blocking, mode));
    for (int k = 0; k < 10; k++) ok(launch(f, other, false));
    ok(end(blocking, false));
  }
  expect_own("launches beside a capture");
  for (int k = 0; k < 400; k++) ok(launch(f, other, false));
  ok(cuStreamBeginCapture_v2(blocking, 2));
  refused(launch(f, NULL, false), IMPLICIT);
  expect_own("a launch in the frozen legacy stream");
  refused(end(blocking, false), INVALIDATED);
  ok(cuModuleUnload(module));
}

/* A capture of which heddle sees neither the beginning nor the end. */
static void unseen(int mode) {
  cu_module module, late;
  now = "unseen";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  ok(cuModuleLoadData(&late, PTX_COUNTING));
  cu_function known = function_of(module);
  ok(fake_begin_unseen(blocking, mode));
  ok(launch(known, blocking, false));
  const long held = fake_held();
  ok(launch(function_of(late), blocking, false));
  if (fake_held() != held)
    fail("things that were made, though nobody knows what the stream did before", fake_held() - held);
  ok(launch(known, other, false));
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  ok(cuStreamSynchronize(other));
  make_executable(known);
  expect_own("it goes on");
  ok(fake_end_unseen(blocking));
  ok(launch(known, NULL, false));
  ok(cuModuleUnload(module));
  ok(cuModuleUnload(late));
  expect_own("it is over");
}

/* Calls that do not end the capture. */
static void no_endings(void) {
  cu_graph captured;
  cu_event event;
  cu_module module;
  now = "no endings";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  ok(cuEventCreate(&event, 0));
  ok(cuStreamBeginCapture_v2(free_one, 2));
  ok(cuEventRecord(event, free_one));
  ok(cuStreamWaitEvent(drawn, event, 0));
  refused(cuStreamEndCapture(drawn, &captured), UNMATCHED);
  if (!cuStreamEndCapture(waiting, &captured) || !cuStreamEndCapture(NULL, &captured)) fail("it ends", 0);
  (void)function_of(module);
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  ok(cuStreamSynchronize(other));
  expect_own("the capture goes on");
  ok(end(free_one, false));
  ok(cuModuleUnload(module));
}

/* A stream is destroyed under a capture. */
static void stream_goes(void) {
  cu_stream gone;
  cu_module module;
  now = "a stream that goes";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  ok(cuStreamCreate(&gone, BLOCKING));
  ok(cuStreamBeginCapture_v2(gone, 2));
  ok(cuStreamDestroy_v2(gone));
  ok(launch(function_of(module), NULL, false));
  const long held = fake_held();
  ok(cuModuleUnload(module));
  if (steers && fake_held() == held) fail("things that a rewritten kernel needs", 0);
  expect_own("it is gone");
}

/* ---- Work that goes on ------------------------------------------------------------------------- */

/* Work in the legacy stream of this context, which one that is captured freezes, or does not. */
static void legacy_works(cu_stream stream, bool before) {
  cu_module module;
  now = before ? "work in the legacy stream before the capture" : "work in the legacy stream during it";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  if (before) fake_begin((cu_stream)LEGACY);
  ok(cuStreamBeginCapture_v2(stream, 2));
  if (!before) fake_begin((cu_stream)LEGACY);
  const unsigned long waits = fake_waits();
  (void)function_of(module);
  ok(cuStreamSynchronize(other));
  if (fake_waits() != waits) fail("calls that may wait", (long)(fake_waits() - waits));
  expect_own("a kernel is asked for");
  fake_end();
  ok(end(stream, false));
  ok(cuModuleUnload(module));
}

/* Work in another context's legacy stream, which that context's stream freezes as its capture begins from
 * this one. */
static void other_legacy_works(void) {
  cu_module module;
  now = "work in another context's legacy stream";
  fake_context(2);
  ok(cuModuleLoadData(&module, PTX_ORDER));
  fake_begin((cu_stream)LEGACY);
  fake_context(1);
  ok(cuStreamBeginCapture_v2(elsewhere, 2));
  fake_context(2);
  const unsigned long waits = fake_waits();
  (void)function_of(module);
  if (fake_waits() != waits) fail("calls that may wait", (long)(fake_waits() - waits));
  fake_end();
  ok(end(elsewhere, false));
  ok(cuModuleUnload(module));
  fake_context(1);
  expect_own("a kernel is asked for");
}

/* ---- Other threads ----------------------------------------------------------------------------- */

static pthread_barrier_t both;

/* Its own default stream is captured, of itself or behind an event of another capture. */
static void *capture_own(void *event) {
  if (event)
    ok(cuStreamWaitEvent_ptsz(NULL, event, 0));
  else
    ok(cuStreamBeginCapture_v2_ptsz(NULL, 2));
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  if (!event) ok(end(NULL, true));
  pthread_barrier_wait(&both);
  return NULL;
}

static void another_threads_own(bool drawn_in) {
  pthread_t thread;
  cu_event event = NULL;
  cu_module module, late;
  now = drawn_in ? "another thread's own, drawn in" : "another thread's own";
  ok(cuModuleLoadData(&module, PTX_ORDER));
  ok(cuModuleLoadData(&late, PTX_COUNTING));
  cu_function known = function_of(module);
  if (drawn_in) {
    ok(cuEventCreate(&event, 0));
    ok(cuStreamBeginCapture_v2(free_one, 2));
    ok(cuEventRecord(event, free_one));
  }
  pthread_create(&thread, NULL, capture_own, event);
  pthread_barrier_wait(&both);
  if (!drawn_in) {
    ok(cuStreamBeginCapture_v2_ptsz(NULL, 2)); /* this thread's own, too */
    ok(end(NULL, true));
  }
  ok(launch(function_of(late), other, false));
  ok(launch(known, waiting, false));
  ok(cuStreamWaitEvent(waiting, NULL, 0));
  ok(cuStreamSynchronize(other));
  make_executable(known);
  if (drawn_in) ok(end(free_one, false));
  expect_own("it is captured");
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
  ok(launch(known, NULL, false));
  ok(cuModuleUnload(module));
  ok(cuModuleUnload(late));
  expect_own("it is captured no more");
}

/* A thread captures again and again, while this one has kernels loaded and captures. */
static atomic_bool stop;

static void *capture_always(void *event) {
  for (unsigned k = 0; !stop; k++) {
    const cu_stream from = k % 2 ? free_drawn : blocking;
    ok(cuStreamBeginCapture_v2(from, 2));
    ok(cuEventRecord(event, from));
    ok(cuStreamWaitEvent(drawn, event, 0));
    ok(end(from, false));
  }
  return NULL;
}

static void captures_come_between(void) {
  pthread_t thread;
  cu_module module;
  cu_event event;
  int mode = 2;
  now = "captures of another thread";
  ok(cuThreadExchangeStreamCaptureMode(&mode));
  ok(cuEventCreate(&event, 0));
  pthread_create(&thread, NULL, capture_always, event);
  for (int k = 0; k < 500; k++) {
    ok(cuModuleLoadData(&module, k % 2 ? PTX_ORDER : PTX_COUNTING));
    (void)function_of(module);
    ok(cuStreamBeginCapture_v2(waiting, 2));
    ok(end(waiting, false));
    ok(cuModuleUnload(module));
  }
  stop = true;
  pthread_join(thread, NULL);
  expect_own("they come between");
  ok(cuThreadExchangeStreamCaptureMode(&mode));
}

int main(int argc, char **argv) {
  steers = argc > 1 && argv[1][0] == 's';
  now = "start";
  pthread_barrier_init(&both, NULL, 2);
  ok(cuInit(0));
  fake_context(2);
  ok(cuStreamCreate(&elsewhere, BLOCKING));
  ok(cuStreamCreate(&free_elsewhere, CU_STREAM_NON_BLOCKING));
  fake_context(1);
  ok(cuStreamCreate(&blocking, BLOCKING));
  ok(cuStreamCreate(&free_one, CU_STREAM_NON_BLOCKING));
  ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ok(cuStreamCreate(&waiting, BLOCKING));
  ok(cuStreamCreateWithPriority(&drawn, BLOCKING, 0));
  ok(cuStreamCreateWithPriority(&free_drawn, CU_STREAM_NON_BLOCKING, 0));
  ok(cuMemAlloc_v2(&out, 64));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int mode = 0; mode < 3; mode++) try_row(&rows[k], mode);
  invalidated(NULL, false);
  invalidated((cu_stream)LEGACY, false);
  invalidated((cu_stream)LEGACY, true);
  for (int mode = 0; mode < 3; mode++) unseen(mode);
  machine_code();
  no_endings();
  stream_goes();
  legacy_works(blocking, true);
  legacy_works(free_one, true);
  legacy_works(free_one, false);
  legacy_works(elsewhere, true);
  legacy_works(elsewhere, false);
  other_legacy_works();
  another_threads_own(false);
  another_threads_own(true);
  captures_come_between();
  if (!failed) puts("captured: ok");
  return failed;
}
