/* Modules, libraries, and the linker. */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

static core_module *module_of(cu_module m) { return m && m->kind == CORE_MODULE ? m : NULL; }
static core_library *library_of(cu_library l) { return l && l->kind == CORE_LIBRARY ? l : NULL; }

/* ---- Modules --------------------------------------------------------------------------------- */

static cu_result load(cu_module *module, core_image *i, hd_status st, const hd_diag *d) {
  cu_result r = st == HD_OK ? core_module_load(core_current(), i, module) : core_load_failed(st, d);
  core_image_free(i);
  return r;
}

cu_result drv_cuModuleLoadData(cu_module *module, const void *data) {
  hd_diag d = {0};
  core_image i = {0};
  if (!module || !data) return CU_INVALID_VALUE;
  return load(module, &i, core_image_add(&i, data, (unsigned)core.settings.arch, &d), &d);
}

/* Options 3 and 5 are buffers for logs, 4 and 6 their sizes: all logs are empty. Options for the compiler
 * have no effect on an emulator. */
cu_result drv_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned n, int *options,
                                 void **values) {
  for (unsigned k = 0; k < n; k++) {
    if ((options[k] == 3 || options[k] == 5) && values[k]) *(char *)values[k] = 0;
    if (options[k] == 4 || options[k] == 6) values[k] = 0;
  }
  return drv_cuModuleLoadData(module, image);
}

cu_result drv_cuModuleLoadFatBinary(cu_module *module, const void *image) {
  return drv_cuModuleLoadData(module, image);
}

static hd_status read_image(const char *path, core_image *i, hd_diag *d) {
  hd_file f;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  st = core_image_add_bytes(i, f.data, f.len, (unsigned)core.settings.arch, d);
  hd_file_close(&f);
  return st;
}

cu_result drv_cuModuleLoad(cu_module *module, const char *path) {
  hd_diag d = {0};
  core_image i = {0};
  if (!module || !path) return CU_INVALID_VALUE;
  hd_status st = read_image(path, &i, &d);
  return st == HD_ERR_IO ? CU_FILE_NOT_FOUND : load(module, &i, st, &d);
}

cu_result drv_cuModuleUnload(cu_module module) {
  core_module *m = module_of(module);
  if (!m) return CU_INVALID_HANDLE;
  if (m->library) return CU_NOT_PERMITTED;
  core_module_unload(m);
  return CU_SUCCESS;
}

cu_result drv_cuModuleGetFunction(cu_function *function, cu_module module, const char *name) {
  core_module *m = module_of(module);
  if (!function || !name) return CU_INVALID_VALUE;
  return m ? core_module_function(m, name, function) : CU_INVALID_HANDLE;
}

cu_result drv_cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name) {
  core_module *m = module_of(module);
  uint64_t at, n;
  if (!name || (!address && !bytes)) return CU_INVALID_VALUE;
  if (!m) return CU_INVALID_HANDLE;
  cu_result r = core_module_global(m, name, &at, &n);
  if (r == CU_SUCCESS && address) *address = at;
  if (r == CU_SUCCESS && bytes) *bytes = n;
  return r;
}

cu_result drv_cuModuleGetLoadingMode(int *mode) {
  if (!mode) return CU_INVALID_VALUE;
  *mode = 2; /* lazy */
  return CU_SUCCESS;
}

/* The k-th kernel of a module's text; NULL: there are fewer. */
static const char *kernel_name(const core_module *m, unsigned k) {
  for (uint32_t f = 0; f < m->ptx->n_funcs; f++)
    if (m->ptx->funcs[f].entry && m->ptx->funcs[f].has_body && !k--)
      return m->ptx->syms[m->ptx->funcs[f].sym].name;
  return NULL;
}

cu_result drv_cuModuleGetFunctionCount(unsigned *n, cu_module module) {
  const core_module *m = module_of(module);
  if (!n) return CU_INVALID_VALUE;
  if (!m) return CU_INVALID_HANDLE;
  for (*n = 0; kernel_name(m, *n);) ++*n;
  return CU_SUCCESS;
}

cu_result drv_cuModuleEnumerateFunctions(cu_function *functions, unsigned n, cu_module module) {
  core_module *m = module_of(module);
  cu_result r = CU_SUCCESS;
  if (!functions) return CU_INVALID_VALUE;
  if (!m) return CU_INVALID_HANDLE;
  for (unsigned k = 0; r == CU_SUCCESS && k < n && kernel_name(m, k); k++)
    r = core_module_function(m, kernel_name(m, k), &functions[k]);
  return r;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static cu_result new_library(cu_library *library, core_image *i, hd_status st, const hd_diag *d) {
  core_library *l = st == HD_OK ? calloc(1, sizeof *l) : NULL;
  if (!l) {
    core_image_free(i);
    return st == HD_OK ? CU_OUT_OF_MEMORY : core_load_failed(st, d);
  }
  l->kind = CORE_LIBRARY;
  l->image = *i;
  *library = l;
  return CU_SUCCESS;
}

cu_result drv_cuLibraryLoadData(cu_library *library, const void *code, int *jit, void **jit_values,
                                unsigned n_jit, int *options, void **values, unsigned n) {
  hd_diag d = {0};
  core_image i = {0};
  if (!library || !code) return CU_INVALID_VALUE;
  return new_library(library, &i, core_image_add(&i, code, (unsigned)core.settings.arch, &d), &d);
}

cu_result drv_cuLibraryLoadFromFile(cu_library *library, const char *path, int *jit, void **jit_values,
                                    unsigned n_jit, int *options, void **values, unsigned n) {
  hd_diag d = {0};
  core_image i = {0};
  if (!library || !path) return CU_INVALID_VALUE;
  hd_status st = read_image(path, &i, &d);
  return st == HD_ERR_IO ? CU_FILE_NOT_FOUND : new_library(library, &i, st, &d);
}

cu_result drv_cuLibraryUnload(cu_library library) {
  core_library *l = library_of(library);
  if (!l) return CU_INVALID_HANDLE;
  core_library_unload(l);
  return CU_SUCCESS;
}

cu_result drv_cuLibraryGetKernel(cu_function *kernel, cu_library library, const char *name) {
  core_library *l = library_of(library);
  if (!kernel || !name) return CU_INVALID_VALUE;
  return l ? core_library_kernel(l, name, kernel) : CU_INVALID_HANDLE;
}

cu_result drv_cuLibraryGetModule(cu_module *module, cu_library library) {
  core_library *l = library_of(library);
  if (!module) return CU_INVALID_VALUE;
  return l ? core_library_module(l, core_current(), module) : CU_INVALID_HANDLE;
}

cu_result drv_cuLibraryGetKernelCount(unsigned *n, cu_library library) {
  cu_module m;
  cu_result r = core_current() ? drv_cuLibraryGetModule(&m, library) : CU_INVALID_CONTEXT;
  return r == CU_SUCCESS ? drv_cuModuleGetFunctionCount(n, m) : r;
}

cu_result drv_cuLibraryEnumerateKernels(cu_function *kernels, unsigned n, cu_library library) {
  cu_module m;
  if (!kernels) return CU_INVALID_VALUE;
  cu_result r = core_current() ? drv_cuLibraryGetModule(&m, library) : CU_INVALID_CONTEXT;
  for (unsigned k = 0; r == CU_SUCCESS && k < n && kernel_name(m, k); k++)
    r = core_library_kernel(library, kernel_name(m, k), &kernels[k]);
  return r;
}

cu_result drv_cuLibraryGetGlobal(cu_address *address, size_t *bytes, cu_library library, const char *name) {
  cu_module m;
  cu_result r = drv_cuLibraryGetModule(&m, library);
  return r == CU_SUCCESS ? drv_cuModuleGetGlobal_v2(address, bytes, m, name) : r;
}

cu_result drv_cuLibraryGetManaged(cu_address *address, size_t *bytes, cu_library library, const char *name) {
  cu_module m;
  uint64_t at, n;
  cu_result r = drv_cuLibraryGetModule(&m, library);
  if (r == CU_SUCCESS) r = core_module_managed(m, name, &at, &n);
  if (r == CU_SUCCESS && address) *address = at;
  if (r == CU_SUCCESS && bytes) *bytes = n;
  return r;
}

/* ---- The linker: PTX in, PTX out ------------------------------------------------------------- */

struct cu_link_ {
  core_kind kind;
  core_image image;
  hd_buf text;
};
enum { INPUT_CUBIN = 0, INPUT_PTX, INPUT_FATBIN, INPUT_OBJECT, INPUT_LIBRARY };

cu_result drv_cuLinkCreate_v2(unsigned n, int *options, void **values, cu_link *out) {
  if (!out) return CU_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return CU_OUT_OF_MEMORY;
  (*out)->kind = CORE_LINK;
  return CU_SUCCESS;
}

cu_result drv_cuLinkAddData_v2(cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n,
                               int *options, void **values) {
  hd_diag d = {0};
  if (!link || link->kind != CORE_LINK) return CU_INVALID_HANDLE;
  if (!data || type < INPUT_CUBIN || type > INPUT_LIBRARY) return CU_INVALID_VALUE;
  const unsigned arch = (unsigned)core.settings.arch;
  hd_status st = type >= INPUT_OBJECT ? core_image_add_archive(&link->image, data, bytes, arch, &d)
                                      : core_image_add_bytes(&link->image, data, bytes, arch, &d);
  return st == HD_OK ? CU_SUCCESS : core_load_failed(st, &d);
}

cu_result drv_cuLinkAddFile_v2(cu_link link, int type, const char *path, unsigned n, int *options,
                               void **values) {
  hd_file f;
  if (!path) return CU_INVALID_VALUE;
  if (hd_file_open(path, &f, NULL) != HD_OK) return CU_FILE_NOT_FOUND;
  cu_result r = drv_cuLinkAddData_v2(link, type, (void *)(uintptr_t)f.data, f.len, path, n, options, values);
  hd_file_close(&f);
  return r;
}

cu_result drv_cuLinkComplete(cu_link link, void **image, size_t *bytes) {
  hd_diag d = {0};
  if (!link || link->kind != CORE_LINK) return CU_INVALID_HANDLE;
  if (!image || !link->image.texts.n) return CU_INVALID_VALUE;
  hd_status st = core_image_link(&link->image, &link->text, &d);
  if (st != HD_OK) return core_load_failed(st, &d);
  *image = link->text.data;
  if (bytes) *bytes = link->text.len + 1;
  return CU_SUCCESS;
}

cu_result drv_cuLinkDestroy(cu_link link) {
  if (!link || link->kind != CORE_LINK) return CU_INVALID_HANDLE;
  core_image_free(&link->image);
  hd_buf_free(&link->text);
  link->kind = CORE_DEAD;
  return CU_SUCCESS;
}
