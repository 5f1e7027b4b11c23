// A convolutional network that reads handwritten digits, as in GPGPU-Sim's suite: two
// convolutional layers (5 x 5 windows, every second position), two fully connected ones.
//
// blockIdx.y is the image, blockIdx.x a feature map of a convolutional layer or a neuron of a
// connected one; a CTA of the second layer is one warp (5 x 5 threads), CTAs of the last two are
// single threads. The CTAs along x read the same image's neurons, those along y the same weights.

#define WINDOW 5
#define IMAGE 29
#define MAP_1 13 // (29 - 5) / 2 + 1
#define MAP_2 5

__device__ float activation(float sum) { return 1.7159f * tanhf(0.66666667f * sum); }

extern "C" __global__ void first_layer(const float *images, const float *weights, float *neurons) {
  int map = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  const float *image = images + IMAGE * IMAGE * blockIdx.y;
  const float *weight = weights + map * (1 + WINDOW * WINDOW);
  float sum = *weight++;
  for (int j = 0; j < WINDOW; j++)
    for (int i = 0; i < WINDOW; i++) sum += image[(2 * y + j) * IMAGE + 2 * x + i] * weight[j * WINDOW + i];
  neurons[(gridDim.x * blockIdx.y + map) * MAP_1 * MAP_1 + y * MAP_1 + x] = activation(sum);
}

extern "C" __global__ void second_layer(const float *inputs, const float *weights, float *neurons, int maps) {
  int map = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  const float *input = inputs + maps * MAP_1 * MAP_1 * blockIdx.y;
  const float *weight = weights + map * (1 + WINDOW * WINDOW * maps);
  float sum = *weight++;
  for (int j = 0; j < WINDOW; j++)
    for (int i = 0; i < WINDOW; i++)
      for (int m = 0; m < maps; m++)
        sum +=
            input[m * MAP_1 * MAP_1 + (2 * y + j) * MAP_1 + 2 * x + i] * weight[(j * WINDOW + i) * maps + m];
  neurons[(gridDim.x * blockIdx.y + map) * MAP_2 * MAP_2 + y * MAP_2 + x] = activation(sum);
}

extern "C" __global__ void connected_layer(const float *inputs, const float *weights, float *neurons, int n) {
  const float *input = inputs + n * blockIdx.y;
  const float *weight = weights + blockIdx.x * (1 + n);
  float sum = *weight++;
  for (int i = 0; i < n; i++) sum += input[i] * weight[i];
  neurons[gridDim.x * blockIdx.y + blockIdx.x] = activation(sum);
}
