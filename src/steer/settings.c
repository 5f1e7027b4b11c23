/* Settings and verdicts of a steered program as text: NAME=VALUE, one a line; verdicts, fields between tabs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/steer.h"

typedef struct field {
  const char *name;
  size_t offset, bytes;
} field;

/* ---- Settings ---------------------------------------------------------------------------------- */

#define FIELD(type, name)                                                                                    \
  { #name, offsetof(type, name), sizeof((type *)0)->name }
static const field settings[] = {FIELD(hd_steer_settings, plan), FIELD(hd_steer_settings, verdicts),
                                 FIELD(hd_steer_settings, report), FIELD(hd_steer_settings, quiet)};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

hd_status hd_steer_settings_print(const hd_steer_settings *s, hd_buf *out, hd_diag *d) {
  for (size_t k = 0; k < N_SETTINGS; k++) {
    const char *value = (const char *)s + settings[k].offset;
    if (strchr(value, '\n'))
      return hd_fail(d, HD_ERR_USAGE, "%s: a line break cannot be in it", settings[k].name);
    hd_buf_printf(out, "%s=%s\n", settings[k].name, value);
  }
  return out->failed ? hd_nomem(d) : HD_OK;
}

hd_status hd_steer_settings_parse(const char *text, hd_steer_settings *s, hd_diag *d) {
  *s = (hd_steer_settings){0};
  for (size_t k = 0; k < N_SETTINGS; k++) {
    const size_t line = strcspn(text, "\n"), name = strlen(settings[k].name);
    if (line <= name || memcmp(text, settings[k].name, name) != 0 || text[name] != '=' ||
        line - name - 1 >= settings[k].bytes)
      return hd_fail(d, HD_ERR_INPUT, "settings of a steered program: '%.*s' is not understood",
                     line < 100 ? (int)line : 100, text);
    memcpy((char *)s + settings[k].offset, text + name + 1, line - name - 1);
    text += line + (text[line] != 0);
  }
  return *text ? hd_fail(d, HD_ERR_INPUT, "settings of a steered program: there are too many") : HD_OK;
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

static const field columns[] = {FIELD(hd_verdict, key.kernel), FIELD(hd_verdict, key.launch),
                                FIELD(hd_verdict, key.gpu),    FIELD(hd_verdict, key.driver),
                                FIELD(hd_verdict, plan),       FIELD(hd_verdict, assume),
                                FIELD(hd_verdict, name)};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

void hd_steer_verdict_print(const hd_verdict *v, hd_buf *out) {
  for (size_t k = 0; k < N_COLUMNS; k++) hd_buf_printf(out, "%s\t", (const char *)v + columns[k].offset);
  hd_buf_printf(out, "%.17g\n", v->speedup);
}

bool hd_steer_verdict_parse(const char *line, size_t len, hd_verdict *v) {
  const char *const end = line + len;
  char number[32] = "", *rest;
  *v = (hd_verdict){0};
  for (size_t k = 0; k < N_COLUMNS; k++) {
    const char *tab = memchr(line, '\t', (size_t)(end - line));
    if (!tab || (size_t)(tab - line) >= columns[k].bytes) return false;
    memcpy((char *)v + columns[k].offset, line, (size_t)(tab - line));
    line = tab + 1;
  }
  if (line == end || (size_t)(end - line) >= sizeof number) return false;
  memcpy(number, line, (size_t)(end - line));
  v->speedup = strtod(number, &rest);
  return *rest == 0;
}

bool hd_steer_launch_parse(const char *launch, uint32_t grid[3], uint32_t block[3], uint32_t *shared) {
  char args[HD_DIGEST_HEX];
  int end = 0;
  return sscanf(launch,
                "grid=%" SCNu32 "x%" SCNu32 "x%" SCNu32 " block=%" SCNu32 "x%" SCNu32 "x%" SCNu32
                " shared=%" SCNu32 " args=%32s%n",
                &grid[0], &grid[1], &grid[2], &block[0], &block[1], &block[2], shared, args, &end) == 8 &&
         !launch[end] && strcmp(args, "any") == 0;
}
