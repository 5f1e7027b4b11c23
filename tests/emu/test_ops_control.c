/* Branches, calls, barriers, stacks, carries, and the functions of the device runtime. */
#include "emu/ops_warp.h"

/* ---- Branches ----------------------------------------------------------------------- */

static void loops_and_tables(void **state) {
  uint64_t in[LANES], out[LANES];
  for (unsigned l = 0; l < LANES; l++) in[l] = hd_random_at(1, l) % 50;
  run_words("",
            "ld.global.u64 %d1, [%in]; mov.u64 %d2, 0; cvt.u32.u64 %w1, %d1;\n"
            "loop: setp.eq.u64 %p1, %d1, 0; @%p1 bra done; add.u64 %d2, %d2, %d1; sub.u64 %d1, %d1, 1; bra "
            "loop;\ndone:\n"
            "rem.u32 %w2, %w1, 4;\nts: .branchtargets a, b, a, c;\nbrx.idx %w2, ts;\n"
            "a: add.u64 %d2, %d2, 1000; bra e;\nb: add.u64 %d2, %d2, 2000; bra e;\nc: add.u64 %d2, %d2, "
            "3000;\ne: st.global.u64 [%out], %d2;\n",
            in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++)
    assert_int_equal(out[l], in[l] * (in[l] + 1) / 2 + (in[l] % 4 == 1   ? 2000
                                                        : in[l] % 4 == 3 ? 3000
                                                                         : 1000));
}

/* ---- Calls ----------------------------------------------------------------------------- */

static uint64_t fibonacci(uint64_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void calls_pass_values_and_recurse(void **state) {
  uint64_t in[LANES], out[LANES];
  for (unsigned l = 0; l < LANES; l++) in[l] = hd_random_at(2, l) % 12;
  run_words(
      ".func (.param .b64 r) fib(.param .b64 n)\n{\n.reg .b64 %d<8>; .reg .pred %p;\nld.param.u64 %d1, [n]; "
      "setp.gt.u64 %p, %d1, 1; @%p bra more;\n"
      "st.param.b64 [r], %d1; ret;\nmore: sub.u64 %d2, %d1, 1; sub.u64 %d3, %d1, 2;\n"
      "{ .param .b64 a; .param .b64 v; st.param.b64 [a], %d2; call (v), fib, (a); ld.param.b64 %d4, [v]; }\n"
      "{ .param .b64 a; .param .b64 v; st.param.b64 [a], %d3; call (v), fib, (a); ld.param.b64 %d5, [v]; }\n"
      "add.u64 %d4, %d4, %d5; st.param.b64 [r], %d4; ret;\n}\n"
      ".func (.reg .b32 %r) twice(.reg .b32 %x, .reg .f32 %f)\n{\n.reg .b32 %t; cvt.rzi.u32.f32 %t, %f; "
      "mad.lo.u32 %r, %x, 2, %t; ret;\n}\n",
      "ld.global.u64 %d1, [%in]; cvt.u32.u64 %w1, %d1;\n"
      "{ .param .b64 a; .param .b64 v; st.param.b64 [a], %d1; call.uni (v), fib, (a); ld.param.b64 %d2, [v]; "
      "}\n"
      "call (%w2), twice, (%w1, 0f40E00000); cvt.u64.u32 %d3, %w2; add.u64 %d2, %d2, %d3; st.global.u64 "
      "[%out], %d2;\n",
      in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], fibonacci(in[l]) + 2 * in[l] + 7);
}

static void structures_and_pointers_to_locals_are_passed(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_words(".func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[16], .param .b64 p)\n{\n.reg .b64 "
            "%d<8>; .reg .b32 %w<4>; .local .align 8 .b8 frame[64];\n"
            "mov.b64 %d5, frame; st.local.u64 [%d5+8], 1; ld.param.v2.b64 {%d1, %d2}, [s]; st.param.v2.b64 "
            "[r], {%d2, %d1};\n"
            "mov.b64 %d6, s; ld.local.u64 %d7, [%d6+8];\n"
            "ld.param.b64 %d3, [p]; ld.u64 %d4, [%d3]; add.u64 %d4, %d4, %d7; st.u64 [%d3], %d4; ret;\n}\n",
            ".local .align 8 .u64 mine; .local .align 4 .b8 other[12];\n"
            "cvt.u64.u32 %d1, %i; st.local.u64 [mine], %d1; st.local.u32 [other+8], 5; mov.b64 %d2, mine; "
            "cvta.local.u64 %d3, %d2;\n"
            "{ .param .align 8 .b8 a[16]; .param .b64 b; .param .align 8 .b8 v[16]; st.param.b64 [a], 10; "
            "st.param.b64 [a+8], 20; st.param.b64 [b], %d3;\n"
            "call.uni (v), swap, (a, b); ld.param.v2.b64 {%d4, %d5}, [v]; }\n"
            "ld.local.u64 %d6, [mine]; ld.local.u32 %w1, [other+8]; cvt.u64.u32 %d7, %w1; mul.lo.u64 %d4, "
            "%d4, 100; add.u64 %d4, %d4, %d5;\n"
            "mul.lo.u64 %d6, %d6, 10000; add.u64 %d4, %d4, %d6; add.u64 %d4, %d4, %d7; st.global.u64 [%out], "
            "%d4;\n",
            in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 2010 + 10000 * (l + 20) + 5);
}

static void calls_through_registers(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_words(
      ".func (.param .b32 r) plus(.param .b32 x)\n{\n.reg .b32 %w; ld.param.b32 %w, [x]; add.u32 %w, %w, 7; "
      "st.param.b32 [r], %w; ret;\n}\n"
      ".func (.param .b32 r) times(.param .b32 x)\n{\n.reg .b32 %w; ld.param.b32 %w, [x]; mul.lo.u32 %w, %w, "
      "3; st.param.b32 [r], %w; ret;\n}\n"
      ".global .align 8 .u64 table[2] = {plus, times};\n",
      "and.b32 %w1, %i, 1; mov.u64 %d1, table; mad.wide.u32 %d1, %w1, 8, %d1; ld.global.u64 %d2, [%d1];\n"
      "{ .param .b32 a; .param .b32 v; st.param.b32 [a], %i;\nproto: .callprototype (.param .b32 _) _ "
      "(.param .b32 _);\ncall (v), %d2, (a), proto; ld.param.b32 %w2, [v]; }\n"
      "mov.u64 %d3, times; { .param .b32 a; .param .b32 v; st.param.b32 [a], %w2;\nto: .calltargets times, "
      "plus;\ncall (v), %d3, (a), to; ld.param.b32 %w2, [v]; }\n"
      "cvt.u64.u32 %d4, %w2; st.global.u64 [%out], %d4;\n",
      in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 3 * (l & 1 ? 3 * l : l + 7));
}

/* ---- The stack ---------------------------------------------------------------------------- */

static void alloca_gives_room_and_takes_it_back(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_words("",
            "cvt.u64.u32 %d1, %i; add.u64 %d1, %d1, 1; shl.b64 %d1, %d1, 3; stacksave.u64 %d9; alloca.u64 "
            "%d2, %d1, 64; alloca.u64 %d3, 8;\n"
            "st.local.u64 [%d2], 5; st.local.u64 [%d3], 6; ld.local.u64 %d4, [%d2]; and.b64 %d5, %d2, 63;\n"
            "stackrestore.u64 %d9; alloca.u64 %d6, %d1, 64; sub.u64 %d6, %d6, %d2; sub.u64 %d7, %d3, %d2; "
            "setp.ge.u64 %p1, %d7, %d1;\n"
            "selp.u64 %d8, 100, 0, %p1; add.u64 %d4, %d4, %d5; add.u64 %d4, %d4, %d6; add.u64 %d4, %d4, %d8; "
            "st.global.u64 [%out], %d4;\n",
            in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 105);
}

/* ---- Carries -------------------------------------------------------------------------------- */

static void carries_join_words(void **state) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    uint64_t in[LANES][4], out[LANES][8];
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned k = 0; k < 4; k++) in[l][k] = op_value(seed, 4 * l + k);
    /* 128-bit sum and difference in 64-bit words; in 32-bit words; a 128-bit product. */
    run_words("",
              "ld.global.v2.u64 {%d1, %d2}, [%in]; ld.global.v2.u64 {%d3, %d4}, [%in+16];\n"
              "add.cc.u64 %d5, %d1, %d3; addc.u64 %d6, %d2, %d4; sub.cc.u64 %d7, %d1, %d3; subc.u64 %d8, "
              "%d2, %d4;\n"
              "mov.b64 {%w1, %w2}, %d1; mov.b64 {%w3, %w4}, %d3; mov.b64 {%w5, %w6}, %d2;\n"
              "add.cc.u32 %w7, %w1, %w3; addc.cc.u32 %w8, %w2, %w4; addc.u32 %w9, %w5, 0; mov.b64 %d9, {%w7, "
              "%w8}; cvt.u64.u32 %d10, %w9;\n"
              "mul.lo.u32 %w10, %w1, %w3; mul.hi.u32 %w11, %w1, %w3;\n"
              "mad.lo.cc.u32 %w11, %w1, %w4, %w11; madc.hi.u32 %w12, %w1, %w4, 0; mad.lo.cc.u32 %w11, %w2, "
              "%w3, %w11; madc.hi.cc.u32 %w12, %w2, %w3, %w12;\n"
              "addc.u32 %w13, 0, 0; mad.lo.cc.u32 %w12, %w2, %w4, %w12; madc.hi.u32 %w13, %w2, %w4, %w13;\n"
              "mov.b64 %d11, {%w10, %w11}; mov.b64 %d12, {%w12, %w13};\n"
              "st.global.v2.u64 [%out], {%d5, %d6}; st.global.v2.u64 [%out+16], {%d7, %d8}; st.global.v2.u64 "
              "[%out+32], {%d9, %d10}; st.global.v2.u64 [%out+48], {%d11, %d12};\n",
              &in[0][0], 4, &out[0][0], 8, LANES);
    for (unsigned l = 0; l < LANES; l++) {
      const unsigned __int128 a = (unsigned __int128)in[l][1] << 64 | in[l][0],
                              b = (unsigned __int128)in[l][3] << 64 | in[l][2];
      const unsigned __int128 sum = a + b, rest = a - b, product = (unsigned __int128)in[l][0] * in[l][2];
      const unsigned __int128 low = (unsigned __int128)in[l][0] + in[l][2];
      assert_int_equal(out[l][0], (uint64_t)sum);
      assert_int_equal(out[l][1], (uint64_t)(sum >> 64));
      assert_int_equal(out[l][2], (uint64_t)rest);
      assert_int_equal(out[l][3], (uint64_t)(rest >> 64));
      assert_int_equal(out[l][4], (uint64_t)low);
      assert_int_equal(out[l][5], (uint32_t)((uint32_t)in[l][1] + (uint64_t)(low >> 64)));
      assert_int_equal(out[l][6], (uint64_t)product);
      assert_int_equal(out[l][7], (uint64_t)(product >> 64));
    }
  }
}

/* ---- Barriers ----------------------------------------------------------------------------------- */

static void barriers_count_predicates(void **state) {
  enum { THREADS = 128 };
  static uint64_t in[THREADS], out[THREADS];
  for (unsigned t = 0; t < THREADS; t++) in[t] = hd_random_at(5, t) & 1;
  run_words(".shared .u32 s[128];",
            "ld.global.u64 %d1, [%in]; setp.ne.u64 %p1, %d1, 0; mov.u64 %d2, s; mad.wide.u32 %d2, %i, 4, "
            "%d2; st.shared.u32 [%d2], %i; barrier.sync 1;\n"
            "mov.u64 %d3, s; xor.b32 %w1, %i, 127; mad.wide.u32 %d3, %w1, 4, %d3; ld.shared.u32 %w2, [%d3];\n"
            "bar.red.popc.u32 %w3, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, 128, !%p1; "
            "barrier.cta.sync.aligned 2, 128;\n"
            "setp.lt.u32 %p4, %i, 64; @%p4 bar.arrive 3, 128; @!%p4 bar.sync 3, 128;\n"
            "selp.u32 %w4, 1000, 0, %p2; selp.u32 %w5, 2000, 0, %p3; mad.lo.u32 %w2, %w2, 10000, %w3; "
            "add.u32 %w2, %w2, %w4; add.u32 %w2, %w2, %w5;\n"
            "cvt.u64.u32 %d4, %w2; st.global.u64 [%out], %d4;\n",
            in, 1, out, 1, THREADS);
  uint64_t ones = 0;
  for (unsigned t = 0; t < THREADS; t++) ones += in[t];
  for (unsigned t = 0; t < THREADS; t++) assert_int_equal(out[t], (t ^ 127) * 10000 + ones + 2000);
}

/* ---- The device runtime ---------------------------------------------------------------------------- */

static void collect(void *ctx, const char *text, size_t len) { hd_buf_put(ctx, text, len); }

static const char runtime[] =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 r) "
    "malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n.extern .func (.param .b64 r) memcpy(.param .b64 d, .param .b64 s, "
    ".param .b64 n);\n"
    ".extern .func (.param .b64 r) memset(.param .b64 d, .param .b32 c, .param .b64 n);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 "
    "s);\n";

static hd_status run_printing(const char *globals, const char *body, hd_buf *printed, hd_diag *d) {
  hd_buf text = {0}, all = {0};
  op_machine x;
  hd_buf_puts(&all, runtime);
  hd_buf_puts(&all, globals);
  body_ptx(&text, all.data, body, 1, 1);
  op_load(&x, &text, HD_ISA_AUTO);
  const uint64_t args[2] = {op_alloc(&x, NULL, 256), op_alloc(&x, NULL, 256)};
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {2, 1, 1}, .args = args, .args_bytes = 16};
  const hd_emu_hooks hooks = {.ctx = printed, .print = collect};
  const hd_status st = hd_emu_launch(x.p, &l, &(hd_dispatch){0}, &hooks, NULL, d);
  op_unload(&x);
  hd_buf_free(&text);
  hd_buf_free(&all);
  return st;
}

static void bytes_of(hd_buf *t, const char *name, const char *s) {
  hd_buf_printf(t, ".global .align 1 .b8 %s[%zu] = {", name, strlen(s) + 1);
  for (size_t k = 0; k <= strlen(s); k++) hd_buf_printf(t, "%s%u", k ? ", " : "", (unsigned char)s[k]);
  hd_buf_puts(t, "};\n");
}

static void printf_formats_as_c_does(void **state) {
  static const char format[] =
      "t%d %5u|%-6x|%#o|%08.3f|%e|%g|%G|%a|%c|%s|%.3s|%10s|%lld|%llx|%hd|%hhu|%p|%%|%+d|% "
      "d|%*d|%-*d|%.*f|%ld|%q\n";
  hd_buf g = {0}, out = {0};
  char want[2048] = "";
  hd_diag d = {0};
  bytes_of(&g, "fmt", format);
  bytes_of(&g, "word", "thread");
  const char *body =
      ".local .align 8 .b8 a[256]; mov.b64 %d1, a; cvta.local.u64 %d1, %d1; mov.u64 %d2, word; "
      "cvta.global.u64 %d2, %d2;\n"
      "st.u32 [%d1], %i; st.u32 [%d1+4], 42; st.u32 [%d1+8], 48879; st.u32 [%d1+12], 8; st.f64 [%d1+16], "
      "3.14159; st.f64 [%d1+24], 12345.678;\n"
      "st.f64 [%d1+32], 0.0001; st.f64 [%d1+40], 1e20; st.f64 [%d1+48], 1.5; st.u32 [%d1+56], 65; st.u64 "
      "[%d1+64], %d2; st.u64 [%d1+72], %d2; st.u64 [%d1+80], %d2;\n"
      "st.u64 [%d1+88], -5000000000; st.u64 [%d1+96], 0xfedcba9876543210; st.u32 [%d1+104], 70000; st.u32 "
      "[%d1+108], 300; st.u64 [%d1+112], 4096;\n"
      "st.u32 [%d1+120], 7; st.u32 [%d1+124], 8; st.u32 [%d1+128], 6; st.u32 [%d1+132], 9; st.u32 [%d1+136], "
      "4; st.u32 [%d1+140], 1; st.u32 [%d1+144], 2; st.f64 [%d1+152], 2.71828; st.u64 [%d1+160], -1;\n"
      "mov.u64 %d3, fmt; cvta.global.u64 %d3, %d3; { .param .b64 f; .param .b64 p; .param .b32 r; "
      "st.param.b64 [f], %d3; st.param.b64 [p], %d1; call.uni (r), vprintf, (f, p); }\n";
  op_ok(run_printing(g.data, body, &out, &d), &d);
  for (int t = 0; t < 2; t++) {
    const size_t n = strlen(want);
    snprintf(want + n, sizeof want - n,
             "t%d %5u|%-6x|%#o|%08.3f|%e|%g|%G|%a|%c|%s|%.3s|%10s|%lld|%llx|%hd|%hhu|%p|%%|%+d|% "
             "d|%*d|%-*d|%.*f|%ld|%%q\n",
             t, 42u, 48879, 8, 3.14159, 12345.678, 0.0001, 1e20, 1.5, 65, "thread", "thread", "thread",
             -5000000000ll, 0xfedcba9876543210ull, (short)4464, (unsigned char)44, (void *)4096, 7, 8, 6, 9,
             4, 1, 2, 2.71828, -1l);
  }
  assert_string_equal(out.data, want);
  hd_buf_free(&g);
  hd_buf_free(&out);
}

static void memory_comes_and_goes(void **state) {
  hd_buf out = {0};
  hd_diag d = {0};
  const char *body =
      ".local .align 8 .b8 a[64]; mov.b64 %d1, a; cvta.local.u64 %d1, %d1;\n"
      "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 100; call.uni (r), malloc, (n); ld.param.b64 %d2, "
      "[r]; }\n"
      "{ .param .b64 p; .param .b32 c; .param .b64 n; .param .b64 r; st.param.b64 [p], %d2; st.param.b32 "
      "[c], 65; st.param.b64 [n], 100; call.uni (r), memset, (p, c, n); }\n"
      "{ .param .b64 p; .param .b64 q; .param .b64 n; .param .b64 r; add.u64 %d3, %d2, 3; st.param.b64 [p], "
      "%d1; st.param.b64 [q], %d3; st.param.b64 [n], 37; call.uni (r), memcpy, (p, q, n); }\n"
      "{ .param .b64 p; st.param.b64 [p], %d2; call.uni free, (p); }\n"
      "ld.local.u8 %w1, [a+36]; ld.local.u8 %w2, [a+37]; setp.ne.u32 %p1, %w1, 65; setp.ne.or.u32 %p1, %w2, "
      "0, %p1; @%p1 trap;\n";
  op_ok(run_printing("", body, &out, &d), &d);
  hd_buf_free(&out);
  assert_int_equal(
      run_printing("", "{ .param .b64 p; st.param.b64 [p], 4096; call.uni free, (p); }\n", &out, &d),
      HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "free of 0x1000"));
}

static void assertions_end_the_launch(void **state) {
  hd_buf g = {0}, out = {0};
  hd_diag d = {0};
  bytes_of(&g, "msg", "x < n");
  bytes_of(&g, "file", "kernel.cu");
  bytes_of(&g, "name", "void k()");
  const char *body =
      "setp.eq.u32 %p1, %i, 1; @!%p1 exit; mov.u64 %d1, msg; mov.u64 %d2, file; mov.u64 %d3, name;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 e; .param .b64 f; st.param.b64 [a], %d1; "
      "st.param.b64 [b], %d2; st.param.b32 [c], 12;\n"
      "st.param.b64 [e], %d3; st.param.b64 [f], 1; call.uni __assertfail, (a, b, c, e, f); }\n";
  assert_int_equal(run_printing(g.data, body, &out, &d), HD_ERR_FAULT);
  assert_non_null(strstr(d.message, "assertion `x < n' failed in void k(), kernel.cu:12"));
  hd_buf_free(&g);
  hd_buf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loops end and tables branch, lane by lane", loops_and_tables),
      BEHAVIOUR("calls pass values and recurse", calls_pass_values_and_recurse),
      BEHAVIOUR("structures and pointers to locals are passed", structures_and_pointers_to_locals_are_passed),
      BEHAVIOUR("calls through registers reach the function each lane names", calls_through_registers),
      BEHAVIOUR("alloca gives room and stackrestore takes it back", alloca_gives_room_and_takes_it_back),
      BEHAVIOUR("carries join words into longer ones", carries_join_words),
      BEHAVIOUR("barriers order a CTA and count predicates", barriers_count_predicates),
      BEHAVIOUR("printf formats as C does", printf_formats_as_c_does),
      BEHAVIOUR("malloc, free, memset and memcpy work on any memory", memory_comes_and_goes),
      BEHAVIOUR("a failed assertion ends the launch with its words", assertions_end_the_launch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
