/* heddle/heddle.h: the library, for programs that use it.
 *
 * The functions below are its manual's contents: each is documented in the header that its section names,
 * which this one includes. They are marked HD_API there, and stay as they are from 0.1.0 to 0.1.9. The
 * functions marked HD_OWN are for heddle's own clients: its command line, its Python module and the libraries
 * in front of programs, which come from the same tree. They may change in any version, and the compiler
 * refuses calls of them, unless HEDDLE_OWN is defined.
 *
 * Functions return an hd_status and fill an hd_diag, which hd_diag_line makes a line of. Options are structs
 * whose zeros are the defaults. Results are structs to read; what ends in _free or _close frees them. Text is
 * appended to an hd_buf that starts as {0}. The library prints nothing, never exits, and keeps no state
 * between calls. Calls on different objects may run in several threads at once.
 *
 *     hd_workload *w;
 *     hd_gpu g;
 *     hd_optimized best;
 *     hd_diag d = {0};
 *     if (hd_workload_open("matmul-naive", NULL, "small", &w, &d) == HD_OK &&
 *         hd_gpu_load("h100", NULL, &g, &d) == HD_OK && hd_optimize(w, &g, NULL, &best, &d) == HD_OK)
 *       puts(best.written.text.data); // PTX under the best plan; empty: nothing helps
 *
 * ---- Errors, text (heddle/base.h)
 *
 * hd_diag_line             a failure as one line
 * hd_buf_free
 *
 * ---- Plans (heddle/plan.h)
 *
 * hd_plan_parse            "order=tile:8,bind=agents"
 * hd_plan_print
 * hd_plan_equal
 * hd_plan_is_baseline
 * hd_plan_check_arch       whether a GPU is new enough for a plan
 * hd_plan_tabulate         the order of a grid's tasks, as a table
 * hd_plan_header           an order as CUDA C for one's own kernels
 * hd_table_read, hd_table_write, hd_table_free
 *
 * ---- PTX under a plan (heddle/ptx.h, heddle/rewrite.h, heddle/rewrite_file.h)
 *
 * hd_apply_text            the text of a module, rewritten
 * hd_rewritten_free
 * hd_rewrite_file          a file's kernels, all that may be rewritten
 * hd_rewrite_kernel        one of them
 * hd_rewritten_file_free
 * hd_recipe_grid           how a rewritten kernel is launched: its grid,
 * hd_recipe_params         its parameters,
 * hd_recipe_print          in words
 * hd_assume_parse          what the caller vouches for
 * hd_ptx_parse, hd_ptx_find_kernel
 * hd_rewrite_refusals      why a kernel's order cannot be changed
 * hd_refusal_name
 *
 * ---- Workloads (heddle/workload.h)
 *
 * hd_workload_open         a kernel with its launches and data: a folder, or a name
 * hd_workload_request_open a kernel's file, launched as options say
 * hd_workload_close
 * hd_workload_list, hd_workload_list_free
 *
 * ---- Modelled GPUs (heddle/model.h)
 *
 * hd_gpu_load
 * hd_gpu_list, hd_gpu_list_free
 * hd_gpu_has_clock         whether there is a clock, and so times
 * hd_dispatch_parse, hd_dispatch_name
 *
 * ---- Devices: a GPU, the emulator, a model (heddle/device.h)
 *
 * hd_device_open, hd_device_close
 * hd_device_get_info
 *
 * ---- One plan on one workload (heddle/predict.h, heddle/results.h)
 *
 * hd_check, hd_check_on    whether it computes the same bytes, on the emulator or on a device
 * hd_measure               how long it takes on a device
 * hd_study_open, hd_study_close
 * hd_study_replay          what it is predicted to take on a modelled GPU
 * hd_check_text, hd_check_json, hd_measurement_text, hd_measurement_json
 * hd_simulation_text, hd_simulation_json
 *
 * ---- Many plans on a modelled GPU (heddle/predict.h, heddle/advise.h, heddle/optimize.h, heddle/report.h)
 *
 * hd_advise, hd_advice_free which plans a kernel's accesses ask for
 * hd_advice_text
 * hd_plan_list_read, hd_plan_list_free
 * hd_advise_rows           the plans to try
 * hd_sweep, hd_sweep_best
 * hd_report_text, hd_report_json
 * hd_optimize              the best of them, proved, and the kernel under it
 * hd_optimize_answers      whether all were tried
 * hd_optimized_free
 * hd_optimized_report, hd_optimized_text
 *
 * ---- Tuning on a device, and verdicts (heddle/tuner.h, heddle/verdict.h, heddle/store.h, heddle/results.h)
 *
 * hd_tune, hd_tuning_free
 * hd_tuning_text, hd_tuning_json
 * hd_tuning_keep, hd_tuning_recall, hd_tuning_verify
 * hd_store_open, hd_store_close
 * hd_store_each
 * hd_store_export, hd_store_import_file
 * hd_tune_place            the key of a device's verdicts
 * hd_applier_open, hd_applier_add, hd_apply, hd_applier_close   for launch paths
 *
 * ---- Programs (heddle/program.h, heddle/steer.h, heddle/whole.h)
 *
 * hd_program_exec          on the emulator
 * hd_steer_exec            under the best plans known
 * hd_whole_optimize        recorded, its hot kernels optimized
 * hd_hot_text, hd_hot_json, hd_hot_free
 *
 * ---- The emulator (heddle/emu.h)
 *
 * hd_emu_create, hd_emu_destroy
 * hd_emu_alloc, hd_emu_free, hd_emu_write, hd_emu_read
 * hd_emu_load
 * hd_emu_launch
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include "heddle/optimize.h"
#include "heddle/report.h"
#include "heddle/results.h"
#include "heddle/rewrite_file.h"
#include "heddle/steer.h"
#include "heddle/verdict.h"
#include "heddle/whole.h"

#endif
