/* The tasks that share lines with a few chosen ones. */
#include <stdlib.h>
#include <string.h>

#include "heddle/sharing.h"
#include "reuse/lines.h"

enum { DEFAULT_LINE = 128 };

/* Per line that a chosen task names: bit k: tasks[k] does; the task that was counted for it last. */
typedef struct named {
  uint32_t by;
  uint32_t counted; /* task + 1 */
} named;

typedef struct partners {
  uint32_t line, bit; /* bit: of the chosen task that is being walked; 0: all tasks are counted */
  uint64_t V;
  reuse_lines numbers;
  HD_VEC(named) lines;
  float *share;
  bool failed;
} partners;

static void on_line(partners *p, uint64_t task, uint64_t line) {
  size_t known = p->lines.n;
  if (!p->bit && (!p->numbers.cap || !p->numbers.key[reuse_lines_place(&p->numbers, line + 1)])) return;
  uint32_t number = reuse_lines_number(&p->numbers, line);
  static const named fresh = {0};
  if (number == UINT32_MAX || (number == known && !hd_vec_push(&p->lines, fresh))) {
    p->failed = true;
    return;
  }
  named *l = &p->lines.data[number];
  l->by |= p->bit;
  if (p->bit || l->counted == (uint32_t)task + 1) return;
  l->counted = (uint32_t)task + 1;
  for (uint32_t by = l->by; by; by &= by - 1) p->share[(uint64_t)__builtin_ctz(by) * p->V + task]++;
}

static void on_access(void *ctx, const hd_trace_event *e) {
  partners *p = ctx;
  for (uint32_t i = 0; i < e->n && !p->failed; i++)
    for (uint64_t l = e->start[i] / p->line; l <= (e->start[i] + e->bytes[i] - 1) / p->line; l++)
      on_line(p, e->task, l);
}

hd_status hd_sharing_with(const hd_trace *t, const uint64_t *tasks, uint32_t n, uint32_t line, float *share,
                          hd_diag *d) {
  partners p = {.line = line ? line : DEFAULT_LINE, .V = hd_trace_tasks(t), .share = share};
  if (n > HD_SHARING_TASKS)
    return hd_fail(d, HD_ERR_USAGE, "partners of %u tasks: at most %d", n, HD_SHARING_TASKS);
  if (p.line != 32 && p.line != 64 && p.line != 128)
    return hd_fail(d, HD_ERR_USAGE, "a line of %u bytes: 32, 64 or 128", p.line);
  hd_status st = HD_OK;
  memset(share, 0, n * p.V * sizeof *share);
  for (uint32_t k = 0; st == HD_OK && k < n; k++) {
    p.bit = 1u << k;
    if (tasks[k] >= p.V)
      return hd_fail(d, HD_ERR_USAGE, "there is no task %llu", (unsigned long long)tasks[k]);
    st = hd_trace_walk(t, tasks[k], 1, on_access, &p, d);
  }
  p.bit = 0;
  if (st == HD_OK) st = hd_trace_walk(t, 0, p.V, on_access, &p, d);
  if (st == HD_OK && p.failed) st = hd_fail(d, HD_ERR_NOMEM, "out of memory while looking for partners");
  for (uint32_t k = 0; st == HD_OK && k < n; k++) {
    float own = share[k * p.V + tasks[k]];
    for (uint64_t i = 0; own > 0 && i < p.V; i++) share[k * p.V + i] /= own;
  }
  reuse_lines_free(&p.numbers);
  hd_vec_free(&p.lines);
  return st;
}
