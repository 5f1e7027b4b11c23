#include "base/files.h"
#include "heddle/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static hd_status io_error(hd_diag *d, const char *path, const char *doing, int err) {
  hd_fail(d, HD_ERR_IO, "cannot %s: %s", doing, strerror(err));
  if (d) snprintf(d->file, sizeof d->file, "%s", path);
  return HD_ERR_IO;
}

/* A pipe or device has no size to map: read it to its end. */
static hd_status read_stream(int fd, const char *path, hd_file *f, hd_diag *d) {
  hd_buf b = {0};
  for (;;) {
    if (!hd_buf_reserve(&b, 1 << 16)) {
      hd_buf_free(&b);
      return hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", path);
    }
    ssize_t n = read(fd, b.data + b.len, 1 << 16);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      int err = errno;
      hd_buf_free(&b);
      return io_error(d, path, "read", err);
    }
    if (n == 0) break;
    b.len += (size_t)n;
  }
  b.data[b.len] = 0;
  f->data = b.data;
  f->len = b.len;
  f->map = NULL;
  return HD_OK;
}

hd_status hd_file_open(const char *path, hd_file *f, hd_diag *d) {
  memset(f, 0, sizeof *f);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(d, path, "open", errno);
  struct stat st;
  hd_status rc = HD_OK;
  if (fstat(fd, &st) != 0) {
    rc = io_error(d, path, "stat", errno);
  } else if (S_ISDIR(st.st_mode)) {
    rc = io_error(d, path, "read", EISDIR);
  } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
    rc = read_stream(fd, path, f, d);
  } else {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      rc = io_error(d, path, "map", errno);
    } else {
      f->map = p;
      f->data = p;
      f->len = (size_t)st.st_size;
    }
  }
  close(fd);
  return rc;
}

void hd_file_close(hd_file *f) {
  if (f->map)
    munmap(f->map, f->len);
  else
    free((void *)f->data);
  memset(f, 0, sizeof *f);
}

uint64_t hd_file_limit(void) {
  struct rlimit most;
  return getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY ? most.rlim_cur : UINT64_MAX;
}

static bool has_room(int fd, size_t n) {
  const uint64_t most = hd_file_limit();
  struct stat st;
  if (most == UINT64_MAX || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return true;
  const off_t at = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
  return at >= 0 && (uint64_t)at <= most && n <= most - (uint64_t)at;
}

int files_write(int fd, const char *p, size_t n) {
  if (!has_room(fd, n)) return EFBIG;
  while (n) {
    ssize_t w = write(fd, p, n);
    if (w < 0 && errno == EINTR) continue;
    if (w < 0) return errno;
    p += w;
    n -= (size_t)w;
  }
  return 0;
}

hd_status hd_file_write(const char *path, const void *data, size_t len, hd_diag *d) {
  struct stat st;
  if (strcmp(path, "-") == 0) {
    int err = files_write(STDOUT_FILENO, data, len);
    return err ? io_error(d, "stdout", "write", err) : HD_OK;
  }
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
    if (S_ISDIR(st.st_mode)) return io_error(d, path, "write", EISDIR);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return io_error(d, path, "open", errno);
    int err = files_write(fd, data, len);
    if (close(fd) != 0 && !err) err = errno;
    return err ? io_error(d, path, "write", err) : HD_OK;
  }
  hd_buf tmp = {0};
  hd_buf_printf(&tmp, "%s.XXXXXX", path);
  if (tmp.failed) {
    hd_buf_free(&tmp);
    return hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", path);
  }
  int fd = mkstemp(tmp.data);
  if (fd < 0) {
    int err = errno;
    hd_buf_free(&tmp);
    return io_error(d, path, "create", err);
  }
  mode_t mask = umask(0);
  umask(mask);
  int err = files_write(fd, data, len);
  if (!err && fchmod(fd, 0666 & ~mask) != 0) err = errno;
  if (!err && fsync(fd) != 0 && errno != EINVAL && errno != EROFS) err = errno;
  if (close(fd) != 0 && !err) err = errno;
  if (!err && rename(tmp.data, path) != 0) err = errno;
  if (err) unlink(tmp.data);
  hd_buf_free(&tmp);
  return err ? io_error(d, path, "write", err) : HD_OK;
}

hd_status hd_file_append(const char *path, const void *data, size_t len, hd_diag *d) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return io_error(d, path, "open", errno);
  int err = files_write(fd, data, len);
  if (!err && fsync(fd) != 0) err = errno;
  close(fd);
  return err ? io_error(d, path, "write", err) : HD_OK;
}
