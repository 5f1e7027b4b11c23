/* [[texture]] and [[surface]]: images over buffers, and how kernels read them. */
#include <string.h>

#include "workload/reader.h"

enum { MAX_IMAGES = 256 };

static const char *const TEXTURE_KEYS[] = {
    "name",       "buffer", "shape",  "kind",        "channels",   "offset", "pitch",
    "layered",    "cube",   "levels", "reference",   "wrap",       "filter", "mip-filter",
    "normalized", "read",   "bias",   "least-level", "most-level", "border", NULL};
static const char *const SURFACE_KEYS[] = {"name",    "buffer", "shape",  "channels",  "offset",
                                           "layered", "cube",   "levels", "reference", NULL};

/* ---- The image ---------------------------------------------------------------- */

static hd_texel texel_of(hd_elem e) {
  static const hd_texel of[] = {
      [HD_ELEM_U8] = HD_TEXEL_U8,   [HD_ELEM_S8] = HD_TEXEL_S8,   [HD_ELEM_U16] = HD_TEXEL_U16,
      [HD_ELEM_S16] = HD_TEXEL_S16, [HD_ELEM_U32] = HD_TEXEL_U32, [HD_ELEM_S32] = HD_TEXEL_S32,
      [HD_ELEM_F16] = HD_TEXEL_F16, [HD_ELEM_F32] = HD_TEXEL_F32, [HD_ELEM_F64] = 0};
  return of[e];
}

/* table[key], when it is there: an integer or an expression from 1 on. */
static hd_status get_count(wl_reader *r, const json_t *t, const char *key, uint32_t *out) {
  const json_t *v = json_object_get(t, key);
  int64_t x = *out;
  hd_status st = v ? wl_get_integer(r, t, key, v, key, 1, UINT32_MAX, &x) : HD_OK;
  *out = (uint32_t)x;
  return st;
}

/* "shape" is as C has it: the outermost dimension first, layers before all others. */
static hd_status get_shape(wl_reader *r, const json_t *t, bool layered, hd_image *i) {
  const json_t *v = json_object_get(t, "shape");
  const size_t n = json_is_array(v) ? json_array_size(v) : 0, least = layered ? 2 : 1;
  int64_t size[4] = {0};
  if (n < least || n > 3)
    return wl_bad(r, t, v ? "shape" : "name", "'shape' should be an array of %zu to 3 sizes", least);
  for (size_t k = 0; k < n; k++) {
    hd_status st =
        wl_get_integer(r, t, "shape", json_array_get(v, k), "shape", 1, UINT32_MAX, &size[n - 1 - k]);
    if (st != HD_OK) return st;
  }
  i->width = (uint64_t)size[0];
  if (layered) i->layers = (uint32_t)size[n - 1];
  if (n > (layered ? 2u : 1u)) i->height = (uint32_t)size[1];
  if (!layered && n == 3) i->depth = (uint32_t)size[2];
  return HD_OK;
}

static hd_status get_image(wl_reader *r, const json_t *t, hd_wl_image *x) {
  const hd_wl_buffer *b = &r->w->buffers[x->buffer];
  const json_t *offset = json_object_get(t, "offset"), *pitch = json_object_get(t, "pitch");
  hd_image *i = &x->texture.image;
  bool layered = false;
  int64_t first = 0, row = 0;
  hd_status st;
  *i = (hd_image){.kind = i->kind, .texel = texel_of(b->type), .channels = 1};
  if (!i->texel)
    return wl_bad(r, t, "buffer", "no texel has the type %s of '%s'", hd_elem_name(b->type), b->name);
  if ((st = wl_get_flag(r, t, "layered", &layered)) != HD_OK ||
      (st = wl_get_flag(r, t, "cube", &i->cube)) != HD_OK ||
      (st = get_count(r, t, "channels", &i->channels)) != HD_OK ||
      (st = get_count(r, t, "levels", &i->levels)) != HD_OK ||
      (st = get_shape(r, t, layered || i->cube, i)) != HD_OK)
    return st;
  if (offset &&
      (st = wl_get_integer(r, t, "offset", offset, "offset", 0, (int64_t)b->count, &first)) != HD_OK)
    return st;
  if (pitch && (st = wl_get_integer(r, t, "pitch", pitch, "pitch", 1, UINT32_MAX, &row)) != HD_OK) return st;
  i->address = (uint64_t)first * hd_elem_bytes(b->type);
  i->pitch = (uint64_t)row;
  return HD_OK;
}

/* The image lies in its buffer. Its description has passed the check. */
static hd_status check_place(wl_reader *r, const json_t *t, const hd_wl_image *x) {
  const hd_wl_buffer *b = &r->w->buffers[x->buffer];
  const hd_image *i = &x->texture.image;
  const uint64_t bytes = hd_image_bytes(i), texel = (uint64_t)hd_texel_bytes(i->texel) * i->channels;
  if (bytes > b->bytes || i->address > b->bytes - bytes)
    return wl_bad(r, t, "shape", "the image reaches beyond the %llu bytes of '%s'",
                  (unsigned long long)b->bytes, b->name);
  if (i->address % texel)
    return wl_bad(r, t, "offset", "the image begins within a texel of %llu bytes", (unsigned long long)texel);
  return HD_OK;
}

/* ---- Modes of reading ------------------------------------------------------------ */

/* "clamp", or one word each for x, y and z. */
static hd_status get_wrap(wl_reader *r, const json_t *t, hd_texture *x) {
  static const char *const words[] = {"wrap", "clamp", "mirror", "border", NULL};
  const json_t *v = json_object_get(t, "wrap");
  const size_t n = json_is_array(v) ? json_array_size(v) : 1;
  if (n < 1 || n > 3) return wl_bad(r, t, "wrap", "'wrap' should be a word, or up to 3 for x, y and z");
  for (size_t k = 0; k < 3; k++) {
    unsigned word = HD_WRAP_CLAMP;
    const json_t *one = json_is_array(v) ? json_array_get(v, k < n ? k : n - 1) : v;
    hd_status st = one ? wl_get_word(r, t, "wrap", one, words, &word) : HD_OK;
    if (st != HD_OK) return st;
    x->wrap[k] = (hd_wrap)word;
  }
  return HD_OK;
}

static hd_status get_number(wl_reader *r, const json_t *t, const char *key, const json_t *v, float *out) {
  if (v && !json_is_number(v)) return wl_bad(r, t, key, "'%s' should be a number", key);
  if (v) *out = (float)json_number_value(v);
  return HD_OK;
}

static hd_status get_border(wl_reader *r, const json_t *t, hd_texture *x) {
  const json_t *v = json_object_get(t, "border");
  hd_status st = HD_OK;
  if (v && (!json_is_array(v) || json_array_size(v) > 4))
    return wl_bad(r, t, "border", "'border' should be an array of up to 4 numbers");
  for (size_t k = 0; st == HD_OK && k < json_array_size(v); k++)
    st = get_number(r, t, "border", json_array_get(v, k), &x->border[k]);
  return st;
}

static hd_status get_levels(wl_reader *r, const json_t *t, hd_texture *x) {
  hd_status st = get_number(r, t, "bias", json_object_get(t, "bias"), &x->bias);
  x->most_level = (float)(x->image.levels > 1 ? x->image.levels - 1 : 0);
  if (st == HD_OK) st = get_number(r, t, "least-level", json_object_get(t, "least-level"), &x->least_level);
  return st == HD_OK ? get_number(r, t, "most-level", json_object_get(t, "most-level"), &x->most_level) : st;
}

static hd_status get_modes(wl_reader *r, const json_t *t, hd_texture *x) {
  static const char *const filters[] = {"point", "linear", NULL}, *const reads[] = {"element", "float", NULL};
  unsigned filter, mip, read;
  hd_status st = wl_get_word(r, t, "filter", json_object_get(t, "filter"), filters, &filter);
  if (st == HD_OK) st = wl_get_word(r, t, "mip-filter", json_object_get(t, "mip-filter"), filters, &mip);
  if (st == HD_OK) st = wl_get_word(r, t, "read", json_object_get(t, "read"), reads, &read);
  if (st == HD_OK) st = wl_get_flag(r, t, "normalized", &x->normalized);
  if (st == HD_OK) st = get_wrap(r, t, x);
  if (st == HD_OK) st = get_border(r, t, x);
  if (st == HD_OK) st = get_levels(r, t, x);
  if (st != HD_OK) return st;
  x->linear = filter;
  x->linear_mip = mip;
  x->read_integer = !read;
  return HD_OK;
}

/* ---- Tables ------------------------------------------------------------------------- */

static hd_status get_name(wl_reader *r, const json_t *t, hd_wl_image *x) {
  uint32_t taken;
  const char *buffer;
  hd_status st = wl_get_string(r, t, "name", NULL, &x->name);
  if (st == HD_OK) st = wl_get_string(r, t, "buffer", NULL, &buffer);
  if (st == HD_OK && json_object_get(t, "reference"))
    st = wl_get_string(r, t, "reference", NULL, &x->reference);
  if (st != HD_OK) return st;
  if (!wl_is_identifier(x->name, strlen(x->name)))
    return wl_bad(r, t, "name", "an image is named by letters, digits and '_', not '%.60s'", x->name);
  bool again = wl_find_buffer(r, x->name, &taken);
  for (uint32_t k = 0; k < r->w->n_images; k++) again |= strcmp(r->w->images[k].name, x->name) == 0;
  if (again) return wl_bad(r, t, "name", "there are two things called '%.60s'", x->name);
  if (!wl_find_buffer(r, buffer, &x->buffer) || r->w->buffers[x->buffer].variable)
    return wl_bad(r, t, "buffer", "there is no buffer '%.60s'", buffer);
  return HD_OK;
}

static hd_status read_image(wl_reader *r, const json_t *t, bool surface) {
  static const char *const kinds[] = {"array", "linear", "pitch", NULL};
  hd_wl_image *x = &r->w->images[r->w->n_images];
  unsigned kind = 0;
  hd_diag why = {0};
  x->surface = surface;
  hd_status st = wl_only(r, t, surface ? SURFACE_KEYS : TEXTURE_KEYS);
  if (st == HD_OK) st = get_name(r, t, x);
  if (st == HD_OK) st = wl_get_word(r, t, "kind", json_object_get(t, "kind"), kinds, &kind);
  x->texture.image.kind = (hd_image_kind)kind;
  if (st == HD_OK) st = get_image(r, t, x);
  if (st == HD_OK && !surface) st = get_modes(r, t, &x->texture);
  if (st != HD_OK) return st;
  st = surface ? hd_surface_check(&x->texture.image, &why) : hd_texture_check(&x->texture, &why);
  if (st != HD_OK) return wl_bad(r, t, NULL, "%s: %s", x->name, why.message);
  r->w->n_images++;
  return check_place(r, t, x);
}

hd_status wl_read_images(wl_reader *r, const json_t *root) {
  static const char *const keys[] = {"texture", "surface"};
  const json_t *tables[2] = {NULL};
  size_t n[2] = {0};
  hd_status st = HD_OK;
  for (int k = 0; st == HD_OK && k < 2; k++)
    if (json_object_get(root, keys[k])) st = wl_get_tables(r, root, keys[k], MAX_IMAGES, &tables[k], &n[k]);
  if (st != HD_OK) return st;
  r->w->images = HD_NEW_N(r->arena, n[0] + n[1] + 1, hd_wl_image);
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; st == HD_OK && i < n[k]; i++) st = read_image(r, json_array_get(tables[k], i), k == 1);
  return st;
}
