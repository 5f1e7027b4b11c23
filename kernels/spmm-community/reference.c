#include <heddle_inputs.h>
#include <heddle_reference.h>

/* Of every five neighbours, four are in the row's own community of consecutive rows, as far as chance
 * has it; row blocks are dealt to CTAs at random. */
void heddle_generate(const heddle_args *args) {
  int32_t *row_start = heddle_s32(args, "row_start"), *column = heddle_s32(args, "column");
  int64_t rows = heddle_size_of(args, "rows"), degree = heddle_size_of(args, "degree");
  int64_t community = heddle_size_of(args, "community");
  heddle_permutation(1, (int64_t)heddle_count_of(args, "block_of"), heddle_s32(args, "block_of"));
  for (int64_t r = 0; r < rows; r++) {
    int64_t first = r / community * community, own = first + community < rows ? community : rows - first;
    row_start[r] = (int32_t)(r * degree);
    for (int64_t e = r * degree; e < (r + 1) * degree; e++)
      column[e] = (int32_t)(heddle_below(2, (uint64_t)e, 5) < 4 ? first + heddle_below(3, (uint64_t)e, own)
                                                                : heddle_below(3, (uint64_t)e, rows));
  }
  row_start[rows] = (int32_t)(rows * degree);
}

/* Rows in their own order. */
void heddle_reference(const heddle_args *args) {
  const int32_t *row_start = heddle_s32(args, "row_start"), *column = heddle_s32(args, "column");
  const float *value = heddle_f32(args, "value"), *dense = heddle_f32(args, "dense");
  float *out = heddle_f32(args, "out");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  memset(out, 0, (size_t)(rows * width) * sizeof *out);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t e = row_start[r]; e < row_start[r + 1]; e++)
      for (int64_t f = 0; f < width; f++) out[r * width + f] += value[e] * dense[column[e] * width + f];
}
