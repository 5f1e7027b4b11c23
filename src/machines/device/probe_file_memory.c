/* The keys of a GPU file that say how SMs share L2, and what L2 and DRAM do beside serving loads. A key whose
 * figures are missing, or say nothing, is left out. */
#include <math.h>
#include <stdio.h>

#include "device/probe_file.h"

enum { REPEATS = HD_WARP - 1, MIX_LINES = 4 * HD_WARP };

static void put_real(hd_buf *b, const char *key, double v, const char *how) {
  if (v > 0 && isfinite(v)) hd_buf_printf(b, "%s = %.4g  # measured: %s\n", key, v, how);
}

static void put_whole(hd_buf *b, const char *key, double v, const char *how) {
  if (v >= 1 && isfinite(v)) hd_buf_printf(b, "%s = %.0f  # measured: %s\n", key, v, how);
}

/* ---- Parts -------------------------------------------------------------------------------- */

uint32_t probe_file_parts(const hd_probe_result *r) {
  return hd_probe_value(r, "L2") == HD_L2_MOST_PARTS ? HD_L2_MOST_PARTS : 1;
}

bool probe_file_has_gpcs(const hd_probe_result *r) {
  const double gpcs = hd_probe_value(r, "SMs that share a rate");
  return gpcs >= probe_file_parts(r) && gpcs <= HD_MOST_GPCS;
}

void probe_put_gpcs(const hd_probe_result *r, hd_buf *b) {
  const uint32_t parts = probe_file_parts(r);
  if (probe_file_has_gpcs(r))
    hd_buf_printf(b, "gpcs = %.0f  # measured: groups of SMs that slow each other\n",
                  hd_probe_value(r, "SMs that share a rate"));
  else if (parts > 1)
    hd_buf_printf(b, "gpcs = %u  # not measured: as many as L2 has parts\n", parts);
}

/* The rate of SMs that read each its own; 0: not measured. */
double probe_file_l2_rate(const hd_probe_result *r) {
  const double v = hd_probe_value(r, "L2 to all SMs, each its own");
  return v >= 1 ? v : 0;
}

/* SMs whose requests are one: the most, next to each other in a GPC, that get nearly as many times as much
 * from L2 as SMs that read each its own. *most: what SMs get whose requests are one, or nearly so. */
static uint32_t together(const hd_probe_result *r, double *most) {
  const double own = probe_file_l2_rate(r), complete = 0.8;
  uint32_t n = 1;
  *most = 0;
  for (uint32_t side = 2; side <= 16; side *= 2) {
    char name[88];
    snprintf(name, sizeof name, "L2 to all SMs, %u side by side the same", side);
    const double rate = hd_probe_value(r, name);
    *most = fmax(*most, rate);
    if (side == 2 * n && rate >= complete * side * own) n = side;
  }
  return n;
}

static void put_parts(const hd_probe_result *r, hd_buf *b) {
  if (isnan(hd_probe_value(r, "L2"))) return;
  const uint32_t parts = probe_file_parts(r);
  hd_buf_printf(b, "parts = %u  # measured: %s\n", parts,
                parts > 1 ? "lines that one SM has read come later to some others, once"
                          : "lines that one SM has read come to all others as soon as once more");
  if (parts > 1)
    put_whole(b, "far_latency", hd_probe_value(r, "L2, a line from the other part, later by"),
              "such a line comes so much later");
}

static void put_sharing(const hd_probe_result *r, hd_buf *b) {
  double most;
  if (!(probe_file_l2_rate(r) > 0) || isnan(hd_probe_value(r, "L2 to all SMs, 2 side by side the same")))
    return;
  const uint32_t n = together(r, &most);
  hd_buf_printf(b, "sms_together = %u  # measured: so many side by side get nearly as many times as much\n",
                n);
  if (n > 1) put_real(b, "sms_bytes_per_cycle", most, "SMs side by side read the same");
}

/* ---- Requests ----------------------------------------------------------------------------- */

/* A warp's additions to one word are one to a sector, and 31 more. */
static void put_repeats(const hd_probe_result *r, double mhz, hd_buf *b) {
  const double sectors = hd_probe_value(r, "L2 add one sector a line, 64 warps, 4 at once") * HD_WARP / mhz,
               words = hd_probe_value(r, "L2 add one word a warp, 64 warps, 4 at once") / mhz;
  if (sectors > words && words > 0)
    put_real(b, "atomic_repeats_per_cycle", REPEATS / (1 / words - 1 / sectors),
             "additions of warps to a word each");
}

/* Loads that miss L1 have a way to L2 of their own where they take no longer among stores. */
static void put_ways(const hd_probe_result *r, hd_buf *b) {
  const double loads = hd_probe_value(r, "one SM, 4 loads of 32 lines past L1"),
               stores = hd_probe_value(r, "one SM, 4 stores to 32 lines"),
               both = hd_probe_value(r, "one SM, 4 such loads and 4 such stores");
  if (both > 1.05 * fmax(loads, stores))
    put_real(b, "sm_loads_per_cycle", MIX_LINES / (both - stores),
             "4 loads of 32 lines past L1, and 4 stores");
}

static void put_first(const hd_probe_result *r, hd_buf *b) {
  const double plain = hd_probe_value(r, "an eighth of L2 again, ld.cg"),
               first = hd_probe_value(r, "an eighth of L2 again, ld.L2::evict_first"),
               none = hd_probe_value(r, "an eighth of L2 again, ld.L1::no_allocate"),
               l1_first = hd_probe_value(r, "an eighth of L2 again, ld.L1::evict_first");
  if (!(first > 1.2 * plain) || isnan(none) || isnan(l1_first)) return; /* a GPU that does not heed it */
  const bool with_l1 = fmin(none, l1_first) > 0.5 * (plain + first);
  hd_buf_printf(
      b, "first_with_l1 = %s  # measured: lines stay in L2 for .L1::no_allocate and .L1::evict_first %s\n",
      with_l1 ? "true" : "false", with_l1 ? "as for .L2::evict_first" : "as for .cg");
}

/* ---- DRAM --------------------------------------------------------------------------------- */

/* Bytes per second: half of what a copy moves is read, at the rate of reads. */
static double write_rate(const hd_probe_result *r) {
  const double rate = 1 / (2 / r->copy_bandwidth - 1 / r->dram_read_bandwidth);
  return r->copy_bandwidth > 0 && r->dram_read_bandwidth > 0 && rate > 0 && isfinite(rate) ? rate : 0;
}

/* Others' data in L2 takes reads so much longer as its bytes, to those of a quarter of L2. */
static void put_dirty(const hd_probe_result *r, hd_buf *b) {
  const double clean = hd_probe_value(r, "reading far more than L2, after reads"),
               few = hd_probe_value(r, "reading far more than L2, after writes of a quarter of L2") - clean,
               all = hd_probe_value(r, "reading far more than L2, after a flush") - clean;
  const double l2 = (double)r->device.l2_bytes, bytes = few > 0.01 * clean ? l2 / 4 * all / few : 0;
  if (bytes <= l2)
    put_whole(b, "dirty_bytes", bytes, "reads take longer after a flush, as after writes of so much");
}

void probe_put_l2(const hd_probe_result *r, double mhz, hd_buf *b) {
  put_parts(r, b);
  put_sharing(r, b);
  put_repeats(r, mhz, b);
  put_whole(b, "look_cycles", hd_probe_value(r, "L2, a look at 32 lines"),
            "a warp looks at a line of each SM");
  put_real(b, "line_atomics_per_cycle", hd_probe_value(r, "L2 add one word, by one lane") / mhz,
           "all warps of all SMs add to one word");
  put_ways(r, b);
  put_first(r, b);
  put_dirty(r, b);
}

void probe_put_dram(const hd_probe_result *r, double mhz, hd_buf *b) {
  const double least = hd_probe_value(r, "DRAM latency, 1%"), most = hd_probe_value(r, "DRAM latency, 99%");
  put_real(b, "write_bytes_per_cycle", write_rate(r) / (mhz * 1e6), "what a copy takes longer than reading");
  if (least >= 1 && most >= least) {
    put_whole(b, "latency_least", least, "of 1 load in 100 at most");
    put_whole(b, "latency_most", most, "of the slowest load in 100");
  }
}
