/* catalogue.c: templates of all instructions but those of matrices.
 *
 * Results that the PTX ISA leaves open, and code that ptxas miscompiles, are kept out of programs, so that a
 * difference is one of the machines. docs/difftest.md lists both, with the reason and the smallest program
 * that shows it. A sum with a zero that the compiler cannot know (%o32, %o16) hides from it where a value
 * comes from.
 */
#include "difftest/catalogue.h"

/* ---- Words --------------------------------------------------------------------------- */

#define INT6 "(.u16|.s16|.u32|.s32|.u64|.s64)"
#define INT4 "(.u32|.s32|.u64|.s64)"
#define INT8 "(.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64)"
#define BITS3 "(.b16|.b32|.b64)"
#define RND "(.rn|.rz|.rm|.rp)"
#define INTEGRAL "(.rni|.rzi|.rmi|.rpi)"
#define CMP_FLOAT "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)"
#define BOOL "(.and|.or|.xor)"
#define GATHER "0xffffffff"

/* Video */
#define VOP "(vadd|vsub|vabsdiff|vmin|vmax)"
#define VLANES "(vadd|vsub|vabsdiff|vmin|vmax|vavrg)"
#define VTYPES "(.u32.u32.u32|.s32.u32.s32|.u32.s32.u32|.s32.s32.s32)"
#define VTYPES2 "(.u32.u32|.s32.u32|.u32.s32|.s32.s32)"
#define VCMP "(.eq|.ne|.lt|.le|.gt|.ge)"

/* A byte that the compiler does not know. */
#define BYTE(r) "add.u32 " r ", ${u32}, %o32; and.b32 " r ", " r ", 255; "

/* Of several NaN operands of f64 arithmetic the payload of any may come back: ptxas swaps operands. */
#define ANY_NAN(text)                                                                                        \
  "{ .reg .f64 %x; .reg .pred %z; " text                                                                     \
  " setp.nan.f64 %z, %x, %x; selp.f64 ${=f64}, 0d7FF8000000000000, %x, %z; }"

/* abs and neg of a NaN give "an unspecified NaN" (PTX ISA). */
#define ANY_NAN32(text)                                                                                      \
  "{ .reg .f32 %x; .reg .pred %z; " text " setp.nan.f32 %z, %x, %x; selp.f32 ${=f32}, 0f7FFFFFFF, %x, %z; }"

#define ANY_NAN16(op, type)                                                                                  \
  "{ .reg .b16 %x; .reg .pred %z; " op "." type " %x, ${" type "}; setp.nan." type                           \
  " %z, %x, %x; selp.b16 ${=" type "}, 0x7fff, %x, %z; }"
#define ANY_NAN16X2(op, type)                                                                                \
  "{ .reg .b32 %x; .reg .b16 %l, %h; .reg .pred %z, %y; "                                                    \
  "add.u32 %x, ${" type "}, %o32; " op "." type " %x, %x; setp.nan." type                                    \
  " %z|%y, %x, %x; mov.b32 {%l, %h}, %x; selp.b16 %l, 0x7fff, %l, %z; selp.b16 %h, 0x7fff, %h, %y; mov.b32 " \
  "${=" type "}, {%l, %h}; }"

/* Sources whose origin is hidden: conversions are merged with what made them. */
#define OF16(text) "{ .reg .b16 %x; add.u16 %x, ${f16}, %o16; " text ", %x; }"
#define OF32(text) "{ .reg .b32 %x; add.u32 %x, ${f32}, %o32; " text ", %x; }"
#define OF64(text) "{ .reg .b64 %x; mad.wide.u32 %x, %o32, 1, ${f64}; " text ", %x; }"
#define SAT16(text) "{ .reg .b16 %x; add.u16 %x, ${b16}, 1; cvt.sat" text ", %x; }"
#define SAT32(text) "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; cvt.sat" text ", %x; }"
#define SAT64(text) "{ .reg .b64 %x; add.u64 %x, ${b64}, 1; cvt.sat" text ", %x; }"

/* Results whose origin is hidden: a truth value is taken for one of another type. */
#define SET16(text, type) "{ .reg .b16 %x; " text " add.u16 ${=" type "}, %x, %o16; }"
#define SET32(text, type) "{ .reg .b32 %x; " text " add.u32 ${=" type "}, %x, %o32; }"

/* mbarrier in one thread's hands. */
#define MB "%mb"

/* ---- The table --------------------------------------------------------------------------- */

const dt_row dt_plain_rows[] = {
    /* Integer arithmetic */
    {0, 0, "(add|sub)" INT6 " ${=2}, ${2}, ${2?};"},
    {0, 0,
     "{ .reg .b32 %x, %y; xor.b32 %x, ${s32}, %o32; xor.b32 %y, ${s32?}, %o32; "
     "(add|sub).sat.s32 ${=s32}, %x, %y; }"},
    {90, 0, "add(.u16x2|.s16x2) ${=1}, ${1}, ${1};"},
    {0, 0, "mul(.lo|.hi)" INT6 " ${=2}, ${2}, ${2?};"},
    {0, 0, "mul.wide(.u16|.s16) ${=b32}, ${1}, ${1?};"},
    {0, 0, "mul.wide(.u32|.s32) ${=b64}, ${1}, ${1?};"},
    {0, 0, "mad(.lo|.hi)" INT6 " ${=2}, ${2}, ${2?}, ${2};"},
    {0, 0, "mad.hi.sat.s32 ${=s32}, ${s32}, ${s32?}, ${s32};"},
    {0, 0, "mad.wide(.u16|.s16) ${=b32}, ${1}, ${1?}, ${b32};"},
    {0, 0, "mad.wide(.u32|.s32) ${=b64}, ${1}, ${1?}, ${b64};"},
    {0, 0, "mul24(.lo|.hi)(.u32|.s32) ${=2}, ${2}, ${2?};"},
    {0, 0, "mad24(.lo|.hi)(.u32|.s32) ${=2}, ${2}, ${2?}, ${2};"},
    {0, 0, "mad24.hi.sat.s32 ${=s32}, ${s32}, ${s32?}, ${s32};"},
    {0, 0, "sad" INT6 " ${=1}, ${1}, ${1?}, ${1};"},
    {0, 0, "{ .reg .b16 %x; or.b16 %x, ${b16}, 1; (div|rem)(.u16|.s16) ${=2}, ${2}, %x; }"},
    {0, 0, "{ .reg .b32 %x; or.b32 %x, ${b32}, 1; (div|rem)(.u32|.s32) ${=2}, ${2}, %x; }"},
    {0, 0, "{ .reg .b64 %x; or.b64 %x, ${b64}, 1; (div|rem)(.u64|.s64) ${=2}, ${2}, %x; }"},
    {0, 0, "(div|rem)" INT6 " ${=2}, ${2}, ${#1:9999};"},
    {0, 0, "{ .reg .b16 %x; (abs|neg).s16 %x, ${s16}; add.u16 ${=s16}, %x, %o16; }"},
    {0, 0, "{ .reg .b32 %x; (abs|neg).s32 %x, ${s32}; add.u32 ${=s32}, %x, %o32; }"},
    {0, 0, "{ .reg .b64 %x; (abs|neg).s64 %x, ${s64}; mad.wide.u32 ${=s64}, %o32, 1, %x; }"},
    {0, 0, "(min|max)" INT6 " ${=2}, ${2}, ${2?};"},
    {90, 0, "(min|max).relu.s32 ${=s32}, ${s32}, ${s32};"},
    {100, DT_DISTINCT, "(min|max)(|.ftz)(|.NaN)(|.abs).f32 ${=f32}, ${f32}, ${f32}, ${f32};"},
    {100, 0, "(add|sub)(.rn|.rz|.rm|.rp)(|.sat).f32(.f16|.bf16) ${=f32}, ${4}, ${f32};"},
    {100, 0, "fma(.rn|.rz|.rm|.rp)(|.sat).f32(.f16|.bf16) ${=f32}, ${3}, ${3}, ${f32};"},
    {100, DT_SPECIFIC, "cvt.rs(|.relu)(|.satfinite)(.f16x2|.bf16x2).f32 ${=b32}, ${f32}, ${f32}, ${b32};"},
    {90, 0, "(min|max)(.u16x2|.s16x2|.relu.s16x2) ${=b32}, ${b32}, ${b32};"},
    {0, 0, "(popc|clz)(.b32|.b64) ${=u32}, ${2};"},
    {0, 0, "bfind(|.shiftamt)" INT4 " ${=u32}, ${2};"},
    {0, 0, "{ .reg .b32 %x; and.b32 %x, ${b32}, 31; fns.b32 ${=b32}, ${b32}, %x, ${#-9:9}; }"},
    {0, 0, "brev(.b32|.b64) ${=1}, ${1};"},
    {0, 0, "{ .reg .b32 %x, %y; " BYTE("%x") BYTE("%y") "bfe" INT4 " ${=1}, ${1}, %x, %y; }"},
    {0, 0, "bfe" INT4 " ${=1}, ${1}, ${#0:31}, ${#0:31};"},
    {0, 0, "{ .reg .b32 %x, %y; " BYTE("%x") BYTE("%y") "bfi(.b32|.b64) ${=1}, ${1}, ${1}, %x, %y; }"},
    {0, 0, "bfi(.b32|.b64) ${=1}, ${1}, ${1}, ${#0:31}, ${#0:31};"},
    {0, 0, "bmsk(.clamp|.wrap).b32 ${=b32}, ${u32?}, ${u32};"},
    {0, 0, "szext(.clamp|.wrap)(.u32|.s32) ${=2}, ${2}, ${u32?};"},
    {0, 0, "dp4a(.u32|.s32)(.u32|.s32) ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, "dp2a(.lo|.hi)(.u32|.s32)(.u32|.s32) ${=b32}, ${b32}, ${b32}, ${b32};"},
    /* Video */
    {0, 0, "(vadd|vsub|vabsdiff|vmin|vmax)(.u32.u32.u32|.s32.s32.s32) ${=b32}, ${b32}, ${b32};"},
    {0, 0, "(vadd|vsub|vabsdiff|vmin|vmax)(.u32.u32.u32|.s32.s32.s32).add ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, "(vshl.u32.u32|vshr.u32.u32|vshr.s32.s32).u32(.clamp|.wrap) ${=b32}, ${b32}, ${b32};"},
    {0, 0, "(vshl.u32.u32|vshr.u32.u32|vshr.s32.s32).u32(.clamp|.wrap).add ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, "(vabsdiff4|vabsdiff2).u32.u32.u32(|.add) ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, VOP VTYPES "(|.sat) ${=b32}, ${b32}(.b1|.h1), ${b32}(.b3|.h0);"},
    {0, 0, VOP VTYPES "(|.sat) ${=b32}(.b2|.h1), ${b32}.h0, ${b32}, ${b32};"},
    {0, 0, VOP VTYPES "(|.sat)(.add|.min|.max) ${=b32}, ${b32}, ${b32}.b0, ${b32};"},
    {0, 0,
     "(vshl|vshr)(.u32.u32|.s32.u32|.u32.s32|.s32.s32).u32(|.sat)(.clamp|.wrap) ${=b32}(.b1|.h0), ${b32}, "
     "${b32}.b2, ${b32};"},
    {0, 0,
     "(vshl|vshr)(.u32.u32|.s32.u32|.u32.s32|.s32.s32).u32(|.sat)(.clamp|.wrap)(.add|.min|.max) ${=b32}, "
     "${b32}.h1, ${b32}, ${b32};"},
    {0, 0, "vset" VTYPES2 VCMP " ${=b32}(.b3|.h0), ${b32}.b0, ${b32}.h1, ${b32};"},
    {0, 0, "vset" VTYPES2 VCMP "(.add|.min|.max) ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, "vmad.s32" VTYPES2 "(|.sat)(|.shr7|.shr15) ${=b32}, ${b32}(|.h1), ${b32}.b2, ${b32};"},
    {0, 0, "vmad.s32" VTYPES2 "(|.sat)(|.shr7|.shr15) ${=b32}, ${b32}, -${b32}, ${b32};"},
    {0, 0, "vmad.u32" VTYPES2 "(|.sat)(|.shr7|.shr15) ${=b32}, ${b32}, ${b32}.h0, -${b32};"},
    {0, 0, "vmad.u32" VTYPES2 ".po(|.sat)(|.shr7|.shr15) ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, VLANES "(2|4)" VTYPES "(|.sat|.add) ${=b32}, ${b32}, ${b32}, ${b32};"},
    {0, 0, VLANES "2" VTYPES "(|.sat|.add) ${=b32}.h1, ${b32}.h03, ${b32}.h21, ${b32};"},
    {0, 0, VLANES "4" VTYPES "(|.sat|.add) ${=b32}.b20, ${b32}.b7160, ${b32}.b3344, ${b32};"},
    {0, 0, "vset(2|4)" VTYPES2 VCMP "(|.add) ${=b32}, ${b32}, ${b32}, ${b32};"},
    /* Extended precision */
    {0, 0,
     "{ (add|sub).cc" INT4 " ${=2}, ${2}, ${2?}; $1c.cc$2 ${=2}, ${2}, ${2?}; $1c$2 ${=2}, ${2}, ${2}; }"},
    {0, 0,
     "{ mad(.lo|.hi).cc" INT4 " ${=2}, ${2}, ${2}, ${2}; madc(.lo|.hi).cc$2 ${=2}, ${2}, ${2}, ${2}; "
     "madc(.lo|.hi)$2 ${=2}, ${2}, ${2}, ${2}; }"},
    /* Logic and shift */
    {0, 0, "(and|or|xor)" BITS3 " ${=2}, ${2}, ${2?};"},
    {0, 0, "(and|or|xor).pred ${=pred}, ${pred}, ${pred};"},
    {0, 0, "(not|cnot)" BITS3 " ${=2}, ${2};"},
    {0, 0, "not.pred ${=pred}, ${pred};"},
    {0, DT_EMULATED, "cnot.pred ${=pred}, ${pred};"},
    {0, 0, "lop3.b32 ${=b32}, ${b32}, ${b32?}, ${b32}, ${#0:255};"},
    {0, 0, "lop3(.or|.and).b32 ${=b32}|${=pred}, ${b32}, ${b32}, ${b32}, ${#0:255}, ${pred!};"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${u32}, %o32; shl" BITS3 " ${=1}, ${1}, %x; }"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${u32}, %o32; shr" BITS3 " ${=1}, ${1}, %x; }"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${u32}, %o32; shr" INT6 " ${=1}, ${1}, %x; }"},
    {0, 0, "(shl|shr)" BITS3 " ${=2}, ${2}, ${#0:70};"},
    {0, 0, "shf(.l|.r)(.clamp|.wrap).b32 ${=b32}, ${b32}, ${b32}, ${u32?};"},
    {0, 0,
     "{ .reg .b32 %x; add.u32 %x, ${u32}, %o32; prmt.b32(|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16) ${=b32}, ${b32}, "
     "${b32?}, %x; }"},
    {0, 0, "prmt.b32 ${=b32}, ${b32}, ${b32}, 0x${#0:7}${#0:7}${#0:7}${#0:7};"},
    /* Comparison and selection */
    {0, 0, "selp(.b16|.b32|.b64|.u16|.s32|.u64|.f32|.f64) ${=1}, ${1}, ${1?}, ${pred};"},
    {0, 0, "slct(.b16|.b32|.b64|.u16|.s32|.s64|.f32|.f64).s32 ${=1}, ${1}, ${1}, ${s32};"},
    {0, 0, "slct(|.ftz)(.b16|.b32|.b64|.u16|.s32|.s64|.f32|.f64).f32 ${=2}, ${2}, ${2}, ${f32};"},
    {0, 0, "setp(.eq|.ne|.lt|.le|.gt|.ge)" INT6 " ${=pred}, ${2}, ${2?};"},
    {0, 0, "setp(.eq|.ne)" BITS3 " ${=pred}, ${2}, ${2?};"},
    {0, 0, "setp(.lo|.ls|.hi|.hs)(.u16|.u32|.u64) ${=pred}|${=pred}, ${2}, ${2?};"},
    {0, 0, "setp(.eq|.ne|.lt|.le|.gt|.ge)" BOOL INT6 " ${=pred}|${=pred}, ${3}, ${3?}, ${pred!};"},
    {0, 0, "setp" CMP_FLOAT "(|.ftz).f32 ${=pred}, ${f32}, ${f32?};"},
    {0, 0, "setp" CMP_FLOAT ".f64 ${=pred}|${=pred}, ${f64}, ${f64?};"},
    {0, 0, "setp" CMP_FLOAT BOOL "(.f32|.f64) ${=pred}|${=pred}, ${3}, ${3}, ${pred!};"},
    {0, 0, "setp" CMP_FLOAT "(|.ftz).f16 ${=pred}, ${f16}, ${f16};"},
    {0, 0, "setp" CMP_FLOAT "(|.ftz).f16x2 ${=pred}|${=pred}, ${f16x2}, ${f16x2};"},
    {0, 0, "setp" CMP_FLOAT BOOL ".f16 ${=pred}, ${f16}, ${f16}, ${pred!};"},
    {90, 0, "setp" CMP_FLOAT ".bf16 ${=pred}, ${bf16}, ${bf16};"},
    {90, 0, "setp" CMP_FLOAT ".bf16x2 ${=pred}|${=pred}, ${bf16x2}, ${bf16x2};"},
    {0, DT_UNGUARDED, SET32("set(.eq|.ne|.lt|.le|.gt|.ge)(.u32|.s32|.f32)" INT6 " %x, ${3}, ${3?};", "2")},
    {0, DT_UNGUARDED, SET32("set(.lo|.ls|.hi|.hs)(.u32|.s32|.f32)(.u16|.u32|.u64) %x, ${3}, ${3?};", "2")},
    {0, DT_UNGUARDED,
     SET32("set(.eq|.ne|.lt|.le|.gt|.ge)" BOOL "(.u32|.s32|.f32)" INT6 " %x, ${4}, ${4}, ${pred!};", "3")},
    {0, DT_UNGUARDED, SET32("set" CMP_FLOAT "(|.ftz)(.u32|.s32|.f32).f32 %x, ${f32}, ${f32?};", "3")},
    {0, DT_UNGUARDED, SET32("set" CMP_FLOAT "(.u32|.s32|.f32).f64 %x, ${f64}, ${f64?};", "2")},
    {0, DT_UNGUARDED,
     SET32("set" CMP_FLOAT BOOL "(.u32|.s32|.f32)(.f32|.f64) %x, ${4}, ${4}, ${pred!};", "3")},
    {0, DT_UNGUARDED, "set" CMP_FLOAT "(|.ftz)(.u32|.s32).f16 ${=3}, ${f16}, ${f16};"},
    {0, DT_UNGUARDED, SET16("set" CMP_FLOAT "(|.ftz)(.u16|.s16|.f16).f16 %x, ${f16}, ${f16};", "3")},
    {0, DT_UNGUARDED, "set" CMP_FLOAT "(|.ftz)(.f16x2|.u32|.s32).f16x2 ${=3}, ${f16x2}, ${f16x2};"},
    {90, DT_UNGUARDED, "set" CMP_FLOAT "(.u32|.s32).bf16 ${=2}, ${bf16}, ${bf16};"},
    {90, DT_UNGUARDED, SET16("set" CMP_FLOAT "(.bf16|.u16|.s16).bf16 %x, ${bf16}, ${bf16};", "2")},
    {90, DT_UNGUARDED, "set" CMP_FLOAT "(.bf16x2|.u32|.s32).bf16x2 ${=2}, ${bf16x2}, ${bf16x2};"},
    {0, DT_UNGUARDED, SET16("set(.eq|.lt|.ge).f16(.u16|.s32|.u64|.f32|.f64) %x, ${2}, ${2};", "f16")},
    {90, DT_UNGUARDED, SET16("set(.eq|.lt|.ge).bf16(.u16|.s32|.u64|.f32|.f64) %x, ${2}, ${2};", "bf16")},
    /* f32 and f64 */
    {0, 0, "(add|sub|mul)" RND "(|.ftz)(|.sat).f32 ${=f32}, ${f32}, ${f32?};"},
    {0, 0, ANY_NAN("(add|sub|mul)" RND ".f64 %x, ${f64}, ${f64?};")},
    {0, 0, "(add|sub)(|.ftz)(|.sat).f32 ${=f32}, ${f32}, ${f32?};"},
    {0, 0, ANY_NAN("(add|sub).f64 %x, ${f64}, ${f64?};")},
    {0, 0, "{ .reg .b32 %x; mul(|.ftz)(|.sat).f32 %x, ${f32 a}, ${f32 b}; ${!exact b32:%x, a, b} }"},
    {0, 0, "{ .reg .b64 %x; mul.f64 %x, ${f64 a}, ${f64 b}; ${!nan b64:%x, a, b} }"},
    {0, 0, "(fma|mad)" RND "(|.ftz)(|.sat).f32 ${=f32}, ${f32}, ${f32}, ${f32};"},
    {0, 0, ANY_NAN("(fma|mad)" RND ".f64 %x, ${f64}, ${f64}, ${f64};")},
    {0, 0, "div" RND "(|.ftz).f32 ${=f32}, ${f32}, ${f32};"},
    {0, 0, ANY_NAN("div" RND ".f64 %x, ${f64}, ${f64};")},
    {0, 0, "(rcp|sqrt)" RND "(|.ftz).f32 ${=f32}, ${f32};"},
    {0, 0, "(rcp|sqrt)" RND ".f64 ${=f64}, ${f64};"},
    {0, 0, ANY_NAN32("(abs|neg)(|.ftz).f32 %x, ${f32};")},
    {0, 0, ANY_NAN("(abs|neg).f64 %x, ${f64};")},
    {0, DT_DISTINCT, "(min|max)(|.ftz)(|.NaN)(|.xorsign.abs).f32 ${=f32}, ${f32}, ${f32};"},
    {0, 0, ANY_NAN("(min|max).f64 %x, ${f64}, ${f64?};")},
    {0, 0, "copysign(.f32|.f64) ${=1}, ${1}, ${1};"},
    {0, DT_UNGUARDED,
     "testp(.finite|.infinite|.number|.notanumber|.normal|.subnormal)(.f32|.f64) ${=pred}, ${2};"},
    /* Approximations */
    {0, 0, "{ .reg .b32 %x; rcp.approx(|.ftz).f32 %x, ${f32 a}; ${!rcp b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; sqrt.approx(|.ftz).f32 %x, ${f32 a}; ${!sqrt b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; rsqrt.approx(|.ftz).f32 %x, ${f32 a}; ${!rsqrt b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; sin.approx(|.ftz).f32 %x, ${f32 a}; ${!sin b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; cos.approx(|.ftz).f32 %x, ${f32 a}; ${!sin b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; lg2.approx(|.ftz).f32 %x, ${f32 a}; ${!lg2 b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; ex2.approx(|.ftz).f32 %x, ${f32 a}; ${!ex2 b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; tanh.approx.f32 %x, ${f32 a}; ${!tanh b32:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; div.approx(|.ftz).f32 %x, ${f32 a}, ${f32 b}; ${!div_approx b32:%x, a, b} }"},
    {0, 0, "{ .reg .b32 %x; div.full(|.ftz).f32 %x, ${f32 a}, ${f32 b}; ${!div_full b32:%x, a, b} }"},
    {0, 0, "{ .reg .b64 %x; rcp.approx.ftz.f64 %x, ${f64 a}; ${!rcp_f64 b64:%x, a} }"},
    {0, 0, "{ .reg .b64 %x; rsqrt.approx.ftz.f64 %x, ${f64 a}; ${!rcp_f64 b64:%x, a} }"},
    {0, 0, "{ .reg .b64 %x; rsqrt.approx.f64 %x, ${f64 a}; ${!rsqrt_f64 b64:%x, a} }"},
    {0, 0, "{ .reg .b16 %x; ex2.approx.f16 %x, ${f16 a}; ${!ex2_f16 b16:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; ex2.approx.f16x2 %x, ${f16x2 a}; ${!ex2_f16x2 b32:%x, a} }"},
    {90, 0, "{ .reg .b16 %x; ex2.approx.ftz.bf16 %x, ${bf16 a}; ${!ex2_bf16 b16:%x, a} }"},
    {90, 0, "{ .reg .b32 %x; ex2.approx.ftz.bf16x2 %x, ${bf16x2 a}; ${!ex2_bf16x2 b32:%x, a} }"},
    {0, 0, "{ .reg .b16 %x; tanh.approx.f16 %x, ${f16 a}; ${!tanh_f16 b16:%x, a} }"},
    {0, 0, "{ .reg .b32 %x; tanh.approx.f16x2 %x, ${f16x2 a}; ${!tanh_f16x2 b32:%x, a} }"},
    {90, 0, "{ .reg .b16 %x; tanh.approx.bf16 %x, ${bf16 a}; ${!tanh_bf16 b16:%x, a} }"},
    {90, 0, "{ .reg .b32 %x; tanh.approx.bf16x2 %x, ${bf16x2 a}; ${!tanh_bf16x2 b32:%x, a} }"},
    /* Half precision */
    {0, 0, "(add|sub|mul).rn(|.ftz)(|.sat)(.f16|.f16x2) ${=4}, ${4}, ${4};"},
    {0, 0, "(add|sub)(|.ftz)(|.sat)(.f16|.f16x2) ${=4}, ${4}, ${4};"},
    {0, 0, "{ .reg .b16 %x; mul(|.ftz)(|.sat).f16 %x, ${f16 a}, ${f16 b}; ${!exact b16:%x, a, b} }"},
    {0, 0, "{ .reg .b32 %x; mul(|.ftz)(|.sat).f16x2 %x, ${f16x2 a}, ${f16x2 b}; ${!exact b32:%x, a, b} }"},
    {0, 0, "fma.rn(|.ftz)(|.sat|.relu)(.f16|.f16x2) ${=3}, ${3}, ${3}, ${3};"},
    {90, 0, "(add|sub|mul).rn(.bf16|.bf16x2) ${=2}, ${2}, ${2};"},
    {90, 0, "(add|sub)(.bf16|.bf16x2) ${=2}, ${2}, ${2};"},
    {90, 0, "{ .reg .b16 %x; mul.bf16 %x, ${bf16 a}, ${bf16 b}; ${!exact b16:%x, a, b} }"},
    {90, 0, "{ .reg .b32 %x; mul.bf16x2 %x, ${bf16x2 a}, ${bf16x2 b}; ${!exact b32:%x, a, b} }"},
    {0, 0, "fma.rn(|.relu)(.bf16|.bf16x2) ${=2}, ${2}, ${2}, ${2};"},
    {0, 0, ANY_NAN16("(abs|neg)(|.ftz)", "f16")},
    {0, 0, ANY_NAN16X2("(abs|neg)(|.ftz)", "f16x2")},
    {90, 0, ANY_NAN16("(abs|neg)", "bf16")},
    {90, 0, ANY_NAN16X2("(abs|neg)", "bf16x2")},
    {0, DT_DISTINCT, "(min|max)(|.ftz)(|.NaN)(|.xorsign.abs)(.f16|.f16x2) ${=5}, ${5}, ${5};"},
    {0, DT_DISTINCT, "(min|max)(|.NaN)(|.xorsign.abs)(.bf16|.bf16x2) ${=4}, ${4}, ${4};"},
    /* Two f32 */
    {100, 0, "(add|sub|mul)" RND "(|.ftz).f32x2 ${=f32x2}, ${f32x2}, ${f32x2};"},
    {100, 0, "(add|sub)(|.ftz).f32x2 ${=f32x2}, ${f32x2}, ${f32x2};"},
    {100, 0, "{ .reg .b64 %x; mul(|.ftz).f32x2 %x, ${f32x2 a}, ${f32x2 b}; ${!exact b64:%x, a, b} }"},
    {100, 0, "fma" RND "(|.ftz).f32x2 ${=f32x2}, ${f32x2}, ${f32x2}, ${f32x2};"},
    /* Conversions */
    {0, 0, "cvt" INT8 INT8 " ${=1}, ${2};"},
    {0, 0, "cvt" INT8 INT8 " ${=b64}, ${2};"},
    {0, DT_UNGUARDED, "cvt(.u8|.s8|.u16|.s16)" INT8 " ${=b32}, ${2};"},
    {0, 0, SAT16("(.u8|.s8|.s16).u16 ${=(b16|b32|b64)}")},
    {0, 0, SAT16("(.u8|.s8|.u16).s16 ${=(b16|b32|b64)}")},
    {0, 0, SAT16("(.u32|.u64)(.s16|.s8) ${=1}")},
    {0, 0, SAT16("(.u8.s8|.u16.s8|.s8.u8) ${=(b16|b32|b64)}")},
    {0, 0, SAT32("(.u8|.s8|.u16|.s16)(.u32|.s32) ${=(b16|b32|b64)}")},
    {0, 0, SAT32("(.s32.u32|.u32.s32) ${=(b32|b64)}")},
    {0, 0, SAT32(".u64.s32 ${=u64}")},
    {0, 0, SAT64("(.u8|.s8|.u16|.s16)(.u64|.s64) ${=(b16|b32|b64)}")},
    {0, 0, SAT64("(.u32|.s32)(.u64|.s64) ${=(b32|b64)}")},
    {0, 0, SAT64("(.s64.u64|.u64.s64) ${=b64}")},
    {0, 0, "cvt(.u16|.s32|.u64)(.u8|.s8|.u16|.s16) ${=1}, ${b32};"},
    {0, 0, "cvt" RND "(|.sat)(.f16|.f32|.f64)" INT8 " ${=3}, ${4};"},
    {90, 0, "{ .reg .b16 %x; add.u16 %x, ${b16}, 1; cvt" RND ".bf16(.u16|.s16) ${=bf16}, %x; }"},
    {90, 0, "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; cvt" RND ".bf16(.u32|.s32) ${=bf16}, %x; }"},
    {90, 0, "{ .reg .b64 %x; add.u64 %x, ${b64}, 1; cvt" RND ".bf16(.u64|.s64) ${=bf16}, %x; }"},
    {0, 0, "cvt" INTEGRAL "(|.sat)" INT8 "(.f16|.f32|.f64) ${=3}, ${4};"},
    {0, 0, "cvt" INTEGRAL ".ftz(|.sat)" INT8 ".f32 ${=3}, ${f32};"},
    {0, DT_UNGUARDED, "cvt" INTEGRAL "(.u8|.s8|.u16|.s16)(.f16|.f32|.f64) ${=b32}, ${3};"},
    {0, DT_UNGUARDED, "cvt" INTEGRAL "(.u8|.s8|.u16|.s16|.u32|.s32)(.f16|.f32|.f64) ${=b64}, ${3};"},
    {90, 0, "cvt" INTEGRAL INT6 ".bf16 ${=2}, ${bf16};"},
    {0, 0, "cvt" RND "(|.ftz).f16.f32 ${=f16}, ${f32};"},
    {0, 0, OF32("cvt" RND "(|.ftz).sat.f16.f32 ${=f16}")},
    {0, 0, "cvt" RND ".f16.f64 ${=f16}, ${f64};"},
    {0, 0, OF64("cvt" RND ".sat.f16.f64 ${=f16}")},
    {0, 0, "cvt" RND "(|.ftz).f32.f64 ${=f32}, ${f64};"},
    {0, 0, OF64("cvt" RND "(|.ftz).sat.f32.f64 ${=f32}")},
    {0, 0, "cvt(|.ftz).f64.f32 ${=f64}, ${f32};"},
    {0, 0, OF32("cvt(|.ftz).sat.f64.f32 ${=f64}")},
    {0, 0,
     "{ .reg .b32 %x; add.u32 %x, ${f32}, %o32; cvt(|.ftz)(|.sat).f32.f32 %x, %x; "
     "add.u32 ${=f32}, %x, %o32; }"},
    {0, 0, "cvt.f64.f16 ${=f64}, ${f16};"},
    {0, 0, OF16("cvt.sat.f64.f16 ${=f64}")},
    {0, 0, OF64("cvt(|.sat).f64.f64 ${=f64}")},
    {0, 0, "cvt(|.ftz).f32.f16 ${=f32}, ${f16};"},
    {0, 0, OF16("cvt(|.ftz).sat.f32.f16 ${=f32}")},
    {0, 0,
     "{ .reg .b16 %x; add.u16 %x, ${f16}, %o16; cvt(|.sat).f16.f16 %x, %x; add.u16 ${=f16}, %x, %o16; }"},
    {0, 0, "cvt" INTEGRAL "(|.ftz).f32.f32 ${=f32}, ${f32};"},
    {0, 0, OF32("cvt" INTEGRAL "(|.ftz).sat.f32.f32 ${=f32}")},
    {0, 0, "cvt" INTEGRAL ".f64.f64 ${=f64}, ${f64};"},
    {0, 0, OF64("cvt" INTEGRAL ".sat.f64.f64 ${=f64}")},
    {0, 0,
     "{ .reg .b16 %x; add.u16 %x, ${f16}, %o16; cvt" INTEGRAL
     "(|.sat).f16.f16 %x, %x; add.u16 ${=f16}, %x, %o16; }"},
    {0, 0, "cvt(.rn|.rz)(|.relu)(|.satfinite).bf16.f32 ${=bf16}, ${f32};"},
    {0, 0, "cvt(.rn|.rz)(|.relu)(|.satfinite).f16.f32 ${=f16}, ${f32};"},
    {90, 0, "cvt(.rn|.rz|.rm|.rp).bf16.f64 ${=bf16}, ${f64};"},
    {90, 0,
     "{ .reg .b16 %x; cvt(.rn|.rz|.rm|.rp)(.bf16.f16|.f16.bf16) %x, ${b16}; add.u16 ${=b16}, %x, %o16; }"},
    {0, 0, "cvt.f32.bf16 ${=f32}, ${bf16};"},
    {90, 0, "cvt.f64.bf16 ${=f64}, ${bf16};"},
    {90, 0, "{ .reg .b16 %x; cvt" INTEGRAL ".bf16.bf16 %x, ${bf16}; add.u16 ${=bf16}, %x, %o16; }"},
    {0, 0, "cvt(.rn|.rz)(|.relu)(|.satfinite)(.f16x2|.bf16x2).f32 ${=4}, ${f32}, ${f32};"},
    {0, 0, "cvt.rna(|.satfinite).tf32.f32 ${=b32}, ${f32};"},
    {90, 0, "cvt(.rn|.rz)(|.relu).tf32.f32 ${=b32}, ${f32};"},
    {100, 0, "cvt(.rn|.rz)(|.relu).satfinite.tf32.f32 ${=b32}, ${f32};"},
    {89, 0, "cvt.rn.satfinite(|.relu)(.e4m3x2|.e5m2x2).f32 ${=b16}, ${f32}, ${f32};"},
    {89, 0, "cvt.rn.satfinite(|.relu)(.e4m3x2|.e5m2x2).f16x2 ${=b16}, ${f16x2};"},
    {89, 0, "cvt.rn(|.relu).f16x2(.e4m3x2|.e5m2x2) ${=f16x2}, ${b16};"},
    {100, 0, "cvt.rn.satfinite(|.relu)(.e2m3x2|.e3m2x2).f32 ${=b16}, ${f32}, ${f32};"},
    {100, 0, "cvt.rn(|.relu).f16x2(.e2m3x2|.e3m2x2) ${=f16x2}, ${b16};"},
    {100, 0,
     "{ .reg .b8 %x; cvt.rn.satfinite(|.relu).e2m1x2.f32 %x, ${f32}, ${f32}; cvt.rn(|.relu).f16x2.e2m1x2 "
     "${=f16x2}, %x; }"},
    {100, 0, "cvt(.rz|.rp)(|.satfinite).ue8m0x2.f32 ${=b16}, ${f32}, ${f32};"},
    {100, 0, "cvt(.rz|.rp)(|.satfinite).ue8m0x2.bf16x2 ${=b16}, ${bf16x2};"},
    {100, 0, "cvt.rn.bf16x2.ue8m0x2 ${=bf16x2}, ${b16};"},
    {0, 0, "cvt.pack.sat(.u16|.s16).s32 ${=b32}, ${s32}, ${s32};"},
    {0, 0, "cvt.pack.sat(.u8|.s8).s32.b32 ${=b32}, ${s32}, ${s32}, ${b32};"},
    /* Moves */
    {0, 0, "mov(.b16|.u16|.s16|.b32|.u32|.s32|.b64|.u64|.s64|.f32|.f64) ${=1}, ${1?};"},
    {0, 0, "mov.pred ${=pred}, ${pred};"},
    {0, 0, "mov.b32 ${=b32}, {${b16}, ${b16}};"},
    {0, 0, "mov.b64 ${=b64}, {${b32}, ${b32}};"},
    {0, 0, "mov.b64 ${=b64}, {${b16}, ${b16}, ${b16}, ${b16}};"},
    {0, 0, "mov.b32 {${=b16}, ${=b16}}, ${b32};"},
    {0, 0, "mov.b64 {${=b32}, ${=b32}}, ${b64};"},
    {0, 0, "mov.b64 {_, ${=b32}}, ${b64};"},
    {0, 0, "mov.b64 {${=b16}, ${=b16}, ${=b16}, ${=b16}}, ${b64};"},
    {0, 0,
     "{ .reg .b8 %x<4>; mov.b32 {%x0, %x1, %x2, %x3}, ${b32}; mov.b32 ${=b32}, {%x3, %x1, %x0, %x2}; }"},
    {70, 0,
     "{ .reg .b128 %x, %y; mov.b128 %x, {${b64}, ${b64}}; mov.b128 %y, %x; mov.b128 {${=b64}, ${=b64}}, %y; "
     "}"},
    {0, 0,
     "mov.u32 ${=u32}, "
     "(%tid.x|%tid.y|%ntid.x|%ntid.z|%ctaid.x|%ctaid.y|%nctaid.x|%laneid|%lanemask_eq|%lanemask_le|%lanemask_"
     "lt|%lanemask_ge|%lanemask_gt);"},
    {0, 0, "mov.u16 ${=u16}, (%tid.x|%ntid.x|%ctaid.x|%nctaid.x);"},
    {0, 0, "cvt(.u32.u16|.s32.s16|.u32.u8) ${=b32}, (%tid.x|%ntid.x|%ctaid.y|%laneid);"},
    {0, 0, "mov.v4.u32 {${=u32}, ${=u32}, ${=u32}, ${=u32}}, (%tid|%ntid|%ctaid|%nctaid);"},
    {0, 0, "mov.v2.b32 {${=b32}, ${=b32}}, {${b32}, ${b32}};"},
    {0, 0,
     "{ .reg .b32 %x; mov.u32 %x, "
     "(%clock|%clock_hi|%globaltimer_lo|%smid|%warpid|%nsmid|%nwarpid|%dynamic_smem_size|%total_smem_size); "
     "and.b32 ${=b32}, %x, 0; }"},
    {0, 0, "{ .reg .b64 %x; mov.u64 %x, (%clock64|%globaltimer|%gridid); and.b64 ${=b64}, %x, 0; }"},
    /* Addresses */
    {0, 0,
     "{ .reg .b64 %x; cvta.to.global.u64 %x, %gp; cvta.global.u64 %x, %x; ld(|.global).b32 ${=b32}, "
     "[%x+${@4}]; }"},
    {0, 0,
     "{ .reg .b64 %x, %y; cvta.to.shared.u64 %x, %sg; cvta.shared.u64 %y, %x; sub.u64 ${=b64}, %y, %sg; "
     "ld.shared.b32 ${=b32}, [%x+${@4}]; }"},
    {0, 0,
     "{ .reg .b64 %x, %y; cvta.local.u64 %x, %lp; cvta.to.local.u64 %y, %x; sub.u64 ${=b64}, %y, %lp; ld.b32 "
     "${=b32}, [%x+${@4}]; }"},
    {0, 0, "{ .reg .b64 %x; cvta.const.u64 %x, difftest_table; ld.b32 ${=b32}, [%x+${@4}]; }"},
    {0, 0, "isspacep(.global|.shared|.local|.shared::cta|.shared::cluster) ${=pred}, (%gp|%sg);"},
    {0, 0, "{ .reg .b64 %x; cvta.local.u64 %x, %lp; isspacep(.global|.shared|.local) ${=pred}, %x; }"},
    {90, DT_EMULATED,
     "{ .reg .b64 %x; mov.b64 %x, base; cvta.param.u64 %x, %x; isspacep.param ${=pred}, %x; }"},
    {90, 0,
     "{ .reg .b32 %x; mapa.shared::cluster.u32 %x, %sp, 0; ld.shared::cluster.b32 ${=b32}, [%x+${@4}]; "
     "getctarank.shared::cluster.u32 ${=b32}, %x; }"},
    {90, 0, "{ .reg .b64 %x; mapa.u64 %x, %sg, 0; ld.b32 ${=b32}, [%x+${@4}]; getctarank.u64 ${=b32}, %x; }"},
    /* Loads and stores */
    {0, 0, "ld.global(|.ca|.cg|.cs|.cv|.lu)(.b8|.u8|.s8|.b16|.u16|.s16) ${=b16}, [%gp+${@2}];"},
    {0, 0, "ld(.global|)(.u8|.s8|.u16|.s16|.b16|.u32|.b32|.s32|.f32) ${=b32}, [%gp+${@4}];"},
    {0, 0, "ld.global(.u8|.s8|.u16|.s16|.u32|.s32|.b32|.u64|.s64|.b64|.f64) ${=b64}, [%gp+${@8}];"},
    {0, 0,
     "ld.global(.weak|.volatile|.relaxed.gpu|.relaxed.cta|.acquire.sys)(.b32|.u32|.f32) ${=2}, [%gp+${@4}];"},
    {0, 0,
     "ld.global(.L1::evict_first|.L1::evict_last|.L1::no_allocate|.L1::evict_normal|.L1::evict_unchanged|.L2:"
     ":64B|.L2::128B|.L2::256B).b32 ${=b32}, [%gp+${@4}];"},
    {0, 0, "ld.global(.nc|.ca.nc|.nc.L1::no_allocate.L2::128B)(.u8|.s16|.b32|.f32) ${=b32}, [%in];"},
    {0, 0, "ldu.global.b32 ${=b32}, [%in];"},
    {0, 0, "ld.global(|.nc).b64 ${=b64}, [%in];"},
    {0, 0, "ld.shared(|.volatile|::cta)(.u8|.s8|.u16|.s16|.b32) ${=b32}, [%sp+${@4}];"},
    {0, 0, "ld.shared(.u8|.s8|.b16|.u16|.s16) ${=b16}, [%sp+${@2}];"},
    {0, 0, "ld.shared(.u8|.s8|.u16|.s16|.u32|.s32|.b64) ${=b64}, [%sp+${@8}];"},
    {0, 0, "ld(.u8|.s8|.u16|.s16|.b32) ${=b32}, [%sg+${@4}];"},
    {0, 0, "ld.local(.u8|.s8|.u16|.s16|.b32|.u32|.s32|.b64) ${=b64}, [%lp+${@8}];"},
    {0, 0, "ld.local(.u8|.s8|.u16|.s16|.b32) ${=b32}, [%lp+${@4}];"},
    {0, 0, "ld.local(.u8|.s8|.b16|.s16) ${=b16}, [%lp+${@2}];"},
    {0, 0, "ld.const(.u8|.s16|.b32) ${=b32}, [difftest_table+${@4}];"},
    {0, 0, "{ .reg .b64 %x; ld.param.b64 %x, [base]; sub.u64 ${=b64}, %x, %in; }"},
    {0, 0,
     "{ .reg .b32 %x, %y; ld.global(|.cs|.volatile).v2(.u8|.s8|.u16|.s16) {%x, %y}, [%gp+${@8}]; add.u32 "
     "${=b32}, %x, %o32; add.u32 ${=b32}, %y, %o32; }"},
    {0, 0,
     "{ .reg .b32 %x, %y, %v, %w; ld.global.v4(.u8|.s8|.u16|.s16) {%x, %y, %v, %w}, [%gp+${@16}]; add.u32 "
     "${=b32}, %x, %o32; add.u32 ${=b32}, %y, %o32; add.u32 ${=b32}, %v, %o32; add.u32 ${=b32}, %w, %o32; }"},
    {0, 0, "ld.global(|.cs|.volatile).v2(.b32|.f32) {${=b32}, ${=b32}}, [%gp+${@8}];"},
    {0, 0, "ld.global.v4(.b32|.f32) {${=b32}, ${=b32}, ${=b32}, ${=b32}}, [%gp+${@16}];"},
    {0, 0, "ld.shared.v2(.b8|.s8|.b16|.s16) {${=b16}, ${=b16}}, [%sp+${@4}];"},
    {0, 0, "ld.shared.v2(.u8|.s8|.u16|.s16|.u32|.s32|.b64) {${=b64}, ${=b64}}, [%sp+${@16}];"},
    {0, 0, "ld.shared.v4(.u8|.s8|.u16|.s16|.u32|.s32) {${=b64}, ${=b64}, ${=b64}, ${=b64}}, [%sp+${@16}];"},
    {0, 0, "ld.local.v4.b32 {${=b32}, ${=b32}, ${=b32}, ${=b32}}, [%lp+${@16}];"},
    {0, 0, "ld.local.v4.b32 {${=b32}, _, ${=b32}, _}, [%lp+${@16}];"},
    {100, 0,
     "ld.global.v8.b32 {${=b32}, ${=b32}, ${=b32}, ${=b32}, ${=b32}, ${=b32}, ${=b32}, ${=b32}}, "
     "[%gp+${@32}];"},
    {100, 0, "ld.global.v4.b64 {${=b64}, ${=b64}, ${=b64}, ${=b64}}, [%gp+${@32}];"},
    {70, 0, "{ .reg .b128 %x; ld(.global|).b128 %x, [%gp+${@16}]; mov.b128 {${=b64}, ${=b64}}, %x; }"},
    {0, 0,
     "{ .reg .b16 %x; add.u16 %x, ${b16}, 1; st.global(|.wb|.cg|.cs|.wt)(.b8|.u8|.s8|.b16|.u16) [%gp+${@2}], "
     "%x; }"},
    {0, 0, "st(.global|)(.b32|.u32|.f32) [%gp+${@4}], ${b32};"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st(.global|)(.u8|.b8|.u16|.b16) [%gp+${@4}], %x; }"},
    {0, 0, "st.global(.b64|.u64|.f64) [%gp+${@8}], ${b64};"},
    {0, 0, "{ .reg .b64 %x; add.u64 %x, ${b64}, 1; st.global(.u8|.u16|.u32) [%gp+${@8}], %x; }"},
    {0, 0, "st.global(.weak|.volatile|.relaxed.gpu|.release.cta)(.b32|.u32|.f32) [%gp+${@4}], ${2};"},
    {0, 0, "st.global(.L1::evict_first|.L1::evict_last|.L1::no_allocate).b32 [%gp+${@4}], ${b32};"},
    {0, 0,
     "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st.shared(|.volatile|::cta)(.u8|.u16|.b32) [%sp+${@4}], %x; "
     "}"},
    {0, 0, "{ .reg .b16 %x; add.u16 %x, ${b16}, 1; st.shared(.u8|.b16) [%sp+${@2}], %x; }"},
    {0, 0, "{ .reg .b64 %x; add.u64 %x, ${b64}, 1; st(.u8|.u16|.u32|.b64) [%sg+${@8}], %x; }"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st.local(.u8|.u16|.b32) [%lp+${@4}], %x; }"},
    {0, 0, "{ .reg .b64 %x; add.u64 %x, ${b64}, 1; st.local(.u8|.u16|.u32|.b64) [%lp+${@8}], %x; }"},
    {0, 0, "st.global.v2.b32 [%gp+${@8}], {${b32}, ${b32}};"},
    {0, 0, "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st.global.v2(.u8|.u16) [%gp+${@8}], {%x, %ti}; }"},
    {0, 0,
     "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st.global.v4(.u8|.u16) [%gp+${@16}], {%x, %ti, %x, %ti}; }"},
    {0, 0, "st.global.v4(.b32|.f32) [%gp+${@16}], {${b32}, ${b32}, ${b32}, ${b32}};"},
    {0, 0,
     "{ .reg .b16 %x, %y; add.u16 %x, ${b16}, 1; add.u16 %y, ${b16}, 2; st.shared.v2(.b8|.b16) [%sp+${@4}], "
     "{%x, %y}; }"},
    {0, 0,
     "{ .reg .b64 %x, %y; add.u64 %x, ${b64}, 1; add.u64 %y, ${b64}, 2; st.shared.v2(.u8|.u16|.u32|.b64) "
     "[%sp+${@16}], {%x, %y}; }"},
    {0, 0,
     "{ .reg .b32 %x; add.u32 %x, ${b32}, %ti; st.local.v4(.u8|.u16) [%lp+${@16}], {%x, %ti, %x, %ti}; }"},
    {0, 0, "st.local.v4.b32 [%lp+${@16}], {${b32}, ${b32}, ${b32}, ${b32}};"},
    {100, 0,
     "st.global.v8.b32 [%gp+${@32}], {${b32}, ${b32}, ${b32}, ${b32}, ${b32}, ${b32}, ${b32}, ${b32}};"},
    {70, 0, "{ .reg .b128 %x; mov.b128 %x, {${b64}, ${b64}}; st(.global|).b128 [%gp+${@16}], %x; }"},
    {0, 0, "prefetch(.global|)(.L1|.L2) [%gp];"},
    {0, 0, "prefetch.global(.L2::evict_last|.L2::evict_normal) [%gp];"},
    {0, 0, "prefetchu.L1 [%gp];"},
    {80, 0, "applypriority.global.L2::evict_normal [%wg], 128;"},
    {80, DT_EMULATED, "discard.global.L2 [%wg], 128;"},
    {80, 0,
     "{ .reg .b64 %x; "
     "createpolicy.fractional(.L2::evict_first|.L2::evict_last|.L2::evict_normal|.L2::evict_unchanged).b64 "
     "%x, 0f3F000000; ld.global.L2::cache_hint.b32 ${=b32}, [%gp+${@4}], %x; st.global.L2::cache_hint.b32 "
     "[%gp+${@4}], ${b32}, %x; }"},
    {80, 0,
     "{ .reg .b64 %x; createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %x, [%wg], 1024, "
     "2048; createpolicy.cvt.L2.b64 %x, ${b64}; mov.b64 ${=b64}, 0; }"},
    {0, 0,
     "{ .reg .b64 %x, %y; stacksave.u64 %y; alloca.u64 %x, ${#4:64}, 16; st.local.b32 [%x], ${b32}; "
     "ld.local.b32 ${=b32}, [%x]; stackrestore.u64 %y; }"},
    /* Copies in flight */
    {80, 0,
     "{ cp.async(.ca|.cg).shared.global(|.L2::64B|.L2::128B|.L2::256B) [%sp+${@16}], [%gp+${@16}], 16; "
     "cp.async.commit_group; cp.async.wait_group 0; ld.shared.b64 ${=b64}, [%sp+${@8}]; }"},
    {80, 0,
     "{ cp.async.ca.shared::cta.global [%sp+${@8}], [%gp+${@8}], (4|8); cp.async.wait_all; ld.shared.b32 "
     "${=b32}, [%sp+${@4}]; }"},
    {80, 0,
     "{ cp.async(.ca|.cg).shared.global [%sp+${@16}], [%gp+${@16}], 16, ${#0:16}; cp.async.wait_all; "
     "ld.shared.b64 ${=b64}, [%sp+${@8}]; }"},
    {80, 0,
     "{ .reg .b32 %x; and.b32 %x, ${b32}, 7; cp.async.ca.shared.global [%sp+${@8}], [%gp+${@8}], 8, %x; "
     "cp.async.wait_all; ld.shared.b64 ${=b64}, [%sp+${@8}]; }"},
    {80, 0,
     "{ .reg .b64 %x; .reg .pred %z; mbarrier.init.shared.b64 [" MB
     "], 1; cp.async.ca.shared.global [%sp+${@8}], [%gp+${@8}], 8; cp.async.mbarrier.arrive.noinc.shared.b64 "
     "[" MB "]; wait: mbarrier.test_wait.parity.shared.b64 %z, [" MB
     "], 0; @!%z bra wait; ld.shared.b64 ${=b64}, [%sp+${@8}]; mbarrier.inval.shared.b64 [" MB "]; }"},
    {90, 0,
     "{ .reg .b64 %x; .reg .pred %z; mbarrier.init.shared::cta.b64 [" MB
     "], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; "
     "mbarrier.arrive.expect_tx.shared::cta.b64 %x, [" MB
     "], 32; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%sp+${@32}], [%gp+${@32}], "
     "32, [" MB "]; wait: mbarrier.try_wait.shared::cta.b64 %z, [" MB
     "], %x; @!%z bra wait; ld.shared.b64 ${=b64}, [%sp+${@8}]; mbarrier.inval.shared.b64 [" MB
     "]; fence.proxy.async; }"},
    {90, 0,
     "{ st.shared.b64 [%sp+${@8}], ${b64}; fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group "
     "[%gp+${@32}], [%sp+${@32}], 32; cp.async.bulk.commit_group; cp.async.bulk.wait_group(|.read) 0; "
     "cp.async.bulk.wait_group 0; fence.proxy.async; ld.global.b64 ${=b64}, [%gp+${@8}]; }"},
    {90, 0,
     "{ st.shared.b64 [%sp+${@8}], ${b64}; fence.proxy.async; "
     "cp.reduce.async.bulk.global.shared::cta.bulk_group(.add|.min|.max)(.u32|.s32|.u64) [%gp+${@16}], "
     "[%sp+${@16}], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; fence.proxy.async; "
     "ld.global.b64 ${=b64}, [%gp+${@8}]; }"},
    {90, 0,
     "{ st.shared.b64 [%sp+${@8}], ${b64}; fence.proxy.async; "
     "cp.reduce.async.bulk.global.shared::cta.bulk_group(.and.b32|.or.b64|.xor.b32|.inc.u32|.dec.u32|.min."
     "s64|.max.s64|.add.f32|.add.f64|.add.noftz.f16|.add.noftz.bf16|.min.f16|.max.bf16) [%gp+${@16}], "
     "[%sp+${@16}], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; fence.proxy.async; "
     "ld.global.b64 ${=b64}, [%gp+${@8}]; }"},
    {90, 0, "cp.async.bulk.prefetch.L2.global [%gp], (16|32|64);"},
    /* mbarrier */
    {80, 0,
     "{ .reg .b64 %x, %y; .reg .pred %z; mbarrier.init.shared.b64 [" MB
     "], 3; mbarrier.arrive.shared.b64 %x, [" MB "]; mbarrier.arrive.noComplete.shared.b64 %y, [" MB
     "], 1; mbarrier.pending_count.b64 ${=b32}, %y; mbarrier.test_wait.shared.b64 ${=pred}, [" MB
     "], %x; mbarrier.arrive_drop.shared.b64 %y, [" MB
     "]; mbarrier.pending_count.b64 ${=b32}, %y; mbarrier.test_wait.shared.b64 ${=pred}, [" MB
     "], %x; mbarrier.inval.shared.b64 [" MB "]; }"},
    {90, 0,
     "{ .reg .b64 %x; mbarrier.init.shared::cta.b64 [" MB
     "], 2; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [" MB
     "], 16; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [" MB
     "], 16; mbarrier.arrive.shared::cta.b64 %x, [" MB
     "], 2; mbarrier.try_wait.shared::cta.b64 ${=pred}, [" MB
     "], %x; mbarrier.test_wait.parity.shared::cta.b64 ${=pred}, [" MB "], 1; mbarrier.inval.shared.b64 [" MB
     "]; }"},
    /* Atomics: on the thread's own bytes every result is known; on shared ones the end */
    {0, 0, "atom(.global|)(.add|.min|.max|.inc|.dec).u32 ${=u32}, [%gp+${@4}], ${u32};"},
    {0, 0,
     "atom(.relaxed.gpu|.acq_rel.cta|.acquire.sys|.release.gpu).global.add.u32 ${=u32}, [%gp+${@4}], "
     "${u32};"},
    {0, 0, "atom(.global|)(.add|.min|.max).s32 ${=s32}, [%gp+${@4}], ${s32};"},
    {0, 0, "atom(.global|)(.and|.or|.xor|.exch).b32 ${=b32}, [%gp+${@4}], ${b32};"},
    {0, 0, "atom(.global|)(.add|.min|.max).u64 ${=u64}, [%gp+${@8}], ${u64};"},
    {0, 0, "atom(.global|)(.min|.max).s64 ${=s64}, [%gp+${@8}], ${s64};"},
    {0, 0, "atom(.global|)(.and|.or|.xor|.exch).b64 ${=b64}, [%gp+${@8}], ${b64};"},
    {0, 0,
     "{ .reg .b32 %x; ld.global.b32 %x, [%gp+${@4}]; atom.global.cas.b32 ${=b32}, [%gp+${@4}], %x, ${b32}; "
     "}"},
    {0, 0, "atom.global.cas.b64 ${=b64}, [%gp+${@8}], ${b64}, ${b64};"},
    {0, 0, "atom.global.cas.b16 ${=b16}, [%gp+${@2}], ${b16}, ${b16};"},
    {0, 0, "atom(.global|).add.f32 ${=f32}, [%gp+${@4}], ${f32};"},
    {0, 0, "atom(.global|).add.f64 ${=f64}, [%gp+${@8}], ${f64};"},
    {0, 0, "atom(.global|).add.noftz.f16 ${=f16}, [%gp+${@2}], ${f16};"},
    {0, 0, "atom(.global|).add.noftz.f16x2 ${=f16x2}, [%gp+${@4}], ${f16x2};"},
    {90, 0, "atom(.global|).add.noftz.bf16 ${=bf16}, [%gp+${@2}], ${bf16};"},
    {90, 0, "atom(.global|).add.noftz.bf16x2 ${=bf16x2}, [%gp+${@4}], ${bf16x2};"},
    {90, 0,
     "{ .reg .b128 %x, %y, %z; mov.b128 %x, {${b64}, ${b64}}; mov.b128 %y, {${b64}, ${b64}}; "
     "atom.global.cas.b128 %z, [%gp+${@16}], %x, %y; mov.b128 {${=b64}, ${=b64}}, %z; atom.global.exch.b128 "
     "%z, [%gp+${@16}], %y; mov.b128 {${=b64}, ${=b64}}, %z; }"},
    {90, 0, "atom.global.v2.f32.add {${=f32}, ${=f32}}, [%gp+${@8}], {${f32}, ${f32}};"},
    {90, 0,
     "atom.global.v4.f32.add {${=f32}, ${=f32}, ${=f32}, ${=f32}}, [%gp+${@16}], {${f32}, ${f32}, ${f32}, "
     "${f32}};"},
    {90, 0, "atom.global.v2(.f16|.bf16)(.add|.min|.max).noftz {${=1}, ${=1}}, [%gp+${@4}], {${1}, ${1}};"},
    {90, 0,
     "atom.global.v2(.f16x2|.bf16x2)(.add|.min|.max).noftz {${=1}, ${=1}}, [%gp+${@8}], {${1}, ${1}};"},
    {0, 0, "red(.global|)(.add|.min|.max|.inc|.dec).u32 [%gp+${@4}], ${u32};"},
    {0, 0, "red(.global|)(.add|.min|.max).s32 [%gp+${@4}], ${s32};"},
    {0, 0, "red(.global|)(.and|.or|.xor).b32 [%gp+${@4}], ${b32};"},
    {0, 0, "red.global(.add|.min|.max).u64 [%gp+${@8}], ${u64};"},
    {0, 0, "red.global.add.f32 [%gp+${@4}], ${f32};"},
    {0, 0, "red.global.add.f64 [%gp+${@8}], ${f64};"},
    {0, 0, "red.global.add.noftz.f16x2 [%gp+${@4}], ${f16x2};"},
    {90, 0, "red.global.v2.f32.add [%gp+${@8}], {${f32}, ${f32}};"},
    {0, 0, "atom.shared(.add|.min|.max|.inc|.dec).u32 ${=u32}, [%sp+${@4}], ${u32};"},
    {0, 0, "atom.shared(.and|.or|.xor|.exch).b64 ${=b64}, [%sp+${@8}], ${b64};"},
    {0, 0, "atom.shared(.add|.min|.max).u64 ${=u64}, [%sp+${@8}], ${u64};"},
    {0, 0, "atom.shared.exch.b32 ${=b32}, [%sp+${@4}], ${b32};"},
    {0, 0, "atom.shared.cas.b32 ${=b32}, [%sp+${@4}], ${b32}, ${b32};"},
    {0, 0, "atom.shared.add.f32 ${=f32}, [%sp+${@4}], ${f32};"},
    {0, 0, "atom.add.f32 ${=f32}, [%sg+${@4}], ${f32};"},
    {0, 0,
     "{ .reg .f64 %x; .reg .pred %z; setp.nan.f64 %z, ${f64 a}, ${a}; "
     "selp.f64 %x, 0dBFF8000000000000, ${a}, %z; atom.shared.add.f64 ${=f64}, [%sp+${@8}], %x; }"},
    {0, DT_CONVERGED,
     "{ bar.sync 0; st.shared.b32 [%cm], 0; st.shared.b32 [%cm+4], ${#0:99}; bar.sync 0; "
     "red.shared(.add.u32|.min.u32|.max.u32|.xor.b32|.and.b32|.or.b32) [%cm], ${u32}; bar.sync 0; "
     "ld.shared.b32 ${=b32}, [%cm]; bar.sync 0; }"},
    {0, DT_CONVERGED,
     "{ bar.sync 0; st.shared.b64 [%cm], 0; bar.sync 0; red.shared(.add|.min|.max).u64 [%cm], ${u64}; "
     "bar.sync 0; ld.shared.b64 ${=b64}, [%cm]; bar.sync 0; }"},
    {0, DT_CONVERGED,
     "{ bar.sync 0; st.shared.b32 [%cm], 0; bar.sync 0; "
     "red.shared(.add.u32|.min.s32|.max.u32|.or.b32|.xor.b32|.inc.u32) [%cm], (1|0x7fff); bar.sync 0; "
     "ld.shared.b32 ${=b32}, [%cm]; bar.sync 0; }"},
    /* Threads of a warp */
    {0, DT_CONVERGED,
     "shfl.sync(.up|.down|.bfly|.idx).b32 ${=b32}|${=pred}, ${b32}, ${u32?}, "
     "(0|31|0x1f1f|0x181f|0x1c07|0x1003|15), " GATHER ";"},
    {0, DT_CONVERGED, "shfl.sync(.up|.down|.bfly|.idx).b32 ${=b32}, ${b32}, ${#0:31}, (0|31), " GATHER ";"},
    {0, DT_CONVERGED, "shfl.sync.idx.b32 ${=b32}|${=pred}, ${b32}, ${u32}, ${u32}, " GATHER ";"},
    {0, DT_CONVERGED, "vote.sync(.all|.any|.uni).pred ${=pred}, ${pred!}, " GATHER ";"},
    {0, DT_CONVERGED, "vote.sync.ballot.b32 ${=b32}, ${pred!}, " GATHER ";"},
    {70, DT_CONVERGED, "match.any.sync(.b32|.b64) ${=b32}, ${1}, " GATHER ";"},
    {70, DT_CONVERGED, "match.all.sync(.b32|.b64) ${=b32}|${=pred}, ${1}, " GATHER ";"},
    {70, DT_CONVERGED,
     "{ .reg .b32 %x; and.b32 %x, ${b32}, 3; match.any.sync.b32 ${=b32}, %x, " GATHER "; }"},
    {80, DT_CONVERGED, "redux.sync(.add|.min|.max)(.u32|.s32) ${=2}, ${2}, " GATHER ";"},
    {80, DT_CONVERGED, "redux.sync(.and|.or|.xor).b32 ${=b32}, ${b32}, " GATHER ";"},
    {100, DT_CONVERGED | DT_SPECIFIC, "redux.sync(.min|.max)(|.abs)(|.NaN).f32 ${=f32}, ${f32}, " GATHER ";"},
    {0, DT_CONVERGED, "{ bar.warp.sync " GATHER "; activemask.b32 ${=b32}; }"},
    {90, DT_CONVERGED, "elect.sync ${=b32}|${=pred}, " GATHER ";"},
    /* Some threads of a warp */
    {70, DT_CONVERGED,
     "{ .reg .b32 %x; .reg .pred %y; mov.pred %y, ${pred}; vote.sync.ballot.b32 %x, %y, " GATHER
     "; @!%y bra past; redux.sync(.add.u32|.min.s32|.xor.b32) ${=b32}, ${b32}, %x; match.any.sync.b32 "
     "${=b32}, ${b32}, %x; vote.sync(.all|.any|.uni).pred ${=pred}, ${pred}, %x; bar.warp.sync %x; past: "
     "bar.warp.sync " GATHER "; }"},
    {0, DT_EMULATED | DT_CONVERGED,
     "shfl(.up|.down|.bfly|.idx).b32 ${=b32}|${=pred}, ${b32}, ${u32}, ${u32};"},
    {0, DT_EMULATED | DT_CONVERGED, "vote(.all|.any|.uni).pred ${=pred}, ${pred};"},
    {0, DT_EMULATED | DT_CONVERGED, "vote.ballot.b32 ${=b32}, ${pred};"},
    /* Barriers and fences */
    {0, DT_CONVERGED,
     "{ st.shared.b64 [%sp+${@8}], ${b64}; (bar.sync 0|barrier.sync 1|bar.cta.sync "
     "2|barrier.cta.sync.aligned 3); .reg .b32 %x; xor.b32 %x, %la, (1|16); mad.lo.u32 %x, %x, 64, %wp; "
     "ld.shared.b64 ${=b64}, [%x+${@8}]; bar.sync 0; }"},
    {0, DT_CONVERGED,
     "{ .reg .b32 %x; mov.u32 %x, %ntid.x; bar.sync ${#0:15}, %x; barrier.sync ${#0:15}, %x; }"},
    {0, DT_CONVERGED, "bar.red.popc.u32 ${=u32}, ${#0:15}, ${pred!};"},
    {0, DT_CONVERGED, "bar.red(.and|.or).pred ${=pred}, ${#0:15}, ${pred!};"},
    {0, DT_CONVERGED, "barrier.cta.red.popc(|.aligned).u32 ${=u32}, ${#0:15}, ${pred!};"},
    {0, 0,
     "(membar.cta|membar.gl|membar.sys|fence.acq_rel.gpu|fence.sc.cta|fence.proxy.alias|fence.acq_rel.sys);"},
    {90, 0,
     "(fence.acq_rel.cluster|fence.proxy.async|fence.proxy.async.global|fence.proxy.async.shared::cta|fence."
     "mbarrier_init.release.cluster);"},
    {0, 0, "nanosleep.u32 ${#0:9};"},
    {90, 0, "griddepcontrol(.wait|.launch_dependents);"},
    {0, 0, "pmevent ${#0:7};"},
    {90, DT_EMULATED | DT_WARPGROUP, "setmaxnreg.dec.sync.aligned.u32 40;"},
    /* Control */
    {0, 0,
     "{ .reg .b32 %x; and.b32 %x, ${b32}, 3; ts: .branchtargets l0, l1, l2, l0; brx.idx %x, ts; l0: add.u32 "
     "${=b32 r}, ${b32}, 1; bra.uni end; l1: sub.u32 ${r}, ${b32}, 3; bra end; l2: mov.u32 ${r}, 5; end: }"},
    {0, 0,
     "{ .reg .b32 %x, %y; and.b32 %x, ${b32}, 7; mov.b32 %y, ${b32}; loop: mad.lo.u32 %y, %y, 5, %x; sub.u32 "
     "%x, %x, 1; .reg .pred %z; setp.gt.s32 %z, %x, 0; @%z bra loop; mov.b32 ${=b32}, %y; }"},
    {0, 0,
     "{ .param .b32 x; .param .b64 y; .param .b32 r; st.param.b32 [x], ${b32}; st.param.b64 [y], ${b64}; "
     "call.uni (r), difftest_mix, (x, y); ld.param.b32 ${=b32}, [r]; }"},
    {0, 0,
     "{ .reg .b64 %f; .param .b32 x; .param .b64 y; .param .b32 r; mov.u64 %f, difftest_mix; st.param.b32 "
     "[x], ${b32}; st.param.b64 [y], ${b64}; proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param "
     ".b64 _); call (r), %f, (x, y), proto; ld.param.b32 ${=b32}, [r]; }"},
    {0, 0, NULL},
};
