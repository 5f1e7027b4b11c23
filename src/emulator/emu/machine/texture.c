/* emu/machine/texture.c: tex and tld4.
 *
 * CUDA C++ Programming Guide, texture fetching. A coordinate is x texels from the image's edge, or x * N of N
 * texels where it is normalised. The nearest texel is number floor(x). Interpolation takes the two on both
 * sides of x - 0.5, in fixed point with 8 bits of fraction, and along each dimension (1 - a) of one and a of
 * the other. A warp reads all texels of its footprints like global memory, through L1. */
#include "emu/machine/grid.h"
#include "emu/machine/image.h"

#include <math.h>

enum {
  FRACTION = 256, /* steps from one texel to the next */
  TAPS = 2 * 8,   /* the corners of two levels */
};

/* The texels that one lane reads, and their weights in the result. */
typedef struct footprint {
  const hd_texture *texture;
  unsigned n;
  bool outside[TAPS]; /* the border's colour, or zeros */
  uint64_t at[TAPS];
  double weight[TAPS];
} footprint;

/* The texels that one coordinate selects: one, or two. */
typedef struct axis {
  unsigned n;
  int64_t index[2];
  uint32_t fraction; /* of the second, in FRACTIONs */
} axis;

/* ---- Coordinates ------------------------------------------------------------------ */

static float as_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The coordinate within the range of an index; NaN is 0. */
static double tame(double x) {
  static const double most = 1e12;
  return x != x ? 0 : x > most ? most : x < -most ? -most : x;
}

/* The largest integer that is no larger: for tame numbers faster than a call of floor. */
static int64_t below(double x) {
  const double y = tame(x);
  const int64_t i = (int64_t)y;
  return i - (y < (double)i);
}

static axis place(double x, bool between) {
  if (!between) return (axis){1, {below(x), 0}, 0};
  const int64_t fixed = below((x - 0.5) * FRACTION + 0.5), first = fixed >> 8;
  return (axis){2, {first, first + 1}, (uint32_t)(fixed & (FRACTION - 1))};
}

/* Images have no empty side. */
static int64_t modulo(int64_t i, int64_t n) { return n > 0 ? (i % n + n) % n : 0; }

/* The texel that index i selects among n; false: the border. */
static bool wrap(hd_wrap how, bool normalized, int64_t n, int64_t *i) {
  if (*i >= 0 && *i < n) return true;
  if (!normalized && how != HD_WRAP_BORDER) how = HD_WRAP_CLAMP;
  switch (how) {
  case HD_WRAP_REPEAT: *i = modulo(*i, n); return true;
  case HD_WRAP_MIRROR:
    *i = modulo(*i, 2 * n);
    *i = *i < n ? *i : 2 * n - 1 - *i;
    return true;
  case HD_WRAP_BORDER: return *i >= 0 && *i < n;
  default: *i = *i < 0 ? 0 : *i >= n ? n - 1 : *i; return true;
  }
}

/* The face of a cube that a direction meets, and where, as the guide's table has it. */
static uint32_t face_of(const double c[3], double at[2]) {
  static const struct {
    int8_t s, t; /* 1 + axis, negated */
  } faces[6] = {{-3, -2}, {3, -2}, {1, 3}, {1, -3}, {1, -2}, {-1, -2}};
  unsigned major = 0;
  for (unsigned k = 1; k < 3; k++)
    if (fabs(c[k]) > fabs(c[major])) major = k;
  const uint32_t face = 2 * major + (c[major] < 0);
  const double m = fabs(c[major]);
  const int signs[2] = {faces[face].s, faces[face].t};
  for (unsigned k = 0; k < 2; k++) {
    const int a = signs[k] < 0 ? -signs[k] : signs[k];
    const double v = signs[k] < 0 ? -c[a - 1] : c[a - 1];
    at[k] = m > 0 ? (v / m + 1) / 2 : 0.5;
  }
  return face;
}

/* ---- Footprints --------------------------------------------------------------------- */

typedef struct fetch {
  double coord[3]; /* as given, or within the face of a cube */
  unsigned dims;   /* of the image */
  uint32_t layer;
  bool between, integer;
} fetch;

/* One of the texels that an axis selects, with its part of the weight. */
typedef struct side {
  int64_t index;
  bool inside;
  double share;
} side;

/* Those of an axis that count; `all`: the others, too. */
static unsigned sides_of(const hd_texture *t, unsigned dim, const axis *a, int64_t size, bool normalized,
                         bool all, side out[2]) {
  unsigned n = 0;
  for (unsigned k = 0; k < a->n; k++) {
    side s = {.index = a->index[k], .share = 1};
    if (a->n > 1) s.share = (double)(k ? a->fraction : FRACTION - a->fraction) / FRACTION;
    if (!all && !(s.share > 0)) continue;
    if (t->image.kind == HD_IMAGE_LINEAR)
      s.inside = s.index >= 0 && s.index < size;
    else
      s.inside = wrap(t->wrap[dim], normalized, size, &s.index);
    out[n++] = s;
  }
  return n;
}

static void add_level(footprint *f, const fetch *x, uint32_t level, double weight, bool all) {
  const hd_texture *t = f->texture;
  const hd_image_level l = hd_image_level_of(&t->image, level);
  const int64_t size[3] = {(int64_t)l.width, l.height, t->image.layers ? 1 : l.depth};
  const bool normalized = t->normalized && !x->integer;
  const uint64_t texel = (uint64_t)hd_texel_bytes(t->image.texel) * t->image.channels,
                 base = t->image.address + l.offset + x->layer * l.slice;
  side s[3][2];
  unsigned n[3];
  for (unsigned k = 0; k < 3; k++) {
    axis a = {1, {0}, 0};
    if (k < x->dims) a = place(normalized ? x->coord[k] * (double)size[k] : x->coord[k], x->between);
    n[k] = sides_of(t, k, &a, size[k], normalized, all, s[k]);
  }
  for (const side *z = s[2]; z < s[2] + n[2]; z++)
    for (const side *y = s[1]; y < s[1] + n[1]; y++)
      for (const side *v = s[0]; v < s[0] + n[0]; v++) {
        const bool inside = v->inside && y->inside && z->inside;
        f->outside[f->n] = !inside;
        f->weight[f->n] = weight * v->share * y->share * z->share;
        f->at[f->n] = inside ? base + (uint64_t)v->index * texel + (uint64_t)y->index * l.row +
                                   (uint64_t)z->index * l.slice
                             : 0;
        f->n++;
      }
}

/* ---- Levels ----------------------------------------------------------------------------- */

static double steepness(const hd_texture *t, const emu_image_inst *x, const char *r, unsigned lane) {
  const double size[3] = {(double)t->image.width, t->image.height, t->image.depth};
  double most = 0;
  for (unsigned d = 0; d < 2; d++) {
    double sum = 0;
    for (unsigned k = 0; k < x->dims; k++) {
      const double g = (double)as_float(emu_lane_u32(r, x->grad[d][k], lane)) * (t->normalized ? size[k] : 1);
      sum += g * g;
    }
    if (sum > most) most = sum;
  }
  return log2(most) / 2;
}

/* The level between levels that is read: kernels have no neighbouring pixels, so without one it is 0. */
static double level_of(const hd_texture *t, const emu_image_inst *x, const char *r, unsigned lane) {
  const double last = t->image.levels > 1 ? t->image.levels - 1 : 0;
  double level = t->bias;
  if (x->lod == EMU_LOD_LEVEL) level += (double)as_float(emu_lane_u32(r, x->level, lane));
  if (x->lod == EMU_LOD_GRAD) level += steepness(t, x, r, lane);
  if (level > (double)t->most_level) level = (double)t->most_level;
  if (!(level > (double)t->least_level)) level = (double)t->least_level;
  return level > last ? last : level > 0 ? level : 0;
}

static void add_levels(footprint *f, const fetch *x, double level) {
  const uint32_t last = f->texture->image.levels > 1 ? f->texture->image.levels - 1 : 0;
  const uint32_t fixed = (uint32_t)(level * FRACTION + 0.5), first = fixed / FRACTION,
                 part = fixed % FRACTION;
  if (!f->texture->linear_mip) {
    const uint32_t nearest = (uint32_t)(level + 0.5);
    add_level(f, x, nearest < last ? nearest : last, 1, false);
    return;
  }
  add_level(f, x, first, (double)(FRACTION - part) / FRACTION, false);
  if (part && first < last) add_level(f, x, first + 1, (double)part / FRACTION, false);
}

/* ---- A lane's footprint ------------------------------------------------------------------- */

static bool aim(emu_warp *w, const emu_inst *i, const char *r, unsigned lane, footprint *f) {
  const emu_image_inst *x = i->extra;
  const hd_texture *t = emu_image_of(w, i, r, lane);
  if (!t) return false;
  fetch at = {.dims = x->dims, .integer = x->integer, .between = t->linear && !x->integer};
  for (unsigned k = 0; k < x->dims; k++) {
    const uint32_t bits = emu_lane_u32(r, x->coord[k], lane);
    at.coord[k] = x->integer ? (double)(int32_t)bits : (double)as_float(bits);
  }
  const uint32_t layers = t->image.cube ? t->image.layers / 6 : t->image.layers;
  if (x->layered) {
    at.layer = emu_lane_u32(r, x->layer, lane);
    if (at.layer >= layers) at.layer = (int32_t)at.layer < 0 ? 0 : layers - 1;
  }
  if (x->cube) {
    double on[2];
    at.layer = 6 * at.layer + face_of(at.coord, on);
    for (int k = 0; k < 2; k++) at.coord[k] = t->normalized ? on[k] : on[k] * (double)t->image.width;
    at.dims = 2;
  }
  f->texture = t;
  f->n = 0;
  if (x->gather) {
    at.between = true;
    add_level(f, &at, 0, 1, true);
  } else {
    add_levels(f, &at, level_of(t, x, r, lane));
  }
  return true;
}

/* ---- Texels ------------------------------------------------------------------------------------ */

/* One channel as an integer of 32 bits, and as a float: of 8 and 16 bits from 0 or -1 to 1. */
static double channel(hd_texel type, const char *from, uint32_t *raw) {
  uint32_t u = 0;
  const unsigned bytes = hd_texel_bytes(type);
  memcpy(&u, from, bytes);
  const double unsigned_most = bytes == 1 ? UINT8_MAX : UINT16_MAX,
               signed_most = bytes == 1 ? INT8_MAX : INT16_MAX;
  *raw = u;
  switch (type) {
  case HD_TEXEL_U8:
  case HD_TEXEL_U16: return u / unsigned_most;
  case HD_TEXEL_S8:
  case HD_TEXEL_S16: {
    const int32_t s = bytes == 1 ? (int8_t)u : (int16_t)u;
    *raw = (uint32_t)s;
    return s / signed_most < -1 ? -1 : s / signed_most;
  }
  case HD_TEXEL_F16: return num_to_f64(NUM_F16, u);
  case HD_TEXEL_F32: return (double)as_float(u);
  default: return 0;
  }
}

static bool reads_integers(const hd_texture *t) {
  const hd_texel type = t->image.texel;
  if (type == HD_TEXEL_U32 || type == HD_TEXEL_S32) return true;
  return t->read_integer && type != HD_TEXEL_F16 && type != HD_TEXEL_F32;
}

/* The texels that a lane has read so far, weighted and summed. */
typedef struct color {
  double sum[4];
  uint32_t raw[4]; /* of integers, and tld4's */
} color;

/* Add tap number k, whose bytes are at `from` (NULL: it lies outside). */
static void take(const emu_image_inst *x, const footprint *f, unsigned k, const char *from, color *c) {
  const hd_texture *t = f->texture;
  const hd_image *i = &t->image;
  for (unsigned n = 0; n < 4; n++) {
    uint32_t raw = 0;
    double v = 0;
    if (!from && i->kind != HD_IMAGE_LINEAR) {
      v = (double)t->border[n];
      raw = (uint32_t)(int64_t)tame(v);
    } else if (from && n < i->channels) {
      v = channel(i->texel, from + (size_t)n * hd_texel_bytes(i->texel), &raw);
    }
    if (!x->gather) {
      c->sum[n] += f->weight[k] * v;
      c->raw[n] = raw;
    } else if (n == x->select) { /* (0,1) (1,1) (1,0) (0,0) */
      static const uint8_t place_of[4] = {3, 2, 0, 1};
      c->raw[place_of[k]] = raw;
      c->sum[place_of[k]] = v;
    }
  }
}

static void put(const emu_image_inst *x, const footprint *f, const color *c, char *r, unsigned lane) {
  for (unsigned n = 0; n < x->n; n++) {
    if (x->reg[n] == EMU_NO_SLOT) continue;
    const float v = (float)c->sum[n];
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (reads_integers(f->texture)) bits = c->raw[n];
    memcpy(r + (size_t)x->reg[n] * EMU_SLOT_BYTES + (size_t)lane * 4, &bits, sizeof bits);
  }
}

/* ---- A warp --------------------------------------------------------------------------------------- */

static unsigned texel_bytes(const footprint *f) {
  return hd_texel_bytes(f->texture->image.texel) * f->texture->image.channels;
}

/* Read every lane's tap number k. */
static bool read_taps(emu_warp *w, const emu_inst *i, uint32_t mask, const footprint *f, unsigned k,
                      color *c) {
  uint32_t todo = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (k >= f[l].n) continue;
    if (f[l].outside[k])
      take(i->extra, &f[l], k, NULL, &c[l]);
    else
      todo |= 1u << l;
  }
  while (todo) { /* lanes may read different textures */
    const unsigned bytes = texel_bytes(&f[__builtin_ctz(todo)]);
    uint32_t group = 0;
    uint64_t addr[HD_WARP] = {0};
    emu_view v;
    for (uint32_t left = todo; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      if (texel_bytes(&f[l]) != bytes) continue;
      group |= 1u << l;
      addr[l] = f[l].at[k];
    }
    todo &= ~group;
    if (!emu_access(w, i, group, addr, bytes, 1, HD_ACCESS_LOAD, HD_CACHE_L1 | HD_CACHE_READONLY,
                    HD_SPACE_GLOBAL, &v))
      return false;
    for (uint32_t left = group; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctz(left);
      take(i->extra, &f[l], k, (const char *)(uintptr_t)(addr[l] + v.delta), &c[l]);
    }
  }
  return true;
}

void emu_run_texture(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_image_inst *x = i->extra;
  footprint f[HD_WARP];
  color c[HD_WARP] = {0};
  unsigned most = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if (!aim(w, i, r, l, &f[l])) return;
    if (f[l].n > most) most = f[l].n;
  }
  for (unsigned k = 0; k < most; k++)
    if (!read_taps(w, i, mask, f, k, c)) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    put(x, &f[l], &c[l], r, l);
  }
  if (x->resident == EMU_NO_SLOT) return;
  uint32_t p;
  char *slot = r + (size_t)x->resident * EMU_SLOT_BYTES;
  memcpy(&p, slot, sizeof p);
  p |= mask; /* all memory is there */
  memcpy(slot, &p, sizeof p);
}
