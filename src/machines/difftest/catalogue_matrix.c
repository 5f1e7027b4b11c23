/* catalogue_matrix.c: templates of matrix instructions. */
#include "difftest/catalogue.h"

/* ---- Registers ------------------------------------------------------------------------- */

#define REGS1(r) "{%" r "0}"
#define REGS2(r) "{%" r "0, %" r "1}"
#define REGS4(r) "{%" r "0, %" r "1, %" r "2, %" r "3}"
#define REGS8(r) "{%" r "0, %" r "1, %" r "2, %" r "3, %" r "4, %" r "5, %" r "6, %" r "7}"
#define REGS16(r)                                                                                            \
  "{%" r "0, %" r "1, %" r "2, %" r "3, %" r "4, %" r "5, %" r "6, %" r "7, %" r "8, %" r "9, %" r "10, %" r \
  "11, %" r "12, %" r "13, %" r "14, %" r "15}"
#define TO1 "{${=b32}}"
#define TO2 "{${=b32}, ${=b32}}"
#define TO4 "{${=b32}, ${=b32}, ${=b32}, ${=b32}}"
#define TO8F "{${=f32}, ${=f32}, ${=f32}, ${=f32}, ${=f32}, ${=f32}, ${=f32}, ${=f32}}"
#define TO2D "{${=f64}, ${=f64}}"
#define TO4D "{${=f64}, ${=f64}, ${=f64}, ${=f64}}"
#define FROM1 "{${b32}}"
#define FROM2 "{${b32}, ${b32}}"
#define FROM4 "{${b32}, ${b32}, ${b32}, ${b32}}"
#define FROM1D "{${f64}}"
#define FROM2D "{${f64}, ${f64}}"
#define FROM4D "{${f64}, ${f64}, ${f64}, ${f64}}"
#define FROM8D "{${f64}, ${f64}, ${f64}, ${f64}, ${f64}, ${f64}, ${f64}, ${f64}}"

/* ---- Values ------------------------------------------------------------------------------ */

/* r = x & and | or, both of which stand behind one name: from any bits a value of few. */
#define MASK_(r, x, and, or) "lop3.b32 " r ", " x ", " and ", " or ", 0xEA; "
#define MASK(...) MASK_(__VA_ARGS__)
#define MASK1(r, ...) MASK("%" r "0", "${b32}", __VA_ARGS__)
#define MASK2(r, ...) MASK1(r, __VA_ARGS__) MASK("%" r "1", "${b32}", __VA_ARGS__)
#define MASK4(r, ...)                                                                                        \
  MASK2(r, __VA_ARGS__) MASK("%" r "2", "${b32}", __VA_ARGS__) MASK("%" r "3", "${b32}", __VA_ARGS__)
/* The magnitudes of multiplicands: hardware aligns subnormal ones like the least normal one. */
#define F16_SIZE "0x7fff7fff", "max.f16x2", "0x04000400"
#define BF16_SIZE "0x7fff7fff", "max.bf16x2", "0x00800080"
#define TF32_SIZE "0x7fffffff", "max.u32", "0x00800000"
#define FP8_SIZE "0x7f7f7f7f", "max.u32", "0"
#define SIZE(r, k, mask, max, least)                                                                         \
  "and.b32 %" r #k ", %" r #k ", " mask "; " max " %" r #k ", %" r #k ", %m; "
#define SIZE1(r, ...) SIZE(r, 0, __VA_ARGS__)
#define SIZE2(r, ...) SIZE1(r, __VA_ARGS__) SIZE(r, 1, __VA_ARGS__)
#define SIZE4(r, ...) SIZE2(r, __VA_ARGS__) SIZE(r, 2, __VA_ARGS__) SIZE(r, 3, __VA_ARGS__)
#define LEAST(mask, max, least) ".reg .b32 %m; mov.b32 %m, " least "; "
#define ABS(r, k, mask) "and.b32 %" r #k ", %" r #k ", " mask "; "

/* 0.5 and 1 of either sign: products and sums are exact everywhere. */
#define F16_EXACT "0x84008400", "0x38003800"
#define BF16_EXACT "0x80808080", "0x3f003f00"
#define TF32_EXACT "0x80800000", "0x3f000000"
#define E4M3_EXACT "0x88888888", "0x30303030"
#define E5M2_EXACT "0x84848484", "0x38383838"
#define FP8_EXACT "0x80808080", "0x38383838" /* 1 as one of them, 0.5 as the other */
/* All mantissas, magnitudes near one. */
#define F16_NEAR "0x8fff8fff", "0x30003000"
#define BF16_NEAR "0x80ff80ff", "0x3f003f00"
#define F32_NEAR "0x83ffffff", "0x3c000000"
#define TF32_NEAR "0x80ffe000", "0x3f000000"
#define E4M3_NEAR "0x8f8f8f8f", "0x30303030"
#define E5M2_NEAR "0x87878787", "0x38383838"
/* Subnormals, and other factors and sums that let them be seen. */
#define F16_TINY "0x83ff83ff", "0"
#define F32_TINY "0x83ffffff", "0x30000000"
#define BF16_TINY "0x807f807f", "0"
#define BF16_HUGE "0x80ff80ff", "0x4e004e00"
#define TF32_TINY "0x807fe000", "0"
#define TF32_HUGE "0x80ffe000", "0x4e000000"
#define F32_MINUTE "0x83ffffff", "0x0c000000"
/* Many zeros; all magnitudes up to 2; anything, NaN and infinity too. */
#define F16_SPARSE "0xe800e800", "0"
#define F16_SMALL "0xbfffbfff", "0"
#define BF16_SMALL "0xbfffbfff", "0"
#define TF32_SMALL "0xbfffe000", "0"
#define ANY_BITS "0xffffffff", "0"

/* The thread's 64 shared bytes made multiplicands. */
#define FILL_WORD(k, ...)                                                                                    \
  "ld.shared.b32 %x, [%sp+" #k "]; " MASK("%x", "%x", __VA_ARGS__) "st.shared.b32 [%sp+" #k "], %x; "
#define FILL_FOUR(a, b, c, d, ...)                                                                           \
  FILL_WORD(a, __VA_ARGS__) FILL_WORD(b, __VA_ARGS__) FILL_WORD(c, __VA_ARGS__) FILL_WORD(d, __VA_ARGS__)
#define FILL(...)                                                                                            \
  FILL_FOUR(0, 4, 8, 12, __VA_ARGS__)                                                                        \
  FILL_FOUR(16, 20, 24, 28, __VA_ARGS__)                                                                     \
  FILL_FOUR(32, 36, 40, 44, __VA_ARGS__) FILL_FOUR(48, 52, 56, 60, __VA_ARGS__)

/* ---- mma ----------------------------------------------------------------------------------- */

/* clang-format off */
#define MMA_DO(words, d, na, nb, c)                                                                          \
  "mma.sync.aligned." words " " d ", " REGS##na("a") ", " REGS##nb("b") ", " c "; "
/* Exact sums stay in registers. */
#define MMA_EXACT(na, nb, words, ...)                                                                        \
  "{ .reg .b32 %a<4>, %b<2>, %c<4>; " MASK##na("a", __VA_ARGS__) MASK##nb("b", __VA_ARGS__)                  \
  MASK4("c", TF32_EXACT) MMA_DO(words, TO4, na, nb, REGS4("c")) "}"
#define MMA_HALF(na, nb, words, ...)                                                                         \
  "{ .reg .b32 %a<4>, %b<2>, %c<2>; " MASK##na("a", __VA_ARGS__) MASK##nb("b", __VA_ARGS__)                  \
  MASK2("c", F16_EXACT) MMA_DO(words, TO2, na, nb, REGS2("c")) "}"
/* Others are stored beside the sum of the terms' magnitudes. */
#define MMA_NEAR(na, nb, words, rule, size, a, b, c)                                                         \
  "{ .reg .b32 %a<4>, %b<2>, %c<4>, %d<4>, %e<4>; " MASK##na("a", a) MASK##nb("b", b) MASK4("c", c)          \
  MMA_DO(words, REGS4("d"), na, nb, REGS4("c")) SIZES(na, nb, size)                                          \
  ABS("c", 0, "0x7fffffff") ABS("c", 1, "0x7fffffff") ABS("c", 2, "0x7fffffff") ABS("c", 3, "0x7fffffff")    \
  MMA_DO(words, REGS4("e"), na, nb, REGS4("c"))                                                              \
  "${!" rule " b32:%d0, b32:%e0} ${!" rule " b32:%d3, b32:%e3} }"
#define MMA_HALF_NEAR(na, nb, words, rule, size, a, b, c)                                                    \
  "{ .reg .b32 %a<4>, %b<2>, %c<2>, %d<2>, %e<2>; " MASK##na("a", a) MASK##nb("b", b) MASK2("c", c)          \
  MMA_DO(words, REGS2("d"), na, nb, REGS2("c")) SIZES(na, nb, size)                                          \
  ABS("c", 0, "0x7fff7fff") ABS("c", 1, "0x7fff7fff")                                                        \
  MMA_DO(words, REGS2("e"), na, nb, REGS2("c"))                                                              \
  "${!" rule " b32:%d0, b32:%e0} ${!" rule " b32:%d1, b32:%e1} }"
#define SIZES(na, nb, ...) LEAST(__VA_ARGS__) SIZE##na("a", __VA_ARGS__) SIZE##nb("b", __VA_ARGS__)

/* ---- wmma ------------------------------------------------------------------------------------ */

#define WARP_SYNC "bar.warp.sync 0xffffffff; "
#define READ_BACK WARP_SYNC "ld.shared.v4.b32 " TO4 ", [%sp+${@16}]; " WARP_SYNC
#define ALL_C(v)                                                                                             \
  "mov.b32 %c0, " v "; mov.b32 %c1, " v "; mov.b32 %c2, " v "; mov.b32 %c3, " v "; mov.b32 %c4, " v          \
  "; mov.b32 %c5, " v "; mov.b32 %c6, " v "; mov.b32 %c7, " v "; "
#define WMMA_LOAD(which, words, regs, from) "wmma.load." which ".sync.aligned" words " " regs ", " from "; "
#define WMMA_DO(words, n)                                                                                    \
  "wmma.mma.sync.aligned" words " " REGS8("c") ", " REGS##n("a") ", " REGS##n("b") ", " REGS8("c") "; "
#define WMMA_STORE(words, regs, stride)                                                                      \
  "wmma.store.d.sync.aligned" words " [%wp], " regs stride "; " READ_BACK
#define WMMA_SHAPES "(.m16n16k16|.m32n8k16|.m8n32k16)"

/* ---- wgmma ----------------------------------------------------------------------------------- */

/* A at the warpgroup's bytes, B behind its 2048, both K-major without swizzle. */
#define DESCRIPTORS                                                                                          \
  ".reg .b32 %x, %y, %a<4>, %d<16>; .reg .b64 %u, %v; .reg .pred %z; setp.ne.u32 %z, 1, 0; "                 \
  "shr.u32 %y, %gs, 4; and.b32 %y, %y, 0x3fff; or.b32 %x, %y, 0x80000; mov.b64 %u, {%x, 16}; "               \
  "add.u32 %x, %x, 128; mov.b64 %v, {%x, 16}; "
/* Accumulators of no other use: ptxas 13.0 takes wgmma for not writing one whose result is dead, and what was
 * copied to it for still there. */
#define SUM(k, at) "ld.volatile.global.b32 %d" #k ", [%gp+" at "]; "
#define SUMS2 SUM(0, "${@4}") SUM(1, "${@4}")
#define SUMS4 SUMS2 SUM(2, "${@4}") SUM(3, "${@4}")
#define SUMS8 SUMS4 SUM(4, "0") SUM(5, "4") SUM(6, "8") SUM(7, "12")
#define SUMS16                                                                                               \
  SUMS8 SUM(8, "16") SUM(9, "20") SUM(10, "24") SUM(11, "28") SUM(12, "32") SUM(13, "36") SUM(14, "40")      \
  SUM(15, "44")
#define SUM_MASK(k, ...) MASK("%d" #k, "%d" #k, __VA_ARGS__)
#define SUM_MASK2(...) SUM_MASK(0, __VA_ARGS__) SUM_MASK(1, __VA_ARGS__)
#define SUM_MASK4(...) SUM_MASK2(__VA_ARGS__) SUM_MASK(2, __VA_ARGS__) SUM_MASK(3, __VA_ARGS__)
#define SUMS2_HALF SUMS2 SUM_MASK2(F16_EXACT)
#define SUMS4_HALF SUMS4 SUM_MASK4(F16_EXACT)
#define SUMS4_EXACT SUMS4 SUM_MASK4(TF32_EXACT)
#define SUMS8_EXACT                                                                                          \
  SUMS8 SUM_MASK4(TF32_EXACT) SUM_MASK(4, TF32_EXACT) SUM_MASK(5, TF32_EXACT) SUM_MASK(6, TF32_EXACT)        \
  SUM_MASK(7, TF32_EXACT)
#define A_REGS(...) MASK4("a", __VA_ARGS__)
#define WGMMA_DO(words, n, operands)                                                                         \
  "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; "                                                \
  "wgmma.mma_async.sync.aligned." words " " REGS##n("d") ", " operands "; "                                  \
  "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; bar.sync 0; "
#define OUT(k) "mov.b32 ${=b32}, %d" #k "; "
#define OUT2 OUT(0) OUT(1)
#define OUT4 OUT2 OUT(2) OUT(3)
#define OUT8 OUT2 OUT(3) OUT(4) OUT(5) OUT(7)
#define OUT16 OUT(0) OUT(3) OUT(6) OUT(9) OUT(12) OUT(15)
#define WGMMA(prepare, words, n, operands) "{ " DESCRIPTORS prepare WGMMA_DO(words, n, operands) OUT##n "}"
/* The sum is stored beside that of the terms' magnitudes. */
#define NEAR_SUMS(...) SUM(0, "0") SUM(1, "4") SUM(2, "8") SUM(3, "12") SUM_MASK4(__VA_ARGS__)
#define WGMMA_NEAR(near, words, rule, magnitude, majors)                                                     \
  "{ .reg .b32 %e<4>; " DESCRIPTORS FILL(near) NEAR_SUMS(F32_NEAR)                                           \
  WGMMA_DO(words, 4, "%u, %v, %z, 1, 1" majors) "mov.b32 %e0, %d0; mov.b32 %e3, %d3; "                       \
  FILL(magnitude, "0") NEAR_SUMS("0x03ffffff", "0x3c000000")                                                 \
  WGMMA_DO(words, 4, "%u, %v, %z, 1, 1" majors)                                                              \
  "${!" rule " b32:%e0, b32:%d0} ${!" rule " b32:%e3, b32:%d3} }"

/* ---- The table ------------------------------------------------------------------------------- */

#define WARP DT_CONVERGED
#define WG DT_WARPGROUP | DT_SPECIFIC

/* Metadata that name two of four, the lesser first; of .tf32 one of two. */
#define SPARSE_(m, product, selector)                                                                        \
  "{ .reg .b32 %m; mov.b32 %m, " m "; mma.sp::ordered_metadata.sync.aligned." product ", %m, " selector "; }"
#define SPARSE(...) SPARSE_("(0x48c9de4e|0xe9d48c4d)", __VA_ARGS__)
#define SPARSE_TF32(...) SPARSE_("(0x44eee4e4|0x4e4e44ee)", __VA_ARGS__)

const dt_row dt_matrix_rows[] = {
    /* mma of integers */
    {80, WARP, "mma.sync.aligned.m8n8k16.row.col(|.satfinite).s32(.s8|.u8)(.s8|.u8).s32 "
               TO2 ", " FROM1 ", " FROM1 ", " FROM2 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k16.row.col(|.satfinite).s32(.s8|.u8)(.s8|.u8).s32 "
               TO4 ", " FROM2 ", " FROM1 ", " FROM4 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k32.row.col(|.satfinite).s32(.s8|.u8)(.s8|.u8).s32 "
               TO4 ", " FROM4 ", " FROM2 ", " FROM4 ";"},
    {80, WARP, "mma.sync.aligned.m8n8k32.row.col(|.satfinite).s32(.s4|.u4)(.s4|.u4).s32 "
               TO2 ", " FROM1 ", " FROM1 ", " FROM2 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k32.row.col(|.satfinite).s32(.s4|.u4)(.s4|.u4).s32 "
               TO4 ", " FROM2 ", " FROM1 ", " FROM4 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k64.row.col(|.satfinite).s32(.s4|.u4)(.s4|.u4).s32 "
               TO4 ", " FROM4 ", " FROM2 ", " FROM4 ";"},
    {80, WARP, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32(.xor|.and).popc "
               TO2 ", " FROM1 ", " FROM1 ", " FROM2 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32(.xor|.and).popc "
               TO4 ", " FROM2 ", " FROM1 ", " FROM4 ";"},
    {80, WARP, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32(.xor|.and).popc "
               TO4 ", " FROM4 ", " FROM2 ", " FROM4 ";"},
    /* mma.sp of integers, and of floats with exact sums */
    {80, WARP, SPARSE("m16n8k32.row.col(|.satfinite).s32(.s8|.u8)(.s8|.u8).s32 "
                      TO4 ", " FROM2 ", " FROM2 ", " FROM4, "(0|1)")},
    {80, WARP, SPARSE("m16n8k64.row.col(|.satfinite).s32(.s8|.u8)(.s8|.u8).s32 "
                      TO4 ", " FROM4 ", " FROM4 ", " FROM4, "0")},
    {80, WARP, SPARSE("m16n8k64.row.col(|.satfinite).s32(.s4|.u4)(.s4|.u4).s32 "
                      TO4 ", " FROM2 ", " FROM2 ", " FROM4, "(0|1)")},
    {80, WARP, SPARSE("m16n8k128.row.col(|.satfinite).s32(.s4|.u4)(.s4|.u4).s32 "
                      TO4 ", " FROM4 ", " FROM4 ", " FROM4, "0")},
    {80, WARP, "{ .reg .b32 %a<2>, %b<2>, %c<4>; " MASK2("a", F16_EXACT) MASK2("b", F16_EXACT)
               MASK4("c", TF32_EXACT) SPARSE("m16n8k16.row.col.f32.f16.f16.f32 "
               TO4 ", " REGS2("a") ", " REGS2("b") ", " REGS4("c"), "(0|1|2|3)") "}"},
    {80, WARP, "{ .reg .b32 %a<4>, %b<4>, %c<4>; " MASK4("a", BF16_EXACT) MASK4("b", BF16_EXACT)
               MASK4("c", TF32_EXACT) SPARSE("m16n8k32.row.col.f32.bf16.bf16.f32 "
               TO4 ", " REGS4("a") ", " REGS4("b") ", " REGS4("c"), "(0|1)") "}"},
    {80, WARP, "{ .reg .b32 %a<4>, %b<4>, %c<2>; " MASK4("a", F16_EXACT) MASK4("b", F16_EXACT)
               MASK2("c", F16_EXACT) SPARSE("m16n8k32.row.col.f16.f16.f16.f16 "
               TO2 ", " REGS4("a") ", " REGS4("b") ", " REGS2("c"), "(0|1)") "}"},
    {80, WARP, "{ .reg .b32 %a<4>, %b<4>, %c<4>; " MASK4("a", TF32_EXACT) MASK4("b", TF32_EXACT)
               MASK4("c", TF32_EXACT) SPARSE_TF32("m16n8k16.row.col.f32.tf32.tf32.f32 "
               TO4 ", " REGS4("a") ", " REGS4("b") ", " REGS4("c"), "(0|1)") "}"},
    {89, WARP, "{ .reg .b32 %a<4>, %b<4>, %c<4>; " MASK4("a", E4M3_EXACT) MASK4("b", E5M2_EXACT)
               MASK4("c", TF32_EXACT) SPARSE("m16n8k64.row.col.f32.e4m3.e5m2.f32 "
               TO4 ", " REGS4("a") ", " REGS4("b") ", " REGS4("c"), "0") "}"},
    /* mma of f64 */
    {80, WARP, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               TO2D ", " FROM1D ", " FROM1D ", " FROM2D ";"},
    {90, WARP, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               TO4D ", " FROM2D ", " FROM1D ", " FROM4D ";"},
    {90, WARP, "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               TO4D ", " FROM4D ", " FROM2D ", " FROM4D ";"},
    {90, WARP, "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
               TO4D ", " FROM8D ", " FROM4D ", " FROM4D ";"},
    /* mma of other floats, exact sums */
    {0, WARP, "{ .reg .b32 %a<2>, %b<2>, %c<8>; " MASK2("a", F16_EXACT) MASK2("b", F16_EXACT)
              MASK4("c", TF32_EXACT) "mov.b32 %c4, %c1; mov.b32 %c5, %c0; mov.b32 %c6, %c3; mov.b32 %c7, %c2; "
              MMA_DO("m8n8k4(.row|.col)(.row|.col).f32.f16.f16.f32", TO8F, 2, 2, REGS8("c")) "}"},
    {0, WARP, "{ .reg .b32 %a<2>, %b<2>, %c<4>; " MASK2("a", F16_EXACT) MASK2("b", F16_EXACT)
              MASK4("c", F16_EXACT)
              MMA_DO("m8n8k4(.row|.col)(.row|.col).f16.f16.f16.f16", TO4, 2, 2, REGS4("c")) "}"},
    {80, WARP, MMA_EXACT(2, 1, "m16n8k8.row.col.f32.f16.f16.f32", F16_EXACT)},
    {80, WARP, MMA_EXACT(4, 2, "m16n8k16.row.col.f32.f16.f16.f32", F16_EXACT)},
    {80, WARP, MMA_EXACT(2, 1, "m16n8k8.row.col.f32.bf16.bf16.f32", BF16_EXACT)},
    {80, WARP, MMA_EXACT(4, 2, "m16n8k16.row.col.f32.bf16.bf16.f32", BF16_EXACT)},
    {80, WARP, MMA_EXACT(2, 1, "m16n8k4.row.col.f32.tf32.tf32.f32", TF32_EXACT)},
    {80, WARP, MMA_EXACT(4, 2, "m16n8k8.row.col.f32.tf32.tf32.f32", TF32_EXACT)},
    {89, WARP, MMA_EXACT(4, 2, "m16n8k32.row.col.f32.e4m3.e4m3.f32", E4M3_EXACT)},
    {89, WARP, MMA_EXACT(4, 2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", E5M2_EXACT)},
    {89, WARP, MMA_EXACT(4, 2, "m16n8k32.row.col.f32.e4m3.e5m2.f32", FP8_EXACT)},
    {89, WARP, MMA_EXACT(2, 1, "m16n8k16.row.col.f32.e5m2.e5m2.f32", E5M2_EXACT)},
    {80, WARP, MMA_HALF(2, 1, "m16n8k8.row.col.f16.f16.f16.f16", F16_EXACT)},
    {80, WARP, MMA_HALF(4, 2, "m16n8k16.row.col.f16.f16.f16.f16", F16_EXACT)},
    {89, WARP, MMA_HALF(4, 2, "m16n8k32.row.col.f16.e4m3.e4m3.f16", E4M3_EXACT)},
    /* mma of other floats, inexact sums */
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.f16.f16.f32", "mma16", F16_SIZE,
                        F16_NEAR, F16_NEAR, F32_NEAR)},
    {80, WARP, MMA_NEAR(2, 1, "m16n8k8.row.col.f32.bf16.bf16.f32", "mma8", BF16_SIZE,
                        BF16_NEAR, BF16_NEAR, F32_NEAR)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.bf16.bf16.f32", "mma16", BF16_SIZE,
                        BF16_NEAR, BF16_NEAR, F32_NEAR)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k8.row.col.f32.tf32.tf32.f32", "mma8", TF32_SIZE,
                        TF32_NEAR, TF32_NEAR, F32_NEAR)},
    {89, WARP, MMA_NEAR(4, 2, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "mma32", FP8_SIZE,
                        E4M3_NEAR, E4M3_NEAR, F32_NEAR)},
    {89, WARP, MMA_NEAR(4, 2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", "mma32", FP8_SIZE,
                        E5M2_NEAR, E5M2_NEAR, F32_NEAR)},
    {80, WARP, MMA_HALF_NEAR(4, 2, "m16n8k16.row.col.f16.f16.f16.f16", "mma_half", F16_SIZE,
                             F16_NEAR, F16_NEAR, F16_NEAR)},
    {80, WARP, MMA_HALF_NEAR(2, 1, "m16n8k8.row.col.f16.f16.f16.f16", "mma_half", F16_SIZE,
                             F16_NEAR, F16_NEAR, F16_NEAR)},
    /* of subnormals, of many magnitudes, of NaN and infinity */
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.f16.f16.f32", "mma16", F16_SIZE,
                        F16_TINY, F16_NEAR, F32_TINY)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.bf16.bf16.f32", "mma16", BF16_SIZE,
                        BF16_TINY, BF16_HUGE, F32_MINUTE)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k8.row.col.f32.tf32.tf32.f32", "mma8", TF32_SIZE,
                        TF32_TINY, TF32_HUGE, F32_MINUTE)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.f16.f16.f32", "mma16", F16_SIZE,
                        F16_SMALL, F16_SMALL, F32_TINY)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.bf16.bf16.f32", "mma16", BF16_SIZE,
                        BF16_SMALL, BF16_SMALL, F32_MINUTE)},
    {80, WARP, MMA_NEAR(4, 2, "m16n8k16.row.col.f32.f16.f16.f32", "mma16", F16_SIZE,
                        F16_SPARSE, F16_SPARSE, F32_NEAR)},
    {80, WARP, MMA_NEAR(2, 1, "m16n8k8.row.col.f32.f16.f16.f32", "mma8", F16_SIZE,
                        ANY_BITS, F16_NEAR, F32_NEAR)},
    {80, WARP, MMA_NEAR(2, 1, "m16n8k4.row.col.f32.tf32.tf32.f32", "mma8", TF32_SIZE,
                        TF32_SMALL, TF32_SMALL, F32_NEAR)},
    {89, WARP, MMA_NEAR(2, 1, "m16n8k16.row.col.f32.e4m3.e5m2.f32", "mma16", FP8_SIZE,
                        ANY_BITS, E5M2_NEAR, F32_NEAR)},
    /* wmma */
    {80, WARP, "{ .reg .b32 %x, %a<8>, %b<8>, %c<8>; " FILL(F16_EXACT) WARP_SYNC
               WMMA_LOAD("a", "(.row|.col)" WMMA_SHAPES ".shared.f16", REGS8("a"), "[%wp]")
               WMMA_LOAD("b", "(.row|.col)$2.shared.f16", REGS8("b"), "[%wp]") ALL_C("0f3F800000") WARP_SYNC
               WMMA_DO("$1$3$2.f32.f32", 8) WMMA_STORE("(.row|.col)$2.shared.f32", REGS8("c"), "") "}"},
    {0, WARP, "{ .reg .b32 %c<8>; " WARP_SYNC
              WMMA_LOAD("c", "(.row|.col)" WMMA_SHAPES ".shared(.f32|.s32)", REGS8("c"), "[%wp]") WARP_SYNC
              WMMA_STORE("(.row|.col)$2.shared$3", REGS8("c"), "") "}"},
    {0, WARP, "{ .reg .b32 %c<4>; " WARP_SYNC
              WMMA_LOAD("c", "(.row|.col)" WMMA_SHAPES ".global.f16", REGS4("c"), "[%wg], 32") WARP_SYNC
              WMMA_STORE("(.row|.col)$2.shared.f16", REGS4("c"), ", 32") "}"},
    {80, WARP, "{ .reg .b32 %x, %a<4>, %b<4>, %c<8>; " FILL(BF16_EXACT) WARP_SYNC
               WMMA_LOAD("a", "(.row|.col).m16n16k16.shared.bf16", REGS4("a"), "[%wp]")
               WMMA_LOAD("b", "(.row|.col).m16n16k16.shared.bf16", REGS4("b"), "[%wp]") ALL_C("0") WARP_SYNC
               WMMA_DO("$1$2.m16n16k16.f32.bf16.bf16.f32", 4)
               WMMA_STORE(".row.m16n16k16.shared.f32", REGS8("c"), "") "}"},
    {80, WARP, "{ .reg .b32 %x, %a<4>, %b<4>, %c<8>; " FILL(TF32_EXACT) WARP_SYNC
               WMMA_LOAD("a", "(.row|.col).m16n16k8.shared.tf32", REGS4("a"), "[%wp]")
               WMMA_LOAD("b", "(.row|.col).m16n16k8.shared.tf32", REGS4("b"), "[%wp]") ALL_C("0") WARP_SYNC
               WMMA_DO("$1$2.m16n16k8.f32.tf32.tf32.f32", 4)
               WMMA_STORE(".col.m16n16k8.shared.f32", REGS8("c"), "") "}"},
    {0, WARP, "{ .reg .b32 %a<2>, %b<2>, %c<8>; " WARP_SYNC
              WMMA_LOAD("a", "(.row|.col).m16n16k16.shared(.s8|.u8)", REGS2("a"), "[%wp]")
              WMMA_LOAD("b", "(.row|.col).m16n16k16.global$2", REGS2("b"), "[%wg]")
              WMMA_LOAD("c", ".row.m16n16k16.shared.s32", REGS8("c"), "[%wp]") WARP_SYNC
              WMMA_DO("$1$3.m16n16k16.s32$2$2.s32(|.satfinite)", 2)
              WMMA_STORE(".row.m16n16k16.shared.s32", REGS8("c"), "") "}"},
    /* ldmatrix, stmatrix, movmatrix */
    {75, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 16, %wp; "
               "ldmatrix.sync.aligned.m8n8.x1(|.trans).shared.b16 " TO1 ", [%x]; " WARP_SYNC "}"},
    {75, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 32, %wp; "
               "ldmatrix.sync.aligned.m8n8.x2(|.trans).shared::cta.b16 " TO2 ", [%x]; " WARP_SYNC "}"},
    {75, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 48, %wp; "
               "ldmatrix.sync.aligned.m8n8.x4(|.trans).shared.b16 " TO4 ", [%x]; " WARP_SYNC "}"},
    {90, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 16, %wp; "
               "stmatrix.sync.aligned.m8n8.x1(|.trans).shared.b16 [%x], " FROM1 "; " READ_BACK "}"},
    {90, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 16, %wp; "
               "stmatrix.sync.aligned.m8n8.x2(|.trans).shared.b16 [%x], " FROM2 "; " READ_BACK "}"},
    {90, WARP, "{ .reg .b32 %x; " WARP_SYNC "mad.lo.u32 %x, %la, 16, %wp; "
               "stmatrix.sync.aligned.m8n8.x4(|.trans).shared.b16 [%x], " FROM4 "; " READ_BACK "}"},
    {75, WARP, "movmatrix.sync.aligned.m8n8.trans.b16 ${=b32}, ${b32};"},
    /* wgmma, exact sums */
    {90, WG, WGMMA(FILL(F16_EXACT) SUMS4_EXACT, "m64n8k16.f32.f16.f16", 4,
                   "%u, %v, %z, (1|-1), (1|-1), 0, 0")},
    {90, WG, WGMMA(FILL(BF16_EXACT) SUMS4_EXACT, "m64n8k16.f32.bf16.bf16", 4,
                   "%u, %v, %z, 1, 1, (0|1), (0|1)")},
    {90, WG, WGMMA(FILL(TF32_EXACT) SUMS4_EXACT, "m64n8k8.f32.tf32.tf32", 4, "%u, %v, %z, 1, (1|-1)")},
    {90, WG, WGMMA(FILL(E4M3_EXACT) SUMS4_EXACT, "m64n8k32.f32.e4m3.e4m3", 4, "%u, %v, %z, 1, 1")},
    {90, WG, WGMMA(FILL(E5M2_EXACT) SUMS4_EXACT, "m64n8k32.f32.e5m2.e5m2", 4, "%u, %v, %z, (1|-1), 1")},
    {90, WG, WGMMA(FILL(FP8_EXACT) SUMS4_EXACT, "m64n8k32.f32(.e4m3.e5m2|.e5m2.e4m3)", 4,
                   "%u, %v, %z, 1, (1|-1)")},
    {90, WG, WGMMA(FILL(F16_EXACT) SUMS8_EXACT, "m64n16k16.f32.f16.f16", 8,
                   "%u, %v, %z, 1, -1, (0|1), (0|1)")},
    {90, WG, WGMMA(FILL(F16_EXACT) SUMS2_HALF, "m64n8k16.f16.f16.f16", 2,
                   "%u, %v, %z, (1|-1), 1, (0|1), (0|1)")},
    {90, WG, WGMMA(FILL(F16_EXACT) SUMS4_HALF, "m64n16k16.f16.f16.f16", 4, "%u, %v, %z, 1, 1, 0, (0|1)")},
    {90, WG, WGMMA(FILL(E4M3_EXACT) SUMS2_HALF, "m64n8k32.f16.e4m3.e4m3", 2, "%u, %v, %z, 1, (1|-1)")},
    {90, WG, WGMMA(FILL(F16_EXACT) A_REGS(F16_EXACT) SUMS4_EXACT, "m64n8k16.f32.f16.f16", 4,
                   REGS4("a") ", %v, %z, 1, 1, (0|1)")},
    {90, WG, WGMMA(FILL(BF16_EXACT) A_REGS(BF16_EXACT) SUMS8_EXACT, "m64n16k16.f32.bf16.bf16", 8,
                   REGS4("a") ", %v, %z, (1|-1), 1, (0|1)")},
    {90, WG, WGMMA(FILL(TF32_EXACT) A_REGS(TF32_EXACT) SUMS4_EXACT, "m64n8k8.f32.tf32.tf32", 4,
                   REGS4("a") ", %v, %z, -1, 1")},
    {90, WG, WGMMA(FILL(E5M2_EXACT) A_REGS(E5M2_EXACT) SUMS4_EXACT, "m64n8k32.f32.e5m2.e5m2", 4,
                   REGS4("a") ", %v, %z, 1, 1")},
    /* wgmma of integers */
    {90, WG, WGMMA(SUMS4, "m64n8k32(|.satfinite).s32(.s8.s8|.u8.u8|.s8.u8|.u8.s8)", 4, "%u, %v, %z")},
    {90, WG, WGMMA(SUMS8, "m64n16k32(|.satfinite).s32(.s8.s8|.u8.s8)", 8, "%u, %v, %z")},
    {90, WG, WGMMA(SUMS16, "m64n32k32.s32(.s8.u8|.u8.u8)", 16, "%u, %v, %z")},
    {90, WG, WGMMA(A_REGS(ANY_BITS) SUMS4, "m64n8k32(|.satfinite).s32(.s8.s8|.u8.u8)", 4,
                   REGS4("a") ", %v, %z")},
    {90, WG, WGMMA(SUMS4, "m64n8k256.s32.b1.b1.and.popc", 4, "%u, %v, %z")},
    {90, WG, WGMMA(SUMS8, "m64n16k256.s32.b1.b1.and.popc", 8, "%u, %v, %z")},
    /* wgmma, inexact sums */
    {90, WG, WGMMA_NEAR(F16_NEAR, "m64n8k16.f32.f16.f16", "wgmma16", "0x7fff7fff", ", 0, 0")},
    {90, WG, WGMMA_NEAR(BF16_NEAR, "m64n8k16.f32.bf16.bf16", "wgmma16", "0x7fff7fff", ", 0, 0")},
    {90, WG, WGMMA_NEAR(TF32_NEAR, "m64n8k8.f32.tf32.tf32", "wgmma8", "0x7fffffff", "")},
    {90, WG, WGMMA_NEAR(E4M3_NEAR, "m64n8k32.f32.e4m3.e4m3", "wgmma_fp8", "0x7f7f7f7f", "")},
    {90, WG, WGMMA_NEAR(E5M2_NEAR, "m64n8k32.f32.e5m2.e5m2", "wgmma_fp8", "0x7f7f7f7f", "")},
    {0, 0, NULL},
};
/* clang-format on */
