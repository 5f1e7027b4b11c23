/* Kernels of a file by the names that people give them. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"

/* How well a name is met; the best one that any kernel reaches decides. */
typedef enum meeting {
  MET_NOT = 0,
  MET_PART,    /* the kernel's name begins or ends with it */
  MET_PATTERN, /* it is a shell's pattern of the symbol or the title */
  MET_SCOPE,   /* all but scopes or template arguments */
  MET_TITLE,   /* with or without parameters */
  MET_SYMBOL,
} meeting;

typedef struct candidate {
  char *symbol;
  uint64_t module;
  hd_target target;
} candidate;

typedef struct neighbour {
  char *title;
  unsigned distance;
} neighbour;

typedef struct finding {
  const char *name; /* NULL: any */
  char *wanted;     /* the name without blanks */
  meeting best;
  HD_VEC(candidate) found; /* that meet it best */
  HD_VEC(neighbour) near;  /* all there are, where none meets it */
} finding;

/* ---- Names ------------------------------------------------------------------------------ */

static void drop_blanks(char *s) {
  char *to = s;
  for (; *s; s++)
    if (*s != ' ') *to++ = *s;
  *to = 0;
}

static char *title_of(const char *symbol, bool whole) {
  hd_buf b = {0};
  hd_kernel_title(symbol, whole, &b);
  if (b.failed) hd_buf_free(&b);
  if (b.data) drop_blanks(b.data);
  return b.data;
}

static bool ends_with(const char *s, size_t n, const char *end) {
  size_t m = strlen(end);
  return n >= m && memcmp(s + n - m, end, m) == 0;
}

/* The title's part that comes before template arguments, and its last name in there. */
static meeting meet_title(const char *title, const char *wanted) {
  size_t n = strlen(title), bare = strcspn(title, "<"), m = strlen(wanted);
  if (strcmp(title, wanted) == 0) return MET_TITLE;
  bool scoped = (n > m + 2 && ends_with(title, n, wanted) && title[n - m - 1] == ':') ||
                (bare >= m && ends_with(title, bare, wanted) && (bare == m || title[bare - m - 1] == ':'));
  if (scoped) return MET_SCOPE;
  size_t own = bare; /* where the kernel's own name begins, behind its scopes */
  while (own && title[own - 1] != ':') own--;
  const bool begins = strncmp(title, wanted, m) == 0 || strncmp(title + own, wanted, m) == 0;
  return begins || ends_with(title, bare, wanted) || ends_with(title, n, wanted) ? MET_PART : MET_NOT;
}

static bool is_pattern(const char *name) { return strpbrk(name, "*?[") != NULL; }

/* A pattern is of the whole symbol, of a title with all or without parameters, or of the name alone. */
static bool fits(const char *pattern, const char *symbol, const char *title, const char *whole) {
  size_t bare = strcspn(title, "<"), own = bare;
  while (own && title[own - 1] != ':') own--;
  char *name = strndup(title + own, bare - own);
  const bool yes = fnmatch(pattern, symbol, 0) == 0 || fnmatch(pattern, title, 0) == 0 ||
                   fnmatch(pattern, whole, 0) == 0 || (name && fnmatch(pattern, name, 0) == 0);
  free(name);
  return yes;
}

/* HD_ERR_NOMEM, or *how. */
static hd_status meet(const finding *f, const char *symbol, meeting *how, hd_diag *d) {
  *how = MET_SYMBOL;
  if (!f->name || strcmp(symbol, f->name) == 0) return HD_OK;
  char *title = title_of(symbol, false), *whole = title_of(symbol, true);
  hd_status st = title && whole ? HD_OK : hd_nomem(d);
  if (st == HD_OK && strcmp(whole, f->wanted) == 0)
    *how = MET_TITLE;
  else if (st == HD_OK)
    *how = meet_title(title, f->wanted);
  if (st == HD_OK && *how < MET_PATTERN && is_pattern(f->wanted) && fits(f->wanted, symbol, title, whole))
    *how = MET_PATTERN;
  if (st == HD_OK && *how == MET_NOT && strncmp(symbol, f->wanted, strlen(f->wanted)) == 0) *how = MET_PART;
  free(title);
  free(whole);
  return st;
}

/* ---- Collecting --------------------------------------------------------------------------- */

static void forget(finding *f) {
  for (size_t i = 0; i < f->found.n; i++) free(f->found.data[i].symbol);
  f->found.n = 0;
}

static void close_finding(finding *f) {
  forget(f);
  hd_vec_free(&f->found);
  for (size_t i = 0; i < f->near.n; i++) free(f->near.data[i].title);
  hd_vec_free(&f->near);
  free(f->wanted);
}

static hd_status open_finding(finding *f, const char *name, hd_diag *d) {
  *f = (finding){.name = name, .wanted = strdup(name ? name : "")};
  if (!f->wanted) return hd_nomem(d);
  drop_blanks(f->wanted);
  return HD_OK;
}

bool hd_kernel_matches(const char *symbol, const char *word) {
  finding f;
  meeting how = MET_NOT;
  if (open_finding(&f, word, NULL) != HD_OK) return false;
  const hd_status st = meet(&f, symbol, &how, NULL);
  close_finding(&f);
  return st == HD_OK && (how >= MET_PATTERN || (how == MET_PART && strchr(word, '<')));
}

/* A kernel that several modules hold is kept for its latest target, or of each where that is one. */
static hd_status keep(finding *f, const char *symbol, uint64_t module, hd_target t, hd_diag *d) {
  for (size_t i = 0; i < f->found.n; i++) {
    candidate *c = &f->found.data[i];
    if (strcmp(c->symbol, symbol) != 0 || (c->target.sm == t.sm && c->target.kind == t.kind)) continue;
    if (hd_target_is_nearer(t, c->target, 0)) c->module = module, c->target = t;
    return HD_OK;
  }
  candidate c = {strdup(symbol), module, t};
  if (c.symbol && hd_vec_push(&f->found, c)) return HD_OK;
  free(c.symbol);
  return hd_nomem(d);
}

static hd_status collect(finding *f, const hd_ptx_module *m, uint64_t number, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < m->n_funcs; i++) {
    const char *symbol = m->syms[m->funcs[i].sym].name;
    meeting how = MET_NOT;
    if (!m->funcs[i].entry || !m->funcs[i].has_body) continue;
    st = meet(f, symbol, &how, d);
    if (st != HD_OK || !how || how < f->best) continue;
    if (how > f->best) forget(f);
    f->best = how;
    st = keep(f, symbol, number, hd_target_parse(m->target), d);
  }
  return st;
}

/* The kernels' titles without template arguments, each once, and how far they are from the name. */
static hd_status come_near(finding *f, const hd_ptx_module *m, hd_diag *d) {
  enum { MOST = 2000 };
  for (uint32_t i = 0; i < m->n_funcs && f->near.n < MOST; i++) {
    if (!m->funcs[i].entry || !m->funcs[i].has_body) continue;
    hd_buf title = {0};
    hd_kernel_title(m->syms[m->funcs[i].sym].name, false, &title);
    if (!title.data) return hd_nomem(d);
    title.data[strcspn(title.data, "<")] = 0;
    size_t k = 0;
    while (k < f->near.n && strcmp(f->near.data[k].title, title.data) != 0) k++;
    const char *scope = strrchr(title.data, ':');
    const neighbour n = {title.data, hd_edit_distance(scope ? scope + 1 : title.data, f->wanted)};
    if (k < f->near.n || !hd_vec_push(&f->near, n)) hd_buf_free(&title);
  }
  return HD_OK;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static hd_status several(const finding *f, const char *where, hd_diag *d) {
  enum { SHOWN = 8 };
  hd_buf list = {0};
  bool one_name = true;
  for (size_t i = 1; i < f->found.n; i++)
    one_name &= strcmp(f->found.data[i].symbol, f->found.data[0].symbol) == 0;
  for (size_t i = 0; i < f->found.n && i < SHOWN; i++) {
    hd_buf_puts(&list, i ? ", " : "");
    if (one_name)
      hd_buf_printf(&list, "%" PRIu64, f->found.data[i].module);
    else
      hd_kernel_title(f->found.data[i].symbol, f->name && f->best >= MET_TITLE, &list);
  }
  hd_buf_puts(&list, f->found.n > SHOWN ? ", ..." : "");
  if (one_name)
    hd_fail(d, HD_ERR_USAGE, "%s: several modules have this kernel; choose one with --module: %.300s", where,
            list.data);
  else if (f->name)
    hd_fail(d, HD_ERR_USAGE, "%s: '%.100s' may be any of %zu kernels: %.500s", where, f->name, f->found.n,
            list.data);
  else
    hd_fail(d, HD_ERR_USAGE, "%s: choose a kernel with -k: %.500s", where, list.data);
  hd_buf_free(&list);
  return HD_ERR_USAGE;
}

static hd_status none(const finding *f, const char *where, hd_diag *d) {
  enum { SHOWN = 8 };
  unsigned nearest = UINT32_MAX;
  size_t shown = 0, n = f->near.n;
  hd_buf list = {0};
  if (!n) return hd_fail(d, HD_ERR_INPUT, "%s: holds no kernel", where);
  for (size_t i = 0; i < n; i++)
    if (f->near.data[i].distance < nearest) nearest = f->near.data[i].distance;
  const bool misspelt = nearest <= strlen(f->wanted) / 3 + 1;
  for (size_t i = 0; i < n && shown < SHOWN; i++)
    if (!misspelt || f->near.data[i].distance == nearest)
      hd_buf_printf(&list, "%s%s", shown++ ? ", " : "", f->near.data[i].title);
  hd_fail_unknown(d, "%s: no kernel '%.100s'; %s %.500s%s", where, f->name,
                  misspelt ? "did you mean" : "there is", list.data ? list.data : "",
                  misspelt    ? "?"
                  : shown < n ? ", ..."
                              : "");
  hd_buf_free(&list);
  return HD_ERR_USAGE;
}

hd_status hd_kernel_find_in(const hd_ptx_module *m, const char *name, uint32_t *func, hd_diag *d) {
  finding f;
  hd_status st = open_finding(&f, name, d);
  if (st == HD_OK) st = collect(&f, m, 0, d);
  if (st == HD_OK && !f.found.n) {
    st = come_near(&f, m, d);
    if (st == HD_OK) st = none(&f, m->name, d);
  } else if (st == HD_OK && f.found.n > 1) {
    st = several(&f, m->name, d);
  }
  if (st == HD_OK) *func = (uint32_t)hd_ptx_find_kernel(m, f.found.data[0].symbol);
  close_finding(&f);
  return st;
}

/* ---- Files --------------------------------------------------------------------------------------- */

/* The last word of "ns::scale<float>(int)" before template arguments and parameters: every symbol that the
 * name may mean holds it. */
static const char *key_word(const char *name, size_t *n) {
  size_t end = strcspn(name, "<("), start;
  while (end && name[end - 1] == ' ') end--;
  for (start = end; start && name[start - 1] != ':' && name[start - 1] != ' ';) start--;
  *n = end - start;
  return name + start;
}

typedef struct walk {
  uint64_t index, modules, assembled;
  const char *word; /* NULL: all modules */
  size_t word_len;
} walk;

/* Give every module that may hold the kernel to `collect`, or, in search of a better name, to come_near. */
static hd_status search(finding *f, const char *path, walk *w, bool near, hd_diag *d) {
  hd_container *c;
  hd_arena arena;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  w->modules = 0;
  for (bool more = true; st == HD_OK;) {
    hd_ptx_text t;
    hd_ptx_module *m;
    st = hd_container_next(c, &t, &more, d);
    if (st != HD_OK || !more) break;
    if (w->index != UINT64_MAX && t.index != w->index) continue;
    w->modules++;
    if (w->word && !memmem(t.data, t.len, w->word, w->word_len)) continue;
    hd_arena_reset(&arena);
    st = hd_ptx_parse(t.data, t.len, t.label, &arena, &m, d);
    if (st == HD_OK && near)
      st = come_near(f, m, d);
    else if (st == HD_OK)
      st = collect(f, m, t.index, d);
  }
  w->assembled = hd_container_assembled(c);
  hd_arena_free(&arena);
  hd_container_close(c);
  return st;
}

/* No name: a file of one module, as ever, or a message that lists kernels. */
hd_status hd_kernel_find(const char *path, uint64_t index, const char *name, hd_arena *arena,
                         hd_ptx_module **m, uint32_t *func, uint64_t *at, hd_diag *d) {
  finding f;
  walk w = {.index = index};
  if (name && !is_pattern(name)) w.word = key_word(name, &w.word_len);
  hd_status st = open_finding(&f, name, d);
  if (st == HD_OK) st = search(&f, path, &w, false, d);
  if (st == HD_OK && !w.modules) {
    st = index == UINT64_MAX ? hd_container_no_ptx(path, w.assembled, d)
                             : hd_fail_unknown(d, "%s: no module %" PRIu64, path, index);
  } else if (st == HD_OK && !f.found.n) {
    w.word = NULL;
    st = search(&f, path, &w, true, d);
    if (st == HD_OK) st = none(&f, path, d);
  } else if (st == HD_OK && f.found.n > 1) {
    st = several(&f, path, d);
  }
  const candidate *only = st == HD_OK && f.found.n ? f.found.data : NULL;
  if (only) st = hd_module_load(path, only->module, arena, m, d);
  if (only && st == HD_OK) *func = (uint32_t)hd_ptx_find_kernel(*m, only->symbol);
  if (only && st == HD_OK && at) *at = only->module;
  close_finding(&f);
  return st;
}
