/* Throughput of the PTX parser and printer over given files, or the files of a
 * directory: megabytes of text per second of one core's time. */
#include "heddle/ptx.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef HD_VEC(char *) paths;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void add_path(paths *out, const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return;
  if (!S_ISDIR(st.st_mode)) {
    if (!hd_vec_push(out, strdup(path))) abort();
    return;
  }
  DIR *dir = opendir(path);
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    hd_buf child = {0};
    hd_buf_printf(&child, "%s/%s", path, e->d_name);
    add_path(out, child.data);
    hd_buf_free(&child);
  }
  closedir(dir);
}

/* Processor time of this thread, which other programs on the machine do not stretch. */
static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct totals {
  size_t files, bytes, stmts, failed;
  double parse, print; /* seconds */
} totals;

static void measure(const char *path, totals *t) {
  hd_diag d;
  hd_file f;
  char line[1024];
  if (hd_file_open(path, &f, &d) != HD_OK) {
    fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
    return;
  }
  /* Have the file in memory before the clock starts. */
  volatile unsigned sum = 0;
  for (size_t i = 0; i < f.len; i += 4096) sum += (unsigned char)f.data[i];
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  double start = cpu_seconds();
  hd_status st = hd_ptx_parse(f.data, f.len, path, &arena, &m, &d);
  double parsed = cpu_seconds();
  t->files++;
  t->bytes += f.len;
  t->parse += parsed - start;
  if (st == HD_OK) {
    hd_buf out = {0};
    hd_ptx_print(m, &out);
    t->print += cpu_seconds() - parsed;
    hd_buf_free(&out);
    for (uint32_t i = 0; i < m->n_funcs; i++) t->stmts += m->funcs[i].n_stmts;
  } else {
    t->failed++;
    fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
  }
  hd_arena_free(&arena);
  hd_file_close(&f);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  enum { ROUNDS = 5 };
  paths files = {0};
  for (int i = 1; i < argc; i++) add_path(&files, argv[i]);
  if (!files.n) {
    fprintf(stderr, "usage: bench_ptx FILE-OR-DIRECTORY...\n");
    return 2;
  }
  qsort(files.data, files.n, sizeof *files.data, by_name);
  double parse[ROUNDS], print[ROUNDS];
  totals t = {0};
  for (int r = 0; r < ROUNDS; r++) {
    t = (totals){0};
    for (size_t i = 0; i < files.n; i++) measure(files.data[i], &t);
    parse[r] = (double)t.bytes / t.parse / 1e6;
    print[r] = (double)t.bytes / t.print / 1e6;
  }
  qsort(parse, ROUNDS, sizeof *parse, by_value);
  qsort(print, ROUNDS, sizeof *print, by_value);
  printf("%zu files, %.1f MB of PTX, %zu statements, %zu failed\n", t.files, (double)t.bytes / 1e6, t.stmts,
         t.failed);
  printf("parse: %.0f MB/s of source text per core (processor time, median of %d rounds)\n",
         parse[ROUNDS / 2], ROUNDS);
  printf("print: %.0f MB/s of source text per core (processor time, median of %d rounds)\n",
         print[ROUNDS / 2], ROUNDS);
  for (size_t i = 0; i < files.n; i++) free(files.data[i]);
  hd_vec_free(&files);
  return 0;
}
