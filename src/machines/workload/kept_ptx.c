/* PTX kept beside its source, for machines without a compiler of CUDA C. */
#include <stdio.h>
#include <string.h>

#include "workload/workload.h"

/* The first line: the source that the text was compiled from, by its content and that of its headers. */
static const char mark[] = "// heddle: compiled from source ";

static bool path_of(const hd_workload *w, unsigned arch, char out[WL_PATH]) {
  const int n = snprintf(out, WL_PATH, "%s.sm_%u.ptx", w->source, arch);
  return n > 0 && n < WL_PATH;
}

static hd_status digest_of(const hd_workload *w, char out[HD_DIGEST_HEX], hd_diag *d) {
  hd_digest h = hd_digest_begin();
  hd_status st = wl_hash_source(&h, w->source, true, d);
  if (st == HD_OK) hd_digest_hex(&h, out);
  return st;
}

/* The text behind a first line that names this digest; NULL: it is of another source. */
static const char *text_behind(const hd_file *f, const char *digest) {
  const size_t n = strlen(mark), m = strlen(digest);
  if (f->len <= n + m || memcmp(f->data, mark, n) != 0 || memcmp(f->data + n, digest, m) != 0 ||
      f->data[n + m] != '\n')
    return NULL;
  return f->data + n + m + 1;
}

hd_status wl_kept_read(const hd_workload *w, unsigned arch, hd_buf *out, hd_diag *d) {
  char path[WL_PATH], digest[HD_DIGEST_HEX];
  hd_file f;
  if (!path_of(w, arch, path) || hd_file_open(path, &f, NULL) != HD_OK)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "no text is kept");
  hd_status st = digest_of(w, digest, d);
  const char *text = st == HD_OK ? text_behind(&f, digest) : NULL;
  if (text)
    hd_buf_put(out, text, (size_t)(f.data + f.len - text));
  else if (st == HD_OK)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "%s was compiled from another source", path);
  hd_file_close(&f);
  return st;
}

hd_status hd_workload_keep_ptx(const hd_workload *w, unsigned arch, hd_diag *d) {
  char path[WL_PATH], digest[HD_DIGEST_HEX];
  const char *compiler;
  hd_buf text = {0}, out = {0};
  if (!path_of(w, arch, path)) return hd_fail(d, HD_ERR_USAGE, "the path of %s is too long", w->name);
  hd_status st = hd_workload_ptx(w, arch, &text, &compiler, d);
  const bool compiled = st == HD_OK && strcmp(compiler, "ptx") != 0;
  if (compiled) st = digest_of(w, digest, d);
  if (compiled && st == HD_OK) {
    hd_buf_printf(&out, "%s%s\n", mark, digest);
    hd_buf_put(&out, text.data, text.len);
    st = out.failed ? hd_nomem(d) : hd_file_write(path, out.data, out.len, d);
  }
  hd_buf_free(&text);
  hd_buf_free(&out);
  return st;
}
