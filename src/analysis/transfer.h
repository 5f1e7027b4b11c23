/* analysis/transfer.h: the instruction whose result is being worked out. */
#ifndef HEDDLE_ANALYSIS_TRANSFER_H
#define HEDDLE_ANALYSIS_TRANSFER_H

#include "analysis/internal.h"

typedef enum tr_kind { TR_OTHER = 0, TR_UNSIGNED, TR_SIGNED } tr_kind;
typedef struct tr_type {
  unsigned bits; /* 0: no type */
  tr_kind kind;  /* OTHER: floating point and what is not modelled */
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

/* Like an_get: false means that something was asked for. */
bool tr_operand(tr *t, unsigned k, unsigned width, an_val *out);
bool tr_unknown(tr *t, an_val *out);

an_val tr_result(tr *t, hd_poly p, unsigned width, const an_val *x, const an_val *y);
an_val tr_add(tr *t, const an_val *x, const an_val *y, int64_t c, unsigned width); /* x + c y */
an_val tr_mul(tr *t, const an_val *x, const an_val *y, unsigned width);
/* Unknown, of the worst level of x and y (may be NULL) but at least that one. */
an_val tr_opaque(tr *t, hd_level at_least, unsigned width, const an_val *x, const an_val *y);
/* x reduced to the type's bits and extended again. */
an_val tr_narrow(tr *t, const an_val *x, tr_type type, unsigned width);

/* bits.c */
bool tr_shl(tr *t, an_val *out);
bool tr_shr(tr *t, an_val *out);
bool tr_logic(tr *t, an_val *out);
bool tr_not(tr *t, an_val *out);
bool tr_bfe(tr *t, an_val *out);
bool tr_bfi(tr *t, an_val *out);
bool tr_lop3(tr *t, an_val *out);

#endif
