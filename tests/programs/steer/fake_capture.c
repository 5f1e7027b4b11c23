/* Captures in the driver that does nothing, by the rules of the driver's documentation: what it must answer
 * with an error on account of a capture, it does, and counts. While a stream that blocks is captured, the
 * legacy stream of its context is frozen: to ask for its captures is an error, and whatever else needs it
 * ends the capture, as asking for the work of a captured stream does, and in other modes than the relaxed one
 * calls that may disturb a capture. */
#include "fake.h"

#include <pthread.h>

#define EXPORT __attribute__((visibility("default")))
enum {
  LEGACY = 1,
  OWN = 2,
  MOST = 64,
  CAPTURES = 256,
  NONE = 0,
  ACTIVE = 1,
  INVALID = 2,
  GLOBAL = 0,
  RELAXED = 2
};
enum { UNSUPPORTED = 900, INVALIDATED = 901, UNMATCHED = 903, IMPLICIT = 906, NO_CAPTURE = 401, FAILED = 2 };

/* A stream under capture. */
typedef struct stream {
  cu_stream handle;
  pthread_t thread; /* whose own it is */
  unsigned long long context;
  bool blocks;
  unsigned capture; /* 0: it is under none */
  bool begun;       /* which began there */
} stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream captured[MOST];
static struct capture {
  bool goes_on, invalid;
  int mode;
  pthread_t thread;
} captures[CAPTURES]; /* by their numbers, which come round */
static unsigned n_captures;
static atomic_uint going_on;
static struct {
  cu_event event;
  unsigned capture;
} recorded[MOST];
static atomic_ulong refused;
static _Thread_local int thread_mode;
static _Thread_local unsigned long long current = 1;

EXPORT unsigned long fake_refused(void) { return refused; }
EXPORT void fake_context(unsigned long long context) { current = context; }
unsigned long long fake_current(void) { return current; }

static int refuse(int r) {
  refused++;
  return r;
}

/* ---- Under the lock ---------------------------------------------------------------------------- */

static bool is_legacy(cu_stream h, bool per_thread) { return h == (cu_stream)LEGACY || (!h && !per_thread); }

static stream stream_of(cu_stream h, bool per_thread) {
  stream s = {.handle = !h ? (cu_stream)OWN : h, .context = current, .blocks = true};
  if (s.handle == (cu_stream)OWN)
    s.thread = pthread_self();
  else
    fake_stream(h, &s.context, &s.blocks);
  return s;
}

/* Its place among those that are captured; MOST: it is not. */
static int place_of(const stream *s) {
  for (int k = 0; k < MOST; k++) {
    const stream *c = &captured[k];
    if (c->capture && c->handle == s->handle && c->context == s->context &&
        (s->handle != (cu_stream)OWN || pthread_equal(c->thread, s->thread)))
      return k;
  }
  return MOST;
}

/* Whether the current context's legacy stream is frozen; `ends`: the captures that freeze it end. */
static bool is_frozen(bool ends) {
  bool is = false;
  for (int k = 0; k < MOST; k++) {
    if (!captured[k].capture || !captured[k].blocks || captured[k].context != current) continue;
    is = true;
    if (ends) captures[captured[k].capture % CAPTURES].invalid = true;
  }
  return is;
}

static int come_in(stream s, unsigned capture, bool begun) {
  for (int k = 0; k < MOST; k++) {
    if (captured[k].capture) continue;
    s.capture = capture;
    s.begun = begun;
    captured[k] = s;
    return 0;
  }
  return FAILED;
}

/* ---- For fake.c -------------------------------------------------------------------------------- */

/* 0, or the error that a call is refused with which puts something into the stream, or asks for its work. */
static int use(cu_stream h, bool per_thread, bool asks) {
  int r = 0;
  if (!going_on) return 0;
  pthread_mutex_lock(&lock);
  if (is_legacy(h, per_thread)) {
    if (is_frozen(true)) r = refuse(IMPLICIT);
  } else {
    const stream s = stream_of(h, per_thread);
    const int k = place_of(&s);
    struct capture *c = k < MOST ? &captures[captured[k].capture % CAPTURES] : NULL;
    if (c && (asks || c->invalid)) {
      r = refuse(c->invalid ? INVALIDATED : UNSUPPORTED);
      c->invalid = true;
    }
  }
  pthread_mutex_unlock(&lock);
  return r;
}
int fake_use(cu_stream h, bool per_thread) { return use(h, per_thread, false); }
int fake_ask(cu_stream h) { return use(h, false, true); }

/* The same for one that may disturb a capture. */
int fake_disturb(void) {
  int r = 0;
  if (!going_on || thread_mode == RELAXED) return 0;
  pthread_mutex_lock(&lock);
  for (unsigned k = 0; k < CAPTURES; k++) {
    struct capture *c = &captures[k];
    const bool mine = pthread_equal(c->thread, pthread_self());
    if (!c->goes_on || c->mode == RELAXED || (!mine && (c->mode != GLOBAL || thread_mode != GLOBAL)))
      continue;
    c->invalid = true;
    r = UNSUPPORTED;
  }
  pthread_mutex_unlock(&lock);
  return r ? refuse(r) : 0;
}

void fake_record(cu_event event, cu_stream h, bool per_thread) {
  static int next;
  if (!going_on || is_legacy(h, per_thread)) return;
  pthread_mutex_lock(&lock);
  const stream s = stream_of(h, per_thread);
  const int k = place_of(&s);
  int at = 0;
  while (at < MOST && recorded[at].event != event) at++;
  if (at == MOST) at = next++ % MOST;
  recorded[at].event = event;
  recorded[at].capture = k < MOST ? captured[k].capture : 0;
  pthread_mutex_unlock(&lock);
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static int begin(cu_stream h, bool per_thread, int mode) {
  int r = fake_call();
  if (r) return r;
  pthread_mutex_lock(&lock);
  const stream s = stream_of(h, per_thread);
  if (is_legacy(h, per_thread)) {
    r = refuse(UNSUPPORTED);
  } else if (place_of(&s) < MOST) {
    r = FAILED;
  } else if (!(r = come_in(s, n_captures + 1, true))) {
    captures[++n_captures % CAPTURES] = (struct capture){true, false, mode, pthread_self()};
    going_on++;
  }
  pthread_mutex_unlock(&lock);
  fake_linger();
  return r;
}
EXPORT int fake_begin_unseen(cu_stream h, int mode) { return begin(h, false, mode); }
#define BEGINS(symbol, parameters, mode)                                                                     \
  EXPORT int symbol parameters { return begin(stream, false, mode); }                                        \
  EXPORT int symbol##_ptsz parameters { return begin(stream, true, mode); }
BEGINS(cuStreamBeginCapture, (cu_stream stream), GLOBAL)
BEGINS(cuStreamBeginCapture_v2, (cu_stream stream, int mode), mode)
BEGINS(cuStreamBeginCaptureToGraph,
       (cu_stream stream, cu_graph graph, cu_node *after, const void *edges, size_t n, int mode), mode)
BEGINS(cuStreamBeginRecaptureToGraph, (cu_stream stream, int mode, cu_graph graph, void *differs, void *data),
       mode)

/* Under the lock: the capture of this place ends. */
static int end_of(int k) {
  const unsigned capture = captured[k].capture;
  captures[capture % CAPTURES].goes_on = false;
  for (int i = 0; i < MOST; i++)
    if (captured[i].capture == capture) captured[i].capture = 0;
  going_on--;
  return captures[capture % CAPTURES].invalid ? INVALIDATED : 0;
}

static int end(cu_stream h, bool per_thread, cu_graph *graph) {
  int r = fake_call();
  if (r) return r;
  *graph = NULL;
  pthread_mutex_lock(&lock);
  const stream s = stream_of(h, per_thread);
  const int k = is_legacy(h, per_thread) ? MOST : place_of(&s);
  r = k == MOST ? NO_CAPTURE : captured[k].begun ? end_of(k) : UNMATCHED;
  if (r >= UNSUPPORTED) refuse(r);
  pthread_mutex_unlock(&lock);
  return r;
}
EXPORT int fake_end_unseen(cu_stream h) { return end(h, false, &(cu_graph){NULL}); }
EXPORT int cuStreamEndCapture(cu_stream stream, cu_graph *graph) { return end(stream, false, graph); }
EXPORT int cuStreamEndCapture_ptsz(cu_stream stream, cu_graph *graph) { return end(stream, true, graph); }

EXPORT int cuStreamDestroy_v2(cu_stream h) {
  if (!going_on) return 0;
  pthread_mutex_lock(&lock);
  const stream s = stream_of(h, false);
  if (place_of(&s) < MOST) end_of(place_of(&s));
  pthread_mutex_unlock(&lock);
  return 0;
}

static int wait_for(cu_stream h, cu_event event, bool per_thread) {
  int r = fake_call();
  if (r || !going_on) return r;
  pthread_mutex_lock(&lock);
  unsigned capture = 0;
  for (int k = 0; k < MOST; k++)
    if (event && recorded[k].event == event) capture = recorded[k].capture;
  const stream s = stream_of(h, per_thread);
  if (is_legacy(h, per_thread))
    r = capture || is_frozen(true) ? refuse(IMPLICIT) : 0;
  else if (capture && captures[capture % CAPTURES].goes_on && place_of(&s) == MOST)
    r = come_in(s, capture, false);
  pthread_mutex_unlock(&lock);
  return r;
}
EXPORT int cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  fake_waits_in(stream);
  return wait_for(stream, event, false);
}
EXPORT int cuStreamWaitEvent_ptsz(cu_stream stream, cu_event event, unsigned flags) {
  return wait_for(stream, event, true);
}

static int tell(cu_stream h, bool per_thread, int *status, uint64_t *id) {
  int r = fake_call();
  if (r) return r;
  *status = NONE;
  if (!going_on) return 0;
  pthread_mutex_lock(&lock);
  if (is_legacy(h, per_thread)) {
    if (is_frozen(false)) r = refuse(IMPLICIT);
  } else {
    const stream s = stream_of(h, per_thread);
    const int k = place_of(&s);
    if (k < MOST) *status = captures[captured[k].capture % CAPTURES].invalid ? INVALID : ACTIVE;
    if (*status == ACTIVE && id) *id = captured[k].capture;
  }
  pthread_mutex_unlock(&lock);
  fake_linger();
  return r;
}
EXPORT int cuStreamIsCapturing(cu_stream stream, int *status) { return tell(stream, false, status, NULL); }
EXPORT int cuStreamIsCapturing_ptsz(cu_stream stream, int *status) {
  return tell(stream, true, status, NULL);
}
EXPORT int cuStreamGetCaptureInfo_v2(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                     cu_node **after, size_t *n) {
  return tell(stream, false, status, id);
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
  const int r = fake_call(), old = thread_mode;
  if (r) return r;
  thread_mode = *mode;
  *mode = old;
  return 0;
}
