/* launch/setup.h: the set-up of a workload's launches on any device: parameter blocks laid out as the kernels
 * declare them, and the state, tables and grids of rewritten kernels. */
#ifndef HEDDLE_LAUNCH_SETUP_H
#define HEDDLE_LAUNCH_SETUP_H

#include "launch/launch.h"

/* The memory of the device that the launches run on. */
typedef struct launch_memory {
  void *ctx;
  hd_status (*alloc)(void *ctx, uint64_t bytes, uint64_t *address, hd_diag *d);
  void (*free)(void *ctx, uint64_t address); /* address 0 is fine; NULL: all goes with the device */
  /* `bytes` NULL: zeros */
  hd_status (*write)(void *ctx, uint64_t address, const void *bytes, uint64_t n, hd_diag *d);
  hd_status (*tensor_map)(void *ctx, const hd_tensor *t, void *map, hd_diag *d);
  /* `t` has the address where the image lies, `surface` is that kind of object; NULL: handles are 0 */
  hd_status (*image)(void *ctx, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d);
  void (*release)(void *ctx, uint64_t handle, bool surface); /* NULL: all go with the device */
} launch_memory;

typedef struct launch_block {
  void *args; /* parameter block */
  uint64_t args_bytes;
  uint64_t *offsets; /* in it, of the workload's arguments */
  uint64_t state;    /* memory that the recipe asks for, the same for all launches of a kernel */
  uint64_t table;    /* the order's table, likewise */
} launch_block;

typedef struct launch_setup {
  const hd_compiled *code;
  launch_memory memory;
  hd_arena arena;
  hd_recipe *recipes; /* per launch: all zero for the original */
  launch_block *launches;
  uint64_t *images; /* per image of the workload: its handle */
} launch_setup;

/* launch_setup_close is to be called whether this succeeds or not. */
hd_status launch_setup_open(launch_setup *s, const hd_compiled *code, launch_memory memory, hd_diag *d);
void launch_setup_close(launch_setup *s);
/* The recipes of hd_apply_resolved. */
void launch_setup_take(launch_setup *s, const hd_recipe *recipes);
/* Make all blocks. `m` is the module that is launched, `plans` those it was rewritten for (NULL: the
 * original), addresses[i] the address of buffer i. */
hd_status launch_setup_build(launch_setup *s, const hd_ptx_module *m, const hd_resolved *plans,
                             const uint64_t *addresses, hd_diag *d);
/* The buffers were moved: the arguments that name them follow, and images over them. */
hd_status launch_setup_follow(launch_setup *s, const uint64_t *addresses, hd_diag *d);

#endif
