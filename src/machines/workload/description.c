/* workload.toml -> hd_workload: its top level; every table has a list of its keys and one reader. */
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload/reader.h"

enum { MAX_REGISTERS = 255 };

static const char *const CATEGORIES[] = {"algorithm", "cache-line", "data", "write",
                                         "streaming"}; /* CLU 3.2 */
static const char *const TOP_KEYS[] = {"title",     "paper",     "category", "source", "module",
                                       "reference", "registers", "sizes",    "ranges", "buffer",
                                       "variable",  "texture",   "surface",  "launch", NULL};

static hd_status get_file(wl_reader *r, const json_t *root, const char *key, bool check, const char **out) {
  const char *name = "";
  hd_status st = wl_get_string(r, root, key, NULL, &name);
  if (st != HD_OK) return st;
  const bool given = r->source && strcmp(key, "source") == 0;
  *out = given ? hd_arena_strndup(r->arena, r->source, strlen(r->source))
               : wl_join(r->arena, r->w->folder, name);
  if (check && access(*out, R_OK) != 0) return wl_bad(r, root, key, "%s '%s' cannot be read", key, *out);
  if (check && !wl_is_file(*out)) return wl_bad(r, root, key, "%s '%s' is no file", key, *out);
  return HD_OK;
}

/* Whether the file's name has an ending of C or C++: more likely a mistake than PTX under such a name. */
static bool is_c(const char *path) {
  static const char *const endings[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".cuh"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(dot, endings[i]) == 0) return true;
  return false;
}

/* "data" or several joined by '+': "data+write". */
static bool is_category(const char *s) {
  for (;;) {
    size_t n = strcspn(s, "+"), i = 0, known = sizeof CATEGORIES / sizeof *CATEGORIES;
    while (i < known && !(strlen(CATEGORIES[i]) == n && memcmp(CATEGORIES[i], s, n) == 0)) i++;
    if (i == known) return false;
    if (!s[n]) return true;
    s += n + 1;
  }
}

static int by_arch(const void *a, const void *b) {
  const hd_wl_registers *x = a, *y = b;
  return (x->arch > y->arch) - (x->arch < y->arch);
}

/* registers = 32, or { sm_20 = 14, sm_90 = 32 }. */
static hd_status read_registers(wl_reader *r, const json_t *root, const json_t *registers) {
  hd_workload *w = r->w;
  const bool table = json_is_object(registers);
  const size_t n = table ? json_object_size(registers) : 1;
  int64_t count;
  w->registers = HD_NEW_N(r->arena, n, hd_wl_registers);
  if (!table) {
    hd_status st = wl_get_integer(r, root, "registers", registers, "registers", 1, MAX_REGISTERS, &count);
    if (st == HD_OK) w->registers[w->n_registers++].count = (uint32_t)count;
    return st;
  }
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)registers, key, value) {
    if (key[0] == TOML_LINE[0]) continue;
    unsigned arch = 0;
    char spelled[16];
    sscanf(key, "sm_%3u", &arch);
    snprintf(spelled, sizeof spelled, "sm_%u", arch);
    if (arch < 10 || strcmp(key, spelled) != 0)
      return wl_bad(r, registers, key, "'%.40s' is no architecture such as sm_90", key);
    hd_status st = wl_get_integer(r, registers, key, value, key, 1, MAX_REGISTERS, &count);
    if (st != HD_OK) return st;
    w->registers[w->n_registers++] = (hd_wl_registers){arch, (uint32_t)count};
  }
  if (!w->n_registers) return wl_bad(r, root, "registers", "'registers' names no architecture");
  qsort(w->registers, w->n_registers, sizeof *w->registers, by_arch);
  return HD_OK;
}

uint32_t hd_workload_registers(const hd_workload *w, unsigned arch) {
  uint32_t count = 0;
  unsigned nearest = UINT_MAX;
  for (uint32_t i = 0; i < w->n_registers; i++) {
    const unsigned at = w->registers[i].arch, away = arch && at ? (at > arch ? at - arch : arch - at) : 0;
    if (away > nearest) continue;
    nearest = away;
    count = w->registers[i].count;
  }
  return count;
}

static __attribute__((noinline)) hd_status read_root(wl_reader *r, const json_t *root, const char *size,
                                                     bool check) {
  hd_workload *w = r->w;
  hd_status st = wl_only(r, root, TOP_KEYS);
  if (st != HD_OK || (st = wl_get_string(r, root, "title", "", &w->title)) != HD_OK ||
      (st = wl_get_string(r, root, "paper", "", &w->paper)) != HD_OK ||
      (st = wl_get_string(r, root, "category", "", &w->category)) != HD_OK ||
      (st = get_file(r, root, "source", check, &w->source)) != HD_OK)
    return st;
  if (*w->category && !is_category(w->category))
    return wl_bad(r, root, "category",
                  "unknown category '%.60s' (known: algorithm, cache-line, data, write, streaming)",
                  w->category);
  if (is_c(w->source))
    return wl_bad(r, root, "source", "'source' should be CUDA C in a .cu file, or a file that holds PTX");
  if (json_object_get(root, "reference") &&
      (st = get_file(r, root, "reference", check, &w->reference)) != HD_OK)
    return st;
  if ((st = wl_read_sizes(r, root, size)) != HD_OK || (st = wl_read_ranges(r, root)) != HD_OK) return st;
  const json_t *registers = json_object_get(root, "registers"), *module = json_object_get(root, "module"),
               *tables;
  int64_t number = 0;
  if (module && (st = wl_get_integer(r, root, "module", module, "module", 0, UINT32_MAX, &number)) != HD_OK)
    return st;
  w->module = module ? (uint64_t)number : UINT64_MAX;
  if (registers && (st = read_registers(r, root, registers)) != HD_OK) return st;
  size_t n;
  if ((st = wl_read_buffers(r, root)) != HD_OK || (st = wl_read_images(r, root)) != HD_OK) return st;
  wl_names sizes = r->names;
  if ((st = wl_get_tables(r, root, "launch", WL_MAX_LAUNCHES, &tables, &n)) != HD_OK) return st;
  st = wl_read_launches(r, tables, n);
  r->names = sizes;
  return st;
}

/* The folder's own name, also for "." */
static const char *base_name(hd_arena *a, const char *folder) {
  char real[WL_PATH];
  char *resolved = realpath(folder, NULL);
  snprintf(real, sizeof real, "%s", resolved ? resolved : folder);
  free(resolved);
  size_t n = strlen(real);
  while (n > 1 && real[n - 1] == '/') real[--n] = 0;
  const char *slash = strrchr(real, '/');
  const char *base = slash && slash[1] ? slash + 1 : real;
  return hd_arena_strndup(a, base, strlen(base));
}

static void keep(wl_private *p, const wl_input *in) {
  hd_arena *a = &p->arena;
  p->kept = *in;
  p->kept.text = hd_arena_strndup(a, in->text, in->len);
  p->kept.path = hd_arena_strndup(a, in->path, strlen(in->path));
  p->kept.folder = hd_arena_strndup(a, in->folder, strlen(in->folder));
  p->kept.name = in->name ? hd_arena_strndup(a, in->name, strlen(in->name)) : NULL;
  p->kept.source = in->source ? hd_arena_strndup(a, in->source, strlen(in->source)) : NULL;
  p->kept.preferred = NULL;
  p->kept.set = NULL;
  p->kept.n_set = 0;
}

static const char *choose_size(const json_t *root, const wl_input *in) {
  const json_t *sizes = json_object_get(root, "sizes");
  if (in->size) return in->size;
  return in->preferred && json_is_object(json_object_get(sizes, in->preferred)) ? in->preferred : "small";
}

/* Everything below may longjmp to the escape when memory runs out; kept apart from read_root,
 * none of whose variables then lives across the setjmp. */
static hd_status read_tree(wl_reader *r, const json_t *root, const wl_input *in, wl_private *p) {
  jmp_buf escape;
  if (setjmp(escape)) {
    r->arena->escape = NULL;
    return hd_fail(r->d, HD_ERR_NOMEM, "%s: out of memory", r->path);
  }
  r->arena->escape = &escape;
  r->w = HD_NEW(r->arena, hd_workload);
  r->w->priv = p;
  r->w->folder = hd_arena_strndup(r->arena, in->folder, strlen(in->folder));
  r->w->name =
      in->name ? hd_arena_strndup(r->arena, in->name, strlen(in->name)) : base_name(r->arena, in->folder);
  hd_status st = read_root(r, root, choose_size(root, in), in->check_files);
  p->sizes = r->names;
  p->fills = r->fills;
  if (in->keep) keep(p, in);
  r->arena->escape = NULL;
  return st;
}

hd_status wl_read(const wl_input *in, hd_workload **out, hd_diag *d) {
  *out = NULL;
  if (in->len > WL_MAX_FILE)
    return hd_fail_at(d, HD_ERR_INPUT, in->path, NULL, 0, 0, "%zu bytes, a workload file has at most %d",
                      in->len, WL_MAX_FILE);
  json_t *root;
  hd_status st = toml_parse(in->text, in->len, in->path, &root, d);
  if (st != HD_OK) return st;
  wl_private *p = calloc(1, sizeof *p);
  if (!p) {
    json_decref(root);
    return hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", in->path);
  }
  hd_arena_init(&p->arena);
  pthread_mutex_init(&p->lock, NULL);
  wl_reader r = {.path = in->path,
                 .source = in->source,
                 .text = in->text,
                 .len = in->len,
                 .d = d,
                 .arena = &p->arena,
                 .set = in->set,
                 .n_set = in->n_set};
  st = read_tree(&r, root, in, p);
  json_decref(root);
  if (st == HD_OK) {
    *out = r.w;
  } else {
    pthread_mutex_destroy(&p->lock);
    hd_arena_free(&p->arena);
    free(p);
  }
  return st;
}

void hd_workload_close(hd_workload *w) {
  if (!w) return;
  wl_private *p = w->priv;
  wl_compiled_free(p->compiled);
  wl_generated_free(p->generated, w->n_buffers);
  pthread_mutex_destroy(&p->lock);
  hd_arena_free(&p->arena); /* holds *w too */
  free(p);
}
