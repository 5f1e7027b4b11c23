/* Persistent kernels, in parts: the head, a tile's work, and the loop over tiles. */
#ifndef HEDDLE_TESTS_REWRITE_TILE_LOOP_H
#define HEDDLE_TESTS_REWRITE_TILE_LOOP_H

/* Tile t gets word t of `out`. %r1 is the tile's number, %r2 the grid, %r3 their end. */
static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 out, .param .u32 n, .param .u32 width)\n{\n"
                           ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>;\n"
                           "ld.param.u64 %d0, [out]; ld.param.u32 %r8, [n]; ld.param.u32 %r9, [width];\n"
                           "mov.u32 %r20, %tid.x; setp.eq.u32 %p0, %r20, 0;\n";

#define START "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %r8;\n"
#define WORK "mad.wide.u32 %d1, %r1, 4, %d0; st.global.u32 [%d1], %r1;\n"
#define STEP "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra tiles;\n"
#define THREAD "mad.lo.u32 %r10, %r1, 40, %r20; mad.wide.u32 %d1, %r10, 4, %d0;\n"

#endif
