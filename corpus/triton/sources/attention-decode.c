#include "numbers.h"

enum { D = 64, PAGE = 32, GROUP = 4 };

void heddle_reference(const heddle_args *args) {
  double *q = numbers_of(args, "q"), *k = numbers_of(args, "k"), *v = numbers_of(args, "v");
  const int32_t *table = heddle_s32(args, "table");
  float *out = heddle_f32(args, "out"), *top = heddle_f32(args, "top");
  int64_t sequences = heddle_size_of(args, "sequences"), heads = heddle_size_of(args, "heads");
  int64_t pages = heddle_size_of(args, "prefix") + heddle_size_of(args, "own");
  int64_t pieces = heddle_size_of(args, "pieces"), each = (pages + pieces - 1) / pieces;
  for (int64_t i = 0; i < sequences * heads * pieces * GROUP; i++) {
    int64_t head = i / (pieces * GROUP), piece = i / GROUP % pieces, sequence = head / heads;
    int64_t last = (piece + 1) * each < pages ? (piece + 1) * each : pages;
    double total = 0, sums[D] = {0};
    for (int64_t key = piece * each * PAGE; key < last * PAGE; key++) {
      int64_t page = table[sequence * pages + key / PAGE];
      int64_t at = ((page * heads + head % heads) * PAGE + key % PAGE) * D;
      double s = 0;
      for (int64_t d = 0; d < D; d++) s += q[(head * GROUP + i % GROUP) * D + d] * k[at + d];
      double p = exp(s * 0.125);
      total += p;
      for (int64_t d = 0; d < D; d++) sums[d] += p * v[at + d];
    }
    for (int64_t d = 0; d < D; d++) out[i * D + d] = (float)(sums[d] / total);
    top[i] = (float)log2(total);
  }
  free(q);
  free(k);
  free(v);
}
