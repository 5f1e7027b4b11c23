/* tcgen05.mma against whole numbers: where the PTX ISA places operands, and what the sums are. */
#ifndef HEDDLE_TESTS_EMU_TCGEN05_PRODUCT_H
#define HEDDLE_TESTS_EMU_TCGEN05_PRODUCT_H

#include "emu/tcgen05_run.h"

/* ---- Numbers -------------------------------------------------------------------------------- */

typedef struct element {
  unsigned code, bits, exponent, mantissa; /* in the descriptor; no exponent: an integer */
  unsigned room;                           /* bits of an element in shared memory */
  int least, greatest;                     /* of what is tried */
} element;

static const element f16 = {0, 16, 5, 10, 16, -4, 4}, bf16 = {1, 16, 8, 7, 16, -4, 4},
                     tf32 = {2, 32, 8, 23, 32, -9, 9}, e4m3 = {0, 8, 4, 3, 8, -5, 5},
                     e5m2 = {1, 8, 5, 2, 8, -4, 4}, e2m3 = {3, 6, 2, 3, 8, -4, 4},
                     e3m2 = {4, 6, 3, 2, 8, -4, 4}, e2m1 = {5, 4, 2, 1, 8, -4, 4},
                     pairs = {1, 4, 2, 1, 4, -4, 4}, u8 = {0, 8, 0, 0, 8, 0, 255},
                     s8 = {1, 8, 0, 0, 8, -128, 127};

/* A small whole number as a float. */
static inline uint32_t encode_float(int v, unsigned exponent, unsigned mantissa) {
  if (v == 0) return 0;
  const unsigned magnitude = (unsigned)abs(v), log2 = 31 - (unsigned)__builtin_clz(magnitude);
  const uint32_t field = log2 + (1u << (exponent - 1)) - 1,
                 fraction = (uint32_t)((uint64_t)magnitude << mantissa >> log2) - (1u << mantissa);
  return (v < 0 ? 1u << (exponent + mantissa) : 0) | field << mantissa | fraction;
}
static inline uint32_t encode(const element *e, int v) {
  return e->exponent ? encode_float(v, e->exponent, e->mantissa) : (uint32_t)v & 0xff;
}

/* ---- Products ------------------------------------------------------------------------------- */

typedef struct product {
  const char *words; /* ".kind::f16" and so on */
  const element *a, *b;
  unsigned ctas, m, n;
  char sums;                 /* 'h' f16, 'f' f32, 's' s32 */
  unsigned width_a, width_b; /* of the patterns in shared memory, as tc_descriptor takes them */
  bool a_across, b_across;   /* MN-major */
  bool a_in_tensor, sparse, weights, add, negate_a, negate_b, saturate, disable;
  unsigned scales, shrink, selector, a_byte, b_byte;
  bool ue4m3;
  unsigned d_lane; /* 16: of the paths that leave room for it */
} product;

enum { MOST_M = 256, MOST_N = 256, MOST_K = 128 };
enum { D_AT = 8, A_AT = 272, META_AT = 300, A_SCALE_AT = 320, B_SCALE_AT = 340 }; /* columns */
enum { A_SHARED = TC_FIRST, B_SHARED = TC_FIRST + 40 * 1024 };

typedef struct matrices {
  int a[MOST_M][MOST_K], b[MOST_N][MOST_K], d[MOST_M][MOST_N];
  int a_scale[MOST_M][4], b_scale[MOST_N][4];
  int kept[MOST_M][MOST_K / 2];     /* sparse: the elements that are there, */
  uint8_t meta[MOST_M][MOST_K / 4]; /* and four bits for each group of them */
} matrices;

static inline unsigned kept_of(const product *p) { return 256 / p->a->room; }
static inline unsigned k_of(const product *p) { return kept_of(p) * (p->sparse ? 2 : 1); }
/* Lanes by which D's columns are divided. */
static inline unsigned parts_of(const product *p) {
  const unsigned rows = p->m / p->ctas;
  if (rows == 128) return 1;
  if (rows == 32) return 4;
  return p->weights || (p->ctas == 2 && !p->sparse) ? 2 : 1;
}

static inline unsigned next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(*state >> 40);
}
static inline int pick(uint64_t *state, const element *e) {
  return e->least + (int)(next(state) % (unsigned)(e->greatest - e->least + 1));
}

/* Which elements of a row stay, group by group: 2 of 4, 1 of 2 (32 bits), 2 pairs of 4 (4 bits). */
static inline void thin_out(const product *p, unsigned row, uint64_t *state, matrices *x) {
  const unsigned unit = p->a->room == 4 ? 2 : 1, of = p->a->room == 32 ? 2 : 4 * unit;
  unsigned n = 0;
  for (unsigned g = 0; g * of < k_of(p); g++) {
    unsigned first = next(state) % 3, second = first + 1 + next(state) % (3 - first);
    if (p->a->room == 32) {
      first = next(state) & 1;
      x->meta[row][g] = first ? 14 : 4;
    } else {
      x->meta[row][g] = (uint8_t)(first | second << 2);
    }
    for (unsigned k = 0; k < of; k++) {
      const bool stays = p->a->room == 32 ? k == first : k / unit == first || k / unit == second;
      if (stays)
        x->kept[row][n++] = x->a[row][g * of + k];
      else
        x->a[row][g * of + k] = 0;
    }
  }
}

static inline void make_matrices(const product *p, uint64_t seed, matrices *x) {
  memset(x, 0, sizeof *x);
  for (unsigned r = 0; r < p->m; r++) {
    for (unsigned k = 0; k < k_of(p); k++) x->a[r][k] = pick(&seed, p->a);
    for (unsigned k = 0; !p->sparse && k < k_of(p); k++) x->kept[r][k / 2] = 0;
    if (p->sparse) thin_out(p, r, &seed, x);
    for (unsigned s = 0; s < 4; s++) x->a_scale[r][s] = 1 + (int)(next(&seed) % 2);
    for (unsigned j = 0; j < p->n; j++) x->d[r][j] = ((int)(next(&seed) % 61) - 30) * (1 << p->shrink);
  }
  for (unsigned j = 0; j < p->n; j++) {
    for (unsigned k = 0; k < k_of(p); k++) x->b[j][k] = pick(&seed, p->b);
    for (unsigned s = 0; s < 4; s++)
      x->b_scale[j][s] = p->ue4m3 ? 1 + (int)(next(&seed) % 3) : 1 << next(&seed) % 3;
  }
}

static inline int64_t sum_of(const product *p, const matrices *x, unsigned row, unsigned column) {
  int64_t sum = 0;
  for (unsigned k = 0; k < k_of(p); k++) {
    int64_t term = x->a[row][k] * x->b[column][k];
    if (p->scales) {
      const unsigned s = k / (k_of(p) / p->scales);
      term *= x->a_scale[row][s] * x->b_scale[column][s];
    }
    sum += term;
  }
  if (p->negate_a != p->negate_b) sum = -sum;
  if (p->add) sum += p->sums == 's' ? x->d[row][column] : x->d[row][column] >> p->shrink;
  return sum;
}

/* ---- Places --------------------------------------------------------------------------------- */

/* Data path layouts: the lane and column of D's element, which stands in CTA row / (m / ctas). */
static inline void d_place(const product *p, unsigned row, unsigned column, unsigned *lane, unsigned *at) {
  const unsigned r = row % (p->m / p->ctas), parts = parts_of(p), columns = p->n / parts;
  *lane = p->m / p->ctas == 64 && parts == 1 ? r / 16 * 32 + r % 16 : r + column / columns * (128 / parts);
  *lane += p->d_lane;
  *at = D_AT + column % columns;
}

static inline void put_bits(uint8_t *at, unsigned bit, unsigned bits, uint32_t v) {
  for (unsigned k = 0; k < bits; k++, bit++)
    at[bit / 8] = (uint8_t)((at[bit / 8] & ~(1u << bit % 8)) | (v >> k & 1) << bit % 8);
}

typedef struct layout {
  unsigned start, leading, stride, width;
  bool across;
} layout;

/* Strides that leave no two chunks the same place. */
static inline layout layout_of(unsigned start, unsigned width, bool across, unsigned lines, unsigned k,
                               unsigned room) {
  const unsigned row = width == 1 ? 128 : width, eight = 8 * row;
  if (!across) return (layout){start, width == 16 ? lines * 16 : 16, eight, width, false};
  if (width == 16) return (layout){start, lines * room / 128 * 128, 128, width, true};
  const unsigned rows = width == 1 ? 4 : 8;
  return (layout){start, (k + rows - 1) / rows * rows * row, rows * row, width, true};
}

/* The chunk of 16 bytes with an element, and the element's bit in it. */
static inline unsigned chunk_of(const layout *l, unsigned line, unsigned k, const element *e, unsigned *bit) {
  const unsigned per = 128 / e->room, row = l->width == 1 ? 128 : l->width, to_row = row / 16,
                 rows = l->width == 1 ? 4 : 8;
  unsigned at;
  if (!l->across) {
    *bit = k % per * e->bits;
    at = l->start + line / 8 * l->stride + line % 8 * row + k / per * (l->width == 16 ? l->leading : 16);
  } else {
    *bit = line % per * e->bits;
    at = l->width == 16 ? l->start + line / per * l->stride + k / 8 * l->leading + k % 8 * 16
                        : l->start + line / per / to_row * l->leading + line / per % to_row * 16 +
                              k / rows * l->stride + k % rows * row;
  }
  return l->width == 1 ? at ^ (at >> 7 & 3) << 5 : at ^ (at >> 7 & (to_row - 1)) << 4;
}

static inline int element_of_a(const product *p, const matrices *x, unsigned row, unsigned k) {
  return p->sparse ? x->kept[row][k] : x->a[row][k];
}

static inline void put_scale(tc_job *job, unsigned cta, unsigned quarter, unsigned index, unsigned column,
                             unsigned byte, const int *scale, const product *p) {
  uint8_t *to = (uint8_t *)&job->tensor[cta][quarter * 32 + index % 32][column + index / 32] + byte;
  for (unsigned s = 0; s < p->scales; s++)
    to[s] = (uint8_t)(p->ue4m3 ? encode_float(scale[s], 4, 3)
                               : 127 + 31 - (unsigned)__builtin_clz((unsigned)scale[s]));
}

/* What belongs to a lane of D: A of tensor memory, metadata, scale factors. */
static inline void put_lane(const product *p, const matrices *x, tc_job *job, unsigned row, unsigned lane) {
  const unsigned cta = row / (p->m / p->ctas), r = row % (p->m / p->ctas);
  uint8_t *a = (uint8_t *)&job->tensor[cta][lane][A_AT];
  for (unsigned k = 0; p->a_in_tensor && k < kept_of(p); k++)
    put_bits(a, k * p->a->room + (p->a->bits == 4 && p->a->room == 8 ? 2 : 0), p->a->bits,
             encode(p->a, element_of_a(p, x, row, k)));
  for (unsigned g = 0; p->sparse && g < (p->a->room >= 16 ? 8 : 16); g++) {
    if (p->a->room >= 16) {
      uint8_t *to =
          (uint8_t *)&job->tensor[cta][lane / 16 * 16 + lane % 8 + g / 4 * 8][META_AT + p->selector];
      put_bits(to, 16 * (lane / 8 % 2) + g % 4 * 4, 4, x->meta[row][g]);
    } else {
      put_bits((uint8_t *)&job->tensor[cta][lane][META_AT], g * 4, 4, x->meta[row][g]);
    }
  }
  if (p->scales)
    for (unsigned q = 0; q < 4; q++) put_scale(job, cta, q, r, A_SCALE_AT, p->a_byte, x->a_scale[row], p);
}

static inline uint32_t d_bits(const product *p, int64_t v) {
  if (p->sums == 's') return (uint32_t)v;
  return p->sums == 'h' ? encode_float((int)v, 5, 10) : encode_float((int)v, 8, 23);
}

static inline void put_operands(const product *p, const matrices *x, tc_job *job) {
  const unsigned rows = p->m / p->ctas, lines = p->n / p->ctas, columns = p->n / parts_of(p);
  const layout a = layout_of(A_SHARED, p->width_a, p->a_across, rows, kept_of(p), p->a->room),
               b = layout_of(B_SHARED, p->width_b, p->b_across, lines, k_of(p), p->b->room);
  unsigned bit, lane, at;
  for (unsigned row = 0; row < p->m; row++) {
    for (unsigned k = 0; !p->a_in_tensor && k < kept_of(p); k++) {
      const unsigned chunk = chunk_of(&a, row % rows, k, p->a, &bit);
      put_bits(job->shared[row / rows] + chunk, bit, p->a->bits, encode(p->a, element_of_a(p, x, row, k)));
    }
    for (unsigned part = 0; part < parts_of(p); part++) {
      d_place(p, row, part * columns, &lane, &at);
      put_lane(p, x, job, row, lane);
    }
    for (unsigned j = 0; j < p->n; j++) {
      d_place(p, row, j, &lane, &at);
      job->tensor[row / rows][lane][at] = d_bits(p, x->d[row][j]);
    }
  }
  for (unsigned j = 0; j < p->n; j++)
    for (unsigned k = 0; k < k_of(p); k++) {
      const unsigned chunk = chunk_of(&b, j % lines, k, p->b, &bit);
      put_bits(job->shared[j / lines] + chunk, bit, p->b->bits, encode(p->b, x->b[j][k]));
    }
  for (unsigned j = 0; p->scales && j < p->n; j++)
    for (unsigned cta = 0; cta < p->ctas; cta++)
      for (unsigned q = 0; q < 4; q++)
        if (parts_of(p) == 1 || q / 2 == j / columns)
          put_scale(job, cta, q, j % columns, B_SCALE_AT, p->b_byte, x->b_scale[j], p);
  job->value[0] = tc_descriptor(a.start, a.leading, a.stride, a.width);
  job->value[1] = tc_descriptor(b.start, b.leading, b.stride, b.width);
}

static inline uint32_t instruction_of(const product *p) {
  uint32_t d = p->a->code << 7 | p->b->code << 10 | (uint32_t)p->negate_a << 13 |
               (uint32_t)p->negate_b << 14 | (uint32_t)p->a_across << 15 | (uint32_t)p->b_across << 16 |
               p->n / 8 << 17 | p->m / 16 << 24 | (uint32_t)p->sparse << 2 | p->selector;
  if (p->scales) return d | (uint32_t)!p->ue4m3 << 23 | p->b_byte << 4 | p->a_byte << 29;
  return d | (uint32_t)p->saturate << 3 | (p->sums == 'h' ? 0u : p->sums == 'f' ? 1u : 2u) << 4;
}

enum { DISABLED = 0x00f0000f }; /* lanes of each quarter */

static inline void instruction_text(const product *p, hd_buf *text) {
  hd_buf_printf(text,
                "add.u32 %%r20, %%base, %u; add.u32 %%r21, %%base, %u; add.u32 %%r22, %%base, %d;\n"
                "add.u32 %%r23, %%base, %d; add.u32 %%r24, %%base, %d; mov.u32 %%r25, %u;\n",
                D_AT + (p->d_lane << 16), A_AT + (p->d_lane << 16), META_AT, A_SCALE_AT, B_SCALE_AT,
                DISABLED);
  hd_buf_printf(text, "tcgen05.mma%s%s.cta_group::%u%s [%%r20], %s, %%x1, ", p->weights ? ".ws" : "",
                p->sparse ? ".sp" : "", p->ctas, p->words, p->a_in_tensor ? "[%r21]" : "%x0");
  hd_buf_printf(text, "%s%%y2%s, ", p->sparse ? "[%r22], " : "", p->scales ? ", [%r23], [%r24]" : "");
  if (p->disable)
    hd_buf_printf(text, p->ctas == 2 ? "{%%r25, %%r25, %%r25, %%r25, %%r25, %%r25, %%r25, %%r25}, "
                                     : "{%%r25, %%r25, %%r25, %%r25}, ");
  hd_buf_printf(text, p->add ? "%%yes" : "%%no");
  if (p->shrink) hd_buf_printf(text, ", %u", p->shrink);
  hd_buf_printf(text, ";\n");
}

static inline void check_product(const product *p, uint64_t seed, hd_emu_isa isa) {
  matrices *x = malloc(sizeof *x);
  tc_job *job = tc_job_make(p->ctas), *want = tc_job_make(p->ctas);
  hd_buf text = {0};
  make_matrices(p, seed, x);
  put_operands(p, x, job);
  job->value[2] = instruction_of(p);
  memcpy(want->tensor, job->tensor, sizeof job->tensor);
  for (unsigned r = 0; r < p->m; r++)
    for (unsigned j = 0; j < p->n; j++) {
      unsigned lane, at;
      int64_t v = sum_of(p, x, r, j);
      d_place(p, r, j, &lane, &at);
      if (p->disable && DISABLED >> lane % 32 & 1) continue;
      if (p->saturate) v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
      want->tensor[r / (p->m / p->ctas)][lane][at] = d_bits(p, v);
    }
  instruction_text(p, &text);
  tc_run(text.data, job, isa);
  for (unsigned c = 0; c < p->ctas; c++)
    for (unsigned l = 0; l < TC_LANES; l++)
      for (unsigned k = 0; k < TC_COLUMNS; k++)
        if (job->tensor[c][l][k] != want->tensor[c][l][k])
          fail_msg("m %u, n %u, CTA %u, lane %u, column %u: %08x, not %08x: %s", p->m, p->n, c, l, k,
                   job->tensor[c][l][k], want->tensor[c][l][k], text.data);
  hd_buf_free(&text);
  free(x);
  free(job);
  free(want);
}

#endif
