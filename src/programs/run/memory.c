/* The program's allocations and streams. Each handler calls the driver first, and notes what came of it. */
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

bool run_watches, run_tracks, run_gates;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  HD_VEC(run_range) ranges; /* by address; none overlap */
  HD_VEC(run_stream) streams;
  bool lost; /* something could not be noted: nothing is known any more */
  bool shared;
} seen;

/* ---- Ranges ------------------------------------------------------------------------------------ */

size_t run_range_behind(const run_range *ranges, size_t n, uint64_t address) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (ranges[middle].at + ranges[middle].bytes <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static size_t first_behind(uint64_t address) {
  return run_range_behind(seen.ranges.data, seen.ranges.n, address);
}

static void drop_between(uint64_t at, uint64_t bytes) {
  const size_t from = first_behind(at);
  size_t to = from;
  while (to < seen.ranges.n && seen.ranges.data[to].at < at + bytes) to++;
  memmove(&seen.ranges.data[from], &seen.ranges.data[to], (seen.ranges.n - to) * sizeof *seen.ranges.data);
  seen.ranges.n -= to - from;
}

unsigned long long run_context(void) {
  unsigned long long id;
  return run_real.cuCtxGetId && run_real.cuCtxGetId(NULL, &id) == CU_SUCCESS ? id : 0;
}

static void add(run_range r) {
  if (!r.at || !r.bytes) return;
  r.context = run_context();
  pthread_mutex_lock(&lock);
  if (seen.ranges.n) drop_between(r.at, r.bytes); /* left over from a context that is gone */
  if (hd_vec_push(&seen.ranges, r)) {
    const size_t place = first_behind(r.at);
    const size_t last = seen.ranges.n - 1;
    memmove(&seen.ranges.data[place + 1], &seen.ranges.data[place], (last - place) * sizeof r);
    seen.ranges.data[place] = r;
  } else {
    seen.lost = true;
  }
  pthread_mutex_unlock(&lock);
}

/* Of the allocation that begins there, or of so many bytes. */
static void drop(uint64_t at, uint64_t bytes) {
  if (!run_tracks) return;
  pthread_mutex_lock(&lock);
  if (seen.ranges.n) drop_between(at, bytes);
  pthread_mutex_unlock(&lock);
}

run_range *run_memory_all(size_t *n) {
  pthread_mutex_lock(&lock);
  *n = seen.ranges.n;
  run_range *all = malloc((*n + 1) * sizeof *all);
  if (all && *n) memcpy(all, seen.ranges.data, *n * sizeof *all);
  pthread_mutex_unlock(&lock);
  return all;
}

/* Under the lock. n: it is in no allocation whose only way it is. */
static size_t holder(uint64_t address) {
  const size_t k = seen.ranges.n ? first_behind(address) : 0;
  const run_range *r = k < seen.ranges.n ? &seen.ranges.data[k] : NULL;
  return r && r->at <= address && r->kind == RUN_MEMORY_DEVICE && !r->mapped ? k : seen.ranges.n;
}

bool run_memory_is_apart(const uint64_t *reads, uint32_t n_reads, const uint64_t *writes, uint32_t n_writes) {
  pthread_mutex_lock(&lock);
  const size_t none = seen.ranges.n;
  bool apart = !seen.lost;
  for (uint32_t i = 0; apart && i < n_writes; i++) {
    const size_t written = holder(writes[i]);
    apart = written != none;
    for (uint32_t k = 0; apart && k < n_reads; k++) apart = holder(reads[k]) != written;
  }
  for (uint32_t k = 0; apart && k < n_reads; k++) apart = holder(reads[k]) != none;
  pthread_mutex_unlock(&lock);
  return apart;
}

bool run_memory_find(uint64_t address, uint64_t *at, uint64_t *bytes) {
  pthread_mutex_lock(&lock);
  const size_t k = holder(address);
  const bool found = k < seen.ranges.n && !seen.lost;
  if (found) *at = seen.ranges.data[k].at;
  if (found) *bytes = seen.ranges.data[k].bytes;
  pthread_mutex_unlock(&lock);
  return found;
}

void run_memory_forked(void) { pthread_mutex_init(&lock, NULL); }

bool run_memory_is_shared(void) {
  pthread_mutex_lock(&lock);
  const bool shared = seen.shared || seen.lost;
  pthread_mutex_unlock(&lock);
  return shared;
}

/* ---- Streams ----------------------------------------------------------------------------------- */

static int made(int r, const cu_stream *stream, unsigned flags) {
  if (r != CU_SUCCESS || !run_tracks) return r;
  const run_stream one = {*stream, run_context(), !(flags & CU_STREAM_NON_BLOCKING)};
  pthread_mutex_lock(&lock);
  if (!hd_vec_push(&seen.streams, one)) seen.lost = true;
  pthread_mutex_unlock(&lock);
  return r;
}

void run_stream_gone(cu_stream stream) {
  if (!run_tracks) return;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < seen.streams.n; k++)
    if (seen.streams.data[k].handle == stream) seen.streams.data[k--] = seen.streams.data[--seen.streams.n];
  pthread_mutex_unlock(&lock);
  run_captures_stream_gone(stream);
}

void run_streams_gone(unsigned long long context) {
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < seen.streams.n; k++)
    if (seen.streams.data[k].context == context) seen.streams.data[k--] = seen.streams.data[--seen.streams.n];
  pthread_mutex_unlock(&lock);
  run_captures_context_gone(context);
}

enum { DEFAULTS = 2 };

/* Under the lock. */
static void list_streams(run_stream *out, size_t n) {
  static const run_stream defaults[DEFAULTS] = {{CU_STREAM_LEGACY, 0, true}, {CU_STREAM_PER_THREAD, 0, true}};
  memcpy(out, defaults, (n < DEFAULTS ? n : DEFAULTS) * sizeof *out);
  if (n > DEFAULTS) memcpy(out + DEFAULTS, seen.streams.data, (n - DEFAULTS) * sizeof *out);
}

run_stream *run_streams_all(size_t *n) {
  pthread_mutex_lock(&lock);
  *n = DEFAULTS + seen.streams.n;
  run_stream *all = malloc(*n * sizeof *all);
  if (all) list_streams(all, *n);
  pthread_mutex_unlock(&lock);
  return all;
}

size_t run_streams_few(run_stream *out, size_t most) {
  pthread_mutex_lock(&lock);
  const size_t n = DEFAULTS + seen.streams.n;
  if (n <= most) list_streams(out, n);
  pthread_mutex_unlock(&lock);
  return n;
}

run_stream run_stream_of(cu_stream stream) {
  run_stream one = {stream, 0, true};
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < seen.streams.n; k++)
    if (seen.streams.data[k].handle == stream) one = seen.streams.data[k];
  pthread_mutex_unlock(&lock);
  return one;
}

int run_cuStreamCreate(cu_stream *stream, unsigned flags) {
  return made(run_real.cuStreamCreate(stream, flags), stream, flags);
}
int run_cuStreamCreateWithPriority(cu_stream *stream, unsigned flags, int priority) {
  return made(run_real.cuStreamCreateWithPriority(stream, flags, priority), stream, flags);
}
int run_cuGreenCtxStreamCreate(cu_stream *stream, cu_green context, unsigned flags, int priority) {
  return made(run_real.cuGreenCtxStreamCreate(stream, context, flags, priority), stream, flags);
}

/* ---- Allocations ------------------------------------------------------------------------------- */

static int got(int r, const uint64_t *address, uint64_t bytes, run_memory_kind kind) {
  if (r == CU_SUCCESS && run_tracks) add((run_range){.at = *address, .bytes = bytes, .kind = kind});
  if (r == CU_SUCCESS) run_kept_early();
  return r;
}

int run_cuMemAlloc_v2(cu_address *address, size_t bytes) {
  return got(run_real.cuMemAlloc_v2(address, bytes), address, bytes, RUN_MEMORY_DEVICE);
}
int run_cuMemAllocPitch_v2(cu_address *address, size_t *pitch, size_t width, size_t height,
                           unsigned element) {
  const int r = run_real.cuMemAllocPitch_v2(address, pitch, width, height, element);
  return r == CU_SUCCESS ? got(r, address, *pitch * height, RUN_MEMORY_DEVICE) : r;
}
int run_cuMemAllocManaged(cu_address *address, size_t bytes, unsigned flags) {
  return got(run_real.cuMemAllocManaged(address, bytes, flags), address, bytes, RUN_MEMORY_MANAGED);
}
/* What a capture allocates is there while its graph runs. */
static int got_in(int r, const uint64_t *address, uint64_t bytes, cu_stream stream, bool per_thread) {
  const run_launch l = {.stream = stream, .per_thread = per_thread};
  return r == CU_SUCCESS && run_tracks && run_is_captured(&l) ? r : got(r, address, bytes, RUN_MEMORY_DEVICE);
}

int run_cuMemAllocAsync(cu_address *address, size_t bytes, cu_stream stream) {
  return got_in(run_real.cuMemAllocAsync(address, bytes, stream), address, bytes, stream, false);
}
int run_cuMemAllocAsync_ptsz(cu_address *address, size_t bytes, cu_stream stream) {
  return got_in(run_real.cuMemAllocAsync_ptsz(address, bytes, stream), address, bytes, stream, true);
}
int run_cuMemAllocFromPoolAsync(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream) {
  return got_in(run_real.cuMemAllocFromPoolAsync(address, bytes, pool, stream), address, bytes, stream,
                false);
}
int run_cuMemAllocFromPoolAsync_ptsz(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream) {
  return got_in(run_real.cuMemAllocFromPoolAsync_ptsz(address, bytes, pool, stream), address, bytes, stream,
                true);
}
int run_cuMemMap(cu_address address, size_t bytes, size_t offset, cu_physical memory,
                 unsigned long long flags) {
  const int r = run_real.cuMemMap(address, bytes, offset, memory, flags);
  if (r == CU_SUCCESS && run_tracks) add((run_range){.at = address, .bytes = bytes, .mapped = true});
  if (r == CU_SUCCESS) run_kept_early();
  return r;
}

static int got_host(int r, const void *address, size_t bytes) {
  const uint64_t at = (uint64_t)(uintptr_t)address;
  return got(r, &at, bytes, RUN_MEMORY_HOST);
}
int run_cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  const int r = run_real.cuMemHostAlloc(address, bytes, flags);
  return r == CU_SUCCESS ? got_host(r, *address, bytes) : r;
}
int run_cuMemAllocHost_v2(void **address, size_t bytes) {
  const int r = run_real.cuMemAllocHost_v2(address, bytes);
  return r == CU_SUCCESS ? got_host(r, *address, bytes) : r;
}
int run_cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  return got_host(run_real.cuMemHostRegister_v2(address, bytes, flags), address, bytes);
}

int run_cuMemFree_v2(cu_address address) {
  drop(address, 1);
  return run_real.cuMemFree_v2(address);
}
int run_cuMemFreeAsync(cu_address address, cu_stream stream) {
  drop(address, 1);
  return run_real.cuMemFreeAsync(address, stream);
}
int run_cuMemFreeAsync_ptsz(cu_address address, cu_stream stream) {
  drop(address, 1);
  return run_real.cuMemFreeAsync_ptsz(address, stream);
}
int run_cuMemUnmap(cu_address address, size_t bytes) {
  drop(address, bytes);
  return run_real.cuMemUnmap(address, bytes);
}
int run_cuMemFreeHost(void *address) {
  drop((uint64_t)(uintptr_t)address, 1);
  return run_real.cuMemFreeHost(address);
}
int run_cuMemHostUnregister(void *address) {
  drop((uint64_t)(uintptr_t)address, 1);
  return run_real.cuMemHostUnregister(address);
}

/* ---- Memory that other processes have ---------------------------------------------------------- */

static int shared(int r) {
  pthread_mutex_lock(&lock);
  seen.shared |= r == CU_SUCCESS;
  pthread_mutex_unlock(&lock);
  return r;
}

int run_cuIpcGetMemHandle(cu_ipc *handle, cu_address address) {
  return shared(run_real.cuIpcGetMemHandle(handle, address));
}
int run_cuIpcOpenMemHandle_v2(cu_address *address, cu_ipc handle, unsigned flags) {
  return shared(run_real.cuIpcOpenMemHandle_v2(address, handle, flags));
}
int run_cuMemExportToShareableHandle(void *handle, cu_physical memory, int type, unsigned long long flags) {
  return shared(run_real.cuMemExportToShareableHandle(handle, memory, type, flags));
}
int run_cuMemImportFromShareableHandle(cu_physical *memory, void *handle, int type) {
  return shared(run_real.cuMemImportFromShareableHandle(memory, handle, type));
}
