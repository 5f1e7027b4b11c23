/* analysis/transfer.h: the instruction whose result is being worked out. */
#ifndef HEDDLE_ANALYSIS_TRANSFER_H
#define HEDDLE_ANALYSIS_TRANSFER_H

#include "analysis/internal.h"

typedef enum tr_kind { TR_OTHER = 0, TR_UNSIGNED, TR_SIGNED } tr_kind;
typedef struct tr_type {
  unsigned bits; /* 0: no type */
  tr_kind kind;  /* OTHER: floating point, and types that are not modelled */
} tr_type;

typedef struct tr {
  an *a;
  uint32_t def, inst;
  uint32_t sub; /* which of the registers that the instruction writes */
  const hd_ptx_stmt *st;
  const hd_ptx_form *form;
  const hd_ptx_opnd *opnds;
  tr_type type; /* the last in the dotted word */
} tr;

/* Like an_get: false means that a value is not known yet. */
bool tr_operand(tr *t, unsigned k, unsigned width, an_val *out);
bool tr_unknown(tr *t, an_val *out);

an_val tr_result(tr *t, hd_poly p, unsigned width, const an_val *x, const an_val *y);
an_val tr_sum(tr *t, const an_val *x, const an_val *y, int64_t c, unsigned width); /* x + c y */
an_val tr_product(tr *t, const an_val *x, const an_val *y, unsigned width);
/* Unknown, of the worst level of x and y (may be NULL) but at least that one. */
an_val tr_opaque(tr *t, hd_level at_least, unsigned width, const an_val *x, const an_val *y);
/* x reduced to the type's bits and extended again. */
an_val tr_narrow(tr *t, const an_val *x, tr_type type, unsigned width);

/* The first type of a dotted word and the last: of the result and of the source where they differ. */
void tr_types_of(const hd_ptx_form *f, tr_type *first, tr_type *last);

/* A range that follows from the operands' as long as the coefficients were not reduced. */
static inline void tr_add_ranges(an_val *r, an_range x) {
  if (x.lo == INT64_MIN || x.hi == INT64_MAX) return;
  if (x.lo > r->lo) r->lo = x.lo;
  if (x.hi < r->hi) r->hi = x.hi;
}

static inline an_range tr_range_of(const an_val *v) { return (an_range){v->lo, v->hi}; }

/* arithmetic.c */
bool tr_add(tr *t, an_val *out);
bool tr_mul(tr *t, an_val *out);
bool tr_mad(tr *t, an_val *out);
bool tr_neg(tr *t, an_val *out);
bool tr_min_max(tr *t, an_val *out);
bool tr_abs(tr *t, an_val *out);
bool tr_div_rem(tr *t, an_val *out);
bool tr_setp(tr *t, an_val *out);
bool tr_selp(tr *t, an_val *out);

/* value_moves.c */
bool tr_cvt(tr *t, an_val *out);
bool tr_cvta(tr *t, an_val *out);
bool tr_mov(tr *t, an_val *out);
bool tr_ld(tr *t, an_val *out);
bool tr_st(tr *t, an_val *out);
bool tr_call(tr *t, an_val *out);
bool tr_shfl(tr *t, an_val *out);
bool tr_exchange(tr *t, an_val *out);
bool tr_load_unknown(tr *t, an_val *out);

/* bits.c */
bool tr_shl(tr *t, an_val *out);
bool tr_shr(tr *t, an_val *out);
bool tr_logic(tr *t, an_val *out);
bool tr_not(tr *t, an_val *out);
bool tr_bfe(tr *t, an_val *out);
bool tr_bfi(tr *t, an_val *out);
bool tr_lop3(tr *t, an_val *out);

#endif
