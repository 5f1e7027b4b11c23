/* prefetch=l1:D|l2:D: at the beginning of a task, fetch the data that the task D steps further on in the
 * order (of the cluster, with bind=redirect) reads first.
 *
 * The addresses are computed as in the kernel: the instructions that a load's address follows from are
 * copied, with the other task's coordinates in place of this one's. Of a register written in several places
 * the nearest write above counts: the initial value of a loop's counter. Copies are shared between loads. A
 * wrong guess costs a useless fetch, never a result: a prefetch has none, and faults on nothing.
 *
 * Values that do not depend on the task are not copied where the kernel has computed them already. So the
 * fetches stand as late as possible among the statements that every thread that goes on passes just once:
 * before the first label, where branches only leave, behind the last load there whose address is known, or
 * else before a loop begins.
 *
 * Only for tasks that exist: the last D of the order fetch nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "rewrite/rewrite_internal.h"

enum { MOST_FETCHES = 16, MOST_COPIES = 192, MOST_DEPTH = 64, LINE = 128 };

typedef enum verdict { UNSEEN = 0, NO, SAME, VARIES } verdict; /* VARIES: with the task */

typedef struct slice {
  const rewrite_job *j; /* of the order */
  rewrite_job own;      /* with a prefix of its own */
  const hd_ptx_func *f;
  hd_arena arena;        /* of the lists below */
  uint32_t body;         /* where the kernel's own statements begin */
  uint32_t *first;       /* by register: where its writes begin in `writes`; one more at the end */
  uint32_t *writes;      /* statements of the body, increasing for each register */
  uint8_t *verdicts;     /* by statement: of the register it writes */
  uint8_t *heights;      /* and of how many copies the longest chain to it is, itself included */
  uint32_t at;           /* the statement before which fetches stand */
  hd_sym coordinates[3]; /* registers that hold this task's; 0: %ctaid does */
  bool want[3];
  char next[3][64]; /* names of the other task's */
  hd_buf copies, fetches;
  uint32_t n_copies, n_fetches;
} slice;

/* ---- Instructions that can be copied ------------------------------------------------------- */

/* Depends on its operands alone. */
static bool is_pure(const hd_ptx_form *f) {
  return f->flags & HD_OPF_PURE || (f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM));
}

/* The operands that an instruction writes: one, or those of a vector or a pair. */
static const hd_ptx_opnd *results(const hd_ptx_module *m, const hd_ptx_stmt *st, uint32_t *n) {
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
  bool several = o->kind == HD_O_VEC || o->kind == HD_O_PAIR || o->kind == HD_O_LIST;
  *n = several ? o->n_kids : 1;
  return several ? &m->opnds[o->sym] : o;
}

/* Its copy has registers in the places of those that it writes. */
static bool writes_registers(const hd_ptx_module *m, const hd_ptx_stmt *st) {
  uint32_t n;
  const hd_ptx_opnd *o = results(m, st, &n);
  if (m->opnds[st->first_opnd].kind == HD_O_LIST) return false;
  for (uint32_t k = 0; k < n; k++)
    if (o[k].kind != HD_O_SINK && (o[k].kind != HD_O_REG || o[k].part || m->syms[o[k].sym].vec > 1))
      return false;
  return true;
}

static bool is_id(const hd_ptx_sym *y) {
  return y->index == HD_SR_TID || y->index == HD_SR_NTID || y->index == HD_SR_CTAID ||
         y->index == HD_SR_NCTAID || y->index == HD_SR_LANEID;
}

static int part_of(hd_mod part) { return part == HD_M_X ? 0 : part == HD_M_Y ? 1 : part == HD_M_Z ? 2 : -1; }

static bool is_param(const slice *s, const hd_ptx_sym *y) {
  return y->kind == HD_SYM_VAR && y->decl >= s->f->first_param &&
         y->decl < s->f->first_param + s->f->n_params;
}

static verdict worse(verdict a, verdict b) {
  if (a == NO || b == NO) return NO;
  return a == VARIES || b == VARIES ? VARIES : SAME;
}

/* ---- Definitions of registers ----------------------------------------------------------------- */

enum { OUTSIDE = UINT32_MAX, NOWHERE = UINT32_MAX - 1 };

/* The nearest write of a register above statement `use`. OUTSIDE: the body does not write it. */
static uint32_t definition(const slice *s, hd_sym reg, uint32_t use) {
  uint32_t index = s->j->m->syms[reg].index, begin = s->first[index], lo = begin, hi = s->first[index + 1];
  if (lo == hi) return OUTSIDE;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->writes[mid] < use)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo == begin ? NOWHERE : s->writes[lo - 1];
}

typedef void write_fn(slice *s, uint32_t reg, uint32_t stmt);

static void each_write(slice *s, write_fn *fn) {
  const hd_ptx_module *m = s->j->m;
  for (uint32_t i = s->body; i < s->f->n_stmts; i++) {
    const hd_ptx_stmt *st = &s->f->stmts[i];
    if (st->kind != HD_S_INST || !st->n_opnds) continue;
    uint32_t n;
    const hd_ptx_opnd *o = results(m, st, &n);
    for (uint32_t k = 0; k < n; k++)
      if (o[k].kind == HD_O_REG && m->syms[o[k].sym].kind == HD_SYM_REG) fn(s, m->syms[o[k].sym].index, i);
  }
}

static void count_write(slice *s, uint32_t reg, uint32_t stmt) {
  (void)stmt;
  s->first[reg + 1]++;
}
/* first[reg] runs ahead to where the next register's begin. */
static void place_write(slice *s, uint32_t reg, uint32_t stmt) { s->writes[s->first[reg]++] = stmt; }

static bool find_writes(slice *s) {
  uint32_t n = s->f->n_regs;
  s->first = HD_NEW_N(&s->arena, (size_t)n + 2, uint32_t);
  if (!s->first) return false;
  each_write(s, count_write);
  for (uint32_t i = 0; i < n; i++) s->first[i + 1] += s->first[i];
  s->writes = HD_NEW_N(&s->arena, (size_t)s->first[n] + 1, uint32_t);
  if (!s->writes) return false;
  each_write(s, place_write);
  memmove(s->first + 1, s->first, n * sizeof *s->first);
  s->first[0] = 0;
  return true;
}

/* ---- Registers that vary between tasks --------------------------------------------------------- */

static verdict judge(slice *s, hd_sym reg, uint32_t use, unsigned depth);

static verdict judge_operand(slice *s, const hd_ptx_opnd *o, uint32_t use, unsigned depth) {
  const hd_ptx_sym *y = &s->j->m->syms[o->sym];
  switch (o->kind) {
  case HD_O_INT:
  case HD_O_F32: return SAME;
  case HD_O_REG: return o->part ? NO : judge(s, o->sym, use, depth);
  case HD_O_SREG: {
    int part = part_of(o->part);
    if (!is_id(y) || (part < 0 && y->index != HD_SR_LANEID)) return NO;
    return y->index == HD_SR_CTAID ? VARIES : SAME;
  }
  case HD_O_SYM: return y->kind == HD_SYM_VAR && s->j->m->vars[y->decl].space == HD_M_GLOBAL ? SAME : NO;
  case HD_O_ADDR: return o->sym && is_param(s, y) ? SAME : NO;
  default: return NO;
  }
}

static verdict judge_definition(slice *s, uint32_t at, unsigned depth) {
  const hd_ptx_stmt *st = &s->f->stmts[at];
  if (st->guard || !is_pure(&s->j->m->forms[st->form]) || !writes_registers(s->j->m, st)) return NO;
  verdict v = SAME;
  unsigned height = 0;
  for (uint32_t k = 1; k < st->n_opnds && v != NO; k++) {
    const hd_ptx_opnd *o = &s->j->m->opnds[st->first_opnd + k];
    v = worse(v, judge_operand(s, o, at, depth + 1));
    uint32_t from = o->kind == HD_O_REG && v != NO ? definition(s, o->sym, at) : OUTSIDE;
    if (from < NOWHERE && s->heights[from] > height) height = s->heights[from];
  }
  s->heights[at] = (uint8_t)(height + 1);
  return height < MOST_DEPTH ? v : NO;
}

static bool is_coordinate(const slice *s, hd_sym reg, unsigned *k) {
  for (*k = 0; *k < 3; ++*k)
    if (s->coordinates[*k] == reg) return true;
  return false;
}

static verdict judge(slice *s, hd_sym reg, uint32_t use, unsigned depth) {
  const hd_ptx_sym *y = &s->j->m->syms[reg];
  unsigned k;
  if (is_coordinate(s, reg, &k)) return VARIES;
  if (y->kind != HD_SYM_REG || y->vec > 1 || depth > MOST_DEPTH) return NO;
  uint32_t at = definition(s, reg, use);
  if (at == OUTSIDE) return SAME; /* set at entry, for all tasks */
  if (at == NOWHERE) return NO;
  if (s->verdicts[at] == UNSEEN) s->verdicts[at] = (uint8_t)judge_definition(s, at, depth);
  return (verdict)s->verdicts[at];
}

/* ---- Copying ------------------------------------------------------------------------------------ */

/* The register holds at the fetches what it does where `at` wrote it, for this task and the other one. */
static bool is_shared(const slice *s, hd_sym reg, uint32_t at) {
  return at < s->at && s->verdicts[at] == SAME && definition(s, reg, s->at) == at;
}

/* The name of the copy of a register that statement `at` writes. */
static void put_name(slice *s, hd_sym reg, uint32_t at, hd_buf *t) {
  rewrite_put(&s->own, t, "%%~c%u", at);
  uint32_t n, k = 0;
  const hd_ptx_opnd *o = results(s->j->m, &s->f->stmts[at], &n);
  while (k + 1 < n && (o[k].kind != HD_O_REG || o[k].sym != reg)) k++;
  if (k) hd_buf_printf(t, "_%u", k);
}

/* The copy of register `reg` as statement `use` reads it. */
static void put_register(slice *s, hd_sym reg, uint32_t use, hd_buf *t) {
  unsigned k;
  uint32_t at = definition(s, reg, use);
  if (is_coordinate(s, reg, &k))
    hd_buf_puts(t, s->next[k]);
  else if (at == OUTSIDE || is_shared(s, reg, at))
    hd_buf_puts(t, s->j->m->syms[reg].name);
  else
    put_name(s, reg, at, t);
}

static void put_operand(slice *s, const hd_ptx_opnd *o, uint32_t use) {
  const hd_ptx_sym *y = &s->j->m->syms[o->sym];
  hd_buf *t = &s->copies;
  char offset[32] = "";
  if (o->kind == HD_O_INT) {
    hd_buf_printf(t, "%" PRId64, o->imm);
  } else if (o->kind == HD_O_F32) {
    hd_buf_printf(t, "0f%08" PRIx32, (uint32_t)o->bits);
  } else if (o->kind == HD_O_REG) {
    hd_buf_puts(t, o->flags & HD_OF_NEG ? y->type == HD_M_PRED ? "!" : "-" : "");
    put_register(s, o->sym, use, t);
  } else if (o->kind == HD_O_SREG) {
    int part = part_of(o->part);
    if (y->index == HD_SR_CTAID)
      hd_buf_puts(t, s->next[part]);
    else
      hd_buf_printf(t, "%s%s%s", y->name, part < 0 ? "" : ".",
                    part < 0 ? "" : hd_ptx_mod_text(s->j->m, o->part));
  } else {
    if (o->imm) snprintf(offset, sizeof offset, "%+" PRId64, o->imm);
    hd_buf_printf(t, o->kind == HD_O_ADDR ? "[%s%s]" : "%s%s", y->name, offset);
  }
}

/* Declare the copies of the registers that statement `at` writes, and put its opcode with them. */
static void put_results(slice *s, uint32_t at) {
  const hd_ptx_module *m = s->j->m;
  const hd_ptx_stmt *st = &s->f->stmts[at];
  hd_ptx_opnd_kind kind = (hd_ptx_opnd_kind)m->opnds[st->first_opnd].kind;
  hd_buf *t = &s->copies;
  uint32_t n;
  const hd_ptx_opnd *o = results(m, st, &n);
  for (uint32_t k = 0; k < n; k++) {
    if (o[k].kind != HD_O_REG) continue;
    hd_buf_printf(t, "\t.reg .%s ", hd_ptx_mod_text(m, m->syms[o[k].sym].type));
    put_name(s, o[k].sym, at, t);
    hd_buf_puts(t, ";\n");
  }
  hd_buf_printf(t, "\t%s %s", m->forms[st->form].text, kind == HD_O_VEC ? "{" : "");
  for (uint32_t k = 0; k < n; k++) {
    if (k) hd_buf_puts(t, kind == HD_O_PAIR ? "|" : ", ");
    if (o[k].kind == HD_O_REG)
      put_name(s, o[k].sym, at, t);
    else
      hd_buf_puts(t, "_");
  }
  if (kind == HD_O_VEC) hd_buf_puts(t, "}");
}

/* Copy the instructions that `reg` follows from at statement `use`, once. */
static void copy(slice *s, hd_sym reg, uint32_t use, uint8_t *copied) {
  unsigned coordinate;
  uint32_t at = definition(s, reg, use);
  if (is_coordinate(s, reg, &coordinate) || at == OUTSIDE || copied[at] || is_shared(s, reg, at)) return;
  copied[at] = 1;
  const hd_ptx_stmt *st = &s->f->stmts[at];
  const hd_ptx_opnd *o = &s->j->m->opnds[st->first_opnd];
  for (uint32_t k = 1; k < st->n_opnds; k++)
    if (o[k].kind == HD_O_REG) copy(s, o[k].sym, at, copied);
  put_results(s, at);
  for (uint32_t k = 1; k < st->n_opnds; k++) {
    hd_buf_puts(&s->copies, ", ");
    put_operand(s, &o[k], at);
  }
  hd_buf_puts(&s->copies, ";\n");
  s->n_copies++;
}

/* Find the coordinates of the other task that the copies read. */
static void collect(slice *s, hd_sym reg, uint32_t use, uint8_t *visited) {
  unsigned coordinate;
  uint32_t at = definition(s, reg, use);
  if (is_coordinate(s, reg, &coordinate)) {
    s->want[coordinate] = true;
    return;
  }
  if (at == OUTSIDE || visited[at]) return;
  visited[at] = 1;
  const hd_ptx_stmt *st = &s->f->stmts[at];
  for (uint32_t k = 1; k < st->n_opnds; k++) {
    const hd_ptx_opnd *o = &s->j->m->opnds[st->first_opnd + k];
    if (o->kind == HD_O_REG) collect(s, o->sym, at, visited);
    if (o->kind == HD_O_SREG && s->j->m->syms[o->sym].index == HD_SR_CTAID) s->want[part_of(o->part)] = true;
  }
}

/* ---- Choice of loads -------------------------------------------------------------------------------- */

typedef struct fetch {
  hd_sym base;
  uint32_t stmt; /* the load */
  uint32_t from; /* where its base was written */
  int64_t offset;
} fetch;

static int64_t line_of(int64_t offset) { return hd_floor_div(offset, LINE); }

/* False: there are enough. */
static bool add_fetch(slice *s, fetch *list, fetch f) {
  for (uint32_t i = 0; i < s->n_fetches; i++)
    if (list[i].base == f.base && list[i].from == f.from && line_of(list[i].offset) == line_of(f.offset))
      return true;
  if (s->n_fetches == MOST_FETCHES) return false;
  list[s->n_fetches++] = f;
  return true;
}

static hd_status find_fetches(slice *s, fetch *list, hd_diag *d) {
  const hd_ptx_module *m = s->j->m;
  const hd_ptx_stmt *first = NULL;
  bool same = false;
  for (uint32_t i = s->body; i < s->f->n_stmts; i++) {
    const hd_ptx_stmt *st = &s->f->stmts[i];
    if (st->kind != HD_S_INST) continue;
    const hd_ptx_form *f = &m->forms[st->form];
    if (f->op != HD_OP_LD || !hd_ptx_form_has(f, HD_M_GLOBAL) || st->n_opnds < 2) continue;
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + 1];
    if (!first) first = st;
    if (o->kind != HD_O_ADDR || !o->sym || m->syms[o->sym].kind != HD_SYM_REG) continue;
    verdict v = judge(s, o->sym, i, 0);
    same |= v == SAME;
    fetch one = {.base = o->sym, .stmt = i, .from = definition(s, o->sym, i), .offset = o->imm};
    if (v == VARIES && !add_fetch(s, list, one)) break;
  }
  if (s->n_fetches) return HD_OK;
  if (!first) return hd_fail(d, HD_ERR_REFUSED, "no ld of the kernel reads global memory");
  return rewrite_refuse(
      m, first,
      same ? "no load's address depends on the task"
           : "no load's address follows from the task's and the thread's ids and the parameters",
      d);
}

/* ---- Place of the prefetches ------------------------------------------------------------------------ */

/* Control comes to the next statement only from this one, and to this one only once. */
static bool is_straight(const slice *s, const hd_ptx_stmt *st) {
  if (st->kind == HD_S_LABEL || st->kind == HD_S_OPEN || st->kind == HD_S_CLOSE) return false;
  if (st->kind != HD_S_INST) return true;
  const hd_ptx_form *f = &s->j->m->forms[st->form];
  bool barrier = hd_ptx_op_class(f->op) == HD_OPC_SYNC &&
                 f->flags & (HD_OPF_WARP_WIDE | HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE);
  if (barrier || f->op == HD_OP_BRX) return false;
  return st->guard || !(f->flags & HD_OPF_LEAVES);
}

static uint32_t place(const slice *s, const fetch *list) {
  uint32_t end = s->body, last = s->body;
  while (end < s->f->n_stmts && is_straight(s, &s->f->stmts[end])) end++;
  for (uint32_t i = 0; i < s->n_fetches; i++)
    if (list[i].stmt < end && list[i].stmt >= last) last = list[i].stmt + 1;
  return last > s->body ? last : end;
}

/* ---- The text ------------------------------------------------------------------------------------------ */

/* How far ahead it is in the numbers that the order's program takes. With bind=redirect those are workers,
 * and the next one of a cluster is as many on as there are clusters. Saturates: no grid has a task that far.
 */
static uint32_t distance(const rewrite_job *j) {
  uint64_t D = j->plan->prefetch.distance;
  if (j->plan->bind == HD_BIND_REDIRECT) D *= hd_plan_clusters(j->plan, &j->opt->grid);
  return D < UINT32_MAX ? (uint32_t)D : UINT32_MAX;
}

/* %~p: the other task's position. Leaves where there is none. */
static void put_ahead(slice *s, bool ordered, hd_buf *t) {
  const rewrite_job *j = &s->own;
  uint32_t D = distance(j);
  const rewrite_job *from = ordered ? s->j : j; /* whose registers hold the position */
  bool known = j->opt->grid.known;
  if (!ordered) {
    if (!known) rewrite_put_dimensions(j, t);
    rewrite_put_worker(j, t);
  }
  rewrite_put(j, t, "\t.reg .b32 %%~p;\n\t.reg .pred %%~none;\n");
  if (known) {
    rewrite_put(j, t, "\tsetp.ge.u32 %%~none, %%%s_u, %" PRIu64 ";\n\t@%%~none bra $~done;\n", from->prefix,
                j->V - D);
  } else {
    rewrite_put(j, t,
                "\t@%%%s_large bra $~done;\n\tsub.u32 %%~p, %%%s_v, %%%s_u;\n"
                "\tsetp.le.u32 %%~none, %%~p, %u;\n\t@%%~none bra $~done;\n",
                from->prefix, from->prefix, from->prefix, D);
  }
  rewrite_put(j, t, "\tadd.u32 %%~p, %%%s_u, %u;\n", from->prefix, D);
}

static hd_status put_coordinates(slice *s, bool ordered, hd_buf *t, hd_diag *d) {
  const rewrite_job *j = &s->own, *from = ordered ? s->j : j;
  hd_prog prog;
  hd_status st = hd_plan_forward(j->plan, &j->opt->grid, &prog, d);
  if (st != HD_OK) return st;
  char prefix[96], in[96], dims[4][96], names[3][64];
  snprintf(prefix, sizeof prefix, "%s_n", j->prefix);
  snprintf(in, sizeof in, "%%%s_p", j->prefix);
  rewrite_lowering l = {
      .prefix = prefix, .in = in, .want = {s->want[0], s->want[1], s->want[2]}, .table = &j->table};
  for (unsigned k = 0; k < 4; k++) {
    snprintf(dims[k], sizeof dims[k], "%%%s_%s", from->prefix,
             (const char *const[]){"nx", "ny", "nz", "v"}[k]);
    l.dims[k] = j->opt->grid.known ? NULL : dims[k];
  }
  st = rewrite_lower(&prog, &l, names, t, d);
  for (unsigned k = 0; k < 3; k++) memcpy(s->next[k], names[k], sizeof names[k]);
  return st;
}

static hd_status put_all(slice *s, bool ordered, hd_buf *t, hd_diag *d) {
  fetch list[MOST_FETCHES] = {0};
  uint8_t *flags = HD_NEW_N(&s->arena, 2 * ((size_t)s->f->n_stmts + 1), uint8_t);
  if (!flags) return hd_nomem(d);
  uint8_t *visited = flags, *copied = flags + s->f->n_stmts + 1;
  hd_status st = find_fetches(s, list, d);
  for (uint32_t i = 0; st == HD_OK && i < s->n_fetches; i++) collect(s, list[i].base, list[i].stmt, visited);
  s->at = place(s, list);
  if (st == HD_OK) put_ahead(s, ordered, t);
  if (st == HD_OK) st = put_coordinates(s, ordered, t, d);
  for (uint32_t i = 0; st == HD_OK && i < s->n_fetches && s->n_copies < MOST_COPIES; i++) {
    copy(s, list[i].base, list[i].stmt, copied);
    rewrite_put(&s->own, &s->fetches, "\tprefetch.global.%s [",
                s->own.plan->prefetch.kind == HD_PREFETCH_L1 ? "L1" : "L2");
    put_register(s, list[i].base, list[i].stmt, &s->fetches);
    hd_buf_printf(&s->fetches, "%+" PRId64 "];\n", list[i].offset);
  }
  if (st != HD_OK) return st;
  hd_buf_put(t, s->copies.data ? s->copies.data : "", s->copies.len);
  hd_buf_put(t, s->fetches.data ? s->fetches.data : "", s->fetches.len);
  rewrite_put(&s->own, t, "$~done:\n");
  bool failed = t->failed || s->copies.failed || s->fetches.failed;
  return failed ? hd_nomem(d) : HD_OK;
}

hd_status rewrite_prefetch(rewrite_job *j, hd_diag *d) {
  slice s = {.j = j, .own = *j, .f = &j->m->funcs[j->func], .body = j->body};
  if (j->opt->grid.known) {
    if (!hd_grid_tasks(j->opt->grid.g, &s.own.V) || s.own.V > UINT32_MAX)
      return hd_fail(d, HD_ERR_UNSUPPORTED, "prefetch: not for grids of 2^32 tasks or more");
    if (s.own.V <= distance(j)) return HD_OK; /* no task has another one that far ahead */
  }
  s.own.prefix = hd_ptx_fresh_prefix(j->m);
  hd_arena_init(&s.arena);
  s.verdicts = HD_NEW_N(&s.arena, (size_t)s.f->n_stmts + 1, uint8_t);
  s.heights = HD_NEW_N(&s.arena, (size_t)s.f->n_stmts + 1, uint8_t);
  hd_buf text = {0};
  hd_status st = HD_OK;
  if (!s.own.prefix || !s.verdicts || !s.heights || !find_writes(&s)) st = hd_nomem(d);
  if (st == HD_OK) {
    for (unsigned k = 0; j->ordered && k < 3; k++)
      if (j->ctaid.want[k]) s.coordinates[k] = rewrite_find_register(j->m, j->ctaid.names[k]);
    st = put_all(&s, j->ordered, &text, d);
  }
  if (st == HD_OK) st = hd_ptx_insert(j->m, j->func, s.at, text.data, d);
  hd_buf_free(&text);
  hd_buf_free(&s.copies);
  hd_buf_free(&s.fetches);
  hd_arena_free(&s.arena);
  return st;
}
