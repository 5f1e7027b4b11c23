/* Operations that wait: for the host to write memory that they read, or for an operation of another stream.
 *
 * An operation that may wait runs on a thread of its own. Where the emulator finds that it cannot go on
 * unless others change memory, it lets the others run: the call that submitted it returns, pending operations
 * start, and it looks again a little later, and whenever an operation has ended. It counts as a deadlock when
 * nothing is left that could change what it reads: no other operation can run, and all threads of the program
 * are inside calls until an operation ends.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/core/order.h"
#include "cuda/core/queue.h"

enum {
  FIRST_PAUSE = 100, /* microseconds until it looks again */
  LAST_PAUSE = 6,    /* doublings of it */
  LOOKS = 2,         /* in vain, until it can be a deadlock */
  LATER = 100000,    /* microseconds */
};

struct core_wait {
  bool waited; /* at any time */
  bool proved; /* of the last look */
  bool alone;  /* before it, all threads of the program were inside calls */
  uint64_t events;
  unsigned in_vain; /* looks in a row with nothing new */
};

static core_queue *const queue = &core_queue_now;
static struct {
  size_t threads; /* of core_aside_thread */
  bool later;     /* one of them is core_aside_later's */
  bool end;       /* of the program */
} aside;

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* Signals are for the program's own threads, but for those that a thread causes itself. */
bool core_aside_thread(void *(*body)(void *), void *arg) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigset_t none, before;
  pthread_attr_t detached;
  pthread_t thread;
  sigfillset(&none);
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) sigdelset(&none, own[k]);
  if (pthread_attr_init(&detached) != 0) return false;
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &none, &before);
  const bool ok = pthread_create(&thread, &detached, body, arg) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&detached);
  aside.threads += ok;
  return ok;
}

static void end_thread(void) {
  aside.threads--;
  pthread_cond_broadcast(&core.changed);
  pthread_mutex_unlock(&core.lock);
}

/* Threads of the process; 0: unknown. */
static size_t count_threads(void) {
  size_t n = 0;
  DIR *d = opendir("/proc/self/task");
  for (const struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
  if (d) closedir(d);
  return n;
}

/* False: the time is over. */
static bool wait_until(const struct timespec *end) {
  return pthread_cond_timedwait(&core.changed, &core.lock, end) != ETIMEDOUT;
}

static struct timespec in_microseconds(long us) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += us * 1000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

/* ---- Operations on threads of their own ------------------------------------------------------------- */

/* Start what the program has submitted beside an operation that waits. */
static void run_others(void) {
  core_op *o;
  while (!core.settings.seed && !queue->running && (o = core_queue_pick())) core_queue_start(o);
}

/* And, when it has ended, behind it: the calls that submitted this did not stay. */
static void run_rest(void) {
  while (!core.settings.seed && queue->pending > queue->waiting + queue->running) {
    core_op *o = queue->running ? NULL : core_queue_pick();
    if (o)
      core_queue_start(o);
    else if (queue->running)
      pthread_cond_wait(&core.changed, &core.lock);
    else
      break;
  }
}

static void *run_aside(void *arg) {
  core_op *o = arg;
  struct core_wait w = {0};
  pthread_mutex_lock(&core.lock);
  o->wait = &w;
  core_queue_run(o);
  o->wait = NULL;
  core_op_release(o);
  if (w.waited) run_rest();
  end_thread();
  return NULL;
}

bool core_aside_start(core_op *o) {
  o->refs++;
  if (core_aside_thread(run_aside, o)) return true;
  o->refs--;
  return false;
}

bool core_aside_waited(const core_op *o) { return o->wait && o->wait->waited; }

/* Can no thread of the program do anything until an operation ends? A thread whose operation has ended may
 * not run yet. */
static bool is_alone(void) {
  size_t blocked = 0;
  for (const core_blocked *b = queue->blocked; b; b = b->next) blocked += !b->op || b->op->state != CORE_DONE;
  return aside.end || (blocked && blocked + aside.threads == count_threads());
}

/* Can nothing change the memory that waiting operations read? Each must have looked since the last event: an
 * operation that ended during a pause may have written what the next look reads. */
static bool is_deadlock(void) {
  for (size_t k = 0; k < core.contexts.n; k++)
    for (size_t i = 0; i < core.contexts.data[k]->streams.n; i++) {
      const core_op *o = core.contexts.data[k]->streams.data[i]->head;
      const struct core_wait *w = o ? o->wait : NULL;
      if (w && (!w->proved || w->in_vain < LOOKS || w->events != queue->events)) return false;
    }
  return is_alone() && !core_queue_pick();
}

static void note_look(struct core_wait *w, bool proved, bool moved) {
  if (!w->waited || moved) queue->events++; /* the others look again */
  const bool news = !w->alone || w->events != queue->events;
  w->in_vain = news ? 0 : w->in_vain + 1;
  w->waited = true;
  w->proved = proved;
  w->events = queue->events;
}

bool core_wait_outside(void *ctx, bool proved, bool moved) {
  pthread_mutex_lock(&core.lock);
  core_op *o = queue->current;
  struct core_wait *w = o->wait;
  if (!w) {
    pthread_mutex_unlock(&core.lock);
    return false;
  }
  note_look(w, proved, moved);
  struct core_touched *touched = core_order_pause();
  queue->waiting++;
  queue->running = false;
  queue->current = NULL;
  pthread_cond_broadcast(&core.changed);
  run_others();
  const unsigned doublings = w->in_vain < LAST_PAUSE ? w->in_vain : LAST_PAUSE;
  const struct timespec end = in_microseconds((long)FIRST_PAUSE << doublings);
  while (queue->events == w->events && wait_until(&end)) continue;
  while (queue->running) pthread_cond_wait(&core.changed, &core.lock);
  w->alone = is_alone();
  const bool go_on = !proved || !is_deadlock();
  queue->waiting--;
  queue->running = true;
  queue->current = o;
  core_order_resume(o, touched);
  pthread_mutex_unlock(&core.lock);
  return go_on;
}

/* ---- Programs that make no call ------------------------------------------------------------------------ */

static void *run_later(void *arg) {
  pthread_mutex_lock(&core.lock);
  while (queue->pending > queue->waiting + queue->running) {
    const uint64_t events = queue->events;
    const struct timespec end = in_microseconds(LATER);
    while (queue->events == events && wait_until(&end)) continue;
    core_op *o = queue->events == events && !queue->running ? core_queue_pick() : NULL;
    if (o) core_queue_start(o);
  }
  aside.later = false;
  end_thread();
  return NULL;
}

void core_aside_later(void) {
  if (!core.settings.seed || aside.later || !queue->pending || !core_memory_shared()) return;
  aside.later = core_aside_thread(run_later, NULL);
}

/* ---- The end ------------------------------------------------------------------------------------ */

void core_wait_end(void) {
  aside.end = true;
  core_wait_all();
}
