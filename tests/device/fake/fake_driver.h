/* Declarations shared by the files of the fake driver. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include "fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))

extern EXPORT fake_cuda fake;

/* True when this call is the one to fail. */
int fake_fails(const char *call);

#endif
