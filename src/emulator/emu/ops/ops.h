/* emu/ops/ops.h: the tables of instruction handlers.
 *
 * Every file of ops/ is compiled once per instruction set and ends in a table of its
 * handlers. The decoder finds a handler by name; a name is the PTX instruction with
 * what does not change its meaning left out (decode/form.c says how).
 */
#ifndef HEDDLE_EMU_OPS_H
#define HEDDLE_EMU_OPS_H

#include "emu/machine/machine.h"

/* `shape` describes the operands: "w=wd" writes a 32-bit register and reads a 32-bit and
 * a 64-bit one. Letters also say how the handler reads them:
 *   h k   16 bits, unsigned and signed       w i   32 bits, unsigned and signed
 *   d j   64 bits, unsigned and signed       f g   f32, f64
 *   q     128 bits                           p     predicate
 * "" means that the decoder resolves the operands itself. */
typedef struct emu_op {
  const char *name;
  const char *shape;
  emu_fn *fn;
} emu_op;

/* Tables end with a NULL name, the list of tables with NULL. The tables of all instruction
 * sets list the same handlers in the same order. */
const emu_op *const *emu_op_tables(hd_emu_isa isa); /* NULL: not built in */

#endif
