/* emu/ops/address.h: from a memory instruction's operands to host addresses. */
#ifndef HEDDLE_EMU_ADDRESS_H
#define HEDDLE_EMU_ADDRESS_H

#include "emu/ops/lanes.h"

/* Where each lane's bytes are on the host, and which lanes reach shared memory, whose
 * CTA is run by one thread. Lanes outside the mask hold nothing of use. */
typedef struct emu_hosts {
  uint64_t at[32] __attribute__((aligned(64)));
  uint32_t shared;
  uint8_t rows; /* emu_rows; memory.c's own */
} emu_hosts;

/* The device addresses of a memory operand. */
INLINE void addresses_of(char *r, unsigned mode, uint32_t s, int64_t imm, uint64_t addr[32]) {
  switch (mode) {
  case EMU_ADDR_64: {
    const uint64_t *base = slot(r, s);
    LANE_LOOP addr[l] = base[l] + (uint64_t)imm;
    break;
  }
  case EMU_ADDR_32: {
    const uint32_t *base = slot(r, s);
    LANE_LOOP addr[l] = base[l] + (uint32_t)imm;
    break;
  }
  default: LANE_LOOP addr[l] = (uint64_t)imm;
  }
}

/* Check the access and find its bytes; false after a fault. Shared by all instruction
 * sets' handlers: locate.c. */
typedef struct emu_locate {
  unsigned space, bytes, align, cache;
  hd_access_kind kind;
} emu_locate;
bool EMU_OPS(locate)(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                     const emu_locate *how, emu_hosts *out);
#define locate EMU_OPS(locate)

#endif
