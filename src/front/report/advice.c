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

/* How addresses of the array come about, from the kernels' text. */
static const char *address_class(const hd_advice *a, int64_t array) {
  if (array < 0 || array >= (int64_t)a->sum.reuse.n_arrays || !a->buffers[array].sites) return "-";
  return hd_level_name(a->buffers[array].address);
}

/* ---- An array ------------------------------------------------------------------------------------- */

/* What is known of an array's accesses, or of all arrays'. */
typedef struct shown {
  const char *name, *address;
  const hd_reuse_row *reuse;
  const hd_sharing_row *sharing;
  const hd_pattern_row *pattern;
} shown;

static shown show(const hd_advice_report *s, const hd_facts *f, int64_t array) {
  if (array < 0)
    return (shown){"all", address_class(s->advice, array), &f->reuse.all, &f->sharing.all, &f->pattern.all};
  return (shown){buffer_name(s, (uint32_t)array), address_class(s->advice, array), &f->reuse.arrays[array],
                 &f->sharing.arrays[array], &f->pattern.arrays[array]};
}

static void put_name(const void *row, hd_buf *out) { hd_buf_printf(out, "  %s", ((const shown *)row)->name); }
static const hd_reuse_row *reuse_of(const void *row) { return ((const shown *)row)->reuse; }
static const hd_sharing_row *sharing_of(const void *row) { return ((const shown *)row)->sharing; }
static double loads(const void *row) {
  return report_rate(reuse_of(row)->load_requests, reuse_of(row)->lines.requests);
}
static double pairs(const void *row, uint64_t shared) { return report_rate(shared, sharing_of(row)->pairs); }
static double by_all(const void *row) { return pairs(row, sharing_of(row)->common); }
static double along_x(const void *row) { return pairs(row, sharing_of(row)->along[0]); }
static double along_y(const void *row) { return pairs(row, sharing_of(row)->along[1]); }
static double along_z(const void *row) { return pairs(row, sharing_of(row)->along[2]); }
static double apart(const void *row) { return pairs(row, sharing_of(row)->apart); }
static double sectors_used(const void *row) {
  const hd_pattern_row *p = ((const shown *)row)->pattern;
  return report_rate(p->least_sectors, p->sectors);
}
static double regular(const void *row) {
  const hd_pattern_row *p = ((const shown *)row)->pattern;
  return p->compared ? report_rate(p->followed, p->compared) : 1;
}

/* Where lines are used again, of hd_reuse_shares. */
static double of_reuse(const hd_reuse_shares *s, uint64_t part) {
  return report_rate(part, s->requests - s->cold);
}
static double intra_warp(const void *s) { return of_reuse(s, ((const hd_reuse_shares *)s)->intra_warp); }
static double intra_cta(const void *s) { return of_reuse(s, ((const hd_reuse_shares *)s)->intra_cta); }
static double inter_cta(const void *s) { return of_reuse(s, ((const hd_reuse_shares *)s)->inter_cta); }
static double lines_in_warp(const void *row) { return intra_warp(&reuse_of(row)->lines); }
static double lines_in_cta(const void *row) { return intra_cta(&reuse_of(row)->lines); }
static double lines_between(const void *row) { return inter_cta(&reuse_of(row)->lines); }

static const field shares_fields[] = {{"requests", MEMBER(hd_reuse_shares, requests)},
                                      {"cold", MEMBER(hd_reuse_shares, cold)},
                                      {"intra_warp", .real = intra_warp},
                                      {"intra_cta", .real = intra_cta},
                                      {"inter_cta", .real = inter_cta},
                                      {0}};
static const field shared_fields[] = {{"all", .real = by_all},  {"x", .real = along_x},
                                      {"y", .real = along_y},   {"z", .real = along_z},
                                      {"apart", .real = apart}, {0}};
#define REUSE(member) THROUGH(shown, reuse, hd_reuse_row, member)
#define PART .kind = FIELD_PERCENT
static const field array_fields[] = {
    {"array", MEMBER(shown, name)},
    {.heading = "  array", .put = put_name},
    {"loads", REUSE(load_requests)},
    {"stores", REUSE(store_requests)},
    {"atomics", REUSE(atomic_requests)},
    {.heading = "requests", REUSE(lines.requests)},
    {.heading = "loads", PART, .real = loads},
    {"reuse", STRUCT_THROUGH(shown, reuse, hd_reuse_row, lines, shares_fields)},
    {.heading = "in warp", PART, .real = lines_in_warp},
    {.heading = "in CTA", PART, .real = lines_in_cta},
    {.heading = "inter", PART, .real = lines_between},
    {"reuse_words", STRUCT_THROUGH(shown, reuse, hd_reuse_row, words, shares_fields)},
    {"shared", SELF(shared_fields)},
    {.heading = "by all", PART, .real = by_all},
    {.heading = "x", PART, .real = along_x},
    {.heading = "y", PART, .real = along_y},
    {.heading = "z", PART, .real = along_z},
    {.heading = "apart", PART, .real = apart},
    {"sectors_used", "sectors used", PART, .real = sectors_used},
    {"regular", "regular", PART, .real = regular},
    {.heading = "address", MEMBER(shown, address)},
    {0},
};

static void put_facts(const hd_advice_report *s, const hd_facts *f, hd_buf *out) {
  field_sheet sheet = report_list(array_fields);
  for (int64_t i = -1; i <= f->reuse.n_arrays; i++) {
    const shown one = show(s, f, i);
    if (i < 0 || one.reuse->lines.requests) report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, out);
}

static json_t *arrays_of(const hd_advice_report *s, const hd_facts *f) {
  json_t *list = json_array();
  for (uint32_t i = 0; list && f->reuse.arrays && i <= f->reuse.n_arrays; i++) {
    const shown one = show(s, f, i);
    if (one.reuse->lines.requests) list = report_append(list, report_fields_json(array_fields, &one));
  }
  return list;
}

/* ---- A proposal ----------------------------------------------------------------------------------- */

typedef struct proposed {
  const hd_proposal *p;
  const hd_counters *base;
  uint32_t number;
} proposed;

static bool is_predicted(const void *row) { return ((const proposed *)row)->p->predicted; }
static const hd_counters *counters_of(const void *row) { return &((const proposed *)row)->p->counters; }
static const hd_counters *base_of(const void *row) { return ((const proposed *)row)->base; }
static void put_number(const void *row, hd_buf *out) {
  hd_buf_printf(out, "  %u", ((const proposed *)row)->number);
}
static void put_hits(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row), *b = base_of(row);
  hd_buf_printf(out, "%+.1f", percent(c->l1_hits, c->l1_sectors) - percent(b->l1_hits, b->l1_sectors));
}
static void put_sectors(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%+.0f%%", percent(counters_of(row)->l2_sectors, base_of(row)->l2_sectors) - 100);
}
static void put_dram(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%+.0f%%",
                percent(hd_counters_dram(counters_of(row)), hd_counters_dram(base_of(row))) - 100);
}

#define PROPOSAL(member) THROUGH(proposed, p, hd_proposal, member)
static const field proposal_fields[] = {
    {.heading = "proposals", .put = put_number},
    {"plan", "plan", PROPOSAL(plan)},
    {"reason", PROPOSAL(reason)},
    {.section = is_predicted},
    {"speedup", "time", FIELD_RATIO, 2, .absent = "?", .has = report_is_positive, PROPOSAL(speedup)},
    {"counters", PROPOSAL(counters)},
    {.heading = "L1 hits", .align = 'r', .absent = "?", .put = put_hits},
    {.heading = "L2 sectors", .align = 'r', .absent = "?", .put = put_sectors},
    {.heading = "DRAM bytes", .align = 'r', .absent = "?", .put = put_dram},
    {.section = field_always},
    {.heading = "because", PROPOSAL(reason)},
    {0},
};

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
  field_sheet sheet = report_list(proposal_fields);
  for (uint32_t i = 0; i < a->n_proposals; i++)
    report_sheet_row(&sheet, &(proposed){&a->proposals[i], &a->baseline, i + 1});
  report_put_sheet(&sheet, out);
  report_put_lacks(s->gpu, hd_counters_timed(&a->baseline), out);
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
  put_facts(s, &a->sum, out);
  for (uint32_t i = 0; s->verbose && i < a->n_launches; i++) {
    if (!a->launches[i].reuse.arrays) continue;
    hd_buf_printf(out, "\nlaunch %u: ", i + 1);
    hd_kernel_title(s->workload->launches[i].kernel, false, out);
    hd_buf_putc(out, '\n');
    put_facts(s, &a->launches[i], out);
  }
  hd_buf_puts(out, "\n");
  put_proposals(s, out);
  hd_buf_free(&category);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static const hd_advice *advice_of(const void *row) { return ((const hd_advice_report *)row)->advice; }
static bool has_baseline(const void *row) { return hd_counters_cost(&advice_of(row)->baseline) > 0; }
static bool has_occupancy(const void *row) { return advice_of(row)->baseline.resident > 0; }
static bool is_fixed(const void *row) { return advice_of(row)->order_free == HD_ORDER_FREE_NO; }
static void put_category(const void *row, hd_buf *out) { hd_category_print(advice_of(row)->category, out); }
static void put_direction(const void *row, hd_buf *out) {
  if (advice_of(row)->direction) hd_buf_putc(out, advice_of(row)->direction);
}
static const char *order_free(const void *row) {
  static const char *const how[] = {[HD_ORDER_FREE_CHECKED] = "checked on this input",
                                    [HD_ORDER_FREE_UNCHECKED] = "unchecked",
                                    [HD_ORDER_FREE_NO] = "no"};
  return how[advice_of(row)->order_free];
}

typedef struct launched {
  int number;
  const char *kernel;
  const hd_facts *facts;
  const hd_advice_report *s;
} launched;

static json_t *launch_arrays_json(const void *row) {
  return arrays_of(((const launched *)row)->s, ((const launched *)row)->facts);
}
static const field launch_fields[] = {
    {"launch", MEMBER(launched, number)},
    {"kernel", MEMBER(launched, kernel)},
    {"reuse", STRUCT_THROUGH(launched, facts, hd_facts, reuse.all.lines, shares_fields)},
    {"arrays", .tree = launch_arrays_json},
    {0},
};

static json_t *launches_json(const void *row) {
  const hd_advice_report *s = row;
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < s->advice->n_launches; i++) {
    const launched one = {(int)i, s->workload->launches[i].kernel, &s->advice->launches[i], s};
    if (one.facts->reuse.arrays) list = report_append(list, report_fields_json(launch_fields, &one));
  }
  return list;
}

static json_t *refusals_json(const void *row) {
  const hd_advice *a = advice_of(row);
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < a->n_refusals; i++) {
    json_t *one = report_set(json_object(), "kernel", json_string(a->refused_kernels[i]));
    json_t *why = report_fields_json(report_refusal_fields, &a->refusals[i]);
    if (one && json_object_update_new(one, why) != 0) {
      json_decref(one);
      one = NULL;
    } else if (!one) {
      json_decref(why);
    }
    list = report_append(list, one);
  }
  return list;
}

static json_t *arrays_json(const void *row) { return arrays_of(row, &advice_of(row)->sum); }
static json_t *proposals_json(const void *row) {
  const hd_advice *a = advice_of(row);
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < a->n_proposals; i++)
    list = report_append(
        list, report_fields_json(proposal_fields, &(proposed){&a->proposals[i], &a->baseline, i + 1}));
  return list;
}

static const field filling_fields[] = {{"ctas", MEMBER(hd_filling, tasks)},
                                       {"warps", MEMBER(hd_filling, warps)},
                                       {"resident", MEMBER(hd_filling, resident)},
                                       {"busy_sms", MEMBER(hd_filling, busy_sms)},
                                       {"warps_at_once", MEMBER(hd_filling, warps_at_once)},
                                       {"few", MEMBER(hd_filling, few)},
                                       {0}};
static json_t *occupancy_json(const void *row) {
  const hd_advice_report *s = row;
  const hd_filling f = hd_find_filling(s->workload, s->advice->baseline.resident, s->gpu);
  return report_fields_json(filling_fields, &f);
}

#define WORK(member) MEMBER(hd_advice, sum.reuse.work.member)
static const field work_fields[] = {{"least", WORK(least)}, {"most", WORK(most)}, {"mean", WORK(mean)}, {0}};
#define ADVICE(member) THROUGH(hd_advice_report, advice, hd_advice, member)
static const field along_fields[] = {{"along", ARRAY(hd_advice, along)}, {0}};
static const field advice_fields[] = {
    {"workload", THROUGH(hd_advice_report, workload, hd_workload, name)},
    {"size", THROUGH(hd_advice_report, workload, hd_workload, size)},
    {"gpu", THROUGH(hd_advice_report, gpu, hd_gpu, name)},
    {"category", .put = put_category},
    {"evidence", ADVICE(evidence)},
    {"direction", .put = put_direction},
    {"partition", ADVICE(partition)},
    {"along", .spread = true, STRUCT_AT(hd_advice_report, advice, along_fields)},
    {"reuse", STRUCT_THROUGH(hd_advice_report, advice, hd_advice, sum.reuse.all.lines, shares_fields)},
    {"reuse_words", STRUCT_THROUGH(hd_advice_report, advice, hd_advice, sum.reuse.all.words, shares_fields)},
    {"arrays", .tree = arrays_json},
    {"launches", .tree = launches_json},
    {"work", STRUCT_AT(hd_advice_report, advice, work_fields)},
    {"order_free", .text = order_free},
    {"order_why", .when = is_fixed, ADVICE(order_why)},
    {"refusals", .tree = refusals_json},
    {"baseline", .when = has_baseline, ADVICE(baseline)},
    {"occupancy", .when = has_occupancy, .tree = occupancy_json},
    {"proposals", .tree = proposals_json},
    {0},
};

json_t *report_advice_json(const hd_advice_report *s) { return report_fields_json(advice_fields, s); }
