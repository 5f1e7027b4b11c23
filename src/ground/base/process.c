#include "heddle/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Streams ------------------------------------------------------------------------------- */

bool hd_process_send(int fd, const void *data, size_t n) {
  for (const char *at = data; n;) {
    ssize_t done = send(fd, at, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    n -= (size_t)done;
  }
  return true;
}

bool hd_process_receive(int fd, void *data, size_t n) {
  for (char *at = data; n;) {
    ssize_t done = recv(fd, at, n, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    n -= (size_t)done;
  }
  return true;
}

/* ---- Beginning and ending -------------------------------------------------------------------- */

void hd_process_end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL); /* it ended before that */
}

hd_status hd_process_fork(void (*fn)(void *ctx, int fd), void *ctx, hd_process *out, hd_diag *d) {
  int ends[2];
  *out = HD_PROCESS_NONE;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return hd_fail(d, HD_ERR_IO, "no stream to a process: %s", strerror(errno));
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    fn(ctx, ends[1]);
    _exit(0); /* unflushed output belongs to the parent */
  }
  int e = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    errno = e;
    return hd_fail(d, HD_ERR_IO, "no process: %s", strerror(e));
  }
  *out = (hd_process){.pid = pid, .fd = ends[0]};
  return HD_OK;
}

/* An error's number. */
static int spawn(const char *const *argv, char *const *env, const char *log, pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  sigset_t none;
  sigemptyset(&none);
  int err = posix_spawn_file_actions_init(&files);
  if (err) return err;
  if ((err = posix_spawnattr_init(&attr)) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return err;
  }
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attr, 0);
  posix_spawnattr_setsigmask(&attr, &none);
  if ((err = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
      (err = posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600)) == 0 &&
      (err = posix_spawn_file_actions_adddup2(&files, 1, 2)) == 0)
    err = posix_spawn(pid, argv[0], &files, &attr, (char *const *)argv, env);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&files);
  return err;
}

hd_status hd_process_spawn(const char *const *argv, char *const *env, const char *log, hd_process *out,
                           hd_diag *d) {
  *out = (hd_process){.fd = -1, .group = true};
  int err = spawn(argv, env, log, &out->pid);
  if (!err) return HD_OK;
  out->pid = 0;
  return hd_fail(d, HD_ERR_IO, "cannot run %s: %s", argv[0], strerror(err));
}

hd_status hd_process_wait(hd_process *p, double seconds, bool *ended, int *code, hd_diag *d) {
  double deadline = hd_seconds() + seconds;
  long pause = 500000; /* nanoseconds, growing to 20 ms */
  *ended = false;
  for (;;) {
    int status;
    pid_t got = waitpid(p->pid, &status, WNOHANG);
    if (got == p->pid) {
      *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      *ended = true;
      p->pid = 0;
      return HD_OK;
    }
    if (got < 0 && errno != EINTR) {
      p->pid = 0;
      return hd_fail(d, HD_ERR_IO, "cannot wait for a process: %s", strerror(errno));
    }
    if (hd_seconds() > deadline) return HD_OK;
    nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    pause = pause < 10000000 ? pause * 2 : 20000000;
  }
}

void hd_process_end(hd_process *p) {
  if (p->pid > 0) {
    kill(p->group ? -p->pid : p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  if (p->fd >= 0) close(p->fd);
  *p = HD_PROCESS_NONE;
}

/* ---- Many jobs --------------------------------------------------------------------------------- */

typedef struct worker {
  hd_process process;
  size_t job, got; /* bytes of the answer so far */
  double deadline;
  char *answer;
} worker;

typedef struct child {
  const hd_jobs *jobs;
  size_t job;
  void *answer;
} child;

static void work(void *ctx, int fd) {
  child *c = ctx;
  c->jobs->work(c->jobs->ctx, c->job, c->answer);
  hd_process_send(fd, c->answer, c->jobs->answer_bytes);
}

static bool begin(const hd_jobs *j, size_t job, worker *w) {
  char *answer = w->answer;
  child c = {j, job, answer};
  memset(answer, 0, j->answer_bytes);
  *w = (worker){.job = job, .deadline = hd_seconds() + j->seconds, .answer = answer};
  return hd_process_fork(work, &c, &w->process, NULL) == HD_OK;
}

/* Take over what the worker has sent since. True: it is at its end. */
static bool follow(const hd_jobs *j, worker *w, hd_job_end *end) {
  struct pollfd p = {.fd = w->process.fd, .events = POLLIN};
  if (poll(&p, 1, 0) > 0) {
    ssize_t k = recv(p.fd, w->answer + w->got, j->answer_bytes - w->got, 0);
    if (k < 0 && errno == EINTR) return false;
    if (k > 0) w->got += (size_t)k;
    *end = w->got == j->answer_bytes ? HD_JOB_ANSWERED : HD_JOB_DIED;
    return k <= 0 || *end == HD_JOB_ANSWERED;
  }
  *end = HD_JOB_LATE;
  return hd_seconds() >= w->deadline;
}

static void run(const hd_jobs *j, worker *workers, size_t at_once) {
  enum { POLL_MS = 5 };
  size_t begun = 0, n = 0;
  while (begun < j->n || n) {
    for (; n < at_once && begun < j->n; begun++) {
      if (begin(j, begun, &workers[n]))
        n++;
      else
        j->done(j->ctx, begun, HD_JOB_UNBEGUN, NULL);
    }
    poll(NULL, 0, POLL_MS);
    for (size_t i = 0; i < n;) {
      worker *w = &workers[i], ended = *w;
      hd_job_end end;
      if (!follow(j, w, &end)) {
        i++;
        continue;
      }
      hd_process_end(&w->process);
      j->done(j->ctx, w->job, end, end == HD_JOB_ANSWERED ? w->answer : NULL);
      workers[i] = workers[--n];
      workers[n].answer = ended.answer; /* every worker keeps memory of its own */
    }
  }
}

hd_status hd_jobs_run(const hd_jobs *j, hd_diag *d) {
  size_t at_once = j->at_once ? j->at_once : hd_cpu_count(), bytes;
  if (at_once > j->n) at_once = j->n;
  worker *workers = calloc(at_once + 1, sizeof *workers);
  char *answers = hd_mul_size(at_once + 1, j->answer_bytes, &bytes) ? calloc(1, bytes) : NULL;
  hd_status st = workers && answers ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < at_once; i++) workers[i].answer = answers + i * j->answer_bytes;
  fflush(NULL); /* else a copy could print this process' unflushed text */
  if (st == HD_OK) run(j, workers, at_once);
  free(answers);
  free(workers);
  return st;
}
