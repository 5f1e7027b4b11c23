/* How long launches take in the driver that does nothing, by a clock of its own.
 *
 * FAKE_TIMES, words NAME=VALUE:
 *   us=100       a launch of the program's own kernels, in microseconds
 *   plan=0.8     one of a rewritten kernel, in those
 *   spread=0.2   which differs that much from text to text at most
 *   trial=0.8    the same in place of `plan` in streams that are not the default one, as heddle's trials are
 *   flushed=1.2  and behind a fill of much memory
 *   after=N later=1.3  `plan` from the N-th launch on
 *   noise=0.05   times vary by so much, relative to each other
 *   drift=0.5    and grow by so much in a thousand launches
 *   cold=0.3     every other launch takes so much longer
 *   beside=2     so do those that run while another stream has work (fake_begin)
 *   depth=N      the GPU is N launches behind: events are known then, or when the program has waited
 *   seed=N       of the noise
 *   load=60      milliseconds of real time that it takes to load a text
 *   untimed=1    the time between two events is not known
 *
 * A context that is destroyed takes all events with it: fake_stale() counts what is asked of those.
 */
#include "fake.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 1 << 20, FAILED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  double us, plan, spread, trial, flushed, after, later, noise, drift, cold, beside, depth, seed, untimed,
      load;
} is = {.us = 1000, .plan = 1, .later = 1};
static struct {
  const char *name;
  double *value;
} const words[] = {{"us", &is.us},       {"plan", &is.plan},       {"spread", &is.spread},
                   {"trial", &is.trial}, {"flushed", &is.flushed}, {"after", &is.after},
                   {"later", &is.later}, {"noise", &is.noise},     {"drift", &is.drift},
                   {"cold", &is.cold},   {"beside", &is.beside},   {"depth", &is.depth},
                   {"seed", &is.seed},   {"untimed", &is.untimed}, {"load", &is.load}};
static atomic_int times; /* 0: not looked for yet, 1: there are none, 2: there are */
static bool flushed;
static double now;                 /* microseconds */
static unsigned long done, waited; /* launches, and those that the program has waited for */
static uint64_t state;
static struct {
  double when;
  unsigned long launch;
  bool known, gone;
} events[EVENTS]; /* by their numbers in fake.c */
static unsigned long stale;

static void read_words(void) {
  const char *all = getenv("FAKE_TIMES");
  for (const char *at = all; at && *at; at += strspn(at, " ")) {
    const size_t n = strcspn(at, "=");
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
      if (strlen(words[k].name) == n && memcmp(words[k].name, at, n) == 0) *words[k].value = atof(at + n + 1);
    at += strcspn(at, " ");
  }
  state = (uint64_t)is.seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  times = all ? 2 : 1;
}

/* As quickly as can be: launches are timed. */
bool fake_is_timed(void) {
  if (times) return times == 2;
  pthread_mutex_lock(&lock);
  if (!times) read_words();
  pthread_mutex_unlock(&lock);
  return times == 2;
}

static double uniform(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(state >> 11) * 0x1p-53;
}

static double factor_of(uint64_t text, bool own_stream) {
  const double differs = 2 * (double)(text % 1000) / 999 - 1;
  double plan = is.after > 0 && (double)done >= is.after ? is.later : is.plan;
  if (own_stream && is.trial > 0) plan = is.trial;
  if (flushed && is.flushed > 0) plan = is.flushed;
  return plan * (1 + is.spread * differs);
}

void fake_take_time(uint64_t text, cu_stream stream) {
  if (!fake_is_timed()) return;
  pthread_mutex_lock(&lock);
  double took = is.us * (text ? factor_of(text, (uintptr_t)stream > 2) : 1);
  took *= exp(is.noise * (uniform() + uniform() + uniform() - 1.5) * 2);
  took *= 1 + is.drift * (double)done / 1000;
  took *= done % 2 ? 1 + is.cold : 1;
  took *= fake_is_busy() ? 1 + is.beside : 1;
  now += took;
  done++;
  flushed = false;
  pthread_mutex_unlock(&lock);
}

void fake_compile(void) {
  if (fake_is_timed() && is.load > 0) usleep((unsigned)(is.load * 1e3));
}

void fake_fill(size_t bytes) {
  if (bytes >= 1 << 17) flushed = true;
}

void fake_wait(void) {
  pthread_mutex_lock(&lock);
  waited = done;
  pthread_mutex_unlock(&lock);
}

void fake_stamp(unsigned event) {
  if (!fake_is_timed() || event >= EVENTS) return;
  pthread_mutex_lock(&lock);
  stale += events[event].gone;
  events[event].known = true;
  events[event].when = now;
  events[event].launch = done;
  pthread_mutex_unlock(&lock);
}

int fake_elapsed(float *ms, unsigned begin, unsigned end) {
  pthread_mutex_lock(&lock);
  stale += events[begin].gone || events[end].gone;
  const unsigned long launch = events[end].launch;
  const bool is_known = launch <= waited || (double)launch + is.depth <= (double)done;
  if (is_known) *ms = (float)((events[end].when - events[begin].when) * 1e-3);
  pthread_mutex_unlock(&lock);
  return is.untimed > 0 ? FAILED : is_known ? CU_SUCCESS : CU_NOT_READY;
}

void fake_event_gone(unsigned event) {
  if (event >= EVENTS) return;
  pthread_mutex_lock(&lock);
  stale += events[event].gone;
  pthread_mutex_unlock(&lock);
}

#define EXPORT __attribute__((visibility("default")))
EXPORT unsigned long fake_stale(void) { return stale; }
EXPORT cu_result cuCtxDestroy_v2(cu_context context) {
  (void)context;
  pthread_mutex_lock(&lock);
  for (unsigned k = 0; k < EVENTS; k++) events[k].gone = events[k].known;
  pthread_mutex_unlock(&lock);
  return CU_SUCCESS;
}
EXPORT cu_result cuCtxSynchronize(void) {
  fake_wait();
  return CU_SUCCESS;
}
EXPORT cu_result cuStreamSynchronize(cu_stream stream) {
  (void)stream;
  fake_wait();
  return CU_SUCCESS;
}
