/* order WAY: prints in what order the CTAs of two launches come, of 8 and of 5. WAY is how the driver's entry
 * points are found: `linked`, `dlsym` or `address` (cuGetProcAddress); or, after `linked`: `forked`, a child
 * ends without a word before; `unload`, the module is loaded, used and unloaded many times before, while
 * another thread launches. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../driver/cu.h"
#include "order.h"

/* Those that are found by name. */
static fn_cuModuleLoadData *load = cuModuleLoadData;
static fn_cuModuleGetFunction *get = cuModuleGetFunction;
static fn_cuLaunchKernel *launch = cuLaunchKernel;

static void find(const char *way) {
  void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  fn_cuGetProcAddress_v2 *address;
  void *found[4] = {dlsym(library, "cuGetProcAddress_v2"), dlsym(library, "cuModuleLoadData"),
                    dlsym(library, "cuModuleGetFunction"), dlsym(library, "cuLaunchKernel")};
  memcpy(&address, &found[0], sizeof address);
  CHECK(!dlsym(library, "cuNeverHeardOf"));
  if (strcmp(way, "address") == 0) {
    int status;
    OK(address("cuModuleLoadData", &found[1], 13000, 0, &status));
    OK(address("cuModuleGetFunction", &found[2], 13000, 0, &status));
    OK(address("cuLaunchKernel", &found[3], 13000, 0, &status));
    CHECK(address("cuNeverHeardOf", &found[0], 13000, 0, &status) != 0 || status == 1);
  }
  memcpy(&load, &found[1], sizeof load);
  memcpy(&get, &found[2], sizeof get);
  memcpy(&launch, &found[3], sizeof launch);
}

static void run(cu_function kernel, unsigned n, cu_address out, cu_address count) {
  void *params[] = {&out, &count};
  OK(cuMemsetD32_v2(count, 0, 1));
  OK(launch(kernel, n, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

static void show(cu_function kernel, unsigned n, cu_address out, cu_address count) {
  unsigned order[8];
  run(kernel, n, out, count);
  OK(cuMemcpyDtoH_v2(order, out, n * sizeof *order));
  for (unsigned k = 0; k < n; k++) printf("%u%c", order[k], k + 1 < n ? ' ' : '\n');
}

static cu_context context;
static cu_function first;
static cu_address out, count;

static void *go_on(void *arg) {
  OK(cuCtxSetCurrent(context));
  for (int k = 0; k < 200; k++) {
    void *params[] = {&out, &count};
    OK(launch(first, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  }
  return arg;
}

static void load_again_and_again(void) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, go_on, NULL) == 0);
  for (int k = 0; k < 30; k++) {
    cu_module module;
    cu_function kernel;
    OK(load(&module, PTX_ORDER));
    OK(get(&kernel, module, "order"));
    run(kernel, 8, out, count);
    OK(cuModuleUnload(module));
  }
  pthread_join(other, NULL);
  OK(cuCtxSynchronize());
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "linked";
  cu_module module;
  int status;
  if (strcmp(way, "dlsym") == 0 || strcmp(way, "address") == 0) find(way);
  context = begin();
  OK(load(&module, PTX_ORDER));
  OK(get(&first, module, "order"));
  OK(cuMemAlloc_v2(&out, 32));
  OK(cuMemAlloc_v2(&count, 4));
  if (strcmp(way, "forked") == 0) {
    const pid_t child = fork();
    if (!child) exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  if (strcmp(way, "unload") == 0) load_again_and_again();
  show(first, 8, out, count);
  show(first, 5, out, count);
  OK(cuCtxDestroy_v2(context));
  return 0;
}
