/* emu/num/tcgen05.h: shapes of tcgen05 (sm_100a), and where its matrices lie in tensor and shared memory.
 *
 * Tensor memory has 128 lanes of 512 columns of 32 bits. An address is the lane in bits 16 and up, and the
 * column below. Sources: PTX ISA 9.0, tcgen05: instruction and shared memory descriptors, data path layouts,
 * data movement shapes; where its figures alone say it, the layouts of CUTLASS 4 (include/cute/atom).
 *
 * Each lane of tensor memory belongs to a data path, which reads what it needs of tensor memory in itself or
 * in its group of 16 or 32 lanes. So one rule places all operands: D's lane is given by its row and half
 * (num_tc_lane); A lies in D's lane; scale factors and metadata lie in the group of D's lane. */
#ifndef HEDDLE_EMU_NUM_TCGEN05_H
#define HEDDLE_EMU_NUM_TCGEN05_H

#include "emu/num/wgmma.h"

enum {
  NUM_TC_LANES = 128,
  NUM_TC_COLUMNS = 512,
  NUM_TC_MAX_N = 256,
  NUM_TC_MAX_K = 128,  /* elements, of B where A is sparse */
  NUM_TC_A_BYTES = 32, /* of a row of A, whatever its type: 8 columns of tensor memory */
  NUM_TC_A_COLUMNS = 8,
};

/* ---- Loads and stores of a warp ------------------------------------------------------------- */

typedef enum num_tc_shape {
  NUM_TC_16X64B,
  NUM_TC_16X128B,
  NUM_TC_16X256B,
  NUM_TC_32X32B,
  NUM_TC_16X32BX2, /* the upper 16 threads' columns begin at an offset of their own */
} num_tc_shape;
/* Registers of a thread for .x1; columns of 32 bits of a repetition; the greatest .num. */
unsigned num_tc_regs(num_tc_shape shape);
unsigned num_tc_width(num_tc_shape shape);
unsigned num_tc_most(num_tc_shape shape);
unsigned num_tc_lanes(num_tc_shape shape); /* 16 or 32 */
/* Where register `reg` of a thread lies, from the first lane and column on. `half`: of NUM_TC_16X32BX2. */
void num_tc_place(num_tc_shape shape, unsigned thread, unsigned reg, unsigned half, unsigned *lane,
                  unsigned *column);

/* ---- Products ------------------------------------------------------------------------------- */

typedef enum num_tc_kind {
  NUM_TC_F16,
  NUM_TC_TF32,
  NUM_TC_F8F6F4,
  NUM_TC_I8,
  NUM_TC_MXF8F6F4,
  NUM_TC_MXF4,
  NUM_TC_MXF4NVF4,
} num_tc_kind;

/* What the instruction says itself. */
typedef struct num_tc_form {
  uint8_t kind;         /* num_tc_kind */
  uint8_t ctas;         /* 1 or 2 */
  uint8_t scales;       /* scale factors along K: 0 (no block scaling), 1, 2, 4 */
  bool sparse, weights; /* .sp, .ws */
} num_tc_form;

/* Element types of A and B. */
typedef enum num_tc_type {
  NUM_TC_TYPE_F16,
  NUM_TC_TYPE_BF16,
  NUM_TC_TYPE_TF32,
  NUM_TC_TYPE_E4M3,
  NUM_TC_TYPE_E5M2,
  NUM_TC_TYPE_E2M3,
  NUM_TC_TYPE_E3M2,
  NUM_TC_TYPE_E2M1,   /* one to a byte */
  NUM_TC_TYPE_E2M1X2, /* two to a byte */
  NUM_TC_TYPE_U8,
  NUM_TC_TYPE_S8,
} num_tc_type;

typedef enum num_tc_sums { NUM_TC_SUMS_F16, NUM_TC_SUMS_F32, NUM_TC_SUMS_S32 } num_tc_sums;

/* How D lies in the lanes of a CTA. */
typedef enum num_tc_paths {
  NUM_TC_WHOLE,    /* 128 rows: row r in lane r */
  NUM_TC_SPREAD,   /* 64 rows: 16 in each quarter of the lanes */
  NUM_TC_HALVES,   /* 64 rows in the lower lanes; the upper half of the columns in the upper lanes */
  NUM_TC_QUARTERS, /* 32 rows; a quarter of the columns in each quarter of the lanes */
} num_tc_paths;

typedef struct num_tc_product {
  uint16_t m, n, k;         /* of the whole product; K as B has it */
  uint16_t rows;            /* of a CTA */
  uint16_t b_lines;         /* columns of B in a CTA's shared memory */
  uint16_t kept;            /* elements of a row of A: k, or k / 2 */
  uint8_t a, b;             /* num_tc_type */
  uint8_t sums;             /* num_tc_sums */
  uint8_t paths;            /* num_tc_paths */
  uint8_t b_bytes;          /* of a column of B */
  uint8_t selector;         /* of sparse A's metadata */
  uint8_t scales;           /* scale factors along K */
  uint8_t a_scale, b_scale; /* the byte of a column with the first one */
  bool ue8m0;               /* scale factors; else ue4m3 */
  bool sparse, saturate, negate_a, negate_b, a_mn_major, b_mn_major;
} num_tc_product;

/* From the form and the instruction descriptor; NULL, or why there is no such product. */
const char *num_tc_decode(const num_tc_form *f, uint32_t descriptor, num_tc_product *p);
/* Bits of an element as it lies in shared memory, padding included. */
unsigned num_tc_bits(unsigned type);
/* Of 16 bytes of shared memory, those that hold elements; padding is behind them. */
unsigned num_tc_chunk_bytes(unsigned type);
/* Columns of 32 bits that D takes. */
unsigned num_tc_d_columns(const num_tc_product *p);
/* The lane of D's element in this row of the CTA, and the column, from D's first one on. */
unsigned num_tc_lane(const num_tc_product *p, unsigned row, unsigned column, unsigned *d_column);
/* Lanes of D in use, 16 to a bit. */
unsigned num_tc_groups(const num_tc_product *p);

/* Sparse A: where the metadata of element `kept` of the row in `lane` lies, from the metadata's first column
 * on; and from that word, which k it stands at. */
unsigned num_tc_meta_columns(const num_tc_product *p);
void num_tc_meta_place(const num_tc_product *p, unsigned lane, unsigned kept, unsigned *meta_lane,
                       unsigned *column);
unsigned num_tc_meta_k(const num_tc_product *p, unsigned lane, unsigned kept, uint32_t word);

/* The number that an element's bits stand for. 8 bits: of a byte; E2M1X2: of a nibble. */
float num_tc_value(unsigned type, uint32_t bits);
/* A scale factor. */
double num_tc_scale(bool ue8m0, uint8_t bits);
/* Element k of a line of bytes in shared memory (tensor: in tensor memory), K-major. */
uint32_t num_tc_element(unsigned type, const uint8_t *line, unsigned k, bool tensor);

/* ---- Shared memory -------------------------------------------------------------------------- */

typedef struct num_tc_desc {
  num_wgmma_desc d;
  bool wide; /* the swizzle moves 32 bytes, not 16 */
} num_tc_desc;

/* NULL, or what is wrong with it. */
const char *num_tc_descriptor(uint64_t bits, num_tc_desc *d);
/* Addresses of chunks of 16 bytes: chunk number `chunk` of a row (A) or column (B); MN-major: the chunk
 * number `block` of all rows' (columns') elements at k. UINT32_MAX: the layout does not reach so far. */
uint32_t num_tc_chunk(const num_tc_desc *d, unsigned line, unsigned chunk);
uint32_t num_tc_chunk_mn(const num_tc_desc *d, unsigned k, unsigned block);

/* 16 bytes of padded elements to one byte each, as tensor memory has them. bits: 4 or 6. */
void num_tc_unpad(const uint8_t from[16], unsigned bits, uint8_t to[16]);

#endif
