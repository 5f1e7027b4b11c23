/* Tensor maps and copies of boxes, against loops over elements. */
#include "emu/async_run.h"

enum { REGION = 32768, DATA = 1 << 16, BOX_AT = 1024 };

/* ---- Kernels ------------------------------------------------------------------------------- */

/* A launch's input: these numbers, then the initial bytes of shared memory. */
typedef struct orders {
  uint32_t expect;
  int32_t at[HD_TENSOR_DIMS];
  uint32_t at_offset; /* of the box in shared memory */
  uint32_t spare[25];
  unsigned char shared[REGION];
} orders;

/* All threads fill shared memory, one does `copy`, and all store shared memory's contents. */
static void open_copy(async_machine *x, const char *copy) {
  char body[4096];
  snprintf(
      body, sizeof body,
      "mov.u32 %%r0, smem;\nld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%in];\n"
      "ld.global.v2.u32 {%%r5, %%r6}, [%%in+16];\nld.global.u32 %%r7, [%%in+24];\nadd.u32 %%r7, %%r7, %%r0;\n"
      "shl.b32 %%r10, %%t, 2;\n"
      "fill:\ncvt.u64.u32 %%d1, %%r10;\nadd.u64 %%d1, %%d1, %%in;\nld.global.u32 %%r11, [%%d1+128];\n"
      "add.u32 %%r12, %%r0, %%r10;\nst.shared.u32 [%%r12+%d], %%r11;\nadd.u32 %%r10, %%r10, 1024;\n"
      "setp.lt.u32 %%p1, %%r10, %d;\n@%%p1 bra fill;\n"
      "setp.ne.u32 %%p2, %%t, 0;\n@%%p2 bra ready;\nmbarrier.init.shared.b64 [%%r0], 1;\nready:\n"
      "fence.proxy.async;\nbar.sync 0;\n@%%p2 bra wait;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%%r0], %%r1;\n%s\nwait:\n"
      "mbarrier.try_wait.parity.shared.b64 %%p1, [%%r0], 0;\n@!%%p1 bra wait;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbar.sync 0;\nshl.b32 %%r10, %%t, 2;\n"
      "show:\ncvt.u64.u32 %%d1, %%r10;\nadd.u64 %%d1, %%d1, %%out;\nadd.u32 %%r12, %%r0, %%r10;\n"
      "ld.shared.u32 %%r11, [%%r12+%d];\nst.global.u32 [%%d1], %%r11;\nadd.u32 %%r10, %%r10, 1024;\n"
      "setp.lt.u32 %%p1, %%r10, %d;\n@%%p1 bra show;",
      BOX_AT, REGION, copy, BOX_AT, REGION);
  async_open(x, body, HD_CHECK_ALL);
}

static const char *const coordinates[HD_TENSOR_DIMS + 1] = {
    "", "{%r2}", "{%r2, %r3}", "{%r2, %r3, %r4}", "{%r2, %r3, %r4, %r5}", "{%r2, %r3, %r4, %r5, %r6}"};

static void open_load(async_machine *x, unsigned rank) {
  char copy[256];
  snprintf(copy, sizeof copy,
           "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r7], "
           "[%%map, %s], "
           "[%%r0];",
           rank, coordinates[rank]);
  open_copy(x, copy);
}
static void open_store(async_machine *x, unsigned rank, const char *reduction) {
  char copy[256];
  snprintf(copy, sizeof copy,
           "cp.%sasync.bulk.tensor.%ud.global.shared::cta%s.tile.bulk_group [%%map, %s], [%%r7];",
           reduction[0] ? "reduce." : "", rank, reduction, coordinates[rank]);
  open_copy(x, copy);
}

/* ---- The reference ----------------------------------------------------------------------------- */

static const unsigned type_bytes[HD_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

/* Where byte `offset` (from a multiple of 1024) lies in shared memory, from the drawings of the ISA. */
static uint64_t place(hd_tensor_swizzle s, uint64_t offset) {
  static const unsigned atom[HD_TENSOR_SWIZZLES] = {16, 16, 16, 16, 32, 32, 64},
                        span[HD_TENSOR_SWIZZLES] = {16, 32, 64, 128, 128, 128, 128};
  const uint64_t row = offset / 128, in_row = offset % 128, n = span[s] / atom[s];
  const uint64_t group = in_row / span[s], chunk = in_row % span[s] / atom[s];
  uint64_t byte = in_row % atom[s];
  if (s == HD_TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B && row % 2) byte = byte / 16 * 16 + (byte + 8) % 16;
  return row * 128 + group * span[s] + (chunk ^ row % n) * atom[s] + byte;
}

typedef struct visit {
  uint64_t shared; /* offset behind the box's place */
  uint64_t global; /* offset in the data; UINT64_MAX: outside the tensor */
} visit;

static uint32_t steps_of(const hd_tensor *t, unsigned k) {
  const uint32_t step = k ? t->element_stride[k] : 1;
  return k < t->rank ? (t->box[k] + step - 1) / step : 1;
}

/* All elements of the box, in order; returns their number. */
static size_t visit_box(const hd_tensor *t, const int32_t at[HD_TENSOR_DIMS], uint64_t box_at, visit *out) {
  static const unsigned span[HD_TENSOR_SWIZZLES] = {0, 32, 64, 128, 128, 128, 128};
  const unsigned size = type_bytes[t->type];
  uint32_t n[HD_TENSOR_DIMS];
  size_t count = 0;
  for (unsigned k = 0; k < HD_TENSOR_DIMS; k++) n[k] = steps_of(t, k);
  const uint64_t pitch = span[t->swizzle] ? span[t->swizzle] : (uint64_t)n[0] * size;
  for (uint32_t e = 0; e < n[4]; e++)
    for (uint32_t d = 0; d < n[3]; d++)
      for (uint32_t c = 0; c < n[2]; c++)
        for (uint32_t b = 0; b < n[1]; b++)
          for (uint32_t a = 0; a < n[0]; a++) {
            const uint32_t index[HD_TENSOR_DIMS] = {a, b, c, d, e};
            const uint64_t row = ((e * (uint64_t)n[3] + d) * n[2] + c) * n[1] + b;
            visit v = {.shared = place(t->swizzle, box_at + row * pitch + (uint64_t)a * size)};
            for (unsigned k = 0; k < t->rank; k++) {
              const int64_t x = at[k] + (int64_t)index[k] * (k ? t->element_stride[k] : 1);
              if (x < 0 || x >= (int64_t)t->dim[k])
                v.global = UINT64_MAX;
              else if (v.global != UINT64_MAX)
                v.global += (uint64_t)x * (k ? t->stride[k - 1] : size);
            }
            out[count++] = v;
          }
  return count;
}

/* ---- Random tensors --------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state, uint64_t n) { return hd_random_at(77, (*state)++) % n; }

static void random_tensor(uint64_t *s, unsigned rank, hd_tensor *t, int32_t at[HD_TENSOR_DIMS]) {
  *t = (hd_tensor){.rank = rank, .type = (hd_tensor_type)draw(s, HD_TENSOR_F32_FTZ)};
  t->swizzle = (hd_tensor_swizzle)draw(s, HD_TENSOR_SWIZZLES);
  const unsigned size = type_bytes[t->type], widest[HD_TENSOR_SWIZZLES] = {256, 32, 64, 128, 128, 128, 128};
  unsigned most = widest[t->swizzle] / 16;
  if (most * 16 > 256 * size) most = 256 * size / 16;
  t->box[0] = (uint32_t)(1 + draw(s, most)) * 16 / size;
  t->dim[0] = 1 + draw(s, 60);
  uint64_t stride = (t->dim[0] * size + 15) / 16 * 16;
  for (unsigned k = 1; k < rank; k++) {
    t->dim[k] = 1 + draw(s, rank > 3 ? 3 : 6);
    t->element_stride[k] = draw(s, 3) ? 1 : 1 + (uint32_t)draw(s, 8);
    t->box[k] = 1 + (uint32_t)draw(s, 4);
    t->stride[k - 1] = stride + 16 * draw(s, 3);
    stride = t->stride[k - 1] * t->dim[k];
  }
  t->element_stride[0] = 1 + (uint32_t)draw(s, 8);
  if (t->type == HD_TENSOR_F16 || t->type == HD_TENSOR_F32 || t->type == HD_TENSOR_F64 ||
      t->type == HD_TENSOR_BF16)
    t->fill = (hd_tensor_fill)draw(s, 2);
  for (unsigned k = 0; k < HD_TENSOR_DIMS; k++) at[k] = (int32_t)draw(s, t->dim[k < rank ? k : 0] + 6) - 4;
  if (draw(s, 20) == 0) at[draw(s, rank)] = draw(s, 2) ? INT32_MAX : INT32_MIN;
}

static bool is_nan(hd_tensor_type type, const unsigned char *p) {
  uint64_t v = 0;
  memcpy(&v, p, type_bytes[type]);
  switch (type) {
  case HD_TENSOR_F16: return (v & 0x7fff) > 0x7c00;
  case HD_TENSOR_BF16: return (v & 0x7fff) > 0x7f80;
  case HD_TENSOR_F32: return (v & 0x7fffffff) > 0x7f800000;
  default: return (v & INT64_MAX) > 0x7ff0000000000000;
  }
}

typedef struct scene {
  async_machine x;
  uint64_t address; /* of the data */
  hd_tensor t;
  orders o;
  unsigned char data[DATA], want[DATA], shown[REGION];
  visit visits[REGION];
  size_t n;
} scene;

/* A fresh tensor, of integers that are summed if need be, and data. */
static void stage(scene *c, uint64_t *s, unsigned rank, bool sum) {
  uint64_t end;
  do {
    random_tensor(s, rank, &c->t, c->o.at);
    c->t.address = c->address;
    if (sum) {
      c->t.type = (hd_tensor_type[]){HD_TENSOR_U32, HD_TENSOR_S32, HD_TENSOR_U64}[draw(s, 3)];
      c->t.fill = HD_TENSOR_FILL_ZERO;
    }
    c->o.at_offset = BOX_AT + 128 * (uint32_t)draw(s, 8);
    c->n = visit_box(&c->t, c->o.at, c->o.at_offset - BOX_AT, c->visits);
    end = c->t.dim[0] * type_bytes[c->t.type];
    if (rank > 1) /* rows must not overlap */
      end = c->t.stride[0] < end ? UINT64_MAX : c->t.stride[rank - 2] * c->t.dim[rank - 1];
  } while (end > DATA || hd_emu_tensor_map(&c->t, c->x.args.map, &c->x.d) != HD_OK);
  for (unsigned k = 0; k < DATA; k++) c->data[k] = (unsigned char)(hd_random_at(*s, k / 8) >> k % 8);
  for (unsigned k = 0; k < REGION; k++)
    c->o.shared[k] = (unsigned char)(hd_random_at(*s + 1, k / 8) >> k % 8);
  c->o.expect = 0;
  async_ok(&c->x, hd_emu_write(c->x.e, c->address, c->data, DATA, &c->x.d));
}
static void open_scene(scene *c) {
  async_buffer(&c->x, &c->x.args.in, NULL, sizeof c->o);
  async_buffer(&c->x, &c->x.args.out, NULL, REGION);
  async_buffer(&c->x, &c->address, NULL, DATA);
}
static void play(scene *c) {
  hd_diag *d = &c->x.d;
  async_ok(&c->x, hd_emu_write(c->x.e, c->x.args.in, &c->o, sizeof c->o, d));
  async_ok(&c->x, async_launch(&c->x, 256, NULL));
  async_ok(&c->x, hd_emu_read(c->x.e, c->x.args.out, c->shown, REGION, d));
}

static void loads_follow_the_loops(void **state) {
  static scene c;
  uint64_t s = 0, outside = 0;
  for (unsigned rank = 1; rank <= HD_TENSOR_DIMS; rank++) {
    open_load(&c.x, rank);
    open_scene(&c);
    for (unsigned round = 0; round < 60; round++) {
      stage(&c, &s, rank, false);
      const unsigned size = type_bytes[c.t.type];
      c.o.expect = (uint32_t)(c.n * size);
      play(&c);
      memcpy(c.want, c.o.shared, REGION);
      for (size_t k = 0; k < c.n; k++) {
        const visit v = c.visits[k];
        unsigned char *at = c.want + v.shared;
        if (v.global != UINT64_MAX) {
          memcpy(at, c.data + v.global, size);
        } else {
          outside++;
          memset(at, 0, size);
          if (c.t.fill == HD_TENSOR_FILL_NAN) {
            assert_true(is_nan(c.t.type, c.shown + v.shared));
            memcpy(at, c.shown + v.shared, size);
          }
        }
      }
      if (memcmp(c.shown, c.want, REGION)) {
        size_t k = 0;
        while (c.shown[k] == c.want[k]) k++;
        fail_msg("rank %u, round %u: swizzle %d, type %d: byte %zu is %02x, not %02x", rank, round,
                 (int)c.t.swizzle, (int)c.t.type, k, c.shown[k], c.want[k]);
      }
    }
    async_close(&c.x);
  }
  assert_true(outside > 1000);
}

/* Sums of integers wrap; the other types are not reduced here. */
static void add(hd_tensor_type type, unsigned char *to, const unsigned char *from) {
  uint64_t a = 0, b = 0;
  memcpy(&a, to, type_bytes[type]);
  memcpy(&b, from, type_bytes[type]);
  a += b;
  memcpy(to, &a, type_bytes[type]);
}

static void stores_and_sums_follow_the_loops(void **state) {
  static scene c;
  uint64_t s = 1000000, inside = 0;
  for (unsigned k = 0; k < 2 * HD_TENSOR_DIMS; k++) {
    const unsigned rank = 1 + k / 2;
    const bool sum = k % 2;
    open_store(&c.x, rank, sum ? ".add" : "");
    open_scene(&c);
    for (unsigned round = 0; round < 30; round++) {
      stage(&c, &s, rank, sum);
      const unsigned size = type_bytes[c.t.type];
      play(&c);
      memcpy(c.want, c.data, DATA);
      for (size_t v = 0; v < c.n; v++) {
        if (c.visits[v].global == UINT64_MAX) continue;
        inside++;
        if (sum)
          add(c.t.type, c.want + c.visits[v].global, c.o.shared + c.visits[v].shared);
        else
          memcpy(c.want + c.visits[v].global, c.o.shared + c.visits[v].shared, size);
      }
      assert_memory_equal(hd_emu_ptr(c.x.e, c.address, DATA), c.want, DATA);
      assert_memory_equal(c.shown, c.o.shared, REGION);
    }
    async_close(&c.x);
  }
  assert_true(inside > 1000);
}

/* Bytes that prefetches name; those outside the tensor are not named. */
static void listen(void *ctx, unsigned worker, const hd_access *a) {
  uint64_t *bytes = ctx;
  if (a->kind == HD_ACCESS_PREFETCH) *bytes += (uint64_t)__builtin_popcount(a->mask) * a->bytes;
}

static void prefetches_name_what_is_inside(void **state) {
  static scene c;
  uint64_t s = 2000000, heard = 0, all = 0;
  const hd_emu_hooks hooks = {.ctx = &heard, .spaces = 1 << HD_SPACE_GLOBAL, .access = listen};
  open_copy(&c.x, "cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%map, {%r2, %r3, %r4}];");
  open_scene(&c);
  for (unsigned round = 0; round < 100; round++) {
    stage(&c, &s, 3, false);
    async_ok(&c.x, hd_emu_write(c.x.e, c.x.args.in, &c.o, sizeof c.o, &c.x.d));
    heard = 0;
    async_ok(&c.x, async_launch(&c.x, 256, &hooks));
    uint64_t inside = 0;
    for (size_t k = 0; k < c.n; k++) inside += c.visits[k].global != UINT64_MAX ? type_bytes[c.t.type] : 0;
    assert_int_equal(heard, inside);
    all += inside;
  }
  if (all <= 500) fail_msg("only %llu bytes were inside", (unsigned long long)all);
  async_close(&c.x);
}

/* ---- Maps made by kernels ------------------------------------------------------------------------ */

/* As Triton makes a descriptor: zeros in shared memory, one thread replaces, a warp copies it out. */
#define MAKE_MAP(edit)                                                                                       \
  "mov.u32 %r0, smem;\nmov.u32 %r9, 0;\nsetp.lt.u32 %p3, %t, 32;\nshl.b32 %r8, %t, 2;\nadd.u32 %r8, %r8, "   \
  "%r0;\n"                                                                                                   \
  "@%p3 st.shared.b32 [%r8+256], %r9;\nbar.warp.sync -1;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra made;\n"         \
  "cvt.u64.u32 %d8, %r0;\n"                                                                                  \
  "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%d8+256], %in;\n"                            \
  "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d8+256], 1;\nmov.u32 %r2, 8;\nmov.u32 %r3, 1;\n"      \
  "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 0, %r2;\n"                                \
  "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 1, 4;\n"                                  \
  "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d8+256], 0, 16;\n"                              \
  "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d8+256], 1, 16;\nmov.u64 %d3, 64;\n"            \
  "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d8+256], 0, %d3;\n"                          \
  "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d8+256], 0, %r3;\n"                         \
  "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%d8+256], 1, %r3;\n"                         \
  "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%d8+256], 7;\n"                                    \
  "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%d8+256], 0;\n"                           \
  "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%d8+256], 0;\n"                                \
  "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%d8+256], 0;\n" edit                              \
  "\nmade:\nbar.warp.sync -1;\n"                                                                             \
  "@%p3 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], "     \
  "[%r0+256], 128;\n@%p3 fence.proxy.tensormap::generic.acquire.gpu [%out], 128;\n@%p2 bra meet;\n"          \
  "mbarrier.init.shared.b64 [%r0], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r0], 128;\n"                \
  "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r0+1024], [%out, {4, -1}], "    \
  "[%r0];\n"                                                                                                 \
  "meet:\nbar.sync 0;\n"
enum { EDIT_LINE = 26, USE_LINE = 34 };

static void kernels_make_maps(void **state) {
  static const char body[] =
      MAKE_MAP("") "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 0;\n@!%p1 bra wait;\n"
                   "@!%p3 ret;\nld.shared.u32 %r1, [%r8+1024];\nshl.b32 %r2, %t, 2;\n"
                   "cvt.u64.u32 %d1, %r2;\nadd.u64 %d1, %d1, %out;\nst.global.u32 [%d1+128], %r1;";
  async_machine x;
  uint32_t in[256];
  for (uint32_t k = 0; k < 256; k++) in[k] = 1 + k;
  async_open(&x, body, HD_CHECK_ALL);
  async_buffer(&x, &x.args.in, in, sizeof in);
  const uint32_t *out = async_buffer(&x, &x.args.out, NULL, 256);
  async_ok(&x, async_launch(&x, 128, NULL));
  /* A box of 4 rows of 8 from row -1, column 4. */
  for (uint32_t k = 0; k < 32; k++)
    assert_int_equal(out[32 + k], k < 8 ? 0 : in[(k / 8 - 1) * 16 + 4 + k % 8]);
  async_close(&x);
}

/* Triton leaves out fields whose value is 0, in a map of zeros: one dimension, of bytes. */
static void fields_left_at_zero_have_their_meaning(void **state) {
  static const char body[] =
      "mov.u32 %r0, smem;\nmov.u32 %r9, 0;\nshl.b32 %r8, %t, 2;\nadd.u32 %r8, %r8, %r0;\n"
      "st.shared.b32 [%r8+256], %r9;\nbar.warp.sync -1;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra made;\n"
      "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r0+256], %in;\n"
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r0+256], 0, 16;\n"
      "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r0+256], 0, 20;\n"
      "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r0+256], 0, 1;\nmade:\nbar.warp.sync "
      "-1;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], "
      "[%r0+256], 128;\n@%p2 ret;\nmbarrier.init.shared.b64 [%r0], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %state, [%r0], 16;\n"
      "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r0+1024], [%out, {7}], "
      "[%r0];\n"
      "wait: mbarrier.try_wait.shared.b64 %p1, [%r0], %state;\n@!%p1 bra wait;\n"
      "ld.shared.v2.u64 {%d1, %d2}, [%r0+1024];\nst.global.v2.u64 [%out+128], {%d1, %d2};";
  async_machine x;
  unsigned char in[32];
  for (unsigned k = 0; k < 32; k++) in[k] = (unsigned char)(k + 1);
  async_open(&x, body, HD_CHECK_ALL);
  async_buffer(&x, &x.args.in, in, sizeof in);
  const unsigned char *out = async_buffer(&x, &x.args.out, NULL, 256);
  async_ok(&x, async_launch(&x, 32, NULL));
  for (unsigned k = 0; k < 16; k++) assert_int_equal(out[128 + k], k < 13 ? k + 8 : 0);
  async_close(&x);
}

static void bad_maps_are_faults(void **state) {
  async_must_fault(MAKE_MAP("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d8+256], 5;"), 32, EDIT_LINE,
                   "rank field 5, not 0 to 4");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 5, 1;"), 32,
                   EDIT_LINE, "it names dimension 5 of at most 5");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d8+256], 4, 16;"),
                   32, EDIT_LINE, "it names dimension 4 of at most 4");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%d8+256], 13;"), 32,
                   EDIT_LINE, "element type b4x16 is not emulated");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%d8+256], 4;"), 32,
                   EDIT_LINE, "swizzle 96B is not emulated");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d8+256], 2;"), 32, USE_LINE,
                   "the size of dimension 2 was never set");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d8+256], 0;"), 32, USE_LINE,
                   "has 1 dimensions, the instruction 2");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d8+256], 0, 24;"),
                   32, USE_LINE, "the stride of dimension 1 is 24 bytes: not a multiple of 16");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 0, 0;"), 32,
                   USE_LINE, "the box has 0 elements along dimension 0");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%d8+256], 1;\n"
                            "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%d8+256], 2;"),
                   32, USE_LINE + 1, "only floating-point elements can be filled with NaN");
  async_must_fault(MAKE_MAP("st.shared.b32 [%r0+256], 0x12345678;"), 32, USE_LINE,
                   "no tensor map of the emulator's");
  async_must_fault(
      MAKE_MAP("mov.u64 %d5, 0x1000;\ntensormap.replace.tile.global_address.shared::cta.b1024.b64 [%d8+256], "
               "%d5;"),
      32, USE_LINE + 1, "out of bounds: load of 16 bytes at 0x10");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%d8+256], 1, 0;\n"
                            "mov.u64 %d5, 0xfffffffff0;\n"
                            "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%d8+256], 0, %d5;"),
                   32, USE_LINE + 2, "out of bounds");
  async_must_fault(MAKE_MAP("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 0, 256;\n"
                            "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%d8+256], 1, 256;"),
                   32, USE_LINE + 1, "has 262144 bytes, more than shared memory");
  async_must_fault("tensormap.replace.tile.rank.global.b1024.b32 [%out+64], 1;", 1, 0, "never written");
  async_must_fault("tensormap.replace.tile.rank.global.b1024.b32 [%in+32], 1;", 1, 0,
                   "not aligned to 64 bytes");
#define USE(dst, map)                                                                                        \
  "mov.u32 %r0, smem;\nmbarrier.init.shared.b64 [%r0], 1;\n"                                                 \
  "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [" dst "], [" map                 \
  ", {0}], [%r0];"
  async_must_fault(USE("%r0+128", "%map"), 1, 2, "its address was never set");
  async_must_fault(USE("%r0+128", "%in"), 1, 2, "its address was never set");
  async_must_fault(USE("%r0+128", "%map+32"), 1, 2, "not aligned to 64 bytes");
  async_must_fault(USE("%r0+128", "%map+64"), 1, 2, "out of bounds");
  async_must_fault("mov.u32 %r0, smem;\nmov.u32 %r1, 0;\nst.shared.v4.u32 [%r0], {%r1, %r1, %r1, %r1};\n"
                   "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%map, {0}], [%r0];",
                   1, 3, "its address was never set");
}

/* ---- Maps made by the host --------------------------------------------------------------------- */

static void the_host_is_told_what_is_wrong(void **state) {
  static const hd_tensor good = {.address = 256,
                                 .type = HD_TENSOR_F16,
                                 .rank = 3,
                                 .dim = {64, 32, 8},
                                 .stride = {128, 4096},
                                 .box = {64, 16, 2},
                                 .element_stride = {1, 1, 1},
                                 .swizzle = HD_TENSOR_SWIZZLE_128B};
  unsigned char map[HD_TENSOR_MAP_BYTES];
  hd_diag d = {0};
  assert_int_equal(hd_emu_tensor_map(&good, map, &d), HD_OK);
#define BAD(change, words)                                                                                   \
  do {                                                                                                       \
    hd_tensor t = good;                                                                                      \
    change;                                                                                                  \
    assert_int_equal(hd_emu_tensor_map(&t, map, &d), HD_ERR_USAGE);                                          \
    if (!strstr(d.message, words)) fail_msg("no \"%s\" in: %s", words, d.message);                           \
    assert_int_equal(hd_tensor_check(&t, NULL), HD_ERR_USAGE);                                               \
  } while (0)
  BAD(t.address = 8, "address 0x8 is no multiple of 16");
  BAD(t.rank = 0, "the rank is 0, not 1 to 5");
  BAD(t.rank = 6, "the rank is 6, not 1 to 5");
  BAD(t.type = HD_TENSOR_TYPES, "element type 13 is unknown");
  BAD(t.type = (hd_tensor_type)-1, "element type -1 is unknown");
  BAD(t.dim[1] = 0, "dimension 1 has 0 elements");
  BAD(t.dim[2] = UINT64_C(1) << 33, "dimension 2 has 8589934592 elements");
  BAD(t.stride[0] = 120, "the stride of dimension 1 is 120 bytes");
  BAD(t.stride[1] = UINT64_C(1) << 40, "the stride of dimension 2");
  BAD(t.box[1] = 257, "the box has 257 elements along dimension 1");
  BAD(t.box[0] = 0, "the box has 0 elements along dimension 0");
  BAD(t.box[0] = 4, "the box has 8 bytes along dimension 0, no multiple of 16");
  BAD(t.box[0] = 72, "the box has 144 bytes along dimension 0, more than the 128 of the swizzle");
  BAD(t.element_stride[2] = 9, "the element stride of dimension 2 is 9");
  BAD(t.element_stride[0] = 0, "the element stride of dimension 0 is 0");
  BAD(t.swizzle = HD_TENSOR_SWIZZLES, "swizzle 7 is unknown");
  BAD(t.promotion = (hd_tensor_promotion)4, "L2 promotion 4 is unknown");
  BAD(t.fill = (hd_tensor_fill)2, "fill 2 is unknown");
  BAD((t.fill = HD_TENSOR_FILL_NAN, t.type = HD_TENSOR_U16), "only floating-point");
  BAD((t.interleave = HD_TENSOR_INTERLEAVE_16B, t.rank = 2), "rank of at least 3");
  BAD(t.interleave = HD_TENSOR_INTERLEAVE_32B, "interleave 32B needs swizzle 32B");
  BAD((t.interleave = HD_TENSOR_INTERLEAVE_32B, t.swizzle = HD_TENSOR_SWIZZLE_32B, t.address = 16),
      "no multiple of 32");
  hd_tensor large = good;
  large.dim[0] = UINT64_C(1) << 32;
  large.stride[0] = (UINT64_C(1) << 40) - 16;
  assert_int_equal(hd_emu_tensor_map(&large, map, &d), HD_OK);
}

static void a_map_moves_to_another_address(void **state) {
  hd_tensor t = {
      .address = 256, .type = HD_TENSOR_F32, .rank = 1, .dim = {64}, .box = {16}, .element_stride = {1}};
  unsigned char map[HD_TENSOR_MAP_BYTES], there[HD_TENSOR_MAP_BYTES] = {0};
  hd_diag d = {0};
  assert_int_equal(hd_emu_tensor_map(&t, map, &d), HD_OK);
  assert_int_equal(hd_emu_tensor_map_move(map, 4096, &d), HD_OK);
  assert_int_equal(hd_emu_tensor_map_move(there, 4096, &d), HD_ERR_USAGE); /* nothing else is set */
  t.address = 4096;
  assert_int_equal(hd_emu_tensor_map(&t, there, &d), HD_OK);
  assert_memory_equal(map, there, sizeof map);
  assert_int_equal(hd_emu_tensor_map_move(map, 4100, &d), HD_ERR_USAGE);
  assert_memory_equal(map, there, sizeof map);
}

static void unknown_forms_are_refused(void **state) {
#define T "cp.async.bulk.tensor."
#define TX "mbarrier::complete_tx::bytes"
  static const char *const forms[][2] = {
      {T "3d.shared::cta.global.im2col." TX " [%r1], [%d1, {0, 0, 0}], [%r2], {%r3}",
       ".im2col is not emulated"},
      {T "2d.shared::cta.global.tile::gather4." TX " [%r1], [%d1, {0, 0}], [%r2]", "and 5 coordinates"},
      {T "2d.global.shared::cta.tile::scatter4.bulk_group [%d1, {0, 0}], [%r1]", "and 5 coordinates"},
      {T "2d.shared::cta.global." TX ".multicast::cluster [%r1], [%d1, {0, 0}], [%r2], 3", "no such form"},
      {T "2d.global.shared::cta.tile.bulk_group.cta_group::1 [%d1, {0, 0}], [%r1]", "no such form"},
      {T "2d.shared::cta.global." TX " [%r1], [%d1, {0}], [%r2]", "no tensor map and 2 coordinates"},
      {T "2d.shared::cta.global." TX " [%r1], [%d1], [%r2]", "no tensor map and 2 coordinates"},
      {T "2d.shared::cta.global." TX " [%r1], [%d1, {0, %d2}], [%r2]", "has 64 bits"},
      {T "2d.shared::cta.global." TX " [%r1], [%r2, {0, 0}], [%r2]", "holds no address"},
      {T "2d.shared::cta.global." TX " [%r1], [%d1, {0, 0}]", "operands"},
      {T "2d.global.shared::cta." TX " [%d1, {0, 0}], [%r1], [%r2]", "no such form"},
      {T "shared::cta.global." TX " [%r1], [%d1, {0, 0}], [%r2]", "no such form"},
      {T "2d.shared::cluster.shared::cta." TX " [%r1], [%d1, {0, 0}], [%r2]", "no such form"},
      {"cp.async.bulk.2d.shared::cta.global." TX " [%r1], [%d1, {0, 0}], [%r2]", "no such form"},
      {"cp.reduce.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {0, 0}], [%r1]", "no such form"},
      {"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.f32.bulk_group [%d1, {0, 0}], [%r1]",
       "no such form"},
      {"tensormap.replace.tile.rank.shared::cta.b1024.b64 [%d1], 1", "no such form"},
      {"tensormap.replace.tile.shared::cta.b1024.b32 [%d1], 1", "no such form"},
      {"tensormap.replace.im2col.rank.global.b1024.b32 [%d1], 1", ".im2col is not emulated"},
      {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 1", "operands"},
      {"tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1, 1", "operands"},
      {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], "
       "64",
       "a tensor map has 128 bytes"},
      {"fence.proxy.brandnew", ".brandnew is not emulated"},
      {"fence.proxy.async [%d1]", "operands"},
      {"fence.proxy.tensormap::generic.acquire.gpu [%d1]", "operands"},
      {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.odd [%d1], [%r1], 128",
       ".odd is not emulated"},
      {"tensormap.cp_fenceproxy.global.release.gpu.sync.aligned [%d1], [%r1], 128", "no such form"},
  };
  for (unsigned k = 0; k < sizeof forms / sizeof forms[0]; k++) async_must_refuse(forms[k][0], forms[k][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loads of boxes follow loops over their elements", loads_follow_the_loops),
      BEHAVIOUR("stores and sums follow loops over their elements", stores_and_sums_follow_the_loops),
      BEHAVIOUR("prefetches name what is inside the tensor", prefetches_name_what_is_inside),
      BEHAVIOUR("kernels make maps of their own", kernels_make_maps),
      BEHAVIOUR("fields left at zero have their meaning", fields_left_at_zero_have_their_meaning),
      BEHAVIOUR("bad maps are faults with the reason", bad_maps_are_faults),
      BEHAVIOUR("the host is told what is wrong with a tensor", the_host_is_told_what_is_wrong),
      BEHAVIOUR("a map moves to another address", a_map_moves_to_another_address),
      BEHAVIOUR("unknown forms are refused by name", unknown_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
