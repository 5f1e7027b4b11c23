/* heddle/work.h: many items of work with one result, done by one process or many, at once or bit by bit.
 *
 * A piece of work is a number of items. Each has an answer, some bytes, that follow from the item alone; the
 * result is made of all answers in the items' order, and so is the same wherever and whenever each was found.
 * A journal is a file of answers: it grows by one as each is found, and an answer that was cut off does not
 * count. A run takes over a journal's answers instead of working them out; a run of one part (of a shard)
 * only adds to its journal, and a run over the journals of all parts has nothing left to work out. */
#ifndef HEDDLE_WORK_H
#define HEDDLE_WORK_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A process that works with a device of its own; zero: without a device. */
typedef struct hd_worker {
  char kind[192]; /* of device: answers of different kinds must not be mixed */
  char unit[48];  /* the very device, which no two workers may share: a GPU's UUID */
} hd_worker;

typedef struct hd_work {
  hd_digest identity;  /* a digest of everything that answers follow from: the program's version, its words,
                          the data */
  size_t n;            /* items */
  const double *costs; /* of each item, in any unit; NULL: all are equal. Costly items are begun first */
  unsigned threads;    /* that call `item` at the same time; 0: 1 */
  /* Append the item's answer; thread < threads. */
  hd_status (*item)(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d);
  /* Take an answer of this run or another: each item's once, in the items' order, from one thread at a time.
   * The bytes are not aligned. Not called in a run of a part. */
  hd_status (*take)(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d);
  void *ctx;
  void (*progress)(void *ctx, size_t done, size_t n); /* may be NULL; one thread at a time */
  void *progress_ctx;
  /* Prepare what all items need, with so many threads, before copies of this process do items. A failure
   * shows again in the first item. Not called without copies; NULL: there is nothing to prepare. */
  void (*prepare)(void *ctx, unsigned threads);
  /* True of an item whose answer is known from elsewhere: it is not worked out, and taken with no bytes.
   * NULL: there are no such items. */
  bool (*known)(void *ctx, size_t i);
  /* A second opinion, if a pool has two workers that can give one: `doubted` says that an answer needs it,
   * and another worker's `second` appends the answer that takes its place. NULL: there is no second opinion.
   */
  bool (*doubted)(void *ctx, const void *answer, size_t len);
  hd_status (*second)(void *ctx, size_t i, const void *first, size_t len, hd_buf *answer, hd_diag *d);
  hd_worker worker; /* this process, as a worker */
  bool mixed;       /* workers of several kinds may work together */
} hd_work;

typedef hd_status hd_work_done(void *ctx, size_t item, const void *answer, size_t len, hd_diag *d);
/* Other workers that do items. */
typedef struct hd_work_pool {
  void *ctx;
  /* Have these n items done, todo[0] first, and call `done` for each once. */
  hd_status (*run)(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                   void *done_ctx, hd_diag *d);
} hd_work_pool;

/* How it is done; zero: by this process, all of it, without a journal. */
typedef struct hd_work_how {
  const char *journal; /* path; NULL: none */
  bool resume;         /* take over its answers, if it is there; else it must not be */
  uint32_t shard,
      shards; /* do part number `shard`, from 1, of so many; shards 0: all. Parts have about the same cost */
  const char *const *command; /* words of the command line that does all of it, kept in the journal */
  size_t n_words;
  const char *const *parts; /* journals that together have all answers; nothing is worked out */
  size_t n_parts;
  const hd_work_pool *pool; /* NULL: threads of this process */
  int stream; /* do the items that come through it, as a worker of a pool (see below); 0: none */
  /* A pool's, whose workers are copies of this process: prepares the work, copies the process, and returns in
   * each copy with the copy's own stream, or below 0 if there is nothing to do. NULL: there are no copies.
   */
  int (*divide)(void *ctx, const hd_work *w);
  void *divide_ctx;
  uint32_t local; /* the worker's number on its machine: that of its GPU, if each has its own */
} hd_work_how;

/* Do the work as `how` says. *whole: every answer was taken. It is false after HD_OK where only a part was to
 * be done. HD_ERR_USAGE: the journal is there already or is one of other work; answers are missing. A failing
 * item ends the run; answers found before it stay in the journal. */
HD_OWN hd_status hd_work_run(const hd_work *w, const hd_work_how *how, bool *whole, hd_diag *d);

/* ---- Workers of a pool --------------------------------------------------------------------------- */

/* A worker sends a hello through its stream; then orders come through it, `threads` of them at once, and each
 * is followed by its answer: this head, and `len` bytes, of the answer or, if the status is not HD_OK, of an
 * hd_diag. The stream's end is the worker's. */
typedef struct hd_work_hello {
  hd_digest identity;
  uint64_t n, threads;
  hd_worker worker;
} hd_work_hello;
typedef struct hd_work_order {
  uint64_t item;
  uint64_t second, len; /* 1: a second opinion on the `len` bytes that follow, a first answer; 0, 0: no */
} hd_work_order;
typedef struct hd_work_answer {
  uint64_t item, len;
  uint64_t second; /* as the order's */
  uint64_t status; /* hd_status */
} hd_work_answer;

/* ---- Journals and parts ----------------------------------------------------------------------------- */

/* The words of the command that made a journal, of the arena. */
HD_OWN hd_status hd_journal_command(const char *path, hd_arena *a, const char *const **words, size_t *n,
                                    hd_diag *d);

/* The command that does all of it, from a command line that does a part: without --shard, --journal and
 * --resume. The words are those given; the array is of the arena. */
HD_OWN hd_status hd_work_command(const char *const *words, size_t n, hd_arena *a, hd_work_how *out,
                                 hd_diag *d);

/* "2/8": shard 2 of 8; "auto": from the environment of a Slurm array (SLURM_ARRAY_TASK_ID, _MIN, _MAX,
 * _STEP). HD_ERR_USAGE. */
HD_OWN hd_status hd_shard_parse(const char *text, uint32_t *shard, uint32_t *shards, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
