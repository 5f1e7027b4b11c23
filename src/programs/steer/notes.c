/* What programs have learnt of verdicts: a file for each program, its path in the first line, then a note in
 * each. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/steer.h"
#include "heddle/trusted.h"

#define ENDING ".notes"

/* ---- A line ------------------------------------------------------------------------------------ */

#define TEXT(name)                                                                                           \
  { offsetof(hd_steer_note, name), sizeof((hd_steer_note *)0)->name }
static const struct {
  size_t offset, bytes;
} texts[] = {TEXT(key.kernel), TEXT(key.launch), TEXT(key.gpu), TEXT(key.driver),
             TEXT(plan),       TEXT(name),       TEXT(state)};
enum { TEXTS = sizeof texts / sizeof *texts };

#define NUMBER(name) offsetof(hd_steer_note, name)
static const size_t numbers[] = {NUMBER(promised), NUMBER(median), NUMBER(low),
                                 NUMBER(high),     NUMBER(pairs),  NUMBER(seconds),
                                 NUMBER(saves),    NUMBER(ready),  NUMBER(launches)};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

void hd_steer_note_print(const hd_steer_note *n, hd_buf *out) {
  for (size_t k = 0; k < TEXTS; k++) hd_buf_printf(out, "%s\t", (const char *)n + texts[k].offset);
  for (size_t k = 0; k < NUMBERS; k++) {
    double value;
    memcpy(&value, (const char *)n + numbers[k], sizeof value);
    hd_buf_printf(out, "%.17g\t", value);
  }
  hd_buf_printf(out, "%" PRId64 "\t%" PRId64 "\n", n->of, n->when);
}

/* The next field of a line; false: there is none, or it has no room. */
static bool next(const char **at, const char *end, char *out, size_t room) {
  if (*at > end) return false;
  const char *tab = memchr(*at, '\t', (size_t)(end - *at));
  const size_t n = (size_t)((tab ? tab : end) - *at);
  if (n >= room) return false;
  memcpy(out, *at, n);
  out[n] = 0;
  *at += n + 1;
  return true;
}

static bool parse(const char *line, size_t len, hd_steer_note *n) {
  const char *const end = line + len;
  char number[32], *rest;
  *n = (hd_steer_note){0};
  for (size_t k = 0; k < TEXTS; k++)
    if (!next(&line, end, (char *)n + texts[k].offset, texts[k].bytes)) return false;
  for (size_t k = 0; k < NUMBERS; k++) {
    if (!next(&line, end, number, sizeof number) || !number[0]) return false;
    const double value = strtod(number, &rest);
    if (*rest || !(value >= 0)) return false;
    memcpy((char *)n + numbers[k], &value, sizeof value);
  }
  int64_t *const times[] = {&n->of, &n->when};
  for (size_t k = 0; k < 2; k++) {
    uint64_t value;
    if (!next(&line, end, number, sizeof number) || !hd_parse_u64(number, strlen(number), INT64_MAX, &value))
      return false;
    *times[k] = (int64_t)value;
  }
  return line > end;
}

/* ---- Files ------------------------------------------------------------------------------------- */

hd_status hd_steer_notes(char *folder, size_t cap, hd_diag *d) {
  char cache[HD_STEER_PATH / 2];
  hd_cache_folder(cache, sizeof cache);
  if (!cache[0] || snprintf(folder, cap, "%s/run/notes", cache) >= (int)cap)
    return hd_fail(d, HD_ERR_IO, "there is no folder for notes: set HOME or XDG_CACHE_HOME");
  return HD_OK;
}

void hd_steer_notes_of(const char *folder, const char *program, char path[HD_STEER_PATH]) {
  char hex[HD_DIGEST_HEX];
  hd_digest h = hd_digest_begin();
  hd_digest_text(&h, program);
  if (snprintf(path, HD_STEER_PATH, "%s/%s" ENDING, folder, hd_digest_hex(&h, hex)) >= HD_STEER_PATH)
    path[0] = 0;
}

void hd_steer_notes_read(const char *path, void (*fn)(void *ctx, const char *program, const hd_steer_note *n),
                         void *ctx) {
  hd_buf f = {0};
  hd_steer_note n;
  if (hd_trusted_read(path, &f, NULL) == HD_OK && f.len && f.data[f.len - 1] == '\n') {
    char *line = f.data, *program = NULL, *end;
    for (; (end = memchr(line, '\n', (size_t)(f.data + f.len - line))); line = end + 1) {
      *end = 0;
      if (!program)
        program = line;
      else if (parse(line, (size_t)(end - line), &n))
        fn(ctx, program, &n);
      if (end + 1 == f.data + f.len) break;
    }
  }
  hd_buf_free(&f);
}

typedef struct keeper {
  const char *program;
  const hd_steer_note *notes;
  size_t n;
  hd_buf text;
} keeper;

static void keep_other(void *ctx, const char *program, const hd_steer_note *old) {
  keeper *k = ctx;
  bool is_put = strcmp(program, k->program) != 0;
  for (size_t i = 0; i < k->n && !is_put; i++)
    is_put = hd_steer_note_is_of(&k->notes[i], &old->key) && strcmp(k->notes[i].plan, old->plan) == 0;
  if (!is_put) hd_steer_note_print(old, &k->text);
}

hd_status hd_steer_notes_put(const char *path, const char *program, const hd_steer_note *notes, size_t n,
                             hd_diag *d) {
  keeper k = {program, notes, n, {0}};
  if (strchr(program, '\n')) return hd_fail(d, HD_ERR_INPUT, "the program's name has a line end");
  hd_buf_printf(&k.text, "%s\n", program);
  hd_steer_notes_read(path, keep_other, &k);
  for (size_t i = 0; i < n; i++) hd_steer_note_print(&notes[i], &k.text);
  const hd_status st = k.text.failed ? hd_nomem(d) : hd_trusted_write(path, k.text.data, k.text.len, d);
  hd_buf_free(&k.text);
  return st;
}

static void each_file(void (*do_file)(const char *path, void *ctx), void *ctx) {
  char folder[HD_STEER_PATH - 300], path[HD_STEER_PATH];
  DIR *dir = hd_steer_notes(folder, sizeof folder, NULL) == HD_OK ? opendir(folder) : NULL;
  for (struct dirent *e; dir && (e = readdir(dir));) {
    const size_t n = strlen(e->d_name);
    if (n > strlen(ENDING) && strcmp(e->d_name + n - strlen(ENDING), ENDING) == 0 &&
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
      do_file(path, ctx);
  }
  if (dir) closedir(dir);
}

typedef struct reader {
  void (*fn)(void *ctx, const char *program, const hd_steer_note *n);
  void *ctx;
} reader;

static void read_one(const char *path, void *ctx) {
  const reader *r = ctx;
  hd_steer_notes_read(path, r->fn, r->ctx);
}

void hd_steer_notes_each(void (*fn)(void *ctx, const char *program, const hd_steer_note *n), void *ctx) {
  reader r = {fn, ctx};
  each_file(read_one, &r);
}

static void drop_one(const char *path, void *ctx) {
  (void)ctx;
  unlink(path);
}

void hd_steer_notes_drop(void) { each_file(drop_one, NULL); }
