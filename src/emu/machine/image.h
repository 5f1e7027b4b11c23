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

/* The object of a handle, or NULL. The list changes between launches only. */
const emu_image_object *emu_image_find(const hd_emu *e, uint64_t handle);
/* The handle that the module's reference `var` stands for; 0: none. */
uint64_t emu_reference(const emu_warp *w, uint32_t var);

#endif
