/* launch/placement.h: a workload's buffers on a device, and its kernels under several plans over them. */
#ifndef HEDDLE_LAUNCH_PLACEMENT_H
#define HEDDLE_LAUNCH_PLACEMENT_H

#include "launch/setup.h"

/* Variables of the module are not where buffers are, and each variant's module has its own. Their buffers
 * hold what goes there before a run, and what a run that is waited for has left there. */
typedef struct placement {
  hd_device *device;
  const hd_workload *w;
  const hd_compiled *code; /* plans for this placement are resolved for run.compile.arch */
  hd_run_options run;      /* the device's own architecture and SMs where the caller named none */
  hd_arena arena;
  uint64_t *addresses; /* per buffer */
  void **initial;      /* per buffer: its bytes before any run, on the host, until placement_learn */
  bool *filled;        /* per buffer: the workload gives it contents */
  bool fresh;          /* everything is as placement_restore left it */
  uint64_t *pristine;  /* per buffer that runs change and that has contents: a copy on the device; else 0 */
  void **pointers;     /* per buffer that points: its contents where all buffers lie now; else NULL */
  uint32_t
      *registers; /* per launch: of the original's kernel, once a plan with agents was loaded; 0: not known */
  uint32_t *local;       /* the same: bytes of local memory a thread */
  hd_numbers sms;        /* of the device, once a plan was loaded that asks for them */
  uint32_t moves;        /* so far: variants find out by it that their arguments are of another place */
  HD_VEC(uint64_t) left; /* the buffers' memory before they were moved, not yet given back */
  uint64_t left_bytes;
  HD_VEC(uint64_t) held; /* memory that placement_fragment holds so that it is not used */
  bool fragmented;       /* placement_fragment was called since the last move */
} placement;

/* Allocate and fill. Buffers that the workload leaves alone are filled with 0xCD, so that a byte left
 * unwritten shows. placement_close is to be called whether this succeeds or not. */
hd_status placement_open(placement *p, hd_device *dev, const hd_workload *w, const hd_run_options *o,
                         hd_diag *d);
void placement_close(placement *p);
/* Write the buffers that point, for where all buffers lie now. */
hd_status placement_point(placement *p, hd_diag *d);

/* All buffers as they were at first. Before placement_learn from the host, and everything; later on the
 * device, and only buffers that runs change and read. */
hd_status placement_restore(placement *p, hd_diag *d);
/* After placement_learn, overwrite the buffers that placement_restore leaves alone: those without contents,
 * which hold the last run's result. */
hd_status placement_poison(placement *p, hd_diag *d);
/* Call this after the first run, with its results: it finds the buffers that runs change. */
hd_status placement_learn(placement *p, void *const *result, hd_diag *d);
/* The same, told for each buffer whether it changed. */
hd_status placement_learn_changed(placement *p, const bool *changed, hd_diag *d);
/* Put every buffer elsewhere, contents and all, copied on the device. Where a buffer lay stays allocated, so
 * that no later move finds the same memory again, until that is half of the device's memory, or room is
 * needed, or placement_release. A buffer that has no room beside itself stays where it is: *moved gets the
 * bytes of the others. Open variants follow by their next launch: a buffer's address stands nowhere but in
 * arguments and in buffers that point, which are written again. Recipes' states and tables stay; they are the
 * variant's, and new with it. On failure too the contents are right wherever the device still answers. */
hd_status placement_move(placement *p, uint64_t *moved, hd_diag *d);
/* From now on moves go to fragmented memory, as after many have allocated and freed for long, and no longer
 * to memory of a piece, as a fresh process gets it: on an H100 launches that live in L2 take up to 6% more or
 * less there. Until placement_release this takes all free memory, in blocks, but for gaps of twice what the
 * buffers need; on a device without so much memory, all of it. */
void placement_fragment(placement *p);
/* Give back what moves have left. */
void placement_give_back(placement *p);
/* Give back that, and what placement_fragment holds. */
void placement_release(placement *p);
/* All buffers' bytes now, in memory of their own: an array for launch_bytes_free. */
hd_status placement_read(placement *p, void ***out, hd_diag *d);
/* All buffers as they are now against `want`, read back in chunks: byte for byte, within their tolerances
 * those where floating-point atomics may reorder sums. HD_ERR_REFUSED names the first difference. *compared
 * gets the bytes of the buffers looked at. */
hd_status placement_compare(const placement *p, void *const *want, uint64_t *compared, hd_diag *d);

/* A variable of a variant's module. */
typedef struct variant_variable {
  uint64_t address, bytes;
  uint64_t first;  /* a copy of what it held when it was loaded; 0: the workload gives all of it */
  uint32_t buffer; /* VARIANT_NO_BUFFER: the workload does not name it */
} variant_variable;
#define VARIANT_NO_BUFFER UINT32_MAX

/* The workload's kernels under plans, loaded, with all that their launches take. */
typedef struct variant {
  placement *p;
  uint32_t moves; /* of the placement, when arguments were last made right */
  hd_device_module *module;
  launch_setup setup;
  uint32_t (*grids)[3]; /* per launch: workers, for kernels with agents */
  variant_variable *variables;
  uint32_t n_variables;
} variant;

/* `plans` NULL: the original; else resolved for p->code, and not needed any longer afterwards. variant_close
 * is to be called whether this succeeds or not. */
hd_status variant_open(variant *v, placement *p, const hd_resolved *plans, hd_diag *d);
void variant_close(variant *v);
/* Compile what variant_open will load first for each of these plans, as many at once as the host has
 * processors. Failures here show there. */
void variant_compile_ahead(placement *p, const hd_resolved *plans, size_t n);
/* Begin one launch; all launches in order. */
hd_status variant_launch_one(variant *v, uint32_t i, hd_diag *d);
hd_status variant_run(variant *v, hd_diag *d);
/* Run once from the first contents, poisoned, and wait for the end. */
hd_status variant_run_once(variant *v, hd_diag *d);
/* Run both so, and compare all buffers (placement_compare): does v compute the same as the original, at the
 * size at which it will run? The original's results are held on the host meanwhile. */
hd_status variant_compare(variant *original, variant *v, uint64_t *compared, hd_diag *d);
/* device_variables.c. The variables of the module that was loaded; variant_close frees what they keep. */
hd_status variant_find_variables(variant *v, const hd_ptx_module *m, hd_diag *d);
void variant_free_variables(variant *v);
/* placement_restore, and the module's variables get their values; where the workload gives none, those that
 * they were loaded with. */
hd_status variant_restore(variant *v, hd_diag *d);
/* After a run: the buffers of variables and of surfaces get what it left in them. */
hd_status variant_fetch(variant *v, hd_diag *d);
/* The buffers were moved: arguments follow. */
static inline hd_status variant_follow(variant *v, hd_diag *d) {
  if (v->moves == v->p->moves) return HD_OK;
  hd_status st = launch_setup_follow(&v->setup, v->p->addresses, d);
  if (st == HD_OK) v->moves = v->p->moves;
  return st;
}
/* As a job for hd_device_time: restores before each run. */
hd_device_job variant_job(variant *v);

#endif
