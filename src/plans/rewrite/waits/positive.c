/* Numbers above 0: sizes of the CTA and the grid, numbers of the text, and their products. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8 };

/* A number above 0: what it is at most, UNBOUNDED if that is not known; 0: it may be 0 or less. The threads
 * of a grid, each size of it taken once, and small multiples of them are taken for numbers of 32 bits: loops
 * over elements go by them. */
typedef struct positive {
  int64_t most;
  uint32_t sizes;  /* those that it is a product of, a bit each */
  int64_t factor;  /* and a number of the text */
  bool is_squared; /* some size is taken twice */
} positive;

#define UNBOUNDED INT64_MAX
enum { MOST_OF_GRID = 16, MOST_THREADS = 1024, CTA_SIZES = 7 << 3 }; /* CTA_SIZES: bits of positive.sizes */

static const positive not_positive = {0};

static positive most(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

/* What is left of it in so many bits, of which a signed number has one fewer. */
static positive in_bits(positive x, unsigned bits, bool is_signed) {
  /* The size of the CTA may be a number of the text. */
  const int64_t factor = x.sizes & CTA_SIZES ? MOST_OF_GRID : MOST_OF_GRID * MOST_THREADS;
  const bool grid = x.sizes && !x.is_squared && x.factor <= factor && bits >= 32;
  const bool fits = x.most != UNBOUNDED && (bits >= 64 || x.most < INT64_C(1) << (bits - is_signed));
  return bits && (grid || fits) ? x : not_positive;
}

static positive in_type(positive x, hd_ptx_type type) {
  return in_bits(x, type.bits, type.number == HD_NUM_SIGNED);
}

static positive product(positive a, positive b, unsigned bits, bool is_signed) {
  positive x = {.sizes = a.sizes | b.sizes,
                .is_squared = a.is_squared || b.is_squared || (a.sizes & b.sizes)};
  if (!a.most || !b.most) return not_positive;
  x.most = a.most <= UNBOUNDED / b.most ? a.most * b.most : UNBOUNDED;
  x.factor = a.factor <= UNBOUNDED / b.factor ? a.factor * b.factor : UNBOUNDED;
  return in_bits(x, bits, is_signed);
}

static positive product_at(const wait_search *w, uint32_t at, positive a, positive b) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  hd_ptx_type type[2];
  hd_ptx_types_of(f, type);
  if (hd_ptx_form_has(f, HD_M_HI)) return not_positive;
  return product(a, b, type[0].bits << hd_ptx_form_has(f, HD_M_WIDE), type[0].number == HD_NUM_SIGNED);
}

static positive number(int64_t value) {
  return value > 0 && value <= INT32_MAX ? (positive){.most = value, .factor = value} : not_positive;
}

/* A size of the CTA or the grid. */
static positive size(const wait_search *w, const hd_ptx_opnd *o) {
  const unsigned sreg = w->m->syms[o->sym].index;
  const unsigned axis = o->part == HD_M_X ? 0 : o->part == HD_M_Y ? 1 : o->part == HD_M_Z ? 2 : 3;
  if (axis == 3 || (sreg != HD_SR_NTID && sreg != HD_SR_NCTAID)) return not_positive; /* .w reads 0 */
  return (positive){.most = sreg == HD_SR_NTID ? 1024
                            : axis             ? UINT16_MAX
                                               : INT32_MAX,
                    .sizes = 1u << (axis + (sreg == HD_SR_NTID ? 3 : 0)),
                    .factor = 1};
}

/* What a term's operand is multiplied with. */
static positive factor(const wait_search *w, uint32_t inst, const hd_ptx_term *t, unsigned depth) {
  const hd_ptx_opnd *o = &wait_operands(w, inst)[t->by];
  int64_t by;
  if (!t->power) return most(w, inst, o, depth);
  return wait_constant(w, inst, o, &by) && by >= 0 && by < 16 ? number(INT64_C(1) << by) : not_positive;
}

static positive most(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value;
  if (wait_constant(w, inst, o, &value)) return number(value);
  if (o->kind == HD_O_SREG) return size(w, o);
  uint32_t reg = wait_register(w, inst, o), at = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  if (at == HD_NONE || depth == MOST_DEPTH || wait_operands(w, at)[0].kind != HD_O_REG) return not_positive;
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_term *t = r->terms;
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  if (r->makes != HD_MAKES_SUM || r->n_terms != 1 || type[0].format != HD_FMT_NONE ||
      type[1].format != HD_FMT_NONE || type[0].elements > 1)
    return not_positive;
  positive x = most(w, at, &wait_operands(w, at)[t->of], depth + 1);
  if (t->by) return product_at(w, at, x, factor(w, at, t, depth + 1));
  if (type[1].bits) x = in_type(x, type[1]);
  return in_type(x, type[0]);
}

bool wait_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return most(w, inst, o, 0).most != 0;
}

bool wait_product_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  return product_at(w, inst, most(w, inst, a, 0), most(w, inst, b, 0)).most != 0;
}

/* The threads of a grid, in the directions that it has, are fewer than such numbers of 32 bits. */
static int64_t greatest(positive x) {
  const int64_t threads = x.sizes & CTA_SIZES ? MOST_THREADS : 1, most = INT64_C(1) << 50;
  if (x.sizes && x.factor <= MOST_OF_GRID * MOST_THREADS && x.factor * threads < x.most)
    return x.factor * threads;
  return x.most < most ? x.most : most;
}

int64_t wait_greatest(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return greatest(most(w, inst, o, 0));
}

int64_t wait_greatest_product(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a,
                              const hd_ptx_opnd *b) {
  return greatest(product_at(w, inst, most(w, inst, a, 0), most(w, inst, b, 0)));
}

int64_t wait_most_product(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  const positive x = product_at(w, inst, most(w, inst, a, 0), most(w, inst, b, 0));
  return x.most < UNBOUNDED >> 8 ? x.most : UNBOUNDED >> 8;
}

int64_t wait_most(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  const positive x = most(w, inst, o, 0);
  return x.most <= UINT32_MAX ? x.most : 0;
}
