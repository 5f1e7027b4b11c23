/* A kernel that shows in what order its CTAs come: out[ctaid] = how many were there before. */
#define PTX_ORDER                                                                                            \
  ".version 7.8\n.target sm_70\n.address_size 64\n"                                                          \
  ".visible .entry order(.param .u64 out, .param .u64 count) {\n"                                            \
  ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"                                                                     \
  "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [count]; mov.u32 %r1, %ctaid.x;\n"                           \
  "atom.global.add.u32 %r2, [%rd2], 1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"               \
  "st.global.u32 [%rd4], %r2; ret; }\n"
/* The same, and it counts in a variable of its module. */
#define PTX_COUNTING                                                                                         \
  ".version 7.8\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 seen;\n"                    \
  ".visible .entry order(.param .u64 out, .param .u64 count) {\n"                                            \
  ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"                                                                     \
  "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [count]; mov.u32 %r1, %ctaid.x;\n"                           \
  "atom.global.add.u32 %r2, [%rd2], 1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"               \
  "st.global.u32 [%rd4], %r2; red.global.add.u32 [seen], 1; ret; }\n"
