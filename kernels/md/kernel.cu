// Lennard-Jones forces over neighbour lists. One thread per atom, 256 per CTA; neighbour k of all atoms is
// one row of the list, so that the list is read along rows while the positions are gathered. Neighbours
// beyond the cutoff are skipped. CTAs share the atoms that are near both, and these are near in
// space, not in number.
extern "C" __global__ void md(const float4 *position, const int *neighbour, float4 *force, int atoms,
                              int neighbours, float cutoff_square, float lj1, float lj2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms) return;
  float4 own = position[i];
  float4 f = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int k = 0; k < neighbours; k++) {
    float4 other = position[neighbour[(size_t)k * atoms + i]];
    float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
    float square = dx * dx + dy * dy + dz * dz;
    if (square < cutoff_square) {
      float r2 = 1.0f / square;
      float r6 = r2 * r2 * r2;
      float factor = r2 * r6 * (lj1 * r6 - lj2);
      f.x += dx * factor;
      f.y += dy * factor;
      f.z += dz * factor;
    }
  }
  force[i] = f;
}
