/* Launches that reach memory through pointers in memory: sum follows a table of rows, each of which may be
 * followed by another, and is given the table's end, too. A row's elements are its number; the ends of rows
 * are addresses behind them. Prints the sums of two shapes of launches. */
#include "../driver/cu.h"

#define PTX_CHASE                                                                                            \
  ".version 7.8\n.target sm_70\n.address_size 64\n"                                                          \
  ".visible .entry sum(.param .u64 begin, .param .u64 end, .param .u64 out) {\n"                             \
  ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<12>;\n"                                                   \
  "ld.param.u64 %d1, [begin]; ld.param.u64 %d2, [end]; ld.param.u64 %d3, [out];\n"                           \
  "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d4, %r1, 16; add.s64 %d1, %d1, %d4;\n"                               \
  "mul.wide.u32 %d4, %r1, 4; add.s64 %d3, %d3, %d4; mov.u32 %r2, 0;\n"                                       \
  "setp.ge.u64 %p1, %d1, %d2; @%p1 bra done;\n"                                                              \
  "ld.global.u64 %d5, [%d1]; ld.global.u64 %d6, [%d1+8];\n"                                                  \
  "next: setp.ge.u64 %p2, %d5, %d6; @%p2 bra done;\n"                                                        \
  "ld.global.u32 %r3, [%d5]; add.u32 %r2, %r2, %r3; add.s64 %d5, %d5, 4; bra next;\n"                        \
  "done: st.global.u32 [%d3], %r2; ret; }\n"

enum { ROWS = 4, ROW = 64 };

int main(void) {
  cu_function f;
  cu_module module;
  cu_context context;
  cu_address table, out, rows[2 * ROWS];
  uint32_t row[ROW], sums[ROWS];
  int device;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, PTX_CHASE));
  OK(cuModuleGetFunction(&f, module, "sum"));
  OK(cuMemAlloc_v2(&table, sizeof rows));
  OK(cuMemAlloc_v2(&out, sizeof sums));
  for (int k = 0; k < ROWS; k++) {
    for (int i = 0; i < ROW; i++) row[i] = (uint32_t)k;
    OK(cuMemAlloc_v2(&rows[2 * k], sizeof row));
    OK(cuMemcpyHtoD_v2(rows[2 * k], row, sizeof row));
    rows[2 * k + 1] = rows[2 * k] + sizeof row;
  }
  OK(cuMemcpyHtoD_v2(table, rows, sizeof rows));
  cu_address end = table + sizeof rows;
  void *params[] = {&table, &end, &out};
  for (unsigned n = ROWS; n >= 2; n /= 2) {
    OK(cuLaunchKernel(f, n, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(sums, out, sizeof sums));
    for (unsigned k = 0; k < n; k++) printf("%u%c", sums[k], k + 1 < n ? ' ' : '\n');
  }
  return 0;
}
