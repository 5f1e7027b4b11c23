/* The caches, against a list of lines per set that is searched from its most recently used end. */
#include "model/synth.h"

#include "model/memory.h"

typedef struct ref_line {
  uint64_t line;
  unsigned valid, dirty;
  unsigned priority; /* CACHE_NORMAL, CACHE_FIRST or CACHE_LAST */
} ref_line;

typedef struct ref_cache {
  uint64_t sets;
  uint32_t ways, sector;
  ref_line *lines; /* [sets][ways], the most recently used first */
  uint32_t *n;
  uint64_t hits, dram_reads, dram_writes;
} ref_cache;

static ref_cache ref_make(const hd_cache_config *g) {
  ref_cache c = {.sets = g->bytes / (g->line * g->ways), .ways = g->ways, .sector = g->sector};
  c.lines = calloc(c.sets * c.ways, sizeof *c.lines);
  c.n = calloc(c.sets, sizeof *c.n);
  return c;
}

static void ref_free(ref_cache *c) {
  free(c->lines);
  free(c->n);
}

static ref_line *ref_use(ref_cache *c, uint64_t line, unsigned priority) {
  static const unsigned going[] = {CACHE_FIRST, CACHE_NORMAL, CACHE_LAST};
  ref_line *set = c->lines + line % c->sets * c->ways;
  uint32_t *n = &c->n[line % c->sets], i = 0;
  while (i < *n && set[i].line != line) i++;
  bool there = i < *n;
  if (there && priority == CACHE_UNCHANGED) return &set[i];
  ref_line found = {.line = line};
  if (there) found = set[i];
  if (!there && *n < c->ways) i = (*n)++;
  if (!there && i == c->ways) {
    for (unsigned k = 0; i == c->ways; k++)
      for (uint32_t w = c->ways; w-- && i == c->ways;)
        if (set[w].priority == going[k]) i = w;
    c->dram_writes += (unsigned)__builtin_popcount(set[i].dirty);
  }
  found.priority = priority == CACHE_UNCHANGED ? CACHE_NORMAL : priority;
  memmove(set + 1, set, i * sizeof *set);
  set[0] = found;
  return &set[0];
}

/* The cache's sectors that a mask touches. */
static unsigned ref_widen(const ref_cache *c, unsigned mask) {
  unsigned width = c->sector / 32, want = 0;
  for (unsigned s = 0; s < 4; s++)
    if (mask >> s & 1) want |= ((1u << width) - 1) << (s / width * width);
  return want;
}

/* Sectors go; a line without any is gone. */
static void ref_drop(ref_cache *c, uint64_t line, unsigned mask) {
  ref_line *set = c->lines + line % c->sets * c->ways;
  uint32_t *n = &c->n[line % c->sets], i = 0;
  while (i < *n && set[i].line != line) i++;
  if (i == *n) return;
  set[i].valid &= ~ref_widen(c, mask);
  if (set[i].valid | set[i].dirty) return;
  (*n)--;
  memmove(set + i, set + i + 1, (*n - i) * sizeof *set);
}

static unsigned ref_fetch(ref_cache *c, ref_line *l, unsigned mask) {
  c->hits += (unsigned)__builtin_popcount(mask & l->valid);
  unsigned missing = ref_widen(c, mask) & ~l->valid;
  c->dram_reads += (unsigned)__builtin_popcount(missing);
  l->valid |= missing;
  return missing;
}

/* One or two parts, and the SM that asks. */
typedef struct ref_memory {
  ref_cache part[2];
  uint32_t parts;
} ref_memory;

static void ref_read(ref_memory *r, uint32_t near, uint32_t home, uint32_t line, unsigned mask,
                     unsigned priority) {
  ref_cache *c = &r->part[near];
  const uint64_t reads = c->dram_reads;
  const unsigned missing = ref_fetch(c, ref_use(c, line, priority), mask);
  if (near == home || !missing) return;
  c->dram_reads = reads;
  ref_fetch(&r->part[home], ref_use(&r->part[home], line, priority), mask & missing);
}

static void ref_write(ref_memory *r, uint32_t near, uint32_t home, uint32_t line, unsigned mask,
                      unsigned full, unsigned priority) {
  ref_line *l = ref_use(&r->part[home], line, priority);
  r->part[home].hits += (unsigned)__builtin_popcount(mask & (l->valid | l->dirty));
  l->dirty |= mask;
  l->valid |= full;
  if (r->parts > 1 && near == home) ref_drop(&r->part[!home], line, mask);
}

static void ref_atomic(ref_memory *r, uint32_t home, uint32_t line, unsigned mask, unsigned priority) {
  ref_line *l = ref_use(&r->part[home], line, priority);
  ref_fetch(&r->part[home], l, mask);
  l->dirty |= mask;
  if (r->parts > 1) ref_drop(&r->part[!home], line, mask);
}

static void assert_counters(const model_memory *m, const ref_memory *r) {
  uint64_t hits = 0, reads = 0, writes = 0;
  for (uint32_t i = 0; i < r->parts; i++) {
    hits += r->part[i].hits;
    reads += r->part[i].dram_reads;
    writes += r->part[i].dram_writes;
  }
  assert_int_equal(m->hits, hits);
  assert_int_equal(m->dram_reads, reads);
  assert_int_equal(m->dram_writes, writes);
}

typedef struct geometry {
  uint32_t ways, sets, sector; /* sets: of each part */
  uint64_t lines;
} geometry;

/* Random reads, writes (whole sectors and parts) and atomics of few lines, so that they meet. */
static void against_reference(uint64_t seed, const geometry *at, uint32_t parts, int ranked_from) {
  hd_gpu g = synth_gpu();
  g.l2.ways = at->ways;
  g.l2.sector = at->sector;
  g.l2.bytes = (uint64_t)at->sets * at->ways * 128;
  ref_memory ref = {.parts = parts};
  for (uint32_t i = 0; i < parts; i++) ref.part[i] = ref_make(&g.l2);
  g.n_sms = 6;
  g.gpcs = g.l2_parts = parts;
  g.l2.bytes *= parts;
  model_memory m;
  assert_true(model_memory_init(&m, &g));
  rng r = {seed, 0};
  uint64_t now = 0;
  for (int k = 0; k < 60000; k++) {
    uint32_t line = (uint32_t)below(&r, at->lines), sm = (uint32_t)below(&r, 6);
    uint8_t mask = (uint8_t)(1 + below(&r, 15)), full = mask & (uint8_t)next(&r);
    unsigned priority = k < ranked_from || below(&r, 3) ? CACHE_NORMAL : (unsigned)below(&r, 4);
    if (k == ranked_from) model_memory_rank(&m);
    model_request q = {.line = line, .cycle = now, .mask = mask, .full = full};
    q.set = model_memory_set(&m, sm, line);
    const uint32_t near = model_memory_near(&m, sm), home = model_memory_home(&m, line);
    model_memory_begin_epoch(&m, now, now + 1);
    switch (below(&r, 4)) {
    case 0:
    case 1:
      model_memory_read(&m, sm, &q, 1, priority);
      ref_read(&ref, near, home, line, mask, priority);
      break;
    case 2:
      model_memory_write(&m, sm, &q, 1, priority);
      ref_write(&ref, near, home, line, mask, full, priority);
      break;
    default:
      model_memory_atomic(&m, sm, &q, 1, priority);
      ref_atomic(&ref, home, line, mask, priority);
      break;
    }
    now += below(&r, 500);
    assert_counters(&m, &ref);
  }
  uint64_t left = 0;
  for (uint32_t p = 0; p < parts; p++) {
    const ref_cache *c = &ref.part[p];
    for (uint64_t i = 0; i < c->sets; i++)
      for (uint32_t k = 0; k < c->n[i]; k++)
        left += (unsigned)__builtin_popcount(c->lines[i * at->ways + k].dirty);
  }
  assert_int_equal(model_memory_clean(&m), left);
  assert_int_equal(model_memory_clean(&m), 0);
  for (uint32_t p = 0; p < parts; p++) ref_free(&ref.part[p]);
  model_memory_free(&m);
}

static void l2_does_what_lists_of_lines_do(void **state) {
  static const geometry all[] = {{1, 1, 32, 4},    {4, 8, 32, 60},   {8, 6, 32, 70},  {16, 3, 128, 80},
                                 {20, 7, 64, 200}, {64, 2, 32, 190}, {17, 1, 128, 25}};
  for (uint32_t parts = 1; parts <= 2; parts++)
    for (int ranked_from = 0; ranked_from <= 60000; ranked_from += 30000) /* always, from the middle, never */
      for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        against_reference(i + 1, &all[i], parts, ranked_from);
}

/* Hits, in lines, on 64 lines that are read again and again beside a stream. The stream reads 512 other lines
 * between two of their readings. */
static uint64_t survivors(unsigned kept, unsigned streamed) {
  hd_gpu g = synth_gpu();
  model_memory m;
  assert_true(model_memory_init(&m, &g));
  model_memory_rank(&m);
  for (uint32_t k = 0; k < 64 * 20; k++) {
    for (uint32_t line = 0; line < 64 && k % 64 == 0; line++) { /* a quarter of the cache */
      model_request q = {.line = line, .mask = 15, .set = model_memory_set(&m, 0, line)};
      model_memory_read(&m, 0, &q, 1, kept);
    }
    for (uint32_t j = 0; j < 8; j++) {
      uint32_t line = 1000 + 8 * k + j;
      model_request q = {.line = line, .mask = 15, .set = model_memory_set(&m, 0, line)};
      model_memory_read(&m, 0, &q, 1, streamed);
    }
  }
  uint64_t hits = m.hits;
  model_memory_free(&m);
  return hits / 4;
}

static void a_stream_evicts_what_its_priority_lets_it(void **state) {
  assert_int_equal(survivors(CACHE_NORMAL, CACHE_NORMAL), 0);
  assert_int_equal(survivors(CACHE_FIRST, CACHE_FIRST), 0);
  assert_int_equal(survivors(CACHE_FIRST, CACHE_NORMAL), 0);
  assert_int_equal(survivors(CACHE_NORMAL, CACHE_FIRST), 64 * 19);
  assert_int_equal(survivors(CACHE_LAST, CACHE_NORMAL), 64 * 19);
}

static void read_line(model_memory *m, uint32_t line, unsigned priority) {
  model_request q = {.line = line, .mask = 1, .set = model_memory_set(m, 0, line)};
  model_memory_read(m, 0, &q, 1, priority);
}

/* Lines that go first use the ways that no other line uses. */
static void a_stream_alone_has_the_whole_cache(void **state) {
  hd_gpu g = synth_gpu();
  model_memory m;
  assert_true(model_memory_init(&m, &g));
  model_memory_rank(&m);
  for (uint32_t k = 0; k < 2 * 256; k++) read_line(&m, k % 256, CACHE_FIRST);
  assert_int_equal(m.hits, 256);
  model_memory_free(&m);
}

/* Lines of others that nobody reads any more keep their ways against lines that go first. */
static void beside_lines_of_others_a_stream_has_one_way(void **state) {
  for (int priority = CACHE_NORMAL; priority <= CACHE_FIRST; priority++) {
    hd_gpu g = synth_gpu();
    model_memory m;
    assert_true(model_memory_init(&m, &g));
    model_cache_rank(&m.l2[0], true);
    for (uint32_t k = 0; k < 2 * 256; k++) read_line(&m, k % 256, (unsigned)priority);
    assert_int_equal(m.hits, priority == CACHE_FIRST ? 0 : 256);
    /* One line of each set is there still. */
    uint32_t found = 0;
    for (uint32_t line = 0; line < 256; line++)
      found += model_set_find(&m.l2[0], model_memory_set(&m, 0, line), line) < m.l2[0].ways;
    assert_int_equal(found, priority == CACHE_FIRST ? m.l2[0].sets : 256);
    model_memory_free(&m);
  }
}

static void a_hashed_set_index_spreads_neighbours_and_large_strides(void **state) {
  static const uint32_t sets[] = {1, 3, 32, 128, 768, 25600};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    hd_cache_config g = {.line = 128, .sector = 32, .ways = 4, .hashed = true};
    model_cache c;
    model_cache_plan(&c, &g, (uint64_t)sets[k] * 4 * 128);
    assert_int_equal(c.sets, sets[k]);
    c.store = model_store_alloc((size_t)c.sets * c.set_bytes);
    uint32_t *seen = calloc(sets[k], sizeof *seen);
    for (uint32_t line = 5 * sets[k]; line < 6 * sets[k]; line++) /* one run: each set once */
      assert_int_equal(seen[(model_cache_set(&c, line) - c.store) / c.set_bytes]++, 0);
    memset(seen, 0, sets[k] * sizeof *seen);
    uint32_t used = 0;
    for (uint32_t i = 0; i < 1000; i++) {
      uint64_t at = (uint64_t)(model_cache_set(&c, i * (1u << 15)) - c.store) / c.set_bytes;
      assert_in_range(at, 0, sets[k] - 1);
      used += !seen[at]++;
    }
    assert_in_range(used, sets[k] < 1000 ? (sets[k] + 1) / 2 : 500, 1000);
    free(seen);
    free(c.store);
  }
}

static void a_plain_set_index_is_the_remainder(void **state) {
  rng r = {3, 0};
  for (int k = 0; k < 2000; k++) {
    hd_cache_config g = {.line = 128, .sector = 32, .ways = 1};
    model_cache c;
    uint32_t sets = 1 + (uint32_t)below(&r, 1 << 20), line = (uint32_t)next(&r);
    model_cache_plan(&c, &g, (uint64_t)sets * 128);
    assert_int_equal((uint64_t)(model_cache_set(&c, line) - c.store) / c.set_bytes, line % sets);
  }
}

static void lines_in_flight_stay_so_until_they_arrive(void **state) {
  hd_gpu g = synth_gpu();
  model_memory m;
  assert_true(model_memory_init(&m, &g));
  uint64_t now = 0;
  for (uint32_t k = 0; k < 3000; k++) { /* well beyond 16 bits of cycles */
    model_memory_begin_epoch(&m, now, now + 1000);
    model_request q = {.line = k, .cycle = now, .mask = 1, .set = model_memory_set(&m, 0, k)};
    model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
    assert_int_equal(q.wait, g.dram_latency);
    q.cycle = now + 100; /* another asks for it meanwhile: it waits for the same data */
    model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
    assert_in_range(q.wait, g.dram_latency - 100 - CACHE_TICK, g.dram_latency - 100);
    q.cycle = now + 900;
    model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
    assert_int_equal(q.wait, g.l2.latency);
    now += 1000 + (k % 100 ? k % 700 : 200000 + 1000 * k);
  }
  assert_int_equal(m.hits, 6000);
  model_memory_free(&m);
}

static void a_level_asked_for_too_much_makes_the_next_epoch_wait(void **state) {
  hd_gpu g = synth_gpu();
  model_memory m;
  assert_true(model_memory_init(&m, &g));
  model_request q = {.mask = 15};
  for (uint32_t k = 0; k < 100; k++) {
    q.line = k;
    q.set = model_memory_set(&m, 0, k);
    model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
    assert_int_equal(q.wait, g.dram_latency);
  }
  model_memory_end_epoch(&m, 100); /* 12800 bytes asked: DRAM gives 6400 in that time, L2 25600 */
  q.line = 200;
  q.set = model_memory_set(&m, 0, q.line);
  model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
  assert_int_equal(q.wait, g.dram_latency + 6400 / 64);
  model_memory_end_epoch(&m, 1000);
  q.line = 300;
  q.set = model_memory_set(&m, 0, q.line);
  model_memory_read(&m, 0, &q, 1, CACHE_NORMAL);
  assert_int_equal(q.wait, g.dram_latency);
  model_memory_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(l2_does_what_lists_of_lines_do),
      cmocka_unit_test(a_stream_evicts_what_its_priority_lets_it),
      cmocka_unit_test(a_stream_alone_has_the_whole_cache),
      cmocka_unit_test(beside_lines_of_others_a_stream_has_one_way),
      cmocka_unit_test(a_hashed_set_index_spreads_neighbours_and_large_strides),
      cmocka_unit_test(a_plain_set_index_is_the_remainder),
      cmocka_unit_test(lines_in_flight_stay_so_until_they_arrive),
      cmocka_unit_test(a_level_asked_for_too_much_makes_the_next_epoch_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
