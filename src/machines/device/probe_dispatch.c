/* CLU's microbenchmark: which SM runs which CTA, and whether L1 serves one CTA what another one fetched. */
#include <stdlib.h>
#include <string.h>

#include "device/probe.h"

/* SMs' numbers stay below this; the buffer has a word for each. */
enum { MOST_NUMBERS = 4096 };

static uint32_t median(uint32_t *v, uint32_t n) {
  if (!n) return 0;
  qsort(v, n, sizeof *v, probe_ascending);
  return v[n / 2];
}

/* Where a GPU is parted (MIG) its SMs' numbers have holes; they become ranks, as the driver counts them. */
static hd_status rank_sms(const probe *p, hd_probe_launch *l) {
  uint32_t n_sms = p->r->device.n_sms, n = p->r->n_ctas, distinct = 0;
  uint32_t *seen = malloc(n * sizeof *seen);
  if (!seen) return hd_nomem(p->d);
  memcpy(seen, l->sm, n * sizeof *seen);
  qsort(seen, n, sizeof *seen, probe_ascending);
  for (uint32_t u = 0; u < n; u++)
    if (!distinct || seen[u] != seen[distinct - 1]) seen[distinct++] = seen[u];
  hd_status st = HD_OK;
  if (distinct > n_sms)
    st = hd_fail(p->d, HD_ERR_UNSUPPORTED, "%s: CTAs ran on %u SMs, but the driver shows %u",
                 p->r->device.name, distinct, n_sms);
  for (uint32_t u = 0; st == HD_OK && seen[distinct - 1] >= n_sms && u < n; u++)
    l->sm[u] =
        (uint32_t)((uint32_t *)bsearch(&l->sm[u], seen, distinct, sizeof *seen, probe_ascending) - seen);
  free(seen);
  return st;
}

/* The first CTA of each SM is the one with the least number: CTAs start in the order of their numbers. */
static hd_status judge(const probe *p, hd_probe_launch *l) {
  uint32_t n_sms = p->r->device.n_sms, n = p->r->n_ctas, n_first = 0, n_later = 0, hits = 0;
  uint32_t *count = calloc(n_sms, sizeof *count), *first = calloc(n_sms, sizeof *first),
           *later = calloc(n, sizeof *later);
  hd_status st = count && first && later ? HD_OK : hd_nomem(p->d);
  double between = 0.5 * (p->r->l1_cycles + p->r->l2_cycles);
  for (uint32_t u = 0; st == HD_OK && u < n; u++) {
    uint32_t sm = l->sm[u];
    l->round_robin += sm == u % n_sms;
    if (!count[sm]++) {
      first[n_first++] = l->ticks[u];
      l->distinct += u < n_sms;
    } else {
      later[n_later++] = l->ticks[u];
      hits += l->ticks[u] < between;
    }
  }
  if (st == HD_OK) {
    qsort(count, n_sms, sizeof *count, probe_ascending);
    l->least = count[0];
    l->most = count[n_sms - 1];
    l->first = median(first, n_first);
    l->later = median(later, n_later);
    l->hits = n_later ? (double)hits / n_later : 0;
  }
  free(count);
  free(first);
  free(later);
  return st;
}

static hd_status run(probe *p, hd_probe_launch *l) {
  uint32_t n = p->r->n_ctas, n_sms = p->r->device.n_sms;
  l->sm = calloc(n, sizeof *l->sm);
  l->ticks = calloc(n, sizeof *l->ticks);
  if (!l->sm || !l->ticks) return hd_nomem(p->d);
  struct {
    uint64_t in, sm, ticks;
    uint32_t wave, delay;
  } args = {p->buffer, p->out, p->out + 4ull * n, n_sms, l->staggered ? p->o.delay : 0};
  hd_status st = hd_device_set(p->dev, p->buffer, 0, 256ull * MOST_NUMBERS, p->d);
  /* A launch begins with an empty L1; L2 is flushed here. */
  if (st == HD_OK) st = p->dev->ops->flush_l2(p->dev, p->d);
  if (st == HD_OK) st = probe_launch(p, "locality", n, 32, &args, sizeof args, 0);
  if (st == HD_OK) st = hd_device_read(p->dev, args.sm, l->sm, 4ull * n, p->d);
  if (st == HD_OK) st = hd_device_read(p->dev, args.ticks, l->ticks, 4ull * n, p->d);
  if (st == HD_OK) st = rank_sms(p, l);
  return st == HD_OK ? judge(p, l) : st;
}

hd_status probe_dispatch(probe *p) {
  hd_probe_result *r = p->r;
  r->launches = calloc((size_t)p->o.launches + 1, sizeof *r->launches);
  if (!r->launches) return hd_nomem(p->d);
  r->n_launches = p->o.launches + 1;
  r->launches[p->o.launches].staggered = true;
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < r->n_launches; i++) st = run(p, &r->launches[i]);
  return st;
}
