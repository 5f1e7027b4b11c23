/* Kernels: their parameters, attributes, and how many of their CTAs an SM holds. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"
#include "heddle/container.h"
#include "heddle/limits.h"

enum {
  FIRST_WITH_CLUSTERS = 90,  /* architecture */
  PORTABLE_CLUSTER = 8,      /* CTAs */
  DEFAULT_SHARED = 48 << 10, /* bytes a CTA may take without asking for more */
  DEFAULT_REGISTERS = 32,    /* PTX does not say how many ptxas would take */
};

static uint32_t directive(const hd_ptx_module *m, const hd_ptx_func *f, hd_mod name, uint32_t out[3]) {
  const hd_ptx_dir *dir = hd_ptx_func_dir(m, f, name);
  uint32_t product = 1;
  if (!dir) return 0;
  for (uint32_t k = 0; k < 3; k++) {
    const uint32_t v = k < dir->n_vals ? dir->vals[k] : 1;
    if (out) out[k] = v;
    product *= v;
  }
  return product;
}

static bool describe(core_module *m, const hd_ptx_func *f, core_function *out) {
  out->n_params = f->n_params;
  out->offsets = HD_NEW_N(&m->arena, (size_t)f->n_params + 1, uint64_t);
  out->sizes = HD_NEW_N(&m->arena, (size_t)f->n_params + 1, uint64_t);
  if (!out->offsets || !out->sizes) return false;
  out->params_bytes = hd_ptx_param_layout(m->ptx, f, out->offsets);
  for (uint32_t k = 0; k < f->n_params; k++)
    out->sizes[k] = hd_ptx_var_size(m->ptx, &m->ptx->vars[f->first_param + k]);
  out->static_shared = hd_emu_static_shared(m->program, out->name);
  out->max_threads = directive(m->ptx, f, HD_M_MAXNTID, NULL);
  if (!out->max_threads) out->max_threads = directive(m->ptx, f, HD_M_REQNTID, NULL);
  if (!out->max_threads || out->max_threads > 1024) out->max_threads = 1024;
  const uint32_t limit = directive(m->ptx, f, HD_M_MAXNREG, NULL);
  out->registers = limit && limit < DEFAULT_REGISTERS ? limit : DEFAULT_REGISTERS;
  out->cluster_fixed = directive(m->ptx, f, HD_M_REQNCTAPERCLUSTER, out->cluster) != 0;
  out->max_dynamic = DEFAULT_SHARED > out->static_shared ? (int)(DEFAULT_SHARED - out->static_shared) : 0;
  out->carveout = -1;
  return true;
}

/* All that were made, by address: those that are gone, too. */
static HD_VEC(core_function *) made;

static size_t place_of(const void *handle) {
  size_t low = 0, high = made.n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if ((uintptr_t)made.data[middle] < (uintptr_t)handle)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

core_function *core_function_new(void) {
  core_function *f = calloc(1, sizeof *f);
  const size_t place = place_of(f);
  if (!f || !hd_vec_push(&made, f)) {
    free(f);
    return NULL;
  }
  memmove(&made.data[place + 1], &made.data[place], (made.n - 1 - place) * sizeof *made.data);
  made.data[place] = f;
  return f;
}

core_function *core_function_of(const void *handle) {
  const size_t k = place_of(handle);
  return k < made.n && made.data[k] == handle && made.data[k]->kind != CORE_DEAD ? made.data[k] : NULL;
}

cu_result core_module_function(core_module *m, const char *name, core_function **out) {
  for (size_t k = 0; k < m->functions.n; k++)
    if (strcmp(m->functions.data[k]->name, name) == 0) {
      *out = m->functions.data[k];
      return CU_SUCCESS;
    }
  const int64_t index = hd_ptx_find_kernel(m->ptx, name);
  if (index < 0) {
    if (!core.settings.quiet) core_say("the program asks for kernel '%s', which its module lacks", name);
    return CU_NOT_FOUND;
  }
  core_function *f = core_function_new();
  if (!f) return CU_OUT_OF_MEMORY;
  f->module = m;
  f->name = m->ptx->syms[m->ptx->funcs[index].sym].name;
  hd_buf title = {0};
  hd_kernel_title(f->name, false, &title);
  f->title = title.failed ? f->name : title.data;
  if (!describe(m, &m->ptx->funcs[index], f) || !hd_vec_push(&m->functions, f)) return CU_OUT_OF_MEMORY;
  f->kind = CORE_FUNCTION;
  *out = f;
  return CU_SUCCESS;
}

cu_result core_function_in(core_function *f, core_context *c, core_function **out) {
  core_module *m;
  *out = f;
  if (!f || (f->kind != CORE_FUNCTION && f->kind != CORE_KERNEL)) return CU_INVALID_HANDLE;
  if (f->kind == CORE_FUNCTION) return f->module->context == c ? CU_SUCCESS : CU_INVALID_HANDLE;
  cu_result r = core_library_module(f->library, c, &m);
  return r == CU_SUCCESS ? core_module_function(m, f->name, out) : r;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static int most_shared(void) { return (int)(core.settings.shared_bytes - core.settings.shared_reserved); }

cu_result core_function_attribute(core_function *f, int attribute, int *value) {
  const hd_ptx_module *m = f->module->ptx;
  if (attribute >= CU_FUNC_CLUSTER_WIDTH && attribute <= CU_FUNC_CLUSTER_DEPTH) {
    *value = (int)f->cluster[attribute - CU_FUNC_CLUSTER_WIDTH];
    return CU_SUCCESS;
  }
  switch (attribute) {
  case CU_FUNC_MAX_THREADS: *value = (int)f->max_threads; return CU_SUCCESS;
  case CU_FUNC_STATIC_SHARED: *value = (int)f->static_shared; return CU_SUCCESS;
  case CU_FUNC_REGISTERS: *value = (int)f->registers; return CU_SUCCESS;
  case CU_FUNC_PTX_VERSION: *value = (int)m->sm; return CU_SUCCESS;
  case CU_FUNC_BINARY_VERSION: *value = (int)core.settings.arch; return CU_SUCCESS;
  case CU_FUNC_MAX_DYNAMIC_SHARED: *value = f->max_dynamic; return CU_SUCCESS;
  case CU_FUNC_CARVEOUT: *value = f->carveout; return CU_SUCCESS;
  case CU_FUNC_CLUSTER_SET: *value = f->cluster[0] != 0; return CU_SUCCESS;
  case CU_FUNC_CLUSTER_NON_PORTABLE: *value = f->large_clusters; return CU_SUCCESS;
  default:
    *value = 0;
    return attribute >= 0 && attribute < CU_FUNC_ATTRIBUTES ? CU_SUCCESS : CU_INVALID_VALUE;
  }
}

/* The shape of its clusters, a dimension at a time. */
static cu_result set_cluster(core_function *f, int dimension, int value) {
  if (f->cluster_fixed || value < 0 || value > HD_MAX_CLUSTER) return CU_INVALID_VALUE;
  f->cluster[dimension] = (uint32_t)value;
  return CU_SUCCESS;
}

cu_result core_function_set(core_function *f, int attribute, int value) {
  if (attribute >= CU_FUNC_CLUSTER_WIDTH && attribute <= CU_FUNC_CLUSTER_DEPTH)
    return set_cluster(f, attribute - CU_FUNC_CLUSTER_WIDTH, value);
  switch (attribute) {
  case CU_FUNC_MAX_DYNAMIC_SHARED:
    if (value < 0 || value > most_shared() - (int)f->static_shared) return CU_INVALID_VALUE;
    f->max_dynamic = value;
    return CU_SUCCESS;
  case CU_FUNC_CARVEOUT:
    if (value < -1 || value > 100) return CU_INVALID_VALUE;
    f->carveout = value;
    return CU_SUCCESS;
  case CU_FUNC_CLUSTER_NON_PORTABLE: f->large_clusters = value != 0; return CU_SUCCESS;
  default:
    return attribute > CU_FUNC_CARVEOUT && attribute < CU_FUNC_ATTRIBUTES ? CU_SUCCESS : CU_INVALID_VALUE;
  }
}

uint32_t core_most_cluster(const core_function *f) {
  if (core.settings.arch < FIRST_WITH_CLUSTERS) return 1;
  return f->large_clusters ? HD_MAX_CLUSTER : PORTABLE_CLUSTER;
}

cu_result core_cluster_of(const core_function *f, const uint32_t grid[3], const uint32_t given[3],
                          uint32_t out[3]) {
  const bool asked = given[0] || given[1] || given[2];
  uint64_t size = 1;
  bool ok = true;
  for (int k = 0; k < 3; k++) {
    out[k] = asked ? given[k] : f->cluster[k] ? f->cluster[k] : 1;
    ok &= out[k] && (!f->cluster[k] || f->cluster[k] == out[k]) && grid[k] % (out[k] ? out[k] : 1) == 0;
    size *= out[k] <= HD_MAX_CLUSTER ? out[k] : HD_MAX_CLUSTER + 1;
  }
  return ok && size <= core_most_cluster(f) ? CU_SUCCESS : CU_INVALID_CLUSTER_SIZE;
}

/* The CUDA programming guide's rule: each resource allots so many CTAs, the scarcest decides. */
uint32_t core_occupancy(const core_function *f, uint64_t threads, uint64_t dynamic_shared) {
  const hd_program_settings *s = &core.settings;
  const uint64_t warps = (threads + HD_WARP - 1) / HD_WARP;
  uint64_t shared = f->static_shared + dynamic_shared + s->shared_reserved;
  if (!warps || threads > f->max_threads) return 0;
  if (s->shared_unit) shared = (shared + s->shared_unit - 1) / s->shared_unit * s->shared_unit;
  uint64_t registers = (uint64_t)f->registers * HD_WARP;
  if (s->register_unit) registers = (registers + s->register_unit - 1) / s->register_unit * s->register_unit;
  uint64_t n = s->max_ctas;
  if (s->max_warps / warps < n) n = s->max_warps / warps;
  if (s->max_threads / (warps * HD_WARP) < n) n = s->max_threads / (warps * HD_WARP);
  if (shared && s->shared_bytes / shared < n) n = s->shared_bytes / shared;
  if (registers && s->registers / (registers * warps) < n) n = s->registers / (registers * warps);
  return (uint32_t)n;
}
