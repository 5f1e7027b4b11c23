/* Loads, stores, atomics and copies in every state space, width and pattern of addresses. */
#include "emu/ops_run.h"

enum { LANES = 32, CTAS = 2 };

/* ---- Loads and stores ------------------------------------------------------------- */

typedef struct access {
  const char *type; /* of the instruction */
  unsigned bits;
  bool is_signed;
  unsigned reg; /* bits of the register */
  unsigned vec;
} access;

static const char *space_name[] = {"global", "shared", "local", ""};

/* out[32 * CTA + i] = record index[i] of `in`, element by element in 64 bits each, having gone through
 * memory of the given space. Records are size bytes. */
static void round_trip_kernel(hd_buf *t, const access *a, unsigned space, unsigned number) {
  const unsigned bytes = a->bits / 8 * a->vec;
  const char *vec = a->vec == 1 ? "" : a->vec == 2 ? ".v2" : a->vec == 4 ? ".v4" : ".v8";
  hd_buf_printf(
      t,
      ".visible .entry k%u(.param .u64 in, .param .u64 index, .param .u64 out, .param .u32 keep)\n{\n"
      ".reg .b16 %%h<16>; .reg .b32 %%w<16>; .reg .b64 %%d<16>; .reg .b64 %%at, %%ix, %%to, %%s; .reg .b32 "
      "%%i, %%j, %%k;\n"
      ".reg .pred %%p;\n"
      ".shared .align 32 .b8 block[%u];\n.local .align 32 .b8 own[64];\n"
      "mov.u32 %%i, %%tid.x;\nld.param.u64 %%ix, [index];\nmad.wide.u32 %%ix, %%i, 4, %%ix;\n"
      "ld.global.u32 %%j, [%%ix];\nld.param.u64 %%at, [in];\nmad.wide.u32 %%at, %%j, %u, %%at;\n"
      "ld.param.u64 %%to, [out];\nmad.wide.u32 %%to, %%i, 64, %%to;\n"
      "mov.u32 %%k, %%ctaid.x;\nmad.wide.u32 %%to, %%k, 2048, %%to;\n"
      "ld.param.u32 %%k, [keep];\nshr.u32 %%k, %%k, %%i;\nand.b32 %%k, %%k, 1;\nsetp.eq.u32 %%p, %%k, "
      "0;\n@%%p exit;\n",
      number, 32 * bytes, bytes);
  const char letter = a->reg == 16 ? 'h' : a->reg == 32 ? 'w' : 'd';
  hd_buf text = {0};
  if (a->vec > 1) hd_buf_puts(&text, "{");
  for (unsigned e = 0; e < a->vec; e++) hd_buf_printf(&text, "%s%%%c%u", e ? ", " : "", letter, e);
  if (a->vec > 1) hd_buf_puts(&text, "}");
  hd_buf_printf(t, "ld.global%s.%s %s, [%%at];\n", vec, a->type, text.data);
  switch (space) {
  case 1: hd_buf_printf(t, "mov.u64 %%s, block;\nmad.wide.u32 %%s, %%i, %u, %%s;\n", bytes); break;
  case 2: hd_buf_puts(t, "mov.u64 %s, own;\n"); break;
  case 3:
    hd_buf_printf(t, "mov.u64 %%s, block;\nmad.wide.u32 %%s, %%i, %u, %%s;\ncvta.shared.u64 %%s, %%s;\n",
                  bytes);
    break;
  default: hd_buf_puts(t, "mov.u64 %s, %to;\n");
  }
  const char *dot = space == 3 ? "" : ".";
  hd_buf_printf(t, "st%s%s%s.%s [%%s], %s;\n", dot, space_name[space], vec, a->type, text.data);
  for (unsigned e = 0; e < a->vec; e++) hd_buf_printf(t, "mov.b%u %%%c%u, 0;\n", a->reg, letter, e);
  hd_buf_printf(t, "ld%s%s%s.%s %s, [%%s];\n", dot, space_name[space], vec, a->type, text.data);
  for (unsigned e = 0; e < a->vec; e++) {
    if (a->reg < 64) hd_buf_printf(t, "cvt.u64.u%u %%d%u, %%%c%u;\n", a->reg, e + 8, letter, e);
    hd_buf_printf(t, "st.global.b64 [%%to+%u], %%d%u;\n", 8 * e, a->reg < 64 ? e + 8 : e);
  }
  hd_buf_puts(t, "ret;\n}\n");
  hd_buf_free(&text);
}

static uint64_t element(const uint8_t *record, const access *a, unsigned e) {
  uint64_t v = 0;
  memcpy(&v, record + e * a->bits / 8, a->bits / 8);
  if (a->is_signed && a->bits < 64 && v >> (a->bits - 1)) v |= UINT64_MAX << a->bits;
  return a->reg < 64 ? v & ((1ull << a->reg) - 1) : v;
}

static const access accesses[] = {
    {"u8", 8, 0, 16, 1},   {"u8", 8, 0, 32, 1},   {"u8", 8, 0, 64, 1},   {"s8", 8, 1, 16, 1},
    {"s8", 8, 1, 32, 1},   {"s8", 8, 1, 64, 1},   {"b8", 8, 0, 16, 4},   {"s8", 8, 1, 32, 4},
    {"u8", 8, 0, 16, 2},   {"u16", 16, 0, 16, 1}, {"s16", 16, 1, 32, 1}, {"s16", 16, 1, 64, 1},
    {"u16", 16, 0, 32, 1}, {"u16", 16, 0, 64, 1}, {"b16", 16, 0, 16, 2}, {"b16", 16, 0, 16, 4},
    {"s16", 16, 1, 64, 4}, {"f32", 32, 0, 32, 1}, {"u32", 32, 0, 64, 1}, {"s32", 32, 1, 64, 1},
    {"b32", 32, 0, 32, 2}, {"f32", 32, 0, 32, 4}, {"s32", 32, 1, 64, 2}, {"b32", 32, 0, 32, 8},
    {"f64", 64, 0, 64, 1}, {"u64", 64, 0, 64, 2}, {"b64", 64, 0, 64, 4}};
enum { N_ACCESSES = sizeof accesses / sizeof accesses[0], RECORDS = 128 };

static void fill_index(uint32_t index[LANES], unsigned pattern, uint64_t seed) {
  for (uint32_t l = 0; l < LANES; l++) {
    switch (pattern) {
    case 0: index[l] = l; break;             /* consecutive */
    case 1: index[l] = 5; break;             /* the same */
    case 2: index[l] = 3 * l; break;         /* strided */
    case 3: index[l] = LANES - 1 - l; break; /* backwards */
    default: index[l] = (uint32_t)(hd_random_at(seed, l) % RECORDS);
    }
  }
}

/* All lanes, about half of them, or few. */
static uint32_t lanes_of(unsigned pattern, uint64_t seed) {
  if (pattern % 2 == 0) return UINT32_MAX;
  return pattern == 3 ? 0x80020008 : (uint32_t)hd_random_at(seed, pattern);
}

/* The second CTA's accesses meet the bounds that the first one's left. */
static void loads_and_stores(void **state) {
  hd_buf text = {0};
  op_ptx_header(&text);
  for (unsigned k = 0; k < N_ACCESSES; k++)
    for (unsigned s = 0; s < 4; s++) round_trip_kernel(&text, &accesses[k], s, 4 * k + s);
  static uint8_t in[RECORDS * 32];
  for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)hd_random_at(11, i);
  hd_emu_isa isas[3];
  const unsigned n_isas = op_isas(isas);
  for (unsigned v = 0; v < n_isas; v++) {
    op_machine x;
    hd_diag d = {0};
    op_load(&x, &text, isas[v]);
    const uint64_t at = op_alloc(&x, in, sizeof in), ix = op_alloc(&x, NULL, LANES * 4),
                   to = op_alloc(&x, NULL, CTAS * LANES * 64);
    for (unsigned k = 0; k < 4 * N_ACCESSES; k++) {
      const access *a = &accesses[k / 4];
      for (unsigned pattern = 0; pattern < 7; pattern++) {
        uint32_t index[LANES];
        uint64_t out[CTAS * LANES][8];
        const uint32_t keep = lanes_of(pattern, k);
        char kernel[16];
        struct {
          uint64_t in, index, out;
          uint32_t keep;
        } args = {at, ix, to, keep};
        fill_index(index, pattern, k);
        memset(out, 0x5a, sizeof out);
        op_ok(hd_emu_write(x.e, ix, index, sizeof index, &d), &d);
        op_ok(hd_emu_write(x.e, to, out, sizeof out, &d), &d);
        snprintf(kernel, sizeof kernel, "k%u", k);
        op_ok(op_launch(&x, kernel, CTAS, LANES, &args, 28, &d), &d);
        op_ok(hd_emu_read(x.e, to, out, sizeof out, &d), &d);
        for (unsigned n = 0; n < CTAS * LANES; n++)
          for (unsigned e = 0; e < a->vec; e++) {
            const unsigned l = n % LANES;
            const uint64_t want =
                keep >> l & 1 ? element(in + index[l] * (a->bits / 8 * a->vec), a, e) : 0x5a5a5a5a5a5a5a5a;
            if (out[n][e] != want)
              fail_msg("%s.v%u into %u bits through %s, pattern %u, lane %u: %llx, not %llx", a->type, a->vec,
                       a->reg, space_name[k % 4], pattern, n, (unsigned long long)out[n][e],
                       (unsigned long long)want);
          }
      }
    }
    op_unload(&x);
  }
  hd_buf_free(&text);
}

/* ---- Small kernels by hand ------------------------------------------------------------ */

/* Run kernel "k" of a body with 32 threads: out is 32 u64; in is 32 u64. */
static void run_body(const char *globals, const char *body, const uint64_t in[LANES], uint64_t out[LANES]) {
  hd_buf text = {0};
  op_ptx_header(&text);
  hd_buf_printf(&text,
                "%s\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .b16 %%h<16>; .reg .b32 %%w<32>; .reg .b64 %%d<32>; .reg .f32 %%f<16>; .reg .pred "
                "%%p<16>; .reg .b128 %%q<4>;\n"
                ".reg .b64 %%in, %%out; .reg .b32 %%i;\n"
                "mov.u32 %%i, %%tid.x;\nld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
                "mad.wide.u32 %%in, %%i, 8, %%in;\nmad.wide.u32 %%out, %%i, 8, %%out;\n%s\nret;\n}\n",
                globals, body);
  op_machine x;
  hd_diag d = {0};
  op_load(&x, &text, HD_ISA_AUTO);
  const uint64_t args[2] = {op_alloc(&x, in, LANES * 8), op_alloc(&x, out, LANES * 8)};
  op_ok(op_launch(&x, "k", 1, LANES, args, sizeof args, &d), &d);
  op_ok(hd_emu_read(x.e, args[1], out, LANES * 8, &d), &d);
  op_unload(&x);
  hd_buf_free(&text);
}
static void random_in(uint64_t in[LANES], uint64_t seed) {
  for (unsigned l = 0; l < LANES; l++) in[l] = hd_random_at(seed, l);
}

static void generic_addresses_of_several_windows(void **state) {
  uint64_t in[LANES], out[LANES];
  random_in(in, 3);
  run_body("",
           ".shared .b64 s[32]; .local .b64 mine;\n"
           "ld.global.u64 %d1, [%in];\n"
           "mov.u64 %d2, s; mad.wide.u32 %d2, %i, 8, %d2; cvta.shared.u64 %d2, %d2;\n"
           "mov.u64 %d3, mine; cvta.local.u64 %d3, %d3;\n"
           "rem.u32 %w1, %i, 3; setp.eq.u32 %p1, %w1, 0; setp.eq.u32 %p2, %w1, 1;\n"
           "selp.b64 %d4, %d3, %out, %p2; selp.b64 %d4, %d2, %d4, %p1;\n"
           "st.u64 [%d4], %d1; ld.u64 %d5, [%d4]; add.u64 %d5, %d5, 1; st.global.u64 [%out], %d5;\n"
           "isspacep.shared %p3, %d4; isspacep.local %p4, %d4; isspacep.global %p5, %d4;\n"
           "selp.u64 %d6, 16, 0, %p3; @%p4 add.u64 %d6, %d6, 32; @%p5 add.u64 %d6, %d6, 64;\n"
           "add.u64 %d5, %d5, %d6; st.global.u64 [%out], %d5;\n",
           in, out);
  for (unsigned l = 0; l < LANES; l++)
    assert_int_equal(out[l], in[l] + 1 + (l % 3 == 0 ? 16 : l % 3 == 1 ? 32 : 64));
}

static void variables_have_addresses_and_values(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_body(".global .align 8 .u64 g = 1000;\n.const .align 4 .u32 c[4] = {7, 8, 9, 10};\n.global .align 8 "
           ".u64 pg = generic(g);\n"
           ".global .align 4 .b8 bytes[5] = {1, 2, 3, 4, 5};",
           "ld.global.u64 %d1, [g]; mov.u64 %d2, g; ld.global.u64 %d3, [%d2]; ld.global.u64 %d4, [pg]; "
           "ld.u64 %d5, [%d4];\n"
           "and.b32 %w1, %i, 3; mov.u64 %d6, c; mad.wide.u32 %d6, %w1, 4, %d6; ld.const.u32 %w2, [%d6]; "
           "ld.const.u32 %w3, [c+12];\n"
           "ld.global.u8 %w4, [bytes+4]; ld.u8 %w5, [bytes];\n"
           "add.u64 %d1, %d1, %d3; add.u64 %d1, %d1, %d5; cvt.u64.u32 %d7, %w2; add.u64 %d1, %d1, %d7;\n"
           "cvt.u64.u32 %d7, %w3; add.u64 %d1, %d1, %d7; cvt.u64.u32 %d7, %w4; add.u64 %d1, %d1, %d7;\n"
           "cvt.u64.u32 %d7, %w5; add.u64 %d1, %d1, %d7; st.global.u64 [%out], %d1;\n",
           in, out);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 3000 + 7 + l % 4 + 10 + 5 + 1);
}

static void parameters_are_read_every_way(void **state) {
  hd_buf text = {0};
  op_ptx_header(&text);
  hd_buf_puts(
      &text, ".visible .entry k(.param .u8 a, .param .align 8 .b8 s[24], .param .u64 out, .param .f64 f)\n{\n"
             ".reg .b32 %w<8>; .reg .b64 %d<16>; .reg .b16 %h<4>;\n"
             "ld.param.s8 %w1, [a]; cvt.s64.s32 %d1, %w1; ld.param.u64 %d2, [out];\n"
             "ld.param.v2.u32 {%w2, %w3}, [s+8]; cvt.u64.u32 %d3, %w2; cvt.u64.u32 %d4, %w3;\n"
             "mov.b64 %d5, s; ld.param.u64 %d6, [%d5+16]; cvta.param.u64 %d7, %d5; ld.u32 %w4, [%d7+4]; "
             "cvt.u64.u32 %d8, %w4;\n"
             "ld.param.f64 %d9, [f];\n"
             "st.global.u64 [%d2], %d1; st.global.v2.u64 [%d2+16], {%d3, %d4}; st.global.u64 [%d2+8], %d6;\n"
             "st.global.v2.u64 [%d2+32], {%d8, %d9};\nret;\n}\n");
  op_machine x;
  hd_diag d = {0};
  op_load(&x, &text, HD_ISA_AUTO);
  struct {
    int8_t a;
    uint32_t s[6] __attribute__((aligned(8)));
    uint64_t out;
    double f;
  } args = {-5, {1, 2, 3, 4, 5, 6}, op_alloc(&x, NULL, 64), 2.5};
  uint64_t out[6];
  op_ok(op_launch(&x, "k", 1, 1, &args, sizeof args, &d), &d);
  op_ok(hd_emu_read(x.e, args.out, out, sizeof out, &d), &d);
  const uint64_t want[6] = {(uint64_t)-5, 6ull << 32 | 5, 3, 4, 2, 0x4004000000000000};
  assert_memory_equal(out, want, sizeof out);
  op_unload(&x);
  hd_buf_free(&text);
}

static void shared_variables_of_callees_do_not_overlap(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_body(
      ".shared .align 4 .u32 outer[32];\n"
      ".func (.param .u32 r) f(.param .u32 a)\n{\n.reg .b32 %w<4>; .reg .b64 %d<4>; .shared .align 16 .u32 "
      "inner[32];\n"
      "ld.param.u32 %w1, [a]; mov.u32 %w2, %tid.x; mov.u64 %d1, inner; mad.wide.u32 %d1, %w2, 4, %d1;\n"
      "st.shared.u32 [%d1], %w1; ld.shared.u32 %w3, [%d1]; add.u32 %w3, %w3, 1; st.param.u32 [r], %w3; "
      "ret;\n}\n",
      ".shared .align 8 .b8 own[12];\n"
      "mov.u64 %d1, outer; mad.wide.u32 %d1, %i, 4, %d1; st.shared.u32 [%d1], %i; st.shared.u32 [own+8], "
      "77;\n"
      "{ .param .u32 p; .param .u32 q; st.param.u32 [p], 500; call.uni (q), f, (p); ld.param.u32 %w1, [q]; "
      "}\n"
      "ld.shared.u32 %w2, [%d1]; ld.shared.u32 %w3, [own+8]; add.u32 %w1, %w1, %w2; add.u32 %w1, %w1, %w3;\n"
      "cvt.u64.u32 %d2, %w1; st.global.u64 [%out], %d2;\n",
      in, out);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 501 + l + 77);
}

/* ---- 128 bits ---------------------------------------------------------------------------- */

static void wide_registers(void **state) {
  uint64_t in[LANES], out[LANES];
  random_in(in, 5);
  run_body(".global .align 16 .b8 room[512];",
           "ld.global.u64 %d1, [%in]; not.b64 %d2, %d1; mov.b128 %q1, {%d1, %d2};\n"
           "mov.u64 %d3, room; mad.wide.u32 %d3, %i, 16, %d3; st.global.b128 [%d3], %q1; ld.global.b128 %q2, "
           "[%d3];\n"
           "mov.b128 {%d4, %d5}, %q2; mov.b128 %q3, {%d5, %d4}; atom.global.cas.b128 %q1, [%d3], %q2, %q3;\n"
           "mov.b128 {%d6, %d7}, %q1; atom.global.exch.b128 %q1, [%d3], %q2; mov.b128 {%d8, %d9}, %q1;\n"
           "xor.b64 %d6, %d6, %d8; xor.b64 %d6, %d6, %d4; xor.b64 %d7, %d7, %d9;\n"
           "add.u64 %d6, %d6, %d7; st.global.u64 [%out], %d6;\n",
           in, out);
  /* old = {a, ~a}; after cas {~a, a}: a ^ ~a ^ a = ~a, and ~a ^ a = all ones. */
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], ~in[l] - 1);
}

/* ---- Atomics -------------------------------------------------------------------------------- */

typedef struct atomic {
  const char *op, *type;
  unsigned bits;
  uint64_t (*next)(uint64_t old, uint64_t b);
} atomic;
#define NEXT(id, expr)                                                                                       \
  static uint64_t id(uint64_t old, uint64_t b) { return (uint64_t)(expr); }
NEXT(next_add, old + b)
NEXT(next_and, (old & b))
NEXT(next_or, old | b)
NEXT(next_xor, old ^ b)
NEXT(next_exch, b)
NEXT(next_inc, (uint32_t)old >= (uint32_t)b ? 0 : old + 1)
NEXT(next_dec, (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1)
NEXT(next_minu, (uint32_t)old < (uint32_t)b ? old : b)
NEXT(next_maxs, (int32_t)old > (int32_t)b ? old : b)
NEXT(next_min64, (int64_t)old < (int64_t)b ? old : b)
NEXT(next_max64, old > b ? old : b)
NEXT(next_f32, bits_f32(flush(flush(f32_of(old)) + flush(f32_of(b)))))
static const atomic atomics[] = {
    {"add", "u32", 32, next_add},   {"add", "s32", 32, next_add},   {"add", "u64", 64, next_add},
    {"and", "b32", 32, next_and},   {"or", "b64", 64, next_or},     {"xor", "b32", 32, next_xor},
    {"exch", "b32", 32, next_exch}, {"exch", "b64", 64, next_exch}, {"inc", "u32", 32, next_inc},
    {"dec", "u32", 32, next_dec},   {"min", "u32", 32, next_minu},  {"max", "s32", 32, next_maxs},
    {"min", "s64", 64, next_min64}, {"max", "u64", 64, next_max64}, {"add", "f32", 32, next_f32}};

/* Lanes act in ascending order; several of them on each of four words. */
static void atomics_act_in_lane_order(void **state) {
  for (unsigned k = 0; k < sizeof atomics / sizeof atomics[0]; k++) {
    const atomic *a = &atomics[k];
    const char letter = a->bits == 32 ? 'w' : 'd';
    for (unsigned space = 0; space < 3; space++) {
      static const char *name[] = {".global", ".shared", ""};
      char body[1024];
      uint64_t in[LANES], out[LANES], cell[4];
      for (unsigned l = 0; l < LANES; l++) in[l] = op_value(k, l) >> (hd_random_at(k, l) & 31);
      if (strcmp(a->type, "f32") == 0)
        for (unsigned l = 0; l < LANES; l++) in[l] = 0x3f800000 + (in[l] & 0xffffff);
      for (unsigned c = 0; c < 4; c++) cell[c] = 0;
      snprintf(body, sizeof body,
               "ld.global.u64 %%d1, [%%in]; cvt.u32.u64 %%w1, %%d1; and.b32 %%w2, %%i, 3; mov.u64 %%d2, %s;\n"
               "mad.wide.u32 %%d2, %%w2, 8, %%d2; st%s.u64 [%%d2], 0; bar.warp.sync -1;\n"
               "atom%s.%s.%s %%%c3, [%%d2], %%%c1; mov.u64 %%d4, 0; %s st.global.u64 [%%out], %%d%d;\n",
               space == 1 ? "s" : "g", name[space], name[space], a->op, a->type, letter, letter,
               a->bits == 32 ? "cvt.u64.u32 %d4, %w3;" : "", a->bits == 32 ? 4 : 3);
      run_body(".shared .align 8 .u64 s[4]; .global .align 8 .u64 g[4];", body, in, out);
      for (unsigned l = 0; l < LANES; l++) {
        const uint64_t keep = a->bits == 32 ? UINT32_MAX : UINT64_MAX;
        if (out[l] != cell[l % 4])
          fail_msg("atom%s.%s.%s, lane %u: old value %llx, not %llx", name[space], a->op, a->type, l,
                   (unsigned long long)out[l], (unsigned long long)cell[l % 4]);
        cell[l % 4] = a->next(cell[l % 4] & keep, in[l] & keep) & keep;
      }
    }
  }
}

static void compare_and_swap(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  /* A lock-free stack of lane numbers: lane l replaces l by l + 1. */
  run_body(".global .u32 g; .shared .align 8 .u64 s; .global .align 4 .b8 h[4];",
           "mov.u32 %w1, %i; add.u32 %w2, %i, 1; atom.global.cas.b32 %w3, [g], %w1, %w2;\n"
           "cvt.u64.u32 %d1, %i; add.u64 %d2, %d1, 1; st.shared.u64 [s], 0; bar.warp.sync -1; "
           "atom.shared.cas.b64 %d3, [s], %d1, %d2;\n"
           "cvt.u16.u32 %h1, %i; add.u16 %h2, %h1, 1; atom.global.cas.b16 %h3, [h], %h1, %h2;\n"
           "cvt.u64.u32 %d4, %w3; cvt.u64.u16 %d5, %h3; add.u64 %d3, %d3, %d4; add.u64 %d3, %d3, %d5; "
           "st.global.u64 [%out], %d3;\n",
           in, out);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 3 * l);
}

static void reductions_and_vectors(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_body(
      ".global .align 16 .f32 v[4]; .global .align 4 .b32 h2; .global .u32 r; .global .align 8 .f64 f;",
      "cvt.rn.f32.u32 %f1, %i; mov.u64 %d1, v;\n"
      "red.global.add.v4.f32 [%d1], {%f1, %f1, %f1, 0f3F800000}; red.global.add.u32 [r], 3; "
      "red.global.add.f64 [f], 0d3FE0000000000000;\n"
      "atom.global.add.noftz.f16x2 %w1, [h2], 0x3C003C00;\n"
      "bar.warp.sync -1; ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [v]; add.f32 %f2, %f2, %f5; cvt.rzi.u64.f32 "
      "%d2, %f2;\n"
      "ld.global.u32 %w2, [r]; ld.global.u16 %w3, [h2]; add.u32 %w2, %w2, %w3; cvt.u64.u32 %d3, %w2; add.u64 "
      "%d2, %d2, %d3;\n"
      "ld.global.f64 %d4, [f]; cvt.rzi.u64.f64 %d5, %d4; add.u64 %d2, %d2, %d5; st.global.u64 [%out], %d2;\n",
      in, out);
  for (unsigned l = 0; l < LANES; l++)
    assert_int_equal(out[l], 31 * 16 + 32 + 96 + 0x5000 + 16); /* 0x5000 is 32 in f16 */
}

/* ---- cp.async -------------------------------------------------------------------------------- */

static void vector_atomics_read_all_operands_first(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_body(".global .align 8 .f32 v[64];",
           "cvt.rn.f32.u32 %f1, %i; mov.f32 %f2, 0f3F800000; mov.u64 %d1, v; mad.wide.u32 %d1, %i, 8, %d1;\n"
           "atom.global.add.v2.f32 {%f1, %f2}, [%d1], {%f2, %f1}; ld.global.v2.f32 {%f3, %f4}, [%d1];\n"
           "add.f32 %f3, %f3, %f1; add.f32 %f3, %f3, %f2; mov.f32 %f5, 0f447A0000; fma.rn.f32 %f3, %f4, %f5, "
           "%f3;\n"
           "cvt.rzi.u64.f32 %d2, %f3; st.global.u64 [%out], %d2;\n",
           in, out);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 1 + 1000 * l);
}

static void asynchronous_copies_fill_with_zero(void **state) {
  uint64_t in[LANES], out[LANES];
  random_in(in, 9);
  /* Even lanes copy 8 bytes, odd ones lane / 2 % 9 of 8; lanes from 16 on skip the source. */
  run_body(
      ".shared .align 16 .b8 s[256];",
      "mov.u64 %d1, s; mad.wide.u32 %d1, %i, 8, %d1; st.shared.u64 [%d1], -1;\n"
      "and.b32 %w1, %i, 1; setp.eq.u32 %p1, %w1, 0; shr.u32 %w2, %i, 1; rem.u32 %w2, %w2, 9; selp.u32 %w2, "
      "8, %w2, %p1;\n"
      "setp.ge.u32 %p2, %i, 16;\n"
      "@!%p2 cp.async.ca.shared.global [%d1], [%in], 8, %w2;\n@%p2 cp.async.ca.shared.global.L2::128B [%d1], "
      "[%in], 8, %p1;\n"
      "cp.async.commit_group; cp.async.wait_group 0;\nld.shared.u64 %d2, [%d1]; st.global.u64 [%out], %d2;\n",
      in, out);
  for (unsigned l = 0; l < LANES; l++) {
    const unsigned size = l >= 16 ? (l % 2 ? 8 : 0) : l % 2 ? l / 2 % 9 : 8;
    assert_int_equal(out[l], size == 8 ? in[l] : size ? in[l] & ((1ull << 8 * size) - 1) : 0);
  }
}

static void cache_words_change_no_result(void **state) {
  static const char *const loads[] = {"ld.global.ca.u64",
                                      "ld.global.cg.u64",
                                      "ld.global.cs.u64",
                                      "ld.global.lu.u64",
                                      "ld.global.cv.u64",
                                      "ld.global.nc.u64",
                                      "ld.global.nc.L1::no_allocate.L2::128B.u64",
                                      "ld.volatile.global.u64",
                                      "ld.relaxed.gpu.global.u64",
                                      "ld.acquire.sys.global.u64",
                                      "ld.weak.global.u64",
                                      "ld.global.L1::evict_last.u64",
                                      "ld.mmio.relaxed.sys.global.u64",
                                      "ldu.global.u64",
                                      "ld.global.L1::evict_first.L2::256B.u64"};
  static const char *const stores[] = {
      "st.global.wb.u64",          "st.global.cg.u64",       "st.global.cs.u64",
      "st.global.wt.u64",          "st.volatile.global.u64", "st.release.gpu.global.u64",
      "st.relaxed.cta.global.u64", "st.weak.global.u64",     "st.global.L1::no_allocate.u64"};
  for (unsigned k = 0; k < sizeof loads / sizeof loads[0]; k++) {
    uint64_t in[LANES], out[LANES];
    char body[512];
    random_in(in, k);
    snprintf(body, sizeof body,
             "createpolicy.fractional.L2::evict_last.b64 %%d9, 1.0; prefetch.global.L2 [%%in]; prefetchu.L1 "
             "[%%in];\n"
             "%s %%d1, [%%in]; ld.global.L2::cache_hint.u64 %%d2, [%%in], %%d9; add.u64 %%d1, %%d1, %%d2;\n"
             "%s [%%out], %%d1; membar.gl; fence.acq_rel.gpu;\n",
             loads[k], stores[k % 9]);
    run_body("", body, in, out);
    for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 2 * in[l]);
  }
}

/* Two CTAs store at `where`, in bytes, %r1 by thread %r0 of CTA %r2; the launch's end, and the words. */
static hd_status two_stores(const char *where, uint32_t out[LANES], hd_diag *d) {
  hd_buf text = {0};
  op_machine x;
  op_ptx_header(&text);
  hd_buf_printf(&text,
                ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<8>; .reg .b64 %%d<4>;\n"
                "ld.param.u64 %%d0, [out];\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
                "mad.lo.u32 %%r1, %%r2, 100, %%r0;\n%s;\ncvt.u64.u32 %%d1, %%r3;\nadd.u64 %%d0, %%d0, %%d1;\n"
                "st.global.u32 [%%d0], %%r1;\nret;\n}\n",
                where);
  op_load(&x, &text, HD_ISA_AUTO);
  const uint64_t to = op_alloc(&x, NULL, LANES * sizeof *out);
  const hd_status st = op_launch(&x, "k", CTAS, LANES, &to, sizeof to, d);
  op_ok(hd_emu_read(x.e, to, out, LANES * sizeof *out, &(hd_diag){0}), d);
  op_unload(&x);
  hd_buf_free(&text);
  return st;
}

static void the_last_lane_wins(void **state) {
  uint32_t out[LANES];
  hd_diag d = {0};
  op_ok(two_stores("mov.u32 %r3, 8", out, &d), &d);
  assert_int_equal(out[2], 131);
  assert_int_equal(out[1], 0);
  assert_int_equal(out[3], 0);
}

static void known_bounds_are_kept(void **state) {
  uint32_t out[LANES];
  hd_diag d = {0};
  /* rows that follow each other, alike ones, and others */
  assert_int_equal(two_stores("add.u32 %r3, %r0, %r2; shl.b32 %r3, %r3, 2", out, &d), HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "0 bytes past the end of the 128-byte allocation"));
  assert_int_equal(two_stores("mul.lo.u32 %r3, %r2, 128", out, &d), HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "0 bytes past the end of the 128-byte allocation"));
  assert_int_equal(two_stores("sub.u32 %r3, 31, %r0; add.u32 %r3, %r3, %r2; shl.b32 %r3, %r3, 2", out, &d),
                   HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "0 bytes past the end of the 128-byte allocation"));
  assert_int_equal(two_stores("shl.b32 %r3, %r2, 1", out, &d), HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "misaligned store of 4 bytes"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every width goes through every space, for every pattern of addresses", loads_and_stores),
      BEHAVIOUR("generic addresses may lie in several windows at once", generic_addresses_of_several_windows),
      BEHAVIOUR("variables have addresses and initial values", variables_have_addresses_and_values),
      BEHAVIOUR("parameters are read directly, in vectors, by address and generically",
                parameters_are_read_every_way),
      BEHAVIOUR("shared variables of a kernel and its callees do not overlap",
                shared_variables_of_callees_do_not_overlap),
      BEHAVIOUR("registers of 128 bits move, load, store and swap", wide_registers),
      BEHAVIOUR("atomics act lane by lane in ascending order", atomics_act_in_lane_order),
      BEHAVIOUR("cas swaps only what matches", compare_and_swap),
      BEHAVIOUR("red, and atomics on vectors and halves", reductions_and_vectors),
      BEHAVIOUR("vector atomics read all operands before they write", vector_atomics_read_all_operands_first),
      BEHAVIOUR("cp.async copies, cuts and fills with zero", asynchronous_copies_fill_with_zero),
      BEHAVIOUR("of stores to one address the last lane's stays", the_last_lane_wins),
      BEHAVIOUR("accesses beyond bounds that earlier ones met are faults", known_bounds_are_kept),
      BEHAVIOUR("cache operators, hints and orders change no result", cache_words_change_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
