/* Products of warpgroups, which only compute capability 9.0 has: multiply-adds of f16 that an SM does in a
 * cycle. */
#include "device/probe.h"

enum {
  GROUPS = 2,
  THREADS = GROUPS * 128,
  ROUNDS = 8,
  PRODUCTS = 8,
  M = 64,
  N = 256,
  K = 16,
  REGISTERS = 128
};

/* Rounds of PRODUCTS products of the same tiles, of zeros, into the same registers: they follow each other
 * without a wait, and two groups take turns at a round's end. */
static void put_products(hd_buf *b) {
  hd_buf_puts(b,
              ".version 8.0\n.target sm_90a\n.address_size 64\n"
              ".visible .entry products(.param .u64 out, .param .u32 rounds)\n.maxntid 256, 1, 1\n{\n"
              "  .reg .pred %p, %add;\n  .reg .b32 %r<8>;\n  .reg .b64 %l<8>, %a, %b;\n  .reg .f32 %f<128>;\n"
              "  .shared .align 1024 .b8 tiles[16384];\n"
              "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, tiles;\n  ld.param.u32 %r3, [rounds];\n"
              "  shl.b32 %r4, %r1, 2;\n  mov.u32 %r5, 0;\nfill:\n  add.s32 %r6, %r2, %r4;\n"
              "  st.shared.u32 [%r6], %r5;\n  add.s32 %r4, %r4, 1024;\n  setp.lt.u32 %p, %r4, 16384;\n"
              "  @%p bra fill;\n");
  for (int i = 0; i < REGISTERS; i++) hd_buf_printf(b, "  mov.f32 %%f%d, 0f00000000;\n", i);
  /* Rows of eight lie 128 bytes apart, and the two halves of K behind all rows: A of 2 KB, B of 8. */
  hd_buf_puts(b, "  fence.proxy.async;\n  bar.sync 0;\n  shr.u32 %r6, %r2, 4;\n  cvt.u64.u32 %a, %r6;\n"
                 "  and.b64 %a, %a, 0x3fff;\n  add.s64 %b, %a, 128;\n"
                 "  or.b64 %a, %a, 0x800400000;\n  or.b64 %b, %b, 0x801000000;\n"
                 "  setp.eq.u32 %add, %r5, 0;\n  mov.u64 %l1, %clock64;\nagain:\n"
                 "  wgmma.fence.sync.aligned;\n");
  for (int i = 0; i < PRODUCTS; i++) {
    hd_buf_puts(b, "  wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {");
    for (int k = 0; k < REGISTERS; k++) hd_buf_printf(b, "%s%%f%d", k ? ", " : "", k);
    hd_buf_puts(b, "}, %a, %b, %add, 1, 1, 0, 0;\n");
  }
  hd_buf_puts(
      b, "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
         "  sub.s32 %r3, %r3, 1;\n  setp.ne.s32 %p, %r3, 0;\n  @%p bra again;\n"
         "  bar.sync 0;\n  mov.u64 %l2, %clock64;\n  sub.s64 %l2, %l2, %l1;\n  ld.param.u64 %l3, [out];\n"
         "  setp.ne.u32 %p, %r1, 0;\n  @%p bra other;\n  st.global.u64 [%l3], %l2;\nother:\n");
  for (int k = 1; k < REGISTERS; k++) hd_buf_printf(b, "  add.f32 %%f0, %%f0, %%f%d;\n", k);
  hd_buf_puts(b, "  setp.eq.f32 %p, %f0, 0f00000000;\n  @%p bra done;\n  st.global.f32 [%l3+8], %f0;\ndone:\n"
                 "  ret;\n}\n");
}

static hd_status measure(probe *p, hd_device_module *m) {
  struct {
    uint64_t out;
    uint32_t rounds;
  } args = {p->out, p->r->device.kind == HD_DEVICE_CUDA ? ROUNDS : 1};
  hd_device_launch l = {
      .kernel = "products", .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = &args, .args_bytes = 12};
  uint64_t cycles = 0, least = UINT64_MAX;
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 3; i++) { /* the first one loads the text */
    st = hd_device_run(m, &l, p->d);
    if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
    if (st == HD_OK) st = hd_device_read(p->dev, p->out, &cycles, sizeof cycles, p->d);
    if (cycles < least) least = cycles;
  }
  if (st == HD_OK && least)
    probe_figure(p, (double)M * N * K * PRODUCTS * GROUPS * args.rounds / (double)least, "per cycle",
                 "wgmma.f16");
  return st;
}

hd_status probe_wgmma(probe *p) {
  if (p->r->device.arch != 90) return HD_OK;
  hd_buf text = {0};
  hd_device_module *m = NULL;
  put_products(&text);
  hd_status st = text.failed ? hd_nomem(p->d) : HD_OK;
  if (st == HD_OK) st = hd_device_load(p->dev, text.data, text.len, "wgmma", NULL, &m, p->d);
  if (st == HD_OK) st = measure(p, m);
  hd_device_unload(m);
  hd_buf_free(&text);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
