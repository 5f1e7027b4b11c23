/* Symbol tables of ELF files. */
#include "cuda/loader/loader.h"

#include <string.h>

static bool inside(uint64_t offset, uint64_t n, size_t bytes) {
  return offset <= bytes && n <= bytes - offset;
}

bool loader_find_symbols(const unsigned char *file, size_t bytes, unsigned type, loader_symbols *s) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)file;
  if (bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), bytes))
    return false;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + h->e_shoff);
  for (unsigned k = 0; k < h->e_shnum; k++) {
    const Elf64_Shdr *t = &sections[k], *n = t->sh_link < h->e_shnum ? &sections[t->sh_link] : t;
    if (t->sh_type != type || !inside(t->sh_offset, t->sh_size, bytes) ||
        !inside(n->sh_offset, n->sh_size, bytes) || !n->sh_size)
      continue;
    *s = (loader_symbols){(const Elf64_Sym *)(const void *)(file + t->sh_offset),
                          t->sh_size / sizeof(Elf64_Sym), (const char *)file + n->sh_offset, n->sh_size};
    return s->names[n->sh_size - 1] == 0;
  }
  return false;
}

const char *loader_function_name(const loader_symbols *s, const Elf64_Sym *y) {
  if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_name >= s->names_bytes)
    return NULL;
  return s->names + y->st_name;
}
