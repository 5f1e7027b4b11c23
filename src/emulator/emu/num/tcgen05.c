/* emu/num/tcgen05.c: descriptors of tcgen05 and the places of its matrices. */
#include "emu/num/tcgen05.h"

/* ---- Loads and stores of a warp ------------------------------------------------------------- */

static const struct {
  uint8_t regs, width, most, lanes;
} shapes[] = {[NUM_TC_16X64B] = {1, 2, 128, 16},
              [NUM_TC_16X128B] = {2, 4, 64, 16},
              [NUM_TC_16X256B] = {4, 8, 32, 16},
              [NUM_TC_32X32B] = {1, 1, 128, 32},
              [NUM_TC_16X32BX2] = {1, 1, 128, 16}};

unsigned num_tc_regs(num_tc_shape shape) { return shapes[shape].regs; }
unsigned num_tc_width(num_tc_shape shape) { return shapes[shape].width; }
unsigned num_tc_most(num_tc_shape shape) { return shapes[shape].most; }
unsigned num_tc_lanes(num_tc_shape shape) { return shapes[shape].lanes; }

void num_tc_place(num_tc_shape shape, unsigned thread, unsigned reg, unsigned half, unsigned *lane,
                  unsigned *column) {
  const unsigned first = reg / shapes[shape].regs * shapes[shape].width, r = reg % shapes[shape].regs;
  switch (shape) {
  case NUM_TC_16X64B:
    *lane = thread / 4 + 8 * (thread % 2);
    *column = first + thread / 2 % 2;
    break;
  case NUM_TC_16X128B:
    *lane = thread / 4 + 8 * r;
    *column = first + thread % 4;
    break;
  case NUM_TC_16X256B:
    *lane = thread / 4 + 8 * (r / 2);
    *column = first + 2 * (thread % 4) + r % 2;
    break;
  case NUM_TC_16X32BX2:
    *lane = thread % 16;
    *column = first + thread / 16 * half;
    break;
  default: *lane = thread; *column = first;
  }
}

/* ---- Types ---------------------------------------------------------------------------------- */

typedef struct type_facts {
  uint8_t bits; /* in shared memory, padding included */
  num_fmt fmt;
  bool k_major; /* only */
} type_facts;

static const type_facts types[] = {
    [NUM_TC_TYPE_F16] = {16, NUM_F16, false},   [NUM_TC_TYPE_BF16] = {16, NUM_BF16, false},
    [NUM_TC_TYPE_TF32] = {32, NUM_TF32, false}, [NUM_TC_TYPE_E4M3] = {8, NUM_E4M3, false},
    [NUM_TC_TYPE_E5M2] = {8, NUM_E5M2, false},  [NUM_TC_TYPE_E2M3] = {8, NUM_E2M3, true},
    [NUM_TC_TYPE_E3M2] = {8, NUM_E3M2, true},   [NUM_TC_TYPE_E2M1] = {8, NUM_E2M1, true},
    [NUM_TC_TYPE_E2M1X2] = {4, NUM_E2M1, true}, [NUM_TC_TYPE_U8] = {8, NUM_F32, false},
    [NUM_TC_TYPE_S8] = {8, NUM_F32, false},
};

unsigned num_tc_bits(unsigned type) { return types[type].bits; }
unsigned num_tc_chunk_bytes(unsigned type) {
  return type == NUM_TC_TYPE_E2M1 ? 8 : type == NUM_TC_TYPE_E2M3 || type == NUM_TC_TYPE_E3M2 ? 12 : 16;
}

float num_tc_value(unsigned type, uint32_t bits) {
  if (type == NUM_TC_TYPE_U8) return (float)(uint8_t)bits;
  if (type == NUM_TC_TYPE_S8) return (float)(int8_t)bits;
  return (float)num_to_f64(types[type].fmt, bits);
}

double num_tc_scale(bool ue8m0, uint8_t bits) {
  return ue8m0 ? num_to_f64(NUM_UE8M0, bits) : num_to_f64(NUM_E4M3, bits & 0x7f);
}

/* Sixteen elements of 4 and 6 bits lie one behind the other in the first bytes of 16. */
static uint32_t padded(const uint8_t *line, unsigned k, unsigned bits) {
  const uint8_t *chunk = line + k / 16 * 16;
  const unsigned bit = k % 16 * bits;
  const uint32_t two = (uint32_t)chunk[bit / 8] | (uint32_t)chunk[bit / 8 + 1] << 8;
  return two >> bit % 8 & ((1u << bits) - 1);
}

uint32_t num_tc_element(unsigned type, const uint8_t *line, unsigned k, bool tensor) {
  uint32_t v = 0;
  switch (type) {
  case NUM_TC_TYPE_E2M1X2: return line[k / 2] >> 4 * (k % 2) & 15;
  case NUM_TC_TYPE_E2M1: return tensor ? line[k] >> 2 & 15 : padded(line, k, 4);
  case NUM_TC_TYPE_E2M3:
  case NUM_TC_TYPE_E3M2: return tensor ? line[k] & 63 : padded(line, k, 6);
  default: memcpy(&v, line + (size_t)k * types[type].bits / 8, types[type].bits / 8); return v;
  }
}

void num_tc_unpad(const uint8_t from[16], unsigned bits, uint8_t to[16]) {
  for (unsigned k = 0; k < 16; k++) to[k] = (uint8_t)(padded(from, k, bits) << (bits == 4 ? 2 : 0));
}

/* ---- Instruction descriptors ---------------------------------------------------------------- */

static unsigned field(uint32_t descriptor, unsigned bit, unsigned bits) {
  return descriptor >> bit & ((1u << bits) - 1);
}

enum { NO_TYPE = 255 };
static uint8_t type_of(unsigned kind, unsigned code) {
  static const uint8_t halves[8] = {NUM_TC_TYPE_F16, NUM_TC_TYPE_BF16, NO_TYPE, NO_TYPE,
                                    NO_TYPE,         NO_TYPE,          NO_TYPE, NO_TYPE},
                       wide[8] = {NO_TYPE, NO_TYPE, NUM_TC_TYPE_TF32, NO_TYPE,
                                  NO_TYPE, NO_TYPE, NO_TYPE,          NO_TYPE},
                       small[8] = {NUM_TC_TYPE_E4M3, NUM_TC_TYPE_E5M2, NO_TYPE, NUM_TC_TYPE_E2M3,
                                   NUM_TC_TYPE_E3M2, NUM_TC_TYPE_E2M1, NO_TYPE, NO_TYPE},
                       bytes[8] = {NUM_TC_TYPE_U8, NUM_TC_TYPE_S8, NO_TYPE, NO_TYPE,
                                   NO_TYPE,        NO_TYPE,        NO_TYPE, NO_TYPE},
                       nibbles[8] = {NO_TYPE, NUM_TC_TYPE_E2M1X2, NO_TYPE, NO_TYPE, NO_TYPE, NO_TYPE, NO_TYPE,
                                     NO_TYPE};
  static const uint8_t *const of_kind[] = {
      [NUM_TC_F16] = halves,     [NUM_TC_TF32] = wide,    [NUM_TC_F8F6F4] = small,    [NUM_TC_I8] = bytes,
      [NUM_TC_MXF8F6F4] = small, [NUM_TC_MXF4] = nibbles, [NUM_TC_MXF4NVF4] = nibbles};
  return of_kind[kind][code & 7];
}

/* M and N that there are, by the form. */
static bool shape_fits(const num_tc_form *f, unsigned m, unsigned n) {
  if (n == 0 || n > NUM_TC_MAX_N) return false;
  if (f->weights)
    return (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || (n == 256 && !f->sparse));
  if (f->ctas == 2) return (m == 256 || m == 128) && n % 16 == 0;
  if (f->scales) return m == 128 && n % 8 == 0;
  if (m != 64 && m != 128) return false;
  if (f->kind == NUM_TC_I8) return n % 16 == 0 || n == 8 || n == 24;
  return n % (m == 64 ? 8 : 16) == 0;
}

static num_tc_paths paths_of(const num_tc_form *f, const num_tc_product *p) {
  if (p->rows == 128) return NUM_TC_WHOLE;
  if (p->rows == 32) return NUM_TC_QUARTERS;
  return f->weights || (f->ctas == 2 && !f->sparse) ? NUM_TC_HALVES : NUM_TC_SPREAD;
}

static const char *decode_scales(const num_tc_form *f, uint32_t d, num_tc_product *p) {
  p->scales = f->scales;
  p->ue8m0 = field(d, 23, 1);
  p->b_scale = (uint8_t)field(d, 4, 2);
  p->a_scale = (uint8_t)field(d, 29, 2);
  if (!p->ue8m0 && f->kind != NUM_TC_MXF4NVF4) return "scale factors of this kind are of ue8m0";
  if (f->kind == NUM_TC_MXF4NVF4 && f->scales == 2 && !p->ue8m0)
    return "scale factors of .scale_vec::2X are of ue8m0";
  if (p->a_scale % f->scales || p->b_scale % f->scales)
    return "scale factors do not begin in such a byte of a column";
  if (field(d, 31, 1)) return "K is 96, which is no shape of sm_100";
  if (field(d, 3, 1) || field(d, 6, 1)) return "reserved bits are set";
  return NULL;
}

static const char *decode_sums(const num_tc_form *f, uint32_t d, num_tc_product *p) {
  const unsigned sums = field(d, 4, 2);
  p->saturate = field(d, 3, 1);
  p->sums = (uint8_t)sums;
  if (f->kind == NUM_TC_I8 ? sums != NUM_TC_SUMS_S32
                           : sums != NUM_TC_SUMS_F32 && (sums != NUM_TC_SUMS_F16 || f->kind == NUM_TC_TF32))
    return "D has no such type";
  if (f->kind != NUM_TC_I8 && p->saturate) return "sums of floats do not saturate";
  if (field(d, 6, 1) || field(d, 23, 1) || field(d, 29, 1)) return "reserved bits are set";
  if (field(d, 30, 2) && !f->weights) return "the maximum shift is one of .ws";
  return NULL;
}

const char *num_tc_decode(const num_tc_form *f, uint32_t d, num_tc_product *p) {
  *p = (num_tc_product){.a = type_of(f->kind, field(d, 7, 3)),
                        .b = type_of(f->kind, field(d, 10, 3)),
                        .sums = NUM_TC_SUMS_F32,
                        .n = (uint16_t)(field(d, 17, 6) * 8),
                        .m = (uint16_t)(field(d, 24, 5) * 16),
                        .sparse = f->sparse,
                        .negate_a = field(d, 13, 1),
                        .negate_b = field(d, 14, 1),
                        .a_mn_major = field(d, 15, 1),
                        .b_mn_major = field(d, 16, 1),
                        .selector = (uint8_t)field(d, 0, 2)};
  if (f->scales) p->ue8m0 = field(d, 23, 1);
  const char *why = f->scales ? decode_scales(f, d, p) : decode_sums(f, d, p);
  if (why) return why;
  if (p->a == NO_TYPE || p->b == NO_TYPE) return "A or B has no such type";
  if (f->kind == NUM_TC_F16 && p->a != p->b) return "A and B have different types";
  if (f->kind == NUM_TC_I8 && (p->negate_a || p->negate_b)) return "integers are not negated";
  if ((p->a_mn_major && types[p->a].k_major) || (p->b_mn_major && types[p->b].k_major))
    return "elements of 4 and 6 bits lie along K";
  if (field(d, 2, 1) != f->sparse) return "it and the instruction disagree on sparsity";
  const bool selects = f->kind == NUM_TC_F16 || f->kind == NUM_TC_TF32;
  if (p->selector > (f->sparse && selects ? 1 : 0)) return "there is no such sparsity selector";
  if (!shape_fits(f, p->m, p->n)) return "M and N are no shape of this instruction";
  p->kept = (uint16_t)(NUM_TC_A_BYTES * 8 / types[p->a].bits);
  p->k = (uint16_t)(p->kept * (f->sparse ? 2 : 1));
  p->rows = (uint16_t)(p->m / f->ctas);
  p->b_lines = (uint16_t)(p->n / f->ctas);
  p->b_bytes = f->sparse ? 2 * NUM_TC_A_BYTES : NUM_TC_A_BYTES;
  p->paths = (uint8_t)paths_of(f, p);
  return NULL;
}

/* ---- Data paths ----------------------------------------------------------------------------- */

static unsigned parts_of(const num_tc_product *p) {
  return p->paths == NUM_TC_HALVES ? 2 : p->paths == NUM_TC_QUARTERS ? 4 : 1;
}

unsigned num_tc_d_columns(const num_tc_product *p) { return p->n / parts_of(p); }

unsigned num_tc_lane(const num_tc_product *p, unsigned row, unsigned column, unsigned *d_column) {
  const unsigned columns = num_tc_d_columns(p);
  *d_column = column % columns;
  if (p->paths == NUM_TC_SPREAD) return row / 16 * 32 + row % 16;
  return row + column / columns * p->rows;
}

unsigned num_tc_groups(const num_tc_product *p) { return p->paths == NUM_TC_SPREAD ? 0x55 : 0xff; }

/* ---- Metadata of sparse A ------------------------------------------------------------------- */

/* Four bits: of four elements two are kept, of pairs of nibbles two pairs; of two elements of tf32 one. Types
 * of 16 and 32 bits: a word has 16 bits each of two rows, and those of the second half of K lie 8 lanes
 * further. The others: a row's 64 bits lie in its lane. */
static bool is_folded(const num_tc_product *p) { return types[p->a].bits >= 16; }
static unsigned bits_before(const num_tc_product *p, unsigned kept) {
  return types[p->a].bits == 4 ? kept / 4 * 4 : types[p->a].bits == 32 ? kept * 4 : kept / 2 * 4;
}

unsigned num_tc_meta_columns(const num_tc_product *p) { return is_folded(p) ? 1 : 2; }

void num_tc_meta_place(const num_tc_product *p, unsigned lane, unsigned kept, unsigned *meta_lane,
                       unsigned *column) {
  const unsigned bit = bits_before(p, kept);
  if (is_folded(p)) {
    *meta_lane = lane / 16 * 16 + lane % 8 + 8 * (bit / 16);
    *column = p->selector;
  } else {
    *meta_lane = lane;
    *column = bit / 32;
  }
}

unsigned num_tc_meta_k(const num_tc_product *p, unsigned lane, unsigned kept, uint32_t word) {
  const unsigned bit = bits_before(p, kept),
                 four = word >> (is_folded(p) ? 16 * (lane / 8 % 2) + bit % 16 : bit % 32) & 15;
  switch (types[p->a].bits) {
  case 32: return kept * 2 + (four >> 1 & 1); /* 0100: the first, 1110: the second */
  case 4: return kept / 4 * 8 + 2 * (four >> 2 * (kept / 2 % 2) & 3) + kept % 2;
  default: return kept / 2 * 4 + (four >> 2 * (kept % 2) & 3);
  }
}

/* ---- Shared memory -------------------------------------------------------------------------- */

const char *num_tc_descriptor(uint64_t bits, num_tc_desc *out) {
  static const uint8_t widths[8] = {16, 128, 128, 0, 64, 0, 32, 0};
  const unsigned mode = (unsigned)(bits >> 61);
  *out = (num_tc_desc){.d = num_wgmma_decode(bits), .wide = mode == 1};
  out->d.width = widths[mode];
  if (!out->d.width) return "there is no such swizzle";
  if ((bits >> 46 & 7) != 1) return "bits 46 to 48 are not 001";
  if (bits >> 52 & 1) return "absolute leading dimensions are none of sm_100";
  return NULL;
}

uint32_t num_tc_chunk(const num_tc_desc *d, unsigned line, unsigned chunk) {
  if (d->wide || (d->d.width > 16 && (chunk + 1) * 16 > d->d.width)) return UINT32_MAX;
  return num_wgmma_chunk(&d->d, line, chunk);
}

uint32_t num_tc_chunk_mn(const num_tc_desc *d, unsigned k, unsigned block) {
  if (!d->wide) return num_wgmma_chunk_mn(&d->d, k, block);
  /* Four rows of 128 bytes are a pattern. */
  const uint32_t at =
      d->d.start + block / 8 * d->d.leading + block % 8 * 16 + k / 4 * d->d.stride + k % 4 * 128;
  return at ^ (((at >> 7) - d->d.base_offset) & 3) << 5;
}
