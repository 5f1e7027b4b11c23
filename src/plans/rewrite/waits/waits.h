/* rewrite/waits/waits.h: whether a loop may wait for what another CTA writes.
 *
 *   quick.c     kernels that need no closer look
 *   waits.c     the kernel's cycles, from the outermost in
 *   flow.c      the values that decide whether a cycle is left
 *   progress.c  cycles that the thread itself ends
 *   moves.c     addresses that move on, and bounds that counters pass
 *   bound.c     numbers that do not count themselves
 *   chain.c     registers that move one way
 *   course.c    addresses that go through places in another way
 *   rows.c      rows that each round goes through anew
 *   looks.c     polls that give up: looks that so many rounds take
 *   readers.c   which instructions read a register
 *   ended.c     whether loops that fetch work show that they gave up
 *   kept.c      what a thread keeps of the numbers that its own additions find
 *   retries.c   what becomes of the words that updates find
 *   lock.c      locks: taken in a loop, and given back on every path
 *   unrolled.c  polls whose rounds are written out
 *   apart.c     whether two addresses are one
 *   products.c  numbers taken apart into sums of products
 *   place.c     places of global memory, and which instructions may write them
 *   written.c   whether what is written is data or a number of the text
 *   distance.c  numbers that may lead from one variable to another
 *   positive.c  numbers above 0
 *   strides.c   numbers that are 0 in no launch with strides that are not
 *   wait_value.c  constants, addresses and copies
 */
#ifndef HEDDLE_REWRITE_WAITS_H
#define HEDDLE_REWRITE_WAITS_H

#include "heddle/cfg.h"
#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

/* The strength with which an instruction reads memory that other CTAs may write. */
typedef enum wait_source {
  WAIT_OWN = 0, /* nothing, or nothing that a thread of another CTA could have written meanwhile */
  WAIT_CTA,     /* ordered among the threads of the CTA: another CTA's, where a wider fence is near */
  WAIT_WEAK,    /* a plain load: another CTA's write may be seen, but this is not guaranteed */
  WAIT_STRONG,  /* made to see other CTAs' writes */
} wait_source;

/* What a form's instructions may be, besides: most are none of it. */
enum {
  WAIT_FORM_KNOWN = 1,
  WAIT_FORM_CALLS = 2,
  WAIT_FORM_FENCES = 4,
  WAIT_FORM_READS = 8,
  WAIT_FORM_MADE = 16, /* wait_search.made is there, asked for by itself */
};

/* Whether an instruction looks at the word by which a region ends that its threads end. */
typedef enum wait_word_look {
  WAIT_NO_WORD = 0,
  WAIT_WORD,   /* of a lock, a turn or a count; or an update's, of which nothing else is seen */
  WAIT_UPDATE, /* an update's, while it is not known what becomes of what it finds */
  WAIT_SHOWN,  /* an update's, and what it finds is seen elsewhere: a look like any other */
} wait_word_look;

enum { WAIT_POLL_LOOKS = 3 }; /* so many looks at one place are a poll */
enum { WAIT_WALK = 1 << 22 }; /* steps for one function; from there on, a loop counts as waiting */

typedef struct wait_search {
  const hd_ptx_module *m;
  hd_arena *arena;
  hd_cfg g;
  hd_writers writers;
  hd_regions regions;
  hd_ptx_access *access; /* per form, made when asked for */
  uint8_t *known_form;   /* per form: WAIT_FORM_...; KNOWN: access is there, and the bits below MADE */
  struct wait_made {
    const hd_ptx_result *result;
    uint32_t n_opnds; /* of such an instruction with so many operands */
  } * made;           /* per form, by WAIT_FORM_MADE */
  uint8_t *source;    /* per instruction: wait_source */
  uint64_t steps;

  /* The region that is looked at. */
  uint32_t *in, stamp; /* per block: in[b] == stamp */
  const uint32_t *blocks;
  uint32_t n_blocks;
  bool fence;        /* one that orders more than the CTA */
  bool rests;        /* a thread sleeps */
  bool any_fence;    /* the same anywhere in the graph: threads of the CTA may meet behind it */
  bool kernel_fence; /* the same, in other functions of the kernel as well */
  bool stays;        /* some plain load that decides may look at one place in many rounds */
  bool any_settled;  /* some block is */
  bool whole;        /* the graph holds every function that the kernel may run */

  uint32_t *seen_pace, pace;  /* per block, of chain.c: it was reached in this search */
  uint32_t *inner;            /* per block, of looks.c: it is in a cycle within the region (== stamp) */
  uint32_t *within;           /* per block: it is in a cycle that is no round of the region (== stamp) */
  uint32_t *fetches;          /* per instruction: it brings the number of work by which a loop of so many
                               * blocks ends; 0: it does not */
  uint8_t *fetch_ends;        /* per block: such a loop ends there */
  bool any_fetches;           /* some instruction does */
  uint32_t *passes;           /* per instruction: it looks at another place in each round of a loop, which
                               * has this number; 0: it does not */
  uint8_t *settled;           /* per block: it lies in a region that ends by what its threads do */
  uint8_t *word;              /* per instruction: wait_word_look */
  uint8_t *wide_fence;        /* per instruction */
  uint8_t *opaque;            /* per instruction: it calls a body that the graph does not hold */
  struct wait_place **places; /* of place.c, per instruction: its first of global memory; NULL: not
                               * worked out so far */
  struct wait_sum **sums;     /* of apart.c, per instruction: its address; NULL: not taken apart so far */
  uint32_t *readers, *first_reader; /* of readers.c; NULL: not listed so far */

  /* Scratch of progress.c: parts of the region. */
  uint32_t *part, *members, *first;
  uint32_t *seen_round, round; /* per block: it was reached in this search for a way round (== round) */

  /* For flow.c: the parts of this region that were reached (== stamp), the work still to do, and blocks'
   * numbers. */
  uint32_t *seen_reg, *seen_inst, *seen_block, *seen_var, *work, *number, *doubtful;
  uint32_t *invariant; /* of wait_value.c, per register */
  struct wait_distances *distances;
  struct wait_movers *movers; /* of moves.c, of the region; NULL: not looked for so far */
} wait_search;

static inline bool wait_inside(const wait_search *w, uint32_t inst) {
  return w->in[w->g.insts[inst].block] == w->stamp;
}
static inline const hd_ptx_opnd *wait_operands(const wait_search *w, uint32_t inst) {
  return &w->m->opnds[hd_inst_stmt(&w->g, inst)->first_opnd];
}
static inline const hd_ptx_result *wait_result(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  struct wait_made *made = &w->made[s->form];
  if (!(w->known_form[s->form] & WAIT_FORM_MADE) || made->n_opnds != s->n_opnds) {
    *made = (struct wait_made){hd_ptx_result_of(w->m, s), s->n_opnds};
    w->known_form[s->form] |= WAIT_FORM_MADE;
  }
  return made->result;
}
/* Some way out of the block leads out of the region. */
static inline bool wait_leaves(const wait_search *w, uint32_t block) {
  const hd_block *b = &w->g.blocks[block];
  for (uint32_t k = 0; k < b->n_succ; k++)
    if (w->in[w->g.edges[b->first_succ + k]] != w->stamp) return true;
  return false;
}
const hd_ptx_access *wait_access_make(wait_search *w, uint32_t form);
static inline const hd_ptx_access *wait_access_of(wait_search *w, uint32_t form) {
  return w->known_form[form] & WAIT_FORM_KNOWN ? &w->access[form] : wait_access_make(w, form);
}
static inline const hd_ptx_access *wait_access(wait_search *w, uint32_t inst) {
  return wait_access_of(w, hd_inst_stmt(&w->g, inst)->form);
}

/* ---- quick.c ---------------------------------------------------------------------------------- */

/* Memory may decide about a branch of some loop of this function, which calls no other with a body. */
bool wait_may_be(const hd_ptx_module *m, uint32_t func, hd_arena *arena);

/* ---- wait_value.c ------------------------------------------------------------------------------- */

/* The register of a plain operand, %r with neither part nor sign; HD_NONE: it is none. */
uint32_t wait_register(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The same of an instruction's operand k. */
static inline uint32_t wait_operand(const wait_search *w, uint32_t inst, uint32_t k) {
  return wait_register(w, inst, &wait_operands(w, inst)[k]);
}
/* The only instruction that writes a register: in the whole graph, or in the region; HD_NONE: none, several,
 * or a guarded one. */
uint32_t wait_only_writer(const wait_search *w, uint32_t reg);
uint32_t wait_only_writer_inside(const wait_search *w, uint32_t reg);
bool wait_written_inside(const wait_search *w, uint32_t reg);
/* A load of a parameter of the kernel, rather than of a function's result or argument. */
bool wait_loads_parameter(const wait_search *w, uint32_t inst);
/* The same, or by a pointer to the parameters. */
bool wait_loads_launch(const wait_search *w, uint32_t inst);
/* What the argument of a function that is loaded holds: an operand of the only store to it in the region, or
 * of the call (*store); NULL: not known. */
const hd_ptx_opnd *wait_argument(const wait_search *w, uint32_t load, uint32_t *store);
/* A move, or a reinterpretation, of a whole register: the one that is read; else HD_NONE. */
uint32_t wait_copied(const wait_search *w, uint32_t inst);
/* A move into a whole register, rather than of its parts into several. */
bool wait_moves_whole(const wait_search *w, uint32_t inst);
/* A number that the operand always has. */
bool wait_constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value);
/* What a word of so many bytes holds of a number: -1 and 4294967295 are one of 4 bytes. */
int64_t wait_word(int64_t value, unsigned bytes);
/* Above 0 in every launch: a constant, or made of the dimensions of the CTA and the grid. */
bool wait_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* What such a number is at most; 0: it is none, or 32 bits do not bound it. What the product of two is. */
int64_t wait_most(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
int64_t wait_most_product(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b);
/* The same, where as many CTAs as a grid has count as one; and of the product of two. */
int64_t wait_greatest(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
int64_t wait_greatest_product(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a,
                              const hd_ptx_opnd *b);
/* The product of two such numbers of an instruction is above 0 as well. */
bool wait_product_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b);
/* The operand has the same value in every round of the region. */
bool wait_invariant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The variable that an address operand leads into, by the name of all that share its storage; 0: not known.
 */
hd_sym wait_root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The address operand of an access: its first place's, or a copy's source. */
const hd_ptx_opnd *wait_address(wait_search *w, uint32_t inst);
/* Both instructions access the same address, if no register that it is made of changed in between; those
 * registers' numbers go to leaves (at most cap), *n of them. */
bool wait_same_address(wait_search *w, uint32_t a, uint32_t b, uint32_t *leaves, uint32_t *n, uint32_t cap);

/* Both access one place if both run, `a` first. */
bool wait_same_place(wait_search *w, uint32_t a, uint32_t b);
/* `a` runs before `b` whenever that runs. */
bool wait_comes_before(const wait_search *w, uint32_t a, uint32_t b);
/* Whenever a thread comes to `to`, the register is what it was when `from` ran for the last time. */
bool wait_is_kept_since(wait_search *w, uint32_t reg, uint32_t from, uint32_t to);
/* Register x, when `a` reads it, has the value that register y has when `b` reads it. */
bool wait_same_value(wait_search *w, uint32_t x, uint32_t a, uint32_t y, uint32_t b);
/* Whenever `b` runs, its address is as far from the one that `a` accessed last as it always is. */
bool wait_beside(wait_search *w, uint32_t a, uint32_t b);

/* ---- strides.c -------------------------------------------------------------------------------- */

/* What is known of a number. */
typedef enum wait_worth {
  WAIT_PERHAPS_ZERO = 0,
  WAIT_OF_TEXT,   /* a number of the text, not 0 */
  WAIT_OF_LAUNCH, /* made of what the launch passes */
} wait_worth;

/* The operand is not 0 where what the launch passes, sizes and strides, is not: it is a number of the text,
 * or made of parameters and sizes by sums and products. */
bool wait_is_stride(wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The same of a term of an instruction's result: of a product of two. */
bool wait_steps_by(wait_search *w, uint32_t inst, const hd_ptx_term *t);
/* How large such a stride may be, as far as it is known. */
int64_t wait_stride_at_most(wait_search *w, uint32_t inst, const hd_ptx_opnd *o);

/* ---- place.c ------------------------------------------------------------------------------- */

/* root + offset + any multiple of step. */
typedef struct wait_place {
  hd_sym root; /* a variable of the module, or a parameter of the kernel that holds a pointer; 0: not known */
  int64_t slot;  /* of a parameter: the pointer's offset in it */
  uint64_t step; /* 0: always the same place */
  int64_t offset;
  unsigned bits;  /* the multiple and the offset are less than 2^bits apart from the root; 64: not known */
  bool above;     /* the multiple is not negative */
  bool mixed;     /* made of two roots */
  uint32_t bytes; /* 0: not known */
} wait_place;

/* Whether two places of any two threads may overlap. */
typedef enum wait_meeting {
  WAIT_APART = 0,
  WAIT_OTHER_POINTER, /* only if the launch passes pointers into one buffer as two parameters */
  WAIT_MEETS,
} wait_meeting;

/* The first place of global memory that the instruction accesses. */
wait_place wait_place_of(wait_search *w, uint32_t inst);
/* The operand is a number of which 32 bits and a few decide. */
bool wait_is_offset(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The operand leads into a variable, or is made of a parameter of 64 bits. */
bool wait_leads_from(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* Whether the instruction, if it runs in another thread, may write there. */
wait_meeting wait_may_write(wait_search *w, const wait_place *place, uint32_t inst);
/* A store that is made for results: neither volatile nor ordered. */
bool wait_is_plain_store(wait_search *w, uint32_t inst);
/* A call that writes no global memory which the kernel reads, or whose body follows. */
bool wait_call_is_harmless(const wait_search *w, uint32_t inst);

/* ---- distance.c ---------------------------------------------------------------------------- */

struct wait_distances *wait_distances_new(const wait_search *w);
/* The operand is made of the address of a variable, or is a difference of pointers: it may lead from one
 * variable to another. */
bool wait_may_be_distance(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);

/* ---- apart.c ------------------------------------------------------------------------------- */

typedef enum wait_likeness { WAIT_UNKNOWN_PLACES = 0, WAIT_ONE_PLACE, WAIT_TWO_PLACES } wait_likeness;
/* Whether `b`, which runs behind `a`, accesses the same bytes, however the addresses are worked out. */
wait_likeness wait_compare_places(wait_search *w, uint32_t a, uint32_t b);
/* `a` accesses the place that `b` accesses so many rounds of the region before or after it, however many they
 * are. */
bool wait_slides(wait_search *w, uint32_t a, uint32_t b, int64_t *rounds);

/* ---- waits.c ------------------------------------------------------------------------------- */

/* A fence that orders more than the threads of the CTA, or what acquires as much. */
static inline bool wait_is_wide_fence(const wait_search *w, uint32_t inst) { return w->wide_fence[inst]; }
bool wait_form_is_wide_fence(const hd_ptx_form *f, const hd_ptx_access *a);
/* A call that may order, rest, store and end the thread: of a body that the graph does not hold. */
static inline bool wait_is_opaque(const wait_search *w, uint32_t inst) { return w->opaque[inst]; }
/* A call of the system's memcpy, which reads memory that others may write. */
bool wait_call_copies(const wait_search *w, uint32_t inst);

/* ---- looks.c ------------------------------------------------------------------------------- */

/* An instruction that reads what others write anew in each round of a region that ends in any case: a poll
 * that gives up, whatever becomes of the value. `rest`: the blocks of the region whose cycles are looked at
 * later. HD_NONE: there is none. */
uint32_t wait_looks_again(wait_search *w, const uint32_t *rest, uint32_t n_rest);

/* The same in cycles of the region that settle it, or fetch work, once those are known. */
uint32_t wait_looks_within(wait_search *w);

/* An instruction whose result may be what others write; no atomic that changes it for certain. */
bool wait_reads_others(wait_search *w, uint32_t inst);

/* ---- readers.c ----------------------------------------------------------------------------- */

/* The instructions that read a register, *n of them; one that reads it twice is there twice. */
const uint32_t *wait_readers(wait_search *w, uint32_t reg, uint32_t *n);
/* Some instruction reads a register that this one writes. */
bool wait_result_is_read(wait_search *w, uint32_t inst);

/* ---- progress.c ---------------------------------------------------------------------------- */

/* The way out of block b in the region: `reg` has the value `leaves` when it is taken. False: no condition.
 */
bool wait_exit(const wait_search *w, uint32_t block, uint32_t *reg, bool *leaves);
/* The exit at this block is taken at some time whatever other CTAs do, if only it is reached again and again:
 * it looks at the result of an update that succeeds, or of a lock that is taken. */
bool wait_ends_itself(wait_search *w, uint32_t block);
/* Every way round in the region that passes `block` passes one of those blocks as well. */
bool wait_every_round(wait_search *w, uint32_t block, const uint32_t *through, uint32_t n);
/* The same, but cycles within the region (w->within) are no way round. */
bool wait_every_round_around(wait_search *w, uint32_t block, const uint32_t *through, uint32_t n);
/* How a number that an atomic fetches comes to an exit's condition, whichever thread of the CTA fetches it.
 */
enum { WAIT_MOST_STEPS = 24 };
typedef struct wait_fetched {
  uint32_t bound; /* the register that the number is compared with; HD_NONE */
  struct {
    uint32_t inst, value; /* value: the register that brings the number; HD_NONE: a number of the text */
  } steps[WAIT_MOST_STEPS];
  uint32_t n_steps;
} wait_fetched;
/* The condition `reg == leaves` of the exit at this block comes true as work is fetched, provided that the
 * steps are gone. */
bool wait_fetch(wait_search *w, uint32_t block, uint32_t reg, bool leaves, wait_fetched *fetched);

typedef enum wait_compare { CMP_NONE = 0, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE } wait_compare;
/* The comparison that holds when setp's result is `leaves`; CMP_NONE: floats, or more than a comparison. */
wait_compare wait_comparison(const wait_search *w, uint32_t setp, bool leaves);
/* What holds if that does not. */
wait_compare wait_inverse(wait_compare c);
/* The same with the operands exchanged. */
wait_compare wait_mirrored(wait_compare c);
/* Follows copies, negations and selections of 1 or 0 to the instruction that decides; HD_NONE. */
uint32_t wait_decides(const wait_search *w, uint32_t reg, bool *leaves, bool inside);
/* The comparison that decides about the branch at the end of a block; HD_NONE. *taken: what holds where the
 * branch is taken (the block's first way out). */
uint32_t wait_branch(const wait_search *w, uint32_t block, wait_compare *taken);
/* An atomic compare-and-swap. */
bool wait_is_swap(const wait_search *w, uint32_t inst);
/* The comparisons of which each alone leaves the region at `block`, a disjunction taken apart; how many. */
enum { WAIT_MOST_PARTS = 8 };
typedef struct wait_part {
  uint32_t setp;
  wait_compare leaves;
} wait_part;
uint32_t wait_exit_parts(wait_search *w, uint32_t block, wait_part parts[WAIT_MOST_PARTS]);
/* The same of whatever instructions: those that are no comparisons have CMP_NONE. */
uint32_t wait_exit_conditions(wait_search *w, uint32_t block, wait_part parts[WAIT_MOST_PARTS]);

/* ---- moves.c ------------------------------------------------------------------------------- */

/* The access looks at another place whenever it runs: its address moves one way, by a step that is never 0.
 */
bool wait_looks_elsewhere(wait_search *w, uint32_t inst);
/* The same where nothing but the end of the address space ends the loop: a step by the size of the grid may
 * come round soon. */
bool wait_looks_elsewhere_in_any_grid(wait_search *w, uint32_t inst);
/* The operand is another number whenever the instruction runs. */
bool wait_moves_on(wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* log2 of a number, rounded down. */
unsigned wait_log2(int64_t number);
/* log2 of the places before an address comes round, from which on it counts as new. */
enum { WAIT_LEAST_ROOM = 16 };
/* A thread that comes to this block again and again leaves the region at some time: each time a counter comes
 * nearer to its bound, a merge goes a step on, or an interval is halved, and the exit that this leads to is
 * passed.
 */
bool wait_brings_end(wait_search *w, uint32_t block);
/* Some exit is taken as a register passes a bound. */
bool wait_counts(wait_search *w);
/* The same of each round that passes the block, and it passes the bound for sure. */
bool wait_counts_out(wait_search *w, uint32_t block);
/* The exit at this block is taken at the latest when a counter of at most 32 bits has gone through all
 * its values, whatever plain loads find as its bound. */
bool wait_counts_to_plain_bound(wait_search *w, uint32_t block);
/* A load that may go on finding what the CTA's own cache holds. */
bool wait_is_plain_load(wait_search *w, uint32_t inst);
/* The operand is no counter itself: no register that it is computed from depends on itself. With `plain` it
 * is not loaded by anything but plain loads. */
bool wait_is_bound(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, bool plain);
/* The register is computed from one that depends on itself, without memory in between. */
bool wait_accumulates(wait_search *w, uint32_t reg);

/* ---- course.c ------------------------------------------------------------------------------ */

/* The access looks at another place whenever it runs, or at one that is loaded from a place that goes. Weak
 * loads are made for data, whose addresses are worked out in many ways: of those it says that their place is
 * not the same for certain. False: it may stay at one place for many rounds. */
bool wait_goes_through(wait_search *w, uint32_t inst);
/* A plain look of a region of two rounds, at two places: what its address is made of is one number of the
 * text in the first, and another one in the second. */
bool wait_looks_once(wait_search *w, uint32_t inst);

/* ---- ended.c ------------------------------------------------------------------------------- */

/* The region ends as the work runs out that it fetches, or in another way, and what it leaves behind may show
 * which. */
bool wait_shows_end(wait_search *w);

/* ---- rows.c -------------------------------------------------------------------------------- */

/* An access in a cycle within the region (w->within) goes through the same places in each round of it. False:
 * that is not known. */
bool wait_begins_anew(wait_search *w, uint32_t inst);

/* ---- kept.c -------------------------------------------------------------------------------- */

/* How the numbers that a look finds come about. */
typedef enum wait_keeping {
  WAIT_SOME = 0, /* the loop adds to the word in every round */
  WAIT_EACH,     /* by ones, and looks as it does: it would come to any number by itself */
  WAIT_FETCHED,  /* they are work, by which the loop ends */
} wait_keeping;
/* What comparisons of the numbers decide outlives the round: in registers, in memory of the CTA or the
 * thread, or at a place of the CTA's own. */
bool wait_keeps_outcome(wait_search *w, uint32_t look, wait_keeping how);

/* ---- retries.c ----------------------------------------------------------------------------- */

/* A look in an update: what it finds does more than to make the next try, or to decide whether there is one.
 * Once all regions that their threads end are known. */
bool wait_shows_found(wait_search *w, uint32_t look);

/* ---- lock.c -------------------------------------------------------------------------------- */

/* The atomic takes a lock when it finds `free`: on every path from there the thread gives it back. */
bool wait_is_lock(wait_search *w, uint32_t atom, int64_t free);
/* A load that looks for `free` in the word of such a lock finds it at some time. */
bool wait_is_free_lock(wait_search *w, uint32_t look, int64_t free);
/* The atomic hands out tickets. The exit at this block is taken when `look` finds the thread's own; then, on
 * every path, the thread passes the turn on to the next. */
bool wait_is_ticket(wait_search *w, uint32_t look, uint32_t atom, uint32_t exit);

/* ---- counted.c ----------------------------------------------------------------------------- */

/* The word that `look` finds is one that threads take parts of and give them back. Some thread that waits
 * for the comparison at `setp`, of what was found (its operand `side`) with a number, gets through. */
bool wait_is_counted(wait_search *w, uint32_t look, uint32_t setp, unsigned side, wait_compare leaves);

/* ---- flow.c -------------------------------------------------------------------------------- */

/* The instruction for whose value the region's exits wait, or the one at block `exit` (HD_NONE: all), or a
 * part of its condition (an instruction; HD_NONE: the whole), if another CTA may bring it; HD_NONE: there is
 * none. It marks what it has seen with the region's stamp. *doubtful: it is a plain load, which may be of
 * data, so that it waits in those rounds only that nothing else ends. */
uint32_t wait_find(wait_search *w, uint32_t exit, uint32_t part, bool *doubtful);

/* ---- unrolled.c ---------------------------------------------------------------------------- */

/* The first of several looks at one place, which may be the rounds of a poll; HD_NONE. */
uint32_t wait_unrolled(wait_search *w);

#endif
