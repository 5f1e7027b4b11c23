/* Kernels' names as people write them. */
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "ptx/demangle.h"

/* A back reference of a mangled name (S_, S0_, T_) may repeat all that came before it: a name of n of them
 * can stand for 2^(n/2) times its own length, which a hostile one would. */
enum { MOST_LETTERS = 4000, MOST_REFERENCES = 40 };

static bool is_readable(const char *symbol) {
  size_t n = strlen(symbol), references = 0;
  for (const char *p = symbol; *p; p++) {
    if (*p != 'S' && *p != 'T') continue;
    const char *end = p + 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    references += *end == '_';
  }
  return symbol[0] == '_' && symbol[1] == 'Z' && n <= MOST_LETTERS && references <= MOST_REFERENCES;
}

/* Where the list of parameters begins: the parenthesis that the last one closes; the end if there is none. */
static size_t parameters(const char *s, size_t n) {
  int depth = 0;
  if (!n || s[n - 1] != ')') return n;
  for (size_t i = n; i-- > 0;) {
    depth += s[i] == ')';
    depth -= s[i] == '(';
    if (!depth) return i;
  }
  return n;
}

/* Where the name begins, behind the type of the result. */
static size_t name_start(const char *s, size_t end) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < end; i++) {
    depth += strchr("<({[", s[i]) != NULL;
    depth -= strchr(">)}]", s[i]) != NULL;
    if (!depth && s[i] == ' ') start = i + 1;
  }
  return start;
}

void hd_kernel_title(const char *symbol, bool whole, hd_buf *out) {
  char *name = is_readable(symbol) ? ptx_demangle(symbol) : NULL;
  if (!name) {
    hd_buf_puts(out, symbol);
    return;
  }
  size_t n = strlen(name), end = whole ? n : parameters(name, n), start = whole ? 0 : name_start(name, end);
  hd_buf_put(out, name + start, end - start);
  free(name);
}

const char *hd_kernel_called(const char *symbol, hd_called out) {
  hd_buf title = {0};
  hd_kernel_title(symbol, false, &title);
  hd_fit(out, HD_CALLED, "%s", title.data && !title.failed ? title.data : symbol);
  hd_buf_free(&title);
  return out;
}
