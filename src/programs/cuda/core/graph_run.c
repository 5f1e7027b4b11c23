/* Launches of graphs: their steps in an order that keeps to the edges. */
#include <stdlib.h>

#include "cuda/core/order.h"

typedef struct graph_work {
  core_work work;
  core_graph_exec *exec;
  uint64_t number; /* of the launch: with the seed it decides the order */
} graph_work;

/* The event stands for the steps before. */
static cu_result record(core_event *e) {
  pthread_mutex_lock(&core.lock);
  core_op *now = e->kind == CORE_EVENT ? core_op_now() : NULL;
  if (now) {
    core_op_release(e->op);
    e->op = now;
    e->capture = NULL;
  }
  pthread_mutex_unlock(&core.lock);
  return now || e->kind != CORE_EVENT ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

/* A launch that is under way. The order of its steps is kept for the check of streams. */
typedef struct run {
  uint64_t number;
  uint32_t steps; /* that have begun */
} run;

/* The work that a step comes behind: `before`, which all of its graph does, and the steps that its edges lead
 * to, with what these come behind. */
static bool gather(const struct core_step *s, const core_steps *before, const core_steps *behind,
                   core_steps *out) {
  bool ok = core_steps_join(out, before);
  for (uint32_t k = 0; ok && k < s->n_after; k++) ok = core_steps_join(out, &behind[s->after[k]]);
  return ok;
}

static cu_result run_steps(const core_graph_exec *e, run *r, const core_steps *before, core_steps *all);

/* `behind` is what the step comes behind, and then also the step itself. */
static cu_result run_step(const struct core_step *s, run *r, core_steps *behind) {
  if (s->off) return CU_SUCCESS;
  if (s->child) {
    core_steps inner = {0};
    cu_result result = run_steps(s->child, r, behind, &inner);
    if (result == CU_SUCCESS && !core_steps_join(behind, &inner)) result = CU_OUT_OF_MEMORY;
    hd_vec_free(&inner);
    return result;
  }
  if (s->type == CU_NODE_RECORD) return record(s->event);
  if (!s->work) return CU_SUCCESS;
  const uint32_t step = ++r->steps;
  core_order_begin_step(step, behind, s->work->kind);
  const cu_result result = s->work->run(s->work);
  core_order_end_step();
  return core_steps_add(behind, step) ? result : CU_OUT_OF_MEMORY;
}

/* The step that runs next: the first as they were added, or with a seed any. */
static size_t pick(const core_graph_exec *e, const bool *done, size_t ran, uint64_t number) {
  size_t picked = e->n, n = 0;
  for (size_t k = 0; k < e->n; k++) {
    bool ready = !done[k];
    for (uint32_t i = 0; ready && i < e->steps[k].n_after; i++) ready = done[e->steps[k].after[i]];
    if (!ready || (picked < e->n && !core.settings.seed)) continue;
    n++;
    if (picked == e->n || hd_random_at(core.settings.seed ^ number, ran * e->n + k) % n == 0) picked = k;
  }
  return picked;
}

/* `all` gets the steps that ran. */
static cu_result run_steps(const core_graph_exec *e, run *r, const core_steps *before, core_steps *all) {
  bool *done = calloc(e->n + 1, sizeof *done);
  core_steps *behind = calloc(e->n + 1, sizeof *behind);
  cu_result result = done && behind ? CU_SUCCESS : CU_OUT_OF_MEMORY;
  for (size_t ran = 0; result == CU_SUCCESS && ran < e->n; ran++) {
    const size_t k = pick(e, done, ran, r->number);
    done[k] = true;
    if (!gather(&e->steps[k], before, behind, &behind[k])) result = CU_OUT_OF_MEMORY;
    if (result == CU_SUCCESS) result = run_step(&e->steps[k], r, &behind[k]);
    if (result == CU_SUCCESS && !core_steps_join(all, &behind[k])) result = CU_OUT_OF_MEMORY;
  }
  for (size_t k = 0; behind && k < e->n; k++) hd_vec_free(&behind[k]);
  free(behind);
  free(done);
  return result;
}

static cu_result run_graph(core_work *base) {
  const graph_work *w = (const graph_work *)base;
  run r = {.number = w->number};
  const core_steps none = {0};
  core_steps all = {0};
  const cu_result result = run_steps(w->exec, &r, &none, &all);
  hd_vec_free(&all);
  return result;
}

static void drop_graph(core_work *base) { core_graph_exec_release(((graph_work *)base)->exec); }

static cu_result nothing(core_work *w) { return CU_SUCCESS; }

/* A graph waits for its events before it begins: its own steps cannot make them. */
static cu_result wait_for_events(const core_graph_exec *e, core_stream *s) {
  cu_result r = CU_SUCCESS;
  for (size_t k = 0; r == CU_SUCCESS && k < e->n; k++) {
    const struct core_step *step = &e->steps[k];
    if (step->child) r = wait_for_events(step->child, s);
    if (r != CU_SUCCESS || step->type != CU_NODE_WAIT || step->off || step->event->kind != CORE_EVENT)
      continue;
    core_work *w = core_work_new(CORE_WORK_EMPTY, sizeof *w, s->context, nothing);
    r = w ? core_submit(s, w, step->event->op, NULL) : CU_OUT_OF_MEMORY;
  }
  return r;
}

/* Until the graph has run, its events stand for all of it. */
static void promise(const core_graph_exec *e, core_op *op) {
  for (size_t k = 0; k < e->n; k++) {
    const struct core_step *step = &e->steps[k];
    if (step->child) promise(step->child, op);
    if (step->type != CU_NODE_RECORD || step->event->kind != CORE_EVENT) continue;
    core_op_release(step->event->op);
    step->event->op = op;
    step->event->capture = NULL;
    op->refs++;
  }
}

static bool may_wait(const core_graph_exec *e) {
  bool any = false;
  for (size_t k = 0; k < e->n && !any; k++)
    any = e->steps[k].child ? may_wait(e->steps[k].child) : e->steps[k].work && e->steps[k].work->may_wait;
  return any;
}

/* One launch of an executable graph runs at a time. */
cu_result core_graph_launch(core_graph_exec *e, core_stream *s) {
  cu_result r = wait_for_events(e, s);
  if (r != CU_SUCCESS) return r;
  graph_work *w = core_work_new(CORE_WORK_GRAPH, sizeof *w, s->context, run_graph);
  if (!w) return CU_OUT_OF_MEMORY;
  w->work.drop = drop_graph;
  w->work.may_wait = may_wait(e);
  w->exec = e;
  e->refs++;
  w->number = ++core.next_id;
  core_op *op;
  r = core_submit(s, &w->work, e->last, &op);
  if (op && op->state != CORE_DONE) promise(e, op);
  if (!op) return r;
  core_op_release(e->last);
  e->last = op;
  return r;
}
