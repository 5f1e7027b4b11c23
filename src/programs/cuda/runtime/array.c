/* Arrays, textures, surfaces: the driver's, from the runtime's descriptions. */
#include "cuda/runtime/runtime.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- Channels -------------------------------------------------------------------------------- */

EXPORT rt_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
EXPORT rt_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return (rt_channels){{x, y, z, w}, kind};
}

static const struct {
  int bits, kind;
  hd_texel texel;
} texels[] = {{8, RT_UNSIGNED, HD_TEXEL_U8}, {16, RT_UNSIGNED, HD_TEXEL_U16}, {32, RT_UNSIGNED, HD_TEXEL_U32},
              {8, RT_SIGNED, HD_TEXEL_S8},   {16, RT_SIGNED, HD_TEXEL_S16},   {32, RT_SIGNED, HD_TEXEL_S32},
              {16, RT_FLOAT, HD_TEXEL_F16},  {32, RT_FLOAT, HD_TEXEL_F32}};
enum { N_TEXELS = sizeof texels / sizeof *texels };

/* All channels have one size; missing ones have size 0. */
static bool format_of(const rt_channels *c, int *format, unsigned *channels) {
  if (!c) return false;
  for (*channels = 0; *channels < 4 && c->bits[*channels]; ++*channels)
    if (c->bits[*channels] != c->bits[0]) return false;
  for (int k = 0; k < N_TEXELS; k++)
    if (texels[k].bits == c->bits[0] && texels[k].kind == c->kind) {
      *format = (int)texels[k].texel;
      return true;
    }
  return false;
}

static rt_channels channels_of(const cu_array3d *s) {
  rt_channels c = {.kind = RT_NONE};
  for (int k = 0; k < N_TEXELS; k++)
    if ((int)texels[k].texel == s->format) {
      c.kind = texels[k].kind;
      for (unsigned i = 0; i < s->channels && i < 4; i++) c.bits[i] = texels[k].bits;
    }
  return c;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* The runtime's flags are the driver's. */
static bool shape_of(const rt_channels *channels, rt_extent e, unsigned flags, cu_array3d *s) {
  *s = (cu_array3d){e.width, e.height, e.depth, 0, 0, flags};
  return format_of(channels, &s->format, &s->channels);
}

cu_result rt_cudaMalloc3DArray(cu_array *array, const rt_channels *channels, rt_extent extent,
                               unsigned flags) {
  cu_array3d s;
  if (!array || !shape_of(channels, extent, flags, &s)) return CU_INVALID_VALUE;
  cu_result r = core_capture_unsafe();
  return r == CU_SUCCESS ? drv_cuArray3DCreate_v2(array, &s) : r;
}
cu_result rt_cudaMallocArray(cu_array *array, const rt_channels *channels, size_t width, size_t height,
                             unsigned flags) {
  return rt_cudaMalloc3DArray(array, channels, (rt_extent){width, height, 0}, flags);
}
cu_result rt_cudaMallocMipmappedArray(cu_array *array, const rt_channels *channels, rt_extent extent,
                                      unsigned levels, unsigned flags) {
  cu_array3d s;
  if (!array || !shape_of(channels, extent, flags, &s)) return CU_INVALID_VALUE;
  cu_result r = core_capture_unsafe();
  return r == CU_SUCCESS ? drv_cuMipmappedArrayCreate(array, &s, levels) : r;
}
cu_result rt_cudaGetMipmappedArrayLevel(cu_array *level, cu_array array, unsigned k) {
  return drv_cuMipmappedArrayGetLevel(level, array, k);
}
cu_result rt_cudaFreeArray(cu_array array) { return array ? drv_cuArrayDestroy(array) : CU_SUCCESS; }
cu_result rt_cudaFreeMipmappedArray(cu_array array) { return rt_cudaFreeArray(array); }

cu_result rt_cudaArrayGetInfo(rt_channels *channels, rt_extent *extent, unsigned *flags, cu_array array) {
  cu_array3d s;
  cu_result r = drv_cuArray3DGetDescriptor_v2(&s, array);
  if (r != CU_SUCCESS) return r;
  if (channels) *channels = channels_of(&s);
  if (extent) *extent = (rt_extent){s.width, s.height, s.depth};
  if (flags) *flags = s.flags;
  return CU_SUCCESS;
}
cu_result rt_cudaGetChannelDesc(rt_channels *channels, cu_array array) {
  return rt_cudaArrayGetInfo(channels, NULL, NULL, array);
}

/* ---- Copies
 * ---------------------------------------------------------------------------------------------------------
 */

/* The side of a copy that is no array: the host's or the device's memory, by the copy's kind. */
static int side(int kind, bool source) {
  if (kind == RT_DEFAULT) return CU_MEMORY_UNIFIED;
  const bool host = source ? kind == RT_HOST_TO_DEVICE || kind == RT_HOST_TO_HOST
                           : kind == RT_DEVICE_TO_HOST || kind == RT_HOST_TO_HOST;
  return host ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
}

static cu_result to_array(cu_array dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                          size_t height, int kind, cu_stream stream, bool async) {
  const cu_copy2d c = {.src.type = side(kind, true),
                       .src.host = src,
                       .src.device = (uintptr_t)src,
                       .src.pitch = pitch,
                       .dst.type = CU_MEMORY_ARRAY,
                       .dst.array = dst,
                       .dst.x = x,
                       .dst.y = y,
                       .width = width,
                       .height = height};
  if (kind < 0 || kind > RT_DEFAULT) return CU_RT_INVALID_COPY_DIRECTION;
  return async ? drv_cuMemcpy2DAsync_v2(&c, stream) : drv_cuMemcpy2D_v2(&c);
}

static cu_result from_array(void *dst, size_t pitch, cu_array src, size_t x, size_t y, size_t width,
                            size_t height, int kind, cu_stream stream, bool async) {
  const cu_copy2d c = {.dst.type = side(kind, false),
                       .dst.host = dst,
                       .dst.device = (uintptr_t)dst,
                       .dst.pitch = pitch,
                       .src.type = CU_MEMORY_ARRAY,
                       .src.array = src,
                       .src.x = x,
                       .src.y = y,
                       .width = width,
                       .height = height};
  if (kind < 0 || kind > RT_DEFAULT) return CU_RT_INVALID_COPY_DIRECTION;
  return async ? drv_cuMemcpy2DAsync_v2(&c, stream) : drv_cuMemcpy2D_v2(&c);
}

cu_result rt_cudaMemcpy2DToArray(cu_array dst, size_t x, size_t y, const void *src, size_t pitch,
                                 size_t width, size_t height, int kind) {
  return to_array(dst, x, y, src, pitch, width, height, kind, NULL, false);
}
cu_result rt_cudaMemcpy2DToArrayAsync(cu_array dst, size_t x, size_t y, const void *src, size_t pitch,
                                      size_t width, size_t height, int kind, cu_stream stream) {
  return to_array(dst, x, y, src, pitch, width, height, kind, stream, true);
}
cu_result rt_cudaMemcpy2DFromArray(void *dst, size_t pitch, cu_array src, size_t x, size_t y, size_t width,
                                   size_t height, int kind) {
  return from_array(dst, pitch, src, x, y, width, height, kind, NULL, false);
}
cu_result rt_cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cu_array src, size_t x, size_t y,
                                        size_t width, size_t height, int kind, cu_stream stream) {
  return from_array(dst, pitch, src, x, y, width, height, kind, stream, true);
}

/* Copies a number of bytes from (x, y) on, across the ends of rows: parts of the first and last row, and
 * whole rows between. */
static cu_result linear(cu_array array, size_t x, size_t y, char *p, size_t n, int kind, bool in,
                        cu_stream stream, bool async) {
  if (!array || array->kind != CORE_ARRAY) return CU_INVALID_HANDLE;
  const size_t row = core_array_place(array).pitch;
  cu_result r = x < row ? CU_SUCCESS : CU_INVALID_VALUE;
  while (r == CU_SUCCESS && n) {
    const size_t rows = x || n < row ? 1 : n / row, width = x || n < row ? (n < row - x ? n : row - x) : row;
    r = in ? to_array(array, x, y, p, width, width, rows, kind, stream, async)
           : from_array(p, width, array, x, y, width, rows, kind, stream, async);
    p += width * rows;
    n -= width * rows;
    y += rows;
    x = 0;
  }
  return r;
}

cu_result rt_cudaMemcpyToArray(cu_array dst, size_t x, size_t y, const void *src, size_t n, int kind) {
  return linear(dst, x, y, (char *)(uintptr_t)src, n, kind, true, NULL, false);
}
cu_result rt_cudaMemcpyToArrayAsync(cu_array dst, size_t x, size_t y, const void *src, size_t n, int kind,
                                    cu_stream stream) {
  return linear(dst, x, y, (char *)(uintptr_t)src, n, kind, true, stream, true);
}
cu_result rt_cudaMemcpyFromArray(void *dst, cu_array src, size_t x, size_t y, size_t n, int kind) {
  return linear(src, x, y, dst, n, kind, false, NULL, false);
}
cu_result rt_cudaMemcpyFromArrayAsync(void *dst, cu_array src, size_t x, size_t y, size_t n, int kind,
                                      cu_stream stream) {
  return linear(src, x, y, dst, n, kind, false, stream, true);
}

cu_result rt_cudaMemcpy2DArrayToArray(cu_array dst, size_t to_x, size_t to_y, cu_array src, size_t x,
                                      size_t y, size_t width, size_t height, int kind) {
  const cu_copy2d c = {.src.type = CU_MEMORY_ARRAY,
                       .src.array = src,
                       .src.x = x,
                       .src.y = y,
                       .dst.type = CU_MEMORY_ARRAY,
                       .dst.array = dst,
                       .dst.x = to_x,
                       .dst.y = to_y,
                       .width = width,
                       .height = height};
  return drv_cuMemcpy2D_v2(&c);
}

/* A number of bytes from (x, y) on, across the ends of rows, which may be of different lengths. */
cu_result rt_cudaMemcpyArrayToArray(cu_array dst, size_t to_x, size_t to_y, cu_array src, size_t x, size_t y,
                                    size_t n, int kind) {
  if (!dst || dst->kind != CORE_ARRAY || !src || src->kind != CORE_ARRAY) return CU_INVALID_HANDLE;
  const size_t from = core_array_place(src).pitch, to = core_array_place(dst).pitch;
  cu_result r = x < from && to_x < to ? CU_SUCCESS : CU_INVALID_VALUE;
  while (r == CU_SUCCESS && n) {
    const size_t left = from - x < to - to_x ? from - x : to - to_x, width = n < left ? n : left;
    r = rt_cudaMemcpy2DArrayToArray(dst, to_x, to_y, src, x, y, width, 1, kind);
    n -= width;
    x += width;
    y += x / from;
    x %= from;
    to_x += width;
    to_y += to_x / to;
    to_x %= to;
  }
  return r;
}

/* ---- Objects
 * ----------------------------------------------------------------------------------------------------------
 */

static bool resource_of(const rt_resource *r, cu_resource *out) {
  *out = (cu_resource){.type = r->type};
  switch (r->type) {
  case CU_RESOURCE_LINEAR:
    out->of.linear.address = (uintptr_t)r->of.linear.p;
    out->of.linear.bytes = r->of.linear.bytes;
    return format_of(&r->of.linear.channels, &out->of.linear.format, &out->of.linear.channels);
  case CU_RESOURCE_PITCH:
    out->of.pitch.address = (uintptr_t)r->of.pitch.p;
    out->of.pitch.width = r->of.pitch.width;
    out->of.pitch.height = r->of.pitch.height;
    out->of.pitch.pitch = r->of.pitch.pitch;
    return format_of(&r->of.pitch.channels, &out->of.pitch.format, &out->of.pitch.channels);
  default: out->of.array = r->of.array; return true;
  }
}

cu_result rt_cudaCreateTextureObject(uint64_t *object, const rt_resource *resource, const rt_texture *t,
                                     const void *view) {
  cu_resource r;
  if (!resource || !t || !resource_of(resource, &r)) return CU_INVALID_VALUE;
  cu_texture out = {.filter = t->filter,
                    .anisotropy = t->anisotropy,
                    .mip_filter = t->mip_filter,
                    .bias = t->bias,
                    .least_level = t->least_level,
                    .most_level = t->most_level};
  out.flags = (t->read_normalized ? 0 : CU_TEXTURE_INTEGER) | (t->normalized ? CU_TEXTURE_NORMALIZED : 0) |
              (t->srgb ? CU_TEXTURE_SRGB : 0);
  for (int k = 0; k < 3; k++) out.wrap[k] = t->wrap[k];
  for (int k = 0; k < 4; k++) out.border[k] = t->border[k];
  return drv_cuTexObjectCreate(object, &r, &out, view);
}
cu_result rt_cudaCreateTextureObject_v2(uint64_t *object, const rt_resource *resource,
                                        const rt_texture *texture, const void *view) {
  return rt_cudaCreateTextureObject(object, resource, texture, view);
}

static void channels_from(int format, unsigned n, rt_channels *out) {
  *out = channels_of(&(cu_array3d){.format = format, .channels = n});
}

cu_result rt_cudaGetTextureObjectResourceDesc(rt_resource *resource, uint64_t object) {
  cu_resource r;
  if (!resource || drv_cuTexObjectGetResourceDesc(&r, object) != CU_SUCCESS) return CU_INVALID_VALUE;
  resource->type = r.type;
  switch (r.type) {
  case CU_RESOURCE_LINEAR:
    resource->of.linear.p = (void *)(uintptr_t)r.of.linear.address;
    resource->of.linear.bytes = r.of.linear.bytes;
    channels_from(r.of.linear.format, r.of.linear.channels, &resource->of.linear.channels);
    break;
  case CU_RESOURCE_PITCH:
    resource->of.pitch.p = (void *)(uintptr_t)r.of.pitch.address;
    resource->of.pitch.width = r.of.pitch.width;
    resource->of.pitch.height = r.of.pitch.height;
    resource->of.pitch.pitch = r.of.pitch.pitch;
    channels_from(r.of.pitch.format, r.of.pitch.channels, &resource->of.pitch.channels);
    break;
  default: resource->of.array = r.of.array; break;
  }
  return CU_SUCCESS;
}
cu_result rt_cudaGetSurfaceObjectResourceDesc(rt_resource *resource, uint64_t object) {
  return rt_cudaGetTextureObjectResourceDesc(resource, object);
}

cu_result rt_cudaGetTextureObjectTextureDesc(rt_texture *texture, uint64_t object) {
  cu_texture t;
  if (!texture || drv_cuTexObjectGetTextureDesc(&t, object) != CU_SUCCESS) return CU_INVALID_VALUE;
  *texture = (rt_texture){.filter = t.filter,
                          .read_normalized = !(t.flags & CU_TEXTURE_INTEGER),
                          .srgb = (t.flags & CU_TEXTURE_SRGB) != 0,
                          .normalized = (t.flags & CU_TEXTURE_NORMALIZED) != 0,
                          .anisotropy = t.anisotropy,
                          .mip_filter = t.mip_filter,
                          .bias = t.bias,
                          .least_level = t.least_level,
                          .most_level = t.most_level};
  for (int k = 0; k < 3; k++) texture->wrap[k] = t.wrap[k];
  for (int k = 0; k < 4; k++) texture->border[k] = t.border[k];
  return CU_SUCCESS;
}
cu_result rt_cudaGetTextureObjectTextureDesc_v2(rt_texture *texture, uint64_t object) {
  return rt_cudaGetTextureObjectTextureDesc(texture, object);
}
cu_result rt_cudaGetTextureObjectResourceViewDesc(void *view, uint64_t object) {
  return drv_cuTexObjectGetResourceViewDesc(view, object);
}

/* The most texels that a texture of linear memory has, of any format. */
cu_result rt_cudaDeviceGetTexture1DLinearMaxWidth(size_t *most, const rt_channels *channels, int device) {
  int format;
  unsigned n;
  return channels && format_of(channels, &format, &n)
             ? drv_cuDeviceGetTexture1DLinearMaxWidth(most, format, n, device)
             : CU_INVALID_VALUE;
}

cu_result rt_cudaDestroyTextureObject(uint64_t object) { return drv_cuTexObjectDestroy(object); }

cu_result rt_cudaCreateSurfaceObject(uint64_t *object, const rt_resource *resource) {
  cu_resource r;
  return resource && resource_of(resource, &r) ? drv_cuSurfObjectCreate(object, &r) : CU_INVALID_VALUE;
}
cu_result rt_cudaDestroySurfaceObject(uint64_t object) { return drv_cuSurfObjectDestroy(object); }
