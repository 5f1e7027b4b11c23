/* Machine code of rewritten kernels in a folder of files, so that later processes load it instead of
 * compiling. A file is named by a digest of the text, the GPU's architecture and the driver's version. One
 * that somebody else may have written is not loaded (heddle/trusted.h). */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/trusted.h"
#include "run/run.h"

enum { PATH = HD_STEER_PATH + 96, MOST_FILES = 4096 };
static const uint64_t most_bytes = UINT64_C(256) << 20; /* of all files */

/* Made, and not yet written: a file takes longer than a GPU should wait for. Under run_lock. */
static HD_VEC(struct made {
  char path[PATH];
  char *data; /* malloc'd */
  size_t len;
}) unwritten;

/* False: there is no folder. */
static bool path_of(const char *text, char path[PATH]) {
  run_gpu gpu;
  char hex[HD_SHA256_HEX], arch[16];
  if (!run_settings.cubins[0] || !run_gpu_of(&gpu)) return false;
  snprintf(arch, sizeof arch, "sm_%u", gpu.arch);
  const hd_part parts[] = {{text, strlen(text)}, {arch, strlen(arch)}, {gpu.driver, strlen(gpu.driver)}};
  snprintf(path, PATH, "%s/%s.cubin", run_settings.cubins,
           hd_sha256_hex(parts, sizeof parts / sizeof *parts, hex));
  return true;
}

cu_library run_library_load(const void *image) {
  cu_library library;
  return run_real.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) == CU_SUCCESS ? library
                                                                                                 : NULL;
}

/* ---- Files ------------------------------------------------------------------------------------- */

bool run_kept(const char *path, hd_buf *out) {
  static atomic_bool said;
  hd_diag d = {0};
  char line[HD_STEER_PATH + 256];
  const hd_status st = hd_sealed_read(path, out, &d);
  if (st == HD_ERR_REFUSED && !atomic_exchange(&said, true))
    run_say("%s", hd_diag_line(&d, line, sizeof line));
  if (st == HD_ERR_INPUT) unlink(path);
  return st == HD_OK;
}

static cu_library load_file(const char *path) {
  hd_buf code = {0};
  const cu_library library = run_kept(path, &code) && code.len ? run_library_load(code.data) : NULL;
  if (library) utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* the oldest go first */
  hd_buf_free(&code);
  return library;
}

typedef struct entry {
  char name[128];
  struct timespec when;
  uint64_t bytes;
} entry;

static int by_age(const void *a, const void *b) {
  const struct timespec x = ((const entry *)a)->when, y = ((const entry *)b)->when;
  if (x.tv_sec != y.tv_sec) return x.tv_sec < y.tv_sec ? -1 : 1;
  return (x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

/* Takes the oldest files away while there are too many, or they are too large. */
static void sweep(void) {
  HD_VEC(entry) all = {0};
  uint64_t bytes = 0;
  DIR *folder = opendir(run_settings.cubins);
  for (struct dirent *e; folder && (e = readdir(folder));) {
    const size_t bytes_of_name = strlen(e->d_name) + 1;
    struct stat st;
    entry one;
    if (e->d_name[0] == '.' || bytes_of_name > sizeof one.name ||
        fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
      continue;
    memcpy(one.name, e->d_name, bytes_of_name);
    one.when = st.st_mtim;
    one.bytes = (uint64_t)st.st_size;
    bytes += one.bytes;
    if (!hd_vec_push(&all, one)) break;
  }
  if (all.n) qsort(all.data, all.n, sizeof *all.data, by_age);
  for (size_t k = 0; k < all.n && (bytes > most_bytes || all.n - k > MOST_FILES); k++) {
    unlinkat(dirfd(folder), all.data[k].name, 0);
    bytes -= all.data[k].bytes;
  }
  hd_vec_free(&all);
  if (folder) closedir(folder);
}

void run_cubins_write(void) {
  enum { EACH = 64 };
  static unsigned written;
  while (unwritten.n) {
    struct made *m = &unwritten.data[--unwritten.n];
    hd_sealed_write(m->path, m->data, m->len, NULL);
    free(m->data);
    if (written++ % EACH == 0) sweep();
  }
}

/* ---- Compiling --------------------------------------------------------------------------------- */

static void keep(const char *path, const void *code, size_t bytes) {
  struct made m = {.data = malloc(bytes), .len = bytes};
  if (!m.data) return;
  memcpy(m.data, code, bytes);
  snprintf(m.path, sizeof m.path, "%s", path);
  if (!hd_vec_push(&unwritten, m)) free(m.data);
}

static double compiling; /* seconds; under run_lock */

double run_cubins_compiling(void) { return compiling; }

/* A text alone is compiled by the driver; the machine code is kept, and loaded where it is asked for. */
static cu_library compile(const char *path, const char *text, bool wanted) {
  const run_driver *d = &run_real;
  cu_link link;
  cu_library library = NULL;
  void *code = NULL;
  size_t bytes = 0;
  const double begin = hd_seconds();
  if (!d->cuLinkCreate_v2 || !d->cuLinkAddData_v2 || !d->cuLinkComplete || !d->cuLinkDestroy ||
      d->cuLinkCreate_v2(0, NULL, NULL, &link) != CU_SUCCESS)
    return NULL;
  const bool made = d->cuLinkAddData_v2(link, CU_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1,
                                        "heddle", 0, NULL, NULL) == CU_SUCCESS &&
                    d->cuLinkComplete(link, &code, &bytes) == CU_SUCCESS && code && bytes > 4 &&
                    memcmp(code, "\177ELF", 4) == 0;
  compiling += hd_seconds() - begin;
  if (made && (!wanted || (library = run_library_load(code)))) keep(path, code, bytes);
  d->cuLinkDestroy(link);
  return library;
}

cu_library run_cubin_load(const char *text, bool kept) {
  char path[PATH];
  cu_library library = NULL;
  if (path_of(text, path) && !(library = load_file(path)) && kept) library = compile(path, text, true);
  if (library) return library;
  const double begin = hd_seconds();
  library = run_library_load(text);
  compiling += hd_seconds() - begin;
  return library;
}

bool run_cubin_find(const char *text, hd_buf *out) {
  char path[PATH];
  return path_of(text, path) && run_kept(path, out) && out->len;
}

void run_cubin_make(const char *text) {
  char path[PATH];
  hd_buf kept = {0};
  if (path_of(text, path) && !run_kept(path, &kept)) compile(path, text, false);
  hd_buf_free(&kept);
}

void run_cubin_keep(const char *text, const hd_buf *code) {
  char path[PATH];
  if (path_of(text, path)) keep(path, code->data, code->len);
}
