/* The end of a program that computes on by itself behind its launches, as one does that checks the GPU's
 * results on the CPU for minutes: its kernels have been seen, and its user waits for what heddle says of them
 * (settings.alone). */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cuda/core/queue.h"

enum { LOOK_MS = 100 }; /* between two looks */

static bool watches;
static bool ended; /* by this */

bool core_alone_ended(void) { return ended; }

/* Of all threads of the process. */
static uint64_t processor_ms(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The report is written here, since a destructor that the program's other threads are in the way of does not
 * write it. The lock is held until then. */
static void end_program(void) {
  core_say("it computes for %.1f s by itself since its last CUDA call: it ends here",
           (double)core.settings.alone * 1e-3);
  ended = true;
  core_report();
  pthread_mutex_unlock(&core.lock);
  exit(EXIT_SUCCESS);
}

static void *watch(void *arg) {
  uint64_t calls = 0, since = processor_ms();
  for (;;) {
    usleep(LOOK_MS * 1000);
    const bool is_free = pthread_mutex_trylock(&core.lock) == 0;
    if (!is_free || core_queue_now.running || core_queue_now.pending || core.calls != calls)
      since = processor_ms();
    else if (processor_ms() - since >= core.settings.alone)
      end_program();
    if (!is_free) continue;
    calls = core.calls;
    pthread_mutex_unlock(&core.lock);
  }
  return arg;
}

void core_alone_watch(void) {
  if (core.settings.alone && !watches) watches = core_aside_thread(watch, NULL);
}
