/* emu/ops/tcgen05.c: tcgen05.mma.
 *
 * Sums are those of mma: products exact, added in the order of k, each sum rounded to nearest in f32
 * (num/mma.c says how GPUs differ); f16 results are rounded once more after every product. With block scaling
 * each term is a * scale of a * b * scale of b, exact in f64. */
#include "emu/machine/cluster.h"
#include "emu/machine/tmem.h"
#include "emu/ops/address.h"

#include <stdlib.h>

enum {
  LANES = NUM_TC_LANES,
  MAX_N = NUM_TC_MAX_N,
  MAX_K = NUM_TC_MAX_K,
  CHUNK = 16,
  MAX_CHUNKS = 1024, /* of an operand in one CTA */
  MAX_SCALES = 4,
  QUARTERS = 4,
};

/* A product that has been issued. */
typedef struct product {
  const emu_tmem_mma *x;
  num_tc_product p;
  unsigned n_ctas;
  hd_emu_cta *ctas[2];
  unsigned lane;                         /* D's and A's first one */
  unsigned d, a, meta, a_scale, b_scale; /* first columns */
  bool add;
  uint32_t disabled[2][4]; /* lanes */
} product;

/* Its operands as numbers. A: of each lane of D. Scale factors: of a lane, of a column of D in a quarter of
 * the lanes. */
typedef struct numbers {
  float a[2][MAX_K / 2][LANES];
  float b[MAX_K][MAX_N];
  double a_scale[2][LANES][MAX_SCALES];
  double b_scale[2][QUARTERS][MAX_N][MAX_SCALES];
} numbers;

/* ---- Elements ------------------------------------------------------------------------------- */

typedef struct decoder {
  unsigned type, bits;
  bool negate;
  float table[256]; /* types of up to 8 bits */
} decoder;

static void make_decoder(decoder *d, unsigned type, bool negate) {
  d->type = type;
  d->bits = num_tc_bits(type);
  d->negate = negate;
  for (unsigned v = 0; d->bits <= 8 && v < 256; v++) d->table[v] = num_tc_value(type, v);
}

INLINE float value_of(const decoder *d, uint32_t bits) {
  float v;
  if (d->bits <= 8)
    v = d->table[bits & 255];
  else if (d->type == NUM_TC_TYPE_F16)
    v = num_f16_to_f32((uint16_t)bits);
  else if (d->type == NUM_TC_TYPE_BF16)
    v = num_bf16_to_f32((uint16_t)bits);
  else
    v = num_f32(bits & 0xffffe000u);
  return d->negate ? -v : v;
}

/* An operand of one CTA: so many lines, so many elements along K. */
typedef struct operand {
  bool mn_major;
  unsigned lines, count, bytes; /* of a line along K */
} operand;

static unsigned blocks_of(const operand *o, unsigned bits) {
  const unsigned per = CHUNK * 8 / bits;
  return (o->lines + per - 1) / per;
}

/* Element k of a line, whose chunks begin at `from`. */
INLINE uint32_t element_of(const decoder *d, const operand *o, const char *const *from, unsigned line,
                           unsigned k) {
  if (o->mn_major) {
    const unsigned per = CHUNK * 8 / d->bits, size = d->bits / 8;
    uint32_t v = 0;
    memcpy(&v, from[k * blocks_of(o, d->bits) + line / per] + (size_t)(line % per) * size, size);
    return v;
  }
  const unsigned per = d->bits == 4 ? 2 * CHUNK : CHUNK * 8 / d->bits;
  const char *const chunk = from[line * (o->bytes / CHUNK) + k / per];
  return num_tc_element(d->type, (const uint8_t *)chunk, k % per, false);
}

/* ---- Reading operands ----------------------------------------------------------------------- */

static operand operand_a(const num_tc_product *p) {
  return (operand){p->a_mn_major, p->rows, p->kept, NUM_TC_A_BYTES};
}
static operand operand_b(const num_tc_product *p) {
  return (operand){p->b_mn_major, p->b_lines, p->k, p->b_bytes};
}

/* The addresses of an operand's chunks; 0 after a fault. */
static uint32_t place(const emu_tmem_op *op, uint64_t descriptor, unsigned type, const operand *o,
                      uint32_t at[MAX_CHUNKS]) {
  num_tc_desc d;
  uint32_t n = 0;
  const char *why = num_tc_descriptor(descriptor, &d);
  const unsigned outer = o->mn_major ? o->count : o->lines,
                 inner = o->mn_major ? blocks_of(o, num_tc_bits(type)) : o->bytes / CHUNK;
  for (unsigned y = 0; !why && y < outer; y++)
    for (unsigned x = 0; !why && x < inner; x++) {
      at[n] = o->mn_major ? num_tc_chunk_mn(&d, y, x) : num_tc_chunk(&d, y, x);
      if (at[n] >> EMU_RANK_SHIFT) why = "the layout does not reach as far as the matrix";
      n++;
    }
  if (!why) return n;
  emu_fault(op->w, op->i, 1u << op->lane, HD_FAULT_OTHER, "shared memory descriptor: %s", why);
  return 0;
}

static bool fetch(emu_tmem_op *op, const product *m, unsigned cta, uint64_t descriptor, unsigned type,
                  const operand *o) {
  uint32_t at[MAX_CHUNKS];
  const uint32_t n = place(op, descriptor, type, o, at);
  if (m->n_ctas == 2)
    for (uint32_t k = 0; k < n; k++) at[k] = (uint32_t)emu_ranked(at[k], m->ctas[cta]->rank);
  return n && emu_tmem_shared(op, at, n, num_tc_chunk_bytes(type));
}

/* The lanes of D that a row has, one after the other. */
INLINE unsigned lane_of(const product *m, unsigned row, unsigned part) {
  unsigned column;
  return m->lane + num_tc_lane(&m->p, row, part * num_tc_d_columns(&m->p), &column);
}
static unsigned parts_of(const num_tc_product *p) { return p->n / num_tc_d_columns(p); }

static void read_a(const product *m, unsigned cta, const char *const *from, numbers *to) {
  const num_tc_product *p = &m->p;
  const operand o = operand_a(p);
  decoder d;
  make_decoder(&d, p->a, p->negate_a);
  for (unsigned part = 0; part < parts_of(p); part++)
    for (unsigned row = 0; row < p->rows; row++) {
      const unsigned lane = lane_of(m, row, part);
      uint8_t bytes[NUM_TC_A_BYTES];
      if (m->x->a_in_tensor) memcpy(bytes, emu_tmem_row(m->ctas[cta], lane) + m->a, sizeof bytes);
      for (unsigned k = 0; k < p->kept; k++) {
        const uint32_t v =
            m->x->a_in_tensor ? num_tc_element(p->a, bytes, k, true) : element_of(&d, &o, from, row, k);
        to->a[cta][k][lane] = value_of(&d, v);
      }
    }
}

static void read_b(const product *m, unsigned cta, const char *const *from, numbers *to) {
  const num_tc_product *p = &m->p;
  const operand o = operand_b(p);
  decoder d;
  make_decoder(&d, p->b, p->negate_b);
  for (unsigned line = 0; line < p->b_lines; line++)
    for (unsigned k = 0; k < p->k; k++)
      to->b[k][cta * p->b_lines + line] = value_of(&d, element_of(&d, &o, from, line, k));
}

/* Factor number `index` lies in lane index % 32 of each quarter, in column index / 32. */
static void read_factors(const product *m, unsigned cta, unsigned quarter, unsigned column, unsigned byte,
                         unsigned index, double to[MAX_SCALES]) {
  const uint32_t word = emu_tmem_row(m->ctas[cta], quarter * 32 + index % 32)[column + index / 32];
  for (unsigned k = 0; k < m->p.scales; k++)
    to[k] = num_tc_scale(m->p.ue8m0, (uint8_t)(word >> 8 * (byte + k)));
}

static void read_scales(const product *m, unsigned cta, numbers *to) {
  const num_tc_product *p = &m->p;
  for (unsigned part = 0; part < parts_of(p); part++)
    for (unsigned row = 0; row < p->rows; row++) {
      const unsigned lane = lane_of(m, row, part);
      read_factors(m, cta, lane / 32, m->a_scale, p->a_scale, row, to->a_scale[cta][lane]);
    }
  for (unsigned q = 0; q < QUARTERS; q++)
    for (unsigned j = 0; j < num_tc_d_columns(p); j++)
      read_factors(m, cta, q, m->b_scale, p->b_scale, j, to->b_scale[cta][q][j]);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* Which row of B meets element `kept` of A. */
static unsigned k_of(const product *m, unsigned cta, unsigned lane, unsigned kept) {
  unsigned at = 0, column = 0;
  if (!m->p.sparse) return kept;
  num_tc_meta_place(&m->p, lane, kept, &at, &column);
  return num_tc_meta_k(&m->p, lane, kept, emu_tmem_row(m->ctas[cta], at)[m->meta + column]);
}

/* Add to the sums of one lane, whose columns of B begin at `first`. */
static void add_plain(const product *m, const numbers *v, unsigned cta, unsigned lane, unsigned first,
                      float *restrict sums) {
  const unsigned columns = num_tc_d_columns(&m->p);
  for (unsigned k = 0; k < m->p.kept; k++) {
    const float x = v->a[cta][k][lane];
    const float *const line = v->b[k_of(m, cta, lane, k)] + first;
    for (unsigned j = 0; j < columns; j++) sums[j] = fused(x, line[j], sums[j]);
  }
}

static void add_scaled(const product *m, const numbers *v, unsigned cta, unsigned lane, unsigned first,
                       float *restrict sums) {
  const unsigned columns = num_tc_d_columns(&m->p), block = m->p.k / m->p.scales;
  for (unsigned kept = 0; kept < m->p.kept; kept++) {
    const unsigned k = k_of(m, cta, lane, kept), s = k / block;
    const double x = v->a[cta][kept][lane] * v->a_scale[cta][lane][s];
    const double(*const scale)[MAX_SCALES] = v->b_scale[cta][lane / 32];
    for (unsigned j = 0; j < columns; j++)
      sums[j] = (float)(sums[j] + x * (v->b[k][first + j] * scale[j][s]));
  }
}

static float start_of(const product *m, uint32_t d) {
  if (!m->add || m->p.sums == NUM_TC_SUMS_S32) return 0;
  const float v = m->p.sums == NUM_TC_SUMS_F16 ? num_f16_to_f32((uint16_t)d) : num_f32(d);
  return v * num_f32((127u - m->x->shrink) << 23);
}

/* Sums of bytes are exact: 128 products fit the 24 bits of a float. */
static uint32_t end_of(const product *m, float sum, uint32_t d) {
  if (m->p.sums == NUM_TC_SUMS_F16) return num_f32_to_f16(sum);
  if (m->p.sums == NUM_TC_SUMS_F32) return num_b32(canon_f(sum));
  int64_t x = (m->add ? (int32_t)d : 0) + (int64_t)sum;
  if (m->p.saturate) x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
  return (uint32_t)x;
}

static void multiply(const product *m, const numbers *v, unsigned cta) {
  const num_tc_product *p = &m->p;
  const unsigned columns = num_tc_d_columns(p);
  float sums[MAX_N] __attribute__((aligned(64))) = {0};
  for (unsigned part = 0; part < parts_of(p); part++)
    for (unsigned row = 0; row < p->rows; row++) {
      const unsigned lane = lane_of(m, row, part);
      uint32_t *const d = emu_tmem_row(m->ctas[cta], lane) + m->d;
      if (m->disabled[cta][lane / 32] >> lane % 32 & 1) continue;
      for (unsigned j = 0; j < columns; j++) sums[j] = start_of(m, d[j]);
      if (p->scales)
        add_scaled(m, v, cta, lane, part * columns, sums);
      else
        add_plain(m, v, cta, lane, part * columns, sums);
      for (unsigned j = 0; j < columns; j++) d[j] = end_of(m, sums[j], d[j]);
    }
}

static bool run_product(emu_tmem_op *op) {
  const product *m = op->what;
  if (emu_skips_products(op->w)) return true;
  numbers *v = emu_tmem_room(op->w->cta, sizeof *v);
  if (!v) {
    emu_nomem_at((emu_mwarp *)op->w, op->code, op->i, 1u << op->lane, "out of memory for a product");
    return false;
  }
  const char *const *from = op->chunk;
  const uint32_t both = op->n_chunks / m->n_ctas;
  const operand o = operand_a(&m->p);
  const uint32_t of_a = m->x->a_in_tensor ? 0
                        : o.mn_major      ? o.count * blocks_of(&o, num_tc_bits(m->p.a))
                                          : o.lines * (o.bytes / CHUNK);
  for (unsigned c = 0; c < m->n_ctas; c++) {
    read_a(m, c, from + c * both, v);
    read_b(m, c, from + c * both + of_a, v);
    if (m->p.scales) read_scales(m, c, v);
  }
  for (unsigned c = 0; c < m->n_ctas; c++) multiply(m, v, c);
  return true;
}

/* ---- Issue ---------------------------------------------------------------------------------- */

/* Lane 0, or why not; the column. */
static const char *first_column(const char *r, const emu_pointer *at, unsigned lane, unsigned *column) {
  const uint32_t address = (uint32_t)emu_pointer_at(r, at, lane);
  *column = emu_tmem_column(address);
  return emu_tmem_lane(address) ? "scale factors and metadata begin in lane 0" : NULL;
}

/* Addresses and descriptors of a thread; NULL, or what is wrong with them. */
static const char *read_operands(const char *r, unsigned lane, product *m) {
  const emu_tmem_mma *x = m->x;
  const uint32_t d = (uint32_t)emu_pointer_at(r, &x->d, lane);
  const char *why = num_tc_decode(&x->form, emu_lane_u32(r, x->desc_slot, lane), &m->p);
  if (why) return why;
  m->lane = emu_tmem_lane(d);
  m->d = emu_tmem_column(d);
  m->add = (emu_lane_u32(r, x->add_slot, 0) >> lane & 1) ^ x->add_neg;
  if (m->lane && (m->lane != 16 || m->p.paths != NUM_TC_SPREAD)) return "D begins in another lane than 0";
  if (x->a_in_tensor) {
    const uint32_t a = (uint32_t)emu_pointer_at(r, &x->a, lane);
    m->a = emu_tmem_column(a);
    if (m->p.a_mn_major) return "A of tensor memory is not transposed";
    if (emu_tmem_lane(a) != m->lane) return "A and D begin in different lanes";
  }
  if (x->form.sparse) why = first_column(r, &x->meta, lane, &m->meta);
  if (x->form.scales && !why) why = first_column(r, &x->a_scale, lane, &m->a_scale);
  if (x->form.scales && !why) why = first_column(r, &x->b_scale, lane, &m->b_scale);
  for (unsigned k = 0; k < x->n_disabled; k++)
    m->disabled[k / 4][k % 4] = emu_lane_u32(r, x->disabled[k], lane);
  return why;
}

static bool reach(emu_tmem_op *op, const product *m, unsigned c) {
  const num_tc_product *p = &m->p;
  hd_emu_cta *cta = m->ctas[c];
  const unsigned groups = num_tc_groups(p) << m->lane / 16, d_columns = num_tc_d_columns(p);
  return emu_tmem_writes(op, cta, groups, m->d, d_columns) &&
         (!m->x->a_in_tensor || emu_tmem_reads(op, cta, groups, m->a, NUM_TC_A_COLUMNS)) &&
         (!p->sparse || emu_tmem_reads(op, cta, 0xff, m->meta + p->selector, num_tc_meta_columns(p))) &&
         (!p->scales || (emu_tmem_reads(op, cta, 0xff, m->a_scale, (p->rows + 31u) / 32) &&
                         emu_tmem_reads(op, cta, 0xff, m->b_scale, (d_columns + 31) / 32)));
}

static bool issue(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_tmem_mma *x = i->extra;
  product *m = calloc(1, sizeof *m);
  emu_tmem_op op = {.run = run_product, .w = w, .i = i, .lane = lane, .what = m};
  if (!m) {
    emu_nomem(w, i, 1u << lane, "an operation in flight");
    return false;
  }
  m->x = x;
  const char *why = read_operands(r, lane, m);
  if (why) emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "descriptor or address: %s", why);
  if (!why && x->zeros_slot != EMU_NO_SLOT && emu_lane_u64(r, x->zeros_slot, lane)) {
    why = "zeros";
    emu_fault(w, i, 1u << lane, HD_FAULT_NOT_EMULATED, "a mask of zero columns is not emulated");
  }
  bool ok = !why && (m->n_ctas = emu_tmem_ctas(w, i, lane, x->form.ctas, m->ctas));
  for (unsigned c = 0; ok && c < m->n_ctas; c++) {
    const operand a = operand_a(&m->p), b = operand_b(&m->p);
    ok = reach(&op, m, c) &&
         (x->a_in_tensor || fetch(&op, m, c, emu_lane_u64(r, x->a_slot, lane), m->p.a, &a)) &&
         fetch(&op, m, c, emu_lane_u64(r, x->b_slot, lane), m->p.b, &b);
  }
  if (ok) return emu_tmem_issue(&op);
  emu_tmem_forget(&op);
  return false;
}

/* Each thread issues a product of its own. */
HANDLER(tcgen05_mma) {
  FOR_LANES(l, mask) {
    if (!issue(w, i, r, l)) return;
  }
}

const emu_op EMU_OPS(tcgen05)[] = {{"tcgen05.mma", "", tcgen05_mma}, {0}};
