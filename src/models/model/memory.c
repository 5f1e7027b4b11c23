#include "model/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SMs next to each other, in pairs, are a GPC's TPCs, and GPCs next to each other have a near part. */
static bool make_places(model_memory *m) {
  m->places = calloc(m->n_sms, sizeof *m->places);
  for (uint32_t sm = 0; m->places && sm < m->n_sms; sm++) {
    const uint32_t gpc = sm / 2 * m->n_gpcs / ((m->n_sms + 1) / 2);
    m->places[sm] = (memory_place){(uint8_t)gpc, (uint8_t)(gpc * m->n_parts / m->n_gpcs)};
  }
  return m->places != NULL;
}

/* Requests of SMs that share them. */
static size_t n_pending(const model_memory *m) {
  return (size_t)((m->n_sms + m->n_together - 1) / m->n_together) << MEMORY_PENDING_BITS;
}

static bool make_parts(model_memory *m, const hd_gpu *g) {
  if (m->n_together > 1 && !(m->pending = calloc(n_pending(m), sizeof *m->pending))) return false;
  for (uint32_t i = 0; i < m->n_parts; i++) {
    model_cache *c = &m->l2[i];
    model_cache_plan(c, &g->l2, g->l2.bytes / m->n_parts);
    c->store = model_store_alloc((size_t)c->sets * c->set_bytes);
    c->ranks = malloc(c->sets * sizeof *c->ranks);
    if (!c->store || !c->ranks) return false;
    model_cache_clear(c);
  }
  return true;
}

bool model_memory_init(model_memory *m, const hd_gpu *g) {
  *m = (model_memory){.l2_latency = g->l2.latency,
                      .dram_latency = g->dram_latency,
                      .n_parts = g->l2_parts > 1 ? g->l2_parts : 1,
                      .n_sms = g->n_sms,
                      .n_together = g->l2_sms_together > 1 ? g->l2_sms_together : 1,
                      .far_latency = g->l2_far_latency,
                      .n_gpcs = g->gpcs > 1 ? g->gpcs : 1,
                      .l2_shares.n = g->gpcs > 1 ? g->gpcs : 1,
                      .l2_queue.bytes_per_cycle = g->l2.bytes_per_cycle,
                      .l2_queue.service = g->l2_queue_cycles,
                      .atomics.bytes_per_cycle = g->l2_atomics_per_cycle,
                      .write_cost = 1,
                      .dirty_part = (double)g->l2_dirty_bytes / (double)g->l2.bytes};
  if (g->dram_latency_most > g->dram_latency && g->dram_latency_least) {
    m->dram_least = g->dram_latency_least;
    m->dram_most = g->dram_latency_most;
    m->dram_tenth = (g->dram_latency - 0.45 * m->dram_least - 0.05 * m->dram_most) / 0.5;
  }
  double rate = g->l2.bytes_per_cycle;
  const double least_load = g->l2_requests_per_cycle > 0 ? rate / g->l2_requests_per_cycle : 0;
  const double least_store = g->l2_stores_per_cycle > 0 ? rate / g->l2_stores_per_cycle : 0;
  const double stored = g->l2_store_bytes_per_cycle > 0 ? rate / g->l2_store_bytes_per_cycle : 1;
  for (unsigned sectors = 0; sectors <= 4; sectors++) {
    m->load_asks[sectors] = fmax(sectors * MODEL_SECTOR, least_load);
    m->store_asks[sectors] = fmax(sectors * MODEL_SECTOR * stored, least_store);
  }
  m->atomic_latency = g->l2_atomic_latency > g->l2.latency ? g->l2_atomic_latency - g->l2.latency : 0;
  if (g->l2_atomic_repeats_per_cycle > 0)
    m->repeat_cost = g->l2_atomics_per_cycle / g->l2_atomic_repeats_per_cycle;
  if (g->dram_write_bytes_per_cycle > 0)
    m->write_cost = g->dram_bytes_per_cycle / g->dram_write_bytes_per_cycle;
  for (uint32_t i = 0; i < m->n_gpcs; i++)
    m->ports[i].bytes_per_cycle = g->l2_sms_bytes_per_cycle / m->n_gpcs;
  if (!make_places(m) || !make_parts(m, g) || !model_dram_init(&m->dram, g)) {
    model_memory_free(m);
    return false;
  }
  return true;
}

void model_memory_free(model_memory *m) {
  for (uint32_t i = 0; i < m->n_parts; i++) {
    free(m->l2[i].store);
    free(m->l2[i].ranks);
  }
  free(m->places);
  free(m->pending);
  model_dram_free(&m->dram);
}

void model_memory_reset(model_memory *m, bool keep, bool timed) {
  for (uint32_t i = 0; i < m->n_parts; i++) {
    if (keep)
      model_cache_restart(&m->l2[i]);
    else
      model_cache_clear(&m->l2[i]);
  }
  if (m->pending) memset(m->pending, 0, n_pending(m) * sizeof *m->pending);
  model_queue_reset(&m->l2_queue);
  model_shares_reset(&m->l2_shares);
  for (uint32_t i = 0; i < m->n_gpcs; i++) model_queue_reset(&m->ports[i]);
  model_queue_reset(&m->atomics);
  model_dram_reset(&m->dram, timed);
  if (!keep) m->dirt = 0;
  m->sectors = m->hits = m->dram_reads = m->dram_writes = 0;
  m->counted = (hd_counters){0};
}

void model_memory_rank(model_memory *m) {
  for (uint32_t i = 0; i < m->n_parts; i++) model_cache_rank(&m->l2[i], m->dirt > 0);
}

uint64_t model_memory_clean(model_memory *m) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->n_parts; i++) n += model_cache_clean(&m->l2[i]);
  return n;
}

void model_memory_foul(model_memory *m) { m->dirt = m->dirty_part; }

void model_memory_begin_epoch(model_memory *m, uint64_t now, uint64_t limit) {
  for (uint32_t i = 0; i < m->n_parts; i++) model_cache_epoch(&m->l2[i], now, limit);
}

void model_memory_end_epoch(model_memory *m, uint64_t cycles) {
  model_queue_end_epoch(&m->l2_queue, cycles);
  model_shares_end_epoch(&m->l2_shares, &m->l2_queue, cycles);
  for (uint32_t i = 0; i < m->n_gpcs; i++) model_queue_end_epoch(&m->ports[i], cycles);
  model_dram_end_epoch(&m->dram, cycles);
  model_queue_end_epoch(&m->atomics, cycles);
}

/* ---- Lookups -------------------------------------------------------------------------------- */

static inline uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* An SM, as L2 sees it. */
typedef struct asker {
  uint32_t sm, gpc;
  uint32_t near; /* the part of L2 */
  uint32_t wait; /* cycles until L2 serves its requests */
} asker;

static asker asker_of(const model_memory *m, uint32_t sm) {
  const uint32_t gpc = m->places[sm].gpc;
  return (asker){sm, gpc, m->places[sm].near, later(m->l2_shares.wait[gpc], m->ports[gpc].wait)};
}

/* Sectors of a line, in a part of L2. */
typedef struct asked {
  model_cache *cache;
  model_set *set;
  uint64_t cycle;
  uint32_t line;
  unsigned mask;
  uint32_t wait; /* cycles until it is looked at */
  bool copy;     /* of a line of the other part */
} asked;

static inline asked near_of(model_memory *m, const asker *by, const model_request *r) {
  return (asked){&m->l2[by->near], r->set, r->cycle, r->line, r->mask, by->wait, false};
}

static inline asked part_of(model_memory *m, uint32_t part, const asker *by, const model_request *r,
                            unsigned mask) {
  return (asked){&m->l2[part], model_cache_set(&m->l2[part], r->line), r->cycle, r->line, mask, by->wait,
                 false};
}

/* Where the line belongs. */
static inline asked home_of(model_memory *m, const asker *by, const model_request *r) {
  const uint32_t home = model_memory_home(m, r->line);
  return home == by->near ? near_of(m, by, r) : part_of(m, home, by, r, r->mask);
}

/* The way of a line, which is made if it is not there. */
static inline __attribute__((always_inline)) uint32_t lookup(model_memory *m, const asked *a, bool ranked,
                                                             unsigned priority) {
  const model_cache *c = a->cache;
  uint32_t way = model_set_find(c, a->set, a->line);
  bool fresh = way == c->ways;
  if (fresh) {
    way = model_set_oldest(c, a->set);
    unsigned lost = model_sectors(model_set_states(c, a->set)[way] >> 4);
    const uint32_t old = model_set_tags(a->set)[way];
    m->dram_writes += lost;
    double written = lost * MODEL_SECTOR;
    /* Of what SMs read each by itself (16 to 50 MB), an H100 writes back 0.29 to 0.39 as much: copies seem to
     * spare others' dirty data. */
    if (m->dirt > 0 && old == CACHE_FREE && !a->copy) written = 4 * MODEL_SECTOR * m->dirt;
    /* Where others' data goes is not known: to the channel of what takes its place. */
    if (written > 0) model_dram_ask(&m->dram, old == CACHE_FREE ? a->line : old, written * m->write_cost);
    model_set_take(c, a->set, way, a->line, a->cycle);
  }
  model_set_use(c, a->set, way, ranked, priority, fresh);
  return way;
}

/* DRAM's latency: requests find banks busy, and refreshed. Nine in ten lie evenly below one figure, the tenth
 * between it and the greatest; the mean is the file's. */
static uint32_t dram_latency(const model_memory *m, const asked *a) {
  if (m->dram_most <= 0) return m->dram_latency;
  const uint64_t mixed = (a->line * 0x9E3779B97F4A7C15ull) ^ (a->cycle * 0xD1B54A32D192ED03ull);
  const double u = (double)((mixed * 0x9E3779B97F4A7C15ull) >> 40) / (double)(1 << 24);
  const double l = u < 0.9 ? m->dram_least + (m->dram_tenth - m->dram_least) * u / 0.9
                           : m->dram_tenth + (m->dram_most - m->dram_tenth) * (u - 0.9) / 0.1;
  return (uint32_t)l;
}

/* Cycles until DRAM has brought so many sectors. */
static inline uint32_t from_dram(model_memory *m, const asked *a, unsigned n) {
  m->dram_reads += n;
  const int32_t wait = model_dram_ask(&m->dram, a->line, n * MODEL_SECTOR);
  return (uint32_t)((int32_t)(dram_latency(m, a) + a->wait) + wait);
}

static inline uint32_t fetch(model_memory *m, const asked *a, uint32_t way, uint32_t far, unsigned *missing) {
  const model_cache *c = a->cache;
  const uint8_t state = model_set_states(c, a->set)[way];
  *missing = model_cache_widen(c, a->mask) & ~state & 15u;
  m->hits += model_sectors(a->mask & state);
  const uint32_t wait = m->l2_latency + far + a->wait;
  const int32_t flight = model_set_wait(c, a->set, way, a->cycle);
  return flight > (int32_t)wait ? (uint32_t)flight : wait;
}

/* The wanted sectors have come after `wait`. */
static inline void fill(const asked *a, uint32_t way, unsigned missing, uint32_t wait) {
  model_set_states(a->cache, a->set)[way] |= (uint8_t)missing;
  model_set_arrives(a->cache, a->set, way, a->cycle, wait);
}

/* Make the wanted sectors valid in the part that a line belongs to; cycles until they are there. */
static inline uint32_t fetch_home(model_memory *m, const asked *a, uint32_t way, uint32_t far) {
  unsigned missing;
  uint32_t wait = fetch(m, a, way, far, &missing);
  if (!missing) return wait;
  wait = later(wait, from_dram(m, a, model_sectors(missing)));
  fill(a, way, missing, wait);
  return wait;
}

/* Likewise in the near part, of a line of the other one. */
static uint32_t fetch_far(model_memory *m, const asker *by, const model_request *r, bool ranked,
                          unsigned priority) {
  asked near = near_of(m, by, r);
  near.copy = true;
  unsigned missing;
  const uint32_t way = lookup(m, &near, ranked, priority);
  uint32_t wait = fetch(m, &near, way, 0, &missing);
  if (!missing) return wait;
  const asked far = part_of(m, by->near ^ 1, by, r, missing & r->mask);
  wait = later(wait, fetch_home(m, &far, lookup(m, &far, ranked, priority), m->far_latency));
  fill(&near, way, missing, wait);
  return wait;
}

static inline __attribute__((always_inline)) uint32_t
read_line(model_memory *m, const asker *by, const model_request *r, bool ranked, unsigned priority) {
  if (model_memory_home(m, r->line) != by->near) return fetch_far(m, by, r, ranked, priority);
  const asked a = near_of(m, by, r);
  return fetch_home(m, &a, lookup(m, &a, ranked, priority), 0);
}

static void take_rate(model_memory *m, const asker *by, double bytes) {
  m->l2_queue.asked += bytes;
  m->l2_shares.asked[by->gpc] += bytes;
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* Whether another SM of the group has asked for all of it, and it is not there yet. */
static bool shares_request(model_memory *m, uint32_t sm, const model_request *r) {
  const uint32_t at = (r->line * 0x9E3779B1u) >> (32 - MEMORY_PENDING_BITS);
  memory_pending *p = &m->pending[(size_t)(sm / m->n_together) << MEMORY_PENDING_BITS | at];
  if (p->line == r->line && p->sm != sm && !(r->mask & ~p->mask) && r->cycle < p->until &&
      p->from < r->cycle + r->wait)
    return true;
  *p = (memory_pending){r->cycle, r->cycle + r->wait, r->line, (uint16_t)sm, r->mask};
  return false;
}

void model_memory_read(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority) {
  uint64_t all = 0, sectors = 0;
  double bytes = 0;
  const asker by = asker_of(m, sm);
  const bool ranked = m->l2[0].ranked;
  for (const model_request *end = r + n; r < end; r++) {
    const unsigned n_sectors = model_sectors(r->mask);
    const uint64_t hits = m->hits;
    r->wait = ranked ? read_line(m, &by, r, true, priority) : read_line(m, &by, r, false, CACHE_NORMAL);
    all += n_sectors;
    if (m->pending && shares_request(m, sm, r)) {
      m->hits = hits;
      continue;
    }
    sectors += n_sectors;
    bytes += m->load_asks[n_sectors];
  }
  m->sectors += sectors;
  m->counted.l2_read_sectors += sectors;
  m->ports[by.gpc].asked += (double)all * MODEL_SECTOR;
  take_rate(m, &by, bytes);
}

/* A store ends the copy of the part that a line does not belong to; `by`: unless it comes from there. */
static void end_copy(model_memory *m, const asker *by, const model_request *r) {
  const uint32_t other = model_memory_home(m, r->line) ^ 1;
  if (m->n_parts == 1 || (by && by->near == other)) return;
  model_cache *c = &m->l2[other];
  model_set *set = model_cache_set(c, r->line);
  const uint32_t way = model_set_find(c, set, r->line);
  if (way < c->ways) model_set_drop(c, set, way, model_cache_widen(c, r->mask));
}

void model_memory_write(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority) {
  uint64_t sectors = 0;
  double bytes = 0;
  const asker by = asker_of(m, sm);
  for (const model_request *end = r + n; r < end; r++) {
    const unsigned n_sectors = model_sectors(r->mask);
    sectors += n_sectors;
    bytes += m->store_asks[n_sectors];
    const asked a = home_of(m, &by, r);
    uint8_t *state = &model_set_states(a.cache, a.set)[lookup(m, &a, a.cache->ranked, priority)];
    m->hits += model_sectors(r->mask & (*state | *state >> 4));
    *state |= (uint8_t)(r->mask << 4 | r->full);
    end_copy(m, &by, r);
    r->wait = by.wait + model_dram_wait(&m->dram, r->line);
  }
  m->sectors += sectors;
  m->counted.l2_write_sectors += sectors;
  take_rate(m, &by, bytes);
}

void model_memory_atomic(model_memory *m, uint32_t sm, model_request *r, uint32_t n, unsigned priority) {
  uint64_t sectors = 0;
  const asker by = asker_of(m, sm);
  for (const model_request *end = r + n; r < end; r++) {
    sectors += model_sectors(r->mask);
    const asked a = home_of(m, &by, r);
    const uint32_t way = lookup(m, &a, a.cache->ranked, priority);
    r->wait = fetch_home(m, &a, way, 0) + m->atomics.wait + m->atomic_latency;
    model_set_states(a.cache, a.set)[way] |= (uint8_t)(r->mask << 4);
    end_copy(m, NULL, r);
  }
  m->atomics.asked += (double)sectors;
  m->sectors += sectors;
  m->counted.l2_write_sectors += sectors;
  take_rate(m, &by, (double)sectors * MODEL_SECTOR);
}
