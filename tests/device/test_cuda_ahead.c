/* cuda:N: text compiled ahead of its loading, on a fake driver. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/open_fake.h"

enum { TEXTS = 40, CAP = 512 };

static hd_device *open_device(void) {
  hd_device *dev;
  hd_diag d = {0};
  reset();
  if (hd_device_open("cuda:0", &options, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  return dev;
}

static const char *kernel(unsigned number, char out[CAP]) {
  snprintf(out, CAP, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k%u()\n{\n  ret;\n}\n",
           number);
  return out;
}

static hd_status load(hd_device *dev, const char *text, const hd_device_load_options *o, hd_diag *d) {
  hd_device_module *m;
  hd_status st = hd_device_load(dev, text, strlen(text), "test", o, &m, d);
  if (st == HD_OK) hd_device_unload(m);
  return st;
}

static void close_device(hd_device *dev) {
  hd_device_close(dev);
  assert_int_equal(fake->links, 0);
  assert_int_equal(fake->modules, 0);
  assert_int_equal(fake->pushes, 0);
}

static void text_compiled_ahead_is_not_compiled_again(void **state) {
  hd_device *dev = open_device();
  char text[TEXTS][CAP];
  hd_device_source sources[TEXTS];
  hd_diag d = {0};
  for (unsigned i = 0; i < TEXTS; i++)
    sources[i] = (hd_device_source){.ptx = kernel(i, text[i]), .len = strlen(text[i])};
  assert_int_equal(hd_device_compile_ahead(dev, sources, TEXTS, &d), HD_OK);
  for (unsigned i = TEXTS; i-- > 0;) assert_int_equal(load(dev, text[i], NULL, &d), HD_OK);
  assert_int_equal(fake->linked, TEXTS);
  assert_int_equal(fake->compiled, 0);
  /* Code compiled ahead is used once. A second load measures the driver's compilation of the text. */
  assert_int_equal(load(dev, text[0], NULL, &d), HD_OK);
  assert_int_equal(fake->compiled, 1);
  close_device(dev);
}

static void other_text_and_other_options_are_compiled(void **state) {
  hd_device *dev = open_device();
  char text[CAP], other[CAP];
  hd_device_source s = {.ptx = kernel(1, text), .len = strlen(text), .options = {.max_registers = 32}};
  hd_diag d = {0};
  assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
  assert_int_equal(load(dev, text, NULL, &d), HD_OK);
  assert_int_equal(load(dev, kernel(2, other), &s.options, &d), HD_OK);
  assert_int_equal(fake->compiled, 2);
  assert_int_equal(load(dev, text, &s.options, &d), HD_OK);
  assert_int_equal(fake->linked, 1);
  close_device(dev);
}

static void text_that_cannot_be_compiled_is_refused_when_it_is_loaded(void **state) {
  hd_device *dev = open_device();
  hd_device_source s = {.ptx = "no PTX at all", .len = 13};
  hd_diag d = {0};
  assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
  assert_int_equal(load(dev, s.ptx, NULL, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "the driver's compiler refuses test"));
  close_device(dev);
}

static void a_linker_that_fails_costs_nothing_but_time(void **state) {
  static const char *const calls[] = {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete",
                                      "cuLinkDestroy"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    hd_device *dev = open_device();
    char text[TEXTS][CAP];
    hd_device_source sources[TEXTS];
    hd_diag d = {0};
    for (unsigned k = 0; k < TEXTS; k++)
      sources[k] = (hd_device_source){.ptx = kernel(k, text[k]), .len = strlen(text[k])};
    fake->fail_in = calls[i];
    fake->fail_at = fake->calls + 1 + (unsigned)i;
    fake->fail_with = 2; /* out of memory */
    assert_int_equal(hd_device_compile_ahead(dev, sources, TEXTS, &d), HD_OK);
    for (unsigned k = 0; k < TEXTS; k++) assert_int_equal(load(dev, text[k], NULL, &d), HD_OK);
    assert_int_equal(fake->linked + fake->compiled, TEXTS);
    close_device(dev);
  }
}

static void what_is_never_loaded_is_let_go(void **state) {
  hd_device *dev = open_device();
  char text[CAP];
  hd_diag d = {0};
  for (unsigned i = 0; i < 600; i++) {
    hd_device_source s = {.ptx = kernel(i, text), .len = strlen(text)};
    assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
  }
  close_device(dev);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("text compiled ahead is not compiled again", text_compiled_ahead_is_not_compiled_again),
      BEHAVIOUR("other text and other options are compiled", other_text_and_other_options_are_compiled),
      BEHAVIOUR("text that cannot be compiled is refused when it is loaded",
                text_that_cannot_be_compiled_is_refused_when_it_is_loaded),
      BEHAVIOUR("a linker that fails costs nothing but time", a_linker_that_fails_costs_nothing_but_time),
      BEHAVIOUR("machine code that is never loaded is let go", what_is_never_loaded_is_let_go),
  };
  return cmocka_run_group_tests(tests, open_fake, NULL);
}
