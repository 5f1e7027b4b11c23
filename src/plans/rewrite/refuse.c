/* Kernels that must not be reordered, with the instruction that shows it.
 *
 * Reordering gives the same bytes when no CTA can tell which others ran before it or where it runs, and none
 * waits for another. Instructions that reveal either are searched for in the kernel and in every function it
 * can reach.
 */
#include <string.h>

#include "rewrite/rewrite_internal.h"

const char *hd_refusal_name(hd_refusal_kind k) {
  static const char *const names[] = {
      [HD_REFUSE_NONE] = "none",
      [HD_REFUSE_NO_BODY] = "no-body",
      [HD_REFUSE_NO_MEMORY] = "no-memory",
      [HD_REFUSE_GRID_SYNC] = "grid-sync",
      [HD_REFUSE_CLUSTER] = "cluster",
      [HD_REFUSE_SREG] = "special-register",
      [HD_REFUSE_UNKNOWN_INSTRUCTION] = "unknown-instruction",
      [HD_REFUSE_CTAID_IN_FUNC] = "ctaid-in-function",
      [HD_REFUSE_UNKNOWN_CALL] = "unknown-call",
      [HD_REFUSE_DYNAMIC_LAUNCH] = "dynamic-launch",
      [HD_REFUSE_SKIPPED_BARRIER] = "skipped-barrier",
      [HD_REFUSE_LASTING_STATE] = "lasting-state",
      [HD_REFUSE_GRID_IN_FUNC] = "grid-in-function",
      [HD_REFUSE_WORKS_TOGETHER] = "works-together",
      [HD_REFUSE_TID_IN_FUNC] = "tid-in-function",
  };
  return (size_t)k < sizeof names / sizeof *names ? names[k] : "unknown";
}

/* ---- Special registers ----------------------------------------------------- */

typedef struct sreg_rule {
  hd_refusal_kind kind;
  const char *why; /* NULL: no reason */
} sreg_rule;

static const sreg_rule sreg_rules[] = {
    [HD_SRK_UNKNOWN] = {HD_REFUSE_SREG, "a special register that is not known"},
    [HD_SRK_SCHEDULE] = {HD_REFUSE_SREG, "its value depends on where and when the CTA runs"},
    [HD_SRK_CLUSTER] = {HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    /* The driver passes the workspace of a cooperative launch in these. */
    [HD_SRK_DRIVER] = {HD_REFUSE_GRID_SYNC, "driver-defined register, used for grid-wide synchronisation"},
};

static void scan_sreg(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st, hd_sym sreg) {
  uint32_t id = s->m->syms[sreg].index;
  hd_sreg_kind kind = hd_ptx_sreg_kind(id);
  if (id == HD_SR_CTAID && !f->entry)
    rewrite_scan_refuse(s, HD_REFUSE_CTAID_IN_FUNC, st, "%ctaid is read in a function that is not inlined");
  if (id == HD_SR_CLUSTERID && !f->entry && s->clusters)
    rewrite_scan_refuse(s, HD_REFUSE_CTAID_IN_FUNC, st,
                        "%clusterid is read in a function that is not inlined");
  if (kind == HD_SRK_CLUSTER && s->clusters) return;
  if (hd_ptx_sreg_clock(id) && rewrite_hides_clocks(s)) return;
  if (kind < sizeof sreg_rules / sizeof *sreg_rules && sreg_rules[kind].why)
    rewrite_scan_refuse(s, sreg_rules[kind].kind, st, sreg_rules[kind].why);
}

/* Most operands are registers and numbers: this runs over every instruction of every kernel. */
static inline bool is_plain(const hd_ptx_opnd *o) {
  return 1u << o->kind & (1u << HD_O_REG | 1u << HD_O_INT | 1u << HD_O_F32 | 1u << HD_O_F64);
}

/* Special registers anywhere under operands first .. first + n - 1. */
static void scan_operands(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st, uint32_t first,
                          uint32_t n) {
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &s->m->opnds[i];
    if (is_plain(o)) continue;
    switch ((hd_ptx_opnd_kind)o->kind) {
    case HD_O_SREG: scan_sreg(s, f, st, o->sym); break;
    case HD_O_ADDR:
      if (s->m->syms[o->sym].kind == HD_SYM_SREG) scan_sreg(s, f, st, o->sym);
      break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_INDEX:
    case HD_O_MASKED: scan_operands(s, f, st, o->sym, o->kind == HD_O_MASKED ? 1 : o->n_kids); break;
    case HD_O_NONE:
    case HD_O_REG:
    case HD_O_INT:
    case HD_O_F32:
    case HD_O_F64:
    case HD_O_SYM:
    case HD_O_GENERIC:
    case HD_O_SINK:
    case HD_O_STRING:
    case HD_O_RAW: break;
    }
  }
}

/* ---- Calls -------------------------------------------------------------------- */

/* A call through a pointer to one of a list's functions, all of which are looked at by themselves. */
static bool has_known_targets(const hd_ptx_module *m, const hd_ptx_func *f, const hd_ptx_stmt *call) {
  const hd_ptx_opnd *list = &m->opnds[call->first_opnd + call->n_opnds - 1u];
  if (list->kind != HD_O_SYM || m->syms[list->sym].kind != HD_SYM_TARGETS) return false;
  uint32_t i = 0;
  while (i < f->n_stmts && !(f->stmts[i].kind == HD_S_TARGETS && f->stmts[i].sym == list->sym)) i++;
  if (i == f->n_stmts) return false;
  for (uint32_t k = 0; k < f->stmts[i].n_opnds; k++) {
    const hd_ptx_opnd *o = &m->opnds[f->stmts[i].first_opnd + k];
    const hd_ptx_sym *y = o->kind == HD_O_SYM ? &m->syms[o->sym] : NULL;
    if (!y || y->kind != HD_SYM_FUNC || !m->funcs[y->decl].has_body) return false;
  }
  return f->stmts[i].n_opnds > 0;
}

static void scan_call(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st) {
  const hd_ptx_module *m = s->m;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind == HD_O_LIST) continue;
    if (o->kind == HD_O_REG) {
      if (has_known_targets(m, f, st)) return;
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_CALL, st,
                          "a call through a pointer may reach code that reads %ctaid");
      return;
    }
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *sym = &m->syms[o->sym];
    if (sym->kind == HD_SYM_FUNC && m->funcs[sym->decl].has_body) {
      /* Looked at by itself. */
    } else if (sym->kind == HD_SYM_PROTO || sym->kind == HD_SYM_TARGETS) {
      continue;
    } else if (!hd_system_called(m, st)) {
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_CALL, st,
                          "the called function is not in this module and may read %ctaid");
    }
    return; /* the operand behind the callee is a prototype */
  }
}

/* ---- Instructions ------------------------------------------------------------------ */

/* An unknown instruction may wait, see the schedule, leave a state behind, or write what a load reads. */
static bool is_unknown(const hd_ptx_form *f) {
  return f->flags & HD_OPF_UNKNOWN || hd_ptx_access_of(f).unknown;
}

static void refuse_unknown(rewrite_scan *s, const hd_ptx_stmt *st) {
  rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_INSTRUCTION, st, "an instruction that is not known");
}

/* Of the module, kept as written: what says nothing of how its kernels run. */
static bool is_known_item(const char *text) {
  static const char *const known[] = {".file", ".section", ".alias", ".pragma"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(text, known[i], strlen(known[i])) == 0 && strchr(" \t\n\"", text[strlen(known[i])]))
      return true;
  return *text != '.'; /* debug information of old: @@DWARF */
}

static void scan_unknown_items(rewrite_scan *s) {
  for (uint32_t i = 0; i < s->m->n_items; i++)
    if (s->m->items[i].kind == HD_I_RAW && !is_known_item(s->m->syms[s->m->items[i].index].name)) {
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_INSTRUCTION, NULL, "a directive of the module is not known");
      return;
    }
}

/* An unknown directive of the function, or inside of its body, may say how the kernel is launched. */
static void scan_unknown_directives(rewrite_scan *s, const hd_ptx_func *f) {
  for (uint32_t i = f->first_dir; i < f->first_dir + f->n_dirs; i++)
    if (hd_ptx_mod_kind(s->m->dirs[i].name) == HD_MK_UNKNOWN)
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_INSTRUCTION, NULL, "a directive of the function is not known");
}

static void refuse_directive(rewrite_scan *s, const hd_ptx_stmt *st) {
  rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_INSTRUCTION, st, "a directive that is not known");
}

static bool is_known_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  const rewrite_scan *s = ctx;
  const hd_ptx_sym *y = &s->m->syms[leaf->sym];
  return y->kind != HD_SYM_SREG || hd_ptx_sreg_kind(y->index) != HD_SRK_UNKNOWN;
}

/* Instructions that CTAs of a cluster do together, or by which they see each other. */
static const struct {
  uint32_t flag;
  bool clusters; /* also of a kernel that says which clusters it is launched in */
  hd_refusal_kind kind;
  const char *why;
} together[] = {
    {HD_OPF_NAMES_CTAS, false, HD_REFUSE_CLUSTER, "distributed shared memory"},
    {HD_OPF_CLAIMS_CTAS, true, HD_REFUSE_DYNAMIC_LAUNCH,
     "the kernel takes over CTAs that were not launched yet"},
    {HD_OPF_CLUSTER_WIDE, false, HD_REFUSE_CLUSTER, "cluster-wide barrier"},
    {HD_OPF_ACROSS_CTAS, false, HD_REFUSE_CLUSTER, "works across the CTAs of a cluster"},
};

static bool is_dull(const hd_ptx_form *f) {
  uint32_t telling = HD_OPF_CALLS;
  for (size_t i = 0; i < sizeof together / sizeof *together; i++) telling |= together[i].flag;
  return !(f->flags & telling) && !is_unknown(f);
}

static void scan_form(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st) {
  const hd_ptx_form *form = &s->m->forms[st->form];
  if (is_unknown(form)) {
    refuse_unknown(s, st);
    return;
  }
  if (form->flags & HD_OPF_CALLS) {
    scan_call(s, f, st);
    return;
  }
  for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
    if (!(form->flags & together[i].flag) || (s->clusters && !together[i].clusters)) continue;
    rewrite_scan_refuse(s, together[i].kind, st, together[i].why);
    return;
  }
}

enum { DULL = 1, TELLING };

static void scan_inst(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st) {
  uint8_t *known = &s->forms[st->form];
  if (!*known) *known = is_dull(&s->m->forms[st->form]) ? DULL : TELLING;
  if (*known == TELLING) scan_form(s, f, st);
  scan_operands(s, f, st, st->first_opnd, st->n_opnds);
}

static void scan_directives(rewrite_scan *s, const hd_ptx_func *f) {
  static const hd_mod cluster_dirs[] = {HD_M_REQNCTAPERCLUSTER, HD_M_EXPLICITCLUSTER, HD_M_BLOCKSARECLUSTERS};
  for (size_t i = 0; !s->clusters && i < sizeof cluster_dirs / sizeof *cluster_dirs; i++)
    if (hd_ptx_func_dir(s->m, f, cluster_dirs[i])) {
      rewrite_scan_refuse(s, HD_REFUSE_CLUSTER, NULL, "the kernel is launched in thread-block clusters");
      return;
    }
}

size_t hd_rewrite_refusals(const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap) {
  return hd_rewrite_refusals_assuming(m, func, 0, out, cap);
}

/* By their bits. */
static const char *const words[] = {"", "no-waits", "no-carry", "no-waits,no-carry"};

const char *hd_assume_text(unsigned assume) {
  return words[assume & (HD_ASSUME_NO_WAITS | HD_ASSUME_NO_CARRY)];
}

bool hd_assume_parse(const char *text, unsigned *assume) {
  *assume = 0;
  for (const char *p = text; *p;) {
    size_t n = strcspn(p, ",");
    unsigned bit = HD_ASSUME_NO_WAITS;
    while (bit <= HD_ASSUME_NO_CARRY && (strlen(words[bit]) != n || memcmp(p, words[bit], n) != 0)) bit *= 2;
    if (bit > HD_ASSUME_NO_CARRY) return false;
    *assume |= bit;
    p += n + (p[n] == ',');
  }
  return *assume != 0;
}

size_t hd_rewrite_refusals_assuming(const hd_ptx_module *m, uint32_t func, unsigned assume, hd_refusal *out,
                                    size_t cap) {
  const hd_ptx_func *kernel = &m->funcs[func];
  rewrite_scan s = {.m = m, .out = out, .cap = cap};
  if (!kernel->has_body) {
    rewrite_scan_refuse(&s, HD_REFUSE_NO_BODY, NULL, "the kernel is declared here but defined elsewhere");
    return s.n;
  }
  bool ok = rewrite_scan_begin(&s, m, func, out, cap);
  uint32_t cluster[3];
  s.clusters = hd_rewrite_clusters(m, func, cluster);
  if (ok) scan_unknown_items(&s);
  if (ok) scan_directives(&s, kernel);
  for (const hd_ptx_func *f; ok && (f = rewrite_scan_next(&s));) {
    scan_unknown_directives(&s, f);
    for (const hd_ptx_stmt *st = f->stmts; st < f->stmts + f->n_stmts; st++)
      if (st->kind == HD_S_INST)
        scan_inst(&s, f, st);
      else if (st->kind == HD_S_RAW)
        refuse_directive(&s, st);
  }
  if (ok && !(assume & HD_ASSUME_NO_WAITS) && !rewrite_scan_waits(&s))
    rewrite_scan_refuse(&s, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
  rewrite_scan_end(&s);
  return s.n;
}

hd_status rewrite_check_known(const rewrite_job *j, hd_diag *d) {
  rewrite_scan s;
  hd_refusal why = {0};
  bool ok = rewrite_scan_begin(&s, j->m, j->func, &why, 1);
  if (ok) scan_unknown_items(&s);
  for (const hd_ptx_func *f; ok && !s.n && (f = rewrite_scan_next(&s));) {
    scan_unknown_directives(&s, f);
    for (uint32_t i = 0; i < f->n_stmts && !s.n; i++) {
      const hd_ptx_stmt *st = &f->stmts[i];
      if (st->kind == HD_S_RAW) refuse_directive(&s, st);
      if (st->kind != HD_S_INST) continue;
      if (is_unknown(&j->m->forms[st->form]))
        refuse_unknown(&s, st);
      else if (!hd_ptx_visit(j->m, st, is_known_leaf, &s))
        rewrite_scan_refuse(&s, HD_REFUSE_SREG, st, sreg_rules[HD_SRK_UNKNOWN].why);
    }
  }
  rewrite_scan_end(&s);
  return rewrite_first_refusal(&why, s.n, d);
}
