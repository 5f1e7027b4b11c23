/* cuda:N: text compiled before it is loaded, on all of the host's processors.
 *
 * cuModuleLoadData compiles under a lock of the driver's, its linker does not: so several linkers, one on
 * each thread, make machine code of PTX at the same time. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"

enum { MOST_OPTIONS = 2, MOST_IMAGES = 256 };

static hd_digest key_of(const char *ptx, size_t len, const hd_device_load_options *o) {
  hd_digest h = hd_digest_begin();
  uint32_t options[2] = {o->max_registers, o->unoptimized};
  hd_digest_bytes(&h, ptx, len);
  hd_digest_bytes(&h, options, sizeof options);
  return h;
}

static bool same_key(const hd_digest *a, const hd_digest *b) {
  return a->high == b->high && a->low == b->low;
}

void *cuda_take_image(cuda_device *c, const char *ptx, size_t len, const hd_device_load_options *o) {
  if (!c->images.n) return NULL;
  hd_digest key = key_of(ptx, len, o);
  for (size_t i = 0; i < c->images.n; i++) {
    if (!same_key(&c->images.data[i].key, &key)) continue;
    void *data = c->images.data[i].data;
    c->images.data[i] = c->images.data[--c->images.n];
    return data;
  }
  return NULL;
}

void cuda_drop_images(cuda_device *c) {
  for (size_t i = 0; i < c->images.n; i++) free(c->images.data[i].data);
  hd_vec_free(&c->images);
}

typedef struct batch {
  cuda_device *device;
  const hd_device_source *sources;
  size_t n;
  atomic_size_t next;
  cuda_image *images; /* per source; data NULL: it could not be compiled */
} batch;

/* A copy of what the linker made, for that dies with it. */
static void *link_text(cuda_device *c, const hd_device_source *s) {
  int options[MOST_OPTIONS];
  void *values[MOST_OPTIONS], *made = NULL, *copy = NULL;
  unsigned n = 0;
  size_t bytes = 0;
  cu_link link;
  if (s->options.max_registers) {
    options[n] = CU_JIT_REGISTERS;
    values[n++] = (void *)(uintptr_t)s->options.max_registers;
  }
  if (s->options.unoptimized) {
    options[n] = CU_JIT_OPTIMIZATION;
    values[n++] = (void *)0;
  }
  char *text = strndup(s->ptx, s->len);
  if (!text) return NULL;
  if (c->api.cuLinkCreate_v2(n, options, values, &link) == CU_SUCCESS) {
    if (c->api.cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "kernel", 0, NULL, NULL) ==
            CU_SUCCESS &&
        c->api.cuLinkComplete(link, &made, &bytes) == CU_SUCCESS && bytes)
      copy = malloc(bytes);
    if (copy) memcpy(copy, made, bytes);
    c->api.cuLinkDestroy(link);
  }
  free(text);
  return copy;
}

static void compile_some(void *ctx, unsigned worker) {
  batch *b = ctx;
  cuda_device *c = b->device;
  cu_context old;
  if (c->api.cuCtxPushCurrent_v2(c->context) != CU_SUCCESS) return;
  for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->n;) {
    const hd_device_source *s = &b->sources[i];
    b->images[i] = (cuda_image){key_of(s->ptx, s->len, &s->options), link_text(c, s)};
  }
  c->api.cuCtxPopCurrent_v2(&old);
}

static bool can_link(const cuda_device *c) {
  return c->api.cuLinkCreate_v2 && c->api.cuLinkAddData_v2 && c->api.cuLinkComplete && c->api.cuLinkDestroy;
}

static bool is_known(const cuda_device *c, const hd_digest *key) {
  for (size_t i = 0; i < c->images.n; i++)
    if (same_key(&c->images.data[i].key, key)) return true;
  return false;
}

hd_status cuda_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  if (!can_link(c) || c->lost) return HD_OK;
  if (c->images.n + n > MOST_IMAGES) cuda_drop_images(c); /* made for plans that were not taken up */
  batch b = {.device = c, .sources = sources, .n = n < MOST_IMAGES ? n : MOST_IMAGES};
  b.images = calloc(b.n, sizeof *b.images);
  if (!b.images || !hd_vec_reserve(&c->images, c->images.n + b.n)) {
    free(b.images);
    return hd_nomem(d);
  }
  unsigned threads = hd_cpu_count();
  hd_parallel(threads < b.n ? threads : (unsigned)b.n, compile_some, &b);
  for (size_t i = 0; i < b.n; i++) {
    if (b.images[i].data && !is_known(c, &b.images[i].key))
      c->images.data[c->images.n++] = b.images[i];
    else
      free(b.images[i].data);
  }
  free(b.images);
  return HD_OK;
}
