/* Symbol tables of ELF files. */
#include "cuda/core/elf_symbols.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "heddle/container.h"

static bool inside(uint64_t offset, uint64_t n, size_t bytes) {
  return offset <= bytes && n <= bytes - offset;
}

bool core_find_symbols(const unsigned char *file, size_t bytes, unsigned type, core_symbols *s) {
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
    *s = (core_symbols){(const Elf64_Sym *)(const void *)(file + t->sh_offset),
                        t->sh_size / sizeof(Elf64_Sym), (const char *)file + n->sh_offset, n->sh_size};
    return s->names[n->sh_size - 1] == 0;
  }
  return false;
}

const char *core_function_name(const core_symbols *s, const Elf64_Sym *y) {
  if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_name >= s->names_bytes)
    return NULL;
  return s->names + y->st_name;
}

/* The function that has this address of the file; NULL: none is known. */
static const char *function_at(const hd_file *f, unsigned type, uint64_t at) {
  core_symbols s;
  if (!core_find_symbols((const unsigned char *)f->data, f->len, type, &s)) return NULL;
  for (size_t k = 0; k < s.n; k++) {
    const char *name = core_function_name(&s, &s.table[k]);
    if (name && at >= s.table[k].st_value && at - s.table[k].st_value < s.table[k].st_size) return name;
  }
  return NULL;
}

void core_put_caller(const void *from, hd_buf *out) {
  Dl_info in;
  hd_file f;
  if (!from || !dladdr(from, &in) || !in.dli_fname) return;
  const Elf64_Ehdr *loaded = in.dli_fbase;
  uint64_t at = (uint64_t)(uintptr_t)from - 1; /* within the call */
  if (loaded->e_type == ET_DYN) at -= (uint64_t)(uintptr_t)in.dli_fbase;
  const char *slash = strrchr(in.dli_fname, '/'), *name = NULL;
  const bool open = hd_file_open(in.dli_fname, &f, NULL) == HD_OK;
  if (open && !(name = function_at(&f, SHT_SYMTAB, at))) name = function_at(&f, SHT_DYNSYM, at);
  if (name) hd_kernel_title(name, false, out);
  hd_buf_printf(out, "%s%s+0x%" PRIx64 "%s", name ? " (" : "", slash ? slash + 1 : in.dli_fname, at,
                name ? ")" : "");
  if (open) hd_file_close(&f);
}
