/* emu/num/num.h: PTX arithmetic on single values and matrix fragments.
 *
 * Pure functions: the result of one lane's conversion, half-precision or approximate
 * instruction, bit for bit as the PTX ISA documents it (approximate ones within their
 * documented error). Vector loops, predication and operands are the interpreter's
 * business.
 *
 * Random programs compare these functions with a GPU (sm_90). Where the GPU departs from the ISA, the
 * functions do as the GPU does: cvt.rp.ftz.f16.f32 and .rm do not flush their source;
 * cp.reduce.async.bulk.add.f32 flushes nothing; sums of f64 in global memory hand on a signalling NaN;
 * cvt.rna.satfinite.tf32 takes NaN one step towards zero, which may make it finite; cvt.f32.f32 without
 * modifiers copies. Two kinds of results agree within bounds only: those of approximate instructions
 * (num/approx.c; ex2.approx.f16 below 2^-14 within one step) and inexact tensor core sums (num/mma.c).
 * Compilers decide two more things either way: which of several NaN operands an f64 result shows, and whether
 * abs, neg, min and max of a NaN make it canonical. docs/difftest.md has all of it in tables.
 */
#ifndef HEDDLE_EMU_NUM_H
#define HEDDLE_EMU_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float num_f32(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}
static inline uint32_t num_b32(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}
static inline double num_f64(uint64_t b) {
  double f;
  memcpy(&f, &b, 8);
  return f;
}
static inline uint64_t num_b64(double f) {
  uint64_t b;
  memcpy(&b, &f, 8);
  return b;
}

/* .ftz on an f32 operand: a subnormal becomes zero of its sign. */
static inline float num_ftz(float x) {
  uint32_t b = num_b32(x);
  return b & 0x7f800000u ? x : num_f32(b & 0x80000000u);
}
/* .sat on an exact value: clamps to [0, 1], NaN and -0 give +0. Commutes with rounding. */
static inline double num_sat(double x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
/* .relu on an exact value: negative and -0 give +0, NaN stays NaN. Commutes with rounding. */
static inline double num_relu(double x) { return x <= 0 ? 0 : x; }

/* ---- Rounding modes ------------------------------------------------------ */
/* Stochastic rounding (.rs) has random bits: num_from_f32_stochastic. */
typedef enum num_round {
  NUM_RN = 0, /* .rn .rni: nearest, ties to even */
  NUM_RZ,     /* .rz .rzi: towards zero */
  NUM_RM,     /* .rm .rmi: towards minus infinity */
  NUM_RP,     /* .rp .rpi: towards plus infinity */
  NUM_RNA,    /* .rna: nearest, ties away from zero */
} num_round;

/* ---- Formats ------------------------------------------------------------- */
/* A value sits in the low bits of its pattern; tf32 is an f32 pattern whose low
 * 13 bits are ignored when read and zero when written. */
typedef enum num_fmt {
  NUM_F16 = 0,
  NUM_BF16,
  NUM_TF32,
  NUM_F32,
  NUM_F64,
  NUM_E4M3,
  NUM_E5M2,
  NUM_E2M3,
  NUM_E3M2,
  NUM_E2M1,
  NUM_UE8M0,
} num_fmt;

/* To double, exactly (every format fits). A NaN keeps its payload. */
double num_to_f64(num_fmt f, uint64_t bits);
/* From a double that holds the exact value, rounded once. satfinite: overflow
 * and infinity become the greatest finite value (NaN: the format's NaN). ftz:
 * subnormal results become signed zero. NaN gives the canonical one (f16 and bf16
 * 0x7fff, tf32 0x7fffe000, f32 0x7fffffff, e4m3 and e5m2 0x7f, ue8m0 0xff); to f64 it
 * keeps its payload and is made quiet. e2m1, e2m3 and e3m2 hold neither NaN nor
 * infinity: they always saturate, and NaN gives the greatest finite value. ue8m0 knows
 * .rz and .rp and ignores the sign. */
uint64_t num_from_f64(num_fmt f, double x, num_round r, bool satfinite, bool ftz);
/* From f32, rounded to one of the two neighbours in the format (f16, bf16, or one of 8 bits and fewer): the
 * random number of n bits, of which one unit is 2^-n of the last place, is added to the magnitude, and what
 * lies below the last place is cut off. satfinite, overflow and NaN as above. */
uint32_t num_from_f32_stochastic(num_fmt f, float x, uint32_t random, unsigned n, bool satfinite);
/* The fast common cases: to f32 (as num_from_f64 does, in any mode); from f32 to f16 and
 * bf16, rounded to nearest even, and back. The latter have no branches and stand here for
 * the sake of loops over lanes. */
float num_f64_to_f32(double x, num_round r, bool ftz);
static inline uint16_t num_f32_to_f16(float x) {
  uint32_t b = num_b32(x), sign = b >> 16 & 0x8000u, magnitude = b & 0x7fffffffu;
  /* Normal f16 results: rebias the exponent and round by adding just under half, plus
   * one when the kept bit is odd. A carry runs into the exponent, up to infinity. */
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  /* Subnormal ones: the f16 quantum 2^-24 is the last bit of 0.5f, so that the sum rounds there. */
  uint32_t subnormal = num_b32(num_f32(magnitude) + 0.5f) - num_b32(0.5f);
  uint32_t h = magnitude < (113u << 23) ? subnormal : normal;
  h = magnitude >= 0x47800000u ? 0x7c00u : h; /* 65536 and more; below it, normal rounds to infinity itself */
  return magnitude > 0x7f800000u ? 0x7fff : (uint16_t)(h | sign);
}
static inline uint16_t num_f32_to_bf16(float x) {
  uint32_t b = num_b32(x);
  uint32_t rounded = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
  return (b & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (uint16_t)rounded;
}
static inline float num_f16_to_f32(uint16_t h) {
  /* The f16 fields, moved to f32's place, read as a value 2^112 too small, subnormals
   * included; multiplying is exact. Infinity and NaN then get f32's exponent. */
  uint32_t magnitude = h & 0x7fffu;
  uint32_t scaled = num_b32(num_f32(magnitude << 13) * 0x1p112f);
  uint32_t special = magnitude > 0x7c00u ? 0x7fffffffu : 0x7f800000u;
  uint32_t sign = magnitude > 0x7c00u ? 0 : (uint32_t)(h & 0x8000u) << 16;
  return num_f32((magnitude < 0x7c00u ? scaled : special) | sign);
}
static inline float num_bf16_to_f32(uint16_t h) {
  return num_f32((uint32_t)h << 16); /* a NaN gives an unspecified NaN: here, as on GPUs, its own bits */
}

/* ---- cvt between integers and floats ------------------------------------- */
/* Float to integer of `bits` width (8..64), signed or not: rounded, clamped to
 * the range; NaN gives what the PTX ISA says for the pair of formats. The
 * result is sign- or zero-extended to 64 bits. src_fmt tells which NaN rule holds. */
uint64_t num_float_to_int(num_fmt src_fmt, double x, unsigned bits, bool is_signed, num_round r);
/* Integer (already extended to 64 bits) to float, rounded once. */
uint64_t num_int_to_float(num_fmt f, uint64_t v, bool is_signed, num_round r);
/* Round a float to an integral float value (cvt.rni.f32.f32 and the like). */
double num_round_integral(double x, num_round r);

/* ---- f32 / f64 arithmetic with directed rounding ------------------------- */
/* op: '+', '-', '*', '/', 'f' (fma a*b+c), 's' (sqrt a), 'r' (1/a). Rounded once in
 * the mode (not NUM_RNA). NaN results of f32 are 0x7fffffff; f64 hands on the payload of
 * a NaN operand, made quiet (of several: b, then c, then a; a before b in '/'), or makes
 * 0xfff8000000000000. ftz flushes subnormal inputs and results of f32 to signed zero; a
 * result is subnormal if it is below 2^-126 when rounded with unbounded exponent. sat
 * clamps to [0, 1] with NaN to +0. */
float num_arith_f32(char op, float a, float b, float c, num_round r, bool ftz, bool sat);
double num_arith_f64(char op, double a, double b, double c, num_round r);
/* The sum that atom, red and cp.reduce.async.bulk of f64 make in global memory: b's NaN, or else old's, comes
 * out as it is, not made quiet (measured on sm_90). */
uint64_t num_add_f64_memory(uint64_t old, uint64_t b);

/* ---- f16 / bf16 arithmetic ----------------------------------------------- */
/* As above, on 16-bit patterns; fmt NUM_F16 or NUM_BF16; round to nearest even.
 * op: '+', '-', '*', 'f' fma, 'x' fma with relu (fma.relu), 'm' min, 'M' max, 'y' and
 * 'Y' min and max .xorsign.abs, 'n' neg, 'a' abs. nan: .NaN forms of min/max propagate
 * NaN. NaN results are 0x7fff. */
uint16_t num_arith_16(num_fmt fmt, char op, uint16_t a, uint16_t b, uint16_t c, bool ftz, bool sat, bool nan);

/* min/max of f32/f64 as PTX: a NaN operand is dropped unless `nan`; -0 < +0; xorsign
 * stands for .xorsign.abs. */
float num_min_f32(float a, float b, bool max, bool ftz, bool nan, bool xorsign);
double num_min_f64(double a, double b, bool max);

/* ---- Comparison ---------------------------------------------------------- */
/* The modifiers of set, setp and (.eq to .ge) slct; LO to HS are of unsigned integers. */
typedef enum num_cmp {
  NUM_CMP_NONE = 0, /* no such modifier: compares false */
  NUM_CMP_EQ,
  NUM_CMP_NE,
  NUM_CMP_LT,
  NUM_CMP_LE,
  NUM_CMP_GT,
  NUM_CMP_GE,
  NUM_CMP_EQU, /* true as well when an operand is NaN, so are the next five */
  NUM_CMP_NEU,
  NUM_CMP_LTU,
  NUM_CMP_LEU,
  NUM_CMP_GTU,
  NUM_CMP_GEU,
  NUM_CMP_NUM, /* both are numbers */
  NUM_CMP_NAN, /* either is NaN */
  NUM_CMP_LO,
  NUM_CMP_LS,
  NUM_CMP_HI,
  NUM_CMP_HS,
} num_cmp;

/* "eq", "ltu", "num", "hs" ...: the modifier's text without the dot; else NUM_CMP_NONE. */
num_cmp num_cmp_from_text(const char *op);
/* EQ to NAN. The integer forms take EQ to GE and LO to HS; _u compares unsigned whatever
 * the name, _s signed for EQ to GE. */
bool num_compare_f(num_cmp op, double a, double b);
bool num_compare_u(num_cmp op, uint64_t a, uint64_t b);
bool num_compare_s(num_cmp op, int64_t a, int64_t b);
/* num_compare_f by the modifier's text, for callers outside hot loops. */
bool num_compare(const char *op, double a, double b);

/* ---- Approximate functions ----------------------------------------------- */
typedef enum num_approx {
  NUM_RCP,
  NUM_RSQRT,
  NUM_SQRT,
  NUM_SIN,
  NUM_COS,
  NUM_LG2,
  NUM_EX2,
  NUM_TANH,
  NUM_DIV,
  NUM_DIVFULL,
  NUM_RSQRT_FTZ, /* f64 only: rsqrt.approx.ftz.f64, the low 32 bits of the result are zero */
} num_approx;
/* f32 approximate forms, within the ISA's documented bound, with its special cases
 * (b only for div). */
float num_approx_f32(num_approx op, float a, float b, bool ftz);
uint16_t num_approx_16(num_approx op, num_fmt fmt, uint16_t a, bool ftz); /* ex2, tanh .f16 .bf16 */
/* NUM_RCP rcp.approx.ftz.f64, NUM_RSQRT rsqrt.approx.f64, NUM_RSQRT_FTZ. */
double num_approx_f64(num_approx op, double a);

/* ---- Integers ------------------------------------------------------------ */
typedef enum num_prmt_mode {
  NUM_PRMT_INDEX = 0, /* no modifier: four selector nibbles */
  NUM_PRMT_F4E,
  NUM_PRMT_B4E,
  NUM_PRMT_RC8,
  NUM_PRMT_ECL,
  NUM_PRMT_ECR,
  NUM_PRMT_RC16,
} num_prmt_mode;
/* "f4e" "b4e" "rc8" "ecl" "ecr" "rc16"; NULL or anything else is NUM_PRMT_INDEX. */
num_prmt_mode num_prmt_mode_from_text(const char *mode);
uint32_t num_prmt(uint32_t a, uint32_t b, uint32_t sel, num_prmt_mode mode);
/* bits is 32 or 64; results of 32 bits are zero-extended, signed ones too. */
uint64_t num_bfe(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed);
/* The low `len` bits of a inserted into b at pos. */
uint64_t num_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits);
uint32_t num_bfind(uint64_t a, unsigned bits, bool is_signed, bool shiftamt);
uint32_t num_fns(uint32_t mask, uint32_t base, int32_t offset);
int32_t num_dp4a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed);
int32_t num_dp2a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed, bool hi);
uint32_t num_lop3(uint32_t a, uint32_t b, uint32_t c, uint8_t lut);

/* ---- Matrix fragments ---------------------------------------------------- */
/* D = A*B + C for one warp. Fragments are the registers of all 32 lanes,
 * [register][lane], laid out as the PTX ISA gives for the shape. Accumulation: products
 * exact, summed in the order k = 0..K-1 in f32 (f64 for .f64), starting from C, each sum
 * rounded to nearest even; .f16 results are rounded once more at the end; s32 wraps
 * unless satfinite. Tensor cores align and truncate the terms of several k at once
 * instead, so a GPU's low bits differ within a bound that num/mma.c states. */
typedef enum num_mma_type {
  NUM_MMA_F16,
  NUM_MMA_BF16,
  NUM_MMA_TF32,
  NUM_MMA_F64,
  NUM_MMA_S8,
  NUM_MMA_U8,
  NUM_MMA_S4,
  NUM_MMA_U4,
  NUM_MMA_B1,
  NUM_MMA_E4M3,
  NUM_MMA_E5M2,
  NUM_MMA_S32,
  NUM_MMA_F32,
  NUM_MMA_E2M3, /* these three in the low six bits of eight, e2m1 above two zeros */
  NUM_MMA_E3M2,
  NUM_MMA_E2M1,
  NUM_MMA_E2M1X8, /* e2m1, packed: of num_scaled_run alone */
} num_mma_type;
typedef struct num_mma {
  uint8_t m, n;
  uint16_t k;
  uint8_t a, b, c, d; /* num_mma_type */
  bool satfinite;
  char b1_op;                             /* for b1: '^' xor.popc, '&' and.popc */
  uint8_t a_regs, b_regs, c_regs, d_regs; /* 32-bit registers per lane (64-bit for f64) */
} num_mma;
/* False when the combination is not emulated; fills the register counts. The shapes are
 * those of mma.sync.aligned row.col, sm_70 to sm_90, but for .f16 m8n8k4, see num_mma_quads. */
bool num_mma_setup(num_mma *m);
/* 32-bit registers: d, a, b, c point to [regs][32]; for f64 they point to u64 [regs][32].
 * d may be c. m has passed num_mma_setup. */
void num_mma_run(const num_mma *m, void *d, const void *a, const void *b, const void *c);
/* Row and column, in the whole matrix, of element `elem` of lane `lane` of operand 'a',
 * 'b', 'c' or 'd'. Elements are counted from register 0's low bits upwards, so that
 * element e of a type of w bits sits in register e*w/32 from bit e*w%32. */
void num_mma_coord(const num_mma *m, char which, unsigned lane, unsigned elem, unsigned *row, unsigned *col);
/* Elements of A or B to a 32-bit register, and one of them as a number; not of f64 and b1. */
unsigned num_mma_elements(unsigned type);
float num_mma_value(unsigned type, uint32_t reg, unsigned elem);
/* mma.sp: num/sparse.c. m->k is that of B; A has half of it. The selector is less than *selectors. `meta` is
 * the metadata register of each lane. d overlaps neither a nor b. Sums as above. */
bool num_sparse_setup(num_mma *m, unsigned *selectors);
void num_sparse_run(const num_mma *m, unsigned selector, void *d, const void *a, const void *b, const void *c,
                    const uint32_t meta[32]);
/* mma with .block_scale: num/scaled.c. m has passed num_mma_setup; C and D are f32. Products are exact, with
 * their factors; sums as above. */
typedef struct num_scaling {
  num_fmt fmt;    /* of the factors: NUM_UE8M0, or NUM_E4M3 for ue4m3 */
  unsigned per_k; /* factors to a row of A and a column of B: 1, 2 or 4 */
  uint32_t byte_a, thread_a, byte_b, thread_b;
} num_scaling;
/* Whether the bytes and threads are ones that hold factors. */
bool num_scaling_valid(const num_scaling *s);
void num_scaled_run(const num_mma *m, const num_scaling *s, void *d, const void *a, const void *b,
                    const void *c, const uint32_t scale_a[32], const uint32_t scale_b[32]);
/* mma.m8n8k4 of f16, four products at once: num/quad.c. a and b have two registers, c and d four (f16) or
 * eight (f32); d overlaps none of them. Sums as above. */
typedef struct num_mma_quad {
  bool a_column, b_row; /* layouts other than row.col */
  bool c_f16, d_f16;
} num_mma_quad;
void num_mma_quads(const num_mma_quad *m, uint32_t (*d)[32], const uint32_t (*a)[32], const uint32_t (*b)[32],
                   const uint32_t (*c)[32]);
/* ldmatrix / movmatrix: matrices are 8x8 of b16. rows[r] is row r's 16 bytes; out[lane]
 * gets that lane's 32-bit register (two elements). */
void num_ldmatrix(const uint8_t *const rows[8], bool trans, uint32_t out[32]);
void num_stmatrix(uint8_t *const rows[8], bool trans, const uint32_t in[32]);
void num_movmatrix_trans(const uint32_t in[32], uint32_t out[32]);

#endif
