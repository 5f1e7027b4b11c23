/* The levers of the launch alone, for kernels without PTX: attributes that say how the hardware goes about a
 * launch, whose result they do not change. They are tried on the program's own launches of a shape, in turns
 * (live.c).
 *
 * In a verdict a lever is "launch:NAME=VALUE", of the kernel in a module by the digest of its machine code.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/turns.h"
#include "run/watch.h"

static const struct lever {
  const char *text;
  int attribute, value;
  size_t param; /* of a window: that points into the allocation that it is */
} levers[] = {{"launch:carveout=0", CU_LAUNCH_CARVEOUT, 0, 0},
              {"launch:carveout=50", CU_LAUNCH_CARVEOUT, 50, 0},
              {"launch:carveout=100", CU_LAUNCH_CARVEOUT, 100, 0},
              {"launch:clusters=spread", CU_LAUNCH_CLUSTER_SCHEDULING, 1, 0},
              {"launch:clusters=balance", CU_LAUNCH_CLUSTER_SCHEDULING, 2, 0},
#define WINDOWS(n)                                                                                           \
  {"launch:stream=" #n, CU_LAUNCH_POLICY_WINDOW, CU_ACCESS_STREAMING, n}, {                                  \
    "launch:persist=" #n, CU_LAUNCH_POLICY_WINDOW, CU_ACCESS_PERSISTING, n                                   \
  }
              WINDOWS(0),
              WINDOWS(1),
              WINDOWS(2),
              WINDOWS(3),
              WINDOWS(4),
              WINDOWS(5)};
enum { LEVERS = sizeof levers / sizeof *levers, MOST_ATTRIBUTES = 16 };

/* ---- Launches ---------------------------------------------------------------------------------- */

static const cu_launch_attribute *attribute_of(const run_launch *l, int id) {
  for (unsigned k = 0; l->config && k < l->config->n_attributes; k++)
    if (l->config->attributes[k].id == id) return &l->config->attributes[k];
  return NULL;
}

/* The driver is asked once: *known is 0, or 1 and the answer. Handles of both kinds are launched. */
static bool is_pointer(cu_function f, size_t param, atomic_int *known) {
  const int before = known ? atomic_load_explicit(known, memory_order_relaxed) : 0;
  if (before) return before > 1;
  fn_cuFuncGetParamInfo *const ask[] = {run_real.cuFuncGetParamInfo, run_real.cuKernelGetParamInfo};
  for (size_t k = 0; k < sizeof ask / sizeof *ask; k++) {
    size_t offset, bytes;
    if (!ask[k] || ask[k](f, param, &offset, &bytes) != CU_SUCCESS) continue;
    if (known) atomic_store_explicit(known, bytes == sizeof(uint64_t) ? 2 : 1, memory_order_relaxed);
    return bytes == sizeof(uint64_t);
  }
  return false;
}

/* The most bytes of a window on the current device, 0: none. */
static uint64_t most_bytes(void) {
  enum { DEVICES = 64 };
  static atomic_int known[DEVICES]; /* that, and 1 */
  const run_driver *d = &run_real;
  int device, most = 0;
  if (d->cuCtxGetDevice(&device) != CU_SUCCESS || device < 0) return 0;
  if (device < DEVICES && (most = atomic_load_explicit(&known[device], memory_order_relaxed)))
    return (uint64_t)most - 1;
  if (d->cuDeviceGetAttribute(&most, CU_ATTR_WINDOW_BYTES, device) != CU_SUCCESS || most < 0 ||
      most == INT_MAX)
    return 0;
  if (device < DEVICES) atomic_store_explicit(&known[device], most + 1, memory_order_relaxed);
  return (uint64_t)most;
}

/* The allocation that the launch's parameter points into. Of L2's persisting share there is what the program
 * has set aside. */
static bool find_window(const struct lever *v, cu_function f, const run_launch *l, atomic_int *pointer,
                        cu_window *out) {
  const run_driver *d = &run_real;
  uint64_t address, most;
  size_t share = 0;
  if (!l->params || l->extra || !is_pointer(f, v->param, pointer)) return false;
  memcpy(&address, l->params[v->param], sizeof address);
  if (!run_memory_find(address, &out->at, &out->bytes) || !(most = most_bytes())) return false;
  if (v->value == CU_ACCESS_PERSISTING &&
      (!d->cuCtxGetLimit || d->cuCtxGetLimit(&share, CU_LIMIT_PERSISTING_L2) != CU_SUCCESS || !share))
    return false;
  if (out->bytes > most) out->bytes = most;
  out->hits = 1;
  out->hit = v->value;
  out->miss = 0;
  return true;
}

/* The attribute; false: the lever does not fit. What the program says itself stays; clusters are those of the
 * launch. */
static bool make(const struct lever *v, cu_function f, const run_launch *l, atomic_int *pointer,
                 cu_launch_attribute *out) {
  cu_window w;
  _Static_assert(sizeof w <= sizeof out->value, "CUlaunchAttributeValue");
  if (attribute_of(l, v->attribute) || (l->config && l->config->n_attributes >= MOST_ATTRIBUTES) ||
      (v->attribute == CU_LAUNCH_CLUSTER_SCHEDULING && !attribute_of(l, CU_LAUNCH_CLUSTER_DIMENSION)) ||
      (v->attribute == CU_LAUNCH_POLICY_WINDOW && !find_window(v, f, l, pointer, &w)))
    return false;
  *out = (cu_launch_attribute){.id = v->attribute};
  if (v->attribute == CU_LAUNCH_POLICY_WINDOW)
    memcpy(out->value.bytes, &w, sizeof w);
  else
    memcpy(out->value.bytes, &v->value, sizeof v->value);
  return true;
}

/* Hands the launch to the driver with the attribute beside its own. */
static int send(const cu_launch_attribute *a, cu_function f, const run_launch *l) {
  cu_launch_attribute all[MOST_ATTRIBUTES] = {0};
  cu_launch_config own = {.dynamic_shared = l->shared, .attributes = all};
  fn_cuLaunchKernelEx *const real =
      l->per_thread ? run_real.cuLaunchKernelEx_ptsz : run_real.cuLaunchKernelEx;
  if (!real) return CU_NOT_SUPPORTED;
  memcpy(own.grid, l->grid, sizeof own.grid);
  memcpy(own.block, l->block, sizeof own.block);
  own.stream = l->stream;
  own.n_attributes = l->config ? l->config->n_attributes : 0;
  if (own.n_attributes) memcpy(all, l->config->attributes, own.n_attributes * sizeof *all);
  all[own.n_attributes++] = *a;
  return real(&own, f, l->params, l->extra);
}

const char *run_lever_text(const run_lever *v) { return v->kind->text; }

bool run_lever_send(run_lever *v, cu_function f, const run_launch *l, int *result) {
  cu_launch_attribute a;
  if (!make(v->kind, f, l, &v->is_pointer, &a)) return false;
  *result = send(&a, f, l);
  return true;
}

bool run_lever_launch(run_kernel *k, cu_function f, const run_launch *l, int *result) {
  for (run_lever *v = atomic_load_explicit(&k->levers, memory_order_acquire); v; v = v->next) {
    if (!run_is_shape(l, v->grid, v->block, v->shared) ||
        atomic_load_explicit(&v->off, memory_order_relaxed) ||
        atomic_load_explicit(&v->held, memory_order_relaxed) || !run_lever_send(v, f, l, result))
      continue;
    if (*result != CU_SUCCESS) return run_is_of_capture(*result);
    atomic_fetch_add_explicit(&k->steered, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&k->saved, atomic_load_explicit(&v->saves, memory_order_relaxed),
                              memory_order_relaxed);
    return true;
  }
  return false;
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

/* NULL: no memory. */
static run_lever *add(run_kernel *k, const struct lever *kind, const run_shape *s, bool held) {
  run_lever *v = calloc(1, sizeof *v);
  if (!v) return NULL;
  memcpy(v->grid, s->grid, sizeof v->grid);
  memcpy(v->block, s->block, sizeof v->block);
  v->shared = s->shared;
  v->kind = kind;
  atomic_init(&v->held, held);
  v->next = atomic_load_explicit(&k->levers, memory_order_relaxed);
  atomic_store_explicit(&k->levers, v, memory_order_release);
  return v;
}

static void adopt(run_kernel *k, const struct lever *kind, const hd_verdict *verdict) {
  run_shape s = {0};
  if (!hd_verdict_launch_parse(verdict->key.launch, s.grid, s.block, &s.shared) || !run_is_worth(k, verdict))
    return;
  const bool held = run_on_probation(k, verdict);
  run_lever *v = add(k, kind, &s, held && !run_is_trusted(k, verdict));
  if (!v) return;
  v->verdict = verdict;
  atomic_store(&v->saves, run_saves(verdict->before_us, verdict->after_us));
  snprintf(k->plan, sizeof k->plan, "%s", kind->text);
  if (held) run_probation_open(k, &(run_arm){.lever = v});
}

static void take(void *kernel, const char *name, const hd_verdict *verdict) {
  for (size_t i = 0; i < LEVERS; i++)
    if (strcmp(levers[i].text, verdict->plan) == 0) adopt(kernel, &levers[i], verdict);
}

void run_levers_read(run_kernel *k) {
  run_gpu gpu;
  if (k->module->has_code && !atomic_load(&k->levers) && run_gpu_of(&gpu))
    run_verdicts_of(&gpu, k->module->code, k->name, take, k);
}

void run_levers_free(run_kernel *k) {
  run_lever *v = atomic_load(&k->levers), *next;
  for (; v; v = next) {
    next = v->next;
    free(v);
  }
}

/* ---- Trying ------------------------------------------------------------------------------------ */

void run_levers_try(run_kernel *k, run_shape *s, cu_function f, const run_launch *l) {
  run_arm arms[HD_TURNS_ARMS - 1];
  cu_launch_attribute a;
  run_gpu gpu;
  hd_verdict none;
  uint32_t n = 0;
  if (!k->module->has_code || run_is_captured(l) || !run_gpu_of(&gpu)) return;
  s->settled = true;
  run_tune_describe(k, s, &gpu, &none);
  if (run_has_verdict(&none.key)) return;
  for (size_t i = 0; i < LEVERS && n < HD_TURNS_ARMS - 1; i++) {
    run_lever *const v = make(&levers[i], f, l, NULL, &a) ? add(k, &levers[i], s, true) : NULL;
    if (v) arms[n++] = (run_arm){.lever = v};
  }
  run_live_open(k, s, arms, n, NULL, HD_TRUST_NONE, run_tune_settle);
}
