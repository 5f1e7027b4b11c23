/* Operations of a stream that write a value to memory, or wait until memory has one. */
#include <inttypes.h>
#include <string.h>

#include "cuda/core/order.h"

typedef struct value_work {
  core_work work;
  core_value value;
} value_work;

static uint64_t load(const core_value *v, const void *at) {
  return v->bytes == 8 ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
                       : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}

static void store(const core_value *v, void *at) {
  if (v->bytes == 8)
    __atomic_store_n((uint64_t *)at, v->value, __ATOMIC_RELEASE);
  else
    __atomic_store_n((uint32_t *)at, (uint32_t)v->value, __ATOMIC_RELEASE);
}

static bool is_reached(const core_value *v, uint64_t have) {
  const uint64_t mask = v->bytes == 8 ? UINT64_MAX : UINT32_MAX, sign = mask ^ mask >> 1;
  switch (v->test) {
  case CORE_VALUE_AT_LEAST: return !((have - v->value) & sign);
  case CORE_VALUE_EQUAL: return have == (v->value & mask);
  case CORE_VALUE_AND: return (have & v->value & mask) != 0;
  default: return (~(have | v->value) & mask) != 0;
  }
}

static cu_result run_write(core_work *base) {
  const core_value *v = &((const value_work *)base)->value;
  void *at = hd_emu_ptr(core.emu, v->address, v->bytes);
  if (!at) return CU_ILLEGAL_ADDRESS; /* freed since it was submitted */
  core_order_tell();
  store(v, at);
  if (core.settings.checks & HD_PROGRAM_CHECK_INIT) hd_emu_mark_written(core.emu, v->address, v->bytes);
  return CU_SUCCESS;
}

static cu_result run_wait(core_work *base) {
  const core_value *v = &((const value_work *)base)->value;
  for (;;) {
    const void *at = hd_emu_ptr(core.emu, v->address, v->bytes);
    if (!at) return CU_ILLEGAL_ADDRESS;
    const uint64_t have = load(v, at);
    if (is_reached(v, have)) break;
    if (core_wait_outside(NULL, true, false)) continue;
    core_found(CORE_FOUND_BARRIER,
               "a stream waits for a value at 0x%" PRIx64 " that nothing can write any more", v->address);
    return CU_LAUNCH_TIMEOUT;
  }
  core_order_told();
  return CU_SUCCESS;
}

cu_result core_value_work(core_context *c, const core_value *v, core_work **out) {
  if (v->address % v->bytes || !hd_emu_ptr(core.emu, v->address, v->bytes)) return CU_INVALID_VALUE;
  const bool waits = v->test != CORE_VALUE_WRITE;
  value_work *w = core_work_new(CORE_WORK_VALUE, sizeof *w, c, waits ? run_wait : run_write);
  if (!w) return CU_OUT_OF_MEMORY;
  w->value = *v;
  w->work.may_wait = waits;
  *out = &w->work;
  return CU_SUCCESS;
}
