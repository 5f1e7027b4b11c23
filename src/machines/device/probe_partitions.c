/* The parts of L2, each near to some SMs. SMs are identified by their numbers (%smid), which may have holes.
 */
#include <stdlib.h>

#include "device/probe.h"

hd_status probe_list_sms(probe *p, probe_sms *l) {
  hd_numbers set;
  hd_range r;
  const uint32_t n_sms = p->r->device.n_sms;
  *l = (probe_sms){.numbers = calloc(n_sms, sizeof *l->numbers)};
  hd_status st = l->numbers ? hd_device_sms(p->dev, &set, p->d) : hd_nomem(p->d);
  if (st != HD_OK) return st;
  for (uint32_t at = 0; hd_numbers_run(&set, at, &r); at = r.last + 1)
    for (uint32_t sm = r.first; sm <= r.last && l->n < n_sms; sm++) l->numbers[l->n++] = sm;
  for (uint32_t sm = 0; !hd_numbers_count(&set) && p->r->device.kind != HD_DEVICE_CUDA && sm < n_sms; sm++)
    l->numbers[l->n++] = sm;
  l->beyond = l->n ? l->numbers[l->n - 1] + 1 : 0;
  if (l->beyond > PROBE_MOST_NUMBERS) l->n = 0;
  return HD_OK;
}

/* ---- Far lines ---------------------------------------------------------------------------- */

typedef struct visits {
  probe *p;
  uint32_t lines;
  uint64_t taken; /* address */
  uint32_t *first, *again;
} visits;

/* Two CTAs an SM, which fill it, so that every SM gets one. *came: that one came to this SM. */
static hd_status visit(visits *v, uint32_t sm, uint32_t *cycles, bool *came) {
  probe *p = v->p;
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  struct {
    uint64_t in, out, taken;
    uint32_t lines, sm;
  } args = {p->buffer, p->buffer + p->buffer_bytes / 2, v->taken, v->lines, sm};
  hd_device_launch l = {.kernel = "visit",
                        .grid = {2 * p->r->device.n_sms, 1, 1},
                        .block = {gpu ? 1024 : HD_WARP, 1, 1},
                        .args = &args,
                        .args_bytes = sizeof args};
  uint32_t taken = 0;
  hd_status st = hd_device_set(p->dev, v->taken, 0, sizeof taken, p->d);
  if (st == HD_OK) st = hd_device_run(p->m_l2, &l, p->d);
  if (st == HD_OK) st = hd_device_sync(p->dev, p->d);
  if (st == HD_OK) st = hd_device_read(p->dev, v->taken, &taken, sizeof taken, p->d);
  *came = taken != 0;
  return st == HD_OK && cycles ? hd_device_read(p->dev, args.out, cycles, 4ull * v->lines, p->d) : st;
}

uint32_t probe_far_lines(const uint32_t *first, const uint32_t *again, uint32_t n, double *later) {
  uint32_t n_far = 0;
  *later = 0;
  for (uint32_t i = 0; i < n; i++) {
    const double more = (double)first[i] - again[i];
    if (more <= 20 + 0.1 * again[i]) continue;
    *later += more;
    n_far++;
  }
  if (n_far) *later /= n_far;
  return n_far;
}

/* The lines that `reader` has brought into L2, as another SM finds them: how many are far. */
static hd_status find_far(visits *v, uint32_t reader, uint32_t sm, uint32_t *n_far, double *later) {
  bool came[3] = {false};
  hd_status st = v->p->dev->ops->flush_l2(v->p->dev, v->p->d);
  if (st == HD_OK) st = visit(v, reader, NULL, &came[0]);
  if (st == HD_OK) st = visit(v, sm, v->first, &came[1]);
  if (st == HD_OK) st = visit(v, sm, v->again, &came[2]);
  *later = 0;
  *n_far = came[0] && came[1] && came[2] ? probe_far_lines(v->first, v->again, v->lines, later) : 0;
  return st;
}

/* An SM is near to another part of L2 than the first one where a quarter of the lines, or more, come later:
 * lines are spread evenly over parts. Where L2 is one, none do, but for chance. */
static hd_status measure_parts(probe *p, const probe_sms *sms) {
  const bool gpu = p->r->device.kind == HD_DEVICE_CUDA;
  visits v = {.p = p, .lines = gpu ? 1024 : 16, .taken = p->out};
  uint32_t n_far, far_sms = 0, seen = 0;
  double later, sum = 0;
  v.first = calloc(v.lines, sizeof *v.first);
  v.again = calloc(v.lines, sizeof *v.again);
  hd_status st = v.first && v.again ? HD_OK : hd_nomem(p->d);
  for (uint32_t i = 1; st == HD_OK && i < sms->n; i++, seen++) {
    st = find_far(&v, sms->numbers[0], sms->numbers[i], &n_far, &later);
    if (st != HD_OK || n_far < v.lines / 4) continue;
    sum += later;
    far_sms++;
  }
  free(v.first);
  free(v.again);
  if (st != HD_OK) return st;
  probe_figure(p, far_sms ? 2 : 1, "parts", "L2");
  probe_figure(p, far_sms, "SMs", "L2, SMs of the other part than SM %u's", sms->n ? sms->numbers[0] : 0);
  if (far_sms) probe_figure(p, sum / far_sms, "cycles", "L2, a line from the other part, later by");
  return HD_OK;
}

hd_status probe_partitions(probe *p) {
  probe_sms sms;
  hd_status st = probe_list_sms(p, &sms);
  if (st == HD_OK) st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  if (st == HD_OK && sms.n) st = measure_parts(p, &sms);
  free(sms.numbers);
  return probe_may_go_on(p, st) ? HD_OK : st;
}
