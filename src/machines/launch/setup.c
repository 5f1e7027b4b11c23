#include "launch/setup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/ptx_facts.h"

/* ---- Arguments ------------------------------------------------------------------------ */

/* Put an argument as this device takes it at `to`, which has room for hd_wl_arg_bytes. */
static hd_status put_argument(const launch_setup *s, const hd_wl_arg *a, const uint64_t *addresses, char *to,
                              hd_diag *d) {
  hd_status st = HD_OK;
  if (a->tensor) {
    hd_tensor t = *a->tensor;
    t.address += addresses[a->buffer];
    return s->memory.tensor_map(s->memory.ctx, &t, to, d);
  }
  for (uint32_t k = 0; st == HD_OK && a->fields && k < a->n_fields; k++)
    st = put_argument(s, &a->fields[k].value, addresses, to + a->fields[k].at, d);
  if (a->fields) return st;
  const uint64_t value = a->is_buffer ? addresses[a->buffer] + a->offset
                         : a->image   ? s->images[a->image - 1]
                                      : a->bits;
  memcpy(to, &value, hd_wl_arg_bytes(a));
  return HD_OK;
}

/* Objects for all images; again, over buffers that were moved. */
static hd_status make_images(launch_setup *s, const uint64_t *addresses, hd_diag *d) {
  const hd_workload *w = s->code->workload;
  for (uint32_t i = 0; s->memory.image && i < w->n_images; i++) {
    hd_texture t = w->images[i].texture;
    t.image.address += addresses[w->images[i].buffer];
    if (s->images[i] && s->memory.release)
      s->memory.release(s->memory.ctx, s->images[i], w->images[i].surface);
    s->images[i] = 0;
    hd_status st = s->memory.image(s->memory.ctx, &t, w->images[i].surface, &s->images[i], d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* A float where the kernel takes an integer, or a signed integer for a float. Unsigned ones may be the bits
 * of anything: recordings have them. */
static bool is_other_number(const hd_wl_arg *a, hd_mod type) {
  if (a->is_buffer || a->tensor || a->image || a->fields) return false;
  const hd_ptx_number takes = hd_ptx_type_of(type).number;
  const char kind = hd_elem_name(a->type)[0];
  const bool is_float = kind == 'f' && hd_elem_bytes(a->type) >= 4;
  return is_float ? takes == HD_NUM_UNSIGNED || takes == HD_NUM_SIGNED : kind == 's' && takes == HD_NUM_FLOAT;
}

static hd_status check_sizes(const launch_setup *s, const hd_ptx_module *m, const hd_ptx_func *f, uint32_t i,
                             hd_diag *d) {
  const hd_workload *w = s->code->workload;
  const hd_wl_launch *l = &w->launches[i];
  uint32_t own = s->recipes[i].params_bytes ? s->recipes[i].n_params : f->n_params;
  if (own != l->n_args)
    return hd_fail(d, HD_ERR_INPUT, "%s: kernel '%s' takes %u arguments, the workload gives %u", w->name,
                   hd_kernel_called(l->kernel, (hd_called){""}), own, l->n_args);
  for (uint32_t k = 0; k < l->n_args; k++) {
    const hd_wl_arg *a = &l->args[k];
    uint64_t size = hd_ptx_var_size(m, &m->vars[f->first_param + k]), have = hd_wl_arg_bytes(a);
    if (size != have)
      return hd_fail(d, HD_ERR_INPUT,
                     "%s: argument %u of kernel '%s' is %" PRIu64 " bytes wide, the workload gives %" PRIu64,
                     w->name, k + 1, hd_kernel_called(l->kernel, (hd_called){""}), size, have);
    if (is_other_number(a, m->vars[f->first_param + k].type))
      return hd_fail(d, HD_ERR_INPUT, "%s: argument %u of kernel '%s' is .%s, the workload gives %s", w->name,
                     k + 1, hd_kernel_called(l->kernel, (hd_called){""}),
                     hd_ptx_mod_text(m, m->vars[f->first_param + k].type), hd_elem_name(a->type));
  }
  return HD_OK;
}

static hd_status put_arguments(launch_setup *s, uint32_t i, const uint64_t *addresses, hd_diag *d) {
  const hd_wl_launch *l = &s->code->workload->launches[i];
  const launch_block *b = &s->launches[i];
  hd_status st = HD_OK;
  for (uint32_t k = 0; st == HD_OK && k < l->n_args; k++)
    st = put_argument(s, &l->args[k], addresses, (char *)b->args + b->offsets[k], d);
  return st;
}

/* The parameter block of launch i; the recipe's own parameters stay 0. */
static hd_status build_block(launch_setup *s, const hd_ptx_module *m, uint32_t i, const uint64_t *addresses,
                             hd_diag *d) {
  const hd_ptx_func *f = &m->funcs[s->code->kernels[s->code->kernel_of[i]].func];
  launch_block *b = &s->launches[i];
  hd_status st = check_sizes(s, m, f, i, d);
  if (st != HD_OK) return st;
  b->offsets = HD_NEW_N(&s->arena, (size_t)f->n_params + 1, uint64_t);
  if (!b->offsets) return hd_nomem(d);
  b->args_bytes = hd_ptx_param_layout(m, f, b->offsets);
  if (b->args_bytes == UINT64_MAX) return hd_nomem(d);
  b->args = hd_arena_zalloc(&s->arena, b->args_bytes + 1, 1);
  return b->args ? put_arguments(s, i, addresses, d) : hd_nomem(d);
}

hd_status launch_setup_follow(launch_setup *s, const uint64_t *addresses, hd_diag *d) {
  hd_status st = make_images(s, addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < s->code->workload->n_launches; i++)
    st = put_arguments(s, i, addresses, d);
  return st;
}

/* ---- Needs of recipes ---------------------------------------------------------------------- */

static hd_status provide(const launch_setup *s, const void *bytes, uint64_t n, uint64_t *address,
                         hd_diag *d) {
  if (!n) return HD_OK;
  hd_status st = s->memory.alloc(s->memory.ctx, n, address, d);
  return st == HD_OK ? s->memory.write(s->memory.ctx, *address, bytes, n, d) : st;
}

static hd_status follow_recipe(launch_setup *s, const hd_resolved *plans, uint32_t i, hd_diag *d) {
  const hd_recipe *recipe = &s->recipes[i];
  uint32_t kernel = s->code->kernel_of[i], first = s->code->kernels[kernel].first;
  launch_block *b = &s->launches[i];
  hd_status st = HD_OK;
  if (first < i) {
    b->state = s->launches[first].state;
    b->table = s->launches[first].table;
  } else {
    st = provide(s, NULL, recipe->state_bytes, &b->state, d);
    if (st == HD_OK) st = provide(s, plans->kernels[kernel].table.task, recipe->table_bytes, &b->table, d);
  }
  if (st == HD_OK && recipe->params_bytes)
    hd_recipe_params(recipe, s->code->workload->launches[i].grid, b->state, b->table, b->args);
  return st;
}

/* ---- All of it --------------------------------------------------------------------------------- */

hd_status launch_setup_open(launch_setup *s, const hd_compiled *code, launch_memory memory, hd_diag *d) {
  uint32_t n = code->workload->n_launches;
  *s = (launch_setup){.code = code, .memory = memory};
  hd_arena_init(&s->arena);
  s->recipes = HD_NEW_N(&s->arena, (size_t)n + 1, hd_recipe);
  s->launches = HD_NEW_N(&s->arena, (size_t)n + 1, launch_block);
  s->images = HD_NEW_N(&s->arena, (size_t)code->workload->n_images + 1, uint64_t);
  return s->recipes && s->launches && s->images ? HD_OK : hd_nomem(d);
}

hd_status launch_setup_build(launch_setup *s, const hd_ptx_module *m, const hd_resolved *plans,
                             const uint64_t *addresses, hd_diag *d) {
  hd_status st = make_images(s, addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < s->code->workload->n_launches; i++) {
    st = build_block(s, m, i, addresses, d);
    if (st == HD_OK && plans) st = follow_recipe(s, plans, i, d);
  }
  return st;
}

static hd_status blank_map(void *ctx, const hd_tensor *t, void *map, hd_diag *d) {
  memset(map, 0, HD_TENSOR_MAP_BYTES);
  return HD_OK;
}

hd_status hd_launch_args(const hd_compiled *code, uint32_t launch, const uint64_t *addresses, void **args,
                         uint64_t *bytes, hd_diag *d) {
  launch_setup s;
  const launch_memory nowhere = {.tensor_map = blank_map};
  *args = NULL;
  *bytes = 0;
  hd_status st = launch_setup_open(&s, code, nowhere, d);
  if (st == HD_OK) st = build_block(&s, code->module, launch, addresses, d);
  if (st == HD_OK) {
    *bytes = s.launches[launch].args_bytes;
    *args = malloc(*bytes + 1);
    if (*args)
      memcpy(*args, s.launches[launch].args, *bytes);
    else
      st = hd_nomem(d);
  }
  launch_setup_close(&s);
  return st;
}

void launch_setup_take(launch_setup *s, const hd_recipe *recipes) {
  memcpy(s->recipes, recipes, s->code->workload->n_launches * sizeof *recipes);
}

void launch_setup_close(launch_setup *s) {
  if (!s->code) return;
  for (uint32_t k = 0; s->launches && s->memory.free && k < s->code->n_kernels; k++) {
    const launch_block *b = &s->launches[s->code->kernels[k].first];
    s->memory.free(s->memory.ctx, b->state);
    s->memory.free(s->memory.ctx, b->table);
  }
  for (uint32_t i = 0; s->images && s->memory.release && i < s->code->workload->n_images; i++)
    if (s->images[i]) s->memory.release(s->memory.ctx, s->images[i], s->code->workload->images[i].surface);
  hd_arena_free(&s->arena);
  *s = (launch_setup){0};
}
