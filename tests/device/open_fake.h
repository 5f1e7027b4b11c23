/* device/open_fake.h: the fake driver, as a setup of a group of tests. */
#ifndef TESTS_DEVICE_OPEN_FAKE_H
#define TESTS_DEVICE_OPEN_FAKE_H

#include <dlfcn.h>

#include "check.h"
#include "device/fake/fake_cuda.h"
#include "heddle/device.h"

static fake_cuda *fake;
static void (*reset)(void);

static const hd_device_options options = {.driver = FAKE_CUDA, .cupti = FAKE_CUDA, .ptxas = ""};

static int open_fake(void **state) {
  void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  fake = dlsym(library, "fake");
  *(void **)&reset = dlsym(library, "fake_cuda_reset");
  return fake && reset ? 0 : -1;
}

#endif
