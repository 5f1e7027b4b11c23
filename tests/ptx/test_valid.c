/* What ptxas refuses of text that parses, and what it takes. */
#include "ptx_test.h"

#include "heddle/ptx_valid.h"

typedef struct row {
  const char *version, *target, *code;
} row;

static const char *const registers =
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>; "
    ".reg .s64 %l<4>; .reg .u8 %c<4>; .reg .f16x2 %x<4>;\n";

static hd_status judge(const row *r, hd_diag *d) {
  hd_arena a;
  hd_arena_init(&a);
  hd_buf b = {0};
  hd_buf_printf(&b, ".version %s\n.target %s\n.address_size 64\n", r->version, r->target);
  hd_buf_printf(&b, ".visible .entry k(.param .u64 o) {\n%s%s\nret; }\n", registers, r->code);
  hd_ptx_module *m;
  hd_status st = hd_ptx_parse(b.data, b.len, "row", &a, &m, d);
  assert_int_equal(st, HD_OK);
  st = hd_ptx_validate(m, d);
  hd_buf_free(&b);
  hd_arena_free(&a);
  return st;
}

static void each(const row *rows, size_t n, hd_status want) {
  for (size_t k = 0; k < n; k++) {
    hd_diag d = {0};
    const hd_status st = judge(&rows[k], &d);
    if (st != want) print_error("%s %s: %s: %s\n", rows[k].version, rows[k].target, rows[k].code, d.message);
    assert_int_equal(st, want);
    if (want != HD_OK) assert_in_range(d.line, 2, 6);
  }
}

static void what_ptxas_takes_is_taken(void **state) {
  static const row rows[] = {
      {"6.0", "sm_30", "shfl.sync.idx.b32 %r1, %r2, 1, 31, -1;"},
      {"6.0", "sm_70", "shfl.idx.b32 %r1, %r2, 1, 31;"},
      {"8.0", "sm_90a", "setmaxnreg.dec.sync.aligned.u32 40;"},
      {"8.8", "sm_120f", "setmaxnreg.dec.sync.aligned.u32 40;"},
      {"8.8", "sm_100f", "redux.sync.min.f32 %f1, %f2, -1;"},
      {"7.0", "sm_80", "redux.sync.min.s32 %r1, %r2, -1;"},
      {"8.0", "sm_90", "ld.global.b8 %g1, [%d1]; ld.global.u8 %l1, [%d1]; ld.global.s8 %c1, [%d1];"},
      {"8.0", "sm_90", "ld.global.f32 %r1, [%d1]; ld.global.f32 %d2, [%d1]; st.global.u8 [%d1], %d2;"},
      {"8.0", "sm_90", "ld.global.v2.f32 {%f1, %r2}, [%d1]; ld.global.v4.b32 {%f1, %r1, _, %x1}, [%d1];"},
      {"8.0", "sm_90", "ld.global.v2.b32 {%r1, %p1}, [%d1];"}, /* odd, but ptxas takes it */
      {"8.0", "sm_90", "mov.b32 %r1, %f1; mov.f32 %f1, %r1; mov.u32 %r1, %tid.x; mov.b64 {%r1, %r2}, %d1;"},
      {"8.0", "sm_90", "add.s64 %l1, %d1, %l2; add.u32 %x1, %r1, %r2; and.b32 %f1, %r1, %f2;"},
      {"8.0", "sm_90", "mul.wide.u32 %d1, %r1, %r2; cvt.rn.f64.s32 %g1, %r1; setp.lt.f32 %p1, %f1, %r1;"},
      {"8.0", "sm_90", "atom.global.add.L2::cache_hint.u32 %r1, [%d1], %r2, %d3;"},
      {"1.3", "sm_13", "div.f32 %f1, %f2, %f3; sin.f32 %f1, %f2;"},
      {"8.0", "sm_90", "mov.b32 %r1, 0f3F800000; mov.f32 %f1, 0d3FF0000000000000; cvt.rn.f32.s32 %f1, 3;"},
      {"8.0", "sm_90", "and.pred %p1, %p2, %p3; mov.pred %p1, %p2; selp.b64 %g1, %d1, %l1, %p1;"},
      {"9.1", "sm_90", "something.of.tomorrow %r1;"},
      {"9.0", "sm_999", "wgmma.fence.sync.aligned;"},
  };
  (void)state;
  each(rows, sizeof rows / sizeof *rows, HD_OK);
}

static void what_ptxas_refuses_is_refused_with_its_line(void **state) {
  static const row rows[] = {
      /* versions */
      {"5.0", "sm_60", "activemask.b32 %r1;"},
      {"5.0", "sm_60", "T: .branchtargets A, A; brx.idx %r1, T; A:"},
      {"5.9", "sm_60", "shfl.sync.idx.b32 %r1, %r2, 1, 31, -1;"},
      {"7.3", "sm_80", "createpolicy.fractional.L2::evict_last.b64 %d1;"},
      {"7.7", "sm_90", "ret;"},
      {"7.8", "sm_90a", "ret;"},
      {"8.6", "sm_120a", "ret;"},
      {"8.7", "sm_100f", "ret;"},
      {"8.3", "sm_90",
       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
       "{%r5,%r6}, {%f1,%f2,%f3,%f4};"},
      /* targets */
      {"8.0", "sm_90", "setmaxnreg.inc.sync.aligned.u32 152;"},
      {"8.6", "sm_90", "redux.sync.max.abs.NaN.f32 %f1, %f2, -1;"},
      {"8.7", "sm_120a", "redux.sync.min.f32 %f1, %f2, -1;"},
      {"8.6", "sm_100a", "wgmma.fence.sync.aligned;"},
      {"8.0", "sm_80", "mapa.shared::cluster.u32 %r1, %r2, 0;"},
      {"7.0", "sm_75", "cp.async.commit_group;"},
      {"8.8", "sm_90", "ld.global.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%d1];"},
      {"8.8", "sm_90", "add.rn.f32x2 %d1, %d2, %d3;"},
      {"6.4", "sm_70", "vote.ballot.b32 %r1, %p1;"},
      /* the language */
      {"8.0", "sm_90", "bogus;"},
      {"8.0", "sm_90", "frobnicate.u32 %r1, %r2;"},
      {"8.0", "sm_90", "add.b32 %r1, %r2, %r3;"},
      {"8.0", "sm_90", "and.u32 %r1, %r2, %r3;"},
      {"8.0", "sm_90", "fma.rn.s32 %r1, %r2, %r3, %r4;"},
      {"8.0", "sm_90", "mov.u8 %c1, %c2;"},
      /* registers */
      {"8.0", "sm_90", "ld.shared.v2.f32 {%g1, %g2}, [%r1];"},
      {"8.0", "sm_90", "ld.global.v4.f32 {%f1, %f2}, [%d1];"},
      {"8.0", "sm_90", "ld.global.f32 {%f1}, [%d1]; ld.global.f32 {%f1, %f2}, [%d1];"},
      {"8.0", "sm_90", "ld.global.u32 %f1, [%d1];"},
      {"8.0", "sm_90", "ld.global.f32 %g1, [%d1];"},
      {"8.0", "sm_90", "ld.global.b64 %r1, [%d1];"},
      {"8.0", "sm_90", "st.global.f64 [%d1], %f1;"},
      {"8.0", "sm_90", "add.s32 %r1, %f1, %r2;"},
      {"8.0", "sm_90", "add.s32 %d1, %r1, %r2;"},
      {"8.0", "sm_90", "add.f32 %f1, %f2, %g1;"},
      {"8.0", "sm_90", "fma.rn.f64 %g1, %g2, %g3, %f1;"},
      {"8.0", "sm_90", "mov.u32 %r1, %d1;"},
      {"8.0", "sm_90", "mov.f32 %f1, %x1;"},
      {"8.0", "sm_90", "setp.lt.s32 %p1, %r1, %d1;"},
      {"8.0", "sm_90", "selp.b32 %r1, %r2, %h1, %p1;"},
      {"8.0", "sm_90", "and.b32 %r1, %r2, %p1;"},
      {"8.0", "sm_90", "mul.wide.u32 %r1, %r2, %r3;"},
      {"8.0", "sm_90", "shl.b64 %d1, %d2, %d3;"},
      {"8.0", "sm_90", "cvt.u32.u64 %r1, %r2;"},
      {"8.0", "sm_90", "set.lt.u32.f32 %r1, %f1, %g2;"},
      {"8.0", "sm_90", "vote.sync.ballot.b32 %r1, %r2, -1;"},
      {"8.0", "sm_90", "ld.global.u32 %r1, [%f1];"},
      /* operands, names and words */
      {"8.0", "sm_90", "add.u32 %r1, %r2;"},
      {"8.0", "sm_90", "add.u32 1, %r1, %r2;"},
      {"8.0", "sm_90", "add.u32 %r1, %r2, 1.5;"},
      {"8.0", "sm_90", "mov.f32 %f1, 1;"},
      {"8.0", "sm_90", "ld.global.u32 %r1, %d1;"},
      {"8.0", "sm_90", "bra nowhere;"},
      {"8.0", "sm_90", "mov.u64 %d1, nowhere;"},
      {"8.0", "sm_90", "mov.u32 %r1, %nowhere;"},
      {"8.0", "sm_90", "@%r1 ret;"},
      {"8.0", "sm_90", ".shared .b32 s; ld.global.u32 %r1, [s];"},
      {"8.0", "sm_90", "sqrt.f32 %f1, %f2;"},
      {"8.0", "sm_90", "cvt.f32.s32 %f1, %r1;"},
      {"8.0", "sm_90", "atom.global.inc.s32 %r1, [%d1], %r2;"},
      {"8.0", "sm_90", "ld.relaxed.global.u32 %r1, [%d1];"},
      {"8.0", "sm_90", "and.pred %p1, %p2, %r1;"},
      {"8.0", "sm_90", "shl.b64 %d1, %r1, 3;"},
      {"8.0", "sm_90", "atom.global.add.f32 %r1, [%d1], %g1;"},
  };
  (void)state;
  each(rows, sizeof rows / sizeof *rows, HD_ERR_INPUT);
}

static void a_name_has_no_dots(void **state) {
  static const char *const items[] = {
      ".extern .func (.param .b32 r) llvm.nvvm.tanh.approx.f32 (.param .b32 x);\n",
      ".visible .entry a.b(.param .u64 o) { ret; }\n", ".func f.f32() { ret; }\n"};
  (void)state;
  for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_buf b = {0};
    hd_diag d = {0};
    hd_ptx_module *m;
    hd_buf_puts(&b, HEADER);
    hd_buf_puts(&b, items[k]);
    hd_status st = hd_ptx_parse(b.data, b.len, "names", &a, &m, &d);
    if (st == HD_OK) st = hd_ptx_validate(m, &d);
    assert_int_equal(st, HD_ERR_INPUT);
    assert_int_equal(d.line, 5);
    hd_buf_free(&b);
    hd_arena_free(&a);
  }
}

static void an_old_language_is_refused_at_the_targets_line(void **state) {
  static const char text[] = "// made\n/* by\n hand */\n.version 7.0\n\n.target\n sm_90\n.address_size 64\n";
  hd_arena a;
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_arena_init(&a);
  assert_int_equal(hd_ptx_parse(text, strlen(text), "t", &a, &m, &d), HD_OK);
  assert_int_equal(hd_ptx_validate(m, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 7);
  hd_arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what ptxas takes is taken", what_ptxas_takes_is_taken),
      BEHAVIOUR("what ptxas refuses is refused, with its line", what_ptxas_refuses_is_refused_with_its_line),
      BEHAVIOUR("a name has no dots", a_name_has_no_dots),
      BEHAVIOUR("an old language is refused at the target's line",
                an_old_language_is_refused_at_the_targets_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
