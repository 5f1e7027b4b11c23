/* Whether anything but the thread in this call can touch the GPU's memory. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/watch.h"

/* ---- Threads ----------------------------------------------------------------------------------- */

static atomic_bool has_threads; /* the program has made some; the driver's own and heddle's do not count */

/* Whether the code at this address is the driver's, or heddle's. */
static bool is_drivers(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
  void *driver;
  Dl_info of;
  memcpy(&driver, &run_real.cuDriverGetVersion, sizeof driver);
  if (dladdr(&run_lock, &of) && of.dli_fbase == info.dli_fbase) return true;
  return (driver && dladdr(driver, &of) && of.dli_fbase == info.dli_fbase) ||
         strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libnvidia-", 10) == 0 ||
         strncmp(name, "libcupti.so", 11) == 0 || strncmp(name, "libnvperf", 9) == 0;
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*begin)(void *), void *restrict argument) {
  static _Atomic(create_function *) cache;
  create_function *real = atomic_load_explicit(&cache, memory_order_relaxed);
  if (!real) {
    void *address = dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.34");
    if (!address) address = dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.2.5");
    if (!address) address = dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.17");
    memcpy(&real, &address, sizeof real);
    if (!real) return EAGAIN;
    atomic_store_explicit(&cache, real, memory_order_relaxed);
  }
  if (run_tracks && !is_drivers(__builtin_return_address(0)))
    atomic_store_explicit(&has_threads, true, memory_order_relaxed);
  return real(thread, attributes, begin, argument);
}

bool run_is_threaded(void) { return atomic_load_explicit(&has_threads, memory_order_relaxed); }

/* ---- The GPU ----------------------------------------------------------------------------------- */

/* The legacy stream waits for this one: while it is captured, that takes no work. */
static bool freezes_legacy(const run_stream *s) {
  return s->blocks && (s->handle == CU_STREAM_PER_THREAD || (s->context && s->context == run_context()));
}

/* Streams under capture, which cannot be asked: NULL where all were idle as their captures began, and are
 * left out then, with the legacy one (the first) where it is frozen. The driver is not asked of that where it
 * would speak of it with an error. */
static const char *leave_captured_out(run_stream *streams, size_t *n) {
  static const char *const why = "a stream is being captured";
  size_t kept = 1;
  bool frozen = false;
  for (size_t k = 1; k < *n; k++) {
    if (!run_capture_asked(streams[k].handle)) {
      streams[kept++] = streams[k];
      continue;
    }
    const bool freezes = freezes_legacy(&streams[k]);
    if (!run_capture_began_idle(streams[k].handle, freezes)) return why;
    frozen = frozen || freezes;
  }
  if (!frozen && (run_legacy_is_frozen() || run_capture_asked(CU_STREAM_LEGACY))) return why;
  if (frozen) streams[0] = streams[--kept];
  *n = kept;
  return NULL;
}

static const char *wait_for(const run_stream *streams, size_t n, double until) {
  for (size_t k = 0; k < n;) {
    const int r = run_real.cuStreamQuery(streams[k].handle);
    if (r == CU_SUCCESS)
      k++;
    else if (r != CU_NOT_READY)
      return "the driver does not say whether the GPU is idle";
    else if (hd_seconds() > until)
      return "the GPU was never idle at its launches";
    else
      nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  return NULL;
}

/* The legacy stream of another device's context, which none of the streams above is. */
static int ask_device(int device) {
  const run_driver *d = &run_real;
  cu_context context, popped;
  unsigned flags;
  int active = 0, r = d->cuDevicePrimaryCtxGetState(device, &flags, &active);
  if (r == CU_SUCCESS && !active) return r;
  if (r == CU_SUCCESS) r = d->cuDevicePrimaryCtxRetain(&context, device);
  if (r != CU_SUCCESS) return r;
  r = d->cuCtxPushCurrent_v2(context);
  if (r == CU_SUCCESS) {
    r = d->cuStreamQuery(CU_STREAM_LEGACY);
    d->cuCtxPopCurrent_v2(&popped);
  }
  d->cuDevicePrimaryCtxRelease_v2(device);
  return r;
}

/* Other devices may copy to this one's memory, and write it. */
static const char *wait_for_devices(double until) {
  static const char unknown[] = "the driver does not say whether other GPUs are idle";
  const run_driver *d = &run_real;
  int n = 0, own = -1;
  if (!d->cuDeviceGetCount || d->cuDeviceGetCount(&n) != CU_SUCCESS || n < 1) return unknown;
  if (n == 1) return NULL;
  if (!d->cuDevicePrimaryCtxGetState || !d->cuDevicePrimaryCtxRetain || !d->cuDevicePrimaryCtxRelease_v2 ||
      !d->cuCtxPushCurrent_v2 || !d->cuCtxPopCurrent_v2 || !d->cuCtxGetDevice ||
      d->cuCtxGetDevice(&own) != CU_SUCCESS)
    return unknown;
  for (int device = 0; device < n;) {
    const int r = device == own ? CU_SUCCESS : ask_device(device);
    if (r == CU_SUCCESS)
      device++;
    else if (r != CU_NOT_READY)
      return unknown;
    else if (hd_seconds() > until)
      return "other GPUs were never idle at its launches";
    else
      nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  return NULL;
}

/* It is asked again and again and never waited in the driver: a stream may wait for what this thread does
 * later. `captures`: there may be some. */
static const char *not_idle(double seconds, bool captures) {
  size_t n;
  run_stream *all = run_streams_all(&n);
  const size_t were = n;
  const char *why = all ? leave_captured_out(all, &n) : "no memory";
  if (!why && !captures && n < were) why = "a stream is being captured";
  if (!why) why = wait_for(all, n, hd_seconds() + seconds);
  free(all);
  return why;
}

bool run_hold(const unsigned long *own) {
  if (!run_real.cuStreamQuery || !run_real.cuStreamIsCapturing || !run_gate_try_close()) return false;
  if ((!run_gate_others_own_streams() || (own && *own == run_gate_own_launches())) && !not_idle(0, true))
    return true;
  run_gate_open();
  return false;
}

void run_release(void) { run_gate_open(); }

const char *run_not_alone(double seconds) {
  const run_driver *d = &run_real;
  int mode = CU_CAPTURE_MODE_RELAXED;
  if (!d->cuStreamQuery || !d->cuStreamIsCapturing || !d->cuThreadExchangeStreamCaptureMode)
    return "the driver is too old";
  if (!run_gate_is_whole() && run_is_threaded()) return "the program has several threads";
  if (run_gate_others_own_streams()) return "other threads use default streams of their own";
  if (run_memory_is_shared()) return "other processes have some of its memory";
  if (d->cuThreadExchangeStreamCaptureMode(&mode) != CU_SUCCESS) return "the driver is too old";
  const double until = hd_seconds() + seconds;
  const char *why = not_idle(seconds, false);
  if (!why) why = wait_for_devices(until);
  d->cuThreadExchangeStreamCaptureMode(&mode);
  return why;
}
