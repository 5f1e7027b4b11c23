/* emu/machine/progress.h: the detection of CTAs that run for long without progress (progress.c). */
#ifndef HEDDLE_EMU_PROGRESS_H
#define HEDDLE_EMU_PROGRESS_H

#include "emu/machine/grid.h"

typedef enum emu_verdict {
  EMU_GOES_ON = 0,
  EMU_DEADLOCK,    /* proved: no warp can ever leave its loop, whatever the order of turns */
  EMU_LIVELOCK,    /* the whole machine came back to a state of its own, again and again */
  EMU_NO_PROGRESS, /* hd_emu_options.quiet_instructions have run, and memory has come to no other state */
} emu_verdict;

/* One driver's. */
typedef struct emu_progress {
  uint64_t rounds, gap; /* since the last window; until the next one */
  uint32_t length;      /* of the next window, in instructions of each fiber */
  uint64_t quiet;       /* warp instructions since a window first saw nothing change; UINT64_MAX: none has */
  uint64_t clock;       /* warp instructions of all its CTAs, ended ones included */
  uint64_t stores;      /* theirs at the last window */
  uint64_t told;        /* theirs when others were last let run */
  uint32_t cycles;      /* windows, one after the other, in which the machine came back to a state */
  uint64_t cycling;     /* warp instructions at the first of them */
  bool again;           /* since then they have run in no other way than watched */
  emu_quiet watch;
} emu_progress;

void emu_progress_begin(emu_progress *p);
void emu_progress_end(emu_progress *p);
/* A CTA has started or ended. */
static inline void emu_progress_made(emu_progress *p) {
  p->rounds = 0;
  p->quiet = UINT64_MAX;
  p->cycles = 0;
}
/* Others may have changed memory: begin with short windows again. */
void emu_progress_again(emu_progress *p);
/* With a verdict: may the CTAs have changed memory since the last such call, or the start? */
bool emu_progress_moved(emu_progress *p, emu_verdict v);
/* Every warp of the driver's CTAs had a turn, in which they ran `instructions`. True: it is time to watch. */
static inline bool emu_progress_due(emu_progress *p, uint64_t instructions) {
  p->clock += instructions;
  return ++p->rounds >= p->gap;
}
/* Run all warps of these CTAs, all that the driver has, an instruction at a time while every change is
 * noticed. Ends early when a CTA is over or has faulted. */
emu_verdict emu_progress_watch(emu_progress *p, hd_emu_cta *const *ctas, size_t n);
/* Make the verdict the launch's fault, at the first of these CTAs: `waiting` more have not started. */
void emu_progress_fault(const emu_progress *p, emu_verdict v, hd_emu_cta *const *ctas, size_t n,
                        uint64_t waiting, const char *dispatcher);

#endif
