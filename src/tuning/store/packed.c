#include "store/packed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PLANES = 4, LEVEL = 9 };

void hd_verdict_table(const uint32_t *task, uint64_t n, char out[HD_DIGEST_HEX]) {
  hd_digest h = hd_digest_begin();
  hd_digest_bytes(&h, task, n * sizeof *task);
  hd_digest_hex(&h, out);
}

/* ---- Bijections ------------------------------------------------------------------- */

static hd_status check_bijection(const uint32_t *task, uint64_t n, hd_status bad, hd_diag *d) {
  uint64_t *seen = calloc(n / 64 + 1, sizeof *seen);
  hd_status st = seen ? HD_OK : hd_nomem(d);
  for (uint64_t i = 0; st == HD_OK && i < n; i++) {
    uint64_t bit = UINT64_C(1) << task[i] % 64, *word = &seen[task[i] < n ? task[i] / 64 : 0];
    if (task[i] >= n)
      st = hd_fail(d, bad, "the table's entry %" PRIu64 " is %" PRIu32 ", of %" PRIu64 " tasks", i, task[i],
                   n);
    else if (*word & bit)
      st = hd_fail(d, bad, "the table names task %" PRIu32 " twice", task[i]);
    else
      *word |= bit;
  }
  free(seen);
  return st;
}

static hd_status check_size(uint64_t n, hd_status bad, hd_diag *d) {
  return n && n <= HD_MOST_KEPT
             ? HD_OK
             : hd_fail(d, bad, "a table of %" PRIu64 " tasks is not kept: 1 to %" PRIu64 " are", n,
                       HD_MOST_KEPT);
}

/* ---- Packing ---------------------------------------------------------------------------- */

static uint32_t fold(uint32_t difference) { return difference << 1 ^ (difference >> 31 ? UINT32_MAX : 0); }
static uint32_t unfold(uint32_t v) { return v >> 1 ^ (v & 1 ? UINT32_MAX : 0); }

hd_status packed_make(const uint32_t *task, uint64_t n, hd_buf *out, hd_diag *d) {
  hd_status st = check_size(n, HD_ERR_UNSUPPORTED, d);
  if (st == HD_OK) st = check_bijection(task, n, HD_ERR_REFUSED, d);
  if (st != HD_OK) return st;
  uint8_t *planes = malloc(PLANES * n);
  size_t most = ZSTD_compressBound(PLANES * n);
  if (!planes || !hd_buf_reserve(out, most)) {
    free(planes);
    return hd_nomem(d);
  }
  uint32_t last = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t v = fold(task[i] - last);
    for (unsigned k = 0; k < PLANES; k++) planes[k * n + i] = (uint8_t)(v >> 8 * k);
    last = task[i];
  }
  size_t len = ZSTD_compress(out->data + out->len, most, planes, PLANES * n, LEVEL);
  free(planes);
  if (ZSTD_isError(len)) return hd_fail(d, HD_ERR_NOMEM, "cannot pack a table: %s", ZSTD_getErrorName(len));
  out->len += len;
  return HD_OK;
}

static hd_status unpack(const void *bytes, size_t len, uint64_t n, uint32_t *task, hd_diag *d) {
  uint8_t *planes = malloc(PLANES * n);
  if (!planes) return hd_nomem(d);
  size_t got = ZSTD_decompress(planes, PLANES * n, bytes, len);
  hd_status st = got == PLANES * n
                     ? HD_OK
                     : hd_fail(d, HD_ERR_INPUT, "a packed table does not hold its %" PRIu64 " tasks", n);
  uint32_t last = 0;
  for (uint64_t i = 0; st == HD_OK && i < n; i++) {
    uint32_t v = 0;
    for (unsigned k = 0; k < PLANES; k++) v |= (uint32_t)planes[k * n + i] << 8 * k;
    task[i] = last += unfold(v);
  }
  free(planes);
  return st;
}

hd_status packed_read(const void *bytes, size_t len, uint64_t n, const char *name, uint32_t **out,
                      hd_diag *d) {
  *out = NULL;
  hd_status st = check_size(n, HD_ERR_INPUT, d);
  /* The size in the frame's header is checked first: nothing is allocated for a size that is not the table's.
   */
  if (st == HD_OK && ZSTD_getFrameContentSize(bytes, len) != PLANES * n)
    st = hd_fail(d, HD_ERR_INPUT, "a packed table does not hold its %" PRIu64 " tasks", n);
  if (st != HD_OK) return st;
  char own[HD_DIGEST_HEX];
  uint32_t *task = malloc(n * sizeof *task);
  if (!task) return hd_nomem(d);
  st = unpack(bytes, len, n, task, d);
  if (st == HD_OK) st = check_bijection(task, n, HD_ERR_INPUT, d);
  if (st == HD_OK) hd_verdict_table(task, n, own);
  if (st == HD_OK && strcmp(own, name) != 0)
    st = hd_fail(d, HD_ERR_INPUT, "the table %.40s is another one: its entries are those of %s", name, own);
  if (st == HD_OK)
    *out = task;
  else
    free(task);
  return st;
}

/* ---- Base 64 ---------------------------------------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void packed_to_text(const void *bytes, size_t len, hd_buf *out) {
  const uint8_t *p = bytes;
  for (size_t i = 0; i < len; i += 3) {
    size_t n = len - i < 3 ? len - i : 3;
    uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
    for (unsigned k = 0; k < 4; k++) hd_buf_putc(out, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
  }
}

static int value_of(char c) {
  const char *at = c ? memchr(digits, c, sizeof digits - 1) : NULL;
  return at ? (int)(at - digits) : -1;
}

bool packed_from_text(const char *text, size_t len, hd_buf *out) {
  if (len % 4 || !hd_buf_reserve(out, len / 4 * 3)) return false;
  for (size_t i = 0; i < len; i += 4) {
    uint32_t v = 0;
    unsigned n = 4;
    if (i + 4 == len) n -= (text[i + 3] == '=') + (text[i + 3] == '=' && text[i + 2] == '=');
    for (unsigned k = 0; k < n; k++) {
      int digit = value_of(text[i + k]);
      if (digit < 0) return false;
      v |= (uint32_t)digit << (18 - 6 * k);
    }
    /* Bits that no byte holds are 0, so that each sequence of bytes has one text. */
    if (n < 4 && v & ((UINT32_C(1) << 8 * (4 - n)) - 1)) return false;
    for (unsigned k = 0; k + 1 < n; k++) hd_buf_putc(out, (char)(v >> (16 - 8 * k)));
  }
  return !out->failed;
}
