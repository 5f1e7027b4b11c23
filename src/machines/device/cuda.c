/* cuda:N: the GPU, its context, its memory. */
#include "device/cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory -------------------------------------------------------------------------- */

static hd_status cuda_alloc(hd_device *dev, uint64_t bytes, uint64_t *address, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  char about[64];
  if (!hd_vec_reserve(&c->memory, c->memory.n + 1)) return hd_nomem(d);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  snprintf(about, sizeof about, "of %" PRIu64 " bytes", bytes);
  cu_address p = 0;
  st = CUDA_TRY(c, d, about, cuMemAlloc_v2, &p, bytes);
  if (st == HD_OK) {
    c->memory.data[c->memory.n++] = p;
    *address = p;
  }
  return cuda_leave(c, st, d);
}

static hd_status cuda_free(hd_device *dev, uint64_t address, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  size_t i = 0;
  while (i < c->memory.n && c->memory.data[i] != address) i++;
  if (i == c->memory.n)
    return hd_fail(d, HD_ERR_INPUT, "%s: nothing is allocated at 0x%" PRIx64, dev->info.name, address);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  c->memory.data[i] = c->memory.data[--c->memory.n];
  st = CUDA_TRY(c, d, "", cuMemFree_v2, address);
  return cuda_leave(c, st, d);
}

static hd_status wait(cuda_device *c, hd_diag *d) {
  hd_status st = CUDA_TRY(c, d, "", cuStreamSynchronize, c->stream);
  if (st == HD_OK) c->kernel[0] = 0;
  return st;
}

static hd_status cuda_sync(hd_device *dev, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  return st == HD_OK ? cuda_leave(c, wait(c, d), d) : st;
}

static hd_status cuda_write(hd_device *dev, uint64_t address, const void *src, uint64_t bytes, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  st = CUDA_TRY(c, d, "", cuMemcpyHtoDAsync_v2, address, src, bytes, c->stream);
  if (st == HD_OK) st = wait(c, d);
  return cuda_leave(c, st, d);
}

static hd_status cuda_read(hd_device *dev, uint64_t address, void *dst, uint64_t bytes, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  st = CUDA_TRY(c, d, "", cuMemcpyDtoHAsync_v2, dst, address, bytes, c->stream);
  if (st == HD_OK) st = wait(c, d);
  return cuda_leave(c, st, d);
}

static hd_status cuda_set(hd_device *dev, uint64_t address, uint8_t value, uint64_t bytes, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  return cuda_leave(c, CUDA_TRY(c, d, "", cuMemsetD8Async, address, value, bytes, c->current), d);
}

static hd_status cuda_copy(hd_device *dev, uint64_t to, uint64_t from, uint64_t bytes, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  return cuda_leave(c, CUDA_TRY(c, d, "", cuMemcpyDtoDAsync_v2, to, from, bytes, c->current), d);
}

/* ---- The GPU's attributes -------------------------------------------------------------- */

typedef struct number {
  int attribute;
  size_t at; /* offset in hd_device_info, a uint32_t */
} number;

static const number numbers[] = {
    {CU_ATTR_SMS, offsetof(hd_device_info, n_sms)},
    {CU_ATTR_CTAS_PER_SM, offsetof(hd_device_info, max_ctas)},
    {CU_ATTR_THREADS_PER_SM, offsetof(hd_device_info, max_threads)},
    {CU_ATTR_REGISTERS_PER_SM, offsetof(hd_device_info, registers)},
    {CU_ATTR_SHARED_PER_SM, offsetof(hd_device_info, shared_bytes)},
    {CU_ATTR_SHARED_PER_CTA, offsetof(hd_device_info, shared_per_cta)},
    {CU_ATTR_SHARED_RESERVED, offsetof(hd_device_info, shared_reserved)},
    {CU_ATTR_MEMORY_BUS_BITS, offsetof(hd_device_info, memory_bus_bits)},
};

static hd_status attribute(cuda_device *c, int which, int *value, hd_diag *d) {
  char about[32];
  snprintf(about, sizeof about, "%d", which);
  return CUDA_TRY(c, d, about, cuDeviceGetAttribute, value, which, c->device);
}

static hd_status describe_uuid(cuda_device *c, hd_diag *d) {
  hd_device_info *i = &c->base.info;
  cu_uuid whole, part;
  hd_status st = CUDA_TRY(c, d, "", cuDeviceGetUuid, &whole, c->device);
  if (st != HD_OK) return st;
  part = whole;
  if (c->api.cuDeviceGetUuid_v2 && (st = CUDA_TRY(c, d, "", cuDeviceGetUuid_v2, &part, c->device)) != HD_OK)
    return st;
  i->mig = memcmp(&whole, &part, sizeof whole) != 0;
  int n = snprintf(i->uuid, sizeof i->uuid, "%s-", i->mig ? "MIG" : "GPU");
  for (int k = 0; k < 16; k++)
    n += snprintf(i->uuid + n, sizeof i->uuid - (size_t)n, "%s%02x",
                  k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", part.bytes[k]);
  return HD_OK;
}

static hd_status describe(cuda_device *c, hd_diag *d) {
  hd_device_info *i = &c->base.info;
  int major = 0, minor = 0, v = 0;
  size_t bytes = 0;
  hd_status st = CUDA_TRY(c, d, "", cuDriverGetVersion, &v);
  i->driver_version = (unsigned)v;
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuDeviceGetName, i->title, sizeof i->title, c->device);
  i->title[sizeof i->title - 1] = 0;
  if (st == HD_OK) st = describe_uuid(c, d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuDeviceTotalMem_v2, &bytes, c->device);
  i->memory_bytes = bytes;
  if (st == HD_OK) st = attribute(c, CU_ATTR_ARCH_MAJOR, &major, d);
  if (st == HD_OK) st = attribute(c, CU_ATTR_ARCH_MINOR, &minor, d);
  i->arch = (unsigned)(10 * major + minor);
  for (size_t k = 0; st == HD_OK && k < sizeof numbers / sizeof *numbers; k++) {
    st = attribute(c, numbers[k].attribute, &v, d);
    *(uint32_t *)((char *)i + numbers[k].at) = (uint32_t)v;
  }
  if (st == HD_OK) st = attribute(c, CU_ATTR_L2_BYTES, &v, d);
  i->l2_bytes = (uint64_t)v;
  if (st == HD_OK) st = attribute(c, CU_ATTR_CLOCK_KHZ, &v, d);
  i->clock_mhz = v / 1000.0;
  if (st == HD_OK) st = attribute(c, CU_ATTR_MEMORY_CLOCK_KHZ, &v, d);
  i->memory_clock_mhz = v / 1000.0;
  return st;
}

/* ---- Opening and closing ------------------------------------------------------------------ */

static void cuda_close(hd_device *dev) {
  cuda_device *c = cuda_of(dev);
  cu_context old;
  /* On a lost device all these calls fail, harmlessly: the driver frees the rest when the process ends. */
  bool current = c->context && c->api.cuCtxPushCurrent_v2(c->context) == CU_SUCCESS;
  if (c->stream) c->api.cuStreamSynchronize(c->stream);
  cupti_close(c);
  cuda_images_close(c);
  if (c->tools) cuda_unload(c->tools);
  if (c->flush) c->api.cuMemFree_v2(c->flush);
  for (size_t i = 0; i < c->memory.n; i++) c->api.cuMemFree_v2(c->memory.data[i]);
  if (c->begin) c->api.cuEventDestroy_v2(c->begin);
  if (c->end) c->api.cuEventDestroy_v2(c->end);
  for (size_t i = 0; i < HD_DEVICE_PARTS; i++)
    if (c->ends[i]) c->api.cuEventDestroy_v2(c->ends[i]);
  if (c->stream) c->api.cuStreamDestroy_v2(c->stream);
  if (current) c->api.cuCtxPopCurrent_v2(&old);
  if (c->retained) c->api.cuDevicePrimaryCtxRelease_v2(c->device);
  cuda_api_close(&c->api);
  cuda_ahead_close(c);
  hd_vec_free(&c->memory);
  hd_vec_free(&c->arrays);
  hd_vec_free(&c->objects);
  free(c->cupti_library);
  free(c->ptxas);
  free(c);
}

static hd_status find_device(cuda_device *c, const char *ordinal, hd_diag *d) {
  uint64_t n;
  int count = 0;
  if (!hd_parse_u64(ordinal, strlen(ordinal), 1023, &n))
    return hd_fail(d, HD_ERR_USAGE, "no device '%s': a number follows cuda:", c->base.info.name);
  cu_result r = c->api.cuInit(0);
  if (r == CU_NO_DEVICE)
    return hd_fail(d, HD_ERR_IO, "there is no NVIDIA GPU here, though there is a driver");
  hd_status st = cuda_check(c, r, "cuInit", "", d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuDeviceGetCount, &count);
  if (st != HD_OK) return st;
  if (n >= (uint64_t)count)
    return hd_fail(d, HD_ERR_IO, "no device %s: the driver shows %d GPU%s", c->base.info.name, count,
                   count == 1 ? "" : "s");
  return CUDA_TRY(c, d, "", cuDeviceGet, &c->device, (int)n);
}

static hd_status create_context(cuda_device *c, hd_diag *d) {
  hd_status st = CUDA_TRY(c, d, "", cuDevicePrimaryCtxRetain, &c->context, c->device);
  if (st != HD_OK) {
    c->context = NULL;
    return st;
  }
  c->retained = true;
  if ((st = cuda_enter(c, d)) != HD_OK) return st;
  st = CUDA_TRY(c, d, "", cuStreamCreate, &c->stream, CU_STREAM_NON_BLOCKING);
  c->current = c->stream;
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventCreate, &c->begin, 0);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventCreate, &c->end, 0);
  return cuda_leave(c, st, d);
}

static const device_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .write = cuda_write,
    .read = cuda_read,
    .set = cuda_set,
    .copy = cuda_copy,
    .load = cuda_load,
    .unload = cuda_unload,
    .compile_ahead = cuda_compile_ahead,
    .symbol = cuda_symbol,
    .kernel_info = cuda_kernel_info,
    .resident = cuda_resident,
    .run = cuda_run,
    .sync = cuda_sync,
    .tensor_map = cuda_tensor_map,
    .image = cuda_image_make,
    .image_copy = cuda_image_copy,
    .image_free = cuda_image_free,
    .flush_l2 = cuda_flush,
    .time_begin = cuda_time_begin,
    .time_end = cuda_time_end,
    .stream_open = cuda_stream_open,
    .split = cuda_split,
    .stream_close = cuda_stream_close,
    .time_together = cuda_time_together,
    .count = cuda_count,
};

hd_status device_open_cuda(const char *name, const char *ordinal, const hd_device_options *o, hd_device **out,
                           hd_diag *d) {
  cuda_device *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  c->base.ops = &cuda_ops;
  c->base.info.kind = HD_DEVICE_CUDA;
  c->base.info.has_times = true;
  snprintf(c->base.info.name, sizeof c->base.info.name, "%s", name);
  hd_status st = cuda_api_open(o->driver, o->instead, &c->api, d);
  if (st == HD_OK && o->cupti && !(c->cupti_library = strdup(o->cupti))) st = hd_nomem(d);
  if (st == HD_OK && o->ptxas && !(c->ptxas = strdup(o->ptxas))) st = hd_nomem(d);
  if (st == HD_OK) st = find_device(c, ordinal, d);
  if (st == HD_OK) st = describe(c, d);
  if (st == HD_OK) st = create_context(c, d);
  if (st != HD_OK) {
    cuda_close(&c->base);
    return st;
  }
  *out = &c->base;
  return HD_OK;
}
