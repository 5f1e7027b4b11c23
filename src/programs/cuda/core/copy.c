/* Copies and fills of every shape: a box of bytes in rows and slices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/order.h"

typedef struct copy_work {
  core_work work;
  core_place dst, src;
  core_box box;
  bool unified;   /* captured: a driver describes both sides of such copies by their addresses alone */
  uint32_t value; /* of fills */
  unsigned bytes;
} copy_work;

/* ---- Places ------------------------------------------------------------------------------------------- */

bool core_is_device(uint64_t address) {
  uint64_t first, bytes;
  hd_emu_range(core.emu, &first, &bytes);
  return address - first < bytes;
}

/* From the first byte to behind the last; UINT64_MAX: it overflows. */
static uint64_t span(const core_place *p, const core_box *box) {
  uint64_t rows, slices, sum;
  if (!box->width || !box->height || !box->depth) return 0;
  if (__builtin_mul_overflow(box->height - 1, p->pitch, &rows) ||
      __builtin_mul_overflow(box->depth - 1, p->slice, &slices) ||
      __builtin_add_overflow(rows, slices, &sum) || __builtin_add_overflow(sum, box->width, &sum))
    return UINT64_MAX;
  return sum;
}

cu_result core_check_place(const core_place *p, const core_box *box) {
  const uint64_t n = span(p, box);
  if (!n) return CU_SUCCESS;
  if (!p->device) return p->address ? CU_SUCCESS : CU_INVALID_VALUE;
  if (hd_emu_ptr(core.emu, p->address, n)) return CU_SUCCESS;
  const char *was = core_memory_was(p->address);
  core_found(CORE_FOUND_ARGUMENT, "%llu bytes at 0x%llx are not inside one allocation%s%s",
             (unsigned long long)n, (unsigned long long)p->address, was ? ": freed memory of " : "",
             was ? was : "");
  return CU_INVALID_VALUE;
}

/* Where a row lies on the host. */
static char *row_at(const core_place *p, uint64_t y, uint64_t z) {
  const uint64_t at = p->address + y * p->pitch + z * p->slice;
  return p->device ? hd_emu_ptr(core.emu, at, 0) : (char *)(uintptr_t)at;
}

/* For the check of streams: memory that only the host knows is the host's business. */
static void touch(const core_place *p, uint64_t y, uint64_t z, uint64_t bytes, bool write) {
  const uint64_t at = p->address + y * p->pitch + z * p->slice;
  if (!(core.settings.checks & HD_PROGRAM_CHECK_STREAMS)) return;
  const core_memory *m = p->device ? NULL : core_memory_find_host((const void *)(uintptr_t)at);
  if (p->device || m) core_touch(m ? m->address + (at - (uintptr_t)m->host) : at, bytes, write);
}

static void mark(const core_place *p, const core_box *box) {
  if (!p->device || !(core.settings.checks & HD_PROGRAM_CHECK_INIT)) return;
  for (uint64_t z = 0; z < box->depth; z++)
    for (uint64_t y = 0; y < box->height; y++)
      hd_emu_mark_written(core.emu, p->address + y * p->pitch + z * p->slice, box->width);
}

/* A copy's target is written if its source is; the host's memory is. */
static void mark_copy(const core_place *dst, const core_place *src, const core_box *box) {
  if (!(core.settings.checks & HD_PROGRAM_CHECK_INIT)) return;
  for (uint64_t z = 0; src->device && z < box->depth; z++)
    for (uint64_t y = 0; y < box->height; y++) {
      const uint64_t from = src->address + y * src->pitch + z * src->slice,
                     to = dst->address + y * dst->pitch + z * dst->slice;
      const uint64_t written = hd_emu_written(core.emu, from, box->width);
      if (dst->device) {
        hd_emu_copy_written(core.emu, to, from, box->width);
      } else if (written < box->width) {
        core_found(CORE_FOUND_INIT,
                   "a copy of %" PRIu64
                   " bytes to the host reads memory that was never written, at 0x%" PRIx64,
                   box->width * box->height * box->depth, from + written);
        return;
      }
    }
  if (!src->device) mark(dst, box);
}

/* Rows that follow each other without a gap, on both sides, are one. */
static core_box merge(const core_place *a, const core_place *b, core_box box) {
  if (a->pitch == box.width && b->pitch == box.width) {
    box.width *= box.height;
    box.height = 1;
    if (a->slice == box.width && b->slice == box.width) {
      box.width *= box.depth;
      box.depth = 1;
    }
  }
  return box;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static cu_result run_copy(core_work *base) {
  const copy_work *w = (const copy_work *)base;
  const core_box box = merge(&w->dst, &w->src, w->box);
  for (uint64_t z = 0; z < box.depth; z++)
    for (uint64_t y = 0; y < box.height; y++) {
      char *dst = row_at(&w->dst, y, z);
      const char *src = row_at(&w->src, y, z);
      if (!dst || !src) return CU_ILLEGAL_ADDRESS; /* freed since it was submitted */
      memmove(dst, src, box.width);
      touch(&w->dst, y, z, box.width, true);
      touch(&w->src, y, z, box.width, false);
    }
  core_name_work("a copy of %" PRIu64 " bytes", w->box.width * w->box.height * w->box.depth);
  mark_copy(&w->dst, &w->src, &box);
  return CU_SUCCESS;
}

static bool pageable(const core_place *p) { return !p->device && !core_memory_find(p->address); }

cu_result core_copy_work(core_context *c, core_place dst, core_place src, core_box box, core_work **out) {
  cu_result r = core_check_place(&dst, &box);
  if (r == CU_SUCCESS) r = core_check_place(&src, &box);
  if (r != CU_SUCCESS) return r;
  copy_work *w = core_work_new(CORE_WORK_COPY, sizeof *w, c, run_copy);
  if (!w) return CU_OUT_OF_MEMORY;
  w->dst = dst;
  w->src = src;
  w->box = box;
  *out = &w->work;
  return CU_SUCCESS;
}

static cu_side3d side_of(const core_place *p, bool unified) {
  return (cu_side3d){.type = unified     ? CU_MEMORY_UNIFIED
                             : p->device ? CU_MEMORY_DEVICE
                                         : CU_MEMORY_HOST,
                     .host = (const void *)(uintptr_t)p->address,
                     .device = p->address,
                     .pitch = p->pitch,
                     .height = p->pitch ? p->slice / p->pitch : 0};
}

cu_copy3d core_copy_of(const core_work *base) {
  const copy_work *w = (const copy_work *)base;
  const bool unified = w->unified && w->src.device && w->dst.device;
  return (cu_copy3d){side_of(&w->src, unified), side_of(&w->dst, unified), w->box.width, w->box.height,
                     w->box.depth};
}

/* How a call waits for what it submits; STAGED: core_wait_staged. */
typedef enum wait { WAIT_NOT, WAIT_STAGED_ASYNC, WAIT_STAGED, WAIT } wait;

static cu_result submit(core_stream *s, core_work *w, wait how) {
  core_op *op;
  cu_result r = core_submit(s, w, NULL, &op);
  if (r == CU_SUCCESS && how == WAIT) r = core_wait_op(op, s->context);
  if (r == CU_SUCCESS && (how == WAIT_STAGED || how == WAIT_STAGED_ASYNC))
    r = core_wait_staged(op, s->context, how == WAIT_STAGED_ASYNC);
  core_op_release(op);
  return r;
}

/* Memory that only the device sees. */
static bool is_remote(const core_place *p) {
  const core_memory *m = p->device ? core_memory_find(p->address) : NULL;
  return m && !m->host;
}

/* CUDA's rules ("API synchronization behavior"): a copy from pageable memory to the device returns when the
 * bytes have been staged, and may still be on its way; one to pageable memory has ended, unless the call is
 * asynchronous, when that is not promised. */
static wait wait_of(const core_place *dst, const core_place *src, bool async) {
  const bool in = pageable(src) && is_remote(dst), out = pageable(dst) && is_remote(src);
  if (async) return in || out ? WAIT_STAGED_ASYNC : pageable(dst) || pageable(src) ? WAIT : WAIT_NOT;
  return in ? WAIT_STAGED : WAIT;
}

/* Copies between two devices are in order with all work of both. */
static const core_device *device_of(const core_place *p) {
  const core_memory *m = core_memory_find(p->address);
  return m && m->kind == CORE_MEMORY_DEVICE ? m->context->device : NULL;
}

cu_result core_copy(core_stream *s, core_place dst, core_place src, core_box box, bool async) {
  core_work *w;
  cu_result r = core_copy_work(s->context, dst, src, box, &w);
  if (r != CU_SUCCESS) return r;
  ((copy_work *)w)->unified = s->capture != NULL;
  const core_device *to = device_of(&dst), *from = device_of(&src);
  const bool crosses = s == s->context->legacy && to && from && to != from;
  if (crosses) core_wait_all();
  return submit(s, w, crosses ? WAIT : wait_of(&dst, &src, async));
}

/* ---- Fills ----------------------------------------------------------------------------------- */

static void fill(char *at, uint64_t n, uint32_t value, unsigned bytes) {
  if (bytes == 1) {
    memset(at, (int)(value & 0xFF), n);
    return;
  }
  for (uint64_t k = 0; k + bytes <= n; k += bytes) memcpy(at + k, &value, bytes);
}

static cu_result run_set(core_work *base) {
  const copy_work *w = (const copy_work *)base;
  const core_box box = merge(&w->dst, &w->dst, w->box);
  for (uint64_t z = 0; z < box.depth; z++)
    for (uint64_t y = 0; y < box.height; y++) {
      char *dst = row_at(&w->dst, y, z);
      if (!dst) return CU_ILLEGAL_ADDRESS;
      fill(dst, box.width, w->value, w->bytes);
      touch(&w->dst, y, z, box.width, true);
    }
  core_name_work("a fill of %" PRIu64 " bytes", w->box.width * w->box.height);
  mark(&w->dst, &box);
  return CU_SUCCESS;
}

cu_result core_set_work(core_context *c, core_place dst, core_box box, uint32_t value, unsigned bytes,
                        core_work **out) {
  if (dst.address % bytes || (box.height > 1 && dst.pitch % bytes)) return CU_INVALID_VALUE;
  cu_result r = core_check_place(&dst, &box);
  if (r != CU_SUCCESS) return r;
  copy_work *w = core_work_new(CORE_WORK_SET, sizeof *w, c, run_set);
  if (!w) return CU_OUT_OF_MEMORY;
  w->dst = dst;
  w->box = box;
  w->value = value;
  w->bytes = bytes;
  *out = &w->work;
  return CU_SUCCESS;
}

cu_set_node core_set_of(const core_work *base) {
  const copy_work *w = (const copy_work *)base;
  return (cu_set_node){.dst = w->dst.address,
                       .pitch = w->dst.pitch,
                       .value = w->value,
                       .bytes = w->bytes,
                       .width = w->box.width / w->bytes,
                       .height = w->box.height};
}

cu_result core_set(core_stream *s, core_place dst, core_box box, uint32_t value, unsigned bytes, bool async) {
  core_work *w;
  cu_result r = core_set_work(s->context, dst, box, value, bytes, &w);
  const core_memory *m = core_memory_find(dst.address);
  return r == CU_SUCCESS ? submit(s, w, !async && m && m->host ? WAIT : WAIT_NOT) : r;
}
