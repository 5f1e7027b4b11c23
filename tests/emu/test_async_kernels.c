/* Kernels with cuda::barrier and bulk copies as nvcc compiles them (ptx/async.cu), with all checks. */
#include "kit.h"

enum { TILES = 9, BLOCK = 256 };

typedef struct session {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  uint64_t in, out;
  hd_diag d;
} session;

static void open_session(session *s, hd_emu_isa isa) {
  char path[512];
  hd_file f;
  memset(s, 0, sizeof *s);
  snprintf(path, sizeof path, "%s/ptx/async.ptx", TEST_DIR);
  CHECK_OK(hd_file_open(path, &f, &s->d), &s->d);
  hd_arena_init(&s->arena);
  CHECK_OK(hd_ptx_parse(f.data, f.len, "async", &s->arena, &s->m, &s->d), &s->d);
  hd_file_close(&f);
  const hd_emu_options o = {.checks = HD_CHECK_ALL, .memory = 1 << 24, .isa = isa};
  CHECK_OK(hd_emu_create(&o, &s->e, &s->d), &s->d);
  CHECK_OK(hd_emu_load(s->e, s->m, &s->p, &s->d), &s->d);
  CHECK_OK(hd_emu_alloc(s->e, TILES * BLOCK * 4, &s->in, &s->d), &s->d);
  CHECK_OK(hd_emu_alloc(s->e, BLOCK * 4, &s->out, &s->d), &s->d);
}
static void close_session(session *s) {
  hd_emu_unload(s->p);
  hd_emu_destroy(s->e);
  hd_arena_free(&s->arena);
}

/* The kernel k(in, out, n) on one CTA. */
static hd_status run(session *s, const char *kernel, uint32_t block, uint32_t n) {
  struct {
    uint64_t in, out;
    uint32_t n;
  } args = {s->in, s->out, n};
  const hd_emu_launch_params l = {
      .kernel = kernel, .grid = {1, 1, 1}, .block = {block, 1, 1}, .args = &args, .args_bytes = 20};
  return hd_emu_launch(s->p, &l, NULL, NULL, NULL, &s->d);
}

static void tiles_come_through_two_stages(void **state) {
  for (hd_emu_isa isa = HD_ISA_AUTO; isa <= HD_ISA_PORTABLE; isa++) {
    session s;
    open_session(&s, isa);
    float in[TILES * BLOCK];
    for (uint32_t k = 0; k < TILES * BLOCK; k++) in[k] = (float)(hd_random_at(5, k) % 1000);
    CHECK_OK(hd_emu_write(s.e, s.in, in, sizeof in, &s.d), &s.d);
    for (uint32_t tiles = 0; tiles <= TILES; tiles++) {
      CHECK_OK(run(&s, "tma_sum", BLOCK, tiles), &s.d);
      const float *out = hd_emu_ptr(s.e, s.out, BLOCK * 4);
      for (uint32_t t = 0; t < BLOCK; t++) {
        float want = 0;
        for (uint32_t k = 0; k < tiles; k++) want += in[k * BLOCK + t];
        assert_true(out[t] == want);
      }
    }
    close_session(&s);
  }
}

static void threads_exchange_behind_a_barrier(void **state) {
  session s;
  open_session(&s, HD_ISA_AUTO);
  int32_t in[8 * 128];
  for (uint32_t k = 0; k < 8 * 128; k++) in[k] = (int32_t)(hd_random_at(6, k) % 100000);
  CHECK_OK(hd_emu_write(s.e, s.in, in, sizeof in, &s.d), &s.d);
  CHECK_OK(run(&s, "bar_sum", 128, 8), &s.d);
  const int32_t *out = hd_emu_ptr(s.e, s.out, 512);
  for (uint32_t t = 0; t < 128; t++) {
    int32_t want = 0;
    for (uint32_t k = 0; k < 8; k++) want += in[k * 128 + (t + k) % 128];
    assert_int_equal(out[t], want);
  }
  close_session(&s);
}

static void a_tile_beyond_the_input_is_a_fault(void **state) {
  session s;
  open_session(&s, HD_ISA_AUTO);
  hd_emu_mark_written(s.e, s.in, TILES * BLOCK * 4);
  assert_int_equal(run(&s, "tma_sum", BLOCK, TILES + 1), HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "out of bounds: load of 16 bytes");
  CHECK_MESSAGE(&s.d, "thread (0,0,0)");
  close_session(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("tiles come through two stages", tiles_come_through_two_stages),
      BEHAVIOUR("threads exchange behind a barrier", threads_exchange_behind_a_barrier),
      BEHAVIOUR("a tile beyond the input is a fault", a_tile_beyond_the_input_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
