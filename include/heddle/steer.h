/* heddle/steer.h: starts a CUDA program whose kernels run under the best plans known.
 *
 * `heddle run` puts libheddle-run.so between a program and its CUDA driver. That library knows nothing of the
 * store: the verdicts that it may apply are written into a file before the program starts, one per line, so
 * that the program has neither a database nor a lock of heddle's in it. Settings are in the environment, so
 * that processes started by the program use them, too.
 */
#ifndef HEDDLE_STEER_H
#define HEDDLE_STEER_H

#include "heddle/probation.h"
#include "heddle/program.h"
#include "heddle/store.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HD_STEER_PATH = 1024 };

typedef struct hd_steer_settings {
  char plan[512];               /* for every kernel that admits it, in place of verdicts; "": none */
  char verdicts[HD_STEER_PATH]; /* file of verdicts; "": none */
  char report[HD_STEER_PATH];   /* file for the report as JSON; "": none */
  char page[HD_STEER_PATH]; /* file for it as an HTML page; "": none. Without both: text on standard error */
  bool quiet;               /* no report */
  bool tune;                /* launches are tuned */
  double budget;            /* seconds of tuning one shape of a kernel's launches */
  double total;             /* of tuning all, or, where `share` is not 0: */
  double share, least;      /* this part of the time that the program has run, and so many seconds at least */
  double worth;             /* seconds of a shape's launches before they are tuned */
  double gain;              /* the least speedup that a plan is adopted for */
  char record[HD_STEER_PATH]; /* folder for launches that are recorded; "": none */
  bool profile;               /* launches are timed */
  char kernel[256];           /* of kernels whose names match, as a shell's pattern; "": of all */
  uint64_t launch;            /* this launch of each of them, from 1; 0: the first of each shape */
  uint64_t most;              /* how many are kept, those that took most time */
  char found[HD_STEER_PATH];  /* folder for verdicts that are found, each a file; "": none */
  char texts[HD_STEER_PATH];  /* folder for the PTX of machine code, by its digest; "": none */
  char cubins[HD_STEER_PATH]; /* folder for the machine code of rewritten kernels; "": none */
  char notes[HD_STEER_PATH];  /* folder for what programs have learnt of verdicts; "": none */
  bool unguarded;             /* verdicts are not measured in the program */
  uint64_t pid;               /* of the process that becomes the program; its children are others */
} hd_steer_settings;

/* The variable that holds them. */
#define HD_STEER_VARIABLE "HEDDLE_RUN"
/* Settings as text for the environment, and back. HD_ERR_INPUT for a text that another version wrote. */
HD_OWN hd_status hd_steer_settings_print(const hd_steer_settings *s, hd_buf *out, hd_diag *d);
HD_OWN hd_status hd_steer_settings_parse(const char *text, hd_steer_settings *s, hd_diag *d);

/* A line of the file of verdicts, and back; false: it is none. The plan's table is named by its file.
 * Counters are not kept. */
HD_OWN void hd_steer_verdict_print(const hd_verdict *v, hd_buf *out);
HD_OWN bool hd_steer_verdict_parse(const char *line, size_t len, hd_verdict *v);

/* What a program has learnt of a verdict in its own launches. It holds for the program's executable alone,
 * and for the verdict that was made then: a later one for the same launches is measured anew. */
typedef struct hd_steer_note {
  hd_verdict_key key; /* without a size */
  char plan[512], name[192];
  char state[8];            /* one of the words below */
  double promised;          /* the verdict's speedup */
  double median, low, high; /* the speedup here, and its interval; 0: not measured */
  double pairs;             /* of launches that it was measured by */
  double seconds, saves;    /* of a launch of the original; and what the plan takes less; 0: not known */
  double ready;             /* seconds that it takes to get the plan ready where its machine code is kept */
  double launches;          /* of the kernel, in the last process that has ended */
  int64_t of, when;         /* the verdict's time, and the note's, in seconds since 1970 */
} hd_steer_note;

#define HD_STEER_OPEN "open"     /* the plan computes the same, and is not decided yet */
#define HD_STEER_CUT "cut"       /* the same, and --total ended the search before all plans were tried */
#define HD_STEER_NEW "new"       /* nothing is measured */
#define HD_STEER_KEPT "kept"     /* the plan is as fast as the original at least */
#define HD_STEER_UNSURE "unsure" /* it was taken back, but that it is slower is not sure */
#define HD_STEER_BROKEN "broken" /* it is slower here, and later processes of the program do without */

/* ---- What follows from a note ---- */

/* It is of these launches. */
HD_OWN bool hd_steer_note_is_of(const hd_steer_note *n, const hd_verdict_key *key);
/* Of a verdict that is met for the first time. */
HD_OWN hd_steer_note hd_steer_note_of(const hd_verdict *v, const char *name);
/* A later verdict begins anew; what the program does with the kernel is still known. */
HD_OWN void hd_steer_note_begin(hd_steer_note *n, const hd_verdict *v);
/* What was slower, or too dear, so long ago that it is tried again. */
HD_OWN bool hd_steer_note_is_stale(const hd_steer_note *n);
/* As many launches as last time save what getting the plan ready costs; or it is not known how many there
 * are.
 */
HD_OWN bool hd_steer_note_pays(const hd_steer_note *n);
/* The launches of a process are too few to be measured. */
HD_OWN bool hd_steer_note_is_seldom(const hd_steer_note *n);
HD_OWN hd_probation_trust hd_steer_note_trust(const hd_steer_note *n);
/* What launches in turns have shown, and what that means for later processes; HD_PROBATION_OPEN: nothing yet.
 * original: seconds of one of its launches. */
HD_OWN void hd_steer_note_learn(hd_steer_note *n, hd_probation end, const hd_turns_arm *plan,
                                double original);

/* ---- Files of notes ---- */

/* The folder of these notes: a file for each program. HD_ERR_IO: there is none. */
HD_OWN hd_status hd_steer_notes(char *folder, size_t cap, hd_diag *d);
/* The file for a program, by its executable's path, in the folder. */
HD_OWN void hd_steer_notes_of(const char *folder, const char *program, char path[HD_STEER_PATH]);
/* A line of it. The first line is the program's path. */
HD_OWN void hd_steer_note_print(const hd_steer_note *n, hd_buf *out);
/* Calls fn for every note of a file. One that cannot be read has none. */
HD_OWN void hd_steer_notes_read(const char *path,
                                void (*fn)(void *ctx, const char *program, const hd_steer_note *n),
                                void *ctx);
/* Puts notes into a program's file in place of those for the same launches and plans, and leaves the others.
 */
HD_OWN hd_status hd_steer_notes_put(const char *path, const char *program, const hd_steer_note *notes,
                                    size_t n, hd_diag *d);
/* The notes of every program. */
HD_OWN void hd_steer_notes_each(void (*fn)(void *ctx, const char *program, const hd_steer_note *n),
                                void *ctx);
/* Removes them all. */
HD_OWN void hd_steer_notes_drop(void);

typedef struct hd_steer_options {
  const char *plan;  /* of hd_plan_parse, not for any one launch; NULL: verdicts */
  const char *store; /* of hd_store_open; NULL: the usual one */
  const char *pin;   /* file of hd_store_export whose verdicts are used, and no others; NULL: the store's */
  const char *report, *page;   /* files, as in hd_steer_settings; NULL: none */
  const char *folder;          /* of libheddle-run.so; NULL: where it lies beside this program */
  const char *record, *kernel; /* as there; NULL: none, all */
  bool quiet, tune, profile;
  bool unguarded; /* verdicts are applied without being measured in the program */
  /* Of hd_steer_watch: the program runs on the emulator, so; NULL: as it would. `aside`: what it prints goes
   * to standard error. */
  const hd_program_options *emulated;
  bool aside;
  /* Numbers as text, as in hd_steer_settings; NULL: the usual. total: seconds, or "5%", a share. */
  const char *budget, *total, *worth, *gain, *launch, *most;
} hd_steer_options;

/* Verdicts that programs have found while they ran (`tune`) go into the store. Those that cannot be read are
 * dropped. */
HD_OWN hd_status hd_steer_collect(hd_store *s, hd_diag *d);
/* The folder where they wait. HD_ERR_IO: there is none. */
HD_OWN hd_status hd_steer_found(char *folder, size_t cap, hd_diag *d);

/* Become the program argv[0], looked up in PATH, with these settings. If the store cannot be read, the
 * program starts without verdicts, and `told` is called with the reason before. Returns only on failure:
 * HD_ERR_USAGE for an option, HD_ERR_IO for a program that is missing or cannot be run. */
HD_API hd_status hd_steer_exec(const hd_steer_options *o, char **argv, void (*told)(const hd_diag *store),
                               hd_diag *d);

/* A program that was recorded and profiled, and what it left behind. */
typedef struct hd_steer_watched {
  char folder[HD_STEER_PATH / 2]; /* of this run alone: hd_scratch_remove */
  char report[HD_STEER_PATH];     /* as JSON */
  char emulated[HD_STEER_PATH];   /* the emulator's, where it ran there; else "" */
  bool reported;                  /* it is there: a program that loads no kernel leaves none */
  int code;                       /* its exit code, or 128 and its signal */
} hd_steer_watched;
/* Run the program under the baseline in a process of its own, which is waited for, with its launches timed
 * and recorded, in o->record or, where that is NULL, in the folder. There, `told` is also called with the
 * reason when the program cannot be started; the code is then 2. Interrupts from a terminal are for the
 * program meanwhile. On failure there is no folder. */
HD_OWN hd_status hd_steer_watch(const hd_steer_options *o, char **argv, void (*told)(const hd_diag *),
                                hd_steer_watched *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
