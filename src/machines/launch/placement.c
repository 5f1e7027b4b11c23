#include "launch/placement.h"

#include <stdlib.h>
#include <string.h>

/* ---- Buffers ---------------------------------------------------------------------- */

hd_status placement_open(placement *p, hd_device *dev, const hd_workload *w, const hd_run_options *o,
                         hd_diag *d) {
  const hd_device_info *info = hd_device_get_info(dev);
  size_t n = (size_t)w->n_buffers + 1;
  *p = (placement){.device = dev, .w = w, .run = *o};
  hd_arena_init(&p->arena);
  if (!p->run.machine.n_sms) p->run.machine.n_sms = info->n_sms;
  p->run.compile.arch = hd_launch_arch(info, p->run.compile.arch);
  p->addresses = HD_NEW_N(&p->arena, n, uint64_t);
  p->pristine = HD_NEW_N(&p->arena, n, uint64_t);
  p->filled = HD_NEW_N(&p->arena, n, bool);
  p->pointers = HD_NEW_N(&p->arena, n, void *);
  p->initial = launch_bytes_new(w);
  if (!p->pointers || !p->addresses || !p->pristine || !p->filled || !p->initial) return hd_nomem(d);
  hd_status st = hd_workload_compiled(w, p->run.compile.arch, &p->code, d);
  if (st == HD_OK) st = launch_check_variables(p->code, d);
  if (st == HD_OK) st = launch_first_contents(w, p->initial, p->filled, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++)
    st = hd_device_alloc(dev, w->buffers[i].bytes, &p->addresses[i], d);
  if (st == HD_OK) st = placement_point(p, d);
  return st == HD_OK ? placement_restore(p, d) : st;
}

/* Where a run may change them, the copy that it begins from is written as well. */
hd_status placement_point(placement *p, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    const uint64_t bytes = p->w->buffers[i].bytes;
    if (!p->w->buffers[i].points) continue;
    if (!p->pointers[i]) p->pointers[i] = hd_arena_alloc(&p->arena, bytes, 8);
    st = p->pointers[i] ? hd_workload_point(p->w, i, p->addresses, p->pointers[i], d) : hd_nomem(d);
    if (st == HD_OK) st = hd_device_write(p->device, p->addresses[i], p->pointers[i], bytes, d);
    if (st == HD_OK && p->pristine[i])
      st = hd_device_write(p->device, p->pristine[i], p->pointers[i], bytes, d);
  }
  return st;
}

static const void *first_bytes(const placement *p, uint32_t i) {
  return p->pointers[i] ? p->pointers[i] : p->initial[i];
}

void placement_close(placement *p) {
  if (!p->w) return;
  placement_release(p);
  hd_vec_free(&p->left);
  hd_vec_free(&p->held);
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    if (p->addresses) hd_device_free(p->device, p->addresses[i], NULL);
    if (p->pristine) hd_device_free(p->device, p->pristine[i], NULL);
  }
  launch_bytes_free(p->w, p->initial);
  hd_arena_free(&p->arena);
  *p = (placement){0};
}

/* ---- First contents, and results ---------------------------------------------------- */

hd_status placement_restore(placement *p, hd_diag *d) {
  hd_status st = HD_OK;
  if (p->fresh) return HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    uint64_t bytes = p->w->buffers[i].bytes;
    if (p->initial && !p->filled[i])
      st = hd_device_set(p->device, p->addresses[i], LAUNCH_POISON, bytes, d);
    else if (p->initial)
      st = hd_device_write(p->device, p->addresses[i], first_bytes(p, i), bytes, d);
    else if (p->pristine[i])
      st = hd_device_copy(p->device, p->addresses[i], p->pristine[i], bytes, d);
  }
  p->fresh = st == HD_OK && p->initial;
  return st;
}

hd_status placement_poison(placement *p, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && !p->initial && i < p->w->n_buffers; i++)
    if (!p->filled[i])
      st = hd_device_set(p->device, p->addresses[i], LAUNCH_POISON, p->w->buffers[i].bytes, d);
  return st;
}

hd_status placement_learn_changed(placement *p, const bool *changed, hd_diag *d) {
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    uint64_t bytes = p->w->buffers[i].bytes;
    if (!p->filled[i] || !changed[i]) continue;
    hd_status st = hd_device_alloc(p->device, bytes, &p->pristine[i], d);
    if (st == HD_OK) st = hd_device_write(p->device, p->pristine[i], first_bytes(p, i), bytes, d);
    if (st != HD_OK) return st;
  }
  launch_bytes_free(p->w, p->initial);
  p->initial = NULL;
  return HD_OK;
}

hd_status placement_learn(placement *p, void *const *result, hd_diag *d) {
  bool *changed = calloc((size_t)p->w->n_buffers + 1, sizeof *changed);
  if (!changed) return hd_nomem(d);
  for (uint32_t i = 0; i < p->w->n_buffers; i++)
    changed[i] = p->filled[i] && memcmp(result[i], first_bytes(p, i), p->w->buffers[i].bytes) != 0;
  hd_status st = placement_learn_changed(p, changed, d);
  free(changed);
  return st;
}

hd_status placement_read(placement *p, void ***out, hd_diag *d) {
  *out = launch_bytes_new(p->w);
  if (!*out) return hd_nomem(d);
  for (uint32_t i = 0; i < p->w->n_buffers; i++) {
    hd_status st = hd_device_read(p->device, p->addresses[i], (*out)[i], p->w->buffers[i].bytes, d);
    if (st == HD_OK) continue;
    launch_bytes_free(p->w, *out);
    *out = NULL;
    return st;
  }
  return HD_OK;
}

/* Buffer i is wrong: compare the whole of it for the message. */
static hd_status describe(const placement *p, uint32_t i, const void *want, hd_diag *d) {
  const hd_wl_buffer *b = &p->w->buffers[i];
  char what[512];
  void *got = malloc(b->bytes ? b->bytes : 1);
  if (!got) return hd_nomem(d);
  hd_status st = hd_device_read(p->device, p->addresses[i], got, b->bytes, d);
  if (st == HD_OK && !launch_same_buffer(b, got, want, b->count, what, sizeof what))
    st = hd_fail(d, HD_ERR_REFUSED, "buffer %s: %s", b->name, what);
  free(got);
  return st;
}

static hd_status compare_buffer(const placement *p, uint32_t i, const char *want, void *chunk,
                                uint64_t chunk_bytes, hd_diag *d) {
  const hd_wl_buffer *b = &p->w->buffers[i];
  hd_status st = HD_OK;
  char what[8];
  for (uint64_t at = 0, n; st == HD_OK && at < b->bytes; at += n) {
    n = b->bytes - at < chunk_bytes ? b->bytes - at : chunk_bytes;
    st = hd_device_read(p->device, p->addresses[i] + at, chunk, n, d);
    if (st != HD_OK) return st;
    if (!launch_same_buffer(b, chunk, want + at, n / hd_elem_bytes(b->type), what, sizeof what))
      return describe(p, i, want, d);
  }
  return st;
}

hd_status placement_compare(const placement *p, void *const *want, uint64_t *compared, hd_diag *d) {
  enum { CHUNK = 64 << 20 }; /* of whole elements of every type */
  uint64_t most = 1;
  for (uint32_t i = 0; i < p->w->n_buffers; i++)
    if (p->w->buffers[i].bytes > most) most = p->w->buffers[i].bytes;
  if (most > CHUNK) most = CHUNK;
  void *chunk = malloc(most);
  hd_status st = chunk ? HD_OK : hd_nomem(d);
  *compared = 0;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    st = compare_buffer(p, i, want[i], chunk, most, d);
    *compared += p->w->buffers[i].bytes;
  }
  free(chunk);
  return st;
}

void placement_give_back(placement *p) {
  /* Copies out of this memory may still be under way. */
  if (p->left.n || p->held.n) hd_device_sync(p->device, NULL);
  for (size_t i = 0; i < p->left.n; i++) hd_device_free(p->device, p->left.data[i], NULL);
  p->left.n = 0;
  p->left_bytes = 0;
}

void placement_release(placement *p) {
  placement_give_back(p);
  p->fragmented = false;
  while (p->held.n) hd_device_free(p->device, p->held.data[--p->held.n], NULL);
}
