/* emu/ops/wgmma.c: wgmma.mma_async, fence, commit_group, wait_group.
 *
 * Each warp makes 16 rows of its warpgroup's product. Sums are those of mma: products exact, added
 * in the order of k, each sum rounded to nearest in f32 (num/mma.c says how GPUs differ); .f16
 * results are rounded once more after every product. */
#include "emu/ops/address.h"

enum { ROWS = NUM_WGMMA_ROWS, MAX_N = NUM_WGMMA_MAX_N, K_BYTES = NUM_WGMMA_K_BYTES, CHUNK = 16 };
enum { MAX_CHUNKS = (ROWS + MAX_N) * K_BYTES / CHUNK };

/* The shared addresses of all chunks, A's first, and the bytes. */
typedef struct operands {
  uint32_t n; /* chunks */
  uint32_t at[MAX_CHUNKS];
  uint8_t bytes[MAX_CHUNKS][CHUNK] __attribute__((aligned(64)));
} operands;

/* ---- Reading -------------------------------------------------------------------------------- */

/* Lines [first, first + n) of an operand. K-major: 32 bytes of each line. MN-major: for each k, the
 * lines' elements. */
static void place(operands *o, uint64_t descriptor, bool mn_major, unsigned first, unsigned n) {
  const num_wgmma_desc d = num_wgmma_decode(descriptor);
  if (mn_major) {
    for (unsigned k = 0; k < K_BYTES / 2; k++)
      for (unsigned block = 0; block < n / 8; block++)
        o->at[o->n++] = num_wgmma_chunk_mn(&d, k, first / 8 + block);
  } else {
    for (unsigned line = first; line < first + n; line++)
      for (unsigned half = 0; half < 2; half++) o->at[o->n++] = num_wgmma_chunk(&d, line, half);
  }
}

/* 32 chunks are one access of the warp. */
static bool fetch(emu_warp *w, const emu_inst *i, operands *o) {
  static const emu_locate how = {HD_SPACE_SHARED, CHUNK, CHUNK, HD_CACHE_L1, HD_ACCESS_LOAD};
  for (uint32_t first = 0; first < o->n; first += 32) {
    const uint32_t n = o->n - first < 32 ? o->n - first : 32, lanes = ALL_LANES >> (32 - n);
    uint64_t addr[32] __attribute__((aligned(64))) = {0};
    emu_hosts h;
    for (uint32_t k = 0; k < n; k++) addr[k] = o->at[first + k];
    if (!locate(w, i, lanes, addr, &how, &h)) return false;
    for (uint32_t k = 0; k < n; k++) memcpy(o->bytes[first + k], (const void *)(uintptr_t)h.at[k], CHUNK);
  }
  return true;
}

/* ---- Elements ---------------------------------------------------------------------------------- */

/* Element k of line j goes to to[k * n + j]: loops run along the lines. */
#define DEFINE_ARRANGE(T)                                                                                    \
  static void arrange_##T(const uint8_t *from, bool mn_major, unsigned n, T *restrict to) {                  \
    const unsigned count = K_BYTES / sizeof(T);                                                              \
    if (mn_major) {                                                                                          \
      memcpy(to, from, (size_t)n *K_BYTES);                                                                  \
      return;                                                                                                \
    }                                                                                                        \
    for (unsigned j = 0; j < n; j++)                                                                         \
      for (unsigned k = 0; k < count; k++)                                                                   \
        memcpy(&to[k * n + j], from + j * K_BYTES + k * sizeof(T), sizeof(T));                               \
  }
DEFINE_ARRANGE(uint8_t)
DEFINE_ARRANGE(uint16_t)
DEFINE_ARRANGE(uint32_t)

/* As num_f16_to_f32, with e4m3's bias of 7 and its one NaN. */
INLINE float e4m3_to_f32(uint32_t v) {
  const float magnitude = num_f32((v & 0x7f) << 20) * 0x1p120f;
  return num_f32(num_b32((v & 0x7f) == 0x7f ? NAN : magnitude) ^ (v & 0x80) << 24);
}

/* A whole operand: k rows of n values. */
typedef union values {
  float f[K_BYTES * MAX_N];
  int16_t i[K_BYTES * MAX_N];
  uint32_t bits[K_BYTES / 4 * MAX_N];
} values;

static void unpack(unsigned type, const uint8_t *from, bool mn_major, unsigned n, bool negate, values *to) {
  union {
    uint8_t b[K_BYTES * MAX_N];
    uint16_t h[K_BYTES / 2 * MAX_N];
    uint32_t w[K_BYTES / 4 * MAX_N];
  } raw;
  const unsigned elements = n * K_BYTES;
  const uint32_t sign = negate ? 0x80000000u : 0;
  switch (type) {
  case NUM_MMA_F16:
    arrange_uint16_t(from, mn_major, n, raw.h);
    for (unsigned k = 0; k < elements / 2; k++) to->f[k] = num_f32(num_b32(num_f16_to_f32(raw.h[k])) ^ sign);
    break;
  case NUM_MMA_BF16:
    arrange_uint16_t(from, mn_major, n, raw.h);
    for (unsigned k = 0; k < elements / 2; k++) to->f[k] = num_f32((uint32_t)raw.h[k] << 16 ^ sign);
    break;
  case NUM_MMA_TF32:
    arrange_uint32_t(from, mn_major, n, raw.w);
    for (unsigned k = 0; k < elements / 4; k++) to->f[k] = num_f32((raw.w[k] & 0xffffe000u) ^ sign);
    break;
  case NUM_MMA_E4M3:
    arrange_uint8_t(from, mn_major, n, raw.b);
    for (unsigned k = 0; k < elements; k++) to->f[k] = num_f32(num_b32(e4m3_to_f32(raw.b[k])) ^ sign);
    break;
  case NUM_MMA_E5M2: /* an f16's upper byte */
    arrange_uint8_t(from, mn_major, n, raw.b);
    for (unsigned k = 0; k < elements; k++)
      to->f[k] = num_f32(num_b32(num_f16_to_f32((uint16_t)(raw.b[k] << 8))) ^ sign);
    break;
  case NUM_MMA_S8:
    arrange_uint8_t(from, mn_major, n, raw.b);
    for (unsigned k = 0; k < elements; k++) to->i[k] = (int8_t)raw.b[k];
    break;
  case NUM_MMA_U8:
    arrange_uint8_t(from, mn_major, n, raw.b);
    for (unsigned k = 0; k < elements; k++) to->i[k] = raw.b[k];
    break;
  default: arrange_uint32_t(from, mn_major, n, to->bits); /* b1 */
  }
}

/* A's fragment as lines of 32 bytes: register q of lane l is word l % 4 of the chunk q / 2 of row
 * l / 4 + 8 * (q % 2). */
static void read_fragment(char *r, const uint32_t *slots, uint8_t *lines) {
  for (unsigned q = 0; q < 4; q++) {
    const uint32_t *reg = slot(r, slots[q]);
    for (unsigned l = 0; l < 32; l++)
      memcpy(lines + (size_t)(l / 4 + 8 * (q % 2)) * K_BYTES + (size_t)(q / 2) * CHUNK + (size_t)(l % 4) * 4,
             &reg[l], 4);
  }
}

/* ---- Products ----------------------------------------------------------------------------------- */

static void multiply_floats(const num_wgmma *m, const values *a, const values *b, uint32_t *sums) {
  float row[MAX_N] __attribute__((aligned(64)));
  for (unsigned y = 0; y < ROWS; y++) {
    memcpy(row, sums + (size_t)y * m->n, m->n * sizeof row[0]);
    for (unsigned k = 0; k < m->k; k++) {
      const float x = a->f[k * ROWS + y];
      const float *const line = b->f + (size_t)k * m->n;
      for (unsigned j = 0; j < m->n; j++) row[j] = fused(x, line[j], row[j]);
    }
    if (m->d == NUM_MMA_F16)
      for (unsigned j = 0; j < m->n; j++) row[j] = num_f16_to_f32(num_f32_to_f16(row[j]));
    else
      for (unsigned j = 0; j < m->n; j++) row[j] = canon_f(row[j]);
    memcpy(sums + (size_t)y * m->n, row, m->n * sizeof row[0]);
  }
}

/* The 32 products of bytes fit an int32_t with room. */
static void multiply_integers(const num_wgmma *m, const values *a, const values *b, uint32_t *sums) {
  for (unsigned y = 0; y < ROWS; y++) {
    int32_t row[MAX_N] = {0};
    for (unsigned k = 0; k < m->k; k++)
      for (unsigned j = 0; j < m->n; j++) row[j] += a->i[k * ROWS + y] * b->i[(size_t)k * m->n + j];
    for (unsigned j = 0; j < m->n; j++) {
      uint32_t *const sum = &sums[(size_t)y * m->n + j];
      int64_t x = (int64_t)(int32_t)*sum + row[j];
      if (m->satfinite) x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
      *sum = (uint32_t)x;
    }
  }
}

static void multiply_bits(const num_wgmma *m, const values *a, const values *b, uint32_t *sums) {
  for (unsigned y = 0; y < ROWS; y++)
    for (unsigned k = 0; k < m->k / 32u; k++)
      for (unsigned j = 0; j < m->n; j++)
        sums[(size_t)y * m->n + j] +=
            (uint32_t)__builtin_popcount(a->bits[k * ROWS + y] & b->bits[(size_t)k * m->n + j]);
}

/* ---- Handlers ----------------------------------------------------------------------------------- */

static bool check_warpgroup(emu_warp *w, const emu_inst *i, uint32_t mask) {
  const uint32_t *block = emu_warp_launch(w)->block;
  const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
  if (mask != ALL_LANES) {
    emu_fault(w, i, mask, HD_FAULT_OTHER, "not all threads of the warp take part");
    return false;
  }
  if ((w->index / 4 + 1) * 128 > threads) {
    emu_fault(w, i, mask, HD_FAULT_OTHER, "warp %u is in no whole warpgroup: the CTA has %u threads",
              w->index, (unsigned)threads);
    return false;
  }
  return true;
}

/* A descriptor or predicate that all threads must agree on. */
static bool read_descriptor(emu_warp *w, const emu_inst *i, char *r, uint32_t s, uint64_t *descriptor) {
  const uint64_t *d = slot(r, s);
  uint64_t differs = 0;
  LANE_LOOP differs |= d[l] ^ d[0];
  *descriptor = d[0];
  if (differs) emu_fault(w, i, ALL_LANES, HD_FAULT_OTHER, "the threads' matrix descriptors differ");
  return !differs;
}

HANDLER(wgmma_mma) {
  const emu_wgmma *x = i->extra;
  const num_wgmma *m = &x->m;
  const uint32_t scale = get_pred(r, x->scale_slot) ^ (x->scale_neg ? ALL_LANES : 0);
  uint64_t a_desc = 0, b_desc;
  operands o = {.n = 0};
  if (!check_warpgroup(w, i, mask)) return;
  if (scale != 0 && scale != ALL_LANES) {
    emu_fault(w, i, mask, HD_FAULT_OTHER, "the threads' scale-d predicates differ");
    return;
  }
  if ((!x->a_in_regs && !read_descriptor(w, i, r, x->a_desc, &a_desc)) ||
      !read_descriptor(w, i, r, x->b_desc, &b_desc))
    return;
  if (!x->a_in_regs) place(&o, a_desc, x->a_mn_major, w->index % 4 * ROWS, ROWS);
  const uint32_t b_first = o.n;
  place(&o, b_desc, x->b_mn_major, 0, m->n);
  if (!fetch(w, i, &o)) return;

  uint32_t *const sums = emu_wgmma_begin(w, i, &x->d, (const uint64_t[2]){a_desc, b_desc});
  if (!sums || emu_skips_products(w) || !emu_wgmma_reads(w, i, o.at, o.n, x->a_in_regs ? x->a_slot : NULL))
    return;
  values a, b;
  uint8_t lines[ROWS * K_BYTES];
  if (x->a_in_regs) read_fragment(r, x->a_slot, lines);
  unpack(m->a, x->a_in_regs ? lines : o.bytes[0], x->a_mn_major, ROWS, x->negate_a, &a);
  unpack(m->b, o.bytes[b_first], x->b_mn_major, m->n, x->negate_b, &b);
  if (!scale) memset(sums, 0, (size_t)ROWS * m->n * sizeof *sums);
  if (num_wgmma_is_float(m))
    multiply_floats(m, &a, &b, sums);
  else if (m->a == NUM_MMA_B1)
    multiply_bits(m, &a, &b, sums);
  else
    multiply_integers(m, &a, &b, sums);
}

HANDLER(wgmma_fence) {
  if (check_warpgroup(w, i, mask)) emu_wgmma_fence(w, i);
}
HANDLER(wgmma_commit) {
  if (check_warpgroup(w, i, mask)) emu_wgmma_commit(w);
}
HANDLER(wgmma_wait) {
  if (check_warpgroup(w, i, mask)) emu_wgmma_wait(w, i, (uint32_t)i->imm);
}

const emu_op EMU_OPS(wgmma)[] = {{"wgmma.mma_async", "", wgmma_mma},
                                 {"wgmma.fence", "", wgmma_fence},
                                 {"wgmma.commit_group", "", wgmma_commit},
                                 {"wgmma.wait_group", "", wgmma_wait},
                                 {0}};
