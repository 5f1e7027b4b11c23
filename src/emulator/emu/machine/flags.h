/* emu/machine/flags.h: what CTAs let each other know by flags in global memory (flags.c). */
#ifndef HEDDLE_EMU_FLAGS_H
#define HEDDLE_EMU_FLAGS_H

#include "emu/machine/grid.h"

/* Whether the launch's CTAs may order their accesses by flags. */
bool emu_flags_used(const hd_emu_grid *g);
/* The ticket for what the warp's bulk copies write, which nobody is told before the warp has waited for them;
 * 0: out of memory. */
uint32_t emu_flags_copy_ticket(emu_warp *w);
/* A fence of the GPU's scope by some thread: what the CTA has read so far can be told. */
void emu_flags_fence(hd_emu_cta *c);
/* The ticket of a warp's next stores to global memory. 0: out of memory. */
uint32_t emu_flags_ticket(emu_warp *w);
/* A strong access of a warp to global memory. False: out of memory. */
bool emu_flags_access(emu_warp *w, const emu_inst *i, hd_access_kind kind, uint32_t mask,
                      const uint64_t addr[32]);

#endif
