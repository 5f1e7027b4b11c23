/* emu/decode/share.c: registers that share slots of a frame.
 *
 * PTX has a register for nearly every value. The fewer slots a frame has, the more of it stays in the
 * processor's caches. Two registers of one size may have the same slot if their reaches lie apart: the
 * instructions between the first and the last one that names the register, or that a path with its value in
 * the register runs. Sizes are kept apart since a lane's bytes lie elsewhere in a slot of another size.
 *
 * A register keeps a slot of its own if others than its thread's instructions use it: what an exchange reads
 * of lanes that do not take part, what a product in flight writes, what callers write and read.
 *
 * The slots that must be zero when a frame is made come first: those of one register, and those of registers
 * that some path reads before it writes them. */
#include "emu/decode/decode.h"
#include "heddle/cfg.h"

enum {
  MOST_SETS = 1 << 24, /* bytes of liveness; a function beyond that keeps its slots */
  SIZES = 4,           /* predicates, up to 32 bits, 64, 128 */
};

/* Numbers of registers in lists are one greater; 0: the end. */
typedef struct reach {
  hd_sym sym;           /* of the register; 0: no instruction names it */
  uint32_t first, last; /* instructions */
  bool alone;
  uint32_t next_first, next_last; /* another register of the same first, or last, instruction */
} reach;

typedef EMU_VEC(uint32_t) numbers;

typedef struct sharing {
  emu_function *fn;
  hd_cfg g;
  hd_liveness live;
  reach *regs;
  uint32_t inst;         /* that is being read */
  bool exchanges;        /* it is an exchange, or a product */
  uint32_t *begin, *end; /* per instruction: the registers whose reach does */
  uint32_t *to;          /* per slot outside init: its new number */
  uint32_t used;         /* of the new ones */
  numbers vacant[SIZES]; /* first slots of places that are free again */
} sharing;

/* ---- Reaches --------------------------------------------------------------------------- */

static void extend(sharing *s, uint32_t reg, uint32_t inst) {
  reach *r = &s->regs[reg];
  if (inst < r->first) r->first = inst;
  if (inst > r->last) r->last = inst;
}

static bool note_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  sharing *s = ctx;
  const hd_ptx_sym *y = &s->fn->d->m->syms[leaf->sym];
  if (y->kind != HD_SYM_REG) return true;
  extend(s, y->index, s->inst);
  s->regs[y->index].sym = leaf->sym;
  s->regs[y->index].alone |= s->exchanges || y->vec > 1;
  return true;
}

static bool is_exchange(const emu_function *fn, const emu_inst *i) {
  return i->control == EMU_GATHER || hd_ptx_op_class(emu_op_of(fn, i)) == HD_OPC_EXCHANGE;
}

/* Those that are live where the block begins are live at the instruction. */
static void extend_all(sharing *s, uint32_t block, uint32_t inst) {
  const uint64_t *in = s->live.in + block * s->live.words;
  for (size_t k = 0; k < s->live.words; k++)
    for (uint64_t left = in[k]; left; left &= left - 1)
      extend(s, (uint32_t)(64 * k) + (uint32_t)__builtin_ctzll(left), inst);
}

static void find_reaches(sharing *s) {
  const hd_cfg *g = &s->g;
  const hd_ptx_module *m = s->fn->d->m;
  const hd_ptx_func *f = s->fn->func;
  for (uint32_t r = 0; r < g->n_regs; r++) s->regs[r].first = UINT32_MAX;
  for (uint32_t k = 0; k < g->n_insts; k++) {
    s->inst = k;
    s->exchanges = is_exchange(s->fn, &s->fn->code->insts[k]);
    hd_ptx_visit(m, hd_inst_stmt(g, k), note_leaf, s);
  }
  for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
    const hd_block *block = &g->blocks[b];
    extend_all(s, b, block->first);
    for (uint32_t k = 0; k < block->n_succ; k++)
      extend_all(s, g->edges[block->first_succ + k], block->first + block->n_insts - 1);
  }
  for (uint32_t k = 0; k < f->n_params + f->n_rets; k++) {
    const hd_ptx_var *v = &m->vars[k < f->n_params ? f->first_param + k : f->first_ret + k - f->n_params];
    if (v->space == HD_M_REG) s->regs[m->syms[v->sym].index].alone = true;
  }
}

/* ---- Slots --------------------------------------------------------------------------------- */

static bool shares(const sharing *s, uint32_t reg) {
  return s->regs[reg].sym && !s->regs[reg].alone && s->fn->reg_slots[reg];
}
static unsigned bits_of(const sharing *s, uint32_t reg) { return emu_reg_bits(s->fn, s->regs[reg].sym); }
static uint32_t slots_of(unsigned bits) { return bits <= 32 ? 1 : bits / 32; }
static numbers *vacant(sharing *s, unsigned bits) {
  return &s->vacant[bits == 1 ? 0 : bits <= 32 ? 1 : bits == 64 ? 2 : 3];
}

static void place(sharing *s, uint32_t reg) {
  const uint32_t n = slots_of(bits_of(s, reg)), old = s->fn->reg_slots[reg] - 1;
  numbers *free = vacant(s, bits_of(s, reg));
  const uint32_t slot = free->n ? free->data[--free->n] : s->used;
  if (slot == s->used) s->used += n;
  for (uint32_t k = 0; k < n; k++) s->to[old + k] = slot + k;
}

static void leave(sharing *s, uint32_t reg) {
  emu_push(s->fn->scratch, vacant(s, bits_of(s, reg)), s->to[s->fn->reg_slots[reg] - 1]);
}

/* The slots of no register that shares, in their order. */
static void place_others(sharing *s) {
  const emu_function *fn = s->fn;
  for (uint32_t r = 0; r < s->g.n_regs; r++)
    for (uint32_t k = 0; shares(s, r) && k < slots_of(bits_of(s, r)); k++)
      s->to[fn->reg_slots[r] - 1 + k] = EMU_NO_SLOT;
  for (uint32_t k = 0; k < fn->n_slots; k++)
    if (s->to[k] != EMU_NO_SLOT) s->to[k] = s->used++;
}

static void list_reaches(sharing *s) {
  for (uint32_t r = s->g.n_regs; r-- > 0;) {
    reach *x = &s->regs[r];
    if (!shares(s, r)) continue;
    x->next_first = s->begin[x->first];
    s->begin[x->first] = r + 1;
    x->next_last = s->end[x->last];
    s->end[x->last] = r + 1;
  }
}

/* Each a place that no other has before its own last instruction. Returns how many slots must be zero. */
static uint32_t place_all(sharing *s) {
  place_others(s);
  list_reaches(s);
  for (uint32_t r = s->begin[0]; r; r = s->regs[r - 1].next_first)
    if (hd_live_in(&s->live, 0, r - 1)) place(s, r - 1);
  const uint32_t zero = s->used;
  for (uint32_t k = 0; k < s->g.n_insts; k++) {
    for (uint32_t r = k ? s->end[k - 1] : 0; r; r = s->regs[r - 1].next_last) leave(s, r - 1);
    for (uint32_t r = s->begin[k]; r; r = s->regs[r - 1].next_first)
      if (k || !hd_live_in(&s->live, 0, r - 1)) place(s, r - 1);
  }
  return zero;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static uint32_t renumbered(const sharing *s, uint32_t slot) {
  const uint32_t n_init = s->fn->n_init;
  return slot < n_init ? slot : s->to[slot - n_init] + n_init;
}

void emu_share_slots(emu_function *fn) {
  hd_arena *a = fn->scratch;
  emu_code *c = fn->code;
  sharing s = {.fn = fn};
  if (!c->n_insts || hd_cfg_build(fn->d->m, c->index, 0, a, &s.g, NULL) != HD_OK ||
      s.g.n_insts != c->n_insts || !hd_liveness_find(&s.g, MOST_SETS, a, &s.live))
    return;
  s.regs = HD_NEW_N(a, s.g.n_regs + 1u, reach);
  s.begin = HD_NEW_N(a, s.g.n_insts + 1u, uint32_t);
  s.end = HD_NEW_N(a, s.g.n_insts + 1u, uint32_t);
  s.to = HD_NEW_N(a, fn->n_slots + 1u, uint32_t);
  find_reaches(&s);
  const uint32_t zero = place_all(&s);
  for (uint32_t k = 0; k < fn->refs.n; k++) *fn->refs.data[k] = renumbered(&s, *fn->refs.data[k]);
  for (uint32_t k = 0; k < c->n_sregs; k++) c->sregs[k].slot = renumbered(&s, c->sregs[k].slot);
  c->n_slots -= fn->n_slots - s.used;
  c->n_loose = c->n_slots - fn->n_init - zero;
}
