/* heddle/ptx_valid.h: text that parses, and that no driver takes. */
#ifndef HEDDLE_PTX_VALID_H
#define HEDDLE_PTX_VALID_H

#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HD_ERR_INPUT, with the line, for a module that ptxas refuses: an instruction that its .target or .version
 * has not, or that the language does not know up to ISA 9.0; a register whose type does not suit the
 * instruction's; a vector of another length; a name with dots. What is accepted may still be refused by
 * ptxas; what is refused never passes there (src/code/ptx/valid.def says how that was found). */
HD_API hd_status hd_ptx_validate(const hd_ptx_module *m, hd_diag *d);
/* hd_ptx_parse, and then that. */
HD_API hd_status hd_ptx_parse_valid(const char *text, size_t len, const char *name, hd_arena *arena,
                                    hd_ptx_module **out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
