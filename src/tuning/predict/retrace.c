#include "predict/retrace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "launch/runner.h"

enum { MOST_UNUSED = 4 }; /* traces kept that no replay uses at the moment */

/* ---- Taking traces ------------------------------------------------------------------ */

static hd_status run_hooked(runner *r, hd_trace **traces, hd_diag *d) {
  const hd_emu_hooks **hooks = calloc((size_t)r->w->n_launches + 1, sizeof *hooks);
  if (!hooks) return hd_nomem(d);
  for (uint32_t i = 0; i < r->w->n_launches; i++) hooks[i] = hd_trace_hooks(traces[i]);
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  hd_status st = runner_run(r, &how, hooks, NULL, d);
  free(hooks);
  /* A launch that its trace has stopped: the trace knows why. */
  hd_diag why;
  for (uint32_t i = 0; st == HD_ERR_BUDGET && i < r->w->n_launches; i++) {
    const hd_status stopped = hd_trace_finish(traces[i], &why);
    if (stopped != HD_ERR_BUDGET && stopped != HD_ERR_NOMEM) continue;
    if (d) *d = why;
    return stopped;
  }
  return st;
}

hd_status retrace_take(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o, bool timed,
                       const retrace_contents *first, hd_trace **traces, uint32_t *shared,
                       uint64_t *addresses, hd_diag *d) {
  const hd_workload *w = code->workload;
  hd_run_options run = *o;
  runner r = {0};
  hd_meter meter;
  uint64_t tasks = 0;
  hd_status st = HD_OK;
  run.machine.threads = run.machine.threads ? run.machine.threads : hd_cpu_count();
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++)
    st = hd_trace_create(w->launches[i].grid, w->launches[i].block, run.machine.threads, 0, &traces[i], d);
  if (st == HD_OK) st = runner_open(&r, code, plans, &run, HD_CHECK_BOUNDS, d);
  for (uint32_t i = 0; st == HD_OK && timed && i < w->n_launches; i++)
    st = hd_trace_keep_paths(traces[i], r.module, d);
  if (st == HD_OK && first)
    runner_fill_from(&r, first->bytes, first->filled);
  else if (st == HD_OK)
    st = runner_fill(&r, d);
  if (st == HD_OK && !plans) predict_skip_products(code, &r);
  const uint64_t most = record_most(&run);
  for (uint32_t i = 0; st == HD_OK && most && i < w->n_launches; i++) hd_trace_set_most(traces[i], most);
  if (st == HD_OK) record_bound(&r, most);
  for (uint32_t i = 0; st == HD_OK && !plans && i < w->n_launches; i++) {
    tasks += hd_trace_tasks(traces[i]);
    hd_trace_set_meter(traces[i], &meter);
  }
  meter = hd_meter_begin(&run.watch, "tracing", tasks);
  if (st == HD_OK) st = run_hooked(&r, traces, d);
  hd_meter_end(&meter);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    if (shared)
      shared[i] = hd_emu_static_shared(r.program, w->launches[i].kernel) + w->launches[i].dynamic_shared;
    hd_trace_set_meter(traces[i], NULL);
    st = hd_trace_finish(traces[i], d);
  }
  for (uint32_t i = 0; st == HD_OK && addresses && i < w->n_buffers; i++)
    addresses[i] = hd_trace_address(r.addresses[i]);
  if (r.w) runner_close(&r);
  return st;
}

/* ---- Parts of a plan --------------------------------------------------------------------- */

bool retrace_is_needed(const hd_plan *p) { return hd_plan_changes_tasks(p); }

/* With prefetching the task that is fetched for depends on the order, and on the binding by redirection. */
hd_plan retrace_part(const hd_plan *p) {
  hd_plan t = {.threads = p->threads,
               .threads_in_cta = p->threads_in_cta,
               .bypass = p->bypass,
               .stream = p->stream,
               .form = p->form};
#define HD_LEVER_STEP(name, ...) t.name = p->name;
#include "heddle/levers.def"
  if (p->prefetch.kind == HD_PREFETCH_NONE && !p->shape.loop) return t;
  t.order = p->order;
  t.shape = p->shape;
  if (p->bind != HD_BIND_REDIRECT) return t;
  t.bind = p->bind;
  t.split = p->split;
  return t;
}

hd_plan retrace_rest(const hd_plan *p) {
  hd_plan r = *p, none = {0};
  if (p->prefetch.kind != HD_PREFETCH_NONE || p->shape.loop) {
    r.order = none.order;
    r.shape = none.shape;
    if (p->bind == HD_BIND_REDIRECT) {
      r.bind = none.bind;
      r.split = none.split;
    }
  }
  r.threads = none.threads;
  r.threads_in_cta = none.threads_in_cta;
  r.stream = none.stream;
  if (p->bypass.kind != HD_BYPASS_AUTO) r.bypass = none.bypass; /* the SMs of a replay differ */
  r.form = none.form;
#define HD_LEVER_STEP(name, ...) r.name = none.name;
#include "heddle/levers.def"
  return r;
}

/* ---- The store -------------------------------------------------------------------------------- */

typedef struct entry {
  struct entry *next; /* the one used last comes first */
  char *plans;        /* notation, kernel by kernel */
  unsigned n_sms;     /* that clusters of bind=redirect depend on; 0: none do */
  unsigned users;
  hd_trace **traces;
  recording *recorded; /* whose they are; NULL: their own */
} entry;

struct retrace_store {
  const hd_workload *w;
  pthread_mutex_t lock; /* held while traces are taken, too: that uses all threads by itself */
  entry *entries;
};

retrace_store *retrace_open(const hd_workload *w) {
  retrace_store *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->w = w;
  pthread_mutex_init(&s->lock, NULL);
  return s;
}

static void free_entry(const retrace_store *s, entry *e) {
  for (uint32_t i = 0; e->traces && !e->recorded && i < s->w->n_launches; i++)
    if (e->traces[i]) hd_trace_destroy(e->traces[i]);
  if (!e->recorded) free(e->traces);
  record_close(e->recorded);
  free(e->plans);
  free(e);
}

void retrace_close(retrace_store *s) {
  if (!s) return;
  while (s->entries) {
    entry *e = s->entries;
    s->entries = e->next;
    free_entry(s, e);
  }
  pthread_mutex_destroy(&s->lock);
  free(s);
}

/* Free the oldest unused traces, but for so many. */
static void drop_unused(retrace_store *s) {
  unsigned unused = 0;
  for (entry **at = &s->entries; *at;) {
    entry *e = *at;
    if (!e->users && ++unused > MOST_UNUSED) {
      *at = e->next;
      free_entry(s, e);
    } else {
      at = &e->next;
    }
  }
}

static entry *find(retrace_store *s, const char *plans, unsigned n_sms) {
  for (entry **at = &s->entries; *at; at = &(*at)->next) {
    entry *e = *at;
    if (e->n_sms != n_sms || strcmp(e->plans, plans) != 0) continue;
    *at = e->next;
    e->next = s->entries;
    return s->entries = e;
  }
  return NULL;
}

/* Takes `text` over. */
static hd_status make(retrace_store *s, const hd_resolved *plans, const hd_run_options *o, bool timed,
                      unsigned n_sms, char *text, const record_options *how, hd_diag *d) {
  entry *e = calloc(1, sizeof *e);
  if (!e || !(e->traces = calloc((size_t)s->w->n_launches + 1, sizeof *e->traces))) {
    free(e);
    free(text);
    return hd_nomem(d);
  }
  e->plans = text;
  e->n_sms = n_sms;
  hd_status st = how ? record_open(plans->code, plans, o, how, &e->recorded, d)
                     : retrace_take(plans->code, plans, o, timed, NULL, e->traces, NULL, NULL, d);
  if (st == HD_OK && how) {
    free(e->traces);
    e->traces = e->recorded->traces;
  }
  if (st != HD_OK) {
    free_entry(s, e);
    return st;
  }
  e->next = s->entries;
  s->entries = e;
  return HD_OK;
}

static void print_plans(const hd_resolved *plans, hd_buf *out) {
  for (uint32_t k = 0; k < plans->code->n_kernels; k++) {
    if (k) hd_buf_puts(out, "; ");
    hd_plan_print(&plans->kernels[k].plan, out);
  }
}

/* The SMs matter to clusters of bind=redirect alone: other plans share their traces among all GPUs. */
static bool depends_on_sms(const hd_resolved *plans) {
  for (uint32_t k = 0; k < plans->code->n_kernels; k++)
    if (plans->kernels[k].plan.bind != HD_BIND_NONE) return true;
  return false;
}

hd_status retrace_acquire(retrace_store *s, const hd_resolved *plans, const hd_run_options *o, bool timed,
                          const record_options *how, recording **recorded, hd_trace *const **traces,
                          hd_diag *d) {
  hd_buf text = {0};
  unsigned n_sms = depends_on_sms(plans) ? o->machine.n_sms : 0;
  print_plans(plans, &text);
  if (text.failed || !text.data) {
    hd_buf_free(&text);
    return hd_nomem(d);
  }
  pthread_mutex_lock(&s->lock);
  hd_status st = HD_OK;
  if (find(s, text.data, n_sms))
    hd_buf_free(&text);
  else
    st = make(s, plans, o, timed, n_sms, text.data, how, d);
  if (st == HD_OK) {
    s->entries->users++;
    *traces = s->entries->traces;
    *recorded = s->entries->recorded;
    drop_unused(s);
  }
  pthread_mutex_unlock(&s->lock);
  return st;
}

void retrace_release(retrace_store *s, hd_trace *const *traces) {
  pthread_mutex_lock(&s->lock);
  for (entry *e = s->entries; e; e = e->next)
    if (e->traces == traces) e->users--;
  drop_unused(s);
  pthread_mutex_unlock(&s->lock);
}
