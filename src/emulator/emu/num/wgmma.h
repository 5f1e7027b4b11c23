/* emu/num/wgmma.h: shapes of wgmma.mma_async, and where its operands lie in shared memory.
 *
 * A warpgroup's product is 64 x n x k, where k elements are always 32 bytes; each of its four
 * warps makes 16 rows of it. Operands in shared memory are made of chunks of 16 bytes, which a matrix
 * descriptor places (PTX ISA, "Matrix Descriptor Format" and "Canonical Layouts").
 */
#ifndef HEDDLE_EMU_NUM_WGMMA_H
#define HEDDLE_EMU_NUM_WGMMA_H

#include "emu/num/num.h"

enum { NUM_WGMMA_ROWS = 16, NUM_WGMMA_MAX_N = 256, NUM_WGMMA_K_BYTES = 32 };

typedef struct num_wgmma {
  uint16_t m, n, k;
  uint8_t d, a, b; /* num_mma_type */
  bool satfinite;
} num_wgmma;

/* Whether the PTX ISA has such a form: all dense ones of sm_90a. A and B of b1 are combined by and. */
bool num_wgmma_valid(const num_wgmma *m);
/* Bits of an element of A and B. */
unsigned num_wgmma_bits(const num_wgmma *m);
/* Whether the elements are floating-point numbers, which may be negated. */
bool num_wgmma_is_float(const num_wgmma *m);

typedef struct num_wgmma_desc {
  uint32_t start, leading, stride; /* bytes */
  uint32_t width;                  /* of the swizzled rows: 16 (no swizzle), 32, 64, 128 bytes */
  uint32_t base_offset;            /* 0 to 7 rows of 128 bytes */
} num_wgmma_desc;

num_wgmma_desc num_wgmma_decode(uint64_t descriptor);

/* Shared address of a chunk. K-major: chunk 0 or 1 of row (A) or column (B) `line`. */
uint32_t num_wgmma_chunk(const num_wgmma_desc *d, unsigned line, unsigned chunk);
/* MN-major, for 16-bit elements: the eight elements at `k` of the rows (columns) from 8 * block on. */
uint32_t num_wgmma_chunk_mn(const num_wgmma_desc *d, unsigned k, unsigned block);

#endif
