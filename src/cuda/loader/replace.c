/* A program's own CUDA runtime, linked into it, is put out of action before it starts: each of its public
 * functions, found by name in the symbol table of the file, begins with a jump to heddle's. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/runtime/runtime.h"

/* ---- A jump to anywhere ---------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { JUMP_BYTES = 14, ALIGN_OF_FUNCTIONS = 16 };
/* jmp *0(%rip), and the address */
static void put_jump(unsigned char *at, uint64_t to) {
  static const unsigned char code[] = {0xFF, 0x25, 0, 0, 0, 0};
  memcpy(at, code, sizeof code);
  memcpy(at + sizeof code, &to, sizeof to);
}
/* Does a function do nothing but return? */
static bool is_empty(const unsigned char *at) {
  static const unsigned char landing[] = {0xF3, 0x0F, 0x1E, 0xFA}; /* endbr64 */
  return at[memcmp(at, landing, sizeof landing) == 0 ? sizeof landing : 0] == 0xC3;
}
#elif defined(__aarch64__)
enum { JUMP_BYTES = 16, ALIGN_OF_FUNCTIONS = 16 };
/* ldr x16, .+8; br x16, and the address */
static void put_jump(unsigned char *at, uint64_t to) {
  static const uint32_t code[] = {0x58000050, 0xD61F0200};
  memcpy(at, code, sizeof code);
  memcpy(at + sizeof code, &to, sizeof to);
}
static bool is_empty(const unsigned char *at) {
  uint32_t code[2];
  memcpy(code, at, sizeof code);
  return code[code[0] == 0xD503245F] == 0xD65F03C0; /* bti c; ret */
}
#else
#error "no jump is written for this processor"
#endif

/* ---- One file's symbols ---------------------------------------------------------------------- */

typedef struct symbols {
  const Elf64_Sym *table;
  size_t n;
  const char *names;
  size_t names_bytes;
} symbols;

/* The symbol table of an ELF file; false: it has none, or is no such file. */
static bool find_symbols(const unsigned char *file, size_t bytes, symbols *s) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)file;
  if (bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff > bytes ||
      (uint64_t)h->e_shnum * sizeof(Elf64_Shdr) > bytes - h->e_shoff)
    return false;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + h->e_shoff);
  for (unsigned k = 0; k < h->e_shnum; k++) {
    const Elf64_Shdr *t = &sections[k], *n = t->sh_link < h->e_shnum ? &sections[t->sh_link] : t;
    if (t->sh_type != SHT_SYMTAB || t->sh_offset > bytes || t->sh_size > bytes - t->sh_offset ||
        n->sh_offset > bytes || n->sh_size > bytes - n->sh_offset || !n->sh_size)
      continue;
    *s = (symbols){(const Elf64_Sym *)(const void *)(file + t->sh_offset), t->sh_size / sizeof(Elf64_Sym),
                   (const char *)file + n->sh_offset, n->sh_size};
    return s->names[n->sh_size - 1] == 0;
  }
  return false;
}

static int by_name(const void *key, const void *row) { return strcmp(key, ((const rt_name *)row)->name); }

/* The runtime's function of this symbol's name; NULL: none. rt_names is sorted by name. */
static const rt_name *known(const symbols *s, const Elf64_Sym *y) {
  if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || y->st_name >= s->names_bytes)
    return NULL;
  const char *name = s->names + y->st_name;
  if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0) return NULL;
  return bsearch(name, rt_names, rt_n_names, sizeof *rt_names, by_name);
}

/* ---- One loaded object ----------------------------------------------------------------------- */

typedef struct object {
  uint64_t base;
  const symbols *symbols;
  uint64_t first, end; /* addresses of the functions that are replaced, before base is added */
  bool registers;      /* it has the function that only a runtime has */
  bool old;            /* and one that CUDA 13 has no more */
} object;

static void measure(object *o) {
  o->first = UINT64_MAX;
  for (size_t k = 0; k < o->symbols->n; k++) {
    const Elf64_Sym *y = &o->symbols->table[k];
    const rt_name *n = known(o->symbols, y);
    if (!n) continue;
    if (y->st_value < o->first) o->first = y->st_value;
    if (y->st_value + JUMP_BYTES > o->end) o->end = y->st_value + JUMP_BYTES;
    o->registers |= strcmp(n->name, "__cudaRegisterFatBinary") == 0;
    o->old |= strcmp(n->name, "cudaGetDeviceProperties_v2") == 0;
  }
}

/* Room for a jump: the function's own, and the padding up to where the next one may begin. */
static bool has_room(const Elf64_Sym *y) {
  return (y->st_value + y->st_size + ALIGN_OF_FUNCTIONS - 1) / ALIGN_OF_FUNCTIONS * ALIGN_OF_FUNCTIONS -
             y->st_value >=
         JUMP_BYTES;
}

static void replace(object *o) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (o->base + o->first) & ~(page - 1),
                 bytes = o->base + o->end - start;
  void *code = (void *)(uintptr_t)start;
  if (mprotect(code, bytes, PROT_READ | PROT_WRITE) != 0) {
    core_say("the system does not let the program's CUDA runtime be replaced");
    return;
  }
  for (size_t k = 0; k < o->symbols->n; k++) {
    const Elf64_Sym *y = &o->symbols->table[k];
    const rt_name *n = known(o->symbols, y);
    if (n && has_room(y))
      put_jump((unsigned char *)(uintptr_t)(o->base + y->st_value), (uint64_t)(uintptr_t)n->fn);
  }
  mprotect(code, bytes, PROT_READ | PROT_EXEC);
  __builtin___clear_cache((char *)code, (char *)code + bytes);
  if (o->old) rt_major = 12;
}

static void look_into(const char *path, uint64_t base) {
  struct stat st;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (fstat(fd, &st) == 0 && st.st_size > 0) {
    const size_t bytes = (size_t)st.st_size;
    void *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    symbols s;
    if (file != MAP_FAILED) {
      if (find_symbols(file, bytes, &s)) {
        object o = {.base = base, .symbols = &s};
        measure(&o);
        if (o.registers) replace(&o);
      }
      munmap(file, bytes);
    }
  }
  close(fd);
}

/* Whether the object is this library. */
static bool is_own(const struct dl_phdr_info *info) {
  const uint64_t here = (uint64_t)(uintptr_t)rt_names - info->dlpi_addr;
  for (int k = 0; k < info->dlpi_phnum; k++)
    if (info->dlpi_phdr[k].p_type == PT_LOAD &&
        here - info->dlpi_phdr[k].p_vaddr < info->dlpi_phdr[k].p_memsz)
      return true;
  return false;
}

/* Objects that were looked into, and the last pass that met each: another one may come to where one was. */
typedef struct known_object {
  uint64_t base, pass;
} known_object;
static HD_VEC(known_object) seen;
static uint64_t pass;

static bool is_new(uint64_t base) {
  for (size_t k = 0; k < seen.n; k++)
    if (seen.data[k].base == base) {
      seen.data[k].pass = pass;
      return false;
    }
  const known_object o = {base, pass};
  return hd_vec_push(&seen, o);
}

static int each_object(struct dl_phdr_info *info, size_t size, void *arg) {
  const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
  bool *first = arg;
  /* The first one is the program, which stays; of libraries only those with a path. */
  if ((*first || path[0] == '/') && !is_own(info) && is_new(info->dlpi_addr))
    look_into(*first ? "/proc/self/exe" : path, info->dlpi_addr);
  *first = false;
  return 0;
}

/* The loader calls the function that it shows debuggers when it has mapped a library, before anything of it
 * runs. */
static void look_at_all(bool first) {
  pass++;
  dl_iterate_phdr(each_object, &first);
  for (size_t k = seen.n; k-- > 0;)
    if (seen.data[k].pass != pass) seen.data[k] = seen.data[--seen.n];
}

/* The loader calls the function that it shows debuggers when it has mapped a library, before anything of it
 * runs, and when it has taken one away. */
static void on_load(void) {
  if (_r_debug.r_state == RT_CONSISTENT) look_at_all(false);
}

static void follow_loads(void) {
  const uint64_t at = _r_debug.r_brk, page = (uint64_t)sysconf(_SC_PAGESIZE);
  /* Behind an empty function there is room for a jump, up to where the next one may begin. */
  if (!at || at % ALIGN_OF_FUNCTIONS || !is_empty((const unsigned char *)(uintptr_t)at)) return;
  void *code = (void *)(uintptr_t)(at & ~(page - 1));
  if (mprotect(code, page, PROT_READ | PROT_WRITE) != 0) return;
  put_jump((unsigned char *)(uintptr_t)at, (uint64_t)(uintptr_t)on_load);
  mprotect(code, page, PROT_READ | PROT_EXEC);
  __builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)at + JUMP_BYTES);
}

/* Before anything of the program runs: preloaded libraries are initialised first. */
__attribute__((constructor)) static void begin(void) {
  if (!getenv(HD_PROGRAM_VARIABLE)) return;
  look_at_all(true);
  follow_loads();
}
