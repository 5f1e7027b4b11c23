/* The traffic model's counters against a device's, over many workloads. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "heddle/results.h"

typedef struct accuracy {
  char **names;
  hd_accuracy_row *rows;
  size_t n;
  const char *size;
  double seconds; /* that one workload's trace and replay may take */
  hd_gpu gpu;
} accuracy;

/* ---- Models ------------------------------------------------------------------------ */

/* Nothing stops an emulator that is at work but the end of its process, so every workload is modelled in a
 * process of its own, as many at once as there are processors. They leave the device alone, which would not
 * survive a fork. */
typedef struct worker {
  pid_t pid;
  int fd; /* its row comes out of here */
  size_t row;
  double deadline;
  size_t got; /* bytes of the row so far */
} worker;

static void fail_row(hd_accuracy_row *row, hd_status st, const char *why) {
  row->status = st;
  snprintf(row->why, sizeof row->why, "%.255s", why);
}

static void model_one(const accuracy *a, hd_accuracy_row *row, const char *name) {
  hd_diag d = {0};
  hd_run_options run = {.threads = 1};
  hd_workload *w = NULL;
  hd_status st = hd_workload_open(name, cli_kernels_dir(), a->size, &w, &d);
  if (st == HD_OK) st = hd_accuracy_model(w, &a->gpu, &run, &row->model, &d);
  if (st != HD_OK) fail_row(row, st, d.message);
  hd_workload_close(w);
}

static void write_all(int fd, const void *bytes, size_t n) {
  for (size_t at = 0; at < n;) {
    ssize_t k = write(fd, (const char *)bytes + at, n - at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return; /* the reader sees a row that ends too early */
    at += (size_t)k;
  }
}

static bool begin_worker(const accuracy *a, size_t i, worker *out) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    hd_accuracy_row row = {0};
    model_one(a, &row, a->names[i]);
    write_all(ends[1], &row, sizeof row);
    _exit(0);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return false;
  }
  *out = (worker){.pid = pid, .fd = ends[0], .row = i, .deadline = hd_seconds() + a->seconds};
  return true;
}

/* What the worker has written since; true when it is done, or out of time. */
static bool follow_worker(accuracy *a, worker *w) {
  hd_accuracy_row *row = &a->rows[w->row];
  struct pollfd p = {.fd = w->fd, .events = POLLIN};
  if (poll(&p, 1, 0) > 0) {
    ssize_t k = read(w->fd, (char *)row + w->got, sizeof *row - w->got);
    if (k < 0 && errno == EINTR) return false;
    if (k > 0) w->got += (size_t)k;
    if (w->got == sizeof *row) return true;
    if (k > 0) return false;
    *row = (hd_accuracy_row){0};
    fail_row(row, HD_ERR_FAULT, "the process that modelled it died");
    return true;
  }
  if (hd_seconds() < w->deadline) return false;
  char why[96];
  snprintf(why, sizeof why, "not modelled within %.0f s", a->seconds);
  *row = (hd_accuracy_row){0};
  fail_row(row, HD_ERR_UNSUPPORTED, why);
  return true;
}

static void end_worker(worker *w) {
  kill(w->pid, SIGKILL);
  close(w->fd);
  while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) {
  }
}

static hd_status model_all(accuracy *a, size_t at_once, hd_diag *d) {
  enum { POLL_MS = 5 };
  worker *workers = calloc(at_once, sizeof *workers);
  if (!workers) return hd_nomem(d);
  size_t begun = 0, done = 0, n = 0;
  fflush(NULL);
  while (done < a->n) {
    while (n < at_once && begun < a->n) {
      if (begin_worker(a, begun, &workers[n])) {
        n++;
      } else {
        fail_row(&a->rows[begun], HD_ERR_NOMEM, strerror(errno));
        done++;
      }
      begun++;
    }
    poll(NULL, 0, POLL_MS);
    for (size_t i = 0; i < n;) {
      if (!follow_worker(a, &workers[i])) {
        i++;
        continue;
      }
      end_worker(&workers[i]);
      workers[i] = workers[--n];
      cli_progress((void *)"modelling workloads", ++done, a->n);
    }
  }
  free(workers);
  return HD_OK;
}

/* ---- Device ------------------------------------------------------------------------------ */

static bool ends_everything(hd_device *dev) { return hd_device_sync(dev, NULL) != HD_OK; }

static hd_status count_all(accuracy *a, hd_device *dev, hd_diag *d) {
  for (size_t i = 0; i < a->n; i++) {
    hd_accuracy_row *row = &a->rows[i];
    hd_diag e = {0};
    hd_workload *w = NULL;
    if (row->status != HD_OK) continue;
    hd_status st = hd_workload_open(a->names[i], cli_kernels_dir(), a->size, &w, &e);
    if (st == HD_OK) st = hd_accuracy_device(dev, w, NULL, &row->device, &e);
    hd_workload_close(w);
    if (st != HD_OK) fail_row(row, st, e.message);
    if (st != HD_OK && ends_everything(dev)) {
      if (d) *d = e;
      return st;
    }
    cli_progress((void *)"counting workloads", i + 1, a->n);
  }
  return HD_OK;
}

static int print(const accuracy *a, hd_device *dev, const hd_accuracy_summary *summaries, bool json) {
  hd_buf out = {0};
  const hd_accuracy_report r = {.names = (const char *const *)a->names,
                                .rows = a->rows,
                                .n = a->n,
                                .size = a->size,
                                .gpu = &a->gpu,
                                .device = hd_device_get_info(dev),
                                .summaries = summaries};
  (json ? hd_accuracy_json : hd_accuracy_text)(&r, &out);
  return cli_print(&out);
}

/* ---- The command ------------------------------------------------------------------------------- */

static hd_status compare(accuracy *a, const char *device, uint64_t at_once, hd_device **dev,
                         hd_accuracy_summary *s, hd_diag *d) {
  a->rows = calloc(a->n + 1, sizeof *a->rows);
  if (!a->rows) return hd_nomem(d);
  hd_status st = cli_open_device(device, 0, dev, d);
  if (st == HD_OK) st = model_all(a, at_once ? at_once : hd_cpu_count(), d);
  if (st == HD_OK) st = count_all(a, *dev, d);
  for (int m = 0; st == HD_OK && m < HD_ACCURACY_COUNT; m++)
    st = hd_accuracy_summarize(a->rows, a->n, (hd_accuracy_metric)m, &s[m], d);
  return st;
}

int cmd_accuracy(int argc, char **argv) {
  const char *gpu = "h100", *device = "cuda:0";
  uint64_t seconds = 60, threads = 0;
  bool json = false;
  accuracy a = {.size = "small"};
  const cli_option options[] = {
      {"gpu", 0, CLI_TEXT, &gpu, 0, "NAME", "the GPU to model (default: h100)"},
      {"device", 0, CLI_TEXT, &device, 0, "D", "the device that counts: cuda:N (default: cuda:0)"},
      {"size", 0, CLI_TEXT, &a.size, 0, "NAME", "the workloads' size (default: small)"},
      {"seconds", 0, CLI_NUMBER, &seconds, 86400, "N", "that modelling one workload may take (default: 60)"},
      {"threads", 0, CLI_NUMBER, &threads, 1024, "N",
       "workloads modelled at once (default: one per processor)"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("accuracy"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!seconds) return cli_usage("accuracy: --seconds is at least 1");
  hd_diag d = {0};
  char **all = NULL;
  hd_device *dev = NULL;
  hd_accuracy_summary summaries[HD_ACCURACY_COUNT];
  a.seconds = (double)seconds;
  a.names = argv + 1;
  a.n = (size_t)n;
  hd_status st = hd_gpu_load(gpu, cli_gpus_dir(), &a.gpu, &d);
  if (st == HD_OK && !n) {
    st = hd_workload_list(cli_kernels_dir(), &all, &a.n, &d);
    a.names = all;
  }
  if (st == HD_OK) st = compare(&a, device, threads, &dev, summaries, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = print(&a, dev, summaries, json);
  hd_device_close(dev);
  free(a.rows);
  if (all) hd_workload_list_free(all, a.n);
  return rc;
}
