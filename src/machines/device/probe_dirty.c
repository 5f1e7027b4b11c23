/* How much of what a flush writes is left in L2, to be written back while the next kernel runs: a kernel that
 * reads much more than L2 holds takes longer after a flush than after reads. The time for a byte follows from
 * the time after reads and a few writes, all of which L2 keeps. */
#include "device/probe.h"
#include "heddle/stats.h"

typedef struct reading {
  probe *p;
  uint64_t from, before, each; /* before: read by `prepare`; each: of a CTA */
  uint64_t written;            /* by `prepare`, behind */
} reading;

static hd_status read_from(const reading *r, uint64_t from, hd_diag *d) {
  struct {
    uint64_t in, out, chunk;
    uint32_t rounds;
  } args = {from, r->p->out, r->each, 1};
  hd_device_launch l = {.kernel = "read_cg",
                        .grid = {PROBE_CTAS_PER_SM * r->p->r->device.n_sms, 1, 1},
                        .block = {PROBE_THREADS, 1, 1},
                        .args = &args,
                        .args_bytes = 28};
  return hd_device_run(r->p->m, &l, d);
}

static hd_status run(void *ctx, hd_diag *d) {
  const reading *r = ctx;
  return read_from(r, r->from, d);
}

static hd_status prepare(void *ctx, hd_diag *d) {
  const reading *r = ctx;
  hd_status st = read_from(r, r->before, d);
  return st == HD_OK && r->written ? hd_device_set(r->p->dev, r->before, 0, r->written, d) : st;
}

hd_status probe_dirty(probe *p) {
  enum { TIMES = 31 };
  const hd_device_info *i = &p->r->device;
  if (!i->has_times || !i->l2_bytes) return HD_OK;
  /* Half of the buffer is at least twice L2. */
  const uint64_t ctas = (uint64_t)PROBE_CTAS_PER_SM * i->n_sms, half = p->buffer_bytes / 2;
  uint64_t bytes = 4 * i->l2_bytes;
  if (bytes < 32u << 20) bytes = 32u << 20;
  if (bytes > half) bytes = half;
  reading r = {p, p->buffer, p->buffer + half, bytes / ctas / PROBE_CHUNK * PROBE_CHUNK, 0}, few = r;
  few.written = i->l2_bytes / 4;
  if (!r.each) return HD_OK;
  const struct {
    const char *name;
    hd_device_job job;
  } all[] = {{"after reads", {.prepare = prepare, .run = run, .ctx = &r}},
             {"after writes of a quarter of L2", {.prepare = prepare, .run = run, .ctx = &few}},
             {"after a flush", {.run = run, .ctx = &r}}};
  hd_status st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  for (int k = 0; probe_may_go_on(p, st) && k < 3; k++) {
    const hd_timing_options o = {.warmups = 1, .repetitions = TIMES, .keep_l2 = k < 2};
    double us[TIMES];
    st = hd_device_time(p->dev, &all[k].job, 1, &o, us, p->d);
    if (st == HD_OK) probe_figure(p, hd_median(us, TIMES), "us", "reading far more than L2, %s", all[k].name);
  }
  return probe_may_go_on(p, st) ? HD_OK : st;
}
