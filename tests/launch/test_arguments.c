/* Parameter blocks are laid out as the kernel declares them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/launch.h"
#include "workload/scratch.h"

static const char HEAD[] = "source = \"kernel.ptx\"\n[sizes.small]\n"
                           "[[buffer]]\nname = \"x\"\ntype = \"f32\"\ncount = 4096\n"
                           "[[buffer]]\nname = \"y\"\ntype = \"u8\"\ncount = 4\n"
                           "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n";

static const char PTX[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(%s)\n{\nret;\n}\n";

static hd_workload *open_with(const char *params, const char *args, const hd_compiled **code) {
  char text[4096];
  hd_workload *w;
  hd_diag d = {0};
  snprintf(text, sizeof text, PTX, params);
  scratch_write("kernel.ptx", text);
  snprintf(text, sizeof text, "%sargs = [%s]\n", HEAD, args);
  scratch_write("workload.toml", text);
  if (hd_workload_open(scratch_path("workload.toml"), NULL, NULL, &w, &d) != HD_OK ||
      hd_workload_compiled(w, hd_launch_arch(NULL, 0), code, &d) != HD_OK)
    fail_msg("%s", d.message);
  return w;
}

static const uint64_t addresses[] = {0x1122334455667700, 0x8877665544332200};

static void every_argument_lies_where_the_kernel_reads_it(void **state) {
  const hd_compiled *code;
  hd_workload *w =
      open_with(".param .u8 a, .param .u64 b, .param .u16 c, .param .u32 e, .param .align 64 .b8 m[128], "
                ".param .u64 f",
                "{ type = \"u8\", value = 7 }, \"y\", { type = \"u16\", value = 513 }, "
                "{ type = \"s32\", value = -2 }, { tensormap = \"x\", shape = [64, 64], box = [8, 8] }, "
                "\"x\"",
                &code);
  hd_diag d = {0};
  void *args;
  uint64_t bytes;
  if (hd_launch_args(code, 0, addresses, &args, &bytes, &d) != HD_OK) fail_msg("%s", d.message);
  unsigned char want[200] = {7};
  static const uint16_t c = 513;
  static const int32_t e = -2;
  memcpy(want + 8, &addresses[1], 8);
  memcpy(want + 16, &c, 2);
  memcpy(want + 20, &e, 4);
  memcpy(want + 192, &addresses[0], 8); /* behind the map, which only a device encodes */
  assert_int_equal(bytes, sizeof want);
  assert_memory_equal(args, want, sizeof want);
  free(args);
  hd_workload_close(w);
}

static void a_workload_that_disagrees_with_its_kernel_is_refused(void **state) {
  static const struct {
    const char *params, *args, *why;
  } cases[] = {
      {".param .u64 a", "", "takes 1 arguments, the workload gives 0"},
      {"", "\"x\"", "takes 0 arguments, the workload gives 1"},
      {".param .u32 a", "\"x\"", "argument 1 of kernel 'k' is 4 bytes wide, the workload gives 8"},
      {".param .u64 a, .param .u32 b", "\"x\", { type = \"u16\", value = 1 }",
       "argument 2 of kernel 'k' is 4 bytes wide, the workload gives 2"},
      {".param .u64 a", "{ tensormap = \"x\", shape = [64, 64], box = [8, 8] }",
       "argument 1 of kernel 'k' is 8 bytes wide, the workload gives 128"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_compiled *code;
    hd_workload *w = open_with(cases[i].params, cases[i].args, &code);
    hd_diag d = {0};
    void *args;
    uint64_t bytes;
    assert_int_equal(hd_launch_args(code, 0, addresses, &args, &bytes, &d), HD_ERR_INPUT);
    if (!strstr(d.message, cases[i].why)) fail_msg("case %zu: %s", i, d.message);
    assert_null(args);
    hd_workload_close(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_argument_lies_where_the_kernel_reads_it),
      cmocka_unit_test(a_workload_that_disagrees_with_its_kernel_is_refused),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
