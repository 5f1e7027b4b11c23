/* Limits on the registers of a kernel with agents. */
#include "rewrite/rewrite_internal.h"

/* An SM's registers since sm_50, and how they are handed out: to whole warps, by eight a thread, each of four
 * schedulers having as many. ptxas takes no limit below LEAST_LIMIT, nor one above MOST_LIMIT. */
enum {
  FILE_REGISTERS = 65536,
  UNIT = 8,
  SCHEDULERS = 4,
  MOST_WARPS = 64, /* of an SM */
  FREE = 32,       /* registers a thread with which MOST_WARPS fit */
  LEAST_LIMIT = 24,
  MOST_LIMIT = 255,
  MOST_DIRECTIVES = 64,
};

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t round_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

/* CTAs of `warps` warps for which an SM has registers. */
static uint32_t ctas_with(uint32_t registers, uint32_t warps) {
  uint32_t fit = FILE_REGISTERS / (round_up(registers, UNIT) * 32);
  return fit / SCHEDULERS * SCHEDULERS / warps;
}

/* The most registers a thread with which `ctas` of them are resident all the same, from `registers` up. */
static uint32_t most_with(uint32_t registers, uint32_t warps, uint32_t ctas) {
  uint32_t r = round_up(registers, UNIT);
  while (r < MOST_LIMIT && ctas_with(r + UNIT, warps) >= ctas) r += UNIT;
  return r;
}

/* The limit for a kernel whose original uses that many registers. */
static uint32_t budget(const rewrite_job *j) {
  uint32_t own = j->opt->registers, limit = own + HD_AGENT_REGISTERS;
  uint32_t warps = (rewrite_threads(j) + 31) / 32, agents = j->plan->agents;
  if (j->opt->budget == HD_BUDGET_SAME_OCCUPANCY) {
    uint32_t same =
        warps ? most_with(own, warps, least(ctas_with(own, warps), MOST_WARPS / warps)) : round_up(own, UNIT);
    limit = least(limit, most(same, FREE));
  }
  if (agents && warps && agents <= MOST_WARPS) /* fewer are active than fit */
    limit = most(limit, ctas_with(own, warps) >= agents ? most_with(own, warps, agents) : 0);
  return most(limit, LEAST_LIMIT);
}

static hd_status limit_registers(const rewrite_job *j, hd_diag *d) {
  hd_ptx_module *m = j->m;
  const hd_ptx_func *f = &m->funcs[j->func];
  hd_ptx_dir dirs[MOST_DIRECTIVES];
  uint32_t n = 0, limit = budget(j);
  for (uint32_t i = f->first_dir; i < f->first_dir + f->n_dirs; i++)
    if (m->dirs[i].name == HD_M_MAXNREG && m->dirs[i].n_vals)
      limit = least(limit, (uint32_t)m->dirs[i].vals[0]);
    else
      dirs[n++] = m->dirs[i];
  if (limit > MOST_LIMIT) return HD_OK;
  dirs[n++] = (hd_ptx_dir){.name = HD_M_MAXNREG, .n_vals = 1, .vals = {limit}};
  return hd_ptx_set_directives(m, j->func, dirs, n, d);
}

/* ptxas takes the tightest of .maxnreg and .minnctapersm, so the kernel's other limits may stay. */
hd_status rewrite_set_registers(rewrite_job *j, hd_diag *d) {
  if (j->plan->bind != HD_BIND_AGENTS) return HD_OK;
  if (!j->opt->registers || j->opt->budget == HD_BUDGET_NONE) return HD_OK;
  if (j->m->funcs[j->func].n_dirs > MOST_DIRECTIVES - 2)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the kernel has %u directives", j->m->funcs[j->func].n_dirs);
  return limit_registers(j, d);
}
