/* emu/machine/order.h: races on a CTA's shared memory (order.c), and the life of what its warps know of each
 * other. */
#ifndef HEDDLE_EMU_ORDER_H
#define HEDDLE_EMU_ORDER_H

#include "emu/machine/grid.h"

/* Under HD_CHECK_RACE, if the CTA has shared memory, waits for earlier grids, or may order its accesses by
 * flags. False: out of memory. */
bool emu_order_create(hd_emu_cta *c);
void emu_order_free(hd_emu_cta *c);
/* The CTA starts. */
void emu_order_reset(hd_emu_cta *c);

/* A warp's access to shared memory at these offsets, about to be made: false after a fault. */
bool emu_order_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t offset[HD_WARP],
                      unsigned bytes, hd_access_kind kind);

#endif
