/* What the cases share: kernels, streams, launches. */
#ifndef HEDDLE_TESTS_ORDER_KIT_H
#define HEDDLE_TESTS_ORDER_KIT_H

#include <pthread.h>

#include "../driver/cu.h"

#define KERNEL(name, body)                                                                                   \
  ".visible .entry " name "(.param .u64 p) {\n.reg .pred %q; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"           \
  "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; ld.param.u64 %rd1, [p]; add.s64 %rd3, %rd1, %rd2;\n" body \
  "ret;\n}\n"
#define LAUNCH "griddepcontrol.launch_dependents;\n"
#define WAIT "griddepcontrol.wait;\n"
#define LOAD "ld.global.u32 %r2, [%rd3];\n"
#define STORE "st.global.u32 [%rd3], %r1;\n"
static const char *const text = ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL(
    "launch_store",
    LAUNCH STORE) KERNEL("launch_load",
                         LAUNCH LOAD) KERNEL("load_launch",
                                             LOAD LAUNCH) KERNEL("load_meet_launch", LOAD
                                                                 "bar.sync 0;\n" LAUNCH) KERNEL("wait_load",
                                                                                                WAIT LOAD)
    KERNEL("load_wait", LOAD WAIT) KERNEL("launch", LAUNCH) KERNEL("launch_wait", LAUNCH WAIT) KERNEL(
        "first_waits",
        "setp.ne.u32 %q, %r1, 0; @%q bra over; " WAIT
        "over: bar.sync 0;\n" LOAD) ".const .b32 table[64];\n.global .b32 sink[64];\n" KERNEL("store",
                                                                                              "st.global.u32 "
                                                                                              "[%rd3], "
                                                                                              "%r1;\n")
        KERNEL("load", "ld.global.u32 %r2, [%rd3];\n") KERNEL("add", "red.global.add.u32 [%rd3], 1;\n")
            KERNEL("bytes", "cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;\n")
                KERNEL("flag", "st.volatile.global.u32 [%rd3], %r1;\n")
                    KERNEL("poll", "ld.volatile.global.u32 %r2, [%rd3];\n")
                        KERNEL("look",
                               "mov.u64 %rd1, table; add.s64 %rd3, %rd1, %rd2; ld.const.u32 %r2, [%rd3];\n"
                               "mov.u64 %rd1, sink; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;\n")
                            KERNEL("vector", "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, %rd2;\n"
                                             "st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};\n");

enum { N = 64, BYTES = 4 * N, BLOCKING = 0, NON_BLOCKING = 1 };
#define LEGACY CU_STREAM_LEGACY
#define PER_THREAD CU_STREAM_PER_THREAD

static cu_module module;
static cu_stream a, b; /* two streams that do not wait for the default stream */
static cu_event event;
static cu_address p; /* BYTES of device memory, written */

static void launch(const char *name, cu_address at, cu_stream stream) {
  cu_function f;
  void *params[] = {&at};
  OK(cuModuleGetFunction(&f, module, name));
  OK(cuLaunchKernel(f, 1, 1, 1, at >= p && at < p + BYTES && strcmp(name, "vector") == 0 ? N / 4 : N, 1, 1, 0,
                    stream, params, NULL));
}

/* Behind the kernel in front of it in its stream, which need not be over. */
static void launch_early(const char *name, cu_stream stream) {
  cu_launch_attribute attribute = {.id = CU_LAUNCH_PROGRAMMATIC, .value.number = 1};
  const cu_launch_config c = {
      .grid = {1, 1, 1}, .block = {N, 1, 1}, .stream = stream, .attributes = &attribute, .n_attributes = 1};
  cu_function f;
  void *params[] = {&p};
  OK(cuModuleGetFunction(&f, module, name));
  OK(cuLaunchKernelEx(&c, f, params, NULL));
}

static cu_stream stream_of(unsigned flags) {
  cu_stream s;
  OK(cuStreamCreate(&s, flags));
  return s;
}

static volatile uint32_t *pinned(void) {
  void *host;
  OK(cuMemHostAlloc(&host, BYTES, 0));
  memset(host, 0, BYTES);
  return host;
}

static void *plain(volatile uint32_t *host) { return (void *)(uintptr_t)host; }
static cu_address address(volatile uint32_t *host) { return (cu_address)(uintptr_t)host; }

static void order(cu_stream after, cu_stream before) {
  OK(cuEventRecord(event, before));
  OK(cuStreamWaitEvent(after, event, 0));
}

static volatile uint32_t seen;
static void look(volatile uint32_t *host) { seen = host[3]; }

#endif
