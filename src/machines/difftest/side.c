/* Programs compiled together and run on one side of a comparison; the search for differences. */
#include "difftest/side.h"

#include <stdlib.h>
#include <string.h>

/* ---- Devices -------------------------------------------------------------------------- */

static bool emulator_isa(const char *name, hd_emu_isa *isa) {
  static const struct {
    const char *name;
    hd_emu_isa isa;
  } names[] = {{"emu", HD_ISA_AUTO},
               {"emu:portable", HD_ISA_PORTABLE},
               {"emu:avx2", HD_ISA_AVX2},
               {"emu:avx512", HD_ISA_AVX512}};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    if (strcmp(names[k].name, name) != 0) continue;
    *isa = names[k].isa;
    return true;
  }
  return false;
}

hd_status dt_side_open(const char *name, const hd_device_options *o, dt_side *s, hd_diag *d) {
  hd_device_options own = *o;
  *s = (dt_side){0};
  own.emu.threads = 1;
  own.instead = "the device emu:portable compares two of the emulator's instruction sets";
  if (strncmp(name, "model:", 6) == 0)
    return hd_fail(
        d, HD_ERR_USAGE,
        "%.60s is a model, which runs on the emulator itself: the other side is cuda:N, emu:portable, "
        "emu:avx2 or emu:avx512",
        name);
  if (strncmp(name, "cuda:", 5) == 0) return dt_agent_open(name, &own, &s->agent, d);
  if (emulator_isa(name, &own.emu.isa)) name = "emu";
  return hd_device_open(name, &own, &s->device, d);
}

hd_status dt_side_info(const dt_side *s, hd_device_info *out, hd_diag *d) {
  if (s->agent) return dt_agent_info(s->agent, out, d);
  *out = *hd_device_get_info(s->device);
  return HD_OK;
}

void dt_side_close(dt_side *s) {
  hd_device_close(s->device);
  dt_agent_close(s->agent);
  *s = (dt_side){0};
}

/* ---- Batches ------------------------------------------------------------------------------ */

hd_status dt_batch_make(const dt_program *programs, const bool *const *keeps, uint32_t n, unsigned sm,
                        dt_batch *b, hd_diag *d) {
  *b = (dt_batch){.programs = programs, .keeps = keeps, .n = n, .sm = sm};
  b->offsets = calloc(n + 1u, sizeof *b->offsets);
  b->threads = calloc(n + 1u, sizeof *b->threads);
  if (!b->offsets || !b->threads) return hd_nomem(d);
  dt_print_head(sm, &b->ptx);
  for (uint32_t k = 0; k < n; k++) {
    dt_print_kernel(&programs[k], keeps ? keeps[k] : NULL, k, &b->ptx);
    b->threads[k] = programs[k].threads;
    b->offsets[k + 1] = b->offsets[k] + (dt_program_bytes(&programs[k]) + 255) / 256 * 256;
  }
  return b->ptx.failed ? hd_nomem(d) : HD_OK;
}

void dt_batch_free(dt_batch *b) {
  hd_buf_free(&b->ptx);
  free(b->offsets);
  free(b->threads);
  *b = (dt_batch){0};
}

hd_status dt_side_run(dt_side *s, const dt_batch *b, void *data, hd_diag *d) {
  hd_buf changed = {0};
  double seconds[2] = {0};
  hd_status st = s->change ? s->change(&b->ptx, b->unoptimized, &changed) : HD_OK;
  const hd_buf *ptx = changed.data ? &changed : &b->ptx;
  const dt_job job = {.ptx = ptx->data,
                      .len = ptx->len,
                      .n = b->n,
                      .offsets = b->offsets,
                      .threads = b->threads,
                      .unoptimized = b->unoptimized};
  if (st == HD_OK)
    st = s->agent ? dt_agent_run(s->agent, &job, data, seconds, d)
                  : dt_job_run(s->device, &job, data, &s->memory, &s->bytes, seconds, d);
  hd_buf_free(&changed);
  s->seconds_load += seconds[0];
  s->seconds_run += seconds[1];
  return st;
}

/* ---- Comparing ---------------------------------------------------------------------------------- */

dt_difference dt_compare(const dt_program *p, const void *emulator, const void *device) {
  const uint64_t *e = emulator, *v = device, T = p->threads;
  uint32_t bounded = 0;
  if (memcmp(e, v, dt_program_bytes(p)) == 0) return (dt_difference){0};
  for (uint64_t slot = 0; slot < dt_program_slots(p); slot++) {
    const dt_slot exact = {.rule = 0}, *s = slot < p->results.n ? &p->results.data[slot] : &exact;
    for (uint64_t t = 0; t < T; t++) {
      const uint64_t at = slot * T + t;
      uint64_t inputs[4] = {0};
      if (e[at] == v[at]) continue;
      /* A sum of magnitudes is its own scale. */
      if (!s->n_inputs) inputs[0] = e[at];
      for (unsigned k = 0; k < s->n_inputs && k < 4; k++) inputs[k] = e[at + (k + 1) * T];
      if (!dt_agree(s->rule, e[at], v[at], inputs))
        return (dt_difference){.found = true, .slot = slot, .thread = t, .emulator = e[at], .device = v[at]};
      bounded |= 1u << s->rule;
    }
  }
  const uint32_t *es = (const uint32_t *)((const char *)emulator + dt_program_scratch(p)),
                 *vs = (const uint32_t *)((const char *)device + dt_program_scratch(p));
  for (uint64_t k = 0; k < T * DT_SHARED_BYTES / 4; k++)
    if (es[k] != vs[k])
      return (dt_difference){true, true, k % (DT_SHARED_BYTES / 4), k / (DT_SHARED_BYTES / 4), es[k], vs[k]};
  return (dt_difference){.bounded = bounded};
}
