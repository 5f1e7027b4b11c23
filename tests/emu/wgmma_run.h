/* Warpgroup products: inputs, kernels and the sums that are expected. */
#ifndef HEDDLE_TESTS_EMU_WGMMA_RUN_H
#define HEDDLE_TESTS_EMU_WGMMA_RUN_H

#include "emu/ops_run.h"

/* ---- Element types ------------------------------------------------------------------------ */

typedef struct element {
  const char *name;
  unsigned bits, exponent, mantissa; /* no exponent: an integer */
  int least, greatest;               /* of the values tried: all are exact */
} element;

static const element f16 = {"f16", 16, 5, 10, -6, 6}, bf16 = {"bf16", 16, 8, 7, -6, 6},
                     tf32 = {"tf32", 32, 8, 23, -9, 9}, e4m3 = {"e4m3", 8, 4, 3, -5, 5},
                     e5m2 = {"e5m2", 8, 5, 2, -4, 4}, s8 = {"s8", 8, 0, 0, -128, 127},
                     u8 = {"u8", 8, 0, 0, 0, 255}, b1 = {"b1", 1, 0, 0, 0, 1};

/* A small whole number as a float of so many bits of exponent and mantissa. */
static inline uint32_t encode_float(int v, unsigned exponent, unsigned mantissa) {
  if (v == 0) return 0;
  const unsigned magnitude = (unsigned)abs(v), log2 = 31 - (unsigned)__builtin_clz(magnitude);
  const uint32_t field = log2 + (1u << (exponent - 1)) - 1,
                 fraction = (uint32_t)((uint64_t)magnitude << mantissa >> log2) - (1u << mantissa);
  return (v < 0 ? 1u << (exponent + mantissa) : 0) | field << mantissa | fraction;
}
static inline uint32_t encode(const element *e, int v) {
  return e->exponent ? encode_float(v, e->exponent, e->mantissa)
                     : (uint32_t)v & (UINT32_MAX >> (32 - e->bits));
}

/* ---- Layouts: the PTX ISA's table of canonical layouts ---------------------------------------- */

typedef struct layout {
  bool mn_major;
  unsigned width;           /* bytes: 16 (none), 32, 64, 128 */
  unsigned leading, stride; /* bytes */
  unsigned start;
  unsigned base_offset;
} layout;

/* Shape and strides of both modes in units of 16 bytes, then the swizzle <log2(width/16), 4, 3>. */
static inline unsigned byte_of(const layout *l, unsigned bits, unsigned line, unsigned k) {
  const unsigned T = 128 / bits, X = l->width / 16;
  unsigned at;
  if (l->mn_major && l->width == 16)
    at = line % T * bits / 8 + line / T * l->stride + k % 8 * 16 + k / 8 * l->leading;
  else if (l->mn_major)
    at = line % T * bits / 8 + line / T % X * 16 + line / T / X * l->leading + k % 8 * 16 * X +
         k / 8 * l->stride;
  else if (l->width == 16)
    at = line % 8 * 16 + line / 8 * l->stride + k % T * bits / 8 + k / T * l->leading;
  else
    at = line % 8 * 16 * X + line / 8 * l->stride + k * bits / 8;
  /* Relative to the pattern's beginning, from which the start may be some columns away. */
  const unsigned pattern = l->base_offset ? l->start : l->start / 1024 * 1024;
  at += l->start - pattern;
  const unsigned mask = (X - 1) << 4;
  return pattern + (at ^ (at >> 3 & mask));
}
static inline uint64_t descriptor(const layout *l) {
  const uint64_t mode = l->width == 128 ? 1 : l->width == 64 ? 2 : l->width == 32 ? 3 : 0;
  return l->start / 16 | (uint64_t)(l->leading / 16) << 16 | (uint64_t)(l->stride / 16) << 32 |
         (uint64_t)l->base_offset << 49 | mode << 62;
}

/* ---- One product ------------------------------------------------------------------------------ */

enum { THREADS = 128, SHARED = 64 << 10, MAX_N = 256, MAX_K = 256 };

typedef struct product {
  const element *a, *b;
  const char *d; /* "f16" "f32" "s32" */
  unsigned n;
  layout at, bt;
  bool a_in_regs, add, satfinite;
  int scale_a, scale_b; /* 1 or -1 */
  unsigned times;
} product;

static int A[64][MAX_K], B[MAX_N][MAX_K];
static int64_t D[64][MAX_N];

static inline void store_bits(uint8_t *at, unsigned bits, unsigned k, uint32_t v) {
  if (bits == 1)
    at[0] = (uint8_t)((at[0] & ~(1u << k % 8)) | v << k % 8);
  else
    memcpy(at, &v, bits / 8);
}

static inline bool pairs(const product *p) { return strcmp(p->d, "f16") == 0; }
static inline unsigned d_regs(const product *p) { return p->n / (pairs(p) ? 4 : 2); }
static inline unsigned k_of(const product *p) { return 256 / p->a->bits; }

/* Element e of a thread's fragments (PTX ISA, figures of the register layouts). */
static inline void d_place(unsigned thread, unsigned e, unsigned *row, unsigned *col) {
  *row = thread / 32 * 16 + thread % 32 / 4 + (e % 4 >= 2 ? 8 : 0);
  *col = e / 4 * 8 + thread % 4 * 2 + (e & 1);
}

typedef struct inputs {
  uint8_t image[SHARED];
  uint32_t d[THREADS][128], a[THREADS][4];
} inputs;

static inline void make_inputs(const product *p, uint64_t seed, inputs *in) {
  const unsigned k_count = k_of(p), bits = p->a->bits;
  memset(in, 0xa5, sizeof *in);
  for (unsigned k = 0; k < k_count; k++) {
    for (unsigned r = 0; r < 64; r++)
      A[r][k] =
          p->a->least + (int)(hd_random_at(seed, r * 256 + k) % (unsigned)(p->a->greatest - p->a->least + 1));
    for (unsigned r = 0; r < p->n; r++)
      B[r][k] = p->b->least +
                (int)(hd_random_at(seed + 1, r * 256 + k) % (unsigned)(p->b->greatest - p->b->least + 1));
  }
  for (unsigned r = 0; r < 64; r++)
    for (unsigned k = 0; k < k_count; k++)
      if (!p->a_in_regs) store_bits(in->image + byte_of(&p->at, bits, r, k), bits, k, encode(p->a, A[r][k]));
  for (unsigned r = 0; r < p->n; r++)
    for (unsigned k = 0; k < k_count; k++)
      store_bits(in->image + byte_of(&p->bt, bits, r, k), bits, k, encode(p->b, B[r][k]));
  for (unsigned t = 0; t < THREADS; t++) {
    for (unsigned q = 0; q < 4; q++) {
      const unsigned per = 32 / bits, row = t / 32 * 16 + t % 32 / 4 + (q % 2 ? 8 : 0);
      in->a[t][q] = 0;
      for (unsigned e = 0; e < per; e++)
        in->a[t][q] |= encode(p->a, A[row][q / 2 * (k_count / 2) + t % 4 * per + e]) << e * bits;
    }
    for (unsigned e = 0; e < p->n / 2; e++) {
      unsigned row, col;
      d_place(t, e, &row, &col);
      const int start = (int)(hd_random_at(seed + 2, row * 256 + col) % 2001) - 1000;
      D[row][col] = p->add ? start : 0;
      if (pairs(p))
        in->d[t][e / 2] = (e % 2 ? in->d[t][e / 2] & 0xffff : 0) | encode_float(start, 5, 10) << 16 * (e % 2);
      else
        in->d[t][e] = strcmp(p->d, "s32") == 0 ? (uint32_t)start : encode_float(start, 8, 23);
    }
  }
}

/* The expected content of register `reg` of thread t. */
static inline uint32_t expected(const product *p, unsigned t, unsigned reg) {
  uint32_t v = 0;
  for (unsigned h = 0; h < (pairs(p) ? 2u : 1u); h++) {
    unsigned row, col;
    d_place(t, pairs(p) ? 2 * reg + h : reg, &row, &col);
    int64_t sum = D[row][col];
    for (unsigned k = 0; k < k_of(p); k++)
      sum += (int64_t)p->times * A[row][k] * p->scale_a * B[col][k] * p->scale_b;
    if (pairs(p))
      v |= encode_float((int)sum, 5, 10) << 16 * h;
    else
      v = strcmp(p->d, "s32") == 0 ? (uint32_t)sum : encode_float((int)sum, 8, 23);
  }
  return v;
}

/* Kernel k: shared memory, D and A from `in`, `before`, the product, `after`, D to `out`. */
static inline void kernel_begin(hd_buf *t, unsigned regs) {
  hd_buf_printf(
      t,
      ".version 8.8\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b32 %%d<128>, %%a<4>, %%t<8>; .reg .b64 %%in, %%out, %%x<8>; .reg .pred %%p, %%q;\n"
      "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%t0, %%tid.x; mov.u32 %%t1, tile;\n"
      "shl.b32 %%t2, %%t0, 4;\nfill:\ncvt.u64.u32 %%x0, %%t2; add.u64 %%x0, %%x0, %%in; add.u32 %%t3, "
      "%%t2, %%t1;\n"
      "ld.global.v4.b32 {%%a0,%%a1,%%a2,%%a3}, [%%x0]; st.shared.v4.b32 [%%t3], {%%a0,%%a1,%%a2,%%a3};\n"
      "mov.u32 %%t4, %%ntid.x; shl.b32 %%t4, %%t4, 4; add.u32 %%t2, %%t2, %%t4; setp.lt.u32 %%p, %%t2, %u; "
      "@%%p bra fill;\n"
      "bar.sync 0; fence.proxy.async.shared::cta;\n"
      "and.b32 %%t5, %%t0, 127; mad.wide.u32 %%x0, %%t5, 512, %%in; add.u64 %%x0, %%x0, %u;\n"
      "mad.wide.u32 %%x1, %%t5, 16, %%in; add.u64 %%x1, %%x1, %u; mad.wide.u32 %%out, %%t0, 512, %%out;\n"
      "ld.global.v4.b32 {%%a0,%%a1,%%a2,%%a3}, [%%x1];\n",
      SHARED, SHARED, SHARED + THREADS * 512);
  for (unsigned k = 0; k < regs; k++) hd_buf_printf(t, "ld.global.b32 %%d%u, [%%x0+%u];\n", k, 4 * k);
}
static inline void put_registers(hd_buf *t, unsigned regs) {
  hd_buf_puts(t, "{");
  for (unsigned k = 0; k < regs; k++) hd_buf_printf(t, "%s%%d%u", k ? "," : "", k);
  hd_buf_puts(t, "}");
}
static inline void kernel_end(hd_buf *t, unsigned regs) {
  for (unsigned k = 0; k < regs; k++) hd_buf_printf(t, "st.global.b32 [%%out+%u], %%d%u;\n", 4 * k, k);
  hd_buf_puts(t, "ret;\n}\n");
}

/* The instruction, without a semicolon's worth of variation left out. */
static inline void put_product(hd_buf *t, const product *p) {
  hd_buf_printf(t, "setp.%s.u32 %%q, 0, 0;\nwgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s ",
                p->add ? "eq" : "ne", p->n, k_of(p), p->d, p->a->name, p->b->name,
                p->a == &b1    ? ".and.popc"
                : p->satfinite ? ".satfinite"
                               : "");
  put_registers(t, d_regs(p));
  if (p->a_in_regs)
    hd_buf_puts(t, ", {%a0,%a1,%a2,%a3}, ");
  else
    hd_buf_puts(t, ", %x2, ");
  hd_buf_puts(t, "%x3, %q");
  if (p->a->exponent) hd_buf_printf(t, ", %d, %d", p->scale_a, p->scale_b);
  if (p->a->bits == 16 && !p->a_in_regs) hd_buf_printf(t, ", %d", p->at.mn_major);
  if (p->a->bits == 16) hd_buf_printf(t, ", %d", p->bt.mn_major);
  hd_buf_puts(t, ";\n");
}

static inline hd_status run_text(const hd_buf *text, unsigned threads, const inputs *in, uint32_t (*out)[128],
                                 hd_emu_isa isa, hd_diag *d) {
  op_machine x;
  op_load(&x, text, isa);
  const uint64_t args[2] = {op_alloc(&x, in, sizeof *in), op_alloc(&x, NULL, (size_t)threads * 512)};
  const hd_emu_launch_params l = {.kernel = "k",
                                  .grid = {1, 1, 1},
                                  .block = {threads, 1, 1},
                                  .dynamic_shared = SHARED,
                                  .args = args,
                                  .args_bytes = sizeof args};
  const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, d);
  if (st == HD_OK && out) op_ok(hd_emu_read(x.e, args[1], out, (size_t)threads * 512, d), d);
  op_unload(&x);
  return st;
}

/* Tightly packed from `start` on, but for a gap, so that no offset has an accidental value. */
static inline layout tight(bool mn_major, unsigned width, unsigned lines, unsigned start) {
  layout l = {.mn_major = mn_major, .width = width, .start = start};
  const unsigned pattern = 8 * width;
  if (mn_major && width == 16) {
    l.stride = 128;
    l.leading = lines / 8 * 128 + 256;
  } else if (mn_major) {
    l.leading = 2 * pattern;
    l.stride = pattern;
  } else if (width == 16) {
    l.stride = 256;
    l.leading = 128;
  } else {
    l.stride = pattern;
    l.leading = 16;
  }
  return l;
}

#endif
