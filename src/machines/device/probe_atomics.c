/* The cost of queues of tasks in L2: looking at many lines, and adding to one. */
#include <math.h>

#include "device/probe.h"
#include "heddle/stats.h"

enum { LINE = 128 };

/* A warp looks at a word of every SM's line, 32 at a time, as a worker does that searches for tasks. The
 * first two rounds are not timed. *out = cycles of the others. */
static void put_look(unsigned arch, hd_buf *b) {
  hd_buf_printf(
      b,
      ".version 6.0\n.target %s\n.address_size 64\n"
      ".visible .entry look(.param .u64 in, .param .u64 out, .param .u32 lines, .param .u32 rounds)\n{\n"
      "  .reg .pred %%p;\n  .reg .b32 %%r<12>;\n  .reg .b64 %%l<8>;\n"
      "  ld.param.u64 %%l1, [in];\n  ld.param.u32 %%r1, [lines];\n  ld.param.u32 %%r2, [rounds];\n"
      "  add.u32 %%r2, %%r2, 2;\n  mov.u32 %%r3, %%tid.x;\n  mov.u32 %%r4, 0;\n  mov.u32 %%r11, 0x5eed5eed;\n"
      "  mov.u32 %%r9, %%smid;\n  add.u32 %%r9, %%r9, 1;\n  rem.u32 %%r9, %%r9, %%r1;\n"
      "  mov.u64 %%l3, %%clock64;\n"
      "round:\n  setp.ne.u32 %%p, %%r4, 2;\n  @%%p bra begun;\n  mov.u64 %%l3, %%clock64;\n"
      "begun:\n  mov.u32 %%r6, %%r3;\n  add.u32 %%r10, %%r3, %%r9;\n"
      /* Queues are a ring, which begins behind the SM's own. */
      "look:\n  setp.ge.u32 %%p, %%r10, %%r1;\n  @%%p sub.u32 %%r10, %%r10, %%r1;\n"
      "  setp.lt.u32 %%p, %%r6, %%r1;\n  mul.wide.u32 %%l2, %%r10, 128;\n  add.u64 %%l2, %%l2, %%l1;\n"
      "  mov.u32 %%r7, -1;\n  @%%p ld.%s.global.u32 %%r7, [%%l2];\n"
      "  setp.eq.u32 %%p, %%r7, %%r11;\n  vote.sync.ballot.b32 %%r8, %%p, -1;\n"
      "  setp.ne.u32 %%p, %%r8, 0;\n  @%%p bra done;\n"
      "  add.u32 %%r10, %%r10, 32;\n  add.u32 %%r6, %%r6, 32;\n"
      "  setp.lt.u32 %%p, %%r6, %%r1;\n  vote.sync.any.pred %%p, %%p, -1;\n  @%%p bra look;\n"
      "  add.u32 %%r4, %%r4, 1;\n  setp.lt.u32 %%p, %%r4, %%r2;\n  @%%p bra round;\n"
      "  mov.u64 %%l4, %%clock64;\n"
      "  setp.ne.u32 %%p, %%r3, 0;\n  @%%p bra done;\n  sub.u64 %%l4, %%l4, %%l3;\n"
      "  ld.param.u64 %%l5, [out];\n  st.global.u64 [%%l5], %%l4;\ndone:\n  ret;\n}\n",
      arch >= 70 ? "sm_70" : "sm_60", arch >= 70 ? "relaxed.gpu" : "volatile");
}

static hd_status measure_look(probe *p) {
  hd_buf text = {0};
  hd_device_module *m = NULL;
  struct {
    uint64_t in, out;
    uint32_t lines, rounds;
  } args = {p->buffer, p->out, p->r->device.n_sms, p->r->device.kind == HD_DEVICE_CUDA ? 8 : 1};
  hd_device_launch l = {.kernel = "look",
                        .grid = {1, 1, 1},
                        .block = {HD_WARP, 1, 1},
                        .args = &args,
                        .args_bytes = sizeof args};
  double cycles[5];
  put_look(p->r->device.arch, &text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, "looks", NULL, &m, p->d);
  for (int i = 0; i < 5; i++) {
    uint64_t got = 0;
    if (st == HD_OK) st = hd_device_run(m, &l, p->d);
    if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
    if (st == HD_OK) st = hd_device_read(p->dev, p->out, &got, sizeof got, p->d);
    cycles[i] = (double)got;
  }
  const uint32_t looks = args.rounds * ((args.lines + HD_WARP - 1) / HD_WARP);
  if (st == HD_OK) probe_figure(p, hd_median(cycles, 5) / looks, "cycles", "L2, a look at 32 lines");
  hd_device_unload(m);
  hd_buf_free(&text);
  return st;
}

/* ---- One word ----------------------------------------------------------------------------- */

typedef struct adding {
  probe *p;
  uint32_t grid;
  struct {
    uint64_t word, out;
    uint32_t rounds;
  } args;
} adding;

static hd_status add(void *ctx, hd_diag *d) {
  const adding *a = ctx;
  hd_device_launch l = {.kernel = "add_to_one",
                        .grid = {a->grid, 1, 1},
                        .block = {256, 1, 1},
                        .args = &a->args,
                        .args_bytes = 20};
  return hd_device_run(a->p->m_l2, &l, d);
}

/* All warps of all SMs. The difference of two runs is without the launch. */
static hd_status measure_additions(probe *p) {
  enum { FEW = 8, MANY = 40, TIMES = 5 };
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  adding a = {.p = p, .grid = (gpu ? 8 : 1) * p->r->device.n_sms, .args = {p->buffer, p->out, FEW}}, b = a;
  b.args.rounds = MANY;
  if (!p->r->device.has_times) {
    hd_status st = add(&a, p->d);
    return st == HD_OK ? hd_device_sync(p->dev, p->d) : st;
  }
  const hd_device_job jobs[2] = {{.run = add, .ctx = &a}, {.run = add, .ctx = &b}};
  const hd_timing_options o = {.warmups = 1, .repetitions = TIMES, .keep_l2 = true};
  double us[2 * TIMES];
  hd_status st = hd_device_time(p->dev, jobs, 2, &o, us, p->d);
  if (st != HD_OK) return st;
  const double longer = hd_median(us + TIMES, TIMES) - hd_median(us, TIMES);
  if (longer > 0)
    probe_figure(p, (MANY - FEW) * 8.0 * a.grid / longer, "requests per us", "L2 add one word, by one lane");
  return HD_OK;
}

hd_status probe_atomics(probe *p) {
  hd_status st = hd_device_set(p->dev, p->buffer, 0, (uint64_t)LINE * (p->r->device.n_sms + 1), p->d);
  if (st == HD_OK) st = measure_look(p);
  if (probe_may_go_on(p, st)) st = measure_additions(p);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
