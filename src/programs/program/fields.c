#include "program/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

hd_status program_fields_print(const program_field *fields, size_t n, const void *settings, hd_buf *out,
                               hd_diag *d) {
  for (size_t k = 0; k < n; k++) {
    const void *at = (const char *)settings + fields[k].offset;
    hd_buf_printf(out, "%s=", fields[k].name);
    switch (fields[k].kind) {
    case PROGRAM_TEXT:
      if (strchr(at, '\n'))
        return hd_fail(d, HD_ERR_USAGE, "%s: a line break cannot be in it", fields[k].name);
      hd_buf_puts(out, at);
      break;
    case PROGRAM_NUMBER: hd_buf_printf(out, "%" PRIu64, *(const uint64_t *)at); break;
    case PROGRAM_REAL: hd_buf_printf(out, "%.17g", *(const double *)at); break;
    case PROGRAM_FLAG: hd_buf_putc(out, *(const bool *)at ? '1' : '0'); break;
    }
    hd_buf_putc(out, '\n');
  }
  return out->failed ? hd_nomem(d) : HD_OK;
}

static bool parse_real(const char *value, size_t len, double *out) {
  char number[32], *end;
  if (!len || len >= sizeof number) return false;
  memcpy(number, value, len);
  number[len] = 0;
  *out = strtod(number, &end);
  return !*end && *out >= 0;
}

static bool parse(const program_field *f, const char *value, size_t len, void *at) {
  switch (f->kind) {
  case PROGRAM_TEXT:
    if (len >= f->bytes) return false;
    memcpy(at, value, len);
    return true; /* its end is there: all is zero at first */
  case PROGRAM_NUMBER: return hd_parse_u64(value, len, UINT64_MAX, at);
  case PROGRAM_REAL: return parse_real(value, len, at);
  case PROGRAM_FLAG: *(bool *)at = *value == '1'; return len == 1 && (*value == '0' || *value == '1');
  }
  return false;
}

hd_status program_fields_parse(const program_field *fields, size_t n, const char *whose, const char *text,
                               void *settings, hd_diag *d) {
  for (size_t k = 0; k < n; k++) {
    const size_t line = strcspn(text, "\n"), name = strlen(fields[k].name);
    if (line <= name || memcmp(text, fields[k].name, name) != 0 || text[name] != '=' ||
        !parse(&fields[k], text + name + 1, line - name - 1, (char *)settings + fields[k].offset))
      return hd_fail(d, HD_ERR_INPUT, "settings of %s program: '%.*s' is not understood", whose,
                     line < 100 ? (int)line : 100, text);
    text += line + (text[line] != 0);
  }
  return *text ? hd_fail(d, HD_ERR_INPUT, "settings of %s program: there are too many", whose) : HD_OK;
}
