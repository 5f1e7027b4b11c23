/* Uniformity of results: one case of each row of ptx_ops.def. */
#include "cfg/subject.h"
#include "heddle/ptx_facts.h"

/* How much alike its result is where all operands are numbers. A barrier's, a mask's and a shuffle's take
 * other operands: test_uniformity.c. */
static const hd_same BY_ROW[] = {
    [HD_ALIKE_NOWHERE] = HD_SAME_NOWHERE, [HD_ALIKE_NO_RESULT] = HD_SAME_NOWHERE,
    [HD_ALIKE_OPERANDS] = HD_SAME_IN_CTA, [HD_ALIKE_MEMORY] = HD_SAME_IN_CTA,
    [HD_ALIKE_MEMBERS] = HD_SAME_NOWHERE, [HD_ALIKE_SOURCE] = HD_SAME_NOWHERE,
    [HD_ALIKE_BARRIER] = HD_SAME_NOWHERE,
};

/* The level of the branch on the result of `opcode.b32 d, numbers`. */
static hd_same level_of_result(const char *opcode) {
  char body[256];
  snprintf(body, sizeof body,
           "mov.u32 %%r1, 1;\nmov.u32 %%r3, 7;\n%s.b32 %%r3, 1, 2, 3;\nsetp.eq.u32 %%p1, %%r3, 0;\n"
           "@%%p1 bra END;\nbar.sync 0;\nEND: ret;",
           opcode);
  subject s;
  hd_uniformity u;
  hd_same level = HD_SAME_IN_CTA;
  if (open_subject(&s, "", body, 0) != HD_OK) fail_msg("%s", body);
  hd_uniformity_find(&s.g, (uint32_t[3]){64, 1, 1}, &s.arena, &u);
  for (uint32_t i = 0; i < s.g.n_insts; i++)
    if (hd_inst_stmt(&s.g, i)->n_opnds == 1 && hd_inst_form(&s.g, i)->flags & HD_OPF_CTA_WIDE)
      level = hd_inst_same(&u, i);
  close_subject(&s);
  return level;
}

#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  static void row_##id(void **state) {                                                                       \
    const bool goes_on = HD_OPC_##class != HD_OPC_CONTROL, writes = (flags)&HD_OPF_RESULT;                   \
    if (goes_on && writes) assert_int_equal(level_of_result(text), BY_ROW[HD_ALIKE_##alike]);                \
    if (goes_on) assert_int_equal(level_of_result(text ".neverseen"), HD_SAME_NOWHERE);                      \
    assert_int_equal(level_of_result(text "neverseen"), HD_SAME_NOWHERE);                                    \
  }
#include "heddle/ptx_ops.def"
#undef PTX_OP

int main(void) {
  const struct CMUnitTest tests[] = {
#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  BEHAVIOUR("a result of " text " is as alike as its row says, with an unknown word in no two threads",      \
            row_##id),
#include "heddle/ptx_ops.def"
#undef PTX_OP
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
