#include "launch/runner.h"
#include <inttypes.h>
#include <stdio.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- The emulator's memory ---------------------------------------------------------- */

static hd_status allocate(void *ctx, uint64_t bytes, uint64_t *address, hd_diag *d) {
  return hd_emu_alloc(ctx, bytes, address, d);
}

static hd_status write_bytes(void *ctx, uint64_t address, const void *bytes, uint64_t n, hd_diag *d) {
  if (bytes) return hd_emu_write(ctx, address, bytes, n, d);
  memset(hd_emu_ptr(ctx, address, n), 0, n);
  hd_emu_mark_written(ctx, address, n);
  return HD_OK;
}

static hd_status tensor_map(void *ctx, const hd_tensor *t, void *map, hd_diag *d) {
  return hd_emu_tensor_map(t, map, d);
}

static hd_status image(void *ctx, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d) {
  return surface ? hd_emu_surface(ctx, &t->image, handle, d) : hd_emu_texture(ctx, t, handle, d);
}

static hd_status find_variable(runner *r, uint32_t i, hd_diag *d) {
  uint64_t bytes;
  hd_status st = hd_emu_symbol(r->program, r->w->buffers[i].name, &r->addresses[i], &bytes, d);
  return st == HD_OK ? launch_check_variable(r->w, i, bytes, d) : st;
}

/* Before anything else is allocated: buffers then lie at the same addresses whatever the kernels are, and
 * results that hold addresses can be compared. */
static hd_status allocate_buffers(runner *r, hd_diag *d) {
  const hd_workload *w = r->w;
  r->addresses = HD_NEW_N(&r->arena, (size_t)w->n_buffers + 1, uint64_t);
  r->pointers = HD_NEW_N(&r->arena, (size_t)w->n_buffers + 1, void *);
  hd_status st = r->addresses && r->pointers ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++)
    if (!w->buffers[i].variable) st = hd_emu_alloc(r->emu, w->buffers[i].bytes, &r->addresses[i], d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    if (!w->buffers[i].points) continue;
    r->pointers[i] = hd_arena_alloc(&r->arena, w->buffers[i].bytes, 8);
    st = r->pointers[i] ? hd_workload_point(w, i, r->addresses, r->pointers[i], d) : hd_nomem(d);
  }
  return st;
}

static hd_status find_variables(runner *r, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < r->w->n_buffers; i++)
    if (r->w->buffers[i].variable) st = find_variable(r, i, d);
  return st;
}

/* ---- Set-up ---------------------------------------------------------------------- */

/* Rewriting works in place, on a module of the runner's own; the shared one is not changed. */
static hd_status rewrite(runner *r, const hd_resolved *plans, const hd_run_options *o, hd_diag *d) {
  hd_status st = hd_apply_resolved(plans, &o->compile, o->machine.n_sms, HD_TEXT_NONE, &r->own, d);
  if (st != HD_OK) return st;
  r->module = r->own.module;
  launch_setup_take(&r->setup, r->own.recipes);
  return HD_OK;
}

static hd_status load(runner *r, const hd_resolved *plans, const hd_run_options *o, hd_diag *d) {
  hd_status st = HD_OK;
  r->module = r->code->module;
  if (plans) st = rewrite(r, plans, o, d);
  if (st == HD_OK) st = hd_emu_load(r->emu, r->module, &r->program, d);
  for (uint32_t k = 0; st == HD_OK && k < r->code->n_kernels; k++)
    st = hd_emu_supported(r->program, r->code->kernels[k].name, d);
  return st;
}

static bool is_cooperative(const hd_workload *w) {
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].cooperative) return true;
  return false;
}

static hd_status open_on(runner *r, const hd_compiled *code, const hd_resolved *plans,
                         const hd_run_options *o, unsigned checks, const hd_emu *like, hd_diag *d) {
  *r = (runner){.w = code->workload,
                .code = code,
                .n_sms = o->machine.n_sms,
                .until = o->budget.until,
                .stop = o->budget.stop};
  if (!r->n_sms) r->n_sms = is_cooperative(r->w) ? LAUNCH_COOPERATIVE_SMS : LAUNCH_SMS;
  hd_arena_init(&r->arena);
  hd_emu_options eo = {.checks = checks,
                       .threads = o->machine.threads,
                       .n_sms = r->n_sms,
                       .like = like,
                       .stop = o->budget.stop};
  hd_status st = launch_check_variables(code, d);
  if (st == HD_OK) st = hd_emu_create(&eo, &r->emu, d);
  if (st == HD_OK) hd_emu_set_until(r->emu, o->budget.until);
  launch_memory memory = {
      .ctx = r->emu, .alloc = allocate, .write = write_bytes, .tensor_map = tensor_map, .image = image};
  if (st == HD_OK) st = launch_setup_open(&r->setup, code, memory, d);
  if (st == HD_OK) st = allocate_buffers(r, d);
  if (st == HD_OK) st = load(r, plans, o, d);
  if (st == HD_OK) st = find_variables(r, d);
  if (st == HD_OK) st = launch_setup_build(&r->setup, r->module, plans, r->addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < r->w->n_images; i++)
    if (r->w->images[i].reference)
      st = hd_emu_bind(r->program, r->w->images[i].reference, r->setup.images[i], d);
  return st;
}

hd_status runner_open(runner *r, const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      unsigned checks, hd_diag *d) {
  return open_on(r, code, plans, o, checks, NULL, d);
}

void runner_close(runner *r) {
  launch_setup_close(&r->setup);
  if (r->program) hd_emu_unload(r->program);
  if (r->emu) hd_emu_destroy(r->emu);
  hd_rewritten_free(&r->own);
  hd_arena_free(&r->arena);
  *r = (runner){0};
}

/* ---- Runs --------------------------------------------------------------------------- */

void *runner_bytes(const runner *r, uint32_t buffer) {
  return hd_emu_ptr(r->emu, r->addresses[buffer], r->w->buffers[buffer].bytes);
}

/* Buffers that the workload gives no contents count as never written; variables are as they were initialised.
 */
static void finish_fill(const runner *r, const bool *filled) {
  for (uint32_t i = 0; i < r->w->n_buffers; i++) {
    if (r->pointers[i]) memcpy(runner_bytes(r, i), r->pointers[i], r->w->buffers[i].bytes);
    if (filled[i] || r->w->buffers[i].variable)
      hd_emu_mark_written(r->emu, r->addresses[i], r->w->buffers[i].bytes);
    else
      hd_emu_mark_unwritten(r->emu, r->addresses[i], r->w->buffers[i].bytes);
  }
}

hd_status runner_fill(runner *r, hd_diag *d) {
  uint32_t n = r->w->n_buffers;
  void **bytes = HD_NEW_N(&r->arena, (size_t)n + 1, void *);
  bool *filled = HD_NEW_N(&r->arena, (size_t)n + 1, bool);
  if (!bytes || !filled) return hd_nomem(d);
  for (uint32_t i = 0; i < n; i++) bytes[i] = runner_bytes(r, i);
  hd_emu_reset(r->program);
  hd_status st = launch_first_contents(r->w, bytes, filled, d);
  if (st == HD_OK) finish_fill(r, filled);
  return st;
}

void runner_fill_from(runner *r, void *const *initial, const bool *filled) {
  hd_emu_reset(r->program);
  for (uint32_t i = 0; i < r->w->n_buffers; i++)
    if (filled[i] || !r->w->buffers[i].variable)
      memcpy(runner_bytes(r, i), initial[i], r->w->buffers[i].bytes);
  finish_fill(r, filled);
}

/* ---- Contents that several runners begin with ------------------------------------------ */

hd_status runner_contents_make(const hd_workload *w, runner_contents *out, hd_diag *d) {
  *out = (runner_contents){0};
  hd_arena_init(&out->arena);
  out->bytes = HD_NEW_N(&out->arena, (size_t)w->n_buffers + 1, void *);
  out->filled = HD_NEW_N(&out->arena, (size_t)w->n_buffers + 1, bool);
  if (!out->bytes || !out->filled) return hd_nomem(d);
  hd_status st = hd_emu_create(&(hd_emu_options){.shared = true}, &out->emu, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    const uint64_t bytes = w->buffers[i].bytes;
    uint64_t address;
    if (w->buffers[i].variable) {
      out->bytes[i] = hd_arena_alloc(&out->arena, bytes, 8);
      if (!out->bytes[i]) st = hd_nomem(d);
    } else {
      st = hd_emu_alloc(out->emu, bytes, &address, d); /* where allocate_buffers has it */
      if (st == HD_OK) out->bytes[i] = hd_emu_ptr(out->emu, address, bytes);
    }
  }
  return st == HD_OK ? launch_first_contents(w, out->bytes, out->filled, d) : st;
}

void runner_contents_free(runner_contents *c) {
  hd_emu_destroy(c->emu);
  hd_arena_free(&c->arena);
  *c = (runner_contents){0};
}

hd_status runner_open_with(runner *r, const hd_compiled *code, const hd_resolved *plans,
                           const hd_run_options *o, unsigned checks, const runner_contents *contents,
                           hd_diag *d) {
  const hd_status st = open_on(r, code, plans, o, checks, contents->emu, d);
  for (uint32_t i = 0; st == HD_OK && i < r->w->n_buffers; i++)
    if (r->w->buffers[i].variable && contents->filled[i])
      memcpy(runner_bytes(r, i), contents->bytes[i], r->w->buffers[i].bytes);
  if (st == HD_OK) finish_fill(r, contents->filled);
  return st;
}

/* ---- One launch --------------------------------------------------------------------------- */

static bool is_zero(const char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    if (p[i]) return false;
  return true;
}

static hd_status check_state(const runner *r, uint32_t i, hd_diag *d) {
  const hd_recipe *recipe = &r->setup.recipes[i];
  const uint64_t bytes = recipe->ballot ? recipe->ballot_offset : recipe->state_bytes;
  if (!bytes || is_zero(hd_emu_ptr(r->emu, r->setup.launches[i].state, bytes), bytes)) return HD_OK;
  return hd_fail(d, HD_ERR_FAULT, "%s: the rewritten kernel did not clear its queues",
                 r->w->launches[i].kernel);
}

static hd_emu_launch_params launch_params(const runner *r, uint32_t i, uint32_t resident) {
  const hd_wl_launch *l = &r->w->launches[i];
  hd_emu_launch_params p = {.kernel = l->kernel,
                            .grid = {l->grid[0], l->grid[1], l->grid[2]},
                            .block = {l->block[0], l->block[1], l->block[2]},
                            .dynamic_shared = l->dynamic_shared,
                            .args = r->setup.launches[i].args,
                            .args_bytes = r->setup.launches[i].args_bytes,
                            .cooperative = l->cooperative};
  hd_recipe_grid(&r->setup.recipes[i], l->grid, r->n_sms, resident, p.grid);
  return p;
}

/* An out of bounds access names the allocation by its address: it is a buffer, or an argument of that name.
 */
static void name_buffer(const runner *r, hd_diag *d) {
  static const char word[] = "allocation at 0x";
  char *at = d ? strstr(d->message, word) : NULL, *end = NULL;
  const uint64_t address = at ? strtoull(at + sizeof word - 1, &end, 16) : 0;
  for (uint32_t i = 0; end && i < r->w->n_buffers; i++) {
    const hd_wl_buffer *b = &r->w->buffers[i];
    char rest[sizeof d->message];
    if (r->addresses[i] != address || b->variable) continue;
    snprintf(rest, sizeof rest, "%s", end);
    hd_fit(end, sizeof d->message - (size_t)(end - d->message), ", which is %s, %s[%" PRIu64 "]%s", b->name,
           hd_elem_name(b->type), b->count, rest);
    return;
  }
}

hd_status runner_run_launch(runner *r, uint32_t launch, const hd_dispatch *how, const hd_emu_hooks *hooks,
                            hd_emu_stats *stats, hd_diag *d) {
  const hd_emu_launch_params p = launch_params(r, launch, how && how->resident ? how->resident : 1);
  const hd_status st = hd_emu_launch(r->program, &p, how, hooks, stats, d);
  if (st == HD_ERR_FAULT) name_buffer(r, d);
  return st == HD_OK ? check_state(r, launch, d) : st;
}

hd_status runner_run(runner *r, const hd_dispatch *how, const hd_emu_hooks *const *hooks, hd_emu_stats *stats,
                     hd_diag *d) {
  hd_emu_stats sum = {0};
  for (uint32_t i = 0; i < r->w->n_launches; i++) {
    hd_emu_stats s = {0};
    const hd_status st = runner_run_launch(r, i, how, hooks ? hooks[i] : NULL, &s, d);
    if (st != HD_OK) return st;
    sum.ctas += s.ctas;
    sum.warps += s.warps;
    sum.warp_instructions += s.warp_instructions;
    sum.thread_instructions += s.thread_instructions;
    sum.seconds += s.seconds;
  }
  if (stats) *stats = sum;
  return HD_OK;
}

/* ---- Some of the CTAs ---------------------------------------------------------------- */

typedef struct some {
  hd_emu_grid *grid;
  uint64_t *clusters; /* CTAs that depend on each other */
  uint64_t n, most;
  double until; /* hd_seconds; 0: never */
  const bool *stop;
  uint32_t n_sms;
  _Atomic uint64_t next;
  _Atomic int status;
  hd_diag *d; /* of the first that fails */
} some;

/* A turn for every warp. *goes_on is set where one may run more. False: a fault. */
static bool step_cta(const some *s, hd_emu_cta *c, bool *goes_on) {
  enum { QUANTUM = 4096 };
  for (uint32_t w = 0; w < hd_emu_cta_warps(c); w++) {
    const uint64_t done = hd_emu_warp_instructions(c, w), left = s->most > done ? s->most - done : 0;
    if (!left) continue;
    const hd_step step = hd_emu_warp_step(c, w, left < QUANTUM ? left : QUANTUM);
    if (step == HD_STEP_FAULT) return false;
    *goes_on |= step != HD_STEP_DONE && hd_emu_warp_instructions(c, w) != done;
  }
  return true;
}

/* HD_ERR_BUDGET: its time was over first, or the emulator's work. */
static hd_status run_cluster(const some *s, hd_emu_cta *first, hd_diag *d) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    if (hd_is_over(s->until, s->stop))
      return hd_fail_bound(d, HD_BOUND_TIME, "a task takes longer than it may on the emulator");
    for (uint32_t k = 0; k < hd_emu_cluster_size(first); k++) {
      hd_emu_cta *c = hd_emu_cluster_cta(first, k);
      if (!step_cta(s, c, &goes_on)) return HD_OK;
      if (!hd_emu_cta_work(c))
        return hd_fail_bound(d, HD_BOUND_WORK, "a task runs more instructions than it may on the emulator");
    }
  }
  return HD_OK;
}

static void run_some(void *ctx, unsigned worker) {
  some *s = ctx;
  for (uint64_t i; !s->status && (i = s->next++) < s->n;) {
    hd_emu_cta *c;
    hd_diag e = {0};
    int none = HD_OK;
    const uint64_t cluster = s->clusters[i];
    hd_status st = hd_emu_cluster_start(s->grid, cluster, (uint32_t)(cluster % s->n_sms), worker, &c, &e);
    if (st == HD_OK) {
      st = run_cluster(s, c, &e);
      hd_emu_cta_end(c);
    }
    if (st == HD_OK) continue;
    if (atomic_compare_exchange_strong(&s->status, &none, (int)st) && s->d) *s->d = e;
    return;
  }
}

/* The clusters of these tasks, each once. */
static hd_status find_clusters(some *s, const uint64_t *tasks, uint64_t n, hd_diag *d) {
  s->clusters = malloc((n + 1) * sizeof *s->clusters);
  bool *listed = calloc(hd_emu_clusters(s->grid) + 1, sizeof *listed);
  if (!s->clusters || !listed) {
    free(listed);
    return hd_nomem(d);
  }
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t cluster = hd_emu_cluster_of(s->grid, tasks[i]);
    if (listed[cluster]) continue;
    listed[cluster] = true;
    s->clusters[s->n++] = cluster;
  }
  free(listed);
  return HD_OK;
}

hd_status runner_run_some(runner *r, uint32_t launch, const hd_emu_hooks *hooks, const uint64_t *tasks,
                          uint64_t n, uint64_t most, unsigned threads, hd_diag *d) {
  const hd_emu_launch_params p = launch_params(r, launch, 1);
  some s = {.most = most, .until = r->until, .stop = r->stop, .n_sms = r->n_sms, .d = d};
  hd_emu_set_until(r->emu, r->until);
  hd_status st = hd_emu_grid_begin(r->program, &p, hooks, &s.grid, d);
  if (st != HD_OK) return st;
  st = find_clusters(&s, tasks, n, d);
  if (st == HD_OK && !hd_parallel(threads, run_some, &s) && s.next < s.n) st = hd_nomem(d);
  if (st == HD_OK) st = (hd_status)s.status;
  free(s.clusters);
  const hd_status ended = hd_emu_grid_end(s.grid, st == HD_OK ? d : NULL);
  return st != HD_OK ? st : ended;
}
