/* The PTX that machine code was made of, in a folder of files that are named by the machine code's digest. A
 * program finds it there whenever it loads that machine code, from memory or from a cache of its own. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "heddle/trusted.h"
#include "run/run.h"

enum { MOST = 1 << 30, PATH = HD_STEER_PATH + 96 }; /* bytes; of a cubin at most */

static void reach(uint64_t end, uint64_t *most) {
  if (end > *most) *most = end;
}

size_t run_cubin_bytes(const void *cubin) {
  Elf64_Ehdr h;
  Elf64_Shdr s;
  memcpy(&h, cubin, sizeof h);
  if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shoff > MOST ||
      h.e_phoff > MOST)
    return 0;
  uint64_t most = sizeof h;
  reach(h.e_shoff + (uint64_t)h.e_shnum * sizeof s, &most);
  reach(h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr), &most);
  for (unsigned k = 0; k < h.e_shnum; k++) {
    memcpy(&s, (const char *)cubin + h.e_shoff + k * sizeof s, sizeof s);
    if (s.sh_type == SHT_NOBITS) continue;
    if (s.sh_offset > MOST || s.sh_size > MOST) return 0;
    reach(s.sh_offset + s.sh_size, &most);
  }
  return most <= MOST ? (size_t)most : 0;
}

/* The file's path; false: there is none. */
static bool path_of(const void *cubin, size_t bytes, char path[PATH]) {
  char hex[HD_SHA256_HEX];
  if (!run_settings.texts[0] || (bytes && bytes < sizeof(Elf64_Ehdr))) return false;
  const size_t own = run_cubin_bytes(cubin);
  if (!own || (bytes && own > bytes)) return false;
  const hd_part whole = {cubin, own};
  snprintf(path, PATH, "%s/%s.ptx", run_settings.texts, hd_sha256_hex(&whole, 1, hex));
  return true;
}

void run_text_keep(const void *cubin, size_t bytes, const char *ptx, size_t len) {
  char path[PATH];
  hd_buf kept = {0};
  if (path_of(cubin, bytes, path) && !run_kept(path, &kept))
    hd_sealed_write(path, ptx, strnlen(ptx, len), NULL);
  hd_buf_free(&kept);
}

char *run_text_of(const void *cubin, size_t bytes, size_t *len) {
  char path[PATH];
  hd_buf kept = {0};
  if (!path_of(cubin, bytes, path) || !run_kept(path, &kept)) return NULL;
  *len = kept.len;
  return kept.data; /* a buffer's bytes end in a NUL */
}
