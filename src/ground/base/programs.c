/* Programs of this machine: finding them, running them, folders for what they leave. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/process.h"

extern char **environ;

enum { MAX_OUTPUT = 1 << 20 };

/* ---- Finding ------------------------------------------------------------------------- */

static bool is_program(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool on_path(const char *name, char *out, size_t cap) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
    size_t n = strcspn(p, ":");
    /* An empty or relative entry means the current folder: no place to take compilers from. */
    if (p[0] == '/' && n + strlen(name) + 2 <= cap) {
      memcpy(out, p, n);
      out[n] = '/';
      memcpy(out + n + 1, name, strlen(name) + 1);
      if (is_program(out)) return true;
    }
    p += n + (p[n] == ':');
  }
  return false;
}

bool hd_program_find(const char *const *names, char *out, size_t cap) {
  for (; *names; names++)
    if (on_path(*names, out, cap)) return true;
  out[0] = 0;
  return false;
}

/* ---- Scratch folders --------------------------------------------------------------------- */

hd_status hd_scratch_make(char *out, size_t cap, hd_diag *d) {
  const char *tmp = getenv("TMPDIR");
  int n = snprintf(out, cap, "%s/heddle-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
  if (n < 0 || (size_t)n >= cap) return hd_fail(d, HD_ERR_IO, "TMPDIR's path is too long");
  if (!mkdtemp(out))
    return hd_fail(d, HD_ERR_IO, "cannot make a temporary folder %s: %s", out, strerror(errno));
  return HD_OK;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
  return remove(path);
}

void hd_scratch_remove(const char *folder) {
  if (folder[0]) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- Running ----------------------------------------------------------------------------- */

/* The caller's environment with temporary files in `scratch` and messages in English. */
static char **child_environment(hd_arena *a, const char *scratch) {
  size_t n = 0, kept = 0;
  while (environ[n]) n++;
  char **env = HD_NEW_N(a, n + 3, char *);
  if (!env) return NULL;
  for (size_t i = 0; i < n; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
      env[kept++] = environ[i];
  env[kept++] = hd_arena_printf(a, "TMPDIR=%s", scratch);
  env[kept] = hd_arena_printf(a, "LC_ALL=C");
  return env[kept - 1] && env[kept] ? env : NULL;
}

static void read_log(const char *log, hd_buf *output) {
  hd_file f;
  if (hd_file_open(log, &f, NULL) != HD_OK) return;
  hd_buf_put(output, f.data, f.len < MAX_OUTPUT ? f.len : MAX_OUTPUT);
  hd_file_close(&f);
}

hd_status hd_program_run(const char *const *argv, const char *scratch, unsigned seconds, hd_buf *output,
                         int *code, hd_diag *d) {
  hd_arena arena;
  hd_arena_init(&arena);
  char **env = child_environment(&arena, scratch);
  char *log = hd_arena_printf(&arena, "%s/.log", scratch);
  hd_process process = HD_PROCESS_NONE;
  bool ended = false;
  hd_status st = env && log ? HD_OK : hd_nomem(d);
  if (st == HD_OK) {
    unlink(log);
    st = hd_process_spawn(argv, env, log, &process, d);
  }
  if (st == HD_OK) st = hd_process_wait(&process, seconds, &ended, code, d);
  hd_process_end(&process); /* and what a compiler that ran out of time had started */
  if (st == HD_OK && !ended) st = hd_fail(d, HD_ERR_IO, "%s was stopped after %u seconds", argv[0], seconds);
  if (st == HD_OK) read_log(log, output);
  if (st == HD_OK && output->failed) st = hd_nomem(d);
  hd_arena_free(&arena);
  return st;
}
