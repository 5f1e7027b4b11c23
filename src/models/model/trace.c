#include "model/trace.h"

#include <stdlib.h>

#include "heddle/limits.h"
#include "model/recording.h"

enum { MAX_WORKERS = 4096 };

static const uint64_t default_limit = 8ull << 30;

static const struct {
  hd_status status;
  const char *text;
  hd_bound bound;
} failures[] = {
    [TRACE_LIMIT] = {HD_ERR_BUDGET, "the trace needs more than its limit of memory: trace a smaller launch",
                     HD_BOUND_MEMORY},
    [TRACE_LONG] = {HD_ERR_BUDGET, "the trace is more work than it may be: trace a smaller launch",
                    HD_BOUND_WORK},
    [TRACE_NOMEM] = {HD_ERR_NOMEM, "out of memory while tracing"},
    [TRACE_ADDRESS] = {HD_ERR_UNSUPPORTED,
                       "an access lies more than 128 GB above the start of device memory"},
    [TRACE_UNEXPECTED] = {HD_ERR_USAGE,
                          "a trace hook was called for a task, warp or worker that the trace was not "
                          "made for, or that is not running"},
    [TRACE_TWICE] = {HD_ERR_USAGE, "a task ran twice while it was traced"},
};

/* Workers that record next. */
static bool add_workers(hd_trace *t) {
  t->recording = t->n_workers;
  for (unsigned k = model_worker_block(t, t->recording);
       k <= model_worker_block(t, t->recording + t->at_once - 1); k++) {
    if (!t->blocks[k]) t->blocks[k] = calloc((size_t)t->first_block << k, sizeof *t->blocks[k]);
    if (!t->blocks[k]) return false;
  }
  t->n_workers += t->at_once;
  t->open = true;
  return true;
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
  if (__builtin_mul_overflow(tasks, per_task, &bytes) || !model_recording_charge(t, bytes)) {
    uint64_t budget = t->limit;
    hd_trace_destroy(t);
    return hd_fail_bound(d, HD_BOUND_MEMORY, "%llu tasks need more than the trace's limit of %llu bytes",
                         (unsigned long long)tasks, (unsigned long long)budget);
  }
  t->task = calloc(tasks, sizeof *t->task);
  t->base = calloc(tasks * t->warps, sizeof *t->base);
  t->stream = calloc(tasks * t->warps, sizeof *t->stream);
  if (!t->task || !t->base || !t->stream || !add_workers(t)) {
    hd_trace_destroy(t);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a trace of %llu tasks", (unsigned long long)tasks);
  }
  t->hooks = model_recording_hooks(t);
  *out = t;
  return HD_OK;
}

hd_status hd_trace_keep_paths(hd_trace *t, const hd_ptx_module *m, hd_diag *d) {
  if (t->path) return HD_OK;
  if (!model_recording_charge(t, t->tasks * t->warps * sizeof *t->path))
    return hd_fail_bound(d, HD_BOUND_MEMORY,
                         "the paths of %llu tasks need more than the trace's limit of %llu bytes",
                         (unsigned long long)t->tasks, (unsigned long long)t->limit);
  t->path = calloc(t->tasks * t->warps, sizeof *t->path);
  if (!t->path) return hd_nomem(d);
  t->hooks = model_recording_hooks(t);
  return model_code_make(m, &t->code, d);
}

void hd_trace_set_most(hd_trace *t, uint64_t work) { t->most = work; }
void hd_trace_set_meter(hd_trace *t, hd_meter *m) { t->meter = m; }
const hd_emu_hooks *hd_trace_hooks(hd_trace *t) { return &t->hooks; }

void hd_trace_destroy(hd_trace *t) {
  if (!t) return;
  model_recording_free(t, 0, false);
  for (unsigned i = 0; i < t->n_workers; i++) {
    model_worker *w = model_worker_at(t, i);
    hd_vec_free(&w->bytes);
    hd_vec_free(&w->streams);
    model_paths_free(&w->paths);
  }
  for (unsigned k = 0; k < MODEL_WORKER_BLOCKS; k++) free(t->blocks[k]);
  pthread_mutex_destroy(&t->lock);
  free(t->task);
  free(t->base);
  free(t->stream);
  free(t->path);
  model_code_free(&t->code);
  free(t);
}

/* The sums over all workers: those of earlier recordings stay as they are. */
static void sum_up(hd_trace *t) {
  const model_footprint *foot = &model_worker_at(t, 0)->foot;
  hd_trace_info sum = {.tasks = t->tasks, .warps_per_task = t->warps};
  sum.memory = sizeof *t + t->n_workers * sizeof(model_worker) +
               t->tasks * (sizeof *t->task + t->warps * (sizeof *t->base + sizeof *t->stream));
  sum.read_bytes = foot->read * MODEL_SECTOR;
  sum.written_bytes = foot->written * MODEL_SECTOR;
  for (unsigned i = 0; i < t->n_workers; i++) {
    const model_worker *w = model_worker_at(t, i);
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
  model_footprint *foot = &model_worker_at(t, 0)->foot;
  for (unsigned i = t->recording ? t->recording : 1; i < t->n_workers && !model_recording_has_failed(t);
       i++) {
    model_footprint_merge(foot, &model_worker_at(t, i)->foot);
    if (foot->failed) model_recording_fail(t, TRACE_NOMEM);
  }
  int why = atomic_load(&t->failure);
  if (why != TRACE_OK)
    return failures[why].bound ? hd_fail_bound(d, failures[why].bound, "%s", failures[why].text)
                               : hd_fail(d, failures[why].status, "%s", failures[why].text);
  for (uint64_t i = 0; !t->gaps && i < t->tasks; i++)
    if (!t->task[i].worker)
      return hd_fail(d, HD_ERR_USAGE, "task %llu of the traced launch has not run to its end",
                     (unsigned long long)i);
  for (unsigned i = t->recording; i < t->n_workers; i++) {
    model_worker *w = model_worker_at(t, i);
    model_recording_shrink(w);
    if (w->ranked) t->ranked = true;
    if (w->slots > t->slots) t->slots = w->slots;
  }
  sum_up(t);
  model_recording_free(t, t->recording, t->gaps);
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
  const model_worker *w = model_worker_at(t, t->task[task].worker - 1);
  const stream_place *s = &w->streams.data[t->stream[at]];
  model_stream_open(r, slots, t->base[at], w->bytes.data + s->offset, s->length);
}

unsigned model_trace_workers(const hd_trace *t) { return published(t); }
const model_paths *model_trace_paths(const hd_trace *t, unsigned number) {
  return t->path ? &model_worker_at(t, number)->paths : NULL;
}
unsigned model_trace_worker_of(const hd_trace *t, uint64_t task) { return t->task[task].worker - 1; }
uint32_t model_trace_path_of(const hd_trace *t, uint64_t task, uint32_t warp) {
  return t->path[task * t->warps + warp];
}
const model_code *model_trace_code(const hd_trace *t) { return t->path ? &t->code : NULL; }
