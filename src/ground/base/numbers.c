/* Sets of small numbers. */
#include "heddle/numbers.h"

uint32_t hd_numbers_below(const hd_numbers *s, uint32_t end) {
  uint32_t n = 0, i = 0;
  if (end > HD_NUMBERS) end = HD_NUMBERS;
  for (; i < end / 32; i++) n += hd_bits32(s->bits[i]);
  return end % 32 ? n + hd_bits32(s->bits[i] & ((UINT32_C(1) << end % 32) - 1)) : n;
}

bool hd_numbers_add(hd_numbers *s, uint32_t first, uint32_t last) {
  if (last < first || last >= HD_NUMBERS) return false;
  for (uint32_t k = first; k <= last; k++) s->bits[k / 32] |= UINT32_C(1) << k % 32;
  return true;
}

bool hd_numbers_run(const hd_numbers *s, uint32_t at, hd_range *r) {
  while (at < HD_NUMBERS && !hd_numbers_has(s, at)) at++;
  if (at >= HD_NUMBERS) return false;
  *r = (hd_range){at, at};
  while (hd_numbers_has(s, r->last + 1)) r->last++;
  return true;
}
