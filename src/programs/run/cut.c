/* A module's text with one kernel alone: modules hold thousands, of which one or two have a verdict, and
 * reading the bodies of the others would take most of the time. */
#include <string.h>

#include "run/cut.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Behind a comment or a string that begins here; `at` itself where none does. */
static const char *skip(const char *at, const char *end) {
  const char *to = NULL;
  size_t n = 0;
  if (*at == '"') {
    const char *s = at + 1;
    while (s < end && *s != '"') s += *s == '\\' && s + 1 < end ? 2 : 1;
    return s < end ? s + 1 : end;
  }
  if (end - at < 2 || *at != '/') return at;
  if (at[1] == '/') to = memchr(at, '\n', (size_t)(end - at));
  if (at[1] == '*') to = memmem(at + 2, (size_t)(end - at - 2), "*/", n = 2);
  if (at[1] != '/' && at[1] != '*') return at;
  return to ? to + n : end;
}

/* Behind the brace that closes the one at `at`. Most of a module is bodies, and most of a body none of these
 * characters. */
static const char *close_of(const char *at, const char *end) {
  static const bool matters[256] = {['{'] = true, ['}'] = true, ['"'] = true, ['/'] = true};
  size_t depth = 0;
  while (at < end) {
    if (!matters[(unsigned char)*at]) {
      at++;
      continue;
    }
    const char *past = skip(at, end);
    if (past != at) {
      at = past;
      continue;
    }
    depth += *at == '{';
    if (*at == '}' && !--depth) return at + 1;
    at++;
  }
  return end;
}

/* Whether a kernel's name stands here, behind blanks. */
static bool is_named(const char *at, const char *end, const char *kernel) {
  const size_t n = strlen(kernel);
  while (at < end && is_blank(*at)) at++;
  return (size_t)(end - at) > n && memcmp(at, kernel, n) == 0 &&
         (is_blank(at[n]) || at[n] == '(' || at[n] == '{');
}

/* An empty body, on as many lines as the one that it replaces. */
static void put_empty(const char *body, const char *end, hd_buf *out) {
  hd_buf_puts(out, "{ ret; }");
  while ((body = memchr(body, '\n', (size_t)(end - body)))) {
    hd_buf_putc(out, '\n');
    body++;
  }
}

void run_cut(const char *text, size_t len, const char *kernel, hd_buf *out) {
  static const char entry[] = ".entry";
  const char *at = text, *from = text, *const end = text + len;
  bool other = false; /* the next body is another kernel's */
  while (at < end) {
    const char *past = skip(at, end);
    if (past != at) {
      at = past;
    } else if (*at == '{') {
      past = close_of(at, end);
      if (other) {
        hd_buf_put(out, from, (size_t)(at - from));
        put_empty(at, past, out);
        from = past;
      }
      other = false;
      at = past;
    } else {
      if (*at == '.' && (size_t)(end - at) > sizeof entry && memcmp(at, entry, sizeof entry - 1) == 0 &&
          is_blank(at[sizeof entry - 1]))
        other = !is_named(at + sizeof entry - 1, end, kernel);
      else if (*at == ';')
        other = false; /* it was a declaration */
      at++;
    }
  }
  hd_buf_put(out, from, (size_t)(end - from));
}
