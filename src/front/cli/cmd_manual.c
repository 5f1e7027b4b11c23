/* Man pages and completions, from the tables that -h prints. */
#include <string.h>

#include "cli.h"

int cmd_manual(int argc, char **argv) {
  const cli_option options[] = {{0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  size_t count = 0;
  while (cli_commands[count].name) count++;
  hd_manual *all = HD_NEW_N(cli_memory(), count + 1, hd_manual);
  for (size_t i = 0; all && i < count; i++) {
    char help[] = "-h", *words[] = {(char *)cli_commands[i].name, help, NULL};
    cli_manual = &all[i];
    rc = cli_commands[i].run(2, words);
    if (rc != EXIT_OK) return rc;
  }
  cli_manual = NULL;
  if (!all) return cli_usage("out of memory");
  hd_buf text = {0};
  hd_diag d = {0};
  for (int s = 0; s < HD_SHELL_COUNT; s++)
    if (strcmp(argv[1], hd_shell_name((hd_shell)s)) == 0) {
      hd_manual_completions((hd_shell)s, all, count, &text);
      return cli_print(&text);
    }
  const size_t len = strlen(argv[1]);
  if (len > 1 && !strchr(argv[1], '/') && strcmp(argv[1] + len - 2, "sh") == 0)
    return cli_usage("manual: completions are for bash, zsh and fish, not for %s; a folder is ./%s", argv[1],
                     argv[1]);
  return hd_manual_write(argv[1], all, count, HEDDLE_VERSION, &d) == HD_OK ? EXIT_OK : cli_fail(&d);
}
