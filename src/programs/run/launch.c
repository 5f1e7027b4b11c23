/* Launches: the program's, or those that take their place. Nothing here waits or allocates. */
#include "run/launch.h"

#include <string.h>

#include "run/watch.h"

uint64_t run_thread_number(void) {
  static _Atomic uint64_t last;
  static RUN_OF_THREAD uint64_t own;
  if (!own) own = atomic_fetch_add(&last, 1) + 1;
  return own;
}

/* ---- Choosing ---------------------------------------------------------------------------------- */

static bool is_of(const run_variant *v, const run_launch *l) {
  return v->any ? !v->dynamic || l->shared : run_is_shape(l, v->grid, v->block, v->shared);
}

/* The plan's own variable stands where the launch's dynamic shared memory begins. A plan for every launch is
 * made anew, with the variable elsewhere, once there is such a launch. */
static bool has_no_room(run_variant *v, const run_launch *l) {
  if (!v->recipe.no_dynamic_shared || !l->shared) return false;
  if (v->any && atomic_load_explicit(&v->kernel->dynamic, memory_order_relaxed) != RUN_DYNAMIC_MADE) {
    int none = RUN_DYNAMIC_NONE;
    if (!l->node) atomic_fetch_add_explicit(&v->kernel->early, 1, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&v->kernel->dynamic, &none, RUN_DYNAMIC_WANTED))
      run_place_later(v->kernel);
  }
  return true;
}

/* A grid that the original could not be launched with might be one that the rewritten kernel can. */
static bool is_valid(const run_launch *l) {
  const uint32_t *g = l->grid, *b = l->block;
  return g[0] && g[1] && g[2] && g[0] <= INT32_MAX && g[1] <= UINT16_MAX && g[2] <= UINT16_MAX && b[0] &&
         b[1] && b[2] && b[0] <= 1024 && b[1] <= 1024 && b[2] <= 64 && (uint64_t)b[0] * b[1] * b[2] <= 1024;
}

static uint32_t fit(run_place *p, const run_launch *l) {
  const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
                 key = threads << 40 | (uint64_t)l->shared << 8;
  const uint64_t last = atomic_load_explicit(&p->fit, memory_order_relaxed);
  if ((last & ~UINT64_C(255)) == key && last) return last & 255;
  int n = 0;
  if (threads > 1024 || !run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor ||
      run_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, p->function, (int)threads, l->shared) !=
          CU_SUCCESS ||
      n <= 0 || n > 255)
    return 0;
  atomic_store_explicit(&p->fit, key | (uint64_t)n, memory_order_relaxed);
  return (uint32_t)n;
}

bool run_is_captured(const run_launch *l) {
  int status = 1;
  fn_cuStreamIsCapturing *const ask =
      l->per_thread ? run_real.cuStreamIsCapturing_ptsz : run_real.cuStreamIsCapturing;
  if (ask && (l->stream == CU_STREAM_LEGACY || (!l->stream && !l->per_thread))) return run_legacy_is_frozen();
  return !ask || ask(l->stream, &status) != CU_SUCCESS || status != 0;
}

static run_miss find_state(const run_variant *v, run_place *p, const run_launch *l, run_replacement *r) {
  if (!v->recipe.state_bytes && !v->recipe.agents) return RUN_MISS_NOT;
  if (l->exec)
    return !v->recipe.state_bytes || (r->state = run_exec_state(l->exec, p)) != 0 ? RUN_MISS_NOT
                                                                                  : RUN_MISS_STREAMS;
  if (l->node || run_is_captured(l)) return RUN_MISS_CAPTURE;
  if (!v->recipe.state_bytes) return RUN_MISS_NOT;
  const bool own = l->stream == CU_STREAM_PER_THREAD || (!l->stream && l->per_thread);
  r->state = run_place_state(p, l->stream, own ? run_thread_number() : 0);
  return r->state ? RUN_MISS_NOT : RUN_MISS_STREAMS;
}

/* ---- Parameters -------------------------------------------------------------------------------- */

static bool put_pointers(const run_variant *v, const run_launch *l, run_replacement *r) {
  const hd_recipe *c = &v->recipe;
  uint32_t n = v->n_params;
  if (n > RUN_MOST_PARAMS || (n && !l->params)) return false;
  if (n) memcpy(r->pointers, l->params, n * sizeof *r->pointers);
  if (c->state_bytes) r->pointers[n++] = &r->state;
  if (c->table_bytes) r->pointers[n++] = &r->table;
  for (int k = 0; c->grid && k < 3; k++) r->pointers[n++] = &r->tasks[k];
  r->params = r->pointers;
  r->extra = NULL;
  return true;
}

const void *run_block_of(void *const *extra, size_t *bytes) {
  const void *block = NULL;
  *bytes = 0;
  for (; *extra != RUN_PARAM_END; extra += 2) {
    if (*extra == RUN_PARAM_BUFFER)
      block = extra[1];
    else if (*extra == RUN_PARAM_SIZE)
      *bytes = *(const size_t *)extra[1];
    else
      return NULL;
  }
  return block;
}

/* Parameters in one block: only in the plainest form. */
static bool put_block(const run_variant *v, const run_launch *l, run_replacement *r) {
  size_t bytes;
  const void *block = run_block_of(l->extra, &bytes);
  if (!block || bytes != v->own_bytes || v->recipe.params_bytes > sizeof r->block) return false;
  memcpy(r->block, block, bytes);
  r->bytes = bytes;
  if (v->recipe.params_bytes) {
    hd_recipe_params(&v->recipe, l->grid, r->state, r->table, r->block);
    r->bytes = v->recipe.params_bytes;
  }
  void *const extra[] = {RUN_PARAM_BUFFER, r->block, RUN_PARAM_SIZE, &r->bytes, RUN_PARAM_END};
  memcpy(r->ends, extra, sizeof extra);
  r->params = NULL;
  r->extra = r->ends;
  return true;
}

/* ---- What the plan presumes -------------------------------------------------------------------- */

static bool get_addresses(const struct run_pointers *p, const run_launch *l, const char *block, size_t bytes,
                          uint64_t out[RUN_MOST_POINTERS]) {
  for (uint32_t k = 0; k < p->n; k++) {
    if (!block)
      memcpy(&out[k], l->params[p->at[k].param], sizeof out[k]);
    else if (p->at[k].offset + sizeof out[k] <= bytes)
      memcpy(&out[k], block + p->at[k].offset, sizeof out[k]);
    else
      return false;
  }
  return true;
}

/* Nothing writes what the variant reads as unwritten. A launch that is captured runs later, when other memory
 * may be there. */
static run_miss presumes(const run_variant *v, const run_launch *l) {
  uint64_t reads[RUN_MOST_POINTERS], writes[RUN_MOST_POINTERS];
  size_t bytes = 0;
  if (!v->reads.n) return RUN_MISS_NOT;
  if (l->node || run_is_captured(l)) return RUN_MISS_CAPTURE;
  const char *block = l->extra ? run_block_of(l->extra, &bytes) : NULL;
  if (!(block || l->params) || !get_addresses(&v->reads, l, block, bytes, reads) ||
      !get_addresses(&v->writes, l, block, bytes, writes))
    return RUN_MISS_FORM;
  return run_memory_is_apart(reads, v->reads.n, writes, v->writes.n) ? RUN_MISS_NOT : RUN_MISS_MEMORY;
}

static run_miss fits(run_variant *v, const run_launch *l) {
  if (!is_of(v, l) || !is_valid(l)) return RUN_MISS_OTHER;
  if (atomic_load_explicit(&v->off, memory_order_relaxed)) return RUN_MISS_OFF;
  return has_no_room(v, l) ? RUN_MISS_OTHER : RUN_MISS_NOT;
}

static run_miss replace(run_variant *v, run_place *p, const run_launch *l, run_replacement *r) {
  const hd_recipe *c = &v->recipe;
  run_miss miss = presumes(v, l);
  if (!miss) miss = find_state(v, p, l, r);
  if (miss) return miss;
  r->function = p->function;
  r->table = p->table;
  memcpy(r->tasks, l->grid, sizeof r->tasks);
  memcpy(r->grid, l->grid, sizeof r->grid);
  if (c->agents) {
    const uint32_t resident = fit(p, l);
    if (!resident) return RUN_MISS_FORM;
    hd_recipe_grid(c, l->grid, p->n_sms, resident, r->grid);
  }
  return (l->extra ? !l->params && put_block(v, l, r) : put_pointers(v, l, r)) ? RUN_MISS_NOT : RUN_MISS_FORM;
}

bool run_replace(run_variant *v, const run_launch *l, run_replacement *r) {
  run_place *p = NULL;
  r->state = 0;
  r->miss = fits(v, l);
  if (!r->miss && !(p = run_place_of(v))) {
    if (!l->node) atomic_fetch_add_explicit(&v->kernel->early, 1, memory_order_relaxed);
    run_place_later(v->kernel);
    r->miss = RUN_MISS_EARLY;
  }
  if (!r->miss) r->miss = replace(v, p, l, r);
  return !r->miss;
}

/* What takes turns waits for them; and before, until it is ready. */
static bool is_held(run_variant *v, const run_launch *l) {
  if (!atomic_load_explicit(&v->held, memory_order_relaxed) || (l->guarded && v->verdict)) return false;
  if (!l->node && is_of(v, l) && !atomic_load_explicit(&v->places, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&v->kernel->early, 1, memory_order_relaxed);
    run_place_later(v->kernel);
  }
  return true;
}

run_variant *run_choose(run_kernel *k, const run_launch *l, run_replacement *r) {
  run_miss last = RUN_MISS_NOT;
  for (run_variant *v = atomic_load_explicit(&k->variants, memory_order_acquire); v; v = v->next) {
    if (is_held(v, l))
      r->miss = is_of(v, l) ? RUN_MISS_HELD : RUN_MISS_OTHER;
    else if (run_replace(v, l, r))
      return v;
    if (r->miss > last) last = r->miss;
  }
  if (last && !l->node) atomic_fetch_add_explicit(&k->missed[last], 1, memory_order_relaxed);
  return NULL;
}

int run_instead(int original, run_variant *v) {
  if (v && original == CU_SUCCESS) atomic_store_explicit(&v->off, true, memory_order_relaxed);
  return original;
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static run_variant *choose(run_kernel *k, const run_launch *l, run_replacement *r) {
  if (!k) return NULL;
  atomic_fetch_add_explicit(&k->launches, 1, memory_order_relaxed);
  return run_choose(k, l, r);
}

/* Count a launch that the driver took. If it refused, the caller launches the original, so that the program
 * sees the original's error. */
static bool took(int r, run_variant *v) {
  const uint64_t saves = atomic_load_explicit(&v->saves, memory_order_relaxed);
  if (r == CU_SUCCESS) atomic_fetch_add_explicit(&v->kernel->steered, 1, memory_order_relaxed);
  if (r == CU_SUCCESS && saves) atomic_fetch_add_explicit(&v->kernel->saved, saves, memory_order_relaxed);
  return r == CU_SUCCESS;
}

int run_send(const run_launch *l, cu_function f, const uint32_t grid[3], void **params, void **extra) {
  const run_driver *d = &run_real;
  if (l->config) {
    cu_launch_config own = *l->config;
    memcpy(own.grid, grid, sizeof own.grid);
    own.stream = l->stream;
    return (l->per_thread ? d->cuLaunchKernelEx_ptsz : d->cuLaunchKernelEx)(&own, f, params, extra);
  }
  return (l->per_thread ? d->cuLaunchKernel_ptsz : d->cuLaunchKernel)(f, grid[0], grid[1], grid[2],
                                                                      l->block[0], l->block[1], l->block[2],
                                                                      l->shared, l->stream, params, extra);
}

static bool takes_turns(run_kernel *k) { return atomic_load_explicit(&k->live, memory_order_acquire); }

static int send_either(run_kernel *k, cu_function f, const run_launch *l) {
  run_replacement r;
  int result;
  if (k && takes_turns(k) && run_live_launch(k, f, l, &result)) return result;
  run_variant *v = choose(k, l, &r);
  if (k && !v && run_lever_launch(k, f, l, &result)) return result;
  if (v &&
      (took(result = run_send(l, r.function, r.grid, r.params, r.extra), v) || run_is_of_capture(result)))
    return result;
  return run_instead(run_send(l, f, l->grid, l->params, l->extra), v);
}

/* The legacy functions take a thread's own default stream by this handle. */
static bool is_own(cu_stream stream, bool per_thread) {
  return stream == CU_STREAM_PER_THREAD || (per_thread && !stream);
}

/* A launch that may be tuned, recorded or timed. */
static __attribute__((noinline)) int launch_watched(cu_function f, const run_launch *l) {
  run_time t;
  int result;
  if (run_watched(f, l, &result)) return result;
  const bool timed = run_settings.profile && run_time_begin(run_function_of(f), l, &t);
  result = send_either(run_function_of(f), f, l);
  if (timed) run_time_end(&t, l, result == CU_SUCCESS);
  return result;
}

static int launch(cu_function f, const run_launch *l) {
  if (is_own(l->stream, l->per_thread)) run_gate_own_launch();
  return run_watches ? launch_watched(f, l) : send_either(run_function_of(f), f, l);
}

/* Most kernels have no verdict, and their launches go on as they came. */
static inline bool has_nothing(run_kernel *k) {
  if (!k) return true;
  if (atomic_load_explicit(&k->variants, memory_order_acquire) ||
      atomic_load_explicit(&k->levers, memory_order_acquire))
    return false;
  atomic_fetch_add_explicit(&k->launches, 1, memory_order_relaxed);
  return true;
}

static __attribute__((noinline)) int launch_some(cu_function f, unsigned gx, unsigned gy, unsigned gz,
                                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                 cu_stream stream, void **params, void **extra) {
  const run_launch l = {{gx, gy, gz}, {bx, by, bz}, shared, stream, .params = params, .extra = extra};
  return launch(f, &l);
}

static __attribute__((noinline)) int launch_some_ptsz(cu_function f, unsigned gx, unsigned gy, unsigned gz,
                                                      unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                      cu_stream stream, void **params, void **extra) {
  const run_launch l = {{gx, gy, gz}, {bx, by, bz}, shared, stream, true, .params = params, .extra = extra};
  return launch(f, &l);
}

int run_cuLaunchKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, cu_stream stream, void **params, void **extra) {
  const bool as_it_is = !run_watches && !is_own(stream, false) && has_nothing(run_function_of(f));
  return (as_it_is ? run_real.cuLaunchKernel : launch_some)(f, gx, gy, gz, bx, by, bz, shared, stream, params,
                                                            extra);
}

int run_cuLaunchKernel_ptsz(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, cu_stream stream, void **params, void **extra) {
  const bool as_it_is = !run_watches && !is_own(stream, true) && has_nothing(run_function_of(f));
  return (as_it_is ? run_real.cuLaunchKernel_ptsz : launch_some_ptsz)(f, gx, gy, gz, bx, by, bz, shared,
                                                                      stream, params, extra);
}

/* One that no variant may take the place of. */
static void launched(cu_function f) {
  run_kernel *k = run_function_of(f);
  if (!k) return;
  atomic_fetch_add_explicit(&k->launches, 1, memory_order_relaxed);
  if (atomic_load_explicit(&k->variants, memory_order_acquire))
    atomic_fetch_add_explicit(&k->missed[RUN_MISS_KIND], 1, memory_order_relaxed);
}

/* Attributes that are as good for the rewritten kernel: none, an access-policy window, a priority, domains of
 * memory synchronisation. Clusters, cooperation and programmatic dependence are not. */
static bool are_harmless(const cu_launch_config *c) {
  static const uint32_t harmless = 1u << CU_LAUNCH_IGNORED | 1u << CU_LAUNCH_POLICY_WINDOW |
                                   1u << CU_LAUNCH_PRIORITY | 1u << CU_LAUNCH_SYNC_DOMAIN_MAP |
                                   1u << CU_LAUNCH_SYNC_DOMAIN;
  for (unsigned k = 0; k < c->n_attributes; k++)
    if (c->attributes[k].id < 0 || c->attributes[k].id > 31 || !(harmless & 1u << c->attributes[k].id))
      return false;
  return true;
}

/* The program's own kernel, with a lever of the launch at most. */
static int launch_original(cu_function f, const run_launch *l) {
  run_kernel *k = run_function_of(f);
  int result;
  if (is_own(l->stream, l->per_thread)) run_gate_own_launch();
  if (run_watches && run_lever_watched(f, l, &result)) return result;
  /* No variant fits, and without a text there is none. */
  if (k && takes_turns(k) && !k->module->own.data && run_live_launch(k, f, l, &result)) return result;
  launched(f);
  return k && run_lever_launch(k, f, l, &result) ? result : run_send(l, f, l->grid, l->params, l->extra);
}

static int extended(const cu_launch_config *c, cu_function f, void **params, void **extra, bool per_thread) {
  run_launch l = {.per_thread = per_thread, .params = params, .extra = extra, .config = c};
  if (!c)
    return (per_thread ? run_real.cuLaunchKernelEx_ptsz : run_real.cuLaunchKernelEx)(c, f, params, extra);
  l.shared = c->dynamic_shared;
  l.stream = c->stream;
  memcpy(l.grid, c->grid, sizeof l.grid);
  memcpy(l.block, c->block, sizeof l.block);
  return are_harmless(c) ? launch(f, &l) : launch_original(f, &l);
}

int run_cuLaunchKernelEx(const cu_launch_config *c, cu_function f, void **params, void **extra) {
  return extended(c, f, params, extra, false);
}

int run_cuLaunchKernelEx_ptsz(const cu_launch_config *c, cu_function f, void **params, void **extra) {
  return extended(c, f, params, extra, true);
}

int run_cuLaunchCooperativeKernel(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, cu_stream stream,
                                  void **params) {
  if (is_own(stream, false)) run_gate_own_launch();
  launched(f);
  return run_real.cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params);
}

int run_cuLaunchCooperativeKernel_ptsz(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                       unsigned by, unsigned bz, unsigned shared, cu_stream stream,
                                       void **params) {
  if (is_own(stream, true)) run_gate_own_launch();
  launched(f);
  return run_real.cuLaunchCooperativeKernel_ptsz(f, gx, gy, gz, bx, by, bz, shared, stream, params);
}
