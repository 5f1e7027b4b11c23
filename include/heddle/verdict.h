/* heddle/verdict.h: the results of tuning, kept and applied.
 *
 * verdicts  in a store (heddle/store.h), and measured again
 * apply     from a launch to its replacement, fast enough for every launch
 */
#ifndef HEDDLE_VERDICT_H
#define HEDDLE_VERDICT_H

#include "heddle/optimize.h"
#include "heddle/store.h"
#include "heddle/tuner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Verdicts ----------------------------------------------------------------------- */

/* The key's parts that say where, of a device: hd_verdict_place's; of a model its name, and "none". */
HD_API void hd_tune_place(const hd_device_info *info, hd_verdict_key *key);

/* Keep a verdict for every kernel and launch of the workload. Orders that come from a trace or a file are
 * kept as tables, in the store. A tuning without an answer is not kept. */
HD_API hd_status hd_tuning_keep(hd_store *s, hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                                const hd_tuning *t, hd_diag *d);
/* Keep the best plan that an optimization proved, as a prediction of confidence 0 for each launch of the
 * workload, on any GPU and driver and whatever the size. Nothing where nothing helps, or there is no answer.
 * The store is one of this process (":memory:"), to be exported: heddle run --pin takes the file. */
HD_OWN hd_status hd_optimized_predict(hd_store *s, const hd_workload *w, const hd_gpu *g,
                                      const hd_optimized *f, hd_diag *d);
/* The verdicts of all the workload's kernels at its size: *found false unless there is one for each. Plans
 * name tables as files of heddle's cache folder, which are written here. *out is freed by hd_tuning_free when
 * found. */
HD_API hd_status hd_tuning_recall(hd_store *s, hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                                  hd_tuning *out, bool *found, hd_diag *d);
/* Measure a recalled tuning again, in about the options' budget: speedups and times are those of now. Kernels
 * whose plan no longer reaches `least` (0.99) of the original's speed, or does not compute the same, get the
 * baseline. */
HD_API hd_status hd_tuning_verify(hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                                  double least, hd_tuning *t, hd_diag *d);

/* ---- Applying verdicts ----------------------------------------------------------------- */

/* For launch paths: looks every launch up once, and from then on in memory. Any number of threads may use
 * one. A failure inside leaves the original in place; hd_applied.why names it. */
typedef struct hd_applier hd_applier;
typedef struct hd_applier_module hd_applier_module;

typedef struct hd_applied {
  uint32_t id;     /* dense, from 0: callers keep what they load under it */
  bool changed;    /* false: launch the original */
  const char *ptx; /* the rewritten module; as long as the applier */
  size_t ptx_len;
  hd_recipe recipe;
  hd_table table; /* to be put where the recipe's table parameter points */
  char plan[512];
  char why[256]; /* why a verdict is not applied; "" when there is none */
} hd_applied;

/* The store must outlive the applier, and is used by it under its own lock. gpu and driver are those of
 * hd_tune_place; n_sms, the GPU's SMs. */
HD_API hd_status hd_applier_open(hd_store *s, const char *gpu, const char *driver, uint32_t n_sms,
                                 hd_applier **out, hd_diag *d);
HD_API void hd_applier_close(hd_applier *a); /* NULL is fine */
/* Adds a module, once, before its launches. The text may be freed afterwards. */
HD_API hd_status hd_applier_add(hd_applier *a, const char *text, size_t len, const char *name,
                                hd_applier_module **out, hd_diag *d);
/* The kernel to launch in place of `kernel`. The first call for a launch asks the store and rewrites, later
 * ones take a fraction of a microsecond. NULL: out of memory, launch the original.
 *
 * It is rewritten from its plan alone. The tuner's other knowledge of the workload is missing here: registers
 * are not limited (hd_rewrite_options.registers). bypass=ro needs to know that nothing writes the memory that
 * the kernel reads. The tuner's knowledge of a workload's buffers does not hold for a program's. The user's
 * assurance (hd_wl_buffer.unwritten) is part of the verdict, and holds here unless the kernel's text shows
 * otherwise. Without the assurance, and without such a statement in the kernel itself, the original is left
 * in place. */
HD_API const hd_applied *hd_apply(hd_applier *a, hd_applier_module *m, const char *kernel,
                                  const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared);

#ifdef __cplusplus
}
#endif
#endif
