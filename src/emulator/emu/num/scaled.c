/* emu/num/scaled.c: mma with .block_scale: products of matrices whose elements come in blocks along k, each
 * with a factor of its own.
 *
 * A row of A, like a column of B, has 1, 2 or 4 factors, one after the other along k: bytes of a lane's
 * register. A factor of row group + 8*h is in lane 4*group + 2*t + h, where t is 0 or 1 for all rows, and one
 * of column group in lane 4*group + t, where t is less than 4. The first of them is the lane's byte `byte`.
 */
#include "emu/num/num.h"

enum { M = 16, N = 8, MAX_K = 64 };

static double element(unsigned type, uint32_t reg, unsigned e) {
  return type == NUM_MMA_E2M1X8 ? num_to_f64(NUM_E2M1, reg >> 4 * e & 15)
                                : (double)num_mma_value(type, reg, e);
}

/* ue4m3 is e4m3 whose sign is not looked at. */
static double factor(num_fmt fmt, uint32_t reg, unsigned byte) {
  const uint32_t code = reg >> 8 * byte & 0xff;
  return num_to_f64(fmt, fmt == NUM_E4M3 ? code & 0x7f : code);
}

/* Every element as the number it stands for, factor included. */
static void unpack(const num_mma *m, const num_scaling *s, char which, const uint32_t (*from)[32],
                   const uint32_t scale[32], double *out) {
  const bool is_a = which == 'a';
  const unsigned type = is_a ? m->a : m->b, n = num_mma_elements(type), regs = is_a ? m->a_regs : m->b_regs,
                 block = m->k / s->per_k;
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < regs * n; e++) {
      unsigned row, column;
      num_mma_coord(m, which, lane, e, &row, &column);
      const unsigned k = is_a ? column : row, line = is_a ? row : column;
      const unsigned holder = is_a ? 4 * (line % 8) + 2 * s->thread_a + line / 8 : 4 * line + s->thread_b;
      const unsigned byte = (is_a ? s->byte_a : s->byte_b) + k / block;
      out[line * m->k + k] = element(type, from[e / n][lane], e % n) * factor(s->fmt, scale[holder], byte);
    }
}

bool num_scaling_valid(const num_scaling *s) {
  const unsigned step = s->per_k; /* a register's four bytes hold as many sets of factors as go in */
  return s->thread_a < 2 && s->thread_b < 4 && s->byte_a < 4 && s->byte_b < 4 && s->byte_a % step == 0 &&
         s->byte_b % step == 0;
}

void num_scaled_run(const num_mma *m, const num_scaling *s, void *d, const void *a, const void *b,
                    const void *c, const uint32_t scale_a[32], const uint32_t scale_b[32]) {
  double av[M * MAX_K], bv[N * MAX_K];
  unpack(m, s, 'a', a, scale_a, av);
  unpack(m, s, 'b', b, scale_b, bv);
  const uint32_t(*cr)[32] = c;
  uint32_t(*dr)[32] = d;
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned e = 0; e < M * N / 32; e++) {
      unsigned row, column;
      num_mma_coord(m, 'c', lane, e, &row, &column);
      double sum = num_f32(cr[e][lane]);
      for (unsigned k = 0; k < m->k; k++)
        sum = (double)(float)(sum + av[row * m->k + k] * bv[column * m->k + k]);
      dr[e][lane] = isnan(sum) ? 0x7fffffffu : num_b32((float)sum);
    }
}
