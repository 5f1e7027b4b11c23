// Non-bonded forces between molecules: each pair is in the partner list of one of the two, whose thread
// computes the force, adds it up for its own molecule and atomically takes it from the partner.
// One thread per molecule, 256 per CTA. CTAs share the molecules that are near both, and these are
// near in space, not in number.
extern "C" __global__ void nbf(const float4 *position, const int *first, const int *partner, float *force,
                               int molecules) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= molecules) return;
  float4 own = position[i]; // w is the charge
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int k = first[i]; k < first[i + 1]; k++) {
    int j = partner[k];
    float4 other = position[j];
    float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
    float square = dx * dx + dy * dy + dz * dz;
    float factor = own.w * other.w / (square * sqrtf(square));
    fx += factor * dx;
    fy += factor * dy;
    fz += factor * dz;
    atomicAdd(&force[3 * j], -factor * dx);
    atomicAdd(&force[3 * j + 1], -factor * dy);
    atomicAdd(&force[3 * j + 2], -factor * dz);
  }
  atomicAdd(&force[3 * i], fx);
  atomicAdd(&force[3 * i + 1], fy);
  atomicAdd(&force[3 * i + 2], fz);
}
