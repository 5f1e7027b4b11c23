/* Plans measured on a device. The workload's buffers are put there once; each plan adds its kernels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/device_bench.h"

/* ---- Runs ----------------------------------------------------------------------------------- */

static hd_status run_launches(slot *s, uint32_t from, uint32_t to, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = from; st == HD_OK && i < to; i++) st = variant_launch_one(&s->v, i, d);
  return st;
}

static hd_status prepare(void *ctx, hd_diag *d) {
  slot *s = ctx;
  hd_status st = variant_restore(&s->v, d);
  return st == HD_OK ? run_launches(s, 0, s->bench->first, d) : st;
}

static hd_status prepare_poisoned(void *ctx, hd_diag *d) {
  slot *s = ctx;
  hd_status st = variant_restore(&s->v, d);
  if (st == HD_OK) st = placement_poison(s->v.p, d);
  return st == HD_OK ? run_launches(s, 0, s->bench->first, d) : st;
}

static hd_status run(void *ctx, hd_diag *d) {
  slot *s = ctx;
  return run_launches(s, s->bench->first, s->bench->last + 1, d);
}

/* ---- Moves ---------------------------------------------------------------------------------- */

/* A move's time on a GPU: a part of the half second in which memory is fragmented and given back, and by
 * bytes to copy them. */
static const double move_seconds = 60e-3, move_rate = 1e12;

static uint64_t bytes_of(const hd_workload *w) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) sum += w->buffers[i].bytes;
  return sum;
}

static double moving_takes(const device_bench *b) {
  return move_seconds + (double)bytes_of(b->p.w) / move_rate;
}

/* ---- Work ------------------------------------------------------------------------------------- */

/* On an idle machine: a plan's text rewritten and assembled, alone and as one of several; a buffer's bytes
 * set to what they were; what a timed run takes beside its kernels. */
static const double load_seconds = 0.03, ahead_seconds = 0.004, restored_a_second = 5e11, run_seconds = 60e-6;

static double runs_take(const device_bench *b, const double *us, size_t n, double times) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += us[i] * 1e-6 + run_seconds + (double)bytes_of(b->p.w) / restored_a_second;
  return times * sum;
}

/* ---- The bench --------------------------------------------------------------------------------- */

void device_bench_watch(device_bench *b, const char *kernel) {
  const hd_workload *w = b->p.w;
  b->kernel = kernel;
  b->first = 0;
  b->last = w->n_launches ? w->n_launches - 1 : 0;
  if (!kernel) return;
  while (b->first < b->last && strcmp(w->launches[b->first].kernel, kernel) != 0) b->first++;
  while (b->last > b->first && strcmp(w->launches[b->last].kernel, kernel) != 0) b->last--;
}

static hd_status free_slot(device_bench *b, uint32_t *out, hd_diag *d) {
  for (*out = 0; *out < b->n_slots; ++*out)
    if (!b->slots[*out]->used) return HD_OK;
  slot **more = realloc(b->slots, (b->n_slots + 1) * sizeof *more);
  if (more) b->slots = more;
  slot *s = more ? calloc(1, sizeof *s) : NULL;
  if (!s) return hd_nomem(d);
  s->bench = b;
  b->slots[b->n_slots++] = s;
  return HD_OK;
}

static hd_status open_variant(device_bench *b, variant *v, const hd_plan_set *set, hd_diag *d) {
  hd_resolved plans;
  hd_status st = hd_resolve(b->p.w, set, &b->p.run, NULL, &plans, d);
  if (st != HD_OK) return st;
  st = variant_open(v, &b->p, &plans, d);
  hd_resolved_free(&plans);
  return st;
}

/* Run once from the first contents, timed, and compare; the first of all gives the results for the
 * comparison. */
static hd_status try_out(device_bench *b, slot *s, double *us, hd_diag *d) {
  hd_device_job job = {.prepare = prepare_poisoned, .run = run, .ctx = s};
  hd_timing_options once = {.repetitions = 1};
  uint64_t *before = calloc((size_t)b->p.w->n_buffers + 1, sizeof *before);
  hd_status st = before ? HD_OK : hd_nomem(d);
  if (st == HD_OK && !b->learnt) st = placement_restore(&b->p, d);
  if (st == HD_OK && !b->learnt) st = device_sum_up(b, before, d);
  if (st == HD_OK) st = hd_device_time(b->p.device, &job, 1, &once, us, d);
  if (st == HD_OK) st = run_launches(s, b->last + 1, b->p.w->n_launches, d);
  if (st == HD_OK) st = hd_device_sync(b->p.device, d);
  if (st == HD_OK) st = b->learnt ? device_compare(b, d) : device_learn(b, before, d);
  free(before);
  return st;
}

static hd_status name_plans(hd_status st, const hd_plan_set *plans, hd_diag *d) {
  if ((st != HD_ERR_FAULT && st != HD_ERR_IO) || !d || hd_plan_set_is_baseline(plans)) return st;
  hd_buf text = {0};
  char message[sizeof d->message];
  hd_plan_set_print(plans, &text);
  memcpy(message, d->message, sizeof message);
  hd_fail(d, st, "under plan %s: %s", text.data ? text.data : "", message);
  hd_buf_free(&text);
  return st;
}

static hd_status admit(void *ctx, const hd_plan_set *plans, uint32_t *out, double *us, hd_diag *d) {
  device_bench *b = ctx;
  hd_status st = search_meter_admits(&b->meter, d);
  if (st == HD_OK) st = free_slot(b, out, d);
  if (st != HD_OK) return st;
  b->meter.worked += load_seconds;
  slot *s = b->slots[*out];
  double start = hd_seconds();
  st = tuner_blame(open_variant(b, &s->v, plans, d), plans);
  double loaded = hd_seconds();
  b->spent.load += loaded - start;
  if (st == HD_OK) st = try_out(b, s, us, d);
  b->spent.check += hd_seconds() - loaded;
  if (st == HD_OK) b->meter.worked += runs_take(b, us, 1, 2); /* and what it computed is compared */
  if (st != HD_OK) variant_close(&s->v);
  s->used = st == HD_OK;
  return name_plans(st, plans, d);
}

static void ahead(void *ctx, const hd_plan_set *plans, size_t n) {
  device_bench *b = ctx;
  double start = hd_seconds();
  hd_resolved *resolved = calloc(n, sizeof *resolved);
  size_t made = 0;
  for (size_t i = 0; resolved && i < n; i++)
    made += hd_resolve(b->p.w, &plans[i], &b->p.run, NULL, &resolved[made], NULL) == HD_OK;
  if (made) variant_compile_ahead(&b->p, resolved, made);
  b->meter.worked += ahead_seconds * (double)made;
  for (size_t i = 0; i < made; i++) hd_resolved_free(&resolved[i]);
  free(resolved);
  b->spent.load += hd_seconds() - start;
}

static void release(void *ctx, uint32_t at) {
  device_bench *b = ctx;
  variant_close(&b->slots[at]->v);
  b->slots[at]->used = false;
}

static hd_device_job job_of(const device_bench *b, uint32_t at) {
  return (hd_device_job){.prepare = prepare, .run = run, .ctx = b->slots[at]};
}

static hd_status time_slots(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds,
                            double *us, hd_diag *d) {
  device_bench *b = ctx;
  hd_timing_options o = {.warmups = warmups, .repetitions = rounds, .keep_l2 = b->keep_l2};
  hd_device_job *jobs = calloc(n ? n : 1, sizeof *jobs);
  if (!jobs) return hd_nomem(d);
  for (size_t i = 0; i < n; i++) jobs[i] = job_of(b, slots[i]);
  double start = hd_seconds();
  hd_status st = hd_device_time(b->p.device, jobs, n, &o, us, d);
  b->spent.time += hd_seconds() - start;
  if (st == HD_OK && rounds) b->meter.worked += runs_take(b, us, n * rounds, 1 + (double)warmups / rounds);
  free(jobs);
  return st;
}

static hd_status move(void *ctx, bool fragmented, double *part, hd_diag *d) {
  device_bench *b = ctx;
  uint64_t moved, all = bytes_of(b->p.w);
  double start = hd_seconds();
  if (fragmented && !b->fragmented && !b->shared) placement_fragment(&b->p);
  b->fragmented |= fragmented;
  hd_status st = placement_move(&b->p, &moved, d);
  if (st == HD_OK) st = hd_device_sync(b->p.device, d);
  b->spent.move += hd_seconds() - start;
  b->meter.worked += moving_takes(b);
  *part = all ? (double)moved / (double)all : 1;
  return st;
}

static void settle(void *ctx) {
  device_bench *b = ctx;
  double start = hd_seconds();
  placement_release(&b->p);
  b->fragmented = false;
  b->spent.move += hd_seconds() - start;
}

static double seconds(void *ctx) { return search_meter_now(&((device_bench *)ctx)->meter); }

static bool cut(void *ctx) { return search_meter_is_over(&((device_bench *)ctx)->meter); }

tuner_bench device_bench_interface(device_bench *b) {
  return (tuner_bench){.ctx = b,
                       .admit = admit,
                       .ahead = ahead,
                       .release = release,
                       .time = time_slots,
                       .clock = seconds,
                       .cut = cut,
                       .move = move,
                       .settle = settle,
                       .moving = moving_takes(b)};
}

/* *equal false: there is no room for copies, or some byte differs; the host says which, and whether it may.
 */
static hd_status prove_on_gpu(device_bench *b, variant *original, variant *v, bool *equal, uint64_t *bytes,
                              hd_diag *d) {
  uint64_t *copies = NULL;
  hd_diag e = {0};
  *equal = false;
  hd_status st = variant_run_once(original, d);
  if (st != HD_OK) return st;
  st = device_copy_all(b, &copies, &e);
  if (st == HD_ERR_NOMEM) return HD_OK;
  if (st == HD_OK) st = variant_run_once(v, &e);
  if (st == HD_OK) st = device_equals(b, copies, equal, bytes, &e);
  device_drop_copies(b, copies);
  if (st != HD_OK && d) *d = e;
  return st;
}

hd_status device_bench_prove(device_bench *b, const hd_plan_set *plans, uint64_t *bytes, hd_diag *d) {
  variant original = {0}, v = {0};
  bool equal = false;
  hd_status st = open_variant(b, &original, &hd_plan_set_original, d);
  if (st == HD_OK) st = open_variant(b, &v, plans, d);
  if (st == HD_OK && hd_device_get_info(b->p.device)->kind == HD_DEVICE_CUDA)
    st = prove_on_gpu(b, &original, &v, &equal, bytes, d);
  if (st == HD_OK && !equal) st = variant_compare(&original, &v, bytes, d);
  variant_close(&v);
  variant_close(&original);
  return st;
}

/* Workers for each cluster of a kernel whose agents vote; else warps. */
static uint32_t most_voted(const device_bench *b, const variant *v, uint32_t launch) {
  const uint32_t *block = b->p.w->launches[launch].block, n_sms = b->p.run.machine.n_sms;
  return v->setup.recipes[launch].agents ? (v->grids[launch][0] + n_sms - 1) / n_sms
                                         : (block[0] * block[1] * block[2] + 31) / 32;
}

hd_status device_bench_ballot(device_bench *b, const hd_plan *p, uint32_t launch, uint32_t runs,
                              uint32_t *ctas, uint32_t *most, hd_diag *d) {
  hd_kernel_plan vote = {b->kernel, *p};
  const hd_plan_set plans = b->kernel ? (hd_plan_set){.kernels = &vote, .n = 1} : (hd_plan_set){.all = *p};
  slot s = {.bench = b};
  hd_device *dev = b->p.device;
  uint32_t *counted = calloc(HD_BALLOT_SMS, sizeof *counted);
  hd_status st = counted ? open_variant(b, &s.v, &plans, d) : hd_nomem(d);
  if (st == HD_OK && !s.v.setup.recipes[launch].ballot)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "the kernel has nothing to vote on");
  for (uint32_t r = 0; st == HD_OK && r < runs; r++) {
    const uint64_t bytes = HD_BALLOT_SMS * sizeof *counted,
                   ballot = s.v.setup.launches[launch].state + s.v.setup.recipes[launch].ballot_offset;
    st = prepare(&s, d);
    if (st == HD_OK) st = hd_device_set(dev, ballot, 0, bytes, d);
    if (st == HD_OK) st = run(&s, d);
    if (st == HD_OK) st = hd_device_sync(dev, d);
    if (st == HD_OK) st = hd_device_read(dev, ballot, counted, bytes, d);
    for (uint32_t i = 0; st == HD_OK && i < HD_BALLOT_SMS; i++) ctas[i] += counted[i];
    *most = most_voted(b, &s.v, launch);
  }
  if (counted) variant_close(&s.v);
  free(counted);
  return st;
}

hd_status device_bench_resident(device_bench *b, uint32_t launch, uint32_t *resident, hd_diag *d) {
  const hd_wl_launch *l = &b->p.w->launches[launch];
  slot s = {.bench = b};
  hd_status st = open_variant(b, &s.v, &hd_plan_set_original, d);
  if (st == HD_OK)
    st =
        hd_device_resident(s.v.module, l->kernel, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared,
                           hd_workload_registers(b->p.w, hd_device_get_info(b->p.device)->arch), resident, d);
  variant_close(&s.v);
  return st;
}

hd_status device_bench_count(device_bench *b, uint32_t at, hd_counters *out, bool *have, char *why,
                             size_t cap, hd_diag *d) {
  hd_device_job job = job_of(b, at);
  return hd_device_count(b->p.device, &job, b->keep_l2, out, have, why, cap, d);
}

hd_status device_bench_open(hd_device *dev, const hd_workload *w, const hd_tune_options *o, double until,
                            device_bench **out, hd_diag *d) {
  device_bench *b = calloc(1, sizeof *b);
  *out = NULL;
  if (!b) return hd_nomem(d);
  b->keep_l2 = o->keep_l2;
  b->meter.until = until;
  b->meter.stop = o->run.budget.stop;
  b->shared = o->shared;
  b->sums = calloc((size_t)w->n_buffers + 1, sizeof *b->sums);
  b->near = calloc((size_t)w->n_buffers + 1, sizeof *b->near);
  hd_status st = b->sums && b->near ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = placement_open(&b->p, dev, w, &o->run, d);
  if (st != HD_OK) {
    device_bench_close(b);
    return st;
  }
  device_bench_watch(b, NULL);
  *out = b;
  return HD_OK;
}

void device_bench_spent(const device_bench *b, hd_tune_seconds *out) {
  out->load = b->spent.load;
  out->check = b->spent.check;
  out->time = b->spent.time;
  out->move = b->spent.move;
}

void device_bench_close(device_bench *b) {
  if (!b) return;
  for (uint32_t i = 0; i < b->n_slots; i++) {
    if (b->slots[i]->used) variant_close(&b->slots[i]->v);
    free(b->slots[i]);
  }
  free(b->slots);
  for (uint32_t i = 0; b->near && b->p.w && i < b->p.w->n_buffers; i++) free(b->near[i]);
  hd_device_unload(b->tools);
  if (b->p.w) hd_device_free(b->p.device, b->tools_sums, NULL);
  placement_close(&b->p);
  free(b->near);
  free(b->sums);
  free(b);
}
