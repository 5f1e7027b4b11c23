/* The memory that a launch reaches. Nothing is known of the types of what lies there: every word that is an
 * address in one of the program's allocations counts as a pointer. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "run/watch.h"

enum { CHUNK = 1 << 22 };

typedef struct search {
  run_reach *reach;
  run_range *all; /* the program's allocations, by address */
  size_t n;
  bool *found; /* of each */
  uint64_t low, high;
  unsigned long long context; /* the current one */
  bool allocates;             /* some kernel may call malloc, and no one sees what it gets */
  bool any_address;
  uint64_t most;
  double until;
  bool keeps; /* what the allocations hold */
} search;

static const char too_much[] = "it reaches too much memory";

/* The allocation that holds the address; `n`: none does. */
static size_t holder(const search *s, uint64_t address) {
  const size_t k = run_range_behind(s->all, s->n, address);
  return k < s->n && s->all[k].at <= address ? k : s->n;
}

/* The same; an address at which no allocation begins may be the end of one. */
static size_t meant(const search *s, uint64_t address) {
  const size_t k = run_range_behind(s->all, s->n, address);
  if (k < s->n && s->all[k].at <= address) return k;
  return k && s->all[k - 1].at + s->all[k - 1].bytes == address ? k - 1 : s->n;
}

uint64_t run_range_room(const run_range *r) {
  enum { BEYOND = 8 }; /* so that the address behind an allocation is one in it */
  return (r->bytes + BEYOND + 7) / 8 * 8;
}

/* In large pages, where there are any: touching small ones takes as long as the copy. */
static char *room_for(const run_range *r) {
  enum { PAGE = 1 << 21 };
  const uint64_t room = run_range_room(r);
  char *out = room < PAGE ? malloc(room) : aligned_alloc(PAGE, (room + PAGE - 1) / PAGE * PAGE);
  if (!out) return NULL;
  if (room >= PAGE) madvise(out, room, MADV_HUGEPAGE);
  memset(out + r->bytes, 0, room - r->bytes);
  return out;
}

static const char *take(search *s, size_t k) {
  if (s->found[k]) return NULL;
  s->found[k] = true;
  if (s->all[k].kind == RUN_MEMORY_HOST) return "it uses the host's memory";
  if (s->all[k].kind == RUN_MEMORY_MANAGED && run_is_threaded())
    return "it uses managed memory, which other threads may use, too";
  if (!hd_vec_push(&s->reach->ranges, s->all[k])) return "no memory";
  s->reach->bytes += s->all[k].bytes;
  if (s->reach->bytes > s->most) return too_much;
  run_range *taken = &s->reach->ranges.data[s->reach->ranges.n - 1];
  return !s->keeps || (taken->copy = room_for(taken)) ? NULL : "no memory";
}

/* *any: some of the words are addresses. */
static const char *look_at(search *s, const uint64_t *words, size_t n, bool *any) {
  const char *why = NULL;
  for (size_t i = 0; !why && i < n; i++) {
    if (words[i] - s->low > s->high - s->low) continue;
    const size_t k = meant(s, words[i]);
    *any |= k < s->n;
    if (k < s->n) why = take(s, k);
  }
  return why;
}

static const char *look_into(search *s, size_t number, uint64_t *words, cu_stream stream) {
  const run_range r = s->reach->ranges.data[number];
  const char *why = NULL;
  bool any = false;
  for (uint64_t at = 0; !why && at < r.bytes; at += CHUNK) {
    const size_t bytes = r.bytes - at < CHUNK ? (size_t)(r.bytes - at) : CHUNK;
    const double begin = hd_seconds();
    if (r.copy) words = (uint64_t *)(void *)(r.copy + at);
    if (run_real.cuMemcpyDtoHAsync_v2(words, r.at + at, bytes, stream) != CU_SUCCESS ||
        run_real.cuStreamSynchronize(stream) != CU_SUCCESS)
      return "the driver does not copy its memory";
    s->reach->copying += hd_seconds() - begin;
    why = hd_seconds() > s->until ? too_much : look_at(s, words, bytes / sizeof *words, &any);
  }
  s->reach->ranges.data[number].points = any;
  return why;
}

/* Memory that heddle did not see allocated: a module's variables, say; or the process's own, where the GPU
 * can follow any address. */
static bool is_unknown(const search *s, uint64_t word) {
  enum { PAGE = 4096 };
  unsigned char resident;
  int type = 0;
  if (word < 65536 || holder(s, word) < s->n) return false;
  if (run_real.cuPointerGetAttribute &&
      run_real.cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, word) == CU_SUCCESS && type != 0)
    return true;
  return s->any_address && mincore((void *)(uintptr_t)(word / PAGE * PAGE), 1, &resident) == 0;
}

/* Whether the current device's kernels may use memory that is no allocation of the driver's. */
static bool takes_any_address(void) {
  int device, takes = 0;
  return run_real.cuCtxGetDevice && run_real.cuDeviceGetAttribute &&
         run_real.cuCtxGetDevice(&device) == CU_SUCCESS &&
         run_real.cuDeviceGetAttribute(&takes, CU_ATTR_PAGEABLE_MEMORY_ACCESS, device) == CU_SUCCESS && takes;
}

bool run_gather(const run_facts *f, const run_launch *l, char *to) {
  if (l->params) {
    for (uint32_t k = 0; k < f->n_params; k++) memcpy(to + f->offsets[k], l->params[k], f->sizes[k]);
    return true;
  }
  size_t bytes = 0;
  const void *given = l->extra ? run_block_of(l->extra, &bytes) : NULL;
  if (given && bytes <= f->bytes) memcpy(to, given, bytes);
  return !f->bytes || (given && bytes <= f->bytes);
}

/* Variables, unless they are in the list. */
static bool list_variables(search *s, const run_variables *v) {
  run_range *more = realloc(s->all, (s->n + v->all.n + 1) * sizeof *more);
  if (!more) return false;
  s->all = more;
  for (size_t k = 0; k < v->all.n; k++) {
    const run_variable *one = &v->all.data[k];
    if (!one->at || !one->bytes || holder(s, one->at) < s->n) continue;
    const run_range r = {.at = one->at,
                         .bytes = one->bytes,
                         .context = s->context,
                         .kind = one->managed ? RUN_MEMORY_MANAGED : RUN_MEMORY_DEVICE};
    const size_t place = run_range_behind(s->all, s->n, r.at);
    memmove(&s->all[place + 1], &s->all[place], (s->n++ - place) * sizeof r);
    s->all[place] = r;
  }
  return true;
}

/* The program's allocations, these variables, and those of all its modules, by address: some other kernel may
 * have put a variable's address anywhere. */
static bool list_all(search *s, const run_variables *v) {
  s->all = run_memory_all(&s->n);
  bool ok = s->all && run_real.cuCtxGetId(NULL, &s->context) == CU_SUCCESS && list_variables(s, v);
  for (run_module *m = run_modules; ok && m; m = m->next) {
    if (m->dead || !m->own.data) continue;
    run_globals_find(m);
    s->allocates |= m->allocates;
    ok = list_variables(s, &m->globals);
  }
  return ok;
}

/* What is not reached, as far as it may be read now: nothing of the host's, of other contexts, that is mapped
 * (cuMemMap), or managed while there are threads. */
static const char *list_others(search *s) {
  for (size_t k = 0; k < s->n; k++) {
    const run_range *r = &s->all[k];
    const bool written =
        r->kind == RUN_MEMORY_DEVICE || (r->kind == RUN_MEMORY_MANAGED && !run_is_threaded());
    if (s->found[k] || !written || r->mapped || r->context != s->context) continue;
    if (!hd_vec_push(&s->reach->others, *r)) return "no memory";
  }
  return NULL;
}

static const char *find(search *s, const run_variables *v, size_t words, cu_stream stream) {
  const uint64_t *block = s->reach->block;
  uint64_t *chunk = malloc(CHUNK);
  bool any = false;
  const char *why = chunk ? look_at(s, block, words, &any) : "no memory";
  for (size_t k = 0; !why && k < v->all.n; k++) why = look_at(s, &v->all.data[k].at, 1, &any);
  for (size_t i = 0; !why && i < words; i++)
    if (is_unknown(s, block[i])) why = "it uses memory that heddle did not see allocated";
  for (size_t k = 0; !why && k < s->reach->ranges.n; k++) why = look_into(s, k, chunk, stream);
  free(chunk);
  return why;
}

const char *run_reach_of(const run_facts *f, const run_launch *l, cu_stream stream, uint64_t most,
                         double seconds, bool keep, run_reach *out) {
  search s = {.reach = out,
              .any_address = takes_any_address(),
              .most = most,
              .until = hd_seconds() + seconds,
              .keeps = keep};
  const char *why = "no memory";
  *out = (run_reach){.block = calloc(f->bytes / sizeof *out->block + 1, sizeof *out->block)};
  const bool listed = list_all(&s, &f->variables);
  s.found = calloc(s.n + 1, sizeof *s.found);
  if (listed && s.n) {
    s.low = s.all[0].at;
    s.high = s.all[s.n - 1].at + s.all[s.n - 1].bytes;
  }
  if (s.allocates)
    why = "kernels of the program's may allocate memory";
  else if (out->block && listed && s.found)
    why = run_gather(f, l, (char *)out->block)
              ? find(&s, &f->variables, f->bytes / sizeof *out->block, stream)
              : "its parameters are not understood";
  if (!why) why = list_others(&s);
  free(s.found);
  free(s.all);
  if (why) run_reach_free(out);
  return why;
}

void run_reach_free(run_reach *r) {
  for (size_t k = 0; k < r->ranges.n; k++) free(r->ranges.data[k].copy);
  hd_vec_free(&r->ranges);
  hd_vec_free(&r->others);
  free(r->block);
  *r = (run_reach){0};
}
