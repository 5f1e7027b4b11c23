/* emu/machine/tensormap.h: tensor maps.
 *
 * The 128 bytes of a tensor map are opaque: NVIDIA does not document them. This is the emulator's own form,
 * which only the functions here know. All zeros is a map of which nothing is set yet, which is what kernels
 * that build one with tensormap.replace begin with. */
#ifndef HEDDLE_EMU_TENSORMAP_H
#define HEDDLE_EMU_TENSORMAP_H

#include "heddle/emu.h"

/* Fields that kernels may leave at zero mean then what tensormap.replace means by 0: one dimension, u8. */
typedef struct emu_tensor_map {
  uint32_t magic; /* EMU_TENSOR_MAP_MAGIC, or 0 in a map of zeros */
  uint32_t set;   /* EMU_TENSOR_SET bits */
  uint64_t address;
  uint64_t stride[HD_TENSOR_DIMS - 1]; /* bytes, of dimensions 1 and up */
  uint32_t dim[HD_TENSOR_DIMS];        /* elements; 0 is 2^32 */
  uint32_t box[HD_TENSOR_DIMS];
  uint32_t element_stride[HD_TENSOR_DIMS];
  uint8_t last, type, interleave, swizzle; /* the rank less one; the swizzle's width, as replaced */
  uint8_t atomicity, fill, promotion, spare[13];
} emu_tensor_map;
_Static_assert(sizeof(emu_tensor_map) == HD_TENSOR_MAP_BYTES, "a tensor map has 128 bytes");

#define EMU_TENSOR_MAP_MAGIC 0x70616d74u
enum {
  EMU_TENSOR_SET_ADDRESS = 1,
  EMU_TENSOR_SET_DIM = 1 << 8, /* one bit per dimension from here */
  EMU_TENSOR_SET_BOX = 1 << 13,
  EMU_TENSOR_SET_ELEMENT = 1 << 18,
  EMU_TENSOR_SET_STRIDE = 1 << 23,
};

/* The fields of tensormap.replace. */
typedef enum emu_tensor_field {
  EMU_TENSOR_ADDRESS,
  EMU_TENSOR_RANK,
  EMU_TENSOR_BOX,
  EMU_TENSOR_DIM,
  EMU_TENSOR_STRIDE,
  EMU_TENSOR_ELEMENT_STRIDE,
  EMU_TENSOR_TYPE,
  EMU_TENSOR_INTERLEAVE,
  EMU_TENSOR_SWIZZLE,
  EMU_TENSOR_ATOMICITY,
  EMU_TENSOR_FILL,
  EMU_TENSOR_FIELDS
} emu_tensor_field;

/* Fields of arrays take the number of a dimension. */
bool emu_tensor_field_is_array(emu_tensor_field f);
/* Set one field as tensormap.replace does; false: `why` names the mistake. */
bool emu_tensor_replace(emu_tensor_map *m, emu_tensor_field f, uint32_t ordinal, uint64_t value, char *why,
                        size_t cap);
/* Checks that every field is set, as cuTensorMapEncodeTiled demands. On success *out is the map in words. */
bool emu_tensor_read(const emu_tensor_map *m, hd_tensor *out, char *why, size_t cap);

/* Bytes of an element; 0: a type that is not emulated. */
unsigned emu_tensor_element_bytes(hd_tensor_type type);
/* How wide the pattern of a swizzle is, in bytes; 0: none. */
unsigned emu_tensor_swizzle_bytes(hd_tensor_swizzle s);

#endif
