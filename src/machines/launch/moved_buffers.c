/* Moves a workload's buffers, with their contents, into other memory of the device. */
#include "launch/placement.h"

#include <stdlib.h>

/* Hold more memory, in pieces, until there is no more or there are so many of them. */
static void hold(placement *p, uint64_t bytes, size_t most) {
  uint64_t address;
  while (p->held.n < most && hd_vec_reserve(&p->held, p->held.n + 1) &&
         hd_device_alloc(p->device, bytes, &address, NULL) == HD_OK)
    p->held.data[p->held.n++] = address;
}

void placement_fragment(placement *p) {
  /* A page of a GPU; what is quickly taken; as many pieces as can be had in some tenths of a second. */
  static const uint64_t page = 2 << 20, block = 1 << 30, pieces = 4096;
  uint64_t room = 2 * block;
  for (uint32_t i = 0; i < p->w->n_buffers; i++) room += 3 * p->w->buffers[i].bytes;
  placement_give_back(p);
  hold(p, block, SIZE_MAX);
  for (uint64_t freed = 0; freed < room && p->held.n; freed += block)
    hd_device_free(p->device, p->held.data[--p->held.n], NULL);
  size_t from = p->held.n, kept = from;
  hold(p, page * (1 + room / (page * pieces)), from + 2 * pieces);
  /* Two of three pieces become gaps. */
  for (size_t i = from; i < p->held.n; i++) {
    if (hd_random_at(room, i) % 3)
      hd_device_free(p->device, p->held.data[i], NULL);
    else
      p->held.data[kept++] = p->held.data[i];
  }
  p->held.n = kept;
  p->fragmented = true;
}

static hd_status allocate_beside(placement *p, uint64_t bytes, uint64_t *address, hd_diag *d) {
  uint64_t memory = hd_device_get_info(p->device)->memory_bytes;
  if (memory && p->left_bytes > memory / 2) placement_give_back(p);
  hd_status st = hd_device_alloc(p->device, bytes, address, d);
  if (st != HD_ERR_NOMEM || !p->left.n) return st;
  placement_give_back(p);
  return hd_device_alloc(p->device, bytes, address, d);
}

static hd_status move_buffer(placement *p, uint32_t i, hd_diag *d) {
  uint64_t bytes = p->w->buffers[i].bytes, address;
  if (!hd_vec_reserve(&p->left, p->left.n + 1)) return hd_nomem(d);
  hd_status st = allocate_beside(p, bytes, &address, d);
  if (st != HD_OK) return st;
  if ((st = hd_device_copy(p->device, address, p->addresses[i], bytes, d)) != HD_OK) {
    hd_device_free(p->device, address, NULL);
    return st;
  }
  p->left.data[p->left.n++] = p->addresses[i];
  p->left_bytes += bytes;
  p->addresses[i] = address;
  return HD_OK;
}

/* Memory of a piece that buffers lay in would be the first to be taken again. */
static void hold_left(placement *p) {
  if (!hd_vec_reserve(&p->held, p->held.n + p->left.n)) return;
  for (size_t i = 0; i < p->left.n; i++) p->held.data[p->held.n++] = p->left.data[i];
  p->left.n = 0;
  p->left_bytes = 0;
}

hd_status placement_move(placement *p, uint64_t *moved, hd_diag *d) {
  hd_status st = HD_OK;
  *moved = 0;
  p->moves++;
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_buffers; i++) {
    hd_diag e = {0};
    st = move_buffer(p, i, &e);
    if (st == HD_OK) *moved += p->w->buffers[i].bytes;
    if (st == HD_ERR_NOMEM) st = HD_OK;
    if (st != HD_OK && d) *d = e;
  }
  if (p->fragmented) hold_left(p);
  p->fragmented = false;
  return st == HD_OK ? placement_point(p, d) : st;
}
