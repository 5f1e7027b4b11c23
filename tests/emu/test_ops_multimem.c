/* multimem on one device: a team of one member. */
#include "emu/ops_warp.h"

enum { WORDS = 4 };

/* `body` beside the plain instructions of the same meaning: both leave the same words. */
static void same_as(const char *multimem, const char *plain) {
  uint64_t in[LANES * WORDS], out[2][LANES * WORDS];
  for (unsigned k = 0; k < LANES * WORDS; k++) {
    in[k] = hd_random_at(7, k);
    out[0][k] = out[1][k] = hd_random_at(8, k);
  }
  run_words("", multimem, in, WORDS, out[0], WORDS, LANES);
  run_words("", plain, in, WORDS, out[1], WORDS, LANES);
  if (memcmp(out[0], out[1], sizeof out[0]) != 0) fail_msg("not the same: %s", multimem);
}

static void what_is_reduced_over_one_member_is_its_own(void **state) {
  static const char *const loads[][3] = {
      {"multimem.ld_reduce.relaxed.sys.global.add.u32 %w1", "ld.relaxed.sys.global.b32 %w1",
       "b32 [%out], %w1"},
      {"multimem.ld_reduce.acquire.gpu.global.max.s64 %d1", "ld.acquire.gpu.global.b64 %d1",
       "b64 [%out], %d1"},
      {"multimem.ld_reduce.weak.global.xor.b64 %d1", "ld.weak.global.b64 %d1", "b64 [%out], %d1"},
      {"multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2 {%w1, %w2, %w3, %w4}",
       "ld.relaxed.sys.global.v4.b32 {%w1, %w2, %w3, %w4}", "v4.b32 [%out], {%w1, %w2, %w3, %w4}"},
      {"multimem.ld_reduce.relaxed.sys.global.min.v8.bf16 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}",
       "ld.relaxed.sys.global.v4.b32 {%w1, %w2, %w3, %w4}; mov.b32 {%h1, %h2}, %w1; mov.b32 {%h3, %h4}, %w2; "
       "mov.b32 {%h5, %h6}, %w3; mov.b32 {%h7, %h8}, %w4",
       "v4.b16 [%out], {%h1, %h4, %h6, %h8}"},
      {"multimem.ld_reduce.relaxed.sys.global.add.acc::f16.v2.e4m3x2 {%h1, %h2}",
       "ld.relaxed.sys.global.v2.b16 {%h1, %h2}", "v2.b16 [%out], {%h1, %h2}"},
  };
  for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
    char body[2][512];
    const char *semicolon = strchr(loads[k][1], ';'); /* the address belongs to the first instruction */
    const int first = (int)(semicolon ? semicolon - loads[k][1] : (long)strlen(loads[k][1]));
    snprintf(body[0], sizeof body[0], "%s, [%%in]; st.global.%s;", loads[k][0], loads[k][2]);
    snprintf(body[1], sizeof body[1], "%.*s, [%%in]%s; st.global.%s;", first, loads[k][1],
             loads[k][1] + first, loads[k][2]);
    same_as(body[0], body[1]);
  }
}

static void stores_and_reductions_reach_the_member(void **state) {
  static const char *const writes[][2] = {
      {"multimem.st.release.sys.global.b64 [%out], %d1;", "st.release.sys.global.b64 [%out], %d1;"},
      {"multimem.st.weak.global.v2.f32 [%out], {%f1, %f2};", "st.weak.global.v2.f32 [%out], {%f1, %f2};"},
      {"multimem.red.relaxed.gpu.global.add.u64 [%out], %d1;", "red.relaxed.gpu.global.add.u64 [%out], %d1;"},
      {"multimem.red.release.sys.global.min.s32 [%out], %w1;", "red.release.sys.global.min.s32 [%out], %w1;"},
      {"multimem.red.relaxed.sys.global.and.b32 [%out], %w1;", "red.relaxed.sys.global.and.b32 [%out], %w1;"},
      {"multimem.red.relaxed.sys.global.add.v2.f32 [%out], {%f1, %f2};",
       "red.relaxed.sys.global.add.v2.f32 [%out], {%f1, %f2};"},
      {"multimem.red.relaxed.sys.global.max.v2.f16x2 [%out], {%w1, %w2};",
       "red.relaxed.sys.global.max.v2.f16x2 [%out], {%w1, %w2};"},
  };
  for (size_t k = 0; k < sizeof writes / sizeof *writes; k++) {
    char body[2][512];
    for (unsigned which = 0; which < 2; which++)
      snprintf(body[which], sizeof body[which],
               "ld.global.b64 %%d1, [%%in]; ld.global.v2.b32 {%%w1, %%w2}, [%%in+8]; ld.global.v2.f32 {%%f1, "
               "%%f2}, [%%in+16]; %s",
               writes[k][which]);
    same_as(body[0], body[1]);
  }
}

static void what_ptxas_refuses_is_refused(void **state) {
  static const char *const bodies[] = {
      "multimem.ld_reduce.relaxed.sys.global.add.s64 %d1, [%d2];",
      "multimem.ld_reduce.relaxed.sys.global.min.f32 %f1, [%d2];",
      "multimem.ld_reduce.relaxed.sys.global.add.f16 %h1, [%d2];",
      "multimem.ld_reduce.relaxed.sys.global.min.acc::f32.v2.f16x2 {%w1, %w2}, [%d2];",
      "multimem.red.relaxed.sys.global.add.v4.e4m3x2 [%d2], {%h1, %h2, %h3, %h4};",
      "multimem.red.relaxed.sys.global.exch.b32 [%d2], %w1;",
      "multimem.st.relaxed.sys.global.v2.b32 [%d2], {%w1, %w2};",
      "multimem.cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d2], %w1;",
  };
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    hd_diag d = {0};
    if (op_supported("", bodies[k], &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", bodies[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what is reduced over one member is its own", what_is_reduced_over_one_member_is_its_own),
      BEHAVIOUR("stores and reductions reach the member", stores_and_reductions_reach_the_member),
      BEHAVIOUR("what ptxas refuses is refused", what_ptxas_refuses_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
