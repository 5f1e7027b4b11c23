/* emu/machine/image.c: images and the accesses that they allow; texture and surface objects. */
#include "emu/machine/image.h"
#include "emu/machine/grid.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Descriptions ----------------------------------------------------------- */

enum { MAX_WIDTH = 131072, MAX_HEIGHT = 65536, MAX_DEPTH = 16384, MAX_LAYERS = 2048, FACES = 6 };

unsigned hd_texel_bytes(hd_texel t) {
  switch (t) {
  case HD_TEXEL_U8:
  case HD_TEXEL_S8: return 1;
  case HD_TEXEL_U16:
  case HD_TEXEL_S16:
  case HD_TEXEL_F16: return 2;
  case HD_TEXEL_U32:
  case HD_TEXEL_S32:
  case HD_TEXEL_F32: return 4;
  }
  return 0;
}

static uint64_t texel_bytes(const hd_image *i) { return (uint64_t)hd_texel_bytes(i->texel) * i->channels; }

static hd_status check_linear(const hd_image *i, hd_diag *d) {
  if (i->height || i->depth || i->layers || i->cube || i->levels > 1 || i->pitch)
    return hd_fail(d, HD_ERR_USAGE, "a linear image has a width and nothing else");
  if (i->width < 1 || i->width > HD_IMAGE_LINEAR_MOST)
    return hd_fail(d, HD_ERR_USAGE, "a linear image of %" PRIu64 " texels: 1 to %d are possible", i->width,
                   HD_IMAGE_LINEAR_MOST);
  return HD_OK;
}

static hd_status check_pitch(const hd_image *i, hd_diag *d) {
  if (!i->height || i->depth || i->layers || i->cube || i->levels > 1)
    return hd_fail(d, HD_ERR_USAGE, "an image with a pitch has a width and a height and nothing else");
  if (i->pitch % HD_IMAGE_ALIGN || i->pitch > UINT32_MAX || i->pitch < i->width * texel_bytes(i))
    return hd_fail(d, HD_ERR_USAGE,
                   "a pitch of %" PRIu64 " bytes: a multiple of %d is needed, at least the %" PRIu64
                   " bytes of a row",
                   i->pitch, HD_IMAGE_ALIGN, i->width * texel_bytes(i));
  return HD_OK;
}

static unsigned most_levels(const hd_image *i) {
  uint64_t most = i->width;
  if (i->height > most) most = i->height;
  if (i->depth > most) most = i->depth;
  return 64u - (unsigned)__builtin_clzll(most);
}

static hd_status check_array(const hd_image *i, hd_diag *d) {
  if (i->pitch) return hd_fail(d, HD_ERR_USAGE, "an array has no pitch");
  if (i->depth > MAX_DEPTH || (i->depth && (!i->height || i->layers)))
    return hd_fail(d, HD_ERR_USAGE, "a depth of %u: up to %d are possible, with a height and without layers",
                   i->depth, MAX_DEPTH);
  if (i->layers > MAX_LAYERS)
    return hd_fail(d, HD_ERR_USAGE, "%u layers: up to %d are possible", i->layers, MAX_LAYERS);
  if (i->cube && (i->width != i->height || !i->layers || i->layers % FACES))
    return hd_fail(d, HD_ERR_USAGE,
                   "a cube of %" PRIu64 " x %u texels and %u layers: six square ones are needed", i->width,
                   i->height, i->layers);
  if (i->levels > most_levels(i))
    return hd_fail(d, HD_ERR_USAGE, "%u levels of a mipmap: the image has %u", i->levels, most_levels(i));
  return HD_OK;
}

hd_status hd_image_check(const hd_image *i, hd_diag *d) {
  if (!hd_texel_bytes(i->texel)) return hd_fail(d, HD_ERR_USAGE, "no texel has the format %d", (int)i->texel);
  if (i->channels != 1 && i->channels != 2 && i->channels != 4)
    return hd_fail(d, HD_ERR_USAGE, "a texel of %u channels: 1, 2 or 4 are possible", i->channels);
  if (i->kind == HD_IMAGE_LINEAR) return check_linear(i, d);
  if (i->width < 1 || i->width > MAX_WIDTH || i->height > MAX_HEIGHT)
    return hd_fail(d, HD_ERR_USAGE, "an image of %" PRIu64 " x %u texels: up to %d x %d are possible",
                   i->width, i->height, MAX_WIDTH, MAX_HEIGHT);
  if (i->kind == HD_IMAGE_PITCH) return check_pitch(i, d);
  if (i->kind == HD_IMAGE_ARRAY) return check_array(i, d);
  return hd_fail(d, HD_ERR_USAGE, "no image is of kind %d", (int)i->kind);
}

static uint64_t halved(uint64_t n, uint32_t level) { return n >> level ? n >> level : 1; }

/* The dimensions and pitches of a level; the caller sets its offset. */
static hd_image_level shape_of(const hd_image *i, uint32_t level) {
  hd_image_level l = {.width = halved(i->width, level),
                      .height = (uint32_t)halved(i->height ? i->height : 1, level),
                      .depth = i->layers ? i->layers : (uint32_t)halved(i->depth ? i->depth : 1, level)};
  l.row = i->kind == HD_IMAGE_PITCH ? i->pitch : l.width * texel_bytes(i);
  l.slice = l.row * l.height;
  return l;
}

hd_image_level hd_image_level_of(const hd_image *i, uint32_t level) {
  uint64_t offset = 0;
  for (uint32_t k = 0; k < level; k++) {
    const hd_image_level above = shape_of(i, k);
    offset += above.slice * above.depth;
  }
  hd_image_level l = shape_of(i, level);
  l.offset = offset;
  return l;
}

uint64_t hd_image_bytes(const hd_image *i) {
  const hd_image_level last = hd_image_level_of(i, i->levels > 1 ? i->levels - 1 : 0);
  /* Behind the last row's texels a pitch may leave the allocation. */
  return last.offset + last.slice * last.depth - last.row + last.width * texel_bytes(i);
}

hd_status hd_texture_check(const hd_texture *t, hd_diag *d) {
  hd_status st = hd_image_check(&t->image, d);
  if (st != HD_OK) return st;
  const unsigned bytes = hd_texel_bytes(t->image.texel);
  const bool is_float = t->image.texel == HD_TEXEL_F16 || t->image.texel == HD_TEXEL_F32;
  for (int k = 0; k < 3; k++)
    if ((unsigned)t->wrap[k] > HD_WRAP_BORDER)
      return hd_fail(d, HD_ERR_USAGE, "no way to wrap a coordinate has the number %d", (int)t->wrap[k]);
  if ((t->linear || t->linear_mip) && !is_float && (t->read_integer || bytes == 4))
    return hd_fail(d, HD_ERR_USAGE, "integers that are read as they are cannot be interpolated");
  if (t->linear && t->image.kind == HD_IMAGE_LINEAR)
    return hd_fail(d, HD_ERR_USAGE, "a linear image cannot be interpolated");
  if (t->image.levels > 1 && !t->normalized)
    return hd_fail(d, HD_ERR_USAGE, "a mipmap is read with normalised coordinates");
  if (!(t->most_level >= t->least_level)) /* NaN too */
    return hd_fail(d, HD_ERR_USAGE, "levels %g to %g of a mipmap are none", (double)t->least_level,
                   (double)t->most_level);
  return HD_OK;
}

hd_status hd_surface_check(const hd_image *i, hd_diag *d) {
  hd_status st = hd_image_check(i, d);
  if (st == HD_OK && i->kind != HD_IMAGE_ARRAY)
    st = hd_fail(d, HD_ERR_USAGE, "a surface is over an array, not over linear memory");
  return st;
}

/* ---- Objects ------------------------------------------------------------------ */

static hd_status check_place(hd_emu *e, const hd_image *i, hd_diag *d) {
  const uint64_t bytes = hd_image_bytes(i);
  if (!hd_emu_ptr(e, i->address, bytes))
    return hd_fail(d, HD_ERR_USAGE,
                   "an image of %" PRIu64 " bytes at 0x%" PRIx64 " is not inside one allocation", bytes,
                   i->address);
  if (i->address % texel_bytes(i))
    return hd_fail(d, HD_ERR_USAGE,
                   "an image at 0x%" PRIx64 ", which is no multiple of its texels' %" PRIu64 " bytes",
                   i->address, texel_bytes(i));
  return HD_OK;
}

static hd_status add(hd_emu *e, const emu_image_object *x, uint64_t *handle, hd_diag *d) {
  size_t k = 0;
  emu_layout_changes(e);
  while (k < e->images.n && e->images.data[k].use != EMU_IMAGE_FREE) k++;
  if (k < e->images.n)
    e->images.data[k] = *x;
  else if (!hd_vec_push(&e->images, *x))
    return hd_nomem(d);
  *handle = EMU_IMAGE_HANDLE + k;
  return HD_OK;
}

hd_status hd_emu_texture(hd_emu *e, const hd_texture *t, uint64_t *handle, hd_diag *d) {
  *handle = 0;
  hd_status st = hd_texture_check(t, d);
  if (st == HD_OK) st = check_place(e, &t->image, d);
  return st == HD_OK ? add(e, &(emu_image_object){EMU_IMAGE_TEXTURE, *t}, handle, d) : st;
}

hd_status hd_emu_surface(hd_emu *e, const hd_image *i, uint64_t *handle, hd_diag *d) {
  *handle = 0;
  hd_status st = hd_surface_check(i, d);
  if (st == HD_OK) st = check_place(e, i, d);
  return st == HD_OK ? add(e, &(emu_image_object){EMU_IMAGE_SURFACE, {.image = *i}}, handle, d) : st;
}

static emu_image_object *find(const hd_emu *e, uint64_t handle) {
  const uint64_t k = handle - EMU_IMAGE_HANDLE;
  return k < e->images.n && e->images.data[k].use != EMU_IMAGE_FREE ? &e->images.data[k] : NULL;
}

const emu_image_object *emu_image_find(const hd_emu *e, uint64_t handle) { return find(e, handle); }

hd_status hd_emu_release(hd_emu *e, uint64_t handle, hd_diag *d) {
  emu_image_object *x = find(e, handle);
  if (!x) return hd_fail(d, HD_ERR_USAGE, "no texture or surface has the handle 0x%" PRIx64, handle);
  *x = (emu_image_object){0};
  emu_layout_changes(e);
  return HD_OK;
}

/* ---- Instructions --------------------------------------------------------------- */

/* Whether the instruction can read such an image. A face of a cube is also a layer. */
static bool fits(const emu_image_inst *x, const hd_image *i) {
  const unsigned dims = i->depth ? 3 : i->height ? 2 : 1;
  if (x->cube) return i->cube && x->layered == (i->layers > FACES);
  return x->dims == dims && x->layered == (i->layers != 0);
}

static void describe(const hd_image *i, char *out, size_t cap) {
  static const char *const kinds[] = {"an array", "linear memory", "memory with a pitch"};
  char height[16] = "", depth[16] = "", layers[48] = "";
  if (i->height) snprintf(height, sizeof height, " x %u", i->height);
  if (i->depth) snprintf(depth, sizeof depth, " x %u", i->depth);
  if (i->layers)
    snprintf(layers, sizeof layers, " and %u %s", i->layers, i->cube ? "faces of cubes" : "layers");
  snprintf(out, cap, "%s of %" PRIu64 "%s%s texels%s", kinds[i->kind], i->width, height, depth, layers);
}

/* The program of the code that runs. */
static const hd_emu_program *owner(const emu_warp *w) {
  const hd_emu_program *p = w->current->frame->code->program;
  return p ? p : w->cta->grid->program;
}

static void no_object(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t handle,
                      const emu_image_object *o) {
  const emu_image_inst *x = i->extra;
  const hd_ptx_module *m = owner(w)->module;
  const char *kind = x->surface ? "surface" : "texture";
  if (x->handle == EMU_NO_SLOT)
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "%s stands for no %s", m->syms[m->vars[x->var].sym].name,
              kind);
  else
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "0x%" PRIx64 " is the handle of no %s%s", handle, kind,
              !o           ? ""
              : x->surface ? " but of a texture"
                           : " but of a surface");
}

const hd_texture *emu_image_of(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_image_inst *x = i->extra;
  const uint64_t handle =
      x->handle == EMU_NO_SLOT ? owner(w)->symbols[x->var].handle : emu_lane_u64(r, x->handle, lane);
  const emu_image_object *o = emu_image_find(w->cta->emu, handle);
  if (!o || o->use != (x->surface ? EMU_IMAGE_SURFACE : EMU_IMAGE_TEXTURE)) {
    no_object(w, i, lane, handle, o);
    return NULL;
  }
  const hd_image *image = &o->texture.image;
  const bool query = x->dims == 0, readable = image->kind != HD_IMAGE_LINEAR || x->integer;
  if (query || (readable && fits(x, image))) return &o->texture;
  char what[160];
  describe(image, what, sizeof what);
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the %s is %s, which this instruction cannot access",
            x->surface ? "surface" : "texture", what);
  return NULL;
}

/* The numbers that OpenCL has for types and orders of channels, as PTX has them. */
static uint32_t channel_type(const hd_texture *t, bool surface) {
  const bool as_float = !surface && !t->read_integer;
  switch (t->image.texel) {
  case HD_TEXEL_S8: return as_float ? 0x10d0 : 0x10d7;
  case HD_TEXEL_S16: return as_float ? 0x10d1 : 0x10d8;
  case HD_TEXEL_U8: return as_float ? 0x10d2 : 0x10da;
  case HD_TEXEL_U16: return as_float ? 0x10d3 : 0x10db;
  case HD_TEXEL_S32: return 0x10d9;
  case HD_TEXEL_U32: return 0x10dc;
  case HD_TEXEL_F16: return 0x10dd;
  case HD_TEXEL_F32: return 0x10de;
  }
  return 0;
}

static uint32_t answer(const emu_image_inst *x, const hd_texture *t) {
  const hd_image *i = &t->image;
  switch ((emu_image_query)x->select) {
  case EMU_QUERY_WIDTH: return (uint32_t)i->width;
  case EMU_QUERY_HEIGHT: return i->height;
  case EMU_QUERY_DEPTH: return i->depth;
  case EMU_QUERY_LAYERS: return i->cube ? i->layers / FACES : i->layers;
  case EMU_QUERY_LEVELS: return i->levels > 1 ? i->levels : 1;
  case EMU_QUERY_NORMALIZED: return t->normalized;
  case EMU_QUERY_CHANNEL_TYPE: return channel_type(t, x->surface);
  case EMU_QUERY_CHANNEL_ORDER: return i->channels == 1 ? 0x10b0 : i->channels == 2 ? 0x10b2 : 0x10b5;
  }
  return 0;
}

void emu_run_image_query(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_image_inst *x = i->extra;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    const hd_texture *t = emu_image_of(w, i, r, lane);
    if (!t) return;
    const uint32_t v = answer(x, t);
    memcpy(r + (size_t)x->reg[0] * EMU_SLOT_BYTES + (size_t)lane * 4, &v, sizeof v);
  }
}
