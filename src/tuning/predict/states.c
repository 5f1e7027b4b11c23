#include "predict/states.h"

#include <stdlib.h>
#include <string.h>

struct states {
  hd_arena arena;
  const steering *which;
  uint32_t n_buffers;
  void **first; /* per buffer that a launch writes: what it holds before the first one */
  void ***held; /* per launch: NULL, or per buffer that is state: its bytes */
};

static hd_status run_launch(recording *r, uint32_t launch, hd_emu_stats *stats, hd_diag *d) {
  const hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  return runner_run_launch(&r->r, launch, &how, NULL, stats, d);
}

/* Copies of the buffers that are marked; NULL: out of memory. */
static void **copy(states *s, const recording *r, const bool *marked) {
  void **to = HD_NEW_N(&s->arena, (size_t)s->n_buffers + 1, void *);
  for (uint32_t b = 0; to && b < s->n_buffers; b++) {
    const uint64_t bytes = r->r.w->buffers[b].bytes;
    if (!marked[b]) continue;
    to[b] = HD_NEW_N(&s->arena, bytes + 1, char);
    if (!to[b]) return NULL;
    memcpy(to[b], runner_bytes(&r->r, b), bytes);
  }
  return to;
}

static void put_back(const states *s, void *const *from, runner *r) {
  for (uint32_t b = 0; b < s->n_buffers; b++)
    if (from[b]) memcpy(runner_bytes(r, b), from[b], r->w->buffers[b].bytes);
}

hd_status states_begin(const recording *r, const steering *which, states **out, hd_diag *d) {
  const hd_workload *w = r->r.w;
  states *s = calloc(1, sizeof *s);
  *out = s;
  if (!s) return hd_nomem(d);
  hd_arena_init(&s->arena);
  s->which = which;
  s->n_buffers = w->n_buffers;
  s->held = HD_NEW_N(&s->arena, (size_t)w->n_launches + 1, void **);
  s->first = copy(s, r, which->written);
  return s->held && s->first ? HD_OK : hd_nomem(d);
}

/* Instructions as those of whole warps cost, of which few lanes may run. */
static double cost_of(const hd_emu_stats *stats) {
  const double threads = (double)stats->thread_instructions, warps = (double)stats->warp_instructions;
  return threads > warps * HD_WARP / 2 ? threads : warps * HD_WARP / 2;
}

hd_status states_count(states *s, recording *r, const states_bounds *b, states_run *run, hd_diag *d) {
  enum { SEVERAL = 2 };
  double done = 0;
  run->n = 0;
  for (uint32_t i = 0; i < r->r.w->n_launches; i++) {
    hd_emu_stats stats = {0};
    if (i >= b->fewest && done >= b->most * (i < b->least ? SEVERAL : 1)) break;
    if (i >= b->fewest && b->until > 0 && hd_seconds() >= b->until) break;
    if (b->keep && !(s->held[i] = copy(s, r, s->which->state))) return hd_nomem(d);
    const hd_status st = run_launch(r, i, &stats, d);
    if (st != HD_OK) return st;
    run->instructions[run->n++] = (double)stats.warp_instructions;
    done += cost_of(&stats);
  }
  return HD_OK;
}

hd_status states_keep(states *s, recording *r, const bool *wanted, hd_diag *d) {
  uint32_t last = 0;
  bool missing = false;
  hd_status st = HD_OK;
  for (uint32_t i = 0; i < r->r.w->n_launches; i++) {
    if (!wanted[i] || s->held[i]) continue;
    missing = true;
    last = i;
  }
  if (!missing) return HD_OK;
  put_back(s, s->first, &r->r);
  for (uint32_t i = 0; st == HD_OK && i <= last; i++) {
    hd_emu_stats stats;
    if (wanted[i] && !s->held[i] && !(s->held[i] = copy(s, r, s->which->state))) st = hd_nomem(d);
    if (st == HD_OK && i < last) st = run_launch(r, i, &stats, d);
  }
  return st;
}

void states_free(states *s) {
  if (!s) return;
  hd_arena_free(&s->arena);
  free(s);
}

void states_restore(const states *s, uint32_t launch, runner *r) {
  if (s->held[launch]) put_back(s, s->held[launch], r);
}
