/* heddle/hot.h: a program's hot kernels, each optimized: one answer for the whole program.
 *
 * hd_whole_optimize (whole.h) makes it of what a program left behind that was recorded: the launch of each
 * kernel that stands for most of its time. Where there is no GPU, the kernels that have run most instructions
 * are taken for the hottest, and times are those that the model predicts of the recorded launch, for all of
 * the kernel's instructions.
 */
#ifndef HEDDLE_HOT_H
#define HEDDLE_HOT_H

#include "heddle/advise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_hot_kernel {
  char *title, *symbol;
  uint64_t launches, instructions; /* of the program; instructions are of threads, 0: not known */
  double seconds;                  /* of all of them, measured or predicted; 0: not known */
  char *workload;                  /* the recorded launch's name, as its files are called; NULL: none was */
  bool looked_at;                  /* what follows is known */
  unsigned category;
  char *plan;                 /* that is proved; NULL: the kernel is left as it is */
  double before_us, after_us; /* of the recorded launch, predicted; the same where it is left */
  bool smaller;               /* the proof is of a smaller size */
  bool other_launch;          /* the rewritten kernel is launched another way */
  bool unanswered;            /* a bound was reached, or it was stopped, before there was an answer */
  char *why;                  /* why not more, or why nothing; NULL: the reason is not known */
} hd_hot_kernel;

typedef struct hd_hot {
  hd_hot_kernel *kernels; /* the hottest first */
  size_t n;
  char *program; /* and its arguments, on one line */
  int code;      /* that it ended with, or 128 and its signal */
  char gpu[96];  /* the model's title */
  bool emulated; /* it was recorded on the emulator */
  bool cut;      /* which ended its launches after so much work */
  bool alone;    /* and ended it, since it computed for long by itself behind them */
  bool stopped;
  char page[4200], pins[4200]; /* files; "": not written */
  double seconds;              /* that all took */
} hd_hot;

HD_API void hd_hot_free(hd_hot *h);
/* A table with a row for each kernel, at most so many, and what to do next. */
HD_API void hd_hot_text(const hd_hot *h, size_t rows, hd_buf *out);
HD_API void hd_hot_json(const hd_hot *h, hd_buf *out);
/* A page that leads to the page of each kernel, in the same folder. */
HD_OWN void hd_hot_html(const hd_hot *h, hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
