/* Streams under capture. Whether work goes on in one cannot be asked; but none is added while it is captured,
 * so that one which was idle as it was captured still is. The legacy stream cannot be asked, nor get work,
 * while one that blocks it is captured. */
#include <string.h>

#include "run/watch.h"

enum { LEGACY = 1, OWN = 2, ACTIVE = 1 }; /* default streams; CUstreamCaptureStatus */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HD_VEC(struct idle_stream {
  run_handle stream;
  uint64_t id; /* of the capture */
  bool frozen; /* the legacy stream was idle, too, and gets no work */
}) idle;
static atomic_uint captures; /* that go on */

void run_captures_forked(void) { pthread_mutex_init(&lock, NULL); }

/* The number of its capture; 0: there is none. */
static uint64_t capture_of(run_handle stream) {
  int status = 0;
  uint64_t id = 0;
  int (*const ask)(run_handle, int *, uint64_t *, run_handle *, run_handle **, size_t *) =
      run_real.cuStreamGetCaptureInfo_v2;
  return ask && ask(stream, &status, &id, NULL, NULL, NULL) == RUN_SUCCESS && status == ACTIVE ? id : 0;
}

bool run_capture_began_idle(run_handle stream) {
  const uint64_t id = capture_of(stream);
  bool is = false;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; id && k < idle.n; k++) is |= idle.data[k].stream == stream && idle.data[k].id == id;
  pthread_mutex_unlock(&lock);
  return is;
}

static bool is_frozen(uint64_t id) {
  bool is = false;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < idle.n; k++) is |= idle.data[k].id == id && idle.data[k].frozen;
  pthread_mutex_unlock(&lock);
  return is;
}

/* One place for each stream: what was there is of a capture that is over. */
static void keep(struct idle_stream now) {
  size_t k = 0;
  pthread_mutex_lock(&lock);
  while (k < idle.n && idle.data[k].stream != now.stream) k++;
  if (k < idle.n)
    idle.data[k] = now;
  else
    hd_vec_push(&idle, now);
  pthread_mutex_unlock(&lock);
}

typedef struct before {
  run_handle stream;
  bool idle, legacy; /* whether that was idle, and the legacy stream */
} before;

static bool has_no_work(run_handle stream) {
  return !run_is_captured(&(run_launch){.stream = stream}) && run_real.cuStreamQuery(stream) == RUN_SUCCESS;
}

static before look(run_handle stream, bool per_thread) {
  int mode = RUN_CAPTURE_RELAXED;
  before b = {per_thread && !stream ? (run_handle)OWN : stream, false, false};
  const run_driver *d = &run_real;
  if (!run_tracks || !d->cuStreamQuery || !d->cuStreamIsCapturing || !d->cuThreadExchangeStreamCaptureMode ||
      d->cuThreadExchangeStreamCaptureMode(&mode) != RUN_SUCCESS)
    return b;
  b.idle = has_no_work(b.stream);
  b.legacy = has_no_work((run_handle)LEGACY);
  d->cuThreadExchangeStreamCaptureMode(&mode);
  return b;
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static int begun(int r, before b) {
  if (r != RUN_SUCCESS) return r;
  atomic_fetch_add(&captures, 1);
  const uint64_t id = b.idle && b.legacy ? capture_of(b.stream) : 0;
  if (id)
    keep((struct idle_stream){b.stream, id, run_is_captured(&(run_launch){.stream = (run_handle)LEGACY})});
  return r;
}

int run_cuStreamBeginCapture_v2(run_handle stream, int mode) {
  const before b = look(stream, false);
  return begun(run_real.cuStreamBeginCapture_v2(stream, mode), b);
}
int run_cuStreamBeginCapture_v2_ptsz(run_handle stream, int mode) {
  const before b = look(stream, true);
  return begun(run_real.cuStreamBeginCapture_v2_ptsz(stream, mode), b);
}
int run_cuStreamBeginCaptureToGraph(run_handle stream, run_handle graph, const run_handle *after,
                                    const void *edges, size_t n, int mode) {
  const before b = look(stream, false);
  return begun(run_real.cuStreamBeginCaptureToGraph(stream, graph, after, edges, n, mode), b);
}
int run_cuStreamBeginCaptureToGraph_ptsz(run_handle stream, run_handle graph, const run_handle *after,
                                         const void *edges, size_t n, int mode) {
  const before b = look(stream, true);
  return begun(run_real.cuStreamBeginCaptureToGraph_ptsz(stream, graph, after, edges, n, mode), b);
}

static int ended(int r) {
  unsigned n = atomic_load(&captures);
  while (n && !atomic_compare_exchange_weak(&captures, &n, n - 1)) continue;
  return r;
}
int run_cuStreamEndCapture(run_handle stream, run_handle *graph) {
  return ended(run_real.cuStreamEndCapture(stream, graph));
}
int run_cuStreamEndCapture_ptsz(run_handle stream, run_handle *graph) {
  return ended(run_real.cuStreamEndCapture_ptsz(stream, graph));
}

/* An event of a capture draws the stream into that. */
static int waits(int (*real)(run_handle, run_handle, unsigned), run_handle stream, run_handle event,
                 unsigned flags, bool per_thread) {
  if (!atomic_load_explicit(&captures, memory_order_relaxed)) return real(stream, event, flags);
  const before b = look(stream, per_thread);
  const int r = real(stream, event, flags);
  const uint64_t id = r == RUN_SUCCESS && b.idle ? capture_of(b.stream) : 0;
  if (id && (b.legacy || is_frozen(id))) keep((struct idle_stream){b.stream, id, false});
  return r;
}
int run_cuStreamWaitEvent(run_handle stream, run_handle event, unsigned flags) {
  return waits(run_real.cuStreamWaitEvent, stream, event, flags, false);
}
int run_cuStreamWaitEvent_ptsz(run_handle stream, run_handle event, unsigned flags) {
  return waits(run_real.cuStreamWaitEvent_ptsz, stream, event, flags, true);
}
