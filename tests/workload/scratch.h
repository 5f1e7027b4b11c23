/* A temporary folder for a test program: files in it, and a cache of its own. */
#ifndef HEDDLE_TESTS_WORKLOAD_SCRATCH_H
#define HEDDLE_TESTS_WORKLOAD_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/process.h"
#include "workload/workload.h"

static char scratch[WL_PATH];

static inline int scratch_setup(void **state) {
  if (hd_scratch_make(scratch, sizeof scratch, NULL) != HD_OK) return -1;
  setenv("XDG_CACHE_HOME", scratch, 1);
  return 0;
}

static inline int scratch_teardown(void **state) {
  hd_scratch_remove(scratch);
  return 0;
}

/* scratch/NAME; the text of the last eight calls is valid. */
static inline const char *scratch_path(const char *name) {
  static char paths[8][2 * WL_PATH];
  static unsigned next;
  char *p = paths[next++ % 8];
  snprintf(p, sizeof paths[0], "%s/%s", scratch, name);
  return p;
}

/* Write a file below scratch, its folders made. */
static inline void scratch_write(const char *name, const char *text) {
  char path[2 * WL_PATH];
  snprintf(path, sizeof path, "%s", scratch_path(name));
  for (char *p = path + strlen(scratch) + 1; (p = strchr(p, '/')); p++) {
    *p = 0;
    mkdir(path, 0700);
    *p = '/';
  }
  if (hd_file_write(path, text, strlen(text), NULL) != HD_OK) abort();
}

#endif
