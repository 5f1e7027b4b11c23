/* The folder of GPU files, and the names that people give GPUs.
 *
 * The folder's published/known.toml has a table for each GPU that is known by name: its title, other names,
 * and its sizes as NVIDIA publishes them. The GPU's file, if there is one, has the table's name. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/model.h"
#include "text/toml.h"

/* ---- Files ------------------------------------------------------------------------- */

static const char suffix[] = ".toml";

/* The name of a GPU file: its last part, without the suffix. Length 0 when it has none. */
static size_t name_of(const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  size_t n = strlen(*name), s = sizeof suffix - 1;
  return n > s && strcmp(*name + n - s, suffix) == 0 ? n - s : 0;
}

/* The file at a path; a name is its last part. */
static hd_status load_path(const char *path, hd_gpu *out, hd_diag *d) {
  hd_file file;
  const char *name;
  memset(out, 0, sizeof *out);
  hd_status st = hd_file_open(path, &file, d);
  if (st == HD_OK) {
    st = hd_gpu_read(file.data, file.len, path, out, d);
    hd_file_close(&file);
  }
  size_t length = name_of(path, &name);
  if (!length) length = strlen(name);
  if (st == HD_OK && length >= sizeof out->name)
    st = hd_fail(d, HD_ERR_INPUT, "%s: a GPU's name has at most %zu letters", path, sizeof out->name - 1);
  if (st == HD_OK) memcpy(out->name, name, length);
  return st;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hd_status hd_gpu_list(const char *gpu_dir, char ***names, size_t *n, hd_diag *d) {
  *names = NULL;
  *n = 0;
  DIR *dir = opendir(gpu_dir);
  if (!dir) {
    hd_fail(d, HD_ERR_IO, "cannot open the folder of GPU files: %s", strerror(errno));
    if (d) snprintf(d->file, sizeof d->file, "%s", gpu_dir);
    return HD_ERR_IO;
  }
  HD_VEC(char *) list = {0};
  bool ok = true;
  for (struct dirent *e; ok && (e = readdir(dir));) {
    const char *name;
    size_t length = name_of(e->d_name, &name);
    if (!length || name[0] == '.') continue;
    char *copy = strndup(name, length);
    ok = copy && hd_vec_push(&list, copy);
    if (!ok) free(copy);
  }
  closedir(dir);
  if (!ok) {
    hd_gpu_list_free(list.data, list.n);
    return hd_nomem(d);
  }
  if (list.n) qsort(list.data, list.n, sizeof *list.data, by_name);
  *names = list.data;
  *n = list.n;
  return HD_OK;
}

void hd_gpu_list_free(char **names, size_t n) {
  for (size_t i = 0; i < n; i++) free(names[i]);
  free(names);
}

hd_status hd_gpu_names(const char *gpu_dir, hd_buf *out, hd_diag *d) {
  char **names;
  size_t n;
  hd_status st = hd_gpu_list(gpu_dir, &names, &n, d);
  if (st != HD_OK) return st;
  for (size_t i = 0; i < n; i++) hd_buf_printf(out, "%s\n", names[i]);
  hd_gpu_list_free(names, n);
  return HD_OK;
}

/* ---- Spelling ---------------------------------------------------------------------- */

enum { SPELLING = 64 };

/* Letters in lower case and digits, without the maker's words: "NVIDIA GeForce RTX 4090" is rtx4090. */
static void spell(const char *name, char out[SPELLING]) {
  static const char *const makers[] = {"nvidia", "geforce", "tesla"};
  size_t n = 0;
  for (const char *c = name; *c && n + 1 < SPELLING; c++)
    if (isalnum((unsigned char)*c)) out[n++] = (char)tolower((unsigned char)*c);
  out[n] = 0;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    const size_t len = strlen(makers[i]);
    if (strncmp(out, makers[i], len) == 0) memmove(out, out + len, strlen(out + len) + 1);
  }
}

static bool is_spelled(const char *name, const char *spelling) {
  char own[SPELLING];
  spell(name, own);
  return strcmp(own, spelling) == 0;
}

/* The architecture of "sm_103", "sm103a"; 0: it is another name. */
static unsigned arch_of(const char *spelling) {
  unsigned arch = 0;
  char rest[2] = "";
  if (sscanf(spelling, "sm%3u%1s", &arch, rest) < 1) return 0;
  return !rest[0] || rest[0] == 'a' || rest[0] == 'f' ? arch : 0;
}

/* ---- What is known ----------------------------------------------------------------- */

/* Sizes as published: those of a file's GPU are its table's, if it has one. 0: not known. */
typedef struct sizes {
  unsigned arch;
  double sms, l2_mb, gb_per_s;
} sizes;

static sizes sizes_of(const json_t *table) {
  return (sizes){(unsigned)json_integer_value(json_object_get(table, "arch")),
                 json_number_value(json_object_get(table, "sms")),
                 json_number_value(json_object_get(table, "l2_mb")),
                 json_number_value(json_object_get(table, "gb_per_s"))};
}

/* The tables of known.toml; *out NULL if the folder has none. */
static hd_status read_known(const char *gpu_dir, json_t **out, hd_diag *d) {
  static const char *const keys[] = {"title", "names", "arch", "sms", "l2_mb", "gb_per_s", NULL};
  hd_buf path = {0};
  hd_file file;
  *out = NULL;
  hd_buf_printf(&path, "%s/published/known.toml", gpu_dir);
  hd_status st = path.failed ? hd_nomem(d) : HD_OK;
  if (st == HD_OK && access(path.data, F_OK) == 0 && (st = hd_file_open(path.data, &file, d)) == HD_OK) {
    st = toml_parse(file.data, file.len, path.data, out, d);
    hd_file_close(&file);
  }
  const char *name;
  json_t *table;
  if (st == HD_OK && *out) {
    json_object_foreach(*out, name, table) {
      if (!json_is_object(table)) continue; /* the parser's own */
      if (st == HD_OK) st = toml_only(path.data, table, keys, d);
    }
  }
  hd_buf_free(&path);
  return st;
}

static bool is_named(const char *name, const json_t *table, const char *spelling) {
  size_t i;
  json_t *other;
  if (is_spelled(name, spelling)) return true;
  json_array_foreach(json_object_get(table, "names"), i, other) {
    if (is_spelled(json_string_value(other), spelling)) return true;
  }
  return false;
}

/* The name of the table that such a spelling means, or NULL. */
static const char *known_name(json_t *known, const char *spelling) {
  const char *name;
  json_t *table;
  json_object_foreach(known, name, table) {
    if (json_is_object(table) && is_named(name, table, spelling)) return name;
  }
  return NULL;
}

/* ---- The nearest ------------------------------------------------------------------- */

static double apart(double a, double b) { return a > 0 && b > 0 ? fabs(log2(a / b)) : 0; }

/* How unlike two GPUs are: by factors of two of their sizes, and their architectures. One that is newer than
 * what is wanted comes last where nothing but the architecture is known. */
static double distance(const sizes *wanted, const sizes *other) {
  const double arch = fabs((double)wanted->arch - (double)other->arch) / 10;
  const bool same = wanted->arch / 10 == other->arch / 10, newer = other->arch > wanted->arch;
  return apart(wanted->sms, other->sms) + apart(wanted->l2_mb, other->l2_mb) +
         apart(wanted->gb_per_s, other->gb_per_s) + arch + (same ? 0 : 1) +
         (wanted->sms > 0 || !newer ? 0 : 100);
}

/* The folder, as a search goes through it. */
typedef struct search {
  const char *gpu_dir;
  char **names; /* of its files */
  size_t n;
  json_t *known; /* or NULL */
} search;

static bool load_named(const search *s, const char *name, hd_gpu *out) {
  hd_buf path = {0};
  hd_buf_printf(&path, "%s/%s%s", s->gpu_dir, name, suffix);
  const bool ok = !path.failed && load_path(path.data, out, NULL) == HD_OK;
  hd_buf_free(&path);
  return ok;
}

/* False of a file that cannot be read. */
static bool file_sizes(const search *s, const char *name, sizes *out) {
  hd_gpu g;
  const json_t *table = json_object_get(s->known, name);
  if (table)
    *out = sizes_of(table);
  else if (load_named(s, name, &g))
    *out =
        (sizes){g.arch, g.n_sms, (double)g.l2.bytes / (1 << 20), g.dram_bytes_per_cycle * g.clock_mhz / 1000};
  else
    return false;
  return true;
}

static void put_sizes(const sizes *s, hd_buf *out) {
  hd_buf_printf(out, "sm_%u", s->arch);
  if (s->sms > 0)
    hd_buf_printf(out, ", %.0f SMs, L2 of %.4g MB, memory of %.0f GB/s", s->sms, s->l2_mb, s->gb_per_s);
}

/* "there is no file of GeForce RTX 4080 (sm_89, 76 SMs, ...); the nearest is --gpu rtx4090 (...)", or "there
 * is no GPU 'sm_103'; the nearest by architecture is --gpu b200 (...)", for which `title` is NULL. */
static hd_status fail_with_nearest(const search *s, const char *name, const char *title, const sizes *wanted,
                                   hd_diag *d) {
  const char *nearest = NULL;
  sizes best = {0}, other;
  for (size_t i = 0; i < s->n; i++) {
    if (!file_sizes(s, s->names[i], &other)) continue;
    if (nearest && distance(wanted, &other) >= distance(wanted, &best)) continue;
    nearest = s->names[i];
    best = other;
  }
  hd_buf line = {0};
  if (title) {
    hd_buf_printf(&line, "there is no file of %s (", title);
    put_sizes(wanted, &line);
    hd_buf_putc(&line, ')');
  } else {
    hd_buf_printf(&line, "there is no GPU '%.60s'", name);
  }
  if (nearest) {
    hd_buf_printf(&line, "; the nearest%s is --gpu %s (", title ? "" : " by architecture", nearest);
    put_sizes(&best, &line);
    hd_buf_putc(&line, ')');
  }
  const hd_status st = line.failed ? hd_nomem(d) : hd_fail_unknown(d, "%s", line.data);
  hd_buf_free(&line);
  return st;
}

/* "there is no GPU 'h10'; there is h100" */
static hd_status fail_unknown(const search *s, const char *name, hd_diag *d) {
  hd_buf list = {0};
  hd_suggest((const char *const *)s->names, s->n, HD_FEW_NAMES, name, &list);
  const hd_status st =
      list.len ? hd_fail_unknown(d, "there is no GPU '%.60s'; there is %s", name, list.data)
               : hd_fail_unknown(d, "there is no GPU '%.60s' among %zu; --gpu list names them", name, s->n);
  hd_buf_free(&list);
  return st;
}

static bool has_file(const search *s, const char *name) {
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->names[i], name) == 0) return true;
  return false;
}

static hd_status find(const search *s, const char *name, hd_buf *path, hd_diag *d) {
  char spelling[SPELLING];
  spell(name, spelling);
  const char *file = known_name(s->known, spelling);
  for (size_t i = 0; !file && i < s->n; i++)
    if (is_spelled(s->names[i], spelling)) file = s->names[i];
  if (file && has_file(s, file)) {
    hd_buf_printf(path, "%s/%s.toml", s->gpu_dir, file);
    return path->failed ? hd_nomem(d) : HD_OK;
  }
  if (file) {
    const json_t *table = json_object_get(s->known, file);
    const sizes wanted = sizes_of(table);
    const char *title = json_string_value(json_object_get(table, "title"));
    return fail_with_nearest(s, name, title ? title : file, &wanted, d);
  }
  const sizes wanted = {.arch = arch_of(spelling)};
  return wanted.arch ? fail_with_nearest(s, name, NULL, &wanted, d) : fail_unknown(s, name, d);
}

/* Append the path of the file of the GPU that is meant by a name which no file has: another spelling, or
 * another name. */
static hd_status find_file(const char *name, const char *gpu_dir, hd_buf *path, hd_diag *d) {
  search s = {.gpu_dir = gpu_dir};
  hd_status st = hd_gpu_list(gpu_dir, &s.names, &s.n, d);
  if (st != HD_OK) return st;
  st = read_known(gpu_dir, &s.known, d);
  if (st == HD_OK) st = find(&s, name, path, d);
  json_decref(s.known);
  hd_gpu_list_free(s.names, s.n);
  return st;
}

/* ---- Loading ------------------------------------------------------------------------ */

hd_status hd_gpu_load(const char *name_or_path, const char *gpu_dir, hd_gpu *out, hd_diag *d) {
  hd_buf path = {0};
  const char *name;
  const bool is_path = name_of(name_or_path, &name) || strchr(name_or_path, '/');
  memset(out, 0, sizeof *out);
  if (is_path) return load_path(name_or_path, out, d);
  if (!gpu_dir)
    return hd_fail(d, HD_ERR_USAGE, "GPU '%s': there is no folder of GPU files; give the path of one",
                   name_or_path);
  hd_buf_printf(&path, "%s/%s%s", gpu_dir, name_or_path, suffix);
  hd_status st = path.failed ? hd_nomem(d) : HD_OK;
  if (st == HD_OK && access(path.data, F_OK) != 0) {
    hd_buf_clear(&path);
    st = find_file(name_or_path, gpu_dir, &path, d);
  }
  if (st == HD_OK) st = load_path(path.data, out, d);
  hd_buf_free(&path);
  return st;
}
