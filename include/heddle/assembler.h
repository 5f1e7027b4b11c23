/* heddle/assembler.h: ptxas, which makes the machine code that a driver of its own release would.
 *
 * A driver's cuModuleLoadData compiles under a lock of its own, one text after the other. Its linker does
 * not, but it makes other code: it compiles text to be linked, where divisions and square roots become calls
 * and registers are those of an interface. So a toolkit's assembler compiles, many processes at once,
 * provided that it is of the driver's release (docs/decisions/compiling-ahead.md). */
#ifndef HEDDLE_ASSEMBLER_H
#define HEDDLE_ASSEMBLER_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_assembler {
  char path[4096];
  unsigned arch; /* of the GPU, as 90 */
  bool unseen;   /* the program that heddle is loaded into sees no child (hd_program_run_unseen) */
} hd_assembler;

typedef struct hd_assembler_options {
  uint32_t max_registers; /* 0: as many as it takes */
  bool unoptimized;
} hd_assembler_options;

/* `wanted`, else $HEDDLE_PTXAS, else the one on the PATH, else CUDA's own folder's. False: it is not there,
 * or not of the driver's release; `version` as cuDriverGetVersion has it. a->arch and a->unseen are the
 * caller's to set before. */
HD_OWN bool hd_assembler_find(const char *wanted, unsigned version, hd_assembler *a);
/* Machine code of a text, added to *image. `folder` is empty, this call's alone, and afterwards as it was.
 * HD_ERR_UNSUPPORTED: it does not take the text; HD_ERR_IO. */
HD_OWN hd_status hd_assemble(const hd_assembler *a, const char *text, size_t len,
                             const hd_assembler_options *o, const char *folder, hd_buf *image, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
