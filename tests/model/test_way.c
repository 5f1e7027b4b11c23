/* Replays with a clock: the ways of loads and stores past L1, on GPUs whose files say how they are. */
#include "check.h"

#include <stdlib.h>

#include "heddle/model.h"
#include "model/subject.h"

/* ---- Eviction priorities ---------------------------------------------------------------------- */

/* Each thread loads 15 words. */
static char *loads(const char *op) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= 15; i++)
    hd_buf_printf(&b, "%s.f32 %%f%u, [%%rd2+%u];\nadd.f32 %%f0, %%f0, %%f%u;\n", op, i, i * APART, i);
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  return b.data;
}

/* The part of its bytes that the second of two launches has to read from DRAM again. */
static double read_again(const hd_gpu *g, const char *op) {
  char *body = loads(op);
  subject s = trace_kernel(body, 8, 1024);
  hd_diag d = {0};
  hd_model *m;
  hd_counters first, second;
  must(hd_model_create(g, &m, &d), &d);
  hd_replay_options o = {.timed = true};
  must(hd_model_replay(m, s.trace, &o, &first, &d), &d);
  o.keep_caches = true;
  must(hd_model_replay(m, s.trace, &o, &second, &d), &d);
  hd_model_destroy(m);
  drop(&s);
  free(body);
  assert_int_equal(first.dram_read_bytes, 8 * 1024 * 15 * 4);
  return (double)second.dram_read_bytes / (double)first.dram_read_bytes;
}

static void a_load_that_l1_is_not_to_keep_goes_first_in_l2_too(void **state) {
  static const struct {
    const char *op;
    bool goes_first;
  } cases[] = {{"ld.global", false},
               {"ld.global.cg", false},
               {"ld.global.L1::evict_last", false},
               {"ld.global.L1::no_allocate", true},
               {"ld.global.L1::evict_first", true}};
  hd_gpu g = round_gpu();
  g.max_threads = 2048;
  g.l2_dirty_bytes = 1 << 19; /* others' lines are in L2 */
  for (int carries = 0; carries < 2; carries++) {
    g.l2_first_with_l1 = carries;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const double again = read_again(&g, cases[i].op);
      if (carries && cases[i].goes_first ? again < 0.5 : again > 0)
        fail_msg("%s: %.2f is read again", cases[i].op, again);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a load that L1 is not to keep goes first in L2, too",
                a_load_that_l1_is_not_to_keep_goes_first_in_l2_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
