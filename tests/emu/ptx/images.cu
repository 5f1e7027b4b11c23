// Textures and surfaces by handle. nvcc -arch=sm_80 -ptx
#include <cuda_runtime.h>

#define N (blockIdx.x * blockDim.x + threadIdx.x)
typedef cudaTextureObject_t tex;
typedef cudaSurfaceObject_t surf;

extern "C" __global__ void fetch_1d(tex t, const int *x, float4 *o) { o[N] = tex1Dfetch<float4>(t, x[N]); }
extern "C" __global__ void fetch_1d_int(tex t, const int *x, int4 *o) { o[N] = tex1Dfetch<int4>(t, x[N]); }
extern "C" __global__ void read_1d(tex t, const float4 *c, float4 *o) { o[N] = tex1D<float4>(t, c[N].x); }
extern "C" __global__ void read_2d(tex t, const float4 *c, float4 *o) { o[N] = tex2D<float4>(t, c[N].x, c[N].y); }
extern "C" __global__ void read_2d_int(tex t, const float4 *c, int4 *o) { o[N] = tex2D<int4>(t, c[N].x, c[N].y); }
extern "C" __global__ void read_3d(tex t, const float4 *c, float4 *o) {
  o[N] = tex3D<float4>(t, c[N].x, c[N].y, c[N].z);
}
extern "C" __global__ void read_a1d(tex t, const float4 *c, float4 *o) {
  o[N] = tex1DLayered<float4>(t, c[N].x, (int)c[N].w);
}
extern "C" __global__ void read_a2d(tex t, const float4 *c, float4 *o) {
  o[N] = tex2DLayered<float4>(t, c[N].x, c[N].y, (int)c[N].w);
}
extern "C" __global__ void read_cube(tex t, const float4 *c, float4 *o) {
  o[N] = texCubemap<float4>(t, c[N].x, c[N].y, c[N].z);
}
extern "C" __global__ void read_acube(tex t, const float4 *c, float4 *o) {
  o[N] = texCubemapLayered<float4>(t, c[N].x, c[N].y, c[N].z, (int)c[N].w);
}
extern "C" __global__ void level_2d(tex t, const float4 *c, float4 *o) {
  o[N] = tex2DLod<float4>(t, c[N].x, c[N].y, c[N].w);
}
extern "C" __global__ void grad_2d(tex t, const float4 *c, float4 *o) {
  float g = exp2f(c[N].w);
  o[N] = tex2DGrad<float4>(t, c[N].x, c[N].y, make_float2(g / 64, 0), make_float2(0, g / 128));
}
extern "C" __global__ void gather_r(tex t, const float4 *c, float4 *o) { o[N] = tex2Dgather<float4>(t, c[N].x, c[N].y, 0); }
extern "C" __global__ void gather_a(tex t, const float4 *c, float4 *o) { o[N] = tex2Dgather<float4>(t, c[N].x, c[N].y, 3); }
extern "C" __global__ void resident_2d(tex t, const float4 *c, float4 *o) {
  bool r;
  o[N] = tex2D<float4>(t, c[N].x, c[N].y, &r);
  if (!r) o[N].x = -1;
}
// One handle a warp's half, from memory.
extern "C" __global__ void table_2d(const tex *t, const float4 *c, float4 *o) {
  o[N] = tex2D<float4>(t[threadIdx.x / 16 % 2], c[N].x, c[N].y);
}
extern "C" __global__ void query(tex t, int *o) {
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(o[0]) : "l"(t));
  asm volatile("txq.height.b32 %0, [%1];" : "=r"(o[1]) : "l"(t));
  asm volatile("txq.depth.b32 %0, [%1];" : "=r"(o[2]) : "l"(t));
  asm volatile("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(o[3]) : "l"(t));
  asm volatile("txq.normalized_coords.b32 %0, [%1];" : "=r"(o[4]) : "l"(t));
  asm volatile("txq.channel_order.b32 %0, [%1];" : "=r"(o[5]) : "l"(t));
  asm volatile("txq.channel_data_type.b32 %0, [%1];" : "=r"(o[6]) : "l"(t));
}

extern "C" __global__ void copy_trap(surf a, surf b, const int4 *c) {
  surf2Dwrite(surf2Dread<float>(a, c[N].x * 4, c[N].y), b, c[N].x * 4, c[N].y);
}
extern "C" __global__ void load_clamp(surf a, const int4 *c, float *o) {
  o[N] = surf2Dread<float>(a, c[N].x * 4, c[N].y, cudaBoundaryModeClamp);
}
extern "C" __global__ void load_zero(surf a, const int4 *c, float *o) {
  o[N] = surf2Dread<float>(a, c[N].x * 4, c[N].y, cudaBoundaryModeZero);
}
extern "C" __global__ void store_zero(surf a, const int4 *c) {
  surf2Dwrite((float)(c[N].x + 100 * c[N].y), a, c[N].x * 4, c[N].y, cudaBoundaryModeZero);
}
extern "C" __global__ void widths(surf a, surf b, int z) { // bytes, pairs, quads, layers
  int x = threadIdx.x;
  uchar4 v = surf2DLayeredread<uchar4>(a, x * 4, blockIdx.x, z);
  surf2DLayeredwrite(make_uchar4(v.w, v.z, v.y, v.x), b, x * 4, blockIdx.x, z);
  unsigned char one = surf2DLayeredread<unsigned char>(a, x, blockIdx.x, z);
  surf2DLayeredwrite((unsigned char)(one + 1), b, x + 128, blockIdx.x, z);
  ushort2 two = surf2DLayeredread<ushort2>(a, x * 4, blockIdx.x, z);
  surf2DLayeredwrite(make_ushort2(two.y, two.x), b, 256 + x * 4, blockIdx.x, z);
  if (x < 8) surf2DLayeredwrite(surf2DLayeredread<float4>(a, x * 16, blockIdx.x, z), b, 384 + x * 16, blockIdx.x, z);
  if (x < 16)
    surf2DLayeredwrite(surf2DLayeredread<unsigned long long>(a, x * 8, blockIdx.x, z), b, 512 + x * 8, blockIdx.x, z);
}
extern "C" __global__ void reduce(surf a, const int4 *c) {
  asm volatile("sured.b.add.2d.u32.zero [%0, {%1, %2}], %3;" ::"l"(a), "r"(c[N].x * 4), "r"(c[N].y), "r"(c[N].z));
  asm volatile("sured.b.max.2d.s32.zero [%0, {%1, %2}], %3;" ::"l"(a), "r"(c[N].x * 4), "r"(c[N].y + 8), "r"(c[N].z));
  asm volatile("sured.p.min.2d.b32.zero [%0, {%1, %2}], %3;" ::"l"(a), "r"(c[N].x), "r"(c[N].y + 16), "r"(c[N].z));
}
