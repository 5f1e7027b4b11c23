/* A kernel that uses variables of its module: it adds to one, reads constants by name, by a register and in a
 * function, and writes where a pointer among them says. Two contexts have a module each, and one a library.
 * The kernel reads what the program writes into the variables, and the other way round. */
#include "../driver/cu.h"

static const char text[] = PTX_HEAD
    ".visible .global .align 4 .u32 before = 77;\n.visible .global .align 4 .u32 total[3];\n"
    ".visible .const .align 4 .u32 factor[5] = {9, 2, 3, 5, 7};\n.visible .global .align 8 .u64 where;\n"
    ".func (.param .u32 r) scaled(.param .u32 i) {\n.reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
    "ld.param.u32 %r1, [i]; and.b32 %r1, %r1, 3; mov.u64 %rd1, factor; mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
    "ld.const.u32 %r2, [%rd2+4]; ld.const.u32 %r3, [factor]; mul.lo.u32 %r2, %r2, %r3; st.param.u32 [r], "
    "%r2; ret; }\n"
    ".visible .entry sum(.param .u64 in, .param .u32 n) {\n.reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred "
    "%p<2>;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "ld.param.u32 %r2, [n]; setp.ge.u32 %p1, %r1, %r2; @%p1 ret;\n"
    "ld.param.u64 %rd1, [in]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r4, "
    "[%rd3];\n"
    "{ .param .u32 i; .param .u32 o; st.param.u32 [i], %r1; call (o), scaled, (i); ld.param.u32 %r5, [o]; }\n"
    "mul.lo.u32 %r4, %r4, %r5; red.global.add.u32 [total+4], %r4; mov.u64 %rd4, total+8;\n"
    "cvta.global.u64 %rd5, %rd4; red.add.u32 [%rd5], 1;\n"
    "ld.global.u64 %rd6, [where]; add.s64 %rd7, %rd6, %rd2; st.global.u32 [%rd7], %r4; ret; }\n";

enum { N = 512, BLOCK = 64, ROUNDS = 3 };

typedef struct place {
  cu_context context;
  cu_function function;
  cu_address in, out, total, factor, where;
} place;

/* Of a module or a library. */
#define FIND(get, of, p)                                                                                     \
  do {                                                                                                       \
    size_t bytes;                                                                                            \
    OK(get(&(p)->total, &bytes, of, "total"));                                                               \
    CHECK(bytes == 12);                                                                                      \
    OK(get(&(p)->factor, &bytes, of, "factor"));                                                             \
    OK(get(&(p)->where, &bytes, of, "where"));                                                               \
  } while (0)

static void fill(place *p, unsigned first) {
  unsigned in[N], zero[3] = {0};
  for (unsigned k = 0; k < N; k++) in[k] = first + k;
  OK(cuMemAlloc_v2(&p->in, sizeof in));
  OK(cuMemAlloc_v2(&p->out, sizeof in));
  OK(cuMemcpyHtoD_v2(p->in, in, sizeof in));
  OK(cuMemcpyHtoD_v2(p->where, &p->out, sizeof p->out));
  OK(cuMemcpyHtoD_v2(p->total, zero, sizeof zero));
}

/* Launches, and compares with what they should do. */
static void use(place *p, unsigned first, unsigned scale) {
  static const unsigned factor[] = {2, 3, 5, 7};
  unsigned n = N, sum = 0, out[N], total[3];
  void *params[] = {&p->in, &n};
  OK(cuCtxSetCurrent(p->context));
  for (unsigned k = 0; k < ROUNDS; k++) {
    const unsigned now = scale + k;
    OK(cuMemcpyHtoD_v2(p->factor, &now, sizeof now));
    OK(cuLaunchKernel(p->function, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(out, p->out, sizeof out));
    for (unsigned i = 0; i < N; i++) {
      CHECK(out[i] == (first + i) * factor[i % 4] * now);
      sum += out[i];
    }
    OK(cuMemcpyDtoH_v2(total, p->total, sizeof total));
    CHECK(total[1] == sum && total[2] == (k + 1) * N && total[0] == 0);
  }
}

static void modules(place p[2]) {
  cu_module m[2];
  for (int k = 0; k < 2; k++) {
    OK(cuCtxSetCurrent(p[k].context));
    OK(cuModuleLoadData(&m[k], text));
    OK(cuModuleGetFunction(&p[k].function, m[k], "sum"));
    FIND(cuModuleGetGlobal_v2, m[k], &p[k]);
    fill(&p[k], 10 + (unsigned)k);
  }
  for (int k = 0; k < 2; k++) use(&p[k], 10 + (unsigned)k, 3 + (unsigned)k);
  for (int k = 0; k < 2; k++) {
    OK(cuCtxSetCurrent(p[k].context));
    OK(cuModuleUnload(m[k]));
  }
}

static void library(place *p) {
  cu_library l;
  OK(cuCtxSetCurrent(p->context));
  OK(cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&p->function, l, "sum"));
  FIND(cuLibraryGetGlobal, l, p);
  fill(p, 20);
  use(p, 20, 5);
  OK(cuLibraryUnload(l));
}

int main(int argc, char **argv) {
  place p[2];
  if (argc > 1 && strcmp(argv[1], "text") == 0) return fputs(text, stdout) < 0;
  OK(cuInit(0));
  for (int k = 0; k < 2; k++) OK(cuCtxCreate_v2(&p[k].context, 0, 0));
  modules(p);
  library(p);
  modules(p);
  puts("variables: equal");
  return 0;
}
