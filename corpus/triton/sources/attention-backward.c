#include "numbers.h"

enum { D = 32 };
#define SCALE 0.1767767f

/* A head's matrices, and its rows' weights: softmax(q k^T), row by row. */
typedef struct head {
  int64_t length;
  const double *q, *k, *v, *grad;
} head;

static double dot(const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < D; i++) sum += x[i] * y[i];
  return sum;
}

/* The logarithm to base 2 of the row's sum of exponentials, and the product of its gradient and result. */
static void sum_row(const head *h, int64_t row, double *top, double *mean) {
  double total = 0, along = 0;
  for (int64_t key = 0; key < h->length; key++) {
    double p = exp(dot(h->q + row * D, h->k + key * D) * SCALE);
    total += p;
    along += p * dot(h->grad + row * D, h->v + key * D);
  }
  *top = log2(total);
  *mean = along / total;
}

static head head_of(const heddle_args *args, double *all[4], int64_t number) {
  static const char *const names[] = {"q", "k", "v", "grad"};
  int64_t length = heddle_size_of(args, "length");
  for (int i = 0; i < 4 && number == 0; i++) all[i] = numbers_of(args, names[i]);
  int64_t at = number * length * D;
  return (head){length, all[0] + at, all[1] + at, all[2] + at, all[3] + at};
}

void heddle_generate(const heddle_args *args) {
  double *all[4] = {0};
  float *top = heddle_f32(args, "top"), *mean = heddle_f32(args, "mean");
  for (int64_t i = 0; i < heddle_size_of(args, "heads"); i++) {
    head h = head_of(args, all, i);
    for (int64_t row = 0; row < h.length; row++) {
      double t, m;
      sum_row(&h, row, &t, &m);
      top[i * h.length + row] = (float)t;
      mean[i * h.length + row] = (float)m;
    }
  }
  for (int i = 0; i < 4; i++) free(all[i]);
}

void heddle_reference(const heddle_args *args) {
  double *all[4] = {0};
  const heddle_buffer *out[] = {heddle_find(args, "dq"), heddle_find(args, "dk"), heddle_find(args, "dv")};
  int64_t heads = heddle_size_of(args, "heads"), length = heddle_size_of(args, "length");
  double *sums = malloc((size_t)(3 * length * D) * sizeof *sums);
  if (!sums) args->fail(args, "out of memory");
  for (int64_t i = 0; i < heads; i++) {
    head h = head_of(args, all, i);
    double *dq = sums, *dk = dq + length * D, *dv = dk + length * D;
    memset(sums, 0, (size_t)(3 * length * D) * sizeof *sums);
    for (int64_t row = 0; row < length; row++) {
      double top, mean;
      sum_row(&h, row, &top, &mean);
      for (int64_t key = 0; key < length; key++) {
        double p = exp2(dot(h.q + row * D, h.k + key * D) * SCALE * 1.4426950408889634 - top);
        double ds = p * (dot(h.grad + row * D, h.v + key * D) - mean) * SCALE;
        for (int64_t d = 0; d < D; d++) {
          dq[row * D + d] += ds * h.k[key * D + d];
          dk[key * D + d] += ds * h.q[row * D + d];
          dv[key * D + d] += p * h.grad[row * D + d];
        }
      }
    }
    for (int64_t j = 0; j < 3 * length * D; j++)
      put_number(out[j / (length * D)], i * length * D + j % (length * D), sums[j]);
  }
  for (int i = 0; i < 4; i++) free(all[i]);
  free(sums);
}
