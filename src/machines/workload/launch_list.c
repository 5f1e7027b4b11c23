/* [[launch]] and [[launch.body]]: grids, blocks and arguments, repetitions written out. */
#include <stdio.h>
#include <string.h>

#include "heddle/limits.h"
#include "workload/reader.h"

enum {
  MAX_ARGS = HD_MAX_PARAMS / 8, /* of one launch */
  MAX_ALL_ARGS = 1 << 18,       /* of all launches */
};

static const char *const LAUNCH_KEYS[] = {"kernel", "grid",        "block",  "shared",
                                          "args",   "cooperative", "repeat", NULL};
/* a [[launch]] with [[launch.body]] tables */
static const char *const LOOP_KEYS[] = {"repeat", "body", NULL};
static const char *const BODY_KEYS[] = {"kernel", "grid", "block", "shared", "args", "cooperative", NULL};

/* grid or block: one to three numbers, the rest 1. */
static hd_status read_dims(wl_reader *r, const json_t *t, const char *key, const uint32_t limit[3],
                           uint32_t out[3]) {
  const json_t *v = json_object_get(t, key);
  if (!v) return wl_bad(r, t, NULL, "'%s' is missing", key);
  size_t n = json_array_size(v);
  if (!json_is_array(v) || n < 1 || n > 3)
    return wl_bad(r, t, key, "'%s' should be an array of 1 to 3 numbers", key);
  for (size_t i = 0; i < 3; i++) {
    char what[32];
    int64_t x = 1;
    snprintf(what, sizeof what, "%s's %c", key, "xyz"[i]);
    hd_status st = i < n ? wl_get_integer(r, t, key, json_array_get(v, i), what, 1, limit[i], &x) : HD_OK;
    if (st != HD_OK) return st;
    out[i] = (uint32_t)x;
  }
  return HD_OK;
}

/* One repetition of one [[launch]]. */
static hd_status read_launch(wl_reader *r, const json_t *t, hd_wl_launch *l) {
  hd_status st = wl_get_string(r, t, "kernel", NULL, &l->kernel);
  if (st != HD_OK || (st = read_dims(r, t, "grid", hd_max_grid, l->grid)) != HD_OK ||
      (st = read_dims(r, t, "block", hd_max_block, l->block)) != HD_OK)
    return st;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  if (threads > HD_MAX_THREADS)
    return wl_bad(r, t, "block", "a block of %llu threads, at most %d are allowed",
                  (unsigned long long)threads, HD_MAX_THREADS);
  const json_t *shared = json_object_get(t, "shared"), *args = json_object_get(t, "args");
  int64_t bytes = 0;
  if (shared && (st = wl_get_integer(r, t, "shared", shared, "shared", 0, HD_MAX_SHARED, &bytes)) != HD_OK)
    return st;
  l->dynamic_shared = (uint32_t)bytes;
  if ((st = wl_get_flag(r, t, "cooperative", &l->cooperative)) != HD_OK) return st;
  if (!json_is_array(args))
    return wl_bad(r, t, args ? "args" : NULL, "'args' should be an array of arguments");
  size_t n = json_array_size(args);
  if (n > MAX_ARGS) return wl_bad(r, t, "args", "%zu arguments, at most %d are allowed", n, MAX_ARGS);
  l->n_args = (uint32_t)n;
  l->args = HD_NEW_N(r->arena, n, hd_wl_arg);
  for (size_t i = 0; i < n && st == HD_OK; i++) st = wl_read_arg(r, t, json_array_get(args, i), &l->args[i]);
  return st;
}

/* The launches of one round of a [[launch]]: its [[launch.body]] tables, or itself. */
static size_t round_size(const json_t *t) {
  const json_t *body = json_object_get(t, "body");
  return body ? json_array_size(body) : 1;
}

static const json_t *round_launch(const json_t *t, size_t i) {
  const json_t *body = json_object_get(t, "body");
  return body ? json_array_get(body, i) : t;
}

/* Keys of a [[launch]] and its bodies, how often it is run, the arguments of one round. */
static hd_status check_launch(wl_reader *r, const json_t *t, int64_t *times, int64_t *args) {
  const json_t *repeat = json_object_get(t, "repeat"), *body = json_object_get(t, "body");
  *times = 1;
  *args = 0;
  if (body && (!json_is_array(body) || !json_array_size(body) || !json_is_object(json_array_get(body, 0))))
    return wl_bad(r, t, "body", "'body' should be [[launch.body]] tables, at least one");
  hd_status st = wl_only(r, t, body ? LOOP_KEYS : LAUNCH_KEYS);
  for (size_t i = 0; st == HD_OK && body && i < json_array_size(body); i++) {
    if (!json_is_object(json_array_get(body, i)))
      return wl_bad(r, t, "body", "'body' should be [[launch.body]] tables, all of it");
    st = wl_only(r, json_array_get(body, i), BODY_KEYS);
  }
  if (st == HD_OK && repeat) st = wl_get_integer(r, t, "repeat", repeat, "repeat", 1, WL_MAX_LAUNCHES, times);
  for (size_t i = 0; i < round_size(t); i++)
    *args += (int64_t)json_array_size(json_object_get(round_launch(t, i), "args"));
  return st;
}

hd_status wl_read_launches(wl_reader *r, const json_t *tables, size_t n) {
  wl_names sizes = r->names;
  wl_name *names = HD_NEW_N(r->arena, sizes.n + 1, wl_name);
  if (sizes.n) memcpy(names, sizes.data, sizes.n * sizeof *names);
  int64_t *times = HD_NEW_N(r->arena, n, int64_t), total = 0, all_args = 0;
  for (size_t i = 0; i < n; i++) {
    const json_t *t = json_array_get(tables, i);
    int64_t args;
    hd_status st = check_launch(r, t, &times[i], &args);
    if (st != HD_OK) return st;
    /* Both factors are small: a file of WL_MAX_FILE bytes holds fewer than 2^22 tables and arguments. */
    if ((total += times[i] * (int64_t)round_size(t)) > WL_MAX_LAUNCHES)
      return wl_bad(r, t, "repeat", "more than %d launches in all", WL_MAX_LAUNCHES);
    if ((all_args += times[i] * args) > MAX_ALL_ARGS)
      return wl_bad(r, t, "args", "more than %d arguments of all launches together", MAX_ALL_ARGS);
  }
  r->w->launches = HD_NEW_N(r->arena, (size_t)total, hd_wl_launch);
  for (size_t i = 0; i < n; i++) {
    const json_t *t = json_array_get(tables, i);
    for (int64_t k = 0; k < times[i]; k++) {
      names[sizes.n] = (wl_name){WL_ITERATION, k};
      r->names = (wl_names){names, sizes.n + (json_object_get(t, "repeat") != NULL)};
      for (size_t j = 0; j < round_size(t); j++) {
        hd_status st = read_launch(r, round_launch(t, j), &r->w->launches[r->w->n_launches++]);
        if (st != HD_OK) return st;
      }
    }
  }
  return HD_OK;
}
