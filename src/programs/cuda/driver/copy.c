/* Copies and fills. */
#include "cuda/driver/driver.h"

cu_result drv_stream(cu_stream handle, core_stream **out) {
  return core_stream_of(handle, drv_per_thread, out);
}

cu_result drv_stream_for(core_capture_rule rule, cu_stream handle, core_stream **out) {
  cu_result r = drv_stream(handle, out);
  return r == CU_SUCCESS ? core_capture_stream(rule, *out) : r;
}

/* ---- Linear copies --------------------------------------------------------------------------- */

typedef enum side { ANYWHERE, HOST, DEVICE } side;

/* An address where the call says it is. Memory that both see is on both sides. */
static cu_result place(cu_address address, side where, const char *what, core_place *out) {
  const core_memory *m = core_memory_find(address);
  const bool device = core_is_device(address), shared = m && m->host;
  *out = (core_place){.address = address, .device = device};
  if (where == ANYWHERE || (where == DEVICE && device) || (where == HOST && (!device || shared)))
    return CU_SUCCESS;
  if (where == DEVICE && shared) return CU_SUCCESS;
  core_found(CORE_FOUND_ARGUMENT, "wrong direction: the copy's %s, 0x%llx, is no address of the %s", what,
             (unsigned long long)address, where == HOST ? "host" : "device");
  return CU_INVALID_VALUE;
}

static cu_result linear(cu_address dst, side to, cu_address src, side from, size_t n, cu_stream stream,
                        bool async) {
  core_place d, s;
  core_stream *st;
  cu_result r = drv_stream(stream, &st);
  if (r != CU_SUCCESS || !n) return r;
  r = place(dst, to, "destination", &d);
  if (r == CU_SUCCESS) r = place(src, from, "source", &s);
  return r == CU_SUCCESS ? core_copy(st, d, s, (core_box){n, 1, 1}, async) : r;
}

static cu_address host(const void *p) { return (uintptr_t)p; }

cu_result drv_cuMemcpy(cu_address dst, cu_address src, size_t n) {
  return linear(dst, ANYWHERE, src, ANYWHERE, n, NULL, false);
}
cu_result drv_cuMemcpyAsync(cu_address dst, cu_address src, size_t n, cu_stream stream) {
  return linear(dst, ANYWHERE, src, ANYWHERE, n, stream, true);
}
cu_result drv_cuMemcpyHtoD_v2(cu_address dst, const void *src, size_t n) {
  return linear(dst, DEVICE, host(src), HOST, n, NULL, false);
}
cu_result drv_cuMemcpyDtoH_v2(void *dst, cu_address src, size_t n) {
  return linear(host(dst), HOST, src, DEVICE, n, NULL, false);
}
cu_result drv_cuMemcpyDtoD_v2(cu_address dst, cu_address src, size_t n) {
  return linear(dst, DEVICE, src, DEVICE, n, NULL, true);
}
cu_result drv_cuMemcpyHtoDAsync_v2(cu_address dst, const void *src, size_t n, cu_stream stream) {
  return linear(dst, DEVICE, host(src), HOST, n, stream, true);
}
cu_result drv_cuMemcpyDtoHAsync_v2(void *dst, cu_address src, size_t n, cu_stream stream) {
  return linear(host(dst), HOST, src, DEVICE, n, stream, true);
}
cu_result drv_cuMemcpyDtoDAsync_v2(cu_address dst, cu_address src, size_t n, cu_stream stream) {
  return linear(dst, DEVICE, src, DEVICE, n, stream, true);
}
cu_result drv_cuMemcpyPeer(cu_address dst, cu_context to, cu_address src, cu_context from, size_t n) {
  cu_result r = core_wait_all(); /* in order with all work of both devices */
  if (r == CU_SUCCESS) r = drv_cuMemcpyPeerAsync(dst, to, src, from, n, NULL);
  return r == CU_SUCCESS ? core_wait_all() : r;
}
cu_result drv_cuMemcpyPeerAsync(cu_address dst, cu_context to, cu_address src, cu_context from, size_t n,
                                cu_stream stream) {
  if (!core_context_of(to) || !core_context_of(from)) return CU_INVALID_CONTEXT;
  return linear(dst, DEVICE, src, DEVICE, n, stream, true);
}

/* ---- Copies of boxes ------------------------------------------------------------------------- */

/* Inside the array: what runs over a row would hit the next one. */
static cu_result array_place(const cu_side3d *e, const core_box *box, core_place *out) {
  const core_array *a = e->array;
  if (!a || a->kind != CORE_ARRAY) return CU_INVALID_HANDLE;
  const hd_image_level l = hd_image_level_of(&a->image, 0);
  *out = core_array_place(a);
  if (e->x > out->pitch || box->width > out->pitch - e->x || e->y + box->height > l.height ||
      e->z + box->depth > l.depth)
    return CU_INVALID_VALUE;
  out->address += e->x + e->y * out->pitch + e->z * out->slice;
  return CU_SUCCESS;
}

static cu_result end_place(const cu_side3d *e, const core_box *box, const char *what, core_place *out) {
  static const side sides[] = {
      [CU_MEMORY_HOST] = HOST, [CU_MEMORY_DEVICE] = DEVICE, [CU_MEMORY_UNIFIED] = ANYWHERE};
  if (e->type == CU_MEMORY_ARRAY) return array_place(e, box, out);
  if (e->type < CU_MEMORY_HOST || e->type > CU_MEMORY_UNIFIED) return CU_INVALID_VALUE;
  if ((box->height > 1 || box->depth > 1) && e->pitch < box->width + e->x) return CU_INVALID_VALUE;
  const uint64_t base = e->type == CU_MEMORY_HOST ? (uintptr_t)e->host : e->device;
  cu_result r = place(base, sides[e->type], what, out);
  out->pitch = e->pitch;
  out->slice = e->pitch * (e->height ? e->height : box->height);
  out->address = base + e->x + e->y * out->pitch + e->z * out->slice;
  return r;
}

static cu_result both_places(const cu_copy3d *c, const core_box *box, core_place *dst, core_place *src) {
  cu_result r = end_place(&c->dst, box, "destination", dst);
  return r == CU_SUCCESS ? end_place(&c->src, box, "source", src) : r;
}

static cu_result copy_box(const cu_copy3d *c, cu_stream stream, bool async) {
  core_stream *st;
  core_place dst, src;
  cu_result r = drv_stream(stream, &st);
  if (r != CU_SUCCESS || !c) return r == CU_SUCCESS ? CU_INVALID_VALUE : r;
  const core_box box = {c->width, c->height, c->depth};
  if (!box.width || !box.height || !box.depth) return CU_SUCCESS;
  r = both_places(c, &box, &dst, &src);
  return r == CU_SUCCESS ? core_copy(st, dst, src, box, async) : r;
}

cu_result drv_copy_work(const cu_copy3d *c, core_work **out) {
  core_place dst, src;
  const core_box box = {c->width, c->height, c->depth};
  cu_result r = both_places(c, &box, &dst, &src);
  return r == CU_SUCCESS ? core_copy_work(core_current(), dst, src, box, out) : r;
}

static cu_side3d widen_side(const cu_side2d *s) {
  return (cu_side3d){.x = s->x,
                     .y = s->y,
                     .type = s->type,
                     .host = s->host,
                     .device = s->device,
                     .array = s->array,
                     .pitch = s->pitch};
}

static cu_copy3d widen(const cu_copy2d *c) {
  return (cu_copy3d){widen_side(&c->src), widen_side(&c->dst), c->width, c->height, 1};
}

static cu_result copy_rect(const cu_copy2d *copy, cu_stream stream, bool async) {
  if (!copy) return CU_INVALID_VALUE;
  const cu_copy3d wide = widen(copy);
  return copy_box(&wide, stream, async);
}

cu_result drv_cuMemcpy2D_v2(const cu_copy2d *copy) { return copy_rect(copy, NULL, false); }
cu_result drv_cuMemcpy2DUnaligned_v2(const cu_copy2d *copy) { return copy_rect(copy, NULL, false); }
cu_result drv_cuMemcpy2DAsync_v2(const cu_copy2d *copy, cu_stream stream) {
  return copy_rect(copy, stream, true);
}
cu_result drv_cuMemcpy3D_v2(const cu_copy3d *copy) { return copy_box(copy, NULL, false); }
cu_result drv_cuMemcpy3DAsync_v2(const cu_copy3d *copy, cu_stream stream) {
  return copy_box(copy, stream, true);
}
cu_result drv_cuMemcpy3DPeer(const cu_copy3d *copy) { return copy_box(copy, NULL, false); }
cu_result drv_cuMemcpy3DPeerAsync(const cu_copy3d *copy, cu_stream stream) {
  return copy_box(copy, stream, true);
}

/* ---- Fills ----------------------------------------------------------------------------------- */

static cu_result set(cu_address dst, size_t pitch, uint32_t value, unsigned bytes, size_t width,
                     size_t height, cu_stream stream, bool async) {
  core_stream *st;
  core_place p;
  size_t row;
  cu_result r = drv_stream(stream, &st);
  if (r != CU_SUCCESS || !width || !height) return r;
  if (!hd_mul_size(width, bytes, &row) || (height > 1 && pitch < row)) return CU_INVALID_VALUE;
  r = place(dst, DEVICE, "destination", &p);
  p.pitch = pitch;
  return r == CU_SUCCESS ? core_set(st, p, (core_box){row, height, 1}, value, bytes, async) : r;
}

/* Fills of device memory return before they are done, those of memory that the host sees when they are. */
#define SET(bits, type)                                                                                      \
  cu_result drv_cuMemsetD##bits##_v2(cu_address dst, type value, size_t n) {                                 \
    return set(dst, 0, value, bits / 8, n, 1, NULL, false);                                                  \
  }                                                                                                          \
  cu_result drv_cuMemsetD##bits##Async(cu_address dst, type value, size_t n, cu_stream stream) {             \
    return set(dst, 0, value, bits / 8, n, 1, stream, true);                                                 \
  }                                                                                                          \
  cu_result drv_cuMemsetD2D##bits##_v2(cu_address dst, size_t pitch, type value, size_t width,               \
                                       size_t height) {                                                      \
    return set(dst, pitch, value, bits / 8, width, height, NULL, false);                                     \
  }                                                                                                          \
  cu_result drv_cuMemsetD2D##bits##Async(cu_address dst, size_t pitch, type value, size_t width,             \
                                         size_t height, cu_stream stream) {                                  \
    return set(dst, pitch, value, bits / 8, width, height, stream, true);                                    \
  }
SET(8, uint8_t)
SET(16, uint16_t)
SET(32, uint32_t)
