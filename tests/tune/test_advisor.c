/* Which GPU's file advises the tuner of a device. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "heddle/tuner.h"

static const char gpu_dir[] = SOURCE_DIR "/gpus";

static void advises(const char *title, unsigned arch, uint32_t sms, const char *file) {
  hd_device_info i = {.arch = arch, .n_sms = sms};
  hd_gpu g;
  hd_diag d = {0};
  snprintf(i.title, sizeof i.title, "%s", title);
  if (hd_tune_advisor(&i, gpu_dir, &g, &d) != HD_OK) fail_msg("%s: %s", title, d.message);
  if (strcmp(g.name, file) != 0) fail_msg("%s: %s, not %s", title, g.name, file);
}

static void a_device_is_advised_by_the_file_of_its_title(void **state) {
  advises("NVIDIA H100 80GB HBM3", 90, 132, "h100");
  advises("NVIDIA H200", 90, 132, "h200");
  advises("NVIDIA GeForce RTX 4090", 89, 128, "rtx4090");
  advises("NVIDIA L4", 89, 58, "l4");
}

static void of_files_of_its_architecture_one_that_was_compared_or_has_as_many_sms_advises(void **state) {
  advises("NVIDIA H100 PCIe", 90, 114, "h100");
  advises("A GPU", 90, 132, "h100");
  advises("NVIDIA GeForce RTX 4060", 89, 24, "l4");
  advises("NVIDIA L40", 89, 142, "l40s");
}

static void else_the_newest_file_that_is_no_newer_advises(void **state) {
  advises("NVIDIA B300", 103, 148, "b200");
  advises("Tesla T4", 75, 40, "gtx1080");
  advises("NVIDIA GeForce RTX 9090", 130, 200, "rtx5090");
}

/* A title that says one GPU of a device that is another: what the device reports holds. */
static void a_title_of_another_architecture_is_not_believed(void **state) {
  advises("NVIDIA H100 80GB HBM3", 80, 108, "a100-40gb");
}

static void a_device_older_than_all_files_has_no_advisor(void **state) {
  const hd_device_info i = {.arch = 13};
  hd_gpu g;
  assert_int_equal(hd_tune_advisor(&i, gpu_dir, &g, NULL), HD_ERR_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a device is advised by the file of its title", a_device_is_advised_by_the_file_of_its_title),
      BEHAVIOUR("of files of its architecture one that was compared or has as many SMs advises",
                of_files_of_its_architecture_one_that_was_compared_or_has_as_many_sms_advises),
      BEHAVIOUR("else the newest file that is no newer advises",
                else_the_newest_file_that_is_no_newer_advises),
      BEHAVIOUR("a title of another architecture is not believed",
                a_title_of_another_architecture_is_not_believed),
      BEHAVIOUR("a device older than all files has no advisor", a_device_older_than_all_files_has_no_advisor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
