#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

enum { WINDOW = 5 };

static float activation(double sum) { return (float)(1.7159 * tanh(sum * 2 / 3)); }

/* A layer of n_out maps over n_in maps of width x width, every second window: all sums at once,
 * one weight after the other, in double precision. */
static void convolve(const float *in, int64_t n_in, int64_t width, const float *weights, int64_t n_out,
                     float *out) {
  int64_t side = (width - WINDOW) / 2 + 1, stride = 1 + WINDOW * WINDOW * n_in;
  double sum[13 * 13];
  for (int64_t map = 0; map < n_out; map++) {
    const float *weight = weights + map * stride;
    for (int64_t p = 0; p < side * side; p++) sum[p] = weight[0];
    for (int64_t m = 0; m < n_in; m++)
      for (int64_t k = 0; k < WINDOW * WINDOW; k++)
        for (int64_t p = 0; p < side * side; p++)
          sum[p] += (double)weight[1 + k * n_in + m] *
                    in[(m * width + p / side * 2 + k / WINDOW) * width + p % side * 2 + k % WINDOW];
    for (int64_t p = 0; p < side * side; p++) out[map * side * side + p] = activation(sum[p]);
  }
}

static void connect(const float *in, int64_t n_in, const float *weights, int64_t n_out, float *out) {
  for (int64_t o = 0; o < n_out; o++) {
    double sum = 0;
    for (int64_t i = n_in; i-- > 0;) sum += (double)in[i] * weights[o * (1 + n_in) + 1 + i];
    out[o] = activation(sum + weights[o * (1 + n_in)]);
  }
}

void heddle_reference(const heddle_args *args) {
  int64_t images = heddle_size_of(args, "images"), maps_1 = heddle_size_of(args, "maps_1"),
          maps_2 = heddle_size_of(args, "maps_2"), hidden = heddle_size_of(args, "hidden");
  for (int64_t i = 0; i < images; i++) {
    const float *image = heddle_f32(args, "image") + i * 29 * 29;
    float *layer_1 = heddle_f32(args, "layer_1") + i * maps_1 * 13 * 13,
          *layer_2 = heddle_f32(args, "layer_2") + i * maps_2 * 5 * 5,
          *layer_3 = heddle_f32(args, "layer_3") + i * hidden, *digit = heddle_f32(args, "digit") + i * 10;
    convolve(image, 1, 29, heddle_f32(args, "weights_1"), maps_1, layer_1);
    convolve(layer_1, maps_1, 13, heddle_f32(args, "weights_2"), maps_2, layer_2);
    connect(layer_2, maps_2 * 25, heddle_f32(args, "weights_3"), hidden, layer_3);
    connect(layer_3, hidden, heddle_f32(args, "weights_4"), 10, digit);
  }
}
