/* base/journal.h: the file of a work's answers.
 *
 * A line that says what it is, then records: a letter, a number, the length of the bytes that follow and a
 * hash of all that. 'w': the identity, of so many items; 'c': a word of the command; 'a': an item's answer. A
 * record that was cut off, or whose bytes were, ends the file: it is as if it had not been begun. */
#ifndef HEDDLE_BASE_JOURNAL_H
#define HEDDLE_BASE_JOURNAL_H

#include "heddle/work.h"

typedef struct journal_answer {
  const char *data; /* NULL: there is none */
  size_t len;
} journal_answer;

/* A journal that is read; its bytes live until it is closed. */
typedef struct journal {
  hd_file file;
  size_t end; /* of the last whole record */
  hd_digest identity;
  size_t n; /* items; 0: not even the head is whole */
} journal;

/* A file that is empty or was cut off within its head is fine. HD_ERR_INPUT: it is no journal. */
hd_status journal_read(const char *path, journal *out, hd_diag *d);
void journal_close(journal *j);
/* Put its answers into answers[0..n), where there is none yet. Numbers beyond n are passed over. */
void journal_answers(const journal *j, journal_answer *answers, size_t n);

/* Open to write, one process at a time. HD_ERR_USAGE: another writes to it; it is there and `resume` is not
 * set. */
hd_status journal_open(const char *path, bool resume, int *fd, hd_diag *d);
/* Keep the first `keep` bytes; of none, write the head. */
hd_status journal_begin(int fd, const char *path, size_t keep, const hd_work *w, const hd_work_how *how,
                        hd_diag *d);
hd_status journal_add(int fd, const char *path, size_t item, const void *answer, size_t len, hd_diag *d);

#endif
