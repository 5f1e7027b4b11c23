/* emu/machine/tensormap.c: tensor maps made by the host and by tensormap.replace, and the checks of their
 * fields.
 *
 * The conditions are those that the driver API lists for cuTensorMapEncodeTiled. */
#include "emu/machine/tensormap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BOX = 256, MAX_ELEMENT_STRIDE = 8 };
#define MAX_DIM (UINT64_C(1) << 32)
#define MAX_STRIDE (UINT64_C(1) << 40)

static const struct {
  uint8_t bytes;
  bool is_float;
} types[HD_TENSOR_TYPES] = {
    [HD_TENSOR_U8] = {1, false},      [HD_TENSOR_U16] = {2, false},    [HD_TENSOR_U32] = {4, false},
    [HD_TENSOR_S32] = {4, false},     [HD_TENSOR_U64] = {8, false},    [HD_TENSOR_S64] = {8, false},
    [HD_TENSOR_F16] = {2, true},      [HD_TENSOR_F32] = {4, true},     [HD_TENSOR_F64] = {8, true},
    [HD_TENSOR_BF16] = {2, true},     [HD_TENSOR_F32_FTZ] = {4, true}, [HD_TENSOR_TF32] = {4, true},
    [HD_TENSOR_TF32_FTZ] = {4, true},
};

unsigned emu_tensor_element_bytes(hd_tensor_type type) {
  return (unsigned)type < HD_TENSOR_TYPES ? types[type].bytes : 0;
}

unsigned emu_tensor_swizzle_bytes(hd_tensor_swizzle s) {
  static const uint8_t bytes[HD_TENSOR_SWIZZLES] = {0, 32, 64, 128, 128, 128, 128};
  return (unsigned)s < HD_TENSOR_SWIZZLES ? bytes[s] : 0;
}

/* ---- Conditions ------------------------------------------------------------------------ */

#define WRONG(...) (snprintf(why, cap, __VA_ARGS__), false)

static bool check_kinds(const hd_tensor *t, char *why, size_t cap) {
  if ((unsigned)t->type >= HD_TENSOR_TYPES) return WRONG("element type %d is unknown", (int)t->type);
  if ((unsigned)t->interleave > HD_TENSOR_INTERLEAVE_32B)
    return WRONG("interleave %d is unknown", (int)t->interleave);
  if ((unsigned)t->swizzle >= HD_TENSOR_SWIZZLES) return WRONG("swizzle %d is unknown", (int)t->swizzle);
  if ((unsigned)t->promotion > HD_TENSOR_PROMOTION_256B)
    return WRONG("L2 promotion %d is unknown", (int)t->promotion);
  if ((unsigned)t->fill > HD_TENSOR_FILL_NAN) return WRONG("fill %d is unknown", (int)t->fill);
  if (t->fill == HD_TENSOR_FILL_NAN && !types[t->type].is_float)
    return WRONG("only floating-point elements can be filled with NaN");
  if (t->rank < 1 || t->rank > HD_TENSOR_DIMS)
    return WRONG("the rank is %u, not 1 to %d", t->rank, HD_TENSOR_DIMS);
  if (t->interleave != HD_TENSOR_INTERLEAVE_NONE && t->rank < 3)
    return WRONG("an interleaved tensor has a rank of at least 3, not %u", t->rank);
  if (t->interleave == HD_TENSOR_INTERLEAVE_32B && t->swizzle != HD_TENSOR_SWIZZLE_32B)
    return WRONG("interleave 32B needs swizzle 32B");
  return true;
}

static bool check_tensor(const hd_tensor *t, char *why, size_t cap) {
  if (!check_kinds(t, why, cap)) return false;
  const unsigned align = t->interleave == HD_TENSOR_INTERLEAVE_32B ? 32 : 16;
  if (t->address % align) return WRONG("address 0x%" PRIx64 " is no multiple of %u", t->address, align);
  for (uint32_t k = 0; k < t->rank; k++) {
    if (t->dim[k] < 1 || t->dim[k] > MAX_DIM)
      return WRONG("dimension %u has %" PRIu64 " elements, not 1 to 2^32", k, t->dim[k]);
    if (t->box[k] < 1 || t->box[k] > MAX_BOX)
      return WRONG("the box has %u elements along dimension %u, not 1 to %d", t->box[k], k, MAX_BOX);
    if (t->element_stride[k] < 1 || t->element_stride[k] > MAX_ELEMENT_STRIDE)
      return WRONG("the element stride of dimension %u is %u, not 1 to %d", k, t->element_stride[k],
                   MAX_ELEMENT_STRIDE);
    if (k + 1 < t->rank && (t->stride[k] % align || t->stride[k] >= MAX_STRIDE))
      return WRONG("the stride of dimension %u is %" PRIu64 " bytes: not a multiple of %u below 2^40", k + 1,
                   t->stride[k], align);
  }
  const uint32_t inner = t->box[0] * types[t->type].bytes, width = emu_tensor_swizzle_bytes(t->swizzle);
  if (t->interleave != HD_TENSOR_INTERLEAVE_NONE) return true;
  if (inner % 16) return WRONG("the box has %u bytes along dimension 0, no multiple of 16", inner);
  if (width && inner > width)
    return WRONG("the box has %u bytes along dimension 0, more than the %u of the swizzle", inner, width);
  return true;
}

/* ---- From the host ----------------------------------------------------------------------- */

hd_status hd_tensor_check(const hd_tensor *t, hd_diag *d) {
  char why[160];
  if (check_tensor(t, why, sizeof why)) return HD_OK;
  return hd_fail(d, HD_ERR_USAGE, "tensor map: %s", why);
}

/* Widths and atoms as tensormap.replace numbers them. */
static const struct {
  uint8_t width, atomicity;
} swizzles[HD_TENSOR_SWIZZLES] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};
/* Element types as tensormap.replace numbers them; those without a type are not emulated. */
static const struct {
  uint8_t type; /* 1 + hd_tensor_type; 0: none */
  const char *name;
} replaced_types[] = {
    {1 + HD_TENSOR_U8, "u8"},
    {1 + HD_TENSOR_U16, "u16"},
    {1 + HD_TENSOR_U32, "u32"},
    {1 + HD_TENSOR_S32, "s32"},
    {1 + HD_TENSOR_U64, "u64"},
    {1 + HD_TENSOR_S64, "s64"},
    {1 + HD_TENSOR_F16, "f16"},
    {1 + HD_TENSOR_F32, "f32"},
    {1 + HD_TENSOR_F32_FTZ, "f32.ftz"},
    {1 + HD_TENSOR_F64, "f64"},
    {1 + HD_TENSOR_BF16, "bf16"},
    {1 + HD_TENSOR_TF32, "tf32"},
    {1 + HD_TENSOR_TF32_FTZ, "tf32.ftz"},
    {0, "b4x16"},
    {0, "b4x16_p64"},
    {0, "b6x16_p32"},
};
enum { N_REPLACED_TYPES = sizeof replaced_types / sizeof replaced_types[0] };

hd_status hd_emu_tensor_map(const hd_tensor *t, void *map, hd_diag *d) {
  hd_status st = hd_tensor_check(t, d);
  if (st != HD_OK) return st;
  emu_tensor_map m = {.magic = EMU_TENSOR_MAP_MAGIC,
                      .set = EMU_TENSOR_SET_ADDRESS,
                      .address = t->address,
                      .last = (uint8_t)(t->rank - 1),
                      .type = (uint8_t)t->type,
                      .interleave = (uint8_t)t->interleave,
                      .swizzle = swizzles[t->swizzle].width,
                      .atomicity = swizzles[t->swizzle].atomicity,
                      .fill = (uint8_t)t->fill,
                      .promotion = (uint8_t)t->promotion};
  for (uint32_t k = 0; k < t->rank; k++) {
    m.dim[k] = (uint32_t)t->dim[k];
    m.box[k] = t->box[k];
    m.element_stride[k] = t->element_stride[k];
    m.set |= (uint32_t)(EMU_TENSOR_SET_DIM | EMU_TENSOR_SET_BOX | EMU_TENSOR_SET_ELEMENT) << k;
    if (k + 1 == t->rank) break;
    m.stride[k] = t->stride[k];
    m.set |= (uint32_t)EMU_TENSOR_SET_STRIDE << k;
  }
  memcpy(map, &m, sizeof m);
  return HD_OK;
}

hd_status hd_emu_tensor_map_move(void *map, uint64_t address, hd_diag *d) {
  emu_tensor_map m;
  hd_tensor t;
  char why[128];
  memcpy(&m, map, sizeof m);
  if (!emu_tensor_replace(&m, EMU_TENSOR_ADDRESS, 0, address, why, sizeof why) ||
      !emu_tensor_read(&m, &t, why, sizeof why))
    return hd_fail(d, HD_ERR_USAGE, "tensor map: %s", why);
  memcpy(map, &m, sizeof m);
  return HD_OK;
}

/* ---- tensormap.replace ------------------------------------------------------------------------ */

bool emu_tensor_field_is_array(emu_tensor_field f) {
  return f == EMU_TENSOR_BOX || f == EMU_TENSOR_DIM || f == EMU_TENSOR_STRIDE ||
         f == EMU_TENSOR_ELEMENT_STRIDE;
}

/* Zeros, or one of the emulator's. */
static bool is_map(const emu_tensor_map *m) {
  static const emu_tensor_map zeros;
  return m->magic == EMU_TENSOR_MAP_MAGIC || memcmp(m, &zeros, sizeof zeros) == 0;
}

static const char no_map[] = "these 128 bytes are no tensor map of the emulator's";

bool emu_tensor_replace(emu_tensor_map *m, emu_tensor_field f, uint32_t ordinal, uint64_t value, char *why,
                        size_t cap) {
  if (!is_map(m)) return WRONG("%s", no_map);
  const uint32_t n = f == EMU_TENSOR_STRIDE ? HD_TENSOR_DIMS - 1 : HD_TENSOR_DIMS;
  if (emu_tensor_field_is_array(f) && ordinal >= n)
    return WRONG("it names dimension %u of at most %u", ordinal, n);
  m->magic = EMU_TENSOR_MAP_MAGIC;
  switch (f) {
  case EMU_TENSOR_ADDRESS:
    m->address = value;
    m->set |= EMU_TENSOR_SET_ADDRESS;
    return true;
  case EMU_TENSOR_RANK: /* one less than the rank */
    if (value >= HD_TENSOR_DIMS) return WRONG("rank field %" PRIu64 ", not 0 to 4", value);
    m->last = (uint8_t)value;
    return true;
  case EMU_TENSOR_BOX:
    m->box[ordinal] = (uint32_t)value;
    m->set |= (uint32_t)EMU_TENSOR_SET_BOX << ordinal;
    return true;
  case EMU_TENSOR_DIM:
    m->dim[ordinal] = (uint32_t)value;
    m->set |= (uint32_t)EMU_TENSOR_SET_DIM << ordinal;
    return true;
  case EMU_TENSOR_STRIDE:
    m->stride[ordinal] = value;
    m->set |= (uint32_t)EMU_TENSOR_SET_STRIDE << ordinal;
    return true;
  case EMU_TENSOR_ELEMENT_STRIDE:
    m->element_stride[ordinal] = (uint32_t)value;
    m->set |= (uint32_t)EMU_TENSOR_SET_ELEMENT << ordinal;
    return true;
  case EMU_TENSOR_TYPE:
    if (value >= N_REPLACED_TYPES) return WRONG("element type %" PRIu64 " is unknown", value);
    if (!replaced_types[value].type)
      return WRONG("element type %s is not emulated", replaced_types[value].name);
    m->type = (uint8_t)(replaced_types[value].type - 1);
    return true;
  case EMU_TENSOR_INTERLEAVE:
    if (value > HD_TENSOR_INTERLEAVE_32B) return WRONG("interleave %" PRIu64 " is unknown", value);
    m->interleave = (uint8_t)value;
    return true;
  case EMU_TENSOR_SWIZZLE:
    if (value == 4) return WRONG("swizzle 96B is not emulated");
    if (value > 4) return WRONG("swizzle %" PRIu64 " is unknown", value);
    m->swizzle = (uint8_t)value;
    return true;
  case EMU_TENSOR_ATOMICITY:
    if (value > 3) return WRONG("swizzle atomicity %" PRIu64 " is unknown", value);
    m->atomicity = (uint8_t)value;
    return true;
  case EMU_TENSOR_FILL:
    if (value > HD_TENSOR_FILL_NAN) return WRONG("fill mode %" PRIu64 " is unknown", value);
    m->fill = (uint8_t)value;
    return true;
  case EMU_TENSOR_FIELDS: break;
  }
  return WRONG("an unknown field");
}

/* ---- Use ---------------------------------------------------------------------------------------- */

/* Every field that a map of this rank needs. */
static bool check_set(const emu_tensor_map *m, char *why, size_t cap) {
  static const struct {
    uint32_t bit;
    const char *name;
  } arrays[] = {{EMU_TENSOR_SET_DIM, "size of dimension"},
                {EMU_TENSOR_SET_BOX, "box along dimension"},
                {EMU_TENSOR_SET_ELEMENT, "element stride of dimension"},
                {EMU_TENSOR_SET_STRIDE, "stride of dimension"}};
  if (!(m->set & EMU_TENSOR_SET_ADDRESS)) return WRONG("its address was never set");
  for (uint32_t a = 0; a < 4; a++) {
    const uint32_t first = arrays[a].bit == EMU_TENSOR_SET_STRIDE;
    for (uint32_t k = 0; k + first <= m->last && k < HD_TENSOR_DIMS; k++)
      if (!(m->set & arrays[a].bit << k)) return WRONG("the %s %u was never set", arrays[a].name, k + first);
  }
  return true;
}

bool emu_tensor_read(const emu_tensor_map *m, hd_tensor *t, char *why, size_t cap) {
  if (!is_map(m)) return WRONG("%s", no_map);
  if (!check_set(m, why, cap)) return false;
  *t = (hd_tensor){.address = m->address,
                   .type = (hd_tensor_type)m->type,
                   .rank = m->last + 1u,
                   .interleave = (hd_tensor_interleave)m->interleave,
                   .promotion = (hd_tensor_promotion)m->promotion,
                   .fill = (hd_tensor_fill)m->fill};
  for (uint32_t k = 0; k < HD_TENSOR_DIMS; k++) {
    t->dim[k] = m->dim[k] ? m->dim[k] : MAX_DIM;
    t->box[k] = m->box[k];
    t->element_stride[k] = m->element_stride[k];
    if (k < HD_TENSOR_DIMS - 1) t->stride[k] = m->stride[k];
  }
  t->swizzle = HD_TENSOR_SWIZZLES;
  for (unsigned s = 0; s < HD_TENSOR_SWIZZLES; s++)
    if (swizzles[s].width == m->swizzle && swizzles[s].atomicity == m->atomicity)
      t->swizzle = (hd_tensor_swizzle)s;
  if (t->swizzle == HD_TENSOR_SWIZZLES)
    return WRONG("swizzle mode %u has no atomicity %u", m->swizzle, m->atomicity);
  return check_tensor(t, why, cap);
}
