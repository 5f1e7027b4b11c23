/* Launches as workloads: a folder each, with the module's text, the allocations that the launch reaches as
 * they were before it, packed, and a workload.toml. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heddle/container.h"
#include "run/watch.h"

/* SPARE: launches that may be recorded for each that is kept. */
enum { SPARE = 4, PATIENCE = 10 };

typedef struct recording {
  run_kernel *kernel;
  run_shape *shape;
  run_pack *pack;
  uint64_t bytes;
  double held, copying; /* seconds that the launch waited, and those of them that memory was copied in */
} recording;

/* All launches that were recorded; under run_lock. */
static HD_VEC(recording) recorded;
static int lost; /* errno of a folder that could not be written; 0: all could */

/* Bytes of a launch that is recorded, since they are in the process's memory until they are written. */
static uint64_t most_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 : UINT64_C(1) << 30;
}

/* ---- workload.toml ----------------------------------------------------------------------------- */

/* The range that an address belongs to, the one behind it included; the number of ranges: none. */
static size_t range_of(const run_reach *reach, uint64_t address) {
  size_t best = reach->ranges.n;
  for (size_t k = 0; k < reach->ranges.n; k++) {
    const run_range *r = &reach->ranges.data[k];
    if (address < r->at || address - r->at >= run_range_room(r)) continue;
    if (best == reach->ranges.n || r->at > reach->ranges.data[best].at) best = k;
  }
  return best;
}

static const run_variable *variable_at(const run_facts *f, const run_range *r) {
  for (size_t k = 0; k < f->variables.all.n; k++)
    if (f->variables.all.data[k].at == r->at) return &f->variables.all.data[k];
  return NULL;
}

/* A parameter that is one address or one number. */
static bool put_plain(hd_buf *b, const run_reach *reach, const char *from, uint64_t bytes) {
  uint64_t word = 0;
  if (bytes > 8 || bytes & (bytes - 1)) return false;
  memcpy(&word, from, bytes);
  const size_t k = bytes == 8 ? range_of(reach, word) : reach->ranges.n;
  if (k < reach->ranges.n && !reach->ranges.data[k].points && !reach->ranges.data[k].variable)
    hd_buf_printf(b, "{ buffer = \"m%zu\", offset = %llu }", k,
                  (unsigned long long)(word - reach->ranges.data[k].at));
  else if (k == reach->ranges.n && word <= INT64_MAX)
    hd_buf_printf(b, "{ type = \"u%u\", value = %llu }", (unsigned)(8 * bytes), (unsigned long long)word);
  else
    return false;
  return true;
}

/* Bytes of a parameter as fields of a struct, those words that are addresses as such. */
static bool put_fields(hd_buf *b, const run_reach *reach, const char *from, uint64_t bytes) {
  hd_buf_puts(b, "{ struct = [");
  for (uint64_t at = 0; at < bytes;) {
    uint64_t word = 0;
    if (at) hd_buf_puts(b, ", ");
    if (at % 8 == 0 && bytes - at >= 8) {
      memcpy(&word, from + at, 8);
      const size_t k = range_of(reach, word);
      if (k < reach->ranges.n) {
        const run_range *r = &reach->ranges.data[k];
        if (r->variable || (r->points && (word - r->at) % 8)) return false;
        hd_buf_printf(b, "{ buffer = \"m%zu\", offset = %llu, at = %llu }", k,
                      (unsigned long long)((word - r->at) / (r->points ? 8 : 1)), (unsigned long long)at);
        at += 8;
        continue;
      }
    }
    const unsigned n = at % 4 == 0 && bytes - at >= 4 ? 4 : 1;
    word = 0;
    memcpy(&word, from + at, n);
    hd_buf_printf(b, "{ type = \"u%u\", value = %llu, at = %llu }", 8 * n, (unsigned long long)word,
                  (unsigned long long)at);
    at += n;
  }
  hd_buf_printf(b, "], bytes = %llu, align = %d }", (unsigned long long)bytes,
                bytes % 8 == 0   ? 8
                : bytes % 4 == 0 ? 4
                                 : 1);
  return true;
}

/* A variable has its name and its own size; where it lies is the module's. */
static void put_variable(hd_buf *b, const run_variable *v, size_t number) {
  hd_buf_printf(b,
                "\n[[variable]]\nname = \"%s\"\ntype = \"u8\"\ncount = %llu\nfill = 'file(\"m%zu.zst\")'\n",
                v->name, (unsigned long long)v->bytes, number);
}

static void put_buffer(hd_buf *b, const run_range *r, size_t number) {
  hd_buf_printf(b,
                "\n[[buffer]]\nname = \"m%zu\"\ntype = \"%s\"\ncount = %llu\nat = \"0x%llx\"\nfill = "
                "'%s(\"m%zu.zst\")'\n",
                number, r->points ? "u64" : "u8",
                (unsigned long long)(run_range_room(r) / (r->points ? 8 : 1)), (unsigned long long)r->at,
                r->points ? "recorded" : "file", number);
}

/* Which ranges are variables; NULL: of none it matters where it lies. */
static const char *find_variables(const run_facts *f, run_reach *reach) {
  for (size_t i = 0; i < reach->ranges.n; i++) {
    run_range *r = &reach->ranges.data[i];
    const run_variable *v = variable_at(f, r);
    r->variable = v != NULL;
    if (v) r->bytes = v->bytes;
    if (v && r->points) return "a variable of its module holds addresses";
  }
  return NULL;
}

static bool describe(hd_buf *b, const run_kernel *k, const run_facts *f, const run_launch *l,
                     const run_reach *reach) {
  const char *block = (const char *)reach->block;
  bool ok = true;
  hd_buf_printf(b, "title = \"%s, launch %lu\"\nsource = \"kernel.ptx\"\n\n[sizes.small]\n", k->title,
                atomic_load(&((run_kernel *)(uintptr_t)k)->launches) + 1);
  for (size_t i = 0; i < reach->ranges.n; i++) {
    const run_variable *v = variable_at(f, &reach->ranges.data[i]);
    if (v)
      put_variable(b, v, i);
    else
      put_buffer(b, &reach->ranges.data[i], i);
  }
  hd_buf_printf(
      b, "\n[[launch]]\nkernel = \"%s\"\ngrid = [%u, %u, %u]\nblock = [%u, %u, %u]\nshared = %u\nargs = [",
      k->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared);
  for (uint32_t i = 0; ok && i < f->n_params; i++) {
    hd_buf_puts(b, i ? ",\n  " : "\n  ");
    ok = put_plain(b, reach, block + f->offsets[i], f->sizes[i]) ||
         put_fields(b, reach, block + f->offsets[i], f->sizes[i]);
  }
  hd_buf_puts(b, "\n]\n");
  return ok && !b->failed;
}

/* ---- A folder ---------------------------------------------------------------------------------- */

/* "cap/scale_float-3"; a kernel's title may be long, and hold what no file's name should. */
static bool make_folder(const run_kernel *k, char folder[RUN_PACK_FOLDER]) {
  char name[41] = "";
  size_t n = 0;
  for (const char *p = k->title; *p && n + 1 < sizeof name; p++)
    if (isalnum((unsigned char)*p) || *p == '_')
      name[n++] = *p;
    else if (n && name[n - 1] != '_')
      name[n++] = '_';
  while (n && name[n - 1] == '_') name[--n] = 0;
  const unsigned long number = atomic_load(&((run_kernel *)(uintptr_t)k)->launches) + 1;
  for (unsigned again = 0; again < 1000; again++) {
    char more[16] = "";
    if (again) snprintf(more, sizeof more, ".%u", again);
    snprintf(folder, RUN_PACK_FOLDER, "%s/%s-%lu%s", run_settings.record, name, number, more);
    if (access(folder, F_OK) != 0) return mkdir(folder, 0777) == 0;
  }
  return false;
}

static void drop_pack(run_pack *p) {
  hd_buf_free(&p->toml);
  run_reach_free(&p->reach);
  free(p);
}

/* Copies what the launch reaches; it is written while the program goes on. */
static const char *keep_launch(run_kernel *k, run_shape *s, const run_facts *f, const run_launch *l,
                               cu_stream stream) {
  const double begin = hd_seconds();
  run_pack *p = calloc(1, sizeof *p);
  if (!p) return "no memory";
  const char *why = run_reach_of(f, l, stream, most_bytes(), PATIENCE, true, &p->reach);
  if (!why) why = find_variables(f, &p->reach);
  if (!why && !describe(&p->toml, k, f, l, &p->reach)) why = "its parameters are not understood";
  const recording r = {k, s, p, p->reach.bytes, 0, p->reach.copying};
  if (!why && !make_folder(k, p->folder)) {
    lost = errno;
    why = "its folder cannot be made";
  }
  if (!why && !hd_vec_push(&recorded, r)) why = "no memory";
  if (why) {
    drop_pack(p);
    return why;
  }
  p->text = k->module->own.data;
  p->text_bytes = k->module->own.len;
  s->folder = p->folder;
  run_pack_add(p);
  recorded.data[recorded.n - 1].held = hd_seconds() - begin;
  return NULL;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* Launches the original in a stream of heddle's, and waits for it. */
static void time_it(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, cu_stream stream,
                    int *result) {
  run_launch own = *l;
  run_time t;
  own.stream = stream;
  own.per_thread = false;
  const bool timed = run_settings.profile && run_time_begin(k, &own, &t);
  const double begin = hd_seconds();
  *result = run_send(&own, function, l->grid, l->params, l->extra);
  if (timed) run_time_end(&t, &own, *result == CU_SUCCESS);
  if (*result == CU_SUCCESS) run_real.cuStreamSynchronize(stream);
  s->seconds = hd_seconds() - begin;
  run_times_take();
}

/* Whether an order can be given to the kernel at all. */
static void ask_for_reach(run_kernel *k) {
  run_gpu gpu;
  run_variant *v;
  hd_diag d = {0};
  const hd_plan plan = {.order = {.kind = HD_ORDER_REVERSE}};
  const run_text *text = &k->module->own;
  if (!text->data)
    snprintf(k->refused, sizeof k->refused, "%s", text->why ? text->why : "no PTX");
  else if (!run_gpu_of(&gpu))
    snprintf(k->refused, sizeof k->refused, "the driver is too old");
  else if (run_variant_make(&gpu, text, k, &plan, NULL, false, &v, &d) == HD_OK)
    run_variant_drop(v);
  else
    hd_diag_line(&d, k->refused, sizeof k->refused);
}

static bool is_meant(const run_kernel *k) {
  return !run_settings.kernel[0] || hd_kernel_matches(k->name, run_settings.kernel);
}

static const char *record(run_kernel *k, run_shape *s, cu_function function, const run_launch *l,
                          bool *launched, int *result) {
  run_facts facts;
  hd_diag d = {0};
  cu_stream stream;
  const run_driver *r = &run_real;
  if (!k->module->own.data) return k->module->own.why ? k->module->own.why : "no PTX";
  const char *why = !r->cuStreamCreate || !r->cuStreamDestroy_v2 || !r->cuStreamSynchronize ||
                            !r->cuMemcpyDtoHAsync_v2 || !r->cuPointerGetAttribute
                        ? "the driver is too old"
                        : run_not_alone(RUN_PATIENCE);
  if (why) return why;
  if (run_facts_of(&k->module->own, k->name, &facts, &d) != HD_OK) {
    hd_diag_line(&d, k->why, sizeof k->why);
    return k->why;
  }
  why = facts.effect   ? facts.effect
        : facts.handle ? facts.handle
                       : run_variables_find(&facts.variables, k->module);
  if (!why && r->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CU_SUCCESS)
    why = "the driver gives no stream";
  if (!why) {
    why = keep_launch(k, s, &facts, l, stream);
    time_it(k, s, function, l, stream, result);
    *launched = true;
    r->cuStreamDestroy_v2(stream);
  }
  run_facts_free(&facts);
  return why;
}

const char *run_record(run_kernel *k, run_shape *s, cu_function function, const run_launch *l, bool *launched,
                       int *result) {
  if (run_settings.profile && k->shapes == s && !s->next && s->tries == 1) ask_for_reach(k);
  if (!is_meant(k) || recorded.n >= SPARE * run_settings.most) {
    s->settled = true;
    return NULL;
  }
  const char *why = record(k, s, function, l, launched, result);
  s->settled |= s->folder != NULL;
  return why;
}

static double time_of(const recording *r) { return r->shape->seconds * (double)r->shape->launches; }

static int by_time(const void *a, const void *b) {
  const double x = time_of(a), y = time_of(b);
  return x < y ? 1 : x > y ? -1 : 0;
}

static void tell(const recording *r, hd_buf *lines) {
  const run_shape *s = r->shape;
  hd_buf_printf(
      lines,
      "heddle: recorded %s: %s, %lu launch%s of about %.0f us; %.1f MB, which took %.1f ms, %.1f of them "
      "to copy\n",
      s->folder, r->kernel->title, s->launches, s->launches == 1 ? "" : "es", s->seconds * 1e6,
      (double)r->bytes * 1e-6, r->held * 1e3, r->copying * 1e3);
}

/* What was asked for is not there: no such kernel was launched, or not that often. */
static bool say_missing(void) {
  hd_buf names = {0};
  size_t n = 0;
  bool any = false;
  for (const run_module *m = run_modules; m; m = m->next)
    for (const run_kernel *k = m->kernels; k; k = k->next) {
      if (!atomic_load(&k->launches)) continue;
      any |= is_meant(k);
      hd_buf_printf(&names, "%s%s", n++ ? ", " : "", k->title);
    }
  if (!any)
    run_say("no kernel that was launched matches '%s'; there %s %s", run_settings.kernel,
            n > 1 ? "are" : "is", n && !names.failed ? names.data : "none");
  else if (run_settings.launch && !recorded.n && !lost)
    run_say("no kernel that is meant has a launch number %" PRIu64 " that can be recorded",
            run_settings.launch);
  else
    n = 0;
  hd_buf_free(&names);
  return !any || n;
}

bool run_record_end(hd_buf *lines) {
  size_t kept = 0;
  run_pack_wait();
  if (recorded.n) qsort(recorded.data, recorded.n, sizeof *recorded.data, by_time);
  for (size_t i = 0; i < recorded.n; i++) {
    recording *r = &recorded.data[i];
    if (r->pack->failed) {
      lost = r->pack->failed;
      snprintf(r->kernel->why, sizeof r->kernel->why, "not recorded: its files cannot be written");
    } else if (kept < run_settings.most && ++kept) {
      tell(r, lines);
      continue;
    } else
      run_pack_remove(r->pack->folder);
    r->shape->folder = NULL;
  }
  if (lost) run_say("recordings are lost: cannot write in %s: %s", run_settings.record, strerror(lost));
  const bool asked = run_settings.kernel[0] || run_settings.launch, missing = asked && say_missing();
  return !lost && !missing;
}
