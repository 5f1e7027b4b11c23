/* Between a program and its driver.
 *
 * A program finds the driver's entry points in three ways: it is linked with libcuda.so.1; it opens that
 * library and calls dlsym; or it calls cuGetProcAddress. This library is loaded first. For the first way it
 * exports the entry points that it stands in front of, for the second dlsym, and the third is one of those
 * entry points. A function that is looked up is known by its address and not by its name: the driver chooses
 * among versions and variants of an entry point, and whichever it chooses, the program gets what stands in
 * front of that. */
#include "run/watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

run_driver run_real;

static atomic_bool found;
static void *driver;            /* its handle, */
static const void *driver_base; /* and where it was loaded */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool run_driver_found(void) { return atomic_load_explicit(&found, memory_order_acquire); }

/* The C library's. */
dlsym_function *run_real_dlsym(void) {
  static _Atomic(dlsym_function *) cache;
  /* The versions of dlsym: since glibc 2.34, and before that on the two processors. */
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  dlsym_function *fn = atomic_load_explicit(&cache, memory_order_relaxed);
  for (size_t k = 0; !fn && k < sizeof versions / sizeof *versions; k++) {
    void *address = dlvsym(RTLD_NEXT, "dlsym", versions[k]);
    memcpy(&fn, &address, sizeof fn);
  }
  atomic_store_explicit(&cache, fn, memory_order_relaxed);
  return fn;
}

/* ---- The driver -------------------------------------------------------------------------------- */

static const struct {
  const char *symbol;
  size_t offset;
} all[] = {
#define RUN_ENTRY(symbol, parameters, arguments) {#symbol, offsetof(run_driver, symbol)},
#include "run/entries.def"
#define RUN_NEED(symbol) {#symbol, offsetof(run_driver, symbol)},
#include "run/needs.def"
};

/* The library that holds `address` becomes the driver, if it is one. It stays loaded. */
static void take_driver(const void *address) {
  Dl_info info;
  dlsym_function *sym = run_real_dlsym();
  if (!sym || !dladdr(address, &info) || !info.dli_fname) return;
  void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return;
  void *init = sym(handle, "cuInit"), *version = sym(handle, "cuDriverGetVersion");
  Dl_info of;
  /* A library that is linked with the driver answers for it. */
  if (!init || !version || !dladdr(init, &of) || of.dli_fbase != info.dli_fbase) {
    dlclose(handle);
    return;
  }
  pthread_mutex_lock(&lock);
  if (!run_driver_found()) {
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      void *fn = sym(handle, all[k].symbol);
      memcpy((char *)&run_real + all[k].offset, &fn, sizeof fn);
    }
    driver = handle;
    driver_base = info.dli_fbase;
    atomic_store_explicit(&found, true, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
}

/* ---- What stands in front of it ---------------------------------------------------------------- */

/* The driver's function of this name, before it is known which library that is. A library that is linked with
 * the driver may be loaded, and its driver with it, where no search from here sees them. */
static void *first_symbol(const char *name) {
  dlsym_function *sym = run_real_dlsym();
  void *next = sym ? sym(RTLD_NEXT, name) : NULL;
  void *loaded = next || !sym ? NULL : dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (loaded) {
    next = sym(loaded, name);
    dlclose(loaded);
  }
  return next;
}

/* A call of an exported symbol, which may be the first of all. */
static bool ready(const char *symbol) {
  if (run_driver_found()) return true;
  void *next = first_symbol(symbol);
  if (next) take_driver(next);
  return run_driver_found();
}

#define RUN_UNGATED(symbol, parameters, arguments)                                                           \
  __attribute__((visibility("default"))) int symbol parameters;                                              \
  __attribute__((visibility("default"))) int symbol parameters {                                             \
    return ready(#symbol) && run_real.symbol ? run_##symbol arguments : CU_NOT_SUPPORTED;                    \
  }
#define RUN_ENTRY(symbol, parameters, arguments)                                                             \
  __attribute__((visibility("default"))) int symbol parameters;                                              \
  __attribute__((visibility("default"))) int symbol parameters {                                             \
    if (!ready(#symbol) || !run_real.symbol) return CU_NOT_SUPPORTED;                                        \
    if (!run_watches) return run_##symbol arguments;                                                         \
    if (run_gate_is_own(#symbol)) run_gate_own_stream();                                                     \
    run_gate_in();                                                                                           \
    const int r = run_##symbol arguments;                                                                    \
    run_gate_out();                                                                                          \
    return r;                                                                                                \
  }
/* The work of launches that pass the gate is kept apart, so that the others hand their arguments on as they
 * came. */
#define RUN_LAUNCH(symbol, parameters, arguments)                                                            \
  static __attribute__((noinline)) int gated_##symbol parameters {                                           \
    if (!ready(#symbol) || !run_real.symbol) return CU_NOT_SUPPORTED;                                        \
    if (run_watches && run_gate_is_own(#symbol)) run_gate_own_stream();                                      \
    run_gate_enter();                                                                                        \
    const int r = run_##symbol arguments;                                                                    \
    run_gate_leave();                                                                                        \
    return r;                                                                                                \
  }                                                                                                          \
  __attribute__((visibility("default"))) int symbol parameters;                                              \
  __attribute__((visibility("default"))) int symbol parameters {                                             \
    return !run_gates && run_real.symbol ? run_##symbol arguments : gated_##symbol arguments;                \
  }
#include "run/entries.def"

static const struct {
  size_t offset;
  void (*front)(void);
} fronts[] = {
#define RUN_ENTRY(symbol, parameters, arguments) {offsetof(run_driver, symbol), (void (*)(void))symbol},
#include "run/entries.def"
};

/* The function in front of the driver's at this address. */
static void *front_of(void *address) {
  for (size_t k = 0; address && k < sizeof fronts / sizeof *fronts; k++) {
    void *real, *front;
    memcpy(&real, (const char *)&run_real + fronts[k].offset, sizeof real);
    if (real != address) continue;
    memcpy(&front, &fronts[k].front, sizeof front);
    return front;
  }
  return address ? run_gate_before(address) : NULL;
}

void *run_driver_symbol(const char *name) { return ready(name) ? run_real_dlsym()(driver, name) : NULL; }

bool run_driver_has(const void *address) {
  Dl_info info;
  return run_driver_found() && dladdr(address, &info) && info.dli_fbase == driver_base;
}

int run_cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags) {
  const int r = run_real.cuGetProcAddress(name, fn, version, flags);
  if (r == CU_SUCCESS && fn) *fn = front_of(*fn);
  return r;
}

int run_cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status) {
  const int r = run_real.cuGetProcAddress_v2(name, fn, version, flags, status);
  if (r == CU_SUCCESS && fn) *fn = front_of(*fn);
  return r;
}

/* ---- dlsym ------------------------------------------------------------------------------------- */

static void *look_up(void *handle, const char *name) {
  void *address = run_real_dlsym()(handle, name);
  if (run_is_compilers(name)) return run_compiler_front(name, address);
  if (address && !run_driver_found()) take_driver(address);
  return run_driver_found() ? front_of(address) : address;
}

static void *nothing(void *handle, const char *name) { return NULL; }

/* Whether a search from the program's code at `caller` ends at this library's export, with no library behind
 * it: a program asks so whether it has the driver, or a compiler. */
static bool is_hollow(const char *name, const void *caller) {
  const void *found_at = run_real_dlsym()(RTLD_DEFAULT, name);
  Dl_info of, own;
  return found_at && dladdr(found_at, &of) && dladdr(&run_real, &own) && of.dli_fbase == own.dli_fbase &&
         !first_symbol(name) && !run_compiler_behind(name, caller);
}

/* Where dlsym jumps to with its arguments: to the C library's, which sees the program as its caller, unless
 * the name may be the driver's or a compiler's. RTLD_NEXT and RTLD_DEFAULT depend on the caller, and see this
 * library's exports as they are, but for those that are hollow. */
dlsym_function *run_dlsym_target(void *handle, const char *name, const void *caller);
dlsym_function *run_dlsym_target(void *handle, const char *name, const void *caller) {
  const bool may_be = name && ((name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z') ||
                               run_is_compilers(name));
  if (!may_be || handle == RTLD_NEXT || !run_real_dlsym()) return run_real_dlsym();
  if (handle == RTLD_DEFAULT) return is_hollow(name, caller) ? nothing : run_real_dlsym();
  return look_up;
}

__attribute__((visibility("default"))) void *dlsym(void *restrict handle, const char *restrict name);
#if defined(__x86_64__)
__asm__(".text\n.globl dlsym\n.type dlsym, @function\n"
        "dlsym:\n"
        "  endbr64\n"
        "  pushq %rdi\n"
        "  pushq %rsi\n"
        "  subq $8, %rsp\n"
        "  movq 24(%rsp), %rdx\n"
        "  call run_dlsym_target\n"
        "  addq $8, %rsp\n"
        "  popq %rsi\n"
        "  popq %rdi\n"
        "  jmp *%rax\n"
        ".size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl dlsym\n.type dlsym, %function\n"
        "dlsym:\n"
        "  stp x29, x30, [sp, #-32]!\n"
        "  stp x0, x1, [sp, #16]\n"
        "  mov x2, x30\n"
        "  bl run_dlsym_target\n"
        "  mov x16, x0\n"
        "  ldp x0, x1, [sp, #16]\n"
        "  ldp x29, x30, [sp], #32\n"
        "  br x16\n"
        ".size dlsym, .-dlsym\n");
#else
#error "no jump is written for this processor"
#endif
