#include "tune/placement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/runner.h"

/* What a buffer without contents holds before a run. */
enum { UNWRITTEN = 0xCD };

/* ---- Buffers ---------------------------------------------------------------------- */

void placement_free_bytes(const placement *p, void **bytes) {
  for (uint32_t i = 0; bytes && i < p->w->n_buffers; i++) free(bytes[i]);
  free(bytes);
}

static void **allocate_bytes(const placement *p) {
  void **bytes = calloc((size_t)p->w->n_buffers + 1, sizeof *bytes);
  for (uint32_t i = 0; bytes && i < p->w->n_buffers; i++) {
    uint64_t n = p->w->buffers[i].bytes;
    bytes[i] = malloc(n ? n : 1);
    if (!bytes[i]) {
      placement_free_bytes(p, bytes);
      return NULL;
    }
  }
  return bytes;
}

/* First touches of large memory are what takes time: all processors share them. */
typedef struct poisoning {
  char *at;
  uint64_t bytes;
  unsigned workers;
} poisoning;

static void poison_part(void *ctx, unsigned worker) {
  const poisoning *p = ctx;
  uint64_t part = p->bytes / p->workers, from = part * worker;
  memset(p->at + from, UNWRITTEN, worker + 1 == p->workers ? p->bytes - from : part);
}

static void poison(void *at, uint64_t bytes) {
  enum { WORTH_A_THREAD = 16 << 20 };
  uint64_t most = bytes / WORTH_A_THREAD + 1, cpus = hd_cpu_count();
  poisoning p = {at, bytes, (unsigned)(most < cpus ? most : cpus)};
  if (p.workers > 1 && hd_parallel(p.workers, poison_part, &p)) return;
  memset(at, UNWRITTEN, bytes);
}

hd_status placement_open(placement *p, hd_device *dev, const hd_workload *w, const hd_run_options *o,
                         hd_diag *d) {
  uint32_t n = w->n_buffers;
  *p = (placement){.device = dev, .w = w, .run = *o};
  const hd_device_info *info = hd_device_get_info(dev);
  if (!p->run.n_sms) p->run.n_sms = info->n_sms;
  p->run.arch = hd_launch_arch(info, p->run.arch);
  p->addresses = calloc((size_t)n + 1, sizeof *p->addresses);
  p->pristine = calloc((size_t)n + 1, sizeof *p->pristine);
  p->filled = calloc((size_t)n + 1, sizeof *p->filled);
  p->initial = allocate_bytes(p);
  if (!p->addresses || !p->pristine || !p->filled || !p->initial) return hd_nomem(d);
  hd_status st = HD_OK;
  for (uint32_t i = 0; i < n; i++) poison(p->initial[i], w->buffers[i].bytes);
  st = hd_workload_fill_all(w, p->initial, p->filled, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++)
    st = hd_device_alloc(dev, w->buffers[i].bytes, &p->addresses[i], d);
  return st == HD_OK ? placement_restore(p, d) : st;
}

void placement_close(placement *p) {
  if (!p->w) return;
  placement_settle(p);
  hd_vec_free(&p->left);
  hd_vec_free(&p->held);
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    if (p->addresses) hd_device_free(p->device, p->addresses[i], NULL);
    if (p->pristine) hd_device_free(p->device, p->pristine[i], NULL);
  }
  free(p->addresses);
  free(p->pristine);
  free(p->filled);
  free(p->registers);
  free(p->local);
  placement_free_bytes(p, p->initial);
  memset(p, 0, sizeof *p);
}

/* ---- Moves -------------------------------------------------------------------------- */

static void give_back_left(placement *p) {
  /* Copies out of this memory may still be under way. */
  if (p->left.n || p->held.n) hd_device_sync(p->device, NULL);
  for (size_t i = 0; i < p->left.n; i++) hd_device_free(p->device, p->left.data[i], NULL);
  p->left.n = 0;
  p->left_bytes = 0;
}

void placement_settle(placement *p) {
  give_back_left(p);
  p->strewn = false;
  while (p->held.n) hd_device_free(p->device, p->held.data[--p->held.n], NULL);
}

/* Hold more memory, in pieces, until there is no more or there are so many of them. */
static void hold(placement *p, uint64_t bytes, size_t most) {
  uint64_t address;
  while (p->held.n < most && hd_vec_reserve(&p->held, p->held.n + 1) &&
         hd_device_alloc(p->device, bytes, &address, NULL) == HD_OK)
    p->held.data[p->held.n++] = address;
}

void placement_strew(placement *p) {
  /* A page of a GPU; what is quickly taken; as many pieces as can be had in some tenths of a second. */
  static const uint64_t page = 2 << 20, block = 1 << 30, pieces = 4096;
  uint64_t room = 2 * block;
  for (uint32_t i = 0; i < p->w->n_buffers; i++) room += 3 * p->w->buffers[i].bytes;
  give_back_left(p);
  hold(p, block, SIZE_MAX);
  for (uint64_t freed = 0; freed < room && p->held.n; freed += block)
    hd_device_free(p->device, p->held.data[--p->held.n], NULL);
  size_t from = p->held.n, kept = from;
  hold(p, page * (1 + room / (page * pieces)), from + 2 * pieces);
  /* Of three pieces two are gaps. */
  for (size_t i = from; i < p->held.n; i++) {
    if (hd_random_at(room, i) % 3)
      hd_device_free(p->device, p->held.data[i], NULL);
    else
      p->held.data[kept++] = p->held.data[i];
  }
  p->held.n = kept;
  p->strewn = true;
}

static hd_status allocate_beside(placement *p, uint64_t bytes, uint64_t *address, hd_diag *d) {
  uint64_t memory = hd_device_get_info(p->device)->memory_bytes;
  if (memory && p->left_bytes > memory / 2) give_back_left(p);
  hd_status st = hd_device_alloc(p->device, bytes, address, d);
  if (st != HD_ERR_NOMEM || !p->left.n) return st;
  give_back_left(p);
  return hd_device_alloc(p->device, bytes, address, d);
}

static hd_status move_buffer(placement *p, uint32_t i, hd_diag *d) {
  uint64_t bytes = p->w->buffers[i].bytes, address;
  if (!hd_vec_reserve(&p->left, p->left.n + 1)) return hd_nomem(d);
  hd_status st = allocate_beside(p, bytes, &address, d);
  if (st != HD_OK) return st;
  if ((st = hd_device_copy(p->device, address, p->addresses[i], bytes, d)) != HD_OK) {
    hd_device_free(p->device, address, NULL);
    return st;
  }
  p->left.data[p->left.n++] = p->addresses[i];
  p->left_bytes += bytes;
  p->addresses[i] = address;
  return HD_OK;
}

/* Memory of a piece that buffers lay in would be the first to be taken again. */
static void hold_left(placement *p) {
  if (!hd_vec_reserve(&p->held, p->held.n + p->left.n)) return;
  for (size_t i = 0; i < p->left.n; i++) p->held.data[p->held.n++] = p->left.data[i];
  p->left.n = 0;
  p->left_bytes = 0;
}

hd_status placement_move(placement *p, uint64_t *moved, hd_diag *d) {
  hd_status st = HD_OK;
  *moved = 0;
  p->moves++;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    hd_diag e = {0};
    st = move_buffer(p, i, &e);
    if (st == HD_OK) *moved += p->w->buffers[i].bytes;
    if (st == HD_ERR_NOMEM) st = HD_OK;
    if (st != HD_OK && d) *d = e;
  }
  if (p->strewn) hold_left(p);
  p->strewn = false;
  return st;
}

/* ---- First contents, and results ---------------------------------------------------- */

hd_status placement_restore(placement *p, hd_diag *d) {
  hd_status st = HD_OK;
  if (p->fresh) return HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    uint64_t bytes = p->w->buffers[i].bytes;
    if (p->initial && !p->filled[i])
      st = hd_device_set(p->device, p->addresses[i], UNWRITTEN, bytes, d);
    else if (p->initial)
      st = hd_device_write(p->device, p->addresses[i], p->initial[i], bytes, d);
    else if (p->pristine[i])
      st = hd_device_copy(p->device, p->addresses[i], p->pristine[i], bytes, d);
  }
  p->fresh = st == HD_OK && p->initial;
  return st;
}

hd_status placement_poison(placement *p, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && !p->initial && i < p->w->n_buffers; i++)
    if (!p->filled[i]) st = hd_device_set(p->device, p->addresses[i], UNWRITTEN, p->w->buffers[i].bytes, d);
  return st;
}

hd_status placement_learn_changed(placement *p, const bool *changed, hd_diag *d) {
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    uint64_t bytes = p->w->buffers[i].bytes;
    if (!p->filled[i] || !changed[i]) continue;
    hd_status st = hd_device_alloc(p->device, bytes, &p->pristine[i], d);
    if (st == HD_OK) st = hd_device_write(p->device, p->pristine[i], p->initial[i], bytes, d);
    if (st != HD_OK) return st;
  }
  placement_free_bytes(p, p->initial);
  p->initial = NULL;
  return HD_OK;
}

hd_status placement_learn(placement *p, void *const *result, hd_diag *d) {
  bool *changed = calloc((size_t)p->w->n_buffers + 1, sizeof *changed);
  if (!changed) return hd_nomem(d);
  for (uint32_t i = 0; i < p->w->n_buffers; i++)
    changed[i] = p->filled[i] && memcmp(result[i], p->initial[i], p->w->buffers[i].bytes) != 0;
  hd_status st = placement_learn_changed(p, changed, d);
  free(changed);
  return st;
}

hd_status placement_read(placement *p, void ***out, hd_diag *d) {
  *out = allocate_bytes(p);
  if (!*out) return hd_nomem(d);
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    hd_status st = hd_device_read(p->device, p->addresses[i], (*out)[i], p->w->buffers[i].bytes, d);
    if (st == HD_OK) continue;
    placement_free_bytes(p, *out);
    *out = NULL;
    return st;
  }
  return HD_OK;
}

bool placement_same(const hd_workload *w, void *const *got, void *const *want, char *what, size_t cap) {
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    hd_compare_kind how = b->atomics ? HD_COMPARE_NEAR : HD_COMPARE_EXACT;
    char difference[512];
    /* Most often all bytes are the same, and memcmp is by far the fastest way to say so. */
    if (memcmp(got[i], want[i], b->bytes) == 0) continue;
    if (hd_elem_compare(b->type, how, b->abs, b->rel, got[i], want[i], b->count, difference,
                        sizeof difference))
      continue;
    snprintf(what, cap, "buffer %s: %s", b->name, difference);
    return false;
  }
  return true;
}

/* ---- Arguments -------------------------------------------------------------------- */

/* What argument `a` is on this device: its bytes at `value`, which holds HD_TENSOR_MAP_BYTES. */
static hd_status argument(const placement *p, const hd_wl_arg *a, void *value, uint64_t *bytes, hd_diag *d) {
  if (a->tensor) {
    hd_tensor t = *a->tensor;
    t.address += p->addresses[a->buffer];
    *bytes = HD_TENSOR_MAP_BYTES;
    return hd_device_tensor_map(p->device, &t, value, d);
  }
  *bytes = a->is_buffer ? 8 : hd_elem_bytes(a->type);
  memcpy(value, a->is_buffer ? &p->addresses[a->buffer] : &a->bits, 8);
  return HD_OK;
}

/* The parameter block of launch i, laid out as the kernel declares it; the recipe's own parameters stay 0. */
static hd_status build_args(variant *v, const hd_ptx_module *m, uint32_t i, hd_diag *d) {
  const hd_workload *w = v->p->w;
  const hd_wl_launch *l = &w->launches[i];
  variant_launch *out = &v->launches[i];
  int64_t func;
  hd_status st = apply_find_kernel(m, l->kernel, &func, d);
  if (st != HD_OK) return st;
  const hd_ptx_func *f = &m->funcs[func];
  uint32_t own = v->recipes[i].params_bytes ? v->recipes[i].n_params : f->n_params;
  if (own != l->n_args)
    return hd_fail(d, HD_ERR_INPUT, "%s: kernel '%s' takes %u arguments, the workload gives %u", w->name,
                   l->kernel, own, l->n_args);
  out->offsets = calloc((size_t)f->n_params + 1, sizeof *out->offsets);
  if (!out->offsets) return hd_nomem(d);
  out->args_bytes = hd_ptx_param_layout(m, f, out->offsets);
  out->args = out->args_bytes == UINT64_MAX ? NULL : calloc(1, out->args_bytes ? out->args_bytes : 1);
  if (!out->args) st = hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < l->n_args; k++) {
    uint64_t size = hd_ptx_var_size(m, &m->vars[f->first_param + k]), have;
    unsigned char value[HD_TENSOR_MAP_BYTES];
    if ((st = argument(v->p, &l->args[k], value, &have, d)) != HD_OK) break;
    if (size == have)
      memcpy((char *)out->args + out->offsets[k], value, have);
    else
      st = hd_fail(d, HD_ERR_INPUT,
                   "%s: argument %u of kernel '%s' is %" PRIu64 " bytes wide, the workload gives %" PRIu64,
                   w->name, k + 1, l->kernel, size, have);
  }
  return st;
}

/* Arguments that name buffers, after those were moved. */
static hd_status follow_buffers(variant *v, hd_diag *d) {
  const hd_workload *w = v->p->w;
  for (uint32_t i = 0; i < w->n_launches; i++)
    for (uint32_t k = 0; k < w->launches[i].n_args; k++) {
      unsigned char value[HD_TENSOR_MAP_BYTES];
      uint64_t bytes;
      hd_status st = argument(v->p, &w->launches[i].args[k], value, &bytes, d);
      if (st != HD_OK) return st;
      memcpy((char *)v->launches[i].args + v->launches[i].offsets[k], value, bytes);
    }
  v->moves = v->p->moves;
  return HD_OK;
}

/* ---- Recipes ------------------------------------------------------------------------ */

static hd_status upload_table(variant *v, uint32_t i, const hd_plan *plan, hd_diag *d) {
  const placement *p = v->p;
  hd_table own;
  const hd_table *table;
  uint64_t bytes = v->recipes[i].table_bytes;
  plan = apply_plan_of(&p->run, p->w->launches[i].kernel, plan);
  hd_status st = apply_table(p->w, i, plan, &p->run, &own, &table, d);
  if (st == HD_OK) st = hd_device_alloc(p->device, bytes, &v->launches[i].table, d);
  if (st == HD_OK) st = hd_device_write(p->device, v->launches[i].table, table->task, bytes, d);
  hd_table_free(&own);
  return st;
}

static hd_status provide_state(variant *v, uint32_t i, hd_diag *d) {
  const placement *p = v->p;
  uint64_t bytes = v->recipes[i].state_bytes;
  uint32_t first = apply_first_launch(p->w, i);
  if (first < i) {
    v->launches[i].state = v->launches[first].state;
    return HD_OK;
  }
  hd_status st = hd_device_alloc(p->device, bytes, &v->launches[i].state, d);
  return st == HD_OK ? hd_device_set(p->device, v->launches[i].state, 0, bytes, d) : st;
}

/* The grid of launch i and the parameters that the recipe adds. */
static hd_status follow_recipe(variant *v, uint32_t i, const hd_plan *plan, hd_diag *d) {
  const placement *p = v->p;
  const hd_recipe *recipe = &v->recipes[i];
  const hd_wl_launch *l = &p->w->launches[i];
  const hd_device_info *info = hd_device_get_info(p->device);
  uint32_t resident = 1;
  hd_status st = HD_OK;
  /* A model replays which task did what on the SM that its dispatcher gives it, and knows nothing of SMs that
   * the kernel itself looks at. */
  if (info->kind == HD_DEVICE_MODEL && (recipe->agents || recipe->state_bytes))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "kernels that bind tasks to SMs do not run on %s", info->name);
  if (recipe->agents && info->kind == HD_DEVICE_CUDA)
    st = hd_device_resident(v->module, l->kernel, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared,
                            0, &resident, d);
  if (st == HD_OK && recipe->state_bytes) st = provide_state(v, i, d);
  if (st == HD_OK && recipe->table_bytes) st = upload_table(v, i, plan, d);
  if (st != HD_OK) return st;
  hd_recipe_grid(recipe, l->grid, info->n_sms, resident, v->launches[i].grid);
  if (recipe->params_bytes)
    hd_recipe_params(recipe, l->grid, v->launches[i].state, v->launches[i].table, v->launches[i].args);
  return HD_OK;
}

/* ---- Kernels -------------------------------------------------------------------------- */

static bool has_agents(const placement *p, const hd_plan *plan) {
  for (uint32_t i = 0; i < p->w->n_launches; i++)
    if (apply_plan_of(&p->run, p->w->launches[i].kernel, plan)->bind == HD_BIND_AGENTS) return true;
  return false;
}

static bool binds_to_sms(const placement *p, const hd_plan *plan) {
  for (uint32_t i = 0; i < p->w->n_launches; i++)
    if (apply_plan_of(&p->run, p->w->launches[i].kernel, plan)->bind == HD_BIND_CLAIM) return true;
  return has_agents(p, plan);
}

/* A cluster for each SM that there is, where their numbers have holes. */
static hd_status learn_sms(placement *p, hd_diag *d) {
  uint32_t n = 0, all = hd_device_get_info(p->device)->n_sms;
  if (p->run.sms) return HD_OK;
  hd_status st = hd_device_sms(p->device, &p->sms, d);
  for (uint32_t k = 0; k < p->sms.n; k++) n += p->sms.ranges[k].last - p->sms.ranges[k].first + 1;
  if (st != HD_OK || !n || (p->sms.n == 1 && p->sms.ranges[0].first == 0 && n == all)) return st;
  p->run.sms = &p->sms;
  if (p->run.n_sms == all) p->run.n_sms = n;
  return HD_OK;
}

/* What the original's kernels take on this device, from which rewritten ones get their limits on registers.
 */
static hd_status learn_kernels(placement *p, const hd_compiled *code, hd_diag *d) {
  uint32_t n = p->w->n_launches;
  hd_device_module *m = NULL;
  if (p->registers || hd_device_get_info(p->device)->kind != HD_DEVICE_CUDA) return HD_OK;
  p->registers = calloc((size_t)n + 1, sizeof *p->registers);
  p->local = calloc((size_t)n + 1, sizeof *p->local);
  if (!p->registers || !p->local) return hd_nomem(d);
  hd_status st = hd_device_load(p->device, code->text, code->len, p->w->name, NULL, &m, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    hd_kernel_info info = {0};
    st = hd_device_kernel_info(m, p->w->launches[i].kernel, &info, d);
    p->registers[i] = info.registers;
    p->local[i] = info.local_bytes;
  }
  hd_device_unload(m);
  p->run.registers = p->registers;
  return st;
}

/* What the kernels with agents need more than the originals. */
static hd_status find_growth(const variant *v, const hd_plan *plan, bool *spills, int64_t *added,
                             hd_diag *d) {
  const placement *p = v->p;
  *spills = false;
  *added = 0;
  for (uint32_t i = 0; p->local && i < p->w->n_launches; i++) {
    const char *kernel = p->w->launches[i].kernel;
    hd_kernel_info info;
    if (apply_plan_of(&p->run, kernel, plan)->bind != HD_BIND_AGENTS) continue;
    hd_status st = hd_device_kernel_info(v->module, kernel, &info, d);
    if (st != HD_OK) return st;
    int64_t more = (int64_t)info.registers - p->registers[i];
    *spills |= info.local_bytes > p->local[i];
    if (more > *added) *added = more;
  }
  return HD_OK;
}

/* Rewrite and compile; kernels with agents in the first way that takes few registers. */
static hd_status load_rewritten(variant *v, const hd_plan *plan, const hd_compiled *code, hd_arena *arena,
                                hd_ptx_module **m, hd_diag *d) {
  const placement *p = v->p;
  hd_run_options run = p->run;
  agents_search s = {.run = &run};
  for (bool again = true; again;) {
    hd_buf text = {0};
    bool spills;
    int64_t added;
    again = false;
    hd_status st = hd_ptx_parse(code->text, code->len, p->w->name, arena, m, d);
    if (st == HD_OK) st = hd_rewrite_workload(*m, p->w, plan, &run, v->recipes, d);
    if (st == HD_OK) st = hd_ptx_print(*m, &text);
    if (st == HD_OK && text.failed) st = hd_nomem(d);
    if (st == HD_OK) st = hd_device_load(p->device, text.data, text.len, p->w->name, NULL, &v->module, d);
    if (st == HD_OK && has_agents(p, plan)) {
      st = find_growth(v, plan, &spills, &added, d);
      again = st == HD_OK && agents_try_next(&s, spills, added);
    }
    hd_buf_free(&text);
    if (st != HD_OK) return st;
    if (!again) break;
    hd_device_unload(v->module);
    v->module = NULL;
  }
  return HD_OK;
}

static hd_status load(variant *v, const hd_plan *plan, hd_arena *arena, hd_diag *d) {
  placement *p = v->p;
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(p->w, p->run.arch, &code, d);
  if (st != HD_OK) return st;
  const hd_ptx_module *m = code->module;
  if (plan) {
    hd_ptx_module *own = NULL;
    if (binds_to_sms(p, plan)) st = learn_sms(p, d);
    if (st == HD_OK && has_agents(p, plan)) st = learn_kernels(p, code, d);
    if (st == HD_OK) st = load_rewritten(v, plan, code, arena, &own, d);
    m = own;
  } else {
    /* The original is loaded as it came, so that nothing of heddle is in the baseline. */
    st = hd_device_load(p->device, code->text, code->len, p->w->name, NULL, &v->module, d);
  }
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_launches; i++) {
    memcpy(v->launches[i].grid, p->w->launches[i].grid, sizeof v->launches[i].grid);
    st = build_args(v, m, i, d);
    if (st == HD_OK && plan) st = follow_recipe(v, i, plan, d);
  }
  return st;
}

hd_status variant_open(variant *v, placement *p, const hd_plan *plan, hd_diag *d) {
  uint32_t n = p->w->n_launches;
  *v = (variant){.p = p, .moves = p->moves};
  v->launches = calloc((size_t)n + 1, sizeof *v->launches);
  v->recipes = calloc((size_t)n + 1, sizeof *v->recipes);
  if (!v->launches || !v->recipes) return hd_nomem(d);
  hd_arena arena;
  hd_arena_init(&arena);
  bool original = plan && hd_plan_is_baseline(plan) && !p->run.n_kernels;
  hd_status st = load(v, original ? NULL : plan, &arena, d);
  hd_arena_free(&arena);
  return st;
}

void variant_close(variant *v) {
  if (!v->p) return;
  hd_device *dev = v->p->device;
  hd_device_unload(v->module);
  for (uint32_t i = 0; v->launches && i < v->p->w->n_launches; i++) {
    const variant_launch *l = &v->launches[i];
    free(l->args);
    free(l->offsets);
    hd_device_free(dev, l->table, NULL);
    if (apply_first_launch(v->p->w, i) == i) hd_device_free(dev, l->state, NULL);
  }
  free(v->launches);
  free(v->recipes);
  memset(v, 0, sizeof *v);
}

hd_status variant_launch_one(variant *v, uint32_t i, hd_diag *d) {
  const hd_wl_launch *l = &v->p->w->launches[i];
  const variant_launch *vl = &v->launches[i];
  hd_device_launch launch = {.kernel = l->kernel,
                             .grid = {vl->grid[0], vl->grid[1], vl->grid[2]},
                             .block = {l->block[0], l->block[1], l->block[2]},
                             .dynamic_shared = l->dynamic_shared,
                             .args = vl->args,
                             .args_bytes = vl->args_bytes,
                             .registers = v->p->w->registers};
  v->p->fresh = false;
  hd_status st = v->moves == v->p->moves ? HD_OK : follow_buffers(v, d);
  return st == HD_OK ? hd_device_run(v->module, &launch, d) : st;
}

hd_status variant_run(variant *v, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < v->p->w->n_launches; i++) st = variant_launch_one(v, i, d);
  return st;
}

static hd_status prepare(void *ctx, hd_diag *d) { return placement_restore(((variant *)ctx)->p, d); }
static hd_status run(void *ctx, hd_diag *d) { return variant_run(ctx, d); }

hd_device_job variant_job(variant *v) { return (hd_device_job){.prepare = prepare, .run = run, .ctx = v}; }
