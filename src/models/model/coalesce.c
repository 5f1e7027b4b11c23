#include "model/coalesce.h"

#include <string.h>

void model_runs_of(const uint64_t *addr, uint32_t mask, unsigned bytes, model_runs *out) {
  unsigned lane = (unsigned)__builtin_ctz(mask);
  uint64_t first = addr[lane];
  out->n = 1;
  out->start[0] = first;
  if (mask == UINT32_MAX) {
    /* Two cases that one pass without branches settles: consecutive lanes, one address. */
    uint64_t stray = 0, spread = 0;
    for (unsigned i = 0; i < HD_WARP; i++) {
      stray |= addr[i] ^ (first + (uint64_t)i * bytes);
      spread |= addr[i] ^ first;
    }
    if (!stray || !spread) {
      out->bytes[0] = stray ? bytes : HD_WARP * bytes;
      return;
    }
  }
  uint64_t start = first, end = first + bytes;
  uint32_t n = 0;
  for (mask &= mask - 1; mask; mask &= mask - 1) {
    uint64_t a = addr[__builtin_ctz(mask)];
    if (a >= start && a <= end) {
      if (a + bytes > end) end = a + bytes;
      continue;
    }
    out->start[n] = start;
    out->bytes[n++] = (uint32_t)(end - start);
    start = a;
    end = a + bytes;
  }
  out->start[n] = start;
  out->bytes[n++] = (uint32_t)(end - start);
  out->n = n;
}

void model_lines_of(const model_runs *runs, model_lines *out) {
  if (runs->n == 1) {
    model_lines_of_range(runs->start[0], runs->bytes[0], out);
    return;
  }
  model_line_index index;
  memset(&index, 0, sizeof index);
  out->n = 0;
  for (uint32_t r = 0; r < runs->n; r++) model_lines_add(&index, out, runs->start[r], runs->bytes[r]);
}

void model_lines_of_store(const model_runs *runs, model_lines *out) {
  model_line_index index;
  memset(&index, 0, sizeof index);
  uint32_t cover[MODEL_MAX_LINES][4]; /* bytes named, one bit each */
  out->n = 0;
  for (uint32_t r = 0; r < runs->n; r++) {
    uint64_t a = runs->start[r], end = a + runs->bytes[r];
    while (a < end) {
      uint32_t known = out->n, i = model_lines_find_or_add(&index, out, (uint32_t)(a / MODEL_LINE));
      if (i == known) memset(cover[i], 0, sizeof cover[i]);
      unsigned from = a % MODEL_SECTOR, sector = (a / MODEL_SECTOR) & 3;
      unsigned count = MODEL_SECTOR - from;
      if (count > end - a) count = (unsigned)(end - a);
      cover[i][sector] |= (uint32_t)(((1ull << count) - 1) << from);
      a += count;
    }
  }
  for (uint32_t i = 0; i < out->n; i++) {
    out->full[i] = 0;
    for (unsigned s = 0; s < 4; s++) {
      out->touched[i] |= (uint8_t)((cover[i][s] != 0) << s);
      out->full[i] |= (uint8_t)((cover[i][s] == UINT32_MAX) << s);
    }
  }
}
