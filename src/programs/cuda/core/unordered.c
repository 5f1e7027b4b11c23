/* Finds unordered operations on the same memory: ordered neither by a stream, nor by an event, nor by a wait
 * of the host.
 *
 * After an operation has run, the memory that it accessed is compared with that of the others that it does
 * not come behind. Whether they really ran at the same time does not matter. A graph's steps are operations
 * of their own: among themselves the graph's edges order them, towards all else the operation that runs the
 * graph.
 *
 * A kernel that is launched programmatically may start when all CTAs of the kernel in front of it in its
 * stream have executed griddepcontrol.launch_dependents or have ended. What that one wrote is there only
 * behind griddepcontrol.wait; what it read before launch_dependents was read. If it was launched so, too, and
 * does not wait, then the one in front of it may still run when it is over, and so forth. What a kernel does
 * before it waits, and behind launch_dependents, are records of their own. Programmatic edges of graphs count
 * as others do.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/order.h"
#include "cuda/core/touched.h"

enum { NAME = 160, RECORDS = 1024, SAID = 256 };

/* The memory that one operation accessed. */
typedef struct record {
  uint64_t id, stream, tick;
  core_clock clock;
  uint32_t step;     /* of a graph; 0: no graph's */
  uint64_t chain;    /* of a kernel that is launched programmatically (core_ran); 0: any other */
  core_steps behind; /* the steps, or the kernels of the chain, that this one comes behind */
  bool launched;     /* its accesses come behind launch_dependents */
  char name[NAME];
  const core_function *function; /* NULL: no kernel */
  bool may_wait;                 /* for others to change memory */
  touched memory;
} record;

/* The kernel that a stream ran last. It and those in front of it may overlap one that is launched
 * programmatically behind it: sets of them have a bit each, by their ticks from `chain` on. */
typedef struct core_ran {
  uint64_t tick, chain;   /* the tick of the first of those that may overlap */
  core_steps start, over; /* those that were over when it started; that are over when it is */
} core_ran;

/* The lock is for the host's faults: all else runs under core.lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HD_VEC(record) done; /* by their end, the earliest first */
static uint64_t last_id;
static uint64_t said[SAID]; /* hashes of findings: each is said once */
static size_t n_said;

/* Bits that number the parts of a kernel: only one that is launched programmatically has those of WAITED. */
enum { LAUNCHED = 1, WAITED = 2, PARTS = 4 };

/* Of the operation that runs. */
typedef struct core_touched {
  const core_op *op;
  record record;
  touching *memory[PARTS];
  bool waited, waited_first; /* hd_emu_stats */
} core_touched;
static core_touched now;

static bool wanted(void) { return (core.settings.checks & HD_PROGRAM_CHECK_STREAMS) != 0; }

static void clear(record *r) {
  hd_vec_free(&r->clock);
  hd_vec_free(&r->behind);
  touched_free(&r->memory);
  *r = (record){0};
}

/* ---- The operation that runs ----------------------------------------------------------------------- */

static void note_part(const hd_access *a, uint32_t mask, unsigned part) {
  hd_access some = *a;
  some.mask = mask;
  if (!now.memory[part]) now.memory[part] = touching_begin();
  if (mask) touching_access(now.memory[part], &some);
}

static void note_access(void *ctx, unsigned worker, const hd_access *a) {
  const uint32_t waited = now.op->work->programmatic ? a->mask & a->waited : 0;
  const unsigned launched = a->launched ? LAUNCHED : 0;
  if (waited) note_part(a, waited, WAITED | launched);
  if (waited != a->mask) note_part(a, a->mask & ~waited, launched);
}

core_access_fn *core_access_hook(void) { return wanted() ? note_access : NULL; }

void core_touch(uint64_t address, uint64_t bytes, bool write) {
  touching_range(now.memory[0], address, bytes, write ? TOUCHED_WRITTEN : TOUCHED_READ);
}

void core_name_work(const char *fmt, ...) {
  if (!wanted()) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(now.record.name, sizeof now.record.name, fmt, ap);
  va_end(ap);
}

void core_name_kernel(const core_function *f, const hd_emu_stats *s) {
  core_name_work("kernel %s", f->title);
  now.record.function = f;
  now.waited = s->waited;
  now.waited_first = s->waited_first;
}

/* ---- Comparison --------------------------------------------------------------------------------- */

/* The relation of a to b, which ended later. ORDERED: b comes behind a, or they have no order because they
 * are one; READS_ORDERED: behind what a read. */
typedef enum relation { UNORDERED, READS_ORDERED, ORDERED } relation;

static relation relation_of(const record *a, const record *b) {
  if (a->stream == b->stream && a->tick == b->tick)
    return !a->step || !b->step || core_steps_has(&b->behind, a->step) ? ORDERED : UNORDERED;
  if (a->stream == b->stream && b->chain && b->chain <= a->tick && a->tick < b->tick)
    return core_steps_has(&b->behind, (uint32_t)(a->tick - b->chain)) ? ORDERED
           : a->launched                                              ? UNORDERED
                                                                      : READS_ORDERED;
  return core_clock_at(&b->clock, a->stream) >= a->tick || core_clock_at(&a->clock, b->stream) >= b->tick
             ? ORDERED
             : UNORDERED;
}

static uint64_t hash(uint64_t h, const char *text) {
  for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
  return h;
}

/* The same two places are said once, however often they meet; copies have no place, but memory. */
static bool is_news(const record *a, const record *b, uint64_t address, const uint32_t lines[2]) {
  const core_memory *m = lines[0] && lines[1] ? NULL : core_memory_find(address);
  const uint64_t of = ((uint64_t)lines[0] << 32 | lines[1]) ^ (m ? m->id << 20 : 0);
  const uint64_t h = hash(hash(UINT64_C(0xCBF29CE484222325) ^ of, a->name), b->name);
  for (size_t k = 0; k < n_said && k < SAID; k++)
    if (said[k] == h) return false;
  said[n_said++ % SAID] = h;
  return true;
}

static void say(const record *a, const record *b, uint64_t address, const uint32_t lines[2]) {
  const core_code at[2] = {{lines[0] ? a->function : NULL, lines[0]},
                           {lines[1] ? b->function : NULL, lines[1]}};
  if (!is_news(a, b, address, lines)) return;
  char text[2][256];
  for (int k = 0; k < 2; k++) core_code_text(at[k], text[k], sizeof text[k]);
  const core_memory *where = core_memory_find(address);
  const bool graph = a->stream == b->stream && a->tick == b->tick, chain = !graph && a->stream == b->stream;
  core_found_at(CORE_FOUND_STREAMS, at,
                "nothing orders %s in stream %" PRIu64 "%s%s and %s in %s %" PRIu64
                "%s%s: both touch 0x%" PRIx64 "%s%s%s",
                a->name, a->stream, *text[0] ? " at " : "", text[0], b->name,
                graph ? "the same graph in stream" : "stream", b->stream, *text[1] ? " at " : "", text[1],
                address, where ? " of " : "", where ? where->what : "",
                chain ? ", and the launch is programmatic, with no griddepcontrol.wait between them" : "");
}

static void compare(const record *r) {
  for (size_t k = 0; k < done.n; k++) {
    uint64_t address;
    uint32_t lines[2];
    const record *other = &done.data[k];
    const relation is = relation_of(other, r);
    if (is == ORDERED || !touched_meets(&other->memory, &r->memory, is == READS_ORDERED, &address, lines))
      continue;
    /* A kernel that waits for a flag may wait for this one. */
    if ((r->may_wait || other->may_wait) && touched_signals(&other->memory, &r->memory)) continue;
    say(other, r, address, lines);
  }
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_shared(uint64_t address) {
  const core_memory *m = core_memory_find(address);
  return m && m->host;
}

/* Until the host has waited, it is not to read what was written, nor to write what was read. By flags that
 * are strong for the host, too, the kernel may have told it. */
static void hide_from_host(const record *r) {
  if (touched_signals_host(&r->memory, is_shared)) return;
  for (int kind = 0; kind < TOUCHED_KINDS; kind++) {
    const bool reads = touched_hides((touched_kind)kind, false),
               writes = touched_hides((touched_kind)kind, true);
    for (size_t k = 0; (reads || writes) && k < r->memory.runs[kind].n; k++)
      core_guard_add(r->memory.runs[kind].data[k].lo, r->memory.runs[kind].data[k].hi, r->id, reads);
  }
}

static void take_out(size_t k) {
  core_guard_drop(done.data[k].id);
  clear(&done.data[k]);
  memmove(&done.data[k], &done.data[k + 1], (done.n - k - 1) * sizeof *done.data);
  done.n--;
}

/* The record takes over what `now` has. */
static void keep(record *r) {
  pthread_mutex_lock(&lock);
  if (done.n == RECORDS) take_out(0);
  if (!hd_vec_push(&done, *r))
    clear(r);
  else
    hide_from_host(r);
  pthread_mutex_unlock(&lock);
  *r = (record){0};
}

static bool is_allocated(uint64_t address) { return core_memory_find(address) != NULL; }

static void begin(uint32_t step, const core_steps *behind) {
  clear(&now.record);
  now.record.step = step;
  now.waited = now.waited_first = false;
  if (behind) (void)core_steps_join(&now.record.behind, behind);
  now.memory[0] = touching_begin();
}

/* Whether kernels that the stream ran last may overlap this one. Of a chain as long as records are kept the
 * first are forgotten in any case. */
static bool continues(const core_op *o) {
  const core_ran *ran = o->stream->ran;
  return o->work->programmatic && ran && ran->tick + 1 == o->tick && ran->tick > o->surely &&
         o->tick - ran->chain < RECORDS;
}

static bool all_over(const core_ran *ran) {
  bool all = true;
  for (uint64_t k = 0; all && k < ran->tick - ran->chain; k++) all = core_steps_has(&ran->start, (uint32_t)k);
  return all;
}

/* Those of the chain that are over, beside these, for certain. */
static void add_sure(const core_op *o, uint64_t chain, core_steps *to) {
  for (uint64_t tick = chain; tick <= o->surely; tick++) (void)core_steps_add(to, (uint32_t)(tick - chain));
}

/* What the operation's part comes behind in its chain. */
static void place(const core_op *o, unsigned part, record *r) {
  const core_ran *ran = o->stream->ran;
  r->launched = part & LAUNCHED;
  if (!continues(o)) return;
  r->chain = ran->chain;
  (void)core_steps_join(&r->behind, part & WAITED ? &ran->over : &ran->start);
  add_sure(o, r->chain, &r->behind);
}

static void forget(core_ran *ran) {
  hd_vec_free(&ran->start);
  hd_vec_free(&ran->over);
}

/* The kernel is over: the next one may be launched programmatically. Without memory it overlaps nothing. */
static void pass_on(const core_op *o) {
  core_ran *ran = o->stream->ran, next = {.tick = o->tick, .chain = o->tick};
  if (!ran && !(ran = o->stream->ran = calloc(1, sizeof *ran))) return;
  if (continues(o)) {
    next.chain = ran->chain;
    (void)core_steps_join(&next.start, now.waited_first ? &ran->over : &ran->start);
    add_sure(o, next.chain, &next.start);
    (void)core_steps_join(&next.over, now.waited ? &ran->over : &next.start);
  }
  if (all_over(&next)) {
    forget(&next);
    next.chain = o->tick;
  }
  (void)core_steps_add(&next.over, (uint32_t)(o->tick - next.chain));
  forget(ran);
  *ran = next;
}

/* A part of the operation. Memory of the kernels' own heap is none of the program's allocations: its
 * addresses are used again. */
static void end_part(const core_op *o, unsigned part) {
  record r = now.record;
  r.clock = (core_clock){0};
  r.behind = (core_steps){0};
  r.memory = touching_end(now.memory[part], is_allocated);
  now.memory[part] = NULL;
  if (touched_nothing(&r.memory)) return;
  r.id = ++last_id;
  r.stream = o->stream->id;
  r.tick = o->tick;
  r.may_wait = o->work->may_wait;
  core_clock_join(&r.clock, &o->clock);
  (void)core_steps_join(&r.behind, &now.record.behind);
  place(o, part, &r);
  compare(&r);
  keep(&r);
}

static void end(const core_op *o) {
  for (unsigned part = 0; part < PARTS; part++) end_part(o, part);
  if (o->work->kind == CORE_WORK_KERNEL) pass_on(o);
}

void core_order_begin(const core_op *o) {
  if (!wanted()) return;
  now.op = o;
  if (o->work->kind == CORE_WORK_HOST) core_order_host_function(o);
  if (o->work->kind != CORE_WORK_GRAPH) begin(0, NULL);
}

core_touched *core_order_pause(void) {
  core_touched *kept = wanted() ? malloc(sizeof *kept) : NULL;
  if (!kept) return NULL;
  *kept = now;
  now = (core_touched){0};
  return kept;
}

void core_order_resume(const core_op *o, core_touched *kept) {
  if (!wanted()) return;
  if (kept)
    now = *kept;
  else
    core_order_begin(o);
  free(kept);
}

void core_order_end(const core_op *o) {
  if (!wanted()) return;
  if (o->work->kind != CORE_WORK_GRAPH) end(o);
  now.op = NULL;
}

void core_order_begin_step(uint32_t step, const core_steps *behind, core_work_kind kind) {
  if (!wanted()) return;
  pthread_mutex_lock(&core.lock);
  if (kind == CORE_WORK_HOST) core_order_host_function(now.op);
  begin(step, behind);
  pthread_mutex_unlock(&core.lock);
}

void core_order_end_step(void) {
  if (!wanted()) return;
  pthread_mutex_lock(&core.lock);
  end(now.op);
  pthread_mutex_unlock(&core.lock);
}

void core_unordered_destroyed(core_stream *s) {
  if (s->ran) forget(s->ran);
  free(s->ran);
  s->ran = NULL;
}

/* The device orders the next owner of the memory behind. */
void core_order_freed(uint64_t lo, uint64_t hi) {
  if (!wanted()) return;
  pthread_mutex_lock(&lock);
  core_guard_forget(lo, hi);
  for (size_t k = done.n; k-- > 0;) {
    touched_forget(&done.data[k].memory, lo, hi);
    if (touched_nothing(&done.data[k].memory)) take_out(k);
  }
  pthread_mutex_unlock(&lock);
}

/* The operation that runs frees memory: this is its access. */
void core_order_free(uint64_t address, uint64_t bytes) {
  if (!wanted()) return;
  core_touch(address, bytes, true);
  core_name_work("the free of %" PRIu64 " bytes", bytes);
  end(now.op);
  begin(now.record.step, NULL);
}

/* ---- The host -------------------------------------------------------------------------------- */

void core_unordered_release(bool (*known)(uint64_t stream, uint64_t tick)) {
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < done.n; k++)
    if (known(done.data[k].stream, done.data[k].tick)) core_guard_drop(done.data[k].id);
  pthread_mutex_unlock(&lock);
}

void core_unordered_forget_known(bool (*known)(uint64_t stream, uint64_t tick)) {
  enum { FEW = 16 };
  if (done.n < FEW) return;
  pthread_mutex_lock(&lock);
  for (size_t k = done.n; k-- > 0;)
    if (known(done.data[k].stream, done.data[k].tick)) take_out(k);
  pthread_mutex_unlock(&lock);
}

bool core_unordered_has(uint64_t stream) {
  for (size_t k = 0; k < done.n; k++)
    if (done.data[k].stream == stream) return true;
  return false;
}

static void say_host(const record *r, const touched_run *run, uint64_t address, bool write,
                     const char *where) {
  const core_code at = {run->line ? r->function : NULL, run->line};
  char line[256];
  core_code_text(at, line, sizeof line);
  core_found_at(CORE_FOUND_HOST, (core_code[2]){at},
                "nothing orders %s in stream %" PRIu64 "%s%s and the host's %s at %s: both touch 0x%" PRIx64,
                r->name, r->stream, *line ? " at " : "", line, write ? "write" : "access", where, address);
}

bool core_unordered_host(uint64_t address, bool write, const char *where) {
  pthread_mutex_lock(&lock);
  const bool guarded = core_guard_covers(address, 0);
  for (size_t k = 0; guarded && k < done.n; k++) {
    const record *r = &done.data[k];
    const touched_run *run =
        core_guard_covers(address, r->id) ? touched_at(&r->memory, write, address) : NULL;
    if (run) say_host(r, run, address, write, where);
  }
  if (guarded) core_guard_open(address);
  pthread_mutex_unlock(&lock);
  return guarded;
}
