/* What was found, for other programs: JSON, and SARIF for those that show findings beside the source. */
#include <inttypes.h>
#include <string.h>

#include "cuda/core/findings.h"

static const char *const kinds[] = {[CORE_FOUND_FAULT] = "fault",
                                    [CORE_FOUND_BOUNDS] = "bounds",
                                    [CORE_FOUND_MISALIGNED] = "misaligned",
                                    [CORE_FOUND_INIT] = "init",
                                    [CORE_FOUND_RACE] = "race",
                                    [CORE_FOUND_BARRIER] = "barrier",
                                    [CORE_FOUND_ASSERTION] = "assertion",
                                    [CORE_FOUND_ARGUMENT] = "argument",
                                    [CORE_FOUND_LEAK] = "leak",
                                    [CORE_FOUND_STREAMS] = "streams",
                                    [CORE_FOUND_HOST] = "host"};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *core_finding_name(core_finding_kind kind) { return kinds[kind]; }

static void put_string(hd_buf *b, const char *text) { hd_buf_quote(b, text, strlen(text)); }

void core_put_places(hd_buf *b, const core_finding *f) {
  for (int k = 0; k < f->n_places; k++) {
    const core_found_place *p = &f->places[k];
    hd_buf_puts(b, k ? ",\n    {" : ",\n   \"places\": [\n    {");
    if (p->kernel) {
      hd_buf_puts(b, "\"kernel\": ");
      put_string(b, p->kernel);
      hd_buf_puts(b, ", ");
    }
    hd_buf_printf(b, "\"line\": %u", p->line);
    if (p->file) {
      hd_buf_puts(b, ", \"source\": {\"file\": ");
      put_string(b, p->file);
      hd_buf_printf(b, ", \"line\": %u}", p->source);
    }
    hd_buf_putc(b, '}');
  }
  if (f->n_places) hd_buf_putc(b, ']');
}

static void print_line(const core_finding *f, hd_buf *out) {
  hd_buf_printf(out, "{\"kind\": \"%s\", \"times\": %" PRIu64 ", \"text\": ", kinds[f->kind], f->times);
  put_string(out, f->text);
  hd_buf places = {0};
  core_put_places(&places, f);
  for (size_t k = 0; k < places.len; k++) /* laid out for people, and a line ends an object */
    if (places.data[k] != '\n') hd_buf_putc(out, places.data[k]);
  out->failed |= places.failed;
  hd_buf_free(&places);
  hd_buf_puts(out, "}\n");
}

/* ---- SARIF ---------------------------------------------------------------------------------------- */

static const char head[] =
    "{\"version\": \"2.1.0\", \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"runs\": [\n"
    " {\"tool\": {\"driver\": {\"name\": \"heddle emu\", \"rules\": [";

/* Where the source is known; else the kernel and the line of its PTX are all there is. */
static void put_location(hd_buf *out, const core_found_place *p) {
  hd_buf_puts(out, "{");
  if (p->file) {
    hd_buf_puts(out, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    put_string(out, p->file);
    hd_buf_printf(out, "}, \"region\": {\"startLine\": %u}}", p->source);
  }
  if (p->kernel) {
    hd_buf_puts(out, p->file ? ", \"logicalLocations\": [{\"kind\": \"function\", \"name\": "
                             : "\"logicalLocations\": [{\"kind\": \"function\", \"name\": ");
    put_string(out, p->kernel);
    hd_buf_puts(out, "}]");
  }
  hd_buf_puts(out, "}");
}

static void put_result(hd_buf *out, const core_finding *f) {
  hd_buf_printf(out,
                "{\"ruleId\": \"%s\", \"level\": \"error\", \"occurrenceCount\": %" PRIu64
                ", \"message\": {\"text\": ",
                kinds[f->kind], f->times);
  put_string(out, f->text);
  hd_buf_puts(out, "}, \"locations\": [");
  if (f->n_places) put_location(out, &f->places[0]);
  hd_buf_puts(out, "]");
  if (f->n_places > 1) {
    hd_buf_puts(out, ", \"relatedLocations\": [");
    put_location(out, &f->places[1]);
    hd_buf_puts(out, "]");
  }
  hd_buf_puts(out, "}");
}

static void print_sarif(const core_finding *all, size_t n, hd_buf *out) {
  hd_buf_puts(out, head);
  for (size_t k = 0; k < KINDS; k++) hd_buf_printf(out, "%s{\"id\": \"%s\"}", k ? ", " : "", kinds[k]);
  hd_buf_puts(out, "]}},\n  \"results\": [");
  for (size_t k = 0; k < n; k++) {
    hd_buf_puts(out, k ? ",\n   " : "\n   ");
    put_result(out, &all[k]);
  }
  hd_buf_puts(out, "]}]}\n");
}

void core_findings_print(const core_finding *all, size_t n, const char *path, hd_buf *out) {
  static const char sarif[] = ".sarif";
  const size_t len = strlen(path);
  if (len > sizeof sarif && strcmp(path + len - (sizeof sarif - 1), sarif) == 0) {
    print_sarif(all, n, out);
    return;
  }
  for (size_t k = 0; k < n; k++) print_line(&all[k], out);
}
