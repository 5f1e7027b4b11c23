/* What ptxas would refuse of a module that parses, by the tables of valid.def. */
#include "heddle/ptx_valid.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/ptx_facts.h"

enum { NEWEST = 90, HD_OP_ANY = HD_OP_UNKNOWN, GPUS = 6 };
typedef enum rule { SAME, WIDER } rule;
/* Kinds of types; predicates are bits. */
enum { BITS = 1, INTEGER = 2, FLOAT = 4, ALL = BITS | INTEGER | FLOAT };

static const struct need {
  hd_ptx_op op;
  hd_mod words[2];
  unsigned version, sm;
} needs[] = {
#define PTX_NEEDS(op, a, b, version, sm) {HD_OP_##op, {HD_M_##a, HD_M_##b}, version, sm},
#include "ptx/valid.def"
};

static const struct only {
  hd_ptx_op op;
  hd_mod words[2];
  bool families;
  unsigned gpus[GPUS];
} onlys[] = {
#define PTX_ONLY(op, a, b, families, ...) {HD_OP_##op, {HD_M_##a, HD_M_##b}, families, {__VA_ARGS__}},
#include "ptx/valid.def"
};

static const struct {
  hd_ptx_op op;
  hd_mod word;
  unsigned version, sm;
} gone[] = {
#define PTX_GONE(op, a, version, sm) {HD_OP_##op, HD_M_##a, version, sm},
#include "ptx/valid.def"
};

static const struct {
  unsigned sm;
  char suffix;
  unsigned version;
} targets[] = {
#define PTX_TARGET(sm, suffix, version) {sm, suffix, version},
#include "ptx/valid.def"
};

static const struct typed {
  hd_ptx_op op;
  hd_mod without;
  unsigned kinds, mask;
  rule rule;
} typed[] = {
#define PTX_TYPED(op, without, kinds, mask, rule) {HD_OP_##op, HD_M_##without, kinds, mask, rule},
#include "ptx/valid.def"
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* What the tables say of a form, found once for all of its statements. */
typedef struct verdict {
  bool known;
  hd_mod type;             /* of its operands */
  const struct typed *how; /* NULL: they are not checked */
  hd_mod taken;            /* a type of registers that it takes: nearly all have this one */
} verdict;

typedef struct check {
  const hd_ptx_module *m;
  verdict *verdicts; /* per form */
  unsigned version;  /* 87: 8.7 */
  char suffix;       /* of the target: 'a', 'f', or 0 */
  bool known;        /* the target is one of the table */
  hd_diag *d;
} check;

#define REFUSE(c, at, ...) refuse(c, at, hd_fail((c)->d, HD_ERR_INPUT, __VA_ARGS__))
static hd_status refuse(const check *c, uint32_t line, hd_status st) {
  if (!c->d) return st;
  c->d->line = line;
  c->d->column = 1;
  strncpy(c->d->file, c->m->name, sizeof c->d->file - 1);
  return st;
}

/* ---- Versions and targets ------------------------------------------------------------------------------ */

static bool applies(const hd_ptx_form *f, hd_ptx_op op, const hd_mod words[2]) {
  return (op == HD_OP_ANY || f->op == op) && (!words[0] || hd_ptx_form_has(f, words[0])) &&
         (!words[1] || hd_ptx_form_has(f, words[1]));
}

static bool suits(const check *c, const struct only *o) {
  if (c->suffix != 'a' && (c->suffix != 'f' || !o->families)) return false;
  for (int k = 0; k < GPUS; k++)
    if (o->gpus[k] == c->m->sm) return true;
  return false;
}

static hd_status check_form(const check *c, const hd_ptx_form *f, uint32_t line) {
  if (f->op == HD_OP_UNKNOWN)
    return REFUSE(c, line, "'%s' is no instruction of PTX ISA %u.%u", f->text, c->m->version_major,
                  c->m->version_minor);
  for (size_t k = 0; k < COUNT(needs); k++) {
    const struct need *n = &needs[k];
    if (!applies(f, n->op, n->words)) continue;
    if (c->version < n->version)
      return REFUSE(c, line, "'%s' needs PTX ISA %u.%u, and this is %u.%u", f->text, n->version / 10,
                    n->version % 10, c->m->version_major, c->m->version_minor);
    if (c->m->sm && c->m->sm < n->sm)
      return REFUSE(c, line, "'%s' needs sm_%u, and the target is sm_%u", f->text, n->sm, c->m->sm);
  }
  for (size_t k = 0; k < COUNT(gone); k++)
    if (f->op == gone[k].op && !hd_ptx_form_has(f, gone[k].word) && c->version >= gone[k].version &&
        c->m->sm >= gone[k].sm)
      return REFUSE(c, line, "'%s' needs '.%s' for sm_%u from PTX ISA %u.%u on", f->text,
                    hd_ptx_mod_text(c->m, gone[k].word), c->m->sm, gone[k].version / 10,
                    gone[k].version % 10);
  for (size_t k = 0; c->known && k < COUNT(onlys); k++)
    if (applies(f, onlys[k].op, onlys[k].words) && !suits(c, &onlys[k]))
      return REFUSE(c, line, "'%s' is not there for the target %s", f->text, c->m->target);
  return HD_OK;
}

static hd_status check_target(const check *c) {
  for (size_t k = 0; k < COUNT(targets); k++)
    if (targets[k].sm == c->m->sm && targets[k].suffix == c->suffix && c->version < targets[k].version)
      return REFUSE(c, c->m->target_line, "the target %s needs PTX ISA %u.%u, and this is %u.%u",
                    c->m->target, targets[k].version / 10, targets[k].version % 10, c->m->version_major,
                    c->m->version_minor);
  return HD_OK;
}

/* ---- Types of registers -------------------------------------------------------------------------------- */

static bool is_float(const hd_ptx_type *t) { return t->number == HD_NUM_FLOAT; }

/* Two halves in a register pass for 32 bits. */
static bool suits_integer(hd_mod reg, const hd_ptx_type *r) { return !is_float(r) || reg == HD_M_F16X2; }

/* PTX ISA, operand type checking: what suits the type of an instruction. */
static bool type_suits(hd_mod type, hd_mod reg, rule how) {
  const hd_ptx_type t = hd_ptx_type_of(type), r = hd_ptx_type_of(reg);
  const bool judged = t.bits && r.bits && t.number != HD_NUM_OPAQUE && r.number != HD_NUM_OPAQUE &&
                      (t.bits >= 8 || type == HD_M_PRED) && type != HD_M_TF32;
  if (!judged || type == reg) return true;
  if (type == HD_M_PRED && reg == HD_M_F16X2) return true; /* ptxas takes these */
  if (how == SAME ? r.bits != t.bits : r.bits < t.bits) return false;
  if (t.number == HD_NUM_PREDICATE || r.number == HD_NUM_PREDICATE) return false;
  if (t.number == HD_NUM_BITS || r.number == HD_NUM_BITS) return true;
  return !is_float(&t) && suits_integer(reg, &r);
}

static hd_status check_operand(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, verdict *v,
                               uint32_t line) {
  const hd_ptx_sym *s = &c->m->syms[o->sym];
  if (o->kind != HD_O_REG || o->part || s->type == v->taken || s->kind != HD_SYM_REG || s->vec > 1)
    return HD_OK;
  if (type_suits(v->type, s->type, v->how->rule)) {
    v->taken = s->type;
    return HD_OK;
  }
  return REFUSE(c, line, "'%s' does not take the register '%s', whose type is .%s", f->text, s->name,
                hd_ptx_mod_text(c->m, s->type));
}

/* Whether the instruction has this type. Of 8 bits there are only loads and stores. */
static bool has_type(const struct typed *t, hd_mod type) {
  static const unsigned kinds[] = {
      [HD_NUM_UNSIGNED] = INTEGER, [HD_NUM_SIGNED] = INTEGER, [HD_NUM_BITS] = BITS,
      [HD_NUM_PREDICATE] = BITS,   [HD_NUM_FLOAT] = FLOAT,    [HD_NUM_OPAQUE] = ALL};
  const hd_ptx_type is = hd_ptx_type_of(type);
  return kinds[is.number] & t->kinds && (t->rule == WIDER || is.bits != 8);
}

/* The form's types: 0, 1, or more. */
static unsigned types_of(const hd_ptx_form *f, hd_mod *type) {
  unsigned n = 0;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_TYPE) {
      n++;
      *type = f->mods[k];
    }
  return n;
}

/* A vector of a load or a store: as long as its form says. */
static hd_status check_vector(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, verdict *v,
                              uint32_t line) {
  unsigned width = 1;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_WIDTH) width = hd_ptx_mod_value(f->mods[k]);
  if (o->n_kids != width) return REFUSE(c, line, "'%s' takes no vector of %u elements", f->text, o->n_kids);
  for (uint32_t k = 0; k < o->n_kids; k++) {
    const hd_ptx_opnd *kid = &c->m->opnds[o->sym + k];
    if (kid->kind == HD_O_REG && c->m->syms[kid->sym].type == HD_M_PRED) continue; /* ptxas takes these */
    const hd_status st = check_operand(c, f, kid, v, line);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* The row of the form's operands, and their type; NULL: there is none. */
static const struct typed *row_of(const hd_ptx_form *f, hd_mod *type) {
  const struct typed *t = NULL;
  for (size_t k = 0; k < COUNT(typed) && !t; k++)
    if (typed[k].op == f->op) t = &typed[k];
  return !t || (t->without && hd_ptx_form_has(f, t->without)) || types_of(f, type) != 1 ? NULL : t;
}

static hd_status check_operands(const check *c, const hd_ptx_form *f, verdict *v, const hd_ptx_stmt *s) {
  const struct typed *t = v->how;
  for (uint32_t k = 0; k < s->n_opnds && k < 32; k++) {
    const hd_ptx_opnd *o = &c->m->opnds[s->first_opnd + k];
    if (!(t->mask >> k & 1)) continue;
    const hd_status st = o->kind == HD_O_VEC && t->rule == WIDER ? check_vector(c, f, o, v, s->line)
                                                                 : check_operand(c, f, o, v, s->line);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

static hd_status check_instruction(const check *c, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = &c->m->forms[s->form];
  verdict *v = &c->verdicts[s->form];
  if (!v->known) {
    const hd_status st = check_form(c, f, s->line);
    if (st != HD_OK) return st;
    v->known = true;
    v->how = row_of(f, &v->type);
    if (v->how && !has_type(v->how, v->type))
      return REFUSE(c, s->line, "'%s' is of a type that it does not come in", f->text);
  }
  return v->how ? check_operands(c, f, v, s) : HD_OK;
}

/* ---- Functions ----------------------------------------------------------------------------------------- */

/* A name with dots is read as a name and directives behind it. */
static bool is_directive(hd_mod word) {
  switch (word) {
  case HD_M_MAXNTID:
  case HD_M_REQNTID:
  case HD_M_MINNCTAPERSM:
  case HD_M_MAXNCTAPERSM:
  case HD_M_MAXNREG:
  case HD_M_LOCAL_MAXNREG:
  case HD_M_NORETURN:
  case HD_M_REQNCTAPERCLUSTER:
  case HD_M_EXPLICITCLUSTER:
  case HD_M_MAXCLUSTERRANK:
  case HD_M_BLOCKSARECLUSTERS:
  case HD_M_ABI_PRESERVE:
  case HD_M_ABI_PRESERVE_CONTROL:
  case HD_M_PRAGMA:
  case HD_M_UNIQUE:
  case HD_M_RETADDR_ALLOCNO:
  case HD_M_SCRATCH:
  case HD_M_ATTRIBUTE:
  case HD_M_ALIGN: return true;
  default: return false;
  }
}

static hd_status check_function(const check *c, const hd_ptx_func *f) {
  const hd_ptx_module *m = c->m;
  for (uint32_t k = 0; k < f->n_dirs; k++)
    if (!is_directive(m->dirs[f->first_dir + k].name))
      return REFUSE(c, f->line, "'.%s' behind the name '%s' is no directive", /* */
                    hd_ptx_mod_text(m, m->dirs[f->first_dir + k].name), m->syms[f->sym].name);
  for (uint32_t k = 0; k < f->n_stmts; k++) {
    const hd_ptx_stmt *s = &f->stmts[k];
    hd_status st = HD_OK;
    if (s->kind == HD_S_TARGETS && s->mod == HD_M_BRANCHTARGETS && c->version < 60)
      st = REFUSE(c, s->line, "'.branchtargets' needs PTX ISA 6.0");
    if (s->kind == HD_S_INST) st = check_instruction(c, s);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

hd_status hd_ptx_validate(const hd_ptx_module *m, hd_diag *d) {
  check c = {.m = m, .version = 10 * m->version_major + m->version_minor, .d = d};
  static const char suffixes[] = {[HD_TARGET_PLAIN] = 0, [HD_TARGET_FAMILY] = 'f', [HD_TARGET_EXACT] = 'a'};
  c.suffix = suffixes[hd_target_parse(m->target).kind];
  for (size_t k = 0; k < COUNT(targets); k++) c.known |= targets[k].sm == m->sm;
  if (c.version > NEWEST) return HD_OK; /* of a language that these tables do not know */
  hd_status st = check_target(&c);
  c.verdicts = calloc(m->n_forms + 1u, sizeof *c.verdicts);
  if (!c.verdicts) return hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < m->n_funcs; k++) st = check_function(&c, &m->funcs[k]);
  free(c.verdicts);
  return st;
}

hd_status hd_ptx_parse_valid(const char *text, size_t len, const char *name, hd_arena *arena,
                             hd_ptx_module **out, hd_diag *d) {
  hd_status st = hd_ptx_parse(text, len, name, arena, out, d);
  return st == HD_OK ? hd_ptx_validate(*out, d) : st;
}
