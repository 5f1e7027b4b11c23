#include "model/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/limits.h"
#include "model/footprint.h"
#include "model/path.h"

enum {
  ADDRESS_WINDOW_BITS = 40,   /* device memory is one such aligned window of the emulator's addresses */
  SHARED_STREAM_BYTES = 4096, /* longer streams are not looked up for sharing: they hardly ever repeat */
  MAX_WORKERS = 4096,
  BLOCKS = 13, /* of workers: each has as many as all before it, and the first one at least */
};

static const uint64_t default_limit = 8ull << 30;

/* A CTA that has started and not ended. */
typedef struct open_cta {
  uint64_t task;
  bool open;
  model_stream_writer *warps;
  model_path_writer *paths; /* NULL unless paths are kept */
  model_task_writes writes;
} open_cta;

/* One of a worker's distinct streams: a part of its `bytes`. */
typedef struct stream_place {
  size_t offset, length;
} stream_place;

/* The records of one host thread in one recording. No other thread sees them before hd_trace_finish, and none
 * changes them after it: replays read them while further tasks are recorded. */
typedef struct worker {
  HD_VEC(open_cta) ctas;
  size_t latest; /* index of the CTA that the last hook was about */
  HD_VEC(uint8_t) bytes;
  HD_VEC(stream_place) streams;
  model_index index; /* of streams */
  model_footprint foot;
  model_paths paths;
  hd_trace_info info; /* this worker's share of the sums */
  uint32_t slots;     /* the most that a stream uses */
  bool ranked;        /* some access has another priority than the normal one */
  uint64_t charged;   /* bytes of memory accounted for */
  char pad[64];
} worker;

typedef struct task_entry {
  uint64_t warp_instructions;
  uint32_t accesses;       /* UINT32_MAX: as many or more */
  _Atomic uint32_t worker; /* number + 1; 0: it has not ended. Written last */
} task_entry;

struct hd_trace {
  uint32_t threads, warps; /* per task */
  uint64_t tasks;
  hd_emu_hooks hooks;
  task_entry *task;
  /* [tasks * warps]: where each warp starts, and its stream in its worker's list */
  uint64_t *base;
  uint32_t *stream;
  uint32_t *path;         /* the same, of its path; NULL unless paths are kept */
  model_code code;        /* of the module, where paths are kept */
  worker *blocks[BLOCKS]; /* they do not move */
  unsigned first_block;   /* workers of the first one: a power of two */
  unsigned n_workers;
  unsigned at_once, recording; /* host threads of a launch; the first of the workers that now record */
  _Atomic unsigned published;  /* workers whose records are for all to read; 0: never finished */
  _Atomic unsigned shown;      /* workers whose tasks walks and sums show; 0: all that are published */
  uint64_t limit;
  double deadline;          /* 0: none */
  hd_meter *meter;          /* or NULL */
  _Atomic double begun;     /* when the launch's first CTA started, where there is a deadline; 0: not yet */
  _Atomic uint64_t started; /* CTAs, likewise */
  _Atomic uint64_t memory;
  _Atomic int failure;    /* trace_failure, the first one */
  _Atomic uint32_t slots; /* the most that a stream uses */
  _Atomic bool ranked;
  bool open; /* it takes tasks */
  bool gaps; /* tasks may be missing */
  double born;
  pthread_mutex_t lock; /* of info */
  hd_trace_info info;   /* of what is shown */
};

typedef enum trace_failure {
  TRACE_OK = 0,
  TRACE_LIMIT,
  TRACE_LATE,
  TRACE_NOMEM,
  TRACE_ADDRESS,
  TRACE_UNEXPECTED,
  TRACE_TWICE,
} trace_failure;

static const struct {
  hd_status status;
  const char *text;
} failures[] = {
    [TRACE_LIMIT] = {HD_ERR_BUDGET, "the trace needs more than its limit of memory: trace a smaller launch"},
    [TRACE_LATE] = {HD_ERR_BUDGET, "the trace takes longer than it may: trace a smaller launch"},
    [TRACE_NOMEM] = {HD_ERR_NOMEM, "out of memory while tracing"},
    [TRACE_ADDRESS] = {HD_ERR_UNSUPPORTED,
                       "an access lies more than 128 GB above the start of device memory"},
    [TRACE_UNEXPECTED] = {HD_ERR_USAGE,
                          "a trace hook was called for a task, warp or worker that the trace was not "
                          "made for, or that is not running"},
    [TRACE_TWICE] = {HD_ERR_USAGE, "a task ran twice while it was traced"},
};

/* Block k begins with worker first_block * (2^k - 1). */
static unsigned block_of(const hd_trace *t, unsigned number) {
  return (unsigned)(__builtin_clz(t->first_block) - __builtin_clz(number + t->first_block));
}

static worker *worker_at(const hd_trace *t, unsigned number) {
  const unsigned k = block_of(t, number);
  return &t->blocks[k][number + t->first_block - (t->first_block << k)];
}

/* Workers that record next. */
static bool add_workers(hd_trace *t) {
  t->recording = t->n_workers;
  for (unsigned k = block_of(t, t->recording); k <= block_of(t, t->recording + t->at_once - 1); k++) {
    if (!t->blocks[k]) t->blocks[k] = calloc((size_t)t->first_block << k, sizeof *t->blocks[k]);
    if (!t->blocks[k]) return false;
  }
  t->n_workers += t->at_once;
  t->open = true;
  return true;
}

static void fail(hd_trace *t, trace_failure f) {
  int none = TRACE_OK;
  atomic_compare_exchange_strong(&t->failure, &none, f);
}

static bool failed(const hd_trace *t) {
  return atomic_load_explicit(&t->failure, memory_order_relaxed) != TRACE_OK;
}

/* A launch that will miss its deadline by far is ended as soon as its pace shows it. */
static bool is_late(hd_trace *t) {
  static const double telling = 0.15, by_far = 1.25;
  double now = hd_seconds(), none = 0;
  atomic_compare_exchange_strong(&t->begun, &none, now);
  double begun = atomic_load(&t->begun), taken = now - begun, given = t->deadline - begun;
  double started = (double)atomic_fetch_add(&t->started, 1);
  return now >= t->deadline ||
         (taken > telling * given && taken * (double)t->tasks > by_far * given * started);
}

static bool go_on(void *ctx) {
  hd_trace *t = ctx;
  if (t->deadline > 0 && is_late(t)) fail(t, TRACE_LATE);
  return !failed(t);
}

static bool charge(hd_trace *t, uint64_t bytes) {
  uint64_t before = atomic_fetch_add(&t->memory, bytes);
  if (bytes > t->limit || before > t->limit - bytes) {
    fail(t, TRACE_LIMIT);
    return false;
  }
  return true;
}

/* Account for the memory that a worker has taken since the last time. */
static void settle(hd_trace *t, worker *w) {
  uint64_t now = w->bytes.cap + w->streams.cap * sizeof *w->streams.data +
                 w->index.cap * sizeof *w->index.slot + w->foot.memory + model_paths_bytes(&w->paths);
  for (size_t i = 0; i < w->ctas.n; i++) {
    const open_cta *c = &w->ctas.data[i];
    now += t->warps * sizeof *c->warps + c->writes.cap * 3 * sizeof(uint64_t);
    for (uint32_t k = 0; k < t->warps; k++) now += c->warps[k].out.cap;
    for (uint32_t k = 0; c->paths && k < t->warps; k++)
      now += c->paths[k].steps.cap * sizeof *c->paths[k].steps.data;
  }
  if (now > w->charged && charge(t, now - w->charged)) w->charged = now;
}

/* ---- Streams of a worker --------------------------------------------------------- */

static uint64_t hash_stream(const void *of, uint32_t number) {
  const worker *w = of;
  const stream_place *s = &w->streams.data[number];
  return hd_hash(w->bytes.data + s->offset, s->length);
}

/* The number of a stream in the worker's list, an equal one that is there already if there is. */
static bool keep_stream(worker *w, const uint8_t *bytes, size_t n, uint32_t *number) {
  bool share = n <= SHARED_STREAM_BYTES;
  size_t at = 0;
  if (share) {
    const model_index *x = &w->index;
    if (!model_index_room(&w->index, hash_stream, w)) return false;
    at = hd_hash(bytes, n) & (x->cap - 1);
    for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
      const stream_place *s = &w->streams.data[x->slot[at] - 1];
      if (s->length == n && (!n || memcmp(w->bytes.data + s->offset, bytes, n) == 0)) {
        *number = x->slot[at] - 1;
        return true;
      }
    }
  }
  if (w->streams.n >= UINT32_MAX - 1 || !hd_vec_reserve(&w->bytes, w->bytes.n + n)) return false;
  stream_place place = {w->bytes.n, n};
  if (!hd_vec_push(&w->streams, place)) return false;
  if (n) memcpy(w->bytes.data + w->bytes.n, bytes, n);
  w->bytes.n += n;
  *number = (uint32_t)(w->streams.n - 1);
  if (share) model_index_put(&w->index, at, *number);
  return true;
}

/* ---- Hooks ------------------------------------------------------------------------ */

static worker *get_worker(hd_trace *t, unsigned number) {
  if (number < t->n_workers - t->recording) return worker_at(t, t->recording + number);
  fail(t, TRACE_UNEXPECTED);
  return NULL;
}

static open_cta *find_cta(hd_trace *t, worker *w, uint64_t task) {
  if (w->latest < w->ctas.n) {
    open_cta *c = &w->ctas.data[w->latest];
    if (c->open && c->task == task) return c;
  }
  for (size_t i = 0; i < w->ctas.n; i++) {
    open_cta *c = &w->ctas.data[i];
    if (c->open && c->task == task) {
      w->latest = i;
      return c;
    }
  }
  fail(t, TRACE_UNEXPECTED);
  return NULL;
}

static void on_cta_start(void *ctx, unsigned number, uint64_t task, uint32_t sm) {
  hd_trace *t = ctx;
  worker *w = get_worker(t, number);
  if (!w || failed(t)) return;
  if (task >= t->tasks) {
    fail(t, TRACE_UNEXPECTED);
    return;
  }
  size_t i = 0;
  while (i < w->ctas.n && w->ctas.data[i].open) i++;
  if (i == w->ctas.n) {
    open_cta fresh = {.warps = calloc(t->warps, sizeof *fresh.warps),
                      .paths = t->path ? calloc(t->warps, sizeof *fresh.paths) : NULL};
    if (!fresh.warps || (t->path && !fresh.paths) || !hd_vec_push(&w->ctas, fresh)) {
      free(fresh.warps);
      free(fresh.paths);
      fail(t, TRACE_NOMEM);
      return;
    }
    settle(t, w);
  }
  open_cta *c = &w->ctas.data[i];
  c->task = task;
  c->open = true;
  w->latest = i;
  for (uint32_t k = 0; k < t->warps; k++) model_stream_begin(&c->warps[k]);
  for (uint32_t k = 0; c->paths && k < t->warps; k++) model_path_begin(&c->paths[k]);
  model_task_writes_clear(&c->writes);
}

static void on_shared_access(hd_trace *t, worker *w, const hd_access *a) {
  w->info.shared_accesses += a->space == HD_SPACE_SHARED;
  if (!t->path) return;
  open_cta *c = find_cta(t, w, a->task);
  if (!c) return;
  if (a->warp >= t->warps) {
    fail(t, TRACE_UNEXPECTED);
    return;
  }
  uint32_t wavefronts = a->space == HD_SPACE_CONST ? model_distinct_words(a->addr, a->mask)
                                                   : model_shared_wavefronts(a->addr, a->mask, a->bytes);
  if (!model_path_access_shared(&c->paths[a->warp], a->inst, wavefronts)) fail(t, TRACE_NOMEM);
}

static void on_access(void *ctx, unsigned number, const hd_access *a) {
  hd_trace *t = ctx;
  worker *w = get_worker(t, number);
  if (!w || failed(t) || !a->mask) return;
  if (a->space == HD_SPACE_SHARED || a->space == HD_SPACE_CONST) {
    on_shared_access(t, w, a);
    return;
  }
  if (a->space != HD_SPACE_GLOBAL) return;
  open_cta *c = find_cta(t, w, a->task);
  if (!c) return;
  if (a->warp >= t->warps || a->kind > HD_ACCESS_PREFETCH || a->bytes < 1 || a->bytes > 16) {
    fail(t, TRACE_UNEXPECTED);
    return;
  }
  model_runs runs;
  model_runs_of(a->addr, a->mask, a->bytes, &runs);
  for (uint32_t i = 0; i < runs.n; i++) {
    runs.start[i] &= (1ull << ADDRESS_WINDOW_BITS) - 1;
    if (runs.start[i] + runs.bytes[i] >= 1ull << MODEL_ADDRESS_BITS) {
      fail(t, TRACE_ADDRESS);
      return;
    }
  }
  model_lines lines;
  model_lines_of(&runs, &lines);
  w->info.warp_accesses++;
  w->info.thread_accesses += hd_bits32(a->mask);
  for (uint32_t i = 0; i < lines.n; i++) w->info.sectors += model_sectors(lines.touched[i]);
  model_footprint_add(&w->foot, &c->writes, a->kind, &lines);
  model_stream_writer *s = &c->warps[a->warp];
  size_t cap = s->out.cap;
  uint8_t attr =
      model_stream_attr(a->kind, a->cache & (HD_CACHE_WAYS | HD_CACHE_L1_PRIORITY | HD_CACHE_L2_PRIORITY));
  w->ranked |= model_stream_ranks(attr);
  model_stream_put(s, a->inst | (a->called ? HD_TRACE_CALLED : 0), attr, &runs);
  uint32_t repeats = c->paths && a->kind == HD_ACCESS_ATOMIC ? model_repeated_lanes(a->addr, a->mask) : 0;
  bool kept = !c->paths || model_path_access_global(&c->paths[a->warp], a->inst, repeats);
  if (s->failed || w->foot.failed || !kept) fail(t, TRACE_NOMEM);
  if (s->out.cap != cap && s->out.cap > 1 << 16) settle(t, w);
}

uint64_t hd_trace_address(uint64_t device) { return device & ((1ull << ADDRESS_WINDOW_BITS) - 1); }

static void on_barrier(void *ctx, unsigned number, uint64_t task, uint32_t warp) {
  hd_trace *t = ctx;
  worker *w = get_worker(t, number);
  if (!w || failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  hd_meter_add(t->meter, 1);
  if (warp >= t->warps) {
    fail(t, TRACE_UNEXPECTED);
    return;
  }
  model_stream_put_barrier(&c->warps[warp]);
  if (c->paths && !model_path_barrier(&c->paths[warp])) fail(t, TRACE_NOMEM);
}

static void on_ran(void *ctx, unsigned number, uint64_t task, uint32_t warp, uint32_t func, uint32_t first,
                   uint32_t last) {
  hd_trace *t = ctx;
  worker *w = get_worker(t, number);
  if (!w || failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  if (warp >= t->warps || last < first) {
    fail(t, TRACE_UNEXPECTED);
    return;
  }
  if (!model_path_ran(&w->paths, &c->paths[warp], func, first, last)) fail(t, TRACE_NOMEM);
}

static void on_cta_end(void *ctx, unsigned number, uint64_t task, uint64_t warp_instructions,
                       uint64_t thread_instructions) {
  hd_trace *t = ctx;
  worker *w = get_worker(t, number);
  if (!w || failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  c->open = false;
  task_entry *entry = &t->task[task];
  if (entry->worker) {
    fail(t, TRACE_TWICE);
    return;
  }
  uint64_t accesses = 0;
  for (uint32_t k = 0; k < t->warps; k++) {
    model_stream_writer *s = &c->warps[k];
    model_stream_finish(s);
    uint64_t at = task * t->warps + k;
    if (s->failed || !keep_stream(w, s->out.data, s->out.n, &t->stream[at])) {
      fail(t, TRACE_NOMEM);
      return;
    }
    if (t->path && !model_path_end(&w->paths, &c->paths[k], &t->path[at])) {
      fail(t, TRACE_NOMEM);
      return;
    }
    t->base[at] = s->base;
    accesses += s->accesses;
    if (s->n_slots > w->slots) w->slots = s->n_slots;
  }
  entry->warp_instructions = warp_instructions;
  entry->accesses = accesses < UINT32_MAX ? (uint32_t)accesses : UINT32_MAX;
  atomic_store_explicit(&entry->worker, t->recording + number + 1, memory_order_release);
  w->info.tasks++;
  w->info.warp_instructions += warp_instructions;
  w->info.thread_instructions += thread_instructions;
  settle(t, w);
}

/* ---- Life -------------------------------------------------------------------------- */

hd_status hd_trace_create(const uint32_t grid[3], const uint32_t block[3], unsigned workers, uint64_t limit,
                          hd_trace **out, hd_diag *d) {
  *out = NULL;
  uint64_t tasks, threads = (uint64_t)block[0] * block[1];
  if (!hd_grid_tasks(grid, &tasks))
    return hd_fail(d, HD_ERR_USAGE, "a grid of %u x %u x %u cannot be traced", grid[0], grid[1], grid[2]);
  if (!threads || !block[2] || threads > HD_MAX_THREADS || threads * block[2] > HD_MAX_THREADS)
    return hd_fail(d, HD_ERR_USAGE, "a block of %u x %u x %u threads: it must have 1 to %d", block[0],
                   block[1], block[2], HD_MAX_THREADS);
  if (!workers || workers > MAX_WORKERS)
    return hd_fail(d, HD_ERR_USAGE, "%u workers: a trace takes 1 to %d", workers, MAX_WORKERS);
  hd_trace *t = calloc(1, sizeof *t);
  if (!t) return hd_nomem(d);
  t->born = hd_seconds();
  t->tasks = tasks;
  t->threads = (uint32_t)threads * block[2];
  t->warps = (t->threads + HD_WARP - 1) / HD_WARP;
  t->limit = limit ? limit : default_limit;
  t->at_once = workers;
  t->first_block = 1;
  while (t->first_block < workers) t->first_block *= 2;
  pthread_mutex_init(&t->lock, NULL);
  uint64_t per_task = sizeof *t->task + t->warps * (sizeof *t->base + sizeof *t->stream), bytes;
  if (__builtin_mul_overflow(tasks, per_task, &bytes) || !charge(t, bytes)) {
    uint64_t budget = t->limit;
    hd_trace_destroy(t);
    return hd_fail(d, HD_ERR_BUDGET, "%llu tasks need more than the trace's limit of %llu bytes",
                   (unsigned long long)tasks, (unsigned long long)budget);
  }
  t->task = calloc(tasks, sizeof *t->task);
  t->base = calloc(tasks * t->warps, sizeof *t->base);
  t->stream = calloc(tasks * t->warps, sizeof *t->stream);
  if (!t->task || !t->base || !t->stream || !add_workers(t)) {
    hd_trace_destroy(t);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a trace of %llu tasks", (unsigned long long)tasks);
  }
  t->hooks = (hd_emu_hooks){.ctx = t,
                            .spaces = 1u << HD_SPACE_GLOBAL | 1u << HD_SPACE_SHARED | 1u << HD_SPACE_CONST,
                            .access = on_access,
                            .barrier = on_barrier,
                            .cta_start = on_cta_start,
                            .cta_end = on_cta_end,
                            .go_on = go_on};
  *out = t;
  return HD_OK;
}

hd_status hd_trace_keep_paths(hd_trace *t, const hd_ptx_module *m, hd_diag *d) {
  if (t->path) return HD_OK;
  if (!charge(t, t->tasks * t->warps * sizeof *t->path))
    return hd_fail(d, HD_ERR_BUDGET, "the paths of %llu tasks need more than the trace's limit of %llu bytes",
                   (unsigned long long)t->tasks, (unsigned long long)t->limit);
  t->path = calloc(t->tasks * t->warps, sizeof *t->path);
  if (!t->path) return hd_nomem(d);
  t->hooks.ran = on_ran;
  return model_code_make(m, &t->code, d);
}

void hd_trace_set_deadline(hd_trace *t, double at) { t->deadline = at; }
void hd_trace_set_meter(hd_trace *t, hd_meter *m) { t->meter = m; }
const hd_emu_hooks *hd_trace_hooks(hd_trace *t) { return &t->hooks; }

static void free_ctas(const hd_trace *t, worker *w) {
  for (size_t i = 0; i < w->ctas.n; i++) {
    open_cta *c = &w->ctas.data[i];
    for (uint32_t k = 0; k < t->warps; k++) model_stream_free(&c->warps[k]);
    for (uint32_t k = 0; c->paths && k < t->warps; k++) model_path_free(&c->paths[k]);
    free(c->warps);
    free(c->paths);
    model_task_writes_free(&c->writes);
  }
  hd_vec_free(&w->ctas);
}

/* Free the memory that only recording needs, of the workers from `first` on; of a trace that may be resumed,
 * all but the footprint. */
static void free_recording(hd_trace *t, unsigned first, bool resumes) {
  for (unsigned i = first; i < t->n_workers; i++) {
    worker *w = worker_at(t, i);
    free_ctas(t, w);
    if (i || !resumes) model_footprint_free(&w->foot);
    model_index_free(&w->index);
  }
}

void hd_trace_destroy(hd_trace *t) {
  if (!t) return;
  free_recording(t, 0, false);
  for (unsigned i = 0; i < t->n_workers; i++) {
    worker *w = worker_at(t, i);
    hd_vec_free(&w->bytes);
    hd_vec_free(&w->streams);
    model_paths_free(&w->paths);
  }
  for (unsigned k = 0; k < BLOCKS; k++) free(t->blocks[k]);
  pthread_mutex_destroy(&t->lock);
  free(t->task);
  free(t->base);
  free(t->stream);
  free(t->path);
  model_code_free(&t->code);
  free(t);
}

/* Free the unused rest of lists that grew by doubling. */
static void shrink(worker *w) {
  uint8_t *bytes = w->bytes.n ? realloc(w->bytes.data, w->bytes.n) : NULL;
  if (bytes) {
    w->bytes.data = bytes;
    w->bytes.cap = w->bytes.n;
  }
  stream_place *places = w->streams.n ? realloc(w->streams.data, w->streams.n * sizeof *places) : NULL;
  if (places) {
    w->streams.data = places;
    w->streams.cap = w->streams.n;
  }
}

/* The sums over all workers: those of earlier recordings stay as they are. */
static void sum_up(hd_trace *t) {
  const model_footprint *foot = &worker_at(t, 0)->foot;
  hd_trace_info sum = {.tasks = t->tasks, .warps_per_task = t->warps};
  sum.memory = sizeof *t + t->n_workers * sizeof(worker) +
               t->tasks * (sizeof *t->task + t->warps * (sizeof *t->base + sizeof *t->stream));
  sum.read_bytes = foot->read * MODEL_SECTOR;
  sum.written_bytes = foot->written * MODEL_SECTOR;
  for (unsigned i = 0; i < t->n_workers; i++) {
    const worker *w = worker_at(t, i);
    sum.recorded += w->info.tasks;
    sum.warp_accesses += w->info.warp_accesses;
    sum.thread_accesses += w->info.thread_accesses;
    sum.sectors += w->info.sectors;
    sum.shared_accesses += w->info.shared_accesses;
    sum.warp_instructions += w->info.warp_instructions;
    sum.thread_instructions += w->info.thread_instructions;
    sum.memory += model_paths_bytes(&w->paths) + w->bytes.cap + w->streams.cap * sizeof *w->streams.data;
  }
  pthread_mutex_lock(&t->lock);
  if (!t->shown) t->info = sum;
  pthread_mutex_unlock(&t->lock);
}

hd_status hd_trace_finish(hd_trace *t, hd_diag *d) {
  if (!t->open) return HD_OK;
  model_footprint *foot = &worker_at(t, 0)->foot;
  for (unsigned i = t->recording ? t->recording : 1; i < t->n_workers && !failed(t); i++) {
    model_footprint_merge(foot, &worker_at(t, i)->foot);
    if (foot->failed) fail(t, TRACE_NOMEM);
  }
  int why = atomic_load(&t->failure);
  if (why != TRACE_OK) return hd_fail(d, failures[why].status, "%s", failures[why].text);
  for (uint64_t i = 0; !t->gaps && i < t->tasks; i++)
    if (!t->task[i].worker)
      return hd_fail(d, HD_ERR_USAGE, "task %llu of the traced launch has not run to its end",
                     (unsigned long long)i);
  for (unsigned i = t->recording; i < t->n_workers; i++) {
    worker *w = worker_at(t, i);
    shrink(w);
    if (w->ranked) t->ranked = true;
    if (w->slots > t->slots) t->slots = w->slots;
  }
  sum_up(t);
  free_recording(t, t->recording, t->gaps);
  t->open = false;
  atomic_store_explicit(&t->published, t->n_workers, memory_order_release);
  return HD_OK;
}

void hd_trace_allow_gaps(hd_trace *t) { t->gaps = true; }

static unsigned published(const hd_trace *t) {
  return atomic_load_explicit(&t->published, memory_order_acquire);
}

/* Did one of the first `workers` run it? */
static bool has(const hd_trace *t, uint64_t task, unsigned workers) {
  if (task >= t->tasks) return false;
  const uint32_t by = atomic_load_explicit(&t->task[task].worker, memory_order_acquire);
  return by && by <= workers;
}

bool hd_trace_has(const hd_trace *t, uint64_t task) { return has(t, task, published(t)); }

hd_status hd_trace_resume(hd_trace *t, hd_diag *d) {
  if (t->open || !t->gaps)
    return hd_fail(d, HD_ERR_USAGE, "only a finished trace that may have gaps is resumed");
  if (t->n_workers + t->at_once > MAX_WORKERS) return hd_fail(d, HD_ERR_NOMEM, "resumed too often");
  return add_workers(t) ? HD_OK : hd_nomem(d);
}

void hd_trace_show_so_far(hd_trace *t) { t->shown = published(t); }

hd_trace_info hd_trace_get_info(const hd_trace *t) {
  pthread_mutex_t *lock = (pthread_mutex_t *)&t->lock;
  pthread_mutex_lock(lock);
  const hd_trace_info info = t->info;
  pthread_mutex_unlock(lock);
  return info;
}

/* ---- The replay's reads ------------------------------------------------------------ */

double model_trace_born(const hd_trace *t) { return t->born; }
uint64_t model_trace_tasks(const hd_trace *t) { return t->tasks; }
uint32_t model_trace_warps(const hd_trace *t) { return t->warps; }
uint32_t model_trace_threads(const hd_trace *t) { return t->threads; }
uint32_t model_trace_slots(const hd_trace *t) { return t->slots; }
bool model_trace_finished(const hd_trace *t) { return published(t); }
bool model_trace_shows(const hd_trace *t, uint64_t task) {
  const unsigned shown = t->shown;
  return has(t, task, shown ? shown : published(t));
}
bool model_trace_is_ranked(const hd_trace *t) { return t->ranked; }
model_trace_task model_trace_get_task(const hd_trace *t, uint64_t task) {
  return (model_trace_task){t->task[task].warp_instructions, t->task[task].accesses};
}

void model_trace_open(const hd_trace *t, uint64_t task, uint32_t warp, model_stream_reader *r,
                      model_stream_slot *slots) {
  uint64_t at = task * t->warps + warp;
  const worker *w = worker_at(t, t->task[task].worker - 1);
  const stream_place *s = &w->streams.data[t->stream[at]];
  model_stream_open(r, slots, t->base[at], w->bytes.data + s->offset, s->length);
}

unsigned model_trace_workers(const hd_trace *t) { return published(t); }
const model_paths *model_trace_paths(const hd_trace *t, unsigned number) {
  return t->path ? &worker_at(t, number)->paths : NULL;
}
unsigned model_trace_worker_of(const hd_trace *t, uint64_t task) { return t->task[task].worker - 1; }
uint32_t model_trace_path_of(const hd_trace *t, uint64_t task, uint32_t warp) {
  return t->path[task * t->warps + warp];
}
const model_code *model_trace_code(const hd_trace *t) { return t->path ? &t->code : NULL; }
