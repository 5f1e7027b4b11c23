/* A program over the driver that does nothing, with a thread that is in a call which does not end before the
 * launches have been made: none of them may wait for it for good, or be tuned. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "order.h"

static atomic_int flag;

/* Looked up or linked: both ways lead through the gate. */
static void *wait_in_driver(void *looked_up) {
  fn_cuMemcpyBatchAsync *wait = cuMemcpyBatchAsync;
  if (looked_up) memcpy(&wait, &looked_up, sizeof wait);
  return wait((cu_address *)(void *)&flag, FAKE_WORDS) == 0 ? NULL : &flag;
}

static int launch(cu_function f, uint64_t out, unsigned n, int times) {
  uint64_t count = 512;
  void *params[] = {&out, &count};
  int r = 0;
  for (int k = 0; k < times; k++) r |= cuLaunchKernel(f, n, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
  return r;
}

int main(void) {
  cu_function f;
  cu_module module;
  uint64_t out;
  pthread_t thread;
  void *failed, *driver = dlopen("libprogram_fake.so", RTLD_LAZY | RTLD_NOLOAD);
  cuInit(0);
  if (!driver || cuMemAlloc_v2(&out, 64) || cuModuleLoadData(&module, PTX_ORDER) ||
      cuModuleGetFunction(&f, module, "order"))
    return 1;
  for (int k = 0; k < 2; k++) {
    flag = 0;
    pthread_create(&thread, NULL, wait_in_driver, k ? dlsym(driver, "cuMemcpyBatchAsync") : NULL);
    while (flag != FAKE_WAITS) continue;
    if (launch(f, out, 8 + k, 2)) return 1;
    flag = 0;
    pthread_join(thread, &failed);
    if (failed) return 2;
  }
  return 0;
}
