/* Memory that is allocated and freed in the order of streams and graphs. */
#include "cuda/core/order.h"

typedef struct alloc_work {
  core_work work;
  core_memory *memory; /* NULL: gone */
  bool lives;
} alloc_work;

typedef struct address_work {
  core_work work;
  uint64_t address;
} address_work;

/* ---- Accounts of a device -------------------------------------------------------------------- */

static void count(alloc_work *w, bool lives) {
  core_device *d = w->memory->context->device;
  if (w->lives == lives) return;
  w->lives = lives;
  d->graph_used[0] += lives ? w->memory->bytes : -w->memory->bytes;
  if (d->graph_used[0] > d->graph_used[1]) d->graph_used[1] = d->graph_used[0];
  if (d->graph_used[0] > d->graph_reserved[0]) d->graph_reserved[0] = d->graph_used[0];
  if (d->graph_reserved[0] > d->graph_reserved[1]) d->graph_reserved[1] = d->graph_reserved[0];
}

/* ---- Allocation ------------------------------------------------------------------------------ */

static cu_result run_alloc(core_work *base) {
  alloc_work *w = (alloc_work *)base;
  pthread_mutex_lock(&core.lock);
  if (w->memory) count(w, true);
  pthread_mutex_unlock(&core.lock);
  return w->memory ? CU_SUCCESS : CU_ILLEGAL_ADDRESS;
}

/* No graph has it any more. */
static void drop_alloc(core_work *base) {
  alloc_work *w = (alloc_work *)base;
  if (!w->memory) return;
  w->memory->of = NULL;
  if (!w->lives) core_memory_free(w->memory);
}

cu_result core_alloc_work(core_context *c, uint64_t bytes, core_work **out) {
  alloc_work *w = core_work_new(CORE_WORK_ALLOC, sizeof *w, c, run_alloc);
  if (!w) return CU_OUT_OF_MEMORY;
  cu_result r = core_memory_create(c, CORE_MEMORY_DEVICE, bytes, 0, "memory of a graph", &w->memory);
  if (r != CU_SUCCESS) {
    core_work_release(&w->work);
    return r;
  }
  w->work.drop = drop_alloc;
  w->memory->of = &w->work;
  *out = &w->work;
  return CU_SUCCESS;
}

uint64_t core_alloc_address(const core_work *base, uint64_t *bytes) {
  const alloc_work *w = (const alloc_work *)base;
  if (bytes) *bytes = w->memory ? w->memory->bytes : 0;
  return w->memory ? w->memory->address : 0;
}

bool core_alloc_lives(const core_work *w) { return ((const alloc_work *)w)->lives; }

void core_alloc_free(core_work *base) {
  alloc_work *w = (alloc_work *)base;
  if (w->memory) count(w, false);
}

void core_alloc_lost(core_work *base) {
  core_alloc_free(base);
  ((alloc_work *)base)->memory = NULL;
}

/* ---- Release --------------------------------------------------------------------------------- */

static cu_result run_free(core_work *base) {
  pthread_mutex_lock(&core.lock);
  core_memory *m = core_memory_find(((const address_work *)base)->address);
  if (m) {
    core_order_free(m->address, m->bytes);
    core_memory_free(m);
  }
  pthread_mutex_unlock(&core.lock);
  return CU_SUCCESS;
}

cu_result core_free_work(core_context *c, uint64_t address, core_work **out) {
  address_work *w = core_work_new(CORE_WORK_FREE, sizeof *w, c, run_free);
  if (!w) return CU_OUT_OF_MEMORY;
  w->address = address;
  *out = &w->work;
  return CU_SUCCESS;
}

/* Memory in a stream's order has its address at once, and belongs to the program from here on. */
static cu_result run_allocated(core_work *base) {
  pthread_mutex_lock(&core.lock);
  const core_memory *m = core_memory_find(((const address_work *)base)->address);
  if (m) core_touch(m->address, m->bytes, true);
  if (m) core_name_work("the allocation of %llu bytes", (unsigned long long)m->bytes);
  pthread_mutex_unlock(&core.lock);
  return CU_SUCCESS;
}

cu_result core_allocated(core_stream *s, uint64_t address) {
  if (!core_access_hook()) return CU_SUCCESS;
  address_work *w = core_work_new(CORE_WORK_ALLOC, sizeof *w, s->context, run_allocated);
  if (!w) return CU_OUT_OF_MEMORY;
  w->address = address;
  return core_submit(s, &w->work, NULL, NULL);
}

uint64_t core_free_address(const core_work *w) { return ((const address_work *)w)->address; }
