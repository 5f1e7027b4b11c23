/* The glossary, for a terminal. */
#include "report/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "heddle/manual.h"

typedef struct span {
  const char *at;
  size_t len;
} span;

/* The next line of *text; false at its end. */
static bool next_line(const char **text, span *line) {
  if (!**text) return false;
  *line = (span){*text, strcspn(*text, "\n")};
  *text += line->len + ((*text)[line->len] == '\n');
  return true;
}

/* A row "| word | meaning |" of Markdown; false for other lines, and for a table's head. */
static bool split_row(span line, span *word, span *meaning) {
  static const char between[] = " | ";
  if (line.len < 4 || line.at[0] != '|') return false;
  const span inside = {line.at + 2, line.len - 4};
  const char *middle = memmem(inside.at, inside.len, between, strlen(between));
  if (!middle) return false;
  *word = (span){inside.at, (size_t)(middle - inside.at)};
  *meaning = (span){middle + strlen(between), (size_t)(inside.at + inside.len - middle) - strlen(between)};
  return strncmp(word->at, "---", 3) != 0 && strncmp(word->at, "word |", 6) != 0;
}

/* Markdown's marks left out: the text of a link without its target, the text of code, the emphasized text. */
static void put_plain(span text, hd_buf *out) {
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.at[i];
    if (c == ']' && i + 1 < text.len && text.at[i + 1] == '(') {
      while (i + 1 < text.len && text.at[i] != ')') i++;
    } else if (c != '`' && c != '*' && c != '[') {
      hd_buf_putc(out, c);
    }
  }
}

/* The word, and its meaning in lines of up to 100 columns behind it. */
static void put_row(span word, span meaning, hd_buf *out) {
  enum { WIDTH = 100, INDENT = 24 };
  hd_buf name = {0}, text = {0};
  put_plain(word, &name);
  put_plain(meaning, &text);
  hd_buf_putc(&text, '\0');
  hd_buf_printf(out, "  %-*s", INDENT - 3, name.data ? name.data : "");
  size_t column = 2 + (name.len > INDENT - 3 ? name.len : INDENT - 3);
  for (const char *p = text.data ? text.data : ""; *p;) {
    const size_t n = strcspn(p, " ");
    const bool fits = column + 1 + n <= WIDTH;
    hd_buf_printf(out, fits ? "%*s%.*s" : "\n%*s%.*s", fits ? 1 : INDENT, "", (int)n, p);
    column = fits ? column + 1 + n : INDENT + n;
    p += n + (p[n] == ' ');
  }
  hd_buf_putc(out, '\n');
  out->failed |= name.failed || text.failed;
  hd_buf_free(&name);
  hd_buf_free(&text);
}

/* Whether the words of this row contain `part`, letters' case aside, from the beginning of a word on. */
static bool contains(span word, const char *part) {
  const size_t n = strlen(part);
  for (size_t i = 0; i + n <= word.len; i++)
    if ((i == 0 || !isalnum((unsigned char)word.at[i - 1])) && strncasecmp(word.at + i, part, n) == 0)
      return true;
  return false;
}

bool hd_manual_words(const char *part, hd_buf *out) {
  const char *text = words_text;
  span line, word, meaning;
  bool any = false;
  while (next_line(&text, &line)) {
    if (split_row(line, &word, &meaning)) {
      if (part && !contains(word, part)) continue;
      put_row(word, meaning, out);
      any = true;
    } else if (!part && line.len > 3 && strncmp(line.at, "## ", 3) == 0) {
      hd_buf_printf(out, "%s%.*s\n\n", any ? "\n" : "", (int)line.len - 3, line.at + 3);
    }
  }
  return any;
}
