/* Many copies, prefetches or discards in one call. They are one operation each, in the order of the batch. */
#include <string.h>

#include "cuda/driver/driver.h"

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Hints about where the memory lies, and when the source is read, have no effect: a copy reads it when it
 * runs. */
cu_result drv_cuMemcpyBatchAsync_v2(cu_address *dst, cu_address *src, size_t *bytes, size_t n,
                                    const void *attributes, size_t *of, size_t n_attributes,
                                    cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_BATCH, stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!dst || !src || !bytes || !n || !attributes || !of || !n_attributes || n_attributes > n ||
      s == s->context->legacy)
    return CU_INVALID_VALUE;
  for (size_t k = 0; k < n; k++)
    if (!dst[k] || !src[k] || !bytes[k]) return CU_INVALID_VALUE;
  for (size_t k = 0; r == CU_SUCCESS && k < n; k++) r = drv_cuMemcpyAsync(dst[k], src[k], bytes[k], stream);
  return r;
}
cu_result drv_cuMemcpyBatchAsync(cu_address *dst, cu_address *src, size_t *bytes, size_t n,
                                 const void *attributes, size_t *of, size_t n_attributes, size_t *failed,
                                 cu_stream stream) {
  cu_result r = drv_cuMemcpyBatchAsync_v2(dst, src, bytes, n, attributes, of, n_attributes, stream);
  if (r != CU_SUCCESS && failed) *failed = SIZE_MAX; /* no single one */
  return r;
}

/* Bytes of an element: an array's, on whichever side it is; 1 between pointers. */
static size_t element_of(const cu_box_op *o) {
  const cu_operand *a = o->src.type == CU_OPERAND_ARRAY ? &o->src : &o->dst;
  if (a->type != CU_OPERAND_ARRAY || !a->of.array.array || a->of.array.array->kind != CORE_ARRAY) return 1;
  const hd_image *i = &a->of.array.array->image;
  return (size_t)hd_texel_bytes(i->texel) * i->channels;
}

static cu_side3d side_of(const cu_operand *p, const cu_box_op *o, size_t element) {
  if (p->type == CU_OPERAND_ARRAY)
    return (cu_side3d){.type = CU_MEMORY_ARRAY,
                       .array = p->of.array.array,
                       .x = p->of.array.x * element,
                       .y = p->of.array.y,
                       .z = p->of.array.z};
  return (cu_side3d){.type = CU_MEMORY_UNIFIED,
                     .device = p->of.pointer.address,
                     .pitch = (p->of.pointer.row ? p->of.pointer.row : o->width) * element,
                     .height = p->of.pointer.layer ? p->of.pointer.layer : o->height};
}

static bool is_operand(const cu_operand *p) {
  return p->type == CU_OPERAND_POINTER || p->type == CU_OPERAND_ARRAY;
}

static cu_result copy_box(const cu_box_op *o, cu_stream stream) {
  if (!is_operand(&o->src) || !is_operand(&o->dst) || o->order < CU_ORDER_STREAM || o->order > CU_ORDER_ANY)
    return CU_INVALID_VALUE;
  const size_t element = element_of(o);
  const cu_copy3d c = {.src = side_of(&o->src, o, element),
                       .dst = side_of(&o->dst, o, element),
                       .width = o->width * element,
                       .height = o->height,
                       .depth = o->depth};
  return drv_cuMemcpy3DAsync_v2(&c, stream);
}

cu_result drv_cuMemcpy3DBatchAsync_v2(size_t n, const void *ops, unsigned long long flags, cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_BATCH, stream, &s);
  if (r == CU_SUCCESS && (!n || !ops || flags || s == s->context->legacy)) r = CU_INVALID_VALUE;
  for (size_t k = 0; r == CU_SUCCESS && k < n; k++) r = copy_box((const cu_box_op *)ops + k, stream);
  return r;
}
cu_result drv_cuMemcpy3DBatchAsync(size_t n, const void *ops, size_t *failed, unsigned long long flags,
                                   cu_stream stream) {
  cu_result r = drv_cuMemcpy3DBatchAsync_v2(n, ops, flags, stream);
  if (r != CU_SUCCESS && failed) *failed = SIZE_MAX;
  return r;
}

/* ---- Managed memory -------------------------------------------------------------------------- */

cu_result drv_cuMemPrefetchBatchAsync(cu_address *address, size_t *bytes, size_t n, cu_location *where,
                                      size_t *from, size_t n_where, unsigned long long flags,
                                      cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_BATCH, stream, &s);
  if (r == CU_SUCCESS &&
      !(address && bytes && n && where && from && n_where && n_where <= n && !from[0] && !flags))
    r = CU_INVALID_VALUE;
  for (size_t k = 0, at = 0; r == CU_SUCCESS && k < n; k++) {
    while (at + 1 < n_where && from[at + 1] <= k) at++;
    r = drv_cuMemPrefetchAsync_v2(address[k], bytes[k], where[at], 0, stream);
  }
  return r;
}

/* Discarded memory may be read as anything until it is written: here, as it was. */
cu_result drv_cuMemDiscardBatchAsync(cu_address *address, size_t *bytes, size_t n, unsigned long long flags,
                                     cu_stream stream) {
  core_stream *s;
  cu_result r = drv_stream_for(CORE_CAPTURE_BATCH, stream, &s);
  if (r == CU_SUCCESS && (!address || !bytes || !n || flags)) r = CU_INVALID_VALUE;
  for (size_t k = 0; r == CU_SUCCESS && k < n; k++) {
    const core_memory *m = core_memory_find(address[k]);
    if (!m || m->kind != CORE_MEMORY_MANAGED || bytes[k] > m->bytes - (address[k] - m->address))
      r = CU_INVALID_VALUE;
  }
  return r;
}
cu_result drv_cuMemDiscardAndPrefetchBatchAsync(cu_address *address, size_t *bytes, size_t n,
                                                cu_location *where, size_t *from, size_t n_where,
                                                unsigned long long flags, cu_stream stream) {
  cu_result r = drv_cuMemDiscardBatchAsync(address, bytes, n, flags, stream);
  return r == CU_SUCCESS ? drv_cuMemPrefetchBatchAsync(address, bytes, n, where, from, n_where, flags, stream)
                         : r;
}
