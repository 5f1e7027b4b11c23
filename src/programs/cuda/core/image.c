/* Finds the PTX in the images that programs load. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"
#include "heddle/container.h"

/* ---- Images ---------------------------------------------------------------------------------- */

void core_image_free(core_image *i) {
  for (size_t k = 0; k < i->texts.n; k++) free(i->texts.data[k]);
  hd_vec_free(&i->texts);
}

static hd_status keep(core_image *i, const char *text, size_t n, hd_diag *d) {
  char *copy = malloc(n + 1);
  if (!copy || !hd_vec_push(&i->texts, copy)) {
    free(copy);
    return hd_nomem(d);
  }
  memcpy(copy, text, n);
  copy[n] = 0;
  return HD_OK;
}

static hd_status no_text(const hd_chosen *chosen, unsigned arch, hd_diag *d) {
  const hd_target t = chosen->text.target;
  if (chosen->found && t.sm > arch)
    return hd_fail(
        d, HD_ERR_UNSUPPORTED,
        "the program's PTX is for sm_%u, which is newer than the GPU, sm_%u: compile it with -arch=sm_%u",
        t.sm, arch, arch);
  if (chosen->found)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "the program's PTX is for sm_%u%s, which sm_%u does not run: compile it with -arch=sm_%u",
                   t.sm, t.kind == HD_TARGET_EXACT ? "a" : "f", arch, arch);
  return hd_fail(d, HD_ERR_UNSUPPORTED,
                 "the program has no PTX for sm_%u, only machine code: compile it with -arch=sm_%u, or with "
                 "-gencode arch=compute_%u,code=compute_%u",
                 arch, arch, arch, arch);
}

/* Newer than the GPU, but no newer than what is emulated. */
static bool is_emulated(hd_target t, unsigned arch) { return t.sm > arch && t.sm <= core.settings.newest; }

/* Keeps one of a fatbin's texts, which are one per target: that which the driver takes, or, where the GPU
 * runs the fatbin's machine code or newer PTX is emulated, the nearest one. */
static hd_status best_text(core_image *i, hd_container *c, unsigned arch, hd_diag *d) {
  hd_chosen chosen;
  hd_status st = hd_container_choose(c, arch, hd_ptx_isa_of_driver(CORE_VERSION), &chosen, d);
  if (st != HD_OK) return st;
  if (!chosen.found || !(chosen.runs || chosen.has_code || is_emulated(chosen.text.target, arch)))
    return no_text(&chosen, arch, d);
  st = keep(i, chosen.text.data, chosen.text.len, d);
  i->newer |= st == HD_OK && !chosen.runs;
  return st;
}

static hd_status add_fatbin(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open_memory(data, n, "the program's image", &c, d);
  if (st != HD_OK) return st;
  st = best_text(i, c, arch, d);
  hd_container_close(c);
  return st;
}

static hd_status add_region(core_image *i, const void *data, unsigned arch, hd_diag *d) {
  hd_fatbin_span f;
  hd_status st = hd_fatbin_find(data, &f, d);
  return st == HD_OK ? add_fatbin(i, data, f.bytes, arch, d) : st;
}

/* Of the images that a device link joined, those without PTX are left out: calls of their functions are
 * refused. CUDA's own device runtime is such a one. */
static hd_status add_regions(core_image *i, const void *const *images, unsigned arch, hd_diag *d) {
  const size_t before = i->texts.n;
  hd_status st = HD_OK;
  for (; *images && (st == HD_OK || st == HD_ERR_UNSUPPORTED); images++) st = add_region(i, *images, arch, d);
  return st == HD_ERR_UNSUPPORTED && i->texts.n > before ? HD_OK : st;
}

static hd_status add_text(core_image *i, const char *text, size_t n, hd_diag *d) {
  if (hd_ptx_is_text(text, n)) return keep(i, text, n, d);
  return hd_fail(d, HD_ERR_USAGE, "the image is neither PTX, which begins with .version, nor a fatbin");
}

hd_status core_image_add(core_image *i, const void *image, unsigned arch, hd_diag *d) {
  const void *data;
  switch (hd_module_image_of(image, &data)) {
  case HD_MODULE_FATBIN: return add_region(i, data, arch, d);
  case HD_MODULE_LINKED: return add_regions(i, data, arch, d);
  case HD_MODULE_ELF:
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "the program loads machine code (a cubin); heddle runs PTX: have it keep the PTX");
  case HD_MODULE_TEXT: break;
  }
  return add_text(i, image, strlen(image), d);
}

hd_status core_image_add_bytes(core_image *i, const void *image, size_t n, unsigned arch, hd_diag *d) {
  const void *data;
  const hd_module_image kind = n >= 4 ? hd_module_image_of(image, &data) : HD_MODULE_TEXT;
  if (kind == HD_MODULE_TEXT) return add_text(i, image, n, d);
  return kind == HD_MODULE_FATBIN && data == image ? add_fatbin(i, image, n, arch, d)
                                                   : core_image_add(i, image, arch, d);
}

hd_status core_image_add_archive(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d) {
  hd_target best = {0};
  bool more = true;
  hd_ptx_text t;
  hd_status st = HD_OK;
  for (int pass = 0; st == HD_OK && pass < 2; pass++) {
    hd_container *c;
    st = hd_container_open_memory(data, n, "the program's library", &c, d);
    if (st != HD_OK) break;
    while ((st = hd_container_next(c, &t, &more, d)) == HD_OK && more) {
      if (!pass && (hd_target_runs(t.target, false, arch) || is_emulated(t.target, arch)) &&
          (!best.sm || hd_target_is_nearer(t.target, best, arch)))
        best = t.target;
      if (pass && best.sm == t.target.sm && best.kind == t.target.kind) st = keep(i, t.data, t.len, d);
      if (st != HD_OK) break;
    }
    hd_container_close(c);
  }
  return st;
}

hd_status core_image_link(const core_image *i, hd_buf *out, hd_diag *d) {
  return hd_ptx_link((const char *const *)i->texts.data, i->texts.n, out, d);
}
