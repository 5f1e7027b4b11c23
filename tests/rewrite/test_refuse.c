#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/rewrite.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body)                                                                                         \
  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" body  \
       "\nret;\n}\n"

typedef struct text_case {
  const char *what, *text;
  hd_refusal_kind kind;
} text_case;

static size_t refusals(const char *text, hd_refusal *out, hd_arena *arena) {
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_arena_init(arena);
  if (hd_ptx_parse(text, strlen(text), "test", arena, &m, &d) != HD_OK)
    fail_msg("line %u: %s", d.line, d.message);
  int64_t f = hd_ptx_find_kernel(m, "k");
  assert_true(f >= 0);
  return hd_rewrite_refusals(m, (uint32_t)f, out, 1);
}

static void expect(const text_case *c) {
  hd_arena arena;
  hd_refusal r = {0};
  size_t n = refusals(c->text, &r, &arena);
  hd_arena_free(&arena);
  if (c->kind == HD_REFUSE_NONE ? n != 0 : n == 0 || r.kind != c->kind)
    fail_msg("%s: %zu refusals, first %s: %s", c->what, n, hd_refusal_name(r.kind), r.what);
}

static void what_sees_the_schedule_is_refused(void **state) {
  static const text_case cases[] = {
      {"smid", KERNEL("mov.u32 %r1, %smid;"), HD_REFUSE_SREG},
      {"warpid", KERNEL("mov.u32 %r1, %warpid;"), HD_REFUSE_SREG},
      {"gridid", KERNEL("mov.u64 %rd1, %gridid;"), HD_REFUSE_SREG},
      {"clock", KERNEL("mov.u64 %rd1, %clock64;\nst.global.u64 [%rd2], %rd1;"), HD_REFUSE_SREG},
      {"timer", KERNEL("st.global.u64 [%rd2], %globaltimer;"), HD_REFUSE_SREG},
      {"performance counter", KERNEL("mov.u32 %r1, %pm0;"), HD_REFUSE_SREG},
      {"wide performance counter", KERNEL("mov.u64 %rd1, %pm7_64;"), HD_REFUSE_SREG},
      {"number of SMs", KERNEL("mov.u32 %r1, %nsmid;"), HD_REFUSE_NONE},
      {"cooperative workspace", KERNEL("mov.u32 %r1, %envreg1;"), HD_REFUSE_GRID_SYNC},
      {"cluster rank", KERNEL("mov.u32 %r1, %cluster_ctarank;"), HD_REFUSE_CLUSTER},
      {"cluster barrier", KERNEL("barrier.cluster.arrive;"), HD_REFUSE_CLUSTER},
      {"mapa", KERNEL("mapa.u64 %rd1, %rd2, %r1;"), HD_REFUSE_CLUSTER},
      {"pair of CTAs", KERNEL("tcgen05.shift.cta_group::2.down [%r1];"), HD_REFUSE_CLUSTER},
      {"arrivals in other CTAs",
       KERNEL("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%rd1], %r1;"),
       HD_REFUSE_CLUSTER},
      {"a cluster of any shape", HEAD ".visible .entry k()\n.explicitcluster\n{\nret;\n}\n",
       HD_REFUSE_CLUSTER},
      {"a grid of clusters",
       HEAD ".visible .entry k()\n.reqntid 32\n.reqnctapercluster 2\n.blocksareclusters\n{\nret;\n}\n",
       HD_REFUSE_CLUSTER},
      {"a known cluster",
       HEAD ".visible .entry k()\n.reqnctapercluster 2, 1, 1\n{\nbarrier.cluster.arrive;\nret;\n}\n",
       HD_REFUSE_NONE},
      {"declaration", HEAD ".extern .entry k();\n", HD_REFUSE_NO_BODY},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

static void what_is_not_known_is_refused(void **state) {
  static const text_case cases[] = {
      {"an opcode", KERNEL("frob.b32 %r1, %r2;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"an opcode without operands", KERNEL("frob;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a modifier of arithmetic", KERNEL("add.frob.u32 %r1, %r2, 1;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a modifier of a load", KERNEL("ld.global.frob.u32 %r1, [%rd1];"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a modifier of a fence", KERNEL("fence.frob;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a modifier of a barrier", KERNEL("bar.sync.frob 0;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a modifier of a branch", KERNEL("@%p1 bra.frob L;\nL:"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a form without its word", KERNEL("mbarrier.shared.b64 [%rd1];"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"an opcode that is never reached", KERNEL("bra L;\nfrob;\nL:"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"in a called function",
       HEAD ".func f()\n{\nfrob;\nret;\n}\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"in a cluster", HEAD ".visible .entry k()\n.reqnctapercluster 2, 1, 1\n{\nfrob;\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a directive of the kernel", HEAD ".visible .entry k()\n.frobcluster 2\n{\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a directive of the kernel without a value", HEAD ".visible .entry k()\n.frob\n{\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a directive in the kernel", KERNEL(".frob 3;"), HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a directive in a called function",
       HEAD ".func f()\n{\n.frob 3;\nret;\n}\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a directive of the module", HEAD ".frob 3;\n.visible .entry k()\n{\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a state space of the module", HEAD ".frob .u32 x;\n.visible .entry k()\n{\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"a word that begins as a directive", HEAD ".filed 3;\n.visible .entry k()\n{\nret;\n}\n",
       HD_REFUSE_UNKNOWN_INSTRUCTION},
      {"directives of the module that say nothing of the schedule",
       HEAD ".file 1 \"k.cu\"\n.pragma \"nounroll\";\n.visible .entry k()\n{\nret;\n}\n"
            ".section .debug_str\n{\n.b8 0\n}\n",
       HD_REFUSE_NONE},
      {"a special register", KERNEL("mov.u32 %r1, %frobid;"), HD_REFUSE_SREG},
      {"a part of a special register", KERNEL("st.global.u32 [%rd1], %frobid.x;"), HD_REFUSE_SREG},
      {"directives that say nothing of the schedule",
       HEAD ".visible .entry k()\n.maxntid 64, 1, 1\n.minnctapersm 2\n.maxnreg 64\n{\n.pragma \"nounroll\";\n"
            "L: .branchtargets M;\nM:\n.loc 1 2 3\nret;\n}\n",
       HD_REFUSE_NONE},
      {"a function that is never called",
       HEAD ".func f()\n{\nfrob;\nret;\n}\n.visible .entry k()\n{\nret;\n}\n", HD_REFUSE_NONE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

static void no_lever_changes_a_kernel_with_what_is_not_known(void **state) {
  static const char *const plans[] = {"order=reverse",
                                      "bind=redirect",
                                      "bind=claim",
                                      "bind=agents",
                                      "threads=col",
                                      "threads=cta:col",
                                      "bypass=l1:1",
                                      "bypass=ro:1",
                                      "stream=l1",
                                      "order=col,shape=4x4",
                                      "order=col,shape=loop:4x4",
                                      "prefetch=l2:1,bind=agents"};
  static const char *const texts[] = {
      KERNEL("mov.u32 %r1, %ctaid.x;\nadd.frob.u32 %r1, %r2, 1;\nld.global.u32 %r2, [%rd1];"),
      KERNEL("mov.u32 %r1, %ctaid.x;\n.frob 1;\nld.global.u32 %r2, [%rd1];"),
      KERNEL("mov.u32 %r1, %ctaid.x;\nadd.u32 %r1, %r1, %frobid;\nld.global.u32 %r2, [%rd1];"),
      HEAD ".visible .entry k()\n.frob\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\nmov.u32 %r1, %ctaid.x;\n"
           "ld.global.u32 %r2, [%rd1];\nret;\n}\n",
  };
  for (size_t k = 0; k < sizeof plans / sizeof *plans * (sizeof texts / sizeof *texts); k++) {
    const size_t i = k % (sizeof plans / sizeof *plans);
    const char *text = texts[k / (sizeof plans / sizeof *plans)];
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan plan;
    hd_recipe recipe;
    hd_diag d = {0};
    hd_arena_init(&arena);
    assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
    if (hd_plan_parse(plans[i], &plan, &d) != HD_OK) fail_msg("%s: %s", plans[i], d.message);
    const hd_rewrite_options opt = {.grid = {.known = true, .g = {16, 1, 1}, .n_sms = 4},
                                    .block = {32, 1, 1}};
    hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &plan, &opt, &recipe, &d);
    if (st != HD_ERR_REFUSED || !strstr(d.message, "not known"))
      fail_msg("%s: %s: %d %s", text, plans[i], st, d.message);
    hd_arena_free(&arena);
  }
}

static void a_read_of_all_coordinates_is_one_of_each(void **state) {
  const char *text = KERNEL("@%p1 mov.v4.u32 {%r1, %r2, _, %r4}, %ctaid;\nst.global.u32 [%rd1], %r1;");
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan plan;
  hd_buf out = {0};
  hd_diag d = {0};
  const hd_rewrite_options opt = {.grid = {.known = true, .g = {16, 3, 1}, .n_sms = 4}};
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_plan_parse("order=reverse", &plan, &d), HD_OK);
  if (hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &plan, &opt, NULL, &d) != HD_OK)
    fail_msg("%s", d.message);
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  assert_null(strstr(out.data, "mov.v4"));
  assert_non_null(strstr(out.data, "@%p1 mov.u32 %r1, %heddle_"));
  assert_non_null(strstr(out.data, "@%p1 mov.u32 %r2, %heddle_"));
  assert_non_null(strstr(out.data, "@%p1 mov.u32 %r4, 0;"));
  hd_buf_free(&out);
  hd_arena_free(&arena);
}

static void calls_are_followed(void **state) {
  static const text_case cases[] = {
      {"ctaid in a called function",
       HEAD ".func f()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %ctaid.x;\nret;\n}\n.visible .entry "
            "k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_CTAID_IN_FUNC},
      {"two calls deep",
       HEAD
       ".func g()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %smid;\nret;\n}\n.func f()\n{\ncall.uni g;\nret;\n}\n"
       ".visible .entry k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_SREG},
      {"a function that is never called",
       HEAD
       ".func f()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %ctaid.x;\nret;\n}\n.visible .entry k()\n{\nret;\n}\n",
       HD_REFUSE_NONE},
      {"recursion",
       HEAD ".func f();\n.func f()\n{\ncall.uni f;\nret;\n}\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_NONE},
      {"unknown function", HEAD ".extern .func f();\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n",
       HD_REFUSE_UNKNOWN_CALL},
      {"printf",
       HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.visible .entry "
            "k()\n{\n.reg .b32 %r<2>;\n"
            "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\ncall.uni (r), vprintf, (a, b);\nld.param.b32 "
            "%r1, [r];\n}\nret;\n}\n",
       HD_REFUSE_NONE},
#define TARGETS(list)                                                                                        \
  HEAD ".extern .func out();\n.func f()\n{\nret;\n}\n.func g()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, "          \
       "%smid;\nret;\n}\n"                                                                                   \
       ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"                   \
       "T: .calltargets " list ";\ncall %rd1, (), T;\nret;\n}\n"
      {"a pointer to a listed function", TARGETS("f"), HD_REFUSE_NONE},
      {"a pointer to one of two listed functions", TARGETS("f, g"), HD_REFUSE_SREG},
      {"a pointer to a listed function of another module", TARGETS("f, out"), HD_REFUSE_UNKNOWN_CALL},
      {"function pointer",
       HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n{\nproto: "
            ".callprototype _ ();\n"
            "call %rd1, (), proto;\n}\nret;\n}\n",
       HD_REFUSE_UNKNOWN_CALL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

/* Wherever an operand can stand. */
static void special_registers_are_found_in_every_operand(void **state) {
  static const text_case cases[] = {
      {"in an address", KERNEL("ld.shared.u32 %r1, [%smid];"), HD_REFUSE_SREG},
      {"in an address with an offset", KERNEL("ld.shared.u32 %r1, [%smid+4];"), HD_REFUSE_SREG},
      {"as an index", KERNEL(".shared .b32 a[99];\nld.shared.u32 %r1, a[%smid];"), HD_REFUSE_SREG},
      {"as an index with an offset", KERNEL(".shared .b32 a[99];\nmov.u32 %r1, a[%smid+4];"), HD_REFUSE_SREG},
      {"in a vector", KERNEL("mov.b64 %rd1, {%r1, %smid};"), HD_REFUSE_SREG},
      {"in a vector that is stored", KERNEL("st.global.v2.u32 [%rd1], {%r1, %smid};"), HD_REFUSE_SREG},
      {"in a texture's coordinates", KERNEL("tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r1, %smid}];"),
       HD_REFUSE_SREG},
      {"in a texture's only coordinate", KERNEL("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%smid}];"),
       HD_REFUSE_SREG},
      {"among a call's arguments",
       HEAD ".func f(.reg .b32 x)\n{\nret;\n}\n.visible .entry k()\n{\ncall f, (%smid);\nret;\n}\n",
       HD_REFUSE_SREG},
      {"one that is harmless", KERNEL("st.global.v2.u32 [%rd1], {%r1, %laneid};"), HD_REFUSE_NONE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

static void a_refusal_names_instruction_and_line(void **state) {
  hd_arena arena;
  hd_refusal r;
  assert_int_equal(refusals(KERNEL("mov.u32 %r1, %smid;"), &r, &arena), 1);
  assert_int_equal(r.line, 9);
  assert_string_equal(r.what, "mov.u32 %r1, %smid;: its value depends on where and when the CTA runs");
  hd_arena_free(&arena);
}

static void a_refused_kernel_is_not_rewritten(void **state) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  const char *text = KERNEL("mov.u32 %r1, %smid;\nmov.u32 %r2, %ctaid.x;");
  assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
  hd_plan p;
  assert_int_equal(hd_plan_parse("order=reverse", &p, &d), HD_OK);
  hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}};
  assert_int_equal(hd_rewrite(m, 0, &p, &o, NULL, &d), HD_ERR_REFUSED);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an instruction that is not known is refused", what_is_not_known_is_refused),
      BEHAVIOUR("a read of all coordinates is one of each", a_read_of_all_coordinates_is_one_of_each),
      BEHAVIOUR("no lever changes a kernel with an instruction, a directive or a register that is not known",
                no_lever_changes_a_kernel_with_what_is_not_known),
      BEHAVIOUR("what sees the schedule is refused", what_sees_the_schedule_is_refused),
      BEHAVIOUR("calls are followed", calls_are_followed),
      BEHAVIOUR("special registers are found wherever an operand can stand",
                special_registers_are_found_in_every_operand),
      BEHAVIOUR("a refusal names instruction and line", a_refusal_names_instruction_and_line),
      BEHAVIOUR("a refused kernel is not rewritten", a_refused_kernel_is_not_rewritten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
