/* Starts a program with libheddle-run.so in front of it. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/plan.h"
#include "heddle/process.h"
#include "heddle/program.h"
#include "heddle/steer.h"
#include "heddle/trusted.h"

#define LIBRARY "libheddle-run.so"

enum {
  LOCK_MS = 250
}; /* that a program waits before it starts, for a store that another process keeps locked */

/* ---- Verdicts ---------------------------------------------------------------------------------- */

typedef struct snapshot {
  hd_store *store;
  const char *folder;
  bool all; /* those that leave the original, too */
  hd_buf text;
  hd_status st;
  hd_diag *d;
} snapshot;

/* Whether a file that only the user can have written is there, with this content (NULL: any). */
static bool is_kept(const char *path, const char *content, size_t len) {
  hd_buf b = {0};
  const bool there = hd_trusted_read(path, &b, NULL) == HD_OK,
             same = there && (!content || (b.len == len && memcmp(b.data, content, len) == 0));
  hd_buf_free(&b);
  return same;
}

/* A table that the store keeps becomes a file, once: its name says what is in it. */
static hd_status keep_table(snapshot *s, hd_verdict *v) {
  char name[HD_DIGEST_HEX], path[HD_STEER_PATH];
  hd_table t = {0};
  hd_plan plan;
  hd_buf text = {0};
  bool found;
  if (!hd_verdict_table_of(v->plan, name)) return HD_OK;
  hd_status st = hd_store_get_table(s->store, name, &t.task, &t.n, &found, s->d);
  if (st != HD_OK || !found) return st;
  snprintf(path, sizeof path, "%s/%s.table", s->folder, name);
  if (!is_kept(path, NULL, 0)) {
    st = hd_table_write(path, &t, s->d);
    if (st == HD_OK && chmod(path, 0600) != 0) st = hd_fail(s->d, HD_ERR_IO, "%s: %s", path, strerror(errno));
  }
  if (st == HD_OK) st = hd_plan_parse(v->plan, &plan, s->d);
  if (st == HD_OK) st = hd_plan_order_by(&plan, path, s->d);
  if (st == HD_OK) {
    hd_plan_print(&plan, &text);
    if (!text.data || text.failed || text.len >= sizeof v->plan) st = hd_nomem(s->d);
    if (st == HD_OK) memcpy(v->plan, text.data, text.len + 1);
  }
  hd_buf_free(&text);
  hd_table_free(&t);
  return st;
}

static bool take(void *ctx, const hd_verdict *stored) {
  snapshot *s = ctx;
  hd_verdict v = *stored;
  if (!s->all && strcmp(v.plan, "baseline") == 0) return true;
  s->st = keep_table(s, &v);
  if (s->st == HD_OK) hd_steer_verdict_print(&v, &s->text);
  return s->st == HD_OK;
}

/* The verdicts as a file whose name is a digest of them: programs that start later with the same ones share
 * it. */
static hd_status write_snapshot(snapshot *s, char path[HD_STEER_PATH]) {
  hd_digest h = hd_digest_begin();
  char hex[HD_DIGEST_HEX];
  hd_status st = hd_store_each(s->store, &(hd_store_filter){0}, take, s, s->d);
  if (st == HD_OK) st = s->st;
  if (st == HD_OK && s->text.failed) st = hd_nomem(s->d);
  if (st != HD_OK || !s->text.len) return st;
  hd_digest_bytes(&h, s->text.data, s->text.len);
  snprintf(path, HD_STEER_PATH, "%s/%s.verdicts", s->folder, hd_digest_hex(&h, hex));
  return is_kept(path, s->text.data, s->text.len) ? HD_OK
                                                  : hd_trusted_write(path, s->text.data, s->text.len, s->d);
}

/* A file of verdicts as a store of its own, which no other process sees. */
static hd_status open_pinned(const char *pin, hd_store **out, hd_diag *d) {
  uint64_t imported;
  hd_status st = hd_store_open(":memory:", out, d);
  if (st == HD_OK && (st = hd_store_import_file(*out, pin, &imported, d)) != HD_OK) {
    hd_store_close(*out);
    *out = NULL;
  }
  return st;
}

static hd_status take_verdicts(const hd_steer_options *o, char path[HD_STEER_PATH], hd_diag *d) {
  char cache[HD_STEER_PATH / 2], folder[HD_STEER_PATH - 64];
  snapshot s = {.folder = folder, .all = o->tune, .d = d};
  hd_status st = hd_trusted_cache(cache, sizeof cache, d);
  if (st != HD_OK) return st;
  snprintf(folder, sizeof folder, "%s/run", cache);
  st = o->pin ? open_pinned(o->pin, &s.store, d) : hd_store_open_within(o->store, LOCK_MS, &s.store, d);
  if (st == HD_OK) st = hd_trusted_folder(folder, true, d);
  if (st == HD_OK && !o->pin) st = hd_steer_collect(s.store, d);
  if (st == HD_OK) st = write_snapshot(&s, path);
  hd_store_close(s.store);
  hd_buf_free(&s.text);
  if (st != HD_OK) path[0] = 0;
  return st;
}

/* ---- Settings ---------------------------------------------------------------------------------- */

static hd_status take_number(const char *name, const char *value, double *out, hd_diag *d) {
  char *end;
  if (!value) return HD_OK;
  const double number = strtod(value, &end);
  if (end == value || *end || !(number >= 0) || isinf(number))
    return hd_fail(d, HD_ERR_USAGE, "--%s takes a number, not '%s'", name, value);
  *out = number;
  return HD_OK;
}

static hd_status take_count(const char *name, const char *value, uint64_t *out, hd_diag *d) {
  if (!value || hd_parse_u64(value, strlen(value), UINT32_MAX, out)) return HD_OK;
  return hd_fail(d, HD_ERR_USAGE, "--%s takes a number, not '%s'", name, value);
}

/* Seconds, or a share of the program's time. */
static hd_status take_total(const char *value, hd_steer_settings *s, hd_diag *d) {
  char percent[32];
  double number = 0;
  const size_t n = value ? strlen(value) : 0;
  if (!n) return take_number("total", value, &s->total, d);
  const bool share = value[n - 1] == '%' && n <= sizeof percent;
  if (share) hd_fit(percent, n, "%s", value);
  const hd_status st = take_number("total", share ? percent : value, &number, d);
  if (st != HD_OK) return st;
  s->total = share ? 0 : number;
  s->share = share ? number / 100 : 0;
  s->least = 0;
  return HD_OK;
}

static hd_status make_tuning(const hd_steer_options *o, hd_steer_settings *s, hd_diag *d) {
  hd_status st = take_number("budget", o->budget, &s->budget, d);
  if (st == HD_OK) st = take_total(o->total, s, d);
  if (st == HD_OK) st = take_count("launch", o->launch, &s->launch, d);
  if (st == HD_OK) st = take_count("most", o->most, &s->most, d);
  if (st == HD_OK) st = take_number("worth", o->worth, &s->worth, d);
  if (st == HD_OK) st = take_number("gain", o->gain, &s->gain, d);
  if (st != HD_OK || !o->tune) return st;
  s->tune = true;
  /* Without a folder the verdicts hold for this process alone. */
  if (hd_steer_found(s->found, sizeof s->found, NULL) != HD_OK ||
      hd_trusted_folder(s->found, true, NULL) != HD_OK)
    s->found[0] = 0;
  return HD_OK;
}

static void make_cache(const char *cache, const char *name, char folder[HD_STEER_PATH]) {
  snprintf(folder, HD_STEER_PATH, "%s/%s", cache, name);
  /* One that is not to be trusted is named where it would be used. */
  if (!cache[0] || hd_trusted_folder(folder, true, NULL) == HD_ERR_IO) folder[0] = 0;
}

/* Without folders, machine code stays without its PTX, and rewritten kernels are compiled each time. */
static void make_caches(hd_steer_settings *s) {
  char cache[HD_STEER_PATH / 2];
  hd_cache_folder(cache, sizeof cache);
  make_cache(cache, "ptx", s->texts);
  make_cache(cache, "cubins", s->cubins);
  /* Without it nothing is learnt of verdicts beyond a process. */
  if (hd_steer_notes(s->notes, sizeof s->notes, NULL) != HD_OK ||
      hd_trusted_folder(s->notes, true, NULL) != HD_OK)
    s->notes[0] = 0;
}

static hd_status make_recording(const hd_steer_options *o, hd_steer_settings *s, hd_diag *d) {
  hd_status st = hd_folder_make(o->record, d);
  if (st == HD_OK) st = hd_program_keep_path(o->record, s->record, sizeof s->record, d);
  if (st == HD_OK && o->kernel &&
      snprintf(s->kernel, sizeof s->kernel, "%s", o->kernel) >= (int)sizeof s->kernel)
    st = hd_fail(d, HD_ERR_USAGE, "the kernel's name is too long");
  return st;
}

static hd_status make_settings(const hd_steer_options *o, hd_steer_settings *s, void (*told)(const hd_diag *),
                               hd_diag *d) {
  static const hd_steer_settings usual = {
      .budget = 5, .share = 0.05, .least = 0.5, .worth = 1e-3, .gain = 1.01, .most = 10};
  *s = usual;
  s->quiet = o->quiet;
  s->pid = (uint64_t)getpid();
  s->unguarded = o->unguarded;
  s->profile = o->profile;
  hd_plan plan;
  hd_status st = HD_OK;
  if (o->plan) {
    st = hd_plan_parse(o->plan, &plan, d);
    if (st == HD_OK && hd_order_needs_table(plan.order.kind))
      st = hd_fail(d, HD_ERR_USAGE, "a table is for one grid, not for every kernel");
    if (st == HD_OK && snprintf(s->plan, sizeof s->plan, "%s", o->plan) >= (int)sizeof s->plan)
      st = hd_fail(d, HD_ERR_USAGE, "the plan is too long");
  } else {
    hd_diag store = {0};
    hd_status read = take_verdicts(o, s->verdicts, &store);
    if (read != HD_OK && o->pin) {
      if (d) *d = store;
      return read;
    }
    if (read != HD_OK) told(&store);
  }
  make_caches(s);
  if (st == HD_OK) st = make_tuning(o, s, d);
  if (st == HD_OK && o->record) st = make_recording(o, s, d);
  if (st == HD_OK && o->report) st = hd_program_keep_path(o->report, s->report, sizeof s->report, d);
  return st == HD_OK && o->page ? hd_program_keep_path(o->page, s->page, sizeof s->page, d) : st;
}

hd_status hd_steer_exec(const hd_steer_options *o, char **argv, void (*told)(const hd_diag *store),
                        hd_diag *d) {
  hd_steer_settings s;
  hd_buf text = {0};
  char folder[HD_PROGRAM_PATH];
  hd_status st = make_settings(o, &s, told, d);
  if (st == HD_OK) st = hd_steer_settings_print(&s, &text, d);
  if (st == HD_OK) st = hd_program_preload(LIBRARY, o->folder, folder, d);
  if (st == HD_OK && setenv(HD_STEER_VARIABLE, text.data, 1) != 0) st = hd_nomem(d);
  hd_buf_free(&text);
  return st == HD_OK ? hd_program_become(argv, d) : st;
}

typedef struct beginning {
  const hd_steer_options *o;
  char **argv;
  void (*told)(const hd_diag *);
  pid_t parent;
} beginning;

/* Becomes the program, which closes the stream; or sends why it cannot. */
static void begin(void *ctx, int fd) {
  const beginning *b = ctx;
  hd_diag d = {0};
  hd_process_end_with(b->parent);
  if (b->o->aside) dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!b->o->emulated || hd_program_prepare(b->o->emulated, &d) == HD_OK)
    hd_steer_exec(b->o, b->argv, b->told, &d);
  hd_process_send(fd, &d, sizeof d);
}

static hd_status run_apart(const hd_steer_options *o, char **argv, void (*told)(const hd_diag *), int *code,
                           hd_diag *d) {
  beginning b = {o, argv, told, getpid()};
  hd_process p;
  hd_diag failed = {0};
  int status = 0;
  const hd_status st = hd_process_fork(begin, &b, &p, d);
  if (st != HD_OK) return st;
  void (*const interrupt)(int) = signal(SIGINT, SIG_IGN), (*const quit)(int) = signal(SIGQUIT, SIG_IGN);
  const bool none = hd_process_receive(p.fd, &failed, sizeof failed);
  close(p.fd);
  while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR) continue;
  signal(SIGINT, interrupt);
  signal(SIGQUIT, quit);
  *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (none && d) *d = failed;
  return none ? failed.status : HD_OK;
}

hd_status hd_steer_watch(const hd_steer_options *o, char **argv, void (*told)(const hd_diag *),
                         hd_steer_watched *out, hd_diag *d) {
  hd_steer_options own = *o;
  hd_program_options emulated;
  *out = (hd_steer_watched){0};
  hd_status st = hd_scratch_make(out->folder, sizeof out->folder, d);
  if (st != HD_OK) return st;
  snprintf(out->report, sizeof out->report, "%s/report.json", out->folder);
  if (o->emulated) {
    emulated = *o->emulated;
    snprintf(out->emulated, sizeof out->emulated, "%s/emulated.json", out->folder);
    emulated.report = out->emulated;
    own.emulated = &emulated;
  }
  own.plan = "baseline";
  own.profile = own.quiet = true;
  own.worth = "0";
  own.report = out->report;
  if (!own.record) own.record = out->folder;
  st = run_apart(&own, argv, told, &out->code, d);
  out->reported = st == HD_OK && access(out->report, R_OK) == 0;
  if (st != HD_OK) hd_scratch_remove(out->folder);
  return st;
}
