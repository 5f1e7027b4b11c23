/* launch/slice.h: what the addresses of a kernel's accesses are computed from. */
#ifndef HEDDLE_LAUNCH_SLICE_H
#define HEDDLE_LAUNCH_SLICE_H

#include "heddle/cfg.h"

/* By the number of a parameter. */
typedef struct slice_writes {
  bool *param;    /* some store is based on it */
  bool *other;    /* some store's address is computed from it besides; it may be no pointer */
  bool *distance; /* as bytes in 64 bits */
  bool *relied; /* an index in such an address was loaded through it, and no other parameter's memory is there
                 */
  bool anything;
} slice_writes;

bool slice_begin_writes(slice_writes *w, uint32_t n_params);
void slice_end_writes(slice_writes *w);

/* What a register's value may be in the address that is looked at. */
typedef enum slice_share {
  SLICE_INDEX = 1, /* 32 bits, times a size */
  SLICE_ELEMENTS,  /* 64 bits, times a size */
  SLICE_BYTES,
  SLICE_PARTS, /* some bits of an address or a distance */
} slice_share;

/* The memory that some of the kernel's stores lead to. */
enum { SLICE_PLACES = 32 };
typedef struct slice_place {
  hd_root root;                 /* not known: anywhere in the spaces */
  unsigned spaces;              /* HD_IN_LOCAL, HD_IN_SHARED, HD_IN_GLOBAL */
  slice_share wanted, followed; /* of the values that are stored there */
} slice_place;

/* Of an instruction that reads memory. */
typedef struct slice_read {
  uint32_t places; /* that it may meet, a bit each */
  uint32_t relies; /* the parameter that it reads through, and no place is known to be of; HD_NONE */
} slice_read;

/* The registers that an address is computed from, through all their writers, and through memory as far as the
 * kernel itself wrote there. */
typedef struct slice {
  const hd_cfg *g;
  hd_writers writers;
  uint8_t *seen; /* per register: the greatest share so far */
  uint32_t *todo, n;
  slice_share share;   /* that is seen next */
  bool of_a_load;      /* else, of a store */
  bool through_memory; /* what is seen was stored, and loaded again */
  uint32_t base, n_params;
  slice_place places[SLICE_PLACES];
  unsigned n_places;
  uint32_t *stores, n_stores; /* instructions that write memory */
  uint8_t *place;             /* of each of them */
  slice_read *reads;          /* per instruction */
  uint32_t storing;           /* the instruction whose values are seen */
  uint64_t observed;          /* parameters whose bits are numbers somewhere: observed.c */
  slice_writes *out;
} slice;

void slice_begin(slice *s, const hd_cfg *g, uint32_t n_params, slice_writes *out, hd_arena *arena);
/* Adds to s->out what the address of the instruction is computed from, beside parameter `base`. */
void slice_follow(slice *s, uint32_t inst, uint32_t base);

/* observed.c. A parameter as it was passed, in a register. */
bool slice_is_parameter(const slice *s, uint32_t inst, const hd_ptx_opnd *o);
/* Finds s->observed, which slice_begin calls it for. */
void slice_find_observed(slice *s, hd_arena *arena);
bool slice_is_observed(const slice *s, uint32_t param);

#endif
