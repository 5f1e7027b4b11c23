/* The order of an instruction's modifiers: free, but for types among themselves and for words that belong to
 * the opcode. */
#include "check.h"
#include "emu/decode/decode.h"

#include <stdio.h>

enum { WORDS = 8, TEXT = 128 };

typedef struct row {
  const char *op;
  const char *words[WORDS]; /* the first `leading` of them belong to the opcode */
  unsigned leading;
  const char *operands;
} row;

static const row rows[] = {
    {"max", {"relu", "s32"}, 0, "%r1, %r2, %r3"},
    {"min", {"s16x2", "relu"}, 0, "%r1, %r2, %r3"},
    {"min", {"ftz", "NaN", "xorsign", "abs", "f32"}, 0, "%f1, %f2, %f3"},
    {"max", {"NaN", "xorsign", "abs", "f16"}, 0, "%h1, %h2, %h3"},
    {"add", {"cc", "u32"}, 0, "%r1, %r2, %r3"},
    {"subc", {"cc", "s64"}, 0, "%d1, %d2, %d3"},
    {"add", {"rz", "ftz", "sat", "f32"}, 0, "%f1, %f2, %f3"},
    {"add", {"rn", "ftz", "sat", "f16"}, 0, "%h1, %h2, %h3"},
    {"sub", {"sat", "s32"}, 0, "%r1, %r2, %r3"},
    {"bfind", {"shiftamt", "u32"}, 0, "%r1, %r2"},
    {"prmt", {"b32", "f4e"}, 0, "%r1, %r2, %r3, 1"},
    {"ex2", {"approx", "ftz", "f32"}, 0, "%f1, %f2"},
    {"rcp", {"approx", "ftz", "f64"}, 0, "%e1, %e2"},
    {"tanh", {"approx", "f16x2"}, 0, "%r1, %r2"},
    {"testp", {"finite", "f32"}, 0, "%p1, %f2"},
    {"bmsk", {"clamp", "b32"}, 0, "%r1, %r2, %r3"},
    {"szext", {"wrap", "u32"}, 0, "%r1, %r2, %r3"},
    {"redux", {"sync", "add", "s32"}, 0, "%r1, %r2, -1"},
    {"shfl", {"sync", "bfly", "b32"}, 0, "%r1, %r2, 1, 31, -1"},
    {"setp", {"lt", "and", "ftz", "f32"}, 0, "%p1, %f1, %f2, %p2"},
    {"set", {"lt", "u32", "f32"}, 0, "%r1, %f1, %f2"},
    {"slct", {"ftz", "f32", "f32"}, 0, "%f1, %f2, %f3, %f4"},
    {"cvt", {"rzi", "ftz", "s32", "f32"}, 0, "%r1, %f1"},
    {"fma", {"rn", "relu", "f16x2"}, 0, "%r1, %r2, %r3, %r4"},
    {"ld", {"relaxed", "gpu", "global", "v2", "u32"}, 0, "{%r1, %r2}, [%d1]"},
    {"atom", {"acq_rel", "gpu", "global", "add", "u32"}, 0, "%r1, [%d1], %r2"},
    {"vadd", {"s32", "u32", "s32", "sat", "min"}, 0, "%r1, %r2, %r3, %r4"},
    {"mul", {"lo", "s32"}, 1, "%r1, %r2, %r3"},
    {"mul", {"wide", "u16"}, 1, "%r1, %h2, %h3"},
    {"mad", {"lo", "cc", "u32"}, 1, "%r1, %r2, %r3, %r4"},
    {"mad", {"hi", "sat", "s32"}, 1, "%r1, %r2, %r3, %r4"},
    {"shf", {"l", "wrap", "b32"}, 1, "%r1, %r2, %r3, %r4"},
    {"div", {"full", "ftz", "f32"}, 1, "%f1, %f2, %f3"},
    {"dp2a", {"lo", "u32", "s32"}, 1, "%r1, %r2, %r3, %r4"},
    {"cvt", {"pack", "sat", "u8", "s32", "b32"}, 1, "%r1, %r2, %r3, %r4"},
    {"cvta", {"to", "global", "u64"}, 1, "%d1, %d2"},
    {"bar", {"red", "popc", "u32"}, 1, "%r1, 0, %p1"},
    {"bar", {"warp", "sync"}, 2, "-1"},
    {"barrier", {"cta", "red", "aligned", "popc", "u32"}, 2, "%r1, 0, %p1"},
    {"barrier", {"cluster", "arrive", "release", "aligned"}, 2, ""},
    {"cp", {"async", "commit_group"}, 2, ""},
    {"cp", {"async", "bulk", "wait_group", "read"}, 3, "0"},
    {"mbarrier", {"try_wait", "parity", "shared", "b64"}, 2, "%p1, [%r1], %r2"},
    {"mbarrier", {"arrive", "expect_tx", "shared", "b64"}, 2, "%d1, [%r1], %r2"},
    {"createpolicy", {"fractional", "L2::evict_last", "b64"}, 1, "%d1, 0f3f800000"},
};

/* ---- Orders -------------------------------------------------------------------------------------- */

static bool is_a_type(const char *w) {
  return strpbrk(w, "0123456789") && !strchr(w, ':') && strcmp(w, "f4e") && w[0] != 'v';
}

/* All orders of a row's words in which types keep theirs, appended as kernels; whether each is to be taken.
 */
typedef struct orders {
  hd_buf text;
  bool taken[4096];
  char shown[4096][TEXT];
  unsigned n;
} orders;

static void put_kernel(orders *o, const row *r, const char *const *words, unsigned n) {
  char line[TEXT] = "";
  bool taken = true;
  strcat(line, r->op);
  for (unsigned k = 0; k < n; k++) {
    strcat(strcat(line, "."), words[k]);
    if (k < r->leading) taken &= words[k] == r->words[k];
  }
  hd_buf_printf(
      &o->text,
      ".visible .entry k%u()\n{\n.reg .b16 %%h<8>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
      ".reg .f32 %%f<8>; .reg .f64 %%e<8>;\n%s %s;\nret;\n}\n",
      o->n, line, r->operands);
  o->taken[o->n] = taken;
  memcpy(o->shown[o->n++], line, sizeof line);
}

static void arrange(orders *o, const row *r, unsigned n, const char **words, unsigned at, unsigned used) {
  if (at == n) {
    put_kernel(o, r, words, n);
    return;
  }
  bool type = false;
  for (unsigned k = 0; k < n; k++) {
    if (used >> k & 1) continue;
    if (is_a_type(r->words[k])) {
      if (type) continue;
      type = true;
    }
    words[at] = r->words[k];
    arrange(o, r, n, words, at + 1, used | 1u << k);
  }
}

/* ---- Decoding -------------------------------------------------------------------------------------- */

static uint64_t address_of(void *ctx, uint32_t var, bool *found) {
  *found = true;
  return EMU_GLOBAL_BASE;
}
static void ok(hd_status st, const hd_diag *d) {
  if (st != HD_OK) fail_msg("%s", d->message);
}

/* An instruction without its place in the source, and what it points to. */
static emu_inst bare(const emu_inst *in) {
  emu_inst i = *in;
  i.line = i.stmt = 0;
  i.extra = NULL;
  return i;
}

static void check_row(const row *r) {
  static orders o;
  const char *words[WORDS];
  unsigned n = 0;
  o = (orders){0};
  while (n < WORDS && r->words[n]) n++;
  hd_buf_puts(&o.text, ".version 8.8\n.target sm_90\n.address_size 64\n");
  arrange(&o, r, n, words, 0, 0);
  hd_arena arena;
  hd_ptx_module *m;
  emu_code **codes;
  hd_diag d = {0};
  hd_arena_init(&arena);
  ok(hd_ptx_parse(o.text.data, o.text.len, "orders", &arena, &m, &d), &d);
  const emu_decode_env env = {
      .m = m, .arena = &arena, .isa = HD_ISA_PORTABLE, .sm = 90, .address_of = address_of};
  ok(emu_decode_module(&env, &codes, &d), &d);
  assert_int_equal(m->n_funcs, o.n);
  const emu_inst first = bare(&codes[0]->insts[0]);
  for (unsigned k = 0; k < o.n; k++) {
    const bool taken = codes[k]->unsupported.status == HD_OK;
    if (taken != o.taken[k])
      fail_msg("%s is %s", o.shown[k], taken ? "taken" : codes[k]->unsupported.message);
    const emu_inst same = bare(&codes[k]->insts[0]);
    if (taken && memcmp(&first, &same, sizeof first) != 0) fail_msg("%s is not %s", o.shown[k], o.shown[0]);
  }
  hd_arena_free(&arena);
  hd_buf_free(&o.text);
}

static void modifiers_may_stand_in_any_order(void **state) {
  for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++) check_row(&rows[k]);
}

/* Types tell operands apart: their order is their meaning. */
static void types_keep_their_order(void **state) {
  assert_true(emu_same_name("cvt.rn.f32.s32", "cvt.f32.rn.s32"));
  assert_false(emu_same_name("cvt.rn.f32.s32", "cvt.rn.s32.f32"));
  assert_false(emu_same_name("max.relu.s32", "max.relu.relu.s32"));
  assert_false(emu_same_name("min.relu.s32", "max.relu.s32"));
  assert_false(emu_same_name("prmt.b32.f4e", "prmt.b32.b4e"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("modifiers may stand in any order, those of the opcode right behind it",
                modifiers_may_stand_in_any_order),
      BEHAVIOUR("types keep their order", types_keep_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
