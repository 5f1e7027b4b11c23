/* cuda:N: compiles PTX before it is loaded, on all of the host's processors.
 *
 * cuModuleLoadData compiles under a lock of the driver's. The driver's linker does not, but it makes other
 * code: it compiles text to be linked, where divisions and square roots become calls and registers are those
 * of an interface, so that a kernel of 39 registers takes 48, and a plan that gains 29% gains nothing. So the
 * assembler of a toolkit compiles, many processes at once, provided that it is of the driver's own release:
 * then it makes the code that the driver would. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/cuda.h"
#include "heddle/process.h"

enum { MOST_IMAGES = 256, VERSION_SECONDS = 10, COMPILE_SECONDS = 120, PATH_BYTES = 4096 };

/* ---- Images ---------------------------------------------------------------------------------- */

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

/* ---- The assembler ----------------------------------------------------------------------- */

/* Its release is the driver's, as in "Cuda compilation tools, release 13.0, V13.0.88". */
static bool is_of_release(const char *program, unsigned version) {
  const char *argv[] = {program, "--version", NULL}, *release;
  char scratch[PATH_BYTES];
  hd_buf output = {0};
  unsigned major = 0, minor = 0;
  int code = 1;
  if (hd_scratch_make(scratch, sizeof scratch, NULL) != HD_OK) return false;
  bool ran = hd_program_run(argv, scratch, VERSION_SECONDS, &output, &code, NULL) == HD_OK && code == 0;
  if (ran && output.data && (release = strstr(output.data, "release ")) != NULL)
    sscanf(release, "release %u.%u", &major, &minor);
  hd_buf_free(&output);
  hd_scratch_remove(scratch);
  return version / 1000 == major && version % 1000 / 10 == minor;
}

/* NULL: there is none. Looked for at first need. */
static const char *assembler(cuda_device *c) {
  static const char *const names[] = {"ptxas", NULL};
  static const char installed[] = "/usr/local/cuda/bin/ptxas";
  char found[PATH_BYTES];
  if (!c->ptxas_known) {
    const char *program = c->ptxas ? c->ptxas : getenv("HEDDLE_PTXAS");
    if (!program) program = hd_program_find(names, found, sizeof found) ? found : installed;
    char *own = program[0] && is_of_release(program, c->base.info.driver_version) ? strdup(program) : NULL;
    free(c->ptxas);
    c->ptxas = own;
    c->ptxas_known = true;
  }
  return c->ptxas;
}

/* The architecture that the driver compiles for: the GPU's, with the letter of a text that is for it alone.
 */
static void arch_of(const cuda_device *c, const char *text, char *out, size_t cap) {
  const char *target = strstr(text, ".target sm_");
  char letter = 0;
  unsigned arch = 0;
  if (target) sscanf(target, ".target sm_%u%c", &arch, &letter);
  bool own = arch == c->base.info.arch && (letter == 'a' || letter == 'f');
  snprintf(out, cap, own ? "-arch=sm_%u%c" : "-arch=sm_%u", c->base.info.arch, letter);
}

/* A scratch file: it is of no use after a crash, so it need not reach the disk. */
static bool write_text(const char *path, const char *text, size_t len) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool ok = fwrite(text, 1, len, f) == len;
  return fclose(f) == 0 && ok;
}

static void *read_image(const char *path) {
  hd_file f;
  if (hd_file_open(path, &f, NULL) != HD_OK) return NULL;
  void *image = f.len ? malloc(f.len) : NULL;
  if (image) memcpy(image, f.data, f.len);
  hd_file_close(&f);
  return image;
}

/* NULL: it cannot be compiled. `folder` is for this text alone. */
static void *assemble(cuda_device *c, const hd_device_source *s, const char *folder) {
  char text[PATH_BYTES], image[PATH_BYTES], arch[32], registers[32];
  const char *argv[10] = {c->ptxas, arch, text, "-o", image};
  size_t n = 5;
  void *made = NULL;
  int code = 1;
  hd_buf output = {0};
  char *ptx = strndup(s->ptx, s->len);
  int a = snprintf(text, sizeof text, "%s/kernel.ptx", folder);
  int b = snprintf(image, sizeof image, "%s/kernel.cubin", folder);
  bool fits = a > 0 && b > 0 && (size_t)a < sizeof text && (size_t)b < sizeof image;
  if (s->options.max_registers) {
    snprintf(registers, sizeof registers, "-maxrregcount=%u", s->options.max_registers);
    argv[n++] = registers;
  }
  if (s->options.unoptimized) argv[n++] = "-O0";
  if (ptx && fits && mkdir(folder, 0700) == 0) {
    arch_of(c, ptx, arch, sizeof arch);
    if (write_text(text, s->ptx, s->len) &&
        hd_program_run(argv, folder, COMPILE_SECONDS, &output, &code, NULL) == HD_OK && code == 0)
      made = read_image(image);
  }
  hd_buf_free(&output);
  free(ptx);
  return made;
}

/* ---- Batches --------------------------------------------------------------------------------- */

typedef struct batch {
  cuda_device *device;
  const char *scratch;
  const hd_device_source *sources;
  size_t n;
  atomic_size_t next;
  cuda_image *images; /* per source; data NULL: it could not be compiled */
} batch;

static void compile_some(void *ctx, unsigned worker) {
  batch *b = ctx;
  for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->n;) {
    const hd_device_source *s = &b->sources[i];
    char folder[PATH_BYTES];
    b->images[i].key = key_of(s->ptx, s->len, &s->options);
    int n = snprintf(folder, sizeof folder, "%s/%zu", b->scratch, i);
    if (n > 0 && (size_t)n < sizeof folder) b->images[i].data = assemble(b->device, s, folder);
  }
}

static bool is_known(const cuda_device *c, const hd_digest *key) {
  for (size_t i = 0; i < c->images.n; i++)
    if (same_key(&c->images.data[i].key, key)) return true;
  return false;
}

hd_status cuda_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  char scratch[PATH_BYTES];
  if (c->lost || !assembler(c)) return HD_OK;
  if (c->images.n + n > MOST_IMAGES) cuda_drop_images(c); /* of plans that were never loaded */
  batch b = {.device = c, .scratch = scratch, .sources = sources, .n = n < MOST_IMAGES ? n : MOST_IMAGES};
  b.images = calloc(b.n, sizeof *b.images);
  if (!b.images || !hd_vec_reserve(&c->images, c->images.n + b.n)) {
    free(b.images);
    return hd_nomem(d);
  }
  hd_status st = hd_scratch_make(scratch, sizeof scratch, d);
  if (st != HD_OK) {
    free(b.images);
    return st;
  }
  unsigned threads = hd_cpu_count();
  hd_parallel(threads < b.n ? threads : (unsigned)b.n, compile_some, &b);
  hd_scratch_remove(scratch);
  for (size_t i = 0; i < b.n; i++) {
    if (b.images[i].data && !is_known(c, &b.images[i].key))
      c->images.data[c->images.n++] = b.images[i];
    else
      free(b.images[i].data);
  }
  free(b.images);
  return HD_OK;
}
