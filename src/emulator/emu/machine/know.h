/* emu/machine/know.h: what the warps of a CTA, and their lanes, know of each other's accesses (know.c). */
#ifndef HEDDLE_EMU_KNOW_H
#define HEDDLE_EMU_KNOW_H

#include "emu/machine/grid.h"

enum {
  EMU_COPIERS = 32, /* so many mbarriers count as different writers; further ones share their numbers */
  EMU_WRITERS = EMU_MAX_WARPS + EMU_COPIERS,
  EMU_SEVERAL_LANES = HD_WARP, /* of an access, instead of a lane */
};

/* The accesses that happened before: per warp, a time of its clock; per mbarrier, a copy's number. */
typedef struct emu_times {
  uint32_t of[EMU_WRITERS];     /* warps, then mbarriers */
  uint32_t some[EMU_MAX_WARPS]; /* later than that: of the lanes in `lanes` alone */
  uint32_t lanes[EMU_MAX_WARPS];
  uint32_t gpu[EMU_MAX_WARPS];   /* behind which a thread has fenced for the GPU */
  uint32_t async[EMU_MAX_WARPS]; /* behind which a thread has fenced for the async proxy */
  uint64_t told, gpu_told;       /* by other CTAs: emu_race_log.releases; the same at that fence */
  bool waited;                   /* griddepcontrol.wait */
} emu_times;

/* A warp's. Its own time is knows.of[its number]. */
typedef struct emu_knower {
  emu_times knows;                        /* of the lanes in `informed` */
  emu_times base;                         /* of the others, if there are any */
  emu_times fenced;                       /* at its last fence */
  emu_times heard;                        /* behind its next one */
  uint32_t informed;                      /* UINT32_MAX: all */
  uint32_t synced;                        /* all its lanes know of all that they did up to this time */
  uint32_t tells;                         /* how often it has let others know something */
  bool apart;                             /* some lanes know more of each other: */
  uint32_t met[HD_WARP], met_at[HD_WARP]; /* of these lanes' accesses, up to this time */
} emu_knower;

/* An mbarrier's. */
typedef struct emu_signal {
  uint64_t offset;
  emu_times pending; /* of those that have arrived */
  emu_times done;    /* when its last phase was complete */
  uint32_t made;     /* the time of its mbarrier.init; 0: none was seen */
  uint32_t made_by, made_lane, made_line;
} emu_signal;

typedef struct emu_cell emu_cell;

struct emu_order {
  uint32_t n_warps, n_copiers;
  bool some, gpu, async;            /* there are such times */
  uint32_t copies;                  /* made so far: their numbers */
  emu_times barriers[EMU_BARRIERS]; /* of the warps that arrived */
  emu_times exited; /* of warps that are over: a barrier of all warps does not wait for them */
  emu_times flags;  /* that strong writes pass on inside the CTA */
  HD_VEC(emu_signal) signals;
  unsigned grain; /* bytes of a cell: 4, or 2 or 1 when an access was so small; order.c */
  size_t n_cells;
  emu_cell *cells; /* NULL: no shared memory */
  emu_knower warps[];
};

emu_order *emu_know_new(uint32_t n_warps);
void emu_know_reset(emu_order *o);
/* The numbers of the mbarrier at a shared offset as a writer, and of its next copy. False: out of memory. */
bool emu_know_copy(emu_order *o, uint64_t offset, uint32_t *writer, uint32_t *number);
static inline const emu_times *emu_known_to(const emu_knower *k, unsigned lane) {
  return k->informed >> lane & 1 ? &k->knows : &k->base;
}
/* The lanes know these copies of mbarriers, by their numbers as writers; 0: none. */
void emu_know_copied(emu_warp *w, uint32_t lanes, const uint32_t copies[EMU_COPIERS]);
/* The lane makes (or ends) the mbarrier at a shared offset. */
void emu_know_made(emu_warp *w, unsigned lane, uint64_t offset, uint32_t line, bool ends);
/* The line of its mbarrier.init, if the lane does not know of that; else 0. */
uint32_t emu_unknown_init(const emu_warp *w, unsigned lane, uint64_t offset);
/* Whether warp `of`'s access at that time, by that lane (or EMU_SEVERAL_LANES), happened before. */
static inline bool emu_knows(const emu_order *o, const emu_times *t, uint32_t of, unsigned lane,
                             uint32_t time) {
  return time <= t->of[of] || (o->some && of < EMU_MAX_WARPS && time <= t->some[of] &&
                               (lane == EMU_SEVERAL_LANES || t->lanes[of] >> lane & 1));
}
/* The same for lanes of one warp. */
static inline bool emu_lane_knows(const emu_knower *k, unsigned lane, unsigned of, uint32_t time) {
  return of == lane || of == EMU_SEVERAL_LANES || time <= k->synced ||
         (k->apart && k->met[lane] >> of & 1 && time <= k->met_at[lane]);
}
/* The lanes that make an access: pieces of a copy are all its thread's. */
static inline uint32_t emu_acting(const emu_warp *w, uint32_t mask) {
  const unsigned issuer = ((const emu_mwarp *)w)->issuer;
  return issuer ? 1u << (issuer - 1) : mask;
}
/* These lanes learn what other CTAs had told up to `told`. */
void emu_know_told(emu_warp *w, uint32_t lanes, uint64_t told);
/* They have waited for the grids that this one depends on. */
void emu_know_waited(emu_warp *w, uint32_t lanes);

#endif
