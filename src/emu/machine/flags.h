/* emu/machine/flags.h: what CTAs let each other know by flags in global memory (flags.c). */
#ifndef HEDDLE_EMU_FLAGS_H
#define HEDDLE_EMU_FLAGS_H

#include "emu/machine/grid.h"

/* A fence of some thread, or a barrier of all: the CTA's accesses so far can be told. */
void emu_flags_publish(hd_emu_cta *c);
/* A strong access of a warp to global memory. False: out of memory. */
bool emu_flags_access(hd_emu_cta *c, hd_access_kind kind, uint32_t mask, const uint64_t addr[32]);

#endif
