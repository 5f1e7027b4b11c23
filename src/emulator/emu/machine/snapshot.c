/* emu/machine/snapshot.c: device memory as it was, to be compared with what it is.
 *
 * The system knows which pages of the file were ever touched, so that memory that is allocated and never used
 * costs nothing here.
 */
#include "emu/machine/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes that lie together, by their place in the file; in the copy they follow each other. */
typedef struct extent {
  uint64_t at, bytes;
} extent;

struct hd_emu_snapshot {
  hd_emu *emu;
  uint64_t layout, bytes;
  HD_VEC(extent) extents;
  char *copy;
};

/* The first touched bytes of [from, end). False: there are none. */
static bool next_extent(const hd_emu *e, uint64_t from, uint64_t end, extent *out) {
  const off_t at = from < end ? lseek(e->file, (off_t)from, SEEK_DATA) : -1;
  if (at < 0 || (uint64_t)at >= end) return false;
  const off_t hole = lseek(e->file, at, SEEK_HOLE);
  const uint64_t hi = hole < at || (uint64_t)hole > end ? end : (uint64_t)hole;
  *out = (extent){(uint64_t)at, hi - (uint64_t)at};
  return true;
}

static hd_status measure(hd_emu_snapshot *s, uint64_t most, hd_diag *d) {
  extent x = {0};
  while (next_extent(s->emu, x.at + x.bytes, s->emu->committed, &x)) {
    s->bytes += x.bytes;
    if (s->bytes > most)
      return hd_fail(d, HD_ERR_NOMEM, "device memory holds more than the %" PRIu64 " bytes to be copied",
                     most);
    if (!hd_vec_push(&s->extents, x)) return hd_nomem(d);
  }
  s->copy = malloc(s->bytes + 1);
  return s->copy ? HD_OK : hd_nomem(d);
}

hd_status hd_emu_snapshot_take(hd_emu *e, uint64_t most, hd_emu_snapshot **out, hd_diag *d) {
  *out = NULL;
  if (e->file < 0) return hd_fail(d, HD_ERR_USAGE, "device memory lies in no file");
  hd_emu_snapshot *s = calloc(1, sizeof *s);
  if (!s) return hd_nomem(d);
  s->emu = e;
  s->layout = e->layout;
  const hd_status st = measure(s, most, d);
  if (st != HD_OK) {
    hd_emu_snapshot_free(s);
    return st;
  }
  char *to = s->copy;
  for (size_t k = 0; k < s->extents.n; k++) {
    memcpy(to, e->memory + s->extents.data[k].at, s->extents.data[k].bytes);
    to += s->extents.data[k].bytes;
  }
  *out = s;
  return HD_OK;
}

void hd_emu_snapshot_free(hd_emu_snapshot *s) {
  if (!s) return;
  hd_vec_free(&s->extents);
  free(s->copy);
  free(s);
}

uint64_t hd_emu_snapshot_bytes(const hd_emu_snapshot *s) { return s->bytes; }

/* Whether the same pages of [lo, hi) are touched, and hold the same. */
static bool is_same(const hd_emu_snapshot *s, uint64_t lo, uint64_t hi) {
  const char *was = s->copy;
  uint64_t seen = lo;
  extent now;
  for (size_t k = 0; k < s->extents.n; k++) {
    const extent x = s->extents.data[k];
    const uint64_t from = x.at > lo ? x.at : lo, to = x.at + x.bytes < hi ? x.at + x.bytes : hi;
    if (from < to) {
      if (!next_extent(s->emu, seen, hi, &now) || now.at != from || now.bytes != to - from ||
          memcmp(was + (from - x.at), s->emu->memory + from, to - from) != 0)
        return false;
      seen = to;
    }
    was += x.bytes;
  }
  return !next_extent(s->emu, seen, hi, &now);
}

bool hd_emu_snapshot_same(const hd_emu_snapshot *s) {
  return s->layout == s->emu->layout && is_same(s, 0, s->emu->committed);
}

bool hd_emu_snapshot_same_at(const hd_emu_snapshot *s, uint64_t address, uint64_t bytes) {
  const uint64_t lo = address - EMU_GLOBAL_BASE;
  return is_same(s, lo, lo + bytes);
}

uint64_t hd_emu_changes(const hd_emu *e) { return atomic_load(&e->changes); }
