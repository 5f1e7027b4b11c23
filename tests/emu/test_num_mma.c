/* Matrix fragments: layouts against the PTX ISA's formulas, products against a
 * triple loop over matrices that are packed and unpacked by the layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "num_reference.h"

enum {
  F16 = NUM_MMA_F16,
  BF16 = NUM_MMA_BF16,
  TF32 = NUM_MMA_TF32,
  F64 = NUM_MMA_F64,
  F32 = NUM_MMA_F32,
  S8 = NUM_MMA_S8,
  U8 = NUM_MMA_U8,
  S4 = NUM_MMA_S4,
  U4 = NUM_MMA_U4,
  B1 = NUM_MMA_B1,
  E4M3 = NUM_MMA_E4M3,
  E5M2 = NUM_MMA_E5M2,
  S32 = NUM_MMA_S32
};

static const unsigned bits_of[] = {
    [F16] = 16, [BF16] = 16, [TF32] = 32, [F64] = 64, [S8] = 8,   [U8] = 8,  [S4] = 4,
    [U4] = 4,   [B1] = 1,    [E4M3] = 8,  [E5M2] = 8, [S32] = 32, [F32] = 32};

/* Shape, types and registers: a, b, then c and d alike. */
#define MMA(rows, k, a, b, acc, sat, op, ar, br, cr)                                                         \
  { rows, 8, k, a, b, acc, acc, sat, op, ar, br, cr, cr }
#define MIXED(rows, k, x, y, ar, br, cr) /* signed and unsigned; half of them saturate */                    \
  MMA(rows, k, x, x, S32, false, 0, ar, br, cr), MMA(rows, k, x, y, S32, true, 0, ar, br, cr),               \
      MMA(rows, k, y, x, S32, true, 0, ar, br, cr), MMA(rows, k, y, y, S32, false, 0, ar, br, cr)
#define BITS(rows, k, ar, br, cr)                                                                            \
  MMA(rows, k, B1, B1, S32, false, '^', ar, br, cr), MMA(rows, k, B1, B1, S32, false, '&', ar, br, cr)
#define FP8(k, ar, br)                                                                                       \
  MMA(16, k, E4M3, E4M3, F32, false, 0, ar, br, 4), MMA(16, k, E4M3, E5M2, F32, false, 0, ar, br, 4),        \
      MMA(16, k, E5M2, E4M3, F16, false, 0, ar, br, 2), MMA(16, k, E5M2, E5M2, F32, false, 0, ar, br, 4)

/* Every shape, with every combination of types that differs in kind. */
static const num_mma all[] = {
    MMA(16, 8, F16, F16, F16, false, 0, 2, 1, 2),
    MMA(16, 8, F16, F16, F32, false, 0, 2, 1, 4),
    MMA(16, 16, F16, F16, F16, false, 0, 4, 2, 2),
    MMA(16, 16, F16, F16, F32, false, 0, 4, 2, 4),
    MMA(16, 8, BF16, BF16, F32, false, 0, 2, 1, 4),
    MMA(16, 16, BF16, BF16, F32, false, 0, 4, 2, 4),
    MMA(16, 4, TF32, TF32, F32, false, 0, 2, 1, 4),
    MMA(16, 8, TF32, TF32, F32, false, 0, 4, 2, 4),
    MMA(8, 4, F64, F64, F64, false, 0, 1, 1, 2),
    MMA(16, 4, F64, F64, F64, false, 0, 2, 1, 4),
    MMA(16, 8, F64, F64, F64, false, 0, 4, 2, 4),
    MMA(16, 16, F64, F64, F64, false, 0, 8, 4, 4),
    MIXED(8, 16, S8, U8, 1, 1, 2),
    MIXED(16, 16, S8, U8, 2, 1, 4),
    MIXED(16, 32, S8, U8, 4, 2, 4),
    MIXED(8, 32, S4, U4, 1, 1, 2),
    MIXED(16, 32, S4, U4, 2, 1, 4),
    MIXED(16, 64, S4, U4, 4, 2, 4),
    BITS(8, 128, 1, 1, 2),
    BITS(16, 128, 2, 1, 4),
    BITS(16, 256, 4, 2, 4),
    FP8(16, 2, 1),
    FP8(32, 4, 2),
};
enum { ALL = sizeof all / sizeof all[0] };

/* ---- Matrices and fragments ---------------------------------------------- */

/* Codes of the elements, and the registers of all lanes, wide enough for every shape. */
typedef uint64_t matrix[256][256];
typedef union fragment {
  uint32_t w32[8][32];
  uint64_t w64[8][32];
} fragment;

static unsigned elements(unsigned type, unsigned regs) {
  return type == F64 ? regs : regs * 32 / bits_of[type];
}

static uint64_t get(const fragment *f, unsigned type, unsigned lane, unsigned elem) {
  if (type == F64) return f->w64[elem][lane];
  unsigned at = elem * bits_of[type];
  uint64_t mask = (UINT64_C(1) << bits_of[type]) - 1;
  return f->w32[at / 32][lane] >> at % 32 & mask;
}

static void put(fragment *f, unsigned type, unsigned lane, unsigned elem, uint64_t code) {
  if (type == F64) {
    f->w64[elem][lane] = code;
    return;
  }
  unsigned at = elem * bits_of[type];
  f->w32[at / 32][lane] |= (uint32_t)code << at % 32;
}

static void pack(const num_mma *m, char which, unsigned type, unsigned regs, matrix from, fragment *to) {
  memset(to, 0, sizeof *to);
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < elements(type, regs); e++) {
      unsigned row, col;
      num_mma_coord(m, which, lane, e, &row, &col);
      put(to, type, lane, e, from[row][col]);
    }
}

static void unpack(const num_mma *m, char which, unsigned type, unsigned regs, const fragment *from,
                   matrix to) {
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < elements(type, regs); e++) {
      unsigned row, col;
      num_mma_coord(m, which, lane, e, &row, &col);
      to[row][col] = get(from, type, lane, e);
    }
}

static double decode(unsigned type, uint64_t code) {
  switch (type) {
  case F16: return num_to_f64(NUM_F16, code);
  case BF16: return num_to_f64(NUM_BF16, code);
  case TF32: return num_f32((uint32_t)code & 0xffffe000);
  case F32: return num_f32((uint32_t)code);
  case F64: return num_f64(code);
  case E4M3: return num_to_f64(NUM_E4M3, code);
  case E5M2: return num_to_f64(NUM_E5M2, code);
  case S8: return (int8_t)code;
  case S4: return code < 8 ? (double)code : (double)code - 16;
  case S32: return (int32_t)code;
  default: return (double)code;
  }
}

static uint64_t encode(unsigned type, double x) {
  switch (type) {
  case F16: return num_from_f64(NUM_F16, x, NUM_RN, false, false);
  case BF16: return num_from_f64(NUM_BF16, x, NUM_RN, false, false);
  case TF32:
  case F32: return num_from_f64(NUM_F32, x, NUM_RN, false, false);
  case F64: return num_b64(x);
  case E4M3: return num_from_f64(NUM_E4M3, x, NUM_RN, true, false);
  case E5M2: return num_from_f64(NUM_E5M2, x, NUM_RN, true, false);
  default: return (uint64_t)(int64_t)x & ((UINT64_C(1) << bits_of[type]) - 1);
  }
}

/* ---- Layout -------------------------------------------------------------- */

static void every_shape_is_accepted_with_the_isas_registers(void **state) {
  for (int i = 0; i < ALL; i++) {
    num_mma m = all[i];
    m.a_regs = m.b_regs = m.c_regs = m.d_regs = 0;
    assert_true(num_mma_setup(&m));
    assert_int_equal(m.a_regs, all[i].a_regs);
    assert_int_equal(m.b_regs, all[i].b_regs);
    assert_int_equal(m.c_regs, all[i].c_regs);
    assert_int_equal(m.d_regs, all[i].d_regs);
  }
}

static num_mma make(uint8_t rows, uint16_t k, uint8_t a, uint8_t b, uint8_t acc) {
  return (num_mma){.m = rows, .n = 8, .k = k, .a = a, .b = b, .c = acc, .d = acc};
}

static void what_is_not_emulated_is_refused(void **state) {
  num_mma refused[] = {
      make(8, 4, F16, F16, F32),     /* a layout of its own */
      make(16, 16, F16, BF16, F32),  /* types that do not mix */
      make(16, 32, S8, S4, S32),     /* nor these */
      make(16, 16, BF16, BF16, F16), /* bf16 accumulates in f32 only */
      make(16, 32, F16, F16, F32),   /* no such shapes */
      make(8, 16, F16, F16, F32),    make(0, 0, F16, F16, F32),
      make(16, 32, S8, S8, F32),                                  /* integers accumulate in s32 only */
      make(16, 256, B1, B1, S32),                                 /* by which operation? */
      make(16, 8, F32, F32, F32),                                 /* no multiplicands */
      make(16, 8, S32, S32, S32),    make(16, 16, 200, F16, F32), /* no types at all */
      make(16, 16, F16, 200, F32),   make(16, 16, F16, F16, 200),
  };
  for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) assert_false(num_mma_setup(&refused[i]));
  num_mma m = make(16, 16, F16, F16, F32);
  m.d = F16;
  assert_false(num_mma_setup(&m)); /* c and d differ */
  m.d = F32;
  m.satfinite = true;
  assert_false(num_mma_setup(&m)); /* nothing to saturate */
  m.satfinite = false;
  m.n = 16;
  assert_false(num_mma_setup(&m));
  m.n = 8;
  assert_true(num_mma_setup(&m));
}

static void each_fragment_covers_its_matrix_exactly_once(void **state) {
  for (int i = 0; i < ALL; i++) {
    const num_mma *m = &all[i];
    const struct {
      char which;
      unsigned type, regs, rows, cols;
    } operands[] = {{'a', m->a, m->a_regs, m->m, m->k},
                    {'b', m->b, m->b_regs, m->k, 8},
                    {'c', m->c, m->c_regs, m->m, 8},
                    {'d', m->d, m->d_regs, m->m, 8}};
    for (int o = 0; o < 4; o++) {
      uint8_t seen[256][256] = {{0}};
      unsigned count = 0;
      for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned e = 0; e < elements(operands[o].type, operands[o].regs); e++, count++) {
          unsigned row, col;
          num_mma_coord(m, operands[o].which, lane, e, &row, &col);
          assert_true(row < operands[o].rows && col < operands[o].cols && !seen[row][col]);
          seen[row][col] = 1;
        }
      assert_int_equal(count, operands[o].rows * operands[o].cols);
    }
  }
}

static void check_coord(const num_mma *m, char which, unsigned lane, unsigned i, unsigned row, unsigned col) {
  unsigned got_row, got_col;
  num_mma_coord(m, which, lane, i, &got_row, &got_col);
  if (got_row != row || got_col != col)
    print_message("k %d operand %c lane %u element %u\n", m->k, which, lane, i);
  assert_int_equal(got_row, row);
  assert_int_equal(got_col, col);
}

/* The formulas of the ISA's fragment sections, shape by shape. */
static void layouts_follow_the_isas_formulas(void **state) {
  const num_mma f16_k8 = make(16, 8, F16, F16, F32), f16_k16 = make(16, 16, BF16, BF16, F32);
  const num_mma tf32_k4 = make(16, 4, TF32, TF32, F32), tf32_k8 = make(16, 8, TF32, TF32, F32);
  const num_mma f64_m8 = make(8, 4, F64, F64, F64), f64_k16 = make(16, 16, F64, F64, F64);
  const num_mma s8_m8 = make(8, 16, S8, S8, S32), s8_k16 = make(16, 16, S8, S8, S32);
  const num_mma s8_k32 = make(16, 32, E4M3, E4M3, F32), s4_m8 = make(8, 32, S4, S4, S32);
  const num_mma s4_k64 = make(16, 64, S4, S4, S32), b1_m8 = make(8, 128, B1, B1, S32);
  const num_mma b1_k256 = make(16, 256, B1, B1, S32);
  for (unsigned lane = 0; lane < 32; lane++) {
    unsigned group = lane >> 2, t = lane % 4;
    for (unsigned i = 0; i < 4; i++) {
      check_coord(&f16_k8, 'a', lane, i, i < 2 ? group : group + 8, t * 2 + (i & 1));
      check_coord(&f16_k8, 'c', lane, i, i < 2 ? group : group + 8, t * 2 + (i & 1));
      check_coord(&f16_k16, 'b', lane, i, t * 2 + (i & 1) + (i >= 2 ? 8 : 0), group);
      check_coord(&tf32_k8, 'a', lane, i, i == 0 || i == 2 ? group : group + 8, i < 2 ? t : t + 4);
      check_coord(&f64_k16, 'b', lane, i, t + 4 * i, group);
      check_coord(&s8_m8, 'a', lane, i, group, t * 4 + i);
      check_coord(&s8_m8, 'b', lane, i, t * 4 + i, group);
    }
    for (unsigned i = 0; i < 2; i++) {
      check_coord(&f16_k8, 'b', lane, i, t * 2 + i, group);
      check_coord(&tf32_k4, 'a', lane, i, i == 0 ? group : group + 8, t);
      check_coord(&tf32_k8, 'b', lane, i, i == 0 ? t : t + 4, group);
      check_coord(&f64_m8, 'c', lane, i, group, t * 2 + i);
      check_coord(&s8_m8, 'd', lane, i, group, t * 2 + i);
    }
    check_coord(&tf32_k4, 'b', lane, 0, t, group);
    check_coord(&f64_m8, 'a', lane, 0, group, t);
    check_coord(&f64_m8, 'b', lane, 0, t, group);
    for (unsigned i = 0; i < 8; i++) {
      bool upper = i < 2 || (i >= 4 && i < 6);
      check_coord(&f16_k16, 'a', lane, i, upper ? group : group + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0));
      check_coord(&f64_k16, 'a', lane, i, i % 2 ? group + 8 : group, (i % 2 ? i * 2 - 2 : i * 2) + t);
      check_coord(&s8_k16, 'a', lane, i, i < 4 ? group : group + 8, t * 4 + (i & 3));
      check_coord(&s8_k32, 'b', lane, i, t * 4 + (i & 3) + (i >= 4 ? 16 : 0), group);
      check_coord(&s4_m8, 'a', lane, i, group, t * 8 + i);
      check_coord(&s4_m8, 'b', lane, i, t * 8 + i, group);
    }
    for (unsigned i = 0; i < 16; i++) {
      bool upper = i < 4 || (i >= 8 && i < 12);
      check_coord(&s8_k32, 'a', lane, i, upper ? group : group + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0));
      check_coord(&s4_k64, 'b', lane, i, t * 8 + (i & 7) + (i >= 8 ? 32 : 0), group);
    }
    for (unsigned i = 0; i < 32; i++) {
      bool upper = i < 8 || (i >= 16 && i < 24);
      check_coord(&s4_k64, 'a', lane, i, upper ? group : group + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0));
      check_coord(&b1_m8, 'a', lane, i, group, t * 32 + i);
    }
    for (unsigned i = 0; i < 128; i++) {
      bool upper = i < 32 || (i >= 64 && i < 96);
      check_coord(&b1_k256, 'a', lane, i, upper ? group : group + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0));
      if (i < 64) check_coord(&b1_k256, 'b', lane, i, t * 32 + (i & 31) + (i >= 32 ? 128 : 0), group);
    }
  }
}

/* ---- Products ------------------------------------------------------------ */

/* One element of D by the definition in num.h. */
static uint64_t reference(const num_mma *m, matrix a, matrix b, unsigned row, unsigned col, uint64_t c) {
  if (m->c == S32) {
    int64_t sum = (int32_t)c;
    for (unsigned k = 0; k < m->k; k++) {
      int64_t x = (int64_t)decode(m->a, a[row][k]), y = (int64_t)decode(m->b, b[k][col]);
      sum += m->a != B1 ? x * y : m->b1_op == '^' ? x ^ y : x & y;
    }
    if (m->satfinite && sum > INT32_MAX) sum = INT32_MAX;
    if (m->satfinite && sum < INT32_MIN) sum = INT32_MIN;
    return (uint32_t)sum;
  }
  if (m->c == F64) {
    double sum = num_f64(c);
    for (unsigned k = 0; k < m->k; k++)
      sum = num_arith_f64('f', num_f64(a[row][k]), num_f64(b[k][col]), sum, NUM_RN);
    return num_b64(sum);
  }
  float sum = (float)decode(m->c, c);
  for (unsigned k = 0; k < m->k; k++)
    sum = fmaf((float)decode(m->a, a[row][k]), (float)decode(m->b, b[k][col]), sum);
  if (isnan(sum)) return m->d == F16 ? 0x7fff : 0x7fffffff;
  return encode(m->d, sum);
}

typedef uint64_t (*code_source)(unsigned type, uint64_t *seed);

static void check_products(const num_mma *m, code_source source, uint64_t *seed) {
  static matrix a, b, c, d;
  fragment fa, fb, fc, fd;
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned k = 0; k < m->k; k++) a[i][k] = source(m->a, seed);
  for (unsigned k = 0; k < m->k; k++)
    for (unsigned j = 0; j < 8; j++) b[k][j] = source(m->b, seed);
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned j = 0; j < 8; j++) c[i][j] = source(m->c, seed);
  pack(m, 'a', m->a, m->a_regs, a, &fa);
  pack(m, 'b', m->b, m->b_regs, b, &fb);
  pack(m, 'c', m->c, m->c_regs, c, &fc);
  num_mma_run(m, &fd, &fa, &fb, &fc);
  unpack(m, 'd', m->d, m->d_regs, &fd, d);
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned j = 0; j < 8; j++) {
      uint64_t want = reference(m, a, b, i, j, c[i][j]);
      if (d[i][j] != want)
        print_message("m%dn8k%d types %d %d %d: row %u column %u\n", m->m, m->k, m->a, m->b, m->d, i, j);
      assert_int_equal(d[i][j], want);
    }
  num_mma_run(m, &fc, &fa, &fb, &fc); /* in place */
  unpack(m, 'd', m->d, m->d_regs, &fc, c);
  for (unsigned i = 0; i < m->m; i++)
    for (unsigned j = 0; j < 8; j++) assert_int_equal(c[i][j], d[i][j]);
}

static uint64_t small_integer(unsigned type, uint64_t *seed) {
  int v = (int)(ref_random(seed) >> 33) % 7 - 3;
  bool is_unsigned = type == U8 || type == U4 || type == B1;
  return type == B1 ? (uint64_t)(v & 1) : encode(type, is_unsigned ? abs(v) : v);
}

/* Finite values about one, all mantissa bits in use. */
static uint64_t ordinary(unsigned type, uint64_t *seed) {
  double x = ldexp((double)(int64_t)ref_random(seed), -63 + (int)(ref_random(seed) % 6));
  if (type == S32 || type == S8 || type == U8 || type == S4 || type == U4 || type == B1)
    return ref_random(seed) & ((UINT64_C(1) << bits_of[type]) - 1);
  return encode(type, x) | (type == TF32 ? ref_random(seed) & 0x1fff : 0);
}

/* Any bits: subnormals, infinities, NaN, products beyond f32's range on both sides. */
static uint64_t any_bits(unsigned type, uint64_t *seed) {
  uint64_t bits = ref_random(seed);
  return bits_of[type] == 64 ? bits : bits & ((UINT64_C(1) << bits_of[type]) - 1);
}

/* Products about f32's least value, many of them ties, and accumulators alike: rounding a
 * product by itself would show. */
static uint64_t low_end(unsigned type, uint64_t *seed) {
  uint64_t r = ref_random(seed);
  if (type == F32) return r & 0x8000000f;
  double x = ldexp(1 + (double)(r & 3) / 4, (int)(r >> 21 & 3) - 75);
  return encode(type, r >> 40 & 1 ? -x : x);
}

/* Products about f32's greatest value, and accumulators that bring them back. */
static uint64_t high_end(unsigned type, uint64_t *seed) {
  uint64_t r = ref_random(seed);
  double x = ldexp(1 + (double)(r & 0xffff) * 0x1p-16, type == F32 ? 127 : (int)(r >> 21 & 1) + 63);
  return encode(type, r >> 40 & 1 ? -x : r >> 41 & 3 || type == F32 ? x : 0);
}

/* Sums about the ends of s32. */
static uint64_t s32_ends(unsigned type, uint64_t *seed) {
  uint64_t r = ref_random(seed);
  return type == S32
             ? (uint32_t)((r & 1 ? INT64_C(0x7fffffff) : -INT64_C(0x80000000)) + (int32_t)(r >> 32) % 1000)
             : any_bits(type, seed);
}

static void small_integers_multiply_exactly_as_a_gpu_does(void **state) {
  static matrix a, b, c, d;
  fragment fa, fb, fc, fd;
  uint64_t seed = 51;
  for (int i = 0; i < ALL; i++) {
    const num_mma *m = &all[i];
    for (unsigned r = 0; r < 256; r++)
      for (unsigned s = 0; s < 256; s++) {
        if (r < m->m) a[r][s] = small_integer(m->a, &seed);
        if (s < 8) b[r][s] = small_integer(m->b, &seed);
        if (s < 8) c[r][s] = small_integer(m->c, &seed);
      }
    pack(m, 'a', m->a, m->a_regs, a, &fa);
    pack(m, 'b', m->b, m->b_regs, b, &fb);
    pack(m, 'c', m->c, m->c_regs, c, &fc);
    num_mma_run(m, &fd, &fa, &fb, &fc);
    unpack(m, 'd', m->d, m->d_regs, &fd, d);
    for (unsigned r = 0; r < m->m; r++)
      for (unsigned s = 0; s < 8; s++) {
        double sum = decode(m->c, c[r][s]);
        for (unsigned k = 0; k < m->k; k++) {
          double x = decode(m->a, a[r][k]), y = decode(m->b, b[k][s]);
          sum += m->b1_op == '^' ? x != y : x * y;
        }
        assert_true(decode(m->d, d[r][s]) == sum);
      }
  }
}

static void check_all(code_source source, uint64_t seed, int times) {
  for (int i = 0; i < ALL; i++)
    for (int t = 0; t < times; t++) check_products(&all[i], source, &seed);
}

static void products_are_exact_and_summed_in_the_order_of_k(void **state) { check_all(ordinary, 52, 20); }

static void infinities_nans_and_subnormals_take_part(void **state) { check_all(any_bits, 53, 20); }

static void products_beyond_the_range_of_f32_are_not_lost(void **state) {
  uint64_t seed = 54;
  for (int i = 0; i < ALL; i++)
    for (int t = 0; t < 50; t++)
      if (all[i].a == BF16 || all[i].a == TF32) check_products(&all[i], t % 2 ? low_end : high_end, &seed);
  static matrix a, b, c;
  num_mma m = make(16, 8, BF16, BF16, F32);
  assert_true(num_mma_setup(&m));
  fragment fa, fb, fc, fd;
  a[0][0] = encode(BF16, 0x1p28);
  b[0][0] = encode(BF16, 0x1p100);
  c[0][0] = encode(F32, -0x1.8p127);
  pack(&m, 'a', BF16, m.a_regs, a, &fa);
  pack(&m, 'b', BF16, m.b_regs, b, &fb);
  pack(&m, 'c', F32, m.c_regs, c, &fc);
  num_mma_run(&m, &fd, &fa, &fb, &fc);
  assert_int_equal(fd.w32[0][0], num_b32(0x1p126f)); /* 2^128, one term, is no f32 */
}

static void integer_sums_wrap_or_saturate(void **state) {
  uint64_t seed = 55;
  for (int i = 0; i < ALL; i++)
    for (int t = 0; t < 20; t++)
      if (all[i].d == S32) check_products(&all[i], s32_ends, &seed);
}

/* ---- 8x8 matrices -------------------------------------------------------- */

static void ldmatrix_stmatrix_and_movmatrix_place_halves_as_the_isa_says(void **state) {
  uint16_t from[8][8], to[8][8];
  const uint8_t *rows[8];
  uint8_t *out_rows[8];
  for (int r = 0; r < 8; r++) {
    rows[r] = (const uint8_t *)from[r];
    out_rows[r] = (uint8_t *)to[r];
    for (int c = 0; c < 8; c++) from[r][c] = (uint16_t)(r << 8 | c);
  }
  uint32_t plain[32], trans[32], moved[32];
  num_ldmatrix(rows, false, plain);
  num_ldmatrix(rows, true, trans);
  num_movmatrix_trans(plain, moved);
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < 2; i++) {
      assert_int_equal((uint16_t)(plain[lane] >> 16 * i), from[lane / 4][lane % 4 * 2 + i]);
      assert_int_equal((uint16_t)(trans[lane] >> 16 * i), from[lane % 4 * 2 + i][lane / 4]);
      assert_int_equal(moved[lane], trans[lane]);
    }
  for (int t = 0; t < 2; t++) {
    memset(to, 0xff, sizeof to);
    num_stmatrix(out_rows, t, t ? trans : plain);
    assert_memory_equal(from, to, sizeof from);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_is_accepted_with_the_isas_registers),
      cmocka_unit_test(what_is_not_emulated_is_refused),
      cmocka_unit_test(each_fragment_covers_its_matrix_exactly_once),
      cmocka_unit_test(layouts_follow_the_isas_formulas),
      cmocka_unit_test(small_integers_multiply_exactly_as_a_gpu_does),
      cmocka_unit_test(products_are_exact_and_summed_in_the_order_of_k),
      cmocka_unit_test(infinities_nans_and_subnormals_take_part),
      cmocka_unit_test(products_beyond_the_range_of_f32_are_not_lost),
      cmocka_unit_test(integer_sums_wrap_or_saturate),
      cmocka_unit_test(ldmatrix_stmatrix_and_movmatrix_place_halves_as_the_isa_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
