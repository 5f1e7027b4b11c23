/* Files that may not grow: a call that writes one fails, and the program goes on. */
#include <sys/resource.h>
#include <unistd.h>

#include "entries.h"

int main(void) {
  char path[] = "/tmp/heddle-limits-XXXXXX", word[8] = "";
  struct rlimit was, low;
  cu_context context;
  cu_graph graph;
  cu_node node;
  const int fd = mkstemp(path);
  if (fd < 0 || getrlimit(RLIMIT_FSIZE, &was) != 0) return 1;
  low = was;
  low.rlim_cur = 4;
  const cu_result ready[] = {cuInit(0), cuCtxCreate_v2(&context, 0, 0), cuGraphCreate(&graph, 0),
                             cuGraphAddEmptyNode(&node, graph, NULL, 0)};
  setrlimit(RLIMIT_FSIZE, &low);
  const cu_result full = cuGraphDebugDotPrint(graph, path, 0);
  setrlimit(RLIMIT_FSIZE, &was);
  const cu_result drawn = cuGraphDebugDotPrint(graph, path, 0);
  close(fd);
  FILE *f = fopen(path, "r");
  const bool whole = f && fgets(word, sizeof word, f) && strcmp(word, "digraph") == 0;
  unlink(path);
  for (size_t k = 0; k < sizeof ready / sizeof *ready; k++)
    if (ready[k] != CU_SUCCESS) printf("call %zu gives %d\n", k, ready[k]);
  if (full != CU_OPERATING_SYSTEM || drawn != CU_SUCCESS || !whole)
    printf("limited: %d, unlimited: %d, %s\n", full, drawn, word);
  else
    puts("limits: as they should be");
  return 0;
}
