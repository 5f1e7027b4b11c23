/* Files that become code. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "heddle/trusted.h"

/* ---- Digests ------------------------------------------------------------- */

static void hex_of(struct sha256_ctx *c, char out[HD_SHA256_HEX]) {
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(c, sizeof digest, digest);
  for (size_t k = 0; k < sizeof digest; k++) snprintf(out + 2 * k, 3, "%02x", digest[k]);
}

const char *hd_sha256_hex(const hd_part *parts, size_t n, char out[HD_SHA256_HEX]) {
  struct sha256_ctx c;
  sha256_init(&c);
  for (size_t k = 0; k < n; k++) {
    const uint64_t len = parts[k].len;
    sha256_update(&c, sizeof len, (const uint8_t *)&len);
    sha256_update(&c, parts[k].len, parts[k].data);
  }
  hex_of(&c, out);
  return out;
}

/* ---- Folders ------------------------------------------------------------- */

static hd_status failed(hd_diag *d, hd_status st, const char *path, const char *why) {
  hd_fail(d, st, "%s", why);
  if (d) snprintf(d->file, sizeof d->file, "%s", path);
  return st;
}

/* NULL: no one else may have put it there. */
static const char *doubt(const struct stat *s) {
  if (s->st_uid != geteuid()) return "it belongs to another user, and so is not used";
  if (s->st_mode & (S_IWGRP | S_IWOTH)) return "other users may write to it, and so it is not used";
  return NULL;
}

/* An open folder, or -1. */
static int open_folder(const char *path, hd_status *st, hd_diag *d) {
  struct stat s;
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    const int e = errno;
    const bool link = lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
    *st = failed(d, link ? HD_ERR_REFUSED : HD_ERR_IO, path,
                 link ? "a symbolic link in place of a folder, which is not followed" : strerror(e));
    return -1;
  }
  const char *why = fstat(fd, &s) == 0 ? doubt(&s) : strerror(errno);
  *st = why ? failed(d, HD_ERR_REFUSED, path, why) : HD_OK;
  if (!why) return fd;
  close(fd);
  return -1;
}

/* The folder of a file, and its name in there. */
static int open_parent(const char *path, const char **name, hd_status *st, hd_diag *d) {
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
  if (!folder) {
    *st = hd_nomem(d);
    return -1;
  }
  const int fd = open_folder(folder, st, d);
  free(folder);
  return fd;
}

hd_status hd_trusted_folder(const char *path, bool make, hd_diag *d) {
  hd_status st = HD_OK;
  const bool made = make && mkdir(path, 0700) == 0;
  if (make && !made && errno != EEXIST) return failed(d, HD_ERR_IO, path, strerror(errno));
  struct stat s;
  if (made && lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && (s.st_mode & 0777) != 0700 &&
      chmod(path, 0700) != 0) /* the umask takes rights away */
    return failed(d, HD_ERR_IO, path, strerror(errno));
  const int fd = open_folder(path, &st, d);
  if (fd >= 0) close(fd);
  return st;
}

/* ---- Reading ------------------------------------------------------------- */

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
         a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static hd_status read_all(int fd, const char *path, size_t len, hd_buf *out, hd_diag *d) {
  if (!hd_buf_reserve(out, len + 1)) return hd_nomem(d);
  size_t got = 0;
  while (got < len) {
    const ssize_t n = read(fd, out->data + out->len + got, len - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(d, HD_ERR_IO, path, strerror(errno));
    if (n == 0) return failed(d, HD_ERR_REFUSED, path, "it was cut off while it was read");
    got += (size_t)n;
  }
  out->len += len;
  out->data[out->len] = 0;
  return HD_OK;
}

static hd_status read_file(int folder, const char *name, const char *path, hd_buf *out, hd_diag *d) {
  struct stat before, after;
  const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return errno == ELOOP ? failed(d, HD_ERR_REFUSED, path, "a symbolic link, which is not followed")
                          : failed(d, HD_ERR_IO, path, strerror(errno));
  hd_status st = HD_OK;
  const char *why = fstat(fd, &before) != 0    ? strerror(errno)
                    : !S_ISREG(before.st_mode) ? "it is no file"
                                               : doubt(&before);
  const size_t was = out->len;
  if (why) st = failed(d, HD_ERR_REFUSED, path, why);
  if (st == HD_OK) st = read_all(fd, path, (size_t)before.st_size, out, d);
  if (st == HD_OK && (fstat(fd, &after) != 0 || !is_same(&before, &after)))
    st = failed(d, HD_ERR_REFUSED, path, "it changed while it was read");
  if (st != HD_OK && out->data) out->len = was;
  close(fd);
  return st;
}

hd_status hd_trusted_read(const char *path, hd_buf *out, hd_diag *d) {
  const char *name;
  hd_status st;
  const int folder = open_parent(path, &name, &st, d);
  if (folder < 0) return st;
  st = read_file(folder, name, path, out, d);
  close(folder);
  return st;
}

/* ---- Writing ------------------------------------------------------------- */

/* Under a name that is new: 0, or an error number. */
static int write_new(int folder, const char *name, const void *data, size_t len) {
  const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int err = fchmod(fd, 0600) != 0 ? errno : files_write(fd, data, len);
  if (!err && fsync(fd) != 0 && errno != EINVAL && errno != EROFS) err = errno;
  if (close(fd) != 0 && !err) err = errno;
  return err;
}

hd_status hd_trusted_write(const char *path, const void *data, size_t len, hd_diag *d) {
  const char *name;
  hd_status st;
  char temporary[300];
  const int folder = open_parent(path, &name, &st, d);
  if (folder < 0) return st;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int n = snprintf(temporary, sizeof temporary, "%s.%d-%lx", name, (int)getpid(), now.tv_nsec);
  int err = n < 0 || n >= (int)sizeof temporary ? ENAMETOOLONG : write_new(folder, temporary, data, len);
  if (!err && renameat(folder, temporary, folder, name) != 0) err = errno;
  if (err && err != EEXIST && err != ENAMETOOLONG) unlinkat(folder, temporary, 0);
  close(folder);
  return err ? failed(d, HD_ERR_IO, path, strerror(err)) : HD_OK;
}

hd_status hd_trusted_make(const char *path, hd_diag *d) {
  const char *name, *why = NULL;
  hd_status st;
  struct stat s;
  const int folder = open_parent(path, &name, &st, d);
  if (folder < 0) return st;
  const int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd < 0)
    st = failed(d, errno == ELOOP ? HD_ERR_REFUSED : HD_ERR_IO, path,
                errno == ELOOP ? "a symbolic link, which is not followed" : strerror(errno));
  else if (fstat(fd, &s) != 0)
    st = failed(d, HD_ERR_IO, path, strerror(errno));
  else if ((why = doubt(&s)))
    st = failed(d, HD_ERR_REFUSED, path, why);
  if (fd >= 0) close(fd);
  close(folder);
  return st;
}

/* ---- Seals --------------------------------------------------------------- */

static const char mark[] = "// heddle sealed ";
enum { SEAL = sizeof mark - 1 + 20 + 1 + HD_SHA256_HEX - 1 + 1 }; /* and the length, a blank, a newline */

static void seal_of(const void *data, size_t len, char out[SEAL + 1]) {
  char hex[HD_SHA256_HEX];
  const hd_part whole = {data, len};
  snprintf(out, SEAL + 1, "%s%020zu %s\n", mark, len, hd_sha256_hex(&whole, 1, hex));
}

hd_status hd_sealed_write(const char *path, const void *data, size_t len, hd_diag *d) {
  char seal[SEAL + 1];
  hd_buf b = {0};
  seal_of(data, len, seal);
  hd_buf_put(&b, seal, SEAL);
  hd_buf_put(&b, data, len);
  const hd_status st = b.failed ? hd_nomem(d) : hd_trusted_write(path, b.data, b.len, d);
  hd_buf_free(&b);
  return st;
}

hd_status hd_sealed_read(const char *path, hd_buf *out, hd_diag *d) {
  hd_buf all = {0};
  char seal[SEAL + 1];
  hd_status st = hd_trusted_read(path, &all, d);
  if (st == HD_OK && all.len >= SEAL) seal_of(all.data + SEAL, all.len - SEAL, seal);
  if (st == HD_OK && (all.len < SEAL || memcmp(all.data, seal, SEAL) != 0))
    st = failed(d, HD_ERR_INPUT, path, "it is not as it was written");
  if (st == HD_OK) hd_buf_put(out, all.data + SEAL, all.len - SEAL);
  if (st == HD_OK && out->failed) st = hd_nomem(d);
  hd_buf_free(&all);
  return st;
}
