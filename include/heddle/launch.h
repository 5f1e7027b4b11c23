/* heddle/launch.h: running a workload under plans, on the emulator, on a model, on a GPU.
 *
 * A plan is resolved first: hd_resolve in heddle/predict.h fills in the tables and lists of loads that it
 * leaves open, and may run the kernels for it. Applying a resolved plan is pure. Everything here takes
 * resolved plans.
 *
 * check      the rewritten kernel computes the same bytes as the original, on the emulator, whatever the
 *            dispatcher does; or on a device, as that hands out CTAs
 * measure    times and counters of several plans on a device
 */
#ifndef HEDDLE_LAUNCH_H
#define HEDDLE_LAUNCH_H

#include "heddle/analysis.h"
#include "heddle/device.h"
#include "heddle/rewrite.h"
#include "heddle/stats.h"
#include "heddle/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Architecture -------------------------------------------------------------- */

/* The architecture (sm number) that kernels are compiled for unless the caller asks for another. Every later
 * GPU runs that text too. With one text for all of them, traces, load numbers, proofs and verdicts can be
 * carried from one GPU to another. */
enum { HD_LAUNCH_ARCH = 80 };

/* The architecture to compile for: `asked`, unless 0; on a GPU older than HD_LAUNCH_ARCH the GPU's own, as it
 * runs nothing newer; else HD_LAUNCH_ARCH. A modelled GPU never decides: it runs no text, and compilers no
 * longer know the old architectures. `dev` NULL: no device, or a model. */
HD_OWN unsigned hd_launch_arch(const hd_device_info *dev, unsigned asked);

/* ---- Arguments ------------------------------------------------------------------ */

/* The parameter block of a launch of the original kernel, laid out as the kernel declares it, for buffers
 * that lie at addresses[]. Tensor maps, which only a device encodes, are left zero. *args is the caller's to
 * free. HD_ERR_INPUT when kernel and workload disagree on number or size of the arguments. */
HD_OWN hd_status hd_launch_args(const hd_compiled *code, uint32_t launch, const uint64_t *addresses,
                                void **args, uint64_t *bytes, hd_diag *d);

/* ---- Analyses ------------------------------------------------------------------- */

/* hd_analyze_launch of a workload's launch. Buffers lie at made-up addresses that do not overlap. */
HD_OWN hd_status hd_launch_analyze(const hd_compiled *code, uint32_t launch, hd_analysis **out, hd_diag *d);
/* The shape of a launch's grid as the kernel divides it; HD_SHAPE_LAUNCH where it does not, or where no order
 * of its own is known. */
HD_OWN hd_status hd_launch_shape(const hd_compiled *code, uint32_t launch, hd_shape *out, hd_diag *d);
/* The shape of the tiles that its CTAs go through in a loop, with `loop` set; none where there is no loop, or
 * no shape is seen. */
HD_OWN hd_status hd_launch_loop_shape(const hd_compiled *code, uint32_t launch, hd_shape *out, hd_diag *d);
/* Whether the CTAs of a launch go through tiles in a loop, in steps of the grid's size; *line: the loop's. */
HD_OWN hd_status hd_launch_loops(const hd_compiled *code, uint32_t launch, bool *loops, uint32_t *line,
                                 hd_diag *d);
/* Refuse (HD_ERR_REFUSED) plans that make no sense for a kernel whose CTAs loop over their tiles themselves:
 * agents around such a loop have no more to do than its CTAs. */
HD_OWN hd_status hd_launch_check_plan(const hd_compiled *code, uint32_t launch, const hd_plan *p, hd_diag *d);
/* Put what shape=auto stands for in this launch in its place; other plans stay as they are. */
HD_OWN hd_status hd_launch_settle_shape(const hd_compiled *code, uint32_t launch, hd_plan *p, hd_diag *d);

/* ---- Resolved plans -------------------------------------------------------------- */

/* A kernel's plan with nothing left open. */
typedef struct hd_resolved_kernel {
  hd_plan plan;        /* stream=auto has become a list of loads, or nothing where `idle` */
  hd_table table;      /* of an order that needs one: an entry for each task of the kernel's one grid */
  uint32_t *unwritten; /* as hd_rewrite_options has them, for bypass=ro */
  uint32_t n_unwritten;
  bool idle; /* the plan is stream=auto, and no load of this kernel is worth it */
} hd_resolved_kernel;

/* The plans of a workload's kernels, resolved for the text of one architecture. The workload outlives it; all
 * else is its own. */
typedef struct hd_resolved {
  const hd_compiled *code;
  hd_resolved_kernel *kernels; /* as code->kernels */
} hd_resolved;

HD_OWN void hd_resolved_free(hd_resolved *r);
/* The plan of launch i's kernel. */
HD_OWN const hd_plan *hd_resolved_plan(const hd_resolved *r, uint32_t launch);
/* No kernel is changed. */
HD_OWN bool hd_resolved_is_baseline(const hd_resolved *r);

/* The kernel's loads of memory that none of the workload's launches of the kernel writes, as
 * hd_rewrite_options.unwritten has them; *out is the caller's to free. `launch` is one of the kernel's.
 * Follows from the text, from which launch is given which buffers, and from hd_wl_buffer.unwritten, never
 * from data. HD_ERR_REFUSED where the text writes what is said to be unwritten. */
HD_OWN hd_status hd_unwritten_loads(const hd_ptx_module *m, uint32_t func, const hd_workload *w,
                                    uint32_t launch, uint32_t **out, uint32_t *n, hd_diag *d);

/* The same without a workload: the loads that are of unwritten memory in every launch that gives no two
 * parameters of which one is in read[] and the other in written[] (n_params each, false before) addresses in
 * one allocation. None where the kernel may write memory that no parameter leads to. */
HD_OWN hd_status hd_unwritten_if_apart(const hd_ptx_module *m, uint32_t func, bool *read, bool *written,
                                       uint32_t **out, uint32_t *n, hd_diag *d);

/* The parameters of the launch's kernel whose buffers the workload says nothing writes
 * (hd_wl_buffer.unwritten), counted from 1: "1+3"; "": none, or more than fit. */
HD_OWN void hd_unwritten_params(const hd_workload *w, uint32_t launch, char *out, size_t cap);
/* Loads as hd_unwritten_loads lists them, without a workload: of memory that parameters "1+3" (or
 * "arg1,arg3") lead to, by somebody's word that nothing writes it during a launch. HD_ERR_REFUSED where the
 * kernel's text writes through one of them; HD_ERR_USAGE for a parameter that there is not. */
HD_OWN hd_status hd_unwritten_by_word(const hd_ptx_module *m, uint32_t func, const char *params,
                                      uint32_t **out, uint32_t *n, hd_diag *d);

/* Completes the options of hd_rewrite_kernel once the kernel is known: its `prepare`, with this as `ctx`. */
typedef struct hd_rewrite_facts {
  hd_plan *plan; /* shape=auto is settled in it by the grid, if that is known, and the block as far as that
                    is: enough if constants divide the CTA's number, and HD_ERR_REFUSED if arguments do */
  const char *unwritten; /* as hd_unwritten_by_word has it; NULL: nothing is */
  uint32_t *loads;       /* those that it lists; the caller's to free */
} hd_rewrite_facts;
HD_OWN hd_status hd_rewrite_complete(void *facts, const hd_ptx_module *m, uint32_t func,
                                     hd_rewrite_options *o, hd_diag *d);

/* ---- Applying them ------------------------------------------------------------------ */

/* What text runs. Zero is the default of each field. */
typedef struct hd_compile_options {
  unsigned arch;             /* sm number to compile for; see hd_launch_arch when 0 */
  bool any_grid;             /* for any grid instead of the launch's own */
  bool no_hoisting;          /* as in hd_rewrite_options */
  unsigned assume;           /* HD_ASSUME_... */
  hd_register_budget budget; /* where kernels are assembled, the first that is tried */
  const uint32_t *registers; /* per launch: that a thread of the original uses; 0 or NULL: the workload's */
  const hd_numbers *sms;     /* on a GPU found out when NULL */
} hd_compile_options;

/* What it runs on. Zero is the default of each field. */
typedef struct hd_machine {
  unsigned threads; /* of the host; 0: all */
  uint32_t n_sms;   /* SMs of the emulated machine, clusters of bind=redirect; 16 when 0 */
} hd_machine;

/* How long it may take; then it ends with HD_ERR_BUDGET. Zero: as long as it takes. */
typedef struct hd_budget {
  double trace_seconds; /* of two idle cores, about, that tracing a launch may take, as so much work: no clock
                           is read */
  double until;         /* hd_seconds at which runs on the emulator and replays of a study end, done or not */
  const bool *stop;     /* they end once it is true (hd_is_over). It outlives a study; NULL: it never is */
} hd_budget;

/* One run of a workload, or many of one kind. */
typedef struct hd_run_options {
  hd_compile_options compile;
  hd_machine machine;
  hd_budget budget;
  hd_watch watch; /* of what takes long: tracing the originals, hd_study_replay, rounds of times */
} hd_run_options;

/* hd_apply_text of a workload: every kernel that it launches, under its plan, and nothing else, for a GPU of
 * so many SMs (hd_machine). o->arch has no say: the plans were resolved for a text. A kernel launched with
 * several grids is rewritten for any grid. A failure names the kernel. out NULL: only to see whether they can
 * be. */
HD_OWN hd_status hd_apply_resolved(const hd_resolved *plans, const hd_compile_options *o, uint32_t n_sms,
                                   hd_text_form form, hd_rewritten *out, hd_diag *d);

/* ---- Check ---------------------------------------------------------------------- */

typedef struct hd_check_options {
  hd_run_options run;
  const hd_dispatch_kind *dispatchers; /* NULL: all of them */
  size_t n_dispatchers;                /* HD_ASSUME_NO_WAITS: serial is added, under which a wait shows */
  uint64_t seed;                       /* of the first dispatcher; one more for each that follows */
  uint32_t resident;                   /* CTAs alive at once per SM; 4 when 0 */
  bool no_reference;                   /* do not compare the original with reference.c; nor is it where
                                          run.budget.until leaves no time for that */
  bool spare_reference;                /* nor where no compiler of reference.c is here: else HD_ERR_MISSING */
  bool no_race_check;                  /* do not look for tasks that read each other's output */
  uint32_t runs;                       /* hd_check_on: of the rewritten kernel; 3 when 0 */
} hd_check_options;

typedef struct hd_check_result {
  bool equal;
  bool against_reference;  /* the original was also compared with reference.c */
  char no_reference[160];  /* why not, though it was to be; "": it was not to be, or was */
  bool race_free;          /* HD_CHECK_RACE found none on this input; tasks may store equal values */
  uint32_t runs;           /* of the rewritten kernel: one per dispatcher */
  uint64_t bytes_compared; /* per run */
  uint64_t thread_instructions, thread_instructions_rewritten;
  double seconds;
  char dispatcher[32]; /* of the first difference */
  unsigned assume;     /* HD_ASSUME_..., which the plans may rest on */
  uint32_t different;  /* hd_checker_run: the number of that dispatch */
  char what[768];      /* the first difference or fault, in one line; "" when equal */
} hd_check_result;

/* HD_OK with the result filled whether equal or not. HD_ERR_REFUSED when the plans cannot be applied soundly.
 */
HD_OWN hd_status hd_check_resolved(const hd_resolved *plans, const hd_check_options *o, hd_check_result *r,
                                   hd_diag *d);

/* "all", as NULL is, or names of dispatchers joined by commas. */
HD_OWN hd_status hd_check_parse_dispatchers(const char *text, hd_dispatch_kind out[HD_DISPATCH_COUNT],
                                            size_t *n, hd_diag *d);
/* The dispatches that these options ask for, each with a seed of its own; and one CTA at a time, which puts a
 * word about waits to the test. HD_ERR_USAGE. */
HD_OWN hd_status hd_check_dispatches(const hd_check_options *o, hd_dispatch out[HD_DISPATCH_COUNT + 1],
                                     size_t *n, hd_diag *d);

/* Many plans against one original, which runs once, when the checker is opened. The workload outlives it. *r:
 * how that went; when r->equal is false (the original faults, or its reference disagrees) there is nothing to
 * compare plans with. */
typedef struct hd_checker hd_checker;
HD_OWN hd_status hd_checker_open(const hd_workload *w, const hd_check_options *o, hd_checker **out,
                                 hd_check_result *r, hd_diag *d);
HD_OWN void hd_checker_close(hd_checker *c); /* NULL is fine */
/* As hd_check_resolved, under n dispatches. Several threads may do so at once. The result says
 * nothing of the original. */
HD_OWN hd_status hd_checker_run(const hd_checker *c, const hd_resolved *plans, const hd_run_options *o,
                                const hd_dispatch *dispatches, size_t n, hd_check_result *r, hd_diag *d);

/* The same on a device, under the order in which that hands out CTAs: original against reference.c, rewritten
 * against original, `runs` times. Counts no instructions and finds no races. The dispatcher of a difference
 * is the device's name. run.machine.n_sms 0: the device's own. */
HD_OWN hd_status hd_check_resolved_on(hd_device *dev, const hd_resolved *plans, const hd_check_options *o,
                                      hd_check_result *r, hd_diag *d);

/* ---- Times on a device ----------------------------------------------------------- */

/* Zero is the default of each field. */
typedef struct hd_measure_options {
  hd_run_options run;
  uint32_t warmups;     /* rounds; 0: 3, on a model none */
  uint32_t repetitions; /* rounds; 0: 31, on a model, whose rounds are all alike, 1 */
  bool keep_l2;         /* as in hd_timing_options */
  bool no_counters;
  double confidence; /* of the speedups' intervals; 0.99 when 0 */
} hd_measure_options;

typedef struct hd_measure_row {
  hd_plan plan;
  hd_status status; /* given: a row that is not HD_OK is left as it is */
  char why[256];    /* when status is not HD_OK: refused, or computes something else than the original */
  double median_us, least_us; /* of all the workload's launches together */
  hd_speedup speedup;         /* over the first row, paired round by round */
  bool has_counters;
  hd_counters counters;
  char no_counters[256]; /* why there are none */
} hd_measure_row;

/* Run the workload under plans[i] for row i (NULL, as plans[0] is: the original), compare all results with
 * the original's, and time those that are equal in interleaved rounds, the buffers' first contents restored
 * before each. Fails when the original or the device does. A plan that cannot be applied fails its own row
 * only. */
HD_OWN hd_status hd_measure_resolved(hd_device *dev, const hd_workload *w, const hd_resolved *const *plans,
                                     const hd_measure_options *o, hd_measure_row *rows, size_t n, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
