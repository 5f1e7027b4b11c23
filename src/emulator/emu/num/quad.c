/* emu/num/quad.c: mma.m8n8k4 of f16: four products of 8 x 8 x 4 at once.
 *
 * Product p belongs to the eight lanes 4p .. 4p+3 and 16+4p .. 16+4p+3, two quads. With q the lane's number
 * in its quad and h whether it is in the upper one, lines (rows of A and of the sums, columns of B) are
 * q + 4h; a fragment runs along k, or, in the layouts whose lines lie across, along four lines:
 *
 *   A .row, B .col     element i: line q + 4h,  k = i
 *   A .col, B .row     element i: line i + 4h,  k = q
 *   sums of f16        element i: row q + 4h,   column i
 *   sums of f32        element i: row q % 2 + (i & 2) + 4h,  column (i & 4) + (q & 2) + i % 2
 */
#include "emu/num/num.h"

enum { SIDE = 8, DEPTH = 4, PRODUCTS = 4 };

/* lines[line][k] of product p. */
static void take_lines(const uint32_t (*reg)[32], unsigned p, bool across, float lines[SIDE][DEPTH]) {
  for (unsigned h = 0; h < 2; h++)
    for (unsigned q = 0; q < 4; q++)
      for (unsigned i = 0; i < 4; i++) {
        const float x = num_f16_to_f32((uint16_t)(reg[i / 2][16 * h + 4 * p + q] >> 16 * (i % 2)));
        if (across)
          lines[i + 4 * h][q] = x;
        else
          lines[q + 4 * h][i] = x;
      }
}

typedef struct place {
  unsigned row, column;
} place;

static place sum_place(bool halves, unsigned q, unsigned h, unsigned i) {
  if (halves) return (place){q + 4 * h, i};
  return (place){q % 2 + (i & 2) + 4 * h, (i & 4) + (q & 2) + i % 2};
}

void num_mma_quads(const num_mma_quad *m, uint32_t (*d)[32], const uint32_t (*a)[32], const uint32_t (*b)[32],
                   const uint32_t (*c)[32]) {
  for (unsigned p = 0; p < PRODUCTS; p++) {
    float rows[SIDE][DEPTH], columns[SIDE][DEPTH], sums[SIDE][SIDE];
    take_lines(a, p, m->a_column, rows);
    take_lines(b, p, m->b_row, columns);
    for (unsigned e = 0; e < SIDE * SIDE; e++) {
      const unsigned h = e >> 5, q = e >> 3 & 3, i = e & 7, lane = 16 * h + 4 * p + q;
      const place at = sum_place(m->c_f16, q, h, i);
      sums[at.row][at.column] =
          m->c_f16 ? num_f16_to_f32((uint16_t)(c[i / 2][lane] >> 16 * (i % 2))) : num_f32(c[i][lane]);
    }
    for (unsigned y = 0; y < SIDE; y++)
      for (unsigned x = 0; x < SIDE; x++)
        for (unsigned k = 0; k < DEPTH; k++) sums[y][x] += rows[y][k] * columns[x][k]; /* exact products */
    for (unsigned e = 0; e < SIDE * SIDE; e++) {
      const unsigned h = e >> 5, q = e >> 3 & 3, i = e & 7, lane = 16 * h + 4 * p + q;
      const place at = sum_place(m->d_f16, q, h, i);
      const float x = sums[at.row][at.column];
      if (!m->d_f16)
        d[i][lane] = isnan(x) ? 0x7fffffffu : num_b32(x);
      else
        d[i / 2][lane] = (i % 2 ? d[i / 2][lane] & 0xffff : 0) | (uint32_t)num_f32_to_f16(x) << 16 * (i % 2);
    }
  }
}
