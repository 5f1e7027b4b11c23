/* Rewritten kernels of verdicts as they were made, with their machine code, so that later processes parse and
 * rewrite nothing. A file holds one; it is named by a digest of all that it was made of: the module and the
 * kernel, the verdict, the GPU, the driver, and this library.
 *
 * The CUDA runtime loads a module when the program first launches a kernel of it, in the middle of what the
 * program does. What it is known to launch is loaded before: when it first allocates memory. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/trusted.h"
#include "run/watch.h"

/* The begin of a file; machine code follows. Only this very library reads it. */
typedef struct head {
  uint32_t grid[3], block[3], shared, n_params, newer; /* newer: as in run_text */
  uint64_t own_bytes;
  struct run_pointers reads, writes;
  hd_recipe recipe;
} head;

/* This library, as it was built. */
static bool find_own(char text[64]) {
  Dl_info info;
  struct stat st;
  if (!dladdr(&run_lock, &info) || !info.dli_fname || stat(info.dli_fname, &st) != 0) return false;
  snprintf(text, 64, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
           st.st_mtim.tv_nsec);
  return true;
}

static bool path_of(const hd_verdict *v, char path[HD_STEER_PATH]) {
  char hex[HD_SHA256_HEX], own[64], numbers[32];
  run_gpu gpu;
  if (!run_settings.cubins[0] || !run_gpu_of(&gpu) || !find_own(own)) return false;
  snprintf(numbers, sizeof numbers, "%u %u", gpu.arch, gpu.n_sms);
  const char *const texts[] = {v->key.kernel, v->key.launch, v->key.size, v->plan,
                               v->assume,     gpu.driver,    numbers,     own};
  hd_part parts[sizeof texts / sizeof *texts];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) parts[i] = (hd_part){texts[i], strlen(texts[i])};
  return snprintf(path, HD_STEER_PATH, "%s/%s.kernel", run_settings.cubins,
                  hd_sha256_hex(parts, sizeof parts / sizeof *parts, hex)) < HD_STEER_PATH;
}

/* ---- Before the program asks ------------------------------------------------------------------- */

typedef struct early {
  struct early *next;
  char path[HD_STEER_PATH];
  head h;
  cu_library library;
  double seconds; /* that loading took */
} early;
static early *loaded; /* under run_lock */

/* The whole of a file; false: it is not there, or not to be trusted. */
static bool read_file(const char *path, head *h, hd_buf *file) {
  if (!run_kept(path, file) || file->len <= sizeof *h) return false;
  memcpy(h, file->data, sizeof *h);
  utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* the oldest go first */
  return true;
}

static void load_early(const hd_verdict *v, const char *name) {
  const run_driver *d = &run_real;
  cu_function kernel, function;
  hd_buf file = {0};
  const double begin = hd_seconds();
  early *e = calloc(1, sizeof *e);
  if (e && path_of(v, e->path) && read_file(e->path, &e->h, &file) &&
      (e->library = run_library_load(file.data + sizeof e->h)) &&
      d->cuLibraryGetKernel(&kernel, e->library, name) == CU_SUCCESS &&
      d->cuKernelGetFunction(&function, kernel) == CU_SUCCESS && d->cuFuncLoad)
    d->cuFuncLoad(function);
  hd_buf_free(&file);
  if (!e || !e->library) {
    free(e);
    return;
  }
  e->seconds = hd_seconds() - begin;
  e->next = loaded;
  loaded = e;
}

static atomic_bool is_done;

static void try_early(void) {
  int mode = CU_CAPTURE_MODE_RELAXED;
  run_gpu gpu;
  const run_driver *d = &run_real;
  if (!d->cuLibraryLoadData || !d->cuLibraryGetKernel || !d->cuKernelGetFunction ||
      !d->cuThreadExchangeStreamCaptureMode || !run_context() || !run_gpu_of(&gpu) || !run_wants(&gpu) ||
      d->cuThreadExchangeStreamCaptureMode(&mode) != CU_SUCCESS)
    return;
  if (run_hold(NULL)) {
    atomic_store(&is_done, true);
    run_each_verdict(&gpu, run_note_early, load_early);
    run_release();
  }
  d->cuThreadExchangeStreamCaptureMode(&mode);
}

void run_kept_early(void) {
  if (atomic_load_explicit(&is_done, memory_order_relaxed)) return;
  if (!run_settings.verdicts[0] || !run_settings.notes[0] || run_settings.unguarded) {
    atomic_store(&is_done, true);
    return;
  }
  if (pthread_mutex_trylock(&run_lock) != 0) return;
  if (!atomic_load(&is_done)) try_early();
  pthread_mutex_unlock(&run_lock);
}

/* ---- When it does ------------------------------------------------------------------------------ */

static bool take_early(const char *path, run_variant *v, head *h) {
  early **at = &loaded;
  while (*at && strcmp((*at)->path, path) != 0) at = &(*at)->next;
  early *e = *at;
  if (!e) return false;
  *at = e->next;
  *h = e->h;
  v->library = e->library;
  v->ready = e->seconds;
  free(e);
  return true;
}

run_variant *run_variant_recall(run_kernel *k, const hd_verdict *verdict) {
  char path[HD_STEER_PATH];
  head h;
  run_variant *v = path_of(verdict, path) ? calloc(1, sizeof *v) : NULL;
  if (!v) return NULL;
  const bool found = take_early(path, v, &h) || read_file(path, &h, &v->code);
  if (!found || h.newer != k->module->own.newer || !(v->plan = strdup(verdict->plan))) {
    hd_buf_free(&v->code);
    free(v);
    return NULL;
  }
  if (v->code.len) memmove(v->code.data, v->code.data + sizeof h, v->code.len - sizeof h);
  v->kernel = k;
  memcpy(v->grid, h.grid, sizeof v->grid);
  memcpy(v->block, h.block, sizeof v->block);
  v->shared = h.shared;
  v->n_params = h.n_params;
  v->own_bytes = h.own_bytes;
  v->reads = h.reads;
  v->writes = h.writes;
  v->recipe = h.recipe;
  atomic_init(&v->saves, run_saves(verdict->before_us, verdict->after_us));
  return v;
}

/* ---- Keeping ----------------------------------------------------------------------------------- */

static bool can_be_kept(const run_variant *v) { return !v->variables.all.n && !v->table.n; }

double run_variant_cost(const run_variant *v) { return can_be_kept(v) ? v->ready - v->making : v->ready; }

void run_variant_keep(run_variant *v) {
  char path[HD_STEER_PATH];
  hd_buf code = {0}, file = {0};
  if (!v->verdict || !v->text || v->kept || !can_be_kept(v)) return;
  v->kept = true;
  if (path_of(v->verdict, path) && run_cubin_find(v->text, &code)) {
    head h;
    memset(&h, 0, sizeof h); /* and what lies between its fields */
    memcpy(h.grid, v->grid, sizeof h.grid);
    memcpy(h.block, v->block, sizeof h.block);
    h.shared = v->shared;
    h.n_params = v->n_params;
    h.newer = v->kernel->module->own.newer;
    h.own_bytes = v->own_bytes;
    h.reads = v->reads;
    h.writes = v->writes;
    h.recipe = v->recipe;
    hd_buf_put(&file, (const char *)&h, sizeof h);
    hd_buf_put(&file, code.data, code.len);
    if (!file.failed) hd_sealed_write(path, file.data, file.len, NULL);
  }
  hd_buf_free(&file);
  hd_buf_free(&code);
}
