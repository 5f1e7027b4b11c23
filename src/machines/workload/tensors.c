/* Tensor maps among a launch's arguments. */
#include <string.h>

#include "text/toml.h"
#include "workload/reader.h"

static const char *const TENSOR_KEYS[] = {"tensormap",       "shape",  "strides",    "box",
                                          "element-strides", "offset", "interleave", "swizzle",
                                          "promotion",       "fill",   NULL};

/* table[key]: `n` integers or expressions, outermost dimension first, into out[n - 1 .. 0]. Left alone when
 * it is missing and `needed` is not set. */
static hd_status get_extents(wl_reader *r, const json_t *t, const char *key, bool needed, uint32_t n,
                             int64_t high, uint64_t *out) {
  const json_t *v = json_object_get(t, key);
  if (!v && !needed) return HD_OK;
  if (!v) return wl_bad(r, t, "tensormap", "a tensor map's '%s' is missing", key);
  if (!json_is_array(v) || json_array_size(v) != n)
    return wl_bad(r, t, key, "'%s' should be an array of %u integers or expressions", key, n);
  hd_status st = HD_OK;
  for (uint32_t i = 0; i < n && st == HD_OK; i++) {
    int64_t x = 0;
    st = wl_get_integer(r, t, key, json_array_get(v, i), key, 0, high, &x);
    out[n - 1 - i] = (uint64_t)x;
  }
  return st;
}

static hd_tensor_type tensor_type(hd_elem e) {
  static const hd_tensor_type of[] = {
      [HD_ELEM_U8] = HD_TENSOR_U8,     [HD_ELEM_S8] = HD_TENSOR_U8,   [HD_ELEM_U16] = HD_TENSOR_U16,
      [HD_ELEM_S16] = HD_TENSOR_U16,   [HD_ELEM_U32] = HD_TENSOR_U32, [HD_ELEM_S32] = HD_TENSOR_S32,
      [HD_ELEM_U64] = HD_TENSOR_U64,   [HD_ELEM_S64] = HD_TENSOR_S64, [HD_ELEM_F16] = HD_TENSOR_F16,
      [HD_ELEM_BF16] = HD_TENSOR_BF16, [HD_ELEM_F32] = HD_TENSOR_F32, [HD_ELEM_F64] = HD_TENSOR_F64};
  return of[e];
}

static hd_status get_modes(wl_reader *r, const json_t *t, hd_tensor *x) {
  static const char *const interleaves[] = {"none", "16B", "32B", NULL};
  static const char *const swizzles[] = {
      "none", "32B", "64B", "128B", "128B-atom-32B", "128B-atom-32B-flip-8B", "128B-atom-64B", NULL};
  static const char *const promotions[] = {"none", "64B", "128B", "256B", NULL};
  static const char *const fills[] = {"zero", "nan", NULL};
  unsigned interleave, swizzle, promotion, fill;
  hd_status st = wl_get_word(r, t, "interleave", json_object_get(t, "interleave"), interleaves, &interleave);
  if (st != HD_OK ||
      (st = wl_get_word(r, t, "swizzle", json_object_get(t, "swizzle"), swizzles, &swizzle)) != HD_OK ||
      (st = wl_get_word(r, t, "promotion", json_object_get(t, "promotion"), promotions, &promotion)) !=
          HD_OK ||
      (st = wl_get_word(r, t, "fill", json_object_get(t, "fill"), fills, &fill)) != HD_OK)
    return st;
  x->interleave = (hd_tensor_interleave)interleave;
  x->swizzle = (hd_tensor_swizzle)swizzle;
  x->promotion = (hd_tensor_promotion)promotion;
  x->fill = (hd_tensor_fill)fill;
  return HD_OK;
}

hd_status wl_read_tensor(wl_reader *r, const json_t *t, hd_wl_arg *a) {
  static const int64_t most = INT64_C(1) << 40; /* of anything in a tensor map */
  const char *name;
  hd_status st = wl_only(r, t, TENSOR_KEYS);
  if (st != HD_OK || (st = wl_get_string(r, t, "tensormap", NULL, &name)) != HD_OK) return st;
  if (!wl_find_buffer(r, name, &a->buffer))
    return wl_bad(r, t, "tensormap", "there is no buffer '%.60s'", name);
  const hd_wl_buffer *b = &r->w->buffers[a->buffer];
  const json_t *shape = json_object_get(t, "shape"), *offset = json_object_get(t, "offset");
  const size_t rank = json_is_array(shape) ? json_array_size(shape) : 0;
  if (rank < 1 || rank > HD_TENSOR_DIMS)
    return wl_bad(r, t, shape ? "shape" : "tensormap", "'shape' should be an array of 1 to %d sizes",
                  HD_TENSOR_DIMS);
  hd_tensor *x = HD_NEW(r->arena, hd_tensor);
  uint64_t box[HD_TENSOR_DIMS] = {0}, step[HD_TENSOR_DIMS] = {1, 1, 1, 1, 1};
  uint64_t stride[HD_TENSOR_DIMS] = {0}; /* in elements, of dimensions 1 and up */
  const uint64_t bytes = hd_elem_bytes(b->type);
  int64_t first = 0;
  *x = (hd_tensor){.rank = (uint32_t)rank, .type = tensor_type(b->type)};
  if ((st = get_extents(r, t, "shape", true, x->rank, most, x->dim)) != HD_OK ||
      (st = get_extents(r, t, "box", true, x->rank, most, box)) != HD_OK ||
      (st = get_extents(r, t, "element-strides", false, x->rank, most, step)) != HD_OK ||
      (offset && (st = wl_get_integer(r, t, "offset", offset, "offset", 0, most, &first)) != HD_OK))
    return st;
  bool overflow = false;
  for (uint32_t k = 1; k < x->rank; k++)
    overflow |= __builtin_mul_overflow(k > 1 ? stride[k - 2] : 1, x->dim[k - 1], &stride[k - 1]);
  if ((st = get_extents(r, t, "strides", false, x->rank - 1, most, stride)) != HD_OK ||
      (st = get_modes(r, t, x)) != HD_OK)
    return st;
  uint64_t end = bytes; /* behind the last element */
  x->address = (uint64_t)first * bytes;
  for (uint32_t k = 0; k < x->rank; k++) {
    uint64_t reach;
    x->box[k] = box[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)box[k];
    x->element_stride[k] = step[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)step[k];
    const uint64_t apart = k ? stride[k - 1] : 1;
    overflow |= __builtin_mul_overflow(apart, bytes, &reach);
    if (k) x->stride[k - 1] = reach;
    overflow |= __builtin_mul_overflow(reach, x->dim[k] ? x->dim[k] - 1 : 0, &reach) ||
                __builtin_add_overflow(end, reach, &end);
  }
  hd_diag why = {0};
  if (!overflow && hd_tensor_check(x, &why) != HD_OK) return wl_bad(r, t, "tensormap", "%s", why.message);
  if (overflow || end > b->bytes || x->address > b->bytes - end)
    return wl_bad(r, t, "shape", "the tensor reaches beyond the %llu bytes of '%s'",
                  (unsigned long long)b->bytes, name);
  a->tensor = x;
  return HD_OK;
}
