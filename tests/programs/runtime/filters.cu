// Textures: modes of addressing, normalised coordinates and values, borders, filters, levels of a mipmap, cubes.
#include "check.h"
#include <vector>

__global__ void sample(cudaTextureObject_t t, const float *x, float *out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}
__global__ void sample_level(cudaTextureObject_t t, float *out, int levels) {
  int i = threadIdx.x;
  if (i < levels) out[i] = tex2DLod<float>(t, 0.5f, 0.5f, float(i));
}
__global__ void sample_cube(cudaTextureObject_t t, float *out) {
  const float3 to[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  float3 d = to[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(t, d.x, d.y, d.z);
}

static float *xs, *ys;

static void look(const cudaResourceDesc &r, cudaTextureDesc t, const std::vector<float> &at, const char *name) {
  cudaTextureObject_t object;
  OK(cudaCreateTextureObject(&object, &r, &t, nullptr));
  memcpy(xs, at.data(), at.size() * 4);
  sample<<<1, 32>>>(object, xs, ys, int(at.size()));
  OK(cudaDeviceSynchronize());
  printf("%-10s", name);
  for (size_t i = 0; i < at.size(); i++) printf(" %.4g", ys[i]);
  puts("");
  OK(cudaDestroyTextureObject(object));
}

int main() {
  OK(cudaMallocManaged(&xs, 128));
  OK(cudaMallocManaged(&ys, 128));
  const int w = 8;
  float values[w] = {0, 10, 20, 30, 40, 50, 60, 70};
  unsigned char bytes[w] = {0, 51, 102, 153, 204, 255, 0, 255};
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), u8 = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t a, b;
  OK(cudaMallocArray(&a, &f, w));
  OK(cudaMallocArray(&b, &u8, w));
  OK(cudaMemcpy2DToArray(a, 0, 0, values, sizeof values, sizeof values, 1, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DToArray(b, 0, 0, bytes, sizeof bytes, sizeof bytes, 1, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {}, rb = {};
  r.resType = rb.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  rb.res.array.array = b;
  cudaTextureDesc t = {};
  t.addressMode[0] = cudaAddressModeClamp;
  look(r, t, {-5, 0.5f, 1, 2.75f, 7.9f, 100}, "clamp");
  t.addressMode[0] = cudaAddressModeBorder;
  look(r, t, {-0.5f, 0.5f, 8.5f}, "border");
  t.filterMode = cudaFilterModeLinear;
  look(r, t, {0, 0.5f, 1, 1.25f, 8}, "linear");
  t.normalizedCoords = 1;
  t.addressMode[0] = cudaAddressModeWrap;
  look(r, t, {0.0625f, 1.0625f, -0.9375f, 0.5f, 1}, "wrap");
  t.addressMode[0] = cudaAddressModeMirror;
  look(r, t, {0.0625f, -0.0625f, 1.0625f, 1.5f}, "mirror");
  cudaTextureDesc n = {};
  n.readMode = cudaReadModeNormalizedFloat;
  n.addressMode[0] = cudaAddressModeClamp;
  look(rb, n, {0.5f, 1.5f, 2.5f, 5.5f}, "normalised");

  const int size = 8, levels = 4;
  cudaMipmappedArray_t m;
  OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(size, size, 0), levels));
  for (int k = 0; k < levels; k++) {
    cudaArray_t level;
    std::vector<float> fill(size_t(size >> k) * (size >> k), 100.0f * k);
    OK(cudaGetMipmappedArrayLevel(&level, m, k));
    OK(cudaMemcpy2DToArray(level, 0, 0, fill.data(), (size >> k) * 4, (size >> k) * 4, size >> k,
                           cudaMemcpyHostToDevice));
  }
  cudaResourceDesc rm = {};
  rm.resType = cudaResourceTypeMipmappedArray;
  rm.res.mipmap.mipmap = m;
  cudaTextureDesc lod = {};
  lod.normalizedCoords = 1;
  lod.maxMipmapLevelClamp = levels - 1;
  cudaTextureObject_t o;
  OK(cudaCreateTextureObject(&o, &rm, &lod, nullptr));
  sample_level<<<1, 32>>>(o, ys, levels);
  OK(cudaDeviceSynchronize());
  for (int k = 0; k < levels; k++) CHECK(ys[k] == 100.0f * k);
  OK(cudaDestroyTextureObject(o));

  cudaArray_t cube;
  float faces[6 * 4];
  for (int i = 0; i < 24; i++) faces[i] = float(i / 4);
  OK(cudaMalloc3DArray(&cube, &f, make_cudaExtent(2, 2, 6), cudaArrayCubemap));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(faces, 8, 2, 2);
  p.dstArray = cube;
  p.extent = make_cudaExtent(2, 2, 6);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  cudaResourceDesc rc = {};
  rc.resType = cudaResourceTypeArray;
  rc.res.array.array = cube;
  cudaTextureDesc plain = {};
  plain.normalizedCoords = 1;
  OK(cudaCreateTextureObject(&o, &rc, &plain, nullptr));
  sample_cube<<<1, 6>>>(o, ys);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 6; i++) CHECK(ys[i] == float(i));
  OK(cudaDestroyTextureObject(o));
  OK(cudaFreeMipmappedArray(m));
  for (cudaArray_t x : {a, b, cube}) OK(cudaFreeArray(x));
  OK(cudaFree(xs));
  OK(cudaFree(ys));
}
