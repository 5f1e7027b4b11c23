#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "heddle/container.h"
#include "heddle/verdict.h"

/* ---- Commands and memory -------------------------------------------------------------- */

const cli_command *cli_commands;

const cli_command *cli_find(const char *name) {
  for (const cli_command *c = cli_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) return c;
  return NULL;
}

static hd_arena memory;

hd_arena *cli_memory(void) { return &memory; }

/* ---- Failing ------------------------------------------------------------------------ */

int cli_fail(const hd_diag *d) {
  char line[2048];
  cli_progress_end();
  const bool over = d->status == HD_ERR_BUDGET || d->status == HD_ERR_MISSING;
  fprintf(stderr, "heddle: %s%s\n", over ? "no answer: " : "", hd_diag_line(d, line, sizeof line));
  if (over) return EXIT_UNANSWERED;
  return d->status == HD_ERR_REFUSED || d->status == HD_ERR_FAULT ? EXIT_NO : EXIT_USAGE;
}

int cli_usage(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fputs("heddle: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  return EXIT_USAGE;
}

/* ---- Output -------------------------------------------------------------------------- */

int cli_print(hd_buf *b) {
  int rc = EXIT_OK;
  if (b->failed) {
    rc = cli_usage("out of memory");
  } else if (fwrite(b->data ? b->data : "", 1, b->len, stdout) != b->len || fflush(stdout) != 0) {
    rc = cli_usage("cannot write to stdout: %s", strerror(errno));
  }
  hd_buf_free(b);
  return rc;
}

bool cli_colour(void) {
  const char *no = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no && no[0]);
}

void cli_progress(void *label, size_t done, size_t n) { cli_stage(NULL, label, done, n); }

void cli_stage(void *ctx, const char *stage, size_t done, size_t n) {
  static hd_progress at;
  char label[sizeof at.label];
  hd_buf line = {0};
  if (!isatty(STDERR_FILENO)) return;
  snprintf(label, sizeof label, "%s%s%s", ctx ? (char *)ctx : "", ctx ? ": " : "", stage);
  hd_progress_line(&at, label, done, n, hd_seconds(), &line);
  fprintf(stderr, "\r\033[K%s", line.data && done < n ? line.data : "");
  fflush(stderr);
  hd_buf_free(&line);
}

const hd_watch cli_watch = {cli_stage, NULL};

void cli_progress_end(void) { cli_progress("", 1, 1); }

static volatile sig_atomic_t interrupted, on_terminal; /* where a bar may stand in the line */

static void on_interrupt(int number) {
  static const char line[] = "\nheddle: stopping when what is under way is done; Ctrl-C again: at once\n";
  const int e = errno; /* NOLINT(bugprone-signal-handler): it is the thread's own */
  interrupted = 1;
  (void)!write(STDERR_FILENO, line + !on_terminal, sizeof line - 1 - !on_terminal);
  errno = e; /* NOLINT(bugprone-signal-handler) */
  /* Until somebody has seen it. */
  signal(number, SIG_DFL);
}

void cli_catch_interrupts(void) {
  on_terminal = isatty(STDERR_FILENO);
  signal(SIGINT, on_interrupt);
}

bool cli_interrupted(void *ctx) {
  if (!interrupted) return false;
  interrupted = 0;
  cli_catch_interrupts();
  return true;
}

bool cli_stopped(void *ctx) {
  static atomic_bool stopped;
  if (cli_interrupted(ctx)) stopped = true;
  return stopped;
}

/* ---- Folders ---------------------------------------------------------------------------- */

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Where heddle's data is: asked by many threads, found by one. */
static char data_dir[4096], kernels_dir[4200], gpus_dir[4200];

static void find_data(void) {
  const char *env = getenv("HEDDLE_DATA");
  char exe[2048], candidate[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  exe[n > 0 ? n : 0] = 0;
  char *slash = strrchr(exe, '/');
  if (slash) *slash = 0;
  snprintf(candidate, sizeof candidate, "%s/../share/heddle/kernels", exe);
  if (env && env[0])
    snprintf(data_dir, sizeof data_dir, "%s", env);
  else if (n > 0 && is_folder(candidate))
    snprintf(data_dir, sizeof data_dir, "%s/../share/heddle", exe);
  else
    snprintf(data_dir, sizeof data_dir, "%s",
             is_folder(HEDDLE_SOURCEDIR "/kernels") ? HEDDLE_SOURCEDIR : HEDDLE_DATADIR);
  snprintf(kernels_dir, sizeof kernels_dir, "%s/kernels", data_dir);
  snprintf(gpus_dir, sizeof gpus_dir, "%s/gpus", data_dir);
}

static void find_data_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_data);
}

const char *cli_kernels_dir(void) {
  find_data_once();
  return kernels_dir;
}

const char *cli_gpus_dir(void) {
  find_data_once();
  return gpus_dir;
}

const char *cli_kernel_file(const char *word) {
  hd_workload *w;
  if (!is_folder(word) || hd_workload_open(word, NULL, NULL, &w, NULL) != HD_OK) return word;
  const char *file = hd_arena_printf(&memory, "%s", w->source);
  hd_workload_close(w);
  return file ? file : word;
}

/* ---- Opening --------------------------------------------------------------------------------- */

hd_workload_request cli_request(const char *name, const cli_input *in, const char *preferred) {
  return (hd_workload_request){.name = name,
                               .kernels_dir = cli_kernels_dir(),
                               .size = in->size,
                               .preferred = preferred,
                               .set = in->params.items,
                               .n_set = in->params.n,
                               .words = in->words,
                               .n_words = in->n_words,
                               .save = in->save};
}

hd_status cli_open_workload(const char *name, const cli_input *in, const char *preferred, hd_workload **out,
                            hd_diag *d) {
  const hd_workload_request q = cli_request(name, in, preferred);
  const hd_status st = hd_workload_request_open(&q, out, d);
  if (st == HD_OK && !in->n_words && hd_workload_is_file(name))
    fprintf(stderr, "heddle: %s is heddle's own workload; the file of that name is ./%s\n", name, name);
  return st;
}

hd_status cli_open_device(const char *name, unsigned threads, hd_device **out, hd_diag *d) {
  hd_device_options o = {.emu = {.threads = threads}, .gpu_dir = cli_gpus_dir()};
  char own[16];
  snprintf(own, sizeof own, "cuda:%u", cli_how.local);
  /* A worker that was given one GPU sees no other. */
  if (cli_how.local && strcmp(name, "cuda") == 0 && hd_device_open(own, &o, out, d) == HD_OK) return HD_OK;
  return hd_device_open(name, &o, out, d);
}

bool cli_advisor(const hd_device *dev, hd_gpu *out) {
  const hd_gpu *own = hd_device_get_gpu(dev);
  hd_diag d = {0};
  char line[512];
  if (own) *out = *own;
  if (own || hd_tune_advisor(hd_device_get_info(dev), cli_gpus_dir(), out, &d) == HD_OK) return true;
  fprintf(stderr, "no advice: %s\n", hd_diag_line(&d, line, sizeof line));
  return false;
}
