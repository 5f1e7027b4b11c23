/* A program's own CUDA runtime, linked into it, is put out of action before it starts: each of its public
 * functions, found by name in the symbol table of the file, begins with a jump to heddle's. */
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/core/order.h"
#include "cuda/loader/loader.h"
#include "cuda/runtime/runtime.h"

/* ---- The runtime's functions ------------------------------------------------------------------ */

static int by_name(const void *key, const void *row) { return strcmp(key, ((const rt_name *)row)->name); }

/* The runtime's function of this symbol's name; NULL: none. rt_names is sorted by name. */
static const rt_name *known(const core_symbols *s, const Elf64_Sym *y) {
  const char *name = core_function_name(s, y);
  if (!name || (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0)) return NULL;
  return bsearch(name, rt_names, rt_n_names, sizeof *rt_names, by_name);
}

/* ---- One loaded object ----------------------------------------------------------------------- */

typedef struct object {
  uint64_t base;
  const core_symbols *symbols;
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
    if (y->st_value + LOADER_JUMP_BYTES > o->end) o->end = y->st_value + LOADER_JUMP_BYTES;
    o->registers |= strcmp(n->name, "__cudaRegisterFatBinary") == 0;
    o->old |= strcmp(n->name, "cudaGetDeviceProperties_v2") == 0;
  }
}

static void replace(object *o) {
  const uint64_t start = o->base + o->first, bytes = o->end - o->first;
  if (!loader_open_code(start, bytes)) {
    core_say("the system does not let the program's CUDA runtime be replaced");
    return;
  }
  for (size_t k = 0; k < o->symbols->n; k++) {
    const Elf64_Sym *y = &o->symbols->table[k];
    const rt_name *n = known(o->symbols, y);
    if (n && loader_has_room(y)) loader_put_jump(o->base + y->st_value, (uint64_t)(uintptr_t)n->fn);
  }
  loader_close_code(start, bytes);
  if (o->old) rt_major = 12;
}

static void look_at_symbols(const unsigned char *file, size_t bytes, uint64_t base) {
  core_symbols s;
  if (core_find_symbols(file, bytes, SHT_SYMTAB, &s)) {
    object o = {.base = base, .symbols = &s};
    measure(&o);
    if (o.registers) replace(&o);
  }
  if (core_find_symbols(file, bytes, SHT_DYNSYM, &s)) loader_replace_compiler(&s, base);
}

static void look_into(const char *path, uint64_t base) {
  struct stat st;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (fstat(fd, &st) == 0 && st.st_size > 0) {
    const size_t bytes = (size_t)st.st_size;
    void *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file != MAP_FAILED) {
      look_at_symbols(file, bytes, base);
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
  const uint64_t at = _r_debug.r_brk;
  /* Behind an empty function there is room for a jump, up to where the next one may begin. */
  if (!at || at % LOADER_FUNCTION_ALIGN || !loader_is_empty(at) || !loader_open_code(at, LOADER_JUMP_BYTES))
    return;
  loader_put_jump(at, (uint64_t)(uintptr_t)on_load);
  loader_close_code(at, LOADER_JUMP_BYTES);
}

static void leave(int code, void *unused) { core_leave(code); }

/* The linker has this library initialised before all others (floor.cmake), so that a library with a runtime
 * of its own has not registered its kernels there yet. The C library is not initialised either: there is no
 * getenv. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **environment) {
  static const char name[] = HD_PROGRAM_VARIABLE "=";
  const char *text = NULL;
  hd_program_settings s;
  for (char **e = environment; e && *e && !text; e++)
    if (strncmp(*e, name, sizeof name - 1) == 0) text = *e + sizeof name - 1;
  if (!text) return;
  on_exit(leave, NULL); /* before main, and so called behind the destructors */
  look_at_all(true);
  follow_loads();
  /* A line says where the program crashes by itself; those that it starts in turn only once they use a
   * device. */
  if (hd_program_settings_parse(text, &s, NULL) == HD_OK && s.pid == (uint64_t)getpid()) core_guard_install();
}
