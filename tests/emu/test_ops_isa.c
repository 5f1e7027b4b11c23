/* Every handler of every table, called on random registers: the instruction sets agree bit for bit, inactive
 * lanes keep their values, and active ones do not depend on the others. */
#include "check.h"
#include "emu/ops/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame: four sources, two destinations, four slots (128 bits) each. */
enum { OPERANDS = 6, SLOTS = 4 * OPERANDS, FRAME = SLOTS * EMU_SLOT_BYTES };
typedef struct frame {
  char bytes[FRAME] __attribute__((aligned(64)));
} frame;

static unsigned bits_of(char letter) {
  return strchr("hk", letter)    ? 16
         : strchr("wif", letter) ? 32
         : strchr("djg", letter) ? 64
         : letter == 'q'         ? 128
                                 : 1;
}

/* Floats of all kinds are frequent in bits drawn like this. */
static uint64_t value(uint64_t seed, uint64_t n) {
  const uint64_t b = hd_random_at(seed, n), pick = hd_random_at(~seed, n);
  switch (pick % 8) {
  case 0: return b & 0xff;
  case 1: return b | 0x7f8000007f800000;
  case 2: return b & 0x807fffff807fffff;
  case 3: return (b & 0x800fffff8000ffff) | 0x3ff000003f800000;
  case 4: return (uint64_t)0 - (b & 0xff);
  case 5: return (b & 0x8000000080000000) | (pick & 64 ? 0x7ff000007f800000 : 0);
  default: return b;
  }
}

static void fill(frame *f, const char *shape, uint64_t seed) {
  for (unsigned o = 0; o < OPERANDS; o++) {
    const size_t n = strlen(shape);
    const unsigned bits = o < 4 ? (2 + o < n ? bits_of(shape[2 + o]) : 32) : n ? bits_of(shape[0]) : 32;
    char *at = f->bytes + o * 4 * EMU_SLOT_BYTES;
    for (unsigned k = 0; k < 64; k++) {
      const uint64_t v = value(seed, o * 64 + k);
      memcpy(at + 8 * k, &v, 8);
    }
    /* Narrow registers are zero-extended in their lanes. */
    for (unsigned l = 0; bits == 16 && l < 32; l++) {
      uint32_t v;
      memcpy(&v, at + 4 * l, 4);
      v &= 0xffff;
      memcpy(at + 4 * l, &v, 4);
    }
  }
}

static emu_inst instruction(const emu_op *op) {
  emu_inst i = {.fn = op->fn, .dst = 16, .dst2 = 20};
  for (uint32_t k = 0; k < 4; k++) i.src[k] = 4 * k;
  return i;
}

/* Lanes of a destination that differ between two frames. */
static uint32_t changed(const frame *a, const frame *b, unsigned slot, unsigned bits) {
  const char *x = a->bytes + slot * EMU_SLOT_BYTES, *y = b->bytes + slot * EMU_SLOT_BYTES;
  uint32_t lanes = 0;
  if (bits == 1) {
    uint32_t p, q;
    memcpy(&p, x, 4);
    memcpy(&q, y, 4);
    return p ^ q;
  }
  const unsigned size = bits <= 32 ? 4 : 8;
  for (unsigned half = 0; half < (bits == 128 ? 2 : 1); half++)
    for (unsigned l = 0; l < 32; l++)
      if (memcmp(x + half * 256 + l * size, y + half * 256 + l * size, size) != 0) lanes |= 1u << l;
  return lanes;
}

/* Handlers that need a machine, or operands that a frame alone does not give. */
static bool needs_more(const emu_op *op) { return !op->shape[0] || strncmp(op->name, "mov.clock", 9) == 0; }

/* Run one handler of each instruction set on equal frames and compare. */
static void compare(const emu_op *const ops[], unsigned n, emu_inst (*make)(const emu_op *, uint64_t),
                    uint64_t seed) {
  const char *shape = ops[0]->shape;
  const uint32_t masks[] = {UINT32_MAX, 1, 0x80000000, 0x0000ffff, (uint32_t)hd_random_at(seed, 1) | 1};
  frame before, after[3], all;
  const unsigned bits = shape[0] ? bits_of(shape[0]) : 64;
  for (unsigned k = 0; k < sizeof masks / sizeof masks[0]; k++) {
    fill(&before, shape, seed);
    for (unsigned v = 0; v < n; v++) {
      after[v] = before;
      emu_inst i = make(ops[v], seed);
      i.fn(NULL, &i, after[v].bytes, masks[k]);
      if (memcmp(&after[v], &after[0], sizeof(frame)) != 0)
        fail_msg("%s: instruction sets %u and 0 differ, mask %08x", ops[v]->name, v, masks[k]);
    }
    if (k == 0) all = after[0];
    if (changed(&before, &after[0], 16, bits) & ~masks[k])
      fail_msg("%s: an inactive lane is written, mask %08x", ops[0]->name, masks[k]);
    if (changed(&all, &after[0], 16, bits) & masks[k])
      fail_msg("%s: a lane depends on the others, mask %08x", ops[0]->name, masks[k]);
    for (unsigned s = 0; s < 16; s++)
      if (memcmp(before.bytes + s * EMU_SLOT_BYTES, after[0].bytes + s * EMU_SLOT_BYTES, EMU_SLOT_BYTES) != 0)
        fail_msg("%s: a source is written", ops[0]->name);
  }
  /* In place: the destination is the first source's very slot. */
  if (shape[0] && shape[2] && bits_of(shape[2]) == bits) {
    for (unsigned v = 0; v < n; v++) {
      after[v] = before;
      emu_inst i = make(ops[v], seed);
      i.dst = i.src[0];
      i.fn(NULL, &i, after[v].bytes, UINT32_MAX);
      for (unsigned l = 0; bits >= 16 && bits < 128 && l < 32; l++) {
        const unsigned size = bits <= 32 ? 4 : 8;
        if (memcmp(after[v].bytes + l * size, all.bytes + 16 * EMU_SLOT_BYTES + l * size, size) != 0)
          fail_msg("%s: another result in place, lane %u", ops[v]->name, l);
      }
    }
  }
}

static const emu_op *const *tables[3];
static unsigned n_tables;

static int find_tables(void **state) {
  const hd_emu_isa best = emu_best_isa();
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= best; isa++)
    if (emu_op_tables(isa)) tables[n_tables++] = emu_op_tables(isa);
  return n_tables ? 0 : 1;
}

static emu_inst plain(const emu_op *op, uint64_t seed) { return instruction(op); }

static void handlers_agree(void **state) {
  unsigned compared = 0;
  for (unsigned t = 0; tables[0][t]; t++) {
    for (unsigned k = 0; tables[0][t][k].name; k++) {
      const emu_op *ops[3] = {0};
      for (unsigned v = 0; v < n_tables; v++) {
        ops[v] = &tables[v][t][k];
        assert_string_equal(ops[v]->name, ops[0]->name);
        assert_string_equal(ops[v]->shape, ops[0]->shape);
      }
      if (needs_more(ops[0])) continue;
      for (uint64_t seed = 0; seed < 12; seed++) compare(ops, n_tables, plain, seed * 1000 + t * 100 + k);
      compared++;
    }
  }
  assert_true(compared > 500);
}

/* ---- Handlers with settings of their own -------------------------------------------- */

static emu_inst rounding(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  static const char letters[] = "+-*/frs";
  i.arith.op = (uint8_t)letters[seed % 7];
  i.arith.round = (uint8_t)(seed / 7 % 4);
  i.arith.ftz = seed / 28 & 1;
  i.arith.sat = seed / 56 & 1;
  return i;
}
static emu_inst halves(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  static const char letters[] = "+-*fxmMyYna";
  i.arith.op = (uint8_t)letters[seed % 11];
  i.arith.fmt = seed & 1 ? NUM_BF16 : NUM_F16;
  i.arith.ftz = seed >> 1 & 1;
  i.arith.sat = seed >> 2 & 1;
  i.arith.nan = seed >> 3 & 1;
  return i;
}
static emu_inst half_functions(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  i.arith.op = seed & 2 ? NUM_EX2 : NUM_TANH;
  i.arith.fmt = seed & 1 ? NUM_BF16 : NUM_F16;
  return i;
}
static emu_inst half_comparison(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  i.compare.op = (uint8_t)(NUM_CMP_EQ + seed % 14);
  i.compare.fmt = seed & 1 ? NUM_BF16 : NUM_F16;
  i.compare.combine = (uint8_t)(seed >> 1 & 3);
  i.compare.negate = seed >> 3 & 1;
  i.imm = 0x3c00;
  return i;
}
static emu_inst integer_conversion(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  static const uint8_t widths[] = {8, 16, 32, 64};
  i.cvt.from = widths[seed & 3];
  i.cvt.to = widths[seed >> 2 & 3];
  i.cvt.sat = seed >> 4 & 1;
  i.cvt.width = i.cvt.to == 64 ? 64 : i.cvt.to == 8 ? 16 : i.cvt.to;
  i.cvt.flags = (uint8_t)((i.cvt.from == 64 ? CVT_SRC_64 : 0) | (i.cvt.to == 64 ? CVT_DST_64 : 0) |
                          (seed & 32 ? CVT_SRC_SIGNED : 0) | (seed & 64 ? CVT_DST_SIGNED : 0));
  return i;
}
static emu_inst float_conversion(const emu_op *op, uint64_t seed) {
  emu_inst i = instruction(op);
  static const uint8_t formats[] = {NUM_F16, NUM_BF16, NUM_F32, NUM_F64};
  i.cvt.from = formats[seed & 3];
  i.cvt.to = formats[seed >> 2 & 3];
  i.cvt.round = (uint8_t)(seed >> 4 & 3);
  i.cvt.ftz = seed >> 6 & 1;
  i.cvt.relu = seed >> 7 & 1;
  i.cvt.flags = (uint8_t)((i.cvt.from == NUM_F64 ? CVT_SRC_64 : 0) | (i.cvt.to == NUM_F64 ? CVT_DST_64 : 0) |
                          (seed & 256 ? CVT_INTEGRAL : 0));
  return i;
}

static const struct {
  const char *name;
  emu_inst (*make)(const emu_op *, uint64_t);
} settings[] = {
    {"round.f32", rounding},          {"round.f64", rounding},        {"round.f32x2", rounding},
    {"half.arith", halves},           {"half.arith2", halves},        {"half.approx", half_functions},
    {"half.approx2", half_functions}, {"setp.half", half_comparison}, {"set.half", half_comparison},
    {"setp.half2", half_comparison},  {"set.half2", half_comparison}, {"cvt.ii", integer_conversion},
    {"cvt.ff", float_conversion},     {"cvt.join", float_conversion}};

/* Instruction sets are compared with each other only: the meaning of a lane depends on the handler. */
static void handlers_with_settings_agree(void **state) {
  for (unsigned s = 0; s < sizeof settings / sizeof settings[0]; s++) {
    unsigned found = 0;
    for (unsigned t = 0; tables[0][t]; t++) {
      for (unsigned k = 0; tables[0][t][k].name; k++) {
        if (strcmp(tables[0][t][k].name, settings[s].name) != 0) continue;
        found++;
        for (uint64_t seed = 0; seed < 512; seed++) {
          frame before, after[3];
          const uint32_t mask = seed % 3 ? (uint32_t)hd_random_at(seed, 7) : UINT32_MAX;
          fill(&before, "", seed);
          for (unsigned v = 0; v < n_tables; v++) {
            emu_inst i = settings[s].make(&tables[v][t][k], seed);
            after[v] = before;
            i.fn(NULL, &i, after[v].bytes, mask);
            if (memcmp(&after[v], &after[0], sizeof(frame)) != 0)
              fail_msg("%s: instruction sets %u and 0 differ, settings %u", settings[s].name, v,
                       (unsigned)seed);
          }
        }
      }
    }
    assert_int_equal(found, 1);
  }
}

static void names_are_unique(void **state) {
  for (unsigned t = 0; tables[0][t]; t++)
    for (unsigned k = 0; tables[0][t][k].name; k++)
      for (unsigned u = t; tables[0][u]; u++)
        for (unsigned j = u == t ? k + 1 : 0; tables[0][u][j].name; j++)
          if (strcmp(tables[0][t][k].name, tables[0][u][j].name) == 0)
            fail_msg("two handlers are called %s", tables[0][u][j].name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("instruction sets agree and inactive lanes stay, for every plain handler", handlers_agree),
      BEHAVIOUR("instruction sets agree for handlers with settings", handlers_with_settings_agree),
      BEHAVIOUR("a handler's name is its own", names_are_unique),
  };
  return cmocka_run_group_tests(tests, find_tables, NULL);
}
