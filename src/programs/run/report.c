/* The beginning and the end of the program: settings; the report. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page/page.h"
#include "run/watch.h"

static pid_t process; /* that was started: a fork of it does not report */
static bool failed;   /* something that the user asked of heddle could not be done */

void run_say(const char *fmt, ...) {
  char text[2048];
  va_list ap;
  va_start(ap, fmt);
  hd_fit_args(text, sizeof text, fmt, ap);
  va_end(ap);
  fprintf(stderr, "heddle: %s\n", text);
}

/* ---- Kernels ----------------------------------------------------------------------------------- */

/* Kernels of one name are one row, however often their module is loaded. */
typedef struct row {
  const char *name, *title, *plan, *why;
  double speedup;      /* 0: not found here */
  double seconds;      /* of all launches, from those that were timed */
  const char *refused; /* why no plan can touch it; NULL: not asked, or some can */
  const char *folder;  /* of the launch that was recorded and stands for most time; NULL: none */
  double folder_seconds;
  unsigned long launches, steered, early, saved; /* saved: nanoseconds */
  unsigned long nodes;                           /* of executable graphs, that are steered */
  unsigned long cut;                             /* kernels whose tuning --total ended */
  run_lived here;                                /* of launches in turns, the newest; pairs 0: none */
  double lost, ready;                            /* seconds */
  double measured;                               /* of all: what is saved by kernels that were measured */
} row;
typedef HD_VEC(row) rows;

/* Then nothing is steered, and no verdict is asked for. */
static bool is_recording(void) { return run_settings.record[0] && !run_settings.profile; }

/* Launches that were the original's for the sake of what was found, or is known. */
static unsigned long meant(const run_kernel *k) {
  return k->why[0] || (k->tuned[0] && !k->speedup) ? 0 : atomic_load(&((run_kernel *)(uintptr_t)k)->trials);
}

/* Launches that were the original's, by what each of them met. */
static const char *missing(run_kernel *k, unsigned long others) {
  static const char *const what[RUN_MISSES] = {
      [RUN_MISS_NOT] = "before it was found",
      [RUN_MISS_OTHER] = "of other grids, blocks or shared memory",
      [RUN_MISS_HELD] = "while its plan is on probation",
      [RUN_MISS_OFF] = "after its plan was given up",
      [RUN_MISS_EARLY] = "before the rewritten kernel was ready",
      [RUN_MISS_FORM] = "whose parameters are not understood",
      [RUN_MISS_MEMORY] = "that may write what the plan takes for unwritten",
      [RUN_MISS_STREAMS] = "in more streams at once than have room",
      [RUN_MISS_CAPTURE] = "under a capture",
      [RUN_MISS_KIND] = "in clusters, cooperative, or dependent on others"};
  unsigned long n[RUN_MISSES] = {others};
  hd_buf text = {0};
  for (int i = 1; i < RUN_MISSES; i++) n[i] = atomic_load(&k->missed[i]);
  for (;;) {
    int most = 0;
    for (int i = 1; i < RUN_MISSES; i++)
      if (n[i] > n[most]) most = i;
    if (!n[most]) break;
    hd_buf_printf(&text, "%s%lu %s", text.len ? ", " : "", n[most], what[most]);
    n[most] = 0;
  }
  hd_fit(k->missing, sizeof k->missing, "%s", text.failed || !text.len ? "" : text.data);
  hd_buf_free(&text);
  return k->missing;
}

const char *run_why(const run_module *m, const run_kernel *k) {
  if (k->why[0]) return k->why;
  const bool steers = atomic_load(&k->variants) || atomic_load(&k->levers);
  const unsigned long early = atomic_load(&k->early);
  if (m->why && !steers) return m->why;
  if (k->tuned[0] && !k->speedup) return k->tuned;
  if (early && atomic_load(&k->steered) + early >= atomic_load(&k->launches))
    return "the rewritten kernel was not ready yet";
  if (!steers) return is_recording() ? "" : "no verdict";
  unsigned long known = atomic_load(&k->steered) + meant(k);
  for (int i = 1; i < RUN_MISSES; i++) known += atomic_load(&k->missed[i]);
  const unsigned long launches = atomic_load(&k->launches), rest = launches > known ? launches - known : 0;
  return missing((run_kernel *)(uintptr_t)k, k->speedup ? rest : 0);
}

static void add_turns(row *r, const run_kernel *k) {
  for (const run_live *t = run_live_first(k); t; t = run_live_next(t)) {
    const run_lived known = run_live_known(t);
    if (known.pairs && !r->here.pairs) r->here = known;
    if (known.lost > 0) r->lost += known.lost;
  }
  for (const run_variant *v = atomic_load(&((run_kernel *)(uintptr_t)k)->variants); v; v = v->next)
    if ((v->verdict || k->speedup) && !atomic_load(&v->off)) r->ready += v->ready;
}

static void add(rows *list, const run_module *m, const run_kernel *k) {
  const unsigned long launches = atomic_load(&k->launches), steered = atomic_load(&k->steered);
  row *r = NULL;
  for (size_t i = 0; i < list->n && !r; i++)
    if (strcmp(list->data[i].name, k->name) == 0) r = &list->data[i];
  if (!launches && !atomic_load(&k->nodes)) return;
  if (!r) {
    const row fresh = {.name = k->name, .title = k->title};
    if (!hd_vec_push(list, fresh)) return;
    r = &list->data[list->n - 1];
  }
  r->launches += launches;
  r->nodes += atomic_load(&k->nodes);
  if (k->refused[0]) r->refused = k->refused;
  if (k->timed) r->seconds += k->seconds / (double)k->timed * (double)launches;
  for (const run_shape *s = k->shapes; s; s = s->next)
    if (s->folder && s->seconds * (double)s->launches >= r->folder_seconds) {
      r->folder = s->folder;
      r->folder_seconds = s->seconds * (double)s->launches;
    }
  r->steered += steered;
  r->early += atomic_load(&k->early);
  r->saved += atomic_load(&((run_kernel *)(uintptr_t)k)->saved);
  if (steered || k->speedup || atomic_load(&k->nodes)) r->plan = k->plan;
  if (k->speedup) r->speedup = k->speedup;
  const char *why = steered + meant(k) < launches ? run_why(m, k) : "";
  if (why[0]) r->why = why;
  r->cut |= why[0] && k->cut;
  add_turns(r, k);
}

static int by_launches(const void *a, const void *b) {
  const row *x = a, *y = b;
  return x->launches != y->launches ? (x->launches < y->launches ? 1 : -1) : strcmp(x->name, y->name);
}

/* ---- Text and JSON ----------------------------------------------------------------------------- */

enum { MOST_ROWS = 20 };

static void print_head(const rows *list, const row *all, hd_buf *b) {
  hd_buf_printf(b, "%zu kernel%s, %lu launch%s", list->n, list->n == 1 ? "" : "s", all->launches,
                all->launches == 1 ? "" : "es");
  if (!is_recording()) hd_buf_printf(b, ", %lu of them steered", all->steered);
  if (all->saved) hd_buf_printf(b, ", which saved about %.3g ms", (double)all->saved * 1e-6);
  if (all->lost > 0) hd_buf_printf(b, "%s %.3g ms lost in turns", all->saved ? ";" : ",", all->lost * 1e3);
  if (all->ready > 0)
    hd_buf_printf(b, "%s %.3g ms to get ready", all->saved || all->lost > 0 ? "," : "; it took",
                  all->ready * 1e3);
}

/* What the launches themselves have shown. */
static void print_here(const row *r, hd_buf *b) {
  const run_lived *h = &r->here;
  if (h->promised) hd_buf_printf(b, "  promised %.3gx", h->promised);
  if (h->pairs) hd_buf_printf(b, "%s here %.3gx (", h->promised ? "," : " ", h->median);
  if (h->pairs && h->high < 100)
    hd_buf_printf(b, "%.3g to %.3g, ", h->low, h->high);
  else if (h->pairs)
    hd_buf_printf(b, "%.3g at least, ", h->low);
  if (h->pairs) hd_buf_printf(b, "%.0f pair%s)", h->pairs, h->pairs == 1 ? "" : "s");
  if (r->ready > 0) hd_buf_printf(b, "  ready in %.3g ms", r->ready * 1e3);
  if (r->saved) hd_buf_printf(b, "  saved %.3g ms", (double)r->saved * 1e-6);
  if (r->lost > 0) hd_buf_printf(b, "  lost %.3g ms in turns", r->lost * 1e3);
}

static void print_text(const rows *list, const row *all, hd_buf *b) {
  hd_buf_puts(b, "heddle: ");
  print_head(list, all, b);
  hd_buf_putc(b, '\n');
  for (size_t k = 0; k < list->n && k < MOST_ROWS; k++) {
    const row *r = &list->data[k];
    hd_buf_printf(b, "  %8lu launches", r->launches);
    if (!is_recording()) hd_buf_printf(b, " %8lu steered", r->steered);
    hd_buf_printf(b, "  %s", r->title);
    if (r->nodes) hd_buf_printf(b, "  %lu node%s of graphs", r->nodes, r->nodes == 1 ? "" : "s");
    if (r->plan) hd_buf_printf(b, "  %s", r->plan);
    if (r->speedup) hd_buf_printf(b, " %.2fx", r->speedup);
    print_here(r, b);
    if (r->why) hd_buf_printf(b, "  (%s)", r->why);
    hd_buf_putc(b, '\n');
  }
  if (list->n > MOST_ROWS) hd_buf_printf(b, "  and %zu more\n", list->n - MOST_ROWS);
  if (all->cut)
    hd_buf_printf(b,
                  "  tuning goes on with %lu kernel%s in the next run under --tune; --total 60 gives it a "
                  "minute\n",
                  all->cut, all->cut == 1 ? "" : "s");
}

static void put_string(hd_buf *b, const char *key, const char *text) {
  hd_buf_printf(b, ", \"%s\": ", key);
  hd_buf_quote(b, text, strlen(text));
}

static void print_json(const rows *list, const row *all, hd_buf *b) {
  hd_buf_printf(b, "{\"launches\": %lu, \"steered\": %lu, \"early\": %lu, \"saved\": %.9g, ", all->launches,
                all->steered, all->early, (double)all->saved * 1e-9);
  hd_buf_printf(b, "\"saved_measured\": %.9g, \"lost\": %.9g, \"ready\": %.9g, \"parsed\": %lu, ",
                all->measured, all->lost, all->ready, run_parsed());
  if (all->cut) hd_buf_printf(b, "\"unfinished\": %lu, ", all->cut);
  hd_buf_puts(b, "\"kernels\": [");
  for (size_t k = 0; k < list->n; k++) {
    const row *r = &list->data[k];
    hd_buf_printf(b, "%s\n  {\"launches\": %lu, \"steered\": %lu", k ? "," : "", r->launches, r->steered);
    if (r->early) hd_buf_printf(b, ", \"early\": %lu", r->early);
    put_string(b, "kernel", r->name);
    put_string(b, "title", r->title);
    if (r->nodes) hd_buf_printf(b, ", \"nodes\": %lu", r->nodes);
    if (r->seconds > 0) hd_buf_printf(b, ", \"seconds\": %.9g", r->seconds);
    if (r->refused) put_string(b, "refused", r->refused);
    if (r->folder) put_string(b, "folder", r->folder);
    if (r->plan) put_string(b, "plan", r->plan);
    if (r->speedup) hd_buf_printf(b, ", \"speedup\": %.4g", r->speedup);
    if (r->saved) hd_buf_printf(b, ", \"saved\": %.9g", (double)r->saved * 1e-9);
    if (r->here.promised) hd_buf_printf(b, ", \"promised\": %.4g", r->here.promised);
    if (r->here.pairs)
      hd_buf_printf(b, ", \"measured\": %.4g, \"low\": %.4g, \"pairs\": %.0f", r->here.median, r->here.low,
                    r->here.pairs);
    if (r->here.pairs && r->here.high < 100) hd_buf_printf(b, ", \"high\": %.4g", r->here.high);
    if (r->ready > 0) hd_buf_printf(b, ", \"ready\": %.9g", r->ready);
    if (r->lost > 0) hd_buf_printf(b, ", \"lost\": %.9g", r->lost);
    if (r->why) put_string(b, "why", r->why);
    hd_buf_putc(b, '}');
  }
  hd_buf_puts(b, "\n]}\n");
}

/* ---- The page ---------------------------------------------------------------------------------- */

/* The same JSON, which the pages' script draws. */
static void print_page(const rows *list, const row *all, hd_buf *b) {
  hd_buf json = {0}, files = {0}, line = {0};
  print_json(list, all, &json);
  print_head(list, all, &line);
  b->failed |= json.failed || line.failed;
  if (!b->failed) {
    page_add_json(&files, "kernels", json.data, json.len);
    page_put(b, "heddle run", line.data, &files);
  }
  hd_buf_free(&json);
  hd_buf_free(&files);
  hd_buf_free(&line);
}

/* ---- All of it --------------------------------------------------------------------------------- */

static void write_report(const char *path, void (*print)(const rows *, const row *, hd_buf *),
                         const rows *list, const row *all) {
  hd_buf b = {0};
  hd_diag d = {0};
  if (!path[0]) return;
  print(list, all, &b);
  if (b.failed || hd_file_write(path, b.data, b.len, &d) != HD_OK)
    run_say("the report cannot be written: %s", b.failed ? "out of memory" : d.message), failed = true;
  hd_buf_free(&b);
}

void run_report(void) {
  rows list = {0};
  row all = {0};
  hd_buf b = {0}, lines = {0};
  run_times_take();
  if (run_settings.record[0]) failed |= !run_record_end(&lines);
  for (const run_module *m = run_modules; m; m = m->next)
    for (run_kernel *k = m->kernels; k; k = k->next) {
      run_live_settle(k, true);
      run_notes_count(k);
    }
  for (const run_module *m = run_modules; m; m = m->next)
    for (const run_kernel *k = m->kernels; k; k = k->next) add(&list, m, k);
  if (list.n) qsort(list.data, list.n, sizeof *list.data, by_launches);
  for (size_t k = 0; k < list.n; k++) {
    all.launches += list.data[k].launches;
    all.steered += list.data[k].steered;
    all.early += list.data[k].early;
    all.saved += list.data[k].saved;
    all.cut += list.data[k].cut;
    all.lost += list.data[k].lost;
    all.ready += list.data[k].ready;
    if (list.data[k].here.pairs) all.measured += (double)list.data[k].saved * 1e-9;
  }
  write_report(run_settings.report, print_json, &list, &all);
  write_report(run_settings.page, print_page, &list, &all);
  if (!run_settings.report[0] && !run_settings.page[0] && !run_settings.quiet) {
    print_text(&list, &all, &b);
    if (!b.failed) fwrite(b.data, 1, b.len, stderr);
    if (lines.len && !lines.failed) fwrite(lines.data, 1, lines.len, stderr);
  }
  run_notes_write(true);
  hd_buf_free(&lines);
  hd_buf_free(&b);
  hd_vec_free(&list);
}

/* ---- The process ------------------------------------------------------------------------------- */

/* A thread that is not there any more may have had it. */
static void forked(void) {
  pthread_mutex_init(&run_lock, NULL);
  run_gate_forked();
  run_memory_forked();
  run_captures_forked();
  run_compilers_forked();
  run_live_forked();
  run_pairs_forked();
}

/* The C library calls it behind the destructors, since it was named before main began. The program's own exit
 * code stays where that says that something is wrong. */
static void leave(int code, void *unused) {
  (void)unused;
  if (code || !failed || getpid() != process) return;
  fflush(NULL);
  _exit(2);
}

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv(HD_STEER_VARIABLE);
  hd_diag d;
  process = getpid();
  on_exit(leave, NULL);
  run_began = hd_seconds();
  pthread_atfork(NULL, NULL, forked);
  if (text && hd_steer_settings_parse(text, &run_settings, &d) == HD_OK) {
    run_watches = run_settings.tune || run_settings.record[0];
    run_tracks = run_watches || run_settings.plan[0] || run_settings.verdicts[0];
    return;
  }
  if (text) run_say("%s", d.message);
  run_settings = (hd_steer_settings){.quiet = true};
}

/* A program that may have looked for a driver; one that has a driver of its own was seen with it. */
static void say_no_driver(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver)
    dlclose(driver);
  else
    run_say("there is no NVIDIA driver here (libcuda.so.1); on the emulator: heddle emu -- heddle %s ...",
            run_settings.record[0] ? "record" : "run");
}

/* Processes that use no GPU say nothing. */
__attribute__((destructor)) static void end(void) {
  run_compiler_end();
  if (!run_driver_found() && !run_settings.quiet && run_settings.pid == (uint64_t)getpid()) say_no_driver();
  if (!run_driver_found() || getpid() != process || !run_modules) return;
  /* A thread that was stopped in a call has the lock for good. */
  if (pthread_mutex_trylock(&run_lock) != 0) return;
  run_report();
  pthread_mutex_unlock(&run_lock);
}
