/* Each opcode of ptx_ops.def is decoded, or refused by name; one that is not there is refused, and so is each
 * opcode with a word that no table has. */
#include "emu/ops_warp.h"

/* What the emulator says of a kernel with this instruction alone. */
static void ask(const char *name, const char *instruction, bool known) {
  hd_buf text = {0};
  op_machine x;
  hd_diag d = {0};
  body_ptx(&text, "", instruction, 1, 1);
  op_load(&x, &text, HD_ISA_AUTO);
  const hd_status st = hd_emu_supported(x.p, "k", &d);
  op_unload(&x);
  hd_buf_free(&text);
  if (st == HD_OK && known) return;
  if (st != HD_ERR_UNSUPPORTED || !strstr(d.message, name)) fail_msg("%s: %d %s", instruction, st, d.message);
}

#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  static void row_##id(void **state) {                                                                       \
    ask(text, text ";", true);                                                                               \
    ask(text, text ".b32 %w1, %w2, %w3;", true);                                                             \
    ask(text, text "neverseen.b32 %w1, %w2, %w3;", false);                                                   \
    ask(text, text ".neverseen;", false);                                                                    \
    ask(text, text ".neverseen.b32 %w1, %w2, %w3;", false);                                                  \
    ask(text, text ".b32.neverseen %w1, %w2, %w3;", false);                                                  \
  }
#include "heddle/ptx_ops.def"
#undef PTX_OP

int main(void) {
  const struct CMUnitTest tests[] = {
#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  BEHAVIOUR(text " is decoded or refused by name, and refused with a word that is not known", row_##id),
#include "heddle/ptx_ops.def"
#undef PTX_OP
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
