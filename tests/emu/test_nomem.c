/* Memory that runs out in emu/. */
#include "nomem.h"

#include "heddle/emu.h"

static const char *const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 word;\n"
    ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
    ".shared .b32 s[64];\n.local .b32 mine[4];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\nshl.b32 %r3, %r1, 2;\nmov.u32 %r4, s;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 "
    "[%r4], %r1;\n"
    "st.local.u32 [mine], %r1;\nbar.sync 0;\nsetp.lt.u32 %p1, %r1, 7;\n@%p1 bra M;\n{\n.reg .b32 x;\n"
    "call (x), f, (%r1);\nmov.b32 %r1, x;\n}\nM:\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r5, %r2, 64, "
    "%r1;\nmul.wide.u32 %rd2, %r5, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\natom.global.add.u32 %r6, [word], 1;\nret;\n}\n";

/* Tensor memory: a copy, a product and a load in flight. The descriptors are of 128 rows of 32 bytes each. */
static const char *const tensor_text =
    ".version 8.6\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nsetp.lt.u32 %p1, %r1, 32;\nshl.b32 %r3, %r1, 4;\n"
    "add.u32 %r3, %r3, %r2;\nmov.u32 %r4, 0;\n"
    "FILL: st.shared.u32 [%r3], 0; st.shared.u32 [%r3+4], 0; st.shared.u32 [%r3+8], 0;\n"
    "st.shared.u32 [%r3+12], 0; add.u32 %r3, %r3, 1024; add.u32 %r4, %r4, 1024;\n"
    "setp.lt.u32 %p2, %r4, 8192; @%p2 bra FILL;\nfence.proxy.async;\nsetp.eq.u32 %p3, %r1, 0;\n"
    "@%p3 mbarrier.init.shared.b64 [%r2+8192], 1;\nbar.sync 0;\n@!%p1 bra ALLOCATED;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+8200], 64;\nALLOCATED:\nbar.sync 0;\n"
    "@!%p3 bra ISSUED;\nmov.u64 %rd1, 0xc000401000010000;\n"
    "tcgen05.cp.cta_group::1.128x128b [0], %rd1;\nmov.u32 %r5, 0x8040490;\n"
    "tcgen05.mma.cta_group::1.kind::f16 [32], [0], %rd1, %r5, !%p3;\n"
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2+8192];\nISSUED:\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [%r2+8192], 0; @!%p4 bra WAIT;\n"
    "@!%p1 bra DONE;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [32];\ntcgen05.wait::ld.sync.aligned;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 64;\nDONE: ret;\n}\n";

typedef struct way {
  const char *text;
  hd_dispatch how;
  uint32_t cluster;
} way;

static hd_status run(hd_emu *e, const hd_ptx_module *m, const way *w, hd_diag *d) {
  hd_emu_program *p;
  uint64_t address;
  hd_status st = hd_emu_alloc(e, 64 * 16 * 4 + 4, &address, d);
  if (st == HD_OK) st = hd_emu_load(e, m, &p, d);
  if (st != HD_OK) return st;
  const hd_emu_launch_params l = {.kernel = "k",
                                  .grid = {16, 1, 1},
                                  .block = {64, 1, 1},
                                  .cluster = {w->cluster, 0, 0},
                                  .dynamic_shared = w->text == tensor_text ? 8208 : 0,
                                  .args = &address,
                                  .args_bytes = 8};
  st = hd_emu_launch(p, &l, &w->how, NULL, NULL, d);
  hd_emu_unload(p);
  return st;
}

static hd_status launch(void *ctx, hd_diag *d) {
  hd_arena a;
  hd_ptx_module *m;
  hd_emu *e;
  const hd_emu_options o = {
      .checks = HD_CHECK_BOUNDS | HD_CHECK_INIT | HD_CHECK_RACE, .threads = 2, .n_sms = 4, .memory = 1 << 24};
  hd_arena_init(&a);
  const char *const module = ((const way *)ctx)->text;
  hd_status st = hd_ptx_parse(module, strlen(module), "test", &a, &m, d);
  if (st == HD_OK) st = hd_emu_create(&o, &e, d);
  if (st == HD_OK) {
    st = run(e, m, ctx, d);
    hd_emu_destroy(e);
  }
  hd_arena_free(&a);
  return st;
}

static hd_status compare(void *ctx, hd_diag *d) {
  hd_emu *e;
  hd_emu_snapshot *s = NULL;
  uint64_t address;
  const hd_emu_options o = {.threads = 1, .memory = 1 << 24, .shared = true};
  hd_status st = hd_emu_create(&o, &e, d);
  if (st != HD_OK) return st;
  st = hd_emu_alloc(e, 1 << 20, &address, d);
  if (st == HD_OK) st = hd_emu_write(e, address, "text", 5, d);
  if (st == HD_OK) st = hd_emu_snapshot_take(e, UINT64_MAX, &s, d);
  hd_emu_snapshot_free(s);
  hd_emu_destroy(e);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"snapshot", compare, NULL, false});
  for (hd_dispatch_kind k = 0; k < HD_DISPATCH_COUNT; k++)
    for (uint32_t cluster = 1; cluster <= 4; cluster += 3) {
      const way w = {.text = text, .how = {.kind = k, .seed = 1, .resident = 2}, .cluster = cluster};
      nomem_expect(&(nomem_entry){hd_dispatch_name(k), launch, (void *)&w, false});
    }
  /* It does without the note of who made an mbarrier. */
  const way tensor = {.text = tensor_text, .how = {.resident = 2}, .cluster = 1};
  nomem_expect(&(nomem_entry){"tensor memory", launch, (void *)&tensor, true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
