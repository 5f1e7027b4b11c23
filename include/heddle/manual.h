/* heddle/manual.h: the program's tables of options, as help, man pages, and completions of shells.
 *
 * The program hands over its commands; everything here is text from their tables, so that help, manual and
 * completions cannot differ. */
#ifndef HEDDLE_MANUAL_H
#define HEDDLE_MANUAL_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_manual_option {
  const char *name;     /* without the dashes */
  char letter;          /* 0: none */
  const char *argument; /* "N", "FILE", "first|second"; "[=TEXT]" if it may be left out; NULL: a flag */
  bool launch;          /* one that describes the launches of a file's kernels */
  const char *help;     /* a newline begins another line */
} hd_manual_option;

typedef struct hd_manual {
  const char *name, *synopsis, *summary;
  const char *notes; /* whole lines, or "" */
  const hd_manual_option *options;
  size_t n;
} hd_manual;

/* The text of -h. */
HD_OWN void hd_manual_help(const hd_manual *m, hd_buf *out);
/* Pages of section 1 into a folder, in man's language: heddle.1, which lists all commands, and heddle-NAME.1.
 */
HD_OWN hd_status hd_manual_write(const char *folder, const hd_manual *all, size_t n, const char *version,
                                 hd_diag *d);

/* The glossary, docs/words.md, for a terminal: every word under its heading, or, with `part`, the rows in
 * whose name a word begins so, whatever the case of letters. False: there is none. */
HD_OWN bool hd_manual_words(const char *part, hd_buf *out);

/* A file of completions for one of these shells: commands, options, words of a choice, and the names of
 * workloads and GPUs, which the program is asked for. */
typedef enum hd_shell { HD_SHELL_BASH, HD_SHELL_ZSH, HD_SHELL_FISH, HD_SHELL_COUNT } hd_shell;
HD_OWN const char *hd_shell_name(hd_shell s);
HD_OWN void hd_manual_completions(hd_shell s, const hd_manual *all, size_t n, hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
