/* local LIBRARY: a program that knows nothing of the driver opens a library that is linked with it, for
 * itself alone, as Python opens modules: no search from elsewhere sees the library or the driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int (*use)(void);
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL,
       *address = library ? dlsym(library, "use") : NULL;
  if (!address) return 2;
  memcpy(&use, &address, sizeof use);
  return use();
}
