/* kernel.cu -> PTX, with nvcc or with clang and heddle_cuda.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/process.h"
#include "workload/workload.h"

enum { COMPILE_SECONDS = 120, QUERY_SECONDS = 30, MAX_CANDIDATES = 8, MAX_FLAGS = 32 };

typedef struct toolchain {
  const char *name;
  const char *const *programs; /* in order of preference */
  /* Prints the architectures it knows, each as `prefix` and a number. */
  const char *const *query;
  const char *prefix;
  const char *arch_flag; /* printf format of one number */
  const char *const *flags;
  bool own_header; /* heddle_cuda.h goes in front */
} toolchain;

static const char *const NVCC_PROGRAMS[] = {"nvcc", NULL};
static const char *const NVCC_QUERY[] = {"--list-gpu-arch", NULL};
static const char *const NVCC_FLAGS[] = {"-ptx", "-std=c++17", "-O3", NULL};

static const char *const CLANG_PROGRAMS[] = {"clang",    "clang-20", "clang-19", "clang-18", "clang-17",
                                             "clang-16", "clang-15", "clang-14", NULL};
static const char *const CLANG_QUERY[] = {"--target=nvptx64-nvidia-cuda", "-print-supported-cpus", NULL};
/* No toolkit is used, and none is looked for, so that a kernel compiles to the same PTX with
 * and without one. */
static const char *const CLANG_FLAGS[] = {"-x",
                                          "cuda",
                                          "--cuda-device-only",
                                          "-nocudainc",
                                          "-nocudalib",
                                          "--cuda-path=/nonexistent",
                                          "-S",
                                          "-std=c++17",
                                          "-O3",
                                          "-fno-color-diagnostics",
                                          NULL};

static const toolchain TOOLCHAINS[WL_TOOLCHAINS] = {
    [WL_NVCC] = {"nvcc", NVCC_PROGRAMS, NVCC_QUERY, "compute_", "-arch=compute_%u", NVCC_FLAGS, false},
    [WL_CLANG] = {"clang", CLANG_PROGRAMS, CLANG_QUERY, "sm_", "--cuda-gpu-arch=sm_%u", CLANG_FLAGS, true},
};

const char *wl_toolchain_name(wl_toolchain t) { return TOOLCHAINS[t].name; }

/* ---- Architectures -------------------------------------------------------------------- */

/* The highest architecture at or below `want` in a compiler's answer, 0: none. Variants such
 * as sm_90a do not run on later GPUs and are passed over. */
static unsigned best_arch(const char *answer, const char *prefix, unsigned want) {
  unsigned best = 0;
  size_t n = strlen(prefix);
  for (const char *p = answer; p && (p = strstr(p, prefix)) != NULL;) {
    p += n;
    char *end;
    unsigned long arch = strtoul(p, &end, 10);
    bool plain = end > p && !(*end >= 'a' && *end <= 'z');
    if (plain && arch <= want && arch > best) best = (unsigned)arch;
    p = end;
  }
  return best;
}

static hd_status query_arch(const toolchain *t, const char *program, unsigned want, const char *scratch,
                            unsigned *arch, hd_diag *d) {
  const char *argv[8] = {program};
  for (size_t i = 0; t->query[i]; i++) argv[i + 1] = t->query[i];
  hd_buf answer = {0};
  int code;
  hd_status st = hd_program_run(argv, scratch, QUERY_SECONDS, &answer, &code, d);
  *arch = st == HD_OK ? best_arch(answer.data, t->prefix, want) : 0;
  hd_buf_free(&answer);
  return st;
}

/* ---- Compiling ---------------------------------------------------------------------------- */

/* Everything the PTX depends on. The architecture is the one asked for: the one used follows from the
 * compiler. */
static hd_status key_of(const hd_workload *w, const toolchain *t, const char *program, unsigned arch,
                        hd_digest *key, hd_diag *d) {
  *key = hd_digest_begin();
  hd_digest_text(key, t->name);
  hd_digest_bytes(key, &arch, sizeof arch);
  for (size_t i = 0; t->flags[i]; i++) hd_digest_text(key, t->flags[i]);
  if (t->own_header) hd_digest_bytes(key, wl_heddle_cuda_h.text, wl_heddle_cuda_h.len);
  wl_hash_compiler(key, program);
  return wl_hash_source(key, w->source, false, d);
}

/* A path that no program takes for an option. */
static const char *safe_path(hd_arena *a, const char *path) {
  return path[0] == '-' ? hd_arena_printf(a, "./%s", path) : path;
}

static hd_status build(const hd_workload *w, const toolchain *t, const char *program, unsigned arch,
                       const char *scratch, hd_buf *out, hd_diag *d) {
  hd_arena a;
  hd_arena_init(&a);
  const char *argv[MAX_FLAGS] = {program};
  size_t n = 1;
  for (size_t i = 0; t->flags[i]; i++) argv[n++] = t->flags[i];
  char flag[64];
  snprintf(flag, sizeof flag, t->arch_flag, arch);
  argv[n++] = flag;
  hd_status st = HD_OK;
  if (t->own_header) {
    st = wl_header_write(&wl_heddle_cuda_h, scratch, d);
    argv[n++] = "-include";
    argv[n++] = hd_arena_printf(&a, "%s/%s", scratch, wl_heddle_cuda_h.name);
  }
  const char *ptx = hd_arena_printf(&a, "%s/kernel.ptx", scratch);
  argv[n++] = "-o";
  argv[n++] = ptx;
  argv[n] = safe_path(&a, w->source);
  hd_buf messages = {0};
  int code = 0;
  if (st == HD_OK) st = hd_program_run(argv, scratch, COMPILE_SECONDS, &messages, &code, d);
  if (st == HD_OK && code != 0) st = wl_compiler_error(program, messages.data, code, d);
  hd_file f = {0};
  if (st == HD_OK && (st = hd_file_open(ptx, &f, d)) == HD_OK) {
    hd_buf_put(out, f.data, f.len);
    hd_file_close(&f);
  }
  hd_buf_free(&messages);
  hd_arena_free(&a);
  return st;
}

/* Another compiler may do. */
static bool lacks_compiler(hd_status st) { return st == HD_ERR_UNSUPPORTED || st == HD_ERR_MISSING; }

static hd_status unsupported(const toolchain *t, const char *program, unsigned arch, hd_diag *d) {
  return hd_fail(d, HD_ERR_UNSUPPORTED, "%s makes no PTX for sm_%u or below", program ? program : t->name,
                 arch);
}

/* Users pass flags and folders of headers by these variables. No key covers what lies there, so such a
 * compilation is not kept. */
static bool is_influenced(void) {
  static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH",
                                          "CPLUS_INCLUDE_PATH"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    if (value && *value) return true;
  }
  return false;
}

/* Through one program: from the cache, or built and put there. */
static hd_status compile_with(const hd_workload *w, const toolchain *t, const char *program, unsigned arch,
                              hd_buf *out, hd_diag *d) {
  hd_digest key;
  char entry[WL_PATH], scratch[WL_PATH] = "";
  hd_status st = key_of(w, t, program, arch, &key, d);
  if (st != HD_OK) return st;
  const bool kept = !is_influenced();
  wl_cache_path(key, "ptx", entry, sizeof entry);
  hd_file f;
  size_t len;
  if (kept && wl_cache_open(entry, &f, &len)) {
    hd_buf_put(out, f.data, len);
    hd_file_close(&f);
    return HD_OK;
  }
  unsigned actual;
  st = hd_scratch_make(scratch, sizeof scratch, d);
  if (st == HD_OK) st = query_arch(t, program, arch, scratch, &actual, d);
  if (st == HD_OK && !actual) st = unsupported(t, program, arch, d);
  if (st == HD_OK) st = build(w, t, program, actual, scratch, out, d);
  if (st == HD_OK && kept && !out->failed) wl_cache_store(entry, out->data, out->len);
  hd_scratch_remove(scratch);
  return st;
}

hd_status wl_compile(const hd_workload *w, unsigned arch, wl_toolchain which, hd_buf *out, hd_diag *d) {
  const toolchain *t = &TOOLCHAINS[which];
  hd_status st = hd_fail(d, HD_ERR_MISSING, "%s is not on the PATH", t->name);
  for (size_t i = 0; t->programs[i] && lacks_compiler(st); i++) {
    char program[WL_PATH];
    const char *const one[] = {t->programs[i], NULL};
    if (hd_program_find(one, program, sizeof program)) st = compile_with(w, t, program, arch, out, d);
  }
  if (st == HD_OK && out->failed) st = hd_nomem(d);
  return st;
}

/* ---- The public call -------------------------------------------------------------------------- */

static bool is_cuda(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".cu") == 0;
}

/* The module's number, where the workload names none: of the first kernel that it launches. */
static hd_status find_module(const hd_workload *w, uint64_t *number, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  uint32_t func;
  *number = w->module;
  if (w->module != UINT64_MAX || !w->n_launches) return HD_OK;
  hd_arena_init(&arena);
  hd_status st = hd_kernel_find(w->source, UINT64_MAX, w->launches[0].kernel, &arena, &m, &func, number, d);
  hd_arena_free(&arena);
  return st;
}

static hd_status read_module(const hd_workload *w, hd_container *c, hd_buf *out, hd_diag *d) {
  uint64_t number = 0;
  hd_status st = HD_OK;
  if (hd_container_get_kind(c) != HD_CONTAINER_PTX) st = find_module(w, &number, d);
  while (st == HD_OK) {
    hd_ptx_text t;
    bool more;
    st = hd_container_next(c, &t, &more, d);
    if (st != HD_OK) break;
    if (!more) return hd_fail(d, HD_ERR_INPUT, "%s: no module %llu", w->source, (unsigned long long)number);
    if (t.index != number) continue;
    hd_buf_put(out, t.data, t.len);
    return out->failed ? hd_nomem(d) : HD_OK;
  }
  return st;
}

static hd_status read_ptx(const hd_workload *w, hd_buf *out, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(w->source, &c, d);
  if (st != HD_OK) return st;
  st = read_module(w, c, out, d);
  hd_container_close(c);
  return st;
}

hd_status hd_workload_ptx(const hd_workload *w, unsigned arch, hd_buf *out, const char **compiler,
                          hd_diag *d) {
  const char *name = "ptx";
  hd_status st = HD_ERR_MISSING;
  hd_buf_clear(out);
  if (!is_cuda(w->source)) {
    st = read_ptx(w, out, d);
  } else {
    for (unsigned t = 0; t < WL_TOOLCHAINS && lacks_compiler(st); t++) {
      name = TOOLCHAINS[t].name;
      hd_buf_clear(out);
      st = wl_compile(w, arch, (wl_toolchain)t, out, d);
    }
    if (lacks_compiler(st)) {
      name = "ptx";
      hd_buf_clear(out);
      st = wl_kept_read(w, arch, out, NULL);
    }
    if (lacks_compiler(st))
      st = hd_fail(d, HD_ERR_MISSING, "%s: compiling for sm_%u needs nvcc, or clang 14 or newer, on the PATH",
                   w->source, arch);
  }
  if (compiler) *compiler = st == HD_OK ? name : NULL;
  return st;
}
