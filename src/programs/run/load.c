/* Modules and libraries that the program loads and unloads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

pthread_mutex_t run_lock = PTHREAD_MUTEX_INITIALIZER;
run_module *run_modules;

/* ---- Rewriting --------------------------------------------------------------------------------- */

static void want(void *module, const char *name, const hd_verdict *verdict) {
  run_kernel *k = run_kernel_of(module, name);
  if (k) hd_vec_push(&k->wanted, verdict);
}

static void rewrite(const run_gpu *gpu, run_kernel *k, const hd_plan *plan, const hd_verdict *verdict,
                    bool dynamic) {
  hd_diag d = {0};
  const double begin = hd_seconds();
  run_variant *v = verdict ? run_variant_recall(k, verdict) : NULL;
  if (!v && run_variant_make(gpu, &k->module->own, k, plan, verdict, dynamic, &v, &d) != HD_OK) {
    hd_diag_line(&d, k->why, sizeof k->why);
    return;
  }
  v->making = v->text ? hd_seconds() - begin : 0;
  v->ready += hd_seconds() - begin;
  v->verdict = verdict;
  v->probation = verdict && run_on_probation(k, verdict);
  atomic_init(&v->held, v->probation && !run_is_trusted(k, verdict));
  if (v->plan) snprintf(k->plan, sizeof k->plan, "%s", v->plan);
  v->next = atomic_load_explicit(&k->variants, memory_order_relaxed);
  atomic_store_explicit(&k->variants, v, memory_order_release);
}

void run_kernel_make(run_kernel *k) {
  run_gpu gpu;
  if (k->wanted.n && run_gpu_of(&gpu)) {
    for (size_t i = 0; i < k->wanted.n; i++) {
      const hd_verdict *v = k->wanted.data[i];
      hd_plan plan;
      if (hd_plan_parse(v ? v->plan : run_settings.plan, &plan, NULL) != HD_OK) continue;
      if (!hd_plan_is_baseline(&plan) && (!v || run_is_worth(k, v))) rewrite(&gpu, k, &plan, v, false);
    }
    hd_vec_free(&k->wanted);
  }
  run_levers_read(k);
  run_place_make(k, NULL);
}

void run_kernel_make_dynamic(run_kernel *k) {
  run_gpu gpu;
  hd_plan plan;
  if (atomic_load(&k->dynamic) != RUN_DYNAMIC_WANTED) return;
  if (!k->why[0] && run_gpu_of(&gpu) && hd_plan_parse(run_settings.plan, &plan, NULL) == HD_OK)
    rewrite(&gpu, k, &plan, NULL, true);
  atomic_store(&k->dynamic, RUN_DYNAMIC_MADE);
}

/* Looks at an image before the driver loads it: the program may change the memory behind it afterwards. */
static run_module *look(const void *image, size_t bytes) {
  run_gpu gpu;
  run_text text = {0};
  run_module *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  pthread_mutex_lock(&run_lock);
  if (run_gpu_of(&gpu)) {
    const bool wanted = run_wants(&gpu) || run_watches;
    run_image_read(image, bytes, &gpu, wanted, &text);
    m->why = text.why;
    if (text.data) run_wanted(&gpu, &text, want, m);
    if (!text.data && wanted) m->has_code = run_image_digest(image, bytes, &m->code);
    if (m->kernels || run_watches)
      m->own = text;
    else
      free(text.data);
  }
  m->next = run_modules;
  run_modules = m;
  pthread_mutex_unlock(&run_lock);
  return m;
}

static run_module *look_at_file(const char *path) {
  hd_file f;
  if (!path || hd_file_open(path, &f, NULL) != HD_OK) return NULL;
  run_module *m = look(f.data, f.len);
  hd_file_close(&f);
  return m;
}

/* The driver has answered, with this handle. */
static int loaded(int r, run_handle handle, run_module *m, bool library) {
  pthread_mutex_lock(&run_lock);
  if (r == CU_SUCCESS && m) {
    m->handle = handle;
    m->library = library;
  }
  if (r == CU_SUCCESS) run_know_module(handle, m);
  if (r != CU_SUCCESS && m) {
    m->dead = true;
    run_module_leave(m);
  }
  pthread_mutex_unlock(&run_lock);
  return r;
}

/* ---- Unloading --------------------------------------------------------------------------------- */

/* Its handles mean nothing from now on. NULL: it is not known. */
static run_module *leave(run_handle handle) {
  pthread_mutex_lock(&run_lock);
  run_module *m = run_module_of(handle);
  if (m) {
    m->dead = true;
    run_forget_functions(m);
    run_forget_module(m);
  }
  pthread_mutex_unlock(&run_lock);
  return m;
}

/* What was loaded beside it goes after it, when the driver has waited for its launches. */
static int left(int r, run_module *m) {
  pthread_mutex_lock(&run_lock);
  if (m) run_module_leave(m);
  pthread_mutex_unlock(&run_lock);
  return r;
}

/* ---- Entry points ------------------------------------------------------------------------------ */

int run_cuModuleLoad(cu_module *module, const char *path) {
  run_module *m = look_at_file(path);
  const int r = run_real.cuModuleLoad(module, path);
  return loaded(r, r == CU_SUCCESS ? *module : NULL, m, false);
}

int run_cuModuleLoadData(cu_module *module, const void *image) {
  run_module *m = look(image, 0);
  const int r = run_real.cuModuleLoadData(module, image);
  return loaded(r, r == CU_SUCCESS ? *module : NULL, m, false);
}

int run_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned n, int *options, void **values) {
  run_module *m = look(image, 0);
  const int r = run_real.cuModuleLoadDataEx(module, image, n, options, values);
  return loaded(r, r == CU_SUCCESS ? *module : NULL, m, false);
}

int run_cuModuleLoadFatBinary(cu_module *module, const void *image) {
  run_module *m = look(image, 0);
  const int r = run_real.cuModuleLoadFatBinary(module, image);
  return loaded(r, r == CU_SUCCESS ? *module : NULL, m, false);
}

int run_cuModuleUnload(cu_module module) {
  run_module *m = leave(module);
  return left(run_real.cuModuleUnload(module), m);
}

int run_cuLibraryLoadData(cu_library *library, const void *image, int *jit, void **jit_values, unsigned n_jit,
                          int *options, void **values, unsigned n) {
  run_module *m = look(image, 0);
  const int r = run_real.cuLibraryLoadData(library, image, jit, jit_values, n_jit, options, values, n);
  return loaded(r, r == CU_SUCCESS ? *library : NULL, m, true);
}

int run_cuLibraryLoadFromFile(cu_library *library, const char *path, int *jit, void **jit_values,
                              unsigned n_jit, int *options, void **values, unsigned n) {
  run_module *m = look_at_file(path);
  const int r = run_real.cuLibraryLoadFromFile(library, path, jit, jit_values, n_jit, options, values, n);
  return loaded(r, r == CU_SUCCESS ? *library : NULL, m, true);
}

int run_cuLibraryUnload(cu_library library) {
  run_module *m = leave(library);
  return left(run_real.cuLibraryUnload(library), m);
}
