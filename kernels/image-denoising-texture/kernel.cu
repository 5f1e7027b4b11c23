// Non-local means, as in the CUDA samples' imageDenoising: a pixel becomes the mean of the pixels
// in a window around it, weighted by how much the blocks around the two look alike.
//
// One thread per pixel, CTAs of 8 x 8. A CTA reads its 8 x 8 pixels and a rim of window + block
// pixels on each side, most of which its neighbours on all sides read too. As in the sample they come through
// a texture, which clamps coordinates to the image.

__device__ float4 pixel_at(unsigned long long image, int x, int y) {
  unsigned rgba = tex2D<unsigned>(image, x + 0.5f, y + 0.5f);
  return make_float4(rgba & 255, rgba >> 8 & 255, rgba >> 16 & 255, rgba >> 24);
}

__device__ float colour_distance(float4 a, float4 b) {
  float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// The window reaches `window` pixels from its centre, a block `block` pixels from its own.
// Weights are exp(-(distance * noise + d^2 * spread)), d the way from pixel to pixel. Where more
// than `flat` of them reach exp(-limit) the surroundings are smooth and the mean counts for most
// of the result; elsewhere the pixel itself does.
extern "C" __global__ void nlm(unsigned long long image, unsigned *out, int width, int height, int window,
                               int block, float noise, float spread, float limit, int flat) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f, r = 0.0f, g = 0.0f, b = 0.0f;
  int alike = 0;
  for (int i = -window; i <= window; i++)
    for (int j = -window; j <= window; j++) {
      float distance = 0.0f;
      for (int n = -block; n <= block; n++)
        for (int m = -block; m <= block; m++)
          distance += colour_distance(pixel_at(image, x + j + m, y + i + n),
                                      pixel_at(image, x + m, y + n));
      float exponent = distance * noise + (i * i + j * j) * spread;
      float weight = __expf(-exponent);
      alike += exponent < limit;
      float4 there = pixel_at(image, x + j, y + i);
      r += there.x * weight;
      g += there.y * weight;
      b += there.z * weight;
      sum += weight;
    }
  float4 here = pixel_at(image, x, y);
  float own = alike > flat ? 0.2f : 0.8f, scale = (1.0f - own) / sum;
  unsigned red = (unsigned)(r * scale + here.x * own + 0.5f);
  unsigned green = (unsigned)(g * scale + here.y * own + 0.5f);
  unsigned blue = (unsigned)(b * scale + here.z * own + 0.5f);
  out[y * width + x] = red | green << 8 | blue << 16;
}
