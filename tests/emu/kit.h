/* tests/emu/kit.h: helpers that the emulator's tests share. */
#ifndef HEDDLE_TESTS_EMU_KIT_H
#define HEDDLE_TESTS_EMU_KIT_H

#include "check.h"

#include "emu/machine/grid.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK_OK(call, d)                                                                                    \
  do {                                                                                                       \
    hd_status st_ = (call);                                                                                  \
    if (st_ != HD_OK) fail_msg("status %d: %s", st_, (d)->message);                                          \
  } while (0)

#define CHECK_MESSAGE(d, part)                                                                               \
  do {                                                                                                       \
    if (!strstr((d)->message, part)) fail_msg("no \"%s\" in: %s", part, (d)->message);                       \
  } while (0)

/* ---- Code made by hand ------------------------------------------------------------ */

/* A module whose functions are arrays of emu_inst. Function 0 is the kernel "k". */
enum { KIT_FUNCS = 4, KIT_IMMS = 24, KIT_SLOTS = 64 };
/* Slots [0, KIT_IMMS) are immediates: slot n holds the number n, but for these. */
enum { IMM_A = 20, IMM_B = 22 }; /* u64 addresses of kit.a and kit.b */
typedef struct kit {
  hd_emu *e;
  hd_ptx_module m;
  hd_ptx_func funcs[KIT_FUNCS];
  hd_ptx_sym syms[KIT_FUNCS + 1];
  emu_code codes[KIT_FUNCS];
  emu_code *code_list[KIT_FUNCS];
  emu_traits traits[KIT_FUNCS];
  hd_emu_program p;
  char *init;
  uint64_t a, b; /* two allocations of 64 KB */
  hd_diag d;
} kit;

static inline void kit_open(kit *k, const hd_emu_options *opt) {
  static const char *const names[KIT_FUNCS] = {"k", "f", "g", "h"};
  memset(k, 0, sizeof *k);
  CHECK_OK(hd_emu_create(opt, &k->e, &k->d), &k->d);
  CHECK_OK(hd_emu_alloc(k->e, 65536, &k->a, &k->d), &k->d);
  CHECK_OK(hd_emu_alloc(k->e, 65536, &k->b, &k->d), &k->d);
  k->init = calloc(KIT_IMMS, EMU_SLOT_BYTES);
  for (uint32_t s = 0; s < IMM_A; s++)
    for (int l = 0; l < 32; l++) memcpy(k->init + s * EMU_SLOT_BYTES + l * 4, &s, 4);
  for (int l = 0; l < 32; l++) {
    memcpy(k->init + IMM_A * EMU_SLOT_BYTES + l * 8, &k->a, 8);
    memcpy(k->init + IMM_B * EMU_SLOT_BYTES + l * 8, &k->b, 8);
  }
  for (uint32_t f = 0; f < KIT_FUNCS; f++) {
    k->syms[f + 1] = (hd_ptx_sym){.name = names[f], .len = 1, .kind = HD_SYM_FUNC, .decl = f};
    k->funcs[f] = (hd_ptx_func){.sym = f + 1, .entry = f == 0, .has_body = true};
    k->codes[f] = (emu_code){.func = &k->funcs[f],
                             .name = names[f],
                             .n_slots = KIT_SLOTS,
                             .init = k->init,
                             .n_init = KIT_IMMS,
                             .stack_bytes = 65536};
    k->code_list[f] = &k->codes[f];
  }
  k->m = (hd_ptx_module){
      .name = "hand.ptx", .funcs = k->funcs, .n_funcs = KIT_FUNCS, .syms = k->syms, .n_syms = KIT_FUNCS + 1};
  k->p = (hd_emu_program){
      .emu = k->e, .module = &k->m, .codes = k->code_list, .traits = k->traits, .functions = EMU_FUNC_BASE};
}

static inline void kit_close(kit *k) {
  hd_emu_destroy(k->e);
  free(k->init);
}

#define KIT_CODE(k, f, ...)                                                                                  \
  do {                                                                                                       \
    static emu_inst insts_[] = {__VA_ARGS__};                                                                \
    for (uint32_t n_ = 0; n_ < sizeof insts_ / sizeof insts_[0]; n_++) insts_[n_].line = n_ + 1;             \
    (k)->codes[f].insts = insts_;                                                                            \
    (k)->codes[f].n_insts = sizeof insts_ / sizeof insts_[0];                                                \
  } while (0)

static inline hd_status kit_launch_with(kit *k, uint32_t grid, uint32_t block, const hd_dispatch *how,
                                        const hd_emu_hooks *hooks, hd_emu_stats *stats) {
  hd_emu_launch_params l = {.kernel = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}};
  return hd_emu_launch(&k->p, &l, how, hooks, stats, &k->d);
}
static inline hd_status kit_launch(kit *k, uint32_t grid, uint32_t block) {
  return kit_launch_with(k, grid, block, NULL, NULL, NULL);
}
static inline uint32_t *kit_a(kit *k) { return hd_emu_ptr(k->e, k->a, 65536); }

/* ---- Small handlers, 32-bit unless their names say otherwise --------------------------- */

#define KIT_LANES                                                                                            \
  for (unsigned l = 0; l < 32; l++)                                                                          \
    if (mask >> l & 1)
static inline uint32_t kit_get(const char *r, uint32_t slot, unsigned lane) {
  return emu_lane_u32(r, slot, lane);
}
static inline void kit_put(char *r, uint32_t slot, unsigned lane, uint32_t v) {
  memcpy(r + slot * 128 + lane * 4, &v, 4);
}
#define KIT_OP(name, expr)                                                                                   \
  static inline void name(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {                          \
    (void)w;                                                                                                 \
    KIT_LANES {                                                                                              \
      uint32_t x = kit_get(r, i->src[0], l), y = kit_get(r, i->src[1], l);                                   \
      (void)x, (void)y;                                                                                      \
      kit_put(r, i->dst, l, (expr));                                                                         \
    }                                                                                                        \
  }
KIT_OP(h_add, x + y)
KIT_OP(h_sub, x - y)
KIT_OP(h_mul, x *y)
KIT_OP(h_and, x &y)
KIT_OP(h_mov, x)
KIT_OP(h_active, mask)
KIT_OP(h_clock, (uint32_t)emu_clock(w))
#define KIT_SETP(name, cond)                                                                                 \
  static inline void name(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {                          \
    (void)w;                                                                                                 \
    uint32_t p = kit_get(r, i->dst, 0);                                                                      \
    KIT_LANES {                                                                                              \
      uint32_t x = kit_get(r, i->src[0], l), y = kit_get(r, i->src[1], l);                                   \
      p = (cond) ? p | 1u << l : p & ~(1u << l);                                                             \
    }                                                                                                        \
    kit_put(r, i->dst, 0, p);                                                                                \
  }
KIT_SETP(h_lt, x < y)
KIT_SETP(h_eq, x == y)
KIT_SETP(h_ne, x != y)

/* Address: u64 src[0] + 4 * src[1]. */
static inline bool kit_access(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, hd_access_kind kind,
                              uint32_t *host[32]) {
  uint64_t addr[32];
  emu_view v;
  for (unsigned l = 0; l < 32; l++) addr[l] = emu_lane_u64(r, i->src[0], l) + 4ull * kit_get(r, i->src[1], l);
  unsigned space = i->mem.space ? i->mem.space : HD_SPACE_GLOBAL;
  if (!emu_access(w, i, mask, addr, 4, 4, kind, HD_CACHE_L1, space, &v)) return false;
  KIT_LANES host[l] = (uint32_t *)(uintptr_t)(addr[l] + v.delta + (uint64_t)((int64_t)l * v.lane_stride));
  return true;
}
/* Loads and stores of kernels that race on purpose, on several threads: what is checked is that the emulator
 * sees it. */
static inline void h_ld(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  uint32_t *host[32];
  if (kit_access(w, i, r, mask, HD_ACCESS_LOAD, host))
    KIT_LANES kit_put(r, i->dst, l, __atomic_load_n(host[l], __ATOMIC_RELAXED));
}
static inline void h_st(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  uint32_t *host[32];
  if (kit_access(w, i, r, mask, HD_ACCESS_STORE, host))
    KIT_LANES __atomic_store_n(host[l], kit_get(r, i->src[2], l), __ATOMIC_RELAXED);
}
static inline void h_atom_add(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  uint32_t *host[32];
  if (kit_access(w, i, r, mask, HD_ACCESS_ATOMIC, host))
    KIT_LANES kit_put(r, i->dst, l, __atomic_fetch_add(host[l], kit_get(r, i->src[2], l), __ATOMIC_RELAXED));
}
static inline void h_atom_exch(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  uint32_t *host[32];
  if (kit_access(w, i, r, mask, HD_ACCESS_ATOMIC, host))
    KIT_LANES kit_put(r, i->dst, l, __atomic_exchange_n(host[l], kit_get(r, i->src[2], l), __ATOMIC_RELAXED));
}
/* Sum of src[0] over the threads that take part. */
static inline void h_sum(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  (void)w;
  uint32_t sum = 0;
  KIT_LANES sum += kit_get(r, i->src[0], l);
  KIT_LANES kit_put(r, i->dst, l, sum);
}

/* Shorthands for instructions. */
#define OP3(f, d, x, y)                                                                                      \
  {                                                                                                          \
    .fn = f, .dst = d, .src = { x, y }                                                                       \
  }
#define LD(d, base, index)                                                                                   \
  {                                                                                                          \
    .fn = h_ld, .dst = d, .src = { base, index }                                                             \
  }
#define ST(base, index, v)                                                                                   \
  {                                                                                                          \
    .fn = h_st, .src = { base, index, v }                                                                    \
  }
#define ATOM(f, d, base, index, v)                                                                           \
  {                                                                                                          \
    .fn = f, .dst = d, .src = { base, index, v }                                                             \
  }
#define BRA(t)                                                                                               \
  { .control = EMU_BRA, .target = t }
#define BRA_IF(p, t)                                                                                         \
  { .control = EMU_BRA, .target = t, .guarded = 1, .guard = p }
#define BRA_UNLESS(p, t)                                                                                     \
  { .control = EMU_BRA, .target = t, .guarded = 2, .guard = p }
#define EXIT                                                                                                 \
  { .control = EMU_EXIT }
#define RET                                                                                                  \
  { .control = EMU_RET }
#define BAR(b)                                                                                               \
  { .control = EMU_BAR, .extra = b }
#define CALL(c)                                                                                              \
  { .control = EMU_CALL, .extra = c }

#endif
