/* tests/emu/ops_run.h: one PTX instruction run on the emulator for many values, against C.
 *
 * A case is an instruction's name, its operands' shape (ops.h: "w=ww" writes 32 bits and
 * reads two of 32), and a C function of the operands' bits. One module holds a kernel per
 * case, which loads the operands of its thread, runs the instruction and stores the result. */
#ifndef HEDDLE_TESTS_OPS_RUN_H
#define HEDDLE_TESTS_OPS_RUN_H

#include "check.h"
#include "heddle/emu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct op_case {
  const char *name;  /* "add.sat.s32" */
  const char *shape; /* "w=ww"; p: predicates */
  uint64_t (*want)(uint64_t a, uint64_t b, uint64_t c, uint64_t e);
  const char *more; /* operands behind the last, or NULL: ", 0x96" */
} op_case;

/* A case whose result is an expression in a, b, c, e. */
#define WANT(id, expr)                                                                                       \
  static uint64_t id(uint64_t a, uint64_t b, uint64_t c, uint64_t e) {                                       \
    (void)a, (void)b, (void)c, (void)e;                                                                      \
    return (uint64_t)(expr);                                                                                 \
  }

static inline float f32_of(uint64_t b) {
  float f;
  uint32_t w = (uint32_t)b;
  memcpy(&f, &w, 4);
  return f;
}
static inline double f64_of(uint64_t b) {
  double f;
  memcpy(&f, &b, 8);
  return f;
}
static inline uint64_t bits_f32(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return isnan(f) ? 0x7fffffffu : b;
}
/* A NaN result of f64 is the first NaN of the operands, made quiet, or the one with the sign set. */
static inline uint64_t bits_f64(double f, uint64_t first, uint64_t second, uint64_t third) {
  const uint64_t operand[] = {first, second, third}, quiet = 0x0008000000000000;
  uint64_t b;
  memcpy(&b, &f, 8);
  if (!isnan(f)) return b;
  for (unsigned k = 0; k < 3; k++)
    if (isnan(f64_of(operand[k]))) return operand[k] | quiet;
  return 0xfff8000000000000;
}
static inline float flush(float f) { return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f; }
static inline float clamp01(float f) { return f > 0 ? (f < 1 ? f : 1) : 0; }

/* ---- Values -------------------------------------------------------------------------- */

/* Corner cases of every width and format. */
static const uint64_t op_corners[] = {
    /* small numbers, shift counts */
    0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65,
    /* ends of integers */
    0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
    0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
    /* f32 */
    0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0x00800000, 0x007fffff,
    0x4f000000, 0x4effffff, 0xcf000000, 0x5f000000, 0x3f000000, 0x3fc00000, 0x3fffffff, 0x33800000,
    0x7e800001,
    /* f16, bf16 */
    0x3c00, 0x7c00, 0x7e00, 0x0400, 0x03ff, 0xbc00, 0x7f80,
    /* f64 */
    0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x0010000000000000,
    0x000fffffffffffff, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000, 0x3fe0000000000000,
    0x36a0000000000000, 0x3810000000000000,
    /* almost all ones */
    0xfffffffe, 0xfffffff0};

/* Corner cases, numbers beside them, and random bits of random length. */
static inline uint64_t op_value(uint64_t seed, uint64_t n) {
  const uint64_t n_corners = sizeof op_corners / sizeof op_corners[0];
  const uint64_t pick = hd_random_at(seed ^ 0x5eed, n);
  const uint64_t bits = hd_random_at(seed, n);
  switch (pick % 8) {
  case 0:
  case 1: return op_corners[(pick >> 8) % n_corners];
  case 2: return op_corners[(pick >> 8) % n_corners] + (bits & 3) - 1;
  case 3: return bits >> (pick >> 8 & 63);
  case 4: return bits & 0x3f;
  case 5: return (bits & 0x8000000000000000) | 0x3f80000000000000ull >> 0 | (bits >> 12);
  case 6: return (bits & 0x807fffff) | (0x70 + (pick >> 8 & 0x1f)) << 23; /* f32 of middling size */
  default: return bits;
  }
}

/* ---- PTX --------------------------------------------------------------------------------- */

static inline unsigned op_bits(char letter) {
  switch (letter) {
  case 'h': return 16;
  case 'w': return 32;
  case 'd': return 64;
  default: return 1;
  }
}

static inline void op_ptx_header(hd_buf *t) {
  hd_buf_puts(t, ".version 8.8\n.target sm_100\n.address_size 64\n");
}

/* Kernel number k: out[i] = NAME(in[4*i], in[4*i+1], ...), 64 bits each. */
static inline void op_kernel(hd_buf *t, const op_case *c, size_t k) {
  hd_buf_printf(t,
                ".visible .entry k%zu(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .b16 %%h<8>; .reg .b32 %%w<8>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
                ".reg .b64 %%at, %%to; .reg .b32 %%i, %%n; .reg .b32 %%t<8>;\n"
                "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmad.lo.u32 %%i, %%i, %%n, 0;\n"
                "mov.u32 %%n, %%tid.x;\nadd.u32 %%i, %%i, %%n;\n"
                "ld.param.u64 %%at, [in];\nmad.wide.u32 %%at, %%i, 32, %%at;\n"
                "ld.param.u64 %%to, [out];\nmad.wide.u32 %%to, %%i, 8, %%to;\n",
                k);
  const unsigned n = (unsigned)strlen(c->shape) - 2;
  for (unsigned s = 0; s < n; s++) {
    const char letter = c->shape[2 + s];
    if (letter == 'p')
      hd_buf_printf(
          t, "ld.global.b32 %%t%u, [%%at+%u];\nand.b32 %%t%u, %%t%u, 1;\nsetp.ne.u32 %%p%u, %%t%u, 0;\n", s,
          8 * s, s, s, s + 1, s);
    else
      hd_buf_printf(t, "ld.global.b%u %%%c%u, [%%at+%u];\n", op_bits(letter), letter, s + 1, 8 * s);
  }
  hd_buf_printf(t, "%s %%%c0", c->name, c->shape[0]);
  for (unsigned s = 0; s < n; s++) hd_buf_printf(t, ", %%%c%u", c->shape[2 + s], s + 1);
  hd_buf_printf(t, "%s;\nmov.b64 %%d7, 0;\n", c->more ? c->more : "");
  switch (c->shape[0]) {
  case 'p': hd_buf_puts(t, "selp.b64 %d7, 1, 0, %p0;\n"); break;
  case 'h': hd_buf_puts(t, "cvt.u64.u16 %d7, %h0;\n"); break;
  case 'w': hd_buf_puts(t, "cvt.u64.u32 %d7, %w0;\n"); break;
  default: hd_buf_puts(t, "mov.b64 %d7, %d0;\n");
  }
  hd_buf_puts(t, "st.global.b64 [%to], %d7;\nret;\n}\n");
}

/* ---- Running ---------------------------------------------------------------------------------- */

static inline void op_ok(hd_status st, const hd_diag *d) {
  char line[2048];
  if (st != HD_OK) fail_msg("%s", hd_diag_line(d, line, sizeof line));
}

/* An emulator with a module loaded. */
typedef struct op_machine {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
} op_machine;

static inline void op_load(op_machine *x, const hd_buf *text, hd_emu_isa isa) {
  hd_diag d = {0};
  const hd_emu_options opt = {.checks = HD_CHECK_BOUNDS, .threads = 1, .isa = isa};
  hd_arena_init(&x->arena);
  op_ok(hd_ptx_parse(text->data, text->len, "test.ptx", &x->arena, &x->m, &d), &d);
  op_ok(hd_emu_create(&opt, &x->e, &d), &d);
  op_ok(hd_emu_load(x->e, x->m, &x->p, &d), &d);
}
static inline void op_unload(op_machine *x) {
  hd_emu_unload(x->p);
  hd_emu_destroy(x->e);
  hd_arena_free(&x->arena);
}
static inline uint64_t op_alloc(op_machine *x, const void *from, size_t bytes) {
  hd_diag d = {0};
  uint64_t at;
  op_ok(hd_emu_alloc(x->e, bytes, &at, &d), &d);
  if (from) op_ok(hd_emu_write(x->e, at, from, bytes, &d), &d);
  return at;
}
static inline hd_status op_launch(op_machine *x, const char *kernel, uint32_t grid, uint32_t block,
                                  const void *args, size_t bytes, hd_diag *d) {
  const hd_emu_launch_params l = {
      .kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = args, .args_bytes = bytes};
  const hd_dispatch how = {0};
  return hd_emu_launch(x->p, &l, &how, NULL, NULL, d);
}

enum { OP_BLOCK = 128, OP_BLOCKS = 24, OP_VALUES = OP_BLOCK * OP_BLOCKS };

/* The instruction sets this build and processor have. */
static inline unsigned op_isas(hd_emu_isa out[3]) {
  unsigned n = 0;
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= HD_ISA_AVX512; isa++) {
    hd_emu *e;
    const hd_emu_options opt = {.isa = isa, .threads = 1};
    if (hd_emu_create(&opt, &e, NULL) != HD_OK) continue;
    if (hd_emu_isa_used(e) == isa) out[n++] = isa;
    hd_emu_destroy(e);
  }
  return n;
}

static inline void op_check(const op_case *cases, size_t n) {
  static uint64_t in[4 * OP_VALUES], out[OP_VALUES];
  hd_buf text = {0};
  op_ptx_header(&text);
  for (size_t k = 0; k < n; k++) op_kernel(&text, &cases[k], k);
  hd_emu_isa isas[3];
  const unsigned n_isas = op_isas(isas);
  assert_true(n_isas > 0);
  for (unsigned v = 0; v < n_isas; v++) {
    op_machine x;
    hd_diag d = {0};
    op_load(&x, &text, isas[v]);
    const uint64_t at = op_alloc(&x, NULL, sizeof in), to = op_alloc(&x, NULL, sizeof out);
    for (size_t k = 0; k < n; k++) {
      char kernel[32];
      snprintf(kernel, sizeof kernel, "k%zu", k);
      for (size_t i = 0; i < 4 * OP_VALUES; i++) in[i] = op_value(k + 1, i);
      op_ok(hd_emu_write(x.e, at, in, sizeof in, &d), &d);
      const uint64_t args[2] = {at, to};
      op_ok(op_launch(&x, kernel, OP_BLOCKS, OP_BLOCK, args, sizeof args, &d), &d);
      op_ok(hd_emu_read(x.e, to, out, sizeof out, &d), &d);
      const unsigned bits = op_bits(cases[k].shape[0]);
      for (size_t i = 0; i < OP_VALUES; i++) {
        uint64_t operand[4];
        for (unsigned s = 0; s < 4; s++) {
          operand[s] = in[4 * i + s];
          if (s + 2 < strlen(cases[k].shape))
            operand[s] &= UINT64_MAX >> (64 - op_bits(cases[k].shape[2 + s]));
        }
        const uint64_t want =
            cases[k].want(operand[0], operand[1], operand[2], operand[3]) & (UINT64_MAX >> (64 - bits));
        if (out[i] != want)
          fail_msg("%s (instruction set %d): operands %llx %llx %llx %llx give %llx, not %llx", cases[k].name,
                   isas[v], (unsigned long long)operand[0], (unsigned long long)operand[1],
                   (unsigned long long)operand[2], (unsigned long long)operand[3], (unsigned long long)out[i],
                   (unsigned long long)want);
      }
    }
    op_unload(&x);
  }
  hd_buf_free(&text);
}

#endif
