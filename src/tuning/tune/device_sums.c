/* Every plan's result is checked before it is timed, so the check must be cheap: on a GPU each buffer is
 * summed up where it lies by a kernel that reads at the memory's speed, and eight bytes come back. Sums of 64
 * bits may agree by chance; the plan that is adopted is compared byte for byte (device_bench_prove), on the
 * GPU too, for reading gigabytes back takes seconds.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/device_bench.h"

/* ---- Sums of buffers ---------------------------------------------------------------- */

/* Both kernels run over i = thread, thread + threads, ... below `words`, and end by adding %rd6 to *out. */
#define OVER_WORDS(name, params, setup, word)                                                                \
  ".visible .entry " name "(.param .u64 data, " params ".param .u64 words, .param .u64 out)\n"               \
  "{\n"                                                                                                      \
  "  .reg .pred %p, %q;\n"                                                                                   \
  "  .reg .b32 %r<5>;\n"                                                                                     \
  "  .reg .b64 %rd<12>;\n"                                                                                   \
  "  ld.param.u64 %rd1, [data];\n"                                                                           \
  "  ld.param.u64 %rd2, [words];\n"                                                                          \
  "  ld.param.u64 %rd3, [out];\n"                                                                            \
  "  cvta.to.global.u64 %rd1, %rd1;\n"                                                                       \
  "  cvta.to.global.u64 %rd3, %rd3;\n" setup "  mov.u32 %r1, %ctaid.x;\n"                                    \
  "  mov.u32 %r2, %ntid.x;\n"                                                                                \
  "  mov.u32 %r3, %tid.x;\n"                                                                                 \
  "  mov.u32 %r4, %nctaid.x;\n"                                                                              \
  "  mul.wide.u32 %rd4, %r1, %r2;\n"                                                                         \
  "  cvt.u64.u32 %rd5, %r3;\n"                                                                               \
  "  add.u64 %rd4, %rd4, %rd5;\n"                                                                            \
  "  mul.wide.u32 %rd5, %r2, %r4;\n"                                                                         \
  "  mov.u64 %rd6, 0;\n"                                                                                     \
  "again:\n"                                                                                                 \
  "  setp.ge.u64 %p, %rd4, %rd2;\n"                                                                          \
  "  @%p bra done;\n"                                                                                        \
  "  shl.b64 %rd7, %rd4, 3;\n"                                                                               \
  "  add.u64 %rd8, %rd1, %rd7;\n"                                                                            \
  "  ld.global.u64 %rd8, [%rd8];\n" word "  add.u64 %rd4, %rd4, %rd5;\n"                                     \
  "  bra again;\n"                                                                                           \
  "done:\n"                                                                                                  \
  "  red.global.add.u64 [%rd3], %rd6;\n"                                                                     \
  "  ret;\n"                                                                                                 \
  "}\n"

/* heddle_sum: mix(word[i], i), the same sum whatever the order of the additions. heddle_differ: 1 where the
 * words differ from `other`'s. */
static const char tools_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n" OVER_WORDS("heddle_sum", "", "",
                                    "  mul.lo.u64 %rd9, %rd4, -7046029254386353131;\n"
                                    "  xor.b64 %rd8, %rd8, %rd9;\n"
                                    "  mul.lo.u64 %rd8, %rd8, -4658895280553007687;\n"
                                    "  shr.u64 %rd9, %rd8, 32;\n"
                                    "  xor.b64 %rd8, %rd8, %rd9;\n"
                                    "  mul.lo.u64 %rd8, %rd8, -7723592293110705685;\n"
                                    "  shr.u64 %rd9, %rd8, 29;\n"
                                    "  xor.b64 %rd8, %rd8, %rd9;\n"
                                    "  add.u64 %rd6, %rd6, %rd8;\n")
        OVER_WORDS("heddle_differ", ".param .u64 other, ",
                   "  ld.param.u64 %rd10, [other];\n"
                   "  cvta.to.global.u64 %rd10, %rd10;\n",
                   "  add.u64 %rd9, %rd10, %rd7;\n"
                   "  ld.global.u64 %rd9, [%rd9];\n"
                   "  setp.ne.u64 %q, %rd8, %rd9;\n"
                   "  @%q add.u64 %rd6, %rd6, 1;\n");
enum { SUM_THREADS = 256, SUM_CTAS_PER_SM = 8, WORD = 8 };

static hd_status load_tools(device_bench *b, hd_diag *d) {
  if (b->tools) return HD_OK;
  hd_status st = HD_OK;
  if (!b->tools_sums)
    st = hd_device_alloc(b->p.device, WORD * ((uint64_t)b->p.w->n_buffers + 1), &b->tools_sums, d);
  if (st != HD_OK) return st;
  return hd_device_load(b->p.device, tools_ptx, sizeof tools_ptx - 1, "heddle's sums", NULL, &b->tools, d);
}

/* One of the tools over the whole words of buffer i, whose result goes to tools_sums[i]. `other` 0: it takes
 * none. */
static hd_status run_over(device_bench *b, const char *tool, uint32_t i, uint64_t other, hd_diag *d) {
  uint64_t words = b->p.w->buffers[i].bytes / WORD, args[4] = {b->p.addresses[i]};
  size_t n = 1;
  if (other) args[n++] = other;
  args[n++] = words;
  args[n++] = b->tools_sums + WORD * i;
  uint64_t ctas = (words + SUM_THREADS - 1) / SUM_THREADS,
           most = (uint64_t)SUM_CTAS_PER_SM * b->p.run.machine.n_sms;
  hd_device_launch l = {.kernel = tool,
                        .grid = {(uint32_t)(ctas < most ? ctas : most), 1, 1},
                        .block = {SUM_THREADS, 1, 1},
                        .args = args,
                        .args_bytes = n * sizeof *args};
  return words ? hd_device_run(b->tools, &l, d) : HD_OK;
}

/* Zero the sums, run the tool over all buffers, and read the sums back. */
static hd_status run_over_all(device_bench *b, const char *tool, const uint64_t *others, uint64_t *sums,
                              hd_diag *d) {
  uint32_t n = b->p.w->n_buffers;
  hd_device *dev = b->p.device;
  hd_status st = load_tools(b, d);
  if (st == HD_OK) st = hd_device_set(dev, b->tools_sums, 0, WORD * ((uint64_t)n + 1), d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) st = run_over(b, tool, i, others ? others[i] : 0, d);
  if (st == HD_OK) st = hd_device_sync(dev, d);
  return st == HD_OK ? hd_device_read(dev, b->tools_sums, sums, WORD * (uint64_t)n, d) : st;
}

/* The bytes behind the last whole word. */
static hd_status read_tail(device_bench *b, uint32_t i, uint64_t address, uint64_t *word, hd_diag *d) {
  uint64_t bytes = b->p.w->buffers[i].bytes, tail = bytes % WORD;
  *word = 0;
  return hd_device_read(b->p.device, address + bytes - tail, word, tail, d);
}

static hd_status sum_on_device(device_bench *b, uint64_t *sums, hd_diag *d) {
  hd_status st = run_over_all(b, "heddle_sum", NULL, sums, d);
  for (uint32_t i = 0; st == HD_OK && i < b->p.w->n_buffers; i++) {
    uint64_t word;
    st = read_tail(b, i, b->p.addresses[i], &word, d);
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

/* Addresses change as buffers move, and so would their sums. The proof on the device compares them. */
hd_status device_sum_up(device_bench *b, uint64_t *sums, hd_diag *d) {
  bool gpu = hd_device_get_info(b->p.device)->kind == HD_DEVICE_CUDA;
  hd_status st = gpu ? sum_on_device(b, sums, d) : sum_on_host(b, sums, d);
  for (uint32_t i = 0; i < b->p.w->n_buffers; i++)
    if (b->p.w->buffers[i].points) sums[i] = 0;
  return st;
}

/* ---- The original's results ------------------------------------------------------------ */

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
  for (uint32_t i = 0; st == HD_OK && i < n; i++)
    changed[i] = before[i] != b->sums[i] || b->p.w->buffers[i].points;
  if (st == HD_OK) st = placement_learn_changed(&b->p, changed, d);
  if (st == HD_OK) st = keep_near(b, d);
  b->learnt = st == HD_OK;
  free(changed);
  return st;
}

/* A buffer of floating-point sums, compared in pieces. */
typedef struct near_job {
  const hd_wl_buffer *buffer;
  const char *got, *want;
  unsigned pieces;
  atomic_bool differs;
} near_job;

static void compare_piece(void *ctx, unsigned piece) {
  near_job *j = ctx;
  const hd_wl_buffer *b = j->buffer;
  uint64_t each = b->count / j->pieces, first = piece * each, bytes = first * hd_elem_bytes(b->type);
  uint64_t n = piece + 1 == j->pieces ? b->count - first : each;
  char what[8];
  if (!hd_elem_compare(b->type, HD_COMPARE_NEAR, b->abs, b->rel, j->got + bytes, j->want + bytes, n, what,
                       sizeof what))
    atomic_store(&j->differs, true);
}

static bool is_near(const hd_wl_buffer *b, const void *got, const void *want) {
  enum { WORTH_A_THREAD = 1 << 20 }; /* elements */
  uint64_t pieces = b->count / WORTH_A_THREAD, cpus = hd_cpu_count();
  near_job j = {.buffer = b, .got = got, .want = want, .pieces = (unsigned)(pieces < cpus ? pieces : cpus)};
  if (!j.pieces) j.pieces = 1;
  if (!hd_parallel(j.pieces, compare_piece, &j)) { /* threads could not be had: alone, then */
    j.pieces = 1;
    compare_piece(&j, 0);
  }
  return !atomic_load(&j.differs);
}

static hd_status compare_near(device_bench *b, uint32_t i, hd_diag *d) {
  const hd_wl_buffer *buffer = &b->p.w->buffers[i];
  char what[512];
  void *got = malloc(buffer->bytes ? buffer->bytes : 1);
  if (!got) return hd_nomem(d);
  hd_status st = hd_device_read(b->p.device, b->p.addresses[i], got, buffer->bytes, d);
  if (st == HD_OK && !is_near(buffer, got, b->near[i]) &&
      !hd_elem_compare(buffer->type, HD_COMPARE_NEAR, buffer->abs, buffer->rel, got, b->near[i],
                       buffer->count, what, sizeof what))
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

/* ---- Byte for byte ---------------------------------------------------------------------- */

void device_drop_copies(device_bench *b, uint64_t *copies) {
  for (uint32_t i = 0; copies && i < b->p.w->n_buffers; i++)
    if (copies[i]) hd_device_free(b->p.device, copies[i], NULL);
  free(copies);
}

hd_status device_copy_all(device_bench *b, uint64_t **out, hd_diag *d) {
  uint32_t n = b->p.w->n_buffers;
  uint64_t *copies = calloc((size_t)n + 1, sizeof *copies);
  hd_status st = copies ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    uint64_t bytes = b->p.w->buffers[i].bytes;
    st = hd_device_alloc(b->p.device, bytes, &copies[i], d);
    if (st == HD_OK) st = hd_device_copy(b->p.device, copies[i], b->p.addresses[i], bytes, d);
  }
  if (st == HD_OK) st = hd_device_sync(b->p.device, d);
  if (st == HD_OK) {
    *out = copies;
    return HD_OK;
  }
  device_drop_copies(b, copies);
  return st;
}

hd_status device_equals(device_bench *b, const uint64_t *copies, bool *equal, uint64_t *bytes, hd_diag *d) {
  uint32_t n = b->p.w->n_buffers;
  uint64_t *differ = calloc((size_t)n + 1, sizeof *differ);
  hd_status st = differ ? run_over_all(b, "heddle_differ", copies, differ, d) : hd_nomem(d);
  *equal = st == HD_OK;
  *bytes = 0;
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    uint64_t mine, theirs;
    st = read_tail(b, i, b->p.addresses[i], &mine, d);
    if (st == HD_OK) st = read_tail(b, i, copies[i], &theirs, d);
    *equal &= st == HD_OK && !differ[i] && mine == theirs;
    *bytes += b->p.w->buffers[i].bytes;
  }
  free(differ);
  return st;
}
