/* emu/ops/warp.c: exchanges between the threads of a warp: shfl, vote, match, redux, activemask, elect. The
 * .sync forms are gathers: `mask` is all the threads that take part. */
#include "emu/ops/lanes.h"

/* ---- shfl -------------------------------------------------------------------------------- */

typedef enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX } shfl_mode;

/* src: value, lane or distance, clamp and segment mask; dst2: whether the lane was in range.
 * The value comes from its lane whether or not that lane takes part. */
INLINE void shfl(const emu_inst *i, char *r, uint32_t mask, shfl_mode mode) {
  const uint32_t *a = slot(r, i->src[0]), *b = slot(r, i->src[1]), *c = slot(r, i->src[2]);
  uint32_t part[32] __attribute__((aligned(64)));
  uint32_t in_range = 0;
  for (int l = 0; l < 32; l++) {
    const int distance = (int)(b[l] & 31), clamp = (int)(c[l] & 31), segment = (int)(c[l] >> 8 & 31);
    const int least = l & segment, greatest = least | (clamp & ~segment);
    int from = 0;
    bool ok = false;
    switch (mode) {
    case SHFL_UP: from = l - distance, ok = from >= greatest; break;
    case SHFL_DOWN: from = l + distance, ok = from <= greatest; break;
    case SHFL_BFLY: from = l ^ distance, ok = from <= greatest; break;
    case SHFL_IDX: from = least | (distance & ~segment), ok = from <= greatest; break;
    }
    part[l] = a[ok ? from : l];
    in_range |= (uint32_t)ok << l;
  }
  if (i->dst != EMU_NO_SLOT) blend32(slot(r, i->dst), part, mask);
  if (i->dst2 != EMU_NO_SLOT) put_pred(r, i->dst2, in_range, mask);
}
HANDLER(shfl_up) { shfl(i, r, mask, SHFL_UP); }
HANDLER(shfl_down) { shfl(i, r, mask, SHFL_DOWN); }
HANDLER(shfl_bfly) { shfl(i, r, mask, SHFL_BFLY); }
HANDLER(shfl_idx) { shfl(i, r, mask, SHFL_IDX); }

/* ---- vote, activemask, elect ------------------------------------------------------------------ */

INLINE uint32_t ballot(const emu_inst *i, char *r, uint32_t mask) {
  return (get_pred(r, i->src[0]) ^ (i->compare.negate ? ALL_LANES : 0)) & mask;
}
HANDLER(vote_all) { put_pred(r, i->dst, ballot(i, r, mask) == mask ? ALL_LANES : 0, mask); }
HANDLER(vote_any) { put_pred(r, i->dst, ballot(i, r, mask) != 0 ? ALL_LANES : 0, mask); }
HANDLER(vote_uni) {
  const uint32_t yes = ballot(i, r, mask);
  put_pred(r, i->dst, yes == 0 || yes == mask ? ALL_LANES : 0, mask);
}
HANDLER(vote_ballot) {
  const uint32_t yes = ballot(i, r, mask);
  LANES_OF(w, out[l] = yes;)
}
HANDLER(activemask) { LANES_OF(w, out[l] = mask;) }
/* The leader is the lowest lane that takes part. */
HANDLER(elect) {
  const uint32_t leader = (uint32_t)__builtin_ctz(mask);
  if (i->dst != EMU_NO_SLOT) {
    LANES_OF(w, out[l] = leader;)
  }
  if (i->dst2 != EMU_NO_SLOT) put_pred(r, i->dst2, 1u << leader, mask);
}

/* ---- match -------------------------------------------------------------------------------------- */

#define DEFINE_MATCH(bits, T)                                                                                \
  HANDLER(match_any_##bits) {                                                                                \
    const T *a = slot(r, i->src[0]);                                                                         \
    uint32_t part[32] __attribute__((aligned(64))) = {0};                                                    \
    uint32_t todo = mask;                                                                                    \
    while (todo) {                                                                                           \
      const T value = a[__builtin_ctz(todo)];                                                                \
      uint32_t same = 0;                                                                                     \
      FOR_LANES(l, todo) same |= (uint32_t)(a[l] == value) << l;                                             \
      FOR_LANES(l, same) part[l] = same;                                                                     \
      todo &= ~same;                                                                                         \
    }                                                                                                        \
    blend32(slot(r, i->dst), part, mask);                                                                    \
  }                                                                                                          \
  HANDLER(match_all_##bits) {                                                                                \
    const T *a = slot(r, i->src[0]);                                                                         \
    const T value = a[__builtin_ctz(mask)];                                                                  \
    bool all = true;                                                                                         \
    FOR_LANES(l, mask) all &= a[l] == value;                                                                 \
    if (i->dst != EMU_NO_SLOT) {                                                                             \
      LANES_OF(w, out[l] = all ? mask : 0;)                                                                  \
    }                                                                                                        \
    if (i->dst2 != EMU_NO_SLOT) put_pred(r, i->dst2, all ? ALL_LANES : 0, mask);                             \
  }
DEFINE_MATCH(32, uint32_t)
DEFINE_MATCH(64, uint64_t)

/* ---- redux --------------------------------------------------------------------------------------- */

#define DEFINE_REDUX(id, T, name, expr)                                                                      \
  HANDLER(redux_##id) {                                                                                      \
    const T *a = slot(r, i->src[0]);                                                                         \
    T sum = a[__builtin_ctz(mask)];                                                                          \
    FOR_LANES(l, mask &(mask - 1)) {                                                                         \
      const T b = a[l];                                                                                      \
      sum = (expr);                                                                                          \
    }                                                                                                        \
    LANES_OF(w, out[l] = (uint32_t)sum;)                                                                     \
  }
#define ROW_REDUX(id, T, name, expr) {"redux.sync." name, "", redux_##id},
#define REDUXES(X)                                                                                           \
  X(add, uint32_t, "add.i32", sum + b)                                                                       \
  X(min_u32, uint32_t, "min.u32", sum < b ? sum : b)                                                         \
  X(max_u32, uint32_t, "max.u32", sum > b ? sum : b)                                                         \
  X(min_s32, int32_t, "min.s32", sum < b ? sum : b)                                                          \
  X(max_s32, int32_t, "max.s32", sum > b ? sum : b)                                                          \
  X(and, uint32_t, "and.b32", (sum & b))                                                                     \
  X(or, uint32_t, "or.b32", sum | b)                                                                         \
  X(xor, uint32_t, "xor.b32", sum ^ b)
REDUXES(DEFINE_REDUX)

/* min and max of f32. */
HANDLER(redux_f32) {
  const float *a = slot(r, i->src[0]);
  const bool max = i->arith.op, abs = i->arith.sat, nan = i->arith.nan;
#define VALUE(l) (abs ? num_f32(num_b32(a[l]) & 0x7fffffffu) : a[l])
  const uint32_t first = (uint32_t)__builtin_ctz(mask);
  float best = num_min_f32(VALUE(first), VALUE(first), max, false, nan, false);
  FOR_LANES(l, mask & (mask - 1)) best = num_min_f32(best, VALUE(l), max, false, nan, false);
  LANES_OF(f, out[l] = best;)
}

const emu_op EMU_OPS(warp)[] = {{"shfl.up", "", shfl_up},
                                {"shfl.down", "", shfl_down},
                                {"shfl.bfly", "", shfl_bfly},
                                {"shfl.idx", "", shfl_idx},
                                {"vote.all", "", vote_all},
                                {"vote.any", "", vote_any},
                                {"vote.uni", "", vote_uni},
                                {"vote.ballot", "", vote_ballot},
                                {"activemask", "", activemask},
                                {"elect", "", elect},
                                {"match.any.32", "", match_any_32},
                                {"match.any.64", "", match_any_64},
                                {"match.all.32", "", match_all_32},
                                {"match.all.64", "", match_all_64},
                                REDUXES(ROW_REDUX){"redux.f32", "", redux_f32},
                                {0}};
