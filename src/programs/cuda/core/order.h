/* cuda/core/order.h: operations that nothing orders, with HD_PROGRAM_CHECK_STREAMS: the order that the
 * program ensures, the memory that operations touch, and the host's own accesses. Without that check all of
 * it does nothing. */
#ifndef HEDDLE_CUDA_CORE_ORDER_H
#define HEDDLE_CUDA_CORE_ORDER_H

#include "cuda/core/core.h"

/* ---- The order that the program ensures (order.c) -------------------------------------------- */

uint64_t core_clock_at(const core_clock *c, uint64_t stream);
void core_clock_join(core_clock *c, const core_clock *with);

/* An operation comes behind another one, be that over or not. */
void core_order_behind(core_op *o, const core_op *on);
/* Set the clock of an operation that is about to be submitted; alone: no other one is pending. */
void core_order_submitted(core_op *o, bool alone);
/* The host has waited for it. All of its threads count as one: that they wait for each other is not seen. */
void core_order_waited(const core_op *o);
/* For those in front of it. */
void core_order_waited_before(const core_op *o);
/* A stream ends: later operations of the default stream, and waits for the context, come behind its own. */
void core_order_destroyed(const core_stream *s);
/* The host has waited for the context, and so for the streams that were destroyed; or, unless all, for those
 * that the default stream orders. */
void core_order_waited_gone(core_context *c, bool all);
/* The operation, or a step of its graph, calls a function of the host's. */
void core_order_host_function(const core_op *o);

/* The operation that runs is about to write a value that threads of the host, and streams, wait for. */
void core_order_tell(void);
/* One that waited for such a value goes on. */
void core_order_told(void);

/* Steps of one launch of a graph are numbered from 1. */
bool core_steps_join(core_steps *to, const core_steps *from); /* false: no memory */
bool core_steps_add(core_steps *to, uint32_t step);
bool core_steps_has(const core_steps *s, uint32_t step);

/* ---- The memory that operations touch (unordered.c) ------------------------------------------ */

/* Around an operation's run: what it touches in between is its own, and is held against others when it ends.
 */
void core_order_begin(const core_op *o);
void core_order_end(const core_op *o);
/* Around a step of the graph that runs, without core.lock: it comes behind these other steps. */
void core_order_begin_step(uint32_t step, const core_steps *behind, core_work_kind kind);
void core_order_end_step(void);
/* While another one runs in its stead. NULL: no memory is left for what it touched. */
struct core_touched *core_order_pause(void);
void core_order_resume(const core_op *o, struct core_touched *t);
/* Memory that the running operation reads or writes, or frees. */
void core_touch(uint64_t address, uint64_t bytes, bool write);
void core_order_free(uint64_t address, uint64_t bytes);
/* For hd_emu_hooks.access; NULL: accesses are not checked. */
typedef void core_access_fn(void *ctx, unsigned worker, const hd_access *a);
core_access_fn *core_access_hook(void);
void core_name_work(const char *fmt, ...) HD_PRINTF(1, 2);
void core_name_kernel(const core_function *f, const hd_emu_stats *s);
/* Memory was freed: whoever gets it next comes behind. */
void core_order_freed(uint64_t lo, uint64_t hi);
/* Operations that the host knows: it may touch their memory; and if no other one is pending, no operation
 * to come is unordered with them. */
void core_unordered_release(bool (*known)(uint64_t stream, uint64_t tick));
void core_unordered_forget_known(bool (*known)(uint64_t stream, uint64_t tick));
bool core_unordered_has(uint64_t stream);
void core_unordered_destroyed(core_stream *s);
/* The host's access to memory that was guarded: a finding, unless it touched other bytes, and from now on
 * allowed. False: nothing guards it. */
bool core_unordered_host(uint64_t address, bool write, const char *where);

/* ---- Guards against the host's own accesses (guard.c) ---------------------------------------- */

/* Again, where the program has put a handler of its own in its place. */
void core_guard_install(void);
/* [lo, hi) was touched by this operation, which the host has not waited for; hidden: the host is not to read
 * it, else not to write it. unordered.c calls these, with its lock. */
void core_guard_add(uint64_t lo, uint64_t hi, uint64_t record, bool hidden);
void core_guard_drop(uint64_t record);
void core_guard_forget(uint64_t lo, uint64_t hi);
bool core_guard_covers(uint64_t address, uint64_t record); /* record 0: any */
void core_guard_open(uint64_t address);

#endif
