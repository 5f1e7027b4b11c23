/* Bulk copies and reductions of contiguous bytes; the reads and writes of a copy in flight. */
#include "emu/async_run.h"

enum { BYTES = 4096 };

/* One thread loads `size` bytes, all wait, and store what they see. */
static const char load_body[] =
    "mov.u32 %r0, smem;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra ready;\nmbarrier.init.shared.b64 [%r0], 1;\n"
    "ready:\nbar.sync 0;\nadd.u32 %r1, %r0, 1024;\nld.global.u32 %r2, [%in];\n"
    "@!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in+16], %r2, [%r0];\n"
    "@!%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], %r2;\n"
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r0], 0;\n@!%p1 bra wait;\n"
    "mov.u32 %r3, %t;\nnext:\nshl.b32 %r4, %r3, 2;\nsetp.ge.u32 %p3, %r4, %r2;\n@%p3 bra end;\n"
    "add.u32 %r5, %r1, %r4;\nld.shared.u32 %r6, [%r5];\ncvt.u64.u32 %d2, %r4;\nadd.u64 %d3, %out, %d2;\n"
    "st.global.u32 [%d3], %r6;\nadd.u32 %r3, %r3, 64;\nbra next;\nend:";

typedef struct heard {
  uint64_t loads, stores, atomics, prefetches;
  uint64_t lowest, highest;
  bool ok;
} heard;
static void listen(void *ctx, unsigned worker, const hd_access *a) {
  heard *h = ctx;
  if (a->space != HD_SPACE_GLOBAL || a->bytes != 16) return;
  const unsigned n = (unsigned)__builtin_popcount(a->mask);
  *(a->kind == HD_ACCESS_LOAD       ? &h->loads
    : a->kind == HD_ACCESS_STORE    ? &h->stores
    : a->kind == HD_ACCESS_PREFETCH ? &h->prefetches
                                    : &h->atomics) += n;
  h->ok &= a->cache == 0;
  for (unsigned l = 0; l < HD_WARP; l++) {
    if (!(a->mask >> l & 1)) continue;
    if (a->addr[l] < h->lowest) h->lowest = a->addr[l];
    if (a->addr[l] > h->highest) h->highest = a->addr[l];
  }
}

static void loads_of_all_sizes_arrive(void **state) {
  static const uint32_t sizes[] = {0, 16, 32, 496, 512, 528, 1008, 4064};
  unsigned char in[BYTES];
  for (unsigned k = 0; k < BYTES; k++) in[k] = (unsigned char)hd_random_at(3, k);
  for (unsigned n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
    async_machine x;
    heard h = {.ok = true, .lowest = UINT64_MAX};
    const hd_emu_hooks hooks = {.ctx = &h, .spaces = 1 << HD_SPACE_GLOBAL, .access = listen};
    async_open(&x, load_body, HD_CHECK_ALL);
    memcpy(in, &sizes[n], 4);
    async_buffer(&x, &x.args.in, in, sizeof in);
    const unsigned char *out = async_buffer(&x, &x.args.out, NULL, BYTES);
    async_ok(&x, async_launch(&x, 64, &hooks));
    assert_memory_equal(out, in + 16, sizes[n]);
    /* The trace shows every 16 bytes once, past L1. */
    assert_int_equal(h.loads, sizes[n] / 16);
    assert_true(h.ok);
    if (sizes[n]) assert_int_equal(h.lowest, x.args.in + 16);
    if (sizes[n]) assert_int_equal(h.highest, x.args.in + sizes[n]);
    async_close(&x);
  }
}

static void stores_prefetches_and_copies_within_shared(void **state) {
  static const char body[] =
      "mov.u32 %r0, smem;\nmbarrier.init.shared.b64 [%r0], 1;\nmov.u32 %r1, 0;\n"
      "fill:\nadd.u32 %r2, %r1, %r0;\nst.shared.u32 [%r2+256], %r1;\nadd.u32 %r1, %r1, 4;\n"
      "setp.lt.u32 %p1, %r1, 1024;\n@%p1 bra fill;\nfence.proxy.async.shared::cta;\nmov.u64 %d5, 0;\n"
      "cp.async.bulk.prefetch.L2.global [%in], 2048;\n"
      "mbarrier.expect_tx.shared.b64 [%r0], 512;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0+2048], [%r0+512], 512, "
      "[%r0];\n"
      "mbarrier.arrive.shared.b64 %state, [%r0];\nw: mbarrier.try_wait.shared.b64 %p1, [%r0], %state;\n@!%p1 "
      "bra w;\n"
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [%r0+256], 1024, %d5;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%out+1024], [%r0+2048], 512;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;\n"
      "st.shared.u32 [%r0+256], 0;\ncp.async.bulk.wait_group 0;\nst.shared.u32 [%r0+2048], 0;";
  async_machine x;
  heard h = {.ok = true, .lowest = UINT64_MAX};
  const hd_emu_hooks hooks = {.ctx = &h, .spaces = 1 << HD_SPACE_GLOBAL, .access = listen};
  async_open(&x, body, HD_CHECK_ALL);
  static const unsigned char zeros[2048];
  async_buffer(&x, &x.args.in, zeros, sizeof zeros);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 1536);
  async_ok(&x, async_launch(&x, 1, &hooks));
  for (uint32_t k = 0; k < 384; k++) assert_int_equal(out[k], k < 256 ? 4 * k : 256 + 4 * (k - 256));
  assert_int_equal(h.prefetches, 128);
  assert_int_equal(h.stores, 96);
  assert_true(h.ok);
  async_close(&x);
}

/* ---- Reductions ---------------------------------------------------------------------------- */

#define REDUCE(words)                                                                                        \
  "mov.u32 %r0, smem;\nmov.u32 %r1, 0;\nfill:\nadd.u32 %r2, %r1, %r0;\ncvt.u64.u32 %d1, %r1;\nadd.u64 %d1, " \
  "%in, %d1;\nld.global.u32 %r3, [%d1];\nst.shared.u32 [%r2], %r3;\nadd.u32 %r1, %r1, 4;\n"                  \
  "setp.lt.u32 %p1, %r1, 256;\n@%p1 bra fill;\nfence.proxy.async;\n"                                         \
  "cp.reduce.async.bulk.global.shared::cta.bulk_group." words " [%out], [%r0], 256;"

static float as_float(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}
static uint64_t as_bits(double v) {
  uint64_t b;
  memcpy(&b, &v, 8);
  return b;
}
static double as_double(uint64_t b) {
  double v;
  memcpy(&v, &b, 8);
  return v;
}
static uint64_t sum_f32(uint64_t a, uint64_t b) {
  const float f = as_float((uint32_t)a) + as_float((uint32_t)b);
  uint32_t out;
  memcpy(&out, &f, 4);
  return out;
}

typedef uint64_t reference(uint64_t old, uint64_t b);
#define REFERENCE(id, expr)                                                                                  \
  static uint64_t id(uint64_t a, uint64_t b) { return (uint64_t)(expr); }
REFERENCE(r_add, a + b)
REFERENCE(r_min_u, a < b ? a : b)
REFERENCE(r_max_s32, (int32_t)a > (int32_t)b ? a : b)
REFERENCE(r_min_s64, (int64_t)a < (int64_t)b ? a : b)
REFERENCE(r_and, a &b)
REFERENCE(r_or, a | b)
REFERENCE(r_xor, a ^ b)
REFERENCE(r_inc, a >= b ? 0 : a + 1)
REFERENCE(r_dec, a == 0 || a > b ? b : a - 1)
REFERENCE(r_f64, as_bits(as_double(a) + as_double(b)))
/* Both operands are 1. */
REFERENCE(r_two, 0x4000)
REFERENCE(r_one, a)

static void reductions_follow_c(void **state) {
  static const struct {
    const char *body;
    unsigned bytes;
    reference *want;
  } cases[] = {
      {REDUCE("add.u32"), 4, r_add},       {REDUCE("add.s32"), 4, r_add},
      {REDUCE("add.u64"), 8, r_add},       {REDUCE("min.u32"), 4, r_min_u},
      {REDUCE("min.u64"), 8, r_min_u},     {REDUCE("max.s32"), 4, r_max_s32},
      {REDUCE("min.s64"), 8, r_min_s64},   {REDUCE("and.b32"), 4, r_and},
      {REDUCE("or.b64"), 8, r_or},         {REDUCE("xor.b32"), 4, r_xor},
      {REDUCE("inc.u32"), 4, r_inc},       {REDUCE("dec.u32"), 4, r_dec},
      {REDUCE("add.f32"), 4, sum_f32},     {REDUCE("add.f64"), 8, r_f64},
      {REDUCE("add.noftz.f16"), 2, r_two}, {REDUCE("add.noftz.bf16"), 2, r_two},
      {REDUCE("max.f16"), 2, r_one},
  };
  for (unsigned n = 0; n < sizeof cases / sizeof cases[0]; n++) {
    async_machine x;
    unsigned char in[256], old[256];
    const unsigned size = cases[n].bytes;
    const bool floats = strstr(cases[n].body, ".f") || strstr(cases[n].body, ".bf");
    for (unsigned k = 0; k < 256; k += size) {
      uint64_t a = hd_random_at(n, 2 * k), b = hd_random_at(n, 2 * k + 1);
      if (k % 32 == 0) b = a;
      if (floats && size == 4) a = (a & 0x3fffff) | 0x41000000, b = (b & 0xfffff) | 0xc0800000;
      if (floats && size == 8) a = as_bits((double)(int32_t)a), b = as_bits((double)(int32_t)b / 3);
      if (size == 2) a = b = strstr(cases[n].body, "bf16") ? 0x3f80 : 0x3c00;
      memcpy(old + k, &a, size);
      memcpy(in + k, &b, size);
    }
    async_open(&x, cases[n].body, HD_CHECK_ALL);
    async_buffer(&x, &x.args.in, in, sizeof in);
    const unsigned char *out = async_buffer(&x, &x.args.out, old, sizeof old);
    async_ok(&x, async_launch(&x, 1, NULL));
    for (unsigned k = 0; k < 256; k += size) {
      uint64_t a = 0, b = 0, got = 0;
      memcpy(&a, old + k, size);
      memcpy(&b, in + k, size);
      memcpy(&got, out + k, size);
      const uint64_t want = cases[n].want(a, b) & UINT64_MAX >> (64 - 8 * size);
      if (got != want)
        fail_msg("case %u: %llx and %llx give %llx, not %llx", n, (unsigned long long)a,
                 (unsigned long long)b, (unsigned long long)got, (unsigned long long)want);
    }
    async_close(&x);
  }
}

/* ---- Copies in flight ------------------------------------------------------------------------- */

#define BARRIER "mov.u32 %r0, smem;\nmbarrier.init.shared.b64 [%r0], 1;\n"
#define LOAD "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in], 64, [%r0];\n"
#define STORE "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 16;\n"
#define FILL "mov.u32 %r0, smem;\nst.shared.v4.u32 [%r0], {1, 2, 3, 4}; fence.proxy.async;\n"

/* What must not be accessed before a copy is complete, and may be afterwards. */
typedef struct flight {
  const char *body;
  uint32_t line; /* of the body, from 0 */
  const char *words;
} flight;
#define COPY "mov.u32 %r0, smem;\ncp.async.ca.shared.global [%r0], [%in], 4;\n"
#define COMMIT "cp.async.bulk.commit_group;\n"

static const flight too_early[] = {
    {BARRIER LOAD "ld.shared.u8 %r1, [%r0+189];", 3, "reads what the bulk copy at line 15 still writes"},
    {BARRIER LOAD "ld.shared.u16 %r1, [%r0+128];", 3, "reads what the bulk copy at line 15 still writes"},
    {BARRIER LOAD "st.shared.u32 [%r0+188], 5;", 3, "meets what the bulk copy at line 15 still writes"},
    {BARRIER LOAD LOAD, 3, "meets what the bulk copy at line 15 still writes"},
    {BARRIER LOAD "cp.async.ca.shared.global [%r0+132], [%in], 4;", 3,
     "the bulk copy at line 15 still writes"},
    {COPY "st.shared.u8 [%r0+3], 5;", 2, "meets what the cp.async at line 14 still writes"},
    {COPY "cp.async.ca.shared.global [%r0], [%in+4], 4;", 2,
     "meets what the cp.async at line 14 still writes"},
    {COPY "cp.async.commit_group;\ncp.async.wait_group 1;\nst.shared.u32 [%r0], 5;", 4, "still writes"},
    {FILL STORE "ld.global.u32 %r1, [%out+4];", 3,
     "meets what the bulk copy at line 15 still writes: its thread has not waited for its group"},
    {FILL STORE "st.global.u8 [%out+15], 5;", 3, "still writes"},
    {FILL STORE COMMIT "cp.async.bulk.wait_group.read 0;\nld.global.u32 %r1, [%out];", 5, "still writes"},
    {FILL STORE COMMIT "cp.async.bulk.wait_group 1;\nld.global.u32 %r1, [%out];", 5, "still writes"},
    {FILL STORE "cp.async.bulk.wait_group 0;\nld.global.u32 %r1, [%out];", 4, "still writes"},
};
static const char *const in_time[] = {
    COPY "st.shared.u32 [%r0+4], 5;\ncp.async.wait_all;\nst.shared.u32 [%r0], 5;",
    COPY "cp.async.wait_all;\ncp.async.ca.shared.global [%r0], [%in+4], 4;",
    BARRIER LOAD "st.shared.u32 [%r0+124], 5;\nst.shared.u32 [%r0+192], 5;",
    FILL STORE COMMIT "cp.async.bulk.wait_group 0;\nld.global.u32 %r1, [%out];",
    FILL STORE COMMIT STORE COMMIT "cp.async.bulk.wait_group 0;\nst.global.u32 [%out], 5;",
    FILL STORE "st.global.u32 [%out+16], 5;",
    FILL "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [%r0], 16;\n"
         "red.global.add.u32 [%in], 1;",
};

static void accesses_wait_for_copies(void **state) {
  for (size_t k = 0; k < sizeof too_early / sizeof too_early[0]; k++)
    async_must_fault(too_early[k].body, 1, too_early[k].line, too_early[k].words);
  for (size_t k = 0; k < sizeof in_time / sizeof in_time[0]; k++) {
    static const unsigned char data[4096];
    async_machine x;
    async_open(&x, in_time[k], HD_CHECK_ALL);
    async_buffer(&x, &x.args.in, data, sizeof data);
    async_buffer(&x, &x.args.out, NULL, sizeof data);
    if (async_launch(&x, 1, NULL) != HD_OK) fail_msg("%s: %s", in_time[k], x.d.message);
    async_close(&x);
  }
}

static void copies_in_flight_are_watched(void **state) {
  async_must_fault(
      BARRIER LOAD "ld.shared.u32 %r1, [%r0+188];", 1, 3,
      "reads what the bulk copy at line 15 still writes: the phase of its mbarrier at shared offset "
      "0x0 is not complete");
  async_must_fault(BARRIER LOAD
                   "mbarrier.expect_tx.shared.b64 [%r0], 64;\natom.shared.add.u32 %r1, [%r0+128], 1;",
                   1, 4, "reads what the bulk copy at line 15 still writes");
  async_must_fault(BARRIER LOAD "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0+160], 16;", 1, 3,
                   "still writes");
  async_must_fault(
      FILL STORE "st.shared.u32 [%r0+12], 5;", 1, 3,
      "overwrites what the bulk copy at line 15 still reads: its thread has not waited for its group");
  async_must_fault(FILL STORE "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r0+12], 5;", 1, 4,
                   "still reads");
  async_must_fault(FILL STORE "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;\n"
                              "st.shared.u32 [%r0+12], 5;",
                   1, 5, "still reads");
  /* Another thread's wait is no use. */
  async_must_fault("mov.u32 %r0, smem;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.v4.u32 [%r0], {1, 2, 3, 4}; "
                   "fence.proxy.async;\n"
                   "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0], 16;\n"
                   "@%p1 cp.async.bulk.commit_group;\nbar.sync 0;\n@!%p1 cp.async.bulk.wait_group 0;\n"
                   "@!%p1 st.shared.u32 [%r0+8], 5;",
                   64, 7, "still reads");
  /* A second load into a buffer that a store still reads. */
  async_must_fault("mov.u32 %r0, smem;\nmbarrier.init.shared.b64 [%r0], 1;\nst.shared.v4.u32 [%r0+128], {1, "
                   "2, 3, 4}; fence.proxy.async;\n"
                   "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0+128], 16;\n" LOAD,
                   1, 4, "still reads");
}

static void waiting_ends_the_watch(void **state) {
  static const char body[] = BARRIER LOAD
      "mbarrier.arrive.expect_tx.shared.b64 %state, [%r0], 64;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 0;\n@!%p1 bra W;\nld.shared.u32 %r1, [%r0+188];\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0+128], 64;\ncp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r0+128], %r1;\nmbarrier.inval.shared.b64 [%r0];\n"
      "mbarrier.init.shared.b64 [%r0], 1;\n" LOAD "mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 64;\n"
      "X: mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 0;\n@!%p1 bra X;\nld.shared.u32 %r2, "
      "[%r0+128];\nst.global.u32 [%out+64], %r2;";
  async_machine x;
  uint32_t in[16];
  for (uint32_t k = 0; k < 16; k++) in[k] = 100 + k;
  async_open(&x, body, HD_CHECK_ALL);
  async_buffer(&x, &x.args.in, in, sizeof in);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 128);
  async_ok(&x, async_launch(&x, 1, NULL));
  assert_memory_equal(out, in, sizeof in);
  assert_int_equal(out[16], 100);
  async_close(&x);
}

/* Thousands of copies that no thread waits for take no more memory than the last ones. */
static void copies_that_nobody_waits_for_pass(void **state) {
  static const char body[] = FILL
      "mov.u32 %r1, 0;\nnext:\n" STORE "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 5000;\n@%p1 bra next;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
      "st.shared.u32 [%r0], 9;\ncp.async.bulk.prefetch.L2.global [%out], 0xfffffff0;";
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  async_buffer(&x, &x.args.out, NULL, 64);
  async_ok(&x, async_launch(&x, 1, NULL));
  async_close(&x);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void mistakes_are_faults(void **state) {
  static const struct {
    const char *body, *words;
    uint32_t line;
  } cases[] = {
      {BARRIER "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in+8], 64, [%r0];",
       "the source of a bulk copy is", 2},
      {BARRIER "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+136], [%in], 64, [%r0];",
       "the destination of a bulk copy is 0x88, no multiple of 16", 2},
      {BARRIER "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in], 40, [%r0];",
       "the size of a bulk copy is 0x28, no multiple of 16", 2},
      {BARRIER
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in+4080], 32, [%r0];",
       "out of bounds: load of 16 bytes at", 2},
      {BARRIER
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+163824], [%in], 32, [%r0];",
       "out of bounds: store of 16 bytes at shared offset 163840", 2},
      {BARRIER
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in], 0xfffffff0, [%r0];",
       "out of bounds", 2},
      {BARRIER
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in], 64, [%r0+64];",
       "never written", 2},
      {BARRIER "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%out], 64, [%r0];",
       "reads memory that was never written", 2},
      {BARRIER "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r0+16], 16;", "never written", 2},
      {FILL "cp.async.bulk.global.shared::cta.bulk_group [%out+4096], [%r0], 16;", "out of bounds: store", 2},
      {FILL "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r0], 16;", "never written",
       2},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++)
    async_must_fault(cases[k].body, 1, cases[k].line, cases[k].words);
  /* The fault names the thread that issued the copy, whatever piece of it is wrong. */
  async_must_fault(
      "mov.u32 %r0, smem; setp.eq.u32 %p1, %t, 9;\n@%p1 mbarrier.init.shared.b64 [%r0], 1;\n\n\n"
      "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+128], [%in+3584], 4096, "
      "[%r0];",
      32, 4, "thread (9,0,0)");
}

/* Two CTAs' copies into one place: of the same bytes, or of the CTA's number. */
static void races_between_ctas_are_seen(void **state) {
  static const char *const bodies[] = {
      FILL STORE, FILL "mov.u32 %r1, %ctaid.x;\nst.shared.u32 [%r0], %r1;\nfence.proxy.async;\n" STORE};
  for (unsigned k = 0; k < 2; k++) {
    async_machine x;
    async_open(&x, bodies[k], HD_CHECK_ALL);
    async_buffer(&x, &x.args.out, NULL, 64);
    hd_emu_launch_params l = async_params(&x, 1);
    l.grid[0] = 2;
    const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d);
    assert_int_equal(st, k ? HD_ERR_FAULT : HD_OK);
    if (k) assert_non_null(strstr(x.d.message, "race between CTAs: store of 16 bytes"));
    async_close(&x);
  }
}

static void unknown_forms_are_refused(void **state) {
#define B "cp.async.bulk."
#define TX "mbarrier::complete_tx::bytes"
  static const char *const forms[][2] = {
      {B "shared::cluster.global." TX ".multicast::cluster [%r1], [%d1], 16, [%r2], %r3",
       "%r3 has 32 bits where the instruction takes 16"},
      {B "shared::cta.global." TX ".multicast::cluster [%r1], [%d1], 16, [%r2], 3", "no such form"},
      {B "shared::cluster.global." TX ".ignore_oob [%r1], [%d1], 16, [%r2]", ".ignore_oob is not emulated"},
      {B "global.shared::cta.bulk_group.cp_mask [%d1], [%r1], 16, %r3",
       "32 bits where the instruction takes 16"},
      {B "shared::cluster.global.bulk_group [%r1], [%d1], 16", "no such form"},
      {B "global.shared::cta." TX " [%d1], [%r1], 16, [%r2]", "no such form"},
      {B "global.global.bulk_group [%d1], [%d1], 16", "no such form"},
      {B "shared::cta." TX " [%r1], [%d1], 16, [%r2]", "no such form"},
      {B TX " [%r1], [%d1], 16, [%r2]", "no such form"},
      {B "global.shared::cta.bulk_group [%d1], [%r1]", "operands"},
      {B "global.shared::cta.bulk_group [%d1], [%r1], 16, %d2", "operands"},
      {B "global.shared::cta.bulk_group.L2::cache_hint [%d1], [%r1], 16, %r2", "has 32 bits"},
      {B "global.shared::cta.bulk_group [%r1], [%r1], 16", "holds no address"},
      {B "global.shared::cta.bulk_group [%d1], [map], 16", "not in the state space"},
      {B "global.shared::cta.bulk_group %d1, %r1, %d4", "has 64 bits"},
      {B "prefetch.L2.shared::cta [%r1], 16", "no such form"},
      {B "prefetch.global [%d1], 16", "no such form"},
      {B "commit_group 1", "operands"},
      {B "commit_group.read", "no such form"},
      {B "commit_group.wait_group 0", "no such form"},
      {B "global.shared::cta.read.bulk_group [%d1], [%r1], 16", "no such form"},
      {B "global.shared::cta.global.bulk_group [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.u32 [%d1], [%r1], 16", "no such form"},
      {B "wait_group %r1", "a constant is expected"},
      {B "wait_group -1", "it leaves -1 groups"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f32 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.u32 [%d1], [%r1], 16", "no such form"},
      {"cp.reduce.async.bulk.shared::cluster.shared::cta." TX ".add.f32 [%r1], [%r2], 16, [%r3]",
       "no such form"},
      {"cp.reduce.async.bulk.shared::cta.global." TX ".add.u32 [%r1], [%d1], 16, [%r3]", "no such form"},
      {B "global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16", "no such form"},
  };
  for (unsigned k = 0; k < sizeof forms / sizeof forms[0]; k++) async_must_refuse(forms[k][0], forms[k][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loads of all sizes arrive, and are traced past L1", loads_of_all_sizes_arrive),
      BEHAVIOUR("stores, prefetches and copies within shared memory",
                stores_prefetches_and_copies_within_shared),
      BEHAVIOUR("reductions follow C", reductions_follow_c),
      BEHAVIOUR("what a copy in flight reads and writes is watched", copies_in_flight_are_watched),
      BEHAVIOUR("accesses wait for copies", accesses_wait_for_copies),
      BEHAVIOUR("waiting ends the watch", waiting_ends_the_watch),
      BEHAVIOUR("copies that nobody waits for pass", copies_that_nobody_waits_for_pass),
      BEHAVIOUR("mistakes are faults", mistakes_are_faults),
      BEHAVIOUR("races between CTAs are seen", races_between_ctas_are_seen),
      BEHAVIOUR("unknown forms are refused by name", unknown_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
