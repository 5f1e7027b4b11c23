/* Values that streams write and wait for, one by one and in batches. */
#include "cuda/driver/driver.h"

enum { WAIT_32 = 1, WRITE_32 = 2, FLUSH = 3, WAIT_64 = 4, WRITE_64 = 5, BARRIER = 6 };
enum { WAIT_TEST = 3, WAIT_FLUSH = 1 << 30, WRITE_NO_BARRIER = 1 };

/* Of each operation: the bytes of its value, or 0 for those that change nothing here, and the flags that it
 * takes. */
static const struct {
  unsigned bytes, flags;
  bool waits;
} kinds[] = {[WAIT_32] = {4, WAIT_TEST | WAIT_FLUSH, true},
             [WAIT_64] = {8, WAIT_TEST | WAIT_FLUSH, true},
             [WRITE_32] = {4, WRITE_NO_BARRIER, false},
             [WRITE_64] = {8, WRITE_NO_BARRIER, false},
             [FLUSH] = {0},
             [BARRIER] = {0, 1, false}};

static cu_result submit(core_stream *s, const cu_memory_op *op) {
  static const core_value_test tests[] = {CORE_VALUE_AT_LEAST, CORE_VALUE_EQUAL, CORE_VALUE_AND,
                                          CORE_VALUE_NOR};
  core_work *w;
  if (op->operation < WAIT_32 || op->operation > BARRIER || op->flags & ~kinds[op->operation].flags)
    return CU_INVALID_VALUE;
  const unsigned bytes = kinds[op->operation].bytes;
  if (!bytes) return CU_SUCCESS;
  const core_value v = {.address = op->address,
                        .value = op->value,
                        .bytes = bytes,
                        .test = kinds[op->operation].waits ? tests[op->flags & WAIT_TEST] : CORE_VALUE_WRITE};
  cu_result r = core_value_work(s->context, &v, &w);
  return r == CU_SUCCESS ? core_submit(s, w, NULL, NULL) : r;
}

cu_result drv_cuStreamBatchMemOp_v2(cu_stream stream, unsigned n, void *ops, unsigned flags) {
  enum { MOST = 256 };
  core_stream *s;
  cu_result r = drv_stream(stream, &s);
  if (r != CU_SUCCESS) return r;
  if (!ops || n > MOST || flags) return CU_INVALID_VALUE;
  for (unsigned k = 0; r == CU_SUCCESS && k < n; k++) r = submit(s, (const cu_memory_op *)ops + k);
  return r;
}
cu_result drv_cuStreamBatchMemOp(cu_stream stream, unsigned n, void *ops, unsigned flags) {
  return drv_cuStreamBatchMemOp_v2(stream, n, ops, flags);
}

#define VALUE(name, kind, type)                                                                              \
  cu_result drv_cuStream##name##_v2(cu_stream stream, cu_address address, type value, unsigned flags) {      \
    cu_memory_op op = {.operation = (kind), .address = address, .value = value, .flags = flags};             \
    return drv_cuStreamBatchMemOp_v2(stream, 1, &op, 0);                                                     \
  }                                                                                                          \
  cu_result drv_cuStream##name(cu_stream stream, cu_address address, type value, unsigned flags) {           \
    return drv_cuStream##name##_v2(stream, address, value, flags);                                           \
  }
VALUE(WaitValue32, WAIT_32, uint32_t)
VALUE(WaitValue64, WAIT_64, uint64_t)
VALUE(WriteValue32, WRITE_32, uint32_t)
VALUE(WriteValue64, WRITE_64, uint64_t)
