/* order CASE: operations that the program orders, or does not. What `--check=streams` says of each stands in
 * order.txt: it is tested under several seeds. */
#include <pthread.h>

#include "../driver/cu.h"

int cuMemAllocAsync(cu_ptr *address, size_t bytes, cu_handle stream);
int cuMemFreeAsync(cu_ptr address, cu_handle stream);
int cuMemsetD32Async(cu_ptr dst, uint32_t value, size_t n, cu_handle stream);
int cuMemcpyDtoDAsync_v2(cu_ptr dst, cu_ptr src, size_t n, cu_handle stream);
int cuStreamBeginCapture_v2(cu_handle stream, int mode);
int cuStreamEndCapture(cu_handle stream, cu_handle *graph);
int cuGraphInstantiateWithFlags(cu_handle *exec, cu_handle graph, unsigned long long flags);
int cuGraphLaunch(cu_handle exec, cu_handle stream);
typedef struct config {
  unsigned grid[3], block[3], shared;
  cu_handle stream;
  const void *attributes;
  unsigned n;
} config;
int cuLaunchKernelEx(const config *c, cu_handle f, void **params, void **extra);

#define KERNEL(name, body)                                                                                   \
  ".visible .entry " name "(.param .u64 p) {\n.reg .pred %q; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"           \
  "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; ld.param.u64 %rd1, [p]; add.s64 %rd3, %rd1, %rd2;\n" body \
  "ret;\n}\n"
#define LAUNCH "griddepcontrol.launch_dependents;\n"
#define WAIT "griddepcontrol.wait;\n"
#define LOAD "ld.global.u32 %r2, [%rd3];\n"
#define STORE "st.global.u32 [%rd3], %r1;\n"
static const char *const text = ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL(
    "launch_store",
    LAUNCH STORE) KERNEL("launch_load",
                         LAUNCH LOAD) KERNEL("load_launch",
                                             LOAD LAUNCH) KERNEL("load_meet_launch", LOAD
                                                                 "bar.sync 0;\n" LAUNCH) KERNEL("wait_load",
                                                                                                WAIT LOAD)
    KERNEL("load_wait", LOAD WAIT) KERNEL("launch", LAUNCH) KERNEL("launch_wait", LAUNCH WAIT) KERNEL(
        "first_waits",
        "setp.ne.u32 %q, %r1, 0; @%q bra over; " WAIT
        "over: bar.sync 0;\n" LOAD) ".const .b32 table[64];\n.global .b32 sink[64];\n" KERNEL("store",
                                                                                              "st.global.u32 "
                                                                                              "[%rd3], "
                                                                                              "%r1;\n")
        KERNEL("load", "ld.global.u32 %r2, [%rd3];\n") KERNEL("add", "red.global.add.u32 [%rd3], 1;\n")
            KERNEL("bytes", "cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;\n")
                KERNEL("flag", "st.volatile.global.u32 [%rd3], %r1;\n")
                    KERNEL("poll", "ld.volatile.global.u32 %r2, [%rd3];\n")
                        KERNEL("look",
                               "mov.u64 %rd1, table; add.s64 %rd3, %rd1, %rd2; ld.const.u32 %r2, [%rd3];\n"
                               "mov.u64 %rd1, sink; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;\n")
                            KERNEL("vector", "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, %rd2;\n"
                                             "st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};\n");

enum { N = 64, BYTES = 4 * N, BLOCKING = 0, NON_BLOCKING = 1 };
#define LEGACY ((cu_handle)1)
#define PER_THREAD ((cu_handle)2)

static cu_handle module, a, b, event; /* two streams that do not wait for the default stream, and an event */
static cu_ptr p;                      /* BYTES of device memory, written */

static void launch(const char *name, cu_ptr at, cu_handle stream) {
  cu_handle f;
  void *params[] = {&at};
  OK(cuModuleGetFunction(&f, module, name));
  OK(cuLaunchKernel(f, 1, 1, 1, at >= p && at < p + BYTES && strcmp(name, "vector") == 0 ? N / 4 : N, 1, 1, 0,
                    stream, params, NULL));
}

/* Behind the kernel in front of it in its stream, which need not be over. */
static void launch_early(const char *name, cu_handle stream) {
  enum { PROGRAMMATIC = 6 };
  const struct {
    unsigned id, pad;
    int value[16];
  } attribute = {.id = PROGRAMMATIC, .value = {1}};
  const config c = {
      .grid = {1, 1, 1}, .block = {N, 1, 1}, .stream = stream, .attributes = &attribute, .n = 1};
  cu_handle f;
  void *params[] = {&p};
  OK(cuModuleGetFunction(&f, module, name));
  OK(cuLaunchKernelEx(&c, f, params, NULL));
}

static cu_handle stream_of(unsigned flags) {
  cu_handle s;
  OK(cuStreamCreate(&s, flags));
  return s;
}

static volatile uint32_t *pinned(void) {
  void *host;
  OK(cuMemHostAlloc(&host, BYTES, 0));
  memset(host, 0, BYTES);
  return host;
}

static void *plain(volatile uint32_t *host) { return (void *)(uintptr_t)host; }
static cu_ptr address(volatile uint32_t *host) { return (cu_ptr)(uintptr_t)host; }

static void order(cu_handle after, cu_handle before) {
  OK(cuEventRecord(event, before));
  OK(cuStreamWaitEvent(after, event, 0));
}

static volatile uint32_t seen;
static void look(volatile uint32_t *host) { seen = host[3]; }

/* ---- Two streams --------------------------------------------------------------------------------- */

static void writes(void) { launch("store", p, a), launch("store", p, b); }
static void write_read(void) { launch("store", p, a), launch("load", p, b); }
static void read_write(void) { launch("load", p, a), launch("store", p, b); }
static void reads(void) { launch("load", p, a), launch("load", p, b); }
static void same_stream(void) { launch("store", p, a), launch("load", p, a); }
static void neighbours(void) { launch("bytes", p, a), launch("bytes", p + N, b); }
static void overlap_by_one(void) { launch("bytes", p, a), launch("bytes", p + N - 1, b); }
static void sizes(void) { launch("vector", p, a), launch("bytes", p + 7, b); }
static void atomics(void) { launch("add", p, a), launch("add", p, b); }
static void atomic_read(void) { launch("add", p, a), launch("load", p, b); }
static void atomic_write(void) { launch("store", p, a), launch("add", p, b); }
static void volatiles(void) { launch("flag", p, a), launch("poll", p, b); }
static void volatile_read(void) { launch("flag", p, a), launch("load", p, b); }
static void constants(void) {
  cu_ptr table;
  size_t bytes;
  OK(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  launch("look", p, a);
  OK(cuMemsetD32Async(table, 1, N, b));
}

/* ---- Programmatic launches ------------------------------------------------------------------- */

static void early_read(void) { launch("launch_store", p, a), launch_early("load", a); }
static void early_read_waited(void) { launch("launch_store", p, a), launch_early("wait_load", a); }
static void early_read_first_waited(void) { launch("launch_store", p, a), launch_early("first_waits", a); }
static void early_read_and_wait(void) { launch("launch_store", p, a), launch_early("load_wait", a); }
static void early_read_never_launched(void) { /* what is written is there behind the wait alone */
  launch("store", p, a), launch_early("load", a);
}
static void early_write(void) { launch("launch_load", p, a), launch_early("store", a); }
static void early_write_read_beside(void) { /* the first thread to get there speaks for its CTA */
  launch("load_launch", p, a), launch_early("store", a);
}
static void early_write_read_before(void) { launch("load_meet_launch", p, a), launch_early("store", a); }
static void early_write_written(void) { launch("store", p, a), launch_early("store", a); }
static void early_reads(void) { launch("launch_load", p, a), launch_early("load", a); }
static void early_chain(void) { /* the second kernel may be over before the first */
  launch("launch_store", p, a), launch_early("launch", a), launch_early("wait_load", a);
}
static void early_chain_waited(void) {
  launch("launch_store", p, a), launch_early("launch_wait", a), launch_early("wait_load", a);
}
static void early_chain_half_waited(void) {
  launch("launch_store", p, a), launch_early("launch_wait", a), launch_early("load", a);
}
static void early_chain_then(void) {
  launch("launch_store", p, a), launch_early("launch", a), launch("load", p, a);
}
static void early_waited_by_host(void) {
  launch("launch_store", p, a);
  OK(cuStreamSynchronize(a));
  launch_early("load", a);
}
static void early_behind_fill(void) {
  OK(cuMemsetD32Async(p, 1, N, a));
  launch_early("load", a);
}
static void early_behind_legacy(void) {
  cu_handle s = stream_of(BLOCKING);
  launch("launch_store", p, s), launch("load", p, NULL), launch_early("load", s);
}
static void early_then_event(void) {
  launch("launch_store", p, a), launch_early("launch", a), order(b, a), launch("load", p, b);
}

/* ---- Copies and fills ------------------------------------------------------------------------ */

static void fill(void) {
  launch("load", p, a);
  OK(cuMemsetD32Async(p, 1, N, b));
}
static void fill_before(void) {
  OK(cuMemsetD32_v2(p, 1, N));
  launch("load", p, a);
}
static void copy_from(void) {
  cu_ptr q;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", p, a);
  OK(cuMemcpyDtoDAsync_v2(q, p, BYTES, b));
}
static void copy_halves(void) {
  launch("bytes", p, a);
  OK(cuMemcpyDtoDAsync_v2(p + N, p + 2 * N, N, b));
}
static void pageable_out(void) { /* may return before it is done */
  uint32_t host[N];
  OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, a));
  launch("store", p, b);
}
static void pageable_out_waited(void) { /* returns when it is done */
  uint32_t host[N];
  OK(cuMemcpyDtoH_v2(host, p, BYTES));
  launch("store", p, b);
}
static void pageable_in(void) { /* returns when the bytes are staged */
  uint32_t host[N] = {0};
  OK(cuMemcpyHtoD_v2(p, host, BYTES));
  launch("load", p, a);
}
static void pageable_in_async(void) {
  uint32_t host[N] = {0};
  OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, a));
  launch("load", p, b);
}
static void pageable_in_ordered(void) {
  uint32_t host[N] = {0};
  OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, a));
  order(b, a), launch("load", p, b);
}
static void pageable_in_waited(void) {
  uint32_t host[N] = {0};
  OK(cuMemcpyHtoD_v2(p, host, BYTES));
  OK(cuStreamSynchronize(NULL));
  launch("load", p, a);
}
static void pageable_in_blocking(void) {
  uint32_t host[N] = {0};
  OK(cuMemcpyHtoD_v2(p, host, BYTES));
  launch("load", p, stream_of(BLOCKING));
}
static void pageable_in_behind(void) { /* waits for what is in front of it */
  uint32_t host[N] = {0};
  cu_ptr q;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", p, NULL);
  OK(cuMemcpyHtoD_v2(q, host, BYTES));
  launch("load", p, a);
}
static void pageable_in_async_behind(void) { /* need not */
  uint32_t host[N] = {0};
  cu_ptr q;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", p, a);
  OK(cuMemcpyHtoDAsync_v2(q, host, BYTES, a));
  launch("load", p, b);
}
static void pinned_in(void) {
  volatile uint32_t *host = pinned();
  OK(cuMemcpyHtoD_v2(p, plain(host), BYTES));
  launch("load", p, a);
}
static void pageable_to_managed(void) { /* the host sees it */
  uint32_t host[N] = {0};
  cu_ptr q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  OK(cuMemcpyHtoD_v2(q, host, BYTES));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void pageable_twice(void) {
  uint32_t host[N];
  OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, a));
  OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, b));
}
static void pinned_twice(void) {
  volatile uint32_t *host = pinned();
  OK(cuMemcpyDtoHAsync_v2(plain(host), p, BYTES, a));
  OK(cuMemcpyDtoHAsync_v2(plain(host), p, BYTES, b));
}
static void registered_alias(void) { /* the copy has the host's address, the kernel the device's */
  void *host = aligned_alloc(4096, 4096);
  cu_ptr q;
  memset(host, 0, 4096);
  OK(cuMemHostRegister_v2(host, 4096, 0));
  OK(cuMemHostGetDevicePointer_v2(&q, host, 0));
  launch("store", q, a);
  OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, b));
}

/* ---- Events -------------------------------------------------------------------------------------- */

static void by_event(void) { launch("store", p, a), order(b, a), launch("load", p, b); }
static void early_event(void) {
  OK(cuEventRecord(event, a));
  launch("store", p, a);
  OK(cuStreamWaitEvent(b, event, 0));
  launch("load", p, b);
}
static void event_again(void) { /* the wait is for the record before it */
  launch("store", p, a);
  OK(cuEventRecord(event, a));
  OK(cuStreamWaitEvent(b, event, 0));
  OK(cuEventRecord(event, stream_of(NON_BLOCKING)));
  launch("load", p, b);
}
static void event_never_recorded(void) {
  launch("store", p, a);
  OK(cuStreamWaitEvent(b, event, 0));
  launch("load", p, b);
}
static void by_two_events(void) {
  cu_handle c = stream_of(NON_BLOCKING);
  launch("store", p, a), order(c, a), order(b, c), launch("load", p, b);
}
static void event_waited(void) {
  launch("store", p, a);
  OK(cuEventRecord(event, a));
  OK(cuEventSynchronize(event));
  launch("load", p, b);
}
static void event_asked(void) {
  launch("store", p, a);
  OK(cuEventRecord(event, a));
  while (cuEventQuery(event)) continue;
  launch("load", p, b);
}
static void event_asked_early(void) { /* the query says nothing of what follows the record */
  OK(cuEventRecord(event, a));
  launch("store", p, a);
  while (cuEventQuery(event)) continue;
  launch("load", p, b);
}
static void event_timed(void) {
  float ms;
  cu_handle start;
  OK(cuEventCreate(&event, 0));
  OK(cuEventCreate(&start, 0));
  OK(cuEventRecord(start, a));
  launch("store", p, a);
  OK(cuEventRecord(event, a));
  while (cuEventElapsedTime(&ms, start, event)) continue;
  launch("load", p, b);
}
static void event_destroyed(void) {
  launch("store", p, a), order(b, a);
  OK(cuEventDestroy_v2(event));
  launch("load", p, b);
}

/* ---- Waits of the host ------------------------------------------------------------------------- */

static void stream_waited(void) {
  launch("store", p, a);
  OK(cuStreamSynchronize(a));
  launch("load", p, b);
}
static void other_waited(void) {
  launch("store", p, a);
  OK(cuStreamSynchronize(b));
  launch("load", p, b);
}
static void context_waited(void) {
  launch("store", p, a);
  OK(cuCtxSynchronize());
  launch("load", p, b);
}
static void stream_asked(void) {
  launch("store", p, a);
  while (cuStreamQuery(a)) continue;
  launch("load", p, b);
}
static void freed_between(void) { /* waits for all work */
  cu_ptr q;
  OK(cuMemAlloc_v2(&q, 4));
  launch("store", p, a);
  OK(cuMemFree_v2(q));
  launch("load", p, b);
}
static void destroyed(void) { /* returns at once */
  launch("store", p, a);
  OK(cuStreamDestroy_v2(a));
  launch("load", p, b);
}
static void destroyed_and_waited(void) {
  uint32_t host[N];
  launch("store", p, a);
  OK(cuStreamDestroy_v2(a));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoHAsync_v2(host, p, BYTES, b));
}
static void destroyed_blocking(void) {
  cu_handle s = stream_of(BLOCKING);
  launch("store", p, s);
  OK(cuStreamDestroy_v2(s));
  launch("load", p, NULL);
}
static void destroyed_non_blocking(void) {
  launch("store", p, a);
  OK(cuStreamDestroy_v2(a));
  launch("load", p, NULL);
}
static void destroyed_and_legacy_waited(void) {
  cu_handle s = stream_of(BLOCKING);
  launch("store", p, s);
  OK(cuStreamDestroy_v2(s));
  OK(cuStreamSynchronize(NULL));
  launch("load", p, a);
}

/* ---- The default streams --------------------------------------------------------------------- */

static void legacy_between(void) {
  cu_handle s = stream_of(BLOCKING), t = stream_of(BLOCKING);
  launch("store", p, s), launch("look", p, NULL), launch("load", p, t);
}
static void blocking(void) {
  launch("store", p, stream_of(BLOCKING)), launch("load", p, stream_of(BLOCKING));
}
static void legacy_first(void) { launch("store", p, LEGACY), launch("load", p, stream_of(BLOCKING)); }
static void legacy_last(void) { launch("store", p, stream_of(BLOCKING)), launch("load", p, NULL); }
static void legacy_non_blocking(void) { launch("store", p, NULL), launch("load", p, a); }
static void non_blocking_legacy(void) { launch("store", p, a), launch("load", p, NULL); }
static void legacy_waited(void) {
  launch("store", p, stream_of(BLOCKING));
  OK(cuStreamSynchronize(NULL));
  launch("load", p, a);
}
static void legacy_event(void) {
  launch("store", p, stream_of(BLOCKING)), order(b, NULL), launch("load", p, b);
}
static void per_thread(void) { launch("store", p, PER_THREAD), launch("load", p, a); }
static void per_thread_legacy(void) { launch("store", p, PER_THREAD), launch("load", p, NULL); }
static void *other_thread(void *context) {
  OK(cuCtxSetCurrent(context));
  launch("store", p, PER_THREAD);
  return NULL;
}
static void two_threads(void) {
  pthread_t t;
  cu_handle context;
  OK(cuCtxGetCurrent(&context));
  pthread_create(&t, NULL, other_thread, context);
  pthread_join(t, NULL);
  launch("load", p, PER_THREAD);
}

/* ---- Host functions -------------------------------------------------------------------------- */

static volatile uint32_t *of_function;
static void function(void *data) {
  (void)data;
  if (of_function) look(of_function);
}
static void function_behind(void) { /* it sees what comes before it in its stream */
  of_function = pinned();
  launch("store", address(of_function), a);
  OK(cuLaunchHostFunc(a, function, NULL));
  OK(cuStreamSynchronize(a));
}
static void function_beside(void) {
  of_function = pinned();
  launch("store", address(of_function), a);
  OK(cuLaunchHostFunc(b, function, NULL));
}
static void function_between(void) {
  launch("store", p, a);
  OK(cuLaunchHostFunc(a, function, NULL));
  order(b, a);
  launch("load", p, b);
}

/* ---- The host's own accesses ------------------------------------------------------------------- */

static void host_reads(void) {
  volatile uint32_t *host = pinned();
  launch("store", address(host), a);
  look(host);
}
static void host_reads_waited(void) {
  volatile uint32_t *host = pinned();
  launch("store", address(host), a);
  OK(cuStreamSynchronize(a));
  look(host);
}
static void host_reads_beside(void) { /* other bytes of the same page */
  volatile uint32_t *host = pinned();
  launch("bytes", address(host), a);
  seen = host[N / 4];
}
static void host_reads_with_kernel(void) {
  volatile uint32_t *host = pinned();
  launch("load", address(host), a);
  look(host);
}
static void host_writes(void) { /* under a copy that still reads */
  volatile uint32_t *host = pinned();
  OK(cuMemcpyHtoDAsync_v2(p, plain(host), BYTES, a));
  host[3] = 1;
}
static void host_writes_waited(void) {
  volatile uint32_t *host = pinned();
  OK(cuMemcpyHtoDAsync_v2(p, plain(host), BYTES, a));
  OK(cuEventRecord(event, a));
  OK(cuEventSynchronize(event));
  host[3] = 1;
}
static void host_writes_other(void) {
  volatile uint32_t *host = pinned();
  OK(cuMemcpyHtoDAsync_v2(p, plain(host), BYTES / 2, a));
  host[N / 2] = 1;
}
static void host_polls(void) { /* .volatile is strong for the host, too */
  volatile uint32_t *host = pinned();
  launch("flag", address(host), a);
  look(host);
}
static void host_counts(void) { /* atomics are not, without .sys */
  volatile uint32_t *host = pinned();
  launch("add", address(host), a);
  look(host);
}
static void managed_read(void) {
  cu_ptr q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  launch("store", q, NULL);
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_waited(void) {
  cu_ptr q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  launch("store", q, NULL);
  OK(cuStreamSynchronize(NULL));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_filled(void) { /* a fill of memory that the host sees returns when it is done */
  cu_ptr q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  OK(cuMemsetD32_v2(q, 1, N));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_filled_later(void) {
  cu_ptr q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  OK(cuMemsetD32Async(q, 1, N, a));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void waited_by_copy(void) { /* of pageable memory, in the same stream */
  volatile uint32_t *host = pinned();
  uint32_t other[N];
  launch("store", address(host), NULL);
  OK(cuMemcpyDtoH_v2(other, p, BYTES));
  look(host);
}
static void waited_by_async_copy(void) {
  volatile uint32_t *host = pinned();
  uint32_t other[N];
  launch("store", address(host), a);
  OK(cuMemcpyDtoHAsync_v2(other, p, BYTES, a));
  look(host);
}

/* ---- Memory in a stream's order ---------------------------------------------------------------- */

static void async_elsewhere(void) {
  cu_ptr q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  launch("store", q, b);
}
static void async_ordered(void) {
  cu_ptr q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  order(b, a);
  launch("store", q, b);
  order(a, b);
  OK(cuMemFreeAsync(q, a));
}
static void async_freed_early(void) {
  cu_ptr q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  order(b, a);
  launch("store", q, b);
  OK(cuMemFreeAsync(q, a));
}
static void async_again(void) { /* the second may get the first one's address */
  cu_ptr q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  launch("store", q, a);
  OK(cuMemFreeAsync(q, a));
  OK(cuMemAllocAsync(&q, BYTES, b));
  launch("store", q, b);
  OK(cuMemFreeAsync(q, b));
}
static void freed_and_allocated(void) {
  cu_ptr q, r;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", q, a);
  OK(cuMemFree_v2(q));
  OK(cuMemAlloc_v2(&r, BYTES));
  launch("store", r, b);
}

/* ---- Graphs -------------------------------------------------------------------------------------- */

/* Two kernels in one graph, side by side unless `join`. */
static cu_handle graph_of(const char *first, const char *second, int join) {
  cu_handle s = stream_of(NON_BLOCKING), t = stream_of(NON_BLOCKING), graph, exec;
  OK(cuStreamBeginCapture_v2(s, 0));
  if (!join) order(t, s);
  launch(first, p, s);
  if (join) order(t, s);
  launch(second, p, t);
  order(s, t);
  OK(cuStreamEndCapture(s, &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}
static void graph_branches(void) { OK(cuGraphLaunch(graph_of("store", "load", 0), a)); }
static void graph_branches_read(void) { OK(cuGraphLaunch(graph_of("load", "load", 0), a)); }
static void graph_edge(void) { OK(cuGraphLaunch(graph_of("store", "load", 1), a)); }
static void graph_beside(void) {
  OK(cuGraphLaunch(graph_of("load", "load", 1), a));
  launch("store", p, b);
}
static void graph_then(void) {
  OK(cuGraphLaunch(graph_of("store", "load", 1), a));
  order(b, a);
  launch("store", p, b);
}
static void graph_twice(void) { /* launches of one executable graph are in order */
  cu_handle exec = graph_of("store", "load", 1);
  OK(cuGraphLaunch(exec, a));
  OK(cuGraphLaunch(exec, b));
}
static void graphs_beside(void) {
  cu_handle first = graph_of("store", "store", 1), second = graph_of("store", "store", 1);
  OK(cuGraphLaunch(first, a));
  OK(cuGraphLaunch(second, b));
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"writes", writes},
    {"write_read", write_read},
    {"read_write", read_write},
    {"reads", reads},
    {"same_stream", same_stream},
    {"neighbours", neighbours},
    {"overlap_by_one", overlap_by_one},
    {"sizes", sizes},
    {"atomics", atomics},
    {"atomic_read", atomic_read},
    {"atomic_write", atomic_write},
    {"volatiles", volatiles},
    {"volatile_read", volatile_read},
    {"constants", constants},
    {"early_read", early_read},
    {"early_read_waited", early_read_waited},
    {"early_read_first_waited", early_read_first_waited},
    {"early_read_and_wait", early_read_and_wait},
    {"early_read_never_launched", early_read_never_launched},
    {"early_write", early_write},
    {"early_write_read_beside", early_write_read_beside},
    {"early_write_read_before", early_write_read_before},
    {"early_write_written", early_write_written},
    {"early_reads", early_reads},
    {"early_chain", early_chain},
    {"early_chain_waited", early_chain_waited},
    {"early_chain_half_waited", early_chain_half_waited},
    {"early_chain_then", early_chain_then},
    {"early_waited_by_host", early_waited_by_host},
    {"early_behind_fill", early_behind_fill},
    {"early_behind_legacy", early_behind_legacy},
    {"early_then_event", early_then_event},
    {"fill", fill},
    {"fill_before", fill_before},
    {"copy_from", copy_from},
    {"copy_halves", copy_halves},
    {"pageable_out", pageable_out},
    {"pageable_out_waited", pageable_out_waited},
    {"pageable_in", pageable_in},
    {"pageable_in_async", pageable_in_async},
    {"pageable_in_ordered", pageable_in_ordered},
    {"pageable_in_waited", pageable_in_waited},
    {"pageable_in_blocking", pageable_in_blocking},
    {"pageable_in_behind", pageable_in_behind},
    {"pageable_in_async_behind", pageable_in_async_behind},
    {"pinned_in", pinned_in},
    {"pageable_to_managed", pageable_to_managed},
    {"pageable_twice", pageable_twice},
    {"pinned_twice", pinned_twice},
    {"registered_alias", registered_alias},
    {"by_event", by_event},
    {"early_event", early_event},
    {"event_again", event_again},
    {"event_never_recorded", event_never_recorded},
    {"by_two_events", by_two_events},
    {"event_waited", event_waited},
    {"event_asked", event_asked},
    {"event_asked_early", event_asked_early},
    {"event_timed", event_timed},
    {"event_destroyed", event_destroyed},
    {"stream_waited", stream_waited},
    {"other_waited", other_waited},
    {"context_waited", context_waited},
    {"stream_asked", stream_asked},
    {"freed_between", freed_between},
    {"destroyed", destroyed},
    {"destroyed_and_waited", destroyed_and_waited},
    {"destroyed_blocking", destroyed_blocking},
    {"destroyed_non_blocking", destroyed_non_blocking},
    {"destroyed_and_legacy_waited", destroyed_and_legacy_waited},
    {"legacy_between", legacy_between},
    {"blocking", blocking},
    {"legacy_first", legacy_first},
    {"legacy_last", legacy_last},
    {"legacy_non_blocking", legacy_non_blocking},
    {"non_blocking_legacy", non_blocking_legacy},
    {"legacy_waited", legacy_waited},
    {"legacy_event", legacy_event},
    {"per_thread", per_thread},
    {"per_thread_legacy", per_thread_legacy},
    {"two_threads", two_threads},
    {"function_behind", function_behind},
    {"function_beside", function_beside},
    {"function_between", function_between},
    {"host_reads", host_reads},
    {"host_reads_waited", host_reads_waited},
    {"host_reads_beside", host_reads_beside},
    {"host_reads_with_kernel", host_reads_with_kernel},
    {"host_writes", host_writes},
    {"host_writes_waited", host_writes_waited},
    {"host_writes_other", host_writes_other},
    {"host_polls", host_polls},
    {"host_counts", host_counts},
    {"managed_read", managed_read},
    {"managed_waited", managed_waited},
    {"managed_filled", managed_filled},
    {"managed_filled_later", managed_filled_later},
    {"waited_by_copy", waited_by_copy},
    {"waited_by_async_copy", waited_by_async_copy},
    {"async_elsewhere", async_elsewhere},
    {"async_ordered", async_ordered},
    {"async_freed_early", async_freed_early},
    {"async_again", async_again},
    {"freed_and_allocated", freed_and_allocated},
    {"graph_branches", graph_branches},
    {"graph_branches_read", graph_branches_read},
    {"graph_edge", graph_edge},
    {"graph_beside", graph_beside},
    {"graph_then", graph_then},
    {"graph_twice", graph_twice},
    {"graphs_beside", graphs_beside},
};

int main(int argc, char **argv) {
  unsigned n = 0;
  cu_handle context = begin();
  (void)context;
  OK(cuModuleLoadData(&module, text));
  OK(cuMemAlloc_v2(&p, BYTES));
  OK(cuMemsetD32_v2(p, 0, N));
  OK(cuCtxSynchronize());
  OK(cuStreamCreate(&a, NON_BLOCKING));
  OK(cuStreamCreate(&b, NON_BLOCKING));
  OK(cuEventCreate(&event, 2));
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (argc < 2) puts(cases[k].name);
    if (argc < 2 || strcmp(argv[1], cases[k].name) != 0) continue;
    cases[k].run();
    n++;
  }
  OK(cuCtxSynchronize());
  return argc > 1 && n != 1;
}
