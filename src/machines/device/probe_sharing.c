/* The rate at which SMs get from L2 what each reads alone, or all read. */
#include <stdlib.h>

#include "device/probe.h"
#include "heddle/stats.h"

void probe_reads_end(probe_reads *r) {
  free(r->block);
  free(r->cycles);
}

hd_status probe_reads_begin(probe *p, const probe_sms *sms, probe_reads *r) {
  const uint32_t threads = p->r->device.kind == HD_DEVICE_CUDA ? 1024 : HD_WARP;
  *r = (probe_reads){.p = p, .sms = sms, .turn = threads * 16};
  r->block = malloc(sms->beyond * sizeof *r->block);
  r->cycles = calloc(sms->beyond, sizeof *r->cycles);
  if (!r->block || !r->cycles) return hd_nomem(p->d);
  r->l = (hd_device_launch){.kernel = "read_blocks",
                            .grid = {p->r->device.n_sms, 1, 1},
                            .block = {threads, 1, 1},
                            .args_bytes = 36};
  r->args.in = p->buffer;
  r->args.block = p->buffer + p->buffer_bytes / 2;
  r->args.cycles = r->args.block + PROBE_MOST_NUMBERS * sizeof *r->block;
  r->args.numbers = sms->beyond;
  return HD_OK;
}

hd_status probe_reads_deal(probe_reads *r, uint32_t n_blocks, uint64_t bytes_of_an_sm) {
  const bool gpu = r->p->r->device.kind == HD_DEVICE_CUDA;
  /* 40% of L2 in all: where it has two parts, each may hold all of it. */
  const uint64_t all = r->p->r->device.l2_bytes * 2 / 5,
                 each = n_blocks ? all / n_blocks / r->turn * r->turn : 0;
  r->args.bytes = (uint32_t)(each ? each : r->turn);
  r->args.rounds = gpu ? (uint32_t)(bytes_of_an_sm / r->turn / 4) : 2;
  return hd_device_write(r->p->dev, r->args.block, r->block, r->sms->beyond * sizeof *r->block, r->p->d);
}

hd_status probe_reads_run(probe_reads *r) {
  probe *p = r->p;
  const uint64_t bytes = r->sms->beyond * sizeof *r->cycles;
  r->l.args = &r->args;
  hd_status st = hd_device_set(p->dev, r->args.cycles, 0, bytes, p->d);
  if (st == HD_OK) st = hd_device_run(p->m_l2, &r->l, p->d);
  if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
  return st == HD_OK ? hd_device_read(p->dev, r->args.cycles, r->cycles, bytes, p->d) : st;
}

/* ---- Rates -------------------------------------------------------------------------------- */

/* Which SMs read the same, by their places in the order below: pairs whose places differ in the bit `apart`
 * alone, or so many `side` by side. */
typedef struct sharing {
  const char *name;
  uint32_t apart, side;
} sharing;

void probe_sort_sms(const probe_sms *sms, const uint32_t *gpc, uint32_t *order) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < sms->n; i++) {
    bool seen = !gpc && i;
    for (uint32_t k = 0; gpc && k < i; k++) seen |= gpc[k] == gpc[i];
    for (uint32_t k = i; !seen && k < sms->n; k++)
      if (!gpc || gpc[k] == gpc[i]) order[n++] = sms->numbers[k];
  }
}

/* The block of each SM; how many there are. */
static uint32_t deal_blocks(const probe_reads *r, const uint32_t *order, const sharing *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->sms->beyond; i++) r->block[i] = PROBE_NO_BLOCK;
  for (uint32_t i = 0; i < r->sms->n; i++) {
    const uint32_t with = s->side ? i / s->side * s->side : i & ~s->apart;
    r->block[order[i]] = with < i ? r->block[order[with]] : n++;
  }
  return n;
}

/* Bytes per cycle that all SMs get together while all of them load: the slowest one does not count for the
 * others. 0: no CTA came to some SM. */
static double rate_of(const probe_reads *r) {
  double rate = 0;
  for (uint32_t i = 0; i < r->sms->n; i++) {
    const double cycles = (double)r->cycles[r->sms->numbers[i]];
    if (!(cycles > 0)) return 0;
    rate += 4.0 * r->args.rounds * r->turn / cycles;
  }
  return rate;
}

static hd_status measure_rate(probe *p, const probe_sms *sms, const uint32_t *order, const sharing *s) {
  enum { TIMES = 3, BYTES_OF_AN_SM = 8 << 20 };
  probe_reads r;
  double rates[1 + TIMES];
  hd_status st = probe_reads_begin(p, sms, &r);
  if (st == HD_OK) st = probe_reads_deal(&r, deal_blocks(&r, order, s), BYTES_OF_AN_SM);
  for (int k = 0; st == HD_OK && k <= TIMES; k++) { /* the first from DRAM */
    st = probe_reads_run(&r);
    rates[k] = rate_of(&r);
  }
  const double rate = st == HD_OK ? hd_median(rates + 1, TIMES) : 0;
  if (rate > 0) probe_figure(p, rate, "bytes per cycle", "L2 to all SMs, %s", s->name);
  probe_reads_end(&r);
  return st;
}

hd_status probe_sharing(probe *p) {
  static const sharing all[] = {
      {"each its own", 0, 0},
      {"2 side by side the same", 0, 2},
      {"4 side by side the same", 0, 4},
      {"8 side by side the same", 0, 8},
      {"16 side by side the same", 0, 16},
      {"pairs 2 apart the same", 2, 0},
      {"pairs 8 apart the same", 8, 0},
  };
  probe_sms sms;
  hd_status st = probe_list_sms(p, &sms);
  uint32_t *order = calloc(p->r->device.n_sms, sizeof *order);
  if (st == HD_OK && !order) st = hd_nomem(p->d);
  if (st == HD_OK) st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  if (st == HD_OK) probe_sort_sms(&sms, p->gpc, order);
  for (size_t i = 0; probe_may_go_on(p, st) && sms.n && i < sizeof all / sizeof *all; i++)
    st = measure_rate(p, &sms, order, &all[i]);
  free(sms.numbers);
  free(order);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
