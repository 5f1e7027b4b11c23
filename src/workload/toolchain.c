/* Programs of this machine: finding them, running them, reading their errors. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/process.h"
#include "workload/workload.h"

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

bool wl_find_program(const char *const *names, char *out, size_t cap) {
  for (; *names; names++)
    if (on_path(*names, out, cap)) return true;
  out[0] = 0;
  return false;
}

void wl_hash_compiler(hd_digest *h, const char *path) {
  static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                                          "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH"};
  char *real = realpath(path, NULL);
  struct stat st = {0};
  hd_digest_text(h, real ? real : path);
  if (stat(path, &st) == 0) {
    int64_t identity[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    hd_digest_bytes(h, identity, sizeof identity);
  }
  free(real);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *v = getenv(variables[i]);
    hd_digest_text(h, v ? v : "");
  }
}

/* ---- Scratch folders --------------------------------------------------------------------- */

hd_status wl_scratch_make(char *out, size_t cap, hd_diag *d) {
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

void wl_scratch_remove(const char *folder) {
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

hd_status wl_run(const char *const *argv, const char *scratch, unsigned seconds, hd_buf *output, int *code,
                 hd_diag *d) {
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

/* ---- Errors ---------------------------------------------------------------------------------- */

static uint32_t number_at(const char *s, const char *end, const char **after) {
  uint64_t v = 0;
  const char *p = s;
  for (; p < end && *p >= '0' && *p <= '9'; p++) v = v < UINT32_MAX / 10 ? v * 10 + (uint64_t)(*p - '0') : v;
  *after = p;
  return (uint32_t)v;
}

/* "FILE:LINE:COLUMN: " and "FILE(LINE): " in front of an error. */
static bool place(const char *line, const char *end, hd_diag *d) {
  for (const char *p = line; p < end; p++) {
    if ((*p != ':' && *p != '(') || p == line) continue;
    const char *q;
    uint32_t row = number_at(p + 1, end, &q), column = 0;
    if (q == p + 1 || q >= end || *q != (*p == '(' ? ')' : ':')) continue;
    if (*p == ':') column = number_at(q + 1, end, &q);
    snprintf(d->file, sizeof d->file, "%.*s", (int)(p - line), line);
    d->line = row;
    d->column = column ? column : 1;
    return true;
  }
  return false;
}

hd_status wl_compiler_error(const char *program, const char *output, int code, hd_diag *d) {
  const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
  for (const char *line = output ? output : ""; *line;) {
    size_t n = strcspn(line, "\n");
    const char *error = memmem(line, n, "error", 5), *fatal = memmem(line, n, "fatal", 5);
    const char *at = error && fatal ? (error < fatal ? error : fatal) : error ? error : fatal;
    if (at) {
      const char *colon = memchr(at, ':', (size_t)(line + n - at)), *text = colon ? colon + 1 : at;
      while (text < line + n && *text == ' ') text++;
      hd_fail(d, HD_ERR_INPUT, "%.*s (%s)", (int)(line + n - text), text, name);
      if (d) place(line, at, d);
      return HD_ERR_INPUT;
    }
    line += n + (line[n] == '\n');
  }
  return hd_fail(d, HD_ERR_INPUT, "%s failed with status %d and no error message", name, code);
}
