/* emu/machine/shadow.h: the history of memory beside its bytes: whether they were written, and by which CTA
 * (shadow.c). */
#ifndef HEDDLE_EMU_SHADOW_H
#define HEDDLE_EMU_SHADOW_H

#include "emu/machine/memory.h"

typedef enum emu_watch { /* bits of hd_emu_cta.watch, beyond one per hd_space of the access hook */
                         EMU_WATCH_INIT = 1 << 8,
                         EMU_WATCH_RACE = 1 << 9,
                         EMU_WATCH_QUIET = 1 << 10, /* a window of progress.c */
                         EMU_WATCH_NC = 1 << 11,
} emu_watch;

/* Four bytes of memory whose bytes have different histories. */
typedef struct emu_race_split {
  uint64_t granule;
  uint64_t state[4];
} emu_race_split;

/* Who accessed memory with a ticket. A CTA, or a warp, takes another one each time it has let others know of
 * its accesses (flags.c). */
typedef struct emu_race_task {
  uint32_t ticket;
  uint32_t before;   /* its ticket that was to be told before this one; 0: none */
  uint32_t time;     /* of a warp's ticket: its clock's; see know.h */
  uint64_t task;     /* UINT64_MAX: several */
  uint64_t released; /* emu_race_log.releases when it was told; 0: not yet */
  bool async;        /* a warp's bulk copies wrote with it */
} emu_race_task;

typedef struct emu_race_flag {
  uint64_t address, time; /* 0: an empty slot */
} emu_race_flag;

/* The race check's state of one launch. */
typedef struct emu_race_log {
  uint32_t first;    /* tickets below it are of what happened before: another launch, or before the last
                        barrier of the grid */
  uint32_t several;  /* the ticket for "more than one task", since CTAs last told something */
  bool several_used; /* it has one */
  HD_VEC(emu_race_task) tasks; /* by ticket */
  bool failed;                 /* no memory for a ticket: the next CTA that needs one is told */
  bool published;              /* CTAs have taken more than one */
  uint64_t releases;           /* times that CTAs told something */
  bool proxy_fence;            /* a thread has fenced between accesses and asynchronous copies */
  emu_race_flag *flags;        /* by open addressing: what has been told there */
  size_t n_flags, flags_cap;
  HD_VEC(emu_race_split) splits;
} emu_race_log;

hd_status emu_shadow_create(hd_emu *e, hd_diag *d);
void emu_shadow_destroy(hd_emu *e);
void emu_init_mark(hd_emu *e, uint64_t address, uint64_t bytes, bool written);
/* Between launches: extend every allocation's written prefix as far as the shadow says. */
void emu_init_settle(hd_emu *e);
/* Were all of one lane's bytes written? */
bool emu_init_check(const uint8_t *shadow, unsigned bytes);
/* They are now; returns how many of them were not before. */
unsigned emu_init_set(uint8_t *shadow, unsigned bytes);
/* Of CHECK_NC: the tag by which the launch marks what it writes. */
uint8_t emu_nc_tag(hd_emu *e, uint64_t launch);
void emu_nc_mark(hd_emu *e, uint64_t address, unsigned bytes, uint8_t tag);
/* Did the launch write some of the bytes? */
bool emu_nc_wrote(const hd_emu *e, uint64_t address, unsigned bytes, uint8_t tag);
void emu_race_begin(hd_emu *e, emu_race_log *log);
void emu_race_end(emu_race_log *log);
/* All that was accessed so far is ordered before what follows, as by an earlier launch. CTAs take new
 * tickets. */
void emu_race_pass(hd_emu *e, emu_race_log *log);
/* CTAs tell something: the next release. */
void emu_race_told(hd_emu *e, emu_race_log *log);
/* NULL: the ticket belongs to another launch. */
emu_race_task *emu_race_find(emu_race_log *log, uint32_t ticket);
/* A ticket for a CTA that starts; 0 when there are no more or no memory for them. */
uint32_t emu_race_ticket(hd_emu *e, emu_race_log *log, uint64_t task);
typedef struct emu_conflict {
  uint32_t other; /* a ticket; 0: out of host memory */
  bool wrote;     /* else it read */
  bool no_fence;  /* it is ordered, but a copy reads what threads wrote */
  unsigned lane;
  uint64_t address;
} emu_conflict;
/* The accessing task, what it knows of others, and its kind of access; strong: towards threads of other CTAs
 * (PTX ISA, moral strength). */
typedef struct emu_race_by {
  uint32_t reads, writes; /* its tickets for loads and for others */
  uint64_t task, knows;
  hd_access_kind kind;
  bool strong;
  bool async; /* a bulk copy's */
} emu_race_by;
/* A warp's access; false: it conflicts. `rows` are the bytes that a store is about to write, lane after lane
 * (NULL: not known): what another task stored may be stored again. */
bool emu_race_access(hd_emu *e, emu_race_log *log, const emu_race_by *by, uint32_t mask,
                     const uint64_t addr[32], unsigned bytes, const char *rows, emu_conflict *why);
/* Forget the accesses to [address, address + bytes). */
void emu_race_forget(hd_emu *e, uint64_t address, uint64_t bytes);

#endif
