/* The fields of rows that lie in a results folder, which are written and read by the same tables. */
#include "report/rows.h"

#include <string.h>

#include "report/fields.h"
#include "report/seconds.h"
#include "report/trees.h"

/* ---- Where ---------------------------------------------------------------------------------------- */

typedef struct measured {
  const hd_bench_place *place;
  const hd_bench_gpu *gpu;
  const hd_bench_row *row;
  const hd_verify_row *verified;
} measured;

static bool is_known(const void *row) { return ((const measured *)row)->gpu->uuid[0] != 0; }

static const field gpu_fields[] = {
    {"device", MEMBER(hd_bench_gpu, title)},
    {"driver", MEMBER(hd_bench_gpu, driver)},
    {0},
};
static const field known_fields[] = {
    {"gpu", MEMBER(hd_bench_gpu, uuid)},
    {"clock_mhz", MEMBER(hd_bench_gpu, clock_mhz)},
    {"memory_clock_mhz", MEMBER(hd_bench_gpu, memory_clock_mhz)},
    {0},
};

/* ---- A workload tuned ----------------------------------------------------------------------------- */

static bool has_outcome(const void *row) { return !((const hd_bench_row *)row)->failed[0]; }
static bool was_counted(const void *row) { return ((const hd_bench_row *)row)->has_counters; }
static bool has_second(const void *second) { return ((const hd_bench_second *)second)->uuid[0] != 0; }

static const field lever_fields[] = {
    {"plan", MEMBER(hd_bench_lever, plan)},
    {"speedup", .null = true, MEMBER(hd_bench_lever, speedup)},
    {"low", .null = true, MEMBER(hd_bench_lever, low)},
    {"high", .null = true, MEMBER(hd_bench_lever, high)},
    {0},
};
static const field second_fields[] = {
    {"gpu", MEMBER(hd_bench_second, uuid)},
    {"speedup", .null = true, MEMBER(hd_bench_second, speedup)},
    {"low", .null = true, MEMBER(hd_bench_second, low)},
    {"high", .null = true, MEMBER(hd_bench_second, high)},
    {0},
};

static json_t *levers_json(const void *row) {
  const hd_bench_row *r = row;
  json_t *levers = json_object();
  for (unsigned k = 0; levers && k < HD_TUNE_LEVERS; k++) {
    const hd_bench_lever *l = &r->levers[k];
    if (!l->plan[0] ||
        json_object_set_new(levers, hd_bench_lever_name(k), report_fields_json(lever_fields, l)) == 0)
      continue;
    json_decref(levers);
    levers = NULL;
  }
  return levers;
}

static json_t *before_json(const void *row) {
  return report_counters_json(&((const hd_bench_row *)row)->before, HD_COUNTER_IS_EVENT);
}
static json_t *after_json(const void *row) {
  return report_counters_json(&((const hd_bench_row *)row)->after, HD_COUNTER_IS_EVENT);
}

static const field bench_fields[] = {
    {"workload", MEMBER(hd_bench_row, workload)},
    {"size", MEMBER(hd_bench_row, size)},
    {"category", MEMBER(hd_bench_row, category)},
    {"paper", MEMBER(hd_bench_row, paper)},
    {"failed", MEMBER(hd_bench_row, failed)},
    {.section = has_outcome},
    {"default_us", MEMBER(hd_bench_row, default_us)},
    {"best_us", MEMBER(hd_bench_row, best_us)},
    {"speedup", .null = true, MEMBER(hd_bench_row, speedup)},
    {"low", .null = true, MEMBER(hd_bench_row, low)},
    {"high", .null = true, MEMBER(hd_bench_row, high)},
    {"plan", MEMBER(hd_bench_row, plan)},
    {"why", MEMBER(hd_bench_row, why)},
    {"levers", .tree = levers_json},
    {"compulsory_bytes", MEMBER(hd_bench_row, compulsory_bytes)},
    {"roofline_us", MEMBER(hd_bench_row, roofline_us)},
    {"tried", MEMBER(hd_bench_row, tried)},
    {"seconds", MEMBER(hd_bench_row, seconds)},
    {"spent", STRUCT(hd_bench_row, spent, report_seconds_fields)},
    {"second", .has = has_second, STRUCT(hd_bench_row, second, second_fields)},
    {"before", .when = was_counted, .tree = before_json},
    {"after", .when = was_counted, .tree = after_json},
    {0},
};

/* ---- A verdict measured once more ----------------------------------------------------------------- */

static const field verify_fields[] = {
    {"workload", MEMBER(hd_verify_row, workload)},
    {"size", MEMBER(hd_verify_row, size)},
    {"failed", MEMBER(hd_verify_row, failed)},
    {"plan", MEMBER(hd_verify_row, plan)},
    {"original", MEMBER(hd_verify_row, original)},
    {"tuned", .null = true, MEMBER(hd_verify_row, kept)},
    {"speedup", .null = true, MEMBER(hd_verify_row, speedup)},
    {"low", .null = true, MEMBER(hd_verify_row, low)},
    {"high", .null = true, MEMBER(hd_verify_row, high)},
    {"default_us", MEMBER(hd_verify_row, before_us)},
    {"plan_us", MEMBER(hd_verify_row, after_us)},
    {"seconds", MEMBER(hd_verify_row, seconds)},
    {0},
};

/* ---- Lines ---------------------------------------------------------------------------------------- */

static bool is_tuned(const void *row) { return ((const measured *)row)->row; }
static bool is_verified(const void *row) { return ((const measured *)row)->verified; }

static const field line_fields[] = {
    {"heddle", THROUGH(measured, place, hd_bench_place, version)},
    {"on", .spread = true, STRUCT_AT(measured, gpu, gpu_fields)},
    {"known", .spread = true, .when = is_known, STRUCT_AT(measured, gpu, known_fields)},
    {"row", .spread = true, .when = is_tuned, STRUCT_AT(measured, row, bench_fields)},
    {"verified", .spread = true, .when = is_verified, STRUCT_AT(measured, verified, verify_fields)},
    {0},
};

static json_t *line_json(const hd_bench_place *p, const hd_bench_gpu *own, measured m) {
  m.place = p;
  m.gpu = own->title[0] ? own : &p->gpu;
  return report_fields_json(line_fields, &m);
}

json_t *report_bench_row_json(const hd_bench_place *p, const hd_bench_row *r) {
  return line_json(p, &r->gpu, (measured){.row = r});
}

json_t *report_verify_row_json(const hd_bench_place *p, const hd_verify_row *r) {
  return line_json(p, &r->gpu, (measured){.verified = r});
}

json_t *report_bench_tree(const hd_bench_place *p, const hd_bench_row *rows, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; list && i < n; i++) list = report_append(list, report_bench_row_json(p, &rows[i]));
  return list;
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static void read_events(const json_t *j, hd_counters *c) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    const json_int_t v = json_integer_value(json_object_get(j, f->name));
    if (f->uses & HD_COUNTER_IS_EVENT) hd_counter_set_count(f, c, v > 0 ? (uint64_t)v : 0);
  }
}

static void read_gpu(const json_t *j, hd_bench_gpu *g) {
  report_read_fields(gpu_fields, j, g);
  report_read_fields(known_fields, j, g);
}

bool report_read_bench_row(const json_t *j, hd_bench_row *r) {
  const json_t *levers = json_object_get(j, "levers");
  memset(r, 0, sizeof *r);
  read_gpu(j, &r->gpu);
  report_read_fields(bench_fields, j, r);
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++)
    report_read_fields(lever_fields, json_object_get(levers, hd_bench_lever_name(k)), &r->levers[k]);
  r->has_counters = json_object_get(j, "before") != NULL;
  read_events(json_object_get(j, "before"), &r->before);
  read_events(json_object_get(j, "after"), &r->after);
  return r->workload[0] != 0;
}

static bool is_string(const json_t *j, const char *key, const char *text) {
  const char *s = json_string_value(json_object_get(j, key));
  return s && strcmp(s, text) == 0;
}

bool report_read_verify_row(const json_t *j, hd_verify_row *r) {
  memset(r, 0, sizeof *r);
  read_gpu(j, &r->gpu);
  report_read_fields(verify_fields, j, r);
  return r->workload[0] && is_string(j, "workload", r->workload) && is_string(j, "size", r->size);
}

bool report_is_of_place(const json_t *j, const hd_bench_place *p) {
  return is_string(j, "heddle", p->version) && is_string(j, "device", p->gpu.title) &&
         is_string(j, "driver", p->gpu.driver);
}
