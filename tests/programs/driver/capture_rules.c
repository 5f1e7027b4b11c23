/* What each entry point does about captures of streams: every row of both tables, in every mode, from the
 * thread that captures and from another one, beside a blocking stream and one that does not block. */
// check: none
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "cu.h"

int cuStreamBeginCapture_v2(cu_handle stream, int mode);
int cuStreamEndCapture(cu_handle stream, cu_handle *graph);
int cuStreamIsCapturing(cu_handle stream, int *status);
int cuGraphDestroy(cu_handle graph);
int cuThreadExchangeStreamCaptureMode(int *mode);

typedef enum rule { FREE, RECORDED, DEFAULT, OUTSIDE, EVENT, CONTEXT, UNSAFE } rule;
enum { GLOBAL = 0, THREAD_LOCAL, RELAXED, MODES };
enum { UNSUPPORTED = 900, INVALIDATED, IMPLICIT = 906, CAPTURED_EVENT, WRONG_THREAD, NOT_SUPPORTED = 801 };

typedef struct row {
  const char *name, *parameters;
} row;
static const row rows[] = {
#define CU_ENTRY(symbol, needs, variant, parameters, arguments) {#symbol, #parameters},
#include "cuda/driver/entries.def"
#undef CU_ENTRY
#define RT_ENTRY(name, needs, variant, parameters, arguments) {#name, #parameters},
#include "cuda/runtime/entries.def"
};
static const struct {
  const char *name;
  rule rule;
} rules[] = {
#define CU_CAPTURES(symbol, rule) {#symbol, rule},
#include "cuda/driver/captures.def"
#define RT_CAPTURES(name, rule) {#name, rule},
#include "cuda/runtime/captures.def"
};

typedef int any_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                     uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l, uint64_t m, uint64_t n);
typedef struct call {
  any_call *fn;
  uint64_t a[14];
  cu_handle context;
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

/* All arguments are 0, but for streams and events. */
static void fill(call *c, const char *parameters, cu_handle stream, cu_handle event) {
  char text[600];
  int k = 0;
  snprintf(text, sizeof text, "%s", parameters);
  memset(c->a, 0, sizeof c->a);
  for (char *rest = text, *p; k < 14 && (p = strsep(&rest, ",")); k++) {
    if (strstr(p, "cu_stream *") || strstr(p, "cu_event *")) continue;
    if (strstr(p, "stream")) c->a[k] = (uintptr_t)stream;
    if (strstr(p, "cu_event ")) c->a[k] = (uintptr_t)event;
  }
}

static bool forbids(int mode, bool other) { return other ? mode == GLOBAL : mode != RELAXED; }

/* The result that the rule asks for; 0: none that has to do with captures. */
static int wanted(rule r, int mode, bool other, bool blocking, bool captured) {
  switch (r) {
  case FREE:
  case RECORDED: return 0;
  case DEFAULT: return blocking ? IMPLICIT : 0;
  case OUTSIDE:
  case CONTEXT: return UNSUPPORTED;
  case EVENT: return captured ? CAPTURED_EVENT : forbids(mode, other) ? UNSUPPORTED : 0;
  case UNSAFE: return forbids(mode, other) ? UNSUPPORTED : 0;
  }
  return -1;
}

static bool of_captures(int result) { return result >= 900 && result <= 908; }

typedef struct setting {
  cu_handle context, streams[2], event, captured;
} setting;

static int check(const setting *s, const row *r, rule rule, int mode, bool other, bool blocking,
                 bool captured) {
  const cu_handle stream = s->streams[blocking];
  call c = {.context = s->context};
  cu_handle graph;
  void *fn = dlsym(RTLD_DEFAULT, r->name);
  if (!fn) {
    printf("%s: no such function\n", r->name);
    return 1;
  }
  memcpy(&c.fn, &fn, sizeof fn);
  OK(cuStreamBeginCapture_v2(stream, mode));
  OK(cuEventRecord(s->captured, stream));
  const bool names = rule == RECORDED || rule == OUTSIDE || rule == EVENT;
  fill(&c, r->parameters, names ? stream : NULL, rule != EVENT ? NULL : captured ? s->captured : s->event);
  if (other)
    on_another_thread(&c);
  else
    make(&c);
  const int want = wanted(rule, mode, other, blocking, captured), end = cuStreamEndCapture(stream, &graph);
  if (end == 0) OK(cuGraphDestroy(graph));
  const bool stream_0 = strstr(r->name, "Capture") != NULL; /* of the default stream: its own rules */
  const bool right = want ? c.result == want : stream_0 || !of_captures(c.result);
  if (right && (end == (want ? INVALIDATED : 0) || c.result == NOT_SUPPORTED)) return 0;
  printf("%s, mode %d, %s thread, %s stream%s: %d, not %d; then the end: %d\n", r->name, mode,
         other ? "another" : "the same", blocking ? "a blocking" : "a non-blocking",
         captured ? ", in it" : "", c.result, want, end);
  return 1;
}

static int check_row(const setting *s, const row *r) {
  int wrong = 0, found = 0;
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
    if (strcmp(rules[k].name, r->name) != 0) continue;
    found++;
    for (int way = 0; way < MODES * 8; way++) {
      const rule rule = rules[k].rule;
      const bool blocking = way / MODES & 1, other = way / MODES & 2, captured = way / MODES & 4;
      if ((captured && rule != EVENT) || (blocking && rule == RECORDED)) continue;
      wrong += check(s, r, rule, way % MODES, other, blocking, captured);
    }
  }
  if (found != 1) printf("%s: %d rules\n", r->name, found);
  return wrong + (found != 1);
}

/* ---- Rules of captures themselves ---------------------------------------------------------------------- */

static void *end_it(void *arg) {
  cu_handle graph;
  const setting *s = arg;
  OK(cuCtxSetCurrent(s->context));
  EXPECT(cuStreamEndCapture(s->streams[0], &graph), WRONG_THREAD);
  return NULL;
}

static void ends(const setting *s) {
  cu_handle graph;
  pthread_t t;
  OK(cuStreamBeginCapture_v2(s->streams[0], THREAD_LOCAL));
  CHECK(pthread_create(&t, NULL, end_it, (void *)s) == 0 && pthread_join(t, NULL) == 0);
  OK(cuStreamEndCapture(s->streams[0], &graph));
  OK(cuGraphDestroy(graph));
}

/* A thread's mode lets it do what a capture forbids, but never more than its own captures. */
static void exchanged(const setting *s) {
  cu_handle graph;
  cu_ptr p;
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
  ends(&s);
  exchanged(&s);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) wrong += check_row(&s, &rows[k]);
  CHECK(!wrong);
  puts("captures: as the tables say");
  return 0;
}
