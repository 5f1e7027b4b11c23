/* Video instructions: random forms of all of them, against a reading of the PTX ISA that goes by the form's
 * own words. */
#include "emu/ops_run.h"

/* ---- A form -------------------------------------------------------------------------------- */

typedef struct form {
  char op[16];
  unsigned lanes; /* 1, 2, 4 */
  char types[3];  /* 'u' or 's': d, a, b */
  char words[3][8];
  unsigned n_words;
  char part[3][8]; /* of d, a, b: "" or "h1", "b0123" */
  bool minus[3];   /* a, b, c of vmad */
} form;

static const char *const operations[] = {"vadd",      "vsub",  "vabsdiff", "vmin",   "vmax",  "vshl",
                                         "vshr",      "vset",  "vmad",     "vadd2",  "vsub2", "vabsdiff2",
                                         "vmin2",     "vmax2", "vset2",    "vavrg2", "vadd4", "vsub4",
                                         "vabsdiff4", "vmin4", "vmax4",    "vset4",  "vavrg4"};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static uint64_t state;
static unsigned pick(unsigned n) { return (unsigned)(hd_random_at(0x71de0, state++) % n); }
static bool is(const form *f, const char *op) { return strncmp(f->op, op, strlen(op)) == 0; }
static bool has(const form *f, const char *word) {
  for (unsigned k = 0; k < f->n_words; k++)
    if (strcmp(f->words[k], word) == 0) return true;
  return false;
}
static void add_word(form *f, const char *word) { snprintf(f->words[f->n_words++], 8, "%s", word); }

static void pick_part(form *f, unsigned k) {
  static const char *const parts[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
  snprintf(f->part[k], 8, "%s", parts[pick(7)]);
}
static void pick_lanes(form *f, unsigned k) {
  char *p = f->part[k];
  if (pick(3) == 0) return;
  *p++ = f->lanes == 2 ? 'h' : 'b';
  for (unsigned l = 0; l < f->lanes; l++) *p++ = (char)('0' + pick(2 * f->lanes));
}
static void pick_mask(form *f) {
  const unsigned mask = pick(1u << f->lanes);
  char *p = f->part[0];
  if (!mask) return;
  *p++ = f->lanes == 2 ? 'h' : 'b';
  for (unsigned l = f->lanes; l-- > 0;)
    if (mask >> l & 1) *p++ = (char)('0' + l);
}

static form pick_form(unsigned k) {
  static const char *const seconds[] = {"add", "min", "max"}, *const comparisons[] = {"eq", "ne", "lt",
                                                                                      "le", "gt", "ge"};
  form f = {0};
  snprintf(f.op, sizeof f.op, "%s", operations[k % OPERATIONS]);
  const char last = f.op[strlen(f.op) - 1];
  f.lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
  for (unsigned t = 0; t < 3; t++) f.types[t] = pick(2) ? 'u' : 's';
  if (is(&f, "vsh")) {
    f.types[2] = 'u';
    add_word(&f, pick(2) ? "clamp" : "wrap");
  }
  if (is(&f, "vset")) add_word(&f, comparisons[pick(6)]);
  if (is(&f, "vmad")) {
    if (pick(2)) add_word(&f, pick(2) ? "shr7" : "shr15");
    switch (pick(4)) {
    case 0: add_word(&f, "po"); break;
    case 1: f.minus[0] = f.minus[1] = pick(2); break;
    case 2: f.minus[pick(2)] = true; break;
    default: f.minus[2] = pick(2); break;
    }
  }
  const bool sat = !is(&f, "vset") && pick(2);
  const bool second = !is(&f, "vmad") && (f.lanes == 1 || !sat) && pick(2);
  if (sat) add_word(&f, "sat");
  if (second) add_word(&f, f.lanes > 1 ? "add" : seconds[pick(3)]);
  for (unsigned o = 1; o < 3; o++) f.lanes == 1 ? pick_part(&f, o) : pick_lanes(&f, o);
  if (f.lanes > 1) pick_mask(&f);
  if (f.lanes == 1 && !second && !is(&f, "vmad")) pick_part(&f, 0);
  return f;
}

/* The instruction, its words in any order. */
static void put_form(hd_buf *t, const form *f) {
  const unsigned types = is(f, "vset") ? 2 : 3, n = types + f->n_words;
  hd_buf_puts(t, f->op);
  for (unsigned type = 3 - types, word = 0, k = 0; k < n; k++) {
    if (type < 3 && (word == f->n_words || pick(2)))
      hd_buf_printf(t, ".%c32", f->types[type++]);
    else
      hd_buf_printf(t, ".%s", f->words[word++]);
  }
  for (unsigned o = 0; o < 3; o++)
    hd_buf_printf(t, "%s%s%%w%u%s%s", o ? ", " : " ", o && f->minus[o - 1] ? "-" : "", o,
                  f->part[o][0] ? "." : "", f->part[o]);
  hd_buf_printf(t, ", %s%%w3;\n", f->minus[2] ? "-" : "");
}

/* ---- The PTX ISA's reading of it --------------------------------------------------------------- */

typedef __int128 number;

static number cut(uint32_t x, unsigned low, unsigned bits, char type) {
  number v = 0;
  for (unsigned k = 0; k < bits; k++) {
    const number weight = (number)1 << k;
    if (x >> (low + k) & 1) v += k == bits - 1 && type == 's' ? -weight : weight;
  }
  return v;
}
static number limit(number v, unsigned bits, char type) {
  number most = 1, least = 0;
  for (unsigned k = 0; k < bits - (type == 's'); k++) most *= 2;
  if (type == 's') least = -most;
  return v < least ? least : v >= most ? most - 1 : v;
}

static number simple(const form *f, number a, number b) {
  if (is(f, "vadd")) return a + b;
  if (is(f, "vsub")) return a - b;
  if (is(f, "vabsdiff")) return a < b ? b - a : a - b;
  if (is(f, "vmin")) return a < b ? a : b;
  if (is(f, "vmax")) return a < b ? b : a;
  if (is(f, "vavrg")) { /* to the nearest, halves up where the sum is not negative, else down */
    const number sum = a + b, twice = sum >= 0 ? sum + 1 : sum;
    return twice >= 0 ? twice / 2 : -((-twice + 1) / 2);
  }
  if (is(f, "vset"))
    return has(f, "eq")   ? a == b
           : has(f, "ne") ? a != b
           : has(f, "lt") ? a < b
           : has(f, "le") ? a <= b
           : has(f, "gt") ? a > b
                          : a >= b;
  number amount = has(f, "wrap") ? b % 32 : b > 32 ? 32 : b;
  for (; amount > 0; amount--) {
    if (is(f, "vshl"))
      a *= 2;
    else
      a = a >= 0 ? a / 2 : -((-a + 1) / 2);
  }
  return a;
}

static number product_sum(const form *f, number a, number b, uint32_t c) {
  const bool minus = f->minus[0] != f->minus[1];
  const char type = f->types[1] == 's' || f->types[2] == 's' || minus || f->minus[2] ? 's' : 'u';
  number sum = minus ? -(a * b) : a * b;
  sum += f->minus[2] ? -cut(c, 0, 32, type) : cut(c, 0, 32, type);
  if (has(f, "po")) sum++;
  const number step = has(f, "shr7") ? 128 : has(f, "shr15") ? 32768 : 1;
  sum = sum >= 0 ? sum / step : -((-sum + step - 1) / step);
  return has(f, "sat") ? limit(sum, 32, type) : sum;
}

static uint32_t replace(uint32_t c, unsigned low, unsigned bits, number v) {
  for (unsigned k = 0; k < bits; k++) {
    const uint32_t bit = (uint32_t)1 << (low + k);
    c = (v >> k & 1) ? c | bit : c & ~bit;
  }
  return c;
}
static unsigned width(const char *part) { return part[0] == 'b' ? 8 : part[0] == 'h' ? 16 : 32; }
static unsigned place(const char *part) { return part[0] ? (unsigned)(part[1] - '0') * width(part) : 0; }

static uint32_t one_lane(const form *f, uint32_t a, uint32_t b, uint32_t c) {
  const char *d = f->part[0];
  const number x = cut(a, place(f->part[1]), width(f->part[1]), f->types[1]);
  const number y = cut(b, place(f->part[2]), width(f->part[2]), f->types[2]);
  if (is(f, "vmad")) return (uint32_t)product_sum(f, x, y, c);
  const char type = is(f, "vset") ? 'u' : f->types[0];
  number t = simple(f, x, y);
  const number other = cut(c, 0, 32, type);
  if (has(f, "sat")) t = limit(t, width(d), type);
  if (has(f, "add")) return (uint32_t)(t + other);
  if (has(f, "min")) return (uint32_t)(t < other ? t : other);
  if (has(f, "max")) return (uint32_t)(t > other ? t : other);
  return replace(c, place(d), width(d), t);
}

/* Lane k of an operand: of its own register unless a selector says otherwise. */
static number lane_of(const form *f, unsigned o, unsigned k, uint32_t a, uint32_t b) {
  const unsigned bits = 32 / f->lanes;
  unsigned from = o == 1 ? k : f->lanes + k;
  if (f->part[o][0]) from = (unsigned)(f->part[o][f->lanes - k] - '0');
  return cut(from < f->lanes ? a : b, from % f->lanes * bits, bits, f->types[o]);
}

static uint32_t many_lanes(const form *f, uint32_t a, uint32_t b, uint32_t c) {
  const unsigned bits = 32 / f->lanes;
  uint32_t d = c;
  for (unsigned k = 0; k < f->lanes; k++) {
    if (f->part[0][0] && !strchr(f->part[0], (char)('0' + k))) continue;
    number t = simple(f, lane_of(f, 1, k, a, b), lane_of(f, 2, k, a, b));
    if (has(f, "sat")) t = limit(t, bits, f->types[0]);
    d = has(f, "add") ? d + (uint32_t)t : replace(d, k * bits, bits, t);
  }
  return d;
}

/* ---- Both ---------------------------------------------------------------------------------------- */

enum { FORMS = 24 * OPERATIONS, VALUES = 256 };

static void put_kernel(hd_buf *t, const form *f, unsigned k) {
  hd_buf_printf(t,
                ".visible .entry k%u(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .b32 %%w<4>, %%i; .reg .b64 %%at, %%to;\nmov.u32 %%i, %%tid.x;\n"
                "ld.param.u64 %%at, [in];\nmad.wide.u32 %%at, %%i, 12, %%at;\n"
                "ld.param.u64 %%to, [out];\nmad.wide.u32 %%to, %%i, 4, %%to;\n"
                "ld.global.b32 %%w1, [%%at];\nld.global.b32 %%w2, [%%at+4];\nld.global.b32 %%w3, [%%at+8];\n",
                k);
  put_form(t, f);
  hd_buf_puts(t, "st.global.b32 [%to], %w0;\nret;\n}\n");
}

static void check_form(op_machine *x, const form *f, unsigned k, uint64_t at, uint64_t to) {
  static uint32_t in[VALUES][3], out[VALUES];
  hd_diag d = {0};
  char kernel[16];
  for (unsigned i = 0; i < VALUES; i++)
    for (unsigned o = 0; o < 3; o++) in[i][o] = (uint32_t)op_value(k, 3 * i + o);
  op_ok(hd_emu_write(x->e, at, in, sizeof in, &d), &d);
  const uint64_t args[2] = {at, to};
  snprintf(kernel, sizeof kernel, "k%u", k);
  op_ok(op_launch(x, kernel, 1, VALUES, args, sizeof args, &d), &d);
  op_ok(hd_emu_read(x->e, to, out, sizeof out, &d), &d);
  for (unsigned i = 0; i < VALUES; i++) {
    const uint32_t *v = in[i];
    const uint32_t want = f->lanes > 1 ? many_lanes(f, v[0], v[1], v[2]) : one_lane(f, v[0], v[1], v[2]);
    if (out[i] == want) continue;
    hd_buf text = {0};
    put_form(&text, f);
    fail_msg("%s of %x, %x, %x is %x, not %x", text.data, v[0], v[1], v[2], out[i], want);
  }
}

static void every_video_form_is_as_its_words_say(void **ctx) {
  static form forms[FORMS];
  hd_buf text = {0};
  op_ptx_header(&text);
  for (unsigned k = 0; k < FORMS; k++) {
    forms[k] = pick_form(k);
    put_kernel(&text, &forms[k], k);
  }
  hd_emu_isa isas[3];
  const unsigned n = op_isas(isas);
  for (unsigned v = 0; v < n; v++) {
    op_machine x;
    op_load(&x, &text, isas[v]);
    const uint64_t at = op_alloc(&x, NULL, VALUES * 12), to = op_alloc(&x, NULL, VALUES * 4);
    for (unsigned k = 0; k < FORMS; k++) check_form(&x, &forms[k], k, at, to);
    op_unload(&x);
  }
  hd_buf_free(&text);
}

/* ---- Known results, and refusals ------------------------------------------------------------------- */

WANT(signed_byte, 42)
WANT(saturated, 127)
WANT(plus_one, 4)
WANT(halves_saturate, 0x7fff0003)
WANT(equal_bytes, 10)
static void known_results(void **ctx) {
  static const op_case cases[] = {
      {"{ .reg .b32 %a, %b; mov.b32 %a, 0x80; mov.b32 %b, 1; vset.s32.u32.lt.add %w0, %a.b0, %b.b0, 41; } "
       "mov.b32",
       "w=", signed_byte, ", %w0"},
      {"{ .reg .b32 %a, %b; mov.b32 %a, 255; mov.b32 %b, -128; vadd.s32.u32.s32.sat %w0, %a.b0, %b.b0; } "
       "{ .reg .b32 %c; vadd.s32.sat.s32.s32 %w0, %w0, 0; } mov.b32",
       "w=", saturated, ", %w0"},
      {"{ .reg .b32 %a; mov.b32 %a, 1; vmad.s32.s32.s32.po %w0, %a, %a, 2; } mov.b32", "w=", plus_one,
       ", %w0"},
      {"{ .reg .b32 %a, %b, %c; mov.b32 %a, 0x7fff0001; mov.b32 %b, 0x00020002; mov.b32 %c, 0; "
       "vadd2.s32.s32.s32.sat %w0, %a, %b, %c; } mov.b32",
       "w=", halves_saturate, ", %w0"},
      {"{ .reg .b32 %a, %b, %c; mov.b32 %a, 0x01020304; mov.b32 %b, 0x01ff03ff; mov.b32 %c, 8; "
       "vset4.u32.u32.eq.add %w0, %a, %b, %c; } mov.b32",
       "w=", equal_bytes, ", %w0"},
  };
  op_check(cases, sizeof cases / sizeof cases[0]);
}

/* As ptxas does. */
static void impossible_forms_are_refused(void **ctx) {
  static const char *const refused[] = {
      "vadd.s32.u32.s32.sat.add %w0.h1, %w1.b0, %w2.b3, %w3;", /* two ways to use c */
      "vadd.s32.u32.s32 %w0.h1, %w1, %w2;",                    /* nothing to merge with */
      "vadd.s32.u32.s32 %w0, -%w1, %w2;",
      "vadd.u64.u32.s32 %w0, %w1, %w2;",
      "vadd.s32.u32 %w0, %w1, %w2;",
      "vadd.s32.u32.s32.mul %w0, %w1, %w2, %w3;",
      "vadd.s32.u32.s32 %w0, %tid.x, %w2;",
      "vadd.u32.u32.u32 %w0, %tid.x, %w2;", /* of whole registers, too */
      "vadd.s32.u32.s32.add.min %w0, %w1, %w2, %w3;",
      "vmad.s32.s32.s32 %w0, %w1, -%w2, -%w3;",
      "vmad.s32.s32.s32.po %w0, -%w1, %w2, %w3;",
      "vmad.u32.u32.u32.shr7.shr15 %w0, %w1, %w2, %w3;",
      "vmad.u32.u32.u32 %w0.h0, %w1, %w2, %w3;",
      "vmad.u32.u32.u32 %w0, %w1, %w2;",
      "vset.u32.u32.lo %w0, %w1, %w2;",
      "vset.s32.s32.s32.ne %w0, %w1, %w2;",
      "vset.u32.u32.eq.sat %w0, %w1, %w2;",
      "vset.u32.u32 %w0, %w1, %w2;",
      "vshl.s32.s32.s32.clamp %w0, %w1, %w2;",
      "vshl.u32.u32.u32 %w0, %w1, %w2;",
      "vshl.u32.u32.u32.clamp.wrap %w0, %w1, %w2;",
      "vadd2.s32.s32.s32 %w0, %w1, %w2;",
      "vadd2.s32.u32.s32.add %w0.h01, %w1, %w2, %w3;", /* a mask counts down */
      "vadd2.s32.u32.s32.sat.add %w0, %w1, %w2, %w3;",
      "vadd2.s32.u32.s32.min %w0, %w1, %w2, %w3;",
      "vset2.s32.u32.lt %w0, %w1.h1, %w2, %w3;", /* one lane is no pair */
      "vadd4.s32.u32.s32 %w0, %w1.b8654, %w2, %w3;",
      "vadd4.s32.u32.s32 %w0.h0, %w1, %w2, %w3;",
      "vadd4.s32.u32.s32 %w0, %w1, 7, %w3;",
      "vabsdiff4.u32.u32.u32 %w0, %w1, 7, %w3;",
  };
  for (unsigned k = 0; k < sizeof refused / sizeof refused[0]; k++) {
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    op_ptx_header(&text);
    hd_buf_printf(&text, ".visible .entry k()\n{\n.reg .b32 %%w<4>;\n%s\nret;\n}\n", refused[k]);
    op_load(&x, &text, HD_ISA_PORTABLE);
    if (op_launch(&x, "k", 1, 32, NULL, 0, &d) != HD_ERR_UNSUPPORTED) fail_msg("taken: %s", refused[k]);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("video instructions do as the PTX ISA says, in all their forms",
                every_video_form_is_as_its_words_say),
      BEHAVIOUR("video instructions give known results", known_results),
      BEHAVIOUR("video instructions that ptxas refuses are refused", impossible_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
