/* emu/machine/launch.c: run a launch to its end.
 *
 * CTAs that do not depend on each other's progress run to their ends one after the other, spread over
 * the host threads in the dispatcher's order. Those whose results may depend on the
 * interleaving (order_sensitive) run on one host thread, all resident ones in turn, so that waiting for
 * a resident CTA ends. */
#include "emu/machine/dispatch.h"
#include "emu/machine/grid.h"

#include <stdlib.h>

enum {
  RUN_QUANTUM = 4096, /* warp instructions: a warp's registers stay in the cache */
  INTERLEAVE_QUANTUM = 256,
  MAX_CHUNK = 64, /* CTAs a host thread takes at once */
};

/* One host thread's; a cache line apart. */
typedef struct worker {
  _Alignas(128) hd_emu_stats stats;
  hd_status status;
  hd_diag diag;
} worker;

typedef struct launch {
  hd_emu_grid *grid;
  emu_dispatcher *dispatcher;
  pthread_mutex_t lock; /* over the dispatcher and taken */
  uint64_t taken;
  unsigned n_workers;
  _Atomic bool failed; /* a CTA could not be started */
  worker *workers;
} launch;

static void account(hd_emu_stats *s, const hd_emu_cta *c) {
  s->ctas++;
  s->warps += c->n_warps;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    s->warp_instructions += c->warps[k].w.instructions;
    s->thread_instructions += c->warps[k].w.thread_instructions;
  }
}

/* ---- CTAs on their own ------------------------------------------------------------ */

typedef struct chunk {
  uint64_t first; /* position in the order of starts */
  uint32_t n;
  uint64_t task[MAX_CHUNK];
  uint32_t sm[MAX_CHUNK];
} chunk;

static bool take_chunk(launch *l, chunk *c) {
  pthread_mutex_lock(&l->lock);
  /* Large at first, to meet seldom; small at last, to end together. */
  uint64_t want = (l->grid->n_tasks - l->taken) / (8 * (uint64_t)l->n_workers) + 1;
  if (want > MAX_CHUNK) want = MAX_CHUNK;
  c->first = l->taken;
  for (c->n = 0; c->n < want && emu_dispatch_take(l->dispatcher, &c->task[c->n], &c->sm[c->n]); c->n++)
    l->taken++;
  pthread_mutex_unlock(&l->lock);
  return c->n > 0;
}

static void run_alone(void *ctx, unsigned number) {
  launch *l = ctx;
  hd_emu_grid *g = l->grid;
  worker *me = &l->workers[number];
  chunk c;
  while (take_chunk(l, &c)) {
    for (uint32_t k = 0; k < c.n; k++) {
      /* Of several faults the earliest CTA's counts: those before it still run, whoever has them. */
      if (atomic_load(&g->fault_ordinal) < c.first + k || atomic_load(&l->failed)) return;
      hd_emu_cta *cta;
      me->status = emu_cta_start_at(g, c.task[k], c.first + k, c.sm[k], number, &cta, &me->diag);
      if (me->status != HD_OK) {
        atomic_store(&l->failed, true);
        return;
      }
      hd_emu_cta_run(cta, RUN_QUANTUM);
      account(&me->stats, cta);
      hd_emu_cta_end(cta);
    }
  }
}

/* ---- CTAs in turn ---------------------------------------------------------------------- */

typedef struct resident {
  hd_emu_cta *cta;
  uint64_t position, rounds;
  uint32_t sm;
} resident;

/* Run every warp of it for a while; false: the launch is over. */
static bool step_cta(const emu_dispatcher *d, resident *r) {
  const uint64_t quantum = emu_dispatch_quantum(d, r->position, r->rounds++, INTERLEAVE_QUANTUM);
  for (uint32_t k = 0; k < r->cta->n_warps; k++)
    if (r->cta->live_mask >> k & 1 && hd_emu_warp_step(r->cta, k, quantum) == HD_STEP_FAULT) return false;
  return true;
}

static void run_interleaved(launch *l) {
  hd_emu_grid *g = l->grid;
  emu_dispatcher *d = l->dispatcher;
  worker *me = &l->workers[0];
  HD_VEC(resident) alive = {0};
  bool ok = true;
  uint64_t started = 0;
  while (ok) {
    resident r = {.position = started};
    uint64_t task;
    while (ok && emu_dispatch_next(d, &task, &r.sm) == EMU_DISPATCH_START) {
      me->status = emu_cta_start_at(g, task, started, r.sm, 0, &r.cta, &me->diag);
      if (me->status == HD_OK && !hd_vec_push(&alive, r)) {
        me->status = hd_nomem(&me->diag);
        hd_emu_cta_end(r.cta);
      }
      ok = me->status == HD_OK;
      r.position = ++started;
    }
    if (!alive.n) break;
    size_t kept = 0;
    for (size_t k = 0; k < alive.n; k++) {
      resident *x = &alive.data[k];
      ok = ok && step_cta(d, x);
      if (ok && x->cta->live_warps) {
        alive.data[kept++] = *x;
        continue;
      }
      account(&me->stats, x->cta);
      hd_emu_cta_end(x->cta);
      emu_dispatch_retire(d, x->sm);
    }
    alive.n = kept;
  }
  for (size_t k = 0; k < alive.n; k++) {
    account(&me->stats, alive.data[k].cta);
    hd_emu_cta_end(alive.data[k].cta);
  }
  hd_vec_free(&alive);
}

/* ---- The driver ---------------------------------------------------------------------------- */

static hd_status run(launch *l, hd_diag *d) {
  const hd_emu_grid *g = l->grid;
  const bool interleave = g->traits.order_sensitive;
  const bool one_thread =
      interleave || g->traits.allocates || (g->traits.prints && g->hooks.print) || g->emu->race != NULL;
  l->n_workers = one_thread ? 1 : g->emu->opt.threads;
  if (l->n_workers > g->n_tasks) l->n_workers = (unsigned)g->n_tasks;
  if (posix_memalign((void **)&l->workers, _Alignof(worker), l->n_workers * sizeof *l->workers) != 0) {
    l->workers = NULL;
    return hd_nomem(d);
  }
  memset(l->workers, 0, l->n_workers * sizeof *l->workers);
  if (interleave)
    run_interleaved(l);
  else
    hd_parallel(l->n_workers, run_alone, l); /* when not all threads start, the others do their work */
  for (unsigned k = 0; k < l->n_workers; k++)
    if (l->workers[k].status != HD_OK) {
      if (d) *d = l->workers[k].diag;
      return l->workers[k].status;
    }
  return HD_OK;
}

hd_status hd_emu_launch(hd_emu_program *p, const hd_emu_launch_params *lp, const hd_dispatch *how,
                        const hd_emu_hooks *hooks, hd_emu_stats *stats, hd_diag *d) {
  if (stats) *stats = (hd_emu_stats){0};
  const double start = hd_seconds();
  launch l = {0};
  hd_status st = hd_emu_grid_begin(p, lp, hooks, &l.grid, d);
  if (st != HD_OK) return st;
  l.grid->ordered = true;
  pthread_mutex_init(&l.lock, NULL);
  st = emu_dispatcher_create(how, l.grid->n_tasks, p->emu->opt.n_sms, &l.dispatcher, d);
  if (st == HD_OK) st = run(&l, d);
  for (unsigned k = 0; l.workers && k < l.n_workers; k++) {
    if (!stats) break;
    const hd_emu_stats *s = &l.workers[k].stats;
    stats->ctas += s->ctas;
    stats->warps += s->warps;
    stats->warp_instructions += s->warp_instructions;
    stats->thread_instructions += s->thread_instructions;
  }
  hd_status ended = hd_emu_grid_end(l.grid, st == HD_OK ? d : NULL);
  if (stats) stats->seconds = hd_seconds() - start;
  emu_dispatcher_destroy(l.dispatcher);
  pthread_mutex_destroy(&l.lock);
  free(l.workers);
  return st != HD_OK ? st : ended;
}
