/* Memory that runs out in workload/. */
#include "nomem.h"

#include "heddle/workload.h"

static hd_status open_and_fill(void *ctx, hd_diag *d) {
  hd_workload *w;
  hd_status st =
      hd_workload_open(ctx, SOURCE_DIR "/kernels", *(const char *)ctx == '/' ? "small" : "tiny", &w, d);
  if (st != HD_OK) return st;
  for (uint32_t b = 0; st == HD_OK && b < w->n_buffers; b++) {
    uint64_t bytes = w->buffers[b].count * hd_elem_bytes(w->buffers[b].type);
    void *memory = __real_malloc(bytes + 1);
    bool written;
    st = hd_workload_fill(w, b, memory, &written, d);
    free(memory);
  }
  hd_workload_close(w);
  return st;
}

static hd_status list(void *ctx, hd_diag *d) {
  char **names;
  size_t n;
  hd_status st = hd_workload_list(SOURCE_DIR "/kernels", &names, &n, d);
  if (st == HD_OK) hd_workload_list_free(names, n);
  return st;
}

static hd_status describe(void *ctx, hd_diag *d) {
  static const hd_launch_word words[] = {
      {"kernel", "total"},    {"grid", "4"},         {"block", "64"}, {"arg", "x=f32[256]=sorted(0, 1)"},
      {"arg", "f32[1]=zero"}, {"kernel", "Encrypt"}, {"arg", "x"},    {"arg", "u32[256]=each(i * 2)"},
      {"unwritten", "x"}};
  const hd_workload_request q = {
      .name = SOURCE_DIR "/tests/cli/data/own.ptx", .words = words, .n_words = sizeof words / sizeof *words};
  hd_workload *w;
  const hd_compiled *code;
  hd_status st = hd_workload_request_open(&q, &w, d);
  if (st != HD_OK) return st;
  st = hd_workload_compiled(w, 80, &code, d);
  hd_workload_close(w);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const nomem_entry cases[] = {{"list", list, NULL, false},
                                      {"words", describe, NULL, true},
                                      {"copy-col", open_and_fill, "copy-col", true},
                                      {"matmul-naive", open_and_fill, "matmul-naive", true},
                                      {"filter", open_and_fill, SOURCE_DIR "/tests/cli/data/filter", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) nomem_expect(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
