/* Modules and libraries: PTX that is loaded, its kernels and variables. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"
#include "heddle/ptx_valid.h"

cu_result core_load_failed(hd_status st, const hd_diag *d) {
  char line[1600];
  core_say("%s", hd_diag_line(d, line, sizeof line));
  switch (st) {
  case HD_ERR_UNSUPPORTED: return CU_NO_BINARY_FOR_GPU;
  case HD_ERR_NOMEM: return CU_OUT_OF_MEMORY;
  case HD_ERR_INPUT: return CU_INVALID_PTX;
  default: return CU_INVALID_IMAGE;
  }
}

/* ---- Modules --------------------------------------------------------------------------------- */

static hd_status parse(core_module *m, const core_image *i, hd_diag *d) {
  const char *name = "the program's PTX";
  if (i->texts.n == 1)
    return hd_ptx_parse(i->texts.data[0], strlen(i->texts.data[0]), name, &m->arena, &m->ptx, d);
  hd_buf text = {0};
  hd_status st = core_image_link(i, &text, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, name, &m->arena, &m->ptx, d);
  hd_buf_free(&text);
  return st;
}

cu_result core_module_load(core_context *c, const core_image *i, core_module **out) {
  hd_diag d = {0};
  core_module *m = calloc(1, sizeof *m);
  if (!m) return CU_OUT_OF_MEMORY;
  m->kind = CORE_MODULE;
  m->context = c;
  hd_arena_init(&m->arena);
  hd_status st = i->texts.n ? parse(m, i, &d) : hd_fail(&d, HD_ERR_UNSUPPORTED, "the image holds no PTX");
  if (st == HD_OK) st = hd_ptx_validate(m->ptx, &d);
  if (st == HD_OK && m->ptx->sm > core.settings.newest && !i->newer)
    st = hd_fail(&d, HD_ERR_UNSUPPORTED, "PTX for sm_%u is newer than the GPU, sm_%u", m->ptx->sm,
                 (unsigned)core.settings.arch);
  if (st == HD_OK) st = hd_emu_load(core.emu, m->ptx, &m->program, &d);
  if (st == HD_OK && !hd_vec_push(&c->modules, m)) st = hd_nomem(&d);
  if (st == HD_OK) {
    *out = m;
    return CU_SUCCESS;
  }
  if (m->program) hd_emu_unload(m->program);
  hd_arena_free(&m->arena);
  free(m);
  return core_load_failed(st, &d);
}

void core_module_unload(core_module *m) {
  core_context *c = m->context;
  core_wait_context(c);
  for (uint32_t k = 0; k < m->ptx->n_vars; k++) {
    const hd_ptx_var *v = &m->ptx->vars[k];
    uint64_t address, bytes;
    if ((v->space == HD_M_GLOBAL || v->space == HD_M_CONST) &&
        hd_emu_symbol(m->program, m->ptx->syms[v->sym].name, &address, &bytes, NULL) == HD_OK)
      core_memory_forget(address);
  }
  for (size_t k = 0; k < m->functions.n; k++) {
    core_report_function(m->functions.data[k]);
    hd_vec_free(&m->functions.data[k]->strays);
    m->functions.data[k]->kind = CORE_DEAD;
  }
  hd_emu_unload(m->program);
  hd_arena_free(&m->arena);
  hd_vec_free(&m->functions);
  for (size_t k = 0; k < c->modules.n; k++)
    if (c->modules.data[k] == m) c->modules.data[k] = c->modules.data[--c->modules.n];
  if (m->library) m->library->modules[c->device->ordinal] = NULL;
  m->kind = CORE_DEAD;
}

static bool is_managed(const hd_ptx_module *m, const char *name) {
  for (uint32_t k = 0; k < m->n_vars; k++) {
    const hd_ptx_var *v = &m->vars[k];
    if (v->space == HD_M_GLOBAL && v->attribute && strcmp(m->syms[v->sym].name, name) == 0)
      return strstr(m->syms[v->attribute].name, "managed") != NULL;
  }
  return false;
}

cu_result core_module_global(core_module *m, const char *name, uint64_t *address, uint64_t *bytes) {
  if (hd_emu_symbol(m->program, name, address, bytes, NULL) != HD_OK) return CU_NOT_FOUND;
  return core_memory_adopt(m->context, *address, *bytes, is_managed(m->ptx, name), name);
}

cu_result core_module_managed(core_module *m, const char *name, uint64_t *address, uint64_t *bytes) {
  return is_managed(m->ptx, name) ? core_module_global(m, name, address, bytes) : CU_NOT_FOUND;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

cu_result core_library_module(core_library *l, core_context *c, core_module **out) {
  const int device = c->device->ordinal;
  cu_result r = CU_SUCCESS;
  if (!l->modules[device]) {
    r = core_module_load(c, &l->image, &l->modules[device]);
    if (r == CU_SUCCESS) l->modules[device]->library = l;
  }
  *out = l->modules[device];
  return r;
}

static cu_result check_kernel(core_library *l, const char *name) {
  core_context *c = core_current();
  core_module *m;
  core_function *f;
  cu_result r = CU_SUCCESS;
  if (!c) r = core_primary_retain(&core.devices[0], &c);
  if (r == CU_SUCCESS) r = core_library_module(l, c, &m);
  return r == CU_SUCCESS ? core_module_function(m, name, &f) : r;
}

cu_result core_library_kernel(core_library *l, const char *name, core_function **out) {
  for (size_t k = 0; k < l->kernels.n; k++)
    if (strcmp(l->kernels.data[k]->name, name) == 0) {
      *out = l->kernels.data[k];
      return CU_SUCCESS;
    }
  cu_result r = check_kernel(l, name);
  if (r != CU_SUCCESS) return r;
  core_function *f = core_function_new();
  char *copy = strdup(name);
  if (!f || !copy || !hd_vec_push(&l->kernels, f)) {
    free(copy);
    return CU_OUT_OF_MEMORY;
  }
  f->kind = CORE_KERNEL;
  f->name = copy;
  f->library = l;
  *out = f;
  return CU_SUCCESS;
}

void core_library_unload(core_library *l) {
  for (int k = 0; k < CORE_MAX_DEVICES; k++)
    if (l->modules[k]) core_module_unload(l->modules[k]);
  for (size_t k = 0; k < l->kernels.n; k++) l->kernels.data[k]->kind = CORE_DEAD;
  core_image_free(&l->image);
  l->kind = CORE_DEAD;
}
