/* Kernels that may wait for another CTA's write, as text, and what is expected of them. */
#ifndef HEDDLE_TEST_WAITS_H
#define HEDDLE_TEST_WAITS_H

#include <stdio.h>
#include <string.h>

#include "heddle/rewrite.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define DECLARATIONS                                                                                         \
  ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"            \
  ".shared .align 8 .b32 slot;\n.shared .align 8 .b32 other;\n.local .b32 own;\n"
/* %rd1 is a pointer, %r8 a number, both of the launch; %r7 the thread. */
#define START "ld.param.u64 %rd1, [p];\nld.param.u32 %r8, [n];\nmov.u32 %r7, %tid.x;\n"
#define MODULE(functions, body)                                                                              \
  HEAD functions ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n" DECLARATIONS START body "\nret;\n}"  \
                 "\n"
#define KERNEL(body) MODULE("", body)

/* Goes round until the load finds something. */
#define POLL(load) KERNEL("L: " load "\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;")

/* A function that brings %q1 of what is at %w, and a call of it for %r1. */
#define FUNCTION(body)                                                                                       \
  ".func (.param .b32 out) ask(.param .b64 where)\n{\n.reg .b32 %q<4>;\n.reg .b64 %w;\n.reg .pred %z<3>;\n"  \
  "ld.param.b64 %w, [where];\n" body "\nst.param.b32 [out], %q1;\nret;\n}\n"
#define CALL_ASK                                                                                             \
  "{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %rd1;\ncall (b), ask, (a);\nld.param.b32 %r1, "      \
  "[b];\n}\n"

typedef struct wait_case {
  const char *what, *text;
  const char *at; /* the instruction that is named; NULL: no refusal */
} wait_case;

static inline size_t refusals(const char *what, const char *text, hd_refusal *out) {
  hd_ptx_module *m;
  hd_arena arena;
  hd_diag d = {0};
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d) != HD_OK)
    fail_msg("%s: line %u: %s", what, d.line, d.message);
  size_t n = hd_rewrite_refusals(m, (uint32_t)hd_ptx_find_kernel(m, "k"), out, 1);
  hd_arena_free(&arena);
  return n;
}

static inline void expect(const wait_case *c) {
  hd_refusal r = {0};
  size_t n = refusals(c->what, c->text, &r);
  if (!c->at) {
    if (n) fail_msg("%s: %s", c->what, r.what);
    return;
  }
  if (!n) fail_msg("%s: not refused", c->what);
  if (r.kind != HD_REFUSE_GRID_SYNC || !strstr(r.what, c->at) ||
      !strstr(r.what, "a loop may wait here for what another CTA writes"))
    fail_msg("%s: %s: %s", c->what, hd_refusal_name(r.kind), r.what);
}
#define EXPECT_ALL(cases)                                                                                    \
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i])

#endif
