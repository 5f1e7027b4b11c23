/* Launches in turns: a kernel's launches of one shape, as they come, with something in the original's place
 * or without, each between two events. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle/probation.h"
#include "run/watch.h"

enum {
  TIMINGS = 64,     /* launches whose times are not known yet */
  ROUNDS = 200,     /* of a search, at most */
  VISITS = 1 << 16, /* launches in all: its own context's may be few among them */
  MISSES = 64,      /* launches in a row that could not be made in their turn, or timed */
  OTHERS = 16 /* launches in a row that run beside others where those before did not, or the other way */
};

typedef struct timing {
  cu_event begin, end;
  uint32_t arm;
  bool counts; /* its time is comparable with the others' */
  bool missed; /* it has none */
} timing;

struct run_live {
  _Atomic(run_live *) next; /* of those that go on */
  run_live *after;          /* of those that are over */
  run_kernel *kernel;
  run_shape *shape; /* of a search, */
  double loss;      /* whose arms may lose so much: it is set aside */
  uint32_t grid[3], block[3], shared;
  const hd_verdict *verdict; /* on probation; NULL: a search */
  run_live_settled *tell;
  unsigned long long context;
  hd_turns *turns;
  uint32_t n; /* arms, the original among them */
  run_arm arms[HD_TURNS_ARMS];
  uint32_t told;   /* launches whose times are known */
  uint32_t pruned; /* rounds, as arms were last withdrawn */
  timing timings[TIMINGS];
  size_t first, pending; /* of them, as a ring, in the order of the launches */
  uint32_t visits;
  uint32_t looked;         /* rounds, as the end was last looked for */
  uint32_t misses, others; /* in a row */
  bool beside;             /* launches that count run beside others */
  bool eager;              /* many launches may be under way before any time is known */
  atomic_bool leads;       /* the plan on probation is ahead: launches that are not timed run under it */
  atomic_bool gone;        /* its context is, and the events with it */
  atomic_int end;          /* run_live_end */
  uint32_t best;
  bool stays, settled;
  run_lived known;     /* once it is settled */
  unsigned long again; /* of the kernel, launches at which one is opened anew; 0: none is */
};

/* Of all, for those who may wait for nobody: it is tried, and a launch that does not get it is not timed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_uint on_probation; /* those that go on of verdicts */

void run_live_forked(void) { pthread_mutex_init(&lock, NULL); }

/* ---- Arms -------------------------------------------------------------------------------------- */

static void hold(const run_arm *a, bool held) {
  if (a->pair) run_pair_hold(a->pair, held);
  if (a->variant) atomic_store(&a->variant->held, held);
  if (a->lever) atomic_store(&a->lever->held, held);
}

static void turn_off(const run_arm *a) {
  if (a->pair) run_pair_turn_off(a->pair);
  if (a->variant) atomic_store(&a->variant->off, true);
  if (a->lever) atomic_store(&a->lever->off, true);
}

static void save(const run_arm *a, double seconds) {
  const uint64_t ns = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
  if (a->pair) atomic_store(run_pair_saves(a->pair), ns);
  if (a->variant) atomic_store(&a->variant->saves, ns);
  if (a->lever) atomic_store(&a->lever->saves, ns);
}

static uint64_t saves_of(const run_arm *a) {
  return atomic_load_explicit(a->pair    ? run_pair_saves(a->pair)
                              : a->lever ? &a->lever->saves
                                         : &a->variant->saves,
                              memory_order_relaxed);
}

/* False: it does not fit this launch, and nothing is launched. */
static bool send(const run_arm *a, cu_function f, const run_launch *l, int *result, run_miss *miss) {
  run_replacement r;
  *miss = RUN_MISS_OTHER;
  if (l->pair) {
    if (!run_pair_follows(l->pair, a->pair, l)) return false;
    *result = run_pair_send(l->pair, a->pair, l);
    return true;
  }
  if (a->lever) return run_lever_send(a->lever, f, l, result);
  if (a->variant && !run_replace(a->variant, l, &r)) {
    *miss = r.miss;
    return false;
  }
  *result = a->variant ? run_send(l, r.function, r.grid, r.params, r.extra)
                       : run_send(l, f, l->grid, l->params, l->extra);
  return true;
}

/* ---- The end ----------------------------------------------------------------------------------- */

/* Of those that go on, while others may be added before them: this is the only one that is taken out. */
static void unlist(run_live *t) {
  run_live *self = t;
  _Atomic(run_live *) *at = &t->kernel->live;
  while (!atomic_compare_exchange_strong(at, &self, atomic_load(&t->next))) {
    at = self ? &self->next : &t->kernel->live;
    self = t;
  }
}

/* The arm with the greatest median of those that are in; if all are out, that which was longest. */
static uint32_t best_of(const run_live *t) {
  uint32_t best = hd_turns_best(t->turns);
  hd_turns_arm last = {0};
  if (best) return best;
  for (uint32_t a = 1; a < t->n; a++) {
    const hd_turns_arm is = hd_turns_of(t->turns, a);
    if (best && (is.pairs < last.pairs || (is.pairs == last.pairs && !(is.median > last.median)))) continue;
    best = a;
    last = is;
  }
  return best;
}

/* What is launched from now on; what it means is written down when the program waits. */
static void finish(run_live *t, run_live_end end) {
  t->best = best_of(t);
  const hd_turns_arm was = hd_turns_of(t->turns, t->best), original = hd_turns_of(t->turns, 0);
  t->stays = end == RUN_LIVE_WON;
  for (uint32_t a = 1; a < t->n; a++) {
    if (t->stays && a == t->best)
      save(&t->arms[a], original.seconds - was.seconds);
    else
      turn_off(&t->arms[a]);
    hold(&t->arms[a], false);
  }
  t->after = atomic_load(&t->kernel->lived);
  if (t->verdict) atomic_fetch_sub(&on_probation, 1);
  atomic_store(&t->end, end);
  unlist(t);
  atomic_store_explicit(&t->kernel->lived, t, memory_order_release);
  run_some_later();
}

/* Most kernels have no arm that is better, and arms that are as fast as the original cost launches until the
 * bets give up. After a few rounds the best few go on; then those that are ahead. */
static void prune(run_live *t) {
  enum { SOON = 8, BEST = 3, LATE = 32 }; /* pairs, arms, pairs */
  const double gain = run_settings.gain, ahead = gain > 1 ? 1 + (gain - 1) / 2 : 1;
  const uint32_t rounds = hd_turns_of(t->turns, 0).pairs;
  hd_turns_arm all[HD_TURNS_ARMS];
  if (rounds < SOON || rounds == t->pruned) return;
  t->pruned = rounds;
  for (uint32_t a = 1; a < t->n; a++) all[a] = hd_turns_of(t->turns, a);
  for (uint32_t a = 1; a < t->n; a++) {
    const hd_turns_arm *is = &all[a];
    uint32_t better = 0;
    if (is->out || is->pairs < SOON) continue;
    for (uint32_t b = 1; b < t->n; b++)
      better += !all[b].out && (all[b].median > is->median || (all[b].median == is->median && b < a));
    if (better < BEST && (is->pairs < LATE || is->median > ahead)) continue;
    hd_turns_withdraw(t->turns, a);
    all[a].out = true;
  }
}

static void look_at_probation(run_live *t) {
  static const run_live_end ends[] = {[HD_PROBATION_OPEN] = RUN_LIVE_OPEN,
                                      [HD_PROBATION_KEPT] = RUN_LIVE_WON,
                                      [HD_PROBATION_BROKEN] = RUN_LIVE_LOST,
                                      [HD_PROBATION_UNSURE] = RUN_LIVE_SPENT};
  if (t->visits > VISITS) hd_turns_finish(t->turns);
  const run_live_end end = ends[hd_probation_look(t->turns)];
  if (end != RUN_LIVE_OPEN)
    finish(t, end);
  else if (t->misses >= MISSES)
    finish(t, RUN_LIVE_CUT);
  else
    atomic_store(&t->leads, hd_probation_leads(t->turns, atomic_load(&t->leads)));
}

static void look_at_search(run_live *t) {
  prune(t);
  const hd_turns_end end = hd_turns_state(t->turns);
  if (end == HD_TURNS_WON)
    finish(t, RUN_LIVE_WON);
  else if (end == HD_TURNS_ORIGINAL)
    finish(t, RUN_LIVE_LOST);
  else if (end == HD_TURNS_COSTLY)
    finish(t, RUN_LIVE_COSTLY);
  else if (end == HD_TURNS_SPENT)
    finish(t, RUN_LIVE_SPENT);
  else if (t->visits > VISITS)
    finish(t, RUN_LIVE_RARE);
  else if (t->misses >= MISSES)
    finish(t, RUN_LIVE_CUT);
}

static void look_at_end(run_live *t) {
  const uint32_t rounds = hd_turns_rounds(t->turns);
  if (t->looked == rounds && hd_turns_state(t->turns) == HD_TURNS_OPEN && t->misses < MISSES &&
      t->visits <= VISITS)
    return;
  t->looked = rounds;
  if (t->verdict)
    look_at_probation(t);
  else
    look_at_search(t);
}

/* ---- Times ------------------------------------------------------------------------------------- */

/* The times that are known by now, in the order of the launches. */
static void look_back(run_live *t) {
  for (; t->pending; t->first = (t->first + 1) % TIMINGS, t->pending--) {
    const timing *m = &t->timings[t->first];
    float ms = 0;
    const int r = m->missed ? CU_SUCCESS : run_real.cuEventElapsedTime(&ms, m->begin, m->end);
    if (r == CU_NOT_READY) return;
    const bool timed = !m->missed && r == CU_SUCCESS;
    t->misses = timed ? 0 : t->misses + 1;
    if (timed && m->counts)
      hd_turns_tell(t->turns, m->arm, ms > 0 ? (double)ms * 1e-3 : 1e-9);
    else
      hd_turns_drop(t->turns, m->arm);
    t->told++;
  }
}

static bool mark(const run_launch *l, cu_event event) {
  fn_cuEventRecord *const record = l->per_thread ? run_real.cuEventRecord_ptsz : run_real.cuEventRecord;
  return record && record(event, l->stream) == CU_SUCCESS;
}

/* Its events mean nothing any more, and what took turns can take none. */
static void abandon(run_live *t) {
  t->pending = 0;
  memset(t->timings, 0, sizeof t->timings);
  finish(t, RUN_LIVE_LEFT);
}

/* ---- Other launches ---------------------------------------------------------------------------- */

/* Whether a stream of the context may have work beside a launch in this one. */
static bool may_overlap(const run_stream *s, const run_stream *own, unsigned long long context) {
  if (s->handle == own->handle || (s->context && s->context != context)) return false;
  return !(own->handle == CU_STREAM_LEGACY && s->blocks) && !(s->handle == CU_STREAM_LEGACY && own->blocks);
}

/* A stream under capture must not be asked for its work, nor the legacy stream while that is frozen, perhaps
 * by a capture that was not seen to begin. So no stream is while any is captured: none works then, it is
 * taken. */
static bool any_has_work(const run_stream *all, size_t n, const run_stream *own, unsigned long long context) {
  for (size_t k = 0; k < n; k++)
    if (all[k].handle == CU_STREAM_LEGACY ? run_legacy_is_frozen() : run_capture_asked(all[k].handle))
      return false;
  for (size_t k = 0; k < n; k++)
    if (may_overlap(&all[k], own, context) && run_real.cuStreamQuery(all[k].handle) == CU_NOT_READY)
      return true;
  return false;
}

/* Other threads may begin captures while their streams are asked: their launches are all taken to run beside
 * others. */
static bool runs_beside(const run_live *t, const run_launch *l) {
  enum { MOST = 12 }; /* that are asked */
  run_stream all[MOST];
  if (run_is_threaded() || run_gate_others_own_streams()) return true;
  const run_stream own = run_stream_of(l->stream       ? l->stream
                                       : l->per_thread ? CU_STREAM_PER_THREAD
                                                       : CU_STREAM_LEGACY);
  const size_t n = run_streams_few(all, MOST);
  return n > MOST || any_has_work(all, n, &own, t->context);
}

/* Launches beside others are compared with such, and launches alone with such: those of the kind that comes
 * more often. */
static bool is_comparable(run_live *t, const run_launch *l) {
  const bool beside = runs_beside(t, l);
  t->others = beside == t->beside ? 0 : t->others + 1;
  if (t->others == OTHERS || !t->told) {
    t->beside = beside;
    t->others = 0;
  }
  return beside == t->beside;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* The more is known, the more launches may be under way. A program that makes all of its launches before it
 * waits would show nothing of arms that were never launched. */
static bool is_turn(const run_live *t) {
  return t->pending < TIMINGS && (t->eager || t->pending < t->n + (size_t)t->told);
}

/* The launch of the arm whose turn it is; false: it has not been made, and the original is to be launched. */
static bool launch(run_live *t, cu_function f, const run_launch *l, timing *m, int *result) {
  run_miss miss;
  run_arm *a = &t->arms[m->arm];
  m->missed = true;
  t->pending++;
  if (!m->end || !mark(l, m->begin) || !send(a, f, l, result, &miss)) return false;
  if (*result != CU_SUCCESS) {
    /* The original's failures are the program's to see, and so are those of captures. */
    if (!m->arm || run_is_of_capture(*result)) return true;
    turn_off(a);
    hd_turns_withdraw(t->turns, m->arm);
    return false;
  }
  if (m->arm)
    atomic_fetch_add_explicit(&t->kernel->steered, 1, memory_order_relaxed);
  else
    atomic_fetch_add_explicit(&t->kernel->trials, 1, memory_order_relaxed);
  m->missed = !mark(l, m->end);
  run_some_later();
  return true;
}

static bool make_events(timing *m) {
  if (!m->begin && run_real.cuEventCreate(&m->begin, 0) != CU_SUCCESS) m->begin = NULL;
  if (m->begin && !m->end && run_real.cuEventCreate(&m->end, 0) != CU_SUCCESS) m->end = NULL;
  return m->end;
}

static bool take_turn(run_live *t, cu_function f, const run_launch *l, int *result) {
  timing *m = NULL;
  if (atomic_load(&t->gone)) {
    abandon(t);
    return false;
  }
  const int mode = run_captures_relax();
  t->visits++;
  look_back(t);
  look_at_end(t);
  if (!t->pending) t->first = 0; /* so that programs that wait need few events */
  if (t->end == RUN_LIVE_OPEN && is_turn(t) && run_context() == t->context) {
    const uint32_t arm = hd_turns_next(t->turns);
    if (arm != HD_TURNS_NONE) m = &t->timings[(t->first + t->pending) % TIMINGS];
    if (m) m->arm = arm;
    if (m) m->counts = is_comparable(t, l) && make_events(m);
  }
  run_captures_restore(mode);
  return m && launch(t, f, l, m, result);
}

/* One that has no turn, of a shape on probation: under the plan only if that is ahead. */
static void launch_between(run_live *t, cu_function f, const run_launch *l, int *result) {
  const run_arm *a = &t->arms[1];
  run_kernel *k = t->kernel;
  const bool leads = atomic_load_explicit(&t->leads, memory_order_relaxed);
  run_miss miss;
  if (leads && send(a, f, l, result, &miss)) {
    if (*result == CU_SUCCESS) {
      atomic_fetch_add_explicit(&k->steered, 1, memory_order_relaxed);
      atomic_fetch_add_explicit(&k->saved, saves_of(a), memory_order_relaxed);
    }
    if (*result == CU_SUCCESS || run_is_of_capture(*result)) return;
    turn_off(a);
  } else if (leads) {
    atomic_fetch_add_explicit(&k->missed[miss], 1, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(&k->trials, 1, memory_order_relaxed);
  }
  *result = l->pair ? run_pair_send(l->pair, false, l) : run_send(l, f, l->grid, l->params, l->extra);
}

static run_live *find(run_kernel *k, const run_launch *l) {
  run_live *t = atomic_load_explicit(&k->live, memory_order_acquire);
  while (t && (t->arms[1].pair != l->pair || (!l->pair && !run_is_shape(l, t->grid, t->block, t->shared))))
    t = atomic_load_explicit(&t->next, memory_order_acquire);
  return t;
}

bool run_live_launch(run_kernel *k, cu_function f, const run_launch *l, int *result) {
  run_live *t = find(k, l);
  if (!t) return false;
  bool launched = false;
  if (l->node || run_is_captured(l)) return false;
  if (pthread_mutex_trylock(&lock) == 0) {
    launched = t->end == RUN_LIVE_OPEN && take_turn(t, f, l, result);
    pthread_mutex_unlock(&lock);
  }
  if (!launched && t->verdict && t->end == RUN_LIVE_OPEN) {
    launch_between(t, f, l, result);
    launched = true;
  }
  if (launched) atomic_fetch_add_explicit(&k->launches, 1, memory_order_relaxed);
  return launched;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

/* Another context's events are that context's to free, and those of one that is gone are freed. */
static void close_events(run_live *t) {
  const int mode = run_captures_relax();
  const bool own = run_real.cuEventDestroy_v2 && !atomic_load(&t->gone) && run_context() == t->context;
  for (size_t k = 0; k < TIMINGS; k++) {
    if (own && t->timings[k].begin) run_real.cuEventDestroy_v2(t->timings[k].begin);
    if (own && t->timings[k].end) run_real.cuEventDestroy_v2(t->timings[k].end);
    t->timings[k].begin = t->timings[k].end = NULL;
  }
  run_captures_restore(mode);
}

static void close(run_live *t) {
  hd_turns_close(t->turns);
  free(t);
}

run_live *run_live_open(run_kernel *k, run_shape *s, const run_arm *arms, uint32_t n,
                        const hd_verdict *verdict, hd_probation_trust trust, run_live_settled *tell) {
  const run_driver *d = &run_real;
  const double gain = run_settings.gain;
  hd_turns_options o = hd_probation_options(trust, k->hash);
  if (!verdict) {
    o.gain = gain < 1 ? 1 : gain;
    o.most = ROUNDS * (n + 1);
    o.loss = run_budget_loss();
  }
  run_live *t = n && n < HD_TURNS_ARMS ? calloc(1, sizeof *t) : NULL;
  if (!t) return NULL;
  *t = (run_live){.kernel = k,
                  .shape = verdict ? NULL : s,
                  .shared = s->shared,
                  .verdict = verdict,
                  .tell = tell,
                  .loss = o.loss,
                  .eager = trust >= HD_TRUST_FOUND,
                  .n = n + 1};
  memcpy(t->grid, s->grid, sizeof t->grid);
  memcpy(t->block, s->block, sizeof t->block);
  memcpy(t->arms + 1, arms, n * sizeof *arms);
  t->context = run_context();
  if (!d->cuEventCreate || !d->cuEventElapsedTime || !d->cuEventDestroy_v2 || !d->cuStreamQuery ||
      !t->context || hd_turns_open(&o, n + 1, &t->turns, NULL) != HD_OK) {
    close(t);
    return NULL;
  }
  run_budget_spend(t->loss);
  for (uint32_t a = 1; a <= n; a++) hold(&t->arms[a], trust != HD_TRUST_KEPT);
  atomic_store(&t->leads, trust == HD_TRUST_KEPT);
  if (verdict) atomic_fetch_add(&on_probation, 1);
  run_live *next = atomic_load(&k->live);
  do atomic_store(&t->next, next);
  while (!atomic_compare_exchange_weak(&k->live, &next, t));
  return t;
}

void run_live_free(run_kernel *k) {
  run_live *next;
  for (run_live *t = atomic_load(&k->live); t; t = next) {
    next = atomic_load(&t->next);
    close(t);
  }
  for (run_live *t = atomic_load(&k->lived); t; t = next) {
    next = t->after;
    close(t);
  }
}

/* ---- What came of it --------------------------------------------------------------------------- */

static run_lived known_of(const run_live *t) {
  const run_live_end end = (run_live_end)atomic_load(&((run_live *)(uintptr_t)t)->end);
  const uint32_t best = end == RUN_LIVE_OPEN ? best_of(t) : t->best;
  const hd_turns_arm a = hd_turns_of(t->turns, best), original = hd_turns_of(t->turns, 0);
  run_lived out = {.end = end,
                   .best = t->arms[best],
                   .stays = t->stays,
                   .arms = t->n - 1,
                   .promised = t->verdict ? t->verdict->speedup : 0,
                   .pairs = a.pairs,
                   .rounds = original.pairs,
                   .original = original.seconds};
  if (a.pairs) {
    out.median = a.median;
    out.low = a.low;
    out.high = a.high;
    out.seconds = a.seconds;
  }
  for (uint32_t k = 1; k < t->n; k++) out.lost += hd_turns_of(t->turns, k).lost;
  return out;
}

run_lived run_live_known(const run_live *t) { return t->settled ? t->known : (run_lived){0}; }

const run_live *run_live_first(const run_kernel *k) {
  run_live *t = atomic_load(&((run_kernel *)(uintptr_t)k)->live);
  return t ? t : atomic_load(&((run_kernel *)(uintptr_t)k)->lived);
}

const run_live *run_live_next(const run_live *t) {
  if (atomic_load(&((run_live *)(uintptr_t)t)->end) != RUN_LIVE_OPEN) return t->after;
  run_live *next = atomic_load(&((run_live *)(uintptr_t)t)->next);
  return next ? next : atomic_load(&t->kernel->lived);
}

static void tell_of(const run_live *t) {
  if (!t->verdict) run_budget_spend((t->known.lost > 0 ? t->known.lost : 0) - t->loss);
  t->tell(t->kernel, t->shape, t->verdict, &t->known);
}

/* At the end of the process the driver may be gone. */
static void settle(run_live *t, bool last) {
  const unsigned long launches = atomic_load(&t->kernel->launches);
  t->known = known_of(t);
  t->settled = true;
  if (t->stays && t->verdict) t->again = hd_probation_again(launches);
  if (last) return tell_of(t); /* and other threads may be in launches */
  close_events(t);
  hd_turns_close(t->turns);
  t->turns = NULL;
  tell_of(t);
}

/* What is ahead now may not be so later: other input, another clock, neighbours. */
void run_live_again(run_kernel *k) {
  for (run_live *t = atomic_load(&k->lived); t; t = t->after) {
    if (!t->again || t->again > atomic_load(&k->launches) || run_context() != t->context) continue;
    t->again = 0;
    run_shape s = {.shared = t->shared};
    memcpy(s.grid, t->grid, sizeof s.grid);
    memcpy(s.block, t->block, sizeof s.block);
    run_live_open(k, &s, &t->known.best, 1, t->verdict, HD_TRUST_KEPT, t->tell);
  }
}

bool run_live_any(void) { return atomic_load_explicit(&on_probation, memory_order_relaxed); }

void run_live_end_pair(run_kernel *k, const run_pair *pair) {
  run_live *next;
  pthread_mutex_lock(&lock);
  for (run_live *t = atomic_load(&k->live); t; t = next) {
    next = atomic_load(&t->next);
    if (t->arms[1].pair == pair) finish(t, RUN_LIVE_LEFT);
  }
  pthread_mutex_unlock(&lock);
}

void run_live_leave(run_kernel *k) {
  run_live *t;
  if (pthread_mutex_trylock(&lock) != 0) return;
  while ((t = atomic_load(&k->live))) finish(t, RUN_LIVE_LEFT);
  pthread_mutex_unlock(&lock);
  run_live_settle(k, false);
}

void run_live_context_gone(run_kernel *k, unsigned long long context) {
  run_live *next;
  for (run_live *t = atomic_load(&k->lived); t; t = t->after)
    if (t->context == context) atomic_store(&t->gone, true);
  for (run_live *t = atomic_load(&k->live); t; t = atomic_load(&t->next))
    if (t->context == context) atomic_store(&t->gone, true);
  /* Where a launch has the lock, the next one sees it. */
  if (pthread_mutex_trylock(&lock) != 0) return;
  for (run_live *t = atomic_load(&k->live); t; t = next) {
    next = atomic_load(&t->next);
    if (atomic_load(&t->gone)) abandon(t);
  }
  pthread_mutex_unlock(&lock);
}

/* The program has waited, so that the times of what it launched before are known. */
static void look_again(run_kernel *k) {
  run_live *next;
  for (run_live *t = atomic_load(&k->live); t; t = next) {
    next = atomic_load(&t->next);
    if (atomic_load(&t->gone)) abandon(t);
    if (t->end != RUN_LIVE_OPEN || !t->pending || run_context() != t->context) continue;
    const int mode = run_captures_relax();
    look_back(t);
    look_at_end(t);
    run_captures_restore(mode);
  }
}

void run_live_settle(run_kernel *k, bool last) {
  if (!atomic_load(&k->lived) && !atomic_load(&k->live)) return;
  if (pthread_mutex_trylock(&lock) != 0) {
    run_some_later();
    return;
  }
  if (!last) look_again(k);
  for (run_live *t = atomic_load(&k->lived); t; t = t->after)
    if (!t->settled) settle(t, last);
  for (run_live *t = atomic_load(&k->live); t && last; t = atomic_load(&t->next))
    if (!t->settled) settle(t, true);
  pthread_mutex_unlock(&lock);
}
