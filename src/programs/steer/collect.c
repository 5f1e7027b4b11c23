/* Verdicts that programs have found while they ran: files, each a line, until a command of heddle's sees
 * them. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heddle/steer.h"
#include "heddle/trusted.h"

#define ENDING ".found"

static hd_status take(hd_store *s, const char *path, hd_diag *d) {
  hd_buf f = {0};
  hd_verdict v;
  /* Another process may have taken it; and one that another user wrote is no verdict. */
  if (hd_trusted_read(path, &f, NULL) != HD_OK) return HD_OK;
  const bool read = f.len && hd_steer_verdict_parse(f.data, f.len - 1, &v);
  hd_buf_free(&f);
  hd_status st = read ? hd_store_put(s, &v, d) : HD_OK;
  if (st == HD_OK) unlink(path);
  return st;
}

hd_status hd_steer_found(char *folder, size_t cap, hd_diag *d) {
  char cache[HD_STEER_PATH / 2];
  hd_cache_folder(cache, sizeof cache);
  if (!cache[0] || snprintf(folder, cap, "%s/run/found", cache) >= (int)cap)
    return hd_fail(d, HD_ERR_IO, "there is no folder for verdicts: set HOME or XDG_CACHE_HOME");
  return HD_OK;
}

hd_status hd_steer_collect(hd_store *s, hd_diag *d) {
  char folder[HD_STEER_PATH - 300], path[HD_STEER_PATH];
  hd_status st = HD_OK;
  DIR *dir = hd_steer_found(folder, sizeof folder, NULL) == HD_OK ? opendir(folder) : NULL;
  for (struct dirent *e; dir && st == HD_OK && (e = readdir(dir));) {
    const size_t n = strlen(e->d_name);
    if (n <= strlen(ENDING) || strcmp(e->d_name + n - strlen(ENDING), ENDING) != 0) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path) st = take(s, path, d);
  }
  if (dir) closedir(dir);
  return st;
}
