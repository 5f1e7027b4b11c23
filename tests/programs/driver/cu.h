/* The driver's entry points, declared without CUDA, and checks that end the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda.h"

#define DECLARE(symbol, ...) fn_##symbol symbol;
#define CU_KNOWN(symbol, version, variant, stream, run, parameters, arguments)                               \
  CU_EACH_##variant(DECLARE, symbol, )
#include "abi/driver.def"

#define EXPECT(call, want)                                                                                   \
  do {                                                                                                       \
    int got_ = (call);                                                                                       \
    if (got_ != (want)) {                                                                                    \
      printf("%s:%d: %s gives %d, not %d\n", __FILE__, __LINE__, #call, got_, (want));                       \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define OK(call) EXPECT(call, 0)
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                         \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

#define PTX_HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"
/* y[i] = a * x[i] + y[i] for i < n */
#define PTX_SAXPY                                                                                            \
  ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {\n"                    \
  ".reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<4>; .reg .pred %p;\n"                                     \
  "ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"          \
  "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"       \
  "setp.ge.u32 %p, %r5, %r1; @%p bra END;\n"                                                                 \
  "mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"                         \
  "ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f3, %f1, %f2, %f3;\n"                   \
  "st.global.f32 [%rd5], %f3;\nEND: ret; }\n"

static inline cu_context begin(void) {
  cu_context context;
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  return context;
}

static inline cu_function kernel_of(const char *ptx, const char *name, cu_module *module) {
  cu_function function;
  OK(cuModuleLoadData(module, ptx));
  OK(cuModuleGetFunction(&function, *module, name));
  return function;
}
