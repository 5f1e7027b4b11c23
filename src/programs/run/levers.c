/* The levers of the launch alone, for kernels without PTX: attributes that say how the hardware goes about a
 * launch, whose result they do not change. They are tried on the program's own launches of a shape, in turns,
 * each launched once as it would be anyway, between two events that are looked at when a later launch comes.
 *
 * In a verdict a lever is "launch:NAME=VALUE", of the kernel in a module by the digest of its machine code.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/stats.h"
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
enum { LEVERS = sizeof levers / sizeof *levers, FIRST_ROUNDS = 5, LAST_ROUNDS = 15, MOST_ATTRIBUTES = 16 };

/* A lever for launches of one shape. */
struct run_lever {
  run_lever *next;
  uint32_t grid[3], block[3], shared;
  const struct lever *lever;
  uint64_t saves;        /* nanoseconds of each launch */
  atomic_int is_pointer; /* see there */
};

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

bool run_lever_launch(run_kernel *k, cu_function f, const run_launch *l, int *result) {
  cu_launch_attribute a;
  for (run_lever *v = atomic_load_explicit(&k->levers, memory_order_acquire); v; v = v->next) {
    if (v->shared != l->shared || memcmp(v->grid, l->grid, sizeof v->grid) != 0 ||
        memcmp(v->block, l->block, sizeof v->block) != 0 || !make(v->lever, f, l, &v->is_pointer, &a))
      continue;
    *result = send(&a, f, l);
    if (*result != CU_SUCCESS) return run_is_of_capture(*result);
    atomic_fetch_add_explicit(&k->steered, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&k->saved, v->saves, memory_order_relaxed);
    return true;
  }
  return false;
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

static void adopt(run_kernel *k, const struct lever *lever, const uint32_t grid[3], const uint32_t block[3],
                  uint32_t shared, uint64_t saves) {
  run_lever *v = calloc(1, sizeof *v);
  if (!v) return;
  memcpy(v->grid, grid, sizeof v->grid);
  memcpy(v->block, block, sizeof v->block);
  v->shared = shared;
  v->lever = lever;
  v->saves = saves;
  v->next = atomic_load_explicit(&k->levers, memory_order_relaxed);
  snprintf(k->plan, sizeof k->plan, "%s", lever->text);
  atomic_store_explicit(&k->levers, v, memory_order_release);
}

static void take(void *kernel, const char *name, const hd_verdict *verdict) {
  uint32_t grid[3], block[3], shared;
  if (!hd_verdict_launch_parse(verdict->key.launch, grid, block, &shared)) return;
  for (size_t i = 0; i < LEVERS; i++)
    if (strcmp(levers[i].text, verdict->plan) == 0)
      adopt(kernel, &levers[i], grid, block, shared, run_saves(verdict->before_us, verdict->after_us));
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

/* Each round launches the original and every lever that fits once; the rounds of the second stage, the
 * original and the best of the first. */
struct run_trial_of_levers {
  uint32_t tried;                        /* levers that fit */
  uint32_t n, round, next;               /* of `which`; the round, and who is next in it */
  const struct lever *which[LEVERS + 1]; /* [0]: NULL, the original */
  double seconds[LEVERS + 1][LAST_ROUNDS];
  cu_event begin, end; /* around the launch before */
  bool waits;          /* its time is not known yet */
  bool last, over;     /* the second stage; the end */
};

static run_trial_of_levers *begin(const run_kernel *k, const run_shape *s, cu_function f,
                                  const run_launch *l) {
  run_trial_of_levers *t = calloc(1, sizeof *t);
  const run_driver *d = &run_real;
  cu_launch_attribute a;
  run_gpu gpu;
  hd_verdict v;
  if (!t) return NULL;
  t->n = 1;
  for (size_t i = 0; i < LEVERS; i++)
    if (make(&levers[i], f, l, NULL, &a)) t->which[t->n++] = &levers[i];
  t->tried = t->n - 1;
  if (run_gpu_of(&gpu)) run_tune_describe(k, s, &gpu, &v);
  const int mode = run_captures_relax();
  t->over = !gpu.name[0] || run_has_verdict(&v.key) || d->cuEventCreate(&t->begin, 0) != CU_SUCCESS ||
            d->cuEventCreate(&t->end, 0) != CU_SUCCESS;
  run_captures_restore(mode);
  return t;
}

static void step(run_trial_of_levers *t) {
  if (t->next < t->n) return;
  t->next = 0;
  t->round++;
}

/* One that the driver does not take is not tried again. */
static void leave_out(run_trial_of_levers *t, uint32_t i) {
  t->n--;
  for (uint32_t k = i; k < t->n; k++) {
    t->which[k] = t->which[k + 1];
    memcpy(t->seconds[k], t->seconds[k + 1], sizeof *t->seconds);
  }
  step(t);
}

static void choose_finalist(run_trial_of_levers *t) {
  uint32_t best = 1;
  for (uint32_t k = 2; k < t->n; k++)
    if (hd_median(t->seconds[k], FIRST_ROUNDS) < hd_median(t->seconds[best], FIRST_ROUNDS)) best = k;
  t->which[1] = t->which[best];
  t->n = 2;
  t->last = true;
  t->round = 0;
}

static void decide(run_kernel *k, const run_shape *s, run_trial_of_levers *t) {
  hd_speedup u;
  run_gpu gpu;
  hd_verdict v;
  snprintf(k->why, sizeof k->why, "not tuned: no PTX, and the launch's levers do not help");
  if (!run_gpu_of(&gpu) ||
      hd_paired_speedup(t->seconds[0], t->seconds[1], LAST_ROUNDS, 0.99, &u, NULL) != HD_OK)
    return;
  run_tune_describe(k, s, &gpu, &v);
  v.tried = t->tried;
  v.before_us = hd_median(t->seconds[0], LAST_ROUNDS) * 1e6;
  v.after_us = hd_median(t->seconds[1], LAST_ROUNDS) * 1e6;
  if (u.low > run_number(run_settings.gain, 1.01)) {
    adopt(k, t->which[1], s->grid, s->block, s->shared, run_saves(v.before_us, v.after_us));
    snprintf(v.plan, sizeof v.plan, "%s", t->which[1]->text);
    k->speedup = v.speedup = u.median;
    v.low = u.low;
    v.high = u.high;
    k->why[0] = 0;
  }
  run_tune_keep(&v);
}

/* The time of the launch before, once it is known. */
static bool look_back(run_trial_of_levers *t) {
  float ms;
  const int mode = run_captures_relax(), r = run_real.cuEventElapsedTime(&ms, t->begin, t->end);
  run_captures_restore(mode);
  if (r == CU_NOT_READY) return false;
  t->waits = false;
  if (r != CU_SUCCESS) return true; /* and the launch is made once more */
  t->seconds[t->next][t->round] = ms > 0 ? (double)ms * 1e-3 : 1e-9;
  t->next++;
  step(t);
  return true;
}

static bool mark(const run_launch *l, cu_event event) {
  fn_cuEventRecord *const record = l->per_thread ? run_real.cuEventRecord_ptsz : run_real.cuEventRecord;
  return record && record(event, l->stream) == CU_SUCCESS;
}

static void end(run_trial_of_levers *t) {
  run_real.cuEventDestroy_v2(t->begin);
  run_real.cuEventDestroy_v2(t->end);
  t->over = true;
}

bool run_lever_try(run_kernel *k, run_shape *s, cu_function f, const run_launch *l, int *result) {
  const run_driver *d = &run_real;
  if (!k->module->has_code || !d->cuEventCreate || !d->cuEventElapsedTime || !d->cuEventDestroy_v2 ||
      run_is_captured(l))
    return false;
  run_trial_of_levers *t = s->levers ? s->levers : (s->levers = begin(k, s, f, l));
  if (!t || t->over || (t->waits && !look_back(t))) return false;
  if (!t->last && t->round == FIRST_ROUNDS) choose_finalist(t);
  if (t->n == 1 || t->round == LAST_ROUNDS) {
    if (t->n > 1) decide(k, s, t);
    end(t);
    return false;
  }
  const struct lever *v = t->which[t->next];
  cu_launch_attribute a;
  if ((v && !make(v, f, l, NULL, &a)) || !mark(l, t->begin)) return false;
  *result = v ? send(&a, f, l) : run_send(l, f, l->grid, l->params, l->extra);
  if (v && *result != CU_SUCCESS) {
    leave_out(t, t->next);
    return false;
  }
  t->waits = *result == CU_SUCCESS && mark(l, t->end);
  return true;
}
