/* The cost of instructions: cycles from one to the next that needs its result, and instructions of an SM per
 * cycle.
 *
 * The kernels are made here, one for each row of a table: a loop over a body of one instruction again and
 * again, between two readings of the SM's clock. One warp with one chain of dependent instructions tells the
 * latency, a full CTA with several chains in each warp the throughput. */
#include <stdlib.h>
#include <string.h>

#include "device/probe.h"

enum { UNROLL = 32, CHAINS = 4, MAX_THREADS = 1024 };

/* In `inst`: $f0 is register 0 of the chain's four floats, $r and $l of 32 and 64 bits, $d double, $p a
 * predicate; $o0 is an offset, of another line in each of the body's instructions; %cf %df %cr %dr %cd %dd
 * %cl %dl hold values that the compiler does not know. `init`, where it is given, is done for each chain
 * before the clock is read. */
typedef struct unit_row {
  const char *name, *inst, *init;
  uint32_t ops;  /* instructions that count, in `inst` */
  uint32_t work; /* of a lane in each: 1, or multiply-adds */
  unsigned arch;
  uint32_t stride; /* shared and global memory: bytes from a lane's address to the next one's */
} unit_row;

#define SELF_SHARED "mov.u32 $r0, %self;"
#define SELF_GLOBAL "mov.u64 $l0, %own;"
/* A word that lanes with the same bits of `mask` name together. It is 0, so that the address stays. */
#define CONSTANT(mask)                                                                                       \
  "and.b32 %word, %me, " mask "; mov.u64 %far, constants; cvt.u32.u64 $r0, %far; "                           \
  "mad.lo.s32 $r0, %word, 4, $r0;"
/* Lines of the warp's own. */
#define OWN_LINES "shr.u32 %word, %me, 5; mul.wide.u32 $l0, %word, 1024; add.s64 $l0, $l0, %own;"

static const unit_row rows[] = {
    {"fma.f32", "fma.rn.f32 $f0, $f0, %cf, %df;", NULL, 1, 1, 0, 0},
    {"add.f32", "add.rn.f32 $f0, $f0, %cf;", NULL, 1, 1, 0, 0},
    {"fma.f16x2", "fma.rn.f16x2 $r0, $r0, %cr, %dr;", NULL, 1, 1, 0, 0},
    {"fma.f64", "fma.rn.f64 $d0, $d0, %cd, %dd;", NULL, 1, 1, 0, 0},
    {"alu.s32", "add.s32 $r0, $r0, %cr; xor.b32 $r0, $r0, %dr;", NULL, 2, 1, 0, 0},
    {"shift.s32", "shf.l.wrap.b32 $r0, $r0, %cr, %dr;", NULL, 1, 1, 0, 0},
    {"mad.s32", "mad.lo.s32 $r0, $r0, %cr, %dr;", NULL, 1, 1, 0, 0},
    {"select", "setp.lt.s32 $p0, $r0, %cr; selp.b32 $r0, %dr, $r0, $p0;", NULL, 2, 1, 0, 0},
    {"alu.s64", "add.s64 $l0, $l0, %cl; xor.b64 $l0, $l0, %dl;", NULL, 2, 1, 0, 0},
    {"mad.s64", "mad.lo.s64 $l0, $l0, %cl, %dl;", NULL, 1, 1, 0, 0},
    {"mad.wide", "mad.wide.s32 $l0, %cr, %dr, $l0; xor.b64 $l0, $l0, %dl;", NULL, 2, 1, 0, 0},
    {"ex2", "ex2.approx.ftz.f32 $f0, $f0;", NULL, 1, 1, 0, 0},
    {"rsqrt", "rsqrt.approx.ftz.f32 $f0, $f0;", NULL, 1, 1, 0, 0},
    {"sin", "sin.approx.ftz.f32 $f0, $f0;", NULL, 1, 1, 0, 0},
    {"convert", "cvt.rn.f32.s32 $f0, $r0; cvt.rzi.s32.f32 $r0, $f0;", NULL, 2, 1, 0, 0},
    {"convert.f64", "cvt.f64.f32 $d0, $f0; cvt.rn.f32.f64 $f0, $d0;", NULL, 2, 1, 0, 0},
    {"popc", "popc.b32 $r0, $r0;", NULL, 1, 1, 0, 0},
    {"div.f32", "div.rn.f32 $f0, $f0, %cf;", NULL, 1, 1, 0, 0},
    {"sqrt.f32", "sqrt.rn.f32 $f0, $f0;", NULL, 1, 1, 0, 0},
    {"div.f64", "div.rn.f64 $d0, $d0, %cd;", NULL, 1, 1, 0, 0},
    {"sqrt.f64", "sqrt.rn.f64 $d0, $d0;", NULL, 1, 1, 0, 0},
    {"div.u32", "div.u32 $r0, %cr, $r0; or.b32 $r0, $r0, %dr;", NULL, 1, 1, 0, 0},
    {"div.u64", "div.u64 $l0, %cl, $l0; or.b64 $l0, $l0, %dl;", NULL, 1, 1, 0, 0},
    {"shuffle", "shfl.sync.bfly.b32 $r0, $r0, 1, 31, -1;", NULL, 1, 1, 0, 0},
    {"vote", "setp.ne.s32 $p0, $r0, %cr; vote.sync.ballot.b32 $r0, $p0, -1;", NULL, 1, 1, 0, 0},
    {"redux", "redux.sync.add.s32 $r0, $r0, -1;", NULL, 1, 1, 80, 0},
    {"mma.f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$f0, $f1, $f2, $f3}, {%cr, %dr, %cr, %dr}, "
     "{%cr, %dr}, {$f0, $f1, $f2, $f3};",
     NULL, 1, 64, 80, 0},
    {"mma.tf32",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$f0, $f1, $f2, $f3}, {%cr, %dr, %cr, %dr}, "
     "{%cr, %dr}, {$f0, $f1, $f2, $f3};",
     NULL, 1, 32, 80, 0},
    {"shared.load", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 4},
    {"shared.load/2", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 8},
    {"shared.load/4", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 16},
    {"shared.load/8", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 32},
    {"shared.load/16", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 64},
    {"shared.load/32", "ld.shared.u32 $r0, [$r0];", SELF_SHARED, 1, 1, 0, 128},
    {"shared.load.v2", "ld.volatile.shared.v2.u32 {$r0, $r1}, [$r0];", SELF_SHARED, 1, 1, 0, 8},
    {"shared.load.v4", "ld.volatile.shared.v4.u32 {$r0, $r1, $r2, $r3}, [$r0];", SELF_SHARED, 1, 1, 0, 16},
    {"shared.store", "st.shared.u32 [%self], $r0;", SELF_SHARED, 1, 1, 0, 4},
    {"shared.store/32", "st.shared.u32 [%self], $r0;", SELF_SHARED, 1, 1, 0, 128},
    {"shared.store.v4", "st.shared.v4.u32 [%self], {$r0, $r0, $r0, $r0};", SELF_SHARED, 1, 1, 0, 16},
    {"shared.atomic", "atom.shared.add.u32 $r0, [$r0], %zero;", SELF_SHARED, 1, 1, 0, 4},
    {"shared.atomic/same", "atom.shared.add.u32 $r0, [$r0], %zero;", SELF_SHARED, 1, 1, 0, 0},
    {"l1.load", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 8},
    {"l1.load/4", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 16},
    {"l1.load/8", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 32},
    {"l1.load/16", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 64},
    {"l1.load/32", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 128},
    {"l1.load/same", "ld.global.ca.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 0},
    {"l1.load.u32", "ld.global.ca.u32 $r0, [%own]; add.s64 %own, %own, %zerol;", SELF_GLOBAL, 1, 1, 0, 8},
    {"l1.load.v4", "ld.global.ca.v2.u64 {$l0, $l1}, [$l0]; and.b64 $l2, $l2, $l1;", SELF_GLOBAL, 1, 1, 0, 16},
    {"l2.load", "ld.global.cg.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 8},
    {"l2.load/32", "ld.global.cg.u64 $l0, [$l0];", SELF_GLOBAL, 1, 1, 0, 128},
    {"global.atomic", "atom.global.add.u64 $l0, [$l0], %zerol;", SELF_GLOBAL, 1, 1, 0, 8},
    {"global.atomic/same", "atom.global.add.u64 $l0, [$l0], %zerol;", SELF_GLOBAL, 1, 1, 0, 0},
    {"global.store", "st.global.u64 [%own], %ownl;", SELF_GLOBAL, 1, 1, 0, 8},
    {"global.store/32", "st.global.u64 [%own], %ownl;", SELF_GLOBAL, 1, 1, 0, 128},
    {"constant.load", "cvt.u64.u32 $l0, $r0; ld.const.u32 $r1, [$l0]; add.s32 $r0, $r0, $r1;",
     CONSTANT("%zero"), 1, 1, 0, 0},
    {"constant.load/8", "cvt.u64.u32 $l0, $r0; ld.const.u32 $r1, [$l0]; add.s32 $r0, $r0, $r1;",
     CONSTANT("7"), 1, 1, 0, 0},
    {"fetch", "prefetch.global.L2 [$l0+$o0];", OWN_LINES, 1, 1, 0, 4},
    {"fence", "membar.gl;", NULL, 1, 1, 0, 0},
    {"fence.cta", "membar.cta;", NULL, 1, 1, 0, 0},
    {"barrier", "bar.sync 0;", NULL, 1, 1, 0, 0},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- Text ---------------------------------------------------------------------- */

/* `at`: the instruction's place in the body. */
static void put_inst(const char *inst, uint32_t chain, uint32_t at, hd_buf *b) {
  hd_buf_puts(b, "  ");
  for (const char *c = inst; *c; c++) {
    if (*c != '$') {
      hd_buf_putc(b, *c);
      continue;
    }
    char type = c[1];
    if (type == 'o')
      hd_buf_printf(b, "%u", at * 128);
    else
      hd_buf_printf(b, "%%%c%u", type, chain * 4 + (uint32_t)(c[2] - '0'));
    c += 2;
  }
  hd_buf_putc(b, '\n');
}

static const char head[] =
    "(.param .u64 clocks, .param .u64 data, .param .u64 sink, .param .u32 turns, .param .u32 one, "
    ".param .u32 zero, .param .u32 stride)\n"
    ".maxntid 1024, 1, 1\n{\n"
    "  .reg .pred %p<16>;\n  .reg .b32 %r<16>;\n  .reg .b64 %l<16>;\n  .reg .f32 %f<16>;\n  .reg .f64 "
    "%d<16>;\n"
    "  .reg .b32 %cr, %dr, %zero, %self, %me, %lane, %turns, %stride, %at, %word;\n"
    "  .reg .b64 %cl, %dl, %own, %ownl, %zerol, %t0, %t1, %out, %far;\n  .reg .f32 %cf, %df;\n"
    "  .reg .f64 %cd, %dd;\n  .reg .pred %more;\n"
    "  .shared .align 16 .b8 words[16384];\n"
    "  ld.param.u32 %cr, [one];\n  ld.param.u32 %zero, [zero];\n  ld.param.u32 %turns, [turns];\n"
    "  ld.param.u32 %stride, [stride];\n  ld.param.u64 %own, [data];\n"
    "  add.s32 %dr, %cr, 2;\n  cvt.rn.f32.u32 %cf, %cr;\n  cvt.rn.f32.u32 %df, %dr;\n"
    "  cvt.rn.f64.u32 %cd, %cr;\n  cvt.rn.f64.u32 %dd, %dr;\n  cvt.u64.u32 %cl, %cr;\n  cvt.u64.u32 %dl, "
    "%dr;\n"
    "  cvt.u64.u32 %zerol, %zero;\n  mov.u32 %me, %tid.x;\n  and.b32 %lane, %me, 31;\n"
    /* Every word of shared memory, and of the data, holds its own address. */
    "  mov.u32 %self, words;\n  mov.u32 %at, %me;\n"
    "fill:\n"
    "  setp.ge.u32 %more, %at, 4096;\n  @%more bra filled;\n"
    "  shl.b32 %word, %at, 2;\n  add.s32 %word, %word, %self;\n  st.shared.u32 [%word], %word;\n"
    "  mul.wide.u32 %far, %at, 8;\n  add.s64 %far, %far, %own;\n  st.global.u64 [%far], %far;\n"
    "  mov.u32 %word, %ntid.x;\n  add.s32 %at, %at, %word;\n  bra fill;\n"
    "filled:\n"
    "  mul.lo.s32 %lane, %lane, %stride;\n  add.s32 %self, %self, %lane;\n"
    "  cvt.u64.u32 %far, %lane;\n  add.s64 %own, %own, %far;\n  mov.u64 %ownl, %own;\n"
    "  membar.gl;\n  bar.sync 0;\n";

/* After the loop: the results are used, else nothing would be computed. */
static void put_tail(hd_buf *b, uint32_t chains) {
  hd_buf_puts(b, "  mov.u64 %t1, %clock64;\n");
  for (uint32_t k = 0; k < 4 * chains; k++)
    hd_buf_printf(b,
                  "  cvt.u64.u32 %%far, %%r%u;\n  xor.b64 %%l%u, %%l%u, %%far;\n"
                  "  mov.b32 %%word, %%f%u;\n  cvt.u64.u32 %%far, %%word;\n  xor.b64 %%l%u, %%l%u, %%far;\n"
                  "  mov.b64 %%far, %%d%u;\n  xor.b64 %%l%u, %%l%u, %%far;\n",
                  k, k, k, k, k, k, k, k, k);
  for (uint32_t k = 1; k < 4 * chains; k++) hd_buf_printf(b, "  xor.b64 %%l0, %%l0, %%l%u;\n", k);
  hd_buf_puts(b,
              "  ld.param.u64 %out, [sink];\n  mul.wide.u32 %far, %me, 8;\n  add.s64 %out, %out, %far;\n"
              "  st.global.u64 [%out], %l0;\n"
              "  ld.param.u64 %out, [clocks];\n  mul.wide.u32 %far, %me, 16;\n  add.s64 %out, %out, %far;\n"
              "  st.global.u64 [%out], %t0;\n  st.global.u64 [%out+8], %t1;\n  ret;\n}\n");
}

static void put_kernel(const unit_row *row, uint32_t chains, hd_buf *b) {
  hd_buf_printf(b,
                ".version %s\n.target %s\n.address_size 64\n.const .align 4 .b8 constants[32];\n"
                ".visible .entry measure",
                row->arch ? "7.0" : "6.0", row->arch ? "sm_80" : "sm_60");
  hd_buf_puts(b, head);
  for (uint32_t k = 0; k < 4 * chains; k++)
    hd_buf_printf(b,
                  "  add.s32 %%r%u, %%me, %u;\n  cvt.u64.u32 %%l%u, %%r%u;\n  cvt.rn.f32.u32 %%f%u, %%r%u;\n"
                  "  cvt.rn.f64.u32 %%d%u, %%r%u;\n",
                  k, k + 3, k, k, k, k, k, k);
  for (uint32_t k = 0; row->init && k < chains; k++) put_inst(row->init, k, 0, b);
  hd_buf_puts(b, "  mov.u64 %t0, %clock64;\nagain:\n");
  for (uint32_t i = 0; i < UNROLL; i++)
    for (uint32_t k = 0; k < chains; k++) put_inst(row->inst, k, i * chains + k, b);
  hd_buf_puts(b, "  sub.s32 %turns, %turns, 1;\n  setp.ne.s32 %more, %turns, 0;\n  @%more bra again;\n");
  put_tail(b, chains);
}

/* ---- Measuring -------------------------------------------------------------------- */

typedef struct unit_run {
  const unit_row *row;
  uint32_t chains, threads, turns;
  double cycles; /* answer: from the first warp's start to the last one's end */
} unit_run;

static hd_status run_kernel(probe *p, hd_device_module *m, unit_run *u) {
  struct {
    uint64_t clocks, data, sink;
    uint32_t turns, one, zero, stride;
  } args = {.clocks = p->buffer,
            .data = p->buffer + (1 << 16),
            .sink = p->buffer + (1 << 17),
            .turns = u->turns,
            .one = 1,
            .stride = u->row->stride};
  hd_device_launch l = {.kernel = "measure",
                        .grid = {1, 1, 1},
                        .block = {u->threads, 1, 1},
                        .args = &args,
                        .args_bytes = sizeof args};
  uint64_t clocks[MAX_THREADS][2], first = UINT64_MAX, last = 0;
  hd_status st = HD_OK;
  u->cycles = 0;
  for (uint32_t i = 0; st == HD_OK && i < 3; i++) { /* the first one loads the text */
    st = hd_device_run(m, &l, p->d);
    if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
    if (st == HD_OK) st = hd_device_read(p->dev, args.clocks, clocks, (uint64_t)u->threads * 16, p->d);
    first = UINT64_MAX, last = 0;
    for (uint32_t t = 0; st == HD_OK && t < u->threads; t++) {
      if (clocks[t][0] < first) first = clocks[t][0];
      if (clocks[t][1] > last) last = clocks[t][1];
    }
    double cycles = (double)(last - first);
    if (!i || cycles < u->cycles) u->cycles = cycles;
  }
  return st;
}

static hd_status measure(probe *p, unit_run *u) {
  hd_buf text = {0};
  hd_device_module *m = NULL;
  put_kernel(u->row, u->chains, &text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, u->row->name, NULL, &m, p->d);
  if (st == HD_OK) st = run_kernel(p, m, u);
  hd_device_unload(m);
  hd_buf_free(&text);
  return st;
}

static hd_status measure_row(probe *p, const unit_row *row) {
  bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  unit_run one = {.row = row, .chains = 1, .threads = HD_WARP, .turns = gpu ? 32 : 1};
  unit_run all = {
      .row = row, .chains = CHAINS, .threads = gpu ? MAX_THREADS : HD_WARP, .turns = gpu ? 16 : 1};
  hd_status st = measure(p, &one);
  if (st == HD_OK) st = measure(p, &all);
  if (st != HD_OK) return st;
  double chain = (double)one.turns * UNROLL * row->ops, done = (double)all.turns * UNROLL * row->ops * CHAINS;
  probe_figure(p, one.cycles / chain, "cycles", "%s latency", row->name);
  probe_figure(p, done * all.threads * row->work / all.cycles, "per cycle", "%s", row->name);
  return HD_OK;
}

/* The time of a barrier in a CTA of so many warps. */
static hd_status measure_barriers(probe *p) {
  const unit_row *row = &rows[N_ROWS - 1];
  bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  hd_status st = HD_OK;
  for (uint32_t warps = 1; st == HD_OK && warps <= (gpu ? 32 : 2); warps *= 2) {
    unit_run u = {.row = row, .chains = 1, .threads = warps * HD_WARP, .turns = gpu ? 32 : 1};
    st = measure(p, &u);
    probe_figure(p, u.cycles / (u.turns * UNROLL), "cycles", "barrier of %u warps", warps);
  }
  return st;
}

hd_status probe_units(probe *p) {
  hd_status st = HD_OK;
  for (size_t i = 0; probe_may_go_on(p, st) && i < N_ROWS; i++)
    if (p->r->device.arch >= rows[i].arch) st = measure_row(p, &rows[i]);
  if (probe_may_go_on(p, st)) st = measure_barriers(p);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
