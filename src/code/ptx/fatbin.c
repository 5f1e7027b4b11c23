/* Fatbins: regions of entries, as nvcc and fatbinary write them.
 *
 * The format is not documented; the two headers below are what the libraries
 * of CUDA 13.0 and the output of nvcc 13.0 hold. A section holds any number of
 * regions one behind the other, each aligned to 8 bytes or more, with zeros
 * between.
 */
#include "ptx/binary.h"

#include <inttypes.h>
#include <string.h>

#define FATBIN_VERSION 1
#define FATBIN_ALIGN 8
#define SEARCH_STEP ((uint64_t)1 << 20) /* bytes searched between two releases of the source */

typedef struct region_header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size; /* of this header */
  uint64_t size;        /* of the entries that follow */
} region_header;

typedef struct entry_header {
  uint16_t kind;
  uint16_t version;         /* 0x101 */
  uint32_t header_size;     /* this header, then options and name; the payload follows */
  uint64_t payload_size;    /* padded to 8 bytes */
  uint32_t compressed_size; /* without the padding; 0 when not compressed */
  uint32_t options;         /* offset in the header of ptxas options, 0: none */
  uint16_t minor, major;    /* of the PTX ISA, or of the cubin's ABI */
  uint32_t sm;
  uint32_t name, name_len; /* offset in the header of the source's name, 0: none */
  uint64_t flags;          /* 0x1 64-bit, 0x2 debug, 0x10 Linux, FLAG_...; the rest: see unpack.c */
  uint64_t kind_specific;
  uint64_t decompressed_size; /* 0 when not compressed */
} entry_header;

_Static_assert(sizeof(region_header) == 16 && sizeof(entry_header) == 64, "as the files have them");

enum {
  KIND_PTX = 1,
  KIND_CODE = 2, /* a cubin */
  /* 8 is NVVM IR for linking */
};

/* Bits of an entry's flags: it is for sm_90a, or for sm_100f. */
#define FLAG_EXACT UINT64_C(0x100000)
#define FLAG_FAMILY UINT64_C(0x200000)

/* For what an entry with these fields in its header is. */
static hd_target target_of(uint32_t sm, uint64_t flags) {
  return (hd_target){sm, flags & FLAG_EXACT    ? HD_TARGET_EXACT
                         : flags & FLAG_FAMILY ? HD_TARGET_FAMILY
                                               : HD_TARGET_PLAIN};
}

void ptx_fatbin_begin(ptx_fatbin *f, uint64_t base, ptx_span span) {
  *f = (ptx_fatbin){.base = base, .pos = span.begin, .end = span.end, .strict = span.fatbins};
}

/* Forwards to where a region may start. */
static void align(ptx_fatbin *f) {
  uint64_t past = (f->pos - f->base) % FATBIN_ALIGN;
  if (past) f->pos += ptx_min(FATBIN_ALIGN - past, f->end - f->pos);
}

/* Whether the region header at f->pos is one to go into. Sets *rc when it is
 * a damaged one that must be reported. Where anything may lie, what does not
 * fit in every way is no region but other data. */
static bool accept_region(const ptx_source *s, ptx_fatbin *f, hd_status *rc, hd_diag *d) {
  region_header h = {0};
  uint64_t room = f->end - f->pos;
  memcpy(&h, s->data + f->pos, ptx_min(sizeof h, room));
  bool known = h.version == FATBIN_VERSION && h.header_size == sizeof h;
  if (!f->strict) {
    if (!known || room < sizeof h || h.size > room - sizeof h) return false;
  } else if (room < sizeof h) {
    *rc =
        ptx_source_fail(s, d, HD_ERR_INPUT, "the fatbin header at offset 0x%" PRIx64 " is cut short", f->pos);
    return false;
  } else if (!known) {
    *rc = ptx_source_fail(s, d, HD_ERR_UNSUPPORTED,
                          "the fatbin at offset 0x%" PRIx64 " is of version %u with a header of %u bytes; "
                          "only version 1 with 16 is read",
                          f->pos, h.version, h.header_size);
    return false;
  }
  f->pos += sizeof h;
  f->cut = h.size > f->end - f->pos;
  f->region_end = f->cut ? f->end : f->pos + h.size;
  f->in_region = true;
  f->lost = false;
  return true;
}

/* Moves to the next word that deserves a look: one that holds the magic, or,
 * where only regions and padding may be, any that is not zero. */
static bool seek_word(ptx_source *s, ptx_fatbin *f) {
  bool any = f->strict && !f->lost;
  while (f->end - f->pos >= FATBIN_ALIGN) {
    uint64_t words = ptx_min(f->end - f->pos, SEARCH_STEP) / FATBIN_ALIGN;
    const uint8_t *p = s->data + f->pos;
    for (uint64_t i = 0; i < words; i++) {
      uint64_t word;
      memcpy(&word, p + i * FATBIN_ALIGN, sizeof word);
      if ((uint32_t)word != PTX_FATBIN_MAGIC && !(any && word)) continue;
      f->pos += i * FATBIN_ALIGN;
      return true;
    }
    f->pos += words * FATBIN_ALIGN;
    ptx_source_release(s, f->pos);
  }
  return false;
}

/* Searches for the next region: in_region is false when there is none. */
static hd_status find_region(ptx_source *s, ptx_fatbin *f, hd_diag *d) {
  align(f);
  while (seek_word(s, f)) {
    uint32_t magic;
    memcpy(&magic, s->data + f->pos, sizeof magic);
    if (magic != PTX_FATBIN_MAGIC) {
      f->lost = true;
      return ptx_source_fail(s, d, HD_ERR_INPUT, "no fatbin header at offset 0x%" PRIx64, f->pos);
    }
    hd_status rc = HD_OK;
    if (accept_region(s, f, &rc, d)) return HD_OK;
    f->pos += FATBIN_ALIGN;
    if (rc) {
      f->lost = true;
      return rc;
    }
  }
  uint64_t tail = f->pos;
  f->pos = f->end;
  for (uint64_t i = tail; i < f->end && f->strict && !f->lost; i++)
    if (s->data[i])
      return ptx_source_fail(s, d, HD_ERR_INPUT, "the fatbin header at offset 0x%" PRIx64 " is cut short",
                             tail);
  return HD_OK;
}

/* The entry at f->pos is damaged beyond telling where it ends. */
static void lose(ptx_fatbin *f) {
  f->in_region = false;
  f->lost = true;
  f->pos += ptx_min(FATBIN_ALIGN, f->end - f->pos);
}

/* Reads the entry at f->pos, of any kind, and moves behind it. */
static hd_status next_entry(const ptx_source *s, ptx_fatbin *f, entry_header *h, ptx_entry *e, hd_diag *d) {
  uint64_t at = f->pos, room = f->region_end - at;
  if (room < sizeof *h) {
    lose(f);
    return ptx_source_fail(s, d, HD_ERR_INPUT, "the fatbin entry header at offset 0x%" PRIx64 " is cut short",
                           at);
  }
  memcpy(h, s->data + at, sizeof *h);
  if (h->header_size < sizeof *h || h->header_size > room) {
    lose(f);
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " has a header of %" PRIu32
                           " bytes: it is at least %zu, and %" PRIu64 " are left",
                           at, h->header_size, sizeof *h, room);
  }
  if (h->payload_size > room - h->header_size) {
    lose(f);
    return ptx_source_fail(s, d, HD_ERR_INPUT,
                           "the fatbin entry at offset 0x%" PRIx64 " holds %" PRIu64
                           " bytes, but only %" PRIu64 " are left",
                           at, h->payload_size, room - h->header_size);
  }
  *e = (ptx_entry){.offset = at,
                   .payload = at + h->header_size,
                   .payload_size = h->payload_size,
                   .compressed_size = h->compressed_size,
                   .decompressed_size = h->decompressed_size,
                   .flags = h->flags,
                   .target = target_of(h->sm, h->flags),
                   .isa = h->major < 100 && h->minor < 10 ? h->major * 10u + h->minor : 0,
                   .code = h->kind == KIND_CODE};
  f->pos = e->payload + e->payload_size;
  return HD_OK;
}

hd_status ptx_fatbin_next(ptx_source *s, ptx_fatbin *f, ptx_entry *e, bool *more, hd_diag *d) {
  *more = false;
  for (;;) {
    while (f->in_region && f->pos < f->region_end) {
      ptx_source_release(s, f->pos);
      entry_header h = {0};
      hd_status rc = next_entry(s, f, &h, e, d);
      if (rc) return rc;
      f->others += h.kind != KIND_PTX;
      if (h.kind != KIND_PTX && !(f->code && h.kind == KIND_CODE)) continue;
      *more = true;
      return HD_OK;
    }
    if (f->in_region) {
      f->in_region = false;
      if (f->cut)
        return ptx_source_fail(s, d, HD_ERR_INPUT, "the fatbin is cut short at offset 0x%" PRIx64, f->pos);
    }
    hd_status rc = find_region(s, f, d);
    if (rc) return rc;
    if (!f->in_region) return HD_OK;
  }
}
