/* emu/machine/grid.h: one launch: its set-up, its CTAs, its faults (grid.c); dispatchers and host threads
 * (launch.c).
 *
 * Who may touch what while a grid runs: a CTA and all it owns belong to the host
 * thread that steps it; allocations change only under hd_emu.lock; the rest of
 * the emulator, the program and the grid are read-only but for the atomics. */
#ifndef HEDDLE_EMU_GRID_H
#define HEDDLE_EMU_GRID_H

#include "emu/machine/cta.h"
#include "emu/machine/program.h"
#include "emu/machine/shadow.h"

#include <stdio.h>

enum { EMU_LOCAL_LIMIT = 512 * 1024 }; /* bytes of a thread */

/* The first access of an instruction, in the order of the CTAs' starts, that a GPU would not notice. */
typedef struct emu_stray {
  const emu_inst *at;
  uint64_t ordinal;
  hd_diag *what;
} emu_stray;

struct hd_emu_grid {
  hd_emu *emu;
  hd_emu_program *program;
  emu_code *code;
  emu_traits traits;
  uint8_t nc_tag; /* emu_nc_tag */
  emu_launch_view view;
  hd_emu_hooks hooks;
  uint64_t user; /* hd_emu_launch_params */
  /* Takes a unit away from the driver that it has not started; NULL: the driver gives none away. */
  bool (*cancel)(void *ctx, uint64_t *unit);
  void *cancel_ctx;
  bool ordered; /* the driver runs CTAs up to the first faulty ordinal to their end */
  uint32_t n_warps, n_threads;
  uint64_t n_tasks;
  uint32_t cluster[3], cluster_size; /* CTAs */
  uint64_t n_units;                  /* clusters: what is started at once */
  uint32_t dynamic_shared;
  uint64_t shared_bytes;       /* static and dynamic */
  uint64_t stack_bytes;        /* per thread, a multiple of 16 */
  uint64_t id;                 /* %gridid */
  uint64_t workspace;          /* of a cooperative launch: where its barrier's state lies; else 0 */
  const uint32_t *barrier;     /* on the host: that state, whose top bit changes with every grid.sync() */
  uint32_t passed;             /* what the check of races has seen of it */
  uint32_t (*tid)[3][HD_WARP]; /* per warp: %tid.x, .y, .z of its lanes */
  _Atomic bool waited, waited_first; /* hd_emu_stats */
  emu_race_log race;
  pthread_mutex_t lock; /* over idle, race.tasks, fault, strays, print */
  hd_emu_cta *idle;
  emu_cluster *idle_clusters;
  _Atomic uint64_t next_ordinal;
  _Atomic uint64_t fault_ordinal; /* UINT64_MAX: no fault */
  hd_diag fault;
  HD_VEC(emu_stray) strays;
  hd_emu_strays *told;      /* where they go when the launch ends; NULL: such accesses are faults */
  hd_emu_strays *unwritten; /* so do loads of memory never written */
};

/* Whether byte `offset` of a lane's stack was written; the CTA's local_init is not NULL. */
static inline uint8_t *emu_local_shadow(const emu_mwarp *m, unsigned lane, uint64_t offset) {
  const hd_emu_cta *c = m->w.cta;
  return c->local_init + (m->local - c->local) + lane * c->grid->stack_bytes + offset;
}

/* grid.c */
/* A CTA with its shared memory there (NULL: of its own). */
hd_emu_cta *emu_cta_make(hd_emu_grid *g, char *shared);
void emu_cta_free(hd_emu_cta *c);
/* Whether the emulator's time (hd_emu_set_until) is over, or its work (hd_emu_set_work); the diagnostic for
 * that. */
bool emu_is_late(const hd_emu_grid *g);
hd_status emu_say_late(const hd_emu_grid *g, hd_diag *d);
/* The CTA has run on: its instructions are work of the emulator's. */
void emu_count_work(hd_emu_cta *c);
/* Start a CTA, or all CTAs of a cluster, of which *out is the first. `unit`: the number of either. */
hd_status emu_unit_start(hd_emu_grid *g, uint64_t unit, uint64_t ordinal, uint32_t sm, unsigned worker,
                         hd_emu_cta **out, hd_diag *d);
/* The launch has ended for this CTA. */
static inline bool emu_cta_over(const hd_emu_cta *c) {
  uint64_t f = atomic_load_explicit(&c->grid->fault_ordinal, memory_order_relaxed);
  return f != UINT64_MAX && (f <= c->ordinal || !c->grid->ordered);
}
/* Fill in %tid and its kin. */
void emu_fill_sregs(emu_mwarp *m, emu_frame *f);

/* depend.c */
/* Of these lanes, those that are ordered behind griddepcontrol.wait. */
uint32_t emu_waited(emu_warp *w, uint32_t lanes);
/* The CTA is over: grids that depend on this one need not wait for it. */
void emu_depend_over(hd_emu_cta *c);

/* fault.c */
/* As emu_fault_at, but the launch ends with HD_ERR_NOMEM: it is not the kernel's fault. */
void emu_nomem_at(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, const char *fmt, ...)
    HD_PRINTF(5, 6);
/* As emu_fault, at an instruction of `code`; i NULL: no instruction. */
void emu_fault_at(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, hd_fault kind,
                  const char *fmt, ...) HD_PRINTF(6, 7);
/* As emu_fault, but the access happens, and is reported when the launch ends. */
void emu_stray_note(emu_warp *w, const emu_inst *i, uint32_t mask, hd_fault kind, const char *fmt, ...)
    HD_PRINTF(5, 6);
void emu_strays_tell(hd_emu_grid *g);
void emu_strays_free(hd_emu_grid *g);

#endif
