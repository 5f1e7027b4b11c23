/* Values that a GPU of sm_90 gave where the PTX ISA says otherwise, or leaves the result open. */
#include "emu/ops_warp.h"

typedef struct measured {
  const char *text; /* reads %d1, writes %d2 */
  uint64_t in, out;
} measured;

static void run_all(const measured *m, unsigned n) {
  for (unsigned k = 0; k < n; k++) {
    uint64_t in[LANES], out[LANES];
    char body[512];
    for (unsigned l = 0; l < LANES; l++) in[l] = m[k].in;
    snprintf(body, sizeof body,
             "ld.global.u64 %%d1, [%%in]; mov.b64 {%%w1, %%w2}, %%d1; mov.u32 %%w3, 0;\n%s\n"
             "st.global.u64 [%%out], %%d2;\n",
             m[k].text);
    run_words("", body, in, 1, out, 1, LANES);
    for (unsigned l = 0; l < LANES; l++)
      if (out[l] != m[k].out)
        fail_msg("%s of %016llx: %016llx, not %016llx", m[k].text, (unsigned long long)in[l],
                 (unsigned long long)out[l], (unsigned long long)m[k].out);
  }
}
#define RUN_ALL(table) run_all(table, sizeof(table) / sizeof(table)[0])

static void conversions_treat_nan_as_measured(void **state) {
#define TF32 "cvt.rna.satfinite.tf32.f32 %w4, %w1; mov.b64 %d2, {%w4, %w3};"
#define BF16 "{ .reg .b16 %x; cvt.rn.bf16.f64 %x, %d1; cvt.u64.u16 %d2, %x; }"
  static const measured table[] = {
      {TF32, 0x7fd66abe, 0x7fd64000},
      {TF32, 0xffffffff, 0xffffc000},
      {TF32, 0x7f800400, 0x7f7fe000},
      {TF32, 0x7f800000, 0x7f7fe000},
      {"cvt.rna.tf32.f32 %w4, %w1; mov.b64 %d2, {%w4, %w3};", 0x7fd66abe, 0x7fd66000},
      {BF16, 0xfffcb00000000000, 0xffe5},
      {BF16, 0xfff0000080000000, 0xffc0},
      {BF16, 0x7ff0adaaf4000000, 0x7fc5},
      {"cvt.f32.f32 %w4, %w1; mov.b64 %d2, {%w4, %w3};", 0x7f800020, 0x7f800020},
      {"cvt.ftz.f32.f32 %w4, %w1; mov.b64 %d2, {%w4, %w3};", 0x7f800020, 0x7fffffff},
  };
  RUN_ALL(table);
}

static void ftz_does_nothing_on_the_way_to_f16(void **state) {
#define TO_F16(round) "{ .reg .b16 %x; cvt." round ".ftz.f16.f32 %x, %w1; cvt.u64.u16 %d2, %x; }"
  static const measured table[] = {
      {TO_F16("rp"), 0x0039393a, 0x0001},
      {TO_F16("rm"), 0x807fffff, 0x8001},
      {TO_F16("rm"), 0x007fffff, 0x0000},
      {TO_F16("rn"), 0x807fffff, 0x8000},
  };
  RUN_ALL(table);
}

/* The old value is 1; d2 is the final one. */
static void sums_of_f64_in_global_memory_keep_signalling_nan(void **state) {
#define ATOM(space)                                                                                          \
  "mov.u64 %d3, 0x3ff0000000000000; st" space ".u64 [%out], %d3; atom" space                                 \
  ".add.f64 %d4, [%out], %d1; ld" space ".u64 %d2, [%out];"
  static const measured table[] = {
      {ATOM(".global"), 0x7ff1bc7524602672, 0x7ff1bc7524602672},
      {ATOM(""), 0xfff0000002000000, 0xfff0000002000000},
      {ATOM(".global"), 0x4000000000000000, 0x4008000000000000},
  };
  RUN_ALL(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("conversions treat NaN as measured", conversions_treat_nan_as_measured),
      BEHAVIOUR(".ftz does nothing on the way to f16", ftz_does_nothing_on_the_way_to_f16),
      BEHAVIOUR("sums of f64 in global memory keep signalling NaN",
                sums_of_f64_in_global_memory_keep_signalling_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
