/* tests/run/own_driver.h: a driver for unit tests of run/, behind the program: its entry points are in
 * run_real, and `own` is what it knows. Streams are numbers from 16 on. What a test does not name is not
 * there, as in an old driver. */
#ifndef HEDDLE_TESTS_RUN_OWN_DRIVER_H
#define HEDDLE_TESTS_RUN_OWN_DRIVER_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { OWN_STREAMS = 64, OWN_FIRST = 16, OWN_REFUSES = 2, OWN_BLOCKS = 256 };

static struct {
  unsigned long long context; /* the current one; 0: the driver does not say */
  int answer;                 /* of calls that make, free or share something */
  uint64_t address;           /* the next allocation's; 0: it allocates memory of the host's */
  struct {
    bool busy;
    int status;       /* of its capture */
    uint64_t capture; /* its number */
  } streams[OWN_STREAMS];
  unsigned n_streams;
  uint64_t captures;           /* how many there were */
  int mode;                    /* of the thread's captures */
  bool bad;                    /* it was asked about the legacy stream while that is frozen */
  bool (*frozen)(void);        /* whether it is */
  uint64_t blocks[OWN_BLOCKS]; /* host memory that was allocated and is not freed */
  unsigned held;               /* of these, how many */
  unsigned left;               /* calls until one fails; 0: none does */
} own;

/* ---- Calls that fail ----------------------------------------------------------------------------- */

static int own_call(void) { return own.left && !--own.left ? OWN_REFUSES : own.answer; }

/* ---- Contexts ------------------------------------------------------------------------------------ */

static int own_cuCtxGetId(cu_context context, unsigned long long *id) {
  *id = context ? (unsigned long long)(uintptr_t)context : own.context;
  return *id ? CU_SUCCESS : OWN_REFUSES;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static int own_cuMemAlloc(cu_address *address, size_t bytes) {
  const int r = own_call();
  if (r != CU_SUCCESS) return r;
  *address = own.address;
  if (own.address) return r;
  assert_true(own.held < OWN_BLOCKS);
  void *block = malloc(bytes);
  assert_non_null(block);
  memset(block, 0xa5, bytes);
  *address = own.blocks[own.held++] = (uint64_t)(uintptr_t)block;
  return r;
}

static int own_cuMemFree(cu_address address) {
  unsigned k = 0;
  if (own.address) return own_call();
  while (k < own.held && own.blocks[k] != address) k++;
  assert_true(k < own.held); /* it was allocated, and is freed once */
  own.blocks[k] = own.blocks[--own.held];
  free((void *)(uintptr_t)address);
  return CU_SUCCESS;
}

/* ---- Streams ------------------------------------------------------------------------------------- */

static int own_cuStreamCreate(cu_stream *stream, unsigned flags) {
  (void)flags;
  const int r = own_call();
  if (r != CU_SUCCESS) return r;
  assert_true(OWN_FIRST + own.n_streams < OWN_STREAMS);
  *stream = (cu_stream)(uintptr_t)(OWN_FIRST + own.n_streams++);
  return r;
}

static unsigned own_number(cu_stream stream) {
  const uintptr_t k = stream ? (uintptr_t)stream : (uintptr_t)CU_STREAM_LEGACY;
  assert_true(k < OWN_STREAMS);
  if (k == (uintptr_t)CU_STREAM_LEGACY && own.frozen && own.frozen()) own.bad = true;
  return (unsigned)k;
}

static int own_cuStreamDestroy(cu_stream stream) {
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_NONE;
  return CU_SUCCESS;
}

static int own_cuStreamQuery(cu_stream stream) {
  return own.streams[own_number(stream)].busy ? CU_NOT_READY : CU_SUCCESS;
}

static int own_cuStreamIsCapturing(cu_stream stream, int *status) {
  *status = own.streams[own_number(stream)].status;
  return CU_SUCCESS;
}

static int own_cuStreamGetCaptureInfo(cu_stream stream, int *status, uint64_t *id, cu_graph *graph,
                                      cu_node **after, size_t *n) {
  (void)graph, (void)after, (void)n;
  *status = own.streams[own_number(stream)].status;
  *id = own.streams[own_number(stream)].capture;
  return CU_SUCCESS;
}

static int own_cuThreadExchangeStreamCaptureMode(int *mode) {
  const int was = own.mode;
  own.mode = *mode;
  *mode = was;
  return CU_SUCCESS;
}

static int own_cuStreamSynchronize(cu_stream stream) {
  (void)stream;
  return own_call();
}

/* ---- All of it ----------------------------------------------------------------------------------- */

/* Nothing is allocated, made or captured, and context 1 is current. */
static void own_begin(void) {
  memset(&own, 0, sizeof own);
  own.context = 1;
  run_real = (run_driver){.cuCtxGetId = own_cuCtxGetId,
                          .cuMemAlloc_v2 = own_cuMemAlloc,
                          .cuMemFree_v2 = own_cuMemFree,
                          .cuStreamCreate = own_cuStreamCreate,
                          .cuStreamDestroy_v2 = own_cuStreamDestroy,
                          .cuStreamQuery = own_cuStreamQuery,
                          .cuStreamIsCapturing = own_cuStreamIsCapturing,
                          .cuStreamGetCaptureInfo_v2 = own_cuStreamGetCaptureInfo,
                          .cuStreamSynchronize = own_cuStreamSynchronize,
                          .cuThreadExchangeStreamCaptureMode = own_cuThreadExchangeStreamCaptureMode};
  run_tracks = true;
}

/* A stream of the program's. */
static inline cu_stream own_stream(unsigned flags) {
  cu_stream stream;
  assert_int_equal(run_cuStreamCreate(&stream, flags), CU_SUCCESS);
  return stream;
}

#endif
