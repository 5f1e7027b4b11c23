/* Memory of the program's that a launch is not known to reach (run_reach's others), as one number: it is the
 * same before and after the launch, unless that reaches further than heddle sees. The memory is read by
 * copies, which fail where a kernel's loads would fault. */
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { WORD = 8, ROOM = 1 << 26 };

/* Adds a mixture of each word and its place to the sum. */
static run_own summer = {
    .text =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry sum(.param .u64 a, .param .u64 n, .param .u64 base, .param .u64 to) {\n"
        ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %x<8>; .reg .b64 %d<8>;\n"
        "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [base]; ld.param.u64 %d3, [n]; ld.param.u64 %d4, [to];\n"
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
        "mul.wide.u32 %d5, %r1, %r2; cvt.u64.u32 %d6, %r3; add.s64 %d5, %d5, %d6; mul.wide.u32 %d6, %r4, "
        "%r2;\n"
        "mov.u64 %x6, 0;\n"
        "next: setp.ge.u64 %p1, %d5, %d3; @%p1 bra done;\n"
        "shl.b64 %x1, %d5, 3; add.s64 %x2, %d1, %x1; ld.global.u64 %x3, [%x2];\n"
        "add.s64 %x4, %d5, %d2; mul.lo.u64 %x4, %x4, 0x9E3779B97F4A7C15; add.s64 %x3, %x3, %x4;\n"
        "shr.u64 %x5, %x3, 30; xor.b64 %x3, %x3, %x5; mul.lo.u64 %x3, %x3, 0xBF58476D1CE4E5B9;\n"
        "shr.u64 %x5, %x3, 27; xor.b64 %x3, %x3, %x5; mul.lo.u64 %x3, %x3, 0x94D049BB133111EB;\n"
        "shr.u64 %x5, %x3, 31; xor.b64 %x3, %x3, %x5; add.s64 %x6, %x6, %x3;\n"
        "add.s64 %d5, %d5, %d6; bra next;\n"
        "done: red.global.add.u64 [%d4], %x6; ret; }\n"};

static int add_chunk(const run_guard *g, uint64_t from, uint64_t bytes, cu_stream stream) {
  const run_driver *d = &run_real;
  uint64_t a = g->room, n = (bytes + WORD - 1) / WORD, base = from / WORD, to = g->sum;
  void *params[] = {&a, &n, &base, &to};
  int r = CU_SUCCESS;
  if (bytes % WORD) r = d->cuMemsetD8Async(a + (n - 1) * WORD, 0, WORD, stream);
  if (r == CU_SUCCESS) r = d->cuMemcpyDtoDAsync_v2(a, from, bytes, stream);
  return r == CU_SUCCESS ? run_own_launch(&summer, "sum", n, stream, params) : r;
}

bool run_guard_open(run_guard *g, const run_range *ranges, size_t n) {
  uint64_t most = 0;
  *g = (run_guard){.ranges = ranges, .n = n};
  for (size_t k = 0; k < n; k++)
    if (ranges[k].bytes > most) most = ranges[k].bytes;
  if (most > ROOM) most = ROOM;
  if (!n) return true;
  g->bytes = most + WORD;
  if (run_real.cuMemAlloc_v2(&g->sum, WORD) != CU_SUCCESS) g->sum = 0;
  if (g->sum && run_real.cuMemAlloc_v2(&g->room, g->bytes) != CU_SUCCESS) g->room = 0;
  return g->room != 0;
}

int run_guard_sum(run_guard *g, cu_stream stream, uint64_t *out) {
  *out = 0;
  if (!g->n) return CU_SUCCESS;
  int r = run_real.cuMemsetD8Async(g->sum, 0, WORD, stream);
  for (size_t k = 0; r == CU_SUCCESS && k < g->n; k++)
    for (uint64_t at = 0; r == CU_SUCCESS && at < g->ranges[k].bytes; at += ROOM) {
      const uint64_t left = g->ranges[k].bytes - at;
      r = add_chunk(g, g->ranges[k].at + at, left < ROOM ? left : ROOM, stream);
    }
  if (r == CU_SUCCESS) r = run_real.cuMemcpyDtoHAsync_v2(out, g->sum, WORD, stream);
  return r == CU_SUCCESS ? run_real.cuStreamSynchronize(stream) : r;
}

void run_guard_clear(run_guard *g, cu_stream stream) {
  if (g->sum) run_real.cuMemsetD8Async(g->sum, 0, WORD, stream);
  if (g->room) run_real.cuMemsetD8Async(g->room, 0, g->bytes, stream);
}

void run_guard_close(run_guard *g) {
  if (g->sum) run_real.cuMemFree_v2(g->sum);
  if (g->room) run_real.cuMemFree_v2(g->room);
  *g = (run_guard){0};
}
