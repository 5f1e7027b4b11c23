/* Each kernel's locality, with `--analyze`: a trace of a launch, what CTAs share in it, CLU's category.
 *
 * The first launch of a kernel is traced, and later ones that are twice as large. Counts decide; there is no
 * workload to make experiments with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/locality.h"
#include "cuda/core/order.h"
#include "heddle/advise.h"

/* Traces of one kernel at most; the memory of each in bytes; and that of L1's line. */
enum { TRACES = 4, LIMIT = 1 << 30, LINE = 128 };

/* Operations run one at a time, and so do traces. */
static struct {
  hd_trace *trace;
  core_access_fn *also; /* whoever else looks at accesses */
  hd_emu_hooks hooks;
} running;

static void on_access(void *ctx, unsigned worker, const hd_access *a) {
  if (a->space == HD_SPACE_GLOBAL) running.also(NULL, worker, a);
  hd_trace_hooks(running.trace)->access(ctx, worker, a);
}

static uint64_t ctas_of(const hd_emu_launch_params *p) {
  return (uint64_t)p->grid[0] * p->grid[1] * p->grid[2];
}

const hd_emu_hooks *core_locality_begin(core_function *f, const hd_emu_launch_params *p) {
  const core_locality *have = f->locality;
  hd_diag d;
  if (!core.settings.analyze || (have && (have->traces == TRACES || ctas_of(p) < 2 * have->ctas)))
    return NULL;
  const unsigned threads =
      core.settings.checks & HD_PROGRAM_CHECK_STREAMS ? 1 : (unsigned)core.settings.threads;
  if (hd_trace_create(p->grid, p->block, threads ? threads : hd_cpu_count(), LIMIT, &running.trace, &d) !=
      HD_OK)
    return NULL;
  running.hooks = *hd_trace_hooks(running.trace);
  running.hooks.go_on = NULL; /* a trace that fails must not end the program's launch */
  running.also = core_access_hook();
  if (running.also) running.hooks.access = on_access;
  return &running.hooks;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct arrays {
  hd_arena arena;
  HD_VEC(hd_reuse_array) list; /* by address */
} arrays;

static void add_array(const core_memory *m, void *arg) {
  arrays *a = arg;
  const char *name = hd_arena_printf(&a->arena, "%s", m->what);
  const hd_reuse_array r = {name ? name : "", hd_trace_address(m->address), m->bytes};
  (void)hd_vec_push(&a->list, r);
}

static int64_t array_of(const arrays *a, uint64_t address) {
  const uint64_t at = hd_trace_address(address);
  for (size_t k = 0; k < a->list.n; k++)
    if (at - a->list.data[k].start < a->list.data[k].bytes) return (int64_t)k;
  return -1;
}

/* The array that a pointer in a parameter leads to; -1: none. */
static int64_t array_at(const arrays *a, const core_function *f, const void *args, uint32_t param,
                        uint32_t offset) {
  uint64_t pointer;
  if (param >= f->n_params || offset + sizeof pointer > f->sizes[param]) return -1;
  memcpy(&pointer, (const char *)args + f->offsets[param] + offset, sizeof pointer);
  return array_of(a, pointer);
}

/* Arrays are called by the first parameter that leads to them. */
static void name_arrays(arrays *a, const core_function *f, const void *args) {
  for (uint32_t k = f->n_params; k-- > 0;) {
    const int64_t at = array_at(a, f, args, k, 0);
    const char *name = at < 0 ? NULL : hd_arena_printf(&a->arena, "parameter %u", k + 1);
    if (name) a->list.data[at].name = name;
  }
}

/* ---- The kernel's text ------------------------------------------------------------------------- */

static void note_site(const hd_site *s, int64_t at, hd_category_case *c) {
  if (s->param == HD_NONE && s->var != HD_NONE) return; /* a variable of the module */
  if (at < 0 || s->level == HD_LEVEL_BUDGET) {
    c->unknown_sites++;
    return;
  }
  hd_text_facts *b = &c->buffers[at];
  if (b->sites++ && s->level <= b->address) return;
  b->address = (hd_level)s->level;
  b->why = (hd_why)s->why;
  b->line = s->line;
}

static hd_status read_text(const core_function *f, const void *args, const arrays *a, hd_category_case *c,
                           hd_diag *d) {
  hd_analysis *an;
  const int64_t func = hd_ptx_find_kernel(f->module->ptx, f->name);
  c->buffers = HD_NEW_N((hd_arena *)(uintptr_t)&a->arena, a->list.n + 1, hd_text_facts);
  if (!c->buffers) return hd_nomem(d);
  hd_status st = hd_analyze(f->module->ptx, (uint32_t)func, NULL, &an, d);
  if (st != HD_OK) return st;
  for (uint32_t k = 0; k < an->n_sites; k++)
    note_site(&an->sites[k], array_at(a, f, args, an->sites[k].param, an->sites[k].param_offset), c);
  hd_analysis_free(an);
  return HD_OK;
}

/* ---- The result ------------------------------------------------------------------------------ */

static void keep(const hd_facts *f, core_locality *out) {
  const hd_reuse_shares *s = &f->reuse.all.lines;
  out->requests = s->requests;
  out->intra_warp = s->intra_warp;
  out->intra_cta = s->intra_cta;
  out->inter_cta = s->inter_cta;
  out->sectors = f->pattern.all.sectors;
  out->least_sectors = f->pattern.all.least_sectors;
}

static hd_status measure(const core_function *f, const hd_emu_launch_params *p, arrays *a, core_locality *out,
                         hd_diag *d) {
  hd_facts facts = {0};
  hd_category_case c = {.facts = &facts, .arrays = a->list.data};
  pthread_mutex_lock(&core.lock); /* another thread may allocate */
  core_memory_live(add_array, a);
  pthread_mutex_unlock(&core.lock);
  c.arrays = a->list.data;
  name_arrays(a, f, p->args);
  hd_status st = hd_trace_finish(running.trace, d);
  if (st == HD_OK) st = read_text(f, p->args, a, &c, d);
  if (st == HD_OK)
    st = hd_facts_measure(running.trace, p->grid, a->list.data, (uint32_t)a->list.n, LINE, &facts, d);
  if (st == HD_OK) st = hd_category_decide(&c, &out->category, out->evidence, d);
  if (st == HD_OK) keep(&facts, out);
  hd_facts_free(&facts);
  return st;
}

void core_locality_end(core_function *f, const hd_emu_launch_params *p, bool ok) {
  hd_diag d = {0};
  arrays a = {0};
  core_locality found = {.ctas = ctas_of(p), .traces = f->locality ? f->locality->traces + 1 : 1};
  hd_arena_init(&a.arena);
  if (ok && measure(f, p, &a, &found, &d) != HD_OK) {
    found.category = 0;
    snprintf(found.evidence, sizeof found.evidence, "%s", d.message);
  }
  if (ok && !f->locality) f->locality = calloc(1, sizeof *f->locality);
  if (ok && f->locality) *f->locality = found;
  hd_vec_free(&a.list);
  hd_arena_free(&a.arena);
  hd_trace_destroy(running.trace);
  running.trace = NULL;
}
