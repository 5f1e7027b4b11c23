/* Machine code that a linker makes in the process, the driver's (cuLink) or nvJitLink (jitlink.c): the PTX of
 * all that went into it, linked by heddle, is what it was made of. */
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/ptx.h"
#include "run/run.h"

typedef struct linking {
  struct linking *next;
  run_handle handle;
  HD_VEC(char *) texts;
  bool unknown; /* something went in whose PTX is not known, or what is computed is not what PTX alone says */
} linking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static linking *links; /* those that are not destroyed */
static bool blind;

/* ---- Links ------------------------------------------------------------------------------------- */

/* Where the link stands in the list; or its end. */
static linking **place_of(run_handle handle) {
  linking **at = &links;
  while (*at && (*at)->handle != handle) at = &(*at)->next;
  return at;
}

void run_link_drop(run_handle handle) {
  pthread_mutex_lock(&lock);
  linking **const at = place_of(handle), *const l = *at;
  if (l) *at = l->next;
  pthread_mutex_unlock(&lock);
  if (!l) return;
  for (size_t k = 0; k < l->texts.n; k++) free(l->texts.data[k]);
  hd_vec_free(&l->texts);
  free(l);
}

void run_links_forked(void) { pthread_mutex_init(&lock, NULL); }

void run_link_miss_some(void) {
  pthread_mutex_lock(&lock);
  blind = true;
  pthread_mutex_unlock(&lock);
}

void run_link_begin(run_handle handle, bool unknown) {
  linking *l = calloc(1, sizeof *l);
  run_link_drop(handle); /* one that was destroyed unseen */
  if (!l) return;
  l->handle = handle;
  l->unknown = unknown;
  pthread_mutex_lock(&lock);
  l->next = links;
  links = l;
  pthread_mutex_unlock(&lock);
}

void run_link_add(run_handle handle, const void *data, size_t bytes) {
  run_text text = {0};
  run_gpu gpu;
  run_gpu_of(&gpu); /* zeros without a GPU, which a link does not need */
  if (data) run_image_read(data, bytes, &gpu, true, &text);
  if (text.data && !hd_ptx_is_text(text.data, text.len)) {
    free(text.data);
    text.data = NULL;
  }
  pthread_mutex_lock(&lock);
  linking *l = *place_of(handle);
  const bool added = l && text.data && hd_vec_push(&l->texts, text.data);
  if (l && !added) l->unknown = true;
  pthread_mutex_unlock(&lock);
  if (!added) free(text.data);
}

void run_link_add_file(run_handle handle, const char *path) {
  hd_file f;
  const bool is_open = path && hd_file_open(path, &f, NULL) == HD_OK;
  run_link_add(handle, is_open ? f.data : NULL, is_open ? f.len : 0);
  if (is_open) hd_file_close(&f);
}

void run_link_finish(run_handle handle, const void *cubin, size_t bytes) {
  hd_buf text = {0};
  pthread_mutex_lock(&lock);
  const linking *l = *place_of(handle);
  const bool known = !blind && l && !l->unknown && l->texts.n;
  if (known && l->texts.n == 1)
    hd_buf_puts(&text, l->texts.data[0]);
  else if (known && hd_ptx_link((const char *const *)l->texts.data, l->texts.n, &text, NULL) != HD_OK)
    text.failed = true;
  pthread_mutex_unlock(&lock);
  if (known && !text.failed) run_text_keep(cubin, bytes, text.data, text.len);
  hd_buf_free(&text);
}

/* ---- The driver's ------------------------------------------------------------------------------- */

static int created(int r, const cu_link *out) {
  if (r == CU_SUCCESS) run_link_begin(*out, false);
  return r;
}

static int added(int r, run_handle handle, int type, const void *data, size_t bytes) {
  if (r == CU_SUCCESS)
    run_link_add(handle, type == CU_INPUT_CUBIN || type == CU_INPUT_PTX ? data : NULL, bytes);
  return r;
}

static int added_file(int r, run_handle handle, int type, const char *path) {
  if (r == CU_SUCCESS)
    run_link_add_file(handle, type == CU_INPUT_CUBIN || type == CU_INPUT_PTX ? path : NULL);
  return r;
}

int run_cuLinkCreate(unsigned n, int *options, void **values, cu_link *out) {
  return created(run_real.cuLinkCreate(n, options, values, out), out);
}
int run_cuLinkCreate_v2(unsigned n, int *options, void **values, cu_link *out) {
  return created(run_real.cuLinkCreate_v2(n, options, values, out), out);
}
int run_cuLinkAddData(cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n,
                      int *options, void **values) {
  return added(run_real.cuLinkAddData(link, type, data, bytes, name, n, options, values), link, type, data,
               bytes);
}
int run_cuLinkAddData_v2(cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n,
                         int *options, void **values) {
  return added(run_real.cuLinkAddData_v2(link, type, data, bytes, name, n, options, values), link, type, data,
               bytes);
}
int run_cuLinkAddFile(cu_link link, int type, const char *path, unsigned n, int *options, void **values) {
  return added_file(run_real.cuLinkAddFile(link, type, path, n, options, values), link, type, path);
}
int run_cuLinkAddFile_v2(cu_link link, int type, const char *path, unsigned n, int *options, void **values) {
  return added_file(run_real.cuLinkAddFile_v2(link, type, path, n, options, values), link, type, path);
}
int run_cuLinkComplete(cu_link link, void **cubin, size_t *bytes) {
  const int r = run_real.cuLinkComplete(link, cubin, bytes);
  if (r == CU_SUCCESS && cubin && *cubin) run_link_finish(link, *cubin, bytes ? *bytes : 0);
  return r;
}
int run_cuLinkDestroy(cu_link link) {
  run_link_drop(link);
  return run_real.cuLinkDestroy(link);
}
