#include <heddle_reference.h>

/* All SMs' numbers are alike; where and how long CTAs ran is the machine's affair. */
void heddle_reference(const heddle_args *args) {
  float *temporal = heddle_f32(args, "temporal_seen"), *spatial = heddle_f32(args, "spatial_seen");
  int64_t n = heddle_size_of(args, "ctas");
  int32_t *const machine[] = {heddle_s32(args, "temporal_sms"), heddle_s32(args, "temporal_ticks"),
                              heddle_s32(args, "spatial_sms"), heddle_s32(args, "spatial_ticks")};
  for (size_t k = 0; k < sizeof machine / sizeof *machine; k++)
    memset(machine[k], 0, (size_t)n * sizeof **machine);
  for (int64_t i = 0; i < n; i++) temporal[i] = spatial[i] = 5 + 2;
}
