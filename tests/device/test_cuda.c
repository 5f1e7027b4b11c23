/* cuda:N on a fake driver: the calls that it gets, and every call's failure. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/open_fake.h"

static int fresh(void **state) {
  reset();
  return 0;
}

#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static void assert_nothing_lives(void) {
  assert_int_equal(fake->contexts, 0);
  assert_int_equal(fake->pushes, 0);
  assert_int_equal(fake->streams, 0);
  assert_int_equal(fake->greens, 0);
  assert_int_equal(fake->events, 0);
  assert_int_equal(fake->modules, 0);
  assert_int_equal(fake->allocations, 0);
  assert_int_equal(fake->profilers, 0);
  assert_int_equal(fake->arrays, 0);
  assert_int_equal(fake->objects, 0);
}

/* out[i] = a * in[i] + global thread id; faults when the pointer is bad. */
static const char scale_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry scale(.param .u64 out, .param .u64 in, .param .u32 a)\n{\n"
                                "  .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
                                "  ld.param.u64 %rd1, [out];\n  ld.param.u64 %rd2, [in];\n"
                                "  ld.param.u32 %r1, [a];\n"
                                "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
                                "  mad.lo.u32 %r5, %r2, %r3, %r4;\n  mul.wide.u32 %rd3, %r5, 4;\n"
                                "  add.u64 %rd4, %rd2, %rd3;\n  ld.global.u32 %r6, [%rd4];\n"
                                "  mad.lo.u32 %r7, %r6, %r1, %r5;\n"
                                "  add.u64 %rd5, %rd1, %rd3;\n  st.global.u32 [%rd5], %r7;\n  ret;\n}\n"
                                ".visible .entry empty()\n{\n  ret;\n}\n";

typedef struct scale_args {
  uint64_t out, in;
  uint32_t a;
} scale_args;

enum { N = 1024 };

/* ---- A whole session, for counting its calls and failing each ---------------------------- */

typedef struct session {
  hd_device *dev;
  hd_device_module *m;
  hd_device_stream *streams[4];
  scale_args args;
  uint32_t host[N];
  bool counted;
  char why[256];
} session;

static hd_status run_scale(void *ctx, hd_diag *d) {
  session *s = ctx;
  hd_device_launch l = {
      .kernel = "scale", .grid = {N / 64, 1, 1}, .block = {64, 1, 1}, .args = &s->args, .args_bytes = 20};
  return hd_device_run(s->m, &l, d);
}

static hd_status run_together(session *s, double us[4], hd_diag *d) {
  hd_device_stream **streams = s->streams;
  hd_device_job job = {.run = run_scale, .ctx = s};
  uint32_t got[2];
  hd_status st = hd_device_stream_open(s->dev, &streams[0], d);
  if (st == HD_OK) st = hd_device_stream_open(s->dev, &streams[1], d);
  if (st == HD_OK) st = hd_device_split(s->dev, 1, streams + 2, got, d);
  hd_device_part plain[] = {{job, streams[0]}, {job, streams[1]}}, green[] = {{job, streams[2]}, {job, NULL}};
  if (st == HD_OK) st = hd_device_time_together(s->dev, plain, 2, us, d);
  return st == HD_OK ? hd_device_time_together(s->dev, green, 2, us + 2, d) : st;
}

static hd_status run_session(session *s, hd_diag *d) {
  double us[2 * 3], together[4];
  hd_counters c;
  hd_kernel_info info;
  uint32_t ctas;
  hd_tensor tensor = {.address = 4096,
                      .type = HD_TENSOR_F32,
                      .rank = 2,
                      .dim = {64, 64},
                      .stride = {256},
                      .box = {16, 16},
                      .element_stride = {1, 1}};
  unsigned char map[HD_TENSOR_MAP_BYTES];
  hd_device_job job[2] = {{.run = run_scale, .ctx = s}, {.run = run_scale, .ctx = s}};
  hd_timing_options flush = {.repetitions = 3}, keep = {.repetitions = 1, .keep_l2 = true};
  hd_device_launch big = {.kernel = "empty",
                          .grid = {2, 1, 1},
                          .block = {32, 1, 1},
                          .dynamic_shared = 100000,
                          .has_carveout = true,
                          .carveout = 50};
  memset(s, 0, sizeof *s);
  for (uint32_t i = 0; i < N; i++) s->host[i] = i;
  hd_status st = hd_device_open("cuda:0", &options, &s->dev, d);
  if (st == HD_OK) st = hd_device_load(s->dev, scale_ptx, strlen(scale_ptx), "scale", NULL, &s->m, d);
  if (st == HD_OK) st = hd_device_alloc(s->dev, sizeof s->host, &s->args.in, d);
  if (st == HD_OK) st = hd_device_alloc(s->dev, sizeof s->host, &s->args.out, d);
  if (st == HD_OK) st = hd_device_write(s->dev, s->args.in, s->host, sizeof s->host, d);
  if (st == HD_OK) st = hd_device_set(s->dev, s->args.out, 0xCD, sizeof s->host, d);
  if (st == HD_OK) st = hd_device_copy(s->dev, s->args.out, s->args.in, sizeof s->host, d);
  s->args.a = 3;
  if (st == HD_OK) st = hd_device_kernel_info(s->m, "scale", &info, d);
  if (st == HD_OK) st = hd_device_resident(s->m, "scale", 64, 0, 0, &ctas, d);
  if (st == HD_OK) st = hd_device_tensor_map(s->dev, &tensor, map, d);
  if (st == HD_OK) st = hd_device_run(s->m, &big, d);
  if (st == HD_OK) st = hd_device_time(s->dev, job, 2, &flush, us, d);
  if (st == HD_OK) st = hd_device_time(s->dev, job, 1, &keep, us, d);
  if (st == HD_OK) st = run_together(s, together, d);
  if (st == HD_OK) st = hd_device_count(s->dev, job, false, &c, &s->counted, s->why, sizeof s->why, d);
  if (st == HD_OK) st = hd_device_sync(s->dev, d);
  if (st == HD_OK) st = hd_device_read(s->dev, s->args.out, s->host, sizeof s->host, d);
  if (st == HD_OK) st = hd_device_free(s->dev, s->args.in, d);
  return st;
}

static void close_session(session *s) {
  for (int i = 0; i < 4; i++) hd_device_stream_close(s->streams[i]);
  hd_device_unload(s->m);
  hd_device_close(s->dev);
}

static void fail_every_call(int result) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  unsigned calls = fake->calls;
  close_session(&s);
  assert_true(calls > 80);
  for (unsigned n = 1; n <= calls; n++) {
    reset();
    fake->fail_at = n;
    fake->fail_with = result;
    d.message[0] = 0;
    hd_status st = run_session(&s, &d);
    bool cupti = strncmp(fake->last, "cupti", 5) == 0;
    if (cupti) {
      /* Counters are absent without harm, and it is said why. */
      if (st != HD_OK) fail_msg("call %u, %s: %s", n, fake->last, d.message);
      assert_false(s.counted);
      if (!strstr(s.why, fake->last) && !strstr(s.why, "made to fail"))
        fail_msg("call %u, %s: %s", n, fake->last, s.why);
    } else {
      if (st == HD_OK) fail_msg("call %u, %s, failed and nobody noticed", n, fake->last);
      if (!strstr(d.message, fake->last)) fail_msg("call %u, %s: %s", n, fake->last, d.message);
    }
    close_session(&s);
    assert_nothing_lives();
  }
}

static void every_call_may_fail(void **state) { fail_every_call(1); }
static void every_call_may_be_the_last(void **state) { fail_every_call(719); }
static void memory_may_run_out_at_every_call(void **state) { fail_every_call(2); }

/* ---- Behaviours ------------------------------------------------------------------------------ */

static void a_session_computes(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  for (uint32_t i = 0; i < N; i++) assert_int_equal(s.host[i], 4 * i);
  assert_true(s.counted);
  close_session(&s);
  assert_nothing_lives();
}

static void the_sms_that_there_are_are_found(void **state) {
  for (int mig = 0; mig < 2; mig++) {
    hd_device *dev;
    hd_diag d = {0};
    hd_numbers first, again;
    hd_range run;
    fake->mig = mig;
    OK(hd_device_open("cuda:0", &options, &dev, &d));
    OK(hd_device_sms(dev, &first, &d));
    /* A part of a GPU has four SMs as well, with some of eight numbers. */
    const uint32_t n = hd_numbers_count(&first);
    assert_true(n >= 1 && n <= 4);
    assert_false(hd_numbers_run(&first, 8, &run));
    if (!mig) assert_int_equal(hd_numbers_below(&first, 4), 4);
    unsigned launches = fake->launches;
    OK(hd_device_sms(dev, &again, &d));
    assert_memory_equal(&again, &first, sizeof first);
    assert_int_equal(fake->launches, launches);
    hd_device_close(dev);
  }
  fake->mig = 0;
  assert_nothing_lives();
}

static void a_gpu_is_described(void **state) {
  hd_device *dev;
  hd_diag d = {0};
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  const hd_device_info *i = hd_device_get_info(dev);
  assert_string_equal(i->title, "Fake GPU");
  assert_string_equal(i->uuid, "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
  assert_int_equal(i->kind, HD_DEVICE_CUDA);
  assert_int_equal(i->arch, 90);
  assert_int_equal(i->n_sms, 4);
  assert_int_equal(i->l2_bytes, 1 << 20);
  assert_int_equal(i->shared_per_cta, 227 << 10);
  assert_int_equal(i->driver_version, 13000);
  assert_true(i->clock_mhz == 1500 && i->memory_clock_mhz == 2000);
  assert_false(i->mig);
  hd_device_close(dev);
  fake->mig = 1;
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  assert_true(hd_device_get_info(dev)->mig);
  assert_memory_equal(hd_device_get_info(dev)->uuid, "MIG-0212", 8);
  hd_device_close(dev);
  assert_nothing_lives();
}

static void names_that_no_device_has_are_refused(void **state) {
  static const char *const bad[] = {"", "cuda0", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "model:", "gpu"};
  hd_device *dev;
  hd_diag d;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(hd_device_open(bad[i], &options, &dev, &d), HD_ERR_USAGE);
  char longest[200];
  memset(longest, 'x', sizeof longest);
  longest[199] = 0;
  assert_int_equal(hd_device_open(longest, &options, &dev, &d), HD_ERR_USAGE);
  assert_int_equal(hd_device_open("cuda:1", &options, &dev, &d), HD_ERR_IO);
  assert_string_equal(d.message, "no device cuda:1: the driver shows 1 GPU");
}

static void a_driver_that_is_none_is_named(void **state) {
  hd_device *dev;
  hd_diag d;
  hd_device_options o = {.driver = "/nonexistent/libcuda.so.1"};
  assert_int_equal(hd_device_open("cuda:0", &o, &dev, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "there is no NVIDIA driver here"));
  o.driver = "libm.so.6";
  assert_int_equal(hd_device_open("cuda:0", &o, &dev, &d), HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "too old"));
  fake->fail_at = 1;
  fake->fail_with = 100;
  assert_int_equal(hd_device_open("cuda:0", &options, &dev, &d), HD_ERR_IO);
  assert_string_equal(d.message, "there is no NVIDIA GPU here, though there is a driver");
}

static void a_kernels_fault_names_it_and_ends_the_device(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  s.args.in = 8;
  OK(run_scale(&s, &d));
  assert_int_equal(hd_device_sync(s.dev, &d), HD_ERR_FAULT);
  assert_string_equal(d.message,
                      "cuda:0: cuStreamSynchronize, kernel 'scale' in flight: CUDA_ERROR_ILLEGAL_ADDRESS "
                      "(700): an illegal memory access was encountered");
  uint64_t address;
  assert_int_equal(hd_device_alloc(s.dev, 16, &address, &d), HD_ERR_FAULT);
  assert_memory_equal(d.message, "cuda:0 cannot be used any more since: cuda:0: cuStreamSynchronize", 65);
  assert_int_equal(run_scale(&s, &d), HD_ERR_FAULT);
  assert_int_equal(hd_device_read(s.dev, s.args.out, s.host, 4, &d), HD_ERR_FAULT);
  close_session(&s);
  assert_nothing_lives();
}

static void ptx_that_does_not_compile_gives_the_compilers_log(void **state) {
  hd_device *dev;
  hd_device_module *m;
  hd_diag d = {0};
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  static const char bad[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n";
  assert_int_equal(hd_device_load(dev, bad, strlen(bad), "bad.ptx", NULL, &m, &d), HD_ERR_INPUT);
  assert_non_null(strstr(
      d.message, "cuda:0: the driver's compiler refuses bad.ptx: ptxas application ptx input, line 5"));
  assert_null(strchr(d.message, '\n'));
  OK(hd_device_load(dev, scale_ptx, strlen(scale_ptx), "scale", NULL, &m, &d));
  hd_kernel_info info;
  assert_int_equal(hd_device_kernel_info(m, "scales", &info, &d), HD_ERR_USAGE);
  assert_string_equal(d.message, "scale: no kernel 'scales' in this module");
  hd_device_unload(m);
  hd_device_close(dev);
  assert_nothing_lives();
}

static void a_launch_is_checked_and_its_attributes_set(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  hd_device_launch l = {.kernel = "empty", .grid = {1, 1, 1}, .block = {32, 1, 1}};
  OK(hd_device_run(s.m, &l, &d));
  assert_int_equal(fake->carveout, -1); /* the driver's choice again, after the session's 50 */
  l.has_carveout = true;
  l.carveout = 0;
  OK(hd_device_run(s.m, &l, &d));
  assert_int_equal(fake->carveout, 0);
  l.carveout = 101;
  assert_int_equal(hd_device_run(s.m, &l, &d), HD_ERR_INPUT);
  l.carveout = 100;
  l.dynamic_shared = 227 << 10;
  OK(hd_device_run(s.m, &l, &d));
  l.dynamic_shared++;
  assert_int_equal(hd_device_run(s.m, &l, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "kernel 'empty'"));
  l.dynamic_shared = 0;
  l.grid[1] = 0;
  assert_int_equal(hd_device_run(s.m, &l, &d), HD_ERR_INPUT);
  uint32_t ctas;
  OK(hd_device_resident(s.m, "empty", 128, 100 << 10, 0, &ctas, &d));
  assert_int_equal(ctas, 2);
  close_session(&s);
}

/* A kernel that is given a tensor map and copies the number beside it. */
static const char map_ptx[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u32 a)\n{\n"
    ".reg .b64 %d;\n.reg .b32 %r;\nld.param.u64 %d, [out];\nld.param.u32 %r, [a];\nst.global.u32 [%d], "
    "%r;\nret;\n}\n";

static void arguments_are_found_in_their_block_and_its_size_is_checked(void **state) {
  hd_device *dev;
  hd_device_module *m;
  hd_diag d = {0};
  unsigned char args[196] = {0};
  uint64_t address;
  uint32_t a = 7, got = 0;
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  OK(hd_device_alloc(dev, 4, &address, &d));
  OK(hd_device_load(dev, map_ptx, strlen(map_ptx), "map", NULL, &m, &d));
  memcpy(args, &address, 8);
  memcpy(args + 192, &a, 4);
  hd_device_launch l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .args_bytes = 196};
  OK(hd_device_run(m, &l, &d));
  OK(hd_device_read(dev, address, &got, 4, &d));
  assert_int_equal(got, 7);
  l.args_bytes = 192;
  assert_int_equal(hd_device_run(m, &l, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "takes 196 bytes of arguments, not 192"));
  hd_device_unload(m);
  hd_device_close(dev);
  assert_nothing_lives();
}

static void memory_that_is_not_there_is_out_of_memory(void **state) {
  hd_device *dev;
  hd_diag d = {0};
  uint64_t address;
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  assert_int_equal(hd_device_alloc(dev, UINT64_C(1) << 40, &address, &d), HD_ERR_NOMEM);
  assert_string_equal(
      d.message, "cuda:0: cuMemAlloc_v2 of 1099511627776 bytes: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  OK(hd_device_alloc(dev, 0, &address, &d)); /* and the device goes on */
  OK(hd_device_free(dev, address, &d));
  assert_int_equal(hd_device_free(dev, address, &d), HD_ERR_INPUT);
  OK(hd_device_alloc(dev, 64, &address, &d));
  hd_device_close(dev);
  assert_nothing_lives();
}

/* ---- Times --------------------------------------------------------------------------------------- */

typedef struct logged {
  session *s;
  char name;
  char *log;
} logged;

static void put(logged *l, char c) {
  size_t n = strlen(l->log);
  l->log[n] = c;
  l->log[n + 1] = 0;
}
static hd_status prepare_logged(void *ctx, hd_diag *d) {
  put(ctx, '.');
  return HD_OK;
}
static hd_status run_logged(void *ctx, hd_diag *d) {
  logged *l = ctx;
  put(l, l->name);
  hd_device_launch launch = {
      .kernel = "empty", .grid = {l->name == 'a' ? 800 : 80, 1, 1}, .block = {1, 1, 1}};
  return hd_device_run(l->s->m, &launch, d);
}

static void rounds_are_interleaved_and_each_run_is_prepared(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  char log[256] = "";
  logged a = {&s, 'a', log}, b = {&s, 'b', log};
  hd_device_job jobs[] = {{prepare_logged, run_logged, &a}, {prepare_logged, run_logged, &b}};
  hd_timing_options o = {.warmups = 1, .repetitions = 3};
  double us[6];
  unsigned flushes = fake->flushes;
  OK(hd_device_time(s.dev, jobs, 2, &o, us, &d));
  assert_string_equal(log, ".a.b"
                           ".b.a"
                           ".a.b"
                           ".b.a");
  assert_int_equal(fake->flushes - flushes, 8);
  for (int r = 0; r < 3; r++) {
    assert_true(us[r] >= 105 && us[r] < 106.1);       /* job a */
    assert_true(us[3 + r] >= 15 && us[3 + r] < 16.1); /* job b */
  }
  log[0] = 0;
  o = (hd_timing_options){.repetitions = 1, .keep_l2 = true};
  flushes = fake->flushes;
  OK(hd_device_time(s.dev, jobs, 2, &o, us, &d));
  assert_string_equal(log, ".a.a"
                           ".b.b");
  assert_int_equal(fake->flushes, flushes);
  assert_true(us[0] < 106.1); /* only the second of the two runs is in it */
  o.repetitions = 0;
  assert_int_equal(hd_device_time(s.dev, jobs, 2, &o, us, &d), HD_ERR_USAGE);
  close_session(&s);
}

static void parts_run_beside_each_other_and_those_of_one_stream_in_turn(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  char log[256] = "";
  double us[9];
  uint32_t got[2];
  logged a = {&s, 'a', log}, b = {&s, 'b', log};
  hd_device_job job[2] = {{prepare_logged, run_logged, &a}, {prepare_logged, run_logged, &b}};
  hd_device_part parts[9] = {{job[0], NULL}, {job[1], NULL}};
  unsigned flushes = fake->flushes;
  OK(hd_device_time_together(s.dev, parts, 2, us, &d));
  assert_string_equal(log, "..ab");
  assert_int_equal(fake->flushes - flushes, 1);
  assert_true(us[0] >= 105 && us[0] < 106.1 && us[1] >= us[0] + 15 && us[1] < us[0] + 16.1);
  for (int i = 0; i < 2; i++) OK(hd_device_stream_open(s.dev, &parts[i].stream, &d));
  OK(hd_device_time_together(s.dev, parts, 2, us, &d));
  assert_true(us[0] >= 105 && us[0] < 106.1 && us[1] >= 15 && us[1] < 16.1);
  for (int i = 0; i < 2; i++) hd_device_stream_close(parts[i].stream);

  hd_device_stream *halves[2];
  OK(hd_device_split(s.dev, 1, halves, got, &d)); /* this GPU's SMs are parted by twos */
  assert_true(got[0] == 2 && got[1] == 2);
  for (int i = 0; i < 2; i++) parts[i].stream = halves[i];
  OK(hd_device_time_together(s.dev, parts, 2, us, &d));
  assert_true(us[0] >= 210 && us[0] < 212.2 && us[1] >= 30 && us[1] < 32.2);
  for (int i = 0; i < 2; i++) hd_device_stream_close(halves[i]);
  assert_int_equal(hd_device_split(s.dev, 3, halves, got, &d), HD_ERR_UNSUPPORTED);
  assert_string_equal(d.message, "cuda:0: 3 of 4 SMs cannot be parted from the others");
  assert_int_equal(hd_device_split(s.dev, 0, halves, got, &d), HD_ERR_USAGE);
  assert_int_equal(hd_device_split(s.dev, 4, halves, got, &d), HD_ERR_USAGE);
  assert_int_equal(hd_device_time_together(s.dev, parts, 0, us, &d), HD_ERR_USAGE);
  assert_int_equal(hd_device_time_together(s.dev, parts, 9, us, &d), HD_ERR_USAGE);
  close_session(&s);
  assert_nothing_lives();
}

static void counters_take_as_many_runs_as_passes(void **state) {
  session s;
  hd_diag d = {0};
  OK(run_session(&s, &d));
  char log[2048] = "", why[128];
  logged a = {&s, 'a', log};
  hd_device_job job = {prepare_logged, run_logged, &a};
  hd_counters c;
  bool have;
  fake->passes = 4;
  OK(hd_device_count(s.dev, &job, false, &c, &have, why, sizeof why, &d));
  assert_true(have);
  assert_string_equal(log, ".a.a.a.a");
  assert_int_equal(c.l1_sectors, 1000);
  assert_int_equal(c.l1_hits, 2000);
  assert_int_equal(c.l2_sectors, 3000);
  assert_int_equal(c.l2_write_sectors, 6000 + 7000 + 8000);
  assert_int_equal(c.dram_read_bytes, 9000);
  assert_true(c.cycles == 13000);
  assert_int_equal(fake->hosts, 1); /* of the session's count and of this one */
  fake->passes = 100000;
  OK(hd_device_count(s.dev, &job, false, &c, &have, why, sizeof why, &d));
  assert_false(have);
  assert_non_null(strstr(why, "passes"));
  close_session(&s);
  assert_nothing_lives();
}

static void without_cupti_counters_are_absent(void **state) {
  static const char *const none[] = {"/nonexistent/libcupti.so", "libm.so.6"};
  for (size_t i = 0; i < 2; i++) {
    hd_device_options o = {.driver = FAKE_CUDA, .cupti = none[i]};
    session s = {0};
    hd_diag d = {0};
    OK(hd_device_open("cuda:0", &o, &s.dev, &d));
    hd_device_job job = {.run = run_scale, .ctx = &s};
    hd_counters c;
    bool have = true;
    char why[128];
    OK(hd_device_count(s.dev, &job, false, &c, &have, why, sizeof why, &d));
    assert_false(have);
    assert_non_null(strstr(why, "CUPTI"));
    close_session(&s);
  }
  assert_nothing_lives();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define FAKE(text, fn) {text, fn, fresh, NULL, NULL}
      FAKE("a session computes what its kernel says and leaves nothing behind", a_session_computes),
      FAKE("a GPU is described, a part of one as such", a_gpu_is_described),
      FAKE("the SMs that there are are found", the_sms_that_there_are_are_found),
      FAKE("names that no device has are refused", names_that_no_device_has_are_refused),
      FAKE("a missing, old or empty driver is said to be so", a_driver_that_is_none_is_named),
      FAKE("any failing call is an error that names it, and nothing leaks", every_call_may_fail),
      FAKE("any call may find the device lost", every_call_may_be_the_last),
      FAKE("memory may run out at any call", memory_may_run_out_at_every_call),
      FAKE("a kernel's fault names it and ends the device", a_kernels_fault_names_it_and_ends_the_device),
      FAKE("PTX that does not compile gives the compiler's log in one line",
           ptx_that_does_not_compile_gives_the_compilers_log),
      FAKE("a launch is checked, and its attributes are set and unset",
           a_launch_is_checked_and_its_attributes_set),
      FAKE("arguments are found in their block, whose size is checked",
           arguments_are_found_in_their_block_and_its_size_is_checked),
      FAKE("running out of memory says how much was asked for", memory_that_is_not_there_is_out_of_memory),
      FAKE("rounds are interleaved, and every run is prepared",
           rounds_are_interleaved_and_each_run_is_prepared),
      FAKE("parts run beside each other, those of one stream in turn",
           parts_run_beside_each_other_and_those_of_one_stream_in_turn),
      FAKE("counters take as many runs as CUPTI has passes", counters_take_as_many_runs_as_passes),
      FAKE("without CUPTI counters are absent without harm", without_cupti_counters_are_absent),
  };
  return cmocka_run_group_tests(tests, open_fake, NULL);
}
