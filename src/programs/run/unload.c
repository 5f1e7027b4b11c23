/* Modules and libraries that the program unloads. Their rewritten kernels leave the device with them. Their
 * records stay for a while, because a launch in another thread may just have looked at them; what the report
 * says of them is added up by kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/watch.h"

enum { STAYING = 64 };

/* ---- The device -------------------------------------------------------------------------------- */

/* Its handles mean nothing, and it is launched no more. */
static void forget(run_variant *v) {
  atomic_store(&v->off, true);
  for (run_place *p = atomic_load(&v->places); p; p = p->next) {
    run_know_place(p->function, NULL);
    run_know_place(p->kernel, NULL);
    run_exec_forget(p);
  }
}

static void leave_place(run_place *p, unsigned long long context) {
  if (p->library && run_real.cuLibraryUnload) run_real.cuLibraryUnload(p->library);
  p->library = NULL;
  if (atomic_exchange(&p->dead, true) || p->context != context) return;
  run_place_free_memory(p);
}

/* Memory in another context than the current one cannot be freed now; it goes with its context. */
static void leave_variant(run_variant *v) {
  unsigned long long context = 0;
  const run_driver *d = &run_real;
  if (!d->cuCtxGetId || d->cuCtxGetId(NULL, &context) != CU_SUCCESS) context = 0;
  for (run_place *p = atomic_load(&v->places); p; p = p->next) leave_place(p, context);
  if (v->library && d->cuLibraryUnload) d->cuLibraryUnload(v->library);
  v->library = NULL;
}

static bool is_on_device(run_module *m) {
  for (run_kernel *k = m->kernels; k; k = k->next)
    for (run_variant *v = atomic_load(&k->variants); v; v = v->next)
      if (v->library || atomic_load(&v->places)) return true;
  return false;
}

/* Unloading and freeing may wait for kernels that run, and these for what the program does next. False: so it
 * would now. */
static bool leave_device(run_module *m, const unsigned long *own) {
  int mode = CU_CAPTURE_MODE_RELAXED;
  const run_driver *d = &run_real;
  if (!is_on_device(m)) return true;
  if (!d->cuThreadExchangeStreamCaptureMode || d->cuThreadExchangeStreamCaptureMode(&mode) != CU_SUCCESS)
    return false;
  const bool held = run_hold(own);
  for (run_kernel *k = m->kernels; k && held; k = k->next)
    for (run_variant *v = atomic_load(&k->variants); v; v = v->next) leave_variant(v);
  if (held) run_release();
  d->cuThreadExchangeStreamCaptureMode(&mode);
  return held;
}

/* ---- The records ------------------------------------------------------------------------------- */

static run_module ghosts; /* kernels that are gone, each name once */

static void add_up(const run_module *m, const run_kernel *k) {
  const unsigned long launches = atomic_load(&((run_kernel *)(uintptr_t)k)->launches),
                      steered = atomic_load(&((run_kernel *)(uintptr_t)k)->steered);
  const unsigned long nodes = atomic_load(&((run_kernel *)(uintptr_t)k)->nodes);
  run_kernel *g = launches || nodes ? run_kernel_of(&ghosts, k->name) : NULL;
  if (!g) return;
  atomic_fetch_add(&g->launches, launches);
  atomic_fetch_add(&g->nodes, nodes);
  atomic_fetch_add(&g->steered, steered);
  atomic_fetch_add(&g->early, atomic_load(&((run_kernel *)(uintptr_t)k)->early));
  atomic_fetch_add(&g->saved, atomic_load(&((run_kernel *)(uintptr_t)k)->saved));
  if (steered || nodes) memcpy(g->plan, k->plan, sizeof g->plan);
  if (steered < launches) snprintf(g->why, sizeof g->why, "%s", run_why(m, k));
}

static void free_variant(run_variant *v) {
  run_place *next;
  for (run_place *p = atomic_load(&v->places); p; p = next) {
    next = p->next;
    run_place_free(p);
  }
  hd_table_free(&v->table);
  run_variables_free(&v->variables);
  free(v->plan);
  hd_buf_free(&v->code);
  free(v->text);
  free(v);
}

void run_variant_drop(run_variant *v) {
  forget(v);
  leave_variant(v);
  free_variant(v);
}

static void free_module(run_module *m) {
  run_kernel *next_kernel;
  run_variant *next;
  for (run_kernel *k = m->kernels; k; k = next_kernel) {
    next_kernel = k->next;
    run_live_settle(k, true);
    add_up(m, k);
    run_notes_count(k);
    run_live_free(k);
    hd_vec_free(&k->notes);
    for (run_variant *v = atomic_load(&k->variants); v; v = next) {
      next = v->next;
      free_variant(v);
    }
    hd_vec_free(&k->wanted);
    run_levers_free(k);
    free(k->name);
    free(k->title);
    free(k);
  }
  free(m->own.data);
  run_variables_free(&m->globals);
  free(m);
}

static void unlist(run_module *m) {
  run_module **at = &run_modules;
  while (*at && *at != m) at = &(*at)->next;
  if (*at) *at = m->next;
}

/* Ends the stay of the one that has been gone for longest. */
static void retire(run_module *m) {
  static run_module *staying[STAYING];
  static size_t next;
  if (staying[next]) {
    unlist(staying[next]);
    free_module(staying[next]);
  }
  staying[next] = m;
  next = (next + 1) % STAYING;
}

/* The records of a module that has left the device. */
static void settle(run_module *m) {
  m->leaving = false;
  if (!run_watches) retire(m); /* launches that are watched are looked at again at the end */
}

void run_modules_leave(const unsigned long *own) {
  for (run_module *m = run_modules; m;) {
    if (!m->leaving) {
      m = m->next;
      continue;
    }
    if (!leave_device(m, own)) {
      run_some_later();
      return;
    }
    settle(m); /* which may free others */
    m = run_modules;
  }
}

void run_module_leave(run_module *m) {
  run_pairs_leave(m);
  for (run_kernel *k = m->kernels; k; k = k->next) run_live_leave(k);
  for (run_kernel *k = m->kernels; k; k = k->next)
    for (run_variant *v = atomic_load(&k->variants); v; v = v->next) forget(v);
  m->leaving = true;
  if (!ghosts.dead) { /* so that the report sees them */
    ghosts.dead = true;
    ghosts.next = run_modules;
    run_modules = &ghosts;
  }
  if (leave_device(m, NULL))
    settle(m);
  else
    run_some_later();
}
