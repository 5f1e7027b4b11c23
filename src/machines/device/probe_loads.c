/* The throughput of memory by the number of requests under way: streams of requests from few warps and many,
 * to L2 and to DRAM, in lines, sectors and single words; stores and atomics likewise. */
#include <stdio.h>
#include <stdlib.h>

#include "device/probe.h"
#include "heddle/stats.h"

/* Request i of warp w touches, in lane l, element (i * warps + w) * warp_step + l * lane_step of `grain`
 * bytes, modulo the footprint. Steps that are odd and large scatter the requests, each over all of it. */
typedef struct pattern {
  const char *name;
  uint32_t grain, warp_step, lane_step;
} pattern;

enum { FAR = 0x9E3779B1 }; /* odd: a permutation of any power of two */

static const pattern coalesced = {"coalesced", 4, 32, 1}, vectors = {"16 bytes a lane", 16, 32, 1},
                     lines = {"scattered lines", 4, 32 * (FAR >> 5 | 1), 1},
                     sectors = {"scattered sectors", 32, 32 * (FAR >> 5 | 1), FAR},
                     far_sectors = {"one sector a line, scattered", 128, 32 * (FAR >> 5 | 1), FAR},
                     kilobytes = {"scattered kilobytes", 32, 32 * (FAR >> 5 | 1), 1},
                     strided = {"one sector a line", 128, 32, 1},
                     own_word = {"one word a warp", 4, 32 * (FAR >> 5 | 1), 0},
                     one_word = {"one word", 4, 0, 0}, one_line = {"one line", 4, 0, 1};

typedef struct load_op {
  const char *name, *inst; /* %s: registers of the request */
  uint32_t bytes;          /* a lane's */
  bool vector, stores;
} load_op;

enum { LOAD, LOAD_L1, LOAD_V4, STORE, STORE_V4, ADD, FETCH_ADD, ADD_FLOAT, N_OPS };
static const load_op ops[N_OPS] = {
    [LOAD] = {"load", "ld.global.cg.u32 ", 4, false, false},
    [LOAD_L1] = {"load through L1", "ld.global.ca.u32 ", 4, false, false},
    [LOAD_V4] = {"load.v4", "ld.global.cg.v4.u32 ", 16, true, false},
    [STORE] = {"store", "st.global.u32 ", 4, false, true},
    [STORE_V4] = {"store.v4", "st.global.v4.u32 ", 16, true, true},
    [ADD] = {"add", "red.global.add.u32 ", 4, false, true},
    [FETCH_ADD] = {"fetch and add", "atom.global.add.u32 ", 4, false, false},
    [ADD_FLOAT] = {"add.f32", "red.global.add.f32 ", 4, false, true},
};

/* Times of a row: more where one request is under way at once, whose differences tell queue_cycles. */
enum { MOST_AT_ONCE = 8, MOST_TIMES = 15 };

static void put_access(const load_op *o, uint32_t k, hd_buf *b) {
  hd_buf_printf(b, "  %s", o->inst);
  char regs[64];
  snprintf(regs, sizeof regs, o->vector ? "{%%v%u, %%v%u, %%v%u, %%v%u}" : "%%v%u", 4 * k, 4 * k + 1,
           4 * k + 2, 4 * k + 3);
  if (o == &ops[ADD_FLOAT])
    hd_buf_printf(b, "[%%a%u], %%one;\n", k);
  else if (o == &ops[FETCH_ADD])
    hd_buf_printf(b, "%s, [%%a%u], %%v0;\n", regs, k);
  else if (o->stores)
    hd_buf_printf(b, "[%%a%u], %s;\n", k, regs);
  else
    hd_buf_printf(b, "%s, [%%a%u];\n", regs, k);
}

/* A kernel that makes `at_once` requests before it waits for any. */
static void put_kernel(const load_op *o, uint32_t at_once, hd_buf *b) {
  hd_buf_puts(
      b,
      ".version 6.0\n.target sm_60\n.address_size 64\n"
      ".visible .entry stream(.param .u64 in, .param .u64 out, .param .u64 mask, .param .u32 warp_step, "
      ".param .u32 lane_step, .param .u32 grain, .param .u32 requests)\n.maxntid 1024, 1, 1\n{\n"
      "  .reg .pred %p;\n  .reg .b32 %r<12>, %v<32>, %sum;\n  .reg .b64 %l<12>, %a<8>;\n  .reg .f32 %one;\n"
      "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
      "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  shr.u32 %r5, %r4, 5;\n  and.b32 %r6, %r4, 31;\n"
      "  mov.u32 %r7, %nctaid.x;\n  mul.lo.s32 %r7, %r7, %r2;\n  shr.u32 %r7, %r7, 5;\n"
      "  ld.param.u32 %r8, [warp_step];\n  ld.param.u32 %r9, [lane_step];\n  ld.param.u32 %r10, [grain];\n"
      "  ld.param.u32 %r11, [requests];\n  ld.param.u64 %l1, [in];\n  ld.param.u64 %l2, [mask];\n"
      "  mul.wide.u32 %l3, %r5, %r8;\n  mul.wide.u32 %l4, %r6, %r9;\n  add.s64 %l3, %l3, %l4;\n"
      "  cvt.u64.u32 %l5, %r10;\n  mul.lo.s64 %l3, %l3, %l5;\n"
      "  mul.wide.u32 %l6, %r7, %r8;\n  mul.lo.s64 %l6, %l6, %l5;\n  mov.f32 %one, 0f3f800000;\n"
      "  mov.u32 %sum, 0;\n");
  for (uint32_t k = 0; k < 4 * at_once; k++) hd_buf_printf(b, "  mov.u32 %%v%u, %%r4;\n", k);
  hd_buf_puts(b, "again:\n");
  for (uint32_t k = 0; k < at_once; k++)
    hd_buf_printf(
        b, "  and.b64 %%a%u, %%l3, %%l2;\n  add.s64 %%a%u, %%a%u, %%l1;\n  add.s64 %%l3, %%l3, %%l6;\n", k, k,
        k);
  for (uint32_t k = 0; k < at_once; k++) put_access(o, k, b);
  for (uint32_t k = 0; !o->stores && k < 4 * at_once; k++)
    if (o->vector || k % 4 == 0) hd_buf_printf(b, "  xor.b32 %%sum, %%sum, %%v%u;\n", k);
  hd_buf_printf(b,
                "  sub.s32 %%r11, %%r11, %u;\n  setp.gt.s32 %%p, %%r11, 0;\n  @%%p bra again;\n"
                "  setp.ne.u32 %%p, %%sum, 0x5eed5eed;\n  @%%p bra done;\n  ld.param.u64 %%l7, [out];\n"
                "  st.global.u32 [%%l7], %%sum;\ndone:\n  ret;\n}\n",
                at_once);
}

typedef struct load_run {
  probe *p;
  hd_device_module *m;
  uint32_t grid, block, shared;
  struct {
    uint64_t in, out, mask;
    uint32_t warp_step, lane_step, grain, requests;
  } args;
} load_run;

static hd_status run(void *ctx, hd_diag *d) {
  const load_run *r = ctx;
  hd_device_launch l = {.kernel = "stream",
                        .grid = {r->grid, 1, 1},
                        .block = {r->block, 1, 1},
                        .dynamic_shared = r->shared,
                        .args = &r->args,
                        .args_bytes = sizeof r->args};
  return hd_device_run(r->m, &l, d);
}

/* One row: warps on each SM (0: 32 on one SM alone), each with `at_once` requests under way. */
typedef struct load_row {
  uint8_t op;
  const pattern *how;
  uint32_t warps, at_once;
  bool dram;
} load_row;

static const load_row load_rows[] = {
    /* L2, by requests under way */
    {LOAD, &coalesced, 1, 1, false},
    {LOAD, &coalesced, 4, 1, false},
    {LOAD, &coalesced, 8, 1, false},
    {LOAD, &coalesced, 16, 1, false},
    {LOAD, &coalesced, 32, 1, false},
    {LOAD, &coalesced, 64, 1, false},
    {LOAD, &coalesced, 64, 4, false},
    {LOAD, &coalesced, 64, 8, false},
    {LOAD_L1, &coalesced, 64, 4, false},
    {LOAD, &coalesced, 0, 8, false},
    {LOAD, &strided, 0, 8, false},
    {LOAD_V4, &vectors, 0, 8, false},
    {LOAD_V4, &vectors, 64, 4, false},
    {LOAD, &strided, 8, 1, false},
    {LOAD, &strided, 64, 1, false},
    {LOAD, &strided, 64, 4, false},
    {LOAD_L1, &strided, 64, 4, false},
    {LOAD, &sectors, 64, 4, false},
    {LOAD_L1, &sectors, 8, 1, false},
    {LOAD_L1, &sectors, 64, 4, false},
    {LOAD, &lines, 64, 4, false},
    /* DRAM */
    {LOAD, &coalesced, 1, 1, true},
    {LOAD, &coalesced, 4, 1, true},
    {LOAD, &coalesced, 8, 1, true},
    {LOAD, &coalesced, 16, 1, true},
    {LOAD, &coalesced, 32, 1, true},
    {LOAD, &coalesced, 64, 1, true},
    {LOAD, &coalesced, 64, 2, true},
    {LOAD, &coalesced, 64, 8, true},
    {LOAD_L1, &coalesced, 64, 8, true},
    {LOAD_V4, &vectors, 16, 1, true},
    {LOAD_V4, &vectors, 64, 1, true},
    {LOAD_V4, &vectors, 64, 4, true},
    {LOAD, &coalesced, 0, 8, true},
    {LOAD_V4, &vectors, 0, 8, true},
    {LOAD, &lines, 8, 1, true},
    {LOAD, &lines, 64, 1, true},
    {LOAD, &lines, 64, 8, true},
    {LOAD, &kilobytes, 64, 2, true},
    {LOAD, &sectors, 1, 1, true},
    {LOAD, &sectors, 8, 1, true},
    {LOAD, &sectors, 64, 1, true},
    {LOAD_L1, &sectors, 64, 1, true},
    {LOAD, &far_sectors, 64, 1, true},
    {LOAD, &strided, 64, 1, true},
    {LOAD_L1, &strided, 8, 1, true},
    {LOAD_L1, &strided, 64, 1, true},
    /* Stores */
    {STORE, &coalesced, 64, 4, false},
    {STORE_V4, &vectors, 64, 4, false},
    {STORE, &strided, 64, 4, false},
    {STORE, &sectors, 64, 4, false},
    {STORE, &coalesced, 0, 4, false},
    {STORE, &strided, 0, 4, false},
    {STORE, &coalesced, 64, 4, true},
    {STORE_V4, &vectors, 64, 4, true},
    {STORE, &lines, 64, 4, true},
    {STORE, &sectors, 64, 4, true},
    {STORE, &strided, 64, 4, true},
    /* Atomics */
    {ADD, &coalesced, 64, 4, false},
    {ADD, &strided, 64, 4, false},
    {ADD, &sectors, 64, 4, false},
    {ADD, &own_word, 64, 4, false},
    {ADD, &one_word, 64, 4, false},
    {ADD, &one_line, 64, 4, false},
    {ADD, &coalesced, 0, 4, false},
    {ADD_FLOAT, &coalesced, 64, 4, false},
    {ADD_FLOAT, &sectors, 64, 4, false},
    {ADD_FLOAT, &one_word, 64, 4, false},
    {FETCH_ADD, &coalesced, 64, 1, false},
    {FETCH_ADD, &coalesced, 1, 1, false},
    {FETCH_ADD, &sectors, 64, 1, false},
    {FETCH_ADD, &one_word, 1, 1, false},
    {FETCH_ADD, &one_word, 64, 1, false},
};
enum { N_LOAD_ROWS = sizeof load_rows / sizeof *load_rows };

static uint64_t power_below(uint64_t bytes) {
  uint64_t p = 1;
  while (2 * p <= bytes) p *= 2;
  return p;
}

/* Requests of each warp: for some hundred microseconds, whatever the GPU's size. */
static uint32_t requests_of(const load_row *row, uint32_t warps, uint32_t n_sms, bool gpu) {
  uint64_t all = row->warps ? (uint64_t)n_sms << 15 : UINT64_C(1) << 17;
  if (row->how == &one_word || row->how == &one_line) all >>= 5;
  if (row->how->grain >= 32) all >>= 2;
  uint64_t n = gpu ? all / warps : 1;
  if (n > 256 && row->warps == 1) n = 256;
  n = (n + row->at_once - 1) / row->at_once * row->at_once;
  return (uint32_t)(n ? n : row->at_once);
}

static hd_status measure_row(probe *p, const load_row *row) {
  const load_op *o = &ops[row->op];
  const hd_device_info *i = &p->r->device;
  bool gpu = i->kind == HD_DEVICE_CUDA;
  uint32_t per_sm = !gpu ? 2 : row->warps ? row->warps : 32, n_sms = row->warps ? i->n_sms : 1;
  load_run r = {.p = p, .block = per_sm * HD_WARP};
  if (r.block > 1024) r.block = 1024;
  r.grid = n_sms * (per_sm * HD_WARP / r.block);
  /* So that no SM takes more than its part. */
  if (gpu && row->warps && i->shared_per_cta)
    r.shared = row->warps > 32 ? 65536 : i->shared_per_cta / 2 + 16384;
  uint64_t bytes =
      row->dram ? power_below(p->buffer_bytes) : power_below(i->l2_bytes / 3 ? i->l2_bytes / 3 : 1 << 20);
  uint32_t warps = r.grid * r.block / HD_WARP;
  r.args.in = p->buffer;
  r.args.out = p->out;
  r.args.mask = bytes - 1;
  r.args.grain = row->how->grain;
  r.args.warp_step = row->how->warp_step;
  r.args.lane_step = row->how->lane_step;
  r.args.requests = requests_of(row, warps, n_sms, gpu);
  hd_buf text = {0};
  put_kernel(o, row->at_once, &text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, o->name, NULL, &r.m, p->d);
  hd_device_job job = {.run = run, .ctx = &r};
  /* Data that fits into L2 must not be found there. */
  bool fits = (double)r.args.requests * warps * HD_WARP * row->how->grain < 4.0 * (double)i->l2_bytes;
  const bool alone = row->op == LOAD && row->how == &coalesced && row->at_once == 1;
  hd_timing_options t = {.warmups = 1,
                         .repetitions = !gpu    ? 1
                                        : alone ? MOST_TIMES
                                                : 3,
                         .keep_l2 = !row->dram || !fits};
  double us[MOST_TIMES] = {0};
  if (st == HD_OK && i->has_times) st = hd_device_time(p->dev, &job, 1, &t, us, p->d);
  if (st == HD_OK && !i->has_times) st = run(&r, p->d);
  if (st == HD_OK && !i->has_times) st = hd_device_sync(p->dev, p->d);
  const double took = hd_median(us, t.repetitions);
  double requests = (double)r.args.requests * warps;
  if (st == HD_OK && took > 0)
    probe_figure(p, requests / took, "requests per us", "%s %s %s, %s%u warps, %u at once",
                 row->dram ? "DRAM" : "L2", o->name, row->how->name, row->warps ? "" : "one SM, ", per_sm,
                 row->at_once);
  hd_device_unload(r.m);
  hd_buf_free(&text);
  return st;
}

hd_status probe_loads(probe *p) {
  hd_status st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  for (size_t i = 0; probe_may_go_on(p, st) && i < N_LOAD_ROWS; i++) st = measure_row(p, &load_rows[i]);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
