/* The fake driver's arrays, textures and surfaces. */
#include <stdlib.h>
#include <string.h>

#include "fake_driver.h"

enum { LEVELS = 32 };

/* An array is an image in memory of its own; a level of a mipmap one in the mipmap's. */
struct cu_array_ {
  hd_image image;
  struct cu_array_ *levels; /* LEVELS; NULL: it is no mipmap */
};

static int make_image(hd_image *i, const cu_array3d *desc, unsigned levels) {
  const bool layered = desc->flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBE);
  *i = (hd_image){.texel = desc->format,
                  .channels = desc->channels,
                  .width = desc->width,
                  .height = (uint32_t)desc->height,
                  .depth = layered ? 0 : (uint32_t)desc->depth,
                  .layers = layered ? (uint32_t)desc->depth : 0,
                  .cube = desc->flags & CU_ARRAY_CUBE,
                  .levels = levels};
  if (hd_image_check(i, NULL) != HD_OK) return CU_INVALID_VALUE;
  if (hd_emu_alloc(fake_emulator(), hd_image_bytes(i), &i->address, NULL) != HD_OK) return CU_OUT_OF_MEMORY;
  fake_count(&fake.arrays, 1);
  return 0;
}

static void free_image(hd_image *i) {
  hd_emu_free(fake_emulator(), i->address, NULL);
  fake_count(&fake.arrays, -1);
}

EXPORT int cuArray3DCreate_v2(cu_array *array, const cu_array3d *desc) {
  ENTER();
  if (!(*array = calloc(1, sizeof **array))) return CU_OUT_OF_MEMORY;
  int r = make_image(&(*array)->image, desc, 0);
  if (r) free(*array);
  return r;
}

EXPORT int cuArrayDestroy(cu_array array) {
  ENTER();
  free_image(&array->image);
  free(array);
  return 0;
}

EXPORT int cuMipmappedArrayCreate(cu_mipmap *mipmap, const cu_array3d *desc, unsigned levels) {
  ENTER();
  if (!(*mipmap = calloc(1 + LEVELS, sizeof **mipmap))) return CU_OUT_OF_MEMORY;
  (*mipmap)->levels = *mipmap + 1;
  int r = make_image(&(*mipmap)->image, desc, levels);
  if (r) free(*mipmap);
  return r;
}

EXPORT int cuMipmappedArrayGetLevel(cu_array *array, cu_mipmap mipmap, unsigned level) {
  ENTER();
  const hd_image_level l = hd_image_level_of(&mipmap->image, level);
  hd_image i = mipmap->image;
  i.address += l.offset;
  i.width = l.width;
  i.height = i.height ? l.height : 0;
  i.depth = i.depth ? l.depth : 0;
  i.levels = 0;
  mipmap->levels[level].image = i;
  *array = &mipmap->levels[level];
  return 0;
}

EXPORT int cuMipmappedArrayDestroy(cu_mipmap mipmap) {
  ENTER();
  free_image(&mipmap->image);
  free(mipmap);
  return 0;
}

static uint64_t side_address(const cu_side3d *s, size_t y, size_t z) {
  if (s->type == CU_MEMORY_DEVICE) return s->device + (z * s->height + y) * s->pitch;
  const hd_image_level l = hd_image_level_of(&s->array->image, 0);
  return s->array->image.address + y * l.row + z * l.slice;
}

static int copy(cu_address to, cu_address from, size_t bytes) {
  const void *p = hd_emu_ptr(fake_emulator(), from, bytes);
  return p && hd_emu_write(fake_emulator(), to, p, bytes, NULL) == HD_OK ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuMemcpy3DAsync_v2(const cu_copy3d *c, cu_stream stream) {
  ENTER();
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++)
      if (copy(side_address(&c->dst, y, z), side_address(&c->src, y, z), c->width)) return CU_INVALID_VALUE;
  return 0;
}

static int image_of(const cu_resource *r, hd_image *i) {
  switch (r->type) {
  case CU_RESOURCE_ARRAY:
  case CU_RESOURCE_MIPMAP: *i = r->of.array->image; return 0;
  case CU_RESOURCE_LINEAR:
    *i = (hd_image){.kind = HD_IMAGE_LINEAR,
                    .address = r->of.linear.address,
                    .texel = r->of.linear.format,
                    .channels = r->of.linear.channels};
    i->width = r->of.linear.bytes / (hd_texel_bytes(i->texel) * i->channels);
    return 0;
  case CU_RESOURCE_PITCH:
    *i = (hd_image){.kind = HD_IMAGE_PITCH,
                    .address = r->of.pitch.address,
                    .texel = r->of.pitch.format,
                    .channels = r->of.pitch.channels,
                    .width = r->of.pitch.width,
                    .height = (uint32_t)r->of.pitch.height,
                    .pitch = r->of.pitch.pitch};
    return 0;
  default: return CU_INVALID_VALUE;
  }
}

EXPORT int cuTexObjectCreate(uint64_t *object, const cu_resource *r, const cu_texture *x, const void *view) {
  ENTER();
  hd_texture t = {.linear = x->filter,
                  .linear_mip = x->mip_filter,
                  .normalized = x->flags & CU_TEXTURE_NORMALIZED,
                  .read_integer = x->flags & CU_TEXTURE_INTEGER,
                  .bias = x->bias,
                  .least_level = x->least_level,
                  .most_level = x->most_level};
  for (int k = 0; k < 3; k++) t.wrap[k] = x->wrap[k];
  memcpy(t.border, x->border, sizeof t.border);
  if (view || image_of(r, &t.image) || hd_emu_texture(fake_emulator(), &t, object, NULL) != HD_OK)
    return CU_INVALID_VALUE;
  fake_count(&fake.objects, 1);
  return 0;
}

EXPORT int cuTexObjectDestroy(uint64_t object) {
  ENTER();
  fake_count(&fake.objects, -1);
  return hd_emu_release(fake_emulator(), object, NULL) == HD_OK ? 0 : CU_INVALID_VALUE;
}

EXPORT int cuSurfObjectCreate(uint64_t *object, const cu_resource *r) {
  ENTER();
  hd_image i;
  if (image_of(r, &i) || hd_emu_surface(fake_emulator(), &i, object, NULL) != HD_OK) return CU_INVALID_VALUE;
  fake_count(&fake.objects, 1);
  return 0;
}

EXPORT int cuSurfObjectDestroy(uint64_t object) {
  ENTER();
  fake_count(&fake.objects, -1);
  return hd_emu_release(fake_emulator(), object, NULL) == HD_OK ? 0 : CU_INVALID_VALUE;
}
