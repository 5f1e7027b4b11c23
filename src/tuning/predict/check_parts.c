/* A proof in items: the original, then the rewritten kernel under one dispatcher after the other. */
#include <string.h>

#include "heddle/predict.h"

typedef struct proof {
  const hd_workload *w;
  const hd_resolved *plans;
  hd_check_options o;
  hd_dispatch dispatches[HD_DISPATCH_COUNT + 1];
  hd_checker *checker; /* NULL: the original has not run here */
  hd_check_result original;
  hd_check_result *out;
} proof;

static hd_status run_original(proof *p, hd_diag *d) {
  return p->checker ? HD_OK : hd_checker_open(p->w, &p->o, &p->checker, &p->original, d);
}

static void proof_prepare(void *ctx, unsigned threads) {
  hd_diag d;
  (void)run_original(ctx, &d);
}

static hd_status proof_item(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d) {
  proof *p = ctx;
  hd_check_result r;
  hd_status st = run_original(p, d);
  if (st != HD_OK) return st;
  r = p->original;
  if (i && r.equal) st = hd_checker_run(p->checker, p->plans, &p->o.run, &p->dispatches[i - 1], 1, &r, d);
  hd_buf_put(answer, (const char *)&r, sizeof r);
  return st;
}

/* The first difference stands. */
static hd_status proof_take(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  hd_check_result *sum = ((proof *)ctx)->out, before = *sum;
  if (len != sizeof *sum) return hd_fail(d, HD_ERR_INPUT, "an answer that is no check's");
  if (i && !before.equal) return HD_OK;
  memcpy(sum, answer, sizeof *sum);
  sum->what[sizeof sum->what - 1] = sum->dispatcher[sizeof sum->dispatcher - 1] = 0;
  sum->no_reference[sizeof sum->no_reference - 1] = 0;
  if (!i) return HD_OK;
  sum->runs += before.runs;
  sum->seconds += before.seconds;
  sum->different = sum->equal ? 0 : (uint32_t)i - 1;
  sum->against_reference = before.against_reference;
  memcpy(sum->no_reference, before.no_reference, sizeof sum->no_reference);
  sum->race_free = before.race_free;
  sum->thread_instructions = before.thread_instructions;
  return HD_OK;
}

static hd_status identify(const proof *p, const hd_plan *plan, size_t n, hd_digest *h, hd_diag *d) {
  const hd_run_options *run = &p->o.run;
  const uint64_t numbers[] = {run->machine.n_sms,  run->compile.any_grid, run->compile.no_hoisting,
                              run->compile.assume, p->o.no_reference,     p->o.no_race_check};
  hd_buf text = {0};
  hd_status st = hd_workload_digest(p->w, run->compile.arch, h, d);
  hd_plan_print(plan, &text);
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) hd_digest_bytes(h, text.data, text.len);
  hd_digest_bytes(h, numbers, sizeof numbers);
  for (size_t k = 0; k < n; k++) {
    const uint64_t one[] = {p->dispatches[k].kind, p->dispatches[k].seed, p->dispatches[k].resident};
    hd_digest_bytes(h, one, sizeof one);
  }
  hd_buf_free(&text);
  return st;
}

hd_status hd_check_split(const hd_workload *w, const hd_plan *plan, const hd_check_options *o,
                         const hd_work_how *how, void (*progress)(void *ctx, size_t done, size_t n),
                         void *ctx, bool *whole, hd_check_result *r, hd_diag *d) {
  const hd_plan_set set = {.all = *plan};
  hd_resolved resolved;
  size_t n = 0;
  *r = (hd_check_result){0};
  hd_status st = hd_resolve(w, &set, &o->run, NULL, &resolved, d);
  if (st != HD_OK) return st;
  proof p = {.w = w, .plans = &resolved, .o = *o, .out = r};
  p.o.run.compile.arch = resolved.code->arch;
  hd_work work = {.identity = hd_digest_begin(),
                  .item = proof_item,
                  .take = proof_take,
                  .prepare = proof_prepare,
                  .ctx = &p,
                  .progress = progress,
                  .progress_ctx = ctx};
  st = hd_check_dispatches(&p.o, p.dispatches, &n, d);
  if (st == HD_OK) st = identify(&p, plan, n, &work.identity, d);
  work.n = n + 1;
  if (st == HD_OK) st = hd_work_run(&work, how, whole, d);
  hd_checker_close(p.checker);
  hd_resolved_free(&resolved);
  return st;
}
