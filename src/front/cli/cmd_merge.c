/* Work in parts: the options of commands that can do so, and the one that puts parts together. */
#include <string.h>

#include "cli.h"

hd_work_how cli_how;

char **cli_words;
static int n_words;

bool cli_keep_words(int argc, char **argv) {
  cli_words = HD_NEW_N(cli_memory(), (size_t)argc + 1, char *);
  if (cli_words) memcpy(cli_words, argv, (size_t)argc * sizeof *cli_words);
  n_words = argc;
  return cli_words != NULL;
}

hd_status cli_work_how(const cli_work *w, hd_work_how *out, hd_diag *d) {
  *out = cli_how;
  out->journal = w->journal;
  out->resume = w->resume;
  hd_status st = w->shard ? hd_shard_parse(w->shard, &out->shard, &out->shards, d) : HD_OK;
  if (st == HD_OK && w->shard && !w->journal) {
    out->journal =
        hd_arena_printf(cli_memory(), "%s.%u-of-%u.journal", cli_words[0], out->shard, out->shards);
    if (!out->journal) st = hd_nomem(d);
  }
  if (st == HD_OK && w->resume && !out->journal)
    st = hd_fail(d, HD_ERR_USAGE, "%s: --resume needs the --journal to go on with", cli_words[0]);
  return st == HD_OK ? hd_work_command((const char *const *)cli_words, (size_t)n_words, cli_memory(), out, d)
                     : st;
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
  return cli_keep_words((int)count, copy) ? c->run((int)count, copy) : cli_usage("out of memory");
}
