/* A program over the driver that does nothing, whose kernel calls a function through a pointer that it is
 * given, and one that takes a function's address: where the code lies is known in their own module only. */
#include "fake.h"

#define HEAD ".version 7.8\n.target sm_70\n.address_size 64\n.func f() { ret; }\n"
static const char ptx[] =
    HEAD ".visible .entry calls(.param .u64 to, .param .u64 out) {\n"
         ".reg .b64 %d<3>; .reg .b32 %r<2>; ld.param.u64 %d1, [to]; ld.param.u64 %d2, [out]; ld.global.u32 "
         "%r1, [%d2];\n"
         "{ proto: .callprototype () _ (); call %d1, (), proto; }\nst.global.u32 [%d2], %r1; ret; }\n"
         ".visible .entry takes(.param .u64 to, .param .u64 out) {\n"
         ".reg .b64 %d<3>; .reg .b32 %r<2>; ld.param.u64 %d2, [out]; ld.global.u32 %r1, [%d2];\n"
         "mov.u64 %d1, f; st.global.u64 [%d2], %d1; ret; }\n";

int main(void) {
  static const char *const names[] = {"calls", "takes"};
  cu_function f;
  cu_module module;
  uint64_t to = 256, out = 512;
  void *params[] = {&to, &out};
  cuInit(0);
  if (cuModuleLoadData(&module, ptx) != 0) return 1;
  for (int k = 0; k < 2; k++)
    if (cuModuleGetFunction(&f, module, names[k]) != 0 ||
        cuLaunchKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL) != 0)
      return 1;
  return 0;
}
