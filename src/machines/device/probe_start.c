/* The time of a launch beside its work: of an empty kernel by its CTAs and their threads, of several launches
 * in a row, of code that was not run before, of the first load. */
#include <stdlib.h>

#include "device/probe.h"
#include "heddle/stats.h"

/* Times of a single launch, or of few, are short and scatter. */
enum { REPETITIONS = 5, MOST_REPETITIONS = 21 };

typedef struct start {
  hd_device_module *m;
  const char *kernel;
  uint32_t grid, block, launches, shared;
  uint64_t args[2];
  uint64_t flush; /* bytes of the buffer that are read before, so that L2 holds nothing that was written; 0:
                     none */
  uint64_t buffer;
} start;

static void put_kernels(hd_buf *b) {
  hd_buf_puts(
      b,
      ".version 6.0\n.target sm_60\n.address_size 64\n"
      ".visible .entry empty(.param .u64 in, .param .u64 out)\n{\n  ret;\n}\n"
      ".visible .entry loads(.param .u64 in, .param .u64 out)\n{\n"
      "  .reg .pred %p;\n  .reg .b32 %r<8>;\n  .reg .b64 %l<8>;\n"
      "  ld.param.u64 %l1, [in];\n  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
      "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  mul.wide.u32 %l2, %r4, 4;\n  add.s64 %l1, %l1, %l2;\n"
      "  ld.global.u32 %r5, [%l1];\n  setp.ne.u32 %p, %r5, 0x5eed5eed;\n  @%p bra done;\n"
      "  ld.param.u64 %l3, [out];\n  st.global.u32 [%l3], %r5;\ndone:\n  ret;\n}\n"
      ".visible .entry stores(.param .u64 in, .param .u64 out)\n{\n"
      "  .reg .b32 %r<8>;\n  .reg .b64 %l<8>;\n"
      "  ld.param.u64 %l1, [in];\n  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
      "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  mul.wide.u32 %l2, %r4, 4;\n  add.s64 %l1, %l1, %l2;\n"
      "  st.global.u32 [%l1], %r4;\n  ret;\n}\n"
      ".visible .entry straight(.param .u64 in, .param .u64 out)\n{\n"
      "  .reg .f32 %f<4>;\n  .reg .b64 %l<4>;\n  .reg .b32 %r<8>;\n  mov.u32 %r1, %tid.x;\n"
      "  cvt.rn.f32.u32 %f1, %r1;\n  mov.f32 %f2, %f1;\n");
  for (uint32_t i = 0; i < 4096; i++) hd_buf_puts(b, "  fma.rn.f32 %f2, %f2, %f1, %f1;\n");
  hd_buf_puts(b, "  ld.param.u64 %l1, [in];\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n"
                 "  mad.lo.s32 %r4, %r2, %r3, %r1;\n  mul.wide.u32 %l2, %r4, 4;\n  add.s64 %l1, %l1, %l2;\n"
                 "  st.global.f32 [%l1], %f2;\n  ret;\n}\n");
}

static hd_status run(void *ctx, hd_diag *d) {
  const start *s = ctx;
  hd_device_launch l = {.kernel = s->kernel,
                        .grid = {s->grid, 1, 1},
                        .block = {s->block, 1, 1},
                        .dynamic_shared = s->shared,
                        .args = s->args,
                        .args_bytes = sizeof s->args};
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < s->launches; i++) st = hd_device_run(s->m, &l, d);
  return st;
}

/* Fill L2 with clean lines of another buffer. */
static hd_status clean(void *ctx, hd_diag *d) {
  const start *s = ctx;
  uint64_t args[2] = {s->buffer, s->args[1]};
  hd_device_launch l = {.kernel = "loads",
                        .grid = {(uint32_t)(s->flush / 1024), 1, 1},
                        .block = {256, 1, 1},
                        .args = args,
                        .args_bytes = sizeof args};
  return s->flush ? hd_device_run(s->m, &l, d) : HD_OK;
}

static hd_status measure(probe *p, start *s, double *us) {
  hd_device_job job = {.run = run, .prepare = s->flush ? clean : NULL, .ctx = s};
  hd_timing_options o = {
      .warmups = 1, .repetitions = s->grid == 1 ? MOST_REPETITIONS : REPETITIONS, .keep_l2 = s->flush != 0};
  double all[MOST_REPETITIONS] = {0};
  if (p->r->device.kind != HD_DEVICE_CUDA) s->grid = s->grid > 4 ? 4 : s->grid;
  hd_status st = p->r->device.has_times ? hd_device_time(p->dev, &job, 1, &o, all, p->d) : run(s, p->d);
  if (st == HD_OK && !p->r->device.has_times) st = hd_device_sync(p->dev, p->d);
  *us = hd_median(all, o.repetitions);
  return st;
}

typedef struct start_row {
  const char *kernel;
  uint32_t waves, ctas, block, launches, shared; /* CTAs: of one wave of single CTAs, and more */
} start_row;

static const start_row start_rows[] = {
    {"empty", 0, 1, 32, 1, 0},     {"empty", 0, 1, 1024, 1, 0},     {"empty", 1, 0, 256, 1, 0},
    {"empty", 8, 0, 256, 1, 0},    {"empty", 64, 0, 32, 1, 0},      {"empty", 64, 0, 256, 1, 0},
    {"empty", 64, 0, 1024, 1, 0},  {"empty", 512, 0, 32, 1, 0},     {"empty", 512, 0, 256, 1, 0},
    {"empty", 512, 0, 1024, 1, 0}, {"empty", 64, 0, 256, 1, 32768}, {"empty", 0, 1, 32, 2, 0},
    {"empty", 0, 1, 32, 5, 0},     {"empty", 0, 1, 32, 20, 0},      {"empty", 8, 0, 256, 20, 0},
    {"empty", 0, 1, 32, 300, 0},   {"loads", 0, 1, 32, 1, 0},       {"loads", 1, 0, 32, 1, 0},
    {"loads", 1, 0, 256, 1, 0},    {"loads", 8, 0, 256, 1, 0},      {"loads", 64, 0, 256, 1, 0},
    {"loads", 512, 0, 256, 1, 0},  {"stores", 0, 1, 32, 1, 0},      {"stores", 8, 0, 256, 1, 0},
    {"stores", 64, 0, 256, 1, 0},  {"stores", 512, 0, 256, 1, 0},   {"straight", 0, 1, 32, 1, 0},
    {"straight", 1, 0, 32, 1, 0},
};
enum { N_START_ROWS = sizeof start_rows / sizeof *start_rows };

static hd_status measure_row(probe *p, hd_device_module *m, const start_row *row, uint64_t flush) {
  start s = {.m = m,
             .kernel = row->kernel,
             .grid = row->ctas + row->waves * p->r->device.n_sms,
             .block = row->block,
             .launches = row->launches,
             .shared = row->shared,
             .flush = flush,
             .args = {p->buffer, p->out},
             .buffer = p->buffer + p->buffer_bytes / 2};
  double us;
  if (s.flush > p->buffer_bytes / 2) s.flush = p->buffer_bytes / 2;
  hd_status st = measure(p, &s, &us);
  if (st == HD_OK && us > 0)
    probe_figure(p, us, "us", "%u x %s, %u CTAs of %u%s%s", row->launches, row->kernel, s.grid, row->block,
                 row->shared ? ", 32 KB shared" : "", flush ? ", L2 clean" : "");
  return st;
}

hd_status probe_starts(probe *p) {
  hd_buf text = {0};
  hd_device_module *m = NULL;
  put_kernels(&text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, "launches", NULL, &m, p->d);
  for (size_t i = 0; probe_may_go_on(p, st) && i < N_START_ROWS; i++)
    st = measure_row(p, m, &start_rows[i], 0);
  /* The same from an L2 that holds nothing to be written back. */
  uint64_t flush = p->r->device.kind == HD_DEVICE_CUDA ? 3 * p->r->device.l2_bytes : 0;
  for (size_t i = 0; probe_may_go_on(p, st) && flush && i < N_START_ROWS; i++)
    if (start_rows[i].block == 256 && start_rows[i].kernel[0] != 'e')
      st = measure_row(p, m, &start_rows[i], flush);
  hd_device_unload(m);
  hd_buf_free(&text);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
