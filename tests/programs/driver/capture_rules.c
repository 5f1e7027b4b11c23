/* What each entry point does about captures of streams: every row of both tables, in every mode, from the
 * thread that captures and from another one, beside a blocking stream and one that does not block. */
// check: none
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "cu.h"

typedef enum rule {
  FREE,
  RECORDED,
  DEFAULT,
  OUTSIDE,
  BATCH,
  WAITS,
  POOL,
  EVENT,
  CONTEXT,
  UNSAFE,
  CHECKED
} rule;
enum { GLOBAL = 0, THREAD_LOCAL, RELAXED, MODES };
enum {
  INVALID_VALUE = 1,
  UNSUPPORTED = 900,
  INVALIDATED = 901,
  MERGE,
  ISOLATION = 905,
  IMPLICIT,
  CAPTURED_EVENT,
  WRONG_THREAD,
  ILLEGAL_STATE = 401
};

typedef struct row {
  const char *name, *parameters;
  rule rule;
} row;
static const row rows[] = {
#define CU_ENTRY(symbol, version, variant, stream, run, needs, captures, parameters, arguments)              \
  {#symbol, #parameters, captures},
#include "abi/driver.def"
#define RT_ENTRY(name, needs, variant, captures, parameters, arguments) {#name, #parameters, captures},
#include "cuda/runtime/entries.def"
};

typedef int any_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                     uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l, uint64_t m, uint64_t n);
typedef struct call {
  any_call *fn;
  uint64_t a[14];
  cu_context context;
  int result;
} call;

static void *make(void *arg) {
  call *c = arg;
  const uint64_t *a = c->a;
  OK(cuCtxSetCurrent(c->context));
  c->result = c->fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
  OK(cuCtxSetCurrent(c->context));
  return NULL;
}

static void on_another_thread(call *c) {
  pthread_t t;
  CHECK(pthread_create(&t, NULL, make, c) == 0 && pthread_join(t, NULL) == 0);
}

/* All arguments are 0, but for streams and events, and what allocations of pools must be given to come so
 * far. */
static void fill(call *c, rule rule, const char *parameters, cu_stream stream, cu_event event) {
  static void *place;
  char text[600];
  int k = 0;
  snprintf(text, sizeof text, "%s", parameters);
  memset(c->a, 0, sizeof c->a);
  for (char *rest = text, *p; k < 14 && (p = strsep(&rest, ",")); k++) {
    if (strstr(p, "cu_stream *") || strstr(p, "cu_event *") || strstr(p, "callback")) continue;
    if (rule == POOL && strstr(p, "**p")) c->a[k] = (uintptr_t)&place;
    if (rule == POOL && strstr(p, "bytes")) c->a[k] = 64;
    if (strstr(p, "stream")) c->a[k] = (uintptr_t)stream;
    if (strstr(p, "cu_event ")) c->a[k] = (uintptr_t)event;
  }
}

static bool forbids(int mode, bool other) { return other ? mode == GLOBAL : mode != RELAXED; }

/* The result that the rule asks for; 0: none that has to do with captures. `captured`: the call names the
 * stream that is captured, or an event of it; otherwise others. */
static int wanted(rule r, int mode, bool other, bool blocking, bool captured) {
  const int unsafe = forbids(mode, other) ? UNSUPPORTED : 0;
  switch (r) {
  case FREE:
  case RECORDED:
  case CHECKED: return 0; /* all parameters are wrong */
  case DEFAULT: return blocking ? IMPLICIT : 0;
  case OUTSIDE:
  case BATCH: return captured ? UNSUPPORTED : 0;
  case CONTEXT: return UNSUPPORTED;
  case WAITS: return captured ? UNSUPPORTED : unsafe;
  case POOL: return captured ? 0 : unsafe;
  case EVENT: return captured ? CAPTURED_EVENT : unsafe;
  case UNSAFE: return unsafe;
  }
  return -1;
}

/* Whether the rule asks what stream or event the call names. */
static bool names(rule r) {
  return r == OUTSIDE || r == BATCH || r == WAITS || r == POOL || r == EVENT || r == RECORDED;
}

static bool of_captures(int result) { return result >= 900 && result <= 908; }

typedef struct setting {
  cu_context context;
  cu_event event, captured;
  cu_stream streams[2], other; /* other: that is not captured */
} setting;

static int check(const setting *s, const row *r, int mode, bool other, bool blocking, bool captured) {
  const rule rule = r->rule;
  const cu_stream stream = s->streams[blocking];
  call c = {.context = s->context};
  cu_graph graph;
  void *fn = dlsym(RTLD_DEFAULT, r->name);
  if (!fn) {
    printf("%s: no such function\n", r->name);
    return 1;
  }
  memcpy(&c.fn, &fn, sizeof fn);
  OK(cuStreamBeginCapture_v2(stream, mode));
  OK(cuEventRecord(s->captured, stream));
  fill(&c, rule, r->parameters,
       !names(rule) ? NULL
       : captured   ? stream
                    : s->other,
       rule != EVENT ? NULL
       : captured    ? s->captured
                     : s->event);
  if (other)
    on_another_thread(&c);
  else
    make(&c);
  const int want = wanted(rule, mode, other, blocking, captured), end = cuStreamEndCapture(stream, &graph);
  if (end == 0) OK(cuGraphDestroy(graph));
  const bool stream_0 = strstr(r->name, "Capture") != NULL; /* of the default stream: its own rules */
  const bool right = want ? c.result == want : stream_0 || !of_captures(c.result);
  if (right && end == (want && rule != BATCH ? INVALIDATED : 0)) return 0;
  printf("%s, mode %d, %s thread, %s stream%s: %d, not %d; then the end: %d\n", r->name, mode,
         other ? "another" : "the same", blocking ? "a blocking" : "a non-blocking",
         captured ? ", in it" : "", c.result, want, end);
  return 1;
}

static int check_row(const setting *s, const row *r) {
  int wrong = 0;
  for (int way = 0; way < MODES * 8; way++) {
    const bool blocking = way / MODES & 1, other = way / MODES & 2, captured = way / MODES & 4;
    if (captured && (!names(r->rule) || (blocking && r->rule == RECORDED))) continue;
    wrong += check(s, r, way % MODES, other, blocking, captured);
  }
  return wrong;
}

/* ---- Rules of captures themselves ---------------------------------------------------------------------- */

static void *end_it(void *arg) {
  cu_graph graph;
  const setting *s = arg;
  OK(cuCtxSetCurrent(s->context));
  EXPECT(cuStreamEndCapture(s->streams[0], &graph), WRONG_THREAD);
  return NULL;
}

static void ends(const setting *s) {
  cu_graph graph;
  pthread_t t;
  OK(cuStreamBeginCapture_v2(s->streams[0], THREAD_LOCAL));
  CHECK(pthread_create(&t, NULL, end_it, (void *)s) == 0 && pthread_join(t, NULL) == 0);
  EXPECT(cuStreamEndCapture(s->streams[0], &graph), ILLEGAL_STATE); /* that ended it */
}

static void expect_lost(cu_stream stream) {
  cu_graph graph;
  EXPECT(cuStreamEndCapture(stream, &graph), INVALIDATED);
}

/* What a stream may wait for, and what loses captures. */
static void waits(const setting *s) {
  cu_graph graph;
  cu_event never;
  cu_stream const a = s->streams[0], b = s->streams[1];
  OK(cuEventCreate(&never, 0));
  OK(cuEventRecord(s->event, s->other));
  OK(cuStreamBeginCapture_v2(a, RELAXED));
  OK(cuStreamWaitEvent(a, never, 0)); /* there is nothing to wait for */
  OK(cuStreamEndCapture(a, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuStreamBeginCapture_v2(a, RELAXED));
  EXPECT(cuStreamWaitEvent(a, s->event, 0), ISOLATION);
  expect_lost(a);
  OK(cuStreamBeginCapture_v2(a, RELAXED));
  OK(cuStreamBeginCapture_v2(b, RELAXED));
  OK(cuEventRecord(s->captured, a));
  EXPECT(cuStreamWaitEvent(b, s->captured, 0), MERGE);
  expect_lost(a);
  expect_lost(b);
  OK(cuStreamBeginCapture_v2(a, RELAXED));
  OK(cuEventRecord(s->captured, a));
  EXPECT(cuStreamWaitEvent(NULL, s->captured, 0), IMPLICIT);
  expect_lost(a);
  OK(cuEventRecord(s->captured, s->other)); /* no longer an event of a capture */
  OK(cuEventSynchronize(s->captured));
  OK(cuEventDestroy_v2(never));
}

/* Events outside of the graph: its nodes wait for them and record them, each time that it runs. */
static void externals(const setting *s) {
  enum { EXTERNAL = 1 };
  cu_graph_exec exec;
  cu_graph graph;
  cu_address p;
  float ms = -1;
  uint32_t seen = 0;
  EXPECT(cuStreamWaitEvent(s->other, s->event, EXTERNAL), INVALID_VALUE);
  EXPECT(cuEventRecordWithFlags(s->event, s->other, EXTERNAL), INVALID_VALUE);
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuStreamBeginCapture_v2(s->streams[0], GLOBAL));
  OK(cuStreamWaitEvent(s->streams[0], s->event, EXTERNAL));
  OK(cuMemsetD32Async(p, 5, 1, s->streams[0]));
  OK(cuEventRecordWithFlags(s->captured, s->streams[0], EXTERNAL));
  OK(cuStreamEndCapture(s->streams[0], &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuMemsetD32Async(p, 4, 1, s->other));
  OK(cuEventRecord(s->event, s->other));
  OK(cuGraphLaunch(exec, s->streams[0]));
  OK(cuEventSynchronize(s->captured));
  OK(cuMemcpyDtoH_v2(&seen, p, 4));
  CHECK(seen == 5);
  OK(cuEventElapsedTime_v2(&ms, s->event, s->captured));
  CHECK(ms >= 0);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuMemFree_v2(p));
}

/* Values that a captured stream writes are written by the graph. */
static void values(const setting *s) {
  cu_graph_exec exec;
  cu_graph graph;
  cu_address p;
  uint32_t seen = 0;
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuMemsetD8_v2(p, 0, 64));
  OK(cuStreamBeginCapture_v2(s->streams[0], GLOBAL));
  OK(cuStreamWriteValue32_v2(s->streams[0], p, 7, 0));
  OK(cuStreamWaitValue32_v2(s->streams[0], p, 7, 1));
  OK(cuStreamWriteValue32_v2(s->streams[0], p + 4, 8, 0));
  OK(cuStreamEndCapture(s->streams[0], &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuMemcpyDtoH_v2(&seen, p, 4));
  CHECK(!seen);
  OK(cuGraphLaunch(exec, s->streams[0]));
  OK(cuStreamSynchronize(s->streams[0]));
  OK(cuMemcpyDtoH_v2(&seen, p + 4, 4));
  CHECK(seen == 8);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuMemFree_v2(p));
}

/* A thread's mode lets it do what a capture forbids, but never more than its own captures. */
static void exchanged(const setting *s) {
  cu_graph graph;
  cu_address p;
  int mode = RELAXED, status;
  OK(cuStreamBeginCapture_v2(s->streams[1], GLOBAL));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == GLOBAL);
  OK(cuMemAlloc_v2(&p, 4));
  EXPECT(cuStreamIsCapturing(NULL, &status), IMPLICIT); /* asked of the default stream: nothing is lost */
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == RELAXED);
  OK(cuStreamIsCapturing(s->streams[1], &status));
  CHECK(status == 1);
  EXPECT(cuMemFree_v2(p), UNSUPPORTED);
  OK(cuStreamIsCapturing(s->streams[1], &status));
  CHECK(status == 2);
  EXPECT(cuStreamEndCapture(s->streams[1], &graph), INVALIDATED);
  OK(cuMemFree_v2(p));
}

int main(void) {
  setting s = {.context = begin()};
  int wrong = 0;
  OK(cuStreamCreate(&s.streams[0], 1));
  OK(cuStreamCreate(&s.streams[1], 0));
  OK(cuEventCreate(&s.event, 0));
  OK(cuEventCreate(&s.captured, 0));
  OK(cuStreamCreate(&s.other, 1));
  ends(&s);
  waits(&s);
  externals(&s);
  values(&s);
  exchanged(&s);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) wrong += check_row(&s, &rows[k]);
  CHECK(!wrong);
  puts("captures: as the tables say");
  return 0;
}
