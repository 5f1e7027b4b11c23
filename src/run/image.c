/* Finds the PTX that the driver would run in an image that a program loads. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heddle/container.h"
#include "run/run.h"

/* The wrapper that nvcc puts around a fatbin for the runtime. */
typedef struct wrapper {
  uint32_t magic, version;
  const void *data;
  const void *const *more; /* version 2: the fatbins that a device link joined, up to a NULL */
} wrapper;

typedef struct region {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;
} region;

/* The beginning of an entry's header. */
typedef struct entry {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t payload_size;
  uint32_t compressed_size, options;
  uint16_t minor, major;
  uint32_t sm;
} entry;
_Static_assert(sizeof(region) == 16 && sizeof(entry) == 32, "as nvcc writes them");

enum { WRAPPER_MAGIC = 0x466243b1, KIND_PTX = 1, KIND_CUBIN = 2, MOST = 1 << 30 };
#define REGION_MAGIC 0xBA55ED50u

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

/* A fatbin's content, by its entries' headers. */
typedef struct contents {
  bool code;       /* machine code that the GPU takes */
  bool ptx, newer; /* PTX that the GPU runs; PTX for later ones */
} contents;

static contents look(const char *data, const region *r, unsigned arch) {
  const char *at = data + r->header_size, *const end = at + r->size;
  contents c = {0};
  entry e;
  while ((size_t)(end - at) >= sizeof e) {
    memcpy(&e, at, sizeof e);
    c.code |= e.kind == KIND_CUBIN && e.sm / 10 == arch / 10 && e.sm <= arch;
    c.ptx |= e.kind == KIND_PTX && e.sm <= arch;
    c.newer |= e.kind == KIND_PTX && e.sm > arch;
    const uint64_t bytes = e.header_size + e.payload_size;
    if (bytes < sizeof e || bytes > (uint64_t)(end - at)) break;
    at += bytes;
  }
  return c;
}

/* The text for the newest architecture that the GPU runs, as the driver chooses it. */
static void unpack(const char *data, const region *r, unsigned arch, run_text *out) {
  hd_container *c;
  hd_ptx_text t;
  bool more;
  unsigned best = 0;
  if (hd_container_open_memory(data, r->header_size + r->size, "image", &c, NULL) == HD_OK) {
    while (hd_container_next(c, &t, &more, NULL) == HD_OK && more) {
      if (t.sm > arch || (out->data && t.sm <= best)) continue;
      best = t.sm;
      keep(out, t.data, t.len);
    }
    hd_container_close(c);
  }
  if (!out->data && !out->why) out->why = not_understood;
}

/* A fatbin says itself how long it is, and only the driver may find that it is not. */
static bool is_mapped(const void *data, uint64_t bytes) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), past = (uintptr_t)data % page;
  unsigned char *pages = malloc((past + bytes) / page + 1);
  const bool mapped = pages && mincore((char *)(uintptr_t)data - past, past + bytes, pages) == 0;
  free(pages);
  return mapped;
}

static void read_fatbin(const void *data, unsigned arch, bool whole, run_text *out) {
  region r;
  memcpy(&r, data, sizeof r);
  if (r.magic != REGION_MAGIC || r.size > MOST || !is_mapped(data, r.header_size + r.size)) {
    out->why = not_understood;
    return;
  }
  const contents c = look(data, &r, arch);
  out->replaces = !c.code;
  if (!c.ptx)
    out->why = c.newer ? "PTX for newer GPUs only" : "no PTX";
  else if (whole)
    unpack(data, &r, arch, out);
}

void run_image_read(const void *image, size_t bytes, unsigned arch, bool whole, run_text *out) {
  uint32_t magic = 0;
  region r;
  *out = (run_text){0};
  if (!image || (bytes && bytes < sizeof r)) {
    out->why = not_understood;
    return;
  }
  memcpy(&magic, image, sizeof magic);
  if (magic == WRAPPER_MAGIC) {
    const wrapper *w = image;
    if (w->version >= 2 && w->more && *w->more)
      out->why = "linked from several fatbins";
    else
      read_fatbin(w->data, arch, whole, out);
  } else if (magic == REGION_MAGIC) {
    memcpy(&r, image, sizeof r);
    if (bytes && r.header_size + r.size > bytes)
      out->why = not_understood;
    else
      read_fatbin(image, arch, whole, out);
  } else if (memcmp(image, "\177ELF", 4) == 0) {
    out->why = "no PTX";
  } else {
    out->replaces = true;
    if (whole) keep(out, image, bytes ? strnlen(image, bytes) : strlen(image));
  }
}
