/* Arrays: images in memory of their own; textures and surfaces over them and over linear memory. */
#include <stdlib.h>

#include "cuda/core/core.h"

typedef struct object {
  uint64_t handle;
  cu_resource resource;
  cu_texture texture;
} object;
static HD_VEC(object) objects;

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Layers and the faces of cubes are the depth of the program's shape. */
static hd_image image_of(const cu_array3d *s, unsigned levels) {
  const bool layered = s->flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBE);
  return (hd_image){.kind = HD_IMAGE_ARRAY,
                    .texel = (hd_texel)s->format,
                    .channels = s->channels,
                    .width = s->width,
                    .height = (uint32_t)s->height,
                    .depth = layered ? 0 : (uint32_t)s->depth,
                    .layers = layered ? (uint32_t)s->depth : 0,
                    .cube = (s->flags & CU_ARRAY_CUBE) != 0,
                    .levels = levels};
}

/* One level of a mipmap as an array by itself. */
static core_array *make_level(core_array *whole, unsigned level) {
  const hd_image_level l = hd_image_level_of(&whole->image, level);
  core_array *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->kind = CORE_ARRAY;
  a->flags = whole->flags;
  a->mipmap = whole;
  a->image = whole->image;
  a->image.levels = 0;
  a->image.address += l.offset;
  a->image.width = l.width;
  if (a->image.height) a->image.height = l.height;
  if (a->image.depth) a->image.depth = l.depth;
  return a;
}

static bool make_levels(core_array *a, unsigned levels) {
  a->levels = calloc(levels, sizeof(core_array *));
  if (!a->levels) return false;
  for (unsigned k = 0; k < levels; k++)
    if (!(a->levels[k] = make_level(a, k))) return false;
  return true;
}

cu_result core_array_create(core_context *c, const cu_array3d *shape, unsigned levels, core_array **out) {
  hd_diag d = {0};
  if (shape->width > UINT32_MAX || shape->height > UINT32_MAX || shape->depth > UINT32_MAX)
    return CU_INVALID_VALUE;
  const hd_image image = image_of(shape, levels);
  if (hd_image_check(&image, &d) != HD_OK) {
    core_found(CORE_FOUND_ARGUMENT, "an array: %s", d.message);
    return CU_INVALID_VALUE;
  }
  core_array *a = calloc(1, sizeof *a);
  if (!a) return CU_OUT_OF_MEMORY;
  *a = (core_array){.kind = CORE_ARRAY, .image = image, .flags = shape->flags};
  cu_result r = core_memory_create(c, CORE_MEMORY_DEVICE, hd_image_bytes(&image), 0, "an array", &a->memory);
  if (r == CU_SUCCESS) {
    a->image.address = a->memory->address;
    a->memory->owned = true;
    if (levels && !make_levels(a, levels)) r = CU_OUT_OF_MEMORY;
  }
  if (r == CU_SUCCESS)
    *out = a;
  else
    core_array_destroy(a);
  return r;
}

/* Destroyed arrays stay allocated, so that a stale handle is recognised. */
void core_array_destroy(core_array *a) {
  for (unsigned k = 0; a->levels && k < a->image.levels; k++)
    if (a->levels[k]) a->levels[k]->kind = CORE_DEAD;
  free(a->levels);
  a->levels = NULL;
  if (a->memory) core_memory_free(a->memory);
  a->memory = NULL;
  a->kind = CORE_DEAD;
}

core_array *core_array_level(core_array *a, unsigned level) {
  return a->levels && level < a->image.levels ? a->levels[level] : NULL;
}

cu_array3d core_array_shape(const core_array *a) {
  const hd_image *i = &a->image;
  return (cu_array3d){i->width,      i->height,   i->layers ? i->layers : i->depth,
                      (int)i->texel, i->channels, a->flags};
}

core_place core_array_place(const core_array *a) {
  const hd_image_level l = hd_image_level_of(&a->image, 0);
  return (core_place){.address = a->image.address, .pitch = l.row, .slice = l.slice, .device = true};
}

/* ---- Objects --------------------------------------------------------------------------------- */

static hd_status image_in(const cu_resource *r, hd_image *i, hd_diag *d) {
  switch (r->type) {
  case CU_RESOURCE_ARRAY:
  case CU_RESOURCE_MIPMAP:
    if (!r->of.array || r->of.array->kind != CORE_ARRAY) return hd_fail(d, HD_ERR_USAGE, "there is no array");
    *i = r->of.array->image;
    return HD_OK;
  case CU_RESOURCE_LINEAR: {
    *i = (hd_image){.kind = HD_IMAGE_LINEAR,
                    .texel = (hd_texel)r->of.linear.format,
                    .channels = r->of.linear.channels,
                    .address = r->of.linear.address};
    const unsigned texel = hd_texel_bytes(i->texel) * i->channels;
    if (texel) i->width = r->of.linear.bytes / texel;
    return HD_OK;
  }
  case CU_RESOURCE_PITCH:
    *i = (hd_image){.kind = HD_IMAGE_PITCH,
                    .texel = (hd_texel)r->of.pitch.format,
                    .channels = r->of.pitch.channels,
                    .address = r->of.pitch.address,
                    .width = r->of.pitch.width,
                    .height = (uint32_t)r->of.pitch.height,
                    .pitch = r->of.pitch.pitch};
    return HD_OK;
  default: return hd_fail(d, HD_ERR_USAGE, "there is no resource of type %d", r->type);
  }
}

static cu_result keep(hd_status st, const hd_diag *d, object o, uint64_t *out) {
  if (st == HD_OK && hd_vec_push(&objects, o)) {
    *out = o.handle;
    return CU_SUCCESS;
  }
  if (st == HD_ERR_UNSUPPORTED) core_say("a texture: %s", d->message);
  if (st == HD_ERR_USAGE) core_found(CORE_FOUND_ARGUMENT, "a texture or surface: %s", d->message);
  return st == HD_ERR_USAGE         ? CU_INVALID_VALUE
         : st == HD_ERR_UNSUPPORTED ? CU_NOT_SUPPORTED
                                    : CU_OUT_OF_MEMORY;
}

cu_result core_texture_create(const cu_resource *r, const cu_texture *t, uint64_t *out) {
  hd_diag d = {0};
  object o = {.resource = *r, .texture = *t};
  hd_texture h = {.linear = t->filter == 1,
                  .linear_mip = t->mip_filter == 1,
                  .normalized = (t->flags & CU_TEXTURE_NORMALIZED) != 0,
                  .read_integer = (t->flags & CU_TEXTURE_INTEGER) != 0,
                  .bias = t->bias,
                  .least_level = t->least_level,
                  .most_level = t->most_level};
  hd_status st = t->flags & CU_TEXTURE_SRGB ? hd_fail(&d, HD_ERR_UNSUPPORTED, "sRGB is not emulated") : HD_OK;
  if (st == HD_OK) st = image_in(r, &h.image, &d);
  for (int k = 0; k < 3; k++) h.wrap[k] = (hd_wrap)t->wrap[k];
  for (int k = 0; k < 4; k++) h.border[k] = t->border[k];
  core_wait_all();
  if (st == HD_OK) st = hd_emu_texture(core.emu, &h, &o.handle, &d);
  return keep(st, &d, o, out);
}

cu_result core_surface_create(const cu_resource *r, uint64_t *out) {
  hd_diag d = {0};
  object o = {.resource = *r};
  hd_image i;
  hd_status st = image_in(r, &i, &d);
  core_wait_all();
  if (st == HD_OK) st = hd_emu_surface(core.emu, &i, &o.handle, &d);
  return keep(st, &d, o, out);
}

static object *find(uint64_t handle) {
  for (size_t k = 0; k < objects.n; k++)
    if (objects.data[k].handle == handle) return &objects.data[k];
  return NULL;
}

cu_result core_object_destroy(uint64_t handle) {
  object *o = find(handle);
  if (!o) return handle ? CU_INVALID_VALUE : CU_SUCCESS;
  core_wait_all();
  hd_emu_release(core.emu, handle, NULL);
  *o = objects.data[--objects.n];
  return CU_SUCCESS;
}

const cu_resource *core_object_resource(uint64_t handle) {
  const object *o = find(handle);
  return o ? &o->resource : NULL;
}

const cu_texture *core_object_texture(uint64_t handle) {
  const object *o = find(handle);
  return o ? &o->texture : NULL;
}
