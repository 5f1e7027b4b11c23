/* emu/machine/memory.h: device memory and its allocations (memory.c), the check that every access passes
 * (access.c), cache policies for the access hook (policy.c). */
#ifndef HEDDLE_EMU_MEMORY_H
#define HEDDLE_EMU_MEMORY_H

#include "emu/machine/machine.h"

#include <pthread.h>
#include <stdatomic.h>

enum { EMU_FREED = 16 }; /* freed allocations remembered for diagnostics */

typedef struct emu_alloc {
  uint64_t lo, hi;  /* device addresses [lo, hi) */
  uint64_t written; /* [lo, lo + written) is known to be written; see emu_init_settle */
  bool readonly;    /* a .const variable: stores are faults */
  bool heap;        /* made by a kernel's malloc */
  uint64_t users;   /* hd_emu_set_users */
} emu_alloc;

/* emu_access, for one instruction set. */
typedef bool emu_access_fn(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                           unsigned bytes, unsigned align, hd_access_kind kind, unsigned cache,
                           unsigned space, emu_view *out);

typedef struct emu_image_object emu_image_object;

struct hd_emu {
  hd_emu_options opt; /* defaults filled in */
  bool skip_products;
  _Atomic(double) until;   /* hd_seconds at which launches end; 0: never */
  uint64_t work;           /* hd_emu_set_work; 0: no bound */
  _Atomic uint64_t worked; /* thread instructions so far, if there is one */
  emu_access_fn *access;
  int file;              /* opt.shared: device memory's; else -1 */
  char *memory;          /* opt.memory bytes of address space, for EMU_GLOBAL_BASE onwards */
  uint64_t delta;        /* host address of a device address: address + delta */
  uint64_t committed;    /* bytes of it made accessible, from the start */
  uint64_t file_bytes;   /* of the file, where there is one */
  uint8_t *init;         /* CHECK_INIT: one byte a byte, 1 when written */
  uint64_t *race;        /* CHECK_RACE: one word a granule; see shadow.c */
  uint8_t *nc;           /* CHECK_NC: one byte a byte; see shadow.c */
  pthread_rwlock_t lock; /* over the allocations */
  emu_alloc *allocs;     /* sorted by address */
  size_t n_allocs, cap_allocs;
  size_t packed;               /* the first so many allocations leave no gap between them */
  _Atomic uint64_t generation; /* changes when an allocation goes: cached bounds are then stale */
  _Atomic uint64_t changes;    /* grows with all that may change what a launch reads */
  _Atomic uint64_t layout;     /* with what of that is not in memory: allocations, programs, images */
  struct {
    uint64_t lo, hi;
  } freed[EMU_FREED]; /* the last ones, n_freed % EMU_FREED is the oldest */
  uint64_t n_freed;
  _Atomic uint32_t next_ticket; /* numbers of CTAs over all launches, for CHECK_RACE */
  uint64_t launches;            /* %gridid */
  struct {
    emu_image_object *data;
    size_t n, cap;
  } images;                 /* by handle; image.c */
  hd_emu_program *programs; /* that are loaded; under the lock */
};

/* memory.c */
/* Index of the first allocation that begins after `address`. The caller holds the lock. */
size_t emu_upper_bound(const hd_emu *e, uint64_t address);
/* The allocation that holds `address`, or NULL. The caller holds the lock. */
emu_alloc *emu_find_alloc(hd_emu *e, uint64_t address);
/* Whether a GPU would have mapped [address, address + bytes): an allocation lies in the same HD_EMU_PAGE
 * bytes. Then the emulator has, too. */
bool emu_page_in_use(hd_emu *e, uint64_t address, uint64_t bytes);
void emu_set_readonly(hd_emu *e, uint64_t address);
/* Zero n bytes of an anonymous mapping, giving whole pages back when they are many. */
void emu_zero(void *p, size_t n);
/* Address space that takes memory as it is touched; NULL: refused. */
void *emu_reserve(uint64_t bytes);

static inline void emu_changes(hd_emu *e) { atomic_fetch_add(&e->changes, 1); }
static inline void emu_layout_changes(hd_emu *e) {
  atomic_fetch_add(&e->layout, 1);
  emu_changes(e);
}

/* access.c */
emu_access_fn *emu_access_for(hd_emu_isa isa);
/* policy.c: tell the hook, lanes of different priorities apart. w and i are where a.cache has EMU_CACHE_HINT.
 */
void emu_report_access(const emu_warp *w, const emu_inst *i, hd_access *a);

#endif
