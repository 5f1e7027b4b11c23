/* Results compared byte for byte on the device that they lie on, at the size that runs. */
#include "check.h"

#include <string.h>

#include "launch/launch.h"
#include "launch/placement.h"
#include "launch/resolved.h"
#include "workload/scratch.h"

/* More than one chunk of the read-back, and a buffer of sums that atomics may reorder. */
static const char workload[] =
    "title = \"copies\"\nsource = \"kernel.ptx\"\n"
    "[sizes.small]\nn = 17_000_000\n"
    "[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = \"n\"\nfill = \"iota\"\n"
    "[[buffer]]\nname = \"y\"\ntype = \"u32\"\ncount = 64\ncompare = \"exact\"\n"
    "[[buffer]]\nname = \"z\"\ntype = \"f32\"\ncount = 4\nfill = \"value(1)\"\n"
    "compare = \"near\"\nabs = 0.0005\nrel = 0.0005\natomics = true\n"
    "[[launch]]\nkernel = \"copy\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"y\", \"z\"]\n";

static const char kernel[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry copy(.param .u64 x, .param .u64 y, .param .u64 z)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 32, %r2;\n"
    "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
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
  return 0;
}

typedef struct bed {
  hd_device *device;
  hd_workload *w;
  placement p;
} bed;

static void open_bed(bed *b) {
  hd_device_options o = {.emu = {.threads = 1, .n_sms = 4}};
  hd_run_options run = {.machine.n_sms = 4};
  OK(hd_device_open("emu", &o, &b->device, &d));
  OK(hd_workload_open(scratch_path("copies"), NULL, NULL, &b->w, &d));
  OK(placement_open(&b->p, b->device, b->w, &run, &d));
}

static void close_bed(bed *b) {
  placement_close(&b->p);
  hd_workload_close(b->w);
  hd_device_close(b->device);
}

static void a_winner_is_compared_in_every_byte(void **state) {
  bed b;
  variant original, v;
  uint64_t compared = 0;
  open_bed(&b);
  hd_resolved plans = resolve_by_hand(b.w, "order=reverse");
  OK(variant_open(&original, &b.p, NULL, &d));
  OK(variant_open(&v, &b.p, &plans, &d));
  OK(variant_compare(&original, &v, &compared, &d));
  assert_int_equal(compared, launch_bytes_total(b.w));
  variant_close(&v);
  variant_close(&original);
  hd_resolved_free(&plans);
  close_bed(&b);
}

/* Wherever it lies, one wrong byte is found, and its element is named. */
static void one_wrong_byte_is_found_wherever_it_lies(void **state) {
  static const struct {
    uint32_t buffer;
    uint64_t at;
    const char *name, *element;
  } cases[] = {
      {0, 0, "buffer x", "element 0 "},
      {0, (64u << 20) - 1, "buffer x", "element 16777215 "},
      {0, 64u << 20, "buffer x", "element 16777216 "},
      {0, 4 * 17000000ull - 1, "buffer x", "element 16999999 "},
      {1, 255, "buffer y", "element 63 "},
  };
  bed b;
  void **want;
  uint64_t compared;
  open_bed(&b);
  OK(placement_read(&b.p, &want, &d));
  OK(placement_compare(&b.p, want, &compared, &d));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t address = b.p.addresses[cases[i].buffer] + cases[i].at;
    uint8_t byte;
    OK(hd_device_read(b.device, address, &byte, 1, &d));
    byte ^= 1;
    OK(hd_device_write(b.device, address, &byte, 1, &d));
    assert_int_equal(placement_compare(&b.p, want, &compared, &d), HD_ERR_REFUSED);
    if (!strstr(d.message, cases[i].name) || !strstr(d.message, cases[i].element))
      fail_msg("case %zu: %s", i, d.message);
    byte ^= 1;
    OK(hd_device_write(b.device, address, &byte, 1, &d));
  }
  OK(placement_compare(&b.p, want, &compared, &d));
  launch_bytes_free(b.w, want);
  close_bed(&b);
}

static void sums_of_atomics_may_differ_within_their_tolerance(void **state) {
  static const struct {
    float value;
    hd_status want;
  } cases[] = {{1.0005f, HD_OK}, {0.9990f, HD_OK}, {1.01f, HD_ERR_REFUSED}, {-1, HD_ERR_REFUSED}};
  bed b;
  void **want;
  uint64_t compared;
  open_bed(&b);
  OK(placement_read(&b.p, &want, &d));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    OK(hd_device_write(b.device, b.p.addresses[2] + 8, &cases[i].value, 4, &d));
    assert_int_equal(placement_compare(&b.p, want, &compared, &d), cases[i].want);
  }
  launch_bytes_free(b.w, want);
  close_bed(&b);
}

/* The reference of a product of matrices ran for a minute behind the end of an optimization's time. */
static void a_reference_is_left_out_where_the_time_may_not_suffice(void **state) {
  assert_true(launch_has_time_for_reference(100, 130, 0)); /* no time is given */
  assert_true(launch_has_time_for_reference(100, 110, 130));
  assert_false(launch_has_time_for_reference(100, 110, 129));
  assert_false(launch_has_time_for_reference(100, 131, 130));
  assert_true(launch_has_time_for_reference(100, 100, 100));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a winner is compared in every byte at the size it runs at",
                a_winner_is_compared_in_every_byte),
      BEHAVIOUR("one wrong byte is found wherever it lies", one_wrong_byte_is_found_wherever_it_lies),
      BEHAVIOUR("sums of atomics may differ within their tolerance",
                sums_of_atomics_may_differ_within_their_tolerance),
      BEHAVIOUR("a reference is left out where the time may not suffice",
                a_reference_is_left_out_where_the_time_may_not_suffice),
  };
  return cmocka_run_group_tests_name("launch.compare", tests, setup, scratch_teardown);
}
