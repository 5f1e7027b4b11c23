// Attention of one new token per sequence to the tokens before it. Sequences come in groups that share a long
// prefix of keys and values; behind it each has some of its own. CTA (s, h) takes sequence s and head h:
// its four warps go through the keys, one key per warp at a time, four of the 128 dimensions per
// lane, each with a running softmax, and are put together at the end. CTAs of one group and head
// read the same prefix; the groups' sequences are interleaved.
#define DIM 128
#define WARPS 4

struct Running {
  float high, sum, out[4];

  // Takes over another run's terms, both rescaled to the common maximum.
  __device__ void add(float other_high, float other_sum, const float other_out[4]) {
    float common = fmaxf(high, other_high);
    float own = exp2f(high - common), other = exp2f(other_high - common);
    high = common;
    sum = sum * own + other_sum * other;
    for (int i = 0; i < 4; i++) out[i] = out[i] * own + other_out[i] * other;
  }
};

// Four bfloat16: the upper halves of floats.
static __device__ void widen(uint2 v, float out[4]) {
  out[0] = __uint_as_float(v.x << 16);
  out[1] = __uint_as_float(v.x & 0xffff0000u);
  out[2] = __uint_as_float(v.y << 16);
  out[3] = __uint_as_float(v.y & 0xffff0000u);
}

static __device__ void attend(Running &run, const float query[4], const unsigned short *keys,
                              const unsigned short *values, int n) {
  int lane = threadIdx.x;
  for (int i = threadIdx.y; i < n; i += WARPS) {
    float key[4], value[4];
    widen(((const uint2 *)(keys + (size_t)i * DIM))[lane], key);
    widen(((const uint2 *)(values + (size_t)i * DIM))[lane], value);
    float score = query[0] * key[0] + query[1] * key[1] + query[2] * key[2] + query[3] * key[3];
    for (int mask = 16; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffffu, score, mask);
    run.add(score, 1.0f, value);
  }
}

// Buffers: prefixes are [group][head][prefix][DIM], the rest [sequence][head][own][DIM].
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    decode_shared_prefix(const int *group_of, const float *query, const unsigned short *prefix_keys,
                         const unsigned short *prefix_values, const unsigned short *own_keys,
                         const unsigned short *own_values, float *out, int prefix, int own) {
  __shared__ float high[WARPS], sum[WARPS], parts[WARPS][DIM];
  int sequence = blockIdx.x, head = blockIdx.y, heads = gridDim.y, lane = threadIdx.x;
  size_t row = (size_t)sequence * heads + head;
  size_t shared_row = (size_t)group_of[sequence] * heads + head;

  // Scores are in units of log 2: the scale is log2(e) / sqrt(DIM).
  float q[4];
  for (int i = 0; i < 4; i++) q[i] = query[row * DIM + 4 * lane + i] * (1.44269504f * 0.0883883476f);
  Running run = {-1e30f, 0.0f, {0.0f, 0.0f, 0.0f, 0.0f}};
  attend(run, q, prefix_keys + shared_row * prefix * DIM, prefix_values + shared_row * prefix * DIM, prefix);
  attend(run, q, own_keys + row * own * DIM, own_values + row * own * DIM, own);

  for (int i = 0; i < 4; i++) parts[threadIdx.y][4 * lane + i] = run.out[i];
  if (lane == 0) {
    high[threadIdx.y] = run.high;
    sum[threadIdx.y] = run.sum;
  }
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int warp = 1; warp < WARPS; warp++) run.add(high[warp], sum[warp], &parts[warp][4 * lane]);
    for (int i = 0; i < 4; i++) out[row * DIM + 4 * lane + i] = run.out[i] / run.sum;
  }
}
