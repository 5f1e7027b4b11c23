/* emu/num/integer.c: integer and bit-field instructions, after the PTX ISA's own loops. */
#include "emu/num/num.h"

#include "base/arith.h"

/* ---- prmt ---------------------------------------------------------------- */

num_prmt_mode num_prmt_mode_from_text(const char *mode) {
  static const char text[][5] = {[NUM_PRMT_F4E] = "f4e", [NUM_PRMT_B4E] = "b4e", [NUM_PRMT_RC8] = "rc8",
                                 [NUM_PRMT_ECL] = "ecl", [NUM_PRMT_ECR] = "ecr", [NUM_PRMT_RC16] = "rc16"};
  for (unsigned i = NUM_PRMT_F4E; mode && i <= NUM_PRMT_RC16; i++)
    if (strcmp(mode, text[i]) == 0) return (num_prmt_mode)i;
  return NUM_PRMT_INDEX;
}

/* Which of the eight bytes {b, a} result byte i is, for selector s of 0..3. */
static unsigned prmt_source(num_prmt_mode mode, unsigned s, unsigned i) {
  switch (mode) {
  case NUM_PRMT_INDEX: break;
  case NUM_PRMT_F4E: return s + i;
  case NUM_PRMT_B4E: return (s - i) & 7;
  case NUM_PRMT_RC8: return s;
  case NUM_PRMT_ECL: return i > s ? i : s;
  case NUM_PRMT_ECR: return i < s ? i : s;
  case NUM_PRMT_RC16: return (s & 1) * 2 + (i & 1);
  }
  return 0;
}

uint32_t num_prmt(uint32_t a, uint32_t b, uint32_t sel, num_prmt_mode mode) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t d = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint32_t byte;
    if (mode == NUM_PRMT_INDEX) {
      unsigned nibble = sel >> 4 * i & 15;
      byte = bytes >> 8 * (nibble & 7) & 0xff;
      if (nibble & 8) byte = byte & 0x80 ? 0xff : 0; /* the sign, replicated */
    } else {
      byte = bytes >> 8 * prmt_source(mode, sel & 3, i) & 0xff;
    }
    d |= byte << 8 * i;
  }
  return d;
}

/* ---- Bit fields ---------------------------------------------------------- */

uint64_t num_bfe(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed) {
  pos &= 0xff;
  len &= 0xff;
  a &= hd_low_bits(bits);
  if (len == 0) return 0;
  /* A field that runs past the top is filled with its sign: the top bit, or 0. */
  unsigned top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
  uint64_t field = pos < bits ? a >> pos & hd_low_bits(len) : 0;
  if (is_signed && hd_shift_right(a, top) & 1) {
    unsigned width = pos < bits ? (len < bits - pos ? len : bits - pos) : 0;
    field |= ~hd_low_bits(width);
  }
  return field & hd_low_bits(bits);
}

uint64_t num_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
  pos &= 0xff;
  len &= 0xff;
  b &= hd_low_bits(bits);
  if (pos >= bits) return b;
  uint64_t mask = hd_low_bits(len) << pos & hd_low_bits(bits);
  return (b & ~mask) | (a << pos & mask);
}

uint32_t num_bfind(uint64_t a, unsigned bits, bool is_signed, bool shiftamt) {
  if (is_signed && a >> (bits - 1) & 1) a = ~a;
  a &= hd_low_bits(bits);
  if (a == 0) return 0xffffffffu;
  unsigned found = 63 - (unsigned)__builtin_clzll(a);
  return shiftamt ? bits - 1 - found : found;
}

uint32_t num_fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
  int step = offset > 0 ? 1 : -1;
  int64_t left = offset > 0 ? offset : -(int64_t)offset;
  for (int pos = (int)base; pos >= 0 && pos < 32; pos += step)
    if (mask >> pos & 1 && --left == 0) return (uint32_t)pos;
  return 0xffffffffu;
}

/* ---- Dot products and logic ---------------------------------------------- */

static int32_t byte_of(uint32_t v, unsigned i, bool is_signed) {
  uint32_t byte = v >> 8 * i & 0xff;
  return is_signed ? (int8_t)byte : (int32_t)byte;
}

static int32_t half_of(uint32_t v, unsigned i, bool is_signed) {
  uint32_t half = v >> 16 * i & 0xffff;
  return is_signed ? (int16_t)half : (int32_t)half;
}

int32_t num_dp4a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed) {
  uint32_t d = (uint32_t)c; /* wraps */
  for (unsigned i = 0; i < 4; i++) d += (uint32_t)(byte_of(a, i, a_signed) * byte_of(b, i, b_signed));
  return (int32_t)d;
}

int32_t num_dp2a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed, bool hi) {
  uint32_t d = (uint32_t)c;
  for (unsigned i = 0; i < 2; i++)
    d += (uint32_t)(half_of(a, i, a_signed) * byte_of(b, i + (hi ? 2 : 0), b_signed));
  return (int32_t)d;
}

uint32_t num_lop3(uint32_t a, uint32_t b, uint32_t c, uint8_t lut) {
  /* Bit 4a + 2b + c of the table is the result where the operands' bits are a, b, c. */
  uint32_t d = 0;
  for (unsigned i = 0; i < 8; i++)
    if (lut >> i & 1) d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return d;
}
