/* emu/machine/grid.c: one launch: its set-up, its CTAs, its faults. */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"
#include "emu/machine/order.h"
#include "emu/machine/tmem.h"
#include "heddle/container.h"
#include "heddle/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

static const char *const axis[3] = {"x", "y", "z"};

/* ---- Checks of a launch -------------------------------------------------------- */

static hd_status check_shape(const hd_emu_launch_params *l, hd_diag *d) {
  uint64_t threads = 1;
  for (int k = 0; k < 3; k++) {
    if (l->grid[k] < 1 || l->grid[k] > hd_max_grid[k])
      return hd_fail(d, HD_ERR_USAGE, "a grid of %u CTAs in %s: 1 to %u are possible", l->grid[k], axis[k],
                     hd_max_grid[k]);
    if (l->block[k] < 1 || l->block[k] > hd_max_block[k])
      return hd_fail(d, HD_ERR_USAGE, "a block of %u threads in %s: 1 to %u are possible", l->block[k],
                     axis[k], hd_max_block[k]);
    threads *= l->block[k];
  }
  if (threads > EMU_MAX_THREADS)
    return hd_fail(d, HD_ERR_USAGE, "a block of %" PRIu64 " threads: %d are possible", threads,
                   EMU_MAX_THREADS);
  return HD_OK;
}

static hd_status check_directives(const hd_ptx_module *m, const emu_code *code, const hd_emu_launch_params *l,
                                  hd_diag *d) {
  hd_status st = hd_ptx_check_block(m, code->func, l->block, d);
  if (st != HD_OK) return st;
  if (hd_ptx_func_dir(m, code->func, HD_M_BLOCKSARECLUSTERS))
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "%s counts its grid in clusters (.blocksareclusters), which is not emulated", code->name);
  return HD_OK;
}

/* The cluster's shape: as the kernel says, else as the launch does, else a CTA alone. */
static hd_status find_cluster(const hd_ptx_module *m, const emu_code *code, const hd_emu_launch_params *l,
                              uint32_t cluster[3], hd_diag *d) {
  const hd_ptx_dir *dir = hd_ptx_func_dir(m, code->func, HD_M_REQNCTAPERCLUSTER);
  const bool given = l->cluster[0] || l->cluster[1] || l->cluster[2];
  uint64_t n = 1;
  if (hd_ptx_func_dir(m, code->func, HD_M_EXPLICITCLUSTER) && !dir && !given)
    return hd_fail(d, HD_ERR_USAGE, "%s must be launched in clusters (.explicitcluster)", code->name);
  for (unsigned k = 0; k < 3; k++) {
    const uint32_t said = !dir ? 0 : k < dir->n_vals ? dir->vals[k] : 1;
    cluster[k] = said ? said : given && l->cluster[k] ? l->cluster[k] : 1;
    if (said && given && l->cluster[k] && l->cluster[k] != said)
      return hd_fail(d, HD_ERR_USAGE, "%s has clusters of %u CTAs in %s, not %u", code->name, said, axis[k],
                     l->cluster[k]);
    if (cluster[k] > HD_MAX_CLUSTER || (n *= cluster[k]) > HD_MAX_CLUSTER)
      return hd_fail(d, HD_ERR_USAGE, "%s: a cluster has at most %d CTAs", code->name, HD_MAX_CLUSTER);
    if (l->grid[k] % cluster[k])
      return hd_fail(d, HD_ERR_USAGE, "%s: a grid of %u CTAs in %s is no multiple of its clusters' %u",
                     code->name, l->grid[k], axis[k], cluster[k]);
  }
  return HD_OK;
}

/* CTAs of a cooperative launch are resident at once. */
static hd_status check_fit(const hd_emu *e, const emu_code *code, const hd_emu_launch_params *l, hd_diag *d) {
  enum { SM_THREADS = 2048, SM_CTAS = 32, SM_SHARED = 228 << 10, RESERVED_SHARED = 1 << 10 };
  const uint32_t threads = (l->block[0] * l->block[1] * l->block[2] + HD_WARP - 1) / HD_WARP * HD_WARP;
  const uint32_t shared = code->shared_bytes + l->dynamic_shared + RESERVED_SHARED;
  uint32_t fit = l->fit ? l->fit : SM_CTAS;
  if (!l->fit && fit > SM_THREADS / threads) fit = SM_THREADS / threads;
  if (!l->fit && fit > SM_SHARED / shared) fit = SM_SHARED / shared;
  const uint64_t n = (uint64_t)l->grid[0] * l->grid[1]; /* below 2^48 */
  if (l->cooperative && (n > (uint64_t)e->opt.n_sms * fit || n * l->grid[2] > (uint64_t)e->opt.n_sms * fit))
    return hd_fail(
        d, HD_ERR_USAGE,
        "%s is launched cooperatively with %u x %u x %u CTAs: %u fit each of the %u SMs, and all must be "
        "resident at once",
        code->name, l->grid[0], l->grid[1], l->grid[2], fit, e->opt.n_sms);
  return HD_OK;
}

static hd_status check_launch(hd_emu_program *p, const hd_emu_launch_params *l, int64_t *index, hd_diag *d) {
  const hd_ptx_module *m = p->module;
  *index = hd_ptx_find_kernel(m, l->kernel);
  if (*index < 0 || !m->funcs[*index].entry || !p->codes[*index])
    return l->kernel ? hd_fail(d, HD_ERR_USAGE, "%s has no kernel %s", m->name, l->kernel)
                     : hd_fail(d, HD_ERR_USAGE, "%s has no kernel or several: name one", m->name);
  emu_code *code = p->codes[*index];
  if (code->unsupported.status != HD_OK) {
    if (d) *d = code->unsupported;
    return code->unsupported.status;
  }
  hd_status st = check_shape(l, d);
  if (st == HD_OK) st = check_directives(m, code, l, d);
  if (st != HD_OK) return st;
  uint64_t *offsets = calloc((size_t)code->func->n_params + 1, sizeof *offsets);
  if (!offsets) return hd_nomem(d);
  uint64_t args = hd_ptx_param_layout(m, code->func, offsets);
  free(offsets);
  if (args != l->args_bytes || (args && !l->args))
    return hd_fail(d, HD_ERR_USAGE, "%s has %" PRIu64 " bytes of parameters, not %" PRIu64, code->name, args,
                   l->args ? l->args_bytes : 0);
  if (args > HD_MAX_PARAMS)
    return hd_fail(d, HD_ERR_USAGE, "%s has %" PRIu64 " bytes of parameters: %d are possible", code->name,
                   args, HD_MAX_PARAMS);
  uint64_t shared = (uint64_t)code->shared_bytes + l->dynamic_shared;
  if (shared > EMU_SHARED_LIMIT)
    return hd_fail(d, HD_ERR_USAGE,
                   "%s needs %u bytes of static and %u of dynamic shared memory: %d are possible", code->name,
                   code->shared_bytes, l->dynamic_shared, EMU_SHARED_LIMIT);
  if (code->stack_bytes > EMU_LOCAL_LIMIT || code->local_bytes > EMU_LOCAL_LIMIT)
    return hd_fail(d, HD_ERR_USAGE, "%s needs %" PRIu64 " bytes of local memory a thread: %d are possible",
                   code->name, code->stack_bytes > code->local_bytes ? code->stack_bytes : code->local_bytes,
                   EMU_LOCAL_LIMIT);
  return check_fit(p->emu, code, l, d);
}

/* ---- Grids ------------------------------------------------------------------------ */

void emu_cta_free(hd_emu_cta *c) {
  for (uint32_t k = 0; k < c->n_warps; k++) {
    emu_wgmma_free(&c->warps[k]);
    emu_copies_free(&c->warps[k]);
    emu_frames_free(&c->warps[k]);
  }
  if (c->local) munmap(c->local, c->grid->stack_bytes * HD_WARP * c->n_warps);
  if (c->local_init) munmap(c->local_init, c->grid->stack_bytes * HD_WARP * c->n_warps);
  if (!c->cluster) free(c->shared);
  free(c->shared_init);
  emu_bulk_free(c);
  emu_tmem_free(c);
  emu_order_free(c);
  free(c);
}

/* The workspace of cooperative groups, whose address is in %envreg1 and %envreg2: its size in bytes, then the
 * barrier's state. All CTAs but the first add 1 to the state, and the first adds the number that flips its
 * top bit; all wait for the flip. */
static hd_status make_workspace(hd_emu_grid *g, hd_diag *d) {
  enum { WORKSPACE = 256, BARRIER = 4 };
  static const uint32_t zeros[WORKSPACE / 4];
  hd_status st = hd_emu_alloc(g->emu, WORKSPACE, &g->workspace, d);
  if (st == HD_OK) st = hd_emu_write(g->emu, g->workspace, zeros, WORKSPACE, d);
  if (st == HD_OK) g->barrier = hd_emu_ptr(g->emu, g->workspace + BARRIER, sizeof *g->barrier);
  return st;
}

static void free_grid(hd_emu_grid *g) {
  if (g->workspace) hd_emu_free(g->emu, g->workspace, NULL);
  for (hd_emu_cta *c = g->idle, *next; c; c = next) {
    next = c->next;
    emu_cta_free(c);
  }
  emu_clusters_free(g->idle_clusters);
  emu_race_end(&g->race);
  emu_strays_free(g);
  free((void *)(uintptr_t)g->view.params);
  free(g->tid);
  pthread_mutex_destroy(&g->lock);
  free(g);
}

/* Calls through registers may lead into every program of the emulator. */
static void expect_other_programs(hd_emu_grid *g) {
  pthread_rwlock_rdlock(&g->emu->lock);
  for (const hd_emu_program *p = g->emu->programs; p; p = p->next) {
    if (p == g->program) continue;
    if (g->stack_bytes < EMU_OPEN_STACK) g->stack_bytes = EMU_OPEN_STACK;
    for (uint32_t k = 0; k < p->module->n_funcs; k++) {
      if (p->module->funcs[k].entry) continue;
      g->traits.order_sensitive |= p->traits[k].order_sensitive;
      g->traits.releases |= p->traits[k].releases;
      g->traits.depends |= p->traits[k].depends;
      g->traits.prints |= p->traits[k].prints;
      g->traits.allocates |= p->traits[k].allocates;
    }
  }
  pthread_rwlock_unlock(&g->emu->lock);
}

hd_status hd_emu_grid_begin(hd_emu_program *p, const hd_emu_launch_params *l, const hd_emu_hooks *hooks,
                            hd_emu_grid **out, hd_diag *d) {
  *out = NULL;
  int64_t index;
  hd_status st = check_launch(p, l, &index, d);
  uint32_t cluster[3];
  if (st == HD_OK) st = find_cluster(p->module, p->codes[index], l, cluster, d);
  if (st != HD_OK) return st;
  hd_emu_grid *g = calloc(1, sizeof *g);
  if (!g) return hd_nomem(d);
  pthread_mutex_init(&g->lock, NULL);
  g->emu = p->emu;
  g->program = p;
  g->code = p->codes[index];
  g->traits = p->traits[index];
  if (hooks) g->hooks = *hooks;
  g->user = l->user;
  if (p->emu->opt.checks == HD_CHECK_BOUNDS) g->told = l->strays;
  if (p->emu->opt.checks & HD_CHECK_INIT) g->unwritten = l->unwritten;
  g->fault_ordinal = UINT64_MAX;
  g->n_threads = l->block[0] * l->block[1] * l->block[2];
  g->n_warps = (g->n_threads + HD_WARP - 1) / HD_WARP;
  g->n_tasks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  memcpy(g->cluster, cluster, sizeof g->cluster);
  g->cluster_size = cluster[0] * cluster[1] * cluster[2];
  g->n_units = g->n_tasks / g->cluster_size;
  g->dynamic_shared = l->dynamic_shared;
  g->shared_bytes = (uint64_t)g->code->shared_bytes + l->dynamic_shared;
  g->stack_bytes = (g->code->stack_bytes + 15) / 16 * 16;
  if (g->stack_bytes < emu_local_bytes(g->code)) g->stack_bytes = emu_local_bytes(g->code);
  if (g->traits.indirect) expect_other_programs(g);
  g->id = ++g->emu->launches;
  g->nc_tag = emu_nc_tag(g->emu, g->id);
  emu_changes(g->emu);
  memcpy(g->view.grid, l->grid, sizeof g->view.grid);
  memcpy(g->view.block, l->block, sizeof g->view.block);
  /* Rounded up: handlers may read a parameter's whole 16 bytes. */
  char *params = calloc(1, l->args_bytes / 16 * 16 + 32);
  g->view.params = params;
  g->view.params_bytes = l->args_bytes;
  g->tid = calloc(g->n_warps, sizeof *g->tid);
  st = params && g->tid ? HD_OK : hd_nomem(d);
  if (st == HD_OK && l->cooperative) st = make_workspace(g, d);
  if (st != HD_OK) {
    free_grid(g);
    return st;
  }
  if (l->args_bytes) memcpy(params, l->args, l->args_bytes);
  for (uint32_t t = 0; t < g->n_warps * HD_WARP; t++) {
    uint32_t(*tid)[HD_WARP] = g->tid[t / HD_WARP];
    tid[0][t % HD_WARP] = t % l->block[0];
    tid[1][t % HD_WARP] = t / l->block[0] % l->block[1];
    tid[2][t % HD_WARP] = t / l->block[0] / l->block[1];
  }
  emu_race_begin(g->emu, &g->race);
  emu_init_settle(g->emu);
  *out = g;
  return HD_OK;
}

hd_status hd_emu_grid_end(hd_emu_grid *g, hd_diag *d) {
  hd_status st = g->fault_ordinal == UINT64_MAX ? HD_OK : g->fault.status;
  if (st != HD_OK && d) *d = g->fault;
  emu_strays_tell(g);
  free_grid(g);
  return st;
}

const emu_launch_view *emu_warp_launch(const emu_warp *w) { return &w->cta->grid->view; }

/* ---- CTAs ------------------------------------------------------------------------------ */

hd_emu_cta *emu_cta_make(hd_emu_grid *g, char *at) {
  hd_emu_cta *c = NULL;
  if (posix_memalign((void **)&c, 64, sizeof *c + g->n_warps * sizeof c->warps[0]) != 0) return NULL;
  memset(c, 0, sizeof *c + g->n_warps * sizeof c->warps[0]);
  c->grid = g;
  c->emu = g->emu;
  c->access = g->emu->access;
  c->n_warps = g->n_warps;
  c->shared_bytes = g->shared_bytes;
  const bool init = g->emu->opt.checks & HD_CHECK_INIT;
  const size_t shared = emu_shared_taken(g->shared_bytes);
  c->shared = at ? at : shared ? aligned_alloc(128, shared) : NULL;
  if (shared && init) c->shared_init = aligned_alloc(128, shared);
  const uint64_t local = g->stack_bytes * HD_WARP * g->n_warps;
  const bool local_init = local && init && g->unwritten;
  if (local) c->local = emu_reserve(local);
  if (local_init) c->local_init = emu_reserve(local);
  if ((shared && (!c->shared || (init && !c->shared_init))) || (local && !c->local) ||
      (local_init && !c->local_init) || (!at && !emu_order_create(c))) {
    if (at) c->shared = NULL;
    emu_cta_free(c);
    return NULL;
  }
  c->watch = (init ? EMU_WATCH_INIT : 0) | (g->emu->opt.checks & HD_CHECK_RACE ? EMU_WATCH_RACE : 0) |
             (g->emu->nc && (g->traits.noncoherent || g->traits.indirect) ? EMU_WATCH_NC : 0) |
             (g->hooks.access ? g->hooks.spaces & 0xff : 0);
  for (uint32_t k = 0; k < g->n_warps; k++) {
    emu_mwarp *m = &c->warps[k];
    m->w.cta = c;
    m->w.index = k;
    m->local = c->local ? c->local + g->stack_bytes * HD_WARP * k : NULL;
  }
  return c;
}

static void start_warp(emu_mwarp *m, uint32_t live) {
  const hd_emu_grid *g = m->w.cta->grid;
  m->w.live = live;
  m->w.instructions = m->w.thread_instructions = 0;
  m->w.n_fibers = 0;
  m->barrier = -1;
  m->cluster_arrived = m->cluster_pending = 0;
  m->spins = m->turn = m->polls = m->issuer = 0;
  m->landing = m->told = 0;
  m->ticket = m->ticket_tells = m->copy_ticket = m->unreleased = m->told_first = 0;
  m->synced = m->yielded = m->starving = false;
  m->to_store = g->ordered;
  emu_frame *f = emu_frame_make(m, g->code, NULL, NULL, live);
  if (!f) return;
  m->w.n_fibers = 1;
  m->w.fibers[0] = (emu_fiber){.frame = f, .mask = live};
}

/* c, which is not running, becomes CTA `task`. */
static void start_cta(hd_emu_cta *c, uint64_t task, uint64_t ordinal, uint32_t sm, unsigned worker,
                      uint32_t ticket) {
  hd_emu_grid *g = c->grid;
  c->task = task;
  c->ordinal = ordinal;
  c->id[0] = (uint32_t)(task % g->view.grid[0]);
  c->id[1] = (uint32_t)(task / g->view.grid[0] % g->view.grid[1]);
  c->id[2] = (uint32_t)(task / g->view.grid[0] / g->view.grid[1]);
  c->sm = sm;
  c->worker = worker;
  c->ticket = ticket;
  c->unreleased = 0;
  c->touched = false;
  c->live_warps = c->n_warps;
  c->live_mask = c->n_warps == 32 ? UINT32_MAX : (1u << c->n_warps) - 1;
  c->blocked_warps = 0;
  c->stuck = c->waited = c->launched = false;
  c->clock = c->counted = c->clock_looks = c->stores = 0;
  c->quiet = NULL;
  /* Shared memory that is read before it is written must not depend on earlier CTAs. */
  if (c->shared_bytes) memset(c->shared, 0, c->cluster ? c->shared_bytes : emu_shared_taken(c->shared_bytes));
  if (c->shared_init) memset(c->shared_init, 0, c->shared_bytes);
  c->shared_unwritten = c->shared_bytes;
  memset(c->barriers, 0, sizeof c->barriers);
  emu_bulk_reset(c);
  emu_order_reset(c);
  if (g->hooks.cta_start) g->hooks.cta_start(g->hooks.ctx, worker, task, sm);
  for (uint32_t k = 0; k < c->n_warps; k++) {
    uint32_t left = g->n_threads - k * HD_WARP;
    start_warp(&c->warps[k], left >= HD_WARP ? UINT32_MAX : (1u << left) - 1);
  }
}

static hd_emu_cta *take_cta(hd_emu_grid *g) {
  pthread_mutex_lock(&g->lock);
  hd_emu_cta *c = g->idle;
  if (c) g->idle = c->next;
  pthread_mutex_unlock(&g->lock);
  return c ? c : emu_cta_make(g, NULL);
}

/* For races a cluster is one task: what its CTAs say to each other is their own affair. */
static bool take_ticket(hd_emu_grid *g, uint64_t task, uint32_t *ticket) {
  *ticket = 0;
  if (!g->emu->race) return true;
  pthread_mutex_lock(&g->lock);
  *ticket = emu_race_ticket(g->emu, &g->race, task);
  pthread_mutex_unlock(&g->lock);
  return *ticket != 0;
}

bool emu_is_late(const hd_emu_grid *g) {
  return hd_is_over(g->emu->until, g->emu->opt.stop) || hd_emu_is_spent(g->emu);
}

void emu_count_work(hd_emu_cta *c) {
  uint64_t all = 0;
  if (!c->emu->work) return;
  for (uint32_t k = 0; k < c->n_warps; k++) all += c->warps[k].w.thread_instructions;
  atomic_fetch_add(&c->emu->worked, all - c->counted);
  c->counted = all;
}

hd_status emu_say_late(const hd_emu_grid *g, hd_diag *d) {
  const bool spent = hd_emu_is_spent(g->emu);
  hd_buf title = {0};
  hd_kernel_title(g->code->name, false, &title);
  hd_fail_bound(d, spent ? HD_BOUND_WORK : HD_BOUND_TIME, "%s %s than it may on the emulator",
                title.data ? title.data : "", spent ? "runs more instructions" : "takes longer");
  hd_buf_free(&title);
  return HD_ERR_BUDGET;
}

hd_status emu_unit_start(hd_emu_grid *g, uint64_t unit, uint64_t ordinal, uint32_t sm, unsigned worker,
                         hd_emu_cta **out, hd_diag *d) {
  const bool cluster = g->cluster_size > 1;
  const uint64_t first = cluster ? emu_cluster_task(g, unit, 0) : unit;
  uint32_t ticket;
  *out = NULL;
  if (unit >= g->n_units)
    return hd_fail(d, HD_ERR_USAGE, "CTA %" PRIu64 " of a grid of %" PRIu64, unit, g->n_units);
  if (emu_is_late(g)) return emu_say_late(g, d);
  if (g->hooks.go_on && !g->hooks.go_on(g->hooks.ctx))
    return hd_fail(d, HD_ERR_BUDGET, "%s was stopped before CTA %" PRIu64, g->code->name, first);
  emu_cluster *k = cluster ? emu_cluster_take(g) : NULL;
  hd_emu_cta *c = k ? k->ctas[0] : cluster ? NULL : take_cta(g);
  if (!c || !take_ticket(g, first, &ticket)) {
    if (k) emu_clusters_free(k);
    if (c && !k) emu_cta_free(c);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a CTA of %s", g->code->name);
  }
  /* Different SMs, where there are as many: that is where a GPU puts them when it can. */
  for (uint32_t r = 0; r < emu_unit_size(c); r++)
    start_cta(emu_unit_cta(c, r), cluster ? emu_cluster_task(g, unit, r) : unit, ordinal,
              r ? (sm + r) % g->emu->opt.n_sms : sm, worker, ticket);
  *out = c;
  return HD_OK;
}

hd_status hd_emu_cta_start(hd_emu_grid *g, uint64_t task, uint32_t sm, unsigned worker, hd_emu_cta **out,
                           hd_diag *d) {
  *out = NULL;
  if (g->cluster_size > 1)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s runs in clusters, whose CTAs cannot be started one by one",
                   g->code->name);
  return hd_emu_cluster_start(g, task, sm, worker, out, d);
}

uint64_t hd_emu_clusters(const hd_emu_grid *g) { return g->n_units; }

uint64_t hd_emu_cluster_of(const hd_emu_grid *g, uint64_t task) {
  const uint32_t *dims = g->cluster, *grid = g->view.grid;
  const uint64_t x = task % grid[0], y = task / grid[0] % grid[1], z = task / grid[0] / grid[1];
  return x / dims[0] + grid[0] / dims[0] * (y / dims[1] + grid[1] / dims[1] * (z / dims[2]));
}

hd_status hd_emu_cluster_start(hd_emu_grid *g, uint64_t cluster, uint32_t sm, unsigned worker,
                               hd_emu_cta **out, hd_diag *d) {
  return emu_unit_start(g, cluster, atomic_fetch_add(&g->next_ordinal, 1), sm, worker, out, d);
}

uint32_t hd_emu_cluster_size(const hd_emu_cta *first) { return emu_unit_size(first); }
hd_emu_cta *hd_emu_cluster_cta(hd_emu_cta *first, uint32_t rank) { return emu_unit_cta(first, rank); }

uint32_t hd_emu_cta_warps(const hd_emu_cta *c) { return c->n_warps; }
bool hd_emu_cta_work(hd_emu_cta *c) {
  emu_count_work(c);
  return !hd_emu_is_spent(c->emu);
}

uint64_t hd_emu_warp_instructions(const hd_emu_cta *c, uint32_t w) { return c->warps[w].w.instructions; }
bool hd_emu_cta_stuck(const hd_emu_cta *c) { return c->stuck; }

hd_step hd_emu_cta_run(hd_emu_cta *c, uint64_t quantum) {
  while (c->live_warps) {
    for (uint32_t k = 0; k < c->n_warps; k++)
      if (c->live_mask >> k & 1 && hd_emu_warp_step(c, k, quantum ? quantum : 1) == HD_STEP_FAULT)
        return HD_STEP_FAULT;
  }
  return HD_STEP_DONE;
}

static void end_cta(hd_emu_cta *c) {
  hd_emu_grid *g = c->grid;
  uint64_t warp = 0, thread = 0;
  for (uint32_t k = 0; k < c->n_warps; k++) {
    emu_mwarp *m = &c->warps[k];
    warp += m->w.instructions;
    thread += m->w.thread_instructions;
    /* Fibers are left only if the launch ended early. */
    for (uint32_t f = 0; f < m->w.n_fibers; f++) emu_frame_drop(m, m->w.fibers[f].frame);
    m->w.n_fibers = 0;
    emu_wgmma_reset(m);
    emu_copies_reset(m);
  }
  emu_tmem_reset(c);
  emu_depend_over(c);
  if (g->hooks.cta_end) g->hooks.cta_end(g->hooks.ctx, c->worker, c->task, warp, thread);
}

void hd_emu_cta_end(hd_emu_cta *c) {
  if (!c) return;
  hd_emu_grid *g = c->grid;
  for (uint32_t r = 0; r < emu_unit_size(c); r++) end_cta(emu_unit_cta(c, r));
  pthread_mutex_lock(&g->lock);
  if (c->cluster) {
    c->cluster->next = g->idle_clusters;
    g->idle_clusters = c->cluster;
  } else {
    c->next = g->idle;
    g->idle = c;
  }
  pthread_mutex_unlock(&g->lock);
}

/* ---- Special registers -------------------------------------------------------------------- */

/* The value of a special register that is the same for a warp's 32 threads. */
static uint64_t sreg_value(const emu_mwarp *m, unsigned id, unsigned part) {
  const emu_cta *c = m->w.cta;
  const hd_emu_grid *g = c->grid;
  const unsigned p = part < 3 ? part : 0;
  switch (id) {
  case HD_SR_NTID: return part < 3 ? g->view.block[p] : 0;
  case HD_SR_CTAID: return part < 3 ? c->id[p] : 0;
  case HD_SR_NCTAID: return part < 3 ? g->view.grid[p] : 0;
  case HD_SR_CLUSTERID: return part < 3 ? c->id[p] / g->cluster[p] : 0;
  case HD_SR_NCLUSTERID: return part < 3 ? g->view.grid[p] / g->cluster[p] : 0;
  case HD_SR_CLUSTER_CTAID: return part < 3 ? c->id[p] % g->cluster[p] : 0;
  case HD_SR_CLUSTER_NCTAID: return part < 3 ? g->cluster[p] : 0;
  case HD_SR_CLUSTER_CTARANK: return c->rank;
  case HD_SR_CLUSTER_NCTARANK: return g->cluster_size;
  case HD_SR_WARPID: return m->w.index;
  case HD_SR_NWARPID: return 64; /* of an SM with 2048 threads */
  case HD_SR_SMID: return c->sm;
  case HD_SR_NSMID: return g->emu->opt.n_sms;
  case HD_SR_GRIDID: return g->id;
  case HD_SR_TOTAL_SMEM_SIZE:
  case HD_SR_AGGR_SMEM_SIZE: return c->shared_bytes;
  case HD_SR_DYNAMIC_SMEM_SIZE: return g->dynamic_shared;
  case HD_SR_ENVREG1: return g->workspace >> 32; /* 0: the launch is not cooperative */
  case HD_SR_ENVREG2: return g->workspace & UINT32_MAX;
  default: return 0; /* %pm, %reserved_smem_offset: nothing there */
  }
}

static bool is_64_bit(unsigned id) {
  return id == HD_SR_GRIDID || id == HD_SR_CURRENT_GRAPH_EXEC || (id >= HD_SR_PM0_64 && id <= HD_SR_PM7_64);
}

static uint32_t lane_mask(unsigned id, unsigned lane) {
  const uint32_t eq = 1u << lane, lt = eq - 1;
  switch (id) {
  case HD_SR_LANEMASK_EQ: return eq;
  case HD_SR_LANEMASK_LE: return lt | eq;
  case HD_SR_LANEMASK_LT: return lt;
  case HD_SR_LANEMASK_GE: return ~lt;
  default: return ~(lt | eq);
  }
}

void emu_fill_sregs(emu_mwarp *m, emu_frame *f) {
  const hd_emu_grid *g = m->w.cta->grid;
  for (uint32_t k = 0; k < f->code->n_sregs; k++) {
    const unsigned id = f->code->sregs[k].id, part = f->code->sregs[k].part;
    char *slot = f->regs + (size_t)f->code->sregs[k].slot * EMU_SLOT_BYTES;
    uint32_t lanes[HD_WARP];
    if (id == HD_SR_TID && part < 3) {
      memcpy(slot, g->tid[m->w.index][part], sizeof lanes);
    } else if (is_64_bit(id)) {
      uint64_t wide[HD_WARP], v = sreg_value(m, id, part);
      for (unsigned l = 0; l < HD_WARP; l++) wide[l] = v;
      memcpy(slot, wide, sizeof wide);
    } else if (id == HD_SR_LANEID) {
      for (unsigned l = 0; l < HD_WARP; l++) lanes[l] = l;
      memcpy(slot, lanes, sizeof lanes);
    } else if (id >= HD_SR_LANEMASK_EQ && id <= HD_SR_LANEMASK_GT) {
      for (unsigned l = 0; l < HD_WARP; l++) lanes[l] = lane_mask(id, l);
      memcpy(slot, lanes, sizeof lanes);
    } else {
      uint32_t v = (uint32_t)sreg_value(m, id, part);
      for (unsigned l = 0; l < HD_WARP; l++) lanes[l] = v;
      memcpy(slot, lanes, sizeof lanes);
    }
  }
}

/* ---- Output ----------------------------------------------------------------------------------- */

void emu_print(emu_warp *w, const char *text, size_t len) {
  hd_emu_grid *g = w->cta->grid;
  if (!g->hooks.print) return;
  pthread_mutex_lock(&g->lock);
  g->hooks.print(g->hooks.ctx, text, len);
  pthread_mutex_unlock(&g->lock);
}
