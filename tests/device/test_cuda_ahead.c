/* cuda:N: text compiled ahead of its loading, on a fake driver. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/open_fake.h"

enum { TEXTS = 40, CAP = 512 };

/* With an assembler: a script beside this test. */
static hd_device *open_with(const char *assembler) {
  hd_device *dev;
  hd_diag d = {0};
  hd_device_options o = options;
  char path[CAP] = "";
  if (assembler[0]) snprintf(path, sizeof path, "%s/fake/%s", TEST_DIR, assembler);
  o.ptxas = path;
  reset();
  if (hd_device_open("cuda:0", &o, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  return dev;
}
static hd_device *open_device(void) { return open_with("ptxas"); }

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
  assert_int_equal(fake->assembled, TEXTS);
  assert_int_equal(fake->compiled, 0);
  /* Code compiled ahead is used once. A second load measures the driver's compilation of the text. */
  assert_int_equal(load(dev, text[0], NULL, &d), HD_OK);
  assert_int_equal(fake->compiled, 1);
  close_device(dev);
}

/* The assembler waits for a file that is made only after the device was asked to compile. */
static void the_device_works_on_while_text_is_compiled(void **state) {
  hd_device *dev = open_device();
  char text[TEXTS][CAP], other[CAP], gate[] = "/tmp/heddle-gate-XXXXXX";
  hd_device_source sources[TEXTS];
  hd_diag d = {0};
  int fd = mkstemp(gate);
  assert_true(fd >= 0);
  close(fd);
  remove(gate);
  setenv("FAKE_PTXAS_GATE", gate, 1);
  for (unsigned i = 0; i < TEXTS; i++)
    sources[i] = (hd_device_source){.ptx = kernel(i, text[i]), .len = strlen(text[i])};
  assert_int_equal(hd_device_compile_ahead(dev, sources, TEXTS, &d), HD_OK);
  assert_int_equal(load(dev, kernel(TEXTS, other), NULL, &d), HD_OK);
  assert_int_equal(fake->compiled, 1);
  assert_int_equal(fake->assembled, 0);
  fd = open(gate, O_CREAT | O_WRONLY, 0600);
  assert_true(fd >= 0);
  close(fd);
  /* The last ones that were asked for are wanted first. */
  for (unsigned i = TEXTS; i-- > 0;) assert_int_equal(load(dev, text[i], NULL, &d), HD_OK);
  assert_int_equal(fake->assembled, TEXTS);
  assert_int_equal(fake->compiled, 1);
  unsetenv("FAKE_PTXAS_GATE");
  remove(gate);
  close_device(dev);
}

static void text_that_may_not_be_written_is_compiled_by_the_driver(void **state) {
  hd_device *dev = open_device();
  char text[CAP];
  hd_device_source s = {.ptx = kernel(1, text), .len = strlen(text)};
  hd_diag d = {0};
  struct rlimit was, low;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
  low = was;
  low.rlim_cur = 16;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const hd_status ahead = hd_device_compile_ahead(dev, &s, 1, &d), loaded = load(dev, text, NULL, &d);
  setrlimit(RLIMIT_FSIZE, &was);
  assert_int_equal(ahead, HD_OK);
  assert_int_equal(loaded, HD_OK);
  assert_int_equal(fake->assembled, 0);
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
  assert_int_equal(fake->assembled, 1);
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

/* Only the driver's own release makes the code that the driver would make. */
static void assemblers_that_are_not_the_drivers_are_not_used(void **state) {
  static const char *const assemblers[] = {"", "ptxas-older", "no-such-file", "fake_cuda.c"};
  for (size_t i = 0; i < sizeof assemblers / sizeof *assemblers; i++) {
    hd_device *dev = open_with(assemblers[i]);
    char text[CAP];
    hd_device_source s = {.ptx = kernel(1, text), .len = strlen(text)};
    hd_diag d = {0};
    assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
    assert_int_equal(load(dev, text, NULL, &d), HD_OK);
    assert_int_equal(fake->assembled, 0);
    assert_int_equal(fake->compiled, 1);
    close_device(dev);
  }
}

/* The GPU's own architecture, and the letter of a text that is for it alone; registers, and no optimizing. */
static void compiles_for_the_gpu_with_the_options_of_the_load(void **state) {
  static const struct {
    const char *target, *want;
    hd_device_load_options options;
  } cases[] = {{"sm_70", "-arch=sm_90", {0}},
               {"sm_90a", "-arch=sm_90a", {0}},
               {"sm_80a", "-arch=sm_90", {0}},
               {"sm_90", "-arch=sm_90 -maxrregcount=40 -O0", {.max_registers = 40, .unoptimized = true}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_device *dev = open_device();
    char text[CAP], log[] = "/tmp/heddle-ptxas-XXXXXX", line[CAP] = "";
    int fd = mkstemp(log);
    assert_true(fd >= 0);
    setenv("FAKE_PTXAS_LOG", log, 1);
    snprintf(text, CAP, ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n",
             cases[i].target);
    hd_device_source s = {.ptx = text, .len = strlen(text), .options = cases[i].options};
    hd_diag d = {0};
    assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
    assert_int_equal(load(dev, text, &s.options, &d), HD_OK); /* waits for it */
    assert_int_equal(fake->assembled, 1);
    unsetenv("FAKE_PTXAS_LOG");
    ssize_t n = read(fd, line, sizeof line - 1);
    assert_true(n > 0);
    line[strcspn(line, "\n")] = 0;
    assert_string_equal(line, cases[i].want);
    close(fd);
    remove(log);
    close_device(dev);
  }
}

static void what_is_never_loaded_is_let_go(void **state) {
  hd_device *dev = open_device();
  char text[CAP];
  hd_diag d = {0};
  for (unsigned i = 0; i < 300; i++) {
    hd_device_source s = {.ptx = kernel(i, text), .len = strlen(text)};
    assert_int_equal(hd_device_compile_ahead(dev, &s, 1, &d), HD_OK);
  }
  close_device(dev);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("text compiled ahead is not compiled again", text_compiled_ahead_is_not_compiled_again),
      BEHAVIOUR("the device works on while text is compiled", the_device_works_on_while_text_is_compiled),
      BEHAVIOUR("other text and other options are compiled", other_text_and_other_options_are_compiled),
      BEHAVIOUR("text that may not be written is compiled by the driver",
                text_that_may_not_be_written_is_compiled_by_the_driver),
      BEHAVIOUR("text that cannot be compiled is refused when it is loaded",
                text_that_cannot_be_compiled_is_refused_when_it_is_loaded),
      BEHAVIOUR("an assembler of another release than the driver's is not used",
                assemblers_that_are_not_the_drivers_are_not_used),
      BEHAVIOUR("text is compiled for the GPU, with the options of the load",
                compiles_for_the_gpu_with_the_options_of_the_load),
      BEHAVIOUR("machine code that is never loaded is let go", what_is_never_loaded_is_let_go),
  };
  return cmocka_run_group_tests(tests, open_fake, NULL);
}
