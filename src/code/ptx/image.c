/* Images in a program's own memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ptx/binary.h"
#include "ptx/lexer.h"

/* The wrapper that nvcc puts around a fatbin for the runtime. */
typedef struct wrapper {
  uint32_t magic, version;
  const void *data;
  const void *const *more; /* version 2: the fatbins that a device link joined */
} wrapper;

typedef struct region {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;
} region;
_Static_assert(sizeof(region) == 16, "as nvcc writes it");

enum { WRAPPER_MAGIC = 0x466243b1, MOST = 1 << 30 };

hd_module_image hd_module_image_of(const void *image, const void **data) {
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  *data = image;
  if (magic == WRAPPER_MAGIC) {
    const wrapper *w = image;
    const bool linked = w->version >= 2 && w->more && *w->more;
    *data = linked ? (const void *)w->more : w->data;
    return linked ? HD_MODULE_LINKED : HD_MODULE_FATBIN;
  }
  if (magic == PTX_FATBIN_MAGIC) return HD_MODULE_FATBIN;
  return memcmp(image, "\177ELF", 4) == 0 ? HD_MODULE_ELF : HD_MODULE_TEXT;
}

/* Behind a comment, NULL where it does not end; p itself where there is none. */
static const char *behind_comment(const char *p, const char *end) {
  const size_t left = (size_t)(end - p);
  if (left < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*')) return p;
  const char *stop = p[1] == '/' ? memchr(p, '\n', left) : memmem(p + 2, left - 2, "*/", 2);
  return stop && p[1] == '*' ? stop + 2 : stop;
}

bool hd_ptx_is_text(const char *text, size_t n) {
  static const char word[] = ".version";
  const char *p = text, *const end = text + n, *at;
  do {
    at = p;
    while (p < end && PTX_IS(*p, PTX_C_BLANK)) p++;
    if (!(p = behind_comment(p, end))) return false;
  } while (p > at);
  return (size_t)(end - p) >= sizeof word && memcmp(p, word, sizeof word - 1) == 0;
}

static bool is_mapped(const void *data, uint64_t bytes) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), past = (uintptr_t)data % page;
  unsigned char *pages = malloc((past + bytes) / page + 1);
  const bool mapped = pages && mincore((char *)(uintptr_t)data - past, past + bytes, pages) == 0;
  free(pages);
  return mapped;
}

hd_status hd_fatbin_find(const void *data, hd_fatbin_span *out, hd_diag *d) {
  region r;
  memcpy(&r, data, sizeof r);
  if (r.magic != PTX_FATBIN_MAGIC || r.size > MOST) return hd_fail(d, HD_ERR_INPUT, "the image is no fatbin");
  *out = (hd_fatbin_span){data, r.header_size, r.header_size + r.size};
  if (is_mapped(data, out->bytes)) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "the image, a fatbin, claims %llu bytes, which are not all there",
                 (unsigned long long)out->bytes);
}
