/* emu/machine/ready.h: accesses to memory that was not written, or that a copy in flight uses (ready.c). */
#ifndef HEDDLE_EMU_READY_H
#define HEDDLE_EMU_READY_H

#include "emu/machine/shadow.h"

/* "load" and so on. */
const char *emu_access_word(hd_access_kind kind);
/* `shadow` belongs to address `base`; shared memory is that of c. Checks all lanes before it marks any: they
 * act at once. False: it is a fault. */
bool emu_check_init(emu_warp *w, emu_cta *c, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                    unsigned bytes, hd_access_kind kind, hd_space space, uint8_t *shadow, uint64_t base);
/* An access to global memory; copies among each other are not looked at. */
bool emu_check_written_out(emu_warp *w, const emu_cta *c, const emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, hd_access_kind kind);
/* Local memory, of which a finding never ends the kernel. */
void emu_check_local(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                     hd_access_kind kind, uint64_t base);

#endif
