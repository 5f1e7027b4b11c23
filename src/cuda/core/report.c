/* The report at the end of the program: kernels, launches, instructions, findings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"

typedef struct line {
  char *kernel;
  uint64_t launches, warp_instructions, thread_instructions;
  double seconds;
} line;

typedef struct finding {
  core_finding_kind kind;
  char *text;
} finding;

static struct {
  pthread_mutex_t lock; /* findings come from operations, which run without core.lock */
  HD_VEC(line) kernels;
  HD_VEC(finding) findings;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const kinds[] = {[CORE_FOUND_FAULT] = "fault",
                                    [CORE_FOUND_ARGUMENT] = "argument",
                                    [CORE_FOUND_LEAK] = "leak",
                                    [CORE_FOUND_STREAMS] = "streams",
                                    [CORE_FOUND_HOST] = "host"};

void core_found(core_finding_kind kind, const char *fmt, ...) {
  char text[2048];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  core_say("%s: %s", kinds[kind], text);
  pthread_mutex_lock(&report.lock);
  const finding f = {kind, strdup(text)};
  if (f.text && !hd_vec_push(&report.findings, f)) free(f.text);
  pthread_mutex_unlock(&report.lock);
}

/* Counts of kernels with the same name share one line, however often their module is loaded. */
void core_report_function(const core_function *f) {
  if (!f->launches) return;
  line *at = NULL;
  for (size_t k = 0; k < report.kernels.n && !at; k++)
    if (strcmp(report.kernels.data[k].kernel, f->name) == 0) at = &report.kernels.data[k];
  if (!at) {
    const line fresh = {.kernel = strdup(f->name)};
    if (!fresh.kernel || !hd_vec_push(&report.kernels, fresh)) {
      free(fresh.kernel);
      return;
    }
    at = &report.kernels.data[report.kernels.n - 1];
  }
  at->launches += f->launches;
  at->warp_instructions += f->warp_instructions;
  at->thread_instructions += f->thread_instructions;
  at->seconds += f->seconds;
}

static void gather(void) {
  for (size_t c = 0; c < core.contexts.n; c++)
    for (size_t m = 0; m < core.contexts.data[c]->modules.n; m++) {
      const core_module *module = core.contexts.data[c]->modules.data[m];
      for (size_t k = 0; k < module->functions.n; k++) core_report_function(module->functions.data[k]);
    }
}

static void note_leak(const core_memory *m, void *arg) {
  if (m->kind != CORE_MEMORY_REGISTERED)
    core_found(CORE_FOUND_LEAK, "%" PRIu64 " bytes at 0x%" PRIx64 " of %s are never freed", m->bytes,
               m->address, m->what);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_text(hd_buf *b, const char *text) {
  hd_buf_putc(b, '"');
  for (const char *p = text; *p; p++) {
    if (*p == '"' || *p == '\\') hd_buf_putc(b, '\\');
    if ((unsigned char)*p < 0x20)
      hd_buf_printf(b, "\\u%04x", (unsigned)*p);
    else
      hd_buf_putc(b, *p);
  }
  hd_buf_putc(b, '"');
}

static void write_json(hd_buf *b) {
  hd_buf_puts(b, "{\"kernels\": [");
  for (size_t k = 0; k < report.kernels.n; k++) {
    const line *l = &report.kernels.data[k];
    hd_buf_puts(b, k ? ",\n  {\"kernel\": " : "\n  {\"kernel\": ");
    put_text(b, l->kernel);
    hd_buf_printf(b,
                  ", \"launches\": %" PRIu64 ", \"warp_instructions\": %" PRIu64
                  ", \"thread_instructions\": %" PRIu64 ", \"seconds\": %.6f}",
                  l->launches, l->warp_instructions, l->thread_instructions, l->seconds);
  }
  hd_buf_puts(b, "],\n \"findings\": [");
  for (size_t k = 0; k < report.findings.n; k++) {
    hd_buf_printf(b, "%s\n  {\"kind\": \"%s\", \"text\": ", k ? "," : "",
                  kinds[report.findings.data[k].kind]);
    put_text(b, report.findings.data[k].text);
    hd_buf_putc(b, '}');
  }
  hd_buf_puts(b, "]}\n");
}

static void write_text(hd_buf *b) {
  uint64_t launches = 0, instructions = 0;
  double seconds = 0;
  for (size_t k = 0; k < report.kernels.n; k++) {
    const line *l = &report.kernels.data[k];
    launches += l->launches;
    instructions += l->thread_instructions;
    seconds += l->seconds;
    hd_buf_printf(b, "heddle: %-40s %8" PRIu64 " launches %14" PRIu64 " thread instructions %10.3f s\n",
                  l->kernel, l->launches, l->thread_instructions, l->seconds);
  }
  hd_buf_printf(b,
                "heddle: %zu kernels, %" PRIu64 " launches, %" PRIu64
                " thread instructions, %.3f s emulated; %zu findings\n",
                report.kernels.n, launches, instructions, seconds, report.findings.n);
}

void core_report(void) {
  hd_buf b = {0};
  hd_diag d = {0};
  if (core_ready() != CU_SUCCESS) return;
  core_wait_all();
  gather();
  if (core.settings.checks & HD_PROGRAM_CHECK_LEAK) core_memory_live(note_leak, NULL);
  core.ended = true;
  if (core.settings.report[0]) {
    write_json(&b);
    if (b.failed || hd_file_write(core.settings.report, b.data, b.len, &d) != HD_OK)
      core_say("%s", d.message);
  } else if (!core.settings.quiet) {
    write_text(&b);
    if (b.data) fwrite(b.data, 1, b.len, stderr);
  }
  hd_buf_free(&b);
}
