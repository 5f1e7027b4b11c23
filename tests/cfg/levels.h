/* The level of a barrier in a kernel of shared and global variables. */
#ifndef HEDDLE_TESTS_CFG_LEVELS_H
#define HEDDLE_TESTS_CFG_LEVELS_H

#include "cfg/subject.h"

#define FUNCTIONS                                                                                            \
  ".shared .align 8 .b8 s[64];\n.shared .align 8 .b8 t[64];\n"                                               \
  ".extern .shared .align 8 .b8 open[];\n.extern .shared .align 4 .b32 same[];\n"                            \
  ".global .align 8 .b8 here[64];\n.global .align 8 .b8 there[64];\n"                                        \
  ".func (.param .b64 r) own() { .local .b32 v; .reg .b64 %d; mov.u64 %d, v; cvta.local.u64 %d, %d; "        \
  "st.param.b64 [r], %d; ret; }\n"

/* The level of the barrier in the body. */
static hd_same level_of_barrier(const char *body, const uint32_t block[3]) {
  subject s;
  hd_uniformity u;
  hd_same level = HD_SAME_NOWHERE;
  bool found = false;
  if (open_subject(&s, FUNCTIONS, body, 0) != HD_OK) fail_msg("%s", body);
  hd_uniformity_find(&s.g, block, &s.arena, &u);
  for (uint32_t i = 0; i < s.g.n_insts; i++)
    if (hd_inst_form(&s.g, i)->op == HD_OP_BAR) {
      level = hd_inst_same(&u, i);
      found = true;
    }
  assert_true(found);
  close_subject(&s);
  return level;
}

#define SKIP_UNLESS_ODD                                                                                      \
  "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra END;\nbar.sync 0;\nEND: ret;"

#endif
