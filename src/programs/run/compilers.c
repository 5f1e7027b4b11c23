/* Where machine code and its PTX are seen together: in NVRTC, when a program asks for machine code, and in
 * ptxas, which inherits this library from the program that starts it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "run/run.h"

/* ---- NVRTC ------------------------------------------------------------------------------------- */

enum { NVRTC_INTERNAL_ERROR = 11 };

typedef int get_code(run_handle program, char *code);
typedef int get_bytes(run_handle program, size_t *bytes);

/* The functions of one library. */
typedef struct nvrtc {
  get_code *cubin, *ptx;
  get_bytes *cubin_bytes, *ptx_bytes;
} nvrtc;

static bool find(void *handle, nvrtc *out) {
  static const struct {
    const char *name;
    size_t offset;
  } all[] = {{"nvrtcGetCUBIN", offsetof(nvrtc, cubin)},
             {"nvrtcGetPTX", offsetof(nvrtc, ptx)},
             {"nvrtcGetCUBINSize", offsetof(nvrtc, cubin_bytes)},
             {"nvrtcGetPTXSize", offsetof(nvrtc, ptx_bytes)}};
  bool ok = true;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    void *address = handle ? run_real_dlsym()(handle, all[k].name) : NULL;
    memcpy((char *)out + all[k].offset, &address, sizeof address);
    ok &= address != NULL;
  }
  return ok;
}

/* A program that was compiled for a GPU has both. */
static int get_cubin(const nvrtc *n, run_handle program, char *code) {
  size_t bytes, len;
  char *ptx = NULL;
  const int r = n->cubin(program, code);
  if (r == 0 && n->cubin_bytes(program, &bytes) == 0 && n->ptx_bytes(program, &len) == 0 && len > 1 &&
      (ptx = malloc(len)) && n->ptx(program, ptx) == 0)
    run_text_keep(code, bytes, ptx, len);
  free(ptx);
  return r;
}

/* The library that holds an address, loaded as it is; NULL: none, or the program itself. */
static void *holder(const void *address) {
  Dl_info of;
  return dladdr(address, &of) && of.dli_fname ? dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

__attribute__((visibility("default"))) int nvrtcGetCUBIN(run_handle program, char *code);

/* The program's own NVRTC is the one that the calling library is linked with: there may be several. */
int nvrtcGetCUBIN(run_handle program, char *code) {
  nvrtc n;
  void *caller = holder(__builtin_return_address(0));
  bool ok = find(caller, &n) && n.cubin != nvrtcGetCUBIN;
  if (!ok) ok = find(RTLD_NEXT, &n);
  if (caller) dlclose(caller);
  return ok ? get_cubin(&n, program, code) : NVRTC_INTERNAL_ERROR;
}

/* The one that was looked up first; programs that use several get the others as they are. */
static nvrtc looked_up;
static int get_looked_up(run_handle program, char *code) { return get_cubin(&looked_up, program, code); }

static void *nvrtc_front(void *address) {
  nvrtc n;
  get_code *own = nvrtcGetCUBIN, *front = get_looked_up;
  void *library = holder(address);
  const bool ok = find(library, &n) && n.cubin != own;
  if (ok && !looked_up.cubin) looked_up = n;
  if (ok && looked_up.cubin == n.cubin) memcpy(&address, &front, sizeof address);
  if (library) dlclose(library);
  return address;
}

/* ---- Both -------------------------------------------------------------------------------------- */

void *run_compiler_behind(const char *symbol, const void *caller) {
  void *library = holder(caller), *own = run_real_dlsym()(RTLD_DEFAULT, symbol),
       *address = library ? run_real_dlsym()(library, symbol) : NULL;
  if (library) dlclose(library);
  return address && address != own ? address : run_real_dlsym()(RTLD_NEXT, symbol);
}

static bool is_nvrtcs(const char *name) { return strcmp(name, "nvrtcGetCUBIN") == 0; }

bool run_is_compilers(const char *name) { return is_nvrtcs(name) || run_is_jitlinks(name); }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void run_compilers_forked(void) {
  pthread_mutex_init(&lock, NULL);
  run_links_forked();
}

void *run_compiler_front(const char *name, void *address) {
  if (!address) return NULL;
  pthread_mutex_lock(&lock);
  address = is_nvrtcs(name) ? nvrtc_front(address) : run_jitlink_front(name, address);
  pthread_mutex_unlock(&lock);
  return address;
}

/* ---- ptxas ------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 256 };

/* Options under which the machine code is no module, or computes something else than the PTX alone says. */
static bool is_other(const char *word) {
  static const char *const all[] = {"-c",    "--compile-only", "-g",           "--device-debug",
                                    "-fmad", "--fmad",         "-astoolspatch"};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    const size_t n = strlen(all[k]);
    if (strncmp(word, all[k], n) == 0 && (!word[n] || word[n] == '=')) return true;
  }
  return false;
}

static const char *value_of(const char *word, const char *next, const char *option) {
  const size_t n = strlen(option);
  if (strncmp(word, option, n) != 0) return NULL;
  return word[n] == '=' ? word + n + 1 : word[n] ? NULL : next;
}

static bool is_text(const char *path, hd_file *f) {
  if (hd_file_open(path, f, NULL) != HD_OK) return false;
  if (hd_ptx_is_text(f->data, f->len)) return true;
  hd_file_close(f);
  return false;
}

/* One file of PTX and the one that was made of it. */
static void keep(char **words, size_t n) {
  const char *out = NULL, *in = NULL;
  hd_file text, cubin;
  for (size_t k = 1; k < n; k++) {
    const char *next = k + 1 < n ? words[k + 1] : NULL, *value = value_of(words[k], next, "-o");
    if (!value) value = value_of(words[k], next, "--output-file");
    if (is_other(words[k])) return;
    if (value) out = value;
    if (value && value == next) k++;
    const size_t len = strlen(words[k]);
    if (value || words[k][0] == '-' || len < 4 || strcmp(words[k] + len - 4, ".ptx") != 0) continue;
    if (in) return;
    in = words[k];
  }
  if (!in || !out || !is_text(in, &text)) return;
  if (hd_file_open(out, &cubin, NULL) == HD_OK) {
    run_text_keep(cubin.data, cubin.len, text.data, text.len);
    hd_file_close(&cubin);
  }
  hd_file_close(&text);
}

void run_compiler_end(void) {
  enum { LINE = 1 << 16 };
  static char line[LINE];
  char *words[MOST_WORDS];
  size_t n = 0;
  if (strcmp(program_invocation_short_name, "ptxas") != 0 || !run_settings.texts[0]) return;
  FILE *f = fopen("/proc/self/cmdline", "r");
  const size_t len = f ? fread(line, 1, LINE - 1, f) : 0;
  if (f) fclose(f);
  for (size_t at = 0; at < len && n < MOST_WORDS; at += strlen(words[n++]) + 1) words[n] = line + at;
  if (n < MOST_WORDS && len < LINE - 1) keep(words, n);
}
