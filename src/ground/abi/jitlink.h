/* abi/jitlink.h: the interface of nvJitLink, for whoever stands in front of it or answers in its place. */
#ifndef HEDDLE_ABI_JITLINK_H
#define HEDDLE_ABI_JITLINK_H

#include <stddef.h>
#include <stdint.h>

typedef struct jitlink_ *jitlink_handle; /* nvJitLinkHandle */

enum { /* nvJitLinkResult */
       JITLINK_SUCCESS = 0,
       JITLINK_INVALID_INPUT = 3,
       JITLINK_PTX_COMPILE = 4,
       JITLINK_INTERNAL = 6,
       JITLINK_NULL_INPUT = 10,
       JITLINK_INCORRECT_TYPE = 12,
};

enum { /* nvJitLinkInputType */
       JITLINK_CUBIN = 1,
       JITLINK_PTX = 2,
       JITLINK_LTO_IR = 3,
       JITLINK_FATBIN = 4,
       JITLINK_OBJECT = 5,
       JITLINK_LIBRARY = 6,
       JITLINK_ANY = 10
};

/* X(..., version) for the versions in the names that its headers give to its functions. */
#define JITLINK_VERSIONS(X, ...)                                                                             \
  X(__VA_ARGS__, 12_0)                                                                                       \
  X(__VA_ARGS__, 12_1)                                                                                       \
  X(__VA_ARGS__, 12_2)                                                                                       \
  X(__VA_ARGS__, 12_3)                                                                                       \
  X(__VA_ARGS__, 12_4)                                                                                       \
  X(__VA_ARGS__, 12_5)                                                                                       \
  X(__VA_ARGS__, 12_6)                                                                                       \
  X(__VA_ARGS__, 12_8)                                                                                       \
  X(__VA_ARGS__, 12_9)                                                                                       \
  X(__VA_ARGS__, 13_0)                                                                                       \
  X(__VA_ARGS__, 13_1)                                                                                       \
  X(__VA_ARGS__, 13_2)                                                                                       \
  X(__VA_ARGS__, 13_3)

/* fn_jitlink_Create: the types of its functions. */
#define JITLINK(name, run, parameters, arguments) typedef int fn_jitlink_##name parameters;
#include "abi/jitlink.def"

#endif
