/* cuda:N: textures and surfaces. */
#include <inttypes.h>
#include <string.h>

#include "device/cuda.h"

/* ---- Arrays ------------------------------------------------------------------------ */

static bool same_image(const hd_image *a, const hd_image *b) {
  return a->texel == b->texel && a->channels == b->channels && a->address == b->address &&
         a->width == b->width && a->height == b->height && a->depth == b->depth && a->layers == b->layers &&
         a->cube == b->cube && a->levels == b->levels;
}

/* Every array may be gathered from and written as a surface, as far as there is such a thing. */
static cu_array3d array_desc(const hd_image *i) {
  const bool plain = i->height && !i->depth && !i->layers && i->levels <= 1;
  return (cu_array3d){.width = i->width,
                      .height = i->height,
                      .depth = i->layers ? i->layers : i->depth,
                      .format = i->texel,
                      .channels = i->channels,
                      .flags = CU_ARRAY_SURFACE |
                               (i->layers && !(i->cube && i->layers == 6) ? CU_ARRAY_LAYERED : 0u) |
                               (i->cube ? CU_ARRAY_CUBE : 0u) | (plain ? CU_ARRAY_GATHER : 0u)};
}

static hd_status create(cuda_device *c, cuda_array *a, hd_diag *d) {
  const cu_array3d desc = array_desc(&a->image);
  if (a->image.levels > 1)
    return CUDA_TRY(c, d, "", cuMipmappedArrayCreate, &a->mipmap, &desc, a->image.levels);
  return CUDA_TRY(c, d, "", cuArray3DCreate_v2, &a->array, &desc);
}

static void destroy(cuda_device *c, cuda_array *a) {
  if (a->mipmap) c->api.cuMipmappedArrayDestroy(a->mipmap);
  if (a->array) c->api.cuArrayDestroy(a->array);
  *a = (cuda_array){0};
}

/* The array of an image, made when there is none; *out is 1 + its number. */
static hd_status find_array(cuda_device *c, const hd_image *i, uint32_t *out, hd_diag *d) {
  size_t room = c->arrays.n;
  for (size_t k = 0; k < c->arrays.n; k++) {
    cuda_array *a = &c->arrays.data[k];
    if (!a->users) room = k;
    if (!a->users || !same_image(&a->image, i)) continue;
    a->users++;
    *out = (uint32_t)k + 1;
    return HD_OK;
  }
  cuda_array made = {.image = *i, .users = 1};
  if (room == c->arrays.n && !hd_vec_push(&c->arrays, ((cuda_array){0}))) return hd_nomem(d);
  hd_status st = create(c, &made, d);
  if (st != HD_OK) return st;
  c->arrays.data[room] = made;
  *out = (uint32_t)room + 1;
  return HD_OK;
}

static void drop_array(cuda_device *c, uint32_t array) {
  if (array && --c->arrays.data[array - 1].users == 0) destroy(c, &c->arrays.data[array - 1]);
}

/* ---- Objects --------------------------------------------------------------------------- */

static cu_resource resource_of(const cuda_device *c, const hd_image *i, uint32_t array) {
  cu_resource r = {.type = CU_RESOURCE_ARRAY};
  if (array && c->arrays.data[array - 1].mipmap) {
    r.type = CU_RESOURCE_MIPMAP;
    r.of.array = c->arrays.data[array - 1].mipmap;
  } else if (array) {
    r.of.array = c->arrays.data[array - 1].array;
  } else if (i->kind == HD_IMAGE_LINEAR) {
    r.type = CU_RESOURCE_LINEAR;
    r.of.linear.address = i->address;
    r.of.linear.format = i->texel;
    r.of.linear.channels = i->channels;
    r.of.linear.bytes = hd_image_bytes(i);
  } else {
    r.type = CU_RESOURCE_PITCH;
    r.of.pitch.address = i->address;
    r.of.pitch.format = i->texel;
    r.of.pitch.channels = i->channels;
    r.of.pitch.width = i->width;
    r.of.pitch.height = i->height;
    r.of.pitch.pitch = i->pitch;
  }
  return r;
}

static cu_texture texture_of(const hd_texture *t) {
  cu_texture x = {.filter = t->linear,
                  .flags = (t->read_integer ? CU_TEXTURE_INTEGER : 0u) |
                           (t->normalized ? CU_TEXTURE_NORMALIZED : 0u),
                  .mip_filter = t->linear_mip,
                  .bias = t->bias,
                  .least_level = t->least_level,
                  .most_level = t->most_level};
  for (int k = 0; k < 3; k++) x.wrap[k] = t->wrap[k];
  memcpy(x.border, t->border, sizeof x.border);
  return x;
}

static hd_status make(cuda_device *c, const hd_texture *t, bool surface, uint32_t array, uint64_t *handle,
                      hd_diag *d) {
  /* A surface is over one level. */
  cu_resource r = resource_of(c, &t->image, array);
  const cu_texture x = texture_of(t);
  if (surface && r.type == CU_RESOURCE_MIPMAP) {
    cu_array level;
    hd_status st = CUDA_TRY(c, d, "", cuMipmappedArrayGetLevel, &level, r.of.array, 0);
    if (st != HD_OK) return st;
    r.type = CU_RESOURCE_ARRAY;
    r.of.array = level;
  }
  return surface ? CUDA_TRY(c, d, "", cuSurfObjectCreate, handle, &r)
                 : CUDA_TRY(c, d, "", cuTexObjectCreate, handle, &r, &x, NULL);
}

static hd_status make_all(cuda_device *c, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d) {
  cuda_object o = {.surface = surface};
  if (!hd_vec_reserve(&c->objects, c->objects.n + 1)) return hd_nomem(d);
  hd_status st = t->image.kind == HD_IMAGE_ARRAY ? find_array(c, &t->image, &o.array, d) : HD_OK;
  if (st != HD_OK) return st;
  st = make(c, t, surface, o.array, &o.handle, d);
  if (st != HD_OK) {
    drop_array(c, o.array);
    return st;
  }
  c->objects.data[c->objects.n++] = o;
  *handle = o.handle;
  return HD_OK;
}

hd_status cuda_image_make(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  if (!c->api.cuTexObjectCreate || !c->api.cuSurfObjectCreate || !c->api.cuArray3DCreate_v2 ||
      !c->api.cuMemcpy3DAsync_v2 || !c->api.cuMipmappedArrayCreate)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s: this driver has no texture objects", dev->info.name);
  hd_status st = cuda_enter(c, d);
  return st == HD_OK ? cuda_leave(c, make_all(c, t, surface, handle, d), d) : st;
}

/* A texture and a surface may have the same number. */
static cuda_object *find_object(cuda_device *c, uint64_t handle, bool surface) {
  for (size_t k = 0; k < c->objects.n; k++)
    if (c->objects.data[k].handle == handle && c->objects.data[k].surface == surface)
      return &c->objects.data[k];
  return NULL;
}

static void destroy_object(cuda_device *c, const cuda_object *o) {
  if (o->surface)
    c->api.cuSurfObjectDestroy(o->handle);
  else
    c->api.cuTexObjectDestroy(o->handle);
  drop_array(c, o->array);
}

hd_status cuda_image_free(hd_device *dev, uint64_t handle, bool surface, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  cuda_object *o = find_object(c, handle, surface);
  if (!o) return hd_fail(d, HD_ERR_INPUT, "%s: no texture or surface 0x%" PRIx64, dev->info.name, handle);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  destroy_object(c, o);
  *o = c->objects.data[--c->objects.n];
  return cuda_leave(c, HD_OK, d);
}

/* The context is current. */
void cuda_images_close(cuda_device *c) {
  for (size_t k = 0; k < c->objects.n; k++) destroy_object(c, &c->objects.data[k]);
  c->objects.n = 0;
}

/* ---- Contents ---------------------------------------------------------------------------- */

static hd_status copy_level(cuda_device *c, const cuda_array *a, uint32_t level, bool back, hd_diag *d) {
  const hd_image_level l = hd_image_level_of(&a->image, level);
  cu_array array = a->array;
  hd_status st = HD_OK;
  if (a->mipmap) st = CUDA_TRY(c, d, "", cuMipmappedArrayGetLevel, &array, a->mipmap, level);
  const cu_side3d memory = {.type = CU_MEMORY_DEVICE,
                            .device = a->image.address + l.offset,
                            .pitch = l.row,
                            .height = l.height},
                  texels = {.type = CU_MEMORY_ARRAY, .array = array};
  const cu_copy3d copy = {.src = back ? texels : memory,
                          .dst = back ? memory : texels,
                          .width = l.row,
                          .height = l.height,
                          .depth = l.depth};
  return st == HD_OK ? CUDA_TRY(c, d, "", cuMemcpy3DAsync_v2, &copy, c->current) : st;
}

hd_status cuda_image_copy(hd_device *dev, uint64_t handle, bool surface, bool back, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  const cuda_object *o = find_object(c, handle, surface);
  if (!o) return hd_fail(d, HD_ERR_INPUT, "%s: no texture or surface 0x%" PRIx64, dev->info.name, handle);
  if (!o->array) return HD_OK;
  const cuda_array *a = &c->arrays.data[o->array - 1];
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  for (uint32_t level = 0; st == HD_OK && level < (a->image.levels > 1 ? a->image.levels : 1); level++)
    st = copy_level(c, a, level, back, d);
  return cuda_leave(c, st, d);
}
