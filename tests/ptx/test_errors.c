/* Any malformed input gives a diagnostic with a place. */
#include "ptx_test.h"

/* Bad items behind HEADER (four lines), and where the diagnostic must point: line and
 * column in the whole text, and words of the message. */
static const struct {
  const char *text;
  uint32_t line, column;
  const char *message;
} cases[] = {
    {".global .u32 g", 5, 15, "expected ';', found the end"},
    {".global u32 g;", 5, 9, "a type"},
    {".global .align 3 .u32 g;", 5, 16, "power of two"},
    {".global .u32 .f32 g;", 5, 15, "second type"},
    {".global .u32 g<4>;", 5, 15, "only registers"},
    {".global .u32 g[2][];", 5, 18, "first dimension"},
    {".global .u32 g[-1];", 5, 15, "negative"},
    {".global .u32 g = 1 +;", 5, 21, "a constant"},
    {".global .u32 g = 1 / 0;", 5, 20, "division by zero"},
    {".global .u32 g = 1.5 % 2;", 5, 22, "integers"},
    {".global .u32 g = -0f3F800000;", 5, 18, "0f literal"},
    {".global .u32 g = 18446744073709551616;", 5, 18, "64 bits"},
    {".global .u32 g = 12x;", 5, 18, "malformed number"},
    {".global .u32 g = 0f12;", 5, 20, "8 hexadecimal digits"},
    {".global .u32 g[2] = {1, 2;", 5, 26, "','"},
    {".global .u32 g;\n.global .u32 g;", 6, 14, "declared twice"},
    {".visible .file 1 \"x\"", 5, 10, "a declaration"},
    {"add.s32 r, r, 1;", 5, 1, "a directive"},
    {".file 1 \"x", 5, 9, "not closed"},
    {".file 1 \"x\"\n.file 2 \"y\"\n\n.global u32 g;", 8, 9, "a type"},
    {".file 1 \"x\", 3\n.file 2 \"y\", 3,\n4\n.global u32 g;", 8, 9, "a type"},
    {".section .debug { .b8 1", 5, 17, "not closed"},
    {".section .debug { .b8 (1 }", 5, 26, "does not match"},
    {".pragma \"x\"", 5, 9, "';' is missing"},
    {"/* never closed", 5, 1, "comment is not closed"},
    {".entry (", 5, 8, "not closed"},
    {".entry k(.param .u32 a, .param .u32 a) { ret; }", 5, 37, "declared twice"},
    {".entry k() { ret; ", 5, 12, "not closed"},
    {".entry k() { ret; } }", 5, 21, "a directive"},
    {".entry k() { { ret; }", 5, 12, "not closed"},
    {".entry k()\n{\n  ret\n}", 8, 1, "an operand"},
    {".entry k() { ; }", 5, 14, "a statement"},
    {".entry k() { @%p ret; }", 5, 15, "not a declared register"},
    {".entry k() { @x ret; }", 5, 15, "not a declared register"},
    {".entry k() { .reg .pred p; @p { ret; } }", 5, 31, "an instruction"},
    {".entry k() { .reg .b32 %r<4>; mov.b32 %r4, 1; }", 5, 39, "beyond %r<4>"},
    {".entry k() { .reg .b32 %r<4>; .reg .b64 %r<5>; }", 5, 41, "declared twice"},
    {".entry k() { .reg .b32 r; .reg .b64 r; }", 5, 37, "declared twice"},
    {".entry k() { L: ret; L: ret; }", 5, 22, "declared twice"},
    {".entry k() { .reg .b32 r; mov.b32 r, !r; }", 5, 39, "takes a predicate"},
    {".entry k() { .reg .pred p; mov.pred p, -p; }", 5, 41, "takes a number"},
    {".entry k() { mov..b32 1; }", 5, 14, "missing after a dot"},
    {".entry k() { mov.; }", 5, 14, "missing after a dot"},
    {".entry k() { mov.b32 [1; }", 5, 24, "','"},
    {".entry k() { mov.b32 {1, 2; }", 5, 27, "','"},
    {".entry k() { mov.b32 1,; }", 5, 24, "an operand"},
    {".entry k() { mov.b32 ?; }", 5, 22, "an operand"},
    {".entry k() { .pragma 5; }", 5, 22, "strings"},
    {".entry k() { .loc 1 2; }", 5, 22, "an integer"},
    {".entry k() .maxntid 4294967296 { ret; }", 5, 21, "32 bits"},
    {".entry k() .maxntid 1, 2, 3, 4, 5 { ret; }", 5, 33, "too many values"},
    {".func f() { ret; }\n.func f() { ret; }", 6, 7, "defined twice"},
    {".func f(); .global .u32 f;", 5, 25, "declared twice"},
    {".entry k() { mov.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u 1; }", 5, 14, "more than 20 modifiers"},
    {".reg .b32 \x01;", 5, 11, "a name"},
};

static void malformed_input_has_a_place(void **state) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_diag d = {0};
    hd_status st = parse_bad(cases[i].text, &d);
    if (st != HD_ERR_INPUT || d.line != cases[i].line || d.column != cases[i].column ||
        !strstr(d.message, cases[i].message)) {
      print_error("%s\n  gave %d at %u:%u %s\n  not %u:%u ...%s...\n", cases[i].text, st, d.line, d.column,
                  d.message, cases[i].line, cases[i].column, cases[i].message);
      fail();
    }
    assert_int_equal(d.status, HD_ERR_INPUT);
    assert_string_equal(d.file, "bad.ptx");
    /* The quoted line is the one that the place is in. */
    const char *line = cases[i].text;
    for (uint32_t n = 5; n < d.line; n++) line = strchr(line, '\n') + 1;
    assert_int_equal(strlen(d.source), strcspn(line, "\n"));
    assert_memory_equal(d.source, line, strlen(d.source));
  }
}

static void a_module_begins_with_its_header(void **state) {
  static const char *const bad[] = {
      "",
      "\n",
      ".target sm_90\n",
      ".version 9\n.target sm_90\n",
      ".version 9.0\n",
      ".version x.0",
      ".version 9.0 .target",
      ".version 9.0 .target sm_90,",
      ".version 9.0 .target sm_90 .address_size 48",
      ".versions 9.0 .target sm_90",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_ptx_module *m;
    hd_diag d;
    assert_int_equal(hd_ptx_parse(bad[i], strlen(bad[i]), "bad", &a, &m, &d), HD_ERR_INPUT);
    assert_true(d.line > 0);
    /* The diagnostic is optional. */
    assert_int_equal(hd_ptx_parse(bad[i], strlen(bad[i]), "bad", &a, &m, NULL), HD_ERR_INPUT);
    hd_arena_free(&a);
  }
}

/* `open` n times, `middle`, `close` n times, inside before and after. */
static hd_status nested(const char *before, const char *open, const char *middle, const char *close,
                        const char *after, unsigned n, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_puts(&b, before);
  for (unsigned i = 0; i < n; i++) hd_buf_puts(&b, open);
  hd_buf_puts(&b, middle);
  for (unsigned i = 0; i < n; i++) hd_buf_puts(&b, close);
  hd_buf_puts(&b, after);
  hd_status st = parse_bad(b.data, d);
  hd_buf_free(&b);
  return st;
}

static void nesting_has_a_limit(void **state) {
  static const struct {
    const char *before, *open, *middle, *close, *after;
  } kinds[] = {
      {".entry k() {", "{", "ret;", "}", "}"},
      {".entry k() { mov.b32 ", "{", "1", "}", ";}"},
      {".entry k() { call ", "(", "1", ")", ";}"},
      {".entry k() { mov.b32 ", "[", "1", "]", ";}"},
      {".entry k() { mov.b32 ", "a[", "1", "]", ";}"},
      {".entry k() { mov.b32 ", "(", "1", ")", ";}"},
      {".entry k() { mov.b32 ", "-", "1", "", ";}"},
      {".entry k() { mov.b32 ", "(.s64)", "1", "", ";}"},
      {".entry k() { mov.b32 ", "1 ? 1 : ", "1", "", ";}"},
      {".entry k() { mov.b32 ", "1 ? ", "1", " : 1", ";}"},
      {".global .u32 g = ", "{", "1", "}", ";"},
      {".section .debug ", "{", "", "}", ""},
      {".unknown ", "(", "", ")", ";"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    hd_diag d;
    hd_status shallow =
        nested(kinds[i].before, kinds[i].open, kinds[i].middle, kinds[i].close, kinds[i].after, 100, &d);
    hd_status deep =
        nested(kinds[i].before, kinds[i].open, kinds[i].middle, kinds[i].close, kinds[i].after, 300000, &d);
    if (shallow != HD_OK || deep != HD_ERR_INPUT || !strstr(d.message, "256 deep"))
      fail_msg("%s%s: %d %d %s", kinds[i].before, kinds[i].open, shallow, deep, d.message);
  }
}

static const char rich[] = HEADER
    ".file 1 \"a.cu\"\n.extern .func (.param .b32 r) f(.param .b64 x) .noreturn;\n"
    ".visible .global .align 16 .v4 .f32 g[2][4] = {{1.5, 0f3F800000}, {-2}};\n"
    ".global .u64 t[4] = {g, g+4, generic(g)+8, 0xFF00(g)};\n.global .s32 v = (1<<4|3) & ~1 ? -5/2 : 7;\n"
    ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[16])\n"
    ".maxntid 128, 1, 1\n.pragma \"x\";\n{\n.reg .pred %p<3>;\n.reg .b32 %r<10>, a;\n.reg .b64 %rd<4>;\n"
    ".loc 1 2 3, function_name $L__s, inlined_at 1 4 5\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\n@!%p1 bra DONE;\n"
    "{\n.param .b64 q;\nst.param.b64 [q+0], %rd1;\ncall.uni (%r2), f, (q);\n}\n"
    "P: .callprototype (.param .b32 _) _ (.param .b64 _);\nT: .branchtargets DONE, L;\nL: brx.idx %r1, T;\n"
    "setp.eq.and.s32 %p1|%p2, %r1, -5, !%p0;\ntex.2d.v4.f32.f32 {%r1,%r2,%r3,_}, [g, {%r4,%r5}];\n"
    "DONE:\nret; // end\n}\n.section .debug_info { .b8 1 /* } */ }\n";

/* Parse bytes that end right before a page that may not be read, and check the outcome. */
static void survives(const char *text, size_t n) {
  hd_arena a;
  hd_arena_init(&a);
  char *exact = malloc(n ? n : 1);
  memcpy(exact, text, n);
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_status st = hd_ptx_parse(exact, n, "hostile", &a, &m, &d);
  free(exact);
  if (st == HD_OK) {
    char *once = print(m), *twice = print(parse(&a, once));
    assert_string_equal(once, twice);
    free(once);
    free(twice);
  } else {
    assert_int_equal(st, HD_ERR_INPUT);
    assert_int_equal(d.status, st);
    assert_true(d.line > 0 && d.message[0]);
  }
  hd_arena_free(&a);
}

static void every_truncation_is_survived(void **state) {
  for (size_t n = 0; n < sizeof rich; n++) survives(rich, n);
}

static void every_changed_byte_is_survived(void **state) {
  static const char bytes[] = "{}()[]<>;:,.\"'/*%$_|!-+@=0x9fU \n\t\0\x80\xff";
  for (size_t i = 0; i < 20000; i++) {
    char text[sizeof rich];
    memcpy(text, rich, sizeof rich);
    for (size_t k = 0; k <= hd_random_at(1, i) % 3; k++)
      text[hd_random_at(2 + k, i) % (sizeof rich - 1)] = bytes[hd_random_at(10 + k, i) % (sizeof bytes - 1)];
    survives(text, sizeof rich - 1);
  }
}

static void every_moved_piece_is_survived(void **state) {
  for (size_t i = 0; i < 10000; i++) {
    hd_buf b = {0};
    size_t from = hd_random_at(1, i) % (sizeof rich - 1), n = hd_random_at(2, i) % 40;
    size_t to = hd_random_at(3, i) % (sizeof rich - 1);
    if (n > sizeof rich - 1 - from) n = sizeof rich - 1 - from;
    hd_buf_put(&b, rich, to);
    hd_buf_put(&b, rich + from, n);
    hd_buf_put(&b, rich + to, sizeof rich - 1 - to);
    survives(b.data, b.len);
    hd_buf_free(&b);
  }
}

static void a_memory_budget_is_kept(void **state) {
  bool done = false;
  for (size_t limit = 1; !done; limit += limit / 8 + 512) {
    hd_arena a;
    hd_arena_init(&a);
    a.limit = limit;
    hd_ptx_module *m;
    hd_diag d = {0};
    hd_status st = hd_ptx_parse(rich, sizeof rich, "budget", &a, &m, &d);
    assert_true(a.used <= limit);
    assert_null(a.escape);
    if (st == HD_OK)
      done = true;
    else
      assert_int_equal(st, HD_ERR_NOMEM);
    hd_arena_free(&a);
    assert_true(limit < 10 << 20);
  }
}

static void memory_stays_in_proportion_to_the_text(void **state) {
  /* Declarations and uses that promise much and are short. */
  static const char *const pieces[] = {
      ".reg .b32 %a$<4294967295>;",
      "{.reg .b32 %r<1000000>;mov.b32 %r999999,1;}",
      "{.reg .b32 %r<4000>;mov.b32 %r3999,1;}",
      "a$:",
      "x$;",
      "bra q$;",
      "mov.b32 %x$;",
      ".param .b8 p$[1][1][1];",
      ".loc 1 1 1 ",
      "{}",
  };
  for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
    hd_buf b = {0};
    hd_buf_puts(&b, HEADER ".entry k() {");
    for (unsigned i = 0; i < 20000; i++) {
      const char *dollar = strchr(pieces[k], '$');
      if (dollar)
        hd_buf_printf(&b, "%.*s%x%s", (int)(dollar - pieces[k]), pieces[k], i, dollar + 1);
      else
        hd_buf_puts(&b, pieces[k]);
    }
    hd_buf_puts(&b, "}");
    hd_arena a;
    hd_arena_init(&a);
    parse(&a, b.data);
    if (a.used > 100 * b.len + (1 << 16)) fail_msg("%s takes %zu bytes for %zu", pieces[k], a.used, b.len);
    hd_arena_free(&a);
    hd_buf_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("malformed input has a diagnostic with its place", malformed_input_has_a_place),
      BEHAVIOUR("a module begins with its header", a_module_begins_with_its_header),
      BEHAVIOUR("nesting has a limit", nesting_has_a_limit),
      BEHAVIOUR("every truncation is survived", every_truncation_is_survived),
      BEHAVIOUR("changed bytes are survived", every_changed_byte_is_survived),
      BEHAVIOUR("moved pieces are survived", every_moved_piece_is_survived),
      BEHAVIOUR("a memory budget is kept", a_memory_budget_is_kept),
      BEHAVIOUR("memory stays in proportion to the text", memory_stays_in_proportion_to_the_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
