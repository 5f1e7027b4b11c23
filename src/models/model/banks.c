#include "model/banks.h"

/* Lines next to each other have tags in different banks, and so has every other line; for the rest the hash
 * is not published. */
static uint32_t tag_passes(const model_lines *lines) {
  uint32_t in[4] = {0}, most = 0;
  for (uint32_t i = 0; i < lines->n; i++) {
    uint32_t x = lines->line[i];
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    if (++in[x & 3] > most) most = in[x & 3];
  }
  return most;
}

/* Of each bank the lines whose words are wanted are listed; a lane has one word there at most. */
static uint32_t word_passes(const model_runs *runs) {
  enum { BANKS = MODEL_LINE / 4 };
  uint32_t line[BANKS][HD_WARP], most = 1;
  uint8_t depth[BANKS] = {0};
  if (runs->n == 1) return (runs->bytes[0] + MODEL_LINE - 1) / MODEL_LINE;
  for (uint32_t r = 0; r < runs->n; r++) {
    const uint64_t last = (runs->start[r] + runs->bytes[r] - 1) / 4;
    for (uint64_t word = runs->start[r] / 4; word <= last; word++) {
      const uint32_t bank = (uint32_t)word % BANKS, of = (uint32_t)(word / BANKS);
      uint32_t i = 0;
      while (i < depth[bank] && line[bank][i] != of) i++;
      if (i < depth[bank]) continue;
      line[bank][i] = of;
      depth[bank]++;
      if (i + 1 > most) most = i + 1;
    }
  }
  return most;
}

uint32_t model_bank_passes(model_stream_slot *slot, const model_stream_event *e, const model_lines *lines) {
  if (lines->n == 1) return 1;
  const uint32_t tags = tag_passes(lines);
  if (tags >= lines->n) return tags; /* a line has one word in each bank */
  if (!slot->words) {
    model_runs runs;
    model_stream_runs(e->shape, e->address, &runs);
    slot->words = (uint8_t)word_passes(&runs);
  }
  return slot->words > tags ? slot->words : tags;
}
