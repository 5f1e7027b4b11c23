#include "predict/states.h"

#include <stdlib.h>
#include <string.h>

struct states {
  hd_arena arena;
  uint32_t n_launches, n_buffers;
  void ***held; /* per launch: NULL, or per buffer: NULL, or its bytes */
};

static hd_status run_launch(recording *r, uint32_t launch, hd_emu_stats *stats, hd_diag *d) {
  const hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  return runner_run_launch(&r->r, launch, &how, NULL, stats, d);
}

hd_status states_count(recording *r, double most, uint32_t least, states_run *run, hd_diag *d) {
  double done = 0;
  run->n = 0;
  for (uint32_t i = 0; i < r->r.w->n_launches && (i < least || done < most); i++) {
    hd_emu_stats s = {0};
    const hd_status st = run_launch(r, i, &s, d);
    if (st != HD_OK) return st;
    run->instructions[run->n++] = (double)s.warp_instructions;
    done += (double)s.thread_instructions;
  }
  return HD_OK;
}

static hd_status keep(states *s, const recording *r, const steering *which, uint32_t launch, hd_diag *d) {
  s->held[launch] = HD_NEW_N(&s->arena, (size_t)s->n_buffers + 1, void *);
  if (!s->held[launch]) return hd_nomem(d);
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    if (!which->state[b]) continue;
    const uint64_t bytes = r->r.w->buffers[b].bytes;
    s->held[launch][b] = HD_NEW_N(&s->arena, bytes + 1, char);
    if (!s->held[launch][b]) return hd_nomem(d);
    memcpy(s->held[launch][b], runner_bytes(&r->r, b), bytes);
  }
  return HD_OK;
}

hd_status states_keep(recording *r, const steering *which, const bool *wanted, states **out, hd_diag *d) {
  const hd_workload *w = r->r.w;
  states *s = calloc(1, sizeof *s);
  uint32_t last = 0;
  *out = NULL;
  if (!s) return hd_nomem(d);
  hd_arena_init(&s->arena);
  s->n_launches = w->n_launches;
  s->n_buffers = w->n_buffers;
  s->held = HD_NEW_N(&s->arena, (size_t)w->n_launches + 1, void **);
  hd_status st = s->held ? record_fill(r, d) : hd_nomem(d);
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (wanted[i]) last = i;
  for (uint32_t i = 0; st == HD_OK && i <= last; i++) {
    hd_emu_stats stats;
    if (wanted[i]) st = keep(s, r, which, i, d);
    if (st == HD_OK && i < last) st = run_launch(r, i, &stats, d);
  }
  if (st == HD_OK)
    *out = s;
  else
    states_free(s);
  return st;
}

void states_free(states *s) {
  if (!s) return;
  hd_arena_free(&s->arena);
  free(s);
}

void states_restore(const states *s, uint32_t launch, runner *r) {
  if (!s->held[launch]) return;
  for (uint32_t b = 0; b < s->n_buffers; b++)
    if (s->held[launch][b]) memcpy(runner_bytes(r, b), s->held[launch][b], r->w->buffers[b].bytes);
}
