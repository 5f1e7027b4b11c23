/* cuda/loader/jitlink.h: nvJitLink's functions over heddle's linker: PTX or LTO-IR in, PTX out. */
#ifndef HEDDLE_CUDA_LOADER_JITLINK_H
#define HEDDLE_CUDA_LOADER_JITLINK_H

#include "abi/jitlink.h"

#define JITLINK(name, run, parameters, arguments) fn_jitlink_##name jitlink_##name;
#include "abi/jitlink.def"

/* NVIDIA's own functions of these names, which link LTO-IR to PTX; NULL: not known. */
typedef struct jitlink_functions {
#define JITLINK(name, run, parameters, arguments) fn_jitlink_##name *name;
#include "abi/jitlink.def"
} jitlink_functions;
extern jitlink_functions jitlink_real;

#endif
