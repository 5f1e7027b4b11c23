/* A CUDA driver without a GPU: the functions that heddle calls, on heddle's own emulator. Any call can be
 * made to fail, and live objects are counted. As in the real driver, a kernel's fault shows in a later call,
 * and after a sticky result every call gives it again. */
#include "fake_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_cuda fake = {.carveout = -1, .passes = 3};

enum { DEFAULT_DYNAMIC = 48 << 10, MOST_DYNAMIC = 227 << 10, L2_BYTES = 1 << 20, SMS = 4 };

static struct {
  hd_emu *emu;
  int sticky;  /* every call's result from now on */
  int pending; /* the failure that the next synchronisation finds */
} driver;

static struct cu_context_ { int retained; } the_context;

struct cu_module_ {
  hd_arena arena;
  hd_ptx_module *ptx;
  hd_emu_program *program;
  struct cu_function_ *functions;
};

struct cu_function_ {
  struct cu_function_ *next;
  struct cu_module_ *module;
  char name[128];
  int dynamic_limit, carveout;
};

struct cu_event_ {
  double clock;
};

/* Streams run beside each other: each has a clock of its own, in microseconds. */
struct cu_stream_ {
  double clock;
  unsigned sms;
};

struct cu_green_ {
  unsigned sms;
};

/* ---- Failing --------------------------------------------------------------------- */

static int is_sticky(int r) { return cuda_classify(r).sticky; }

/* The environment's wishes: CALL:N:RESULT, and to be a part of a GPU. FAKE_CUDA_DEVICES says how many GPUs
 * there are; FAKE_CUDA_MIXED, that they are of different kinds. */
static void read_environment(void) {
  static char name[64];
  const char *text = getenv("FAKE_CUDA_FAIL");
  if (getenv("FAKE_CUDA_MIG")) fake.mig = 1;
  if (!text || fake.fail_at) return;
  if (sscanf(text, "%63[^:]:%u:%d", name, &fake.fail_at, &fake.fail_with) == 3) fake.fail_in = name;
}

int fake_fails(const char *call) {
  static int read;
  if (!read) read_environment();
  read = 1;
  if (fake.fail_in && strcmp(fake.fail_in, call) != 0) return 0;
  if (++fake.calls != fake.fail_at) return 0;
  snprintf(fake.last, sizeof fake.last, "%s", call);
  return 1;
}

/* Several threads may link at the same time; all else is one thread's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int fake_enter(const char *call) {
  pthread_mutex_lock(&lock);
  int r = driver.sticky;
  if (!r && fake_fails(call)) {
    r = fake.fail_with;
    if (is_sticky(r)) driver.sticky = r;
  }
  pthread_mutex_unlock(&lock);
  return r;
}

void fake_count(int *what, int more) { __atomic_add_fetch(what, more, __ATOMIC_RELAXED); }
hd_emu *fake_emulator(void) { return driver.emu; }

static int synchronize(void) {
  if (driver.pending) driver.sticky = driver.pending;
  return driver.sticky;
}

/* The library is closed, or the process ends. */
__attribute__((destructor)) static void destroy_emulator(void) {
  if (driver.emu) hd_emu_destroy(driver.emu);
  driver.emu = NULL;
}

EXPORT void fake_cuda_reset(void) {
  destroy_emulator();
  memset(&driver, 0, sizeof driver);
  memset(&fake, 0, sizeof fake);
  fake.carveout = -1;
  fake.passes = 3;
}

/* ---- Devices ------------------------------------------------------------------------ */

EXPORT int cuInit(unsigned flags) {
  ENTER();
  if (driver.emu) return 0;
  /* A part of a GPU: CTAs run on SMs of a larger one, whose numbers have holes. */
  hd_emu_options o = {.threads = 1, .n_sms = fake.mig ? 2 * SMS : SMS, .memory = 256u << 20};
  return hd_emu_create(&o, &driver.emu, NULL) == HD_OK ? 0 : CU_OUT_OF_MEMORY;
}

EXPORT int cuDriverGetVersion(int *version) {
  ENTER();
  *version = 13000;
  return 0;
}

EXPORT int cuGetErrorName(cu_result r, const char **text) {
  *text = r == CU_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : r == CU_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
          : r == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                  : NULL;
  return *text ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuGetErrorString(cu_result r, const char **text) {
  *text = r == CU_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
          : r == CU_LAUNCH_FAILED ? "unspecified launch failure"
          : r == CU_OUT_OF_MEMORY ? "out of memory"
                                  : NULL;
  return *text ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuDeviceGetCount(int *n) {
  ENTER();
  const char *text = getenv("FAKE_CUDA_DEVICES");
  *n = text ? atoi(text) : 1;
  return 0;
}

EXPORT int cuDeviceGet(cu_device *device, int ordinal) {
  ENTER();
  *device = ordinal;
  return 0;
}

EXPORT int cuDeviceGetName(char *name, int cap, cu_device device) {
  ENTER();
  const bool other = device && getenv("FAKE_CUDA_MIXED");
  snprintf(name, (size_t)cap, "%s", other ? "Other fake GPU" : "Fake GPU");
  return 0;
}

static void uuid(cu_uuid *u, int first) {
  for (int i = 0; i < 16; i++) u->bytes[i] = (unsigned char)(first + 16 * i);
}

EXPORT int cuDeviceGetUuid(cu_uuid *u, cu_device device) {
  ENTER();
  uuid(u, 1 + device);
  return 0;
}

EXPORT int cuDeviceGetUuid_v2(cu_uuid *u, cu_device device) {
  ENTER();
  uuid(u, 1 + device + fake.mig);
  return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, cu_device device) {
  static const int table[][2] = {
      {CU_ATTR_CLOCK_KHZ, 1500000},
      {CU_ATTR_SMS, SMS},
      {CU_ATTR_MEMORY_CLOCK_KHZ, 2000000},
      {CU_ATTR_MEMORY_BUS_BITS, 256},
      {CU_ATTR_L2_BYTES, L2_BYTES},
      {CU_ATTR_THREADS_PER_SM, 2048},
      {CU_ATTR_ARCH_MAJOR, 9},
      {CU_ATTR_ARCH_MINOR, 0},
      {CU_ATTR_SHARED_PER_SM, 228 << 10},
      {CU_ATTR_REGISTERS_PER_SM, 65536},
      {CU_ATTR_SHARED_PER_CTA, MOST_DYNAMIC},
      {CU_ATTR_CTAS_PER_SM, 32},
      {CU_ATTR_SHARED_RESERVED, 1024},
  };
  ENTER();
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i][0] == attribute) {
      *value = table[i][1];
      return 0;
    }
  return CU_INVALID_VALUE;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, cu_device device) {
  ENTER();
  *bytes = 256u << 20;
  return 0;
}

/* ---- Contexts, streams, events --------------------------------------------------------- */

EXPORT int cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
  ENTER();
  *context = &the_context;
  fake.contexts++;
  return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(cu_device device) {
  fake.contexts--;
  return driver.sticky;
}

EXPORT int cuCtxPushCurrent_v2(cu_context context) {
  ENTER();
  if (context != &the_context) return 201;
  fake_count(&fake.pushes, 1);
  return 0;
}

EXPORT int cuCtxPopCurrent_v2(cu_context *context) {
  fake_count(&fake.pushes,
             -1); /* a failed pop too, or a test of its failure would see a leak that the driver has made */
  ENTER();
  *context = &the_context;
  return 0;
}

EXPORT int cuStreamCreate(cu_stream *stream, unsigned flags) {
  ENTER();
  *stream = calloc(1, sizeof **stream);
  if (!*stream) return CU_OUT_OF_MEMORY;
  (*stream)->sms = SMS;
  fake.streams++;
  return 0;
}

EXPORT int cuStreamDestroy_v2(cu_stream stream) {
  free(stream);
  fake.streams--;
  return driver.sticky;
}

EXPORT int cuStreamSynchronize(cu_stream stream) {
  ENTER();
  return synchronize();
}

EXPORT int cuEventCreate(cu_event *event, unsigned flags) {
  ENTER();
  *event = calloc(1, sizeof **event);
  fake.events++;
  return *event ? 0 : CU_OUT_OF_MEMORY;
}

EXPORT int cuEventDestroy_v2(cu_event event) {
  free(event);
  fake.events--;
  return driver.sticky;
}

EXPORT int cuEventRecord(cu_event event, cu_stream stream) {
  ENTER();
  event->clock = stream->clock;
  return 0;
}

EXPORT int cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  ENTER();
  if (stream->clock < event->clock) stream->clock = event->clock;
  return 0;
}

EXPORT int cuEventSynchronize(cu_event event) {
  ENTER();
  return synchronize();
}

EXPORT int cuEventElapsedTime(float *ms, cu_event begin, cu_event end) {
  ENTER();
  *ms = (float)((end->clock - begin->clock) / 1000);
  return 0;
}

/* ---- Green contexts: SMs are parted by twos ------------------------------------------------ */

EXPORT int cuDeviceGetDevResource(cu_device device, cu_sms *sms, int type) {
  ENTER();
  if (type != CU_RESOURCE_SMS) return CU_INVALID_VALUE;
  *sms = (cu_sms){.type = type, .n = SMS};
  return 0;
}

EXPORT int cuDevSmResourceSplitByCount(cu_sms *parts, unsigned *n, const cu_sms *all, cu_sms *rest,
                                       unsigned flags, unsigned least) {
  ENTER();
  if (*n != 1 || all->type != CU_RESOURCE_SMS || least > all->n) return CU_INVALID_VALUE;
  *parts = *rest = *all;
  parts->n = (least + 1) / 2 * 2;
  rest->n = all->n - parts->n;
  return 0;
}

EXPORT int cuDevResourceGenerateDesc(cu_resources *out, cu_sms *sms, unsigned n) {
  ENTER();
  if (n != 1 || !sms->n) return CU_INVALID_VALUE;
  *out = (cu_resources)(uintptr_t)sms->n;
  return 0;
}

EXPORT int cuGreenCtxCreate(cu_green *out, cu_resources resources, cu_device device, unsigned flags) {
  ENTER();
  if (flags != CU_GREEN_DEFAULT_STREAM) return CU_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return CU_OUT_OF_MEMORY;
  (*out)->sms = (unsigned)(uintptr_t)resources;
  fake.greens++;
  return 0;
}

EXPORT int cuGreenCtxDestroy(cu_green green) {
  free(green);
  fake.greens--;
  return driver.sticky;
}

EXPORT int cuGreenCtxStreamCreate(cu_stream *stream, cu_green green, unsigned flags, int priority) {
  ENTER();
  if (flags != CU_STREAM_NON_BLOCKING) return CU_INVALID_VALUE;
  *stream = calloc(1, sizeof **stream);
  if (!*stream) return CU_OUT_OF_MEMORY;
  (*stream)->sms = green->sms;
  fake.streams++;
  return 0;
}

/* ---- Memory --------------------------------------------------------------------------- */

EXPORT int cuMemAlloc_v2(cu_address *address, size_t bytes) {
  ENTER();
  if (!bytes) return CU_INVALID_VALUE;
  if (hd_emu_alloc(driver.emu, bytes, address, NULL) != HD_OK) return CU_OUT_OF_MEMORY;
  fake.allocations++;
  return 0;
}

EXPORT int cuMemFree_v2(cu_address address) {
  fake.allocations--;
  hd_emu_free(driver.emu, address, NULL);
  return fake_enter(__func__);
}

static int copy(cu_address to, const void *from, size_t bytes) {
  return hd_emu_write(driver.emu, to, from, bytes, NULL) == HD_OK ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes, cu_stream stream) {
  ENTER();
  return copy(to, from, bytes);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream) {
  ENTER();
  const void *p = hd_emu_ptr(driver.emu, from, bytes);
  if (!p) return CU_INVALID_VALUE;
  memcpy(to, p, bytes);
  return 0;
}

EXPORT int cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes, cu_stream stream) {
  ENTER();
  const void *p = hd_emu_ptr(driver.emu, from, bytes);
  return p ? copy(to, p, bytes) : CU_INVALID_VALUE;
}

EXPORT int cuMemsetD8Async(cu_address to, unsigned char value, size_t n, cu_stream stream) {
  ENTER();
  void *p = hd_emu_ptr(driver.emu, to, n);
  if (!p) return CU_INVALID_VALUE;
  memset(p, value, n);
  hd_emu_mark_written(driver.emu, to, n);
  fake.flushes += n == 2 * L2_BYTES;
  return 0;
}

/* ---- Modules ---------------------------------------------------------------------------- */

static void free_module(cu_module m) {
  if (m->program) hd_emu_unload(m->program);
  while (m->functions) {
    cu_function next = m->functions->next;
    free(m->functions);
    m->functions = next;
  }
  hd_arena_free(&m->arena);
  free(m);
}

/* The output of the fake assembler, tests/device/fake/ptxas: this mark, then the text. */
static const char assembled_mark[] = "\177ASSEMBLED\n";
enum { ASSEMBLED_MARK = sizeof assembled_mark - 1 };

EXPORT int cuModuleLoadDataEx(cu_module *module, const void *image, unsigned n, int *options, void **values) {
  ENTER();
  bool assembled = strncmp(image, assembled_mark, ASSEMBLED_MARK) == 0;
  if (assembled) image = (const char *)image + ASSEMBLED_MARK;
  cu_module m = calloc(1, sizeof *m);
  if (!m) return CU_OUT_OF_MEMORY;
  hd_diag d = {0};
  hd_arena_init(&m->arena);
  hd_status st = hd_ptx_parse(image, strlen(image), "ptxas application", &m->arena, &m->ptx, &d);
  if (st == HD_OK) st = hd_emu_load(driver.emu, m->ptx, &m->program, &d);
  if (st != HD_OK) {
    for (unsigned i = 0; i < n; i++)
      if (options[i] == CU_JIT_ERROR_LOG)
        snprintf(values[i], 256, "\nptxas application ptx input, line %u;\terror : %.128s\n\n", d.line,
                 d.message);
    free_module(m);
    return CU_INVALID_PTX;
  }
  *module = m;
  fake.modules++;
  if (assembled)
    fake.assembled++;
  else
    fake.compiled++;
  return 0;
}

EXPORT int cuModuleUnload(cu_module module) {
  free_module(module);
  fake.modules--;
  return driver.sticky;
}

EXPORT int cuModuleGetFunction(cu_function *function, cu_module module, const char *name) {
  ENTER();
  if (hd_ptx_find_kernel(module->ptx, name) < 0) return CU_NOT_FOUND;
  cu_function f = calloc(1, sizeof *f);
  if (!f) return CU_OUT_OF_MEMORY;
  *f = (struct cu_function_){
      .next = module->functions, .module = module, .dynamic_limit = DEFAULT_DYNAMIC, .carveout = -1};
  snprintf(f->name, sizeof f->name, "%s", name);
  *function = module->functions = f;
  return 0;
}

EXPORT int cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name) {
  ENTER();
  uint64_t n = 0;
  if (hd_emu_symbol(module->program, name, address, &n, NULL) != HD_OK) return CU_NOT_FOUND;
  *bytes = n;
  return 0;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, cu_function f) {
  ENTER();
  *value = attribute == CU_FUNC_MAX_THREADS          ? 1024
           : attribute == CU_FUNC_STATIC_SHARED      ? (int)hd_emu_static_shared(f->module->program, f->name)
           : attribute == CU_FUNC_REGISTERS          ? 32
           : attribute == CU_FUNC_MAX_DYNAMIC_SHARED ? f->dynamic_limit
                                                     : 0;
  return 0;
}

EXPORT int cuFuncSetAttribute(cu_function f, int attribute, int value) {
  ENTER();
  if (attribute == CU_FUNC_CARVEOUT) {
    f->carveout = value;
  } else {
    if (value > MOST_DYNAMIC) return CU_INVALID_VALUE;
    f->dynamic_limit = value;
  }
  return 0;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, cu_function f, int threads, size_t shared) {
  ENTER();
  if ((int)shared > f->dynamic_limit) return CU_INVALID_VALUE;
  *n = 2048 / threads < 32 ? 2048 / threads : 32;
  if (shared && *n > (int)((228u << 10) / shared)) *n = (int)((228u << 10) / shared);
  return 0;
}

/* A launch's block of arguments, which is to be freed; NULL: out of memory. */
static void *gather(cu_function f, void **params, uint64_t *bytes) {
  const hd_ptx_module *m = f->module->ptx;
  const hd_ptx_func *func = &m->funcs[hd_ptx_find_kernel(m, f->name)];
  uint64_t *offsets = calloc(func->n_params + 1, sizeof *offsets);
  *bytes = offsets ? hd_ptx_param_layout(m, func, offsets) : 0;
  char *block = offsets ? calloc(1, *bytes + 1) : NULL;
  for (uint32_t i = 0; block && i < func->n_params; i++)
    memcpy(block + offsets[i], params[i], hd_ptx_var_size(m, &m->vars[func->first_param + i]));
  free(offsets);
  return block;
}

EXPORT int cuLaunchKernelEx(const cu_launch_config *c, cu_function f, void **params, void **extra) {
  ENTER();
  if ((int)c->dynamic_shared > f->dynamic_limit || !params || extra) return CU_INVALID_VALUE;
  hd_emu_launch_params l = {.kernel = f->name,
                            .grid = {c->grid[0], c->grid[1], c->grid[2]},
                            .block = {c->block[0], c->block[1], c->block[2]},
                            .dynamic_shared = c->dynamic_shared};
  const cu_launch_attribute *attributes = c->attributes;
  for (unsigned k = 0; k < c->n_attributes; k++) {
    if (attributes[k].id != CU_LAUNCH_COOPERATIVE) return CU_INVALID_VALUE;
    l.cooperative = attributes[k].value.number;
  }
  void *block = gather(f, params, &l.args_bytes);
  if (!block) return CU_OUT_OF_MEMORY;
  l.args = block;
  hd_diag d;
  const hd_dispatch holes = {.kind = HD_DISPATCH_STARVED, .seed = 3, .resident = 2};
  hd_status st = hd_emu_launch(f->module->program, &l, fake.mig ? &holes : NULL, NULL, NULL, &d);
  free(block);
  if (st == HD_ERR_FAULT)
    driver.pending = CU_ILLEGAL_ADDRESS;
  else if (st != HD_OK)
    return l.cooperative ? CU_COOPERATIVE_TOO_LARGE : CU_INVALID_VALUE;
  fake.launches++;
  fake.carveout = f->carveout;
  /* Some microseconds by the size of the grid, and some noise. */
  c->stream->clock +=
      (5 + 0.125 * c->grid[0] * c->grid[1] + (double)(hd_random_at(7, fake.launches) % 64) / 64) * SMS /
      c->stream->sms;
  return 0;
}

EXPORT int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *element_strides, int interleave, int swizzle, int promotion,
                                  int fill) {
  ENTER();
  hd_tensor t = {.address = (uintptr_t)address,
                 .type = type,
                 .rank = rank,
                 .interleave = interleave,
                 .swizzle = swizzle,
                 .promotion = promotion,
                 .fill = fill};
  if ((uintptr_t)map % HD_TENSOR_MAP_ALIGN || !element_strides[0]) return CU_INVALID_VALUE;
  memcpy(t.dim, dims, rank * sizeof *dims);
  memcpy(t.stride, strides, (rank - 1) * sizeof *strides);
  memcpy(t.box, box, rank * sizeof *box);
  memcpy(t.element_stride, element_strides, rank * sizeof *element_strides);
  return hd_emu_tensor_map(&t, map, NULL) == HD_OK ? 0 : CU_INVALID_VALUE;
}
