// Training a perceptron, as in Rodinia: the two kernels of one back-propagation step between the
// input layer (large) and the hidden one (16 neurons). CTA y of 16 x 16 threads handles 16 inputs,
// one thread per weight; row 0 of the weights, input 0, is the bias.
//
// All CTAs use the same hidden neurons' errors. Rows of 17 weights keep the CTAs' parts of the
// matrix off the cache lines' boundaries: neighbours share lines.

#define HEIGHT 16

// Each input's products with its weights, summed over the CTA's 16 inputs by a tree. The products
// as the tree leaves them overwrite the weights; the host restores these afterwards.
extern "C" __global__ void layer_forward(const float *input, float *weights, float *partial_sums,
                                         int hidden) {
  __shared__ float inputs[HEIGHT];
  __shared__ float products[HEIGHT][HEIGHT];
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int at = (hidden + 1) * (HEIGHT * by + ty + 1) + tx + 1;
  if (tx == 0) inputs[ty] = input[HEIGHT * by + ty + 1];
  __syncthreads();
  products[ty][tx] = weights[at] * inputs[ty];
  __syncthreads();
  for (int step = 2; step <= HEIGHT; step *= 2) {
    if (ty % step == 0) products[ty][tx] += products[ty + step / 2][tx];
    __syncthreads();
  }
  weights[at] = products[ty][tx];
  if (tx == 0) partial_sums[by * hidden + ty] = products[0][ty];
}

// Moves each weight along its neuron's error, with momentum from the step before.
extern "C" __global__ void adjust_weights(const float *delta, int hidden, const float *input, float *weights,
                                          float *old_change) {
  const float eta = 0.3f, momentum = 0.3f;
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int x = tx + 1, y = HEIGHT * by + ty + 1;
  int at = (hidden + 1) * y + x;
  float change = eta * delta[x] * input[y] + momentum * old_change[at];
  weights[at] += change;
  old_change[at] = change;
  if (ty == 0 && by == 0) {
    change = eta * delta[x] + momentum * old_change[x];
    weights[x] += change;
    old_change[x] = change;
  }
}
