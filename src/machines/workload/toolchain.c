/* Compilers: their identity in cache keys, and their errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workload/workload.h"

/* ---- Versions ----------------------------------------------------------------------------------- */

void wl_hash_compiler(hd_digest *h, const char *path) {
  static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                                          "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH"};
  char *real = realpath(path, NULL);
  struct stat st = {0};
  hd_digest_text(h, real ? real : path);
  if (stat(path, &st) == 0) {
    int64_t identity[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    hd_digest_bytes(h, identity, sizeof identity);
  }
  free(real);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *v = getenv(variables[i]);
    hd_digest_text(h, v ? v : "");
  }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static uint32_t number_at(const char *s, const char *end, const char **after) {
  uint64_t v = 0;
  const char *p = s;
  for (; p < end && *p >= '0' && *p <= '9'; p++) v = v < UINT32_MAX / 10 ? v * 10 + (uint64_t)(*p - '0') : v;
  *after = p;
  return (uint32_t)v;
}

/* "FILE:LINE:COLUMN: " and "FILE(LINE): " in front of an error. */
static bool place(const char *line, const char *end, hd_diag *d) {
  for (const char *p = line; p < end; p++) {
    if ((*p != ':' && *p != '(') || p == line) continue;
    const char *q;
    uint32_t row = number_at(p + 1, end, &q), column = 0;
    if (q == p + 1 || q >= end || *q != (*p == '(' ? ')' : ':')) continue;
    if (*p == ':') column = number_at(q + 1, end, &q);
    snprintf(d->file, sizeof d->file, "%.*s", (int)(p - line), line);
    d->line = row;
    d->column = column ? column : 1;
    return true;
  }
  return false;
}

hd_status wl_compiler_error(const char *program, const char *output, int code, hd_diag *d) {
  const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
  for (const char *line = output ? output : ""; *line;) {
    size_t n = strcspn(line, "\n");
    const char *error = memmem(line, n, "error", 5), *fatal = memmem(line, n, "fatal", 5);
    const char *at = error && fatal ? (error < fatal ? error : fatal) : error ? error : fatal;
    if (at) {
      const char *colon = memchr(at, ':', (size_t)(line + n - at)), *text = colon ? colon + 1 : at;
      while (text < line + n && *text == ' ') text++;
      hd_fail(d, HD_ERR_INPUT, "%.*s (%s)", (int)(line + n - text), text, name);
      if (d) place(line, at, d);
      return HD_ERR_INPUT;
    }
    line += n + (line[n] == '\n');
  }
  return hd_fail(d, HD_ERR_INPUT, "%s failed with status %d and no error message", name, code);
}
