// Arrays, textures and surfaces: 1D, 2D, 3D, layers, mipmaps, linear and pitched memory, writes through surfaces.
// check: init,race,streams
#include "check.h"
#include <vector>

__global__ void fetch1(cudaTextureObject_t t, float *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, i);
}
__global__ void fetch2(cudaTextureObject_t t, float *out, int w, int h, float dx) {
  int x = threadIdx.x, y = threadIdx.y;
  out[y * w + x] = tex2D<float>(t, x + 0.5f + dx, y + 0.5f);
}
__global__ void fetch3(cudaTextureObject_t t, uchar4 *out, int w, int h) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * h + y) * w + x] = tex3D<uchar4>(t, x, y, z);
}
__global__ void fetch_layer(cudaTextureObject_t t, int *out, int w, int layer) {
  out[threadIdx.x] = tex1DLayered<int>(t, threadIdx.x + 0.5f, layer);
}
__global__ void turn(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int w, int h) {
  int x = threadIdx.x, y = threadIdx.y;
  float v;
  surf2Dread(&v, in, x * 4, y);
  surf2Dwrite(v * 10, out, (w - 1 - x) * 4, h - 1 - y);
}

static cudaTextureObject_t texture(const cudaResourceDesc &r, cudaTextureFilterMode filter = cudaFilterModePoint) {
  cudaTextureDesc t = {};
  t.filterMode = filter;
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
  t.readMode = cudaReadModeElementType;
  cudaTextureObject_t object;
  OK(cudaCreateTextureObject(&object, &r, &t, nullptr));
  return object;
}
static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

int main() {
  const int w = 8, h = 4, d = 3;
  std::vector<float> v(w * h);
  for (int i = 0; i < w * h; i++) v[i] = float(i * i % 17);
  float *linear, *out;
  OK(cudaMallocManaged(&linear, v.size() * 4));
  OK(cudaMallocManaged(&out, v.size() * 4));
  memcpy(linear, v.data(), v.size() * 4);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = linear;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = v.size() * 4;
  cudaTextureObject_t t = texture(r);
  fetch1<<<1, 32>>>(t, out, w * h);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < w * h; i++) CHECK(out[i] == v[i]);
  OK(cudaDestroyTextureObject(t));

  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), back;
  cudaArray_t a, b;
  OK(cudaMallocArray(&a, &f, w, h, cudaArraySurfaceLoadStore));
  OK(cudaMallocArray(&b, &f, w, h, cudaArraySurfaceLoadStore));
  OK(cudaGetChannelDesc(&back, a));
  CHECK(back.x == 32 && back.y == 0 && back.f == cudaChannelFormatKindFloat);
  OK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  EXPECT(cudaMemcpy2DToArray(a, 4, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
  t = texture(of(a), cudaFilterModeLinear);
  fetch2<<<1, dim3(w, h)>>>(t, out, w, h, 0.5f);
  OK(cudaDeviceSynchronize());
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) CHECK(out[y * w + x] == (v[y * w + x] + v[y * w + (x + 1 < w ? x + 1 : x)]) / 2);
  cudaSurfaceObject_t sa, sb;
  cudaResourceDesc ra = of(a), rb = of(b);
  OK(cudaCreateSurfaceObject(&sa, &ra));
  OK(cudaCreateSurfaceObject(&sb, &rb));
  turn<<<1, dim3(w, h)>>>(sa, sb, w, h);
  std::vector<float> turned(w * h);
  OK(cudaMemcpy2DFromArray(turned.data(), w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < w * h; i++) CHECK(turned[i] == 10 * v[w * h - 1 - i]);
  OK(cudaDestroySurfaceObject(sa));
  OK(cudaDestroySurfaceObject(sb));

  cudaArray_t volume;
  cudaChannelFormatDesc c = cudaCreateChannelDesc<uchar4>();
  OK(cudaMalloc3DArray(&volume, &c, make_cudaExtent(w, h, d)));
  std::vector<uchar4> bytes(w * h * d);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = make_uchar4(i, i / 2, i / 3, 255 - i);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(bytes.data(), w * 4, w, h);
  p.dstArray = volume;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  uchar4 *got;
  OK(cudaMallocManaged(&got, bytes.size() * 4));
  fetch3<<<1, dim3(w, h, d)>>>(texture(of(volume)), got, w, h);
  OK(cudaDeviceSynchronize());
  CHECK(memcmp(got, bytes.data(), bytes.size() * 4) == 0);

  cudaArray_t layers;
  cudaChannelFormatDesc k = cudaCreateChannelDesc<int>();
  OK(cudaMalloc3DArray(&layers, &k, make_cudaExtent(w, 0, d), cudaArrayLayered));
  std::vector<int> ints(w * d);
  for (int i = 0; i < w * d; i++) ints[i] = i * 3;
  cudaMemcpy3DParms q = {};
  q.srcPtr = make_cudaPitchedPtr(ints.data(), w * 4, w, 1);
  q.dstArray = layers;
  q.extent = make_cudaExtent(w, 1, d);
  q.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&q));
  int *row;
  OK(cudaMallocManaged(&row, w * 4));
  fetch_layer<<<1, w>>>(texture(of(layers)), row, w, 2);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < w; i++) CHECK(row[i] == (2 * w + i) * 3);
  OK(cudaFreeArray(a));
  OK(cudaFreeArray(volume));
  puts("textures: ok");
}
