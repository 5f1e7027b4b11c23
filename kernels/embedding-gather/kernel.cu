// Embedding lookup with pooling: a bag's vector is the sum of the table rows that its indices
// name. One warp per bag, four of the 128 features per lane, 8 bags per CTA. The indices follow
// Zipf's law: CTAs share the popular rows, wherever they are in the grid.
#define WIDTH 128
#define BAGS 8

extern "C" __global__ void __launch_bounds__(32 * BAGS)
    embedding_gather(const float *table, const int *indices, float *out, int bags, int pooling) {
  int bag = blockIdx.x * BAGS + threadIdx.y;
  if (bag >= bags) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
  for (int i = 0; i < pooling; i++) {
    int row = indices[bag * pooling + i];
    float4 v = ((const float4 *)(table + (size_t)row * WIDTH))[threadIdx.x];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  ((float4 *)(out + (size_t)bag * WIDTH))[threadIdx.x] = sum;
}
