/* Settings of an emulated program as text, and the words of --check. */
#include <string.h>

#include "heddle/program.h"
#include "program/fields.h"

#define TEXT(name) PROGRAM_FIELD(hd_program_settings, PROGRAM_TEXT, name)
#define NUMBER(name) PROGRAM_FIELD(hd_program_settings, PROGRAM_NUMBER, name)
#define FLAG(name) PROGRAM_FIELD(hd_program_settings, PROGRAM_FLAG, name)
static const program_field fields[] = {
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
    NUMBER(newest),
    NUMBER(devices),
    NUMBER(memory),
    NUMBER(threads),
    NUMBER(checks),
    NUMBER(seed),
    FLAG(quiet),
    FLAG(analyze),
    NUMBER(work),
    NUMBER(alone),
    NUMBER(error_code),
    TEXT(kernel),
    TEXT(log),
    TEXT(findings),
    NUMBER(pid),
    TEXT(report),
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

hd_status hd_program_settings_print(const hd_program_settings *s, hd_buf *out, hd_diag *d) {
  return program_fields_print(fields, N_FIELDS, s, out, d);
}

hd_status hd_program_settings_parse(const char *text, hd_program_settings *s, hd_diag *d) {
  memset(s, 0, sizeof *s);
  return program_fields_parse(fields, N_FIELDS, "an emulated", text, s, d);
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
