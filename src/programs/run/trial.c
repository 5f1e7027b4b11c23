/* A launch repeated on the program's own memory: what it may write is kept on the device before and after the
 * original, put back before each repetition, and compared with what the original wrote. */
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { ALIGN = 256 };

struct run_trial {
  run_launch l; /* in a stream of heddle's */
  cu_function function;
  cu_event begin, end;
  run_reach reach;
  run_guard guard;              /* of what it does not reach, */
  uint64_t untouched;           /* and what that holds */
  uint64_t before, after, flag; /* device memory: two copies of the ranges, one behind the other; a word; */
  uint64_t other, other_bytes;  /* and what fills L2, once it is asked for */
  bool as_after;                /* the memory holds what the original wrote */
};

/* ---- Comparison -------------------------------------------------------------------------------- */

/* Compares two ranges by bytes or words, and marks a difference. */
#define SAME(name, type, shift)                                                                              \
  ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 n, .param .u64 flag) {\n"              \
  ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %x<8>; .reg .b64 %d<8>;\n"                                   \
  "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [n]; ld.param.u64 %d4, [flag];\n"         \
  "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"              \
  "mul.wide.u32 %d5, %r1, %r2; cvt.u64.u32 %d6, %r3; add.s64 %d5, %d5, %d6; mul.wide.u32 %d6, %r4, %r2;\n"   \
  "next: setp.ge.u64 %p1, %d5, %d3; @%p1 ret;\n"                                                             \
  "shl.b64 %x1, %d5, " shift "; add.s64 %x2, %d1, %x1; add.s64 %x3, %d2, %x1;\n"                             \
  "ld.global." type " %x4, [%x2]; ld.global." type " %x5, [%x3];\n"                                          \
  "setp.ne.b64 %p2, %x4, %x5; @%p2 red.global.or.b32 [%d4], 1;\n"                                            \
  "add.s64 %d5, %d5, %d6; bra next; }\n"

static run_own comparer = {.text = ".version 6.0\n.target sm_50\n.address_size 64\n" SAME("words", "u64", "3")
                               SAME("bytes", "u8", "0")};

static int compare_part(const run_trial *t, const char *name, uint64_t a, uint64_t b, uint64_t n) {
  uint64_t flag = t->flag;
  void *params[] = {&a, &b, &n, &flag};
  return run_own_launch(&comparer, name, n, t->l.stream, params);
}

static int compare(run_trial *t, bool *same) {
  uint32_t differs = 0;
  uint64_t at = t->after;
  int r = run_real.cuMemsetD8Async(t->flag, 0, sizeof differs, t->l.stream);
  for (size_t k = 0; r == CU_SUCCESS && k < t->reach.ranges.n; k++) {
    const run_range *g = &t->reach.ranges.data[k];
    const uint64_t whole = g->at % 8 ? 0 : g->bytes / 8 * 8; /* variables may lie anywhere */
    r = compare_part(t, "words", g->at, at, whole / 8);
    if (r == CU_SUCCESS) r = compare_part(t, "bytes", g->at + whole, at + whole, g->bytes - whole);
    at += (g->bytes + ALIGN - 1) / ALIGN * ALIGN;
  }
  if (r == CU_SUCCESS) r = run_real.cuMemcpyDtoHAsync_v2(&differs, t->flag, sizeof differs, t->l.stream);
  if (r == CU_SUCCESS) r = run_real.cuStreamSynchronize(t->l.stream);
  *same = r == CU_SUCCESS && !differs;
  return r;
}

/* ---- Copies ------------------------------------------------------------------------------------ */

/* Between the ranges and a copy of them. */
static int copy(const run_trial *t, uint64_t at, bool back) {
  int r = CU_SUCCESS;
  for (size_t k = 0; r == CU_SUCCESS && k < t->reach.ranges.n; k++) {
    const run_range *g = &t->reach.ranges.data[k];
    r = run_real.cuMemcpyDtoDAsync_v2(back ? g->at : at, back ? at : g->at, g->bytes, t->l.stream);
    at += (g->bytes + ALIGN - 1) / ALIGN * ALIGN;
  }
  return r;
}

static uint64_t room_of(const run_trial *t) { return t->reach.bytes + (uint64_t)ALIGN * t->reach.ranges.n; }

static const char *find_room(run_trial *t) {
  size_t left = 0, total = 0;
  const uint64_t bytes = room_of(t);
  const run_driver *d = &run_real;
  if (!bytes) return "it reaches no memory";
  if (!d->cuMemGetInfo_v2 || d->cuMemGetInfo_v2(&left, &total) != CU_SUCCESS || bytes > left / 4)
    return "there is no room for copies of its memory";
  if (d->cuMemAlloc_v2(&t->flag, ALIGN) != CU_SUCCESS) t->flag = 0;
  if (t->flag && d->cuMemAlloc_v2(&t->before, bytes) != CU_SUCCESS) t->before = 0;
  if (t->before && d->cuMemAlloc_v2(&t->after, bytes) != CU_SUCCESS) t->after = 0;
  return t->after ? NULL : "there is no room for copies of its memory";
}

/* ---- The launch -------------------------------------------------------------------------------- */

static const char *find_reach(run_trial *t, const run_facts *f, const run_launch *l) {
  unsigned long long context;
  size_t left = 0, total = 0;
  if (!run_real.cuMemGetInfo_v2 || run_real.cuMemGetInfo_v2(&left, &total) != CU_SUCCESS) left = 0;
  const char *why = run_reach_of(f, l, t->l.stream, left / 4, 1, false, &t->reach);
  if (!why && run_real.cuCtxGetId(NULL, &context) != CU_SUCCESS) why = "it has no context";
  for (size_t k = 0; !why && k < t->reach.ranges.n; k++)
    if (t->reach.ranges.data[k].context != context) why = "it uses another context's memory";
  return why;
}

static int once(run_trial *t, cu_function f, const uint32_t grid[3], void **params, void **extra,
                double *seconds) {
  const run_driver *d = &run_real;
  float ms = 0;
  int r = d->cuEventRecord(t->begin, t->l.stream);
  if (r == CU_SUCCESS) r = run_send(&t->l, f, grid, params, extra);
  if (r == CU_SUCCESS) r = d->cuEventRecord(t->end, t->l.stream);
  if (r == CU_SUCCESS) r = d->cuStreamSynchronize(t->l.stream);
  if (r == CU_SUCCESS) r = d->cuEventElapsedTime(&ms, t->begin, t->end);
  *seconds = ms > 0 ? (double)ms * 1e-3 : 1e-9;
  return r;
}

/* Memory that is twice as large as L2 is filled, and nothing else stays there. */
static int flush(run_trial *t) {
  enum { FEWEST = 1 << 16 };
  const run_driver *d = &run_real;
  int device, bytes = 0;
  size_t left = 0, total = 0;
  if (!t->other) {
    if (d->cuCtxGetDevice(&device) != CU_SUCCESS ||
        d->cuDeviceGetAttribute(&bytes, CU_ATTR_L2_BYTES, device) != CU_SUCCESS || bytes <= 0)
      return CU_NOT_SUPPORTED;
    t->other_bytes = 2 * (uint64_t)(bytes > FEWEST ? bytes : FEWEST);
    if (d->cuMemGetInfo_v2(&left, &total) != CU_SUCCESS || t->other_bytes > left / 4 ||
        d->cuMemAlloc_v2(&t->other, t->other_bytes) != CU_SUCCESS) {
      t->other = 0;
      return CU_NOT_SUPPORTED;
    }
  }
  return d->cuMemsetD8Async(t->other, 0, t->other_bytes, t->l.stream);
}

int run_trial_run(run_trial *t, run_variant *v, bool flushed, double *seconds, bool *same) {
  run_replacement p;
  int r = copy(t, t->before, true);
  t->as_after = false;
  if (r == CU_SUCCESS && flushed) r = flush(t);
  if (r != CU_SUCCESS) return r;
  if (!v)
    r = once(t, t->function, t->l.grid, t->l.params, t->l.extra, seconds);
  else
    r = run_replace(v, &t->l, &p) ? once(t, p.function, p.grid, p.params, p.extra, seconds)
                                  : CU_NOT_SUPPORTED;
  if (r == CU_SUCCESS && same) r = compare(t, same);
  t->as_after = r == CU_SUCCESS && same && *same;
  return r;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

static const char *prepare(run_trial *t, const run_facts *f, const run_launch *l) {
  static const char old[] = "the driver is too old";
  const run_driver *d = &run_real;
  if (f->effect) return f->effect;
  if (!d->cuStreamCreate || !d->cuStreamDestroy_v2 || !d->cuStreamSynchronize || !d->cuEventCreate ||
      !d->cuEventRecord || !d->cuEventElapsedTime || !d->cuEventDestroy_v2 || !d->cuMemcpyDtoDAsync_v2 ||
      !d->cuMemcpyDtoHAsync_v2 || !d->cuMemsetD8Async || !d->cuMemAlloc_v2 || !d->cuMemFree_v2 ||
      !d->cuLibraryLoadData || !d->cuLibraryGetKernel || !d->cuKernelGetFunction || !d->cuCtxGetId)
    return old;
  const char *why = run_not_alone(RUN_PATIENCE);
  if (why) return why;
  t->l = *l;
  t->l.per_thread = false;
  t->l.stream = NULL;
  if (d->cuStreamCreate(&t->l.stream, CU_STREAM_NON_BLOCKING) != CU_SUCCESS) {
    t->l.stream = NULL;
    return old;
  }
  if (d->cuEventCreate(&t->begin, 0) != CU_SUCCESS) t->begin = NULL;
  if (d->cuEventCreate(&t->end, 0) != CU_SUCCESS) t->end = NULL;
  if (!t->begin || !t->end) return old;
  why = find_reach(t, f, l);
  if (!why) why = find_room(t);
  if (!why && !run_guard_open(&t->guard, t->reach.others.data, t->reach.others.n))
    why = "there is no room for copies of its memory";
  if (!why && run_guard_sum(&t->guard, t->l.stream, &t->untouched) != CU_SUCCESS)
    why = "the driver does not copy its memory";
  if (!why && (copy(t, t->before, false) != CU_SUCCESS || d->cuStreamSynchronize(t->l.stream) != CU_SUCCESS))
    why = "the driver does not copy its memory";
  return why;
}

/* A program that reads memory before it writes it finds zeros in new memory, and would find what this held.
 */
static void clear(run_trial *t) {
  const run_driver *d = &run_real;
  const uint64_t bytes = room_of(t);
  if (t->before) d->cuMemsetD8Async(t->before, 0, bytes, t->l.stream);
  if (t->after) d->cuMemsetD8Async(t->after, 0, bytes, t->l.stream);
  if (t->flag) d->cuMemsetD8Async(t->flag, 0, ALIGN, t->l.stream);
  run_guard_clear(&t->guard, t->l.stream);
  d->cuStreamSynchronize(t->l.stream);
}

static void release(run_trial *t) {
  const run_driver *d = &run_real;
  const uint64_t memory[] = {t->before, t->after, t->flag, t->other};
  if (t->l.stream) clear(t);
  for (size_t k = 0; k < sizeof memory / sizeof *memory; k++)
    if (memory[k]) d->cuMemFree_v2(memory[k]);
  run_guard_close(&t->guard);
  if (t->begin) d->cuEventDestroy_v2(t->begin);
  if (t->end) d->cuEventDestroy_v2(t->end);
  if (t->l.stream) {
    run_states_free(t->l.stream);
    d->cuStreamDestroy_v2(t->l.stream);
  }
  run_reach_free(&t->reach);
  free(t);
}

/* NULL: the memory that it is not known to reach holds what it held. */
static const char *touched(run_trial *t) {
  uint64_t sum;
  if (run_guard_sum(&t->guard, t->l.stream, &sum) != CU_SUCCESS)
    return "the memory that it does not reach could not be checked";
  return sum == t->untouched ? NULL : "it writes memory that heddle did not see it reach";
}

/* NULL: memory is as the program's own launch left it. */
static const char *changed(run_trial *t) {
  bool same = false;
  if (!t->as_after) return "the memory that the launch wrote could not be restored";
  if (compare(t, &same) != CU_SUCCESS) return "the memory that the launch wrote could not be checked";
  return same ? touched(t) : "the memory that the launch wrote differs";
}

/* The program goes on with what its own launch left, or with a line that says that this is not so, or not
 * known. */
static void check_end(run_trial *t) {
  const char *why = changed(t);
  if (!why) return;
  const char *strict = getenv("HEDDLE_STRICT");
  run_say("after trials the program's memory may not be as its launch left it: %s", why);
  if (strict && strcmp(strict, "1") == 0) abort();
}

const char *run_trial_open(const run_facts *facts, cu_function function, const run_launch *l, run_trial **out,
                           bool *launched, int *result) {
  run_trial *t = calloc(1, sizeof *t);
  *launched = false;
  if (!t) return "no memory";
  const char *why = prepare(t, facts, l);
  if (!why) {
    t->function = function;
    *launched = true;
    /* The program learns from its own calls how a launch that was taken ends. */
    *result = run_send(&t->l, function, l->grid, l->params, l->extra);
    if (*result != CU_SUCCESS || run_real.cuStreamSynchronize(t->l.stream) != CU_SUCCESS ||
        copy(t, t->after, false) != CU_SUCCESS)
      why = "a launch failed";
  }
  if (!why && run_real.cuStreamSynchronize(t->l.stream) != CU_SUCCESS) why = "a launch failed";
  if (!why) why = touched(t);
  if (why) {
    release(t);
    return why;
  }
  t->as_after = true;
  *out = t;
  return NULL;
}

void run_trial_close(run_trial *t) {
  enum { TRIES = 3 };
  for (int k = 0; k < TRIES && !t->as_after; k++)
    t->as_after =
        copy(t, t->after, true) == CU_SUCCESS && run_real.cuStreamSynchronize(t->l.stream) == CU_SUCCESS;
  check_end(t);
  release(t);
}
