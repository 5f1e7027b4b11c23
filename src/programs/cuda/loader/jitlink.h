/* cuda/loader/jitlink.h: nvJitLink's functions over heddle's linker: PTX or LTO-IR in, PTX out. */
#ifndef HEDDLE_CUDA_LOADER_JITLINK_H
#define HEDDLE_CUDA_LOADER_JITLINK_H

#include <stddef.h>
#include <stdint.h>

typedef struct jitlink jitlink;

/* They return an nvJitLinkResult. */
#define JITLINK(name, parameters) int jitlink_##name parameters;
#include "cuda/loader/jitlink.def"
#undef JITLINK

/* NVIDIA's own functions of these names, which link LTO-IR to PTX; NULL: not known. */
typedef struct jitlink_functions {
#define JITLINK(name, parameters) int(*name) parameters;
#include "cuda/loader/jitlink.def"
#undef JITLINK
} jitlink_functions;
extern jitlink_functions jitlink_real;

#endif
