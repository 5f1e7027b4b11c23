/* The ways through an SM's L1: what stores keep it busy for beside loads, and how far a prefetch brings a
 * line. */
#include <string.h>

#include "device/probe.h"

enum {
  THREADS = 1024,
  WARPS = THREADS / HD_WARP,
  ROUNDS = 64,
  ACCESS = HD_WARP * 128, /* bytes that an access of 32 lines spans */
  LOADED = 64 << 10,      /* bytes that loads cover, less than any L1 that is asked for whole */
  STORED = 512 << 10,
};

/* ---- Loads that hit, and stores --------------------------------------------------------- */

/* Rounds of 4 loads, and of 4 stores where there are any; each lane has a line of its own. */
static void put_rounds(const char *name, bool stores, hd_buf *b) {
  hd_buf_printf(
      b,
      ".visible .entry %s(.param .u64 in, .param .u64 to, .param .u64 out, .param .u32 rounds, "
      ".param .u32 within)\n.maxntid 1024, 1, 1\n{\n"
      "  .reg .pred %%p;\n  .reg .b32 %%r<16>, %%v<4>, %%sum;\n  .reg .b64 %%l<16>;\n"
      "  ld.param.u64 %%l1, [in];\n  ld.param.u64 %%l2, [to];\n  ld.param.u32 %%r1, [rounds];\n"
      "  ld.param.u32 %%r2, [within];\n  mov.u32 %%r3, %%tid.x;\n  and.b32 %%r4, %%r3, 31;\n"
      "  mul.wide.u32 %%l3, %%r4, 128;\n  add.s64 %%l1, %%l1, %%l3;\n  add.s64 %%l2, %%l2, %%l3;\n"
      "  shr.u32 %%r5, %%r3, 5;\n  mul.lo.s32 %%r6, %%r5, %d;\n  and.b32 %%r7, %%r6, %%r2;\n"
      "  and.b32 %%r8, %%r6, %d;\n  mov.u32 %%sum, 0;\n  bar.sync 0;\n  mov.u64 %%l4, %%clock64;\nagain:\n",
      name, 8 * ACCESS, STORED - 1);
  for (int i = 0; i < 4; i++)
    hd_buf_printf(
        b,
        "  cvt.u64.u32 %%l5, %%r7;\n  add.s64 %%l5, %%l5, %%l1;\n  ld.global.ca.u32 %%v%d, [%%l5];\n"
        "  add.s32 %%r7, %%r7, %d;\n  and.b32 %%r7, %%r7, %%r2;\n",
        i, ACCESS);
  for (int i = 0; stores && i < 4; i++)
    hd_buf_printf(b,
                  "  cvt.u64.u32 %%l5, %%r8;\n  add.s64 %%l5, %%l5, %%l2;\n  st.global.u32 [%%l5], %%r1;\n"
                  "  add.s32 %%r8, %%r8, %d;\n  and.b32 %%r8, %%r8, %d;\n",
                  ACCESS, STORED - 1);
  for (int i = 0; i < 4; i++) hd_buf_printf(b, "  add.s32 %%sum, %%sum, %%v%d;\n", i);
  hd_buf_puts(
      b, "  sub.s32 %r1, %r1, 1;\n  setp.ne.s32 %p, %r1, 0;\n  @%p bra again;\n"
         "  bar.sync 0;\n  mov.u64 %l6, %clock64;\n  sub.s64 %l6, %l6, %l4;\n  ld.param.u64 %l7, [out];\n"
         "  setp.ne.u32 %p, %sum, 0x5eed5eed;\n  @%p bra counted;\n  st.global.u32 [%l7+8], %sum;\n"
         "counted:\n  setp.ne.u32 %p, %r3, 0;\n  @%p bra done;\n  st.global.u64 [%l7], %l6;\ndone:\n"
         "  ret;\n}\n");
}

static const char rounds_loads[] = "loads", rounds_both[] = "both";

/* Cycles of an SM for a round of one warp. */
static hd_status measure_rounds(probe *p, hd_device_module *m, const char *kernel, const char *name) {
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  uint32_t loaded = LOADED, rounds = gpu ? ROUNDS : 1;
  while (loaded > ACCESS && 2ull * loaded > p->r->l1_bytes[0]) loaded /= 2;
  struct {
    uint64_t in, to, out;
    uint32_t rounds, within;
  } args = {p->buffer, p->buffer + (1 << 20), p->out, rounds, loaded - 1};
  hd_device_launch l = {.kernel = kernel,
                        .grid = {1, 1, 1},
                        .block = {gpu ? THREADS : HD_WARP, 1, 1},
                        .args = &args,
                        .args_bytes = sizeof args,
                        .has_carveout = true}; /* 0%: as much L1 as there is */
  uint64_t cycles = 0, least = UINT64_MAX;
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 3; i++) {
    st = hd_device_run(m, &l, p->d);
    if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
    if (st == HD_OK) st = hd_device_read(p->dev, p->out, &cycles, sizeof cycles, p->d);
    if (cycles < least) least = cycles;
  }
  if (st == HD_OK) probe_figure(p, (double)least / rounds / (gpu ? WARPS : 1), "cycles", "%s", name);
  return st;
}

/* ---- A load behind a prefetch --------------------------------------------------------------- */

/* A warp fetches a line, waits until it must be there, and loads it: 64 lines, and the sum of the loads'
 * cycles. */
static void put_after(const char *name, const char *fetch, hd_buf *b) {
  hd_buf_printf(
      b,
      ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 rounds, .param .u32 wait)\n{\n"
      "  .reg .pred %%p;\n  .reg .b32 %%r<8>;\n  .reg .b64 %%l<16>;\n"
      "  ld.param.u64 %%l1, [in];\n  ld.param.u32 %%r1, [rounds];\n  ld.param.u32 %%r2, [wait];\n"
      "  cvt.u64.u32 %%l2, %%r2;\n  mov.u32 %%r3, %%tid.x;\n  mul.wide.u32 %%l3, %%r3, 4;\n"
      "  add.s64 %%l1, %%l1, %%l3;\n  mov.u64 %%l4, 0;\nagain:\n  %s\n  mov.u64 %%l5, %%clock64;\nwaiting:\n"
      "  mov.u64 %%l6, %%clock64;\n  sub.s64 %%l6, %%l6, %%l5;\n  setp.lt.u64 %%p, %%l6, %%l2;\n"
      "  @%%p bra waiting;\n  mov.u64 %%l7, %%clock64;\n  ld.global.ca.u32 %%r4, [%%l1];\n"
      /* The words are 0: the branch, never taken, waits for the load. */
      "  setp.ne.u32 %%p, %%r4, 0;\n  @%%p bra done;\n  mov.u64 %%l8, %%clock64;\n  sub.s64 %%l8, %%l8, "
      "%%l7;\n"
      "  add.s64 %%l4, %%l4, %%l8;\n  add.s64 %%l1, %%l1, 1024;\n  sub.s32 %%r1, %%r1, 1;\n"
      "  setp.ne.s32 %%p, %%r1, 0;\n  @%%p bra again;\n  setp.ne.u32 %%p, %%r3, 0;\n  @%%p bra done;\n"
      "  ld.param.u64 %%l9, [out];\n  st.global.u64 [%%l9], %%l4;\ndone:\n  ret;\n}\n",
      name, fetch);
}

static const struct after_row {
  const char *kernel, *fetch, *name;
} after_rows[] = {
    {"after_nothing", "", "load of a line of L2"},
    {"after_l2", "prefetch.global.L2 [%l1];", "load of a line of L2 after prefetch.global.L2"},
    {"after_l1", "prefetch.global.L1 [%l1];", "load of a line of L2 after prefetch.global.L1"},
};
enum { N_AFTER_ROWS = sizeof after_rows / sizeof *after_rows };

static hd_status measure_after(probe *p, hd_device_module *m, const struct after_row *row) {
  struct {
    uint64_t in, out;
    uint32_t rounds, wait;
  } args = {p->buffer, p->out, ROUNDS, p->r->device.kind == HD_DEVICE_CUDA ? 1000 : 10};
  hd_device_launch l = {.kernel = row->kernel,
                        .grid = {1, 1, 1},
                        .block = {HD_WARP, 1, 1},
                        .args = &args,
                        .args_bytes = sizeof args,
                        .has_carveout = true};
  uint64_t cycles = 0;
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 2; i++) { /* the first one brings the lines into L2 */
    st = hd_device_run(m, &l, p->d);
    if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
  }
  if (st == HD_OK) st = hd_device_read(p->dev, p->out, &cycles, sizeof cycles, p->d);
  if (st == HD_OK) probe_figure(p, (double)cycles / ROUNDS, "cycles", "%s", row->name);
  return st;
}

/* ---- Both -------------------------------------------------------------------------------------- */

hd_status probe_ways(probe *p) {
  hd_buf text = {0};
  hd_device_module *m = NULL;
  hd_buf_puts(&text, ".version 6.0\n.target sm_60\n.address_size 64\n");
  put_rounds(rounds_loads, false, &text);
  put_rounds(rounds_both, true, &text);
  for (size_t i = 0; i < N_AFTER_ROWS; i++) put_after(after_rows[i].kernel, after_rows[i].fetch, &text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_set(p->dev, p->buffer, 0, 2 << 20, p->d);
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, "L1's ways", NULL, &m, p->d);
  if (st == HD_OK) st = measure_rounds(p, m, rounds_loads, "4 loads that hit, 32 lines each");
  if (st == HD_OK) st = measure_rounds(p, m, rounds_both, "4 loads that hit and 4 stores, 32 lines each");
  for (size_t i = 0; probe_may_go_on(p, st) && i < N_AFTER_ROWS; i++)
    st = measure_after(p, m, &after_rows[i]);
  hd_device_unload(m);
  hd_buf_free(&text);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
