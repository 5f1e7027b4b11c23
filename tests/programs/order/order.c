/* order CASE: operations that the program orders, or does not. What `--check=streams` says of each stands in
 * order.txt: it is tested under several seeds. */
#include "overlap.h"

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
  cu_address table;
  size_t bytes;
  OK(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
  launch("look", p, a);
  OK(cuMemsetD32Async(table, 1, N, b));
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
  cu_stream c = stream_of(NON_BLOCKING);
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
  cu_event start;
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
  cu_address q;
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
  cu_stream s = stream_of(BLOCKING);
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
  cu_stream s = stream_of(BLOCKING);
  launch("store", p, s);
  OK(cuStreamDestroy_v2(s));
  OK(cuStreamSynchronize(NULL));
  launch("load", p, a);
}

/* ---- The default streams --------------------------------------------------------------------- */

static void legacy_between(void) {
  cu_stream s = stream_of(BLOCKING), t = stream_of(BLOCKING);
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
  cu_context context;
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
  cu_address q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  launch("store", q, NULL);
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_waited(void) {
  cu_address q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  launch("store", q, NULL);
  OK(cuStreamSynchronize(NULL));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_filled(void) { /* a fill of memory that the host sees returns when it is done */
  cu_address q;
  OK(cuMemAllocManaged(&q, BYTES, 1));
  OK(cuMemsetD32_v2(q, 1, N));
  look((volatile uint32_t *)(uintptr_t)q);
}
static void managed_filled_later(void) {
  cu_address q;
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
  cu_address q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  launch("store", q, b);
}
static void async_ordered(void) {
  cu_address q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  order(b, a);
  launch("store", q, b);
  order(a, b);
  OK(cuMemFreeAsync(q, a));
}
static void async_freed_early(void) {
  cu_address q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  order(b, a);
  launch("store", q, b);
  OK(cuMemFreeAsync(q, a));
}
static void async_again(void) { /* the second may get the first one's address */
  cu_address q;
  OK(cuMemAllocAsync(&q, BYTES, a));
  launch("store", q, a);
  OK(cuMemFreeAsync(q, a));
  OK(cuMemAllocAsync(&q, BYTES, b));
  launch("store", q, b);
  OK(cuMemFreeAsync(q, b));
}
static void freed_and_allocated(void) {
  cu_address q, r;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", q, a);
  OK(cuMemFree_v2(q));
  OK(cuMemAlloc_v2(&r, BYTES));
  launch("store", r, b);
}

/* ---- Graphs -------------------------------------------------------------------------------------- */

/* Two kernels in one graph, side by side unless `join`. */
static cu_graph_exec graph_of(const char *first, const char *second, int join) {
  cu_stream s = stream_of(NON_BLOCKING), t = stream_of(NON_BLOCKING);
  cu_graph graph;
  cu_graph_exec exec;
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
  cu_graph_exec exec = graph_of("store", "load", 1);
  OK(cuGraphLaunch(exec, a));
  OK(cuGraphLaunch(exec, b));
}
static void graphs_beside(void) {
  cu_graph_exec first = graph_of("store", "store", 1), second = graph_of("store", "store", 1);
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
  cu_context context = begin();
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
