/* Kernels that write memory whose addresses stand nowhere as such: each launch adds 1 to every element, so
 * that a launch which is repeated, with memory that is not put back, shows. */
#include "../driver/cu.h"

#define INDEX                                                                                                \
  ".reg .b32 %r<10>; .reg .b64 %rd<12>; .reg .pred %p<2>;\n"                                                 \
  "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"       \
  "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mul.wide.u32 %rd3, %r1, 4;\n"
/* %rd4: the element. */
#define ADD "ld.global.u32 %r4, [%rd4]; add.u32 %r4, %r4, 1; st.global.u32 [%rd4], %r4; ret; }\n"
#define KERNEL(name, address) ".visible .entry " name "(.param .u64 a, .param .u64 b) {\n" INDEX address ADD

static const char text[] = PTX_HEAD
    /* a is the end of an allocation, */
    KERNEL("from_end", "sub.s64 %rd4, %rd1, %rd3; sub.s64 %rd4, %rd4, 4;\n")
    /* or lies far before its beginning, */
    KERNEL("from_before", "add.s64 %rd4, %rd1, %rd3; add.s64 %rd4, %rd4, 65536;\n")
    /* or has its halves exchanged. */
    KERNEL("from_halves",
           "shl.b64 %rd4, %rd1, 32; shr.u64 %rd5, %rd1, 32; or.b64 %rd4, %rd4, %rd5; add.s64 %rd4, "
           "%rd4, %rd3;\n")
    /* b is the way from a to another allocation. */
    KERNEL("from_distance", "add.s64 %rd4, %rd1, %rd2; add.s64 %rd4, %rd4, %rd3;\n")
    /* At a is an address, in two words that are not aligned, */
    KERNEL("from_words",
           "ld.global.u32 %r5, [%rd1+4]; ld.global.u32 %r6, [%rd1+8]; mov.b64 %rd4, {%r5, %r6}; "
           "add.s64 %rd4, %rd4, %rd3;\n")
    /* or one that is of a variable of another module. */
    KERNEL("from_memory", "ld.global.u64 %rd4, [%rd1]; add.s64 %rd4, %rd4, %rd3;\n");

static const char other[] =
    PTX_HEAD ".visible .global .align 8 .b8 elsewhere[16384];\n.visible .entry unused() { ret; }\n";

enum { CTAS = 32, BLOCK = 128, N = CTAS * BLOCK, LAUNCHES = 6 };

static void launch(cu_module module, const char *name, cu_address a, cu_address b, cu_address at) {
  unsigned out[N], bad = 0;
  cu_function f;
  void *params[] = {&a, &b};
  memset(out, 0, sizeof out);
  OK(cuMemcpyHtoD_v2(at, out, sizeof out));
  OK(cuModuleGetFunction(&f, module, name));
  for (unsigned k = 0; k < LAUNCHES; k++)
    OK(cuLaunchKernel(f, CTAS, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
  OK(cuMemcpyDtoH_v2(out, at, sizeof out));
  for (unsigned k = 0; k < N; k++) bad += out[k] != LAUNCHES;
  if (bad) printf("%s: %u of %u are wrong, as %u, not %u\n", name, bad, N, out[0], LAUNCHES);
}

int main(void) {
  cu_module module, second;
  cu_context context;
  cu_address mine, table, variable;
  size_t bytes;
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuModuleLoadData(&module, text));
  OK(cuModuleLoadData(&second, other));
  OK(cuMemAlloc_v2(&table, 256));
  OK(cuMemAlloc_v2(&mine, N * sizeof(unsigned)));
  OK(cuModuleGetGlobal_v2(&variable, &bytes, second, "elsewhere"));
  launch(module, "from_end", mine + N * sizeof(unsigned), 0, mine);
  launch(module, "from_before", mine - 65536, 0, mine);
  launch(module, "from_halves", mine << 32 | mine >> 32, 0, mine);
  launch(module, "from_distance", table, mine - table, mine);
  const unsigned words[] = {7, (unsigned)mine, (unsigned)(mine >> 32), 7};
  OK(cuMemcpyHtoD_v2(table, words, sizeof words));
  launch(module, "from_words", table, 0, mine);
  OK(cuMemcpyHtoD_v2(table, &variable, sizeof variable));
  launch(module, "from_memory", table, 0, variable);
  puts("hidden: done");
  return 0;
}
