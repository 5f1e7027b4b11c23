/* Every workload on the emulator, all its checks on, against its reference: kernel, data, launch
 * and reference fit together. At its smallest size: `tiny` where there is one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "scratch.h"
#include "workload/workload.h"

#define KERNELS SOURCE_DIR "/kernels"
enum { ARCH = 90, MAX_BUFFERS = 16, MAX_PARAMS = 64 };

static hd_diag diag;

static void must(hd_status st) {
  char line[1400];
  if (st != HD_OK) fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
}

typedef struct session {
  hd_workload *w;
  hd_arena arena;
  hd_ptx_module *module;
  hd_emu *emu;
  hd_emu_program *program;
  void *host[MAX_BUFFERS]; /* what the reference works on */
  uint64_t address[MAX_BUFFERS];
} session;

static void start(session *s, const hd_buf *ptx) {
  hd_emu_options options = {.checks = HD_CHECK_ALL, .sm = ARCH};
  hd_arena_init(&s->arena);
  must(hd_ptx_parse(ptx->data, ptx->len, s->w->name, &s->arena, &s->module, &diag));
  must(hd_emu_create(&options, &s->emu, &diag));
  must(hd_emu_load(s->emu, s->module, &s->program, &diag));
  assert_true(s->w->n_buffers <= MAX_BUFFERS);
  for (uint32_t i = 0; i < s->w->n_buffers; i++) {
    const hd_wl_buffer *b = &s->w->buffers[i];
    bool written;
    s->host[i] = calloc(1, b->bytes);
    assert_non_null(s->host[i]);
    must(hd_workload_fill(s->w, i, s->host[i], &written, &diag));
    must(hd_emu_alloc(s->emu, b->bytes, &s->address[i], &diag));
    if (written) must(hd_emu_write(s->emu, s->address[i], s->host[i], b->bytes, &diag));
  }
}

static void launch(session *s, const hd_wl_launch *l) {
  uint64_t offsets[MAX_PARAMS];
  int64_t kernel = hd_ptx_find_kernel(s->module, l->kernel);
  assert_true(kernel >= 0);
  const hd_ptx_func *f = &s->module->funcs[kernel];
  assert_int_equal(f->n_params, l->n_args);
  assert_true(l->n_args <= MAX_PARAMS);
  uint64_t bytes = hd_ptx_param_layout(s->module, f, offsets);
  unsigned char *args = calloc(1, bytes + sizeof(uint64_t));
  for (uint32_t i = 0; i < l->n_args; i++) {
    const hd_wl_arg *a = &l->args[i];
    if (a->is_buffer)
      memcpy(args + offsets[i], &s->address[a->buffer], sizeof(uint64_t));
    else
      memcpy(args + offsets[i], &a->bits, hd_elem_bytes(a->type));
  }
  hd_emu_launch_params p = {
      .kernel = l->kernel, .dynamic_shared = l->dynamic_shared, .args = args, .args_bytes = bytes};
  memcpy(p.grid, l->grid, sizeof p.grid);
  memcpy(p.block, l->block, sizeof p.block);
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  must(hd_emu_launch(s->program, &p, &how, NULL, NULL, &diag));
  free(args);
}

static void compare(session *s) {
  must(hd_workload_reference(s->w, s->host, &diag));
  for (uint32_t i = 0; i < s->w->n_buffers; i++) {
    const hd_wl_buffer *b = &s->w->buffers[i];
    char what[200];
    if (b->compare == HD_COMPARE_NONE) continue;
    void *got = malloc(b->bytes);
    must(hd_emu_read(s->emu, s->address[i], got, b->bytes, &diag));
    if (!hd_elem_compare(b->type, b->compare, b->abs, b->rel, got, s->host[i], b->count, what, sizeof what))
      fail_msg("%s, buffer %s: %s", s->w->name, b->name, what);
    free(got);
  }
}

static void finish(session *s) {
  for (uint32_t i = 0; i < s->w->n_buffers; i++) free(s->host[i]);
  hd_emu_unload(s->program);
  hd_emu_destroy(s->emu);
  hd_arena_free(&s->arena);
  hd_workload_close(s->w);
}

static hd_workload *open_smallest(const char *name) {
  hd_workload *w;
  if (hd_workload_open(name, KERNELS, "tiny", &w, &diag) == HD_ERR_USAGE)
    must(hd_workload_open(name, KERNELS, "small", &w, &diag));
  assert_non_null(w);
  return w;
}

static void emulate_all(wl_toolchain t) {
  char **names;
  size_t n;
  bool missing = false;
  must(hd_workload_list(KERNELS, &names, &n, &diag));
  assert_true(n > 0);
  for (size_t i = 0; i < n && !missing; i++) {
    session s = {.w = open_smallest(names[i])};
    hd_buf ptx = {0};
    hd_status st = wl_compile(s.w, ARCH, t, &ptx, &diag);
    missing = st == HD_ERR_UNSUPPORTED;
    if (missing) {
      hd_workload_close(s.w);
      break;
    }
    must(st);
    start(&s, &ptx);
    for (uint32_t k = 0; k < s.w->n_launches; k++) launch(&s, &s.w->launches[k]);
    compare(&s);
    finish(&s);
    hd_buf_free(&ptx);
  }
  hd_workload_list_free(names, n);
  if (missing) {
    print_message("%s is not installed: its kernels are not emulated\n", wl_toolchain_name(t));
    skip();
  }
}

static void kernels_compiled_by_nvcc_compute_their_references(void **state) { emulate_all(WL_NVCC); }
static void kernels_compiled_by_clang_compute_their_references(void **state) { emulate_all(WL_CLANG); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_compiled_by_nvcc_compute_their_references),
      cmocka_unit_test(kernels_compiled_by_clang_compute_their_references),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
