/* emu/machine/call.c: frames, arguments and results. */
#include "emu/machine/grid.h"

#include <stdlib.h>

enum { EMU_MAX_DEPTH = 4096 }; /* calls: 16 bytes of a 64 KB stack each, the least a call takes */

/* Host memory that one CTA's frames may take: recursion with many registers would take any amount. */
#define MAX_FRAME_BYTES (UINT64_C(1) << 30)

/* ---- Frames ---------------------------------------------------------------------- */

static emu_mframe *take_frame(emu_mwarp *m, const emu_code *code) {
  /* Best a frame that already holds this code's immediates. */
  emu_mframe **found = NULL;
  for (emu_mframe **p = (emu_mframe **)&m->free_frames; *p; p = &(*p)->next) {
    if ((*p)->filled == code) {
      found = p;
      break;
    }
    if (!found && (*p)->cap_slots >= code->n_slots) found = p;
  }
  if (found) {
    emu_mframe *f = *found;
    *found = f->next;
    return f;
  }
  emu_cta *c = m->w.cta;
  uint64_t bytes = (uint64_t)code->n_slots * EMU_SLOT_BYTES;
  if (c->frame_bytes + bytes > MAX_FRAME_BYTES) return NULL;
  emu_mframe *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->f.regs = aligned_alloc(EMU_SLOT_BYTES, bytes ? bytes : EMU_SLOT_BYTES);
  if (!f->f.regs) {
    free(f);
    return NULL;
  }
  f->cap_slots = code->n_slots;
  c->frame_bytes += bytes;
  return f;
}

/* Parameters of calls count as written. */
static void forget_locals(const emu_mwarp *m, const emu_frame *f, uint32_t mask) {
  const emu_code *code = f->code;
  for (uint32_t left = mask; left; left &= left - 1) {
    uint8_t *s = emu_local_shadow(m, (unsigned)__builtin_ctz(left), f->local_base);
    memset(s, 1, code->local_bytes);
    for (uint32_t k = 0; k < code->n_locals; k++)
      memset(s + code->locals[k].lo, 0, code->locals[k].hi - code->locals[k].lo);
  }
}

static void clear_locals(emu_mwarp *m, const emu_frame *f, uint32_t mask) {
  if (!f->code->local_bytes) return;
  if (m->w.cta->local_init) forget_locals(m, f, mask);
  for (uint32_t left = mask; left; left &= left - 1)
    memset(m->local + (unsigned)__builtin_ctz(left) * m->w.cta->grid->stack_bytes + f->local_base, 0,
           f->code->local_bytes);
}

/* Registers that are read before they are written must not depend on earlier calls. */
static void fill_slots(emu_mframe *mf, const emu_code *code) {
  char *regs = mf->f.regs;
  const bool again = mf->filled == code;
  const size_t init = (size_t)code->n_init * EMU_SLOT_BYTES;
  const uint32_t n_zero = code->n_slots - code->n_init - (again ? code->n_loose : 0);
  if (!again && init) memcpy(regs, code->init, init);
  memset(regs + init, 0, (size_t)n_zero * EMU_SLOT_BYTES);
  mf->filled = code;
}

emu_frame *emu_frame_make(emu_mwarp *m, const emu_code *code, emu_frame *caller, const emu_inst *i,
                          uint32_t mask) {
  const hd_emu_grid *g = m->w.cta->grid;
  const uint32_t depth = caller ? caller->depth + 1 : 0;
  const uint64_t base = caller ? caller->local_base + emu_local_bytes(caller->code) : 0;
  if (base + code->local_bytes > g->stack_bytes || depth > EMU_MAX_DEPTH) {
    emu_fault_at(m, caller ? caller->code : code, i, mask, HD_FAULT_OTHER,
                 "call stack overflow: %s is called %u deep with %llu bytes of local memory a thread",
                 code->name, depth, (unsigned long long)g->stack_bytes);
    return NULL;
  }
  emu_mframe *mf = take_frame(m, code);
  if (!mf) {
    emu_nomem_at(m, caller ? caller->code : code, i, mask, "out of memory for the registers of %s",
                 code->name);
    return NULL;
  }
  emu_frame *f = &mf->f;
  *f = (emu_frame){.caller = caller,
                   .code = code,
                   .local_base = (uint32_t)base,
                   .refs = 1,
                   .depth = depth,
                   .regs = f->regs};
  fill_slots(mf, code);
  for (uint32_t k = 0; k < code->n_local_slots; k++)
    for (unsigned l = 0; l < HD_WARP; l++) {
      size_t at = (size_t)code->local_slots[k] * EMU_SLOT_BYTES + (size_t)l * 8;
      uint64_t v;
      memcpy(&v, code->init + at, sizeof v);
      v += base;
      memcpy(f->regs + at, &v, sizeof v);
    }
  clear_locals(m, f, mask);
  emu_fill_sregs(m, f);
  return f;
}

void emu_frame_drop(emu_mwarp *m, emu_frame *f) {
  while (f && --f->refs == 0) {
    emu_mframe *mf = (emu_mframe *)f;
    f = f->caller;
    mf->next = m->free_frames;
    m->free_frames = mf;
  }
}

void emu_frames_free(emu_mwarp *m) {
  for (emu_mframe *f = m->free_frames, *next; f; f = next) {
    next = f->next;
    free(f->f.regs);
    free(f);
  }
  m->free_frames = NULL;
}

/* ---- Places ---------------------------------------------------------------------------- */

/* Host bytes of a place's lane; a 128-bit register is in two parts, so `half` says which. */
static char *place_ptr(const emu_mwarp *m, const emu_frame *f, const emu_place *p, unsigned lane,
                       unsigned half) {
  if (p->in_local)
    return m->local + lane * m->w.cta->grid->stack_bytes + f->local_base + p->where + (size_t)8 * half;
  char *slot = f->regs + (size_t)p->where * EMU_SLOT_BYTES;
  return p->bytes <= 4 ? slot + (size_t)lane * 4
                       : slot + (size_t)half * 2 * EMU_SLOT_BYTES + (size_t)lane * 8;
}

static void copy_place(const emu_mwarp *m, const emu_frame *from, const emu_place *src, const emu_frame *to,
                       const emu_place *dst, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned l = (unsigned)__builtin_ctz(left);
    if (src->in_local && dst->in_local) {
      memcpy(place_ptr(m, to, dst, l, 0), place_ptr(m, from, src, l, 0), src->bytes);
    } else if (src->bytes <= 4) {
      /* Narrow values are zero-extended in a register. */
      uint32_t v = 0;
      memcpy(&v, place_ptr(m, from, src, l, 0), src->in_local ? src->bytes : 4);
      memcpy(place_ptr(m, to, dst, l, 0), &v, dst->in_local ? src->bytes : 4); /* variadic: dst has more */
    } else {
      for (unsigned half = 0; half * 8 < src->bytes; half++)
        memcpy(place_ptr(m, to, dst, l, half), place_ptr(m, from, src, l, half), 8);
    }
  }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Do both sides agree on number and sizes? b is the function's. */
static bool places_fit(const emu_place *a, uint32_t n_a, const emu_place *b, uint32_t n_b) {
  if (n_a != n_b) return false;
  for (uint32_t k = 0; k < n_a; k++)
    if (a[k].bytes != b[k].bytes && !(b[k].variadic && a[k].bytes <= b[k].bytes)) return false;
  return true;
}

/* The activation that other lanes made by the same call, or NULL. To share it costs nothing, as every
 * lane has its own registers, and lets the lanes meet inside the function. */
static emu_frame *find_activation(const emu_mwarp *m, const emu_fiber *f, const emu_code *callee) {
  for (uint32_t k = 0; k < m->w.n_fibers; k++)
    for (emu_frame *x = m->w.fibers[k].frame; x->depth > f->frame->depth; x = x->caller)
      if (x->caller == f->frame && x->return_pc == f->pc + 1 && x->code == callee) return x;
  return NULL;
}

static bool enter(emu_mwarp *m, emu_fiber *f, const emu_inst *i, const emu_call *call,
                  const emu_code *callee) {
  emu_frame *caller = f->frame;
  if (!places_fit(call->args, call->n_args, callee->params, callee->n_params) ||
      !places_fit(call->rets, call->n_rets, callee->rets, callee->n_rets)) {
    emu_fault(&m->w, i, f->mask, HD_FAULT_OTHER, "%s is called with other arguments or results than it has",
              callee->name);
    return false;
  }
  emu_frame *frame = m->w.n_fibers > 1 ? find_activation(m, f, callee) : NULL;
  if (frame) {
    clear_locals(m, frame, f->mask);
    frame->refs++;
    caller->refs--; /* the frame has one of its own */
  } else {
    frame = emu_frame_make(m, callee, caller, i, f->mask);
    if (!frame) return false;
    frame->return_pc = f->pc + 1;
    frame->call = call; /* f's reference to the caller is the frame's now */
  }
  for (uint32_t k = 0; k < call->n_args; k++)
    copy_place(m, caller, &call->args[k], frame, &callee->params[k], f->mask);
  f->frame = frame;
  f->pc = 0;
  return true;
}

static bool enter_builtin(emu_mwarp *m, emu_fiber *f, const emu_inst *i, const emu_call *call) {
  emu_run_builtin(&m->w, i, call, f->frame->regs, f->mask);
  f->pc++;
  return true;
}

/* The program that has a function at this address: the caller's own, or another of the emulator; NULL: none.
 */
static const hd_emu_program *program_at(const emu_mwarp *m, const hd_emu_program *own, uint64_t address) {
  if (address - own->functions < EMU_FUNC_ROOM) return own;
  hd_emu *e = m->w.cta->emu;
  pthread_rwlock_rdlock(&e->lock);
  const hd_emu_program *p = e->programs;
  while (p && address - p->functions >= EMU_FUNC_ROOM) p = p->next;
  pthread_rwlock_unlock(&e->lock);
  return p;
}

/* Whether the call is emulated. A function of another module must have no shared memory: its place beside the
 * kernel's is unknown. */
static bool may_enter(emu_mwarp *m, emu_fiber *f, const emu_inst *i, const emu_code *callee) {
  if (callee->unsupported.status != HD_OK)
    emu_fault(&m->w, i, f->mask, HD_FAULT_NOT_EMULATED, "call to %s, which is not emulated: %s", callee->name,
              callee->unsupported.message);
  else if (callee->shares && callee->program && callee->program != m->w.cta->grid->program)
    emu_fault(&m->w, i, f->mask, HD_FAULT_OTHER,
              "call to %s of another module, which has shared memory of its own", callee->name);
  else
    return true;
  return false;
}

/* Through a register. */
static bool enter_indirect(emu_mwarp *m, emu_fiber *f, const emu_inst *i, const emu_call *call) {
  const emu_code *caller = f->frame->code;
  const char *r = f->frame->regs;
  const uint64_t address = emu_lane_u64(r, call->fn_slot, (unsigned)__builtin_ctz(f->mask));
  uint32_t others = 0;
  for (unsigned l = 0; l < HD_WARP; l++)
    others |= (uint32_t)(emu_lane_u64(r, call->fn_slot, l) != address) << l;
  if (others & f->mask) emu_split_fiber(&m->w, f, others & f->mask, f->pc);

  const hd_emu_program *p =
      program_at(m, caller->program ? caller->program : m->w.cta->grid->program, address);
  const uint64_t index = p ? (address - p->functions) / 16 : 0;
  if (!p || address % 16 || index >= p->module->n_funcs || p->module->funcs[index].entry) {
    emu_fault(&m->w, i, f->mask, HD_FAULT_OTHER, "call to 0x%llx, which is no function",
              (unsigned long long)address);
    return false;
  }
  const emu_code *callee = p->codes[index];
  if (callee) return may_enter(m, f, i, callee) && enter(m, f, i, call, callee);
  const char *name = p->module->syms[p->module->funcs[index].sym].name;
  emu_call builtin = *call;
  builtin.builtin = emu_find_builtin(name);
  if (builtin.builtin) return enter_builtin(m, f, i, &builtin);
  emu_fault(&m->w, i, f->mask, HD_FAULT_OTHER, "call to %s, which is declared but not defined", name);
  return false;
}

bool emu_call_enter(emu_mwarp *m, emu_fiber *f, const emu_inst *i) {
  const emu_call *call = i->extra;
  if (call->missing) {
    emu_fault(&m->w, i, f->mask, HD_FAULT_NOT_EMULATED,
              "CUDA's device runtime, by which kernels launch kernels, is not emulated: call to %s",
              call->missing);
    return false;
  }
  if (call->builtin) return enter_builtin(m, f, i, call);
  return call->callee ? enter(m, f, i, call, call->callee) : enter_indirect(m, f, i, call);
}

void emu_call_leave(emu_mwarp *m, emu_fiber *f) {
  emu_frame *frame = f->frame, *caller = frame->caller;
  const emu_call *call = frame->call;
  for (uint32_t k = 0; k < call->n_rets; k++)
    copy_place(m, frame, &frame->code->rets[k], caller, &call->rets[k], f->mask);
  f->frame = caller;
  f->pc = frame->return_pc;
  caller->refs++;
  emu_frame_drop(m, frame);
}
