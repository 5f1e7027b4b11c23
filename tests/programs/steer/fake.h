/* The driver that does nothing (fake.c). */
#ifndef FAKE_H
#define FAKE_H

#include <stdatomic.h>

#include "run/driver.h"

fn_cuInit cuInit;
#define RUN_ENTRY(symbol, parameters, arguments) fn_##symbol symbol;
#include "run/entries.def"
#define RUN_NEED(symbol) fn_##symbol symbol;
#include "run/needs.def"
/* Sets the flag at the first argument to FAKE_WAITS, unless it is set, and waits until it is something else;
 * the other arguments are 1 to 8, by FAKE_WORDS. It has no handler. */
enum { FAKE_WAITS = 1 };
fn_cuMemcpyBatchAsync cuMemcpyBatchAsync;
#define FAKE_WORDS (cu_address *)1, (size_t *)2, 3, (const void *)4, (size_t *)5, 6, (size_t *)7, (cu_stream)8

/* Launches of what was unloaded. */
enum { FAKE_GONE = 400 };

/* Launches that succeeded, nodes included; calls. */
unsigned long fake_launches(void);
unsigned long fake_calls(void);
/* Texts that it was given to load, and links. */
unsigned long fake_compiled(void);
/* Launches with dynamic shared memory of a text that declares shared memory in front of its kernel. */
unsigned long fake_behind(void);
/* Loads of libraries, and those that a launch was before. */
unsigned long fake_libraries(void);
unsigned long fake_late(void);
/* Libraries that are loaded, and memory that is allocated. */
long fake_held(void);

/* Work in a stream that does not end before fake_end: of (handle)2, in the thread's own default stream. */
void fake_begin(cu_stream stream);
void fake_end(void);
/* Calls that may wait for kernels that run, as they were made while there was such work: loading, unloading,
 * allocating, freeing, asking for a variable, the first launch of a function that is not loaded; and launches
 * while another thread was loading. */
unsigned long fake_waits(void);
/* For fake.c: such a call; a load begins, and ends; a launch; a stream that was made; its state. */
void fake_may_wait(void);
void fake_load(int change);
void fake_launch(atomic_bool *is_loaded);
int fake_query(cu_stream stream, bool blocks);
bool fake_is_busy(void);

/* Answers with an error on account of a capture, whoever asked (fake_capture.c). */
unsigned long fake_refused(void);
/* A capture that begins and ends past whatever stands in front of the driver. */
int fake_begin_unseen(cu_stream stream, int mode);
int fake_end_unseen(cu_stream stream);
/* The number of this thread's current context, 1 unless it is set. */
void fake_context(unsigned long long context);
unsigned long long fake_current(void);
/* For fake.c: the error that a call gives which puts something into the stream, asks for its work, or may
 * disturb a capture; 0: none. An event that is recorded. */
int fake_use(cu_stream stream, bool per_thread);
int fake_ask(cu_stream stream);
int fake_disturb(void);
void fake_record(cu_event event, cu_stream stream, bool per_thread);
/* For fake_capture.c: from the first work on, a while in which other threads may come between; a stream that
 * was made. */
void fake_linger(void);
void fake_stream(cu_stream stream, unsigned long long *context, bool *blocks);

/* How long launches take (fake_time.c); false: all alike. For fake.c: a launch, of a rewritten kernel with
 * this digest of its text, 0: of another; a text that is loaded; memory that is filled; a wait; an event, by
 * its number; the time between two, or CU_NOT_READY. */
bool fake_is_timed(void);
void fake_take_time(uint64_t text, cu_stream stream);
void fake_compile(void);
void fake_fill(size_t bytes);
void fake_wait(void);
void fake_stamp(unsigned event);
int fake_elapsed(float *ms, unsigned begin, unsigned end);
void fake_event_gone(unsigned event);
/* Events that were asked for, recorded or destroyed after their context was. */
unsigned long fake_stale(void);

/* For fake_graph.c: whether this call fails; how many parameters the function has. */
int fake_call(void);
unsigned fake_params(cu_function function);
/* For fake_graph.c: a kernel of a graph runs; for fake_capture.c: the stream waits for an event. */
void fake_run(cu_function function, void **params, cu_stream stream);
void fake_waits_in(cu_stream stream);
/* Executable graphs that are there; launches of one that may have run beside another's. */
unsigned long fake_execs(void);
unsigned long fake_overlaps(void);
/* The executable graph that was launched last. */
cu_graph_exec fake_launched_exec(void);
/* A node of the one graph; what it has, and what an executable graph has in its place. */
int fake_add_node(cu_node *node, const cu_kernel_node *p);
cu_function fake_node_function(cu_node node);
cu_function fake_exec_function(cu_graph_exec exec, cu_node node);
uint64_t fake_exec_word(cu_graph_exec exec, cu_node node, unsigned word);

#endif
