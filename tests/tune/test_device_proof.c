/* Results compared byte for byte by the GPU itself, on a fake driver. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "tune/device_bench.h"
#include "workload/scratch.h"

/* Lengths with and without bytes behind the last whole word, one buffer shorter than a word. */
static const char workload[] =
    "title = \"copies\"\nsource = \"kernel.ptx\"\n[sizes.small]\nn = 64\n"
    "[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = \"n\"\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"y\"\ntype = \"u32\"\ncount = \"n\"\n"
    "[[buffer]]\nname = \"odd\"\ntype = \"u8\"\ncount = 8205\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"short\"\ntype = \"u8\"\ncount = 3\nfill = \"iota\"\n"
    "[[launch]]\nkernel = \"copy\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"y\"]\n";

/* Sums that atomics may reorder, more than one thread's share of them. */
static const char sums[] =
    "title = \"sums\"\nsource = \"kernel.ptx\"\n[sizes.small]\nn = 64\n"
    "[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = \"n\"\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"y\"\ntype = \"u32\"\ncount = \"n\"\n"
    "[[buffer]]\nname = \"z\"\ntype = \"f32\"\ncount = 3_000_001\nfill = \"value(1)\"\n"
    "compare = \"near\"\nabs = 0.0005\natomics = true\n"
    "[[launch]]\nkernel = \"copy\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"y\"]\n";

static const char kernel[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                             ".visible .entry copy(.param .u64 x, .param .u64 y)\n{\n"
                             ".reg .b32 %r<6>;\n.reg .b64 %rd<8>;\n"
                             "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\n"
                             "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 32, %r2;\n"
                             "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                             "add.s64 %rd5, %rd2, %rd3;\n"
                             "ld.global.u32 %r4, [%rd4];\nst.global.u32 [%rd5], %r4;\nret;\n}\n";

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch_write("copies/workload.toml", workload);
  scratch_write("copies/kernel.ptx", kernel);
  scratch_write("sums/workload.toml", sums);
  scratch_write("sums/kernel.ptx", kernel);
  return 0;
}

typedef struct bed {
  hd_device *device;
  hd_workload *w;
  device_bench *b;
} bed;

static void open_bed(bed *t, const char *workload_name) {
  static const hd_device_options o = {.driver = FAKE_CUDA, .cupti = FAKE_CUDA, .ptxas = ""};
  static const hd_tune_options defaults;
  OK(hd_device_open("cuda:0", &o, &t->device, &d));
  OK(hd_workload_open(scratch_path(workload_name), NULL, NULL, &t->w, &d));
  OK(device_bench_open(t->device, t->w, &defaults, 0, &t->b, &d));
}

static void close_bed(bed *t) {
  device_bench_close(t->b);
  hd_workload_close(t->w);
  hd_device_close(t->device);
}

static void every_byte_counts(void **state) {
  bed t;
  uint64_t *copies, bytes = 0, total = 0;
  bool equal = false;
  open_bed(&t, "copies");
  OK(device_copy_all(t.b, &copies, &d));
  OK(device_equals(t.b, copies, &equal, &bytes, &d));
  for (uint32_t i = 0; i < t.w->n_buffers; i++) total += t.w->buffers[i].bytes;
  assert_true(equal);
  assert_int_equal(bytes, total);
  for (uint32_t i = 0; i < t.w->n_buffers; i++) {
    uint64_t n = t.w->buffers[i].bytes, places[] = {0, n / 2, n - 1};
    for (size_t k = 0; k < 3; k++) {
      uint64_t at = copies[i] + places[k];
      uint8_t was, other;
      OK(hd_device_read(t.device, at, &was, 1, &d));
      other = was ^ 0x10;
      OK(hd_device_write(t.device, at, &other, 1, &d));
      OK(device_equals(t.b, copies, &equal, &bytes, &d));
      if (equal) fail_msg("buffer %u, byte %u", i, (unsigned)places[k]);
      OK(hd_device_write(t.device, at, &was, 1, &d));
    }
  }
  OK(device_equals(t.b, copies, &equal, &bytes, &d));
  assert_true(equal);
  device_drop_copies(t.b, copies);
  close_bed(&t);
}

static void sums_are_held_to_their_tolerance_wherever_they_lie(void **state) {
  enum { Z = 2, LAST = 3000000 };
  static const uint32_t places[] = {0, 1500000, 2999999, LAST};
  bed t;
  uint64_t before[4];
  open_bed(&t, "sums");
  OK(device_sum_up(t.b, before, &d));
  OK(device_learn(t.b, before, &d));
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    static const float near = 1.0004f, far = 1.01f, one = 1;
    uint64_t at = t.b->p.addresses[Z] + 4 * (uint64_t)places[i];
    char element[32];
    snprintf(element, sizeof element, "element %u ", places[i]);
    OK(hd_device_write(t.device, at, &near, sizeof near, &d));
    OK(device_compare(t.b, &d));
    OK(hd_device_write(t.device, at, &far, sizeof far, &d));
    assert_int_equal(device_compare(t.b, &d), HD_ERR_REFUSED);
    assert_non_null(strstr(d.message, element));
    OK(hd_device_write(t.device, at, &one, sizeof one, &d));
  }
  close_bed(&t);
}

/* All bytes of all buffers, and a plan that is right is proved; and no memory stays taken. */
static void a_right_plan_is_proved(void **state) {
  bed t;
  uint64_t bytes = 0;
  open_bed(&t, "copies");
  hd_plan_set plans = {0};
  OK(hd_plan_parse("order=reverse", &plans.all, &d));
  OK(device_bench_prove(t.b, &plans, &bytes, &d));
  assert_int_equal(bytes, 2 * 64 * 4 + 8205 + 3);
  close_bed(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the GPU's comparison finds one wrong byte wherever it lies", every_byte_counts),
      BEHAVIOUR("sums are held to their tolerance wherever they lie",
                sums_are_held_to_their_tolerance_wherever_they_lie),
      BEHAVIOUR("a plan that computes the same is proved in all bytes", a_right_plan_is_proved),
  };
  return cmocka_run_group_tests_name("tune.device_proof", tests, setup, scratch_teardown);
}
