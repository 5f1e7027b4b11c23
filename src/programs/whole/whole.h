/* whole/whole.h: start.c runs the program, kernels.c looks at what it left behind. */
#ifndef HEDDLE_WHOLE_WHOLE_H
#define HEDDLE_WHOLE_WHOLE_H

#include "heddle/whole.h"

/* `report` and `emulated` are files that the program left: its own, and the emulator's; NULL: it ran on a
 * GPU. */
hd_status whole_optimize(const hd_whole_options *o, const char *report, const char *emulated, hd_hot *out,
                         hd_diag *d);

#endif
