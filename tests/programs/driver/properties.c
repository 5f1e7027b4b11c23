/* cudaGetDeviceProperties of each version of the runtime fills as many bytes as that version's structure has.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "cu.h"

enum { ROOM = 4096, GUARD = 0xab };

/* sizeof(cudaDeviceProp) in the headers of CUDA 11.8, 12 and 13. */
static const struct {
  const char *file, *function;
  size_t bytes;
} versions[] = {{"libcudart.so.11.0", "cudaGetDeviceProperties", 728},
                {"libcudart.so.12", "cudaGetDeviceProperties_v2", 1032},
                {"libcudart.so.13", "cudaGetDeviceProperties", 1008}};

int main(void) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    unsigned char out[ROOM];
    size_t touched = ROOM;
    memset(out, GUARD, sizeof out);
    void *library = dlopen(versions[i].file, RTLD_NOW | RTLD_LOCAL);
    if (!library) puts(dlerror());
    CHECK(library);
    int (*get)(void *, int) = (int (*)(void *, int))(uintptr_t)dlsym(library, versions[i].function);
    CHECK(get);
    CHECK(get(out, 0) == 0);
    while (touched && out[touched - 1] == GUARD) touched--;
    printf("%s: %zu bytes\n", versions[i].file, touched);
    CHECK(touched == versions[i].bytes);
  }
  return 0;
}
