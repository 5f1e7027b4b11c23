/* device/probe.h: a probe under way. */
#ifndef HEDDLE_DEVICE_PROBE_H
#define HEDDLE_DEVICE_PROBE_H

#include "device/backend.h"
#include "heddle/probe.h"

/* The bandwidths' CTAs: 256 threads of four 16-byte loads each make a chunk, or several. */
enum { PROBE_THREADS = 256, PROBE_CHUNK = PROBE_THREADS * 64, PROBE_CTAS_PER_SM = 8 };

extern const char probe_ptx[], probe_l2_ptx[];
extern const size_t probe_ptx_bytes, probe_l2_ptx_bytes;

typedef struct probe {
  hd_device *dev;
  hd_device_module *m, *m_l2; /* probe.ptx, probe_l2.ptx */
  hd_probe_options o;
  hd_probe_result *r;
  uint64_t buffer, buffer_bytes; /* of the DRAM measurements, and for all others */
  uint64_t out, out_bytes;
  hd_diag *d;
  HD_VEC(hd_probe_figure) figures;
  uint32_t *gpc; /* of each of probe_list_sms, by any number; NULL: not known */
  bool failed;   /* out of memory for figures */
} probe;

/* probe_launch.c. Launch one of the kernels and wait. */
hd_status probe_launch(probe *p, const char *kernel, uint32_t grid, uint32_t block, const void *args,
                       uint64_t args_bytes, int carveout);
hd_status probe_launch_from(probe *p, hd_device_module *m, const char *kernel, uint32_t grid, uint32_t block,
                            const void *args, uint64_t args_bytes, int carveout);
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
/* The ways to memory that SMs share, and L2 itself. */
hd_status probe_partitions(probe *p); /* probe_partitions.c */
enum { PROBE_MOST_NUMBERS = 8192 };
typedef struct probe_sms {
  uint32_t *numbers;  /* increasing */
  uint32_t n, beyond; /* 0: not known; more than any number */
} probe_sms;
hd_status probe_list_sms(probe *p, probe_sms *l); /* free(l->numbers), also after a failure */
/* Of n lines, cycles of a first load of each and of another one: those that come later at first, by more than
 * chance; *later: so many cycles, in the mean. */
uint32_t probe_far_lines(const uint32_t *first, const uint32_t *again, uint32_t n, double *later);
/* probe_gpcs.c. Which SMs slow each other: times[launch * n + i] of SM i in that launch, 0 where it did not
 * load. Returns how many groups there are, 0: none are clear, or no memory is left; group[i]: one of its SMs,
 * the same for all of them. sizes: of the smallest group, of the largest. */
uint32_t probe_find_groups(const double *times, uint32_t launches, uint32_t n, uint32_t *group,
                           uint32_t sizes[2]);
hd_status probe_gpcs(probe *p);
/* probe_sharing.c. SMs that read blocks. After `begin`: fill block[], then `deal`, then `run`, as
 * often as wanted; both are by SM. `end` after any failure, too. */
#define PROBE_NO_BLOCK 0xffffffffu
typedef struct probe_reads {
  probe *p;
  const probe_sms *sms;
  hd_device_launch l;
  struct {
    uint64_t in, block, cycles;
    uint32_t bytes, rounds, numbers;
  } args;
  uint32_t turn; /* bytes that a CTA's threads load at once */
  uint32_t *block;
  uint64_t *cycles;
} probe_reads;
hd_status probe_reads_begin(probe *p, const probe_sms *sms, probe_reads *r);
hd_status probe_reads_deal(probe_reads *r, uint32_t n_blocks, uint64_t bytes_of_an_sm);
hd_status probe_reads_run(probe_reads *r);
void probe_reads_end(probe_reads *r);
/* Numbers of SMs, those of a GPC next to each other, where GPCs are known (gpc[i] of SM i of the list; or
 * NULL): a TPC's two SMs have numbers that follow each other, but the next ones may be of another GPC. */
void probe_sort_sms(const probe_sms *sms, const uint32_t *gpc, uint32_t *order);
hd_status probe_sharing(probe *p);
hd_status probe_atomics(probe *p); /* probe_atomics.c */
hd_status probe_l2_ways(probe *p); /* probe_l2_ways.c */
hd_status probe_dirty(probe *p);   /* probe_dirty.c */

#endif
