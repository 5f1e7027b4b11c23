/* Settings and verdicts of a steered program as text: NAME=VALUE, one a line; verdicts, fields between tabs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/steer.h"
#include "program/fields.h"

/* ---- Settings ---------------------------------------------------------------------------------- */

#define TEXT(name) PROGRAM_FIELD(hd_steer_settings, PROGRAM_TEXT, name)
#define NUMBER(name) PROGRAM_FIELD(hd_steer_settings, PROGRAM_NUMBER, name)
#define REAL(name) PROGRAM_FIELD(hd_steer_settings, PROGRAM_REAL, name)
#define FLAG(name) PROGRAM_FIELD(hd_steer_settings, PROGRAM_FLAG, name)
static const program_field settings[] = {
    TEXT(plan),   TEXT(verdicts), TEXT(report), TEXT(page),      FLAG(quiet),  FLAG(tune),
    REAL(budget), REAL(total),    REAL(share),  REAL(least),     REAL(worth),  REAL(gain),
    TEXT(record), FLAG(profile),  TEXT(kernel), NUMBER(launch),  NUMBER(most), TEXT(found),
    TEXT(texts),  TEXT(cubins),   TEXT(notes),  FLAG(unguarded), NUMBER(pid)};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

hd_status hd_steer_settings_print(const hd_steer_settings *s, hd_buf *out, hd_diag *d) {
  return program_fields_print(settings, N_SETTINGS, s, out, d);
}

hd_status hd_steer_settings_parse(const char *text, hd_steer_settings *s, hd_diag *d) {
  memset(s, 0, sizeof *s);
  return program_fields_parse(settings, N_SETTINGS, "a steered", text, s, d);
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

typedef struct field {
  const char *name;
  size_t offset, bytes;
} field;

#define FIELD(type, name)                                                                                    \
  { #name, offsetof(type, name), sizeof((type *)0)->name }
static const field columns[] = {
    FIELD(hd_verdict, key.kernel), FIELD(hd_verdict, key.launch), FIELD(hd_verdict, key.gpu),
    FIELD(hd_verdict, key.driver), FIELD(hd_verdict, key.size),   FIELD(hd_verdict, plan),
    FIELD(hd_verdict, assume),     FIELD(hd_verdict, basis),      FIELD(hd_verdict, name)};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const size_t numbers[] = {offsetof(hd_verdict, speedup),   offsetof(hd_verdict, low),
                                 offsetof(hd_verdict, high),      offsetof(hd_verdict, confidence),
                                 offsetof(hd_verdict, before_us), offsetof(hd_verdict, after_us)};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

void hd_steer_verdict_print(const hd_verdict *v, hd_buf *out) {
  for (size_t k = 0; k < N_COLUMNS; k++) hd_buf_printf(out, "%s\t", (const char *)v + columns[k].offset);
  for (size_t k = 0; k < N_NUMBERS; k++) {
    double value;
    memcpy(&value, (const char *)v + numbers[k], sizeof value);
    hd_buf_printf(out, "%.17g\t", value);
  }
  hd_buf_printf(out, "%" PRIu32 "\t%" PRId64 "\n", v->tried, v->when);
}

/* The next field of a line, without its tab, which only the last one lacks; false: there is none, or it has
 * no room. */
static bool next_field(const char **line, const char *end, char *out, size_t room) {
  const char *tab = *line < end ? memchr(*line, '\t', (size_t)(end - *line)) : NULL;
  const size_t n = (size_t)((tab ? tab : end) - *line);
  if (*line > end || n >= room) return false;
  memcpy(out, *line, n);
  out[n] = 0;
  *line = tab ? tab + 1 : end + 1;
  return true;
}

bool hd_steer_verdict_parse(const char *line, size_t len, hd_verdict *v) {
  const char *const end = line + len;
  char number[32], *rest;
  *v = (hd_verdict){0};
  for (size_t k = 0; k < N_COLUMNS; k++)
    if (!next_field(&line, end, (char *)v + columns[k].offset, columns[k].bytes)) return false;
  for (size_t k = 0; k < N_NUMBERS; k++) {
    if (!next_field(&line, end, number, sizeof number) || !number[0]) return false;
    const double value = strtod(number, &rest);
    if (*rest) return false;
    memcpy((char *)v + numbers[k], &value, sizeof value);
  }
  uint64_t tried, when;
  if (!next_field(&line, end, number, sizeof number) ||
      !hd_parse_u64(number, strlen(number), UINT32_MAX, &tried) ||
      !next_field(&line, end, number, sizeof number) ||
      !hd_parse_u64(number, strlen(number), INT64_MAX, &when))
    return false;
  v->tried = (uint32_t)tried;
  v->when = (int64_t)when;
  return line > end;
}
