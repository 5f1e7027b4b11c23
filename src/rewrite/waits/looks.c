/* Polls that give up: loops that end in any case, in whose rounds an instruction looks at what others write.
 * Under another order the loop is over before they have written. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8, MOST_ORIGINS = 64, MOST_COPIES = 4 };

/* The operand of an atomic or a reduction that says how it changes what it finds; NULL. */
static const hd_ptx_opnd *operand_of(const wait_search *w, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  const uint32_t by = op == HD_OP_ATOM ? 2 : 1;
  if ((op != HD_OP_ATOM && op != HD_OP_RED) || hd_inst_stmt(&w->g, inst)->n_opnds <= by) return NULL;
  return &wait_operands(w, inst)[by];
}

/* An atomic or a reduction that leaves another number than it finds, whatever that is. */
static bool always_changes(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_opnd *o = operand_of(w, inst);
  int64_t value = 0;
  if (!o || !hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 16)) return false;
  const bool number = wait_constant(w, inst, o, &value) && wait_word(value, a->bytes) != 0;
  switch (a->operation) {
  case HD_M_ADD: return number || wait_positive(w, inst, o);
  case HD_M_XOR:
  case HD_M_INC:
  case HD_M_DEC: return number;
  default: return false;
  }
}

/* ---- Parts of a word ---------------------------------------------------------------------------- */

typedef struct part_search {
  wait_search *w;
  uint32_t reg, depth;
  unsigned lowest; /* of the bits that change in every round, whatever they were */
  bool reads, apart;
} part_search;

static void is_reg(void *ctx, uint32_t reg) {
  part_search *x = ctx;
  x->reads |= reg == x->reg;
}

static bool is_copy(const wait_search *w, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  return wait_copied(w, inst) != HD_NONE || wait_moves_whole(w, inst) || op == HD_OP_SHFL;
}

/* The instruction may see only bits of the register that stay as they are, while the lowest of those that
 * change is another in each round. Numbers of the launch that it is masked with or divided by are taken for
 * the size of something that is gone through. */
static bool sees_part(const part_search *x, uint32_t inst) {
  const wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_opnd *o = wait_operands(w, inst);
  const uint32_t n = hd_inst_stmt(&w->g, inst)->n_opnds;
  int64_t value;
  if (hd_ptx_form_has(f, HD_M_HI)) return true;
  switch (f->op) {
  case HD_OP_AND:
    for (unsigned k = 1; k <= 2 && n == 3; k++)
      if (wait_constant(w, inst, &o[k], &value)) return !((uint64_t)value >> x->lowest & 1);
    return false;
  case HD_OP_SHR: return n != 3 || !wait_constant(w, inst, &o[2], &value) || value < 0 || value > x->lowest;
  case HD_OP_DIV:
  case HD_OP_REM: return n != 3 || wait_constant(w, inst, &o[2], &value);
  case HD_OP_ADD:
  case HD_OP_SUB:
  case HD_OP_MUL:
  case HD_OP_MAD:
  case HD_OP_SHL:
  case HD_OP_OR:
  case HD_OP_XOR:
  case HD_OP_MIN:
  case HD_OP_MAX:
  case HD_OP_SELP:
  case HD_OP_SETP:
  case HD_OP_ST:
  case HD_OP_LD:
  case HD_OP_ATOM:
  case HD_OP_RED: return false;
  default: return !is_copy(w, inst);
  }
}

static void look_for_parts(part_search *x, uint32_t inst);

static void follow_copy(void *ctx, uint32_t reg) {
  part_search *x = ctx, y = *x;
  if (x->depth == MOST_COPIES) return;
  y.reg = reg;
  y.depth++;
  for (uint32_t i = 0; i < y.w->g.n_insts && !y.apart; i++) look_for_parts(&y, i);
  x->apart |= y.apart;
}

static void look_for_parts(part_search *x, uint32_t inst) {
  wait_search *w = x->w;
  x->reads = false;
  hd_inst_reads(&w->g, inst, is_reg, x);
  if (!x->reads) return;
  x->apart |= sees_part(x, inst);
  if (!x->apart && is_copy(w, inst)) hd_inst_writes(&w->g, inst, follow_copy, x);
}

/* Some reader of what the look finds may see only bits that `by`, an atomic which adds a number or turns bits
 * over, leaves as they are. */
static bool is_read_in_parts(wait_search *w, uint32_t look, uint32_t by) {
  const hd_ptx_opnd *o = operand_of(w, by);
  part_search x = {.w = w};
  int64_t value;
  if (o && wait_constant(w, by, o, &value))
    while (x.lowest < 63 && !((uint64_t)value >> x.lowest & 1)) x.lowest++;
  w->steps += w->g.n_insts;
  hd_inst_writes(&w->g, look, follow_copy, &x);
  return x.apart;
}

/* ---- Looks -------------------------------------------------------------------------------------- */

/* It adds another number in each round, of which one may be 0. */
static bool adds_others(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = operand_of(w, inst);
  return o && wait_access(w, inst)->operation == HD_M_ADD &&
         hd_ptx_form_is_whole(hd_inst_form(&w->g, inst), 32) && wait_moves_on(w, inst, o);
}

/* An atomic that leaves behind what it finds, or at most a number of the text that ends its changes. */
static bool is_idle(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = operand_of(w, inst);
  int64_t value, other;
  if (!o || !wait_constant(w, inst, o, &value)) return false;
  switch (wait_access(w, inst)->operation) {
  case HD_M_ADD:
  case HD_M_XOR: return value == 0;
  case HD_M_CAS: return wait_constant(w, inst, o + 1, &other) && other == value;
  case HD_M_OR:
  case HD_M_AND:
  case HD_M_MIN:
  case HD_M_MAX: return true;
  default: return false;
  }
}

static bool result_is_read(const wait_search *w, uint32_t inst) {
  return hd_result_is_read(&w->g, w->is_read, inst);
}

/* It leaves another number in every round, and that is what is looked at. */
static bool counts(wait_search *w, uint32_t inst) {
  return always_changes(w, inst) && !is_read_in_parts(w, inst, inst);
}

bool wait_reads_others(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (w->source[inst] == WAIT_OWN || f->flags & HD_OPF_CALLS) return false;
  return f->op != HD_OP_ATOM || (result_is_read(w, inst) && !counts(w, inst));
}

/* Reads what others write, and is made to see it. */
static bool looks_anew(wait_search *w, uint32_t inst) {
  const wait_source source = (wait_source)w->source[inst];
  if (source == WAIT_OWN || hd_inst_form(&w->g, inst)->flags & HD_OPF_CALLS) return false;
  return source == WAIT_STRONG || w->fence || (source == WAIT_WEAK && !wait_is_plain_load(w, inst));
}

static bool is_inner(const wait_search *w, uint32_t inst) {
  return w->inner[w->g.insts[inst].block] == w->stamp;
}

/* Every way round that passes the look passes the block as well; cycles within the region are no way round.
 */
static bool every_round_passes(wait_search *w, uint32_t look, uint32_t block) {
  const uint32_t from = w->g.insts[look].block;
  uint32_t n = 0;
  bool outer = false;
  if (from == block) return true;
  for (uint32_t i = 0; i < w->n_blocks; i++)
    if (w->blocks[i] != block) w->part[n++] = w->blocks[i];
  w->steps += n;
  const uint32_t regions = hd_regions_find(&w->regions, w->part, n, w->members, w->first);
  for (uint32_t i = 0; i < regions; i++) {
    bool here = false, beyond = false;
    for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
      here |= w->members[k] == from;
      beyond |= w->inner[w->members[k]] != w->stamp;
    }
    outer |= here && beyond;
  }
  return !outer;
}

typedef struct origin_search {
  const wait_search *w;
  uint32_t of, looked_at;
  unsigned depth, sums; /* additions on the way */
  bool found;
} origin_search;

static bool is_sum(const wait_search *w, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  return op == HD_OP_ADD || op == HD_OP_SUB || op == HD_OP_MAD || op == HD_OP_FMA;
}

/* The register is a sum with the result of an instruction: of a copy, memory would stay as it is. */
static void find_origin(void *ctx, uint32_t reg) {
  origin_search *x = ctx;
  const wait_search *w = x->w;
  if (x->found || x->depth == MOST_DEPTH || x->looked_at++ >= MOST_ORIGINS) return;
  x->depth++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !x->found; i++) {
    const uint32_t at = w->writers.insts[i];
    x->found = at == x->of && x->sums;
    if (x->found || !wait_inside(w, at) || !(hd_inst_form(&w->g, at)->flags & HD_OPF_PURE)) continue;
    x->sums += is_sum(w, at);
    hd_inst_reads(&w->g, at, find_origin, x);
    x->sums -= is_sum(w, at);
  }
  x->depth--;
}

static bool is_made_of(const wait_search *w, uint32_t inst, uint32_t look) {
  origin_search x = {.w = w, .of = look};
  hd_inst_reads(&w->g, inst, find_origin, &x);
  return x.found;
}

/* It changes what the look finds, for certain, if that is where it writes: a sum in memory, or the lock that
 * a cycle within takes. */
static bool replaces(wait_search *w, uint32_t look, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  if (always_changes(w, inst)) return !is_read_in_parts(w, look, inst);
  if (op == HD_OP_RED) return false;
  if (op == HD_OP_ATOM && !is_inner(w, inst) && result_is_read(w, inst)) return false;
  return is_inner(w, look) ? !is_idle(w, inst) : is_made_of(w, inst, look);
}

/* The loop itself changes what it looks at, in every round and at the same address. */
static bool is_written_here(wait_search *w, uint32_t look) {
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      uint32_t leaves[8], n = 0;
      if (!(hd_ptx_access_in(wait_access(w, k), HD_IN_ANY_GLOBAL) & HD_ACC_WRITE)) continue;
      if (k == look || hd_inst_stmt(&w->g, k)->guard) continue;
      if (wait_same_address(w, look, k, leaves, &n, 8) && replaces(w, look, k) &&
          every_round_passes(w, look, w->blocks[i]))
        return true;
    }
  }
  return false;
}

/* In a cycle within the region the place may change from round to round; what stays is looked at again as the
 * cycle is run again. */
static bool is_look(wait_search *w, uint32_t inst) {
  const bool atomic = hd_inst_form(&w->g, inst)->op == HD_OP_ATOM;
  if (!looks_anew(w, inst)) return false;
  const hd_ptx_opnd *address = wait_address(w, inst);
  const bool stays = !address || wait_invariant(w, inst, address);
  if (is_inner(w, inst)) return stays && (!atomic || is_idle(w, inst));
  if (atomic && (counts(w, inst) || adds_others(w, inst) || !result_is_read(w, inst))) return false;
  if (stays || !wait_goes_through(w, inst)) return true;
  w->passes[inst] = 1;
  return false;
}

uint32_t wait_looks_again(wait_search *w, const uint32_t *rest, uint32_t n_rest) {
  const uint32_t regions = hd_regions_find(&w->regions, rest, n_rest, w->members, w->first);
  for (uint32_t i = 0; i < w->first[regions]; i++) w->inner[w->members[i]] = w->stamp;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (is_look(w, k) && !is_written_here(w, k)) return k;
  }
  return HD_NONE;
}
