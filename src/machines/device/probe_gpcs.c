/* The GPCs, by what defines them for the model: they get equal shares of L2's rate, so that an SM gets less
 * the more others of its GPC load. Many launches, in each of which another part of the SMs loads, tell whose
 * loads slow whose. No SM's number says anything here, and neither does the architecture. Where GPCs do not
 * show, or there is one, no number of them is noted. */
#include <math.h>
#include <stdlib.h>

#include "device/probe.h"

enum { LAUNCHES = 600, FEW_LAUNCHES = 4, LEAST_SMS = 4, MOST_GPCS = 16 };

/* ---- Groups ------------------------------------------------------------------------------- */

/* How much SM j's loading adds to SM i's time, in standard errors: the correlation of time and loading over
 * the launches in which i loads, where times are by how many SMs load. */
static void find_effects(const double *times, uint32_t launches, uint32_t n, uint32_t i, double *effect) {
  double mean = 0, square = 0, loads = 0;
  for (uint32_t k = 0; k < launches; k++) {
    const double t = times[(size_t)k * n + i];
    if (t <= 0) continue;
    loads++;
    mean += t;
    square += t * t;
  }
  if (loads > 0) mean /= loads;
  const double deviation = loads > 0 ? sqrt(fmax(square / loads - mean * mean, 0)) : 0;
  for (uint32_t j = 0; j < n; j++) {
    double with = 0, sum = 0;
    for (uint32_t k = 0; k < launches; k++) {
      const double t = times[(size_t)k * n + i];
      if (t <= 0 || times[(size_t)k * n + j] <= 0) continue;
      with++;
      sum += t - mean;
    }
    const double part = loads > 0 ? with / loads : 0, spread = loads * part * (1 - part);
    effect[j] = j != i && spread > 0 && deviation > 0 ? sum / (sqrt(spread) * deviation) : 0;
  }
}

/* Join the two groups with the greatest mean effect between their SMs, again and again, until it is less than
 * `least`; how great it is then. */
static double join_groups(double *between, uint32_t *size, uint32_t *group, uint32_t n, double least) {
  for (;;) {
    uint32_t a = 0, b = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = i + 1; size[i] && j < n; j++)
        if (size[j] && between[(size_t)i * n + j] > most) most = between[(size_t)i * n + j], a = i, b = j;
    if (!(most >= least)) return most;
    for (uint32_t k = 0; k < n; k++) {
      const double joined =
          (size[a] * between[(size_t)a * n + k] + size[b] * between[(size_t)b * n + k]) / (size[a] + size[b]);
      between[(size_t)a * n + k] = between[(size_t)k * n + a] = joined;
      if (group[k] == b) group[k] = a;
    }
    size[a] += size[b];
    size[b] = 0;
  }
}

uint32_t probe_find_groups(const double *times, uint32_t launches, uint32_t n, uint32_t *group,
                           uint32_t sizes[2]) {
  enum { SURE = 2, CHANCE = 1 }; /* mean effects within a group; between two */
  double *one = calloc((size_t)n * n, sizeof *one), *both = calloc((size_t)n * n, sizeof *both);
  uint32_t *size = calloc(n, sizeof *size), found = 0;
  double left = INFINITY;
  for (uint32_t i = 0; one && both && size && i < n; i++) {
    find_effects(times, launches, n, i, one + (size_t)i * n);
    size[i] = 1;
    group[i] = i;
  }
  for (uint32_t i = 0; one && both && i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      both[(size_t)i * n + j] = (one[(size_t)i * n + j] + one[(size_t)j * n + i]) / sqrt(2);
  if (one && both && size) left = join_groups(both, size, group, n, SURE);
  sizes[0] = n;
  sizes[1] = 0;
  for (uint32_t i = 0; size && i < n; i++) {
    if (!size[i]) continue;
    found++;
    if (size[i] < sizes[0]) sizes[0] = size[i];
    if (size[i] > sizes[1]) sizes[1] = size[i];
  }
  const bool clear = left < CHANCE && found > 1 && found <= MOST_GPCS && sizes[0] >= LEAST_SMS;
  free(one);
  free(both);
  free(size);
  return clear ? found : 0;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

/* Three quarters of the SMs load, each its own. false: a CTA did not come to its SM. */
static hd_status run_some(probe_reads *r, uint32_t launch, double *times, bool *whole) {
  uint32_t loading = 0;
  for (uint32_t i = 0; i < r->sms->beyond; i++) r->block[i] = PROBE_NO_BLOCK;
  for (uint32_t i = 0; i < r->sms->n; i++) {
    const bool loads = hd_random_at(launch, i) % 4 != 0;
    if (loads) r->block[r->sms->numbers[i]] = i;
    loading += loads;
  }
  hd_status st = probe_reads_deal(r, r->sms->n, 3 << 20);
  if (st == HD_OK) st = probe_reads_run(r);
  *whole = true;
  for (uint32_t i = 0; i < r->sms->n; i++) {
    const uint32_t sm = r->sms->numbers[i];
    const bool loads = r->block[sm] != PROBE_NO_BLOCK;
    times[i] = loads ? (double)r->cycles[sm] / loading : 0;
    *whole &= !loads || r->cycles[sm] > 0;
  }
  return st;
}

static hd_status measure(probe *p, const probe_sms *sms, double *times, uint32_t *group) {
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  const uint32_t launches = gpu ? LAUNCHES : FEW_LAUNCHES;
  probe_reads r;
  uint32_t n = 0, sizes[2];
  bool whole;
  hd_status st = probe_reads_begin(p, sms, &r);
  r.l.dynamic_shared = gpu ? p->r->device.shared_per_cta : 0;  /* a CTA an SM, though others are soon gone */
  for (uint32_t k = 0; st == HD_OK && k < launches + 1; k++) { /* the first from DRAM */
    st = run_some(&r, k, times + (size_t)n * sms->n, &whole);
    n += k && whole;
  }
  probe_reads_end(&r);
  if (st != HD_OK || n < launches / 2) return st;
  const uint32_t gpcs = probe_find_groups(times, n, sms->n, group, sizes);
  if (!gpcs) return HD_OK;
  p->gpc = group;
  probe_figure(p, gpcs, "GPCs", "SMs that share a rate");
  probe_figure(p, sizes[0], "SMs", "SMs that share a rate, the fewest");
  probe_figure(p, sizes[1], "SMs", "SMs that share a rate, the most");
  return HD_OK;
}

hd_status probe_gpcs(probe *p) {
  if (p->r->device.kind == HD_DEVICE_CUDA && p->r->device.n_sms < 2 * LEAST_SMS) return HD_OK;
  probe_sms sms;
  hd_status st = probe_list_sms(p, &sms);
  double *times = calloc((size_t)(LAUNCHES + 1) * p->r->device.n_sms, sizeof *times);
  uint32_t *group = calloc(p->r->device.n_sms, sizeof *group);
  if (st == HD_OK && !(times && group)) st = hd_nomem(p->d);
  if (st == HD_OK) st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  if (st == HD_OK && sms.n) st = measure(p, &sms, times, group);
  free(sms.numbers);
  free(times);
  if (p->gpc != group) free(group);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
