/* difftest/catalogue.h: the templates that programs are made of.
 *
 * A template is PTX with
 *
 *   (a|b|c)        alternatives; one is chosen. Groups are numbered from 1, there are at most 9
 *   $1             the text chosen in group 1
 *   ${=T}          a register to write, of type T; no two of an instance are the same
 *   ${T} ${T?}     a register to read; or perhaps a constant
 *   ${pred!}       a predicate to read, perhaps negated
 *   ${T name}      the same, and ${name} stands for it from there on
 *   ${=1} ${1?}    as above, of the type chosen in group 1
 *   ${#a:b}        a whole number from a to b
 *   ${@n}          an offset into 64 bytes at which n bytes lie, a multiple of n
 *   ${!rule d, a}  store the registers d, a to places of their own, d to be compared by `rule`, the others
 *                  bit for bit; each is a name or CLASS:%register
 *
 * Types are PTX's; a register of the type's class (b16, b32, b64, b128, pred) is taken, 8 bits living in b16.
 * Registers that the text finds ready, if it names them (program.c):
 *
 *   %ti %la        thread and lane
 *   %gp %sp %lp    64 bytes of the thread's own: global (64-bit), shared (32-bit), local (64-bit)
 *   %sg            the same shared bytes by their generic address
 *   %wp %wg        the 2048 bytes of the warp's 32 threads: shared (32-bit), global (64-bit)
 *   %gs            the 8192 shared bytes of the warpgroup
 *   %mb            8 shared bytes of the thread's own for an mbarrier, 32-bit
 *   %cm            64 shared bytes of the whole CTA, 32-bit
 *   %o32 %o16      zero, which no compiler knows
 *   %in            the thread's inputs in global memory, which no thread writes: 8 bytes
 */
#ifndef HEDDLE_DIFFTEST_CATALOGUE_H
#define HEDDLE_DIFFTEST_CATALOGUE_H

#include "heddle/difftest.h"

enum {
  DT_CONVERGED = 1,  /* all threads of the CTA come together, in whole warps */
  DT_WARPGROUP = 2,  /* and in whole warpgroups */
  DT_EMULATED = 4,   /* between emulators only */
  DT_SPECIFIC = 8,   /* of this architecture alone: .target sm_90a */
  DT_UNGUARDED = 16, /* ptxas 13.0 lets it write under a guard that does not hold, branches included */
  DT_DISTINCT = 32,  /* sources are different registers: ptxas folds min(a, a), NaN or not */
};

typedef struct dt_row {
  uint16_t sm, flags;
  const char *text;
} dt_row;
extern const dt_row dt_plain_rows[], dt_matrix_rows[]; /* each ends with a NULL text */

enum { DT_GROUPS = 9, DT_CHOICES = 16 };

/* A row's alternatives, found once. */
typedef struct dt_pattern {
  const dt_row *row;
  uint32_t n_groups;
  struct {
    uint32_t n;
    struct {
      const char *text;
      uint32_t len;
    } choices[DT_CHOICES];
  } groups[DT_GROUPS];
  uint64_t n_forms;
} dt_pattern;

uint32_t dt_row_count(void);
const dt_row *dt_row_at(uint32_t k); /* through both tables; NULL: there are no more */
void dt_pattern_read(const dt_row *row, dt_pattern *p);
/* Which row form number `form` belongs to, and which of its forms it is. */
const dt_row *dt_form_row(uint64_t form, uint64_t *choice);
/* The row's text with the alternatives of `choice` put in, $1 replaced, and ${=1} made a type: holes are
 * left. */
void dt_pattern_expand(const dt_pattern *p, uint64_t choice, hd_buf *out);

#endif
