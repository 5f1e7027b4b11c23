/* Where workloads are: a file, a folder, or a name below kernels_dir. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload/workload.h"

enum { MAX_DEPTH = 8, MAX_LISTED = 100000 };
#define FILE_NAME "workload.toml"

static bool is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- Listing ----------------------------------------------------------------------- */

typedef HD_VEC(char *) name_list;

static hd_status no_memory(hd_diag *d) { return hd_nomem(d); }

/* Collect the folders below dir/prefix that hold a workload file; links are not followed. */
static hd_status collect(const char *dir, const char *prefix, unsigned depth, name_list *names, hd_diag *d) {
  char path[WL_PATH];
  if (snprintf(path, sizeof path, "%s/%s", dir, prefix) >= (int)sizeof path) return HD_OK;
  DIR *folder = opendir(path);
  if (!folder) {
    if (depth) return HD_OK; /* a folder that may not be entered holds nothing for us */
    return hd_fail(d, HD_ERR_IO, "%s: cannot open: %s", dir, strerror(errno));
  }
  hd_status st = HD_OK;
  for (struct dirent *e; st == HD_OK && (e = readdir(folder));) {
    if (e->d_name[0] == '.') continue;
    char below[WL_PATH], file[2 * WL_PATH];
    int n = snprintf(below, sizeof below, "%s%s%s", prefix, *prefix ? "/" : "", e->d_name);
    struct stat info;
    snprintf(file, sizeof file, "%s/%s", dir, below);
    if (n >= (int)sizeof below || lstat(file, &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    snprintf(file, sizeof file, "%s/%s/%s", dir, below, FILE_NAME);
    if (is_file(file) && names->n < MAX_LISTED) {
      char *name = strdup(below);
      if (!name || !hd_vec_push(names, name)) {
        free(name);
        st = no_memory(d);
      }
    }
    if (st == HD_OK && depth < MAX_DEPTH) st = collect(dir, below, depth + 1, names, d);
  }
  closedir(folder);
  return st;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hd_status hd_workload_list(const char *kernels_dir, char ***names, size_t *n, hd_diag *d) {
  name_list list = {0};
  *names = NULL;
  *n = 0;
  hd_status st = collect(kernels_dir, "", 0, &list, d);
  if (st != HD_OK) {
    hd_workload_list_free(list.data, list.n);
    return st;
  }
  if (list.n) qsort(list.data, list.n, sizeof *list.data, by_text);
  *names = list.data;
  *n = list.n;
  return HD_OK;
}

void hd_workload_list_free(char **names, size_t n) {
  for (size_t i = 0; i < n; i++) free(names[i]);
  free(names);
}

/* ---- Words of a command line ------------------------------------------------------------ */

static hd_status add_name(name_list *l, const char *folder, const char *name, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_printf(&b, "%s%s%s", folder, *folder ? "/" : "", name);
  if (!b.failed && hd_vec_push(l, b.data)) return HD_OK;
  hd_buf_free(&b);
  return hd_nomem(d);
}

static hd_status add_word(name_list *l, const char *word, hd_diag *d) {
  char path[WL_PATH], **all = NULL;
  size_t n = 0;
  struct stat s;
  hd_diag quiet = {0};
  int length = snprintf(path, sizeof path, "%s/%s", word, FILE_NAME);
  bool several = length < (int)sizeof path && !is_file(path) && stat(word, &s) == 0 &&
                 hd_workload_list(word, &all, &n, &quiet) == HD_OK && n;
  hd_status st = several ? HD_OK : add_name(l, "", word, d);
  for (size_t i = 0; st == HD_OK && several && i < n; i++) st = add_name(l, word, all[i], d);
  hd_workload_list_free(all, n);
  return st;
}

hd_status hd_workload_names(const char *kernels_dir, char *const *words, size_t n_words, char ***names,
                            size_t *n, hd_diag *d) {
  if (!n_words) return hd_workload_list(kernels_dir, names, n, d);
  name_list list = {0};
  hd_status st = HD_OK;
  *names = NULL;
  *n = 0;
  for (size_t i = 0; st == HD_OK && i < n_words; i++) st = add_word(&list, words[i], d);
  if (st != HD_OK) {
    hd_workload_list_free(list.data, list.n);
    return st;
  }
  *names = list.data;
  *n = list.n;
  return HD_OK;
}

/* ---- Looking up ------------------------------------------------------------------------ */

/* The listed names that are `name` or end in "/name", as "a, b"; returns how many. */
static size_t matches(char *const *names, size_t n, const char *name, const char **first, hd_buf *list) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    const char *slash = strrchr(names[i], '/');
    if (strcmp(slash ? slash + 1 : names[i], name) != 0) continue;
    if (!found) *first = names[i];
    hd_buf_printf(list, "%s%s", found++ ? ", " : "", names[i]);
  }
  return found;
}

static hd_status look_up(const char *name, const char *dir, char *folder, size_t cap, hd_diag *d) {
  char path[WL_PATH];
  int n = snprintf(path, sizeof path, "%s/%s/%s", dir, name, FILE_NAME);
  if (name[0] != '/' && n < (int)sizeof path && is_file(path)) {
    snprintf(folder, cap, "%s/%s", dir, name);
    return HD_OK;
  }
  char **names;
  size_t count;
  hd_status st = hd_workload_list(dir, &names, &count, d);
  if (st != HD_OK) return st;
  hd_buf list = {0};
  const char *first = NULL;
  size_t found = matches(names, count, name, &first, &list);
  if (found == 1) {
    snprintf(folder, cap, "%s/%s", dir, first);
  } else if (found > 1) {
    st = hd_fail(d, HD_ERR_USAGE, "several workloads are named '%.200s': %s", name,
                 list.data ? list.data : "");
  } else {
    hd_suggest((const char *const *)names, count, HD_FEW_NAMES, name, &list);
    st = list.len ? hd_fail_unknown(d, "there is no workload '%.200s'; there is %s", name, list.data)
                  : hd_fail_unknown(d, "there is no workload '%.200s' among %zu", name, count);
  }
  hd_buf_free(&list);
  hd_workload_list_free(names, count);
  return st;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* A workload's name means the workload, though a file in the working folder is called so, too; words are for
 * the file. */
static bool is_shadowed(const hd_workload_request *q) {
  char path[2 * WL_PATH];
  if (q->n_words || q->save || !q->kernels_dir || strpbrk(q->name, "./")) return false;
  snprintf(path, sizeof path, "%s/%s/%s", q->kernels_dir, q->name, FILE_NAME);
  return is_file(path);
}

static hd_status open_folder(const hd_workload_request *q, hd_workload **out, hd_diag *d) {
  const char *path_or_name = q->name;
  char folder[WL_PATH], path[WL_PATH + sizeof FILE_NAME];
  *out = NULL;
  if (!*path_or_name || strlen(path_or_name) >= WL_PATH / 2)
    return hd_fail(d, HD_ERR_USAGE, "a workload is a file, a folder with %s, or a name", FILE_NAME);
  snprintf(path, sizeof path, "%s/%s", path_or_name, FILE_NAME);
  if (is_file(path_or_name) && !is_shadowed(q)) {
    snprintf(path, sizeof path, "%s", path_or_name);
    const char *slash = strrchr(path, '/');
    int n = !slash ? 0 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", n ? n : 1, n ? path : ".");
  } else if (is_file(path)) {
    snprintf(folder, sizeof folder, "%s", path_or_name);
  } else if (q->kernels_dir) {
    hd_status st = look_up(path_or_name, q->kernels_dir, folder, sizeof folder, d);
    if (st != HD_OK) return st;
    snprintf(path, sizeof path, "%s/%s", folder, FILE_NAME);
  } else {
    return hd_fail(d, HD_ERR_USAGE, "'%.200s' is neither a workload file nor a folder with %s", path_or_name,
                   FILE_NAME);
  }
  hd_file file;
  hd_status st = hd_file_open(path, &file, d);
  if (st != HD_OK) return st;
  const wl_input in = {.text = file.data,
                       .len = file.len,
                       .path = path,
                       .folder = folder,
                       .size = q->size,
                       .preferred = q->preferred,
                       .set = q->set,
                       .n_set = q->n_set,
                       .check_files = true};
  st = wl_read(&in, out, d);
  hd_file_close(&file);
  return st;
}

hd_status hd_workload_open_with(const char *path_or_name, const char *kernels_dir, const char *size,
                                const char *const *set, size_t n_set, hd_workload **out, hd_diag *d) {
  const hd_workload_request q = {
      .name = path_or_name, .kernels_dir = kernels_dir, .size = size, .set = set, .n_set = n_set};
  return open_folder(&q, out, d);
}

hd_status hd_workload_open(const char *path_or_name, const char *kernels_dir, const char *size,
                           hd_workload **out, hd_diag *d) {
  return hd_workload_open_with(path_or_name, kernels_dir, size, NULL, 0, out, d);
}

void hd_workload_close_all(hd_workload **workloads, char **names, size_t n) {
  for (size_t i = 0; workloads && i < n; i++) hd_workload_close(workloads[i]);
  free(workloads);
  hd_workload_list_free(names, n);
}

hd_status hd_workload_open_all(const char *kernels_dir, hd_workload ***out, char ***names, size_t *n,
                               hd_diag *d) {
  char path[2 * WL_PATH];
  hd_status st = hd_workload_list(kernels_dir, names, n, d);
  if (st != HD_OK) return st;
  *out = calloc(*n + 1, sizeof **out);
  if (!*out) st = hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < *n; i++) {
    snprintf(path, sizeof path, "%s/%s", kernels_dir, (*names)[i]);
    st = hd_workload_open(path, NULL, NULL, &(*out)[i], d);
  }
  if (st != HD_OK) hd_workload_close_all(*out, *names, *n);
  return st;
}

bool hd_workload_is_file(const char *path) {
  size_t n = strlen(path);
  return is_file(path) && !(n > 5 && strcmp(path + n - 5, ".toml") == 0);
}

hd_status hd_workload_request_open(const hd_workload_request *q, hd_workload **out, hd_diag *d) {
  *out = NULL;
  if (hd_workload_is_file(q->name) && !is_shadowed(q)) return wl_describe(q, out, d);
  hd_file f;
  /* A workload's name has no dot. */
  if ((q->n_words || q->save) && strchr(q->name, '.') && access(q->name, F_OK) != 0)
    return hd_file_open(q->name, &f, d);
  if (q->n_words || q->save)
    return hd_fail(d, HD_ERR_USAGE, "--%s is for the kernels of a file; '%.200s' is none",
                   q->n_words ? q->words[0].option : "save", q->name);
  return open_folder(q, out, d);
}

hd_status hd_workload_reopen(const hd_workload *w, const char *size, hd_workload **out, hd_diag *d) {
  const wl_private *p = w->priv;
  if (!p->kept.text) return hd_workload_open(w->folder, NULL, size, out, d);
  wl_input in = p->kept;
  in.size = size;
  return wl_read(&in, out, d);
}
