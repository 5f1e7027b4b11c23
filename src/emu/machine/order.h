/* emu/machine/order.h: which accesses of a CTA's warps to shared memory are ordered (order.c). */
#ifndef HEDDLE_EMU_ORDER_H
#define HEDDLE_EMU_ORDER_H

#include "emu/machine/grid.h"

/* Under HD_CHECK_RACE, for CTAs of several warps. False: out of memory. */
bool emu_order_create(hd_emu_cta *c);
void emu_order_free(hd_emu_cta *c);
/* The CTA starts. */
void emu_order_reset(hd_emu_cta *c);

/* A warp's access to shared memory at these offsets, about to be made: false after a fault. */
bool emu_order_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t offset[HD_WARP],
                      unsigned bytes, hd_access_kind kind);

#endif
