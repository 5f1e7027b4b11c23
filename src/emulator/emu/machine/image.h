/* emu/machine/image.h: texture and surface objects, and the references of a module that stand for them. */
#ifndef HEDDLE_EMU_IMAGE_H
#define HEDDLE_EMU_IMAGE_H

#include "emu/machine/memory.h"

typedef enum emu_image_use { EMU_IMAGE_FREE = 0, EMU_IMAGE_TEXTURE, EMU_IMAGE_SURFACE } emu_image_use;

/* An object of the emulator. Its handle is EMU_IMAGE_HANDLE + its index. */
struct emu_image_object {
  emu_image_use use;
  hd_texture texture; /* of a surface the image alone */
};

#define EMU_IMAGE_HANDLE UINT64_C(0x0074000000000001)

/* ---- Instructions -------------------------------------------------------------------- */

typedef enum emu_lod { EMU_LOD_BASE = 0, EMU_LOD_LEVEL, EMU_LOD_GRAD } emu_lod;
typedef enum emu_bounds_mode { EMU_BOUNDS_TRAP = 0, EMU_BOUNDS_CLAMP, EMU_BOUNDS_ZERO } emu_bounds_mode;
typedef enum emu_image_query {
  EMU_QUERY_WIDTH = 0,
  EMU_QUERY_HEIGHT,
  EMU_QUERY_DEPTH,
  EMU_QUERY_LAYERS,
  EMU_QUERY_LEVELS,
  EMU_QUERY_NORMALIZED,
  EMU_QUERY_CHANNEL_TYPE,
  EMU_QUERY_CHANNEL_ORDER,
} emu_image_query;

/* emu_inst.extra of tex, tld4, txq, suld, sust, sured, suq. */
typedef struct emu_image_inst {
  bool surface;
  uint8_t dims; /* of the coordinates, the layer's not counted: 1 to 3, of cubes 3 */
  bool layered, cube;
  bool integer;        /* coordinates are numbers of texels */
  uint8_t lod;         /* emu_lod */
  uint8_t select;      /* tld4: the component; txq, suq: emu_image_query */
  bool gather;         /* tld4 */
  uint8_t bounds;      /* surfaces: emu_bounds_mode */
  bool texels;         /* surfaces: x counts texels, else bytes */
  uint8_t n;           /* registers */
  uint8_t bytes;       /* surfaces: of a register in memory */
  uint8_t atom, type;  /* sured: emu_atom_op, emu_atom_type */
  uint32_t handle;     /* u64 slot; EMU_NO_SLOT: that of the reference `var` */
  uint32_t var;        /* index into module->vars */
  uint32_t layer;      /* slots, u32 */
  uint32_t coord[3];   /* u32: the bits of f32, or s32 */
  uint32_t level;      /* f32 */
  uint32_t grad[2][3]; /* f32 */
  uint32_t reg[4];     /* results or sources; EMU_NO_SLOT: not wanted */
  uint32_t resident;   /* predicate, or EMU_NO_SLOT */
} emu_image_inst;

/* Their handlers: texture.c (tex, tld4), surface.c (suld, sust, sured), image.c (txq, suq). */
void emu_run_texture(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_surface_load(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_surface_store(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_surface_reduce(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_image_query(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The object that a lane's handle stands for, which fits the instruction's geometry; NULL after a fault. */
const hd_texture *emu_image_of(emu_warp *w, const emu_inst *i, const char *r, unsigned lane);

/* The object of a handle, or NULL. The list changes between launches only. */
const emu_image_object *emu_image_find(const hd_emu *e, uint64_t handle);
#endif
