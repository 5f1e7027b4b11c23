/* From clusters to an order: a walk through the affinity graph that stays where it is. */
#include <stdlib.h>
#include <string.h>

#include "heddle/reuse.h"

enum { DEFAULT_WINDOW = 64 };

/* A binary heap of tasks by key, most first (ties: the lower task); keys change both ways. */
typedef struct heap {
  uint32_t *task;  /* [n] */
  uint32_t *place; /* per task: where it stands in `task`; UINT32_MAX: it is out */
  uint64_t *key;   /* per task */
  uint32_t n;
} heap;

static bool before(const heap *h, uint32_t a, uint32_t b) {
  return h->key[a] != h->key[b] ? h->key[a] > h->key[b] : a < b;
}

static void put(heap *h, uint32_t at, uint32_t task) {
  h->task[at] = task;
  h->place[task] = at;
}

static void rise(heap *h, uint32_t at) {
  uint32_t task = h->task[at];
  for (; at && before(h, task, h->task[(at - 1) / 2]); at = (at - 1) / 2) put(h, at, h->task[(at - 1) / 2]);
  put(h, at, task);
}

static void sink(heap *h, uint32_t at) {
  uint32_t task = h->task[at];
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= h->n) break;
    if (child + 1 < h->n && before(h, h->task[child + 1], h->task[child])) child++;
    if (!before(h, h->task[child], task)) break;
    put(h, at, h->task[child]);
    at = child;
  }
  put(h, at, task);
}

static uint32_t pop(heap *h) {
  uint32_t top = h->task[0], last = h->task[--h->n];
  h->place[top] = UINT32_MAX;
  if (h->n) {
    h->task[0] = last;
    sink(h, 0);
  }
  return top;
}

/* Line up the tasks of one cluster, members[0..n), into out[0..n). Key of a task: its affinity with the last
 * `window` tasks of this cluster. */
static void walk_cluster(const hd_affinity *a, heap *h, const uint32_t *members, uint32_t n, uint32_t window,
                         uint32_t *out) {
  h->n = n;
  for (uint32_t i = 0; i < n; i++) { /* ascending numbers and equal keys: a heap already */
    h->key[members[i]] = 0;
    put(h, i, members[i]);
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t t = out[k] = pop(h);
    for (uint64_t i = a->first[t]; i < a->first[t + 1]; i++)
      if (h->place[a->to[i]] != UINT32_MAX) {
        h->key[a->to[i]] += a->weight[i];
        rise(h, h->place[a->to[i]]);
      }
    if (k < window) continue;
    uint32_t left = out[k - window];
    for (uint64_t i = a->first[left]; i < a->first[left + 1]; i++)
      if (h->place[a->to[i]] != UINT32_MAX) {
        h->key[a->to[i]] -= a->weight[i];
        sink(h, h->place[a->to[i]]);
      }
  }
}

hd_status hd_affinity_order(const hd_affinity *a, const uint32_t *part, uint32_t parts, uint32_t window,
                            hd_table *out, hd_diag *d) {
  *out = (hd_table){0};
  size_t n = a->n;
  if (!part) parts = 1;
  if (!window) window = DEFAULT_WINDOW;
  heap h = {.task = malloc(n * sizeof *h.task),
            .place = malloc(n * sizeof *h.place),
            .key = calloc(n, sizeof *h.key)};
  uint64_t *start = calloc((size_t)parts + 2, sizeof *start);
  uint32_t *members = malloc(n * sizeof *members), *task = malloc(n * sizeof *task);
  bool ok = h.task && h.place && h.key && start && members && task;
  hd_status st = ok ? HD_OK : hd_nomem(d);
  for (size_t t = 0; st == HD_OK && part && t < n; t++)
    if (part[t] >= parts) st = hd_fail(d, HD_ERR_USAGE, "task %zu is in cluster %u of %u", t, part[t], parts);
  if (st == HD_OK) {
    memset(h.place, 0xff, n * sizeof *h.place);
    for (size_t t = 0; t < n; t++) start[(part ? part[t] : 0) + 1]++;
    for (uint32_t p = 0; p < parts; p++) start[p + 1] += start[p];
    for (size_t t = 0; t < n; t++) members[start[part ? part[t] : 0]++] = (uint32_t)t;
    for (uint32_t p = parts; p > 0; p--) start[p] = start[p - 1]; /* filling moved each start to its end */
    start[0] = 0;
    for (uint32_t p = 0; p < parts; p++)
      walk_cluster(a, &h, members + start[p], (uint32_t)(start[p + 1] - start[p]), window, task + start[p]);
    *out = (hd_table){task, n};
    task = NULL;
  }
  free(h.task);
  free(h.place);
  free(h.key);
  free(start);
  free(members);
  free(task);
  return st;
}

/* ---- Heavy first ------------------------------------------------------------------- */

typedef struct task_work {
  uint64_t work;
  uint32_t task;
} task_work;

static int more_work_first(const void *a, const void *b) {
  const task_work *x = a, *y = b;
  if (x->work != y->work) return x->work < y->work ? 1 : -1;
  return (x->task > y->task) - (x->task < y->task);
}

hd_status hd_reuse_heavy_first(const hd_trace *t, hd_table *out, hd_diag *d) {
  *out = (hd_table){0};
  uint64_t n = hd_trace_tasks(t);
  if (n > UINT32_MAX) return hd_fail(d, HD_ERR_UNSUPPORTED, "too many tasks to sort by their work");
  task_work *work = malloc(n * sizeof *work);
  uint32_t *task = malloc(n * sizeof *task);
  if (!work || !task) {
    free(work);
    free(task);
    return hd_nomem(d);
  }
  for (uint64_t i = 0; i < n; i++) work[i] = (task_work){hd_trace_task_instructions(t, i), (uint32_t)i};
  qsort(work, n, sizeof *work, more_work_first);
  for (uint64_t i = 0; i < n; i++) task[i] = work[i].task;
  free(work);
  *out = (hd_table){task, n};
  return HD_OK;
}
