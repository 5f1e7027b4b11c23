/* The hooks of an emulator that fill a trace. */
#include "model/recording.h"

#include <stdlib.h>
#include <string.h>

enum {
  ADDRESS_WINDOW_BITS = 40,   /* device memory is one such aligned window of the emulator's addresses */
  SHARED_STREAM_BYTES = 4096, /* longer streams are not looked up for sharing: they hardly ever repeat */
};

void model_recording_fail(hd_trace *t, model_trace_failure f) {
  int none = TRACE_OK;
  atomic_compare_exchange_strong(&t->failure, &none, f);
}

bool model_recording_has_failed(const hd_trace *t) {
  return atomic_load_explicit(&t->failure, memory_order_relaxed) != TRACE_OK;
}

static bool go_on(void *ctx) {
  const hd_trace *t = ctx;
  return !model_recording_has_failed(t);
}

bool model_recording_charge(hd_trace *t, uint64_t bytes) {
  uint64_t before = atomic_fetch_add(&t->memory, bytes);
  if (bytes > t->limit || before > t->limit - bytes) {
    model_recording_fail(t, TRACE_LIMIT);
    return false;
  }
  return true;
}

/* Account for the memory that a worker has taken since the last time. */
static void settle(hd_trace *t, model_worker *w) {
  uint64_t now = w->bytes.cap + w->streams.cap * sizeof *w->streams.data +
                 w->index.cap * sizeof *w->index.slot + w->foot.memory + model_paths_bytes(&w->paths);
  for (size_t i = 0; i < w->ctas.n; i++) {
    const open_cta *c = &w->ctas.data[i];
    now += t->warps * sizeof *c->warps + c->writes.cap * 3 * sizeof(uint64_t);
    for (uint32_t k = 0; k < t->warps; k++) now += c->warps[k].out.cap;
    for (uint32_t k = 0; c->paths && k < t->warps; k++)
      now += c->paths[k].steps.cap * sizeof *c->paths[k].steps.data;
  }
  if (now > w->charged && model_recording_charge(t, now - w->charged)) w->charged = now;
}

/* ---- Streams of a worker --------------------------------------------------------- */

static uint64_t hash_stream(const void *of, uint32_t number) {
  const model_worker *w = of;
  const stream_place *s = &w->streams.data[number];
  return hd_hash(w->bytes.data + s->offset, s->length);
}

/* The number of a stream in the worker's list, an equal one that is there already if there is. */
static bool keep_stream(model_worker *w, const uint8_t *bytes, size_t n, uint32_t *number) {
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

static model_worker *get_worker(hd_trace *t, unsigned number) {
  if (number < t->n_workers - t->recording) return model_worker_at(t, t->recording + number);
  model_recording_fail(t, TRACE_UNEXPECTED);
  return NULL;
}

static open_cta *find_cta(hd_trace *t, model_worker *w, uint64_t task) {
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
  model_recording_fail(t, TRACE_UNEXPECTED);
  return NULL;
}

static void on_cta_start(void *ctx, unsigned number, uint64_t task, uint32_t sm) {
  hd_trace *t = ctx;
  model_worker *w = get_worker(t, number);
  if (!w || model_recording_has_failed(t)) return;
  if (task >= t->tasks) {
    model_recording_fail(t, TRACE_UNEXPECTED);
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
      model_recording_fail(t, TRACE_NOMEM);
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

static void on_shared_access(hd_trace *t, model_worker *w, const hd_access *a) {
  w->info.shared_accesses += a->space == HD_SPACE_SHARED;
  if (!t->path) return;
  open_cta *c = find_cta(t, w, a->task);
  if (!c) return;
  if (a->warp >= t->warps) {
    model_recording_fail(t, TRACE_UNEXPECTED);
    return;
  }
  uint32_t wavefronts = a->space == HD_SPACE_CONST ? model_distinct_words(a->addr, a->mask)
                                                   : model_shared_wavefronts(a->addr, a->mask, a->bytes);
  if (!model_path_access_shared(&c->paths[a->warp], a->inst, wavefronts))
    model_recording_fail(t, TRACE_NOMEM);
}

static void on_access(void *ctx, unsigned number, const hd_access *a) {
  hd_trace *t = ctx;
  model_worker *w = get_worker(t, number);
  if (!w || model_recording_has_failed(t) || !a->mask) return;
  if (a->space == HD_SPACE_SHARED || a->space == HD_SPACE_CONST) {
    on_shared_access(t, w, a);
    return;
  }
  if (a->space != HD_SPACE_GLOBAL) return;
  open_cta *c = find_cta(t, w, a->task);
  if (!c) return;
  if (a->warp >= t->warps || a->kind > HD_ACCESS_PREFETCH || a->bytes < 1 || a->bytes > 16) {
    model_recording_fail(t, TRACE_UNEXPECTED);
    return;
  }
  model_runs runs;
  model_runs_of(a->addr, a->mask, a->bytes, &runs);
  for (uint32_t i = 0; i < runs.n; i++) {
    runs.start[i] &= (1ull << ADDRESS_WINDOW_BITS) - 1;
    if (runs.start[i] + runs.bytes[i] >= 1ull << MODEL_ADDRESS_BITS) {
      model_recording_fail(t, TRACE_ADDRESS);
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
  if (s->failed || w->foot.failed || !kept) model_recording_fail(t, TRACE_NOMEM);
  if (s->out.cap != cap && s->out.cap > 1 << 16) settle(t, w);
}

uint64_t hd_trace_address(uint64_t device) { return device & ((1ull << ADDRESS_WINDOW_BITS) - 1); }

static void on_barrier(void *ctx, unsigned number, uint64_t task, uint32_t warp) {
  hd_trace *t = ctx;
  model_worker *w = get_worker(t, number);
  if (!w || model_recording_has_failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  hd_meter_add(t->meter, 1);
  if (warp >= t->warps) {
    model_recording_fail(t, TRACE_UNEXPECTED);
    return;
  }
  model_stream_put_barrier(&c->warps[warp]);
  if (c->paths && !model_path_barrier(&c->paths[warp])) model_recording_fail(t, TRACE_NOMEM);
}

static void on_ran(void *ctx, unsigned number, uint64_t task, uint32_t warp, uint32_t func, uint32_t first,
                   uint32_t last) {
  hd_trace *t = ctx;
  model_worker *w = get_worker(t, number);
  if (!w || model_recording_has_failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  if (warp >= t->warps || last < first) {
    model_recording_fail(t, TRACE_UNEXPECTED);
    return;
  }
  if (!model_path_ran(&w->paths, &c->paths[warp], func, first, last)) model_recording_fail(t, TRACE_NOMEM);
}

static void on_cta_end(void *ctx, unsigned number, uint64_t task, uint64_t warp_instructions,
                       uint64_t thread_instructions) {
  hd_trace *t = ctx;
  model_worker *w = get_worker(t, number);
  if (!w || model_recording_has_failed(t)) return;
  open_cta *c = find_cta(t, w, task);
  if (!c) return;
  c->open = false;
  task_entry *entry = &t->task[task];
  if (entry->worker) {
    model_recording_fail(t, TRACE_TWICE);
    return;
  }
  uint64_t accesses = 0;
  for (uint32_t k = 0; k < t->warps; k++) {
    model_stream_writer *s = &c->warps[k];
    model_stream_finish(s);
    uint64_t at = task * t->warps + k;
    if (s->failed || !keep_stream(w, s->out.data, s->out.n, &t->stream[at])) {
      model_recording_fail(t, TRACE_NOMEM);
      return;
    }
    if (t->path && !model_path_end(&w->paths, &c->paths[k], &t->path[at])) {
      model_recording_fail(t, TRACE_NOMEM);
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
  if (t->most &&
      atomic_fetch_add(&t->work, warp_instructions + accesses) + warp_instructions + accesses > t->most)
    model_recording_fail(t, TRACE_LONG);
  settle(t, w);
}

hd_emu_hooks model_recording_hooks(hd_trace *t) {
  return (hd_emu_hooks){.ctx = t,
                        .spaces = 1u << HD_SPACE_GLOBAL | 1u << HD_SPACE_SHARED | 1u << HD_SPACE_CONST,
                        .access = on_access,
                        .barrier = on_barrier,
                        .cta_start = on_cta_start,
                        .cta_end = on_cta_end,
                        .go_on = go_on,
                        .ran = t->path ? on_ran : NULL};
}

/* ---- Memory ------------------------------------------------------------------------ */

/* Free the unused rest of lists that grew by doubling. */
void model_recording_shrink(model_worker *w) {
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

static void free_ctas(const hd_trace *t, model_worker *w) {
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

void model_recording_free(hd_trace *t, unsigned first, bool resumes) {
  for (unsigned i = first; i < t->n_workers; i++) {
    model_worker *w = model_worker_at(t, i);
    free_ctas(t, w);
    if (i || !resumes) model_footprint_free(&w->foot);
    model_index_free(&w->index);
  }
}
