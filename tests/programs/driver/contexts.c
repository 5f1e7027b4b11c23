/* Contexts: a thread's stack of them, primary ones, threads, a fork before and after initialisation. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cu.h"

static int in_child(int want) {
  int n, status;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0)
    _exit((want ? cuDeviceGetCount(&n) == want : cuInit(0) == 0 && cuDeviceGetCount(&n) == 0) ? 0 : 1);
  CHECK(waitpid(pid, &status, 0) == pid);
  return status;
}

static void *other_thread(void *primary) {
  cu_context c;
  cu_address p;
  OK(cuCtxGetCurrent(&c));
  CHECK(!c);
  EXPECT(cuMemAlloc_v2(&p, 4), 201);
  OK(cuCtxSetCurrent(primary));
  OK(cuMemAlloc_v2(&p, 4));
  OK(cuMemFree_v2(p));
  return NULL;
}

int main(void) {
  cu_context a, b, c, primary, again;
  pthread_t thread;
  cu_address p;
  CHECK(in_child(0) == 0); /* initialises by itself */
  OK(cuInit(0));
  CHECK(in_child(3) == 0); /* a child does not inherit the parent's initialisation */
  OK(cuCtxCreate_v2(&a, 0, 0));
  OK(cuCtxCreate_v2(&b, 0, 0));
  OK(cuCtxGetCurrent(&c));
  CHECK(c == b);
  OK(cuCtxPopCurrent_v2(&c));
  CHECK(c == b);
  OK(cuCtxGetCurrent(&c));
  CHECK(c == a);
  OK(cuMemAlloc_v2(&p, 100));
  OK(cuCtxPushCurrent_v2(b));
  OK(cuCtxDestroy_v2(b));
  OK(cuCtxGetCurrent(&c));
  CHECK(c == a);
  OK(cuCtxDestroy_v2(a));
  EXPECT(cuMemAlloc_v2(&p, 100), 201);
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  CHECK(primary == again);
  CHECK(pthread_create(&thread, NULL, other_thread, primary) == 0);
  pthread_join(thread, NULL);
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  puts("contexts: a stack");
  return 0;
}
