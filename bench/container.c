/* How fast PTX comes out of files: bench_container FILE... [-n RUNS]
 *
 * Each run reads a whole file in a process of its own, so that its peak
 * resident memory (file pages included) is its own, and counts processor time,
 * which is that of one core. The median run is printed; the first ones also
 * warm the page cache. */
#include "heddle/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct reading {
  size_t modules, errors, bytes, largest;
  double seconds;
  long peak_kb;
} reading;

static double cpu_seconds(void) {
  struct timespec ts;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static reading read_through(const char *path) {
  reading r = {0};
  hd_diag d;
  char line[2048];
  hd_container *c;
  double start = cpu_seconds();
  if (hd_container_open(path, &c, &d) != HD_OK) {
    fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
    r.errors = 1;
    return r;
  }
  for (bool more = true; more;) {
    hd_ptx_text t;
    if (hd_container_next(c, &t, &more, &d) != HD_OK) {
      fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
      r.errors++;
      more = true;
    } else if (more) {
      r.modules++;
      r.bytes += t.len;
      if (t.len > r.largest) r.largest = t.len;
    }
  }
  hd_container_close(c);
  r.seconds = cpu_seconds() - start;
  return r;
}

/* The same in a child process, whose peak memory the system counts. */
static bool read_apart(const char *path, reading *r) {
  int pipes[2];
  if (pipe(pipes) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    *r = read_through(path);
    _exit(write(pipes[1], r, sizeof *r) == (ssize_t)sizeof *r ? 0 : 1);
  }
  close(pipes[1]);
  bool good = child > 0 && read(pipes[0], r, sizeof *r) == (ssize_t)sizeof *r;
  close(pipes[0]);
  struct rusage usage;
  int status;
  if (child > 0 && wait4(child, &status, 0, &usage) == child) r->peak_kb = usage.ru_maxrss;
  return good;
}

static int by_seconds(const void *pa, const void *pb) {
  const reading *a = pa, *b = pb;
  return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static void print_row(const char *name, const reading *r) {
  printf("%-44s %8zu %6zu %10.1f %10.1f %8.3f %8.0f %9.1f\n", name, r->modules, r->errors,
         1e-6 * (double)r->bytes, 1e-6 * (double)r->largest, r->seconds,
         r->seconds > 0 ? 1e-6 * (double)r->bytes / r->seconds : 0, 1.024e-3 * (double)r->peak_kb);
}

int main(int argc, char **argv) {
  enum { MAX_RUNS = 99 };
  int runs = 5, opt;
  while ((opt = getopt(argc, argv, "n:")) != -1)
    if (opt != 'n' || (runs = atoi(optarg)) < 1 || runs > MAX_RUNS) optind = argc;
  if (optind >= argc) {
    fprintf(stderr, "usage: %s [-n RUNS] FILE...\n", argv[0]);
    return 2;
  }
  printf("median of %d runs; processor time of one core; peak resident memory\n", runs);
  printf("%-44s %8s %6s %10s %10s %8s %8s %9s\n", "file", "modules", "errors", "text MB", "largest MB", "s",
         "MB/s", "peak MB");
  reading total = {0};
  for (int i = optind; i < argc; i++) {
    reading r[MAX_RUNS];
    for (int k = 0; k < runs; k++)
      if (!read_apart(argv[i], &r[k])) return 1;
    qsort(r, (size_t)runs, sizeof *r, by_seconds);
    const reading *median = &r[runs / 2];
    const char *slash = strrchr(argv[i], '/');
    print_row(slash ? slash + 1 : argv[i], median);
    total.modules += median->modules;
    total.errors += median->errors;
    total.bytes += median->bytes;
    total.seconds += median->seconds;
    if (median->largest > total.largest) total.largest = median->largest;
    if (median->peak_kb > total.peak_kb) total.peak_kb = median->peak_kb;
  }
  print_row("total (largest and peak: maximum)", &total);
  return 0;
}
