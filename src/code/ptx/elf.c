/* Finds the fatbins in an ELF image.
 *
 * nvcc puts them into .nv_fatbin and __nv_relfatbin, but libraries that load
 * modules themselves keep them anywhere: cuFFT in .ldata, cuSPARSE in .rodata,
 * cuBLASLt in a section of its own. So every section that a program loads as
 * data is searched, and an image without sections as a whole.
 *
 * Only the section headers are needed, so they are read here and not through
 * libelf: from the mapping itself, without copies, and with no more trust than
 * hostile files deserve.
 */
#include "ptx/binary.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const fatbin_sections[] = {".nv_fatbin", "__nv_relfatbin"};

typedef struct elf_image {
  const uint8_t *data;
  uint64_t len;
  Elf64_Ehdr header;
  uint64_t section_count;
  uint64_t names, names_len; /* the section name string table; empty when damaged */
} elf_image;

static Elf64_Shdr section_header(const elf_image *elf, uint64_t i) {
  Elf64_Shdr sh;
  memcpy(&sh, elf->data + elf->header.e_shoff + i * sizeof sh, sizeof sh);
  return sh;
}

static bool inside(const elf_image *elf, const Elf64_Shdr *sh) {
  return sh->sh_offset <= elf->len && sh->sh_size <= elf->len - sh->sh_offset;
}

/* Finds the section headers and their names; section_count is 0 when there are none. */
static hd_status find_sections(const ptx_source *s, elf_image *elf, hd_diag *d) {
  const Elf64_Ehdr *h = &elf->header;
  if (h->e_shoff == 0) return HD_OK;
  bool fits = h->e_shoff <= elf->len && h->e_shentsize == sizeof(Elf64_Shdr);
  uint64_t room = fits ? (elf->len - h->e_shoff) / sizeof(Elf64_Shdr) : 0;
  elf->section_count = h->e_shnum;
  uint64_t names_index = h->e_shstrndx;
  if (room && (elf->section_count == 0 || names_index == SHN_XINDEX)) {
    /* Numbers too large for the ELF header stand in section 0. */
    Elf64_Shdr zero = section_header(elf, 0);
    if (elf->section_count == 0) elf->section_count = zero.sh_size;
    if (names_index == SHN_XINDEX) names_index = zero.sh_link;
  }
  if (!fits || elf->section_count > room || (elf->section_count == 0 && room == 0))
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "an ELF file whose section headers are damaged or missing: is it cut short?");
  if (names_index < elf->section_count) {
    Elf64_Shdr names = section_header(elf, names_index);
    if (names.sh_type == SHT_STRTAB && inside(elf, &names)) {
      elf->names = names.sh_offset;
      elf->names_len = names.sh_size;
    }
  }
  return HD_OK;
}

static bool is_fatbin_section(const elf_image *elf, const Elf64_Shdr *sh) {
  if (sh->sh_name >= elf->names_len) return false;
  for (size_t i = 0; i < sizeof fatbin_sections / sizeof *fatbin_sections; i++) {
    size_t n = strlen(fatbin_sections[i]) + 1;
    if (n <= elf->names_len - sh->sh_name &&
        memcmp(elf->data + elf->names + sh->sh_name, fatbin_sections[i], n) == 0)
      return true;
  }
  return false;
}

static int by_begin(const void *pa, const void *pb) {
  const ptx_span *a = pa, *b = pb;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (int)b->fatbins - (int)a->fatbins;
}

/* In file order and disjoint: otherwise a file could make many section headers
 * name the same bytes and have them read as often. */
static void make_disjoint(ptx_spans *spans, size_t first) {
  size_t kept = first;
  if (spans->n > first) qsort(spans->data + first, spans->n - first, sizeof *spans->data, by_begin);
  uint64_t end = 0;
  for (size_t i = first; i < spans->n; i++) {
    ptx_span span = spans->data[i];
    if (span.begin < end) span.begin = end;
    if (span.begin >= span.end) continue;
    end = span.end;
    spans->data[kept++] = span;
  }
  spans->n = kept;
}

static hd_status check_identity(const ptx_source *s, const uint8_t *ident, hd_diag *d) {
  const char *what = NULL;
  if (ident[EI_CLASS] == ELFCLASS32)
    what = "32-bit";
  else if (ident[EI_DATA] == ELFDATA2MSB)
    what = "big-endian";
  if (what)
    return ptx_source_fail(s, d, HD_ERR_UNSUPPORTED, "a %s ELF file: only 64-bit little-endian ones are read",
                           what);
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
    return ptx_source_fail(s, d, HD_ERR_INPUT, "an ELF file of no known word size or byte order");
  return HD_OK;
}

hd_status ptx_elf_spans(const ptx_source *s, uint64_t begin, uint64_t end, ptx_spans *spans, hd_diag *d) {
  elf_image elf = {.data = s->data + begin, .len = end - begin};
  if (elf.len >= EI_NIDENT) {
    hd_status rc = check_identity(s, elf.data, d);
    if (rc) return rc;
  }
  if (elf.len < sizeof elf.header)
    return ptx_source_fail(s, d, HD_ERR_INPUT, "an ELF file that ends inside its header");
  memcpy(&elf.header, elf.data, sizeof elf.header);
  if (elf.header.e_machine == EM_CUDA) return HD_OK;
  hd_status rc = find_sections(s, &elf, d);
  if (rc) return rc;

  size_t first = spans->n;
  bool room = true;
  if (elf.section_count == 0) room = hd_vec_push(spans, ((ptx_span){begin, end, false}));
  for (uint64_t i = 0; i < elf.section_count && room; i++) {
    Elf64_Shdr sh = section_header(&elf, i);
    if (sh.sh_type != SHT_PROGBITS || sh.sh_size == 0) continue;
    bool fatbins = is_fatbin_section(&elf, &sh);
    bool data = (sh.sh_flags & SHF_ALLOC) && !(sh.sh_flags & SHF_EXECINSTR);
    if (!fatbins && !data) continue;
    if (!inside(&elf, &sh)) {
      if (!fatbins) continue;
      return ptx_source_fail(s, d, HD_ERR_INPUT, "an ELF file whose fatbin section lies outside the file");
    }
    uint64_t at = begin + sh.sh_offset;
    room = hd_vec_push(spans, ((ptx_span){at, at + sh.sh_size, fatbins}));
  }
  if (!room) return ptx_source_fail(s, d, HD_ERR_NOMEM, "out of memory");
  make_disjoint(spans, first);
  return HD_OK;
}
