/* emu/num/mma.c: mma.sync on whole-warp fragments, and the 8x8 matrix moves.
 *
 * Every mma shape lays its operands out by one rule. With e elements to a register
 * (the accumulators always count two), lane l = 4*group + t, and h = m/8:
 *
 *   A  register r: row group + 8*(r % h), columns 4*e*(r / h) + e*t + 0..e-1
 *   B  register r: column group,          rows    4*e*r       + e*t + 0..e-1
 *   C  pair r:     row group + 8*r,       columns 2*t + 0..1
 *
 * How a GPU differs. The sums here are the ones num.h states: each product exact,
 * added in the order of k, every sum rounded to nearest in f32. An sm_90 tensor core
 * takes all k of an instruction at once (measured; docs/difftest.md has the rule): it aligns the exact
 * products and the accumulator to the greatest exponent among them, cuts each 25 bits
 * below, adds, and truncates to f32. Both stay within K * 2^-22 * (|c| + sum |a*b|) of the
 * exact result per element (K sums or cuts, each off by at most 2^-23 of the greatest term
 * or partial sum), so they agree within twice that, and are equal where all sums are exact
 * in f32: integers up to 2^24, for one. A subnormal factor counts as the least normal
 * number there, because its exponent is that one's. The core's way is not taken here: it
 * costs several times the work, and the PTX ISA leaves order and rounding open.
 * Integer and binary types are exact on both; f64 is a chain of fma on both.
 */
#include "emu/num/num.h"

/* Extents of the unpacked matrices; K's greatest is that of the family. */
enum { MAX_M = 16, N = 8, K_F32 = 32, K_F64 = 16, K_INTEGER = 64, K_BITS = 256 };

/* ---- Types and shapes ---------------------------------------------------- */

/* As multiplicands, types of one family may be mixed. */
enum { NO_FAMILY, F16, BF16, TF32, F64, INT8, INT4, BITS, FP8, FP4, FAMILIES };

static const struct {
  uint8_t bits, family;
} types[] = {
    [NUM_MMA_F16] = {16, F16},       [NUM_MMA_BF16] = {16, BF16}, [NUM_MMA_TF32] = {32, TF32},
    [NUM_MMA_F64] = {64, F64},       [NUM_MMA_S8] = {8, INT8},    [NUM_MMA_U8] = {8, INT8},
    [NUM_MMA_S4] = {4, INT4},        [NUM_MMA_U4] = {4, INT4},    [NUM_MMA_B1] = {1, BITS},
    [NUM_MMA_E4M3] = {8, FP8},       [NUM_MMA_E5M2] = {8, FP8},   [NUM_MMA_S32] = {32, NO_FAMILY},
    [NUM_MMA_F32] = {32, NO_FAMILY}, [NUM_MMA_E2M3] = {8, FP8},   [NUM_MMA_E3M2] = {8, FP8},
    [NUM_MMA_E2M1] = {8, FP8},       [NUM_MMA_E2M1X8] = {4, FP4},
};

/* All are m x 8 x k. .f16 m8n8k4 is four products at once, laid out by a rule of its own. */
static const struct {
  uint8_t m;
  uint16_t k;
} shapes[FAMILIES][4] = {
    [F16] = {{16, 8}, {16, 16}},
    [BF16] = {{16, 8}, {16, 16}},
    [TF32] = {{16, 4}, {16, 8}},
    [F64] = {{8, 4}, {16, 4}, {16, 8}, {16, 16}},
    [INT8] = {{8, 16}, {16, 16}, {16, 32}},
    [INT4] = {{8, 32}, {16, 32}, {16, 64}},
    [BITS] = {{8, 128}, {16, 128}, {16, 256}},
    [FP8] = {{16, 16}, {16, 32}},
    [FP4] = {{16, 64}},
};

/* Whether the family accumulates in this type. */
static bool accumulates(unsigned family, unsigned type) {
  switch (family) {
  case F16:
  case FP8: return type == NUM_MMA_F16 || type == NUM_MMA_F32;
  case BF16:
  case TF32:
  case FP4: return type == NUM_MMA_F32;
  case F64: return type == NUM_MMA_F64;
  default: return type == NUM_MMA_S32;
  }
}

bool num_mma_setup(num_mma *m) {
  const unsigned count = sizeof types / sizeof types[0];
  if (m->a >= count || m->b >= count || m->c != m->d || m->n != N) return false;
  unsigned family = types[m->a].family;
  if (family == NO_FAMILY || family != types[m->b].family || !accumulates(family, m->c)) return false;
  bool is_integer = family == INT8 || family == INT4;
  if (m->satfinite && !is_integer) return false;
  if (family == BITS && m->b1_op != '^' && m->b1_op != '&') return false;
  for (unsigned i = 0; i < 4 && shapes[family][i].m; i++) {
    if (shapes[family][i].m != m->m || shapes[family][i].k != m->k) continue;
    unsigned width = family == F64 ? 64 : 32;
    m->a_regs = (uint8_t)(m->m * m->k * types[m->a].bits / (32 * width));
    m->b_regs = (uint8_t)(m->n * m->k * types[m->b].bits / (32 * width));
    m->c_regs = m->d_regs = (uint8_t)(m->m * m->n * types[m->c].bits / (32 * width));
    return true;
  }
  return false;
}

/* ---- Layout -------------------------------------------------------------- */

/* Elements of A or B to a register. */
static unsigned per_register(unsigned type) { return types[type].bits == 64 ? 1 : 32u / types[type].bits; }

typedef struct place {
  unsigned row, col;
} place;

/* Register r of A begins here; its other elements follow along the row. */
static place a_place(const num_mma *m, unsigned lane, unsigned r) {
  unsigned e = per_register(m->a), log2_h = m->m == 16; /* the rule's h; a division per lane would show */
  return (place){lane / 4 + 8 * (r & log2_h), 4 * e * (r >> log2_h) + e * (lane % 4)};
}

/* Register r of B begins here; its other elements follow down the column. */
static place b_place(const num_mma *m, unsigned lane, unsigned r) {
  unsigned e = per_register(m->b);
  return (place){4 * e * r + e * (lane % 4), lane / 4};
}

/* Element `elem` of C or D, whatever its type. */
static place c_place(unsigned lane, unsigned elem) {
  return (place){lane / 4 + 8 * (elem / 2), 2 * (lane % 4) + elem % 2};
}

void num_mma_coord(const num_mma *m, char which, unsigned lane, unsigned elem, unsigned *row, unsigned *col) {
  place p;
  if (which == 'a') {
    unsigned e = per_register(m->a);
    p = a_place(m, lane, elem / e);
    p.col += elem % e;
  } else if (which == 'b') {
    unsigned e = per_register(m->b);
    p = b_place(m, lane, elem / e);
    p.row += elem % e;
  } else {
    p = c_place(lane, elem);
  }
  *row = p.row;
  *col = p.col;
}

/* Elements of C and D to a lane. */
static unsigned c_elements(const num_mma *m) { return m->m * N / 32u; }

/* ---- f16, bf16, tf32, fp8: sums in f32 ----------------------------------- */

/* As num_f16_to_f32, with e4m3's bias of 7 and its one NaN. */
static float e4m3_to_f32(uint32_t v) {
  float magnitude = num_f32((v & 0x7f) << 20) * 0x1p120f;
  magnitude = (v & 0x7f) == 0x7f ? NAN : magnitude;
  return v & 0x80 ? -magnitude : magnitude;
}

/* The same of formats without NaN: bits up to the sign, of the mantissa, and 2^(127 - bias). */
static float small_to_f32(uint32_t v, unsigned bits, unsigned mantissa_bits, float scale) {
  const float magnitude = num_f32((v & ((1u << bits) - 1)) << (23 - mantissa_bits)) * scale;
  return v >> bits & 1 ? -magnitude : magnitude;
}

/* The elements of one register, as many as per_register() says. */
static void unpack_f32(unsigned type, uint32_t v, float *out) {
  switch (type) {
  case NUM_MMA_F16:
    for (unsigned i = 0; i < 2; i++) out[i] = num_f16_to_f32((uint16_t)(v >> 16 * i));
    break;
  case NUM_MMA_BF16:
    out[0] = num_f32(v << 16);
    out[1] = num_f32(v & 0xffff0000u);
    break;
  case NUM_MMA_TF32: out[0] = num_f32(v & 0xffffe000u); break;
  case NUM_MMA_E4M3:
    for (unsigned i = 0; i < 4; i++) out[i] = e4m3_to_f32(v >> 8 * i);
    break;
  case NUM_MMA_E2M3:
    for (unsigned i = 0; i < 4; i++) out[i] = small_to_f32(v >> 8 * i, 5, 3, 0x1p126f);
    break;
  case NUM_MMA_E3M2:
    for (unsigned i = 0; i < 4; i++) out[i] = small_to_f32(v >> 8 * i, 5, 2, 0x1p124f);
    break;
  case NUM_MMA_E2M1:
    for (unsigned i = 0; i < 4; i++) out[i] = small_to_f32(v >> (8 * i + 2), 3, 1, 0x1p126f);
    break;
  case NUM_MMA_E5M2: /* an f16's upper byte */
    for (unsigned i = 0; i < 4; i++) out[i] = num_f16_to_f32((uint16_t)(v >> 8 * i << 8));
    break;
  }
}

/* Least and greatest exponent field of the nonzero values. */
static void exponent_range(const float *x, unsigned count, int *least, int *greatest) {
  *least = 255;
  *greatest = 0;
  for (unsigned i = 0; i < count; i++) {
    uint32_t magnitude = num_b32(x[i]) & 0x7fffffffu;
    int field = (int)(magnitude >> 23);
    *greatest = field > *greatest ? field : *greatest;
    field = magnitude ? field : 255;
    *least = field < *least ? field : *least;
  }
}

/* Whether every finite product is a normal f32, and hence (11 bits by 11) exact in it. */
static bool products_fit_f32(const num_mma *m, const float *a, const float *b) {
  if (m->a != NUM_MMA_BF16 && m->a != NUM_MMA_TF32) return true; /* too narrow to leave f32's range */
  int a_least, a_greatest, b_least, b_greatest;
  exponent_range(a, m->m * m->k, &a_least, &a_greatest);
  exponent_range(b, m->k * N, &b_least, &b_greatest);
  /* Products lie from 2^(least + least - 254) to below 2^(greatest + greatest - 252). */
  return a_least > 0 && b_least > 0 && a_least + b_least - 254 >= -126 &&
         a_greatest + b_greatest - 252 <= 128;
}

/* acc += a*b for k = 0..K-1, each sum rounded to f32. */
static void accumulate_f32(const num_mma *m, const float *restrict a, const float *restrict b,
                           float (*restrict acc)[N]) {
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k; k++)
      for (unsigned j = 0; j < N; j++) acc[i][j] += a[i * m->k + k] * b[k * N + j];
}

/* The same with exact products, whatever their range. The sum is rounded to double and then
 * to f32, which is once: a product of 22 bits and an f32 of 24 are inexact in double only if
 * more than 53 bits apart, end to end; the lesser is then under 2^-6 of the greater's last
 * f32 bit, and both ways round to the greater. */
static void accumulate_wide(const num_mma *m, const float *restrict a, const float *restrict b,
                            float (*restrict acc)[N]) {
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k; k++)
      for (unsigned j = 0; j < N; j++)
        acc[i][j] = (float)((double)acc[i][j] + (double)a[i * m->k + k] * (double)b[k * N + j]);
}

static void load_f32(const num_mma *m, const uint32_t (*c)[32], float (*acc)[N]) {
  for (unsigned e = 0; e < c_elements(m); e++)
    for (unsigned lane = 0; lane < 32; lane++) {
      place p = c_place(lane, e);
      acc[p.row][p.col] = m->c == NUM_MMA_F16 ? num_f16_to_f32((uint16_t)(c[e / 2][lane] >> 16 * (e % 2)))
                                              : num_f32(c[e][lane]);
    }
}

static void store_f32(const num_mma *m, uint32_t (*d)[32], float (*acc)[N]) {
  for (unsigned e = 0; e < c_elements(m); e++)
    for (unsigned lane = 0; lane < 32; lane++) {
      place p = c_place(lane, e);
      float x = acc[p.row][p.col];
      if (m->d == NUM_MMA_F32)
        d[e][lane] = isnan(x) ? 0x7fffffffu : num_b32(x);
      else if (e % 2 == 0)
        d[e / 2][lane] = num_f32_to_f16(x);
      else
        d[e / 2][lane] |= (uint32_t)num_f32_to_f16(x) << 16;
    }
}

static void run_f32(const num_mma *m, uint32_t (*dr)[32], const uint32_t (*ar)[32], const uint32_t (*br)[32],
                    const uint32_t (*cr)[32]) {
  float a[MAX_M * K_F32] = {0}, b[K_F32 * N] = {0}, acc[MAX_M][N] = {{0}};
  for (unsigned r = 0; r < m->a_regs; r++)
    for (unsigned lane = 0; lane < 32; lane++) {
      place p = a_place(m, lane, r);
      unpack_f32(m->a, ar[r][lane], &a[p.row * m->k + p.col]);
    }
  for (unsigned r = 0; r < m->b_regs; r++)
    for (unsigned lane = 0; lane < 32; lane++) {
      place p = b_place(m, lane, r);
      float down[4] = {0};
      unpack_f32(m->b, br[r][lane], down);
      for (unsigned i = 0; i < per_register(m->b); i++) b[(p.row + i) * N + p.col] = down[i];
    }
  load_f32(m, cr, acc);
  (products_fit_f32(m, a, b) ? accumulate_f32 : accumulate_wide)(m, a, b, acc);
  store_f32(m, dr, acc);
}

/* ---- f64 ----------------------------------------------------------------- */

static void run_f64(const num_mma *m, uint64_t (*dr)[32], const uint64_t (*ar)[32], const uint64_t (*br)[32],
                    const uint64_t (*cr)[32]) {
  double a[MAX_M][K_F64], b[K_F64][N], acc[MAX_M][N];
  for (unsigned lane = 0; lane < 32; lane++) {
    for (unsigned r = 0; r < m->a_regs; r++) {
      place p = a_place(m, lane, r);
      a[p.row][p.col] = num_f64(ar[r][lane]);
    }
    for (unsigned r = 0; r < m->b_regs; r++) {
      place p = b_place(m, lane, r);
      b[p.row][p.col] = num_f64(br[r][lane]);
    }
    for (unsigned e = 0; e < c_elements(m); e++) {
      place p = c_place(lane, e);
      acc[p.row][p.col] = num_f64(cr[e][lane]);
    }
  }
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k; k++)
      for (unsigned j = 0; j < N; j++) {
        double sum = fma(a[i][k], b[k][j], acc[i][j]);
        /* A NaN is the one that fma.rn.f64 makes. */
        acc[i][j] = isnan(sum) ? num_arith_f64('f', a[i][k], b[k][j], acc[i][j], NUM_RN) : sum;
      }
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < c_elements(m); e++) {
      place p = c_place(lane, e);
      dr[e][lane] = num_b64(acc[p.row][p.col]);
    }
}

/* ---- Integers and bits --------------------------------------------------- */

/* Element i of a register of type s8, u8, s4 or u4. */
static int16_t integer_at(unsigned type, uint32_t v, unsigned i) {
  switch (type) {
  case NUM_MMA_S8: return (int8_t)(v >> 8 * i);
  case NUM_MMA_U8: return (uint8_t)(v >> 8 * i);
  case NUM_MMA_S4: return (int16_t)((int)((v >> 4 * i & 15) ^ 8) - 8);
  default: return (int16_t)(v >> 4 * i & 15);
  }
}

unsigned num_mma_elements(unsigned type) { return per_register(type); }

float num_mma_value(unsigned type, uint32_t reg, unsigned elem) {
  float all[4];
  if (types[type].family == INT8 || types[type].family == INT4) return integer_at(type, reg, elem);
  unpack_f32(type, reg, all);
  return all[elem];
}

/* sums = A*B; 64 products of 16 bits fit an int32_t with room. */
static void multiply_integers(const num_mma *m, const uint32_t (*ar)[32], const uint32_t (*br)[32],
                              int32_t (*sums)[N]) {
  int16_t a[MAX_M][K_INTEGER], b[K_INTEGER][N];
  unsigned ea = per_register(m->a), eb = per_register(m->b);
  for (unsigned lane = 0; lane < 32; lane++) {
    for (unsigned r = 0; r < m->a_regs; r++) {
      place p = a_place(m, lane, r);
      for (unsigned i = 0; i < ea; i++) a[p.row][p.col + i] = integer_at(m->a, ar[r][lane], i);
    }
    for (unsigned r = 0; r < m->b_regs; r++) {
      place p = b_place(m, lane, r);
      for (unsigned i = 0; i < eb; i++) b[p.row + i][p.col] = integer_at(m->b, br[r][lane], i);
    }
  }
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k; k++)
      for (unsigned j = 0; j < N; j++) sums[i][j] += a[i][k] * b[k][j];
}

/* sums = popc(A op B), a register of 32 bits at a time. */
static void multiply_bits(const num_mma *m, const uint32_t (*ar)[32], const uint32_t (*br)[32],
                          int32_t (*sums)[N]) {
  uint32_t a[MAX_M][K_BITS / 32], b[K_BITS / 32][N];
  for (unsigned lane = 0; lane < 32; lane++) {
    for (unsigned r = 0; r < m->a_regs; r++) {
      place p = a_place(m, lane, r);
      a[p.row][p.col / 32] = ar[r][lane];
    }
    for (unsigned r = 0; r < m->b_regs; r++) {
      place p = b_place(m, lane, r);
      b[p.row / 32][p.col] = br[r][lane];
    }
  }
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k / 32u; k++)
      for (unsigned j = 0; j < N; j++)
        sums[i][j] += __builtin_popcount(m->b1_op == '^' ? a[i][k] ^ b[k][j] : a[i][k] & b[k][j]);
}

static void run_integer(const num_mma *m, uint32_t (*dr)[32], const uint32_t (*ar)[32],
                        const uint32_t (*br)[32], const uint32_t (*cr)[32]) {
  int32_t sums[MAX_M][N] = {{0}};
  (m->a == NUM_MMA_B1 ? multiply_bits : multiply_integers)(m, ar, br, sums);
  for (unsigned e = 0; e < c_elements(m); e++)
    for (unsigned lane = 0; lane < 32; lane++) {
      place p = c_place(lane, e);
      int64_t x = (int64_t)(int32_t)cr[e][lane] + sums[p.row][p.col];
      if (m->satfinite) x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
      dr[e][lane] = (uint32_t)x;
    }
}

void num_mma_run(const num_mma *m, void *d, const void *a, const void *b, const void *c) {
  switch (types[m->a].family) {
  case F64: run_f64(m, d, a, b, c); break;
  case INT8:
  case INT4:
  case BITS: run_integer(m, d, a, b, c); break;
  default: run_f32(m, d, a, b, c); break;
  }
}

/* ---- 8x8 matrices of b16 ------------------------------------------------- */

/* Row and column of half i of a lane's register: rows run along the lanes, or, for .trans,
 * columns do. */
static place half_place(unsigned lane, unsigned i, bool trans) {
  place p = {lane / 4, 2 * (lane % 4) + i};
  return trans ? (place){p.col, p.row} : p;
}

void num_ldmatrix(const uint8_t *const rows[8], bool trans, uint32_t out[32]) {
  for (unsigned lane = 0; lane < 32; lane++) {
    out[lane] = 0;
    for (unsigned i = 0; i < 2; i++) {
      place p = half_place(lane, i, trans);
      const uint8_t *at = rows[p.row] + (size_t)2 * p.col;
      out[lane] |= (uint32_t)(at[0] | at[1] << 8) << 16 * i;
    }
  }
}

void num_stmatrix(uint8_t *const rows[8], bool trans, const uint32_t in[32]) {
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < 2; i++) {
      place p = half_place(lane, i, trans);
      uint8_t *at = rows[p.row] + (size_t)2 * p.col;
      at[0] = (uint8_t)(in[lane] >> 16 * i);
      at[1] = (uint8_t)(in[lane] >> (16 * i + 8));
    }
}

void num_movmatrix_trans(const uint32_t in[32], uint32_t out[32]) {
  uint8_t bytes[8][16], *rows[8];
  for (unsigned r = 0; r < 8; r++) rows[r] = bytes[r];
  num_stmatrix(rows, false, in);
  num_ldmatrix((const uint8_t *const *)rows, true, out);
}
