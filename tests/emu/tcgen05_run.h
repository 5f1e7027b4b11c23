/* Kernels with tensor memory: one thread issues instructions between two images of it. */
#ifndef HEDDLE_TESTS_EMU_TCGEN05_RUN_H
#define HEDDLE_TESTS_EMU_TCGEN05_RUN_H

#include "check.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TC_LANES = 128, TC_COLUMNS = 512, TC_SHARED = 96 * 1024, TC_FIRST = 1024, TC_VALUES = 8 };

/* What a launch of one CTA or a cluster of two is about. Shared memory before offset TC_FIRST is the
 * kernel's. */
typedef struct tc_job {
  unsigned ctas;
  uint64_t value[TC_VALUES]; /* %x0 to %x7; their lower halves are %y0 to %y7 */
  uint8_t shared[2][TC_SHARED];
  uint32_t tensor[2][TC_LANES][TC_COLUMNS];
} tc_job;

typedef struct tc_machine {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_diag d;
} tc_machine;

static inline void tc_ok(hd_status st, const hd_diag *d) {
  if (st != HD_OK) fail_msg("status %d, line %u: %s", st, d->line, d->message);
}

#define TC_MODULE ".version 8.8\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
#define TC_REGISTERS                                                                                         \
  ".reg .pred %%p<16>; .reg .pred %%yes, %%no; .reg .b32 %%r<64>; .reg .b64 %%d<32>; .reg .b32 %%v<128>;\n"  \
  ".reg .b64 %%x<8>; .reg .b32 %%y<8>; .reg .b64 %%in, %%out; .reg .b32 %%t, %%rank, %%base, %%bar;\n"       \
  ".reg .b16 %%h<4>;\n"

/* Kernel k: `op` is run by thread 0 of the first CTA; TC_EVERY in front: by all threads, between two
 * barriers. %base is the address of 512 columns, %bar that of the mbarrier, on which a commit must arrive in
 * every CTA. */
#define TC_EVERY "!"
static inline void tc_kernel(hd_buf *text, const char *name, const char *op, unsigned ctas) {
  const bool all = op[0] == TC_EVERY[0], two = ctas == 2;
  const char *meet =
      two ? "bar.sync 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" : "bar.sync 0;\n";
  hd_buf_printf(text,
                ".visible .entry %s(.param .u64 in, .param .u64 out)%s\n{\n" TC_REGISTERS
                "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out];\n"
                "mov.u32 %%t, %%tid.x; mov.u32 %%rank, %%ctaid.x;\n",
                name, two ? " .explicitcluster" : "");
  for (unsigned k = 0; k < TC_VALUES; k++)
    hd_buf_printf(text, "ld.global.u64 %%x%u, [%%in+%u]; cvt.u32.u64 %%y%u, %%x%u;\n", k, 8 * k, k, k);
  hd_buf_printf(text,
                "mad.wide.u32 %%d1, %%rank, %u, %%in; add.u64 %%d1, %%d1, 64;\n"
                /* shared memory */
                "mov.u32 %%r1, smem; add.u32 %%bar, %%r1, 16; mov.u32 %%r2, %%t; shl.b32 %%r2, %%r2, 2;\n"
                "add.u32 %%r2, %%r2, %u;\n"
                "FILL: add.u32 %%r3, %%r1, %%r2; cvt.u64.u32 %%d2, %%r2; add.u64 %%d2, %%d2, %%d1;\n"
                "ld.global.u32 %%r4, [%%d2]; st.shared.u32 [%%r3], %%r4; add.u32 %%r2, %%r2, 512;\n"
                "setp.lt.u32 %%p1, %%r2, %u; @%%p1 bra FILL;\n"
                "fence.proxy.async;\n"
                "setp.eq.u32 %%p2, %%t, 0; @%%p2 mbarrier.init.shared.b64 [%%bar], 1;\n"
                "setp.lt.u32 %%p3, %%t, 32; @!%%p3 bra HAVE;\n"
                "tcgen05.alloc.cta_group::%u.sync.aligned.shared::cta.b32 [%%r1], 512;\n"
                "tcgen05.relinquish_alloc_permit.cta_group::%u.sync.aligned;\nHAVE:\n%s",
                (unsigned)(TC_SHARED + sizeof((tc_job *)0)->tensor[0]), TC_FIRST, TC_SHARED, ctas, ctas,
                meet);
  /* tensor memory: a thread's lane, 8 columns at a time */
  hd_buf_printf(text,
                "ld.shared.u32 %%base, [%%r1]; and.b32 %%r5, %%t, 96; shl.b32 %%r5, %%r5, 16;\n"
                "add.u32 %%r5, %%r5, %%base; mad.wide.u32 %%d3, %%t, %u, %%d1; add.u64 %%d3, %%d3, %u;\n"
                "mov.u32 %%r6, 0;\n"
                "SET: ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%d3];\n"
                "ld.global.v4.b32 {%%v4, %%v5, %%v6, %%v7}, [%%d3+16];\n"
                "tcgen05.st.sync.aligned.32x32b.x8.b32 [%%r5], {%%v0, %%v1, %%v2, %%v3, %%v4, %%v5, %%v6, "
                "%%v7};\n"
                "add.u32 %%r5, %%r5, 8; add.u64 %%d3, %%d3, 32; add.u32 %%r6, %%r6, 8;\n"
                "setp.lt.u32 %%p1, %%r6, 512; @%%p1 bra SET;\n"
                "tcgen05.wait::st.sync.aligned;\n"
                "setp.eq.u32 %%yes, %%t, %%t; setp.ne.u32 %%no, %%t, %%t;\n"
                "tcgen05.fence::before_thread_sync;\n%stcgen05.fence::after_thread_sync;\n",
                4 * TC_COLUMNS, TC_SHARED, meet);
  if (all)
    hd_buf_printf(text, "%s\n", op + 1);
  else
    hd_buf_printf(text,
                  "or.b32 %%r7, %%t, %%rank; setp.ne.u32 %%p4, %%r7, 0; @%%p4 bra ISSUED;\n%s\n"
                  "mov.b16 %%h1, 3;\n"
                  "tcgen05.commit.cta_group::%u.mbarrier::arrive::one.shared::cluster%s.b64 [%%bar]%s;\n"
                  "ISSUED:\n"
                  "WAIT: mbarrier.try_wait.parity.shared.b64 %%p5, [%%bar], 0; @!%%p5 bra WAIT;\n",
                  op, ctas, two ? ".multicast::cluster" : "", two ? ", %h1" : "");
  hd_buf_printf(
      text,
      "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
      "and.b32 %%r5, %%t, 96; shl.b32 %%r5, %%r5, 16; add.u32 %%r5, %%r5, %%base;\n"
      "mad.lo.u32 %%r8, %%rank, 128, %%t; mad.wide.u32 %%d4, %%r8, %u, %%out;\nmov.u32 %%r6, 0;\n"
      "GET: tcgen05.ld.sync.aligned.32x32b.x8.b32 {%%v0, %%v1, %%v2, %%v3, %%v4, %%v5, %%v6, %%v7}, "
      "[%%r5];\n"
      "tcgen05.wait::ld.sync.aligned;\n"
      "st.global.v4.b32 [%%d4], {%%v0, %%v1, %%v2, %%v3};\n"
      "st.global.v4.b32 [%%d4+16], {%%v4, %%v5, %%v6, %%v7};\n"
      "add.u32 %%r5, %%r5, 8; add.u64 %%d4, %%d4, 32; add.u32 %%r6, %%r6, 8;\n"
      "setp.lt.u32 %%p1, %%r6, 512; @%%p1 bra GET;\n%s"
      "@%%p3 tcgen05.dealloc.cta_group::%u.sync.aligned.b32 %%base, 512;\nret;\n}\n",
      4 * TC_COLUMNS, meet, ctas);
}

/* Every kernel that a test ran, for ptxas. */
static hd_buf tc_seen;
static unsigned tc_seen_n;

static inline void tc_text(hd_buf *text, const char *op, unsigned ctas) {
  char name[16];
  snprintf(name, sizeof name, "k%u", tc_seen_n++);
  hd_buf_puts(text, TC_MODULE);
  tc_kernel(text, "k", op, ctas);
  tc_kernel(&tc_seen, name, op, ctas);
}

/* Where ptxas is installed, it must take all of them. */
static inline void ptxas_takes_the_kernels(void **state) {
  char path[] = "/tmp/heddle-tcgen05-XXXXXX", command[128];
  const int file = mkstemp(path);
  assert_true(file >= 0 && tc_seen_n && !tc_seen.failed);
  FILE *f = fdopen(file, "w");
  assert_non_null(f);
  fputs(TC_MODULE, f);
  fputs(tc_seen.data, f);
  fclose(f);
  snprintf(command, sizeof command, "command -v ptxas >&2 && ptxas -arch=sm_100a -O0 -o /dev/null %s", path);
  const bool there = system("command -v ptxas > /dev/null") == 0;
  const int code = there ? system(command) : 0;
  remove(path);
  hd_buf_free(&tc_seen);
  assert_int_equal(code, 0);
}

static inline void tc_open(tc_machine *x, const hd_buf *text, hd_emu_isa isa) {
  const hd_emu_options opt = {
      .checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 26, .max_instructions = 1 << 26, .isa = isa};
  memset(x, 0, sizeof *x);
  hd_arena_init(&x->arena);
  tc_ok(hd_ptx_parse(text->data, text->len, "test.ptx", &x->arena, &x->m, &x->d), &x->d);
  tc_ok(hd_emu_create(&opt, &x->e, &x->d), &x->d);
  tc_ok(hd_emu_load(x->e, x->m, &x->p, &x->d), &x->d);
}
static inline void tc_close(tc_machine *x) {
  hd_emu_unload(x->p);
  hd_emu_destroy(x->e);
  hd_arena_free(&x->arena);
}

/* Run a kernel's text on the job, whose tensor memory becomes what the kernel read in the end. */
static inline hd_status tc_launch(tc_machine *x, tc_job *job) {
  const size_t tensor = sizeof job->tensor[0], one = TC_SHARED + tensor;
  uint8_t *in = malloc(64 + 2 * one);
  uint64_t args[2];
  memcpy(in, job->value, sizeof job->value);
  for (unsigned c = 0; c < 2; c++) {
    memcpy(in + 64 + c * one, job->shared[c], TC_SHARED);
    memcpy(in + 64 + c * one + TC_SHARED, job->tensor[c], tensor);
  }
  tc_ok(hd_emu_alloc(x->e, 64 + 2 * one, &args[0], &x->d), &x->d);
  tc_ok(hd_emu_alloc(x->e, 2 * tensor, &args[1], &x->d), &x->d);
  tc_ok(hd_emu_write(x->e, args[0], in, 64 + 2 * one, &x->d), &x->d);
  tc_ok(hd_emu_write(x->e, args[1], job->tensor, 2 * tensor, &x->d), &x->d);
  free(in);
  const hd_emu_launch_params l = {.kernel = "k",
                                  .grid = {job->ctas, 1, 1},
                                  .block = {128, 1, 1},
                                  .cluster = {job->ctas, 1, 1},
                                  .dynamic_shared = TC_SHARED,
                                  .args = args,
                                  .args_bytes = sizeof args};
  const hd_status st = hd_emu_launch(x->p, &l, NULL, NULL, NULL, &x->d);
  if (st == HD_OK) tc_ok(hd_emu_read(x->e, args[1], job->tensor, 2 * tensor, &x->d), &x->d);
  return st;
}

static inline void tc_run(const char *op, tc_job *job, hd_emu_isa isa) {
  hd_buf text = {0};
  tc_machine x;
  tc_text(&text, op, job->ctas);
  tc_open(&x, &text, isa);
  tc_ok(hd_emu_supported(x.p, "k", &x.d), &x.d);
  tc_ok(tc_launch(&x, job), &x.d);
  tc_close(&x);
  hd_buf_free(&text);
}

/* The launch must end in a fault that says so. */
static inline void tc_must_fault(const char *op, tc_job *job, const char *words) {
  hd_buf text = {0};
  tc_machine x;
  tc_text(&text, op, job->ctas);
  tc_open(&x, &text, HD_ISA_AUTO);
  tc_ok(hd_emu_supported(x.p, "k", &x.d), &x.d);
  const hd_status st = tc_launch(&x, job);
  if (st != HD_ERR_FAULT) fail_msg("status %d instead of a fault: %s", st, op);
  if (!strstr(x.d.message, words)) fail_msg("no \"%s\" in: %s", words, x.d.message);
  tc_close(&x);
  hd_buf_free(&text);
}

/* A job with numbers everywhere that are none of a result. */
static inline tc_job *tc_job_make(unsigned ctas) {
  tc_job *job = calloc(1, sizeof *job);
  job->ctas = ctas;
  for (unsigned c = 0; c < 2; c++) {
    memset(job->shared[c], 0xa5, TC_SHARED);
    for (unsigned l = 0; l < TC_LANES; l++)
      for (unsigned k = 0; k < TC_COLUMNS; k++) job->tensor[c][l][k] = c << 28 | l << 16 | k | 1u << 27;
  }
  return job;
}

/* ---- Descriptors of shared memory ----------------------------------------------------------- */

/* Bytes of a row of the pattern: 16 (no swizzle), 32, 64, 128; 1: 128 bytes of which 32 are moved together.
 */
static inline uint64_t tc_descriptor(unsigned start, unsigned leading, unsigned stride, unsigned width) {
  const uint64_t mode = width == 128 ? 2 : width == 64 ? 4 : width == 32 ? 6 : width == 1 ? 1 : 0;
  return start / 16 | (uint64_t)(leading / 16) << 16 | (uint64_t)(stride / 16) << 32 | UINT64_C(1) << 46 |
         mode << 61;
}

#endif
