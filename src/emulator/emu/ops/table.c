/* emu/ops/table.c: the list of this build's tables. */
#include "emu/ops/lanes.h"

#define EMU_SUBJECTS(X)                                                                                      \
  X(integer)                                                                                                 \
  X(video)                                                                                                   \
  X(bits)                                                                                                    \
  X(float) X(half) X(compare) X(convert) X(move) X(memory) X(atomic) X(warp) X(matrix) X(wgmma) X(tcgen05)

#define DECLARE(subject) extern const emu_op EMU_OPS(subject)[];
#define LIST(subject) EMU_OPS(subject),
EMU_SUBJECTS(DECLARE)

const emu_op *const EMU_JOIN(emu_op_tables, EMU_ISA)[] = {EMU_SUBJECTS(LIST) NULL};
