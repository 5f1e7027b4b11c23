/* device/probe.h: a probe under way. */
#ifndef HEDDLE_DEVICE_PROBE_H
#define HEDDLE_DEVICE_PROBE_H

#include "device/backend.h"
#include "heddle/probe.h"

/* The bandwidths' CTAs: 256 threads of four 16-byte loads each make a chunk, or several. */
enum { PROBE_THREADS = 256, PROBE_CHUNK = PROBE_THREADS * 64, PROBE_CTAS_PER_SM = 8 };

extern const char probe_ptx[];
extern const size_t probe_ptx_bytes;

typedef struct probe {
  hd_device *dev;
  hd_device_module *m;
  hd_probe_options o;
  hd_probe_result *r;
  uint64_t buffer, buffer_bytes; /* of the DRAM measurements, and for all others */
  uint64_t out, out_bytes;
  hd_diag *d;
  HD_VEC(hd_probe_figure) figures;
  bool failed; /* out of memory for figures */
} probe;

/* probe_launch.c. Launch one of the kernels and wait. */
hd_status probe_launch(probe *p, const char *kernel, uint32_t grid, uint32_t block, const void *args,
                       uint64_t args_bytes, int carveout);
int probe_ascending(const void *a, const void *b); /* uint32_t */

/* Whether the probe may continue after a measurement that ended with `st`. It may where a GPU refused the
 * launch but still works: the figure is left out. It may not after a fault. */
bool probe_may_go_on(probe *p, hd_status st);
/* Note a figure, under a name that is printed. */
void probe_figure(probe *p, double value, const char *unit, const char *name, ...) HD_PRINTF(4, 5);

/* probe_dispatch.c: CLU listing 3. Needs the latencies. */
hd_status probe_dispatch(probe *p);
/* probe_latency.c */
hd_status probe_latencies(probe *p);
hd_status probe_l1_sizes(probe *p);
hd_status probe_footprints(probe *p);
hd_status probe_sectors(probe *p);
/* probe_bandwidth.c */
hd_status probe_bandwidths(probe *p);
hd_status probe_units(probe *p);  /* probe_units.c */
hd_status probe_wgmma(probe *p);  /* probe_wgmma.c */
hd_status probe_ways(probe *p);   /* probe_ways.c */
hd_status probe_loads(probe *p);  /* probe_loads.c */
hd_status probe_starts(probe *p); /* probe_start.c */

#endif
