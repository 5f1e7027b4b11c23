/* Work that goes on in the driver that does nothing, and the calls that may wait for it. */
#include "fake.h"

#include <pthread.h>
#include <unistd.h>

static atomic_bool busy, slow;
static atomic_ulong waits;
static int loading;
/* A launch that meets a load is counted before the load ends. */
static pthread_mutex_t between = PTHREAD_MUTEX_INITIALIZER;
static cu_stream in;
static unsigned long long where; /* the context, of the legacy stream */
static pthread_t by;

__attribute__((visibility("default"))) void fake_begin(cu_stream stream) {
  in = stream;
  where = fake_current();
  by = pthread_self();
  slow = true;
  busy = true;
}

__attribute__((visibility("default"))) void fake_end(void) { busy = false; }
__attribute__((visibility("default"))) unsigned long fake_waits(void) { return waits; }

bool fake_is_busy(void) { return busy; }

void fake_linger(void) {
  if (slow) usleep(50);
}

void fake_may_wait(void) {
  if (busy) waits++;
}

/* From the first work on, long enough for other threads to come between. */
void fake_load(int change) {
  pthread_mutex_lock(&between);
  loading += change;
  pthread_mutex_unlock(&between);
  fake_may_wait();
  if (change > 0 && slow) usleep(500);
}

/* Before the first work launches are timed, and take no lock. */
void fake_launch(atomic_bool *is_loaded) {
  if (busy && !*is_loaded) waits++;
  if (slow) {
    pthread_mutex_lock(&between);
    if (loading) waits++;
    pthread_mutex_unlock(&between);
  }
  *is_loaded = true;
}

/* Stream 2 is the thread's own. The legacy one waits for those that block it, and may have work itself. */
int fake_query(cu_stream stream, bool blocks) {
  const bool own = stream == (cu_stream)2, legacy = (uintptr_t)stream < 2;
  const bool works = own      ? in == stream && pthread_equal(by, pthread_self())
                     : legacy ? blocks || (in == (cu_stream)1 && where == fake_current())
                              : in == stream;
  return busy && works ? CU_NOT_READY : 0;
}
