/* cli/rewrite_all.h: rewrite for whole files. */
#ifndef HEDDLE_CLI_REWRITE_ALL_H
#define HEDDLE_CLI_REWRITE_ALL_H

#include "heddle/rewrite.h"

typedef struct rewrite_all_job {
  const char *path, *output; /* an existing folder gets a file a module */
  uint64_t index;            /* of the module; UINT64_MAX: all */
  uint64_t sample;           /* so many modules, spread evenly; 0: all */
  const hd_plan *plan;
  const hd_rewrite_options *options;
  bool json;
} rewrite_all_job;

/* The code to exit with. */
int rewrite_all(const rewrite_all_job *j);

/* cmd_rewrite.c. How the kernel is launched from now on, as comments. */
void rewrite_put_recipe(const char *kernel, const hd_recipe *r, hd_buf *text);

#endif
