/* heddle/process.h: work in processes of its own: copies of this one, and programs.
 *
 * They are for work that only the end of a process stops or cleans up: a compiler, a busy emulator, a driver
 * that lost its context by a fault. Every process here is waited for, and ends at its owner's call to
 * hd_process_end at the latest. */
#ifndef HEDDLE_PROCESS_H
#define HEDDLE_PROCESS_H

#include <sys/types.h>

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_process {
  pid_t pid;  /* 0: none */
  int fd;     /* this end of a stream to a copy; -1 to a program */
  bool group; /* it leads a group: the processes that it started end with it */
} hd_process;
#define HD_PROCESS_NONE ((hd_process){.fd = -1})

/* A copy of this process that runs fn(ctx, fd), fd being its end of a stream to this one, and exits with 0
 * without flushing or freeing anything. The copy lacks this process's other threads, but locks that they held
 * stay locked: a process with threads asks a keeper for its copies. */
HD_OWN hd_status hd_process_fork(void (*fn)(void *ctx, int fd), void *ctx, hd_process *out, hd_diag *d);
/* This process, and the program that it becomes, ends when the process that started it does, however that
 * ends: `parent` is its number. */
HD_OWN void hd_process_end_with(pid_t parent);
/* The program at the path argv[0], with nothing to read and its output, errors included, added to the file
 * `log`. It leads a group of its own. */
HD_OWN hd_status hd_process_spawn(const char *const *argv, char *const *env, const char *log, hd_process *out,
                                  hd_diag *d);
/* Wait until it has ended, for so many seconds. *ended false: it runs on. *code: its exit code, or 128 and
 * the signal's number. */
HD_OWN hd_status hd_process_wait(hd_process *p, double seconds, bool *ended, int *code, hd_diag *d);
/* End the process and its group, whatever it does, and close the stream; also after hd_process_wait. A zero
 * struct is fine. */
HD_OWN void hd_process_end(hd_process *p);

/* A copy made while the process has one thread, which makes further copies when asked, whatever threads this
 * process has by then. One copy lives at a time. */
typedef struct hd_keeper {
  hd_process process; /* its stream carries the ends of the copies' streams */
} hd_keeper;
#define HD_KEEPER_NONE ((hd_keeper){HD_PROCESS_NONE})
HD_OWN hd_status hd_keeper_open(void (*fn)(void *ctx, int fd), void *ctx, hd_keeper *out, hd_diag *d);
/* A new copy that runs fn(ctx, its end); the copy before it is ended first. *fd is this end, for the caller
 * to close. HD_ERR_IO. */
HD_OWN hd_status hd_keeper_renew(hd_keeper *k, int *fd, hd_diag *d);
/* End the keeper and its copy, whatever they do. A zero struct is fine. */
HD_OWN void hd_keeper_close(hd_keeper *k);

/* All n bytes through a stream, or false: the other end is gone. */
HD_OWN bool hd_process_send(int fd, const void *data, size_t n);
HD_OWN bool hd_process_receive(int fd, void *data, size_t n);

/* ---- Programs ------------------------------------------------------------------------------- */

/* The first of the NULL-terminated names that is an executable on the PATH. */
HD_OWN bool hd_program_find(const char *const *names, char *out, size_t cap);
/* Run argv[0] with no input; stdout and stderr together go to *output (at most 1 MB). Temporary
 * files of the program land in `scratch`. After `seconds` it is killed with its children:
 * HD_ERR_IO. A program that ends by itself is HD_OK with its status in *code (128 + signal). */
HD_OWN hd_status hd_program_run(const char *const *argv, const char *scratch, unsigned seconds,
                                hd_buf *output, int *code, hd_diag *d);
/* The same, for a library in a program that is not heddle's: the program is sent no signal for it, no wait
 * for any child of the program's returns it, and of the program's environment it has no LD_PRELOAD. It is
 * killed alone after `seconds`. */
HD_OWN hd_status hd_program_run_unseen(const char *const *argv, const char *scratch, unsigned seconds,
                                       hd_buf *output, int *code, hd_diag *d);
/* A new folder under TMPDIR or /tmp. */
HD_OWN hd_status hd_scratch_make(char *out, size_t cap, hd_diag *d);
HD_OWN void hd_scratch_remove(const char *folder);

/* ---- Many jobs ------------------------------------------------------------------------------ */

typedef enum hd_job_end {
  HD_JOB_ANSWERED,
  HD_JOB_DIED,    /* before it had answered */
  HD_JOB_LATE,    /* it was ended at its deadline */
  HD_JOB_UNBEGUN, /* there was no process for it; errno says why */
} hd_job_end;

typedef struct hd_jobs {
  size_t n;
  size_t at_once;                                    /* processes; 0: one per processor */
  double seconds;                                    /* that each may take */
  size_t answer_bytes;                               /* of each */
  void (*work)(void *ctx, size_t job, void *answer); /* in a process of its own; *answer starts as zeros */
  /* Called in this process, in the order in which jobs end; the answer is NULL unless the job answered. */
  void (*done)(void *ctx, size_t job, hd_job_end end, const void *answer);
  void *ctx;
} hd_jobs;
/* Every job is done once. HD_ERR_NOMEM. */
HD_OWN hd_status hd_jobs_run(const hd_jobs *j, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
