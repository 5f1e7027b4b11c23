/* Helpers for the tests of the ptx floor: parse a text that must be right, parse one that must not, print. */
#ifndef PTX_TEST_H
#define PTX_TEST_H

#include "check.h"

#include "heddle/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER ".version 9.0\n.target sm_90a\n.address_size 64\n\n"

static inline hd_ptx_module *parse(hd_arena *a, const char *text) {
  hd_ptx_module *m = NULL;
  hd_diag d = {0};
  if (hd_ptx_parse(text, strlen(text), "test.ptx", a, &m, &d) != HD_OK) {
    char line[2048];
    print_error("%s\n  %s\n", hd_diag_line(&d, line, sizeof line), d.source);
    fail_msg("a valid module was refused");
  }
  return m;
}

/* HEADER before, and a diagnostic in *d. */
static inline hd_status parse_bad(const char *items, hd_diag *d) {
  hd_arena a;
  hd_arena_init(&a);
  hd_buf b = {0};
  hd_buf_puts(&b, HEADER);
  hd_buf_puts(&b, items);
  hd_ptx_module *m;
  hd_status st = hd_ptx_parse(b.data, b.len, "bad.ptx", &a, &m, d);
  if (st != HD_OK) assert_null(m);
  hd_buf_free(&b);
  hd_arena_free(&a);
  return st;
}

/* The module's text; free it. */
static inline char *print(const hd_ptx_module *m) {
  hd_buf b = {0};
  assert_int_equal(hd_ptx_print(m, &b), HD_OK);
  return b.data;
}

static inline char *statement(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  hd_buf b = {0};
  hd_ptx_print_stmt(m, s, &b);
  assert_false(b.failed);
  return b.data ? b.data : strdup("");
}

/* Some module, declared for `body`, which is put into a kernel of it. */
static inline hd_ptx_module *parse_body(hd_arena *a, const char *body) {
  static const char before[] =
      HEADER ".extern .func (.param .b32 r) callee(.param .b64 x);\n"
             ".global .align 16 .b8 table[64];\n"
             ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
             ".reg .pred %p<9>, p, q;\n.reg .b16 %rs<99>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
             ".reg .f32 %f<99>;\n.reg .f64 %fd<9>;\n.reg .v4 .f32 v;\n.reg .b128 %rq<4>;\n"
             ".shared .align 8 .b64 bar[4];\n";
  hd_buf b = {0};
  hd_buf_puts(&b, before);
  hd_buf_puts(&b, body);
  hd_buf_puts(&b, "\n}\n");
  hd_ptx_module *m = parse(a, b.data);
  hd_buf_free(&b);
  return m;
}

#endif
