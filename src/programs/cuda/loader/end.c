/* The end of the program: the report. Destructors of the program's own come before those of libraries. */
#include "cuda/core/core.h"

__attribute__((destructor)) static void end(void) {
  /* A thread that was stopped in a call has the lock for good. */
  if (pthread_mutex_trylock(&core.lock) != 0) return;
  core_report();
  pthread_mutex_unlock(&core.lock);
}
