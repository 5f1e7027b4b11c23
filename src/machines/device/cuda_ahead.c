/* cuda:N: compiles PTX before it is loaded, on the host's other processors, while the device works.
 *
 * cuModuleLoadData compiles under a lock of the driver's. The driver's linker does not, but it makes other
 * code: it compiles text to be linked, where divisions and square roots become calls and registers are those
 * of an interface, so that a kernel of 39 registers takes 48, and a plan that gains 29% gains nothing. So the
 * assembler of a toolkit compiles, many processes at once, provided that it is of the driver's own release:
 * then it makes the code that the driver would. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cuda.h"
#include "heddle/process.h"

enum {
  MOST_JOBS = 256, /* that wait, or whose code was never loaded */
  MOST_THREADS = 64,
  NICENESS = 10, /* who times launches comes first */
  VERSION_SECONDS = 10,
  COMPILE_SECONDS = 120,
  PATH_BYTES = 4096,
};

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_DONE } job_state;

typedef struct job {
  hd_digest key; /* of the text and the options */
  job_state state;
  uint64_t number; /* names its folder */
  hd_device_source source;
  char *text;  /* source.ptx; NULL once it is compiled */
  void *image; /* NULL once it is done: it could not be compiled */
} job;

struct cuda_ahead {
  const char *ptxas;
  unsigned arch;
  char scratch[PATH_BYTES];
  pthread_mutex_t lock; /* of everything below */
  pthread_cond_t work, done;
  HD_VEC(job *) jobs; /* as they were asked for, without those that were taken */
  uint64_t asked;
  bool ending;
  unsigned n_threads;
  pthread_t threads[MOST_THREADS];
};

/* ---- Jobs ------------------------------------------------------------------------------------ */

static hd_digest key_of(const char *ptx, size_t len, const hd_device_load_options *o) {
  hd_digest h = hd_digest_begin();
  uint32_t options[2] = {o->max_registers, o->unoptimized};
  hd_digest_bytes(&h, ptx, len);
  hd_digest_bytes(&h, options, sizeof options);
  return h;
}

static bool same_key(const hd_digest *a, const hd_digest *b) {
  return a->high == b->high && a->low == b->low;
}

static void free_job(job *j) {
  free(j->text);
  free(j->image);
  free(j);
}

static job *find(const cuda_ahead *a, const hd_digest *key, size_t *at) {
  for (size_t i = 0; i < a->jobs.n; i++) {
    if (!same_key(&a->jobs.data[i]->key, key)) continue;
    *at = i;
    return a->jobs.data[i];
  }
  return NULL;
}

static job *take_out(cuda_ahead *a, size_t at) {
  job *j = a->jobs.data[at];
  a->jobs.n--;
  memmove(a->jobs.data + at, a->jobs.data + at + 1, (a->jobs.n - at) * sizeof(job *));
  return j;
}

/* Plans that were never loaded: all but the jobs under way. */
static void forget_idle(cuda_ahead *a) {
  size_t left = 0;
  for (size_t i = 0; i < a->jobs.n; i++) {
    if (a->jobs.data[i]->state == JOB_RUNS)
      a->jobs.data[left++] = a->jobs.data[i];
    else
      free_job(a->jobs.data[i]);
  }
  a->jobs.n = left;
}

void *cuda_take_image(cuda_device *c, const char *ptx, size_t len, const hd_device_load_options *o) {
  cuda_ahead *a = c->ahead;
  if (!a) return NULL;
  hd_digest key = key_of(ptx, len, o);
  void *image = NULL;
  size_t at;
  pthread_mutex_lock(&a->lock);
  job *j = find(a, &key, &at);
  if (j) {
    /* It is wanted now: before others that wait. */
    memmove(a->jobs.data + 1, a->jobs.data, at * sizeof(job *));
    a->jobs.data[0] = j;
    while (j->state != JOB_DONE) pthread_cond_wait(&a->done, &a->lock);
    find(a, &key, &at);
    take_out(a, at);
    image = j->image;
    j->image = NULL;
    free_job(j);
  }
  pthread_mutex_unlock(&a->lock);
  return image;
}

/* ---- The assembler ----------------------------------------------------------------------- */

/* Its release is the driver's, as in "Cuda compilation tools, release 13.0, V13.0.88". */
static bool is_of_release(const char *program, unsigned version) {
  const char *argv[] = {program, "--version", NULL}, *release;
  char scratch[PATH_BYTES];
  hd_buf output = {0};
  unsigned major = 0, minor = 0;
  int code = 1;
  if (hd_scratch_make(scratch, sizeof scratch, NULL) != HD_OK) return false;
  bool ran = hd_program_run(argv, scratch, VERSION_SECONDS, &output, &code, NULL) == HD_OK && code == 0;
  if (ran && output.data && (release = strstr(output.data, "release ")) != NULL)
    sscanf(release, "release %u.%u", &major, &minor);
  hd_buf_free(&output);
  hd_scratch_remove(scratch);
  return version / 1000 == major && version % 1000 / 10 == minor;
}

/* NULL: there is none. Looked for at first need. */
static const char *assembler(cuda_device *c) {
  static const char *const names[] = {"ptxas", NULL};
  static const char installed[] = "/usr/local/cuda/bin/ptxas";
  char found[PATH_BYTES];
  if (!c->ptxas_known) {
    const char *program = c->ptxas ? c->ptxas : getenv("HEDDLE_PTXAS");
    if (!program) program = hd_program_find(names, found, sizeof found) ? found : installed;
    char *own = program[0] && is_of_release(program, c->base.info.driver_version) ? strdup(program) : NULL;
    free(c->ptxas);
    c->ptxas = own;
    c->ptxas_known = true;
  }
  return c->ptxas;
}

/* The architecture that the driver compiles for: the GPU's, with the letter of a text that is for it alone.
 */
static void arch_of(unsigned gpu, const char *text, char *out, size_t cap) {
  const char *target = strstr(text, ".target sm_");
  char letter = 0;
  unsigned arch = 0;
  if (target) sscanf(target, ".target sm_%u%c", &arch, &letter);
  bool own = arch == gpu && (letter == 'a' || letter == 'f');
  snprintf(out, cap, own ? "-arch=sm_%u%c" : "-arch=sm_%u", gpu, letter);
}

/* A scratch file: it is of no use after a crash, so it need not reach the disk. */
static bool write_text(const char *path, const char *text, size_t len) {
  FILE *f = len <= hd_file_limit() ? fopen(path, "w") : NULL;
  if (!f) return false;
  bool ok = fwrite(text, 1, len, f) == len;
  return fclose(f) == 0 && ok;
}

static void *read_image(const char *path) {
  hd_file f;
  if (hd_file_open(path, &f, NULL) != HD_OK) return NULL;
  void *image = f.len ? malloc(f.len) : NULL;
  if (image) memcpy(image, f.data, f.len);
  hd_file_close(&f);
  return image;
}

/* NULL: it cannot be compiled. */
static void *assemble(const cuda_ahead *a, const job *j) {
  char folder[PATH_BYTES], text[PATH_BYTES], image[PATH_BYTES], arch[32], registers[32];
  const char *argv[10] = {a->ptxas, arch, text, "-o", image};
  size_t n = 5;
  void *made = NULL;
  int code = 1;
  hd_buf output = {0};
  int f = snprintf(folder, sizeof folder, "%s/%" PRIu64, a->scratch, j->number);
  int t = snprintf(text, sizeof text, "%s/%" PRIu64 "/kernel.ptx", a->scratch, j->number);
  int i = snprintf(image, sizeof image, "%s/%" PRIu64 "/kernel.cubin", a->scratch, j->number);
  if (f < 0 || t < 0 || i < 0 || (size_t)i >= sizeof image) return NULL;
  if (j->source.options.max_registers) {
    snprintf(registers, sizeof registers, "-maxrregcount=%u", j->source.options.max_registers);
    argv[n++] = registers;
  }
  if (j->source.options.unoptimized) argv[n++] = "-O0";
  arch_of(a->arch, j->text, arch, sizeof arch);
  if (mkdir(folder, 0700) == 0 && write_text(text, j->text, j->source.len) &&
      hd_program_run(argv, folder, COMPILE_SECONDS, &output, &code, NULL) == HD_OK && code == 0)
    made = read_image(image);
  hd_buf_free(&output);
  hd_scratch_remove(folder);
  return made;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static job *next_job(const cuda_ahead *a) {
  for (size_t i = 0; i < a->jobs.n; i++)
    if (a->jobs.data[i]->state == JOB_WAITS) return a->jobs.data[i];
  return NULL;
}

static void *compile_jobs(void *ctx) {
  cuda_ahead *a = ctx;
  (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS); /* of this thread and what it starts */
  pthread_mutex_lock(&a->lock);
  while (!a->ending) {
    job *j = next_job(a);
    if (!j) {
      pthread_cond_wait(&a->work, &a->lock);
      continue;
    }
    j->state = JOB_RUNS;
    pthread_mutex_unlock(&a->lock);
    void *image = assemble(a, j);
    pthread_mutex_lock(&a->lock);
    j->image = image;
    free(j->text);
    j->text = NULL;
    j->state = JOB_DONE;
    pthread_cond_broadcast(&a->done);
  }
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

void cuda_ahead_close(cuda_device *c) {
  cuda_ahead *a = c->ahead;
  if (!a) return;
  pthread_mutex_lock(&a->lock);
  a->ending = true;
  pthread_cond_broadcast(&a->work);
  pthread_mutex_unlock(&a->lock);
  for (unsigned i = 0; i < a->n_threads; i++) pthread_join(a->threads[i], NULL);
  forget_idle(a);
  hd_vec_free(&a->jobs);
  hd_scratch_remove(a->scratch);
  pthread_cond_destroy(&a->work);
  pthread_cond_destroy(&a->done);
  pthread_mutex_destroy(&a->lock);
  free(a);
  c->ahead = NULL;
}

/* With one thread at least; without any it is not worth having. */
static hd_status open_ahead(cuda_device *c, hd_diag *d) {
  cuda_ahead *a = calloc(1, sizeof *a);
  if (!a) return hd_nomem(d);
  a->ptxas = c->ptxas;
  a->arch = c->base.info.arch;
  hd_status st = hd_scratch_make(a->scratch, sizeof a->scratch, d);
  if (st != HD_OK) {
    free(a);
    return st;
  }
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->work, NULL);
  pthread_cond_init(&a->done, NULL);
  c->ahead = a;
  /* One processor stays with the thread that drives the device. */
  unsigned threads = hd_cpu_count() > 1 ? hd_cpu_count() - 1 : 1;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  while (a->n_threads < threads && pthread_create(&a->threads[a->n_threads], NULL, compile_jobs, a) == 0)
    a->n_threads++;
  if (!a->n_threads) cuda_ahead_close(c);
  return HD_OK;
}

/* With the lock held. */
static hd_status ask(cuda_ahead *a, const hd_device_source *s, hd_diag *d) {
  hd_digest key = key_of(s->ptx, s->len, &s->options);
  size_t at;
  if (find(a, &key, &at)) return HD_OK;
  job *j = calloc(1, sizeof *j);
  if (!j) return hd_nomem(d);
  *j = (job){.key = key, .number = a->asked++, .source = *s, .text = strndup(s->ptx, s->len)};
  if (j->text && hd_vec_push(&a->jobs, j)) return HD_OK;
  free_job(j);
  return hd_nomem(d);
}

hd_status cuda_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  if (c->lost || !assembler(c)) return HD_OK;
  hd_status st = c->ahead ? HD_OK : open_ahead(c, d);
  cuda_ahead *a = c->ahead;
  if (st != HD_OK || !a) return st;
  pthread_mutex_lock(&a->lock);
  if (a->jobs.n + n > MOST_JOBS) forget_idle(a);
  for (size_t i = 0; st == HD_OK && i < n && a->jobs.n < MOST_JOBS; i++) st = ask(a, &sources[i], d);
  pthread_cond_broadcast(&a->work);
  pthread_mutex_unlock(&a->lock);
  return st;
}
