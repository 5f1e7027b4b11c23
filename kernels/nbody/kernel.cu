// All-pairs gravity, as in the CUDA samples: one thread per body, which sums the pull of all bodies
// and moves. Bodies pass through shared memory, a tile of one per thread at a time.
//
// All CTAs read all bodies, in the same order.

extern "C" __global__ void nbody_step(const float4 *old_position, float4 *new_position, float4 *velocity,
                                      int tiles, float softening2, float dt, float damping) {
  extern __shared__ float4 tile[];
  int body = blockIdx.x * blockDim.x + threadIdx.x;
  float4 here = old_position[body];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int t = 0; t < tiles; t++) {
    tile[threadIdx.x] = old_position[t * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < blockDim.x; k++) {
      float4 other = tile[k];
      float dx = other.x - here.x, dy = other.y - here.y, dz = other.z - here.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
      float pull = other.w * (inverse * inverse * inverse);
      ax += dx * pull;
      ay += dy * pull;
      az += dz * pull;
    }
    __syncthreads();
  }
  float4 speed = velocity[body];
  speed.x = (speed.x + ax * dt) * damping;
  speed.y = (speed.y + ay * dt) * damping;
  speed.z = (speed.z + az * dt) * damping;
  new_position[body] =
      make_float4(here.x + speed.x * dt, here.y + speed.y * dt, here.z + speed.z * dt, here.w);
  velocity[body] = speed;
}
