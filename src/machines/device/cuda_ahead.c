/* cuda:N: compiles PTX before it is loaded, on the host's other processors, while the device works
 * (heddle/assembler.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/cuda.h"
#include "heddle/assembler.h"
#include "heddle/pool.h"
#include "heddle/process.h"

enum {
  MOST_JOBS = 256, /* that wait, or whose code was never loaded */
  PATH_BYTES = 4096,
};

typedef struct job {
  hd_digest key;   /* of the text and the options */
  uint64_t number; /* names its folder */
  hd_assembler_options options;
  char *text; /* NULL once it is compiled */
  size_t len;
  void *image; /* NULL once it is done: it could not be compiled */
} job;

struct cuda_ahead {
  hd_assembler assembler;
  char scratch[PATH_BYTES];
  hd_pool *pool; /* of jobs; NULL: nothing was asked for yet */
  uint64_t asked;
};

/* ---- Jobs ------------------------------------------------------------------------------------ */

static hd_digest key_of(const char *ptx, size_t len, const hd_device_load_options *o) {
  hd_digest h = hd_digest_begin();
  uint32_t options[2] = {o->max_registers, o->unoptimized};
  hd_digest_bytes(&h, ptx, len);
  hd_digest_bytes(&h, options, sizeof options);
  return h;
}

static bool has_key(const void *item, const void *key) {
  const hd_digest *a = &((const job *)item)->key, *b = key;
  return a->high == b->high && a->low == b->low;
}

static void free_job(void *ctx, void *item) {
  job *j = item;
  (void)ctx;
  free(j->text);
  free(j->image);
  free(j);
}

static void compile(void *ctx, void *item) {
  const cuda_ahead *a = ctx;
  job *j = item;
  char folder[PATH_BYTES];
  hd_buf image = {0};
  const int n = snprintf(folder, sizeof folder, "%s/%" PRIu64, a->scratch, j->number);
  if (n > 0 && (size_t)n < sizeof folder && mkdir(folder, 0700) == 0) {
    if (hd_assemble(&a->assembler, j->text, j->len, &j->options, folder, &image, NULL) == HD_OK) {
      j->image = image.data;
      image = (hd_buf){0};
    }
    hd_scratch_remove(folder);
  }
  hd_buf_free(&image);
  free(j->text);
  j->text = NULL;
}

void *cuda_take_image(cuda_device *c, const char *ptx, size_t len, const hd_device_load_options *o) {
  cuda_ahead *a = c->ahead;
  if (!a || !a->pool) return NULL;
  const hd_digest key = key_of(ptx, len, o);
  job *j = hd_pool_find(a->pool, has_key, &key);
  if (!j) return NULL;
  hd_pool_wait(a->pool, j);
  void *image = j->image;
  j->image = NULL;
  free_job(NULL, j);
  return image;
}

/* ---- The device's --------------------------------------------------------------------------- */

/* NULL: there is no assembler, which was looked for at first need. */
static cuda_ahead *ahead_of(cuda_device *c, hd_status *st, hd_diag *d) {
  *st = HD_OK;
  if (c->ahead || c->ptxas_known) return c->ahead;
  cuda_ahead *a = calloc(1, sizeof *a);
  if (!a) {
    *st = hd_nomem(d);
    return NULL;
  }
  a->assembler.arch = c->base.info.arch;
  c->ptxas_known = true;
  if (!hd_assembler_find(c->ptxas, c->base.info.driver_version, &a->assembler)) {
    free(a);
    return NULL;
  }
  return c->ahead = a;
}

/* Without a thread it is not worth having. */
static hd_status open_pool(cuda_ahead *a, hd_diag *d) {
  const hd_pool_options o = {.work = compile, .drop = free_job, .ctx = a};
  const hd_status st = a->scratch[0] ? HD_OK : hd_scratch_make(a->scratch, sizeof a->scratch, d);
  if (st == HD_OK) hd_pool_open(&o, &a->pool, NULL);
  return st;
}

void cuda_ahead_close(cuda_device *c) {
  cuda_ahead *a = c->ahead;
  if (!a) return;
  hd_pool_close(a->pool);
  hd_scratch_remove(a->scratch);
  free(a);
  c->ahead = NULL;
}

static hd_status ask(cuda_ahead *a, const hd_device_source *s, hd_diag *d) {
  const hd_digest key = key_of(s->ptx, s->len, &s->options);
  if (hd_pool_find(a->pool, has_key, &key)) return HD_OK;
  job *j = calloc(1, sizeof *j);
  if (!j) return hd_nomem(d);
  *j = (job){.key = key,
             .number = a->asked++,
             .options = {s->options.max_registers, s->options.unoptimized},
             .text = strndup(s->ptx, s->len),
             .len = s->len};
  if (j->text && hd_pool_put(a->pool, j)) return HD_OK;
  free_job(NULL, j);
  return hd_nomem(d);
}

hd_status cuda_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = HD_OK;
  cuda_ahead *a = c->lost ? NULL : ahead_of(c, &st, d);
  if (a && !a->pool) st = open_pool(a, d);
  if (st != HD_OK || !a || !a->pool) return st;
  if (hd_pool_count(a->pool) + n > MOST_JOBS) hd_pool_forget(a->pool);
  for (size_t i = 0; st == HD_OK && i < n && hd_pool_count(a->pool) < MOST_JOBS; i++)
    st = ask(a, &sources[i], d);
  return st;
}
