/* Help and man pages. */
#include "heddle/manual.h"

#include <string.h>

/* ---- Help -------------------------------------------------------------------------------- */

static bool may_lack(const hd_manual_option *o) { return o->argument && o->argument[0] == '['; }

/* "  -o, --output OUT   what it does": texts begin at one column, and so do their further lines. An option
 * too wide for its column has its text below it. */
static void put_option(const hd_manual_option *o, hd_buf *out) {
  enum { COLUMN = 21 };
  hd_buf left = {0};
  if (o->letter) hd_buf_printf(&left, "-%c, ", o->letter);
  hd_buf_printf(&left, "--%s%s%s", o->name, o->argument && !may_lack(o) ? " " : "",
                o->argument ? o->argument : "");
  hd_buf_printf(out, "  %-*s", COLUMN - 2, left.data ? left.data : "");
  if (left.len >= COLUMN - 2) hd_buf_printf(out, "\n%*s", COLUMN, "");
  for (const char *p = o->help; *p; p++) {
    hd_buf_putc(out, *p);
    if (*p == '\n') hd_buf_printf(out, "%*s", COLUMN, "");
  }
  hd_buf_putc(out, '\n');
  out->failed |= left.failed;
  hd_buf_free(&left);
}

void hd_manual_help(const hd_manual *m, hd_buf *out) {
  hd_buf_printf(out, "usage: heddle %s%s%s\n\n%s\n", m->name, *m->synopsis ? " " : "", m->synopsis,
                m->summary);
  if (m->n || m->notes[0]) hd_buf_putc(out, '\n');
  bool launches = false;
  for (size_t i = 0; i < m->n; i++) {
    if (m->options[i].launch && !launches) hd_buf_puts(out, "\nThe launches of a file's kernels:\n\n");
    launches = m->options[i].launch;
    put_option(&m->options[i], out);
  }
  if (launches && m->notes[0]) hd_buf_putc(out, '\n');
  hd_buf_puts(out, m->notes);
}

/* ---- Man pages ----------------------------------------------------------------------------- */

/* Text with what man's language gives a meaning to escaped: backslashes, dashes, dots and quotes that begin a
 * line. A newline stays one. */
static void put_text(const char *text, hd_buf *out) {
  for (const char *p = text; *p; p++) {
    const bool first = p == text || p[-1] == '\n';
    if (first && (*p == '.' || *p == '\'')) hd_buf_puts(out, "\\&");
    if (*p == '\\')
      hd_buf_puts(out, "\\e");
    else if (*p == '-')
      hd_buf_puts(out, "\\-");
    else
      hd_buf_putc(out, *p);
  }
}

static const char exit_status[] =
    ".SH EXIT STATUS\n0: done. 1: the answer is no (not equal, not sound). 2: "
    "bad usage or input. 3: no answer: a "
    "bound on time, work or memory was reached, a compiler is missing, or the search was "
    "stopped.\n";

static void put_head(const char *name, const char *summary, const char *version, hd_buf *out) {
  hd_buf_puts(out, ".TH \"");
  for (const char *p = name; *p; p++) hd_buf_putc(out, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
  hd_buf_printf(out, "\" 1 \"\" \"heddle %s\" \"heddle\"\n.SH NAME\n", version);
  put_text(name, out);
  hd_buf_puts(out, " \\- ");
  put_text(summary, out);
  hd_buf_puts(out, "\n.SH SYNOPSIS\n");
}

static void put_page(const hd_manual *m, const char *version, hd_buf *out) {
  hd_buf name = {0};
  hd_buf_printf(&name, "heddle-%s", m->name);
  put_head(name.data ? name.data : m->name, m->summary, version, out);
  out->failed |= name.failed;
  hd_buf_free(&name);
  hd_buf_printf(out, ".B heddle %s\n", m->name);
  put_text(m->synopsis, out);
  if (m->n) hd_buf_puts(out, "\n.SH OPTIONS\n");
  bool launches = false;
  for (size_t i = 0; i < m->n; i++) {
    const hd_manual_option *o = &m->options[i];
    if (o->launch && !launches) hd_buf_puts(out, ".SS The launches of a file's kernels\n");
    launches = o->launch;
    hd_buf_puts(out, ".TP\n");
    if (o->letter) hd_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    hd_buf_puts(out, "\\fB\\-\\-");
    put_text(o->name, out);
    hd_buf_puts(out, "\\fR");
    if (o->argument && !may_lack(o)) hd_buf_putc(out, ' ');
    if (o->argument) hd_buf_puts(out, "\\fI");
    if (o->argument) put_text(o->argument, out);
    if (o->argument) hd_buf_puts(out, "\\fR");
    hd_buf_putc(out, '\n');
    put_text(o->help, out);
    hd_buf_putc(out, '\n');
  }
  if (m->notes[0]) hd_buf_puts(out, "\n.SH NOTES\n");
  put_text(m->notes, out);
  hd_buf_printf(out, "\n%s.SH SEE ALSO\n.BR heddle (1)\n", exit_status);
}

static void put_overview(const hd_manual *all, size_t n, const char *version, hd_buf *out) {
  put_head("heddle", "steers the thread blocks (CTAs) of CUDA kernels", version, out);
  hd_buf_puts(out, ".B heddle\n.I COMMAND\n[options] ...\n.SH COMMANDS\n");
  for (size_t i = 0; i < n; i++) {
    hd_buf_printf(out, ".TP\n.BR heddle\\-%s (1)\n", all[i].name);
    put_text(all[i].summary, out);
    hd_buf_putc(out, '\n');
  }
  hd_buf_puts(out, exit_status);
}

static hd_status write_page(const char *folder, const char *name, hd_buf *text, hd_diag *d) {
  hd_buf path = {0};
  hd_buf_printf(&path, "%s/heddle%s%s.1", folder, *name ? "-" : "", name);
  hd_status st =
      path.failed || text->failed ? hd_nomem(d) : hd_file_write(path.data, text->data, text->len, d);
  hd_buf_free(&path);
  hd_buf_free(text);
  return st;
}

hd_status hd_manual_write(const char *folder, const hd_manual *all, size_t n, const char *version,
                          hd_diag *d) {
  hd_buf page = {0};
  hd_status st = hd_folder_make(folder, d);
  if (st != HD_OK) return st;
  put_overview(all, n, version, &page);
  st = write_page(folder, "", &page, d);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    put_page(&all[i], version, &page);
    st = write_page(folder, all[i].name, &page, d);
  }
  return st;
}
