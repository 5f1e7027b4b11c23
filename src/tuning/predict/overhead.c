/* The cost of plans: both kernels run on the emulator and assembled by ptxas. */
#include "heddle/overhead.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/process.h"
#include "launch/runner.h"
#include "workload/workload.h"

enum { ARCH = 90, RESIDENT = 4, ASSEMBLE_SECONDS = 300 };

/* ---- ptxas ----------------------------------------------------------------------------- */

/* ptxas's answer for each kernel that the workload launches, by launch. */
typedef struct resources {
  bool known;
  hd_kernel_resources of;
} resources;

static uint64_t number_before(const char *line, const char *word) {
  const char *at = strstr(line, word);
  if (!at) return 0;
  while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
  return strtoull(at, NULL, 10);
}

/* "... Compiling entry function 'NAME' for ...": the launch of that kernel; UINT32_MAX: of none. */
static uint32_t launch_of(const hd_workload *w, const char *line) {
  const char *name = strchr(line, '\''), *end = name ? strchr(name + 1, '\'') : NULL;
  if (!end) return UINT32_MAX;
  name++;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const char *kernel = w->launches[i].kernel;
    if (strlen(kernel) == (size_t)(end - name) && strncmp(kernel, name, (size_t)(end - name)) == 0) return i;
  }
  return UINT32_MAX;
}

/* ptxas -v: a kernel's name, then the resources of it and of the functions it calls. */
static void read_messages(const hd_workload *w, char *text, resources *by_launch) {
  uint32_t launch = UINT32_MAX;
  for (char *line = text, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    if (strstr(line, "Compiling entry function")) {
      launch = launch_of(w, line);
      continue;
    }
    if (launch == UINT32_MAX) continue;
    resources *r = &by_launch[launch];
    uint64_t frame = number_before(line, " bytes stack frame");
    if (frame > r->of.local_bytes) r->of.local_bytes = frame;
    r->of.spill_bytes +=
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    if (!strstr(line, " registers")) continue;
    r->known = true;
    r->of.registers = (uint32_t)number_before(line, " registers");
    r->of.shared_bytes = number_before(line, " bytes smem");
  }
}

/* The architecture to assemble for: that of the module, with its letter if it has one. */
static void put_arch(const hd_ptx_module *m, char out[32]) {
  size_t n = m->target ? strcspn(m->target, ", ") : 0;
  snprintf(out, 32, "-arch=%.*s", (int)(n < 16 ? n : 16), m->target ? m->target : "");
}

static hd_status run_ptxas(const hd_workload *w, const hd_ptx_module *m, const char *ptxas,
                           const char *scratch, resources *by_launch, hd_diag *d) {
  char source[WL_PATH + 16], object[WL_PATH + 16], arch[32];
  hd_buf text = {0}, messages = {0};
  int code = 0;
  snprintf(source, sizeof source, "%s/kernel.ptx", scratch);
  snprintf(object, sizeof object, "%s/kernel.cubin", scratch);
  put_arch(m, arch);
  hd_status st = hd_ptx_print(m, &text) == HD_OK && !text.failed ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(source, text.data, text.len, d);
  const char *const argv[] = {ptxas, "-v", arch, "-o", object, source, NULL};
  if (st == HD_OK) st = hd_program_run(argv, scratch, ASSEMBLE_SECONDS, &messages, &code, d);
  if (st == HD_OK && code != 0) st = wl_compiler_error(ptxas, messages.data, code, d);
  if (st == HD_OK && messages.data) read_messages(w, messages.data, by_launch);
  hd_buf_free(&text);
  hd_buf_free(&messages);
  return st;
}

static hd_status assemble(const hd_workload *w, const hd_ptx_module *m, resources *by_launch, hd_diag *d) {
  static const char *const names[] = {"ptxas", NULL};
  char program[WL_PATH], scratch[WL_PATH];
  if (!hd_program_find(names, program, sizeof program))
    return hd_fail(d, HD_ERR_MISSING, "ptxas is not on the PATH");
  hd_status st = hd_scratch_make(scratch, sizeof scratch, d);
  if (st != HD_OK) return st;
  st = run_ptxas(w, m, program, scratch, by_launch, d);
  hd_scratch_remove(scratch);
  return st;
}

/* ---- One side ---------------------------------------------------------------------------- */

typedef struct side {
  uint64_t ptx, warps, threads; /* instructions: in the text, run by warps, run by threads */
  bool assembled;
  char not_assembled[256];
  resources *by_launch;
} side;

static uint64_t count_text(const hd_ptx_module *m, const hd_compiled *code) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < code->n_kernels; i++) {
    const hd_ptx_func *f = &m->funcs[code->kernels[i].func];
    for (uint32_t k = 0; k < f->n_stmts; k++) n += f->stmts[k].kind == HD_S_INST;
  }
  return n;
}

/* Run and assemble the workload under plans (NULL: as it is). */
static hd_status measure(const hd_compiled *code, const hd_resolved *plans, const hd_overhead_options *o,
                         side *s, hd_diag *d) {
  runner r;
  const hd_workload *w = code->workload;
  hd_emu_stats stats = {0};
  const hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN, .resident = RESIDENT};
  s->by_launch = calloc((size_t)w->n_launches + 1, sizeof *s->by_launch);
  if (!s->by_launch) return hd_nomem(d);
  hd_status st = runner_open(&r, code, plans, &o->run, 0, d);
  if (st == HD_OK) st = runner_fill(&r, d);
  if (st == HD_OK) st = runner_run(&r, &how, NULL, &stats, d);
  if (st == HD_OK) {
    hd_diag e = {0};
    s->ptx = count_text(r.module, code);
    s->warps = stats.warp_instructions;
    s->threads = stats.thread_instructions;
    s->assembled = !o->no_assembler && assemble(w, r.module, s->by_launch, &e) == HD_OK;
    if (!s->assembled) hd_fit(s->not_assembled, sizeof s->not_assembled, "%s", e.message);
  }
  runner_close(&r);
  return st;
}

/* Growth in the kernel where it is largest. */
static void find_growth(const hd_workload *w, const side *before, const side *after, bool *spills,
                        int64_t *added) {
  *spills = false;
  *added = 0;
  for (uint32_t i = 0; before->assembled && after->assembled && i < w->n_launches; i++) {
    const hd_kernel_resources *a = &before->by_launch[i].of, *b = &after->by_launch[i].of;
    int64_t more = (int64_t)b->registers - a->registers;
    *spills |= b->spill_bytes > a->spill_bytes;
    if (more > *added) *added = more;
  }
}

/* As agents are rewritten for a GPU: within the limits on registers that ptxas's answers lead to. */
static hd_status measure_resolved(const hd_resolved *plans, const hd_overhead_options *o, const side *before,
                                  side *after, hd_diag *d) {
  const hd_workload *w = plans->code->workload;
  hd_overhead_options own = *o;
  uint32_t *registers = calloc((size_t)w->n_launches + 1, sizeof *registers);
  if (!registers) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_launches; i++) registers[i] = before->by_launch[i].of.registers;
  own.run.compile.registers = registers;
  agents_search s = {.apply = &own.run.compile};
  bool agents = w->n_launches && hd_resolved_plan(plans, 0)->bind == HD_BIND_AGENTS, spills, again;
  int64_t added;
  hd_status st;
  do {
    free(after->by_launch);
    *after = (side){0};
    st = measure(plans->code, plans, &own, after, d);
    find_growth(w, before, after, &spills, &added);
    again = st == HD_OK && agents && agents_try_next(&s, spills, added);
  } while (again);
  free(registers);
  return st;
}

static hd_status measure_plan(const hd_compiled *code, const hd_plan *plan, const hd_overhead_options *o,
                              const side *before, side *after, hd_diag *d) {
  hd_plan_set set = {.all = *plan};
  hd_resolved plans;
  hd_status st = hd_resolve(code->workload, &set, &o->run, NULL, &plans, d);
  if (st != HD_OK) return st;
  st = measure_resolved(&plans, o, before, after, d);
  hd_resolved_free(&plans);
  return st;
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void count_launches(const hd_workload *w, hd_overhead_row *r) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    r->ctas += ctas;
    r->threads += ctas * l->block[0] * l->block[1] * l->block[2];
  }
}

static void keep_most(int64_t *most, bool first, uint64_t before, uint64_t after) {
  int64_t added = (int64_t)after - (int64_t)before;
  if (first || added > *most) *most = added;
}

static void compare(const hd_workload *w, const side *before, const side *after, hd_overhead_row *r) {
  r->ptx_before = before->ptx;
  r->ptx_after = after->ptx;
  r->warp_before = before->warps;
  r->warp_after = after->warps;
  r->thread_before = before->threads;
  r->thread_after = after->threads;
  bool first = true;
  for (uint32_t i = 0; before->assembled && after->assembled && i < w->n_launches; i++) {
    const hd_kernel_resources *a = &before->by_launch[i].of, *b = &after->by_launch[i].of;
    if (!before->by_launch[i].known || !after->by_launch[i].known) continue;
    keep_most(&r->registers_added, first, a->registers, b->registers);
    keep_most(&r->shared_added, first, a->shared_bytes, b->shared_bytes);
    keep_most(&r->local_added, first, a->local_bytes, b->local_bytes);
    keep_most(&r->spill_added, first, a->spill_bytes, b->spill_bytes);
    first = false;
  }
  r->assembled = !first;
  if (first)
    snprintf(r->not_assembled, sizeof r->not_assembled, "%s",
             before->assembled ? after->not_assembled : before->not_assembled);
}

hd_status hd_overhead(const hd_workload *w, const hd_plan *plans, size_t n, const hd_overhead_options *o,
                      hd_overhead_row *rows, hd_diag *d) {
  hd_overhead_options own = o ? *o : (hd_overhead_options){0};
  const hd_compiled *code;
  side before = {0};
  if (!own.run.compile.arch) own.run.compile.arch = ARCH;
  hd_status st = hd_workload_compiled(w, own.run.compile.arch, &code, d);
  if (st == HD_OK) st = measure(code, NULL, &own, &before, d);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    side after = {0};
    hd_diag e = {0};
    rows[i] = (hd_overhead_row){0};
    count_launches(w, &rows[i]);
    rows[i].status = measure_plan(code, &plans[i], &own, &before, &after, &e);
    if (rows[i].status == HD_OK)
      compare(w, &before, &after, &rows[i]);
    else
      hd_fit(rows[i].why, sizeof rows[i].why, "%s", e.message);
    if (rows[i].status == HD_ERR_NOMEM) st = hd_nomem(d);
    free(after.by_launch);
  }
  free(before.by_launch);
  return st;
}

/* ---- Over many workloads ---------------------------------------------------------------------- */

double hd_overhead_value(const hd_overhead_row *r, hd_overhead_measure m) {
  switch (m) {
  case HD_OVERHEAD_THREAD: return ((double)r->thread_after - (double)r->thread_before) / (double)r->threads;
  case HD_OVERHEAD_CTA: return ((double)r->warp_after - (double)r->warp_before) / (double)r->ctas;
  case HD_OVERHEAD_PTX: return (double)r->ptx_after - (double)r->ptx_before;
  case HD_OVERHEAD_REGISTERS: return (double)r->registers_added;
  case HD_OVERHEAD_SHARED: return (double)r->shared_added;
  case HD_OVERHEAD_LOCAL: return (double)r->local_added;
  case HD_OVERHEAD_SPILL: return (double)r->spill_added;
  case HD_OVERHEAD_MEASURES: break;
  }
  return 0;
}

static bool counts(const hd_overhead_row *r, hd_overhead_measure m) {
  return r->status == HD_OK && (m < HD_OVERHEAD_REGISTERS || r->assembled);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

hd_status hd_overhead_summarise(const hd_overhead_table *t, size_t plan, hd_overhead_measure m,
                                hd_overhead_summary *out, hd_diag *d) {
  *out = (hd_overhead_summary){0};
  double *values = calloc(t->n_workloads + 1, sizeof *values);
  if (!values) return hd_nomem(d);
  for (size_t i = 0; i < t->n_workloads; i++) {
    const hd_overhead_row *r = &t->rows[i * t->n_plans + plan];
    if (!counts(r, m)) continue;
    double v = hd_overhead_value(r, m);
    if (!out->n || v > out->worst) {
      out->worst = v;
      out->worst_workload = i;
    }
    values[out->n++] = v;
  }
  qsort(values, out->n, sizeof *values, by_value);
  if (out->n) {
    out->median = out->n % 2 ? values[out->n / 2] : (values[out->n / 2 - 1] + values[out->n / 2]) / 2;
    out->p90 = values[(out->n * 9 + 9) / 10 - 1]; /* the least that nine tenths do not exceed */
  }
  free(values);
  return HD_OK;
}

static bool has_order_only(const hd_plan *p) {
  hd_plan order = {.order = p->order};
  return p->order.kind != HD_ORDER_ROW && hd_plan_equal(p, &order);
}

hd_overhead_target hd_overhead_meets(const hd_overhead_table *t, size_t plan, size_t *within, size_t *of) {
  const hd_plan *p = &t->plans[plan];
  hd_overhead_target target = has_order_only(p) ? HD_OVERHEAD_ORDER
                              : p->bind == HD_BIND_AGENTS && !p->agents && !hd_numbers_count(&p->sms)
                                  ? HD_OVERHEAD_AGENTS
                                  : HD_OVERHEAD_NO_TARGET;
  *within = *of = 0;
  for (size_t i = 0; target && i < t->n_workloads; i++) {
    const hd_overhead_row *r = &t->rows[i * t->n_plans + plan];
    if (!counts(r, HD_OVERHEAD_REGISTERS)) continue;
    bool cheap = target == HD_OVERHEAD_AGENTS ||
                 hd_overhead_value(r, HD_OVERHEAD_THREAD) <= HD_OVERHEAD_ORDER_INSTRUCTIONS;
    int64_t most = target == HD_OVERHEAD_ORDER ? HD_OVERHEAD_ORDER_REGISTERS : HD_AGENT_REGISTERS;
    ++*of;
    *within += cheap && r->registers_added <= most;
  }
  return target;
}
