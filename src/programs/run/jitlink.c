/* In front of nvJitLink: what goes into its links, and the machine code that comes out of them.
 *
 * A program is linked with the functions, or looks them up. nvJitLink's header puts "__" before a function's
 * name and its own version behind it ("__nvJitLinkCreate_13_0"), and the library has the plain name, too. */
#include <string.h>

#include "abi/jitlink.h"
#include "run/run.h"

#define UNPACK(...) __VA_ARGS__

/* HANDLED(name, parameters, arguments) for those that heddle stands in front of. */
#define OF_PAST(name, parameters, arguments)
#define OF_HANDLED(name, parameters, arguments) HANDLED(name, parameters, arguments)
#define ROW(name, run, parameters, arguments) OF_##run(name, parameters, arguments)

/* ---- What they do ------------------------------------------------------------------------------ */

/* Options under which machine code computes something else than its PTX alone says. */
static bool is_other(const char *option) {
  static const char *const all[] = {"-g", "-lto", "-fma=0", "-ftz", "-prec-div", "-prec-sqrt"};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (strncmp(option, all[k], strlen(all[k])) == 0) return true;
  return strstr(option, "fmad") != NULL;
}

static int do_Create(fn_jitlink_Create *real, jitlink_handle *link, uint32_t n, const char **options) {
  const int r = real(link, n, options);
  bool other = false;
  for (uint32_t k = 0; r == 0 && k < n; k++) other |= is_other(options[k]);
  if (r == 0) run_link_begin(*link, other);
  return r;
}

static int do_Destroy(fn_jitlink_Destroy *real, jitlink_handle *link) {
  if (link) run_link_drop(*link);
  return real(link);
}

static bool is_module(int type) {
  return type == JITLINK_CUBIN || type == JITLINK_PTX || type == JITLINK_ANY;
}

static int do_AddData(fn_jitlink_AddData *real, jitlink_handle link, int type, const void *data, size_t bytes,
                      const char *name) {
  const int r = real(link, type, data, bytes, name);
  if (r == 0) run_link_add(link, is_module(type) ? data : NULL, bytes);
  return r;
}

static int do_AddFile(fn_jitlink_AddFile *real, jitlink_handle link, int type, const char *path) {
  const int r = real(link, type, path);
  if (r == 0) run_link_add_file(link, is_module(type) ? path : NULL);
  return r;
}

static int do_GetLinkedCubin(fn_jitlink_GetLinkedCubin *real, jitlink_handle link, void *cubin) {
  const int r = real(link, cubin);
  if (r == 0) run_link_finish(link, cubin, 0);
  return r;
}

/* ---- Of programs that are linked with nvJitLink ------------------------------------------------ */

#define EXPORT(name, parameters, arguments, id, symbol)                                                      \
  __attribute__((visibility("default"))) int linked_##name##id parameters __asm__(symbol);                   \
  int linked_##name##id parameters {                                                                         \
    fn_jitlink_##name *real;                                                                                 \
    void *const next = run_compiler_behind(symbol, __builtin_return_address(0));                             \
    memcpy(&real, &next, sizeof real);                                                                       \
    return real ? do_##name(real, UNPACK arguments) : JITLINK_INTERNAL;                                      \
  }
#define VERSION(name, parameters, arguments, version)                                                        \
  EXPORT(name, parameters, arguments, _##version, "__nvJitLink" #name "_" #version)
#define HANDLED(name, parameters, arguments)                                                                 \
  EXPORT(name, parameters, arguments, , "nvJitLink" #name)                                                   \
  JITLINK_VERSIONS(VERSION, name, parameters, arguments)
#define JITLINK ROW
#include "abi/jitlink.def"
#undef HANDLED

/* ---- Of programs that look them up -------------------------------------------------------------- */

enum { PLACES = 4 }; /* addresses that one function may be looked up at: two names in two libraries */

#define LOOKED_UP(name, parameters, arguments, k)                                                            \
  static int looked_up_##name##k parameters { return do_##name(real_##name[k], UNPACK arguments); }
#define HANDLED(name, parameters, arguments)                                                                 \
  static fn_jitlink_##name *real_##name[PLACES];                                                             \
  LOOKED_UP(name, parameters, arguments, 0)                                                                  \
  LOOKED_UP(name, parameters, arguments, 1)                                                                  \
  LOOKED_UP(name, parameters, arguments, 2)                                                                  \
  LOOKED_UP(name, parameters, arguments, 3)                                                                  \
  static fn_jitlink_##name *const front_##name[PLACES] = {looked_up_##name##0, looked_up_##name##1,          \
                                                          looked_up_##name##2, looked_up_##name##3};
#define JITLINK ROW
#include "abi/jitlink.def"
#undef HANDLED

static const struct {
  const char *name;
  void *real;        /* PLACES functions */
  const void *front; /* those in front of them */
} all[] = {
#define HANDLED(name, parameters, arguments) {"nvJitLink" #name, real_##name, front_##name},
#define JITLINK ROW
#include "abi/jitlink.def"
#undef HANDLED
};
enum { ALL = sizeof all / sizeof *all };

/* The number of the function that has this name, with or without a version; ALL: none. */
static size_t number_of(const char *symbol) {
  if (strncmp(symbol, "__", 2) == 0) symbol += 2;
  for (size_t k = 0; k < ALL; k++) {
    const size_t n = strlen(all[k].name);
    if (strncmp(symbol, all[k].name, n) == 0 && !symbol[n + strspn(symbol + n, "_0123456789")]) return k;
  }
  return ALL;
}

bool run_is_jitlinks(const char *symbol) { return number_of(symbol) < ALL; }

void *run_jitlink_front(const char *symbol, void *address) {
  const size_t k = number_of(symbol);
  for (size_t i = 0; i < PLACES; i++) {
    void *real, *front;
    char *const place = (char *)all[k].real + i * sizeof real;
    memcpy(&real, place, sizeof real);
    memcpy(&front, (const char *)all[k].front + i * sizeof front, sizeof front);
    if (real && real != address) continue;
    memcpy(place, &address, sizeof address);
    return front;
  }
  run_link_miss_some();
  return address;
}
