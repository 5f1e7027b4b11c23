/* Buffers and variables described in words, and the pieces of text that words become. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/describe.h"

/* The lines that `p` got since the last call come from word number `word`. */
void describe_credit(describing *s, describe_piece *p, size_t word) {
  for (; p->read < p->text.len; p->read++)
    if (p->text.data[p->read] == '\n' && !hd_vec_push(&p->words, word)) p->text.failed = true;
}

hd_status describe_bad_word(const describing *s, hd_diag *d, const char *what) {
  const hd_launch_word *w = &s->q->words[s->at];
  return hd_fail(d, HD_ERR_USAGE, "--%s '%.300s' %s", w->option, w->text, what);
}

bool describe_is_buffer(const char *text) {
  size_t n = strcspn(text, "[:");
  return text[n] == '[';
}

/* file("NAME") reads from the working folder; a workload that is kept elsewhere names the file from the root.
 */
static void put_fill(const describing *s, const char *fill, hd_buf *out) {
  const char *open = strchr(fill, '"'), *close = open ? strchr(open + 1, '"') : NULL;
  char *name = s->q->save && close ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
  char *path = name ? realpath(name, NULL) : NULL;
  hd_buf whole = {0};
  if (path)
    hd_buf_printf(&whole, "%.*s\"%s\"%s", (int)(open - fill), fill, path, close + 1);
  else
    hd_buf_puts(&whole, fill);
  hd_buf_quote(out, whole.data ? whole.data : "", whole.len);
  out->failed |= whole.failed;
  hd_buf_free(&whole);
  free(path);
  free(name);
}

/* Among names joined by commas; NULL: none. */
static bool is_listed(const char *list, const char *name) {
  const size_t n = strlen(name);
  for (const char *p = list; p && *p;) {
    const size_t len = strcspn(p, ",");
    if (len == n && memcmp(p, name, n) == 0) return true;
    p += len + (p[len] == ',');
  }
  return false;
}

/* Sums by atomics come in another order in every run: within so much of each other. */
static void put_tolerance(const describing *s, hd_elem type, hd_buf *out) {
  const double by = s->near > 0 ? s->near : s->atomics ? hd_elem_sum_tolerance(type) : 0;
  if (wl_elem(type)->is_float && by > 0)
    hd_buf_printf(out, "compare = \"near\"\nabs = %.17g\nrel = %.17g\natomics = true\n", by, by);
}

hd_status describe_memory(describing *s, const char *table, const char *name, const char *text, hd_diag *d) {
  hd_buf *out = &s->buffers.text;
  const char *bracket = strchr(text, '['), *close = bracket ? strstr(bracket, "]=") : NULL;
  hd_elem type;
  if (!close) return describe_bad_word(s, d, "is not TYPE[COUNT]=FILL");
  hd_buf_printf(out, "\n[[%s]]\nname = ", table);
  hd_buf_quote(out, name, strlen(name));
  hd_buf_puts(out, "\ntype = ");
  hd_buf_quote(out, text, (size_t)(bracket - text));
  hd_buf_puts(out, "\ncount = ");
  hd_buf_quote(out, bracket + 1, (size_t)(close - bracket - 1));
  hd_buf_puts(out, "\nfill = ");
  put_fill(s, close + 2, out);
  char *word = hd_arena_strndup(s->arena, text, (size_t)(bracket - text));
  if (!word) return hd_nomem(d);
  hd_buf_putc(out, '\n');
  if (wl_elem_parse(word, &type)) put_tolerance(s, type, out);
  if (is_listed(s->unwritten, name)) hd_buf_puts(out, "unwritten = true\n");
  describe_credit(s, &s->buffers, s->at);
  return HD_OK;
}

hd_status describe_name(describing *s, const char *name, hd_diag *d) {
  hd_buf_printf(&s->args.text, "  \"%s\",\n", name);
  return hd_vec_push(&s->names, name) ? HD_OK : hd_nomem(d);
}
