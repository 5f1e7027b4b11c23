/* Programs of this machine: finding them, running them, folders for what they leave. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The caller's environment with temporary files in `scratch` and messages in English; `bare`: without what is
 * loaded into every program. */
static char **child_environment(hd_arena *a, const char *scratch, bool bare) {
  size_t n = 0, kept = 0;
  while (environ[n]) n++;
  char **env = HD_NEW_N(a, n + 3, char *);
  if (!env) return NULL;
  for (size_t i = 0; i < n; i++)
    if (!begins(environ[i], "TMPDIR=") && !begins(environ[i], "LC_ALL=") &&
        !(bare && begins(environ[i], "LD_PRELOAD=")))
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
  char **env = child_environment(&arena, scratch, false);
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

/* ---- Unseen ------------------------------------------------------------------------------ */

#ifdef __SANITIZE_THREAD__ /* its run time takes the copy that shares memory for this process */
hd_status hd_program_run_unseen(const char *const *argv, const char *scratch, unsigned seconds,
                                hd_buf *output, int *code, hd_diag *d) {
  return hd_program_run(argv, scratch, seconds, output, code, d);
}
#else
/* Two steps, as whoever starts a program is told of its end. The first one shares this process's memory, ends
 * without a signal, and is the parent of the second, which becomes the program. */
typedef struct unseen {
  const char *const *argv;
  char *const *env;
  const char *log;
  unsigned seconds;
  char *stacks;
  int status; /* as waitpid has it; -1: it did not start */
} unseen;

enum { STACK = 1 << 16 };

/* The handlers are the program's, and would run here in memory that it shares. */
static void reset_signals(void) {
  const struct sigaction normal = {.sa_handler = SIG_DFL};
  for (int k = 1; k < NSIG; k++) (void)sigaction(k, &normal, NULL);
}

static int become(void *ctx) {
  const unseen *u = ctx;
  sigset_t none;
  const int from = open("/dev/null", O_RDONLY), to = open(u->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (from < 0 || to < 0 || dup2(from, 0) < 0 || dup2(to, 1) < 0 || dup2(to, 2) < 0) _exit(127);
  (void)close_range(3, ~0U, 0); /* a pipe's end that the program closes must be closed */
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  alarm(u->seconds);
  execve(u->argv[0], (char *const *)(uintptr_t)u->argv, u->env);
  _exit(127);
}

static int watch(void *ctx) {
  unseen *u = ctx;
  reset_signals();
  const pid_t pid = clone(become, u->stacks + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, u);
  while (pid > 0 && waitpid(pid, &u->status, 0) < 0)
    if (errno != EINTR) break;
  _exit(0);
}

hd_status hd_program_run_unseen(const char *const *argv, const char *scratch, unsigned seconds,
                                hd_buf *output, int *code, hd_diag *d) {
  hd_arena arena;
  hd_arena_init(&arena);
  char *log = hd_arena_printf(&arena, "%s/.log", scratch);
  unseen u = {.argv = argv, .log = log, .seconds = seconds, .status = -1};
  u.env = child_environment(&arena, scratch, true);
  u.stacks = (char *)HD_NEW_N(&arena, 2 * STACK / sizeof(max_align_t), max_align_t);
  hd_status st = log && u.env && u.stacks ? HD_OK : hd_nomem(d);
  if (st == HD_OK) {
    sigset_t all, before;
    unlink(log);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = clone(watch, u.stacks + (size_t)2 * STACK, CLONE_VM | CLONE_VFORK, &u);
    while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0 || u.status == -1) st = hd_fail(d, HD_ERR_IO, "cannot run %s", argv[0]);
  }
  if (st == HD_OK) {
    *code = WIFEXITED(u.status) ? WEXITSTATUS(u.status) : 128 + WTERMSIG(u.status);
    read_log(log, output);
    if (output->failed) st = hd_nomem(d);
  }
  hd_arena_free(&arena);
  return st;
}
#endif
