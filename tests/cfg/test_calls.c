/* Which functions a kernel can reach; calls that are inlined. */
#include "cfg/subject.h"

#define FUNC(name, body) ".func " name "()\n{\n.reg .b64 %q<9>;\n.reg .pred %z;\n" body "\nret;\n}\n"

static bool reaches(const subject *s, const hd_reach *r, const char *name, bool *recursive) {
  for (uint32_t i = 0; i < r->n; i++)
    if (strcmp(s->m->syms[s->m->funcs[r->funcs[i]].sym].name, name) == 0) {
      *recursive = r->recursive[i];
      return true;
    }
  return false;
}

static void what_a_kernel_reaches_is_what_it_names(void **state) {
  static const struct {
    const char *what, *functions, *body;
    const char *reached, *recursive; /* names of one letter */
    bool unknown;
  } cases[] = {
      {"no call", FUNC("a", ""), "", "", "", false},
      {"a call", FUNC("a", "") FUNC("b", ""), "call a;", "a", "", false},
      {"by way of another", FUNC("a", "") FUNC("b", "call a;"), "call b;", "ab", "", false},
      {"a function that calls itself", FUNC("a", "call a;"), "call a;", "a", "a", false},
      {"two that call each other", ".func b();\n" FUNC("a", "call b;") FUNC("b", "call a;") FUNC("c", ""),
       "call a;\ncall c;", "abc", "ab", false},
      {"a call through a list of targets", FUNC("a", "") FUNC("b", "") FUNC("c", ""),
       "T: .calltargets a, b;\ncall %l1, T;", "ab", "", false},
      {"a pointer to a function", FUNC("a", "") FUNC("b", ""),
       "mov.u64 %l1, a;\nP: .callprototype _ ();\ncall %l1, P;", "a", "a", true},
      {"a table of functions", FUNC("a", "") FUNC("b", "") ".global .u64 table[1] = {a};\n",
       "P: .callprototype _ ();\ncall %l1, P;", "a", "a", true},
      {"a table that nobody calls from", FUNC("a", "") ".global .u64 table[1] = {a};\n", "", "", "", false},
      {"a function of another module", ".extern .func a();\n", "call a;", "", "", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject s;
    hd_reach r;
    if (open_subject(&s, cases[i].functions, cases[i].body, 0) != HD_OK) fail_msg("%s", cases[i].what);
    hd_reach_find(s.m, (uint32_t)hd_ptx_find_kernel(s.m, "k"), &s.arena, &r);
    for (const char *name = "abc"; *name; name++) {
      bool recursive = false, reached = reaches(&s, &r, (char[]){*name, 0}, &recursive);
      if (reached != (strchr(cases[i].reached, *name) != NULL)) fail_msg("%s: %c", cases[i].what, *name);
      if (recursive != (strchr(cases[i].recursive, *name) != NULL))
        fail_msg("%s: %c recursive", cases[i].what, *name);
    }
    if (r.unknown != cases[i].unknown) fail_msg("%s: unknown", cases[i].what);
    close_subject(&s);
  }
}

static unsigned count_calls(const hd_cfg *g, bool inlined) {
  unsigned n = 0;
  for (uint32_t i = 0; i < g->n_insts; i++)
    n += hd_inst_form(g, i)->op == HD_OP_CALL && (g->insts[i].body != 0) == inlined;
  return n;
}

static void calls_are_inlined_once_per_site_and_not_into_themselves(void **state) {
  subject s;
  const char *functions = FUNC("a", "mov.u64 %q1, 1;") FUNC("b", "call a;\ncall b;\ncall a;");
  assert_int_equal(open_subject(&s, functions, "call b;\ncall a;\nret;", 1000), HD_OK);
  assert_int_equal(s.g.n_calls, 1 + 1 + 2 + 1); /* k, b, a twice in it, a */
  assert_int_equal(count_calls(&s.g, true), 4);
  assert_int_equal(count_calls(&s.g, false), 1);
  /* Registers of two bodies of one function are different ones. */
  assert_int_not_equal(s.g.calls[2].reg_base, s.g.calls[3].reg_base);
  close_subject(&s);
  assert_int_equal(open_subject(&s, functions, "call b;\ncall a;\nret;", 0), HD_OK);
  assert_int_equal(s.g.n_calls, 1);
  assert_int_equal(count_calls(&s.g, false), 2);
  close_subject(&s);
}

static void a_loop_around_a_call_holds_its_body(void **state) {
  subject s;
  assert_int_equal(open_subject(&s, FUNC("a", "X: mov.u64 %q1, 1;\nsetp.eq.u64 %z, %q1, 0;\n@%z bra X;"),
                                "L: call a;\n@%p1 bra L;\nret;", 1000),
                   HD_OK);
  assert_int_equal(s.g.n_loops, 2);
  assert_int_equal(s.g.loops[1].parent, 0);
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a kernel reaches the functions that it names, and those that they name",
                what_a_kernel_reaches_is_what_it_names),
      BEHAVIOUR("calls are inlined, each with registers of its own, and not into themselves",
                calls_are_inlined_once_per_site_and_not_into_themselves),
      BEHAVIOUR("a loop around a call holds the function's body", a_loop_around_a_call_holds_its_body),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
