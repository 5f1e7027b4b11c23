/* tests/model/subject.h: kernels of a few instructions, traced with their paths, and a GPU of round figures.
 */
#ifndef HEDDLE_TESTS_MODEL_SUBJECT_H
#define HEDDLE_TESTS_MODEL_SUBJECT_H

#include "check.h"

#include "heddle/model.h"
#include "model/synth.h"

/* ---- Kernels ------------------------------------------------------------------------------ */

/* A kernel of one parameter, the address of its data; %rd2 is the thread's own place in it: 4 bytes for each
 * thread of the grid. */
static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 data) {\n"
                           ".reg .u64 %rd<16>;\n.reg .u32 %r<64>;\n.reg .f32 %f<64>;\n.reg .pred %p<4>;\n"
                           ".shared .align 4 .b8 s[4096];\n"
                           "ld.param.u64 %rd1, [data];\n"
                           "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
                           "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r4, 4;\n"
                           "add.u64 %rd2, %rd1, %rd3;\n";

enum { BYTES = 1 << 22, APART = 1 << 18 }; /* of the data; between places that loads name by their offset */

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *module;
  hd_trace *trace;
} subject;

static inline void must(hd_status st, const hd_diag *d) {
  char line[1400];
  if (st != HD_OK) fail_msg("%s", hd_diag_line(d, line, sizeof line));
}

/* A whole module, whose kernel is k. */
static inline subject trace_module(const char *text, uint32_t ctas, uint32_t threads) {
  subject s = {0};
  hd_diag d = {0};
  hd_emu *e;
  hd_emu_program *p;
  uint64_t data;
  hd_arena_init(&s.arena);
  must(hd_ptx_parse(text, strlen(text), "test", &s.arena, &s.module, &d), &d);
  hd_emu_options o = {.threads = 1};
  must(hd_emu_create(&o, &e, &d), &d);
  must(hd_emu_alloc(e, BYTES, &data, &d), &d);
  hd_emu_mark_written(e, data, BYTES);
  must(hd_emu_load(e, s.module, &p, &d), &d);
  hd_emu_launch_params l = {.kernel = "k",
                            .grid = {ctas, 1, 1},
                            .block = {threads, 1, 1},
                            .args = &data,
                            .args_bytes = sizeof data};
  must(hd_trace_create(l.grid, l.block, 1, 0, &s.trace, &d), &d);
  must(hd_trace_keep_paths(s.trace, s.module, &d), &d);
  must(hd_emu_launch(p, &l, NULL, hd_trace_hooks(s.trace), NULL, &d), &d);
  must(hd_trace_finish(s.trace, &d), &d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  return s;
}

static inline subject trace_kernel(const char *body, uint32_t ctas, uint32_t threads) {
  hd_buf text = {0};
  hd_buf_printf(&text, "%s%s\nret;\n}\n", head, body);
  const subject s = trace_module(text.data, ctas, threads);
  hd_buf_free(&text);
  return s;
}

static inline void drop(subject *s) {
  hd_trace_destroy(s->trace);
  hd_arena_free(&s->arena);
}

/* One SM with round figures. */
static inline hd_gpu round_gpu(void) {
  hd_gpu g = synth_gpu();
  g.n_sms = 1;
  g.schedulers = g.issue_per_cycle = 4;
  g.l1 = (hd_cache_config){.bytes = 1 << 16,
                           .line = 128,
                           .sector = 32,
                           .ways = 4,
                           .latency = 40,
                           .bytes_per_cycle = 128,
                           .hashed = true};
  g.l2 = (hd_cache_config){.bytes = 1 << 20,
                           .line = 128,
                           .sector = 32,
                           .ways = 16,
                           .latency = 200,
                           .bytes_per_cycle = 1024,
                           .hashed = true};
  g.l1_mshrs = 512;
  g.dram_latency = 500;
  g.dram_bytes_per_cycle = 512;
  g.units = (hd_units){.fma = 128,
                       .alu = 128,
                       .fp64 = 4,
                       .xu = 16,
                       .load_store = 32,
                       .alu_latency = 4,
                       .fp64_latency = 40,
                       .xu_latency = 20,
                       .shared_latency = 30,
                       .tensor_latency = 30};
  return g;
}

#endif
