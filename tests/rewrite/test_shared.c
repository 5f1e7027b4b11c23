/* Where the kernel's shared memory lies when the rewriter adds some of its own. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "heddle/rewrite.h"

enum { MOST = 16 };

/* As ptxas 13.0 lays it out. */
typedef struct layout {
  const char *name[MOST];
  uint64_t at[MOST];
  unsigned n;
  uint64_t end;
} layout;

static bool is_shared(const hd_ptx_module *m, uint32_t var) {
  return hd_ptx_mod_value(m->vars[var].space) & HD_IN_SHARED;
}

static void place(layout *l, const hd_ptx_module *m, uint32_t var, bool dynamic) {
  const hd_ptx_var *v = &m->vars[var];
  uint64_t align = hd_ptx_var_align(v);
  if (!is_shared(m, var) || v->unsized != dynamic) return;
  if (dynamic && align < 16) align = 16;
  l->end = (l->end + align - 1) / align * align;
  l->name[l->n] = m->syms[v->sym].name;
  l->at[l->n++] = l->end;
  assert_true(l->n < MOST);
  l->end += dynamic ? 0 : hd_ptx_var_size(m, v);
}

static void place_body(layout *l, const hd_ptx_module *m, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++)
    if (f->stmts[i].kind == HD_S_VAR) place(l, m, f->stmts[i].index, false);
}

static layout lay_out(const hd_ptx_module *m) {
  layout l = {.n = 0};
  for (unsigned functions = 0; functions < 2; functions++) {
    for (uint32_t k = 0; k < m->n_funcs; k++)
      if (m->funcs[k].has_body && m->funcs[k].entry != (functions == 1)) place_body(&l, m, &m->funcs[k]);
    for (uint32_t i = 0; i < m->n_items && !functions; i++)
      if (m->items[i].kind == HD_I_VAR) place(&l, m, m->items[i].index, false);
  }
  for (uint32_t i = 0; i < m->n_items; i++)
    if (m->items[i].kind == HD_I_VAR) place(&l, m, m->items[i].index, true);
  return l;
}

static uint64_t draw(uint64_t *x, uint64_t n) {
  *x ^= *x >> 12, *x ^= *x << 25, *x ^= *x >> 27;
  return (*x * 0x2545f4914f6cdd1du >> 33) % n;
}

static void put_variables(uint64_t *x, const char *name, hd_buf *b) {
  for (uint64_t k = draw(x, 4); k-- > 0;)
    hd_buf_printf(b, ".shared .align %u .b8 %s%u[%u];\n", 1u << draw(x, 6), name, (unsigned)k,
                  (unsigned)(1 + draw(x, 99)));
}

typedef struct subject {
  bool dynamic, functions, late, full;
} subject;

static void put_uses(const char *name, hd_buf *b, const char *text) {
  for (unsigned k = 0; k < 4; k++) {
    char variable[16], declared[24];
    snprintf(variable, sizeof variable, "%s%u", name, k);
    snprintf(declared, sizeof declared, " %s[", variable);
    if (strstr(text, declared)) hd_buf_printf(b, "mov.u32 %%r2, %s;\n", variable);
  }
}

static void put_kernel(uint64_t *x, const subject *s, hd_buf *b) {
  hd_buf own = {0}, module = {0}, inner = {0}, function = {0}, late = {0};
  put_variables(x, "own", &own);
  put_variables(x, "module", &module);
  put_variables(x, "inner", &inner);
  if (s->functions) put_variables(x, "function", &function);
  if (s->late) put_variables(x, "late", &late);
  hd_buf_printf(b, ".version 8.6\n.target sm_100\n.address_size 64\n%s%s%s", module.len ? module.data : "",
                s->full ? ".shared .align 4 .b8 much[48000];\n" : "",
                s->dynamic ? ".extern .shared .align 16 .b8 dynamic[];\n" : "");
  hd_buf_printf(b,
                ".func f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n%smov.u32 %%r1, "
                "%%ctaid.x;\n",
                own.len ? own.data : "");
  hd_buf_printf(b, "{\n%s", inner.len ? inner.data : "");
  if (inner.len) put_uses("inner", b, inner.data);
  hd_buf_puts(b, "}\nbar.sync 0;\ncall.uni f;\n");
  if (own.len) put_uses("own", b, own.data);
  if (module.len) put_uses("module", b, module.data);
  if (s->full) hd_buf_puts(b, "mov.u32 %r2, much;\n");
  if (s->dynamic) hd_buf_puts(b, "mov.u32 %r2, dynamic;\n");
  hd_buf_printf(b, "ret;\n}\n%s.func f()\n{\n.reg .b32 %%r<9>;\n%s", late.len ? late.data : "",
                function.len ? function.data : "");
  if (function.len) put_uses("function", b, function.data);
  if (late.len) put_uses("late", b, late.data);
  hd_buf_puts(b, "ret;\n}\n");
  hd_buf_free(&own), hd_buf_free(&module), hd_buf_free(&inner), hd_buf_free(&function), hd_buf_free(&late);
}

/* Variables move by whole multiples of `by`, and of 0 not at all. */
static void check_layout(const layout *was, const layout *is, uint64_t by, const char *text) {
  for (unsigned k = 0; k < was->n; k++) {
    unsigned i = 0;
    while (i < is->n && strcmp(was->name[k], is->name[i]) != 0) i++;
    if (i == is->n) fail_msg("%s is not there\n%s", was->name[k], text);
    const uint64_t moved = is->at[i] - was->at[k];
    if (by ? moved % by : moved) fail_msg("%s moves by %" PRIu64 "\n%s", was->name[k], moved, text);
  }
}

static void no_variable_of_the_kernels_leaves_its_boundary(void **state) {
  static const char *const plans[] = {"bind=agents", "bind=claim", "bind=cancel"};
  unsigned done = 0, lent = 0;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u;
    const subject s = {!draw(&x, 3), !draw(&x, 3), !draw(&x, 4), !draw(&x, 4)};
    hd_buf text = {0}, out = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_recipe recipe;
    hd_diag d = {0};
    put_kernel(&x, &s, &text);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("%s\n%s", d.message, text.data);
    const layout was = lay_out(m);
    const char *plan = plans[draw(&x, 3)];
    const hd_rewrite_options o = {.grid = {.known = true, .g = {64, 1, 1}, .n_sms = 4}, .block = {64, 1, 1}};
    assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d);
    if (st != HD_OK && !strstr(d.message, "no room")) fail_msg("%s: %s\n%s", plan, d.message, text.data);
    if (st == HD_OK) {
      assert_int_equal(hd_ptx_print(m, &out), HD_OK);
      hd_ptx_module *printed;
      if (hd_ptx_parse(out.data, out.len, "printed", &arena, &printed, &d) != HD_OK) fail_msg("%s", out.data);
      const layout is = lay_out(printed);
      check_layout(&was, &is, s.dynamic || s.functions || s.late ? 1024 : 0, out.data);
      done++;
      lent += is.n == was.n;
    }
    hd_buf_free(&text);
    hd_buf_free(&out);
    hd_arena_free(&arena);
  }
  assert_true(done > 400);
  assert_true(lent > 20);
}

/* Vectors and tiles that a kernel loads at variables whose declarations ask for less, and variables that ask
 * for more than any instruction: `by`, what their places stay multiples of, 0 for each byte where it was. */
static const struct {
  const char *what, *target, *module, *own, *late, *function, *body;
  bool dynamic; /* a launch has dynamic memory, of which the text says nothing */
  uint64_t by;
} LAYOUTS[] = {
    {"vectors of 16 bytes at bytes behind a variable", "sm_90", "",
     ".shared .align 4 .b8 a[4096];\n"
     ".shared .align 4 .b8 b[64];\n",
     "", "",
     "st.shared.v4.u32 [a], {%r1, %r1, %r1, %r1};\n"
     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [b+16];\n",
     false, 0},
    {"the same of the module's", "sm_90", ".shared .align 1 .b8 a[48];\n.shared .align 1 .b8 b[64];\n", "",
     "", "", "st.shared.v2.u64 [a], {%d1, %d1};\nld.shared.v2.u64 {%d1, %d2}, [b];\n", false, 0},
    {"vectors behind an odd number of bytes", "sm_90", "",
     ".shared .align 4 .b8 a[20];\n"
     ".shared .align 4 .b8 b[64];\n",
     "", "",
     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [b+12];\n"
     "st.shared.u32 [a], %r1;\n",
     false, 0},
    {"a tile of ldmatrix", "sm_90", "", ".shared .align 2 .b8 a[512];\n", "", "",
     "mov.u32 %r1, a;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r1];\n", false, 0},
    {"vectors of a function's own variable", "sm_90", "", ".shared .align 4 .b8 a[16];\n", "",
     ".shared .align 4 .b8 b[64];\n", "st.shared.v4.u32 [a], {%r1, %r1, %r1, %r1};\n", false, 1024},
    {"vectors of a variable that is declared behind the kernel", "sm_90", "", ".shared .align 4 .b8 a[16];\n",
     ".shared .align 4 .b8 b[64];\n", "", "st.shared.v4.u32 [a], {%r1, %r1, %r1, %r1};\n", false, 1024},
    {"vectors of dynamic memory", "sm_90", ".extern .shared .align 4 .b8 b[];\n",
     ".shared .align 4 .b8 a[48];\n", "", "",
     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [b];\n"
     "st.shared.u32 [a], %r1;\n",
     false, 1024},
    {"vectors beside dynamic memory that the launch has", "sm_90", "",
     ".shared .align 4 .b8 a[48];\n"
     ".shared .align 4 .b8 b[16];\n",
     "", "",
     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [b];\n"
     "st.shared.u32 [a], %r1;\n",
     true, 1024},
    {"a variable that asks for 2048 bytes", "sm_90", "",
     ".shared .align 4 .b8 a[4];\n"
     ".shared .align 2048 .b8 b[64];\n",
     "", "", "st.shared.u32 [a], 1;\nst.shared.u32 [b], 1;\n", false, 0},
    {"the same beside dynamic memory", "sm_90", ".extern .shared .align 4 .b8 c[];\n",
     ".shared .align 4 .b8 a[4];\n.shared .align 2048 .b8 b[64];\n", "", "",
     "st.shared.u32 [a], 1;\nst.shared.u32 [b], 1;\nst.shared.u32 [c], 1;\n", false, 2048},
    {"dynamic memory that asks for 4096", "sm_90", ".extern .shared .align 4096 .b8 c[];\n",
     ".shared .align 4 .b8 a[4];\n", "", "", "st.shared.u32 [a], 1;\nst.shared.u32 [c], 1;\n", false, 4096},
    {"a function's variable that asks for 8192", "sm_90", "", ".shared .align 4 .b8 a[4];\n", "",
     ".shared .align 8192 .b8 b[64];\n", "st.shared.u32 [a], 1;\n", false, 8192},
    {"vectors of dynamic memory of an older GPU", "sm_80", ".extern .shared .align 16 .b8 b[];\n",
     ".shared .align 4 .b8 a[48];\n", "", "",
     "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [b];\n"
     "st.shared.u32 [a], %r1;\n",
     false, 128},
    {"a variable that asks for 256 there", "sm_80", ".extern .shared .align 16 .b8 c[];\n",
     ".shared .align 256 .b8 b[64];\n", "", "", "st.shared.u32 [b], 1;\nst.shared.u32 [c], 1;\n", false, 256},
};

static void vectors_and_boundaries_stay_as_they_were(void **state) {
  static const char *const plans[] = {"bind=agents", "bind=agents:2", "bind=agents,take=segments",
                                      "bind=claim", "order=reverse,bind=claim"};
  for (size_t k = 0; k < sizeof LAYOUTS / sizeof *LAYOUTS; k++)
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
      hd_buf text = {0}, out = {0};
      hd_arena arena;
      hd_ptx_module *m, *printed;
      hd_plan p;
      hd_recipe recipe;
      hd_diag d = {0};
      const hd_rewrite_options o = {.grid = {.known = true, .g = {64, 1, 1}, .n_sms = 4},
                                    .block = {64, 1, 1},
                                    .dynamic_shared = LAYOUTS[k].dynamic};
      hd_buf_printf(
          &text,
          ".version 8.0\n.target %s\n.address_size 64\n%s.func f();\n"
          ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n%s"
          "mov.u32 %%r1, %%ctaid.x;\nbar.sync 0;\n%scall.uni f;\nret;\n}\n%s.func f()\n{\n%s%s%sret;\n}\n",
          LAYOUTS[k].target, LAYOUTS[k].module, LAYOUTS[k].own, LAYOUTS[k].body, LAYOUTS[k].late,
          LAYOUTS[k].function, LAYOUTS[k].late[0] ? "st.shared.u32 [b], 1;\n" : "",
          LAYOUTS[k].function[0] ? "st.shared.u32 [b], 1;\n" : "");
      hd_arena_init(&arena);
      if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
        fail_msg("%s\n%s", d.message, text.data);
      const layout was = lay_out(m);
      assert_int_equal(hd_plan_parse(plans[i], &p, &d), HD_OK);
      if (hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d) != HD_OK)
        fail_msg("%s, %s: %s", LAYOUTS[k].what, plans[i], d.message);
      assert_int_equal(hd_ptx_print(m, &out), HD_OK);
      if (hd_ptx_parse(out.data, out.len, "printed", &arena, &printed, &d) != HD_OK) fail_msg("%s", out.data);
      const layout is = lay_out(printed);
      check_layout(&was, &is, LAYOUTS[k].by, out.data);
      if (is.n == was.n) fail_msg("%s, %s: no variable is added", LAYOUTS[k].what, plans[i]);
      hd_buf_free(&out);
      hd_buf_free(&text);
      hd_arena_free(&arena);
    }
}

/* A kernel that reaches shared memory by numbers finds nobody else's variable there: agents and claims hand
 * their tasks over in a variable of its own, and where there is none, or under bind=cancel, it is refused. */
typedef enum by { BY_VARIABLES = 0, BY_NUMBER, BY_NUMBER_WITH_A_LENDER } by;

static void check_numbers(const char *body, by expected, const char *plan) {
  hd_buf text = {0};
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  hd_diag d = {0};
  const hd_rewrite_options o = {.grid = {.known = true, .g = {64, 1, 1}, .n_sms = 4}, .block = {64, 1, 1}};
  hd_buf_printf(
      &text,
      ".version 8.6\n.target sm_100a\n.address_size 64\n.extern .shared .b8 dynamic[];\n.shared .align 1024 "
      ".b8 "
      "far[4];\n"
      ".func f(.reg .b32 %%a) { st.shared.u32 [%%a], 1; ret; }\n"
      ".func (.reg .b32 %%b) g(.reg .b32 %%a) { add.u32 %%b, %%a, 4; ret; }\n"
      ".func h(.param .b32 a) { .reg .b32 %%a; ld.param.u32 %%a, [a]; st.shared.u32 [%%a], 1; ret; }\n"
      ".visible .entry k(.param .u64 p, .param .u32 n%s)\n{\n.reg .b32 %%r<19>;\n.reg .b64 %%d<19>;\n"
      ".reg .pred %%p<3>;\n"
      "mov.u32 %%r1, %%tid.x; mov.u32 %%r3, %%ctaid.x; ld.param.u64 %%d1, [p];\n%s\nret;\n}\n",
      strstr(body, "[l]") ? ", .param .u32 .ptr .shared .align 4 l" : "", body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
    fail_msg("%s\n%s", d.message, text.data);
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  const uint32_t kernel = (uint32_t)hd_ptx_find_kernel(m, "k");
  const hd_status st = hd_rewrite(m, kernel, &p, &o, &recipe, &d);
  const bool lends = expected == BY_NUMBER_WITH_A_LENDER && strcmp(plan, "bind=cancel") != 0;
  const char *remark = m->funcs[kernel].remark ? m->funcs[kernel].remark : "";
  if (expected == BY_VARIABLES || lends ? st != HD_OK
                                        : st != HD_ERR_REFUSED || !strstr(d.message, "by numbers"))
    fail_msg("%s, %s: %d %s", body, plan, st, d.message);
  if (lends != (strstr(remark, "the kernel's own") != NULL)) fail_msg("%s, %s: %s", body, plan, remark);
  hd_arena_free(&arena);
  hd_buf_free(&text);
}

static const struct {
  const char *body;
  by by;
} NUMBERS[] = {
    {"st.shared.u32 [%r1], %r1;", BY_NUMBER},
    {"st.shared.u32 [16], %r1;", BY_NUMBER},
    {".shared .b32 one; st.shared.u32 [one], %r1; ld.shared.u32 %r2, [4];", BY_NUMBER},
    {".shared .b32 none[128]; shl.b32 %r2, %r1, 2; red.shared.add.u32 [%r2], 1; st.shared.u32 [none], 1;",
     BY_NUMBER_WITH_A_LENDER},
    {"atom.shared.add.u32 %r2, [%r1+4], 1; st.global.u32 [%d1], %r2;", BY_NUMBER},
    {"call.uni f, (%r1);", BY_NUMBER},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", BY_NUMBER},
    /* Beside a variable. */
    {".shared .b32 one[64]; mov.u32 %r2, one; st.shared.u32 [%r2], 1; shl.b32 %r4, %r1, 2; st.shared.u32 "
     "[%r4], 1;",
     BY_NUMBER_WITH_A_LENDER},
    {".shared .b32 one; st.shared.u32 [one], 1; and.b32 %r4, %r1, 31; add.u32 %r4, %r4, 512; ld.shared.u32 "
     "%r2, [%r4];",
     BY_NUMBER},
    {".shared .b32 one; st.shared.u32 [one], 1; cvt.u64.u32 %d2, %r1; cvta.shared.u64 %d3, %d2; st.u32 "
     "[%d3], 1;",
     BY_NUMBER},
    {".shared .b32 one; st.shared.u32 [one], 1; ld.param.u32 %r4, [l]; st.shared.u32 [%r4], 1;", BY_NUMBER},
    /* The host says where, in a number or in memory. */
    {".shared .b32 one; st.shared.u32 [one], 1; ld.param.u32 %r4, [n]; st.shared.u32 [%r4], 1;", BY_NUMBER},
    {".shared .b32 one; st.shared.u32 [one], 1; ld.global.u32 %r4, [%d1]; st.shared.u32 [%r4], 1;",
     BY_NUMBER},
    /* Through memory, a function, or a way of two. */
    {"mov.u32 %r2, dynamic; st.shared.u32 [%r2], %r1; ld.shared.u32 %r4, [%r2]; st.shared.u32 [%r4], 1;",
     BY_NUMBER},
    {"mov.u32 %r2, far; st.shared.u32 [%r2], 1; call.uni f, (%r1);", BY_NUMBER},
    {"mov.u32 %r2, far; st.shared.u32 [%r2], 1; call.uni f, (%r2); call.uni f, (%r1);", BY_NUMBER},
    {"mov.u32 %r2, far; call.uni (%r4), g, (%r1); st.shared.u32 [%r4+0], %r2;", BY_NUMBER},
    {"mov.u32 %r2, far; st.shared.u32 [%r2], 1; { .param .b32 a; st.param.b32 [a], %r1; call.uni h, (a); }",
     BY_NUMBER},
    {"mov.u32 %r2, far; setp.eq.u32 %p1, %r1, 0; selp.b32 %r4, %r2, 64, %p1; st.shared.u32 [%r4], 1;",
     BY_NUMBER},
    {"mov.u32 %r2, far; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 64; st.shared.u32 [%r2], 1;", BY_NUMBER},
    {"mov.u32 %r2, far; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r2, 64; L: st.shared.u32 [%r2], 1;",
     BY_NUMBER},
    /* A distance, and what is left of an address, is one. */
    {"mov.u32 %r2, far; mov.u32 %r4, dynamic; sub.u32 %r5, %r4, %r2; st.shared.u32 [%r5], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; mov.u32 %r4, dynamic; sub.u32 %r5, %r4, %r2; add.u32 %r6, %r5, %r2; st.shared.u32 "
     "[%r6], %r1;",
     BY_NUMBER},
    {"mov.u32 %r2, far; neg.s32 %r4, %r2; add.u32 %r5, %r2, %r4; st.shared.u32 [%r5], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; shr.u32 %r4, %r2, 20; st.shared.u32 [%r4], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; and.b32 %r4, %r2, 64; st.shared.u32 [%r4], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; mul.lo.u32 %r4, %r2, 3; st.shared.u32 [%r4], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; xor.b32 %r4, %r2, %r2; st.shared.u32 [%r4], %r1;", BY_NUMBER},
    {"mov.u32 %r2, far; mov.u32 %r4, dynamic; and.b32 %r5, %r4, 0xffff; xor.b32 %r6, %r2, %r5; "
     "st.shared.u32 [%r6], %r1;",
     BY_NUMBER},
    {"mov.b64 %d4, 0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r4, %r5}, %d4, %d4, 1, 1, 1, 0, 0;",
     BY_NUMBER},
    /* From a variable. */
    {"mov.u32 %r2, dynamic; add.u32 %r2, %r2, 1023; and.b32 %r2, %r2, -1024; st.shared.u32 [%r2], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; shr.u32 %r4, %r1, 4; shl.b32 %r4, %r4, 4; mad.lo.u32 %r2, %r1, 4, %r2; "
     "st.shared.u32 [%r2], 1;",
     BY_VARIABLES},
    {"mov.u64 %d2, dynamic; cvta.shared.u64 %d3, %d2; cvta.to.shared.u64 %d4, %d3; cvt.u32.u64 %r2, %d4; "
     "st.shared.u32 [%r2], 1;",
     BY_VARIABLES},
    /* Swizzles mix low bits of the address itself. */
    {"mov.u32 %r2, dynamic; shl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4; shr.u32 %r6, %r5, 3; and.b32 %r7, "
     "%r6, 112; xor.b32 %r8, %r7, %r5; st.shared.u32 [%r8], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; shl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4; bfe.u32 %r6, %r5, 7, 3; shl.b32 %r7, "
     "%r6, 4; xor.b32 %r8, %r7, %r5; st.shared.u32 [%r8], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; and.b32 %r4, %r2, 0xfeffffff; or.b32 %r5, %r4, 8; st.shared.u32 [%r5], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; mov.u32 %r4, 0; L: add.u32 %r2, %r2, 128; st.shared.u32 [%r2], 1; add.u32 %r4, "
     "%r4, 1; setp.lt.u32 %p1, %r4, 9; @%p1 bra L;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; ld.global.u32 %r4, [%d1]; mad.lo.u32 %r5, %r4, 4, %r2; st.shared.u32 [%r5], 1;",
     BY_VARIABLES},
    {"shl.b32 %r2, %r1, 2; mov.u32 %r4, dynamic; add.u32 %r2, %r2, %r4; st.shared.u32 [%r2], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, far; mov.u32 %r4, dynamic; setp.eq.u32 %p1, %r1, 0; selp.b32 %r5, %r2, %r4, %p1; "
     "st.shared.u32 [%r5], 1;",
     BY_VARIABLES},
    {".shared .b32 one[64]; mov.u32 %r2, one; st.shared.u32 [%r2], %r1;", BY_VARIABLES},
    {".shared .b32 one[64]; st.shared.u32 [one+4], %r1;", BY_VARIABLES},
    {"mov.u32 %r2, dynamic; st.shared.u32 [%r2+4], %r1;", BY_VARIABLES},
    {".shared .b32 one[64]; mov.u32 %r2, one; call.uni f, (%r2);", BY_VARIABLES},
    {"mov.u32 %r2, far; call.uni (%r4), g, (%r2); st.shared.u32 [%r4], %r1;", BY_VARIABLES},
    {"mov.u32 %r2, far; { .param .b32 a; st.param.b32 [a], %r2; call.uni h, (a); }", BY_VARIABLES},
    {"bar.sync 0; st.global.u32 [%d1], %r1;", BY_VARIABLES},
    {"bar.sync 0; st.u32 [%d1], %r1;", BY_VARIABLES},
    {"mov.u32 %r2, dynamic; and.b32 %r4, %r2, 0x3ffff; shr.u32 %r5, %r4, 4; mov.b64 %d4, {%r5, %r1}; "
     "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r4, %r5}, %d4, %d4, 1, 1, 1, 0, 0;",
     BY_VARIABLES},
    /* Bits of an address from the boundary on say where it lies: set, turned, or compared. */
    {"mov.u32 %r2, dynamic; or.b32 %r4, %r2, 512; st.shared.u32 [%r4], 1;", BY_VARIABLES},
    {"mov.u32 %r2, dynamic; or.b32 %r4, %r2, 1024; st.shared.u32 [%r4], 1;", BY_NUMBER},
    {"mov.u32 %r2, dynamic; xor.b32 %r4, %r2, 4096; st.shared.u32 [%r4], 1;", BY_NUMBER},
    {"mov.u32 %r2, dynamic; L: xor.b32 %r2, %r2, 8192; st.shared.u32 [%r2], 1; setp.lt.u32 %p1, %r1, 3; @%p1 "
     "bra L;",
     BY_NUMBER},
    {"mov.u32 %r2, far; shl.b32 %r4, %r1, 4; and.b32 %r5, %r4, 1008; xor.b32 %r6, %r2, %r5; st.shared.u32 "
     "[%r6], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; shl.b32 %r4, %r1, 4; and.b32 %r5, %r4, 1008; add.u32 %r6, %r5, 16; xor.b32 %r7, "
     "%r2, %r6; st.shared.u32 [%r7], 1;",
     BY_NUMBER},
    {"mov.u32 %r2, dynamic; shl.b32 %r4, %r1, 4; xor.b32 %r4, %r2, %r4; st.shared.u32 [%r4], 1;", BY_NUMBER},
    {"mov.u32 %r2, dynamic; mov.u32 %r4, 1; L: shl.b32 %r4, %r4, 1; xor.b32 %r5, %r2, %r4; st.shared.u32 "
     "[%r5], "
     "1; setp.lt.u32 %p1, %r4, 4096; @%p1 bra L;",
     BY_NUMBER},
    {"mov.u32 %r2, dynamic; ld.global.u32 %r4, [%d1]; or.b32 %r4, %r2, %r4; st.shared.u32 [%r4], 1;",
     BY_NUMBER},
    {"mov.u32 %r2, dynamic; setp.lt.u32 %p1, %r2, 2048; @%p1 st.shared.u32 [%r2], 1;", BY_NUMBER},
    {"mov.u32 %r2, dynamic; setp.eq.u32 %p1, %r2, %r1; selp.b32 %r4, 4, 8, %p1; add.u32 %r2, %r2, %r4; "
     "st.shared.u32 [%r2], 1;",
     BY_NUMBER},
    {"mov.u32 %r2, dynamic; add.u32 %r4, %r2, 64; L: st.shared.u32 [%r2], 1; add.u32 %r2, %r2, 4; "
     "setp.ne.u32 "
     "%p1, %r2, %r4; @%p1 bra L;",
     BY_VARIABLES},
    {"mov.u64 %d2, dynamic; cvta.shared.u64 %d3, %d2; or.b64 %d4, %d3, 1024; st.u32 [%d4], 1;", BY_NUMBER},
    {"mov.u64 %d2, dynamic; cvta.shared.u64 %d3, %d2; or.b64 %d4, %d3, 64; st.u32 [%d4], 1;", BY_VARIABLES},
    {"mov.u64 %d2, dynamic; cvta.shared.u64 %d3, %d2; setp.ne.u64 %p1, %d3, 0; @%p1 st.u32 [%d3], 1;",
     BY_VARIABLES},
    {"mov.u32 %r2, dynamic; and.b32 %r4, %r2, 127; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%r2], 1;",
     BY_VARIABLES},
};

static void shared_memory_that_is_reached_by_numbers_is_left_alone(void **state) {
  static const char *const plans[] = {"bind=agents", "bind=agents:2", "bind=claim", "bind=cancel"};
  for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; k++)
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
      if (strstr(NUMBERS[k].body, "wgmma") && strcmp(plans[i], "bind=claim") != 0)
        continue; /* refused for another reason */
      check_numbers(NUMBERS[k].body, NUMBERS[k].by, plans[i]);
    }
}

/* Behind the last variable the kernel would find the new one, if the launch gave it memory there. */
static void a_variable_at_the_end_leaves_no_dynamic_memory(void **state) {
  static const struct {
    const char *shared, *body, *plan;
    bool needs;
  } cases[] = {
      {".shared .align 4 .b8 x[512];", "st.shared.u32 [x], 1;", "bind=agents", true},
      {".shared .align 4 .b8 x[512];", "st.shared.u32 [x], 1;", "bind=claim", true},
      {".shared .align 4 .b8 x[512];", "st.shared.u32 [x], 1;", "bind=cancel", true},
      {".shared .align 4 .b8 x[512];", "st.shared.u32 [x], 1;", "order=reverse", false},
      {".shared .align 4 .b8 x[48000];", "st.shared.u32 [x], 1;", "bind=agents", true},
      {".shared .align 4 .b8 x[49152];", "st.shared.u32 [x], 1;", "bind=agents", false}, /* lent */
      {".extern .shared .align 4 .b8 x[];", "st.shared.u32 [x], 1;", "bind=agents", false},
      {".extern .shared .align 4 .b8 x[];", "st.shared.u32 [x], 1;", "bind=cancel", false},
      {"", "bar.sync 0;", "bind=agents", true},
      {"", "", "bind=agents", false}, /* warp by warp */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf text = {0}, note = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_recipe recipe;
    hd_diag d = {0};
    const hd_rewrite_options o = {.grid = {.known = true, .g = {64, 1, 1}, .n_sms = 4}, .block = {64, 1, 1}};
    hd_buf_printf(&text,
                  ".version 8.6\n.target sm_100\n.address_size 64\n%s\n.visible .entry k(.param .u64 p)\n{\n"
                  ".reg .b32 %%r<9>;\nmov.u32 %%r3, %%ctaid.x;\n%s\nret;\n}\n",
                  cases[i].shared, cases[i].body);
    hd_arena_init(&arena);
    assert_int_equal(hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_plan_parse(cases[i].plan, &p, &d), HD_OK);
    if (hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d) != HD_OK)
      fail_msg("%s", d.message);
    hd_recipe_print("k", &recipe, &note);
    const bool says = note.data && strstr(note.data, "without dynamic shared memory");
    if (recipe.no_dynamic_shared != cases[i].needs || says != cases[i].needs)
      fail_msg("%s %s", cases[i].shared, cases[i].plan);
    hd_buf_free(&note);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("shared memory that is reached by numbers is left alone",
                shared_memory_that_is_reached_by_numbers_is_left_alone),
      BEHAVIOUR("a variable at the end leaves the launch no dynamic memory",
                a_variable_at_the_end_leaves_no_dynamic_memory),
      BEHAVIOUR("no variable of the kernel's leaves its boundary",
                no_variable_of_the_kernels_leaves_its_boundary),
      BEHAVIOUR("vectors and boundaries stay as they were", vectors_and_boundaries_stay_as_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
