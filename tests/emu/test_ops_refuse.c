/* An instruction that is not emulated is refused by name, with its line. All others run or fault; none
 * crashes. Tests draw instructions at random. */
#include "emu/ops_warp.h"

/* ---- Refused by name ------------------------------------------------------------------- */

enum { BODY_LINE = 15 }; /* the second line of body_ptx's body */

static const char *const refused[] = {
    "tex.2dms.v4.f32.s32 {%w1, %w2, %w3, %w4}, [%d1, {%w5, %w6, %w7, %w7}]",
    "sust.p.1d.b32.trap [%d1, {%w2}], {%w1}",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %w1, 0, 1, 1, 1, "
    "0, 0",
    "tcgen05.wait::ld.sync",
    "tcgen05.alloc.sync.aligned.shared::cta.b32 [%w1], 32",
    "tcgen05.ld.sync.aligned.16x128b.x128.b32 {%w1}, [%w2]",
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%w1}, [%w2]",
    "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%w1}, [%w2]",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w1}, [%d2]",
    "tcgen05.cp.cta_group::1.64x128b [%w1], %d1",
    "tcgen05.cp.cta_group::1.128x256b.b8x16 [%w1], %d1",
    "tcgen05.shift.cta_group::1 [%w1]",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%d1]",
    "tcgen05.mma.cta_group::1 [%w1], %d1, %d2, %w2, %p1",
    "tcgen05.mma.ws.cta_group::2.kind::f16 [%w1], %d1, %d2, %w2, %p1",
    "tcgen05.mma.cta_group::1.kind::mxf4 [%w1], %d1, %d2, %w2, [%w3], [%w4], %p1",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%w1], %d1, %d2, %w2, [%w3], [%w4], %p1",
    "tcgen05.mma.cta_group::1.kind::i8 [%w1], %d1, %d2, %w2, %p1, 1",
    "tcgen05.mma.cta_group::1.kind::f16 [%w1], %d1, %d2, %w2, %p1, 16",
    "tcgen05.mma.cta_group::2.kind::f16 [%w1], %d1, %d2, %w2, {%w3, %w3, %w3, %w3}, %p1",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%w1], %d1, %d2, %w2, %p1",
    "barrier.cluster.arrive.acquire",
    "add.u32 %w1, %w2.b0, %w3",
    /* special registers are read by mov and cvt alone, in the widths they have */
    "add.u32 %w1, %w2, %ctaid.x",
    "setp.eq.u32 %p1, %w1, %ctaid.x",
    "st.global.u32 [%d1], %tid.x",
    "selp.u32 %w1, %tid.x, %w2, %p1",
    "cvt.rn.f32.u32 %f1, %tid.x",
    "mov.u64 %d1, %tid.x",
    "mov.u16 %h1, %laneid",
    "mov.u32 %w1, %tid",
    "mov.v2.u32 {%w1, %w2}, %tid",
    "mul.s32.lo %w1, %w2, %w3",
    "red.async.relaxed.cluster.add.u32 [%d1], %w1",
    ("red.async.relaxed.gpu.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%d1], %w1, [%d2]"),
    ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64 [%d1], %d3, [%d2]"),
    ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [%d1], %f1, [%d2]"),
    ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%d1], {%d3, %d3, %d3, %d3}, [%d2]"),
    "st.async.weak.b32 [%d1], %w1, [%d2]",
    ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2}, {%w3, %w4}, "
     "{%f1, %f2, %f3, %f4}, %w5, 4"),
    ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, "
     "{%w1, %w2, %w3, %w4}, {%f1, %f2, %f3, %f4}, %w5, 2"),
    ("mma.sp.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2}, {%w3, %w4}, "
     "{%f1, %f2, %f3, %f4}, %w5, 0"),
    ("mma.sp.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%w1, %w2}, {%w3}, {%w4}, {%w1, %w2}, %w5, 0"),
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g1, %g2}",
    "cvt.rn.f16x2.s32 %w1, %w2, %w3",
    "isspacep.const %p1, %d1",
    "mov.u32 %w1, %nosuchreg",
    "mov.u32 %w1, %pm0",
    "mov.b32 %w1, %envreg3",
    "brand.new.u32 %w1, %w2",
    "add.brandnew.u32 %w1, %w2, %w3",
    "clusterlaunchcontrol.try_cancel.shared::cta.mbarrier::complete_tx::bytes.b128 [%d1], [%d2]",
    /* wrong in themselves */
    "add.u32 %w1, %w2",
    "add.u32 %w1, %d2, %w3",
    "add.u32 5, %w2, %w3",
    "ld.global.u32 %h1, [%d1]",
    "ld.global.v2.u32 {%w1, %w2, %w3}, [%d1]",
    "st.global.u32 [%w1], %w2",
    "bra nowhere",
    "call nowhere, (%w1)",
    "setp.lt.u32 %w1, %w2, %w3",
    "selp.u32 %w1, %w2, %w3, %w4",
    "mul.wide.u32 %w1, %w2, %w3",
    "atom.global.add.b32 %w1, [%d1]",
    "ld.param.u32 %w1, [nowhere]",
    "mov.b64 {%w1, %w2, %w3}, %d1",
    "add.s32 %w1, -%w2, %w3",
    "lop3.b32 %w1, %w2, %w3, %w4, %w5",
    "shfl.sync.idx.b32 %w1, %w2, %w3, %w4",
};

static void unknown_instructions_are_named(void **state) {
  for (unsigned k = 0; k < sizeof refused / sizeof refused[0]; k++) {
    hd_diag d = {0};
    char body[512], opcode[64];
    snprintf(body, sizeof body, "add.u32 %%w1, %%w1, 1;\n%s;\nadd.brandnew.u32 %%w1, %%w1, 2;", refused[k]);
    snprintf(opcode, sizeof opcode, "%.*s", (int)strcspn(refused[k], " "), refused[k]);
    if (op_supported("", body, &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", refused[k]);
    if (d.line != BODY_LINE) fail_msg("refused at line %u, not %u: %s", d.line, BODY_LINE, refused[k]);
    if (!strstr(d.message, opcode) || !strstr(d.message, "k: not emulated"))
      fail_msg("%s: %s", refused[k], d.message);
    assert_string_equal(d.file, "test.ptx");
  }
}

static void callees_hand_their_refusal_up(void **state) {
  hd_diag d = {0};
  const char *f = ".func inner()\n{\nbrkpt; tcgen05.wait::ld.sync; ret;\n}\n.func "
                  "outer()\n{\ncall inner; ret;\n}\n";
  assert_int_equal(op_supported(f, "call outer;", &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "inner: not emulated"));
  assert_int_equal(d.line, 6);
  assert_int_equal(op_supported(f, "exit;", &d), HD_OK);
}

static void calls_that_do_not_fit_are_refused(void **state) {
  const char *f = ".func (.param .b32 r) f(.param .b64 a)\n{\nret;\n}\n.extern .func g(.param .b64 a);\n";
  hd_diag d = {0};
  assert_int_equal(op_supported(f, "{ .param .b64 a; .param .b32 r; call (r), f, (a); }", &d), HD_OK);
  assert_int_equal(op_supported(f, "{ .param .b32 a; .param .b32 r; call (r), f, (a); }", &d),
                   HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "a has 4 bytes where the function takes 8"));
  assert_int_equal(op_supported(f, "{ .param .b64 a; .param .b32 r; call (r), f, (a, a); }", &d),
                   HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "2 arguments where the function has 1"));
  assert_int_equal(op_supported(f, "{ .param .b64 a; call f, (a); }", &d), HD_ERR_UNSUPPORTED);
  assert_int_equal(op_supported(f, "{ .param .b64 a; call g, (a); }", &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "it calls g, which is not defined"));
  assert_int_equal(op_supported(f, "{ .param .b64 a; .param .b32 r; ld.param.b64 %d1, [a+4]; }", &d),
                   HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "beyond the 8 bytes of a"));
}

/* ---- Order ------------------------------------------------------------------------------------ */

#include "emu/decode/decode.h"

static uint64_t no_address(void *ctx, uint32_t var, bool *ok) {
  *ok = true;
  return EMU_GLOBAL_BASE + 256 * (uint64_t)var;
}
static bool order_matters(const char *body) {
  hd_buf text = {0};
  hd_arena arena, codes_arena;
  hd_ptx_module *m;
  hd_diag d = {0};
  emu_code **codes;
  body_ptx(&text, ".global .u32 g; .shared .u32 s;", body, 1, 1);
  hd_arena_init(&arena);
  hd_arena_init(&codes_arena);
  op_ok(hd_ptx_parse(text.data, text.len, "test.ptx", &arena, &m, &d), &d);
  const emu_decode_env env = {
      .m = m, .arena = &codes_arena, .isa = HD_ISA_PORTABLE, .address_of = no_address};
  op_ok(emu_decode_module(&env, &codes, &d), &d);
  op_ok(codes[0]->unsupported.status, &codes[0]->unsupported);
  const bool sensitive = codes[0]->order_sensitive;
  hd_arena_free(&codes_arena);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return sensitive;
}

static void only_what_depends_on_order_says_so(void **state) {
  assert_false(order_matters(
      "red.global.add.u32 [g], 1; atom.global.max.s32 %w1, [g], 3; atom.global.or.b32 _, [g], 3;"));
  assert_false(order_matters(
      "atom.shared.add.f32 %f1, [s], 0f3F800000; add.f32 %f2, %f1, %f1; ld.volatile.shared.u32 %w1, [s];"));
  assert_false(order_matters(
      "ld.global.u32 %w1, [g]; st.volatile.shared.u32 [s], %w1; atom.global.min.u32 %w9, [g], %w1;"));
  assert_true(order_matters("atom.global.add.u32 %w1, [g], 1; add.u32 %w2, %w1, 1;"));
  assert_true(order_matters("red.global.add.f32 [g], 0f3F800000;"));
  assert_true(order_matters("atom.global.exch.b32 %w1, [g], 1;"));
  assert_true(order_matters("ld.volatile.global.u32 %w1, [g];"));
  assert_true(order_matters("ld.acquire.gpu.u32 %w1, [%out];"));
}

/* ---- At random ------------------------------------------------------------------------------------- */

static const char *const templates[] = {
    "add.u32 %w1, %w2, %w3",
    "add.cc.u64 %d1, %d2, %d3",
    "addc.u32 %w1, %w2, %w3",
    "mad.wide.s32 %d1, %w2, %w3, %d4",
    "mul.hi.s16 %h1, %h2, %h3",
    "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4",
    "div.approx.ftz.f32 %f1, %f2, %f3",
    "fma.rm.f64 %g1, %g2, %g3, %g4",
    "sqrt.rn.f64 %g1, %g2",
    "fma.rn.relu.f16x2 %w1, %w2, %w3, %w4",
    "min.NaN.bf16 %h1, %h2, %h3",
    "tanh.approx.f16 %h1, %h2",
    "setp.ltu.and.ftz.f32 %p1|%p2, %f1, %f2, !%p3",
    "setp.ge.u64 %p1, %d1, %d2",
    "set.eq.or.f32.s32 %f1, %w1, %w2, %p1",
    "setp.gt.f16x2 %p1|%p2, %w1, %w2",
    "selp.b64 %d1, %d2, %d3, %p1",
    "slct.f32.f32 %f1, %f2, %f3, %f4",
    "cvt.rzi.sat.u8.f32 %h1, %f2",
    "cvt.rn.f16x2.f32 %w1, %f1, %f2",
    "cvt.s64.s32 %d1, %w1",
    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2",
    "cvt.pack.sat.u8.s32.b32 %w1, %w2, %w3, %w4",
    "cvta.to.shared.u64 %d1, %d2",
    "isspacep.local %p1, %d1",
    "mov.b64 %d1, {%w1, %w2}",
    "mov.b64 {%h1, %h2, %h3, %h4}, %d1",
    "mov.u32 %w1, %ctaid.y",
    "mov.u64 %d1, gv",
    "mov.u64 %d1, lv",
    "mov.u32 %w1, sv",
    "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%in]",
    "ld.shared.u8 %w1, [sv+4]",
    "ld.local.s16 %d1, [lv+2]",
    "ld.u64 %d1, [%out+0]",
    "ld.param.u64 %d1, [out]",
    "ld.const.b32 %w1, [cv]",
    "st.global.v2.u32 [%out], {%w1, %w2}",
    "st.shared.u16 [sv], %h1",
    "st.local.b64 [lv], %d1",
    "st.volatile.global.u32 [gv], 7",
    "atom.global.add.u32 %w1, [gv], %w2",
    "atom.shared.cas.b64 %d1, [sv], %d2, %d3",
    "red.global.add.f64 [gv], %g1",
    "atom.global.exch.b128 %q1, [%out], %q2",
    "atom.add.noftz.f16x2 %w1, [gv], %w2",
    "red.global.max.s64 [gv], %d1",
    "prefetch.global.L2 [%in]",
    "cp.async.ca.shared.global [sv], [gv], 8, %w1",
    "shfl.sync.up.b32 %w1|%p1, %w2, %w3, %w4, -1",
    "vote.sync.ballot.b32 %w1, %p1, -1",
    "match.all.sync.b64 %w1|%p1, %d1, -1",
    "redux.sync.min.s32 %w1, %w2, -1",
    "elect.sync _|%p1, -1",
    "activemask.b32 %w1",
    "bar.sync 0",
    "bar.red.and.pred %p1, 1, %p2",
    "barrier.sync %w1, 32",
    "bar.warp.sync %w1",
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, "
     "{%w5, %w6}, {%f1, %f2, %f3, %f4}"),
    "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%w1, %w2, %w3, %w4}, [%in], %w5",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [sv], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%w1, %w2}, [sv]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [sv], {%w1}",
    "movmatrix.sync.aligned.m8n8.trans.b16 %w1, %w2",
    "bfe.s64 %d1, %d2, %w1, %w2",
    "bfi.b32 %w1, %w2, %w3, %w4, %w5",
    "lop3.b32 %w1, %w2, %w3, %w4, 0x96",
    "prmt.b32.f4e %w1, %w2, %w3, %w4",
    "shf.l.wrap.b32 %w1, %w2, %w3, %w4",
    "dp4a.s32.u32 %w1, %w2, %w3, %w4",
    "fns.b32 %w1, %w2, %w3, %w4",
    "testp.subnormal.f64 %p1, %g1",
    "copysign.f32 %f1, %f2, %f3",
    "alloca.u64 %d1, 64, 16",
    "stackrestore.u64 %d1",
    "call (%w1), callee, (%w2)",
    "call pcallee, (lp)",
    "bra end",
    "brx.idx %w1, targets",
    "exit",
    "nanosleep.u32 10",
    "fma.rn.f32x2 %d1, %d2, %d3, %d4",
    "mbarrier.init.shared.b64 [sv], 1",
    "mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [sv], %w1",
    "mbarrier.try_wait.parity.shared.b64 %p1, [sv], %w1",
    "mbarrier.pending_count.b64 %w1, %d1",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [sv]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sv], [%in], 16, [sv]",
    "cp.async.bulk.global.shared::cta.bulk_group [%out], [sv], 16",
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [sv], [%in, {%w1, %w2}], [sv]",
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%in, {%w1}], [sv]",
    "cp.async.bulk.wait_group.read 1",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [gv], 1, %w1",
    "mapa.shared::cluster.u32 %w1, %w2, %w3",
    "wgmma.fence.sync.aligned",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%w1, %w2, %w3, %w4}, %d1, %d2, %p1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%w1, %w2, %w3, %w4}, {%w5, %w6, %w7, %w8}, %d2, 1",
    "wgmma.commit_group.sync.aligned",
    "wgmma.wait_group.sync.aligned 0",
    "cp.async.commit_group",
    "cp.async.wait_group 1",
    "cp.async.wait_all",
    "lop3.or.b32 %w1|%p1, %w2, %w3, %w4, 0x3f, %p2",
    "setmaxnreg.inc.sync.aligned.u32 232",
    "fence.proxy.async.shared::cta",
    "griddepcontrol.wait",
    "createpolicy.range.global.L2::evict_last.b64 %d1, [%d2], %w1, 4096",
    "createpolicy.fractional.L2::evict_first.b64 %d1, %f1"};

static const char *const pieces[] = {"%w7",
                                     "%d7",
                                     "%h7",
                                     "%f7",
                                     "%g7",
                                     "%p7",
                                     "%q1",
                                     "!%p6",
                                     "-%w6",
                                     "_",
                                     "0",
                                     "-1",
                                     "0x80000000",
                                     "1.5",
                                     "0f7FC00000",
                                     "0dFFF0000000000001",
                                     "[gv]",
                                     "[%d7]",
                                     "[%w7+4]",
                                     "[sv+60]",
                                     "[lv-8]",
                                     "[in]",
                                     "[0]",
                                     "{%w1, %w2}",
                                     "{%d1, _}",
                                     "{%h1, %h2, %h3, %h4}",
                                     "{}",
                                     "%w1|%p1",
                                     "_|_",
                                     "(%w1)",
                                     "gv",
                                     "sv",
                                     "lv",
                                     "callee",
                                     "end",
                                     "targets",
                                     "%tid.x",
                                     "%clock64",
                                     "%lanemask_lt",
                                     "%vx.y",
                                     "%vx",
                                     "nowhere",
                                     "[%d1, {%w1}]",
                                     "99999999999",
                                     "%w1.x",
                                     "[lp+4]",
                                     "%vx.w",
                                     "gv[2]"};
static const char *const mods[] = {".u32",         ".s16",    ".f32",    ".f64",     ".f16",
                                   ".bf16x2",      ".b64",    ".b8",     ".b128",    ".pred",
                                   ".v2",          ".v4",     ".v8",     ".rn",      ".rzi",
                                   ".rp",          ".ftz",    ".sat",    ".relu",    ".approx",
                                   ".sync",        ".global", ".shared", ".local",   ".param",
                                   ".const",       ".wide",   ".hi",     ".cc",      ".eq",
                                   ".and",         ".cas",    ".add",    ".min",     ".volatile",
                                   ".nc",          ".cs",     ".uni",    ".to",      ".NaN",
                                   ".xorsign",     ".abs",    ".x4",     ".trans",   ".full",
                                   ".satfinite",   ".e5m2x2", ".tf32",   ".aligned", ".L2::cache_hint",
                                   ".m16n8k16",    ".row",    ".col",    ".s8",      ".e4m3",
                                   ".shared::cta", ".noftz",  ".warp",   ".red",     ".popc",
                                   ".async",       ".u16x2",  ".f16x2"};
#define PICK(list, r) ((list)[(r) % (sizeof(list) / sizeof(list)[0])])

static const char declarations[] = ".global .align 16 .b8 gv[64];\n.const .align 4 .u32 cv = 3;\n"
                                   ".func (.reg .b32 r) callee(.reg .b32 a)\n{\nadd.u32 r, a, 1; "
                                   "ret;\n}\n.func pcallee(.param .b64 a)\n{\nret;\n}\n";

/* A template with up to two changes: an operand replaced, added or dropped, a modifier added or dropped. */
static void random_instruction(uint64_t seed, hd_buf *out) {
  char text[512], word[640], operand[16][128];
  unsigned n = 0, at = 0;
#define NEXT_RANDOM hd_random_at(seed, at++)
  snprintf(text, sizeof text, "%s", PICK(templates, NEXT_RANDOM));
  char *rest = text + strcspn(text, " ");
  if (*rest) *rest++ = 0;
  snprintf(word, sizeof word, "%s", text);
  int depth = 0;
  for (char *p = rest, *from = rest;; p++) {
    if (*p == '{' || *p == '(' || *p == '[') depth++;
    if (*p == '}' || *p == ')' || *p == ']') depth--;
    if (*p && (*p != ',' || depth)) continue;
    if (p > from && n < 12) snprintf(operand[n++], sizeof operand[0], "%.*s", (int)(p - from), from);
    from = p + 1;
    if (!*p) break;
  }
  const unsigned changes = (unsigned)(NEXT_RANDOM % 5) / 2;
  for (unsigned k = 0; k < changes; k++) {
    switch (NEXT_RANDOM % 6) {
    case 0:
    case 1:
      if (n) {
        char *target = operand[NEXT_RANDOM % n];
        snprintf(target, sizeof operand[0], " %s", PICK(pieces, NEXT_RANDOM));
      }
      break;
    case 2:
      if (n < 12) snprintf(operand[n++], sizeof operand[0], " %s", PICK(pieces, NEXT_RANDOM));
      break;
    case 3:
      if (n) n--;
      break;
    case 4: strncat(word, PICK(mods, NEXT_RANDOM), sizeof word - strlen(word) - 1); break;
    case 5: {
      char *dot = strrchr(word, '.');
      const char *other = PICK(mods, NEXT_RANDOM);
      if (dot) snprintf(dot, sizeof word - (size_t)(dot - word), "%s", NEXT_RANDOM & 1 ? "" : other);
      break;
    }
    }
  }
  if (NEXT_RANDOM % 8 == 0) hd_buf_puts(out, NEXT_RANDOM & 1 ? "@%p3 " : "@!%p4 ");
  hd_buf_puts(out, word);
  for (unsigned k = 0; k < n; k++) hd_buf_printf(out, "%s%s", k ? "," : " ", operand[k]);
  hd_buf_puts(out, ";");
}

static void templates_are_emulated(void **state) {
  for (unsigned k = 0; k < sizeof templates / sizeof templates[0]; k++) {
    hd_diag d = {0};
    char body[1024];
    snprintf(
        body, sizeof body,
        ".reg .b128 %%q<3>; .shared .align 16 .b8 sv[64]; .local .align 16 .b8 lv[64]; .param .b64 lp;\n%s;\n"
        "targets: .branchtargets end, end;\nend: ret;",
        templates[k]);
    if (op_supported(declarations, body, &d) != HD_OK) fail_msg("%s", d.message);
  }
}

enum { MODULES = 300, PER_MODULE = 16 };

static void random_module(hd_buf *t, uint64_t number) {
  op_ptx_header(t);
  hd_buf_puts(t, declarations);
  for (unsigned k = 0; k < PER_MODULE; k++) {
    hd_buf_printf(
        t,
        ".visible .entry k%u(.param .u64 in, .param .u64 out)\n{\n.reg .b16 %%h<16>; .reg .b32 %%w<16>; .reg "
        ".b64 %%d<16>; .reg .f32 %%f<16>; .reg .f64 %%g<16>; .reg .pred %%p<8>; .reg .b128 %%q<3>;\n"
        ".reg .b64 %%in, %%out; .reg .v4 .b32 %%vx; .shared .align 16 .b8 sv[64]; .local .align 16 .b8 "
        "lv[64]; .param .b64 lp;\n"
        "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.global.v4.u32 {%%w1, %%w2, %%w3, %%w4}, "
        "[%%in]; ld.global.v2.u64 {%%d1, %%d2}, [%%in]; setp.lt.u32 %%p3, %%w1, %%w2;\n"
        "ld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%in]; mov.b32 {%%h1, %%h2}, %%w3; ld.global.v2.f64 "
        "{%%g1, %%g2}, [%%in];\n",
        k);
    random_instruction(number * PER_MODULE + k, t);
    hd_buf_puts(t, "\nst.global.u32 [%out], %w1; st.global.u64 [%out+8], %d1;\ntargets: .branchtargets end, "
                   "end;\nend: ret;\n}\n");
  }
}

static void any_instruction_is_refused_or_runs(void **state) {
  unsigned ran = 0, turned_away = 0, unparsed = 0;
  uint8_t bytes[512];
  for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)hd_random_at(77, k);
  for (uint64_t number = 0; number < MODULES; number++) {
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_emu *e;
    hd_emu_program *p;
    hd_diag d = {0};
    random_module(&text, number);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "random.ptx", &arena, &m, &d) == HD_OK) {
      const hd_emu_options opt = {.checks = HD_CHECK_BOUNDS,
                                  .threads = 1,
                                  .max_instructions = 2000,
                                  .memory = 1 << 24,
                                  .isa = (hd_emu_isa)(HD_ISA_AUTO + number % 2)};
      op_ok(hd_emu_create(&opt, &e, &d), &d);
      op_ok(hd_emu_load(e, m, &p, &d), &d);
      uint64_t args[2];
      op_ok(hd_emu_alloc(e, sizeof bytes, &args[0], &d), &d);
      op_ok(hd_emu_alloc(e, sizeof bytes, &args[1], &d), &d);
      op_ok(hd_emu_write(e, args[0], bytes, sizeof bytes, &d), &d);
      op_ok(hd_emu_write(e, args[1], bytes, sizeof bytes, &d), &d);
      for (unsigned k = 0; k < PER_MODULE; k++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", k);
        const hd_status st = hd_emu_supported(p, name, &d);
        if (st == HD_ERR_UNSUPPORTED) {
          assert_true(d.line > 0 && d.message[0]);
          turned_away++;
          continue;
        }
        op_ok(st, &d);
        const hd_emu_launch_params l = {
            .kernel = name, .grid = {1, 1, 1}, .block = {40, 1, 1}, .args = args, .args_bytes = 16};
        const hd_status ended = hd_emu_launch(p, &l, &(hd_dispatch){0}, NULL, NULL, &d);
        if (ended != HD_OK && ended != HD_ERR_FAULT) op_ok(ended, &d);
        ran++;
      }
      hd_emu_unload(p);
      hd_emu_destroy(e);
    } else {
      unparsed++;
    }
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
  /* The mix is worth something: all three happen. */
  assert_true(ran > 300 && turned_away > 300 && unparsed < MODULES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what is not emulated is refused with its text and line", unknown_instructions_are_named),
      BEHAVIOUR("a kernel is refused for what its callees need", callees_hand_their_refusal_up),
      BEHAVIOUR("calls that do not fit their function are refused", calls_that_do_not_fit_are_refused),
      BEHAVIOUR("kernels whose result depends on the order of CTAs are marked, others not",
                only_what_depends_on_order_says_so),
      BEHAVIOUR("the instructions to be changed at random are emulated", templates_are_emulated),
      BEHAVIOUR("any instruction is refused, or runs, or faults", any_instruction_is_refused_or_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
