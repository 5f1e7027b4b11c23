/* Compilers and linkers that a program calls while it runs give PTX in place of machine code.
 *
 * NVRTC has both: the functions that copy out the machine code begin with a jump to those that copy out the
 * PTX, whose parameters are the same. nvJitLink links PTX to machine code: its functions begin with a jump to
 * heddle's linker (jitlink.c), whose output is PTX. Modules are loaded from PTX as they are from machine
 * code. */
#include <string.h>

#include "cuda/core/core.h"
#include "cuda/loader/jitlink.h"
#include "cuda/loader/loader.h"

/* A function, and where its jump leads: to the file's own function `peer`, or to `fn`. Where `real` is, the
 * function stays known, if it can be called without its beginning. */
typedef struct detour {
  const char *name, *peer;
  void (*fn)(void);
  void *real;
} detour;

static const detour detours[] = {
    {"nvrtcGetCUBIN", "nvrtcGetPTX", NULL, NULL},
    {"nvrtcGetCUBINSize", "nvrtcGetPTXSize", NULL, NULL},
#define JITLINK(name, run, parameters, arguments)                                                            \
  {"nvJitLink" #name, NULL, (void (*)(void))jitlink_##name, &jitlink_real.name},
#include "abi/jitlink.def"
};

/* Headers of nvJitLink put "__" before the name of a function and its version behind it:
 * "__nvJitLinkCreate_13_0". */
static bool is_called(const char *symbol, const char *name) {
  const size_t n = strlen(name);
  if (strncmp(symbol, "__", 2) == 0) symbol += 2;
  return strncmp(symbol, name, n) == 0 && symbol[n + strspn(symbol + n, "_0123456789")] == 0;
}

static const detour *detour_of(const char *symbol) {
  for (size_t k = 0; k < sizeof detours / sizeof *detours; k++)
    if (is_called(symbol, detours[k].name)) return &detours[k];
  return NULL;
}

/* The address of a function of the file; 0: it has none of this name. */
static uint64_t peer_of(const core_symbols *s, const char *name) {
  for (size_t k = 0; k < s->n; k++) {
    const char *have = core_function_name(s, &s->table[k]);
    if (have && strcmp(have, name) == 0) return s->table[k].st_value;
  }
  return 0;
}

void loader_replace_compiler(const core_symbols *s, uint64_t base) {
  for (size_t k = 0; k < s->n; k++) {
    const Elf64_Sym *y = &s->table[k];
    const char *name = core_function_name(s, y);
    if (!name || !strstr(name, "nv")) continue;
    const detour *d = detour_of(name);
    if (!d || !loader_has_room(y)) continue;
    const uint64_t at = base + y->st_value, peer = d->peer ? peer_of(s, d->peer) : 0,
                   to = d->fn  ? (uint64_t)(uintptr_t)d->fn
                        : peer ? base + peer
                               : 0;
    if (!to || !loader_open_code(at, LOADER_JUMP_BYTES)) continue;
    const uint64_t real = loader_jump_at(at);
    if (d->real && real) memcpy(d->real, &real, sizeof real);
    loader_put_jump(at, to);
    loader_close_code(at, LOADER_JUMP_BYTES);
  }
}
