/* The one parser of options, and the help that it prints from the same tables. */
#include <string.h>

#include "cli.h"

/* ---- Options that several commands have ------------------------------------------------------- */

static const cli_option common[] = {
    {"any-grid", 0, CLI_FLAG, NULL, 0, NULL, "rewrite for any grid instead of the launch's own"},
    {"assume", 0, CLI_ASSUME, NULL, 0, "WORDS",
     "no-waits: no loop waits for another CTA, whatever it looks like;\nno-carry: no tile of a persistent "
     "kernel's loop reads or overwrites what an earlier one left in memory"},
    {"budget", 0, CLI_NUMBER, NULL, 86400, "S",
     "work for each workload, as seconds of an idle machine (default: 4, up to 10 if runs take long,\nmore "
     "while much is unseen)"},
    {"bypass-register", 0, CLI_FLAG, NULL, 0, NULL,
     "thresholds of bypass= lie in a register of the caches (BYP 6.2), not in the code"},
    {"depth", 0, CLI_CHOICE, NULL, 0, "timing|traffic",
     "times by a clock (default if the GPU's file has [units]), or traffic alone"},
    {"device", 0, CLI_TEXT, NULL, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
    {"dispatcher", 0, CLI_TEXT, NULL, 0, "NAME", "demand or round-robin (default: as the GPU's file says)"},
    {"exact", 0, CLI_FLAG, NULL, 0, NULL, "replay all launches whole, however long that takes"},
    {"gpu", 0, CLI_TEXT, NULL, 0, "NAME",
     "a GPU (h100, a100, 4090, b200, ...; list: all files of gpus/) or a .toml\n(default: h100)"},
    {"journal", 0, CLI_TEXT, NULL, 0, "FILE",
     "keep what is found in a file, item by item (with --shard the default: COMMAND.I-of-N.journal)"},
    {"json", 0, CLI_FLAG, NULL, 0, NULL, "print JSON"},
    {"l1", 0, CLI_NUMBER, NULL, UINT32_MAX, "BYTES", "of L1 per SM, in place of the GPU's own"},
    {"l2", 0, CLI_CHOICE, NULL, 0, "flush|keep",
     "what a run finds in L2: nothing of the workload, or what its last run left\n(default: flush)"},
    {"library", 0, CLI_TEXT, NULL, 0, "FOLDER",
     NULL}, /* of heddle's own that are loaded in front of a program */
    {"mixed", 0, CLI_FLAG, NULL, 0, NULL, "GPUs of MPI's ranks may be of several kinds"},
    {"no-advice", 0, CLI_FLAG, NULL, 0, NULL, "do not ask the analysis of a small size what to try first"},
    {"no-counters", 0, CLI_FLAG, NULL, 0, NULL, "times only"},
    {"no-hoisting", 0, CLI_FLAG, NULL, 0, NULL, "bind=agents: a loop out of which ptxas hoists nothing"},
    {"once", 0, CLI_FLAG, NULL, 0, NULL,
     "do not measure winners once more on a second GPU, if MPI's ranks have several"},
    {"output", 'o', CLI_TEXT, NULL, 0, "OUT", "write to a file"},
    {"param", 0, CLI_LIST, NULL, 0, "NAME=N",
     "another value for one of the size's parameters; may be given several times"},
    {"plot", 0, CLI_FLAG, NULL, 0, NULL, "draw bars in place of the table"},
    {"repetitions", 0, CLI_NUMBER, NULL, 100000, "N", NULL},
    {"resume", 0, CLI_FLAG, NULL, 0, NULL, "go on with the journal of a run that was cut off"},
    {"save", 0, CLI_TEXT, NULL, 0, "DIR", "keep the workload of a file in this folder"},
    {"scheduler", 0, CLI_TEXT, NULL, 0, "NAME",
     "of warps: lrr, gto, two-level[:N], ccws, priority[:N] (default: the GPU's)"},
    {"seed", 0, CLI_NUMBER, NULL, 0, "S", "of what is drawn (default: 1)"},
    {"shard", 0, CLI_TEXT, NULL, 0, "I/N",
     "do part I of N only, into a journal: 'heddle merge' puts them together. auto: the task\nof a Slurm "
     "array"},
    {"shared", 0, CLI_FLAG, NULL, 0, NULL,
     "others use the GPU: the winner's test does not take all its free memory, which it else takes\nfor some "
     "tenths of a second, to try buffers in fragmented memory"},
    {"size", 0, CLI_TEXT, NULL, 0, "NAME", "the workload's size (default: small)"},
    {"store", 0, CLI_TEXT, NULL, 0, "FILE",
     "where verdicts are kept (default: verdicts.db in heddle's cache folder); none: nowhere"},
    {"threads", 0, CLI_NUMBER, NULL, 1024, "N", "host threads (default: all)"},
    {"timeline", 0, CLI_TEXT, NULL, 0, "FILE",
     "CTAs over SMs and hits over time as trace events, for Perfetto and speedscope"},
    {"wall", 0, CLI_NUMBER, NULL, 86400, "S",
     "seconds on the clock after which it ends without an answer (default: 600, or ten budgets)"},
    {"warmups", 0, CLI_NUMBER, NULL, 100000, "N", NULL},
    {0}};

/* ---- Values ------------------------------------------------------------------------------ */

static const cli_option *find_option(const cli_option *options, const char *name, size_t n, char letter) {
  for (const cli_option *o = options; o->name; o++)
    if (name ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter && o->letter == letter)
      return o;
  return NULL;
}

bool cli_parse_dims(const char *text, uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  for (int k = 0; k < 3; k++) {
    size_t n = strcspn(text, ",x");
    uint64_t v;
    if (!hd_parse_u64(text, n, UINT32_MAX, &v) || v == 0) return false;
    out[k] = (uint32_t)v;
    if (!text[n]) return true;
    text += n + 1;
  }
  return false;
}

/* Room for all the words of a command line at the first item: a list never grows. */
static int add_item(cli_list *l, const char *text, int argc) {
  if (!l->items) l->items = HD_NEW_N(cli_memory(), (size_t)argc, const char *);
  if (!l->items) return cli_usage("out of memory");
  l->items[l->n++] = text;
  return 0;
}

static int add_word(cli_input *in, const char *option, const char *text, int argc) {
  if (!in->words) in->words = HD_NEW_N(cli_memory(), (size_t)argc, hd_launch_word);
  if (!in->words) return cli_usage("out of memory");
  in->words[in->n_words++] = (hd_launch_word){option, text};
  return 0;
}

/* 0, or the exit code after a message. */
static int set_option(const cli_command *c, const cli_option *o, const char *text, int argc) {
  char near[HD_NEAR];
  if (!text && o->kind != CLI_FLAG && o->kind != CLI_MAYBE && o->kind != CLI_WORD)
    return cli_usage("%s: --%s takes a value", c->name, o->name);
  switch (o->kind) {
  case CLI_FLAG: *(bool *)o->value = true; return 0;
  case CLI_MAYBE:
  case CLI_TEXT: *(const char **)o->value = text; return 0;
  case CLI_NUMBER:
    if (hd_parse_u64(text, strlen(text), o->max ? o->max : UINT64_MAX, o->value)) return 0;
    return cli_usage("%s: --%s takes a whole number%s, not '%s'", c->name, o->name,
                     !o->max ? "" : hd_arena_printf(cli_memory(), " of at most %ju", (uintmax_t)o->max),
                     text);
  case CLI_LIST: return add_item(o->value, text, argc);
  case CLI_CHOICE:
    if ((*(unsigned *)o->value = hd_choose(o->argument, text))) return 0;
    return cli_usage("%s: --%s takes %s, not '%s'%s", c->name, o->name,
                     hd_alternatives(o->argument, cli_memory()), text,
                     hd_near(o->argument, text, strlen(text), near));
  case CLI_ASSUME:
    if (hd_assume_parse(text, o->value)) return 0;
    return cli_usage("%s: --%s takes no-waits or no-carry, not '%s'%s", c->name, o->name, text,
                     hd_near("no-waits or no-carry", text, strlen(text), near));
  case CLI_WORD: return add_word(o->value, o->name, text, argc);
  case CLI_SHARED:
  case CLI_INPUT: break; /* expanded before anything is parsed */
  }
  return EXIT_USAGE;
}

/* ---- Help -------------------------------------------------------------------------------- */

hd_manual *cli_manual;

/* Prints the help, or hands over what it says. */
static int tell_usage(const cli_command *c, const cli_option *options) {
  size_t n = 0;
  while (options[n].name) n++;
  hd_manual_option *rows = HD_NEW_N(cli_memory(), n + 1, hd_manual_option);
  hd_manual m = {c->name, c->synopsis, c->summary, c->notes, rows, 0};
  if (!rows) return cli_usage("out of memory");
  for (const cli_option *o = options; o->name; o++)
    if (o->help)
      rows[m.n++] = (hd_manual_option){o->name, o->letter, o->argument, o->kind == CLI_WORD, o->help};
  hd_buf b = {0};
  if (cli_manual)
    *cli_manual = m;
  else
    hd_manual_help(&m, &b);
  return cli_print(&b);
}

static int print_gpus(void) {
  hd_diag d = {0};
  hd_buf b = {0};
  return hd_gpu_names(cli_gpus_dir(), &b, &d) == HD_OK ? cli_print(&b) : cli_fail(&d);
}

static int no_option(const cli_command *c, const cli_option *options, const char *word) {
  hd_buf near = {0};
  size_t n = 0;
  while (options[n].name) n++;
  const char **names = HD_NEW_N(cli_memory(), n + 1, const char *);
  for (size_t i = 0; names && i < n; i++) names[i] = options[i].name;
  if (names && !strncmp(word, "--", 2) && word[2]) hd_suggest(names, n, 0, word + 2, &near);
  const int rc = cli_usage("%s: no option '%s'%s%s; 'heddle %s -h' lists them", c->name, word,
                           near.len ? "; did you mean --" : "", near.len ? near.data : "", c->name);
  hd_buf_free(&near);
  return rc;
}

/* ---- Rows that stand for others ------------------------------------------------------------ */

static cli_option *put_common(cli_option *at, const char *name, void *value, const char *help) {
  *at = *find_option(common, name, strlen(name), 0);
  at->value = value;
  if (help) at->help = help;
  return at + 1;
}

static cli_option *put_input(cli_option *at, cli_input *in, const char *size_help) {
  at = put_common(at, "size", &in->size, size_help);
  at = put_common(at, "param", &in->params, NULL);
  return put_common(at, "save", &in->save, NULL);
}

/* The table with all rows that others stand for; those of launches are at its end. */
static const cli_option *expand(const cli_option *options) {
  enum { INPUT_ROWS = 3 };
  size_t n = 0, words = 0;
  cli_input *in = NULL;
  while (options[n].name) n++;
  while (hd_launch_option_at(words)) words++;
  cli_option *all = HD_NEW_N(cli_memory(), n + INPUT_ROWS + words + 1, cli_option), *at = all;
  for (const cli_option *o = options; all && o->name; o++) {
    if (o->kind == CLI_INPUT)
      at = put_input(at, in = o->value, o->help);
    else if (o->kind == CLI_SHARED)
      at = put_common(at, o->name, o->value, o->help);
    else
      *at++ = *o;
  }
  for (size_t i = 0; all && in && i < words; i++) {
    const hd_launch_option *w = hd_launch_option_at(i);
    *at++ = (cli_option){w->name, w->letter, CLI_WORD, in, 0, w->argument, w->help};
  }
  return all;
}

/* ---- Parsing ----------------------------------------------------------------------------- */

static int count_words(const cli_command *c, char **argv, int n) {
  if (n >= c->least && n <= c->most) return -1;
  if (!c->most) return cli_usage("%s: takes no arguments, and so not '%s'", c->name, argv[1]);
  return cli_usage("%s: %s", c->name, c->wanted);
}

int cli_parse(const cli_option *options, int argc, char **argv, int *n) {
  const cli_command *c = cli_find(argv[0]);
  *n = 0;
  bool only_words = false;
  options = expand(options);
  if (!options) return cli_usage("out of memory");
  for (int i = 1; i < argc; i++) {
    char *a = argv[i];
    if (only_words || a[0] != '-' || a[1] == 0) {
      argv[++*n] = a;
      continue;
    }
    if (strcmp(a, "--") == 0) {
      only_words = true;
      continue;
    }
    if (strcmp(a, "-h") == 0 || strcmp(a, "--help") == 0) return tell_usage(c, options);
    const cli_option *o;
    const char *text = NULL;
    if (a[1] == '-') {
      size_t len = strcspn(a + 2, "=");
      o = find_option(options, a + 2, len, 0);
      if (a[2 + len] == '=') text = a + 3 + len;
    } else {
      o = find_option(options, NULL, 0, a[1]);
      if (a[2]) text = a + 2;
    }
    if (!o) return no_option(c, options, a);
    const bool flag = o->kind == CLI_FLAG || (o->kind == CLI_WORD && !o->argument);
    if (flag && text) return cli_usage("%s: --%s takes no value", c->name, o->name);
    if (o->kind == CLI_MAYBE && !text) text = "";
    if (!flag && !text) {
      if (i + 1 >= argc) return cli_usage("%s: --%s needs a value", c->name, o->name);
      text = argv[++i];
    }
    if (text && o->kind == CLI_TEXT && !strcmp(o->name, "gpu") && !strcmp(text, "list")) return print_gpus();
    int rc = set_option(c, o, text, argc);
    if (rc) return rc;
  }
  return count_words(c, argv, *n);
}

const char *cli_word(const cli_input *in, const char *option) {
  for (size_t i = in->n_words; i-- > 0;)
    if (strcmp(in->words[i].option, option) == 0) return in->words[i].text;
  return NULL;
}

hd_status cli_read_launch(const char *command, const cli_input *in, uint64_t *module, uint32_t grid[3],
                          uint32_t block[3], hd_diag *d) {
  const char *m = cli_word(in, "module"), *g = cli_word(in, "grid"), *b = cli_word(in, "block");
  if (m && !hd_parse_u64(m, strlen(m), UINT32_MAX, module))
    return hd_fail(d, HD_ERR_USAGE, "%s: --module takes a whole number, not '%s'", command, m);
  const char *bad = g && !cli_parse_dims(g, grid) ? "grid" : b && !cli_parse_dims(b, block) ? "block" : NULL;
  if (!bad) return HD_OK;
  return hd_fail(d, HD_ERR_USAGE, "%s: --%s takes X[,Y[,Z]], not '%s'", command, bad, cli_word(in, bad));
}
