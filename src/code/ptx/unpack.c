/* Decompresses a fatbin entry's text. */
#include "ptx/binary.h"

#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

/* Bits of an entry's flags. */
#define FLAG_LZ4 0x2000u  /* one raw LZ4 block */
#define FLAG_ZSTD 0x8000u /* a zstd frame */

#define RELEASE_STEP ((uint64_t)1 << 20) /* fewer bytes are not worth a system call */
#define COPY_STEP ((uint64_t)1 << 20)

void ptx_source_release(ptx_source *s, uint64_t upto) {
  if (!s->mapped || upto < s->released + RELEASE_STEP) return;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  upto -= upto % page;
  /* Only advice: where it is not taken, the bytes merely stay. */
  (void)madvise((void *)(s->data + s->released), upto - s->released, MADV_DONTNEED);
  s->released = upto;
}

void ptx_unpacker_free(ptx_unpacker *u) {
  ZSTD_freeDCtx(u->zstd);
  free(u->text);
  *u = (ptx_unpacker){0};
}

/* Room for a text of `size` bytes and its NUL; the old contents are lost.
 * Doubling costs address space only: pages never touched are never there. */
static hd_status make_room(ptx_unpacker *u, const ptx_source *s, uint64_t size, hd_diag *d) {
  if (size < u->cap) return HD_OK;
  size_t cap = u->cap ? ptx_min(2 * u->cap, PTX_TEXT_MAX) : 1 << 16;
  if (cap <= size) cap = size + 1;
  free(u->text);
  u->text = malloc(cap);
  u->cap = u->text ? cap : 0;
  if (!u->text)
    return ptx_source_fail(s, d, HD_ERR_NOMEM, "out of memory for a module of %" PRIu64 " bytes", size);
  return HD_OK;
}

/* The claims of an entry's header that decide how much memory is taken. */
static hd_status check_sizes(const ptx_source *s, const ptx_entry *e, hd_diag *d) {
  if (e->compressed_size == 0)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " is compressed to nothing", e->offset);
  if (e->compressed_size > e->payload_size)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " has %" PRIu32
                           " compressed bytes in a payload of %" PRIu64,
                           e->offset, e->compressed_size, e->payload_size);
  if (e->decompressed_size > PTX_TEXT_MAX)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " decompresses to %" PRIu64
                           " bytes: the limit is 1 GB",
                           e->offset, e->decompressed_size);
  if (e->decompressed_size > (uint64_t)e->compressed_size * PTX_RATIO_MAX)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " decompresses from %" PRIu32
                           " to %" PRIu64 " bytes: the limit is %d times",
                           e->offset, e->compressed_size, e->decompressed_size, PTX_RATIO_MAX);
  return HD_OK;
}

/* Each returns whether the bytes decompress to exactly what the header claims. */
static bool from_lz4(ptx_unpacker *u, const uint8_t *data, size_t n, size_t size) {
  return n <= LZ4_MAX_INPUT_SIZE &&
         LZ4_decompress_safe((const char *)data, u->text, (int)n, (int)size) == (int)size;
}

static bool from_zstd(ptx_unpacker *u, const uint8_t *data, size_t n, size_t size) {
  return ZSTD_decompressDCtx(u->zstd, u->text, size, data, n) == size;
}

/* The text's length without the padding, and the NUL behind it. */
static hd_status finish(ptx_unpacker *u, const ptx_source *s, uint64_t at, size_t size, size_t *len,
                        hd_diag *d) {
  while (size && u->text[size - 1] == 0) size--;
  if (size == 0) return ptx_source_fail(s, d, HD_ERR_INPUT, "the PTX at offset 0x%" PRIx64 " is empty", at);
  u->text[size] = 0;
  *len = size;
  return HD_OK;
}

hd_status ptx_unpack_plain(ptx_unpacker *u, ptx_source *s, uint64_t begin, uint64_t end, size_t *len,
                           hd_diag *d) {
  if (end - begin > PTX_TEXT_MAX)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the PTX at offset 0x%" PRIx64 " has %" PRIu64 " bytes: the limit is 1 GB", begin,
                           end - begin);
  hd_status rc = make_room(u, s, end - begin, d);
  if (rc) return rc;
  for (uint64_t at = begin; at < end;) {
    uint64_t n = ptx_min(end - at, COPY_STEP);
    memcpy(u->text + (at - begin), s->data + at, n);
    at += n;
    ptx_source_release(s, at);
  }
  return finish(u, s, begin, end - begin, len, d);
}

hd_status ptx_unpack(ptx_unpacker *u, ptx_source *s, const ptx_entry *e, size_t *len, hd_compression *how,
                     hd_diag *d) {
  bool lz4 = e->flags & FLAG_LZ4, zstd = e->flags & FLAG_ZSTD;
  if (lz4 == zstd && (lz4 || e->compressed_size))
    return ptx_source_fail(s, d, HD_ERR_UNSUPPORTED,
                           "the fatbin entry at offset 0x%" PRIx64
                           " is compressed in an unknown way (flags 0x%" PRIx64 ")",
                           e->offset, e->flags);
  if (!lz4 && !zstd) {
    *how = HD_COMP_NONE;
    return ptx_unpack_plain(u, s, e->payload, e->payload + e->payload_size, len, d);
  }
  *how = lz4 ? HD_COMP_LZ4 : HD_COMP_ZSTD;
  hd_status rc = check_sizes(s, e, d);
  if (rc) return rc;
  if (zstd && !u->zstd && !(u->zstd = ZSTD_createDCtx()))
    return ptx_source_fail(s, d, HD_ERR_NOMEM, "out of memory");
  rc = make_room(u, s, e->decompressed_size, d);
  if (rc) return rc;

  const uint8_t *data = s->data + e->payload;
  bool good = lz4 ? from_lz4(u, data, e->compressed_size, e->decompressed_size)
                  : from_zstd(u, data, e->compressed_size, e->decompressed_size);
  if (!good)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " does not decompress to the %" PRIu64
                           " bytes that its header claims",
                           e->offset, e->decompressed_size);
  return finish(u, s, e->offset, e->decompressed_size, len, d);
}
