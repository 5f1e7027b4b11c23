// The gain of opening one more centre, after Rodinia's streamcluster: one thread per point. It compares its
// cost at the candidate x with that at its present centre, and notes what x would save in a row of its own:
// under the present centre's number, or under `centres` if it would move to x. Coordinates lie dimension by
// dimension, so that neighbouring threads read neighbouring numbers; every thread of every CTA reads x's.
struct point {
  float weight;
  int centre; // the number of the point that it is assigned to
  float cost; // weighted squared distance to it
};

extern "C" __global__ void streamcluster_gain(const point *points, const float *coordinates,
                                              const int *centre_number, float *lower, bool *moves, int n,
                                              int dims, int centres, int x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float *row = &lower[(long long)i * (centres + 1)];
  float distance = 0.0f;
  for (int d = 0; d < dims; d++) {
    float difference = coordinates[(long long)d * n + i] - coordinates[(long long)d * n + x];
    distance += difference * difference;
  }
  float cost = distance * points[i].weight;
  if (cost < points[i].cost) {
    moves[i] = true;
    row[centres] += cost - points[i].cost;
  } else {
    row[centre_number[points[i].centre]] += points[i].cost - cost;
  }
}
