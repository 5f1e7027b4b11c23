/* An order from the affinity graph: each next task is the one with most affinity to the last ones. Also the
 * order of tasks by their work. */
#include <stdlib.h>

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

/* Line up all tasks into `out`. Key of a task: its affinity with the last `window` tasks. */
static void walk(const hd_affinity *a, heap *h, uint32_t window, uint32_t *out) {
  h->n = a->n;
  for (uint32_t t = 0; t < a->n; t++) put(h, t, t); /* ascending numbers and equal keys: a heap already */
  for (uint32_t k = 0; k < a->n; k++) {
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

hd_status hd_affinity_order(const hd_affinity *a, uint32_t window, hd_table *out, hd_diag *d) {
  *out = (hd_table){0};
  size_t n = a->n;
  heap h = {.task = malloc(n * sizeof *h.task),
            .place = malloc(n * sizeof *h.place),
            .key = calloc(n, sizeof *h.key)};
  uint32_t *task = malloc(n * sizeof *task);
  hd_status st = h.task && h.place && h.key && task ? HD_OK : hd_nomem(d);
  if (st == HD_OK) {
    walk(a, &h, window ? window : DEFAULT_WINDOW, task);
    *out = (hd_table){task, n};
    task = NULL;
  }
  free(h.task);
  free(h.place);
  free(h.key);
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
