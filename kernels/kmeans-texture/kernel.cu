// k-means as in Rodinia: one thread per point, 256 points per CTA.
//
// invert_mapping turns the points' features from point by point to feature by feature; it is the one kernel
// here whose loads use L1. kmeans_point finds each point's nearest centre: it reads features through a
// texture and centres from constant memory. Its CTAs are numbered over a square grid, of which the last ones
// may be idle.

enum { MOST_CENTRES = 32, MOST_FEATURES = 34 };
extern "C" { // in braces it is a definition
__constant__ float centres[MOST_CENTRES * MOST_FEATURES];
}

extern "C" __global__ void invert_mapping(const float *input, float *output, int points, int features) {
  int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point < points)
    for (int i = 0; i < features; i++) output[point + points * i] = input[point * features + i];
}

extern "C" __global__ void kmeans_point(unsigned long long features, int *membership, int points,
                                        int n_features, int n_centres) {
  int block = gridDim.x * blockIdx.y + blockIdx.x;
  int point = block * blockDim.x + threadIdx.x;
  if (point >= points) return;
  int nearest = -1;
  float least = 3.4e38f;
  for (int c = 0; c < n_centres; c++) {
    float distance = 0.0f;
    for (int i = 0; i < n_features; i++) {
      float difference = tex1Dfetch<float>(features, point + i * points) - centres[c * n_features + i];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[point] = nearest;
}
