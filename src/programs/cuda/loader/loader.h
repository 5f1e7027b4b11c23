/* cuda/loader/loader.h: functions of loaded files that are put out of action: their symbols, and jumps in
 * their places. */
#ifndef HEDDLE_CUDA_LOADER_LOADER_H
#define HEDDLE_CUDA_LOADER_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/core/elf_symbols.h"

/* ---- Jumps (jump.c) ------------------------------------------------------------------------------ */

/* Bytes of a jump to anywhere, and where functions begin: at multiples of this. */
#if defined(__x86_64__)
enum { LOADER_JUMP_BYTES = 14, LOADER_FUNCTION_ALIGN = 16 };
#elif defined(__aarch64__)
enum { LOADER_JUMP_BYTES = 16, LOADER_FUNCTION_ALIGN = 16 };
#else
#error "no jump is written for this processor"
#endif

/* Whether a jump has room in a function, and in the padding behind it. */
bool loader_has_room(const Elf64_Sym *y);
/* Whether the function at this address does nothing but return. */
bool loader_is_empty(uint64_t at);
/* Code in [at, at + bytes) may be written, until loader_close_code. False: the system refuses. */
bool loader_open_code(uint64_t at, uint64_t bytes);
void loader_close_code(uint64_t at, uint64_t bytes);
/* Where a function leads that is nothing but a jump; 0: it is more. */
uint64_t loader_jump_at(uint64_t at);
/* Begin the function at `at` with a jump. The code must be open. */
void loader_put_jump(uint64_t at, uint64_t to);

/* ---- Compilers and linkers (compilers.c) --------------------------------------------------------- */

/* A library that compiles or links for a GPU when the program runs gives PTX in place of machine code.
 * `base`: where the file is loaded. */
void loader_replace_compiler(const core_symbols *s, uint64_t base);

#endif
