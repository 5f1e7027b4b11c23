/* The document that `analyze` prints for one input: advice, then its kernels one after the other. */
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/json.h"

struct hd_analysis_document {
  hd_buf text;
  bool failed;
  json_t *top, *kernels; /* NULL: text is wanted */
};

hd_analysis_document *hd_analysis_document_new(bool json) {
  hd_analysis_document *doc = calloc(1, sizeof *doc);
  if (!doc || !json) return doc;
  doc->top = json_object();
  doc->kernels = json_array();
  if (doc->top && doc->kernels) return doc;
  hd_analysis_document_free(doc);
  return NULL;
}

void hd_analysis_document_free(hd_analysis_document *doc) {
  if (!doc) return;
  hd_buf_free(&doc->text);
  json_decref(doc->top);
  json_decref(doc->kernels);
  free(doc);
}

/* Addresses that no launch mixes up. */
hd_status hd_report_point(const hd_compiled *code, uint32_t launch, hd_point *out, hd_diag *d) {
  const hd_workload *w = code->workload;
  const hd_wl_launch *l = &w->launches[launch];
  uint64_t *addresses = calloc((size_t)w->n_buffers + 1, sizeof *addresses);
  void *args = NULL;
  if (!addresses) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_buffers; i++) addresses[i] = (uint64_t)(i + 1) << HD_REPORT_BUFFER_SHIFT;
  *out = (hd_point){0};
  const hd_status st = hd_launch_args(code, launch, addresses, &args, &out->args_bytes, d);
  free(addresses);
  if (st != HD_OK) return st;
  memcpy(out->grid, l->grid, sizeof out->grid);
  memcpy(out->block, l->block, sizeof out->block);
  out->args = args;
  return HD_OK;
}

void hd_analysis_document_advice(hd_analysis_document *doc, const hd_advice_report *r) {
  if (doc->top)
    doc->failed |= json_object_update_new(doc->top, report_advice_json(r)) != 0;
  else
    hd_advice_text(r, &doc->text);
}

/* The text whose lines the accesses name. */
static void put_text(hd_analysis_document *doc, const hd_workload *w) {
  const hd_compiled *code;
  if (json_object_get(doc->top, "ptx") ||
      hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, NULL) != HD_OK)
    return;
  doc->failed |= json_object_set_new(doc->top, "ptx", report_bytes_json(code->text, code->len)) != 0;
}

void hd_analysis_document_kernel(hd_analysis_document *doc, hd_analysis *a, const hd_analysis_page *p) {
  if (doc->top) {
    json_t *one = report_kernel_json(a, p);
    if (p->reuse) one = report_set(one, "sharing", report_sharing_json(a, p->reuse, p->workload));
    if (p->workload) put_text(doc, p->workload);
    doc->failed |= json_array_append_new(doc->kernels, one) != 0;
    return;
  }
  if (doc->text.len && !p->brief) hd_buf_putc(&doc->text, '\n');
  if (!p->brief) hd_report_analysis(a, p, &doc->text);
  if (p->reuse) report_put_sharing(a, p->reuse, p->workload, &doc->text);
}

/* The kernels' accesses in one list, each with its kernel. */
static json_t *all_accesses(const json_t *kernels) {
  json_t *all = json_array(), *access, *kernel;
  size_t i, k;
  json_array_foreach(kernels, i, kernel) {
    json_t *name = json_object_get(kernel, "kernel");
    json_array_foreach(json_object_get(kernel, "accesses"), k, access) {
      json_t *one = json_copy(access);
      if (name) one = report_set(one, "kernel", json_incref(name));
      all = report_append(all, one);
    }
  }
  return all;
}

void hd_analysis_document_print(hd_analysis_document *doc, const char *input, hd_buf *out) {
  out->failed |= doc->failed || doc->text.failed;
  if (!doc->top) {
    hd_buf_put(out, doc->text.data ? doc->text.data : "", doc->text.len);
    return;
  }
  json_t *j = report_set(json_incref(doc->top), "input", report_words_json(input));
  j = report_set(j, "accesses", all_accesses(doc->kernels));
  report_put_json(report_set(j, "kernels", json_incref(doc->kernels)), out);
}
