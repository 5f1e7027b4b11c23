/* cli/cli.h: declarations that the subcommands share. The program is a client of the library: it includes
 * heddle/ *.h and nothing else of it. Only this folder prints and exits. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include <stdio.h>

#include "heddle/manual.h"
#include "heddle/report.h"
#include "heddle/work.h"

int cli_main(int argc, char **argv); /* the program */

/* Exit codes. */
/* EXIT_UNANSWERED: a bound, a missing compiler or a stop came before there was an answer. */
enum { EXIT_OK = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_UNANSWERED = 3, EXIT_INTERRUPTED = 130 };

typedef struct cli_command {
  const char *name;
  const char *synopsis; /* after the name */
  const char *summary;  /* one line */
  const char *notes;    /* for -h, behind the options */
  int least, most;      /* words that are no options */
  const char *wanted;   /* what to say where there are more or fewer: "name one file" */
  int (*run)(int argc, char **argv);
} cli_command;
extern const cli_command *cli_commands; /* main.c's table, which ends with a NULL name */

/* ---- Options -------------------------------------------------------------------- */

typedef enum cli_option_kind {
  CLI_FLAG,   /* bool */
  CLI_TEXT,   /* const char * */
  CLI_MAYBE,  /* const char *, given as --name=TEXT; "" without one. `argument` is "[=TEXT]" */
  CLI_NUMBER, /* uint64_t, at most max */
  CLI_LIST,   /* cli_list: may be given several times */
  CLI_CHOICE, /* unsigned: 1 for the first word of `argument`, "first|second", 2 for the second, ... */
  CLI_ASSUME, /* unsigned: bits HD_ASSUME_ */
  CLI_SHARED, /* stands for the row of that name in the table of options that several commands have */
  CLI_INPUT,  /* cli_input: stands for the rows of a command's input; help is that of --size */
  CLI_WORD,   /* of those, a row of hd_launch_option */
} cli_option_kind;

typedef struct cli_list {
  const char **items; /* of cli_memory */
  size_t n;
} cli_list;

/* Choices of options that several commands have; 0: not given. */
enum { DEPTH_TIMING = 1, DEPTH_TRAFFIC };
enum { L2_FLUSH = 1, L2_KEEP };

/* A row of a command's table of options, which ends with an empty row. Both the parser and -h read the
 * table. */
typedef struct cli_option {
  const char *name; /* without the dashes */
  char letter;      /* 0: none */
  cli_option_kind kind;
  void *value;
  uint64_t max;         /* CLI_NUMBER; 0: no bound */
  const char *argument; /* as -h shows it: "N", "NAME"; NULL of flags */
  const char *help;     /* a newline begins another line of the same column; NULL: -h leaves it out */
} cli_option;

/* A command's input: a workload by its name, its folder or its file, or a file with kernels whose launches
 * the words describe. */
typedef struct cli_input {
  const char *size, *save;
  cli_list params;
  hd_launch_word *words; /* of cli_memory */
  size_t n_words;
} cli_input;

/* Rows of a table: an option that several commands have, with its own help or another; a command's input. */
#define CLI_COMMON(name, value)                                                                              \
  { name, 0, CLI_SHARED, value, 0, NULL, NULL }
#define CLI_COMMON_AS(name, value, help)                                                                     \
  { name, 0, CLI_SHARED, value, 0, NULL, help }
#define CLI_INPUT_OPTIONS(in, size_help)                                                                     \
  { "size", 0, CLI_INPUT, in, 0, NULL, size_help }

/* A workload as the input asks for it; `preferred` is as in hd_workload_request. */
hd_workload_request cli_request(const char *name, const cli_input *in, const char *preferred);
hd_status cli_open_workload(const char *name, const cli_input *in, const char *preferred, hd_workload **out,
                            hd_diag *d);
/* The text of the last such word; NULL: none was given. */
const char *cli_word(const cli_input *in, const char *option);
/* What the words say of a launch beside arguments; what they do not say stays as it is. */
hd_status cli_read_launch(const char *command, const cli_input *in, uint64_t *module, uint32_t grid[3],
                          uint32_t block[3], hd_diag *d);

/* Parse argv[1..), where argv[0] is the command: options of the table anywhere, "--" ends them; the other
 * words are moved to argv[1..*n]. Handles -h. Returns -1 to go on, else the code to exit with. */
int cli_parse(const cli_option *options, int argc, char **argv, int *n);
const cli_command *cli_find(const char *name);
extern hd_manual *cli_manual; /* -h fills it in place of printing, unless it is NULL */

/* Memory that lasts as long as the program, for names on the command line. */
hd_arena *cli_memory(void);

/* ---- Work of many items ------------------------------------------------------------- */

/* Options of a command whose work is done in items (heddle/work.h). */
typedef struct cli_work {
  const char *shard, *journal;
  bool resume;
} cli_work;
#define CLI_WORK_OPTIONS(w)                                                                                  \
  CLI_COMMON("shard", &(w).shard), CLI_COMMON("journal", &(w).journal), CLI_COMMON("resume", &(w).resume)

/* How all of it is done unless options say otherwise: merge names journals. */
extern hd_work_how cli_how;
/* The command's words as they were given: parsing moves them about. Of cli_memory. */
extern char **cli_words;
bool cli_keep_words(int argc, char **argv);
hd_status cli_work_how(const cli_work *w, hd_work_how *out, hd_diag *d);
/* After HD_OK of a run that was not whole: says where its part is. */
int cli_work_left(const hd_work_how *how);

/* ---- Failing ---------------------------------------------------------------------- */

/* One line to stderr; returns the exit code for the status: 1 when the answer is no (refused, a fault
 * of the kernel), else 2. */
int cli_fail(const hd_diag *d);
int cli_usage(const char *fmt, ...) HD_PRINTF(1, 2);

/* ---- Output ------------------------------------------------------------------------- */

/* Write the buffer to stdout and free it; 2 when that fails (a full disk). */
int cli_print(hd_buf *b);
bool cli_colour(void); /* stdout is a terminal, NO_COLOR is not set */
/* A progress bar on stderr when that is a terminal. */
void cli_progress(void *label, size_t done, size_t n);
/* The same for work in stages; ctx: a workload's name, or NULL. */
void cli_stage(void *ctx, const char *stage, size_t done, size_t n);
extern const hd_watch cli_watch; /* cli_stage */
void cli_progress_end(void);     /* before other text */
/* From now on Ctrl-C makes cli_interrupted true, once; twice in a row it ends the program. */
void cli_catch_interrupts(void);
bool cli_interrupted(void *ctx);
bool cli_stopped(void *ctx); /* the same for good, and asked by any thread */

/* ---- Things to open -------------------------------------------------------------------- */

/* Folders of workloads and GPUs: $HEDDLE_DATA, beside the program, or the source tree. The text is
 * static. */
const char *cli_kernels_dir(void);
const char *cli_gpus_dir(void);
/* The file with the kernels that a word names: of a workload's folder its source. */
const char *cli_kernel_file(const char *word);

/* X, X,Y or X,Y,Z as three numbers, the rest 1; false: it is none of these. */
bool cli_parse_dims(const char *text, uint32_t out[3]);
/* A device by name; models are looked up in the folder of GPUs. "cuda" is a worker's own GPU. */
hd_status cli_open_device(const char *name, unsigned threads, hd_device **out, hd_diag *d);
/* The GPU file for advice on a device: of the latest architecture that is no later than its own. */
bool cli_advisor(const hd_device *dev, hd_gpu *out);

/* The commands. */
typedef int cli_run(int argc, char **argv);
cli_run cmd_ls, cmd_analyze, cmd_fmt, cmd_rewrite, cmd_check, cmd_simulate, cmd_sweep, cmd_optimize, cmd_list,
    cmd_categories, cmd_verdicts, cmd_time, cmd_probe, cmd_difftest, cmd_levers, cmd_accuracy, cmd_corun,
    cmd_tune, cmd_bench, cmd_overhead, cmd_emu, cmd_run, cmd_record, cmd_profile, cmd_report, cmd_merge,
    cmd_manual, cmd_header;

#endif
