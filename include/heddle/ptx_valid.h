/* heddle/ptx_valid.h: finds text that parses but that no driver accepts. */
#ifndef HEDDLE_PTX_VALID_H
#define HEDDLE_PTX_VALID_H

#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HD_ERR_INPUT, with the line, for a module that ptxas refuses: an instruction that its .target or .version
 * lacks, or that is not in the language up to ISA 9.0; operands that are too many or too few, of another
 * kind, or of a type that does not suit the instruction's; words that do not go together; a variable in
 * another state space; a name that is not declared, or one with dots. ptxas may still refuse an accepted
 * module, but never accepts a refused one (src/code/ptx/valid.def says how that was found). */
HD_OWN hd_status hd_ptx_validate(const hd_ptx_module *m, hd_diag *d);
/* hd_ptx_parse, then that check. */
HD_OWN hd_status hd_ptx_parse_valid(const char *text, size_t len, const char *name, hd_arena *arena,
                                    hd_ptx_module **out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
