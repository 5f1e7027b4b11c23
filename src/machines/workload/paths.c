/* Paths of files that a workload names. */
#include <string.h>
#include <sys/stat.h>

#include "workload/workload.h"

char *wl_join(hd_arena *a, const char *folder, const char *name) {
  if (name[0] == '/' || strcmp(folder, ".") == 0) return hd_arena_strndup(a, name, strlen(name));
  size_t n = strlen(folder);
  return hd_arena_printf(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

bool wl_is_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}
