/* Warpgroup products: every type, layout and shape against plain sums, and what a wait protects. */
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
static uint32_t encode_float(int v, unsigned exponent, unsigned mantissa) {
  if (v == 0) return 0;
  const unsigned magnitude = (unsigned)abs(v), log2 = 31 - (unsigned)__builtin_clz(magnitude);
  const uint32_t field = log2 + (1u << (exponent - 1)) - 1,
                 fraction = (uint32_t)((uint64_t)magnitude << mantissa >> log2) - (1u << mantissa);
  return (v < 0 ? 1u << (exponent + mantissa) : 0) | field << mantissa | fraction;
}
static uint32_t encode(const element *e, int v) {
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
static unsigned byte_of(const layout *l, unsigned bits, unsigned line, unsigned k) {
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
static uint64_t descriptor(const layout *l) {
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

static void store_bits(uint8_t *at, unsigned bits, unsigned k, uint32_t v) {
  if (bits == 1)
    at[0] = (uint8_t)((at[0] & ~(1u << k % 8)) | v << k % 8);
  else
    memcpy(at, &v, bits / 8);
}

static bool pairs(const product *p) { return strcmp(p->d, "f16") == 0; }
static unsigned d_regs(const product *p) { return p->n / (pairs(p) ? 4 : 2); }
static unsigned k_of(const product *p) { return 256 / p->a->bits; }

/* Element e of a thread's fragments (PTX ISA, figures of the register layouts). */
static void d_place(unsigned thread, unsigned e, unsigned *row, unsigned *col) {
  *row = thread / 32 * 16 + thread % 32 / 4 + (e % 4 >= 2 ? 8 : 0);
  *col = e / 4 * 8 + thread % 4 * 2 + (e & 1);
}

typedef struct inputs {
  uint8_t image[SHARED];
  uint32_t d[THREADS][128], a[THREADS][4];
} inputs;

static void make_inputs(const product *p, uint64_t seed, inputs *in) {
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

/* What the thread's register k must hold. */
static uint32_t expected(const product *p, unsigned t, unsigned reg) {
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
static void kernel_begin(hd_buf *t, unsigned regs) {
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
static void put_registers(hd_buf *t, unsigned regs) {
  hd_buf_puts(t, "{");
  for (unsigned k = 0; k < regs; k++) hd_buf_printf(t, "%s%%d%u", k ? "," : "", k);
  hd_buf_puts(t, "}");
}
static void kernel_end(hd_buf *t, unsigned regs) {
  for (unsigned k = 0; k < regs; k++) hd_buf_printf(t, "st.global.b32 [%%out+%u], %%d%u;\n", 4 * k, k);
  hd_buf_puts(t, "ret;\n}\n");
}

/* The instruction, without a semicolon's worth of variation left out. */
static void put_product(hd_buf *t, const product *p) {
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

static hd_status run_text(const hd_buf *text, unsigned threads, const inputs *in, uint32_t (*out)[128],
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

static void check_product(const product *p, uint64_t seed, unsigned threads, hd_emu_isa isa) {
  static inputs in;
  static uint32_t out[2 * THREADS][128];
  hd_buf text = {0};
  hd_diag d = {0};
  make_inputs(p, seed, &in);
  kernel_begin(&text, d_regs(p));
  hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                (unsigned long long)descriptor(&p->at), (unsigned long long)descriptor(&p->bt));
  for (unsigned k = 0; k < p->times; k++) put_product(&text, p);
  hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
  kernel_end(&text, d_regs(p));
  op_ok(run_text(&text, threads, &in, out, isa, &d), &d);
  for (unsigned t = 0; t < threads; t++)
    for (unsigned k = 0; k < d_regs(p); k++)
      if (out[t][k] != expected(p, t % THREADS, k))
        fail_msg("m64n%uk%u.%s.%s.%s, widths %u %u, major %d %d: thread %u register %u is %x, not %x", p->n,
                 k_of(p), p->d, p->a->name, p->b->name, p->at.width, p->bt.width, p->at.mn_major,
                 p->bt.mn_major, t, k, out[t][k], expected(p, t % THREADS, k));
  hd_buf_free(&text);
}

/* Tightly packed from `start` on, but for a gap, so that no offset has an accidental value. */
static layout tight(bool mn_major, unsigned width, unsigned lines, unsigned start) {
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

static const struct {
  const element *a, *b;
  const char *d;
} types[] = {{&f16, &f16, "f16"},   {&f16, &f16, "f32"},   {&bf16, &bf16, "f32"}, {&tf32, &tf32, "f32"},
             {&e4m3, &e4m3, "f32"}, {&e4m3, &e5m2, "f16"}, {&e5m2, &e4m3, "f32"}, {&e5m2, &e5m2, "f16"},
             {&s8, &s8, "s32"},     {&s8, &u8, "s32"},     {&u8, &s8, "s32"},     {&u8, &u8, "s32"},
             {&b1, &b1, "s32"}};
enum { N_TYPES = sizeof types / sizeof types[0] };
static const unsigned widths[] = {16, 32, 64, 128};

static product product_of(unsigned type, unsigned n) {
  return (product){.a = types[type].a,
                   .b = types[type].b,
                   .d = types[type].d,
                   .n = n,
                   .at = tight(false, 128, 64, 0),
                   .bt = tight(false, 128, n, 16384),
                   .add = true,
                   .scale_a = 1,
                   .scale_b = 1,
                   .times = 1};
}

static void every_type_and_layout(void **state) {
  hd_emu_isa isas[3];
  const unsigned n_isas = op_isas(isas);
  uint64_t seed = 0;
  for (unsigned t = 0; t < N_TYPES; t++)
    for (unsigned w = 0; w < 16; w++)
      for (unsigned major = 0; major < (types[t].a->bits == 16 ? 4u : 1u); major++) {
        product p = product_of(t, types[t].a->exponent ? 24 : 32);
        p.at = tight(major & 1, widths[w % 4], 64, 0);
        p.bt = tight(major >> 1, widths[w / 4], p.n, 32768);
        seed++;
        p.add = seed % 3 != 0;
        p.scale_a = types[t].a->exponent && seed % 5 == 0 ? -1 : 1;
        p.scale_b = types[t].a->exponent && seed % 7 == 0 ? -1 : 1;
        check_product(&p, seed, THREADS, isas[seed % n_isas]);
      }
}

static void every_width_of_n(void **state) {
  for (unsigned n = 8; n <= 256; n += 8)
    for (unsigned t = 0; t < N_TYPES; t++) {
      if ((n / 8 + t) % 4 && n != 256 && n != 8) continue; /* a quarter of them */
      if (!types[t].a->exponent && n > 32 && n % 16) continue;
      product p = product_of(t, n);
      p.a_in_regs = n % 3 == 0;
      check_product(&p, n * 32 + t, THREADS, HD_ISA_AUTO);
    }
}

static void a_from_registers(void **state) {
  for (unsigned t = 0; t < N_TYPES; t++)
    for (unsigned major = 0; major < (types[t].a->bits == 16 ? 2u : 1u); major++) {
      product p = product_of(t, 16);
      p.a_in_regs = true;
      p.bt = tight(major, 64, p.n, 2048);
      p.scale_a = types[t].a->exponent ? -1 : 1;
      check_product(&p, t, THREADS, HD_ISA_AUTO);
    }
}

/* Further columns of a swizzled tile are reached by moving the start; a pattern may begin anywhere. */
static void descriptors_that_start_inside_a_pattern(void **state) {
  for (unsigned column = 0; column < 128; column += 32) {
    product p = product_of(1, 64);
    p.at.start += column;
    p.bt.start += 128 - 32 - column;
    check_product(&p, column, THREADS, HD_ISA_AUTO);
  }
  for (unsigned offset = 1; offset < 8; offset++) {
    product p = product_of(2, 32);
    p.at = tight(false, 128, 64, 1024 + offset * 128);
    p.at.base_offset = offset;
    check_product(&p, offset, THREADS, HD_ISA_AUTO);
  }
}

static void products_of_one_accumulator_add_up_in_flight(void **state) {
  for (unsigned t = 0; t < N_TYPES; t++) {
    product p = product_of(t, 16);
    p.times = 3;
    p.a_in_regs = t % 2;
    if (types[t].a->exponent) check_product(&p, t, THREADS, HD_ISA_AUTO);
  }
}

static void each_warpgroup_of_a_cta_makes_its_own_product(void **state) {
  const product p = product_of(1, 128);
  check_product(&p, 7, 2 * THREADS, HD_ISA_AUTO);
}

static void integer_sums_wrap_or_saturate(void **state) {
  static inputs in;
  static uint32_t out[THREADS][128];
  for (unsigned sat = 0; sat < 2; sat++) {
    product p = product_of(8, 8);
    hd_buf text = {0};
    hd_diag d = {0};
    p.satfinite = sat;
    make_inputs(&p, 3, &in);
    for (unsigned t = 0; t < THREADS; t++)
      for (unsigned k = 0; k < 4; k++) in.d[t][k] = k % 2 ? 0x7ffffff0 : 0x80000010;
    kernel_begin(&text, 4);
    hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                  (unsigned long long)descriptor(&p.at), (unsigned long long)descriptor(&p.bt));
    put_product(&text, &p);
    hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    kernel_end(&text, 4);
    op_ok(run_text(&text, THREADS, &in, out, HD_ISA_AUTO, &d), &d);
    for (unsigned t = 0; t < THREADS; t++)
      for (unsigned k = 0; k < 4; k++) {
        unsigned row, col;
        d_place(t, k, &row, &col);
        int64_t sum = (int32_t)in.d[t][k];
        for (unsigned j = 0; j < 32; j++) sum += A[row][j] * B[col][j];
        if (sat) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        assert_int_equal(out[t][k], (uint32_t)sum);
      }
    hd_buf_free(&text);
  }
}

/* NaN and infinity go through, an overflow of f32's range is exact before it is rounded. */
static void special_values(void **state) {
  static const struct {
    uint32_t a, b, start, want; /* tf32 and f32 patterns */
  } cases[] = {
      {0x7fc00000, 0x3f800000, 0, 0x7fffffff},          {0x7f800000, 0, 0, 0x7fffffff},
      {0x7f800000, 0xbf800000, 0, 0xff800000},          {0x7f000000, 0x40000000, 0xff000000, 0x7f000000},
      {0x7f000000, 0x3f800000, 0x7f000000, 0x7f800000}, {0x00800000, 0x3f000000, 0, 0x00400000},
      {0x1f800000, 0x1f800000, 0x3f800000, 0x3f800000}};
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    static inputs in;
    static uint32_t out[THREADS][128];
    product p = product_of(3, 8);
    hd_buf text = {0};
    hd_diag d = {0};
    memset(&in, 0, sizeof in);
    memcpy(in.image + byte_of(&p.at, 32, 0, 0), &cases[c].a, 4);
    memcpy(in.image + byte_of(&p.bt, 32, 0, 0), &cases[c].b, 4);
    in.d[0][0] = cases[c].start;
    kernel_begin(&text, 4);
    hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                  (unsigned long long)descriptor(&p.at), (unsigned long long)descriptor(&p.bt));
    put_product(&text, &p);
    hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    kernel_end(&text, 4);
    op_ok(run_text(&text, THREADS, &in, out, HD_ISA_AUTO, &d), &d);
    assert_int_equal(out[0][0], cases[c].want);
    hd_buf_free(&text);
  }
}

/* ---- In flight ------------------------------------------------------------------------------------ */

#define MMA(d, a) "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" d "}, " a ", %x3, 1, 1, 1"
#define D0 "%d0,%d1,%d2,%d3"
#define D4 "%d4,%d5,%d6,%d7"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " n ";\n"

/* m64n8k16 with everything 1: sums go up by 16. out: D of the first thread, four or eight registers. */
static hd_status run_body(const char *body, unsigned threads, uint32_t *result, hd_diag *d) {
  static inputs in;
  static uint32_t out[2 * THREADS][128];
  const layout l = tight(false, 128, 64, 0);
  hd_buf text = {0};
  memset(&in, 0, sizeof in);
  for (unsigned k = 0; k < SHARED / 2; k++) ((uint16_t *)in.image)[k] = 0x3c00;
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned k = 0; k < 4; k++) in.a[t][k] = 0x3c003c00;
  kernel_begin(&text, 8);
  hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx;\n%s", (unsigned long long)descriptor(&l),
                (unsigned long long)descriptor(&l), body);
  kernel_end(&text, 8);
  const hd_status st = run_text(&text, threads, &in, out, HD_ISA_AUTO, d);
  memcpy(result, out[0], 8 * sizeof *result);
  hd_buf_free(&text);
  return st;
}

static void results_cannot_be_had_before_the_wait(void **state) {
  static const struct {
    const char *body;
    uint32_t first, second; /* registers 0 and 4 */
  } cases[] = {
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0"), 0x41800000, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT, UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" WAIT("0"), UINT32_MAX, 0}, /* not committed */
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D4, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), 0x41800000,
       UINT32_MAX},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("1"), UINT32_MAX, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0"), 0x42000000, 0},
      {FENCE MMA(D0, "{%a0,%a1,%a2,%a3}") ", 0;\n" COMMIT WAIT("0") "mov.b32 %a1, 5;\n", 0x41800000, 0},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT WAIT("0") "bar.sync 0; st.shared.b32 [%t1], 5;\n", 0x41800000,
       0},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    hd_diag d = {0};
    uint32_t out[8];
    op_ok(run_body(cases[c].body, THREADS, out, &d), &d);
    assert_int_equal(out[0], cases[c].first);
    assert_int_equal(out[4], cases[c].second);
  }
}

static void many_products_in_flight(void **state) {
  hd_diag d = {0};
  uint32_t out[8];
  op_ok(run_body(
            FENCE "mov.u32 %t2, 0;\nmore:\n" MMA(
                D0, "%x2") ", 0, 0;\n"
                           "add.u32 %t2, %t2, 1; setp.lt.u32 %p, %t2, 1500; @%p bra more;\n" COMMIT WAIT("0"),
            THREADS, out, &d),
        &d);
  assert_int_equal(out[0], encode_float(16 * 1500, 8, 23));
}

static void mistakes_are_faults(void **state) {
  static const struct {
    const char *body, *message;
    unsigned threads;
  } cases[] = {
      {MMA(D0, "%x2") ", 0, 0;\n", "no wgmma.fence", THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT "mov.b32 %d1, 0;\n" WAIT("0"), "were written before this wait",
       THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" COMMIT "bar.sync 0; st.shared.b32 [%t1], %t0;\n" WAIT("0"),
       "shared memory that the product of line", THREADS},
      {FENCE MMA(D0, "{%a0,%a1,%a2,%a3}") ", 0;\n" COMMIT "mov.b32 %a1, %t0;\n" WAIT("0"), "registers of A",
       THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n" MMA("%d2,%d3,%d4,%d5", "%x2") ", 0, 0;\n",
       "belong to another product", THREADS},
      {FENCE MMA(D0, "%x2") ", 0, 0;\n", "in no whole warpgroup", 96},
      {"setp.gt.u32 %p, %t0, 40; @%p bra skip;\n" FENCE "skip:\n", "not all threads of the warp", THREADS},
      {"cvt.u64.u32 %x3, %t0;\n" FENCE MMA(D0, "%x2") ", 0, 0;\n", "matrix descriptors differ", THREADS},
      {"mov.b64 %x3, 0x4000004000003fff;\n" FENCE MMA(D0, "%x2") ", 0, 0;\n", "out of bounds", THREADS},
      {"setp.gt.u32 %p, %t0, 4;\n" FENCE "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0
       "}, %x2, %x3, %p, 1, 1, 0, 0;\n",
       "predicates differ", THREADS},
      {"setp.gt.u32 %p, %t0, 95; @%p bra skip;\n" FENCE MMA(D0, "%x2") ", 0, 0;\nskip:\n",
       "did not issue the same products", THREADS},
      {"setp.gt.u32 %p, %t0, 63; @!%p bra skip;\nadd.u64 %x3, %x3, 2;\nskip:\n" FENCE MMA(D0,
                                                                                          "%x2") ", 0, 0;\n",
       "did not issue the same products", THREADS},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    hd_diag d = {0};
    uint32_t out[8];
    if (run_body(cases[c].body, cases[c].threads, out, &d) != HD_ERR_FAULT) fail_msg("case %u: no fault", c);
    if (!strstr(d.message, cases[c].message)) fail_msg("case %u: %s", c, d.message);
  }
}

/* The registers are gone with the function; the wait still looks at what the product read. */
static void a_function_may_return_with_products_in_flight(void **state) {
  for (unsigned wait = 0; wait < 3; wait++) {
    static const char *const ends[] = {"", "wgmma.wait_group.sync.aligned 0;",
                                       "st.shared.b32 [%w1], %w0; wgmma.wait_group.sync.aligned 0;"};
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    hd_buf_printf(
        &text,
        ".version 8.8\n.target sm_90a\n.address_size 64\n"
        ".extern .shared .align 1024 .b8 tile[];\n"
        ".func product()\n{\n.reg .b32 %%d<4>; .reg .b64 %%x<2>; mov.b64 %%x0, 0x4000004000010000;\n"
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
        "{%%d0,%%d1,%%d2,%%d3}, %%x0, %%x0, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; ret;\n}\n"
        ".visible .entry k()\n{\n.reg .b32 %%w<2>; mov.u32 %%w0, %%tid.x; mov.u32 %%w1, tile;\n"
        "call product; call product; bar.sync 0;\n%s\nret;\n}\n",
        ends[wait]);
    op_load(&x, &text, HD_ISA_AUTO);
    const hd_emu_launch_params l = {
        .kernel = "k", .grid = {3, 1, 1}, .block = {THREADS, 1, 1}, .dynamic_shared = SHARED};
    const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &d);
    assert_int_equal(st, wait == 2 ? HD_ERR_FAULT : HD_OK);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void forms_that_do_not_exist_are_refused(void **state) {
  static const char *const statements[] = {
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%d0,%d1}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d2}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,7}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 2, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 0, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 2, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, -1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, %a0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, {%a0,%a1,%a2}, %x3, 1, 1, 1, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, {%a0,%a1,%a2,%a3}, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %a0, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" D0 "}, %x2, {%a0,%a1,%a2,%a3}, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {" D0 "}, %x2, %x3, 1, 1, 1",
      "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {" D0 "," D4 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.e4m3 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1 {" D0 "}, %x2, %x3, 1",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {" D0 "}, %x2, %x3, %a0, 0, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.m64n8k16.f32.f16.f16 {" D0 "}, %x2, %x3, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
      "wgmma.wait_group.sync.aligned 8",
      "wgmma.wait_group.sync.aligned -1",
      "wgmma.wait_group.sync.aligned %a0",
      "wgmma.wait_group.sync.aligned",
      "wgmma.commit_group.sync.aligned 0",
      "wgmma.fence.aligned",
      "wgmma.sync.aligned",
  };
  for (unsigned k = 0; k < sizeof statements / sizeof statements[0]; k++) {
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    kernel_begin(&text, 8);
    hd_buf_printf(&text, "%s;\n", statements[k]);
    kernel_end(&text, 8);
    op_load(&x, &text, HD_ISA_AUTO);
    if (hd_emu_supported(x.p, "k", &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", statements[k]);
    if (!strstr(d.message, "wgmma"))
      fail_msg("%s: the refusal does not name it: %s", statements[k], d.message);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every type and layout", every_type_and_layout),
      BEHAVIOUR("every width of n", every_width_of_n),
      BEHAVIOUR("A from registers", a_from_registers),
      BEHAVIOUR("descriptors that start inside a pattern", descriptors_that_start_inside_a_pattern),
      BEHAVIOUR("products of one accumulator add up in flight", products_of_one_accumulator_add_up_in_flight),
      BEHAVIOUR("each warpgroup of a CTA makes its own product",
                each_warpgroup_of_a_cta_makes_its_own_product),
      BEHAVIOUR("integer sums wrap or saturate", integer_sums_wrap_or_saturate),
      BEHAVIOUR("special values", special_values),
      BEHAVIOUR("results cannot be had before the wait", results_cannot_be_had_before_the_wait),
      BEHAVIOUR("many products in flight", many_products_in_flight),
      BEHAVIOUR("mistakes are faults", mistakes_are_faults),
      BEHAVIOUR("a function may return with products in flight",
                a_function_may_return_with_products_in_flight),
      BEHAVIOUR("forms that do not exist are refused", forms_that_do_not_exist_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
