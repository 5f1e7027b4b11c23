/* Traces leave matrix products out where no access follows from them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/task_traces.h"
#include "session.h"

/* A product is an index: A is one number and B are ones, so 16 times the number is what every element holds.
 */
static const char indexed[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry indexed(.param .u64 numbers, .param .u64 out) {\n"
    " .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<5>;\n"
    " ld.param.u64 %rd1, [numbers];\n ld.param.u64 %rd2, [out];\n"
    " mov.u32 %r1, %ctaid.x;\n mul.wide.u32 %rd3, %r1, 4;\n add.s64 %rd3, %rd1, %rd3;\n"
    " ld.global.u32 %r2, [%rd3];\n"
    " mov.f32 %f1, 0f00000000;\n mov.b32 %r3, 0x3c003c00;\n"
    " mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r2, %r2, %r2},"
    " {%r3, %r3}, {%f1, %f1, %f1, %f1};\n"
    " cvt.rzi.u32.f32 %r4, %f1;\n mul.wide.u32 %rd4, %r4, 128;\n add.s64 %rd5, %rd2, %rd4;\n"
    " INSTEAD\n"
    " st.global.u32 [%rd5], %r4;\n ret;\n}\n";

static hd_workload *indexed_workload(char *folder, bool by_product) {
  char path[512];
  FILE *f;
  hd_diag d = {0};
  hd_workload *w;
  snprintf(path, sizeof path, "%s/kernel.ptx", folder);
  assert_non_null(f = fopen(path, "w"));
  const char *at = strstr(indexed, " INSTEAD\n");
  fprintf(f, "%.*s%s%s", (int)(at - indexed), indexed,
          by_product ? "" : " mul.wide.u32 %rd4, %r1, 128;\n add.s64 %rd5, %rd2, %rd4;\n",
          at + strlen(" INSTEAD\n"));
  fclose(f);
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  assert_non_null(f = fopen(path, "w"));
  fprintf(f,
          "title = \"t\"\nsource = \"kernel.ptx\"\n[sizes.tiny]\nn = 8\n[sizes.small]\nn = 16\n"
          "[[buffer]]\nname = \"numbers\"\ntype = \"f16\"\ncount = \"2 * n\"\nfill = \"each(i / 2 + 1)\"\n"
          "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = \"32 * 16 * (n + 1)\"\ncompare = \"exact\"\n"
          "[[launch]]\nkernel = \"indexed\"\ngrid = [\"n\"]\nblock = [32]\nargs = [\"numbers\", \"out\"]\n");
  fclose(f);
  if (hd_workload_open(folder, SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  return w;
}

static void add(void *ctx, const hd_trace_event *e) {
  hd_digest_bytes(ctx, &e->task, sizeof e->task);
  hd_digest_bytes(ctx, &e->warp, sizeof e->warp);
  hd_digest_bytes(ctx, &e->inst, sizeof e->inst);
  hd_digest_bytes(ctx, e->start, e->n * sizeof *e->start);
  hd_digest_bytes(ctx, e->bytes, e->n * sizeof *e->bytes);
}

/* Of all accesses of a workload's first launch, and the instructions of its tasks: with all products, or with
 * those that predict_skip_products does not leave out. */
static void trace(const hd_workload *w, bool skip, char out[HD_DIGEST_HEX], bool *stored) {
  const hd_compiled *code;
  const hd_run_options o = {.machine.threads = 1};
  hd_digest h = hd_digest_begin();
  hd_trace *t;
  hd_diag d = {0};
  runner r;
  if (hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_trace_create(w->launches[0].grid, w->launches[0].block, 1, 0, &t, &d), HD_OK);
  if (runner_open(&r, code, NULL, &o, HD_CHECK_BOUNDS, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(runner_fill(&r, &d), HD_OK);
  if (skip) predict_skip_products(code, &r);
  assert_int_equal(runner_fill(&r, &d), HD_OK);
  const hd_emu_hooks **hooks = calloc((size_t)w->n_launches + 1, sizeof *hooks);
  hooks[0] = hd_trace_hooks(t);
  const hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  if (runner_run(&r, &how, hooks, NULL, &d) != HD_OK) fail_msg("%s: %s", w->name, d.message);
  free(hooks);
  assert_int_equal(hd_trace_finish(t, &d), HD_OK);
  for (uint64_t i = 0; i < hd_trace_tasks(t); i++) {
    const uint64_t n = hd_trace_task_instructions(t, i);
    hd_digest_bytes(&h, &n, sizeof n);
  }
  assert_int_equal(hd_trace_walk(t, 0, hd_trace_tasks(t), add, &h, &d), HD_OK);
  hd_digest_hex(&h, out);
  /* Products that were left out stored other numbers. */
  h = hd_digest_begin();
  for (uint32_t i = 0; i < w->n_buffers; i++) hd_digest_bytes(&h, runner_bytes(&r, i), w->buffers[i].bytes);
  static char last[HD_DIGEST_HEX];
  char now[HD_DIGEST_HEX];
  hd_digest_hex(&h, now);
  if (stored) *stored = strcmp(last, now) != 0;
  memcpy(last, now, sizeof last);
  hd_trace_destroy(t);
  runner_close(&r);
}

/* Pages through shared memory, gathered rows, chained products, warpgroups' products, descriptors. */
static void traces_are_the_same_without_products(void **state) {
  static const char *const names[] = {
      "attention-sm80",
      "attention-sm90",
      "attention-causal-sm80",
      "attention-decode-sm80",
      "attention-decode-sm90",
      "matmul-experts-sm90",
      "matmul-sm90",
      "matmul-int8-sm80",
      "matmul-rows-sm80",

      "spmm-sm90",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[512], with[HD_DIGEST_HEX], without[HD_DIGEST_HEX];
    bool left_out;
    snprintf(path, sizeof path, "%s/corpus/triton/%s", SOURCE_DIR, names[i]);
    hd_workload *w = open_workload(path, "tiny");
    trace(w, false, with, NULL);
    trace(w, true, without, &left_out);
    if (strcmp(with, without) != 0) fail_msg("%s", names[i]);
    if (!left_out) fail_msg("%s: nothing was left out", names[i]);
    hd_workload_close(w);
  }
}

static void a_product_that_is_an_address_is_not_left_out(void **state) {
  for (unsigned by_product = 0; by_product < 2; by_product++) {
    char folder[] = "/tmp/heddle-products-XXXXXX", with[HD_DIGEST_HEX], without[HD_DIGEST_HEX];
    bool left_out;
    assert_non_null(mkdtemp(folder));
    hd_workload *w = indexed_workload(folder, by_product);
    trace(w, false, with, NULL);
    trace(w, true, without, &left_out);
    assert_string_equal(with, without);
    assert_int_equal(left_out, !by_product);
    hd_workload_close(w);
    char command[256];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("traces are the same without products", traces_are_the_same_without_products),
      BEHAVIOUR("a product that is an address is not left out", a_product_that_is_an_address_is_not_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
