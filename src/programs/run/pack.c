/* Recorded memory becomes files while the program goes on: a thread of heddle's takes folders in turn, and
 * packs the frames of their files on all processors. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "run/watch.h"

/* FRAME: bytes that are packed at once. FRAMES: that are in memory, packed. */
enum { FRAME = 1 << 22, FRAMES = 64, LEVEL = 1 };

static const uint64_t most_waiting = UINT64_C(4) << 30; /* bytes that wait to be packed */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  run_pack *first, *last; /* that wait, the one that is being written among them */
  uint64_t bytes;
  bool running; /* there is a thread */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- A file ------------------------------------------------------------------------------------ */

typedef struct frame {
  char *packed;
  size_t bytes;
  hd_digest digest;
} frame;

typedef struct packing {
  const char *data;
  uint64_t bytes;
  frame frames[FRAMES];
  uint64_t first; /* number of the first of them in the file */
  unsigned n;
  atomic_uint next;
  atomic_bool failed;
} packing;

static void pack_frames(void *ctx, unsigned worker) {
  packing *p = ctx;
  (void)worker;
  for (unsigned k; (k = atomic_fetch_add(&p->next, 1)) < p->n;) {
    frame *f = &p->frames[k];
    const uint64_t at = (p->first + k) * FRAME;
    const size_t n = p->bytes - at < FRAME ? (size_t)(p->bytes - at) : FRAME,
                 room = ZSTD_compressBound(FRAME);
    if (!f->packed) f->packed = malloc(room);
    f->bytes = f->packed ? ZSTD_compress(f->packed, room, p->data + at, n, LEVEL) : 0;
    f->digest = hd_digest_begin();
    hd_digest_bytes(&f->digest, p->data + at, n);
    if (!f->packed || ZSTD_isError(f->bytes)) atomic_store(&p->failed, true);
  }
}

static bool may_grow(FILE *f, size_t bytes) {
  const off_t at = ftello(f);
  const bool may = at >= 0 && (uint64_t)at + bytes <= hd_file_limit();
  if (!may) errno = EFBIG;
  return may;
}

static bool write_frames(packing *p, FILE *to, hd_digest *digest) {
  const unsigned cpus = hd_cpu_count();
  atomic_store(&p->next, 0);
  if (!hd_parallel(cpus < p->n ? cpus : p->n, pack_frames, p)) return false;
  bool ok = !atomic_load(&p->failed);
  for (unsigned k = 0; ok && k < p->n; k++) {
    hd_digest_bytes(digest, &p->frames[k].digest, sizeof p->frames[k].digest);
    ok = may_grow(to, p->frames[k].bytes) &&
         fwrite(p->frames[k].packed, 1, p->frames[k].bytes, to) == p->frames[k].bytes;
  }
  return ok;
}

static bool write_memory(const char *path, const char *data, uint64_t bytes, hd_digest *digest) {
  packing *p = calloc(1, sizeof *p);
  FILE *to = p ? fopen(path, "wb") : NULL;
  bool ok = to != NULL;
  *digest = hd_digest_begin();
  if (ok) *p = (packing){.data = data, .bytes = bytes};
  for (const uint64_t all = (bytes + FRAME - 1) / FRAME; ok && p->first < all; p->first += p->n) {
    p->n = all - p->first < FRAMES ? (unsigned)(all - p->first) : FRAMES;
    ok = write_frames(p, to, digest);
  }
  if (to) ok = fclose(to) == 0 && ok;
  for (unsigned k = 0; p && k < FRAMES; k++) free(p->frames[k].packed);
  free(p);
  return ok;
}

/* ---- Files of the same content ----------------------------------------------------------------- */

typedef struct kept_file {
  char digest[HD_DIGEST_HEX], path[RUN_PACK_PATH];
} kept_file;

/* Of the one thread that writes, and of others once it has been waited for. */
static HD_VEC(kept_file) files;

/* The file at `path` becomes another name of one with the same content, if there is one. */
static bool share(const char *path, const hd_digest *h) {
  kept_file k;
  hd_digest_hex(h, k.digest);
  for (size_t i = 0; i < files.n; i++) {
    if (strcmp(files.data[i].digest, k.digest) != 0) continue;
    char other[RUN_PACK_PATH + 8];
    snprintf(other, sizeof other, "%s.same", path);
    if (link(files.data[i].path, other) == 0 && rename(other, path) == 0) return true;
  }
  snprintf(k.path, sizeof k.path, "%s", path);
  return hd_vec_push(&files, k);
}

void run_pack_remove(const char *folder) {
  char path[RUN_PACK_PATH + 32];
  static const char *const names[] = {"workload.toml", "kernel.ptx"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    unlink(path);
  }
  for (unsigned k = 0; k == 0 || access(path, F_OK) == 0; k++) {
    snprintf(path, sizeof path, "%s/m%u.zst", folder, k);
    unlink(path);
    snprintf(path, sizeof path, "%s/m%u.zst", folder, k + 1);
  }
  rmdir(folder);
  const size_t n = strlen(folder);
  for (size_t k = 0; k < files.n; k++)
    if (strncmp(files.data[k].path, folder, n) == 0 && files.data[k].path[n] == '/')
      files.data[k--] = files.data[--files.n];
}

/* ---- A folder ---------------------------------------------------------------------------------- */

static bool write_all(const run_pack *k) {
  char path[RUN_PACK_PATH];
  hd_digest h;
  bool ok = true;
  for (size_t i = 0; ok && i < k->reach.ranges.n; i++) {
    const run_range *r = &k->reach.ranges.data[i];
    snprintf(path, sizeof path, "%s/m%zu.zst", k->folder, i);
    ok = write_memory(path, r->copy, r->variable ? r->bytes : run_range_room(r), &h) && share(path, &h);
  }
  snprintf(path, sizeof path, "%s/kernel.ptx", k->folder);
  h = hd_digest_begin();
  hd_digest_bytes(&h, k->text, k->text_bytes);
  ok = ok && hd_file_write(path, k->text, k->text_bytes, NULL) == HD_OK && share(path, &h);
  /* Last: a folder without it is no workload. */
  snprintf(path, sizeof path, "%s/workload.toml", k->folder);
  return ok && hd_file_write(path, k->toml.data, k->toml.len, NULL) == HD_OK;
}

static void write_folder(run_pack *k) {
  errno = 0;
  k->failed = write_all(k) ? 0 : errno ? errno : EIO;
  if (k->failed) run_pack_remove(k->folder);
  hd_buf_free(&k->toml);
  run_reach_free(&k->reach);
}

/* ---- The queue --------------------------------------------------------------------------------- */

static void *work(void *unused) {
  (void)unused;
  pthread_mutex_lock(&queue.lock);
  while (queue.first) {
    run_pack *k = queue.first;
    const uint64_t bytes = k->reach.bytes;
    pthread_mutex_unlock(&queue.lock);
    write_folder(k);
    pthread_mutex_lock(&queue.lock);
    queue.first = k->next;
    queue.bytes -= bytes;
    pthread_cond_broadcast(&queue.changed);
  }
  queue.running = false;
  pthread_cond_broadcast(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
  return NULL;
}

/* Signals are for the program's own threads. */
static bool start(void) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool ok = pthread_create(&thread, NULL, work, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (ok) pthread_detach(thread);
  return ok;
}

void run_pack_add(run_pack *k) {
  pthread_mutex_lock(&queue.lock);
  while (queue.running && queue.bytes > most_waiting) pthread_cond_wait(&queue.changed, &queue.lock);
  k->next = NULL;
  if (queue.first)
    queue.last->next = k;
  else
    queue.first = k;
  queue.last = k;
  queue.bytes += k->reach.bytes;
  const bool started = queue.running || (queue.running = start());
  pthread_mutex_unlock(&queue.lock);
  if (!started) work(NULL);
}

void run_pack_wait(void) {
  pthread_mutex_lock(&queue.lock);
  while (queue.running) pthread_cond_wait(&queue.changed, &queue.lock);
  pthread_mutex_unlock(&queue.lock);
}
