/* Advice on a workload: the page that a person reads in a minute, and its JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heddle/container.h"
#include "report/analysis.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/table.h"

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *buffer_name(const hd_advice_report *s, uint32_t array) {
  return array < s->workload->n_buffers ? s->workload->buffers[array].name : "(others)";
}

/* ---- The page ------------------------------------------------------------------------ */

static void put_text(hd_buf *out, const char *label, const char *text) {
  enum { WIDTH = 100, INDENT = 12 };
  size_t column = INDENT;
  hd_buf_printf(out, "%-*s", INDENT, label);
  while (*text) {
    size_t word = strcspn(text, " ");
    if (column > INDENT && column + 1 + word > WIDTH) {
      hd_buf_printf(out, "\n%*s", INDENT, "");
      column = INDENT;
    } else if (column > INDENT) {
      hd_buf_puts(out, " ");
      column++;
    }
    hd_buf_printf(out, "%.*s", (int)word, text);
    column += word;
    text += word;
    while (*text == ' ') text++;
  }
  hd_buf_puts(out, "\n");
}

/* How addresses of the array come about, from the kernels' text. */
static const char *address_class(const hd_advice *a, int64_t array) {
  if (array < 0 || array >= (int64_t)a->sum.reuse.n_arrays || !a->buffers[array].sites) return "-";
  return hd_level_name(a->buffers[array].address);
}

static void put_array(hd_text_table *t, const char *name, const hd_advice *a, const hd_facts *f,
                      int64_t array) {
  const hd_reuse_row *r = array < 0 ? &f->reuse.all : &f->reuse.arrays[array];
  const hd_sharing_row *s = array < 0 ? &f->sharing.all : &f->sharing.arrays[array];
  const hd_pattern_row *p = array < 0 ? &f->pattern.all : &f->pattern.arrays[array];
  uint64_t reuse = r->lines.requests - r->lines.cold;
  hd_text_table_cell(t, "  %s", name);
  hd_text_table_cell(t, "%" PRIu64, r->lines.requests);
  hd_text_table_cell(t, "%.0f%%", percent(r->load_requests, r->lines.requests));
  hd_text_table_cell(t, "%.0f%%", percent(r->lines.intra_warp, reuse));
  hd_text_table_cell(t, "%.0f%%", percent(r->lines.intra_cta, reuse));
  hd_text_table_cell(t, "%.0f%%", percent(r->lines.inter_cta, reuse));
  hd_text_table_cell(t, "%.0f%%", percent(s->common, s->pairs));
  hd_text_table_cell(t, "%.0f%%", percent(s->along[0], s->pairs));
  hd_text_table_cell(t, "%.0f%%", percent(s->along[1], s->pairs));
  hd_text_table_cell(t, "%.0f%%", percent(s->along[2], s->pairs));
  hd_text_table_cell(t, "%.0f%%", percent(s->apart, s->pairs));
  hd_text_table_cell(t, "%.0f%%", percent(p->least_sectors, p->sectors));
  hd_text_table_cell(t, "%.0f%%", p->compared ? percent(p->followed, p->compared) : 100.0);
  hd_text_table_cell(t, "%s", address_class(a, array));
}

static void put_facts(const hd_advice_report *s, const hd_advice *a, const hd_facts *f, hd_buf *out) {
  static const char *const heads[] = {"  array", "requests",     "loads",   "in warp", "in CTA",
                                      "inter",   "by all",       "x",       "y",       "z",
                                      "apart",   "sectors used", "regular", "address"};
  hd_text_table *t = hd_text_table_new("lrrrrrrrrrrrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  report_put_head(t, heads, sizeof heads / sizeof *heads);
  put_array(t, "all", a, f, -1);
  for (uint32_t i = 0; i <= f->reuse.n_arrays; i++)
    if (f->reuse.arrays[i].lines.requests) put_array(t, buffer_name(s, i), a, f, i);
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

static void put_order_free(const hd_advice *a, hd_buf *out) {
  static const char *const how[] = {[HD_ORDER_FREE_CHECKED] = "checked on this input: no refusal, no race",
                                    [HD_ORDER_FREE_UNCHECKED] =
                                        "nothing in the kernel bars it; races were not looked for"};
  char text[600];
  if (a->order_free == HD_ORDER_FREE_NO)
    snprintf(text, sizeof text, "no: %s", a->order_why);
  else
    snprintf(text, sizeof text, "%s", how[a->order_free]);
  put_text(out, "order free", text);
}

/* How much of the GPU is busy. */
static void put_occupancy(const hd_advice_report *s, hd_buf *out) {
  char text[320];
  if (!s->advice->baseline.resident) return;
  hd_filling f = hd_find_filling(s->workload, s->advice->baseline.resident, s->gpu);
  hd_filling_print(&f, s->gpu, text, sizeof text);
  put_text(out, "occupancy", text);
  if (f.few) put_text(out, "", "Latency decides the time of so small a launch, not bandwidth.");
}

static void put_proposals(const hd_advice_report *s, hd_buf *out) {
  const hd_advice *a = s->advice;
  if (!a->n_proposals) {
    put_text(out, "proposals",
             a->order_free == HD_ORDER_FREE_NO ? "none: the order is not free"
                                               : "none: no plan tried is predicted to help");
    return;
  }
  hd_text_table *t = hd_text_table_new("llrrrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const heads[] = {"proposals",  "plan",       "time",   "L1 hits",
                                      "L2 sectors", "DRAM bytes", "because"};
  const hd_counters *b = &a->baseline;
  report_put_head(t, heads, sizeof heads / sizeof *heads);
  for (uint32_t i = 0; i < a->n_proposals; i++) {
    const hd_proposal *p = &a->proposals[i];
    const hd_counters *c = &p->counters;
    hd_text_table_cell(t, "  %u", i + 1);
    report_plan_cell(t, &p->plan);
    if (p->predicted) {
      hd_text_table_cell(t, "%.2fx", p->speedup);
      hd_text_table_cell(t, "%+.1f", percent(c->l1_hits, c->l1_sectors) - percent(b->l1_hits, b->l1_sectors));
      hd_text_table_cell(t, "%+.0f%%", percent(c->l2_sectors, b->l2_sectors) - 100);
      hd_text_table_cell(t, "%+.0f%%", percent(hd_counters_dram(c), hd_counters_dram(b)) - 100);
    } else {
      for (int k = 0; k < 4; k++) hd_text_table_cell(t, "?");
    }
    hd_text_table_cell(t, "%s", p->reason);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  report_put_lacks(s->gpu, b->warp_cycles > 0, out);
}

void hd_advice_text(const hd_advice_report *s, hd_buf *out) {
  const hd_advice *a = s->advice;
  hd_buf category = {0};
  char text[256];
  hd_category_print(a->category, &category);
  hd_buf_printf(out, "%s (%s) on %s\n\n", s->workload->name, s->workload->size, s->gpu->title);
  put_text(out, "category", category.data ? category.data : "");
  put_text(out, "", a->evidence);
  if (a->direction) {
    snprintf(text, sizeof text, "%c: with the next CTA along x, y, z are shared %.0f%%, %.0f%%, %.0f%% (%s)",
             a->direction, 100 * a->along[0], 100 * a->along[1], 100 * a->along[2], a->partition);
    put_text(out, "direction", text);
  } else {
    put_text(out, "direction", "none: neighbours share nothing");
  }
  put_order_free(a, out);
  for (uint32_t i = 0; i < a->n_refusals; i++) {
    hd_buf why = {0};
    hd_kernel_title(a->refused_kernels[i], false, &why);
    hd_buf_printf(&why, ", line %u: %s", a->refusals[i].line, a->refusals[i].what);
    put_text(out, "refusal", why.data ? why.data : "");
    hd_buf_free(&why);
  }
  const hd_reuse *r = &a->sum.reuse;
  snprintf(text, sizeof text,
           "%" PRIu64 " to %" PRIu64 " warp instructions a CTA (mean %.0f), %" PRIu64 " to %" PRIu64
           " lines (mean %.0f)",
           r->work.least, r->work.most, r->work.mean, r->footprint.least, r->footprint.most,
           r->footprint.mean);
  put_text(out, "work", text);
  put_occupancy(s, out);
  hd_buf_puts(
      out,
      "\nreuse of lines: where it happens; of the lines that CTAs touch: shared with all, with the next\n"
      "CTA along x, y, z, with others only\n");
  put_facts(s, a, &a->sum, out);
  for (uint32_t i = 0; s->verbose && i < a->n_launches; i++) {
    if (!a->launches[i].reuse.arrays) continue;
    hd_buf_printf(out, "\nlaunch %u: ", i + 1);
    hd_kernel_title(s->workload->launches[i].kernel, false, out);
    hd_buf_putc(out, '\n');
    put_facts(s, a, &a->launches[i], out);
  }
  hd_buf_puts(out, "\n");
  put_proposals(s, out);
  hd_buf_free(&category);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *shares_json(const hd_reuse_shares *s) {
  uint64_t reuse = s->requests - s->cold;
  double of = reuse ? (double)reuse : 1;
  return json_pack("{s:I, s:I, s:f, s:f, s:f}", "requests", (json_int_t)s->requests, "cold",
                   (json_int_t)s->cold, "intra_warp", (double)s->intra_warp / of, "intra_cta",
                   (double)s->intra_cta / of, "inter_cta", (double)s->inter_cta / of);
}

static json_t *array_json(const char *name, const hd_facts *f, uint32_t i) {
  const hd_reuse_row *r = &f->reuse.arrays[i];
  const hd_sharing_row *s = &f->sharing.arrays[i];
  const hd_pattern_row *p = &f->pattern.arrays[i];
  double pairs = s->pairs ? (double)s->pairs : 1;
  json_t *j =
      json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "array", name, "loads", (json_int_t)r->load_requests,
                "stores", (json_int_t)r->store_requests, "atomics", (json_int_t)r->atomic_requests, "reuse",
                shares_json(&r->lines), "reuse_words", shares_json(&r->words));
  if (!j) return NULL;
  json_object_set_new(j, "shared",
                      json_pack("{s:f, s:f, s:f, s:f, s:f}", "all", (double)s->common / pairs, "x",
                                (double)s->along[0] / pairs, "y", (double)s->along[1] / pairs, "z",
                                (double)s->along[2] / pairs, "apart", (double)s->apart / pairs));
  json_object_set_new(j, "sectors_used", json_real(percent(p->least_sectors, p->sectors) / 100));
  json_object_set_new(j, "regular", json_real(p->compared ? percent(p->followed, p->compared) / 100 : 1));
  return j;
}

static json_t *arrays_json(const hd_advice_report *s, const hd_facts *f) {
  json_t *list = json_array();
  for (uint32_t i = 0; f->reuse.arrays && i <= f->reuse.n_arrays; i++)
    if (f->reuse.arrays[i].lines.requests) json_array_append_new(list, array_json(buffer_name(s, i), f, i));
  return list;
}

static json_t *launches_json(const hd_advice_report *s, const hd_advice *a) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < a->n_launches; i++) {
    const hd_facts *f = &a->launches[i];
    if (!f->reuse.arrays) continue;
    json_array_append_new(list, json_pack("{s:i, s:s, s:o, s:o}", "launch", (int)i, "kernel",
                                          s->workload->launches[i].kernel, "reuse",
                                          shares_json(&f->reuse.all.lines), "arrays", arrays_json(s, f)));
  }
  return list;
}

static json_t *proposals_json(const hd_advice *a) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < a->n_proposals; i++) {
    const hd_proposal *p = &a->proposals[i];
    json_t *j = json_pack("{s:o, s:s}", "plan", report_plan_json(&p->plan), "reason", p->reason);
    if (j && p->predicted) {
      json_object_set_new(j, "speedup", json_real(p->speedup));
      json_object_set_new(j, "counters", report_counters_json(&p->counters, 0));
    }
    json_array_append_new(list, j);
  }
  return list;
}

json_t *report_advice_json(const hd_advice_report *s) {
  const hd_advice *a = s->advice;
  static const char *const how[] = {[HD_ORDER_FREE_CHECKED] = "checked on this input",
                                    [HD_ORDER_FREE_UNCHECKED] = "unchecked",
                                    [HD_ORDER_FREE_NO] = "no"};
  hd_buf category = {0};
  char direction[2] = {a->direction, 0};
  hd_category_print(a->category, &category);
  json_t *refusals = json_array();
  for (uint32_t i = 0; i < a->n_refusals; i++)
    json_array_append_new(refusals, json_pack("{s:s, s:s, s:i, s:s}", "kernel", a->refused_kernels[i], "kind",
                                              hd_refusal_name(a->refusals[i].kind), "line",
                                              (int)a->refusals[i].line, "what", a->refusals[i].what));
  json_t *j =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "workload", s->workload->name, "size",
                s->workload->size, "gpu", s->gpu->name, "category", category.data ? category.data : "",
                "evidence", a->evidence, "direction", direction, "partition", a->partition);
  hd_buf_free(&category);
  if (!j) return NULL;
  const hd_reuse *r = &a->sum.reuse;
  json_object_set_new(j, "along", json_pack("[f, f, f]", a->along[0], a->along[1], a->along[2]));
  json_object_set_new(j, "reuse", shares_json(&r->all.lines));
  json_object_set_new(j, "reuse_words", shares_json(&r->all.words));
  json_object_set_new(j, "arrays", arrays_json(s, &a->sum));
  json_object_set_new(j, "launches", launches_json(s, a));
  json_object_set_new(j, "work",
                      json_pack("{s:I, s:I, s:f}", "least", (json_int_t)r->work.least, "most",
                                (json_int_t)r->work.most, "mean", r->work.mean));
  json_object_set_new(j, "order_free", json_string(how[a->order_free]));
  if (a->order_free == HD_ORDER_FREE_NO) json_object_set_new(j, "order_why", json_string(a->order_why));
  json_object_set_new(j, "refusals", refusals);
  if (a->baseline.time_us > 0) json_object_set_new(j, "baseline", report_counters_json(&a->baseline, 0));
  if (a->baseline.resident) {
    hd_filling f = hd_find_filling(s->workload, a->baseline.resident, s->gpu);
    json_object_set_new(j, "occupancy",
                        json_pack("{s:I, s:i, s:i, s:i, s:i, s:b}", "ctas", (json_int_t)f.tasks, "warps",
                                  (int)f.warps, "resident", (int)f.resident, "busy_sms", (int)f.busy_sms,
                                  "warps_at_once", (int)f.warps_at_once, "few", (int)f.few));
  }
  json_object_set_new(j, "proposals", proposals_json(a));
  return j;
}
