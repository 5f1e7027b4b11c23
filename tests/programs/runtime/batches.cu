// Many copies in one call, of rows and of boxes; prefetches and discards; descriptions of textures; pools by
// location; and a tensor map, which kernels' bulk copies read. Of CUDA 13.
#include "check.h"
#include <cuda.h>

#if CUDART_VERSION >= 13000
static cudaStream_t s;

static void rows() {
  enum { N = 100 };
  int from[3][N], to[3][N], *a, *b;
  OK(cudaMalloc(&a, sizeof from));
  OK(cudaMalloc(&b, sizeof from));
  for (int k = 0; k < 3 * N; k++) from[k / N][k % N] = k, to[k / N][k % N] = -1;
  void *in[] = {a, a + N, a + 2 * N};
  const void *src[] = {from[0], from[1], from[2]};
  const size_t bytes[] = {sizeof *from, sizeof *from, sizeof *from};
  cudaMemcpyAttributes how = {};
  size_t first = 0;
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpyBatchAsync(in, src, bytes, 3, &how, &first, 1, s));
  void *out[] = {b, to[2], to[0]};
  const void *back[] = {a + N, b, a};
  OK(cudaMemcpyBatchAsync(out, back, bytes, 3, &how, &first, 1, s));
  OK(cudaStreamSynchronize(s));
  for (int k = 0; k < N; k++) CHECK(to[2][k] == N + k && to[0][k] == k && to[1][k] == -1);
  CHECK(cudaMemcpyBatchAsync(out, back, bytes, 0, &how, &first, 1, s) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFree(a));
  OK(cudaFree(b));
}

static void boxes() {
  enum { W = 12, H = 5, BOX_W = 4, BOX_H = 2 };
  float from[H][W], to[BOX_H][BOX_W];
  cudaArray_t array;
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  for (int k = 0; k < W * H; k++) from[k / W][k % W] = float(k);
  OK(cudaMallocArray(&array, &channels, W, H));
  cudaMemcpy3DBatchOp ops[2] = {};
  ops[0].src.type = ops[1].dst.type = cudaMemcpyOperandTypePointer;
  ops[0].dst.type = ops[1].src.type = cudaMemcpyOperandTypeArray;
  ops[0].src.op.ptr.ptr = from;
  ops[0].dst.op.array.array = ops[1].src.op.array.array = array;
  ops[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  ops[0].extent = make_cudaExtent(W, H, 1);
  ops[1].dst.op.ptr.ptr = to;
  ops[1].src.op.array.offset = {3, 1, 0};
  ops[1].extent = make_cudaExtent(BOX_W, BOX_H, 1);
  OK(cudaMemcpy3DBatchAsync(2, ops, 0, s));
  ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  CHECK(cudaMemcpy3DBatchAsync(1, &ops[1], 0, s) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaStreamSynchronize(s));
  for (int k = 0; k < BOX_W * BOX_H; k++)
    CHECK(to[k / BOX_W][k % BOX_W] == float((1 + k / BOX_W) * W + 3 + k % BOX_W));
  cudaResourceDesc resource = {}, resource_back;
  cudaTextureDesc texture = {}, texture_back;
  cudaTextureObject_t object;
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  texture.addressMode[1] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModeLinear;
  OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  OK(cudaGetTextureObjectResourceDesc(&resource_back, object));
  OK(cudaGetTextureObjectTextureDesc(&texture_back, object));
  CHECK(resource_back.resType == cudaResourceTypeArray && resource_back.res.array.array == array);
  CHECK(texture_back.addressMode[1] == cudaAddressModeClamp &&
        texture_back.filterMode == cudaFilterModeLinear &&
        texture_back.readMode == cudaReadModeElementType);
  OK(cudaDestroyTextureObject(object));
  size_t most;
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &channels, 0));
  CHECK(most >= 1 << 27);
  OK(cudaFreeArray(array));
}

static void managed() {
  char *m;
  OK(cudaMallocManaged(&m, 3 << 20));
  void *parts[] = {m, m + (1 << 20), m + (2 << 20)};
  size_t bytes[] = {1 << 20, 1 << 20, 1 << 20}, from[] = {0, 2};
  cudaMemLocation where[] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
  OK(cudaMemPrefetchBatchAsync(parts, bytes, 3, where, from, 2, 0, s));
  OK(cudaMemDiscardBatchAsync(parts, bytes, 3, 0, s));
  OK(cudaMemDiscardAndPrefetchBatchAsync(parts, bytes, 3, where, from, 2, 0, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaFree(m));
  cudaMemPool_t pool, same;
  OK(cudaMemGetDefaultMemPool(&pool, &where[0], cudaMemAllocationTypePinned));
  OK(cudaDeviceGetDefaultMemPool(&same, 0));
  CHECK(pool == same);
}

static void tensor_maps() {
  typedef CUresult encode_fn(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                             const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                             CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                             CUtensorMapFloatOOBfill);
  encode_fn *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  alignas(64) CUtensorMap map;
  float *p;
  OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0, &found));
  CHECK(encode && found == cudaDriverEntryPointSuccess);
  OK(cudaMalloc(&p, 64 * 32 * 4));
  cuuint64_t dim[] = {64, 32}, stride[] = {64 * 4};
  cuuint32_t box[] = {32, 8}, element[] = {1, 1};
  CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dim, stride, box, element,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  OK(cudaFree(p));
}
#endif

int main() {
#if CUDART_VERSION >= 13000
  OK(cudaStreamCreate(&s));
  rows();
  boxes();
  managed();
  tensor_maps();
  OK(cudaStreamDestroy(s));
#endif
  puts("batches: ok");
}
