/* Work in parts: the options of commands that can do so, and the one that puts parts together. */
#include <string.h>

#include "cli.h"

hd_work_how cli_how;

static char **words;
static int n_words;

bool cli_keep_words(int argc, char **argv) {
  words = HD_NEW_N(cli_memory(), (size_t)argc + 1, char *);
  if (words) memcpy(words, argv, (size_t)argc * sizeof *words);
  n_words = argc;
  return words != NULL;
}

/* Words that the option takes up: 0 (it is another), 1 or 2. */
static int taken_up(const char *word, const char *option, bool flag) {
  const size_t n = strlen(option);
  if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, option, n) != 0) return 0;
  return word[2 + n] == '=' ? 1 : word[2 + n] ? 0 : flag ? 1 : 2;
}

/* The command line that does all of it: without the options of parts. */
static hd_status whole_command(hd_work_how *out, hd_diag *d) {
  const char **all = HD_NEW_N(cli_memory(), (size_t)n_words + 1, const char *);
  if (!all) return hd_nomem(d);
  for (int i = 0; i < n_words;) {
    int skip = taken_up(words[i], "shard", false);
    if (!skip) skip = taken_up(words[i], "journal", false);
    if (!skip) skip = taken_up(words[i], "resume", true);
    if (!skip) all[out->n_words++] = words[i];
    i += skip ? skip : 1;
  }
  out->command = all;
  return HD_OK;
}

hd_status cli_work_how(const cli_work *w, hd_work_how *out, hd_diag *d) {
  *out = cli_how;
  out->journal = w->journal;
  out->resume = w->resume;
  hd_status st = w->shard ? hd_shard_parse(w->shard, &out->shard, &out->shards, d) : HD_OK;
  if (st == HD_OK && w->shard && !w->journal) {
    out->journal = hd_arena_printf(cli_memory(), "%s.%u-of-%u.journal", words[0], out->shard, out->shards);
    if (!out->journal) st = hd_nomem(d);
  }
  if (st == HD_OK && w->resume && !out->journal)
    st = hd_fail(d, HD_ERR_USAGE, "%s: --resume needs the --journal to go on with", words[0]);
  return st == HD_OK ? whole_command(out, d) : st;
}

int cli_work_left(const hd_work_how *how) {
  if (!how->stream)
    fprintf(stderr, "heddle: part %u of %u is done, in %s; 'heddle merge' puts all parts together\n",
            how->shard, how->shards, how->journal);
  return EXIT_OK;
}

int cmd_merge(int argc, char **argv) {
  const cli_option options[] = {{0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  const char *const *command;
  size_t count;
  if (hd_journal_command(argv[1], cli_memory(), &command, &count, &d) != HD_OK) return cli_fail(&d);
  const cli_command *c = cli_find(command[0]);
  char **copy = HD_NEW_N(cli_memory(), count + 1, char *);
  if (!copy) return cli_usage("out of memory");
  if (!c || c->run == cmd_merge) return cli_usage("%s: no command '%s'", argv[1], command[0]);
  memcpy(copy, command, count * sizeof *copy);
  cli_how = (hd_work_how){.parts = (const char *const *)(argv + 1), .n_parts = (size_t)n};
  return c->run((int)count, copy);
}
