/* emu/machine/program.h: a module, decoded: its variables and its code. The decoder makes one
 * (decode/program.c). */
#ifndef HEDDLE_EMU_PROGRAM_H
#define HEDDLE_EMU_PROGRAM_H

#include "emu/machine/memory.h"

/* The properties of a kernel, callees included, that decide how it may be run. */
typedef struct emu_traits {
  bool order_sensitive;   /* CTAs are interleaved, on one host thread */
  bool releases;          /* it may release what it wrote, or fence, beyond the CTA */
  bool depends;           /* it waits for earlier grids */
  bool prints, allocates; /* one host thread, so that the order is always the same */
  bool noncoherent;       /* it has non-coherent loads */
  bool indirect;          /* calls through a register, perhaps functions of other programs */
} emu_traits;

typedef struct emu_symbol {
  uint32_t var;     /* index into module->vars */
  uint64_t address; /* 0: not allocated */
  uint64_t bytes;
  uint64_t handle;     /* of a .texref or .surfref: the object that it names; 0: none */
  const char *missing; /* the undefined variable that its initialiser needs, or its own name; or NULL */
} emu_symbol;

enum { EMU_FUNC_ROOM = 1 << 24 }; /* addresses of each program */

struct hd_emu_program {
  hd_emu *emu;
  hd_emu_program *next; /* of the same emulator, by falling addresses of functions */
  uint64_t functions;   /* the address of function 0 */
  const hd_ptx_module *module;
  hd_arena arena;
  emu_symbol *symbols; /* one per module->vars; address 0 for registers and the like */
  emu_code **codes;    /* one per module->funcs */
  emu_traits *traits;  /* one per module->funcs */
};

#endif
