/* CLU's applications have the shape that its table 2 says, as far as compilers since then allow: warps per
 * CTA, and shared memory within the algorithm's need. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "session.h"

/* Columns WP and SMem. nn's first layers have larger CTAs than its last, hotspot's and nw's shared memory
 * depends on how compilers pad it, so the test checks an upper bound a little above the table's. */
static const struct application {
  const char *name;
  unsigned warps;
  uint32_t shared; /* bytes per CTA, at most */
} TABLE[] = {
    {"kmeans", 8, 0},
    {"matmul-tiled", 32, 8192},
    {"nn", 1, 0},
    {"image-denoising", 2, 0},
    {"backprop", 8, 1092},
    {"dct8x8", 2, 512},
    {"sgemm", 4, 512},
    {"hotspot", 8, 3072},
    {"syrk", 8, 0},
    {"syr2k", 8, 0},
    {"atax", 8, 0},
    {"mvt", 8, 0},
    {"nbody", 8, 4096},
    {"conv3d", 8, 0},
    {"bicg", 8, 0},
    {"histogram", 8, 1024},
    {"btree", 8, 0},
    {"nw", 1, 2180},
    {"bfs", 8, 0},
    {"monte-carlo", 8, 4096},
    {"dxtc", 2, 2048},
    {"sad", 2, 0},
    {"black-scholes", 4, 0},
};

static unsigned warps_of(const hd_wl_launch *l) {
  return (l->block[0] * l->block[1] * l->block[2] + HD_WARP - 1) / HD_WARP;
}

/* The least shared memory that a CTA of a launch with so many warps takes; UINT32_MAX: there is none. */
static uint32_t shared_of(const hd_workload *w, unsigned warps) {
  hd_diag d = {0};
  hd_buf ptx = {0};
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  uint32_t least = UINT32_MAX;
  hd_arena_init(&arena);
  if (hd_workload_ptx(w, 80, &ptx, NULL, &d) != HD_OK) fail_msg("%s: %s", w->name, d.message);
  assert_int_equal(hd_ptx_parse(ptx.data, ptx.len, w->name, &arena, &m, &d), HD_OK);
  assert_int_equal(hd_emu_create(NULL, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, m, &p, &d), HD_OK);
  for (uint32_t i = 0; i < w->n_launches; i++) {
    uint32_t bytes = hd_emu_static_shared(p, w->launches[i].kernel) + w->launches[i].dynamic_shared;
    if (warps_of(&w->launches[i]) == warps && bytes < least) least = bytes;
  }
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&ptx);
  return least;
}

static void applications_have_the_shape_of_the_paper(void **state) {
  skip_without_compiler();
  for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
    hd_workload *w;
    hd_diag d = {0};
    if (hd_workload_open(TABLE[i].name, SOURCE_DIR "/kernels", "paper", &w, &d) != HD_OK)
      fail_msg("%s", d.message);
    if (!strstr(w->paper, "CLU table 2")) fail_msg("%s does not name CLU table 2", w->name);
    uint32_t shared = shared_of(w, TABLE[i].warps);
    if (shared == UINT32_MAX) fail_msg("%s: no launch has %u warps per CTA", w->name, TABLE[i].warps);
    if (shared > TABLE[i].shared) fail_msg("%s: %u bytes of shared memory per CTA", w->name, shared);
    hd_workload_close(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("applications have the shape of the paper", applications_have_the_shape_of_the_paper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
