#include <stdlib.h>
#include <string.h>

#include "model/dispatch.h"
#include "model/watch.h"

static void free_sms(hd_model *m) {
  free(m->l1_store);
  free(m->readonly_store);
  free(m->l1_ranks);
  free(m->slots);
  free(m->sms);
  free(m->clocks);
  free(m->ccws);
  free(m->l1_owners);
  m->clocks = NULL;
  m->ccws = NULL;
  m->l1_owners = NULL;
  m->l1_store = m->readonly_store = NULL;
  m->l1_ranks = NULL;
  m->slots = NULL;
  m->sms = NULL;
}

hd_status hd_model_create(const hd_gpu *g, hd_model **out, hd_diag *d) {
  *out = NULL;
  if (g->max_warps > SM_MAX_WARPS || g->max_ctas > SM_MAX_CTAS || !g->n_sms || !g->l1.ways || !g->l2.ways ||
      g->l1.ways > CACHE_MAX_WAYS || g->readonly.ways > CACHE_MAX_WAYS || g->l2.ways > CACHE_MAX_WAYS ||
      !g->l1_mshrs || g->l1_mshrs > SM_MAX_MSHRS || g->dram_channels > HD_DRAM_MOST_CHANNELS ||
      g->dram_banks > HD_DRAM_MOST_BANKS || (g->dram_channels > 1 && g->dram_interleave < MODEL_LINE) ||
      (g->dram_banks && g->dram_row_bytes < MODEL_LINE))
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "GPU '%s' is beyond what is modelled: at most %d warps and %d CTAs per SM, %d ways, %d "
                   "channels of DRAM, %d banks",
                   g->name, SM_MAX_WARPS, SM_MAX_CTAS, CACHE_MAX_WAYS, HD_DRAM_MOST_CHANNELS,
                   HD_DRAM_MOST_BANKS);
  hd_model *m = calloc(1, sizeof *m);
  if (m) {
    m->gpu = m->own = *g;
    m->retired = calloc((size_t)g->n_sms * SM_MAX_CTAS, sizeof *m->retired);
  }
  if (!m || !m->retired || !model_memory_init(&m->mem, &m->gpu)) {
    if (m) free(m->retired);
    free(m);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a model of %s", g->name);
  }
  *out = m;
  return HD_OK;
}

void hd_model_set_meter(hd_model *m, hd_meter *meter) { m->meter = meter; }

void hd_model_destroy(hd_model *m) {
  if (!m) return;
  free_sms(m);
  model_pace_destroy(m->pace);
  model_memory_free(&m->mem);
  free(m->retired);
  free(m);
}

/* ---- Places -------------------------------------------------------------------------- */

/* Places that are free at once are filled as in the first wave: one on each SM before a second on any. */
static int by_turn(const void *a, const void *b) {
  const model_sm_retired *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
  return x->sm < y->sm ? -1 : x->sm > y->sm;
}

/* The first wave: one CTA per SM and cycle, or as fast as CTAs are launched, until all places are taken. */
static void first_wave(model_dispatcher *q, hd_model *m, uint32_t resident) {
  for (uint32_t cta = 0; cta < resident; cta++)
    for (uint32_t i = 0; i < m->gpu.n_sms; i++) {
      uint64_t worker;
      if (!model_dispatch_next(q, i, cta, m->gpu.n_sms, 0, &worker)) continue;
      model_dispatch_start(q, m, i, cta, worker, m->timed && m->gpu.launch.cta_cycles > 0 ? 0 : cta,
                           q->claim_delay);
    }
}

/* ---- Replay ------------------------------------------------------------------------ */

/* When the list is full, every other mark goes, and marks come half as often from then on. */
static void mark_progress(const hd_model *m, model_dispatcher *q, uint64_t now, bool last) {
  hd_replay_progress *p = q->progress;
  if (!p || (!last && ++q->epochs < q->epochs_per_mark)) return;
  q->epochs = 0;
  if (p->n == HD_REPLAY_MARKS) {
    for (p->n = 0; p->n < HD_REPLAY_MARKS / 2; p->n++) p->marks[p->n] = p->marks[2 * p->n + 1];
    q->epochs_per_mark *= 2;
  }
  hd_replay_mark *k = &p->marks[p->n++];
  *k = (hd_replay_mark){.cycle = (double)now, .started = q->started, .ended = q->ended};
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) k->work += (double)m->clocks[i].issued;
  if (!last) return;
  k->cycle = 0;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) k->cycle = larger(k->cycle, (double)m->clocks[i].end);
}

uint64_t model_replay_wake(const hd_model *m) {
  uint64_t wake = SM_NEVER;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++)
    if (m->sms[i].wake < wake) wake = m->sms[i].wake;
  return wake;
}

uint32_t model_replay_epoch(hd_model *m, uint64_t wake, uint64_t *now) {
  const uint32_t way = m->gpu.l2.latency, epoch = way < EPOCH_MIN   ? EPOCH_MIN
                                                  : way > EPOCH_MAX ? EPOCH_MAX
                                                                    : way;
  const uint64_t limit = (wake > *now ? wake : *now) + epoch;
  uint32_t n = 0;
  model_memory_begin_epoch(&m->mem, limit - epoch, limit);
  for (uint32_t i = 0; i < m->gpu.n_sms; i++)
    n += m->timed ? model_clock_run(&m->clocks[i], &m->sms[i], limit - epoch, limit, i, m->retired + n)
                  : model_interleave_run(&m->sms[i], limit - epoch, limit, i, m->retired + n);
  model_memory_end_epoch(&m->mem, limit - *now);
  *now = limit;
  return n;
}

/* The epoch that ended at `now`, with the n CTAs that did. */
static void watch_epoch(const hd_model *m, model_dispatcher *q, uint64_t now, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    model_watch_stop(q->watch, m->retired[i].sm, m->retired[i].cta, m->retired[i].cycle);
  model_watch_epoch(q->watch, m->sms, &m->mem, now);
}

/* False: its time was over first. */
static bool run(hd_model *m, model_dispatcher *q, uint32_t resident, const hd_replay_options *o) {
  uint32_t n_sms = m->gpu.n_sms;
  first_wave(q, m, resident);
  uint64_t now = 0, told = 0;
  for (;;) {
    uint64_t wake = model_replay_wake(m);
    if (q->search.n && q->search.wake < wake) wake = q->search.wake;
    if (wake == SM_NEVER) break;
    if (hd_is_over(o->until, o->stop)) return false;
    const uint32_t n = model_replay_epoch(m, wake, &now);
    q->ended += n;
    if (q->watch) watch_epoch(m, q, now, n);
    if (n > 1) qsort(m->retired, n, sizeof *m->retired, by_turn);
    for (uint32_t i = 0; i < n; i++) {
      uint64_t worker;
      if (model_dispatch_next(q, m->retired[i].sm, m->retired[i].cta, n_sms, now, &worker))
        model_dispatch_start(q, m, m->retired[i].sm, m->retired[i].cta, worker, now, model_dispatch_gap(q));
    }
    if (q->search.n) model_dispatch_search(q, m, now);
    mark_progress(m, q, now, false);
    const uint64_t so_far = q->claims.agents ? q->started : q->ended;
    hd_meter_add(m->meter, so_far - told);
    told = so_far;
  }
  mark_progress(m, q, now, true);
  return true;
}

/* Times, and the cycles that resources are busy; after the traffic. */
static void collect_clock(const hd_model *m, const model_dispatcher *q, bool follows, hd_counters *out) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) {
    const model_sm *sm = &m->sms[i];
    const clock_stalls *s = &m->clocks[i].stalls;
    if (m->clocks[i].end > end) end = m->clocks[i].end;
    out->cycles_issue =
        larger(out->cycles_issue, (double)sm->counted.warp_instructions / m->gpu.issue_per_cycle);
    out->cycles_l1 = larger(out->cycles_l1, sm->l1_cycles);
    out->warp_cycles += (double)s->resident;
    out->stall_memory += (double)s->memory;
    out->stall_dependency += (double)s->dependency;
    out->stall_barrier += (double)s->barrier;
    out->stall_throttle += (double)s->throttle;
    out->stall_issue += (double)s->issue;
  }
  /* The launch ends after the queues have served all stores and atomics. */
  const model_memory *mem = &m->mem;
  const double dram = model_dram_left(&mem->dram),
               left = larger(mem->l2_queue.wait, larger(mem->atomics.wait, dram));
  out->dram_busy = mem->dram.busy + dram;
  out->dram_useful = mem->dram.useful;
  out->cycles_l2 = (double)mem->sectors * MODEL_SECTOR / m->gpu.l2.bytes_per_cycle;
  out->cycles_dram = (double)hd_counters_dram(out) / m->gpu.dram_bytes_per_cycle;
  out->cycles = (double)(end + model_dispatch_tail(q, end)) + left;
  out->time_us = out->cycles / m->gpu.clock_mhz + (follows ? m->gpu.launch.next_us : m->gpu.launch.first_us);
}

static void collect(hd_model *m, const hd_trace *t, const model_dispatcher *q, bool follows,
                    hd_counters *out) {
  hd_trace_info info = hd_trace_get_info(t);
  const model_memory *mem = &m->mem;
  const uint64_t left = model_memory_clean(&m->mem);
  *out = mem->counted;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) hd_counters_add(out, &m->sms[i].counted);
  const double part =
      info.warp_instructions ? (double)out->warp_instructions / (double)info.warp_instructions : 1;
  out->thread_instructions = (uint64_t)((double)info.thread_instructions * part + 0.5);
  out->l2_sectors = mem->sectors;
  out->l2_hits = mem->hits;
  out->dram_read_bytes = mem->dram_reads * MODEL_SECTOR;
  out->dram_write_bytes = (mem->dram_writes + left) * MODEL_SECTOR;
  out->compulsory_bytes = (uint64_t)((double)(info.read_bytes + info.written_bytes) * part);
  out->resident = q->running;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) {
    const model_sm *s = &m->sms[i];
    out->l1_sectors += s->l1_sectors / s->l1_unit;
    out->l1_hits += s->l1_hits / s->l1_unit;
  }
  if (m->timed) collect_clock(m, q, follows, out);
}

hd_status hd_replay_tasks(const hd_replay_options *o, uint64_t tasks, uint64_t **out, uint64_t *n,
                          hd_diag *d) {
  const hd_replay_part p = model_dispatch_part(o, tasks);
  *n = 0;
  *out = NULL;
  if (p.first > tasks || p.n > tasks - p.first)
    return hd_fail(d, HD_ERR_USAGE, "the launch has %llu tasks, and no such part", (unsigned long long)tasks);
  *out = calloc(p.n + o->claims.n_queues + 1, sizeof **out);
  if (!*out) return hd_nomem(d);
  uint64_t from = p.first, to = p.first + p.n;
  for (uint32_t i = 0; i < (o->claims.n_queues ? o->claims.n_queues : 1); i++) {
    uint64_t start = 0;
    if (o->claims.n_queues) {
      model_dispatch_queue(&p, tasks, o->claims.n_queues, i, &from, &to);
      start = hd_cluster_start(tasks, o->claims.n_queues, i);
    }
    for (uint64_t k = start + from; k < start + to; k++) (*out)[(*n)++] = o->order ? o->order->task[k] : k;
  }
  return HD_OK;
}

static hd_status check_part(const hd_trace *t, const hd_replay_options *o, hd_diag *d) {
  uint64_t *tasks, n;
  if (hd_trace_get_info(t).recorded == model_trace_tasks(t) && !o->part.n) return HD_OK;
  hd_status st = hd_replay_tasks(o, model_trace_tasks(t), &tasks, &n, d);
  for (uint64_t i = 0; st == HD_OK && i < n; i++)
    if (!hd_trace_has(t, tasks[i]))
      st = hd_fail(d, HD_ERR_USAGE, "task %llu is not in the trace", (unsigned long long)tasks[i]);
  free(tasks);
  return st;
}

hd_status model_replay_check(const hd_model *m, const hd_trace *t, const hd_replay_options *o,
                             uint32_t *resident, hd_diag *d) {
  if (!model_trace_finished(t)) return hd_fail(d, HD_ERR_USAGE, "the trace is not finished");
  if (o->dispatch.kind != HD_DISPATCH_ROUND_ROBIN && o->dispatch.kind != HD_DISPATCH_DEMAND)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "a model's dispatcher is %s or %s, not %s",
                   hd_dispatch_name(HD_DISPATCH_ROUND_ROBIN), hd_dispatch_name(HD_DISPATCH_DEMAND),
                   hd_dispatch_name(o->dispatch.kind));
  uint32_t fit = hd_gpu_occupancy(&m->gpu, model_trace_threads(t), o->registers, o->shared_bytes);
  if (!fit)
    return hd_fail(
        d, HD_ERR_UNSUPPORTED,
        "a CTA of %u threads with %u registers each and %u bytes of shared memory does not fit an SM of %s",
        model_trace_threads(t), o->registers, o->shared_bytes, m->gpu.name);
  if (o->dispatch.resident > fit)
    return hd_fail(d, HD_ERR_USAGE, "%u CTAs are to be resident on each SM; %u fit on %s",
                   o->dispatch.resident, fit, m->gpu.name);
  *resident = o->dispatch.resident ? o->dispatch.resident : fit;
  if (o->claims.n_queues && (!o->order || !o->claims.queue_of))
    return hd_fail(d, HD_ERR_USAGE, "claims need an order and the SMs' queues");
  for (uint32_t i = 0; o->claims.n_queues && i < m->gpu.n_sms; i++)
    if (o->claims.queue_of[i] != UINT32_MAX && o->claims.queue_of[i] >= o->claims.n_queues)
      return hd_fail(d, HD_ERR_USAGE, "SM %u has queue %u of %u", i, o->claims.queue_of[i],
                     o->claims.n_queues);
  if (!o->order) return HD_OK;
  if (o->order->n != model_trace_tasks(t))
    return hd_fail(d, HD_ERR_USAGE, "the order has %llu tasks, the trace %llu",
                   (unsigned long long)o->order->n, (unsigned long long)model_trace_tasks(t));
  for (uint64_t i = 0; i < o->order->n; i++)
    if (o->order->task[i] >= o->order->n)
      return hd_fail(d, HD_ERR_USAGE, "the order's entry %llu is task %u: there are %llu",
                     (unsigned long long)i, o->order->task[i], (unsigned long long)o->order->n);
  return HD_OK;
}

/* The part of a unified L1 that the resident CTAs' shared memory leaves. */
uint64_t model_replay_l1_bytes(const hd_gpu *g, uint32_t resident, uint32_t shared_bytes) {
  if (!g->l1_unified) return g->l1.bytes;
  uint64_t per_cta =
      ((uint64_t)shared_bytes + g->shared_reserved + g->shared_unit - 1) / g->shared_unit * g->shared_unit;
  return g->l1.bytes - per_cta * resident;
}

hd_bypass model_replay_threshold(const hd_replay_options *o, uint32_t sm) {
  hd_bypass b = o->threshold;
  if (o->vote) b.warps = hd_bypass_voted(b.warps, sm);
  return b;
}

/* The SMs' read-only caches, where they have one of their own. */
static bool make_readonly(hd_model *m) {
  if (!m->gpu.readonly.bytes) return true;
  model_cache c;
  model_cache_plan(&c, &m->gpu.readonly, m->gpu.readonly.bytes);
  size_t n = m->gpu.n_sms, store = (size_t)c.sets * c.set_bytes;
  m->readonly_store = model_store_alloc(n * store);
  if (!m->readonly_store) {
    free_sms(m);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    m->sms[i].readonly = c;
    m->sms[i].readonly.store = m->readonly_store + i * store;
    model_cache_clear(&m->sms[i].readonly);
  }
  return true;
}

bool model_replay_make_sms(hd_model *m, uint64_t bytes) {
  if (m->sms && m->l1_bytes == bytes) return true;
  free_sms(m);
  model_cache l1;
  model_cache_plan(&l1, &m->gpu.l1, bytes);
  size_t n = m->gpu.n_sms, store = (size_t)l1.sets * l1.set_bytes,
         slots = (size_t)m->gpu.max_warps * STREAM_SLOTS;
  m->sms = calloc(n, sizeof *m->sms);
  m->l1_store = model_store_alloc(n * store);
  m->l1_ranks = calloc(n * l1.sets, sizeof *m->l1_ranks);
  m->slots = calloc(n * slots, sizeof *m->slots);
  if (!m->sms || !m->l1_store || !m->l1_ranks || !m->slots) {
    free_sms(m);
    return false;
  }
  for (size_t i = 0; i < n; i++)
    model_sm_init(&m->sms[i], (uint32_t)i, &m->gpu, &m->mem, &l1, m->l1_store + i * store,
                  m->l1_ranks + i * l1.sets, m->slots + i * slots);
  m->l1_bytes = bytes;
  return make_readonly(m);
}

static hd_status make_pace(hd_model *m, const hd_trace *t, uint32_t registers, hd_diag *d) {
  const hd_status st = hd_gpu_need_clock(&m->gpu, d);
  if (st != HD_OK) return st;
  if (m->pace && m->paced == t && m->paced_born == model_trace_born(t) && m->pace->registers == registers)
    return model_pace_extend(m->pace, t, &m->gpu, d);
  model_pace_destroy(m->pace);
  m->paced = t;
  m->paced_born = model_trace_born(t);
  return model_pace_make(t, &m->gpu, registers, &m->pace, d);
}

/* After make_sms. */
bool model_replay_make_clocks(hd_model *m) {
  size_t n = m->gpu.n_sms, lines = (size_t)m->sms[0].l1.sets * m->sms[0].l1.ways;
  bool ccws = m->gpu.scheduler == HD_SCHED_CCWS;
  if (!m->clocks) m->clocks = calloc(n, sizeof *m->clocks);
  if (ccws && !m->ccws) m->ccws = calloc(n, sizeof *m->ccws);
  if (ccws && !m->l1_owners) m->l1_owners = calloc(n, lines);
  for (size_t i = 0; ccws && m->ccws && m->l1_owners && i < n; i++)
    model_ccws_reset(&m->ccws[i], m->l1_owners + i * lines, (uint32_t)lines);
  return m->clocks && (!ccws || (m->ccws && m->l1_owners));
}

/* The scheduler of a replay: the GPU's own, perhaps with another number of warps. */
hd_status model_replay_set_scheduler(hd_model *m, const hd_replay_options *o, hd_diag *d) {
  const uint32_t warps = o->scheduler_warps ? o->scheduler_warps : m->own.scheduler_warps;
  const hd_status st = hd_gpu_set_scheduler(&m->gpu, m->own.scheduler, warps, d);
  if (st == HD_OK && !o->timed && model_warps_need_clock(m->gpu.scheduler))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the warp scheduler %s needs a clock: --depth timing",
                   hd_scheduler_name(m->gpu.scheduler));
  return st;
}

static hd_status no_room(const hd_model *m, hd_diag *d) {
  return hd_fail(d, HD_ERR_NOMEM, "out of memory for a model of %s", m->gpu.name);
}

/* Empty SMs, and L2 as the options want it. */
static void reset(hd_model *m, const hd_trace *t, const hd_replay_options *o, const model_dispatcher *q) {
  model_memory_reset(&m->mem, o->keep_caches, o->timed);
  if (o->timed && !o->keep_caches) model_memory_foul(&m->mem);
  const bool streams = o->threshold.kind == HD_BYPASS_L2 || o->threshold.kind == HD_BYPASS_L1_L2;
  if (model_trace_is_ranked(t) || streams) model_memory_rank(&m->mem);
  m->timed = o->timed;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) {
    model_ccws *ccws = m->timed && m->gpu.scheduler == HD_SCHED_CCWS ? &m->ccws[i] : NULL;
    if (m->timed) model_clock_reset(&m->clocks[i], m->pace, &m->gpu, q->running, model_trace_warps(t), ccws);
    model_sm_reset(&m->sms[i], t, q->running);
    m->sms[i].ccws = ccws;
    m->sms[i].watch = q->watch;
    m->sms[i].threshold = model_replay_threshold(o, i);
    if (streams) model_cache_rank(&m->sms[i].l1, false);
  }
}

/* Done: the timeline, if one is wanted, has what was watched. */
static hd_status end_watch(const hd_model *m, const model_dispatcher *q, bool done, hd_diag *d) {
  if (!q->watch) return HD_OK;
  hd_timeline *out = q->watch->out;
  out->first = q->part.first;
  out->tasks = q->part.n;
  out->clock_mhz = m->gpu.clock_mhz;
  return model_watch_end(q->watch, done) || !done ? HD_OK : no_room(m, d);
}

hd_status hd_model_replay(hd_model *m, const hd_trace *t, const hd_replay_options *o, hd_counters *out,
                          hd_diag *d) {
  uint32_t resident = 0;
  hd_status st = model_replay_check(m, t, o, &resident, d);
  if (st == HD_OK) st = model_replay_set_scheduler(m, o, d);
  if (st == HD_OK) st = check_part(t, o, d);
  if (st == HD_OK && o->timed) st = make_pace(m, t, o->loads_within, d);
  if (st != HD_OK) return st;
  model_dispatcher q;
  model_watch watch;
  if (!model_dispatch_init(&q, m, t, o, resident)) return no_room(m, d);
  if ((o->timed && o->claims.n_queues && !dispatch_search_init(&q.search, m->gpu.n_sms, q.running)) ||
      !model_replay_make_sms(m, model_replay_l1_bytes(&m->gpu, resident, o->shared_bytes)) ||
      (o->timed && !model_replay_make_clocks(m)) ||
      (o->timed && o->timeline && !model_watch_begin(&watch, o->timeline, m->gpu.n_sms, q.running))) {
    model_dispatch_free(&q);
    return no_room(m, d);
  }
  q.watch = o->timed && o->timeline ? &watch : NULL;
  reset(m, t, o, &q);
  const bool done = run(m, &q, q.running, o);
  if (done) collect(m, t, &q, o->keep_caches, out);
  st = end_watch(m, &q, done, d);
  model_dispatch_free(&q);
  return done ? st : hd_fail_bound(d, HD_BOUND_TIME, "the replay takes longer than it may");
}
