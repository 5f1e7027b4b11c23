/* tests/emu/async_run.h: kernels with mbarriers, bulk copies and tensor maps. */
#ifndef HEDDLE_TESTS_ASYNC_RUN_H
#define HEDDLE_TESTS_ASYNC_RUN_H

#include "check.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASYNC_SHARED = 160 * 1024 };

typedef struct async_machine {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_diag d;
  struct {
    uint64_t in, out;
    uint64_t spare[6]; /* the map's alignment */
    unsigned char map[HD_TENSOR_MAP_BYTES];
  } args;
} async_machine;

static inline void async_ok(async_machine *x, hd_status st) {
  if (st != HD_OK) fail_msg("status %d, line %u: %s", st, x->d.line, x->d.message);
}

/* Kernel k: the buffers' addresses are in %in and %out, the tensor map's in %map, the thread's number in
 * %t; dynamic shared memory is `smem`. The body begins on line ASYNC_LINE. */
enum { ASYNC_LINE = 13 };
static inline void async_open(async_machine *x, const char *body, unsigned checks) {
  hd_buf text = {0};
  const hd_emu_options opt = {.checks = checks, .threads = 1, .memory = 1 << 24, .max_instructions = 1 << 24};
  memset(x, 0, sizeof *x);
  hd_buf_printf(&text,
                ".version 8.6\n.target sm_90a\n.address_size 64\n"
                ".extern .shared .align 1024 .b8 smem[];\n"
                ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])\n{\n"
                ".reg .pred %%p<16>; .reg .b32 %%r<64>; .reg .b64 %%d<64>; .reg .f32 %%f<16>;\n"
                ".reg .b64 %%in, %%out, %%map, %%state; .reg .b32 %%t;\n"
                "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\nmov.u64 %%map, map;\n"
                "mov.u32 %%t, %%tid.x;\n%s\nret;\n}\n",
                body);
  hd_arena_init(&x->arena);
  async_ok(x, hd_ptx_parse(text.data, text.len, "test.ptx", &x->arena, &x->m, &x->d));
  async_ok(x, hd_emu_create(&opt, &x->e, &x->d));
  async_ok(x, hd_emu_load(x->e, x->m, &x->p, &x->d));
  hd_buf_free(&text);
}
static inline void async_close(async_machine *x) {
  hd_emu_unload(x->p);
  hd_emu_destroy(x->e);
  hd_arena_free(&x->arena);
}
static inline void *async_buffer(async_machine *x, uint64_t *address, const void *from, size_t bytes) {
  async_ok(x, hd_emu_alloc(x->e, bytes, address, &x->d));
  if (from) async_ok(x, hd_emu_write(x->e, *address, from, bytes, &x->d));
  return hd_emu_ptr(x->e, *address, bytes);
}
static inline hd_emu_launch_params async_params(const async_machine *x, uint32_t block) {
  return (hd_emu_launch_params){.kernel = "k",
                                .grid = {1, 1, 1},
                                .block = {block, 1, 1},
                                .dynamic_shared = ASYNC_SHARED,
                                .args = &x->args,
                                .args_bytes = sizeof x->args};
}
static inline hd_status async_launch(async_machine *x, uint32_t block, const hd_emu_hooks *hooks) {
  const hd_emu_launch_params l = async_params(x, block);
  return hd_emu_launch(x->p, &l, NULL, hooks, NULL, &x->d);
}

/* The launch must end in a fault at this line of the body (from 0) with all of the words. */
static inline void async_must_fault(const char *body, uint32_t block, uint32_t line, const char *words) {
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
  static const unsigned char data[4096];
  async_buffer(&x, &x.args.in, data, sizeof data);
  async_buffer(&x, &x.args.out, NULL, sizeof data);
  const hd_status st = async_launch(&x, block, NULL);
  if (st != HD_ERR_FAULT) fail_msg("status %d instead of a fault: %s", st, body);
  if (!strstr(x.d.message, words)) fail_msg("no \"%s\" in: %s", words, x.d.message);
  if (x.d.line != ASYNC_LINE + line)
    fail_msg("line %u of the body, not %u: %s", x.d.line - ASYNC_LINE, line, x.d.message);
  async_close(&x);
}

static inline void async_must_refuse(const char *instruction, const char *words) {
  async_machine x;
  char body[512];
  snprintf(body, sizeof body, "%s;", instruction);
  async_open(&x, body, HD_CHECK_ALL);
  const hd_status st = hd_emu_supported(x.p, "k", &x.d);
  if (st != HD_ERR_UNSUPPORTED) fail_msg("status %d, not refused: %s", st, instruction);
  if (!strstr(x.d.message, words)) fail_msg("no \"%s\" in: %s", words, x.d.message);
  if (x.d.line != ASYNC_LINE) fail_msg("line %u: %s", x.d.line, x.d.message);
  async_close(&x);
}

#endif
