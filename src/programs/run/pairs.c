/* Graphs in turns. A graph that is made executable while plans of its kernels are on probation is made
 * executable twice: with the program's kernels, and under the plans. Launches of the program's are launches
 * of the one or the other by turns, each timed as a whole (live.c), until it is known which is faster.
 * Neither changes: when the program changes its own, that alone is launched from then on.
 *
 * CUDA runs an executable graph once at a time, whatever streams it is launched in. So a launch of one waits
 * for the last launch of the other, if that was made in another stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { MOST = 64 }; /* pairs that a process makes: each is measured, and holds its graph twice */

struct run_pair {
  run_pair *next;
  cu_graph_exec own, other;
  run_kernel *kernel;        /* that stands for the graph; NULL: its module is gone */
  const hd_verdict *verdict; /* of a plan in the other one, */
  bool several;              /* which is not the only one */
  unsigned long long context;
  cu_stream stream; /* of the first launch: turns are taken there alone */
  uint64_t thread;  /* whose own default stream that is; 0: it is none */
  bool begun;
  bool was_other;        /* the last launch: of the other one, */
  cu_stream last_stream; /* and where; */
  uint64_t last_thread;
  cu_event last; /* and behind it, if it is `marked` */
  bool marked;
  bool changed; /* the program's own is another graph now, and is launched whatever happens */
  atomic_bool off, held;
  _Atomic uint64_t saves;
};

/* A pair is the program's to launch by one thread at a time, as its executable graph is. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static run_pair *pairs;
static atomic_uint n_pairs;
static unsigned made; /* under run_lock */

void run_pairs_forked(void) { pthread_mutex_init(&lock, NULL); }

static run_pair *find(cu_graph_exec exec) {
  if (!atomic_load_explicit(&n_pairs, memory_order_relaxed)) return NULL;
  pthread_mutex_lock(&lock);
  run_pair *p = pairs;
  while (p && p->own != exec) p = p->next;
  pthread_mutex_unlock(&lock);
  return p;
}

/* ---- As an arm (live.c) ------------------------------------------------------------------------ */

void run_pair_hold(run_pair *p, bool held) { atomic_store(&p->held, held); }
void run_pair_turn_off(run_pair *p) { atomic_store(&p->off, true); }
_Atomic uint64_t *run_pair_saves(run_pair *p) { return &p->saves; }
const hd_verdict *run_pair_verdict(const run_pair *p) { return p->verdict; }
bool run_pair_has_several(const run_pair *p) { return p->several; }

static uint64_t thread_of(const run_launch *l) {
  return l->stream == CU_STREAM_PER_THREAD || (!l->stream && l->per_thread) ? run_thread_number() : 0;
}

static bool is_in(const run_launch *l, cu_stream stream, uint64_t thread) {
  return (l->stream ? l->stream : CU_STREAM_LEGACY) == stream && thread_of(l) == thread;
}

bool run_pair_follows(const run_pair *p, bool other, const run_launch *l) {
  fn_cuStreamWaitEvent *const wait =
      l->per_thread ? run_real.cuStreamWaitEvent_ptsz : run_real.cuStreamWaitEvent;
  return !p->begun || p->was_other == other || is_in(l, p->last_stream, p->last_thread) ||
         (p->marked && !l->unasked && wait && wait(l->stream, p->last, 0) == CU_SUCCESS);
}

/* The other one's last launch may still run, and no event marks its end. */
static void wait_for_all(void) {
  if (run_real.cuCtxSynchronize) run_real.cuCtxSynchronize();
}

int run_pair_send(run_pair *p, bool other, const run_launch *l) {
  fn_cuGraphLaunch *const launch = l->per_thread ? run_real.cuGraphLaunch_ptsz : run_real.cuGraphLaunch;
  fn_cuEventRecord *const record = l->per_thread ? run_real.cuEventRecord_ptsz : run_real.cuEventRecord;
  other = other && !p->changed;
  if (!run_pair_follows(p, other, l)) {
    if (p->changed)
      wait_for_all();
    else
      other = p->was_other;
  }
  const int r = launch(other ? p->other : p->own, l->stream);
  if (r != CU_SUCCESS) return r;
  p->begun = true;
  p->was_other = other;
  p->last_stream = l->stream ? l->stream : CU_STREAM_LEGACY;
  p->last_thread = thread_of(l);
  p->marked = record && !l->unasked && record(p->last, l->stream) == CU_SUCCESS;
  return r;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* The graph that is known to be the better one, or the program's own while nothing is known. */
static int send_settled(run_pair *p, const run_launch *l) {
  const bool other = !atomic_load(&p->held) && !atomic_load(&p->off);
  int r = run_pair_send(p, other, l);
  if (other && r != CU_SUCCESS && !run_is_of_capture(r)) {
    run_pair_turn_off(p);
    r = run_pair_send(p, false, l);
  }
  if (!p->kernel) return r;
  atomic_fetch_add_explicit(&p->kernel->launches, 1, memory_order_relaxed);
  if (r == CU_SUCCESS && p->was_other) {
    atomic_fetch_add_explicit(&p->kernel->steered, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->kernel->saved, atomic_load(&p->saves), memory_order_relaxed);
  }
  return r;
}

typedef enum capture { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_UNKNOWN } capture;

static capture capture_of(const run_launch *l) {
  int status = CU_CAPTURE_STATUS_NONE;
  fn_cuStreamIsCapturing *const ask =
      l->per_thread ? run_real.cuStreamIsCapturing_ptsz : run_real.cuStreamIsCapturing;
  if (l->stream == CU_STREAM_LEGACY || (!l->stream && !l->per_thread))
    return run_legacy_is_frozen() ? CAPTURE_ACTIVE : CAPTURE_NONE;
  if (!ask || ask(l->stream, &status) != CU_SUCCESS) return CAPTURE_UNKNOWN;
  return status == CU_CAPTURE_STATUS_NONE ? CAPTURE_NONE : CAPTURE_ACTIVE;
}

/* The driver does not say whether the stream is captured, so that nothing may be put into it beside the
 * launch: the same one as before, which waits for itself. */
static int send_again(run_pair *p, run_launch l) {
  l.unasked = true;
  return run_pair_send(p, p->begun && p->was_other, &l);
}

bool run_pair_launch(cu_graph_exec exec, cu_stream stream, bool per_thread, int *result) {
  run_pair *p = find(exec);
  const run_launch l = {.stream = stream, .per_thread = per_thread, .pair = p};
  if (!p) return false;
  const capture is = capture_of(&l);
  if (is == CAPTURE_ACTIVE) return false;
  if (is == CAPTURE_UNKNOWN) {
    *result = send_again(p, l);
    return true;
  }
  if (!p->begun) {
    p->stream = stream ? stream : CU_STREAM_LEGACY;
    p->thread = thread_of(&l);
  }
  if (p->kernel && atomic_load(&p->held) && is_in(&l, p->stream, p->thread) &&
      run_live_launch(p->kernel, NULL, &l, result))
    return true;
  *result = send_settled(p, &l);
  return true;
}

/* ---- Coming and going -------------------------------------------------------------------------- */

static run_kernel *graph_of(const run_kernel *k, const char *plan) {
  hd_buf name = {0}, title = {0};
  hd_buf_printf(&name, "graphs with %s", k->name);
  hd_buf_printf(&title, "graphs with %s", k->title);
  run_kernel *g = name.failed || title.failed ? NULL : run_kernel_of(k->module, name.data);
  hd_buf_free(&name);
  if (!g) {
    hd_buf_free(&title);
    return NULL;
  }
  free(g->title);
  g->title = title.data;
  hd_fit(g->plan, sizeof g->plan, "%s", plan);
  return g;
}

bool run_pairs_are_full(void) { return made >= MOST; }

bool run_pair_make(cu_graph_exec own, cu_graph_exec other, run_variant *v, bool several) {
  const run_driver *d = &run_real;
  run_pair *p = calloc(1, sizeof *p);
  const int mode = run_captures_relax();
  const bool ok = p && (p->kernel = graph_of(v->kernel, several ? "several" : v->plan)) &&
                  d->cuEventCreate(&p->last, CU_EVENT_DISABLE_TIMING) == CU_SUCCESS;
  run_captures_restore(mode);
  if (!ok) {
    free(p);
    return false;
  }
  made++;
  p->own = own;
  p->other = other;
  p->verdict = v->verdict;
  p->several = several;
  p->context = run_context();
  pthread_mutex_lock(&lock);
  p->next = pairs;
  pairs = p;
  pthread_mutex_unlock(&lock);
  atomic_fetch_add(&n_pairs, 1);
  atomic_init(&p->held, true);
  run_probation_open(p->kernel, &(run_arm){.pair = p});
  return true;
}

/* The program's own is launched from now on. Its records stay: launches in turns may name it. */
static void end(run_pair *p) {
  run_pair_turn_off(p);
  run_pair_hold(p, false);
  if (p->kernel) run_live_end_pair(p->kernel, p);
}

static run_pair *take(cu_graph_exec exec) {
  pthread_mutex_lock(&lock);
  run_pair **at = &pairs;
  while (*at && (*at)->own != exec) at = &(*at)->next;
  run_pair *p = *at;
  if (p) *at = p->next;
  pthread_mutex_unlock(&lock);
  if (p) atomic_fetch_sub(&n_pairs, 1);
  return p;
}

cu_graph_exec run_pair_gone(cu_graph_exec exec) {
  run_pair *p = find(exec) ? take(exec) : NULL;
  if (!p) return NULL;
  end(p);
  run_real.cuEventDestroy_v2(p->last);
  return p->other;
}

void run_pair_changed(cu_graph_exec exec) {
  run_pair *p = find(exec);
  if (!p) return;
  pthread_mutex_lock(&run_lock);
  p->changed = true;
  end(p);
  pthread_mutex_unlock(&run_lock);
}

void run_pairs_leave(const run_module *m) {
  pthread_mutex_lock(&lock);
  for (run_pair *p = pairs; p; p = p->next) {
    if (!p->kernel || p->kernel->module != m) continue;
    run_pair_turn_off(p);
    run_pair_hold(p, false);
    p->kernel = NULL;
  }
  pthread_mutex_unlock(&lock);
}

void run_pairs_context_gone(unsigned long long context) {
  pthread_mutex_lock(&lock);
  for (run_pair **at = &pairs; *at;) {
    run_pair *p = *at;
    if (p->context != context) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    atomic_fetch_sub(&n_pairs, 1);
    run_pair_turn_off(p);
    run_pair_hold(p, false);
  }
  pthread_mutex_unlock(&lock);
}

/* ---- Entry points ------------------------------------------------------------------------------ */

int run_cuGraphLaunch(cu_graph_exec exec, cu_stream stream) {
  int r;
  if (stream == CU_STREAM_PER_THREAD) run_gate_own_launch();
  return run_pair_launch(exec, stream, false, &r) ? r : run_real.cuGraphLaunch(exec, stream);
}

int run_cuGraphLaunch_ptsz(cu_graph_exec exec, cu_stream stream) {
  int r;
  if (!stream || stream == CU_STREAM_PER_THREAD) run_gate_own_launch();
  return run_pair_launch(exec, stream, true, &r) ? r : run_real.cuGraphLaunch_ptsz(exec, stream);
}

/* Changes of an executable graph that exec.c and graph.c have no part in. */
int run_cuGraphExecMemcpyNodeSetParams(cu_graph_exec exec, cu_node node, const cu_copy3d *p,
                                       cu_context context) {
  run_pair_changed(exec);
  return run_real.cuGraphExecMemcpyNodeSetParams(exec, node, p, context);
}
int run_cuGraphExecMemsetNodeSetParams(cu_graph_exec exec, cu_node node, const cu_set_node *p,
                                       cu_context context) {
  run_pair_changed(exec);
  return run_real.cuGraphExecMemsetNodeSetParams(exec, node, p, context);
}
int run_cuGraphNodeSetEnabled(cu_graph_exec exec, cu_node node, unsigned on) {
  run_pair_changed(exec);
  return run_real.cuGraphNodeSetEnabled(exec, node, on);
}
