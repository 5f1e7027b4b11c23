/* emu/num/wgmma.c: the shapes and the shared memory layouts of warpgroup products. */
#include "emu/num/wgmma.h"

/* ---- Forms ----------------------------------------------------------------------------- */

typedef struct family {
  uint8_t bits;
  bool is_float;
  bool sums[NUM_MMA_F32 + 1]; /* types of D */
} family;

static const family halves = {16, true, {[NUM_MMA_F16] = true, [NUM_MMA_F32] = true}},
                    wide = {16, true, {[NUM_MMA_F32] = true}},
                    tensor_floats = {32, true, {[NUM_MMA_F32] = true}},
                    bytes = {8, true, {[NUM_MMA_F16] = true, [NUM_MMA_F32] = true}},
                    integers = {8, false, {[NUM_MMA_S32] = true}},
                    single_bits = {1, false, {[NUM_MMA_S32] = true}};

/* A and B are of one family. */
static const family *const families[NUM_MMA_F32 + 1] = {
    [NUM_MMA_F16] = &halves,  [NUM_MMA_BF16] = &wide,      [NUM_MMA_TF32] = &tensor_floats,
    [NUM_MMA_E4M3] = &bytes,  [NUM_MMA_E5M2] = &bytes,     [NUM_MMA_S8] = &integers,
    [NUM_MMA_U8] = &integers, [NUM_MMA_B1] = &single_bits,
};

bool num_wgmma_valid(const num_wgmma *m) {
  if (m->a > NUM_MMA_F32 || m->b > NUM_MMA_F32 || m->d > NUM_MMA_F32) return false;
  const family *f = families[m->a];
  if (!f || f != families[m->b] || !f->sums[m->d]) return false;
  if (m->m != 64 || m->k != NUM_WGMMA_K_BYTES * 8 / f->bits) return false;
  if (m->satfinite && f != &integers) return false;
  if (m->n == 0 || m->n > NUM_WGMMA_MAX_N || m->n % 8) return false;
  return f->is_float || m->n <= 32 || m->n % 16 == 0;
}

unsigned num_wgmma_bits(const num_wgmma *m) { return families[m->a]->bits; }
bool num_wgmma_is_float(const num_wgmma *m) { return families[m->a]->is_float; }

/* ---- Matrix descriptors ------------------------------------------------------------------ */

/* A field of 14 bits, in units of 16 bytes. */
static uint32_t bytes_at(uint64_t descriptor, unsigned bit) {
  return (uint32_t)(descriptor >> bit & 0x3fff) << 4;
}

num_wgmma_desc num_wgmma_decode(uint64_t descriptor) {
  static const uint8_t widths[4] = {16, 128, 64, 32};
  return (num_wgmma_desc){.start = bytes_at(descriptor, 0),
                          .leading = bytes_at(descriptor, 16),
                          .stride = bytes_at(descriptor, 32),
                          .width = widths[descriptor >> 62],
                          .base_offset = (uint32_t)(descriptor >> 49 & 7)};
}

/* The chunk's number in its row of 128 bytes is exclusive-ored with the row's number in the pattern, which
 * repeats every eight rows of `width` bytes. The address itself gives the row; the base offset is the first
 * row of a pattern that does not begin at a multiple of its own size. */
static uint32_t swizzle(const num_wgmma_desc *d, uint32_t address) {
  const uint32_t row = (address >> 7) - d->base_offset;
  return address ^ (row & (d->width / 16 - 1)) << 4;
}

uint32_t num_wgmma_chunk(const num_wgmma_desc *d, unsigned line, unsigned chunk) {
  const uint32_t across = d->width == 16 ? d->leading : 16;
  return swizzle(d, d->start + line / 8 * d->stride + line % 8 * d->width + chunk * across);
}

uint32_t num_wgmma_chunk_mn(const num_wgmma_desc *d, unsigned k, unsigned block) {
  if (d->width == 16) return d->start + block * d->stride + k / 8 * d->leading + k % 8 * 16;
  const unsigned blocks = d->width / 16; /* to a row of the pattern */
  return swizzle(d, d->start + block / blocks * d->leading + block % blocks * 16 + k / 8 * d->stride +
                        k % 8 * d->width);
}
