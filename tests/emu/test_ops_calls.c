/* Functions under other names, functions that take any number of bytes, and the shared memory that GPUs
 * reserve. */
#include "emu/ops_run.h"

/* The word that a kernel writes: HEAD, then `text`, whose kernel k leaves it in %r. */
static void expect(const char *text, uint32_t want) {
  hd_buf whole = {0};
  op_machine x;
  hd_diag d = {0};
  uint32_t out = 0;
  op_ptx_header(&whole);
  hd_buf_puts(&whole, text);
  op_load(&x, &whole, HD_ISA_PORTABLE);
  const uint64_t to = op_alloc(&x, &out, sizeof out);
  op_ok(op_launch(&x, "k", 1, 32, &to, sizeof to, &d), &d);
  op_ok(hd_emu_read(x.e, to, &out, sizeof out, &d), &d);
  if (out != want) fail_msg("%u, not %u: %s", out, want, text);
  op_unload(&x);
  hd_buf_free(&whole);
}

#define KERNEL(body)                                                                                         \
  ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>; .reg .b64 %d<8>; ld.param.u64 %d0, [out];\n" body \
  "st.global.u32 [%d0], %r0;\nret;\n}\n"

/* ---- .alias -------------------------------------------------------------------------------------- */

#define DECLARED(name) ".visible .func (.param .b32 r) " name "(.param .b32 a);\n"
#define ADDS(name, n)                                                                                        \
  ".visible .func (.param .b32 r) " name "(.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; "            \
  "add.u32 %a, %a, " n "; st.param.b32 [r], %a; ret; }\n"
#define CALLS(name, how)                                                                                     \
  "{ .param .b32 x; .param .b32 z; st.param.b32 [x], 8; " how " (z), " name                                  \
  ", (x); ld.param.b32 %r0, [z]; }\n"

static void an_alias_is_the_function_it_names(void **state) {
  expect(DECLARED("other") ADDS("five", "5") KERNEL(CALLS("other", "call")) ".alias other, five;\n", 13);
  /* before its use, among others, with blanks and comments */
  expect(DECLARED("b") DECLARED("a") ADDS("one", "1")
             ADDS("two", "2") ".alias /* b */ b ,\n two ;\n.alias a, one;\n" KERNEL(CALLS("b", "call.uni")),
         10);
  /* of an alias */
  expect(DECLARED("a") DECLARED("b")
             ADDS("nine", "9") ".alias a, nine;\n.alias b, a;\n" KERNEL(CALLS("b", "call")),
         17);
  /* by its address */
  expect(DECLARED("other") ADDS("five", "5")
             KERNEL("mov.u64 %d1, other;\nP: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                    "{ .param .b32 x; .param .b32 z; st.param.b32 [x], 8; call (z), %d1, (x), P; "
                    "ld.param.b32 %r0, [z]; }\n") ".alias other, five;\n",
         13);
}

/* Every floor sees the function itself. */
static void references_to_an_alias_are_resolved_when_a_module_is_read(void **state) {
  static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n" DECLARED("other")
      ADDS("five", "5") KERNEL(CALLS("other", "call")) ".alias other, five;\n";
  hd_arena arena;
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_buf out = {0};
  hd_arena_init(&arena);
  op_ok(hd_ptx_parse(text, strlen(text), "t", &arena, &m, &d), &d);
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  assert_non_null(strstr(out.data, "call (z), five, (x);"));
  assert_non_null(strstr(out.data, ".alias other, five;"));
  hd_buf_free(&out);
  hd_arena_free(&arena);
}

/* ---- Variadic functions ---------------------------------------------------------------------------- */

/* Adds n words of the argument, through its address and by name. */
#define SUM                                                                                                  \
  ".visible .func (.param .b32 r) sum(.param .b32 n, .param .align 8 .b8 rest[]) { .reg .b32 %n, %s, %x; "   \
  ".reg .b64 "                                                                                               \
  "%a; .reg .pred %q; ld.param.b32 %n, [n]; mov.b64 %a, rest; cvta.local.u64 %a, %a; mov.u32 %s, 0;\n"       \
  "L: ld.u32 %x, [%a]; add.u32 %s, %s, %x; add.u64 %a, %a, 4; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; "    \
  "@%q bra L;\n"                                                                                             \
  "ld.param.b32 %x, [rest]; mad.lo.u32 %s, %s, 1000, %x; st.param.b32 [r], %s; ret; }\n"
#define PASSES(n, bytes, stores, where)                                                                      \
  "{ .param .b32 x; .param .b32 z; .param .align 8 .b8 y[" bytes "]; st.param.b32 [x], " n "; " stores       \
  "call (z), sum, (x, y); ld.param.b32 " where ", [z]; }\n"

static void a_variadic_function_takes_what_is_passed(void **state) {
  expect(SUM KERNEL(PASSES("2", "8", "st.param.b32 [y], 21; st.param.b32 [y+4], 100; ", "%r0")), 121021);
  expect(SUM KERNEL(PASSES("1", "4", "st.param.b32 [y], 7; ", "%r1")
                        PASSES("4", "32", "st.param.v2.b32 [y], {1, 2}; st.param.v2.b32 [y+8], {3, 4}; ",
                               "%r2") "add.u32 %r0, %r1, %r2;\n"),
         7007 + 10001);
}

/* The argument's room is that of the largest one passed; what is behind a register's bytes is nothing. */
static void a_variadic_function_takes_a_register_by_its_address(void **state) {
  expect(SUM
         ".visible .func (.param .b32 r) first(.param .align 8 .b8 rest[]) { .reg .b32 %x, %y; "
         "ld.param.b32 %x, [rest]; ld.param.b32 %y, [rest+8]; add.u32 %x, %x, %y; st.param.b32 [r], %x; ret; "
         "}\n" KERNEL(PASSES(
             "1", "64", "st.param.b32 [y], 7; ",
             "%r1") "mov.u64 %d1, first;\nP: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                    "{ .param .b32 z; mov.u32 %r2, 9; call (z), %d1, (%r2), P; ld.param.b32 %r0, [z]; }\n"),
         9);
}

static void a_variadic_argument_ends_somewhere(void **state) {
  hd_buf text = {0};
  op_machine x;
  hd_diag d = {0};
  op_ptx_header(&text);
  hd_buf_puts(
      &text,
      ".visible .func far(.param .align 8 .b8 rest[]) { .reg .b32 %x; ld.param.b32 %x, [rest+8]; ret; }\n"
      ".visible .entry k(.param .u64 out) { .param .align 8 .b8 y[8]; st.param.b64 [y], 1; call far, (y); "
      "ret; }\n");
  op_load(&x, &text, HD_ISA_PORTABLE);
  const uint64_t to = 0;
  assert_int_equal(op_launch(&x, "k", 1, 32, &to, sizeof to, &d), HD_ERR_UNSUPPORTED);
  op_unload(&x);
  hd_buf_free(&text);
}

/* ---- Reserved shared memory --------------------------------------------------------------------------- */

/* 288 bytes, which are neither of a kernel's own variables nor of its dynamic shared memory, the same in a
 * function. */
static void reserved_shared_memory_is_apart_from_the_programs(void **state) {
  expect(
      ".shared .align 4 .b8 own[100];\n.extern .shared .align 16 .b8 more[];\n"
      ".func (.reg .b32 %v) where() { mov.u32 %v, %reserved_smem_offset_1; ret; }\n" KERNEL(
          "mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, own; mov.u32 %r3, more; call (%r4), where;\n"
          "add.u32 %r2, %r2, 100; .reg .pred %p, %q; setp.ge.u32 %p, %r1, %r2; add.u32 %r5, %r1, 288;\n"
          "setp.le.and.u32 %p, %r5, %r3, %p; setp.eq.and.u32 %p, %r1, %r4, %p; st.shared.u32 [%r1+284], 5;\n"
          "ld.shared.u32 %r6, [%r1+284]; setp.eq.and.u32 %p, %r6, 5, %p; selp.u32 %r0, 1, 0, %p;\n"),
      1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an alias is the function it names", an_alias_is_the_function_it_names),
      BEHAVIOUR("references to an alias are resolved when a module is read",
                references_to_an_alias_are_resolved_when_a_module_is_read),
      BEHAVIOUR("a variadic function takes what is passed", a_variadic_function_takes_what_is_passed),
      BEHAVIOUR("a variadic function takes a register by its address",
                a_variadic_function_takes_a_register_by_its_address),
      BEHAVIOUR("a variadic argument ends somewhere", a_variadic_argument_ends_somewhere),
      BEHAVIOUR("reserved shared memory is apart from the program's",
                reserved_shared_memory_is_apart_from_the_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
