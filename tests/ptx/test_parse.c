/* The parser's and the printer's result for each construct. */
#include "ptx_test.h"

/* ---- Statements ---------------------------------------------------------------------- */

/* A statement and its canonical text; NULL: the same. */
typedef struct text_pair {
  const char *in, *out;
} text_pair;

static const text_pair statements[] = {
    {"ret;", NULL},
    {"@%p1 bra.uni L;", NULL},
    {"@ ! %p1   ret ;", "@!%p1 ret;"},
    {"add.s32 %r1, %r2, -5;", NULL},
    {"add .s32\t%r1,%r2,%r3;", "add.s32 %r1, %r2, %r3;"},
    {"mov.u32 %r1, %tid.x;", NULL},
    {"mov.u64 %rd1, %clock64;", NULL},
    {"mov.u32 %r1, %newest_register.y;", NULL},
    {"mov.u32 %r07, 1;", "mov.u32 %r7, 1;"},
    {"mov.b32 %r1, 0x1fU;", "mov.b32 %r1, 31U;"},
    {"mov.b64 %rd1, 0xffffffffffffffff;", "mov.b64 %rd1, 18446744073709551615U;"},
    {"mov.b32 %r1, 017;", "mov.b32 %r1, 15;"},
    {"mov.b32 %r1, 0b101;", "mov.b32 %r1, 5;"},
    {"mov.b32 %r1, 1234567890123;", NULL},
    {"mov.f32 %f1, 0f3F800000;", NULL},
    {"mov.f32 %f1, 0F3f800000;", "mov.f32 %f1, 0f3F800000;"},
    {"mov.f64 %fd1, 0d3FF8000000000000;", NULL},
    {"mov.f64 %fd1, 1.5;", "mov.f64 %fd1, 0d3FF8000000000000;"},
    {"mov.f64 %fd1, -1.5e0;", "mov.f64 %fd1, 0dBFF8000000000000;"},
    {"mov.f64 %fd1, .5;", "mov.f64 %fd1, 0d3FE0000000000000;"},
    {"mov.f64 %fd1, 1.;", "mov.f64 %fd1, 0d3FF0000000000000;"},
    {"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, 32;"},
    {"mov.u32 %r1, (1 + 2) * 3;", "mov.u32 %r1, 9;"},
    {"mov.u32 %r1, 5|3;", "mov.u32 %r1, 7;"},
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];", NULL},
    {"ld.global.u32 %r1, [%rd1-16];", "ld.global.u32 %r1, [%rd1+-16];"},
    {"ld.global.u32 %r1, [%rd1+-16];", NULL},
    {"ld.global.u32 %r1, [%rd1 + 4 + 2*4];", "ld.global.u32 %r1, [%rd1+12];"},
    {"ld.global.u32 %r1, [%rd1+0];", NULL},
    {"ld.local.u32 %r1, [64];", NULL},
    {"ld.param.u64 %rd1, [out];", NULL},
    {"ld.param.u64 %rd1, [out+8];", NULL},
    {"st.param.b64 [out + 0], %rd1;", "st.param.b64 [out+0], %rd1;"},
    {"ld.global.u32 %r1, table[4];", NULL},
    {"ld.global.u32 %r1, table[%r2+4];", NULL},
    {"mov.u64 %rd1, table;", NULL},
    {"mov.u64 %rd1, table+8;", NULL},
    {"st.global.v2.b32 [%rd1], {%r1, 7};", NULL},
    {"mov.b64 {_, %r1}, %rd1;", NULL},
    {"mov.f32 %f1, v.x;", NULL},
    {"mov.f32 %f1, v .w;", "mov.f32 %f1, v.w;"},
    {"vadd.s32.s32.s32.sat %r1, %r2.b3, %r3.h0;", NULL},
    {"vmad.s32.s32.s32 %r1, -%r2.b0, %r3, %r4;", NULL},
    {"vadd4.s32.s32.s32 %r1.b3210, %r2.b7654, %r3, %r4;", NULL},
    {"setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3;", NULL},
    {"setp.eq.s32 _ | %p2, %r1, %r2;", "setp.eq.s32 _|%p2, %r1, %r2;"},
    {"elect.sync _|p, -1;", NULL},
    {"selp.b32 %r1, 1, 2, !p;", NULL},
    {"call (retval0), callee, (param0, param1);", NULL},
    {"call.uni (%r1), callee, (%rd1), prototype_0;", NULL},
    {"call.uni callee, (1);", NULL},
    {"call callee;", NULL},
    {"call.uni callee, ();", NULL},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [table, {%f5, %f6}];", NULL},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];", NULL},
    {"suld.b.1d.b32.clamp %r1, [%rd1, {%r2}];", NULL},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], "
     "[%r4+8];",
     NULL},
    {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1+64, {%r2, %r3}], [%r1];", NULL},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, p, 1, 1, 0, 0;",
     NULL},
    {"mbarrier.try_wait.parity.shared::cta.b64 p, [bar+8], %r1;", NULL},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, p;", NULL},
    {"frobnicate.x.newtype::y %r1, [%rd1], {%r2, %r3};", NULL},
    {"bar.warp.sync -1;", NULL},
    {"membar.gl;", NULL},
    {".loc 1 23 5", NULL},
    {".loc\t1 23 5, function_name $L__info_string0, inlined_at 1 10 2",
     ".loc 1 23 5, function_name $L__info_string0, inlined_at 1 10 2"},
    {".loc 1 23 5, function_name $L__info_string0+4, inlined_at 1 10 2", NULL},
    {".pragma \"nounroll\";", NULL},
    {".pragma \"a\",\"b\";", ".pragma \"a\", \"b\";"},
    {".newdirective 1, \"x;y\", {a};", NULL},
    {".newdirective {a; b\n}", NULL},
    {".newdirective 5 // line", ".newdirective 5"},
    {".local .align 8 .b8 depot[16];", NULL},
    {".shared .align 16 .f32 tile[4][8*2];", ".shared .align 16 .f32 tile[4][16];"},
    {".param .b64 param0;", NULL},
    {".reg .v2 .f32 w;", NULL},
    {".reg .b32 %x<4294967295>;", NULL},
    {"{", NULL},
    {"}", NULL},
    {"L:", NULL},
    {"T: .branchtargets L, M;", NULL},
    {"T:.calltargets callee;", "T: .calltargets callee;"},
    {"P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[12]);", NULL},
    {"P: .callprototype _ ();", NULL},
    {"P: .callprototype _ (.reg .b32 a) .noreturn;", NULL},
};

static void statements_are_read_and_printed(void **state) {
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    const text_pair *t = &statements[i];
    hd_arena a;
    hd_arena_init(&a);
    hd_buf body = {0};
    /* A block needs its other half. */
    bool open = !strcmp(t->in, "{"), close = !strcmp(t->in, "}");
    hd_buf_printf(&body, "%s%s\n%s", close ? "{" : "", t->in, open ? "}" : "");
    hd_ptx_module *m = parse_body(&a, body.data);
    const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
    char *got = statement(m, &f->stmts[f->n_stmts - (open ? 2 : 1)]);
    assert_string_equal(got, t->out ? t->out : t->in);
    free(got);
    hd_buf_free(&body);
    hd_arena_free(&a);
  }
}

/* ---- Items -------------------------------------------------------------------------------- */

static const text_pair items[] = {
    {".global .u32 g;\n", NULL},
    {".visible .global .align 16 .v4 .f32 g[2][4];\n", NULL},
    {".weak .const .f64 c = 1.5;\n", ".weak .const .f64 c = 0d3FF8000000000000;\n"},
    {".const[2] .u32 c = 5;\n", NULL},
    {".extern .shared .align 16 .b8 dyn[];\n", NULL},
    {".common .global .u32 z;\n", NULL},
    {".global .attribute(.managed) .align 4 .s32 g;\n", NULL},
    {".global .align 4 .attribute(.unified(19, 95)) .s32 g;\n",
     ".global .attribute(.unified(19, 95)) .align 4 .s32 g;\n"},
    {".global .u32 a, b = 2, c[3] = {1,2,3};\n",
     ".global .u32 a;\n.global .u32 b = 2;\n.global .u32 c[3] = {1, 2, 3};\n"},
    {".global .u32 a[][2] = {{1, 2}, {3, 4}};\n", NULL},
    {".global .b8 s[4] = \"abc\";\n", NULL},
    {".global .b8 e[4] = {};\n", ".global .b8 e[4] = {};\n"},
    {".global .u32 g;\n.global .u64 p[4] = {g, g+8, generic(g), generic(g)+4};\n", NULL},
    {".global .u32 g;\n.global .u64 p[1] = {g - 4};\n", ".global .u32 g;\n.global .u64 p[1] = {g+-4};\n"},
    {".global .u32 g;\n.global .b8 p[2] = {0xFF(g), 0xFF00(generic(g)+4)};\n",
     ".global .u32 g;\n.global .b8 p[2] = {0x00000000000000FF(g), 0x000000000000FF00(generic(g)+4)};\n"},
    {".global .s32 v = (1<<4|3) & ~1 ? -5/2 : 7;\n", ".global .s32 v = -2;\n"},
    {".global .s64 v = (.s64)0xffffffffffffffff;\n", ".global .s64 v = -1;\n"},
    {".global .texref t;\n", NULL},
    {".global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear };\n", NULL},
    {".file 1 \"a.cu\"\n", NULL},
    {".file 1 \"a.cu\", 1234, 567\n", NULL},
    {".pragma \"nounroll\";\n", NULL},
    {".section .debug_info\n{\n.b8 1, 2\n.b32 .debug_abbrev+4 // }\nL: .b64 f\n}\n", NULL},
    {".newdirective a, b;\n", NULL},
    {"@@DWARF .byte 0x01\n", NULL},
    {".extern .func f;\n", "\n.extern .func f();\n"},
    {".func (.param .b32 r) f(.param .b64 x, .param .align 8 .b8 y[12]) .noreturn;\n",
     "\n.func (.param .b32 r) f(\n\t.param .b64 x,\n\t.param .align 8 .b8 y[12]\n)\n.noreturn;\n"},
    {".func (.reg .u32 a, .reg .u32 b) f(.reg .u32 c) { ret; }\n",
     "\n.func (.reg .u32 a, .reg .u32 b) f(\n\t.reg .u32 c\n)\n{\n\tret;\n}\n"},
    {".func .attribute(.unified(1,2)) f() { ret; }\n",
     "\n.func .attribute(.unified(1,2)) f()\n{\n\tret;\n}\n"},
    {".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q)\n.maxntid 128, "
     "2\n.minnctapersm 2\n"
     ".pragma \"x\"; .newlimit 7 .newtext a b\n{ ret; }\n",
     "\n.visible .entry k(\n\t.param .u64 .ptr .global .align 16 p,\n\t.param .u64 .ptr q\n)\n.maxntid 128, "
     "2\n.minnctapersm 2\n.pragma \"x\";\n.newlimit 7\n.newtext a b\n{\n\tret;\n}\n"},
    {".func f() .pragma \"x\";\n.global .u32 g;\n", "\n.func f()\n.pragma \"x\";;\n.global .u32 g;\n"},
};

static void items_are_read_and_printed(void **state) {
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_buf text = {0}, want = {0};
    hd_buf_printf(&text, HEADER "%s", items[i].in);
    hd_buf_printf(&want, HEADER "%s", items[i].out ? items[i].out : items[i].in);
    char *got = print(parse(&a, text.data));
    assert_string_equal(got, want.data);
    hd_arena_reset(&a);
    char *again = print(parse(&a, got));
    assert_string_equal(again, got);
    free(got);
    free(again);
    hd_buf_free(&text);
    hd_buf_free(&want);
    hd_arena_free(&a);
  }
}

static void header_is_read(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse(&a, "// made by hand\n.version 8.7 /* x\n */ .target sm_100a , texmode_independent,debug\n"
                ".address_size 32\n");
  assert_int_equal(m->version_major, 8);
  assert_int_equal(m->version_minor, 7);
  assert_string_equal(m->target, "sm_100a, texmode_independent, debug");
  assert_int_equal(m->sm, 100);
  assert_int_equal(m->address_size, 32);
  assert_string_equal(m->name, "test.ptx");
  assert_int_equal(parse(&a, ".version 6.0 .target sm_75")->address_size, 64);
  hd_arena_free(&a);
}

static void nul_bytes_end_the_text(void **state) {
  static const char text[] = HEADER ".global .u32 g;\n\0\0\0";
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m;
  assert_int_equal(hd_ptx_parse(text, sizeof text, "pad", &a, &m, NULL), HD_OK);
  assert_int_equal(m->n_items, 1);
  static const char inside[] = HEADER ".global\0.u32 g;\n";
  assert_int_equal(hd_ptx_parse(inside, sizeof inside, "nul", &a, &m, NULL), HD_ERR_INPUT);
  hd_arena_free(&a);
}

/* ---- Forms ---------------------------------------------------------------------------------- */

static void words_are_known_by_their_constants(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse_body(&a, "ld.global.nc.L1::no_allocate.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n"
                     "ld.global.nc.L1::no_allocate.v4.f32 {%f1,%f2,%f3,%f4}, [%rd2];\n"
                     "new.neverseen.f32 %f1, %f2;\nmin.NaN.f32 %f1, %f2, %f3;\nsetp.nan.f32 p, %f1, %f2;\n");
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  const hd_ptx_stmt *s = &f->stmts[f->n_stmts - 5];
  assert_int_equal(s[0].form, s[1].form);
  const hd_ptx_form *form = &m->forms[s[0].form];
  assert_string_equal(form->text, "ld.global.nc.L1::no_allocate.v4.f32");
  assert_int_equal(form->op, HD_OP_LD);
  const hd_mod want[] = {HD_M_GLOBAL, HD_M_NC, HD_M_L1_NO_ALLOCATE, HD_M_V4, HD_M_F32};
  assert_int_equal(form->n_mods, 5);
  assert_memory_equal(form->mods, want, sizeof want);
  assert_true(hd_ptx_form_has(form, HD_M_NC));
  assert_false(hd_ptx_form_has(form, HD_M_U32));
  form = &m->forms[s[2].form];
  assert_int_equal(form->op, HD_OP_UNKNOWN);
  assert_true(form->mods[0] >= HD_M_COUNT);
  assert_string_equal(hd_ptx_mod_text(m, form->mods[0]), "neverseen");
  assert_int_equal(form->mods[1], HD_M_F32);
  assert_int_equal(m->forms[s[3].form].mods[0], HD_M_NaN);
  assert_int_equal(m->forms[s[4].form].mods[0], HD_M_NAN);
  hd_arena_free(&a);
}

static void every_word_of_the_tables_is_found(void **state) {
  hd_buf body = {0};
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++) hd_buf_printf(&body, "%s.f32;\n", hd_ptx_op_text(op));
  for (hd_mod mod = 1; mod < HD_M_COUNT; mod++) hd_buf_printf(&body, "mov.%s;\n", hd_ptx_mod_text(NULL, mod));
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_body(&a, body.data);
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  const hd_ptx_stmt *s = f->stmts + f->n_stmts - (HD_OP_COUNT - 1) - (HD_M_COUNT - 1);
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++, s++) assert_int_equal(m->forms[s->form].op, op);
  for (hd_mod mod = 1; mod < HD_M_COUNT; mod++, s++) assert_int_equal(m->forms[s->form].mods[0], mod);
  assert_int_equal(m->n_mods, 0);
  hd_buf_free(&body);
  hd_arena_free(&a);
}

/* ---- Names -------------------------------------------------------------------------------------- */

/* The symbol of operand `k` of the i-th statement from the end (1: the last). */
static const hd_ptx_sym *opnd_sym(const hd_ptx_module *m, unsigned i, unsigned k, hd_sym *number) {
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  hd_sym sym = m->opnds[f->stmts[f->n_stmts - i].first_opnd + k].sym;
  if (number) *number = sym;
  return &m->syms[sym];
}

static void a_huge_register_range_costs_nothing(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_body(
      &a, ".reg .b32 %big<4294967295>;\nmov.b32 %big4294967294, %big0;\nmov.b32 %big4294967294, 1;\n");
  assert_true(a.used < 1 << 20);
  hd_sym first, second;
  assert_string_equal(opnd_sym(m, 2, 0, &first)->name, "%big4294967294");
  opnd_sym(m, 1, 0, &second);
  assert_int_equal(first, second);
  assert_string_equal(opnd_sym(m, 2, 1, NULL)->name, "%big0");
  assert_int_equal(m->syms[first].kind, HD_SYM_REG);
  assert_int_equal(m->syms[first].type, HD_M_B32);
  hd_arena_free(&a);
}

static void inner_declarations_hide_outer_ones(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_body(
      &a, "{\n.reg .b64 %r2, q;\n.reg .b64 %r<2>;\nmov.b64 %r2, q;\nmov.b64 %r1, 0;\nmov.b32 %r3, 0;\n}\n"
          "mov.b32 %r2, %r1;\nnot.pred q, q;\n");
  assert_int_equal(opnd_sym(m, 6, 0, NULL)->type, HD_M_B64); /* the single %r2 inside */
  assert_int_equal(opnd_sym(m, 6, 1, NULL)->type, HD_M_B64);
  assert_int_equal(opnd_sym(m, 5, 0, NULL)->type, HD_M_B64); /* %r<2> inside */
  assert_int_equal(opnd_sym(m, 4, 0, NULL)->type, HD_M_B32); /* beyond it: %r<99> outside */
  assert_int_equal(opnd_sym(m, 2, 0, NULL)->type, HD_M_B32);
  assert_int_equal(opnd_sym(m, 2, 1, NULL)->type, HD_M_B32);
  assert_int_equal(opnd_sym(m, 1, 0, NULL)->type, HD_M_PRED);
  hd_arena_free(&a);
}

static void a_register_and_a_range_may_share_a_name(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_body(&a, ".reg .b16 %r;\nmov.b32 %r1, %r;\n");
  assert_int_equal(opnd_sym(m, 1, 0, NULL)->type, HD_M_B32);
  assert_int_equal(opnd_sym(m, 1, 1, NULL)->type, HD_M_B16);
  hd_arena_free(&a);
}

static void registers_are_numbered_densely(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_body(&a, "mov.b32 %r90, %r5;\nmov.b32 %r5, %r90;\nmov.f32 %f7, %f8;\n");
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  bool seen[16] = {false};
  unsigned n = 0;
  for (uint32_t i = 1; i < m->n_syms; i++) {
    if (m->syms[i].kind != HD_SYM_REG || m->vars[m->syms[i].decl].sym == i) {
      bool single = m->syms[i].kind == HD_SYM_REG && !m->vars[m->syms[i].decl].range;
      if (!single) continue;
    }
    assert_true(m->syms[i].index < f->n_regs);
    assert_false(seen[m->syms[i].index]);
    seen[m->syms[i].index] = true;
    n++;
  }
  assert_int_equal(n, f->n_regs);
  assert_int_equal(n, 4 + 3); /* four of ranges, and p, q, v */
  hd_arena_free(&a);
}

static void each_block_has_its_own_labels(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse_body(&a, "DONE:\n{\nbra DONE;\nbra OUT;\nDONE:\nbra DONE;\n}\nbra DONE;\nOUT:\nbra NOWHERE;\n");
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  uint32_t n = f->n_stmts;
  assert_int_equal(opnd_sym(m, 8, 0, NULL)->index, n - 6); /* forward, inside */
  assert_int_equal(opnd_sym(m, 7, 0, NULL)->index, n - 2); /* forward, out of the block */
  assert_int_equal(opnd_sym(m, 5, 0, NULL)->index, n - 6);
  assert_int_equal(opnd_sym(m, 3, 0, NULL)->index, n - 10); /* the outer one */
  assert_int_equal(opnd_sym(m, 1, 0, NULL)->kind, HD_SYM_UNDEF);
  assert_string_equal(opnd_sym(m, 1, 0, NULL)->name, "NOWHERE");
  hd_arena_free(&a);
}

static void functions_are_one_symbol_however_often_declared(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse(&a, HEADER ".func f();\n.func g() { call f; call h; ret; }\n.func f() { ret; }\n.func f();\n"
                       ".func h() { ret; }\n");
  assert_int_equal(m->n_funcs, 5);
  const hd_ptx_func *g = &m->funcs[1];
  const hd_ptx_sym *f = &m->syms[m->opnds[g->stmts[0].first_opnd].sym];
  assert_int_equal(f->kind, HD_SYM_FUNC);
  assert_int_equal(f->decl, 2);
  assert_int_equal(m->funcs[0].sym, m->funcs[2].sym);
  assert_int_equal(m->funcs[0].sym, m->funcs[3].sym);
  /* Called before it was declared: no less the same symbol. */
  const hd_ptx_sym *h = &m->syms[m->opnds[g->stmts[1].first_opnd].sym];
  assert_int_equal(h->kind, HD_SYM_FUNC);
  assert_int_equal(h->decl, 4);
  hd_arena_free(&a);
}

static void prototypes_and_targets_are_linked(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse_body(&a, "P: .callprototype (.param .b32 _) _ (.param .b64 _);\ncall (%r1), %rd1, (%rd2), P;\n"
                     "T: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nB: ret;\n");
  const hd_ptx_func *f = &m->funcs[m->n_funcs - 1];
  const hd_ptx_sym *p = opnd_sym(m, 6, 3, NULL), *t = opnd_sym(m, 4, 1, NULL);
  assert_int_equal(p->kind, HD_SYM_PROTO);
  assert_int_equal(p->index, f->n_stmts - 7);
  assert_int_equal(m->protos[p->decl].n_rets, 1);
  assert_int_equal(m->protos[p->decl].n_params, 1);
  assert_int_equal(m->protos[p->decl].sym, 0);
  assert_int_equal(t->kind, HD_SYM_TARGETS);
  const hd_ptx_stmt *targets = &f->stmts[t->index];
  assert_int_equal(targets->n_opnds, 2);
  assert_int_equal(m->syms[m->opnds[targets->first_opnd + 1].sym].index, f->n_stmts - 2);
  hd_arena_free(&a);
}

static void statements_know_their_lines(void **state) {
  static const char text[] =
      HEADER ".func f()\n{\n/* a\n comment */ .reg .b32 %r<9>;\n\nL:\n  add.s32\n %r1,\n %r2, ( 3\n );\n"
             "@!%p mov.u32 %r1, -\n5;\n{ // x\n}\nret;\n}\n";
  /* %p is not declared: made so that the line with a guard is fine. */
  hd_buf b = {0};
  hd_buf_puts(&b, text);
  char *p = strstr(b.data, "@!%p");
  memcpy(p, "    ", 4);
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, b.data);
  const uint32_t want[] = {8, 10, 11, 15, 17, 18, 19};
  assert_int_equal(m->funcs[0].n_stmts, 7);
  assert_int_equal(m->funcs[0].line, 5);
  for (unsigned i = 0; i < 7; i++) assert_int_equal(m->funcs[0].stmts[i].line, want[i]);
  hd_buf_free(&b);
  hd_arena_free(&a);
}

/* ---- Constant expressions ----------------------------------------------------------------- */

static void constant_expressions_fold_as_ptxas_folds_them(void **state) {
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"-5 % 3", 2}, /* % is unsigned */
      {"5 % -3", 5},
      {"-8 >> 1", -4},
      {"-8U >> 1", 0x7ffffffffffffffc},
      {"1 << 64", 1}, /* counts are taken modulo 64 */
      {"~0 < 0", 0},  /* ~ is unsigned */
      {"(-1 & -1) < 0", 1},
      {"-1 < 1U", 0},
      {"-1 < 1", 1},
      {"-1 == 0xffffffffffffffff", 1},
      {"-5 / 2", -2},
      {"-5 / 2U", 0x7ffffffffffffffd},
      {"(1 ? -1 : 1U) < 0", 1}, /* ?: has the type it selects */
      {"1 ? 2 : 3 ? 4 : 5", 2},
      {"0 ? 2 : 0 ? 4 : 5", 5},
      {"10 - 3 - 2", 5},
      {"1 << 2 << 3", 32},
      {"1 || 0 && 0", 1},
      {"3 & 5 == 5", 1},
      {"1 + 2 << 3", 24},
      {"1 | 6 ^ 3 & 2", 5},
      {"!5 + !0", 1},
      {"(.u64)-1 > 0", 1},
      {"(.s64)~0 < 0", 1},
      {"0x7fffffffffffffff + 1", INT64_MIN},
      {"(0 - 0x7fffffffffffffff - 1) / -1", INT64_MIN},
      {"1.5 < 2.5", 1},
      {"1 + 0.5 == 1.5", 1},
      {"WARP_SZ * 2", 64},
      {"+-+-3", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_buf b = {0};
    hd_buf_printf(&b, HEADER ".global .s64 v = %s;\n", cases[i].text);
    hd_ptx_module *m = parse(&a, b.data);
    const hd_ptx_opnd *o = &m->opnds[m->vars[0].init - 1];
    assert_int_equal(o->kind, HD_O_INT);
    if (o->imm != cases[i].value) print_error("%s\n", cases[i].text);
    assert_true(o->imm == cases[i].value);
    hd_buf_free(&b);
    hd_arena_free(&a);
  }
}

static void decimal_floats_do_not_depend_on_the_locale(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, HEADER ".global .f64 v[3] = {0.1, 1e308, 4.9406564584124654e-324};\n");
  const hd_ptx_opnd *list = &m->opnds[m->vars[0].init - 1];
  const double want[] = {0.1, 1e308, 4.9406564584124654e-324};
  for (int i = 0; i < 3; i++) assert_memory_equal(&m->opnds[list->sym + i].bits, &want[i], 8);
  hd_arena_free(&a);
}

static void statements_stay_on_their_lines_in_place(void **state) {
  static const char text[] =
      "// generated\n//\n\n" HEADER "// a comment\n.global .u32 a; .global .u32 b;\n\n"
      ".visible .entry k(\n\t.param .u64 p, // first\n\n\t.param .u32 q\n)\n.maxntid 32\n{\n"
      "\t.reg .b32 %r<9>; .reg .b64 x;\n\n\n\t.shared .align 4 .b8 s[16];\n/* two\nlines */ mov.u32 %r1, "
      "%tid.x;\n"
      "\t{ .reg .pred t; setp.eq.u32 t, %r1, 0; @t bra L; }\n\t.loc 1 2 3\n\tadd.u32 %r2, %r1,\n\t\t1;\nL: "
      "ret;\n}\n"
      ".func f()\n{\n\n\tret;\n}\n";
  hd_arena a, b;
  hd_arena_init(&a);
  hd_arena_init(&b);
  hd_ptx_module *m = parse(&a, text);
  hd_buf in_place = {0};
  hd_buf_puts(&in_place, "what stood here before stays\n");
  size_t before = in_place.len;
  assert_int_equal(hd_ptx_print_in_place(m, &in_place), HD_OK);
  hd_ptx_module *again = parse(&b, in_place.data + before);
  assert_int_equal(again->n_funcs, m->n_funcs);
  for (uint32_t f = 0; f < m->n_funcs; f++) {
    assert_int_equal(again->funcs[f].n_stmts, m->funcs[f].n_stmts);
    for (uint32_t i = 0; i < m->funcs[f].n_stmts; i++)
      assert_int_equal(again->funcs[f].stmts[i].line, m->funcs[f].stmts[i].line);
  }
  char *canonical = print(m), *canonical_again = print(again);
  assert_string_equal(canonical, canonical_again);
  free(canonical);
  free(canonical_again);
  hd_buf_free(&in_place);
  hd_arena_free(&a);
  hd_arena_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("printed in place, statements stay on their lines", statements_stay_on_their_lines_in_place),
      BEHAVIOUR("every kind of statement is read and printed", statements_are_read_and_printed),
      BEHAVIOUR("every kind of item is read and printed, and again the same", items_are_read_and_printed),
      BEHAVIOUR("the header is read", header_is_read),
      BEHAVIOUR("NUL bytes end the text, and stand nowhere else", nul_bytes_end_the_text),
      BEHAVIOUR("words are known by their constants, others get numbers", words_are_known_by_their_constants),
      BEHAVIOUR("every word of the tables is found", every_word_of_the_tables_is_found),
      BEHAVIOUR("a huge register range costs nothing", a_huge_register_range_costs_nothing),
      BEHAVIOUR("inner declarations hide outer ones", inner_declarations_hide_outer_ones),
      BEHAVIOUR("a register and a range may share a name", a_register_and_a_range_may_share_a_name),
      BEHAVIOUR("registers are numbered densely", registers_are_numbered_densely),
      BEHAVIOUR("each block has its own labels", each_block_has_its_own_labels),
      BEHAVIOUR("a function is one symbol however often declared",
                functions_are_one_symbol_however_often_declared),
      BEHAVIOUR("prototypes and targets are linked", prototypes_and_targets_are_linked),
      BEHAVIOUR("statements know their lines", statements_know_their_lines),
      BEHAVIOUR("constant expressions fold as ptxas folds them",
                constant_expressions_fold_as_ptxas_folds_them),
      BEHAVIOUR("decimal floats are exact", decimal_floats_do_not_depend_on_the_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
