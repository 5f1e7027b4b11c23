/* Polls that give up: loops that end in any case, in whose rounds an instruction looks at what others write.
 * Under another order the loop is over before they have written. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 8, MOST_ORIGINS = 64 };

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

bool wait_reads_others(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (w->source[inst] == WAIT_OWN || f->flags & HD_OPF_CALLS) return false;
  return f->op != HD_OP_ATOM || (!always_changes(w, inst) && result_is_read(w, inst));
}

bool wait_writes_surely(wait_search *w, uint32_t inst) {
  if (hd_inst_stmt(&w->g, inst)->guard) return false;
  if (!(hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_GLOBAL) & HD_ACC_WRITE)) return false;
  return hd_inst_form(&w->g, inst)->op == HD_OP_ST || always_changes(w, inst) ||
         (w->settled[w->g.insts[inst].block] && !is_idle(w, inst));
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
  unsigned depth;
  bool found;
} origin_search;

/* The register is computed in the region from the result of an instruction. */
static void find_origin(void *ctx, uint32_t reg) {
  origin_search *x = ctx;
  const wait_search *w = x->w;
  if (x->found || x->depth == MOST_DEPTH || x->looked_at++ >= MOST_ORIGINS) return;
  x->depth++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !x->found; i++) {
    const uint32_t at = w->writers.insts[i];
    x->found = at == x->of;
    if (!x->found && wait_inside(w, at) && hd_inst_form(&w->g, at)->flags & HD_OPF_PURE)
      hd_inst_reads(&w->g, at, find_origin, x);
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
  if (always_changes(w, inst)) return true;
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
 * cycle is run again. Weak loads are made for data, whose addresses are worked out in many ways: of those it
 * counts only that the place is the same for certain. */
static bool is_look(wait_search *w, uint32_t inst) {
  const bool atomic = hd_inst_form(&w->g, inst)->op == HD_OP_ATOM;
  if (!looks_anew(w, inst)) return false;
  const hd_ptx_opnd *address = wait_address(w, inst);
  const bool stays = !address || wait_invariant(w, inst, address);
  if (is_inner(w, inst)) return stays && (!atomic || is_idle(w, inst));
  if (atomic && (always_changes(w, inst) || adds_others(w, inst) || !result_is_read(w, inst))) return false;
  return stays || (w->source[inst] != WAIT_WEAK && !wait_goes_through(w, inst));
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
