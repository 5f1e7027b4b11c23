/* Jobs on a device, one after the other: resumed, out of time, failed. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/process.h"
#include "heddle/suite.h"
#include "workload/scratch.h"

static hd_diag d;
static bool whole;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static char column_sum[] = SOURCE_DIR "/corpus/triton/column-sum-sm80", missing[] = "nosuch";

typedef struct said {
  int lines;
  char last[1024];
} said;

static void say(void *ctx, const char *line) {
  said *s = ctx;
  s->lines++;
  snprintf(s->last, sizeof s->last, "%s", line);
}

typedef struct bed {
  hd_device *device;
  hd_bench_results r;
  said said;
  hd_suite_options o;
} bed;

static void open_bed(bed *b, const char *folder) {
  const hd_device_options o = {.gpu_dir = SOURCE_DIR "/gpus"};
  *b = (bed){.r.folder = scratch_path(folder)};
  b->o = (hd_suite_options){.kernels_dir = SOURCE_DIR "/kernels",
                            .gpus_dir = SOURCE_DIR "/gpus",
                            .size = "tiny",
                            .budget = 1,
                            .threads = 1,
                            .say = say,
                            .ctx = &b->said};
  OK(hd_device_open("model:gtx580", &o, &b->device, &d));
  OK(hd_bench_prepare(b->r.folder, HD_BENCH_RESULTS, true, &d));
  hd_bench_describe(b->device, "test", &b->r.place);
}

static void close_bed(bed *b) {
  hd_bench_results_free(&b->r);
  hd_device_close(b->device);
}

static void a_workload_that_fails_has_a_row_that_says_why_and_is_tried_again(void **state) {
  bed b;
  char *names[] = {missing, column_sum};
  open_bed(&b, "failed");
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &whole, &d));
  assert_int_equal(b.said.lines, 2);
  const hd_bench_row *row = hd_bench_find(&b.r, missing, "tiny");
  assert_non_null(row);
  assert_non_null(strstr(row->failed, "there is no workload 'nosuch'"));
  assert_non_null(hd_bench_find(&b.r, column_sum, "tiny"));
  assert_string_equal(hd_bench_find(&b.r, column_sum, "tiny")->failed, "");
  b.o.resume = true;
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &whole, &d));
  assert_int_equal(b.said.lines, 3);
  assert_non_null(strstr(b.said.last, "[1/2] nosuch: "));
  close_bed(&b);
}

static void workloads_beyond_the_time_for_all_are_left_and_counted(void **state) {
  bed b;
  char *names[] = {missing, column_sum};
  open_bed(&b, "late");
  b.o.total = 1e-9;
  OK(hd_suite_tune(&b.device, names, 2, &b.o, &b.r, &whole, &d));
  assert_int_equal(b.said.lines, 1);
  assert_string_equal(b.said.last, "heddle: 2 of 2 workloads are left for --resume");
  assert_null(hd_bench_find(&b.r, column_sum, "tiny"));
  close_bed(&b);
}

static void verdicts_need_a_store(void **state) {
  bed b;
  char *names[] = {column_sum};
  open_bed(&b, "store");
  assert_int_equal(hd_suite_verify(&b.device, names, 1, 0.99, &b.o, &b.r, &whole, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "no store"));
  close_bed(&b);
}

/* ---- A second opinion ------------------------------------------------------------------------------ */

/* Lanes of a warp read down a column: renumbering the threads wins. */
static const char kernel[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry sums(.param .u64 in, .param .u64 out) {\n"
    ".reg .u64 %rd<8>; .reg .u32 %r<12>; .reg .f32 %f<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;\n"
    "mad.lo.u32 %r5, %r3, 16, %r1; mad.lo.u32 %r6, %r4, 16, %r2; mad.lo.u32 %r7, %r5, 128, %r6;\n"
    "mul.wide.u32 %rd3, %r7, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    "mov.f32 %f1, 0f00000000; mov.u32 %r8, 0;\n"
    "again: ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.u64 %rd4, %rd4, 65536;\n"
    "add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 8; @%p bra again;\n"
    "st.global.f32 [%rd5], %f1; ret;\n}\n";
static const char described[] =
    "title = \"sums\"\nsource = \"kernel.ptx\"\n[sizes.tiny]\nn = 16384\n[sizes.small]\nn = 16384\n"
    "[[buffer]]\nname = \"in\"\ntype = \"f32\"\ncount = \"8 * n\"\nfill = \"uniform(-1, 1)\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = \"n\"\n"
    "[[launch]]\nkernel = \"sums\"\ngrid = [8, 8]\nblock = [16, 16]\nargs = [\"in\", \"out\"]\n";

static char sums[4200]; /* its folder */

static bool tell(void *ctx, const char *text, size_t len) {
  hd_buf_put(ctx, text, len);
  return true;
}
static void fail_to_tell(void *ctx, const hd_diag *why) { fail_msg("%s", why->message); }

static hd_status tell_tunings(bed *b, char **names, hd_buf *told) {
  const hd_tunings t = {.like = {.kernels_dir = SOURCE_DIR "/kernels", .size = "tiny"},
                        .names = names,
                        .n = 1,
                        .device = b->device,
                        .place = b->r.place,
                        .store = b->o.store,
                        .tune = {.run = {.machine.threads = 1}, .budget = 1},
                        .most_trials = 1,
                        .how = b->o.how,
                        .told = tell,
                        .failed = fail_to_tell,
                        .ctx = told};
  return hd_suite_tunings(&t, &whole, &d);
}

static bool as_tunings; /* workers tell their results; else they have rows */

/* A worker of a pool on a model that has, for this test, a UUID. */
static void work_in_pool(const char *uuid, int fd) {
  bed b;
  char *names[] = {sums};
  open_bed(&b, "worker");
  const hd_work_how how = {.stream = fd};
  b.o.how = &how;
  snprintf(b.r.place.gpu.uuid, sizeof b.r.place.gpu.uuid, "%s", uuid);
  if (as_tunings)
    (void)tell_tunings(&b, names, NULL);
  else
    (void)hd_suite_tune(&b.device, names, 1, &b.o, &b.r, &whole, NULL);
}
static void first_worker(void *ctx, int fd) { work_in_pool("GPU-1", fd); }
static void second_worker(void *ctx, int fd) { work_in_pool("GPU-2", fd); }

/* The answer of a worker to one order, behind its hello. */
static void ask(void (*worker)(void *, int), const hd_work *w, const hd_buf *first, hd_buf *answer) {
  hd_process p;
  hd_work_hello hello;
  hd_work_answer head;
  const hd_work_order order = {.item = 0, .second = first->len > 0, .len = first->len};
  OK(hd_process_fork(worker, NULL, &p, &d));
  assert_true(hd_process_receive(p.fd, &hello, sizeof hello));
  assert_memory_equal(&hello.identity, &w->identity, sizeof w->identity);
  assert_string_equal(hello.worker.kind, w->worker.kind);
  assert_string_equal(hello.worker.unit, worker == first_worker ? "GPU-1" : "GPU-2");
  assert_true(hd_process_send(p.fd, &order, sizeof order));
  if (first->len) assert_true(hd_process_send(p.fd, first->data, first->len));
  assert_true(hd_process_receive(p.fd, &head, sizeof head));
  assert_int_equal(head.status, HD_OK);
  assert_true(hd_buf_reserve(answer, head.len + 1));
  assert_true(hd_process_receive(p.fd, answer->data, head.len));
  answer->len = head.len;
  hd_process_end(&p);
}

/* The verdict's plan becomes one that cannot be applied. */
static void spoil(hd_buf *answer) {
  static const char won[] = "\"plan\": \"", put[] = "\"plan\": \"stream=999\"";
  char *at = memmem(answer->data, answer->len, won, sizeof won - 1);
  assert_non_null(at);
  char *end = strchr(at + sizeof won - 1, '"') + 1;
  assert_true((size_t)(end - at) >= sizeof put - 1);
  memset(at, ' ', (size_t)(end - at));
  memcpy(at, put, sizeof put - 1);
}

static hd_status run_by_two(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                            void *done_ctx, hd_diag *e) {
  hd_buf first = {0}, second = {0}, none = {0};
  assert_int_equal(n, 1);
  ask(first_worker, w, &none, &first);
  assert_true(w->doubted(w->ctx, first.data, first.len));
  if (ctx) spoil(&first);
  ask(second_worker, w, &first, &second);
  hd_status st = done(done_ctx, todo[0], second.data, second.len, e);
  hd_buf_free(&first);
  hd_buf_free(&second);
  return st;
}

static bool plan_of(void *ctx, const hd_verdict *v) {
  snprintf(ctx, sizeof v->plan, "%s", v->plan);
  return true;
}

/* *plan: that the store has in the end. `told`: what is told of it; NULL: it has the row that is returned. */
static hd_bench_row tune_by_two(const char *folder, bool spoiled, char plan[512], hd_buf *told) {
  bed b;
  char *names[] = {sums};
  hd_bench_row row = {.tried = 0};
  open_bed(&b, folder);
  const hd_work_pool pool = {spoiled ? &b : NULL, run_by_two};
  const hd_work_how how = {.pool = &pool};
  b.o.how = &how;
  snprintf(b.r.place.gpu.uuid, sizeof b.r.place.gpu.uuid, "GPU-0");
  plan[0] = 0;
  as_tunings = told != NULL;
  OK(hd_store_open(":memory:", &b.o.store, &d));
  OK(told ? tell_tunings(&b, names, told) : hd_suite_tune(&b.device, names, 1, &b.o, &b.r, &whole, &d));
  as_tunings = false;
  assert_true(whole);
  if (!told) {
    row = *hd_bench_find(&b.r, sums, "tiny");
    assert_string_equal(row.failed, "");
    assert_string_equal(row.gpu.uuid, "GPU-1");
    assert_string_equal(row.second.uuid, "GPU-2");
  }
  OK(hd_store_each(b.o.store, NULL, plan_of, plan, &d));
  hd_store_close(b.o.store);
  close_bed(&b);
  return row;
}

static void a_winner_is_kept_when_it_wins_on_a_second_gpu_too(void **state) {
  char plan[512];
  scratch_write("sums/kernel.ptx", kernel);
  scratch_write("sums/workload.toml", described);
  snprintf(sums, sizeof sums, "%s", scratch_path("sums"));
  hd_bench_row row = tune_by_two("both", false, plan, NULL);
  assert_string_equal(row.plan, plan);
  assert_non_null(strstr(plan, "threads="));
  assert_true(row.speedup > 1.5 && row.second.speedup > 1.5);
  row = tune_by_two("one", true, plan, NULL);
  assert_string_equal(row.plan, "baseline");
  assert_string_equal(plan, "baseline");
  assert_true(row.speedup == 1 && row.second.speedup == 0);
  assert_ptr_equal(strstr(row.why, "measured again: "), row.why);
}

static void a_winner_that_is_told_is_measured_on_a_second_gpu_too(void **state) {
  char plan[512];
  hd_buf told = {0};
  tune_by_two("told", false, plan, &told);
  assert_non_null(strstr(plan, "threads="));
  assert_non_null(strstr(told.data, "verdict: "));
  assert_non_null(strstr(told.data, "on a second GPU, GPU-2: "));
  hd_buf_clear(&told);
  tune_by_two("told-one", true, plan, &told);
  assert_string_equal(plan, "baseline");
  assert_non_null(strstr(told.data, "verdict: the original stays"));
  hd_buf_free(&told);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a workload that fails has a row that says why, and is tried again",
                a_workload_that_fails_has_a_row_that_says_why_and_is_tried_again),
      BEHAVIOUR("workloads beyond the time for all are left and counted",
                workloads_beyond_the_time_for_all_are_left_and_counted),
      BEHAVIOUR("a winner is kept when it wins on a second GPU too",
                a_winner_is_kept_when_it_wins_on_a_second_gpu_too),
      BEHAVIOUR("a winner that is told is measured on a second GPU too",
                a_winner_that_is_told_is_measured_on_a_second_gpu_too),
      BEHAVIOUR("verdicts need a store", verdicts_need_a_store),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
