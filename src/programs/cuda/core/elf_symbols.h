/* cuda/core/elf_symbols.h: functions of ELF files, by their tables of symbols. */
#ifndef HEDDLE_CUDA_CORE_ELF_SYMBOLS_H
#define HEDDLE_CUDA_CORE_ELF_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/base.h"

typedef struct core_symbols {
  const Elf64_Sym *table;
  size_t n;
  const char *names;
  size_t names_bytes;
} core_symbols;

/* A table of an ELF file's symbols, of type SHT_SYMTAB or SHT_DYNSYM; false: it has none, or is no such file.
 */
bool core_find_symbols(const unsigned char *file, size_t bytes, unsigned type, core_symbols *s);
/* The name of a function that the file defines; NULL: the symbol is something else. */
const char *core_function_name(const core_symbols *s, const Elf64_Sym *y);
/* Append "main (app+0x1a2b)": the function of this process with the call that returns to `from`, as far as
 * its file names it, and the place that addr2line -i -e app takes. Nothing where no file has that code. */
void core_put_caller(const void *from, hd_buf *out);

#endif
