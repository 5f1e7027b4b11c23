/* The seconds of the stages of a tuning, as JSON. */
#include <stddef.h>

#include "report/json.h"

static const struct part {
  const char *name;
  size_t at; /* in hd_tune_seconds */
} parts[REPORT_SECONDS] = {
    {"compile", offsetof(hd_tune_seconds, compile)}, {"advice", offsetof(hd_tune_seconds, advice)},
    {"buffers", offsetof(hd_tune_seconds, buffers)}, {"tables", offsetof(hd_tune_seconds, tables)},
    {"load", offsetof(hd_tune_seconds, load)},       {"check", offsetof(hd_tune_seconds, check)},
    {"time", offsetof(hd_tune_seconds, time)},       {"move", offsetof(hd_tune_seconds, move)},
    {"proof", offsetof(hd_tune_seconds, proof)},     {"count", offsetof(hd_tune_seconds, count)},
};

const char *report_seconds_name(size_t i) { return parts[i].name; }

double *report_seconds_part(hd_tune_seconds *s, size_t i) {
  return (double *)(void *)((char *)s + parts[i].at);
}

json_t *report_seconds_json(const hd_tune_seconds *s) {
  hd_tune_seconds copy = *s;
  json_t *j = json_object();
  for (size_t i = 0; i < REPORT_SECONDS; i++)
    json_object_set_new(j, parts[i].name, json_real(*report_seconds_part(&copy, i)));
  return j;
}

void report_read_seconds(const json_t *j, hd_tune_seconds *out) {
  for (size_t i = 0; i < REPORT_SECONDS; i++)
    *report_seconds_part(out, i) = json_number_value(json_object_get(j, parts[i].name));
}
