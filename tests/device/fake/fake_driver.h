/* Declarations shared by the files of the fake driver. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include "device/cuda_api.h"
#include "fake_cuda.h"
#include "heddle/emu.h"

#define EXPORT __attribute__((visibility("default")))

#define CUDA_CALL(symbol) EXPORT fn_##symbol symbol;
#include "device/calls.def"

extern EXPORT fake_cuda fake;

/* True when this call is the one to fail. */
int fake_fails(const char *call);
/* Every call of the driver begins so: not 0 is its result. */
int fake_enter(const char *call);
#define ENTER()                                                                                              \
  do {                                                                                                       \
    int failure = fake_enter(__func__);                                                                      \
    if (failure) return failure;                                                                             \
  } while (0)
void fake_count(int *what, int more);
hd_emu *fake_emulator(void);

#endif
