/* Programmatic launches, copies and fills: work that may overlap what the program submitted before. */
#ifndef HEDDLE_TESTS_ORDER_OVERLAP_H
#define HEDDLE_TESTS_ORDER_OVERLAP_H

#include "kit.h"

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
  cu_stream s = stream_of(BLOCKING);
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
  cu_address q;
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
  cu_address q;
  OK(cuMemAlloc_v2(&q, BYTES));
  launch("store", p, NULL);
  OK(cuMemcpyHtoD_v2(q, host, BYTES));
  launch("load", p, a);
}
static void pageable_in_async_behind(void) { /* need not */
  uint32_t host[N] = {0};
  cu_address q;
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
  cu_address q;
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
  cu_address q;
  memset(host, 0, 4096);
  OK(cuMemHostRegister_v2(host, 4096, 0));
  OK(cuMemHostGetDevicePointer_v2(&q, host, 0));
  launch("store", q, a);
  OK(cuMemcpyHtoDAsync_v2(p, host, BYTES, b));
}

#endif
