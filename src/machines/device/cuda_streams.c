/* cuda:N: several streams at once, plain or with SMs of their own. */
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda.h"

typedef struct cuda_stream {
  hd_device_stream base;
  cu_stream stream;
  cu_green green; /* NULL: a plain stream */
} cuda_stream;

static cuda_stream *stream_of(hd_device_stream *s) { return (cuda_stream *)s; }

/* ---- Opening and closing ---------------------------------------------------------- */

void cuda_stream_close(hd_device_stream *base) {
  cuda_stream *s = stream_of(base);
  cuda_device *c = cuda_of(base->device);
  cu_context old;
  bool current = c->api.cuCtxPushCurrent_v2(c->context) == CU_SUCCESS;
  if (s->stream) c->api.cuStreamDestroy_v2(s->stream);
  if (s->green) c->api.cuGreenCtxDestroy(s->green);
  if (current) c->api.cuCtxPopCurrent_v2(&old);
  free(s);
}

/* NULL: out of memory. */
static cuda_stream *new_stream(hd_device *dev, hd_diag *d) {
  cuda_stream *s = calloc(1, sizeof *s);
  if (s)
    s->base.device = dev;
  else
    hd_nomem(d);
  return s;
}

hd_status cuda_stream_open(hd_device *dev, hd_device_stream **out, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  cuda_stream *s = new_stream(dev, d);
  st = s ? CUDA_TRY(c, d, "", cuStreamCreate, &s->stream, CU_STREAM_NON_BLOCKING) : HD_ERR_NOMEM;
  st = cuda_leave(c, st, d);
  if (st == HD_OK)
    *out = &s->base;
  else if (s)
    cuda_stream_close(&s->base);
  return st;
}

/* ---- Green contexts ------------------------------------------------------------------ */

static bool has_green(const cuda_api *a) {
  return a->cuDeviceGetDevResource && a->cuDevSmResourceSplitByCount && a->cuDevResourceGenerateDesc &&
         a->cuGreenCtxCreate && a->cuGreenCtxDestroy && a->cuGreenCtxStreamCreate;
}

static hd_status open_green(cuda_device *c, cu_sms *sms, hd_device_stream **out, hd_diag *d) {
  char about[48];
  snprintf(about, sizeof about, "of %u SMs", sms->n);
  cuda_stream *s = new_stream(&c->base, d);
  if (!s) return HD_ERR_NOMEM;
  *out = &s->base;
  cu_resources resources;
  hd_status st = CUDA_TRY(c, d, about, cuDevResourceGenerateDesc, &resources, sms, 1);
  if (st == HD_OK)
    st = CUDA_TRY(c, d, about, cuGreenCtxCreate, &s->green, resources, c->device, CU_GREEN_DEFAULT_STREAM);
  if (st == HD_OK)
    st = CUDA_TRY(c, d, about, cuGreenCtxStreamCreate, &s->stream, s->green, CU_STREAM_NON_BLOCKING, 0);
  return st;
}

static hd_status part_sms(cuda_device *c, uint32_t sms, cu_sms part[2], hd_diag *d) {
  cu_sms all = {0};
  unsigned n = 1;
  char about[48];
  snprintf(about, sizeof about, "of %u SMs", sms);
  hd_status st = CUDA_TRY(c, d, "", cuDeviceGetDevResource, c->device, &all, CU_RESOURCE_SMS);
  if (st == HD_OK)
    st = CUDA_TRY(c, d, about, cuDevSmResourceSplitByCount, &part[0], &n, &all, &part[1], 0, sms);
  if (st == HD_OK && (!n || !part[0].n || !part[1].n))
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "%s: %u of %u SMs cannot be parted from the others",
                 c->base.info.name, sms, all.n);
  return st;
}

hd_status cuda_split(hd_device *dev, uint32_t sms, hd_device_stream *out[2], uint32_t got[2], hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  cu_sms part[2] = {0};
  if (!has_green(&c->api))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: this driver has no green contexts (CUDA 12.5 is needed)",
                   dev->info.name);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  st = part_sms(c, sms, part, d);
  for (int i = 0; st == HD_OK && i < 2; i++) {
    st = open_green(c, &part[i], &out[i], d);
    got[i] = part[i].n;
  }
  st = cuda_leave(c, st, d);
  for (int i = 0; st != HD_OK && i < 2; i++) {
    hd_device_stream_close(out[i]);
    out[i] = NULL;
  }
  return st;
}

/* ---- Together -------------------------------------------------------------------------- */

/* The host begins all parts while this keeps the common start from coming: some sixty launches. */
enum { TOGETHER_DELAY_NS = 200000 };

static hd_status begin_part(cuda_device *c, const hd_device_part *part, cu_event end, hd_diag *d) {
  c->current = part->stream ? stream_of(part->stream)->stream : c->stream;
  hd_status st = HD_OK;
  if (part->stream) st = CUDA_TRY(c, d, "", cuStreamWaitEvent, c->current, c->begin, 0);
  if (st == HD_OK) st = part->job.run(part->job.ctx, d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventRecord, end, c->current);
  /* Later work in the device's own stream comes after all parts. */
  if (st == HD_OK && part->stream) st = CUDA_TRY(c, d, "", cuStreamWaitEvent, c->stream, end, 0);
  c->current = c->stream;
  return st;
}

/* After a failure, wait until no part is under way. The parts' own failure is reported. */
static void wait_for_all(cuda_device *c, const hd_device_part *parts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (parts[i].stream) c->api.cuStreamSynchronize(stream_of(parts[i].stream)->stream);
  c->api.cuStreamSynchronize(c->stream);
}

static hd_status together(cuda_device *c, const hd_device_part *parts, size_t n, double *us, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++)
    if (!c->ends[i]) st = CUDA_TRY(c, d, "", cuEventCreate, &c->ends[i], 0);
  if (st == HD_OK) st = cuda_delay(c, TOGETHER_DELAY_NS, d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventRecord, c->begin, c->stream);
  for (size_t i = 0; st == HD_OK && i < n; i++) st = begin_part(c, &parts[i], c->ends[i], d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuStreamSynchronize, c->stream);
  if (st == HD_OK) c->kernel[0] = 0;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    float ms = 0;
    st = CUDA_TRY(c, d, "", cuEventElapsedTime, &ms, c->begin, c->ends[i]);
    us[i] = 1000.0 * ms;
  }
  if (st != HD_OK) wait_for_all(c, parts, n);
  return st;
}

hd_status cuda_time_together(hd_device *dev, const hd_device_part *parts, size_t n, double *us, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  return st == HD_OK ? cuda_leave(c, together(c, parts, n, us, d), d) : st;
}
