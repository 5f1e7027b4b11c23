/* Tuning a workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"

static bool votes_on_agents(const hd_tune_options *o) {
  for (size_t i = 0; i < o->n_plans; i++)
    if (o->plans[i].agents_voted) return true;
  return false;
}

hd_status hd_tune(hd_device *dev, const hd_workload *w, const hd_tune_options *o, hd_tuning *out,
                  hd_diag *d) {
  const hd_device_info *info = hd_device_get_info(dev);
  tuning t = {.dev = dev, .w = w, .out = out};
  memset(out, 0, sizeof *out);
  hd_status st = hd_device_need_times(dev, d);
  if (st != HD_OK) return st;
  if (o) t.o = *o;
  if (t.o.strategy == HD_TUNE_SAMPLE && info->kind != HD_DEVICE_MODEL)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "device %s: single CTAs are sampled on models only (model:NAME); a vote tries all "
                   "thresholds on full SMs",
                   info->name);
  if (votes_on_agents(&t.o) && t.o.strategy != HD_TUNE_VOTE && t.o.strategy != HD_TUNE_COMPARE)
    return hd_fail(
        d, HD_ERR_USAGE,
        "bind=agents:auto is decided by measuring: name a number, or have the vote taken (--strategy "
        "vote)");
  t.o.run.compile.arch = hd_launch_arch(info, t.o.run.compile.arch);
  out->assume = t.o.run.compile.assume;
  if (!t.o.run.machine.n_sms) t.o.run.machine.n_sms = info->n_sms;
  double start = hd_seconds();
  t.until = start + hd_wall_seconds(t.o.wall, t.o.budget);
  for (uint32_t i = 0; i < w->n_buffers; i++) out->buffer_bytes += w->buffers[i].bytes;
  st = hd_workload_compiled(w, t.o.run.compile.arch, &t.code, d);
  out->spent.compile = hd_seconds() - start;
  for (size_t i = 0; st == HD_OK && i < t.o.n_plans; i++) st = tuning_try_first(&t, &t.o.plans[i], d);
  t.n_given = t.first.n;
  if (st == HD_OK && info->kind != HD_DEVICE_MODEL && t.o.advisor) tuning_seek_advice(&t);
  if (st == HD_OK) st = info->kind == HD_DEVICE_MODEL ? tuning_on_model(&t, d) : tuning_on_device(&t, d);
  hd_vec_free(&t.first);
  out->seconds = hd_seconds() - start - out->lever_seconds;
  if (st != HD_OK) hd_tuning_free(out);
  return st;
}

void hd_tuning_free(hd_tuning *t) {
  for (uint32_t i = 0; t->kernels && i < t->n_kernels; i++) free(t->kernels[i].trials);
  free(t->kernels);
  memset(t, 0, sizeof *t);
}
