/* heddle/difftest.h: random PTX programs on the emulator and on another device, bit for bit.
 *
 * A catalogue holds forms of every instruction that the emulator has, as templates with typed holes. A
 * program is a kernel of one CTA made of up to 40 of them with random registers, constants, guards and
 * divergent branches; it loads its registers, runs, and stores whatever it wrote. Both devices get the same
 * inputs: random bits mixed with special values. A difference is reduced: instructions are dropped while it
 * remains.
 *
 * Comparison. Results are compared bit for bit, NaN included. Approximate instructions, and
 * products of tensor cores with inexact sums, write to a place of their own that no other instruction reads;
 * these places are compared within the bound that the PTX ISA documents, or that num/mma.c derives. So do
 * mul and mad without a rounding modifier, which a compiler may contract, though they are compared bit for
 * bit. Programs keep out of everything that the PTX ISA leaves open or the GPU's compiler does wrong:
 * docs/difftest.md has the lists.
 *
 * Program number n of a seed is the same whatever is run before or beside it, so a difference is replayed by
 * its number.
 */
#ifndef HEDDLE_DIFFTEST_H
#define HEDDLE_DIFFTEST_H

#include "heddle/device.h"
#include "heddle/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The catalogue --------------------------------------------------------------- */

/* Forms are numbered from 0; a form is one choice of every alternative of a template. */
HD_OWN uint64_t hd_difftest_forms(void);
/* Least architecture that has it. */
HD_OWN unsigned hd_difftest_form_sm(uint64_t form);

/* ---- Programs ---------------------------------------------------------------------- */

/* Zero is the default of each field. */
typedef struct hd_difftest_select {
  unsigned sm;         /* architecture programs are written for; 0: 90 */
  bool emulated;       /* forms that only emulators take part in are used as well */
  const char *pattern; /* forms of which a dotted word matches this glob ("add.*", "*.f16x2"); NULL: all */
} hd_difftest_select;

/* Append a module of the programs first..first+n-1 of `seed`; kernels are called p<number>. HD_ERR_USAGE: no
 * form matches. */
HD_OWN hd_status hd_difftest_module(const hd_difftest_select *s, uint64_t seed, uint64_t first, uint32_t n,
                                    hd_buf *out, hd_diag *d);
/* The same with one form alone in each program, once: form numbers first..first+n-1, whether or not the
 * architecture has them. */
HD_OWN hd_status hd_difftest_form_module(uint64_t first, uint32_t n, hd_buf *out, hd_diag *d);

/* ---- Running -------------------------------------------------------------------------- */

typedef struct hd_difftest_options {
  const char *device; /* compared with the emulator: a name that hd_device_open takes, or emu:portable,
                         emu:avx2, emu:avx512; NULL: cuda, the GPU of this worker's number (`local`), or
                         the only one that it sees */
  hd_device_options devices;
  hd_difftest_select select; /* sm 0: the device's; emulated is set where both sides are emulators */
  uint64_t seed, first, programs;
  uint32_t per_module;  /* programs compiled together; 0: 64 */
  unsigned threads;     /* host threads, each with devices of its own, a GPU's in a child process; 0: all
                           processors */
  uint32_t max_reports; /* differences to reduce and report; 0: 20 */
  void (*progress)(void *ctx, size_t done, size_t n); /* of modules; may be NULL; one thread at a time */
  void *ctx;
} hd_difftest_options;

/* One difference, reduced. */
typedef struct hd_difftest_report {
  uint64_t program;
  bool compiler;    /* counted as such, see below */
  char culprit[96]; /* dotted word of the last instruction that is left, or why the program did not run */
  char *text;       /* the program that is left, and one thread's registers before and after on both sides */
} hd_difftest_report;

/* Programs with bits that differ; each is counted once. */
typedef struct hd_difftest_tally {
  uint64_t bounded;   /* all within the bounds of approximate instructions */
  uint64_t compiler;  /* beyond the bounds; but the same program agrees if the device's compiler does not
                         optimize, so the compiler made the difference */
  uint64_t different; /* neither: unexplained */
} hd_difftest_tally;

/* The same for one instruction: every approximate instruction of a program is counted, but of other
 * differences only the instruction that is left after reducing; "not reduced" beyond max_reports. */
typedef struct hd_difftest_count {
  char instruction[96];
  hd_difftest_tally tally;
} hd_difftest_count;

typedef struct hd_difftest_result {
  uint64_t programs, instructions; /* run; instructions as templates put in */
  hd_difftest_tally tally;
  hd_difftest_count *counts; /* unexplained ones first, then by name */
  size_t n_counts;
  hd_difftest_report *reports; /* by program number; at most max_reports */
  size_t n_reports;
  double seconds;                                           /* wall clock */
  double seconds_emulator, seconds_compile, seconds_device; /* summed over threads */
  char device[64], title[128]; /* the device's name, as it was opened, and its own */
  unsigned sm;
} hd_difftest_result;

/* Run programs first..first+programs-1, a module an item; how, whole: as hd_work_run has them. HD_OK whether
 * or not some differ. A program that one side refuses, or that faults on one side, counts as different and is
 * reduced like the others. The calling process must not have used CUDA: its children do. */
HD_OWN hd_status hd_difftest_run(const hd_difftest_options *o, const hd_work_how *how, bool *whole,
                                 hd_difftest_result *out, hd_diag *d);
HD_OWN void hd_difftest_result_free(hd_difftest_result *r);

#ifdef __cplusplus
}
#endif
#endif
