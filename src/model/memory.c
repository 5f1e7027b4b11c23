#include "model/memory.h"

#include <math.h>
#include <stdlib.h>

bool model_memory_init(model_memory *m, const hd_gpu *g) {
  *m = (model_memory){.l2_latency = g->l2.latency,
                      .dram_latency = g->dram_latency,
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
  model_cache_plan(&m->l2, &g->l2, g->l2.bytes);
  m->l2.store = model_store_alloc((size_t)m->l2.sets * m->l2.set_bytes);
  m->l2.ranks = malloc(m->l2.sets * sizeof *m->l2.ranks);
  if (!model_dram_init(&m->dram, g) || !m->l2.store || !m->l2.ranks) {
    model_memory_free(m);
    return false;
  }
  model_cache_clear(&m->l2);
  return true;
}

void model_memory_free(model_memory *m) {
  free(m->l2.store);
  free(m->l2.ranks);
  model_dram_free(&m->dram);
}

void model_memory_reset(model_memory *m, bool keep, bool timed) {
  if (keep) {
    model_cache_restart(&m->l2);
  } else {
    model_cache_clear(&m->l2);
  }
  model_queue_reset(&m->l2_queue);
  model_queue_reset(&m->atomics);
  model_dram_reset(&m->dram, timed);
  if (!keep) m->dirt = 0;
  m->sectors = m->hits = m->reads = m->writes = m->dram_reads = m->dram_writes = 0;
}

void model_memory_foul(model_memory *m) { m->dirt = m->dirty_part; }

void model_memory_begin_epoch(model_memory *m, uint64_t now, uint64_t limit) {
  model_cache_epoch(&m->l2, now, limit);
}

void model_memory_end_epoch(model_memory *m, uint64_t cycles) {
  model_queue_end_epoch(&m->l2_queue, cycles);
  model_dram_end_epoch(&m->dram, cycles);
  model_queue_end_epoch(&m->atomics, cycles);
}

/* The way of a request's line, which is made if it is not there. */
static inline __attribute__((always_inline)) uint32_t lookup(model_memory *m, const model_request *r,
                                                             bool ranked, unsigned priority) {
  const model_cache *c = &m->l2;
  uint32_t way = model_set_find(c, r->set, r->line);
  bool fresh = way == c->ways;
  if (fresh) {
    way = model_set_oldest(c, r->set);
    unsigned lost = model_sectors(model_set_states(c, r->set)[way] >> 4);
    const uint32_t old = model_set_tags(r->set)[way];
    m->dram_writes += lost;
    double written = lost * MODEL_SECTOR;
    if (m->dirt > 0 && old == CACHE_FREE) written = 4 * MODEL_SECTOR * m->dirt;
    /* Where others' data goes is not known: to the channel of what takes its place. */
    if (written > 0) model_dram_ask(&m->dram, old == CACHE_FREE ? r->line : old, written * m->write_cost);
    model_set_take(c, r->set, way, r->line, r->cycle);
  }
  model_set_use(c, r->set, way, ranked, priority, fresh);
  return way;
}

/* DRAM's latency: requests find banks busy, and refreshed. Nine in ten lie evenly below one figure, the tenth
 * between it and the greatest; the mean is the file's. */
static uint32_t dram_latency(const model_memory *m, const model_request *r) {
  if (m->dram_most <= 0) return m->dram_latency;
  const uint64_t mixed = (r->line * 0x9E3779B97F4A7C15ull) ^ (r->cycle * 0xD1B54A32D192ED03ull);
  const double u = (double)((mixed * 0x9E3779B97F4A7C15ull) >> 40) / (double)(1 << 24);
  const double l = u < 0.9 ? m->dram_least + (m->dram_tenth - m->dram_least) * u / 0.9
                           : m->dram_tenth + (m->dram_most - m->dram_tenth) * (u - 0.9) / 0.1;
  return (uint32_t)l;
}

/* Make the wanted sectors valid; cycles until they are there. */
static inline uint32_t fetch(model_memory *m, const model_request *r, uint32_t way) {
  const model_cache *c = &m->l2;
  uint8_t *state = &model_set_states(c, r->set)[way];
  unsigned hits = r->mask & *state, missing = model_cache_widen(c, r->mask) & ~*state & 15u;
  m->hits += model_sectors(hits);
  uint32_t wait = m->l2_latency + m->l2_queue.wait;
  int32_t flight = model_set_wait(c, r->set, way, r->cycle);
  if (flight > (int32_t)wait) wait = (uint32_t)flight;
  if (!missing) return wait;
  unsigned n = model_sectors(missing);
  m->dram_reads += n;
  *state |= (uint8_t)missing;
  const int32_t dram_wait = model_dram_ask(&m->dram, r->line, n * MODEL_SECTOR);
  uint32_t dram = (uint32_t)((int32_t)(dram_latency(m, r) + m->l2_queue.wait) + dram_wait);
  if (dram > wait) wait = dram;
  model_set_arrives(c, r->set, way, r->cycle, wait);
  return wait;
}

void model_memory_read(model_memory *m, model_request *r, uint32_t n, unsigned priority) {
  uint64_t sectors = 0;
  double asked = 0;
  const model_request *end = r + n;
  if (m->l2.ranked)
    for (; r < end; r++) {
      const unsigned n_sectors = model_sectors(r->mask);
      sectors += n_sectors;
      asked += m->load_asks[n_sectors];
      r->wait = fetch(m, r, lookup(m, r, true, priority));
    }
  for (; r < end; r++) {
    const unsigned n_sectors = model_sectors(r->mask);
    sectors += n_sectors;
    asked += m->load_asks[n_sectors];
    r->wait = fetch(m, r, lookup(m, r, false, CACHE_NORMAL));
  }
  m->sectors += sectors;
  m->reads += sectors;
  m->l2_queue.asked += asked;
}

void model_memory_write(model_memory *m, model_request *r, uint32_t n, unsigned priority) {
  uint64_t sectors = 0;
  double asked = 0;
  for (const model_request *end = r + n; r < end; r++) {
    const unsigned n_sectors = model_sectors(r->mask);
    sectors += n_sectors;
    asked += m->store_asks[n_sectors];
    uint8_t *state = &model_set_states(&m->l2, r->set)[lookup(m, r, m->l2.ranked, priority)];
    m->hits += model_sectors(r->mask & (*state | *state >> 4));
    *state |= (uint8_t)(r->mask << 4 | r->full);
    r->wait = m->l2_queue.wait + model_dram_wait(&m->dram, r->line);
  }
  m->sectors += sectors;
  m->writes += sectors;
  m->l2_queue.asked += asked;
}

void model_memory_atomic(model_memory *m, model_request *r, uint32_t n, unsigned priority) {
  uint64_t sectors = 0;
  for (const model_request *end = r + n; r < end; r++) {
    sectors += model_sectors(r->mask);
    uint32_t way = lookup(m, r, m->l2.ranked, priority);
    r->wait = fetch(m, r, way) + m->atomics.wait + m->atomic_latency;
    model_set_states(&m->l2, r->set)[way] |= (uint8_t)(r->mask << 4);
  }
  m->atomics.asked += (double)sectors;
  m->sectors += sectors;
  m->writes += sectors;
  m->l2_queue.asked += (double)sectors * MODEL_SECTOR;
}
