#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files.h"

static const char magic[] = "heddle journal 1\n";

typedef struct record {
  char kind;
  size_t number;
  const char *data;
  size_t len;
} record;

/* ---- Records ------------------------------------------------------------------------------ */

static uint64_t hash_of(const record *r) {
  const uint64_t head[] = {(uint64_t)r->kind, r->number, r->len, hd_hash(r->data, r->len)};
  return hd_hash(head, sizeof head);
}

static void put_record(hd_buf *out, char kind, size_t number, const void *data, size_t len) {
  const record r = {kind, number, data, len};
  hd_buf_printf(out, "%c %zu %zu %016llx\n", kind, number, len, (unsigned long long)hash_of(&r));
  hd_buf_put(out, data, len);
  hd_buf_putc(out, '\n');
}

/* A number of decimal digits and the byte behind it; moves *at. */
static bool get_number(const hd_file *f, size_t *at, size_t end, char behind, size_t *out) {
  const char *text = f->data + *at, *stop = memchr(text, behind, end - *at);
  uint64_t v;
  if (!stop || !hd_parse_u64(text, (size_t)(stop - text), SIZE_MAX, &v)) return false;
  *out = (size_t)v;
  *at += (size_t)(stop - text) + 1;
  return true;
}

/* The record at *at, which moves behind it; false: there is no whole one. */
static bool get_record(const hd_file *f, size_t *at, record *r) {
  enum { HASH = 16 };
  const char *line = f->data + *at, *end_of_line = memchr(line, '\n', f->len - *at);
  char hash[HASH + 1];
  if (!end_of_line || end_of_line - line < 2 || line[1] != ' ') return false;
  const size_t data = (size_t)(end_of_line - f->data) + 1;
  size_t p = *at + 2;
  r->kind = line[0];
  if (!get_number(f, &p, data, ' ', &r->number) || !get_number(f, &p, data, ' ', &r->len)) return false;
  if (p + HASH + 1 != data || r->len >= f->len - data || f->data[data + r->len] != '\n') return false;
  r->data = f->data + data;
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_of(r));
  if (memcmp(hash, f->data + p, HASH) != 0) return false;
  *at = data + r->len + 1;
  return true;
}

/* ---- Reading -------------------------------------------------------------------------------- */

hd_status journal_read(const char *path, journal *out, hd_diag *d) {
  *out = (journal){0};
  hd_status st = hd_file_open(path, &out->file, d);
  if (st != HD_OK) return st;
  const hd_file *f = &out->file;
  const size_t head = f->len < sizeof magic - 1 ? f->len : sizeof magic - 1;
  if (memcmp(f->data, magic, head) != 0) {
    journal_close(out);
    return hd_fail(d, HD_ERR_INPUT, "%s: not a journal of heddle's", path);
  }
  record r;
  size_t at = head;
  if (head < sizeof magic - 1 || !get_record(f, &at, &r) || r.kind != 'w' || r.len != sizeof out->identity)
    return HD_OK;
  memcpy(&out->identity, r.data, r.len);
  out->n = r.number;
  out->end = at;
  while (get_record(f, &at, &r)) out->end = at;
  return HD_OK;
}

void journal_close(journal *j) {
  hd_file_close(&j->file);
  *j = (journal){0};
}

void journal_answers(const journal *j, journal_answer *answers, size_t n) {
  record r;
  for (size_t at = sizeof magic - 1; at < j->end && get_record(&j->file, &at, &r);)
    if (r.kind == 'a' && r.number < n && !answers[r.number].data)
      answers[r.number] = (journal_answer){r.data, r.len};
}

hd_status hd_journal_command(const char *path, hd_arena *a, const char *const **words, size_t *n,
                             hd_diag *d) {
  journal j;
  record r;
  size_t count = 0;
  hd_status st = journal_read(path, &j, d);
  if (st != HD_OK) return st;
  for (size_t at = sizeof magic - 1; at < j.end && get_record(&j.file, &at, &r);) count += r.kind == 'c';
  const char **out = HD_NEW_N(a, count + 1, const char *);
  *n = 0;
  for (size_t at = sizeof magic - 1; out && at < j.end && get_record(&j.file, &at, &r);)
    if (r.kind == 'c' && !(out[(*n)++] = hd_arena_strndup(a, r.data, r.len))) out = NULL;
  journal_close(&j);
  *words = out;
  if (!out) return hd_nomem(d);
  return count ? HD_OK : hd_fail(d, HD_ERR_INPUT, "%s: the journal does not say which command made it", path);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static hd_status write_all(int fd, const char *path, const hd_buf *b, hd_diag *d) {
  if (b->failed) return hd_nomem(d);
  const int err = files_write(fd, b->data, b->len);
  return err ? hd_fail(d, HD_ERR_IO, "%s: cannot write: %s", path, strerror(err)) : HD_OK;
}

static hd_status write_head(int fd, const char *path, const hd_work *w, const hd_work_how *how, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_puts(&b, magic);
  put_record(&b, 'w', w->n, &w->identity, sizeof w->identity);
  for (size_t i = 0; i < how->n_words; i++) put_record(&b, 'c', i, how->command[i], strlen(how->command[i]));
  hd_status st = write_all(fd, path, &b, d);
  hd_buf_free(&b);
  return st;
}

hd_status journal_open(const char *path, bool resume, int *fd, hd_diag *d) {
  *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (resume ? 0 : O_EXCL), 0666);
  if (*fd < 0 && errno == EEXIST)
    return hd_fail(d, HD_ERR_USAGE, "%s is there already; --resume goes on with it", path);
  if (*fd < 0) return hd_fail(d, HD_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return HD_OK;
  hd_status st = errno == EWOULDBLOCK
                     ? hd_fail(d, HD_ERR_USAGE, "%s: another process writes to this journal", path)
                     : hd_fail(d, HD_ERR_IO, "%s: cannot lock: %s", path, strerror(errno));
  close(*fd);
  *fd = -1;
  return st;
}

hd_status journal_begin(int fd, const char *path, size_t keep, const hd_work *w, const hd_work_how *how,
                        hd_diag *d) {
  if (ftruncate(fd, (off_t)keep) != 0)
    return hd_fail(d, HD_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
  return keep ? HD_OK : write_head(fd, path, w, how, d);
}

hd_status journal_add(int fd, const char *path, size_t item, const void *answer, size_t len, hd_diag *d) {
  hd_buf b = {0};
  put_record(&b, 'a', item, answer, len);
  hd_status st = write_all(fd, path, &b, d);
  hd_buf_free(&b);
  return st;
}
