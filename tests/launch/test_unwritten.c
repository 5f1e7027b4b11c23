/* Which loads of a workload may go through the read-only cache: bypass=ro. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/launch.h"

static const char module[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func anything(.param .b64 at);\n"
    ".extern .func __assertfail(.param .b64 at);\n.extern .func memset(.param .b64 at);\n"
    ".func (.reg .b64 %v) picks(.reg .b64 %a, .reg .b64 %b)\n{\nsub.s64 %v, %a, %b;\nret;\n}\n"
    ".global .align 8 .b8 here[64];\n.const .align 8 .b8 far[64];\n.shared .align 8 .b8 all[64];\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n.local .align 8 .b8 own[64];\n.reg "
    ".b32 %r<9>;\n.reg .b64 %rd<9>;\n"
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\n"
    "ld.global.u32 %r2, [%rd5];\nld.global.u32 %r3, [%rd6];\nld.global.u64 %rd7, [%rd5+8];\n";

/* The loads listed when `body` ends the kernel, whose arguments are these buffers; "1+2+" or "". */
static void list(const char *body, const uint32_t buffers[2][3], uint32_t launches,
                 const hd_wl_buffer said[3], char *out, size_t cap) {
  char text[4096];
  hd_arena arena;
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_wl_arg args[2][3] = {{{0}}};
  hd_wl_launch l[2] = {{0}};
  uint32_t *loads = NULL, n = 0;
  snprintf(text, sizeof text, "%s%s\nret;\n}\n", module, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  for (uint32_t i = 0; i < launches; i++) {
    for (uint32_t p = 0; p < 3; p++)
      args[i][p] = (hd_wl_arg){.is_buffer = buffers[i][p] != UINT32_MAX, .buffer = buffers[i][p]};
    l[i] = (hd_wl_launch){.kernel = "k", .args = args[i], .n_args = 3};
  }
  hd_workload w = {
      .name = "w", .launches = l, .n_launches = launches, .buffers = (hd_wl_buffer *)said, .n_buffers = 3};
  size_t at = 0;
  out[0] = 0;
  if (hd_unwritten_loads(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &w, 0, &loads, &n, &d) != HD_OK) {
    assert_int_equal(d.status, HD_ERR_REFUSED);
    snprintf(out, cap, "%.*s", (int)cap - 1, d.message);
  }
  for (uint32_t i = 0; i < n; i++) at += (size_t)snprintf(out + at, cap - at, "%u+", loads[i]);
  free(loads);
  hd_arena_free(&arena);
}

static const hd_wl_buffer nothing_said[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};

/* The caller's word goes beyond what the text shows, and never against it. */
static void the_callers_word_is_taken_unless_the_text_shows_a_write(void **state) {
  static const uint32_t apart[2][3] = {{0, 1, 2}, {0, 1, 2}}, alias[2][3] = {{0, 1, 0}, {0, 1, 0}};
  static const struct {
    const char *body;
    const uint32_t (*buffers)[3];
    bool said[3];
    const char *want;
  } cases[] = {
      {"st.global.u32 [%rd7], %r2;", apart, {false, false, false}, ""}, /* a pointer from memory */
      {"st.global.u32 [%rd7], %r2;", apart, {true, false, false}, "0+2+"},
      {"st.global.u32 [%rd7], %r2;", apart, {true, true, false}, "0+1+2+"},
      {"st.global.u32 [%rd6], %r2;",
       apart,
       {false, true, false},
       "w: buffer 'b' is not unwritten: k writes through "
       "parameter 2"},
      {"st.global.u32 [%rd3], %r2;",
       alias,
       {true, false, false},
       "w: buffer 'a' is not unwritten: k writes through "
       "parameter 3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char got[128];
    hd_wl_buffer said[3];
    memcpy(said, nothing_said, sizeof said);
    for (int k = 0; k < 3; k++) said[k].unwritten = cases[i].said[k];
    list(cases[i].body, cases[i].buffers, 1, said, got, sizeof got);
    assert_string_equal(got, cases[i].want);
  }
}

/* From c to b, and then a store by it. */
#define AWAY "sub.s64 %rd0, %rd2, %rd3;\n"
#define GONE "add.s64 %rd8, %rd3, %rd0;\nst.global.u32 [%rd8], %r2;"
#define FAR AWAY "shr.u64 %rd0, %rd0, 2;\ncvt.u32.u64 %r5, %rd0;\n"
#define THERE "mul.wide.u32 %rd8, %r4, 4;\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;"

enum { A, B, C, NO_BUFFER = UINT32_MAX };
static const struct {
  const char *body;
  uint32_t launches, buffers[2][3];
  const char *want;
} reached[] = {
    {"st.global.u32 [%rd3], %r2;", 1, {{A, B, C}}, "0+1+2+"},
    {"", 1, {{A, B, C}}, "0+1+2+"},
    {"st.global.u32 [%rd6], %r2;", 1, {{A, B, C}}, "0+2+"},              /* into the buffer it reads */
    {"red.global.add.u32 [%rd6], %r2;", 1, {{A, B, C}}, "0+2+"},         /* atomics too */
    {"st.global.u32 [%rd3], %r2;", 1, {{A, B, A}}, "1+"},                /* the same memory by two names */
    {"st.global.u32 [%rd3], %r2;", 2, {{A, B, C}, {B, A, C}}, "0+1+2+"}, /* ping-pong of inputs */
    {"st.global.u32 [%rd3], %r2;", 2, {{A, B, C}, {C, B, A}}, "0+1+2+"}, /* apart in each launch */
    {"st.global.u32 [%rd3], %r2;", 2, {{A, B, C}, {C, B, C}}, "1+"},     /* but not in the second */
    {"st.global.u32 [%rd3], %r2;", 1, {{A, B, NO_BUFFER}}, ""},          /* a number: unknown memory */
    {"st.global.u32 [%rd7], %r2;", 1, {{A, B, C}}, ""},                  /* a pointer from memory */
    {"st.u32 [%rd7], %r2;", 1, {{A, B, C}}, ""},
    {"{\n.param .b64 at;\nst.param.b64 [at], %rd3;\ncall.uni anything, (at);\n}", 1, {{A, B, C}}, ""},
    /* Memory that another address leads to. */
    {"sust.b.1d.b32.trap [%rd3, {%r1}], {%r2};", 1, {{A, B, C}}, ""},
    {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd3, {%r1}], [%r2];", 1, {{A, B, C}}, ""},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd3, {%r1}], [%r2];",
     1,
     {{A, B, C}},
     ""},
    {"multimem.red.relaxed.gpu.global.add.u32 [%rd3], %r2;", 1, {{A, B, C}}, ""},
    {"multimem.ld_reduce.relaxed.gpu.global.add.u32 %r4, [%rd3];", 1, {{A, B, C}}, "0+1+2+"},
    {"suld.b.1d.b32.trap {%r4}, [%rd3, {%r1}];", 1, {{A, B, C}}, "0+1+2+"},
    /* Grids before this one that have not ended. */
    {"griddepcontrol.wait;\nst.global.u32 [%rd3], %r2;", 1, {{A, B, C}}, ""},
    {"griddepcontrol.launch_dependents;\nst.global.u32 [%rd3], %r2;", 1, {{A, B, C}}, "0+1+2+"},
    /* Calls of the system that write no buffer. */
    {"{\n.param .b64 at;\nst.param.b64 [at], %rd3;\ncall.uni __assertfail, (at);\n}",
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"{\n.param .b64 at;\nst.param.b64 [at], %rd3;\ncall.uni memset, (at);\n}", 1, {{A, B, C}}, ""},
    /* Into one buffer or another, by the thread. */
    {"setp.gt.u32 %p1, %r1, 9;\nselp.b64 %rd8, %rd5, %rd6, %p1;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     ""},
    {"setp.gt.u32 %p1, %r1, 9;\nselp.b64 %rd8, %rd3, %rd2, %p1;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    {"setp.gt.u32 %p1, %r1, 9;\nselp.b64 %rd8, %rd3, %rd2, %p1;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, A}},
     ""},
    {"mov.b64 %rd8, %rd3;\nsetp.gt.u32 %p1, %r1, 9;\n@%p1 mov.b64 %rd8, %rd1;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "1+"},
    {"sub.s64 %rd8, %rd1, %rd2;\npopc.b64 %r4, %rd4;\ncvt.u64.u32 %rd7, %r4;\nmul.lo.s64 %rd8, %rd8, "
     "%rd7;\n"
     "add.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     ""},
    {"call (%rd8), picks, (%rd1, %rd3);\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "1+"},
    /* What only decides, or only counts, is no place. */
    {"setp.eq.u64 %p1, %rd1, 0;\n@%p1 add.s64 %rd3, %rd3, %rd4;\nst.global.u32 [%rd3], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"mul.lo.s64 %rd8, %rd2, %rd4;\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, NO_BUFFER, C}},
     "0+2+"},
    {"mul.wide.u32 %rd8, %r2, 4;\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"cvt.u64.u32 %rd8, %r2;\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u8 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"atom.global.add.u32 %r4, [%rd3], 1;\nmul.wide.u32 %rd8, %r4, 4;\nadd.s64 %rd8, %rd8, %rd3;\n"
     "st.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+"},
    /* A distance to another buffer that came through memory, by an atomic, or as a number. */
    {"add.s64 %rd8, %rd3, %rd7;\nst.global.u32 [%rd8], %r2;", 1, {{A, B, C}}, ""},
    {"shl.b64 %rd8, %rd7, 2;\nadd.s64 %rd8, %rd8, %rd3;\nst.global.u32 [%rd8], %r2;", 1, {{A, B, C}}, ""},
    {AWAY "st.local.u64 [own], %rd0;\nld.local.u64 %rd0, [own];\n" GONE, 1, {{A, B, C}}, ""},
    {AWAY "st.shared.u64 [all], %rd0;\nld.shared.v2.u32 {%r4, %r5}, [all];\nmov.b64 %rd0, {%r4, %r5};\n" GONE,
     1,
     {{A, B, C}},
     ""},
    {AWAY "st.shared.u32 [all], %r5;\nld.shared.s32 %r4, [all];\ncvt.s64.s32 %rd0, %r4;\n" GONE,
     1,
     {{A, B, C}},
     ""},
    /* As an index in 32 bits that the kernel put there itself. */
    {FAR "st.local.u32 [own], %r5;\nld.local.u32 %r4, [own];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "st.shared.u32 [all], %r5;\nbar.sync 0;\nld.shared.u32 %r4, [all];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "st.shared.u32 [all], %r5;\nld.shared.u32 %r4, [all];\nmad.wide.u32 %rd8, %r4, 4, %rd3;\n"
         "st.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "atom.shared.exch.b32 %r4, [all], %r5;\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "red.shared.add.u32 [all], %r5;\nld.shared.u32 %r4, [all];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "st.shared.v2.u32 [all], {%r2, %r5};\nld.shared.u32 %r4, [all+4];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR ".reg .b16 %h;\ncvt.u16.u32 %h, %r5;\nst.shared.u16 [all], %h;\nld.shared.u32 %r4, [all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "st.local.u32 [own], %r5;\nld.local.u32 %r4, [own];\nst.shared.u32 [all], %r4;\n"
         "ld.shared.u32 %r4, [all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR
     "mov.u64 %rd8, own;\ncvta.local.u64 %rd8, %rd8;\nst.u32 [%rd8], %r5;\nld.local.u32 %r4, [own];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "st.global.u32 [%rd3], %r5;\nld.global.u32 %r4, [%rd3];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "st.global.u32 [%rd3], %r5;\ncp.async.ca.shared.global [all], [%rd3], 4;\nld.shared.u32 %r4, "
         "[all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "st.global.u32 [%rd3], %r5;\nld.global.u32 %r4, [%rd6];\n" THERE, 1, {{A, B, B}}, ""},
    {"sub.s64 %rd0, %rd7, %rd3;\nshr.u64 %rd0, %rd0, 2;\ncvt.u32.u64 %r4, %rd0;\n" THERE, 1, {{A, B, C}}, ""},
    /* Of a pointer that the host put there, which a generic load or an atomic brings as well. */
    {"ld.u64 %rd0, [%rd3];\nsub.s64 %rd0, %rd0, %rd3;\nshr.u64 %rd0, %rd0, 2;\ncvt.u32.u64 %r4, "
     "%rd0;\n" THERE,
     1,
     {{A, B, C}},
     ""},
    {"atom.global.or.b64 %rd0, [%rd3], 0;\nsub.s64 %rd0, %rd0, %rd3;\nshr.u64 %rd0, %rd0, 2;\n"
     "cvt.u32.u64 %r4, %rd0;\n" THERE,
     1,
     {{A, B, C}},
     ""},
    /* Of another barrier's answer. */
    {"setp.ne.u32 %p1, %r1, 0;\nbar.red.or.pred %p1, 0, %p1;\nselp.u32 %r4, 1, 0, %p1;\n" THERE,
     1,
     {{A, B, C}},
     ""},
    /* Bits of the distance are numbers, wherever they go: through another place, an address, a guard, a
     * branch, a mark that stands at the distance, or who comes to a barrier. */
    {FAR "st.global.u32 [%rd3], %r5;\nld.global.u32 %r4, [%rd6];\n" THERE, 1, {{A, B, C}}, ""},
    {FAR "st.local.u32 [own], %r5;\nst.shared.u32 [all], %r1;\nld.shared.u32 %r4, [all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "mul.wide.u32 %rd8, %r5, 4;\nmov.u64 %rd0, far;\nadd.s64 %rd8, %rd8, %rd0;\n"
         "ld.const.u32 %r4, [%rd8];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "st.shared.u32 [all], 1;\nld.shared.u32 %r4, [%r5];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "st.shared.u32 [%r5], 1;\nld.shared.u32 %r4, [all+4];\n" THERE, 1, {{A, B, C}}, "0+2+"},
    {FAR "setp.eq.u32 %p1, %r5, 1;\n@%p1 st.shared.u32 [all], 1;\nld.shared.u32 %r4, [all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "setp.eq.u32 %p1, %r5, 1;\nmov.u32 %r4, 0;\n@%p1 ld.const.u32 %r4, [far+4];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {FAR "setp.eq.u32 %p1, %r5, 1;\nmov.u32 %r4, 0;\n@%p1 bra L;\nmov.u32 %r4, 5;\nL:\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\nmul.wide.u32 %rd8, %r4, 4;\nadd.s64 %rd8, %rd8, %rd3;\n"
     "setp.lt.u64 %p1, %rd8, %rd2;\n@%p1 bra L;\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"shr.u64 %rd8, %rd2, 8;\nshr.u64 %rd0, %rd3, 8;\ncvt.u32.u64 %r4, %rd8;\ncvt.u32.u64 %r5, %rd0;\n"
     "st.shared.u32 [all], %r4;\nmov.u32 %r4, 0;\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {AWAY "and.b64 %rd8, %rd0, 256;\nsetp.ne.u64 %p1, %rd8, 0;\n@%p1 red.shared.add.u32 [all], 256;\n"
          "ld.shared.u32 %r4, [all];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {".reg .b32 %lo, %hi;\nmov.b64 {%lo, %hi}, %rd2;\nst.shared.u32 [all], %lo;\nmov.b64 {%lo, %hi}, %rd3;\n"
     "st.shared.u32 [all+4], %hi;\nmov.u32 %r4, 0;\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {".reg .b32 %lo;\nld.param.u32 %lo, [b];\nst.shared.u32 [all], %lo;\nld.param.u32 %lo, [c];\n"
     "st.shared.u32 [all+4], %lo;\nmov.u32 %r4, 0;\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    /* One bit of it, from the first buffer as from a table. */
    {AWAY
     ".reg .b64 %x, %y;\nand.b64 %x, %rd0, 256;\nadd.s64 %y, %rd3, %x;\nld.global.nc.u32 %r4, [%y];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {".reg .b64 %x, %y, %z;\nand.b64 %x, %rd2, 256;\nand.b64 %y, %rd3, 256;\nsub.s64 %x, %x, %y;\n"
     "add.s64 %z, %rd3, %x;\nld.global.nc.u32 %r4, [%z];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    {AWAY
     ".reg .b64 %x, %y;\nshl.b64 %x, %rd0, 1;\nadd.s64 %y, %rd3, %x;\nld.global.nc.u32 %r4, [%y];\n" THERE,
     1,
     {{A, B, C}},
     "0+2+"},
    /* Bits of one pointer tell no distance; nor do those below any buffer's boundary, whether there is a
     * pointer, whether two are one, and how far apart two addresses through one are. */
    {"shr.u64 %rd8, %rd3, 8;\ncvt.u32.u64 %r4, %rd8;\nst.shared.u32 [all], %r4;\nmov.u32 %r4, 0;\n" THERE,
     1,
     {{A, B, C}},
     "0+1+2+"},
    {".reg .b64 %x, %y;\nor.b64 %x, %rd2, %rd3;\nand.b64 %y, %x, 15;\nsetp.ne.u64 %p1, %y, 0;\nmov.u32 %r4, "
     "0;\n"
     "@%p1 bra L;\nmov.u32 %r4, 5;\nL:\n" THERE,
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"setp.eq.u64 %p1, %rd2, %rd3;\nmov.u32 %r4, 0;\n@%p1 bra L;\nmov.u32 %r4, 5;\nL:\n" THERE,
     1,
     {{A, B, C}},
     "0+1+2+"},
    {"mov.u64 %rd8, %rd3;\nadd.s64 %rd0, %rd3, 256;\nL: st.global.u32 [%rd8], %r2;\nadd.s64 %rd8, %rd8, 4;\n"
     "setp.lt.u64 %p1, %rd8, %rd0;\n@%p1 bra L;\n",
     1,
     {{A, B, C}},
     "0+1+2+"},
    /* From b to c: an address through both. */
    {AWAY "add.s64 %rd8, %rd6, 8;\nsub.s64 %rd8, %rd8, %rd0;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    /* What comes from no address is none. */
    {"st.shared.u32 [all], %r2;\nld.shared.u32 %r4, [all];\n" THERE, 1, {{A, B, C}}, "0+1+2+"},
    {"atom.shared.add.u32 %r4, [all], 1;\n" THERE, 1, {{A, B, C}}, "0+1+2+"},
    {AWAY "atom.shared.exch.b64 %rd0, [all], %rd0;\n" GONE, 1, {{A, B, C}}, ""},
    {"ld.const.u64 %rd0, [far];\n" GONE, 1, {{A, B, C}}, ""},
    {"ld.const.s32 %r4, [far+4];\ncvt.s64.s32 %rd0, %r4;\n" GONE, 1, {{A, B, C}}, ""},
    {"add.s64 %rd8, %rd3, %rd2;\nst.global.u32 [%rd8], %r2;", 1, {{A, NO_BUFFER, C}}, ""},
    /* Bit by bit: each decides what is added. */
    {"mov.u64 %rd0, 0;\nsub.s64 %rd8, %rd2, %rd3;\nand.b64 %rd8, %rd8, 64;\nsetp.ne.s64 %p1, %rd8, 0;\n"
     "@%p1 or.b64 %rd0, %rd0, 64;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"sub.s64 %rd8, %rd2, %rd3;\nand.b64 %rd8, %rd8, 64;\nsetp.ne.s64 %p1, %rd8, 0;\n"
     "selp.b64 %rd0, 64, 0, %p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"sub.s64 %rd8, %rd2, %rd3;\nshl.b64 %rd8, %rd8, 57;\nadd.cc.u64 %rd8, %rd8, %rd8;\naddc.u32 %r4, 0, "
     "0;\n" THERE,
     1,
     {{A, B, C}},
     ""},
    {"sub.s64 %rd8, %rd2, %rd3;\nsub.cc.u64 %rd8, %rd8, 64;\nsubc.u32 %r4, 0, 0;\n" THERE,
     1,
     {{A, B, C}},
     ""},
    {"sub.s64 %rd8, %rd2, %rd3;\nsetp.ge.s64 %p1, %rd8, 0;\nselp.b64 %rd0, 64, 0, %p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"sub.s64 %rd8, %rd2, %rd3;\nsetp.eq.s64 %p1, %rd8, 0;\nselp.b64 %rd0, 64, 0, %p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"shr.s64 %rd0, %rd3, 3;\nsub.s64 %rd8, %rd2, %rd0;\nsetp.eq.s64 %p1, %rd8, 0;\nselp.b64 %rd0, 64, 0, "
     "%p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"setp.lt.s64 %p1, %rd2, 0;\nselp.b64 %rd0, 64, 0, %p1;\n" GONE, 1, {{A, B, C}}, "0+2+"},
    {"cvt.u32.u64 %r4, %rd2;\nsetp.eq.u32 %p1, %r4, 0;\nselp.b64 %rd0, 64, 0, %p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+2+"},
    {"setp.eq.s64 %p1, %rd2, 0;\nselp.b64 %rd0, 64, 0, %p1;\n" GONE, 1, {{A, B, C}}, "0+1+2+"},
    {".reg .b64 %n;\ncvta.to.global.u64 %n, %rd2;\nsetp.ne.u64 %p1, %n, 0;\nselp.b64 %rd0, 64, 0, "
     "%p1;\n" GONE,
     1,
     {{A, B, C}},
     "0+1+2+"},
    /* From a variable of the module as from a parameter. */
    {"mov.u64 %rd8, here;\nsub.s64 %rd0, %rd2, %rd8;\nmax.u64 %rd0, %rd0, 1;\nadd.s64 %rd8, %rd8, %rd0;\n"
     "st.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    {"mov.u64 %rd8, here;\nld.local.u64 %rd0, [own];\nadd.s64 %rd8, %rd8, %rd0;\nst.global.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     ""},
    {"st.global.u32 [here], %r2;", 1, {{A, B, C}}, "0+1+2+"},
    /* Beside a pointer, the offset of shared or local memory is a number. */
    {"mov.u32 %r4, all;\ncvt.u64.u32 %rd8, %r4;\nadd.s64 %rd8, %rd8, %rd2;\nst.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    {"mov.u64 %rd8, own;\nadd.s64 %rd8, %rd8, %rd2;\nst.u32 [%rd8], %r2;", 1, {{A, B, C}}, "0+2+"},
    {"mov.u64 %rd8, all;\ncvta.shared.u64 %rd8, %rd8;\nadd.s64 %rd8, %rd8, %rd4;\nst.u32 [%rd8], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+"},
    /* A tensor map that is written. */
    {"tensormap.replace.tile.rank.global.b1024.b32 [%rd6], %r1;", 1, {{A, B, C}}, "0+2+"},
    {"tensormap.replace.tile.rank.b1024.b32 [%rd7], %r1;", 1, {{A, B, C}}, ""},
    {"tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], %r1;", 1, {{A, B, C}}, "0+1+2+"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r1], "
     "128;",
     1,
     {{A, B, C}},
     "0+2+"},
    /* The load may be the one that goes astray. */
    {AWAY "st.local.u64 [own], %rd0;\nld.local.u64 %rd0, [own];\nadd.s64 %rd8, %rd1, %rd0;\n"
          "ld.global.u32 %r2, [%rd8];\nst.global.u32 [%rd3], %r2;",
     1,
     {{A, B, C}},
     "0+2+"},
    {"sub.s64 %rd0, %rd3, %rd1;\nmul.lo.s64 %rd0, %rd0, %rd4;\nadd.s64 %rd8, %rd1, %rd0;\n"
     "ld.global.u32 %r2, [%rd8];\nst.global.u32 [%rd3], %r2;",
     1,
     {{A, B, C}},
     "1+"},
    {"add.s64 %rd8, %rd1, %rd7;\nld.global.u32 %r2, [%rd8];\nst.global.u32 [%rd3], %r2;",
     1,
     {{A, B, C}},
     "0+1+2+3+"},
};

static void loads_are_listed_where_no_store_can_reach(void **state) {
  for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
    char got[64];
    list(reached[i].body, reached[i].buffers, reached[i].launches, nothing_said, got, sizeof got);
    if (strcmp(got, reached[i].want) != 0)
      fail_msg("case %zu, %s: %s, not %s", i, reached[i].body, got, reached[i].want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loads are listed where no store of the kernel can reach, in any launch",
                loads_are_listed_where_no_store_can_reach),
      BEHAVIOUR("the caller's word is taken unless the text shows a write",
                the_callers_word_is_taken_unless_the_text_shows_a_write),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
