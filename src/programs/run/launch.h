/* run/launch.h: a launch as a program asks for it, and one that takes its place. */
#ifndef HEDDLE_RUN_LAUNCH_H
#define HEDDLE_RUN_LAUNCH_H

#include <string.h>

#include "run/run.h"

typedef struct run_exec run_exec;
typedef struct run_pair run_pair;

enum { RUN_MOST_PARAMS = 256, RUN_MOST_BYTES = 8192, RUN_EXTRA_PARAMS = 5 };

/* Words of `extra` of a launch. */
#define RUN_PARAM_END ((void *)0)
#define RUN_PARAM_BUFFER ((void *)1)
#define RUN_PARAM_SIZE ((void *)2)

typedef struct run_launch {
  uint32_t grid[3], block[3], shared;
  cu_stream stream;
  bool per_thread; /* stream 0 is the thread's own */
  bool node;       /* of a graph: it runs later, perhaps several times at once, */
  run_exec *exec;  /* unless it is of this executable graph alone; NULL: it is not */
  bool guarded;    /* it may have a plan that is on probation: it is measured with the rest of its graph */
  run_pair *pair;  /* it is one of this graph's, and has a stream alone; NULL: of a kernel */
  bool unasked;    /* its stream may be captured: nothing else is put into it */
  void **params, **extra;
  const cu_launch_config *config; /* of cuLaunchKernelEx; else NULL */
} run_launch;

/* A launch in place of the program's; it holds all that `params` and `extra` point at. */
typedef struct run_replacement {
  cu_function function;
  uint32_t grid[3];
  void **params, **extra; /* one of them is NULL */
  run_miss miss;          /* why there is none */
  uint64_t state, table;
  uint32_t tasks[3];
  size_t bytes;
  void *pointers[RUN_MOST_PARAMS + RUN_EXTRA_PARAMS], *ends[5];
  _Alignas(16) char block[RUN_MOST_BYTES];
} run_replacement;

/* The launch is of this shape. */
static inline bool run_is_shape(const run_launch *l, const uint32_t grid[3], const uint32_t block[3],
                                uint32_t shared) {
  return l->shared == shared && memcmp(l->grid, grid, sizeof l->grid) == 0 &&
         memcmp(l->block, block, sizeof l->block) == 0;
}
/* The block of parameters that `extra` names, not NULL itself; NULL: none, or in a way that is not known. */
const void *run_block_of(void *const *extra, size_t *bytes);
/* Its stream's operations are captured, or may be: they run later, in other streams, and perhaps several at
 * once. The legacy stream's never are; it takes no launch while it is frozen (watch.h). */
bool run_is_captured(const run_launch *l);
/* This thread's number, from 1. */
uint64_t run_thread_number(void);
/* The variant that takes the place of the kernel's launch, and how; NULL: none does. Takes no lock. */
run_variant *run_choose(run_kernel *k, const run_launch *l, run_replacement *r);
/* Hands a launch to the driver as the program asked for it, but for these. */
int run_send(const run_launch *l, cu_function function, const uint32_t grid[3], void **params, void **extra);
/* This variant in the place of the launch; false: it does not fit. Takes no lock. */
bool run_replace(run_variant *v, const run_launch *l, run_replacement *r);
/* The parameters of a node with the variant in the kernel's place; NULL: none takes it. As run_choose. */
run_variant *run_node_choose(const cu_kernel_node *p, run_exec *exec, bool guarded, cu_kernel_node *out,
                             run_replacement *r);
/* A variant on probation for launches as the node's; NULL: there is none. */
run_variant *run_node_guarded(const cu_kernel_node *p);
/* The driver refused a launch on account of a capture, whatever it is of: another attempt would be an error
 * that the program did not cause. */
static inline bool run_is_of_capture(int r) {
  return r >= CU_CAPTURE_UNSUPPORTED && r <= CU_CAPTURE_WRONG_THREAD;
}
/* The driver did not take the replacement, and this is what it said of the original: when it took that, the
 * variant is at fault, and is not used again. */
int run_instead(int original, run_variant *v);

/* ---- Levers of the launch alone (levers.c) ----------------------------------------------------- */

/* An attribute for launches of one shape. */
struct run_lever {
  run_lever *next;
  uint32_t grid[3], block[3], shared;
  const struct lever *kind;
  _Atomic uint64_t saves;    /* nanoseconds of each launch */
  const hd_verdict *verdict; /* as of a run_variant; and these two */
  atomic_bool off, held;
  atomic_int is_pointer; /* see there */
};

/* Makes the launch of the program's own kernel with the attribute that a verdict has for it, with *result;
 * false: there is none, or the driver does not take it. Takes no lock. */
bool run_lever_launch(run_kernel *k, cu_function function, const run_launch *l, int *result);
/* The same with this lever; false: it does not fit, and nothing is launched. */
bool run_lever_send(run_lever *v, cu_function function, const run_launch *l, int *result);
/* A lever as a plan's notation has it. */
const char *run_lever_text(const run_lever *v);

/* ---- Launches in turns (live.c) ---------------------------------------------------------------- */

/* A kernel's launches of one shape, as they come, take turns: the original, and others in its place. Each is
 * timed between two events, which are looked at when a later launch comes. Nothing is held back, repeated or
 * waited for. It ends when one of them is known to be faster than the original, or none (heddle/turns.h).
 *
 * Launches of a round are compared with each other, and with no others: each arm has one in a round, in an
 * order that is drawn. More rounds are under way at once the more are known, so that a slow arm is seen
 * before many of its launches are in the stream. A round is left out whose launches did not all run beside
 * others, or all alone. */
typedef struct run_live run_live;

/* What takes turns with the original: one of these. */
typedef struct run_arm {
  run_variant *variant;
  run_lever *lever;
  run_pair *pair; /* the other one of it */
} run_arm;

typedef enum run_live_end {
  RUN_LIVE_OPEN,
  RUN_LIVE_WON,    /* an arm is faster */
  RUN_LIVE_LOST,   /* none is */
  RUN_LIVE_SPENT,  /* not known, after so many launches */
  RUN_LIVE_COSTLY, /* not known, and its arms have lost what they may */
  RUN_LIVE_RARE,   /* a search: not known, and too few of its launches could take turns */
  RUN_LIVE_LEFT,   /* not known, and its module or context is gone */
  RUN_LIVE_CUT     /* they could not be timed */
} run_live_end;

/* What is known of it. */
typedef struct run_lived {
  run_live_end end;
  run_arm best; /* by its median, of those that are in still; else that which was in for most rounds */
  bool stays;   /* it is launched from now on */
  uint32_t arms;
  double promised, median, low, high, pairs; /* of the best arm */
  double rounds;                             /* of the original */
  double original, seconds;                  /* of a launch of each */
  double lost; /* seconds that launches in turns took more than the original's would have */
} run_lived;

/* What is to be made of it once it is over, or the process ends: of this shape (NULL: a probation), or of
 * this verdict (NULL: a search). Under run_lock. */
typedef void run_live_settled(run_kernel *k, struct run_shape *s, const hd_verdict *verdict,
                              const run_lived *known);

/* Opens it for a shape, with arms that are the kernel's variants or levers, for the current context.
 * `verdict`: the one that is on probation, which is the only arm; NULL: a search. `tell`: at the end. NULL:
 * no memory. Under run_lock. */
run_live *run_live_open(run_kernel *k, struct run_shape *s, const run_arm *arms, uint32_t n,
                        const hd_verdict *verdict, hd_probation_trust trust, run_live_settled *tell);
/* Makes the launch where its shape takes turns; false: it is to be made as otherwise. Takes no lock that is
 * held for long. */
bool run_live_launch(run_kernel *k, cu_function function, const run_launch *l, int *result);
/* Takes the times that are known by now, and writes down what has ended, of this kernel; `last`: the process
 * ends, and with it what goes on. Under run_lock. */
void run_live_settle(run_kernel *k, bool last);
/* Opens those anew that were long ago. Under run_lock. */
void run_live_again(run_kernel *k);
/* Some launches take turns that are a verdict's. */
bool run_live_any(void);
/* A pair takes turns no more. Under run_lock. */
void run_live_end_pair(run_kernel *k, const run_pair *pair);
/* The kernel's module goes. Under run_lock. */
void run_live_leave(run_kernel *k);
/* The context with this number goes, and all that is in it. Under run_lock. */
void run_live_context_gone(run_kernel *k, unsigned long long context);
/* The first of the kernel's, those that are over and those that are not; NULL: none. Under run_lock. */
const run_live *run_live_first(const run_kernel *k);
const run_live *run_live_next(const run_live *t);
/* Of one that is settled; else nothing: another thread may be in one of its launches. */
run_lived run_live_known(const run_live *t);
void run_live_free(run_kernel *k);
/* In a child of a fork. */
void run_live_forked(void);

/* ---- Graphs in turns (pairs.c) ----------------------------------------------------------------- */

/* A graph's executable, and one more of it under plans that are on probation, of which v is one: they take
 * turns from now on. False: no memory, or no event is to be had. Under run_lock. */
bool run_pair_make(cu_graph_exec own, cu_graph_exec other, run_variant *v, bool several);
bool run_pairs_are_full(void);
/* The launch of one of the two, with *result; false: it is none of a pair's, or captured. */
bool run_pair_launch(cu_graph_exec exec, cu_stream stream, bool per_thread, int *result);
/* Whether one of the two may be launched now: its stream waits for the other's last launch, where it has to.
 */
bool run_pair_follows(const run_pair *p, bool other, const run_launch *l);
/* Launches it; that which was launched last, if it may not be. */
int run_pair_send(run_pair *p, bool other, const run_launch *l);
/* As an arm. */
void run_pair_hold(run_pair *p, bool held);
void run_pair_turn_off(run_pair *p);
_Atomic uint64_t *run_pair_saves(run_pair *p);
const hd_verdict *run_pair_verdict(const run_pair *p);
bool run_pair_has_several(const run_pair *p);
/* The program changes its executable graph, which is launched alone from now on. Takes run_lock. */
void run_pair_changed(cu_graph_exec exec);
/* It is destroyed: gives the other one, which is the caller's to destroy; NULL: there is none. Under
 * run_lock, as the next two. */
cu_graph_exec run_pair_gone(cu_graph_exec exec);
void run_pairs_leave(const run_module *m);
void run_pairs_context_gone(unsigned long long context);
/* In a child of a fork. */
void run_pairs_forked(void);

/* ---- Executable graphs (exec.c) ---------------------------------------------------------------- */

/* A node of an executable graph is about to be given a kernel; NULL: none that keeps a state. run_lock is
 * held until it is closed. */
run_exec *run_exec_open(cu_graph_exec exec, cu_node node);
void run_exec_close(run_exec *e);
/* A state for the kernel of the node, which no other node has; 0: there is none left. */
uint64_t run_exec_state(run_exec *e, run_place *p);
/* The place's states are no more. Under run_lock. */
void run_exec_forget(const run_place *p);

#endif
