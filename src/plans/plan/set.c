/* Copies of plans and of sets of plans, and their release. */
#include "heddle/plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- Plans -------------------------------------------------------------------------- */

void hd_plan_free(hd_plan *p) {
  free(p->order.file);
  free(p->threads.file);
  free(p->stream.loads);
  free(p->sms.ranges);
  *p = (hd_plan){0};
}

/* NULL stays NULL; false when out of memory. */
static bool copy_text(char **text) {
  if (!*text) return true;
  *text = strdup(*text);
  return *text != NULL;
}

static void *copy_list(const void *list, size_t n, size_t size) {
  void *copy = malloc(n * size);
  if (copy) memcpy(copy, list, n * size);
  return copy;
}

hd_status hd_plan_copy(const hd_plan *p, hd_plan *out, hd_diag *d) {
  hd_plan copy = *p;
  copy.stream.loads = NULL;
  copy.sms.ranges = NULL;
  bool order = copy_text(&copy.order.file), threads = copy_text(&copy.threads.file);
  bool ok = order && threads;
  if (p->stream.n)
    ok &= (copy.stream.loads = copy_list(p->stream.loads, p->stream.n, sizeof(uint32_t))) != NULL;
  if (p->sms.n) ok &= (copy.sms.ranges = copy_list(p->sms.ranges, p->sms.n, sizeof(hd_sm_range))) != NULL;
  if (!ok) hd_plan_free(&copy);
  *out = copy;
  return ok ? HD_OK : hd_nomem(d);
}

bool hd_plan_join(const hd_plan *p, const hd_plan *q, hd_plan *out) {
  hd_plan r = *p;
  if (r.order.kind == HD_ORDER_ROW && r.shape.kind == HD_SHAPE_LAUNCH) {
    r.order = q->order;
    r.shape = q->shape;
  }
  if (r.bind == HD_BIND_NONE && q->bind != HD_BIND_NONE) {
    r.bind = q->bind;
    r.agents = q->agents;
    r.agents_voted = q->agents_voted;
    r.split = q->split;
    r.take = q->take;
  }
  if (r.threads.kind == HD_ORDER_ROW) {
    r.threads = q->threads;
    r.threads_in_cta = q->threads_in_cta;
  }
  /* Beside stream=l1 nothing is left to bypass. */
  if (r.bypass.kind == HD_BYPASS_NONE && r.stream.kind != HD_STREAM_L1) {
    r.bypass = q->bypass;
    r.form = q->form;
  }
  if (r.stream.kind == HD_STREAM_NONE && (q->stream.kind != HD_STREAM_L1 || r.bypass.kind == HD_BYPASS_NONE))
    r.stream = q->stream;
  if (r.prefetch.kind == HD_PREFETCH_NONE) r.prefetch = q->prefetch;
  *out = r;
  return !hd_plan_equal(&r, p);
}

/* ---- Sets --------------------------------------------------------------------------- */

static void free_kernel(hd_kernel_plan *k) {
  free((char *)k->kernel);
  hd_plan_free(&k->plan);
}

void hd_plan_set_free(hd_plan_set *s) {
  hd_plan_free(&s->all);
  for (size_t i = 0; i < s->n; i++) free_kernel(&s->kernels[i]);
  free(s->kernels);
  *s = (hd_plan_set){0};
}

static int64_t find(const hd_plan_set *s, const char *kernel) {
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->kernels[i].kernel, kernel) == 0) return (int64_t)i;
  return -1;
}

const hd_plan *hd_plan_set_of(const hd_plan_set *s, const char *kernel) {
  int64_t at = find(s, kernel);
  return at < 0 ? &s->all : &s->kernels[at].plan;
}

static hd_status add_kernel(hd_plan_set *s, const char *kernel, const hd_plan *owned, hd_diag *d) {
  hd_kernel_plan *more = realloc(s->kernels, (s->n + 1) * sizeof *more);
  if (more) s->kernels = more;
  char *name = more ? strdup(kernel) : NULL;
  if (!name) return hd_nomem(d);
  s->kernels[s->n++] = (hd_kernel_plan){name, *owned};
  return HD_OK;
}

hd_status hd_plan_set_put(hd_plan_set *s, const char *kernel, const hd_plan *p, hd_diag *d) {
  hd_plan copy;
  hd_status st = hd_plan_copy(p, &copy, d);
  if (st != HD_OK) return st;
  int64_t at = kernel ? find(s, kernel) : -1;
  if (kernel && at < 0) {
    st = add_kernel(s, kernel, &copy, d);
    if (st != HD_OK) hd_plan_free(&copy);
    return st;
  }
  hd_plan *place = kernel ? &s->kernels[at].plan : &s->all;
  hd_plan_free(place);
  *place = copy;
  return HD_OK;
}

hd_status hd_plan_set_copy(const hd_plan_set *s, hd_plan_set *out, hd_diag *d) {
  *out = (hd_plan_set){0};
  hd_status st = hd_plan_copy(&s->all, &out->all, d);
  for (size_t i = 0; st == HD_OK && i < s->n; i++)
    st = hd_plan_set_put(out, s->kernels[i].kernel, &s->kernels[i].plan, d);
  if (st != HD_OK) hd_plan_set_free(out);
  return st;
}

/* Every kernel that a names has the same plan in b. */
static bool agrees(const hd_plan_set *a, const hd_plan_set *b) {
  for (size_t i = 0; i < a->n; i++)
    if (!hd_plan_equal(&a->kernels[i].plan, hd_plan_set_of(b, a->kernels[i].kernel))) return false;
  return true;
}

bool hd_plan_set_equal(const hd_plan_set *a, const hd_plan_set *b) {
  return hd_plan_equal(&a->all, &b->all) && agrees(a, b) && agrees(b, a);
}

bool hd_plan_set_is_baseline(const hd_plan_set *s) { return hd_plan_set_equal(s, &(hd_plan_set){0}); }

void hd_plan_set_print(const hd_plan_set *s, hd_buf *out) {
  hd_plan_print(&s->all, out);
  for (size_t i = 0; i < s->n; i++) {
    hd_buf_printf(out, "; %s: ", s->kernels[i].kernel);
    hd_plan_print(&s->kernels[i].plan, out);
  }
}
