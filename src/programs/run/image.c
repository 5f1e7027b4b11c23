/* Finds the PTX that the driver would run in an image that a program loads. */
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/ptx.h"
#include "run/run.h"

/* The beginning of an entry's header. */
typedef struct entry {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t payload_size;
  uint32_t compressed_size, options;
  uint16_t minor, major;
  uint32_t sm;
} entry;
_Static_assert(sizeof(entry) == 32, "as nvcc writes it");

enum { KIND_PTX = 1 };

static const char not_understood[] = "an image that is not understood";

static void keep(run_text *out, const char *text, size_t len) {
  char *copy = malloc(len + 1);
  if (copy) {
    memcpy(copy, text, len);
    copy[len] = 0;
  } else {
    out->why = "no memory";
  }
  free(out->data);
  out->data = copy;
  out->len = copy ? len : 0;
}

/* Whether a fatbin has PTX, by its entries' headers. */
static bool has_ptx(const hd_fatbin_span *f) {
  const char *at = f->data + f->header_bytes, *const end = f->data + f->bytes;
  bool any = false;
  entry e;
  while ((size_t)(end - at) >= sizeof e) {
    memcpy(&e, at, sizeof e);
    any |= e.kind == KIND_PTX;
    const uint64_t bytes = e.header_size + e.payload_size;
    if (bytes < sizeof e || bytes > (uint64_t)(end - at)) break;
    at += bytes;
  }
  return any;
}

static void unpack(const hd_fatbin_span *f, const run_gpu *gpu, run_text *out) {
  hd_container *c;
  hd_chosen chosen;
  if (hd_container_open_memory(f->data, f->bytes, "image", &c, NULL) == HD_OK) {
    if (hd_container_choose(c, gpu->arch, gpu->isa, &chosen, NULL) == HD_OK && chosen.found) {
      keep(out, chosen.text.data, chosen.text.len);
      if (out->data && !chosen.runs) out->newer = chosen.text.target.sm;
    }
    hd_container_close(c);
  }
  if (!out->data && !out->why) out->why = not_understood;
}

/* `most`: bytes of the image; 0: not known. */
static void read_fatbin(const void *data, size_t most, const run_gpu *gpu, bool whole, run_text *out) {
  hd_fatbin_span f;
  if (hd_fatbin_find(data, &f, NULL) != HD_OK || (most && f.bytes > most)) {
    out->why = not_understood;
    return;
  }
  if (!has_ptx(&f))
    out->why = "no PTX";
  else if (whole)
    unpack(&f, gpu, out);
}

/* Fatbins that a device link joined, up to a NULL. One without PTX may define what another's PTX has, too. */
static void read_linked(const void *const *images, const run_gpu *gpu, bool whole, run_text *out) {
  HD_VEC(char *) texts = {0};
  hd_buf text = {0};
  for (; *images && !out->why; images++) {
    run_text one = {0};
    read_fatbin(*images, 0, gpu, whole, &one);
    out->why = one.newer ? "PTX for newer GPUs only" : one.why;
    if (!one.data || (!out->why && hd_vec_push(&texts, one.data))) continue;
    free(one.data);
    if (!out->why) out->why = "no memory";
  }
  if (!out->why && whole) {
    if (hd_ptx_link((const char *const *)texts.data, texts.n, &text, NULL) == HD_OK && text.data)
      keep(out, text.data, text.len);
    else
      out->why = "its fatbins' PTX cannot be linked";
  }
  hd_buf_free(&text);
  for (size_t k = 0; k < texts.n; k++) free(texts.data[k]);
  hd_vec_free(&texts);
}

static void read_cubin(const void *data, size_t bytes, run_text *out) {
  out->data = run_text_of(data, bytes, &out->len);
  if (!out->data) out->why = "no PTX";
}

void run_image_read(const void *image, size_t bytes, const run_gpu *gpu, bool whole, run_text *out) {
  enum { LEAST = 16 }; /* a fatbin's header */
  const void *data;
  *out = (run_text){0};
  if (!image || (bytes && bytes < LEAST)) {
    out->why = not_understood;
    return;
  }
  switch (hd_module_image_of(image, &data)) {
  case HD_MODULE_FATBIN: read_fatbin(data, data == image ? bytes : 0, gpu, whole, out); break;
  case HD_MODULE_LINKED: read_linked(data, gpu, whole, out); break;
  case HD_MODULE_ELF: read_cubin(data, data == image ? bytes : 0, out); break;
  case HD_MODULE_TEXT:
    if (whole) keep(out, image, bytes ? strnlen(image, bytes) : strlen(image));
  }
}

bool run_image_digest(const void *image, size_t bytes, hd_digest *out) {
  enum { LEAST = 64, END = 1 << 16 }; /* an ELF header; bytes of either end */
  const void *data;
  hd_fatbin_span f;
  if (!image || (bytes && bytes < LEAST)) return false;
  const hd_module_image kind = hd_module_image_of(image, &data);
  const size_t n = kind == HD_MODULE_ELF ? run_cubin_bytes(data)
                   : kind == HD_MODULE_FATBIN && hd_fatbin_find(data, &f, NULL) == HD_OK ? f.bytes
                                                                                         : 0;
  if (!n || (bytes && data == image && n > bytes)) return false;
  *out = hd_digest_begin();
  hd_digest_bytes(out, &n, sizeof n);
  hd_digest_bytes(out, data, n < END ? n : END);
  if (n > END) hd_digest_bytes(out, (const char *)data + n - END, END);
  return true;
}
