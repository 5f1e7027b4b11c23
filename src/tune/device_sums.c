/* Whether a plan computes what the original does, for every plan that is tried.
 *
 * It is asked before anything is timed, so it must be cheap: on a GPU each buffer is summed up where it lies
 * by a kernel that reads at the memory's speed, and eight bytes come back. Sums of 64 bits may agree by
 * chance; the plan that is adopted is compared byte for byte (device_bench_prove).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/device_bench.h"

/* ---- Sums of buffers ---------------------------------------------------------------- */

/* out += sum over i of mix(word[i], i): the same whatever the order of the additions. */
static const char sum_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry heddle_sum(.param .u64 data, .param .u64 words, .param .u64 out)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<5>;\n"
    "  .reg .b64 %rd<12>;\n"
    "  ld.param.u64 %rd1, [data];\n"
    "  ld.param.u64 %rd2, [words];\n"
    "  ld.param.u64 %rd3, [out];\n"
    "  cvta.to.global.u64 %rd1, %rd1;\n"
    "  cvta.to.global.u64 %rd3, %rd3;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mov.u32 %r4, %nctaid.x;\n"
    "  mul.wide.u32 %rd4, %r1, %r2;\n"
    "  cvt.u64.u32 %rd5, %r3;\n"
    "  add.u64 %rd4, %rd4, %rd5;\n"
    "  mul.wide.u32 %rd5, %r2, %r4;\n"
    "  mov.u64 %rd6, 0;\n"
    "again:\n"
    "  setp.ge.u64 %p, %rd4, %rd2;\n"
    "  @%p bra done;\n"
    "  shl.b64 %rd7, %rd4, 3;\n"
    "  add.u64 %rd7, %rd1, %rd7;\n"
    "  ld.global.u64 %rd8, [%rd7];\n"
    "  mul.lo.u64 %rd9, %rd4, -7046029254386353131;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  mul.lo.u64 %rd8, %rd8, -4658895280553007687;\n"
    "  shr.u64 %rd9, %rd8, 32;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  mul.lo.u64 %rd8, %rd8, -7723592293110705685;\n"
    "  shr.u64 %rd9, %rd8, 29;\n"
    "  xor.b64 %rd8, %rd8, %rd9;\n"
    "  add.u64 %rd6, %rd6, %rd8;\n"
    "  add.u64 %rd4, %rd4, %rd5;\n"
    "  bra again;\n"
    "done:\n"
    "  red.global.add.u64 [%rd3], %rd6;\n"
    "  ret;\n"
    "}\n";
enum { SUM_THREADS = 256, SUM_CTAS_PER_SM = 8, WORD = 8 };

static hd_status load_tools(device_bench *b, hd_diag *d) {
  if (b->tools) return HD_OK;
  hd_status st = hd_device_alloc(b->p.device, WORD * ((uint64_t)b->p.w->n_buffers + 1), &b->tools_sums, d);
  if (st != HD_OK) return st;
  return hd_device_load(b->p.device, sum_ptx, sizeof sum_ptx - 1, "heddle's sums", NULL, &b->tools, d);
}

static hd_status sum_on_device(device_bench *b, uint64_t *sums, hd_diag *d) {
  const hd_workload *w = b->p.w;
  hd_device *dev = b->p.device;
  hd_status st = load_tools(b, d);
  if (st == HD_OK) st = hd_device_set(dev, b->tools_sums, 0, WORD * ((uint64_t)w->n_buffers + 1), d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    uint64_t args[] = {b->p.addresses[i], w->buffers[i].bytes / WORD, b->tools_sums + WORD * i};
    uint64_t ctas = (args[1] + SUM_THREADS - 1) / SUM_THREADS,
             most = (uint64_t)SUM_CTAS_PER_SM * b->p.run.n_sms;
    hd_device_launch l = {.kernel = "heddle_sum",
                          .grid = {(uint32_t)(ctas < most ? ctas : most), 1, 1},
                          .block = {SUM_THREADS, 1, 1},
                          .args = args,
                          .args_bytes = sizeof args};
    if (args[1]) st = hd_device_run(b->tools, &l, d);
  }
  if (st == HD_OK) st = hd_device_sync(dev, d);
  if (st == HD_OK) st = hd_device_read(dev, b->tools_sums, sums, WORD * (uint64_t)w->n_buffers, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    uint64_t tail = w->buffers[i].bytes % WORD, word = 0;
    st = hd_device_read(dev, b->p.addresses[i] + w->buffers[i].bytes - tail, &word, tail, d);
    sums[i] = hd_random_at(sums[i], word);
  }
  return st;
}

static hd_status sum_on_host(device_bench *b, uint64_t *sums, hd_diag *d) {
  void **bytes;
  hd_status st = placement_read(&b->p, &bytes, d);
  if (st != HD_OK) return st;
  for (uint32_t i = 0; i < b->p.w->n_buffers; i++) sums[i] = hd_hash(bytes[i], b->p.w->buffers[i].bytes);
  launch_bytes_free(b->p.w, bytes);
  return HD_OK;
}

hd_status device_sum_up(device_bench *b, uint64_t *sums, hd_diag *d) {
  bool gpu = hd_device_get_info(b->p.device)->kind == HD_DEVICE_CUDA;
  return gpu ? sum_on_device(b, sums, d) : sum_on_host(b, sums, d);
}

/* ---- What the original computes -------------------------------------------------------- */

static hd_status keep_near(device_bench *b, hd_diag *d) {
  for (uint32_t i = 0; i < b->p.w->n_buffers; i++) {
    const hd_wl_buffer *buffer = &b->p.w->buffers[i];
    if (!buffer->atomics) continue;
    b->near[i] = malloc(buffer->bytes ? buffer->bytes : 1);
    if (!b->near[i]) return hd_nomem(d);
    hd_status st = hd_device_read(b->p.device, b->p.addresses[i], b->near[i], buffer->bytes, d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

hd_status device_learn(device_bench *b, const uint64_t *before, hd_diag *d) {
  uint32_t n = b->p.w->n_buffers;
  bool *changed = calloc((size_t)n + 1, sizeof *changed);
  hd_status st = changed ? device_sum_up(b, b->sums, d) : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) changed[i] = before[i] != b->sums[i];
  if (st == HD_OK) st = placement_learn_changed(&b->p, changed, d);
  if (st == HD_OK) st = keep_near(b, d);
  b->learnt = st == HD_OK;
  free(changed);
  return st;
}

static hd_status compare_near(device_bench *b, uint32_t i, hd_diag *d) {
  const hd_wl_buffer *buffer = &b->p.w->buffers[i];
  char what[512];
  void *got = malloc(buffer->bytes ? buffer->bytes : 1);
  if (!got) return hd_nomem(d);
  hd_status st = hd_device_read(b->p.device, b->p.addresses[i], got, buffer->bytes, d);
  if (st == HD_OK && !hd_elem_compare(buffer->type, HD_COMPARE_NEAR, buffer->abs, buffer->rel, got,
                                      b->near[i], buffer->count, what, sizeof what))
    st = hd_fail(d, HD_ERR_REFUSED, "buffer %s: %s", buffer->name, what);
  free(got);
  return st;
}

hd_status device_compare(device_bench *b, hd_diag *d) {
  const hd_workload *w = b->p.w;
  uint64_t *sums = calloc((size_t)w->n_buffers + 1, sizeof *sums);
  if (!sums) return hd_nomem(d);
  hd_status st = device_sum_up(b, sums, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    if (sums[i] == b->sums[i]) continue;
    st = b->near[i]
             ? compare_near(b, i, d)
             : hd_fail(d, HD_ERR_REFUSED, "buffer %s is not what the original computes", w->buffers[i].name);
  }
  free(sums);
  return st;
}
