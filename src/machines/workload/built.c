/* Built files, kept by the hash of everything they were built from.
 *
 * An entry is the file as built, followed by a seal: a magic number, and the length and the hash of the bytes
 * before it. A shared library loads with the seal behind it, since loaders do not look past the end that the
 * headers give. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/trusted.h"
#include "workload/workload.h"

/* ---- Sources and the files they include ----------------------------------------------------- */

enum { MAX_INCLUDES = 256 };

typedef struct include_walk {
  hd_digest *hash;
  hd_arena *arena;
  const char *seen[MAX_INCLUDES];
  size_t n;
} include_walk;

/* The name in a line `#include "NAME"`, or NULL. */
static const char *quoted_include(const char *line, const char *end, size_t *n) {
  static const char word[] = "include";
  const char *p = line;
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  if (p == end || *p++ != '#') return NULL;
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  if ((size_t)(end - p) < sizeof word || memcmp(p, word, sizeof word - 1) != 0) return NULL;
  p += sizeof word - 1;
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  if (p == end || *p++ != '"') return NULL;
  const char *close = memchr(p, '"', (size_t)(end - p));
  if (!close) return NULL;
  *n = (size_t)(close - p);
  return p;
}

static bool seen(const include_walk *k, const char *path) {
  for (size_t i = 0; i < k->n; i++)
    if (strcmp(k->seen[i], path) == 0) return true;
  return false;
}

/* Hash the file, then put its includes that were not seen yet behind the list. */
static void walk_text(include_walk *k, const char *path, const hd_file *f) {
  hd_digest_bytes(k->hash, f->data, f->len);
  const char *slash = strrchr(path, '/');
  int folder = slash ? (int)(slash - path) + 1 : 0;
  for (const char *p = f->data, *end = p + f->len; p < end;) {
    const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
    size_t n;
    const char *name = quoted_include(p, stop, &n);
    if (name && n && n < WL_PATH && k->n < MAX_INCLUDES) {
      char *file = name[0] == '/' ? hd_arena_strndup(k->arena, name, n)
                                  : hd_arena_printf(k->arena, "%.*s%.*s", folder, path, (int)n, name);
      if (file && !seen(k, file)) k->seen[k->n++] = file;
    }
    p = stop + 1;
  }
}

hd_status wl_hash_source(hd_digest *h, const char *path, bool anywhere, hd_diag *d) {
  hd_arena arena;
  const char *slash = anywhere ? strrchr(path, '/') : NULL;
  const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
  hd_arena_init(&arena);
  include_walk *k = calloc(1, sizeof *k);
  if (!k) return hd_nomem(d);
  k->hash = h;
  k->arena = &arena;
  k->seen[k->n++] = path;
  hd_status st = HD_OK;
  for (size_t i = 0; i < k->n && st == HD_OK; i++) {
    hd_file f;
    hd_digest_text(h, k->seen[i] + (strncmp(k->seen[i], path, folder) == 0 ? folder : 0));
    if ((i == 0 || wl_is_file(k->seen[i])) && hd_file_open(k->seen[i], &f, i ? NULL : d) == HD_OK) {
      walk_text(k, k->seen[i], &f);
      hd_file_close(&f);
    } else if (i == 0) {
      st = HD_ERR_IO;
    } /* an include that is not there may be one of the compiler's own, or compiled out */
  }
  free(k);
  hd_arena_free(&arena);
  return st;
}

/* ---- Paths --------------------------------------------------------------------------------- */

void wl_cache_path(hd_digest key, const char *extension, char *out, size_t cap) {
  char folder[WL_PATH], name[HD_DIGEST_HEX];
  hd_cache_folder(folder, sizeof folder);
  int n = snprintf(out, cap, "%s/%s.%s", folder, hd_digest_hex(&key, name), extension);
  if (!folder[0] || n < 0 || (size_t)n >= cap) out[0] = 0;
}

/* ---- Entries ----------------------------------------------------------------------------------- */

typedef struct seal {
  char magic[8];
  uint64_t len;
  uint64_t hash[2];
} seal;

static seal seal_of(const void *data, size_t len) {
  hd_digest h = hd_digest_begin();
  hd_digest_bytes(&h, data, len);
  seal s = {.len = len, .hash = {h.high, h.low}};
  memcpy(s.magic, "\0heddle1", sizeof s.magic);
  return s;
}

bool wl_cache_open(const char *path, hd_file *f, size_t *len) {
  hd_buf b = {0};
  if (!path[0] || hd_trusted_read(path, &b, NULL) != HD_OK) return false;
  *f = (hd_file){.data = b.data, .len = b.len};
  if (f->len >= sizeof(seal)) {
    *len = f->len - sizeof(seal);
    seal want = seal_of(f->data, *len);
    if (memcmp(f->data + *len, &want, sizeof want) == 0) return true;
  }
  hd_file_close(f);
  unlink(path);
  return false;
}

bool wl_cache_store(const char *path, const void *data, size_t len) {
  hd_buf b = {0};
  seal s = seal_of(data, len);
  hd_buf_put(&b, data, len);
  hd_buf_put(&b, (const char *)&s, sizeof s);
  bool ok = path[0] && !b.failed && hd_trusted_write(path, b.data, b.len, NULL) == HD_OK;
  hd_buf_free(&b);
  return ok;
}

hd_status wl_header_write(const wl_header *h, const char *folder, hd_diag *d) {
  char path[WL_PATH + 64];
  snprintf(path, sizeof path, "%s/%s", folder, h->name);
  return hd_file_write(path, h->text, h->len, d);
}
