/* ar archives, as ar(5) has them: a magic, then members, each behind a header
 * of 60 bytes of text and padded to an even offset. */
#include "ptx/binary.h"

#include <ar.h>
#include <inttypes.h>
#include <string.h>

void ptx_archive_begin(ptx_archive *a) { *a = (ptx_archive){.pos = sizeof PTX_ARCHIVE_MAGIC - 1}; }

/* The length of a field without the spaces that fill it up. */
static size_t field_len(const char *field, size_t n) {
  while (n && field[n - 1] == ' ') n--;
  return n;
}

/* A member's name stands in one of three places: in the header ("NAME/", or
 * without the slash), in the table of long names ("/OFFSET", GNU), or before
 * the contents ("#1/LENGTH", BSD; *m then loses it from its contents). */
static void find_name(const ptx_source *s, const ptx_archive *a, const struct ar_hdr *h, ptx_member *m) {
  size_t len = field_len(h->ar_name, sizeof h->ar_name);
  uint64_t number = 0;
  m->name = h->ar_name;
  m->name_len = (int)len;
  if (len > 3 && memcmp(h->ar_name, "#1/", 3) == 0 &&
      hd_parse_u64(h->ar_name + 3, len - 3, m->end - m->begin, &number)) {
    m->name = (const char *)s->data + m->begin;
    m->name_len = (int)strnlen(m->name, ptx_min(number, INT16_MAX));
    m->begin += number;
  } else if (len > 1 && h->ar_name[0] == '/' &&
             hd_parse_u64(h->ar_name + 1, len - 1, a->names_end - a->names_begin, &number)) {
    uint64_t begin = a->names_begin + number;
    size_t room = ptx_min(a->names_end - begin, INT16_MAX);
    m->name = (const char *)s->data + begin;
    const char *nl = memchr(m->name, '\n', room);
    m->name_len = (int)(nl ? (size_t)(nl - m->name) : room);
  }
  if (m->name_len > 1 && m->name[m->name_len - 1] == '/') m->name_len--;
}

hd_status ptx_archive_next(const ptx_source *s, ptx_archive *a, ptx_member *m, bool *more, hd_diag *d) {
  *more = false;
  uint64_t at = a->pos;
  if (at >= s->len) return HD_OK;
  a->pos = s->len; /* unless the header proves good */

  const struct ar_hdr *h = (const struct ar_hdr *)(s->data + at); /* all chars: no alignment */
  if (s->len - at < sizeof *h)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the archive ends inside the member header at offset 0x%" PRIx64, at);
  uint64_t size;
  if (memcmp(h->ar_fmag, ARFMAG, sizeof h->ar_fmag) != 0 ||
      !hd_parse_u64(h->ar_size, field_len(h->ar_size, sizeof h->ar_size), INT64_MAX, &size))
    return ptx_source_fail(s, d, HD_ERR_INPUT, "no archive member header at offset 0x%" PRIx64, at);
  m->begin = at + sizeof *h;
  if (size > s->len - m->begin)
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the archive member at offset 0x%" PRIx64 " has %" PRIu64
                           " bytes, of which the file holds %" PRIu64,
                           at, size, s->len - m->begin);
  m->end = m->begin + size;
  a->pos = m->end + (m->end & 1);
  if (memcmp(h->ar_name, "//              ", sizeof h->ar_name) == 0) {
    a->names_begin = m->begin;
    a->names_end = m->end;
  }
  find_name(s, a, h, m);
  *more = true;
  return HD_OK;
}
