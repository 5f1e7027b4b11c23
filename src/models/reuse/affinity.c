/* The affinity graph: sets of data blocks per task, inverted to tasks per block, counted into edges. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/reuse.h"
#include "reuse/lines.h"

enum {
  DEFAULT_BLOCK = 128,
  DEFAULT_NEIGHBOURS = 64,
  DEFAULT_SHARERS = 1024,
  MAX_BLOCK = 1 << 20,
  MAX_PARALLEL = 64
};
static const uint64_t default_budget = 16 << 20;
static const double default_threshold = 0.05;

/* ---- The sets -------------------------------------------------------------------- */

/* Block numbers that each task names: set of task i is block[first[i] .. first[i+1]). When there are more
 * than the budget, every block whose hash has a further bit set is dropped from all sets: what stays is the
 * same sample of the blocks for each task, so that Jaccard indices are estimated without bias. */
typedef struct block_sets {
  uint32_t shift; /* log2 of a block's bytes */
  uint64_t budget;
  unsigned sampling; /* blocks whose hash has this many low bits clear are followed */
  reuse_lines numbers;
  HD_VEC(uint64_t) key;  /* per number: the block */
  HD_VEC(uint32_t) seen; /* per number: task + 1 that named it last */
  HD_VEC(uint32_t) block;
  uint64_t *first;
  uint64_t current; /* the task whose set grows at the end of `block` */
  bool failed;
} block_sets;

static bool followed(const block_sets *s, uint64_t key) {
  return (hd_random_at(key, 0) & ((1ull << s->sampling) - 1)) == 0;
}

/* Halve the sample until it fits. The sets made so far are filtered in place. */
static void drop_blocks(block_sets *s) {
  while (s->block.n > s->budget && s->sampling < 60) {
    s->sampling++;
    uint64_t out = 0, in = 0;
    for (uint64_t t = 0; t <= s->current; t++) {
      uint64_t end = t == s->current ? s->block.n : s->first[t + 1];
      s->first[t] = out;
      for (; in < end; in++)
        if (followed(s, s->key.data[s->block.data[in]])) s->block.data[out++] = s->block.data[in];
    }
    s->block.n = out;
  }
}

static void on_access(void *ctx, const hd_trace_event *e) {
  block_sets *s = ctx;
  uint32_t mark = (uint32_t)e->task + 1;
  for (uint32_t i = 0; i < e->n && !s->failed; i++)
    for (uint64_t key = e->start[i] >> s->shift; key <= (e->start[i] + e->bytes[i] - 1) >> s->shift; key++) {
      if (!followed(s, key)) continue;
      uint32_t number = reuse_lines_number(&s->numbers, key);
      if (number == UINT32_MAX ||
          (number == s->key.n && (!hd_vec_push(&s->key, key) || !hd_vec_push(&s->seen, 0u)))) {
        s->failed = true;
        return;
      }
      if (s->seen.data[number] == mark) continue;
      s->seen.data[number] = mark;
      if (!hd_vec_push(&s->block, number)) s->failed = true;
      if (s->block.n > s->budget) drop_blocks(s);
    }
}

static void free_sets(block_sets *s) {
  reuse_lines_free(&s->numbers);
  hd_vec_free(&s->key);
  hd_vec_free(&s->seen);
  hd_vec_free(&s->block);
  free(s->first);
  s->first = NULL;
}

/* Tasks are gone through in slices, at once on several threads. How many slices there are follows from the
 * number of tasks alone, so that neither the sets nor the sample depend on the number of threads. */
enum { MOST_SLICES = 64, LEAST_SLICE = 1024 };

typedef struct slicing {
  const hd_trace *trace;
  uint64_t n; /* tasks */
  unsigned slices;
  atomic_uint next;
  atomic_bool failed; /* memory ran out */
  block_sets of[MOST_SLICES];
} slicing;

static uint64_t slice_begin(const slicing *j, unsigned slice) { return j->n * slice / j->slices; }

static bool make_slice(const slicing *j, unsigned slice, block_sets *s) {
  uint64_t from = slice_begin(j, slice), n = slice_begin(j, slice + 1) - from;
  s->first = calloc(n + 1, sizeof *s->first);
  if (!s->first) return false;
  for (s->current = 0; s->current < n; s->current++) {
    s->first[s->current] = s->block.n;
    if (hd_trace_walk(j->trace, from + s->current, 1, on_access, s, NULL) != HD_OK || s->failed) return false;
  }
  s->first[n] = s->block.n;
  return true;
}

static void make_slices(void *ctx, unsigned worker) {
  slicing *j = ctx;
  for (unsigned i; (i = atomic_fetch_add(&j->next, 1)) < j->slices;)
    if (!make_slice(j, i, &j->of[i])) atomic_store(&j->failed, true);
}

/* Add a slice's sets to all. `number` has room for one per block of the slice: its number among all. */
static bool add_slice(const block_sets *slice, uint64_t tasks, uint64_t from, uint32_t *number,
                      block_sets *s) {
  for (size_t b = 0; b < slice->key.n; b++) number[b] = UINT32_MAX;
  for (uint64_t t = 0; t < tasks; t++) {
    s->first[from + t] = s->block.n;
    for (uint64_t i = slice->first[t]; i < slice->first[t + 1]; i++) {
      uint32_t b = slice->block.data[i];
      uint64_t key = slice->key.data[b];
      if (!followed(s, key)) continue;
      if (number[b] == UINT32_MAX) {
        number[b] = reuse_lines_number(&s->numbers, key);
        if (number[b] == UINT32_MAX || (number[b] == s->key.n && !hd_vec_push(&s->key, key))) return false;
      }
      if (!hd_vec_push(&s->block, number[b])) return false;
    }
  }
  return true;
}

/* All slices' sets, of the sample that fits for all of them. */
static bool join_slices(slicing *j, block_sets *s) {
  bool ok = true;
  for (unsigned i = 0; i < j->slices; i++)
    if (j->of[i].sampling > s->sampling) s->sampling = j->of[i].sampling;
  s->first = calloc(j->n + 1, sizeof *s->first);
  for (unsigned i = 0; i < j->slices; i++) {
    uint64_t from = slice_begin(j, i), n = slice_begin(j, i + 1) - from;
    uint32_t *number = malloc((j->of[i].key.n + 1) * sizeof *number);
    ok = ok && s->first && number && add_slice(&j->of[i], n, from, number, s);
    free(number);
    free_sets(&j->of[i]);
  }
  if (ok) s->first[j->n] = s->block.n;
  return ok;
}

static hd_status make_sets(block_sets *s, const hd_trace *t, unsigned threads, hd_diag *d) {
  hd_status st = hd_trace_walk(t, 0, 0, on_access, s, d); /* can be walked at all */
  slicing *j = st == HD_OK ? calloc(1, sizeof *j) : NULL;
  if (!j) return st == HD_OK ? hd_nomem(d) : st;
  j->trace = t;
  j->n = hd_trace_tasks(t);
  j->slices = j->n / LEAST_SLICE < MOST_SLICES ? (unsigned)(j->n / LEAST_SLICE) + 1 : MOST_SLICES;
  for (unsigned i = 0; i < j->slices; i++)
    j->of[i] = (block_sets){.shift = s->shift, .budget = s->budget / j->slices};
  if (!hd_parallel(threads < j->slices ? threads : j->slices, make_slices, j))
    make_slices(j, 0); /* those that no thread has taken */
  bool ok = !atomic_load(&j->failed) && join_slices(j, s);
  for (unsigned i = 0; i < j->slices; i++) free_sets(&j->of[i]);
  free(j);
  return ok ? HD_OK : hd_fail(d, HD_ERR_NOMEM, "out of memory for the tasks' data blocks");
}

/* ---- Inversion --------------------------------------------------------------------- */

/* Tasks that name each block: task[first[b] .. first[b+1]), ascending. Blocks that bind nothing (one task, or
 * too many) leave both the inversion and the sets. */
typedef struct sharers {
  uint64_t *first;
  uint32_t *task;
  uint64_t blocks, popular;
} sharers;

static hd_status invert(block_sets *s, uint64_t n, uint32_t max_sharers, sharers *out, hd_diag *d) {
  uint64_t blocks = s->key.n;
  uint32_t *count = calloc(blocks + 1, sizeof *count);
  out->first = calloc(blocks + 2, sizeof *out->first);
  if (!count || !out->first) {
    free(count);
    return hd_nomem(d);
  }
  for (uint64_t i = 0; i < s->block.n; i++) count[s->block.data[i]]++;
  uint64_t kept = 0, sum = 0;
  for (uint64_t t = 0; t < n; t++) {
    uint64_t from = s->first[t];
    s->first[t] = kept;
    for (uint64_t i = from; i < s->first[t + 1]; i++)
      if (count[s->block.data[i]] <= max_sharers) s->block.data[kept++] = s->block.data[i];
  }
  s->first[n] = s->block.n = kept;
  for (uint64_t b = 0; b < blocks; b++) {
    out->blocks += count[b] > 0;
    out->popular += count[b] > max_sharers;
    out->first[b] = sum;
    sum += count[b] <= max_sharers ? count[b] : 0;
  }
  out->first[blocks] = sum;
  out->task = malloc((sum + 1) * sizeof *out->task);
  if (out->task) {
    memset(count, 0, blocks * sizeof *count);
    for (uint64_t t = 0; t < n; t++)
      for (uint64_t i = s->first[t]; i < s->first[t + 1]; i++) {
        uint32_t b = s->block.data[i];
        out->task[out->first[b] + count[b]++] = (uint32_t)t;
      }
  }
  free(count);
  return out->task ? HD_OK : hd_nomem(d);
}

/* ---- Edges --------------------------------------------------------------------------- */

typedef struct edge {
  uint32_t to;
  uint16_t weight;
} edge;

typedef HD_VEC(edge) edge_list;

typedef struct counting {
  const block_sets *sets;
  const sharers *by_block;
  uint32_t n, max_neighbours;
  double threshold;
  edge_list list[MAX_PARALLEL]; /* per worker: the edges of its tasks, one task after the other */
  uint64_t *first;              /* [n + 1] per task: how many edges it has, in first[task + 1] */
  unsigned workers;
  atomic_bool failed;
} counting;

static int heavier_first(const void *a, const void *b) {
  const edge *x = a, *y = b;
  if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
  return (x->to > y->to) - (x->to < y->to);
}

static int by_neighbour(const void *a, const void *b) {
  const edge *x = a, *y = b;
  return (x->to > y->to) - (x->to < y->to);
}

static uint64_t set_size(const block_sets *s, uint64_t t) { return s->first[t + 1] - s->first[t]; }

/* Edges of one task: how many blocks it shares with each other task, counted over its blocks' sharers. */
static bool count_task(counting *c, edge_list *out, uint32_t t, uint32_t *common, uint32_t *touched) {
  uint32_t n_touched = 0;
  for (uint64_t i = c->sets->first[t]; i < c->sets->first[t + 1]; i++) {
    uint32_t b = c->sets->block.data[i];
    for (uint64_t k = c->by_block->first[b]; k < c->by_block->first[b + 1]; k++) {
      uint32_t u = c->by_block->task[k];
      if (!common[u]++) touched[n_touched++] = u;
    }
  }
  size_t start = out->n;
  bool ok = true;
  for (uint32_t i = 0; i < n_touched; i++) {
    uint32_t u = touched[i], both = common[u];
    common[u] = 0;
    if (u == t || !ok) continue;
    double affinity = (double)both / (double)(set_size(c->sets, t) + set_size(c->sets, u) - both);
    if (affinity < c->threshold) continue;
    uint16_t weight = (uint16_t)(affinity * 65535 + 0.5);
    edge e = {u, weight ? weight : 1};
    ok = hd_vec_push(out, e);
  }
  uint32_t found = (uint32_t)(out->n - start);
  if (found > c->max_neighbours) {
    qsort(out->data + start, found, sizeof(edge), heavier_first);
    out->n = start + c->max_neighbours;
    found = c->max_neighbours;
  }
  if (found) qsort(out->data + start, found, sizeof(edge), by_neighbour);
  c->first[t + 1] = found;
  return ok;
}

/* Worker i of k: the tasks from n i/k up to n (i+1)/k. */
static uint32_t slice(const counting *c, unsigned worker) {
  return (uint32_t)((uint64_t)c->n * worker / c->workers);
}

static void count_slice(void *ctx, unsigned worker) {
  counting *c = ctx;
  uint32_t *common = calloc(c->n, sizeof *common), *touched = malloc(c->n * sizeof *touched);
  bool ok = common && touched;
  for (uint32_t t = slice(c, worker); ok && t < slice(c, worker + 1); t++)
    ok = count_task(c, &c->list[worker], t, common, touched);
  if (!ok) atomic_store(&c->failed, true);
  free(common);
  free(touched);
}

/* Each task kept its own strongest edges: an edge that one end kept belongs to both. */
static hd_status join(counting *c, hd_affinity *out, hd_diag *d) {
  uint64_t *at = calloc((size_t)c->n + 2, sizeof *at);
  uint32_t n = c->n;
  if (!at) return hd_nomem(d);
  for (unsigned w = 0; w < c->workers; w++) { /* room for both directions of everything kept */
    size_t k = 0;
    for (uint32_t t = slice(c, w); t < slice(c, w + 1); t++)
      for (uint64_t i = 0; i < c->first[t + 1]; i++, k++) {
        at[t + 1]++;
        at[c->list[w].data[k].to + 1]++;
      }
  }
  for (uint32_t t = 0; t < n; t++) at[t + 1] += at[t];
  uint64_t total = at[n];
  edge *all = malloc((total + 1) * sizeof *all);
  uint64_t *fill = malloc(((size_t)n + 1) * sizeof *fill);
  out->first = calloc((size_t)n + 1, sizeof *out->first);
  if (!all || !fill || !out->first) {
    free(at);
    free(all);
    free(fill);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for %llu edges", (unsigned long long)total);
  }
  memcpy(fill, at, (size_t)n * sizeof *fill);
  for (unsigned w = 0; w < c->workers; w++) {
    size_t k = 0;
    for (uint32_t t = slice(c, w); t < slice(c, w + 1); t++)
      for (uint64_t i = 0; i < c->first[t + 1]; i++, k++) {
        edge e = c->list[w].data[k];
        all[fill[t]++] = e;
        all[fill[e.to]++] = (edge){t, e.weight};
      }
    hd_vec_free(&c->list[w]);
  }
  uint64_t kept = 0;
  for (uint32_t t = 0; t < n; t++) {
    uint64_t from = at[t], end = at[t + 1];
    if (end > from) qsort(all + from, end - from, sizeof *all, by_neighbour);
    out->first[t] = kept;
    for (uint64_t i = from; i < end; i++)
      if (kept == out->first[t] || all[kept - 1].to != all[i].to) all[kept++] = all[i];
  }
  out->first[n] = kept;
  out->to = malloc((kept + 1) * sizeof *out->to);
  out->weight = malloc((kept + 1) * sizeof *out->weight);
  for (uint64_t i = 0; out->to && out->weight && i < kept; i++) {
    out->to[i] = all[i].to;
    out->weight[i] = all[i].weight;
  }
  free(at);
  free(all);
  free(fill);
  return out->to && out->weight ? HD_OK : hd_nomem(d);
}

static hd_status make_edges(const block_sets *s, const sharers *by_block, const hd_affinity_options *o,
                            uint32_t n, hd_affinity *out, hd_diag *d) {
  counting *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  *c = (counting){.sets = s,
                  .by_block = by_block,
                  .n = n,
                  .max_neighbours = o->max_neighbours ? o->max_neighbours : DEFAULT_NEIGHBOURS,
                  .threshold = o->threshold > 0 ? o->threshold : default_threshold,
                  .workers = o->threads ? o->threads : hd_cpu_count()};
  if (c->workers > MAX_PARALLEL) c->workers = MAX_PARALLEL;
  if (c->workers > n) c->workers = n;
  c->first = calloc((size_t)n + 1, sizeof *c->first);
  hd_status st = HD_OK;
  if (!c->first) {
    st = hd_nomem(d);
  } else {
    if (!hd_parallel(c->workers, count_slice, c)) { /* threads could not be had: alone, then */
      for (unsigned w = 0; w < c->workers; w++) c->list[w].n = 0;
      for (unsigned w = 0; w < c->workers; w++) count_slice(c, w);
    }
    if (atomic_load(&c->failed)) st = hd_fail(d, HD_ERR_NOMEM, "out of memory while counting shared blocks");
    if (st == HD_OK) st = join(c, out, d);
  }
  for (unsigned w = 0; w < MAX_PARALLEL; w++) hd_vec_free(&c->list[w]);
  free(c->first);
  free(c);
  return st;
}

hd_status hd_affinity_build(const hd_trace *t, const hd_affinity_options *o, hd_affinity *out, hd_diag *d) {
  static const hd_affinity_options defaults = {0};
  memset(out, 0, sizeof *out);
  if (!o) o = &defaults;
  uint32_t block = o->block ? o->block : DEFAULT_BLOCK;
  uint64_t n = hd_trace_tasks(t);
  if (block < 32 || block > MAX_BLOCK || (block & (block - 1)))
    return hd_fail(d, HD_ERR_USAGE, "data blocks of %u bytes: a power of two from 32 to %d", block,
                   MAX_BLOCK);
  if (n > 1u << 31) return hd_fail(d, HD_ERR_UNSUPPORTED, "too many tasks for an affinity graph");
  block_sets s = {.shift = (uint32_t)__builtin_ctz(block), .budget = o->budget ? o->budget : default_budget};
  sharers by_block = {0};
  hd_status st = make_sets(&s, t, o->threads ? o->threads : hd_cpu_count(), d);
  if (st == HD_OK) st = invert(&s, n, o->max_sharers ? o->max_sharers : DEFAULT_SHARERS, &by_block, d);
  if (st == HD_OK) st = make_edges(&s, &by_block, o, (uint32_t)n, out, d);
  out->n = (uint32_t)n;
  out->blocks = by_block.blocks;
  out->popular = by_block.popular;
  out->sampled = ldexp(1, -(int)s.sampling);
  free(by_block.first);
  free(by_block.task);
  free_sets(&s);
  if (st != HD_OK) hd_affinity_free(out);
  return st;
}

void hd_affinity_free(hd_affinity *a) {
  free(a->first);
  free(a->to);
  free(a->weight);
  *a = (hd_affinity){0};
}

/* ---- DOT -------------------------------------------------------------------------------- */

/* The weight above which at most `edges` edges lie (both directions counted once). */
static unsigned weight_cut(const hd_affinity *a, uint64_t edges) {
  uint64_t *count = calloc(65536, sizeof *count), seen = 0;
  unsigned w = 65535;
  if (!count) return 65535;
  for (uint64_t i = 0; i < a->first[a->n]; i++) count[a->weight[i]]++;
  for (; w > 0 && seen + count[w] / 2 <= edges; w--) seen += count[w] / 2;
  free(count);
  return w;
}

void hd_affinity_dot(const hd_affinity *a, uint64_t edges, hd_buf *out) {
  unsigned above = edges && edges < a->first[a->n] / 2 ? weight_cut(a, edges) : 0;
  hd_buf_puts(out, "graph affinity {\n  node [shape=point];\n");
  for (uint32_t t = 0; t < a->n; t++)
    for (uint64_t i = a->first[t]; i < a->first[t + 1]; i++)
      if (a->to[i] > t && a->weight[i] > above)
        hd_buf_printf(out, "  %u -- %u [weight=%u, label=\"%.2f\"];\n", t, a->to[i], 1 + a->weight[i] / 656u,
                      a->weight[i] / 65535.0);
  hd_buf_puts(out, "}\n");
}

hd_status hd_affinity_print(const hd_trace *t, uint64_t edges, hd_buf *out, hd_diag *d) {
  hd_affinity graph;
  const hd_status st = hd_affinity_build(t, NULL, &graph, d);
  if (st != HD_OK) return st;
  hd_affinity_dot(&graph, edges, out);
  hd_affinity_free(&graph);
  return HD_OK;
}
