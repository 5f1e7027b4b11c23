/* Loops that may wait for another CTA's write.
 *
 * Under another order, or when a CTA does several tasks one after the other, the CTA that is waited for may
 * not have begun, and never begin. So the search is for cycles that could go round until another CTA writes:
 * their exits depend on values from memory that other CTAs can write, and the thread itself does not end
 * them.
 *
 * Say that a thread stays for ever in a set of blocks S, which is then strongly connected. For every such S
 * one of these is to be shown:
 *
 *   - S has an exit that is taken at some time whatever others do (progress.c): a compare-and-swap finds the
 *     value that it found the last time, a lock is given back by its holder;
 *   - no branch that leads out of S, or decides whether one is reached, depends on foreign values (flow.c).
 *     Plain loads are let pass if S has a block that cannot be run for ever (moves.c): a counter comes nearer
 *     to its bound there, a merge or a binary search to its end.
 *
 * A counter is no way out beside a foreign value: where it ends a poll, it is a time-out, and what the kernel
 * does then depends on the order. The same goes for any exit that the thread's own values decide about.
 *
 * Nor is it one beside a look that so many rounds take, whatever becomes of the value (looks.c).
 *
 * From the outside in: of a region, a maximal strongly connected part, blocks with exits of the first kind
 * are taken away, because an S with one of them is done. If there are none, or a counter as well, the values
 * that decide about its exits are followed backwards; an S with a block that has an exit is done if nothing
 * foreign is met, and those blocks are taken away; or, where plain loads are met, the blocks that cannot be
 * run for ever. The rest falls into smaller regions. */
#include <string.h>

#include "rewrite/waits/waits.h"

enum { MOST_COPIES = 8 };

static const char WAITS[] = "a loop may wait here for what another CTA writes";
static const char GIVES_UP[] = "looks again and again, and may wait here for what another CTA writes";

/* ---- Sources ----------------------------------------------------------------------------------- */

static hd_system system_called(const wait_search *w, uint32_t inst) {
  return hd_inst_form(&w->g, inst)->flags & HD_OPF_CALLS ? hd_system_called(w->m, hd_inst_stmt(&w->g, inst))
                                                         : HD_SYSTEM_UNKNOWN;
}

/* Any other function of the system reads what others write, or stores what it is given: what it hands over
 * comes back through memory as well as by its result. */
bool wait_call_is_harmless(const wait_search *w, uint32_t inst) {
  return w->g.insts[inst].body || system_called(w, inst) == HD_SYSTEM_REPORTS;
}

bool wait_call_copies(const wait_search *w, uint32_t inst) {
  return system_called(w, inst) == HD_SYSTEM_COPIES;
}

/* What the system's functions do is known; a body is not where it is not part of the graph. */
static bool is_opaque(const wait_search *w, uint32_t inst) {
  return hd_inst_form(&w->g, inst)->flags & HD_OPF_CALLS && !w->g.insts[inst].body && !system_called(w, inst);
}

/* A register or sink that gets the result; red and cp have none. */
static bool has_result(const hd_ptx_form *f, const hd_ptx_opnd *o) {
  return f->flags & HD_OPF_RESULT && o->kind != HD_O_SINK;
}

/* A table of the module, as of a compiler's own functions: no code outside the module knows its name, and
 * nothing in the kernel may write it. */
static bool loads_table(wait_search *w, uint32_t inst, const hd_ptx_opnd *address) {
  const hd_sym table = hd_root_of(&w->g, &w->writers, inst, address).sym;
  if (!table || w->m->syms[table].kind != HD_SYM_VAR) return false;
  const hd_ptx_var *v = &w->m->vars[w->m->syms[table].decl];
  if (v->space != HD_M_GLOBAL || v->linkage || !w->whole) return false;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    const hd_ptx_access *a = wait_access(w, i);
    if (!(hd_ptx_access_in(a, HD_IN_ANY_GLOBAL) & HD_ACC_WRITE)) continue;
    const hd_ptx_opnd *to = wait_address(w, i);
    const hd_sym root = to && !a->unknown ? hd_root_of(&w->g, &w->writers, i, to).sym : 0;
    w->steps++;
    if (!root || root == table) return false;
  }
  return true;
}

/* The function, and those that it calls, read no memory that others may write. */
static bool call_reads_nothing(const wait_search *w, uint32_t inst) {
  const uint32_t callee = hd_callee(w->m, hd_inst_stmt(&w->g, inst));
  hd_reach reach;
  if (callee == HD_NONE || !w->m->funcs[callee].has_body) return false;
  hd_reach_find(w->m, callee, w->arena, &reach);
  if (reach.unknown) return false;
  for (uint32_t k = 0; k < reach.n; k++) {
    const hd_ptx_func *f = &w->m->funcs[reach.funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++) {
      if (f->stmts[i].kind != HD_S_INST) continue;
      const hd_ptx_access a = hd_ptx_access_of(&w->m->forms[f->stmts[i].form]);
      if (a.unknown || hd_ptx_access_in(&a, HD_IN_ANY_GLOBAL) & HD_ACC_READ) return false;
    }
  }
  return true;
}

static wait_source source_of(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (f->flags & HD_OPF_CALLS) /* free brings nothing */
    return wait_call_is_harmless(w, inst) || system_called(w, inst) == HD_SYSTEM_FREES ||
                   call_reads_nothing(w, inst)
               ? WAIT_OWN
               : WAIT_STRONG;
  const hd_ptx_access *a = wait_access(w, inst);
  unsigned kinds = hd_ptx_access_in(a, HD_IN_ANY_GLOBAL);
  if (!(kinds & HD_ACC_READ)) return WAIT_OWN;
  const hd_ptx_opnd *address = wait_address(w, inst);
  if (!address || a->unknown) return WAIT_STRONG;
  /* A bulk copy's atomic is on a barrier in shared memory. */
  if (kinds & HD_ACC_ATOMIC && !has_result(f, wait_operands(w, inst))) return WAIT_OWN;
  hd_sym root = kinds == hd_ptx_access_in(a, HD_IN_GENERIC) ? wait_root(w, inst, address) : 0;
  if (root && w->m->syms[root].kind == HD_SYM_VAR) {
    hd_mod space = w->m->vars[w->m->syms[root].decl].space;
    if (space == HD_M_SHARED || space == HD_M_LOCAL || space == HD_M_CONST) return WAIT_OWN;
  }
  if (a->noncoherent && loads_table(w, inst, address)) return WAIT_OWN;
  bool ordered = kinds & HD_ACC_ATOMIC || a->order > HD_ORDERED_WEAK || a->cache == HD_M_CV;
  if (!ordered) return WAIT_WEAK;
  return a->scope == HD_SCOPE_CTA ? WAIT_CTA : WAIT_STRONG;
}

bool wait_form_is_wide_fence(const hd_ptx_form *f, const hd_ptx_access *a) {
  if (f->flags & HD_OPF_FENCES) return a->scope != HD_SCOPE_CTA;
  return a->kinds & HD_ACC_READ && a->scope > HD_SCOPE_CTA &&
         (a->order == HD_ORDERED_ACQUIRE || a->order == HD_ORDERED_ACQ_REL);
}

/* ---- Regions ----------------------------------------------------------------------------------- */

/* A region that is still to be looked at. */
typedef struct region {
  struct region *next;
  uint32_t n, blocks[];
} region;

static void add_regions(wait_search *w, region **pending, const uint32_t *blocks, uint32_t n) {
  uint32_t regions = hd_regions_find(&w->regions, blocks, n, w->members, w->first);
  w->steps += n;
  for (uint32_t i = 0; i < regions; i++) {
    uint32_t size = w->first[i + 1] - w->first[i];
    region *r = hd_arena_alloc(w->arena, sizeof *r + size * sizeof *r->blocks, _Alignof(region));
    r->next = *pending;
    r->n = size;
    memcpy(r->blocks, w->members + w->first[i], size * sizeof *r->blocks);
    *pending = r;
  }
}

/* Makes the region the one that is looked at; false: nothing in it brings anything foreign. */
static bool enter(wait_search *w, const uint32_t *blocks, uint32_t n) {
  bool any = false;
  w->blocks = blocks;
  w->n_blocks = n;
  w->stamp++;
  w->fence = w->rests = false;
  w->movers = NULL;
  for (uint32_t i = 0; i < n; i++) {
    const hd_block *b = &w->g.blocks[blocks[i]];
    w->in[blocks[i]] = w->stamp;
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      any |= w->source[k] != WAIT_OWN;
      w->fence |= wait_is_wide_fence(w, k);
      w->rests |= hd_inst_form(&w->g, k)->op == HD_OP_NANOSLEEP;
    }
  }
  return any;
}

/* The whole graph becomes the region that is looked at. */
static void enter_all(wait_search *w) {
  uint32_t *blocks = HD_NEW_N(w->arena, w->g.n_blocks, uint32_t);
  for (uint32_t b = 0; b < w->g.n_blocks; b++) blocks[b] = b;
  enter(w, blocks, w->g.n_blocks);
}

/* The first call of the region that may end the thread. */
static uint32_t first_opaque(const wait_search *w) {
  uint32_t first = HD_NONE;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (wait_is_opaque(w, k) && k < first) first = k;
  }
  return first;
}

/* The first foreign instruction of the region that is looked at. */
static uint32_t first_source(const wait_search *w) {
  uint32_t first = HD_NONE;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (w->source[k] != WAIT_OWN && k < first) first = k;
  }
  return first;
}

/* The blocks of the region that `is` does not hold for; how many. */
static uint32_t leave_out(wait_search *w, const region *r, bool (*is)(wait_search *, uint32_t),
                          uint32_t *rest) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->n; i++)
    if (!is(w, r->blocks[i])) rest[n++] = r->blocks[i];
  return n;
}

static bool ends_by_itself(wait_search *w, uint32_t block) {
  return wait_leaves(w, block) && wait_ends_itself(w, block);
}

static bool is_exit(wait_search *w, uint32_t block) { return wait_leaves(w, block); }

/* No foreign value decides about an exit, or a part of its condition; those of plain loads are data, such as
 * a list that the thread goes through. */
static bool is_private(wait_search *w, const region *r, uint32_t block, uint32_t part) {
  bool doubtful = false;
  uint32_t found = wait_find(w, block, part, &doubtful);
  w->stamp++; /* for the next search */
  for (uint32_t i = 0; i < r->n; i++) w->in[r->blocks[i]] = w->stamp;
  return found == HD_NONE || doubtful;
}

/* Whether an instruction reads a register that counts. */
typedef struct tries {
  wait_search *w;
  bool counted;
} tries;

static void look_for_count(void *ctx, uint32_t reg) {
  tries *x = ctx;
  x->counted = x->counted || wait_accumulates(x->w, reg);
}

static bool counts_tries(wait_search *w, uint32_t inst) {
  tries x = {.w = w};
  hd_inst_reads(&w->g, inst, look_for_count, &x);
  return x.counted;
}

static uint32_t word_of(wait_search *w, const wait_part *part, unsigned side, uint32_t block);

static bool ends_by_word(wait_search *w, const wait_part *part, uint32_t block) {
  return part->leaves != CMP_NONE &&
         (word_of(w, part, 1, block) != HD_NONE || word_of(w, part, 2, block) != HD_NONE);
}

/* A condition by which a region with updates or locks may be left is a time-out: no foreign value decides
 * about it, or failures are counted, which are foreign, but what counts them is not. */
static bool times_out_at(wait_search *w, const region *r, uint32_t block) {
  wait_part parts[WAIT_MOST_PARTS];
  if (!wait_ends_itself(w, block))
    return is_private(w, r, block, HD_NONE) ||
           counts_tries(w, w->g.blocks[block].first + w->g.blocks[block].n_insts - 1);
  const uint32_t n = wait_exit_conditions(w, block, parts);
  for (uint32_t k = 0; k < n && n > 1; k++)
    if (is_private(w, r, block, parts[k].setp) ||
        (!ends_by_word(w, &parts[k], block) && counts_tries(w, parts[k].setp)))
      return true;
  return false;
}

/* Beside updates and locks there is an exit that is a time-out, however the thread measures it. */
static bool times_out(wait_search *w, const region *r) {
  if (wait_counts(w)) return true;
  for (uint32_t i = 0; i < r->n && w->steps < WAIT_WALK; i++)
    if (wait_leaves(w, r->blocks[i]) && times_out_at(w, r, r->blocks[i])) return true;
  return false;
}

/* A copy by the system, whose source is not followed, finds something new in each round with a fence. */
static uint32_t copies_again(wait_search *w) {
  for (uint32_t i = 0; i < w->n_blocks && w->fence; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (wait_call_copies(w, k)) return k;
  }
  return HD_NONE;
}

/* The instruction that finds the word by which a part of an exit's condition ends the region: a swap, a look
 * at a lock, a turn or a count. HD_NONE: it is none of them. */
static uint32_t word_of(wait_search *w, const wait_part *part, unsigned side, uint32_t block) {
  const hd_ptx_opnd *o = wait_operands(w, part->setp), *other = &o[3 - side];
  const wait_compare leaves = side == 1 ? part->leaves : wait_mirrored(part->leaves);
  uint32_t reg = wait_register(w, part->setp, &o[side]), at = HD_NONE;
  int64_t number;
  for (unsigned depth = 0; reg != HD_NONE && depth < MOST_COPIES; depth++) {
    at = wait_only_writer_inside(w, reg);
    reg = at == HD_NONE ? HD_NONE : wait_copied(w, at);
  }
  if (reg != HD_NONE || at == HD_NONE || !w->source[at]) return HD_NONE;
  if (wait_constant(w, part->setp, other, &number))
    return wait_is_lock(w, at, number) || wait_is_counted(w, at, part->setp, side, leaves) ? at : HD_NONE;
  /* What an update expects changes as the swap fails. */
  if (wait_is_swap(w, at)) return wait_invariant(w, at, &wait_operands(w, at)[2]) ? HD_NONE : at;
  reg = wait_register(w, part->setp, other);
  const uint32_t atom = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  return atom != HD_NONE && wait_is_ticket(w, at, atom, block) ? at : HD_NONE;
}

static void mark_looks_at(wait_search *w, const region *r, uint32_t word) {
  const uint8_t mark =
      wait_is_swap(w, word) && !wait_invariant(w, word, &wait_operands(w, word)[2]) ? WAIT_UPDATE : WAIT_WORD;
  for (uint32_t i = 0; i < r->n; i++) {
    const hd_block *b = &w->g.blocks[r->blocks[i]];
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      uint32_t leaves[16], n = 0;
      if (w->word[k] >= mark || !w->source[k]) continue;
      if (k == word || wait_same_address(w, word, k, leaves, &n, 16)) w->word[k] = mark;
    }
  }
}

/* A look in an update is one like any other if what it finds is seen elsewhere. */
static void sort_updates(wait_search *w) {
  for (uint32_t i = 0; i < w->g.n_insts && w->any_settled; i++)
    if (w->word[i] == WAIT_UPDATE) w->word[i] = wait_shows_found(w, i) ? WAIT_SHOWN : WAIT_WORD;
}

/* A region that its threads end: whoever looks in it at the word that ends it does not wait by that. What
 * else it looks at is seen by unrolled.c. */
static void settle(wait_search *w, const region *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    wait_part parts[WAIT_MOST_PARTS];
    const uint32_t n = ends_by_itself(w, r->blocks[i]) ? wait_exit_parts(w, r->blocks[i], parts) : 0;
    w->settled[r->blocks[i]] = 1;
    w->any_settled = true;
    for (uint32_t k = 0; k < 2 * n; k++) {
      const uint32_t word = word_of(w, &parts[k / 2], 1 + k % 2, r->blocks[i]);
      if (word != HD_NONE) mark_looks_at(w, r, word);
    }
  }
}

/* The instruction that a region waits at; else HD_NONE, and the rest of it becomes pending. *ends: it ends in
 * any case, so that its rounds may be a poll. */
static uint32_t look_at_region(wait_search *w, const region *r, region **pending, bool *ends) {
  uint32_t n = r->n, *rest = HD_NEW_N(w->arena, n + 1u, uint32_t), n_exits = 0;
  if (!enter(w, r->blocks, n)) return HD_NONE;
  if (w->steps >= WAIT_WALK) return first_source(w);
  for (uint32_t i = 0; i < n; i++) n_exits += wait_leaves(w, r->blocks[i]);
  if (!n_exits) {
    const uint32_t call = first_opaque(w);
    if (call != HD_NONE) return call;
    /* It holds its threads for ever; its inner cycles are searched with any block taken away. */
    add_regions(w, pending, r->blocks + 1, n - 1);
    return HD_NONE;
  }
  uint32_t n_rest = leave_out(w, r, ends_by_itself, rest);
  const bool closer = n_rest == n || times_out(w, r);
  if (w->steps >= WAIT_WALK) return first_source(w);
  if (closer) {
    bool doubtful = false;
    uint32_t found = wait_find(w, HD_NONE, HD_NONE, &doubtful);
    if (w->steps >= WAIT_WALK) return first_source(w);
    if (found != HD_NONE && !doubtful) return found;
    n_rest = leave_out(w, r, doubtful ? wait_brings_end : is_exit, rest);
    if (n_rest == n) return found;
    uint32_t again = wait_looks_again(w, rest, n_rest);
    if (again == HD_NONE) again = copies_again(w);
    if (again != HD_NONE) return again;
    *ends = true;
  } else {
    settle(w, r);
  }
  add_regions(w, pending, rest, n_rest);
  return HD_NONE;
}

static void look_at_cycles(wait_search *w, rewrite_scan *s) {
  region *pending = NULL, *rounds = NULL;
  uint32_t *blocks = HD_NEW_N(w->arena, w->g.n_blocks, uint32_t);
  for (uint32_t b = 0; b < w->g.n_blocks; b++) blocks[b] = b;
  add_regions(w, &pending, blocks, w->g.n_blocks);
  while (pending) {
    region *r = pending;
    pending = r->next;
    bool ends = false;
    uint32_t found = look_at_region(w, r, &pending, &ends);
    if (found != HD_NONE) rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, hd_inst_stmt(&w->g, found), WAITS);
    if (!ends) continue;
    r->next = rounds;
    rounds = r;
  }
  sort_updates(w);
  for (const region *r = rounds; r && (w->any_settled || w->any_fetches); r = r->next) {
    if (!enter(w, r->blocks, r->n)) continue;
    const uint32_t found = wait_looks_within(w);
    if (found != HD_NONE) rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, hd_inst_stmt(&w->g, found), WAITS);
  }
}

/* ---- Functions --------------------------------------------------------------------------------- */

static unsigned form_kind(wait_search *w, uint32_t inst) {
  const uint32_t form = hd_inst_stmt(&w->g, inst)->form;
  wait_access_of(w, form);
  return w->known_form[form];
}

static void prepare(wait_search *w) {
  const hd_cfg *g = &w->g;
  hd_writers_find(g, w->arena, &w->writers);
  hd_regions_init(&w->regions, g, w->arena);
  w->source = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t);
  w->in = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->part = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->members = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->first = HD_NEW_N(w->arena, g->n_blocks + 2u, uint32_t);
  w->seen_round = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->round = 0;
  w->seen_reg = HD_NEW_N(w->arena, g->n_regs + 1u, uint32_t);
  w->seen_inst = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t);
  w->seen_block = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->seen_var = HD_NEW_N(w->arena, w->m->n_vars + 1u, uint32_t);
  w->work = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t);
  w->invariant = HD_NEW_N(w->arena, g->n_regs + 1u, uint32_t);
  w->distances = wait_distances_new(w);
  w->doubtful = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t);
  w->number = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->seen_pace = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->pace = 0;
  w->inner = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->within = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t);
  w->fetches = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t);
  w->fetch_ends = HD_NEW_N(w->arena, g->n_blocks + 1u, uint8_t);
  w->any_fetches = false;
  w->passes = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t);
  w->any_settled = false;
  w->any_fence = w->kernel_fence;
  w->settled = HD_NEW_N(w->arena, g->n_blocks + 1u, uint8_t);
  w->word = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t);
  w->places = HD_NEW_N(w->arena, g->n_insts + 1u, struct wait_place *);
  w->sums = HD_NEW_N(w->arena, g->n_insts + 1u, struct wait_sum *);
  w->readers = w->first_reader = NULL;
  w->stamp = 0;
  w->steps = 0;
  w->opaque = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t);
  w->wide_fence = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t);
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const unsigned kind = form_kind(w, i);
    if (!(kind & (WAIT_FORM_CALLS | WAIT_FORM_FENCES))) continue;
    w->opaque[i] = is_opaque(w, i);
    w->wide_fence[i] = w->opaque[i] || kind & WAIT_FORM_FENCES;
    w->any_fence = w->any_fence || w->wide_fence[i];
  }
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (form_kind(w, i) & (WAIT_FORM_CALLS | WAIT_FORM_READS)) w->source[i] = (uint8_t)source_of(w, i);
}

/* A fence anywhere in the kernel or in the functions that it calls. */
static bool has_wide_fence(wait_search *w, const hd_reach *reach) {
  for (uint32_t k = 0; k < reach->n; k++) {
    const hd_ptx_func *f = &w->m->funcs[reach->funcs[k]];
    for (const hd_ptx_stmt *st = f->stmts; st < f->stmts + f->n_stmts; st++)
      if (st->kind == HD_S_INST &&
          wait_form_is_wide_fence(&w->m->forms[st->form], wait_access_of(w, st->form)))
        return true;
  }
  return false;
}

/* Functions that may call themselves, and those that they call; a flag per function of the module. */
static bool *find_recursion(wait_search *w, const hd_reach *reach) {
  bool *is_part = HD_NEW_N(w->arena, w->m->n_funcs + 1u, bool);
  for (uint32_t i = 0; i < reach->n; i++) {
    hd_reach called;
    if (!reach->recursive[i]) continue;
    hd_reach_find(w->m, reach->funcs[i], w->arena, &called);
    for (uint32_t k = 0; k < called.n; k++) is_part[called.funcs[k]] = true;
  }
  return is_part;
}

/* A call of functions with a body, each of which is looked at by itself. */
static bool calls_module(const wait_search *w, uint32_t inst) {
  if (!(hd_inst_form(&w->g, inst)->flags & HD_OPF_CALLS)) return false;
  const uint32_t callee = hd_callee(w->m, hd_inst_stmt(&w->g, inst));
  return callee == HD_NONE || w->m->funcs[callee].has_body;
}

/* Recursion is a loop whose exits are not looked at: no instruction in it may find what other CTAs write. */
static void look_at_recursion(wait_search *w, rewrite_scan *s) {
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (!w->source[i] || calls_module(w, i)) continue;
    rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, hd_inst_stmt(&w->g, i), WAITS);
  }
}

/* First of all, so that they are named rather than the calls of their functions. */
static void find_recursive_looks(wait_search *w, rewrite_scan *s) {
  bool some = false;
  hd_diag d;
  for (uint32_t i = 0; i < s->reach.n; i++) some |= s->reach.recursive[i];
  const bool *recursive = some ? find_recursion(w, &s->reach) : NULL;
  for (uint32_t i = 1; i < s->reach.n && some; i++) {
    if (!recursive[s->reach.funcs[i]]) continue;
    if (hd_cfg_build(w->m, s->reach.funcs[i], 0, w->arena, &w->g, &d) != HD_OK) continue;
    w->whole = false;
    prepare(w);
    look_at_recursion(w, s);
  }
}

static void look_at_function(wait_search *w, uint32_t func, uint32_t max_insts, rewrite_scan *s) {
  hd_diag d;
  if (hd_cfg_build(w->m, func, max_insts, w->arena, &w->g, &d) != HD_OK) {
    rewrite_scan_refuse(s, HD_REFUSE_NO_BODY, NULL, d.message);
    return;
  }
  w->whole = s->reach.n == 1 || (max_insts && rewrite_is_whole(&w->g));
  prepare(w);
  const size_t before = s->n;
  look_at_cycles(w, s);
  if (s->n != before) return; /* one reason is enough, and this search is long */
  enter_all(w);
  const uint32_t unrolled = wait_unrolled(w);
  if (unrolled != HD_NONE)
    rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, hd_inst_stmt(&w->g, unrolled), GIVES_UP);
}

static void look_at_kernel(wait_search *w, rewrite_scan *s) {
  const hd_reach reach = s->reach;
  bool inlines = rewrite_can_inline(s);
  w->access = hd_arena_alloc(w->arena, (w->m->n_forms + 1u) * sizeof *w->access, _Alignof(hd_ptx_access));
  w->made = hd_arena_alloc(w->arena, (w->m->n_forms + 1u) * sizeof *w->made, _Alignof(struct wait_made));
  w->known_form = HD_NEW_N(w->arena, w->m->n_forms + 1u, uint8_t);
  w->kernel_fence = reach.n > 1 && has_wide_fence(w, &s->reach);
  find_recursive_looks(w, s);
  look_at_function(w, reach.funcs[0], inlines ? REWRITE_MOST_INSTS : 0, s);
  if (w->whole) return;
  /* Functions that were not inlined are searched alone; calls of them count as foreign. */
  for (uint32_t i = 1; i < reach.n; i++) look_at_function(w, reach.funcs[i], 0, s);
}

bool rewrite_scan_waits(rewrite_scan *s) {
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  wait_search w = {.m = s->m, .arena = &arena};
  bool ok = !setjmp(out_of_memory);
  if (ok && (s->reach.n > 1 || wait_may_be(s->m, s->reach.funcs[0], &arena))) look_at_kernel(&w, s);
  hd_arena_free(&arena);
  return ok;
}
