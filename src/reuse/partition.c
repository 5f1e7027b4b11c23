/* Cutting the affinity graph: SMC's greedy enlargement, METIS, and what a cut costs. */
#include <metis.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/reuse.h"

static const uint32_t none = UINT32_MAX;

double hd_affinity_cut(const hd_affinity *a, const uint32_t *part) {
  uint64_t cut = 0, all = 0;
  for (uint32_t t = 0; t < a->n; t++)
    for (uint64_t i = a->first[t]; i < a->first[t + 1]; i++) {
      all += a->weight[i];
      if (part[t] != part[a->to[i]]) cut += a->weight[i];
    }
  return all ? (double)cut / (double)all : 0;
}

static hd_status check_parts(const hd_affinity *a, uint32_t parts, hd_diag *d) {
  return parts >= 1 && parts <= a->n
             ? HD_OK
             : hd_fail(d, HD_ERR_USAGE, "%u clusters of %u tasks: 1 to %u can be made", parts, a->n, a->n);
}

/* ---- Greedy (SMC 5.2) ---------------------------------------------------------------- */

typedef struct greedy {
  const hd_affinity *a;
  uint32_t parts, *part;
  uint32_t *order; /* the vertices in a random order */
  uint64_t *next;  /* per vertex: its edges before this one, heaviest first, lead to vertices taken already */
  uint32_t *sorted; /* edges of each vertex, heaviest first: indices into a->to */
  uint32_t *member; /* vertices by cluster: cluster p's are at start[p] .. start[p] + size[p] */
  uint64_t *start;
  uint32_t *size;
  uint64_t seed, draw;
} greedy;

static uint32_t below(greedy *g, uint32_t n) {
  return (uint32_t)(((hd_random_at(g->seed, g->draw++) >> 32) * n) >> 32);
}

static void take(greedy *g, uint32_t vertex, uint32_t p) {
  g->part[vertex] = p;
  g->member[g->start[p] + g->size[p]++] = vertex;
}

/* Step 1: seeds with little affinity among them. The first one of each connected graph, then vertices whose
 * affinity with all seeds is at most a threshold that grows from 0 by tenths. */
static uint32_t choose_seeds(greedy *g, uint32_t *mark, uint32_t *stack) {
  const hd_affinity *a = g->a;
  uint32_t seeds = 0;
  for (uint32_t i = 0; i < a->n && seeds < g->parts; i++) { /* mark: graph seen */
    uint32_t root = g->order[i], n = 0;
    if (mark[root]) continue;
    take(g, root, seeds++);
    mark[stack[n++] = root] = 1;
    while (n) {
      uint32_t v = stack[--n];
      for (uint64_t e = a->first[v]; e < a->first[v + 1]; e++)
        if (!mark[a->to[e]]) mark[stack[n++] = a->to[e]] = 1;
    }
  }
  for (unsigned tenth = 0; tenth <= 10 && seeds < g->parts; tenth++)
    for (uint32_t i = 0; i < a->n && seeds < g->parts; i++) {
      uint32_t v = g->order[i];
      uint64_t e = a->first[v];
      if (g->part[v] != none) continue;
      while (e < a->first[v + 1] && (g->part[a->to[e]] == none || a->weight[e] <= tenth * 6554u)) e++;
      if (e == a->first[v + 1]) take(g, v, seeds++);
    }
  return seeds;
}

/* Step 2: each vertex's neighbours in descending affinity. Counting by weight would take 65536 places a
 * vertex; the lists are short. */
typedef struct weighted {
  uint32_t edge;
  uint16_t weight;
} weighted;

static int heavier_first(const void *x, const void *y) {
  const weighted *a = x, *b = y;
  if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
  return (a->edge > b->edge) - (a->edge < b->edge);
}

static bool sort_edges(greedy *g) {
  uint64_t longest = 1;
  for (uint32_t v = 0; v < g->a->n; v++)
    if (g->a->first[v + 1] - g->a->first[v] > longest) longest = g->a->first[v + 1] - g->a->first[v];
  weighted *list = malloc(longest * sizeof *list);
  if (!list) return false;
  for (uint32_t v = 0; v < g->a->n; v++) {
    uint64_t first = g->a->first[v], n = g->a->first[v + 1] - first;
    for (uint64_t i = 0; i < n; i++) list[i] = (weighted){(uint32_t)i, g->a->weight[first + i]};
    qsort(list, n, sizeof *list, heavier_first);
    for (uint64_t i = 0; i < n; i++) g->sorted[first + i] = g->a->to[first + list[i].edge];
  }
  free(list);
  return true;
}

/* The heaviest neighbour of v that no cluster has. */
static uint32_t best_free(greedy *g, uint32_t v) {
  for (uint64_t *i = &g->next[v]; *i < g->a->first[v + 1]; ++*i)
    if (g->part[g->sorted[*i]] == none) return g->sorted[*i];
  return none;
}

/* Step 3: the clusters take turns; a member chosen at random brings in its heaviest neighbour. Where that has
 * none left, a few others are asked; then any free vertex is taken, as clusters have to become equally large.
 */
static void enlarge(greedy *g) {
  enum { TRIES = 8 };
  uint32_t n = g->a->n, placed = 0, cursor = 0;
  for (uint32_t p = 0; p < g->parts; p++) placed += g->size[p];
  while (placed < n)
    for (uint32_t p = 0; p < g->parts && placed < n; p++) {
      if (g->size[p] == g->start[p + 1] - g->start[p]) continue;
      uint32_t v = none;
      for (unsigned i = 0; v == none && i < TRIES && g->size[p]; i++)
        v = best_free(g, g->member[g->start[p] + below(g, g->size[p])]);
      while (v == none) {
        if (g->part[g->order[cursor]] == none) v = g->order[cursor];
        cursor++;
      }
      take(g, v, p);
      placed++;
    }
}

hd_status hd_affinity_greedy(const hd_affinity *a, uint32_t parts, uint64_t seed, uint32_t *part,
                             hd_diag *d) {
  hd_status st = check_parts(a, parts, d);
  if (st != HD_OK) return st;
  size_t n = a->n;
  greedy g = {.a = a, .parts = parts, .part = part, .seed = seed};
  uint32_t *mark = calloc(n, sizeof *mark), *stack = malloc(n * sizeof *stack);
  g.order = malloc(n * sizeof *g.order);
  g.next = malloc(n * sizeof *g.next);
  g.sorted = malloc((a->first[n] + 1) * sizeof *g.sorted);
  g.member = malloc(n * sizeof *g.member);
  g.start = malloc(((size_t)parts + 1) * sizeof *g.start);
  g.size = calloc(parts, sizeof *g.size);
  bool ok = mark && stack && g.order && g.next && g.sorted && g.member && g.start && g.size;
  if (ok) {
    memset(part, 0xff, n * sizeof *part);
    memcpy(g.next, a->first, n * sizeof *g.next);
    for (uint32_t p = 0; p <= parts; p++) g.start[p] = hd_cluster_start(n, parts, p);
    g.start[parts] = n;
    for (uint32_t i = 0; i < n; i++) { /* inside-out shuffle */
      uint32_t j = below(&g, i + 1);
      g.order[i] = i;
      g.order[i] = g.order[j];
      g.order[j] = i;
    }
    choose_seeds(&g, mark, stack);
    ok = sort_edges(&g);
  }
  if (ok) enlarge(&g);
  free(mark);
  free(stack);
  free(g.order);
  free(g.next);
  free(g.sorted);
  free(g.member);
  free(g.start);
  free(g.size);
  return ok ? HD_OK : hd_nomem(d);
}

/* ---- METIS ------------------------------------------------------------------------------ */

hd_status hd_affinity_metis(const hd_affinity *a, uint32_t parts, uint64_t seed, uint32_t *part, hd_diag *d) {
  hd_status st = check_parts(a, parts, d);
  if (st != HD_OK) return st;
  if (parts == 1) {
    memset(part, 0, a->n * sizeof *part);
    return HD_OK;
  }
  if (a->first[a->n] > INT32_MAX || a->n > INT32_MAX)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the affinity graph has too many edges for METIS");
  size_t edges = a->first[a->n];
  idx_t n = (idx_t)a->n, constraints = 1, k = (idx_t)parts, cut, options[METIS_NOPTIONS];
  idx_t *first = malloc(((size_t)n + 1) * sizeof *first), *to = malloc((edges + 1) * sizeof *to);
  idx_t *weight = malloc((edges + 1) * sizeof *weight), *out = malloc((size_t)n * sizeof *out);
  int rc = METIS_ERROR_MEMORY;
  if (first && to && weight && out) {
    for (size_t i = 0; i <= a->n; i++) first[i] = (idx_t)a->first[i];
    for (size_t i = 0; i < edges; i++) {
      to[i] = (idx_t)a->to[i];
      weight[i] = a->weight[i];
    }
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(seed & INT32_MAX);
    rc = METIS_PartGraphKway(&n, &constraints, first, to, NULL, NULL, weight, &k, NULL, NULL, options, &cut,
                             out);
    for (size_t i = 0; rc == METIS_OK && i < a->n; i++) part[i] = (uint32_t)out[i];
  }
  free(first);
  free(to);
  free(weight);
  free(out);
  if (rc == METIS_ERROR_MEMORY) return hd_fail(d, HD_ERR_NOMEM, "out of memory for METIS");
  return rc == METIS_OK ? HD_OK : hd_fail(d, HD_ERR_UNSUPPORTED, "METIS cannot cut this graph (%d)", rc);
}
