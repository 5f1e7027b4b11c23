/* Streams under capture. Whether work goes on in one cannot be asked; but none is added while it is captured,
 * so that one which was idle as it was captured still is. The legacy stream of a context is frozen while one
 * that blocks it is captured: it gets no work, and the driver answers with an error whoever asks for its work
 * or its captures, which tools that watch the driver would show as the program's. So it is not asked then.
 *
 * Captures begin and spread within the gate, and it is closed while the driver is asked whether a stream has
 * work: were that captured meanwhile, asking would end the capture. */
#include <string.h>

#include "run/watch.h"

typedef struct member {
  cu_stream stream;
  uint64_t thread;            /* whose own default stream it is; 0: it is none */
  unsigned long long context; /* 0: not known */
  uint64_t capture;           /* its number; 0: not known */
  bool begun;                 /* the capture began there, and ends there */
  bool blocks;                /* the context's legacy stream is frozen */
  bool idle, legacy; /* it had no work as it came in; it blocks the legacy stream, and nor had that */
} member;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HD_VEC(member) all;
static atomic_size_t members, blocking; /* how many of them there are */

/* ---- What is known ----------------------------------------------------------------------------- */

/* Under the lock. */
static void count(void) {
  size_t n = 0;
  for (size_t k = 0; k < all.n; k++) n += all.data[k].blocks;
  atomic_store(&members, all.n);
  atomic_store(&blocking, n);
}

void run_captures_forked(void) {
  pthread_mutex_init(&lock, NULL);
  all.n = 0;
  count();
}

static member member_of(cu_stream stream, bool per_thread) {
  if (!stream) stream = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (stream == CU_STREAM_PER_THREAD)
    return (member){
        .stream = stream, .thread = run_thread_number(), .context = run_context(), .blocks = true};
  const run_stream s = run_stream_of(stream);
  return (member){.stream = stream, .context = s.context, .blocks = s.blocks};
}

static bool is_same(const member *a, const member *b) {
  return a->stream == b->stream && a->thread == b->thread && (!a->thread || a->context == b->context);
}

/* NULL: it is in no capture that is known. Under the lock. */
static member *find(const member *m) {
  for (size_t k = 0; k < all.n; k++)
    if (is_same(&all.data[k], m)) return &all.data[k];
  return NULL;
}

static bool is_known(const member *m) {
  pthread_mutex_lock(&lock);
  const bool is = find(m) != NULL;
  pthread_mutex_unlock(&lock);
  return is;
}

/* A stream that comes in. An entry of it that is there is of a capture that ended unseen. */
static void put(const member *m) {
  pthread_mutex_lock(&lock);
  member *was = find(m);
  if (was)
    *was = *m;
  else
    hd_vec_push(&all, *m);
  count();
  pthread_mutex_unlock(&lock);
}

/* With one in which a capture began, all that are in it leave. Under the lock. */
static void leave(size_t k) {
  const member gone = all.data[k];
  all.data[k] = all.data[--all.n];
  for (size_t i = 0; gone.begun && gone.capture && i < all.n; i++)
    if (all.data[i].capture == gone.capture) all.data[i--] = all.data[--all.n];
}

static void leave_all(bool (*goes)(const member *m, const void *ctx), const void *ctx) {
  if (!atomic_load(&members)) return;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < all.n;) {
    if (goes(&all.data[k], ctx)) {
      leave(k);
      k = 0;
    } else {
      k++;
    }
  }
  count();
  pthread_mutex_unlock(&lock);
}

static bool is_stream(const member *m, const void *ctx) {
  return !m->thread && m->stream == *(const cu_stream *)ctx;
}
static bool is_in(const member *m, const void *ctx) { return m->context == *(const unsigned long long *)ctx; }
void run_captures_stream_gone(cu_stream stream) { leave_all(is_stream, &stream); }
void run_captures_context_gone(unsigned long long context) { leave_all(is_in, &context); }

bool run_legacy_is_frozen(void) {
  if (!atomic_load_explicit(&blocking, memory_order_relaxed)) return false;
  const unsigned long long current = run_context();
  bool is = false;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < all.n; k++) {
    const member *m = &all.data[k];
    is = is || (m->blocks && (!current || !m->context || m->context == current));
  }
  pthread_mutex_unlock(&lock);
  return is;
}

/* A stream of the capture froze the context's legacy stream when that was idle. */
static bool keeps_legacy_idle(uint64_t capture, unsigned long long context) {
  bool is = false;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < all.n; k++) {
    const member *m = &all.data[k];
    is = is || (m->legacy && m->capture == capture && m->context == context);
  }
  pthread_mutex_unlock(&lock);
  return is;
}

/* ---- The driver -------------------------------------------------------------------------------- */

bool run_capture_asked(cu_stream stream) {
  int status = CU_CAPTURE_STATUS_ACTIVE;
  return !run_real.cuStreamIsCapturing || run_real.cuStreamIsCapturing(stream, &status) != CU_SUCCESS ||
         status;
}

/* The number of its capture; 0: there is none. Not of the legacy stream. */
static uint64_t capture_of(cu_stream stream) {
  int status = 0;
  uint64_t id = 0;
  fn_cuStreamGetCaptureInfo_v2 *const ask = run_real.cuStreamGetCaptureInfo_v2;
  return ask && ask(stream, &status, &id, NULL, NULL, NULL) == CU_SUCCESS &&
                 status == CU_CAPTURE_STATUS_ACTIVE
             ? id
             : 0;
}

bool run_capture_began_idle(cu_stream stream, bool legacy) {
  if (!atomic_load(&members)) return false;
  const member m = member_of(stream, false);
  const uint64_t id = capture_of(stream);
  pthread_mutex_lock(&lock);
  const member *known = find(&m);
  const bool is = id && known && known->capture == id && known->idle && (known->legacy || !legacy);
  pthread_mutex_unlock(&lock);
  return is;
}

int run_captures_relax(void) {
  int mode = CU_CAPTURE_MODE_RELAXED;
  fn_cuThreadExchangeStreamCaptureMode *const exchange = run_real.cuThreadExchangeStreamCaptureMode;
  return exchange && exchange(&mode) == CU_SUCCESS ? mode : CU_CAPTURE_MODE_RELAXED;
}

void run_captures_restore(int mode) {
  if (mode != CU_CAPTURE_MODE_RELAXED) run_real.cuThreadExchangeStreamCaptureMode(&mode);
}

static bool has_no_work(cu_stream stream) {
  return !(stream == CU_STREAM_LEGACY && run_legacy_is_frozen()) && !run_capture_asked(stream) &&
         run_real.cuStreamQuery(stream) == CU_SUCCESS;
}

/* Within the gate: whether there is work in the stream, and in its legacy one. Where other threads are there,
 * too, nothing is asked, and there may be. */
static void look(member *m) {
  int mode = CU_CAPTURE_MODE_RELAXED;
  const run_driver *d = &run_real;
  if (!d->cuStreamQuery || !d->cuStreamIsCapturing || !d->cuThreadExchangeStreamCaptureMode ||
      !run_gate_try_close())
    return;
  if (d->cuThreadExchangeStreamCaptureMode(&mode) == CU_SUCCESS) {
    m->idle = has_no_work(m->stream);
    m->legacy = m->blocks && m->context && m->context == run_context() && has_no_work(CU_STREAM_LEGACY);
    d->cuThreadExchangeStreamCaptureMode(&mode);
  }
  run_gate_open();
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static member begin(cu_stream stream, bool per_thread) {
  member m = member_of(stream, per_thread);
  run_gate_enter();
  look(&m);
  return m;
}

static int begun(int r, member m) {
  if (r == CU_SUCCESS) {
    m.begun = true;
    m.capture = capture_of(m.stream);
    put(&m);
  }
  run_gate_leave();
  return r;
}

#define BEGIN(symbol, per_thread, parameters, arguments)                                                     \
  int run_##symbol parameters {                                                                              \
    if (!run_tracks) return run_real.symbol arguments;                                                       \
    const member m = begin(stream, per_thread);                                                              \
    return begun(run_real.symbol arguments, m);                                                              \
  }
#define BEGIN_BOTH(symbol, parameters, arguments)                                                            \
  BEGIN(symbol, false, parameters, arguments)                                                                \
  BEGIN(symbol##_ptsz, true, parameters, arguments)
BEGIN_BOTH(cuStreamBeginCapture, (cu_stream stream), (stream))
BEGIN_BOTH(cuStreamBeginCapture_v2, (cu_stream stream, int mode), (stream, mode))
BEGIN_BOTH(cuStreamBeginCaptureToGraph,
           (cu_stream stream, cu_graph graph, cu_node *after, const void *edges, size_t n, int mode),
           (stream, graph, after, edges, n, mode))
BEGIN_BOTH(cuStreamBeginRecaptureToGraph,
           (cu_stream stream, int mode, cu_graph graph, void *differs, void *data),
           (stream, mode, graph, differs, data))

/* One that cannot be ended here, or by this thread, goes on. */
static int ended(int r, cu_stream stream, bool per_thread) {
  if (!atomic_load(&members)) return r;
  const member m = member_of(stream, per_thread);
  if (r != CU_SUCCESS && (m.stream == CU_STREAM_LEGACY || run_capture_asked(m.stream))) return r;
  pthread_mutex_lock(&lock);
  const member *known = find(&m);
  if (known) leave((size_t)(known - all.data));
  count();
  pthread_mutex_unlock(&lock);
  return r;
}
int run_cuStreamEndCapture(cu_stream stream, cu_graph *graph) {
  return ended(run_real.cuStreamEndCapture(stream, graph), stream, false);
}
int run_cuStreamEndCapture_ptsz(cu_stream stream, cu_graph *graph) {
  return ended(run_real.cuStreamEndCapture_ptsz(stream, graph), stream, true);
}

/* An event of a capture draws the stream into that. */
static int waits(fn_cuStreamWaitEvent *real, cu_stream stream, cu_event event, unsigned flags,
                 bool per_thread) {
  if (!atomic_load_explicit(&members, memory_order_relaxed)) return real(stream, event, flags);
  member m = member_of(stream, per_thread);
  if (m.stream == CU_STREAM_LEGACY || is_known(&m)) return real(stream, event, flags);
  run_gate_enter();
  look(&m);
  const int r = real(stream, event, flags);
  m.capture = r == CU_SUCCESS ? capture_of(m.stream) : 0;
  m.legacy = m.legacy || (m.blocks && m.context && keeps_legacy_idle(m.capture, m.context));
  if (m.capture) put(&m);
  run_gate_leave();
  return r;
}
int run_cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  return waits(run_real.cuStreamWaitEvent, stream, event, flags, false);
}
int run_cuStreamWaitEvent_ptsz(cu_stream stream, cu_event event, unsigned flags) {
  return waits(run_real.cuStreamWaitEvent_ptsz, stream, event, flags, true);
}
