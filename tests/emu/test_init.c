/* Loads of memory that was never written: findings, with which the kernel goes on. */
#include "check.h"
#include "heddle/emu.h"

#include <stdlib.h>
#include <string.h>

/* l and m are in local memory; %a is the address of 256 bytes that were written, %l that of l. */
#define HEAD                                                                                                 \
  ".version 8.6\n.target sm_90\n.address_size 64\n"                                                          \
  ".func (.param .b32 r) twice(.param .b32 x)\n{\n.local .b32 v; .reg .b32 %q<4>; .reg .pred %c;\n"          \
  "ld.param.u32 %q1, [x]; setp.eq.u32 %c, %q1, 0; @!%c st.local.u32 [v], %q1; ld.local.u32 %q2, [v]; "       \
  "st.param.b32 [r], %q2; ret;\n}\n"                                                                         \
  ".func (.param .b32 r) passed(.param .align 8 .b8 x[16])\n{\n.reg .b32 %q<4>; .reg .b64 %g;\n"             \
  "mov.b64 %g, x; ld.local.u32 %q1, [%g + 4]; ld.param.u32 %q2, [x + 8]; add.u32 %q1, %q1, %q2; "            \
  "st.param.b32 [r], %q1; ret;\n}\n"                                                                         \
  ".visible .entry k(.param .u64 a)\n{\n.local .align 16 .b8 l[32]; .local .b32 m;\n"                        \
  ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %t; .reg .b64 %a, %l, %d<4>;\n"                              \
  "ld.param.u64 %a, [a]; mov.u32 %t, %tid.x; mov.u64 %l, l; setp.eq.u32 %p1, %t, 0;\n"

#define CALL(f, ...)                                                                                         \
  "{ .param .b32 p0; .param .b32 p1; st.param.b32 [p0], " #__VA_ARGS__ "; call.uni (p1), " #f ", (p0); "     \
  "ld.param.b32 %r1, [p1]; }\n"

typedef struct row {
  const char *name, *body;
  unsigned findings;
} row;

static const row rows[] = {
    {"never written", "ld.local.u32 %r1, [l];", 1},
    {"written", "st.local.u32 [l], 1; ld.local.u32 %r1, [l];", 0},
    {"beside what was written", "st.local.u32 [l], 1; ld.local.u32 %r1, [l + 4];", 1},
    {"half of a vector", "st.local.u32 [l], 1; ld.local.v2.u32 {%r1, %r2}, [l];", 1},
    {"another variable",
     "st.local.v4.u32 [l], {%r1, %r1, %r1, %r1}; st.local.v4.u32 [l + 16], {%r1, %r1, %r1, %r1}; "
     "ld.local.u32 %r1, [m];",
     1},
    {"by a lane alone", "@%p1 st.local.u32 [l], 1; ld.local.u32 %r1, [l];", 1},
    {"by the lane that reads", "@%p1 st.local.u32 [l], 1; @%p1 ld.local.u32 %r1, [l];", 0},
    {"by a generic address", "cvta.local.u64 %d1, %l; ld.u32 %r1, [%d1 + 8];", 1},
    {"written by a generic address",
     "cvta.local.u64 %d1, %l; st.u32 [%d1 + 8], 1; ld.local.u32 %r1, [l + 8];", 0},
    {"twice at one place",
     "mov.u32 %r3, 0; again: ld.local.u32 %r1, [l]; add.u32 %r3, %r3, 1; "
     "setp.lt.u32 %p2, %r3, 4; @%p2 bra again;",
     1},
    {"a function's, written", CALL(twice, 1), 0},
    {"a function's, written by the call before", CALL(twice, 1) CALL(twice, 0), 1},
    {"a parameter, half written",
     "{ .param .align 8 .b8 p0[16]; .param .b32 p1; st.param.b32 [p0], 1; call.uni (p1), passed, (p0); "
     "ld.param.b32 %r1, [p1]; }",
     0},
    {"alloca's", "alloca.u64 %d1, 16; ld.local.u32 %r1, [%d1];", 1},
    {"alloca's, written", "alloca.u64 %d1, 16; st.local.u32 [%d1], 1; ld.local.u32 %r1, [%d1];", 0},
};

static void run(unsigned sm, const char *head, const row *r, bool told, hd_emu_strays *found) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_buf text = {0};
  hd_diag d = {0};
  const hd_emu_options opt = {.threads = 1, .sm = sm, .memory = 1 << 22, .n_sms = 1, .checks = HD_CHECK_INIT};
  uint64_t a;
  const uint32_t block = sm == 90 ? 64 : 32;
  hd_buf_printf(&text, "%s%s\nst.global.u32 [%%a], 7;\nret;\n}\n", head, r->body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "init.ptx", &arena, &m, &d) != HD_OK)
    fail_msg("%s: %u: %s", r->name, d.line, d.message);
  assert_int_equal(hd_emu_create(&opt, &e, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, 256, &a, &d), HD_OK);
  if (hd_emu_load(e, m, &p, &d) != HD_OK) fail_msg("%s: %s", r->name, d.message);
  for (int launch = 0; launch < 2; launch++) { /* the second finds the first one's memory */
    const hd_emu_launch_params l = {.kernel = "k",
                                    .grid = {2, 1, 1},
                                    .block = {block, 1, 1},
                                    .args = &a,
                                    .args_bytes = sizeof a,
                                    .unwritten = told ? found : NULL};
    if (hd_emu_launch(p, &l, NULL, NULL, NULL, &d) != HD_OK) fail_msg("%s: %s", r->name, d.message);
    assert_int_equal(*(uint32_t *)hd_emu_ptr(e, a, 4), 7);
  }
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
}

static void find(unsigned sm, const char *head, const row *r, const char *where) {
  hd_emu_strays found = {0};
  run(sm, head, r, true, &found);
  if (found.n != 2 * r->findings)
    fail_msg("%s: %zu findings in two launches, not %u", r->name, found.n, 2 * r->findings);
  for (size_t i = 0; i < found.n; i++)
    if (!strstr(found.data[i].message, where)) fail_msg("%s: %s", r->name, found.data[i].message);
  hd_vec_free(&found);
}

static void loads_of_local_memory_never_written_are_found(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) find(90, HEAD, &rows[k], "at local offset 0x");
}

/* Rows of 16 elements of 4 and 6 bits are 16 bytes in shared memory, of which the last are padding; %w is the
 * lane's own row in s. */
#define ROWS_OF(target)                                                                                      \
  ".version 8.6\n.target " target "\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"                \
  ".shared .align 16 .b8 s[512]; .reg .b32 %r<8>, %w, %t; .reg .b64 %a; ld.param.u64 %a, [a]; "              \
  "mov.u32 %t, %laneid; mov.u32 %w, s; mad.lo.u32 %w, %t, 16, %w;\n"
#define WRITE(n) "st.shared.b32 [%w + " #n "], 1; "
#define LOAD(shape) "bar.sync 0; ldmatrix.sync.aligned." shape ", [%w];"

static const row padded[] = {
    {"4 bits, all written", WRITE(0) WRITE(4) LOAD("m8n16.x1.shared.b8x16.b4x16_p64 {%r1}"), 0},
    {"4 bits, half of them written", WRITE(0) LOAD("m8n16.x1.shared.b8x16.b4x16_p64 {%r1}"), 1},
    {"4 bits, the padding alone written", WRITE(8) WRITE(12) LOAD("m8n16.x1.shared.b8x16.b4x16_p64 {%r1}"),
     1},
    {"4 bits, transposed",
     WRITE(0) WRITE(4) LOAD("m16n16.x2.trans.shared.b8x16.b4x16_p64 {%r1, %r2, %r3, %r4}"), 0},
    {"6 bits, all written",
     WRITE(0) WRITE(4) WRITE(8) LOAD("m8n16.x4.shared.b8x16.b6x16_p32 {%r1, %r2, %r3, %r4}"), 0},
    {"6 bits, two thirds of them written",
     WRITE(0) WRITE(4) LOAD("m8n16.x4.shared.b8x16.b6x16_p32 {%r1, %r2, %r3, %r4}"), 1},
    {"6 bits, transposed, two thirds of them written",
     WRITE(0) WRITE(4) LOAD("m16n16.x1.trans.shared.b8x16.b6x16_p32 {%r1, %r2}"), 1},
    {"8 bits, which have no padding", WRITE(0) WRITE(4) WRITE(8) LOAD("m16n16.x1.trans.shared.b8 {%r1, %r2}"),
     1},
    {"16 bits, which have no padding", WRITE(0) WRITE(4) WRITE(8) LOAD("m8n8.x1.shared.b16 {%r1}"), 1},
};

/* Copies of such rows to tensor memory. */
#define COPY(form)                                                                                           \
  ".shared .b32 base; .shared .b64 bar; .reg .b64 %d; .reg .b32 %b, %m; .reg .pred %one, %over; "            \
  "mov.u32 %b, base; mov.u32 %m, s; setp.eq.u32 %one, %t, 0; @%one mbarrier.init.shared.b64 [bar], 1; "      \
  "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%b], 32; bar.sync 0; ld.shared.u32 %b, [base]; " \
  "shr.u32 %m, %m, 4; cvt.u64.u32 %d, %m; or.b64 %d, %d, 0x400800010000; fence.proxy.async; bar.sync 0; "    \
  "@%one tcgen05.cp.cta_group::1." form " [%b], %d; mov.u32 %m, bar; "                                       \
  "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%m]; "                       \
  "again: mbarrier.try_wait.parity.shared.b64 %over, [bar], 0; @!%over bra again; bar.sync 0; "              \
  "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %b, 32;"

static const row copied[] = {
    {"4 bits, all written", WRITE(0) WRITE(4) COPY("32x128b.warpx4.b8x16.b4x16_p64"), 0},
    {"4 bits, half of them written", WRITE(0) COPY("32x128b.warpx4.b8x16.b4x16_p64"), 1},
    {"6 bits, all written", WRITE(0) WRITE(4) WRITE(8) COPY("32x128b.warpx4.b8x16.b6x16_p32"), 0},
    {"6 bits, two thirds of them written", WRITE(0) WRITE(4) COPY("32x128b.warpx4.b8x16.b6x16_p32"), 1},
    {"copied as they are", WRITE(0) WRITE(4) WRITE(8) COPY("32x128b.warpx4"), 1},
};

static void padding_of_rows_is_not_read(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof padded / sizeof *padded; k++)
    find(120, ROWS_OF("sm_120a"), &padded[k], "at shared offset 0x");
  for (size_t k = 0; k < sizeof copied / sizeof *copied; k++)
    find(100, ROWS_OF("sm_100a"), &copied[k], "at shared offset 0x");
}

static void they_are_no_faults(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) run(90, HEAD, &rows[k], false, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loads of local memory never written are found, and the kernel goes on",
                loads_of_local_memory_never_written_are_found),
      BEHAVIOUR("the padding of rows of 4 and 6 bits is not read", padding_of_rows_is_not_read),
      BEHAVIOUR("where nobody asks for them they are no faults", they_are_no_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
