/* Completions of shells. */
#include "heddle/manual.h"

#include <string.h>

static const char *const shells[HD_SHELL_COUNT] = {"bash", "zsh", "fish"};

const char *hd_shell_name(hd_shell s) { return shells[s]; }

/* ---- What may follow ------------------------------------------------------------------------- */

typedef enum value_kind {
  VALUE_NONE,
  VALUE_WORDS,
  VALUE_GPU,
  VALUE_FOLDER,
  VALUE_FILE,
  VALUE_OTHER
} value_kind;

static value_kind kind_of(const hd_manual_option *o) {
  if (!o->argument || o->argument[0] == '[') return VALUE_NONE;
  if (strcmp(o->name, "gpu") == 0) return VALUE_GPU;
  if (strcmp(o->argument, "DIR") == 0) return VALUE_FOLDER;
  if (strcmp(o->argument, "FILE") == 0 || strcmp(o->argument, "OUT") == 0) return VALUE_FILE;
  const char *p = o->argument;
  while ((*p >= 'a' && *p <= 'z') || *p == '|' || *p == '-') p++;
  return !*p && strchr(o->argument, '|') ? VALUE_WORDS : VALUE_OTHER;
}

static bool takes_workloads(const hd_manual *m) { return strstr(m->synopsis, "WORKLOAD") != NULL; }

/* "a|b" as "a b". */
static void put_words(const char *words, hd_buf *out) {
  for (const char *p = words; *p; p++) hd_buf_putc(out, *p == '|' ? ' ' : *p);
}

/* The help's first line, without letters that a quoted word cannot hold: ' and, for zsh, [ ] : */
static void put_line(const char *help, hd_buf *out) {
  for (const char *p = help; *p && *p != '\n'; p++)
    if (*p == '\'')
      hd_buf_puts(out, "\xe2\x80\x99");
    else if (strchr("[]:\\", *p))
      hd_buf_putc(out, ' ');
    else
      hd_buf_putc(out, *p);
}

/* ---- bash --------------------------------------------------------------------------------------- */

static void put_bash_values(const hd_manual *m, hd_buf *out) {
  for (size_t i = 0; i < m->n; i++) {
    const hd_manual_option *o = &m->options[i];
    const value_kind k = kind_of(o);
    if (k == VALUE_NONE) continue;
    hd_buf_printf(out, "      --%s", o->name);
    if (o->letter) hd_buf_printf(out, "|-%c", o->letter);
    hd_buf_puts(out, ") ");
    if (k == VALUE_WORDS) {
      hd_buf_puts(out, "_heddle_words '");
      put_words(o->argument, out);
      hd_buf_puts(out, "'; return;;\n");
    } else {
      hd_buf_puts(out, k == VALUE_GPU
                           ? "_heddle_words \"$(heddle simulate --gpu list 2>/dev/null)\"; return;;\n"
                       : k == VALUE_FOLDER ? "compopt -o dirnames; return;;\n"
                       : k == VALUE_FILE   ? "compopt -o default; return;;\n"
                                           : "return;;\n");
    }
  }
}

static void put_bash(const hd_manual *all, size_t n, hd_buf *out) {
  hd_buf_puts(out, "# bash completion for heddle; made by `heddle manual bash`\n\n"
                   "_heddle_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$word\")); }\n\n"
                   "_heddle() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                   "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    _heddle_words '");
  for (size_t i = 0; i < n; i++) hd_buf_printf(out, "%s%s", i ? " " : "", all[i].name);
  hd_buf_puts(out, "'\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  for (size_t i = 0; i < n; i++) {
    const hd_manual *m = &all[i];
    hd_buf_printf(out, "  %s)\n    case $before in\n", m->name);
    put_bash_values(m, out);
    hd_buf_puts(out, "    esac\n    case $word in\n      -*) _heddle_words '");
    for (size_t k = 0; k < m->n; k++) hd_buf_printf(out, "--%s ", m->options[k].name);
    hd_buf_puts(out, "--help';;\n");
    if (takes_workloads(m))
      hd_buf_puts(out,
                  "      *) compopt -o default; _heddle_words \"$(heddle list --names 2>/dev/null)\";;\n");
    else
      hd_buf_puts(out, "      *) compopt -o default;;\n");
    hd_buf_puts(out, "    esac;;\n");
  }
  hd_buf_puts(out, "  esac\n}\n\ncomplete -F _heddle heddle\n");
}

/* ---- zsh -------------------------------------------------------------------------------------------- */

static void put_zsh_value(const hd_manual_option *o, hd_buf *out) {
  switch (kind_of(o)) {
  case VALUE_NONE: break;
  case VALUE_WORDS:
    hd_buf_puts(out, ":word:(");
    put_words(o->argument, out);
    hd_buf_putc(out, ')');
    break;
  case VALUE_GPU: hd_buf_puts(out, ":GPU:_heddle_gpus"); break;
  case VALUE_FOLDER: hd_buf_puts(out, ":folder:_files -/"); break;
  case VALUE_FILE: hd_buf_puts(out, ":file:_files"); break;
  case VALUE_OTHER: hd_buf_puts(out, ":value: "); break;
  }
}

static void put_zsh(const hd_manual *all, size_t n, hd_buf *out) {
  hd_buf_puts(out, "#compdef heddle\n# made by `heddle manual zsh`\n\n"
                   "_heddle_gpus() { compadd -- ${(f)\"$(heddle simulate --gpu list 2>/dev/null)\"} }\n"
                   "_heddle_inputs() { compadd -- ${(f)\"$(heddle list --names 2>/dev/null)\"}; _files }\n\n"
                   "_heddle() {\n  local -a commands=(\n");
  for (size_t i = 0; i < n; i++) {
    hd_buf_printf(out, "    '%s:", all[i].name);
    put_line(all[i].summary, out);
    hd_buf_puts(out, "'\n");
  }
  hd_buf_puts(out, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                   "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (size_t i = 0; i < n; i++) {
    const hd_manual *m = &all[i];
    hd_buf_printf(out, "  %s)\n    _arguments \\\n", m->name);
    for (size_t k = 0; k < m->n; k++) {
      hd_buf_printf(out, "      '*--%s[", m->options[k].name);
      put_line(m->options[k].help, out);
      hd_buf_putc(out, ']');
      put_zsh_value(&m->options[k], out);
      hd_buf_puts(out, "' \\\n");
    }
    hd_buf_printf(out, "      '*:input:%s';;\n", takes_workloads(m) ? "_heddle_inputs" : "_files");
  }
  hd_buf_puts(out, "  esac\n}\n\n_heddle \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------------------- */

static void put_fish(const hd_manual *all, size_t n, hd_buf *out) {
  hd_buf_puts(out, "# fish completion for heddle; made by `heddle manual fish`\n\n");
  for (size_t i = 0; i < n; i++) {
    const hd_manual *m = &all[i];
    hd_buf_printf(out, "complete -c heddle -n __fish_use_subcommand -f -a %s -d '", m->name);
    put_line(m->summary, out);
    hd_buf_puts(out, "'\n");
    if (takes_workloads(m))
      hd_buf_printf(out,
                    "complete -c heddle -n '__fish_seen_subcommand_from %s' -a '(heddle list --names)'\n",
                    m->name);
    for (size_t k = 0; k < m->n; k++) {
      const hd_manual_option *o = &m->options[k];
      const value_kind kind = kind_of(o);
      hd_buf_printf(out, "complete -c heddle -n '__fish_seen_subcommand_from %s' -l %s", m->name, o->name);
      if (o->letter) hd_buf_printf(out, " -s %c", o->letter);
      if (kind == VALUE_FILE || kind == VALUE_FOLDER) hd_buf_puts(out, " -r -F");
      if (kind == VALUE_OTHER) hd_buf_puts(out, " -x");
      if (kind == VALUE_GPU) hd_buf_puts(out, " -x -a '(heddle simulate --gpu list)'");
      if (kind == VALUE_WORDS) {
        hd_buf_puts(out, " -x -a '");
        put_words(o->argument, out);
        hd_buf_putc(out, '\'');
      }
      hd_buf_puts(out, " -d '");
      put_line(o->help, out);
      hd_buf_puts(out, "'\n");
    }
  }
}

void hd_manual_completions(hd_shell s, const hd_manual *all, size_t n, hd_buf *out) {
  static void (*const put[HD_SHELL_COUNT])(const hd_manual *, size_t, hd_buf *) = {put_bash, put_zsh,
                                                                                   put_fish};
  put[s](all, n, out);
}
