/* Describes in words how a warp's addresses of one access spread over memory. */
#include <inttypes.h>

#include "report/analysis.h"

enum { SECTOR = 32 };

static const char UNKNOWN[] = "unknown", ONE[] = "one-address", COALESCED[] = "coalesced",
                  PARTLY[] = "partly-coalesced", UNCOALESCED[] = "uncoalesced", WHOLE_WARP[] = "whole-warp";

static bool is_number(const hd_analysis *a, hd_poly p, int64_t *out) {
  const hd_polynomial *q = &a->polys[p];
  *out = 0;
  if (q->n > 1 || (q->n && a->terms[q->first].product)) return false;
  if (q->n) *out = a->terms[q->first].coefficient;
  return true;
}

/* " bytes apart", for neighbours along x. */
static void put_distance(const hd_analysis *a, hd_poly stride, hd_buf *out) {
  hd_buf_puts(out, "neighbouring threads are ");
  hd_poly_print(a, stride, out);
  hd_buf_puts(out, " bytes apart");
}

static const char *by_stride(const hd_analysis *a, const hd_site *s, hd_poly stride, hd_buf *out) {
  int64_t apart;
  bool number = is_number(a, stride, &apart);
  uint64_t distance = apart < 0 ? -(uint64_t)apart : (uint64_t)apart;
  if (number && !distance) {
    hd_buf_puts(out, "one address for neighbouring threads");
    return ONE;
  }
  if (number && s->bytes && distance <= s->bytes) {
    hd_buf_puts(out, "coalesced");
    return COALESCED;
  }
  bool partly = number && s->bytes && distance < SECTOR;
  hd_buf_puts(out, partly ? "partly coalesced: " : "uncoalesced: ");
  put_distance(a, stride, out);
  return partly ? PARTLY : UNCOALESCED;
}

/* Of a warp whose addresses are known. */
static const char *by_sectors(const hd_analysis *a, const hd_site *s, const hd_coalescing *c,
                              const hd_poly *stride, hd_buf *out) {
  uint32_t least = (c->bytes + SECTOR - 1) / SECTOR;
  if (c->lanes > 1 && c->bytes <= s->bytes) {
    hd_buf_puts(out, "one address for the warp");
    return ONE;
  }
  if (c->sectors <= least) {
    hd_buf_puts(out, "coalesced");
    return COALESCED;
  }
  bool partly = c->sectors < 4 * least;
  hd_buf_printf(out, "%s: %u sectors a warp where %u would do", partly ? "partly coalesced" : "uncoalesced",
                c->sectors, least);
  int64_t apart;
  if (stride && !(is_number(a, *stride, &apart) && !apart)) {
    hd_buf_puts(out, ", ");
    put_distance(a, *stride, out);
  }
  return partly ? PARTLY : UNCOALESCED;
}

static const char *unknown(const hd_site *s, hd_buf *out) {
  hd_buf_printf(out, "unknown: %s",
                s->why ? hd_why_text((hd_why)s->why) : "the distance of neighbouring threads varies");
  if (s->why && s->why_line) hd_buf_printf(out, ", line %u", s->why_line);
  return UNKNOWN;
}

const char *report_pattern(hd_analysis *a, uint32_t site, const hd_point *at, hd_buf *out) {
  const hd_site *s = &a->sites[site];
  hd_poly stride;
  if (s->whole_warp) {
    hd_buf_puts(out, "one access by the whole warp");
    return WHOLE_WARP;
  }
  bool linear =
      s->level < HD_LEVEL_DATA && hd_poly_stride(a, s->address, hd_find_symbol(a, HD_V_TID, 0, 0), &stride);
  hd_coalescing c = at ? hd_site_coalescing(a, site, at, 0) : (hd_coalescing){0};
  if (c.known) return by_sectors(a, s, &c, linear ? &stride : NULL, out);
  return linear ? by_stride(a, s, stride, out) : unknown(s, out);
}
