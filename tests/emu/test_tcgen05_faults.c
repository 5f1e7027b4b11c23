/* tcgen05: what breaks its rules is a fault, and what is read too early is no result. */
#include "emu/tcgen05_product.h"

static const product plain = {.words = ".kind::f16",
                              .a = &f16,
                              .b = &f16,
                              .sums = 'f',
                              .ctas = 1,
                              .m = 128,
                              .n = 32,
                              .width_a = 128,
                              .width_b = 128};

/* A job with the operands of `plain`; the text of its product goes behind `text`. */
static tc_job *job_of(const product *p, hd_buf *text) {
  tc_job *job = tc_job_make(p->ctas);
  matrices *x = malloc(sizeof *x);
  make_matrices(p, 7, x);
  put_operands(p, x, job);
  job->value[2] = instruction_of(p);
  free(x);
  if (text) instruction_text(p, text);
  return job;
}

/* ---- Without operations --------------------------------------------------------------------- */

/* A kernel of one warp whose body begins with nothing allocated. */
static void must_fault_alone(const char *body, const char *words) {
  hd_buf text = {0};
  tc_machine x;
  tc_job *job = tc_job_make(1);
  hd_buf_printf(&text,
                TC_MODULE ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" TC_REGISTERS
                          "mov.u32 %%r1, smem; mov.u32 %%t, %%tid.x;\n%s\nret;\n}\n",
                body);
  tc_open(&x, &text, HD_ISA_AUTO);
  tc_ok(hd_emu_supported(x.p, "k", &x.d), &x.d);
  const hd_status st = tc_launch(&x, job);
  if (st != HD_ERR_FAULT) fail_msg("status %d instead of a fault: %s", st, body);
  if (!strstr(x.d.message, words)) fail_msg("no \"%s\" in: %s", words, x.d.message);
  tc_close(&x);
  hd_buf_free(&text);
  free(job);
}

#define ALLOC(n) "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], " #n ";\n"
#define DEALLOC(n) "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, " #n ";\n"
#define FIRST_WARP "setp.lt.u32 %p1, %t, 32; mov.u32 %r2, 0;\n"

static void allocations_follow_their_rules(void **state) {
  must_fault_alone(FIRST_WARP ALLOC(48), "48 columns: a power of two from 32 to 512");
  must_fault_alone(FIRST_WARP ALLOC(1024), "1024 columns");
  must_fault_alone(FIRST_WARP ALLOC(512) ALLOC(32), "wait for its own deallocation is not emulated");
  must_fault_alone(FIRST_WARP ALLOC(64), "has not deallocated its tensor memory");
  must_fault_alone(FIRST_WARP ALLOC(64) DEALLOC(32), "no 32 columns are allocated at 0x0");
  must_fault_alone(FIRST_WARP DEALLOC(32), "no 32 columns are allocated");
  must_fault_alone(FIRST_WARP ALLOC(64) DEALLOC(64) DEALLOC(64), "no 64 columns are allocated");
  must_fault_alone(FIRST_WARP "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ALLOC(32),
                   "relinquished its permit");
  must_fault_alone(FIRST_WARP ALLOC(32) "@%p1 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;",
                   "no other to form a pair");
  must_fault_alone(FIRST_WARP ALLOC(32) "@%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r2+32];",
                   "columns 32 to 32 of tensor memory are not all allocated");
  must_fault_alone("setp.lt.u32 %p1, %t, 16; mov.u32 %r2, 0;\n" ALLOC(32), "not all threads of the warp");
}

static void allocations_get_columns_of_their_own(void **state) {
  tc_job *job = tc_job_make(1);
  hd_buf text = {0};
  tc_machine x;
  hd_buf_printf(&text, TC_MODULE
                ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" TC_REGISTERS
                "mov.u32 %%r1, smem; mov.u32 %%t, %%tid.x; ld.param.u64 %%out, [out];\n"
                "setp.lt.u32 %%p1, %%t, 32; @!%%p1 ret;\n"
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r1], 32;\n"
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r1+4], 128;\n"
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r1+8], 64;\n"
                "bar.warp.sync 0xffffffff;\nld.shared.u32 %%r2, [%%r1]; ld.shared.u32 %%r3, [%%r1+4]; "
                "ld.shared.u32 %%r4, [%%r1+8];\n"
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r3, 128;\n"
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r1+12], 128;\n"
                "bar.warp.sync 0xffffffff;\nld.shared.u32 %%r5, [%%r1+12]; setp.eq.u32 %%p2, %%t, 0;\n"
                "@%%p2 st.global.v4.b32 [%%out], {%%r2, %%r3, %%r4, %%r5};\n"
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r2, 32;\n"
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r4, 64;\n"
                "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r5, 128;\nret;\n}\n");
  tc_open(&x, &text, HD_ISA_AUTO);
  tc_ok(tc_launch(&x, job), &x.d);
  const uint32_t *at = job->tensor[0][0];
  static const uint32_t size[3] = {32, 128, 64};
  for (unsigned a = 0; a < 3; a++)
    for (unsigned b = 0; b < a; b++) assert_true(at[a] + size[a] <= at[b] || at[b] + size[b] <= at[a]);
  assert_int_equal(at[3], at[1]);
  tc_close(&x);
  hd_buf_free(&text);
  free(job);
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* Between the two, thread 0 issues a product. */
#define ALONE TC_EVERY "setp.ne.u32 %%p4, %%t, 0; @%%p4 bra BEHIND;\n"
#define BEHIND(text)                                                                                         \
  "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];\nBEHIND:\n" text

static void faults_behind(const char *front, const char *back, const char *words) {
  hd_buf text = {0};
  hd_buf_printf(&text, ALONE);
  hd_buf_puts(&text, front);
  tc_job *job = job_of(&plain, &text);
  hd_buf_puts(&text, back);
  tc_must_fault(text.data, job, words);
  hd_buf_free(&text);
  free(job);
}

static void what_is_in_flight_is_left_alone(void **state) {
  faults_behind("", BEHIND("@%p3 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%base+10];\n"),
                "is in flight: no mbarrier of its commit has been waited for");
  faults_behind("", BEHIND("@%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%base+10], {%t};\n"), "is in flight");
  faults_behind("", BEHIND("@%p3 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 512;\n"),
                "has not been waited for");
  faults_behind("",
                BEHIND("@!%p4 st.shared.u32 [%r1+1024], %t;\n@!%p3 bra Y;\n"
                       "X: mbarrier.try_wait.parity.shared.b64 %p5, [%bar], 0; @!%p5 bra X;\nY:\n"),
                "shared memory that it reads changed while it was in flight");
  faults_behind(
      "mbarrier.inval.shared.b64 [%bar];\n",
      BEHIND("@!%p3 bra Y; X: mbarrier.try_wait.parity.shared.b64 %p5, [%bar], 0; @!%p5 bra X;\nY:\n"),
      "there is no mbarrier at shared offset 0x10: tcgen05.commit");
}

static void warps_learn_that_an_operation_is_complete(void **state) {
  /* Warp 0 waits, and warp 1 loads when a plain flag, or a barrier, says so. */
#define LOAD                                                                                                 \
  "and.b32 %r9, %t, 96; shl.b32 %r9, %r9, 16; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r9+10];\n"      \
  "tcgen05.wait::ld.sync.aligned;\n"
#define POLL "X: mbarrier.try_wait.parity.shared.b64 %p5, [%bar], 0; @!%p5 bra X;\n"
  faults_behind("",
                BEHIND("@!%p3 bra Y;\n" POLL "@!%p4 st.volatile.shared.u32 [%r1+60000], 1;\nbra Z;\n"
                       "Y: ld.volatile.shared.u32 %r11, [%r1+60000]; setp.ne.u32 %p6, %r11, 1;\n"
                       "@%p6 bra Y;\nZ:\n" LOAD),
                "has not learned of an mbarrier of its commit");
  hd_buf text = {0};
  hd_buf_printf(&text, ALONE);
  tc_job *job = job_of(&plain, &text);
  hd_buf_puts(&text, BEHIND("@!%p3 bra Y;\n" POLL "Y: bar.sync 0;\n" LOAD));
  tc_run(text.data, job, HD_ISA_AUTO);
  hd_buf_free(&text);
  free(job);
}

static void loads_and_stores_are_waited_for(void **state) {
  hd_buf text = {0};
  hd_buf_printf(&text, TC_EVERY "and.b32 %%r9, %%t, 96; shl.b32 %%r9, %%r9, 16;\n"
                                "tcgen05.st.sync.aligned.32x32b.x1.b32 [%%r9+10], {%%t};\n"
                                "setp.ne.u32 %%p4, %%t, 0; @%%p4 bra BEHIND;\n");
  tc_job *job = job_of(&plain, &text);
  hd_buf_puts(&text, "BEHIND:");
  tc_must_fault(text.data, job, "the store of line");
  text.len = 0;
  hd_buf_printf(&text, TC_EVERY "and.b32 %%r9, %%t, 96; shl.b32 %%r9, %%r9, 16;\n"
                                "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%v0}, [%%r9+10];\n"
                                "setp.ne.u32 %%p4, %%t, 0; @%%p4 bra BEHIND;\n");
  instruction_text(&plain, &text);
  hd_buf_puts(&text, "BEHIND:");
  tc_must_fault(text.data, job, "the load of line");
  hd_buf_free(&text);
  free(job);
}

/* ---- Operands ------------------------------------------------------------------------------- */

static void faults_with(const product *p, unsigned value, uint64_t flip, const char *words) {
  hd_buf text = {0};
  tc_job *job = job_of(p, &text);
  job->value[value] ^= flip;
  tc_must_fault(text.data, job, words);
  hd_buf_free(&text);
  free(job);
}

static void descriptors_must_make_sense(void **state) {
  static const product scaled = {.words = ".kind::mxf4.block_scale",
                                 .a = &pairs,
                                 .b = &pairs,
                                 .sums = 'f',
                                 .ctas = 1,
                                 .m = 128,
                                 .n = 64,
                                 .width_a = 32,
                                 .width_b = 64,
                                 .scales = 2},
                       lane = {.words = ".kind::f16",
                               .a = &f16,
                               .b = &f16,
                               .sums = 'f',
                               .ctas = 1,
                               .m = 128,
                               .n = 32,
                               .width_a = 128,
                               .width_b = 128,
                               .d_lane = 16},
                       bytes = {.words = ".kind::i8",
                                .a = &s8,
                                .b = &s8,
                                .sums = 's',
                                .ctas = 1,
                                .m = 128,
                                .n = 32,
                                .width_a = 32,
                                .width_b = 32};
  faults_with(&plain, 0, UINT64_C(1) << 46, "bits 46 to 48 are not 001");
  faults_with(&plain, 1, UINT64_C(1) << 61, "there is no such swizzle");
  faults_with(&plain, 1, UINT64_C(0x3000), "out of bounds");
  faults_with(&plain, 2, 1 << 17, "M and N are no shape of this instruction");
  faults_with(&plain, 2, 1 << 10, "A and B have different types");
  faults_with(&plain, 2, 1 << 2, "disagree on sparsity");
  faults_with(&plain, 2, 1 << 3, "do not saturate");
  faults_with(&plain, 2, 3 << 4, "D has no such type");
  faults_with(&plain, 2, 1 << 6, "reserved bits");
  faults_with(&bytes, 2, 1 << 13, "integers are not negated");
  faults_with(&scaled, 2, 1 << 4, "do not begin in such a byte");
  faults_with(&scaled, 2, UINT64_C(1) << 31, "K is 96");
  faults_with(&scaled, 2, 1 << 23, "of ue8m0");
  hd_buf text = {0};
  tc_job *job = job_of(&plain, NULL);
  instruction_text(&lane, &text);
  tc_must_fault(text.data, job, "D begins in another lane than 0");
  hd_buf_free(&text);
  free(job);
}

static void warps_reach_their_quarter_of_the_lanes(void **state) {
  tc_job *job = tc_job_make(1);
  tc_must_fault(TC_EVERY "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%base];", job,
                "not the 32 from lane 0 on");
  tc_must_fault(TC_EVERY "add.u32 %r9, %base, 0x100000; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r9], {%v0};",
                job, "not the 32 from lane 16 on");
  tc_must_fault(TC_EVERY "add.u32 %r9, %base, %t; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r9];", job,
                "the threads' operands differ");
  tc_must_fault(TC_EVERY "and.b32 %r9, %t, 96; shl.b32 %r9, %r9, 16;"
                         "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%r9+511];",
                job, "reaches column 512");
  tc_must_fault("tcgen05.shift.cta_group::1.down [0x100000];", job, "none of 0, 32, 64, 96");
  tc_must_fault("mov.b16 %h1, 2; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
                ".multicast::cluster.b64 [%bar], %h1;",
                job, "names a CTA that the cluster of 1 does not have");
  tc_must_fault("tcgen05.shift.cta_group::2.down [%base];", job, "no other to form a pair");
  job->ctas = 2;
  tc_must_fault("tcgen05.shift.cta_group::1.down [%base];", job,
                "earlier tcgen05 instructions are of .cta_group::2");
  free(job);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("allocations follow their rules", allocations_follow_their_rules),
      BEHAVIOUR("allocations get columns of their own", allocations_get_columns_of_their_own),
      BEHAVIOUR("what is in flight is left alone", what_is_in_flight_is_left_alone),
      BEHAVIOUR("warps learn that an operation is complete", warps_learn_that_an_operation_is_complete),
      BEHAVIOUR("loads and stores are waited for", loads_and_stores_are_waited_for),
      BEHAVIOUR("descriptors must make sense", descriptors_must_make_sense),
      BEHAVIOUR("warps reach their quarter of the lanes", warps_reach_their_quarter_of_the_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
