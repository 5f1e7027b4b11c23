#include "heddle/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines of bounded length --------------------------------------------- */

static size_t word_at(const char *text) { return strcspn(text, " \t\n"); }

/* The text with words of at most `most` bytes, into `out` of `cap` bytes (0: none); its length. */
static size_t shorten(const char *text, size_t most, char *out, size_t cap) {
  static const char gap[] = "...";
  size_t n = 0;
  while (*text) {
    const size_t word = word_at(text), whole = word ? word : 1, kept = word > most ? most : whole,
                 head = kept < whole ? (kept - sizeof gap + 1) / 2 : kept;
    for (size_t k = 0; k < kept; k++) {
      const size_t behind = k - head;
      const char c = k < head ? text[k] : behind < sizeof gap - 1 ? gap[behind] : text[whole - (kept - k)];
      if (n + k + 1 < cap) out[n + k] = c;
    }
    n += kept;
    text += whole;
  }
  if (cap) out[n < cap ? n : cap - 1] = 0;
  return n;
}

const char *hd_fit_args(char *out, size_t cap, const char *fmt, va_list ap) {
  enum { SHORTEST = 24 };
  va_list again;
  va_copy(again, ap);
  const int n = cap ? vsnprintf(out, cap, fmt, ap) : 0;
  char *all = n >= 0 && (size_t)n >= cap && cap ? malloc((size_t)n + 1) : NULL;
  if (all) {
    vsnprintf(all, (size_t)n + 1, fmt, again);
    size_t low = SHORTEST, high = (size_t)n;
    while (low + 1 < high) {
      const size_t middle = low + (high - low) / 2;
      if (shorten(all, middle, NULL, 0) < cap)
        low = middle;
      else
        high = middle;
    }
    shorten(all, low, out, cap);
    free(all);
  }
  va_end(again);
  return out;
}

const char *hd_fit(char *out, size_t cap, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  hd_fit_args(out, cap, fmt, ap);
  va_end(ap);
  return out;
}

/* ---- Failures ------------------------------------------------------------ */

/* The message may be made of what the diagnostic holds. */
static void fill(hd_diag *d, hd_status st, size_t room, const char *fmt, va_list ap) {
  hd_fit_args(d->message, room, fmt, ap);
  d->status = st;
  d->fault = HD_FAULT_NONE;
  d->bound = HD_BOUND_NONE;
  d->unknown = false;
  d->reason = 0;
  d->line = d->column = 0;
  d->file[0] = d->source[0] = 0;
}

#undef hd_fail /* analyzers see this instead */
#undef hd_fail_bound
#undef hd_fail_unknown
#undef hd_fail_at
#undef hd_fail_because

hd_status hd_fail(hd_diag *d, hd_status st, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (d) fill(d, st, sizeof d->message, fmt, ap);
  va_end(ap);
  return st;
}

hd_status hd_fail_because(hd_diag *d, hd_status st, const char *why, const char *fmt, ...) {
  if (!d) return st;
  const size_t room = sizeof d->message, len = strlen(why);
  va_list ap;
  va_start(ap, fmt);
  fill(d, st, len + 3 < room ? room - len - 2 : 1, fmt, ap);
  va_end(ap);
  d->reason = (uint16_t)(strlen(d->message) + 2);
  snprintf(d->message + d->reason - 2, room - d->reason + 2, ": %s", why);
  return st;
}

hd_status hd_fail_bound(hd_diag *d, hd_bound bound, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (d) {
    fill(d, HD_ERR_BUDGET, sizeof d->message, fmt, ap);
    d->bound = bound;
  }
  va_end(ap);
  return HD_ERR_BUDGET;
}

hd_status hd_fail_unknown(hd_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (d) {
    fill(d, HD_ERR_USAGE, sizeof d->message, fmt, ap);
    d->unknown = true;
  }
  va_end(ap);
  return HD_ERR_USAGE;
}

hd_status hd_fail_at(hd_diag *d, hd_status st, const char *file, const char *text, size_t len, size_t offset,
                     const char *fmt, ...) {
  if (!d) return st;
  va_list ap;
  va_start(ap, fmt);
  fill(d, st, sizeof d->message, fmt, ap);
  va_end(ap);
  snprintf(d->file, sizeof d->file, "%s", file ? file : "");
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
  if (d->file[0] && d->column)
    hd_fit(out, cap, "%s:%u:%u: %s", d->file, d->line, d->column, d->message);
  else if (d->file[0])
    hd_fit(out, cap, "%s: %s", d->file, d->message);
  else
    hd_fit(out, cap, "%s", d->message);
  for (char *p = out; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  return out;
}
