/* The way from an SM to L2, which loads that miss L1 may share with stores; and which loads go first in L2.
 */
#include <stdlib.h>

#include "device/probe.h"
#include "heddle/stats.h"

/* ---- Loads among stores ------------------------------------------------------------------- */

/* Cycles of a round of four loads and four stores of 32 lines each, or of only these or those, by 32 warps.
 */
static hd_status measure_mix(probe *p, bool loads, bool stores, const char *name) {
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  const uint32_t warps = gpu ? 32 : 2;
  struct {
    uint64_t in, to, cycles;
    uint32_t loads, stores, rounds;
  } args = {p->buffer, p->buffer + p->buffer_bytes / 2, p->out, loads, stores, gpu ? 64 : 2};
  double all[3];
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 4; i++) { /* the first one brings the lines into L2 */
    uint64_t cycles = 0;
    st = probe_launch_from(p, p->m_l2, "mix", 1, warps * HD_WARP, &args, 36, -1);
    if (st == HD_OK) st = hd_device_read(p->dev, p->out, &cycles, sizeof cycles, p->d);
    if (i) all[i - 1] = (double)cycles / (args.rounds * warps);
  }
  if (st == HD_OK) probe_figure(p, hd_median(all, 3), "cycles", "one SM, %s", name);
  return st;
}

/* ---- Priorities --------------------------------------------------------------------------- */

/* One thread reads a word of each line twice; *out = cycles of the second time. */
static void put_twice(const char *inst, hd_buf *b) {
  hd_buf_printf(b,
                ".version 7.4\n.target sm_80\n.address_size 64\n"
                ".visible .entry twice(.param .u64 in, .param .u64 out, .param .u32 lines)\n{\n"
                "  .reg .pred %%p;\n  .reg .b32 %%r<8>;\n  .reg .b64 %%l<8>, %%policy;\n"
                "  createpolicy.fractional.L2::evict_first.b64 %%policy, 1.0;\n"
                "  ld.param.u32 %%r1, [lines];\n  mov.u32 %%r2, 0;\n"
                "again:\n  ld.param.u64 %%l1, [in];\n  mov.u32 %%r3, 0;\n  mov.u64 %%l2, %%clock64;\n"
                "next:\n  %s;\n  setp.ne.u32 %%p, %%r4, 0;\n  @%%p bra done;\n"
                "  add.u64 %%l1, %%l1, 128;\n  add.u32 %%r3, %%r3, 1;\n  setp.lt.u32 %%p, %%r3, %%r1;\n"
                "  @%%p bra next;\n  mov.u64 %%l3, %%clock64;\n  sub.u64 %%l3, %%l3, %%l2;\n"
                "  add.u32 %%r2, %%r2, 1;\n  setp.lt.u32 %%p, %%r2, 2;\n  @%%p bra again;\n"
                "  ld.param.u64 %%l4, [out];\n  st.global.u64 [%%l4], %%l3;\ndone:\n  ret;\n}\n",
                inst);
}

typedef struct twice_row {
  const char *name, *inst;
} twice_row;

static const twice_row twice_rows[] = {
    {"ld.cg", "ld.global.cg.u32 %r4, [%l1]"},
    {"ld.L2::evict_first", "ld.global.L2::cache_hint.u32 %r4, [%l1], %policy"},
    {"ld.L1::no_allocate", "ld.global.L1::no_allocate.u32 %r4, [%l1]"},
    {"ld.L1::evict_first", "ld.global.L1::evict_first.u32 %r4, [%l1]"},
};

/* An eighth of L2, which holds nothing but others' lines before. */
static hd_status measure_twice(probe *p, const twice_row *row) {
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  hd_buf text = {0};
  hd_device_module *m = NULL;
  struct {
    uint64_t in, out;
    uint32_t lines;
  } args = {p->buffer, p->out, gpu ? (uint32_t)(p->r->device.l2_bytes / 8 / 128) : 16};
  uint64_t cycles = 0;
  put_twice(row->inst, &text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, row->name, NULL, &m, p->d);
  if (st == HD_OK) st = hd_device_set(p->dev, p->out, 0, sizeof cycles, p->d);
  if (st == HD_OK) st = p->dev->ops->flush_l2(p->dev, p->d);
  if (st == HD_OK) st = probe_launch_from(p, m, "twice", 1, 1, &args, 20, 100);
  if (st == HD_OK) st = hd_device_read(p->dev, p->out, &cycles, sizeof cycles, p->d);
  if (st == HD_OK && cycles)
    probe_figure(p, (double)cycles / args.lines, "cycles", "an eighth of L2 again, %s", row->name);
  hd_device_unload(m);
  hd_buf_free(&text);
  return st;
}

hd_status probe_l2_ways(probe *p) {
  hd_status st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  if (st == HD_OK) st = measure_mix(p, true, false, "4 loads of 32 lines past L1");
  if (st == HD_OK) st = measure_mix(p, false, true, "4 stores to 32 lines");
  if (st == HD_OK) st = measure_mix(p, true, true, "4 such loads and 4 such stores");
  for (size_t i = 0; p->r->device.arch >= 80 && i < sizeof twice_rows / sizeof *twice_rows; i++)
    if (probe_may_go_on(p, st)) st = measure_twice(p, &twice_rows[i]);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
