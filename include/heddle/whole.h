/* heddle/whole.h: a whole program optimized, by one call.
 *
 * The program is run once, on the emulator where there is no GPU, and its launches are recorded. Its hottest
 * kernels are optimized for a modelled GPU, each by the launch that stands for most of its time: traced,
 * replayed under plans, and the best plan proved. Their pages, kernels and predictions go into a folder.
 */
#ifndef HEDDLE_WHOLE_H
#define HEDDLE_WHOLE_H

#include "heddle/hot.h"
#include "heddle/optimize.h"
#include "heddle/steer.h"
#include "heddle/suite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is the default of each field but the first three. */
typedef struct hd_whole_options {
  char **argv;                    /* the program and its arguments, up to a NULL */
  const char *folder;             /* made if need be */
  const hd_gpu *gpu;              /* the model */
  const char *gpu_name, *gpu_dir; /* as its file is found, for the emulator */
  const char *kernel;             /* only kernels that are meant (hd_kernel_matches); NULL: all */
  const char *save;               /* folder that recordings stay in; NULL: they are removed */
  const char *library;            /* folder of heddle's libraries; NULL: beside this program */
  size_t most;                    /* kernels that are optimized; 0: 5 */
  /* Of each kernel, but for `seconds` of work, which are for all of them (0: 60), and `ctx`: where that is
   * NULL it is the kernel's title. On the emulator half of the seconds are the program's, unless `exact`: its
   * launches end (hd_program_options.work) after what two idle cores do in them, and it ends itself where it
   * computes without a call for half as long (alone), or for two seconds if that is more. The proofs of all
   * kernels, the hottest first, may take half of the seconds together, or of the default ones if they are
   * more. */
  hd_optimize_options each;
  void (*told)(const hd_diag *); /* as of hd_steer_watch */
} hd_whole_options;

/* Each kernel's page, JSON and PTX (hd_optimized_write), index.html with all of them, and predictions.json
 * for heddle run --pin where there is any plan, are written into the folder. What the program prints goes to
 * standard error. HD_ERR_INPUT: it loaded no kernel, or launched no such kernel. *out is freed by
 * hd_hot_free; on failure it needs no freeing. */
HD_API hd_status hd_whole_optimize(const hd_whole_options *o, hd_hot *out, hd_diag *d);

/* Run a program, as hd_steer_watch has it, and profile it (hd_suite_profile). *profiled false: it loaded no
 * kernel; *code: its exit code, or 128 and its signal. *out is to be freed if it was profiled. */
HD_OWN hd_status hd_whole_profile(const hd_steer_options *steer, char **argv, void (*told)(const hd_diag *),
                                  const hd_profile_options *o, bool *profiled, int *code, hd_profile *out,
                                  hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
