#include "model/sm.h"

#include <string.h>

#include "model/banks.h"
#include "model/mshrs.h"

void model_sm_init(model_sm *s, uint32_t number, const hd_gpu *g, model_memory *mem, const model_cache *l1,
                   model_set *store, model_ranks *ranks, model_stream_slot *slots) {
  *s = (model_sm){.number = number,
                  .gpu = g,
                  .mem = mem,
                  .l1 = *l1,
                  .l1_unit = g->l1.sector / MODEL_SECTOR,
                  .slots = slots};
  s->l1.store = store;
  s->l1.ranks = ranks;
  model_cache_clear(&s->l1);
}

void model_sm_reset(model_sm *s, const hd_trace *t, uint32_t n_ctas) {
  s->trace = t;
  s->watch = NULL;
  s->warps_per_cta = model_trace_warps(t);
  s->slots_per_warp = model_trace_slots(t);
  s->n_ctas = n_ctas;
  s->now = 0;
  s->wake = SM_NEVER;
  s->issue_debt = 0;
  s->last = 0;
  s->n_by_age = 0;
  s->n_mshr = 0;
  for (uint32_t w = 0; w < SM_MAX_WARPS; w++) s->ready[w] = SM_NEVER;
  s->l1_sectors = s->l1_hits = 0;
  s->counted = (hd_counters){0};
  s->l1_cycles = s->port = s->store_port = s->stores_end = 0;
  model_cache_clear(&s->l1);
  if (s->readonly.sets) model_cache_clear(&s->readonly);
  if (model_trace_is_ranked(t)) model_cache_rank(&s->l1, false);
}

void model_sm_begin_epoch(model_sm *s, uint64_t begin, uint64_t limit) {
  model_cache_epoch(&s->l1, begin, limit);
  if (s->readonly.sets) model_cache_epoch(&s->readonly, begin, limit);
}

/* ---- CTAs ------------------------------------------------------------------------- */

enum { LONGEST_GAP = 1 << 23 }; /* cycles; 256 times as many fit 32 bits */

void model_sm_open(model_sm *s, uint32_t cta, uint64_t task) {
  const hd_trace *t = s->trace;
  model_trace_task sums = model_trace_get_task(t, task);
  s->counted.warp_instructions += sums.warp_instructions;
  uint64_t steps = sums.accesses ? sums.accesses : s->warps_per_cta;
  double per_step = (double)sums.warp_instructions / (double)steps;
  if (per_step > LONGEST_GAP) per_step = LONGEST_GAP;
  s->ctas[cta] = (model_sm_cta){.live = s->warps_per_cta,
                                .gap = per_step < 1 ? 1 : (uint32_t)per_step,
                                .issue = (uint32_t)(per_step * 256 / s->gpu->issue_per_cycle)};
  s->by_age[s->n_by_age++] = cta;
  for (uint32_t i = 0; i < s->warps_per_cta; i++) {
    uint32_t w = cta * s->warps_per_cta + i;
    model_sm_warp *warp = &s->warps[w];
    *warp = (model_sm_warp){.cta = (uint8_t)cta, .load_slot = STREAM_END};
    model_trace_open(t, task, i, &warp->reader, s->slots + (size_t)w * s->slots_per_warp);
    model_stream_next(&warp->reader, &warp->next);
  }
}

void model_sm_close(model_sm *s, uint32_t cta) {
  uint32_t i = 0;
  while (s->by_age[i] != cta) i++;
  s->n_by_age--;
  memmove(s->by_age + i, s->by_age + i + 1, (s->n_by_age - i) * sizeof *s->by_age);
}

/* ---- L1 --------------------------------------------------------------------------- */

/* The way that a new line takes when the oldest is in flight: the oldest that is not. When all are,
 * *cycle moves to when the first is not. */
static uint32_t await_way(const model_cache *c, model_set *set, uint64_t *cycle) {
  const uint16_t *arrivals = model_set_arrivals(c, set);
  const int8_t *age = model_set_ages(c, set);
  int16_t tick = (int16_t)(*cycle / CACHE_TICK), soonest = INT16_MAX;
  for (uint32_t i = 0; i < c->ways; i++) {
    int16_t ticks = (int16_t)(arrivals[i] - tick);
    soonest = ticks < soonest ? ticks : soonest;
  }
  uint32_t way = 0;
  int8_t oldest = -1;
  for (uint32_t i = 0; i < c->ways; i++) {
    int16_t ticks = (int16_t)(arrivals[i] - tick);
    if (soonest > 0) {
      way = i;
      if (ticks == soonest) break;
    } else if (ticks <= 0 && age[i] > oldest) {
      oldest = age[i];
      way = i;
    }
  }
  int32_t wait = model_set_wait(c, set, way, *cycle);
  if (wait > 0) *cycle += (uint32_t)wait;
  return way;
}

/* The SM receives L2's data one request after the other. */
static inline void take_port(model_sm *s, model_request *r, uint32_t n) {
  double rate = s->gpu->l2_sm_bytes_per_cycle;
  if (rate <= 0) return;
  for (const model_request *end = r + n; r < end; r++) {
    double free = s->port > (double)r->cycle ? s->port : (double)r->cycle;
    s->port = free + model_sectors(r->mask) * MODEL_SECTOR / rate;
    r->wait += (uint32_t)(free - (double)r->cycle);
  }
}

/* A request takes the way to L2 when it is free. */
static inline void take_way(model_sm *s, model_request *r, double cycles) {
  const double free = s->store_port > (double)r->cycle ? s->store_port : (double)r->cycle;
  s->store_port = free + cycles;
  r->wait += (uint32_t)(free - (double)r->cycle);
}

/* Requests for data do so among stores, until the last of these has come to L2. */
static inline void pass_stores(model_sm *s, model_request *r, uint32_t n) {
  const double rate = s->gpu->l2_sm_loads_per_cycle;
  if (rate <= 0) return;
  for (const model_request *end = r + n; r < end && (double)r->cycle < s->stores_end; r++)
    take_way(s, r, 1 / rate);
}

/* So do stores. */
static inline void take_store_port(model_sm *s, model_request *r, uint32_t n) {
  double rate = s->gpu->l2_sm_store_bytes_per_cycle, lines = s->gpu->l2_sm_stores_per_cycle;
  double least = lines > 0 ? 1 / lines : 0;
  if (rate <= 0) return;
  for (const model_request *end = r + n; r < end; r++) {
    const double takes = model_sectors(r->mask) * MODEL_SECTOR / rate;
    take_way(s, r, takes > least ? takes : least);
  }
  s->stores_end = s->store_port + s->gpu->l2.latency;
}

/* Load lines through L1, up to the first that misses and finds no MSHR, or through the read-only cache, which
 * needs none. *cycle: when; later when L1 had to wait for a way. *done: how many. Returns when their data is
 * there. All of L1 comes first and all of L2 after, so that the host can fetch many sets at once. */
static inline __attribute__((always_inline)) uint64_t load_some(model_sm *s, const uint32_t *lines,
                                                                const uint8_t *touched, uint32_t n,
                                                                bool ranked, bool readonly, unsigned cache,
                                                                uint64_t *cycle, uint32_t *done) {
  const model_cache *c = readonly ? &s->readonly : &s->l1;
  const uint32_t latency = readonly ? s->gpu->readonly.latency : s->gpu->l1.latency;
  const unsigned priority = model_l1_priority(cache);
  model_set *sets[MODEL_MAX_LINES];
  model_request requests[MODEL_MAX_LINES];
  uint32_t n_requests = 0;
  for (uint32_t i = 0; i < n; i++) {
    sets[i] = model_cache_set(c, lines[i]);
    if (n > 1) model_set_prefetch(c, sets[i]);
  }
  uint64_t now = *cycle, last = now + latency;
  const uint32_t room = readonly ? n : free_mshrs(s, n, now);
  unsigned sectors = 0, hits = 0;
  *done = n;
  for (uint32_t i = 0; i < n; i++) {
    model_set *set = sets[i];
    uint32_t way = model_set_find(c, set, lines[i]);
    unsigned wanted = model_cache_widen(c, touched[i]), missing = wanted;
    if (n_requests == room && (way == c->ways || missing & ~(unsigned)model_set_states(c, set)[way])) {
      *done = i;
      break;
    }
    sectors += model_sectors(wanted);
    if (way < c->ways) {
      uint8_t *state = &model_set_states(c, set)[way];
      missing &= ~(unsigned)*state;
      hits += model_sectors(wanted & *state);
      int32_t flight = model_set_wait(c, set, way, now);
      if (flight > 0 && now + (uint32_t)flight > last) last = now + (uint32_t)flight;
      model_set_use(c, set, way, ranked, priority, false);
      if (!missing) continue;
      *state |= (uint8_t)missing;
    } else {
      way = model_set_oldest(c, set);
      if (model_set_wait(c, set, way, now) > 0) way = await_way(c, set, &now);
      if (s->ccws && !readonly)
        model_ccws_miss(s->ccws, s->asking, lines[i],
                        (uint32_t)((size_t)(set - c->store) / c->set_bytes) * c->ways + way,
                        model_set_tags(set)[way], now);
      model_set_tags(set)[way] = lines[i];
      model_set_states(c, set)[way] = (uint8_t)missing;
      model_set_use(c, set, way, ranked, priority, true);
      /* In flight from here on, so that no other line of this access takes its place. */
      model_set_arrives(c, set, way, now, latency);
    }
    requests[n_requests++] = (model_request){.set = model_memory_set(s->mem, s->number, lines[i]),
                                             .cycle = now,
                                             .line = lines[i],
                                             .mask = (uint8_t)missing,
                                             .way = (uint8_t)way,
                                             .own = set};
  }
  /* Both caches count in sectors of their own. */
  s->l1_sectors += readonly ? (uint64_t)sectors * s->l1_unit : sectors;
  s->l1_hits += readonly ? (uint64_t)hits * s->l1_unit : hits;
  if (now + latency > last) last = now + latency;
  *cycle = now;
  s->missing += n_requests;
  model_memory_read(s->mem, s->number, requests, n_requests, model_l2_priority(cache));
  take_port(s, requests, n_requests);
  pass_stores(s, requests, n_requests);
  for (const model_request *r = requests; r < requests + n_requests; r++) {
    uint64_t there = r->cycle + r->wait;
    if (!readonly) take_mshr(s, there);
    if (there > last) last = there;
    if ((int32_t)r->wait > model_set_wait(c, r->own, r->way, r->cycle))
      model_set_arrives(c, r->own, r->way, r->cycle, r->wait);
  }
  return last;
}

static __attribute__((noinline)) uint64_t load_ranked(model_sm *s, const uint32_t *lines,
                                                      const uint8_t *touched, uint32_t n, unsigned cache,
                                                      uint64_t *cycle, uint32_t *done) {
  return load_some(s, lines, touched, n, true, false, cache, cycle, done);
}

static __attribute__((noinline)) uint64_t load_plain(model_sm *s, const uint32_t *lines,
                                                     const uint8_t *touched, uint32_t n, uint64_t *cycle,
                                                     uint32_t *done) {
  return load_some(s, lines, touched, n, false, false, 0, cycle, done);
}

/* Through the read-only cache; *sectors: how many of L2's that moves. */
static __attribute__((noinline)) uint64_t load_readonly(model_sm *s, const model_lines *lines,
                                                        uint64_t *cycle, unsigned *sectors) {
  uint64_t before = s->l1_sectors;
  uint32_t done;
  uint64_t there = load_some(s, lines->line, lines->touched, lines->n, false, true, 0, cycle, &done);
  *sectors = (unsigned)((s->l1_sectors - before) / s->l1_unit);
  return there;
}

static uint64_t load_lines(model_sm *s, const model_lines *lines, unsigned cache, uint64_t *cycle,
                           uint32_t *done) {
  return s->l1.ranked ? load_ranked(s, lines->line, lines->touched, lines->n, cache, cycle, done)
                      : load_plain(s, lines->line, lines->touched, lines->n, cycle, done);
}

/* Load past L1 the sectors that it does not have; those that it has are struck off the lines, and so are all
 * behind the first that there is no room for. *done: how many come before that. Returns when what L1 has is
 * there. */
static uint64_t peek_lines(const model_cache *c, uint32_t latency, model_lines *lines, uint32_t room,
                           uint64_t cycle, unsigned *found_sectors, uint32_t *done) {
  uint64_t last = cycle;
  uint32_t left = 0;
  *found_sectors = 0;
  *done = lines->n;
  for (uint32_t i = 0; i < lines->n; i++) {
    model_set *set = model_cache_set(c, lines->line[i]);
    uint32_t way = model_set_find(c, set, lines->line[i]);
    unsigned found = way < c->ways ? lines->touched[i] & model_set_states(c, set)[way] : 0;
    if (left == room && lines->touched[i] & ~found) {
      *done = i;
      break;
    }
    if (found) {
      int32_t flight = model_set_wait(c, set, way, cycle);
      uint64_t there = cycle + (flight > (int32_t)latency ? (uint32_t)flight : latency);
      if (there > last) last = there;
      *found_sectors += model_sectors(model_cache_widen(c, found));
    }
    lines->line[left] = lines->line[i];
    lines->touched[left] = (uint8_t)(lines->touched[i] & ~found);
    left += lines->touched[left] != 0;
  }
  lines->n = left;
  return last;
}

/* The effect of a store on L1. `drop`: an atomic, whose old copy must not be read again. */
static inline void store_line(model_sm *s, uint32_t line, unsigned touched, unsigned full, bool drop,
                              unsigned priority, uint64_t now) {
  const model_cache *c = &s->l1;
  model_set *set = model_cache_set(c, line);
  uint32_t way = model_set_find(c, set, line);
  bool hit = way < c->ways, fresh = !hit;
  if (drop || s->gpu->l1_write == HD_L1_WRITE_EVICT) {
    if (hit) model_set_drop(c, set, way, model_cache_widen(c, touched));
    return;
  }
  bool through = s->gpu->l1_write == HD_L1_WRITE_THROUGH;
  full &= ~model_cache_widen(c, ~full & 15); /* L1's own sectors that are written whole */
  if (!hit && through && full) {
    way = model_set_oldest(c, set);
    hit = model_set_wait(c, set, way, now) <= 0;
    if (hit) model_set_take(c, set, way, line, now);
  }
  if (!hit) return;
  model_set_use(c, set, way, c->ranked, priority, fresh);
  if (through) model_set_states(c, set)[way] |= (uint8_t)full;
}

/* ---- Accesses ---------------------------------------------------------------------- */

/* Loads go through L1 when it caches global loads. Read-only data goes through it on every GPU. */
static inline bool uses_l1(const model_sm *s, unsigned cache_bits) {
  return (cache_bits & HD_CACHE_READONLY) || ((cache_bits & HD_CACHE_L1) && s->gpu->l1_global);
}

/* The bits of a load that the threshold register sends around a cache (BYP 6.2), spelt as the rewriter would.
 */
static unsigned go_around(const model_sm *s, unsigned bits, uint32_t warp) {
  const hd_bypass *b = &s->threshold;
  bool l1 = (b->kind == HD_BYPASS_L1 || b->kind == HD_BYPASS_L1_L2) && warp >= b->warps;
  bool l2 = b->kind == HD_BYPASS_L2 ? warp >= b->warps : b->kind == HD_BYPASS_L1_L2 && warp >= b->l2_warps;
  bool readonly = b->kind == HD_BYPASS_READONLY && warp >= b->warps && (bits & HD_CACHE_READONLY);
  if (readonly || (l1 && !s->readonly.sets))
    return (bits & ~(unsigned)HD_CACHE_WAYS) | (l2 ? HD_CACHE_L2_FIRST : 0);
  if (l1) bits &= ~(unsigned)HD_CACHE_L1;
  if (l2) bits |= s->gpu->arch < 80 ? HD_CACHE_STREAM : HD_CACHE_L2_FIRST;
  return bits;
}

/* Past L1, as .L1::no_allocate spells it: what L1 has is read there all the same. */
static inline bool passes_l1(unsigned bits) {
  return !(bits & HD_CACHE_WAYS) && model_l1_priority(bits) == CACHE_UNCHANGED;
}

/* Before Volta such a load is what .cg is there, which L1 has no part in. */
static inline bool reads_l1_past(const hd_gpu *g, unsigned bits) {
  return g->arch >= 70 && g->l1_global && passes_l1(bits);
}

/* The priority in L2 of a load that has none of its own there. */
static inline unsigned carry_priority(const hd_gpu *g, unsigned bits) {
  const bool goes_first = passes_l1(bits) || model_l1_priority(bits) == CACHE_FIRST;
  return g->l2_first_with_l1 && goes_first && model_l2_priority(bits) == CACHE_NORMAL
             ? bits | HD_CACHE_L2_FIRST
             : bits;
}

/* The cycles for which an access occupies L1, at least one: for its bytes or its banks, and for the lines
 * that L1 does not have, one after the other. */
static double l1_time(const model_sm *s, const hd_cache_config *cache, unsigned sectors, uint32_t passes,
                      bool store) {
  const hd_gpu *g = s->gpu;
  double busy = passes ? passes : sectors * MODEL_SECTOR / cache->bytes_per_cycle;
  const double rate = store && g->l1_stores_per_cycle > 0 ? g->l1_stores_per_cycle : g->l1_lines_per_cycle;
  if (rate > 0 && s->missing > busy * rate) busy = s->missing / rate;
  return busy < 1 ? 1 : busy;
}

/* Those before `done` are struck off. */
static __attribute__((noinline)) void drop_lines(model_lines *lines, uint32_t done) {
  lines->n -= done;
  memmove(lines->line, lines->line + done, lines->n * sizeof *lines->line);
  memmove(lines->touched, lines->touched + done, lines->n * sizeof *lines->touched);
}

/* The memory's side of an access. *left: the lines of a load that found no MSHR. */
static inline __attribute__((always_inline)) uint64_t touch_memory(model_sm *s, const model_stream_event *e,
                                                                   uint32_t w, uint64_t *when, double *busy,
                                                                   uint32_t *left) {
  uint64_t cycle = *when;
  unsigned kind = model_stream_kind(e->attr), bits = model_stream_cache(e->attr);
  if (s->threshold.kind != HD_BYPASS_NONE && kind == HD_ACCESS_LOAD)
    bits = go_around(s, bits, w % s->warps_per_cta);
  const bool fetch = kind == HD_ACCESS_PREFETCH, stays = fetch && s->gpu->l1_fetches_pass;
  if (stays) bits &= ~(unsigned)HD_CACHE_WAYS;
  if (s->l1.ranked && kind == HD_ACCESS_LOAD) bits = carry_priority(s->gpu, bits);
  bool readonly = s->readonly.sets && (bits & HD_CACHE_READONLY);
  bool l1 = readonly || uses_l1(s, bits);
  /* The next warp's bytes, while this one's are worked on. */
  const uint8_t *ahead = s->warps[w + 1 < SM_MAX_WARPS ? w + 1 : 0].next.shape;
  for (unsigned at = 0; at < 256; at += 64) __builtin_prefetch(ahead + at);
  model_lines lines;
  model_stream_lines(e, &lines);
  const bool banked = s->gpu->l1_unified && s->gpu->l1_lines_per_cycle > 0 && kind == HD_ACCESS_LOAD;
  const uint32_t before_now = s->warps[w].done;
  const uint32_t passes =
      banked && !before_now ? model_bank_passes(&s->warps[w].reader.slots[e->slot], e, &lines) : 0;
  if (before_now) drop_lines(&lines, before_now);
  const uint32_t n = lines.n;
  uint32_t done = n;
  for (uint32_t i = 0; s->line_base && i < lines.n; i++) lines.line[i] += s->line_base;
  uint64_t there = cycle;
  unsigned sectors = 0;
  s->missing = 0;
  bool store = kind == HD_ACCESS_STORE, atomic = kind == HD_ACCESS_ATOMIC;
  if (readonly && !store && !atomic) {
    there = load_readonly(s, &lines, &cycle, &sectors);
  } else if (l1 && !store && !atomic) {
    uint64_t before = s->l1_sectors;
    there = load_lines(s, &lines, bits, &cycle, &done);
    sectors = (unsigned)(s->l1_sectors - before);
  } else {
    const uint32_t room = kind == HD_ACCESS_LOAD ? free_mshrs(s, n, cycle) : n;
    if (kind == HD_ACCESS_LOAD && reads_l1_past(s->gpu, bits)) {
      there = peek_lines(&s->l1, s->gpu->l1.latency, &lines, room, cycle, &sectors, &done);
      s->l1_sectors += sectors;
      s->l1_hits += sectors;
    } else if (n > room) {
      done = lines.n = room;
    }
    s->missing = lines.n;
    model_request requests[MODEL_MAX_LINES];
    for (uint32_t i = 0; i < lines.n; i++) {
      uint32_t line = lines.line[i];
      uint8_t mask = lines.touched[i], full = store ? lines.full[i] : 0;
      sectors += model_sectors(mask);
      requests[i] = (model_request){.set = model_memory_set(s->mem, s->number, line),
                                    .cycle = cycle,
                                    .line = line,
                                    .mask = mask,
                                    .full = full};
      if (store || atomic) store_line(s, line, mask, full, atomic, model_l1_priority(bits), cycle);
    }
    if (store)
      model_memory_write(s->mem, s->number, requests, lines.n, model_l2_priority(bits));
    else if (atomic)
      model_memory_atomic(s->mem, s->number, requests, lines.n, model_l2_priority(bits));
    else
      model_memory_read(s->mem, s->number, requests, lines.n, model_l2_priority(bits));
    if (store || atomic) take_store_port(s, requests, lines.n);
    if (!store && !stays) take_port(s, requests, lines.n);
    if (!store && !atomic) pass_stores(s, requests, lines.n);
    for (uint32_t i = 0; i < lines.n; i++) {
      if (cycle + requests[i].wait > there) there = cycle + requests[i].wait;
      if (kind == HD_ACCESS_LOAD) take_mshr(s, cycle + requests[i].wait);
    }
  }
  *left = n - done;
  s->warps[w].done = (uint16_t)(*left ? before_now + done : 0);
  *when = cycle;
  *busy = l1_time(s, readonly ? &s->gpu->readonly : &s->gpu->l1, sectors, passes, store);
  if (fetch && *busy < s->gpu->units.fetch) *busy = s->gpu->units.fetch;
  return there;
}

uint64_t model_sm_access(model_sm *s, uint32_t w, uint64_t *cycle, double *busy, uint64_t *again) {
  model_sm_warp *warp = &s->warps[w];
  uint32_t left;
  s->asking = w;
  uint64_t there = touch_memory(s, &warp->next, w, cycle, busy, &left);
  if (warp->partly > there) there = warp->partly;
  warp->partly = left ? there : 0;
  *again = left ? next_mshr(s) : 0;
  if (!*again) model_stream_next(&warp->reader, &warp->next);
  return there;
}
