/* The report at the end of the program: kernels, launches, instructions, findings. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/elf_symbols.h"
#include "cuda/core/findings.h"
#include "heddle/advise.h"
#include "heddle/container.h"

typedef struct line {
  char *kernel, *title;
  uint64_t launches, idle_launches, warp_instructions, thread_instructions;
  double seconds;
  core_locality locality;
} line;

static struct {
  pthread_mutex_t lock; /* findings come from operations, which run without core.lock */
  HD_VEC(line) kernels;
  HD_VEC(core_finding) findings;
  uint64_t others; /* findings in kernels that were not asked for */
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The source that a place is from; of a module that is still loaded. */
static hd_ptx_source source_of(core_code at) {
  if (!at.function || at.function->kind != CORE_FUNCTION) return (hd_ptx_source){.file = ""};
  return hd_ptx_source_at(at.function->module->ptx, at.line);
}

const char *core_code_text(core_code at, char *out, size_t cap) {
  const hd_ptx_source from = source_of(at);
  *out = 0;
  if (at.function && from.line)
    snprintf(out, cap, "PTX line %u (%.*s:%u)", at.line, (int)from.file_len, from.file, from.line);
  else if (at.function)
    snprintf(out, cap, "PTX line %u", at.line);
  return out;
}

static void add_place(core_finding *f, core_code at) {
  if (!at.function) return;
  const hd_ptx_source from = source_of(at);
  f->places[f->n_places++] =
      (core_found_place){at.function->kind == CORE_FUNCTION ? strdup(at.function->name) : NULL,
                         from.line ? strndup(from.file, from.file_len) : NULL, at.line, from.line};
}

static void free_finding(core_finding *f) {
  for (int k = 0; k < f->n_places; k++) {
    free(f->places[k].kernel);
    free(f->places[k].file);
  }
  free(f->text);
}

/* Count a finding that is there. */
static bool count(const core_finding *f) {
  for (size_t k = 0; f->text && k < report.findings.n; k++) {
    core_finding *have = &report.findings.data[k];
    if (have->hash != f->hash || have->kind != f->kind || strcmp(have->text, f->text) != 0) continue;
    have->times++;
    return true;
  }
  return false;
}

/* The report keeps the finding, unless memory has run out: one that comes again, as for each launch, once. */
static void note(core_finding *f, const char *fmt, va_list ap) {
  char text[2048];
  vsnprintf(text, sizeof text, fmt, ap);
  core_say("%s: %s", core_finding_name(f->kind), text);
  f->text = strdup(text);
  f->hash = hd_hash(text, strlen(text));
  f->times = 1;
  pthread_mutex_lock(&report.lock);
  if (count(f) || !f->text || !hd_vec_push(&report.findings, *f)) free_finding(f);
  pthread_mutex_unlock(&report.lock);
}

void core_found(core_finding_kind kind, const char *fmt, ...) {
  core_finding f = {.kind = kind};
  va_list ap;
  va_start(ap, fmt);
  note(&f, fmt, ap);
  va_end(ap);
}

/* Findings of no kernel, and those of kernels that are asked for. */
static bool is_wanted(const core_code at[2]) {
  const char *word = core.settings.kernel;
  bool any = false;
  for (int k = 0; k < 2 && word[0]; k++) {
    if (!at[k].function || at[k].function->kind != CORE_FUNCTION) continue;
    if (hd_kernel_matches(at[k].function->name, word)) return true;
    any = true;
  }
  return !any;
}

void core_found_at(core_finding_kind kind, const core_code at[2], const char *fmt, ...) {
  if (!is_wanted(at)) {
    pthread_mutex_lock(&report.lock);
    report.others++;
    pthread_mutex_unlock(&report.lock);
    return;
  }
  core_finding f = {.kind = kind};
  for (int k = 0; k < 2; k++) add_place(&f, at[k]);
  va_list ap;
  va_start(ap, fmt);
  note(&f, fmt, ap);
  va_end(ap);
}

/* Counts of kernels with the same name share one line, however often their module is loaded. */
void core_report_function(const core_function *f) {
  if (!f->launches) return;
  line *at = NULL;
  for (size_t k = 0; k < report.kernels.n && !at; k++)
    if (strcmp(report.kernels.data[k].kernel, f->name) == 0) at = &report.kernels.data[k];
  if (!at) {
    const line fresh = {.kernel = strdup(f->name), .title = strdup(f->title)};
    if (!fresh.kernel || !fresh.title || !hd_vec_push(&report.kernels, fresh)) {
      free(fresh.title);
      free(fresh.kernel);
      return;
    }
    at = &report.kernels.data[report.kernels.n - 1];
  }
  at->launches += f->launches;
  at->idle_launches += f->idle_launches;
  at->warp_instructions += f->warp_instructions;
  at->thread_instructions += f->thread_instructions;
  at->seconds += f->seconds;
  if (f->locality && f->locality->ctas > at->locality.ctas) at->locality = *f->locality;
}

static void gather(void) {
  for (size_t c = 0; c < core.contexts.n; c++)
    for (size_t m = 0; m < core.contexts.data[c]->modules.n; m++) {
      const core_module *module = core.contexts.data[c]->modules.data[m];
      for (size_t k = 0; k < module->functions.n; k++) core_report_function(module->functions.data[k]);
    }
}

/* After a fault the program could free nothing. */
static void note_leak(const core_memory *m, void *arg) {
  hd_buf caller = {0};
  if (m->kind == CORE_MEMORY_REGISTERED || m->context->fault != CU_SUCCESS) return;
  core_put_caller(m->from, &caller);
  core_found(CORE_FOUND_LEAK, "%" PRIu64 " bytes at 0x%" PRIx64 " of %s are never freed%s%s", m->bytes,
             m->address, m->what, caller.data ? ", allocated in " : "", caller.data ? caller.data : "");
  hd_buf_free(&caller);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_string(hd_buf *b, const char *text) { hd_buf_quote(b, text, strlen(text)); }

static void put_locality(hd_buf *b, const core_locality *l) {
  hd_buf_puts(b, ",\n   \"locality\": {\"category\": \"");
  hd_category_print(l->category, b);
  hd_buf_printf(b,
                "\", \"exploitable\": %s, \"ctas\": %" PRIu64 ", \"line_requests\": %" PRIu64
                ", \"intra_warp\": %" PRIu64 ", \"intra_cta\": %" PRIu64 ", \"inter_cta\": %" PRIu64
                ", \"sectors\": %" PRIu64 ", \"least_sectors\": %" PRIu64 ",\n    \"evidence\": ",
                hd_category_exploitable(l->category) ? "true" : "false", l->ctas, l->requests, l->intra_warp,
                l->intra_cta, l->inter_cta, l->sectors, l->least_sectors);
  put_string(b, l->evidence);
  hd_buf_putc(b, '}');
}

static void write_json(hd_buf *b) {
  hd_buf_puts(b, "{\"kernels\": [");
  for (size_t k = 0; k < report.kernels.n; k++) {
    const line *l = &report.kernels.data[k];
    hd_buf_puts(b, k ? ",\n  {\"kernel\": " : "\n  {\"kernel\": ");
    put_string(b, l->kernel);
    hd_buf_puts(b, ", \"title\": ");
    put_string(b, l->title);
    hd_buf_printf(b,
                  ", \"launches\": %" PRIu64 ", \"warp_instructions\": %" PRIu64
                  ", \"thread_instructions\": %" PRIu64 ", \"seconds\": %.6f",
                  l->launches, l->warp_instructions, l->thread_instructions, l->seconds);
    if (l->idle_launches) hd_buf_printf(b, ", \"idle_launches\": %" PRIu64, l->idle_launches);
    if (l->locality.ctas) put_locality(b, &l->locality);
    hd_buf_putc(b, '}');
  }
  hd_buf_puts(b, "],\n \"findings\": [");
  for (size_t k = 0; k < report.findings.n; k++) {
    hd_buf_printf(b, "%s\n  {\"kind\": \"%s\", \"text\": ", k ? "," : "",
                  core_finding_name(report.findings.data[k].kind));
    put_string(b, report.findings.data[k].text);
    if (report.findings.data[k].times > 1)
      hd_buf_printf(b, ", \"times\": %" PRIu64, report.findings.data[k].times);
    core_put_places(b, &report.findings.data[k]);
    hd_buf_putc(b, '}');
  }
  hd_buf_printf(b, "]%s%s}\n", core_is_cut() ? ", \"cut\": true" : "",
                core_alone_ended() ? ", \"alone\": true" : "");
}

static void write_text(hd_buf *b) {
  uint64_t launches = 0, instructions = 0;
  double seconds = 0;
  for (size_t k = 0; k < report.kernels.n; k++) {
    const line *l = &report.kernels.data[k];
    launches += l->launches;
    instructions += l->thread_instructions;
    seconds += l->seconds;
    hd_buf_printf(b, "heddle: %-40s %8" PRIu64 " launch%-2s %14" PRIu64 " thread instructions %10.3f s\n",
                  l->title, l->launches, l->launches == 1 ? "" : "es", l->thread_instructions, l->seconds);
    if (l->idle_launches)
      hd_buf_printf(b, "heddle:   %" PRIu64 " %s would have changed nothing again, and %s not run\n",
                    l->idle_launches, l->idle_launches == 1 ? "launch" : "launches",
                    l->idle_launches == 1 ? "was" : "were");
    if (!l->locality.ctas) continue;
    hd_buf_puts(b, "heddle:   ");
    hd_category_print(l->locality.category, b);
    hd_buf_printf(b, "%s: %s\n",
                  hd_category_exploitable(l->locality.category) ? " (an order can exploit it)" : "",
                  l->locality.evidence);
  }
  hd_buf_printf(b,
                "heddle: %zu kernel%s, %" PRIu64 " launch%s, %" PRIu64
                " thread instructions, %.3f s emulated; %zu finding%s",
                report.kernels.n, report.kernels.n == 1 ? "" : "s", launches, launches == 1 ? "" : "es",
                instructions, seconds, report.findings.n, report.findings.n == 1 ? "" : "s");
  if (report.others)
    hd_buf_printf(b, ", and %" PRIu64 " in kernels other than %s", report.others, core.settings.kernel);
  hd_buf_putc(b, '\n');
}

/* Whether the process has this library twice: once more in a namespace of its own, where its calls went. */
static bool is_loaded_again(void) {
  Dl_info own;
  char *text = NULL, path[PATH_MAX];
  const bool known = dladdr(&report, &own) && own.dli_fname && realpath(own.dli_fname, path);
  FILE *f = known ? fopen("/proc/self/maps", "re") : NULL;
  size_t cap = 0;
  unsigned times = 0;
  while (f && getline(&text, &cap, f) > 0) {
    text[strcspn(text, "\n")] = 0;
    const char *at = strchr(text, '/');
    times += at && strstr(text, " 00000000 ") && strcmp(at, path) == 0;
  }
  free(text);
  if (f) fclose(f);
  return times > 1;
}

/* Whether the program itself made no CUDA call; its child processes do not count. */
static void say_unused(void) {
  hd_program_settings s;
  const char *text = getenv(HD_PROGRAM_VARIABLE);
  if (core.pid || !text || hd_program_settings_parse(text, &s, NULL) != HD_OK) return;
  if (strcmp(program_invocation_short_name, "heddle") == 0)
    return; /* it starts the program that makes them */
  if (!s.quiet && s.pid == (uint64_t)getpid())
    core_say(is_loaded_again()
                 ? "%s made CUDA calls in a namespace of its own (dlmopen), which tools in front of the "
                   "driver, heddle run among them, do not reach"
                 : "%s made no CUDA call",
             program_invocation_short_name);
}

static bool failed; /* a file, other than the log, could not be written */

static void write_file(const char *path, hd_buf *b) {
  hd_diag d = {0};
  if (!b->failed && hd_file_write(path, b->data ? b->data : "", b->len, &d) == HD_OK) return;
  core_say("%s: %s", path, b->failed ? "out of memory" : d.message);
  failed = true;
}

void core_leave(int code) {
  if (core.pid != getpid()) return;
  const int own = report.findings.n && core.settings.error_code ? (int)core.settings.error_code
                  : (failed || core.log_lost) && !code          ? 2
                                                                : code;
  if (own == code) return;
  fflush(NULL);
  _exit(own);
}

void core_report(void) {
  hd_buf b = {0}, found = {0};
  if (core_alone_ended() && core.ended) return; /* written before the process's destructors ran */
  if (core_ready() != CU_SUCCESS) {
    say_unused();
    return;
  }
  core_wait_end();
  gather();
  if (core.settings.checks & HD_PROGRAM_CHECK_LEAK) core_memory_live(note_leak, NULL);
  core.ended = true;
  core_say_counts();
  if (core.settings.findings[0]) {
    core_findings_print(report.findings.data, report.findings.n, core.settings.findings, &found);
    write_file(core.settings.findings, &found);
  }
  if (core.settings.report[0]) {
    write_json(&b);
    write_file(core.settings.report, &b);
  } else if (!core.settings.quiet) {
    write_text(&b);
    if (b.data) core_write(b.data, b.len);
  }
  hd_buf_free(&found);
  hd_buf_free(&b);
}
