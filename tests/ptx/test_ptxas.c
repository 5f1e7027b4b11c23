/* ptxas refuses what valid.def refuses: instances of its rows, each on a line of its own of a file, so that
 * one run of ptxas judges many. */
#include <unistd.h>

#include "ptx_test.h"

#include "heddle/ptx_valid.h"

static const char registers[] =
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; "
    ".reg .f32 %f<9>; .reg .f64 %g<9>; .reg .s64 %l<4>; .reg .u16 %c<4>; "
    ".reg .f16x2 %x<4>; .shared .align 16 .b8 s[64]; .local .align 16 .b8 lo[64];";
static const char *const types[] = {"b16", "b32", "b64", "u16", "u32", "u64", "s16",   "s32", "s64",
                                    "f16", "f32", "f64", "b8",  "u8",  "s8",  "f16x2", "pred"};
static const char *const kinds[] = {"p", "h", "r", "d", "f", "g", "l", "c", "x"};

/* T: the type; A: a register of the kind. */
static const char *const typed[] = {"mov.T A1, A2",
                                    "add.T A1, A2, A3",
                                    "sub.T A1, A2, A3",
                                    "mul.lo.T A1, A2, A3",
                                    "mul.T A1, A2, A3",
                                    "mul.rn.T A1, A2, A3",
                                    "mad.lo.T A1, A2, A3, A1",
                                    "fma.rn.T A1, A2, A3, A1",
                                    "div.T A1, A2, A3",
                                    "div.rn.T A1, A2, A3",
                                    "rem.T A1, A2, A3",
                                    "min.T A1, A2, A3",
                                    "max.T A1, A2, A3",
                                    "abs.T A1, A2",
                                    "neg.T A1, A2",
                                    "and.T A1, A2, A3",
                                    "or.T A1, A2, A3",
                                    "xor.T A1, A2, A3",
                                    "not.T A1, A2",
                                    "shl.T A1, A2, %r1",
                                    "shr.T A1, A2, %r1",
                                    "brev.T A1, A2",
                                    "bfe.T A1, A2, %r1, %r2",
                                    "popc.T %r1, A1",
                                    "clz.T %r1, A1",
                                    "selp.T A1, A2, A3, %p1",
                                    "setp.lt.T %p1, A1, A2",
                                    "rcp.rn.T A1, A2",
                                    "sqrt.rn.T A1, A2",
                                    "rsqrt.approx.T A1, A2",
                                    "sin.approx.T A1, A2",
                                    "ex2.approx.T A1, A2",
                                    "tanh.approx.T A1, A2",
                                    "copysign.T A1, A2, A3",
                                    "addc.T A1, A2, A3",
                                    "atom.global.add.T A1, [%d1], A2",
                                    "ld.global.T A1, [%d1]",
                                    "ld.shared.T A1, [%r1]",
                                    "st.global.T [%d1], A1"};

/* Words, operands and names that suit each other, and others. */
static const char *const whole[] = {
    "add.u32 %r1, %r2",
    "add.u32 %r1, %r2, %r3, %r1",
    "add.u32 1, %r1, %r2",
    "add.u32 %r1, %r2, -1",
    "add.u32 %r1, %r1, 1.5",
    "add.f32 %f1, %f1, 1",
    "add.f32 %f1, %f1, 1.0",
    "add.f32 %f1, %f1, 0d3FF0000000000000",
    "add.rn.u32 %r1, %r2, %r1",
    "add.sat.u32 %r1, %r2, %r1",
    "add.sat.s32 %r1, %r2, %r1",
    "add.ftz.s32 %r1, %r2, %r1",
    "add.ftz.f64 %g1, %g1, %g1",
    "add.cc.f32 %f1, %f1, %f1",
    "add.cc.u32 %r1, %r1, %r1",
    "mov.u32 %r1",
    "mov.u32 %r1, nowhere",
    "mov.u32 %r1, %nowhere",
    "mov.f32 %f1, 1",
    "mov.u32 %r1, 0f3F800000",
    "mov.b32 %r1, 0f3F800000",
    "ret %r1",
    "ret",
    "bra nowhere",
    "@%r1 ret",
    "@!%p1 ret",
    "call nowhere",
    "ld.global.u32 %r1, %d1",
    "ld.global.u32 %r1, [nowhere]",
    "ld.global.u32 %r1, [%d1]",
    "ld.global.u32 [%d1], %r1",
    "ld.global.shared.u32 %r1, [%d1]",
    "ld.shared.u32 %r1, [lo]",
    "ld.local.u32 %r1, [s]",
    "ld.shared.u32 %r1, [s + 4]",
    "ld.u32 %r1, [%d1]",
    "ld.relaxed.global.u32 %r1, [%d1]",
    "ld.volatile.cg.global.u32 %r1, [%d1]",
    "ld.global.nc.u32 %r1, [%d1]",
    "ld.shared.nc.u32 %r1, [s]",
    "ld.release.gpu.global.u32 %r1, [%d1]",
    "st.global.u32 %d1, %r1",
    "st.global.f32 [%d1], 0",
    "st.global.f32 [%d1], 0.0",
    "st.acquire.gpu.global.u32 [%d1], %r1",
    "st.const.u32 [%d1], %r1",
    "fma.f32 %f1, %f1, %f1, %f1",
    "fma.rn.f32 %f1, %f1, %f1, %f1",
    "mul.u32 %r1, %r1, %r1",
    "mul.lo.f32 %f1, %f1, %f1",
    "mul.hi.u64 %d1, %d1, %d1",
    "div.f32 %f1, %f1, %f1",
    "div.full.f32 %f1, %f1, %f1",
    "sqrt.f32 %f1, %f1",
    "sin.f32 %f1, %f1",
    "rcp.approx.ftz.f64 %g1, %g1",
    "neg.u32 %r1, %r1",
    "abs.s64 %d1, %d1",
    "cvt.f32.s32 %f1, %r1",
    "cvt.rn.f32.s32 %f1, %r1",
    "cvt.rn.f32.s32 %f1, 3",
    "cvt.s32.f32 %r1, %f1",
    "cvt.rzi.s32.f32 %r1, %f1",
    "cvt.f32.f64 %f1, %g1",
    "cvt.rz.f32.f64 %f1, %g1",
    "cvt.f64.f32 %g1, %f1",
    "cvt.f32.f16 %f1, %h1",
    "cvt.rni.f32.f32 %f1, %f1",
    "cvt.sat.u8.s32 %r1, %r1",
    "setp.lt.b32 %p1, %r1, %r1",
    "setp.eq.b32 %p1, %r1, %r1",
    "setp.lo.s32 %p1, %r1, %r1",
    "setp.ltu.s32 %p1, %r1, %r1",
    "setp.ltu.f32 %p1, %f1, %f1",
    "setp.eq.u32 %p1|%p2, %r1, %r2",
    "selp.b32 %r1, %r1, %r1",
    "selp.f32 %f1, 0, 1, %p1",
    "bar.sync",
    "bar.sync 0, 64",
    "bar.arrive 0",
    "bar.arrive 0, 64",
    "bar.red.popc.u32 %r1, 0",
    "bar.red.popc.u32 %r1, 0, %p1",
    "bar.warp.sync -1",
    "membar",
    "membar.gl",
    "griddepcontrol",
    "atom.global.add.s64 %d1, [%d1], %d1",
    "atom.global.add.u64 %d1, [%d1], %d1",
    "atom.global.min.f32 %f1, [%d1], %f1",
    "atom.global.and.u32 %r1, [%d1], %r1",
    "atom.global.and.b32 %r1, [%d1], %r1",
    "atom.global.inc.s32 %r1, [%d1], %r1",
    "atom.global.inc.u32 %r1, [%d1], %r1",
    "atom.global.cas.u32 %r1, [%d1], %r1, %r1",
    "atom.global.cas.b16 %h1, [%d1], %h1, %h1",
    "atom.global.exch.f32 %f1, [%d1], %f1",
    "atom.global.exch.b64 %d1, [%d1], %d1",
    "atom.local.add.u32 %r1, [lo], %r1",
    "red.global.exch.b32 [%d1], %r1",
    "red.global.max.s64 [%d1], %d1",
    "shfl.sync.idx.b32 %r1, %r1, 0, 31",
    "shfl.sync.b32 %r1, %r1, 0, 31, -1",
    "shfl.sync.up.b32 %r1|%p1, %r1, 1, 0, -1",
    "vote.sync.ballot.pred %p1, %p1, -1",
    "vote.sync.all.b32 %r1, %p1, -1",
    "lop3.b32 %r1, %r1, %r1, %r1",
    "bfi.u32 %r1, %r1, %r1, %r1, %r1",
    "bfind.b32 %r1, %r1",
    "cvta.global.f64 %g1, %g1",
    "exit %r1",
    "trap",
    "mbarrier.init.shared.b64 [s]",
    "mbarrier.init.shared.b64 [s], 1",
};

/* Each operand, a register of the kind that stands for it here, becomes one of each other kind in turn. */
static const char *const operands[] = {
    "mul.wide.u32 %d, %r, %r",
    "mad.wide.s16 %r, %h, %h, %r",
    "mul24.lo.u32 %r, %r, %r",
    "shl.b64 %d, %d, %r",
    "shr.s32 %r, %r, %r",
    "shf.l.wrap.b32 %r, %r, %r, %r",
    "prmt.b32 %r, %r, %r, %r",
    "lop3.b32 %r, %r, %r, %r, 0x80",
    "bfe.s64 %d, %d, %r, %r",
    "bfi.b32 %r, %r, %r, %r, %r",
    "bfind.u64 %r, %d",
    "popc.b64 %r, %d",
    "clz.b32 %r, %r",
    "fns.b32 %r, %r, %r, %r",
    "dp4a.u32.s32 %r, %r, %r, %r",
    "dp2a.lo.u32.u32 %r, %r, %r, %r",
    "setp.lt.u32 %p, %r, %r",
    "setp.lt.and.f32 %p, %f, %f, %p",
    "selp.b64 %d, %d, %d, %p",
    "testp.finite.f64 %p, %g",
    "slct.f32.s32 %f, %f, %f, %r",
    "slct.u64.f32 %d, %d, %d, %f",
    "set.lt.u32.f32 %r, %f, %f",
    "set.lt.and.f32.s32 %f, %r, %r, %p",
    "cvt.u32.u64 %r, %d",
    "cvt.u16.s32 %h, %r",
    "cvt.rn.f32.s32 %f, %r",
    "cvt.rzi.u64.f32 %d, %f",
    "cvt.f64.f32 %g, %f",
    "cvt.rn.f16.f32 %h, %f",
    "cvt.rn.f16x2.f32 %r, %f, %f",
    "cvta.to.global.u64 %d, %d",
    "atom.global.cas.b64 %d, [%d], %d, %d",
    "atom.global.add.f32 %f, [%d], %f",
    "red.global.add.u64 [%d], %d",
    "ld.global.u32 %r, [%d]",
    "ld.shared.f32 %f, [%r]",
    "st.global.u8 [%d], %h",
    "shfl.sync.idx.b32 %r, %r, %r, %r, %r",
    "vote.sync.ballot.b32 %r, %p, %r",
    "vote.sync.any.pred %p, %p, %r",
    "redux.sync.min.s32 %r, %r, %r",
    "activemask.b32 %r",
    "bar.sync %r, %r",
    "bar.arrive %r, %r",
    "barrier.sync %r",
    "bar.warp.sync %r",
    "mbarrier.arrive.shared.b64 %d, [%r]",
    "mbarrier.test_wait.shared.b64 %p, [%r], %d",
    "mbarrier.try_wait.parity.shared.b64 %p, [%r], %r",
};

static const char *const plain[] = {
    "shfl.sync.idx.b32 %r1, %r2, 1, 31, -1",
    "shfl.idx.b32 %r1, %r2, 1, 31",
    "vote.sync.all.pred %p1, %p2, -1",
    "vote.all.pred %p1, %p2",
    "match.any.sync.b32 %r1, %r2, -1",
    "activemask.b32 %r1",
    "redux.sync.add.s32 %r1, %r2, -1",
    "redux.sync.min.f32 %f1, %f2, -1",
    "elect.sync %r1|%p1, -1",
    "bar.warp.sync -1",
    "barrier.sync 0",
    "barrier.cluster.arrive",
    "fence.acq_rel.gpu",
    "fence.proxy.alias",
    "fence.proxy.async",
    "fence.mbarrier_init.release.cluster",
    "griddepcontrol.wait",
    "setmaxnreg.inc.sync.aligned.u32 40",
    "nanosleep.u32 %r1",
    "ld.shared::cta.u32 %r1, [%r2]",
    "ld.shared::cluster.u32 %r1, [%r2]",
    "ld.relaxed.gpu.global.u32 %r1, [%d1]",
    "ld.acquire.gpu.global.u32 %r1, [%d1]",
    "st.release.gpu.global.u32 [%d1], %r1",
    "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1]",
    "ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1]",
    "ld.global.L1::no_allocate.u32 %r1, [%d1]",
    "createpolicy.fractional.L2::evict_last.b64 %d1, 1.0",
    "discard.global.L2 [%d1], 128",
    "applypriority.global.L2::evict_normal [%d1], 128",
    "mapa.shared::cluster.u32 %r1, %r2, 0",
    "cp.async.ca.shared.global [%r1], [%d1], 4",
    "cp.async.bulk.commit_group",
    "mbarrier.init.shared.b64 [%r1], 1",
    "mbarrier.try_wait.shared.b64 %p1, [%r1], %d1",
    "multimem.ld_reduce.global.add.u32 %r1, [%d1]",
    "atom.acquire.gpu.global.add.u32 %r1, [%d1], 1",
    "red.relaxed.gpu.global.add.u32 [%d1], 1",
    "atom.global.add.f64 %g1, [%d1], %g2",
    "atom.global.add.noftz.f16x2 %x1, [%d1], %x2",
    "dp4a.u32.u32 %r1, %r2, %r3, %r4",
    "bmsk.clamp.b32 %r1, %r2, %r3",
    "szext.clamp.u32 %r1, %r2, %r3",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x80",
    "tanh.approx.f32 %f1, %f2",
    "ex2.approx.f16 %h1, %h2",
    "add.f16x2 %r1, %r2, %r3",
    "add.bf16x2 %r1, %r2, %r3",
    "min.f16x2 %r1, %r2, %r3",
    "min.u16x2 %r1, %r2, %r3",
    "add.rn.f32x2 %d1, %d2, %d3",
    "max.NaN.f32 %f1, %f2, %f3",
    "max.xorsign.abs.f32 %f1, %f2, %f3",
    "fma.rn.relu.f16x2 %r1, %r2, %r3, %r4",
    "cvt.rn.f16x2.f32 %r1, %f1, %f2",
    "cvt.rn.bf16x2.f32 %r1, %f1, %f2",
    "cvt.rna.tf32.f32 %r1, %f1",
    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2]",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1}",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, "
    "%f3, %f4}",
    "wgmma.fence.sync.aligned",
    "tcgen05.fence::before_thread_sync",
    "stacksave.u64 %d1",
    "not.an.instruction %r1",
};

static const struct {
  const char *version, *target;
} places[] = {{"6.0", "sm_70"},  {"6.3", "sm_75"},   {"7.0", "sm_75"},   {"7.0", "sm_80"},
              {"7.4", "sm_80"},  {"7.8", "sm_80"},   {"7.8", "sm_86"},   {"7.8", "sm_89"},
              {"7.8", "sm_90"},  {"8.0", "sm_90"},   {"8.0", "sm_90a"},  {"8.3", "sm_80"},
              {"8.6", "sm_100"}, {"8.6", "sm_100a"}, {"8.7", "sm_120a"}, {"8.8", "sm_100f"},
              {"8.8", "sm_120"}, {"9.0", "sm_75"},   {"9.0", "sm_90"},   {"9.0", "sm_90a"}};

/* The instances of one file, and where ptxas finds errors. */
typedef struct batch {
  const char *version, *target;
  HD_VEC(char *) lines;
  bool *refused;
} batch;

static void put_head(const batch *b, hd_buf *out) {
  hd_buf_printf(out, ".version %s\n.target %s\n.address_size 64\n.visible .entry k() { %s\n", b->version,
                b->target, registers);
}
enum { FIRST = 5 }; /* the line of the first instance */

static void ask_ptxas(batch *b) {
  char path[] = "/tmp/heddle-ptxas-XXXXXX", line[1024], command[200];
  const int file = mkstemp(path);
  hd_buf text = {0};
  assert_true(file >= 0);
  put_head(b, &text);
  for (size_t k = 0; k < b->lines.n; k++) hd_buf_printf(&text, "%s;\n", b->lines.data[k]);
  hd_buf_puts(&text, "ret; }\n");
  assert_int_equal(write(file, text.data, text.len), (ssize_t)text.len);
  close(file);
  /* A GPU that older targets run on, where the target has none of its own. */
  const unsigned sm = (unsigned)strtoul(b->target + 3, NULL, 10);
  snprintf(command, sizeof command, "ptxas -arch=%s -o /dev/null %s 2>&1", sm < 75 ? "sm_75" : b->target,
           path);
  FILE *f = popen(command, "r");
  assert_non_null(f);
  b->refused = calloc(b->lines.n, sizeof *b->refused);
  while (fgets(line, sizeof line, f)) {
    const char *at = strstr(line, ", line ");
    const unsigned long n = at ? strtoul(at + 7, NULL, 10) : 0;
    if (n >= FIRST && n < FIRST + b->lines.n) b->refused[n - FIRST] = true;
  }
  pclose(f);
  unlink(path);
  hd_buf_free(&text);
}

static bool is_refused(const batch *b, const char *instance, char *why, size_t room) {
  hd_buf text = {0};
  hd_arena a;
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_arena_init(&a);
  put_head(b, &text);
  hd_buf_printf(&text, "%s;\nret; }\n", instance);
  const hd_status st = hd_ptx_parse_valid(text.data, text.len, "instance", &a, &m, &d);
  snprintf(why, room, "%.250s", d.message);
  hd_arena_free(&a);
  hd_buf_free(&text);
  return st != HD_OK;
}

/* How many instances both refuse, and both take. */
typedef struct agreement {
  size_t refused, taken;
} agreement;

static agreement compare(batch *b) {
  agreement both = {0};
  size_t wrong = 0;
  ask_ptxas(b);
  for (size_t k = 0; k < b->lines.n; k++) {
    char why[300];
    const bool ours = is_refused(b, b->lines.data[k], why, sizeof why);
    both.refused += ours && b->refused[k];
    both.taken += !ours && !b->refused[k];
    if (ours && !b->refused[k]) {
      print_error("%s %s: %s: %s\n", b->version, b->target, b->lines.data[k], why);
      wrong++;
    }
    free(b->lines.data[k]);
  }
  assert_int_equal(wrong, 0);
  hd_vec_free(&b->lines);
  free(b->refused);
  return both;
}

static void add(batch *b, const char *instance) {
  char *copy = strdup(instance);
  assert_non_null(copy);
  assert_true(hd_vec_push(&b->lines, copy));
}

static void instantiate(const char *form, const char *type, const char *kind, hd_buf *out) {
  hd_buf_clear(out);
  for (const char *p = form; *p; p++)
    if (*p == 'T')
      hd_buf_puts(out, type);
    else if (*p == 'A')
      hd_buf_printf(out, "%%%s", kind);
    else
      hd_buf_putc(out, *p);
  hd_buf_putc(out, 0);
}

/* `form` with the n-th of its operands of another kind; false: it has fewer. */
static bool with_operand(const char *form, unsigned n, const char *kind, hd_buf *out) {
  bool found = false;
  hd_buf_clear(out);
  for (const char *p = form; *p; p++) {
    hd_buf_putc(out, *p);
    if (*p != '%') continue;
    p++;
    if (n == 0) found = true;
    hd_buf_putc(out, n-- == 0 ? *kind : *p);
    hd_buf_putc(out, '1');
  }
  hd_buf_putc(out, 0);
  return found;
}

static bool has_ptxas(void) { return system("ptxas --version >/dev/null 2>&1") == 0; }

static void ptxas_refuses_the_registers_that_are_refused(void **state) {
  batch b = {.version = "8.6", .target = "sm_100a"};
  hd_buf text = {0};
  (void)state;
  if (!has_ptxas()) skip();
  for (size_t f = 0; f < sizeof typed / sizeof *typed; f++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        instantiate(typed[f], types[t], kinds[k], &text);
        add(&b, text.data);
      }
  const agreement both = compare(&b);
  hd_buf_free(&text);
  assert_true(both.refused >= 1000 && both.taken >= 200);
}

static void ptxas_refuses_the_operands_that_are_refused(void **state) {
  batch b = {.version = "8.6", .target = "sm_100a"};
  hd_buf text = {0};
  (void)state;
  if (!has_ptxas()) skip();
  for (size_t f = 0; f < sizeof operands / sizeof *operands; f++)
    for (unsigned n = 0; with_operand(operands[f], n, kinds[0], &text); n++)
      for (size_t k = 0; *kinds[k] != 'x';
           k++) { /* .f16x2, the last, ptxas takes for other types here and there */
        with_operand(operands[f], n, kinds[k], &text);
        add(&b, text.data);
      }
  const size_t all = b.lines.n;
  const agreement both = compare(&b);
  hd_buf_free(&text);
  /* It refuses some that are not refused here: at most one in 50. */
  assert_true(both.refused >= 700 && both.taken >= 200 && 50 * (all - both.refused - both.taken) <= all);
}

static void ptxas_refuses_the_statements_that_are_refused(void **state) {
  batch b = {.version = "9.0", .target = "sm_90"};
  (void)state;
  if (!has_ptxas()) skip();
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) add(&b, whole[k]);
  const agreement both = compare(&b);
  assert_int_equal(both.refused + both.taken, sizeof whole / sizeof *whole);
}

static void ptxas_refuses_the_instructions_that_are_refused(void **state) {
  size_t refused = 0, taken = 0;
  (void)state;
  if (!has_ptxas()) skip();
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
    batch b = {.version = places[p].version, .target = places[p].target};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) add(&b, plain[k]);
    const agreement both = compare(&b);
    refused += both.refused;
    taken += both.taken;
  }
  assert_true(refused >= 100 && taken >= 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ptxas_refuses_the_registers_that_are_refused),
                                     cmocka_unit_test(ptxas_refuses_the_operands_that_are_refused),
                                     cmocka_unit_test(ptxas_refuses_the_statements_that_are_refused),
                                     cmocka_unit_test(ptxas_refuses_the_instructions_that_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
