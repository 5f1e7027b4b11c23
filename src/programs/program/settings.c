/* Settings of an emulated program as text: NAME=VALUE, one a line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/program.h"

typedef struct field {
  const char *name;
  size_t offset, bytes; /* bytes: of a text's room; 0: a number */
} field;

#define NUMBER(name)                                                                                         \
  { #name, offsetof(hd_program_settings, name), 0 }
#define TEXT(name)                                                                                           \
  { #name, offsetof(hd_program_settings, name), sizeof((hd_program_settings *)0)->name }
static const field fields[] = {
    TEXT(gpu),
    NUMBER(arch),
    NUMBER(n_sms),
    NUMBER(max_ctas),
    NUMBER(max_warps),
    NUMBER(max_threads),
    NUMBER(registers),
    NUMBER(register_unit),
    NUMBER(shared_bytes),
    NUMBER(shared_unit),
    NUMBER(shared_reserved),
    NUMBER(l2_bytes),
    NUMBER(clock_khz),
    NUMBER(devices),
    NUMBER(memory),
    NUMBER(threads),
    NUMBER(checks),
    NUMBER(seed),
    NUMBER(quiet),
    NUMBER(analyze),
    NUMBER(work),
    NUMBER(error_code),
    TEXT(kernel),
    TEXT(log),
    TEXT(findings),
    NUMBER(pid),
    TEXT(report),
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

hd_status hd_program_settings_print(const hd_program_settings *s, hd_buf *out, hd_diag *d) {
  for (size_t k = 0; k < N_FIELDS; k++) {
    const char *at = (const char *)s + fields[k].offset;
    if (fields[k].bytes)
      hd_buf_printf(out, "%s=%s\n", fields[k].name, at);
    else
      hd_buf_printf(out, "%s=%" PRIu64 "\n", fields[k].name, *(const uint64_t *)(const void *)at);
  }
  return out->failed ? hd_nomem(d) : HD_OK;
}

static bool set(const char *name, size_t n, const char *value, size_t len, hd_program_settings *s) {
  for (size_t k = 0; k < N_FIELDS; k++) {
    if (strlen(fields[k].name) != n || memcmp(fields[k].name, name, n) != 0) continue;
    char *at = (char *)s + fields[k].offset;
    if (!fields[k].bytes) return hd_parse_u64(value, len, UINT64_MAX, (uint64_t *)(void *)at);
    if (len >= fields[k].bytes) return false;
    memcpy(at, value, len);
    at[len] = 0;
    return true;
  }
  return false;
}

hd_status hd_program_settings_parse(const char *text, hd_program_settings *s, hd_diag *d) {
  *s = (hd_program_settings){0};
  size_t found = 0;
  while (*text) {
    const size_t line = strcspn(text, "\n"), name = strcspn(text, "=\n");
    if (name >= line || !set(text, name, text + name + 1, line - name - 1, s))
      return hd_fail(d, HD_ERR_INPUT, "settings of an emulated program: '%.*s' is not understood",
                     line < 100 ? (int)line : 100, text);
    found++;
    text += line + (text[line] != 0);
  }
  return found == N_FIELDS ? HD_OK : hd_fail(d, HD_ERR_INPUT, "settings of an emulated program are missing");
}

bool hd_program_check_parse(const char *text, unsigned *out) {
  static const struct {
    const char *name;
    unsigned bits;
  } words[] = {{"init", HD_PROGRAM_CHECK_INIT},
               {"race", HD_PROGRAM_CHECK_RACE},
               {"leak", HD_PROGRAM_CHECK_LEAK},
               {"streams", HD_PROGRAM_CHECK_STREAMS},
               {"all", HD_PROGRAM_CHECK_ALL}};
  *out = HD_PROGRAM_CHECK_ALL;
  if (!*text) return true;
  *out = 0;
  for (;;) {
    const size_t n = strcspn(text, ",");
    size_t k = 0;
    while (k < sizeof words / sizeof *words &&
           (strlen(words[k].name) != n || memcmp(words[k].name, text, n) != 0))
      k++;
    if (k == sizeof words / sizeof *words) return false;
    *out |= words[k].bits;
    if (!text[n]) return true;
    text += n + 1;
  }
}
