/* emu/machine/dispatch.h: which CTA starts where, and when (dispatch.c). */
#ifndef HEDDLE_EMU_DISPATCH_H
#define HEDDLE_EMU_DISPATCH_H

#include "heddle/emu.h"

typedef struct emu_dispatcher emu_dispatcher;
typedef enum emu_dispatch_result {
  EMU_DISPATCH_START,
  EMU_DISPATCH_WAIT,
  EMU_DISPATCH_END
} emu_dispatch_result;
hd_status emu_dispatcher_create(const hd_dispatch *how, uint64_t n_tasks, uint32_t n_sms,
                                emu_dispatcher **out, hd_diag *d);
void emu_dispatcher_destroy(emu_dispatcher *p);
/* The next CTA to start now, if there is a free place for it. */
emu_dispatch_result emu_dispatch_next(emu_dispatcher *p, uint64_t *task, uint32_t *sm);
/* From emu_dispatch_take to emu_dispatch_next: of the CTAs taken so many are not over. Each asks for a place
 * on its SM; false: there is none free. `running`: it has one already, however many there are. */
void emu_dispatch_settle(emu_dispatcher *p, uint64_t unfinished);
bool emu_dispatch_occupy(emu_dispatcher *p, uint32_t sm, bool running);
/* The next CTA is never started; false: there is none left. */
bool emu_dispatch_cancel(emu_dispatcher *p, uint64_t *task);
void emu_dispatch_retire(emu_dispatcher *p, uint32_t sm);
/* For drivers that run each CTA to its end alone: the whole order of starts, with made-up running times
 * where the dispatcher depends on them. False at the end. */
bool emu_dispatch_take(emu_dispatcher *p, uint64_t *task, uint32_t *sm);
/* CTAs that may be alive at once, in the whole machine. */
uint64_t emu_dispatch_places(const emu_dispatcher *p);
/* Warp instructions the CTA at position n may run before others get their turn. */
uint64_t emu_dispatch_quantum(const emu_dispatcher *p, uint64_t n, uint64_t round, uint64_t base);

#endif
