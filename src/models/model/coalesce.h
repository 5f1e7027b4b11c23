/* model/coalesce.h: from the addresses of a warp's lanes to sectors.
 *
 * lanes -> runs of bytes (what the trace keeps: it does not change when the whole
 * access moves) -> 128-byte lines with masks of 32-byte sectors (what caches see). */
#ifndef HEDDLE_MODEL_COALESCE_H
#define HEDDLE_MODEL_COALESCE_H

#include "heddle/emu.h"

enum {
  MODEL_LINE = 128, /* bytes: the unit in which accesses reach the caches */
  MODEL_SECTOR = 32,
  MODEL_ADDRESS_BITS = 37, /* line numbers of any cache (lines of 32 bytes or more) fit 32 bits */
  MODEL_MAX_LINES = 64,    /* 32 lanes of at most 16 bytes, each in at most two lines */
};

/* Contiguous bytes, in the order in which the lanes name them first. */
typedef struct model_runs {
  uint32_t n;
  uint64_t start[HD_WARP];
  uint32_t bytes[HD_WARP]; /* 1 .. 512 */
} model_runs;

/* Distinct lines in first-touch order. Bit i of a mask: sector i of the line. */
typedef struct model_lines {
  uint32_t n;
  uint32_t line[MODEL_MAX_LINES]; /* address / 128 */
  uint8_t touched[MODEL_MAX_LINES];
  uint8_t full[MODEL_MAX_LINES]; /* sectors whose 32 bytes are all named; only by model_lines_of_store */
} model_lines;

/* How many sectors a mask of four names. */
static inline unsigned model_sectors(unsigned mask) {
  static const uint8_t bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  return bits[mask];
}

/* mask != 0. Lanes that follow or repeat the bytes of the run before them join it. */
void model_runs_of(const uint64_t *addr, uint32_t mask, unsigned bytes, model_runs *out);

/* Every run ends at or below 1 << MODEL_ADDRESS_BITS. */
void model_lines_of(const model_runs *runs, model_lines *out);
void model_lines_of_store(const model_runs *runs, model_lines *out);

/* The one-run case, which is most accesses. */
static inline void model_lines_of_range(uint64_t start, uint32_t bytes, model_lines *out) {
  uint64_t first = start / MODEL_SECTOR, last = (start + bytes - 1) / MODEL_SECTOR;
  uint32_t n = 0;
  for (uint64_t line = first / 4; line <= last / 4; line++, n++) {
    unsigned mask = 15;
    if (line == first / 4) mask &= 15u << (first & 3);
    if (line == last / 4) mask &= 15u >> (3 - (last & 3));
    out->line[n] = (uint32_t)line;
    out->touched[n] = (uint8_t)mask;
  }
  out->n = n;
}

/* Where a line stands in the list under construction, plus one; 0: this place is free. Two lines
 * that want one place fall back to a search. */
typedef struct model_line_index {
  uint8_t at[256];
} model_line_index;

static inline uint32_t model_lines_find_or_add(model_line_index *index, model_lines *out, uint32_t line) {
  uint8_t *place = &index->at[(line * 0x9E3779B1u) >> 24];
  if (*place) {
    if (out->line[*place - 1] == line) return *place - 1u;
    for (uint32_t i = 0; i < out->n; i++)
      if (out->line[i] == line) return i;
  }
  out->line[out->n] = line;
  out->touched[out->n] = 0;
  *place = (uint8_t)(out->n + 1);
  return out->n++;
}

/* The sectors of one run join the list. */
static inline void model_lines_add(model_line_index *index, model_lines *out, uint64_t start,
                                   uint32_t bytes) {
  uint64_t sector = start / MODEL_SECTOR, last = (start + bytes - 1) / MODEL_SECTOR;
  do {
    uint32_t i = model_lines_find_or_add(index, out, (uint32_t)(sector / 4));
    uint64_t end = sector | 3;
    if (end > last) end = last;
    out->touched[i] |= (uint8_t)((15u << (sector & 3)) & (15u >> (3 - (end & 3))));
    sector = end + 1;
  } while (sector <= last);
}

#endif
