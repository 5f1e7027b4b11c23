/* run/watch.h: a program's memory, streams and threads, for tuning and recording.
 *
 * A launch is repeated, or copied, at a moment when nothing else can touch the memory that it reaches: the
 * GPU is idle, no other thread of the program is in a call of the driver's or can begin one, and no other
 * process has the memory.
 *
 *   gate.c      the program's other threads wait before the driver
 *   memory.c    allocations and streams, as the program makes and frees them
 *   alone.c     its threads; whether the GPU is idle
 *   captures.c  and whether it was, under a capture
 *   reach.c     the allocations that a launch reaches
 *   own.c       kernels of heddle's own
 *   guard.c     and all the others, by a number
 *   trial.c     a launch repeated on the memory that it reaches
 *   shapes.c    launches by kernel and shape: which are worth it
 *   times.c     the time of every launch
 *   tune.c, record.c   what is made of them
 *   budget.c    the time that this may take
 *   found.c     what tuning has found
 *   levers.c    of kernels without PTX
 *   notes.c     what this program has learnt of verdicts
 *   pack.c      recorded memory as files
 */
#ifndef HEDDLE_RUN_WATCH_H
#define HEDDLE_RUN_WATCH_H

#include "run/launch.h"

/* Whether launches are watched, and whether memory is: from the settings, before the program begins; and
 * whether launches pass the gate: from the first module on, which is loaded before there is a launch. */
extern bool run_watches, run_tracks, run_gates;

/* ---- Memory (memory.c) ------------------------------------------------------------------------- */

typedef enum run_memory_kind { RUN_MEMORY_DEVICE, RUN_MEMORY_MANAGED, RUN_MEMORY_HOST } run_memory_kind;

typedef struct run_range {
  uint64_t at, bytes;
  unsigned long long context; /* its number */
  run_memory_kind kind;
  bool mapped;   /* and may be mapped elsewhere, too */
  bool points;   /* it holds addresses: in a run_reach alone */
  bool variable; /* it is one of the kernel's module: where it is recorded */
  char *copy;    /* run_range_room bytes: what it holds, and zeros. In a run_reach that keeps it; else NULL */
} run_range;

/* The number of the first of these ranges, by address, that ends behind this one; n: none does. */
size_t run_range_behind(const run_range *ranges, size_t n, uint64_t address);
/* All allocations, by address, malloc'd; NULL: no memory. */
run_range *run_memory_all(size_t *n);
/* The allocations that the addresses of `reads` are in are known, of the GPU's own memory, and others than
 * those of `writes`. Takes the lock of the allocations, which no one holds for long. */
bool run_memory_is_apart(const uint64_t *reads, uint32_t n_reads, const uint64_t *writes, uint32_t n_writes);
/* The allocation of the GPU's own memory that the address is in; false: it is not known. The same lock. */
bool run_memory_find(uint64_t address, uint64_t *at, uint64_t *bytes);
/* In a child of a fork. */
void run_memory_forked(void);
/* Another process may have some of it. */
bool run_memory_is_shared(void);
/* The number of the current context; 0: it is not known. */
unsigned long long run_context(void);

typedef struct run_stream {
  run_handle handle;
  unsigned long long context; /* its number; 0: not known, or the current one's of a default stream */
  bool blocks;                /* it and the context's legacy stream wait for each other */
} run_stream;
/* The legacy stream, the thread's own, and those that the program made and has not destroyed, malloc'd; NULL:
 * no memory. */
run_stream *run_streams_all(size_t *n);
/* How many these are; they are in `out` if they are `most` or fewer. Allocates nothing. */
size_t run_streams_few(run_stream *out, size_t most);
/* One that was made; of others it is presumed that they block. */
run_stream run_stream_of(cu_stream stream);
void run_stream_gone(cu_stream stream);
/* A context takes its streams with it, whose handles mean nothing then. */
void run_streams_gone(unsigned long long context);

/* ---- Captures (captures.c) --------------------------------------------------------------------- */

/* The stream is captured, and was idle as that began for it; `legacy`: and so was the legacy stream of the
 * stream's context, which it blocks. */
bool run_capture_began_idle(cu_stream stream, bool legacy);
/* Whether a stream is captured, by the driver. Not of the legacy one while that is frozen. */
bool run_capture_asked(cu_stream stream);
/* A stream that blocks the current context's legacy one is under a capture that heddle saw begin: the legacy
 * one takes no work then, and the driver answers whatever it is asked of that with an error. Takes a lock
 * that no one holds for long, and that only while such a stream is captured. */
bool run_legacy_is_frozen(void);
/* While captures go on, of which heddle need not know, some calls that have nothing to do with them are
 * refused, and end them, but for threads in the relaxed mode: this one is in it until run_captures_restore,
 * given what this gave. */
int run_captures_relax(void);
void run_captures_restore(int mode);
/* They leave the captures that they are in. */
void run_captures_stream_gone(cu_stream stream);
void run_captures_context_gone(unsigned long long context);
/* In a child of a fork. */
void run_captures_forked(void);

/* ---- The gate (gate.c) ------------------------------------------------------------------------- */

/* Around each call of the driver's that a thread makes; calls within calls pass. The first two do nothing
 * where nothing is watched. */
void run_gate_in(void);
void run_gate_out(void);
void run_gate_enter(void);
void run_gate_leave(void);
/* The way through the gate to a function of the driver's that a program has looked up; the function itself
 * where nothing is watched, and for other libraries' functions. */
void *run_gate_before(void *address);
/* False: some functions are called past the gate. */
bool run_gate_is_whole(void);
/* Lets no other thread into the driver, once all are out of it, for which it is waited so many seconds. NULL:
 * it is closed; else why not. Before run_lock is taken: a thread in a call may wait for that. */
const char *run_gate_close(double seconds);
void run_gate_open(void);
/* The same at once, in a call or not; false: another thread is in one that passes the gate, or has closed it.
 */
bool run_gate_try_close(void);
/* In a child of a fork: of the threads there is one. */
void run_gate_forked(void);
/* This thread's own default stream may be in use from now on; and whether any other thread's is. */
void run_gate_own_stream(void);
bool run_gate_others_own_streams(void);
/* A launch in that stream; and how many there have been, of all threads. */
void run_gate_own_launch(void);
unsigned long run_gate_own_launches(void);
/* An entry point whose stream 0 is the thread's own, by its name. */
bool run_gate_is_own(const char *symbol);

/* ---- Budget (budget.c) ------------------------------------------------------------------------- */

/* The moment at which heddle came into the program, as hd_seconds has it. */
extern double run_began;
/* Seconds that are left for all tuning; those that arms may take more than the original in one search in the
 * program's own launches; so many are spent. Under run_lock. */
double run_budget_left(void);
double run_budget_loss(void);
void run_budget_spend(double seconds);

/* ---- Alone (alone.c) --------------------------------------------------------------------------- */

/* NULL: nothing but this thread can touch the GPU's memory now, and the GPU is idle, for which it is waited
 * so many seconds; else why not. Takes no part in captures. The gate is closed. */
const char *run_not_alone(double seconds);
/* No stream of the current context has work, and no thread launches anything until
 * run_release: loading, allocating and freeing wait for nothing but each other. `own`: run_gate_own_launches
 * as a wait began that is over now, of this thread for the whole context; NULL: there was none. In the
 * relaxed mode of captures. False: it is not so. */
bool run_hold(const unsigned long *own);
void run_release(void);
/* The program has made threads. */
bool run_is_threaded(void);

/* ---- Reach (reach.c) --------------------------------------------------------------------------- */

typedef struct run_reach {
  HD_VEC(run_range) ranges; /* in the order in which they were found */
  uint64_t bytes;
  double copying;  /* seconds */
  uint64_t *block; /* the launch's parameters, f->bytes */
  /* The other allocations of the current context that heddle saw made, and variables of modules with a text:
   * on the device, and not mapped (cuMemMap), or managed, where the program has no threads. */
  HD_VEC(run_range) others;
} run_reach;

/* The allocations that a launch reaches: those that the words of its parameters point into or end at, its
 * module's variables, whose addresses have been found, and those, variables of other modules among them, that
 * words in these point into, and so on. Numbers that look like addresses count as such. `stream`: an idle one
 * to copy with; it may be `most` bytes, and take so many seconds. `keep`: with copies of what they hold.
 * NULL: they are in *out; else why it is not known. */
const char *run_reach_of(const run_facts *f, const run_launch *l, cu_stream stream, uint64_t most,
                         double seconds, bool keep, run_reach *out);
/* Bytes of a recorded buffer: the allocation, and some behind it. */
uint64_t run_range_room(const run_range *r);
void run_reach_free(run_reach *r);
/* The launch's parameters in one block, of f->bytes; false: they are not understood. */
bool run_gather(const run_facts *f, const run_launch *l, char *to);

/* ---- Kernels of heddle's own (own.c) ------------------------------------------------------------ */

/* PTX; and where it is loaded, once it is. */
typedef struct run_own {
  const char *text;
  cu_library library;
} run_own;
/* Launches one of them for n elements; 0: nothing. Not CU_SUCCESS: the driver says so. Under run_lock. */
int run_own_launch(run_own *own, const char *name, uint64_t n, cu_stream stream, void **params);

/* ---- Guards (guard.c) -------------------------------------------------------------------------- */

typedef struct run_guard {
  const run_range *ranges;
  size_t n;
  uint64_t sum, room; /* device memory; the second of so many bytes */
  uint64_t bytes;
} run_guard;
/* False: there is no memory for it. */
bool run_guard_open(run_guard *g, const run_range *ranges, size_t n);
/* One number for what they hold. Not CU_SUCCESS: the driver says so. */
int run_guard_sum(run_guard *g, cu_stream stream, uint64_t *out);
/* Fills its own memory with zeros, before it is freed. */
void run_guard_clear(run_guard *g, cu_stream stream);
void run_guard_close(run_guard *g);

/* ---- Trials (trial.c) -------------------------------------------------------------------------- */

/* Seconds that a launch is held back until the GPU is idle. */
#define RUN_PATIENCE 0.2

typedef struct run_trial run_trial;

/* Keeps what the launch may write, launches the original once, keeps what it wrote, and looks whether it
 * wrote any of run_reach's others. *launched: the program's launch has been made, with *result, whatever
 * follows. NULL: the trial is open, and memory is as it is after the launch again when it is closed; else why
 * there is none. */
const char *run_trial_open(const run_facts *facts, cu_function function, const run_launch *l, run_trial **out,
                           bool *launched, int *result);
void run_trial_close(run_trial *t);
/* Launches the variant on the same memory; NULL: the original. *same: all bytes are as the original left
 * them, where it is asked for. `flushed`: L2 holds none of the memory, else what putting it back has left
 * there. Not CU_SUCCESS: the driver says so, or there is no room to flush L2. */
int run_trial_run(run_trial *t, run_variant *v, bool flushed, double *seconds, bool *same);

/* ---- Shapes (shapes.c) ------------------------------------------------------------------------- */

/* What ended a search before all plans were tried. */
typedef enum run_cut { RUN_CUT_NOT, RUN_CUT_BUDGET, RUN_CUT_TOTAL } run_cut;

/* A kernel's launches of one shape. Under run_lock. */
typedef struct run_shape run_shape;
struct run_shape {
  run_shape *next;
  uint32_t grid[3], block[3], shared;
  unsigned long launches;
  unsigned tries;
  uint32_t tried; /* plans whose results or times are known */
  run_cut cut;    /* others were not tried */
  double seconds; /* of one launch; 0: not known */
  bool settled;
  const char *folder;  /* where one of them was recorded; NULL: nowhere */
  hd_verdict *verdict; /* that repetitions have found, and its variant; NULL: they have not */
  run_variant *adopted;
};

/* A launch before it is made; true: it has been made, with this result. */
bool run_watched(cu_function function, const run_launch *l, int *result);
/* The same of one whose kernel must be the program's own. */
bool run_lever_watched(cu_function function, const run_launch *l, int *result);

/* ---- Times (times.c) --------------------------------------------------------------------------- */

typedef struct run_time {
  run_kernel *kernel;
  cu_event end;
} run_time;
/* Before and after a launch. False: this one is not timed, and has no end. */
bool run_time_begin(run_kernel *k, const run_launch *l, run_time *out);
void run_time_end(const run_time *t, const run_launch *l, bool launched);
/* Adds the times that are known by now to their kernels. */
void run_times_take(void);

/* ---- Folders (pack.c) ------------------------------------------------------------------------- */

enum { RUN_PACK_FOLDER = HD_STEER_PATH + 160, RUN_PACK_PATH = RUN_PACK_FOLDER + 32 };

/* A workload's folder, made and empty, and its content. */
typedef struct run_pack {
  struct run_pack *next;
  char folder[RUN_PACK_FOLDER];
  hd_buf toml;
  run_reach reach;
  const char *text; /* the kernel's PTX, for as long as the process lives */
  size_t text_bytes;
  int failed; /* errno, where the files could not be written, and the folder is gone; once it is waited for */
} run_pack;
/* Begins to write it; what it holds but the text is freed then. */
void run_pack_add(run_pack *p);
/* Until all are written. */
void run_pack_wait(void);
void run_pack_remove(const char *folder);

/* ---- What is made of them (tune.c, record.c) --------------------------------------------------- */

/* Finds a plan for the shape; NULL: it has been tuned, or it is not worth it yet; else why not. *launched:
 * the launch has been made. */
const char *run_tune(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, bool *launched,
                     int *result);
/* There are launches enough now to measure in them what repetitions have found. */
void run_tune_check(run_kernel *k, run_shape *s);
/* Its launches take little beside another shape's, which has come first. */
bool run_is_small(const run_shape *s);
/* What is known of the verdict for launches of the shape; it is that the original stays. */
void run_tune_describe(const run_kernel *k, const run_shape *s, const run_gpu *gpu, hd_verdict *v);
/* Keeps it for later processes. */
void run_tune_keep(const hd_verdict *v);
/* What the report says of a kernel whose original stays. */
extern const char run_no_time[], run_best_as_it_is[];
void run_say_tuned(run_kernel *k, const char *what);
/* Of so many plans that were tried; `sure`: none is faster. */
void run_say_original(run_kernel *k, bool sure, run_cut cut, uint32_t tried);
/* Launches in turns have shown this of a search. */
run_live_settled run_tune_settle;

/* ---- Plans that are made ahead (ahead.c) ------------------------------------------------------- */

typedef struct run_ahead run_ahead;
/* What plans are made for; all of it outlives the search, and no other thread changes it meanwhile. */
typedef struct run_ahead_job {
  const run_gpu *gpu;
  run_kernel *kernel;
  const hd_verdict *verdict; /* as far as it is known */
} run_ahead_job;
/* NULL: there is no assembler of the driver's release, or no thread. Under run_lock, as all of these. */
run_ahead *run_ahead_open(const run_ahead_job *job);
void run_ahead_ask(run_ahead *a, const hd_plan *const *plans, size_t n);
/* A plan that was asked for, once it is made; *out NULL: it is refused. False: it was not asked for, or a is
 * NULL. */
bool run_ahead_take(run_ahead *a, const hd_plan *plan, run_variant **out);
/* The driver has loaded what the assembler made of a plan, or refused it, and compiles that plan itself. Some
 * refusals in a row: the assembler is asked no more. */
void run_ahead_loaded(bool taken);
void run_ahead_close(run_ahead *a); /* NULL is allowed */

/* ---- Verdicts in this program (notes.c) -------------------------------------------------------- */

/* What this program has learnt of a verdict, in this process and in those before. Under run_lock. */
typedef struct run_note {
  struct run_note *next;
  hd_steer_note is;
  bool known;   /* of an earlier process */
  bool changed; /* in a way that later ones should know */
  double here;  /* launches in this one */
} run_note;

/* The note of a verdict, made where there is none. NULL: no memory. It is the kernel's from now on. */
run_note *run_note_of(run_kernel *k, const hd_verdict *v);
/* Whether a verdict is to be applied: false with the reason in k->why. */
bool run_is_worth(run_kernel *k, const hd_verdict *v);
/* The kernel's name, if an earlier process has launched it and the verdict is to be applied; NULL: it is not.
 */
const char *run_note_early(const hd_verdict *v);
/* Whether its launches take turns with the original at first. */
bool run_on_probation(run_kernel *k, const hd_verdict *v);
/* It kept its promise in an earlier process. */
bool run_is_trusted(run_kernel *k, const hd_verdict *v);
/* Opens that for a variant or a lever that is held; where that cannot be, it is launched without. */
void run_probation_open(run_kernel *k, const run_arm *a);
/* Plans whose results are right for the shape and of which an earlier process did not live to know more:
 * their notations. How many there are. *cut: --total ended the search for them. */
size_t run_notes_open(const hd_verdict_key *key, const char **plans, size_t most, bool *cut);
/* Launches of the shape in an earlier process, 0: not known. */
double run_notes_launches(const hd_verdict_key *key);
/* The kernel's launches so far are counted; once for each. */
void run_notes_count(const run_kernel *k);
/* The note for a plan that is proved for the shape and not decided; state HD_STEER_OPEN, HD_STEER_CUT, or "":
 * decided. */
void run_note_plan(run_kernel *k, const hd_verdict *shape, const char *plan, const char *state);
/* It took so many seconds to get the plan of a verdict ready, without those that compiling took. */
void run_note_ready(run_kernel *k, const hd_verdict *v, double seconds);
/* Writes them, if there is anything new. `ended`: the process ends. */
void run_notes_write(bool ended);
/* Begins the search for an attribute that helps launches of a kernel without PTX, with one of them at hand.
 * Under run_lock. */
void run_levers_try(run_kernel *k, run_shape *s, cu_function function, const run_launch *l);
/* Makes a workload of the launch, and times it. The same as run_tune. */
const char *run_record(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, bool *launched,
                       int *result);
/* At the end: keeps those whose shapes took most time, removes the others, and appends a line for each. What
 * went wrong is said at once; false: something did, or no kernel was meant. */
bool run_record_end(hd_buf *lines);

#endif
