/* How results come from operands: the rows that ptx_ops.def names, and what modifiers change.
 *
 * Analyses evaluate these over their own numbers (intervals, multiples of 32, sums of registers, directions),
 * so that they know sums and products and list no opcodes. tests/emu/test_ops_results.c compares each row
 * with what the emulator computes. */
#include "base/arith.h"
#include "heddle/ptx_facts.h"

typedef enum row {
  ANYTHING = 0,
  COPY,
  PLACE,
  SUM,
  DIFFERENCE,
  PRODUCT,
  PRODUCT_SUM,
  SHIFTED_UP,
  SHIFTED_DOWN,
  QUOTIENT,
  REMAINDER,
  MASKED,
  PART,
  JOINED,
  NEGATED,
  MIXED,
  LEAST,
  GREATEST,
  CHOICE,
  COMPARISON,
} row;

/* clang-format off */
static const hd_ptx_result results[] = {
    [ANYTHING] = {HD_MAKES_ANYTHING, 0, 0, {{0}}},
    [COPY] = {HD_MAKES_SUM, 2, 1, {{1}}},
    [PLACE] = {HD_MAKES_PLACE, 2, 1, {{1}}},
    [SUM] = {HD_MAKES_SUM, 3, 2, {{1}, {2}}},
    [DIFFERENCE] = {HD_MAKES_SUM, 3, 2, {{1}, {2, .minus = true}}},
    [PRODUCT] = {HD_MAKES_SUM, 3, 1, {{1, .by = 2}}},
    [PRODUCT_SUM] = {HD_MAKES_SUM, 4, 2, {{1, .by = 2}, {3}}},
    [SHIFTED_UP] = {HD_MAKES_SUM, 3, 1, {{1, .by = 2, .power = true}}},
    [SHIFTED_DOWN] = {HD_MAKES_QUOTIENT, 3, 1, {{1, .by = 2, .power = true}}},
    [QUOTIENT] = {HD_MAKES_QUOTIENT, 3, 1, {{1, .by = 2}}},
    [REMAINDER] = {HD_MAKES_REMAINDER, 3, 1, {{1, .by = 2}}},
    [MASKED] = {HD_MAKES_MASKED, 3, 1, {{1, .by = 2}}},
    [PART] = {HD_MAKES_PART, 0, 0, {{0}}},
    [JOINED] = {HD_MAKES_JOINED, 3, 2, {{1}, {2}}},
    [NEGATED] = {HD_MAKES_NEGATED, 2, 1, {{1, .minus = true}}},
    [MIXED] = {HD_MAKES_MIXED, 0, 0, {{0}}},
    [LEAST] = {HD_MAKES_LEAST, 3, 2, {{1}, {2}}},
    [GREATEST] = {HD_MAKES_GREATEST, 3, 2, {{1}, {2}}},
    [CHOICE] = {HD_MAKES_CHOICE, 4, 2, {{1}, {2}}},
    [COMPARISON] = {HD_MAKES_COMPARISON, 3, 2, {{1}, {2}}},
};
/* clang-format on */

static const uint8_t rows[HD_OP_COUNT] = {
#define PTX_OP(id, text, class, alike, result, flags) [HD_OP_##id] = result,
#include "heddle/ptx_ops.def"
#undef PTX_OP
};

const hd_ptx_result *hd_ptx_op_result(hd_ptx_op op) {
  return &results[op < HD_OP_COUNT ? rows[op] : ANYTHING];
}

/* A word with which the result is what the table says: with any other, such as .sat or .relu, it may not be.
 */
static bool is_plain(hd_mod mod) {
  static const hd_mod plain[] = {HD_M_LO, HD_M_HI, HD_M_WIDE, HD_M_CC, HD_M_TO};
  const hd_mod_kind kind = hd_ptx_mod_kind(mod);
  if (kind == HD_MK_TYPE || kind == HD_MK_SPACE) return true;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (plain[i] == mod) return true;
  return false;
}

/* A float, or several numbers in one. */
static bool is_whole(hd_ptx_type t) {
  return t.number != HD_NUM_FLOAT && t.format == HD_FMT_NONE && t.elements <= 1;
}

static bool words_fit(const hd_ptx_result *r, const hd_ptx_form *f) {
  for (unsigned k = 0; k < f->n_mods; k++)
    if ((!is_plain(f->mods[k]) && r->makes != HD_MAKES_COMPARISON) ||
        (!is_whole(hd_ptx_type_of(f->mods[k])) && !hd_ptx_is_copy(r)))
      return false;
  return true;
}

/* .hi of a product is its upper half; setp.hi compares. */
static bool takes_upper_half(const hd_ptx_result *r, const hd_ptx_form *f) {
  return r->makes == HD_MAKES_SUM && r->terms[0].by && hd_ptx_form_has(f, HD_M_HI);
}

const hd_ptx_result *hd_ptx_result_of(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = &m->forms[s->form];
  const hd_ptx_result *r = hd_ptx_op_result(f->op);
  if (r->makes == HD_MAKES_ANYTHING) return r;
  if (f->flags & HD_OPF_UNKNOWN || (r->n_opnds && s->n_opnds != r->n_opnds) || !words_fit(r, f))
    return &results[ANYTHING];
  if (takes_upper_half(r, f)) return &results[r->n_terms == 1 ? PART : ANYTHING];
  return r;
}

/* Of a term's operand: shifts go by 32 bits, and what .wide adds to a product has as many bits as that. */
static hd_ptx_type operand_type(const hd_ptx_form *f, const hd_ptx_result *r, uint32_t operand) {
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  if (type[1].bits) type[0] = type[1];
  for (unsigned k = 0; k < r->n_terms; k++) {
    const hd_ptx_term *t = &r->terms[k];
    if (t->power && t->by == operand) return (hd_ptx_type){HD_NUM_UNSIGNED, HD_FMT_NONE, 1, 32};
    if (t->of != operand && t->by != operand) continue;
    if (!t->by && hd_ptx_form_has(f, HD_M_WIDE)) type[0].bits *= 2;
    return type[0];
  }
  return (hd_ptx_type){0};
}

int64_t hd_ptx_number_of(const hd_ptx_form *f, const hd_ptx_result *r, uint32_t operand, int64_t value) {
  const hd_ptx_type t = operand_type(f, r, operand);
  if (!t.bits || t.bits >= 64) return value;
  if (t.number == HD_NUM_SIGNED || (value < 0 && !hd_ptx_form_has(f, HD_M_WIDE)))
    return hd_sign_extend((uint64_t)value, t.bits);
  return (int64_t)((uint64_t)value & ((UINT64_C(1) << t.bits) - 1));
}
