/* Memory that runs out in device/: on the emulator. */
#include "nomem.h"

#include "heddle/device.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %l<4>;\nld.param.u64 %l1, [p];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %l2, %r1, 4;\nadd.s64 %l3, %l1, %l2;\nst.global.u32 [%l3], %r1;\nret;\n}\n";

static hd_status launch(void *ctx, hd_diag *d) {
  const hd_device_options options = {.emu = {.threads = 1, .memory = 1 << 20}};
  hd_device *dev;
  hd_device_module *m = NULL;
  uint64_t p;
  uint32_t back[32];
  hd_status st = hd_device_open("emu", &options, &dev, d);
  if (st != HD_OK) return st;
  st = hd_device_load(dev, text, sizeof text - 1, "test", &(hd_device_load_options){0}, &m, d);
  if (st == HD_OK) st = hd_device_alloc(dev, sizeof back, &p, d);
  if (st == HD_OK) {
    const hd_device_launch l = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = &p, .args_bytes = sizeof p};
    st = hd_device_run(m, &l, d);
    if (st == HD_OK) st = hd_device_sync(dev, d);
    if (st == HD_OK) st = hd_device_read(dev, p, back, sizeof back, d);
    if (st == HD_OK) assert_int_equal(back[31], 31);
  }
  hd_device_unload(m);
  hd_device_close(dev);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"launch", launch, NULL, false});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
