/* Folders: the cache folder, whose files heddle can make again, and folders for results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/base.h"
#include "heddle/trusted.h"

/* Make every missing folder of an absolute path. */
static bool make_folders(char *path) {
  for (char *p = path + 1;; p++) {
    if (*p && *p != '/') continue;
    char c = *p;
    *p = 0;
    bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
    *p = c;
    if (!ok) return false;
    if (!c) return true;
  }
}

hd_status hd_trusted_cache(char *out, size_t cap, hd_diag *d) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = -1;
  if (xdg && xdg[0] == '/')
    n = snprintf(out, cap, "%s/heddle", xdg);
  else if (home && home[0] == '/')
    n = snprintf(out, cap, "%s/.cache/heddle", home);
  hd_status st =
      n >= 0 && (size_t)n < cap && make_folders(out) && access(out, W_OK | X_OK) == 0
          ? hd_trusted_folder(out, false, d)
          : hd_fail(d, HD_ERR_IO, "there is no folder to keep files in: set HOME or XDG_CACHE_HOME");
  if (st != HD_OK) out[0] = 0;
  return st;
}

void hd_cache_folder(char *out, size_t cap) { hd_trusted_cache(out, cap, NULL); }

/* The folder that it is in, if it has to be made. */
static void make_parent(const char *folder) {
  const size_t n = strlen(folder);
  size_t end = n;
  while (end && folder[end - 1] == '/') end--;
  while (end && folder[end - 1] != '/') end--;
  while (end && folder[end - 1] == '/') end--;
  char *parent = end ? strndup(folder, end) : NULL;
  if (parent) hd_folder_make(parent, NULL);
  free(parent);
}

hd_status hd_folder_make(const char *folder, hd_diag *d) {
  struct stat s;
  if (mkdir(folder, 0755) == 0) return HD_OK;
  int e = errno;
  if (e == ENOENT && folder[0]) {
    make_parent(folder);
    if (mkdir(folder, 0755) == 0) return HD_OK;
    e = errno;
  }
  if (e == EEXIST && stat(folder, &s) == 0) {
    if (!S_ISDIR(s.st_mode))
      e = ENOTDIR;
    else if (access(folder, W_OK | X_OK) == 0)
      return HD_OK;
    else
      e = errno;
  }
  return hd_fail(d, HD_ERR_IO, "cannot write in the folder %s: %s", folder, strerror(e));
}
