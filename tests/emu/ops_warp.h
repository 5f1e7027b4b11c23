/* tests/emu/ops_warp.h: a kernel body run by one warp (or more) on 64-bit values. */
#ifndef HEDDLE_TESTS_OPS_WARP_H
#define HEDDLE_TESTS_OPS_WARP_H

#include "emu/ops_run.h"

enum { LANES = 32 };

/* Kernel k of the module: `globals` before it, `body` in it. Thread i has %i, %in and %out, the
 * addresses of its `in_words` (`out_words`) 64-bit words. */
static inline void body_ptx(hd_buf *text, const char *globals, const char *body, unsigned in_words,
                            unsigned out_words) {
  op_ptx_header(text);
  hd_buf_printf(text,
                "%s\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .b16 %%h<32>; .reg .b32 %%w<64>; .reg .b64 %%d<32>; .reg .f32 %%f<32>; .reg .f64 "
                "%%g<32>; .reg .pred %%p<16>;\n"
                ".reg .b64 %%in, %%out; .reg .b32 %%i;\n"
                "mov.u32 %%i, %%tid.x;\nld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
                "mad.wide.u32 %%in, %%i, %u, %%in;\nmad.wide.u32 %%out, %%i, %u, %%out;\n%s\nret;\n}\n",
                globals, 8 * in_words, 8 * out_words, body);
}

static inline void run_words(const char *globals, const char *body, const uint64_t *in, unsigned in_words,
                             uint64_t *out, unsigned out_words, unsigned threads) {
  hd_buf text = {0};
  op_machine x;
  hd_diag d = {0};
  body_ptx(&text, globals, body, in_words, out_words);
  op_load(&x, &text, HD_ISA_AUTO);
  const uint64_t args[2] = {op_alloc(&x, in, (size_t)threads * in_words * 8),
                            op_alloc(&x, out, (size_t)threads * out_words * 8)};
  op_ok(op_launch(&x, "k", 1, threads, args, sizeof args, &d), &d);
  op_ok(hd_emu_read(x.e, args[1], out, (size_t)threads * out_words * 8, &d), &d);
  op_unload(&x);
  hd_buf_free(&text);
}

/* Load a module whose kernel k has `body`, and ask about it. */
static inline hd_status op_supported(const char *globals, const char *body, hd_diag *d) {
  hd_buf text = {0};
  op_machine x;
  body_ptx(&text, globals, body, 1, 1);
  op_load(&x, &text, HD_ISA_AUTO);
  const hd_status st = hd_emu_supported(x.p, "k", d);
  op_unload(&x);
  hd_buf_free(&text);
  return st;
}

#endif
