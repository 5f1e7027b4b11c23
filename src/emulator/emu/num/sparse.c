/* emu/num/sparse.c: mma.sp: products of a matrix A of which half of each group of elements is zero and left
 * out.
 *
 * A unit is an element of A, or two of 4 bits. Of a group of four units (two: .tf32) two (one) are there, in
 * a fragment laid out as that of the dense product of half the k; two bits of metadata for each say which
 * unit it is (.tf32: four bits, which name both halves of the element). A row's metadata, counted from its
 * first unit, lie in the quad of lanes that has the row group + 8*h:
 *
 *   f16, bf16, tf32       16 bits to a lane, in the half h of its register
 *   8 and 4 bits          32 bits to a lane, in the lanes of the quad with number % 2 == h
 *
 * Where a row has less than fills the quad, the selector says which lanes of it contribute. */
#include "emu/num/num.h"

enum { M = 16, N = 8, MAX_K = 128 };

static const struct {
  uint8_t a;    /* its type; B's is alike */
  uint8_t unit; /* elements */
  uint8_t bits; /* of metadata to a unit */
  bool halves;  /* a lane holds both rows */
  uint16_t k[2];
} kinds[] = {
    {NUM_MMA_F16, 1, 2, true, {16, 32}},  {NUM_MMA_BF16, 1, 2, true, {16, 32}},
    {NUM_MMA_TF32, 1, 4, true, {8, 16}},  {NUM_MMA_S8, 1, 2, false, {32, 64}},
    {NUM_MMA_U8, 1, 2, false, {32, 64}},  {NUM_MMA_S4, 2, 2, false, {64, 128}},
    {NUM_MMA_U4, 2, 2, false, {64, 128}}, {NUM_MMA_E4M3, 1, 2, false, {64}},
    {NUM_MMA_E5M2, 1, 2, false, {64}},    {NUM_MMA_E2M3, 1, 2, false, {64}},
    {NUM_MMA_E3M2, 1, 2, false, {64}},    {NUM_MMA_E2M1, 1, 2, false, {64}},
};

static unsigned kind_of(unsigned a) {
  unsigned k = 0;
  while (k < sizeof kinds / sizeof kinds[0] && kinds[k].a != a) k++;
  return k;
}

/* Lanes of a quad that contribute metadata. */
static unsigned contributors(const num_mma *m, unsigned kind) {
  return M * m->k * kinds[kind].bits / (2 * kinds[kind].unit) / (8 * 32);
}

bool num_sparse_setup(num_mma *m, unsigned *selectors) {
  const unsigned kind = kind_of(m->a);
  if (kind == sizeof kinds / sizeof kinds[0] || (m->k != kinds[kind].k[0] && m->k != kinds[kind].k[1]))
    return false;
  /* The dense product of half the k has A's registers, and half of B's. */
  num_mma half = *m;
  half.k = m->k / 2;
  if (m->m != M || !num_mma_setup(&half)) return false;
  m->a_regs = half.a_regs;
  m->b_regs = (uint8_t)(2 * half.b_regs);
  m->c_regs = m->d_regs = half.c_regs;
  *selectors = 4 / contributors(m, kind);
  return true;
}

/* Which k the element of A in this row and column of the half matrix stands at. */
static unsigned k_of(unsigned kind, const uint32_t *meta, unsigned first_lane, unsigned row,
                     unsigned column) {
  const unsigned bits = kinds[kind].bits, unit = kinds[kind].unit;
  const unsigned u = column / unit, bit = u * bits, quad = 4 * (row % 8) + first_lane, upper = row / 8;
  const uint32_t word = kinds[kind].halves ? meta[quad + bit / 16] >> 16 * upper >> bit % 16
                                           : meta[quad + upper + bit / 32 * 2] >> bit % 32;
  /* .tf32: 0100 is the first of two, 1110 the second. */
  const unsigned index = bits == 4 ? word >> 1 & 1 : word & 3;
  return bits == 4 ? 2 * u + index : (u / 2 * 4 + index) * unit + column % unit;
}

/* Every element as the number it stands for. */
static void unpack(const num_mma *m, char which, unsigned regs, const uint32_t (*from)[32], unsigned pitch,
                   double *out) {
  const unsigned type = which == 'a' ? m->a : m->b, n = num_mma_elements(type);
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < regs * n; e++) {
      unsigned row, column;
      num_mma_coord(m, which, lane, e, &row, &column);
      out[row * pitch + column] = num_mma_value(type, from[e / n][lane], e % n);
    }
}

static uint32_t finish(const num_mma *m, double sum, int64_t c) {
  if (m->d != NUM_MMA_S32) return isnan(sum) ? 0x7fffffffu : num_b32((float)sum);
  int64_t x = c + (int64_t)sum;
  if (m->satfinite) x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
  return (uint32_t)x;
}

void num_sparse_run(const num_mma *m, unsigned selector, void *d, const void *a, const void *b, const void *c,
                    const uint32_t meta[32]) {
  const unsigned kind = kind_of(m->a), half = m->k / 2u;
  const unsigned first_lane = selector * contributors(m, kind);
  const bool whole = m->c == NUM_MMA_S32, narrow = m->c == NUM_MMA_F16;
  double av[M * MAX_K / 2], bv[MAX_K * N];
  num_mma compressed = *m;
  compressed.k = (uint16_t)half;
  unpack(&compressed, 'a', m->a_regs, a, half, av);
  unpack(m, 'b', m->b_regs, b, N, bv);
  const uint32_t(*cr)[32] = c;
  uint32_t(*dr)[32] = d;
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < M * N / 32; e++) {
      unsigned row, column;
      num_mma_coord(m, 'c', lane, e, &row, &column);
      const uint32_t old = narrow ? cr[e / 2][lane] >> 16 * (e % 2) : cr[e][lane];
      double sum = whole ? 0 : narrow ? num_f16_to_f32((uint16_t)old) : num_f32(old);
      for (unsigned k = 0; k < half; k++) {
        const double product = av[row * half + k] * bv[k_of(kind, meta, first_lane, row, k) * N + column];
        sum = whole ? sum + product : (double)(float)(sum + product);
      }
      const uint32_t result = narrow ? num_f32_to_f16((float)sum) : finish(m, sum, (int32_t)old);
      if (!narrow)
        dr[e][lane] = result;
      else
        dr[e / 2][lane] = e % 2 ? (dr[e / 2][lane] & 0xffff) | result << 16 : result;
    }
}
