/* Many copies, prefetches or discards in one call. */
#include "cuda/runtime/runtime.h"

/* CUDA 12 has a result, the number of the copy that failed, in front of the stream. */
cu_result rt_cudaMemcpyBatchAsync(cu_address *dst, cu_address *src, size_t *bytes, size_t n,
                                  const void *attributes, size_t *of, size_t n_attributes,
                                  void *failed_or_stream, cu_stream stream) {
  if (rt_major >= 13)
    return drv_cuMemcpyBatchAsync_v2(dst, src, bytes, n, attributes, of, n_attributes, failed_or_stream);
  return drv_cuMemcpyBatchAsync(dst, src, bytes, n, attributes, of, n_attributes, failed_or_stream, stream);
}
cu_result rt_cudaMemcpy3DBatchAsync(size_t n, const void *ops, uintptr_t failed_or_flags,
                                    unsigned long long flags_or_stream, cu_stream stream) {
  if (rt_major >= 13)
    return drv_cuMemcpy3DBatchAsync_v2(n, ops, failed_or_flags, (cu_stream)(uintptr_t)flags_or_stream);
  return drv_cuMemcpy3DBatchAsync(n, ops, (size_t *)failed_or_flags, flags_or_stream, stream);
}

cu_result rt_cudaMemPrefetchBatchAsync(cu_address *address, size_t *bytes, size_t n, cu_location *where,
                                       size_t *from, size_t n_where, unsigned long long flags,
                                       cu_stream stream) {
  return drv_cuMemPrefetchBatchAsync(address, bytes, n, where, from, n_where, flags, stream);
}
cu_result rt_cudaMemDiscardBatchAsync(cu_address *address, size_t *bytes, size_t n, unsigned long long flags,
                                      cu_stream stream) {
  return drv_cuMemDiscardBatchAsync(address, bytes, n, flags, stream);
}
cu_result rt_cudaMemDiscardAndPrefetchBatchAsync(cu_address *address, size_t *bytes, size_t n,
                                                 cu_location *where, size_t *from, size_t n_where,
                                                 unsigned long long flags, cu_stream stream) {
  return drv_cuMemDiscardAndPrefetchBatchAsync(address, bytes, n, where, from, n_where, flags, stream);
}
