/* emu/machine/launch.c: run a launch to its end.
 *
 * CTAs that do not depend on each other's progress run to their ends one after the other, spread over
 * the host threads in the dispatcher's order. Those whose results may depend on the
 * interleaving (order_sensitive) run on one host thread, all resident ones in turn, so that waiting for
 * a resident CTA ends; so do clusters, which start and end as one. A CTA on its own that gets nowhere may
 * wait for another one with plain loads: from then on the launch is interleaved, that CTA included. */
#include "emu/machine/cluster.h"
#include "emu/machine/dispatch.h"
#include "emu/machine/grid.h"
#include "emu/machine/progress.h"

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

typedef struct resident {
  hd_emu_cta *cta; /* of a cluster: the first; NULL: taken, but not started */
  uint64_t task, position, rounds;
  uint32_t sm;
} resident;

typedef struct launch {
  hd_emu_grid *grid;
  emu_dispatcher *dispatcher;
  const char *how;         /* the dispatcher's name */
  pthread_mutex_t lock;    /* over the dispatcher, taken and left */
  uint64_t taken, started; /* by CTAs on their own; in turn, taken over included */
  HD_VEC(resident) left;   /* CTAs that running alone left over: those that wait, and those not started */
  bool cooperative;        /* all CTAs start at once, and none waits for a place */
  unsigned n_workers;
  _Atomic bool failed;     /* a CTA could not be started */
  _Atomic bool interleave; /* a CTA gets nowhere on its own: no more are run so */
  worker *workers;
} launch;

static void account(hd_emu_stats *s, hd_emu_cta *first) {
  for (uint32_t r = 0; r < emu_unit_size(first); r++) {
    const hd_emu_cta *c = emu_unit_cta(first, r);
    s->ctas++;
    s->warps += c->n_warps;
    for (uint32_t k = 0; k < c->n_warps; k++) {
      s->warp_instructions += c->warps[k].w.instructions;
      s->thread_instructions += c->warps[k].w.thread_instructions;
    }
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
  uint64_t want = (l->grid->n_units - l->taken) / (8 * (uint64_t)l->n_workers) + 1;
  if (want > MAX_CHUNK) want = MAX_CHUNK;
  c->first = l->taken;
  for (c->n = 0; c->n < want && emu_dispatch_take(l->dispatcher, &c->task[c->n], &c->sm[c->n]); c->n++)
    l->taken++;
  pthread_mutex_unlock(&l->lock);
  return c->n > 0;
}

/* Run it to its end, or until the launch's time is over; false: it gets nowhere. */
static bool run_to_end(const launch *l, emu_progress *p, hd_emu_cta *c) {
  emu_progress_made(p);
  while (c->live_warps && !emu_is_late(l->grid)) {
    const uint64_t clock = c->clock;
    for (uint32_t k = 0; k < c->n_warps; k++)
      if (c->live_mask >> k & 1 && hd_emu_warp_step(c, k, RUN_QUANTUM) == HD_STEP_FAULT) return true;
    emu_count_work(c);
    if (emu_progress_due(p, c->clock - clock) && emu_progress_watch(p, &c, 1) != EMU_GOES_ON) return false;
    if (emu_cta_over(c)) return true;
  }
  return true;
}

/* Leave it to run_interleaved. */
static bool leave(launch *l, resident r) {
  pthread_mutex_lock(&l->lock);
  const bool ok = hd_vec_push(&l->left, r);
  pthread_mutex_unlock(&l->lock);
  return ok;
}

static hd_status run_one(launch *l, worker *me, emu_progress *p, resident r, unsigned number) {
  hd_status st = emu_unit_start(l->grid, r.task, r.position, r.sm, number, &r.cta, &me->diag);
  if (st != HD_OK) return st;
  if (!run_to_end(l, p, r.cta)) {
    atomic_store(&l->interleave, true);
    if (leave(l, r)) return HD_OK;
    st = hd_nomem(&me->diag);
  } else if (emu_is_late(l->grid)) {
    st = emu_say_late(l->grid, &me->diag);
  }
  account(&me->stats, r.cta);
  hd_emu_cta_end(r.cta);
  return st;
}

static void run_chunks(launch *l, worker *me, emu_progress *p, unsigned number) {
  chunk c;
  while (!atomic_load(&l->interleave) && take_chunk(l, &c)) {
    for (uint32_t k = 0; k < c.n; k++) {
      /* Of several faults the earliest CTA's counts: CTAs before it still run, on any thread. */
      if (atomic_load(&l->grid->fault_ordinal) < c.first + k || atomic_load(&l->failed)) return;
      const resident r = {.task = c.task[k], .position = c.first + k, .sm = c.sm[k]};
      if (atomic_load(&l->interleave))
        me->status = leave(l, r) ? HD_OK : hd_nomem(&me->diag);
      else
        me->status = run_one(l, me, p, r, number);
      if (me->status != HD_OK) {
        atomic_store(&l->failed, true);
        return;
      }
    }
  }
}

static void run_alone(void *ctx, unsigned number) {
  launch *l = ctx;
  emu_progress p;
  emu_progress_begin(&p);
  run_chunks(l, &l->workers[number], &p, number);
  emu_progress_end(&p);
}

/* ---- CTAs in turn ---------------------------------------------------------------------- */

/* Run every warp of it, or of its cluster, for a while; false: the launch is over. */
static bool step_unit(const emu_dispatcher *d, resident *r) {
  const uint64_t quantum = emu_dispatch_quantum(d, r->position, r->rounds++, INTERLEAVE_QUANTUM);
  for (uint32_t n = 0; n < emu_unit_size(r->cta); n++) {
    hd_emu_cta *c = emu_unit_cta(r->cta, n);
    for (uint32_t k = 0; k < c->n_warps; k++)
      if (c->live_mask >> k & 1 && hd_emu_warp_step(c, k, quantum) == HD_STEP_FAULT) return false;
    emu_count_work(c);
  }
  return true;
}

typedef HD_VEC(resident) residents;
typedef HD_VEC(hd_emu_cta *) ctas;

/* The next CTA that has a place now: one that was left over, then the dispatcher's. */
static bool next_start(launch *l, size_t *left, resident *r) {
  if (*left < l->left.n) {
    *r = l->left.data[*left];
    if (!emu_dispatch_occupy(l->dispatcher, r->sm, r->cta != NULL)) return false;
    ++*left;
    return true;
  }
  *r = (resident){.position = l->started};
  if (l->cooperative ? !emu_dispatch_take(l->dispatcher, &r->task, &r->sm)
                     : emu_dispatch_next(l->dispatcher, &r->task, &r->sm) != EMU_DISPATCH_START)
    return false;
  l->started++;
  return true;
}

/* Start all CTAs that have a place. False: one could not be started. */
static bool start_all(launch *l, residents *alive, size_t *left, emu_progress *p) {
  worker *me = &l->workers[0];
  resident r;
  while (me->status == HD_OK && next_start(l, left, &r)) {
    if (!r.cta) me->status = emu_unit_start(l->grid, r.task, r.position, r.sm, 0, &r.cta, &me->diag);
    if (me->status == HD_OK && !hd_vec_push(alive, r)) {
      me->status = hd_nomem(&me->diag);
      hd_emu_cta_end(r.cta);
    }
    emu_progress_made(p);
  }
  return me->status == HD_OK;
}

static void end_resident(launch *l, const resident *r) {
  account(&l->workers[0].stats, r->cta);
  hd_emu_cta_end(r->cta);
  if (!l->cooperative) emu_dispatch_retire(l->dispatcher, r->sm);
}

/* A turn for every CTA, until the launch's time is over; those that end leave. False: the launch is over. */
static bool step_all(launch *l, residents *alive, emu_progress *p, bool *due) {
  size_t kept = 0;
  uint64_t ran = 0;
  bool ok = true;
  for (size_t k = 0; k < alive->n; k++) {
    resident *r = &alive->data[k];
    const uint64_t clock = emu_unit_clock(r->cta);
    ok = ok &&
         (emu_is_late(l->grid) || step_unit(l->dispatcher, r)); /* the caller ends a launch that is late */
    ran += emu_unit_clock(r->cta) - clock;
    if (ok && emu_unit_lives(r->cta))
      alive->data[kept++] = *r;
    else
      end_resident(l, r);
  }
  if (kept != alive->n) emu_progress_made(p);
  alive->n = kept;
  *due = emu_progress_due(p, ran);
  return ok;
}

/* CTAs that wait, or seem to: does the hook say that others may change what they read? */
static bool others_may_help(const launch *l, emu_verdict v, emu_progress *p) {
  const hd_emu_hooks *h = &l->grid->hooks;
  if (!h->wait || (v == EMU_GOES_ON && p->quiet == UINT64_MAX)) return false;
  const bool help = h->wait(h->ctx, v != EMU_GOES_ON, emu_progress_moved(p, v));
  emu_changes(l->grid->emu); /* from now on memory may not be as other launches have found it meanwhile */
  if (!help) return false;
  if (v != EMU_GOES_ON) emu_progress_again(p);
  return true;
}

/* Do these CTAs get anywhere? False: a fault. */
static bool watch(launch *l, const residents *alive, emu_progress *p, ctas *c, uint64_t started) {
  c->n = 0;
  for (size_t k = 0; k < alive->n; k++)
    for (uint32_t n = 0; n < emu_unit_size(alive->data[k].cta); n++) {
      hd_emu_cta *one = emu_unit_cta(alive->data[k].cta, n);
      if (one->live_warps && !hd_vec_push(c, one)) {
        l->workers[0].status = hd_nomem(&l->workers[0].diag);
        return false;
      }
    }
  if (!c->n) return true;
  /* CTAs that waited go on in a window: it shows whether they still wait, and have changed nothing. */
  emu_verdict v;
  do v = emu_progress_watch(p, c->data, c->n);
  while (others_may_help(l, v, p) && v != EMU_GOES_ON);
  if (v != EMU_GOES_ON) emu_progress_fault(p, v, c->data, c->n, l->grid->n_units - started, l->how);
  return v == EMU_GOES_ON && atomic_load(&l->grid->fault_ordinal) == UINT64_MAX;
}

static void run_interleaved(launch *l) {
  residents alive = {0};
  ctas c = {0};
  emu_progress p;
  size_t left = 0;
  bool ok = !atomic_load(&l->failed), due = false;
  l->started = l->taken;
  emu_progress_begin(&p);
  while (ok && start_all(l, &alive, &left, &p) && alive.n) {
    ok = step_all(l, &alive, &p, &due);
    if (ok && emu_is_late(l->grid)) {
      l->workers[0].status = emu_say_late(l->grid, &l->workers[0].diag);
      ok = false;
    }
    if (ok && due) ok = watch(l, &alive, &p, &c, l->started - (l->left.n - left));
  }
  for (size_t k = 0; k < alive.n; k++) end_resident(l, &alive.data[k]);
  for (; left < l->left.n; left++)
    if (l->left.data[left].cta) hd_emu_cta_end(l->left.data[left].cta);
  emu_progress_end(&p);
  hd_vec_free(&alive);
  hd_vec_free(&c);
}

/* Orders running CTAs before those not started, and each by their positions. */
static int by_position(const void *a, const void *b) {
  const resident *x = a, *y = b;
  if (!x->cta != !y->cta) return x->cta ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

static void run_left(launch *l) {
  if (!l->left.n) return;
  emu_dispatch_settle(l->dispatcher, l->left.n);
  qsort(l->left.data, l->left.n, sizeof *l->left.data, by_position);
  run_interleaved(l);
}

/* For clusterlaunchcontrol, which only CTAs in turn execute. */
static bool cancel_next(void *ctx, uint64_t *unit) {
  launch *l = ctx;
  if (!emu_dispatch_cancel(l->dispatcher, unit)) return false;
  l->started++;
  return true;
}

/* ---- The driver ---------------------------------------------------------------------------- */

static hd_status run(launch *l, hd_diag *d) {
  const hd_emu_grid *g = l->grid;
  const bool interleave = g->traits.order_sensitive || l->cooperative || g->cluster_size > 1;
  const bool one_thread =
      interleave || g->traits.allocates || (g->traits.prints && g->hooks.print) || g->emu->race != NULL;
  l->n_workers = one_thread ? 1 : g->emu->opt.threads;
  if (l->n_workers > g->n_units) l->n_workers = (unsigned)g->n_units;
  if (posix_memalign((void **)&l->workers, _Alignof(worker), l->n_workers * sizeof *l->workers) != 0) {
    l->workers = NULL;
    return hd_nomem(d);
  }
  memset(l->workers, 0, l->n_workers * sizeof *l->workers);
  if (interleave)
    run_interleaved(l);
  else
    hd_parallel(l->n_workers, run_alone, l); /* when not all threads start, the others do their work */
  run_left(l);
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
  launch l = {.cooperative = lp->cooperative};
  hd_status st = hd_emu_grid_begin(p, lp, hooks, &l.grid, d);
  if (st != HD_OK) return st;
  l.grid->ordered = true;
  pthread_mutex_init(&l.lock, NULL);
  st = emu_dispatcher_create(how, l.grid->n_units, p->emu->opt.n_sms, &l.dispatcher, d);
  l.how = hd_dispatch_name(how ? how->kind : HD_DISPATCH_ROUND_ROBIN);
  l.grid->cancel = cancel_next;
  l.grid->cancel_ctx = &l;
  if (st == HD_OK) st = run(&l, d);
  for (unsigned k = 0; l.workers && k < l.n_workers; k++) {
    if (!stats) break;
    const hd_emu_stats *s = &l.workers[k].stats;
    stats->ctas += s->ctas;
    stats->warps += s->warps;
    stats->warp_instructions += s->warp_instructions;
    stats->thread_instructions += s->thread_instructions;
  }
  if (stats) {
    stats->waited = l.grid->waited;
    stats->waited_first = l.grid->waited_first;
  }
  hd_status ended = hd_emu_grid_end(l.grid, st == HD_OK ? d : NULL);
  if (stats) stats->seconds = hd_seconds() - start;
  emu_dispatcher_destroy(l.dispatcher);
  hd_vec_free(&l.left);
  pthread_mutex_destroy(&l.lock);
  free(l.workers);
  return st != HD_OK ? st : ended;
}
