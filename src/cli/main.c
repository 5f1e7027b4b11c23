#include <locale.h>
#include <string.h>

#include "cli.h"

#define JSON_NOTE "  --json             print JSON\n"
#define RUN_NOTE                                                                                             \
  "  --size NAME        the workload's size (default: small)\n"                                              \
  "  --threads N        host threads (default: all)\n"

const cli_command cli_commands[] = {
    {"ls", "FILE...", "modules and kernels in PTX files, fatbins, executables and libraries",
     "  --json             totals as JSON: modules, kernels, bytes, failures\n"
     "  -l, --long         with --json: every kernel too\n",
     cmd_ls},
    {"fmt", "FILE", "parse a module and print it",
     "  -m, --module N     module number, as ls shows it, when the file holds several\n"
     "  --raw              print the text as it is stored, unparsed\n"
     "  -o, --output OUT   write to a file\n",
     cmd_fmt},
    {"analyze", "FILE [-k KERNEL] | WORKLOAD",
     "where the reuse is, whether it can be had, and what to do about it",
     "  -k, --kernel NAME  the kernel (default: all of the file, or those the workload launches)\n"
     "  -m, --module N     module number when the file holds several\n"
     "  --grid X[,Y[,Z]]  --block X[,Y[,Z]]   what is known of a file's launches\n"
     "  --size NAME        the workload's size (default: small)\n"
     "  -v, --verbose      of a file: conditions and whole formulas; of a workload: every launch, every "
     "access\n"
     "  --static           the kernel's text only: do not run the workload\n"
     "  --gpu NAME         the GPU to model (default: h100)\n"
     "  --seconds N        for predicting what plans do, about (default: 10)\n"
     "  --threads N        host threads (default: all)\n"
     "  --dot cfg          the control-flow graph of the kernel in Graphviz' language instead\n"
     "  --dot affinity     which CTAs share how much, likewise (of a workload; the heaviest edges)\n"
     "  --coverage FILE... accesses by class over all kernels of these files instead\n"
     "  --directions WORKLOAD...   MAP's mapping directions, from the code, instead\n" JSON_NOTE,
     cmd_analyze},
    {"rewrite", "FILE -k KERNEL --plan P", "write the kernel as a plan wants it",
     "  -k, --kernel NAME  the kernel (default: the only one)\n"
     "  --plan P           e.g. order=tile:8x4,bind=redirect\n"
     "  --grid X[,Y[,Z]]   the launch's grid: constants are baked in, and only this grid is right\n"
     "                     (default: any grid)\n"
     "  --block X[,Y[,Z]]  threads per CTA of the launches to come, where the kernel does not say\n"
     "  --more-registers   bind=agents:N: as many registers as N CTAs per SM leave (needs the block)\n"
     "  --registers N      that a thread of the original uses; bind=agents limits the rewritten kernel's\n"
     "  --no-hoisting      bind=agents: a loop out of which ptxas hoists nothing\n"
     "  --sms N            clusters, one per SM (default: those of --gpu, else 132)\n"
     "  --gpu NAME         take the number of SMs from this GPU\n"
     "  -m, --module N     module number when the file holds several\n"
     "  --all              all kernels of all modules instead, but for those that are refused; a table of "
     "the\n"
     "                     reasons goes to stderr\n"
     "  --sample N         with --all: N of the modules, spread evenly over the file\n"
     "  --json             with --all: print modules and reasons as JSON\n"
     "  -o, --output OUT   write to a file; with --all and several modules an existing folder\n",
     cmd_rewrite},
    {"check", "WORKLOAD --plan P", "prove on the emulator or a device that plan and original agree",
     "  --plan P           the plan (default: baseline: the kernel against its reference)\n"
     "  --dispatcher LIST  names joined by commas (default: all)\n"
     "  --sms N            SMs of the emulated machine (default: 16)\n"
     "  --resident N       CTAs alive at once on each (default: 4)\n"
     "  --param NAME=N     another value for one of the size's parameters; may be given several times\n"
     "  --device D         run there instead, as it dispatches: cuda:N, model:NAME or emu\n"
     "  --runs N           of the rewritten kernel on the device (default: 3)\n"
     "  --no-reference     do not compare with reference.c\n"
     "  --any-grid         rewrite for any grid instead of the launch's own\n"
     "  --no-hoisting      bind=agents: a loop out of which ptxas hoists nothing\n"
     "  --seed N           seed of the dispatchers\n" RUN_NOTE JSON_NOTE,
     cmd_check},
    {"time", "WORKLOAD --plan P [--plan Q ...] --device D",
     "time plans against the default launch on a device",
     "  --plan P           a plan; several are timed in turns\n"
     "  --device D         cuda:N or model:NAME (default: cuda:0)\n"
     "  --repetitions N    timed rounds (default: 31); an interval needs 8\n"
     "  --warmups N        rounds before them (default: 3)\n"
     "  --l2 flush|keep    what a run finds in L2: nothing of the workload, or what its last run left\n"
     "                     (default: flush)\n"
     "  --no-counters      times only\n"
     "  --any-grid         rewrite for any grid instead of the launch's own\n" RUN_NOTE JSON_NOTE,
     cmd_time},
    {"tune", "WORKLOAD...", "find the plan that wins on a device, and keep it as a verdict",
     "  --device D         cuda:N or model:NAME (default: cuda:0)\n"
     "  --budget S         seconds for each workload, about (default: 10)\n"
     "  --plan P           try this plan first; may be given several times\n"
     "  --again            tune though there is a verdict\n"
     "  --verify           measure the verdicts anew; those that no longer win are dropped\n"
     "  --whole            one plan for all kernels of a workload (models always do that)\n"
     "  --strategy S       how many warps bypass L1: search times every number, vote has SMs try them during "
     "the\n"
     "                     same launches and times the one they choose, compare does both (default: search)\n"
     "  --size NAME        the workloads' size (default: gpu; on models small)\n"
     "  --l2 flush|keep    as for time\n"
     "  --shared           others use the GPU: do not take all its free memory, as the winner's test else "
     "does for\n"
     "                     some tenths of a second, to try it with buffers strewn all over\n"
     "  --store FILE       where verdicts are kept (default: verdicts.db in heddle's cache folder); none: "
     "nowhere\n"
     "  --rows N           plans to show of each kernel (default: 8)\n"
     "  --no-advice        do not ask the analysis of a small size what to try first\n"
     "  --no-proof         do not check the winner on the emulator\n"
     "  --no-counters      times only\n"
     "  --any-grid         rewrite for any grid instead of the launch's own\n"
     "  --threads N        host threads (default: all)\n" JSON_NOTE,
     cmd_tune},
    {"bench", "[WORKLOAD...]", "tune many workloads and draw the papers' tables for a device",
     "  --device D         cuda:N or model:NAME (default: cuda:0)\n"
     "  --size NAME        the workloads' size (default: gpu; on models small)\n"
     "  --budget S         seconds for each workload, about (default: 10)\n"
     "  --total S          begin no further workload after so many seconds (default: no limit)\n"
     "  --resume           go on where an earlier run in the same folder ended\n"
     "  --verify           tune nothing: measure every verdict for this device once more, at the size it "
     "was\n"
     "                     tuned at, into verify.jsonl and verify.txt; nothing is dropped\n"
     "  --store FILE       keep the verdicts there (default: heddle's store); none: nowhere\n"
     "  --no-advice        do not ask the analysis of a small size what to try first\n"
     "  --no-counters      times only\n"
     "  --shared           as for tune\n"
     "  --threads N        host threads (default: all)\n"
     "  -o, --output DIR   where results.jsonl, table.txt, report.html and commands.txt go\n"
     "                     (default: heddle-bench)\n" JSON_NOTE
     "Exit code 1 when a verdict that is verified runs below 0.99x, or cannot be run.\n",
     cmd_bench},
    {"probe", "--device D", "what a GPU's dispatcher and caches do; writes its file for gpus/",
     "  --device D         the GPU (default: cuda:0)\n"
     "  --launches N       of the dispatcher's benchmark, plus a staggered one (default: 5)\n"
     "  --delay CYCLES     between the waves of the staggered launch (default: 3000)\n"
     "  --dram MB          what the DRAM bandwidths read (default: 2048)\n"
     "  -o, --output OUT   the GPU file (default: its name with .toml, in this folder)\n"
     "  --html OUT         a page of plots as well\n" JSON_NOTE,
     cmd_probe},
    {"difftest", "[--device D]", "random PTX programs on the emulator and a device, compared bit for bit",
     "  --device D         the other side: cuda:N, or an instruction set of the emulator's own: "
     "emu:portable,\n"
     "                     emu:avx2, emu:avx512 (default: cuda:0)\n"
     "  --programs N       how many (default: 1000)\n"
     "  --seed S           of all programs (default: 1)\n"
     "  --first N          number of the first: one that differs is run again by its number (default: 0)\n"
     "  --op PATTERN       only instructions whose dotted word matches, e.g. 'cvt.*.f16'\n"
     "  --sm N             architecture that programs are written for (default: the device's)\n"
     "  --reports N        differences to reduce and print (default: 20)\n"
     "  --per-module N     programs compiled together (default: 64)\n"
     "  --threads N        host threads, each with a process for a GPU of its own (default: all)\n" JSON_NOTE
     "Programs that differ are counted by instruction: within the bounds of approximate instructions\n"
     "(docs/difftest.md), by the device's compiler (they agree when it does not optimize), unexplained.\n"
     "Exit code 1 when any is unexplained.\n",
     cmd_difftest},
    {"simulate", "WORKLOAD --gpu NAME", "counters on a modelled GPU",
     "  --gpu NAME         a file of gpus/ (gtx480 to gtx1080, k40, m2075, h100, h200) or a .toml (default: "
     "h100)\n"
     "  --l1 BYTES         of L1 per SM, in place of the GPU's own\n"
     "  --plan P           the plan (default: baseline)\n"
     "  --dispatcher NAME  demand or round-robin (default: as the GPU's file says)\n"
     "  --seed N           seed of the dispatcher\n" RUN_NOTE JSON_NOTE,
     cmd_simulate},
    {"sweep", "WORKLOAD --gpu NAME", "many plans on a modelled GPU, as CSV",
     "  --gpu NAME         the GPU (default: h100)\n"
     "  --l1 BYTES         of L1 per SM, in place of the GPU's own\n"
     "  --plans LIST       plans separated by spaces, or @FILE with one a line (default: all candidates)\n"
     "  --dispatcher NAME  demand or round-robin (default: as the GPU's file says)\n"
     "  --seed N           seed of the dispatcher\n"
     "  --html OUT         also draw the landscape\n"
     "  -o, --output OUT   write the CSV to a file\n" RUN_NOTE,
     cmd_sweep},
    {"accuracy", "[WORKLOAD...] --gpu NAME --device D", "the traffic model's counters against a device's own",
     "  --gpu NAME         the GPU to model (default: h100)\n"
     "  --device D         the device that counts: cuda:N (default: cuda:0)\n"
     "  --size NAME        the workloads' size (default: small)\n"
     "  --seconds N        that modelling one workload may take (default: 60)\n"
     "  --threads N        workloads modelled at once (default: one per processor)\n" JSON_NOTE,
     cmd_accuracy},
    {"corun", "A B --device D", "two workloads at the same time: streams, SM partitions, green contexts",
     "  --device D         cuda:N (default: cuda:0)\n"
     "  --size NAME        both workloads' size (default: small)\n"
     "  --plan P           other levers of the partitions' plans: of A, and given again, of B\n"
     "  --sms N            that A gets of a partition (default: what a search finds best)\n"
     "  --repetitions N    timed rounds (default: 21); an interval needs 8\n"
     "  --warmups N        rounds before them (default: 2)\n" JSON_NOTE,
     cmd_corun},
    {"optimize", "WORKLOAD | FILE -k KERNEL --grid ... --block ... --arg ...",
     "find, prove and write the best order of a kernel's CTAs",
     "  --gpu NAME         the GPU to model (default: h100)\n"
     "  --plans LIST       as for sweep\n"
     "  --dispatcher NAME  demand or round-robin (default: as the GPU's file says)\n"
     "  -o, --output DIR   where NAME.ptx and NAME.html go, made if need be (default: this folder)\n"
     "  --keep-launch      leave out plans that need another launch: bind=agents, bind=claim, sms\n"
     "  --rows N           rows of the table to print (default: 12)\n"
     "  --size NAME        the workload's size (default: paper where there is one)\n"
     "  --threads N        host threads (default: all)\n"
     "  --json             print JSON\n"
     "For a PTX file or a binary instead of a workload:\n"
     "  -k, --kernel NAME  the kernel (default: the only one)\n"
     "  -m, --module N     module number when the file holds several\n"
     "  --grid X[,Y[,Z]]  --block X[,Y[,Z]]  --shared BYTES\n"
     "  --arg A            one per parameter, in order: a scalar (s32:512, f32:0.5, u64:7) or a buffer\n"
     "                     TYPE[COUNT]=FILL, e.g. 'f32[262144]=uniform(-1, 1)', 's32[1024]=zero'\n",
     cmd_optimize},
    {"list", "", "the workloads that come with heddle", JSON_NOTE, cmd_list},
    {"categories", "", "CLU's table 2 as measured: categories and inter-CTA reuse, in Markdown",
     "  --gpu NAME         the GPU to model (default: gtx580)\n"
     "  --size NAME        the workloads' size (default: paper)\n"
     "  --small LIST       workloads, separated by commas, that are measured at size small\n"
     "  --threads N        host threads (default: all)\n"
     "  -o, --output OUT   write to a file\n",
     cmd_categories},
    {"verdicts", "[list | export | import FILE | prune]", "what tuning found, kept from run to run",
     "  --store FILE       the store (default: verdicts.db in heddle's cache folder)\n"
     "  --name G --gpu G --driver G\n"
     "                     only verdicts that match these patterns, e.g. --name 'matmul*'\n"
     "  --older DAYS       only those made longer ago\n"
     "  --all              prune: drop everything\n"
     "  -o, --output OUT   write to a file\n" JSON_NOTE,
     cmd_verdicts},
    {"matrix", "[WORKLOAD | FOLDER]...", "which plans work on which workloads, or why they are refused",
     "  --plan P           a column; may be given several times (default: one for each lever)\n"
     "  --size NAME        the workloads' size (default: tiny)\n"
     "  --random N         N random compositions of all levers at random sizes around that one instead, each "
     "under\n"
     "                     three dispatchers: one worker at a time, all at once, and one drawn\n"
     "  --seed S           of what is drawn (default: 1)\n"
     "  --threads N        host threads (default: all)\n"
     "  -o, --output OUT   write the table, in Markdown, to a file\n" JSON_NOTE
     "A folder stands for the workloads in it. Exit code 1 when anything differs; a line for each says how "
     "to repeat it.\n",
     cmd_matrix},
    {"overhead", "[WORKLOAD...]", "what plans cost: instructions, registers, shared memory",
     "  --plan P           a row; may be given several times (default: one for each lever)\n"
     "  --size NAME        the workloads' size (default: tiny)\n"
     "  --any-grid         rewrite for any grid instead of the launch's own\n"
     "  --threads N        host threads (default: all)\n"
     "  -o, --output OUT   write the page, in Markdown, to a file, and keep what it has from \"## Notes\" "
     "on\n" JSON_NOTE,
     cmd_overhead},
    {"header", "", "the orders as functions in CUDA C: the text of heddle/cta_orders.h",
     "  -o, --output OUT   write to a file\n", cmd_header},
    {0},
};

const cli_command *cli_find(const char *name) {
  for (const cli_command *c = cli_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c;
  return NULL;
}

static int print_help(void) {
  hd_buf b = {0};
  hd_buf_puts(&b, "heddle " HEDDLE_VERSION ": steers the thread blocks (CTAs) of CUDA kernels\n\n"
                  "usage: heddle COMMAND [options] ...\n\n");
  hd_text_table *t = hd_text_table_new("lll");
  if (!t) return EXIT_USAGE;
  for (const cli_command *c = cli_commands; c->name; c++) {
    hd_text_table_cell(t, " ");
    hd_text_table_cell(t, "%s", c->name);
    hd_text_table_cell(t, "%s", c->summary);
  }
  hd_text_table_print(t, &b);
  hd_text_table_free(t);
  hd_buf_puts(&b,
              "\n'heddle COMMAND -h' says more. Exit codes: 0 done; 1 the answer is no (not equal, not\n"
              "sound); 2 bad usage or input. $HEDDLE_CUDA_DRIVER names another driver than libcuda.so.1.\n");
  return cli_print(&b);
}

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "C.UTF-8");
  if (argc < 2) {
    print_help();
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0)
    return print_help();
  if (strcmp(name, "--version") == 0) {
    puts("heddle " HEDDLE_VERSION);
    return EXIT_OK;
  }
  const cli_command *c = cli_find(name);
  if (!c) return cli_usage("no command '%s'; 'heddle -h' lists them", name);
  return c->run(argc - 1, argv + 1);
}
