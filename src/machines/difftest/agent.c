/* agent.c: jobs for a device, here or in a child process. */
#include "difftest/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heddle/process.h"

/* ---- A job -------------------------------------------------------------------------------- */

static hd_status room(hd_device *device, uint64_t want, uint64_t *memory, uint64_t *bytes, hd_diag *d) {
  if (want <= *bytes) return HD_OK;
  if (*memory) hd_device_free(device, *memory, NULL);
  *memory = *bytes = 0;
  hd_status st = hd_device_alloc(device, 2 * want, memory, d);
  if (st == HD_OK) *bytes = 2 * want;
  return st;
}

static hd_status launch_all(hd_device *device, hd_device_module *m, const dt_job *job, uint64_t memory,
                            hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t k = 0; k < job->n && st == HD_OK; k++) {
    char name[24];
    snprintf(name, sizeof name, "p%u", k);
    const uint64_t base = memory + job->offsets[k];
    const hd_device_launch l = {.kernel = name,
                                .grid = {1, 1, 1},
                                .block = {job->threads[k], 1, 1},
                                .args = &base,
                                .args_bytes = sizeof base};
    st = hd_device_run(m, &l, d);
  }
  return st == HD_OK ? hd_device_sync(device, d) : st;
}

hd_status dt_job_run(hd_device *device, const dt_job *job, void *data, uint64_t *memory, uint64_t *bytes,
                     double seconds[2], hd_diag *d) {
  const uint64_t size = job->offsets[job->n];
  hd_device_module *m = NULL;
  double start = hd_seconds();
  const hd_device_load_options options = {.unoptimized = job->unoptimized};
  hd_status st = hd_device_load(device, job->ptx, job->len, "difftest.ptx", &options, &m, d);
  seconds[0] = hd_seconds() - start;
  start = hd_seconds();
  if (st == HD_OK) st = room(device, size, memory, bytes, d);
  if (st == HD_OK) st = hd_device_write(device, *memory, data, size, d);
  if (st == HD_OK) st = launch_all(device, m, job, *memory, d);
  if (st == HD_OK) st = hd_device_read(device, *memory, data, size, d);
  hd_device_unload(m);
  seconds[1] = hd_seconds() - start;
  return st;
}

/* ---- Messages ------------------------------------------------------------------------------- */

struct dt_agent {
  const char *name;
  hd_device_options options;
  hd_keeper keeper;
  int stream;          /* to the child; -1: none */
  hd_device_info info; /* while there is a child */
  int file;            /* shared memory: offsets, threads, text and data of a job */
};

typedef struct request {
  uint64_t len, size;
  uint32_t n;
  bool unoptimized;
} request;
typedef struct answer {
  hd_status status;
  hd_diag diag;
  hd_device_info info;
  double seconds[2];
} answer;

/* The file's layout: offsets, then threads, then data, then text. */
typedef struct layout {
  uint64_t threads, data, text, all;
} layout;
static layout layout_of(const request *r) {
  const uint64_t threads = (r->n + 1ull) * sizeof(uint64_t),
                 data = (threads + r->n * sizeof(uint32_t) + 63) / 64 * 64;
  return (layout){threads, data, data + r->size, data + r->size + r->len};
}

/* ---- The child -------------------------------------------------------------------------------- */

static void serve(void *ctx, int fd) {
  dt_agent *a = ctx;
  answer out = {0};
  hd_device *device = NULL;
  uint64_t memory = 0, bytes = 0;
  request r;
  out.status = hd_device_open(a->name, &a->options, &device, &out.diag);
  if (out.status == HD_OK) out.info = *hd_device_get_info(device);
  while (hd_process_send(fd, &out, sizeof out) && hd_process_receive(fd, &r, sizeof r)) {
    const layout l = layout_of(&r);
    char *map = mmap(NULL, l.all, PROT_READ | PROT_WRITE, MAP_SHARED, a->file, 0);
    if (map == MAP_FAILED) break;
    const dt_job job = {.ptx = map + l.text,
                        .len = r.len,
                        .n = r.n,
                        .unoptimized = r.unoptimized,
                        .offsets = (const uint64_t *)map,
                        .threads = (const uint32_t *)(map + l.threads)};
    out.status = dt_job_run(device, &job, map + l.data, &memory, &bytes, out.seconds, &out.diag);
    munmap(map, l.all);
  }
}

/* ---- The parent --------------------------------------------------------------------------------- */

static void end(dt_agent *a) {
  if (a->stream >= 0) close(a->stream);
  a->stream = -1;
}

static hd_status start(dt_agent *a, hd_diag *d) {
  answer first;
  hd_status st = hd_keeper_renew(&a->keeper, &a->stream, d);
  if (st != HD_OK) return st;
  if (!hd_process_receive(a->stream, &first, sizeof first))
    hd_fail(&first.diag, first.status = HD_ERR_IO, "the process of %s ended", a->name);
  if (first.status == HD_OK) {
    a->info = first.info;
    return HD_OK;
  }
  end(a);
  if (d) *d = first.diag;
  return first.status;
}

hd_status dt_agent_open(const char *name, const hd_device_options *o, dt_agent **out, hd_diag *d) {
  dt_agent *a = calloc(1, sizeof *a);
  if (!a) return hd_nomem(d);
  *a = (dt_agent){.name = name,
                  .options = *o,
                  .keeper = HD_KEEPER_NONE,
                  .stream = -1,
                  .file = memfd_create("heddle-difftest", MFD_CLOEXEC)};
  hd_status st = a->file < 0 ? hd_fail(d, HD_ERR_IO, "no shared memory: %s", strerror(errno))
                             : hd_keeper_open(serve, a, &a->keeper, d);
  if (st == HD_OK)
    *out = a;
  else
    dt_agent_close(a);
  return st;
}

void dt_agent_close(dt_agent *a) {
  if (!a) return;
  end(a);
  hd_keeper_close(&a->keeper);
  if (a->file >= 0) close(a->file);
  free(a);
}

hd_status dt_agent_info(dt_agent *a, hd_device_info *out, hd_diag *d) {
  hd_status st = a->stream >= 0 ? HD_OK : start(a, d);
  if (st == HD_OK) *out = a->info;
  return st;
}

static hd_status exchange(dt_agent *a, const dt_job *job, void *data, answer *got, hd_diag *d) {
  request r = {.len = job->len, .size = job->offsets[job->n], .n = job->n, .unoptimized = job->unoptimized};
  const layout l = layout_of(&r);
  if (ftruncate(a->file, (off_t)l.all) != 0)
    return hd_fail(d, HD_ERR_NOMEM, "no shared memory: %s", strerror(errno));
  char *map = mmap(NULL, l.all, PROT_READ | PROT_WRITE, MAP_SHARED, a->file, 0);
  if (map == MAP_FAILED) return hd_nomem(d);
  memcpy(map, job->offsets, l.threads);
  memcpy(map + l.threads, job->threads, job->n * sizeof *job->threads);
  memcpy(map + l.data, data, r.size);
  memcpy(map + l.text, job->ptx, r.len);
  hd_status st = HD_OK;
  if (!hd_process_send(a->stream, &r, sizeof r) || !hd_process_receive(a->stream, got, sizeof *got))
    st = hd_fail(d, HD_ERR_FAULT, "the process of %s ended", a->name);
  else if (got->status != HD_OK && d)
    *d = got->diag;
  if (st == HD_OK) st = got->status;
  if (st == HD_OK) memcpy(data, map + l.data, r.size);
  munmap(map, l.all);
  return st;
}

hd_status dt_agent_run(dt_agent *a, const dt_job *job, void *data, double seconds[2], hd_diag *d) {
  answer got = {0};
  hd_status st = a->stream >= 0 ? HD_OK : start(a, d);
  if (st != HD_OK) return st;
  st = exchange(a, job, data, &got, d);
  seconds[0] = got.seconds[0];
  seconds[1] = got.seconds[1];
  if (st != HD_OK) end(a);
  return st;
}
