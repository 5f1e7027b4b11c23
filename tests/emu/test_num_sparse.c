/* mma.sp: fragments and metadata of random sparse matrices, packed as the PTX ISA's tables say, against the
 * product of the whole matrices. All values are small whole numbers, so that all sums are exact. */
#include "check.h"
#include "emu/num/num.h"

#include <math.h>

enum { M = 16, N = 8, MAX_K = 128, REGS = 8 };

typedef struct shape {
  uint8_t a, b, c; /* num_mma_type */
  uint16_t k;
  unsigned bits;  /* of an element */
  unsigned group; /* columns of A of which half are zero ... */
  unsigned unit;  /* ... so many together */
  unsigned lanes; /* of a quad that contribute metadata */
  bool halves;    /* two rows to a register of metadata */
} shape;

static const shape shapes[] = {
    {NUM_MMA_F16, NUM_MMA_F16, NUM_MMA_F32, 16, 16, 4, 1, 1, true},
    {NUM_MMA_F16, NUM_MMA_F16, NUM_MMA_F32, 32, 16, 4, 1, 2, true},
    {NUM_MMA_F16, NUM_MMA_F16, NUM_MMA_F16, 16, 16, 4, 1, 1, true},
    {NUM_MMA_F16, NUM_MMA_F16, NUM_MMA_F16, 32, 16, 4, 1, 2, true},
    {NUM_MMA_BF16, NUM_MMA_BF16, NUM_MMA_F32, 16, 16, 4, 1, 1, true},
    {NUM_MMA_BF16, NUM_MMA_BF16, NUM_MMA_F32, 32, 16, 4, 1, 2, true},
    {NUM_MMA_TF32, NUM_MMA_TF32, NUM_MMA_F32, 8, 32, 2, 1, 1, true},
    {NUM_MMA_TF32, NUM_MMA_TF32, NUM_MMA_F32, 16, 32, 2, 1, 2, true},
    {NUM_MMA_S8, NUM_MMA_S8, NUM_MMA_S32, 32, 8, 4, 1, 2, false},
    {NUM_MMA_U8, NUM_MMA_S8, NUM_MMA_S32, 64, 8, 4, 1, 4, false},
    {NUM_MMA_S4, NUM_MMA_U4, NUM_MMA_S32, 64, 4, 8, 2, 2, false},
    {NUM_MMA_U4, NUM_MMA_S4, NUM_MMA_S32, 128, 4, 8, 2, 4, false},
    {NUM_MMA_E4M3, NUM_MMA_E5M2, NUM_MMA_F32, 64, 8, 4, 1, 4, false},
    {NUM_MMA_E5M2, NUM_MMA_E4M3, NUM_MMA_F32, 64, 8, 4, 1, 4, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- Numbers -------------------------------------------------------------------------------- */

static uint64_t state = 0x5fa25e;
static unsigned pick(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

/* 0, 1 or 2, or less than none where the type has a sign, and its bits. */
static int small(uint8_t type, uint32_t *bits) {
  static const uint8_t e4m3[] = {0, 0x38, 0x40}, e5m2[] = {0, 0x3c, 0x40};
  static const uint16_t f16[] = {0, 0x3c00, 0x4000}, bf16[] = {0, 0x3f80, 0x4000};
  const unsigned k = pick(3);
  const bool minus = type != NUM_MMA_U8 && type != NUM_MMA_U4 && pick(2);
  const int value = minus ? -(int)k : (int)k;
  switch (type) {
  case NUM_MMA_F16: *bits = f16[k] | (uint32_t)minus << 15; break;
  case NUM_MMA_BF16: *bits = bf16[k] | (uint32_t)minus << 15; break;
  case NUM_MMA_TF32: *bits = (uint32_t)bf16[k] << 16 | (uint32_t)minus << 31; break;
  case NUM_MMA_E4M3: *bits = e4m3[k] | (uint32_t)minus << 7; break;
  case NUM_MMA_E5M2: *bits = e5m2[k] | (uint32_t)minus << 7; break;
  case NUM_MMA_S4:
  case NUM_MMA_U4: *bits = (uint32_t)value & 15; break;
  default: *bits = (uint32_t)value & 255;
  }
  return value;
}

/* ---- A problem -------------------------------------------------------------------------------- */

typedef struct problem {
  int a[M][MAX_K], b[MAX_K][N], c[M][N];
  bool kept[M][MAX_K];
  uint32_t a_bits[M][MAX_K], b_bits[MAX_K][N];
  uint32_t meta_bits[M][MAX_K]; /* of a row, one after the other */
  unsigned n_meta;
  uint32_t ar[REGS][32], br[REGS][32], cr[REGS][32], dr[REGS][32], meta[32];
} problem;

static void keep_unit(problem *x, const shape *s, unsigned row, unsigned at, unsigned which) {
  for (unsigned e = 0; e < s->unit; e++) {
    const unsigned k = at + which * s->unit + e;
    x->kept[row][k] = true;
    x->a[row][k] = small(s->a, &x->a_bits[row][k]);
  }
  const unsigned code = s->group == 2 ? (which ? 14 : 4) : which, width = s->group == 2 ? 4 : 2;
  for (unsigned bit = 0; bit < width; bit++) x->meta_bits[row][x->n_meta++] = code >> bit & 1;
}

static void make(problem *x, const shape *s) {
  for (unsigned row = 0; row < M; row++) {
    x->n_meta = 0;
    for (unsigned at = 0; at < s->k; at += s->group) {
      if (s->group == 2) {
        keep_unit(x, s, row, at, pick(2));
        continue;
      }
      const unsigned first = pick(3), second = first + 1 + pick(3 - first);
      keep_unit(x, s, row, at, first);
      keep_unit(x, s, row, at, second);
    }
    for (unsigned n = 0; n < N; n++) x->c[row][n] = (int)pick(9) - 4;
  }
  for (unsigned k = 0; k < s->k; k++)
    for (unsigned n = 0; n < N; n++) x->b[k][n] = small(s->b, &x->b_bits[k][n]);
}

/* ---- Packing --------------------------------------------------------------------------------------- */

/* Register r of a lane holds the elements that are there of 2E columns from the first on. */
static uint32_t pack_a(const problem *x, const shape *s, unsigned lane, unsigned r) {
  const unsigned n = 32 / s->bits, row = lane / 4 + r % 2 * 8;
  unsigned column = lane % 4 * 2 * n + r / 2 * 8 * n, filled = 0;
  uint32_t v = 0;
  for (; filled < n; column++)
    if (x->kept[row][column]) v |= x->a_bits[row][column] << s->bits * filled++;
  return v;
}
static uint32_t pack_b(const problem *x, const shape *s, unsigned lane, unsigned r) {
  const unsigned n = 32 / s->bits;
  uint32_t v = 0;
  for (unsigned e = 0; e < n; e++) v |= x->b_bits[lane % 4 * n + r * 4 * n + e][lane / 4] << s->bits * e;
  return v;
}
static uint32_t accumulator(const shape *s, int v) {
  return s->c == NUM_MMA_S32   ? (uint32_t)v
         : s->c == NUM_MMA_F16 ? num_f32_to_f16((float)v)
                               : num_b32((float)v);
}

static void pack_metadata(problem *x, const shape *s, unsigned selector) {
  for (unsigned lane = 0; lane < 32; lane++) x->meta[lane] = pick(UINT32_MAX); /* of no importance */
  for (unsigned row = 0; row < M; row++)
    for (unsigned k = 0; k < x->n_meta; k++) {
      const unsigned in_quad = s->halves ? k / 16 : row / 8 + k / 32 * 2;
      const unsigned bit = s->halves ? row / 8 * 16 + k % 16 : k % 32;
      uint32_t *word = &x->meta[row % 8 * 4 + selector * s->lanes + in_quad];
      *word = (*word & ~(1u << bit)) | x->meta_bits[row][k] << bit;
    }
}

static void pack(problem *x, const shape *s, unsigned selector) {
  for (unsigned lane = 0; lane < 32; lane++) {
    for (unsigned r = 0; r < M * s->k / 2 * s->bits / 1024; r++) x->ar[r][lane] = pack_a(x, s, lane, r);
    for (unsigned r = 0; r < N * s->k * s->bits / 1024; r++) x->br[r][lane] = pack_b(x, s, lane, r);
    for (unsigned e = 0; e < 4; e++) {
      const uint32_t v = accumulator(s, x->c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2]);
      if (s->c == NUM_MMA_F16)
        x->cr[e / 2][lane] |= v << 16 * (e % 2);
      else
        x->cr[e][lane] = v;
    }
  }
  pack_metadata(x, s, selector);
}

static void check_product(const problem *x, const shape *s) {
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < 4; e++) {
      const unsigned row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
      int sum = x->c[row][column];
      for (unsigned k = 0; k < s->k; k++) sum += x->a[row][k] * x->b[k][column];
      const uint32_t got = s->c == NUM_MMA_F16 ? x->dr[e / 2][lane] >> 16 * (e % 2) & 0xffff : x->dr[e][lane];
      const uint32_t want = accumulator(s, sum);
      if (got != want && !(sum == 0 && got << (s->c == NUM_MMA_F16 ? 17 : 1) == 0))
        fail_msg("type %d, k %u: row %u, column %u is %x, not %x", s->a, s->k, row, column, got, want);
    }
}

static void sparse_products_are_those_of_the_whole_matrices(void **ctx) {
  for (unsigned n = 0; n < SHAPES; n++) {
    const shape *s = &shapes[n];
    num_mma m = {.m = M, .n = N, .k = s->k, .a = s->a, .b = s->b, .c = s->c, .d = s->c};
    unsigned selectors = 0;
    assert_true(num_sparse_setup(&m, &selectors));
    assert_int_equal(selectors, 4 / s->lanes);
    for (unsigned round = 0; round < 8 * selectors; round++) {
      static problem x;
      x = (problem){0};
      make(&x, s);
      pack(&x, s, round % selectors);
      num_sparse_run(&m, round % selectors, x.dr, x.ar, x.br, x.cr, x.meta);
      check_product(&x, s);
    }
  }
}

/* Infinities of B that meet nothing of A make no NaN. */
static void what_is_left_out_is_not_multiplied(void **ctx) {
  const shape *s = &shapes[1];
  num_mma m = {.m = M, .n = N, .k = s->k, .a = s->a, .b = s->b, .c = s->c, .d = s->c};
  unsigned selectors;
  static problem x;
  x = (problem){0};
  assert_true(num_sparse_setup(&m, &selectors));
  make(&x, s);
  for (unsigned k = 0; k < s->k; k++)
    for (unsigned n = 0; n < N; n++)
      if (k % 4 > 1) x.b_bits[k][n] = 0x7c00;
  pack(&x, s, 0);
  for (unsigned lane = 0; lane < 32; lane++) x.meta[lane] = 0x44444444; /* the first two of four */
  num_sparse_run(&m, 0, x.dr, x.ar, x.br, x.cr, x.meta);
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < 4; e++) assert_true(isfinite(num_f32(x.dr[e][lane])));
}

static void other_shapes_are_refused(void **ctx) {
  static const num_mma none[] = {
      {.m = 16, .n = 8, .k = 8, .a = NUM_MMA_F16, .b = NUM_MMA_F16, .c = NUM_MMA_F32, .d = NUM_MMA_F32},
      {.m = 8, .n = 8, .k = 32, .a = NUM_MMA_S8, .b = NUM_MMA_S8, .c = NUM_MMA_S32, .d = NUM_MMA_S32},
      {.m = 16, .n = 8, .k = 32, .a = NUM_MMA_E4M3, .b = NUM_MMA_E4M3, .c = NUM_MMA_F32, .d = NUM_MMA_F32},
      {.m = 16, .n = 8, .k = 16, .a = NUM_MMA_F16, .b = NUM_MMA_BF16, .c = NUM_MMA_F32, .d = NUM_MMA_F32},
      {.m = 16, .n = 8, .k = 8, .a = NUM_MMA_F64, .b = NUM_MMA_F64, .c = NUM_MMA_F64, .d = NUM_MMA_F64},
      {.m = 16,
       .n = 8,
       .k = 256,
       .a = NUM_MMA_B1,
       .b = NUM_MMA_B1,
       .c = NUM_MMA_S32,
       .d = NUM_MMA_S32,
       .b1_op = '^'},
      {.m = 16,
       .n = 8,
       .k = 32,
       .a = NUM_MMA_F16,
       .b = NUM_MMA_F16,
       .c = NUM_MMA_F32,
       .d = NUM_MMA_F32,
       .satfinite = true},
  };
  for (unsigned k = 0; k < sizeof none / sizeof none[0]; k++) {
    num_mma m = none[k];
    unsigned selectors;
    assert_false(num_sparse_setup(&m, &selectors));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("sparse products are those of the whole matrices",
                sparse_products_are_those_of_the_whole_matrices),
      BEHAVIOUR("what is left out is not multiplied", what_is_left_out_is_not_multiplied),
      BEHAVIOUR("other shapes are refused", other_shapes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
