/* Optimizations whose time is over in one of their stages, by a clock that jumps when the stage begins. */
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heddle/optimize.h"
#include "predict/session.h"

static atomic_long jumped; /* seconds */

int clock_gettime(clockid_t clock, struct timespec *t) {
  const int r = (int)syscall(SYS_clock_gettime, clock, t);
  if (clock == CLOCK_MONOTONIC) t->tv_sec += jumped;
  return r;
}

typedef struct jump {
  const char *stage;
  long seconds;
} jump;

static void stage_begins(void *ctx, const char *stage, size_t done, size_t n) {
  const jump *j = ctx;
  if (strcmp(stage, j->stage) == 0 && !jumped) jumped = j->seconds;
}

static void the_original_stays_where_time_is_over_and_the_reason_is_told(void **state) {
  static const struct {
    jump at;
    const char *why;
  } cases[] = {
      {{"tracing", 61},
       "no plan was tried: matmul_swapped takes longer than it may on the emulator (a longer --wall)"},
      {{"choosing plans to try", 61},
       "no plan was tried: the time was over before it was replayed (a longer --wall)"},
      {{"proving plans", 61}, "the time was over before a plan was proved (next: threads="},
  };
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_workload *w = open_workload("matmul-swapped", "small");
    const hd_gpu g = load_gpu("h100");
    jump at = cases[i].at;
    hd_diag d = {0};
    hd_optimized z;
    const hd_optimize_options o = {.run = {.machine.threads = 2},
                                   .wall = 60,
                                   .dispatch = g.dispatch,
                                   .progress = stage_begins,
                                   .ctx = &at};
    jumped = 0;
    if (hd_optimize(w, &g, &o, &z, &d) != HD_OK) fail_msg("%s: %s", at.stage, d.message);
    assert_int_equal(z.best, 0);
    assert_null(z.written.text.data);
    if (!strstr(z.why, cases[i].why)) fail_msg("%s: '%s' has no '%s'", at.stage, z.why, cases[i].why);
    hd_optimized_free(&z);
    hd_workload_close(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the original stays where time is over, and the reason is told",
                the_original_stays_where_time_is_over_and_the_reason_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
