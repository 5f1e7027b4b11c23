// Distance of every record, a latitude and a longitude, to one target; the host then picks the
// nearest. One thread per record, 256 per CTA. Nothing is read twice.
extern "C" __global__ void nearest_neighbour(const float2 *records, float *distance, int n, float latitude,
                                             float longitude) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float2 record = records[i];
    float dy = latitude - record.x, dx = longitude - record.y;
    distance[i] = sqrtf(dy * dy + dx * dx);
  }
}
