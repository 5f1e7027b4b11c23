/* Matrices of 8, 6 and 4 bits: ldmatrix and stmatrix of their shapes, mma of .kind::f8f6f4 and with
 * .block_scale. Layouts of .m16n16 and .m16n8 are those that CUTLASS publishes as its copies' traits. */
#include "emu/ops_warp.h"

/* ---- ldmatrix, stmatrix -------------------------------------------------------------------- */

static unsigned bits_at(const uint64_t row[2], unsigned at, unsigned n) {
  unsigned v = 0;
  for (unsigned k = 0; k < n; k++) v |= (unsigned)(row[(at + k) / 64] >> (at + k) % 64 & 1) << k;
  return v;
}

/* Each lane's 16 bytes are a row; the load's registers come out as two words. */
static void load(const char *shape, const char *type, const char *registers, unsigned n, unsigned bits,
                 bool tall) {
  uint64_t in[LANES * 2], out[LANES * 2];
  char body[1024];
  for (unsigned k = 0; k < LANES * 2; k++) in[k] = hd_random_at(21, k);
  memset(out, 0, sizeof out);
  snprintf(body, sizeof body,
           ".shared .align 128 .b8 s[512]; mov.u32 %%w9, s; mad.lo.u32 %%w9, %%i, 16, %%w9; ld.global.v2.b64 "
           "{%%d1, "
           "%%d2}, [%%in]; st.shared.v2.b64 [%%w9], {%%d1, %%d2}; bar.warp.sync -1; mov.b32 %%w1, 0; mov.b32 "
           "%%w2, 0; "
           "mov.b32 %%w3, 0; mov.b32 %%w4, 0; ldmatrix.sync.aligned.%s.shared.%s %s, [%%w9]; "
           "st.global.v4.b32 [%%out], "
           "{%%w1, %%w2, %%w3, %%w4};",
           shape, type, registers);
  run_words("", body, in, 2, out, 2, LANES);
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned r = 0; r < n; r++)
      for (unsigned b = 0; b < 4; b++) {
        const unsigned row = tall ? 16 * (r / 2) + 4 * (l % 4) + 2 * (r % 2) + b % 2 : 8 * r + l / 4;
        const unsigned column = tall ? l / 4 + 8 * (b / 2) : 4 * (l % 4) + b;
        const unsigned want = bits_at(&in[2 * row], column * bits, bits),
                       got = (unsigned)(out[2 * l + r / 2] >> (32 * (r % 2) + 8 * b) & 0xff);
        if (got != want)
          fail_msg("%s.%s: register %u of lane %u, byte %u: %x, not %x", shape, type, r, l, b, got, want);
      }
}

static void narrow_matrices_are_loaded(void **state) {
  static const struct {
    const char *type;
    unsigned bits;
  } types[] = {{"b8", 8}, {"b8x16.b6x16_p32", 6}, {"b8x16.b4x16_p64", 4}};
  for (unsigned k = 0; k < 3; k++) {
    load("m16n16.x1.trans", types[k].type, "{%w1, %w2}", 2, types[k].bits, true);
    load("m16n16.x2.trans", types[k].type, "{%w1, %w2, %w3, %w4}", 4, types[k].bits, true);
    if (k == 0) continue;
    load("m8n16.x1", types[k].type, "{%w1}", 1, types[k].bits, false);
    load("m8n16.x2", types[k].type, "{%w1, %w2}", 2, types[k].bits, false);
    load("m8n16.x4", types[k].type, "{%w1, %w2, %w3, %w4}", 4, types[k].bits, false);
  }
}

static void narrow_matrices_are_stored(void **state) {
  static const char *const registers[] = {"{%w1}", "{%w1, %w2}", "{%w1, %w2, %w3, %w4}"};
  for (unsigned k = 0; k < 3; k++) {
    uint64_t in[LANES * 2], out[LANES * 2];
    char body[1024];
    const unsigned n = 1u << k;
    for (unsigned j = 0; j < LANES * 2; j++) in[j] = hd_random_at(22, j);
    memset(out, 0, sizeof out);
    snprintf(
        body, sizeof body,
        ".shared .align 128 .b8 s[512]; mov.u32 %%w9, s; mad.lo.u32 %%w9, %%i, 16, %%w9; mov.b64 %%d1, 0; "
        "st.shared.v2.b64 [%%w9], {%%d1, %%d1}; ld.global.v4.b32 {%%w1, %%w2, %%w3, %%w4}, [%%in]; "
        "bar.warp.sync "
        "-1; stmatrix.sync.aligned.m16n8.x%u.trans.shared.b8 [%%w9], %s; bar.warp.sync -1; ld.shared.v2.b64 "
        "{%%d1, "
        "%%d2}, [%%w9]; st.global.v2.b64 [%%out], {%%d1, %%d2};",
        n, registers[k]);
    run_words("", body, in, 2, out, 2, LANES);
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned r = 0; r < n; r++)
        for (unsigned b = 0; b < 4; b++) {
          const unsigned row = 8 * r + 2 * (l % 4) + b % 2, column = l / 4 + 8 * (b / 2);
          assert_int_equal(bits_at(&out[2 * row], 8 * column, 8),
                           in[2 * l + r / 2] >> (32 * (r % 2) + 8 * b) & 0xff);
        }
  }
}

/* ---- mma --------------------------------------------------------------------------------------- */

typedef struct format {
  const char *name;
  unsigned exponent_bits, mantissa_bits;
} format;
static const format formats[] = {
    {"e4m3", 4, 3}, {"e5m2", 5, 2}, {"e3m2", 3, 2}, {"e2m3", 2, 3}, {"e2m1", 2, 1}};
enum { FORMATS = sizeof formats / sizeof *formats, E2M1 = 4, M = 16, N = 8, MAX_K = 64 };

static double value_of(const format *f, unsigned code) {
  const unsigned field = code >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
  const double mantissa = (code & ((1u << f->mantissa_bits) - 1)) / (double)(1u << f->mantissa_bits);
  const int bias = (1 << (f->exponent_bits - 1)) - 1;
  const double size = field ? ldexp(1 + mantissa, (int)field - bias) : ldexp(mantissa, 1 - bias);
  return code >> (f->exponent_bits + f->mantissa_bits) & 1 ? -size : size;
}

/* Numbers between 1/4 and 8, so that all sums are exact. */
static unsigned code_of(const format *f, uint64_t seed) {
  for (uint64_t n = 0;; n++) {
    const unsigned code =
        (unsigned)hd_random_at(23, seed * 1000 + n) & ((2u << (f->exponent_bits + f->mantissa_bits)) - 1);
    const double size = fabs(value_of(f, code));
    if (size >= 0.25 && size < 8) return code;
  }
}

typedef struct product {
  unsigned k, packed; /* packed: 4 bits to an element */
  unsigned per_k, byte_a, thread_a, byte_b, thread_b;
  bool ue4m3;
  unsigned a[M][MAX_K], b[N][MAX_K], scale_a[M][4], scale_b[N][4];
} product;

static double scale_value(const product *p, unsigned code) {
  return p->ue4m3 ? value_of(&formats[0], code) : ldexp(1, (int)code - 127);
}

/* Element (line, k) to its lane's register. */
static void put(uint32_t reg[LANES][8], const product *p, bool of_a, unsigned line, unsigned k,
                unsigned code) {
  const unsigned per = p->packed ? 8 : 4, width = 32 / per, block = k / (4 * per), in = k % (4 * per);
  const unsigned lane = 4 * (line % 8) + in / per, r = of_a ? 2 * block + line / 8 : 4 + block;
  reg[lane][r] |= code << width * (in % per);
}

static void check(const product *p, const format *fa, const format *fb, const char *words,
                  const char *factors) {
  uint32_t reg[LANES][8] = {{0}};
  float out[LANES][4] = {{0}};
  char body[1024];
  for (unsigned k = 0; k < p->k; k++) {
    const unsigned shift_a = !p->packed && fa == &formats[E2M1] ? 2 : 0,
                   shift_b = !p->packed && fb == &formats[E2M1] ? 2 : 0;
    for (unsigned row = 0; row < M; row++) put(reg, p, true, row, k, p->a[row][k] << shift_a);
    for (unsigned column = 0; column < N; column++) put(reg, p, false, column, k, p->b[column][k] << shift_b);
  }
  for (unsigned l = 0; l < LANES; l++) reg[l][6] = reg[l][7] = 0x7e7e7e7e; /* lanes that hold no factor */
  for (unsigned j = 0; j < p->per_k; j++) {
    for (unsigned row = 0; row < M; row++) {
      uint32_t *at = &reg[4 * (row % 8) + 2 * p->thread_a + row / 8][6];
      const unsigned shift = 8 * (p->byte_a + j);
      *at = (*at & ~(0xffu << shift)) | p->scale_a[row][j] << shift;
    }
    for (unsigned column = 0; column < N; column++) {
      uint32_t *at = &reg[4 * column + p->thread_b][7];
      const unsigned shift = 8 * (p->byte_b + j);
      *at = (*at & ~(0xffu << shift)) | p->scale_b[column][j] << shift;
    }
  }
  snprintf(body, sizeof body,
           "ld.global.v4.b32 {%%w1, %%w2, %%w3, %%w4}, [%%in]; ld.global.v4.b32 {%%w5, %%w6, %%w7, %%w8}, "
           "[%%in+16]; "
           "mov.f32 %%f1, 0f3F000000; mov.f32 %%f2, %%f1; mov.f32 %%f3, %%f1; mov.f32 %%f4, %%f1; "
           "mma.sync.aligned.m16n8k%u.row.col.%s {%%f1, %%f2, %%f3, %%f4}, {%%w1, %%w2, %%w3, %%w4}, {%%w5, "
           "%%w6}, "
           "{%%f1, %%f2, %%f3, %%f4}%s; st.global.v4.f32 [%%out], {%%f1, %%f2, %%f3, %%f4};",
           p->k, words, factors);
  run_words("", body, (const uint64_t *)reg, 4, (uint64_t *)out, 2, LANES);
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned e = 0; e < 4; e++) {
      const unsigned row = l / 4 + 8 * (e / 2), column = 2 * (l % 4) + e % 2;
      double want = 0.5;
      for (unsigned k = 0; k < p->k; k++) {
        double term = value_of(fa, p->a[row][k]) * value_of(fb, p->b[column][k]);
        if (p->per_k) {
          const unsigned j = k * p->per_k / p->k;
          term *= scale_value(p, p->scale_a[row][j]) * scale_value(p, p->scale_b[column][j]);
        }
        want += term;
      }
      if ((double)out[l][e] != want)
        fail_msg("%s: (%u, %u) is %a, not %a", words, row, column, (double)out[l][e], want);
    }
}

static product make(const format *fa, const format *fb, unsigned k, unsigned per_k, bool ue4m3) {
  product p = {.k = k, .packed = k == 64, .per_k = per_k, .ue4m3 = ue4m3};
  for (unsigned j = 0; j < k; j++) {
    for (unsigned row = 0; row < M; row++) p.a[row][j] = code_of(fa, row * k + j);
    for (unsigned column = 0; column < N; column++) p.b[column][j] = code_of(fb, 5000 + column * k + j);
  }
  for (unsigned j = 0; j < 4; j++) {
    for (unsigned row = 0; row < M; row++)
      p.scale_a[row][j] = ue4m3 ? 0x30 + (unsigned)hd_random_at(24, row * 4 + j) % 16 : 126 + (row + j) % 3;
    for (unsigned column = 0; column < N; column++)
      p.scale_b[column][j] =
          ue4m3 ? 0x34 + (unsigned)hd_random_at(25, column * 4 + j) % 8 : 126 + (column * 2 + j) % 3;
  }
  return p;
}

static void formats_are_multiplied_with_each_other(void **state) {
  for (unsigned a = 0; a < FORMATS; a++)
    for (unsigned b = 0; b < FORMATS; b++) {
      char words[128];
      const product p = make(&formats[a], &formats[b], 32, 0, false);
      snprintf(words, sizeof words, "kind::f8f6f4.f32.%s.%s.f32", formats[a].name, formats[b].name);
      check(&p, &formats[a], &formats[b], words, "");
    }
}

static void blocks_have_factors(void **state) {
  for (unsigned a = 0; a < FORMATS; a++) {
    const unsigned b = (a + 2) % FORMATS;
    for (unsigned byte = 0; byte < 4; byte++) {
      char words[128], factors[128];
      product p = make(&formats[a], &formats[b], 32, 1, false);
      p.byte_a = byte, p.byte_b = 3 - byte, p.thread_a = byte % 2, p.thread_b = (byte + a) % 4;
      snprintf(words, sizeof words, "kind::mxf8f6f4.block_scale%s.f32.%s.%s.f32.ue8m0",
               byte ? ".scale_vec::1X" : "", formats[a].name, formats[b].name);
      snprintf(factors, sizeof factors, ", %%w7, {%u, %u}, %%w8, {%u, %u}", p.byte_a, p.thread_a, p.byte_b,
               p.thread_b);
      check(&p, &formats[a], &formats[b], words, factors);
    }
  }
}

static void packed_blocks_have_factors(void **state) {
  const format *f = &formats[E2M1];
  static const char *const words[] = {"kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
                                      "kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
                                      "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"};
  for (unsigned kind = 0; kind < 3; kind++)
    for (unsigned k = 0; k < 8; k++) {
      char factors[256];
      product p = make(f, f, 64, kind == 2 ? 4 : 2, kind == 2);
      p.thread_a = k % 2, p.thread_b = k % 4;
      if (kind < 2) p.byte_a = k & 2, p.byte_b = k & 4 ? 2 : 0;
      snprintf(factors, sizeof factors, ", %%w7, {%u, %u}, %%w8, {%u, %u}", p.byte_a, p.thread_a, p.byte_b,
               p.thread_b);
      check(&p, f, f, words[kind], factors);
    }
}

/* The same numbers as e2m1 and as e4m3 have the same sparse products. */
static void sparse_products_do_not_ask_for_the_format(void **state) {
  static const uint8_t as_e4m3[8] = {0x00, 0x30, 0x38, 0x3c, 0x40, 0x44, 0x48, 0x4c};
  uint32_t in[2][LANES][10] = {{{0}}};
  float out[2][LANES][4];
  for (unsigned l = 0; l < LANES; l++) {
    for (unsigned k = 0; k < 32; k++) {
      const unsigned code = (unsigned)hd_random_at(26, l * 32 + k) & 15;
      in[0][l][k / 4] |= code << 2 << 8 * (k % 4);
      in[1][l][k / 4] |= (as_e4m3[code & 7] | (code & 8) << 4) << 8 * (k % 4);
    }
    in[0][l][8] = in[1][l][8] = l % 2 ? 0x44e4d8c9 : 0x9c4ede48; /* two different places of each four */
  }
  for (unsigned which = 0; which < 2; which++) {
    char body[1024];
    const char *type = which ? "e4m3" : "e2m1";
    snprintf(body, sizeof body,
             "ld.global.v2.b32 {%%w1, %%w2}, [%%in]; ld.global.v2.b32 {%%w3, %%w4}, [%%in+8]; "
             "ld.global.v2.b32 {%%w5, "
             "%%w6}, [%%in+16]; ld.global.v2.b32 {%%w7, %%w8}, [%%in+24]; ld.global.b32 %%w9, [%%in+32]; "
             "mov.f32 %%f1, 0f00000000; "
             "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.%s.%s.f32 {%%f1, %%f2, "
             "%%f3, "
             "%%f4}, {%%w1, %%w2, %%w3, %%w4}, {%%w5, %%w6, %%w7, %%w8}, {%%f1, %%f1, %%f1, %%f1}, %%w9, 0; "
             "st.global.v4.f32 [%%out], {%%f1, %%f2, %%f3, %%f4};",
             type, type);
    memset(out[which], 0, sizeof out[which]);
    run_words("", body, (const uint64_t *)in[which], 5, (uint64_t *)out[which], 2, LANES);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_true(out[0][0][0] != 0 || out[0][5][1] != 0);
}

static void what_ptxas_refuses_is_refused(void **state) {
#define ABC "{%f1, %f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, {%w5, %w6}, {%f1, %f2, %f3, %f4}"
#define FACTORS ", %w7, {0, 0}, %w8, {0, 0}"
  static const char *const bodies[] = {
      "mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e2m1.f32 " ABC ";",
      "mma.sync.aligned.m16n8k64.row.col.f32.e2m1.e2m1.f32 " ABC ";",
      "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2}, "
      "{%w5}, {%f1, "
      "%f2, %f3, %f4};",
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0 " ABC FACTORS ";",
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3 " ABC FACTORS ";",
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
      "ue8m0 " ABC FACTORS ";",
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m3.e2m1.f32.ue8m0 " ABC FACTORS ";",
      "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%w1, %w2}, [%w9];",
      "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%w1}, [%w9];",
      "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8}, [%w9];",
      "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%w9], {%w1};",
      "movmatrix.sync.aligned.m16n16.trans.b8 %w1, %w2;",
  };
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    hd_diag d = {0};
    if (op_supported("", bodies[k], &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", bodies[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("matrices of 8, 6 and 4 bits are loaded", narrow_matrices_are_loaded),
      BEHAVIOUR("matrices of 8 bits are stored", narrow_matrices_are_stored),
      BEHAVIOUR("all formats of 8, 6 and 4 bits are multiplied with each other",
                formats_are_multiplied_with_each_other),
      BEHAVIOUR("blocks have factors", blocks_have_factors),
      BEHAVIOUR("packed blocks have factors", packed_blocks_have_factors),
      BEHAVIOUR("sparse products do not ask for the format", sparse_products_do_not_ask_for_the_format),
      BEHAVIOUR("what ptxas refuses is refused", what_ptxas_refuses_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
