#include "heddle/base.h"

#include <stdio.h>
#include <string.h>

static void set_message(hd_diag *d, const char *fmt, va_list ap) {
  vsnprintf(d->message, sizeof d->message, fmt, ap);
}

#undef hd_fail /* what analyzers are told instead */
#undef hd_fail_at

hd_status hd_fail(hd_diag *d, hd_status st, const char *fmt, ...) {
  if (d) {
    d->status = st;
    d->line = d->column = 0;
    d->file[0] = d->source[0] = 0;
    va_list ap;
    va_start(ap, fmt);
    set_message(d, fmt, ap);
    va_end(ap);
  }
  return st;
}

hd_status hd_fail_at(hd_diag *d, hd_status st, const char *file, const char *text, size_t len, size_t offset,
                     const char *fmt, ...) {
  if (!d) return st;
  d->status = st;
  d->line = d->column = 0;
  d->source[0] = 0;
  snprintf(d->file, sizeof d->file, "%s", file ? file : "");
  va_list ap;
  va_start(ap, fmt);
  set_message(d, fmt, ap);
  va_end(ap);
  if (!text) return st;
  if (offset > len) offset = len;
  size_t start = 0;
  d->line = 1;
  for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + offset - p))); p++) {
    d->line++;
    start = (size_t)(p + 1 - text);
  }
  d->column = (uint32_t)(offset - start + 1);
  const char *nl = memchr(text + start, '\n', len - start);
  size_t n = nl ? (size_t)(nl - text) - start : len - start;
  if (n >= sizeof d->source) n = sizeof d->source - 1;
  memcpy(d->source, text + start, n);
  d->source[n] = 0;
  return st;
}

const char *hd_diag_line(const hd_diag *d, char *out, size_t cap) {
  if (cap == 0) return out;
  int n = 0;
  if (d->file[0] && d->line)
    n = snprintf(out, cap, "%s:%u:%u: %s", d->file, d->line, d->column, d->message);
  else if (d->file[0])
    n = snprintf(out, cap, "%s: %s", d->file, d->message);
  else
    n = snprintf(out, cap, "%s", d->message);
  (void)n;
  for (char *p = out; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  return out;
}
