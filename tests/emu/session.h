/* tests/emu/session.h: kernels that nvcc compiled (ptx/ *.cu beside ptx/ *.ptx), on every machine. */
#ifndef HEDDLE_TESTS_EMU_SESSION_H
#define HEDDLE_TESTS_EMU_SESSION_H

#include "kit.h"

typedef struct session {
  hd_emu *e;
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu_program *p;
  hd_dispatch how;
  hd_emu_hooks hooks;
  bool cooperative; /* its launches are */
  hd_diag d;
} session;

static inline void open_file(session *s, const char *name, const hd_emu_options *o) {
  memset(s, 0, sizeof *s);
  char path[512];
  snprintf(path, sizeof path, "%s/ptx/%s.ptx", TEST_DIR, name);
  hd_file f;
  CHECK_OK(hd_file_open(path, &f, &s->d), &s->d);
  hd_arena_init(&s->arena);
  CHECK_OK(hd_ptx_parse(f.data, f.len, name, &s->arena, &s->m, &s->d), &s->d);
  hd_file_close(&f);
  CHECK_OK(hd_emu_create(o, &s->e, &s->d), &s->d);
  CHECK_OK(hd_emu_load(s->e, s->m, &s->p, &s->d), &s->d);
}

static inline void close_file(session *s) {
  hd_emu_unload(s->p);
  hd_emu_destroy(s->e);
  hd_arena_free(&s->arena);
}

/* A device buffer, filled from the host or left unwritten. */
static inline uint64_t buffer(session *s, const void *from, uint64_t bytes) {
  uint64_t a;
  CHECK_OK(hd_emu_alloc(s->e, bytes, &a, &s->d), &s->d);
  if (from) CHECK_OK(hd_emu_write(s->e, a, from, bytes, &s->d), &s->d);
  return a;
}
static inline uint64_t zeros(session *s, uint64_t bytes) {
  uint64_t a = buffer(s, NULL, bytes);
  hd_emu_mark_written(s->e, a, bytes);
  return a;
}
#define HOST(s, type, address, n) ((type *)hd_emu_ptr((s)->e, address, (n) * sizeof(type)))

typedef struct arg {
  const void *p;
  size_t n;
} arg;
#define ARG(x)                                                                                               \
  { &(x), sizeof(x) }

static inline hd_status run(session *s, const char *kernel, uint32_t grid, uint32_t block, uint32_t shared,
                            const arg *args, unsigned n_args, hd_emu_stats *stats) {
  int64_t f = hd_ptx_find_kernel(s->m, kernel);
  assert_true(f >= 0);
  uint64_t offsets[16];
  char params[512] = {0};
  assert_int_equal(s->m->funcs[f].n_params, n_args);
  uint64_t bytes = hd_ptx_param_layout(s->m, &s->m->funcs[f], offsets);
  for (unsigned k = 0; k < n_args; k++) memcpy(params + offsets[k], args[k].p, args[k].n);
  hd_emu_launch_params l = {.kernel = kernel,
                            .grid = {grid, 1, 1},
                            .block = {block, 1, 1},
                            .dynamic_shared = shared,
                            .args = params,
                            .args_bytes = bytes,
                            .cooperative = s->cooperative};
  if (block >> 16) { /* x by y */
    l.block[0] = block & 0xffff;
    l.block[1] = block >> 16;
    l.grid[0] = grid & 0xffff;
    l.grid[1] = grid >> 16;
  }
  return hd_emu_launch(s->p, &l, &s->how, &s->hooks, stats, &s->d);
}
#define BY(x, y) ((y) << 16 | (x))
#define RUN(s, kernel, grid, block, shared, ...)                                                             \
  run(s, kernel, grid, block, shared, (const arg[]){__VA_ARGS__},                                            \
      sizeof((arg[]){__VA_ARGS__}) / sizeof(arg), NULL)
#define RUN_OK(s, ...) CHECK_OK(RUN(s, __VA_ARGS__), &(s)->d)

static inline float noise(uint64_t seed, uint64_t n) {
  return (float)(int64_t)(hd_random_at(seed, n) >> 40) / 8388608.0f - 1.0f;
}

/* Each machine that the tests run on. */
typedef struct machine {
  hd_emu_options o;
  hd_dispatch how;
} machine;
static inline unsigned machines(machine *out) {
  unsigned n = 0;
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= emu_best_isa(); isa++)
    for (unsigned checks = 0; checks < 2; checks++) {
      out[n] = (machine){{.checks = checks ? HD_CHECK_ALL : 0,
                          .threads = 1 + n % 3,
                          .n_sms = 7,
                          .memory = 1 << 28,
                          .isa = isa},
                         {(hd_dispatch_kind)(n % HD_DISPATCH_COUNT), n, 4}};
      n++;
    }
  return n;
}
#define ON_EACH_MACHINE(s, file)                                                                             \
  machine machines_[16];                                                                                     \
  unsigned n_machines_ = machines(machines_);                                                                \
  for (unsigned m_ = 0; m_ < n_machines_; m_++)                                                              \
    for (bool once_ = (open_file(s, file, &machines_[m_].o), (s)->how = machines_[m_].how, true); once_;     \
         once_ = false, close_file(s))

#endif
