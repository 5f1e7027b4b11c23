/* Many processes open a store that is not there yet. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/store.h"

/* Each round a new file, whose journal all of them change. */
static void many_processes_open_a_new_store_at_once(void **state) {
  enum { ROUNDS = 20, PROCESSES = 8 };
  char folder[] = "/tmp/heddle-opening-XXXXXX", path[64], command[64];
  assert_non_null(mkdtemp(folder));
  for (unsigned round = 0; round < ROUNDS; round++) {
    pid_t child[PROCESSES];
    int status, failed = 0;
    snprintf(path, sizeof path, "%s/%u.db", folder, round);
    for (unsigned p = 0; p < PROCESSES; p++) {
      child[p] = fork();
      if (child[p] != 0) continue;
      hd_store *s;
      if (hd_store_open(path, &s, NULL) != HD_OK) _exit(1);
      hd_store_close(s);
      _exit(0);
    }
    for (unsigned p = 0; p < PROCESSES; p++)
      failed += waitpid(child[p], &status, 0) != child[p] || status != 0;
    if (failed) fail_msg("round %u: %d of %d processes could not open it", round, failed, PROCESSES);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_processes_open_a_new_store_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
