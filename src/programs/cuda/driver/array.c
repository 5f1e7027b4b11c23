/* Arrays, textures, surfaces. */
#include "cuda/driver/driver.h"

static core_array *array_of(cu_array a) { return a && a->kind == CORE_ARRAY ? a : NULL; }

/* ---- Creation and destruction ---------------------------------------------------------------- */

static cu_result create(cu_array *array, const cu_array3d *shape, unsigned levels) {
  return array && shape ? core_array_create(core_current(), shape, levels, array) : CU_INVALID_VALUE;
}

cu_result drv_cuArrayCreate_v2(cu_array *array, const cu_array2d *s) {
  if (!s) return CU_INVALID_VALUE;
  const cu_array3d shape = {s->width, s->height, 0, s->format, s->channels, 0};
  return create(array, &shape, 0);
}
cu_result drv_cuArray3DCreate_v2(cu_array *array, const cu_array3d *shape) { return create(array, shape, 0); }
cu_result drv_cuMipmappedArrayCreate(cu_array *array, const cu_array3d *shape, unsigned levels) {
  return levels ? create(array, shape, levels) : CU_INVALID_VALUE;
}

cu_result drv_cuArray3DGetDescriptor_v2(cu_array3d *shape, cu_array array) {
  if (!shape) return CU_INVALID_VALUE;
  if (!array_of(array)) return CU_INVALID_HANDLE;
  *shape = core_array_shape(array);
  return CU_SUCCESS;
}

cu_result drv_cuArrayGetDescriptor_v2(cu_array2d *shape, cu_array array) {
  cu_array3d s;
  if (!shape) return CU_INVALID_VALUE;
  cu_result r = drv_cuArray3DGetDescriptor_v2(&s, array);
  if (r == CU_SUCCESS) *shape = (cu_array2d){s.width, s.height, s.format, s.channels};
  return r;
}

cu_result drv_cuArrayDestroy(cu_array array) {
  core_array *a = array_of(array);
  if (!a || a->mipmap) return CU_INVALID_HANDLE;
  cu_result r = core_wait_all();
  if (r == CU_SUCCESS) core_array_destroy(a);
  return r;
}
cu_result drv_cuMipmappedArrayDestroy(cu_array array) { return drv_cuArrayDestroy(array); }

cu_result drv_cuMipmappedArrayGetLevel(cu_array *level, cu_array array, unsigned k) {
  core_array *a = array_of(array);
  if (!level) return CU_INVALID_VALUE;
  if (!a) return CU_INVALID_HANDLE;
  *level = core_array_level(a, k);
  return *level ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* ---- Linear copies: of one row --------------------------------------------------------------- */

static cu_copy3d row(size_t n) { return (cu_copy3d){.width = n, .height = 1, .depth = 1}; }

static cu_result run(const cu_copy3d *c, cu_stream stream, bool async) {
  return async ? drv_cuMemcpy3DAsync_v2(c, stream) : drv_cuMemcpy3D_v2(c);
}

static cu_result into(cu_array dst, size_t at, cu_copy3d c, cu_stream stream, bool async) {
  c.dst.type = CU_MEMORY_ARRAY;
  c.dst.array = dst;
  c.dst.x = at;
  return run(&c, stream, async);
}

static cu_result out_of(cu_array src, size_t at, cu_copy3d c, cu_stream stream, bool async) {
  c.src.type = CU_MEMORY_ARRAY;
  c.src.array = src;
  c.src.x = at;
  return run(&c, stream, async);
}

cu_result drv_cuMemcpyHtoAAsync_v2(cu_array dst, size_t at, const void *src, size_t n, cu_stream stream) {
  cu_copy3d c = row(n);
  c.src.type = CU_MEMORY_HOST;
  c.src.host = src;
  return into(dst, at, c, stream, true);
}
cu_result drv_cuMemcpyHtoA_v2(cu_array dst, size_t at, const void *src, size_t n) {
  cu_copy3d c = row(n);
  c.src.type = CU_MEMORY_HOST;
  c.src.host = src;
  return into(dst, at, c, NULL, false);
}
cu_result drv_cuMemcpyAtoHAsync_v2(void *dst, cu_array src, size_t at, size_t n, cu_stream stream) {
  cu_copy3d c = row(n);
  c.dst.type = CU_MEMORY_HOST;
  c.dst.host = dst;
  return out_of(src, at, c, stream, true);
}
cu_result drv_cuMemcpyAtoH_v2(void *dst, cu_array src, size_t at, size_t n) {
  cu_copy3d c = row(n);
  c.dst.type = CU_MEMORY_HOST;
  c.dst.host = dst;
  return out_of(src, at, c, NULL, false);
}
cu_result drv_cuMemcpyDtoA_v2(cu_array dst, size_t at, cu_address src, size_t n) {
  cu_copy3d c = row(n);
  c.src.type = CU_MEMORY_DEVICE;
  c.src.device = src;
  return into(dst, at, c, NULL, false);
}
cu_result drv_cuMemcpyAtoD_v2(cu_address dst, cu_array src, size_t at, size_t n) {
  cu_copy3d c = row(n);
  c.dst.type = CU_MEMORY_DEVICE;
  c.dst.device = dst;
  return out_of(src, at, c, NULL, false);
}
cu_result drv_cuMemcpyAtoA_v2(cu_array dst, size_t to, cu_array src, size_t from, size_t n) {
  cu_copy3d c = row(n);
  c.src.type = CU_MEMORY_ARRAY;
  c.src.array = src;
  c.src.x = from;
  return into(dst, to, c, NULL, false);
}

/* ---- Objects --------------------------------------------------------------------------------- */

cu_result drv_cuTexObjectCreate(uint64_t *object, const cu_resource *resource, const cu_texture *texture,
                                const void *view) {
  if (!object || !resource || !texture) return CU_INVALID_VALUE;
  return view ? drv_missing("a view of a texture's resource")
              : core_texture_create(resource, texture, object);
}

cu_result drv_cuSurfObjectCreate(uint64_t *object, const cu_resource *resource) {
  return object && resource ? core_surface_create(resource, object) : CU_INVALID_VALUE;
}

cu_result drv_cuTexObjectDestroy(uint64_t object) { return core_object_destroy(object); }
cu_result drv_cuSurfObjectDestroy(uint64_t object) { return core_object_destroy(object); }

cu_result drv_cuTexObjectGetResourceDesc(cu_resource *resource, uint64_t object) {
  const cu_resource *r = core_object_resource(object);
  if (!resource || !r) return CU_INVALID_VALUE;
  *resource = *r;
  return CU_SUCCESS;
}
cu_result drv_cuSurfObjectGetResourceDesc(cu_resource *resource, uint64_t object) {
  return drv_cuTexObjectGetResourceDesc(resource, object);
}

/* Views are refused. */
cu_result drv_cuTexObjectGetResourceViewDesc(void *view, uint64_t object) { return CU_INVALID_VALUE; }

cu_result drv_cuTexObjectGetTextureDesc(cu_texture *texture, uint64_t object) {
  const cu_texture *t = core_object_texture(object);
  if (!texture || !t) return CU_INVALID_VALUE;
  *texture = *t;
  return CU_SUCCESS;
}
