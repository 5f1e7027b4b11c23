/* heddle/probe.h: the behaviour of a GPU's dispatcher, pipelines and caches, measured by small kernels.
 *
 * The kernels are PTX text inside the library (src/machines/device/probe.ptx), or made as text for each
 * instruction. hd_probe takes less than a minute, most of it for compiling, on a GPU that does nothing else;
 * on a busy one the numbers are off.
 */
#ifndef HEDDLE_PROBE_H
#define HEDDLE_PROBE_H

#include "heddle/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HD_PROBE_CARVEOUTS = 5, HD_PROBE_SECTORS = 16, HD_PROBE_STRIDES = 4, HD_PROBE_FOOTPRINTS = 48 };

typedef struct hd_probe_options {
  uint32_t launches;    /* of CLU listing 3; 5 when 0 */
  uint32_t delay;       /* cycles between the waves of the staggered launch; 3000 when 0 */
  uint64_t dram_bytes;  /* that the DRAM measurements read; 2 GB or a quarter of the memory when 0 */
  uint32_t repetitions; /* of each time; 7 when 0 */
  hd_watch watch;
} hd_probe_options;

/* One launch of CLU's microbenchmark (listing 3): where each CTA ran, and the cycles its one load took. CTAs
 * on one SM load the same word: its first touch on an SM misses L1, and any later one that L1 serves is
 * quick. */
typedef struct hd_probe_launch {
  bool staggered;
  uint32_t *sm, *ticks;  /* per CTA; SMs by rank, if their numbers have holes */
  uint32_t distinct;     /* SMs that the first n_sms CTAs ran on */
  uint32_t round_robin;  /* CTAs u that ran on SM u mod n_sms */
  uint32_t least, most;  /* CTAs of one SM */
  uint32_t first, later; /* median cycles: the first CTA of each SM; all others */
  double hits;           /* part of those others that were nearer to L1's latency than to L2's */
} hd_probe_launch;

/* Cycles of a load in a ring of lines in random order that one thread walks through, all of it walked through
 * before. */
typedef struct hd_probe_footprint {
  uint64_t bytes; /* that the ring spans */
  double cycles;
} hd_probe_footprint;

/* Anything else that was measured, by name: "fma.f32 latency" in cycles, "fma.f32" in lanes per cycle and SM,
 * the bandwidth of memory by the requests under way, the cost of launches, how SMs share L2. */
typedef struct hd_probe_figure {
  char name[88];
  const char
      *unit; /* "cycles", "per cycle", "bytes per cycle", "us", "requests per us"; or what is counted */
  double value;
} hd_probe_figure;

typedef struct hd_probe_result {
  hd_device_info device;
  hd_gpu gpu;      /* a modelled one, of which nothing else is filled in */
  uint32_t n_ctas; /* of each launch below: two waves */
  uint32_t n_launches;
  hd_probe_launch *launches;                /* the last one is staggered */
  double clock_mhz;                         /* of the SMs while one thread runs */
  double l1_cycles, l2_cycles, dram_cycles; /* from load to use, one thread */
  /* Bytes that stay in L1, by the percentage of its store that a kernel asks for as shared memory. */
  uint32_t carveout[HD_PROBE_CARVEOUTS];
  uint64_t l1_bytes[HD_PROBE_CARVEOUTS];
  /* Cycles of a load 16 i bytes behind a word that was just fetched from DRAM, i from 1 on: words that came
   * along with it are quick. */
  uint32_t sector_cycles[HD_PROBE_SECTORS];
  uint32_t l1_sector, l2_sector; /* bytes that one miss brings into L1; into L2 */
  /* Span of a ring that stays in L1, by the distance of its elements; it doubles with the distance once that
   * is more than a line, if sets are hashed (with plain modulo indexing the line comes out too long). */
  uint32_t stride[HD_PROBE_STRIDES];
  uint64_t stride_span[HD_PROBE_STRIDES];
  uint32_t line;
  /* From 4 KB to twice L2, increasing. */
  hd_probe_footprint footprints[HD_PROBE_FOOTPRINTS];
  uint32_t n_footprints;
  double l1_bandwidth, l2_bandwidth, dram_read_bandwidth,
      copy_bandwidth; /* bytes per second, all SMs; 0: no clock */
  hd_probe_figure *figures;
  uint32_t n_figures;
} hd_probe_result;
/* The figure of that name; NaN if it was not measured. */
HD_OWN double hd_probe_value(const hd_probe_result *r, const char *name);

/* A modelled GPU is its file: nothing is measured, and hd_probe_toml writes the file's values. */
HD_OWN hd_status hd_probe(hd_device *dev, const hd_probe_options *o, hd_probe_result *out, hd_diag *d);
HD_OWN void hd_probe_free(hd_probe_result *r);

/* A GPU file (gpus/NAME.toml): measured values, the driver's values, and, marked as such, assumed ones for
 * the rest. */
HD_OWN void hd_probe_toml(const hd_probe_result *r, hd_buf *out);
/* The GPU of that file, and its keys that were measured or that the driver reported; of a model all keys of
 * its file. HD_ERR_INPUT: a GPU's file may not have a measured value. */
HD_OWN hd_status hd_probe_gpu(const hd_probe_result *r, hd_gpu *out, hd_gpu_keys *told, hd_diag *d);
/* These keys of that GPU beside those of a file (hd_gpu_compare). */
HD_OWN hd_status hd_probe_compare(const hd_probe_result *r, const hd_gpu *file, double percent,
                                  hd_gpu_comparison *out, hd_diag *d);
/* "h100-80gb-hbm3" from "NVIDIA H100 80GB HBM3". */
HD_OWN void hd_probe_name(const hd_probe_result *r, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
