/* heddle/verdict_options.h: from a verdict to the options that its kernel is rewritten with. */
#ifndef HEDDLE_VERDICT_OPTIONS_H
#define HEDDLE_VERDICT_OPTIONS_H

#include "heddle/rewrite.h"
#include "heddle/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In hd_verdict.assume, before the parameters whose memory nothing writes, joined by '+'. */
#define HD_VERDICT_UNWRITTEN "unwritten="

/* What a verdict rests on. `unwritten` gets the parameters, as hd_unwritten_by_word has them; "": none.
 * HD_ERR_INPUT for a word that is not known. */
HD_OWN hd_status hd_verdict_assume(const hd_verdict *v, unsigned *assume,
                                   char unwritten[sizeof((hd_verdict *)0)->assume], hd_diag *d);

typedef struct hd_verdict_options {
  hd_rewrite_options rewrite; /* for the launch of the verdict's key; its table is this one: */
  hd_table table;             /* of an order that is one; else empty. Freed by hd_table_free */
  uint32_t shared;            /* bytes of dynamic shared memory of the launch */
  char unwritten[sizeof((hd_verdict *)0)->assume]; /* not yet among the options: it takes the kernel's code */
} hd_verdict_options;

/* Reads the table of order=table:FILE, for so many tasks. FILE is "#NAME" where the store keeps the table. */
typedef hd_status hd_table_source(void *ctx, const char *file, uint64_t tasks, hd_table *out, hd_diag *d);

/* The options for a verdict, and for its plan or one that is tried in its place. They point into *out, which
 * must stay where it is. HD_ERR_INPUT for a launch or an assumption that is not understood,
 * HD_ERR_UNSUPPORTED for an order whose table is not kept with the verdict; then *out holds no table. */
HD_OWN hd_status hd_verdict_read_options(const hd_verdict *v, const hd_plan *p, uint32_t n_sms,
                                         hd_table_source *tables, void *ctx, hd_verdict_options *out,
                                         hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
