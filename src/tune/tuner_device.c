/* Plans measured on a device.
 *
 * The workload's buffers are put there once; each plan adds its kernels. Whether a plan computes what the
 * original does is asked of every plan before it is timed, so it must be cheap: on a GPU each buffer is
 * summed up where it lies by a kernel that reads at the memory's speed, and eight bytes come back. Byte for
 * byte the winner is compared at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

typedef struct slot {
  device_bench *bench;
  variant v;
  bool used;
} slot;

struct device_bench {
  placement p;
  bool keep_l2, shared;
  bool strewn;           /* moves go to strewn memory */
  const char *kernel;    /* in focus; NULL: all */
  uint32_t first, last;  /* its launches */
  hd_kernel_plan *plans; /* fixed ones, and room for one more */
  size_t n_fixed;
  bool together;
  slot **slots; /* each stays where it is: jobs point to them */
  uint32_t n_slots;
  bool learnt;
  uint64_t *sums; /* per buffer: of the original's result */
  void **near;    /* per buffer: the original's result where sums may differ, else NULL */
  hd_device_module *tools;
  uint64_t tools_sums; /* on the device, one per buffer */
  hd_tune_seconds spent;
};

/* ---- Sums of buffers ---------------------------------------------------------------- */

/* out += sum over i of mix(word[i], i): the same whatever the order of the additions. */
static const char sum_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry heddle_sum(.param .u64 data, .param .u64 words, .param .u64 out)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<5>;\n"
    "  .reg .b64 %rd<12>;\n"
    "  ld.param.u64 %rd1, [data];\n"
    "  ld.param.u64 %rd2, [words];\n"
    "  ld.param.u64 %rd3, [out];\n"
    "  cvta.to.global.u64 %rd1, %rd1;\n"
    "  cvta.to.global.u64 %rd3, %rd3;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mov.u32 %r4, %nctaid.x;\n"
    "  mul.wide.u32 %rd4, %r1, %r2;\n"
    "  cvt.u64.u32 %rd5, %r3;\n"
    "  add.u64 %rd4, %rd4, %rd5;\n"
    "  mul.wide.u32 %rd5, %r2, %r4;\n"
    "  mov.u64 %rd6, 0;\n"
    "again:\n"
    "  setp.ge.u64 %p, %rd4, %rd2;\n"
    "  @%p bra done;\n"
    "  shl.b64 %rd7, %rd4, 3;\n"
    "  add.u64 %rd7, %rd1, %rd7;\n"
    "  ld.global.u64 %rd8, [%rd7];\n"
    "  mul.lo.u64 %rd9, %rd4, -7046029254386353131;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  mul.lo.u64 %rd8, %rd8, -4658895280553007687;\n"
    "  shr.u64 %rd9, %rd8, 32;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  mul.lo.u64 %rd8, %rd8, -7723592293110705685;\n"
    "  shr.u64 %rd9, %rd8, 29;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  add.u64 %rd6, %rd6, %rd8;\n"
    "  add.u64 %rd4, %rd4, %rd5;\n"
    "  bra again;\n"
    "done:\n"
    "  red.global.add.u64 [%rd3], %rd6;\n"
    "  ret;\n"
    "}\n";
enum { SUM_THREADS = 256, SUM_CTAS_PER_SM = 8, WORD = 8 };

static hd_status load_tools(device_bench *b, hd_diag *d) {
  if (b->tools) return HD_OK;
  hd_status st = hd_device_alloc(b->p.device, WORD * ((uint64_t)b->p.w->n_buffers + 1), &b->tools_sums, d);
  if (st != HD_OK) return st;
  return hd_device_load(b->p.device, sum_ptx, sizeof sum_ptx - 1, "heddle's sums", NULL, &b->tools, d);
}

static hd_status sum_on_device(device_bench *b, uint64_t *sums, hd_diag *d) {
  const hd_workload *w = b->p.w;
  hd_device *dev = b->p.device;
  hd_status st = load_tools(b, d);
  if (st == HD_OK) st = hd_device_set(dev, b->tools_sums, 0, WORD * ((uint64_t)w->n_buffers + 1), d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    uint64_t args[] = {b->p.addresses[i], w->buffers[i].bytes / WORD, b->tools_sums + WORD * i};
    uint64_t ctas = (args[1] + SUM_THREADS - 1) / SUM_THREADS,
             most = (uint64_t)SUM_CTAS_PER_SM * b->p.run.n_sms;
    hd_device_launch l = {.kernel = "heddle_sum",
                          .grid = {(uint32_t)(ctas < most ? ctas : most), 1, 1},
                          .block = {SUM_THREADS, 1, 1},
                          .args = args,
                          .args_bytes = sizeof args};
    if (args[1]) st = hd_device_run(b->tools, &l, d);
  }
  if (st == HD_OK) st = hd_device_sync(dev, d);
  if (st == HD_OK) st = hd_device_read(dev, b->tools_sums, sums, WORD * (uint64_t)w->n_buffers, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    uint64_t tail = w->buffers[i].bytes % WORD, word = 0;
    st = hd_device_read(dev, b->p.addresses[i] + w->buffers[i].bytes - tail, &word, tail, d);
    sums[i] = hd_random_at(sums[i], word);
  }
  return st;
}

static hd_status sum_on_host(device_bench *b, uint64_t *sums, hd_diag *d) {
  void **bytes;
  hd_status st = placement_read(&b->p, &bytes, d);
  if (st != HD_OK) return st;
  for (uint32_t i = 0; i < b->p.w->n_buffers; i++) sums[i] = hd_hash(bytes[i], b->p.w->buffers[i].bytes);
  launch_bytes_free(b->p.w, bytes);
  return HD_OK;
}

static hd_status sum_up(device_bench *b, uint64_t *sums, hd_diag *d) {
  bool gpu = hd_device_get_info(b->p.device)->kind == HD_DEVICE_CUDA;
  return gpu ? sum_on_device(b, sums, d) : sum_on_host(b, sums, d);
}

/* ---- What the original computes -------------------------------------------------------- */

static hd_status keep_near(device_bench *b, hd_diag *d) {
  for (uint32_t i = 0; i < b->p.w->n_buffers; i++) {
    const hd_wl_buffer *buffer = &b->p.w->buffers[i];
    if (!buffer->atomics) continue;
    b->near[i] = malloc(buffer->bytes ? buffer->bytes : 1);
    if (!b->near[i]) return hd_nomem(d);
    hd_status st = hd_device_read(b->p.device, b->p.addresses[i], b->near[i], buffer->bytes, d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* After the first run: which buffers changed, by their sums before it, and what they are now. */
static hd_status learn(device_bench *b, const uint64_t *before, hd_diag *d) {
  uint32_t n = b->p.w->n_buffers;
  bool *changed = calloc((size_t)n + 1, sizeof *changed);
  hd_status st = changed ? sum_up(b, b->sums, d) : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) changed[i] = before[i] != b->sums[i];
  if (st == HD_OK) st = placement_learn_changed(&b->p, changed, d);
  if (st == HD_OK) st = keep_near(b, d);
  b->learnt = st == HD_OK;
  free(changed);
  return st;
}

static hd_status compare_near(device_bench *b, uint32_t i, hd_diag *d) {
  const hd_wl_buffer *buffer = &b->p.w->buffers[i];
  char what[512];
  void *got = malloc(buffer->bytes ? buffer->bytes : 1);
  if (!got) return hd_nomem(d);
  hd_status st = hd_device_read(b->p.device, b->p.addresses[i], got, buffer->bytes, d);
  if (st == HD_OK && !hd_elem_compare(buffer->type, HD_COMPARE_NEAR, buffer->abs, buffer->rel, got,
                                      b->near[i], buffer->count, what, sizeof what))
    st = hd_fail(d, HD_ERR_REFUSED, "buffer %s: %s", buffer->name, what);
  free(got);
  return st;
}

/* The result of the run that just ended against the original's. */
static hd_status compare(device_bench *b, hd_diag *d) {
  const hd_workload *w = b->p.w;
  uint64_t *sums = calloc((size_t)w->n_buffers + 1, sizeof *sums);
  if (!sums) return hd_nomem(d);
  hd_status st = sum_up(b, sums, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    if (sums[i] == b->sums[i]) continue;
    st = b->near[i]
             ? compare_near(b, i, d)
             : hd_fail(d, HD_ERR_REFUSED, "buffer %s is not what the original computes", w->buffers[i].name);
  }
  free(sums);
  return st;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static hd_status run_launches(slot *s, uint32_t from, uint32_t to, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = from; st == HD_OK && i < to; i++) st = variant_launch_one(&s->v, i, d);
  return st;
}

static hd_status prepare(void *ctx, hd_diag *d) {
  slot *s = ctx;
  hd_status st = placement_restore(s->v.p, d);
  return st == HD_OK ? run_launches(s, 0, s->bench->first, d) : st;
}

static hd_status prepare_poisoned(void *ctx, hd_diag *d) {
  slot *s = ctx;
  hd_status st = placement_restore(s->v.p, d);
  if (st == HD_OK) st = placement_poison(s->v.p, d);
  return st == HD_OK ? run_launches(s, 0, s->bench->first, d) : st;
}

static hd_status run(void *ctx, hd_diag *d) {
  slot *s = ctx;
  return run_launches(s, s->bench->first, s->bench->last + 1, d);
}

/* ---- Moves ---------------------------------------------------------------------------------- */

/* What a move takes on a GPU: a part of the half second in which memory is strewn and given back, and by
 * bytes to copy them. */
static const double move_seconds = 60e-3, move_rate = 1e12;

static uint64_t bytes_of(const hd_workload *w) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) sum += w->buffers[i].bytes;
  return sum;
}

/* ---- The bench --------------------------------------------------------------------------------- */

void device_bench_focus(device_bench *b, const char *kernel, const hd_kernel_plan *fixed, size_t n_fixed) {
  const hd_workload *w = b->p.w;
  b->kernel = kernel;
  b->together = false;
  b->first = 0;
  b->last = w->n_launches ? w->n_launches - 1 : 0;
  b->n_fixed = n_fixed;
  if (n_fixed) memcpy(b->plans, fixed, n_fixed * sizeof *fixed);
  if (!kernel) return;
  while (b->first < b->last && strcmp(w->launches[b->first].kernel, kernel) != 0) b->first++;
  while (b->last > b->first && strcmp(w->launches[b->last].kernel, kernel) != 0) b->last--;
}

void device_bench_together(device_bench *b, const hd_kernel_plan *fixed, size_t n_fixed) {
  device_bench_focus(b, NULL, fixed, n_fixed);
  b->together = true;
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

static hd_status open_variant(device_bench *b, slot *s, const hd_plan *p, hd_diag *d) {
  bool baseline = hd_plan_is_baseline(p);
  size_t n = b->together && baseline ? 0 : b->n_fixed;
  if (b->kernel && !baseline) b->plans[n++] = (hd_kernel_plan){b->kernel, *p};
  hd_plan_set set = {.kernels = b->plans, .n = n};
  hd_resolved plans;
  if (!b->kernel && !b->together) set.all = *p;
  hd_status st = hd_resolve(b->p.w, &set, &b->p.run, NULL, &plans, d);
  if (st != HD_OK) return st;
  st = variant_open(&s->v, &b->p, &plans, d);
  hd_resolved_free(&plans);
  return st;
}

/* Run once from the first contents, timed, and compare; the first of all is what others are compared with. */
static hd_status try_out(device_bench *b, slot *s, double *us, hd_diag *d) {
  hd_device_job job = {.prepare = prepare_poisoned, .run = run, .ctx = s};
  hd_timing_options once = {.repetitions = 1};
  uint64_t *before = calloc((size_t)b->p.w->n_buffers + 1, sizeof *before);
  hd_status st = before ? HD_OK : hd_nomem(d);
  if (st == HD_OK && !b->learnt) st = placement_restore(&b->p, d);
  if (st == HD_OK && !b->learnt) st = sum_up(b, before, d);
  if (st == HD_OK) st = hd_device_time(b->p.device, &job, 1, &once, us, d);
  if (st == HD_OK) st = run_launches(s, b->last + 1, b->p.w->n_launches, d);
  if (st == HD_OK) st = hd_device_sync(b->p.device, d);
  if (st == HD_OK) st = b->learnt ? compare(b, d) : learn(b, before, d);
  free(before);
  return st;
}

static hd_status name_plan(hd_status st, const hd_plan *p, hd_diag *d) {
  if ((st != HD_ERR_FAULT && st != HD_ERR_IO) || !d || hd_plan_is_baseline(p)) return st;
  hd_buf text = {0};
  char message[sizeof d->message];
  hd_plan_print(p, &text);
  memcpy(message, d->message, sizeof message);
  hd_fail(d, st, "under plan %.120s: %.600s", text.data ? text.data : "", message);
  hd_buf_free(&text);
  return st;
}

static hd_status admit(void *ctx, const hd_plan *p, uint32_t *out, double *us, hd_diag *d) {
  device_bench *b = ctx;
  hd_status st = free_slot(b, out, d);
  if (st != HD_OK) return st;
  slot *s = b->slots[*out];
  double start = hd_seconds();
  st = tuner_blame(open_variant(b, s, p, d), p);
  double loaded = hd_seconds();
  b->spent.load += loaded - start;
  if (st == HD_OK) st = try_out(b, s, us, d);
  b->spent.check += hd_seconds() - loaded;
  if (st != HD_OK) variant_close(&s->v);
  s->used = st == HD_OK;
  return name_plan(st, p, d);
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
  free(jobs);
  return st;
}

static hd_status move(void *ctx, bool strewn, double *part, hd_diag *d) {
  device_bench *b = ctx;
  uint64_t moved, all = bytes_of(b->p.w);
  double start = hd_seconds();
  if (strewn && !b->strewn && !b->shared) placement_strew(&b->p);
  b->strewn |= strewn;
  hd_status st = placement_move(&b->p, &moved, d);
  if (st == HD_OK) st = hd_device_sync(b->p.device, d);
  b->spent.move += hd_seconds() - start;
  *part = all ? (double)moved / (double)all : 1;
  return st;
}

static void settle(void *ctx) {
  device_bench *b = ctx;
  double start = hd_seconds();
  placement_settle(&b->p);
  b->strewn = false;
  b->spent.move += hd_seconds() - start;
}

static double seconds(void *ctx) { return hd_seconds(); }

tuner_bench device_bench_interface(device_bench *b) {
  return (tuner_bench){.ctx = b,
                       .admit = admit,
                       .release = release,
                       .time = time_slots,
                       .clock = seconds,
                       .move = move,
                       .settle = settle,
                       .moving = move_seconds + (double)bytes_of(b->p.w) / move_rate};
}

hd_status device_bench_compare(device_bench *b, const hd_kernel_plan *plans, size_t n, uint32_t rounds,
                               double confidence, hd_speedup *speedup, double *before_us, double *after_us,
                               hd_diag *d) {
  static const hd_plan any = {
      .order = {.kind = HD_ORDER_REVERSE}}; /* not the baseline: stands for the plans */
  tuner_bench bench = device_bench_interface(b);
  device_bench_together(b, plans, n);
  return search_compare(&bench, &any, rounds, confidence, speedup, before_us, after_us, d);
}

hd_status device_bench_confirm(device_bench *b, const hd_kernel_plan *plans, size_t n, double us,
                               double seconds, double confidence, double least, search_test *out,
                               hd_diag *d) {
  static const hd_plan any = {.order = {.kind = HD_ORDER_REVERSE}}; /* stands for the plans */
  tuner_bench bench = device_bench_interface(b);
  confirm_options o = {.confidence = confidence, .least = least};
  confirm_afford(&bench, us * 1e-6, seconds + confirm_places(confidence) * bench.moving, &o);
  device_bench_together(b, plans, n);
  return search_confirm(&bench, &any, &o, out, d);
}

hd_status device_bench_ballot(device_bench *b, uint32_t launch, uint32_t runs, uint32_t *ctas, hd_diag *d) {
  static const hd_plan vote = {.bypass = {.kind = HD_BYPASS_AUTO}};
  slot s = {.bench = b};
  hd_device *dev = b->p.device;
  uint32_t *counted = calloc(HD_BALLOT_SMS, sizeof *counted);
  hd_status st = counted ? open_variant(b, &s, &vote, d) : hd_nomem(d);
  if (st == HD_OK && !s.v.setup.recipes[launch].ballot)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "the kernel has nothing to vote on");
  for (uint32_t r = 0; st == HD_OK && r < runs; r++) {
    uint64_t ballot = s.v.setup.launches[launch].state, bytes = HD_BALLOT_SMS * sizeof *counted;
    st = prepare(&s, d);
    if (st == HD_OK) st = hd_device_set(dev, ballot, 0, bytes, d);
    if (st == HD_OK) st = run(&s, d);
    if (st == HD_OK) st = hd_device_sync(dev, d);
    if (st == HD_OK) st = hd_device_read(dev, ballot, counted, bytes, d);
    for (uint32_t i = 0; st == HD_OK && i < HD_BALLOT_SMS; i++) ctas[i] += counted[i];
  }
  if (counted) variant_close(&s.v);
  free(counted);
  return st;
}

hd_status device_bench_resident(device_bench *b, uint32_t launch, uint32_t *resident, hd_diag *d) {
  static const hd_plan original;
  const hd_wl_launch *l = &b->p.w->launches[launch];
  slot s = {.bench = b};
  hd_status st = open_variant(b, &s, &original, d);
  if (st == HD_OK)
    st = hd_device_resident(s.v.module, l->kernel, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared,
                            b->p.w->registers, resident, d);
  variant_close(&s.v);
  return st;
}

hd_status device_bench_count(device_bench *b, uint32_t at, hd_counters *out, bool *have, char *why,
                             size_t cap, hd_diag *d) {
  hd_device_job job = job_of(b, at);
  return hd_device_count(b->p.device, &job, b->keep_l2, out, have, why, cap, d);
}

hd_status device_bench_open(hd_device *dev, const hd_workload *w, const hd_tune_options *o,
                            device_bench **out, hd_diag *d) {
  device_bench *b = calloc(1, sizeof *b);
  *out = NULL;
  if (!b) return hd_nomem(d);
  b->keep_l2 = o->keep_l2;
  b->shared = o->shared;
  b->plans = calloc((size_t)w->n_launches + 1, sizeof *b->plans);
  b->sums = calloc((size_t)w->n_buffers + 1, sizeof *b->sums);
  b->near = calloc((size_t)w->n_buffers + 1, sizeof *b->near);
  hd_status st = b->plans && b->sums && b->near ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = placement_open(&b->p, dev, w, &o->run, d);
  if (st != HD_OK) {
    device_bench_close(b);
    return st;
  }
  device_bench_focus(b, NULL, NULL, 0);
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
  free(b->plans);
  free(b);
}
