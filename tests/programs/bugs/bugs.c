/* bugs NAME [clean]: a program with this bug, or the same without it. heddle's findings on each stand in
 * bugs.txt. */
#include "../driver/cu.h"

#define KERNEL(name, parameters, body)                                                                       \
  ".visible .entry " name "(" parameters ") {\n.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;\n"          \
  "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;\n"                                 \
  "ld.param.u64 %rd1, [p]; add.s64 %rd3, %rd1, %rd2;\n" body "ret;\n}\n"
#define P ".param .u64 p"
/* p[tid] = what thread tid ^ 32 put into shared memory */
#define EXCHANGE(barrier)                                                                                    \
  "mov.u64 %rd6, tile; cvta.shared.u64 %rd6, %rd6; add.s64 %rd4, %rd6, %rd2;\nst.u32 [%rd4], %r1;\n" barrier \
  "xor.b32 %r4, %r1, 32; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd6, %rd5;\nld.u32 %r3, [%rd6];\n"        \
  "st.global.u32 [%rd3], %r3;\n"
static const char *const text =
    PTX_HEAD ".file 1 \"/some/folder/bugs.cu\"\n.shared .align 4 .b8 tile[1024];\n" KERNEL(
        "store", P, ".loc 1 30 5\nst.global.u32 [%rd3], %r1;\n")
        KERNEL("increment", P,
               "ld.global.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%rd3], %r3;\n")
            KERNEL("race", P, "st.global.u32 [%rd1], %r2;\n")
                KERNEL("no_race", P,
                       "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r2;\n")
                    KERNEL("shared", P, EXCHANGE("")) KERNEL("no_shared", P, EXCHANGE("bar.sync 0;\n"))
                        KERNEL("misaligned", P,
                               ".loc 1 64 5\nadd.s64 %rd4, %rd3, 2;\nst.global.u32 [%rd4], %r1;\n")
                            KERNEL("divergent", P,
                                   ".loc 1 75 5\nsetp.lt.u32 %p, %r1, 32;\n@%p bra L1;\nbar.sync 0;\nbra "
                                   "L2;\nL1: bar.sync 1;\nL2:\n"
                                   "st.global.u32 [%rd3], %r1;\n");

/* Each CTA stores a number and counts itself; the last one reads two of the others' numbers. */
#define LAST(fence)                                                                                          \
  "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r2;\n" fence                  \
  "atom.global.add.u32 %r3, [%rd1+128], 1; setp.ne.u32 %p, %r3, 7; @%p bra L1;\n"                            \
  "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r5, [%rd1+4];\nL1:\n"
/* CTA 0 stores the word that other CTAs store bytes of, or bytes behind. */
#define WORD_AND_BYTES(at)                                                                                   \
  "setp.eq.u32 %p, %r2, 0; @!%p bra L1;\nst.global.u32 [%rd1], %r2;\nbra L2;\nL1:\n"                         \
  "cvt.u64.u32 %rd4, %r2; add.s64 %rd4, %rd1, %rd4;\nst.global.u8 [%rd4+" at "], %r2;\nL2:\n"
/* CTAs add to one word, all by atomics or one of two by a store. */
#define ADD_OR_STORE(of_odd)                                                                                 \
  "and.b32 %r3, %r2, 1; setp.eq.u32 %p, %r3, 1;\nred.global.add.u32 [%rd1], 1;\n" of_odd
static const char *const variants = PTX_HEAD KERNEL("last", P, LAST("membar.gl;\n"))
    KERNEL("last_early", P, LAST("")) KERNEL("last_barrier", P, LAST("bar.sync 0;\n"))
        KERNEL("bytes", P, WORD_AND_BYTES("0")) KERNEL("bytes_behind", P, WORD_AND_BYTES("4"))
            KERNEL("adds", P, ADD_OR_STORE("")) KERNEL("add_or_store", P,
                                                       ADD_OR_STORE("@%p st.global.u32 [%rd1], %r2;\n"))
                KERNEL("half", P, "st.global.u16 [%rd3], %r1;\nld.global.u32 %r3, [%rd3];\n")
                    KERNEL("pairs", P, "add.s64 %rd4, %rd3, %rd2;\nst.global.v2.u32 [%rd4], {%r1, %r1};\n");

static cu_module module;
static int clean;

static void launch(const char *name, cu_address p, unsigned ctas, unsigned threads, cu_stream stream) {
  cu_function f;
  void *params[] = {&p};
  OK(cuModuleGetFunction(&f, module, name));
  (void)!cuLaunchKernel(f, ctas, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

static cu_address memory(size_t bytes) {
  cu_address p;
  OK(cuMemAlloc_v2(&p, bytes));
  return p;
}

static void out_of_bounds(cu_address p) { launch("store", p, 1, clean ? 64 : 65, NULL); }
static void uninitialised(cu_address p) {
  if (clean) OK(cuMemsetD32_v2(p, 0, 64));
  launch("increment", p, 1, 64, NULL);
}
static void race_ctas(cu_address p) { launch(clean ? "no_race" : "race", p, 8, 1, NULL); }
static void race_shared(cu_address p) { launch(clean ? "no_shared" : "shared", p, 1, 64, NULL); }
static void streams(cu_address p) {
  cu_event e;
  cu_stream a, b;
  OK(cuStreamCreate(&a, 1));
  OK(cuStreamCreate(&b, 1));
  OK(cuEventCreate(&e, 2));
  launch("store", p, 1, 64, a);
  OK(cuEventRecord(e, a));
  if (clean) OK(cuStreamWaitEvent(b, e, 0));
  launch("increment", p, 1, 64, b);
  OK(cuCtxSynchronize());
}
static void host_device(cu_address p) {
  cu_stream s;
  volatile int *host;
  OK(cuStreamCreate(&s, 1));
  OK(cuMemHostAlloc((void **)(uintptr_t)&host, 256, 0));
  launch("store", p, 1, 64, s);
  OK(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)host, p, 256, s));
  if (clean) OK(cuStreamSynchronize(s));
  printf("%d\n", host[3]);
  OK(cuStreamSynchronize(s));
  OK(cuMemFreeHost((void *)(uintptr_t)host));
}
static void use_after_free(cu_address p) {
  cu_address q = memory(256);
  if (!clean) OK(cuMemFree_v2(q));
  launch("store", q, 1, 64, NULL);
  (void)!cuCtxSynchronize();
  if (clean) OK(cuMemFree_v2(q));
}
static void double_free(cu_address p) {
  cu_address q = memory(256);
  OK(cuMemFree_v2(q));
  if (!clean) EXPECT(cuMemFree_v2(q), 1);
}
static void leak(cu_address p) {
  cu_address q = memory(12345);
  if (clean) OK(cuMemFree_v2(q));
}
static void misaligned(cu_address p) { launch(clean ? "store" : "misaligned", p, 1, 32, NULL); }
static void direction(cu_address p) {
  char host[16] = {0};
  if (clean)
    OK(cuMemcpyHtoD_v2(p, host, sizeof host));
  else
    EXPECT(cuMemcpyHtoD_v2((cu_address)(uintptr_t)host, (void *)(uintptr_t)p, sizeof host), 1);
}
static void host_access(cu_address p) {
  if (!clean) printf("%d\n", *(volatile int *)(uintptr_t)p);
}
static void configuration(cu_address p) { launch("store", p, 1, clean ? 64 : 2048, NULL); }
static void barrier(cu_address p) { launch(clean ? "store" : "divergent", p, 1, 64, NULL); }

/* ---- Variants ---------------------------------------------------------------------------------- */

static void launch_variant(const char *name, cu_address p, unsigned ctas, unsigned threads) {
  OK(cuModuleLoadData(&module, variants));
  launch(name, p, ctas, threads, NULL);
}
static void race_fence(cu_address p) {
  OK(cuMemsetD32_v2(p, 0, 64));
  launch_variant(clean ? "last" : "last_early", p, 8, 1);
}
static void race_fence_barrier(cu_address p) {
  OK(cuMemsetD32_v2(p, 0, 64));
  launch_variant(clean ? "last" : "last_barrier", p, 8, 1);
}
static void race_bytes(cu_address p) { launch_variant(clean ? "bytes_behind" : "bytes", p, 4, 1); }
static void race_atomic(cu_address p) {
  OK(cuMemsetD32_v2(p, 0, 64));
  launch_variant(clean ? "adds" : "add_or_store", p, 8, 1);
}
static void uninitialised_half(cu_address p) {
  if (clean) OK(cuMemsetD32_v2(p, 0, 64));
  launch_variant("half", p, 1, 64);
}
static void uninitialised_copy(cu_address p) { /* of which half has been written */
  cu_address q = memory(256);
  OK(cuMemsetD32_v2(p, 0, clean ? 64 : 32));
  OK(cuMemcpyDtoD_v2(q, p, clean ? 256 : 128));
  launch("increment", q, 1, 64, NULL);
  (void)!cuCtxSynchronize();
  (void)!cuMemFree_v2(q);
}
static void misaligned_vector(cu_address p) { launch_variant("pairs", clean ? p : p + 4, 1, 16); }
static void streams_copy(cu_address p) {
  cu_event e;
  cu_stream a, b;
  int host[64];
  OK(cuStreamCreate(&a, 1));
  OK(cuStreamCreate(&b, 1));
  OK(cuEventCreate(&e, 2));
  launch("store", p, 1, 64, a);
  OK(cuEventRecord(e, a));
  if (clean) OK(cuStreamWaitEvent(b, e, 0));
  OK(cuMemcpyDtoHAsync_v2(host, p, 256, b));
}
static void beyond_copy(cu_address p) {
  char host[512];
  OK(cuMemsetD32_v2(p, 0, 64));
  EXPECT(cuMemcpyDtoH_v2(host, p, clean ? 256 : 257), clean ? 0 : 1);
}
static void freed_inside(cu_address p) {
  if (!clean) EXPECT(cuMemFree_v2(p + 16), 1);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(cu_address p);
  } bugs[] = {{"out_of_bounds", out_of_bounds},
              {"uninitialised", uninitialised},
              {"race_ctas", race_ctas},
              {"race_shared", race_shared},
              {"streams", streams},
              {"host_device", host_device},
              {"use_after_free", use_after_free},
              {"double_free", double_free},
              {"leak", leak},
              {"misaligned", misaligned},
              {"direction", direction},
              {"host_access", host_access},
              {"configuration", configuration},
              {"barrier", barrier},
              {"race_fence", race_fence},
              {"race_fence_barrier", race_fence_barrier},
              {"race_bytes", race_bytes},
              {"race_atomic", race_atomic},
              {"uninitialised_half", uninitialised_half},
              {"uninitialised_copy", uninitialised_copy},
              {"misaligned_vector", misaligned_vector},
              {"streams_copy", streams_copy},
              {"beyond_copy", beyond_copy},
              {"freed_inside", freed_inside}};
  clean = argc > 2;
  cu_context context = begin();
  OK(cuModuleLoadData(&module, text));
  cu_address p = memory(256);
  for (unsigned k = 0; argc > 1 && k < sizeof bugs / sizeof *bugs; k++)
    if (strcmp(argv[1], bugs[k].name) == 0) bugs[k].run(p);
  (void)!cuCtxSynchronize();
  (void)!cuMemFree_v2(p);
  (void)context; /* never destroyed: memory that is left is a leak */
  return 0;
}
