/* Copies and fills. */
#include <string.h>

#include "cuda/runtime/runtime.h"

static cu_address at(const void *p) { return (uintptr_t)p; }

/* ---- Linear copies --------------------------------------------------------------------------- */

static cu_result copy(void *dst, const void *src, size_t n, int kind, cu_stream stream, bool async) {
  if (!n) return CU_SUCCESS;
  if (!dst || !src) return CU_INVALID_VALUE;
  switch (kind) {
  case RT_HOST_TO_DEVICE:
    return async ? drv_cuMemcpyHtoDAsync_v2(at(dst), src, n, stream) : drv_cuMemcpyHtoD_v2(at(dst), src, n);
  case RT_DEVICE_TO_HOST:
    return async ? drv_cuMemcpyDtoHAsync_v2(dst, at(src), n, stream) : drv_cuMemcpyDtoH_v2(dst, at(src), n);
  case RT_DEVICE_TO_DEVICE:
    return async ? drv_cuMemcpyDtoDAsync_v2(at(dst), at(src), n, stream)
                 : drv_cuMemcpyDtoD_v2(at(dst), at(src), n);
  case RT_HOST_TO_HOST:
  case RT_DEFAULT:
    return async ? drv_cuMemcpyAsync(at(dst), at(src), n, stream) : drv_cuMemcpy(at(dst), at(src), n);
  default: return CU_RT_INVALID_COPY_DIRECTION;
  }
}

cu_result rt_cudaMemcpy(void *dst, const void *src, size_t n, int kind) {
  return copy(dst, src, n, kind, NULL, false);
}
cu_result rt_cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, cu_stream stream) {
  return copy(dst, src, n, kind, stream, true);
}
cu_result rt_cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n) {
  cu_result r = core_wait_all(); /* in order with all work of both devices */
  if (r == CU_SUCCESS) r = rt_cudaMemcpyPeerAsync(dst, to, src, from, n, NULL);
  return r == CU_SUCCESS ? core_wait_all() : r;
}
cu_result rt_cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, cu_stream stream) {
  if (!drv_device(to) || !drv_device(from)) return CU_INVALID_DEVICE;
  return copy(dst, src, n, RT_DEVICE_TO_DEVICE, stream, true);
}

/* ---- Rectangles and boxes -------------------------------------------------------------------- */

/* Where a copy's kind says that its sides are, as CUmemorytype. */
static bool sides(int kind, int *dst, int *src) {
  static const int table[][2] = {[RT_HOST_TO_HOST] = {CU_MEMORY_UNIFIED, CU_MEMORY_UNIFIED},
                                 [RT_HOST_TO_DEVICE] = {CU_MEMORY_DEVICE, CU_MEMORY_HOST},
                                 [RT_DEVICE_TO_HOST] = {CU_MEMORY_HOST, CU_MEMORY_DEVICE},
                                 [RT_DEVICE_TO_DEVICE] = {CU_MEMORY_DEVICE, CU_MEMORY_DEVICE},
                                 [RT_DEFAULT] = {CU_MEMORY_UNIFIED, CU_MEMORY_UNIFIED}};
  if (kind < RT_HOST_TO_HOST || kind > RT_DEFAULT) return false;
  *dst = table[kind][0];
  *src = table[kind][1];
  return true;
}

static cu_result copy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                        int kind, cu_stream stream, bool async) {
  cu_copy2d c = {.src.host = src,
                 .src.device = at(src),
                 .src.pitch = spitch,
                 .dst.host = dst,
                 .dst.device = at(dst),
                 .dst.pitch = dpitch,
                 .width = width,
                 .height = height};
  if (!sides(kind, &c.dst.type, &c.src.type)) return CU_RT_INVALID_COPY_DIRECTION;
  if (width > dpitch || width > spitch) return CU_INVALID_VALUE;
  return async ? drv_cuMemcpy2DAsync_v2(&c, stream) : drv_cuMemcpy2D_v2(&c);
}

cu_result rt_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                          size_t height, int kind) {
  return copy2d(dst, dpitch, src, spitch, width, height, kind, NULL, false);
}
cu_result rt_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                               size_t height, int kind, cu_stream stream) {
  return copy2d(dst, dpitch, src, spitch, width, height, kind, stream, true);
}

static size_t texel_bytes(cu_array a) {
  return a->kind == CORE_ARRAY ? (size_t)hd_texel_bytes(a->image.texel) * a->image.channels : 0;
}

cu_result rt_copy_of(const rt_copy3d *p, cu_copy3d *out) {
  if (!p) return CU_INVALID_VALUE;
  cu_copy3d c = {.src.x = p->src_position.x,
                 .src.y = p->src_position.y,
                 .src.z = p->src_position.z,
                 .src.host = p->src.p,
                 .src.device = at(p->src.p),
                 .src.array = p->src_array,
                 .src.pitch = p->src.pitch,
                 .src.height = p->src.height,
                 .dst.x = p->dst_position.x,
                 .dst.y = p->dst_position.y,
                 .dst.z = p->dst_position.z,
                 .dst.host = p->dst.p,
                 .dst.device = at(p->dst.p),
                 .dst.array = p->dst_array,
                 .dst.pitch = p->dst.pitch,
                 .dst.height = p->dst.height,
                 .width = p->extent.width,
                 .height = p->extent.height,
                 .depth = p->extent.depth};
  if (!sides(p->kind, &c.dst.type, &c.src.type)) return CU_RT_INVALID_COPY_DIRECTION;
  size_t texel = 1;
  if (p->src_array) {
    c.src.type = CU_MEMORY_ARRAY;
    texel = texel_bytes(p->src_array);
    c.src.x *= texel;
  }
  if (p->dst_array) {
    c.dst.type = CU_MEMORY_ARRAY;
    texel = texel_bytes(p->dst_array);
    c.dst.x *= texel;
  }
  c.width *= texel; /* where an array takes part the extent counts its elements */
  *out = c;
  return texel ? CU_SUCCESS : CU_INVALID_VALUE;
}

static cu_result copy3d(const rt_copy3d *p, cu_stream stream, bool async) {
  cu_copy3d c;
  cu_result r = rt_copy_of(p, &c);
  if (r != CU_SUCCESS) return r;
  return async ? drv_cuMemcpy3DAsync_v2(&c, stream) : drv_cuMemcpy3D_v2(&c);
}

cu_result rt_cudaMemcpy3D(const rt_copy3d *p) { return copy3d(p, NULL, false); }
cu_result rt_cudaMemcpy3DAsync(const rt_copy3d *p, cu_stream stream) { return copy3d(p, stream, true); }

/* ---- Fills ----------------------------------------------------------------------------------- */

cu_result rt_cudaMemset(void *p, int value, size_t n) { return drv_cuMemsetD8_v2(at(p), (uint8_t)value, n); }
cu_result rt_cudaMemsetAsync(void *p, int value, size_t n, cu_stream stream) {
  return drv_cuMemsetD8Async(at(p), (uint8_t)value, n, stream);
}
cu_result rt_cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
  return drv_cuMemsetD2D8_v2(at(p), pitch, (uint8_t)value, width, height);
}
cu_result rt_cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                               cu_stream stream) {
  return drv_cuMemsetD2D8Async(at(p), pitch, (uint8_t)value, width, height, stream);
}

cu_result rt_cudaMemset3DAsync(rt_pitched p, int value, rt_extent extent, cu_stream stream) {
  cu_result r = CU_SUCCESS;
  for (size_t z = 0; r == CU_SUCCESS && z < extent.depth; z++)
    r = drv_cuMemsetD2D8Async(at(p.p) + z * p.pitch * p.height, p.pitch, (uint8_t)value, extent.width,
                              extent.height, stream);
  return r;
}
cu_result rt_cudaMemset3D(rt_pitched p, int value, rt_extent extent) {
  const core_memory *m = core_memory_find(at(p.p));
  const cu_result r = rt_cudaMemset3DAsync(p, value, extent, NULL);
  return r == CU_SUCCESS && m && m->host ? drv_cuStreamSynchronize(NULL) : r;
}

/* ---- Variables ------------------------------------------------------------------------------- */

static cu_result inside(const void *symbol, size_t n, size_t offset, void **p) {
  uint64_t address, bytes;
  cu_result r = rt_variable(symbol, &address, &bytes);
  if (r != CU_SUCCESS) return r;
  *p = (void *)(uintptr_t)(address + offset);
  return offset <= bytes && n <= bytes - offset ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result rt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, int kind) {
  void *p;
  if (kind == RT_DEVICE_TO_HOST || kind == RT_HOST_TO_HOST) return CU_RT_INVALID_COPY_DIRECTION;
  cu_result r = inside(symbol, n, offset, &p);
  return r == CU_SUCCESS ? copy(p, src, n, kind, NULL, false) : r;
}
cu_result rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset, int kind,
                                     cu_stream stream) {
  void *p;
  if (kind == RT_DEVICE_TO_HOST || kind == RT_HOST_TO_HOST) return CU_RT_INVALID_COPY_DIRECTION;
  cu_result r = inside(symbol, n, offset, &p);
  return r == CU_SUCCESS ? copy(p, src, n, kind, stream, true) : r;
}
cu_result rt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind) {
  void *p;
  if (kind == RT_HOST_TO_DEVICE || kind == RT_HOST_TO_HOST) return CU_RT_INVALID_COPY_DIRECTION;
  cu_result r = inside(symbol, n, offset, &p);
  return r == CU_SUCCESS ? copy(dst, p, n, kind, NULL, false) : r;
}
cu_result rt_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                       cu_stream stream) {
  void *p;
  if (kind == RT_HOST_TO_DEVICE || kind == RT_HOST_TO_HOST) return CU_RT_INVALID_COPY_DIRECTION;
  cu_result r = inside(symbol, n, offset, &p);
  return r == CU_SUCCESS ? copy(dst, p, n, kind, stream, true) : r;
}

cu_result rt_cudaGetSymbolAddress(void **p, const void *symbol) {
  return p ? inside(symbol, 0, 0, p) : CU_INVALID_VALUE;
}

cu_result rt_cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  uint64_t address, n;
  if (!bytes) return CU_INVALID_VALUE;
  cu_result r = rt_variable(symbol, &address, &n);
  if (r == CU_SUCCESS) *bytes = n;
  return r;
}
