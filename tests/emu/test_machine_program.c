/* Modules loaded: variables of every form, and refusals. */
#include "kit.h"

typedef struct loaded {
  hd_emu *e;
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu_program *p;
  hd_diag d;
} loaded;

static hd_status load(loaded *x, const char *body) {
  memset(x, 0, sizeof *x);
  char text[8192];
  int n = snprintf(text, sizeof text, ".version 8.0\n.target sm_80\n.address_size 64\n%s", body);
  hd_arena_init(&x->arena);
  CHECK_OK(hd_ptx_parse(text, (size_t)n, "t.ptx", &x->arena, &x->m, &x->d), &x->d);
  CHECK_OK(
      hd_emu_create(&(hd_emu_options){.memory = 1 << 24, .threads = 1, .checks = HD_CHECK_ALL}, &x->e, &x->d),
      &x->d);
  return hd_emu_load(x->e, x->m, &x->p, &x->d);
}
static void unload(loaded *x) {
  hd_emu_unload(x->p);
  assert_int_equal(x->e->n_allocs, 0); /* all variables are given back */
  hd_emu_destroy(x->e);
  hd_arena_free(&x->arena);
}

static const void *symbol(loaded *x, const char *name, uint64_t want_bytes, uint64_t *address) {
  uint64_t a, bytes;
  CHECK_OK(hd_emu_symbol(x->p, name, &a, &bytes, &x->d), &x->d);
  assert_int_equal(bytes, want_bytes);
  if (address) *address = a;
  return hd_emu_ptr(x->e, a, bytes);
}

static void initial_values_of_every_form(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".global .b8 bytes[6] = {1, 255, -1, 0x7f};\n"
                    ".global .u16 half = 65535;\n"
                    ".const .s64 wide[2] = {-1, 0x123456789abcdef0};\n"
                    ".global .f32 f[4] = {0f3f800000, 2.5, -0.0, 3};\n"
                    ".global .f64 g[3] = {0d3ff0000000000000, 2.5, 0f3f800000};\n"
                    ".global .b32 grid[2][3] = {{1, 2}, {3, 4, 5}};\n"
                    ".global .b32 flat[2][3] = {1, 2, 3, 4};\n"
                    ".global .align 16 .b32 four[4] = {7, 8, 9, 10};\n"
                    ".global .u64 here = bytes;\n"
                    ".global .u64 there[3] = {generic(four)+8, generic(wide), wide};\n"
                    ".global .u64 code = f1;\n"
                    ".global .b8 parts[8] = {0xff(four), 0xff00(four), 0xff0000(four), 0xff000000(four)};\n"
                    ".visible .global .align 128 .b8 aligned[3];\n"
                    ".weak .global .u32 weak = 4;\n"
                    ".func f0() { ret; }\n"
                    ".func f1() { ret; }\n"),
           &x.d);
  uint64_t four, wide, bytes, aligned;
  static const uint8_t want_bytes[6] = {1, 255, 255, 127, 0, 0};
  assert_memory_equal(symbol(&x, "bytes", 6, &bytes), want_bytes, 6);
  assert_int_equal(*(const uint16_t *)symbol(&x, "half", 2, NULL), 65535);
  static const int64_t want_wide[2] = {-1, 0x123456789abcdef0};
  assert_memory_equal(symbol(&x, "wide", 16, &wide), want_wide, 16);
  static const float want_f[4] = {1, 2.5f, -0.0f, 3};
  assert_memory_equal(symbol(&x, "f", 16, NULL), want_f, 16);
  static const double want_g[3] = {1, 2.5, 1};
  assert_memory_equal(symbol(&x, "g", 24, NULL), want_g, 24);
  static const uint32_t want_grid[6] = {1, 2, 0, 3, 4, 5}, want_flat[6] = {1, 2, 3, 4, 0, 0},
                        want_four[4] = {7, 8, 9, 10};
  assert_memory_equal(symbol(&x, "grid", 24, NULL), want_grid, 24);
  assert_memory_equal(symbol(&x, "flat", 24, NULL), want_flat, 24);
  assert_memory_equal(symbol(&x, "four", 16, &four), want_four, 16);
  assert_int_equal(*(const uint64_t *)symbol(&x, "here", 8, NULL), bytes);
  const uint64_t want_there[3] = {four + 8, wide, wide - EMU_CONST_BASE};
  assert_memory_equal(symbol(&x, "there", 24, NULL), want_there, 24);
  assert_int_equal(*(const uint64_t *)symbol(&x, "code", 8, NULL), EMU_FUNC_BASE + 16);
  assert_int_equal(*(const uint64_t *)symbol(&x, "parts", 8, NULL), four & 0xffffffff);
  symbol(&x, "aligned", 3, &aligned);
  assert_int_equal(aligned % 128, 0);
  assert_int_equal(*(const uint32_t *)symbol(&x, "weak", 4, NULL), 4);
  unload(&x);
}

static void impossible_variables_are_refused(void **state) {
  static const struct {
    const char *text, *why;
    hd_status st;
  } cases[] = {
      {".global .b8 huge[1099511627776];", "huge does not fit", HD_ERR_NOMEM},
      {".global .b64 a;\n.global .b64 vast[4294967296][4294967296];", "vast is larger than 2^64 bytes",
       HD_ERR_INPUT},
      {".global .b32 many[2] = {1, 2, 3};", "many has more initial values", HD_ERR_INPUT},
      {".global .b32 deep[2] = {{1}, {{2}}};", "deep has more", HD_ERR_INPUT},
      {".global .b8 small = {0d3ff0000000000000};", "small has an initial value of another type",
       HD_ERR_INPUT},
  };
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
    loaded x;
    assert_int_equal(load(&x, cases[n].text), cases[n].st);
    CHECK_MESSAGE(&x.d, cases[n].why);
    assert_null(x.p);
    assert_true(x.d.line >= 4);
    unload(&x);
  }
}

static const char uses_missing[] = ".extern .global .u32 elsewhere;\n"
                                   ".global .u64 points = elsewhere;\n"
                                   ".global .u32 here = 5;\n"
                                   ".visible .entry good(.param .u64 out) {\n"
                                   "  .reg .u64 %d; .reg .u32 %r;\n"
                                   "  ld.param.u64 %d, [out];\n"
                                   "  ld.global.u32 %r, [here];\n"
                                   "  st.global.u32 [%d], %r;\n"
                                   "  ret;\n}\n"
                                   ".visible .entry bad() {\n"
                                   "  .reg .u32 %r;\n"
                                   "  ld.global.u32 %r, [elsewhere];\n"
                                   "  ret;\n}\n"
                                   ".visible .entry worse() {\n"
                                   "  .reg .u64 %d;\n"
                                   "  ld.global.u64 %d, [points];\n"
                                   "  ret;\n}\n";

static void undefined_variables_bar_only_their_users(void **state) {
  loaded x;
  CHECK_OK(load(&x, uses_missing), &x.d);
  uint64_t out;
  CHECK_OK(hd_emu_alloc(x.e, 4, &out, &x.d), &x.d);
  hd_emu_launch_params l = {
      .kernel = "good", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &out, .args_bytes = 8};
  CHECK_OK(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), &x.d);
  assert_int_equal(*(uint32_t *)hd_emu_ptr(x.e, out, 4), 5);
  assert_int_equal(hd_emu_supported(x.p, "bad", &x.d), HD_ERR_UNSUPPORTED);
  CHECK_MESSAGE(&x.d, "elsewhere");
  assert_int_equal(hd_emu_supported(x.p, "worse", &x.d), HD_ERR_UNSUPPORTED);
  CHECK_MESSAGE(&x.d, "points");
  l = (hd_emu_launch_params){.kernel = "bad", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  assert_int_equal(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), HD_ERR_UNSUPPORTED);
  CHECK_OK(hd_emu_free(x.e, out, &x.d), &x.d);
  unload(&x);
}

/* Each space has addresses of its own, which only cvta leads out of. */
static void an_address_of_one_state_space_is_no_address_of_another(void **state) {
  static const struct {
    const char *load;
    bool right;
  } cases[] = {
      {"mov.u64 %d, fixed; ld.const.u32 %r, [%d];", true},
      {"mov.u64 %d, fixed; cvta.const.u64 %d, %d; ld.u32 %r, [%d];", true},
      {"mov.u64 %d, fixed; cvta.const.u64 %d, %d; cvta.to.const.u64 %d, %d; ld.const.u32 %r, [%d];", true},
      {"mov.u64 %d, generic_fixed; ld.global.u64 %d, [%d]; ld.u32 %r, [%d];", true},
      {"ld.global.u64 %d, [own_fixed]; ld.const.u32 %r, [%d];", true},
      {"mov.u64 %d, fixed; ld.global.u32 %r, [%d];", false},
      {"mov.u64 %d, fixed; ld.u32 %r, [%d];", false},
      {"mov.u64 %d, fixed; cvta.const.u64 %d, %d; ld.const.u32 %r, [%d];", false},
      {"ld.global.u64 %d, [own_fixed]; ld.u32 %r, [%d];", false},
      {"mov.u64 %d, plain; ld.const.u32 %r, [%d];", false},
      {"mov.u64 %d, plain; cvta.to.const.u64 %d, %d; ld.global.u32 %r, [%d];", false},
      {"mov.u64 %d, plain; ld.shared.u32 %r, [%d];", false},
      {"mov.u64 %d, plain; ld.local.u32 %r, [%d];", false},
      {"mov.u64 %d, box; ld.global.u32 %r, [%d];", false},
      {"mov.u64 %d, box; ld.u32 %r, [%d];", false},
      {"mov.u64 %d, box; cvta.shared.u64 %d, %d; ld.shared.u32 %r, [%d];", false},
      {"mov.u64 %d, mine; ld.global.u32 %r, [%d];", false},
      {"mov.u64 %d, mine; ld.u32 %r, [%d];", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048];
    loaded x;
    snprintf(text, sizeof text,
             ".const .u32 fixed = 9;\n.global .u32 plain = 9;\n.global .u64 generic_fixed = generic(fixed);\n"
             ".global .u64 own_fixed = fixed;\n.visible .entry k() {\n.reg .b64 %%d;\n.reg .b32 %%r;\n"
             ".shared .u32 box;\n.local .u32 mine;\nst.shared.u32 [box], 9;\nst.local.u32 [mine], 9;\n"
             "%s\nst.global.u32 [plain], %%r;\nret;\n}\n",
             cases[i].load);
    CHECK_OK(load(&x, text), &x.d);
    hd_emu_launch_params l = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d);
    if (st != (cases[i].right ? HD_OK : HD_ERR_FAULT)) fail_msg("%s: %d %s", cases[i].load, st, x.d.message);
    unload(&x);
  }
}

static void constants_are_not_stored_to(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".const .u32 fixed = 9;\n"
                    ".visible .entry k() {\n"
                    "  .reg .u64 %d;\n"
                    "  mov.u64 %d, fixed;\n"
                    "  cvta.const.u64 %d, %d;\n"
                    "  st.u32 [%d], 1;\n"
                    "  ret;\n}\n"),
           &x.d);
  hd_emu_launch_params l = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  assert_int_equal(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), HD_ERR_FAULT);
  CHECK_MESSAGE(&x.d, "in a .const variable");
  CHECK_MESSAGE(&x.d, "st.u32 [%d], 1");
  assert_int_equal(x.d.line, 9);
  unload(&x);
}

/* Two programs, and the same one twice, do not share variables. */
static void programs_have_variables_of_their_own(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".global .u32 n = 1;\n"), &x.d);
  hd_emu_program *again;
  CHECK_OK(hd_emu_load(x.e, x.m, &again, &x.d), &x.d);
  uint64_t a, b, bytes;
  CHECK_OK(hd_emu_symbol(x.p, "n", &a, &bytes, &x.d), &x.d);
  CHECK_OK(hd_emu_symbol(again, "n", &b, &bytes, &x.d), &x.d);
  assert_int_not_equal(a, b);
  hd_emu_unload(again);
  unload(&x);
}

static void variables_go_back_to_their_initial_values(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".global .u32 set[2] = {5, 6};\n.const .u32 fixed = 7;\n.global .u32 plain;\n"
                    ".global .u64 to = plain;\n"),
           &x.d);
  static const char *const names[] = {"set", "fixed", "plain", "to"};
  static const uint64_t sizes[] = {8, 4, 4, 8};
  char first[4][8], other[8];
  memset(other, 0x5a, sizeof other);
  for (int k = 0; k < 4; k++) {
    uint64_t at;
    memcpy(first[k], symbol(&x, names[k], sizes[k], &at), sizes[k]);
    CHECK_OK(hd_emu_write(x.e, at, other, sizes[k], &x.d), &x.d); /* the host writes constants, too */
    assert_memory_equal(symbol(&x, names[k], sizes[k], NULL), other, sizes[k]);
  }
  hd_emu_reset(x.p);
  for (int k = 0; k < 4; k++) assert_memory_equal(symbol(&x, names[k], sizes[k], NULL), first[k], sizes[k]);
  unload(&x);
}

static void references_stand_for_handles_of_their_kind(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".global .texref t;\n.global .surfref s;\n.global .u32 plain;\n"), &x.d);
  uint64_t a, texture, surface;
  CHECK_OK(hd_emu_alloc(x.e, 64, &a, &x.d), &x.d);
  const hd_image i = {.texel = HD_TEXEL_F32, .channels = 1, .width = 16, .address = a};
  CHECK_OK(hd_emu_texture(x.e, &(hd_texture){.image = i}, &texture, &x.d), &x.d);
  CHECK_OK(hd_emu_surface(x.e, &i, &surface, &x.d), &x.d);
  const struct {
    const char *name;
    uint64_t handle;
    const char *why;
  } cases[] = {{"t", texture, NULL},
               {"s", surface, NULL},
               {"t", 0, NULL},
               {"t", surface, "no texture"},
               {"s", texture, "no surface"},
               {"t", 12345, "no texture"},
               {"plain", texture, "no .texref"},
               {"nothing", texture, "no .texref"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    assert_int_equal(hd_emu_bind(x.p, cases[k].name, cases[k].handle, &x.d),
                     cases[k].why ? HD_ERR_USAGE : HD_OK);
    if (cases[k].why) CHECK_MESSAGE(&x.d, cases[k].why);
  }
  CHECK_OK(hd_emu_free(x.e, a, &x.d), &x.d);
  unload(&x);
}

static void constants_and_parameters_beyond_what_gpus_have_are_refused(void **state) {
  loaded x;
  CHECK_OK(load(&x, ".const .b8 a[65535];\n.const .b8 b;\n.const[1] .b8 c[65536];\n"
                    ".visible .entry big(.param .b8 p[32765]) { ret; }\n.visible .entry most(.param .b8 "
                    "p[32764]) { ret; }\n"),
           &x.d);
  static const char block[32768];
  hd_emu_launch_params l = {
      .kernel = "most", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = block, .args_bytes = 32764};
  CHECK_OK(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), &x.d);
  l.kernel = "big";
  l.args_bytes = 32765;
  assert_int_equal(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), HD_ERR_USAGE);
  CHECK_MESSAGE(&x.d, "32765 bytes of parameters: 32764 are possible");
  unload(&x);
  static const char *const beyond[] = {".const .b8 a[65535];\n.const .b16 b;\n", ".const[3] .b8 b[65537];\n"};
  for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
    assert_int_equal(load(&x, beyond[k]), HD_ERR_INPUT);
    CHECK_MESSAGE(&x.d, "b makes 65537 bytes of .const variables: 65536 are possible");
    hd_emu_destroy(x.e);
    hd_arena_free(&x.arena);
  }
}

/* ---- Functions of other modules -------------------------------------------------------------- */

#define HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"

/* A table of functions, as virtual functions are found; one that traps, one that needs shared memory, one
 * that calls on through the caller's table. */
static const char library[] =
    HEADER ".global .u32 step = 100;\n"
           ".func (.param .b32 r) add(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [x];\n"
           "ld.global.u32 %r2, [step];\nadd.u32 %r1, %r1, %r2;\nst.param.b32 [r], %r1;\nret;\n}\n"
           ".func (.param .b32 r) bad(.param .b32 x)\n{\n.reg .b32 %r<4>;\ntrap;\nret;\n}\n"
           ".func (.param .b32 r) keep(.param .b32 x)\n{\n.reg .b32 %r<4>;\n.shared .b32 s;\nld.shared.b32 "
           "%r1, [s];\n"
           "st.param.b32 [r], %r1;\nret;\n}\n"
           ".global .u64 table[3] = {add, bad, keep};\n";
static const char user[] = HEADER
    ".func (.param .b32 r) add(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [x];\nadd.u32 %r1, "
    "%r1, 1;\n"
    "st.param.b32 [r], %r1;\nret;\n}\n"
    ".global .u64 own = add;\n"
    ".visible .entry k(.param .u64 table, .param .u64 out)\n{\n.reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [table];\nld.param.u64 %d2, [out];\nld.global.u64 %d3, [%d1];\nmov.u32 %r1, %tid.x;\n"
    "{ .param .b32 a; .param .b32 b;\nst.param.b32 [a], %r1;\nP: .callprototype (.param .b32 _) _ (.param "
    ".b32 _);\n"
    "call (b), %d3, (a), P;\nld.param.b32 %r2, [b]; }\n"
    "mul.wide.u32 %d4, %r1, 4;\nadd.u64 %d4, %d2, %d4;\nst.global.u32 [%d4], %r2;\nret;\n}\n";

static hd_status call_through(hd_emu_program *p, uint64_t table, uint64_t out, hd_diag *d) {
  const uint64_t args[2] = {table, out};
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .args_bytes = 16};
  return hd_emu_launch(p, &l, NULL, NULL, NULL, d);
}

static void pointers_lead_to_functions_of_other_modules(void **state) {
  hd_arena arena;
  hd_ptx_module *m[2];
  hd_emu *e;
  hd_emu_program *p[2];
  hd_diag d = {0};
  uint64_t table, own, bytes, out;
  hd_arena_init(&arena);
  CHECK_OK(hd_emu_create(&(hd_emu_options){.memory = 1 << 24, .threads = 1}, &e, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 128, &out, &d), &d);
  static const char *const texts[2] = {library, user}, *const names[2] = {"library.ptx", "user.ptx"};
  for (int k = 0; k < 2; k++) {
    CHECK_OK(hd_ptx_parse(texts[k], strlen(texts[k]), names[k], &arena, &m[k], &d), &d);
    CHECK_OK(hd_emu_load(e, m[k], &p[k], &d), &d);
  }
  CHECK_OK(hd_emu_symbol(p[0], "table", &table, &bytes, &d), &d);
  CHECK_OK(hd_emu_symbol(p[1], "own", &own, &bytes, &d), &d);
  const struct {
    uint64_t table;
    uint32_t more;   /* what the function adds */
    const char *why; /* NULL: it returns */
  } cases[] = {
      {own, 1, NULL},
      {table, 100, NULL},
      {table + 8, 0, "trap"},
      {table + 16, 0, "call to keep of another module, which has shared memory of its own"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_status st = call_through(p[1], cases[k].table, out, &d);
    assert_int_equal(st, cases[k].why ? HD_ERR_FAULT : HD_OK);
    if (cases[k].why) CHECK_MESSAGE(&d, cases[k].why);
    for (uint32_t t = 0; !cases[k].why && t < 32; t++)
      assert_int_equal(((uint32_t *)hd_emu_ptr(e, out, 128))[t], t + cases[k].more);
  }
  /* Where a fault lies is told in the module of its function. */
  assert_int_equal(call_through(p[1], table + 8, out, &d), HD_ERR_FAULT);
  assert_string_equal(d.file, "library.ptx");
  CHECK_MESSAGE(&d, "trap");
  CHECK_MESSAGE(&d, "in bad called from k");
  /* A module that is gone leaves nothing to call, and its addresses to the next. */
  const uint64_t gone = *(uint64_t *)hd_emu_ptr(e, table, 8);
  uint64_t stale;
  CHECK_OK(hd_emu_alloc(e, 8, &stale, &d), &d);
  CHECK_OK(hd_emu_write(e, stale, &gone, 8, &d), &d);
  hd_emu_unload(p[0]);
  assert_int_equal(call_through(p[1], stale, out, &d), HD_ERR_FAULT);
  CHECK_MESSAGE(&d, "which is no function");
  hd_emu_unload(p[1]);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("initial values of every form are laid out", initial_values_of_every_form),
      BEHAVIOUR("variables that cannot be are refused by name", impossible_variables_are_refused),
      BEHAVIOUR("an undefined variable bars only the kernels that use it",
                undefined_variables_bar_only_their_users),
      BEHAVIOUR("an address of one state space is no address of another",
                an_address_of_one_state_space_is_no_address_of_another),
      BEHAVIOUR("a store to a .const variable is a fault", constants_are_not_stored_to),
      BEHAVIOUR("programs have variables of their own", programs_have_variables_of_their_own),
      BEHAVIOUR("variables go back to their initial values", variables_go_back_to_their_initial_values),
      BEHAVIOUR("references stand for handles of their kind", references_stand_for_handles_of_their_kind),
      BEHAVIOUR("pointers lead to functions of other modules", pointers_lead_to_functions_of_other_modules),
      BEHAVIOUR("constants and parameters beyond what GPUs have are refused",
                constants_and_parameters_beyond_what_gpus_have_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
