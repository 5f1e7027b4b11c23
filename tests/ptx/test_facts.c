/* The tables of operations, types and special registers, and the accesses of each form. */
#include <ctype.h>

#include "heddle/ptx_facts.h"
#include "ptx_test.h"

/* ---- Describing ---------------------------------------------------------------- */

static const char *space_name(unsigned space) {
  static const struct {
    unsigned space;
    const char *name;
  } names[] = {
      {HD_IN_GENERIC, "generic"}, {HD_IN_GLOBAL, "global"},   {HD_IN_SHARED, "shared"},
      {HD_IN_CLUSTER, "cluster"}, {HD_IN_LOCAL, "local"},     {HD_IN_PARAM, "param"},
      {HD_IN_CONST, "const"},     {HD_IN_TEXTURE, "texture"}, {HD_IN_SURFACE, "surface"},
      {HD_IN_TENSOR, "tensor"},   {HD_IN_TMEM, "tmem"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].space == space) return names[i].name;
  return "?";
}

static const char *kinds_name(unsigned kinds) {
  switch (kinds) {
  case HD_ACC_READ: return "read";
  case HD_ACC_WRITE: return "write";
  case HD_ACC_READ | HD_ACC_WRITE: return "update";
  case HD_ACC_READ | HD_ACC_WRITE | HD_ACC_ATOMIC: return "atomic";
  case HD_ACC_PREFETCH: return "fetch";
  case HD_ACC_WRITE | HD_ACC_DISCARD: return "discard";
  default: return "?";
  }
}

/* "write0@shared read1@global weak async 16", without the facts that do not hold. */
static void describe(const hd_ptx_access *a, const hd_ptx_module *m, hd_buf *b) {
  static const char *const orders[] = {"none",    "weak", "relaxed",  "acquire", "release",
                                       "acq_rel", "sc",   "volatile", "mmio"};
  static const char *const scopes[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
  hd_buf_clear(b);
  for (unsigned i = 0; i < a->n; i++)
    hd_buf_printf(b, "%s%u@%s ", kinds_name(a->touches[i].kinds), a->touches[i].operand,
                  space_name(a->touches[i].space));
  hd_buf_printf(b, "%s%s", orders[a->order], scopes[a->scope]);
  const hd_mod words[] = {a->cache, a->l1_priority, a->l2_priority, a->operation};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i]) hd_buf_printf(b, " %s", hd_ptx_mod_text(m, words[i]));
  if (a->noncoherent) hd_buf_puts(b, " nc");
  if (a->policy) hd_buf_puts(b, " policy");
  if (a->async) hd_buf_puts(b, " async");
  if (a->bulk) hd_buf_puts(b, " bulk");
  if (a->unknown) hd_buf_puts(b, " unknown");
  if (a->bytes) hd_buf_printf(b, " %u", a->bytes);
  if (a->value) hd_buf_printf(b, " value%u", a->value);
}

static const hd_ptx_form *form_of(hd_ptx_module *m, const char *text) {
  uint32_t form;
  assert_int_equal(hd_ptx_add_form(m, text, &form, NULL), HD_OK);
  return &m->forms[form];
}

/* ---- Accesses ---------------------------------------------------------------------- */

static const struct {
  const char *form, *want;
} ACCESSES[] = {
    {"ld.global.f32", "read1@global weak 4"},
    {"ld.f32", "read1@generic weak 4"},
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32", "read1@global weak L1::no_allocate nc 16"},
    {"ld.global.L1::evict_last.L2::evict_first.L2::cache_hint.v8.f32",
     "read1@global weak L1::evict_last L2::evict_first policy 32"},
    {"ld.global.cg.v2.u64", "read1@global weak cg 16"},
    {"ld.volatile.global.u32", "read1@global volatile.sys 4"},
    {"ld.volatile.shared.u32", "read1@shared volatile.sys 4"},
    {"ld.relaxed.gpu.global.u32", "read1@global relaxed.gpu 4"},
    {"ld.acquire.cta.u64", "read1@generic acquire.cta 8"},
    {"ld.acquire.sys.global.u8", "read1@global acquire.sys 1"},
    {"ld.mmio.relaxed.sys.global.u32", "read1@global mmio.sys 4"},
    {"ld.weak.global.b128", "read1@global weak 16"},
    {"ld.shared.u16", "read1@shared weak 2"},
    {"ld.shared::cta.u16", "read1@shared weak 2"},
    {"ld.shared::cluster.u16", "read1@cluster weak 2"},
    {"ld.local.f64", "read1@local weak 8"},
    {"ld.param.u64", "read1@param weak 8"},
    {"ld.param::func.u64", "read1@param weak 8"},
    {"ld.const.u32", "read1@const weak 4"},
    {"ldu.global.v2.f32", "read1@global weak nc 8"},
    {"st.global.wt.f32", "write0@global weak wt 4 value1"},
    {"st.release.gpu.global.u32", "write0@global release.gpu 4 value1"},
    {"st.volatile.u32", "write0@generic volatile.sys 4 value1"},
    {"st.shared.v4.b32", "write0@shared weak 16 value1"},
    {"st.param.b32", "write0@param weak 4 value1"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32",
     "write0@cluster atomic2@cluster weak async 8 value1"},
    {"st.async.weak.mbarrier::complete_tx::bytes.u32", "write0@cluster atomic2@cluster weak async 4 value1"},
    {"st.async.mmio.release.sys.global.u32", "write0@global mmio.sys async 4 value1"},
    {"st.bulk.weak.shared::cta", "write0@shared weak bulk"},
    {"st.bulk", "write0@shared weak bulk"},
    {"atom.global.add.u32", "atomic1@global relaxed.gpu add 4 value2"},
    {"atom.cas.b64", "atomic1@generic relaxed.gpu cas 8 value2"},
    {"atom.acq_rel.cta.shared.exch.b32", "atomic1@shared acq_rel.cta exch 4 value2"},
    {"atom.global.v4.f32.add", "atomic1@global relaxed.gpu add 16 value2"},
    {"red.global.max.s32", "atomic0@global relaxed.gpu max 4 value1"},
    {"red.release.sys.global.add.noftz.f16x2", "atomic0@global release.sys add 4 value1"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
     "atomic0@cluster atomic2@cluster relaxed.cluster add async 4 value1"},
    {"red.async.mmio.release.gpu.global.add.u32", "atomic0@global mmio.gpu add async 4 value1"},
    {"prefetch.global.L2", "fetch0@global weak"},
    {"prefetch.L1", "fetch0@generic weak"},
    {"prefetch.global.L2::evict_last", "fetch0@global weak L2::evict_last"},
    {"prefetch.param.tensormap", "fetch0@param weak"},
    {"prefetchu.L1", "fetch0@generic weak"},
    {"applypriority.global.L2::evict_normal", "fetch0@global weak L2::evict_normal"},
    {"discard.global.L2", "discard0@global weak"},
    {"cp.async.ca.shared.global", "write0@shared read1@global weak ca async"},
    {"cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B",
     "write0@shared read1@global weak cg policy async"},
    {"cp.async.commit_group", "none"},
    {"cp.async.wait_group", "none"},
    {"cp.async.wait_all", "none"},
    {"cp.async.mbarrier.arrive.noinc.shared::cta.b64", "atomic0@shared release.cta async 8"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
     "write0@cluster read1@global atomic3@cluster weak async bulk"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
     "write0@shared read1@global atomic3@cluster weak policy async bulk"},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
     "write0@cluster read1@shared atomic3@cluster weak async bulk"},
    {"cp.async.bulk.global.shared::cta.bulk_group", "write0@global read1@shared weak async bulk"},
    {"cp.async.bulk.prefetch.L2.global", "fetch0@global weak async bulk"},
    {"cp.async.bulk.commit_group", "none"},
    {"cp.async.bulk.wait_group.read", "none"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
     "write0@cluster read1@tensor atomic2@cluster weak async bulk"},
    {"cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group",
     "write0@tensor read1@shared weak async bulk"},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile", "fetch0@tensor weak async bulk"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64",
     "atomic0@cluster read1@shared atomic3@cluster relaxed.gpu add async bulk"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16",
     "atomic0@global read1@shared relaxed.gpu add async bulk"},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.tile.bulk_group",
     "atomic0@tensor read1@shared relaxed.gpu min async bulk"},
    {"multimem.ld_reduce.relaxed.gpu.global.add.v4.f32", "read1@global relaxed.gpu add 16"},
    {"multimem.st.release.sys.global.f32", "write0@global release.sys 4"},
    {"multimem.red.add.u32", "atomic0@generic relaxed.gpu add 4"},
    {"multimem.cp.async.bulk.bulk_group.global.shared::cta", "write0@global read1@shared weak async bulk"},
    {"multimem.cp.reduce.async.bulk.bulk_group.global.shared::cta.add.u32",
     "atomic0@global read1@shared relaxed.gpu add async bulk"},
    {"tensormap.replace.tile.global_address.shared::cta.b1024.b64", "update0@shared weak 8"},
    {"tensormap.replace.tile.rank.global.b1024.b32", "update0@global weak 4"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
     "write0@global read1@shared release.gpu bulk"},
    {"tex.2d.v4.f32.s32", "read1@texture weak nc 16"},
    {"tld4.r.2d.v4.f32.f32", "read1@texture weak nc 16"},
    {"suld.b.2d.v2.b32.trap", "read1@surface weak 8"},
    {"sust.b.1d.b32.clamp", "write0@surface weak 4"},
    {"sured.b.add.1d.u32.trap", "atomic0@surface relaxed.gpu add 4"},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "read1@shared weak bulk"},
    {"ldmatrix.sync.aligned.m8n8.x1.b16", "read1@shared weak bulk"},
    {"stmatrix.sync.aligned.m8n8.x2.shared::cta.b16", "write0@shared weak bulk"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "read1@global weak bulk"},
    {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32", "write0@shared weak bulk"},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "none"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "read1@shared read2@shared weak async bulk"},
    {"wgmma.fence.sync.aligned", "none"},
    {"wgmma.commit_group.sync.aligned", "none"},
    {"wgmma.wait_group.sync.aligned", "none"},
    {"mbarrier.init.shared::cta.b64", "write0@shared weak 8"},
    {"mbarrier.inval.b64", "write0@shared weak 8"},
    {"mbarrier.arrive.shared.b64", "atomic1@shared release.cta 8"},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64", "atomic1@cluster release.cluster 8"},
    {"mbarrier.arrive.expect_tx.relaxed.cta.shared.b64", "atomic1@shared relaxed.cta 8"},
    {"mbarrier.arrive_drop.noComplete.shared.b64", "atomic1@shared release.cta 8"},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "atomic0@shared relaxed.cta 8"},
    {"mbarrier.complete_tx.shared::cluster.b64", "atomic0@cluster relaxed.cta 8"},
    {"mbarrier.test_wait.shared.b64", "read1@shared acquire.cta 8"},
    {"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "read1@shared acquire.cluster 8"},
    {"mbarrier.pending_count.b64", "none"},
    {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "write0@shared weak 4"},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", "none"},
    {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", "none"},
    {"tcgen05.ld.sync.aligned.32x32b.x8.b32", "read1@tmem weak async bulk"},
    {"tcgen05.st.sync.aligned.16x64b.x4.b32", "write0@tmem weak async bulk"},
    {"tcgen05.wait::ld.sync.aligned", "none"},
    {"tcgen05.wait::st.sync.aligned", "none"},
    {"tcgen05.fence::before_thread_sync", "none"},
    {"tcgen05.fence::after_thread_sync", "none"},
    {"tcgen05.cp.cta_group::1.128x256b", "write0@tmem read1@shared weak async bulk"},
    {"tcgen05.shift.cta_group::1.down", "update0@tmem weak async bulk"},
    {"tcgen05.mma.cta_group::1.kind::f16", "update0@tmem read1@shared read2@shared weak async bulk"},
    {"tcgen05.mma.ws.sp.cta_group::1.kind::i8", "update0@tmem read1@shared read2@shared weak async bulk"},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
     "atomic0@cluster release.cta async 8"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128",
     "write0@shared atomic1@shared weak async 16"},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "none"},
    {"fence.acq_rel.gpu", "acq_rel.gpu"},
    {"fence.sc.sys", "sc.sys"},
    {"fence.cta", "acq_rel.cta"},
    {"fence.acquire.sync_restrict::shared::cluster.cluster", "acquire.cluster"},
    {"fence.proxy.tensormap::generic.acquire.gpu", "acquire.gpu"},
    {"fence.proxy.async", "acq_rel.cta"},
    {"membar.gl", "sc.gpu"},
    {"membar.sys", "sc.sys"},
    {"membar.cta", "sc.cta"},
    {"add.s32", "none"},
    {"bar.sync", "none"},
    {"shfl.sync.idx.b32", "none"},
    {"call.uni", "none"},
    {"neverseen.f32", "atomic0@generic mmio.sys unknown 4"},
    {"ld.neverseen.global.f32", "read1@global weak unknown 4"},
    {"cp.neverseen", "atomic0@generic mmio.sys unknown"},
    {"tcgen05.neverseen", "atomic0@generic mmio.sys unknown"},
};

static void forms_access_memory(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, HEADER ".entry k() { ret; }");
  hd_buf b = {0};
  bool covered[HD_OP_COUNT] = {0};
  for (size_t i = 0; i < sizeof ACCESSES / sizeof *ACCESSES; i++) {
    const hd_ptx_form *f = form_of(m, ACCESSES[i].form);
    covered[f->op] = true;
    hd_ptx_access got = hd_ptx_access_of(f);
    unsigned changing = ~(unsigned)(HD_IN_PARAM | HD_IN_CONST);
    if (f->flags & HD_OPF_RESULT && hd_ptx_access_in(&got, changing) & HD_ACC_READ &&
        !(f->flags & HD_OPF_BRINGS_DATA))
      fail_msg("%s: what it reads is data", ACCESSES[i].form);
    describe(&got, m, &b);
    if (strcmp(b.data, ACCESSES[i].want) != 0)
      fail_msg("%s: %s, not %s", ACCESSES[i].form, b.data, ACCESSES[i].want);
  }
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++)
    if (hd_ptx_op_class(op) == HD_OPC_MEMORY && !covered[op])
      fail_msg("no case for %s, which accesses memory", hd_ptx_op_text(op));
  hd_buf_free(&b);
  hd_arena_free(&a);
}

static void accesses_are_asked_for_by_space(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, HEADER ".entry k() { ret; }");
  hd_ptx_access copy = hd_ptx_access_of(form_of(m, "cp.async.ca.shared.global"));
  assert_int_equal(hd_ptx_access_in(&copy, HD_IN_ANY_GLOBAL), HD_ACC_READ);
  assert_int_equal(hd_ptx_access_in(&copy, HD_IN_ANY_SHARED), HD_ACC_WRITE);
  assert_int_equal(hd_ptx_access_in(&copy, HD_IN_LOCAL), 0);
  assert_int_equal(copy.kinds, HD_ACC_READ | HD_ACC_WRITE);
  hd_ptx_access add = hd_ptx_access_of(form_of(m, "add.s32"));
  assert_int_equal(hd_ptx_access_in(&add, ~0u), 0);
  hd_arena_free(&a);
}

/* ---- Operations -------------------------------------------------------------------------- */

enum { R = HD_OPF_RESULT, W = HD_OPF_WARP_WIDE, L = HD_OPF_SEES_LANES, D = HD_OPF_BRINGS_DATA };

static const struct {
  const char *form;
  uint32_t want;
} FLAGS[] = {
    {"add.s32", R | HD_OPF_PURE},
    {"add.cc.s32", R | HD_OPF_WRITES_CARRY},
    {"addc.s32", R | HD_OPF_READS_CARRY},
    {"addc.cc.s32", R | HD_OPF_READS_CARRY | HD_OPF_WRITES_CARRY},
    {"setp.eq.u32", R | HD_OPF_PURE},
    {"mov.u32", R | HD_OPF_PURE},
    {"ld.global.v4.f32", R | D},
    {"ld.param.u64", R},
    {"ld.param::entry.u64", R},
    {"ld.const.f32", R},
    {"ldu.global.f32", R | D},
    {"st.global.f32", 0},
    {"atom.global.add.u32", R | D | HD_OPF_UPDATES},
    {"red.global.add.u32", HD_OPF_UPDATES},
    {"fence.acq_rel.gpu", HD_OPF_FENCES},
    {"membar.gl", HD_OPF_FENCES},
    {"tex.2d.v4.f32.s32", R | D},
    {"sust.b.1d.b32.clamp", 0},
    {"shfl.sync.idx.b32", R | W | L | D},
    {"activemask.b32", R | L | D},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", R | W | L | HD_OPF_MATRICES},
    {"wmma.load.a.sync.aligned.row.m16n16k16.f16", R | W | D},
    {"wmma.store.d.sync.aligned.row.m16n16k16.f32", W},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", R | W | L | HD_OPF_MATRICES},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
     R | HD_OPF_READS_RESULT | W | L | D | HD_OPF_LASTING | HD_OPF_MATRICES},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", R | W | D},
    {"stmatrix.sync.aligned.m8n8.x4.shared.b16", W},
    {"multimem.ld_reduce.add.u32", R | D},
    {"multimem.red.add.u32", 0},
    {"multimem.st.u32", 0},
    {"bar.sync", HD_OPF_CTA_WIDE},
    {"bar.warp.sync", W},
    {"bar.red.and.pred", R | D | HD_OPF_CTA_WIDE},
    {"barrier.cta.red.popc.aligned.u32", R | D | HD_OPF_CTA_WIDE},
    {"barrier.cta.arrive", HD_OPF_CTA_WIDE},
    {"barrier.cluster.wait", HD_OPF_CLUSTER_WIDE},
    {"cp.async.ca.shared.global", 0},
    {"cp.async.mbarrier.arrive.shared.b64", HD_OPF_LASTING},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", HD_OPF_LASTING},
    {"cp.async.bulk.global.shared::cta.bulk_group", 0},
    {"mbarrier.init.shared.b64", D | HD_OPF_LASTING},
    {"mbarrier.arrive.expect_tx.shared.b64", R | D | HD_OPF_LASTING},
    {"mbarrier.expect_tx.relaxed.cta.shared.b64", D | HD_OPF_LASTING},
    {"mbarrier.try_wait.shared.b64", R | D | HD_OPF_LASTING},
    {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", W | D | HD_OPF_LASTING},
    {"tcgen05.mma.cta_group::1.kind::f16", R | D | HD_OPF_LASTING | HD_OPF_MATRICES},
    {"tcgen05.ld.sync.aligned.32x32b.x8.b32", R | W | D | HD_OPF_LASTING},
    {"clusterlaunchcontrol.try_cancel.async.b128", D | HD_OPF_CLAIMS_CTAS},
    {"mapa.shared::cluster.u32", R | HD_OPF_PURE | HD_OPF_NAMES_CTAS},
    {"getctarank.shared::cluster.u32", R | HD_OPF_PURE | HD_OPF_NAMES_CTAS},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
     HD_OPF_LASTING | HD_OPF_ACROSS_CTAS},
    {"tcgen05.mma.cta_group::2.kind::f16", R | D | HD_OPF_LASTING | HD_OPF_ACROSS_CTAS | HD_OPF_MATRICES},
    {"bra.uni", HD_OPF_JUMPS},
    {"brx.idx", HD_OPF_JUMPS},
    {"call.uni", HD_OPF_CALLS | D},
    {"ret.uni", HD_OPF_RETURNS},
    {"exit", HD_OPF_EXITS},
    {"trap", HD_OPF_EXITS},
    {"nanosleep.u32", 0},
    {"setmaxnreg.inc.sync.aligned.u32", W | HD_OPF_LASTING},
    {"alloca.u64", R | HD_OPF_LASTING},
    {"stackrestore.u64", HD_OPF_LASTING},
    {"prefetch.global.L2", 0},
    {"neverseen.f32", R | D | HD_OPF_READS_RESULT | HD_OPF_UNKNOWN},
    {"add.neverseen.f32", R | D | HD_OPF_READS_RESULT | HD_OPF_UNKNOWN},
    {"st.global.neverseen.f32", R | D | HD_OPF_READS_RESULT | HD_OPF_UNKNOWN},
};

static void forms_have_flags(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, HEADER ".entry k() { ret; }");
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
    const hd_ptx_form *f = form_of(m, FLAGS[i].form);
    if (f->flags != FLAGS[i].want) fail_msg("%s: %x, not %x", FLAGS[i].form, f->flags, FLAGS[i].want);
    assert_int_equal(hd_ptx_flags_of(f), f->flags);
  }
  hd_arena_free(&a);
}

static void every_opcode_has_facts(void **state) {
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++) {
    const hd_ptx_form f = {.op = op};
    const char *name = hd_ptx_op_text(op);
    uint32_t flags = hd_ptx_flags_of(&f);
    hd_ptx_class class = hd_ptx_op_class(op);
    if (class == HD_OPC_UNKNOWN || flags & HD_OPF_UNKNOWN) fail_msg("%s is not known", name);
    if (class == HD_OPC_COMPUTE && !(flags & R)) fail_msg("%s computes nothing", name);
    if (class == HD_OPC_EXCHANGE && !(flags & L)) fail_msg("%s exchanges nothing", name);
    if (flags & HD_OPF_PURE && flags & ~(uint32_t)(R | HD_OPF_PURE | HD_OPF_NAMES_CTAS))
      fail_msg("%s is pure and more", name);
    const hd_ptx_alike alike = hd_ptx_alike_of(&(hd_ptx_form){.op = op, .flags = flags});
    if (alike == HD_ALIKE_OPERANDS && class != HD_OPC_COMPUTE) fail_msg("%s: not of its operands", name);
    if (alike == HD_ALIKE_OPERANDS && flags & ~(uint32_t)(R | HD_OPF_PURE)) fail_msg("%s: of more", name);
    if (alike == HD_ALIKE_NO_RESULT && flags & R) fail_msg("%s has a result", name);
    bool control = flags & (HD_OPF_LEAVES | HD_OPF_CALLS);
    if ((class == HD_OPC_CONTROL) != control) fail_msg("%s: control", name);
    /* A bare opcode of memory is a form, or one that counts as unknown: never none. */
    hd_ptx_access access = hd_ptx_access_of(&f);
    if ((class == HD_OPC_MEMORY) != (access.kinds != 0)) fail_msg("%s: memory", name);
    if ((op == HD_OP_FENCE || op == HD_OP_MEMBAR) != (!access.kinds && access.order != HD_ORDERED_NONE))
      fail_msg("%s: fence", name);
  }
  assert_int_equal(hd_ptx_op_class(HD_OP_COUNT), HD_OPC_UNKNOWN);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* "u32", "f16x2", "ue8m0x4" read by themselves; false: no type by its spelling. */
static bool spelt_type(const char *s, hd_ptx_type *t) {
  char letter = 0, rest = 0;
  unsigned n, e, m, x = 1;
  int end = 0;
  *t = (hd_ptx_type){0};
  const char *body = s + (*s == 'u' && s[1] == 'e');
  if (sscanf(body, "e%1um%1u%n", &e, &m, &end) == 2 && end) {
    unsigned sign = body == s, bits = e + m + sign;
    if (body[end] && (sscanf(body + end, "x%u%c", &x, &rest) != 1)) return false;
    unsigned each = x == 1 ? bits + (bits == 7) : bits <= 4 ? 4 : 8;
    *t = (hd_ptx_type){HD_NUM_FLOAT, 0, (uint8_t)x, (uint8_t)(each * x)};
    return true;
  }
  body = s + ((*s == 'b' || *s == 't') && s[1] == 'f');
  if (sscanf(body, "%c%u%n", &letter, &n, &end) != 2 || !strchr("usbf", letter)) return false;
  if (body[end] && (sscanf(body + end, "x%u%c", &x, &rest) != 1)) return false;
  if (letter == 'b' && (n > 128 || (n & (n - 1)) || n == 0 || (n == 2 && x == 1)))
    return false; /* .b0, .b3210: bytes */
  uint8_t number = letter == 'u'   ? HD_NUM_UNSIGNED
                   : letter == 's' ? HD_NUM_SIGNED
                   : letter == 'b' ? HD_NUM_BITS
                                   : HD_NUM_FLOAT;
  *t = (hd_ptx_type){number, 0, (uint8_t)x, (uint8_t)(n * x)};
  return true;
}

static void types_say_what_they_are_spelt(void **state) {
  unsigned n = 0;
  for (hd_mod mod = 1; mod < HD_M_COUNT; mod++) {
    const char *text = hd_ptx_mod_text(NULL, mod);
    hd_ptx_type want, got = hd_ptx_type_of(mod);
    assert_int_equal(got.number != HD_NUM_NONE, hd_ptx_mod_kind(mod) == HD_MK_TYPE);
    assert_int_equal(got.format != HD_FMT_NONE, got.number == HD_NUM_FLOAT);
    if (!spelt_type(text, &want)) {
      if (hd_ptx_mod_kind(mod) == HD_MK_TYPE && got.number != HD_NUM_OPAQUE &&
          got.number != HD_NUM_PREDICATE && !strstr(text, "x16"))
        fail_msg(".%s is a type by the table alone", text);
      continue;
    }
    n++;
    if (got.number != want.number || got.elements != want.elements || got.bits != want.bits)
      fail_msg(".%s: number %u, %u elements, %u bits", text, got.number, got.elements, got.bits);
  }
  assert_true(n > 40);
  assert_int_equal(hd_ptx_type_of(HD_M_PRED).bits, 1);
  assert_int_equal(hd_ptx_type_of(HD_M_COUNT).number, HD_NUM_NONE);
}

static void words_about_memory_are_known_by_their_kind(void **state) {
  static const struct {
    const char *begin;
    hd_mod_kind kind;
  } spelt[] = {
      {"L1::", HD_MK_L1_PRIORITY},
      {"L2::evict", HD_MK_L2_PRIORITY},
      {"shared", HD_MK_SPACE},
      {"param", HD_MK_SPACE},
  };
  for (hd_mod mod = 1; mod < HD_M_COUNT; mod++) {
    const char *text = hd_ptx_mod_text(NULL, mod);
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++)
      if (strncmp(text, spelt[i].begin, strlen(spelt[i].begin)) == 0 && hd_ptx_mod_kind(mod) != spelt[i].kind)
        fail_msg(".%s", text);
    unsigned bytes;
    if (sscanf(text, "L2::%uB", &bytes) == 1) {
      assert_int_equal(hd_ptx_mod_kind(mod), HD_MK_L2_FETCH);
      assert_int_equal(hd_ptx_mod_value(mod), bytes);
    }
    if (text[0] == 'v' && isdigit((unsigned char)text[1]) && !text[2]) {
      assert_int_equal(hd_ptx_mod_kind(mod), HD_MK_WIDTH);
      assert_int_equal(hd_ptx_mod_value(mod), text[1] - '0');
    }
  }
  assert_int_equal(hd_ptx_mod_kind(HD_M_COUNT), HD_MK_UNKNOWN);
  assert_int_equal(hd_ptx_mod_kind(HD_M_NONE), HD_MK_PLAIN);
}

static void every_special_register_has_a_kind(void **state) {
  for (uint32_t i = 1; i < HD_SR_COUNT; i++)
    if (hd_ptx_sreg_kind(i) == HD_SRK_UNKNOWN) fail_msg("special register %u", i);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_NONE), HD_SRK_UNKNOWN);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_COUNT), HD_SRK_UNKNOWN);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_TID), HD_SRK_THREAD);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_CTAID), HD_SRK_CTA);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_LANEMASK_GE), HD_SRK_LANE);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_SMID), HD_SRK_SCHEDULE);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_PM0), HD_SRK_SCHEDULE);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_PM7_64), HD_SRK_SCHEDULE);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_ENVREG31), HD_SRK_DRIVER);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_NTID), HD_SRK_LAUNCH);
  for (uint32_t i = 0; i < HD_SR_COUNT; i++)
    if (hd_ptx_sreg_clock(i) && hd_ptx_sreg_kind(i) != HD_SRK_SCHEDULE) fail_msg("special register %u", i);
  assert_int_equal(hd_ptx_sreg_clock(HD_SR_CLOCK_HI), HD_CLOCK_SM);
  assert_int_equal(hd_ptx_sreg_clock(HD_SR_CLOCK64), HD_CLOCK_SM);
  assert_int_equal(hd_ptx_sreg_clock(HD_SR_GLOBALTIMER_LO), HD_CLOCK_TIMER);
  assert_int_equal(hd_ptx_sreg_clock(HD_SR_SMID), HD_CLOCK_NONE);
  assert_int_equal(hd_ptx_sreg_clock(HD_SR_COUNT), HD_CLOCK_NONE);
  assert_int_equal(hd_ptx_sreg_kind(HD_SR_TOTAL_SMEM_SIZE), HD_SRK_SHARED_SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("it is known how each form accesses memory, and of no opcode forgotten", forms_access_memory),
      BEHAVIOUR("accesses are asked for by space", accesses_are_asked_for_by_space),
      BEHAVIOUR("it is known what instructions of a form do", forms_have_flags),
      BEHAVIOUR("every opcode has facts that agree with each other", every_opcode_has_facts),
      BEHAVIOUR("a type has the number, elements and bits of its spelling", types_say_what_they_are_spelt),
      BEHAVIOUR("words about memory are known by their kind", words_about_memory_are_known_by_their_kind),
      BEHAVIOUR("every special register has a kind", every_special_register_has_a_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
