/* Launches of kernels and of host functions. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/locality.h"
#include "cuda/core/order.h"
#include "cuda/core/repeat.h"

typedef struct kernel_work {
  core_work work;
  core_function *function;
  hd_emu_launch_params params;
  hd_dispatch dispatch;
  void **pointers; /* to each parameter in args */
  char args[];
} kernel_work;

/* ---- A fault's result for the program ----------------------------------------------------------------- */

/* What was found, and the driver's result. */
static const struct {
  core_finding_kind kind;
  cu_result result;
} faults[] = {
    [HD_FAULT_NONE] = {CORE_FOUND_FAULT, CU_LAUNCH_FAILED},
    [HD_FAULT_OTHER] = {CORE_FOUND_FAULT, CU_LAUNCH_FAILED},
    [HD_FAULT_BOUNDS] = {CORE_FOUND_BOUNDS, CU_ILLEGAL_ADDRESS},
    [HD_FAULT_MISALIGNED] = {CORE_FOUND_MISALIGNED, CU_MISALIGNED_ADDRESS},
    [HD_FAULT_UNWRITTEN] = {CORE_FOUND_INIT, CU_LAUNCH_FAILED},
    [HD_FAULT_UNWRITTEN_SHARED] = {CORE_FOUND_INIT, CU_LAUNCH_FAILED},
    [HD_FAULT_RACE] = {CORE_FOUND_RACE, CU_LAUNCH_FAILED},
    [HD_FAULT_BARRIER] = {CORE_FOUND_BARRIER, CU_LAUNCH_FAILED},
    [HD_FAULT_HANG] = {CORE_FOUND_FAULT, CU_LAUNCH_TIMEOUT},
    [HD_FAULT_ASSERTION] = {CORE_FOUND_ASSERTION, CU_ASSERT},
    [HD_FAULT_TRAP] = {CORE_FOUND_FAULT, CU_LAUNCH_FAILED},
    [HD_FAULT_NOT_EMULATED] = {CORE_FOUND_FAULT, CU_NOT_SUPPORTED},
};

static cu_result result_of(hd_status st, const hd_diag *d) {
  if (st == HD_ERR_NOMEM) return CU_OUT_OF_MEMORY;
  if (st == HD_ERR_UNSUPPORTED) return CU_NOT_SUPPORTED;
  return faults[d->fault].result;
}

/* The line, in which the kernel is called as people write it. */
static void put_title(const core_function *f, const char *line, char *out, size_t cap) {
  const size_t n = strlen(f->name);
  const char *at = strstr(line, f->name);
  if (at)
    snprintf(out, cap, "%.*s%s%s", (int)(at - line), line, f->title, at + n);
  else
    snprintf(out, cap, "%s", line);
}

/* `end` closes the sentence. */
static void say_fault(const core_function *f, const hd_diag *d, const char *end) {
  char line[1600], title[1600], source[256] = "";
  const hd_ptx_source from = hd_ptx_source_at(f->module->ptx, d->line);
  if (from.line) snprintf(source, sizeof source, ", from %.*s:%u", (int)from.file_len, from.file, from.line);
  put_title(f, hd_diag_line(d, line, sizeof line), title, sizeof title);
  /* Whichever warp the emulator runs first: a read in front of another warp's store is this, too. */
  const bool shared = d->fault == HD_FAULT_UNWRITTEN_SHARED;
  core_found_at(faults[d->fault].kind, (core_code[2]){{d->line ? f : NULL, d->line}}, "%s%s%s%s", title,
                shared ? "; or a race with a warp that writes it later" : "", source, end);
}

/* An instruction's stray accesses are said once, however often its kernel is launched. */
static void say_stray(core_function *f, const hd_diag *d) {
  for (size_t k = 0; k < f->strays.n; k++)
    if (f->strays.data[k] == d->line) return;
  (void)hd_vec_push(&f->strays, d->line);
  say_fault(f, d, core.settings.checks ? "" : "; a GPU would not notice, and the kernel goes on");
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool printed; /* by the operation that runs */

static void print(void *ctx, const char *text, size_t len) {
  printed = true;
  fwrite(text, 1, len, stdout);
  fflush(stdout);
}

static atomic_bool cut;

bool core_is_cut(void) { return cut; }

/* Said once. What the program hears is what a GPU says that serves a display, too. */
static cu_result spent(void) {
  if (!atomic_exchange(&cut, true))
    core_say("its kernels have run the %" PRIu64
             " thread instructions that they may: this launch and all later ones end with "
             "CUDA_ERROR_LAUNCH_TIMEOUT",
             core.settings.work);
  return CU_LAUNCH_TIMEOUT;
}

static void count(core_function *f, const hd_emu_stats *s) {
  f->launches++;
  f->warp_instructions += s->warp_instructions;
  f->thread_instructions += s->thread_instructions;
  f->seconds += s->seconds;
}

static cu_result run_kernel(core_work *base) {
  kernel_work *w = (kernel_work *)base;
  core_function *f = w->function;
  if (f->kind != CORE_FUNCTION) {
    core_found(CORE_FOUND_ARGUMENT, "a graph launches a kernel whose module was unloaded");
    return CU_INVALID_HANDLE;
  }
  const hd_emu_hooks *trace = core_locality_begin(f, &w->params);
  core_repeat *repeat = trace || base->may_wait ? NULL : core_repeat_of(f, &w->params);
  const hd_emu_stats *idle = repeat ? core_repeat_idle(repeat) : NULL;
  if (idle) {
    count(f, idle);
    f->idle_launches++;
    return CU_SUCCESS;
  }
  if (hd_emu_is_spent(core.emu)) return spent();
  hd_emu_hooks hooks = {.access = core_access_hook(),
                        .spaces = core_access_hook() ? 1u << HD_SPACE_GLOBAL | 1u << HD_SPACE_CONST : 0};
  if (trace) hooks = *trace;
  hooks.print = print;
  hooks.wait = core_wait_outside;
  hd_emu_stats stats;
  hd_emu_strays strays = {0};
  hd_emu_launch_params params = w->params;
  if (!core.settings.checks) params.strays = &strays;
  params.unwritten = &strays;
  hd_diag d = {0};
  printed = false;
  if (repeat) core_repeat_begin(repeat);
  hd_status st = hd_emu_launch(f->module->program, &params, &w->dispatch, &hooks, &stats, &d);
  if (repeat) core_repeat_end(repeat, st == HD_OK && !printed && !strays.n, &stats);
  core_name_kernel(f, &stats);
  count(f, &stats);
  if (trace) core_locality_end(f, &w->params, st == HD_OK);
  for (size_t k = 0; k < strays.n; k++) say_stray(f, &strays.data[k]);
  hd_vec_free(&strays);
  if (st == HD_ERR_BUDGET) return spent();
  if (st != HD_OK) say_fault(f, &d, "");
  return st == HD_OK ? CU_SUCCESS : result_of(st, &d);
}

/* ---- Checking -------------------------------------------------------------------------------- */

static cu_result bad(const core_function *f, const char *what, unsigned long long have,
                     unsigned long long most) {
  core_found(CORE_FOUND_ARGUMENT, "launch of %s: %s of %llu, and the GPU takes %s%llu", f->title, what, have,
             have ? "at most " : "at least ", have ? most : 1);
  return CU_INVALID_VALUE;
}

static cu_result check_shape(const core_function *f, const core_launch *l) {
  static const uint32_t grid[3] = {0x7FFFFFFF, 65535, 65535}, block[3] = {1024, 1024, 64};
  static const char *const grids[] = {"gridDim.x", "gridDim.y", "gridDim.z"}, *const blocks[] = {
                                                                                  "blockDim.x", "blockDim.y",
                                                                                  "blockDim.z"};
  uint64_t threads = 1;
  for (int k = 0; k < 3; k++) {
    if (!l->grid[k] || l->grid[k] > grid[k]) return bad(f, grids[k], l->grid[k], grid[k]);
    if (!l->block[k] || l->block[k] > block[k]) return bad(f, blocks[k], l->block[k], block[k]);
    threads *= l->block[k];
  }
  if (threads > f->max_threads) return bad(f, "a CTA's threads", threads, f->max_threads);
  if ((int64_t)l->dynamic_shared > f->max_dynamic)
    return bad(f, "dynamic shared memory", l->dynamic_shared, (unsigned long long)f->max_dynamic);
  return CU_SUCCESS;
}

static cu_result check_cluster(const core_function *f, const core_launch *l, uint32_t cluster[3]) {
  const cu_result r = core_cluster_of(f, l->grid, l->cluster, cluster);
  if (r != CU_SUCCESS)
    core_found(CORE_FOUND_ARGUMENT,
               "launch of %s: a grid of %ux%ux%u CTAs cannot have clusters of %ux%ux%u as they are asked for",
               f->title, l->grid[0], l->grid[1], l->grid[2], cluster[0], cluster[1], cluster[2]);
  return r;
}

static cu_result check_cooperative(const core_function *f, const core_launch *l) {
  const uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
                 threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  const uint64_t most = core_occupancy(f, threads, l->dynamic_shared) * core.settings.n_sms;
  return !l->cooperative || ctas <= most ? CU_SUCCESS : CU_COOPERATIVE_TOO_LARGE;
}

static void drop_kernel(core_work *base) { free(((kernel_work *)base)->pointers); }

static cu_result copy_args(const core_function *f, const core_launch *l, char *args) {
  if (l->packed) {
    memcpy(args, l->packed, l->packed_bytes < f->params_bytes ? l->packed_bytes : f->params_bytes);
    return CU_SUCCESS;
  }
  if (f->n_params && !l->params) return CU_INVALID_VALUE;
  for (uint32_t k = 0; k < f->n_params; k++) {
    if (!l->params[k]) return CU_INVALID_VALUE;
    memcpy(args + f->offsets[k], l->params[k], f->sizes[k]);
  }
  return CU_SUCCESS;
}

/* Not supported by the emulator: said once a kernel. */
static cu_result supported(const core_function *f) {
  hd_diag d = {0};
  if (hd_emu_supported(f->module->program, f->name, &d) == HD_OK) return CU_SUCCESS;
  char line[1600];
  core_say("kernel %s: %s", f->title, hd_diag_line(&d, line, sizeof line));
  return CU_NOT_SUPPORTED;
}

cu_result core_launch_work(core_context *c, const core_launch *l, core_work **out) {
  core_function *f;
  cu_result r = core_function_in(l->function, c, &f);
  if (r == CU_SUCCESS) r = supported(f);
  uint32_t cluster[3];
  if (r == CU_SUCCESS) r = check_shape(f, l);
  if (r == CU_SUCCESS) r = check_cluster(f, l, cluster);
  if (r == CU_SUCCESS) r = check_cooperative(f, l);
  if (r != CU_SUCCESS) return r;
  core_alone_watch();
  kernel_work *w = core_work_new(CORE_WORK_KERNEL, sizeof *w + f->params_bytes + 1, c, run_kernel);
  if (!w) return CU_OUT_OF_MEMORY;
  w->work.drop = drop_kernel;
  w->work.may_wait = hd_emu_may_wait(f->module->program, f->name);
  w->work.programmatic = l->programmatic && core.settings.arch >= 90;
  w->function = f;
  w->pointers = calloc((size_t)f->n_params + 1, sizeof *w->pointers);
  if (!w->pointers) {
    core_work_release(&w->work);
    return CU_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < f->n_params; k++) w->pointers[k] = w->args + f->offsets[k];
  w->params = (hd_emu_launch_params){
      .kernel = f->name, .dynamic_shared = l->dynamic_shared, .args = w->args, .args_bytes = f->params_bytes};
  memcpy(w->params.grid, l->grid, sizeof l->grid);
  memcpy(w->params.block, l->block, sizeof l->block);
  memcpy(w->params.cluster, cluster, sizeof cluster);
  const uint32_t resident =
      core_occupancy(f, (uint64_t)l->block[0] * l->block[1] * l->block[2], l->dynamic_shared);
  w->params.cooperative = l->cooperative;
  w->params.fit = resident;
  if (core.settings.devices > 1) w->params.user = UINT64_C(1) << c->device->ordinal;
  w->dispatch = (hd_dispatch){.kind = core.settings.seed ? HD_DISPATCH_DEMAND : HD_DISPATCH_ROUND_ROBIN,
                              .seed = core.settings.seed,
                              .resident = resident};
  r = copy_args(f, l, w->args);
  if (r == CU_SUCCESS)
    *out = &w->work;
  else
    core_work_release(&w->work);
  return r;
}

core_launch core_launch_of(const core_work *base) {
  const kernel_work *w = (const kernel_work *)base;
  core_launch l = {.function = w->function,
                   .dynamic_shared = w->params.dynamic_shared,
                   .cooperative = w->params.cooperative,
                   .programmatic = base->programmatic,
                   .params = w->pointers};
  memcpy(l.grid, w->params.grid, sizeof l.grid);
  memcpy(l.block, w->params.block, sizeof l.block);
  memcpy(l.cluster, w->params.cluster, sizeof l.cluster);
  return l;
}

/* ---- Host functions -------------------------------------------------------------------------- */

typedef struct host_work {
  core_work work;
  cu_host_fn *fn;
  void *data;
} host_work;

static cu_result run_host(core_work *base) {
  const host_work *w = (const host_work *)base;
  w->fn(w->data);
  return CU_SUCCESS;
}

cu_result core_host_work(core_context *c, cu_host_fn *fn, void *data, core_work **out) {
  host_work *w = core_work_new(CORE_WORK_HOST, sizeof *w, c, run_host);
  if (!w) return CU_OUT_OF_MEMORY;
  w->fn = fn;
  w->data = data;
  *out = &w->work;
  return CU_SUCCESS;
}

cu_host_node core_host_of(const core_work *base) {
  const host_work *w = (const host_work *)base;
  return (cu_host_node){w->fn, w->data};
}
