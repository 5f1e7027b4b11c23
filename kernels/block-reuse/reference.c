#include <heddle_reference.h>

/* Word by word, each to the thread that reads it; readers of one block differ by their task's number only. */
void heddle_reference(const heddle_args *args) {
  const uint32_t *words = heddle_u32(args, "data");
  uint32_t *out = heddle_u32(args, "out");
  int64_t blocks = heddle_size_of(args, "blocks"), readers = heddle_size_of(args, "readers");
  int64_t threads = heddle_size_of(args, "threads"), length = heddle_size_of(args, "words");
  memset(out, 0, (size_t)(blocks * readers * threads) * sizeof *out);
  for (int64_t i = 0; i < blocks * length; i++) out[i / length * threads + i % length % threads] += words[i];
  for (int64_t i = blocks * readers * threads - 1; i >= 0; i--)
    out[i] = out[i % (blocks * threads)] + (uint32_t)(i / threads);
}
