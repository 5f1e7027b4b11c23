/* The one parser of options, and the help that it prints from the same tables. */
#include <string.h>

#include "cli.h"

/* ---- Values ------------------------------------------------------------------------------ */

static const cli_option *find_option(const cli_option *options, const char *name, size_t n, char letter) {
  for (const cli_option *o = options; o->name; o++)
    if (name ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter && o->letter == letter)
      return o;
  return NULL;
}

bool cli_parse_dims(const char *text, uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  for (int k = 0; k < 3; k++) {
    size_t n = strcspn(text, ",x");
    uint64_t v;
    if (!hd_parse_u64(text, n, UINT32_MAX, &v) || v == 0) return false;
    out[k] = (uint32_t)v;
    if (!text[n]) return true;
    text += n + 1;
  }
  return false;
}

/* Room for all the words of a command line at the first item: a list never grows. */
static int add_item(cli_list *l, const char *text, int argc) {
  if (!l->items) l->items = HD_NEW_N(cli_memory(), (size_t)argc, const char *);
  if (!l->items) return cli_usage("out of memory");
  l->items[l->n++] = text;
  return 0;
}

static int add_word(cli_input *in, const char *option, const char *text, int argc) {
  if (!in->words) in->words = HD_NEW_N(cli_memory(), (size_t)argc, hd_launch_word);
  if (!in->words) return cli_usage("out of memory");
  in->words[in->n_words++] = (hd_launch_word){option, text};
  return 0;
}

/* 0, or the exit code after a message. */
static int set_option(const cli_command *c, const cli_option *o, const char *text, int argc) {
  switch (o->kind) {
  case CLI_FLAG: *(bool *)o->value = true; return 0;
  case CLI_TEXT: *(const char **)o->value = text; return 0;
  case CLI_NUMBER:
    if (hd_parse_u64(text, strlen(text), o->max ? o->max : UINT64_MAX, o->value)) return 0;
    if (o->max)
      return cli_usage("%s: --%s takes a whole number of at most %llu, not '%s'", c->name, o->name,
                       (unsigned long long)o->max, text);
    return cli_usage("%s: --%s takes a whole number, not '%s'", c->name, o->name, text);
  case CLI_DIMS:
    if (cli_parse_dims(text, o->value)) return 0;
    return cli_usage("%s: --%s takes X[,Y[,Z]], not '%s'", c->name, o->name, text);
  case CLI_LIST: return add_item(o->value, text, argc);
  case CLI_ASSUME:
    if (hd_assume_parse(text, o->value)) return 0;
    return cli_usage("%s: --%s takes no-waits, not '%s'", c->name, o->name, text);
  case CLI_WORD: return add_word(o->value, o->name, text, argc);
  case CLI_INPUT: break; /* expanded before anything is parsed */
  }
  return EXIT_USAGE;
}

/* ---- Help -------------------------------------------------------------------------------- */

/* "  -o, --output OUT   what it does": texts begin at one column, and so do their further lines. An option
 * too wide for its column has its text below it. */
static void put_option(const cli_option *o, hd_buf *out) {
  enum { COLUMN = 21 };
  hd_buf left = {0};
  if (o->letter) hd_buf_printf(&left, "-%c, ", o->letter);
  hd_buf_printf(&left, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
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

static int print_usage(const cli_command *c, const cli_option *options) {
  hd_buf b = {0};
  hd_buf_printf(&b, "usage: heddle %s%s%s\n\n%s\n", c->name, *c->synopsis ? " " : "", c->synopsis,
                c->summary);
  if (options->name || c->notes[0]) hd_buf_putc(&b, '\n');
  bool words = false;
  for (const cli_option *o = options; o->name; o++) {
    if (o->kind == CLI_WORD && !words) hd_buf_puts(&b, "\nThe launches of a file's kernels:\n\n");
    words = o->kind == CLI_WORD;
    if (o->help) put_option(o, &b);
  }
  if (words && c->notes[0]) hd_buf_putc(&b, '\n');
  hd_buf_puts(&b, c->notes);
  return cli_print(&b);
}

/* ---- Rows that stand for several ------------------------------------------------------------ */

/* The table with a row for each word that describes launches at its end, where one stands for all of them. */
static const cli_option *expand(const cli_option *options) {
  size_t n = 0, words = 0;
  while (options[n].name && options[n].kind != CLI_INPUT) n++;
  if (!options[n].name) return options;
  while (hd_launch_option_at(words)) words++;
  size_t rest = 0;
  while (options[n + 1 + rest].name) rest++;
  cli_option *all = HD_NEW_N(cli_memory(), n + rest + words + 1, cli_option);
  if (!all) return NULL;
  memcpy(all, options, n * sizeof *all);
  memcpy(all + n, options + n + 1, rest * sizeof *all);
  for (size_t i = 0; i < words; i++) {
    const hd_launch_option *w = hd_launch_option_at(i);
    all[n + rest + i] = (cli_option){w->name, w->letter, CLI_WORD, options[n].value, 0, w->argument, w->help};
  }
  return all;
}

/* ---- Parsing ----------------------------------------------------------------------------- */

int cli_parse(const cli_command *c, const cli_option *options, int argc, char **argv, int *n) {
  *n = 0;
  bool only_positionals = false;
  options = expand(options);
  if (!options) return cli_usage("out of memory");
  for (int i = 1; i < argc; i++) {
    char *a = argv[i];
    if (only_positionals || a[0] != '-' || a[1] == 0) {
      argv[++*n] = a;
      continue;
    }
    if (strcmp(a, "--") == 0) {
      only_positionals = true;
      continue;
    }
    if (strcmp(a, "-h") == 0 || strcmp(a, "--help") == 0) return print_usage(c, options);
    const cli_option *o;
    const char *text = NULL;
    if (a[1] == '-') {
      size_t len = strcspn(a + 2, "=");
      o = find_option(options, a + 2, len, 0);
      if (a[2 + len] == '=') text = a + 3 + len;
    } else {
      o = find_option(options, NULL, 0, a[1]);
      if (a[2]) text = a + 2;
    }
    if (!o) return cli_usage("%s: no option '%s'; 'heddle %s -h' lists them", c->name, a, c->name);
    const bool flag = o->kind == CLI_FLAG || (o->kind == CLI_WORD && !o->argument);
    if (flag && text) return cli_usage("%s: --%s takes no value", c->name, o->name);
    if (!flag && !text) {
      if (i + 1 >= argc) return cli_usage("%s: --%s needs a value", c->name, o->name);
      text = argv[++i];
    }
    int rc = set_option(c, o, text, argc);
    if (rc) return rc;
  }
  return -1;
}
