/* tests/predict/session.h: workloads of kernels/, plans, and a workload's traces with a GPU to replay them
 * on.
 */
#ifndef HEDDLE_TESTS_PREDICT_SESSION_H
#define HEDDLE_TESTS_PREDICT_SESSION_H

#include "check.h"

#include <stdlib.h>

#include "heddle/predict.h"

static inline bool can_compile(void) {
  return system("command -v nvcc >/dev/null || command -v clang >/dev/null") == 0;
}

static inline void skip_without_compiler(void) {
  if (can_compile()) return;
  print_message("skipped: neither nvcc nor clang is installed\n");
  skip();
}

/* `name` is a folder of kernels/, or a path. */
static inline hd_workload *open_workload(const char *name, const char *size) {
  hd_workload *w;
  hd_diag d = {0};
  if (hd_workload_open(name, SOURCE_DIR "/kernels", size, &w, &d) != HD_OK) fail_msg("%s", d.message);
  return w;
}

static inline hd_gpu load_gpu(const char *name) {
  hd_gpu g;
  hd_diag d = {0};
  if (hd_gpu_load(name, SOURCE_DIR "/gpus", &g, &d) != HD_OK) fail_msg("%s", d.message);
  return g;
}

static inline hd_plan parse_plan(const char *text) {
  hd_plan p;
  hd_diag d = {0};
  if (hd_plan_parse(text, &p, &d) != HD_OK) fail_msg("%s: %s", text, d.message);
  return p;
}

typedef struct session {
  hd_workload *w;
  hd_study *s;
  hd_gpu g;
} session;

static inline session open_session(const char *name, const char *size, const char *gpu) {
  session z = {.w = open_workload(name, size), .g = load_gpu(gpu)};
  hd_diag d = {0};
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = z.g.n_sms};
  if (hd_study_open(z.w, &run, NULL, &z.s, &d) != HD_OK) fail_msg("%s: %s", name, d.message);
  return z;
}

static inline void close_session(session *z) {
  hd_study_close(z->s);
  hd_workload_close(z->w);
}

#endif
