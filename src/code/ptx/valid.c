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

/* Where the type of operands comes from: a type of the form, or one that is the same in all forms. */
enum { FIRST = 1, SECOND, TWICE, OF_TYPE };
#define OF_U32 OF_TYPE + HD_M_U32
#define OF_B32 OF_TYPE + HD_M_B32
#define OF_B64 OF_TYPE + HD_M_B64
#define OF_PRED OF_TYPE + HD_M_PRED
#define OF_FIRST FIRST
#define OF_SECOND SECOND
#define OF_TWICE TWICE
static const struct operands {
  hd_ptx_op op;
  hd_mod with, without;
  unsigned mask, of;
  rule rule;
} operands[] = {
#define PTX_OPERANDS(op, with, without, mask, of, rule)                                                      \
  {HD_OP_##op, HD_M_##with, HD_M_##without, mask, OF_##of, rule},
#include "ptx/valid.def"
};
static const struct count {
  hd_ptx_op op;
  hd_mod with, without;
  unsigned least, most;
} counts[] = {
#define PTX_COUNT(op, with, without, least, most) {HD_OP_##op, HD_M_##with, HD_M_##without, least, most},
#include "ptx/valid.def"
};

/* Words, of which a form must have one, or none. */
enum { MOST_WORDS = 8 };
static const struct words {
  hd_ptx_op op;
  hd_mod with, without;
  hd_mod words[MOST_WORDS];
} one_of[] =
    {
#define M(word) HD_M_##word
#define EACH(...) EACH_OF(__VA_ARGS__, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE)
#define EACH_OF(a, b, c, d, e, f, g, h, ...) M(a), M(b), M(c), M(d), M(e), M(f), M(g), M(h)
#define PTX_ONE_OF(op, with, without, ...) {HD_OP_##op, M(with), M(without), {EACH(__VA_ARGS__)}},
#include "ptx/valid.def"
},
  nevers[] = {
#define PTX_NEVER(op, with, ...) {HD_OP_##op, M(with), HD_M_NONE, {EACH(__VA_ARGS__)}},
#include "ptx/valid.def"
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* What the tables say of a form, found once for all of its statements. */
enum { MOST_ROWS = 4 };
typedef struct suiting {
  unsigned mask; /* of operands */
  hd_mod type;   /* that they have */
  rule rule;
  hd_mod taken; /* a type of registers that suits: nearly all have this one */
} suiting;
typedef struct verdict {
  bool known, vectors; /* vectors: it is a load or a store, whose operands of `rows` may be vectors */
  unsigned n_rows;
  uint32_t least, most; /* operands */
  suiting rows[MOST_ROWS];
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

static bool is_row_of(const hd_ptx_form *f, hd_ptx_op op, hd_mod with, hd_mod without) {
  return (op == HD_OP_ANY || f->op == op) && (!with || hd_ptx_form_has(f, with)) &&
         (!without || !hd_ptx_form_has(f, without));
}
static bool has_one(const hd_ptx_form *f, const hd_mod words[MOST_WORDS]) {
  bool any = false;
  for (unsigned k = 0; k < MOST_WORDS && !any; k++) any = words[k] && hd_ptx_form_has(f, words[k]);
  return any;
}

/* Whether a conversion says how it rounds, if it must. */
static bool rounds(const hd_ptx_form *f) {
  static const hd_mod to_float[MOST_WORDS] = {HD_M_RN, HD_M_RZ, HD_M_RM, HD_M_RP, HD_M_RNA, HD_M_RS};
  static const hd_mod to_integer[MOST_WORDS] = {HD_M_RNI, HD_M_RZI, HD_M_RMI, HD_M_RPI};
  hd_ptx_type t[2];
  if (f->op != HD_OP_CVT || hd_ptx_form_has(f, HD_M_PACK)) return true;
  hd_ptx_types_of(f, t);
  const bool from_integer = t[1].number == HD_NUM_SIGNED || t[1].number == HD_NUM_UNSIGNED;
  if (t[0].number == HD_NUM_FLOAT)
    return !(from_integer || (t[1].number == HD_NUM_FLOAT && t[0].bits < t[1].bits)) || has_one(f, to_float);
  if (t[0].number != HD_NUM_SIGNED && t[0].number != HD_NUM_UNSIGNED) return true;
  return t[1].number != HD_NUM_FLOAT || has_one(f, to_integer);
}

/* The form's words: one of each group that it needs, from PTX ISA 1.4 on, and none that exclude each other.
 */
static hd_status check_words(const check *c, const hd_ptx_form *f, uint32_t line) {
  for (size_t k = 0; c->version >= 14 && k < COUNT(one_of); k++)
    if (is_row_of(f, one_of[k].op, one_of[k].with, one_of[k].without) && !has_one(f, one_of[k].words))
      return REFUSE(c, line, "'%s' lacks a word, such as '.%s'", f->text,
                    hd_ptx_mod_text(c->m, one_of[k].words[0]));
  for (size_t k = 0; k < COUNT(nevers); k++)
    if (is_row_of(f, nevers[k].op, nevers[k].with, nevers[k].without) && has_one(f, nevers[k].words))
      return REFUSE(c, line, "'%s' has words that do not go together", f->text);
  return rounds(f) ? HD_OK : REFUSE(c, line, "'%s' needs a rounding", f->text);
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

static hd_status check_operand(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, suiting *r,
                               uint32_t line) {
  const hd_ptx_sym *s = &c->m->syms[o->sym];
  if (o->kind == HD_O_INT || o->kind == HD_O_F32 || o->kind == HD_O_F64) {
    const hd_ptx_number n = hd_ptx_type_of(r->type).number;
    const bool whole = n == HD_NUM_SIGNED || n == HD_NUM_UNSIGNED;
    if (o->kind == HD_O_INT ? r->type != HD_M_F32 && r->type != HD_M_F64 : !whole) return HD_OK;
    return REFUSE(c, line, "'%s' has a number that is not of its type", f->text);
  }
  if (o->kind != HD_O_REG || o->part || s->type == r->taken || s->kind != HD_SYM_REG || s->vec > 1)
    return HD_OK;
  if (type_suits(r->type, s->type, r->rule)) {
    r->taken = s->type;
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

/* The form's types: how many, and the first two. */
static unsigned types_of(const hd_ptx_form *f, hd_mod type[2]) {
  unsigned n = 0;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_TYPE) {
      if (n < 2) type[n] = f->mods[k];
      n++;
    }
  return n;
}

static hd_mod twice(hd_mod type) {
  switch (type) {
  case HD_M_U16: return HD_M_U32;
  case HD_M_S16: return HD_M_S32;
  case HD_M_U32: return HD_M_U64;
  case HD_M_S32: return HD_M_S64;
  default: return HD_M_NONE;
  }
}

/* A vector of a load or a store: as long as its form says. */
static hd_status check_vector(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, suiting *r,
                              uint32_t line) {
  unsigned width = 1;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_WIDTH) width = hd_ptx_mod_value(f->mods[k]);
  if (o->n_kids != width) return REFUSE(c, line, "'%s' takes no vector of %u elements", f->text, o->n_kids);
  for (uint32_t k = 0; k < o->n_kids; k++) {
    const hd_ptx_opnd *kid = &c->m->opnds[o->sym + k];
    if (kid->kind == HD_O_REG && c->m->syms[kid->sym].type == HD_M_PRED) continue; /* ptxas takes these */
    const hd_status st = check_operand(c, f, kid, r, line);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

static void add_row(verdict *v, unsigned mask, hd_mod type, rule how) {
  if (type && v->n_rows < MOST_ROWS)
    v->rows[v->n_rows++] = (suiting){.mask = mask, .type = type, .rule = how};
}

static const struct typed *typed_of(const hd_ptx_form *f) {
  const struct typed *t = NULL;
  for (size_t k = 0; k < COUNT(typed) && !t; k++)
    if (typed[k].op == f->op) t = &typed[k];
  return t && t->without && hd_ptx_form_has(f, t->without) ? NULL : t;
}

/* What the tables say of the form's operands. False: its one type is none that it comes in. */
static bool judge(const hd_ptx_form *f, verdict *v) {
  hd_mod types[2];
  const unsigned n = types_of(f, types);
  const struct typed *t = n == 1 ? typed_of(f) : NULL;
  v->known = true;
  v->most = UINT32_MAX;
  for (size_t k = 0; k < COUNT(counts); k++)
    if (is_row_of(f, counts[k].op, counts[k].with, counts[k].without))
      v->least = counts[k].least, v->most = counts[k].most;
  if (t && !has_type(t, types[0])) return false;
  if (t) add_row(v, t->mask, types[0], t->rule);
  v->vectors = t && t->rule == WIDER;
  for (size_t k = 0; k < COUNT(operands); k++) {
    const struct operands *o = &operands[k];
    if (!is_row_of(f, o->op, o->with, o->without)) continue;
    if (o->of >= OF_TYPE)
      add_row(v, o->mask, (hd_mod)(o->of - OF_TYPE), o->rule);
    else if (o->of == TWICE)
      add_row(v, o->mask, n == 1 ? twice(types[0]) : HD_M_NONE, o->rule);
    else if (n == 2 || (n == 1 && o->of == FIRST))
      add_row(v, o->mask, types[o->of - FIRST], o->rule);
  }
  return true;
}

/* A variable lies in the state space that the instruction names. */
static hd_status check_space(const check *c, const hd_ptx_form *f, const hd_ptx_sym *s, uint32_t line) {
  const unsigned shared = HD_IN_SHARED | HD_IN_CLUSTER;
  const unsigned at = hd_ptx_mod_value(c->m->vars[s->decl].space);
  unsigned named = 0, n = 0;
  if (f->op != HD_OP_LD && f->op != HD_OP_ST && f->op != HD_OP_ATOM && f->op != HD_OP_RED) return HD_OK;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_SPACE) named = hd_ptx_mod_value(f->mods[k]), n++;
  if (n != 1 || named == at || (named & shared && at & shared)) return HD_OK;
  return REFUSE(c, line, "'%s' reaches '%s', which is in another state space", f->text, s->name);
}

/* An address is a whole number, or bits: of 32 or 64 of them, and ptxas takes 16, too. */
static hd_status check_address(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, uint32_t line) {
  const hd_ptx_sym *s = &c->m->syms[o->sym];
  if (o->sym && s->kind == HD_SYM_VAR) return check_space(c, f, s, line);
  if (!o->sym || s->kind != HD_SYM_REG) return HD_OK;
  const hd_ptx_type t = hd_ptx_type_of(s->type);
  if (t.number != HD_NUM_FLOAT && t.number != HD_NUM_PREDICATE && t.bits <= 64) return HD_OK;
  return REFUSE(c, line, "'%s' takes no address in the register '%s', whose type is .%s", f->text, s->name,
                hd_ptx_mod_text(c->m, s->type));
}

/* Each name is declared. */
static hd_status check_names(const check *c, const hd_ptx_form *f, const hd_ptx_opnd *o, uint32_t line) {
  const bool kids = o->kind == HD_O_VEC || o->kind == HD_O_LIST || o->kind == HD_O_BRACKET;
  const bool two = o->kind == HD_O_PAIR || o->kind == HD_O_INDEX;
  for (uint32_t k = 0; k < (kids ? o->n_kids : two ? 2 : 0); k++) {
    const hd_status st = check_names(c, f, &c->m->opnds[o->sym + k], line);
    if (st != HD_OK) return st;
  }
  if (o->kind != HD_O_REG && o->kind != HD_O_SREG && o->kind != HD_O_SYM && o->kind != HD_O_ADDR)
    return HD_OK;
  const hd_ptx_sym *s = &c->m->syms[o->sym];
  const bool nowhere = (s->kind == HD_SYM_UNDEF && o->sym) ||
                       (s->kind == HD_SYM_LABEL && s->index == UINT32_MAX) ||
                       (s->kind == HD_SYM_SREG && !s->index);
  return nowhere ? REFUSE(c, line, "'%s' names '%s', which is not declared", f->text, s->name) : HD_OK;
}

/* What stands where a result, an address or a value should be. */
static hd_status check_kind(const check *c, const hd_ptx_form *f, unsigned k, const hd_ptx_opnd *o,
                            uint32_t line) {
  static const struct {
    hd_ptx_op op;
    unsigned at;
  } addresses[] = {{HD_OP_LD, 1}, {HD_OP_LDU, 1}, {HD_OP_ST, 0}, {HD_OP_ATOM, 1}, {HD_OP_RED, 0}};
  const bool address = o->kind == HD_O_ADDR || o->kind == HD_O_INDEX || o->kind == HD_O_BRACKET;
  for (size_t j = 0; j < COUNT(addresses); j++)
    if (f->op == addresses[j].op && (k == addresses[j].at) != address && k <= 1)
      return REFUSE(c, line,
                    address ? "operand %u of '%s' is an address" : "operand %u of '%s' is no address", k + 1,
                    f->text);
  if (k == 0 && hd_ptx_op_class(f->op) == HD_OPC_COMPUTE &&
      (o->kind == HD_O_INT || o->kind == HD_O_F32 || o->kind == HD_O_F64 || o->kind == HD_O_SREG))
    return REFUSE(c, line, "'%s' needs a register for its result", f->text);
  return HD_OK;
}

static hd_status check_operands(const check *c, const hd_ptx_form *f, verdict *v, const hd_ptx_stmt *s) {
  const hd_ptx_sym *guard = &c->m->syms[s->guard];
  if (s->guard && (guard->kind != HD_SYM_REG || guard->type != HD_M_PRED))
    return REFUSE(c, s->line, "the guard '%s' is no predicate", guard->name);
  if (s->n_opnds < v->least || s->n_opnds > v->most)
    return REFUSE(c, s->line, "'%s' does not take %u operands", f->text, s->n_opnds);
  for (uint32_t k = 0; k < s->n_opnds && k < 32; k++) {
    const hd_ptx_opnd *o = &c->m->opnds[s->first_opnd + k];
    hd_status st = check_names(c, f, o, s->line);
    if (st == HD_OK) st = check_kind(c, f, k, o, s->line);
    if (st == HD_OK && o->kind == HD_O_ADDR) st = check_address(c, f, o, s->line);
    for (unsigned j = 0; st == HD_OK && j < v->n_rows; j++)
      if (v->rows[j].mask >> k & 1)
        st = o->kind == HD_O_VEC && v->vectors ? check_vector(c, f, o, &v->rows[j], s->line)
                                               : check_operand(c, f, o, &v->rows[j], s->line);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

static hd_status check_instruction(const check *c, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = &c->m->forms[s->form];
  verdict *v = &c->verdicts[s->form];
  if (!v->known) {
    hd_status st = check_form(c, f, s->line);
    if (st == HD_OK) st = check_words(c, f, s->line);
    if (st != HD_OK) return st;
    if (!judge(f, v)) return REFUSE(c, s->line, "'%s' is of a type that it does not come in", f->text);
  }
  return check_operands(c, f, v, s);
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
