/* A clock for tests with budgets: preloaded by tests/cli/run, or linked into a test, it makes the monotonic
 * clock advance by a millisecond with each look at it, whatever the machine's load. So a budget is a number
 * of looks, and a test that has one does not depend on time. Other clocks are the system's. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Programs that are started from here, compilers above all, have the system's clock, and no sanitizer. */
__attribute__((constructor)) static void load(void) { unsetenv("LD_PRELOAD"); }

int clock_gettime(clockid_t clock, struct timespec *t) {
  static atomic_long looks;
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, t);
  long ms = atomic_fetch_add(&looks, 1);
  t->tv_sec = 1000 + ms / 1000;
  t->tv_nsec = ms % 1000 * 1000000;
  return 0;
}
