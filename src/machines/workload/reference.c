/* reference.c: built as a shared library, loaded, one of its two functions called once. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <heddle_reference.h>

#include "heddle/process.h"
#include "workload/workload.h"

enum { BUILD_SECONDS = 120 };

static const char *const COMPILERS[] = {"cc", "gcc", "clang", NULL};
/* No contraction into multiply-adds: a reference's results must not depend on the host. */
static const char *const FLAGS[] = {"-shared", "-fPIC", "-std=gnu17", "-O2", "-ffp-contract=off", NULL};

static const wl_header *const HEADERS[] = {&wl_heddle_reference_h, &wl_heddle_inputs_h};
enum { N_HEADERS = sizeof HEADERS / sizeof *HEADERS };

/* ---- Building ------------------------------------------------------------------------- */

static hd_status build(const char *source, const char *compiler, const char *scratch, const char *library,
                       hd_diag *d) {
  hd_arena a;
  hd_arena_init(&a);
  const char *argv[16] = {compiler};
  size_t n = 1;
  for (size_t i = 0; FLAGS[i]; i++) argv[n++] = FLAGS[i];
  argv[n++] = "-I";
  argv[n++] = scratch;
  argv[n++] = "-o";
  argv[n++] = library;
  argv[n++] = source[0] == '-' ? hd_arena_printf(&a, "./%s", source) : source;
  argv[n++] = "-lm";
  hd_buf messages = {0};
  int code = 0;
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < N_HEADERS; i++) st = wl_header_write(HEADERS[i], scratch, d);
  if (st == HD_OK) st = hd_program_run(argv, scratch, BUILD_SECONDS, &messages, &code, d);
  if (st == HD_OK && code != 0) st = wl_compiler_error(compiler, messages.data, code, d);
  hd_buf_free(&messages);
  hd_arena_free(&a);
  return st;
}

static void *load(const char *library) { return dlopen(library, RTLD_NOW | RTLD_LOCAL); }

/* Build in `scratch`, keep a sealed copy in the cache, load the one built. */
static hd_status build_and_load(const char *source, const char *compiler, const char *entry,
                                const char *scratch, void **handle, hd_diag *d) {
  char library[WL_PATH + 32];
  snprintf(library, sizeof library, "%s/reference.so", scratch);
  hd_status st = build(source, compiler, scratch, library, d);
  if (st != HD_OK) return st;
  hd_file f;
  if (hd_file_open(library, &f, NULL) == HD_OK) {
    wl_cache_store(entry, f.data, f.len);
    hd_file_close(&f);
  }
  *handle = load(library);
  return *handle ? HD_OK
                 : hd_fail(d, HD_ERR_IO, "%s: cannot load what was built of it: %s", source, dlerror());
}

static hd_status open_reference(const char *source, void **handle, hd_diag *d) {
  char compiler[WL_PATH], entry[WL_PATH], scratch[WL_PATH] = "";
  if (!hd_program_find(COMPILERS, compiler, sizeof compiler))
    return hd_fail_because(d, HD_ERR_MISSING, "no C compiler is on the PATH (cc, gcc or clang)", "%s",
                           source);
  hd_digest key = hd_digest_begin();
  for (size_t i = 0; FLAGS[i]; i++) hd_digest_text(&key, FLAGS[i]);
  for (size_t i = 0; i < N_HEADERS; i++) hd_digest_bytes(&key, HEADERS[i]->text, HEADERS[i]->len);
  wl_hash_compiler(&key, compiler);
  hd_status st = wl_hash_source(&key, source, false, d);
  if (st != HD_OK) return st;
  wl_cache_path(key, "so", entry, sizeof entry);
  hd_file f;
  size_t len;
  if (wl_cache_open(entry, &f, &len)) {
    hd_file_close(&f);
    if ((*handle = load(entry)) != NULL) return HD_OK; /* else a cache on a noexec mount */
  }
  st = hd_scratch_make(scratch, sizeof scratch, d);
  if (st == HD_OK) st = build_and_load(source, compiler, entry, scratch, handle, d);
  hd_scratch_remove(scratch);
  return st;
}

/* ---- Calling --------------------------------------------------------------------------------- */

typedef struct reference_call {
  heddle_args args;
  jmp_buf back;
  char message[256];
} reference_call;

static void failed(const heddle_args *args, const char *message) {
  reference_call *c = args->host;
  snprintf(c->message, sizeof c->message, "%s", message);
  longjmp(c->back, 1);
}

typedef void reference_fn(const heddle_args *);

static hd_status call(reference_fn *fn, reference_call *c, const char *source, hd_diag *d) {
  if (setjmp(c->back)) return hd_fail_at(d, HD_ERR_INPUT, source, NULL, 0, 0, "%s", c->message);
  fn(&c->args);
  return HD_OK;
}

static hd_status prepare(const hd_workload *w, void *const *buffers, hd_arena *a, reference_call *c,
                         hd_diag *d) {
  wl_names sizes = ((const wl_private *)w->priv)->sizes;
  heddle_buffer *b = HD_NEW_N(a, w->n_buffers, heddle_buffer);
  heddle_size *s = HD_NEW_N(a, sizes.n, heddle_size);
  if (!b || !s) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_buffers; i++)
    b[i] = (heddle_buffer){w->buffers[i].name, hd_elem_name(w->buffers[i].type), w->buffers[i].count,
                           buffers[i]};
  for (size_t i = 0; i < sizes.n; i++) s[i] = (heddle_size){sizes.data[i].name, sizes.data[i].value};
  c->args = (heddle_args){b, s, w->n_buffers, sizes.n, failed, c};
  return HD_OK;
}

static hd_status run(const hd_workload *w, const char *entry, void *const *buffers, hd_diag *d) {
  void *handle = NULL;
  hd_status st = open_reference(w->reference, &handle, d);
  if (!handle) return st;
  hd_arena a;
  hd_arena_init(&a);
  reference_call c;
  void *symbol = dlsym(handle, entry);
  reference_fn *fn;
  memcpy(&fn, &symbol, sizeof fn); /* ISO C has no conversion from object to function pointers */
  if (!fn)
    st = hd_fail_at(d, HD_ERR_INPUT, w->reference, NULL, 0, 0, "does not define void %s(const heddle_args *)",
                    entry);
  else if ((st = prepare(w, buffers, &a, &c, d)) == HD_OK)
    st = call(fn, &c, w->reference, d);
  hd_arena_free(&a);
  dlclose(handle);
  return st;
}

hd_status hd_workload_reference(const hd_workload *w, void *const *buffers, hd_diag *d) {
  if (!w->reference) return hd_fail(d, HD_ERR_UNSUPPORTED, "workload '%s' has no reference", w->name);
  return run(w, "heddle_reference", buffers, d);
}

hd_status wl_run_generator(const hd_workload *w, void *const *buffers, hd_diag *d) {
  return run(w, "heddle_generate", buffers, d);
}
