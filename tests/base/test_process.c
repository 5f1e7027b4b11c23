/* Work in other processes. */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/process.h"

extern char **environ;

static void echo(void *ctx, int fd) {
  uint64_t v, *add = ctx;
  while (hd_process_receive(fd, &v, sizeof v)) {
    v += *add;
    if (!hd_process_send(fd, &v, sizeof v)) return;
  }
}

static void a_copy_answers_through_its_stream_and_ends_with_it(void **state) {
  uint64_t add = 1000, v;
  hd_process p;
  assert_int_equal(hd_process_fork(echo, &add, &p, NULL), HD_OK);
  for (uint64_t i = 0; i < 100; i++) {
    assert_true(hd_process_send(p.fd, &i, sizeof i));
    assert_true(hd_process_receive(p.fd, &v, sizeof v));
    assert_int_equal(v, i + 1000);
  }
  pid_t pid = p.pid;
  hd_process_end(&p);
  assert_int_equal(p.pid, 0);
  assert_int_equal(kill(pid, 0), -1);
  assert_int_equal(errno, ESRCH);
  hd_process_end(&p); /* none is fine */
}

static void nothing_is_received_from_a_copy_that_is_gone(void **state) {
  uint64_t add = 0, v = 1;
  hd_process p;
  assert_int_equal(hd_process_fork(echo, &add, &p, NULL), HD_OK);
  kill(p.pid, SIGKILL);
  assert_false(hd_process_receive(p.fd, &v, sizeof v));
  hd_process_end(&p);
}

/* Allocates, so that it hangs if the copy found the allocator locked. */
static void echo_allocated(void *ctx, int fd) {
  for (unsigned i = 0; i < 64; i++) free(malloc(16u << (i % 8)));
  echo(ctx, fd);
}

static uint64_t ask(int fd, uint64_t v) {
  assert_true(hd_process_send(fd, &v, sizeof v));
  assert_true(hd_process_receive(fd, &v, sizeof v));
  return v;
}

static void a_keeper_s_copies_follow_one_another(void **state) {
  uint64_t add = 7;
  hd_keeper k;
  assert_int_equal(hd_keeper_open(echo, &add, &k, NULL), HD_OK);
  add = 8; /* the keeper has its own */
  int before = -1;
  for (uint64_t i = 0; i < 20; i++) {
    int fd;
    uint64_t v;
    assert_int_equal(hd_keeper_renew(&k, &fd, NULL), HD_OK);
    assert_int_equal(ask(fd, i), i + 7);
    if (before >= 0) {
      assert_false(hd_process_receive(before, &v, sizeof v)); /* the copy before it has ended */
      close(before);
    }
    before = fd;
  }
  close(before);
  hd_keeper_close(&k);
  hd_keeper_close(&k); /* none is fine */
}

static void a_keeper_that_is_gone_is_an_error(void **state) {
  uint64_t add = 0;
  hd_keeper k;
  hd_diag d = {0};
  int fd;
  assert_int_equal(hd_keeper_open(echo, &add, &k, NULL), HD_OK);
  kill(k.process.pid, SIGKILL);
  assert_int_equal(waitpid(k.process.pid, NULL, 0), k.process.pid);
  assert_int_equal(hd_keeper_renew(&k, &fd, &d), HD_ERR_IO);
  assert_string_equal(d.message, "no process: its keeper is gone");
  hd_keeper_close(&k);
}

static void a_keeper_ends_though_later_copies_hold_its_stream(void **state) {
  uint64_t add = 1;
  hd_keeper first, second;
  int fd;
  assert_int_equal(hd_keeper_open(echo, &add, &first, NULL), HD_OK);
  assert_int_equal(hd_keeper_open(echo, &add, &second, NULL), HD_OK);
  hd_keeper_close(&first);
  assert_int_equal(hd_keeper_renew(&second, &fd, NULL), HD_OK);
  assert_int_equal(ask(fd, 1), 2);
  close(fd);
  hd_keeper_close(&second);
}

enum { KEEPERS = 4 };

static void renew_often(void *ctx, unsigned worker) {
  hd_keeper *keepers = ctx;
  for (unsigned i = 0; i < 50; i++) {
    int fd;
    uint64_t v = i;
    for (unsigned k = 0; k < 64; k++) free(malloc(16u << (k % 8)));
    bool ok = hd_keeper_renew(&keepers[worker], &fd, NULL) == HD_OK && hd_process_send(fd, &v, sizeof v) &&
              hd_process_receive(fd, &v, sizeof v) && v == i + 5;
    if (fd >= 0) close(fd);
    if (!ok) abort(); /* an assertion of another thread than the first would not fail the test */
  }
}

static void copies_made_while_threads_allocate_answer(void **state) {
  uint64_t add = 5;
  hd_keeper keepers[KEEPERS];
  for (unsigned i = 0; i < KEEPERS; i++)
    assert_int_equal(hd_keeper_open(echo_allocated, &add, &keepers[i], NULL), HD_OK);
  assert_true(hd_parallel(KEEPERS, renew_often, keepers));
  for (unsigned i = 0; i < KEEPERS; i++) hd_keeper_close(&keepers[i]);
}

/* Run a shell command for at most so many seconds; returns its output. */
static int run_shell(const char *words, double seconds, bool *ended, hd_buf *said) {
  char log[] = "/tmp/heddle-process-XXXXXX";
  int fd = mkstemp(log), code = -1;
  assert_true(fd >= 0);
  close(fd);
  const char *const argv[] = {"/bin/sh", "-c", words, NULL};
  hd_process p;
  hd_file f;
  assert_int_equal(hd_process_spawn(argv, environ, log, &p, NULL), HD_OK);
  assert_int_equal(hd_process_wait(&p, seconds, ended, &code, NULL), HD_OK);
  hd_process_end(&p);
  assert_int_equal(hd_file_open(log, &f, NULL), HD_OK);
  hd_buf_put(said, f.data, f.len);
  hd_file_close(&f);
  unlink(log);
  return code;
}

static void a_program_gives_its_exit_code_and_all_it_said(void **state) {
  static const struct {
    const char *words, *said;
    int code;
  } cases[] = {{"echo out; echo err >&2; exit 7", "out\nerr\n", 7},
               {"cat; echo no input", "no input\n", 0},
               {"kill -9 $$", "", 128 + 9}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf said = {0};
    bool ended;
    assert_int_equal(run_shell(cases[i].words, 60, &ended, &said), cases[i].code);
    assert_true(ended);
    assert_string_equal(said.data ? said.data : "", cases[i].said);
    hd_buf_free(&said);
  }
}

static void ending_a_program_ends_what_it_started(void **state) {
  hd_buf said = {0};
  bool ended;
  run_shell("sleep 600 & echo $!; wait", 0.5, &ended, &said);
  assert_false(ended);
  pid_t child = said.data ? (pid_t)atoi(said.data) : 0;
  assert_true(child > 0);
  for (int i = 0; i < 600 && kill(child, 0) == 0; i++) usleep(10000); /* until its new parent has seen it */
  assert_int_equal(kill(child, 0), -1);
  hd_buf_free(&said);
}

static void a_program_that_is_not_there_is_an_error(void **state) {
  const char *const argv[] = {"/no-such-program", NULL};
  hd_process p;
  hd_diag d = {0};
  assert_int_equal(hd_process_spawn(argv, environ, "/dev/null", &p, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "cannot run /no-such-program"));
  hd_process_end(&p);
}

enum { JOBS = 40, DEAD = 7, LATE = 11 };

typedef struct tally {
  unsigned done[JOBS];
  hd_job_end end[JOBS];
  uint64_t answers[JOBS];
} tally;

static void job(void *ctx, size_t i, void *answer) {
  if (i == DEAD) raise(SIGKILL);
  if (i == LATE)
    for (;;) pause();
  *(uint64_t *)answer += i * i;
}

static void done(void *ctx, size_t i, hd_job_end end, const void *answer) {
  tally *t = ctx;
  t->done[i]++;
  t->end[i] = end;
  if (answer) memcpy(&t->answers[i], answer, sizeof t->answers[i]);
}

static void every_job_ends_once_and_answers_unless_it_dies_or_is_late(void **state) {
  static const size_t at_once[] = {3, 0, 1000};
  for (size_t k = 0; k < sizeof at_once / sizeof *at_once; k++) {
    tally t = {0};
    const hd_jobs jobs = {.n = JOBS,
                          .at_once = at_once[k],
                          .seconds = 2,
                          .answer_bytes = sizeof(uint64_t),
                          .work = job,
                          .done = done,
                          .ctx = &t};
    assert_int_equal(hd_jobs_run(&jobs, NULL), HD_OK);
    for (size_t i = 0; i < JOBS; i++) {
      assert_int_equal(t.done[i], 1);
      assert_int_equal(t.end[i], i == DEAD ? HD_JOB_DIED : i == LATE ? HD_JOB_LATE : HD_JOB_ANSWERED);
      assert_int_equal(t.answers[i], i == DEAD || i == LATE ? 0 : i * i);
    }
  }
  assert_int_equal(hd_jobs_run(&(hd_jobs){.answer_bytes = 8}, NULL), HD_OK); /* none */
}

static void begin_what_waits(void *ctx, int fd) {
  const pid_t own = getpid();
  if (fork() == 0) {
    hd_process_end_with(own);
    hd_process_send(fd, "b", 1);
  }
  for (;;) pause();
}

/* Both hold the stream, which ends with the later one. */
static void what_a_process_started_ends_with_it(void **state) {
  hd_process p;
  char begun;
  hd_diag d = {0};
  assert_int_equal(hd_process_fork(begin_what_waits, NULL, &p, &d), HD_OK);
  assert_true(hd_process_receive(p.fd, &begun, 1));
  kill(p.pid, SIGKILL);
  alarm(60);
  assert_false(hd_process_receive(p.fd, &begun, 1));
  alarm(0);
  hd_process_end(&p);
}

#ifndef __SANITIZE_THREAD__
/* ---- Unseen ---- */

static sig_atomic_t volatile signals;
static void count(int signal) { signals += signal == SIGCHLD; }

typedef struct unseen_run {
  const char *const *argv;
  const char *scratch;
  unsigned seconds;
  hd_status st;
  int code;
  hd_buf output;
  atomic_bool ended;
} unseen_run;

/* In a thread, while the process asks for its children. */
static void *run_unseen(void *ctx) {
  unseen_run *r = ctx;
  r->st = hd_program_run_unseen(r->argv, r->scratch, r->seconds, &r->output, &r->code, NULL);
  atomic_store(&r->ended, true);
  return NULL;
}

/* Runs a shell's command; false: this process has seen a child. */
static bool runs_unseen(const char *command, unsigned seconds, unseen_run *r) {
  const char *argv[] = {"/bin/sh", "-c", command, NULL};
  char scratch[4096];
  pthread_t thread;
  bool seen = false;
  *r = (unseen_run){.argv = argv, .scratch = scratch, .seconds = seconds, .code = -1};
  assert_int_equal(hd_scratch_make(scratch, sizeof scratch, NULL), HD_OK);
  signals = 0;
  assert_int_equal(pthread_create(&thread, NULL, run_unseen, r), 0);
  while (!atomic_load(&r->ended)) seen |= waitpid(-1, NULL, WNOHANG) != -1;
  pthread_join(thread, NULL);
  seen |= waitpid(-1, NULL, WNOHANG) != -1 || signals;
  hd_scratch_remove(scratch);
  return !seen;
}

static void a_program_that_is_unseen_is_no_child(void **state) {
  static void (*const handlers[])(int) = {count, SIG_IGN, SIG_DFL};
  static const struct {
    const char *command, *output;
    int code;
  } cases[] = {
      {"printf all; printf errors >&2", "allerrors", 0},
      {"exit 3", "", 3},
      {"kill -9 $$", "", 128 + SIGKILL},
      {"/bin/sh -c 'exit 5'; echo $?", "5\n", 0}, /* it waits for children of its own */
      {"echo ${LD_PRELOAD-none}", "none\n", 0},
      {"ls /proc/self/fd | wc -l", "4\n", 0}, /* 0, 1, 2, and the folder's */
  };
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  setenv("LD_PRELOAD", "", 1);
  for (size_t h = 0; h < sizeof handlers / sizeof *handlers; h++) {
    signal(SIGCHLD, handlers[h]);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      unseen_run r;
      if (!runs_unseen(cases[k].command, 20, &r)) fail_msg("%s: a child was seen", cases[k].command);
      const char *output = r.output.data ? r.output.data : "";
      if (r.st != HD_OK || r.code != cases[k].code || strcmp(output, cases[k].output) != 0)
        fail_msg("%s: code %d, '%s'", cases[k].command, r.code, output);
      hd_buf_free(&r.output);
    }
  }
  signal(SIGCHLD, SIG_DFL);
  unsetenv("LD_PRELOAD");
  close(fds[0]);
  close(fds[1]);
}

static void a_program_that_is_unseen_ends_in_time(void **state) {
  unseen_run r;
  assert_true(runs_unseen("exec sleep 60", 1, &r));
  assert_int_equal(r.code, 128 + SIGALRM);
  hd_buf_free(&r.output);
}

static void one_that_is_not_there_says_so(void **state) {
  const char *argv[] = {"/nowhere/at/all", NULL};
  char scratch[4096];
  int code = 0;
  hd_buf output = {0};
  assert_int_equal(hd_scratch_make(scratch, sizeof scratch, NULL), HD_OK);
  assert_int_equal(hd_program_run_unseen(argv, scratch, 5, &output, &code, NULL), HD_OK);
  assert_int_equal(code, 127);
  hd_buf_free(&output);
  hd_scratch_remove(scratch);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a copy answers through its stream, and ends with it",
                a_copy_answers_through_its_stream_and_ends_with_it),
      BEHAVIOUR("nothing is received from a copy that is gone", nothing_is_received_from_a_copy_that_is_gone),
      BEHAVIOUR("a keeper's copies follow one another", a_keeper_s_copies_follow_one_another),
      BEHAVIOUR("a keeper that is gone is an error", a_keeper_that_is_gone_is_an_error),
      BEHAVIOUR("a keeper ends though later copies hold its stream",
                a_keeper_ends_though_later_copies_hold_its_stream),
      BEHAVIOUR("copies made while threads allocate answer", copies_made_while_threads_allocate_answer),
      BEHAVIOUR("a program gives its exit code and all it said",
                a_program_gives_its_exit_code_and_all_it_said),
      BEHAVIOUR("ending a program ends what it started", ending_a_program_ends_what_it_started),
      BEHAVIOUR("what a process started ends with it", what_a_process_started_ends_with_it),
      BEHAVIOUR("a program that is not there is an error", a_program_that_is_not_there_is_an_error),
#ifndef __SANITIZE_THREAD__ /* there it is a child */
      BEHAVIOUR("a program that is unseen is no child", a_program_that_is_unseen_is_no_child),
      BEHAVIOUR("a program that is unseen ends in time", a_program_that_is_unseen_ends_in_time),
      BEHAVIOUR("one that is not there says so", one_that_is_not_there_says_so),
#endif
      BEHAVIOUR("every job ends once, and answers unless it dies or is late",
                every_job_ends_once_and_answers_unless_it_dies_or_is_late),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
