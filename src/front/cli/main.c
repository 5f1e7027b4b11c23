#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>

#include "cli.h"
#include "heddle/results.h"

#define INPUT "WORKLOAD | FILE -k KERNEL --grid ... --block ... --arg ..."
#define ONE_INPUT 1, 1, "name one workload ('heddle list' shows them) or file"
#define ONE_FILE 1, 1, "name one file"
#define MANY INT_MAX
#define FOLDERS                                                                                              \
  "A file's kernels take part as a folder, which 'heddle check FILE -k KERNEL ... --save DIR' makes.\n"

static const cli_command commands[] = {
    {"ls", "FILE...", "modules and kernels in PTX files, fatbins, executables and libraries", "", 1, MANY,
     "name a file", cmd_ls},
    {"fmt", "FILE", "parse a module and print it", "", ONE_FILE, cmd_fmt},
    {"analyze", "WORKLOAD | FILE [-k KERNEL --grid ... --block ... --arg ...]",
     "where the reuse is, whether a plan can use it, and which plans to try",
     "Without --arg only the text of a file's kernels is examined; --grid and --block describe "
     "their\nlaunches. -k also chooses among the kernels that a workload launches.\n",
     1, MANY, "name one file or workload", cmd_analyze},
    {"rewrite", "FILE -k KERNEL --plan P [--grid ... --arg ...]", "write a kernel under a plan",
     "The grid's constants are baked in, and only this grid is right; without --grid any is. --arg is "
     "needed\n"
     "only if the plan follows from a launch's arguments, as shape=auto may.\n",
     ONE_FILE, cmd_rewrite},
    {"check", INPUT, "prove on the emulator or a device that plan and original agree", "", ONE_INPUT,
     cmd_check},
    {"time", INPUT, "time plans against the default launch on a device", "", ONE_INPUT, cmd_time},
    {"tune", INPUT, "find the plan that wins on a device, and keep it as a verdict", "", 1, MANY,
     "name one workload or more ('heddle list' shows them)", cmd_tune},
    {"bench", "[WORKLOAD...]", "tune many workloads and draw the papers' tables for a device",
     FOLDERS "Exit code 1 when a verdict that is verified runs below 0.99x, or cannot be run.\n", 0, MANY, "",
     cmd_bench},
    {"probe", "--device D", "what a GPU's dispatcher and caches do; writes its file for gpus/", "", 0, 0, "",
     cmd_probe},
    {"difftest", "[--device D]", "random PTX programs on the emulator and a device, compared bit for bit",
     "Programs that differ are counted by instruction: within the bounds of approximate instructions\n"
     "(docs/difftest.md), by the device's compiler (they agree when it does not optimize), unexplained.\n"
     "Exit code 1 when any is unexplained.\n",
     0, 0, "", cmd_difftest},
    {"simulate", INPUT, "counters on a modelled GPU", "", ONE_INPUT, cmd_simulate},
    {"sweep", INPUT, "many plans on a modelled GPU, as CSV", "", ONE_INPUT, cmd_sweep},
    {"accuracy", "[WORKLOAD...] --gpu NAME --device D", "the traffic model's counters against a device's own",
     FOLDERS, 0, MANY, "", cmd_accuracy},
    {"corun", "A B --device D", "two workloads at the same time: streams, SM partitions, green contexts",
     FOLDERS, 2, 2, "name two workloads ('heddle list' shows them)", cmd_corun},
    {"optimize", INPUT " | [options] -- PROGRAM [ARGUMENTS]",
     "find, prove and write the best order of a kernel's CTAs, or of a program's hot kernels",
     "A program's hot kernels are recorded, on the emulator where there is no GPU; -k PATTERN chooses among "
     "them.\n",
     1, 1, "name one workload ('heddle list' shows them), one file, or a program: -- ./app", cmd_optimize},
    {"emu", "[options] -- PROGRAM [ARGUMENTS]", "a CUDA program on a machine without a GPU", "", 1, MANY,
     "which program?", cmd_emu},
    {"run", "[options] -- PROGRAM [ARGUMENTS]", "a CUDA program, its kernels under the best plans known", "",
     1, MANY, "which program?", cmd_run},
    {"record", "-o FOLDER -- PROGRAM [ARGUMENTS]", "a CUDA program's launches as workloads, each a folder",
     "", 1, MANY, "which program?", cmd_record},
    {"profile", "[options] -- PROGRAM [ARGUMENTS]",
     "where a CUDA program's time goes, and what plans could win", "", 1, MANY, "which program?",
     cmd_profile},
    {"report", "DIR", "one page of all results that lie in a folder", "", 1, 1, "name a folder", cmd_report},
    {"list", "", "the workloads that come with heddle", "", 0, 0, "", cmd_list},
    {"categories", "", "CLU's table 2 as measured: categories and inter-CTA reuse, in Markdown", "", 0, 0, "",
     cmd_categories},
    {"verdicts", "[list | export | import FILE | prune]", "the stored results of tuning", "", 0, 2,
     "list, export, import FILE or prune", cmd_verdicts},
    {"levers", "[WORKLOAD | FOLDER | FILE -k KERNEL ...]...",
     "which plans work on which workloads, or why they are refused",
     "A folder stands for the workloads in it. Exit code 1 when anything differs; a line for each says how "
     "to repeat it.\n",
     0, MANY, "", cmd_levers},
    {"overhead", "[WORKLOAD | FILE -k KERNEL ...]...",
     "what plans cost: instructions, registers, shared memory", "", 0, MANY, "", cmd_overhead},
    {"merge", "JOURNAL...", "the result of a command from the journals of all its parts (--shard)",
     "The command runs as it stands in the journals, in this folder, and finds every answer in them.\n", 1,
     MANY, "name the journals of all parts", cmd_merge},
    {"manual", "bash | zsh | fish | DIR", "completions for a shell, or man pages into a folder",
     "For bash: heddle manual bash > ~/.local/share/bash-completion/completions/heddle\n", 1, 1,
     "name a shell (bash, zsh, fish) or a folder", cmd_manual},
    {"header", "", "the orders as functions in CUDA C: the text of heddle/cta_orders.h", "", 0, 0, "",
     cmd_header},
    {0},
};

static int print_help(void) {
  hd_buf b = {0};
  hd_buf_puts(&b, "heddle " HEDDLE_VERSION ": steers the thread blocks (CTAs) of CUDA kernels\n\n"
                  "usage: heddle COMMAND [options] ...\n\n");
  hd_text_table *t = hd_text_table_new("lll");
  if (!t) return EXIT_USAGE;
  for (const cli_command *c = commands; c->name; c++) {
    hd_text_table_cell(t, " ");
    hd_text_table_cell(t, "%s", c->name);
    hd_text_table_cell(t, "%s", c->summary);
  }
  hd_text_table_print(t, &b);
  hd_text_table_free(t);
  hd_buf_puts(
      &b, "\n'heddle help COMMAND' says more, 'heddle help words' what words mean. Exit codes: 0 done; 1 the "
          "answer is no (not equal, not\n"
          "sound); 2 bad usage or input; 3 no answer: a bound was reached, a compiler is missing, or the "
          "search was stopped; 130 Ctrl-C. $HEDDLE_CUDA_DRIVER names another driver than libcuda.so.1.\n");
  return cli_print(&b);
}

static int no_command(const char *name) {
  const char *names[sizeof commands / sizeof *commands];
  size_t n = 0;
  hd_buf near = {0};
  for (const cli_command *c = commands; c->name; c++) names[n++] = c->name;
  hd_suggest(names, n, 0, name, &near);
  const int rc = hd_workload_is_file(name)
                     ? cli_usage("no command '%s'; a program's plans: heddle optimize -- %s", name, name)
                     : cli_usage("no command '%s'%s%s; 'heddle -h' lists them", name,
                                 near.len ? "; did you mean " : "", near.len ? near.data : "");
  hd_buf_free(&near);
  return rc;
}

static int run(const cli_command *c, int argc, char **argv) {
  hd_arena_init(cli_memory());
  int rc = cli_keep_words(argc, argv) ? c->run(argc, argv) : cli_usage("out of memory");
  hd_arena_free(cli_memory());
  return rc;
}

/* heddle help [COMMAND | words [WORD] | WORD] */
static int help(int argc, char **argv) {
  static const char words[] = "words";
  if (argc < 2) return print_help();
  const cli_command *c = cli_find(argv[1]);
  char name[] = "-h", *command[] = {argv[1], name, NULL};
  if (c) return run(c, 2, command);
  const bool all = strcmp(argv[1], words) == 0;
  const char *word = all ? (argc > 2 ? argv[2] : NULL) : argv[1];
  hd_buf b = {0};
  if (hd_manual_words(word, &b)) return cli_print(&b);
  hd_buf_free(&b);
  return all ? cli_usage("no word '%s'; 'heddle help words' lists them", word) : no_command(word);
}

/* The next step, by what there is: a GPU, verdicts. */
static void print_next(void) {
  hd_device *dev = NULL;
  hd_store *store = NULL;
  hd_buf b = {0};
  const bool gpu = cli_open_device("cuda:0", 0, &dev, NULL) == HD_OK;
  if (gpu && hd_store_open(NULL, &store, NULL) == HD_OK) hd_verdicts_text(store, NULL, &b, NULL);
  printf("\nNext: %s\n",
         !gpu    ? "heddle optimize matmul-naive --gpu h100, without a GPU; heddle list shows more"
         : b.len ? "heddle run -- PROGRAM, under the verdicts that heddle verdicts lists"
                 : "heddle tune matmul-swapped, or heddle tune FILE -k KERNEL ... for your own");
  hd_device_close(dev);
  hd_store_close(store);
  hd_buf_free(&b);
}

/* A file that may not grow (ulimit -f) is an error of the write, here and not in the programs that are
 * started: they begin with the default. */
static void on_long_file(int number) { (void)number; }

static void catch_long_files(void) {
  if (signal(SIGXFSZ, on_long_file) == SIG_IGN) signal(SIGXFSZ, SIG_IGN);
}

/* Each launch on the emulator allocates its CTAs' memory and frees it: it stays with the process. */
static void keep_freed_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

int cli_main(int argc, char **argv) {
  keep_freed_memory();
  catch_long_files();
  setlocale(LC_CTYPE, "C.UTF-8");
  cli_commands = commands;
  if (argc < 2) {
    print_help();
    print_next();
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) return print_help();
  if (strcmp(name, "help") == 0) return help(argc - 1, argv + 1);
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
    hd_buf b = {0};
    hd_buf_puts(&b, "heddle " HEDDLE_VERSION "\n");
    return cli_print(&b);
  }
  const cli_command *c = cli_find(name);
  if (!c) return no_command(name);
  return run(c, argc - 1, argv + 1);
}
