/* heddle/texture.h: textures and surfaces: images in device memory, and how kernels read them.
 *
 * Descriptions are plain values. The numbers of the enumerations are those of cuda.h, so that one description
 * serves the emulator and cuTexObjectCreate. Sources: CUDA C++ Programming Guide, texture and surface memory
 * and the appendix on texture fetching; PTX ISA, texture and surface instructions.
 */
#ifndef HEDDLE_TEXTURE_H
#define HEDDLE_TEXTURE_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Images ----------------------------------------------------------------- */

/* The type of one channel: CUarray_format. */
typedef enum hd_texel {
  HD_TEXEL_U8 = 0x01,
  HD_TEXEL_U16 = 0x02,
  HD_TEXEL_U32 = 0x03,
  HD_TEXEL_S8 = 0x08,
  HD_TEXEL_S16 = 0x09,
  HD_TEXEL_S32 = 0x0a,
  HD_TEXEL_F16 = 0x10,
  HD_TEXEL_F32 = 0x20,
} hd_texel;
HD_OWN unsigned hd_texel_bytes(hd_texel t); /* of one channel; 0: no such type */

typedef enum hd_image_kind {
  HD_IMAGE_ARRAY = 0, /* as a CUDA array. Its bytes lie here as in C: the image's rows, then its slices or
                         layers, then the levels of a mipmap, without gaps. A GPU's own layout of arrays is
                         not specified */
  HD_IMAGE_LINEAR,    /* texels in a row, read by their numbers: tex1Dfetch. No filter, no surface */
  HD_IMAGE_PITCH,     /* rows in linear memory, `pitch` bytes apart. No surface */
} hd_image_kind;

enum {
  HD_IMAGE_ALIGN = 32,            /* `pitch` is a multiple of it */
  HD_IMAGE_LINEAR_MOST = 1 << 28, /* texels */
};

typedef struct hd_image {
  hd_image_kind kind;
  hd_texel texel;
  uint32_t channels; /* 1, 2 or 4 */
  uint64_t address;  /* of its first byte: a multiple of a texel's bytes */
  uint64_t width;    /* texels: 1 to 131072 (of linear ones HD_IMAGE_LINEAR_MOST) */
  uint32_t height;   /* 0: one dimension; else 1 to 65536 */
  uint32_t depth;    /* 0: two dimensions; else 1 to 16384; not with layers */
  uint32_t layers;   /* 0: no layers; else 1 to 2048. Of cubes 6 times their number */
  bool cube;         /* each six layers, squares, are the faces +x -x +y -y +z -z of one */
  uint32_t levels;   /* of a mipmap; 0 is 1, no mipmap */
  uint64_t pitch;    /* bytes; HD_IMAGE_PITCH only */
} hd_image;

/* One level of it. */
typedef struct hd_image_level {
  uint64_t width;
  uint32_t height, depth; /* at least 1; with layers, the depth is their number */
  uint64_t offset;        /* from the image's address */
  uint64_t row, slice;    /* bytes from one row, slice or layer to the next */
} hd_image_level;

/* HD_ERR_USAGE says what is wrong. The address is not checked, so it may be set later. */
HD_OWN hd_status hd_image_check(const hd_image *i, hd_diag *d);
/* One level of an image that hd_image_check has passed. `level` is below its number of levels. */
HD_OWN hd_image_level hd_image_level_of(const hd_image *i, uint32_t level);
/* All its bytes, from the first to the last texel's last. */
HD_OWN uint64_t hd_image_bytes(const hd_image *i);

/* ---- Textures ----------------------------------------------------------------- */

/* The texel that a coordinate outside of the image reads: CUaddress_mode. WRAP and MIRROR need normalised
 * coordinates; with others they are CLAMP. */
typedef enum hd_wrap {
  HD_WRAP_REPEAT = 0,
  HD_WRAP_CLAMP,
  HD_WRAP_MIRROR,
  HD_WRAP_BORDER,
} hd_wrap;

/* How an image is read. Each field's zero is CUDA's default. */
typedef struct hd_texture {
  hd_image image;
  hd_wrap wrap[3];   /* x, y, z */
  bool linear;       /* interpolates between texels; else the nearest one. Not if integers are read as such */
  bool linear_mip;   /* interpolates between levels */
  bool normalized;   /* coordinates are 0 to 1 */
  bool read_integer; /* 8- and 16-bit integers as they are, else as floats in [0, 1] or [-1, 1]. 32-bit
                        integers are always read as they are */
  float bias, least_level,
      most_level; /* of the level of a mipmap; most_level as it stands: 0 reads level 0 */
  float border[4];
} hd_texture;

HD_OWN hd_status hd_texture_check(const hd_texture *t, hd_diag *d);
/* Whether the image may be written and read as a surface. */
HD_OWN hd_status hd_surface_check(const hd_image *i, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
