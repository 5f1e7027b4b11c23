/* A program over the driver that does a little, which unloads modules while its other threads launch their
 * kernels, and starts processes meanwhile, which end at once or become another program: each of its launches
 * succeeds once in the driver, or was of a module that was gone. `race tuned`: heddle may launch more. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "order.h"

enum { THREADS = 3, MODULES = 60, FORK_EVERY = 12 };

static _Atomic(cu_function) kernel; /* of the module that was loaded last */
static atomic_bool over;
static atomic_ulong launched, gone, strange;

static void *launch_on(void *arg) {
  uint64_t out, count = 512;
  void *params[] = {&out, &count};
  if (cuMemAlloc_v2(&out, 64) != 0) exit(1);
  while (!over) {
    const int r = cuLaunchKernel(kernel, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    if (r == 0)
      launched++;
    else if (r == FAKE_GONE)
      gone++;
    else
      strange++;
  }
  cuMemFree_v2(out);
  return arg;
}

static int start_another(int k) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    if (k % (2 * FORK_EVERY)) execl("/bin/true", "true", (char *)NULL);
    exit(0);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv) {
  const bool tuned = argc > 1 && strcmp(argv[1], "tuned") == 0;
  pthread_t threads[THREADS];
  cuInit(0);
  for (int k = 0; k < MODULES; k++) {
    cu_function f;
    cu_module module;
    const unsigned long before = launched;
    if (cuModuleLoadData(&module, k % 2 ? PTX_ORDER : PTX_COUNTING) ||
        cuModuleGetFunction(&f, module, "order"))
      return 1;
    kernel = f;
    for (int i = 0; k == 0 && i < THREADS; i++)
      if (pthread_create(&threads[i], NULL, launch_on, NULL) != 0) return 1;
    while (launched < before + 2 * THREADS) sched_yield();
    if (k % FORK_EVERY == 0 && !start_another(k)) return 2;
    if (cuModuleUnload(module)) return 1;
  }
  over = true;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  cuCtxSynchronize();
  if (strange || (tuned ? launched > fake_launches() : launched != fake_launches())) {
    printf("%lu launches for %lu, %lu of what was gone, %lu others failed\n", fake_launches(), launched, gone,
           strange);
    return 1;
  }
  if (!tuned && fake_held() != 0) {
    printf("the driver holds %ld things\n", fake_held());
    return 1;
  }
  printf("%lu launches, %lu of what was gone\n", launched, gone);
  return 0;
}
