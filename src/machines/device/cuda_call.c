/* Around each call of the driver: its context, and its failures. */
#include "device/cuda.h"

hd_status cuda_check(cuda_device *c, cu_result r, const char *call, const char *about, hd_diag *d) {
  if (r == CU_SUCCESS) return HD_OK;
  const char *name = NULL, *text = NULL;
  if (c->api.cuGetErrorName(r, &name) != CU_SUCCESS || !name) name = "unknown result";
  if (c->api.cuGetErrorString(r, &text) != CU_SUCCESS || !text)
    text = "the driver has no text for this error";
  cuda_class class = cuda_classify(r);
  hd_diag e;
  /* A fault belongs to the kernel in flight, whichever call reports it first. */
  bool in_flight = class.sticky && c->kernel[0];
  hd_fail(&e, class.status, "%s: %s%s%.200s%s%s%s: %s (%d): %.200s", c->base.info.name, call,
          about[0] ? " " : "", about, in_flight ? ", kernel '" : "", in_flight ? c->kernel : "",
          in_flight ? "' in flight" : "", name, r, text);
  if (class.sticky && !c->lost) {
    c->lost = true;
    c->first = e;
  }
  if (d) *d = e;
  return class.status;
}

hd_status cuda_enter(cuda_device *c, hd_diag *d) {
  if (c->lost)
    return hd_fail(d, c->first.status, "%s cannot be used any more since: %.600s", c->base.info.name,
                   c->first.message);
  return CUDA_TRY(c, d, "", cuCtxPushCurrent_v2, c->context);
}

hd_status cuda_leave(cuda_device *c, hd_status st, hd_diag *d) {
  cu_context old;
  hd_status popped = CUDA_TRY(c, st == HD_OK ? d : NULL, "", cuCtxPopCurrent_v2, &old);
  return st == HD_OK ? popped : st;
}
