/* Plans put together: tables, joined plans, sets. */
#include "heddle/plan.h"

#include <string.h>

/* ---- Plans -------------------------------------------------------------------------- */

const hd_plan hd_plan_original;

hd_status hd_plan_order_by(hd_plan *p, const char *path, hd_diag *d) {
  const size_t n = strlen(path);
  if (n >= sizeof p->table)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "%.200s...: a table's file has a name of at most %zu bytes, not %zu", path,
                   sizeof p->table - 1, n);
  p->order = (hd_order){.kind = HD_ORDER_TABLE};
  memcpy(p->table, path, n + 1);
  return HD_OK;
}

bool hd_plan_join(const hd_plan *p, const hd_plan *q, hd_plan *out) {
  hd_plan r = *p;
  if (r.order.kind == HD_ORDER_ROW && r.shape.kind == HD_SHAPE_LAUNCH) {
    r.order = q->order;
    memcpy(r.table, q->table, sizeof r.table);
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

const hd_plan_set hd_plan_set_original;

static int64_t find(const hd_plan_set *s, const char *kernel) {
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->kernels[i].kernel, kernel) == 0) return (int64_t)i;
  return -1;
}

const hd_plan *hd_plan_set_of(const hd_plan_set *s, const char *kernel) {
  int64_t at = find(s, kernel);
  return at < 0 ? &s->all : &s->kernels[at].plan;
}

void hd_plan_set_put(hd_plan_set *s, const char *kernel, const hd_plan *p) {
  const int64_t at = kernel ? find(s, kernel) : -1;
  if (!kernel)
    s->all = *p;
  else if (at >= 0)
    s->kernels[at].plan = *p;
  else
    s->kernels[s->n++] = (hd_kernel_plan){kernel, *p};
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

bool hd_plan_set_is_baseline(const hd_plan_set *s) { return hd_plan_set_equal(s, &hd_plan_set_original); }

void hd_plan_set_print(const hd_plan_set *s, hd_buf *out) {
  hd_plan_print(&s->all, out);
  for (size_t i = 0; i < s->n; i++) {
    hd_buf_printf(out, "; %s: ", s->kernels[i].kernel);
    hd_plan_print(&s->kernels[i].plan, out);
  }
}
