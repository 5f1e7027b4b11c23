/* A driver that does nothing: it hands out handles and counts launches. FAKE_FAIL=N: its N-th call fails, and
 * it does a little: memory is the host's, a launch adds one to the word that its first parameter points at,
 * or compares two ranges, as the kernels do that compare what launches wrote, and what was unloaded is
 * launched no more. */
#include "fake.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { OWN = 2, FAILED = 2, MOST_HANDLES = 1 << 20 };

static atomic_ulong calls, launches, handles;
static atomic_long held;

EXPORT unsigned long fake_launches(void) { return launches; }
EXPORT unsigned long fake_calls(void) { return calls; }
EXPORT long fake_held(void) { return held; }

static long fail = -1;

static int call(void) {
  if (fail < 0) fail = getenv("FAKE_FAIL") ? atol(getenv("FAKE_FAIL")) : 0;
  if (!fail) return 0; /* as quickly as can be: launches are timed */
  return atomic_fetch_add(&calls, 1) + 1 == (unsigned long)fail ? FAILED : 0;
}

/* What each handle was got from, and whether it is unloaded, by their numbers. */
static struct {
  atomic_uint from, params; /* params: how many its first kernel has */
  char name[16];            /* of a function */
  atomic_bool gone, streams, loaded, blocks;
  unsigned long long context; /* of a stream */
  uint64_t text;              /* a digest of a library's text */
  bool in_front;              /* it declares shared memory in front of its kernel */
} given[MOST_HANDLES];

/* 0: none of those that were handed out. */
static unsigned number(run_handle h) {
  const uintptr_t k = ((uintptr_t)h - 0x100000) / 64 + 1;
  return (uintptr_t)h >= 0x100000 && k < MOST_HANDLES ? (unsigned)k : 0;
}

static run_handle handle_of(uintptr_t k) { return (run_handle)(0x100000 + 64 * k); }

/* `out`: of a handle, whatever it is of; so below. */
static void put(void *out, run_handle h) { memcpy(out, &h, sizeof h); }
static unsigned number_at(const void *out) {
  run_handle h;
  memcpy(&h, out, sizeof h);
  return number(h);
}

static int hand_out(void *out, run_handle from) {
  const int r = call();
  if (r) return r;
  put(out, handle_of(atomic_fetch_add(&handles, 1)));
  given[number_at(out)].from = number(from);
  return 0;
}

EXPORT int fake_call(void) { return call(); }
EXPORT unsigned fake_params(cu_function function) { return given[given[number(function)].from].params; }

/* Machine code of the fake compiler: an ELF header, and the text that it was made of. An assembler may make
 * some that is not taken. */
enum { HEADER = 64, IS_BAD = 14, HAS_TEXT = 15 };
static atomic_ulong compiled;
EXPORT unsigned long fake_compiled(void) { return compiled; }

static uint64_t digest_of(const char *text) {
  uint64_t h = 1469598103934665603;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211;
  return h >> 8 | 1;
}

/* Libraries that were loaded, and those of them that were behind a launch. */
static atomic_ulong libraries, late;
EXPORT unsigned long fake_libraries(void) { return libraries; }
EXPORT unsigned long fake_late(void) { return late; }

static int load(void *out, const char *image, bool library) {
  libraries += library;
  late += library && launches;
  fake_load(1);
  const bool is_bad = image[0] == 0x7f && image[IS_BAD] == '1';
  const int disturbs = fake_disturb(), r = disturbs ? disturbs : is_bad ? FAILED : hand_out(out, NULL);
  fake_load(-1);
  if (image[0] != 0x7f) fake_compile();
  if (image[0] != 0x7f)
    compiled++;
  else if (image[HAS_TEXT])
    image += HEADER;
  if (!r && library) given[number_at(out)].text = digest_of(image);
  const char *at = r ? NULL : strstr(image, ".entry"), *end = at ? strchr(at, ')') : NULL;
  const char *shared = at ? strstr(image, ".shared") : NULL;
  if (shared) given[number_at(out)].in_front = shared < at;
  while (end && (at = strstr(at + 1, ".param")) && at < end) given[number_at(out)].params++;
  return r;
}

/* A module's function has one handle. */
static int function_of(cu_function *out, cu_module module, const char *name) {
  const unsigned n = atomic_load(&handles);
  for (unsigned k = 1; fail > 0 && k <= n && k < MOST_HANDLES; k++)
    if (given[k].from == number(module) && strcmp(given[k].name, name) == 0) {
      put(out, handle_of(k - 1));
      return call();
    }
  const int r = hand_out(out, module);
  if (!r) snprintf(given[number(*out)].name, sizeof given->name, "%s", name);
  return r;
}

static int unload(run_handle h) {
  const int r = call();
  if (number(h)) given[number(h)].gone = true;
  return r ? r : fake_disturb();
}

/* Kernels of heddle's: two that compare, and one that sums; all others add. FAKE_UNSUMMED is set: that one
 * fails from the first launch of another on, in a stream that was made before. */
static struct cu_function_ { char none; } comparing[2], summing;
static atomic_bool added;

static int sum(cu_function function) {
  if (function == &summing) return added && getenv("FAKE_UNSUMMED") ? FAILED : 0;
  if (function != &comparing[0] && function != &comparing[1]) added = true;
  return 0;
}

static int launched(cu_function function, cu_stream stream, bool per_thread) {
  int r = call();
  if (!r && fail > 0) r = sum(function);
  if (!r) r = fake_use(stream, per_thread);
  fake_launch(&given[number(function)].loaded);
  if (!r && fail > 0 && given[given[number(function)].from].gone) r = FAKE_GONE;
  if (!r && number(function)) fake_take_time(given[given[number(function)].from].text, stream);
  if (!r) atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
  return r;
}

/* Such memory begins where the last variable ends that is declared in front of the kernel. */
static atomic_ulong behind;
EXPORT unsigned long fake_behind(void) { return behind; }

static void look_at_shared(cu_function function, unsigned bytes) {
  if (bytes && given[given[number(function)].from].in_front) behind++;
}

static void act(cu_function function, void **params) {
  uint64_t a[4];
  if (fail <= 0 || !params || function == &summing) return;
  const bool compares = function == &comparing[0] || function == &comparing[1];
  for (int k = 0; k < (compares ? 4 : 1); k++) memcpy(&a[k], params[k], sizeof a[k]);
  if (!compares)
    ++*(uint64_t *)(uintptr_t)a[0];
  else if (memcmp((void *)(uintptr_t)a[0], (void *)(uintptr_t)a[1],
                  a[2] * (function == &comparing[0] ? 8 : 1)) != 0)
    *(uint32_t *)(uintptr_t)a[3] = 1;
}

/* FAKE_WINDOW is set: the last launch took half as long, since it streams what its first parameter points at.
 * Events that are recorded behind it know. */
static atomic_bool streams;

static int record(cu_event event, cu_stream stream, bool per_thread) {
  given[number(event)].streams = streams;
  fake_record(event, stream, per_thread);
  fake_stamp(number(event));
  const int r = call();
  return r ? r : fake_use(stream, per_thread);
}

static void look_at(const cu_launch_config *c, void **params) {
  streams = false;
  for (unsigned k = 0; c && k < c->n_attributes && getenv("FAKE_WINDOW"); k++) {
    const cu_launch_attribute *a = &c->attributes[k];
    int hit;
    memcpy(&hit, a->value.bytes + 20, sizeof hit);
    streams = streams || (a->id == 1 && hit == 1 && memcmp(a->value.bytes, params[0], sizeof(uint64_t)) == 0);
  }
}

static int launch(cu_function function, void **params, cu_stream stream, bool per_thread) {
  const int r = launched(function, stream, per_thread);
  if (!r) act(function, params);
  return r;
}

void fake_run(cu_function function, void **params, cu_stream stream) {
  fake_take_time(given[given[number(function)].from].text, stream);
  atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
  act(function, params);
}

static int answer(int *out, int value) {
  const int r = call();
  if (!r) *out = value;
  return r;
}

static int kernel(cu_function *out, cu_library library, const char *name) {
  const int r = hand_out(out, library);
  if (!r && strcmp(name, "words") == 0) put(out, &comparing[0]);
  if (!r && strcmp(name, "bytes") == 0) put(out, &comparing[1]);
  if (!r && strcmp(name, "sum") == 0) put(out, &summing);
  return r;
}

static int allocate(uint64_t *address, size_t bytes) {
  const int failed = call(), r = failed ? failed : fake_disturb();
  fake_may_wait();
  if (!r) *address = (uint64_t)(uintptr_t)calloc(1, bytes);
  if (!r) held++;
  return r;
}

static int copy(void *to, const void *from, size_t bytes) {
  const int r = call();
  if (!r && fail > 0) memcpy(to, from, bytes);
  return r;
}

static int variable(uint64_t *address, size_t *bytes) {
  static uint64_t word;
  const int r = call();
  fake_may_wait();
  if (r) return r;
  *address = (uint64_t)(uintptr_t)&word;
  *bytes = sizeof word;
  return 0;
}

/* The last text that a link was given, and what it becomes. */
static struct {
  char code[1 << 16];
  size_t bytes;
} linked = {.code = {0x7f, 'E', 'L', 'F', 2}, .bytes = HEADER};

static int add_to_link(int type, const char *data, size_t bytes) {
  if (type == 1 && HEADER + bytes < sizeof linked.code) {
    memcpy(linked.code + HEADER, data, bytes);
    linked.code[HEADER + bytes] = 0;
    linked.code[HAS_TEXT] = 1;
    linked.bytes = HEADER + bytes + 1;
  }
  return call();
}

static int made(void **cubin, size_t *bytes) {
  *cubin = linked.code;
  *bytes = linked.bytes;
  compiled++;
  return call();
}

static int make_function_ready(cu_function function) {
  fake_may_wait();
  given[number(function)].loaded = true;
  const int r = call();
  return r ? r : fake_disturb();
}

static int make_stream(cu_stream *out, unsigned flags) {
  const int r = hand_out(out, NULL);
  if (!r) given[number(*out)].blocks = !(flags & CU_STREAM_NON_BLOCKING);
  if (!r) given[number(*out)].context = fake_current();
  added = false;
  return r;
}

void fake_stream(cu_stream stream, unsigned long long *context, bool *blocks) {
  *context = given[number(stream)].context;
  *blocks = given[number(stream)].blocks;
}

static bool any_blocks(void) {
  for (unsigned k = 1; k <= handles && k < MOST_HANDLES; k++)
    if (given[k].blocks && fake_query(handle_of(k - 1), false)) return true;
  return false;
}

static int query(cu_stream stream) {
  const int disturbs = fake_disturb(), r = disturbs ? disturbs : fake_ask(stream);
  return r ? r : fake_query(stream, (uintptr_t)stream < 2 && any_blocks());
}

static int time_between(float *ms, cu_event begin, cu_event end) {
  int r = fake_disturb();
  if (!r && fake_is_timed()) r = fake_elapsed(ms, number(begin), number(end));
  if (r || fake_is_timed()) return r ? r : call();
  *ms = given[number(end)].streams ? 0.5F : 1;
  return r ? r : call();
}

static int same(cu_function *out, cu_function from) {
  const int r = call();
  if (!r) *out = from;
  return r;
}

/* The arguments say where a flag is, and 1 to 8: unless it is set, sets it, and waits until it is
 * something else. */
static int wait_for(atomic_int *flag, const uint64_t *words) {
  for (uint64_t k = 0; k < 8; k++)
    if (words[k] != k + 1) return FAILED;
  int unset = 0;
  if (!atomic_compare_exchange_strong(flag, &unset, FAKE_WAITS)) return 0;
  while (*flag == FAKE_WAITS) usleep(100);
  return 0;
}

/* FAKE_DEVICES=N: there are N devices, and it does not say whether the others have a context; 0: nor how many
 * there are. */
static int count_devices(int *n) {
  const char *devices = getenv("FAKE_DEVICES");
  const int r = answer(n, devices ? atoi(devices) : 1);
  return r || *n ? r : FAILED;
}

/* An entry point that does something. */
#define GIVES(symbol, parameters, what)                                                                      \
  EXPORT int symbol parameters { return what; }

GIVES(cuInit, (unsigned flags), call())
GIVES(cuDriverGetVersion, (int *version), answer(version, 13000))
GIVES(cuDeviceGetCount, (int *n), count_devices(n))
GIVES(cuDevicePrimaryCtxGetState, (cu_device device, unsigned *flags, int *active),
      device ? FAILED : answer(active, 0))
GIVES(cuDeviceGet, (cu_device * device, int ordinal), answer(device, ordinal))
GIVES(cuDeviceGetName, (char *name, int cap, cu_device device), (snprintf(name, (size_t)cap, "fake"), call()))
GIVES(cuDeviceGetAttribute, (int *value, int attribute, cu_device device),
      answer(value, attribute == 75   ? 9
                    : attribute == 76 ? 0
                                      : 4))
GIVES(cuFuncGetParamInfo, (cu_function function, size_t index, size_t *offset, size_t *bytes),
      (*offset = 8 * index, *bytes = 8, index ? FAILED : call()))
GIVES(cuKernelGetParamInfo, (cu_function kernel, size_t index, size_t *offset, size_t *bytes),
      (call(), FAILED))
GIVES(cuCtxGetLimit, (size_t * value, int limit), (*value = 1 << 20, call()))
GIVES(cuCtxGetDevice, (cu_device * device), answer(device, 0))
GIVES(cuCtxGetId, (cu_context context, unsigned long long *id), (*id = context ? 1 : fake_current(), call()))
GIVES(cuMemcpyBatchAsync,
      (cu_address * dst, cu_address *src, size_t *bytes, size_t n, const void *attributes, size_t *of,
       size_t n_attributes, size_t *failed, cu_stream stream),
      wait_for((atomic_int *)dst,
               (const uint64_t[]){(uintptr_t)src, (uintptr_t)bytes, n, (uintptr_t)attributes, (uintptr_t)of,
                                  n_attributes, (uintptr_t)failed, (uintptr_t)stream}))
GIVES(cuModuleLoad, (cu_module * module, const char *path), hand_out(module, NULL))
GIVES(cuModuleLoadData, (cu_module * module, const void *image), load(module, image, false))
GIVES(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name),
      function_of(function, module, name))
GIVES(cuLibraryLoadData,
      (cu_library * library, const void *image, int *jit, void **jit_values, unsigned n_jit, int *options,
       void **values, unsigned n),
      (held++, load(library, image, true)))
GIVES(cuModuleGetGlobal_v2, (cu_address * address, size_t *bytes, cu_module module, const char *name),
      variable(address, bytes))
GIVES(cuLibraryGetGlobal, (cu_address * address, size_t *bytes, cu_library library, const char *name),
      variable(address, bytes))
GIVES(cuLibraryUnload, (cu_library library), (held--, fake_may_wait(), unload(library)))
GIVES(cuLinkCreate_v2, (unsigned n, int *options, void **values, cu_link *link), hand_out(link, NULL))
GIVES(cuLinkAddData_v2,
      (cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n, int *options,
       void **values),
      add_to_link(type, data, bytes))
GIVES(cuLinkComplete, (cu_link link, void **cubin, size_t *bytes), made(cubin, bytes))
GIVES(cuModuleUnload, (cu_module module), unload(module))
GIVES(cuLibraryGetKernel, (cu_function * out, cu_library library, const char *name),
      kernel(out, library, name))
GIVES(cuKernelGetFunction, (cu_function * function, cu_function kernel), same(function, kernel))
GIVES(cuMemAlloc_v2, (cu_address * address, size_t bytes), allocate(address, bytes))
GIVES(cuMemFree_v2, (cu_address address),
      (free((void *)(uintptr_t)address), held--, fake_may_wait(), fake_disturb() ? FAILED : call()))
GIVES(cuMemGetInfo_v2, (size_t * left, size_t *total), (*left = *total = 1 << 30, call()))
GIVES(cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t bytes, cu_stream stream),
      copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes))
GIVES(cuMemcpyDtoHAsync_v2, (void *to, cu_address from, size_t bytes, cu_stream stream),
      copy(to, (const void *)(uintptr_t)from, bytes))
GIVES(cuMemcpyHtoDAsync_v2, (cu_address to, const void *from, size_t bytes, cu_stream stream),
      copy((void *)(uintptr_t)to, from, bytes))
GIVES(cuMemsetD8Async, (cu_address address, uint8_t value, size_t bytes, cu_stream stream),
      (fake_fill(bytes), fail > 0 ? memset((void *)(uintptr_t)address, value, bytes) : NULL, call()))
GIVES(cuEventElapsedTime, (float *ms, cu_event begin, cu_event end), time_between(ms, begin, end))
GIVES(cuEventRecord, (cu_event event, cu_stream stream), record(event, stream, false))
GIVES(cuEventRecord_ptsz, (cu_event event, cu_stream stream), record(event, stream, true))
GIVES(cuEventDestroy_v2, (cu_event event), (fake_event_gone(number(event)), 0))
GIVES(cuEventCreate, (cu_event * event, unsigned flags), hand_out(event, NULL))
GIVES(cuStreamCreate, (cu_stream * stream, unsigned flags), make_stream(stream, flags))
GIVES(cuStreamCreateWithPriority, (cu_stream * stream, unsigned flags, int priority),
      make_stream(stream, flags))
GIVES(cuStreamQuery, (cu_stream stream), query(stream))
GIVES(cuFuncLoad, (cu_function function), make_function_ready(function))
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, cu_function function, int threads, size_t shared),
      answer(n, 2))
GIVES(cuLaunchKernel,
      (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, cu_stream stream, void **params, void **extra),
      (fail > 0 ? look_at(NULL, params) : (void)0, look_at_shared(function, shared),
       launch(function, params, stream, false)))
GIVES(cuLaunchKernel_ptsz,
      (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shared, cu_stream stream, void **params, void **extra),
      (fail > 0 ? look_at(NULL, params) : (void)0, look_at_shared(function, shared),
       launch(function, params, stream, true)))
GIVES(cuLaunchKernelEx, (const cu_launch_config *config, cu_function function, void **params, void **extra),
      (fail > 0 ? look_at(config, params) : (void)0, launch(function, params, config->stream, false)))
GIVES(cuGraphAddKernelNode_v2,
      (cu_node * node, cu_graph graph, cu_node *after, size_t n, const cu_kernel_node *p),
      graph ? fake_add_node(node, p) : launched(p->function, (cu_stream)OWN, false))
