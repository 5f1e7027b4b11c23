#include "tune/winner_proof.h"

#include <math.h>
#include <string.h>

/* CTAs alive at once per SM. */
enum { RESIDENT = 4 };

/* Of an emulator on two cores of a processor of 2022, at the lower end of what kernels show; and of filling,
 * copying and comparing buffers. */
static const double instructions_a_second = 1e9, bytes_a_second = 2e9;

double proof_run_seconds(const hd_workload *w, double instructions) {
  double bytes = 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) bytes += (double)w->buffers[i].bytes;
  return instructions / instructions_a_second + bytes / bytes_a_second;
}

size_t proof_affordable(double each, double seconds) {
  const size_t others = PROOF_RUNS - HD_DISPATCH_COUNT;
  const double runs = each > 0 ? floor(seconds / each) : PROOF_RUNS;
  if (runs >= PROOF_RUNS) return HD_DISPATCH_COUNT;
  return runs > (double)others ? (size_t)runs - others : 0;
}

static double seconds_of(const hd_workload *w, double instructions) {
  return PROOF_RUNS * proof_run_seconds(w, instructions);
}

static double threads_of(const hd_workload *w) {
  double threads = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    threads += (double)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2];
  }
  return threads;
}

hd_status hd_check_estimate(const hd_workload *w, unsigned arch, size_t runs, double *seconds, hd_diag *d) {
  const hd_compiled *code;
  double instructions = 0;
  *seconds = 0;
  const hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, arch), &code, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    instructions += (double)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2] *
                    code->module->funcs[code->kernels[code->kernel_of[i]].func].n_stmts;
  }
  *seconds = (double)runs * instructions / instructions_a_second;
  return st;
}

/* The workload at its largest size of fewer than so many threads; NULL: there is none. */
static hd_status open_below(const hd_workload *w, double threads, hd_workload **out, hd_diag *d) {
  hd_status st = HD_OK;
  *out = NULL;
  for (uint32_t i = 0; st == HD_OK && i < w->n_sizes; i++) {
    hd_workload *other;
    st = hd_workload_reopen(w, w->sizes[i].name, &other, d);
    if (st != HD_OK) break;
    const double n = threads_of(other);
    if (n < threads && (!*out || n > threads_of(*out))) {
      hd_workload_close(*out);
      *out = other;
    } else {
      hd_workload_close(other);
    }
  }
  if (st == HD_OK) return HD_OK;
  hd_workload_close(*out);
  *out = NULL;
  return st;
}

hd_status winner_proof_choose(winner_proof *p, const hd_workload *w, const hd_run_options *run, uint64_t seed,
                              double instructions, double seconds, double most, hd_diag *d) {
  *p = (winner_proof){.w = w, .run = *run, .seed = seed, .seconds = seconds_of(w, instructions)};
  const double threads = threads_of(w);
  double takes = p->seconds;
  hd_status st = HD_OK;
  while (st == HD_OK && seconds > 0 && takes > seconds) {
    hd_workload *next;
    double estimate;
    st = open_below(w, threads_of(p->w), &next, d);
    if (st != HD_OK || !next) break;
    hd_workload_close(p->smaller);
    p->w = p->smaller = next;
    st = hd_estimate_instructions(next, run->compile.arch, run->machine.threads, &estimate, d);
    /* Threads of larger sizes mostly run longer. */
    if (!estimate) estimate = instructions * threads_of(next) / threads;
    takes = seconds_of(next, estimate);
  }
  if (st == HD_OK && most > 0 && takes > most)
    return hd_fail_bound(d, HD_BOUND_PROOF, "it would take about %.0f min of two cores (--exact makes it)",
                         ceil(takes / 60));
  return st;
}

void winner_proof_close(winner_proof *p) {
  hd_checker_close(p->checker);
  hd_workload_close(p->smaller);
  *p = (winner_proof){0};
}

hd_status winner_proof_open(winner_proof *p, hd_diag *d) {
  const hd_check_options check = {.run = p->run, .seed = p->seed, .spare_reference = true};
  return p->checker ? HD_OK : hd_checker_open(p->w, &check, &p->checker, &p->original, d);
}

/* The shape of the smaller launch's own grid, or of its loop's tiles, in place of the workload's. */
static hd_status settle_shape(const winner_proof *p, hd_plan *plan, hd_diag *d) {
  const hd_compiled *code;
  if (plan->shape.kind != HD_SHAPE_GIVEN) return HD_OK;
  hd_status st = hd_workload_compiled(p->smaller, hd_launch_arch(NULL, p->run.compile.arch), &code, d);
  if (st != HD_OK) return st;
  if (plan->shape.loop) return hd_launch_loop_shape(code, 0, &plan->shape, d);
  plan->shape = (hd_shape){.kind = HD_SHAPE_AUTO};
  return HD_OK;
}

hd_status winner_proof_check(const winner_proof *p, const hd_plan *plan, const hd_resolved *plans,
                             unsigned from, unsigned to, hd_check_result *r, hd_diag *d) {
  hd_dispatch how[HD_DISPATCH_COUNT];
  for (unsigned k = from; k < to; k++)
    how[k - from] = (hd_dispatch){.kind = (hd_dispatch_kind)k, .seed = p->seed + k, .resident = RESIDENT};
  if (!p->smaller) return hd_checker_run(p->checker, plans, &p->run, how, to - from, r, d);
  hd_plan_set set = {.all = *plan};
  hd_resolved own = {0};
  hd_status st = settle_shape(p, &set.all, d);
  if (st == HD_OK) st = hd_resolve(p->smaller, &set, &p->run, NULL, &own, d);
  if (st != HD_OK) return st;
  st = hd_checker_run(p->checker, &own, &p->run, how, to - from, r, d);
  hd_resolved_free(&own);
  return st;
}
