/* Launches as workloads: a folder each, with the module's text, the allocations that the launch reaches as
 * they were before it, packed, and a workload.toml. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "run/watch.h"

/* FRAME: bytes that are packed at once. BEYOND: of a buffer, so that the address behind an allocation is one
 * in it. SPARE: launches that may be recorded for each that is kept. */
enum { FRAME = 1 << 22, BEYOND = 8, LEVEL = 1, SPARE = 4, PATIENCE = 10, PATH = HD_STEER_PATH + 192 };

static const uint64_t most_bytes = UINT64_C(16) << 30; /* of a launch that is recorded */

typedef struct recording {
  run_kernel *kernel;
  run_shape *shape;
} recording;

typedef struct kept_file {
  char digest[HD_DIGEST_HEX], path[PATH];
} kept_file;

/* All launches that were recorded, and their files by content; under run_lock. */
static HD_VEC(recording) recorded;
static HD_VEC(kept_file) files;

/* ---- Files ------------------------------------------------------------------------------------- */

/* The file at `path` becomes another name of one with the same content, if there is one. */
static bool share(const char *path, const hd_digest *h) {
  kept_file k;
  hd_digest_hex(h, k.digest);
  for (size_t i = 0; i < files.n; i++) {
    if (strcmp(files.data[i].digest, k.digest) != 0) continue;
    char other[PATH + 8];
    snprintf(other, sizeof other, "%s.same", path);
    if (link(files.data[i].path, other) == 0 && rename(other, path) == 0) return true;
  }
  snprintf(k.path, sizeof k.path, "%s", path);
  return hd_vec_push(&files, k);
}

typedef struct packing {
  FILE *file;
  char *plain, *packed;
  size_t room;
  hd_digest digest;
} packing;

static bool pack(packing *p, size_t bytes) {
  const size_t n = ZSTD_compress(p->packed, p->room, p->plain, bytes, LEVEL);
  hd_digest_bytes(&p->digest, p->plain, bytes);
  return !ZSTD_isError(n) && fwrite(p->packed, 1, n, p->file) == n;
}

/* A range, and zeros behind it up to `bytes`. */
static bool pack_range(packing *p, const run_range *r, uint64_t bytes, run_handle stream) {
  bool ok = true;
  for (uint64_t at = 0; ok && at < bytes; at += FRAME) {
    const size_t n = bytes - at < FRAME ? (size_t)(bytes - at) : FRAME;
    const size_t there = at >= r->bytes ? 0 : r->bytes - at < n ? (size_t)(r->bytes - at) : n;
    memset(p->plain + there, 0, n - there);
    ok = (!there || (run_real.cuMemcpyDtoHAsync_v2(p->plain, r->at + at, there, stream) == RUN_SUCCESS &&
                     run_real.cuStreamSynchronize(stream) == RUN_SUCCESS)) &&
         pack(p, n);
  }
  return ok;
}

static uint64_t room_of(const run_range *r) { return (r->bytes + BEYOND + 7) / 8 * 8; }

static bool write_range(const char *path, const run_range *r, run_handle stream) {
  packing p = {.room = ZSTD_compressBound(FRAME), .digest = hd_digest_begin()};
  p.plain = malloc(FRAME);
  p.packed = malloc(p.room);
  p.file = p.plain && p.packed ? fopen(path, "wb") : NULL;
  bool ok = p.file && pack_range(&p, r, room_of(r), stream);
  if (p.file) ok = fclose(p.file) == 0 && ok;
  free(p.plain);
  free(p.packed);
  return ok && share(path, &p.digest);
}

/* ---- workload.toml ----------------------------------------------------------------------------- */

/* The range that an address belongs to, the one behind it included; the number of ranges: none. */
static size_t range_of(const run_reach *reach, uint64_t address) {
  size_t best = reach->ranges.n;
  for (size_t k = 0; k < reach->ranges.n; k++) {
    const run_range *r = &reach->ranges.data[k];
    if (address < r->at || address - r->at >= room_of(r)) continue;
    if (best == reach->ranges.n || r->at > reach->ranges.data[best].at) best = k;
  }
  return best;
}

/* A parameter that is one address or one number. */
static bool put_plain(hd_buf *b, const run_reach *reach, const char *from, uint64_t bytes) {
  uint64_t word = 0;
  if (bytes > 8 || bytes & (bytes - 1)) return false;
  memcpy(&word, from, bytes);
  const size_t k = bytes == 8 ? range_of(reach, word) : reach->ranges.n;
  if (k < reach->ranges.n && !reach->ranges.data[k].points)
    hd_buf_printf(b, "{ buffer = \"m%zu\", offset = %llu }", k,
                  (unsigned long long)(word - reach->ranges.data[k].at));
  else if (k == reach->ranges.n && word <= INT64_MAX)
    hd_buf_printf(b, "{ type = \"u%u\", value = %llu }", (unsigned)(8 * bytes), (unsigned long long)word);
  else
    return false;
  return true;
}

/* Bytes of a parameter as fields of a struct, those words that are addresses as such. */
static bool put_fields(hd_buf *b, const run_reach *reach, const char *from, uint64_t bytes) {
  hd_buf_puts(b, "{ struct = [");
  for (uint64_t at = 0; at < bytes;) {
    uint64_t word = 0;
    if (at) hd_buf_puts(b, ", ");
    if (at % 8 == 0 && bytes - at >= 8) {
      memcpy(&word, from + at, 8);
      const size_t k = range_of(reach, word);
      if (k < reach->ranges.n) {
        const run_range *r = &reach->ranges.data[k];
        if (r->points && (word - r->at) % 8) return false;
        hd_buf_printf(b, "{ buffer = \"m%zu\", offset = %llu, at = %llu }", k,
                      (unsigned long long)((word - r->at) / (r->points ? 8 : 1)), (unsigned long long)at);
        at += 8;
        continue;
      }
    }
    const unsigned n = at % 4 == 0 && bytes - at >= 4 ? 4 : 1;
    word = 0;
    memcpy(&word, from + at, n);
    hd_buf_printf(b, "{ type = \"u%u\", value = %llu, at = %llu }", 8 * n, (unsigned long long)word,
                  (unsigned long long)at);
    at += n;
  }
  hd_buf_printf(b, "], bytes = %llu, align = %d }", (unsigned long long)bytes,
                bytes % 8 == 0   ? 8
                : bytes % 4 == 0 ? 4
                                 : 1);
  return true;
}

static bool describe(hd_buf *b, const run_kernel *k, const run_facts *f, const run_launch *l,
                     const run_reach *reach) {
  const char *block = (const char *)reach->block;
  bool ok = true;
  hd_buf_printf(b, "title = \"%s, launch %lu\"\nsource = \"kernel.ptx\"\n\n[sizes.small]\n", k->name,
                atomic_load(&((run_kernel *)(uintptr_t)k)->launches) + 1);
  for (size_t i = 0; i < reach->ranges.n; i++) {
    const run_range *r = &reach->ranges.data[i];
    hd_buf_printf(b,
                  "\n[[buffer]]\nname = \"m%zu\"\ntype = \"%s\"\ncount = %llu\nat = \"0x%llx\"\nfill = "
                  "'%s(\"m%zu.zst\")'\n",
                  i, r->points ? "u64" : "u8", (unsigned long long)(room_of(r) / (r->points ? 8 : 1)),
                  (unsigned long long)r->at, r->points ? "recorded" : "file", i);
  }
  hd_buf_printf(
      b, "\n[[launch]]\nkernel = \"%s\"\ngrid = [%u, %u, %u]\nblock = [%u, %u, %u]\nshared = %u\nargs = [",
      k->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared);
  for (uint32_t i = 0; ok && i < f->n_params; i++) {
    hd_buf_puts(b, i ? ",\n  " : "\n  ");
    ok = put_plain(b, reach, block + f->offsets[i], f->sizes[i]) ||
         put_fields(b, reach, block + f->offsets[i], f->sizes[i]);
  }
  hd_buf_puts(b, "\n]\n");
  return ok && !b->failed;
}

/* ---- A folder ---------------------------------------------------------------------------------- */

static void remove_folder(const char *folder) {
  char path[PATH + 32];
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
  for (size_t k = 0; k < files.n; k++)
    if (strncmp(files.data[k].path, folder, strlen(folder)) == 0 && files.data[k].path[strlen(folder)] == '/')
      files.data[k--] = files.data[--files.n];
}

/* "cap/scale-3"; a kernel's name may be long, and hold what no file's name should. */
static bool make_folder(const run_kernel *k, char folder[PATH - 32]) {
  char name[41] = "";
  for (size_t i = 0; k->name[i] && i + 1 < sizeof name; i++)
    name[i] = strchr("$%./", k->name[i]) ? '_' : k->name[i];
  const unsigned long number = atomic_load(&((run_kernel *)(uintptr_t)k)->launches) + 1;
  for (unsigned again = 0; again < 1000; again++) {
    char more[16] = "";
    if (again) snprintf(more, sizeof more, ".%u", again);
    snprintf(folder, PATH - 32, "%s/%s-%lu%s", run_settings.record, name, number, more);
    if (access(folder, F_OK) != 0) return mkdir(folder, 0777) == 0;
  }
  return false;
}

static const char *write_all(const char *folder, const run_kernel *k, const run_reach *reach,
                             const hd_buf *toml, run_handle stream) {
  char path[PATH];
  hd_digest h = hd_digest_begin();
  bool ok = true;
  for (size_t i = 0; ok && i < reach->ranges.n; i++) {
    snprintf(path, sizeof path, "%s/m%zu.zst", folder, i);
    ok = write_range(path, &reach->ranges.data[i], stream);
  }
  snprintf(path, sizeof path, "%s/kernel.ptx", folder);
  hd_digest_bytes(&h, k->module->own.data, k->module->own.len);
  ok = ok && hd_file_write(path, k->module->own.data, k->module->own.len, NULL) == HD_OK && share(path, &h);
  /* Last: a folder without it is no workload. */
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  ok = ok && hd_file_write(path, toml->data, toml->len, NULL) == HD_OK;
  return ok ? NULL : "its files cannot be written";
}

static const char *write_launch(run_kernel *k, run_shape *s, const run_facts *f, const run_launch *l,
                                run_handle stream) {
  char folder[PATH - 32];
  run_reach reach = {0};
  hd_buf toml = {0};
  const char *why = run_reach_of(f, l, stream, most_bytes, PATIENCE, &reach);
  if (!why && !describe(&toml, k, f, l, &reach)) why = "its parameters are not understood";
  if (!why && !make_folder(k, folder)) why = "its folder cannot be made";
  if (!why && (why = write_all(folder, k, &reach, &toml, stream))) remove_folder(folder);
  if (!why && (s->folder = strdup(folder)) && !hd_vec_push(&recorded, ((recording){k, s}))) why = "no memory";
  hd_buf_free(&toml);
  run_reach_free(&reach);
  return why;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

static unsigned long most(void) { return (unsigned long)run_number(run_settings.most, 10); }

/* Launches the original in a stream of heddle's, and waits for it. */
static void time_it(run_kernel *k, run_shape *s, run_handle function, const run_launch *l, run_handle stream,
                    int *result) {
  run_launch own = *l;
  run_time t;
  own.stream = stream;
  own.per_thread = false;
  const bool timed = run_settings.profile[0] && run_time_begin(k, &own, &t);
  const double begin = hd_seconds();
  *result = run_send(&own, function, l->grid, l->params, l->extra);
  if (timed) run_time_end(&t, &own, *result == RUN_SUCCESS);
  if (*result == RUN_SUCCESS) run_real.cuStreamSynchronize(stream);
  s->seconds = hd_seconds() - begin;
  run_times_take();
}

/* Whether an order can be given to the kernel at all. */
static void ask_for_reach(run_kernel *k) {
  run_gpu gpu;
  run_variant *v;
  hd_diag d = {0};
  const hd_plan plan = {.order = {.kind = HD_ORDER_REVERSE}};
  const run_text *text = &k->module->own;
  if (!text->data)
    snprintf(k->refused, sizeof k->refused, "%s", text->why ? text->why : "no PTX");
  else if (!run_gpu_of(&gpu))
    snprintf(k->refused, sizeof k->refused, "the driver is too old");
  else if (run_variant_make(&gpu, text, k, &plan, NULL, &v, &d) == HD_OK)
    run_variant_drop(v);
  else
    hd_diag_line(&d, k->refused, sizeof k->refused);
}

static const char *record(run_kernel *k, run_shape *s, run_handle function, const run_launch *l,
                          bool *launched, int *result) {
  run_facts facts;
  hd_diag d = {0};
  run_handle stream;
  const run_driver *r = &run_real;
  if (!k->module->own.data) return k->module->own.why ? k->module->own.why : "no PTX";
  const char *why = !r->cuStreamCreate || !r->cuStreamDestroy_v2 || !r->cuStreamSynchronize ||
                            !r->cuMemcpyDtoHAsync_v2 || !r->cuPointerGetAttribute
                        ? "the driver is too old"
                        : run_not_alone(RUN_PATIENCE);
  if (why) return why;
  if (run_facts_of(&k->module->own, k->name, &facts, &d) != HD_OK) {
    hd_diag_line(&d, k->why, sizeof k->why);
    return k->why;
  }
  why = facts.effect            ? facts.effect
        : facts.handle          ? facts.handle
        : facts.variables.all.n ? "it uses the module's variables"
                                : NULL;
  if (!why && r->cuStreamCreate(&stream, RUN_NON_BLOCKING) != RUN_SUCCESS) why = "the driver gives no stream";
  if (!why) {
    why = write_launch(k, s, &facts, l, stream);
    time_it(k, s, function, l, stream, result);
    *launched = true;
    r->cuStreamDestroy_v2(stream);
  }
  run_facts_free(&facts);
  return why;
}

const char *run_record(run_kernel *k, run_shape *s, run_handle function, const run_launch *l, bool *launched,
                       int *result) {
  if (run_settings.profile[0] && k->shapes == s && !s->next && s->tries == 1) ask_for_reach(k);
  if ((run_settings.kernel[0] && fnmatch(run_settings.kernel, k->name, 0) != 0) ||
      recorded.n >= SPARE * most()) {
    s->settled = true;
    return NULL;
  }
  const char *why = record(k, s, function, l, launched, result);
  s->settled |= s->folder != NULL;
  return why;
}

static double time_of(const recording *r) { return r->shape->seconds * (double)r->shape->launches; }

static int by_time(const void *a, const void *b) {
  const double x = time_of(a), y = time_of(b);
  return x < y ? 1 : x > y ? -1 : 0;
}

void run_record_end(hd_buf *lines) {
  if (recorded.n) qsort(recorded.data, recorded.n, sizeof *recorded.data, by_time);
  for (size_t i = 0; i < recorded.n; i++) {
    run_shape *s = recorded.data[i].shape;
    if (i >= most()) {
      remove_folder(s->folder);
      free(s->folder);
      s->folder = NULL;
    } else
      hd_buf_printf(lines, "heddle: recorded %s: %s, %lu launch%s of about %.0f us\n", s->folder,
                    recorded.data[i].kernel->name, s->launches, s->launches == 1 ? "" : "es",
                    s->seconds * 1e6);
  }
}
